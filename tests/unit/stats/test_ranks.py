"""Ranks that are possible: as often right as promised, exact where few queries can be counted out, tiers in order."""

from __future__ import annotations

from itertools import product
from typing import Literal

import numpy as np
import pytest
from benchmarks.leaderboard import (
    SCORES,
    binned,
    calibration_error,
    covered,
    covered_datasets,
    draw_datasets,
    holds,
    true_means,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.arrays import Floats
from adjudge.stats.paired import paired_tests
from adjudge.stats.ranks import Ranks, Sample, chances, rank_sets


def _by_hand(values: Floats) -> Floats:
    """Stepped-down p-values from all signs, pair by pair; 25 queries of the average pair are lent to each.

    The observed statistic is r = √n S / √(1 + S²), with S = m / s or less by Hall's transformation.
    """
    n, k = values.shape
    pairs = [(a, b) for a in range(k) for b in range(k) if values[:, a].mean() > values[:, b].mean()]
    d = np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1)
    lent = 25 * d.var(axis=0).mean()
    variance = d.var(axis=0) + lent / n
    s = d.mean(axis=0) / np.sqrt(variance)
    skewness = np.minimum(((d - d.mean(axis=0)) ** 3).mean(axis=0) / variance**1.5, 0)
    s = s + skewness * s**2 / 3 + skewness**2 * s**3 / 27
    observed = np.sqrt(n) * s / np.sqrt(1 + s**2)
    drawn = np.abs(np.array(list(product([1, -1], repeat=n))) @ d / np.sqrt((d**2).sum(axis=0) + lent))
    p, left, last = np.ones((k, k)), list(range(len(pairs))), 0.0
    while left:
        first = max(left, key=lambda i: observed[i])
        last = max(last, float((drawn[:, left].max(axis=1) >= observed[first] - 1e-9).mean()))
        p[pairs[first]] = last
        left.remove(first)
    return p


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_p_values_of_few_queries_are_those_of_all_signs_stepped_down_one_by_one(seed: int) -> None:
    values = np.random.default_rng(seed).random((8, 4)) + np.array([0.0, 0.0, 0.3, 0.6])
    assert rank_sets(Sample.of(values)).p == pytest.approx(_by_hand(values))


def test_two_systems_have_the_p_value_of_the_permutation_test() -> None:
    half = np.random.default_rng(1).random((20, 2))
    values = np.vstack([half, np.array([1.0, 1.12]) - half]) + np.array([0.0, 0.06])  # differences without skewness
    (p,) = rank_sets(Sample.of(values), resamples=20_000).p[1, [0]]
    assert p == pytest.approx(paired_tests(values, test="permutation").p[0, 1], abs=0.005)


# Error rates of the bootstrap of the largest |t| with 20 to 50 tied systems are .25 and more; signs keep the level.
@pytest.mark.parametrize("scores", ["normal", "unequal spread", "near copies", "skewed", "discrete"])
@pytest.mark.parametrize("size", [(5, 25), (20, 25)], ids=["5 systems", "20 systems"])
def test_all_possible_ranks_hold_as_often_as_promised_where_all_means_are_tied(
    scores: str, size: tuple[int, int]
) -> None:
    held = covered(SCORES[scores], *size, "tied", trials=200)
    assert 0.90 <= held <= 0.99  # within 3 standard errors of .95


# Without lent queries, ranks hold in one of ten of these trials.
def test_ranks_hold_where_every_other_system_fails_on_few_queries_by_much() -> None:
    def draw(rng: np.random.Generator, n: int, means: Floats) -> Floats:
        failed = 0.5 * (rng.random((n, len(means))) < 0.05)
        noise = 0.03 * rng.normal(size=(n, len(means)))
        return np.asarray(means + noise + np.where(np.arange(len(means)) % 2, 0.025 - failed, 0))

    assert covered(draw, 20, 25, "tied", trials=200) >= 0.8


def test_skewness_against_the_better_system_counts_and_for_it_does_not() -> None:
    d = np.r_[np.full(36, 0.1), -0.4, -0.5, 0.05, 0.0]
    zeros = np.zeros_like(d)
    against, fair = (rank_sets(Sample.of(np.column_stack([zeros, each])), resamples=20_000).p for each in (d, -d))
    assert against[1, 0] == fair[0, 1]
    exact = paired_tests(np.column_stack([zeros, d]), test="permutation").p[0, 1]
    assert against[1, 0] > 5 * exact
    mirrored = np.column_stack([zeros, 2 * d.mean() - d])  # the same mean and spread, with the outliers in favour
    exact = paired_tests(mirrored, test="permutation").p[0, 1]
    assert rank_sets(Sample.of(mirrored), resamples=20_000).p[1, 0] == pytest.approx(exact, abs=0.005)


