"""Questions: the combinations of the thesis's Table 3.1, and coverage of differences."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.unit.preferences.people_study import Grades, evaluate_lists

from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import (
    Combination,
    Question,
    Questions,
    coverage_of,
    crossed,
    possible,
    thesis_combinations,
)
from adjudge.users.combinations import fingerprint, same_print
from adjudge.users.curves import bin_of

THESIS_COMBINATIONS = thesis_combinations()
K = 5


@pytest.fixture(scope="module")
def grades() -> dict[str, Grades]:
    """Fine and Broad grades of ten documents of forty queries; of the first, five are the best and five the worst."""
    rng = np.random.default_rng(3)
    made = {"fine": rng.integers(0, 101, size=(40, 10)), "broad": rng.integers(0, 3, size=(40, 10))}
    for scale, top in (("fine", 100), ("broad", 2)):
        made[scale][0] = [top] * K + [0] * K
    return {
        scale: {f"q{i}": {f"d{d}": float(grade) for d, grade in enumerate(row)} for i, row in enumerate(rows)}
        for scale, rows in made.items()
    }


@pytest.fixture(scope="module")
def asked(grades: dict[str, Grades]) -> Questions:
    """About the first five documents of each query and the others."""
    a, b = (tuple(f"d{d}" for d in documents) for documents in (range(K), range(K, 2 * K)))
    found = Questions(tuple(Question(f"{i}", f"q{i}", a, b) for i in range(40)))
    for scale, known in grades.items():
        found = found.with_grades(scale, {(q, d): grade for q, row in known.items() for d, grade in row.items()})
    return found


@pytest.mark.parametrize("one", THESIS_COMBINATIONS, ids=str)
def test_effectiveness_of_lists_is_that_of_runs(one: Combination, asked: Questions, grades: dict[str, Grades]) -> None:
    """Of runs it is held against the equations of the thesis in tests/reference."""
    found = asked.effectiveness(one.measure, one.scale)
    np.testing.assert_allclose(found, list(evaluate_lists(asked, grades, one).values()), atol=1e-12)


def test_the_thesis_has_95_combinations_on_nine_scales() -> None:
    assert len(set(THESIS_COMBINATIONS)) == 95
    on = {"broad": 14, "fine": 7, "graded3": 14, "graded4": 14, "graded5": 14}
    on |= {f"binary{bound}": 8 for bound in (20, 40, 60, 80)}
    assert Counter(one.scale for one in THESIS_COMBINATIONS) == on


def test_no_two_combinations_of_the_thesis_are_equal() -> None:
    """ADR on graded5 (best from 81) and on binary80 (best from 80) differ for a grade of 80, which no probe has."""
    prints = [(one, fingerprint(one.parsed, one.relevance)) for one in THESIS_COMBINATIONS]
    equal = {
        frozenset((str(one), str(other)))
        for i, (one, first) in enumerate(prints)
        for other, second in prints[:i]
        if one.origin == other.origin and same_print(first, second)
    }
    assert equal == {frozenset(("ADR(ideal=max)@5 on graded5", "ADR(ideal=max)@5 on binary80"))}
    eighty = Questions((Question("1", "q", ("a",), ("b",)),), {"fine": np.array([[[80.0], [0.0]]])})
    assert eighty.effectiveness("ADR(ideal=max)@1", "graded5")[0, 0] == 0
    assert eighty.effectiveness("ADR(ideal=max)@1", "binary80")[0, 0] == 1


def test_a_combination_parses_what_it_prints() -> None:
    for one in THESIS_COMBINATIONS:
        assert Combination.parse(str(one)) == one
    assert str(Combination.parse("  RBP(ideal=max,p=0.8)@5 on  Graded4 of 0..10 ")) == (
        "RBP(ideal=max)@5 on graded4 of 0..10"
    )
    assert [str(one).replace("@3", "@5") for one in thesis_combinations(3)] == [str(one) for one in THESIS_COMBINATIONS]


def test_scales_decide_what_is_possible_and_measures_are_crossed_with_them() -> None:
    assert {one.scale for one in possible(THESIS_COMBINATIONS, ["broad"])} == {"broad"}
    assert possible(THESIS_COMBINATIONS, ["0..4"]) == ()
    assert len(possible(THESIS_COMBINATIONS, ["fine", "broad"])) == 95
    assert len(crossed(["CG@5", "P@5", "CG@5"], ["fine", "binary40"])) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CG@5", "expected MEASURE on SCALE, such as 'CG@5 on fine', got 'CG@5'"),
        ("XG@5 on fine", "No measure is called 'XG'"),
        ("CG@5 on nice", "Scale: expected one of"),
        ("nDCG@5 on fine", "compares with the best of all judged documents"),
        ("DCG(ideal=none)@5 on fine", "can exceed 1"),
        ("P@5 on binary200", "cuts outside the scale"),
    ],
)
def test_what_is_no_combination_is_refused(text: str, said: str) -> None:
    with pytest.raises(AdjudgeError, match=said):
        Combination.parse(text)


def questions_about(*grades: tuple[float, float], expected: frozenset[str] = frozenset()) -> Questions:
    """One document per list, on the scale 0..10."""
    questions = tuple(Question(f"{i}", "q", ("x",), ("y",), expected) for i in range(len(grades)))
    return Questions(questions, {"0..10": np.array(grades).reshape(len(grades), 2, 1)})


@pytest.mark.parametrize("bins", [2, 3, 7, 10, 30])
def test_a_difference_on_an_edge_is_above_it_however_it_was_computed(bins: int) -> None:
    edges = np.arange(bins)
    for start in (0.0, 0.1, 1 / 3):
        assert bin_of((start + edges / bins) - start, bins).tolist() == edges.tolist()
    assert bin_of(edges / bins + 1e-6, bins).tolist() == edges.tolist()
    assert bin_of(edges[1:] / bins - 1e-6, bins).tolist() == edges[:-1].tolist()
    assert bin_of(np.array([1.0, 1.0 + 1e-12]), bins).tolist() == [bins - 1] * 2


def test_questions_count_where_they_fall_and_traps_and_unjudged_ones_nowhere() -> None:
    found = coverage_of(questions_about((10, 0), (5, 2), (2, 5), (3, 3), (np.nan, 3)), ["CG@1 on 0..10"], per_bin=2)
    assert found.counts[0].tolist() == [1, 0, 0, 2, 0, 0, 0, 0, 0, 1]
    assert found.unknown.tolist() == [1]
    assert found.totals == {"filled": 1, "short": 9, "impossible": 0}
    assert (found.n_questions, found.n_queries, found.n_documents, found.most_of_a_query) == (5, 1, 2, 5)
    assert coverage_of(questions_about((10, 0), expected=frozenset({"a"})), ["CG@1 on 0..10"]).counts.sum() == 0


def test_the_table_shows_what_is_lacking() -> None:
    found = coverage_of(questions_about((10, 0)), ["CG@1 on 0..10"], bins=2, per_bin=1)
    head, row = str(found).splitlines()[-2:]
    assert head.split() == ["questions", "by", "|Δ|", "from", "0", "0.5"]
    assert row.split()[-2:] == ["0", "1"]
    assert [row["status"] for row in found.to_dicts()] == ["short", "filled"]
    assert [row["low"] for row in found.to_dicts() if row["status"] == "filled"] == [0.5]
    assert [found.interval(b) for b in (0, 1)] == ["[0, .5)", "[.5, 1]"]


def test_scales_without_grades_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"grades on fine to compute CG@1.*got 0\.\.10"):
        coverage_of(questions_about((10, 0)), ["CG@1 on fine"])
