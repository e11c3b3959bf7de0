"""Experts whose orders are not to count: set aside by an organiser, and taken back."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, update

from adjudge.web.campaign_rows import Campaign, in_use, log_event
from adjudge.web.errors import Gone
from adjudge.web.invitations import Participant, locked_participant, participant_from
from adjudge.web.leasing import release
from adjudge.web.pair_counts import lock_pairs, recount_pairs
from adjudge.web.schema import answer, participant

WHY = "organiser"


def set_expert_aside(connection: Connection, found: Participant, *, who: str, now: float) -> Participant:
    """Let somebody's orders count no longer; others are asked for them. Nothing is deleted, and they get no more."""
    campaign, person = _in_hand(connection, found)
    if person.set_aside_at is not None:
        return person
    pairs = lock_pairs(connection, person.id)
    release(connection, person.id, now=now)
    changed = _change(connection, person, now, WHY)
    recount_pairs(connection, pairs)
    _log(connection, campaign, changed, who=who, what="set aside", now=now)
    return changed


def take_expert_back(connection: Connection, found: Participant, *, who: str, now: float) -> Participant:
    """Let somebody's orders count again, and let them go on."""
    campaign, person = _in_hand(connection, found)
    if person.set_aside_at is None:
        return person
    pairs = lock_pairs(connection, person.id)
    changed = _change(connection, person, None, None)
    recount_pairs(connection, pairs)
    _log(connection, campaign, changed, who=who, what="taken back", now=now)
    return changed


def _in_hand(connection: Connection, found: Participant) -> tuple[Campaign, Participant]:
    """The campaign and the participant as they are until this transaction ends."""
    campaign = in_use(connection, found.campaign_id)
    _ = campaign.ranking  # refused where something else is asked for
    person = locked_participant(connection, found.id)
    if person.erased_at is not None:
        raise Gone(f"Participant {found.code} was erased.")
    return campaign, person


def _change(connection: Connection, person: Participant, at: float | None, why: str | None) -> Participant:
    statement = update(participant).where(participant.c.id == person.id).values(set_aside_at=at, set_aside_why=why)
    return participant_from(connection.execute(statement.returning(participant)).one())


def _log(connection: Connection, campaign: Campaign, person: Participant, *, who: str, what: str, now: float) -> None:
    n = select(func.count()).where(answer.c.participant_id == person.id, answer.c.kind == "judgment")
    details = {"participant": person.code, "why": WHY, "answers": connection.execute(n).scalar_one()}
    log_event(connection, campaign.id, who=who, what=what, details=details, now=now)
