"""Build Adjudge, install it as anybody would into clean environments, and use it.

    python scripts/check_package.py [--core]

The wheel is installed without extras, runs the demo and scores it, and says what to install for pages with figures.
With ``plots`` it draws them, with ``web`` it serves the demo. The source distribution goes into another environment.
``--core`` stops after the wheel without extras. Packages come from the index that pip is set up for; uv fetches them
where it is installed, pip where it is not.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS_TO_SERVE = 900.0  # it makes music first
MISSING = "adjudge: Pages with figures need matplotlib, which is not installed: pip install 'adjudge[plots]'"
DEMO = ("demo/fine.csv", "demo/runs", "--scale", "fine", "-m", "CG@5")


class Wrong(Exception):  # noqa: N818 - it is what it says
    """Something that the package should do and does not."""


class Environment:
    """A clean environment with nothing of this checkout in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.bin = folder / "venv" / "bin"
        if (uv := _uv()) is not None:
            _call([*uv, "venv", "--quiet", "--python", sys.executable, str(folder / "venv")])
            self.installer = [*uv, "pip", "install", "--quiet", "--python", str(self.bin / "python"), *_uv_index()]
        else:
            _call([sys.executable, "-m", "venv", str(folder / "venv")])
            self.installer = [str(self.bin / "python"), "-m", "pip", "install", "--quiet"]
        self.work.mkdir()

    def install(self, what: str) -> None:
        """A file, perhaps with extras."""
        _call([*self.installer, what])

    def adjudge(self, *arguments: str, code: int = 0) -> str:
        """What a command says; both streams together."""
        return _call([str(self.bin / "adjudge"), *arguments], cwd=self.work, code=code)


def _uv() -> list[str] | None:
    if (found := shutil.which("uv")) is not None:
        return [found]
    return [sys.executable, "-m", "uv"] if importlib.util.find_spec("uv") is not None else None


def _uv_index() -> list[str]:
    """Where pip looks, for uv, which does not read pip's settings."""
    if importlib.util.find_spec("pip") is None:
        return []
    options = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}
    found = ["--index-strategy", "unsafe-best-match"]  # as pip does: the best version, wherever it is
    for line in _call([sys.executable, "-m", "pip", "config", "list"]).splitlines():
        name, _, value = line.partition("=")
        if (option := options.get(name.rpartition(".")[2])) is not None:
            found += [part for place in value.strip("'").split() for part in (option, place)]
    return found


def _call(command: Sequence[str], *, cwd: Path = ROOT, code: int = 0) -> str:
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    said = subprocess.run(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if said.returncode != code:
        raise Wrong(f"{' '.join(command)}: expected exit code {code}, got {said.returncode}: {said.stdout[-2000:]}")
    return said.stdout


def _expect(text: str, said: str) -> None:
    if text not in said:
        raise Wrong(f"expected {text!r}, got {said[-2000:]!r}")


def build(target: Path, kind: str) -> Path:
    """The wheel or the source distribution (sdist)."""
    _call([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target / kind)])
    (made,) = (target / kind).glob("adjudge-*")
    return made


def check_core(environment: Environment, package: Path) -> None:
    """Everything that needs no extra, and a clear line about what does."""
    environment.install(str(package))
    _expect(f"adjudge {package.name.split('-')[1].removesuffix('.tar.gz')}", environment.adjudge("--version"))
    _expect("KLN2", environment.adjudge("demo"))
    environment.adjudge("demo", "--write", "demo")
    _expect("CG@5", environment.adjudge("score", *DEMO))
    environment.adjudge("report", *DEMO, "-o", "report.md")
    _expect(MISSING, environment.adjudge("report", *DEMO, "-o", "report.html", code=2))
    if (environment.work / "report.html").exists():
        raise Wrong("expected no page without figures, got one")


def check_all_core_commands(environment: Environment) -> None:
    """The other commands that the core has to have."""
    environment.adjudge("compare", *DEMO)
    environment.adjudge("plan", *DEMO)
    environment.adjudge("estimate", "demo/runs", "--scale", "fine", "-m", "CG@5")
    environment.adjudge("next", "demo/runs", "--scale", "fine", "-m", "CG@5")
    environment.adjudge("convert", "judgments", "demo/fine.csv", "-o", "fine.parquet")
    environment.adjudge("completion", "bash")
    _expect("adjudge[web]", environment.adjudge("serve", code=2))
    _expect("adjudge[audio]", environment.adjudge("demo", "--music", "music", code=2))
    _expect("source checkout", environment.adjudge("reproduce", "--list", code=2))


def check_plots(environment: Environment, package: Path) -> None:
    """A page with figures."""
    environment.install(f"{package}[plots]")
    environment.adjudge("report", *DEMO, "-o", "report.html")
    _expect("<svg", (environment.work / "report.html").read_text(encoding="utf-8"))


def check_web(environment: Environment, package: Path) -> None:
    """The server on the demo."""
    environment.install(f"{package}[web]")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [str(environment.bin / "adjudge"), "serve", "--demo", "--data", "data", "--port", port]
    log = environment.work / "serve.log"
    with log.open("wb") as file:
        server = subprocess.Popen(command, cwd=environment.work, stdout=file, stderr=file)
    try:
        _expect("ok", _answer(f"http://127.0.0.1:{port}/healthz", server, log))
    finally:
        server.terminate()
        server.wait(30)


def _answer(url: str, server: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + SECONDS_TO_SERVE
    while time.monotonic() < end and server.poll() is None:
        with suppress(OSError), urllib.request.urlopen(url, timeout=5) as response:
            return str(response.read().decode())
        time.sleep(0.2)
    got = "none yet" if server.poll() is None else f"the end of the server, with exit code {server.returncode}"
    said = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    raise Wrong(f"{url}: expected an answer within {SECONDS_TO_SERVE:g} seconds, got {got}: {said}")


def main(argv: Sequence[str] | None = None) -> int:
    """Check, and say how long each step took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--core", action="store_true", help="only the wheel without extras")
    only_core = parser.parse_args(argv).core
    with tempfile.TemporaryDirectory(prefix="adjudge-package-") as name:
        folder = Path(name)
        try:
            _check(folder, only_core=only_core)
        except Wrong as wrong:
            print(f"check_package: {wrong}", file=sys.stderr)
            return 1
    print("The package installs and works.")
    return 0


def _check(folder: Path, *, only_core: bool) -> None:
    began = time.monotonic()

    def told(step: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {step}", flush=True)

    wheel = build(folder / "dist", "wheel")
    told("built")
    first = Environment(folder)
    check_core(first, wheel)
    told("wheel without extras: demo, score, report")
    if only_core:
        return
    check_all_core_commands(first)
    told("wheel without extras: all other commands")
    check_plots(first, wheel)
    told("plots: a page with figures")
    check_web(first, wheel)
    told("web: the server answers")
    (folder / "second").mkdir()
    check_core(Environment(folder / "second"), build(folder / "dist", "sdist"))
    told("source distribution: demo, score, report")


if __name__ == "__main__":
    sys.exit(main())
