"""Levels of relevance: the few that a scale has, ten equal parts of one that has many, and their moments."""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.scales import Scale

_MOST_LEVELS = 11  # scales with more are cut into ten parts


def cut_levels(scale: Scale, wanted: int | None = None) -> tuple[Floats, tuple[float, ...]]:
    """Lower bounds of the levels from the second on, and what each is worth, both as relevance from 0 to 1.

    A scale with more than eleven levels, such as Fine, is cut into ten equal parts (T 7.3.1).

    >>> from adjudge.model.scales import BROAD, FINE
    >>> bounds, worth = cut_levels(BROAD)
    >>> bounds.tolist(), worth
    ([0.25, 0.75], (0.0, 0.5, 1.0))
    >>> cut_levels(FINE)[1][:3]
    (0.05, 0.15, 0.25)
    """
    if wanted is not None and wanted < 2:
        raise AdjudgeError(f"'levels' must be at least 2, got {wanted}")
    own = 0 if scale.levels is None else _levels_from_zero(scale)
    if 2 <= own <= _MOST_LEVELS and wanted in (None, own):
        worth = np.arange(own) / (own - 1)
        return (worth[1:] + worth[:-1]) / 2, tuple(worth.tolist())
    n = wanted or 10
    return np.arange(1, n) / n, tuple(((np.arange(n) + 0.5) / n).tolist())


def uniform_moments(scale: Scale) -> tuple[float, float]:
    """Mean and variance of relevance where every grade of the scale is as likely; grades below 0 count as 0.

    >>> from adjudge.model.scales import BROAD, FINE
    >>> mean, variance = uniform_moments(FINE)
    >>> round(100 * mean, 6), round(100**2 * variance, 6)
    (50.0, 850.0)
    >>> round(2**2 * uniform_moments(BROAD)[1], 6)
    0.666667
    """
    if scale.levels is None:
        share = scale.maximum / (scale.maximum - scale.minimum)  # of grades above 0
        return share / 2, share / 3 - (share / 2) ** 2
    grades = np.linspace(scale.minimum, scale.maximum, scale.levels)
    relevance = np.maximum(grades, 0.0) / scale.maximum
    return float(relevance.mean()), float(relevance.var())


def _levels_from_zero(scale: Scale) -> int:
    """How many levels of a scale are 0 or more; grades below count as 0."""
    step = (scale.maximum - scale.minimum) / max((scale.levels or 2) - 1, 1)
    return round(scale.maximum / step) + 1
