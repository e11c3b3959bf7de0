"""What was answered: the log to look through, files to take away, and judgments made elsewhere to bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection, select
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.api.files import judgments as take_judgments
from adjudge.web.campaign_rows import Campaign
from adjudge.web.context import Context, InContext
from adjudge.web.invitations import list_participants
from adjudge.web.pages.organiser_shared import PAGE, OrganiserRoute, go, show, turning
from adjudge.web.people import Organiser
from adjudge.web.schema import answer, pair, participant

router = APIRouter(prefix="/campaigns/{name}/judgments", route_class=OrganiserRoute)

_FORMS = {"csv": "CSV", "parquet": "Parquet", "json": "JSON", "trec": "TREC", "html": "HTML", "markdown": "Markdown",
          "latex": "LaTeX"}  # fmt: skip


@dataclass(frozen=True)
class Chosen:
    """Which answers to show: of whom, about what, older than which."""

    assessor: str = ""
    query: str = ""
    before: int | None = None


@dataclass(frozen=True)
class Download:
    """Something to take away, in several forms."""

    title: str
    about: str
    links: tuple[tuple[str, str], ...]


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
    """The newest answers, or those before one; those about lists and orders have a page of their own."""
    if campaign.kind != "judging":
        return go(f"/campaigns/{campaign.name}/answers")
    return _judgments_page(request, context, organiser, campaign, Chosen(assessor, query.strip(), before))


@router.post("/import")
async def bring(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """Judgments from a form without scripts."""
    try:
        await take_judgments(request, campaign, organiser, context)
    except AdjudgeError as error:
        return await run_in_threadpool(_judgments_page, request, context, organiser, campaign, Chosen(), problem=error)
    return go(f"/campaigns/{campaign.name}/judgments", "imported")


def _judgments_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    chosen: Chosen,
    *,
    problem: AdjudgeError | None = None,
) -> Response:
    with context.database.read() as connection:
        rows = _answers(connection, campaign, chosen)
        everybody = [one.code for one in list_participants(connection, campaign)]
    address = f"/campaigns/{campaign.name}/judgments"
    kept = {name: value for name, value in (("assessor", chosen.assessor), ("query", chosen.query)) if value}
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


def _answers(connection: Connection, campaign: Campaign, chosen: Chosen) -> Sequence[Any]:
    """One more than a page holds, newest first."""
    columns = (answer.c.id, answer.c.created_at, answer.c.kind, answer.c.grades, answer.c.reason, answer.c.comment,
               answer.c.took_ms, participant.c.code, pair.c.query, pair.c.document)  # fmt: skip
    joined = answer.join(participant, participant.c.id == answer.c.participant_id).join(
        pair, pair.c.id == answer.c.pair_id
    )
    rows = select(*columns).select_from(joined).where(answer.c.campaign_id == campaign.id)
    if chosen.assessor:
        rows = rows.where(participant.c.code == chosen.assessor)
    if chosen.query:
        rows = rows.where(pair.c.query == chosen.query)
    if chosen.before is not None:
        rows = rows.where(answer.c.id < chosen.before)
    return connection.execute(rows.order_by(answer.c.id.desc()).limit(PAGE + 1)).all()


def downloads(campaign: Campaign) -> list[Download]:
    """Everything that can be taken away, with its addresses."""
    base = f"/api/campaigns/{campaign.name}/export"
    found = []
    for scale in campaign.judging.scales:
        for per, about in (("aggregated", "one grade a pair, the mean over assessors"), ("assessor", "one by one")):
            title = f"Judgments, {scale.name}{', by assessor' if per == 'assessor' else ''}"
            found.append(Download(title, about, links(f"{base}/qrels", ("trec", "csv"), scale=scale.name, per=per)))
    report = (("HTML", f"/campaigns/{campaign.name}/report"), *links(f"{base}/report", ("html", "markdown", "json")))
    report = tuple((f"{name} file" if address.endswith("=html") else name, address) for name, address in report)
    return [
        *found,
        Download("Log", "everything that was sent, in order", links(f"{base}/log", ("csv", "parquet", "json"))),
        Download("Report", "ranking, confidence, what it rests on", report),
        Download("Session", "for adjudge estimate and next", links(f"{base}/session", ("json",))),
    ]


def links(address: str, forms: tuple[str, ...], **options: str) -> tuple[tuple[str, str], ...]:
    """A thing to take away in several forms: what each is called, and its address."""
    return tuple((_FORMS[form], f"{address}?{urlencode({**options, 'format': form})}") for form in forms)
