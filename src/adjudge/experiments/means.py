"""Means over trials, with the error of having run so many."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from adjudge.experiments.estimates import Estimates, check_confidence


def means(values: npt.ArrayLike, *, confidence: float = 0.95) -> Estimates:
    """Means over the first axis, trials, with Student's interval, which needs two; NaN is left out.

    It is the error of having drawn so many trials, not that of having one collection only.

    >>> found = means([0.2, 0.4, 0.3, 0.3])
    >>> round(float(found.value), 3), round(float(found.low), 3), round(float(found.high), 3)
    (0.3, 0.17, 0.43)
    """
    from scipy.special import stdtrit

    check_confidence(confidence)
    given = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(given)
    n = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, given, 0.0).sum(axis=0) / n
        squares = np.where(known, (given - mean) ** 2, 0.0).sum(axis=0)
        error = np.sqrt(squares / (n - 1) / n)
        half = stdtrit(np.maximum(n - 1, 1), (1 + confidence) / 2) * error
    return Estimates(mean, error, mean - half, mean + half)
