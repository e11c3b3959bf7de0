"""Pages of documentation that run: what a page shows is what its commands print.

A page is Markdown. What is executed, in the order of the page, in one folder and one Python namespace a page:

- ```` ```console ````: lines that begin with ``$`` are commands, the lines after each are what it prints. A command
  without any such lines must succeed, whatever it prints. A line ``…`` stands for any lines, ``…`` inside a line for
  anything. A command that ends in ``&`` goes on in the background until the page ends; it is waited for until it has
  printed what is shown, and must not fail later on. The port after ``--port`` in such a command is another one while
  the page runs, which nobody uses; in what is printed it is the page's again.
- ```` ```python ````: when it begins with ``>>>`` an example whose answers must come, else a script that must run.
- ``<!-- $ command -->``: what a reader need not see, such as making the files that an example reads.

Not executed, but checked: ```` ```sh ```` has what takes a machine of one's own (root, Docker, a package index); its
Adjudge commands must exist with their options, as must those in running text. All other languages are data.

``python -m scripts.docs.pages docs/tutorial.md`` runs a page and writes into it what its commands print now; in a new
block put ``?`` where the output shall be, or as many lines of ``?`` as shall be shown, and ``…``.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EXECUTED = ("console", "python", "hidden")
DIRECTIVES = ("{eval-rst}", "{include}", "{literalinclude}", "{toctree}")  # nothing in them is there to be executed
DATA_LANGUAGES = ("text", "json", "csv", "tsv", "toml", "ini", "nginx", "yaml", "html", "latex", "bibtex", "dockerfile")
_FENCE = re.compile(
    r"^(?P<ticks>```+)(?P<language>\{?[\w-]*\}?)[^\n]*\n(?P<body>.*?)^(?P=ticks)[ \t]*$|<!-- \$ (?P<hidden>.*?) -->",
    re.DOTALL | re.MULTILINE,
)
_OVERLOOKED = re.compile(r"^[ \t>]*(?:[-*+] |\d+\. )?[ \t]*(?:```|~~~|:::).*|<!--[^\n]*\$.*", re.MULTILINE)
_STEP = re.compile(  # a command goes on after a backslash
    r"^\$ (?P<command>(?:\\\n|.)*)\n(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE
)
_SHELL = re.compile(r"[|<>;*?$`~]|&&")
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`]*\"")
_BASH = ("bash", "-e", "-o", "pipefail", "-c")  # a command that fails in the middle fails
_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
_SERVER = re.compile(r"^\$ .*--port[ =](\d+).*&$", re.MULTILINE)
_PATIENCE_S = 900.0  # a busy machine takes long; a server that ends is not waited for
_GRACE_S = 60.0


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: where its text is, and what it is."""

    language: str
    body: str
    start: int
    line: int


@dataclass(frozen=True)
class Step:
    """A command and what the page says that it prints, at which place of its block; None where it says nothing."""

    command: str
    shown: str | None = None
    place: int = 0


@dataclass(frozen=True)
class Started:
    """A command in the background, and the file that has what it printed."""

    step: Step
    process: subprocess.Popen[str]
    output: Path

    def said(self) -> str:
        """What it printed so far."""
        return self.output.read_text(encoding="utf-8")

    def stop(self) -> None:
        """End it, by force where it does not want to."""
        self.process.terminate()
        try:
            self.process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass
class Session:
    """The folder, the Python namespace, the ports and the background processes that a page has."""

    folder: Path
    ports: dict[str, str] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)
    running: list[Started] = field(default_factory=list)

    def here(self, text: str) -> str:
        """A text of the page with the ports that are used instead of the page's."""
        return _replaced(text, self.ports)

    def shown(self, printed: str) -> str:
        """What was printed, with the page's ports."""
        return _replaced(printed, {used: port for port, used in self.ports.items()})


class DifferentError(AssertionError):
    """A page shows something else than what is printed."""


def all_pages() -> list[Path]:
    """The README and every page of the documentation."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page: Path) -> list[Block]:
    """Everything that is fenced, and the commands hidden in comments."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            "hidden" if found["hidden"] else found["language"],
            found["hidden"] or found["body"],
            found.start("hidden") if found["hidden"] else found.start("body"),
            text.count("\n", 0, found.start()) + 1,
        )
        for found in _FENCE.finditer(text)
    ]


