"""Plans beside the D-study: how its answer moves with the queries, and what a paired test needs."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import median, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.checks import Assessors
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
        with pytest.raises(aj.AdjudgeError, match=rf"^'differences' must be .* above 0, got {difference}$"):
            power_plan(matrix(), differences=[0.1, difference])
    with pytest.raises(aj.AdjudgeError, match=r"^'comparisons' must be a whole number of at least 1, got 0$"):
        power_plan(matrix(), comparisons=0)
    with pytest.raises(aj.AdjudgeError, match="at least 2 systems, got 1"):
        power_plan(matrix(n_s=1))
