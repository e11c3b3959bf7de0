"""What to judge next, and when to stop.

A *rule* is a registered function that looks at a model once, before anything is judged, and returns a function of the
view at any moment: the utility of judging each candidate. Equal candidates are chosen by a seed, never by the order of
a file. A *goal* is a level that a model's beliefs have to reach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import CONFIDENCE, COUNT, COUNT_OR_NONE, POSITIVE, SHARE_BELOW_ALL, Constraints, Kind, check_all
from adjudge.errors import AdjudgeError
from adjudge.model.scales import Scale
from adjudge.registry import Registry
from adjudge.relevance.base import ROUNDING, RelevanceModel, View, mean_of_pairs
from adjudge.users.noticing import find_agreement, noticeable_difference

Ask = Callable[[View], Floats]
RULES: Registry[Callable[[RelevanceModel], Ask]] = Registry("selection rule")
SECOND = ("information", "winner", "top", "ranks", "mixed", "variance")
"""Rules that know what another opinion of a judged candidate is worth; others ask for none."""
_CONFIDENT = 0.95
_TIED = 1e-9
_HOPELESS = 1e-9  # expected ideal below which nothing in the query is relevant and its scores are 0 anyway


def rule(name: str) -> Callable[[Callable[[RelevanceModel], Ask]], Callable[[RelevanceModel], Ask]]:
    """Register a selection rule; the function comes back unchanged."""
    return RULES.register(name)


@rule("information")
def information(model: RelevanceModel) -> Ask:
    """Most about signs in doubt: Σ over pairs of systems of P(wrong sign) x share of variance removed.

    With k_i = Cov(scores, r_i), v_i = Var(r_i), C and s² confidence and variance of differences, judging i removes
    (k_ia - k_ib)² / v_i of s²_ab; so the sum is k_i' Λ k_i / v_i, Λ the graph Laplacian of weights (1 - C) / s².
    """
    return lambda view: _informed(view, 1 - view.confidence)


@rule("winner")
def winner(model: RelevanceModel) -> Ask:
    """As ``information``, with each pair of systems weighed by the probability that exactly one of them is the best."""
    return lambda view: _informed(view, (1 - view.confidence) * _either(view.chances[0]))


@rule("top")
def top(model: RelevanceModel) -> Ask:
    """As ``information``, with pairs weighed by the probability that exactly one of them is among the best."""
    return lambda view: _informed(view, (1 - view.confidence) * _either(view.chances[1]))


@rule("ranks")
def by_ranks(model: RelevanceModel) -> Ask:
    """As ``information``, with pairs weighed as tau_AP weighs them: the more, the higher the lower of the two ranks."""
    return lambda view: _informed(view, (1 - view.confidence) * rank_weights(view.order))


@rule("mixed")
def mixed(model: RelevanceModel) -> Ask:
    """About the order and about scores alike: ``information`` and ``variance``, each divided by its highest, summed."""
    order, scores = information(model), variance(model)
    return lambda view: _of_most(order(view)) + _of_most(scores(view))


def _informed(view: View, doubt: Floats) -> Floats:
    """Σ over pairs of systems of their doubt x the share of their variance that judging a candidate removes."""
    _, variance = view.differences
    weights = np.divide(doubt, variance, out=np.zeros_like(variance), where=variance > 0)
    return _per_variance(_quadratic_forms(view.model.influence(), _laplacian(weights)), view)


def _either(probability: Floats) -> Floats:
    """Probability that exactly one of two systems is among some, taken as independent, systems x systems."""
    both: Floats = probability[:, None] + probability - 2 * probability[:, None] * probability
    return both


def rank_weights(order: Ints) -> Floats:
    """Weight of each pair of systems in tau_AP, systems x systems: 1 / (r - 1), with r the lower of their ranks."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))  # from 0
    return 1.0 / np.maximum(np.maximum(rank[:, None], rank), 1)


def _of_most(utility: Floats) -> Floats:
    most = float(np.max(utility, initial=0.0))
    return utility / most if most > 0 else utility


@rule("variance")
def variance(model: RelevanceModel) -> Ask:
    """Most about scores themselves: the variance that a judgment removes, summed over systems, Σ_s k_is² / v_i."""

    def ask(view: View) -> Floats:
        influence = view.model.influence()
        return _per_variance(np.einsum("is,is->i", influence, influence), view)

    return ask


