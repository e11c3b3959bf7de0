"""Rankings as far as somebody got: saved at every change, by version, so that no window overwrites another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, insert, select, update

from adjudge.web.answering import own_lease
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Conflict, Refused
from adjudge.web.invitations import locked_participant
from adjudge.web.leasing import Lease, release
from adjudge.web.ranking_leasing import REOPENED, prolong
from adjudge.web.schema import answer, arrangement, item, listed

Groups = Sequence[Sequence[int]]
"""Numbers of items by group, the most similar group first."""


@dataclass(frozen=True)
class Arrangement:
    """A ranking as far as it got; ``version`` 0 is before anything was saved."""

    version: int = 0
    groups: tuple[tuple[int, ...], ...] = ()
    saved_at: float | None = None


@dataclass(frozen=True)
class Saved:
    """A ranking that is on the server's disk, and until when its query is kept."""

    version: int
    saved_at: float
    expires_at: float


class StaleArrangement(Conflict):
    """The ranking was changed elsewhere since it was read: ``there`` is how it stands."""

    def __init__(self, there: Arrangement) -> None:
        super().__init__("You changed this ranking elsewhere meanwhile, perhaps in another window; here it is.")
        self.there = there


def candidates_by_id(connection: Connection, pair_id: int) -> dict[int, str]:
    """The documents to be put in order for a query by the number of their item, in the order in which they came."""
    query = select(listed.c.item_id, item.c.identifier).join(item, item.c.id == listed.c.item_id)
    rows = connection.execute(query.where(listed.c.pair_id == pair_id).order_by(listed.c.rank))
    return {row.item_id: row.identifier for row in rows}


def check_groups(groups: Groups, candidates: Collection[int]) -> list[list[int]]:
    """Groups of candidates, each in one place; refused otherwise."""
    seen: set[int] = set()
    for number in [number for group in groups for number in group]:
        if number not in candidates:
            raise Refused(f"Expected candidates of the query, got document {number}, which is none.")
        if number in seen:
            raise Refused(f"Expected each document at one place, got document {number} twice.")
        seen.add(number)
    return [list(group) for group in groups]


def arrangement_of(connection: Connection, participant_id: int, pair_id: int) -> Arrangement:
    """The ranking of a query as somebody left it."""
    row = connection.execute(select(arrangement).where(_this(participant_id, pair_id))).first()
    if row is None:
        return Arrangement()
    return Arrangement(row.version, tuple(tuple(group) for group in row.groups), row.saved_at)


def save_arrangement(
    connection: Connection,
    campaign: Campaign,
    participant_id: int,
    *,
    lease_id: str,
    version: int,
    groups: Groups,
    now: float,
) -> Saved:
    """Keep a ranking that was made from ``version``, and with it the query; the same again changes nothing.

    It is kept also where the lease has run out. Refused as stale where it was made from an older version.
    """
    locked_participant(connection, participant_id)
    found = own_lease(connection, participant_id, lease_id)
    if found.ended_how not in (None, "expired"):
        how = {"answered": "sent this ranking", "skipped": "skipped this query"}.get(found.ended_how or "")
        raise Conflict(f"You {how or 'handed this query back'} already, perhaps in another window.")
    checked = check_groups(groups, candidates_by_id(connection, found.pair_id))
    there = arrangement_of(connection, participant_id, found.pair_id)
    is_again = there.version == version + 1 and [list(group) for group in there.groups] == checked
    if there.version != version and not is_again:
        raise StaleArrangement(there)
    kept = there if is_again else keep_arrangement(connection, found, checked, now=now)
    until = prolong(connection, campaign, found, now=now).expires_at
    return Saved(kept.version, kept.saved_at or now, until)


def keep_arrangement(connection: Connection, found: Lease, groups: Groups, *, now: float) -> Arrangement:
    """Put a ranking in the place of the one before it, whatever it was made from."""
    there = arrangement_of(connection, found.participant_id, found.pair_id)
    made = Arrangement(there.version + 1, tuple(tuple(group) for group in groups), now)
    values = {"version": made.version, "groups": [list(group) for group in groups], "saved_at": now}
    if there.version:
        this = update(arrangement).where(_this(found.participant_id, found.pair_id))
        connection.execute(this.values(**values))
    else:
        own = {"participant_id": found.participant_id, "pair_id": found.pair_id, "campaign_id": found.campaign_id}
        connection.execute(insert(arrangement).values(**own, **values))
    return made


def hand_back(connection: Connection, participant_id: int, lease_id: str, *, now: float) -> Lease:
    """Give a query back to others; its ranking stays for when it comes again. A reopened one stays as it was sent."""
    locked_participant(connection, participant_id)
    found = own_lease(connection, participant_id, lease_id)
    if found.ended_at is not None:
        return found
    if found.kind == REOPENED:
        names = candidates_by_id(connection, found.pair_id)
        sent = sent_groups(connection, participant_id, found.pair_id, names)
        if [list(group) for group in arrangement_of(connection, participant_id, found.pair_id).groups] != sent:
            keep_arrangement(connection, found, sent, now=now)
    release(connection, participant_id, now=now, only=lease_id)
    return found


def sent_groups(connection: Connection, participant_id: int, pair_id: int, names: Mapping[int, str]) -> list[list[int]]:
    """The ranking that somebody sent last for a query, by numbers; ``names`` are those of the candidates."""
    mine = (answer.c.participant_id == participant_id) & (answer.c.pair_id == pair_id)
    last = select(answer.c.grades).where(mine, answer.c.kind.in_(("judgment", "correction")))
    grades = connection.execute(last.order_by(answer.c.id.desc()).limit(1)).scalar_one()
    numbers = {name: number for number, name in names.items()}
    return [[numbers[name] for name in group] for group in grades["groups"]]


def _this(participant_id: int, pair_id: int) -> ColumnElement[bool]:
    return and_(arrangement.c.participant_id == participant_id, arrangement.c.pair_id == pair_id)
