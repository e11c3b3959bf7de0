"""What a second set of queries says of the first: counting, against a slow loop over the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import AdjudgeError
from adjudge.experiments.conflicts import (
    LEVELS,
    OUTCOMES,
    Paired,
    check_levels,
    count_outcomes,
    jackknifed,
    leading,
    left_out,
    outcome_rates,
    relative_error,
)

Row = tuple[Any, ...]
SAMPLES, TESTS = ("A", "B"), ("t", "sign")
P = st.sampled_from([0.0001, 0.0004, 0.001, 0.0011, 0.01, 0.05, 0.050001, 0.2, 0.5, 0.9, 1.0])
DIFFERENCE = st.sampled_from([-0.3, -0.1, 0.0, 1e-17, 0.2])
ROW = st.tuples(
    st.integers(0, 2), st.sampled_from(SAMPLES), st.sampled_from([5, 9]), DIFFERENCE, DIFFERENCE, P, P, P, P
)
COLUMNS = ("trial", "sample", "n_queries", "difference", "difference_again", "t", "t_again", "sign", "sign_again")


def outcome_of(p: float, again: float, sign: int, sign_again: int, alpha: float) -> str:
    """Thesis section 5.3, word for word; equal means are nobody's victory."""
    if p > alpha or sign == 0:
        return "non_significant"
    significant = again <= alpha
    if sign_again == sign:
        return "success" if significant else "lack_of_power"
    if sign_again == -sign:
        return "major_conflict" if significant else "minor_conflict"
    return "lack_of_power"


def way(difference: float) -> int:
    return 0 if abs(difference) < 1e-9 else 1 if difference > 0 else -1


def table(rows: Sequence[Row]) -> pl.DataFrame:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}
    return pl.DataFrame(columns, schema_overrides={"sample": pl.Enum(SAMPLES)})


@given(st.lists(ROW, min_size=1, max_size=40))
def test_counts_are_those_of_a_loop_over_the_definitions(rows: Sequence[Row]) -> None:
    paired = Paired.from_rows(table(rows), SAMPLES, TESTS, 1.0)
    counts = count_outcomes(paired, LEVELS)
    trials = sorted({row[0] for row in rows})
    slow = {outcome: np.zeros(counts.significant.shape) for outcome in OUTCOMES}
    for trial, sample, size, first, second, *p in rows:
        cell = (trials.index(trial), SAMPLES.index(sample), paired.sizes.index(size))
        for test in range(2):
            one, two = p[2 * test], p[2 * test + 1]
            for j, alpha in enumerate(LEVELS):
                for a, b, sign, other in ((one, two, way(first), way(second)), (two, one, way(second), way(first))):
                    slow[outcome_of(a, b, sign, other, alpha)][(*cell, test, j)] += 1
    slow["global_conflict"] = slow["minor_conflict"] + slow["major_conflict"]
    significant = sum(slow[name] for name in ("success", "lack_of_power", "global_conflict"))
    for outcome in OUTCOMES:
        hits, cases = counts.ratio(outcome)
        assert np.array_equal(hits, slow[outcome]), outcome
        assert np.array_equal(cases, significant + (slow["non_significant"] if outcome == "non_significant" else 0))


def test_there_are_32_levels_from_0_0001_to_0_5() -> None:
    assert len(LEVELS) == 32
    assert list(LEVELS) == sorted(LEVELS)
    assert (LEVELS[0], LEVELS[8], LEVELS[9], LEVELS[-1]) == (0.0001, 0.0009, 0.001, 0.5)


def test_rates_after_the_first_are_shares_of_the_significant() -> None:
    # Two comparisons: one repeats, one is significant in the first set only and turns round in the second.
    rows = [(0, "A", 5, 0.1, 0.2, 0.01, 0.02, 1.0, 1.0), (0, "A", 5, 0.1, -0.1, 0.01, 0.6, 1.0, 1.0)]
    counts = count_outcomes(Paired.from_rows(table(rows), ("A", "B"), ("t",), 1.0), [0.05])
    found = outcome_rates(counts.pooled(samples=True, tests=True), [{"n_queries": 5}]).to_dicts()[0]
    assert found["significant"] == 3
    assert found["non_significant"] == pytest.approx(1 / 4)
    assert found["success"] == pytest.approx(2 / 3)
    assert found["minor_conflict"] == found["global_conflict"] == pytest.approx(1 / 3)
    assert found["major_conflict"] == found["lack_of_power"] == 0


def test_fewer_levels_of_the_same_counts_are_the_same_as_counting_at_them() -> None:
    rng = np.random.default_rng(1)
    rows = [(i % 3, "AB"[i % 2], 5, *rng.normal(size=2), *rng.random(4)) for i in range(60)]
    paired = Paired.from_rows(table(rows), SAMPLES, TESTS, 1.0)
    some = [0.5, 0.05, 0.1]
    for outcome in OUTCOMES:
        for mine, theirs in zip(
            count_outcomes(paired, LEVELS).at(some).ratio(outcome),
            count_outcomes(paired, some).ratio(outcome),
            strict=True,
        ):
            assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("levels", [[], [0.0], [0.05, 1.0], [-0.1]])
def test_levels_that_are_none_are_refused(levels: list[float]) -> None:
    with pytest.raises(AdjudgeError, match=r"levels must be in \(0, 1\), got"):
        check_levels(levels)


def test_a_conflict_rate_equal_to_its_level_is_exact() -> None:
    levels = np.array(LEVELS)
    assert relative_error(levels, levels) == 0
    assert relative_error(2 * levels, levels) == pytest.approx(1)
    assert relative_error(np.where(levels < 0.01, np.nan, levels / 2), levels) == pytest.approx(0.5)


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    hits = np.random.default_rng(2).random(30)
    error = jackknifed(left_out(hits, np.ones(30)))
    assert float(error) == pytest.approx(float(hits.std(ddof=1) / np.sqrt(30)))
    assert np.isinf(jackknifed(np.ones((1, 2)))).all()


def test_equals_are_seldom_told_apart_also_with_few_trials() -> None:
    rng = np.random.default_rng(1)
    alone = 0
    for _ in range(400):
        hits = rng.binomial(150, rng.beta(20, 8, (5, 1)), (5, 2)).astype(float)
        cases = np.full((5, 2), 150.0)
        alone += len(leading(["a", "b"], hits.sum(axis=0) / 750, left_out(hits, cases))) == 1
    assert alone < 0.08 * 400


def test_what_is_clearly_better_leads_alone_and_names_without_a_value_never() -> None:
    rng = np.random.default_rng(2)
    without = np.column_stack([rng.normal(level, 0.001, 50) for level in (0.4, 0.5)] + [np.full(50, np.nan)])
    value = np.array([0.4, 0.5, np.nan])
    assert leading(["a", "b", "c"], value, without) == ("a",)
    assert leading(["a", "b", "c"], value, without, highest=True) == ("b",)
    assert leading(["a", "b"], np.full(2, np.nan), without[:, :2]) == ("a", "b")


def test_one_trial_tells_nothing_apart() -> None:
    assert leading(["a", "b"], np.array([0.1, 0.9]), np.array([[0.1, 0.9]])) == ("a", "b")
