"""Plans: what designs cost, how an estimate moved while queries arrived, and what a paired test needs."""

from __future__ import annotations

import math
from collections.abc import Callable
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
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, Design
from adjudge.stats.gtheory.gstudy import GStudy
from adjudge.stats.gtheory.plan import (
    FEWEST_QUERIES,
    Costs,
    DesignChoice,
    Option,
    PricedDesign,
    growth,
    pair_deviations,
    power_plan,
)
from adjudge.stats.power import MOST_QUERIES, power, queries_needed

CROSSED_VARIANCES = {
    "CG@3": {"s": 1.0, "q": 2.0, "a": 0.1, "sq": 2.5, "sa": 0.02, "qa": 0.2, "sqa": 1.5},
    "CG@5": {"s": 1.0, "q": 1.6, "a": 0.1, "sq": 1.6, "sa": 0.03, "qa": 0.2, "sqa": 0.6},
}
POOLS = {"CG@3": 3.7, "CG@5": 5.25}
CUTOFFS = {"CG@3": 3, "CG@5": 5}


def option(measure: str, design: Design) -> Option:
    known = CROSSED_VARIANCES[measure]
    variances = np.array([known[effect.facets] for effect in design.effects])
    return Option(GStudy(design, variances, 10, 20, 1, "given", measure), POOLS[measure], CUTOFFS[measure])


def reliability(measure: str, how: str, index: str, n_q: int, n_a: int) -> float:
    """Thesis eq 6.4, 6.5, 6.9 and 6.10, and their like for assessors who judge all queries."""
    v = CROSSED_VARIANCES[measure]
    many = n_q if how == "nested" else 1  # what comes with an assessor comes again with every query
    error = v["sq"] / n_q + v["sqa"] / (n_q * n_a) + (v["sa"] / (n_a * many) if how != "own" else 0.0)
    if index == "phi":
        error += v["q"] / n_q + v["qa"] / (n_q * n_a) + (v["a"] / (n_a * many) if how != "own" else 0.0)
    return v["s"] / (v["s"] + error)


def cost(costs: Costs, measure: str, how: str, n_q: int, n_a: int) -> float:
    judgments = math.ceil(n_q * n_a * POOLS[measure] - 1e-9)
    load = costs.workload if costs.workload is not None else n_q if how == "crossed" else 1
    people = max(n_a, math.ceil(n_q * n_a / load))
    return n_q * costs.query + judgments * costs.judgment + people * costs.assessor


GRID = [(measure, n_q, n_a) for measure in POOLS for n_q in range(1, 120) for n_a in (1, 2, 3)]
PRICES = [
    Costs(),
    Costs(judgment=0.2, query=3.0),
    Costs(judgment=0.0, query=1.0),
    Costs(judgment=1.0, query=2.0, assessor=40.0),
    Costs(judgment=0.5, query=0.0, assessor=7.5, workload=4),
]
HOWS: list[tuple[str, Design, Any]] = [
    ("crossed", CROSSED, "auto"),
    ("nested", CROSSED, "nested"),
    ("own", NESTED, "auto"),
]
each_way = pytest.mark.parametrize(("how", "design", "planned"), HOWS, ids=[how for how, *_ in HOWS])


@each_way
@pytest.mark.parametrize("costs", PRICES)
@pytest.mark.parametrize("index", ["e_rho2", "phi"])
def test_no_design_on_a_grid_is_better_than_the_best_or_cheaper_than_the_cheapest(
    how: str, design: Design, planned: Any, costs: Costs, index: str
) -> None:
    choice = DesignChoice([option(name, design) for name in POOLS], costs, (1, 2, 3), planned)
    for budget in (60, 95.5):
        found = choice.best(budget, index=index)[0]
        affordable = [sizes for sizes in GRID if cost(costs, sizes[0], how, *sizes[1:]) <= budget]
        best = max(reliability(name, how, index, n_q, n_a) for name, n_q, n_a in affordable)
        assert getattr(found, index) == pytest.approx(best)
        assert found.cost == pytest.approx(cost(costs, found.measure, how, found.n_queries, found.n_assessors))
        assert found.cost <= budget
        assert found.cutoff == CUTOFFS[found.measure]
    for target in (0.6, 0.92):
        cheapest = choice.cheapest(target, index=index)
        enough = [sizes for sizes in GRID if reliability(sizes[0], how, index, *sizes[1:]) >= target]
        least = min(cost(costs, name, how, n_q, n_a) for name, n_q, n_a in enough)
        assert cheapest[0].cost == pytest.approx(least)
        assert getattr(cheapest[0], index) >= target
        assert [found.cost for found in cheapest] == sorted(found.cost for found in cheapest)


