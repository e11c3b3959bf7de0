from __future__ import annotations

import numpy as np
import pytest

from adjudge.errors import AdjudgeError
from adjudge.experiments import Power, parse_procedures
from adjudge.experiments.rates import rates
from adjudge.experiments.run import run_experiment
from adjudge.model.effectiveness import Effectiveness
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
    values = Effectiveness.from_matrix(rng.random((24, 1)) + rng.random((24, 8)) * np.linspace(0.2, 0.6, 8))
    found = [
        run_experiment(Power(trials=30, sizes=(20,), procedures=parse_procedures(["t"]), seed=seed), values, workers=1)
        for seed in range(30)
    ]
    value, low, high = (np.array([one.to_dicts()[0][name] for one in found]) for name in ("power", "low", "high"))
    assert ((low <= value.mean()) & (value.mean() <= high)).sum() >= 26  # 26 or more of 30 in 98 % of cases
    assert 0.8 < ((high - low) / 2).mean() / (1.96 * value.std(ddof=1)) < 1.35


def test_trials_that_are_all_the_same_leave_little_doubt() -> None:
    found = rates(np.full((500, 1), 51.0), np.full((500, 1), 153.0))
    assert found.low[0] == pytest.approx(1 / 3 - 0.00087, abs=1e-5)  # 3.84 / (500 * 153 / sqrt(306) + 3.84)
    assert found.high[0] == pytest.approx(1 / 3 + 0.00087, abs=1e-5)


def test_cases_that_go_together_widen_the_interval() -> None:
    together, apart = np.array([10.0, 0.0] * 20), np.full(40, 5.0)
    wide, narrow = (rates(hits, np.full(40, 10.0)) for hits in (together, apart))
    assert float(wide.value) == float(narrow.value) == 0.5
    assert wide.high - wide.low > narrow.high - narrow.low


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
    with pytest.raises(AdjudgeError, match=r"'confidence' must be in \(0, 1\), got 1"):
        rates(np.zeros(2), np.ones(2), confidence=1)
