"""Bounds over the grades that unjudged documents might have, against all grades that they can have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from tests.conftest import for_subtopics

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.measures import MEASURES

pytestmark = pytest.mark.filterwarnings("ignore:.*no document is judged")
TOP = {"Fine": 10}  # a measure that asks for a scale of its own; all others take 0..2
Lists = dict[str, list[str]]
Grades = dict[str, float]


def measures(*, top: int) -> list[aj.Measure]:
    """Every measure that suits the scale, with every ideal, at several cutoffs and with a threshold."""
    names = [name for name in MEASURES if TOP.get(name, 2) == top and name != "Judged"]  # grades do not change that one
    options = [
        {"ideal": ideal} | extra
        for ideal in ("none", "max", "judged")
        for extra in ({}, {"rel": 2}, {"judged_only": True})
    ]
    return [
        aj.parse_measure(name if cutoff is None else f"{name}@{cutoff}", **option)
        for name in names
        for cutoff in ((None, 1, 2, 5) if MEASURES[name].cutoff else (None,))
        for option in options
        if "rel" not in option or "rel" in MEASURES[name].parameters
    ]


def small_collections(n: int, *, grades: tuple[int, ...]) -> Iterator[tuple[Lists, Grades, list[str]]]:
    """Lists of two systems for a query, judgments of some documents, and the retrieved documents without one."""
    rng = np.random.default_rng(2011)
    documents = list("abcdefgh")
    for i in range(n):
        lists = {s: [str(d) for d in rng.permutation(documents)[: rng.integers(1, 6)]] for s in ("s1", "s2")}
        retrieved = sorted({d for found in lists.values() for d in found})
        unjudged = [str(d) for d in rng.permutation(retrieved)[: rng.integers(1, 4)]]
        given = (0,) if i % 4 == 0 else grades  # often nothing is relevant among the judged
        judged = [d for d in documents if d not in unjudged and (d in retrieved or rng.random() < 0.5)]
        yield lists, {d: float(rng.choice(given)) for d in judged or ["elsewhere"]}, unjudged


@dataclass(frozen=True)
class Outcome:
    """Bounds of systems x measures, and values under every combination of grades x systems x measures."""

    value: Floats
    low: Floats
    high: Floats
    every: Floats


def outcome(
    lists: Lists, judged: Grades, unjudged: list[str], chosen: list[aj.Measure], grades: tuple[int, ...]
) -> Outcome:
    scale = f"0..{max(grades)}"
    runs = {system: {"q": found} for system, found in lists.items()}
    bounded = aj.evaluate(aj.read(runs, for_subtopics({"q": judged}), scale=scale), chosen, unjudged="bounds")
    combinations = [dict(zip(unjudged, given, strict=True)) for given in product(grades, repeat=len(unjudged))]
    every = {str(i): judged | given for i, given in enumerate(combinations)}
    runs = {system: dict.fromkeys(every, found) for system, found in lists.items()}
    values = aj.evaluate(aj.read(runs, for_subtopics(every), scale=scale), chosen).values
    assert bounded.lower is not None
    assert bounded.upper is not None
    return Outcome(bounded.values[0], bounded.lower[0], bounded.upper[0], values)


@pytest.fixture(scope="module", params=[(0, 1, 2), (0, 5, 10)], ids=str)
def outcomes(request: pytest.FixtureRequest) -> tuple[list[aj.Measure], list[Outcome]]:
    chosen = measures(top=max(request.param))
    examples = small_collections(14, grades=request.param)
    return chosen, [outcome(*example, chosen, request.param) for example in examples]


Outcomes = tuple[list[aj.Measure], list[Outcome]]


def test_no_grades_of_the_unjudged_documents_lead_out_of_the_bounds(outcomes: Outcomes) -> None:
    chosen, results = outcomes
    outside, bounded = set(), [measure.bounded for measure in chosen]
    for result in results:
        beyond = (result.every < result.low - 1e-12) | (result.every > result.high + 1e-12)
        outside |= {str(chosen[m]) for m in np.flatnonzero(beyond.any(axis=(0, 1)))}
        assert ((result.low <= result.value) & (result.value <= result.high)).all()
        assert (result.low >= 0).all()
        assert (result.high[:, bounded] <= 1).all()
    assert outside == set()


def test_bounds_are_reached_where_the_notes_say_so_and_only_there(outcomes: Outcomes) -> None:
    chosen, results = outcomes
    scale = "0..2" if chosen[0].name != "Fine" else "0..10"
    judged = for_subtopics({"q": {"a": int(scale[3:]), "b": int(scale[3:]) // 2}})
    collection = aj.read({"s": {"q": ["a", "b"]}}, judged, scale=scale)
    notes = aj.evaluate(collection, chosen, unjudged="bounds").notes
    (said,) = (note for note in notes if note.endswith("are reached by some grades."))
    reached = said.partition(":")[0].removeprefix("Bounds of ").split(", ")
    attained = np.all(
        [
            (np.abs(result.every.min(axis=0) - result.low) < 1e-12)
            & (np.abs(result.every.max(axis=0) - result.high) < 1e-12)
            for result in results
        ],
        axis=(0, 1),
    )
    for measure, is_attained in zip(chosen, attained, strict=True):
        if measure.monotone and not measure.judged_only and measure.cutoff != 1:  # @1 may be better than promised
            assert (str(measure) in reached) == is_attained
        assert is_attained or str(measure) not in reached


def evaluated(lists: Lists, judged: Grades, names: list[str]) -> tuple[Floats, Floats, Floats]:
    """Lowest, given and highest effectiveness for one query, systems x measures."""
    collection = aj.read({system: {"q": found} for system, found in lists.items()}, {"q": judged})
    eff = aj.evaluate(collection, names, unjudged="bounds")
    assert eff.lower is not None
    assert eff.upper is not None
    return eff.lower[0], eff.values[0], eff.upper[0]


def test_measures_that_are_not_monotone_get_0_and_1() -> None:
    names = ["Rprec", "Bpref", "EDCG", "EDCG(ideal=none)", "ADR", "ADR@2"]
    low, _, high = evaluated({"s": ["a", "b"]}, {"a": 1, "c": 1}, names)
    assert low[0].tolist() == [0, 0, 0, 0, 0, pytest.approx((1 + 1 / 2) / 2)]
    assert high[0].tolist() == [1, 1, 1, np.inf, 1, 1]


def test_a_better_document_can_lower_expected_dcg_so_that_it_is_not_monotone() -> None:
    runs = {"s": {"poor": ["x", "best"], "fair": ["x", "best"]}}
    judgments = {"poor": {"x": 0, "best": 2}, "fair": {"x": 1, "best": 2}}
    poor, fair = aj.evaluate(aj.read(runs, judgments), "EDCG(ideal=none)").matrix()[:, 0]
    assert poor == pytest.approx(2 * 2 / 3)
    assert fair == pytest.approx(1 * 1 / 3 + 2 / 3 * (2 * 2 / 3))
    assert fair < poor


def test_a_relevant_document_elsewhere_can_raise_adr_without_a_cutoff() -> None:
    runs = {"s": {"one": ["x", "a"], "two": ["x", "a"]}}
    judgments = {"one": {"x": 0, "a": 1, "b": 0}, "two": {"x": 0, "a": 1, "b": 1}}
    eff = aj.evaluate(aj.read(runs, judgments), "ADR")
    assert eff.matrix()[:, 0].tolist() == [0, 1 / 4]  # looked at to rank 1, and to rank 2


def test_a_perfect_list_is_possible_where_nothing_relevant_was_judged() -> None:
    low, value, high = evaluated({"s": ["new", "old"], "t": ["old"]}, {"old": 0}, ["nDCG@5", "AP", "P@1", "P@2"])
    assert low.max() == value.max() == 0
    assert high.tolist() == [[1, 1, 1, 1 / 2], [0, 0, 0, 0]]


def test_nothing_lies_between_the_bounds_of_fully_judged_lists_and_of_the_share_of_judged_documents() -> None:
    names = ["P@2", "AP", "nDCG@2", "Q", "GAP", "RBP", "ERR", "CG@2"]
    low, value, high = evaluated({"s": ["a", "b"]}, {"a": 1, "b": 2, "c": 1}, names)
    assert np.array_equal(low, value)
    assert np.array_equal(high, value)
    assert [bound.item() for bound in evaluated({"s": ["a", "b"]}, {"a": 1}, ["Judged"])] == [0.5, 0.5, 0.5]
