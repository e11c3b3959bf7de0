"""Fit satisfaction curves to lists that people called good or bad, and say what is unknown of them.

Two kinds of curves. *As published*: the cubic of eq 4.3 by least squares on the shares of bins, each bin weighted by
the number of lists in it. (The thesis does not say whether its bins count alike. Unweighted, a bin of four lists pulls
the curve as hard as one of four hundred.) *Better behaved*: families that never fall and never leave [0, 1]
(:mod:`adjudge.users.satisfaction_curves`), by maximum likelihood on single answers.

Two kinds of answers. Somebody may call *one list* good or bad: then P(good) = f(λ). Somebody who has no preference
calls *a pair* good or bad, and the two lists differ. With f the curve, and λ+ and λ- the effectiveness of the better
and of the worse list,

    P(good | λ+, λ-) = f(w λ+ + (1 - w) λ-)

where w, in [0, 1], says which list people go by: the better one (1), the worse one (0), both alike (1/2). It is fitted
with the curve. Where both lists are as good as one another, w does not matter: f(λ) is P(Sat | λ). The covariance of
the curve's coefficients allows for w being estimated, and is in no direction less than the likelihood alone would have
it: the sandwich alone holds P(Sat) 80 to 95 times in 100 at 0 and 1 where 95 are claimed, the larger of both 90 to 99
(``python -m benchmarks.preference_curves``). The cubic takes bins of the mean of both lists, w = 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.choices import check_choice
from adjudge.errors import AdjudgeError
from adjudge.users.agreement_fit import Given
from adjudge.users.binning import bin_of
from adjudge.users.likelihood import (
    Clusters,
    Data,
    Model,
    as_clusters,
    between_clusters,
    blocks,
    covariance,
    fewest,
    held_out_logs,
    log_shares,
    maximum,
    no_less_than_model,
    rows_of,
    widened,
)
from adjudge.users.satisfaction import CURVES, SatisfactionMapping, cubic
from adjudge.users.satisfaction_curves import MONOTONE

Place = Literal["centre", "mean", "lower", "ends"]
"""Where a bin stands for the cubic: at its centre, the mean of its lists, its lower end, or evenly from 0 to 1."""

_WEIGHT = (0.5, 0.0, 1.0)  # of the better list of a pair: where a fit starts, lowest, highest
_LEAST = 0.01  # what a cubic deems (almost) impossible has this probability, lest one list cost it everything
_STEP = 1e-5


@dataclass(frozen=True)
class SatisfactionFit:
    """A fitted curve; ``covariance`` is robust, answers about one query or of one person counting as dependent.

    ``weight`` is that of the better list of a pair; None for single lists, and for the cubic.
    """

    kind: str
    coefficients: Floats
    covariance: Floats
    log_likelihood: float
    n_rows: int
    n_clusters: int
    weight: float | None = None

    @property
    def parameters(self) -> Floats:
        """All that was fitted: the coefficients of the curve, then the weight of the better list where there is one."""
        return self.coefficients if self.weight is None else np.append(self.coefficients, self.weight)

    def mapping(
        self, measure: str, scale: str, *, source: str = "", provenance: tuple[tuple[str, str], ...] = ()
    ) -> SatisfactionMapping:
        """The curve as a mapping for a measure on a scale."""
        return SatisfactionMapping(
            measure,
            scale,
            self.kind,
            tuple(self.coefficients.tolist()),
            (),
            source,
            provenance,
            rows_of(self.covariance),
        )


def satisfaction_model(kind: str, *, pairs: bool = False) -> Model:
    """A family of monotone curves as a model of two outcomes: not satisfied, satisfied.

    Of single lists, or of pairs: these have the weight of the better list as their last parameter.
    """
    form = MONOTONE[kind]

    def shares(values: Floats, parameters: Floats) -> Floats:
        if not pairs:
            good = form(values, parameters)
        else:
            weight = parameters[-1]
            good = form(weight * values.max(axis=1) + (1.0 - weight) * values.min(axis=1), parameters[:-1])
        return np.stack([1.0 - good, good], axis=1)

    bounds = form.start, form.lowest, form.highest
    return Model(shares, *((*row, own) if pairs else row for row, own in zip(bounds, _WEIGHT, strict=True)))


def _ends(data: Data) -> Data:
    """What a monotone curve sees besides: as if λ = 0, and λ = 1, had been called good once and bad once, in part.

    Half an answer each for single lists, a quarter each for pairs, which are half as many rows.
    """
    x = np.broadcast_to([0.0, 0.0, 1.0, 1.0], (*data.x.shape[1:], 4)).T
    return Data(x, np.array([0, 1, 0, 1]), np.full(4, 0.5 / data.x.ndim))


def fit_satisfaction(
    effectiveness: npt.ArrayLike,
    satisfied: npt.ArrayLike,
    *,
    kind: str = "bounded",
    clusters: Given = None,
    weights: npt.ArrayLike | None = None,
    few_clusters: bool = True,
    bins: int = 10,
    place: Place = "centre",
) -> SatisfactionFit:
    """Fit a curve to lists, or to pairs of lists: their effectiveness, and 1 where somebody was satisfied, 0 where not.

    ``effectiveness`` has one number per answer about a single list, (n,), or two per answer about a pair, (n, 2).
    ``kind`` is ``cubic`` or a family of monotone curves. ``clusters`` say what makes answers alike: an array, or one
    per kind by name (query and participant). Where an answer about a pair is given as two lists (Urbano et al. 2012),
    both must be in one cluster. ``few_clusters`` widens the covariance so that 95 % bands are those of Student's t.
    ``bins`` and ``place`` are for the cubic: how many bins, and where each stands.

    A monotone curve also sees half a satisfied and half an unsatisfied list at λ = 0 and at λ = 1, as in Jeffreys's
    prior for a share (a quarter with pairs): so few lists at an end never make it certain of what happens there.

    >>> rng = np.random.default_rng(3)
    >>> values = rng.random(3000)
    >>> fit = fit_satisfaction(values, rng.random(3000) < 0.2 + 0.7 * values)
    >>> curve = fit.mapping("CG@5", "fine")
    >>> np.round(curve([0, 0.5, 1]), 1).tolist()
    [0.2, 0.6, 0.9]
    """
    check_choice("place", place, Place)
    data = _checked(effectiveness, satisfied, weights)
    groups = as_clusters(clusters, len(data.x))
    if kind == "cubic":
        return _fit_cubic(_levelled(data), groups, bins, place, few_clusters)
    pairs = data.x.ndim > 1
    model, ends = satisfaction_model(kind, pairs=pairs), _ends(data)
    found = maximum(model, data.joined(ends))
    spread = covariance(model, data, found, groups, prior=ends)
    if pairs:
        spread = no_less_than_model(spread, model, data.joined(ends), found)
    own = len(MONOTONE[kind].parameters)
    return SatisfactionFit(
        kind,
        found[:own],
        (widened(spread, groups) if few_clusters else spread)[:own, :own],
        float(data.weighted(log_shares(model, data, found)).sum()),
        len(data.x),
        fewest(groups, len(data.x)),
        float(found[own]) if pairs else None,
    )


def held_out_satisfaction(
    effectiveness: npt.ArrayLike,
    satisfied: npt.ArrayLike,
    *,
    kind: str,
    clusters: Given = None,
    folds: int = 10,
    seed: int = 0,
    bins: int = 10,
    place: Place = "centre",
) -> Floats:
    """Log-likelihood of each answer under the curve fitted without its fold; no cluster is on both sides.

    A cubic is clipped to [0.01, 0.99]: outside [0, 1] it has no likelihood at all.
    """
    data = _checked(effectiveness, satisfied, None)
    groups = as_clusters(clusters, len(data.x))
    if kind == "cubic":
        data = _levelled(data)
    else:
        model = satisfaction_model(kind, pairs=data.x.ndim > 1)
        return held_out_logs(model, data, groups, folds=folds, seed=seed, prior=_ends(data))
    seen: Floats = np.empty(len(data.x))
    for fit_on, out in blocks(groups, len(data.x), folds, np.random.default_rng(seed)):
        outside = data.select(out)
        good = np.clip(cubic(outside.x, _least_squares(*_binned(data.select(fit_on), bins, place))), _LEAST, 1 - _LEAST)
        seen[out] = np.log(np.where(outside.outcome == 1, good, 1 - good))
    return seen


def satisfaction_interval(
    mapping: SatisfactionMapping, effectiveness: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Lower and upper end of P(Sat), by the delta method on the logit scale; NaN when the mapping has no covariance.

    They cover what is unknown of the curve (which users were asked), not the spread of users around it.
    """
    from scipy.special import expit, logit, ndtri

    if not 0 < confidence < 1:
        raise AdjudgeError(f"'confidence' must be in (0, 1), got {confidence}")
    centre = np.clip(mapping(effectiveness), 1e-9, 1 - 1e-9)
    if not mapping.covariance:
        return np.full(centre.shape, np.nan), np.full(centre.shape, np.nan)
    slopes = curve_slopes(mapping, effectiveness)
    variance = np.einsum("i...,ij,j...->...", slopes, np.array(mapping.covariance), slopes)
    half = float(ndtri(0.5 + confidence / 2)) * np.sqrt(np.maximum(variance, 0.0)) / (centre * (1 - centre))
    return expit(logit(centre) - half), expit(logit(centre) + half)


