"""Leases of questions about two lists: a quiz of traps first, then questions, with traps mixed in.

Nobody gets a question before the quiz is decided, more questions than their campaign has for one person, or a trap
twice. Questions come batch after batch; where the campaign pauses after each, nothing of the next batch is given out
before it has paused. Whether a trap comes, which one, and which list stands first is drawn from the campaign's seed,
the person and the question: asked again, it is the same. So it is where somebody hands everything back and asks again:
what is drawn belongs to a place in their order, which is theirs until it is answered, or else the questions that come
again and again would tell themselves from traps.

What the page of a preference campaign shows: two lists, the question after it, how far one is, how it ended.

Nothing tells a trap from a question: they look alike, and progress counts both once the quiz is over. A completion code
is on the desk only when the part of its participant has an outcome: by then the server holds every answer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Connection, bindparam, func, or_, select, update

from adjudge.web.api.body import DeskCampaign, DeskParticipant, Heard, heard_from
from adjudge.web.kinds.preference.settings import settings_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, locked, log_event
from adjudge.web.store.leases import (
    QUESTIONS,
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
from adjudge.web.store.participants import Participant, locked_participant
from adjudge.web.store.recruiting import Outcome

_NEXT_QUESTION = next_pair(t.pair.c.batch == bindparam("batch"))


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


def part_of(connection: Connection, campaign: Campaign, participant_id: int) -> Part:
    """How far somebody is."""
    mine = t.answer.c.participant_id == participant_id
    query = select(t.answer.c.kind, t.pair.c.role, func.count().label("n")).join(
        t.pair, t.pair.c.id == t.answer.c.pair_id
    )
    counts: Counter[tuple[str, str]] = Counter()
    for row in connection.execute(query.where(mine).group_by(t.answer.c.kind, t.pair.c.role)):
        counts[row.kind, row.role] = row.n
    given = (
        select(t.lease.c.id).where(t.lease.c.participant_id == participant_id, t.lease.c.kind.in_(QUESTIONS)).limit(1)
    )
    held = select(t.lease).where(t.lease.c.participant_id == participant_id, t.lease.c.ended_at.is_(None))
    return Part(
        answered=sum(counts[kind, "question"] for kind in QUESTIONS),
        skipped=counts["skip", "question"],
        traps=counts["trap", "trap"],
        in_hand=tuple(lease_of(row) for row in connection.execute(held.order_by(t.lease.c.number)).mappings()),
        begun=connection.execute(given).first() is not None,
        unasked=_unasked_traps(connection, campaign, participant_id),
        quiz=settings_of(campaign).quiz,
    )


def _unasked_traps(connection: Connection, campaign: Campaign, participant_id: int) -> tuple[int, ...]:
    """Traps that somebody neither holds nor answered nor skipped, in an order drawn for them."""
    traps = select(t.pair.c.id).where(
        t.pair.c.campaign_id == campaign.id, t.pair.c.role == "trap", ~t.pair.c.held, new_to(participant_id)
    )
    ids = connection.execute(traps).scalars().all()
    return tuple(sorted(ids, key=lambda pair_id: chance("trap", campaign.settings.seed, participant_id, pair_id)))


def hold_questions(
    connection: Connection, campaign: Campaign, participant_id: int, *, now: float, seconds: float, most: int = 2
) -> list[Lease]:
    """The questions in a participant's hands, renewed, and as many new ones as make ``most``; by place.

    New ones are given out while the campaign is open only, and none to whom it is done with. Needs a campaign that is
    :func:`~adjudge.web.store.campaigns.in_use`.
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


