"""Questions from real lists."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import coverage_of
from adjudge.preferences.system_lists import questions_from_runs

RUNS = {
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


def test_identical_lists_are_asked_about_when_wanted() -> None:
    made = questions_from_runs(aj.read(RUNS), k=2, identical=True)
    assert sum(one.a == one.b for one in made.questions.questions) == 1


def test_grades_come_along_and_unjudged_documents_have_none() -> None:
    made = questions_from_runs(aj.read(RUNS, GRADES, scale="broad"), k=3, pairs=[("x", "y")])
    one = made.questions.questions[[q.query for q in made.questions.questions].index("1")]
    grades = made.questions.grades["broad"][made.questions.places[one.name]]
    by_list = dict(zip(one.lists, grades.tolist(), strict=True))
    assert by_list["a", "b", "c"] == [2, 1, 0]
    assert by_list["a", "b", "d"][:2] == [2, 1]
    assert np.isnan(by_list["a", "b", "d"][2])


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


def test_each_pair_of_systems_gets_its_share(mirex2011: aj.Collection) -> None:
    made = questions_from_runs(mirex2011, per_pair=2, seed=3)
    pairs = Counter(frozenset(one.systems or ()) for one in made.questions.questions)
    assert len(pairs) == 153
    assert set(pairs.values()) == {2}
    again = questions_from_runs(mirex2011, per_pair=2, seed=3)
    assert again.questions.questions == made.questions.questions


def test_what_cannot_be_asked_is_refused() -> None:
    collection = aj.read(RUNS)
    with pytest.raises(AdjudgeError, match="No system is called 'w'"):
        questions_from_runs(collection, pairs=[("x", "w")])
    with pytest.raises(AdjudgeError, match="expected pairs of two systems, got 'x' twice"):
        questions_from_runs(collection, pairs=[("x", "x")])
    with pytest.raises(AdjudgeError, match="CG@5 on fine needs judgments on fine, got none"):
        questions_from_runs(collection, combinations=["CG@5 on fine"])
    with pytest.raises(AdjudgeError, match="at least two systems, got 1"):
        questions_from_runs(aj.read({"x": RUNS["x"]}))
    with pytest.raises(AdjudgeError, match="two systems with different lists for a query, got none"):
        questions_from_runs(aj.read({"x": {"1": ["a"]}, "y": {"1": ["a"]}}))
    with pytest.raises(AdjudgeError, match="'n' must be a whole number of at least 1, got 0"):
        questions_from_runs(collection, n=0)
