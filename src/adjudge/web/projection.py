"""How many judgments a campaign still needs: the model is asked what it would believe after more of them.

How sure a model will be hardly depends on the grades to come, only on what is judged. So the most telling candidates
are judged in thought, some more at a time, each with the grade that is expected of it; what the model then claims to
know less doubtfully is by how much its scores would have moved. Paths of scores are drawn that move by just that, and
each ends where it reaches the goal. A path that ends somewhat earlier than the middle one is the projection, for paths
are looked at between steps only while a campaign is looked at all the time; the range is that of eight paths in ten,
made wider by what such projections were wrong by on collections judged in full.

This needs no answer to begin with. A line drawn through the progress made so far does, and it was wrong by a factor of
2.2 on average where this was wrong by 1.2: progress goes in leaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.relevance.base import RelevanceModel, Scores, View, start
from adjudge.relevance.choosing import RULES, choose
from adjudge.relevance.hierarchical.model import HierarchicalModel, last_due
from adjudge.relevance.session import Session

PATHS = 24
_LEAST_STEP = 20  # judgments in thought at a time, at least
_STEP = 0.25  # of those that are made
_QUANTILES = (0.1, 0.3, 0.9)  # of where paths end: low, projection, high
_WIDER = 1.5  # what is left is divided and multiplied by this at the ends of the range
_WHY_UNKNOWN = "the model expects that the goal may not be reached before nearly everything is judged"


@dataclass(frozen=True)
class Projection:
    """Judgments in all when the goal is reached, told after ``judged``; None where it cannot be said, and why."""

    judged: int
    total: int | None
    low: int | None
    high: int | None
    why: str | None = None

    def left(self, judged: int) -> tuple[int | None, int | None, int | None]:
        """What is left after so many judgments: the number, and its range."""
        ends = (self.total, self.low, self.high)
        middle, low, high = (None if end is None else max(0, end - judged) for end in ends)
        return middle, low, high


def project(session: Session, *, paths: int = PATHS, seed: int = 0) -> Projection:
    """Judgments that a session will have made when it reaches its goal.

    >>> import adjudge as aj
    >>> from adjudge.relevance.session import judging
    >>> session = judging(aj.demo(queries=10, depth=5), "CG@5", estimator="hierarchical")
    >>> project(session).left(len(session.candidates))  # everything is judged already
    (0, 0, 0)
    """
    judged, most = session.view.n_judged, len(session.candidates)
    if session.done:
        return Projection(judged, judged, judged, judged)
    if session.goal.met(session.view):
        enough = judged + session.goal.lacking(session.view)
        return Projection(judged, enough, enough, enough, "the goal is met, but a few more are wanted to believe it")
    try:
        with kept_warnings():  # the session said it all already
            ends = _ends(session, paths, np.random.default_rng([seed, judged]))
    except (AdjudgeError, np.linalg.LinAlgError) as error:
        return Projection(judged, None, None, None, f"the model cannot be asked about the future: {error}")
    return _summary(ends, judged, most, judged + session.goal.lacking(session.view))


def _summary(ends: Floats, judged: int, most: int, least: int) -> Projection:
    """Projection and range from where paths end; infinite ends did not."""
    low, middle, high = np.quantile(np.minimum(ends, most), _QUANTILES)
    low, high = judged + (low - judged) / _WIDER, judged + (high - judged) * _WIDER
    total, first, last = (int(np.clip(round(float(end)), least, most)) for end in (middle, low, high))
    if np.isinf(ends).mean() > 0.5:
        return Projection(judged, None, first, most, _WHY_UNKNOWN)
    return Projection(judged, total, first, last)


def _ends(session: Session, paths: int, rng: np.random.Generator) -> Floats:
    """Where each path reaches the goal, between the steps before and after; infinite where it does not."""
    goal, before, n_before = session.goal, session.model.scores(), session.view.n_judged
    means = np.repeat(before.mean[None], paths, axis=0)
    values = np.full(paths, goal.value(session.view))
    ends = np.full(paths, np.inf)
    for model in _futures(session):
        after, n = model.scores(), int(np.count_nonzero(model.judged))
        means += _moves(before.covariance - after.covariance, paths, rng)
        for path in np.flatnonzero(np.isinf(ends)):
            view = View(_Believing(model, Scores(means[path], after.covariance)), goal.zone)
            value = goal.value(view)
            if goal.met(view):
                ends[path] = n_before + (n - n_before) * (goal.wanted - values[path]) / (value - values[path])
            values[path] = value
        if np.isfinite(ends).mean() > _QUANTILES[-1]:
            break
        before, n_before = after, n
    return ends


def _moves(learned: Floats, paths: int, rng: np.random.Generator) -> Floats:
    """Changes of scores by so much covariance, paths x systems; what is below 0 is rounding, or a change of mind."""
    values, vectors = np.linalg.eigh((learned + learned.T) / 2)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    moves: Floats = rng.standard_normal((paths, len(values))) @ root.T
    return moves


def _futures(session: Session) -> Iterator[RelevanceModel]:
    """Models that know more and more of the most telling candidates, graded as expected, until all but one are."""
    model, options = session.model, _options(session)
    expected = np.clip(model.mean, 0.0, 1.0)
    known = np.where(model.judged, expected, np.nan)
    n, most = int(np.count_nonzero(model.judged)), len(session.candidates)
    priority = np.random.default_rng(session.seed).permutation(most).astype(np.float64)
    while n + 1 < most:
        view = View(model, session.goal.zone)
        wanted = n + max(_LEAST_STEP, int(_STEP * n))
        wanted = max(n + 1, last_due(wanted))  # up to there a hierarchical model learns everything at once
        chosen = choose(RULES[session.rule](model)(view), view, priority, min(wanted, most - 1) - n)
        known[chosen] = expected[chosen]
        model = start(
            session.estimator, replace(session.candidates, relevance=known.copy()), session.scoring, **options
        )
        n += len(chosen)
        yield model


def _options(session: Session) -> dict[str, Any]:
    """Options of the estimator; variances stay as they are, for expected grades vary too little to learn them from."""
    options = dict(session.options)
    if isinstance(session.model, HierarchicalModel):
        options.pop("prior_variances", None)
        options["variances"] = session.model.variances
    return options


class _Believing(RelevanceModel):
    """A model of the future with other scores."""

    def __init__(self, model: RelevanceModel, scores: Scores) -> None:
        self._model, self._scores = model, scores
        self.candidates, self.scoring, self.judged = model.candidates, model.scoring, model.judged
        self.inflation, self.confidence_df = model.inflation, model.confidence_df

    @property
    def mean(self) -> Floats:
        return self._model.mean

    @property
    def variance(self) -> Floats:
        return self._model.variance

    def judge(self, pair: int, relevance: float) -> None:
        raise AdjudgeError("What is only thought of cannot be judged.")

    def scores(self) -> Scores:
        return self._scores

    def influence(self) -> Floats:
        return self._model.influence()

    def query_scores(self) -> tuple[Floats, Floats]:
        return self._model.query_scores()
