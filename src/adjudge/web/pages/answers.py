"""Answers: the newest or those before one, files to take away, and what nobody could answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection, or_, select

from adjudge.errors import AdjudgeError
from adjudge.web.api.campaigns import hold_pair
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Refused
from adjudge.web.http.access import AsOrganiser, OwnCampaign
from adjudge.web.kinds.base import kind_of
from adjudge.web.pages.shared import PAGE, Fields, OrganiserRoute, field, go, show
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.participants import list_participants
from adjudge.web.store.people import Organiser
from adjudge.web.store.snapshots import problems as problems_of

router = APIRouter(prefix="/campaigns/{name}/answers", route_class=OrganiserRoute)

REASONS = {"broken": "something does not play or show"}
"""Why people skip, where the stored word does not say it."""
_MOST_NAMES = 500
_FORMS = {"csv": "CSV", "parquet": "Parquet", "json": "JSON", "trec": "TREC", "groups": "groups", "html": "HTML",
          "markdown": "Markdown", "latex": "LaTeX"}  # fmt: skip
_SHOWN = (
    *(t.answer.c[name] for name in ("id", "created_at", "kind", "grades", "reason", "comment", "took_ms", "late")),
    *(t.answer.c.heard, t.participant.c.code, t.participant.c.set_aside_at),
    *(t.pair.c.query, t.pair.c.document, t.pair.c.details),
)


@dataclass(frozen=True)
class ChosenAnswers:
    """Which answers to show: of whom, to what, of which kind (``comment``: those with one), older than which."""

    person: str = ""
    question: str = ""
    kind: str = ""
    before: int | None = None

    def among(self, kinds: Collection[str]) -> ChosenAnswers:
        """The same without a kind of answers that there is not."""
        return self if self.kind in kinds else replace(self, kind="")

    @property
    def kept(self) -> dict[str, str]:
        """What goes into the address of other pages."""
        named = {"person": self.person, "question": self.question, "kind": self.kind}
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True)
class Download:
    """Something to take away, in several forms."""

    title: str
    about: str
    links: tuple[tuple[str, str], ...]


@router.get("")
def list_answers(
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
    """The newest answers, or those before one, at the address that they have in this kind of campaign."""
    if request.url.path != answers_address(campaign):
        return go(answers_address(campaign))
    chosen = ChosenAnswers(person, question.strip(), kind, before)
    return answers_page(request, context, organiser, campaign, chosen)


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
        return answers_page(request, context, organiser, campaign, ChosenAnswers(), problem=error)
    return go(answers_address(campaign), "state")


def answers_address(campaign: Campaign) -> str:
    """Where the answers of a campaign are."""
    return f"/campaigns/{campaign.name}/{kind_of(campaign).words.tab}"


def answers_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    chosen: ChosenAnswers,
    *,
    problem: AdjudgeError | None = None,
) -> Response:
    """Chosen answers, perhaps with what was wrong with the last form."""
    kind = kind_of(campaign)
    chosen = chosen.among(kind.answer_kinds)
    with context.database.read() as connection:
        rows = _newest_answers(connection, campaign, chosen)
        asked = select(t.pair.c.query).where(t.pair.c.campaign_id == campaign.id).distinct().order_by(t.pair.c.query)
        values: dict[str, Any] = {
            "rows": [{**row._mapping, "replaced": False} for row in rows[:PAGE]],
            "people": [participant.code for participant in list_participants(connection, campaign)],
            "names": list(connection.execute(asked.limit(_MOST_NAMES)).scalars()),
            "problems": [row for row in problems_of(connection, campaign.id) if row["skips"] or row["held"]],
            **kind.answers_values(connection, campaign, rows[:PAGE]),
        }
    older, newer = _turning(campaign, chosen, [row.id for row in rows])
    return show(
        request,
        context,
        "answers.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="answers",
        chosen=chosen,
        kinds=kind.answer_kinds,
        reasons=REASONS,
        newer=newer,
        older=older,
        **values,
    )


def _newest_answers(connection: Connection, campaign: Campaign, chosen: ChosenAnswers) -> Sequence[Any]:
    """Chosen answers, newest first, one more than a page holds."""
    of_person = t.answer.join(t.participant, t.participant.c.id == t.answer.c.participant_id)
    joined = of_person.join(t.pair, t.pair.c.id == t.answer.c.pair_id)
    rows = select(*_SHOWN).select_from(joined).where(t.answer.c.campaign_id == campaign.id)
    if chosen.person:
        rows = rows.where(t.participant.c.code == chosen.person)
    if chosen.question:
        rows = rows.where(or_(t.pair.c.query == chosen.question, t.pair.c.document == chosen.question))
    if chosen.kind == "comment":
        rows = rows.where(t.answer.c.comment.is_not(None), t.answer.c.comment != "")
    elif chosen.kind:
        rows = rows.where(t.answer.c.kind == chosen.kind)
    if chosen.before is not None:
        rows = rows.where(t.answer.c.id < chosen.before)
    return connection.execute(rows.order_by(t.answer.c.id.desc()).limit(PAGE + 1)).all()


def _turning(campaign: Campaign, chosen: ChosenAnswers, numbers: Sequence[int]) -> tuple[str | None, str | None]:
    """Where older and newer answers are, None where there are none; ``numbers`` are those of a page and one more."""
    address, kept = answers_address(campaign), chosen.kept
    older = f"{address}?{urlencode({**kept, 'before': numbers[PAGE - 1]})}" if len(numbers) > PAGE else None
    return older, f"{address}?{urlencode(kept)}" if chosen.before is not None else None


def export_links(campaign: Campaign, what: str, forms: Sequence[str], **options: str) -> tuple[tuple[str, str], ...]:
    """An export in several forms: what each is called, and its address."""
    address = f"/api/campaigns/{campaign.name}/export/{what}"
    return tuple((_FORMS[form], f"{address}?{urlencode({**options, 'format': form})}") for form in forms)


def list_downloads(campaign: Campaign, files: Mapping[str, tuple[str, str]]) -> list[Download]:
    """Exports in all forms that a campaign has them in, with their titles and what is said about them.

    The report can be read as a page, too.
    """
    found = []
    for what, (title, about) in files.items():
        links = export_links(campaign, what, kind_of(campaign).exports[what])
        if what == "report":
            links = (("HTML", f"/campaigns/{campaign.name}/report"), ("HTML file", links[0][1]), *links[1:])
        found.append(Download(title, about, links))
    return found
