"""Relevance scales: which grades an assessor may give, and how grades of one scale become grades of another.

MIREX asks for two grades at once: *Broad* (0 not similar, 1 somewhat similar, 2 very similar) and *Fine* (0 to 100).
A scale is an interval; any real number inside it is a grade, because grades of several assessors are averaged.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.errors import AdjudgeError, shown


@dataclass(frozen=True)
class Scale:
    """Grades from ``minimum`` to ``maximum``; with ``levels``, that many equally spaced values.

    Grades of 0 or less mean "not relevant"; a ``minimum`` below 0 is for collections that mark spam with negative
    grades.
    """

    name: str
    maximum: float
    minimum: float = 0.0
    levels: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.maximum) and math.isfinite(self.minimum) and self.minimum <= 0 < self.maximum):
            raise AdjudgeError(
                f"Scale: expected a minimum of at most 0 and a maximum above 0, got {self.minimum:g}..{self.maximum:g}"
            )

    def __str__(self) -> str:
        return f"{self.name} ({self.minimum:g}..{self.maximum:g})"

    def contains(self, grades: Floats) -> Mask:
        """Which of the grades lie inside the scale."""
        inside: Mask = (grades >= self.minimum) & (grades <= self.maximum)
        return inside

    @property
    def says_order_only(self) -> bool:
        """Whether only the order of grades means anything, as they are groups of partially ordered lists."""
        return self.name == _GROUPS


_GROUPS = "groups"
BINARY = Scale("binary", 1.0, levels=2)
BROAD = Scale("broad", 2.0, levels=3)
FINE = Scale("fine", 100.0, levels=101)
_NAMED = {scale.name: scale for scale in (BINARY, BROAD, FINE)}


def parse_scale(text: str) -> Scale:
    """Read a scale as users write it: ``broad``, ``fine``, ``binary`` or an interval ``0..4``.

    >>> parse_scale("fine").maximum
    100.0
    >>> parse_scale("-2..4").minimum
    -2.0
    """
    name = text.strip().lower()
    if name in _NAMED:
        return _NAMED[name]
    number = r"[-+]?\d+(?:\.\d+)?"
    match = re.fullmatch(rf"({number})\s*\.\.\s*({number})", name)
    if match is None:
        raise AdjudgeError(f"Scale: expected one of {', '.join(_NAMED)} or an interval such as 0..4, got {shown(text)}")
    return _interval(float(match[1]), float(match[2]))


def infer_scale(grades: Floats) -> Scale:
    """The scale that grades suggest: from 0, or the lowest negative grade, to the highest grade.

    >>> infer_scale(np.array([0.0, 1.0, 3.0])).maximum
    3.0
    """
    highest = float(grades.max(initial=0.0))
    return _interval(float(grades.min(initial=0.0)), highest if highest > 0 else 1.0)


def groups_scale(grades: Floats) -> Scale:
    """The scale of grades that count the groups of partially ordered lists from the last one, which has grade 1.

    >>> print(groups_scale(np.array([2.0, 1.0, 1.0])))
    groups (0..2)
    """
    n = int(grades.max(initial=1.0))
    return Scale(_GROUPS, float(n), levels=n + 1)


def _interval(minimum: float, maximum: float) -> Scale:
    if (minimum, maximum) == (0.0, 1.0):
        return BINARY
    whole = minimum.is_integer() and maximum.is_integer()
    return Scale("graded", maximum, minimum, levels=int(maximum - minimum) + 1 if whole else None)


@dataclass(frozen=True)
class Conversion:
    """Cuts grades at lower bounds: the new grade is the number of bounds at or below the old one."""

    name: str
    bounds: tuple[float, ...]

    @property
    def scale(self) -> Scale:
        """The scale of the new grades."""
        n = len(self.bounds)
        return BINARY if n == 1 else Scale("graded", float(n), levels=n + 1)

    def __call__(self, grades: Floats) -> Floats:
        return np.searchsorted(np.asarray(self.bounds), grades, side="right").astype(np.float64)


def conversion(target: str, origin: Scale) -> Conversion:
    """The conversions of the thesis (3.1.2), for any scale: ``graded3``, ``graded4``, … and ``binary40``.

    ``gradedN`` cuts the scale into N equal parts (Fine into 3: at 34 and 67); ``binaryX`` makes grades from X on
    relevant.

    >>> conversion("graded3", FINE)(np.array([33.0, 34.0, 66.0, 67.0])).tolist()
    [0.0, 1.0, 1.0, 2.0]
    >>> conversion("graded5", FINE).bounds
    (21.0, 41.0, 61.0, 81.0)
    >>> conversion("binary40", FINE)(np.array([39.5, 40.0])).tolist()
    [0.0, 1.0]
    """
    name = target.strip().lower()
    if (match := re.fullmatch(r"graded(\d+)", name)) and int(match[1]) >= 2:
        n = int(match[1])
        if origin.levels is None:
            return Conversion(name, tuple(origin.maximum * i / n for i in range(1, n)))
        if n > origin.levels:
            raise AdjudgeError(f"Conversion: {name} has {n} levels, more than the scale {origin}")
        return Conversion(name, tuple(math.floor(origin.maximum * i / n) + 1.0 for i in range(1, n)))
    if match := re.fullmatch(r"binary(\d+(?:\.\d+)?)", name):
        bound = float(match[1])
        if not 0 < bound <= origin.maximum:
            raise AdjudgeError(f"Conversion: {name} cuts outside the scale {origin}")
        return Conversion(name, (bound,))
    raise AdjudgeError(
        f"Conversion: expected gradedN (such as graded3) or binaryX (such as binary40), got {shown(target)}"
    )
