"""What happened in a ranking campaign, read at one moment: people, their rankings, and the queries they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select

from adjudge.web.schema import answer, arrangement, lease, listed, pair
from adjudge.web.seen_people import Someone, people_of


@dataclass(frozen=True)
class Sent:
    """One ranking that was sent; ``took_ms`` counts all that somebody worked on it, also when they changed it later."""

    participant_id: int
    query: str
    groups: tuple[tuple[str, ...], ...]
    unranked: tuple[str, ...]
    at: float
    took_ms: int | None

    @property
    def ranked(self) -> int:
        """Documents that have a place."""
        return sum(map(len, self.groups))


@dataclass(frozen=True)
class AskedQuery:
    """A query, how many documents it has, and how far it is; ``in_work`` is how many people have it in their hands."""

    id: int
    query: str
    documents: int
    wanted: int
    answered: int
    held: bool
    in_work: int
    skips: int

    @property
    def left(self) -> int:
        """Rankings that are still wanted."""
        return 0 if self.held else max(0, self.wanted - self.answered)


@dataclass(frozen=True)
class Begun:
    """A ranking that somebody has not sent yet."""

    participant_id: int
    query: str
    placed: int
    saved_at: float


@dataclass(frozen=True)
class SeenRankings:
    """Everything that people did, read at one moment; ``sent`` are rankings as they stand, of whoever counts or not."""

    people: tuple[Someone, ...]
    sent: tuple[Sent, ...]
    queries: tuple[AskedQuery, ...]
    begun: tuple[Begun, ...]

    @property
    def counted(self) -> list[Sent]:
        """Rankings of people whose answers count."""
        counts = {one.id for one in self.people if one.counts}
        return [one for one in self.sent if one.participant_id in counts]


def watch_rankings(connection: Connection, campaign_id: int, *, now: float) -> SeenRankings:
    """Read what people did."""
    return SeenRankings(
        people_of(connection, campaign_id),
        tuple(_sent(connection, campaign_id)),
        tuple(_queries(connection, campaign_id, now=now)),
        tuple(_begun(connection, campaign_id, now=now)),
    )


def sent_rankings(connection: Connection, campaign_id: int) -> tuple[tuple[Someone, ...], list[Sent]]:
    """Everybody, and the rankings of those who count, as they stand."""
    people = people_of(connection, campaign_id)
    counts = {one.id for one in people if one.counts}
    return people, [one for one in _sent(connection, campaign_id) if one.participant_id in counts]


def skips_by_person(connection: Connection, campaign_id: int) -> Counter[int]:
    """How many queries each participant skipped, by number."""
    skipped = select(answer.c.participant_id, func.count()).where(
        answer.c.campaign_id == campaign_id, answer.c.kind == "skip"
    )
    rows = connection.execute(skipped.group_by(answer.c.participant_id))
    return Counter({row[0]: row[1] for row in rows})


def _sent(connection: Connection, campaign_id: int) -> list[Sent]:
    """Rankings as they stand: the last that each person sent for each query, in the order of the first ones."""
    names = ("participant_id", "grades", "created_at", "took_ms")
    columns = [answer.c[name] for name in names]
    given = (
        select(*columns, pair.c.query)
        .join(pair, pair.c.id == answer.c.pair_id)
        .where(answer.c.campaign_id == campaign_id, answer.c.kind.in_(("judgment", "correction")))
    )
    found: dict[tuple[int, str], Sent] = {}
    for row in connection.execute(given.order_by(answer.c.id)):
        key = (row.participant_id, row.query)
        took = [ms for ms in (row.took_ms, found[key].took_ms if key in found else None) if ms is not None]
        found[key] = Sent(
            row.participant_id,
            row.query,
            tuple(tuple(group) for group in row.grades["groups"]),
            tuple(row.grades["unranked"]),
            row.created_at,
            sum(took) if took else None,
        )
    return list(found.values())


def _queries(connection: Connection, campaign_id: int, *, now: float) -> list[AskedQuery]:
    documents = select(listed.c.pair_id, func.count().label("n")).group_by(listed.c.pair_id).subquery()
    held = select(lease.c.pair_id, func.count()).where(lease.c.campaign_id == campaign_id, _in_force(now))
    in_work: Counter[int] = Counter({row[0]: row[1] for row in connection.execute(held.group_by(lease.c.pair_id))})
    skipped = select(answer.c.pair_id, func.count()).where(answer.c.campaign_id == campaign_id, answer.c.kind == "skip")
    skips: Counter[int] = Counter({row[0]: row[1] for row in connection.execute(skipped.group_by(answer.c.pair_id))})
    columns = (pair.c.id, pair.c.query, documents.c.n, pair.c.wanted, pair.c.answered, pair.c.held)
    query = select(*columns).join(documents, documents.c.pair_id == pair.c.id)
    rows = connection.execute(query.where(pair.c.campaign_id == campaign_id).order_by(pair.c.id))
    return [AskedQuery(*row, in_work[row.id], skips[row.id]) for row in rows]


def _in_force(now: float) -> ColumnElement[bool]:
    """Queries that somebody has; what has run out may be given to anybody."""
    return lease.c.ended_at.is_(None) & (lease.c.kind == "judgment") & (lease.c.expires_at >= now)


def _begun(connection: Connection, campaign_id: int, *, now: float) -> list[Begun]:
    """Rankings that are saved and in somebody's hands now."""
    query = (
        select(arrangement.c.participant_id, pair.c.query, arrangement.c.groups, arrangement.c.saved_at)
        .join(pair, pair.c.id == arrangement.c.pair_id)
        .join(
            lease,
            (lease.c.pair_id == arrangement.c.pair_id)
            & (lease.c.participant_id == arrangement.c.participant_id)
            & _in_force(now),
        )
        .where(arrangement.c.campaign_id == campaign_id)
    )
    return [Begun(who, name, _placed(groups), at) for who, name, groups, at in connection.execute(query)]


def _placed(groups: Sequence[Sequence[int]]) -> int:
    return sum(map(len, groups))
