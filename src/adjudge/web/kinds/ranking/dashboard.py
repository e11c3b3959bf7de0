"""The dashboard of a ranking campaign: how far each query is, its list as it stands, and how far experts agree.

For each query an expert's ranking is compared with the median of the ranks that the others gave, by Kendall's tau-b
over the documents that anybody ranked; what somebody left unranked comes after all that they ranked. The mean over
queries is shown. For a random ranking it is 0, with variance 2 (2n + 5) / 9n (n - 1) for n documents (Kendall 1938, doi
10.1093/biomet/30.1-2.81): an expert is called *like chance* where theirs is within 1.645 standard errors of 0 while
that of half of the others is beyond it.

Lists are made in the usual way; the dashboard asks for others when somebody chooses them.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, func, select

from adjudge.arrays import Floats
from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.groundtruth import (
    COMPARISONS,
    DEFAULT_ALPHA,
    FUNCTIONS,
    BuiltList,
    RankedQuery,
    Rankings,
    build,
    parse_construction,
)
from adjudge.groundtruth.evidence import default_comparison
from adjudge.io import plain
from adjudge.web.kinds.base import Moment, Observer, Snapshot
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.participants import ParticipantSummary, people_of
from adjudge.web.store.snapshots import as_reached, campaign_row, problems


@dataclass(frozen=True)
class SentRanking:
    """One ranking that was sent; ``took_ms`` counts all that somebody worked on it, also when they changed it later."""

    participant_id: int
    query: str
    groups: tuple[tuple[str, ...], ...]
    unranked: tuple[str, ...]
    at: float
    took_ms: int | None

    @property
    def ranked(self) -> int:
        """Documents that have a place."""
        return sum(map(len, self.groups))


@dataclass(frozen=True)
class QueryRow:
    """A query, how many documents it has, and how far it is; ``in_work`` is how many people have it in their hands."""

    id: int
    query: str
    documents: int
    wanted: int
    answered: int
    held: bool
    in_work: int
    skips: int

    @property
    def left(self) -> int:
        """Rankings that are still wanted."""
        return 0 if self.held else max(0, self.wanted - self.answered)


@dataclass(frozen=True)
class UnfinishedRanking:
    """A ranking that somebody has not sent yet."""

    participant_id: int
    query: str
    placed: int
    saved_at: float


@dataclass(frozen=True)
class RankingActivity:
    """Everything that people did, read at one moment; ``sent`` are all rankings, also of excluded people."""

    people: tuple[ParticipantSummary, ...]
    sent: tuple[SentRanking, ...]
    queries: tuple[QueryRow, ...]
    begun: tuple[UnfinishedRanking, ...]

    @property
    def counted(self) -> list[SentRanking]:
        """Rankings of people whose answers count."""
        counts = {person.id for person in self.people if person.counts}
        return [ranking for ranking in self.sent if ranking.participant_id in counts]


def watch_rankings(connection: Connection, campaign_id: int, *, now: float) -> RankingActivity:
    """Read what people did."""
    return RankingActivity(
        people_of(connection, campaign_id),
        tuple(_sent(connection, campaign_id)),
        tuple(_queries(connection, campaign_id, now=now)),
        tuple(_begun_leases(connection, campaign_id, now=now)),
    )


def sent_rankings(connection: Connection, campaign_id: int) -> tuple[tuple[ParticipantSummary, ...], list[SentRanking]]:
    """Everybody, and the rankings of those who count, as they stand."""
    people = people_of(connection, campaign_id)
    counts = {person.id for person in people if person.counts}
    return people, [ranking for ranking in _sent(connection, campaign_id) if ranking.participant_id in counts]


def skips_by_person(connection: Connection, campaign_id: int) -> Counter[int]:
    """How many queries each participant skipped, by number."""
    skipped = select(t.answer.c.participant_id, func.count()).where(
        t.answer.c.campaign_id == campaign_id, t.answer.c.kind == "skip"
    )
    rows = connection.execute(skipped.group_by(t.answer.c.participant_id))
    return Counter({row[0]: row[1] for row in rows})


def _sent(connection: Connection, campaign_id: int) -> list[SentRanking]:
    """Rankings as they stand: the last that each person sent for each query, in the order of the first ones."""
    names = ("participant_id", "grades", "created_at", "took_ms")
    columns = [t.answer.c[name] for name in names]
    given = (
        select(*columns, t.pair.c.query)
        .join(t.pair, t.pair.c.id == t.answer.c.pair_id)
        .where(t.answer.c.campaign_id == campaign_id, t.answer.c.kind.in_(("judgment", "correction")))
    )
    found: dict[tuple[int, str], SentRanking] = {}
    for row in connection.execute(given.order_by(t.answer.c.id)):
        key = (row.participant_id, row.query)
        took = [ms for ms in (row.took_ms, found[key].took_ms if key in found else None) if ms is not None]
        found[key] = SentRanking(
            row.participant_id,
            row.query,
            tuple(tuple(group) for group in row.grades["groups"]),
            tuple(row.grades["unranked"]),
            row.created_at,
            sum(took) if took else None,
        )
    return list(found.values())


def _queries(connection: Connection, campaign_id: int, *, now: float) -> list[QueryRow]:
    documents = select(t.listed.c.pair_id, func.count().label("n")).group_by(t.listed.c.pair_id).subquery()
    held = select(t.lease.c.pair_id, func.count()).where(t.lease.c.campaign_id == campaign_id, _in_force(now))
    in_work: Counter[int] = Counter({row[0]: row[1] for row in connection.execute(held.group_by(t.lease.c.pair_id))})
    skipped = select(t.answer.c.pair_id, func.count()).where(
        t.answer.c.campaign_id == campaign_id, t.answer.c.kind == "skip"
    )
    skips: Counter[int] = Counter({row[0]: row[1] for row in connection.execute(skipped.group_by(t.answer.c.pair_id))})
    columns = (t.pair.c.id, t.pair.c.query, documents.c.n, t.pair.c.wanted, t.pair.c.answered, t.pair.c.held)
    query = select(*columns).join(documents, documents.c.pair_id == t.pair.c.id)
    rows = connection.execute(query.where(t.pair.c.campaign_id == campaign_id).order_by(t.pair.c.id))
    return [QueryRow(*row, in_work[row.id], skips[row.id]) for row in rows]


def _in_force(now: float) -> ColumnElement[bool]:
    """Queries that somebody has; what has run out may be given to anybody."""
    return t.lease.c.ended_at.is_(None) & (t.lease.c.kind == "judgment") & (t.lease.c.expires_at >= now)


def _begun_leases(connection: Connection, campaign_id: int, *, now: float) -> list[UnfinishedRanking]:
    """Rankings that are saved and in somebody's hands now."""
    query = (
        select(t.arrangement.c.participant_id, t.pair.c.query, t.arrangement.c.groups, t.arrangement.c.saved_at)
        .join(t.pair, t.pair.c.id == t.arrangement.c.pair_id)
        .join(
            t.lease,
            (t.lease.c.pair_id == t.arrangement.c.pair_id)
            & (t.lease.c.participant_id == t.arrangement.c.participant_id)
            & _in_force(now),
        )
        .where(t.arrangement.c.campaign_id == campaign_id)
    )
    return [UnfinishedRanking(who, name, _placed(groups), at) for who, name, groups, at in connection.execute(query)]


