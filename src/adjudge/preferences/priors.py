"""How large differences are in practice, and how many of them users would notice.

A measure that needs small differences is no better than another if it hardly ever produces them (thesis 3.4). The
*prior* of a measure on a scale is the distribution of |Δλ| over all pairs of real systems and all queries. The
*noticeable difference* is the least one for which more than half prefer the better list: read off the bins, with
straight lines between their centres, or off the fitted curve. The share of the prior from there on is the share of
comparisons that most users would notice (its Table 3.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.checks import check_whole
from adjudge.errors import AdjudgeError
from adjudge.model.collection import Collection
from adjudge.preferences.bins import AgreementBins
from adjudge.preferences.endpoints import Estimate
from adjudge.preferences.evidence import percentiles, resampled_weights, stacked
from adjudge.users.agreement import FORMS, AgreementMapping, noticeable_difference, noticeable_differences
from adjudge.users.combinations import RelevanceScale, relevance_scale

_GRID = np.linspace(0.0, 1.0, 1001)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Prior:
    """|Δλ| of every pair of systems for every query, and the place of that query; systems count as given."""

    measure: str
    scale: str
    sizes: Floats
    query: Ints
    n_systems: int

    def cdf(self, size: npt.ArrayLike) -> Floats:
        """Share of comparisons whose difference is at most so large: F(Δ) = P(|Δλ| ≤ Δ)."""
        ordered = np.sort(self.sizes)
        share: Floats = np.searchsorted(ordered, np.asarray(size, dtype=np.float64) + _ROUNDING, side="right") / len(
            ordered
        )
        return share

    def __str__(self) -> str:
        at = ", ".join(f"{level:.0%} up to {np.quantile(self.sizes, level):.3f}" for level in (0.5, 0.8, 0.95))
        n = len(np.unique(self.query))
        return f"|Δ| of {self.measure} on {self.scale}, {self.n_systems} systems and {n} queries: {at}"


@dataclass(frozen=True)
class Noticed:
    """The share of comparisons that most users would notice, by the curve and by the bins.

    ``from_curve`` and ``from_bins`` are the differences from which on more than half prefer the better list (None where
    none does it); ``share`` and ``share_by_bins`` the comparisons that reach them; ``agreeing`` the share of users who
    prefer the better list, averaged over the comparisons.
    """

    from_curve: float | None
    from_bins: float | None
    share: Estimate
    share_by_bins: float
    agreeing: float


def prior_of(collection: Collection, measure: str, scale: str) -> Prior:
    """The prior of a measure on a scale, from the runs and judgments of a collection.

    The judgments must be on the scale, or on the one that it is a conversion of. Queries that some system has no
    effectiveness for are left out for pairs with that system.

    >>> import adjudge as aj
    >>> print(prior_of(aj.demo(), "CG@5", "fine"))
    |Δ| of CG@5 on fine, 12 systems and 60 queries: 50% up to 0.142, 80% up to 0.376, 95% up to 0.644
    """
    from adjudge.measures.evaluation import evaluate

    wanted, has = relevance_scale(scale), collection.need_judgments().scale
    if has != wanted.origin:
        raise AdjudgeError(f"{measure} on {scale}: expected judgments on {RelevanceScale(wanted.origin)}, got {has}")
    used = collection if wanted.conversion is None else collection.rescaled(wanted.conversion.name)
    matrix = evaluate(used, [measure]).matrix()
    first, second = np.triu_indices(matrix.shape[1], k=1)
    sizes = np.abs(np.round(matrix[:, first] - matrix[:, second], 9))
    query = np.repeat(np.arange(len(matrix)), len(first))
    known = ~np.isnan(sizes.ravel())
    if not known.any():
        raise AdjudgeError(f"{measure} on {scale}: expected two or more systems to compare, got {matrix.shape[1]}")
    return Prior(measure, str(wanted), sizes.ravel()[known], query[known], matrix.shape[1])


def interpolated_difference(bins: AgreementBins, *, level: float = 0.5) -> float | None:
    """The least difference for which ``level`` prefer the better list, on straight lines between centres of bins."""
    used = bins.agree.used
    x, y = ((bins.agree.edges[:-1] + bins.agree.edges[1:]) / 2)[used], bins.agree.share[used]
    above = np.flatnonzero(y >= level)
    if not len(above):
        return None
    k = int(above[0])
    if k == 0:
        return float(x[0])
    return float(x[k - 1] + (level - y[k - 1]) / (y[k] - y[k - 1]) * (x[k] - x[k - 1]))


def noticed(
    prior: Prior,
    mapping: AgreementMapping,
    bins: AgreementBins,
    *,
    level: float = 0.5,
    confidence: float = 0.95,
    resamples: int = 500,
    seed: int = 0,
) -> Noticed:
    """The share of comparisons that more than ``level`` of the users would notice.

    Its interval covers the curve (parameters drawn from their covariance) and the queries of the prior (resampled), not
    other systems. Without a covariance only the queries; without resamples there is none.
    """
    check_whole("resamples", resamples, 0)
    threshold, by_bins = noticeable_difference(mapping, level=level), interpolated_difference(bins, level=level)
    places = _drawn_thresholds(mapping, level, resamples, seed)
    queries, which = np.unique(prior.query, return_inverse=True)
    reached = np.stack([_counts_from(prior.sizes[which == q]) for q in range(len(queries))])
    weights = stacked(resampled_weights([np.arange(len(queries))], resamples, seed), len(queries))
    draws = (weights * reached[:, places].T).sum(axis=1) / (weights @ reached[:, 0])
    low, high = percentiles(draws, confidence)
    value = _reach(prior, threshold)
    agreeing = float(mapping(prior.sizes).agree.mean())
    return Noticed(threshold, by_bins, Estimate(value, float(low), float(high)), _reach(prior, by_bins), agreeing)


def _reach(prior: Prior, threshold: float | None) -> float:
    return 0.0 if threshold is None else float(np.mean(prior.sizes >= threshold - _ROUNDING))


def _counts_from(sizes: Floats) -> Floats:
    """How many differences are at least as large as each point of the grid; none are beyond it."""
    below = np.searchsorted(np.sort(sizes), _GRID - _ROUNDING, side="left")
    return np.append(len(sizes) - below, 0).astype(np.float64)


def _drawn_thresholds(mapping: AgreementMapping, level: float, n: int, seed: int) -> Ints:
    """Places on the grid of the noticeable differences of curves that the covariance makes as likely.

    One place more than the grid has stands for a curve by which nothing is noticed.
    """
    form, centre = FORMS[mapping.form], np.array(mapping.parameters)
    drawn = np.tile(centre, (n, 1))
    if mapping.covariance:
        rng = np.random.default_rng((seed, 1))
        drawn = rng.multivariate_normal(centre, np.array(mapping.covariance), size=n, method="eigh")
        drawn = np.clip(drawn, form.lowest, form.highest)
    found = noticeable_differences(form, drawn, level=level)
    return np.searchsorted(_GRID, found - _ROUNDING).astype(np.int64)  # NaN is past the end