@each_way
def test_every_option_has_its_own_best_and_cheapest(how: str, design: Design, planned: Any) -> None:
    choice = DesignChoice([option(name, design) for name in POOLS], PRICES[1], (1, 2, 3), planned)
    best = {(found.measure, found.n_assessors): found.n_queries for found in choice.best(80)}
    cheapest = {(found.measure, found.n_assessors): found.n_queries for found in choice.cheapest(0.91)}
    assert len(best) == len(choice.best(80)) == 6
    for (name, n_a), n_queries in best.items():
        sizes = [n for other, n, people in GRID if (other, people) == (name, n_a)]
        assert n_queries == max(n for n in sizes if cost(PRICES[1], name, how, n, n_a) <= 80)
        enough = [n for n in sizes if reliability(name, how, "e_rho2", n, n_a) >= 0.91]
        assert cheapest.get((name, n_a)) == min(enough, default=None)


def test_one_assessor_is_all_there_is_where_assessors_were_no_facet() -> None:
    study = GStudy(SYSTEMS_QUERIES, np.array([1.0, 2.0, 2.5]), 10, 20, 1, "given", "CG@3")
    costs = Costs(judgment=1, query=5, assessor=100, workload=8)
    found = DesignChoice([Option(study, 10)], costs, (1, 2, 3)).best(1000)
    # n queries cost 15 n and an assessor for every 8 of them: 33 cost 495 + 500, 34 cost 510 + 500
    e_rho2 = 1 / (1 + 2.5 / 33)
    tau = 2 / math.pi * math.asin(math.sqrt(e_rho2))
    near: list[Any] = [pytest.approx(x) for x in (e_rho2, 1 / (1 + 4.5 / 33), tau)]
    assert found == [PricedDesign("CG@3", None, 33, 1, 330, 5, 995.0, *near)]


def test_designs_that_are_equally_good_are_ordered_by_price() -> None:
    study = GStudy(NESTED, np.array([1.0, 1.0, 0.0, 1.0, 0.0]), 10, 20, 1, "given", "CG@5")
    found = DesignChoice([Option(study, 1)], Costs(judgment=0.01, query=10), (3, 1, 2)).best(100)
    assert [design.n_assessors for design in found] == [1, 2, 3]
    assert len({design.e_rho2 for design in found}) == 1


def test_a_target_out_of_reach_has_no_design() -> None:
    study = GStudy(CROSSED, np.array([1.0, 1, 0, 1, 0.5, 0, 1]), 10, 20, 1, "given", "CG@5")
    choice = DesignChoice([Option(study, 5)], Costs(), (1, 2))
    assert choice.cheapest(0.95) == []
    assert [design.n_assessors for design in choice.cheapest(0.75)] == [2]


