"""What people say now: answers with their corrections applied, and repeats beside first answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.engine import Row

from adjudge.web.schema import answer, pair, participant


@dataclass(frozen=True)
class CurrentGrade:
    """What a participant says of a pair now: the grades of the answer or of its last correction."""

    answer_id: int
    pair_id: int
    query: str
    document: str
    assessor: str
    grades: dict[str, float]
    at: float
    took_ms: int | None


@dataclass(frozen=True)
class RepeatedAnswer:
    """Two answers of one participant about one pair: the grades of the first and of the planned repeat."""

    assessor: str
    query: str
    document: str
    first: dict[str, float]
    again: dict[str, float]
    at: float


def _rows(connection: Connection, campaign_id: int, kinds: tuple[str, ...]) -> Sequence[Row[Any]]:
    names = ("id", "pair_id", "kind", "corrects", "grades", "took_ms", "created_at")
    columns = (*(answer.c[name] for name in names), pair.c.query, pair.c.document, participant.c.code)
    return connection.execute(
        select(*columns)
        .join(pair, pair.c.id == answer.c.pair_id)
        .join(participant, participant.c.id == answer.c.participant_id)
        .where(answer.c.campaign_id == campaign_id, answer.c.kind.in_(kinds))
        .order_by(answer.c.id)
    ).all()


def current_grades(connection: Connection, campaign_id: int) -> list[CurrentGrade]:
    """What everybody says of every pair now, in the order of the first answers; skips and repeats are left out."""
    found: dict[int, CurrentGrade] = {}
    for row in _rows(connection, campaign_id, ("judgment", "import", "correction")):
        first = row.id if row.corrects is None else row.corrects
        if row.corrects is not None and first not in found:
            continue  # a correction of a repeat
        before = found.get(first)
        found[first] = CurrentGrade(
            first,
            row.pair_id,
            row.query,
            row.document,
            row.code,
            {**(before.grades if before else {}), **row.grades},
            row.created_at if before is None else before.at,
            row.took_ms if before is None else before.took_ms,
        )
    return list(found.values())


def repeats(connection: Connection, campaign_id: int, current: Iterable[CurrentGrade]) -> list[RepeatedAnswer]:
    """Planned repeats beside the ``current`` first answers of the same people, as both stand now."""
    first = {(grade.assessor, grade.pair_id): grade for grade in current}
    again: dict[int, Row[Any]] = {}
    grades: dict[int, dict[str, float]] = {}
    for row in _rows(connection, campaign_id, ("repeat", "correction")):
        if row.kind == "repeat":
            again[row.id] = row
            grades[row.id] = row.grades
        elif row.corrects in again:
            grades[row.corrects] = row.grades
    return [
        RepeatedAnswer(
            row.code, row.query, row.document, first[row.code, row.pair_id].grades, grades[number], row.created_at
        )
        for number, row in again.items()
        if (row.code, row.pair_id) in first
    ]


@dataclass(frozen=True)
class OwnAnswer:
    """An answer as its giver sees it again: the grades and the comment that stand now."""

    answer_id: int
    pair_id: int
    at: float
    grades: dict[str, float]
    comment: str | None


def own_answers(connection: Connection, participant_id: int, *, last: int) -> list[OwnAnswer]:
    """The last answers of a participant, newest first; skips are left out."""
    mine = answer.c.participant_id == participant_id
    firsts = (
        select(answer).where(mine, answer.c.kind.in_(("judgment", "repeat"))).order_by(answer.c.id.desc()).limit(last)
    )
    found = {
        row.id: OwnAnswer(row.id, row.pair_id, row.created_at, row.grades, row.comment)
        for row in connection.execute(firsts)
    }
    corrections = select(answer).where(mine, answer.c.corrects.in_(list(found))).order_by(answer.c.id)
    for row in connection.execute(corrections):
        before = found[row.corrects]
        comment = row.comment if row.comment is not None else before.comment
        found[row.corrects] = OwnAnswer(before.answer_id, before.pair_id, before.at, row.grades, comment)
    return list(found.values())
