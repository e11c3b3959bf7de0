"""What a campaign needs before it opens, as a list to tick off: runs, documents, settings, people.

The forms for files are sent by a script that shows how far they are, to the same functions; without scripts they come
here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection, select
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.api.files import TakenDocuments
from adjudge.web.api.files import documents as take_documents
from adjudge.web.api.files import runs as take_runs
from adjudge.web.campaign_rows import Campaign
from adjudge.web.campaigns import overview
from adjudge.web.context import Context, InContext
from adjudge.web.holdings import candidates_of, missing_items, needed_items
from adjudge.web.invitations import list_invitations
from adjudge.web.pages.organiser_forms import ears_in_words, goal_in_words
from adjudge.web.pages.organiser_preference_set_up import preference_set_up_page
from adjudge.web.pages.organiser_ranking_set_up import ranking_set_up_page
from adjudge.web.pages.organiser_shared import OrganiserRoute, go, last_events, several, show
from adjudge.web.people import Organiser
from adjudge.web.schema import run

router = APIRouter(route_class=OrganiserRoute)


@dataclass(frozen=True)
class Step:
    """How far each step is: empty, ``done`` or ``wrong``."""

    runs: str
    documents: str
    people: str
    open: str


@dataclass(frozen=True)
class Holdings:
    """What is there and what is missing."""

    systems: list[Any]
    counts: dict[str, str]
    missing: list[str]
    is_complete: bool
    invited: bool


@router.get("/campaigns/{name}/set-up")
def set_up(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """The list."""
    return set_up_page(request, context, organiser, campaign)


@router.post("/campaigns/{name}/set-up/runs")
async def runs(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """Runs from a form without scripts."""
    try:
        await take_runs(request, campaign, organiser, context)
    except AdjudgeError as error:
        return await run_in_threadpool(set_up_page, request, context, organiser, campaign, problem=error)
    return go(f"/campaigns/{campaign.name}/set-up", "runs")


@router.post("/campaigns/{name}/set-up/documents")
async def documents(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """Documents from a form without scripts; what could not be taken is listed."""
    try:
        taken = await take_documents(request, campaign, organiser, context)
    except AdjudgeError as error:
        return await run_in_threadpool(set_up_page, request, context, organiser, campaign, problem=error)
    return await run_in_threadpool(set_up_page, request, context, organiser, campaign, taken=taken)


def set_up_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    *,
    problem: AdjudgeError | None = None,
    taken: TakenDocuments | None = None,
) -> Response:
    """The list, perhaps with what came of the last form."""
    told = None if taken is None else {"problems": taken.problems, "words": _in_words(taken)}
    if campaign.kind == "preference":
        return preference_set_up_page(request, context, organiser, campaign, problem=problem, taken=told)
    if campaign.kind == "ranking":
        return ranking_set_up_page(request, context, organiser, campaign, problem=problem, taken=told)
    with context.database.read() as connection:
        held = _holdings(connection, context, campaign)
        events = last_events(connection, campaign)
    return show(
        request,
        context,
        "set_up.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="set-up",
        systems=held.systems,
        counts=held.counts,
        missing=held.missing,
        ready=held.is_complete,
        steps=_steps(campaign, held),
        goal=goal_in_words(campaign.judging),
        ears=ears_in_words(campaign.judging),
        events=events,
        taken=told,
    )


def _in_words(taken: TakenDocuments) -> str:
    parts = [f"{taken.taken:,} taken"]
    parts += [f"{taken.already:,} were there already"] if taken.already else []
    parts += [f"{taken.skipped:,} not needed"] if taken.skipped else []
    parts += [several(len(taken.problems), "problem")] if taken.problems else []
    return " ".join([f"{', '.join(parts)}.", *taken.notes])


def _steps(campaign: Campaign, held: Holdings) -> Step:
    documents = "done" if held.is_complete else "wrong" if held.systems and held.missing else ""
    return Step(
        runs="done" if held.systems else "",
        documents=documents,
        people="done" if held.invited else "",
        open="done" if campaign.state != "draft" else "",
    )


def _holdings(connection: Connection, context: Context, campaign: Campaign) -> Holdings:
    """Runs and documents in numbers; nothing of it is computed while there are no runs."""
    columns = select(run.c.system, run.c.team, run.c.source).where(run.c.campaign_id == campaign.id)
    systems = list(connection.execute(columns.order_by(run.c.system)).all())
    invitations = list_invitations(connection, campaign, secret=context.settings.secret)
    people = overview(connection, campaign).participants
    usable = sum(one.revoked_at is None for one in invitations)
    counts = {"people": f"{several(usable, 'invitation')}, {several(people, 'assessor')}."}
    if not systems:
        return Holdings([], counts, [], is_complete=False, invited=bool(usable))
    pool, missing = candidates_of(connection, campaign), missing_items(connection, campaign)
    needed = needed_items(connection, campaign) or {}
    counts |= {
        "systems": several(len(systems), "system"),
        "queries": several(len(pool.queries), "query", "queries"),
        "candidates": several(len(pool), "pair"),
        "missing": f"{len(missing):,}",
        "needed": f"{len(set().union(*needed.values())):,}",
    }
    return Holdings(systems, counts, missing, is_complete=not missing, invited=bool(usable))
