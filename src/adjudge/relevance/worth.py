"""What to pay for next: judgments, second opinions of what is judged, or further queries.

A session says how sure the order of systems is, on its queries and on queries like these. What would the next budget
add? With m and s² expectation and variance of a difference now, and s'² < s² its variance afterwards, the expectation
will have moved to m' ~ N(m, s² - s'²), and the order will be right with probability

    E F((|m'| + h) / s'),

with h half of the smallest difference that there can be, 0 for queries like these. This is how sure the session can
expect to be. More judgments take from what is not known of these queries: the model judges the most telling candidates
in thought, with the grades that it expects. Further queries, judged as these are, take from everything that a sample of
n queries leaves open: it becomes n / (n + more) of what it is, as in a D-study.
Where assessors are noisy, so do second opinions of judged candidates, from what their answers left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from scipy.special import ndtr, stdtr

from adjudge.checks import POSITIVE, checked
from adjudge.errors import kept_warnings
from adjudge.parallel import one_thread
from adjudge.relevance.base import RelevanceModel, Scores, mean_of_pairs, on_new_queries, start, variance_of_systems
from adjudge.relevance.hierarchical.model import HierarchicalModel
from adjudge.relevance.known_item import KnownItemModel
from adjudge.relevance.lists import step_of
from adjudge.relevance.session import Session
from adjudge.results import Column, Rows
from adjudge.stats.gtheory.plan import Costs
from adjudge.text import counted

IN_THOUGHT = "\0"
"""An assessor who is none of those there are."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class NextStep:
    """What the budget buys, and how sure the order of systems would be."""

    step: Annotated[str, Column("what to pay for", key=True)]
    here: Annotated[float | None, Column("expected confidence in signs on these queries", ".3f", label="these queries")]
    new: Annotated[float | None, Column("the same for queries like these", ".3f", label="new queries")]


class NextSteps(Rows[NextStep]):
    """What a budget can buy."""

    @property
    def best(self) -> str | None:
        """What adds most to what is known of queries like these; None where nothing adds."""
        now, *steps = self
        gains = [(step.new - now.new, step.step) for step in steps if step.new is not None and now.new is not None]
        gain, step = max(gains, default=(0.0, ""))
        return step if gain > 0 else None

    @property
    def sentence(self) -> str:
        """The same in words; none where nothing adds."""
        sure = {step.step: step.new for step in self}
        if self.best is None:
            return ""
        return (
            f"More effort tells most about queries like these if it goes into {self.best}: mean confidence in the "
            f"order of two systems would rise from {self[0].new:.3f} to {sure[self.best]:.3f}."
        )


@one_thread()
@checked(budget=POSITIVE)
def next_steps(session: Session, *, costs: Costs | None = None, budget: float | None = None) -> NextSteps:
    """How sure the order of systems can become for a budget, by what it is spent on.

    ``costs`` are those of a judgment and of a query. The usual ``budget`` is a quarter of what was spent so far, and at
    least what one more query costs, judged as much as these are.

    >>> import adjudge as aj
    >>> from adjudge.relevance import judging
    >>> session = judging(aj.demo(queries=10, depth=5), "CG@5", estimator="uniform")
    >>> print(next_steps(session, costs=Costs(query=100)))
    What a budget of 368 buys
    step            these queries  new queries
    nothing                 1.000        0.793
    2 more queries              –        0.813
    A judgment costs 1, a query 100; new queries are judged as much as these are.
    """
    prices, view, n = costs or Costs(), session.view, session.candidates.n_queries
    each = prices.query + max(view.n_answers / n, 1.0) * prices.judgment
    spent = max(each, n * each / 4) if budget is None else budget
    here, there, sampling = view.scores, view.elsewhere, view.sampling
    df, inflation, half = session.model.confidence_df, session.model.order_inflation, session.model.step / 2
    tau2 = variance_of_systems(here, sampling) if sampling is not None and len(here.mean) > 1 else None

    def of_new(after: Scores, n_after: int) -> float | None:
        if there is None or sampling is None:
            return None
        return expected_confidence(there, on_new_queries(after, sampling * (n / n_after), tau2), n_after - 1)

    steps = [NextStep("nothing", expected_confidence(here, here, df, inflation, half), of_new(here, n))]
    affordable = len(session.candidates) if prices.judgment == 0 else int(spent / prices.judgment + 1e-9)
    noisy = isinstance(session.model, HierarchicalModel) and session.model.noisy
    for step, again in (("more judgment", False), *([("second opinion", True)] if noisy else [])):
        asked = session.most_telling(affordable, again=again) if affordable else []
        if asked:
            after = replace(here, covariance=_judged_in_thought(session, asked).scores().covariance)
            sure = expected_confidence(here, after, df, inflation, half)
            steps.append(NextStep(counted(len(asked), step), sure, of_new(after, n)))
    more = int(spent / each + 1e-9)
    if more and there is not None:
        after = replace(here, covariance=here.covariance * (n / (n + more)))
        steps.append(NextStep(counted(more, "more query"), None, of_new(after, n + more)))
    prices_in_words = f"A judgment costs {prices.judgment:g}, a query {prices.query:g}"
    notes = (f"{prices_in_words}; new queries are judged as much as these are.",)
    return NextSteps(NextStep, tuple(steps), f"What a budget of {_shown_cost(spent)} buys", notes)


def _shown_cost(cost: float) -> str:
    """Three digits, or all before the point."""
    return f"{cost:,.0f}" if cost >= 100 else f"{cost:.3g}"


def expected_confidence(
    now: Scores, after: Scores, df: int | None = None, inflation: float = 1.0, half: float = 0.0
) -> float:
    """Mean over pairs of E F((|m'| + h) / s'), with what is learned on the way from ``now`` to ``after`` still to come.

    >>> now, after = (Scores(np.array([0.4, 0.5]), v * np.eye(2)) for v in (0.005, 0.0))
    >>> round(expected_confidence(now, now), 3), expected_confidence(now, after)
    (0.841, 1.0)
    """
    expected, variance = now.differences()
    left = np.minimum(after.differences()[1], variance) * inflation
    moved = expected[..., None] + np.sqrt(variance * inflation - left)[..., None] * _NODES
    certain = left == 0
    z = (np.abs(moved) + half) / np.sqrt(np.where(certain, 1.0, left))[..., None]
    sure = (ndtr(z) if df is None else stdtr(df, z)) @ _WEIGHTS
    return mean_of_pairs(np.where(certain, 1.0, sure))


def _judged_in_thought(session: Session, places: Sequence[int]) -> RelevanceModel:
    """The model once somebody else has judged some candidates, each with the grade that is expected."""
    expected = np.clip(session.model.mean, 0.0, 1.0)
    if session.scoring.drawn is not None or isinstance(session.model, KnownItemModel):  # a part of a grade is none
        step = step_of(session.candidates.scale)
        expected = np.rint(expected / step) * step
    known = session.candidates.with_answers(
        {**session.model.answers, **{(place, IN_THOUGHT): float(expected[place]) for place in places}}
    )
    with kept_warnings():  # the session said it all already
        return start(session.estimator, known, session.scoring, **settled_options(session))


def settled_options(session: Session) -> dict[str, Any]:
    """Options of the estimator; variances stay as they are, for expected grades vary too little to learn them from."""
    options = dict(session.options)
    if isinstance(session.model, HierarchicalModel):
        options.pop("prior_variances", None)
        options |= {"variances": session.model.variances, "noise": session.model.noise}
    return options
