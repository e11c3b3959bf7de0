"""Leases of questions about two lists: a quiz of traps first, then questions, with traps mixed in.

Nobody gets a question before the quiz is decided, more questions than their campaign has for one person, or a trap
twice. Questions come batch after batch; where the campaign pauses after each, nothing of the next batch is given out
before it has paused. Whether a trap comes, which one, and which list stands first is drawn from the campaign's seed,
the person and the question: asked again, it is the same. So it is where somebody hands everything back and asks again:
what is drawn belongs to a place in their order, which is theirs until it is answered, or else the questions that come
again and again would tell themselves from traps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, or_, select, update

from adjudge.web.campaign_rows import Campaign, locked, log_event
from adjudge.web.invitations import locked_participant
from adjudge.web.leasing import (
    Lease,
    chance,
    expire,
    give,
    lease_of,
    new_to,
    next_pair,
    renew,
    repeat_due,
    take_slot,
)
from adjudge.web.schema import answer, campaign, event, lease, pair

QUESTIONS = ("judgment", "repeat")
"""Kinds of leases and answers that are about questions, not traps."""

_NEXT_QUESTION = next_pair(pair.c.batch == bindparam("batch"))


@dataclass(frozen=True)
class Part:
    """What somebody did so far, and holds. ``answered`` are questions; traps are counted apart.

    ``unasked`` are the traps they can still be asked, in an order of their own.
    """

    answered: int
    skipped: int
    traps: int
    in_hand: tuple[Lease, ...]
    begun: bool
    unasked: tuple[int, ...]
    quiz: int

    @property
    def questions_in_hand(self) -> int:
        """Questions that are theirs to answer now."""
        return sum(one.kind in QUESTIONS for one in self.in_hand)

    @property
    def traps_in_hand(self) -> int:
        """Traps that are theirs to answer now."""
        return len(self.in_hand) - self.questions_in_hand

    @property
    def in_quiz(self) -> bool:
        """Whether they must answer more traps before they get questions; without more traps nobody can."""
        is_short = self.traps < self.quiz and not self.begun
        return is_short and bool(self.unasked or self.in_hand)


def part_of(connection: Connection, found: Campaign, participant_id: int) -> Part:
    """How far somebody is."""
    mine = answer.c.participant_id == participant_id
    query = select(answer.c.kind, pair.c.role, func.count().label("n")).join(pair, pair.c.id == answer.c.pair_id)
    counts: Counter[tuple[str, str]] = Counter()
    for row in connection.execute(query.where(mine).group_by(answer.c.kind, pair.c.role)):
        counts[row.kind, row.role] = row.n
    given = select(lease.c.id).where(lease.c.participant_id == participant_id, lease.c.kind.in_(QUESTIONS)).limit(1)
    held = select(lease).where(lease.c.participant_id == participant_id, lease.c.ended_at.is_(None))
    return Part(
        answered=sum(counts[kind, "question"] for kind in QUESTIONS),
        skipped=counts["skip", "question"],
        traps=counts["trap", "trap"],
        in_hand=tuple(lease_of(row) for row in connection.execute(held.order_by(lease.c.number)).mappings()),
        begun=connection.execute(given).first() is not None,
        unasked=_unasked_traps(connection, found, participant_id),
        quiz=found.preference.quiz,
    )


def _unasked_traps(connection: Connection, found: Campaign, participant_id: int) -> tuple[int, ...]:
    """Traps that somebody neither holds nor answered nor skipped, in an order drawn for them."""
    traps = select(pair.c.id).where(
        pair.c.campaign_id == found.id, pair.c.role == "trap", ~pair.c.held, new_to(participant_id)
    )
    ids = connection.execute(traps).scalars().all()
    return tuple(sorted(ids, key=lambda pair_id: chance("trap", found.settings.seed, participant_id, pair_id)))


def hold_questions(
    connection: Connection, campaign: Campaign, participant_id: int, *, now: float, seconds: float, most: int = 2
) -> list[Lease]:
    """The questions in a participant's hands, renewed, and as many new ones as make ``most``; by place.

    New ones are given out while the campaign is open only, and none to whom it is done with. Needs a campaign that is
    :func:`~adjudge.web.campaign_rows.in_use`.
    """
    person = locked_participant(connection, participant_id)
    if person.outcome is not None or person.set_aside_at is not None:
        return []
    held = renew(connection, campaign.id, participant_id, now=now, seconds=seconds)
    if campaign.state != "open":
        return held
    expire(connection, campaign.id, now=now)
    while len(held) < most:
        new = _take(connection, campaign, participant_id, now=now, seconds=seconds)
        if new is None:
            break
        held.append(new)
    return sorted(held, key=lambda one: one.number)


def _take(connection: Connection, found: Campaign, participant_id: int, *, now: float, seconds: float) -> Lease | None:
    """A new question or trap for a participant, None where there is none for them now."""
    part, settled = part_of(connection, found, participant_id), found.preference
    number = next(free_places(connection, participant_id))
    values: dict[str, Any] = {"number": number, "issued_at": now, "expires_at": now + seconds}

    def leased(pair_id: int, kind: str, slot: int | None = None) -> Lease:
        swapped = chance("side", settled.seed, participant_id, pair_id) < 0.5
        own = {"kind": kind, "slot": slot, "swapped": swapped}
        return give(connection, found.id, participant_id, pair_id, **own, **values)

    if part.in_quiz:  # the last one alone: what comes after it depends on it
        is_enough = not part.unasked or part.traps + part.traps_in_hand >= settled.quiz
        return None if is_enough else leased(part.unasked[0], "trap")
    if part.answered + part.questions_in_hand >= settled.per_participant:
        return None
    asked = {"campaign": found.id, "participant": participant_id, "batch": open_batch(connection, found)}
    free = connection.execute(_NEXT_QUESTION, asked).first()
    if free is None:
        return None
    if part.unasked and trap_due(found, participant_id, number):
        return leased(part.unasked[0], "trap")
    again = repeat_due(connection, found, participant_id, number)
    if again is not None:
        return leased(again, "repeat")
    return leased(free.id, "judgment", take_slot(connection, free.id, wanted=free.wanted))


def free_places(connection: Connection, participant_id: int) -> Iterator[int]:
    """The places in somebody's order that nothing stands at, lowest first, without end.

    What they hold, answered or skipped stands at its place; what they gave back, or what ran out, at none.
    """
    stands = or_(lease.c.ended_at.is_(None), lease.c.ended_how.in_(("answered", "skipped")))
    query = select(lease.c.number).where(lease.c.participant_id == participant_id, stands)
    taken = set(connection.execute(query).scalars())
    return (place for place in count() if place not in taken)


def trap_due(found: Campaign, participant_id: int, number: int) -> bool:
    """Whether what stands at a place of somebody's order is to be a trap, once they passed the quiz."""
    share, seed = found.preference.trap_share, found.settings.seed
    return chance("trap due", seed, participant_id, number) < share


