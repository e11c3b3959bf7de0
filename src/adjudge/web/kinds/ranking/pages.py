"""What a ranking campaign needs before it opens: candidates, documents, settings, people; and a look at a query.

Rankings that were sent: files to take away, every ranking with its expert, and queries that people could not do.

Who puts documents in order: what they sent, how far they agree with the others, and whether their rankings count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, func, select

from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.web.api.body import Heard, heard_from
from adjudge.web.kinds.base import Card
from adjudge.web.kinds.lifecycle import Overview
from adjudge.web.kinds.ranking.dashboard import agreements_of, expert_row, skips_by_person, watch_rankings
from adjudge.web.kinds.ranking.settings import RankingSettings, settings_of
from adjudge.web.pages.answers import list_downloads
from adjudge.web.pages.shared import (
    several,
)
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.participants import Participant


def ranking_goal_in_words(settings: RankingSettings) -> str:
    """What a campaign is after, for people.

    >>> ranking_goal_in_words(RankingSettings(title="Demo", judged_by=3))
    'Rank documents: 3 experts for every query'
    """
    return f"Rank documents: {several(settings.judged_by, 'expert')} for every query"


_PREVIEWS = 500  # queries among which one is chosen to look at


class Candidate(Heard):
    """A candidate as an organiser sees it: with its name, which experts never see."""

    document: str


class QueryClips(BaseModel):
    """What experts hear or see of a query, and of its candidates as they came."""

    query: Heard
    candidates: list[Candidate]


def set_up_values(connection: Connection, campaign: Campaign, asked_for: Mapping[str, str]) -> dict[str, Any]:
    """What the set-up page shows of a ranking campaign."""
    rows, settings = _queries(connection, campaign.id), settings_of(campaign)
    values: dict[str, Any] = {
        "has_material": bool(rows),
        "facts": {"Rankings in all": f"{len(rows) * settings.judged_by:,}"} if rows else {},
        "n_queries": len(rows),
        "preview": None,
    }
    if not rows:
        return values
    sizes = [row.n for row in rows]
    spread = f"{sizes[0]}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    return values | {
        "counts": f"{several(len(rows), 'query', 'queries')} with {spread} documents each",
        "most": max(sizes),
        "preview": _preview(connection, rows, asked_for.get("query", "")),
    }


def _queries(connection: Connection, campaign_id: int) -> list[Any]:
    """Numbers and names of queries, as they were given, and how many documents each has."""
    query = select(t.pair.c.id, t.pair.c.query, func.count().label("n")).join(
        t.listed, t.listed.c.pair_id == t.pair.c.id
    )
    named = query.where(t.pair.c.campaign_id == campaign_id).group_by(t.pair.c.id, t.pair.c.query).order_by(t.pair.c.id)
    return list(connection.execute(named))


def _preview(connection: Connection, rows: list[Any], chosen: str) -> dict[str, Any]:
    """One query with its candidates, and the others to choose among."""
    this = next((row for row in rows if row.query == chosen), rows[0])
    return {
        "query": this.query,
        "clips": clips_of_query(connection, this.id),
        "names": [row.query for row in rows[:_PREVIEWS]],
        "chosen": bool(chosen),
    }


def clips_of_query(connection: Connection, pair_id: int) -> QueryClips:
    """What experts hear or see of a query and its candidates."""
    asked = select(t.item).join(t.pair, t.pair.c.query_item_id == t.item.c.id).where(t.pair.c.id == pair_id)
    below = select(t.item).join(t.listed, t.listed.c.item_id == t.item.c.id).where(t.listed.c.pair_id == pair_id)
    row = connection.execute(asked).one()
    return QueryClips(
        query=heard_from(row.kind, row.address, row.text, row.seconds),
        candidates=[
            Candidate(document=one.identifier, **heard_from(one.kind, one.address, one.text, one.seconds).model_dump())
            for one in connection.execute(below.order_by(t.listed.c.rank))
        ],
    )


def answers_values(connection: Connection, campaign: Campaign, rows: Sequence[Any]) -> dict[str, Any]:
    """What the page of answers shows of a ranking campaign."""
    files = {
        "lists": ("Lists", f"partially ordered, made by {DEFAULT_CONSTRUCTION}"),
        "rankings": ("Rankings", "every ranking as it stands, for adjudge groundtruth"),
        "log": ("Log", "everything that was sent, in order"),
        "people": ("People", "who took part, and how much they did; personal"),
        "report": ("Report", "lists, their consistency, what they rest on"),
    }
    replaced = _replaced(connection, campaign.id)
    return {"rows": [_answer_row(row, replaced) for row in rows], "files": list_downloads(campaign, files)}


def _replaced(connection: Connection, campaign_id: int) -> dict[int, int]:
    """The last correction of each first ranking, by the number of the first one."""
    query = select(t.answer.c.corrects, func.max(t.answer.c.id)).where(
        t.answer.c.campaign_id == campaign_id, t.answer.c.kind == "correction"
    )
    return {row[0]: row[1] for row in connection.execute(query.group_by(t.answer.c.corrects))}


def _answer_row(row: Any, replaced: dict[int, int]) -> dict[str, Any]:
    """An answer as it is shown; ``replaced`` says whether a later one counts in its place."""
    groups, unranked = row.grades.get("groups", []), row.grades.get("unranked", [])
    ranked = sum(map(len, groups))
    stands = {"judgment": row.id not in replaced, "correction": row.id in replaced.values()}
    return {
        **row._mapping,
        "groups": groups,
        "unranked": unranked,
        "ranked": ranked,
        "of": ranked + len(unranked),
        "replaced": not stands.get(row.kind, True),
    }


def people_values(
    connection: Connection, campaign: Campaign, people: Sequence[Participant], *, now: float
) -> tuple[dict[int, dict[str, Any]], dict[str, Any]]:
    """What experts sent and began, and how far they agree with the others."""
    seen = watch_rankings(connection, campaign.id, now=now)
    agreeing, sent = agreements_of(seen), defaultdict(list)
    for ranking in seen.sent:
        sent[ranking.participant_id].append(ranking)
    begun = {ranking.participant_id: ranking for ranking in seen.begun}
    skips = skips_by_person(connection, campaign.id)
    known = {
        person.id: {
            **expert_row(sent[person.id], agreeing.get(person.code)),
            "begun": begun.get(person.id),
            "skips": skips[person.id],
        }
        for person in people
    }
    return known, {"n_queries": len(seen.queries)}


def card(campaign: Campaign, seen: Overview, status: Mapping[str, Any], live: int) -> Card:
    """Progress in rankings; before the campaign was open, how many are wanted."""
    settings = settings_of(campaign)
    wanted = status.get("wanted", seen.pairs * settings.judged_by)
    rankings = status.get("rankings", seen.answers)
    return Card(
        name=campaign.name,
        title=settings.title,
        state=campaign.state,
        goal=ranking_goal_in_words(settings),
        candidates=wanted,
        share=1.0 if status.get("done") else round(status.get("complete") or 0.0, 4),
        progress=f"{rankings:,} of {several(wanted, 'ranking')}",
        value="Every query is ranked" if status.get("done") else "",
        live=live,
        people=f"{several(live, 'expert')} at work now" if live else several(seen.participants, "expert"),
    )
