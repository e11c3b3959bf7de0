"""What an assessor's page does: get a question, answer, skip, correct, say that they are there, leave."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from adjudge.errors import kept_warnings
from adjudge.formats import Source
from adjudge.web.api.body import Alive, AskingApi, Heard, TakenAnswer
from adjudge.web.api.files import Received, form_description, received, telling_sender
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Refused
from adjudge.web.http.access import AsOrganiser, AsParticipant, OwnCampaign
from adjudge.web.kinds.judging.assignment import (
    Desk,
    NewAnswer,
    NewCorrection,
    NewSkip,
    heard_of,
    make_desk,
    store_grades,
    store_other_grades,
    store_unable_to_grade,
)
from adjudge.web.kinds.judging.settings import JudgingSettings, settings_of
from adjudge.web.kinds.judging.store import (
    import_judgments,
    metadata_table,
    missing_items,
    own_answers,
    put_runs,
    read_runs,
)
from adjudge.web.store.campaigns import Campaign, campaign_by_id
from adjudge.web.store.leases import Lease, hold
from adjudge.web.store.media import unpacked
from adjudge.web.store.participants import Participant

router = APIRouter(prefix="/judging", tags=["judging"])


class Taken(TakenAnswer):
    """An answer that is stored for good, and the desk after it."""

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


def _hold(
    connection: Connection, context: Context, campaign: Campaign, participant: Participant, done: object
) -> list[Lease]:
    return hold(connection, campaign, participant.id, now=context.now(), seconds=context.settings.lease_seconds)


def _show(context: Context, campaign: Campaign, participant: Participant, leases: list[Lease]) -> Desk:
    with context.database.read() as connection:
        return make_desk(connection, campaign, participant, leases)


_JUDGING = AskingApi(JudgingSettings, Taken, _hold, _show, changes=False)


@router.get("", summary="The question in hand, or a new one")
def desk(participant: AsParticipant, context: InContext) -> Desk:
    """Lease a question if there is none; the same one comes back after a reload or on another device."""
    return _JUDGING.next(context, participant)


@router.post("/answers", summary="Answer a question and get the next")
def answer(sent: NewAnswer, participant: AsParticipant, context: InContext) -> Taken:
    """Store an answer; when this returns it is on the server's disk. The same key again changes nothing."""
    return _JUDGING.store(context, participant, sent, store_grades)


@router.post("/skips", summary="Say why a question cannot be answered and get the next")
def skip(sent: NewSkip, participant: AsParticipant, context: InContext) -> Taken:
    """Store a skip; the pair goes to somebody else."""
    return _JUDGING.store(context, participant, sent, store_unable_to_grade)


@router.post("/corrections", summary="Change an answer of one's own")
def correct(sent: NewCorrection, participant: AsParticipant, context: InContext) -> Taken:
    """Store a correction; the first answer stays in the log."""
    return _JUDGING.store(context, participant, sent, store_other_grades)


@router.get("/answers", summary="One's last answers")
def answers(
    participant: AsParticipant, context: InContext, last: Annotated[int, Query(ge=1, le=100)] = 10
) -> PastAnswers:
    """Newest first, with their grades as they stand now."""
    with context.database.read() as connection:
        _ = settings_of(campaign_by_id(connection, participant.campaign_id))
        own = own_answers(connection, participant.id, last=last)
        clips = heard_of(connection, [past.pair_id for past in own])
    return PastAnswers(
        answers=[
            PastAnswer(
                answer=past.answer_id,
                at=past.at,
                grades=past.grades,
                comment=past.comment,
                query=clips[past.pair_id][0],
                candidate=clips[past.pair_id][1],
            )
            for past in own
        ]
    )


@router.post("/heartbeat", summary="Say that one is still there")
def heartbeat(participant: AsParticipant, context: InContext) -> Alive:
    """Keep the questions in hand."""
    return _JUDGING.keep_alive(participant, context)