def _placed(groups: Sequence[Sequence[int]]) -> int:
    return sum(map(len, groups))


LEAST_EXPERTS = 3
"""With two, nobody knows which of them is at odds with the other."""
_ONE_IN_TWENTY = 1.645


@dataclass(frozen=True)
class Agreement:
    """Mean tau-b of somebody's rankings with the others', over how many queries, and what a random one may reach."""

    tau: float
    queries: int
    chance: float
    like_chance: bool = False


def agreements(queries: Sequence[RankedQuery]) -> dict[str, Agreement]:
    """Of each expert who shares a query with two or more others.

    >>> orders = np.array([[1.0, 2, 3, 4, 5, 6]] * 4 + [[6.0, 5, 4, 3, 2, 1]])
    >>> asked = RankedQuery("q", tuple("abcdef"), ("u", "v", "w", "x", "y"), orders)
    >>> found = agreements([asked])
    >>> found["u"].tau, found["y"].tau, found["y"].like_chance
    (1.0, -1.0, True)
    """
    taus: dict[str, list[float]] = defaultdict(list)
    variances: dict[str, list[float]] = defaultdict(list)
    for query in queries:
        for expert, tau in taus_of(query).items():
            taus[expert].append(tau)
            n = len(query.documents)
            variances[expert].append(2 * (2 * n + 5) / (9 * n * (n - 1)))
    found = {
        expert: Agreement(
            float(np.mean(of)), len(of), _ONE_IN_TWENTY * float(np.sqrt(sum(variances[expert]))) / len(of)
        )
        for expert, of in taus.items()
    }
    return {expert: _judged(expert, agreement, found) for expert, agreement in found.items()}


