"""People whose answers are not to count: set aside, by an organiser or the rules of trust, and taken back.

Nothing is deleted, and others are asked what they were asked. In a preference campaign somebody's part has an outcome,
which changes with it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select, update

from adjudge.web.campaign_rows import Campaign, in_use, log_event
from adjudge.web.errors import Conflict, Gone, Refused
from adjudge.web.invitations import Participant, locked_participant, participant_from
from adjudge.web.leasing import release
from adjudge.web.pair_counts import lock_pairs, recount_pairs
from adjudge.web.preference_leasing import QUESTIONS
from adjudge.web.schema import answer, participant

ORGANISER = "organiser"
"""Why somebody is set aside where a person decided it."""
REASONS = {"preference": ("quiz", "traps", "attention", ORGANISER), "ranking": (ORGANISER,)}
"""Why somebody can be set aside, by kind of campaign; other kinds set nobody aside."""
TAKEN_BACK = "taken back"
"""What the log calls it."""


def set_aside(connection: Connection, found: Participant, *, who: str, now: float, why: str = ORGANISER) -> Participant:
    """Let somebody's answers count no longer, and let them have no more; others get what they had.

    In a preference campaign a part that has no outcome yet was screened out where there is a quiz and they answered no
    question, else failed. No pair may be locked yet where this is called, see
    :func:`~adjudge.web.pair_counts.lock_pairs`.
    """
    campaign, person = _in_hand(connection, found)
    if why not in REASONS[campaign.kind]:
        raise Refused(f"Expected a reason among {', '.join(REASONS[campaign.kind])}, got {why!r}.")
    if person.set_aside_at is not None:
        return person
    values: dict[str, Any] = {"set_aside_at": now, "set_aside_why": why}
    pairs, answers = lock_pairs(connection, person.id), _answers(connection, person)
    if campaign.kind == "preference" and person.outcome is None:
        is_early = why != ORGANISER and not answers and campaign.preference.quiz > 0
        values |= {"outcome": "screened_out" if is_early else "failed", "outcome_at": now}
    changed = change_participant(connection, person, values)
    release(connection, person.id, now=now)
    recount_pairs(connection, pairs)
    _log(connection, person, who=who, what="set aside", why=why, answers=answers, now=now)
    return changed


def take_back(connection: Connection, found: Participant, *, who: str, now: float) -> Participant:
    """Let somebody's answers count again, and let them go on; the rules of trust do not stop them any more.

    A part that was done stays done.
    """
    campaign, person = _in_hand(connection, found)
    if person.set_aside_at is None:
        return person
    values: dict[str, Any] = {"set_aside_at": None, "set_aside_why": None}
    pairs, answers = lock_pairs(connection, person.id), _answers(connection, person)
    if campaign.kind == "preference":
        is_done = person.outcome == "done" or answers >= campaign.preference.per_participant
        values |= {"outcome": "done", "outcome_at": person.outcome_at or now} if is_done else _NO_OUTCOME
    changed = change_participant(connection, person, values)
    recount_pairs(connection, pairs)
    _log(connection, person, who=who, what=TAKEN_BACK, why=person.set_aside_why, answers=answers, now=now)
    return changed


_NO_OUTCOME: dict[str, Any] = {"outcome": None, "outcome_at": None}


def _in_hand(connection: Connection, found: Participant) -> tuple[Campaign, Participant]:
    """The campaign and the participant as they are until this transaction ends."""
    campaign = in_use(connection, found.campaign_id)
    if campaign.kind not in REASONS:
        raise Conflict(f"Campaign {campaign.name} sets nobody aside; block them instead.")
    person = locked_participant(connection, found.id)
    if person.erased_at is not None:
        raise Gone(f"Participant {found.code} was erased.")
    return campaign, person


def _answers(connection: Connection, person: Participant) -> int:
    """Questions that somebody answered, or rankings that they sent; traps do not count."""
    given = select(func.count()).where(answer.c.participant_id == person.id, answer.c.kind.in_(QUESTIONS))
    return int(connection.execute(given).scalar_one())


def _log(
    connection: Connection, person: Participant, *, who: str, what: str, why: str | None, answers: int, now: float
) -> None:
    details = {"participant": person.code, "why": why, "answers": answers}
    log_event(connection, person.campaign_id, who=who, what=what, details=details, now=now)


def change_participant(connection: Connection, person: Participant, values: dict[str, Any]) -> Participant:
    """The participant with other values."""
    this = update(participant).where(participant.c.id == person.id)
    return participant_from(connection.execute(this.values(**values).returning(participant)).one())
