"""Families of curves, and how they are fitted to answers by maximum likelihood; equal bins of [0, 1].

A *model* gives the probability of each outcome (2 for satisfaction, 3 for agreement) at a value x. Its parameters are
found by damped Fisher scoring; their covariance is the sandwich H⁻¹ M H⁻¹ with H the Hessian and M the covariance of
the scores between clusters. Clusters may be of one kind (queries) or of two that cross (queries and participants): then
M = M_participant + M_query - M_both, or without the last where that would not be a covariance.

White 1980, doi:10.2307/1912934; Cameron, Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136 (several kinds of
clusters); Davezies, D'Haultfœuille and Guyonvarch 2021, doi:10.1214/20-AOS2015 (never less than both).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import SEED, SEVERAL, checked
from adjudge.errors import AdjudgeError
from adjudge.registry import Registry

LARGE = 700.0
"""e to the power of it is still a number."""


@dataclass(frozen=True)
class CurveForm:
    """A family of curves: (value, *parameters) -> probabilities."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    start: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]

    def wrong(self, numbers: Sequence[float]) -> str | None:
        """What is wrong with the parameters of a curve; None where nothing is."""
        if len(numbers) != len(self.parameters):
            names = ", ".join(self.parameters)
            return f"{self.name!r} has {len(self.parameters)} parameters ({names}), got {len(numbers)}"
        for name, value, low, high in zip(self.parameters, numbers, self.lowest, self.highest, strict=True):
            if not (low <= value <= high and np.isfinite(value)):
                return f"{name!r} must be finite and in [{low:g}, {high:g}], got {value:g}"
        return None


F = TypeVar("F", bound=CurveForm)
C = TypeVar("C", bound=Callable[..., Any])


def registering(registry: Registry[F], make: type[F]) -> Callable[..., Callable[[C], C]]:
    """Make a decorator that registers families by name.

    >>> lines = Registry[CurveForm]("line")
    >>> @registering(lines, CurveForm)("rising", slope=(1.0, 0.0, 9.0))
    ... def rising(values, slope):
    ...     return slope * values
    >>> lines["rising"].lowest
    (0.0,)
    """

    def form(name: str, **parameters: tuple[float, float, float]) -> Callable[[C], C]:
        """Register a family of curves; each parameter has the value that a fit starts from, its lowest, its highest."""

        def decorate(function: C) -> C:
            start, lowest, highest = zip(*parameters.values(), strict=True)
            registry.add(name, make(name, function, tuple(parameters), start, lowest, highest))
            return function

        return decorate

    return form


