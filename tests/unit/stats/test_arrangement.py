"""Which design effectiveness follows, what is left out of it, and what cannot be studied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, arranged, better_systems
from adjudge.stats.gtheory.gstudy import gstudy

NAN = float("nan")


def cube(n_q: int = 6, n_s: int = 3, n_a: int = 2, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).random((n_q, n_s, n_a))


def judged_by(who: list[list[int]], n_a: int, seed: int = 0) -> Floats:
    """A cube in which query q was judged by the assessors ``who[q]`` only."""
    values = cube(len(who), 3, n_a, seed)
    for q, judges in enumerate(who):
        values[q, :, [a for a in range(n_a) if a not in judges]] = NAN
    return values


def assessed(values: Floats, assessors: tuple[str, ...]) -> aj.AssessedEffectiveness:
    n_q, n_s, _ = values.shape
    queries, systems = tuple(f"q{i}" for i in range(n_q)), tuple("ABCDEFGH"[:n_s])
    return aj.AssessedEffectiveness(values[..., None], queries, systems, assessors, ("CG@5",))


def test_a_matrix_is_systems_by_queries() -> None:
    values = cube()[:, :, 0]
    found = arranged(values)
    assert found.design is SYSTEMS_QUERIES
    assert (found.values == values).all()
    assert (found.systems, found.measure, found.notes, found.complete) == (
        ("s1", "s2", "s3"),
        "effectiveness",
        (),
        True,
    )


def test_evaluations_keep_the_names_of_systems_and_measure() -> None:
    eff = aj.Effectiveness.from_matrix(cube()[:, :, 0], systems=["A", "B", "C"], measure="AP")
    found = arranged(eff)
    assert (found.systems, found.measure) == (("A", "B", "C"), "AP")
    found = arranged(assessed(cube(), ("ann", "bob")))
    assert (found.systems, found.measure, found.design) == (("A", "B", "C"), "CG@5", CROSSED)


def test_assessors_who_all_judged_everything_are_crossed_unless_told_otherwise() -> None:
    values = cube()
    for how, design in (("auto", CROSSED), ("crossed", CROSSED), ("nested", NESTED)):
        found = arranged(values, assessors=how)  # type: ignore[arg-type]
        assert found.design is design
        assert (found.values == values).all()
        assert found.notes == ()


def test_a_cell_without_a_value_leaves_crossed_assessors_crossed() -> None:
    values = cube()
    values[1, 2, 0] = NAN
    found = arranged(values)
    assert found.design is CROSSED
    assert not found.complete


def test_assessors_of_each_querys_own_are_nested_and_stand_side_by_side() -> None:
    who = [[0, 1], [2, 3], [4, 5]]
    values = judged_by(who, 6)
    found = arranged(values)
    assert found.design is NESTED
    assert found.complete
    assert found.values.shape == (3, 3, 2)
    for q, judges in enumerate(who):
        assert (found.values[q] == values[q][:, judges]).all()
    assert found.notes == ()


def test_assessors_who_judged_several_but_not_all_queries_are_nested_with_a_note() -> None:
    found = arranged(judged_by([[0, 1], [1, 2], [0, 2], [0, 1]], 3))
    assert found.design is NESTED
    assert found.values.shape == (4, 3, 2)
    assert found.notes == ("Assessors did not all judge the same queries: they are taken as nested in queries.",)
    assert arranged(judged_by([[0, 1], [1, 2], [0, 2]], 3), assessors="nested").notes == ()


def test_assessors_who_could_be_crossed_are_nested_with_a_note_that_says_so() -> None:
    who = [[0, 1], [0, 1], [0]]
    found = arranged(judged_by(who, 2))
    assert found.design is NESTED
    assert found.notes[-1].endswith(" Say crossed if the same people will judge all queries.")
    assert arranged(judged_by(who, 2), assessors="crossed").design is CROSSED


def test_queries_with_different_numbers_of_assessors_are_filled_up_with_nothing() -> None:
    values = judged_by([[0], [1, 2, 3], [4, 5]], 6)
    found = arranged(values)
    assert found.design is NESTED
    assert found.values.shape == (3, 3, 3)
    assert np.isfinite(found.values).any(axis=1).sum(axis=1).tolist() == [1, 3, 2]


def test_one_assessor_a_query_is_systems_by_queries_whoever_it_was() -> None:
    values = judged_by([[0], [1], [2], [0]], 3)
    found = arranged(values)
    assert found.design is SYSTEMS_QUERIES
    expected = np.array([values[q, :, a] for q, a in enumerate([0, 1, 2, 0])])
    assert (found.values == expected).all()
    assert found.notes == ("Every query has one assessor: what assessors differ in is part of queries and residual.",)


def test_one_assessor_a_query_may_lack_a_system() -> None:
    values = judged_by([[0], [1], [2], [0]], 3)
    values[2, 1, 2] = NAN
    found = arranged(values)
    assert np.argwhere(np.isnan(found.values)).tolist() == [[2, 1]]


def test_a_single_assessor_is_no_facet() -> None:
    for how, notes in (("auto", 0), ("crossed", 1), ("nested", 1)):
        found = arranged(assessed(cube(n_a=1), ("ann",)), assessors=how)  # type: ignore[arg-type]
        assert found.design is SYSTEMS_QUERIES
        assert len(found.notes) == notes


def test_what_has_no_value_at_all_is_left_out_and_counted() -> None:
    values = np.full((6, 5, 4), NAN)
    values[1:4, :3, 1:3] = cube(3, 3, 2)
    found = arranged(assessed(values, ("a", "b", "c", "d")))
    assert found.design is CROSSED
    assert (found.values == cube(3, 3, 2)).all()
    assert found.systems == ("A", "B", "C")
    assert found.notes == (
        "3 queries without any value left out.",
        "2 systems without any value left out.",
        "2 assessors without any value left out.",
    )
    values[5, :3, 1:3] = values[4, :3, 1:3] = values[0, :3, 1:3] = 0.5
    values[:, 3, 1:3] = 0.25
    assert arranged(values[:, :, 1:]).notes == (
        "1 system without any value left out.",
        "1 assessor without any value left out.",
    )


def test_the_order_of_queries_systems_and_assessors_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    for values in (cube(7, 4, 3), judged_by([[0, 1], [2, 3], [4, 5], [6, 7]], 8), judged_by([[0], [1], [0]], 2)):
        q, s, a = (rng.permutation(n) for n in values.shape)
        first, second = aj.gstudy(values), aj.gstudy(values[q][:, s][:, :, a])
        assert first.design is second.design
        assert second.variances == pytest.approx(first.variances, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("who", "message"),
    [
        ([[0], [0], [1], [1]], "assessors 'ann' and 'bob' share no query"),
        ([[0, 1], [0, 1], [2, 0], [2, 1]], "assessors 'ann' and 'cleo' share 1 query"),
        ([[0, 1], [0, 1], [2, 3], [2, 3]], "assessors 'ann' and 'cleo' share no query"),
        ([[0, 1], [0, 1], [0, 1, 2], [0, 1]], "assessors 'ann' and 'cleo' share 1 query"),
    ],
)
def test_assessors_who_are_not_crossed_as_claimed_are_refused(who: list[list[int]], message: str) -> None:
    n_a = 1 + max(max(judges) for judges in who)
    values = assessed(judged_by(who, n_a), ("ann", "bob", "cleo", "dan")[:n_a])
    with pytest.raises(aj.AdjudgeError, match=rf"^Expected assessors crossed .*, but {message}; say nested instead\.$"):
        arranged(values, assessors="crossed")
    assert arranged(values).design is not CROSSED


def test_assessors_who_share_two_queries_may_be_called_crossed() -> None:
    found = arranged(judged_by([[0, 1], [0, 1], [0], [1]], 2), assessors="crossed")
    assert found.design is CROSSED
    assert not found.complete


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (cube(n_s=1)[:, :, 0], r"^A G-study needs at least 2 systems, got 1 \('s1'\): reliability is about .*\.$"),
        (
            cube(n_q=1)[:, :, 0],
            r"^A G-study needs at least 2 queries, got 1: nothing is known of how queries differ\.$",
        ),
        (np.full((4, 3), 0.5), r"^Every system has the same effectiveness, 0\.5, on every query: there is nothing to"),
        (
            np.zeros((4, 3, 2)),
            r"^Every system has the same effectiveness, 0, on every query: there is nothing to study",
        ),
        ([[0.1, 0.2], [np.inf, 0.3]], r"^A G-study expects finite numbers, got an infinite one\.$"),
        (np.full((3, 3), NAN), r"^A G-study needs at least 2 systems, got 0: "),
        ([0.1, 0.2, 0.3], r"^A G-study expects queries x systems, .*, got shape \(3,\)$"),
        (np.zeros((2, 2, 2, 2)), r"^A G-study expects queries x systems, .*, got shape \(2, 2, 2, 2\)$"),
        (np.zeros((0, 3)), r"^A G-study expects queries x systems, .*, got shape \(0, 3\)$"),
        (0.5, r"^A G-study expects queries x systems, .*, got shape \(\)$"),
    ],
)
def test_what_cannot_be_studied_is_refused_in_one_line(values: Any, message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message) as caught:
        aj.gstudy(values)
    assert "\n" not in str(caught.value)


def test_systems_or_queries_without_values_do_not_count_as_a_second_one() -> None:
    values = cube()[:, :, 0]
    values[:, 1:] = NAN
    with pytest.raises(aj.AdjudgeError, match=r"needs at least 2 systems, got 1 \('s1'\)"):
        arranged(values)
    with pytest.raises(aj.AdjudgeError, match="needs at least 2 queries, got 1"):
        arranged(np.vstack([cube()[0, :, 0], np.full((3, 3), NAN)]))


def test_an_unknown_design_is_refused() -> None:
    with pytest.raises(aj.AdjudgeError, match=r"^'assessors' must be one of auto, crossed, nested, got 'mixed'$"):
        aj.gstudy(cube(), assessors="mixed")  # type: ignore[arg-type]


def test_several_measures_are_refused() -> None:
    eff = aj.evaluate(aj.demo(queries=5, depth=5), ["CG@5", "nDCG@5"])
    with pytest.raises(aj.AdjudgeError, match=r"Which measure\? Name one of CG@5, nDCG@5\."):
        aj.gstudy(eff)


@pytest.mark.parametrize(("share", "left"), [(0, 10), (0.2, 8), (0.25, 7), (0.5, 5), (3, 7), (8, 2)])
def test_the_worst_systems_can_be_left_out_as_gt4ireval_drops_them(share: float, left: int) -> None:
    """R's quantile of type 7 of the means 1 … 10: 2.8 at 0.2, 3.25 at 0.25, 5.5 at 0.5; what is below goes."""
    values = np.random.default_rng(1).permutation(np.arange(1.0, 11.0)) + np.zeros((4, 1))
    values += np.random.default_rng(2).normal(0, 1e-3, (4, 1))
    kept = better_systems(values, share)
    assert (np.sort(values[:, kept].mean(axis=0).round()) == np.arange(11 - left, 11)).all()
    assert gstudy(values, leave_out_worst=share).n_systems == left
    assert (gstudy(values, leave_out_worst=share).variances == gstudy(values[:, kept]).variances).all()


@pytest.mark.parametrize("wrong", [-0.1, 1.5, 4, np.nan])
def test_leaving_out_what_is_no_share_and_no_number_is_refused(wrong: float) -> None:
    expected = "'leave_out_worst' must be a share from 0 to 1 or a whole number of the 4 systems, got "
    with pytest.raises(AdjudgeError, match=expected):
        gstudy(np.random.default_rng(1).random((5, 4)), leave_out_worst=wrong)
    with pytest.raises(AdjudgeError, match="at least 2 systems, got 1"):
        gstudy(np.random.default_rng(1).random((5, 4)), leave_out_worst=3)
