"""Checks of numbers that callers give, worded once.

The choices that a user has, each declared once: checked by the library, offered by the command line.

Nothing is imported here, so that the command line can offer them at no cost.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from adjudge.errors import AdjudgeError, shown


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


Unjudged = Literal["zero", "condensed", "bounds"]
Missing = Literal["zero", "drop", "error"]
Ties = Literal["trec", "expected"]
TieUnit = Literal["pairs", "lists"]
Precision = Literal["single", "double"]
Partial = Literal["drop", "keep"]
Combine = Literal["mean", "median", "min", "max"]
Names = Literal["tag", "file"]
Exclude = Literal["nothing", "query", "artist"]
Alternative = Literal["two-sided", "greater", "less"]
Interval = Literal["t", "percentile", "bca"]
Assessors = Literal["auto", "crossed", "nested"]
ReliabilityInterval = Literal["auto", "f", "bootstrap", "delta", "none"]
Resampled = Literal["both", "queries", "systems"]

DEFAULT_CONSTRUCTION = "Any-1"
"""How partially ordered lists are made unless told otherwise: the most consistent of Urbano et al. 2010."""
DEFAULT_LIST_ALPHA = 0.25
"""The significance level of partially ordered lists, as of the original ones of 2005."""


def check_choice(name: str, value: object, options: Any) -> None:
    """Refuse a value that is not one of the options.

    >>> check_choice("ties", "random", Ties)
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: 'ties' must be one of trec, expected, got 'random'
    """
    if value not in get_args(options):
        raise AdjudgeError(f"{name!r} must be one of {', '.join(get_args(options))}, got {shown(value)}")
