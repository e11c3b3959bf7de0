"""Files into a campaign and out of it: runs, questions, candidates, documents, judgments; and all exports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError, kept_warnings, shown
from adjudge.formats import Source
from adjudge.formats.columns import naming_columns
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.api.receiving import Received, received
from adjudge.web.campaign_rows import Campaign
from adjudge.web.context import Context, InContext
from adjudge.web.documents import take_documents
from adjudge.web.errors import Refused, WebError
from adjudge.web.exporting import export
from adjudge.web.holdings import metadata_table, missing_items, put_runs
from adjudge.web.importing import import_judgments
from adjudge.web.preference_holdings import count_questions, put_questions
from adjudge.web.question_files import question_files
from adjudge.web.ranking_files import candidate_files
from adjudge.web.ranking_holdings import put_candidates
from adjudge.web.run_files import read_runs
from adjudge.web.uploads import unpacked

router = APIRouter(prefix="/campaigns/{name}", tags=["files"])


def _form(**fields: str) -> dict[str, Any]:
    """What the description of the interface says about a form that is read by hand."""
    fields["columns"] = "which columns hold what, where names do not say it: query=userId,document=movieId,grade=rating"
    single: dict[str, Any] = {"type": "string", "format": "binary"}
    kinds = {"files": {"type": "array", "items": single}, **dict.fromkeys(("file", "table", "traps"), single)}
    properties = {name: {**kinds.get(name, {"type": "string"}), "description": about} for name, about in fields.items()}
    content = {"multipart/form-data": {"schema": {"type": "object", "properties": properties}}}
    return {"requestBody": {"required": True, "content": content}}


class TakenRuns(BaseModel):
    """Systems whose runs are kept now, what the reader had to say, and what is still missing."""

    systems: list[str]
    queries: int
    depth: int
    notes: list[str]
    missing: int


class TakenQuestions(BaseModel):
    """Questions and traps that are kept now, and how many documents or queries cannot be heard, read or seen yet."""

    questions: int
    traps: int
    queries: int
    scales: list[str]
    missing: int


class TakenCandidates(BaseModel):
    """Queries and candidates that are kept now, what the reader had to say, and how many cannot be heard yet."""

    queries: int
    candidates: int
    notes: list[str]
    missing: int


class OneProblem(BaseModel):
    """Why a document could not be taken."""

    document: str
    problem: str


class TakenDocuments(BaseModel):
    """What came of documents that were sent.

    ``already`` were there as they are; ``skipped`` are files of documents that nobody will be asked about; ``notes``
    say how the table was read.
    """

    taken: int
    already: int
    skipped: int
    described: int
    problems: list[OneProblem]
    notes: list[str]


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


@contextmanager
def _sender_is_told(form: Received) -> Iterator[None]:
    """What is wrong with a file is the sender's to mend, and is said without our own paths."""
    try:
        yield
    except WebError:
        raise
    except AdjudgeError as error:
        raise Refused(form.plain(str(error))) from None


def _naming(form: Received) -> AbstractContextManager[None]:
    """Read tables with the names that the sender gives to their columns."""
    return naming_columns(form.fields.get("columns") or None)


