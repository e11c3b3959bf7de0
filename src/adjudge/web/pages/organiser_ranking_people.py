"""Who puts documents in order: what they sent, how far they agree with the others, and whether their rankings count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, select

from adjudge.web.campaign_rows import Campaign
from adjudge.web.invitations import Participant, participant_from
from adjudge.web.pages.organiser_shared import PAGE
from adjudge.web.ranking_picturing import agreements_of, expert_row
from adjudge.web.ranking_watching import skips_by_person, watch_rankings
from adjudge.web.schema import participant


def ranking_people(
    connection: Connection, campaign: Campaign, asked_for: Mapping[str, str], *, now: float
) -> dict[str, Any]:
    """A page of experts, who came last first."""
    number = asked_for.get("page", "1")
    page = max(1, int(number)) if number.isascii() and number.isdigit() and len(number) < 7 else 1
    of_campaign = participant.c.campaign_id == campaign.id
    query = select(participant).where(of_campaign).order_by(participant.c.id.desc())
    rows = connection.execute(query.offset((page - 1) * PAGE).limit(PAGE + 1)).all()
    seen = watch_rankings(connection, campaign.id, now=now)
    agreeing, sent = agreements_of(seen), defaultdict(list)
    for one in seen.sent:
        sent[one.participant_id].append(one)
    begun = {one.participant_id: one for one in seen.begun}
    skips = skips_by_person(connection, campaign.id)
    total = connection.execute(select(func.count()).select_from(participant).where(of_campaign)).scalar_one()
    address = f"/campaigns/{campaign.name}/people"
    people = []
    for found in map(participant_from, rows[:PAGE]):
        work = expert_row(sent[found.id], agreeing.get(found.code))
        people.append({**_row(found), **work, "begun": begun.get(found.id), "skips": skips[found.id]})
    return {
        "people": people,
        "n_people": total,
        "n_queries": len(seen.queries),
        "newer": None if page == 1 else address if page == 2 else f"{address}?page={page - 1}",
        "older": f"{address}?page={page + 1}" if len(rows) > PAGE else None,
    }


def _row(found: Participant) -> dict[str, Any]:
    return {
        "code": found.code,
        "name": found.name,
        "seen_at": found.seen_at,
        "aside": found.set_aside_at is not None,
        "blocked": found.blocked_at is not None,
        "erased": found.erased_at is not None,
    }
