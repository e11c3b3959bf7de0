"""Partially ordered lists: the paper's worked examples, and tests and models against other programs."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import choix
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest, mannwhitneyu, permutation_test, wilcoxon
from statsmodels.duration.api import PHReg  # type: ignore[import-untyped]

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.groundtruth import (
    Evidence,
    PartialLists,
    Preferences,
    RankedQuery,
    build,
    compare_constructions,
    inconsistencies,
    list_consistency,
    simulate_rankings,
)
from adjudge.groundtruth.comparing import effectiveness_by_lists
from adjudge.groundtruth.comparisons import sign_tests, signed_rank, smaller_ranks, u_statistic
from adjudge.groundtruth.files import read_preferences
from adjudge.groundtruth.strengths import bradley_terry, plackett_luce


def evidence_of(names: str, alike: set[str]) -> Evidence:
    """Documents in order, all pairs significantly different but those named."""
    n = len(names)
    p = np.where(np.triu(np.ones((n, n)), 1) > 0, 0.01, 0.99)
    for i, j in ((names.index(pair[0]), names.index(pair[1])) for pair in alike):
        p[i, j] = p[j, i] = 0.5
    nothing = np.zeros(n)
    return Evidence("q", tuple(names), p, ~np.eye(n, dtype=np.bool_), nothing, nothing, nothing, nothing)


def test_adr_of_table_1_through_a_list() -> None:
    lists = PartialLists.from_groups({"q": [["A", "B"], ["C"], ["D", "E", "F"]]})
    runs = aj.read({"system": {"q": ["B", "C", "A", "G", "H", "D"]}})
    assert f"{effectiveness_by_lists(lists, runs).matrix()[0, 0]:.3f}" == "0.753"


@pytest.mark.parametrize("tails", [1, 2])
def test_consistency_of_table_2(tails: int) -> None:
    evidence = evidence_of("ABCDEF", {"AB", "AC", "DE", "EF"})
    group = np.array([0, 0, 1, 2, 2, 2])
    assert list_consistency(evidence, group, alpha=0.25, tails=tails) == pytest.approx(0.86)  # type: ignore[arg-type]
    wrong = inconsistencies(evidence, group, alpha=0.25, tails=1)
    assert wrong.inter.tolist() == [[0, 2]]  # A and C are not different
    assert wrong.intra.tolist() == [[3, 5]]  # D and F are


def samples_with(u: int, n: int = 15, m: int = 21) -> tuple[Floats, Floats]:
    """Samples of n and m ranks without ties in which the first is the larger in u of n x m pairs."""
    high, rest = divmod(u, m)
    x = [-1.0 - i for i in range(n - high - (rest > 0))] + [100.0 + i for i in range(high)]
    x += [rest - 0.5] if rest else []
    return np.array(x), np.arange(float(m))


def as_ranks(x: Floats, y: Floats) -> Floats:
    """Two samples as columns of ranks, from different people."""
    ranks = np.full((len(x) + len(y), 2), np.nan)
    ranks[: len(x), 0], ranks[len(x) :, 1] = x, y
    return ranks


@pytest.mark.parametrize(
    ("u", "one_tailed", "two_tailed"),
    # 121 and 136 are the least that do not reject for samples of 15 and 21
    [(120, True, True), (121, True, False), (131, True, False), (135, True, False), (136, False, False)],
)
def test_the_u_test_of_the_appendix(u: int, one_tailed: bool, two_tailed: bool) -> None:
    x, y = samples_with(u)
    assert u_statistic(x, y) == u
    p = smaller_ranks(as_ranks(x, y))
    assert (p[0, 1] <= 0.25) == one_tailed
    assert (2 * min(p[0, 1], p[1, 0]) <= 0.25) == two_tailed
    assert p[0, 1] == pytest.approx(mannwhitneyu(x, y, alternative="less", method="exact").pvalue)


def test_mann_whitney_is_scipys_with_and_without_ties() -> None:
    rng = np.random.default_rng(5)
    ranks = rng.integers(1, 9, size=(23, 4)).astype(np.float64)
    ranks[rng.random(ranks.shape) < 0.2] = np.nan
    smooth = rng.normal(size=(14, 4))
    for data, ours, theirs in [(ranks, "normal", "asymptotic"), (smooth, "exact", "exact"), (smooth, "auto", "exact")]:
        p = smaller_ranks(data, method=ours)  # type: ignore[arg-type]
        for i, j in [(0, 1), (1, 0), (2, 3), (3, 1)]:
            x, y = (column[np.isfinite(column)] for column in (data[:, i], data[:, j]))
            assert p[i, j] == pytest.approx(mannwhitneyu(x, y, alternative="less", method=theirs).pvalue)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_mann_whitney_is_the_same_in_both_directions(n: int) -> None:
    low, high = np.arange(1.0, n + 1), np.arange(n + 1.0, 2 * n + 1)
    forth, back = smaller_ranks(as_ranks(low, high)), smaller_ranks(as_ranks(high, low))
    assert forth[0, 1] == back[1, 0] == 1 / math.comb(2 * n, n)  # exactly: at .05, three experts against three decide


def test_mann_whitney_with_ties_is_exactly_the_permutation_test() -> None:
    x, y = np.array([1.0, 2, 2, 3, 7]), np.array([2.0, 3, 3, 8])
    p = smaller_ranks(as_ranks(x, y), method="exact")
    for places, alternative in [((0, 1), "less"), ((1, 0), "greater")]:
        done = permutation_test((x, y), u_statistic, alternative=alternative, n_resamples=np.inf)
        assert p[places] == pytest.approx(done.pvalue)


def test_signed_ranks_are_scipys() -> None:
    ranks = np.random.default_rng(6).normal([0.0, 0.3, 0.5], size=(20, 3))
    asked = RankedQuery("q", ("a", "b", "c"), tuple(f"e{i}" for i in range(20)), ranks)
    found = signed_rank(asked, seed=0).for_documents(asked.documents)
    for i, j in [(0, 1), (2, 0), (1, 2)]:
        expected = wilcoxon(ranks[:, i], ranks[:, j], alternative="less", method="exact").pvalue
        assert found.sooner[i, j] == pytest.approx(expected)


def test_sign_tests_are_scipys() -> None:
    p = sign_tests(np.array([[0.0, 6.0], [1.0, 0.0]]), np.array([[0.0, 3.0], [3.0, 0.0]]))
    assert p[0, 1] == pytest.approx(binomtest(7, 9, alternative="greater").pvalue)  # 6 + 1 of 7 + 2 x 1
    assert p[1, 0] == pytest.approx(binomtest(2, 9, alternative="greater").pvalue)


def test_bradley_terry_is_that_of_choix() -> None:
    rng = np.random.default_rng(7)
    wins = rng.integers(0, 9, size=(6, 6)).astype(np.float64)
    np.fill_diagonal(wins, 0)
    data = [(i, j) for i in range(6) for j in range(6) for _ in range(int(wins[i, j]))]
    for prior in (3.0, 1e4):
        theirs = choix.opt_pairwise(6, data, alpha=1 / (2 * prior**2), tol=1e-10)
        assert bradley_terry(wins, np.zeros((6, 6)), prior=prior).value == pytest.approx(
            theirs - theirs.mean(), abs=1e-5
        )


def test_davidsons_ties_are_what_a_general_optimiser_finds() -> None:
    rng = np.random.default_rng(8)
    wins, alike = rng.integers(1, 9, size=(2, 4, 4)).astype(np.float64)
    alike = np.triu(alike, 1) + np.triu(alike, 1).T
    np.fill_diagonal(wins, 0)

    def against(at: Floats) -> float:
        worth, nu, total = np.exp(at[:4]), np.exp(at[4]), 0.0
        for i in range(4):
            for j in range(i + 1, 4):
                middle = nu * np.sqrt(worth[i] * worth[j])
                chances = np.array([worth[i], worth[j], middle]) / (worth[i] + worth[j] + middle)
                total -= np.array([wins[i, j], wins[j, i], alike[i, j]]) @ np.log(chances)
        return float(total)

    expected = minimize(against, np.zeros(5), tol=1e-12).x
    found = bradley_terry(wins, alike, prior=1e4)
    assert found.value == pytest.approx(expected[:4] - expected[:4].mean(), abs=1e-4)
    assert found.extra[0] == pytest.approx(expected[4], abs=1e-4)


def test_plackett_luce_is_that_of_choix() -> None:
    rng = np.random.default_rng(9)
    orders = [rng.permutation(6)[: rng.integers(2, 7)] for _ in range(30)]
    ranks = np.full((30, 6), np.nan)
    for row, order in zip(ranks, orders, strict=True):
        row[order] = np.arange(len(order))
    for prior in (3.0, 1e4):
        theirs = choix.opt_rankings(6, [tuple(order) for order in orders], alpha=1 / (2 * prior**2), tol=1e-10)
        assert plackett_luce(ranks, prior=prior).value == pytest.approx(theirs - theirs.mean(), abs=1e-5)


def test_ties_are_those_of_a_stratified_cox_regression_with_its_errors() -> None:
    rng = np.random.default_rng(10)
    ranks = np.round(rng.normal(np.arange(5) * 0.5, 1.5, size=(25, 5))).astype(np.float64) + 10
    who, document = np.indices(ranks.shape).reshape(2, -1)
    columns = (document[:, None] == np.arange(1, 5)).astype(np.float64)  # the first document is at 0
    theirs = PHReg(ranks.ravel(), columns, strata=who, ties="efron").fit(disp=0)
    ours = plackett_luce(ranks, prior=1e4)
    assert ours.value[1:] - ours.value[0] == pytest.approx(theirs.params, abs=1e-5)
    spread = np.diag(ours.covariance)
    errors = np.sqrt(spread[1:] + spread[0] - 2 * ours.covariance[0, 1:])
    assert errors == pytest.approx(theirs.bse, rel=1e-4)


def test_simulated_experts_order_the_functions_as_the_paper_found() -> None:
    compared = compare_constructions(simulate_rankings(queries=50).rankings, halves=0)  # one of a few may go astray
    record = {one["construction"]: one for one in compared.to_dicts()}
    for tails in (1, 2):
        lenient, neighbours, strict = (record[f"{name}-{tails}"] for name in ("All", "Prev", "Any"))
        assert lenient["adr_1"] < neighbours["adr_1"] < strict["adr_1"]
        assert lenient["documents_per_group"] > neighbours["documents_per_group"] > strict["documents_per_group"]
    assert min(record, key=lambda name: record[name]["adr_1"]) == "All-2"
    assert max(record, key=lambda name: record[name]["adr_1"]) == "Any-1"
    assert max(one["correlation"] for one in record.values()) < -0.2
    assert record["Any-1"]["p_consistency"] < 0.05


def preferences_2010(folder: Path) -> Preferences:
    with pytest.warns(aj.AdjudgeWarning, match="5 "):
        return read_preferences(folder / "preferences-2010" / "judgments.csv")


def test_preferences_of_2010_make_a_list_a_query_that_an_outsider_can_check(shared_data: Path) -> None:
    preferences = preferences_2010(shared_data)
    assert (len(preferences.queries), preferences.n_answers + preferences.n_blank) == (11, 2810)
    truth = build(preferences, "Any-1")
    asked = {one.query: one for one in preferences.queries}
    for query, built in truth.items():
        assert query in built.list.groups[0]  # the query itself was among its documents: nothing is more similar
        assert set(built.list.documents) == set(asked[query].documents)
        wins, alike = asked[query].wins, asked[query].alike
        place = {name: i for i, name in enumerate(asked[query].documents)}
        for group in built.list.groups:
            for i, j in combinations([place[name] for name in group], 2):
                more, n = wins[i, j] + alike[i, j] // 2, wins[i, j] + wins[j, i] + alike[i, j] // 2 * 2
                assert n == 0 or 0.25 < binomtest(int(more), int(n), alternative="greater").pvalue <= 1