def test_where_means_differ_ranks_hold_more_often() -> None:
    assert covered(SCORES["normal"], 10, 25, "distinct", trials=100) >= 0.98
    assert covered(SCORES["normal"], 10, 25, "two groups", trials=200) >= 0.92


def test_with_other_queries_of_the_same_data_sets_ranks_hold_and_about_other_data_sets_they_do_not() -> None:
    assert covered_datasets(6, about="queries", between=0.1, trials=150) >= 0.90
    assert covered_datasets(8, about="data sets", between=0.1, trials=150) >= 0.90
    rng, means, mistaken = np.random.default_rng(1), np.full(10, 0.3), []
    for t in range(40):
        sample, _ = draw_datasets(rng, np.full(6, 40), means, between=0.1)
        mistaken.append(holds(sample, means, seed=t))
    assert np.mean(mistaken) < 0.2


def test_ranks_and_tiers_follow_from_the_decisions() -> None:
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = better[1, 3] = True  # a > c, d; b > d
    ranks = Ranks(np.array([0.4, 0.3, 0.2, 0.1]), np.zeros((4, 4)), better)
    assert list(zip(ranks.low.tolist(), ranks.high.tolist(), strict=True)) == [(1, 2), (1, 3), (2, 4), (3, 4)]
    assert ranks.tier.tolist() == [1, 1, 2, 2]
    assert ranks.rank.tolist() == [1, 2, 3, 4]


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(2, 30))
@settings(max_examples=25, deadline=None)
def test_possible_ranks_hold_the_rank_and_tiers_never_rise_down_the_board(seed: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((n, k)) + np.linspace(0, 0.5, k), 1)
    ranks = rank_sets(Sample.of(values), resamples=500)
    assert (ranks.low <= ranks.rank).all()
    assert (ranks.rank <= ranks.high).all()
    order = np.argsort(-ranks.means, kind="stable")
    assert (np.diff(ranks.tier[order]) >= 0).all()
    assert ranks.tier[order][0] == 1
    moved = rank_sets(Sample.of(values[:, ::-1] * 3 - 1), resamples=500)
    assert (moved.low[::-1] == ranks.low).all()  # names and units do not matter


def test_identical_and_constant_systems_are_tied() -> None:
    same = np.repeat(np.random.default_rng(2).random((30, 1)), 3, axis=1)
    for values in (same, np.full((10, 3), 0.5)):
        ranks = rank_sets(Sample.of(values), resamples=500)
        assert ranks.rank.tolist() == [1, 1, 1]
        assert ranks.high.tolist() == [3, 3, 3]
        best, top = chances(Sample.of(values), top=2, resamples=500, seed=0)
        assert best == pytest.approx(1 / 3)
        assert top == pytest.approx(2 / 3)
    apart = np.column_stack([np.full(20, 0.5), np.full(20, 0.4)])  # a difference without spread
    for sample in (Sample.of(apart), Sample(apart, np.repeat([0, 1], 10))):
        assert rank_sets(sample, resamples=500).better.tolist() == [[False, True], [False, False]]


def test_five_queries_can_show_nothing_at_95_percent() -> None:
    values = np.column_stack([np.full(5, 1.0), np.zeros(5)])
    assert not rank_sets(Sample.of(values)).better.any()
    assert Sample.of(values).is_powerless(0.95)
    assert not Sample.of(np.vstack([values, values])).is_powerless(0.95)


@pytest.mark.parametrize("how", ["bootstrap", "model"])
def test_the_chance_to_be_the_best_of_two_is_that_of_the_normal_distribution(how: str) -> None:
    values = np.random.default_rng(3).normal(0.5, 0.1, (400, 2)) + np.array([0.0, 0.008])
    d = values[:, 1] - values[:, 0]
    expected = stats.norm.cdf(d.mean() / (d.std(ddof=1) / 20))
    best, _ = chances(Sample.of(values), top=1, how="bootstrap", resamples=20_000, seed=1)
    assert best[1] == pytest.approx(expected, abs=0.015)
    shrunk, _ = chances(Sample.of(values), top=1, how=how, resamples=20_000, seed=1)  # type: ignore[arg-type]
    assert 0.5 < shrunk[1] <= best[1] + 0.01


