"""Comparisons: the numbers are those of the parts, and the two answers are kept apart."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from rich.console import Console
from scipy import stats

import adjudge as aj
from adjudge.stats.paired import PAIRED_TESTS
from adjudge.users.comparison import Comparison, ComparisonTable
from adjudge.users.noticing import find_agreement


@pytest.fixture(scope="module")
def eff() -> aj.Effectiveness:
    return aj.evaluate(aj.demo(queries=40, depth=5), "CG@5")


@pytest.fixture(scope="module")
def compared(eff: aj.Effectiveness) -> Comparison:
    return aj.compare(eff, test="t", correction="holm")


def test_every_pair_is_there_once_with_the_better_system_first(eff: aj.Effectiveness, compared: Comparison) -> None:
    names = {frozenset((pair.system, pair.other)) for pair in compared.pairs}
    assert names == {frozenset(pair) for pair in itertools.combinations(eff.systems, 2)}
    mean = eff.mean()["CG@5"]
    for pair in compared.pairs:
        assert pair.difference == pytest.approx(mean[pair.system] - mean[pair.other], abs=1e-12)
        assert pair.difference >= 0
    assert [p.difference for p in compared.pairs] == sorted((p.difference for p in compared.pairs), reverse=True)


def test_a_pair_agrees_with_scipy(eff: aj.Effectiveness, compared: Comparison) -> None:
    matrix = eff.matrix()
    for pair in compared.pairs[::7]:
        a, b = (matrix[:, eff.systems.index(name)] for name in (pair.system, pair.other))
        result = stats.ttest_rel(a, b)
        interval = result.confidence_interval(0.95)
        assert pair.p == pytest.approx(result.pvalue, rel=1e-9)
        assert (pair.low, pair.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
        assert pair.d_z == pytest.approx((a - b).mean() / (a - b).std(ddof=1))
        assert pair.superiority == pytest.approx(((a > b) + 0.5 * (a == b)).mean())


def test_p_values_are_corrected_over_the_pairs_that_were_compared(eff: aj.Effectiveness) -> None:
    few = aj.compare(eff, test="t", correction="bonferroni", baseline="ZX1")
    assert len(few) == len(eff.systems) - 1
    for pair in few.pairs:
        assert "ZX1" in (pair.system, pair.other)
        assert pair.p_corrected == pytest.approx(min(1.0, 11 * pair.p))
    two = aj.compare(eff, test="t", baseline=["ZX1", "KLN1"])
    assert len(two) == 11 + 10


def test_significant_and_noticeable_are_two_answers(compared: Comparison) -> None:
    for pair in compared.pairs:
        assert pair.prefer is not None
        assert pair.significant == (pair.p_corrected <= 0.05)
        assert pair.noticeable == (pair.prefer > 0.5)
    disagreeing = {pair for pair in compared.pairs if pair.significant != pair.noticeable}
    assert set(compared.parted) == disagreeing
    assert f"Significant and noticeable disagree in {len(disagreeing)} of 66 pairs." in " ".join(str(compared).split())
    assert any(pair.significant and not pair.noticeable for pair in compared.pairs)


def on_fine(values: npt.ArrayLike) -> aj.Effectiveness:
    """Effectiveness of two systems on Fine grades, for which there is a mapping to users."""
    eff = aj.Effectiveness.from_matrix(values, measure="CG@5", systems=["a", "b"])
    return replace(eff, provenance=eff.provenance.with_settings(scale="fine (0..100)"))


def test_shares_of_users_are_the_mean_over_queries_and_add_up() -> None:
    pair = aj.compare(on_fine([[0.9, 0.4], [0.2, 0.5], [0.5, 0.5]]), test="t", correction="none").pairs[0]
    mapping = find_agreement("CG@5", "fine").mapping
    assert mapping is not None
    ahead, behind, even = (mapping(delta) for delta in (0.5, -0.3, 0.0))
    expected = (float(ahead.agree) + float(behind.disagree) + float(even.agree)) / 3
    assert pair.prefer == pytest.approx(expected)
    assert (pair.prefer or 0) + (pair.cannot_tell or 0) + (pair.prefer_other or 0) == pytest.approx(1)


def test_a_combination_without_a_mapping_says_so_and_claims_nothing() -> None:
    eff = aj.evaluate(aj.demo(queries=20, depth=5), "nDCG@5")
    compared = aj.compare(eff, test="t")
    assert compared.margin is None
    assert "no agreement mapping for nDCG@5 on fine" in compared.margin_source
    assert all(pair.noticeable is None and pair.prefer is None and pair.verdict is None for pair in compared.pairs)
    given = aj.compare(eff, test="t", margin=0.1)
    assert {pair.noticeable for pair in given.pairs} == {True, False}


@pytest.mark.parametrize("test", [*PAIRED_TESTS, "friedman-tukey", "tukey", "randomised-tukey"])
def test_every_test_can_be_asked_for(eff: aj.Effectiveness, test: str) -> None:
    compared = aj.compare(eff, test=test, resamples=5000)
    assert compared.pairs[0].significant
    assert all(0 < pair.p <= pair.p_corrected <= 1 for pair in compared.pairs)


def test_too_few_resamples_for_the_number_of_pairs_are_said_aloud(eff: aj.Effectiveness) -> None:
    with pytest.warns(aj.AdjudgeWarning, match=r"With 500 resamples no corrected p-value can be below 0\.13"):
        compared = aj.compare(eff, test="permutation", resamples=500)
    assert not any(pair.significant for pair in compared.pairs)


def test_sentences_are_as_the_papers_recommend(compared: Comparison) -> None:
    pair = compared.pairs[-1]
    half = (pair.high - pair.low) / 2
    assert pair.sentence("CG@5").startswith(f"ΔCG@5 = {pair.difference:.3f} ± {half:.3f} (p = ")
    assert "*" not in str(compared)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "welch"}, "No test is called 'welch'"),
        ({"test": "permutatoin"}, r"No test is called 'permutatoin'\. Did you mean 'permutation'"),
        ({"correction": "tukey"}, "No correction is called 'tukey'"),
        ({"baseline": "nobody"}, "No system is called 'nobody'"),
        ({"test": "tukey", "alternative": "greater"}, "The test 'tukey' is two-sided"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    eff: aj.Effectiveness, options: dict[str, object], message: str
) -> None:
    with pytest.raises(aj.AdjudgeError, match=message) as raised:
        aj.compare(eff, **options)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_what_cannot_be_compared_is_refused(eff: aj.Effectiveness) -> None:
    with pytest.raises(aj.AdjudgeError, match="needs at least two systems, got 1"):
        aj.compare(eff.select(systems=["ZX1"]))
    with pytest.raises(aj.AdjudgeError, match="one measure at a time"):
        aj.compare(aj.evaluate(aj.demo(queries=10, depth=5), "CG@5 RR"))
    with pytest.raises(aj.AdjudgeError, match="quer"):
        aj.compare(eff.select(queries=eff.queries[:1]), test="t")
    runs = {"a": {"q1": ["d"]}, "b": {"q2": ["d"]}}
    with pytest.warns(aj.AdjudgeWarning, match="missing"):
        apart = aj.evaluate(aj.read(runs, {"q1": {"d": 1}, "q2": {"d": 1}}), "RR", missing="drop")
    with pytest.raises(aj.AdjudgeError, match="share no query"):
        aj.compare(apart)


def test_a_one_sided_question_needs_a_baseline_and_is_asked_before_looking(eff: aj.Effectiveness) -> None:
    with pytest.raises(aj.AdjudgeError, match="alternative='greater' needs a baseline"):
        aj.compare(eff, alternative="greater")
    compared = aj.compare(eff, alternative="greater", baseline="BSS1", test="t", correction="none")
    matrix, base = eff.matrix(), eff.systems.index("BSS1")
    assert {pair.other for pair in compared.pairs} == {"BSS1"}
    for pair in compared.pairs:
        column = matrix[:, eff.systems.index(pair.system)]
        expected = stats.ttest_rel(column, matrix[:, base], alternative="greater").pvalue
        assert pair.p == pytest.approx(expected, rel=1e-9)
    assert any(pair.difference < 0 for pair in compared.pairs)


def test_noticeable_agrees_with_what_users_are_said_to_prefer() -> None:
    """Six queries differ by 1, fourteen are tied: the mean difference is large, but most users could not tell."""
    eff = on_fine([[1.0, 0.0]] * 6 + [[0.0, 0.0]] * 14)
    pair = aj.compare(eff, test="t").pairs[0]
    assert pair.difference == pytest.approx(0.3)
    assert pair.prefer is not None
    assert pair.prefer < 0.5
    assert pair.noticeable is False
    assert aj.compare(eff, test="t", margin=0.25).pairs[0].noticeable is True


def test_verdicts_use_the_corrected_answers(eff: aj.Effectiveness) -> None:
    compared = aj.compare(eff, test="t", correction="bonferroni", margin=0.1)
    for pair in compared.pairs:
        assert pair.p_equivalence is not None
        words = ("different", "different but too small to notice") if pair.significant else ("undecided", "equivalent")
        assert pair.verdict == words[pair.p_equivalence <= 0.05]


def test_tests_of_the_family_say_which_queries_they_used() -> None:
    values = np.random.default_rng(3).random((20, 3))
    values[6:, 2] = np.nan
    cube = values[:, :, None]
    with_gaps = aj.Effectiveness(cube, tuple(map(str, range(20))), ("a", "b", "c"), ("X",), cube)
    with pytest.warns(aj.AdjudgeWarning, match="use the 6 of 20 queries that every system has"):
        compared = aj.compare(with_gaps, test="tukey")
    assert {pair.n_queries for pair in compared.pairs} == {6}
    first = compared.of("a", "b")
    assert abs(first.difference) == pytest.approx(abs(values[:6, 0].mean() - values[:6, 1].mean()))


def test_the_bootstrap_is_warned_of_with_few_queries(eff: aj.Effectiveness) -> None:
    with pytest.warns(aj.AdjudgeWarning, match="finds too much with 10 queries"):
        aj.compare(eff.select(queries=eff.queries[:10]), test="bootstrap", resamples=2000)


def test_more_pairs_get_more_resamples_and_a_least_p_is_marked(eff: aj.Effectiveness) -> None:
    compared = aj.compare(eff)
    assert compared.resamples == 100_000
    assert compared.pairs[0].p_is_least
    assert compared.pairs[0].shown_p.startswith("≤ ")
    wide = aj.Effectiveness.from_matrix(np.random.default_rng(1).random((25, 40)))
    assert (aj.compare(wide).resamples or 0) >= 10 * 780 / 0.05


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_intervals_can_be_bootstrapped(eff: aj.Effectiveness, interval: Literal["percentile", "bca"]) -> None:
    by_t, by_bootstrap = aj.compare(eff, test="t"), aj.compare(eff, test="t", interval=interval)
    for one in by_t.pairs[::9]:
        other = by_bootstrap.of(one.system, one.other)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.02)
        assert "[" in other.sentence("CG@5")
    assert aj.summarize(eff, interval=interval)[0].low == pytest.approx(aj.summarize(eff)[0].low, abs=0.02)


def test_equivalence_is_by_the_test_that_is_chosen(eff: aj.Effectiveness) -> None:
    """A few large differences move the mean, not the median: only the sign test calls these two equivalent."""
    values = np.full((30, 2), 0.5)
    values[:, 0] += np.random.default_rng(1).normal(0, 0.001, 30)
    values[:4, 0] += 0.4
    skewed = aj.Effectiveness.from_matrix(values, systems=["a", "b"])
    verdicts = {test: aj.compare(skewed, test=test, margin=0.05).pairs[0] for test in ("t", "permutation", "sign")}
    assert verdicts["sign"].verdict == "equivalent"
    for test in ("t", "permutation"):
        assert verdicts[test].verdict not in {"equivalent", "different but too small to notice"}
    above = stats.binomtest(30, 30, alternative="greater").pvalue, stats.binomtest(26, 30, alternative="greater").pvalue
    assert verdicts["sign"].p_equivalence == pytest.approx(max(above))
    for test in ("tukey", "randomised-tukey", "friedman-tukey"):
        assert aj.compare(eff, test=test, resamples=1000).pairs[0].p_equivalence is not None


def test_equivalence_from_few_queries_says_that_it_is_liberal() -> None:
    rng = np.random.default_rng(2)
    for n, said in ((30, True), (150, False)):
        close = aj.Effectiveness.from_matrix(0.5 + rng.normal(0, 0.01, (n, 2)))
        found = aj.compare(close, test="t", margin=0.05)
        assert found.pairs[0].verdict == "equivalent"
        assert any("too often with few queries" in text for text in found.cautions) == said
    assert aj.compare(close, test="t", margin=1e-6).cautions == ()


def test_tests_that_are_not_about_means_show_their_own_estimate(eff: aj.Effectiveness) -> None:
    matrix = eff.matrix()
    for test, estimand in (("wilcoxon", "pseudo-median"), ("sign", "share of wins"), ("t", "mean difference")):
        found = aj.compare(eff, test=test)
        for pair in found.pairs[::9]:
            d = np.round(np.subtract(*(matrix[:, eff.systems.index(name)] for name in (pair.system, pair.other))), 12)
            walsh = (d[:, None] + d)[np.triu_indices(len(d))] / 2
            expected = {"wilcoxon": np.median(walsh), "sign": (d > 0).sum() / (d != 0).sum(), "t": d.mean()}[test]
            assert pair.estimand == estimand
            assert pair.estimate == pytest.approx(expected, abs=1e-9)
        among = " among the queries that differ" if test == "sign" else ""
        said = f"about the {estimand}{among}, not the mean"
        assert any(said in text for text in found.cautions) == (test != "t")
        assert (estimand in found.pairs[0].sentence("CG@5")) == (test != "t")
        assert {"estimand", "estimate"} < found.to_dicts()[0].keys()


def test_possible_ranks_follow_from_the_decisions_and_are_below_the_pairs(eff: aj.Effectiveness) -> None:
    compared = aj.compare(eff, test="t")
    shown = {row.system: (row.rank_low, row.rank_high) for row in compared.ranks()}
    for system in compared.systems:
        worse = sum(pair.significant and pair.system == system for pair in compared)
        better = sum(pair.significant and pair.other == system for pair in compared)
        assert shown[system] == (1 + better, len(compared.systems) - worse)
    table = ComparisonTable((compared, aj.compare(eff, test="t", correction="bh")), (), None)
    ranks = json.loads(table.text("json"))["ranks"]
    assert {row["system"]: (row["rank_low"], row["rank_high"]) for row in ranks} == shown
    assert {row["measure"] for row in ranks} == {compared.measure}
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(table.drawing())
    text = console.export_text()
    assert text.count("ranks that are possible") == 1  # not by bh
    assert text.index("Noticeable") < text.index("ranks that are possible")