@rule("confidence")
def doubtful_pairs(model: RelevanceModel) -> Ask:
    """AdMIRe 2012, eq 6: Σ over pairs of systems not yet 95 % confident of (1 - C_ab) (w_ia - w_ib)².

    w_is is the weight of the document in the system's score; 1 or 0 in the paper, whose measure has no discount.
    """
    patterns, which = np.unique(model.scoring.matrix(model.candidates).toarray(), axis=0, return_inverse=True)

    def ask(view: View) -> Floats:
        doubt = np.where(view.confidence < _CONFIDENT, 1 - view.confidence, 0.0)
        return _quadratic_forms(patterns, _laplacian(doubt))[which]  # the same systems retrieve many documents

    return ask


@rule("pairs")
def affected_pairs(model: RelevanceModel) -> Ask:
    """Thesis 8.3: Σ over pairs of systems of |w_ia - w_ib|, divided by the expected ideal where scores are ratios."""
    ordered = np.sort(model.scoring.matrix(model.candidates).toarray(), axis=1)
    n = ordered.shape[1]
    affected: Floats = ordered @ (2.0 * np.arange(1, n + 1) - n - 1)

    def ask(view: View) -> Floats:
        if model.scoring.linear:
            return affected
        ideal = view.model.ideal()[model.candidates.query]
        return np.divide(affected, ideal, out=np.zeros_like(affected), where=ideal > _HOPELESS)

    return ask


@rule("spread")
def uncertain_systems(model: RelevanceModel) -> Ask:
    """Thesis 8.4, for scores themselves: Σ of the variance of the score of each system that retrieved the document."""
    candidates = model.candidates

    def ask(view: View) -> Floats:
        own = np.diagonal(view.scores.covariance)[candidates.entry_system]
        return np.bincount(candidates.entry_pair, weights=own, minlength=len(candidates)).astype(np.float64)

    return ask


@rule("random")
def random_order(model: RelevanceModel) -> Ask:
    """Any candidate: the control that every rule must beat."""
    return lambda view: np.zeros(len(model.candidates))


def _per_variance(values: Floats, view: View) -> Floats:
    """Divide by the variance of an answer."""
    variance = view.model.answer_variance
    return np.divide(values, variance, out=np.zeros_like(values), where=variance > 0)


def _quadratic_forms(rows: Floats, matrix: Floats) -> Floats:
    return np.asarray(np.einsum("is,is->i", rows @ matrix, rows))


def _laplacian(weights: Floats) -> Floats:
    """Graph Laplacian of symmetric weights between systems, without their diagonal."""
    off = weights - np.diag(np.diagonal(weights))
    return np.diag(off.sum(axis=1)) - off


def choose(utility: Floats, view: View, priority: Floats, n: int, among: Mask | None = None) -> list[int]:
    """The n most telling candidates ``among`` some, by default those not judged; ties go by priority, also near ones.

    Answers to one query tell much the same, so a second candidate of a query waits until other queries had theirs.
    """
    open_ = np.flatnonzero((view.open if among is None else among) & ~np.isnan(utility))
    if not len(open_):
        return []
    offered = utility[open_]
    is_telling = np.isfinite(offered)
    telling = offered[is_telling]
    near = _TIED * float(np.abs(telling).max(initial=0.0))
    offered = np.where(is_telling, offered, telling.min(initial=0.0) - 2 * near - 1)
    if n == 1:
        best = open_[offered >= offered.max() - near]
        return [int(best[np.argmin(priority[best])])]
    falling = np.argsort(-offered, kind="stable")
    step = np.empty(len(offered), dtype=np.int64)  # equal values, and neighbours that rounding makes differ, share one
    step[falling] = np.cumsum(np.diff(-offered[falling], prepend=-offered[falling[0]]) > near)
    order = open_[np.lexsort((priority[open_], step))]
    query = view.model.candidates.query[order]
    by_query = np.argsort(query, kind="stable")
    starts = np.flatnonzero(np.diff(query[by_query], prepend=-1))
    turn = np.empty(len(query), dtype=np.int64)  # how many candidates of the query come before
    turn[by_query] = np.arange(len(query)) - np.repeat(starts, np.diff(np.append(starts, len(query))))
    turn[~np.isfinite(utility[order])] += len(query)  # what tells nothing comes last
    return [int(pair) for pair in order[np.argsort(turn, kind="stable")][:n]]


