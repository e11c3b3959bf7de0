"""What reliability costs: every design on a grid is looked at, and none is better or cheaper than what is chosen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.stats.gtheory.budget import MOST_QUERIES, Budgeting, Costs, Option, PricedDesign, whole_judgments
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, Design
from adjudge.stats.gtheory.gstudy import GStudy

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
    many = n_q if how == "nested" else 1  # what comes with an assessor comes anew with every query
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
def test_no_design_within_the_budget_is_better_than_the_best(
    how: str, design: Design, planned: Any, costs: Costs, index: str
) -> None:
    choice = Budgeting([option(name, design) for name in POOLS], costs, (1, 2, 3), planned)
    for budget in (60, 95.5):
        found = choice.best(budget, index=index)[0]
        affordable = [one for one in GRID if cost(costs, one[0], how, *one[1:]) <= budget]
        best = max(reliability(name, how, index, n_q, n_a) for name, n_q, n_a in affordable)
        assert getattr(found, index) == pytest.approx(best)
        assert found.cost == pytest.approx(cost(costs, found.measure, how, found.n_queries, found.n_assessors))
        assert found.cost <= budget
        assert found.cutoff == CUTOFFS[found.measure]


@each_way
@pytest.mark.parametrize("costs", PRICES)
@pytest.mark.parametrize("index", ["e_rho2", "phi"])
def test_no_design_that_reaches_the_target_is_cheaper_than_the_cheapest(
    how: str, design: Design, planned: Any, costs: Costs, index: str
) -> None:
    choice = Budgeting([option(name, design) for name in POOLS], costs, (1, 2, 3), planned)
    for target in (0.6, 0.92):
        found = choice.cheapest(target, index=index)
        enough = [one for one in GRID if reliability(one[0], how, index, *one[1:]) >= target]
        least = min(cost(costs, name, how, n_q, n_a) for name, n_q, n_a in enough)
        assert found[0].cost == pytest.approx(least)
        assert getattr(found[0], index) >= target
        assert [one.cost for one in found] == sorted(one.cost for one in found)


@each_way
def test_every_option_has_its_own_best_and_cheapest(how: str, design: Design, planned: Any) -> None:
    choice = Budgeting([option(name, design) for name in POOLS], PRICES[1], (1, 2, 3), planned)
    for found in choice.best(80):
        same = [one for one in GRID if (one[0], one[2]) == (found.measure, found.n_assessors)]
        assert found.n_queries == max(n for name, n, n_a in same if cost(PRICES[1], name, how, n, n_a) <= 80)
    for found in choice.cheapest(0.91):
        same = [one for one in GRID if (one[0], one[2]) == (found.measure, found.n_assessors)]
        assert found.n_queries == min(n for name, n, n_a in same if reliability(name, how, "e_rho2", n, n_a) >= 0.91)
    assert {(one.measure, one.n_assessors) for one in choice.best(80)} == {(m, n) for m in POOLS for n in (1, 2, 3)}


def test_one_assessor_is_all_there_is_where_assessors_were_no_facet() -> None:
    study = GStudy(SYSTEMS_QUERIES, np.array([1.0, 2.0, 2.5]), 10, 20, 1, "given", "CG@3")
    found = Budgeting([Option(study, 10)], Costs(judgment=1, query=5, assessor=100, workload=8), (1, 2, 3)).best(1000)
    # n queries cost 15 n and an assessor for every 8 of them: 33 cost 495 + 500, 34 cost 510 + 500
    e_rho2 = 1 / (1 + 2.5 / 33)
    tau = 2 / math.pi * math.asin(math.sqrt(e_rho2))
    near: list[Any] = [pytest.approx(x) for x in (e_rho2, 1 / (1 + 4.5 / 33), tau)]
    assert found == [PricedDesign("CG@3", None, 33, 1, 330, 5, 995.0, *near)]


def test_designs_that_are_equally_good_are_ordered_by_price() -> None:
    study = GStudy(NESTED, np.array([1.0, 1.0, 0.0, 1.0, 0.0]), 10, 20, 1, "given", "CG@5")
    found = Budgeting([Option(study, 1)], Costs(judgment=0.01, query=10), (3, 1, 2)).best(100)
    assert [one.n_assessors for one in found] == [1, 2, 3]
    assert len({one.e_rho2 for one in found}) == 1


def test_a_target_out_of_reach_has_no_design() -> None:
    study = GStudy(CROSSED, np.array([1.0, 1, 0, 1, 0.5, 0, 1]), 10, 20, 1, "given", "CG@5")
    choice = Budgeting([Option(study, 5)], Costs(), (1, 2))
    assert choice.cheapest(0.95) == []
    assert [one.n_assessors for one in choice.cheapest(0.75)] == [2]


def test_a_curve_has_the_option_at_every_size() -> None:
    chosen = option("CG@3", NESTED)
    curve = Budgeting([chosen], Costs()).curve(chosen, 2, [1, 5, 40])
    assert [one.n_queries for one in curve] == [1, 5, 40]
    assert [one.n_judgments for one in curve] == [8, 37, 296]  # 3.7 x 2 x n, rounded up
    assert [one.people for one in curve] == [2, 10, 80]
    assert [one.e_rho2 for one in curve] == pytest.approx(
        [reliability("CG@3", "own", "e_rho2", n, 2) for n in (1, 5, 40)]
    )


def test_judgments_are_whole() -> None:
    assert [whole_judgments(n, 1, 0.1) for n in (1, 10, 11, 30)] == [1, 1, 2, 3]


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


@given(
    prices=st.tuples(st.floats(0.01, 10), st.floats(0, 10), st.floats(0, 10)),
    n_q=st.integers(1, 300),
    n_a=st.integers(1, 4),
    pool=st.floats(0.5, 50),
)
def test_cost_grows_with_everything(prices: tuple[float, float, float], n_q: int, n_a: int, pool: float) -> None:
    costs = Costs(*prices)
    for nested in (True, False):
        here = costs.total(n_q, n_a, pool, nested=nested)
        assert here <= costs.total(n_q + 1, n_a, pool, nested=nested)
        assert here <= costs.total(n_q, n_a + 1, pool, nested=nested)
        assert here <= costs.total(n_q, n_a, pool + 1, nested=nested)


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ({"judgment": -1}, r"^'judgment' must be a finite number of at least 0, got -1$"),
        ({"query": math.nan}, r"^'query' must be a finite number of at least 0, got nan$"),
        ({"assessor": math.inf}, r"^'assessor' must be a finite number of at least 0, got inf$"),
        ({"judgment": 0}, r"^Expected a cost for judgments or for queries: with neither, any collection is free\.$"),
        ({"judgment": 0, "assessor": 5}, r"^Expected a cost for judgments or for queries"),
        ({"workload": 0}, r"^'workload' must be a whole number of at least 1, got 0$"),
    ],
)
def test_prices_that_make_no_sense_are_refused(prices: dict[str, Any], message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        Costs(**prices)


def test_what_cannot_be_chosen_is_refused_in_one_line() -> None:
    chosen = option("CG@5", CROSSED)
    choice = Budgeting([chosen], Costs(query=2), (1, 2))
    with pytest.raises(aj.AdjudgeError, match="A budget of 7 does not buy one query, which costs 8"):  # 2 + ⌈5.25⌉
        choice.best(7)
    assert choice.best(8)[0].n_queries == 1
    for budget in (0, -3, math.nan, math.inf):
        with pytest.raises(aj.AdjudgeError, match=rf"^'budget' must be a finite number above 0, got {budget}$"):
            choice.best(budget)
    for index in ("tau", "Eρ²"):
        with pytest.raises(aj.AdjudgeError, match=rf"^'index' must be one of e_rho2, phi, got '{index}'$"):
            choice.best(100, index=index)
        with pytest.raises(aj.AdjudgeError, match=rf"^'index' must be one of e_rho2, phi, got '{index}'$"):
            choice.cheapest(0.9, index=index)
    with pytest.raises(aj.AdjudgeError, match=r"^'target' must be in \(0, 1\), got 1$"):
        choice.cheapest(1)
    for pool in (0, -1, math.nan, math.inf):
        with pytest.raises(aj.AdjudgeError, match=rf"^Expected a pool of more than 0 documents a query, got {pool}$"):
            Option(chosen.study, pool)
    with pytest.raises(aj.AdjudgeError, match=r"at least one option to choose from.*got none"):
        Budgeting([]).best(10)
    with pytest.raises(aj.AdjudgeError, match=r"^'assessors' must be whole and at least 1, got 0$"):
        Budgeting([chosen], Costs(), (0,)).best(100)


def test_any_budget_has_an_end() -> None:
    found = Budgeting([option("CG@5", CROSSED)], Costs(judgment=1e-12)).best(1e9)
    assert found[0].n_queries == MOST_QUERIES