def logistic_of(x: Floats) -> Floats:
    """1 / (1 + e^-x), finite however steep a curve is."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -LARGE, LARGE)))


TINY = 1e-12
"""The least probability: an answer that a curve deems impossible costs much, but not everything."""

_STEP = 1e-5  # of numerical derivatives in the parameters
_HESSIAN_STEP = 1e-4
_MOST_STEPS = 200
_CERTAIN = -1.0  # log-likelihood of all answers above which a curve passes through every one of them
_ENOUGH, _FAIR = 1e-10, 1e-3  # log-likelihood gained by the last step of a search

Clusters = Sequence[Ints]
"""One array per kind of cluster: the cluster of each answer as a number from 0."""
ClusterLabels = npt.ArrayLike | Mapping[str, npt.ArrayLike] | None
"""Labels of clusters: an array, or one per kind by name (query and participant)."""


@dataclass(frozen=True)
class Model:
    """Probabilities (answers, outcomes) at values x, given parameters that have a start, a lowest and a highest."""

    shares: Callable[[Floats, Floats], Floats]
    start: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]


@dataclass(frozen=True)
class Data:
    """Values, the outcome at each, and how much each counts."""

    x: Floats
    outcome: Ints
    weight: Floats | None = None

    def select(self, rows: Mask) -> Data:
        """Some of the answers."""
        return Data(self.x[rows], self.outcome[rows], None if self.weight is None else self.weight[rows])

    def joined(self, other: Data | None) -> Data:
        """These answers and some more."""
        if other is None:
            return self
        weights = [np.ones(len(data.x)) if data.weight is None else data.weight for data in (self, other)]
        x, outcome = np.concatenate([self.x, other.x]), np.concatenate([self.outcome, other.outcome])
        return Data(x, outcome, np.concatenate(weights))

    def weighted(self, values: Floats) -> Floats:
        """Values times how much each answer counts."""
        return values if self.weight is None else values * self.weight


def log_shares(model: Model, data: Data, parameters: Floats) -> Floats:
    """Log-likelihood of every answer, weights aside."""
    given = np.take_along_axis(model.shares(data.x, parameters), data.outcome[:, None], axis=1)[:, 0]
    return np.log(np.maximum(given, TINY))


def _total(model: Model, data: Data, parameters: Floats) -> float:
    return float(data.weighted(log_shares(model, data, parameters)).sum())


def maximum(model: Model, data: Data, *, start: npt.ArrayLike | None = None, enough: float = _ENOUGH) -> Floats:
    """Parameters of the highest likelihood; the search stops when a step gains no more than ``enough``.

    Fisher scoring: θ + (I + μ diag I)⁻¹ s, with s the score and I the expected information of the answers; μ grows
    where a step does not help and shrinks where it does. Parameters stay between their lowest and highest.
    """
    lowest, highest = np.array(model.lowest), np.array(model.highest)
    at = np.clip(np.array(model.start if start is None else start, dtype=np.float64), lowest, highest)
    best, damping = _total(model, data, at), 1e-6
    for _ in range(_MOST_STEPS):
        scores, information = _scores_and_information(model, data, at)
        score = scores.sum(axis=1)
        free = ~(((at <= lowest) & (score < 0)) | ((at >= highest) & (score > 0)))
        if not free.any():
            break
        gained = False
        while damping < 1e12:
            damped = information[np.ix_(free, free)]
            diagonal = np.diag(damped)
            damped = damped + np.diag(damping * diagonal + 1e-10 * max(float(diagonal.max()), TINY))
            step = np.linalg.lstsq(damped, score[free], rcond=None)[0]
            tried = at.copy()
            tried[free] = np.clip(at[free] + step, lowest[free], highest[free])
            now = _total(model, data, tried)
            if now >= best:
                gained = now - best > enough
                at, best, damping = tried, now, max(damping / 10, 1e-9)
                break
            damping *= 10
        if not gained:
            break
    return at


def _scores_and_information(model: Model, data: Data, at: Floats) -> tuple[Floats, Floats]:
    """Derivatives of each answer's log-likelihood (parameters, answers), and the expected information of all."""
    shares = np.maximum(model.shares(data.x, at), TINY)
    steps = _STEP * np.maximum(1.0, np.abs(at))
    columns = [
        (model.shares(data.x, at + move) - model.shares(data.x, at - move)) / (2 * step)
        for step, move in zip(steps, np.diag(steps), strict=True)
    ]
    slopes, rows = np.stack(columns), np.arange(len(data.x))  # (parameters, answers, outcomes)
    scores: Floats = data.weighted(1.0 / shares[rows, data.outcome]) * slopes[:, rows, data.outcome]
    scaled = slopes / np.sqrt(shares)
    if data.weight is not None:
        scaled = scaled * np.sqrt(data.weight)[:, None]
    flat = scaled.reshape(len(at), -1)
    return scores, flat @ flat.T


def _hessian(model: Model, data: Data, at: Floats) -> Floats:
    """Second derivatives of the log-likelihood, from differences of the score."""

    def score(parameters: Floats) -> Floats:
        scores: Floats = _scores_and_information(model, data, parameters)[0].sum(axis=1)
        return scores

    columns = [(score(at + move) - score(at - move)) / (2 * _HESSIAN_STEP) for move in _HESSIAN_STEP * np.eye(len(at))]
    stacked = np.stack(columns)
    return (stacked + stacked.T) / 2


def covariance(model: Model, data: Data, at: Floats, clusters: Clusters = (), *, prior: Data | None = None) -> Floats:
    """Covariance of fitted parameters; every answer is a cluster of its own where none are given.

    ``prior`` are made-up answers that keep the curve sound: they bend it, but nobody gave them. NaN where the curve
    passes through all answers: without residuals nothing is known of how far off it is.
    """
    if _total(model, data, at) > _CERTAIN:
        return np.full((len(at), len(at)), np.nan)
    bread = np.linalg.pinv(_hessian(model, data.joined(prior), at))
    scores = _scores_and_information(model, data, at)[0].T
    return without_negatives(bread @ between_clusters(scores, clusters) @ bread)


