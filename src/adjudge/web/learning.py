"""What the low-cost engine knows of one campaign: a session that is kept up with the answers.

A session says what :class:`~adjudge.relevance.session.Session` says when it is fed the grades in the order in which
pairs were first answered, however it came about: by judging new pairs one by one, or, where a grade changed (a second
assessor, a correction, an erasure), by learning everything again. A server that starts anew finds the same numbers.

The grade of a pair is the mean over its assessors, on the scale that is evaluated. Measures that ask whether a document
is relevant cannot do with halves: there the grade is what most assessors said, and the lower one where they are split.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from adjudge.relevance.base import start
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.hierarchical.model import HierarchicalModel, last_due
from adjudge.relevance.session import Session
from adjudge.web.answers import CurrentGrade
from adjudge.web.campaign_rows import Campaign
from adjudge.web.hearing import heard_clips
from adjudge.web.holdings import candidates_of
from adjudge.web.judging_settings import JudgingSettings
from adjudge.web.schema import item, run

FOLDS = 4
"""Models that each do not hear some of the assessors; see ``Learner.expected``."""

Pair = tuple[str, str]


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


def candidates_digest(connection: Connection, found: Campaign) -> str:
    """A digest of what candidates depend on: runs, teams, facts about documents, their sound, cutoff and scale."""
    digest = hashlib.sha256()
    runs = select(run.c.system, run.c.team, run.c.sha256).where(run.c.campaign_id == found.id).order_by(run.c.system)
    facts = select(item.c.role, item.c.identifier, item.c.facts).where(item.c.campaign_id == found.id)
    settings = found.judging
    parts: list[Any] = [[settings.cutoff, str(settings.evaluated.scale)]]
    parts += [list(row) for row in connection.execute(runs)]
    parts += sorted([list(row) for row in connection.execute(facts)], key=lambda row: row[:2])
    parts += [list(row) for row in heard_clips(connection, found)] if settings.by_sound else []
    for part in parts:
        digest.update(json.dumps(part, sort_keys=True, ensure_ascii=False).encode())
    return digest.hexdigest()


class Learner:
    """The session of one campaign in memory."""

    def __init__(self) -> None:
        self._digest: str | None = None
        self._asked: tuple[Any, ...] | None = None
        self._learned: dict[Pair, float] = {}
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
        self, connection: Connection, found: Campaign, grades: Sequence[CurrentGrade], *, last_event: int
    ) -> None:
        """Bring the session up to the answers; what organisers did may have changed what there is to judge."""
        if self._candidates is None or last_event != self._last_event:
            self._load(connection, found)
            self._last_event = last_event
        pool = self._pool
        settings = found.judging
        asked = (settings.measure, settings.estimator, settings.rule, settings.goal, settings.seed)
        if asked != self._asked or self._session is None:
            self._session, self._learned, self._asked = session_of(pool, settings), {}, asked
        wanted = pair_grades(grades, settings.evaluated.name, binary=self.session.scoring.binary)
        self._follow(found, {pair: grade for pair, grade in wanted.items() if pair in pool})

    @property
    def _pool(self) -> Candidates:
        if self._candidates is None:
            raise RuntimeError("Nothing was loaded yet.")
        return self._candidates

    def _load(self, connection: Connection, found: Campaign) -> None:
        digest = candidates_digest(connection, found)
        if digest != self._digest:
            self._candidates, self._digest, self._session = candidates_of(connection, found), digest, None

    def _follow(self, found: Campaign, wanted: dict[Pair, float]) -> None:
        """Judge what is new; learn everything again where something else changed."""
        judged, before = list(wanted.items()), list(self._learned.items())
        session, due = self._session, last_due(len(judged))
        if session is None or judged[: len(before)] != before or due > len(before):
            # Variances are estimated from the judgments up to the last time that they were due, also one by one.
            session, before = session_of(self._pool.judged_as(dict(judged[:due])), found.judging), judged[:due]
        self._session, self._learned = None, {}  # should something fail now, everything is learned again
        for (query, document), grade in judged[len(before) :]:
            session.judge(query, document, grade)
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
        session, options = self.session, dict(self.session.options)
        if isinstance(session.model, HierarchicalModel):
            options = {**options, "variances": session.model.variances}
        known = self._pool.judged_as(pair_grades(kept, scale, binary=session.scoring.binary))
        mean = start(session.estimator, known, session.scoring, **options).mean
        places = [self._pool.find(g.query, g.document) for g in out]
        return {
            (g.assessor, g.pair_id): float(mean[place]) * known.scale.maximum
            for g, place in zip(out, places, strict=True)
            if not known.judged[place]
        }


def session_of(pool: Candidates, settings: JudgingSettings) -> Session:
    """A session as a campaign asks for it, with what is judged among the candidates."""
    return Session(
        pool,
        settings.measure,
        estimator=settings.estimator,
        rule=settings.rule,
        goal=settings.goal.goal,
        seed=settings.seed,
    )
