"""Corrections and family-wise tests."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import AdjudgeError
from adjudge.stats.multiple import (
    CORRECTIONS,
    FAMILYWISE_TESTS,
    adjust,
    compact_letters,
    friedman,
    friedman_tukey,
    randomised_tukey_hsd,
    studentised_range_tail,
)
from adjudge.stats.paired import TINY, paired_tests

each_correction = pytest.mark.parametrize("name", CORRECTIONS)
each_family = pytest.mark.parametrize("name", FAMILYWISE_TESTS)


@pytest.mark.parametrize("unit", [5, 10, 1 / 3])
def test_ranks_of_systems_do_not_see_rounding(unit: float) -> None:
    """Whole numbers have exact ties; the same measured in tenths, in another order of adding up, has the same ones."""
    whole = np.random.default_rng(5).integers(0, 6, size=(30, 6)).astype(float)
    noisy = whole / 10 * unit * (1 + np.random.default_rng(6).choice([-2e-16, 0, 2e-16], size=whole.shape))
    truth, found = friedman(whole), friedman(noisy)
    assert truth.chi2 == pytest.approx(scipy.stats.friedmanchisquare(*whole.T).statistic, rel=1e-12)
    assert found.chi2 == pytest.approx(truth.chi2, rel=1e-12)
    np.testing.assert_array_equal(found.mean_ranks, truth.mean_ranks)
    np.testing.assert_allclose(friedman_tukey(noisy).p, friedman_tukey(whole).p, rtol=1e-9)


@each_correction
def test_nan_is_no_comparison_and_what_is_no_probability_is_refused(name: str) -> None:
    p = np.array([[0.01, np.nan], [0.2, 0.04]])
    adjusted = CORRECTIONS[name](p)
    assert np.isnan(adjusted[0, 1])
    np.testing.assert_array_equal(adjusted[~np.isnan(p)], CORRECTIONS[name](p[~np.isnan(p)]))
    assert np.isnan(CORRECTIONS[name]([np.nan, np.nan])).all()
    assert CORRECTIONS[name]([]).shape == (0,)
    with pytest.raises(AdjudgeError, match=rf"^{name}: 'p' must be in \[0, 1\], got 1.5$"):
        CORRECTIONS[name]([0.5, 1.5])


def test_adjusting_counts_each_pair_once_or_in_both_directions() -> None:
    values = np.random.default_rng(2).random((20, 4)) + np.array([0, 0, 0, 0.3])
    both, greater = paired_tests(values), paired_tests(values, alternative="greater")
    np.testing.assert_allclose(adjust(both, correction="bonferroni").p, np.minimum(1, both.p * 6))
    expected = np.minimum(1, greater.p * 12)
    np.testing.assert_allclose(adjust(greater, correction="bonferroni").p, expected)
    assert (adjust(both).p == adjust(both).p.T).all()
    assert adjust(both).correction == "holm"
    with pytest.raises(AdjudgeError, match="p-values are adjusted already: holm"):
        adjust(adjust(both))
    values = np.random.default_rng(3).random((20, 3)) + np.array([0, 0, 0.2])
    raw = paired_tests(values, test="permutation", resamples=1000)
    adjusted = adjust(raw, correction="bonferroni")
    assert adjusted.error[0, 2] == pytest.approx(3 * raw.error[0, 2]), "errors grow with p"


@each_family
def test_a_family_is_symmetric_adjusted_and_says_what_it_is(name: str) -> None:
    definition = FAMILYWISE_TESTS[name]
    values = np.random.default_rng(4).random((15, 5)) + np.array([0, 0, 0.1, 0.2, 0.9])
    result = definition.function(values, systems=list("abcde"))
    assert (result.test, result.alternative, result.correction) == (name, "two-sided", "family-wise")
    assert result.systems == tuple("abcde")
    assert (result.resamples is not None) == definition.resampled
    assert (result.p == result.p.T).all()
    assert ((result.p > 0) & (result.p <= 1)).all()
    assert (np.diag(result.p) == 1).all()
    assert result.p[0, 4] < 0.01
    assert result.statistic[4, 0] > 0
    assert (result.n == 15).all()
    with pytest.raises(AdjudgeError, match="p-values are adjusted already: family-wise"):
        adjust(result)


@each_family
def test_systems_that_never_differ_or_always_by_the_same_have_a_defined_answer(name: str) -> None:
    column = np.random.default_rng(6).random((10, 1))
    assert (FAMILYWISE_TESTS[name].function(column.repeat(4, axis=1)).p == 1).all()
    p = FAMILYWISE_TESTS[name].function(column + np.array([0.0, 0.1, 0.2])).p
    assert ((p > 0) & (p <= 1)).all()
    assert p[0, 2] < 0.01


@each_family
def test_queries_that_a_system_lacks_are_left_out(name: str) -> None:
    values = np.random.default_rng(7).random((12, 3)) + np.array([0, 0.1, 0.3])
    gap = values.copy()
    gap[4, 1] = np.nan
    function = FAMILYWISE_TESTS[name].function
    np.testing.assert_array_equal(function(gap).p, function(np.delete(values, 4, axis=0)).p)
    gap[1:, 0] = np.nan
    with pytest.raises(AdjudgeError, match="needs at least 2 queries that all systems have, got 1"):
        function(gap)


@each_family
def test_a_family_wise_test_keeps_its_level(name: str) -> None:
    """The probability that any of 10 pairs of interchangeable systems comes out different."""
    rng = np.random.default_rng(8)
    trials, options = 250, {"resamples": 199} if FAMILYWISE_TESTS[name].resampled else {}
    rejected = [
        (FAMILYWISE_TESTS[name].function(rng.gamma(2.0, size=(30, 5)), **options).p <= 0.05).any()
        for _ in range(trials)
    ]
    assert abs(np.mean(rejected) - 0.05) <= 3.5 * np.sqrt(0.05 * 0.95 / trials)


def test_the_randomised_one_says_its_error_and_repeats_itself() -> None:
    values = np.random.default_rng(9).random((20, 4)) + np.array([0, 0, 0.1, 0.2])
    one, same, other = (randomised_tukey_hsd(values, resamples=1000, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.p, same.p)
    assert (one.p != other.p).any()
    assert (one.resamples, one.seed) == (1000, 1)
    np.testing.assert_allclose(one.error, np.sqrt(one.p * (1 - one.p) / 1000))


def test_the_randomised_one_is_right_where_all_permutations_can_be_tried() -> None:
    values = np.array([[0.1, 0.5, 0.6], [0.2, 0.1, 0.7], [0.3, 0.6, 0.4], [0.1, 0.2, 0.9]])
    rows = [list(itertools.permutations(row)) for row in values]
    ranges = np.array([np.ptp(np.sum(choice, axis=0)) for choice in itertools.product(*rows)])
    result = randomised_tukey_hsd(values, resamples=20_000)
    total = values.sum(axis=0)
    for a, b in itertools.combinations(range(3), 2):
        exact = (ranges >= abs(total[a] - total[b]) - 1e-12).mean()
        assert abs(result.p[a, b] - exact) <= 5 * result.error[a, b] + 1e-4


def test_friedman_prints_systems_from_the_best() -> None:
    values = np.random.default_rng(11).random((10, 3)) + np.array([0, 2, 1])
    result = friedman(values, systems=["a", "b", "c"])
    assert [line.split() for line in str(result).splitlines()[2:]] == [["b", "3.00"], ["c", "2.00"], ["a", "1.00"]]
    assert result.df == 2
    assert (friedman_tukey(values).statistic == result.mean_ranks[:, None] - result.mean_ranks).all()
    ties = friedman(np.ones((5, 3)))
    assert (ties.chi2, ties.p) == (0, 1)


@pytest.mark.parametrize("df", [60.0, np.inf])
def test_many_values_of_the_studentised_range_are_those_of_each_by_itself(df: float) -> None:
    q = np.linspace(0, 30, 1001)
    many = studentised_range_tail(q, 20, df)
    each = np.concatenate([studentised_range_tail(q[i : i + 100], 20, df) for i in range(0, 1001, 100)])
    np.testing.assert_allclose(many, each, rtol=1e-8)
    assert (np.diff(many) <= 1e-10).all()
    assert (studentised_range_tail(np.array([60.0, 1e6]), 20, df) >= TINY).all()


YIELD = """51.17547 F\n50.7529 EF\n47.36229 DEF\n45.81229 CDE\n44.55313 CD\n41.81757 BC\n38.79482 AB\n36.91257 AB
36.34383 A\n35.69507 A"""


def share(letters: Sequence[str], i: int, j: int) -> bool:
    return bool(set(re.findall(r"[a-zA-Z]\d*", letters[i])) & set(re.findall(r"[a-zA-Z]\d*", letters[j])))


@given(st.integers(1, 14).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_two_systems_share_a_letter_if_and_only_if_they_do_not_differ(flags: list[bool]) -> None:
    n = math.isqrt(len(flags))
    different = np.triu(np.reshape(flags, (n, n)), 1)
    different |= different.T
    letters = compact_letters(different)
    assert all(share(letters, i, j) != different[i, j] for i in range(n) for j in range(n))
    used = set("".join(letters))
    for letter in used:  # none of them can be left out
        left = [text.replace(letter, "") for text in letters]
        assert any(share(letters, i, j) and not share(left, i, j) for i in range(n) for j in range(n))
    assert letters[0].startswith("a")


def test_letters_do_not_explode_where_groups_are_legion() -> None:
    """Pairs that differ and have no system in common make 2^(n/2) largest groups."""
    n = 60
    different = np.zeros((n, n), dtype=np.bool_)
    first = np.arange(0, n, 2)
    different[first, first + 1] = different[first + 1, first] = True
    letters = compact_letters(different)
    assert len(set(re.findall(r"[a-zA-Z]\d*", "".join(letters)))) <= n * (n - 1) // 2
    assert all(share(letters, i, j) != different[i, j] for i in range(n) for j in range(n))


def test_letters_are_those_that_stata_prints() -> None:
    """``pwcompare fertilizer#irrigation, group mcompare(tukey)`` on Stata's yield data: 10 means, 20 plots each."""
    means, groups = zip(*(line.split() for line in YIELD.splitlines()), strict=True)
    difference = np.abs(np.subtract.outer(*[np.array(means, dtype=float)] * 2))
    q = difference / 1.116571  # the standard error of a mean, as printed
    different = scipy.stats.studentized_range.sf(q, 10, 190) < 0.05
    expected = [group.translate(str.maketrans("FEDCBA", "abcdef")) for group in groups]
    assert compact_letters(different) == tuple("".join(sorted(group)) for group in expected)


def test_the_wheat_trial_takes_four_letters() -> None:
    """Piepho (2004), as in Ennis, Fayle and Ennis (2012), doi:10.1145/2133803.2275596: 18 pairs of 20 lines differ;

    four groups cover the rest, with 56 letters in all.
    """
    pairs = "2-20 3-18 3-20 4-20 5-12 5-20 6-20 7-12 7-20 9-20 10-12 10-20 11-20 12-16 12-18 13-20 16-20 18-20"
    different = np.zeros((20, 20), dtype=np.bool_)
    for pair in pairs.split():
        i, j = (int(number) - 1 for number in pair.split("-"))
        different[i, j] = different[j, i] = True
    letters = compact_letters(different)
    assert len(set("".join(letters))) == 4
    assert sum(map(len, letters)) == 56


def test_letters_go_on_after_z() -> None:
    letters = compact_letters(~np.eye(60, dtype=np.bool_))
    assert [letters[i] for i in (0, 25, 26, 51, 52, 59)] == ["a", "z", "A", "Z", "a2", "h2"]
