"""The life of a campaign of any kind: made as a draft, opened once everything is there, paused, closed, reopened.

What differs between kinds is asked of :class:`~adjudge.web.kinds.base.Kind`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from adjudge.errors import shown
from adjudge.web.errors import Conflict, NotFound, Refused
from adjudge.web.kinds.base import KINDS, kind_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import (
    STATES,
    Campaign,
    CampaignSettings,
    campaign_of,
    find_campaign,
    locked,
    log_event,
)
from adjudge.web.store.people import Organiser

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


@dataclass(frozen=True)
class Overview:
    """A campaign in numbers. ``judged`` are pairs, questions or queries that somebody answered.

    ``pairs`` are candidates, questions, or queries whose documents are put in order; ``traps`` are counted apart, and
    answers of excluded people not at all.
    """

    systems: int
    items: int
    pairs: int
    judged: int
    answers: int
    participants: int
    traps: int = 0
    queries: int = 0


def create_campaign(
    connection: Connection, *, name: str, settings: CampaignSettings, organiser_id: int | None, now: float
) -> Campaign:
    """A draft of a new campaign."""
    if _NAME.fullmatch(name) is None:
        raise Refused(
            f"Expected a name of lower-case letters, digits and hyphens (at most 100, as it is part of addresses), "
            f"got {shown(name)}"
        )
    kind = next(kind for kind in KINDS.values() if type(settings) is kind.settings)
    settings = kind.complete_settings(settings)
    taken = Conflict(f"There is a campaign called {shown(name)} already.")
    if connection.execute(select(t.campaign.c.id).where(t.campaign.c.name == name)).first() is not None:
        raise taken
    values = {
        **_unused_number(connection),
        "name": name,
        "kind": kind.name,
        "organiser_id": organiser_id,
        "state": "draft",
        "settings": settings.model_dump(mode="json"),
        "created_at": now,
    }
    try:
        row = connection.execute(insert(t.campaign).values(**values).returning(t.campaign)).mappings().one()
    except IntegrityError:  # somebody was faster by a moment
        raise taken from None
    made = campaign_of(row)
    log_event(connection, made.id, who=_who(organiser_id), what="created", details={"name": name}, now=now)
    return made


def _unused_number(connection: Connection) -> dict[str, int]:
    """A number that no deleted campaign had: somebody may still watch that one. PostgreSQL sees to it by itself."""
    if connection.dialect.name == "postgresql":
        return {}
    had = t.event.c.details["number"].as_integer()
    last = select(func.max(t.campaign.c.id)), select(func.max(had)).where(t.event.c.what == "deleted")
    return {"id": 1 + max(connection.execute(query).scalar_one() or 0 for query in last)}


def list_campaigns(connection: Connection, *, organiser_id: int | None = None) -> list[Campaign]:
    """The campaigns of an organiser, or all; the newest first."""
    query = select(t.campaign).order_by(t.campaign.c.created_at.desc(), t.campaign.c.id.desc())
    if organiser_id is not None:
        query = query.where(t.campaign.c.organiser_id == organiser_id)
    return [campaign_of(row) for row in connection.execute(query).mappings()]


def change_settings(
    connection: Connection, campaign: Campaign, settings: CampaignSettings, *, who: str, now: float
) -> Campaign:
    """Decide otherwise; what answers rest on stays as it is once there are any."""
    now_there = locked(connection, campaign)
    before = now_there.settings
    if type(settings) is not type(before):
        raise Conflict(f"Campaign {campaign.name} is a {campaign.kind} campaign and stays one.")
    changed = [name for name in type(settings).model_fields if getattr(settings, name) != getattr(before, name)]
    if not changed:
        return now_there
    kind = kind_of(now_there)
    kind.check_change(connection, now_there, settings, set(changed))
    values = {"settings": settings.model_dump(mode="json")}
    row = (
        connection.execute(
            update(t.campaign).where(t.campaign.c.id == campaign.id).values(**values).returning(t.campaign)
        )
        .mappings()
        .one()
    )
    after = campaign_of(row)
    kind.follow_change(connection, now_there, after, set(changed))
    log_event(connection, campaign.id, who=who, what="settings", details={"changed": changed}, now=now)
    return after


def set_state(connection: Connection, campaign: Campaign, state: str, *, who: str, now: float) -> Campaign:
    """Open, pause, close or reopen a campaign; the state that it has already changes nothing.

    Opening needs runs, questions or candidates, something to hear, read or see for all that is asked about, and for
    people whom a recruiter sends a way back, however their part ends.
    """
    if state not in STATES:
        raise Refused(f"Expected a state among {', '.join(STATES)}, got {shown(state)}")
    before = locked(connection, campaign)
    if state == before.state:
        return before
    if state not in STATES[before.state]:
        able = " or ".join(STATES[before.state])
        raise Conflict(f"A campaign that is {before.state} can become {able}, not {state}.")
    values: dict[str, object] = {"state": state}
    if state == "open":
        kind_of(before).check_opening(connection, before)
        kind_of(before).lay_queue(connection, before)
        values |= {"opened_at": before.opened_at or now, "closed_at": None}
    elif state == "closed":
        values["closed_at"] = now
    row = (
        connection.execute(
            update(t.campaign).where(t.campaign.c.id == campaign.id).values(**values).returning(t.campaign)
        )
        .mappings()
        .one()
    )
    log_event(connection, campaign.id, who=who, what=state, details={"before": before.state}, now=now)
    return campaign_of(row)


def overview(connection: Connection, campaign: Campaign) -> Overview:
    """A campaign in numbers."""

    def count(table: Table, *conditions: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(table.c.campaign_id == campaign.id, *conditions)
        return int(connection.execute(query).scalar_one())

    aside = select(t.participant.c.id).where(
        t.participant.c.campaign_id == campaign.id, t.participant.c.set_aside_at.is_not(None)
    )
    return Overview(
        systems=count(t.run),
        items=count(t.item),
        pairs=count(t.pair, t.pair.c.role != "trap"),
        judged=count(t.pair, t.pair.c.answered > 0),
        answers=count(t.answer, t.answer.c.kind.in_(("judgment", "import")), t.answer.c.participant_id.not_in(aside)),
        participants=count(t.participant, t.participant.c.erased_at.is_(None)),
        traps=count(t.pair, t.pair.c.role == "trap"),
        queries=int(
            connection.execute(
                select(func.count(t.pair.c.query.distinct())).where(t.pair.c.campaign_id == campaign.id)
            ).scalar_one()
        ),
    )


def _who(organiser_id: int | None) -> str:
    return "command line" if organiser_id is None else f"organiser {organiser_id}"


def own_demo(connection: Connection, name: str, organiser: Organiser) -> Campaign | None:
    """The demo's campaign of this name, None before it is made; refused where it is not the demo's."""
    try:
        campaign = find_campaign(connection, name)
    except NotFound:
        return None
    if campaign.organiser_id != organiser.id:
        raise Conflict(
            f"There is a campaign called {name!r} already that is not the demo; choose another --data folder."
        )
    return campaign
