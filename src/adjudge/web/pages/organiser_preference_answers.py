"""What was answered about lists: files to take away, the answers, what people said twice or could not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection, select

from adjudge.errors import AdjudgeError
from adjudge.web import monitoring
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.api.picture import hold_pair
from adjudge.web.campaign_rows import Campaign
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Refused
from adjudge.web.invitations import list_participants
from adjudge.web.pages.organiser_judgments import Download, links
from adjudge.web.pages.organiser_preference_questions import CHOICE_WORDS
from adjudge.web.pages.organiser_ranking_answers import KINDS as ORDERS
from adjudge.web.pages.organiser_ranking_answers import ChosenOrders, ranking_answers_page
from adjudge.web.pages.organiser_shared import PAGE, Fields, OrganiserRoute, field, go, show, turning
from adjudge.web.people import Organiser
from adjudge.web.schema import answer, pair, participant

router = APIRouter(prefix="/campaigns/{name}/answers", route_class=OrganiserRoute)

_MOST_REPEATS = 50
KINDS = {"": "all", "judgment": "questions", "trap": "traps", "repeat": "asked again", "skip": "skipped",
         "comment": "with a comment"}  # fmt: skip
"""Which answers to show, by the value of the field."""


@dataclass(frozen=True)
class Chosen:
    """Which answers to show: of whom, to what, of which kind, older than which."""

    person: str = ""
    question: str = ""
    kind: str = ""
    before: int | None = None

    @property
    def kept(self) -> dict[str, str]:
        """What goes into the address of other pages."""
        named = {"person": self.person, "question": self.question, "kind": self.kind}
        return {name: value for name, value in named.items() if value}


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
    """The newest answers, or those before one; grades have a page of their own."""
    if campaign.kind == "judging":
        return go(f"/campaigns/{campaign.name}/judgments")
    if campaign.kind == "ranking":
        wanted = ChosenOrders(person, question.strip(), kind if kind in ORDERS else "", before)
        return ranking_answers_page(request, context, organiser, campaign, wanted)
    chosen = Chosen(person, question.strip(), kind if kind in KINDS else "", before)
    return _answers_page(request, context, organiser, campaign, chosen)


@router.post("/held")
def hold(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """Keep a question back, or let it be asked again."""
    number = field(fields, "pair")
    try:
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise Refused("Expected the number of a question.")
        held = field(fields, "held") == "yes"
        hold_pair(context, campaign, int(number), held=held, who=organiser.login)
    except AdjudgeError as error:
        if campaign.kind == "ranking":
            return ranking_answers_page(request, context, organiser, campaign, ChosenOrders(), problem=error)
        return _answers_page(request, context, organiser, campaign, Chosen(), problem=error)
    return go(f"/campaigns/{campaign.name}/answers", "state")


def _answers_page(
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
        problems = [one for one in monitoring.problems(connection, campaign.id) if one["skips"] or one["held"]]
        repeats = _repeats(connection, campaign)
    address = f"/campaigns/{campaign.name}/answers"
    older, newer = turning(address, chosen.kept, [row.id for row in rows], before=chosen.before)
    return show(
        request,
        context,
        "preference_answers.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="answers",
        rows=rows[:PAGE],
        chosen=chosen,
        kinds=KINDS,
        people=everybody,
        choices=CHOICE_WORDS,
        files=downloads(campaign),
        problems=problems,
        repeats=repeats,
        newer=newer,
        older=older,
    )


def _answers(connection: Connection, campaign: Campaign, chosen: Chosen) -> Sequence[Any]:
    """One more than a page holds, newest first."""
    columns = (answer.c.id, answer.c.created_at, answer.c.kind, answer.c.grades, answer.c.reason, answer.c.comment,
               answer.c.took_ms, answer.c.heard, participant.c.code, participant.c.set_aside_at, pair.c.query,
               pair.c.document, pair.c.details)  # fmt: skip
    joined = answer.join(participant, participant.c.id == answer.c.participant_id).join(
        pair, pair.c.id == answer.c.pair_id
    )
    rows = select(*columns).select_from(joined).where(answer.c.campaign_id == campaign.id)
    if chosen.person:
        rows = rows.where(participant.c.code == chosen.person)
    if chosen.question:
        rows = rows.where((pair.c.document == chosen.question) | (pair.c.query == chosen.question))
    if chosen.kind == "comment":
        rows = rows.where(answer.c.comment.is_not(None), answer.c.comment != "")
    elif chosen.kind:
        rows = rows.where(answer.c.kind == chosen.kind)
    if chosen.before is not None:
        rows = rows.where(answer.c.id < chosen.before)
    return connection.execute(rows.order_by(answer.c.id.desc()).limit(PAGE + 1)).all()


def _repeats(connection: Connection, campaign: Campaign) -> dict[str, Any]:
    """Questions that somebody was asked again: how often they said the same, and those where they did not."""
    first = answer.alias("first")
    both = answer.join(
        first,
        (first.c.participant_id == answer.c.participant_id)
        & (first.c.pair_id == answer.c.pair_id)
        & (first.c.kind == "judgment"),
    )
    query = (
        select(answer.c.grades, first.c.grades.label("before"), participant.c.code, pair.c.document, pair.c.query)
        .select_from(
            both.join(participant, participant.c.id == answer.c.participant_id).join(
                pair, pair.c.id == answer.c.pair_id
            )
        )
        .where(answer.c.campaign_id == campaign.id, answer.c.kind == "repeat")
        .order_by(answer.c.id.desc())
    )
    rows = [(row, row.before.get("choice"), row.grades.get("choice")) for row in connection.execute(query)]
    other = [
        {"code": row.code, "question": row.document, "query": row.query, "first": before, "again": again}
        for row, before, again in rows
        if before != again
    ]
    return {"n": len(rows), "same": len(rows) - len(other), "other": other[:_MOST_REPEATS]}


def downloads(campaign: Campaign) -> list[Download]:
    """Everything that can be taken away, with its addresses."""
    base = f"/api/campaigns/{campaign.name}/export"
    report = (
        ("HTML", f"/campaigns/{campaign.name}/report"),
        *((f"{name} file" if name == "HTML" else name, address)
          for name, address in links(f"{base}/report", ("html", "markdown", "latex", "json"))),
    )  # fmt: skip
    files = (
        ("Answers", "with questions and grades: a whole study for adjudge fit", "answers", ("csv",)),
        ("Questions", "and traps, as they were asked", "questions", ("csv",)),
        ("Log", "everything that was sent, in order", "log", ("csv", "parquet", "json")),
        ("Mapping", "the curves, once there are enough answers for them", "mapping", ("json",)),
        ("People", "outcomes and the recruiter’s identities, to pay people; personal", "people", ("csv",)),
    )
    found = [Download(title, about, links(f"{base}/{what}", forms)) for title, about, what, forms in files]
    return [*found, Download("Report", "curves, people, what it rests on", report)]
