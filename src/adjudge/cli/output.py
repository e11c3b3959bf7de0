"""Showing results: a table on the terminal or text in a file; progress when it takes more than a second."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_STYLES = {".json": "json", ".csv": "csv", ".tex": "latex", ".md": "markdown"}


def style_of(arguments: argparse.Namespace) -> str:
    """How to show results: as asked, else as the suffix of the output file says, else as text."""
    if arguments.style is not None:
        return str(arguments.style)
    suffix = os.path.splitext(arguments.output or "")[1].lower()
    return _STYLES.get(suffix, "text")


def check_output(arguments: argparse.Namespace) -> None:
    """Refuse an output file that cannot be written before any work is done."""
    if arguments.output is not None:
        target = arguments.output
        if os.path.isdir(target) or not os.path.isdir(os.path.dirname(target) or "."):
            raise AdjudgeError(f"{target}: expected a file in an existing directory as output")


def show(arguments: argparse.Namespace, text: str | None, renderable: RenderableType | None = None) -> None:
    """Write text, or draw something for people, to the terminal or to the output file."""
    if arguments.output is not None:
        from pathlib import Path

        from adjudge.formats import write_whole

        write_whole(Path(arguments.output), (text if text is not None else drawn(renderable)).encode())
    elif text is not None:
        sys.stdout.write(text)
    else:
        console(sys.stdout).print(renderable)


def drawn(renderable: RenderableType | None) -> str:
    """A drawing as plain text."""
    import io

    buffer = io.StringIO()
    console(buffer, width=200).print(renderable)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def console(file: object, width: int | None = None) -> Console:
    """A console that does not cut tables when nobody is looking at a terminal."""
    from rich.console import Console

    wide = None if width is None and getattr(file, "isatty", lambda: False)() else width or 200
    return Console(file=file, width=wide, highlight=False)  # type: ignore[arg-type]


def command_line() -> str:
    """The command as it was typed, for provenance."""
    import shlex

    return shlex.join(["adjudge", *sys.argv[1:]])


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A callback that draws a bar on stderr once the work has taken a second; silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    started, bar = (
        time.monotonic(),
        Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console(sys.stderr),
            transient=True,
        ),
    )
    task = bar.add_task(label, total=None)

    def advance(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if not bar.live.is_started and time.monotonic() - started > 1:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()
