"""Leases: which question is with whom, and the counters of pairs that follow from leases and answers.

A lease gives one pair to one participant for a while. Every request of theirs renews it; it ends when they hand it
back, or by itself when nothing is heard of them, and the pair goes to somebody else. A pair is leased to at most as
many people at once as answers are still wanted; the index ``uq_lease_in_force`` makes two leases of one place
impossible, whatever this module does.

Nobody gets a pair twice, except as a planned repeat: after ``REPEAT_AFTER`` questions, a share of the questions are
ones that the participant answered at least ``REPEAT_AFTER`` questions ago, each at most once.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    and_,
    bindparam,
    delete,
    distinct,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign

QUESTIONS = ("judgment", "repeat")
"""Kinds of leases and answers that are about questions, not attention checks."""
GRADED = ("judgment", "import")
"""Kinds of answers that count; those of excluded people do not."""


def lock_pairs(connection: Connection, participant_id: int) -> list[int]:
    """The pairs somebody had to do with, kept from others: leases first, then pairs in order, as everybody locks them.

    Whoever calls this must have no pair locked yet, or two of them may wait for each other.
    """
    connection.execute(
        select(t.lease.c.id).where(t.lease.c.participant_id == participant_id).order_by(t.lease.c.id).with_for_update()
    ).all()
    theirs = or_(
        t.pair.c.id.in_(select(t.lease.c.pair_id).where(t.lease.c.participant_id == participant_id)),
        t.pair.c.id.in_(select(t.answer.c.pair_id).where(t.answer.c.participant_id == participant_id)),
    )
    # Others may go on pointing to these pairs meanwhile, as new leases do.
    ordered = select(t.pair.c.id).where(theirs).order_by(t.pair.c.id).with_for_update(key_share=True)
    return list(connection.execute(ordered).scalars())


def recount_pairs(connection: Connection, pair_ids: Sequence[int]) -> None:
    """Count again what is kept beside pairs."""
    in_force = (
        select(func.count())
        .select_from(t.lease)
        .where(t.lease.c.pair_id == t.pair.c.id, t.lease.c.ended_at.is_(None), t.lease.c.slot.is_not(None))
        .scalar_subquery()
    )
    people = (
        select(func.count(distinct(t.answer.c.participant_id)))
        .join(t.participant, t.participant.c.id == t.answer.c.participant_id)
        .where(t.answer.c.pair_id == t.pair.c.id, t.answer.c.kind.in_(GRADED), t.participant.c.set_aside_at.is_(None))
        .scalar_subquery()
    )
    for start in range(0, len(pair_ids), 500):  # databases limit the values of one statement
        some = t.pair.c.id.in_(pair_ids[start : start + 500])
        connection.execute(update(t.pair).where(some).values(taken=in_force + people, answered=people))


REPEAT_AFTER = 10
RETURN_SECONDS = 20.0


@dataclass(frozen=True)
class Lease:
    """A question in somebody's hands. ``number`` counts the questions of that person.

    ``swapped`` says whether list b stands first, None where no lists are compared.
    """

    id: str
    campaign_id: int
    pair_id: int
    participant_id: int
    kind: str
    slot: int | None
    number: int
    expires_at: float
    ended_at: float | None
    ended_how: str | None
    swapped: bool | None = None


def lease_of(row: RowMapping) -> Lease:
    """A row of the table as a lease."""
    return Lease(**{name: row[name] for name in Lease.__dataclass_fields__})


def hold(
    connection: Connection, campaign: Campaign, participant_id: int, *, now: float, seconds: float, most: int = 2
) -> list[Lease]:
    """The questions in a participant's hands, renewed, and as many new ones as make ``most``; oldest first.

    New ones are given out while the campaign is open only. Leases of others that ran out are ended on the way.
    """
    held = renew(connection, campaign.id, participant_id, now=now, seconds=seconds)
    if campaign.state != "open":
        return held
    expire(connection, campaign.id, now=now)
    while len(held) < most:
        new = _take(connection, campaign, participant_id, now=now, seconds=seconds)
        if new is None:
            break
        held.append(new)
    return held


def renew(connection: Connection, campaign_id: int, participant_id: int, *, now: float, seconds: float) -> list[Lease]:
    """Renew all leases of a participant who is still there; oldest first.

    What ran out, but was taken by nobody else yet, is theirs again.
    """
    mine = and_(
        t.lease.c.campaign_id == campaign_id, t.lease.c.participant_id == participant_id, t.lease.c.ended_at.is_(None)
    )
    rows = connection.execute(
        update(t.lease).where(mine).values(expires_at=now + seconds).returning(t.lease)
    ).mappings()
    return sorted(map(lease_of, rows), key=lambda held: held.number)


def expire(connection: Connection, campaign_id: int, *, now: float) -> int:
    """End every lease that ran out; the number of them.

    Nobody waits here: a lease whose pair somebody else is changing this moment is left for the next time. Whoever
    stores an answer has a pair in hand already, and two of them must not wait for the pairs of each other.
    """
    overdue = select(t.lease.c.id).where(
        t.lease.c.campaign_id == campaign_id, t.lease.c.ended_at.is_(None), t.lease.c.expires_at < now
    )
    return _end(connection, overdue, how="expired", now=now, wait=False)


def let_go(connection: Connection, participant_id: int, *, now: float) -> None:
    """A page was left, perhaps only to be loaded again: its questions are kept for a few seconds more."""
    mine = and_(t.lease.c.participant_id == participant_id, t.lease.c.ended_at.is_(None))
    soon = now + RETURN_SECONDS
    connection.execute(update(t.lease).where(mine, t.lease.c.expires_at > soon).values(expires_at=soon))


def release(connection: Connection, participant_id: int, *, now: float, only: str | None = None) -> int:
    """Hand back what is in a participant's hands, or ``only`` what one lease is about; the number of questions."""
    mine = select(t.lease.c.id).where(t.lease.c.participant_id == participant_id, t.lease.c.ended_at.is_(None))
    mine = mine if only is None else mine.where(t.lease.c.id == only)
    return _end(connection, mine, how="released", now=now)


