"""What the page of a preference campaign does: get two lists, choose, skip, say that one is there, leave."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from adjudge.web.api.body import Alive, AskingApi, TakenAnswer
from adjudge.web.api.files import Received, form_description, naming, received, telling_sender
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Refused
from adjudge.web.http.access import AsOrganiser, AsParticipant, OwnCampaign
from adjudge.web.kinds.preference.answers import (
    NewChoice,
    NewPreferenceSkip,
    settle_outcome,
    store_choice,
    store_unable,
)
from adjudge.web.kinds.preference.assignment import (
    PreferenceDesk,
    hold_questions,
    make_preference_desk,
    must_pause,
    pause_after_batch,
)
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.kinds.preference.store import count_questions, put_questions, question_files
from adjudge.web.store.campaigns import Campaign, campaign_by_id
from adjudge.web.store.items import missing_listed_items
from adjudge.web.store.leases import Lease
from adjudge.web.store.participants import Participant

router = APIRouter(prefix="/preference", tags=["preference"])


class PreferenceTaken(TakenAnswer):
    """An answer that is stored for good, and the desk after it."""

    desk: PreferenceDesk


_Held = tuple[Participant, list[Lease]]


def _hold(
    connection: Connection, context: Context, campaign: Campaign, participant: Participant, done: object
) -> _Held:
    """The participant, whose part may be done, and what is in their hands from now on."""
    now, seconds = context.now(), context.settings.lease_seconds
    leases = hold_questions(connection, campaign, participant.id, now=now, seconds=seconds)
    return settle_outcome(connection, campaign, participant.id, now=now), leases


def _show(context: Context, campaign: Campaign, participant: Participant, held: _Held) -> PreferenceDesk:
    """The desk after a transaction; a batch that became complete in it is followed by a pause."""
    with context.database.read() as connection:
        pauses = must_pause(connection, campaign)
    if pauses:
        with context.database.write() as connection:
            pause_after_batch(connection, campaign, now=context.now())
    with context.database.read() as connection:
        return make_preference_desk(connection, campaign_by_id(connection, campaign.id), *held)


_PREFERENCE = AskingApi(PreferenceSettings, PreferenceTaken, _hold, _show)


@router.get("", summary="The question in hand, or a new one")
def preference_desk(participant: AsParticipant, context: InContext) -> PreferenceDesk:
    """Lease a question if there is none; the same one comes back after a reload or on another device."""
    return _PREFERENCE.next(context, participant)


@router.post("/answers", summary="Choose between two lists and get the next question")
def choose(sent: NewChoice, participant: AsParticipant, context: InContext) -> PreferenceTaken:
    """Store an answer; when this returns it is on the server's disk. The same key again changes nothing."""
    return _PREFERENCE.store(context, participant, sent, store_choice)


@router.post("/skips", summary="Say why a question cannot be answered and get the next")
def skip_question(sent: NewPreferenceSkip, participant: AsParticipant, context: InContext) -> PreferenceTaken:
    """Store a skip; the question goes to somebody else."""
    return _PREFERENCE.store(context, participant, sent, store_unable)


@router.post("/heartbeat", summary="Say that one is still there")
def preference_heartbeat(participant: AsParticipant, context: InContext) -> Alive:
    """Keep the questions in hand."""
    return _PREFERENCE.keep_alive(participant, context)


@router.post("/leave", status_code=204, summary="Hand the questions in hand back")
def preference_leave(
    participant: AsParticipant,
    context: InContext,
    may_return: Annotated[bool, Query(description="Keep them for some seconds: the page may be loaded again.")] = False,
) -> Response:
    """For others to take; at once, unless one may be back in a moment."""
    return _PREFERENCE.hand_back(participant, context, may_return=may_return)


files_router = APIRouter(prefix="/campaigns/{name}", tags=["files"])


class TakenQuestions(BaseModel):
    """Questions and traps that are kept now, and how many documents or queries cannot be heard, read or seen yet."""

    questions: int
    traps: int
    queries: int
    scales: list[str]
    missing: int


@files_router.put(
    "/questions",
    summary="Give a preference campaign its questions",
    openapi_extra=form_description(
        file="questions as CSV: question, query, a1, …, b1, …, expected and grades; those with an expected answer are "
        "traps",
        traps="more questions, of the same form",
    ),
)
async def questions(
    request: Request, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> TakenQuestions:
    """Replace the questions and traps of a draft."""
    async with received(request, context.settings) as form:
        return await run_in_threadpool(_questions, form, campaign, organiser.login, context)


def _questions(form: Received, campaign: Campaign, who: str, context: Context) -> TakenQuestions:
    if form.one("file") is None:
        raise Refused("Expected a file with questions in the field 'file', got none.")
    form.one("traps")  # one at most
    with telling_sender(form), naming(form):
        given, inputs = question_files([*form.readable("file"), *form.readable("traps")])
    plain = [(form.plain(name), digest) for name, digest in inputs]
    with context.database.write() as connection:
        put_questions(connection, campaign, given, inputs=plain, who=who, now=context.now())
        n_questions, n_traps = count_questions(connection, campaign.id)
        missing = len(missing_listed_items(connection, campaign))
    scales, queries = list(given.grades), len(set(given.queries))
    return TakenQuestions(questions=n_questions, traps=n_traps, queries=queries, scales=scales, missing=missing)
