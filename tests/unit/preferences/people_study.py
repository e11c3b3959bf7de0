"""What tests of preferences share: a study of simulated people, some of whom do not listen, and lists as runs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import adjudge as aj
from adjudge.arrays import Ints
from adjudge.preferences.questions import CHOICES, Combination, Question, Questions, joined
from adjudge.preferences.simulated import SimulatedStudy, simulate_study
from adjudge.preferences.study import Study
from adjudge.users import find_agreement, find_satisfaction
from adjudge.users.noticing import AgreementMapping
from adjudge.users.satisfaction import SatisfactionMapping

LEAST_SECONDS = 40.0
Grades = dict[str, dict[str, float]]


def questions(n: int = 240, n_traps: int = 12, seed: int = 1) -> Questions:
    """Questions with Fine and Broad grades, and traps of every answer."""
    rng = np.random.default_rng(seed)
    fine = rng.integers(0, 101, (n, 2, 5)).astype(float)
    fine[:, 1] = np.clip(fine[:, 1] * rng.random((n, 1)) * 1.5, 0, 100).round()
    lists = (tuple("vwxyz"), tuple("klmno"))
    asked = Questions(
        tuple(Question(f"s{i}", f"q{i % 30}", *lists) for i in range(n)),
        {"fine": fine, "broad": (fine // 34).clip(0, 2)},
    )
    traps = tuple(Question(f"t{i}", "q", *lists, frozenset([CHOICES[i % 4]])) for i in range(n_traps))
    return joined([asked, Questions(traps)])


@lru_cache(maxsize=16)
def simulated(
    participants: int = 30, per_participant: int = 30, spammers: float = 0.2, seed: int = 3, n: int = 240
) -> SimulatedStudy:
    """A study; the same arguments give the same one."""
    satisfaction, agreement = (find("CG@5", "fine").mapping for find in (find_satisfaction, find_agreement))
    assert isinstance(satisfaction, SatisfactionMapping)
    assert isinstance(agreement, AgreementMapping)
    return simulate_study(
        questions(n),
        satisfaction=satisfaction,
        agreement=agreement,
        measure="CG@5",
        scale="fine",
        participants=participants,
        per_participant=per_participant,
        spammers=spammers,
        seed=seed,
    )


def study_of(
    questions: Questions,
    question: Ints,
    choice: Ints,
    who: Ints | None = None,
    people: tuple[str, ...] = (),
    **more: Any,
) -> Study:
    """A study whose other columns are unknown unless given; without ``who``, so are participants."""
    unknown, nobody = np.full(len(question), np.nan), np.full(len(question), -1)
    columns: dict[str, Any] = {"swapped": nobody, "seconds": unknown, "heard": unknown, "at": unknown, **more}
    columns.setdefault("set_aside", np.zeros(len(question), dtype=np.bool_))
    return Study(
        questions, question, choice, participant=nobody if who is None else who, participants=people, **columns
    )


def evaluate_lists(questions: Questions, grades: dict[str, Grades], on: Combination) -> dict[str, list[float]]:
    """Effectiveness of both lists of each question as users evaluate: every question a query, its lists two runs."""
    asked, known = questions.questions, grades[on.origin]
    runs = {side: {one.name: list(one.lists[place]) for one in asked} for place, side in enumerate("ab")}
    judged = {one.name: {document: known[one.query][document] for document in {*one.a, *one.b}} for one in asked}
    collection = aj.read(runs, judged, scale=on.origin)
    if on.scale != on.origin:
        collection = collection.rescaled(on.scale)
    found = aj.evaluate(collection, on.measure)
    by_query = dict(zip(found.queries, found.values[:, :, 0].tolist(), strict=True))
    return {one.name: by_query[one.name] for one in asked}