def _end(connection: Connection, which: Select[Any], *, how: str, now: float, wait: bool = True) -> int:
    """End leases without an answer. Rows that somebody else is changing this moment are left to them.

    With ``wait`` that is leases only: their pairs are waited for.
    """
    ids = connection.execute(which.order_by(t.lease.c.id).with_for_update(skip_locked=True)).scalars().all()
    if not ids:
        return 0
    these = t.lease.c.id.in_(ids)
    slots = connection.execute(select(t.lease.c.id, t.lease.c.pair_id).where(these, t.lease.c.slot.is_not(None))).all()
    ended = set(ids)
    if slots:
        own = select(t.pair.c.id).where(t.pair.c.id.in_([row.pair_id for row in slots])).order_by(t.pair.c.id)
        got = set(connection.execute(own.with_for_update(skip_locked=not wait, key_share=True)).scalars())
        ended -= {row.id for row in slots if row.pair_id not in got}
        for pair_id in sorted(row.pair_id for row in slots if row.pair_id in got):
            connection.execute(update(t.pair).where(t.pair.c.id == pair_id).values(taken=t.pair.c.taken - 1))
    connection.execute(update(t.lease).where(t.lease.c.id.in_(ended)).values(ended_at=now, ended_how=how))
    return len(ended)


def lay_queue(connection: Connection, campaign_id: int, pair_ids: Sequence[int]) -> None:
    """What to ask next, most telling first, instead of what was laid before."""
    connection.execute(delete(t.queue).where(t.queue.c.campaign_id == campaign_id))
    rows = [{"campaign_id": campaign_id, "place": place, "pair_id": found} for place, found in enumerate(pair_ids)]
    if rows:
        connection.execute(insert(t.queue), rows)


def _take(
    connection: Connection, campaign: Campaign, participant_id: int, *, now: float, seconds: float
) -> Lease | None:
    """A new question for a participant, None if nothing is left for them now."""
    number = next_number(connection, participant_id)
    again = repeat_due(connection, campaign, participant_id, number)
    values: dict[str, Any] = {"number": number, "issued_at": now, "expires_at": now + seconds}
    if again is not None:
        return give(connection, campaign.id, participant_id, again, kind="repeat", **values)
    free = connection.execute(_NEXT_PAIR, {"campaign": campaign.id, "participant": participant_id}).first()
    if free is None:
        return None
    slot = take_slot(connection, free.id, wanted=free.wanted)
    return give(connection, campaign.id, participant_id, free.id, kind="judgment", slot=slot, **values)


