"""What the page of a preference campaign shows: two lists, the question after it, how far one is, how it ended.

Nothing tells a trap from a question: they look alike, and progress counts both once the quiz is over. A completion code
is on the desk only when the part of its participant has an outcome: by then the server holds every answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from typing import Literal

from pydantic import BaseModel
from sqlalchemy import Connection, func, select

from adjudge.web.campaign_rows import Campaign
from adjudge.web.desk import DeskCampaign, DeskParticipant, Heard, heard_from
from adjudge.web.invitations import Participant
from adjudge.web.leasing import Lease
from adjudge.web.preference_leasing import Part, free_places, is_anything_left, part_of, trap_due
from adjudge.web.preference_settings import Outcome
from adjudge.web.recruiting import recruiter_of
from adjudge.web.schema import item, lease, listed, pair

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
    recruiter = recruiter_of(campaign)
    outcome: Outcome = participant.outcome  # type: ignore[assignment]
    code, address = (None, None) if recruiter is None else recruiter.way_back(outcome, participant.recruited or {})
    return Completion(outcome=outcome, code=code, address=address)


def make_preference_questions(connection: Connection, leases: Sequence[Lease]) -> list[PreferenceQuestion]:
    """Leased questions and traps as they are shown."""
    pair_ids = [found.pair_id for found in leases]
    columns = (item.c.kind, item.c.address, item.c.text, item.c.seconds)
    queries = select(pair.c.id, *columns).join(item, item.c.id == pair.c.query_item_id).where(pair.c.id.in_(pair_ids))
    heard = {row[0]: heard_from(*row[1:]) for row in connection.execute(queries)}
    inside = (
        select(listed.c.pair_id, listed.c.side, *columns)
        .join(item, item.c.id == listed.c.item_id)
        .where(listed.c.pair_id.in_(pair_ids))
        .order_by(listed.c.pair_id, listed.c.side, listed.c.rank)
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
    mine = lease.c.participant_id == participant_id
    first = select(func.min(lease.c.number)).where(mine, lease.c.kind != "trap").scalar_subquery()
    before = select(func.count()).where(
        mine, lease.c.kind == "trap", lease.c.ended_how == "answered", lease.c.number < first
    )
    return min(connection.execute(before).scalar_one() if part.begun else part.traps, part.quiz)


def _to_come(connection: Connection, campaign: Campaign, participant_id: int, part: Part) -> int:
    """Questions and traps that somebody has before them, as their traps are drawn; the same whatever comes next.

    Counted so, progress goes one step with each answer, and nobody learns from it what was a trap.
    """
    asked = pair.c.campaign_id == campaign.id, pair.c.role == "question", ~pair.c.held
    there = connection.execute(select(func.count()).where(*asked)).scalar_one()
    questions = max(0, min(campaign.preference.per_participant, there) - part.answered)
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