def _judged(expert: str, agreement: Agreement, everybody: Mapping[str, Agreement]) -> Agreement:
    others = [other.tau > other.chance for name, other in everybody.items() if name != expert]
    alone = agreement.tau <= agreement.chance and sum(others) * 2 >= len(others) > 0
    return Agreement(agreement.tau, agreement.queries, agreement.chance, like_chance=alone)


def taus_of(asked: RankedQuery) -> dict[str, float]:
    """Tau-b of each expert with the median of the others for one query; none where all is tied, or experts are few."""
    filled = asked.filled("last")
    present = np.isfinite(filled.ranks).min(axis=1)  # who ranked nothing says nothing
    experts = tuple(name for name, here in zip(asked.experts, present.tolist(), strict=True) if here)
    if len(experts) < LEAST_EXPERTS:
        return {}
    ranks = np.ascontiguousarray(filled.ranks[present])
    values = _taus(ranks.tobytes(), ranks.shape)
    return {name: tau for name, tau in zip(experts, values, strict=True) if np.isfinite(tau)}


@lru_cache(maxsize=2048)
def _taus(data: bytes, shape: tuple[int, int]) -> tuple[float, ...]:
    """A refresh asks again about all queries, and most of them did not change."""
    ranks: Floats = np.frombuffer(data).reshape(shape)
    everybody = np.arange(len(ranks))
    return tuple(tau_b(ranks[place], np.median(ranks[everybody != place], axis=0)) for place in everybody)


def tau_b(x: Floats, y: Floats) -> float:
    """Kendall's tau-b of two rankings; NaN where one of them ties everything.

    >>> tau_b(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 4, 3]))
    0.6666666666666666
    """
    first, second = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    both = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / both if both else float("nan")


MOST_MARKS = 400
"""Pairs of each kind that are drawn; all are counted."""


def constructions() -> list[dict[str, Any]]:
    """Ways of making lists from rankings among which an organiser chooses, the usual one first, in words.

    >>> constructions()[0]["name"], constructions()[0]["about"]
    ('Any-1', 'a new group begins with a document that differs from any of the current group')
    """
    usual = measured_by()
    by = [
        name
        for name, comparison in COMPARISONS.items()
        if comparison.takes == "rankings" and name != usual and not comparison.is_random
    ]
    tested = [f"{name}-{tails}" for name in FUNCTIONS for tails in (1, 2)]
    others = [f"{DEFAULT_CONSTRUCTION}:{name}" for name in by]
    return [_way(name) for name in sorted([*tested, *others], key=lambda name: name != DEFAULT_CONSTRUCTION)]


def _way(name: str) -> dict[str, Any]:
    chosen = parse_construction(name)
    by = chosen.comparison("rankings")
    return {
        "name": name,
        "about": FUNCTIONS[chosen.function].about,
        "tails": chosen.tails,
        "by": by,
        "by_about": COMPARISONS[by].about,
    }


def measured_by() -> str:
    """The comparison that consistency is always measured with."""
    return default_comparison("rankings")


def ranked_queries(sent: Iterable[SentRanking], codes: dict[int, str]) -> dict[str, RankedQuery]:
    """Rankings by query; queries for which nobody ranked anything have none. ``codes`` are those of participants."""
    by_query: dict[str, list[SentRanking]] = {}
    for ranking in sent:
        by_query.setdefault(ranking.query, []).append(ranking)
    found = {}
    for query, those in by_query.items():
        if any(ranking.ranked for ranking in those):
            rows = [(query, codes[ranking.participant_id], ranking.groups, ranking.unranked) for ranking in those]
            found[query] = Rankings.from_orders(rows).queries[0]
    return found


