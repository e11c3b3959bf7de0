"""Constructions side by side, held-out halves, systems by lists, and simulated experts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
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
from adjudge.groundtruth.comparing import _pearson, compare_systems, effectiveness_by_lists
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
            query: [one.documents[i] for i in np.argsort(np.arange(len(one)) + noise * rng.random(len(one)))]
            for query, one in simulated.truth.items()
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
    def held_out(seed: int) -> float:
        return float(
            compare_constructions(simulated.rankings, ["Best-1"], halves=2, seed=seed)["Best-1"].held_out.mean()
        )

    compared = compare_constructions(simulated.rankings, ["Best-1"], halves=2)
    assert held_out(0) == held_out(0) != held_out(1)
    assert compared["Best-1"].held_out.mean() < compared["Best-1"].adr_1.mean()


def test_halves_of_experts_of_one_mind_agree() -> None:
    rankings = Rankings.from_orders([("q", f"e{i}", [["a"], ["b"], ["c"]], []) for i in range(12)])
    compared = compare_constructions(rankings, ["Any-1", "All-1:plackett-luce"], halves=2)
    assert [row.held_out.tolist() for row in compared.rows] == [[1.0], [1.0]]


def test_halves_of_preferences_hold_every_pair() -> None:
    rows = [("q", a, b, 1, f"e{i}") for a, b in [("a", "b"), ("b", "c"), ("c", "d")] for i in range(9)]
    compared = compare_constructions(Preferences.from_rows(rows), ["Any-1", "Best-1:bradley-terry"], halves=3)
    assert [row.held_out.tolist() for row in compared.rows] == [[1.0], [1.0]]


def test_a_query_that_halves_share_no_documents_of_has_no_held_out_consistency() -> None:
    alone = Rankings.from_orders([("q", "ann", [["a"], ["b"]], [])])
    assert np.isnan(compare_constructions(alone, ["Any-1"], halves=2)["Any-1"].held_out).all()


def test_systems_are_ranked_by_each_construction(simulated: SimulatedRankings, runs: aj.Collection) -> None:
    compared = compare_constructions(simulated.rankings, ["All-2", "Any-1"], runs=runs, halves=0)
    systems = compared.systems
    assert systems is not None
    assert systems.values.shape == (2, 5, 4)
    assert systems.tau[0] == systems.tau_low[0] == 1
    assert systems.tau[1] == pytest.approx(kendalltau(systems.means[1], systems.means[0]).statistic)
    assert (systems.tau_low <= systems.tau).all()
    assert (systems.tau <= systems.tau_high).all()
    grades = build(simulated.rankings, "Any-1").lists.to_grades()
    ranked = {name: {q: d for q, d in rows.items() if q != "other"} for name, rows in as_dicts(runs).items()}
    expected = aj.evaluate(aj.read(ranked, grades), "ADR").matrix()
    assert systems.values[1] == pytest.approx(expected)
    assert "tau" in compared.to_dicts()[1]


def as_dicts(runs: aj.Collection) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for row in runs.runs.to_polars().iter_rows(named=True):
        found.setdefault(row["system"], {}).setdefault(row["query"], []).append(row["document"])
    return found


def test_systems_that_change_places_are_counted() -> None:
    runs = aj.read({"x": {"q": ["a", "b"]}, "y": {"q": ["b", "a"]}, "z": {"q": ["c", "d"]}})
    one = Rankings.from_orders([("q", f"e{i}", [["a"], ["b"]], []) for i in range(9)])
    other = Rankings.from_orders([("q", f"e{i}", [["b"], ["a"]], []) for i in range(9)])
    found = compare_systems([build(one), build(other)], runs, resamples=5)
    assert found.moved.tolist() == [0, 2]
    assert found.swapped.tolist() == [0, 1]
    assert found.tau.tolist() == pytest.approx([1, 1 / 3])


def test_a_single_system_has_no_tau() -> None:
    made = build(Rankings.from_orders([("q", f"e{i}", [["a"], ["b"]], []) for i in range(9)]))
    found = compare_systems([made, made], aj.read({"x": {"q": ["a", "b"]}}), resamples=5)
    assert np.isnan(found.tau).all()
    assert np.isnan(found.tau_low).all()


def test_results_are_plain_and_print_a_table(simulated: SimulatedRankings, runs: aj.Collection) -> None:
    compared = compare_constructions(simulated.rankings, ["All-2", "Any-1"], runs=runs, halves=1)
    content = json.loads(json.dumps(compared.to_dict(), allow_nan=False))
    assert [one["construction"] for one in content["constructions"]] == ["All-2", "Any-1"]
    assert set(content["systems"]["means"]["Any-1"]) == set(runs.systems)
    assert str(compared).splitlines()[0] == "Consistency of lists for 5 queries, by mann-whitney at 0.25"
    assert "Rankings of 4 systems by ADR, against All-2" in str(compared).splitlines()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: compare_constructions(r, []), "Constructions: expected some, each once, got none"),
        (lambda r: compare_constructions(r, ["Any-1", "any-1"]), "each once, got Any-1, Any-1"),
        (lambda r: compare_constructions(r, halves=-1), "'halves' must be a whole number of at least 0, got -1"),
        (lambda r: compare_constructions(r, ["Any-1:sign"]), "sign compares preferences; for rankings: "),
        (lambda r: compare_constructions(r, runs=aj.read({"s": {"no": ["a"]}})), "queries in common, got none"),
        (lambda r: compare_systems([build(r)], aj.read({"s": {"q1": ["a"]}}), resamples=0), "at least 1, got 0"),
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queries": 0}, "'queries' must be a whole number of at least 1, got 0"),
        ({"groups": 26}, "expected from 1 to 25 groups of documents, got 26"),
        ({"unranked": 1.0}, r"'unranked' must be in \[0, 1\), got 1"),
        ({"noise": -1.0}, "'noise' must be a finite number of at least 0, got -1"),
        ({"ties": float("inf")}, "'ties' must be a finite number of at least 0, got inf"),
    ],
)
def test_what_cannot_be_simulated_is_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        simulate_rankings(**options)  # type: ignore[arg-type]


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
    for query, one in simulated.truth.items():
        group = {name: number for number, names in enumerate(one.groups) for name in names}
        places = [group[name] for name in made[query].list.documents]
        assert places == sorted(places)


def test_rankings_of_systems_and_tests_have_the_same_baseline_wherever_it_stands(
    simulated: SimulatedRankings, runs: aj.Collection
) -> None:
    found = compare_constructions(simulated.rankings, ["Any-1", "Prev-1", "All-2"], runs=runs, halves=0)
    systems = found.systems
    assert systems is not None
    assert systems.baseline == 2
    assert systems.tau[2] == systems.tau_low[2] == systems.tau_high[2] == 1
    assert systems.tau[0] == pytest.approx(kendalltau(systems.means[0], systems.means[2]).statistic)
    assert found.to_dict()["systems"]["baseline"] == found.baseline == "All-2"
    other = compare_constructions(simulated.rankings, ["Any-1", "Prev-1"], runs=runs, halves=0).systems
    assert other is not None
    assert other.to_dict()["baseline"] == "Any-1"


def test_a_baseline_that_is_not_there_is_refused(simulated: SimulatedRankings, runs: aj.Collection) -> None:
    with pytest.raises(AdjudgeError, match="'baseline' must be a place from 0 to 0, got 1"):
        compare_systems([build(simulated.rankings)], runs, baseline=1)


def test_halves_done_are_told(simulated: SimulatedRankings) -> None:
    told: list[tuple[int, int]] = []
    compare_constructions(simulated.rankings, ["Any-1"], halves=2, progress=lambda *done: told.append(done))
    assert told == [(done, 10) for done in range(1, 11)]


def test_groups_of_one_size_are_related_to_nothing() -> None:
    sizes, consistency = np.array([0.1 + 0.2, 0.3, 0.3]), np.array([0.5, 0.6, 0.7])
    assert np.isnan(_pearson(sizes, consistency)).all()
