"""What an assessor's page shows: the question, the one after it, the scales, and how far things are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import Connection, RowMapping, bindparam, func, select

from adjudge.web.answering import known_queries
from adjudge.web.campaign_rows import Campaign
from adjudge.web.invitations import Participant
from adjudge.web.judging_settings import AskedScale
from adjudge.web.leasing import Lease
from adjudge.web.schema import answer, item, pair, picture

Why = Literal["reached", "closed", "paused", "draft", "nothing_left", "wait"]


class Heard(BaseModel):
    """Something to hear, read or look at; its address tells nothing about it.

    Notation is heard and seen: ``drawing_url`` is where its drawing is, with the moments at which its notes sound.
    """

    kind: Literal["audio", "notation", "text", "image", "url"]
    url: str | None
    text: str | None
    seconds: float | None
    drawing_url: str | None = None


class Question(BaseModel):
    """A query and a candidate, and the lease to answer with."""

    lease: str
    expires_at: float
    query: Heard
    candidate: Heard
    heard_query: bool


class ShownScale(BaseModel):
    """A scale in the words of the participant's language."""

    name: str
    minimum: float
    maximum: float
    step: float
    by_buttons: bool
    labels: list[str] | None


class DeskProgress(BaseModel):
    """How many the participant answered, and how far the campaign is."""

    mine: int
    judged: int
    candidates: int
    value: float | None
    wanted: float | None
    remaining: int | None
    done: bool


class DeskCampaign(BaseModel):
    """The campaign as assessors know it."""

    name: str
    title: str
    state: str


class DeskParticipant(BaseModel):
    """The participant as they know themselves."""

    code: str
    name: str | None
    language: str


class Desk(BaseModel):
    """Everything that the judging page needs; ``why`` says why there is no question."""

    campaign: DeskCampaign
    participant: DeskParticipant
    scales: list[ShownScale]
    listen_seconds: float
    question: Question | None
    ahead: Question | None
    why: Why | None
    progress: DeskProgress


def make_desk(connection: Connection, campaign: Campaign, participant: Participant, leases: list[Lease]) -> Desk:
    """The desk of a participant who holds these leases."""
    questions = make_questions(connection, participant, leases[:2])
    progress = _progress(connection, campaign, participant)
    return Desk(
        campaign=DeskCampaign(name=campaign.name, title=campaign.settings.title, state=campaign.state),
        participant=DeskParticipant(code=participant.code, name=participant.name, language=participant.language),
        scales=[_shown(scale, campaign, participant.language) for scale in campaign.judging.scales],
        listen_seconds=campaign.settings.listen_seconds,
        question=questions[0] if questions else None,
        ahead=questions[1] if len(questions) > 1 else None,
        why=None if questions else _why(connection, campaign, progress),
        progress=progress,
    )


def make_questions(connection: Connection, participant: Participant, leases: Sequence[Lease]) -> list[Question]:
    """Leased pairs as they are shown."""
    pair_ids = [found.pair_id for found in leases]
    clips = heard_of(connection, pair_ids)
    known = known_queries(connection, participant.id, pair_ids)
    return [
        Question(
            lease=found.id,
            expires_at=found.expires_at,
            query=clips[found.pair_id][0],
            candidate=clips[found.pair_id][1],
            heard_query=found.pair_id in known,
        )
        for found in leases
    ]


_SHOWN = ("kind", "address", "text", "seconds")
_ITEMS = {"query": item.alias("query_item"), "candidate": item.alias("candidate_item")}
_BOTH = (
    select(pair.c.id, *(table.c[name].label(f"{role}_{name}") for role, table in _ITEMS.items() for name in _SHOWN))
    .join_from(pair, _ITEMS["query"], pair.c.query_item_id == _ITEMS["query"].c.id)
    .join(_ITEMS["candidate"], pair.c.document_item_id == _ITEMS["candidate"].c.id)
    .where(pair.c.id.in_(bindparam("pairs", expanding=True)))
)


def heard_of(connection: Connection, pair_ids: Sequence[int]) -> dict[int, tuple[Heard, Heard]]:
    """Query and candidate of pairs, as they are heard."""
    rows = connection.execute(_BOTH, {"pairs": list(pair_ids)}).mappings()
    return {row["id"]: (_heard(row, "query"), _heard(row, "candidate")) for row in rows}


def _heard(row: RowMapping, role: str) -> Heard:
    return heard_from(*(row[f"{role}_{name}"] for name in _SHOWN))


def heard_from(kind: Any, address: str, text: str | None, seconds: float | None) -> Heard:
    """An item as it is heard, read or seen."""
    kept = f"/media/{address}" if kind in ("audio", "notation", "image") else None
    shown = text if kind == "text" else None
    drawing = f"/media/{address}/drawing" if kind == "notation" else None
    return Heard(kind=kind, url=text if kind == "url" else kept, text=shown, seconds=seconds, drawing_url=drawing)


def _shown(scale: AskedScale, campaign: Campaign, language: str) -> ShownScale:
    labels = next(
        (
            scale.labels[name]
            for name in (language, *campaign.settings.languages, *scale.labels)
            if name in scale.labels
        ),
        None,
    )
    return ShownScale(
        name=scale.name,
        minimum=scale.minimum,
        maximum=scale.maximum,
        step=scale.step,
        by_buttons=scale.by_buttons,
        labels=list(labels) if labels is not None else None,
    )


def _progress(connection: Connection, campaign: Campaign, participant: Participant) -> DeskProgress:
    """From the organiser's picture, which is at most a moment old."""
    mine = select(func.count()).where(
        answer.c.participant_id == participant.id, answer.c.kind.in_(("judgment", "repeat"))
    )
    row = connection.execute(
        select(picture.c.content["status"], picture.c.content["projection"]).where(picture.c.campaign_id == campaign.id)
    ).first()
    status, projection = (row[0] or {}, row[1] or {}) if row is not None else ({}, {})
    return DeskProgress(
        mine=connection.execute(mine).scalar_one(),
        judged=status.get("judged", 0),
        candidates=status.get("candidates", 0),
        value=status.get("value"),
        wanted=status.get("wanted"),
        remaining=projection.get("remaining"),
        done=bool(status.get("done", False)),
    )


def _why(connection: Connection, campaign: Campaign, progress: DeskProgress) -> Why:
    """Why nobody is asked anything now."""
    if campaign.state != "open":
        states: dict[str, Why] = {"draft": "draft", "paused": "paused"}
        return states.get(campaign.state, "closed")
    if campaign.reached_at is not None:
        return "reached"
    wanting = select(func.count()).where(
        pair.c.campaign_id == campaign.id, pair.c.answered < pair.c.wanted, ~pair.c.held
    )
    left = connection.execute(wanting).scalar_one()
    return "wait" if left and not progress.done else "nothing_left"
