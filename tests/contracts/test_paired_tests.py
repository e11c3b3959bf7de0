"""What every registered paired test must obey."""

from __future__ import annotations

import inspect
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adjudge.arrays import Floats
from adjudge.checks import Alternative
from adjudge.errors import AdjudgeError
from adjudge.stats.paired import PAIRED_TESTS, PairedTests, paired_tests

ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
RESAMPLES = 2000
each_test = pytest.mark.parametrize("test", PAIRED_TESTS)
each_alternative = pytest.mark.parametrize("alternative", ALTERNATIVES)


def noisy(seed: int, n: int = 30, k: int = 4, *, grid: int = 64) -> Floats:
    """Effectiveness with query effects, on a grid of binary fractions, so that sums and shifts are exact."""
    rng = np.random.default_rng(seed)
    values = rng.random((n, 1)) + 0.5 * rng.random((n, k)) + 0.05 * np.arange(k)
    return np.round(values * grid) / grid


def with_gaps(seed: int) -> Floats:
    values = noisy(seed)
    values[:3, 0] = values[2:6, 2] = values[20:, 3] = np.nan
    return values


def run(values: Floats, test: str, alternative: Alternative = "two-sided", seed: int = 0) -> PairedTests:
    return paired_tests(values, test=test, alternative=alternative, resamples=RESAMPLES, seed=seed)


@each_test
def test_a_test_says_what_it_is(test: str) -> None:
    definition = PAIRED_TESTS[test]
    assert definition.name == test
    assert all("\n" not in text and text for text in (definition.title, definition.hypothesis, definition.reference))
    docstring = inspect.getdoc(definition.function) or ""
    assert "Reference: " in docstring
    assert ">>> " in docstring


@each_test
@each_alternative
def test_p_values_are_probabilities_and_never_0(test: str, alternative: Alternative) -> None:
    values = with_gaps(1) + np.array([0.0, 0.0, 0.0, 40.0])
    result = run(values, test, alternative)
    assert result.p.shape == result.error.shape == result.statistic.shape == result.n.shape == (4, 4)
    assert ((result.p > 0) & (result.p <= 1)).all()
    assert ((result.error >= 0) & (result.error <= 0.5 / np.sqrt(RESAMPLES))).all()
    assert (np.diag(result.p) == 1).all()
    assert np.isfinite(result.statistic).all()


@each_test
def test_a_against_b_is_b_against_a_the_other_way_round(test: str) -> None:
    values = with_gaps(2)
    greater, less, both = (run(values, test, alternative) for alternative in ("greater", "less", "two-sided"))
    assert (greater.p == less.p.T).all()
    assert (greater.error == less.error.T).all()
    assert (both.p == both.p.T).all()


@each_test
@each_alternative
def test_identical_systems_do_not_differ(test: str, alternative: Alternative) -> None:
    column = np.random.default_rng(3).random(20)
    result = run(np.column_stack([column, column, column + 1e-16, column * (1 + 1e-16)]), test, alternative)
    assert (result.p == 1).all()


@each_test
@each_alternative
def test_a_constant_difference_has_a_defined_answer(test: str, alternative: Alternative) -> None:
    column = np.random.default_rng(4).random(20)
    result = run(np.column_stack([column + 0.1, column]), test, alternative)
    assert ((result.p > 0) & (result.p <= 1)).all()
    assert (result.p[0, 1] < 0.01) == (alternative != "less")
    assert (result.p[1, 0] < 0.01) == (alternative != "greater")


@each_test
@each_alternative
def test_two_queries_are_enough_for_an_answer(test: str, alternative: Alternative) -> None:
    result = run(np.array([[0.5, 0.25, 0.5], [0.5, 0.75, 0.25]]), test, alternative)
    assert ((result.p > 0) & (result.p <= 1)).all()


@each_test
@each_alternative
def test_shifting_all_values_of_a_query_changes_nothing(test: str, alternative: Alternative) -> None:
    values = noisy(5)
    shifts = np.random.default_rng(5).integers(-8, 8, size=(len(values), 1)) / 4
    np.testing.assert_allclose(run(values + shifts, test, alternative).p, run(values, test, alternative).p, rtol=1e-12)


@each_test
@each_alternative
def test_the_unit_of_effectiveness_does_not_matter(test: str, alternative: Alternative) -> None:
    values = noisy(6)
    np.testing.assert_allclose(run(values * 128, test, alternative).p, run(values, test, alternative).p, rtol=1e-12)


@each_test
@each_alternative
@pytest.mark.parametrize("unit", [5, 10, 1 / 3])
def test_the_unit_of_a_discrete_measure_does_not_matter(test: str, alternative: Alternative, unit: float) -> None:
    """P@5 as fifths and as whole numbers: .6 - .4 and .8 - .6 are not the same float, 3 - 2 and 4 - 3 are."""
    for n in (8, 12, 40):
        values = np.random.default_rng(n).integers(0, 6, size=(n, 5)) / 5
        given, scaled = run(values, test, alternative), run(values * unit, test, alternative)
        np.testing.assert_allclose(scaled.p, given.p, rtol=1e-9)


