"""Two-way ANOVA, against a textbook, least squares, scipy and the tables of the thesis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.gtheory.anova import anova

VASCULAR_GRAFTS = np.array(
    [  # Montgomery, Design and Analysis of Experiments, Example 4.1: blocks x treatments
        [90.3, 92.5, 85.5, 82.5],
        [89.2, 89.5, 90.8, 89.5],
        [98.2, 90.6, 89.6, 85.6],
        [93.9, 94.7, 86.2, 87.4],
        [87.4, 87.0, 88.0, 78.9],
        [97.9, 95.8, 93.4, 90.7],
    ]
)
matrices = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9), elements=st.floats(0, 1, width=32)
)


def residual_squares(values: Floats, *effects: str) -> float:
    """Sum of squares left by least squares on a design of dummy variables."""
    queries, systems = np.indices(values.shape)
    columns = [np.ones(values.size)]
    for place, name in ((queries, "queries"), (systems, "systems")):
        if name in effects:
            columns += [(place.ravel() == level).astype(float) for level in range(1, place.max() + 1)]
    design = np.column_stack(columns)
    fitted = design @ np.linalg.lstsq(design, values.ravel(), rcond=None)[0]
    return float(((values.ravel() - fitted) ** 2).sum())


def test_montgomerys_randomised_blocks_come_out() -> None:
    table = anova(VASCULAR_GRAFTS)
    sources = (table.systems, table.queries, table.residual)
    assert [round(source.sum_of_squares, 2) for source in sources] == [178.17, 192.25, 109.89]
    assert [source.df for source in sources] == [3, 5, 15]
    assert round(table.total, 2) == 480.31
    assert table.systems.f == pytest.approx(8.11, abs=0.005)
    assert table.systems.p == pytest.approx(0.0019, abs=5e-5)
    assert round(table.residual.mean_square, 2) == 7.33
    assert "8.11" in str(table)


def test_effect_sizes_are_those_of_the_textbook_formulas() -> None:
    table = anova(VASCULAR_GRAFTS)
    ss_s, ss_e, ss_t, ms_e, n = 178.17125, 109.88625, 480.31, 109.88625 / 15, 24
    f = (ss_s / 3) / ms_e
    assert table.eta2 == pytest.approx(ss_s / ss_t, abs=1e-4)
    assert table.partial_eta2 == pytest.approx(3 * f / (3 * f + 15), abs=1e-4)
    assert table.omega2 == pytest.approx((ss_s - 3 * ms_e) / (ss_t + ms_e), abs=1e-4)
    assert table.partial_omega2 == pytest.approx(3 * (f - 1) / (3 * (f - 1) + n), abs=1e-4)
    assert table.partial_eta2 == pytest.approx(ss_s / (ss_s + ss_e), abs=1e-4)


@given(matrices)
def test_sums_of_squares_are_those_of_least_squares(values: Floats) -> None:
    table = anova(values)
    both = residual_squares(values, "queries", "systems")
    assert table.residual.sum_of_squares == pytest.approx(both, abs=1e-9)
    assert table.systems.sum_of_squares == pytest.approx(residual_squares(values, "queries") - both, abs=1e-9)
    assert table.queries.sum_of_squares == pytest.approx(residual_squares(values, "systems") - both, abs=1e-9)
    assert table.total == pytest.approx(((values - values.mean()) ** 2).sum(), abs=1e-9)


@given(matrices)
def test_everything_is_defined_and_in_bounds(values: Floats) -> None:
    table = anova(values)
    for source in (table.systems, table.queries):
        assert source.f is not None
        assert source.f >= 0
        assert source.p is not None
        assert 0 <= source.p <= 1
    assert 0 <= table.eta2 <= table.partial_eta2 <= 1 or table.eta2 == pytest.approx(table.partial_eta2)
    assert table.omega2 <= table.eta2 + 1e-12
    assert table.partial_omega2 <= table.partial_eta2 + 1e-12


def test_p_is_the_tail_of_scipys_f_and_two_systems_have_that_of_the_paired_t() -> None:
    values = np.random.default_rng(4).random((25, 2))
    paired = stats.ttest_rel(values[:, 0], values[:, 1])
    assert anova(values).systems.p == pytest.approx(paired.pvalue, rel=1e-10)
    table = anova(np.random.default_rng(6).random((20, 5)))
    assert table.systems.p == pytest.approx(stats.f.sf(table.systems.f, 4, 76), rel=1e-12)
    assert table.queries.p == pytest.approx(stats.f.sf(table.queries.f, 19, 76), rel=1e-12)


def test_nothing_left_over_is_defined() -> None:
    additive = anova([[0.1, 0.2, 0.4], [0.2, 0.3, 0.5], [0.7, 0.8, 1.0]])
    assert (additive.systems.f, additive.systems.p) == (math.inf, 0.0)
    assert (additive.queries.f, additive.queries.p) == (math.inf, 0.0)
    assert additive.partial_eta2 == additive.partial_omega2 == 1.0
    constant = anova(np.full((3, 4), 0.3))
    assert (constant.systems.f, constant.systems.p, constant.eta2, constant.omega2) == (0.0, 1.0, 0.0, 0.0)
    only_queries = anova([[0.1, 0.1], [0.5, 0.5], [0.7, 0.7]])
    assert (only_queries.systems.f, only_queries.systems.p) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.1, 0.2]], "ANOVA: expected at least 2 queries and 2 systems, got 1 x 2"),
        ([[0.1], [0.2]], "ANOVA: expected at least 2 queries and 2 systems, got 2 x 1"),
        ([[0.1, np.nan], [0.2, 0.3]], "ANOVA: expected every system on every query, got 1 empty cells of 4"),
    ],
)
def test_what_cannot_be_analysed_is_refused_in_one_line(values: list[list[float]], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        anova(values)
