"""What Adjudge raises and warns with.

Every message says what was wanted, what came and, where there is a place, where:
``runs/a.txt:17: expected 6 columns, got 5``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = [
    "AdjudgeError",
    "AdjudgeWarning",
    "InputError",
    "MissingPackageError",
    "NotEnoughDataError",
    "ParameterError",
    "UnknownNameError",
]

_kept: ContextVar[list[str] | None] = ContextVar("adjudge_kept_warnings", default=None)


class AdjudgeError(ValueError):
    """Something the user gave cannot be used. The message is one line, fit for a terminal."""


class ParameterError(AdjudgeError):
    """A parameter was given a value that it cannot have."""


class UnknownNameError(AdjudgeError):
    """A name of a measure, a test, a format … that is not registered; carries what was asked for."""

    def __init__(self, message: str, *, kind: str = "", name: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.name = name


class NotEnoughDataError(AdjudgeError):
    """There are too few queries, systems, assessors or answers for what was asked."""


class MissingPackageError(AdjudgeError):
    """A package of an optional extra is not installed, or does not load."""


class InputError(AdjudgeError):
    """A file or table that cannot be read; carries the place where there is one."""

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None) -> None:
        where = "" if source is None else "".join(c if c.isprintable() else "?" for c in source)
        place = "" if source is None else f"{where}: " if line is None else f"{where}:{line}: "
        super().__init__(place + message)
        self.source = source
        self.line = line


class AdjudgeWarning(UserWarning):
    """The answer stands, but something about the data weakens it."""


def warn(text: str, stacklevel: int = 1) -> None:
    """Warn with :class:`AdjudgeWarning`, unless :func:`kept_warnings` collects it.

    ``stacklevel`` counts as that of :func:`warnings.warn`: 1 is the line that calls this, 2 the caller of its function.
    """
    kept = _kept.get()
    if kept is None:
        warnings.warn(text, AdjudgeWarning, stacklevel=_frames(stacklevel) + 1)
    else:
        kept.append(text)


def _frames(level: int) -> int:
    """How many frames up a level is, without those in which :func:`adjudge.checks.checked` checks arguments."""
    frame, frames = sys._getframe(2), 0
    while level > 0:
        frames += 1
        level -= frame.f_code.co_name != "check_first"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return frames


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Collect what :func:`warn` says in a list instead of warning; of nested blocks, the inner one collects.

    This is not :func:`warnings.catch_warnings`, because filters belong to the whole process: threads of a server that
    enter and leave such blocks at the same time would change each other's filters, and those of other packages too.
    The list belongs to the context, so to one thread or task; a worker that is started inside the block is not part
    of it unless it runs in a copy of the context.

    >>> with kept_warnings() as said:
    ...     warn("3 lists missing.")
    >>> said
    ['3 lists missing.']
    """
    said: list[str] = []
    token = _kept.set(said)
    try:
        yield said
    finally:
        _kept.reset(token)


def shown(text: object, limit: int = 60) -> str:
    """Quote a value for an error message, shortened and free of control characters.

    >>> shown("a" * 100, limit=8)
    "'aaaaaaa…'"
    """
    plain = str(text)
    return repr(plain if len(plain) <= limit else plain[: limit - 1] + "…")


def reason(error: Exception) -> str:
    """What the operating system says went wrong, fit for the end of a sentence.

    >>> reason(PermissionError(13, "Permission denied"))
    'permission denied'
    """
    return (getattr(error, "strerror", None) or str(error)).lower()