def _take(
    connection: Connection, campaign: Campaign, participant_id: int, *, now: float, seconds: float
) -> Lease | None:
    """A new question or trap for a participant, None where there is none for them now."""
    part, settled = part_of(connection, campaign, participant_id), settings_of(campaign)
    number = next(free_places(connection, participant_id))
    values: dict[str, Any] = {"number": number, "issued_at": now, "expires_at": now + seconds}

    def leased(pair_id: int, kind: str, slot: int | None = None) -> Lease:
        swapped = chance("side", settled.seed, participant_id, pair_id) < 0.5
        own = {"kind": kind, "slot": slot, "swapped": swapped}
        return give(connection, campaign.id, participant_id, pair_id, **own, **values)

    if part.in_quiz:  # the last one alone: what comes after it depends on it
        is_enough = not part.unasked or part.traps + part.traps_in_hand >= settled.quiz
        return None if is_enough else leased(part.unasked[0], "trap")
    if part.answered + part.questions_in_hand >= settled.per_participant:
        return None
    asked = {"campaign": campaign.id, "participant": participant_id, "batch": open_batch(connection, campaign)}
    free = connection.execute(_NEXT_QUESTION, asked).first()
    if free is None:
        return None
    if part.unasked and trap_due(campaign, participant_id, number):
        return leased(part.unasked[0], "trap")
    again = repeat_due(connection, campaign, participant_id, number)
    if again is not None:
        return leased(again, "repeat")
    return leased(free.id, "judgment", take_slot(connection, free.id, wanted=free.wanted))


def free_places(connection: Connection, participant_id: int) -> Iterator[int]:
    """The places in somebody's order that nothing stands at, lowest first, without end.

    What they hold, answered or skipped stands at its place; what they gave back, or what ran out, at none.
    """
    stands = or_(t.lease.c.ended_at.is_(None), t.lease.c.ended_how.in_(("answered", "skipped")))
    query = select(t.lease.c.number).where(t.lease.c.participant_id == participant_id, stands)
    taken = set(connection.execute(query).scalars())
    return (place for place in count() if place not in taken)


def trap_due(campaign: Campaign, participant_id: int, number: int) -> bool:
    """Whether what stands at a place of somebody's order is to be a trap, once they passed the quiz."""
    share, seed = settings_of(campaign).trap_share, campaign.settings.seed
    return chance("trap due", seed, participant_id, number) < share


def is_anything_left(connection: Connection, campaign: Campaign, participant_id: int, *, for_now: bool = True) -> bool:
    """Whether there is a question that somebody could still be given.

    ``for_now`` says that what is in the hands of others is not: one that nobody has, of this batch, or of a later one
    where the campaign goes on to it by itself. Otherwise any that wants more answers is one.
    """
    wants = t.pair.c.taken < t.pair.c.wanted if for_now else t.pair.c.answered < t.pair.c.wanted
    conditions = [t.pair.c.campaign_id == campaign.id, *_is_asked(), wants, new_to(participant_id)]
    if for_now and settings_of(campaign).pause_after_batch:
        conditions.append(t.pair.c.batch == open_batch(connection, campaign))
    return connection.execute(select(t.pair.c.id).where(*conditions).limit(1)).first() is not None


def current_batch(connection: Connection, campaign_id: int) -> int | None:
    """The lowest batch that has a question which wants more answers; None where none has."""
    query = select(func.min(t.pair.c.batch)).where(
        t.pair.c.campaign_id == campaign_id, *_is_asked(), t.pair.c.answered < t.pair.c.wanted
    )
    found = connection.execute(query).scalar_one_or_none()
    return None if found is None else int(found)


def _is_asked() -> tuple[ColumnElement[bool], ...]:
    return (t.pair.c.role == "question", ~t.pair.c.held)


def open_batch(connection: Connection, campaign: Campaign) -> int | None:
    """The batch that questions are given out of; None where all are complete, or the campaign has to pause first."""
    batch = current_batch(connection, campaign.id)
    if not batch or not settings_of(campaign).pause_after_batch:
        return batch
    return batch if batch - 1 <= _paused_after(connection, campaign.id) else None


def _paused_after(connection: Connection, campaign_id: int) -> int:
    """The last batch after which a campaign has paused, -1 before it did."""
    ours = (t.event.c.campaign_id == campaign_id) & (t.event.c.what == "paused") & (t.event.c.who == "campaign")
    logged = connection.execute(select(t.event.c.details).where(ours)).scalars()
    return max((int(details.get("batch", -1)) for details in logged), default=-1)


