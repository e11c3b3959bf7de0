"""Questions from judgments and from runs: in the right bins, all different, honest about what cannot be."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.preferences.people_study import Grades, evaluate_lists

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.formats.reading import read_judgments
from adjudge.model.judgments import Judgments
from adjudge.preferences.generation import make_questions, questions_from_runs
from adjudge.preferences.questions import (
    FILLED,
    IMPOSSIBLE,
    SHORT,
    Combination,
    Coverage,
    Question,
    Questions,
    coverage_of,
    possible,
    thesis_combinations,
)
from adjudge.users.curves import bin_of

SOME = (
    "CG@3 on fine",
    "Q(ideal=max)@3 on fine",
    "P@3 on binary40",
    "EDCG(gain=exp)@3 on graded3",
    "ADR(ideal=max)@3 on broad",
)


def both(seed: int, n_queries: int, n_documents: int) -> dict[str, Grades]:
    """Fine and Broad grades; one document of each query has no Broad grade."""
    rng = np.random.default_rng(seed)
    fine, broad = {}, {}
    for query in range(n_queries):
        names = [f"q{query}d{i}" for i in range(n_documents + 1)]
        grades = np.round(100 * rng.beta(0.7, 0.7, size=len(names)))
        fine[f"q{query}"] = dict(zip(names, grades.tolist(), strict=True))
        broad[f"q{query}"] = {name: float(rng.integers(3)) for name in names[1:]}
    return {"fine": fine, "broad": broad}


def read_both(grades: dict[str, Grades]) -> dict[str, Judgments]:
    return {scale: read_judgments(one, scale=scale) for scale, one in grades.items()}


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10_000), n_queries=st.integers(1, 6), n_documents=st.integers(3, 12), bins=st.integers(2, 10)
)
def test_every_question_counts_in_the_bin_where_its_difference_lies(
    seed: int, n_queries: int, n_documents: int, bins: int
) -> None:
    grades = both(seed, n_queries, n_documents)
    made = make_questions(read_both(grades), SOME, per_bin=4, bins=bins, k=3, seed=seed)
    asked = made.questions
    for place, one in enumerate(made.coverage.combinations):
        counts = [0] * bins
        for a, b in evaluate_lists(asked, grades, one).values():
            counts[next(low for low in reversed(range(bins)) if abs(a - b) >= low / bins - 1e-7)] += 1
        assert made.coverage.counts[place].tolist() == counts
    pairs = Counter((one.query, frozenset((one.a, one.b))) for one in asked.questions)
    assert set(pairs.values()) == {1}
    for question in asked.questions:
        for documents in question.lists:
            assert len(set(documents)) == 3
            assert all(d in grades["fine"][question.query] and d in grades["broad"][question.query] for d in documents)
        assert question.a != question.b
        assert not question.is_trap


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), n_documents=st.integers(3, 6), k=st.integers(1, 3))
def test_impossible_means_that_no_two_lists_are_in_the_bin(seed: int, n_documents: int, k: int) -> None:
    """All pairs of lists of a small query, one by one, against what was filled, short or impossible."""
    grades = both(seed, 1, n_documents)
    combinations = [one.replace("@3", f"@{k}") for one in SOME]
    found = make_questions(read_both(grades), combinations, per_bin=1, bins=10, k=k).coverage
    documents = [name for name in grades["fine"]["q0"] if name in grades["broad"]["q0"]]
    lists = list(permutations(documents, k))
    alone = Questions(tuple(Question(str(i), "q0", one, one) for i, one in enumerate(lists)))
    for scale, known in grades.items():
        alone = alone.with_grades(scale, {("q0", name): grade for name, grade in known["q0"].items()})
    for place, one in enumerate(found.combinations):
        values = alone.effectiveness(one.measure, one.scale)[:, 0]
        first, second = np.triu_indices(len(lists), k=1)  # a list and itself are no question
        reached = {int(b) for b in bin_of(np.abs(values[first] - values[second]), 10)}
        filled, impossible = (set(np.flatnonzero(found.status[place] == one)) for one in (FILLED, IMPOSSIBLE))
        assert filled <= reached
        assert not impossible & reached
        if one.scale != "fine":  # where every list is known by its levels, nothing stays in doubt
            assert filled == reached
            assert impossible == set(range(10)) - reached


def lots(scale: str = "fine") -> Judgments:
    rng = np.random.default_rng(1)
    top = {"fine": 100, "broad": 2}[scale]
    grades = {f"q{q}": {f"d{i}": int(rng.integers(top + 1)) for i in range(30)} for q in range(20)}
    return read_judgments(grades, scale=scale)


def status(coverage: Coverage, text: str, wanted: int) -> list[int]:
    place = coverage.combinations.index(Combination.parse(text))
    return np.flatnonzero(coverage.status[place] == wanted).tolist()


def test_bins_that_a_measure_cannot_reach_are_impossible() -> None:
    """By hand: P@5 has multiples of .2; RR@5 0, 1/5, 1/4, 1/3, 1/2, 1; EDCG@5 with R hits (1 - 2^-R) 32/31."""
    names = ["P@5 on binary40", "RR@5 on binary40", "EDCG@5 on binary40", "CG@5 on fine"]
    found = make_questions(lots(), names, per_bin=5).coverage
    assert status(found, names[0], IMPOSSIBLE) == [1, 3, 5, 7]
    assert status(found, names[1], IMPOSSIBLE) == [4]
    assert status(found, names[2], IMPOSSIBLE) == [6, 8]
    assert found.totals["short"] == len(status(found, names[3], SHORT))

    few = make_questions(lots(), names[:1], per_bin=5, max_questions=2).coverage
    assert status(few, names[0], IMPOSSIBLE) == [1, 3, 5, 7]  # also where a limit ends the work


def test_bins_beyond_the_best_and_the_worst_list_are_impossible() -> None:
    grades = {"q": {f"d{i}": 40 + 2 * i for i in range(10)}}  # best five: mean 54; worst five: mean 44
    found = make_questions(read_judgments(grades, scale="fine"), ["CG@5 on fine"], per_bin=3).coverage
    assert status(found, "CG@5 on fine", FILLED) == [0, 1]
    assert status(found, "CG@5 on fine", IMPOSSIBLE) == list(range(2, 10))


def test_two_documents_make_one_question_and_no_more() -> None:
    made = make_questions(read_judgments({"q": {"x": 2, "y": 0}}, scale="broad"), ["CG@2 on broad"], k=2)
    assert len(made.questions) == 1
    assert made.coverage.counts[0].tolist() == [1, *[0] * 9]
    assert status(made.coverage, "CG@2 on broad", SHORT) == [0]
    assert status(made.coverage, "CG@2 on broad", IMPOSSIBLE) == list(range(1, 10))
    assert "1 has fewer" in made.coverage.summary


def test_the_same_seed_makes_the_same_questions_and_another_others() -> None:
    one, again, other = (make_questions(lots(), ["CG@5 on fine"], per_bin=5, seed=seed) for seed in (4, 4, 5))
    assert one.questions.questions == again.questions.questions != other.questions.questions


def test_queries_take_turns_as_far_as_allowed_and_neither_list_is_the_better_one_as_a_rule() -> None:
    made = make_questions(lots(), ["CG@5 on fine", "P@5 on binary40"], per_bin=40, bins=5)
    used = Counter(made.questions.queries)
    assert len(used) == 20
    assert max(used.values()) <= 4 * min(used.values())
    values = made.questions.effectiveness("CG@5", "fine")
    assert 0.35 < np.mean(values[:, 0] > values[:, 1]) < 0.65
    few = make_questions(lots(), ["CG@5 on fine"], per_bin=50, per_query=3)
    assert set(Counter(few.questions.queries).values()) == {3}
    assert not few.coverage.is_complete


def test_a_study_that_is_cut_short_covers_evenly() -> None:
    made = make_questions(lots("broad"), ["CG@5 on broad"], per_bin=50, bins=5, max_questions=20)
    assert len(made.questions) == 20
    assert made.coverage.counts[0].tolist() == [4] * 5


def test_all_combinations_of_the_thesis_are_filled_with_little_more_than_one_of_them_needs() -> None:
    judgments = read_both(both(2, 40, 40))
    told: list[tuple[int, int]] = []
    made = make_questions(judgments, thesis_combinations(), per_bin=6, progress=lambda *now: told.append(now))
    assert made.coverage.totals["impossible"] == 28
    assert made.coverage.totals["short"] == 0
    assert 60 <= len(made.questions) < 130  # 60 is what ten bins need; random trials take twice as many as here
    assert told[-1] == (95 * 10 * 6, 95 * 10 * 6)
    again = coverage_of(made.questions, thesis_combinations(), per_bin=6)
    assert (again.counts == made.coverage.counts).all()


def test_real_judgments_fill_what_they_can(shared_data) -> None:  # type: ignore[no-untyped-def]
    judgments = read_judgments(shared_data / "mirex2011" / "judgments.tsv", scale="fine")
    made = make_questions(judgments, possible(thesis_combinations(), ["fine"]), per_bin=3)
    assert made.coverage.totals == {"filled": 782, "short": 0, "impossible": 28}


ALONE = read_judgments({"q": {"d": 5}}, scale="fine")
OTHER = read_judgments({"q": {"z": 1}}, scale="broad")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"k": 40}, "queries with at least 40 documents judged on fine, got at most 30"),
        ({"combinations": ["CG@5 on broad"]}, "CG@5 on broad needs judgments on broad, got fine"),
        ({"combinations": []}, "at least one combination"),
        ({"judgments": {}}, "judgments on at least one scale, got none"),
        ({"judgments": {"broad": lots()}}, r"grades on the scale broad \(0..2\), got"),
        ({"judgments": {"graded3": lots()}}, "on the scale that assessors used, got 'graded3'"),
        ({"judgments": ALONE, "k": 1}, "two different lists of 1 documents of a query, got none"),
        (
            {"judgments": {"fine": ALONE, "broad": OTHER}, "combinations": ["CG@1 on fine", "CG@1 on broad"]},
            "documents judged on fine and broad, got none",
        ),
    ],
)
def test_what_cannot_be_made_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(AdjudgeError, match=said):
        make_questions(**{"judgments": lots(), "combinations": ["CG@5 on fine"], **changed})


Runs = dict[str, dict[str, list[str]]]
RUNS: Runs = {
    "x": {"1": ["a", "b", "c"], "2": ["a", "b"]},
    "y": {"1": ["a", "b", "d"], "2": ["b", "a"]},
    "z": {"1": ["c"], "3": ["a"]},
}
GRADES = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 1, "b": 0}}


def test_every_pair_of_different_lists_is_asked_once() -> None:
    made = questions_from_runs(aj.read(RUNS, GRADES, scale="broad"), k=2)
    asked = {(one.query, frozenset((one.a, one.b))) for one in made.questions.questions}
    assert asked == {("1", frozenset((("a", "b"), ("c",)))), ("2", frozenset((("a", "b"), ("b", "a"))))}
    assert (made.n_identical, made.n_repeated) == (1, 1)  # x and y on 1; x and z as y and z on 1
    assert made.n_empty == 3  # z on 2, x and y on 3
    for one in made.questions.questions:
        assert one.systems is not None
        assert [tuple(RUNS[name][one.query][:2]) for name in one.systems] == [one.a, one.b]
    everything = questions_from_runs(aj.read(RUNS), k=2, identical=True).questions.questions
    assert sum(one.a == one.b for one in everything) == 1


def test_grades_come_along_and_unjudged_documents_have_none() -> None:
    made = questions_from_runs(aj.read(RUNS, GRADES, scale="broad"), k=3, pairs=[("x", "y")])
    one = made.questions.questions[[q.query for q in made.questions.questions].index("1")]
    grades = made.questions.grades["broad"][made.questions.places[one.name]]
    by_list = dict(zip(one.lists, grades.tolist(), strict=True))
    assert by_list["a", "b", "c"] == [2, 1, 0]
    assert by_list["a", "b", "d"][:2] == [2, 1]
    assert np.isnan(by_list["a", "b", "d"][2])
    values = made.questions.effectiveness("CG@3", "broad")[made.questions.places[one.name]]
    assert np.isnan(values).tolist() == ["d" in documents for documents in one.lists]


def test_systems_and_queries_take_turns(mirex2011: aj.Collection) -> None:
    made = questions_from_runs(mirex2011, n=180)
    asked = made.questions.questions
    assert len(asked) == len({(one.query, frozenset((one.a, one.b))) for one in asked}) == 180
    systems = Counter(name for one in asked for name in one.systems or ())
    queries = Counter(one.query for one in asked)
    assert len(systems) == 18
    assert max(systems.values()) - min(systems.values()) <= 4
    assert len(queries) == 100
    assert max(queries.values()) <= 3
    first = sum(one.systems is not None and one.systems[0] < one.systems[1] for one in asked)
    assert 60 < first < 120


def test_differences_are_spread_where_there_are_judgments(mirex2011: aj.Collection) -> None:
    spread = questions_from_runs(mirex2011, n=150, combinations=["CG@5 on fine"])
    plain = questions_from_runs(mirex2011, n=150)
    large, usual = (int(coverage_of(one.questions, ["CG@5 on fine"]).counts[0, 3:].sum()) for one in (spread, plain))
    assert large > 2 * usual


def test_each_pair_of_systems_gets_its_share_and_the_same_by_seed() -> None:
    runs = aj.demo(queries=20, depth=5)
    made, again = (questions_from_runs(runs, per_pair=2, seed=3).questions.questions for _ in range(2))
    pairs = Counter(frozenset(one.systems or ()) for one in made)
    assert len(pairs) == 66
    assert set(pairs.values()) == {2}
    assert again == made


@pytest.mark.parametrize(
    ("runs", "options", "said"),
    [
        (RUNS, {"pairs": [("x", "w")]}, "No system is called 'w'"),
        (RUNS, {"pairs": [("x", "x")]}, "expected pairs of two systems, got 'x' twice"),
        ({"x": RUNS["x"]}, {}, "at least two systems, got 1"),
        ({"x": {"1": ["a"]}, "y": {"1": ["a"]}}, {}, "two systems with different lists for a query, got none"),
    ],
)
def test_what_cannot_be_asked_is_refused(runs: Runs, options: dict[str, Any], said: str) -> None:
    with pytest.raises(AdjudgeError, match=said):
        questions_from_runs(aj.read(runs), **options)
