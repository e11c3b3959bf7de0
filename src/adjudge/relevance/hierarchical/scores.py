"""Scores of systems under the hierarchical model: expectation, covariance, and what each judgment would move.

A sum of weighted relevance (CG, DCG, RBP) is Gaussian as relevance is, so that expectation, covariance and influence
are exact and every judgment changes them by a rank-one step.

A ratio (nDCG, RBP with the judged ideal) is averaged over draws of relevance, any other measure (AP, RR, ERR, Q, GAP)
over draws of grades, and replaced by the slopes of that average by expected relevance. Influence is what a judgment
would move, by moving expectations. The covariance of scores is what that linear part explains, and query by query what
it leaves unexplained in the draws. A judgment renews the slopes of its own query. Scores of other queries move along
theirs, until all are renewed when the model rebuilds its posterior: on MIREX 2011 that makes a difference of .001 in
expected scores, up to .008 before 20 judgments, and of 10 % at most in variances of differences.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse import csr_array

from adjudge.arrays import Floats, Ints, Mask
from adjudge.measures.base import Measure
from adjudge.relevance.base import Scoring
from adjudge.relevance.hierarchical.posterior import Draws, Posterior, Step, add_product, subtract_outer
from adjudge.relevance.lists import RankedPairs, falling, step_of

_AT_ONCE = 250_000  # drawn relevances that are sorted at a time; as many as fit into a cache
_FOR_SLOPES = 16  # draws
_HALF = 0.5


class LinearScores:
    """Scores that are weighted sums of relevance, divided by a constant."""

    def __init__(self, posterior: Posterior, scoring: Scoring) -> None:
        candidates = posterior.design.candidates
        self.posterior = posterior
        self.weights = scoring.matrix(candidates) / candidates.n_queries
        self.influence = posterior.covariance_with(self.weights)
        self.covariance = _symmetric(self.weights.T @ self.influence)

    @property
    def mean(self) -> Floats:
        """Expected mean score of each system."""
        return np.asarray(self.weights.T @ self.posterior.mean, dtype=np.float64)

    @property
    def known(self) -> Mask:
        """Systems with nothing left to judge."""
        candidates = self.posterior.design.candidates
        still = ~self.posterior.known[candidates.entry_pair]
        return np.asarray(np.bincount(candidates.entry_system[still], minlength=candidates.n_systems) == 0)

    def learn(self, step: Step) -> None:
        """Follow the posterior by one judgment."""
        towards = self.weights.T @ step.covariance
        self.covariance -= np.outer(towards, towards / step.variance)
        subtract_outer(self.influence, step.covariance, towards / step.variance)
        if self.posterior.left[step.pair] == 0:
            self.influence[step.pair] = 0.0

    def by_query(self) -> tuple[Floats, Floats, Floats]:
        """Expectation and variance of the score of each query and system; covariance, summed over queries."""
        n_queries, n_systems = self.posterior.design.candidates.n_queries, self.weights.shape[1]
        mean, variance, within = *np.empty((2, n_queries, n_systems)), np.zeros((n_systems, n_systems))
        for query in range(n_queries):
            rows = self.posterior.design.candidates.rows(query)
            weights = self.weights[rows.start : rows.stop].toarray()
            mean[query] = weights.T @ self.posterior.mean[rows]
            covariance = weights.T @ self.posterior.query_covariance_with(query, weights)
            variance[query] = np.diagonal(covariance)
            within += covariance
        return n_queries * mean, n_queries**2 * np.maximum(variance, 0.0), n_queries**2 * within


class DrawnScores(ABC):
    """Scores averaged over draws of relevance, and replaced by the slopes of that average.

    ``ratios`` are those averages, queries x systems; ``weights`` their slopes by expected relevance / number of
    queries, pairs x systems; ``unexplained`` what slopes leave of their covariance, by query.
    """

    def __init__(self, posterior: Posterior, draws: Draws, at_once: int) -> None:
        candidates = posterior.design.candidates
        self.posterior, self.draws = posterior, draws
        self.ratios = np.zeros((candidates.n_queries, candidates.n_systems))
        self.weights = np.zeros((len(candidates), candidates.n_systems))
        self.unexplained = np.zeros((candidates.n_queries, candidates.n_systems, candidates.n_systems))
        for first in range(0, candidates.n_queries, at_once):
            self._linearise(first, min(first + at_once, candidates.n_queries))
        self._expected = posterior.mean.copy()  # where slopes were taken
        self.influence = posterior.covariance_with(self.weights)
        self._linear = _symmetric(self.weights.T @ self.influence)
        self._rest = self.unexplained.sum(axis=0)

    @abstractmethod
    def _linearise(self, first: int, last: int) -> None:
        """Fill in ``ratios``, ``weights`` and ``unexplained`` of queries first..last-1."""

    @property
    def covariance(self) -> Floats:
        """Covariance of the mean scores of systems."""
        return np.asarray(self._linear + self._rest, dtype=np.float64)

    @property
    def mean(self) -> Floats:
        """Expected mean score of each system."""
        moved = (self.posterior.mean - self._expected) @ self.weights
        return np.asarray(self.ratios.mean(axis=0) + moved, dtype=np.float64)

    @property
    def known(self) -> Mask:
        """Systems with nothing left to judge that would change their scores."""
        return np.asarray(~self.weights.any(axis=0) & ~self.unexplained.any(axis=(0, 1)), dtype=np.bool_)

    def learn(self, step: Step) -> None:
        """Follow the posterior by one judgment."""
        towards = self.weights.T @ step.covariance
        self._linear -= np.outer(towards, towards / step.variance)
        subtract_outer(self.influence, step.covariance, towards / step.variance)
        self.draws.learn(step)
        candidates = self.posterior.design.candidates
        query = int(candidates.query[step.pair])
        rows = candidates.rows(query)
        if self.posterior.left[step.pair] == 0:
            self.influence[step.pair], self.weights[step.pair] = 0.0, 0.0
        change = -self.weights[rows]
        self._rest -= self.unexplained[query]
        self._linearise(query, query + 1)
        self._rest += self.unexplained[query]
        self._expected[rows] = self.posterior.mean[rows]
        change += self.weights[rows]
        cross, posterior = change.T @ self.influence[rows], self.posterior
        add_product(self.influence, posterior.g, posterior.sigma @ (posterior.g[rows].T @ change))
        self.influence[rows] += posterior.query_covariance_with(query, change, given_global=True)
        self._linear = _symmetric(self._linear + cross + self.influence[rows].T @ change)

    def by_query(self) -> tuple[Floats, Floats, Floats]:
        """Expectation and variance of the score of each query and system; covariance, summed over queries."""
        candidates = self.posterior.design.candidates
        mean, variance, within = self.ratios.copy(), np.zeros_like(self.ratios), np.zeros(self._rest.shape)
        for query in range(candidates.n_queries):
            rows = candidates.rows(query)
            weights = self.weights[rows] * candidates.n_queries
            mean[query] += (self.posterior.mean[rows] - self._expected[rows]) @ weights
            covariance = weights.T @ self.posterior.query_covariance_with(query, weights)
            covariance += self.unexplained[query] * candidates.n_queries**2
            variance[query] = np.diagonal(covariance)
            within += covariance
        return mean, np.maximum(variance, 0.0), within


class RatioScores(DrawnScores):
    """Scores that are weighted sums of relevance divided by that of the ideal ranking of the query's candidates.

    A query with nothing relevant in a draw scores 0 in it. Draws are continuous and hardly ever exactly 0, so where
    nothing is judged relevant yet an ideal that is worth less than half a grade at its first rank counts as nothing.
    """

    def __init__(self, posterior: Posterior, scoring: Scoring, *, draws: int = 64, seed: int = 0) -> None:
        candidates = posterior.design.candidates
        self.ideal, self.plain = scoring.weights, scoring.matrix(candidates)
        self._least = 0.5 * float(scoring.weights[0]) * step_of(candidates.scale)
        row = candidates.query[candidates.entry_pair] * candidates.n_systems + candidates.entry_system
        shape = (candidates.n_queries * candidates.n_systems, len(candidates))
        self._sums = csr_array((scoring.entries(candidates), (row, candidates.entry_pair)), shape=shape)
        most = max(int(_AT_ONCE // (draws * np.diff(candidates.offsets).max())), 1)
        super().__init__(posterior, Draws(posterior, draws, np.random.default_rng(seed)), most)

    def _linearise(self, first: int, last: int) -> None:
        """Mean ratios of queries first..last-1, and their slopes by expected relevance / number of queries.

        With I the ideal's sum and v_i the weight of pair i in it, ∂(Σ_j w_js r_j / I)/∂r_i = (w_is - ratio_s v_i) / I.
        """
        candidates = self.posterior.design.candidates
        n_queries, n_systems = candidates.n_queries, candidates.n_systems
        start, stop = int(candidates.offsets[first]), int(candidates.offsets[last])
        query = candidates.query[start:stop] - first
        values, slopes = self.draws.relevance(slice(start, stop))
        n_draws = values.shape[1]
        (chosen, column, weight), ideal = _ideal(values, query, last - first, self.ideal)
        found = np.bincount(query, self.posterior.relevant[start:stop], minlength=last - first) > 0
        least = np.where(found, 0.0, self._least)[:, None]
        inverse = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > least)
        ratios = self._block(first, last, start, stop) @ values
        ratios = ratios.reshape(last - first, n_systems, n_draws) * inverse[:, None, :]
        self.ratios[first:last] = ratios.mean(axis=2)
        direct = (slopes * inverse[query]).mean(axis=1) / n_queries
        gradient = self.plain[start:stop].multiply(direct[:, None]).toarray()
        weight = weight * slopes[chosen, column % n_draws]
        in_ideal = csr_array((weight, (chosen, column)), shape=(stop - start, (last - first) * n_draws))
        pull = np.swapaxes(ratios * inverse[:, None, :], 1, 2).reshape(-1, n_systems) / (n_draws * n_queries)
        self.weights[start:stop] = gradient - in_ideal @ pull
        for i in range(last - first):
            self._explain(first + i, ratios[i] / n_queries)

    def _explain(self, query: int, ratios: Floats) -> None:
        """What slopes leave unexplained of the ratios of a query (systems x draws): products of what is left over."""
        rows = self.posterior.design.candidates.rows(query)
        linear = self.weights[rows].T @ self.draws.deviations[rows]
        left = ratios - ratios.mean(axis=1, keepdims=True) - np.concatenate([linear, -linear], axis=1)
        self.unexplained[query] = left @ left.T / left.shape[1]

    def _block(self, first: int, last: int, start: int, stop: int) -> csr_array:
        """Sums over ranks of queries first..last-1: (queries · systems) x their pairs."""
        n_systems, sums = self.posterior.design.candidates.n_systems, self._sums
        pointers = sums.indptr[first * n_systems : last * n_systems + 1]
        entries = slice(pointers[0], pointers[-1])
        shape = ((last - first) * n_systems, stop - start)
        return csr_array((sums.data[entries], sums.indices[entries] - start, pointers - pointers[0]), shape=shape)


class MeasureScores(DrawnScores):
    """Scores by a measure of any kind, asked about draws of relevance that are brought to the grades of the scale.

    Draws are rounded to a grade below or above at random, so that their expectation stays, and have as much less
    variance of their own. The slope by a document is what the measure changes when the document alone gets another
    grade, in its own list and in the pool of its query, divided by the change of relevance: ΣΔfΔr / Σ(Δr)² over some
    of the draws. The other grade is that of another draw or, where it is the same, the next one. Expectations are
    those of the draws, corrected by slopes for what draws and rounding miss of expected relevance.
    """

    def __init__(self, posterior: Posterior, measure: Measure, *, draws: int = 64, seed: int = 0) -> None:
        candidates, rng = posterior.design.candidates, np.random.default_rng(seed)
        self.lists, self._step = RankedPairs(candidates, measure), step_of(candidates.scale)
        made = Draws(posterior, draws, rng)
        strata = rng.permuted(np.broadcast_to(np.arange(draws), (len(candidates), draws)), axis=1)
        self._rounding = (strata + rng.random(strata.shape)) / draws
        half = max(min(_FOR_SLOPES, draws) // 2, 1)
        self._chosen = np.concatenate([np.arange(half), draws // 2 + np.arange(half)])  # with their reflections
        super().__init__(posterior, made, 1)

    def _linearise(self, first: int, last: int) -> None:
        for query in range(first, last):
            self._of_query(query)

    def _of_query(self, query: int) -> None:
        """Mean scores of a query, their slopes by expected relevance / number of queries, and what slopes leave."""
        candidates = self.posterior.design.candidates
        rows, n = candidates.rows(query), candidates.n_queries
        known, mean = self.posterior.known[rows], self.posterior.mean[rows]
        values, _ = self.draws.relevance(rows, self._step**2 / 6)
        values[~known] = self._rounded(values[~known], self._rounding[rows][~known])
        scores = self.lists.scores(query, values)
        slopes = self._slopes(query, values, scores)
        off = values - values.mean(axis=1, keepdims=True)
        left = scores - scores.mean(axis=1, keepdims=True) - slopes.T @ off
        self.ratios[query] = scores.mean(axis=1) + (mean - values.mean(axis=1)) @ slopes
        self.weights[rows] = slopes / n
        self.unexplained[query] = left @ left.T / (left.shape[1] * n**2)

    def _rounded(self, values: Floats, chance: Floats) -> Floats:
        return np.minimum(np.floor(values / self._step + chance) * self._step, 1.0)

    def _slopes(self, query: int, values: Floats, scores: Floats) -> Floats:
        """ΣΔfΔr / Σ(Δr)² of each pair of a query and each system; 0 for known pairs."""
        open_ = ~self.posterior.known[self.posterior.design.candidates.rows(query)]
        slopes = np.zeros((len(values), len(scores)))
        if not open_.any():
            return slopes
        drawn, base = values[:, self._chosen], scores[:, self._chosen]
        other, ranked = self._others(drawn), self.lists.of_query(query, drawn)
        share = (other - drawn) / ((other - drawn) ** 2).sum(axis=1, keepdims=True)
        pools, pool = falling(drawn), np.broadcast_to(np.arange(drawn.shape[1]), drawn.shape)
        if self.lists.pooled:
            pools, pool, draw = _move(pools, drawn, other, open_)
            row = np.repeat(np.flatnonzero(open_), drawn.shape[1])
            weight = csr_array((share[open_].ravel(), (row, pool[open_].ravel())), shape=(len(values), len(pools)))
            slopes += weight @ (self.lists.values(ranked[:, draw], pools, np.arange(len(pools))) - base[:, draw]).T
        place = self.lists.place[query]
        system, rank = np.nonzero(np.append(open_, False)[place])
        pair, changed = place[system, rank], ranked[system]
        changed[np.arange(len(pair)), :, rank] = other[pair]
        slopes[pair, system] = ((self.lists.values(changed, pools, pool[pair]) - base[system]) * share[pair]).sum(
            axis=1
        )
        return slopes

    def _others(self, drawn: Floats) -> Floats:
        """Another grade of each pair in each draw: that of the draw before or, where it is the same, the next one."""
        step, near = self._step * (-1.0) ** np.arange(drawn.shape[1]), _HALF * self._step
        inside = (drawn + step > -near) & (drawn + step < 1 + near)
        before = np.roll(drawn, 1, axis=1)
        return np.where(np.abs(before - drawn) > near, before, np.where(inside, drawn + step, drawn - step))


def _move(pool: Floats, drawn: Floats, other: Floats, open_: Mask) -> tuple[Floats, Ints, Ints]:
    """Pools in which one document has another grade: each one once, which one belongs to each pair and draw, its draw.

    Ranked pools p lose a and gain b: q_j = max(p_j, min(p_j-1, b)) has b as well, and all up to a move up.
    """
    n_draws = len(pool)
    _, level = np.unique(np.concatenate([drawn[open_], other[open_]]), return_inverse=True)
    before, after = level.reshape(2, -1, n_draws)
    code = (np.arange(n_draws) * (level.max() + 1) + before) * (level.max() + 1) + after
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    pool_of = np.zeros(drawn.shape, dtype=np.int64)
    pool_of[open_] = which.reshape(code.shape)
    draw, a, b = first % n_draws, drawn[open_].ravel()[first, None], other[open_].ravel()[first, None]
    used = int((pool > 0).any(axis=0).sum())
    p = np.concatenate([np.full((n_draws, 1), np.inf), pool[:, :used], np.zeros((n_draws, 2))], axis=1)[draw]
    q = np.maximum(p[:, 1:], np.minimum(p[:, :-1], b))
    return np.where(q[:, :-1] > a, q[:, :-1], q[:, 1:]), pool_of, draw


def _ideal(values: Floats, query: Ints, n_queries: int, weights: Floats) -> tuple[tuple[Ints, Ints, Floats], Floats]:
    """Which pairs are in the ideal rankings, as (pair, query · draws + draw, weight), and its sums, queries x draws.

    Pairs are sorted by query.
    """
    count, n_draws = np.bincount(query, minlength=n_queries), values.shape[1]
    first = np.cumsum(count) - count
    padded = np.full((n_queries, int(count.max()), n_draws), 1.0)
    padded[query, np.arange(len(query)) - first[query]] = -values
    k = min(len(weights), padded.shape[1])
    best = (
        np.argpartition(padded, k - 1, axis=1)[:, :k]
        if k < padded.shape[1]
        else np.argsort(padded, axis=1, kind="stable")
    )
    top = np.take_along_axis(padded, best, axis=1)
    order = np.argsort(top, axis=1, kind="stable")
    best, top = np.take_along_axis(best, order, axis=1), -np.take_along_axis(top, order, axis=1)
    weight = np.where(top >= 0, weights[:k, None], 0.0)  # queries with fewer than k pairs have shorter ideals
    column = np.arange(n_queries)[:, None, None] * n_draws + np.arange(n_draws)
    pair = np.minimum(best + first[:, None, None], len(query) - 1)
    entries = (pair.ravel(), np.broadcast_to(column, best.shape).ravel(), weight.ravel())
    return entries, (weight * np.maximum(top, 0.0)).sum(axis=1)


def _symmetric(matrix: Floats) -> Floats:
    return np.asarray((matrix + matrix.T) / 2, dtype=np.float64)
