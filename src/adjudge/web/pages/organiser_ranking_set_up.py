"""What a ranking campaign needs before it opens: candidates, documents, settings, people; and a look at a query."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from sqlalchemy import Connection, func, select
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.api.files import candidates as take_candidates
from adjudge.web.campaign_rows import Campaign
from adjudge.web.campaigns import overview
from adjudge.web.context import Context, InContext
from adjudge.web.desk import Heard, heard_from
from adjudge.web.invitations import list_invitations
from adjudge.web.listed_holdings import missing_listed_items, needed_listed_items
from adjudge.web.pages.organiser_ranking_forms import kept_in_words, ranking_rules_in_words
from adjudge.web.pages.organiser_shared import OrganiserRoute, go, last_events, several, show
from adjudge.web.people import Organiser
from adjudge.web.schema import item, listed, pair

router = APIRouter(route_class=OrganiserRoute)

_PREVIEWS = 500  # queries among which one is chosen to look at


class Candidate(Heard):
    """A candidate as an organiser sees it: with its name, which experts never see."""

    document: str


class QueryClips(BaseModel):
    """What experts hear or see of a query, and of its candidates as they came."""

    query: Heard
    candidates: list[Candidate]


@router.post("/campaigns/{name}/set-up/candidates")
async def candidates(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """Candidates from a form without scripts."""
    try:
        await take_candidates(request, campaign, organiser, context)
    except AdjudgeError as error:
        return await run_in_threadpool(ranking_set_up_page, request, context, organiser, campaign, problem=error)
    return go(f"/campaigns/{campaign.name}/set-up", "candidates")


def ranking_set_up_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    *,
    problem: AdjudgeError | None = None,
    taken: dict[str, Any] | None = None,
) -> Response:
    """The list, perhaps with what came of the last form."""
    settings = campaign.ranking
    with context.database.read() as connection:
        held = _holdings(connection, campaign, chosen=request.query_params.get("query", ""))
        invitations = list_invitations(connection, campaign, secret=context.settings.secret)
        n_people = overview(connection, campaign).participants
        events = last_events(connection, campaign)
    usable = sum(one.revoked_at is None for one in invitations)
    ready = bool(held["n_queries"]) and not held["missing"]
    return show(
        request,
        context,
        "ranking_set_up.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="set-up",
        settings=settings,
        rules=ranking_rules_in_words(settings),
        kept=kept_in_words(settings),
        wanted=several(held["n_queries"] * settings.judged_by, "ranking"),
        ready=ready,
        steps={
            "candidates": "done" if held["n_queries"] else "",
            "documents": "done" if ready else "wrong" if held["missing"] else "",
            "people": "done" if usable else "",
            "open": "done" if campaign.state != "draft" else "",
        },
        people=f"{several(usable, 'invitation')}, {several(n_people, 'expert')} came.",
        events=events,
        taken=taken,
        **held,
    )


def _holdings(connection: Connection, campaign: Campaign, *, chosen: str) -> dict[str, Any]:
    """Queries and candidates in numbers, and what is missing; nothing is looked for while there are none."""
    rows = _queries(connection, campaign.id)
    held: dict[str, Any] = {"n_queries": len(rows), "missing": [], "needed": 0, "preview": None, "counts": ""}
    if not rows:
        return held
    needed = needed_listed_items(connection, campaign) or {}
    sizes = [row.n for row in rows]
    spread = f"{sizes[0]}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    return held | {
        "missing": missing_listed_items(connection, campaign),
        "needed": len(set().union(*needed.values())),
        "counts": f"{several(len(rows), 'query', 'queries')} with {spread} documents each",
        "most": max(sizes),
        "preview": _preview(connection, rows, chosen),
    }


def _queries(connection: Connection, campaign_id: int) -> list[Any]:
    """Numbers and names of queries, as they were given, and how many documents each has."""
    query = select(pair.c.id, pair.c.query, func.count().label("n")).join(listed, listed.c.pair_id == pair.c.id)
    named = query.where(pair.c.campaign_id == campaign_id).group_by(pair.c.id, pair.c.query).order_by(pair.c.id)
    return list(connection.execute(named))


def _preview(connection: Connection, rows: list[Any], chosen: str) -> dict[str, Any]:
    """One query with its candidates, and the others to choose among."""
    this = next((row for row in rows if row.query == chosen), rows[0])
    return {
        "query": this.query,
        "clips": clips_of_query(connection, this.id),
        "names": [row.query for row in rows[:_PREVIEWS]],
        "chosen": bool(chosen),
    }


def clips_of_query(connection: Connection, pair_id: int) -> QueryClips:
    """What experts hear or see of a query and its candidates."""
    asked = select(item).join(pair, pair.c.query_item_id == item.c.id).where(pair.c.id == pair_id)
    below = select(item).join(listed, listed.c.item_id == item.c.id).where(listed.c.pair_id == pair_id)
    row = connection.execute(asked).one()
    return QueryClips(
        query=heard_from(row.kind, row.address, row.text, row.seconds),
        candidates=[
            Candidate(document=one.identifier, **heard_from(one.kind, one.address, one.text, one.seconds).model_dump())
            for one in connection.execute(below.order_by(listed.c.rank))
        ],
    )
