"""A judging campaign over HTTP: questions and answers, runs and judgments as files, and what its pages show."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from sqlalchemy import Connection, select
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError, kept_warnings, shown
from adjudge.formats import Source
from adjudge.relevance.choosing import GOALS
from adjudge.web.api.body import Alive, AskingApi, Heard, TakenAnswer
from adjudge.web.api.files import Received, form_description, received, telling_sender
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Refused
from adjudge.web.http.access import AsOrganiser, AsParticipant, OwnCampaign
from adjudge.web.kinds.base import Card
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
from adjudge.web.kinds.judging.settings import AskedScale, JudgingSettings, asked_scale, settings_of
from adjudge.web.kinds.judging.store import (
    candidates_of,
    import_judgments,
    metadata_table,
    missing_items,
    own_answers,
    put_runs,
    read_runs,
)
from adjudge.web.kinds.lifecycle import Overview
from adjudge.web.pages.answers import (
    ChosenAnswers,
    Download,
    answers_address,
    answers_page,
    export_links,
    list_answers,
    list_downloads,
)
from adjudge.web.pages.forms import number
from adjudge.web.pages.shared import (
    OrganiserRoute,
    go,
    several,
)
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, CampaignSettings, campaign_by_id
from adjudge.web.store.leases import Lease, hold
from adjudge.web.store.media import unpacked
from adjudge.web.store.participants import Participant

router = APIRouter(prefix="/judging", tags=["judging"])


class Taken(TakenAnswer):
    """An answer that is stored for good, and the next assignment."""

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


pages_router = APIRouter(prefix="/campaigns/{name}/judgments", route_class=OrganiserRoute)


@pages_router.get("")
def list_judgments(
    request: Request,
    *,
    organiser: AsOrganiser,
    campaign: OwnCampaign,
    context: InContext,
    person: Annotated[str, Query(max_length=200)] = "",
    assessor: Annotated[str, Query(max_length=200)] = "",
    question: Annotated[str, Query(max_length=400)] = "",
    query: Annotated[str, Query(max_length=400)] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
    before: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
) -> Response:
    """The page of answers; ``assessor`` and ``query`` are other names of ``person`` and ``question``."""
    return list_answers(
        request,
        organiser=organiser,
        campaign=campaign,
        context=context,
        person=person or assessor,
        question=question or query,
        kind=kind,
        before=before,
    )


@pages_router.post("/import")
async def import_from_form(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext
) -> Response:
    """Judgments from a form without scripts."""
    try:
        await judgments(request, campaign, organiser, context)
    except AdjudgeError as error:
        chosen = ChosenAnswers()
        return await run_in_threadpool(answers_page, request, context, organiser, campaign, chosen, problem=error)
    return go(answers_address(campaign), "imported")


def answers_values(campaign: Campaign) -> dict[str, Any]:
    """What the page of answers shows of a judging campaign."""
    scales = [scale.name for scale in settings_of(campaign).scales]
    ways = (
        ("aggregated", "", "one grade per pair, the mean over assessors"),
        ("assessor", ", by assessor", "one by one"),
    )
    qrels = []
    for scale, (per, more, about) in product(scales, ways):
        links = export_links(campaign, "qrels", ("trec", "csv"), scale=scale, per=per)
        qrels.append(Download(f"Judgments, {scale}{more}", about, links))
    others = {
        "log": ("Log", "everything that was sent, in order"),
        "report": ("Report", "ranking, confidence, what it rests on"),
        "session": ("Session", "for Session.load in Python"),
    }
    return {"scales": scales, "files": [*qrels, *list_downloads(campaign, others)]}


def set_up_values(connection: Connection, campaign: Campaign) -> dict[str, Any]:
    """What the set-up page shows of a judging campaign; nothing is counted while there are no runs."""
    columns = select(t.run.c.system, t.run.c.team, t.run.c.source).where(t.run.c.campaign_id == campaign.id)
    systems = list(connection.execute(columns.order_by(t.run.c.system)).all())
    counts = {}
    if systems:
        pool = candidates_of(connection, campaign)
        counts = {
            "systems": several(len(systems), "system"),
            "queries": several(len(pool.queries), "query", "queries"),
            "candidates": several(len(pool), "pair"),
        }
    settings = settings_of(campaign)
    facts = {"Goal": goal_in_words(settings), "Measure": f"{settings.measure} on {settings.evaluated.name}"}
    return {"has_material": bool(systems), "systems": systems, "counts": counts, "facts": facts}


class Clips(BaseModel):
    """What assessors hear of a pair."""

    query: Heard
    candidate: Heard


def card(campaign: Campaign, seen: Overview, status: Mapping[str, Any], live: int) -> Card:
    """The campaign in the list: how much of the way to the goal is done, as a share of judgments."""
    judged, candidates = status.get("judged", seen.judged), status.get("candidates", seen.pairs)
    there = f"{several(live, 'assessor')} judging now" if live else several(seen.participants, "assessor")
    return Card(
        name=campaign.name,
        title=campaign.settings.title,
        state=campaign.state,
        goal=goal_in_words(settings_of(campaign)),
        candidates=candidates,
        share=_nearness(status, judged, candidates),
        progress=f"{judged:,} of {candidates:,} judged",
        value="The goal is reached" if status.get("done") else "",
        live=live,
        people=there,
    )


def _nearness(status: Mapping[str, Any], judged: int, candidates: int) -> float:
    """How much of the way to the goal is done, as a share of judgments."""
    if status.get("done"):
        return 1.0
    return round(judged / candidates, 4) if candidates else 0.0


PRESETS: Mapping[str, tuple[AskedScale, ...]] = {
    "broad+fine": (asked_scale("broad"), asked_scale("fine")),
    "broad": (asked_scale("broad"),),
    "fine": (asked_scale("fine"),),
    "binary": (asked_scale("binary"),),
}
"""Scales to choose among, by the value of their field."""
_IN_PERCENT = ("order", "winner", "top", "every", "confidence", "pairs")
_ENDS = ("minimum", "maximum", "step")


def fill_form(settings: CampaignSettings) -> dict[str, Any]:
    """Which of the usual scales, the ends of another one, and a level for each goal."""
    assert isinstance(settings, JudgingSettings)
    goal = settings.goal
    preset = _preset(settings.scales)
    own = settings.scales[0] if preset == "own" else asked_scale("0..4")
    form = {"scales": preset, **{f"own_{end}": f"{getattr(own, end):g}" for end in _ENDS}}
    for kind in GOALS:
        level = goal.level if goal.kind == kind and goal.level is not None else GOALS[kind].level
        form[f"level_{kind}"] = f"{level * 100 if kind in _IN_PERCENT else level:g}"
    return form


def read_form(form: Mapping[str, Any], values: dict[str, Any], before: CampaignSettings | None) -> dict[str, Any]:
    """Scales, and the level of the goal; those that were there keep their words."""
    assert before is None or isinstance(before, JudgingSettings)
    scales = _scales(form, before)
    is_kept = values.get("on_scale") in {scale.name for scale in scales}
    return {
        **values,
        "scales": [scale.model_dump(mode="json") for scale in scales],
        "on_scale": values["on_scale"] if is_kept else None,
        "goal": {**values["goal"], "level": _level(form, before)},
    }


def _preset(scales: tuple[AskedScale, ...]) -> str:
    """Which choice of the form these scales are; ``own`` for a single other one, ``kept`` for what it cannot show."""
    asked = [_levels(scale) for scale in scales]
    known = (name for name, preset in PRESETS.items() if [_levels(scale) for scale in preset] == asked)
    return next(known, "own" if len(scales) == 1 else "kept")


def _levels(scale: AskedScale) -> tuple[str, float, float, float]:
    return scale.name, scale.minimum, scale.maximum, scale.step


def _scales(form: Mapping[str, Any], before: JudgingSettings | None) -> tuple[AskedScale, ...]:
    """The scales that were chosen; those that were there keep their words."""
    choice = form["scales"]
    if before is not None and choice == _preset(before.scales) and choice != "own":
        return before.scales
    if choice != "own":
        if choice not in PRESETS:
            raise Refused(f"Expected one of the scales of the form, got {shown(choice)}.")
        return PRESETS[choice]
    ends = [number(form, f"own_{end}", f"the {end} of your scale") for end in _ENDS]
    if before is not None and len(before.scales) == 1 and list(_levels(before.scales[0])[1:]) == ends:
        return before.scales
    low, high, step = ends
    try:
        return (AskedScale(name=f"{low:g}..{high:g}", minimum=low, maximum=high, step=step),)
    except ValueError:
        raise Refused(
            "Expected a scale from at most 0 to more than 0 in whole steps, "
            f"got {low:g} to {high:g} in steps of {step:g}."
        ) from None


def _level(form: Mapping[str, Any], before: JudgingSettings | None) -> float | None:
    kind = form["goal"]
    if kind not in GOALS:
        return None
    level = number(form, f"level_{kind}", "the level of the goal") / (100 if kind in _IN_PERCENT else 1)
    is_usual = before is not None and (before.goal.kind, before.goal.level) == (kind, None)
    return None if is_usual and level == GOALS[kind].level else level  # the form shows the usual one where none was set


def goal_in_words(settings: JudgingSettings) -> str:
    """What a campaign is after, for people.

    >>> goal_in_words(JudgingSettings(title="Demo"))
    'Rank systems, 95 % sure of the order of two on average'
    """
    kind = settings.goal.kind
    if kind == "everything":
        return "Judge every candidate"
    level = settings.goal.goal.wanted
    words = {
        "order": f"Rank systems, {level * 100:g} % sure of the order of two on average",
        "winner": f"Name the best system with a probability of {level * 100:g} %",
        "top": f"Name the first {settings.goal.top} systems with a probability of {level * 100:g} %",
        "every": f"Be {level * 100:g} % sure of the order of every pair of systems",
        "tau": f"Expect a rank correlation (τ) of {level:g}",
        "tau_ap": f"Expect an AP correlation of {level:g}",
        "scores": f"Know every score to within ±{level:g}",
        "confidence": f"Rank systems with a mean confidence of {level * 100:g} %",
        "pairs": f"Be {level * 100:g} % sure of every pair of systems",
        "error": f"Know scores to within ±{level:g}",
    }
    return words.get(kind, str(settings.goal.goal))