def curve_error(mapping: SatisfactionMapping, effectiveness: npt.ArrayLike) -> float:
    """Standard error of the mean P(Sat) over some effectiveness that comes from the curve alone; NaN if unknown.

    It adds to the error that comes from the sample of queries: sqrt(g' V g) with g the mean slope in the coefficients.
    """
    values = np.asarray(effectiveness, dtype=np.float64)
    known = values[~np.isnan(values)]
    if not mapping.covariance or not len(known):
        return float("nan")
    slope = curve_slopes(mapping, known).reshape(len(mapping.coefficients), -1).mean(axis=1)
    return float(np.sqrt(max(slope @ np.array(mapping.covariance) @ slope, 0.0)))


def curve_slopes(mapping: SatisfactionMapping, effectiveness: npt.ArrayLike) -> Floats:
    """Derivatives of P(Sat) in the coefficients, stacked."""
    at = CURVES[mapping.kind].at
    if at is None:
        raise AdjudgeError(f"{mapping.measure} on {mapping.scale}: {mapping.kind!r} has no coefficients")
    values, centre = np.asarray(effectiveness, dtype=np.float64), np.array(mapping.coefficients)
    return np.stack(
        [(at(values, centre + d) - at(values, centre - d)) / (2 * _STEP) for d in _STEP * np.eye(len(centre))]
    )


