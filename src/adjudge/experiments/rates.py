"""Rates over trials, with intervals that allow for the dependence of pairs within a trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import CONFIDENCE, checked
from adjudge.errors import AdjudgeError
from adjudge.stats.intervals import wilson_interval

_ROUNDING = 1e-24  # of a squared rate: a variance up to this is rounding of sums


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


@checked(confidence=CONFIDENCE)
def rates(hits: Floats, cases: Floats, *, confidence: float = 0.95) -> Rates:
    """Hits over cases, summed over trials: arrays trials x anything, of the same shape.

    r = Σ h_i / Σ c_i over trials i. Trials are independent, cases within one are not (pairs share systems and queries),
    so that the variance is that of a ratio over clusters, m / (m - 1) Σ s_i / (Σ c_i)² with s_i = (h_i - r c_i)² and m
    trials. It may be larger than that of independent cases, where pairs move together, or far smaller, where the same
    pairs are hits in nearly every trial, as with 40 of 50 queries. The interval is Wilson's for as many independent
    cases as would have that variance, r (1 - r) / variance, times (z / t)², since the variance is itself uncertain: t
    is Student's quantile with 2 (Σ s_i)² / Σ s_i² degrees of freedom, at most m - 1, which are few also where a few of
    many trials have all the hits. Where trials have one case at most, it is plainly Wilson's for as many cases.

    Where no trial differs from another, as without any hit, others may still, and then by the sqrt(2 c) of a trial's c
    cases that have one system in common. The interval is r ± z² / (n + z²), which without a hit is Wilson's of 0 in
    n = Σ c_i / sqrt(2 c) cases. All intervals are of having drawn this number of trials, not of having one collection.

    Korn, E. L., Graubard, B. I. Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data. Survey Methodology 24(2), 1998, has the correction of the number of cases.
    Wilson, E. B. Probable inference, the law of succession, and statistical inference. JASA 22(158), 1927.
    doi:10.1080/01621459.1927.10502953

    >>> found = rates(np.array([1.0, 0.0, 2.0, 1.0]), np.array([10.0, 10.0, 10.0, 10.0]))
    >>> round(float(found.value), 2), round(float(found.low), 2), round(float(found.high), 2)
    (0.1, 0.03, 0.3)
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
        known = rate * (1 - rate) / variance * _certainty(squares, confidence)
        single = (cases <= 1).all(axis=0)  # of a trial: independent, and all is known that a binomial needs
        same = ~single & (variance <= _ROUNDING * rate**2)
        effective = np.where(single, total, np.where(same, alike, known))
        _, low, high = wilson_interval(rate * effective, effective, confidence=confidence)
        _, _, reach = wilson_interval(np.zeros_like(alike), alike, confidence=confidence)
        low = np.where(same, np.maximum(rate - reach, 0), low)
        high = np.where(same, np.minimum(rate + reach, 1), high)
    low, high = np.where(rate == 0, 0.0, low), np.where(rate == 1, 1.0, high)  # not a rounding error beside them
    return Rates(rate, np.sqrt(variance), low, high)


def _certainty(squares: Floats, confidence: float) -> Floats:
    """(z / t)², from squared residuals: how far the variance that they add up to is to be trusted."""
    from scipy.special import ndtri, stdtrit

    freedom = np.clip(2 * squares.sum(axis=0) ** 2 / (squares**2).sum(axis=0), 1, max(len(squares) - 1, 1))
    level = (1 + confidence) / 2
    certainty: Floats = (float(ndtri(level)) / stdtrit(freedom, level)) ** 2
    return certainty