def next_number(connection: Connection, participant_id: int) -> int:
    """How many questions a participant was given so far."""
    query = select(func.coalesce(func.max(t.lease.c.number) + 1, 0)).where(t.lease.c.participant_id == participant_id)
    return int(connection.execute(query).scalar_one())


def take_slot(connection: Connection, pair_id: int, *, wanted: int) -> int:
    """Take a place of a pair that is locked and has a free one; which it is."""
    slot = 0 if wanted == 1 else _free_slot(connection, pair_id)
    connection.execute(update(t.pair).where(t.pair.c.id == pair_id).values(taken=t.pair.c.taken + 1))
    return slot


def give(connection: Connection, campaign_id: int, participant_id: int, pair_id: int, **values: Any) -> Lease:
    """Store a new lease."""
    own = {"id": secrets.token_urlsafe(16), "campaign_id": campaign_id, "pair_id": pair_id}
    statement = insert(t.lease).values(**own, participant_id=participant_id, **values).returning(t.lease)
    return lease_of(connection.execute(statement).mappings().one())


def new_to(participant_id: BindParameter[int] | int) -> ColumnElement[bool]:
    """Of pairs: that a participant neither holds nor answered nor skipped them."""
    had = exists().where(
        t.lease.c.pair_id == t.pair.c.id,
        t.lease.c.participant_id == participant_id,
        or_(t.lease.c.ended_at.is_(None), t.lease.c.ended_how.in_(("answered", "skipped"))),
    )
    answered = exists().where(t.answer.c.pair_id == t.pair.c.id, t.answer.c.participant_id == participant_id)
    return and_(~had, ~answered)


def next_pair(*conditions: ColumnElement[bool], order: Sequence[ColumnElement[int]] = ()) -> Select[Any]:
    """The first pair of the queue that still wants somebody and is new to this participant; it is locked.

    The number of the ``campaign`` and of the ``participant`` are given when it is asked, and what ``conditions`` name.
    ``order`` comes before that of the queue.
    """
    me: BindParameter[int] = bindparam("participant")
    return (
        select(t.pair.c.id, t.pair.c.wanted)
        .join(t.queue, t.queue.c.pair_id == t.pair.c.id)
        .where(
            t.queue.c.campaign_id == bindparam("campaign"),
            t.pair.c.taken < t.pair.c.wanted,
            ~t.pair.c.held,
            new_to(me),
            *conditions,
        )
        .order_by(*order, t.queue.c.place)
        .limit(1)
        .with_for_update(of=t.pair, skip_locked=True, key_share=True)  # not skipping what is being laid into the queue
    )


_NEXT_PAIR = next_pair()


def _free_slot(connection: Connection, pair_id: int) -> int:
    """The lowest place of a pair that no lease in force has."""
    taken = connection.execute(
        select(t.lease.c.slot).where(
            t.lease.c.pair_id == pair_id, t.lease.c.ended_at.is_(None), t.lease.c.slot.is_not(None)
        )
    ).scalars()
    used = set(taken)
    return next(slot for slot in range(len(used) + 1) if slot not in used)


def repeat_due(connection: Connection, campaign: Campaign, participant_id: int, number: int) -> int | None:
    """The pair to ask again as question ``number``, where a repeat is planned there."""
    share, seed = campaign.settings.repeat_share, campaign.settings.seed
    if number < REPEAT_AFTER or chance(seed, participant_id, number) >= share:
        return None
    repeated = select(t.lease.c.pair_id).where(t.lease.c.participant_id == participant_id, t.lease.c.kind == "repeat")
    long_ago = select(t.lease.c.pair_id).where(
        t.lease.c.participant_id == participant_id,
        t.lease.c.kind == "judgment",
        t.lease.c.ended_how == "answered",
        t.lease.c.number <= number - REPEAT_AFTER,
        t.lease.c.pair_id.not_in(repeated),
    )
    found = connection.execute(long_ago).scalars().all()
    return min(found, key=lambda pair_id: chance(seed, participant_id, pair_id), default=None)


def chance(*parts: object) -> float:
    """A number in [0, 1) that looks random and is always the same for the same numbers and words."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
