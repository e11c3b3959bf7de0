"""The organiser's picture of a ranking campaign: how far each query is, its list as it stands, and the experts.

It is kept and sent as that of other campaigns is. Lists are made in the usual way; the dashboard asks for others when
somebody chooses them (:mod:`adjudge.web.ranking_lists`).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.groundtruth import DEFAULT_ALPHA, RankedQuery
from adjudge.io import plain
from adjudge.web import monitoring
from adjudge.web.campaign_rows import Campaign
from adjudge.web.ranking_agreement import Agreement, agreements
from adjudge.web.ranking_lists import constructions, mean_of, measured_by, ranked_queries, summary
from adjudge.web.ranking_watching import AskedQuery, Begun, SeenRankings, Sent, skips_by_person, watch_rankings
from adjudge.web.seen_people import Someone

MOST_EXPERTS = 300
"""Experts who are listed: those who are there, then those who came last."""
FEWEST = 2
"""Experts below whom a list says nothing of the documents."""
_NAMED = 3  # of those that a warning is about
_HOUR = 3600.0


def make_ranking_picture(connection: Connection, found: Campaign, *, now: float | None = None) -> dict[str, Any]:
    """The picture without its version and what it was made from; plain values, None where something is unknown."""
    now = time.time() if now is None else now
    seen = watch_rankings(connection, found.id, now=now)
    codes = {one.id: one.code for one in seen.people}
    ranked = ranked_queries(seen.counted, codes)
    lists = {name: summary(one) for name, one in ranked.items()}
    agreeing = agreements_of(seen)
    status = _status(seen)
    reached_at = (found.reached_at or now) if status["done"] else found.reached_at if found.state == "closed" else None
    experts = _experts(connection, found, seen, agreeing, now=now)
    made = {
        "made_at": now,
        "kind": "ranking",
        "campaign": {**_campaign(found), "reached_at": reached_at},
        "status": status,
        **_ways(),
        "consistency": {name: mean_of([*lists.values()], name) for name in ("adr_1", "adr_2")},
        "queries": [_query(one, ranked, lists) for one in seen.queries],
        "experts": experts[:MOST_EXPERTS],
        "warnings": _warnings(seen, ranked, experts),
        "problems": monitoring.problems(connection, found.id),
        "pace": _pace(seen, now=now),
        "notes": _notes(seen, len(experts)),
    }
    values: dict[str, Any] = plain(made)
    return values


def agreements_of(seen: SeenRankings) -> dict[str, Agreement]:
    """How far each expert agrees with those whose rankings count, by code."""
    codes = {one.id: one.code for one in seen.people}
    counted = seen.counted
    found = agreements([*ranked_queries(counted, codes).values()])
    for code, sent in _aside(seen, codes).items():
        with_them = agreements([*ranked_queries([*counted, *sent], codes).values()])
        found |= {code: with_them[code]} if code in with_them else {}
    return found


def _aside(seen: SeenRankings, codes: Mapping[int, str]) -> dict[str, list[Sent]]:
    """Rankings of those who do not count, by their codes."""
    counts = {one.id for one in seen.people if one.counts}
    found: dict[str, list[Sent]] = defaultdict(list)
    for one in seen.sent:
        if one.participant_id not in counts:
            found[codes[one.participant_id]].append(one)
    return found


def first_ranking_picture(found: Campaign) -> dict[str, Any]:
    """A picture before anything is known, of version 0."""
    nothing = SeenRankings((), (), (), ())
    made: dict[str, Any] = {
        "version": 0,
        "made_at": None,
        "kind": "ranking",
        "campaign": _campaign(found),
        "status": {**_status(nothing), "reason": "nothing is asked yet"},
        **_ways(),
        "consistency": {"adr_1": None, "adr_2": None},
        **{name: [] for name in ("queries", "experts", "warnings", "problems", "notes")},
        "pace": {"day": 0, "minutes": None},
    }
    return made


def _ways() -> dict[str, Any]:
    """In which way lists are made, and in which others they could be."""
    return {
        "construction": DEFAULT_CONSTRUCTION,
        "alpha": DEFAULT_ALPHA,
        "constructions": constructions(),
        "measured_by": measured_by(),
    }


def _campaign(found: Campaign) -> dict[str, Any]:
    return {"name": found.name, "title": found.settings.title, "state": found.state, "reached_at": found.reached_at}


def _status(seen: SeenRankings) -> dict[str, Any]:
    """How far it is: rankings that count, of those that are wanted; what is held back wants no more."""
    queries = seen.queries
    left = sum(one.left for one in queries)
    asked = [one for one in queries if not one.held]
    wanted, there = sum(one.wanted for one in asked), sum(min(one.answered, one.wanted) for one in asked)
    return {
        "queries": len(queries),
        "queries_done": sum(one.left == 0 for one in queries),
        "held": len(queries) - len(asked),
        "documents": sum(one.documents for one in queries),
        "wanted": sum(one.answered if one.held else one.wanted for one in queries),
        "rankings": sum(one.answered for one in queries),
        "in_work": sum(one.in_work for one in queries),
        "set_aside": len(seen.sent) - len(seen.counted),
        "complete": there / wanted if wanted else None,
        "done": bool(queries) and not left,
        "reason": f"{left:,} ranking{'s are' if left > 1 else ' is'} still wanted"
        if left
        else "every query has the rankings that were wanted",
    }


def _query(one: AskedQuery, ranked: Mapping[str, RankedQuery], lists: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """A row of the table of queries: how far it is, and its list in numbers."""
    made = lists.get(one.query, {})
    return {
        "pair": one.id,
        "query": one.query,
        "documents": one.documents,
        "wanted": one.wanted,
        "answered": one.answered,
        "in_work": one.in_work,
        "held": one.held,
        "skips": one.skips,
        "experts": len(ranked[one.query].experts) if one.query in ranked else 0,
        "nobody": _unranked(ranked.get(one.query)),
        "list": made if "groups" in made else None,
        "why": made.get("why"),
    }


def _unranked(asked: RankedQuery | None) -> list[str]:
    """Documents that nobody gave a place, although somebody ranked the others."""
    if asked is None:
        return []
    return [name for name, n in zip(asked.documents, asked.times_ranked, strict=True) if not n]


def _experts(
    connection: Connection, found: Campaign, seen: SeenRankings, agreeing: Mapping[str, Agreement], *, now: float
) -> list[dict[str, Any]]:
    """A row for each person who sent a ranking, has one in work or is there; those who are there first."""
    sent: dict[int, list[Sent]] = defaultdict(list)
    for one in seen.sent:
        sent[one.participant_id].append(one)
    begun = {one.participant_id: one for one in seen.begun}
    skips = skips_by_person(connection, found.id)
    chosen = [one for one in seen.people if sent[one.id] or one.id in begun or one.is_live(now)]
    chosen.sort(key=lambda one: (not one.is_live(now), -one.seen_at))
    of = {one.query: one.documents for one in seen.queries}
    return [
        {
            **_person(one, now=now),
            **expert_row(sent[one.id], agreeing.get(one.code)),
            "skips": skips[one.id],
            "begun": _begun(begun.get(one.id), of),
        }
        for one in chosen
    ]


def _person(one: Someone, *, now: float) -> dict[str, Any]:
    state = one.state(now)
    return {
        "code": one.code,
        "name": one.name,
        "seen_at": one.seen_at,
        "live": one.is_live(now),
        "state": "aside" if not one.counts else state,
    }


def expert_row(sent: Sequence[Sent], agreement: Agreement | None) -> dict[str, Any]:
    """What somebody did, and how far they agree with the others."""
    took = [one.took_ms / 1000 for one in sent if one.took_ms is not None]
    ranked, of = sum(one.ranked for one in sent), sum(one.ranked + len(one.unranked) for one in sent)
    return {
        "rankings": len(sent),
        "ranked_share": ranked / of if of else None,
        "median_seconds": float(np.median(took)) if took else None,
        "tau": None if agreement is None else agreement.tau,
        "chance": None if agreement is None else agreement.chance,
        "shared": 0 if agreement is None else agreement.queries,
        "like_chance": agreement is not None and agreement.like_chance,
    }


def _begun(one: Begun | None, documents: Mapping[str, int]) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"query": one.query, "placed": one.placed, "of": documents.get(one.query), "saved_at": one.saved_at}


def _pace(seen: SeenRankings, *, now: float) -> dict[str, Any]:
    """Rankings of the last day, and the middle of the minutes that one took."""
    took = [one.took_ms / 60_000 for one in seen.counted if one.took_ms is not None]
    return {
        "day": sum(now - one.at < 24 * _HOUR for one in seen.counted),
        "minutes": float(np.median(took)) if took else None,
    }


def _warnings(seen: SeenRankings, ranked: Mapping[str, RankedQuery], experts: Sequence[Mapping[str, Any]]) -> list[str]:
    """What an organiser should know before they trust the lists."""
    found = []
    few = [name for name, one in ranked.items() if len(one.experts) < FEWEST]
    if few:
        found.append(
            f"Fewer than {FEWEST} experts ranked {_some(few, 'query', 'queries')}: "
            "nothing is known yet of how far experts agree."
        )
    nobody = [f"{document} of {name}" for name, one in ranked.items() for document in _unranked(one)]
    if nobody:
        found.append(f"Nobody gave a place to {_some(nobody, 'document', 'documents')}; no list has them.")
    strange = [str(one["code"]) for one in experts if one["like_chance"] and one["state"] != "aside"]
    if strange:
        found.append(
            f"{_some(strange, 'expert', 'experts')}: what they sent is no nearer to the others' rankings than chance "
            "would be. Look at it, and set them aside if they did not listen."
        )
    return found


def _some(names: Sequence[str], one: str, many: str) -> str:
    """Things counted, and the first of them named.

    >>> _some(["a", "b"], "query", "queries")
    '2 queries (a, b)'
    """
    shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return f"{len(names):,} {one if len(names) == 1 else many} ({shown})"


def _notes(seen: SeenRankings, n_experts: int) -> list[str]:
    notes = []
    held = sum(one.held for one in seen.queries)
    if held:
        notes.append(f"{held:,} {'queries are' if held > 1 else 'query is'} held back and will not be asked.")
    if n_experts > MOST_EXPERTS:
        notes.append(f"Of {n_experts:,} people the {MOST_EXPERTS} who came last are listed; the People page has all.")
    return notes
