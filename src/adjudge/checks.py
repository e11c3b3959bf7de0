"""Checks of numbers that callers give, worded once."""

from __future__ import annotations

from adjudge.errors import AdjudgeError


def check_whole(name: str, value: object, least: int, most: int | None = None, *, where: str = "") -> int:
    """A whole number of at least ``least``, or an error that names it.

    >>> check_whole("bins", 0, 1, where="Coverage: ")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: Coverage: 'bins' must be a whole number of at least 1, got 0
    """
    wanted = f"of at least {least}" if most is None else f"from {least} to {most:,}"
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        raise AdjudgeError(f"{where}{name!r} must be a whole number {wanted}, got {value}")
    return value
