"""What is kept beside pairs: places that are taken and people who answered, counted from leases and answers."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, distinct, func, or_, select, update

from adjudge.web.schema import answer, lease, pair, participant

GRADED = ("judgment", "import")
"""Kinds of answers that count; those of people who were set aside do not."""


def lock_pairs(connection: Connection, participant_id: int) -> list[int]:
    """The pairs somebody had to do with, kept from others: leases first, then pairs in order, as everybody locks them.

    Whoever calls this must have no pair locked yet, or two of them may wait for each other.
    """
    connection.execute(
        select(lease.c.id).where(lease.c.participant_id == participant_id).order_by(lease.c.id).with_for_update()
    ).all()
    theirs = or_(
        pair.c.id.in_(select(lease.c.pair_id).where(lease.c.participant_id == participant_id)),
        pair.c.id.in_(select(answer.c.pair_id).where(answer.c.participant_id == participant_id)),
    )
    # Others may go on pointing to these pairs meanwhile, as new leases do.
    ordered = select(pair.c.id).where(theirs).order_by(pair.c.id).with_for_update(key_share=True)
    return list(connection.execute(ordered).scalars())


def recount_pairs(connection: Connection, pair_ids: Sequence[int]) -> None:
    """Count again what is kept beside pairs."""
    in_force = (
        select(func.count())
        .select_from(lease)
        .where(lease.c.pair_id == pair.c.id, lease.c.ended_at.is_(None), lease.c.slot.is_not(None))
        .scalar_subquery()
    )
    people = (
        select(func.count(distinct(answer.c.participant_id)))
        .join(participant, participant.c.id == answer.c.participant_id)
        .where(answer.c.pair_id == pair.c.id, answer.c.kind.in_(GRADED), participant.c.set_aside_at.is_(None))
        .scalar_subquery()
    )
    for start in range(0, len(pair_ids), 500):  # databases take only so many values at once
        some = pair.c.id.in_(pair_ids[start : start + 500])
        connection.execute(update(pair).where(some).values(taken=in_force + people, answered=people))
