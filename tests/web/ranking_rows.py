"""People in a ranking campaign of texts, without HTTP: they join, get a query, put its documents in order."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.web.stages import CampaignStage

from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.kinds.ranking.assignment import (
    ClipTimes,
    NewOrder,
    NewRankingSkip,
    RankingDesk,
    Saved,
    candidates_by_id,
    hand_back,
    hold_query,
    make_ranking_desk,
    reopen,
    save_arrangement,
    store_order,
    store_unable_to_order,
)
from adjudge.web.kinds.ranking.settings import RankingSettings
from adjudge.web.kinds.ranking.store import put_candidates
from adjudge.web.store import schema
from adjudge.web.store.answers import StoredAnswer
from adjudge.web.store.campaigns import Campaign, in_use
from adjudge.web.store.database import Database
from adjudge.web.store.items import NewItem, put_items
from adjudge.web.store.leases import Lease
from adjudge.web.store.participants import Participant

_keys = itertools.count()
HOUR = 3600.0


def some_candidates(queries: int = 2, documents: int = 4) -> dict[str, list[str]]:
    """Queries ``q1``, …, each with candidates ``q1-a``, ``q1-b``, …"""
    return {f"q{q + 1}": [f"q{q + 1}-{chr(97 + d)}" for d in range(documents)] for q in range(queries)}


def ranking_texts(candidates: Mapping[str, Sequence[str]]) -> list[NewItem]:
    """Something to read for every query and document."""
    names = dict.fromkeys([*candidates, *(name for documents in candidates.values() for name in documents)])
    return [NewItem(name, kind="text", text=f"words about {name}") for name in names]


def ranking_draft(database: Database, name: str = "incipits", **settings: Any) -> Campaign:
    """A campaign without candidates."""
    with database.write() as connection:
        made = RankingSettings.parse({"title": "Which are alike?", **settings})
        return create_campaign(connection, name=name, settings=made, organiser_id=None, now=10.0)


def ranking_campaign(
    database: Database,
    name: str = "incipits",
    *,
    candidates: Mapping[str, Sequence[str]] | None = None,
    state: str = "open",
    **settings: Any,
) -> Campaign:
    """A campaign with candidates and something to read for all of them."""
    found, asked = ranking_draft(database, name, **settings), candidates or some_candidates()
    with database.write() as connection:
        put_candidates(connection, found, asked, inputs=[("candidates.csv", "1" * 64)], now=11.0)
        put_items(connection, found, ranking_texts(asked))
        for step in {"draft": (), "open": ("open",)}.get(state, ("open", state)):
            found = set_state(connection, found, step, who="ann", now=12.0)
    return found


@dataclass
class Ranking(CampaignStage):
    """A campaign, and what experts do in it: ``stage.send(person, lease, [["q1-a"], ["q1-b", "q1-c"]])``."""

    name: str = "incipits"

    def begin(self, *, queries: int = 2, documents: int = 4, **decided: Any) -> Ranking:
        """Open a campaign, and invite everybody."""
        candidates = some_candidates(queries, documents)
        ranking_campaign(self.database, self.name, candidates=candidates, **decided)
        self.invite()
        return self

    def hold(self, who: Participant) -> Lease | None:
        """What is in somebody's hands, as their page asks for it."""
        self.now += 1
        with self.database.write() as connection:
            return hold_query(connection, in_use(connection, who.campaign_id), who.id, now=self.now)

    def held(self, who: Participant) -> Lease:
        """The same, where there must be something."""
        found = self.hold(who)
        assert found is not None
        return found

    def desk(self, who: Participant) -> RankingDesk:
        """What their page shows."""
        held = self.hold(who)
        with self.database.read() as connection:
            return make_ranking_desk(connection, self.campaign, who, held)

    def numbers(self, lease: Lease, groups: Sequence[Sequence[str]]) -> list[list[int]]:
        """Groups by number of the item; documents of other queries by theirs."""
        known = {row["identifier"]: row["id"] for row in self.all_of(schema.item)}
        return [[known[name] for name in group] for group in groups]

    def documents(self, lease: Lease) -> list[str]:
        """The candidates of a query in the order in which they came."""
        with self.database.read() as connection:
            return list(candidates_by_id(connection, lease.pair_id).values())

    def save(self, who: Participant, lease: Lease, version: int, groups: Sequence[Sequence[str]]) -> Saved:
        """Save an order as far as it got."""
        self.now += 1
        numbers = self.numbers(lease, groups)
        with self.database.write() as connection:
            campaign = in_use(connection, who.campaign_id)
            return save_arrangement(
                connection, campaign, who.id, lease_id=lease.id, version=version, groups=numbers, now=self.now
            )

    def send(
        self,
        who: Participant,
        lease: Lease,
        groups: Sequence[Sequence[str]],
        *,
        key: str = "",
        comment: str | None = None,
        **more: Any,
    ) -> StoredAnswer:
        """Send an order."""
        self.now += 1
        key, numbers = key or f"key-{next(_keys):06}", self.numbers(lease, groups)
        sent = NewOrder(
            key=key, lease=lease.id, groups=numbers, heard=ClipTimes(**more), comment=comment, took_ms=60_000
        )
        with self.database.write() as connection:
            campaign = in_use(connection, who.campaign_id)
            return store_order(connection, campaign, who.id, sent, now=self.now)

    def skip(self, who: Participant, lease: Lease, reason: Literal["broken", "other"] = "other") -> StoredAnswer:
        """Say that a query cannot be done."""
        self.now += 1
        with self.database.write() as connection:
            sent = NewRankingSkip(key=f"key-{next(_keys):06}", lease=lease.id, reason=reason)
            campaign = in_use(connection, who.campaign_id)
            return store_unable_to_order(connection, campaign, who.id, sent, now=self.now)

    def give_back(self, who: Participant, lease: Lease) -> Lease | None:
        """Hand a query back; the one that comes instead."""
        self.now += 1
        with self.database.write() as connection:
            campaign = in_use(connection, who.campaign_id)
            left = hand_back(connection, who.id, lease.id, now=self.now)
            return hold_query(connection, campaign, who.id, now=self.now, but=left.pair_id)

    def reopen(self, who: Participant, answer: int) -> Lease:
        """Take an order that was sent into somebody's hands again."""
        self.now += 1
        with self.database.write() as connection:
            return reopen(connection, in_use(connection, who.campaign_id), who.id, answer, now=self.now)

    def work(self, who: Participant, *, most: int = 1000) -> list[str]:
        """Order everything as it came, the last document left out, until nothing comes; the queries."""
        done: list[str] = []
        while len(done) < most and (lease := self.hold(who)) is not None:
            *ranked, _ = self.documents(lease)
            self.send(who, lease, [ranked[:1], ranked[1:]])
            done.append(self.query(lease))
        return done

    def query(self, lease: Lease) -> str:
        """What a lease is about."""
        return next(str(row["query"]) for row in self.all_of(schema.pair) if row["id"] == lease.pair_id)
