"""What was answered: the log to look through, files to take away, and judgments made elsewhere to bring."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.api.files import judgments as take_judgments
from adjudge.web.campaign_rows import Campaign
from adjudge.web.context import Context, InContext
from adjudge.web.invitations import list_participants
from adjudge.web.pages.organiser_answer_rows import (
    ChosenAnswers,
    Download,
    export_address,
    links,
    newest_answers,
    report_download,
)
from adjudge.web.pages.organiser_shared import PAGE, OrganiserRoute, go, show, turning
from adjudge.web.people import Organiser
from adjudge.web.schema import pair

router = APIRouter(prefix="/campaigns/{name}/judgments", route_class=OrganiserRoute)


@router.get("")
def judgments(
    request: Request,
    *,
    organiser: AsOrganiser,
    campaign: OwnCampaign,
    context: InContext,
    assessor: Annotated[str, Query(max_length=200)] = "",
    query: Annotated[str, Query(max_length=400)] = "",
    before: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
) -> Response:
    """The newest answers, or those before one; those about lists and rankings have a page of their own."""
    if campaign.kind != "judging":
        return go(f"/campaigns/{campaign.name}/answers")
    chosen = ChosenAnswers(assessor, query.strip(), before=before)
    return _judgments_page(request, context, organiser, campaign, chosen)


@router.post("/import")
async def bring(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """Judgments from a form without scripts."""
    try:
        await take_judgments(request, campaign, organiser, context)
    except AdjudgeError as error:
        chosen = ChosenAnswers()
        return await run_in_threadpool(_judgments_page, request, context, organiser, campaign, chosen, problem=error)
    return go(f"/campaigns/{campaign.name}/judgments", "imported")


def _judgments_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    chosen: ChosenAnswers,
    *,
    problem: AdjudgeError | None = None,
) -> Response:
    with context.database.read() as connection:
        rows = newest_answers(connection, campaign, chosen, pair.c.document)
        everybody = [one.code for one in list_participants(connection, campaign)]
    address = f"/campaigns/{campaign.name}/judgments"
    kept = {name: value for name, value in (("assessor", chosen.person), ("query", chosen.question)) if value}
    older, newer = turning(address, kept, [row.id for row in rows], before=chosen.before)
    return show(
        request,
        context,
        "judgments.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="judgments",
        rows=rows[:PAGE],
        chosen=chosen,
        people=everybody,
        scales=[scale.name for scale in campaign.judging.scales],
        files=downloads(campaign),
        newer=newer,
        older=older,
    )


def downloads(campaign: Campaign) -> list[Download]:
    """Everything that can be taken away, with its addresses."""
    found, qrels = [], export_address(campaign, "qrels")
    for scale in campaign.judging.scales:
        for per, about in (("aggregated", "one grade a pair, the mean over assessors"), ("assessor", "one by one")):
            title = f"Judgments, {scale.name}{', by assessor' if per == 'assessor' else ''}"
            found.append(Download(title, about, links(qrels, ("trec", "csv"), scale=scale.name, per=per)))
    log, session = export_address(campaign, "log"), export_address(campaign, "session")
    return [
        *found,
        Download("Log", "everything that was sent, in order", links(log, ("csv", "parquet", "json"))),
        report_download(campaign, "ranking, confidence, what it rests on", ("markdown", "json")),
        Download("Session", "for Session.load in Python", links(session, ("json",))),
    ]
