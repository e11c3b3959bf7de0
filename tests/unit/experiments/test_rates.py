from __future__ import annotations

import numpy as np
import pytest
from tests.unit.experiments.trial_runs import find, samples

from adjudge.errors import AdjudgeError
from adjudge.experiments import Power
from adjudge.experiments.rates import LEVELS, check_levels, find_leaders, jackknife_error, leave_one_out, rates
from adjudge.stats.intervals import wilson_interval


def test_independent_trials_have_the_interval_of_a_binomial() -> None:
    hits = (np.random.default_rng(1).random(400) < 0.2).astype(float)
    found = rates(hits, np.ones(400))
    value, low, high = wilson_interval(hits.sum(), 400)
    assert float(found.value) == pytest.approx(float(value))
    assert float(found.low) == pytest.approx(float(low), rel=1e-12)
    assert float(found.high) == pytest.approx(float(high), rel=1e-12)


def test_the_error_is_that_of_a_bootstrap_over_trials() -> None:
    rng = np.random.default_rng(2)
    cases = rng.integers(5, 30, 200).astype(float)
    hits = rng.binomial(cases.astype(int), rng.beta(2, 5, 200)).astype(float)
    drawn = rng.integers(0, 200, (4000, 200))
    resampled = hits[drawn].sum(axis=1) / cases[drawn].sum(axis=1)
    assert float(rates(hits, cases).error) == pytest.approx(resampled.std(), rel=0.06)


@pytest.mark.parametrize(("trials", "least"), [(2, 0.95), (3, 0.9), (5, 0.93), (10, 0.93), (100, 0.93)])
@pytest.mark.parametrize("rate", [0.005, 0.05, 0.3, 0.95])
def test_intervals_cover_the_rate_also_with_few_trials(trials: int, least: float, rate: float) -> None:
    rng = np.random.default_rng(3)
    together = rng.beta(rate * 49, (1 - rate) * 49, (trials, 2000))  # pairs of a trial are correlated by 0.02
    found = rates(rng.binomial(153, together).astype(float), np.full((trials, 2000), 153.0))
    assert ((found.low <= rate) & (rate <= found.high)).mean() > least


def test_few_trials_that_have_all_the_hits_are_not_trusted_like_many() -> None:
    rng = np.random.default_rng(8)
    together = rng.beta(0.005 * 4, 0.995 * 4, (30, 3000))  # correlated by 0.2: most trials have no hit at all
    found = rates(rng.binomial(153, together).astype(float), np.full((30, 3000), 153.0))
    assert ((found.low <= 0.005) & (found.high >= 0.005)).mean() > 0.84


@pytest.mark.parametrize("trials", [20, 100, 500])
def test_intervals_are_as_narrow_as_their_error_where_most_cases_are_settled(trials: int) -> None:
    rng = np.random.default_rng(6)
    pairs, each = np.array([60, 10, 83]), np.array([0.02, 0.5, 0.98])  # most of 153 are the same in nearly every trial
    hits = rng.binomial(pairs, each, (trials, 1000, 3)).sum(axis=2).astype(float)
    found = rates(hits, np.full((trials, 1000), 153.0))
    rate, error = pairs @ each / 153, float(np.sqrt(pairs @ (each * (1 - each)) / trials)) / 153
    assert 0.93 < ((found.low <= rate) & (rate <= found.high)).mean() < 0.97
    assert 1.0 < (found.high - found.low).mean() / 2 / (1.96 * error) < 1.1  # 2.8 to 3.1 if pairs were independent


def test_intervals_of_an_experiment_are_as_wide_as_its_rates_scatter_over_seeds() -> None:
    rng = np.random.default_rng(3)
    values = samples(rng.random((24, 1)) + rng.random((24, 8)) * np.linspace(0.2, 0.6, 8))
    found = [find(Power(trials=30, sizes=(20,), procedures=("t",), seed=seed), values) for seed in range(30)]
    value, low, high = (
        np.array([findings.to_dicts()[0][name] for findings in found]) for name in ("power", "low", "high")
    )
    assert ((low <= value.mean()) & (value.mean() <= high)).sum() >= 26  # 26 or more of 30 in 98 % of cases
    assert 0.8 < ((high - low) / 2).mean() / (1.96 * value.std(ddof=1)) < 1.35