@given(
    n_q=st.integers(1, 10_000),
    n_a=st.integers(1, 9),
    load=st.one_of(st.none(), st.integers(1, 500)),
    nested=st.booleans(),
)
def test_people_are_enough_for_the_work_and_no_more(n_q: int, n_a: int, load: int | None, nested: bool) -> None:
    people = Costs(workload=load).people(n_q, n_a, nested=nested)
    assert people >= n_a, "the assessors of a query are different people"
    if load is None:
        assert people == (n_q * n_a if nested else n_a)
    else:
        assert people * load >= n_q * n_a
        assert people == n_a or (people - 1) * load < n_q * n_a


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Costs(judgment=0), "Expected a cost for judgments or for queries: with neither"),
        (lambda: Costs(judgment=0, assessor=5), "Expected a cost for judgments or for queries"),
        (lambda: Option(option("CG@5", CROSSED).study, math.nan), "'pool' must be a finite number above 0, got nan"),
        (lambda: DesignChoice([]).best(10), r"at least one option to choose from.*got none"),
        (lambda: growth(matrix(n_s=1)), "needs at least 2 systems, got 1"),
        (lambda: growth(matrix(), n_assessors=2), "to plan for 2 of them"),
        (lambda: power_plan(matrix(n_s=1)), "at least 2 systems, got 1"),
        (lambda: power_plan(matrix(), differences=[0.1, 0]), "'differences' must be a finite number above 0, got 0"),
    ],
)
def test_what_cannot_be_planned_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        call()


def test_a_budget_that_does_not_buy_a_query_is_refused_and_any_budget_has_an_end() -> None:
    chosen = option("CG@5", CROSSED)
    choice = DesignChoice([chosen], Costs(query=2), (1, 2))
    with pytest.raises(aj.AdjudgeError, match="A budget of 7 does not buy one query, which costs 8"):  # 2 + ⌈5.25⌉
        choice.best(7)
    assert choice.best(8)[0].n_queries == 1
    assert DesignChoice([chosen], Costs(judgment=1e-12)).best(1e9)[0].n_queries == MOST_QUERIES


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


@pytest.mark.parametrize(
    ("assessors", "n_assessors", "design"),
    [("crossed", None, "auto"), ("nested", None, "auto"), ("auto", 1, "nested")],
)
def test_the_last_step_is_the_plain_d_study_of_effectiveness_by_assessor(
    assessors: Assessors, n_assessors: int | None, design: Assessors
) -> None:
    values = cube(n_a=3)
    plain = aj.gstudy(values, assessors=assessors).dstudy(assessors=n_assessors, design=design, interval="none")
    last = growth(values, assessors=assessors, n_assessors=n_assessors, design=design)[-1]
    assert (last.e_rho2, last.phi) == (plain.rows[0].e_rho2, plain.rows[0].phi)
    assert plain.rows[0].n_assessors == (n_assessors or 3)
    assert (last.e_rho2_queries, last.phi_queries) == tuple(needed.n_queries for needed in plain.needed)


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
    a, b = shift + np.random.default_rng(1).random((2, 137))
    values = np.column_stack([a, a, b, a + 0.25])
    found = pair_deviations(values)
    assert [sd == 0 for sd in found] == [True, False, True, False, True, False]
    assert found[1] == pytest.approx(np.std(a - b, ddof=1))


def test_power_plans_follow_from_the_deviations_of_pairs() -> None:
    values = matrix(25, 5)
    values[3, 1] = values[10:14, 4] = np.nan
    deviations = sorted(brute_deviations(values))
    plan = power_plan(values, differences=[0.2, 0.5], alpha=0.01, power=0.9)
    assert plan is not None
    assert plan.typical == pytest.approx(median(deviations))
    assert plan.hard == pytest.approx(deviations[9])  # ten pairs: nine stay below
    assert plan.n_queries == 25
    for difference, *needed in plan.rows:
        assert needed == queries_needed(difference, [plan.typical, plan.hard], alpha=0.01, power=0.9).tolist()
    assert [row[0] for row in plan.rows] == [0.2, 0.5]
    for sd, least in zip((plan.typical, plan.hard), plan.detectable, strict=True):
        assert power(least, sd, 25, alpha=0.01) == pytest.approx(0.9)


def test_several_comparisons_share_the_level() -> None:
    shared, strict = power_plan(matrix(), alpha=0.05, comparisons=15), power_plan(matrix(), alpha=0.05 / 15)
    assert shared is not None
    assert strict is not None
    assert shared.rows == strict.rows
    assert (shared.comparisons, strict.comparisons) == (15, 1)


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
