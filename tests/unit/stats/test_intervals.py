"""Bootstrap intervals; those of Student and Wilson are held against SciPy where they are used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjudge.errors import AdjudgeError
from adjudge.stats.intervals import Method, bootstrap_differences, bootstrap_interval

each_method = pytest.mark.parametrize("method", ["bca", "percentile"])
SKEWED = np.random.default_rng(0).gamma(0.5, size=(30, 4))


@each_method
def test_an_interval_holds_the_mean_and_widens_with_confidence(method: Method) -> None:
    low, high = bootstrap_interval(SKEWED, method=method)
    wide_low, wide_high = bootstrap_interval(SKEWED, method=method, confidence=0.99)
    assert low.shape == high.shape == (4,)
    assert ((wide_low < low) & (low < SKEWED.mean(axis=0))).all()
    assert ((SKEWED.mean(axis=0) < high) & (high < wide_high)).all()


@each_method
def test_one_column_is_the_column_of_a_matrix(method: Method) -> None:
    low, high = bootstrap_interval(SKEWED, method=method)
    one_low, one_high = bootstrap_interval(SKEWED[:, 2], method=method)
    assert one_low.shape == ()
    assert float(one_low) == pytest.approx(low[2], rel=1e-12)
    assert float(one_high) == pytest.approx(high[2], rel=1e-12)


@each_method
def test_missing_queries_are_left_out(method: Method) -> None:
    values = SKEWED.copy()
    values[3:7, 1] = np.nan
    low, high = bootstrap_interval(values, method=method)
    alone = bootstrap_interval(np.delete(SKEWED[:, 1], range(3, 7)), method=method)
    assert (low[1], high[1]) == pytest.approx((float(alone[0]), float(alone[1])), rel=1e-12)
    full_low, _ = bootstrap_interval(SKEWED, method=method)
    assert low[0] == pytest.approx(full_low[0], rel=1e-12)


@each_method
def test_differences_are_intervals_of_paired_differences(method: Method) -> None:
    values = SKEWED.copy()
    values[:5, 3] = np.nan
    low, high = bootstrap_differences(values, method=method)
    for a, b in ((0, 1), (2, 0), (1, 3), (3, 2)):
        alone = bootstrap_interval(values[:, a] - values[:, b], method=method)
        tolerance = 1e-9 if a < b else 0.01  # the other way round, interpolation is from the other side
        assert (low[a, b], high[a, b]) == pytest.approx((float(alone[0]), float(alone[1])), abs=tolerance)
    np.testing.assert_array_equal(low, -high.T)
    assert (np.diag(low) == 0).all()


@each_method
def test_what_does_not_vary_has_an_interval_of_no_width(method: Method) -> None:
    values = np.column_stack([np.full(7, 0.1), np.zeros(7), np.arange(7.0)])
    low, high = bootstrap_interval(values, method=method)
    assert low[:2] == pytest.approx([0.1, 0.0], abs=1e-16)
    assert (low[:2] == high[:2]).all()
    assert low[2] < high[2]
    values = SKEWED[:, [0, 0, 1]] + [0.0, 0.1, 0.0]
    low, high = bootstrap_differences(values, method=method)
    assert low[1, 0] == high[1, 0] == pytest.approx(0.1)
    assert low[0, 1] == high[0, 1] == pytest.approx(-0.1)


def test_the_same_seed_gives_the_same_interval() -> None:
    one, same, other = (bootstrap_interval(SKEWED, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one[0] != other[0]).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.1], "a bootstrap needs at least 2 queries, got 1"),
        ([[0.1, np.nan], [0.2, 0.3]], "a bootstrap needs at least 2 queries, got 1"),
        ([], r"expected values of queries, got shape \(0,\)"),
        ([0.1, np.inf], "expected finite numbers, got an infinite one"),
    ],
)
def test_values_that_cannot_be_resampled_are_refused(values: Any, message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        bootstrap_interval(values)


def test_differences_refuse_what_they_cannot_do() -> None:
    with pytest.raises(AdjudgeError, match=r"a matrix of queries x systems.*got shape \(2,\)"):
        bootstrap_differences([0.1, 0.2])
    with pytest.raises(AdjudgeError, match="needs at least 2 queries, systems 1 and 2 share 0"):
        bootstrap_differences([[0.1, np.nan], [0.2, np.nan], [np.nan, 0.1], [np.nan, 0.2]])
    with pytest.raises(AdjudgeError, match="4 systems need over 1 GiB, ask for at most 33,554"):
        bootstrap_differences(SKEWED, resamples=10**8)
