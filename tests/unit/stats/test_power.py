"""Power of the paired t test: against scipy's noncentral t, simulation, and the numbers of the papers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.checks import Alternative
from adjudge.errors import AdjudgeError
from adjudge.stats.power import MOST_QUERIES, detectable_difference, noncentral_t_tail, power, queries_needed

ALTERNATIVES: list[Alternative] = ["two-sided", "greater", "less"]
differences = st.floats(0.001, 1.0)
spreads = st.floats(0.01, 1.0)
sizes = st.integers(2, 5000)
levels = st.sampled_from([0.001, 0.01, 0.05, 0.2])


def scipy_power(difference: float, sd: float, n: int, alpha: float, alternative: str) -> float:
    shift, df = difference / sd * np.sqrt(n), n - 1
    if alternative == "two-sided":
        critical = stats.t.isf(alpha / 2, df)
        return float(stats.nct.sf(critical, df, shift) + stats.nct.sf(critical, df, -shift))
    critical = stats.t.isf(alpha, df)
    return float(stats.nct.sf(critical, df, shift if alternative == "greater" else -shift))


def test_the_threshold_of_minimal_test_collections_is_that_of_a_one_sided_test() -> None:
    one = detectable_difference(0.248, 100, alpha=0.05, power=0.85, alternative="greater")
    two = detectable_difference(0.248, 100, alpha=0.05, power=0.85, alternative="two-sided")
    assert float(one) == pytest.approx(0.066955, abs=5e-7)
    assert float(two) == pytest.approx(0.075042, abs=5e-7)


def test_small_medium_and_large_effects_need_the_samples_of_g_power() -> None:
    assert float(power(0.5, 1, 34)) == pytest.approx(0.8077775, abs=1e-6)
    assert queries_needed([0.2, 0.5, 0.8], 1).tolist() == [199, 34, 15]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_power_is_what_scipy_says_where_scipy_can(alternative: Alternative) -> None:
    for n, difference in product([2, 3, 10, 100, 1000], [-0.2, 0.0, 0.01, 0.1, 0.3]):
        ours = power(difference, 0.25, n, alpha=0.05, alternative=alternative)
        assert float(ours) == pytest.approx(scipy_power(difference, 0.25, n, 0.05, alternative), abs=1e-10)


def test_the_tail_is_what_scipy_says_over_a_wide_grid_and_that_of_student_without_shift() -> None:
    t, df, shift = np.meshgrid([-3.0, 0, 0.1, 1.7, 3, 12.7, 318], [1, 2, 5, 99, 1e4], [-5.0, -1, 0, 1, 3, 8])
    assert noncentral_t_tail(t, df, shift) == pytest.approx(stats.nct.sf(t, df, shift), abs=1e-10)
    central, dfs = np.meshgrid(np.linspace(-40, 40, 81), [1, 2, 3, 10, 1000, 1e6, 1e7])
    assert noncentral_t_tail(central, dfs, 0.0) == pytest.approx(stats.t.sf(central, dfs), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 30, 10_000, MOST_QUERIES])
@pytest.mark.parametrize("alpha", [1e-10, 1e-6, 0.05, 0.5, 0.999])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_nothing_is_nan_at_the_extremes(n: int, alpha: float, alternative: Alternative) -> None:
    difference = np.array([0, 1e-300, 1e-9, 1e-3, 1, 1e3, 1e9, 1e300])
    both = np.concatenate([-difference, difference])
    for sd in (0.0, 1e-300, 1e-6, 1, 1e6, 1e300):
        result = power(both, sd, n, alpha=alpha, alternative=alternative)
        assert ((result >= 0) & (result <= 1)).all()
    target = (1 + alpha) / 2
    found = detectable_difference(1.0, n, alpha=alpha, power=target, alternative=alternative)
    assert np.isfinite(found)
    assert found > 0


@pytest.mark.parametrize("n", [2, 5, 100, 10**6])
def test_a_large_shift_is_certain_and_one_the_other_way_impossible(n: int) -> None:
    assert power([1e6, -1e6], 0.1, n, alternative="greater") == pytest.approx([1, 0], abs=1e-6)
    assert power([1e6, -1e6], 0.1, n, alternative="less") == pytest.approx([0, 1], abs=1e-6)


def test_without_spread_the_outcome_is_certain() -> None:
    assert power([-0.1, 0.0, 0.1], 0.0, 10).tolist() == [1.0, 0.0, 1.0]
    assert power([-0.1, 0.0, 0.1], 0.0, 10, alternative="greater").tolist() == [0.0, 0.0, 1.0]
    assert float(detectable_difference(0.0, 10)) == 0.0
    assert int(queries_needed(0.1, 0.0)) == 2


@given(n=sizes, sd=spreads, alpha=levels, alternative=st.sampled_from(ALTERNATIVES))
def test_without_a_difference_power_is_the_level(n: int, sd: float, alpha: float, alternative: Alternative) -> None:
    assert float(power(0.0, sd, n, alpha=alpha, alternative=alternative)) == pytest.approx(alpha, abs=1e-12)


@settings(max_examples=40)
@given(sd=spreads, n=sizes, wanted=st.floats(0.25, 0.99), alpha=levels, alternative=st.sampled_from(ALTERNATIVES))
def test_the_detectable_difference_is_detected_with_the_wanted_power(
    sd: float, n: int, wanted: float, alpha: float, alternative: Alternative
) -> None:
    d = detectable_difference(sd, n, alpha=alpha, power=wanted, alternative=alternative)
    signed = -d if alternative == "less" else d
    assert float(power(signed, sd, n, alpha=alpha, alternative=alternative)) == pytest.approx(wanted, abs=1e-9)
    assert int(queries_needed(signed, sd, alpha=alpha, power=wanted, alternative=alternative)) == n


@given(d=st.floats(0.002, 1.0), sd=spreads, wanted=st.floats(0.25, 0.99))  # below it takes more than ten million
def test_one_query_less_is_too_few(d: float, sd: float, wanted: float) -> None:
    n = int(queries_needed(d, sd, power=wanted))
    assert n >= 2
    assert float(power(d, sd, n)) >= wanted - 1e-9
    if n > 2:
        assert float(power(d, sd, n - 1)) < wanted


def test_arguments_broadcast() -> None:
    grid = power(np.array([0.01, 0.1])[:, None], 0.25, np.array([10, 100, 1000]))
    assert grid.shape == (2, 3)
    assert float(grid[1, 2]) == float(power(0.1, 0.25, 1000))
    assert detectable_difference([0.1, 0.2], [[10], [20]]).shape == (2, 2)
    assert queries_needed([0.05, 0.1], [[0.1], [0.2]]).shape == (2, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power(0.1, 0.2, 1), "'n_queries' must be a whole number of at least 2, got 1"),
        (lambda: power(0.1, 0.2, 10.5), "'n_queries' must be a whole number of at least 2, got 10.5"),
        (lambda: power(0.1, -0.2, 10), "'sd' must be a finite number of at least 0, got -0.2"),
        (lambda: power(np.nan, 0.2, 10), "'difference' must be a finite number, got nan"),
        (lambda: detectable_difference(0.2, 10, power=0.01), "'power' must be between alpha, 0.05, and 1, got 0.01"),
        (lambda: queries_needed(0, 0.2), r"\A'difference' must be other than 0 for the two-sided test, got 0\Z"),
        (lambda: queries_needed(-1, 0.2, alternative="greater"), r"must be above 0 for the greater test, got -1\Z"),
        (lambda: queries_needed(1, 0.2, alternative="less"), r"must be below 0 for the less test, got 1\Z"),
        (lambda: queries_needed(1e-6, 1.0), r"\AA difference of 1e-06 \(sd 1\) needs more than 10,000,000 queries"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(call: Any, message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        call()
