"""Who compares lists: whether they listen, how their part ended, and whether their answers count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median
from typing import Any

from sqlalchemy import Connection, func, select

from adjudge.web.campaign_rows import Campaign
from adjudge.web.invitations import Participant, participant_from
from adjudge.web.pages.organiser_preference_forms import OUTCOME_WORDS
from adjudge.web.pages.organiser_shared import PAGE
from adjudge.web.preference_picturing import trust_row
from adjudge.web.preference_trust import trust_of
from adjudge.web.preference_watching import PAID
from adjudge.web.schema import answer, participant

WHY_WORDS = {
    "quiz": "the quiz was not passed",
    "traps": "too many traps missed",
    "attention": "probably not listening",
    "organiser": "by an organiser",
}
"""Why answers are set aside."""


def preference_people(connection: Connection, campaign: Campaign, asked_for: Mapping[str, str]) -> dict[str, Any]:
    """A page of people, who came last first, with what is known of their attention."""
    number = asked_for.get("page", "1")
    page = min(int(number), 1_000_000) if number.isascii() and number.isdigit() and len(number) < 8 else 1
    page = max(1, page)
    of_campaign = participant.c.campaign_id == campaign.id
    query = select(participant).where(of_campaign).order_by(participant.c.id.desc())
    rows = connection.execute(query.offset((page - 1) * PAGE).limit(PAGE + 1)).all()
    everybody = [participant_from(row) for row in rows[:PAGE]]
    done = _done(connection, [one.id for one in everybody])
    total = connection.execute(select(func.count()).select_from(participant).where(of_campaign)).scalar_one()
    address = f"/campaigns/{campaign.name}/people"
    return {
        "people": [_row(connection, campaign, one, done[one.id]) for one in everybody],
        "n_people": total,
        "newer": None if page == 1 else address if page == 2 else f"{address}?page={page - 1}",
        "older": f"{address}?page={page + 1}" if len(rows) > PAGE else None,
        "parameters": campaign.preference.recruiter.expected,
        "recruited": campaign.preference.recruiter.kind != "none",
    }


def _done(connection: Connection, ids: list[int]) -> dict[int, list[tuple[str, int | None]]]:
    """Kind and time of the answers of some people."""
    found: dict[int, list[tuple[str, int | None]]] = defaultdict(list)
    query = select(answer.c.participant_id, answer.c.kind, answer.c.took_ms).where(answer.c.participant_id.in_(ids))
    for number, kind, took in connection.execute(query):
        found[number].append((kind, took))
    return found


def _row(
    connection: Connection, campaign: Campaign, found: Participant, done: list[tuple[str, int | None]]
) -> dict[str, Any]:
    """Somebody as they are shown."""
    took = [ms for kind, ms in done if ms is not None and kind in PAID]
    trust = trust_of(connection, campaign, found.id) if done else None
    why = found.set_aside_why or "organiser"
    return {
        "code": found.code,
        "name": found.name,
        "seen_at": found.seen_at,
        "answers": sum(kind == "judgment" for kind, _ in done),
        "skips": sum(kind == "skip" for kind, _ in done),
        "seconds": median(took) / 1000 if took else None,
        "outcome": found.outcome,
        "outcome_words": OUTCOME_WORDS.get(found.outcome or ""),
        "aside": None if found.set_aside_at is None else WHY_WORDS.get(why, why),
        "blocked": found.blocked_at is not None,
        "erased": found.erased_at is not None,
        "recruited": found.recruited or {},
        **trust_row(trust),
    }
