"""Procedures as they are written and run, subsets that do not overlap, pairs on both, and what is refused."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.experiments.trial_runs import samples

from adjudge.arrays import Ints
from adjudge.errors import AdjudgeError
from adjudge.experiments import Experiment, Fit, Power, Reliability, Stability
from adjudge.experiments.comparing import (
    FIVE_TESTS,
    Procedure,
    draw_subsets,
    parse_procedure,
    parse_procedures,
    run_procedures,
)
from adjudge.experiments.run import run_chunk

VALUES = np.random.default_rng(0).random((12, 4)) + np.array([0.0, 0.1, 0.3, 0.5])
SAMPLES = samples({"AP": VALUES, "RR": VALUES + 1})


def test_a_chunk_has_a_row_for_every_trial_size_sample_and_pair() -> None:
    rows = run_chunk(Power(sizes=(5, 8), procedures=("t",)), SAMPLES, 0, 3)
    assert rows.height == 3 * 2 * 2 * 6
    assert rows.columns == ["trial", "sample", "n_queries", "system", "other", "difference", "t"]
    assert rows.select("system", "other").rows()[:6] == list(combinations(SAMPLES.systems, 2))


def test_measures_of_the_same_queries_are_drawn_together() -> None:
    rows = run_chunk(Power(sizes=(5,), procedures=("t",)), SAMPLES, 0, 4)
    first, second = (rows.filter(rows["sample"] == name)["t"].to_numpy() for name in SAMPLES.names)
    np.testing.assert_allclose(first, second, rtol=1e-6)  # the second is the first and a constant


def test_all_queries_give_the_p_values_of_scipy() -> None:
    rows = run_chunk(Power(sizes=(12,), procedures=("t",)), SAMPLES, 0, 1)
    assert rows["t"][0] == pytest.approx(scipy.stats.ttest_rel(VALUES[:, 0], VALUES[:, 1]).pvalue)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (Power(sizes=(5, 13)), "power: a set of 13 queries needs 13, got 12 of AP"),
        (Stability(sizes=(7,)), "stability: 2 disjoint sets of 7 queries need 14, got 12 of AP"),
        (Reliability(sizes=(7,)), "reliability: 2 disjoint sets of 7 queries need 14, got 12 of AP"),
        (Fit(sizes=(12,)), "fit: a set of 12 queries needs 12 and 1 left over, got 12 of AP"),
    ],
    ids=str,
)
def test_sizes_that_the_smallest_sample_does_not_have_are_refused(spec: Experiment, words: str) -> None:
    with pytest.raises(AdjudgeError, match=words):
        spec.prepared(samples({"P": np.eye(20, 4), "AP": VALUES}))


def test_sizes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(AdjudgeError, match="'sizes' must be a whole number of at least 2, got 1"):
        Power(sizes=(1,))
    with pytest.raises(AdjudgeError, match="power: expected each size once, got 5, 5"):
        Power(sizes=(5, 5))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Ints, int, int, int]:
    stratum = np.array(draw(st.lists(st.integers(0, 4), min_size=2, max_size=40)), dtype=np.int64)
    count = draw(st.integers(1, 2))
    size = draw(st.integers(1, len(stratum) // count))
    return stratum, size, count, draw(st.integers(0, 10**6))


@given(cases())
def test_subsets_are_disjoint_in_order_balanced_and_depend_on_the_seed_alone(case: tuple[Ints, int, int, int]) -> None:
    stratum, size, count, seed = case
    found, again = (draw_subsets(np.random.default_rng(seed), stratum.copy(), size, count=count) for _ in range(2))
    assert np.array_equal(found, again)
    assert found.shape == (count, size)
    assert len(set(found.ravel().tolist())) == size * count
    assert (np.diff(found, axis=1) > 0).all()
    assert 0 <= found.min() <= found.max() < len(stratum)
    parts = np.array([np.bincount(stratum[subset], minlength=5) for subset in found])
    assert (parts.max(axis=0) - parts.min(axis=0)).max() <= 1
    has_more = parts.sum(axis=0) < np.bincount(stratum, minlength=5)
    if has_more.any():
        assert parts.sum(axis=0).max() - parts.sum(axis=0)[has_more].min() <= 1


def test_every_query_is_as_likely_as_any_other_of_its_stratum() -> None:
    rng, stratum = np.random.default_rng(3), np.repeat([0, 1], 5)
    drawn = np.concatenate([draw_subsets(rng, stratum, 4).ravel() for _ in range(2000)])
    # each of 10 queries is drawn with probability 0.4: binomial, four standard deviations
    assert np.abs(np.bincount(drawn) / 2000 - 0.4).max() < 4 * np.sqrt(0.4 * 0.6 / 2000)


def test_more_queries_than_there_are_are_refused() -> None:
    with pytest.raises(AdjudgeError, match="2 disjoint sets of 3 queries need 6, got 5"):
        draw_subsets(np.random.default_rng(0), np.zeros(5, dtype=np.int64), 3, count=2)


@given(
    st.sampled_from(FIVE_TESTS),
    st.booleans(),
    st.sampled_from(["none", "bonferroni", "holm"]),
    st.sampled_from([0.05, 0.01, 0.001, 0.1, 1e-5]),
    st.floats(0, 1),
)
def test_a_procedure_prints_and_parses_back(test: str, one_sided: bool, by: str, alpha: float, least: float) -> None:
    procedure = Procedure(test, one_sided, by, alpha, least if test == "sign" else 0.0)
    assert parse_procedure(str(procedure)) == procedure


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a test such as t, wilcoxon-1@0.01, bootstrap\\+holm or .*, got ''"),
        ("wilcox", "No test is called 'wilcox'. Did you mean 'wilcoxon'"),
        ("t+homl", "No correction is called 'homl'. Did you mean 'holm'"),
        ("t@five", "expected a level such as 0.01 after the @, got 'five'"),
        ("t@1.5", "'alpha' must be in \\(0, 1\\), got 1.5"),
        ("friedman-tukey-1", "friedman-tukey is two-sided and corrects for all pairs itself"),
        ("friedman-tukey+holm", "friedman-tukey is two-sided and corrects for all pairs itself"),
        ("t(min_difference=0.01)", "t: takes no 'min_difference'"),
        ("tukey(min_difference=0.01)", "tukey: takes no 'min_difference'"),
        ("sign(min_difference=-1)", "sign: 'min_difference' must be a finite number of at least 0, got -1"),
        ("sign(min_difference=small)", "sign: 'min_difference' must be a finite number of at least 0, got 'small'"),
        ("sign(least=0.01)", "sign: expected a parameter such as min_difference=0.01 in brackets, got 'least'"),
        ("sign(0.01)", "sign: expected a parameter such as min_difference=0.01 in brackets, got '0.01'"),
    ],
)
def test_what_is_no_procedure_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(AdjudgeError, match=words):
        parse_procedure(text)


def test_the_same_p_values_twice_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"each test once.*got 't' twice: .* show FOLDER --alpha"):
        parse_procedures(["t", "t@0.01"])
    with pytest.raises(AdjudgeError, match="expected at least one test, got none"):
        parse_procedures([])


def test_p_values_are_those_of_scipy_with_the_better_system_first() -> None:
    values = np.random.default_rng(5).random((12, 3)) + np.array([0.0, 0.2, 0.1])
    (found,) = run_procedures([values], parse_procedures(["t", "t-1", "t+bonferroni"]), resamples=100, seed=0)
    assert {-1.0, 1.0} <= set(np.sign(found.difference))
    for place, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        assert found.difference[place] == pytest.approx((values[:, a] - values[:, b]).mean())
        best, worst = (a, b) if found.difference[place] > 0 else (b, a)
        two = scipy.stats.ttest_rel(values[:, a], values[:, b]).pvalue
        one = scipy.stats.ttest_rel(values[:, best], values[:, worst], alternative="greater").pvalue
        assert found.p["t"][place] == pytest.approx(two)
        assert found.p["t-1"][place] == pytest.approx(one)
        assert found.p["t+bonferroni"][place] == pytest.approx(min(1.0, 3 * two))


def test_small_differences_are_ties_of_the_sign_test_that_asks_for_it() -> None:
    values = np.array([[0.505, 0.5], [0.6, 0.5], [0.7, 0.5], [0.4, 0.5], [0.8, 0.5], [0.495, 0.5]])
    (found,) = run_procedures(
        [values], parse_procedures(["sign", "sign(min_difference=0.01)", "sign(min_difference=0.01)-1"]),
        resamples=100, seed=0,
    )  # fmt: skip
    assert found.p["sign"][0] == pytest.approx(scipy.stats.binomtest(4, 6).pvalue)
    assert found.p["sign(min_difference=0.01)"][0] == pytest.approx(scipy.stats.binomtest(3, 4).pvalue)
    one_sided = scipy.stats.binomtest(3, 4, alternative="greater").pvalue
    assert found.p["sign(min_difference=0.01)-1"][0] == pytest.approx(one_sided)


def test_the_unit_of_a_discrete_measure_changes_no_p_value() -> None:
    """Five queries each way: means are equal but for rounding, which must not say which system a tail is of."""
    whole = np.array([[1, 3], [3, 1], [2, 3], [3, 2], [6, 1], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2]])
    procedures = parse_procedures(["wilcoxon-1", "sign-1", "wilcoxon", "friedman-tukey"])
    truth, *scaled = run_procedures([whole / unit for unit in (1.0, 10, 3, 7)], procedures, resamples=100, seed=0)
    assert truth.difference.tolist() == [0.0]
    for found in scaled:
        for name, p in truth.p.items():
            assert found.p[name] == pytest.approx(p)
