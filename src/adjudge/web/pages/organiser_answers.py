"""Pages of answers, by kind of campaign: the newest, those before one, and questions that are kept back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from adjudge.errors import AdjudgeError
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.api.picture import hold_pair
from adjudge.web.context import InContext
from adjudge.web.errors import Refused
from adjudge.web.pages.organiser_answer_rows import ChosenAnswers
from adjudge.web.pages.organiser_preference_answers import PREFERENCE_ANSWERS, preference_answers_page
from adjudge.web.pages.organiser_ranking_answers import RANKING_ANSWERS, ranking_answers_page
from adjudge.web.pages.organiser_shared import Fields, OrganiserRoute, field, go

router = APIRouter(prefix="/campaigns/{name}/answers", route_class=OrganiserRoute)


@dataclass(frozen=True)
class KindOfAnswers:
    """A page of answers, and the kinds of answers that it can be asked for."""

    page: Callable[..., Response]
    kinds: Mapping[str, str]


KIND_ANSWERS = {
    "preference": KindOfAnswers(preference_answers_page, PREFERENCE_ANSWERS),
    "ranking": KindOfAnswers(ranking_answers_page, RANKING_ANSWERS),
}
"""The pages, by kind of campaign; grades have a page of their own."""


@router.get("")
def answers(
    request: Request,
    *,
    organiser: AsOrganiser,
    campaign: OwnCampaign,
    context: InContext,
    person: Annotated[str, Query(max_length=200)] = "",
    question: Annotated[str, Query(max_length=400)] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
    before: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
) -> Response:
    """The newest answers, or those before one."""
    shown = KIND_ANSWERS.get(campaign.kind)
    if shown is None:
        return go(f"/campaigns/{campaign.name}/judgments")
    chosen = ChosenAnswers(person, question.strip(), kind if kind in shown.kinds else "", before)
    return shown.page(request, context, organiser, campaign, chosen)


@router.post("/held")
def hold(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """Keep a question back, or let it be asked again."""
    shown = KIND_ANSWERS.get(campaign.kind)
    if shown is None:
        return go(f"/campaigns/{campaign.name}/judgments")
    number = field(fields, "pair")
    try:
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise Refused("Expected the number of a question.")
        held = field(fields, "held") == "yes"
        hold_pair(context, campaign, int(number), held=held, who=organiser.login)
    except AdjudgeError as error:
        return shown.page(request, context, organiser, campaign, ChosenAnswers(), problem=error)
    return go(f"/campaigns/{campaign.name}/answers", "state")
