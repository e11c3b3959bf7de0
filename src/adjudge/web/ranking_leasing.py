"""Leases of queries whose documents are to be put in order: one at a time, for days, and never lost.

An expert holds one query. It is theirs until some hours after they last changed its ranking, whether or not their page
is open, and until they hand it back. Once it has run out somebody else may get the place; the ranking stays, and who
comes back goes on where they were if a place is free. A query that was handed back comes to the same expert after all
others. A ranking that was sent can be reopened: that is a lease of its own, which takes no place of anybody.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Integer, bindparam, case, exists, literal, select, update

from adjudge.web.answering import own_first_answer
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Conflict, Refused
from adjudge.web.invitations import locked_participant
from adjudge.web.leasing import Lease, expire, give, lease_of, new_to, next_number, next_pair, release, take_slot
from adjudge.web.schema import arrangement, lease, pair

REOPENED = "correction"
"""The kind of a lease by which a ranking that was sent is changed."""

_ME: Any = bindparam("participant")
_HANDED_BACK = exists().where(
    lease.c.pair_id == pair.c.id, lease.c.participant_id == _ME, lease.c.ended_how == "released"
)
_BEGUN = exists().where(arrangement.c.pair_id == pair.c.id, arrangement.c.participant_id == _ME)
_NEXT_QUERY = next_pair(
    pair.c.id != bindparam("but"),
    order=[case((_HANDED_BACK, literal(2)), (_BEGUN, literal(0)), else_=literal(1, Integer))],
)
_NO_PAIR = -1


def hold_query(
    connection: Connection, campaign: Campaign, participant_id: int, *, now: float, but: int = _NO_PAIR
) -> Lease | None:
    """The query in somebody's hands, a ranking that they reopened before any other, else a new one; None for none.

    New ones are given out while the campaign is open only, and never the one ``but``. Needs a campaign that is
    :func:`~adjudge.web.campaign_rows.in_use`.
    """
    person = locked_participant(connection, participant_id)
    if person.set_aside_at is not None:
        return None
    held = in_hand(connection, participant_id)
    if held:
        first = held[0]
        # What ran out, but was taken by nobody else yet, is theirs again.
        return first if first.expires_at >= now else _prolonged(connection, campaign, first, now=now)
    if campaign.state != "open":
        return None
    expire(connection, campaign.id, now=now)
    asked = {"campaign": campaign.id, "participant": participant_id, "but": but}
    free = connection.execute(_NEXT_QUERY, asked).first()
    if free is None:
        return None
    slot = take_slot(connection, free.id, wanted=free.wanted)
    return _give(connection, campaign, participant_id, free.id, kind="judgment", slot=slot, now=now)


def in_hand(connection: Connection, participant_id: int) -> list[Lease]:
    """What somebody holds: a ranking that they reopened first."""
    query = select(lease).where(lease.c.participant_id == participant_id, lease.c.ended_at.is_(None))
    held = [lease_of(row) for row in connection.execute(query).mappings()]
    return sorted(held, key=lambda one: (one.kind != REOPENED, one.number))


def _give(
    connection: Connection,
    campaign: Campaign,
    participant_id: int,
    pair_id: int,
    *,
    kind: str,
    now: float,
    slot: int | None = None,
) -> Lease:
    number = next_number(connection, participant_id)
    values = {"kind": kind, "slot": slot, "number": number, "issued_at": now, "expires_at": kept_until(campaign, now)}
    return give(connection, campaign.id, participant_id, pair_id, **values)


def kept_until(campaign: Campaign, now: float) -> float:
    """Until when a ranking is kept that is changed now."""
    return now + 3600 * campaign.ranking.kept_hours


def _prolonged(connection: Connection, campaign: Campaign, found: Lease, *, now: float, **values: Any) -> Lease:
    values["expires_at"] = kept_until(campaign, now)
    statement = update(lease).where(lease.c.id == found.id).values(**values).returning(lease)
    return lease_of(connection.execute(statement).mappings().one())


def prolong(connection: Connection, campaign: Campaign, found: Lease, *, now: float) -> Lease:
    """The lease after its ranking changed: it lasts on; where it had run out and a place is free it is in force again.

    Where no place is free, or its expert was set aside or holds another query by now, it stays as it is.
    """
    if found.ended_at is None:
        return _prolonged(connection, campaign, found, now=now)
    if campaign.state != "open" or found.ended_how != "expired":
        return found
    if locked_participant(connection, found.participant_id).set_aside_at is not None:
        return found
    if any(one.kind == found.kind for one in in_hand(connection, found.participant_id)):
        return found
    values: dict[str, Any] = {"ended_at": None, "ended_how": None}
    if found.kind != REOPENED:
        free = connection.execute(
            select(pair.c.wanted)
            .where(pair.c.id == found.pair_id, pair.c.taken < pair.c.wanted, ~pair.c.held, new_to(found.participant_id))
            .with_for_update(of=pair, key_share=True)
        ).first()
        if free is None:
            return found
        values["slot"] = take_slot(connection, found.pair_id, wanted=free.wanted)
    return _prolonged(connection, campaign, found, now=now, **values)


def reopen(connection: Connection, campaign: Campaign, participant_id: int, answer_id: int, *, now: float) -> Lease:
    """Take a ranking of one's own into one's hands again, while the campaign is open; another that was is let go."""
    person = locked_participant(connection, participant_id)
    first = own_first_answer(connection, participant_id, answer_id)
    if person.set_aside_at is not None:
        raise Conflict("The organiser has ended your part in this campaign; your rankings stay as you sent them.")
    if first["kind"] != "judgment":
        raise Refused("Expected a ranking to change, got a query that was skipped.")
    if campaign.state != "open":
        raise Conflict(f"Rankings can be changed while the campaign is open; it is {campaign.state}.")
    for one in in_hand(connection, participant_id):
        if one.kind == REOPENED and one.pair_id == first["pair_id"]:
            return _prolonged(connection, campaign, one, now=now)
        if one.kind == REOPENED:
            release(connection, participant_id, now=now, only=one.id)
    return _give(connection, campaign, participant_id, first["pair_id"], kind=REOPENED, now=now)
