"""What the page of a ranking campaign does: get a query, save the ranking, send it, change it, skip, hand back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from adjudge.web.access import AsParticipant
from adjudge.web.answering import Given, Stored, own_lease
from adjudge.web.api.body import Body, LeaseId, Milliseconds, SentAnswer
from adjudge.web.api.judging import Alive
from adjudge.web.campaign_rows import Campaign, campaign_by_id, in_use
from adjudge.web.context import Context, InContext
from adjudge.web.failures import Failure
from adjudge.web.invitations import Participant, still_there
from adjudge.web.leasing import Lease
from adjudge.web.ranking_answering import NoPlaceLeft, Ordered, store_order, store_unable_to_order
from adjudge.web.ranking_arranging import StaleArrangement, hand_back, keep_arrangement, save_arrangement
from adjudge.web.ranking_desk import ArrangedGroups, RankingDesk, make_ranking_desk
from adjudge.web.ranking_leasing import hold_query, in_hand, reopen
from adjudge.web.ranking_settings import MOST_CANDIDATES

router = APIRouter(prefix="/ranking", tags=["ranking"])

ItemId = Annotated[int, Field(ge=1, lt=2**63, strict=True)]  # true and "1" are no documents
ItemKey = Annotated[int, Field(ge=1, lt=2**63)]  # keys of JSON are text
Group = Annotated[list[ItemId], Field(max_length=MOST_CANDIDATES)]
Order = Annotated[list[Group], Field(max_length=2 * MOST_CANDIDATES)]
_LONGEST_MS = 2**31 - 1  # more than three weeks: somebody may come back to a ranking


class NewArrangement(Body):
    """A ranking as it is now, made from a version of it; what is in no group is unranked."""

    lease: LeaseId
    version: Annotated[int, Field(ge=0, lt=2**31)]
    groups: Order


class SavedArrangement(BaseModel):
    """The version that was stored, when, until when the query is kept, and whether the campaign is still open."""

    version: int
    saved_at: float
    expires_at: float
    state: str


class RankingAlive(Alive):
    """Until when the query in one's hands is kept, and whether the campaign is still open."""

    state: str


class Stale(Failure):
    """The ranking was changed elsewhere since: how it stands there."""

    arrangement: ArrangedGroups


class ClipTimes(Body):
    """Milliseconds of each clip that were really played; of candidates by ``id``."""

    query_ms: Milliseconds = 0
    candidates_ms: Annotated[dict[ItemKey, Milliseconds], Field(max_length=MOST_CANDIDATES)] = Field(
        default_factory=dict
    )


class NewOrder(SentAnswer):
    """A whole ranking: groups of candidates by ``id``, the most similar first; all others are unranked."""

    lease: LeaseId
    groups: Order
    heard: ClipTimes = Field(default_factory=ClipTimes)
    took_ms: Annotated[int | None, Field(ge=0, le=_LONGEST_MS)] = None


class NewRankingSkip(SentAnswer):
    """Why the documents of a query cannot be put in order."""

    lease: LeaseId
    reason: Literal["broken", "other"]


class Reopening(Body):
    """An answer of one's own."""

    answer: ItemId


class HandingBack(Body):
    """What is handed back."""

    lease: LeaseId


class RankingTaken(BaseModel):
    """An answer that is stored for good, and the desk after it."""

    answer: int
    again: bool
    desk: RankingDesk


def _begin(connection: Connection, participant: Participant) -> Campaign:
    """The campaign, in use; locks are taken in the same order by everybody: campaign, participant, leases, pairs."""
    campaign = in_use(connection, participant.campaign_id)
    _ = campaign.ranking  # refuses campaigns that ask something else
    still_there(connection, participant, change=True)
    return campaign


def _next(
    context: Context, participant: Participant, do: Callable[[Connection, Campaign], Lease | None] | None = None
) -> RankingDesk:
    """Do something, if anything, and show what is in hand after it, all but the query of the lease that it gives."""
    with context.database.write() as connection:
        campaign = _begin(connection, participant)
        left = None if do is None else do(connection, campaign)
        more = {} if left is None else {"but": left.pair_id}
        held = hold_query(connection, campaign, participant.id, now=context.now(), **more)
    with context.database.read() as connection:
        return make_ranking_desk(connection, campaign, participant, held)


def _store(context: Context, participant: Participant, store: Callable[[Connection, Campaign], Stored]) -> RankingTaken:
    """Store something and take the next query, all in one transaction."""
    kept: list[Stored] = []

    def do(connection: Connection, campaign: Campaign) -> None:
        kept.append(store(connection, campaign))

    desk = _next(context, participant, do)
    context.estimating.changed(participant.campaign_id)
    return RankingTaken(answer=kept[-1].answer_id, again=kept[-1].again, desk=desk)