@dataclass(frozen=True)
class GoalKind:
    """A goal: its value in a view, what of it is true, the default level, the rule that serves it.

    ``kept`` compares a view with the true scores: the value as it is, or 1 and 0 where it is a probability of one
    thing. ``falling`` goals are better the less they are; of these it is the share of scores within the level.
    """

    value: Callable[[View], float]
    kept: Callable[[View, Floats, float], float]
    level: float
    about: str
    rule: str = "mixed"
    falling: bool = False


def _half_width(view: View) -> float:
    """Half of the 95 % interval of a typical score: quantile times the root of the mean variance (thesis 8.19)."""
    return view.quantile(0.95) * float(np.sqrt(np.diagonal(view.scores.covariance).mean() * view.model.inflation))


def _widest(view: View) -> float:
    """Half of the widest 95 % interval of a score."""
    return view.quantile(0.95) * float(np.sqrt(np.diagonal(view.scores.covariance).max() * view.model.inflation))


def _least(view: View, sure: Floats) -> float:
    """What is said of the pair that is least sure."""
    return float(sure[view.upper].min(initial=1.0))


def _expected_tau_ap(view: View, sure: Floats) -> float:
    """Σ over systems of the mean probability that those above them are better, as -1 to 1 (Yilmaz et al. 2008)."""
    n = len(view.order)
    weights = np.where(view.upper, rank_weights(view.order), 0.0)
    return 2 * float((weights * sure).sum()) / (n - 1) - 1 if n > 1 else 1.0


def _first_are(view: View, truth: Floats, top: int) -> float:
    """Whether no other system is better by more than the zone than one of the first ones."""
    best, others = truth[view.order[:top]], truth[view.order[top:]]
    return float(others.max(initial=-np.inf) - best.min() <= view.zone + ROUNDING)


def _inside(view: View, truth: Floats, level: float) -> float:
    """Share of the scores that are within the level of the truth."""
    return float((np.abs(view.scores.mean - truth) <= level).mean())


GOALS: Registry[GoalKind] = Registry("goal")
GOALS.add(
    "order",
    GoalKind(
        lambda view: mean_of_pairs(view.promise),
        lambda view, truth, _: mean_of_pairs(view.orders_kept(truth)),
        0.95,
        "mean probability that the order of two systems is right",
    ),
)
GOALS.add(
    "every",
    GoalKind(
        lambda view: _least(view, view.promise),
        lambda view, truth, _: _least(view, view.orders_kept(truth)),
        0.95,
        "probability that the order is right, in every pair",
    ),
)
GOALS.add(
    "winner",
    GoalKind(
        lambda view: view.top_promise(1),
        lambda view, truth, _: _first_are(view, truth, 1),
        0.95,
        "probability that the first system is the best",
        "winner",
    ),
)
GOALS.add(
    "top",
    GoalKind(
        lambda view: view.top_promise(view.top),
        lambda view, truth, _: _first_are(view, truth, view.top),
        0.95,
        "probability that the first systems are the best ones",
        "top",
    ),
)
GOALS.add(
    "tau",
    GoalKind(
        lambda view: 2 * view.mean_confidence - 1,
        lambda view, truth, _: 2 * mean_of_pairs(view.signs_right(truth, view.zone)) - 1,
        0.9,
        "expected Kendall correlation with the truth",
    ),
)
GOALS.add(
    "tau_ap",
    GoalKind(
        lambda view: _expected_tau_ap(view, view.confidence),
        lambda view, truth, _: _expected_tau_ap(view, view.signs_right(truth, view.zone)),
        0.9,
        "expected AP correlation with the truth",
        "ranks",
    ),
)
GOALS.add(
    "scores",
    GoalKind(_widest, _inside, 0.05, "half-width of the widest 95 % interval of a score", "variance", falling=True),
)
GOALS.add(
    "confidence",
    GoalKind(
        lambda view: view.mean_confidence,
        lambda view, truth, _: mean_of_pairs(view.signs_right(truth, view.zone)),
        0.95,
        "mean confidence over all pairs of systems",
    ),
)
GOALS.add(
    "pairs",
    GoalKind(
        lambda view: _least(view, view.confidence),
        lambda view, truth, _: _least(view, view.signs_right(truth, view.zone)),
        0.95,
        "confidence in every pair of systems",
    ),
)
GOALS.add(
    "error", GoalKind(_half_width, _inside, 0.05, "half-width of the 95 % interval of a typical score", falling=True)
)