def must_pause(connection: Connection, campaign: Campaign) -> bool:
    """Whether a batch is complete after which the campaign has not paused yet."""
    if campaign.state != "open" or not settings_of(campaign).pause_after_batch:
        return False
    return current_batch(connection, campaign.id) is not None and open_batch(connection, campaign) is None


def pause_after_batch(connection: Connection, campaign: Campaign, *, now: float) -> bool:
    """Pause a campaign whose batch is complete; whether it did.

    In a transaction of its own, as it waits for all answers that are on their way; until it is done nothing of the next
    batch is given out, so that nothing is lost where it fails.
    """
    there = locked(connection, campaign)
    if not must_pause(connection, there):
        return False
    batch = current_batch(connection, campaign.id)
    connection.execute(update(t.campaign).where(t.campaign.c.id == campaign.id).values(state="paused"))
    details = {"before": there.state, "batch": (batch or 0) - 1}
    log_event(connection, campaign.id, who="campaign", what="paused", details=details, now=now)
    return True


PreferenceWhy = Literal["closed", "paused", "draft", "nothing_left", "wait", "ended"]
_FORESEEN = 500
"""Questions whose traps are foreseen; for more of them the share is enough."""


class PreferenceQuestion(BaseModel):
    """A query and two lists, and the lease to answer with; ``number`` counts from 1."""

    lease: str
    expires_at: float
    number: int
    query: Heard
    first: list[Heard]
    second: list[Heard]


class PreferenceProgress(BaseModel):
    """How far one is: ``answered`` of about as many as there will be, after a quiz of ``quiz_of``."""

    answered: int
    of: int
    phase: Literal["quiz", "main"]
    quiz_answered: int
    quiz_of: int


class Completion(BaseModel):
    """How one's part ended, the code that proves it and the address to go back to."""

    outcome: Outcome
    code: str | None
    address: str | None


class PreferenceDesk(BaseModel):
    """Everything that the page needs; ``why`` says why there is no question."""

    campaign: DeskCampaign
    participant: DeskParticipant
    question: PreferenceQuestion | None
    next: PreferenceQuestion | None
    why: PreferenceWhy | None
    listen_seconds: float
    progress: PreferenceProgress
    outcome: Outcome | None
    completion: Completion | None


def make_preference_desk(
    connection: Connection, campaign: Campaign, participant: Participant, leases: Sequence[Lease]
) -> PreferenceDesk:
    """The desk of a participant who holds these leases; ``participant`` as they are after what they did."""
    questions = make_preference_questions(connection, leases[:2])
    completion = completion_of(campaign, participant)
    return PreferenceDesk(
        campaign=DeskCampaign(name=campaign.name, title=campaign.settings.title, state=campaign.state),
        participant=DeskParticipant(code=participant.code, name=participant.name, language=participant.language),
        question=questions[0] if questions else None,
        next=questions[1] if len(questions) > 1 else None,
        why=None if questions else _why(connection, campaign, participant),
        listen_seconds=campaign.settings.listen_seconds,
        progress=_progress(connection, campaign, participant),
        outcome=None if completion is None else completion.outcome,
        completion=completion,
    )


def completion_of(campaign: Campaign, participant: Participant) -> Completion | None:
    """The way back to the recruiter, for those whose part ended."""
    if participant.outcome is None:
        return None
    recruiter = campaign.settings.recruited_by()
    outcome: Outcome = participant.outcome  # type: ignore[assignment]
    code, address = (None, None) if recruiter is None else recruiter.way_back(outcome, participant.recruited or {})
    return Completion(outcome=outcome, code=code, address=address)