def no_less_than_model(spread: Floats, model: Model, data: Data, at: Floats) -> Floats:
    """The least covariance that is in no direction less than ``spread``, or than the inverse information of the model.

    Few clusters leave a sandwich too small as often as too large, and the intervals are narrow just when it is small:
    the larger of both is the remedy of Angrist and Pischke (2009), Mostly Harmless Econometrics, section 8.2.3. Where
    the information has no inverse, or ``spread`` is not known, ``spread`` comes back.
    """
    try:
        root = np.linalg.cholesky(np.linalg.inv(_scores_and_information(model, data, at)[1]))
        inverse = np.linalg.inv(root)
        ratios, directions = np.linalg.eigh(inverse @ spread @ inverse.T)
    except np.linalg.LinAlgError:
        return spread
    larger: Floats = root @ (directions * np.maximum(ratios, 1.0)) @ directions.T @ root.T
    return larger if bool(np.isfinite(larger).all()) else spread


def slopes_of(shares: Callable[[Floats], Floats], at: Floats) -> Floats:
    """Derivatives of the shares that a curve gives in its parameters, stacked."""
    return np.stack([(shares(at + step) - shares(at - step)) / (2 * _STEP) for step in _STEP * np.eye(len(at))])


def logit_interval(centre: Floats, slopes: Floats, spread: npt.ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Ends of shares inside (0, 1) by the delta method on the logit scale, from slopes and covariance of parameters."""
    from scipy.special import expit, logit, ndtri

    variance = np.einsum("i...,ij,j...->...", slopes, np.asarray(spread), slopes)
    half = float(ndtri(0.5 + confidence / 2)) * np.sqrt(np.maximum(variance, 0.0)) / (centre * (1 - centre))
    return expit(logit(centre) - half), expit(logit(centre) + half)


def without_negatives(spread: Floats) -> Floats:
    """Undo what rounding did to a covariance: make it symmetric, without directions of negative variance."""
    even = (spread + spread.T) / 2
    if not bool(np.isfinite(even).all()):
        return np.full(even.shape, np.nan)
    values, directions = np.linalg.eigh(even)
    if float(values.min()) >= 0:
        return even
    mended: Floats = (directions * np.maximum(values, 0.0)) @ directions.T
    np.fill_diagonal(mended, np.maximum(np.diag(mended), 0.0))
    return mended


def rows_of(spread: Floats) -> tuple[tuple[float, ...], ...]:
    """A covariance as mappings keep it; empty where it is not known."""
    return tuple(tuple(row) for row in spread.tolist()) if bool(np.isfinite(spread).all()) else ()


def between_clusters(scores: Floats, clusters: Clusters = ()) -> Floats:
    """Covariance of the sum of scores (answers, parameters) whose clusters are independent of one another.

    One kind: sum_c s_c s_c' · C / (C - 1). Two kinds that cross: that of either, less that of both at once.

    >>> scores = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> alone, paired = between_clusters(scores), between_clusters(scores, [np.array([0, 0, 1, 1])])
    >>> round(alone.item(), 3), paired.item()
    (5.333, 16.0)
    """

    def of_one_kind(group: Ints) -> Floats:
        n = int(group.max()) + 1
        sums = np.stack([np.bincount(group, weights=column, minlength=n) for column in scores.T], axis=1)
        products: Floats = (sums.T @ sums).astype(np.float64)
        return products * (n / max(n - 1, 1))

    kinds = [numbered(kind) for kind in clusters] or [np.arange(len(scores))]
    if len(kinds) == 1:
        return of_one_kind(kinds[0])
    if len(kinds) > 2:
        raise AdjudgeError(f"expected clusters of one or two kinds, got {len(kinds)}")
    first, second = map(of_one_kind, kinds)
    both = of_one_kind(numbered(kinds[0] * (int(kinds[1].max()) + 1) + kinds[1]))
    less = first + second - both
    return less if float(np.linalg.eigvalsh(less).min()) > 0 else first + second


def numbered(group: npt.ArrayLike) -> Ints:
    """Clusters as numbers from 0, whatever they were."""
    return np.unique(np.asarray(group), return_inverse=True)[1].astype(np.int64)


def as_clusters(labels: ClusterLabels, n: int) -> tuple[Ints, ...]:
    """Clusters of no kind, of one (an array) or of several (by name), each for n answers."""
    kinds = () if labels is None else tuple(labels.values()) if isinstance(labels, Mapping) else (labels,)
    clusters = tuple(map(numbered, kinds))
    if any(len(kind) != n for kind in clusters):
        came = ", ".join(str(len(kind)) for kind in clusters)
        raise AdjudgeError(f"expected the cluster of each of {n} answers, got {came}")
    return clusters


def fewest(clusters: Clusters, n: int) -> int:
    """Number of clusters of the kind that has fewest; n, the number of answers, where there are no kinds."""
    return min((int(kind.max()) + 1 for kind in clusters), default=n)


def widened(spread: Floats, clusters: Clusters) -> Floats:
    """Widen a covariance for few clusters: 95 % bands by normal quantiles become those by Student's t.

    Degrees of freedom are the clusters of the kind that has fewest, less one; NaN with one cluster.

    >>> widened(np.eye(1), [np.arange(10)]).round(2).tolist()
    [[1.33]]
    """
    from scipy.special import ndtri, stdtrit

    if not clusters:
        return spread
    few = fewest(clusters, 0)
    if few < 2:
        return np.full_like(spread, np.nan)
    return spread * float(stdtrit(few - 1, 0.975) / ndtri(0.975)) ** 2


@checked(folds=SEVERAL)
def blocks(clusters: Clusters, n: int, folds: int, rng: np.random.Generator) -> Iterator[tuple[Mask, Mask]]:
    """What to fit on and what to hold out, so that each of n answers is held out once.

    No cluster of any kind is on both sides: with two kinds, cells of queries x participants are held out in turn and
    whatever shares a query or a participant with the cell is left out of the fit (``folds`` x ``folds`` cells). A kind
    with a single cluster cannot be split and is ignored. One fold would leave nothing to fit on.
    """
    parts = []
    for kind in [kind for kind in clusters if int(kind.max()) > 0] or [np.arange(n)]:
        size = int(kind.max()) + 1
        parts.append((rng.permutation(size) % min(folds, size))[kind])
    for cell in np.ndindex(*(int(part.max()) + 1 for part in parts)):
        same = [part == place for part, place in zip(parts, cell, strict=True)]
        out = np.logical_and.reduce(same)
        if out.any():
            yield ~np.logical_or.reduce(same), out


@checked(folds=SEVERAL, seed=SEED)
def held_out_logs(
    model: Model,
    data: Data,
    clusters: Clusters = (),
    *,
    folds: int = 10,
    seed: int = 0,
    prior: Data | None = None,
) -> Floats:
    """Log-likelihood of each answer under the curve fitted without its fold (see :func:`blocks`).

    Each fit starts from the curve of all answers and stops where no step gains a thousandth of one log-likelihood.
    ``prior`` are made-up answers that each fit also has. Where everything shares a query or a participant with what is
    held out, there is nothing to fit on, and the fit starts from where its family does.
    """
    logs: Floats = np.empty(len(data.x))
    start = maximum(model, data.joined(prior), enough=_FAIR)
    for fit_on, out in blocks(clusters, len(data.x), folds, np.random.default_rng(seed)):
        begin = start if fit_on.any() else model.start
        parameters = maximum(model, data.select(fit_on).joined(prior), start=begin, enough=_FAIR)
        logs[out] = log_shares(model, data.select(out), parameters)
    return logs


_EDGE = 1e-9  # by how much a value may fall short of an edge and still be on it: 0.7 - 0.4 is less than 0.3


def bin_of(values: npt.ArrayLike, bins: int) -> Ints:
    """The bin of each value among equal bins of [0, 1], closed below, the last also above; -1 where it is NaN.

    >>> bin_of([0.0, 0.0999, 0.1, 0.7 - 0.4, 1.0, float("nan")], 10).tolist()
    [0, 0, 1, 3, 9, -1]
    """
    given = np.asarray(values, dtype=np.float64)
    scaled = np.where(np.isnan(given), -1.0, (np.nan_to_num(given) + _EDGE) * bins)
    return np.minimum(np.floor(scaled), bins - 1).astype(np.int64)


def limits_of(place: int, bins: int) -> tuple[float, float]:
    """Ends of a bin: from the first (included) to the second, which for the last bin is above every value."""
    return place / bins - _EDGE, 2.0 if place == bins - 1 else (place + 1) / bins - _EDGE
