"""The estimator for known-item search: at most one document of a query is relevant.

Where a query has one right answer, documents are not relevant independently, nor together: what one is, the others are
not. Of the candidates C_q of query q

    P(i is the relevant one) = e^{x_i'β} / (1 + Σ_{j ∈ C_q} e^{x_j'β}),

and it is none of them with the rest. x_i are the features of the hierarchical estimator, standardised, and which
systems retrieved i; coefficients β have Gaussian priors, and are learned from judgments: their posterior is taken as
Gaussian around its mode. A judgment "not relevant" leaves the same law for the others; once the relevant document is
found, all others of its query are known not to be. Intervals are claimed from variances 1.75 times as large, chosen on
made-up collections: queries are less alike than the law says.

Any measure has an exact expectation, as each query has few outcomes: the measure is asked once about each of them.
What a judgment tells about scores is what it tells of its own query; what it tells of coefficients is left out.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from adjudge.arrays import Floats
from adjudge.checks import SEED, SEVERAL, checked
from adjudge.errors import AdjudgeError, shown
from adjudge.measures.base import parse_measure
from adjudge.relevance.base import RelevanceModel, Scores, Scoring, estimator
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.hierarchical.effects import feature_columns, standardise
from adjudge.relevance.hierarchical.model import last_due
from adjudge.relevance.lists import RankedPairs

_SLOPE_SD, _SYSTEM_SD, _CONSTANT_SD = 1.0, 0.5, 2.0
_EXPECTED = 0.5  # slope of features that speak for relevance
_MOST = 30.0  # logarithm of odds


class KnownItemModel(RelevanceModel):
    """Beliefs about the one relevant document of each query; start one with :func:`known_item`."""

    inflation = top_inflation = 1.75

    def __init__(self, candidates: Candidates, scoring: Scoring, *, draws: int = 64, seed: int = 0) -> None:
        c = self.candidates = candidates
        self.scoring, self.judged = scoring, np.zeros(len(candidates), dtype=np.bool_)
        self._found = np.full(c.n_queries, -1)  # the relevant document
        self._x, self._prior_mean, self._prior_sd = _features(c)
        if scoring.linear:  # of each outcome, systems x pairs
            weights = scoring.matrix(c)
            self._worth = [weights[c.rows(q)].toarray().T for q in range(c.n_queries)]
        else:
            lists = RankedPairs(c, scoring.drawn or parse_measure(scoring.measure))
            self._worth = [lists.scores(q, np.eye(n)) for q, n in enumerate(np.diff(c.offsets))]
        half = np.random.default_rng(seed).standard_normal((self._x.shape[1], draws // 2))
        self._draws = np.concatenate([half, -half], axis=1)
        self._n_judged = 0
        self._renew()

    @property
    def mean(self) -> Floats:
        return self._mean.copy()

    @property
    def variance(self) -> Floats:
        return self._mean * (1 - self._mean)

    def judge(self, pair: int, relevance: float, assessor: str = "") -> None:
        self._learn(pair, relevance, assessor)
        if self._n_judged == last_due(self._n_judged):
            self._renew()
        else:
            self._of_query(int(self.candidates.query[pair]))

    def judge_all(self) -> None:
        """Learn all judgments of the candidates at once, as if one by one in their order."""
        known = self._known()
        together = max(last_due(self._n_judged + len(known)) - self._n_judged, 0)
        for (pair, assessor), relevance in known[:together]:
            self._learn(pair, relevance, assessor)
        if together:
            self._renew()
        for (pair, assessor), relevance in known[together:]:
            self.judge(pair, relevance, assessor)

    def scores(self) -> Scores:
        n = self.candidates.n_queries
        drawn = self._drawn.mean(axis=0)  # systems x draws
        if not self.variance.any():
            return Scores(drawn.mean(axis=1), np.zeros((len(drawn), len(drawn))))
        apart = drawn - drawn.mean(axis=1, keepdims=True)
        return Scores(drawn.mean(axis=1), apart @ apart.T / apart.shape[1] + self._within.sum(axis=0) / n**2)

    def influence(self) -> Floats:
        return self._influence.copy()

    def query_scores(self) -> tuple[Floats, Floats, Floats]:
        apart = self._drawn - self._drawn.mean(axis=2, keepdims=True)
        covariance = self._within + apart @ np.swapaxes(apart, 1, 2) / apart.shape[2]
        return self._drawn.mean(axis=2), np.diagonal(covariance, axis1=1, axis2=2).copy(), covariance.sum(axis=0)

    def _learn(self, pair: int, relevance: float, assessor: str) -> None:
        query = int(self.candidates.query[pair])
        if relevance not in (0.0, 1.0):
            raise AdjudgeError(f"known_item: expected grades of 0 and 1, got {relevance:g}")
        if self.judged[pair] and (pair, assessor) not in self.answers:
            raise AdjudgeError("known_item: expected one judgment per document, got those of several assessors")
        if relevance and self._found[query] >= 0:
            name = shown(self.candidates.queries[query])
            raise AdjudgeError(
                f"known_item: query {name} has two relevant documents; use the estimator 'hierarchical'."
            )
        self._record(pair, relevance, assessor)
        self._n_judged += 1
        if relevance:
            self._found[query] = pair

    def _renew(self) -> None:
        """Learn coefficients, always from the same start, and all that depends on them."""
        c = self.candidates
        best = minimize(self._objective, self._prior_mean, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
        root = np.linalg.cholesky(np.linalg.inv(self._curvature(best)))
        self._odds = np.exp(np.clip(self._x @ (best[:, None] + root @ self._draws), -_MOST, _MOST))
        shape = (c.n_queries, c.n_systems)
        self._mean, self._influence = np.zeros(len(c)), np.zeros((len(c), c.n_systems))
        self._drawn = np.zeros((*shape, self._draws.shape[1]))
        self._within = np.zeros((*shape, c.n_systems))
        for query in range(c.n_queries):
            self._of_query(query)

    def _of_query(self, query: int) -> None:
        """What is believed of a query: of each outcome in each draw, and of scores."""
        rows, worth = self.candidates.rows(query), self._worth[query]
        odds = np.where(self.judged[rows, None], 0.0, self._odds[rows])
        chance = odds / (1 + odds.sum(axis=0))
        if self._found[query] >= 0:
            chance = np.zeros_like(odds)
            chance[self._found[query] - rows.start] = 1.0
        scores, mean = worth @ chance, chance.mean(axis=1)
        self._mean[rows], self._drawn[query] = mean, scores
        self._within[query] = (worth * mean) @ worth.T - scores @ scores.T / scores.shape[1]
        influence = mean[:, None] * worth.T - chance @ scores.T / scores.shape[1]
        self._influence[rows] = np.where(self.judged[rows, None], 0.0, influence) / self.candidates.n_queries

    def _chances(self, beta: Floats) -> tuple[Floats, Floats, Floats]:
        """Before judgments and given them, of each pair; and minus the logarithm of what judgments leave, by query."""
        c = self.candidates
        odds = np.exp(np.clip(self._x @ beta, -_MOST, _MOST))
        whole, left = (1 + np.bincount(c.query, o, minlength=c.n_queries) for o in (odds, odds * ~self.judged))
        known = self._found >= 0
        left[known] = odds[self._found[known]]
        given = np.where(self.judged | known[c.query], 0.0, odds / left[c.query])
        given[self._found[known]] = 1.0
        return odds / whole[c.query], given, np.log(whole) - np.log(left)

    def _objective(self, beta: Floats) -> tuple[float, Floats]:
        """Minus the logarithm of the posterior, and its slope."""
        before, given, lost = self._chances(beta)
        away = (beta - self._prior_mean) / self._prior_sd
        return float(lost.sum() + 0.5 * away @ away), self._x.T @ (before - given) + away / self._prior_sd

    def _curvature(self, beta: Floats) -> Floats:
        before, given, _ = self._chances(beta)
        curvature = (self._x.T * (before - given * (self._found < 0)[self.candidates.query])) @ self._x
        for chance, sign in ((before, 1.0), (np.where((self._found >= 0)[self.candidates.query], 0.0, given), -1.0)):
            sums = np.add.reduceat(self._x * chance[:, None], self.candidates.offsets[:-1], axis=0)
            curvature -= sign * sums.T @ sums
        values, vectors = np.linalg.eigh(curvature * np.outer(self._prior_sd, self._prior_sd))
        scaled = (vectors * np.maximum(values, 0.0)) @ vectors.T / np.outer(self._prior_sd, self._prior_sd)
        return np.asarray(scaled + np.diag(1 / self._prior_sd**2))


def _features(candidates: Candidates) -> tuple[Floats, Floats, Floats]:
    """Features of pairs, pairs x coefficients, with the mean and standard deviation of each coefficient."""
    names, values, mean, _ = zip(*feature_columns(candidates), strict=True)
    used = [i for i, name in enumerate(names) if name != "constant"]
    columns = [np.ones(len(candidates)), *(standardise(np.asarray(values[i])) for i in used)]
    z = np.zeros((len(candidates), candidates.n_systems))
    pair = candidates.entry_pair
    z[pair, candidates.entry_system] = 1 / np.sqrt(candidates.n_retrieving[pair])
    size = len(candidates) / candidates.n_queries
    means = [-np.log(size), *(_EXPECTED * (mean[i] > 0) for i in used), *np.zeros(candidates.n_systems)]
    sds = [_CONSTANT_SD, *([_SLOPE_SD] * len(used)), *([_SYSTEM_SD] * candidates.n_systems)]
    return np.column_stack([*columns, z]), np.array(means, dtype=np.float64), np.array(sds)


@estimator("known_item")
@checked("known_item", draws=SEVERAL, seed=SEED)
def known_item(candidates: Candidates, scoring: Scoring, *, draws: int = 64, seed: int = 0) -> KnownItemModel:
    """At most one document of a query is relevant, as where each query has one right answer; binary scales only."""
    if candidates.scale.maximum != 1:
        raise AdjudgeError(f"known_item: expected a binary scale, got {candidates.scale}")
    return KnownItemModel(candidates, scoring, draws=draws, seed=seed)
