"""What a preference campaign needs before it opens: questions and traps, documents, settings, people.

After it opened, the same page tells how people answer the traps, and opens, pauses and closes it.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.api.files import questions as take_questions
from adjudge.web.campaign_rows import Campaign
from adjudge.web.campaigns import overview
from adjudge.web.context import Context, InContext
from adjudge.web.invitations import list_invitations
from adjudge.web.links import invitation_link
from adjudge.web.listed_holdings import missing_listed_items, needed_listed_items
from adjudge.web.pages.organiser_preference_questions import (
    ENOUGH,
    clips_of_lists,
    coverage_rows,
    names_of,
    trap_rows,
)
from adjudge.web.pages.organiser_shared import OrganiserRoute, go, last_events, several, show
from adjudge.web.people import Organiser
from adjudge.web.preference_costs import Cost, cost_of
from adjudge.web.preference_holdings import questions_of
from adjudge.web.preference_picturing import work_of
from adjudge.web.preference_settings import PreferenceSettings
from adjudge.web.preference_watching import Seen, traps_seen, watch_preferences
from adjudge.web.recruiting import missing_way_back

router = APIRouter(route_class=OrganiserRoute)

_PREVIEWS = 200  # questions among which one is chosen to listen to


@router.post("/campaigns/{name}/set-up/questions")
async def questions(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """Questions from a form without scripts."""
    try:
        await take_questions(request, campaign, organiser, context)
    except AdjudgeError as error:
        return await run_in_threadpool(preference_set_up_page, request, context, organiser, campaign, problem=error)
    return go(f"/campaigns/{campaign.name}/set-up", "questions")


def preference_set_up_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    *,
    problem: AdjudgeError | None = None,
    taken: dict[str, Any] | None = None,
) -> Response:
    """The list, perhaps with what came of the last form."""
    with context.database.read() as connection:
        held = _holdings(connection, campaign, chosen=request.query_params.get("question", ""))
        people = _invited(connection, context, campaign)
        events = last_events(connection, campaign)
    ready = bool(held["n_questions"]) and not held["missing"]
    return show(
        request,
        context,
        "preference_set_up.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="set-up",
        settings=campaign.preference,
        trust=trust_in_words(campaign.preference),
        ready=ready,
        no_way_back=missing_way_back(campaign.preference),
        enough=ENOUGH,
        steps={
            "questions": "done" if held["n_questions"] else "",
            "documents": "done" if ready else "wrong" if held["missing"] else "",
            "people": "done" if people["usable"] else "",
            "open": "done" if campaign.state != "draft" else "",
        },
        events=events,
        taken=taken,
        people=people,
        **held,
    )


def _holdings(connection: Connection, campaign: Campaign, *, chosen: str) -> dict[str, Any]:
    """Questions, what they cover and what is missing; nothing is computed while there are none."""
    seen, settings = watch_preferences(connection, campaign.id), campaign.preference
    n_questions, n_traps = len(seen.questions), len(seen.traps)
    wanted = sum(one.left for one in seen.questions) if campaign.state != "draft" else n_questions * settings.judged_by
    held: dict[str, Any] = {
        "n_questions": n_questions,
        "n_traps": n_traps,
        "missing": [],
        "needed": 0,
        "coverage": [],
        "traps": trap_rows(traps_seen(seen)),
        "asked_traps": any(one.kind == "trap" for one in seen.answers),
        "preview": None,
        "batches": -(-n_questions // settings.batch_size) if settings.batch_size and n_questions else 1,
        "wanted": n_questions * settings.judged_by,
        "left": wanted,
        "cost": _in_money(_cost(settings, seen, remaining=wanted)),
    }
    if not n_questions:
        return held
    needed = needed_listed_items(connection, campaign) or {}
    asked = questions_of(connection, campaign.id)
    return held | {
        "missing": missing_listed_items(connection, campaign),
        "needed": len(set().union(*needed.values())),
        "n_queries": several(len({one.query for one in asked.questions if not one.is_trap}), "query", "queries"),
        "scales": list(asked.grades),
        "coverage": coverage_rows(settings, asked),
        "preview": _preview(connection, campaign, chosen),
    }


def _preview(connection: Connection, campaign: Campaign, chosen: str) -> dict[str, Any] | None:
    """One question as people get it, without grades and names, and the others to choose among."""
    rows = [one for role in ("question", "trap") for one in names_of(connection, campaign.id, role, most=_PREVIEWS)]
    if not rows:
        return None
    this = next((row for row in rows if row.name == chosen), rows[0])
    clips = clips_of_lists(connection, this.id)
    names = [row.name for row in rows]
    return {"name": this.name, "clips": clips, "names": names, "chosen": bool(chosen)}


def _cost(settings: PreferenceSettings, seen: Seen, *, remaining: int) -> Cost | None:
    """What it costs to the goal, as the dashboard has it; None before there are questions."""
    n_questions, people = len(seen.questions), list(work_of(seen).values())
    if not n_questions:
        return None
    return cost_of(settings, people, remaining=remaining, n_questions=n_questions, n_traps=len(seen.traps))


def _in_money(cost: Cost | None) -> dict[str, Any] | None:
    """The cost to the goal as it is written, and whether it is what settings make expect rather than what people cost.

    >>> each = Cost("KRW", 0, 1500, 1500, 1500, 1500, True, "")
    >>> _in_money(each)["each"]
    '1,500.00 KRW'
    """
    if cost is None:
        return None
    each = cost.per_counted_answer
    return {
        "expected": cost.expected,
        "about": f"{cost.to_goal:,.2f} {cost.currency}",
        "range": f"{cost.low:,.2f} to {cost.high:,.2f}",
        "each": f"{each:{',.2f' if each >= 1 else '.3g'}} {cost.currency}",
    }


def _invited(connection: Connection, context: Context, campaign: Campaign) -> dict[str, Any]:
    """Invitations in words, and the link to give to the recruiter."""
    invitations = list_invitations(connection, campaign, secret=context.settings.secret)
    usable = [one for one in invitations if one.revoked_at is None]
    n_people = overview(connection, campaign).participants
    many = next((one for one in usable if not one.is_personal), None)
    link = invitation_link(context.settings.address, many.token, campaign) if many is not None else None
    return {
        "usable": len(usable),
        "words": f"{several(len(usable), 'invitation')}, {several(n_people, 'person', 'people')} came.",
        "link": link,
        "recruited": campaign.preference.recruiter.kind != "none",
    }


def trust_in_words(settings: PreferenceSettings) -> str:
    """How somebody must do on traps.

    >>> trust_in_words(PreferenceSettings(title="Demo"))
    'a quiz of 5 traps (60 % right), then 20 % traps (60 % right overall)'
    """
    later = f"{settings.trap_share * 100:g} % traps ({settings.trust_bar * 100:g} % right overall)"
    if not settings.quiz:
        return later
    return f"a quiz of {several(settings.quiz, 'trap')} ({settings.quiz_bar * 100:g} % right), then {later}"
