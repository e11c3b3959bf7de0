"""Dashboard snapshots: what the dashboard of a campaign shows, stored with what it was made from.

A snapshot has a version, and is out of date as soon as anything that it was made from changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import LIVE_SECONDS, Campaign

MOST_PROBLEMS = 200


@dataclass(frozen=True)
class Basis:
    """What a snapshot was made from: it is out of date when any of it changed."""

    last_answer: int = 0
    answers: int = 0
    last_event: int = 0
    state: str = ""
    live: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any] | None) -> Basis | None:
        """As it was kept in a snapshot."""
        if not values:
            return None
        return cls(**{**values, "live": tuple(values.get("live", ()))})


def current_basis(connection: Connection, campaign_id: int, *, now: float) -> Basis:
    """What a snapshot would be made from now."""
    answers = select(func.coalesce(func.max(t.answer.c.id), 0), func.count()).where(
        t.answer.c.campaign_id == campaign_id
    )
    last_answer, n_answers = connection.execute(answers).one()
    last = last_event(connection, campaign_id)
    state = connection.execute(select(t.campaign.c.state).where(t.campaign.c.id == campaign_id)).scalar_one()
    live = tuple(live_codes(connection, campaign_id, now=now))
    return Basis(last_answer, n_answers, last, state, live)


def last_event(connection: Connection, campaign_id: int) -> int:
    """The number of the last thing that happened to a campaign; 0 where nothing did."""
    events = select(func.coalesce(func.max(t.event.c.id), 0)).where(t.event.c.campaign_id == campaign_id)
    return int(connection.execute(events).scalar_one())


def stored_basis(connection: Connection, campaign_id: int) -> Basis | None:
    """What the snapshot was made from; None before the first."""
    query = select(t.picture.c.content["made_from"]).where(t.picture.c.campaign_id == campaign_id)
    row = connection.execute(query).first()
    return None if row is None else Basis.of(row[0])


def live_codes(connection: Connection, campaign_id: int, *, now: float) -> list[str]:
    """Codes of those who are there now, and whose part has not ended."""
    query = select(t.participant.c.code).where(
        t.participant.c.campaign_id == campaign_id,
        t.participant.c.seen_at >= now - LIVE_SECONDS,
        t.participant.c.erased_at.is_(None),
        t.participant.c.invitation_id.is_not(None),
        t.participant.c.outcome.is_(None),
    )
    return sorted(connection.execute(query).scalars())


def as_reached(campaign: Campaign, *, done: bool, now: float) -> Campaign:
    """A campaign with since when it has what it wants; what it had when it closed stays."""
    at = (campaign.reached_at or now) if done else campaign.reached_at if campaign.state == "closed" else None
    return replace(campaign, reached_at=at)


def campaign_row(campaign: Campaign) -> dict[str, Any]:
    """What every snapshot says about its campaign."""
    return {
        "name": campaign.name,
        "title": campaign.settings.title,
        "state": campaign.state,
        "reached_at": campaign.reached_at,
    }


def replace_snapshot(connection: Connection, campaign_id: int, content: dict[str, Any]) -> int:
    """Put a snapshot of any kind in the place of the one before it; the new version."""
    mine = t.picture.c.campaign_id == campaign_id
    before = connection.execute(select(t.picture.c.version).where(mine).with_for_update()).scalar_one_or_none()
    version = (before or 0) + 1
    values = {
        "version": version,
        "last_answer": content["made_from"]["last_answer"],
        "made_at": content["made_at"],
        "content": {"version": version, **content},
    }
    if before is None:
        connection.execute(insert(t.picture).values(campaign_id=campaign_id, **values))
    else:
        connection.execute(update(t.picture).where(mine).values(**values))
    return version


def read_snapshot(connection: Connection, campaign_id: int) -> dict[str, Any] | None:
    """The snapshot as it is now, None before the first."""
    content = connection.execute(
        select(t.picture.c.content).where(t.picture.c.campaign_id == campaign_id)
    ).scalar_one_or_none()
    return None if content is None else dict(content)


def snapshot_version(connection: Connection, campaign_id: int) -> int:
    """The version of the snapshot, 0 before the first."""
    query = select(func.max(t.picture.c.version)).where(t.picture.c.campaign_id == campaign_id)
    return connection.execute(query).scalar_one() or 0


def problems(connection: Connection, campaign_id: int, *, most: int = MOST_PROBLEMS) -> list[dict[str, Any]]:
    """Pairs that were skipped, commented on or held back; held ones first, then by how many skipped them."""
    kept = (t.answer.c.kind == "skip") | (t.answer.c.comment.is_not(None) & (t.answer.c.comment != ""))
    columns = (t.answer.c.pair_id, t.answer.c.kind, t.answer.c.reason, t.answer.c.comment)
    of_campaign = t.answer.c.campaign_id == campaign_id
    said = connection.execute(select(*columns).where(of_campaign, kept).order_by(t.answer.c.id))
    reasons: dict[int, Counter[str]] = defaultdict(Counter)
    comments: dict[int, list[str]] = defaultdict(list)
    for row in said:
        if row.kind == "skip":
            reasons[row.pair_id][row.reason or "other"] += 1
        if row.comment:
            comments[row.pair_id].append(row.comment)
    rows = connection.execute(
        select(t.pair.c.id, t.pair.c.query, t.pair.c.document, t.pair.c.held).where(
            t.pair.c.campaign_id == campaign_id,
            t.pair.c.held | t.pair.c.id.in_(select(t.answer.c.pair_id).where(of_campaign, kept)),
        )
    )
    found = [
        {
            "pair": row.id,
            "query": row.query,
            "document": row.document,
            "skips": sum(reasons[row.id].values()),
            "reasons": dict(reasons[row.id]),
            "held": row.held,
            "comments": comments[row.id],
        }
        for row in rows
    ]
    found.sort(key=lambda row: (not row["held"], -row["skips"], -len(row["comments"]), row["pair"]))
    return found[:most]
