"""The dashboard of a judging campaign: ranking, confidence, what is left to do, and how people judge.

Everything is computed from answers as they stand. Pace counts the time between two answers unless it is longer than a
break. Severity and drift compare somebody's grades with those of others for the same pair, or, where nobody else judged
it, with what a model that did not learn from them expects.

A snapshot replaces the one before it as a whole, with the next version, in the transaction that lays the queue.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection, insert, select

from adjudge.io import plain
from adjudge.relevance.audit import Audit
from adjudge.relevance.session import Session, SystemPair
from adjudge.relevance.worth import NextSteps, next_steps
from adjudge.stats.agreement import Ratings, agreement
from adjudge.stats.agreement_coefficients import drift, self_consistency
from adjudge.web.kinds.base import COST, SECONDS, Costly, Moment, Observer, Snapshot
from adjudge.web.kinds.judging.session import Learner, PairRow, Projection, project
from adjudge.web.kinds.judging.settings import AskedScale, settings_of
from adjudge.web.kinds.judging.sound import hear
from adjudge.web.kinds.judging.store import CurrentGrade, RepeatedAnswer, ask_again, current_grades, repeats
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import LIVE_SECONDS, Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.leases import lay_queue
from adjudge.web.store.snapshots import Basis, as_reached, campaign_row, problems

BREAK_SECONDS = 300.0
"""A longer time between two answers is a break."""
FEWEST_SHARED = 5
"""Pairs that somebody must share with others before severity is held against them alone."""
_DRAWS = 500


@dataclass(frozen=True)
class LoggedAnswer:
    """One row of the answers, with what monitoring needs."""

    assessor: str
    pair_id: int
    kind: str
    at: float
    took_ms: int | None
    heard_ms: int
    reason: str | None
    comment: str | None


@dataclass(frozen=True)
class Person:
    """A participant as organisers see them."""

    code: str
    name: str | None
    seen_at: float
    can_come: bool = True  # not erased, and not only the name in a file of judgments

    def is_live(self, now: float) -> bool:
        """Whether they are there now."""
        return self.can_come and now - self.seen_at <= LIVE_SECONDS


@dataclass(frozen=True)
class Activity:
    """Everything that people did in a campaign, read at one moment."""

    people: tuple[Person, ...]
    log: tuple[LoggedAnswer, ...]
    grades: tuple[CurrentGrade, ...]
    repeats: tuple[RepeatedAnswer, ...]


def watch(connection: Connection, campaign_id: int) -> Activity:
    """Read what people did."""
    log = _log(connection, campaign_id)
    grades = current_grades(connection, campaign_id)
    again = repeats(connection, campaign_id, grades) if any(row.kind == "repeat" for row in log) else []
    people = select(t.participant).where(t.participant.c.campaign_id == campaign_id).order_by(t.participant.c.id)
    return Activity(
        tuple(
            Person(row.code, row.name, row.seen_at, row.erased_at is None and row.invitation_id is not None)
            for row in connection.execute(people)
        ),
        tuple(log),
        tuple(grades),
        tuple(again),
    )


def _log(connection: Connection, campaign_id: int) -> list[LoggedAnswer]:
    columns = (
        t.participant.c.code,
        *(t.answer.c[name] for name in ("pair_id", "kind", "created_at", "took_ms", "heard", "reason", "comment")),
    )
    query = (
        select(*columns)
        .join(t.participant, t.participant.c.id == t.answer.c.participant_id)
        .where(t.answer.c.campaign_id == campaign_id)
        .order_by(t.answer.c.id)
    )
    return [
        LoggedAnswer(code, pair_id, kind, at, took, _heard(heard), reason, comment)
        for code, pair_id, kind, at, took, heard, reason, comment in connection.execute(query)
    ]


def _heard(heard: Mapping[str, Any] | None) -> int:
    return sum(int((heard or {}).get(name) or 0) for name in ("query_ms", "candidate_ms"))


@dataclass(frozen=True)
class Pace:
    """How fast somebody works; None where nothing can be said yet."""

    per_hour: float | None
    median_seconds: float | None
    heard_seconds: float | None


def pace_of(rows: Sequence[LoggedAnswer]) -> Pace:
    """Answers an hour while active, and the middle of the seconds that an answer took and that were listened.

    >>> rows = [LoggedAnswer("A1", 1, "judgment", at, None, 4000, None, None) for at in (0, 20, 40, 4000, 4020)]
    >>> pace_of(rows)
    Pace(per_hour=180.0, median_seconds=20.0, heard_seconds=4.0)
    """
    done = sorted((row for row in rows if row.kind in ("judgment", "repeat", "skip")), key=lambda row: row.at)
    gaps = np.diff([row.at for row in done])
    gaps = gaps[gaps <= BREAK_SECONDS]
    active = float(gaps.sum())
    graded = [row for row in done if row.kind != "skip"]
    took = [row.took_ms / 1000 for row in graded if row.took_ms is not None and row.took_ms <= 1000 * BREAK_SECONDS]
    seconds = took if took else gaps.tolist()
    return Pace(
        3600 * len(gaps) / active if active > 0 else None,
        float(np.median(seconds)) if seconds else None,
        float(np.median([row.heard_ms for row in graded])) / 1000 if graded else None,
    )


def assessors(
    watched: Activity, scale: AskedScale, expected: Mapping[tuple[str, int], float], *, now: float
) -> list[dict[str, Any]]:
    """A row for each person who answered or is there, in the order they came.

    ``expected`` says what a model that did not hear an assessor expects of a pair, by (assessor, pair), in grades of
    the scale. ``severity`` is by how much somebody grades lower than the others do: above 0 for strict ones.
    """
    work: dict[str, _Work] = defaultdict(_Work)
    for row in watched.log:
        work[row.assessor].log.append(row)
    for grade in watched.grades:
        work[grade.assessor].grades.append(grade)
    for both in watched.repeats:
        work[both.assessor].again.append(both)
    others = _others(watched.grades, scale.name)
    return [
        {**_person(person, now=now), **_assessor(person.code, work[person.code], scale, others, expected)}
        for person in watched.people
        if work[person.code].log or person.is_live(now)
    ]


@dataclass
class _Work:
    """What one person did."""

    log: list[LoggedAnswer] = field(default_factory=list)
    grades: list[CurrentGrade] = field(default_factory=list)
    again: list[RepeatedAnswer] = field(default_factory=list)


def _person(person: Person, *, now: float) -> dict[str, Any]:
    return {"code": person.code, "name": person.name, "seen_at": person.seen_at, "live": person.is_live(now)}


def _assessor(
    code: str,
    work: _Work,
    scale: AskedScale,
    others: Mapping[tuple[str, int], float],
    expected: Mapping[tuple[str, int], float],
) -> dict[str, Any]:
    severity, against = severity_of(code, work.grades, scale.name, others, expected)
    return {
        "answers": len(work.grades),
        **asdict(pace_of(work.log)),
        "skips": sum(row.kind == "skip" for row in work.log),
        "repeats": len(work.again),
        "self_consistency": consistency(work.again, scale),
        "severity": severity,
        "severity_against": against,
        "drift": _drift(code, work.grades, scale.name, {**expected, **others}),
    }


def _others(grades: Sequence[CurrentGrade], scale: str) -> dict[tuple[str, int], float]:
    """Mean grade that the others gave a pair, by (assessor, pair); only where there are others."""
    by_pair: dict[int, dict[str, float]] = defaultdict(dict)
    for grade in grades:
        if scale in grade.grades:
            by_pair[grade.pair_id][grade.assessor] = grade.grades[scale]
    found = {}
    for pair_id, given in by_pair.items():
        total, n = sum(given.values()), len(given)
        if n > 1:
            found.update({(who, pair_id): (total - grade) / (n - 1) for who, grade in given.items()})
    return found


def severity_of(
    code: str,
    grades: Sequence[CurrentGrade],
    scale: str,
    others: Mapping[tuple[str, int], float],
    expected: Mapping[tuple[str, int], float],
) -> tuple[float | None, str | None]:
    """Mean of what others say less what this assessor says, and who the others are: ``others`` or the ``model``."""
    for against, said in (("others", others), ("model", expected)):
        apart = [
            said[code, grade.pair_id] - grade.grades[scale]
            for grade in grades
            if (code, grade.pair_id) in said and scale in grade.grades
        ]
        if len(apart) >= FEWEST_SHARED:
            return float(np.mean(apart)), against
    return None, None


def _drift(
    code: str, grades: Sequence[CurrentGrade], scale: str, said: Mapping[tuple[str, int], float]
) -> dict[str, Any] | None:
    """How severity changes over the answers, in the order they were given."""
    ordered = sorted(grades, key=lambda grade: grade.answer_id)
    given = [grade.grades.get(scale, np.nan) for grade in ordered]
    wanted = [said.get((code, grade.pair_id), np.nan) for grade in ordered]
    if not np.isfinite(wanted).any():
        return None
    return drift(given, wanted).to_dict()


def consistency(again: Sequence[RepeatedAnswer], scale: AskedScale) -> dict[str, Any] | None:
    """How alike first and repeated grades are on a scale; None where nothing was asked twice."""
    asked = [repeat for repeat in again if scale.name in repeat.first and scale.name in repeat.again]
    both = [(repeat.first[scale.name], repeat.again[scale.name]) for repeat in asked]
    if not both:
        return None
    first, second = zip(*both, strict=True)
    return self_consistency(first, second, scale.scale).to_dict()


def agreements(grades: Sequence[CurrentGrade], scales: Sequence[AskedScale]) -> dict[str, dict[str, Any]]:
    """Agreement on each scale, with intervals; differences count by rank on scales of a few levels."""
    return {scale.name: _agreement(grades, scale) for scale in scales}


def _agreement(grades: Sequence[CurrentGrade], scale: AskedScale) -> dict[str, Any]:
    rows = [(g.query, g.document, g.assessor, g.grades[scale.name]) for g in grades if scale.name in g.grades]
    if not rows:
        return {"note": "nothing is judged on this scale yet", "n_units": 0, "pairs": []}
    found = agreement(
        Ratings.from_rows(rows), metric="ordinal" if scale.by_buttons else "interval", resamples=_DRAWS
    ).to_dict()
    why = found["alpha"]["reason"] if found["alpha"]["value"] is None else None
    return {**found, "note": why or "; ".join(found["notes"]) or None}


MOST_POINTS = 200
"""Points of the trajectory that are drawn."""
MOST_PAIRS = 780
"""Pairs of systems that are listed: all of 40 systems. Of more the most doubtful are."""
_STEPS = 400  # points of a trajectory that are kept, about


T = TypeVar("T")


@dataclass(frozen=True)
class SnapshotData:
    """Everything that a snapshot shows, read at one moment.

    ``agreement`` and ``expected`` are of the monitoring, ``audit`` is there where pairs are drawn for one, ``steps``
    once something is judged; ``done`` and ``reason`` say whether judging can stop.
    """

    campaign: Campaign
    session: Session
    pairs: tuple[PairRow, ...]
    watched: Activity
    made_from: Basis
    projection: Projection | None
    agreement: Mapping[str, Any]
    expected: Mapping[tuple[str, int], float]
    audit: Audit | None
    steps: NextSteps | None
    done: bool
    reason: str
    now: float


def complete_share(pairs: Sequence[PairRow]) -> float:
    """Share of the wanted answers that are there; pairs that are held back do not count."""
    wanted = sum(pair.wanted for pair in pairs if not pair.held)
    there = sum(min(pair.answered, pair.wanted) for pair in pairs if not pair.held)
    return there / wanted if wanted else 1.0


def make_snapshot(connection: Connection, looked: SnapshotData) -> dict[str, Any]:
    """The snapshot without its version; plain values, None where something is unknown."""
    found, session, watched = looked.campaign, looked.session, looked.watched
    scale = settings_of(found).evaluated
    reliability = {row.assessor: row.reliability for row in session.assessors}
    people = [
        {**person, "reliability": reliability.get(person["code"])}
        for person in assessors(watched, scale, looked.expected, now=looked.now)
    ]
    left = _left(looked, people)
    made = {
        "made_at": looked.now,
        "made_from": asdict(looked.made_from),
        "campaign": campaign_row(found),
        "status": _status(looked),
        "ranking": _ranking(connection, found, session),
        "pairs": [asdict(pair) for pair in _doubtful(session.pairs())],
        "saved": _saved(looked),
        "projection": left,
        "agreement": dict(looked.agreement),
        "assessors": people,
        "problems": problems(connection, found.id),
        "trajectory": _trajectory(connection, looked),
        "repeats": {
            "n": len(watched.repeats),
            "scales": {scale.name: consistency(watched.repeats, scale) for scale in settings_of(found).scales},
        },
        "notes": _notes(looked),
    }
    values: dict[str, Any] = plain(made)
    return values


def _status(looked: SnapshotData) -> dict[str, Any]:
    status, goal = looked.session.status(), settings_of(looked.campaign).goal
    everything = goal.kind == "everything"
    return {
        "judged": status.n_judged,
        "candidates": status.n_candidates,
        "answers": len(looked.watched.grades),
        "value": complete_share(looked.pairs) if everything else status.value,
        "wanted": 1.0 if everything else status.wanted,
        "kind": goal.kind,
        "done": looked.done,
        "reason": looked.reason,
        "mean_confidence": status.mean_confidence,
        "mean_confidence_new": status.mean_confidence_new,
        "top": goal.top,
    }


def _ranking(connection: Connection, campaign: Campaign, session: Session) -> list[dict[str, Any]]:
    rows = connection.execute(select(t.run.c.system, t.run.c.team).where(t.run.c.campaign_id == campaign.id))
    teams = {row.system: row.team for row in rows}
    return [{**asdict(row), "team": teams.get(row.system)} for row in session.ranking()]


def _doubtful(pairs: Sequence[SystemPair]) -> Sequence[SystemPair]:
    """The pairs of systems that are shown, the largest difference first."""
    if len(pairs) <= MOST_PAIRS:
        return pairs
    kept = sorted(range(len(pairs)), key=lambda place: pairs[place].confidence)[:MOST_PAIRS]
    return [pairs[place] for place in sorted(kept)]


def _saved(looked: SnapshotData) -> int | None:
    """Candidates that need no judgment; None where that cannot be said."""
    n_candidates, n_judged = len(looked.session.candidates), looked.session.view.n_judged
    if looked.done:
        return n_candidates - n_judged
    if looked.projection is None or looked.projection.total is None:
        return 0 if settings_of(looked.campaign).goal.kind == "everything" else None
    return max(0, n_candidates - max(looked.projection.total, n_judged))


def _left(looked: SnapshotData, people: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Answers that are still to give: those of pairs to come, and of pairs that are begun.

    Where the session decides on second opinions, pairs to come get as many answers as those so far did on average.
    ``pairs`` is the number of pairs to come. ``hours`` are hours of work of one person at the pace of those who judge.
    """
    begun = sum(pair.wanted - pair.answered for pair in looked.pairs if is_begun(pair))
    fresh = [pair.wanted for pair in looked.pairs if not pair.answered and not pair.held]
    each = sum(fresh) / len(fresh) if fresh else 0.0
    if looked.session.per_pair > 1 and looked.projection is not None and (fresh or looked.done):
        # Second opinions in the queue are offers; the goal is reached before all of them are given.
        begun, each = 0, max(1.0, len(looked.watched.grades) / max(looked.session.view.n_judged, 1))
    if looked.done:
        ends: tuple[int | None, ...] = (0, 0, 0)
    elif looked.projection is None:
        ends = (len(fresh),) * 3
    else:  # at least one: a projection that was overtaken is wrong, but the goal is not reached
        left = looked.projection.left(looked.session.view.n_judged)
        ends = tuple(None if end is None else max(1, end) for end in left)
    remaining, low, high = (None if end is None else begun + round(min(end, len(fresh)) * each) for end in ends)
    pace = sorted(person["per_hour"] for person in people if person["per_hour"])
    typical = pace[len(pace) // 2] if pace else None
    return {
        "remaining": remaining,
        "low": low,
        "high": high,
        "pairs": None if ends[0] is None else min(ends[0], len(fresh)),
        "hours": remaining / typical if typical and remaining is not None else None,
        "why": None if looked.projection is None or looked.done else looked.projection.why,
    }


def is_begun(pair: PairRow) -> bool:
    """Whether somebody answered, but not everybody who was wanted."""
    return 0 < pair.answered < pair.wanted and not pair.held


def _notes(looked: SnapshotData) -> list[str]:
    notes = list(looked.session.candidates.notes)
    n_systems = len(looked.session.candidates.systems)
    if n_systems * (n_systems - 1) // 2 > MOST_PAIRS:
        notes.append(f"Of the pairs of systems the {MOST_PAIRS} most doubtful are listed.")
    if looked.audit is not None:
        notes.append(f"{looked.audit.title}. {looked.audit.strength}")
    if looked.steps is not None and looked.steps.sentence:
        notes.append(looked.steps.sentence)
    held = sum(pair.held for pair in looked.pairs)
    if held:
        notes.append(f"{held:,} {'pairs are' if held > 1 else 'pair is'} held back and will not be asked.")
    return list(dict.fromkeys(notes))


def _trajectory(connection: Connection, looked: SnapshotData) -> list[list[float]]:
    """How the goal came nearer, to now, in a bounded number of points."""
    rows = connection.execute(
        select(t.progress.c.judged, t.progress.c.value, t.progress.c.confidence)
        .where(t.progress.c.campaign_id == looked.campaign.id, t.progress.c.last_answer < looked.made_from.last_answer)
        .order_by(t.progress.c.last_answer)
    )
    status = _status(looked)
    points = [[row.judged, row.value, row.confidence] for row in rows]
    return thinned([*points, [status["judged"], status["value"], status["mean_confidence"]]])


def thinned(points: list[list[float]], most: int = MOST_POINTS) -> list[list[float]]:
    """At most ``most`` points, evenly spaced, with the first and the last.

    >>> thinned([[n] for n in range(10)], 4)
    [[0], [3], [6], [9]]
    """
    if len(points) <= most:
        return points
    return [points[round(place * (len(points) - 1) / (most - 1))] for place in range(most)]


def _keep_point(connection: Connection, looked: SnapshotData, status: Mapping[str, Any]) -> None:
    """A point where judgments came and the one before is some way off, or where the goal is reached."""
    of_campaign = t.progress.c.campaign_id == looked.campaign.id
    last = connection.execute(
        select(t.progress.c.last_answer, t.progress.c.judged)
        .where(of_campaign)
        .order_by(t.progress.c.last_answer.desc())
        .limit(1)
    ).first()
    step = max(1, status["candidates"] // _STEPS)
    if last is not None and (
        last.last_answer >= looked.made_from.last_answer
        or (abs(status["judged"] - last.judged) < step and not status["done"])
        or status["judged"] == last.judged
    ):
        return
    values = {
        "last_answer": looked.made_from.last_answer,
        "judged": status["judged"],
        "value": status["value"],
        "confidence": status["mean_confidence"],
        "at": looked.now,
    }
    connection.execute(insert(t.progress).values(campaign_id=looked.campaign.id, **values))


def first_snapshot(campaign: Campaign) -> dict[str, Any]:
    """A snapshot before anything was learned, of version 0."""
    goal = settings_of(campaign).goal
    return {
        "version": 0,
        "made_at": None,
        "campaign": campaign_row(campaign),
        "status": {
            "judged": 0,
            "candidates": 0,
            "answers": 0,
            "value": None,
            "wanted": 1.0 if goal.kind == "everything" else goal.goal.wanted,
            "kind": goal.kind,
            "done": False,
            "reason": "nothing is estimated yet",
            "mean_confidence": None,
            "mean_confidence_new": None,
            "top": goal.top,
        },
        "ranking": [],
        "pairs": [],
        "saved": None,
        "projection": {
            "remaining": None,
            "low": None,
            "high": None,
            "pairs": None,
            "hours": None,
            "why": "nothing is estimated yet",
        },
        "agreement": {},
        "assessors": [],
        "problems": [],
        "trajectory": [],
        "repeats": {"n": 0, "scales": {}},
        "notes": [],
    }


QUEUE = 200
"""Pairs that are laid out beyond those that are in somebody's hands."""


class JudgingObserver(Observer):
    """What a process learned of a judging campaign: its session, and what takes a while to compute."""

    def __init__(self) -> None:
        self._learner = Learner()
        self._projection, self._people, self._audit, self._steps = Costly(), Costly(), Costly(), Costly()
        self._last_event = -1

    def prepare(self, database: Database, settings: Settings, campaign: Campaign) -> None:
        """Analyse clips that came since, where the estimator goes by sound."""
        hear(database, settings, campaign.id)

    def look(self, connection: Connection, moment: Moment, *, is_unchanged: bool) -> Snapshot | None:
        """A new snapshot, with the queue and a point of the trajectory; None where the one that is stored holds."""
        n_answers = moment.basis.answers
        people_due = self._people.of not in (-1, n_answers) and self._people.is_due(n_answers, slowly=True)
        if is_unchanged and not people_due:
            return None
        looked = self._look(connection, moment)
        content = make_snapshot(connection, looked)
        again_at = None if self._people.of == n_answers else time.monotonic() + SECONDS
        stop = looked.done and settings_of(looked.campaign).stop_when_reached
        ids = queue_of(looked.session, looked.pairs, stop=stop)

        def store(connection: Connection) -> None:
            if looked.session.per_pair > 1:
                ask_again(connection, looked.campaign, ids)
            lay_queue(connection, looked.campaign.id, ids)
            _keep_point(connection, looked, content["status"])

        return Snapshot(looked.campaign, moment.basis, content, again_at, store)

    def _look(self, connection: Connection, moment: Moment) -> SnapshotData:
        """Learn from the answers, and find out everything that a snapshot shows."""
        campaign, basis = moment.campaign, moment.basis
        watched, pairs = watch(connection, campaign.id), _pairs(connection, campaign.id)
        self._learner.learn(connection, campaign, watched.grades, last_event=basis.last_event)
        session = self._learner.session
        done, reason = _is_done(campaign, session, pairs)
        if basis.last_event != self._last_event:  # the goal, the scales or the documents may be others
            self._projection, self._people, self._audit, self._steps = Costly(), Costly(), Costly(), Costly()
            self._last_event = basis.last_event
        agreement, expected = self._agreement(campaign, watched, basis.answers)
        return SnapshotData(
            as_reached(campaign, done=done, now=moment.now),
            session,
            pairs,
            watched,
            basis,
            projection=_projected(campaign, session, self._projection),
            agreement=agreement,
            expected=expected,
            audit=_now_and_then(self._audit, session, session.audit) if session.audit_share else None,
            steps=_now_and_then(self._steps, session, partial(next_steps, session)) if session.view.n_judged else None,
            done=done,
            reason=reason,
            now=moment.now,
        )

    def _agreement(self, campaign: Campaign, watched: Activity, n_answers: int) -> Any:
        """Agreement, and what models expect of each assessor: as they were, while little changed."""
        if self._people.is_due(n_answers, slowly=True):
            began, settings = time.thread_time(), settings_of(campaign)
            value = (
                agreements(watched.grades, settings.scales),
                self._learner.expected(watched.grades, settings.evaluated.name),
            )
            self._people.keep(value, n_answers, began)
        return self._people.value


def _projected(campaign: Campaign, session: Session, costly: Costly) -> Projection | None:
    """The projection, made again now and then; None where everything is to be judged anyway."""
    if settings_of(campaign).goal.kind == "everything":
        return None
    judged = session.view.n_judged
    if costly.is_due(judged, slowly=False) or _is_overtaken(costly, session):
        began = time.thread_time()
        costly.keep(project(session, seed=session.seed), judged, began)
    projection: Projection = costly.value
    return projection


def _now_and_then(costly: Costly, session: Session, make: Callable[[], T]) -> T:
    """What takes a while to make, made again when enough was judged since."""
    judged = session.view.n_judged
    if costly.is_due(judged, slowly=True):
        began = time.thread_time()
        costly.keep(make(), judged, began)
    made: T = costly.value
    return made


def _is_overtaken(costly: Costly, session: Session) -> bool:
    """Whether more is judged than was projected, and the goal not reached yet: a projection that is plainly wrong."""
    rested = time.monotonic() - costly.at >= COST * costly.took
    total: int | None = costly.value.total
    judged = session.view.n_judged
    return rested and total is not None and judged != costly.of and judged >= total and not session.done


def queue_of(session: Session, pairs: Sequence[PairRow], *, stop: bool) -> list[int]:
    """What to ask, most telling first: pairs that are begun, then, unless judging can stop, new ones.

    Where several judge a pair only if that tells more, the session says which, and nothing has to be finished.
    """
    begun = [pair.id for pair in pairs if is_begun(pair)] if session.per_pair == 1 else []
    if stop:
        return begun
    number_of = {(pair.query, pair.document): pair.id for pair in pairs}
    held = [pair for pair in ((pair.query, pair.document) for pair in pairs if pair.held) if pair in session.candidates]
    in_hands = sum(pair.taken > 0 and not pair.answered for pair in pairs)
    chosen = session.next(QUEUE + in_hands, exclude=held)
    return begun + [number_of[pair] for pair in chosen if pair in number_of]


def _is_done(campaign: Campaign, session: Session, pairs: Sequence[PairRow]) -> tuple[bool, str]:
    """Whether judging can stop, and why or why not."""
    if settings_of(campaign).goal.kind != "everything":
        status = session.status()
        return status.done, status.reason
    left = sum(max(0, pair.wanted - pair.answered) for pair in pairs if not pair.held)
    if left:
        return False, f"{left:,} answer{'s are' if left > 1 else ' is'} still wanted"
    return True, "every answer that was wanted is there"


def _pairs(connection: Connection, campaign_id: int) -> tuple[PairRow, ...]:
    columns = [t.pair.c[name] for name in PairRow.__dataclass_fields__]
    query = select(*columns).where(t.pair.c.campaign_id == campaign_id).order_by(t.pair.c.id)
    return tuple(PairRow(*row) for row in connection.execute(query))
