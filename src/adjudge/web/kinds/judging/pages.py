"""What pages show of a judging campaign, and the form for judgments made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from sqlalchemy import Connection, select
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError, shown
from adjudge.relevance.choosing import GOALS
from adjudge.web.api.body import Heard
from adjudge.web.context import InContext
from adjudge.web.errors import Refused
from adjudge.web.http.access import AsOrganiser, OwnCampaign
from adjudge.web.kinds.base import Card
from adjudge.web.kinds.judging.api import judgments as take_judgments
from adjudge.web.kinds.judging.settings import AskedScale, JudgingSettings, asked_scale, settings_of
from adjudge.web.kinds.judging.store import candidates_of
from adjudge.web.kinds.lifecycle import Overview
from adjudge.web.pages.answers import (
    ChosenAnswers,
    Download,
    answers,
    answers_address,
    answers_page,
    export_links,
    list_downloads,
)
from adjudge.web.pages.forms import number
from adjudge.web.pages.shared import (
    OrganiserRoute,
    go,
    several,
)
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, CampaignSettings

router = APIRouter(prefix="/campaigns/{name}/judgments", route_class=OrganiserRoute)


@router.get("")
def judgments(
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
    return answers(
        request,
        organiser=organiser,
        campaign=campaign,
        context=context,
        person=person or assessor,
        question=question or query,
        kind=kind,
        before=before,
    )


@router.post("/import")
async def bring(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """Judgments from a form without scripts."""
    try:
        await take_judgments(request, campaign, organiser, context)
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
_IN_PERCENT = ("confidence", "pairs")
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
    'Rank systems with a mean confidence of 95 %'
    """
    kind = settings.goal.kind
    if kind == "everything":
        return "Judge every candidate"
    level = settings.goal.goal.wanted
    words = {
        "confidence": f"Rank systems with a mean confidence of {level * 100:g} %",
        "pairs": f"Be {level * 100:g} % sure of every pair of systems",
        "tau": f"Expect a rank correlation (τ) of {level:g}",
        "error": f"Know scores to within ±{level:g}",
    }
    return words.get(kind, str(settings.goal.goal))
