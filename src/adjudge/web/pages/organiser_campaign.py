"""A campaign's own pages: made, changed, watched live, opened and closed, reported on."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from adjudge.errors import AdjudgeError
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.campaign_rows import KINDS, Campaign, count_answers
from adjudge.web.campaigns import change_settings, create_campaign, set_state
from adjudge.web.context import Context, InContext
from adjudge.web.desk import Heard, heard_of
from adjudge.web.errors import NotFound
from adjudge.web.exporting import export
from adjudge.web.languages import NAMES
from adjudge.web.pages.organiser_kinds import KIND_FORMS
from adjudge.web.pages.organiser_preference_forms import OUTCOME_CODES, OUTCOME_WORDS
from adjudge.web.pages.organiser_preference_questions import ListClips, clips_of_lists
from adjudge.web.pages.organiser_ranking_set_up import QueryClips, clips_of_query
from adjudge.web.pages.organiser_set_up import set_up_page
from adjudge.web.pages.organiser_shared import Fields, OrganiserRoute, embedded, field, go, sentence, show, status_of
from adjudge.web.people import Organiser
from adjudge.web.picturing import read_picture
from adjudge.web.preference_picturing import first_picture
from adjudge.web.preference_settings import OUTCOMES
from adjudge.web.rendering import markdown, page
from adjudge.web.schema import pair

router = APIRouter(route_class=OrganiserRoute)

REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-downloads"
)
"""A report is one file that brings its own styles and pictures; it runs nothing, and cannot reach anything."""


class Written(BaseModel):
    """Markdown that somebody is writing."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(max_length=50_000)]


class Clips(BaseModel):
    """What assessors hear of a pair."""

    query: Heard
    candidate: Heard


@router.get("/campaigns/new")
def new_page(
    request: Request,
    organiser: AsOrganiser,
    context: InContext,
    kind: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Which kind of campaign it is to be, then its form."""
    if kind not in KINDS:
        return show(request, context, "new_campaign.html", organiser=organiser)
    return _form_page(request, context, organiser, KIND_FORMS[kind].blank(), kind=kind)


@router.post("/campaigns/new")
def create(request: Request, organiser: AsOrganiser, fields: Fields, context: InContext) -> Response:
    """Make a draft; what is wrong is said beside everything that was written."""
    asked = field(fields, "kind")
    kind = asked if asked in KIND_FORMS else "judging"
    form = KIND_FORMS[kind].as_sent(fields)
    try:
        settings = KIND_FORMS[kind].settings(form, None)
        with context.database.write() as connection:
            made = create_campaign(
                connection, name=form["name"], settings=settings, organiser_id=organiser.id, now=context.now()
            )
    except AdjudgeError as error:
        return _form_page(request, context, organiser, form, kind=kind, problem=error)
    return go(f"/campaigns/{made.name}/set-up", KIND_FORMS[kind].said)


@router.get("/campaigns/{name}/settings")
def settings_page(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """The form with what was decided so far."""
    form = KIND_FORMS[campaign.kind].of(campaign)
    return _form_page(request, context, organiser, form, kind=campaign.kind, campaign=campaign)


@router.post("/campaigns/{name}/settings")
def change(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """Decide otherwise."""
    form = KIND_FORMS[campaign.kind].as_sent(fields)
    try:
        settings = KIND_FORMS[campaign.kind].settings(form, campaign)
        with context.database.write() as connection:
            change_settings(connection, campaign, settings, who=organiser.login, now=context.now())
    except AdjudgeError as error:
        return _form_page(request, context, organiser, form, kind=campaign.kind, campaign=campaign, problem=error)
    context.estimating.changed(campaign.id)
    return go(f"/campaigns/{campaign.name}/set-up", "saved")


def _form_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    form: dict[str, Any],
    *,
    kind: str,
    campaign: Campaign | None = None,
    problem: AdjudgeError | None = None,
) -> Response:
    answered = False
    if campaign is not None:
        with context.database.read() as connection:
            answered = count_answers(connection, campaign.id) > 0
    return show(
        request,
        context,
        KIND_FORMS[kind].template,
        organiser=organiser,
        problem=problem,
        form=form,
        campaign=campaign,
        answered=answered,
        languages=list(NAMES.items()),
        outcomes=[(one, OUTCOME_WORDS[one], OUTCOME_CODES[one]) for one in OUTCOMES],
    )


@router.post("/preview")
def preview(sent: Written, organiser: AsOrganiser) -> dict[str, str]:
    """Markdown as assessors will see it."""
    return {"html": markdown(sent.text)}


@router.get("/campaigns/{name}")
def dashboard(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """The live dashboard, with the picture as it is now."""
    with context.database.read() as connection:
        picture = read_picture(connection, campaign.id)
    return show(
        request,
        context,
        KIND_FORMS[campaign.kind].dashboard,
        organiser=organiser,
        campaign=campaign,
        tab="live",
        picture=picture,
        picture_json=embedded(picture or first_picture(campaign)),
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
            file = export(connection, campaign, "report", form="html")
    except AdjudgeError as error:
        return page("failure.html", status=status_of(error), message=sentence(str(error)), organising=True)
    headers = {"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-store"}
    return Response(file.data, media_type=file.media_type, headers=headers)


@router.get("/campaigns/{name}/pairs/{pair_id}/clips")
def clips(
    pair_id: int, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext
) -> Clips | ListClips | QueryClips:
    """What people hear of a pair or question, for an organiser who wants to know what was wrong with it."""
    with context.database.read() as connection:
        this = (pair.c.id == pair_id) & (pair.c.campaign_id == campaign.id)
        if not 0 < pair_id < 2**63 or connection.execute(select(pair.c.id).where(this)).first() is None:
            raise NotFound(f"There is no pair {pair_id} in this campaign.")
        if campaign.kind == "preference":
            return clips_of_lists(connection, pair_id)
        if campaign.kind == "ranking":
            return clips_of_query(connection, pair_id)
        query, candidate = heard_of(connection, [pair_id])[pair_id]
    return Clips(query=query, candidate=candidate)