def _checked(effectiveness: npt.ArrayLike, satisfied: npt.ArrayLike, weights: npt.ArrayLike | None) -> Data:
    x, y = np.asarray(effectiveness, dtype=np.float64), np.asarray(satisfied, dtype=np.float64)
    if x.shape not in (y.shape, (*y.shape, 2)) or y.ndim != 1 or len(x) < 2:
        raise AdjudgeError(f"expected as many answers as lists or pairs, 2 or more, got {y.shape} and {x.shape}")
    if not bool(((x >= -1e-9) & (x <= 1 + 1e-9)).all()) or not bool(((y >= 0) & (y <= 1)).all()):
        raise AdjudgeError("expected effectiveness in [0, 1] and answers 0 or 1")
    x = np.clip(x, 0.0, 1.0)
    if bool((y % 1 == 0).all()):
        return Data(x, y.astype(np.int64), None if weights is None else np.asarray(weights, dtype=np.float64))
    # shares: each list counts as satisfied and as not, in parts
    given = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    both = np.repeat([1, 0], len(x)).astype(np.int64)
    return Data(np.concatenate([x, x]), both, np.concatenate([given * y, given * (1 - y)]))


def _levelled(data: Data) -> Data:
    """Answers about pairs as answers about the mean of both lists."""
    return data if data.x.ndim == 1 else replace(data, x=data.x.mean(axis=1))


def _binned(data: Data, bins: int, place: Place) -> tuple[Floats, Floats, Floats]:
    """Where each bin with lists stands, its share of satisfied ones and how many there are."""
    which, weight = bin_of(data.x, bins), np.ones(len(data.x)) if data.weight is None else data.weight
    n = np.bincount(which, weight, minlength=bins).astype(np.float64)
    used = np.flatnonzero(n)
    share = np.bincount(which, weight * data.outcome, minlength=bins)[used] / n[used]
    mean = np.bincount(which, weight * data.x, minlength=bins)[used] / n[used]
    x = {"centre": (used + 0.5) / bins, "mean": mean, "lower": used / bins, "ends": used / max(bins - 1, 1)}[place]
    return x, share, n[used]


def _least_squares(x: Floats, share: Floats, n: Floats) -> Floats:
    """Coefficients a0..a3 of the cubic nearest to the shares, bins counting by their lists; the smallest if several."""
    powers = np.vander(x, 4, increasing=True) * np.sqrt(n)[:, None]
    found: Floats = np.linalg.lstsq(powers, share * np.sqrt(n), rcond=None)[0].astype(np.float64)
    return found


def _fit_cubic(data: Data, groups: Clusters, bins: int, place: Place, few_clusters: bool) -> SatisfactionFit:
    """The cubic, and its covariance: that of the shares of the bins by clusters, carried through least squares."""
    x, share, n = _binned(data, bins, place)
    if len(x) < 4:
        raise AdjudgeError(f"a cubic needs lists in 4 bins of effectiveness or more, got {len(x)}")
    found = _least_squares(x, share, n)
    powers = np.vander(x, 4, increasing=True)
    carried = np.linalg.pinv(powers * np.sqrt(n)[:, None]) @ np.diag(1.0 / np.sqrt(n))
    used, which = np.unique(bin_of(data.x, bins), return_inverse=True)
    scores = np.zeros((len(data.x), len(used)))
    scores[np.arange(len(data.x)), which] = data.weighted(data.outcome - share[which])
    spread = carried @ between_clusters(scores, groups) @ carried.T
    good = np.clip(cubic(data.x, found), _LEAST, 1 - _LEAST)
    logs = np.log(np.where(data.outcome == 1, good, 1 - good))
    return SatisfactionFit(
        "cubic",
        found,
        widened(spread, groups) if few_clusters else spread,
        float(data.weighted(logs).sum()),
        len(data.x),
        fewest(groups, len(data.x)),
    )
