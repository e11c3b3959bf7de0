"""Who judges, how fast, how alike: what an organiser wants to know of the people while they work.

Everything here is computed from answers as they stand. Pace counts the time between two answers unless that is longer
than a break; severity and drift hold somebody's grades against those of others for the same pair, or, where nobody else
judged it, against what a model that did not hear them expects.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from adjudge.stats.agreement import Ratings, agreement
from adjudge.stats.coefficients import drift, self_consistency
from adjudge.web.answers import CurrentGrade, RepeatedAnswer, current_grades, repeats
from adjudge.web.judging_settings import AskedScale
from adjudge.web.schema import answer, pair, participant

BREAK_SECONDS = 300.0
"""A longer time between two answers is a break."""
LIVE_SECONDS = 60.0
"""Somebody who was seen within this time is there."""
FEWEST_SHARED = 5
"""Pairs that somebody must share with others before severity is held against them alone."""
MOST_PROBLEMS = 200
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
class Watched:
    """Everything that people did in a campaign, read at one moment."""

    people: tuple[Person, ...]
    log: tuple[LoggedAnswer, ...]
    grades: tuple[CurrentGrade, ...]
    repeats: tuple[RepeatedAnswer, ...]


def watch(connection: Connection, campaign_id: int) -> Watched:
    """Read what people did."""
    log = _log(connection, campaign_id)
    grades = current_grades(connection, campaign_id)
    again = repeats(connection, campaign_id, grades) if any(row.kind == "repeat" for row in log) else []
    people = select(participant).where(participant.c.campaign_id == campaign_id).order_by(participant.c.id)
    return Watched(
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
        participant.c.code,
        *(answer.c[name] for name in ("pair_id", "kind", "created_at", "took_ms", "heard", "reason", "comment")),
    )
    query = (
        select(*columns)
        .join(participant, participant.c.id == answer.c.participant_id)
        .where(answer.c.campaign_id == campaign_id)
        .order_by(answer.c.id)
    )
    return [
        LoggedAnswer(code, pair_id, kind, at, took, _heard(heard), reason, comment)
        for code, pair_id, kind, at, took, heard, reason, comment in connection.execute(query)
    ]


def _heard(heard: Mapping[str, Any] | None) -> int:
    return sum(int((heard or {}).get(name) or 0) for name in ("query_ms", "candidate_ms"))


def live_codes(connection: Connection, campaign_id: int, *, now: float) -> list[str]:
    """Codes of those who are there now, and whose part has not ended."""
    query = select(participant.c.code).where(
        participant.c.campaign_id == campaign_id,
        participant.c.seen_at >= now - LIVE_SECONDS,
        participant.c.erased_at.is_(None),
        participant.c.invitation_id.is_not(None),
        participant.c.outcome.is_(None),
    )
    return sorted(connection.execute(query).scalars())


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
    gaps = gaps[(gaps >= 0) & (gaps <= BREAK_SECONDS)]
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
    watched: Watched, scale: AskedScale, expected: Mapping[tuple[str, int], float], *, now: float
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
    asked = [one for one in again if scale.name in one.first and scale.name in one.again]
    both = [(one.first[scale.name], one.again[scale.name]) for one in asked]
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


def problems(connection: Connection, campaign_id: int, *, most: int = MOST_PROBLEMS) -> list[dict[str, Any]]:
    """Pairs that were skipped, commented on or held back; held ones first, then by how many skipped them."""
    kept = (answer.c.kind == "skip") | (answer.c.comment.is_not(None) & (answer.c.comment != ""))
    columns = (answer.c.pair_id, answer.c.kind, answer.c.reason, answer.c.comment)
    of_campaign = answer.c.campaign_id == campaign_id
    said = connection.execute(select(*columns).where(of_campaign, kept).order_by(answer.c.id))
    reasons: dict[int, Counter[str]] = defaultdict(Counter)
    comments: dict[int, list[str]] = defaultdict(list)
    for row in said:
        if row.kind == "skip":
            reasons[row.pair_id][row.reason or "other"] += 1
        if row.comment:
            comments[row.pair_id].append(row.comment)
    rows = connection.execute(
        select(pair.c.id, pair.c.query, pair.c.document, pair.c.held).where(
            pair.c.campaign_id == campaign_id,
            pair.c.held | pair.c.id.in_(select(answer.c.pair_id).where(of_campaign, kept)),
        )
    )
    found = [
        {
            "pair": row.id,
            "query": row.query,
            "document": row.document,
            "skips": sum(reasons[row.id].values()),
            "reasons": dict(reasons[row.id]),
            "held": row.held,
            "comments": comments[row.id],
        }
        for row in rows
    ]
    found.sort(key=lambda one: (not one["held"], -one["skips"], -len(one["comments"]), one["pair"]))
    return found[:most]
