"""A campaign's own pages: made, changed, set up, watched live, opened and closed, reported on."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError, shown
from adjudge.reporting.render import page_script
from adjudge.web.api.files import TakenDocuments
from adjudge.web.api.files import documents as take_documents
from adjudge.web.context import Context, InContext
from adjudge.web.errors import NotFound
from adjudge.web.http.access import AsOrganiser, OwnCampaign
from adjudge.web.http.rendering import markdown, page
from adjudge.web.kinds import inputs_of
from adjudge.web.kinds.base import KINDS, Kind, kind_of
from adjudge.web.kinds.exports import export
from adjudge.web.kinds.lifecycle import change_settings, create_campaign, overview, set_state
from adjudge.web.languages import NAMES
from adjudge.web.pages.forms import blank_form, form_as_sent, form_of, sections, settings_of_form, summary
from adjudge.web.pages.shared import (
    Fields,
    OrganiserRoute,
    embedded,
    field,
    go,
    last_events,
    sentence,
    several,
    show,
    status_of,
)
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, count_answers
from adjudge.web.store.participants import list_invitations
from adjudge.web.store.people import Organiser
from adjudge.web.store.settings import settings_in
from adjudge.web.store.snapshots import read_snapshot

router = APIRouter(route_class=OrganiserRoute)


@cache
def report_policy() -> str:
    """A report is one file that brings its own styles and pictures; it runs the script of all reports and no other.

    It cannot reach anything. It is in no sandbox, whose links would lead an organiser back as somebody unknown.
    """
    digest = b64encode(sha256(page_script().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )


class Written(BaseModel):
    """Markdown that somebody is writing."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(max_length=50_000)]


