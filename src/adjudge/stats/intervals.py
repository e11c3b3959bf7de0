"""Confidence intervals for means over queries."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.checks import CONFIDENCE, checked


@checked(confidence=CONFIDENCE)
def t_interval(values: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats, Ints]:
    """Mean, half-width of its interval and number of queries, along the first axis; NaN cells are left out.

    mean ± t(1 - α/2, n - 1) s / sqrt(n), thesis section 4.2. With one query the half-width is NaN: nothing is known
    of the spread.

    >>> mean, half, n = t_interval(np.array([0.2, 0.4, 0.6]))
    >>> round(float(mean), 3), round(float(half), 3), int(n)
    (0.4, 0.497, 3)
    """
    from scipy.special import stdtrit

    n = np.isfinite(values).sum(axis=0)
    mean = np.divide(np.nansum(values, axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    squares = np.nansum((values - mean) ** 2, axis=0)
    several = n > 1
    variance = np.divide(squares, n - 1, out=np.full(n.shape, np.nan), where=several)
    quantile = np.where(several, stdtrit(np.maximum(n - 1, 1), 0.5 + confidence / 2), np.nan)
    return mean, quantile * np.sqrt(variance / np.maximum(n, 1)), n


@checked(confidence=CONFIDENCE)
def wilson_interval(
    hits: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Share, lower and upper end of Wilson's score interval; NaN where n is 0.

    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n), with z the normal quantile of 1 - α/2. It stays inside [0, 1]
    and has a width even when all or none are hits.

    Wilson 1927, doi:10.1080/01621459.1927.10502953.

    >>> [round(float(x), 4) for x in wilson_interval(0, 10)]
    [0.0, 0.0, 0.2775]
    """
    from scipy.special import ndtri

    total = np.where(np.asarray(n) > 0, n, np.nan).astype(np.float64)
    share = np.asarray(hits, dtype=np.float64) / total
    z2 = float(ndtri(0.5 + confidence / 2)) ** 2
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = np.sqrt(z2) * np.sqrt(share * (1 - share) / total + z2 / (4 * total**2)) / (1 + z2 / total)
    return share, np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)
