"""Paired tests: the result, what is asked for, exact distributions, resamples."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from adjudge.errors import AdjudgeError
from adjudge.model.effectiveness import Effectiveness
from adjudge.stats import resampling
from adjudge.stats.paired import PAIRED_TESTS, TINY, paired_tests, pseudo_median

MATRIX = np.array([[0.5, 0.3, 0.1], [0.6, 0.4, 0.5], [0.9, 0.6, 0.2], [0.4, 0.3, 0.3]])


def test_the_result_keeps_what_made_it_and_prints_its_first_rows() -> None:
    result = paired_tests(np.random.default_rng(0).random((30, 9)), test="bootstrap", resamples=1000, seed=7)
    assert (result.test, result.alternative, result.systems[:2]) == ("bootstrap", "two-sided", ("s1", "s2"))
    assert (result.resamples, result.seed, result.correction) == (1000, 7, "none")
    assert (result.n == 30).all()
    assert str(result).startswith("bootstrap test, two-sided, 9 systems, 1,000 resamples, seed 7\n")
    assert str(result).endswith("… and 16 more")


def test_the_result_gives_pairs_by_name_and_as_a_table() -> None:
    result = paired_tests(MATRIX, test="sign", alternative="greater", systems=["a", "b", "c"])
    assert repr(result) == "<PairedTests: sign, greater, 3 systems>"
    assert [(row["a"], row["b"], row["p"]) for row in result.to_dicts()] == [
        ("a", "b", 0.0625),
        ("a", "c", 0.0625),
        ("b", "c", 0.5),
    ]
    assert result.to_polars().columns == ["a", "b", "statistic", "p", "error", "n"]
    assert result.of("c", "a").p == result.p[2, 0]
    with pytest.raises(AdjudgeError, match="No system is called 'd'"):
        result.of("a", "d")


def test_effectiveness_brings_its_names_and_systems_choose_some() -> None:
    eff = Effectiveness.from_matrix(MATRIX, systems=["a", "b", "c"])
    assert paired_tests(eff).systems == ("a", "b", "c")
    chosen = paired_tests(eff, systems=["c", "a"])
    assert chosen.systems == ("c", "a")
    assert chosen.p[0, 1] == pytest.approx(paired_tests(eff).p[2, 0], rel=1e-12)
    with pytest.raises(AdjudgeError, match="No system is called 'x'"):
        paired_tests(eff, systems=["a", "x"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "anova"}, "No test is called 'anova'. Known: bootstrap, permutation, sign, t, wilcoxon."),
        ({"test": "wilcoxn"}, "No test is called 'wilcoxn'. Did you mean 'wilcoxon'?"),
        ({"test": "sign", "min_difference": -0.1}, "sign: 'min_difference' must be a finite number"),
        ({"test": "t", "min_difference": 0.1}, "t: takes no 'min_difference'"),
        ({"systems": ["a", "b"]}, "expected a name for each of 3 systems, got 2"),
        ({"systems": ["a", "b", "a"]}, "expected different systems, got 'a' twice"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=re.escape(message)):
        paired_tests(MATRIX, **options)


def test_differences_that_do_not_vary_have_the_limit_or_what_the_number_of_queries_allows() -> None:
    column = np.random.default_rng(1).random(10)
    values = np.column_stack([column, column + 0.1])
    result = paired_tests(values)
    assert (result.p[0, 1], result.statistic[0, 1]) == (TINY, -np.inf)
    assert paired_tests(values, alternative="greater").p[0, 1] == 1
    assert paired_tests(values, test="sign").p[0, 1] == pytest.approx(2 / 2**10)
    assert paired_tests(values, test="permutation").p[0, 1] == 2 / 2**10
    assert paired_tests(values, test="bootstrap", resamples=999).p[0, 1] == 1 / 1000


def test_the_sign_test_can_ignore_small_differences() -> None:
    values = np.column_stack([[0.5, 0.5, 0.5, 0.5, 0.5], [0.4, 0.49, 0.51, 0.505, 0.6]])
    assert paired_tests(values, test="sign", min_difference=0.01).statistic[0, 1] == 1
    assert paired_tests(values, test="sign", min_difference=0.01).statistic[1, 0] == 1
    assert paired_tests(values, test="sign", min_difference=1.0).p[0, 1] == 1


@pytest.mark.parametrize("magnitudes", [[1, 2, 3, 4, 5, 6, 7], [1, 1, 2, 3, 3, 3], [2, 2, 2, 2, 2], [1, 0, 0]])
def test_signed_ranks_of_few_queries_are_exact_with_ties_and_zeros(magnitudes: list[int]) -> None:
    """Against all ways to give signs to the mid-ranks."""
    sizes = [m for m in magnitudes if m]
    ranks = [sum(x < m for x in sizes) + (sum(x == m for x in sizes) + 1) / 2 for m in sizes]
    sums = [sum(itertools.compress(ranks, signs)) for signs in itertools.product([0, 1], repeat=len(ranks))]
    for signs in itertools.product([-1, 1], repeat=len(magnitudes)):
        differences = np.array(magnitudes) * signs
        observed = sum(r for r, d in zip(ranks, differences[differences != 0], strict=True) if d > 0)
        expected = sum(s >= observed for s in sums) / len(sums)
        values = np.column_stack([differences / 8.0, np.zeros(len(differences))])
        assert paired_tests(values, test="wilcoxon", alternative="greater").p[0, 1] == pytest.approx(expected)


def test_all_sign_flips_are_tried_when_there_are_few() -> None:
    values = np.random.default_rng(2).random((17, 2))
    assert paired_tests(values[:14], test="permutation", resamples=100).resamples is None
    assert paired_tests(values[:15], test="permutation", resamples=100).resamples == 100
    assert paired_tests(values[:16], test="permutation", resamples=100_000).resamples is None
    assert paired_tests(values[:17], test="permutation", resamples=100_000).resamples == 100_000


def test_exact_and_drawn_pairs_can_stand_side_by_side() -> None:
    values = np.random.default_rng(3).random((30, 3))
    values[8:, 2] = np.nan
    result = paired_tests(values, test="permutation", resamples=1000)
    assert result.error[0, 1] > 0
    assert result.error[0, 2] == result.error[1, 2] == 0
    assert result.resamples == 1000


@pytest.mark.parametrize("test", [name for name, test in PAIRED_TESTS.items() if test.resampled])
def test_every_resample_is_counted_once_whatever_their_number(test: str) -> None:
    """With identical systems every one of them is as extreme, so p falls below 1 if one is missed or counted twice."""
    values = np.random.default_rng(4).random((20, 1)).repeat(3, axis=1)
    for resamples in (100, 1023, 1025, 8191, 8193, 10_000):
        assert (paired_tests(values, test=test, resamples=resamples).p == 1).all()
        assert (paired_tests(values, test=test, resamples=resamples, alternative="less").p == 1).all()


def test_counts_are_those_of_a_plain_loop() -> None:
    values = np.random.default_rng(5).random((20, 4))
    (counts,) = resampling.count_pairs(
        [values], resampling.Resampling(resampling.random_signs), resamples=9000, seed=6, two_sided=False
    )
    signs = np.hstack(list(resampling.draws(resampling.random_signs, 20, 9000, 6)))
    for a, b in itertools.permutations(range(4), 2):
        difference = values[:, a] - values[:, b]
        assert counts.extreme[a, b] == (signs.T @ difference >= difference.sum() - 1e-12).sum()


def test_draws_are_what_they_should_be() -> None:
    counts = np.hstack(list(resampling.draws(resampling.random_counts, 7, 20_000, 0)))
    assert counts.shape == (7, 20_000)
    assert (counts.sum(axis=0) == 7).all()
    np.testing.assert_allclose(counts.mean(axis=1), 1, atol=5 * np.sqrt(6 / 7 / 20_000))
    np.testing.assert_allclose(counts.var(axis=1), 6 / 7, atol=0.06)
    signs = np.hstack(list(resampling.draws(resampling.random_signs, 7, 20_000, 0)))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    np.testing.assert_allclose(signs @ signs.T / 20_000, np.eye(7), atol=5 / np.sqrt(20_000))
    assert len({tuple(column) for column in np.hstack(list(resampling.all_signs(7))).T}) == 2**7


def test_more_resamples_begin_with_the_same_ones() -> None:
    few = np.hstack(list(resampling.draws(resampling.random_signs, 5, 8192, 1)))
    many = np.hstack(list(resampling.draws(resampling.random_signs, 5, 20_000, 1)))
    np.testing.assert_array_equal(many[:, :8192], few)


def test_many_queries_are_no_different() -> None:
    values = np.random.default_rng(6).random((5000, 3)) + np.array([0, 0, 0.03])
    expected = paired_tests(values).p
    for test in ("permutation", "bootstrap"):
        result = paired_tests(values, test=test, resamples=1000)
        assert (np.abs(result.p - expected) <= 5 * result.error + 0.005).all()


def test_the_pseudo_median_is_that_of_the_book_and_of_all_averages() -> None:
    """Hollander and Wolfe, Nonparametric Statistical Methods, Table 3.1: the estimate is -.46 (their example 3.3)."""
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    assert pseudo_median(np.subtract(after, before)) == pytest.approx(-0.46, abs=1e-9)
    many = np.random.default_rng(1).exponential(size=2501)
    averages = np.median((many[:, None] + many)[np.triu_indices(len(many))] / 2)
    assert pseudo_median(many) == pytest.approx(averages, abs=1e-3 / len(many))


def test_wilcoxon_and_sign_reject_equal_means_of_skewed_differences_and_t_does_not() -> None:
    """Exponential differences with mean 0, 50 queries: they are no tests of means, and say what they are about."""
    draws = np.random.default_rng(2).exponential(size=(50, 600)) - 1
    values = np.concatenate([np.zeros((50, 1)), draws], axis=1)
    rejected = {test: np.mean(paired_tests(values, test=test).p[0, 1:] <= 0.05) for test in ("t", "wilcoxon", "sign")}
    assert rejected["t"] == pytest.approx(0.069, abs=0.04)
    assert rejected["wilcoxon"] == pytest.approx(0.22, abs=0.06)
    assert rejected["sign"] == pytest.approx(0.40, abs=0.07)
    assert {name: PAIRED_TESTS[name].estimand for name in rejected} == {
        "t": "mean difference",
        "wilcoxon": "pseudo-median",
        "sign": "share of wins",
    }
