"""Pairs that are judged: what an assessor's page shows, and how their answers are checked and stored.

The page shows the question, the one after it, the scales, and how far things are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from sqlalchemy import Connection, RowMapping, bindparam, func, select

from adjudge.web.api.body import Body, DeskCampaign, DeskParticipant, Heard, heard_from
from adjudge.web.errors import Refused
from adjudge.web.kinds.judging.settings import AskedScale, settings_of
from adjudge.web.store import schema as t
from adjudge.web.store.answers import (
    AnswerContent,
    LeasedAnswer,
    Milliseconds,
    SentAnswer,
    SentCorrection,
    SentSkip,
    StoredAnswer,
    check_heard,
    is_enough,
    known_queries,
    least_heard,
    store_answer,
    store_correction,
    store_skip,
)
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.leases import Lease
from adjudge.web.store.participants import Participant

Why = Literal["reached", "closed", "paused", "draft", "nothing_left", "wait"]


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
    """The assignment of a participant who holds these leases."""
    questions = make_questions(connection, participant, leases[:2])
    progress = _progress(connection, campaign, participant)
    return Desk(
        campaign=DeskCampaign(name=campaign.name, title=campaign.settings.title, state=campaign.state),
        participant=DeskParticipant(code=participant.code, name=participant.name, language=participant.language),
        scales=[_shown(scale, campaign, participant.language) for scale in settings_of(campaign).scales],
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
_ITEMS = {"query": t.item.alias("query_item"), "candidate": t.item.alias("candidate_item")}
_BOTH = (
    select(t.pair.c.id, *(table.c[name].label(f"{role}_{name}") for role, table in _ITEMS.items() for name in _SHOWN))
    .join_from(t.pair, _ITEMS["query"], t.pair.c.query_item_id == _ITEMS["query"].c.id)
    .join(_ITEMS["candidate"], t.pair.c.document_item_id == _ITEMS["candidate"].c.id)
    .where(t.pair.c.id.in_(bindparam("pairs", expanding=True)))
)


def heard_of(connection: Connection, pair_ids: Sequence[int]) -> dict[int, tuple[Heard, Heard]]:
    """Query and candidate of pairs, as they are heard."""
    rows = connection.execute(_BOTH, {"pairs": list(pair_ids)}).mappings()
    return {row["id"]: (_heard(row, "query"), _heard(row, "candidate")) for row in rows}


def _heard(row: RowMapping, role: str) -> Heard:
    return heard_from(*(row[f"{role}_{name}"] for name in _SHOWN))


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
    """From the dashboard snapshot, which is at most a moment old."""
    mine = select(func.count()).where(
        t.answer.c.participant_id == participant.id, t.answer.c.kind.in_(("judgment", "repeat"))
    )
    row = connection.execute(
        select(t.picture.c.content["status"], t.picture.c.content["projection"]).where(
            t.picture.c.campaign_id == campaign.id
        )
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
        t.pair.c.campaign_id == campaign.id, t.pair.c.answered < t.pair.c.wanted, ~t.pair.c.held
    )
    left = connection.execute(wanting).scalar_one()
    return "wait" if left and not progress.done else "nothing_left"


Grades = dict[str, Annotated[float, Field(strict=True)]]  # true and "1" are no grades


class HeardTime(Body):
    """Milliseconds of each clip that were really played."""

    query_ms: Milliseconds = 0
    candidate_ms: Milliseconds = 0


class _Timed(SentAnswer):
    heard: HeardTime = HeardTime()
    took_ms: Milliseconds | None = None

    def content(self, grades: Grades) -> AnswerContent:
        """What is stored of it."""
        return AnswerContent(grades, self.heard.model_dump(), self.took_ms)


class NewAnswer(_Timed, LeasedAnswer):
    """Grades for a question, one for each scale."""

    grades: Grades


class NewSkip(_Timed, SentSkip):
    """Why a question cannot be answered."""

    reason: Literal["broken", "cannot_tell", "known", "other"]


class NewCorrection(_Timed, SentCorrection):
    """Other grades for an answer given before."""

    grades: Grades


def store_grades(
    connection: Connection, campaign: Campaign, participant_id: int, sent: NewAnswer, *, now: float
) -> StoredAnswer:
    """Keep an answer to a question that was leased to this participant."""

    def check(lease: Lease) -> AnswerContent:
        grades = settings_of(campaign).check_grades(sent.grades)
        _check_heard(connection, campaign, lease, sent.heard)
        return sent.content(grades)

    return store_answer(connection, participant_id, sent, check, now=now)


def store_unable_to_grade(
    connection: Connection, campaign: Campaign, participant_id: int, sent: NewSkip, *, now: float
) -> StoredAnswer:
    """Keep that a participant cannot grade a document, and why."""
    return store_skip(connection, participant_id, sent, sent.content({}), now=now)


def store_other_grades(
    connection: Connection, campaign: Campaign, participant_id: int, sent: NewCorrection, *, now: float
) -> StoredAnswer:
    """Keep a second thought about an answer of one's own."""

    def check(first: RowMapping) -> AnswerContent:
        if first["kind"] not in ("judgment", "repeat"):
            raise Refused("Expected an answer with grades to correct, got one that was skipped.")
        return sent.content(settings_of(campaign).check_grades(sent.grades))

    return store_correction(connection, participant_id, sent, check, now=now)


_QUERY_ITEM, _DOCUMENT_ITEM = t.item.alias("query_item"), t.item.alias("document_item")
_CLIPS = (
    select(
        _QUERY_ITEM.c.kind.label("query_kind"),
        _QUERY_ITEM.c.seconds.label("query_seconds"),
        _DOCUMENT_ITEM.c.kind.label("candidate_kind"),
        _DOCUMENT_ITEM.c.seconds.label("candidate_seconds"),
    )
    .join_from(t.pair, _QUERY_ITEM, t.pair.c.query_item_id == _QUERY_ITEM.c.id)
    .join(_DOCUMENT_ITEM, t.pair.c.document_item_id == _DOCUMENT_ITEM.c.id)
    .where(t.pair.c.id == bindparam("pair"))
)


def _check_heard(connection: Connection, campaign: Campaign, lease: Lease, heard: HeardTime) -> None:
    """Refuse what was not listened to: the candidate always, the query once."""
    clips = connection.execute(_CLIPS, {"pair": lease.pair_id}).mappings().one()
    for role, got in (("candidate", heard.candidate_ms), ("query", heard.query_ms)):
        least = least_heard(clips[f"{role}_kind"], clips[f"{role}_seconds"], campaign.settings.listen_seconds)
        if is_enough(least, got):
            continue
        if role == "query" and lease.pair_id in known_queries(connection, lease.participant_id, [lease.pair_id]):
            continue
        check_heard(f"the {role}", least, got)
