"""The life of a campaign of any kind, and who counts in it.

A campaign is made as a draft, opened once everything is there, paused, closed, reopened. What differs between kinds is
asked of :class:`~adjudge.web.kinds.base.Kind`.

Participants are excluded by an organiser's decision or by the rules of trust. Nothing is deleted, and others are asked
the same questions. Where a part has an outcome, that changes too. Whoever is readmitted counts again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from adjudge.errors import shown
from adjudge.web.errors import Conflict, Gone, NotFound, Refused
from adjudge.web.kinds.base import KINDS, ORGANISER, kind_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import (
    STATES,
    Campaign,
    CampaignSettings,
    campaign_of,
    find_campaign,
    in_use,
    locked,
    log_event,
)
from adjudge.web.store.leases import QUESTIONS, lock_pairs, recount_pairs, release
from adjudge.web.store.participants import Participant, locked_participant, participant_from
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

    excluded = select(t.participant.c.id).where(
        t.participant.c.campaign_id == campaign.id, t.participant.c.set_aside_at.is_not(None)
    )
    return Overview(
        systems=count(t.run),
        items=count(t.item),
        pairs=count(t.pair, t.pair.c.role != "trap"),
        judged=count(t.pair, t.pair.c.answered > 0),
        answers=count(
            t.answer, t.answer.c.kind.in_(("judgment", "import")), t.answer.c.participant_id.not_in(excluded)
        ),
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


TAKEN_BACK = "taken back"
"""What the log calls it."""


def exclude_participant(
    connection: Connection, participant: Participant, *, who: str, now: float, why: str = ORGANISER
) -> Participant:
    """Let somebody's answers count no longer, and let them have no more; others get what they had.

    A part that has no outcome yet gets the one that its kind of campaign gives. No pair may be locked yet where this
    is called, see :func:`~adjudge.web.store.leases.lock_pairs`.
    """
    campaign, person = _in_hand(connection, participant)
    kind = kind_of(campaign)
    if why not in kind.exclusions:
        raise Refused(f"Expected a reason among {', '.join(kind.exclusions)}, got {why!r}.")
    if person.set_aside_at is not None:
        return person
    values: dict[str, Any] = {"set_aside_at": now, "set_aside_why": why}
    pairs, answers = lock_pairs(connection, person.id), _answers(connection, person)
    if person.outcome is None:
        outcome = kind.outcome_on_exclusion(campaign, why, answers)
        values |= {"outcome": outcome, "outcome_at": None if outcome is None else now}
    changed = change_participant(connection, person, values)
    release(connection, person.id, now=now)
    recount_pairs(connection, pairs)
    _log(connection, person, who=who, what="set aside", why=why, answers=answers, now=now)
    return changed


def readmit_participant(connection: Connection, participant: Participant, *, who: str, now: float) -> Participant:
    """Let somebody's answers count again, and let them go on; the rules of trust do not stop them any more.

    A part that was done stays done.
    """
    campaign, person = _in_hand(connection, participant)
    if person.set_aside_at is None:
        return person
    values: dict[str, Any] = {"set_aside_at": None, "set_aside_why": None}
    pairs, answers = lock_pairs(connection, person.id), _answers(connection, person)
    is_done = person.outcome == "done" or kind_of(campaign).is_part_done(campaign, answers)
    values |= {"outcome": "done", "outcome_at": person.outcome_at or now} if is_done else _NO_OUTCOME
    changed = change_participant(connection, person, values)
    recount_pairs(connection, pairs)
    _log(connection, person, who=who, what=TAKEN_BACK, why=person.set_aside_why, answers=answers, now=now)
    return changed


_NO_OUTCOME: dict[str, Any] = {"outcome": None, "outcome_at": None}


def _in_hand(connection: Connection, participant: Participant) -> tuple[Campaign, Participant]:
    """The campaign and the participant as they are until this transaction ends."""
    campaign = in_use(connection, participant.campaign_id)
    if not kind_of(campaign).exclusions:
        raise Conflict(f"Campaign {campaign.name} sets nobody aside; block them instead.")
    person = locked_participant(connection, participant.id)
    if person.erased_at is not None:
        raise Gone(f"Participant {participant.code} was erased.")
    return campaign, person


def _answers(connection: Connection, person: Participant) -> int:
    """Questions that somebody answered, or rankings that they sent; attention checks do not count."""
    given = select(func.count()).where(t.answer.c.participant_id == person.id, t.answer.c.kind.in_(QUESTIONS))
    return int(connection.execute(given).scalar_one())


def _log(
    connection: Connection, person: Participant, *, who: str, what: str, why: str | None, answers: int, now: float
) -> None:
    details = {"participant": person.code, "why": why, "answers": answers}
    log_event(connection, person.campaign_id, who=who, what=what, details=details, now=now)


def change_participant(connection: Connection, person: Participant, values: dict[str, Any]) -> Participant:
    """The participant with other values."""
    this = update(t.participant).where(t.participant.c.id == person.id)
    return participant_from(connection.execute(this.values(**values).returning(t.participant)).one())
