"""How far curves are from what one would like: bias at the ends, and distance to users who always agree.

* bias (3.11): sqrt((P(Sat | 0)² + (1 - P(Sat | 1))²) / 2), by a curve at λ = 0 and λ = 1 where one is given, by the
  first and the last bin otherwise, as in the thesis (few pairs of lists have a mean so near an end);
* distance to 1 (3.12): sqrt(mean over bins of (1 - P(Agr = 1 | Δλ in the bin))²);
* distance to 0 (3.13): sqrt(mean over bins of P(Agr = -1 | Δλ in the bin)²). The thesis prints Agr = 1 there, and means
  -1: the text and its Table 3.4 do.

Bins without answers have no share; the mean is over those that have. Intervals come from resampled clusters, that of
the bias by a curve from the covariance of its coefficients. Lower is better for all three.

Urbano 2013 (thesis), chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.checks import check_whole
from adjudge.preferences.evidence import Evidence, evidence, percentiles, resampled_weights, stacked
from adjudge.preferences.study import Study
from adjudge.users.binning import bin_of
from adjudge.users.satisfaction import SatisfactionMapping
from adjudge.users.satisfaction_fit import curve_slopes


@dataclass(frozen=True)
class Estimate:
    """A number and its interval; NaN where nothing is known."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "–"
        return f"{self.value:.3f}" if np.isnan(self.low) else f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Endpoints:
    """Bias at the endpoints (3.11) and distances to the ideal (3.12, 3.13); ``bins`` have answers, of all."""

    measure: str
    scale: str
    bias: Estimate
    positive: Estimate
    negative: Estimate
    bins: tuple[int, int]

    def __str__(self) -> str:
        return (
            f"{self.measure} on {self.scale}: bias {self.bias}, distance of P(Agr = 1) to 1 {self.positive}, "
            f"of P(Agr = -1) to 0 {self.negative}"
        )


def endpoints(
    study: Study | Evidence,
    measure: str = "",
    scale: str = "",
    *,
    bins: int = 10,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    satisfaction: SatisfactionMapping | None = None,
) -> Endpoints:
    """Bias at the endpoints and distances to the ideal, with intervals by resampling queries and participants.

    Without resamples there are no intervals. ``satisfaction`` is the curve to take the bias from, instead of bins.
    """
    check_whole("bins", bins, 1)
    check_whole("resamples", resamples, 0)
    seen = evidence(study, measure, scale) if isinstance(study, Study) else study
    draws = [_three(seen, bins, weights) for weights in resampled_weights([*seen.clusters.values()], resamples, seed)]
    value = _three(seen, bins, np.ones((1, len(seen.delta))))[0]
    low, high = percentiles(stacked(draws, 3), confidence)
    bias, positive, negative = (Estimate(*map(float, ends)) for ends in zip(value, low, high, strict=True))
    if satisfaction is not None:
        bias = _curve_bias(satisfaction, confidence)
    used = len(np.unique(bin_of(seen.sizes, bins)))
    return Endpoints(seen.measure, seen.scale, bias, positive, negative, (used, bins))


def _curve_bias(mapping: SatisfactionMapping, confidence: float) -> Estimate:
    """The bias by a curve, with its interval by the delta method."""
    from scipy.special import ndtri

    ends = np.array([0.0, 1.0])
    off = np.abs(mapping(ends) - ends)
    bias = float(np.sqrt(np.mean(off**2)))
    if not mapping.covariance or not bias:
        return Estimate(bias, np.nan, np.nan)
    slope = curve_slopes(mapping, ends) @ (off * np.array([1.0, -1.0])) / (2 * bias)
    half = float(ndtri(0.5 + confidence / 2) * np.sqrt(max(slope @ np.array(mapping.covariance) @ slope, 0.0)))
    return Estimate(bias, max(bias - half, 0.0), min(bias + half, 1.0))


def _three(seen: Evidence, bins: int, weights: Floats) -> Floats:
    """Bias and both distances for each row of weights: (rows, 3)."""
    lists, sizes = np.eye(bins)[bin_of(seen.levels, bins)], np.eye(bins)[bin_of(seen.sizes, bins)]
    agrees = seen.agrees
    satisfied = _shares(weights[:, seen.answer], lists, seen.good == 1)
    positive, negative = (_shares(weights, sizes, agrees == sign) for sign in (1, -1))
    columns = [_bias(satisfied), _root_mean((1 - positive) ** 2), _root_mean(negative**2)]
    return np.stack(columns, axis=1)


def _shares(weights: Floats, cells: Floats, hit: Mask) -> Floats:
    """Share of hits in each bin: (rows, bins); NaN where a bin is empty."""
    n = weights @ cells
    shares: Floats = np.divide(weights @ (cells * hit[:, None]), n, out=np.full(n.shape, np.nan), where=n > 0)
    return shares


def _bias(shares: Floats) -> Floats:
    return np.sqrt((shares[:, 0] ** 2 + (1 - shares[:, -1]) ** 2) / 2)


def _root_mean(values: Floats) -> Floats:
    """Square root of the mean of what is known in each row."""
    known = ~np.isnan(values)
    n = known.sum(axis=1)
    mean: Floats = np.divide(np.where(known, values, 0.0).sum(axis=1), n, out=np.full(len(n), np.nan), where=n > 0)
    return np.sqrt(mean)