@router.put(
    "/runs",
    summary="Give a campaign its runs",
    openapi_extra=_form(
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
    with _sender_is_told(form):
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


@router.put(
    "/questions",
    summary="Give a preference campaign its questions",
    openapi_extra=_form(
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
    with _sender_is_told(form), _naming(form):
        given, inputs = question_files([*form.readable("file"), *form.readable("traps")])
    plain = [(form.plain(name), digest) for name, digest in inputs]
    with context.database.write() as connection:
        put_questions(connection, campaign, given, inputs=plain, who=who, now=context.now())
        n_questions, n_traps = count_questions(connection, campaign.id)
        missing = len(missing_items(connection, campaign))
    scales, queries = list(given.grades), len(set(given.queries))
    return TakenQuestions(questions=n_questions, traps=n_traps, queries=queries, scales=scales, missing=missing)


@router.put(
    "/candidates",
    summary="Give a ranking campaign the documents that are put in order for each query",
    openapi_extra=_form(
        files="a table with columns query and document, or JSON {query: [document, …]}; or runs, whose documents are "
        "pooled",
        cutoff="of runs, how many documents of each are taken for a query; all where it is not given",
    ),
)
async def candidates(
    request: Request, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> TakenCandidates:
    """Replace the candidates of a draft."""
    async with received(request, context.settings) as form:
        return await run_in_threadpool(_candidates, form, campaign, organiser.login, context)


def _candidates(form: Received, campaign: Campaign, who: str, context: Context) -> TakenCandidates:
    if not form.files.get("files"):
        raise Refused("Expected a file with candidates in the field 'files', got none.")
    cutoff = form.fields.get("cutoff") or None
    if cutoff is not None and (not cutoff.isdecimal() or len(cutoff) > 6):
        raise Refused(f"Expected a number as 'cutoff', got {shown(cutoff)}")
    with _sender_is_told(form), _naming(form):
        given = candidate_files(form.readable("files"), cutoff=None if cutoff is None else int(cutoff))
    inputs = [(form.plain(name), digest) for name, digest in given.inputs]
    with context.database.write() as connection:
        put_candidates(connection, campaign, given.candidates, inputs=inputs, who=who, now=context.now())
        missing = len(missing_items(connection, campaign))
    return TakenCandidates(
        queries=len(given.candidates),
        candidates=sum(map(len, given.candidates.values())),
        notes=[form.plain(note) for note in given.notes],
        missing=missing,
    )


@router.post(
    "/documents",
    summary="Give a campaign its documents",
    openapi_extra=_form(
        table="what is known of documents: a column document, and any of artist, genre, audio, image, text, url, …",
        files="files that people hear, read or see, called after their documents; a zip is unpacked",
        role="document, or query for queries that are no documents",
    ),
)
async def documents(
    request: Request, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> TakenDocuments:
    """Take in what can be used, and say what cannot; sending the same again only fills what is missing."""
    async with received(request, context.settings) as form:
        return await run_in_threadpool(_documents, form, campaign, organiser.login, context)


def _documents(form: Received, campaign: Campaign, who: str, context: Context) -> TakenDocuments:
    table = form.one("table")
    files = unpacked(form.named("files"), form.folder, context.settings)
    if table is None and not files:
        raise Refused("Expected a table or files, got neither.")
    with _sender_is_told(form), _naming(form), kept_warnings() as notes:
        taken = take_documents(
            context.database,
            context.settings,
            campaign,
            files=files,
            table=None if table is None else table[1],
            table_name=None if table is None else table[0],
            role=form.fields.get("role") or "document",
            who=who,
        )
    problems = [OneProblem(document=one.document, problem=form.plain(one.problem)) for one in taken.problems]
    return TakenDocuments(
        taken=taken.taken,
        already=taken.already,
        skipped=taken.skipped,
        described=taken.described,
        problems=problems,
        notes=[form.plain(note) for note in notes],
    )


@router.post(
    "/judgments",
    summary="Import judgments made elsewhere",
    openapi_extra=_form(
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
    with _sender_is_told(form), context.database.write() as connection, kept_warnings() as notes:
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


@router.get("/export/{what}", response_class=Response, summary="Judgments, answers, log, report, … as a file")
def exported(
    what: Literal[
        "qrels", "log", "report", "session", "answers", "questions", "mapping", "people", "rankings", "lists"
    ],
    campaign: OwnCampaign,
    context: InContext,
    *,
    scale: Annotated[str | None, Query(max_length=40)] = None,
    per: Literal["assessor", "aggregated"] = "aggregated",
    construction: Annotated[str | None, Query(max_length=60)] = None,
    format: Annotated[str | None, Query(max_length=20)] = None,  # noqa: A002 - as everywhere else
) -> Response:
    """As it stands now, at any moment.

    A judging campaign has qrels, log, report and session; a preference campaign has answers, questions, log, report,
    mapping and people, of which only the last has what recruiters told; a ranking campaign has rankings, lists, log,
    report and people.
    """
    with context.database.read() as connection:
        try:
            file = export(
                connection,
                campaign,
                what,
                scale=scale,
                per_assessor=per == "assessor",
                construction=construction,
                form=format,
            )
        except WebError:
            raise
        except AdjudgeError as error:
            raise Refused(str(error)) from None
    headers = {"Content-Disposition": _attachment(file.name), "Cache-Control": "no-store"}
    return Response(file.data, media_type=file.media_type, headers=headers)


def _attachment(name: str) -> str:
    """What makes a browser keep a file; names of scales may be written in any script, headers may not."""
    return f'attachment; filename="{name}"' if name.isascii() else f"attachment; filename*=UTF-8''{quote(name)}"