@each_test
def test_the_order_of_queries_does_not_matter(test: str) -> None:
    values = noisy(7)
    one, other = run(values, test), run(np.random.default_rng(7).permutation(values), test)
    slack = 5 * np.hypot(one.error, other.error) + 1e-12
    assert (np.abs(one.p - other.p) <= slack).all()


@each_test
def test_the_order_of_systems_does_not_matter(test: str) -> None:
    values, order = with_gaps(8), [2, 0, 3, 1]
    np.testing.assert_array_equal(run(values[:, order], test).p, run(values, test).p[np.ix_(order, order)])


@each_test
@each_alternative
def test_a_pair_does_not_depend_on_other_systems_nor_on_queries_one_of_them_lacks(
    test: str, alternative: Alternative
) -> None:
    values = with_gaps(9)
    together = run(values, test, alternative)
    for a, b in ((0, 1), (0, 3), (2, 3)):
        pair = values[:, [a, b]]
        alone = run(pair[np.isfinite(pair).all(axis=1)], test, alternative)
        assert together.p[a, b] == pytest.approx(alone.p[0, 1], rel=1e-12)
        assert together.statistic[a, b] == pytest.approx(alone.statistic[0, 1], rel=1e-9)
        assert together.n[a, b] == alone.n[0, 1]


@each_test
def test_the_same_seed_gives_the_same_answer(test: str) -> None:
    values = noisy(10)
    one, same, other = run(values, test), run(values, test), run(values, test, seed=1)
    np.testing.assert_array_equal(one.p, same.p)
    assert (one.seed is None) == (not PAIRED_TESTS[test].resampled)
    assert (one.p == other.p).all() == (one.seed is None)


@each_test
def test_two_sided_agrees_with_one_sided(test: str) -> None:
    values = noisy(11)
    both, greater, less = (run(values, test, alternative) for alternative in ALTERNATIVES)
    smaller = np.minimum(greater.p, less.p)
    assert (both.p >= smaller - 5 * both.error).all()
    if test == "bootstrap":  # the tails of differences are those of the data, which need not be symmetric
        assert (both.p <= 1.5 * 2 * smaller + 5 * both.error).all()
    else:
        slack = 5 * (both.error + 2 * greater.error) + 1e-12
        np.testing.assert_array_less(np.abs(both.p - np.minimum(1, 2 * smaller)), slack)


@each_test
def test_a_better_system_is_found_better(test: str) -> None:
    values = noisy(12) + np.array([0.0, 0.0, 0.0, 0.5])
    assert (run(values, test, "greater").p[3, :3] < 0.01).all()
    assert (run(values, test, "less").p[3, :3] > 0.99).all()


@each_test
def test_a_test_keeps_its_level(test: str) -> None:
    """Null hypothesis true 2,000 times, skewed values, 50 queries. The bootstrap's true level is 0.058 here: it takes
    the spread of the sample for that of the population, and no account of not knowing it."""
    rng = np.random.default_rng(13)
    alpha, trials = 0.05, 2000
    true_level = 0.058 if test == "bootstrap" else alpha
    values = rng.gamma(1.0, size=(trials, 50, 1)) + rng.gamma(0.5, size=(trials, 50, 2))
    rejected = [
        paired_tests(trial, test=test, resamples=399, seed=seed).p[0, 1] <= alpha for seed, trial in enumerate(values)
    ]
    deviation = np.sqrt(alpha * (1 - alpha) / trials)
    assert np.mean(rejected) <= true_level + 3.5 * deviation
    if test != "sign":
        assert np.mean(rejected) >= alpha - 3.5 * deviation


@each_test
@settings(max_examples=30, deadline=None)
@given(
    values=arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 4)), elements=st.sampled_from([0, 0.25, 1])),
    alternative=st.sampled_from(ALTERNATIVES),
)
def test_small_tied_samples_have_defined_answers(test: str, values: Floats, alternative: Alternative) -> None:
    result = paired_tests(values, test=test, alternative=alternative, resamples=100)
    assert ((result.p > 0) & (result.p <= 1)).all()
    assert not np.isnan(result.statistic).any()


@each_test
def test_bad_input_gets_one_clear_line(test: str) -> None:
    nan = np.nan
    cases: dict[str, Any] = {
        "systems 's1' and 's2' share no query": [[0.1, nan], [nan, 0.2]],
        "systems 's2' and 's3' share 1 query, a comparison needs at least 2": [
            [0.1, nan, 0.2],
            [0.2, 0.3, 0.1],
            [0.1, 0.2, nan],
        ],
        "a comparison needs at least 2 queries, got 1": [[0.1, 0.2]],
        "a comparison needs at least 2 systems, got 1": [[0.1], [0.2]],
        "expected finite numbers, got inf for query 2, system 's1'": [[0.1, 0.2], [np.inf, 0.1]],
        r"expected a matrix of queries x systems, got shape \(2,\)": [0.1, 0.2],
    }
    for message, values in cases.items():
        with pytest.raises(AdjudgeError, match=f"^{message}$"):
            paired_tests(values, test=test)
