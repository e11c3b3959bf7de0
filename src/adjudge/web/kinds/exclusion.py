"""Exclusion: participants whose answers do not count, by an organiser's decision or by the rules of trust.

Nothing is deleted, and others are asked the same questions. Where a part has an outcome, that changes too. Whoever is
readmitted counts again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select, update

from adjudge.web.errors import Conflict, Gone, Refused
from adjudge.web.kinds.base import ORGANISER, kind_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, in_use, log_event
from adjudge.web.store.leases import QUESTIONS, lock_pairs, recount_pairs, release
from adjudge.web.store.participants import Participant, locked_participant, participant_from

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
    """Questions that somebody answered, or rankings that they sent; traps do not count."""
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
