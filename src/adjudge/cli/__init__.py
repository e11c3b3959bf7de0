# PYTHON_ARGCOMPLETE_OK
"""The command line: a command per module, and no statistics in any.

argparse rather than typer: ``adjudge --help`` must answer at once, and importing typer alone takes longer than
ir_measures' whole start. A command is imported when it is called, and imports what it needs when it runs. This module
imports next to nothing: only once it is there can Ctrl-C be answered without a traceback.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # as of typing, which is not imported yet
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import NoReturn, TextIO


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    from adjudge.cli import parser

    return parser.build_parser()


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 when all went well, 2 with one line on stderr when the input was not usable."""
    from adjudge.errors import AdjudgeError, reason

    try:
        return _run_command(sys.argv[1:] if argv is None else argv)
    except AdjudgeError as error:
        return _refuse(str(error))
    except MemoryError:
        return _refuse("out of memory; try --depth to keep only the top of each ranking")
    except BrokenPipeError:  # the reader of our output has seen enough
        _forget_stdout()
    except OSError as error:
        _forget_stdout()
        return _refuse(f"cannot write the output: {reason(error)}")
    except KeyboardInterrupt as stop:  # a command may say what is kept
        _refuse(str(stop) or "interrupted")
        return 130
    return 0


def _run_command(given: Sequence[str]) -> int:
    import warnings

    from adjudge.cli.output import typed
    from adjudge.errors import AdjudgeWarning

    arguments = build_parser().parse_args(given or ["--help"])
    typed(given)
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", AdjudgeWarning)
    if sys.stdout is None:
        print("adjudge: standard output is closed", file=sys.stderr)
        return 2
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without UTF-8 shows ? for ±
    _run(arguments)
    sys.stdout.flush()
    return 0


def _run(arguments: argparse.Namespace) -> None:
    """Run a command, with what the user calls columns of tables."""
    if getattr(arguments, "columns", None) is None:
        arguments.run(arguments)
        return
    from adjudge.formats.columns import naming_columns

    with naming_columns(arguments.columns):
        arguments.run(arguments)


def _refuse(message: str) -> int:
    """One line on stderr, whatever is in it."""
    print("adjudge:", " ".join(message.splitlines()), file=sys.stderr)
    return 2


def _forget_stdout() -> None:
    """Keep Python from trying once more to write what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(  # noqa: PLR0917 - the signature is that of warnings.showwarning
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    import warnings

    from adjudge.errors import AdjudgeWarning

    if issubclass(category, AdjudgeWarning):
        print(f"adjudge: note: {message}", file=sys.stderr)
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), file=file or sys.stderr, end="")


def run() -> None:
    """Entry point of the ``adjudge`` script; Ctrl-C while it starts or ends is answered with one line, too."""
    interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # otherwise they are ignored, as asked
    if interrupts:
        signal.signal(signal.SIGINT, _leave)
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what could come next
        from adjudge.cli.completion import complete

        complete(build_parser())
    import adjudge.cli.parser  # noqa: F401 - before interrupts are answered by main

    if interrupts:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = main()
    if interrupts:
        signal.signal(signal.SIGINT, _leave)
    sys.exit(code)


def _leave(*_: object) -> NoReturn:
    """End at once, where there is nothing to tidy up."""
    os.write(2, b"adjudge: interrupted\n")
    os._exit(130)
