"""Small campaigns for tests: lists of documents drawn at random, read instead of heard."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjudge as aj
from adjudge.web.kinds.judging.rehearse import stand_in
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database
from adjudge.web.store.people import add_organiser


def random_runs(*, n_queries: int, n_systems: int, depth: int, seed: int = 0) -> aj.Collection:
    """Systems ``s1``, … that retrieve ``depth`` of twice as many documents for queries ``q1``, …"""
    rng = np.random.default_rng(seed)
    runs: dict[str, dict[str, list[str]]] = {f"s{s + 1}": {} for s in range(n_systems)}
    for query in (f"q{q + 1}" for q in range(n_queries)):
        for lists in runs.values():
            lists[query] = [f"{query}-d{d + 1}" for d in rng.permutation(2 * depth)[:depth]]
    return aj.read(runs)


def make_small_campaign(
    database: Database,
    settings: Settings,
    *,
    name: str = "small",
    login: str,
    password: str,
    state: str = "open",
    n_queries: int = 3,
    n_systems: int = 3,
    depth: int = 3,
    seed: int = 0,
    **decided: Any,
) -> str:
    """Store a campaign; the token of an open invitation to it. ``decided`` are settings of the campaign by name."""
    values = {"title": f"The campaign {name}", "measure": f"CG@{depth}", **decided}
    collection = random_runs(n_queries=n_queries, n_systems=n_systems, depth=depth, seed=seed)
    with database.write() as connection:
        organiser = add_organiser(connection, login=login, password=password, is_admin=False, now=settings.clock())
    campaign = JudgingSettings.parse(values)
    made = stand_in(
        database, settings, name=name, collection=collection, campaign=campaign, organiser_id=organiser.id, state=state
    )
    return made.invitation
