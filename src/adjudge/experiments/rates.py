"""Rates over trials, with intervals that know that the pairs of one trial are not independent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.intervals import wilson_interval


@dataclass(frozen=True)
class Rates:
    """Shares of cases, each with its Monte-Carlo ``error`` and interval; NaN where there was no case."""

    value: Floats
    error: Floats
    low: Floats
    high: Floats

    def at(self, place: Any) -> Rates:
        """Some of them, as arrays are indexed."""
        return Rates(self.value[place], self.error[place], self.low[place], self.high[place])

    @property
    def bounded(self) -> tuple[float, float, float]:
        """A single one as plain numbers: value, low and high."""
        return float(self.value), float(self.low), float(self.high)


def rates(hits: Floats, cases: Floats, *, confidence: float = 0.95) -> Rates:
    """Hits over cases, summed over trials: arrays trials x anything, of the same shape.

    r = Σ h_i / Σ c_i over trials i. Trials are independent, cases within one are not (pairs share systems and queries),
    so that the variance is that of a ratio over clusters, m / (m - 1) Σ s_i / (Σ c_i)² with s_i = (h_i - r c_i)² and m
    trials. The interval is Wilson's for as many independent cases as would have that variance, r (1 - r) / variance,
    but no more than there were, times (z / t)², since the variance is itself uncertain: t is Student's quantile with
    2 (Σ s_i)² / Σ s_i² degrees of freedom, at most m - 1, which are few also where a few of many trials have all the
    hits. Where no trial differs from another, as without any hit, it is taken that hits would come in bunches of
    sqrt(2 c) of a trial's c cases, as many as the pairs of one system are of all pairs; where trials have one case at
    most, it is plainly Wilson's. It is the error of having drawn so many trials, not of having one collection only.

    Korn, E. L., Graubard, B. I. Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data. Survey Methodology 24(2), 1998, has the correction of the number of cases.
    Wilson, E. B. Probable inference, the law of succession, and statistical inference. JASA 22(158), 1927.
    doi:10.1080/01621459.1927.10502953

    >>> found = rates(np.array([1.0, 0.0, 2.0, 1.0]), np.array([10.0, 10.0, 10.0, 10.0]))
    >>> round(float(found.value), 2), round(float(found.low), 2), round(float(found.high), 2)
    (0.1, 0.02, 0.34)
    """
    if hits.shape != cases.shape or hits.ndim < 1:
        raise AdjudgeError(f"expected hits and cases of the same shape, got {hits.shape} and {cases.shape}")
    total, m = cases.sum(axis=0, dtype=np.float64), len(hits)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = hits.sum(axis=0) / total
        squares = (hits - rate * cases) ** 2
        variance = squares.sum(axis=0) / total**2 * m / max(m - 1, 1)
        n_trials = (cases > 0).sum(axis=0)
        alike = np.maximum(np.minimum(n_trials, total), total / np.sqrt(2 * total / n_trials))
        known = np.minimum(rate * (1 - rate) / variance, total) * _certainty(squares, confidence)
        single = (cases <= 1).all(axis=0)  # of a trial: independent, and all is known that a binomial needs
        effective = np.where(single, total, np.where(variance > 0, known, alike))
        _, low, high = wilson_interval(rate * effective, effective, confidence=confidence)
    low, high = np.where(rate == 0, 0.0, low), np.where(rate == 1, 1.0, high)  # not a rounding error beside them
    return Rates(rate, np.sqrt(variance), low, high)


def _certainty(squares: Floats, confidence: float) -> Floats:
    """(z / t)², from squared residuals: how far the variance that they add up to is to be trusted."""
    from scipy.special import ndtri, stdtrit

    freedom = np.clip(2 * squares.sum(axis=0) ** 2 / (squares**2).sum(axis=0), 1, max(len(squares) - 1, 1))
    level = (1 + confidence) / 2
    certainty: Floats = (float(ndtri(level)) / stdtrit(freedom, level)) ** 2
    return certainty