def test_trials_that_are_all_the_same_leave_little_doubt() -> None:
    found = rates(np.full((500, 1), 51.0), np.full((500, 1), 153.0))
    assert found.low[0] == pytest.approx(1 / 3 - 0.00087, abs=1e-5)  # 3.84 / (500 * 153 / sqrt(306) + 3.84)
    assert found.high[0] == pytest.approx(1 / 3 + 0.00087, abs=1e-5)


def test_where_nothing_happened_the_interval_still_has_a_width() -> None:
    cases = np.full((50, 1), 153.0)  # pairs of 18 systems
    found = rates(np.zeros((50, 1)), cases)
    _, _, high = wilson_interval(0, 50 * 153 / 17.49)  # independent ones, if the 17 pairs of a system go together
    assert found.low[0] == 0.0
    assert found.high[0] == pytest.approx(float(high), rel=1e-3)
    assert rates(cases, cases).high[0] == 1.0
    assert rates(cases, cases).low[0] == pytest.approx(1 - float(high), rel=1e-3)


def test_where_there_was_no_case_there_is_no_rate() -> None:
    assert np.isnan(rates(np.zeros(5), np.zeros(5)).value)


def test_hits_and_cases_of_other_shapes_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"hits and cases of the same shape.*got \(2,\) and \(3,\)"):
        rates(np.zeros(2), np.zeros(3))


def test_there_are_32_levels_from_0_0001_to_0_5() -> None:
    assert len(LEVELS) == 32
    assert list(LEVELS) == sorted(LEVELS)
    assert (LEVELS[0], LEVELS[8], LEVELS[9], LEVELS[-1]) == (0.0001, 0.0009, 0.001, 0.5)


def test_levels_beyond_the_ends_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"errors: 'levels' must be in \(0, 1\), got 1"):
        check_levels([0.05, 1.0], where="errors: ")
    with pytest.raises(AdjudgeError, match="at least one level, got none"):
        check_levels([])


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    hits = np.random.default_rng(2).random(30)
    error = jackknife_error(leave_one_out(hits, np.ones(30)))
    assert float(error) == pytest.approx(float(hits.std(ddof=1) / np.sqrt(30)))
    assert np.isinf(jackknife_error(np.ones((1, 2)))).all()


def test_equals_are_seldom_told_apart_also_with_few_trials() -> None:
    rng = np.random.default_rng(1)
    alone = 0
    for _ in range(400):
        hits = rng.binomial(150, rng.beta(20, 8, (5, 1)), (5, 2)).astype(float)
        cases = np.full((5, 2), 150.0)
        alone += len(find_leaders(["a", "b"], hits.sum(axis=0) / 750, leave_one_out(hits, cases))) == 1
    assert alone < 0.08 * 400


def test_what_is_clearly_better_leads_alone_and_names_without_a_value_never() -> None:
    rng = np.random.default_rng(2)
    without = np.column_stack([rng.normal(level, 0.001, 50) for level in (0.4, 0.5)] + [np.full(50, np.nan)])
    value = np.array([0.4, 0.5, np.nan])
    assert find_leaders(["a", "b", "c"], value, without) == ("a",)
    assert find_leaders(["a", "b", "c"], value, without, highest=True) == ("b",)
    assert find_leaders(["a", "b"], np.full(2, np.nan), without[:, :2]) == ("a", "b")


def test_one_trial_tells_nothing_apart() -> None:
    assert find_leaders(["a", "b"], np.array([0.1, 0.9]), np.array([[0.1, 0.9]])) == ("a", "b")
