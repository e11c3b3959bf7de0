"""What every relevance estimator offers: beliefs about candidates that each judgment sharpens.

An *estimator* is a registered function that starts a *model* on candidates and a measure. A model knows, at any moment,
the expected relevance of every pair and how sure that is, the expected score of every system and how scores vary
together, and how much a judgment of each pair would tell about them. Relevance is grade / highest grade, from 0 to 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.errors import AdjudgeError
from adjudge.registry import Registry
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.scoring import Scoring


@dataclass(frozen=True, eq=False)
class Scores:
    """Mean score of every system over the queries: expectation (systems,) and covariance (systems x systems)."""

    mean: Floats
    covariance: Floats

    def differences(self) -> tuple[Floats, Floats]:
        """Expectation and variance of the score of a (row) minus that of b (column); 0 for what rounding leaves of 0.

        That is 10⁻¹² of the largest score, and 10⁻¹⁰ of the largest variance of a score.
        """
        variance = np.diagonal(self.covariance)
        spread = variance[:, None] + variance[None, :] - 2 * self.covariance
        expected = self.mean[:, None] - self.mean[None, :]
        near, certain = 1e-12 * np.abs(self.mean).max(initial=0.0), 1e-10 * variance.max(initial=0.0)
        return np.where(np.abs(expected) > near, expected, 0.0), np.where(spread > certain, spread, 0.0)


class RelevanceModel(ABC):
    """Beliefs about the relevance of candidates; changes with every judgment."""

    candidates: Candidates
    scoring: Scoring
    judged: Mask
    inflation: float = 1.0
    """By how much variances of scores and differences are enlarged before anything is claimed from them."""
    confidence_df: int | None = None
    """Degrees of freedom of Student's t in claims; None for the normal distribution."""

    @property
    @abstractmethod
    def mean(self) -> Floats:
        """Expected relevance of each pair; of judged ones what was judged."""

    @property
    @abstractmethod
    def variance(self) -> Floats:
        """Variance of the relevance of each pair; 0 where judged."""

    @abstractmethod
    def judge(self, pair: int, relevance: float) -> None:
        """Learn the relevance of a pair. Re-estimation that is due happens here."""

    @abstractmethod
    def scores(self) -> Scores:
        """Expected mean scores of the systems under the measure."""

    @abstractmethod
    def influence(self) -> Floats:
        """Cov(relevance of pair i, score of system s), pairs x systems; rows of judged pairs are 0."""

    @abstractmethod
    def query_scores(self) -> tuple[Floats, Floats]:
        """Expectation and variance of the score of each query and system, queries x systems."""

    def ideal(self) -> Floats:
        """By query, what sums over ranks are divided by, as expected: Σ_i w_i E[r] of candidates sorted by E[r].

        1 for linear measures, whose weights contain the constant already.
        """
        candidates, weights = self.candidates, self.scoring.weights
        if self.scoring.linear:
            return np.ones(candidates.n_queries)
        order = np.lexsort((-self.mean, candidates.query))
        rank = np.arange(len(order)) - candidates.offsets[candidates.query]
        inside = rank < len(weights)
        gains = np.where(inside, weights[np.minimum(rank, len(weights) - 1)], 0.0) * self.mean[order]
        return np.bincount(candidates.query, weights=gains, minlength=candidates.n_queries).astype(np.float64)

    def judge_all(self) -> None:
        """Learn everything that the candidates know already, in their order."""
        for pair in np.flatnonzero(self.candidates.judged & ~self.judged):
            self.judge(int(pair), float(self.candidates.relevance[pair]))

    def _check(self, pair: int, relevance: float) -> None:
        """Refuse what cannot be learned."""
        if not 0 <= pair < len(self.candidates):
            raise AdjudgeError(f"Expected a pair from 0 to {len(self.candidates) - 1}, got {pair}")
        if self.judged[pair]:
            raise AdjudgeError(f"Pair {pair} is judged already; correct a judgment by starting again without it.")
        if not 0 <= relevance <= 1:
            raise AdjudgeError(f"Expected relevance from 0 to 1, got {relevance}")


StartModel = Callable[..., RelevanceModel]  # (candidates, scoring, **options) -> model
ESTIMATORS: Registry[StartModel] = Registry("relevance estimator")


def estimator(name: str) -> Callable[[StartModel], StartModel]:
    """Register a relevance estimator; the function comes back unchanged."""
    return ESTIMATORS.register(name)


def start(name: str, candidates: Candidates, scoring: Scoring, **options: Any) -> RelevanceModel:
    """A model by the name of its estimator, with what is judged already learned."""
    model = ESTIMATORS[name](candidates, scoring, **options)
    model.judge_all()
    return model
