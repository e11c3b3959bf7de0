"""Many assessors at once against a real server, and what the store must look like afterwards."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import func, select
from tests.web.making import make_small_campaign

from adjudge.web.kinds.judging.simulated import Account, SimulatedAssessor, account
from adjudge.web.rehearse import Behaviour
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.database import Database, open_database


def even(query: str, document: str) -> float:
    """A truth as good as any: the last digit of the document."""
    return int(document[-1]) / 9


def prepare(data: Path, database: str | None = None, *, n_queries: int = 100, depth: int = 10, **decided: Any) -> str:
    """A campaign in which everything is to be judged; the token of an open invitation."""
    settings = Settings(data=data, database=database)
    opened = open_database(settings)
    values = {"goal": {"kind": "everything"}, **decided}
    token = make_small_campaign(
        opened,
        settings,
        login="organiser",
        password="correct horse battery",
        n_queries=n_queries,
        n_systems=5,
        depth=depth,
        **values,
    )
    opened.close()
    return token


@dataclass
class Crowd:
    """Assessors who answer at the same time: ``each`` so many questions, or until ``stop``; ``failures`` they met."""

    url: str
    invitation: str
    people: int
    each: int | None = None
    pause: float = 0.0
    patience: float = 300.0
    seed: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.assessors = [
            SimulatedAssessor(
                self.url,
                self.invitation,
                even,
                Behaviour(),
                np.random.default_rng([self.seed, number]),
                patience=self.patience,
            )
            for number in range(self.people)
        ]

    def run(self, meanwhile: Callable[[], None] | None = None) -> float:
        """Let all of them answer; the seconds it took. Where ``meanwhile`` is given, they stop when it is over."""
        with ThreadPoolExecutor(max_workers=self.people) as threads:
            list(threads.map(lambda person: person.client, self.assessors))  # everybody is there
            began = time.perf_counter()
            work = [threads.submit(self._answer, person) for person in self.assessors]
            if meanwhile is not None:
                try:
                    meanwhile()
                finally:
                    self.stop.set()
            for one in work:
                one.result()
            took = time.perf_counter() - began
        for person in self.assessors:
            person.close()
        return took

    def _answer(self, person: SimulatedAssessor) -> None:
        try:
            while not self.stop.is_set() and (self.each is None or len(person.answers) < self.each):
                if not person.step():
                    if person.why != "wait":
                        return
                    time.sleep(0.1)
                elif self.pause:
                    time.sleep(self.pause * float(person.rng.uniform(0.5, 1.5)))
        except Exception as error:
            self.failures.append(f"{type(error).__name__}: {error}")

    def count(self) -> int:
        """Answers acknowledged so far."""
        return sum(len(person.answers) for person in self.assessors)

    @property
    def latencies(self) -> list[float]:
        """Seconds of every "answer and get the next"."""
        return [one.seconds for person in self.assessors for one in person.answers]


@dataclass(frozen=True)
class Found:
    """What the store says. ``overlaps`` are places of pairs that two people held at once."""

    account: Account
    overlaps: list[tuple[int, int]]
    judged_twice: list[tuple[int, int]]
    too_often: list[int]
    miscounted: list[int]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        wrong = self.overlaps or self.judged_twice or self.too_often or self.miscounted
        return self.account.is_clean and not wrong


def look(database: Database, people: list[SimulatedAssessor]) -> Found:
    """Hold the store against what assessors were told, and against its own rules."""
    with database.read() as connection:
        rows = connection.execute(select(t.answer.c.key, t.answer.c.lease_id, t.answer.c.grades)).mappings().all()
        leases = connection.execute(select(t.lease).where(t.lease.c.slot.is_not(None))).mappings().all()
        who = (t.answer.c.participant_id, t.answer.c.pair_id)
        judged = select(*who).where(t.answer.c.kind == "judgment").group_by(*who).having(func.count() > 1)
        twice = connection.execute(judged).all()
        counts = (
            select(
                t.pair.c.id,
                t.pair.c.wanted,
                t.pair.c.taken,
                t.pair.c.answered,
                func.count(t.answer.c.id).label("there"),
            )
            .outerjoin(t.answer, (t.answer.c.pair_id == t.pair.c.id) & (t.answer.c.kind == "judgment"))
            .group_by(t.pair.c.id)
        )
        pairs = connection.execute(counts).all()
    held: dict[int, int] = defaultdict(int)
    for one in leases:
        held[one["pair_id"]] += one["ended_at"] is None
    return Found(
        account(people, [dict(row) for row in rows]),
        _overlaps([dict(one) for one in leases]),
        [(row.participant_id, row.pair_id) for row in twice],
        [row.id for row in pairs if row.there > row.wanted],
        [row.id for row in pairs if row.answered != row.there or row.taken != row.there + held[row.id]],
    )


def _overlaps(leases: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Places (pair and slot) that were given out again before the lease before had ended."""
    by_place: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for one in leases:
        until = one["ended_at"] if one["ended_at"] is not None else np.inf
        by_place[one["pair_id"], one["slot"]].append((one["issued_at"], until))
    found = []
    for place, times in by_place.items():
        times.sort()
        if any(following[0] < before[1] for before, following in pairwise(times)):
            found.append(place)
    return found


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """p50 and p95."""
    p50, p95 = np.quantile(seconds, [0.5, 0.95]).tolist()
    return p50, p95