def overlooked(page: Path) -> list[str]:
    """Lines that begin a block that is not found and so not executed: indented, of other characters, misspelt."""
    return _OVERLOOKED.findall(_FENCE.sub("", page.read_text(encoding="utf-8")))


def runs(page: Path) -> bool:
    """Whether anything on the page is executed."""
    return any(block.language in EXECUTED for block in blocks_of(page))


def steps_of(body: str) -> list[Step]:
    """The commands of a console block, each with the lines below it."""
    if not body.startswith("$ "):
        raise DifferentError(f"expected a command after '$ ', got {body[:40]!r}")
    return [_step(found) for found in _STEP.finditer(body)]


def _step(found: re.Match[str]) -> Step:
    command = re.sub(r"\\\n\s*", "", found["command"]).strip()
    return Step(command, found["shown"] if found["shown"].strip() else None, found.start("shown"))


def check(page: Path, folder: Path) -> None:
    """Run a page; raises where it shows something else than what comes."""
    with contextlib.closing(run_page(page, folder)) as steps:
        for block, step, printed in steps:
            if step.shown is not None and not matches(step.shown, printed):
                raise DifferentError(
                    f"{page.name}:{block.line}: $ {step.command}\nprints\n{printed}\nbut the page shows\n{step.shown}"
                )


def run_page(page: Path, folder: Path) -> Generator[tuple[Block, Step, str], None, None]:
    """Execute a page in a folder; yields each command that was run and what it printed."""
    blocks = blocks_of(page)
    ports = {port for block in blocks if block.language == "console" for port in _SERVER.findall(block.body)}
    session = Session(folder, dict(zip(sorted(ports), free_ports(len(ports)), strict=True)))
    with contextlib.chdir(folder), _environment(folder):
        try:
            for block in blocks:
                if block.language == "python":
                    _run_python(replace(block, body=session.here(block.body)), session, page)
                elif block.language == "hidden":
                    _run(Step(session.here(block.body)), session)
                elif block.language == "console":
                    for step in steps_of(block.body):
                        here = replace(step, command=session.here(step.command))
                        yield block, step, session.shown(_run(here, session))
            for started in session.running:
                _succeeded(started.step.command, started.process.poll() or 0, started.said())
        finally:
            for started in session.running:
                started.stop()


def free_ports(count: int) -> list[str]:
    """Ports of this machine at which nobody listens."""
    with contextlib.ExitStack() as probes:
        found = [probes.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [str(probe.getsockname()[1]) for probe in found]


def _replaced(text: str, numbers: dict[str, str]) -> str:
    for number, by in numbers.items():
        text = re.sub(rf"\b{number}\b", by, text)
    return text


@contextlib.contextmanager
def _environment(folder: Path) -> Iterator[None]:
    """No colours, no settings of whoever runs this; ``adjudge`` and ``python`` are those of this environment."""
    kept = dict(os.environ)
    os.environ |= {"NO_COLOR": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}
    for name in ("ADJUDGE_DATA", "ADJUDGE_DATABASE"):
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _run(step: Step, session: Session) -> str:
    if step.command.endswith("&"):
        return _start(step, session)
    if step.command.startswith("adjudge ") and not _SHELL.search(_QUOTED.sub("", step.command)):
        return _run_here(step.command)
    done = subprocess.run([*_BASH, step.command], stdout=subprocess.PIPE, text=True, check=False)
    return _succeeded(step.command, done.returncode, done.stdout)


def _run_here(command: str) -> str:
    """An Adjudge command in this process: starting another takes longer than most of them."""
    from adjudge.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            code = main(shlex.split(command)[1:])
        except SystemExit as end:  # --help and --version
            code = int(end.code or 0)
    return _succeeded(command, code, printed.getvalue())


def _succeeded(command: str, code: int, printed: str) -> str:
    if code != 0:
        raise DifferentError(f"$ {command}\nended with exit code {code}\n{printed}")
    return printed


def _start(step: Step, session: Session) -> str:
    """A server, waited for until it has said what the page shows."""
    output = session.folder / f".background-{len(session.running)}"
    with output.open("w") as file:
        words = shlex.split(step.command[:-1])
        process = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT, text=True)
    started = Started(step, process, output)
    session.running.append(started)
    until = time.monotonic() + _PATIENCE_S
    while step.shown is not None and time.monotonic() < until and process.poll() is None:
        if (said := started.said()) and matches(step.shown, session.shown(said)):
            break
        time.sleep(0.1)
    return started.said()


