"""Questions: the combinations of the thesis's Table 3.1 one list at a time, and coverage of differences."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import (
    Combination,
    Question,
    Questions,
    as_combinations,
    coverage_of,
    crossed,
    possible,
    thesis_combinations,
)
from adjudge.users.combinations import fingerprint, same_print
from adjudge.users.curves import bin_of

THESIS_COMBINATIONS = thesis_combinations()
K = 5
Grades = list[float]


def precision(r: Grades, i: int) -> float:
    return sum(one > 0 for one in r[:i]) / i


def ap(r: Grades, top: float, g: Callable[[float], float]) -> float:
    return sum((r[i - 1] > 0) * precision(r, i) for i in range(1, K + 1)) / K


def rr(r: Grades, top: float, g: Callable[[float], float]) -> float:
    return next((1 / i for i, one in enumerate(r, start=1) if one > 0), 0.0)


def cg(r: Grades, top: float, g: Callable[[float], float]) -> float:
    return sum(g(one) for one in r) / (K * g(top))


def dcg(r: Grades, top: float, g: Callable[[float], float]) -> float:
    weights = [1 / math.log2(i + 1) for i in range(1, K + 1)]
    return sum(g(one) * w for one, w in zip(r, weights, strict=True)) / (g(top) * sum(weights))


def rbp(r: Grades, top: float, g: Callable[[float], float]) -> float:
    weights = [0.8**i for i in range(K)]
    return sum(g(one) * w for one, w in zip(r, weights, strict=True)) / (g(top) * sum(weights))


def q(r: Grades, top: float, g: Callable[[float], float]) -> float:
    total = 0.0
    for i in range(1, K + 1):
        if r[i - 1] > 0:
            total += (i * precision(r, i) + sum(g(one) for one in r[:i])) / (i + i * g(top))
    return total / K


def stops(r: Grades, top: float, g: Callable[[float], float]) -> list[float]:
    found, goes_on = [], 1.0
    for one in r:
        p = g(one) / (g(top) + 1)
        found.append(p * goes_on)
        goes_on *= 1 - p
    return found


def err(r: Grades, top: float, g: Callable[[float], float]) -> float:
    value, best = (sum(p / i for i, p in enumerate(stops(one, top, g), 1)) for one in (r, [top] * K))
    return value / best


def edcg(r: Grades, top: float, g: Callable[[float], float]) -> float:
    value, best = (
        sum(p * g(grade) for grade, p in zip(one, stops(one, top, g), strict=True)) for one in (r, [top] * K)
    )
    return value / best


def gap(r: Grades, top: float, g: Callable[[float], float]) -> float:
    return sum(sum(min(r[i - 1], r[j]) / top for j in range(i)) / i for i in range(1, K + 1)) / K


def adr(r: Grades, top: float, g: Callable[[float], float]) -> float:
    return sum(sum(one == top for one in r[:i]) / i for i in range(1, K + 1)) / K


EQUATIONS = {"AP": ap, "RR": rr, "CG": cg, "DCG": dcg, "EDCG": edcg, "Q": q, "RBP": rbp, "ERR": err, "GAP": gap}
EQUATIONS |= {"ADR": adr, "P": lambda r, top, g: precision(r, K)}
TOPS = {"broad": 2.0, "fine": 100.0, "graded3": 2.0, "graded4": 3.0, "graded5": 4.0}
BOUNDS = {"graded3": (34, 67), "graded4": (26, 51, 76), "graded5": (21, 41, 61, 81)}


def converted(grade: float, scale: str) -> float:
    if scale.startswith("binary"):
        return float(grade >= float(scale.removeprefix("binary")))
    return float(sum(grade >= bound for bound in BOUNDS[scale])) if scale in BOUNDS else grade


def gain_of(measure: str) -> Callable[[float], float]:
    exponential = "gain=exp" in measure or (measure.startswith("ERR") and "gain=linear" not in measure)
    return (lambda grade: 2.0**grade - 1) if exponential else (lambda grade: grade)


@pytest.fixture(scope="module")
def asked() -> Questions:
    """Forty random pairs of lists, with the best and the worst among them."""
    rng = np.random.default_rng(3)
    fine = rng.integers(0, 101, size=(40, 2, K)).astype(np.float64)
    broad = rng.integers(0, 3, size=(40, 2, K)).astype(np.float64)
    fine[0], broad[0] = [[100.0] * K, [0.0] * K], [[2.0] * K, [0.0] * K]
    names = [tuple(f"{side}{i}" for i in range(K)) for side in "ab"]
    return Questions(
        tuple(Question(str(i), "q", names[0], names[1]) for i in range(40)), {"fine": fine, "broad": broad}
    )


@pytest.mark.parametrize("one", THESIS_COMBINATIONS, ids=str)
def test_a_combination_of_the_thesis_computes_its_equation(one: Combination, asked: Questions) -> None:
    values = asked.effectiveness(one.measure, one.scale)
    equation, gain = EQUATIONS[one.parsed.name], gain_of(one.measure)
    top = TOPS.get(one.scale, 1.0)
    for place in range(len(asked)):
        for side in range(2):
            grades = [converted(grade, one.scale) for grade in asked.grades[one.origin][place, side].tolist()]
            assert values[place, side] == pytest.approx(equation(grades, top, gain), abs=1e-12)


def test_the_thesis_has_95_combinations_on_nine_scales() -> None:
    assert len(set(THESIS_COMBINATIONS)) == 95
    on = {scale: sum(one.scale == scale for one in THESIS_COMBINATIONS) for scale in {*TOPS, "binary20", "binary80"}}
    assert on == {"broad": 14, "fine": 7, "graded3": 14, "graded4": 14, "graded5": 14, "binary20": 8, "binary80": 8}


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


def test_other_list_lengths_have_the_same_combinations() -> None:
    assert [str(one).replace("@3", "@5") for one in thesis_combinations(3)] == [str(one) for one in THESIS_COMBINATIONS]


def test_scales_decide_what_is_possible() -> None:
    assert {one.scale for one in possible(THESIS_COMBINATIONS, ["broad"])} == {"broad"}
    assert possible(THESIS_COMBINATIONS, ["0..4"]) == ()
    assert len(possible(THESIS_COMBINATIONS, ["fine", "broad"])) == 95


def test_measures_are_crossed_with_scales_once_each() -> None:
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


def test_no_combination_at_all_is_refused() -> None:
    with pytest.raises(AdjudgeError, match="at least one combination"):
        as_combinations([])


def questions_about(*grades: tuple[float, float], expected: frozenset[str] = frozenset()) -> Questions:
    """One document a list, on the scale 0..10."""
    questions = tuple(Question(f"{i}", "q", ("x",), ("y",), expected) for i in range(len(grades)))
    return Questions(questions, {"0..10": np.array(grades).reshape(len(grades), 2, 1)})


@pytest.mark.parametrize("bins", [2, 3, 7, 10, 30])
def test_a_difference_on_an_edge_is_above_it_however_it_was_computed(bins: int) -> None:
    for edge in range(bins):
        exact = edge / bins
        for start in (0.0, 0.1, 1 / 3):
            computed = (start + exact) - start
            assert bin_of(np.array([computed]), bins).tolist() == [edge]
        assert bin_of(np.array([exact + 1e-6]), bins).tolist() == [edge]
        if edge:
            assert bin_of(np.array([exact - 1e-6]), bins).tolist() == [edge - 1]


def test_the_last_bin_has_the_largest_difference() -> None:
    assert bin_of(np.array([1.0, 1.0 + 1e-12]), 10).tolist() == [9, 9]


def test_questions_count_where_they_fall_and_unjudged_ones_nowhere() -> None:
    found = coverage_of(questions_about((10, 0), (5, 2), (2, 5), (3, 3), (np.nan, 3)), ["CG@1 on 0..10"], per_bin=2)
    assert found.counts[0].tolist() == [1, 0, 0, 2, 0, 0, 0, 0, 0, 1]
    assert found.unknown.tolist() == [1]
    assert found.totals == {"filled": 1, "short": 9, "impossible": 0}
    assert (found.n_questions, found.n_queries, found.n_documents, found.most_of_a_query) == (5, 1, 2, 5)


def test_traps_are_not_counted() -> None:
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