@router.get("/campaigns/new")
def new_page(
    request: Request,
    organiser: AsOrganiser,
    context: InContext,
    kind: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Which kind of campaign it is to be, then its form."""
    if kind not in KINDS:
        return show(request, context, "new_campaign.html", organiser=organiser, kinds=list(KINDS))
    return _form_page(request, context, organiser, blank_form(KINDS[kind]), kind=KINDS[kind])


@router.post("/campaigns/new")
def create(request: Request, organiser: AsOrganiser, fields: Fields, context: InContext) -> Response:
    """Make a draft; what is wrong is said beside everything that was written."""
    asked = field(fields, "kind")
    kind = KINDS[asked if asked in KINDS else next(iter(KINDS))]
    form = form_as_sent(kind, fields)
    try:
        settings = settings_of_form(kind, form)
        with context.database.write() as connection:
            made = create_campaign(
                connection, name=form["name"], settings=settings, organiser_id=organiser.id, now=context.now()
            )
    except AdjudgeError as error:
        return _form_page(request, context, organiser, form, kind=kind, problem=error)
    return go(f"/campaigns/{made.name}/set-up", "created")


@router.get("/campaigns/{name}/settings")
def settings_page(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """The form with what was decided so far."""
    form = form_of(kind_of(campaign), campaign.settings)
    return _form_page(request, context, organiser, form, kind=kind_of(campaign), campaign=campaign)


@router.post("/campaigns/{name}/settings")
def change(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """Decide otherwise."""
    kind = kind_of(campaign)
    form = form_as_sent(kind, fields)
    try:
        settings = settings_of_form(kind, form, campaign.settings)
        with context.database.write() as connection:
            change_settings(connection, campaign, settings, who=organiser.login, now=context.now())
    except AdjudgeError as error:
        return _form_page(request, context, organiser, form, kind=kind, campaign=campaign, problem=error)
    context.estimating.changed(campaign.id)
    return go(f"/campaigns/{campaign.name}/set-up", "saved")


def _form_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    form: dict[str, Any],
    *,
    kind: Kind,
    campaign: Campaign | None = None,
    problem: AdjudgeError | None = None,
) -> Response:
    answered = False
    if campaign is not None:
        with context.database.read() as connection:
            answered = count_answers(connection, campaign.id) > 0
    declared = {setting.name: setting for setting in settings_in(kind.settings)}
    fixed = [declared[name].title for name in declared if name in kind.fixed and declared[name].group]
    return show(
        request,
        context,
        "form.html",
        organiser=organiser,
        problem=problem,
        form=form,
        kind=kind.name,
        sections=sections(kind.settings),
        campaign=campaign,
        fixed=fixed if answered else [],
        languages=list(NAMES.items()),
        texts=declared,
        inputs=inputs_of(kind.name),
    )


@router.post("/preview")
def preview(sent: Written, organiser: AsOrganiser) -> dict[str, str]:
    """Markdown as assessors will see it."""
    return {"html": markdown(sent.text)}


@router.get("/campaigns/{name}")
def dashboard(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """The live dashboard, with the snapshot as it is now."""
    with context.database.read() as connection:
        snapshot = read_snapshot(connection, campaign.id)
    return show(
        request,
        context,
        "dashboard.html",
        organiser=organiser,
        campaign=campaign,
        tab="live",
        snapshot=snapshot,
        snapshot_json=embedded(snapshot or kind_of(campaign).first_snapshot(campaign)),
    )


@router.post("/campaigns/{name}/state")
def state(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """Open, pause, close or reopen; what keeps it from opening is said on the set-up page."""
    wanted = field(fields, "state")
    try:
        with context.database.write() as connection:
            set_state(connection, campaign, wanted, who=organiser.login, now=context.now())
    except AdjudgeError as error:
        return set_up_page(request, context, organiser, campaign, problem=error)
    context.estimating.changed(campaign.id)
    return go(f"/campaigns/{campaign.name}" + ("" if wanted in ("open", "closed") else "/set-up"), "state")


@router.get("/campaigns/{name}/report")
def report(organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """The report, to be read here; before there is anything to report, why there is none."""
    try:
        with context.database.read() as connection:
            file = export(connection, campaign, "report", form="html", address=context.settings.address)
    except AdjudgeError as error:
        return page("failure.html", status=status_of(error), message=sentence(str(error)), organising=True)
    headers = {"Content-Security-Policy": report_policy(), "Cache-Control": "no-store"}
    return Response(file.data, media_type=file.media_type, headers=headers)


@router.get("/campaigns/{name}/pairs/{pair_id}/clips")
def clips(pair_id: int, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> dict[str, Any]:
    """What people hear of a pair or question, for an organiser who wants to know what was wrong with it."""
    with context.database.read() as connection:
        this = (t.pair.c.id == pair_id) & (t.pair.c.campaign_id == campaign.id)
        if not 0 < pair_id < 2**63 or connection.execute(select(t.pair.c.id).where(this)).first() is None:
            raise NotFound(f"There is no pair {pair_id} in this campaign.")
        return kind_of(campaign).shown_items(connection, pair_id).model_dump(mode="json")


@router.get("/campaigns/{name}/set-up")
def set_up(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """The list."""
    return set_up_page(request, context, organiser, campaign)


@router.post("/campaigns/{name}/set-up/documents")
async def documents(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """Documents from a form without scripts; what could not be taken is listed."""
    try:
        taken = await take_documents(request, campaign, organiser, context)
    except AdjudgeError as error:
        return await run_in_threadpool(set_up_page, request, context, organiser, campaign, problem=error)
    return await run_in_threadpool(set_up_page, request, context, organiser, campaign, taken=taken)


@router.post("/campaigns/{name}/set-up/{material}")
async def take_material(
    material: str, request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext
) -> Response:
    """What comes before documents, from a form without scripts."""
    kind = kind_of(campaign)
    if material != kind.words.material:
        raise NotFound(f"A {kind.name} campaign has no {shown(material)}.")
    try:
        await kind.take_material(request, campaign, organiser, context)
    except AdjudgeError as error:
        return await run_in_threadpool(set_up_page, request, context, organiser, campaign, problem=error)
    return go(f"/campaigns/{campaign.name}/set-up", "material")


def set_up_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    *,
    problem: AdjudgeError | None = None,
    taken: TakenDocuments | None = None,
) -> Response:
    """What the campaign needs before it opens, as a list to tick off; perhaps with what came of the last form."""
    kind, words = kind_of(campaign), kind_of(campaign).words
    with context.database.read() as connection:
        own = kind.set_up_values(connection, context, campaign, request.query_params)
        has_material = own["has_material"]
        missing = kind.missing_items(connection, campaign) if has_material else []
        needed = (kind.needed_items(connection, campaign) if has_material else None) or {}
        invitations = list_invitations(connection, campaign, secret=context.settings.secret)
        n_people = overview(connection, campaign).participants
        events = last_events(connection, campaign)
    usable = sum(invitation.revoked_at is None for invitation in invitations)
    ready = has_material and not missing
    return show(
        request,
        context,
        "set_up.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="set-up",
        steps={
            "material": "done" if has_material else "",
            "documents": "done" if ready else "wrong" if missing else "",
            "people": "done" if usable else "",
            "open": "done" if campaign.state != "draft" else "",
        },
        missing=missing,
        needed=f"{len(set().union(*needed.values())):,}",
        ready=ready,
        invited=f"{several(usable, 'invitation')}, {several(n_people, words.person, words.people)} came.",
        events=events,
        taken=None if taken is None else {"problems": taken.problems, "words": _in_words(taken)},
        summary=summary(kind, campaign.settings, own.get("facts", {})),
        **{"hindrance": None, **own},
    )


def _in_words(taken: TakenDocuments) -> str:
    parts = [f"{taken.taken:,} taken"]
    parts += [f"{taken.already:,} were there already"] if taken.already else []
    parts += [f"{taken.skipped:,} not needed"] if taken.skipped else []
    parts += [several(len(taken.problems), "problem")] if taken.problems else []
    return " ".join([f"{', '.join(parts)}.", *taken.notes])
