"""What the low-cost engine knows of a campaign: a session that follows the answers, and how many judgments are left.

A session says what :class:`~adjudge.relevance.session.Session` says when it gets the grades in the order in which
pairs were first answered, however it came about: by judging new pairs one by one, or, where a grade changed (a second
assessor, a correction, an erasure), by learning everything again. A server that starts again finds the same numbers.

Grades are on the scale that is evaluated. The hierarchical estimator hears every assessor; where several may judge a
pair it takes them for noisy from the start. Others get one grade per pair, the mean over its assessors, or what most of
them said where a measure asks whether a document is relevant, the lower one where they are split.

The projection asks the model what it would believe after more judgments. How sure a model will be depends on what is
judged and hardly on the grades. So the most telling candidates are judged hypothetically, some more at a time, each
with its expected grade; the uncertainty that this removes is how far the scores would have moved. Paths of scores are
drawn that move by as much, and each ends where it reaches the goal. The projection is a path that ends somewhat earlier
than the median, because paths are looked at between steps only and a campaign all the time; its range holds eight paths
in ten, widened by the errors of such projections on collections that are judged in full.

The projection needs no answer to begin with. A line through the progress so far does, and was wrong by a factor of 2.2
on average where this was wrong by 1.2, because progress is uneven. A goal that is reached early is harder to project:
`order` takes 140 judgments of MIREX 2011, and the projection is wrong by a factor of up to 2.8 on the way.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, select

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.relevance.base import RelevanceModel, Scores, start, symmetric_root
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.choosing import RULES, choose
from adjudge.relevance.hierarchical.model import last_due
from adjudge.relevance.session import Session
from adjudge.relevance.worth import IN_THOUGHT, settled_options
from adjudge.web.kinds.judging.settings import JudgingSettings, settings_of
from adjudge.web.kinds.judging.sound import heard_clips
from adjudge.web.kinds.judging.store import CurrentGrade, candidates_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign

if TYPE_CHECKING:
    from adjudge.arrays import Floats

FOLDS = 4
"""Models that each do not hear some of the assessors; see ``Learner.expected``."""

Pair = tuple[str, str]
Judged = tuple[str, str] | tuple[str, str, str]
"""Query, document, and the assessor where the estimator weighs assessors."""


@dataclass(frozen=True)
class PairRow:
    """A pair as the store keeps it."""

    id: int
    query: str
    document: str
    wanted: int
    taken: int
    answered: int
    held: bool


def judgments_of(grades: Iterable[CurrentGrade], scale: str, session: Session) -> dict[Judged, float]:
    """What a session learns, in the order of the first answers: by pair and assessor, or one grade per pair."""
    if not session.model.weighs_assessors:
        return dict[Judged, float](pair_grades(grades, scale, binary=session.scoring.binary).items())
    ordered = sorted((grade for grade in grades if scale in grade.grades), key=lambda grade: grade.answer_id)
    return {(grade.query, grade.document, grade.assessor): grade.grades[scale] for grade in ordered}


def knowing(pool: Candidates, judged: Mapping[Judged, float]) -> Candidates:
    """The candidates with these judgments alone."""
    return pool.with_answers(
        {(pool.find(q, d), "".join(who)): pool.to_relevance(grade) for (q, d, *who), grade in judged.items()}
    )


def pair_grades(grades: Iterable[CurrentGrade], scale: str, *, binary: bool) -> dict[Pair, float]:
    """One grade a pair, in the order in which pairs were first answered."""
    given: dict[Pair, list[float]] = defaultdict(list)
    for grade in sorted(grades, key=lambda grade: grade.answer_id):
        if scale in grade.grades:
            given[grade.query, grade.document].append(grade.grades[scale])
    return {pair: _majority(said) if binary else float(np.mean(said)) for pair, said in given.items()}


def _majority(said: Sequence[float]) -> float:
    """The grade of most, the lowest of those that are as frequent."""
    values, counts = np.unique(said, return_counts=True)
    return float(values[np.argmax(counts)])


def candidates_digest(connection: Connection, campaign: Campaign) -> str:
    """A digest of what candidates depend on: runs, teams, facts about documents, their sound, cutoff and scale."""
    digest = hashlib.sha256()
    runs = (
        select(t.run.c.system, t.run.c.team, t.run.c.sha256)
        .where(t.run.c.campaign_id == campaign.id)
        .order_by(t.run.c.system)
    )
    facts = select(t.item.c.role, t.item.c.identifier, t.item.c.facts).where(t.item.c.campaign_id == campaign.id)
    settings = settings_of(campaign)
    parts: list[Any] = [[settings.cutoff, str(settings.evaluated.scale)]]
    parts += [list(row) for row in connection.execute(runs)]
    parts += sorted([list(row) for row in connection.execute(facts)], key=lambda row: row[:2])
    parts += [list(row) for row in heard_clips(connection, campaign)] if settings.by_sound else []
    for part in parts:
        digest.update(json.dumps(part, sort_keys=True, ensure_ascii=False).encode())
    return digest.hexdigest()


class Learner:
    """The session of one campaign in memory."""

    def __init__(self) -> None:
        self._digest: str | None = None
        self._asked: tuple[Any, ...] | None = None
        self._learned: dict[Judged, float] = {}
        self._candidates: Candidates | None = None
        self._session: Session | None = None
        self._last_event: int | None = None

    @property
    def session(self) -> Session:
        """What is believed after the last ``learn``."""
        if self._session is None:
            raise RuntimeError("Nothing was learned yet.")
        return self._session

    def learn(
        self, connection: Connection, campaign: Campaign, grades: Sequence[CurrentGrade], *, last_event: int
    ) -> None:
        """Bring the session up to the answers; what organisers did may have changed what there is to judge."""
        if self._candidates is None or last_event != self._last_event:
            self._load(connection, campaign)
            self._last_event = last_event
        pool = self._pool
        settings = settings_of(campaign)
        asked = (
            settings.measure, settings.estimator, settings.rule, settings.goal, settings.seed,
            settings.judged_by, settings.second_opinions, settings.audit,
        )  # fmt: skip
        if asked != self._asked or self._session is None:
            self._session, self._learned, self._asked = session_of(pool, settings), {}, asked
        wanted = judgments_of(grades, settings.evaluated.name, self.session)
        self._follow(campaign, {judged: grade for judged, grade in wanted.items() if judged[:2] in pool})

    @property
    def _pool(self) -> Candidates:
        if self._candidates is None:
            raise RuntimeError("Nothing was loaded yet.")
        return self._candidates

    def _load(self, connection: Connection, campaign: Campaign) -> None:
        digest = candidates_digest(connection, campaign)
        if digest != self._digest:
            self._candidates, self._digest, self._session = candidates_of(connection, campaign), digest, None

    def _follow(self, campaign: Campaign, wanted: dict[Judged, float]) -> None:
        """Judge what is new; learn everything again where something else changed."""
        judged, before = list(wanted.items()), list(self._learned.items())
        session, due = self._session, last_due(len(judged))
        self._session, self._learned = None, {}  # should something fail now, everything is learned again
        if session is None or judged[: len(before)] != before or due > len(before):
            session = session_after(self._pool, settings_of(campaign), wanted)
        else:
            _judge(session, judged[len(before) :])
        self._session, self._learned = session, wanted

    def expected(self, grades: Sequence[CurrentGrade], scale: str) -> dict[tuple[str, int], float]:
        """What models that did not hear an assessor expect of what they judged, by (assessor, pair), as grades.

        Assessors are dealt out to ``FOLDS`` groups, and a model learns from all groups but one. With a single assessor
        pairs are dealt out instead: then a model knows their other answers, which tells of drift, not of severity.
        """
        people = sorted({grade.assessor for grade in grades})
        n_folds = min(FOLDS, len(people)) if len(people) > 1 else FOLDS
        fold_of = {code: place % n_folds for place, code in enumerate(people)}
        found: dict[tuple[str, int], float] = {}
        usable = [g for g in grades if (g.query, g.document) in self._pool and scale in g.grades]
        for fold in range(n_folds):
            out = [g for g in usable if (fold_of[g.assessor] if len(people) > 1 else g.pair_id % n_folds) == fold]
            left_out = {id(g) for g in out}
            kept = [g for g in usable if id(g) not in left_out]
            found.update(self._expected_by(kept, out, scale))
        return found

    def _expected_by(
        self, kept: Sequence[CurrentGrade], out: Sequence[CurrentGrade], scale: str
    ) -> dict[tuple[str, int], float]:
        if not kept or not out:
            return {}
        session = self.session
        known = knowing(self._pool, judgments_of(kept, scale, session))
        mean = start(session.estimator, known, session.scoring, **settled_options(session)).mean
        places = [self._pool.find(g.query, g.document) for g in out]
        return {
            (g.assessor, g.pair_id): float(mean[place]) * known.scale.maximum
            for g, place in zip(out, places, strict=True)
            if not known.judged[place]
        }


def session_of(pool: Candidates, settings: JudgingSettings) -> Session:
    """A session as a campaign asks for it, with what is judged among the candidates."""
    weighs = settings.judged_by > 1 and settings.estimator == "hierarchical"
    return Session(
        pool,
        settings.measure,
        estimator=settings.estimator,
        rule=settings.rule,
        goal=settings.goal.goal,
        seed=settings.seed,
        options={"noisy": True} if weighs else None,
        per_pair=settings.judged_by if settings.second_opinions else 1,
        audit=settings.audit,
    )


def session_after(pool: Candidates, settings: JudgingSettings, judged: Mapping[Judged, float]) -> Session:
    """A session after these judgments, as if they had come one by one.

    Variances are estimated from the judgments up to the last time that they were due; these are learned at once.
    """
    given = list(judged.items())
    due = last_due(len(given))
    session = session_of(knowing(pool, dict(given[:due])), settings)
    _judge(session, given[due:])
    return session


def _judge(session: Session, given: Iterable[tuple[Judged, float]]) -> None:
    for (query, document, *who), grade in given:
        session.judge(query, document, grade, *who)


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
        """What is left after a number of judgments, with its range."""
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
            view = goal.view(_ModelWithScores(model, Scores(means[path], after.covariance)))
            value = goal.value(view)
            if goal.met(view):
                ends[path] = n_before + (n - n_before) * (goal.wanted - values[path]) / (value - values[path])
            values[path] = value
        if np.isfinite(ends).mean() > _QUANTILES[-1]:
            break
        before, n_before = after, n
    return ends


def _moves(learned: Floats, paths: int, rng: np.random.Generator) -> Floats:
    """Changes of scores with this covariance, paths x systems; what is below 0 is rounding, or a change of mind."""
    moves: Floats = rng.standard_normal((paths, len(learned))) @ symmetric_root((learned + learned.T) / 2)
    return moves


def _futures(session: Session) -> Iterator[RelevanceModel]:
    """Models that know more and more of the most telling candidates, graded as expected, until all but one are.

    Each of them is judged by as many as were judged by so far, on average.
    """
    model, options = session.model, settled_options(session)
    expected, known = np.clip(model.mean, 0.0, 1.0), dict(model.answers)
    each = round(len(known) / max(session.view.n_judged, 1)) or 1
    n, most = int(np.count_nonzero(model.judged)), len(session.candidates)
    priority = np.random.default_rng(session.seed).permutation(most).astype(np.float64)
    while n + 1 < most:
        view = session.goal.view(model)
        wanted = n + max(_LEAST_STEP, int(_STEP * n))
        wanted = max(n + 1, last_due(wanted))  # up to there a hierarchical model learns everything at once
        chosen = choose(RULES[session.rule](model)(view), view, priority, min(wanted, most - 1) - n)
        known |= {(pair, f"{IN_THOUGHT}{who}"): float(expected[pair]) for pair in chosen for who in range(each)}
        model = start(session.estimator, session.candidates.with_answers(known), session.scoring, **options)
        n += len(chosen)
        yield model


class _ModelWithScores(RelevanceModel):
    """A model of the future with other scores."""

    def __init__(self, model: RelevanceModel, scores: Scores) -> None:
        self._model, self._scores = model, scores
        self.candidates, self.scoring, self.judged = model.candidates, model.scoring, model.judged
        self.inflation, self.order_inflation = model.inflation, model.order_inflation
        self.top_inflation, self.confidence_df = model.top_inflation, model.confidence_df

    @property
    def mean(self) -> Floats:
        return self._model.mean

    @property
    def variance(self) -> Floats:
        return self._model.variance

    def judge(self, pair: int, relevance: float, assessor: str = "") -> None:
        raise AdjudgeError("What is only thought of cannot be judged.")

    def scores(self) -> Scores:
        return self._scores

    def influence(self) -> Floats:
        return self._model.influence()

    def query_scores(self) -> tuple[Floats, Floats, Floats]:
        return self._model.query_scores()