@router.get("", summary="The query in hand with the ranking so far, or a new one")
def ranking_desk(participant: AsParticipant, context: InContext) -> RankingDesk:
    """Lease a query if there is none; the same one comes back after a reload or on another device."""
    return _next(context, participant)


@router.put(
    "/arrangement",
    summary="Save the ranking so far",
    response_model=SavedArrangement,
    responses={409: {"model": Stale, "description": "It was changed elsewhere since, and how."}},
)
def save(sent: NewArrangement, participant: AsParticipant, context: InContext) -> Response | SavedArrangement:
    """Keep a ranking that is not finished, and its query; when this returns it is on the server's disk.

    Rankings of any shape are taken. One that was made from an older version is refused with how it stands, unless it is
    the very same.
    """
    try:
        with context.database.write() as connection:
            campaign = _begin(connection, participant)
            saved = save_arrangement(
                connection,
                campaign,
                participant.id,
                lease_id=sent.lease,
                version=sent.version,
                groups=sent.groups,
                now=context.now(),
            )
    except StaleArrangement as stale:
        there = ArrangedGroups(version=stale.there.version, groups=[list(group) for group in stale.there.groups])
        told = {"status": stale.status, "message": str(stale)}
        return JSONResponse({"error": told, "arrangement": there.model_dump()}, status_code=stale.status)
    return SavedArrangement(
        version=saved.version, saved_at=saved.saved_at, expires_at=saved.expires_at, state=campaign.state
    )


@router.post("/answers", summary="Send a ranking and get the next query")
def order(sent: NewOrder, participant: AsParticipant, context: InContext) -> RankingTaken:
    """Store a ranking, or the change of one; when this returns it is on disk. The same key again changes nothing.

    Where a query had run out and others have all its places, the ranking is refused, and kept as one that was begun.
    """
    times, now = sent.heard, context.now()
    ordered = Ordered(sent.key, sent.groups, times.query_ms, times.candidates_ms, sent.took_ms, sent.words)

    def store(connection: Connection, campaign: Campaign) -> Stored:
        return store_order(connection, campaign, participant.id, lease_id=sent.lease, ordered=ordered, now=now)

    try:
        return _store(context, participant, store)
    except NoPlaceLeft:
        with context.database.write() as connection:
            _begin(connection, participant)
            found = own_lease(connection, participant.id, sent.lease)
            keep_arrangement(connection, found, sent.groups, now=now)
        raise


@router.post("/skips", summary="Say why a query cannot be done and get the next")
def ranking_skip(sent: NewRankingSkip, participant: AsParticipant, context: InContext) -> RankingTaken:
    """Store a skip; the query goes to somebody else."""
    given = Given(sent.key, {}, {}, None, sent.words)

    def store(connection: Connection, campaign: Campaign) -> Stored:
        now, reason = context.now(), sent.reason
        return store_unable_to_order(
            connection, participant.id, lease_id=sent.lease, given=given, reason=reason, now=now
        )

    return _store(context, participant, store)


@router.post("/reopen", summary="Change a ranking that was sent")
def reopen_order(sent: Reopening, participant: AsParticipant, context: InContext) -> RankingDesk:
    """Take it into one's hands again, before any other query, until it is sent again or handed back."""

    def do(connection: Connection, campaign: Campaign) -> None:
        reopen(connection, campaign, participant.id, sent.answer, now=context.now())

    return _next(context, participant, do)


@router.post("/hand-back", summary="Hand a query back and get another")
def hand_query_back(sent: HandingBack, participant: AsParticipant, context: InContext) -> RankingDesk:
    """For others to take; it comes again after all others, with its ranking. A reopened one stays as it was sent."""

    def do(connection: Connection, campaign: Campaign) -> Lease:
        return hand_back(connection, participant.id, sent.lease, now=context.now())

    return _next(context, participant, do)


@router.post("/heartbeat", summary="Say that one is still there")
def ranking_heartbeat(participant: AsParticipant, context: InContext) -> RankingAlive:
    """Until when the query in hand is kept: only changing its ranking makes that later."""
    with context.database.write() as connection:
        still_there(connection, participant)
        held = in_hand(connection, participant.id)
        state = campaign_by_id(connection, participant.campaign_id).state
    return RankingAlive(expires_at=held[0].expires_at if held else None, state=state)