def noticeable_zone(measure: str, scale: Scale) -> float:
    """The smallest difference that most users notice on a query; smaller ones may count as a tie.

    From the user study of 2012 (:mod:`adjudge.users.noticing`); refused for measures and scales that it did not study.

    >>> from adjudge.model.scales import FINE
    >>> round(noticeable_zone("CG@5", FINE), 2)
    0.29
    """
    agreement = find_agreement(measure, scale.name)
    zone = None if agreement.mapping is None else noticeable_difference(agreement.mapping)
    if zone is None:
        raise AdjudgeError(f"What users notice is not known: {agreement.reason or 'no difference is noticed by most'}.")
    return zone


@dataclass(frozen=True)
class Goal:
    """A kind of goal and its level.

    Differences below ``zone`` do not matter: systems that are surely that near are a tie. At least ``least`` judgments
    are made whatever the model says, by default one per query, as beliefs about variances are weak before that.
    ``correction`` multiplies the error that the model claims, for models that claim too little. ``top`` is how many
    systems count as the best ones.
    """

    kind: str = "order"
    level: float | None = None
    zone: float = 0.01
    least: int | None = None
    correction: float = 1.0
    top: int = 3

    constraints: ClassVar[Constraints] = {
        "zone": SHARE_BELOW_ALL,
        "least": COUNT_OR_NONE,
        "correction": POSITIVE,
        "top": COUNT,
    }

    def __post_init__(self) -> None:
        constraint = POSITIVE if GOALS[self.kind].falling else CONFIDENCE
        if self.level is not None:
            constraint.check("level", self.level, where=f"Goal {self.kind}: ")
        check_all(self, where="Goal: ")

    @property
    def rule(self) -> str:
        """The rule that serves it."""
        return GOALS[self.kind].rule

    @property
    def wanted(self) -> float:
        """The level to reach."""
        return GOALS[self.kind].level if self.level is None else self.level

    def view(self, model: RelevanceModel) -> View:
        """What a model says, as this goal looks at it."""
        return View(model, self.zone, self.top)

    def value(self, view: View) -> float:
        """What the goal is about, as the view has it."""
        kind = GOALS[self.kind]
        return kind.value(view) * (self.correction if kind.falling else 1.0)

    def kept(self, view: View, truth: Floats) -> float:
        """What of it is true, given the true scores: its value as it is, 1 or 0, or the share of scores within it."""
        return GOALS[self.kind].kept(view, truth, self.wanted)

    def check_systems(self, n_systems: int) -> None:
        """Refuse a goal about more first systems than there are others."""
        if self.kind == "top" and self.top >= n_systems > 1:
            raise AdjudgeError(f"Goal top: 'top' must be below the number of systems, {n_systems}, got {self.top}")

    def lacking(self, view: View) -> int:
        """Judgments to make before the model is believed."""
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
        kind = GOALS["winner" if self.kind == "top" and self.top == 1 else self.kind]
        zone = f" (differences below {self.zone:.3g} do not matter)" if self.zone and not kind.falling else ""
        about = kind.about.replace("the first systems", f"the first {self.top} systems")
        return f"{about} {'≤' if kind.falling else '≥'} {self.wanted:g}{zone}"


GOAL = Kind(Goal | str, "a goal (adjudge.relevance.Goal) or the name of one")


def as_goal(goal: Goal | str | None) -> Goal:
    """A goal from itself, or the usual one of its name; the default from None.

    >>> as_goal("tau") == Goal("tau"), as_goal(None) == Goal()
    (True, True)
    """
    return Goal(goal) if isinstance(goal, str) else goal or Goal()