@router.post("/leave", status_code=204, summary="Hand the questions in hand back")
def leave(
    participant: AsParticipant,
    context: InContext,
    may_return: Annotated[bool, Query(description="Keep them for some seconds: the page may be loaded again.")] = False,
) -> Response:
    """For others to take; at once, unless one may be back in a moment."""
    return _JUDGING.hand_back(participant, context, may_return=may_return)


files_router = APIRouter(prefix="/campaigns/{name}", tags=["files"])


class TakenRuns(BaseModel):
    """Systems whose runs are kept now, what the reader had to say, and what is still missing."""

    systems: list[str]
    queries: int
    depth: int
    notes: list[str]
    missing: int


class OnePair(BaseModel):
    """A pair that the campaign does not ask about."""

    query: str
    document: str


class TakenJudgments(BaseModel):
    """What came of judgments: new ones, those that were there, those left out, their assessors, notes of the reader."""

    taken: int
    again: int
    unknown: list[OnePair]
    assessors: list[str]
    notes: list[str]


@files_router.put(
    "/runs",
    summary="Give a campaign its runs",
    openapi_extra=form_description(
        files="runs in any format that Adjudge reads; a zip is unpacked",
        format="name of the format, if it should not be recognised",
        artist_filter="true or false: remove the query and its artist's documents from rankings",
    ),
)
async def runs(request: Request, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext) -> TakenRuns:
    """Replace the runs of a draft."""
    async with received(request, context.settings) as form:
        return await run_in_threadpool(_runs, form, campaign, organiser.login, context)


def _runs(form: Received, campaign: Campaign, who: str, context: Context) -> TakenRuns:
    if not form.files.get("files"):
        raise Refused("Expected files with runs in the field 'files', got none.")
    form.files["files"] = list(unpacked(form.named("files"), form.folder, context.settings).items())
    with context.database.read() as connection:
        known = metadata_table(connection, campaign.id)
    with telling_sender(form):
        collection, notes = read_runs(
            form.readable("files"),
            columns=form.fields.get("columns") or None,
            metadata=None if known is None else known.frame,
            format_name=form.fields.get("format") or None,
            artist_filter=form.choice("artist_filter"),
        )
    inputs = [(form.plain(name), digest) for name, digest in collection.provenance.inputs]
    with context.database.write() as connection:
        put_runs(connection, campaign, collection.runs, inputs=inputs, who=who, now=context.now())
        missing = len(missing_items(connection, campaign))
    return TakenRuns(
        systems=list(collection.systems),
        queries=len(collection.queries),
        depth=collection.runs.depth,
        notes=[form.plain(note) for note in notes],
        missing=missing,
    )


@files_router.post(
    "/judgments",
    summary="Import judgments made elsewhere",
    openapi_extra=form_description(
        file="judgments in any format that Adjudge reads, perhaps with a column assessor",
        scale="which of the campaign's scales they are on",
        format="name of the format, if it should not be recognised",
        skip_unknown="true: leave out pairs that are no candidates instead of refusing the file",
    ),
)
async def judgments(
    request: Request, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> TakenJudgments:
    """Add them all or none; the same file again adds nothing."""
    async with received(request, context.settings) as form:
        return await run_in_threadpool(_judgments, form, campaign, organiser.login, context)


def _judgments(form: Received, campaign: Campaign, who: str, context: Context) -> TakenJudgments:
    file = form.one("file")
    if file is None:
        raise Refused("Expected a file with judgments in the field 'file', got none.")
    with telling_sender(form), context.database.write() as connection, kept_warnings() as notes:
        imported = import_judgments(
            connection,
            campaign,
            Source(file[0], Source.open(file[1]).packed),
            scale=form.fields.get("scale") or None,
            format_name=form.fields.get("format") or None,
            columns=form.fields.get("columns") or None,
            skip_unknown=bool(form.choice("skip_unknown")),
            who=who,
            now=context.now(),
        )
    context.estimating.changed(campaign.id)
    unknown = [OnePair(query=one.query, document=one.document) for one in imported.unknown]
    return TakenJudgments(
        taken=imported.taken,
        again=imported.again,
        unknown=unknown,
        assessors=list(imported.assessors),
        notes=[form.plain(note) for note in notes],
    )
