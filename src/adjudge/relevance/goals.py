"""When to stop judging: goals that a model's beliefs can reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from adjudge.errors import AdjudgeError
from adjudge.model.scales import Scale
from adjudge.registry import Registry
from adjudge.relevance.view import View
from adjudge.users.agreement import find_agreement, noticeable_difference


@dataclass(frozen=True)
class GoalKind:
    """A goal: how far along a view is, in its own unit, and whether more or less of it is better."""

    value: Callable[[View], float]
    level: float
    about: str
    falling: bool = False


GOALS: Registry[GoalKind] = Registry("goal")


def _sure_of_all(view: View) -> float:
    pairs = view.confidence[view.upper]
    return float(pairs.min()) if len(pairs) else 1.0


def _half_width(view: View) -> float:
    """Half of the 95 % interval of a typical score: quantile times the root of the mean variance (thesis 8.19)."""
    df = view.model.confidence_df
    quantile = float(ndtri(0.975) if df is None else stdtrit(df, 0.975))
    return quantile * float(np.sqrt(np.diagonal(view.scores.covariance).mean() * view.model.inflation))


GOALS.add("confidence", GoalKind(lambda view: view.mean_confidence, 0.95, "mean confidence over all pairs of systems"))
GOALS.add(
    "tau", GoalKind(lambda view: 2 * view.mean_confidence - 1, 0.9, "expected Kendall correlation with the truth")
)
GOALS.add("pairs", GoalKind(_sure_of_all, 0.95, "confidence in every pair of systems"))
GOALS.add("error", GoalKind(_half_width, 0.05, "half-width of the 95 % interval of a typical score", falling=True))


def noticeable_zone(measure: str, scale: Scale) -> float:
    """The smallest difference that more than half of the users notice on a query; what is below may count as a tie.

    From the user study of 2012 (:mod:`adjudge.users.agreement`); refused where nobody was asked.

    >>> from adjudge.model.scales import FINE
    >>> round(noticeable_zone("CG@5", FINE), 2)
    0.29
    """
    found = find_agreement(measure, scale.name)
    zone = None if found.mapping is None else noticeable_difference(found.mapping)
    if zone is None:
        raise AdjudgeError(f"What users notice is not known: {found.reason or 'no difference is noticed by most'}.")
    return zone


@dataclass(frozen=True)
class Goal:
    """A kind of goal and its level.

    Differences below ``zone`` do not matter: systems that are known to be that near are a tie, not a doubt. At least
    ``least`` judgments are made whatever the model says; by default one a query, as beliefs about how relevance varies
    are weak before that. ``correction`` multiplies what the model calls its error, for models that claim too little.
    """

    kind: str = "confidence"
    level: float | None = None
    zone: float = 0.01
    least: int | None = None
    correction: float = 1.0

    def __post_init__(self) -> None:
        kind = GOALS[self.kind]
        highest = np.inf if kind.falling else 1.0
        if self.level is not None and not 0 < self.level < highest:
            raise AdjudgeError(f"Goal: the level of {self.kind!r} must be in (0, {highest:g}), got {self.level:g}")
        if not 0 <= self.zone < 1:
            raise AdjudgeError(f"Goal: 'zone' must be at least 0 and below 1, got {self.zone:g}")
        if self.least is not None and not (isinstance(self.least, int) and self.least >= 0):
            raise AdjudgeError(f"Goal: 'least' must be a whole number of at least 0, got {self.least}")
        if not 0 < self.correction < np.inf:
            raise AdjudgeError(f"Goal: 'correction' must be above 0, got {self.correction:g}")

    @property
    def wanted(self) -> float:
        """The level to reach."""
        return GOALS[self.kind].level if self.level is None else self.level

    def value(self, view: View) -> float:
        """How far along the view is."""
        kind = GOALS[self.kind]
        return kind.value(view) * (self.correction if kind.falling else 1.0)

    def lacking(self, view: View) -> int:
        """Judgments still to make, whatever the model says."""
        candidates = view.model.candidates
        least = min(candidates.n_queries if self.least is None else self.least, len(candidates))
        return max(0, least - view.n_judged)

    def met(self, view: View) -> bool:
        """Whether the model says that the level is reached."""
        value = self.value(view)
        return value <= self.wanted if GOALS[self.kind].falling else value >= self.wanted

    def reached(self, view: View) -> bool:
        """Whether judging can stop."""
        return self.lacking(view) == 0 and self.met(view)

    def __str__(self) -> str:
        kind = GOALS[self.kind]
        aside = f" (differences below {self.zone:.3g} do not matter)" if self.zone and not kind.falling else ""
        return f"{kind.about} {'<=' if kind.falling else '>='} {self.wanted:g}{aside}"
