"""Effect sizes of all pairs, against scipy a pair at a time and the example of the ISMIR 2012 paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.effects import Effects, effect_sizes, paired_moments

matrices = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=8),
    elements=st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0]),
)


def against_nothing(columns: Floats) -> Floats:
    """Systems whose difference from the first is these columns."""
    return np.concatenate([np.zeros((len(columns), 1)), columns], axis=1)


@pytest.fixture(scope="module")
def scores() -> Floats:
    return np.random.default_rng(3).beta(2, 3, size=(40, 6))


def test_differences_have_scipys_t_interval(scores: Floats) -> None:
    effects = effect_sizes(scores, confidence=0.9)
    for a in range(6):
        for b in range(6):
            if a != b:
                interval = stats.ttest_rel(scores[:, a], scores[:, b]).confidence_interval(0.9)
                assert effects.low[a, b] == pytest.approx(interval.low, abs=1e-13)
                assert effects.high[a, b] == pytest.approx(interval.high, abs=1e-13)


def test_one_pair_of_mirex_2011_is_the_example_of_the_paper(mirex2011: aj.Collection) -> None:
    eff = aj.evaluate(mirex2011, ["CG@5"])
    effects = effect_sizes(eff.matrix(), systems=eff.systems)
    found = [
        pair
        for pair in effects.pairs()
        if (round(pair.difference, 4), round(pair.low, 4), round(pair.high, 4)) == (0.0815, 0.0508, 0.1122)
    ]
    assert len(found) == 1
    assert round(found[0].smallest_significant, 4) == 0.0307
    assert found[0].n_queries == 100
    assert "± 0.031, g = +" in str(found[0])


def test_a_mean_difference_of_the_smallest_significant_is_just_significant(scores: Floats) -> None:
    effects = effect_sizes(scores)
    pair = scores[:, 0] - scores[:, 1]
    moved = pair - pair.mean() + effects.smallest_significant[0, 1]
    assert stats.ttest_1samp(moved, 0.0).pvalue == pytest.approx(0.05, abs=1e-12)


def test_standardised_differences_are_t_over_the_root_of_queries(scores: Floats) -> None:
    effects = effect_sizes(scores)
    t = stats.ttest_rel(scores[:, 2], scores[:, 4]).statistic
    assert effects.d_z[2, 4] == pytest.approx(t / math.sqrt(40), abs=1e-13)
    exact = math.gamma(19.5) / (math.sqrt(19.5) * math.gamma(19.0))
    assert effects.g[2, 4] == pytest.approx(exact * effects.d_z[2, 4], abs=1e-12)
    assert exact == pytest.approx(1 - 3 / (4 * 39 - 1), abs=1e-4)  # Hedges' approximation


def test_hedges_g_is_without_bias_on_normal_differences() -> None:
    rng = np.random.default_rng(5)
    batches = [effect_sizes(against_nothing(rng.normal(0.5, 1.0, size=(6, 200)))) for _ in range(15)]
    g, d_z = (np.concatenate([getattr(batch, name)[1:, 0] for batch in batches]) for name in ("g", "d_z"))
    standard_error = g.std() / math.sqrt(g.size)
    assert abs(g.mean() - 0.5) < 3 * standard_error
    assert d_z.mean() - 0.5 > 3 * standard_error


def test_superiority_without_ties_has_the_wilson_interval(scores: Floats) -> None:
    effects = effect_sizes(scores)
    wins = int((scores[:, 0] > scores[:, 3]).sum())
    wilson = stats.binomtest(wins, 40).proportion_ci(0.95, method="wilson")
    assert effects.superiority[0, 3] == wins / 40
    assert effects.superiority_low[0, 3] == pytest.approx(wilson.low, abs=1e-13)
    assert effects.superiority_high[0, 3] == pytest.approx(wilson.high, abs=1e-13)


def test_a_tie_is_half_a_win() -> None:
    effects = effect_sizes([[0.3, 0.2], [0.5, 0.5], [0.1 + 0.2, 0.3], [0.1, 0.4]])
    assert effects.superiority[0, 1] == (1 + 2 / 2) / 4


def test_the_interval_of_superiority_covers_what_it_should() -> None:
    rng = np.random.default_rng(11)
    outcomes = rng.choice([1.0, 0.0, -1.0], p=[0.45, 0.3, 0.25], size=(30, 500))  # a tie in three of ten
    effects = effect_sizes(against_nothing(outcomes))
    low, high = effects.superiority_low[1:, 0], effects.superiority_high[1:, 0]
    assert ((low <= 0.6) & (high >= 0.6)).mean() >= 0.95


def test_identical_and_shifted_systems_have_defined_sizes() -> None:
    base = np.array([0.1, 0.4, 0.35, 0.7])
    effects = effect_sizes(np.column_stack([base, base, base + 0.1]), systems=["a", "same", "shifted"])
    same, ahead = effects.of("a", "same"), effects.of("shifted", "a")
    assert (same.difference, same.d_z, same.g, same.superiority, same.smallest_significant) == (0, 0, 0, 0.5, 0)
    assert same.superiority_low < 0.5 < same.superiority_high
    assert (ahead.d_z, ahead.g, ahead.superiority, ahead.smallest_significant) == (math.inf, math.inf, 1, 0)
    assert ahead.low == ahead.high == pytest.approx(0.1)
    assert effects.of("a", "shifted").g == -math.inf


def test_two_queries_give_no_corrected_size() -> None:
    assert effect_sizes([[0.1, 0.2], [0.1, 0.4]]).g[1, 0] == 0.0


def test_cells_left_out_are_left_out_pairwise() -> None:
    values = np.random.default_rng(1).random((12, 3))
    values[[0, 3], 0] = np.nan
    values[[3, 5], 1] = np.nan
    effects = effect_sizes(values)
    both = np.isfinite(values[:, :2]).all(axis=1)
    alone = effect_sizes(values[both, :2])
    assert effects.n_queries.tolist() == [[10, 9, 10], [9, 10, 10], [10, 10, 12]]
    for name in ("difference", "low", "g", "superiority", "superiority_high", "smallest_significant"):
        assert getattr(effects, name)[0, 1] == pytest.approx(getattr(alone, name)[0, 1], abs=1e-15), name


@given(matrices)
def test_whatever_the_values_nothing_is_nan_and_pairs_mirror(values: Floats) -> None:
    effects = effect_sizes(values)
    for name in Effects.__dataclass_fields__:
        if isinstance(array := getattr(effects, name), np.ndarray):
            assert not np.isnan(array).any(), name
    for mirrored in (effects.difference, effects.d_z, effects.g):
        assert (mirrored == -mirrored.T).all()
    assert (effects.smallest_significant == effects.smallest_significant.T).all()
    assert (effects.low == -effects.high.T).all()
    assert effects.superiority + effects.superiority.T == pytest.approx(1.0)
    assert effects.superiority_low + effects.superiority_high.T == pytest.approx(1.0)
    assert (effects.superiority_low <= effects.superiority + 1e-12).all()
    assert (np.diag(effects.superiority) == 0.5).all()


@given(matrices, st.floats(-2, 2))
def test_the_same_added_to_every_system_changes_nothing(values: Floats, shift: float) -> None:
    before, after = paired_moments(values, "abcdefgh"), paired_moments(values + shift, "abcdefgh")
    assert after.mean == pytest.approx(before.mean, abs=1e-12)
    assert after.sd == pytest.approx(before.sd, abs=1e-12)
    assert (after.wins == before.wins).all()


def test_it_prints_a_small_table_with_the_largest_difference_first() -> None:
    lines = str(effect_sizes(np.random.default_rng(2).random((9, 7)))).splitlines()
    assert lines[0] == "Effect sizes, 95 % intervals"
    assert len(lines) == 2 + 20 + 1
    assert lines[-1] == "… and 1 more"
    shown = [float(line.split("+")[1].split()[0]) for line in lines[2:-1]]
    assert shown == sorted(shown, reverse=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.1, 0.2]], r"\Aa comparison needs at least 2 queries, got 1\Z"),
        ([[0.1, np.nan], [0.2, np.nan], [np.nan, 1], [np.nan, 1]], r"\Asystems 's1' and 's2' share no query\Z"),
        (
            [[0.1, 0.3], [0.2, np.nan], [np.nan, 1]],
            r"\Asystems 's1' and 's2' share 1 query, a comparison needs at least 2\Z",
        ),
        ([0.1, 0.2], r"expected a matrix of queries x systems, got shape \(2,\)\Z"),
        ([[0.1, np.inf], [0.2, 0.1]], r"expected finite numbers, got inf for query \d, system 's\d'\Z"),
    ],
)
def test_too_little_to_compare_is_refused_in_one_line(values: list[list[float]], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        effect_sizes(values)


def test_names_and_confidence_are_checked() -> None:
    values = [[0.1, 0.2], [0.2, 0.1]]
    with pytest.raises(AdjudgeError, match="expected a name for each of 2 systems, got 1"):
        effect_sizes(values, systems=["a"])
    with pytest.raises(AdjudgeError, match=r"'confidence' must be in \(0, 1\), got 95"):
        effect_sizes(values, confidence=95)
    with pytest.raises(AdjudgeError, match="No system is called 'c'"):
        effect_sizes(values, systems=["a", "b"]).of("a", "c")
