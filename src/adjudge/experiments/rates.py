"""Rates over trials, with intervals that know that the pairs of one trial are not independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError


@dataclass(frozen=True)
class Rates:
    """Shares of cases, each with its Monte-Carlo ``error`` and interval; NaN where there was no case."""

    value: Floats
    error: Floats
    low: Floats
    high: Floats


def rates(hits: Floats, cases: Floats, *, confidence: float = 0.95) -> Rates:
    """Hits over cases, summed over trials: arrays trials x anything, of the same shape.

    r = Σ h_i / Σ c_i over trials i. Trials are independent, cases within one are not (pairs share systems and queries),
    so that the variance is that of a ratio over clusters, m / (m - 1) Σ (h_i - r c_i)² / (Σ c_i)² with m trials. The
    interval is Wilson's for as many independent cases as would have that variance, r (1 - r) / variance, but no more
    than there were; where no trial differs from another, as many as there were trials. It is the error of having drawn
    so many trials, not that of having one collection only.

    Wilson, E. B. Probable inference, the law of succession, and statistical inference. JASA 22(158), 1927.
    doi:10.1080/01621459.1927.10502953

    >>> found = rates(np.array([1.0, 0.0, 2.0, 1.0]), np.array([10.0, 10.0, 10.0, 10.0]))
    >>> round(float(found.value), 2), round(float(found.low), 2), round(float(found.high), 2)
    (0.1, 0.04, 0.23)
    """
    if hits.shape != cases.shape or hits.ndim < 1:
        raise AdjudgeError(f"expected hits and cases of the same shape, got {hits.shape} and {cases.shape}")
    if not 0 < confidence < 1:
        raise AdjudgeError(f"'confidence' must be in (0, 1), got {confidence}")
    total, m = cases.sum(axis=0, dtype=np.float64), len(hits)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = hits.sum(axis=0) / total
        squares = ((hits - rate * cases) ** 2).sum(axis=0) / total**2
        variance = squares * m / max(m - 1, 1)
        alike = np.minimum((cases > 0).sum(axis=0), total)
        effective = np.where(variance > 0, np.minimum(rate * (1 - rate) / variance, total), alike)
        low, high = _wilson(rate, effective, confidence)
    return Rates(rate, np.sqrt(variance), low, high)


def _wilson(rate: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    from scipy.special import ndtri

    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (rate * (1 - rate) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)
