"""Scores of systems under beliefs about relevance: sums exactly, ratios with an ideal by draws.

A sum of weighted relevance (CG, DCG, RBP) is Gaussian as relevance is, so that expectation, covariance and influence
are exact and every judgment changes them by a rank-one step.

A ratio (nDCG, RBP with the judged ideal) is averaged over draws of relevance, and replaced by the slopes of that
average by expected relevance. Influence is what a judgment would move, by moving expectations. The covariance of scores
is what that linear part explains, and query by query what it leaves unexplained in the draws. A judgment renews the
slopes of its own query. Scores of other queries move along theirs, until all are renewed when the model rebuilds its
posterior: on MIREX 2011 that makes a difference of .001 in expected scores, up to .008 before 20 judgments, and of 10 %
at most in variances of differences.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from adjudge.arrays import Floats, Ints, Mask
from adjudge.model.scales import Scale
from adjudge.relevance.hierarchical_draws import Draws
from adjudge.relevance.hierarchical_posterior import Posterior, Step, subtract_outer
from adjudge.relevance.scoring import Scoring

_AT_ONCE = 4_000_000  # drawn relevances that are sorted at a time


class LinearScores:
    """Scores that are weighted sums of relevance, divided by a constant."""

    def __init__(self, posterior: Posterior, scoring: Scoring) -> None:
        candidates = posterior.design.candidates
        self.posterior = posterior
        self.weights = scoring.matrix(candidates) / candidates.n_queries
        keep = np.repeat(~posterior.judged, np.diff(self.weights.indptr))
        still = csr_array((self.weights.data * keep, self.weights.indices, self.weights.indptr), self.weights.shape)
        self.influence = posterior.covariance_with(still)
        self.covariance = _symmetric(still.T @ self.influence)

    @property
    def mean(self) -> Floats:
        """Expected mean score of each system."""
        return np.asarray(self.weights.T @ self.posterior.mean, dtype=np.float64)

    @property
    def known(self) -> Mask:
        """Systems with nothing left to judge."""
        candidates = self.posterior.design.candidates
        still = ~self.posterior.judged[candidates.entry_pair]
        left: Mask = np.bincount(candidates.entry_system[still], minlength=candidates.n_systems) == 0
        return left

    def learn(self, step: Step) -> None:
        """Follow the posterior by one judgment."""
        towards = self.influence[step.pair].copy()
        self.covariance -= np.outer(towards, towards / step.variance)
        subtract_outer(self.influence, step.covariance, towards / step.variance)
        self.influence[step.pair] = 0.0

    def by_query(self) -> tuple[Floats, Floats]:
        """Expectation and variance of the score of each query and system."""
        n_queries = self.posterior.design.candidates.n_queries
        blocks = [self._query_moments(query) for query in range(n_queries)]
        mean, variance = (np.array(part) for part in zip(*blocks, strict=True))
        return n_queries * mean, n_queries**2 * np.maximum(variance, 0.0)

    def _query_moments(self, query: int) -> tuple[Floats, Floats]:
        rows = self.posterior.rows(query)
        weights = self.weights[rows.start : rows.stop].toarray()
        covariance = self.posterior.query_covariance_with(query, weights)
        return weights.T @ self.posterior.mean[rows], np.einsum("is,is->s", weights, covariance)


class RatioScores:
    """Scores that are weighted sums of relevance divided by that of the ideal ranking of the query's candidates.

    A query with nothing relevant in a draw scores 0 in it. Draws are continuous and hardly ever exactly 0, so where
    nothing is judged relevant yet an ideal that is worth less than half a grade at its first rank counts as nothing.
    """

    def __init__(self, posterior: Posterior, scoring: Scoring, *, draws: int = 64, seed: int = 0) -> None:
        candidates = posterior.design.candidates
        self.posterior, self.ideal = posterior, scoring.weights
        self.plain = scoring.matrix(candidates)
        self._least = 0.5 * float(scoring.weights[0]) * _grade_step(candidates.scale)
        self.draws = Draws(posterior, draws, np.random.default_rng(seed))
        row = candidates.query[candidates.entry_pair] * candidates.n_systems + candidates.entry_system
        shape = (candidates.n_queries * candidates.n_systems, len(candidates))
        self._sums = csr_array((scoring.entries(candidates), (row, candidates.entry_pair)), shape=shape)
        self.ratios = np.zeros((candidates.n_queries, candidates.n_systems))
        self.weights = np.zeros((len(candidates), candidates.n_systems))
        self.unexplained = np.zeros((candidates.n_queries, candidates.n_systems, candidates.n_systems))
        most = max(int(_AT_ONCE // (draws * np.diff(candidates.offsets).max())), 1)
        for first in range(0, candidates.n_queries, most):
            self._linearise(first, min(first + most, candidates.n_queries))
        self._expected = posterior.mean.copy()  # where slopes were taken
        self.influence = posterior.covariance_with(self.weights)
        self._linear = _symmetric(self.weights.T @ self.influence)
        self._rest = self.unexplained.sum(axis=0)

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
        towards = self.influence[step.pair].copy()
        self._linear -= np.outer(towards, towards / step.variance)
        subtract_outer(self.influence, step.covariance, towards / step.variance)
        self.influence[step.pair] = 0.0
        self.draws.learn(step)
        query = int(self.posterior.design.candidates.query[step.pair])
        rows = self.posterior.rows(query)
        self.weights[step.pair] = 0.0
        change = -self.weights[rows]
        self._rest -= self.unexplained[query]
        self._linearise(query, query + 1)
        self._rest += self.unexplained[query]
        self._expected[rows] = self.posterior.mean[rows]
        change += self.weights[rows]
        cross = change.T @ self.influence[rows]
        self._reweigh(query, rows, change)
        self._linear = _symmetric(self._linear + cross + self.influence[rows].T @ change)

    def _reweigh(self, query: int, rows: slice, change: Floats) -> None:
        """Influence after a change of the weights of one query."""
        posterior = self.posterior
        self.influence += posterior.g @ (posterior.sigma @ (posterior.g[rows].T @ change))
        self.influence[rows] += posterior.query_covariance_with(query, change, given_global=True)
        self.influence[posterior.judged] = 0.0

    def by_query(self) -> tuple[Floats, Floats]:
        """Expectation and variance of the score of each query and system."""
        candidates = self.posterior.design.candidates
        mean, variance = self.ratios.copy(), np.zeros_like(self.ratios)
        for query in range(candidates.n_queries):
            rows = self.posterior.rows(query)
            weights = self.weights[rows] * candidates.n_queries
            mean[query] += (self.posterior.mean[rows] - self._expected[rows]) @ weights
            variance[query] = np.einsum("is,is->s", weights, self.posterior.query_covariance_with(query, weights))
            variance[query] += np.diagonal(self.unexplained[query]) * candidates.n_queries**2
        return mean, np.maximum(variance, 0.0)

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
        found = np.bincount(query, self.posterior.judged[start:stop] * values[:, 0], minlength=last - first) > 0
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
        rows = self.posterior.rows(query)
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


def _grade_step(scale: Scale) -> float:
    """Distance between grades, in relevance; a hundredth where any number is a grade."""
    return 0.01 if scale.levels is None else 1.0 / scale.maximum


def _ideal(values: Floats, query: Ints, n_queries: int, weights: Floats) -> tuple[tuple[Ints, Ints, Floats], Floats]:
    """Which pairs are in the ideal rankings, as (pair, query · draws + draw, weight), and its sums, queries x draws.

    Pairs are sorted by query.
    """
    count, n_draws = np.bincount(query, minlength=n_queries), values.shape[1]
    first = np.cumsum(count) - count
    padded = np.full((n_queries, int(count.max()), n_draws), 1.0)
    padded[query, np.arange(len(query)) - first[query]] = -values
    k = min(len(weights), padded.shape[1])
    best = np.argpartition(padded, k - 1, axis=1)[:, :k] if k < padded.shape[1] else np.argsort(padded, axis=1)
    top = np.take_along_axis(padded, best, axis=1)
    order = np.argsort(top, axis=1)
    best, top = np.take_along_axis(best, order, axis=1), -np.take_along_axis(top, order, axis=1)
    weight = np.where(top >= 0, weights[:k, None], 0.0)  # queries with fewer than k pairs have shorter ideals
    column = np.arange(n_queries)[:, None, None] * n_draws + np.arange(n_draws)
    pair = np.minimum(best + first[:, None, None], len(query) - 1)
    entries = (pair.ravel(), np.broadcast_to(column, best.shape).ravel(), weight.ravel())
    return entries, (weight * np.maximum(top, 0.0)).sum(axis=1)


def _symmetric(matrix: Floats) -> Floats:
    return np.asarray((matrix + matrix.T) / 2, dtype=np.float64)
