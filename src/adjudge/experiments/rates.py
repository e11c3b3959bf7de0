"""Rates over trials, with intervals that allow for the dependence of pairs within one, and which of several lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import ALPHA, CONFIDENCE, checked
from adjudge.errors import AdjudgeError
from adjudge.stats.intervals import wilson_interval

LEVELS: tuple[float, ...] = (
    *(float(f"{digit}e-{power}") for power in (4, 3, 2) for digit in range(1, 10)),
    *(0.1, 0.2, 0.3, 0.4, 0.5),
)
"""The 32 levels of significance of thesis section 5.4."""
_ROUNDING = 1e-24  # of a squared rate: a variance up to this is rounding of sums
_CLEAR = 0.975  # of Student's distribution: beyond that many errors two rates are called different


def check_levels(levels: Sequence[float], *, where: str = "") -> Floats:
    """Levels of significance in ascending order."""
    if not len(levels):
        raise AdjudgeError(f"{where}expected at least one level, got none")
    return np.unique([float(ALPHA.check("levels", level, where=where)) for level in levels])


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


def leave_one_out(hits: Floats, cases: Floats) -> Floats:
    """Rates without one trial each, trials x ...: how rates of the same trials move together."""
    with np.errstate(invalid="ignore", divide="ignore"):
        without: Floats = (hits.sum(axis=0) - hits) / (cases.sum(axis=0) - cases)
    return without


def jackknife_error(without: Floats) -> Floats:
    """Monte-Carlo error of a statistic from its values without one trial each; infinite with one trial.

    sqrt((m - 1) / m Σ (s_i - mean(s))²) over m trials.
    """
    m = len(without)
    if m < 2:
        return np.full(without.shape[1:], np.inf)
    error: Floats = np.sqrt((m - 1) / m * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    return error


def find_leaders(names: Sequence[str], value: Floats, without: Floats, *, highest: bool = False) -> tuple[str, ...]:
    """Names with the lowest (or highest) value: the first leads, others are not clearly behind it.

    ``without`` has the values without one trial each, trials x names. Trials are shared, so that differences are more
    certain than intervals suggest: what counts is the jackknife error of the difference, times Student's 97.5 %
    quantile for this number of trials. Names without a value are left out; if none has one, or nothing tells them
    apart, all lead.

    >>> moved = np.array([[0.50, 0.51, 0.70], [0.52, 0.50, 0.71], [0.48, 0.49, 0.69]])
    >>> find_leaders(["t", "permutation", "sign"], moved.mean(axis=0), moved)
    ('t', 'permutation')
    """
    from scipy.special import stdtrit

    if np.isnan(value).all():
        return tuple(names)
    behind = np.where(np.isnan(value), np.inf, -value if highest else value)
    best = int(np.argmin(behind))
    margin = float(stdtrit(max(len(without) - 1, 1), _CLEAR)) * jackknife_error(without - without[:, [best]])
    order = [int(k) for k in np.argsort(behind, kind="stable") if k != best and np.isfinite(behind[k])]
    return tuple(names[k] for k in (best, *(k for k in order if not behind[k] - behind[best] > margin[k])))
