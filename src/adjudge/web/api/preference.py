"""What the page of a preference campaign does: get two lists, choose, skip, say that one is there, leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from adjudge.web.access import AsParticipant
from adjudge.web.answering import Stored
from adjudge.web.api.body import Body, LeaseId, Milliseconds, SentAnswer
from adjudge.web.api.judging import Alive, hand_back, keep_alive
from adjudge.web.campaign_rows import Campaign, campaign_by_id, in_use
from adjudge.web.context import Context, InContext
from adjudge.web.invitations import Participant, still_there
from adjudge.web.leasing import Lease
from adjudge.web.preference_answering import Choice, Chosen, Played, store_choice, store_unable
from adjudge.web.preference_desk import PreferenceDesk, make_preference_desk
from adjudge.web.preference_leasing import hold_questions, must_pause, pause_after_batch
from adjudge.web.preference_trust import settle_outcome

router = APIRouter(prefix="/preference", tags=["preference"])

Times = Annotated[tuple[Milliseconds, ...], Field(max_length=100)]


class PlayedTime(Body):
    """Milliseconds of each clip that were really played; of lists by rank."""

    query_ms: Milliseconds = 0
    first_ms: Times = ()
    second_ms: Times = ()


class _Sent(SentAnswer):
    lease: LeaseId
    heard: PlayedTime = PlayedTime()
    took_ms: Milliseconds | None = None

    def chosen(self, choice: Choice | None) -> Chosen:
        """As the store wants it."""
        played = Played(self.heard.query_ms, self.heard.first_ms, self.heard.second_ms)
        return Chosen(self.key, choice, played, self.took_ms, self.words)


class NewChoice(_Sent):
    """Which of the two lists is better, as they stand on the page, or that both are good or bad."""

    choice: Choice


class NewPreferenceSkip(_Sent):
    """Why a question cannot be answered."""

    reason: Literal["broken", "other"]


class PreferenceTaken(BaseModel):
    """An answer that is stored for good, and the desk after it."""

    answer: int
    again: bool
    desk: PreferenceDesk


def _next(
    connection: Connection, context: Context, campaign: Campaign, participant: Participant
) -> tuple[Participant, list[Lease]]:
    """What is in a participant's hands from now on, and the participant, whose part may be done."""
    now, seconds = context.now(), context.settings.lease_seconds
    leases = hold_questions(connection, campaign, participant.id, now=now, seconds=seconds)
    return settle_outcome(connection, campaign, participant.id, now=now), leases


def _begin(connection: Connection, participant: Participant) -> Campaign:
    """The campaign, in use; locks are taken in the same order by everybody: campaign, participant, leases, pairs."""
    campaign = in_use(connection, participant.campaign_id)
    _ = campaign.preference  # refuses campaigns that ask something else
    still_there(connection, participant, change=True)
    return campaign


def _shown(context: Context, campaign: Campaign, person: Participant, leases: list[Lease]) -> PreferenceDesk:
    """The desk after a transaction; a batch that became complete in it is followed by a pause."""
    with context.database.read() as connection:
        pauses = must_pause(connection, campaign)
    if pauses:
        with context.database.write() as connection:
            pause_after_batch(connection, campaign, now=context.now())
    with context.database.read() as connection:
        there = campaign_by_id(connection, campaign.id)
        return make_preference_desk(connection, there, person, leases)


def _store(
    context: Context, participant: Participant, store: Callable[[Connection, Campaign], Stored]
) -> PreferenceTaken:
    """Store something, do what follows from it and take the next question, all in one transaction."""
    with context.database.write() as connection:
        campaign = _begin(connection, participant)
        stored = store(connection, campaign)
        person, leases = _next(connection, context, campaign, participant)
    context.estimating.changed(participant.campaign_id)
    return PreferenceTaken(answer=stored.answer_id, again=stored.again, desk=_shown(context, campaign, person, leases))


@router.get("", summary="The question in hand, or a new one")
def preference_desk(participant: AsParticipant, context: InContext) -> PreferenceDesk:
    """Lease a question if there is none; the same one comes back after a reload or on another device."""
    with context.database.write() as connection:
        campaign = _begin(connection, participant)
        person, leases = _next(connection, context, campaign, participant)
    return _shown(context, campaign, person, leases)


@router.post("/answers", summary="Choose between two lists and get the next question")
def choose(sent: NewChoice, participant: AsParticipant, context: InContext) -> PreferenceTaken:
    """Store an answer; when this returns it is on the server's disk. The same key again changes nothing."""
    chosen = sent.chosen(sent.choice)

    def store(connection: Connection, campaign: Campaign) -> Stored:
        now = context.now()
        return store_choice(connection, campaign, participant.id, lease_id=sent.lease, chosen=chosen, now=now)

    return _store(context, participant, store)


@router.post("/skips", summary="Say why a question cannot be answered and get the next")
def skip_question(sent: NewPreferenceSkip, participant: AsParticipant, context: InContext) -> PreferenceTaken:
    """Store a skip; the question goes to somebody else."""
    chosen = sent.chosen(None)

    def store(connection: Connection, campaign: Campaign) -> Stored:
        now, lease_id = context.now(), sent.lease
        return store_unable(
            connection, campaign, participant.id, lease_id=lease_id, chosen=chosen, reason=sent.reason, now=now
        )

    return _store(context, participant, store)


@router.post("/heartbeat", summary="Say that one is still there")
def preference_heartbeat(participant: AsParticipant, context: InContext) -> Alive:
    """Keep the questions in hand."""
    return keep_alive(participant, context)


@router.post("/leave", status_code=204, summary="Hand the questions in hand back")
def preference_leave(
    participant: AsParticipant,
    context: InContext,
    may_return: Annotated[bool, Query(description="Keep them for some seconds: the page may be loaded again.")] = False,
) -> Response:
    """For others to take; at once, unless one may be back in a moment."""
    return hand_back(participant, context, may_return=may_return)
