"""What happened in a preference campaign, read at one moment: people, answers, and the questions they are to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from adjudge.web.schema import answer, pair
from adjudge.web.seen_people import Someone, people_of

PAID = ("judgment", "trap", "repeat")
"""Kinds of answer that say which list is better."""
BAD_TRAP = 0.6
"""A trap that fewer of those who listen get right is a bad one,"""
FEWEST = 4
"""if so many of them were asked."""


@dataclass(frozen=True)
class Given:
    """One answer; ``choice`` is empty where somebody could not answer."""

    id: int
    participant_id: int
    pair_id: int
    kind: str
    choice: str
    at: float
    took_ms: int | None


@dataclass(frozen=True)
class Asked:
    """A question or trap, and how far it is."""

    id: int
    name: str
    query: str
    role: str
    batch: int | None
    wanted: int
    answered: int
    held: bool
    expected: frozenset[str]

    @property
    def is_trap(self) -> bool:
        """Whether its answer is known."""
        return self.role == "trap"

    @property
    def left(self) -> int:
        """Answers that are still wanted."""
        return 0 if self.held or self.is_trap else max(0, self.wanted - self.answered)


@dataclass(frozen=True)
class Seen:
    """Everything that people did, read at one moment."""

    people: tuple[Someone, ...]
    answers: tuple[Given, ...]
    asked: tuple[Asked, ...]

    @property
    def questions(self) -> list[Asked]:
        """What is asked to learn from."""
        return [one for one in self.asked if not one.is_trap]

    @property
    def traps(self) -> list[Asked]:
        """What is asked to see who listens."""
        return [one for one in self.asked if one.is_trap]


def watch_preferences(connection: Connection, campaign_id: int) -> Seen:
    """Read what people did."""
    return Seen(people_of(connection, campaign_id), _answers(connection, campaign_id), _asked(connection, campaign_id))


def _answers(connection: Connection, campaign_id: int) -> tuple[Given, ...]:
    names = ("id", "participant_id", "pair_id", "kind", "grades", "created_at", "took_ms")
    query = select(*(answer.c[name] for name in names)).where(answer.c.campaign_id == campaign_id)
    return tuple(
        Given(number, who, pair_id, kind, (grades or {}).get("choice", ""), at, took)
        for number, who, pair_id, kind, grades, at, took in connection.execute(query.order_by(answer.c.id))
    )


def _asked(connection: Connection, campaign_id: int) -> tuple[Asked, ...]:
    names = ("id", "document", "query", "role", "batch", "wanted", "answered", "held", "details")
    query = select(*(pair.c[name] for name in names)).where(pair.c.campaign_id == campaign_id).order_by(pair.c.id)
    return tuple(
        Asked(
            row.id,
            row.document,
            row.query,
            row.role,
            row.batch,
            row.wanted,
            row.answered,
            row.held,
            frozenset((row.details or {}).get("expected", ())),
        )
        for row in connection.execute(query)
    )


@dataclass(frozen=True)
class TrapSeen:
    """How people answered a trap.

    ``listened_right`` are right answers of the ``listened`` people who got at least half of their other traps
    right: a trap that these people miss is a bad trap. Who was set aside counts here, or a bad trap would hide itself.
    """

    trap: Asked
    asked: int
    right: int
    choices: Mapping[str, int]
    listened: int
    listened_right: int

    @property
    def share(self) -> float | None:
        """Share of right answers, None before anybody was asked."""
        return self.right / self.asked if self.asked else None

    @property
    def is_bad(self) -> bool:
        """Whether people who listen miss it too often."""
        return self.listened >= FEWEST and self.listened_right < BAD_TRAP * self.listened


def traps_seen(seen: Seen) -> list[TrapSeen]:
    """How people answered each trap, bad ones first, then as they were given."""
    traps = {one.id: one for one in seen.traps}
    answered: dict[int, list[Given]] = defaultdict(list)
    by_person: dict[int, list[bool]] = defaultdict(list)
    for one in seen.answers:
        if one.pair_id in traps and one.kind == "trap":
            answered[one.pair_id].append(one)
            by_person[one.participant_id].append(one.choice in traps[one.pair_id].expected)
    found = [_trap_seen(trap, answered[trap.id], by_person) for trap in traps.values()]
    return sorted(found, key=lambda one: not one.is_bad)


def _trap_seen(trap: Asked, answers: Sequence[Given], by_person: Mapping[int, Sequence[bool]]) -> TrapSeen:
    right = [one.choice in trap.expected for one in answers]
    listened = []
    for one, was_right in zip(answers, right, strict=True):
        others = by_person[one.participant_id]
        others_right = sum(others) - was_right
        if len(others) > 1 and 2 * others_right >= len(others) - 1:
            listened.append(was_right)
    choices = Counter(one.choice for one in answers)
    return TrapSeen(trap, len(answers), sum(right), dict(choices), len(listened), sum(listened))