def is_anything_left(connection: Connection, found: Campaign, participant_id: int, *, for_now: bool = True) -> bool:
    """Whether there is a question that somebody could still be given.

    ``for_now`` says that what is in the hands of others is not: one that nobody has, of this batch, or of a later one
    where the campaign goes on to it by itself. Otherwise any that wants more answers is one.
    """
    wants = pair.c.taken < pair.c.wanted if for_now else pair.c.answered < pair.c.wanted
    conditions = [pair.c.campaign_id == found.id, *_is_asked(), wants, new_to(participant_id)]
    if for_now and found.preference.pause_after_batch:
        conditions.append(pair.c.batch == open_batch(connection, found))
    return connection.execute(select(pair.c.id).where(*conditions).limit(1)).first() is not None


def current_batch(connection: Connection, campaign_id: int) -> int | None:
    """The lowest batch that has a question which wants more answers; None where none has."""
    query = select(func.min(pair.c.batch)).where(
        pair.c.campaign_id == campaign_id, *_is_asked(), pair.c.answered < pair.c.wanted
    )
    found = connection.execute(query).scalar_one_or_none()
    return None if found is None else int(found)


def _is_asked() -> tuple[ColumnElement[bool], ...]:
    return (pair.c.role == "question", ~pair.c.held)


def open_batch(connection: Connection, found: Campaign) -> int | None:
    """The batch that questions are given out of; None where all are complete, or the campaign has to pause first."""
    batch = current_batch(connection, found.id)
    if not batch or not found.preference.pause_after_batch:
        return batch
    return batch if batch - 1 <= _paused_after(connection, found.id) else None


def _paused_after(connection: Connection, campaign_id: int) -> int:
    """The last batch after which a campaign has paused, -1 before it did."""
    ours = (event.c.campaign_id == campaign_id) & (event.c.what == "paused") & (event.c.who == "campaign")
    logged = connection.execute(select(event.c.details).where(ours)).scalars()
    return max((int(details.get("batch", -1)) for details in logged), default=-1)


def must_pause(connection: Connection, found: Campaign) -> bool:
    """Whether a batch is complete after which the campaign has not paused yet."""
    if found.state != "open" or not found.preference.pause_after_batch:
        return False
    return current_batch(connection, found.id) is not None and open_batch(connection, found) is None


def pause_after_batch(connection: Connection, found: Campaign, *, now: float) -> bool:
    """Pause a campaign whose batch is complete; whether it did.

    In a transaction of its own, as it waits for all answers that are on their way; until it is done nothing of the next
    batch is given out, so that nothing is lost where it fails.
    """
    there = locked(connection, found)
    if not must_pause(connection, there):
        return False
    batch = current_batch(connection, found.id)
    connection.execute(update(campaign).where(campaign.c.id == found.id).values(state="paused"))
    details = {"before": there.state, "batch": (batch or 0) - 1}
    log_event(connection, found.id, who="campaign", what="paused", details=details, now=now)
    return True
