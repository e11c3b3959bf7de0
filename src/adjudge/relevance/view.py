"""What a model says at one moment: scores, differences and confidence, computed once for rules, goals and reports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.relevance.base import RelevanceModel, Scores
from adjudge.relevance.confidence import confidence, mean_of_pairs, within


@dataclass(frozen=True, eq=False)
class View:
    """A model between two judgments.

    Differences smaller than ``zone`` do not matter: a pair is settled when its sign is sure, or when it is surely that
    near.
    """

    model: RelevanceModel
    zone: float = 0.0

    @cached_property
    def scores(self) -> Scores:
        """Expected scores of the systems and how they vary together."""
        return self.model.scores()

    @cached_property
    def differences(self) -> tuple[Floats, Floats]:
        """Expectation and variance of the score of a (row) minus that of b (column), the variance as it is claimed."""
        expected, variance = self.scores.differences()
        return expected, variance * self.model.inflation

    @cached_property
    def confidence(self) -> Floats:
        """Confidence in each difference, systems x systems; 1 on the diagonal."""
        return confidence(self.scores, self.model.confidence_df, self.model.inflation, zone=self.zone)

    @cached_property
    def sign(self) -> Floats:
        """Confidence in the sign of each difference, however small it is; 1 on the diagonal."""
        return confidence(self.scores, self.model.confidence_df, self.model.inflation) if self.zone else self.confidence

    @cached_property
    def near(self) -> Floats:
        """Probability that each difference is not larger than the zone."""
        return within(self.scores, self.zone, self.model.confidence_df, self.model.inflation)

    @cached_property
    def upper(self) -> Mask:
        """Each pair of systems once."""
        n = len(self.scores.mean)
        return np.triu(np.ones((n, n), dtype=np.bool_), 1)

    @property
    def mean_confidence(self) -> float:
        """Confidence in the ranking; 1 with a single system."""
        return mean_of_pairs(self.confidence)

    @property
    def n_judged(self) -> int:
        """How many pairs are judged."""
        return int(np.count_nonzero(self.model.judged))

    @property
    def open(self) -> Mask:
        """Which candidates are not judged yet."""
        still: Mask = ~self.model.judged
        return still
