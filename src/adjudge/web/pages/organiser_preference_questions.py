"""Questions as an organiser looks at them before anybody answers: what is heard, what they cover, what traps expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, Row, select

from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import Questions
from adjudge.web.desk import Heard, heard_from
from adjudge.web.preference_curves import wanted_combinations
from adjudge.web.preference_settings import PreferenceSettings
from adjudge.web.preference_watching import TrapSeen
from adjudge.web.schema import item, listed, pair

ENOUGH = 30
"""Answers in a bin that tell a share to within 18 percentage points, with 95 % confidence."""
MOST_ROWS = 12
"""Combinations whose coverage is shown."""
_BINS = 10
_SHADES = 4
CHOICE_WORDS = {"a": "list a", "b": "list b", "good": "both good", "bad": "both bad"}
"""What can be answered, for organisers."""


class ListClips(BaseModel):
    """What people hear of a question: the query, and both lists, best first."""

    query: Heard
    a: list[Heard]
    b: list[Heard]


def clips_of_lists(connection: Connection, pair_id: int) -> ListClips:
    """What people hear of a question or trap."""
    query = select(item).join(pair, pair.c.query_item_id == item.c.id).where(pair.c.id == pair_id)
    lists = select(item, listed.c.side).join(listed, listed.c.item_id == item.c.id).where(listed.c.pair_id == pair_id)
    sides: dict[str, list[Heard]] = {"a": [], "b": []}
    for row in connection.execute(lists.order_by(listed.c.side, listed.c.rank)):
        sides[row.side].append(_heard(row))
    return ListClips(query=_heard(connection.execute(query).one()), a=sides["a"], b=sides["b"])


def _heard(row: Row[Any]) -> Heard:
    return heard_from(row.kind, row.address, row.text, row.seconds)


def names_of(connection: Connection, campaign_id: int, role: str, *, most: int) -> Sequence[Any]:
    """Numbers, names and queries of questions or traps, as they were given."""
    columns = (pair.c.id, pair.c.document.label("name"), pair.c.query)
    rows = select(*columns).where(pair.c.campaign_id == campaign_id, pair.c.role == role)
    return connection.execute(rows.order_by(pair.c.id).limit(most)).all()


@dataclass(frozen=True)
class Cell:
    """Questions in one bin: how many answers that makes, and how dark it is drawn, 0 (none) to 4 (enough)."""

    questions: int
    answers: int
    shade: int
    words: str


@dataclass(frozen=True)
class CoverageRow:
    """A measure on a scale: its bins, or why there are none."""

    name: str
    cells: tuple[Cell, ...] = ()
    unknown: int = 0
    problem: str = ""

    @property
    def filled(self) -> int:
        """Bins with enough."""
        return sum(cell.shade == _SHADES for cell in self.cells)


def coverage_rows(settings: PreferenceSettings, questions: Questions) -> list[CoverageRow]:
    """How many questions each combination has in each bin of the difference between the two lists."""
    names = wanted_combinations(questions, settings.combinations)[:MOST_ROWS]
    return [_coverage_row(name, questions, settings.judged_by) for name in names]


def _coverage_row(name: str, questions: Questions, judged_by: int) -> CoverageRow:
    from adjudge.preferences.questions import coverage_of

    try:
        found = coverage_of(questions, [name], bins=_BINS, per_bin=-(-ENOUGH // judged_by))
    except AdjudgeError as error:
        return CoverageRow(name, problem=str(error))
    cells = []
    for place, count in enumerate(found.counts[0].tolist()):
        answers = count * judged_by
        shade = _SHADES if answers >= ENOUGH else -(-answers * (_SHADES - 1) // ENOUGH)
        verdict = "enough" if shade == _SHADES else "short" if count else "none"
        noun = "question" if count == 1 else "questions"
        cells.append(Cell(count, answers, shade, f"{found.interval(place)}: {count} {noun}, {verdict}"))
    return CoverageRow(name, tuple(cells), int(found.unknown[0]))


def trap_rows(traps: Sequence[TrapSeen]) -> list[dict[str, Any]]:
    """Traps with the answers that are right, and how people answered."""
    return [
        {
            "id": one.trap.id,
            "name": one.trap.name,
            "query": one.trap.query,
            "expected": " or ".join(CHOICE_WORDS[choice] for choice in CHOICE_WORDS if choice in one.trap.expected),
            "asked": one.asked,
            "right": one.right,
            "share": one.share,
            "bad": one.is_bad,
            "listened": one.listened,
            "listened_right": one.listened_right,
            "answers": ", ".join(
                f"{one.choices[choice]} {CHOICE_WORDS[choice]}" for choice in CHOICE_WORDS if one.choices.get(choice)
            ),
        }
        for one in traps
    ]