def test_the_model_shrinks_by_the_reliability_of_the_means() -> None:
    values = np.random.default_rng(4).normal(size=(30, 12))  # all alike
    model, _ = chances(Sample.of(values), top=1, how="model", resamples=4000, seed=1)
    bootstrap, _ = chances(Sample.of(values), top=1, how="bootstrap", resamples=4000, seed=1)
    assert model.max() < bootstrap.max()


def test_claims_to_be_the_best_come_true_as_often_as_they_say() -> None:
    rng, claimed, true = np.random.default_rng(5), [], []
    for t in range(250):
        means = rng.normal(0.3, 0.03, 8)
        found, _ = chances(Sample.of(SCORES["skewed"](rng, 40, means)), top=1, resamples=500, seed=t)
        claimed.append(found)
        true.append(np.arange(8) == means.argmax())
    error = calibration_error(np.concatenate(claimed), np.concatenate(true).astype(float))
    assert error < 0.06
    assert len(binned(np.concatenate(claimed), np.concatenate(true).astype(float))) > 8


def test_few_new_queries_make_the_best_less_certain() -> None:
    values = np.random.default_rng(6).random((60, 4)) + np.array([0, 0, 0, 0.15])
    certain = [chances(Sample.of(values), top=1, queries=n, resamples=4000, seed=0)[0][3] for n in (5, 50, None)]
    assert certain == sorted(certain)


def test_intervals_of_one_stratum_are_those_of_t_and_of_several_those_of_their_mean() -> None:
    values = np.random.default_rng(7).random((30, 2))
    low, high = Sample.of(values).intervals(0.9)
    expected = stats.ttest_1samp(values[:, 0], 0).confidence_interval(0.9)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high))
    low, high = Sample(values, np.repeat([0, 1], [10, 20])).intervals(0.9)
    halves = values[:10, 0], values[10:, 0]
    welch = stats.ttest_ind(halves[0], -halves[1], equal_var=False).confidence_interval(0.9)  # of the sum
    assert (low[0], high[0]) == pytest.approx((welch.low / 2, welch.high / 2))


def test_many_queries_give_the_same_from_normal_sums_as_from_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    values = SCORES["normal"](np.random.default_rng(8), 300, true_means(6, "distinct") / 20 + 0.3)
    by_sign = rank_sets(Sample.of(values)).p
    monkeypatch.setattr("adjudge.stats.ranks._MOST_SIGNED", 100)
    assert rank_sets(Sample.of(values)).p == pytest.approx(by_sign, abs=0.02)


def test_a_single_system_has_the_first_rank() -> None:
    ranks = rank_sets(Sample.of(np.arange(5.0)[:, None]))
    assert (ranks.low.tolist(), ranks.high.tolist()) == ([1], [1])


def test_the_share_of_skewed_pairs_counts_each_pair_once_and_no_system_with_itself() -> None:
    values = np.zeros((30, 3))
    values[0, 0] = 1.0  # two of the three pairs differ on one query alone
    assert Sample.of(values).skewed == pytest.approx(2 / 3)


def test_the_model_knows_that_few_queries_do_not_say_how_they_vary() -> None:
    d = np.random.default_rng(9).normal(0.5, 0.7, 8)
    t = np.sqrt(8) * d.mean() / d.std(ddof=1)
    best, _ = chances(Sample.of(np.column_stack([d, np.zeros(8)])), top=1, how="model", resamples=40_000, seed=1)
    assert best[0] == pytest.approx(stats.t.cdf(np.sqrt(t**2 - 1), 7), abs=0.005)  # b = 1 - 1 / t²
    assert best[0] < stats.norm.cdf(np.sqrt(t**2 - 1)) - 0.01


@pytest.mark.parametrize("how", ["bootstrap", "model"])
def test_the_order_of_systems_does_not_change_who_is_the_best(how: Literal["bootstrap", "model"]) -> None:
    values = np.random.default_rng(10).random((10, 12))
    best, top = chances(Sample.of(values), top=3, how=how, resamples=500, seed=1)
    turned = chances(Sample.of(values[:, ::-1]), top=3, how=how, resamples=500, seed=1)
    assert [each[::-1].tolist() for each in turned] == [pytest.approx(best), pytest.approx(top)]