def make_preference_questions(connection: Connection, leases: Sequence[Lease]) -> list[PreferenceQuestion]:
    """Leased questions and traps as they are shown."""
    pair_ids = [found.pair_id for found in leases]
    columns = (t.item.c.kind, t.item.c.address, t.item.c.text, t.item.c.seconds)
    queries = (
        select(t.pair.c.id, *columns)
        .join(t.item, t.item.c.id == t.pair.c.query_item_id)
        .where(t.pair.c.id.in_(pair_ids))
    )
    heard = {row[0]: heard_from(*row[1:]) for row in connection.execute(queries)}
    inside = (
        select(t.listed.c.pair_id, t.listed.c.side, *columns)
        .join(t.item, t.item.c.id == t.listed.c.item_id)
        .where(t.listed.c.pair_id.in_(pair_ids))
        .order_by(t.listed.c.pair_id, t.listed.c.side, t.listed.c.rank)
    )
    lists: dict[tuple[int, str], list[Heard]] = defaultdict(list)
    for row in connection.execute(inside):
        lists[row[0], row[1]].append(heard_from(*row[2:]))
    return [
        PreferenceQuestion(
            lease=found.id,
            expires_at=found.expires_at,
            number=found.number + 1,
            query=heard[found.pair_id],
            first=lists[found.pair_id, "b" if found.swapped else "a"],
            second=lists[found.pair_id, "a" if found.swapped else "b"],
        )
        for found in leases
    ]


def _progress(connection: Connection, campaign: Campaign, participant: Participant) -> PreferenceProgress:
    part = part_of(connection, campaign, participant.id)
    in_quiz, quiz_traps = part.in_quiz, _quiz_traps(connection, part, participant.id)
    to_come = 0 if participant.outcome else _to_come(connection, campaign, participant.id, part)
    answered = 0 if in_quiz else part.answered + max(0, part.traps - quiz_traps)
    return PreferenceProgress(
        answered=answered,
        of=answered + to_come,
        phase="quiz" if in_quiz else "main",
        quiz_answered=min(part.traps, part.quiz) if in_quiz else quiz_traps,
        quiz_of=part.quiz,
    )


def _quiz_traps(connection: Connection, part: Part, participant_id: int) -> int:
    """Traps answered before the first question was given out."""
    mine = t.lease.c.participant_id == participant_id
    first = select(func.min(t.lease.c.number)).where(mine, t.lease.c.kind != "trap").scalar_subquery()
    before = select(func.count()).where(
        mine, t.lease.c.kind == "trap", t.lease.c.ended_how == "answered", t.lease.c.number < first
    )
    return min(connection.execute(before).scalar_one() if part.begun else part.traps, part.quiz)


def _to_come(connection: Connection, campaign: Campaign, participant_id: int, part: Part) -> int:
    """Questions and traps that somebody has before them, as their traps are drawn; the same whatever comes next.

    Counted so, progress goes one step with each answer, and nobody learns from it what was a trap.
    """
    asked = t.pair.c.campaign_id == campaign.id, t.pair.c.role == "question", ~t.pair.c.held
    there = connection.execute(select(func.count()).where(*asked)).scalar_one()
    questions = max(0, min(settings_of(campaign).per_participant, there) - part.answered)
    quiz_left = max(0, part.quiz - part.traps - part.traps_in_hand) if part.in_quiz else 0
    in_hand = () if part.in_quiz else part.in_hand
    total, questions = len(in_hand), questions - sum(one.kind != "trap" for one in in_hand)
    places, unasked = free_places(connection, participant_id), len(part.unasked) - quiz_left
    for place in islice(places, quiz_left, quiz_left + _FORESEEN):
        if questions <= 0:
            return total
        is_trap = unasked > 0 and trap_due(campaign, participant_id, place)
        total, unasked, questions = total + 1, unasked - is_trap, questions - (not is_trap)
    return total + questions


def _why(connection: Connection, campaign: Campaign, participant: Participant) -> PreferenceWhy:
    """Why somebody is asked nothing now."""
    if participant.outcome is not None or participant.set_aside_at is not None:
        return "ended"
    if campaign.state != "open":
        states: dict[str, PreferenceWhy] = {"draft": "draft", "paused": "paused"}
        return states.get(campaign.state, "closed")
    return "wait" if is_anything_left(connection, campaign, participant.id, for_now=False) else "nothing_left"
