"""Constructions side by side, held-out halves, systems by lists, and simulated experts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, pearsonr, ttest_rel

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.groundtruth import (
    PartialLists,
    Preferences,
    Rankings,
    SimulatedRankings,
    build,
    compare_constructions,
    simulate_preferences,
    simulate_rankings,
)
from adjudge.groundtruth.comparing import ComparedConstruction, compare_systems, effectiveness_by_lists
from adjudge.groundtruth.simulated import recovered

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "groundtruth.md"
SMALL = {"queries": 5, "documents": 9, "experts": 12, "groups": 4}


@pytest.fixture(scope="module")
def simulated() -> SimulatedRankings:
    return simulate_rankings(**SMALL, noise=1.5, seed=1)


@pytest.fixture(scope="module")
def runs(simulated: SimulatedRankings) -> aj.Collection:
    """Systems that return the true order more and more shuffled, and one query that no list is of."""
    rng = np.random.default_rng(0)
    systems = {}
    for noise in (0, 2, 4, 8):
        ranked = {
            query: [true.documents[i] for i in np.argsort(np.arange(len(true)) + noise * rng.random(len(true)))]
            for query, true in simulated.truth.items()
        }
        systems[f"s{noise}"] = {**ranked, "other": ["x"]}
    return aj.read(systems)


def test_rows_are_what_each_construction_builds(simulated: SimulatedRankings) -> None:
    compared = compare_constructions(simulated.rankings, ["Any-1", "All-2", "Best-1:signed-rank"], halves=0)
    assert compared.names == ("Any-1", "All-2", "Best-1:signed-rank")
    assert compared.baseline == "All-2"
    for row in compared.rows:
        truth = build(simulated.rankings, row.name)
        assert row.truth.lists == truth.lists
        assert row.adr_1.mean() == pytest.approx(truth.consistency(1))
        assert row.adr_2.mean() == pytest.approx(truth.consistency(2))
        assert np.isnan(row.held_out).all()
        assert row.n_within + row.n_between == sum(len(one) * (len(one) - 1) // 2 for one in truth.lists.values())


def test_tests_and_correlation_are_scipys(simulated: SimulatedRankings) -> None:
    compared = compare_constructions(simulated.rankings, halves=0)
    base, row = compared["All-2"], compared["Any-1"]
    assert np.isnan(base.p_consistency)
    assert row.p_consistency == pytest.approx(ttest_rel(row.adr_1, base.adr_1, alternative="greater").pvalue)
    assert row.p_group_size == pytest.approx(ttest_rel(row.group_size, base.group_size, alternative="less").pvalue)
    assert row.correlation == pytest.approx(pearsonr(row.group_size, row.adr_1).statistic)


def test_held_out_halves_are_by_seed_and_lower_than_what_lists_were_made_for(simulated: SimulatedRankings) -> None:
    told: list[tuple[int, int]] = []

    def compare(seed: int) -> ComparedConstruction:
        options: dict[str, Any] = {"halves": 2, "seed": seed, "progress": lambda *done: told.append(done)}
        return compare_constructions(simulated.rankings, ["Best-1"], **options)["Best-1"]

    first, again, other = (compare(seed).held_out.mean() for seed in (0, 0, 1))
    assert first == again != other
    assert first < compare(0).adr_1.mean()
    assert told[:10] == [(done, 10) for done in range(1, 11)]


def test_halves_of_experts_of_one_mind_agree_and_groups_of_one_size_are_related_to_nothing() -> None:
    orders = [(query, f"e{i}", "abc", "") for i in range(12) for query in "pqr"]
    compared = compare_constructions(Rankings.from_orders(orders), ["Any-1", "All-1:plackett-luce"], halves=2)
    assert [row.held_out.tolist() for row in compared.rows] == [[1.0] * 3] * 2
    assert np.isnan(compared["Any-1"].correlation)


def test_halves_of_preferences_hold_every_pair() -> None:
    rows = [("q", a, b, 1, f"e{i}") for a, b in [("a", "b"), ("b", "c"), ("c", "d")] for i in range(9)]
    compared = compare_constructions(Preferences.from_rows(rows), ["Any-1", "Best-1:bradley-terry"], halves=3)
    assert [row.held_out.tolist() for row in compared.rows] == [[1.0], [1.0]]


def test_a_query_that_halves_share_no_documents_of_has_no_held_out_consistency() -> None:
    alone = Rankings.from_orders([("q", "ann", [["a"], ["b"]], [])])
    assert np.isnan(compare_constructions(alone, ["Any-1"], halves=2)["Any-1"].held_out).all()


def test_systems_are_ranked_by_each_construction(simulated: SimulatedRankings, runs: aj.Collection) -> None:
    """All-2 is the baseline of tests and rankings, wherever it stands; without it the first is."""
    compared = compare_constructions(simulated.rankings, ["Any-1", "Prev-1", "All-2"], runs=runs, halves=0)
    systems = compared.systems
    assert systems is not None
    assert systems.values.shape == (3, 5, 4)
    assert systems.baseline == 2
    assert systems.tau[2] == systems.tau_low[2] == systems.tau_high[2] == 1
    assert systems.tau[0] == pytest.approx(kendalltau(systems.means[0], systems.means[2]).statistic)
    assert (systems.tau_low <= systems.tau).all()
    assert (systems.tau <= systems.tau_high).all()
    grades = build(simulated.rankings, "Any-1").lists.to_grades()
    listed = runs.runs.to_polars().filter(pl.col("query") != "other")
    assert systems.values[0] == pytest.approx(aj.evaluate(aj.read(listed, grades), "ADR").matrix())
    assert "tau" in compared.to_dicts()[1]
    content = compared.to_dict()["systems"]
    assert set(content["means"]["Any-1"]) == set(runs.systems)
    assert content["baseline"] == compared.baseline == "All-2"
    assert compare_constructions(simulated.rankings, ["Any-1", "Prev-1"], halves=0).baseline == "Any-1"
    assert "Rankings of 4 systems by ADR, against All-2" in str(compared).splitlines()


def test_systems_that_change_places_are_counted() -> None:
    orders = {"x": ["a", "b"], "y": ["b", "a"], "z": ["c", "d"], "tied with z": ["d", "c"]}
    runs = aj.read({name: {"q": order} for name, order in orders.items()})
    made = [build(Rankings.from_orders([("q", f"e{i}", order, []) for i in range(9)])) for order in ("ab", "ba")]
    found = compare_systems(made, runs, resamples=5)
    assert found.moved.tolist() == [0, 2]
    assert found.swapped.tolist() == [0, 1]
    assert found.tau.tolist() == pytest.approx([1, (4 - 1) / 5])  # of five pairs that are not tied
    alone = compare_systems(made, aj.read({"x": {"q": ["a", "b"]}}), resamples=5)
    assert np.isnan([alone.tau, alone.tau_low]).all(), "one system has no ranking"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: compare_constructions(r, []), "Constructions: expected some, each once, got none"),
        (lambda r: compare_constructions(r, ["Any-1", "any-1"]), "each once, got Any-1, Any-1"),
        (lambda r: compare_constructions(r, ["Any-1:sign"]), "sign compares preferences; for rankings: "),
        (lambda r: compare_constructions(r, runs=aj.read({"s": {"no": ["a"]}})), "queries in common, got none"),
        (
            lambda r: compare_systems([build(r)], aj.read({"s": {"q1": ["a"]}}), baseline=1),
            "'baseline' must be a whole number from 0 to 0, got 1",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(
    call: Callable[[Rankings], object], message: str, simulated: SimulatedRankings
) -> None:
    with pytest.raises(AdjudgeError, match=message):
        call(simulated.rankings)


def test_lists_that_a_run_lacks_count_nothing_for_it() -> None:
    lists = PartialLists.from_groups({"q": [["a"], ["b"]], "p": [["a"], ["b"]], "unknown": [["a"]]})
    found = effectiveness_by_lists(lists, aj.read({"x": {"q": ["a", "b"], "p": ["a", "b"]}, "y": {"q": ["a", "b"]}}))
    assert found.queries == ("q", "p")
    assert found.matrix().tolist() == [[1.0, 1.0], [1.0, 0.0]]


def test_experts_without_noise_find_the_true_order_and_cannot_split_true_groups() -> None:
    made = simulate_rankings(**SMALL, noise=0, unranked=0)
    for name in ("All-2", "Any-1", "Best-1"):
        found = build(made.rankings, name).lists
        assert [set(map(frozenset, found[q].groups)) for q in found] == [
            set(map(frozenset, made.truth[q].groups)) for q in found
        ]
        assert recovered(found, made.truth).tolist() == [1.0] * 5


def test_more_experts_and_less_noise_recover_more_of_the_truth() -> None:
    def share(experts: int, noise: float) -> float:
        made = simulate_rankings(queries=20, documents=10, experts=experts, groups=4, noise=noise, unranked=0, seed=2)
        return float(recovered(build(made.rankings).lists, made.truth).mean())

    assert share(5, 2.0) < share(40, 2.0) < share(40, 0.3)


def test_simulated_rankings_have_the_shape_asked_for() -> None:
    made = simulate_rankings(queries=3, documents=20, experts=30, groups=6, unranked=0.3, ties=0.5, seed=4)
    assert made.rankings.n_experts == 30
    share = np.mean([np.isnan(one.ranks).mean() for one in made.rankings.queries])
    assert share == pytest.approx(0.3, abs=0.05)
    assert all(len(one.groups) == 6 and len(one) == 20 for one in made.truth.values())
    assert any((one.ranks % 1 == 0.5).any() for one in made.rankings.queries)
    again = simulate_rankings(queries=3, documents=20, experts=30, groups=6, unranked=0.3, ties=0.5, seed=4)
    assert np.array_equal(made.rankings.queries[2].ranks, again.rankings.queries[2].ranks, equal_nan=True)


def test_what_cannot_be_simulated_is_refused() -> None:
    with pytest.raises(AdjudgeError, match="expected from 1 to 25 groups of documents, got 26"):
        simulate_rankings(groups=26)
    with pytest.raises(AdjudgeError, match="expected from 1 to 3 answers about a pair, got 4"):
        simulate_preferences(experts=3, answers=4)


def test_consistency_is_no_guide_where_a_sort_chose_the_pairs() -> None:
    """By held-out answers All-2 looks better than Any-1; it is further from the truth.

    The numbers are those of the table in docs/guides/groundtruth.md: they keep it up to date, and are no outside truth.
    """
    names = ("All-2", "Best-1", "Any-1", "Any-2:bradley-terry")
    found: dict[str, list[list[float]]] = {name: [] for name in names}
    for seed in range(3):
        simulated = simulate_preferences(documents=12, groups=5, seed=seed)
        compared = compare_constructions(simulated.preferences, names, halves=1)
        assert compared.best.name == "Any-1"
        for row in compared.rows:
            true = float(recovered(row.truth.lists, simulated.truth).mean())
            found[row.name].append([true, row.record()["adr_1"], row.record()["held_out"]])
    true, consistent, held_out = np.mean([found[name] for name in names], axis=1).T
    assert true[0] < true[1] < min(true[2:])
    assert consistent[1] == max(consistent)
    assert max(held_out[2:]) < min(held_out[:2])
    page = PAGE.read_text().splitlines()
    first = page.index(f"| | {' | '.join(names)} |") + 2
    printed = [[float(cell) for cell in row.split("|")[2:-1]] for row in page[first : first + 3]]
    for ours, theirs in zip((true, consistent, held_out), printed, strict=True):
        assert ours == pytest.approx(theirs, abs=0.006)


def test_simulated_people_without_noise_sort_as_it_truly_is() -> None:
    simulated = simulate_preferences(queries=3, documents=9, groups=4, noise=0, ties=0, answers=10, seed=3)
    made = build(simulated.preferences, "Any-1:bradley-terry")
    for query, true in simulated.truth.items():
        group = dict(zip(true.documents, true.group_numbers, strict=True))
        places = [group[name] for name in made[query].list.documents]
        assert places == sorted(places)
