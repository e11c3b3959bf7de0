"""What an assessor's page does: get a question, answer, skip, correct, say that they are there, leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from adjudge.web.access import AsParticipant
from adjudge.web.answering import Given, Stored, store_answer, store_correction, store_skip
from adjudge.web.answers import own_answers
from adjudge.web.api.body import Body, LeaseId, Milliseconds, SentAnswer
from adjudge.web.campaign_rows import Campaign, campaign_by_id, in_use
from adjudge.web.context import Context, InContext
from adjudge.web.desk import Desk, Heard, heard_of, make_desk
from adjudge.web.errors import Refused
from adjudge.web.invitations import Participant, locked_participant, still_there
from adjudge.web.leasing import Lease, hold, let_go, release, renew

router = APIRouter(prefix="/judging", tags=["judging"])

Grades = dict[str, Annotated[float, Field(strict=True)]]  # true and "1" are no grades


class HeardTime(Body):
    """Milliseconds of each clip that were really played."""

    query_ms: Milliseconds = 0
    candidate_ms: Milliseconds = 0


class _Sent(SentAnswer):
    heard: HeardTime = HeardTime()
    took_ms: Milliseconds | None = None

    def given(self, grades: dict[str, float]) -> Given:
        """As the store wants it."""
        return Given(self.key, grades, self.heard.model_dump(), self.took_ms, self.words)


class NewAnswer(_Sent):
    """Grades for a question, one for each scale."""

    lease: LeaseId
    grades: Grades


class NewSkip(_Sent):
    """Why a question cannot be answered."""

    lease: LeaseId
    reason: Literal["broken", "cannot_tell", "known", "other"]


class NewCorrection(_Sent):
    """Other grades for an answer given before."""

    answer: Annotated[int, Field(ge=1, lt=2**63)]
    grades: Grades


class Taken(BaseModel):
    """An answer that is stored for good, and the desk after it."""

    answer: int
    again: bool
    desk: Desk


class PastAnswer(BaseModel):
    """An answer of one's own as it stands now."""

    answer: int
    at: float
    grades: dict[str, float]
    comment: str | None
    query: Heard
    candidate: Heard


class PastAnswers(BaseModel):
    """One's last answers, newest first."""

    answers: list[PastAnswer]


class Alive(BaseModel):
    """Until when the questions in one's hands are kept; none where there are none."""

    expires_at: float | None


def _hold(connection: Connection, context: Context, campaign: Campaign, participant: Participant) -> list[Lease]:
    return hold(connection, campaign, participant.id, now=context.now(), seconds=context.settings.lease_seconds)


def _begin(connection: Connection, participant: Participant) -> Campaign:
    """The campaign, in use; refused where it asks something else than grades."""
    campaign = in_use(connection, participant.campaign_id)
    _ = campaign.judging
    still_there(connection, participant)
    return campaign


def _store(context: Context, participant: Participant, store: Callable[[Connection, Campaign], Stored]) -> Taken:
    """Store something and take the next question in one transaction; then look up what the page shows."""
    with context.database.write() as connection:
        campaign = _begin(connection, participant)
        stored = store(connection, campaign)
        leases = _hold(connection, context, campaign, participant)
    context.estimating.changed(participant.campaign_id)
    with context.database.read() as connection:
        shown = make_desk(connection, campaign, participant, leases)
    return Taken(answer=stored.answer_id, again=stored.again, desk=shown)


@router.get("", summary="The question in hand, or a new one")
def desk(participant: AsParticipant, context: InContext) -> Desk:
    """Lease a question if there is none; the same one comes back after a reload or on another device."""
    with context.database.write() as connection:
        campaign = _begin(connection, participant)
        leases = _hold(connection, context, campaign, participant)
    with context.database.read() as connection:
        return make_desk(connection, campaign, participant, leases)


@router.post("/answers", summary="Answer a question and get the next")
def answer(sent: NewAnswer, participant: AsParticipant, context: InContext) -> Taken:
    """Store an answer; when this returns it is on the server's disk. The same key again changes nothing."""
    given = sent.given(sent.grades)

    def store(connection: Connection, campaign: Campaign) -> Stored:
        now = context.now()
        return store_answer(connection, campaign, participant.id, lease_id=sent.lease, given=given, now=now)

    return _store(context, participant, store)


@router.post("/skips", summary="Say why a question cannot be answered and get the next")
def skip(sent: NewSkip, participant: AsParticipant, context: InContext) -> Taken:
    """Store a skip; the pair goes to somebody else."""
    given = sent.given({})

    def store(connection: Connection, campaign: Campaign) -> Stored:
        now = context.now()
        return store_skip(connection, participant.id, lease_id=sent.lease, given=given, reason=sent.reason, now=now)

    return _store(context, participant, store)


@router.post("/corrections", summary="Change an answer of one's own")
def correct(sent: NewCorrection, participant: AsParticipant, context: InContext) -> Taken:
    """Store a correction; the first answer stays in the log."""
    given = sent.given(sent.grades)

    def store(connection: Connection, campaign: Campaign) -> Stored:
        now = context.now()
        return store_correction(connection, campaign, participant.id, answer_id=sent.answer, given=given, now=now)

    return _store(context, participant, store)


@router.get("/answers", summary="One's last answers")
def answers(
    participant: AsParticipant, context: InContext, last: Annotated[int, Query(ge=1, le=100)] = 10
) -> PastAnswers:
    """Newest first, with their grades as they stand now."""
    with context.database.read() as connection:
        _ = campaign_by_id(connection, participant.campaign_id).judging
        own = own_answers(connection, participant.id, last=last)
        clips = heard_of(connection, [one.pair_id for one in own])
    return PastAnswers(
        answers=[
            PastAnswer(
                answer=one.answer_id,
                at=one.at,
                grades=one.grades,
                comment=one.comment,
                query=clips[one.pair_id][0],
                candidate=clips[one.pair_id][1],
            )
            for one in own
        ]
    )


def _refuse_rankings(connection: Connection, participant: Participant) -> None:
    """A ranking stays with its expert for days, whether they are there or not."""
    campaign = campaign_by_id(connection, participant.campaign_id)
    if campaign.kind == "ranking":
        raise Refused(f"Campaign {campaign.name} asks for rankings, which have an address of their own.")


def keep_alive(participant: Participant, context: Context) -> Alive:
    """A sign of life in a campaign whose questions are leased for minutes."""
    with context.database.write() as connection:
        _refuse_rankings(connection, participant)
        still_there(connection, participant)
        seconds = context.settings.lease_seconds
        held = renew(connection, participant.campaign_id, participant.id, now=context.now(), seconds=seconds)
    return Alive(expires_at=held[0].expires_at if held else None)


def hand_back(participant: Participant, context: Context, *, may_return: bool) -> Response:
    """Give back what is in somebody's hands, in a campaign whose questions are leased for minutes."""
    with context.database.write() as connection:
        _refuse_rankings(connection, participant)
        locked_participant(connection, participant.id)
        (let_go if may_return else release)(connection, participant.id, now=context.now())
    return Response(status_code=204)


@router.post("/heartbeat", summary="Say that one is still there")
def heartbeat(participant: AsParticipant, context: InContext) -> Alive:
    """Keep the questions in hand."""
    return keep_alive(participant, context)


@router.post("/leave", status_code=204, summary="Hand the questions in hand back")
def leave(
    participant: AsParticipant,
    context: InContext,
    may_return: Annotated[bool, Query(description="Keep them for some seconds: the page may be loaded again.")] = False,
) -> Response:
    """For others to take; at once, unless one may be back in a moment."""
    return hand_back(participant, context, may_return=may_return)
