"""What pages of answers share, whatever was asked: which answers to show, their rows, and files to take away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Column, Connection, or_, select

from adjudge.web.campaign_rows import Campaign
from adjudge.web.pages.organiser_shared import PAGE
from adjudge.web.schema import answer, pair, participant

_FORMS = {"csv": "CSV", "parquet": "Parquet", "json": "JSON", "trec": "TREC", "groups": "groups", "html": "HTML",
          "markdown": "Markdown", "latex": "LaTeX"}  # fmt: skip
_SHOWN = (answer.c.id, answer.c.created_at, answer.c.kind, answer.c.grades, answer.c.reason, answer.c.comment,
          answer.c.took_ms, participant.c.code, pair.c.query)  # fmt: skip


@dataclass(frozen=True)
class ChosenAnswers:
    """Which answers to show: of whom, to what, of which kind (``comment``: those with one), older than which."""

    person: str = ""
    question: str = ""
    kind: str = ""
    before: int | None = None

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


def newest_answers(
    connection: Connection,
    campaign: Campaign,
    chosen: ChosenAnswers,
    *more: Column[Any],
    named: Sequence[Column[Any]] = (pair.c.query,),
) -> Sequence[Any]:
    """Chosen answers, newest first, one more than a page holds.

    ``more`` are columns that a page shows beside the usual; ``named`` those that may hold ``chosen.question``.
    """
    of_person = answer.join(participant, participant.c.id == answer.c.participant_id)
    joined = of_person.join(pair, pair.c.id == answer.c.pair_id)
    rows = select(*_SHOWN, *more).select_from(joined).where(answer.c.campaign_id == campaign.id)
    if chosen.person:
        rows = rows.where(participant.c.code == chosen.person)
    if chosen.question:
        rows = rows.where(or_(*(column == chosen.question for column in named)))
    if chosen.kind == "comment":
        rows = rows.where(answer.c.comment.is_not(None), answer.c.comment != "")
    elif chosen.kind:
        rows = rows.where(answer.c.kind == chosen.kind)
    if chosen.before is not None:
        rows = rows.where(answer.c.id < chosen.before)
    return connection.execute(rows.order_by(answer.c.id.desc()).limit(PAGE + 1)).all()


def export_address(campaign: Campaign, what: str) -> str:
    """Where something is taken away from."""
    return f"/api/campaigns/{campaign.name}/export/{what}"


def links(address: str, forms: tuple[str, ...], **options: str) -> tuple[tuple[str, str], ...]:
    """A thing to take away in several forms: what each is called, and its address."""
    return tuple((_FORMS[form], f"{address}?{urlencode({**options, 'format': form})}") for form in forms)


def report_download(campaign: Campaign, about: str, forms: tuple[str, ...]) -> Download:
    """The report as a page to read, as that page's file, and in other forms."""
    address = export_address(campaign, "report")
    page, file = ("HTML", f"/campaigns/{campaign.name}/report"), ("HTML file", f"{address}?format=html")
    return Download("Report", about, (page, file, *links(address, forms)))