def listed(
    asked: RankedQuery, construction: str = DEFAULT_CONSTRUCTION, *, alpha: float = DEFAULT_ALPHA
) -> dict[str, Any]:
    """The list of a query with everything that is drawn of it; refused in one line where there cannot be any yet."""
    ranks = np.ascontiguousarray(asked.ranks)
    names = (asked.query, *asked.documents)
    return _listed(names, ranks.tobytes(), str(parse_construction(construction)), alpha)


@lru_cache(maxsize=1024)
def _listed(names: tuple[str, ...], data: bytes, construction: str, alpha: float) -> dict[str, Any]:
    """Made once for the same rankings: a refresh looks at all queries, and most of them did not change."""
    query, *documents = names
    ranks = np.frombuffer(data).reshape(-1, len(documents))
    asked = RankedQuery(query, tuple(documents), tuple(map(str, range(len(ranks)))), ranks)
    with kept_warnings():  # documents that nobody ranked are told below
        built = build(Rankings((asked,)), construction, alpha=alpha).built[0]
    made: dict[str, Any] = plain({"query": query, "construction": construction, "alpha": alpha, **_shown(built)})
    return made


def _shown(built: BuiltList) -> dict[str, Any]:
    evidence, triples = built.evidence, built.triples
    wrong, wrong_two = built.inconsistencies(1), built.inconsistencies(2)
    rows = zip(
        evidence.documents, evidence.middle, evidence.lower, evidence.upper, evidence.answers, built.group, strict=True
    )
    return {
        "documents": [
            {
                "document": name,
                "middle": middle,
                "lower": lower,
                "upper": upper,
                "experts": int(n),
                "group": int(group) + 1,
            }
            for name, middle, lower, upper, n, group in rows
        ],
        "groups": len(built.list.groups),
        "adr_1": built.consistency(1),
        "adr_2": built.consistency(2),
        "triples": {"alike": triples.alike, "ordered": triples.ordered, "circular": triples.circular, "n": triples.n},
        "counts": {"intra": len(wrong.intra), "inter": len(wrong.inter), "misordered": len(wrong.misordered)},
        "counts2": {"intra": len(wrong_two.intra), "inter": len(wrong_two.inter)},
        "marks": {kind: _some_queries(getattr(wrong, kind)) for kind in ("intra", "inter", "misordered")},
        "left_out": list(evidence.left_out),
    }


def _some_queries(pairs: Any) -> list[list[int]]:
    """The pairs nearest to each other first: those are the ones a reader can see."""
    nearest = sorted(pairs.tolist(), key=lambda pair: (pair[1] - pair[0], pair[0]))
    return nearest[:MOST_MARKS]


def summary(
    asked: RankedQuery, construction: str = DEFAULT_CONSTRUCTION, *, alpha: float = DEFAULT_ALPHA
) -> dict[str, Any]:
    """A list in numbers; ``why`` says why there is no list."""
    try:
        made = listed(asked, construction, alpha=alpha)
    except AdjudgeError as error:
        return {"query": asked.query, "why": str(error)}
    kept = ("query", "groups", "adr_1", "adr_2", "triples", "counts")
    sizes = np.bincount([document["group"] - 1 for document in made["documents"]]).tolist()
    return {**{name: made[name] for name in kept}, "sizes": sizes, "left_out": len(made["left_out"])}


def mean_of(summaries: Sequence[dict[str, Any]], name: str) -> float | None:
    """Mean of a number over the lists that have it."""
    values = [summary_of[name] for summary_of in summaries if summary_of.get(name) is not None]
    return float(np.mean(values)) if values else None


MOST_EXPERTS = 300
"""Experts who are listed: those who are there, then those who came last."""
FEWEST = 2
"""Experts below whom a list says nothing of the documents."""
_NAMED = 3  # of those that a warning is about
_HOUR = 3600.0


class RankingObserver(Observer):
    """Looks at a ranking campaign, whose queue was laid when it opened."""

    def look(self, connection: Connection, moment: Moment, *, is_unchanged: bool) -> Snapshot | None:
        """A new snapshot; None where the one that is stored holds."""
        if is_unchanged:
            return None
        content = make_ranking_snapshot(connection, moment.campaign, now=moment.now)
        content["made_from"] = asdict(moment.basis)
        campaign = as_reached(moment.campaign, done=content["status"]["done"], now=moment.now)
        return Snapshot(campaign, moment.basis, content)


