"""Plans beside the D-study: what a paired test needs; which design effectiveness follows, and what is left out."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import median, stdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.checks import Assessors
from adjudge.errors import AdjudgeError
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, arranged, better_systems
from adjudge.stats.gtheory.gstudy import gstudy
from adjudge.stats.gtheory.plan import FEWEST_QUERIES, growth, pair_deviations, power_plan
from adjudge.stats.power import detectable_difference, power, queries_needed


def matrix(n_q: int = 30, n_s: int = 6, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    values: Floats = rng.normal(size=(n_q, 1)) + rng.normal(size=n_s) + rng.normal(size=(n_q, n_s))
    return values


def cube(n_q: int = 30, n_a: int = 2, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    values: Floats = matrix(n_q)[:, :, None] + 0.5 * rng.normal(size=(n_q, 1, n_a)) + rng.normal(size=(n_q, 6, n_a))
    return values


def test_each_step_is_the_d_study_of_the_queries_there_were() -> None:
    values = matrix()
    found = growth(values, target=0.9, batch=10)
    assert [step.n_queries for step in found] == [10, 20, 30]
    for step in found:
        plain = aj.gstudy(values[: step.n_queries]).dstudy(target=0.9)
        assert (step.e_rho2, step.phi) == (plain.rows[0].e_rho2, plain.rows[0].phi)
        assert step.e_rho2_queries == plain.need("e_rho2").n_queries
        assert step.phi_queries == plain.need("phi").n_queries


@pytest.mark.parametrize(
    ("n_q", "batch", "sizes"),
    [
        (23, None, [5, 10, 15, 20, 23]),
        (100, None, list(range(10, 101, 10))),
        (101, None, [11, 22, 33, 44, 55, 66, 77, 88, 99, 101]),
        (20, 5, [5, 10, 15, 20]),
        (9, 2, [6, 8, 9]),
        (8, 1, [5, 6, 7, 8]),
        (4, None, [4]),
        (2, 1, [2]),
        (10, 1000, [10]),
    ],
)
def test_batches_end_with_all_queries_and_begin_with_a_few(n_q: int, batch: int | None, sizes: list[int]) -> None:
    assert [step.n_queries for step in growth(matrix(n_q), batch=batch)] == sizes
    assert all(n >= FEWEST_QUERIES for n in sizes[:-1])


def test_the_last_step_is_the_plain_d_study_of_effectiveness_by_assessor() -> None:
    values = cube()
    hows: tuple[Assessors, ...] = ("crossed", "nested")
    for how in hows:
        plain = aj.gstudy(values, assessors=how).dstudy(interval="none")
        last = growth(values, assessors=how)[-1]
        assert (last.e_rho2, last.phi) == (plain.rows[0].e_rho2, plain.rows[0].phi)
        assert plain.rows[0].n_assessors == 2
        assert (last.e_rho2_queries, last.phi_queries) == tuple(plan.n_queries for plan in plain.needed)


def test_the_assessors_and_the_design_to_plan_for_can_be_said() -> None:
    values = cube(n_a=3)
    plain = aj.gstudy(values).dstudy(assessors=1, design="nested", target=0.9, interval="none")
    last = growth(values, target=0.9, n_assessors=1, design="nested")[-1]
    assert (last.e_rho2, last.phi) == (plain.rows[0].e_rho2, plain.rows[0].phi)
    assert last.phi_queries == plain.need("phi").n_queries
    assert last != growth(values, target=0.9)[-1]


def test_nested_assessors_stay_nested_when_there_are_few_queries() -> None:
    """The first queries alone would look crossed: the same two assessors judged all of them."""
    values = np.full((20, 6, 4), np.nan)
    values[:10, :, :2], values[10:, :, 2:] = cube()[:10], cube()[10:20]
    assert str(aj.gstudy(values[:10, :, :2]).design) == "systems x queries x assessors"
    first = growth(values, batch=10)[0]
    plain = aj.gstudy(values[:10, :, :2], assessors="nested").dstudy(interval="none")
    assert (first.n_queries, first.e_rho2, first.phi) == (10, plain.rows[0].e_rho2, plain.rows[0].phi)


def test_steps_that_say_nothing_yet_are_left_out() -> None:
    """Assessors double from query 12 on: before that, nothing tells system x query from the residual."""
    values = cube()
    values[:12, :, 1] = np.nan
    found = growth(values, batch=6, assessors="nested")
    assert [step.n_queries for step in found] == [18, 24, 30]


def test_steps_on_which_all_systems_are_equal_ask_for_no_number() -> None:
    values = matrix(20)
    values[:10] = 0.5
    found = growth(values, batch=5)
    assert [(step.e_rho2, step.phi_queries) for step in found[:2]] == [(0, None), (0, None)]
    assert found[-1].e_rho2 > 0


def test_growth_that_cannot_be_told_is_refused() -> None:
    for batch in (0, -2):
        with pytest.raises(aj.AdjudgeError, match=rf"^'batch' must be a whole number of at least 1, got {batch}$"):
            growth(matrix(), batch=batch)
    for target in (0, 1, 1.5):
        with pytest.raises(aj.AdjudgeError, match=rf"^'target' must be in \(0, 1\), got {target}$"):
            growth(matrix(), target=target)
    with pytest.raises(aj.AdjudgeError, match="needs at least 2 systems, got 1"):
        growth(matrix(n_s=1))
    with pytest.raises(aj.AdjudgeError, match="to plan for 2 of them"):
        growth(matrix(), n_assessors=2)


def brute_deviations(values: Floats) -> list[float]:
    found = []
    for a, b in combinations(range(values.shape[1]), 2):
        differences = [float(x - y) for x, y in zip(values[:, a], values[:, b], strict=True) if math.isfinite(x - y)]
        found.append(stdev(differences) if len(differences) > 1 else 0.0)
    return found


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 9999),
    n_q=st.integers(1, 12),
    n_s=st.integers(2, 6),
    holes=st.sampled_from([0.0, 0.2, 0.8]),
    shift=st.sampled_from([0.0, 1.0, 1e3, -1e6]),
)
def test_deviations_of_pairs_are_those_counted_one_by_one(
    seed: int, n_q: int, n_s: int, holes: float, shift: float
) -> None:
    rng = np.random.default_rng(seed)
    values = shift + rng.random((n_q, n_s)).round(4)
    values[rng.random(values.shape) < holes] = np.nan
    assert pair_deviations(values) == pytest.approx(brute_deviations(values), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("shift", [0.0, 1.0, 1e3])
def test_systems_that_differ_by_the_same_on_all_queries_do_not_deviate(shift: float) -> None:
    one, other = shift + np.random.default_rng(1).random((2, 137))
    values = np.column_stack([one, one, other, one + 0.25])
    found = pair_deviations(values)
    assert [sd == 0 for sd in found] == [True, False, True, False, True, False]
    assert found[1] == pytest.approx(np.std(one - other, ddof=1))


def test_power_plans_follow_from_the_deviations_of_pairs() -> None:
    values = matrix(25, 5)
    values[3, 1] = values[10:14, 4] = np.nan
    deviations = sorted(brute_deviations(values))
    plan = power_plan(values, differences=[0.2, 0.5], alpha=0.01, power=0.9)
    assert plan is not None
    assert plan.typical == pytest.approx(median(deviations))
    assert plan.hard == pytest.approx(deviations[9])  # ten pairs: nine stay below
    assert plan.n_queries == 25
    for difference, typical, hard in plan.rows:
        for sd, n in ((plan.typical, typical), (plan.hard, hard)):
            assert n is not None
            assert power(difference, sd, n, alpha=0.01) >= 0.9 > power(difference, sd, n - 1, alpha=0.01)
            assert n == queries_needed(difference, sd, alpha=0.01, power=0.9)
    assert [row[0] for row in plan.rows] == [0.2, 0.5]
    for sd, least in zip((plan.typical, plan.hard), plan.detectable, strict=True):
        assert least == pytest.approx(detectable_difference(sd, 25, alpha=0.01, power=0.9))
        assert power(least, sd, 25, alpha=0.01) == pytest.approx(0.9)


def test_several_comparisons_share_the_level() -> None:
    shared, alone = (power_plan(matrix(), alpha=0.05, comparisons=n) for n in (15, 1))
    strict = power_plan(matrix(), alpha=0.05 / 15)
    assert shared is not None
    assert alone is not None
    assert strict is not None
    assert shared.rows == strict.rows
    assert (shared.comparisons, alone.comparisons) == (15, 1)
    for (_, *more), (_, *less) in zip(shared.rows, alone.rows, strict=True):
        assert (np.array(more, dtype=float) > np.array(less, dtype=float)).all()


def test_a_difference_that_no_collection_detects_leaves_the_others_standing() -> None:
    plan, hundredfold = (
        power_plan(matrix(), differences=[1e-9, 0.1]),
        power_plan(1e5 * matrix(), differences=[0.01, 1e4]),
    )
    assert plan is not None
    assert hundredfold is not None
    assert plan.rows[0] == (1e-9, None, None)
    assert hundredfold.rows[0] == (0.01, None, None)
    assert plan.rows[1][1:] == hundredfold.rows[1][1:]


def test_systems_that_never_part_need_no_test() -> None:
    column = np.random.default_rng(2).random(12)
    assert power_plan(np.column_stack([column, column + 0.1, column + 0.3])) is None
    assert power_plan(matrix(1)) is None


def test_differences_and_comparisons_that_make_no_sense_are_refused() -> None:
    for difference in (0, -0.1, math.nan):
        with pytest.raises(
            aj.AdjudgeError, match=rf"^'differences' must be a finite number above 0, got {difference}$"
        ):
            power_plan(matrix(), differences=[0.1, difference])
    with pytest.raises(aj.AdjudgeError, match=r"^'comparisons' must be a whole number of at least 1, got 0$"):
        power_plan(matrix(), comparisons=0)
    with pytest.raises(aj.AdjudgeError, match="at least 2 systems, got 1"):
        power_plan(matrix(n_s=1))


NAN = float("nan")


def unbalanced_cube(n_q: int = 6, n_s: int = 3, n_a: int = 2, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).random((n_q, n_s, n_a))


def judged_by(who: list[list[int]], n_a: int, seed: int = 0) -> Floats:
    """A cube in which query q was judged by the assessors ``who[q]`` only."""
    values = unbalanced_cube(len(who), 3, n_a, seed)
    for q, judges in enumerate(who):
        values[q, :, [a for a in range(n_a) if a not in judges]] = NAN
    return values


def assessed(values: Floats, assessors: tuple[str, ...]) -> aj.model.AssessedEffectiveness:
    n_q, n_s, _ = values.shape
    queries, systems = tuple(f"q{i}" for i in range(n_q)), tuple("ABCDEFGH"[:n_s])
    return aj.model.AssessedEffectiveness(values[..., None], queries, systems, assessors, ("CG@5",))


def test_a_matrix_is_systems_by_queries() -> None:
    values = unbalanced_cube()[:, :, 0]
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
    eff = aj.Effectiveness.from_matrix(unbalanced_cube()[:, :, 0], systems=["A", "B", "C"], measure="AP")
    found = arranged(eff)
    assert (found.systems, found.measure) == (("A", "B", "C"), "AP")
    found = arranged(assessed(unbalanced_cube(), ("ann", "bob")))
    assert (found.systems, found.measure, found.design) == (("A", "B", "C"), "CG@5", CROSSED)


def test_assessors_who_all_judged_everything_are_crossed_unless_told_otherwise() -> None:
    values = unbalanced_cube()
    for how, design in (("auto", CROSSED), ("crossed", CROSSED), ("nested", NESTED)):
        found = arranged(values, assessors=how)  # type: ignore[arg-type]
        assert found.design is design
        assert (found.values == values).all()
        assert found.notes == ()


def test_a_cell_without_a_value_leaves_crossed_assessors_crossed() -> None:
    values = unbalanced_cube()
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
        found = arranged(assessed(unbalanced_cube(n_a=1), ("ann",)), assessors=how)  # type: ignore[arg-type]
        assert found.design is SYSTEMS_QUERIES
        assert len(found.notes) == notes


def test_what_has_no_value_at_all_is_left_out_and_counted() -> None:
    values = np.full((6, 5, 4), NAN)
    values[1:4, :3, 1:3] = unbalanced_cube(3, 3, 2)
    found = arranged(assessed(values, ("a", "b", "c", "d")))
    assert found.design is CROSSED
    assert (found.values == unbalanced_cube(3, 3, 2)).all()
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
    for values in (
        unbalanced_cube(7, 4, 3),
        judged_by([[0, 1], [2, 3], [4, 5], [6, 7]], 8),
        judged_by([[0], [1], [0]], 2),
    ):
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
        (
            unbalanced_cube(n_s=1)[:, :, 0],
            r"^A G-study needs at least 2 systems, got 1 \('s1'\): reliability is about .*\.$",
        ),
        (
            unbalanced_cube(n_q=1)[:, :, 0],
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
    values = unbalanced_cube()[:, :, 0]
    values[:, 1:] = NAN
    with pytest.raises(aj.AdjudgeError, match=r"needs at least 2 systems, got 1 \('s1'\)"):
        arranged(values)
    with pytest.raises(aj.AdjudgeError, match="needs at least 2 queries, got 1"):
        arranged(np.vstack([unbalanced_cube()[0, :, 0], np.full((3, 3), NAN)]))


def test_an_unknown_design_is_refused() -> None:
    with pytest.raises(aj.AdjudgeError, match=r"^'assessors' must be one of auto, crossed, nested, got 'mixed'$"):
        aj.gstudy(unbalanced_cube(), assessors="mixed")  # type: ignore[arg-type]


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
