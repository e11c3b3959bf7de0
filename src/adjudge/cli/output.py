"""Showing results: a table on the terminal or text in a file; progress when it takes more than a second."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from adjudge.errors import AdjudgeError
from adjudge.extras import need

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from adjudge.model.provenance import Provenance
    from adjudge.reporting.document import Report, Section

_INPUTS = ("judgments", "runs", "metadata", "teams", "users", "effectiveness", "opinions", "answers", "questions",
           "combinations", "experts", "slices")  # fmt: skip
TABLE_FORMS = ("text", "json", "csv", "latex")
PAGE_FORMS = ("text", "json", "csv", "markdown", "latex", "html")
_STYLES = {".json": "json", ".csv": "csv", ".tex": "latex", ".md": "markdown", ".html": "html"}
_PLAIN = ("", ".txt")
_TYPED: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())


def style_of(arguments: argparse.Namespace) -> str:
    """How to show results: as asked, else as the suffix of the output file says, else as text."""
    if arguments.style is not None:
        return str(arguments.style)
    suffix = os.path.splitext(arguments.output or "")[1].lower()
    return _STYLES.get(suffix, "text")


def check_output(arguments: argparse.Namespace, *, forms: Sequence[str] = ()) -> None:
    """Refuse an output that cannot be written, is an input or has no such form, before any work is done."""
    target = arguments.output
    if hasattr(arguments, "figures"):  # a command that draws
        _check_figures(arguments.figures)
        if target is not None and _is_page(arguments):
            need("plots", "Pages with figures need")
    if target is None:
        return
    if forms and style_of(arguments) not in forms:
        raise AdjudgeError(f"{target}: this is written as {', '.join(forms)}, not as {style_of(arguments)}")
    if forms and arguments.style is None:
        _check_suffix(target, forms)
    folder = os.path.dirname(target) or "."
    if os.path.isdir(target):
        raise AdjudgeError(f"{target}: expected a file as output, got a directory")
    if not os.path.isdir(folder):
        raise AdjudgeError(f"{target}: expected a file in an existing directory as output")
    if not os.access(target if os.path.exists(target) else folder, os.W_OK):
        raise AdjudgeError(f"{target}: cannot be written: permission denied")
    given = [getattr(arguments, name, None) for name in _INPUTS]
    _check_no_input(
        target, [path for value in given if value for path in ([value] if isinstance(value, str) else value)]
    )


def _is_page(arguments: argparse.Namespace) -> bool:
    """Whether HTML is asked for, by its style or by the name of the file."""
    style, target = arguments.style, str(arguments.output)
    return bool(style == "html" if style else target.lower().endswith((".html", ".htm")))


def _check_figures(folder: str | None) -> None:
    """Refuse a directory of figures that cannot be made or written to, and figures that nothing can draw."""
    if folder is None:
        return
    need("plots", "Figures need")
    check_folder(folder, "a directory for figures")


def check_folder(folder: str | os.PathLike[str], wanted: str) -> None:
    """Refuse a folder that cannot be made or written to; ``wanted`` is what messages call it."""
    there = os.path.abspath(folder)
    while not os.path.exists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        raise AdjudgeError(f"{folder}: expected {wanted}")
    if not os.access(there, os.W_OK | os.X_OK):
        raise AdjudgeError(f"{folder}: cannot be written: permission denied")


def _check_suffix(target: str, forms: Sequence[str]) -> None:
    """Refuse a name that promises something else than what would be in the file."""
    suffix = os.path.splitext(target)[1].lower()
    known = [".txt", *(name for name, style in _STYLES.items() if style in forms)]
    if suffix not in (*_PLAIN, *known):
        raise AdjudgeError(f"{target}: expected a name that ends in {', '.join(known)}, got {suffix}")


def _check_no_input(target: str, given: Sequence[str]) -> None:
    """Refuse to overwrite what is read, also where a directory or a pattern means it."""
    if not os.path.exists(target):
        return
    from adjudge.formats import expand

    for path in given:
        try:
            files = expand(path, "runs")
        except AdjudgeError:  # reading says what is wrong with it
            continue
        if any(file.exists() and file.samefile(target) for file in files):
            raise AdjudgeError(f"{target}: is an input, and would be overwritten")


def say(notes: Iterable[str]) -> None:
    """Notes on stderr, for output that has no place for them."""
    for note in notes:
        print(f"adjudge: note: {note}", file=sys.stderr)


def say_written(target: str) -> None:
    """Note that a file was written; where a pipe or a device was named, who reads it knows."""
    if os.path.isfile(target):
        say([f"wrote {target}"])


def show(arguments: argparse.Namespace, content: str | RenderableType) -> None:
    """Write text, or draw something for people, to the terminal or to the output file, and say that it is there."""
    if getattr(arguments, "columns", None) is not None:
        from adjudge.formats.columns import check_columns

        check_columns()
    if arguments.output is not None:
        from pathlib import Path

        from adjudge.io import write_whole

        text = content if isinstance(content, str) else drawn(content)
        write_whole(Path(arguments.output), text.encode())
        say_written(arguments.output)
    elif isinstance(content, str):
        sys.stdout.write(content)
    else:
        console(sys.stdout).print(content)


def show_report(
    arguments: argparse.Namespace,
    sections: Sequence[Section],
    *,
    title: str,
    provenance: dict[str, Any],
    values: dict[str, Any],
    records: Sequence[dict[str, Any]],
    subtitle: str = "",
    notes: tuple[str, ...] = (),
) -> None:
    """Show sections in any form: on a terminal, as JSON (``values``), CSV (``records``) or a page; then its figures."""
    from pathlib import Path

    from adjudge.reporting.document import Paragraph, Report, Section
    from adjudge.reporting.render import drawing, write_figures
    from adjudge.tables import as_csv, as_json

    style = style_of(arguments)
    said = (Section("notes", "Notes", tuple(Paragraph(note) for note in notes)),) if notes and style != "text" else ()
    report = Report(title, subtitle, (*sections, *said), provenance)
    if style == "text":
        show(arguments, drawing(report, notes=notes))
    else:
        say(notes)
        forms = {"json": lambda: as_json(values), "csv": lambda: as_csv(records)}
        show(arguments, forms[style]() if style in forms else page_of(arguments, report, style))
    if (folder := getattr(arguments, "figures", None)) is not None:
        written = write_figures(report, Path(folder), width=arguments.figure_width)
        say([f"wrote {len(written)} figures to {folder}"])


def page_of(arguments: argparse.Namespace, report: Report, form: str) -> str:
    """A report as a page that finds its figures; where it names some that nobody asked for, a note says so."""
    from adjudge.reporting.render import render
    from adjudge.text import counted

    target, folder = arguments.output, getattr(arguments, "figures", None)
    if folder is not None:
        there = os.path.relpath(folder, os.path.dirname(target or "") or ".")
        return render(report, form, figures="" if there == os.curdir else there)
    if target is not None and form in ("markdown", "latex") and report.figures:
        say([f"{target} names {counted(len(report.figures), 'figure')}, to be written by --figures DIR"])
    return render(report, form)


def drawn(renderable: RenderableType) -> str:
    """A drawing as plain text, as wide as it needs to be."""
    import io

    buffer = io.StringIO()
    console(buffer).print(renderable)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def console(file: object) -> Console:
    """A console as wide as the terminal; where there is none, wide enough for anything."""
    from rich.console import Console

    is_terminal = getattr(file, "isatty", lambda: False)()
    return Console(file=file, width=None if is_terminal else 10_000, highlight=False)  # type: ignore[arg-type]


def typed(words: Sequence[str]) -> None:
    """Keep the words of the command that runs: another program may have given them, not the shell."""
    _TYPED.set(tuple(words))


def command_line() -> str:
    """The command as it was typed, for provenance."""
    import shlex

    return shlex.join(["adjudge", *_TYPED.get()])


def with_inputs(provenance: Provenance, files: Iterable[str]) -> Provenance:
    """Provenance that names some files more, with their digests."""
    from dataclasses import replace
    from pathlib import Path

    from adjudge.formats import Source

    sources = [Source.open(Path(file)) for file in files]
    return replace(provenance, inputs=(*provenance.inputs, *((source.name, source.sha256) for source in sources)))


def made_from(files: Iterable[str | None], *, seed: int, known: Provenance | None = None) -> Provenance:
    """Version, command, seed and every input with its digest, each once; ``known`` is of what was read already."""
    from dataclasses import replace

    from adjudge.formats import expand
    from adjudge.formats.source import STDIN, open_source
    from adjudge.model.provenance import Provenance

    start = known or Provenance()
    digests = dict(start.inputs)
    paths = expand([file for file in files if file], "runs")
    inputs: dict[str, str] = {}
    for path in paths:
        if (digest := digests.get(str(path))) is None:  # standard input is gone once it was read
            digest = "unknown" if path is STDIN else open_source(path).sha256
        inputs[str(path)] = digest
    return replace(start.with_settings(command=command_line(), seed=seed), inputs=tuple((inputs | digests).items()))


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A callback that draws a bar on stderr once the work has taken a second; silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    started = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console(sys.stderr), transient=True)
    task = bar.add_task(label, total=None)

    def advance(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if not bar.live.is_started and time.monotonic() - started > 1:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()