def _run_python(block: Block, session: Session, page: Path) -> None:
    if not block.body.startswith(">>>"):
        exec(compile(block.body, f"{page.name}:{block.line}", "exec"), session.names)
        return
    parser = doctest.DocTestParser()
    for part in parser.parse(block.body):
        if isinstance(part, str) and part.strip():
            raise DifferentError(f"{page.name}:{block.line}: what follows a blank line is no answer: {part.strip()!r}")
    test = parser.get_doctest(block.body, session.names, page.name, str(page), block.line)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=_OPTIONS)
    tried = runner.run(test, out=said.append, clear_globs=False)
    session.names.update(test.globs)
    if tried.failed:
        raise DifferentError("".join(said))


def matches(shown: str, printed: str) -> bool:
    """Whether what a page shows is what was printed; blank lines and spaces at line ends do not count."""
    parts = [r"(?:.*\n)*?" if line == "…" else _line_pattern(line) for line in _lines(shown)]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in _lines(printed))) is not None


def _line_pattern(line: str) -> str:
    return ".*?".join(re.escape(part) for part in line.split("…")) + "\n"


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def leads_somewhere(page: Path, target: str) -> bool:
    """Whether a link of a page leads to a file, or to a figure that is drawn when the site is built."""
    place = Path(os.path.normpath(page.parent / target))
    if place.parent != ROOT / "docs" / "_figures":
        return place.exists()
    from scripts.docs.figures import FIGURES

    return place.suffix == ".svg" and place.stem in FIGURES


def mentioned_commands(page: Path) -> list[str]:
    """Commands that are named in running text or in blocks that are not executed."""
    text = page.read_text(encoding="utf-8")
    quiet = [line for block in blocks_of(page) if block.language in ("sh", "text") for line in block.body.splitlines()]
    inline = re.findall(r"(?<!`)`(adjudge [^`]+)`(?!`)", _FENCE.sub("", text))
    return inline + [line.partition("#")[0] for line in quiet if line.startswith("adjudge ")]


@cache
def _parser() -> argparse.ArgumentParser:
    from adjudge.cli.parser import build_parser

    return build_parser()


def unknown_words(command: str) -> list[str]:
    """Subcommands and options of a command that the program does not have; values are not looked at."""
    parser: argparse.ArgumentParser = _parser()
    wrong: list[str] = []
    words = command.replace("…", " ").split()[1:]
    for place, word in enumerate(words):
        choices = next((action.choices for action in parser._actions if isinstance(action.choices, dict)), None)
        if choices and not word.startswith("-"):
            names = word.strip("'\",.").split("|")
            wrong += [name for name in names if name not in choices]
            if len(names) > 1 or wrong:
                return wrong
            parser = choices[names[0]]
        elif word.startswith("-") and not re.fullmatch(r"-[\d.]+|-", word):
            name = word.partition("=")[0].strip("'\",.)")
            wrong += [] if name in parser._option_string_actions else [name]
        elif place == 0:
            wrong.append(word)
    return wrong


def rewritten(page: Path, folder: Path) -> str:
    """The page with what its commands print now; what is cut short by … keeps its length."""
    text = page.read_text(encoding="utf-8")
    with contextlib.closing(run_page(page, folder)) as steps:
        changes = [
            (block.start + step.place, step.shown, _as_long(step.shown, printed))
            for block, step, printed in steps
            if step.shown is not None and not matches(step.shown, printed)
        ]
    for place, old, now in reversed(changes):
        text = text[:place] + now + text[place + len(old) :]
    return text


def _as_long(shown: str, printed: str) -> str:
    lines, wanted = printed.strip("\n").splitlines(), shown.strip("\n").splitlines()
    if wanted[-1].strip() == "…":
        lines = [*lines[: max(len(wanted) - 1, 1)], "…"]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _main(pages: list[str]) -> None:
    os.sched_getaffinity = lambda _: {0}  # jobs run in this process
    for name in pages:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(rewritten(page, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    _main(sys.argv[1:])