def make_ranking_snapshot(connection: Connection, campaign: Campaign, *, now: float | None = None) -> dict[str, Any]:
    """The snapshot without its version and what it was made from; plain values, None where something is unknown."""
    now = time.time() if now is None else now
    seen = watch_rankings(connection, campaign.id, now=now)
    codes = {person.id: person.code for person in seen.people}
    ranked = ranked_queries(seen.counted, codes)
    lists = {name: summary(query) for name, query in ranked.items()}
    agreeing = agreements_of(seen)
    status = _status(seen)
    reached_at = (
        (campaign.reached_at or now) if status["done"] else campaign.reached_at if campaign.state == "closed" else None
    )
    experts = _experts(connection, campaign, seen, agreeing, now=now)
    made = {
        "made_at": now,
        "kind": "ranking",
        "campaign": {**campaign_row(campaign), "reached_at": reached_at},
        "status": status,
        **_ways(),
        "consistency": {name: mean_of([*lists.values()], name) for name in ("adr_1", "adr_2")},
        "queries": [_query(query, ranked, lists) for query in seen.queries],
        "experts": experts[:MOST_EXPERTS],
        "warnings": _warnings(seen, ranked, experts),
        "problems": problems(connection, campaign.id),
        "pace": _pace(seen, now=now),
        "notes": _notes(seen, len(experts)),
    }
    values: dict[str, Any] = plain(made)
    return values


def agreements_of(seen: RankingActivity) -> dict[str, Agreement]:
    """How far each expert agrees with those whose rankings count, by code."""
    codes = {person.id: person.code for person in seen.people}
    counted = seen.counted
    found = agreements([*ranked_queries(counted, codes).values()])
    for code, sent in _aside(seen, codes).items():
        with_them = agreements([*ranked_queries([*counted, *sent], codes).values()])
        found |= {code: with_them[code]} if code in with_them else {}
    return found


def _aside(seen: RankingActivity, codes: Mapping[int, str]) -> dict[str, list[SentRanking]]:
    """Rankings of those who do not count, by their codes."""
    counts = {person.id for person in seen.people if person.counts}
    found: dict[str, list[SentRanking]] = defaultdict(list)
    for ranking in seen.sent:
        if ranking.participant_id not in counts:
            found[codes[ranking.participant_id]].append(ranking)
    return found


