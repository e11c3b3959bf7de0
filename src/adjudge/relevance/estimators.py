"""The published estimators of relevance: uniform, prior, output (M_out) and judgments (M_jud).

Pairs are independent, with an expectation E_i and a variance V_i each (thesis 8.1). With w_is the weight of pair i in
the score of system s and n queries, measures that are linear in relevance have

    E[score_s] = Σ_i w_is E_i / n        Cov[score_a, score_b] = Σ_i V_i w_ia w_ib / n²

so Var[Δ_ab] = Σ_i V_i (w_ia - w_ib)² / n² (T 8.9-8.18): a pair with the same weight in both systems counts for nothing.
Measures with a judged ideal are ratios X_s / Y of a query, where Y sums the candidates with the largest E_i. Numerator
and denominator taken as independent, the delta method (T 8.5, 8.6) says of scores and differences

    E[X_s / Y] = E[X_s] / E[Y]
    Cov[X_a / Y, X_b / Y] = Cov[X_a, X_b] / E[Y]² + E[X_a] E[X_b] Var[Y] / E[Y]⁴

The second line is a covariance whose quadratic form (1, -1) is the variance of T 8.1.2 for X = X_a - X_b, so one matrix
serves absolute scores and differences. Where nothing relevant is expected of a query, E[Y] = 0, scores are 0.
A judgment replaces E_i by the judged relevance and V_i by 0: a rank-one change of the sums, or, for ratios, of one
query.

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013, chapters 7 and 8.
Urbano, J. and Schedl, M., Towards minimal test collections for evaluation of audio music similarity and retrieval,
WWW 2012 Companion (AdMIRe), doi:10.1145/2187980.2188223.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import COUNT, POSITIVE, checked
from adjudge.errors import AdjudgeError, warn
from adjudge.model.scales import Scale
from adjudge.relevance.base import RelevanceModel, Scores, Scoring, estimator, refuse_drawn
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.features import Evidence, uniform_moments
from adjudge.relevance.hierarchical.kriging import SoundCorrection
from adjudge.relevance.models import PUBLISHED_SCALES, FittedModel, published_model

Estimate = Callable[[Floats], tuple[Floats, Floats]]
"""From relevance, NaN where a pair is not judged, to expectation and variance of every pair."""

_FRESH = 1000  # sums are added up again after as many changes, so that rounding does not pile up,
_WORN = 1e-4  # and when only this share of the variance is left, which might be rounding
_BLOCK = 2_000_000  # numbers in a dense block of weights


class LinearSums:
    """Expected mean scores and their covariance, kept up to date, for measures that are linear in relevance."""

    def __init__(self, candidates: Candidates, scoring: Scoring) -> None:
        if candidates.cutoff > len(scoring.weights):
            raise AdjudgeError(
                f"{scoring.measure} looks at {len(scoring.weights)} documents of a list, but candidates were taken "
                f"from {candidates.cutoff}; take them from {len(scoring.weights)}."
            )
        self.candidates, self.scoring = candidates, scoring
        self.n_systems, self.n_queries = candidates.n_systems, candidates.n_queries
        self.pair, self.system = candidates.entry_pair, candidates.entry_system
        self.weight = scoring.entries(candidates) / (scoring.divisor or 1.0)
        self.first = np.searchsorted(self.pair, np.arange(len(candidates) + 1)).tolist()
        self.query = candidates.query[self.pair]
        self.mean: Floats = np.zeros(self.n_systems)
        self.covariance: Floats = np.zeros((self.n_systems, self.n_systems))
        self._changes, self._filled = 0, 0.0

    def fill(self, mean: Floats, variance: Floats) -> None:
        """Add everything up from scratch."""
        self._add_up(mean, variance)
        self._changes, self._filled = 0, float(self.covariance.trace())

    def change(self, mean: Floats, variance: Floats, pair: int, relevance: float) -> None:
        """Replace the belief about a pair by its relevance, in the two arrays and in the sums."""
        self._change(mean, variance, pair, relevance)
        self._count(mean, variance)

    def _count(self, mean: Floats, variance: Floats) -> None:
        """Count a change, and add up again where that is due."""
        self._changes += 1
        if self._changes == _FRESH or self.covariance.trace() < _WORN * self._filled:
            self.fill(mean, variance)

    def change_query(self, mean: Floats, variance: Floats, query: int, new: tuple[Floats, Floats]) -> None:
        """Replace the beliefs about all pairs of a query, in the two arrays and in the sums."""
        before, spread = self._query_sums(query, mean, variance)
        rows = self.candidates.rows(query)
        mean[rows], variance[rows] = new
        self._before_sums(query, mean, variance)
        after, new_spread = self._query_sums(query, mean, variance)
        self.mean += (after - before) / self.n_queries
        self.covariance += (new_spread - spread) / self.n_queries**2
        self._count(mean, variance)

    def _before_sums(self, query: int, mean: Floats, variance: Floats) -> None:
        """Renew what the sums of a query depend on: nothing, where they are linear."""

    def _query_sums(self, query: int, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Expected scores of a query and their covariance."""
        rows = self.candidates.rows(query)
        weights = self._block(rows, np.ones(rows.stop - rows.start))
        return mean[rows] @ weights, weights.T @ (weights * variance[rows, None])

    def _add_up(self, mean: Floats, variance: Floats) -> None:
        self.mean = self._sums(mean).sum(axis=0) / self.n_queries
        self.covariance = self._quadratic(variance) / self.n_queries**2

    def _change(self, mean: Floats, variance: Floats, pair: int, relevance: float) -> None:
        at = slice(self.first[pair], self.first[pair + 1])
        system, weight = self.system[at], self.weight[at] / self.n_queries
        self.mean[system] += (relevance - mean[pair]) * weight
        self.covariance[system[:, None], system] -= variance[pair] * (weight[:, None] * weight)
        mean[pair], variance[pair] = relevance, 0.0

    def query_scores(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Expectation and variance by query and system."""
        return self._sums(mean), self._sums(variance, squared=True)

    def influence(self, variance: Floats) -> Floats:
        """Variance of each pair times the slope of each system's mean score in its relevance, pairs x systems."""
        return self._spread_out(self.weight * variance[self.pair] / self.n_queries)

    def ideal(self) -> Floats:
        """What scores of each query are divided by, as expected: 1, as weights contain the constant already."""
        return np.ones(self.n_queries)

    def _sums(self, values: Floats, *, squared: bool = False) -> Floats:
        """Weighted sums of values of pairs by query and system; weights squared for variances."""
        weights = self.weight**2 if squared else self.weight
        cells = self.query * self.n_systems + self.system
        n = self.n_queries * self.n_systems
        sums = np.bincount(cells, weights=weights * values[self.pair], minlength=n)
        return np.asarray(sums, dtype=np.float64).reshape(-1, self.n_systems)

    def _spread_out(self, entries: Floats) -> Floats:
        """A value of each entry as pairs x systems, 0 where a system did not retrieve a pair."""
        flat: Floats = np.zeros(len(self.candidates) * self.n_systems)
        flat[self.pair * self.n_systems + self.system] = entries
        return flat.reshape(-1, self.n_systems)

    def _quadratic(self, variance: Floats) -> Floats:
        """Σ_i variance_i w_i w_i', systems x systems."""
        total: Floats = np.zeros((self.n_systems, self.n_systems))
        root, step = np.sqrt(variance), max(1, _BLOCK // self.n_systems)
        for start in range(0, len(variance), step):
            rows = slice(start, min(start + step, len(variance)))
            block = self._block(rows, root[rows])
            total += block.T @ block
        return total

    def _block(self, rows: slice, factor: Floats) -> Floats:
        """Weights of some pairs times a factor each, pairs x systems."""
        at = slice(self.first[rows.start], self.first[rows.stop])
        block: Floats = np.zeros((rows.stop - rows.start, self.n_systems))
        row = self.pair[at] - rows.start
        block[row, self.system[at]] = self.weight[at] * factor[row]
        return block


class RatioSums(LinearSums):
    """The same for measures with a judged ideal: ratios of each query, by the delta method."""

    _sum: Floats  # expected numerators, queries x systems
    _top: Floats  # expected ideal of each query, and its variance
    _top_variance: Floats
    _ideal_pairs: Ints  # queries x ranks, -1 where there are fewer candidates

    def _add_up(self, mean: Floats, variance: Floats) -> None:
        self._all_ideals(mean, variance)
        over = _inverse(self._top)
        self._sum = self._sums(mean)
        self.mean = (over[:, None] * self._sum).mean(axis=0)
        within = self._quadratic(variance * over[self.candidates.query] ** 2)
        tilted = self._sum * (np.sqrt(self._top_variance) * over**2)[:, None]
        self.covariance = (within + tilted.T @ tilted) / self.n_queries**2

    def _change(self, mean: Floats, variance: Floats, pair: int, relevance: float) -> None:
        query = int(self.candidates.query[pair])
        before, spread = self._query_sums(query, mean, variance)
        at = slice(self.first[pair], self.first[pair + 1])
        self._sum[query, self.system[at]] += (relevance - mean[pair]) * self.weight[at]
        mean[pair], variance[pair] = relevance, 0.0
        self._one_ideal(query, mean, variance)
        after, new_spread = self._query_sums(query, mean, variance)
        self.mean += (after - before) / self.n_queries
        self.covariance += (new_spread - spread) / self.n_queries**2

    def _before_sums(self, query: int, mean: Floats, variance: Floats) -> None:
        rows = self.candidates.rows(query)
        self._sum[query] = mean[rows] @ self._block(rows, np.ones(rows.stop - rows.start))
        self._one_ideal(query, mean, variance)

    def query_scores(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        over = _inverse(self._top)[:, None]
        spread = self._sums(variance, squared=True) * over**2
        return self._sum * over, spread + self._sum**2 * self._top_variance[:, None] * over**4

    def influence(self, variance: Floats) -> Floats:
        """With the slope of the ratio: gain of the numerator, less what a larger ideal takes from every system."""
        over = _inverse(self._top)
        influence = self._spread_out(self.weight * variance[self.pair] * over[self.query] / self.n_queries)
        query, rank = np.nonzero(self._ideal_pairs >= 0)
        chosen = self._ideal_pairs[query, rank]
        taken = self.scoring.weights[rank] * variance[chosen] * over[query] ** 2 / self.n_queries
        influence[chosen] -= taken[:, None] * self._sum[query]
        return influence

    def ideal(self) -> Floats:
        """Expected weighted sum of the ideal list of each query (the denominator of the weights in T 8.3)."""
        return self._top.copy()

    def _query_sums(self, query: int, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        top, rows = self._top[query], self.candidates.rows(query)
        if top <= 0:
            return np.zeros(self.n_systems), np.zeros((self.n_systems, self.n_systems))
        block = self._block(rows, np.sqrt(variance[rows]))
        scores = self._sum[query] / top
        return scores, (block.T @ block + (scores[:, None] * scores) * self._top_variance[query]) / top**2

    def _all_ideals(self, mean: Floats, variance: Floats) -> None:
        """The ideal list of every query: by falling expectation, then by rising variance."""
        c = self.candidates
        order = np.lexsort((variance, -mean, c.query))
        rank = np.arange(len(order)) - c.offsets[c.query[order]]
        used = rank < len(self.scoring.weights)
        self._ideal_pairs = np.full((self.n_queries, len(self.scoring.weights)), -1, dtype=np.int64)
        self._ideal_pairs[c.query[order[used]], rank[used]] = order[used]
        has = self._ideal_pairs >= 0
        self._top = (np.where(has, mean[self._ideal_pairs], 0.0) * self.scoring.weights).sum(axis=1)
        self._top_variance = (np.where(has, variance[self._ideal_pairs], 0.0) * self.scoring.weights**2).sum(axis=1)

    def _one_ideal(self, query: int, mean: Floats, variance: Floats) -> None:
        rows = self.candidates.rows(query)
        order = np.lexsort((variance[rows], -mean[rows]))[: len(self.scoring.weights)] + rows.start
        weights = self.scoring.weights[: len(order)]
        self._ideal_pairs[query, : len(order)] = order
        self._top[query] = (mean[order] * weights).sum()
        self._top_variance[query] = (variance[order] * weights**2).sum()


def _inverse(ideal: Floats) -> Floats:
    """1 / ideal, and 0 where the ideal is 0: scores there are 0 and do not vary."""
    return np.where(ideal > 0, 1.0 / np.where(ideal > 0, ideal, 1.0), 0.0)


class IndependentModel(RelevanceModel):
    """Independent pairs with the expectations and variances of an estimate, made once or every ``refresh`` judgments.

    ``sound`` corrects them by the sound of what was judged: within the query at every judgment, while the worth of
    sound is learned whenever estimates are made. ``confidence_df`` are the degrees of freedom of confidence, None for
    the normal distribution. :meth:`influence` is exact for linear measures; for ratios it is V_i times the gradient of
    the ratio at the expectation. It sees that a pair enters numerator and ideal, which the covariance of the thesis
    leaves out.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> from adjudge.relevance.base import scoring
    >>> found = candidates(aj.read({"a": {"q": ["x"]}, "b": {"q": ["y"]}}, {"q": {"x": 1}}), cutoff=1)
    >>> half = lambda relevance: (np.full(2, 0.5), np.full(2, 0.25))
    >>> model = IndependentModel(found, scoring("CG@1", found.scale), half)
    >>> model.judge(found.find("q", "x"), 1.0)
    >>> model.scores().mean.tolist(), model.scores().covariance.tolist()
    ([1.0, 0.5], [[0.0, 0.0], [0.0, 0.25]])
    """

    @checked(refresh=COUNT)
    def __init__(
        self,
        candidates: Candidates,
        scoring: Scoring,
        estimate: Estimate,
        *,
        refresh: int | None = None,
        confidence_df: int | None = None,
        sound: SoundCorrection | None = None,
    ) -> None:
        refuse_drawn(scoring)
        self.candidates, self.scoring = candidates, scoring
        self.refresh, self.confidence_df = refresh, confidence_df
        self.judged = np.zeros(len(candidates), dtype=np.bool_)
        self._relevance: Floats = np.full(len(candidates), np.nan)
        self._n_answers = np.zeros(len(candidates), dtype=np.int64)
        self._estimate, self._sound = estimate, sound
        self._sums = LinearSums(candidates, scoring) if scoring.linear else RatioSums(candidates, scoring)
        self._re_estimate()

    @property
    def mean(self) -> Floats:
        return self._mean.copy()

    @property
    def variance(self) -> Floats:
        return self._variance.copy()

    def judge(self, pair: int, relevance: float, assessor: str = "") -> None:
        self._record(pair, relevance, assessor)
        self._n_answers[pair] += 1  # the relevance is the mean over assessors
        before = self._relevance[pair] if self._n_answers[pair] > 1 else relevance
        relevance = float(before + (relevance - before) / self._n_answers[pair])
        self._relevance[pair] = relevance
        self._since += 1
        if self._since == self.refresh:
            self._re_estimate()
        elif self._sound is None:
            self._sums.change(self._mean, self._variance, pair, relevance)
        else:
            query = int(self.candidates.query[pair])
            rows = self.candidates.rows(query)
            new = self._overruled(rows, *self._sound.of_query(query, self._relevance))
            self._sums.change_query(self._mean, self._variance, query, new)

    def judge_all(self) -> None:
        """Learn all judgments of the candidates at once, and estimate the rest from them."""
        for (pair, assessor), relevance in self._known():
            self._record(pair, relevance, assessor)
            self._n_answers[pair] += 1
        known = self.candidates.judged
        self._relevance[known] = self.candidates.relevance[known]
        self._re_estimate()

    def scores(self) -> Scores:
        covariance = self._sums.covariance.copy()
        np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), 0.0))
        return Scores(self._sums.mean.copy(), covariance)

    def influence(self) -> Floats:
        return self._sums.influence(self._variance)

    def query_scores(self) -> tuple[Floats, Floats, Floats]:
        within = self._sums.covariance * float(self.candidates.n_queries) ** 2  # queries are independent
        return *self._sums.query_scores(self._mean, self._variance), within

    def ideal(self) -> Floats:
        return self._sums.ideal()

    def _re_estimate(self) -> None:
        self._since = 0
        mean, variance = self._estimate(self._relevance)
        if self._sound is not None:
            self._sound.learn(mean, variance, self._relevance)
            mean, variance = self._sound.corrected(self._relevance)
        self._mean, self._variance = self._overruled(slice(None), mean, variance)
        self._sums.fill(self._mean, self._variance)

    def _overruled(self, rows: slice, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Expectations and variances of some pairs; the judged relevance and 0 where they are judged."""
        judged = self.judged[rows]
        return np.where(judged, self._relevance[rows], mean), np.where(judged, 0.0, variance)


REFRESH = 20
"""Judgments after which estimates are made again (T 8.3)."""
HISTORICAL = {"broad": (0.8959, 0.6338), "fine": (43.41, 900.4)}
"""Mean and variance of grades in MIREX 2007, 2009, 2010 and 2011 (T 7.2.1)."""


@estimator("uniform")
def uniform(candidates: Candidates, scoring: Scoring, *, sound: bool = True) -> IndependentModel:
    """Every grade of the scale is equally likely, whatever was judged (AdMIRe 2012).

    Where the candidates have a similarity, estimates of this and of all estimators below are corrected by the ``sound``
    of what was judged (:mod:`~adjudge.relevance.hierarchical.kriging`).

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> from adjudge.relevance.base import scoring
    >>> found = candidates(aj.demo(depth=5), cutoff=5)
    >>> uniform(found, scoring("CG@5", found.scale)).scores().mean.round(2)[:2].tolist()
    [0.5, 0.5]
    """
    estimate = _constant(candidates, *uniform_moments(candidates.scale))
    return _independent(candidates, scoring, estimate, sound=sound, normal=True)


@estimator("prior")
@checked("prior", strength=POSITIVE)
def prior(
    candidates: Candidates,
    scoring: Scoring,
    *,
    mean: float | None = None,
    variance: float | None = None,
    from_judgments: bool = False,
    strength: float = 10.0,
    refresh: int = REFRESH,
    sound: bool = True,
) -> IndependentModel:
    """The same mean and variance for all pairs: historical, given, or learned from the judgments so far.

    ``mean`` and ``variance`` are of grades; by default those of MIREX 2007-2011 for Broad (.8959, .6338) and Fine
    (43.41, 900.4). With ``from_judgments``, and on other scales in any case, they are re-estimated every ``refresh``
    judgments: moments of what was judged mixed with the first ones, which weigh as ``strength`` judgments (uniform ones
    where there are no others).
    Documents judged because they were thought telling are no random sample, and neither is what is learned from them.
    """
    centre, spread = _prior_moments(candidates.scale, mean, variance)
    if not from_judgments and (mean is not None or candidates.scale.name in HISTORICAL):
        return _independent(candidates, scoring, _constant(candidates, centre, spread), sound=sound)

    def estimate(relevance: Floats) -> tuple[Floats, Floats]:
        """First and second moment of what is judged, mixed with the prior's."""
        seen = relevance[~np.isnan(relevance)]
        n = strength + len(seen)
        mixed = (strength * centre + seen.sum()) / n
        around = (strength * (spread + (centre - mixed) ** 2) + ((seen - mixed) ** 2).sum()) / n
        return np.full(len(candidates), mixed), np.full(len(candidates), around)

    return _independent(candidates, scoring, estimate, sound=sound, refresh=refresh)


@estimator("output")
def output(
    candidates: Candidates, scoring: Scoring, *, model: FittedModel | None = None, sound: bool = True
) -> IndependentModel:
    """M_out: relevance from runs and metadata alone, so that systems can be ranked with no judgments at all (T 7.3).

    Table A.1 for the scales Broad and Fine; on other scales give a ``model`` fitted with
    :func:`~adjudge.relevance.models.fit_estimator`. Documents without the metadata that it needs get the uniform
    prior, with a warning where that is all of them.
    """
    chosen = model or _published("output", candidates.scale)
    moments, undefined = _with_default(Evidence(candidates), chosen)
    if undefined.all():
        warn("No document has the metadata that the model needs: every estimate is the uniform prior.", stacklevel=3)
    return _independent(candidates, scoring, lambda relevance: moments, sound=sound)


@estimator("judgments")
def judgments(
    candidates: Candidates,
    scoring: Scoring,
    *,
    model: FittedModel | None = None,
    first: FittedModel | None = None,
    refresh: int = REFRESH,
    sound: bool = True,
) -> IndependentModel:
    """M_jud where its features are defined (something judged of the artist, and of the systems), M_out before (T 7.3).

    Estimates are made again every ``refresh`` judgments. Table A.1 for the scales Broad and Fine; on other scales give
    fitted models: ``model`` with judgments among its features, ``first`` for pairs where those are not defined. Where
    ``first`` has no estimate either, or there is none for the scale, pairs get the uniform prior.
    """
    second = model or _published("judgments", candidates.scale)
    if first is None and candidates.scale.name in PUBLISHED_SCALES:
        first = published_model(candidates.scale.name, "output")
    evidence = Evidence(candidates)
    (mean, variance), _ = _with_default(evidence, first)

    def estimate(relevance: Floats) -> tuple[Floats, Floats]:
        expected, spread = second.estimate(evidence, relevance)
        return np.where(np.isnan(expected), mean, expected), np.where(np.isnan(expected), variance, spread)

    return _independent(candidates, scoring, estimate, sound=sound, refresh=refresh)


def _independent(
    candidates: Candidates,
    scoring: Scoring,
    estimate: Estimate,
    *,
    sound: bool,
    refresh: int | None = None,
    normal: bool = False,
) -> IndependentModel:
    """A model with the degrees of freedom of the thesis, unless ``normal``; corrected by sound where there is any."""
    correction = None
    if sound and candidates.similarity is not None:
        correction, refresh = SoundCorrection(candidates), refresh or REFRESH  # the worth of sound has to be learned
    df = None if normal or candidates.n_queries == 1 else candidates.n_queries - 1
    return IndependentModel(candidates, scoring, estimate, refresh=refresh, confidence_df=df, sound=correction)


def _constant(candidates: Candidates, mean: float, variance: float) -> Estimate:
    n = len(candidates)
    return lambda relevance: (np.full(n, mean), np.full(n, variance))


def _prior_moments(scale: Scale, mean: float | None, variance: float | None) -> tuple[float, float]:
    """Mean and variance of relevance to begin with."""
    if (mean is None) != (variance is None):
        raise AdjudgeError("prior: expected both 'mean' and 'variance', or neither.")
    if mean is None or variance is None:
        if scale.name not in HISTORICAL:
            return uniform_moments(scale)
        mean, variance = HISTORICAL[scale.name]
    if not 0 <= mean <= scale.maximum:
        raise AdjudgeError(f"prior: 'mean' must be a grade on the scale {scale}, got {mean:g}")
    limit = mean * (scale.maximum - mean)
    if not 0 <= variance <= limit:
        raise AdjudgeError(f"prior: 'variance' must be from 0 to {limit:g} for that mean, got {variance:g}")
    return mean / scale.maximum, variance / scale.maximum**2


def _published(kind: Literal["output", "judgments"], scale: Scale) -> FittedModel:
    if scale.name not in PUBLISHED_SCALES:
        raise AdjudgeError(
            f"{kind}: Table A.1 has models for the scales {' and '.join(PUBLISHED_SCALES)}, not for {scale}; "
            "fit your own with fit_estimator and give it as 'model'."
        )
    return published_model(scale.name, kind)


def _with_default(evidence: Evidence, model: FittedModel | None) -> tuple[tuple[Floats, Floats], Mask]:
    """Moments by a model, and where it has none, so that they are uniform."""
    mean, variance = uniform_moments(evidence.candidates.scale)
    expected = spread = np.full(len(evidence.candidates), np.nan)
    if model is not None:
        expected, spread = model.estimate(evidence, expected)
    undefined = np.isnan(expected)
    return (np.where(undefined, mean, expected), np.where(undefined, variance, spread)), undefined