def first_snapshot(campaign: Campaign) -> dict[str, Any]:
    """A snapshot before anything is known, of version 0."""
    nothing = RankingActivity((), (), (), ())
    made: dict[str, Any] = {
        "version": 0,
        "made_at": None,
        "kind": "ranking",
        "campaign": campaign_row(campaign),
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


def _status(seen: RankingActivity) -> dict[str, Any]:
    """How far it is: rankings that count, of those that are wanted; what is held back wants no more."""
    queries = seen.queries
    left = sum(query.left for query in queries)
    asked = [query for query in queries if not query.held]
    wanted, there = sum(query.wanted for query in asked), sum(min(query.answered, query.wanted) for query in asked)
    return {
        "queries": len(queries),
        "queries_done": sum(query.left == 0 for query in queries),
        "held": len(queries) - len(asked),
        "documents": sum(query.documents for query in queries),
        "wanted": sum(query.answered if query.held else query.wanted for query in queries),
        "rankings": sum(query.answered for query in queries),
        "in_work": sum(query.in_work for query in queries),
        "set_aside": len(seen.sent) - len(seen.counted),
        "complete": there / wanted if wanted else None,
        "done": bool(queries) and not left,
        "reason": f"{left:,} ranking{'s are' if left > 1 else ' is'} still wanted"
        if left
        else "every query has the rankings that were wanted",
    }


def _query(asked: QueryRow, ranked: Mapping[str, RankedQuery], lists: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """A row of the table of queries: how far it is, and its list in numbers."""
    made = lists.get(asked.query, {})
    return {
        "pair": asked.id,
        "query": asked.query,
        "documents": asked.documents,
        "wanted": asked.wanted,
        "answered": asked.answered,
        "in_work": asked.in_work,
        "held": asked.held,
        "skips": asked.skips,
        "experts": len(ranked[asked.query].experts) if asked.query in ranked else 0,
        "nobody": _unranked(ranked.get(asked.query)),
        "list": made if "groups" in made else None,
        "why": made.get("why"),
    }


def _unranked(asked: RankedQuery | None) -> list[str]:
    """Documents that nobody gave a place, although somebody ranked the others."""
    if asked is None:
        return []
    return [name for name, n in zip(asked.documents, asked.times_ranked, strict=True) if not n]


def _experts(
    connection: Connection, campaign: Campaign, seen: RankingActivity, agreeing: Mapping[str, Agreement], *, now: float
) -> list[dict[str, Any]]:
    """A row for each person who sent a ranking, has one in work or is there; those who are there first."""
    sent: dict[int, list[SentRanking]] = defaultdict(list)
    for ranking in seen.sent:
        sent[ranking.participant_id].append(ranking)
    begun = {arrangement.participant_id: arrangement for arrangement in seen.begun}
    skips = skips_by_person(connection, campaign.id)
    chosen = [person for person in seen.people if sent[person.id] or person.id in begun or person.is_live(now)]
    chosen.sort(key=lambda person: (not person.is_live(now), -person.seen_at))
    of = {query.query: query.documents for query in seen.queries}
    return [
        {
            **_person(person, now=now),
            **expert_row(sent[person.id], agreeing.get(person.code)),
            "skips": skips[person.id],
            "begun": _begun(begun.get(person.id), of),
        }
        for person in chosen
    ]


def _person(person: ParticipantSummary, *, now: float) -> dict[str, Any]:
    state = person.state(now)
    return {
        "code": person.code,
        "name": person.name,
        "seen_at": person.seen_at,
        "live": person.is_live(now),
        "state": "aside" if not person.counts else state,
    }


def expert_row(sent: Sequence[SentRanking], agreement: Agreement | None) -> dict[str, Any]:
    """What somebody did, and how far they agree with the others."""
    took = [ranking.took_ms / 1000 for ranking in sent if ranking.took_ms is not None]
    ranked, of = (
        sum(ranking.ranked for ranking in sent),
        sum(ranking.ranked + len(ranking.unranked) for ranking in sent),
    )
    return {
        "rankings": len(sent),
        "ranked_share": ranked / of if of else None,
        "median_seconds": float(np.median(took)) if took else None,
        "tau": None if agreement is None else agreement.tau,
        "chance": None if agreement is None else agreement.chance,
        "shared": 0 if agreement is None else agreement.queries,
        "like_chance": agreement is not None and agreement.like_chance,
    }


def _begun(arrangement: UnfinishedRanking | None, documents: Mapping[str, int]) -> dict[str, Any] | None:
    if arrangement is None:
        return None
    return {
        "query": arrangement.query,
        "placed": arrangement.placed,
        "of": documents.get(arrangement.query),
        "saved_at": arrangement.saved_at,
    }


def _pace(seen: RankingActivity, *, now: float) -> dict[str, Any]:
    """Rankings of the last day, and the middle of the minutes that one took."""
    took = [ranking.took_ms / 60_000 for ranking in seen.counted if ranking.took_ms is not None]
    return {
        "day": sum(now - ranking.at < 24 * _HOUR for ranking in seen.counted),
        "minutes": float(np.median(took)) if took else None,
    }


def _warnings(
    seen: RankingActivity, ranked: Mapping[str, RankedQuery], experts: Sequence[Mapping[str, Any]]
) -> list[str]:
    """What an organiser should know before they trust the lists."""
    found = []
    few = [name for name, query in ranked.items() if len(query.experts) < FEWEST]
    if few:
        found.append(
            f"Fewer than {FEWEST} experts ranked {_some(few, 'query', 'queries')}: "
            "nothing is known yet of how far experts agree."
        )
    nobody = [f"{document} of {name}" for name, query in ranked.items() for document in _unranked(query)]
    if nobody:
        found.append(f"Nobody gave a place to {_some(nobody, 'document', 'documents')}; no list has them.")
    strange = [str(expert["code"]) for expert in experts if expert["like_chance"] and expert["state"] != "aside"]
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


def _notes(seen: RankingActivity, n_experts: int) -> list[str]:
    notes = []
    held = sum(query.held for query in seen.queries)
    if held:
        notes.append(f"{held:,} {'queries are' if held > 1 else 'query is'} held back and will not be asked.")
    if n_experts > MOST_EXPERTS:
        notes.append(f"Of {n_experts:,} people the {MOST_EXPERTS} who came last are listed; the People page has all.")
    return notes
