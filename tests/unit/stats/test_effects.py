"""Effect sizes and equivalence of all pairs, against SciPy a pair at a time and the example of the ISMIR 2012 paper."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.effects import Effects, Verdict, effect_sizes, equivalence

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
    for a, b in permutations(range(6), 2):
        interval = stats.ttest_rel(scores[:, a], scores[:, b]).confidence_interval(0.9)
        assert (effects.low[a, b], effects.high[a, b]) == pytest.approx((interval.low, interval.high), abs=1e-13)


def test_one_pair_of_mirex_2011_is_the_example_of_the_paper(mirex2011: aj.Collection) -> None:
    """Significant, but too small to notice."""
    eff = aj.evaluate(mirex2011, ["CG@5"])
    effects = effect_sizes(eff.matrix(), systems=eff.systems)
    (pair,) = (pair for pair in effects.pairs() if round(pair.difference, 4) == 0.0815)
    assert (round(pair.low, 4), round(pair.high, 4)) == (0.0508, 0.1122)
    assert round(pair.smallest_significant, 4) == 0.0307
    assert pair.n_queries == 100
    assert "± 0.031, g = +" in str(pair)
    result = equivalence(eff.matrix(), margin=0.3, systems=eff.systems)
    assert result.verdict(pair.system, pair.other) is Verdict.BOTH


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


def test_superiority_without_ties_has_the_wilson_interval(scores: Floats) -> None:
    effects = effect_sizes(scores)
    wins = int((scores[:, 0] > scores[:, 3]).sum())
    wilson = stats.binomtest(wins, 40).proportion_ci(0.95, method="wilson")
    assert effects.superiority[0, 3] == wins / 40
    assert effects.superiority_low[0, 3] == pytest.approx(wilson.low, abs=1e-13)
    assert effects.superiority_high[0, 3] == pytest.approx(wilson.high, abs=1e-13)


def test_a_tie_is_half_a_win_and_the_interval_of_superiority_covers_what_it_should() -> None:
    effects = effect_sizes([[0.3, 0.2], [0.5, 0.5], [0.1 + 0.2, 0.3], [0.1, 0.4]])
    assert effects.superiority[0, 1] == (1 + 2 / 2) / 4
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
    assert effect_sizes([[0.1, 0.2], [0.1, 0.4]]).g[1, 0] == 0.0, "two queries give no corrected size"


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


def test_effects_and_equivalence_print_small_tables_with_the_largest_difference_first() -> None:
    lines = str(effect_sizes(np.random.default_rng(2).random((9, 7)))).splitlines()
    assert lines[0] == "Effect sizes, 95 % intervals"
    assert len(lines) == 2 + 20 + 1
    assert lines[-1] == "… and 1 more"
    shown = [float(line.split("+")[1].split()[0]) for line in lines[2:-1]]
    assert shown == sorted(shown, reverse=True)
    text = str(equivalence(pair(0.02, 0.03), margin=0.05, systems=["a", "b"]))
    assert text.startswith("Equivalence within ±0.05, t tests, alpha 0.05")
    assert "different but too small to notice" in " ".join(text.split())


@pytest.mark.parametrize("compare", [effect_sizes, partial(equivalence, margin=0.1)])
def test_too_little_to_compare_and_unknown_systems_are_refused(compare: Callable[..., Any]) -> None:
    with pytest.raises(AdjudgeError, match="a comparison needs at least 2 queries, got 1"):
        compare([[0.1, 0.2]])
    with pytest.raises(AdjudgeError, match="systems 's1' and 's2' share no query"):
        compare([[0.1, np.nan], [0.2, np.nan], [np.nan, 1], [np.nan, 1]])
    result = compare([[0.1, 0.2], [0.2, 0.1]], systems=["a", "b"])
    with pytest.raises(AdjudgeError, match="No system is called 'c'"):
        (result.of if isinstance(result, Effects) else result.verdict)("a", "c")


def sides(margin: float) -> list[tuple[float, str]]:
    """What to add to differences, and what to ask of them then."""
    return [(margin, "greater"), (-margin, "less")]


def one_sided(test: str, difference: Floats, alternative: str) -> float:
    """SciPy's p-value of differences that are above, or below, 0."""
    if test == "t":
        return float(stats.ttest_1samp(difference, 0.0, alternative=alternative).pvalue)
    if test == "wilcoxon":
        return float(stats.wilcoxon(difference, alternative=alternative, method="exact").pvalue)
    if test == "sign":
        return float(stats.binomtest(int((difference > 0).sum()), len(difference), alternative=alternative).pvalue)
    found = stats.permutation_test(
        (difference,), np.mean, permutation_type="samples", alternative=alternative, n_resamples=np.inf
    )
    return float(found.pvalue)


def pair(mean: float, sd: float, n: int = 50) -> Floats:
    """Two systems whose differences have exactly this mean and standard deviation."""
    noise = np.random.default_rng(n).normal(size=n)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    return np.column_stack([0.5 + mean + sd * noise, np.full(n, 0.5)])


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.2])
def test_p_is_the_larger_of_two_one_sided_t_tests(margin: float) -> None:
    values = np.random.default_rng(9).beta(2, 2, size=(30, 5))
    result = equivalence(values, margin=margin)
    for a, b in permutations(range(5), 2):
        above, below = (one_sided("t", values[:, a] - values[:, b] + m, side) for m, side in sides(margin))
        assert result.p[a, b] == pytest.approx(max(above, below), abs=1e-13)
        usual = stats.ttest_rel(values[:, a], values[:, b])
        assert result.p_difference[a, b] == pytest.approx(usual.pvalue, abs=1e-13)
        interval = usual.confidence_interval(0.90)
        assert (result.low[a, b], result.high[a, b]) == pytest.approx((interval.low, interval.high), abs=1e-13)


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "permutation"])
@pytest.mark.parametrize("margin", [0.01, 0.1, 0.4])
def test_equivalence_follows_the_test_that_is_chosen(test: str, margin: float) -> None:
    values = np.random.default_rng(11).beta(2, 2, size=(12, 4))
    values[0, 3] = np.nan
    result = equivalence(values, margin=margin, test=test)
    for a, b in ((0, 1), (1, 2), (2, 0), (3, 1)):
        difference = values[:, a] - values[:, b]
        difference = difference[np.isfinite(difference)]
        above, below = (one_sided(test, difference + m, side) for m, side in sides(margin))
        assert result.p[a, b] == pytest.approx(max(above, below), abs=1e-12)
        assert result.p[a, b] == result.p[b, a]


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_resampled_equivalence_is_that_of_a_plain_loop(test: str) -> None:
    """Both have their own draws, and errors to match."""
    rng, margin, n = np.random.default_rng(12), 0.12, 25
    values = rng.beta(2, 3, size=(n, 2))
    found = equivalence(values, margin=margin, test=test, resamples=20_000, seed=1).p[0, 1]
    p = []
    for difference in (values[:, 0] - values[:, 1] + margin, values[:, 1] - values[:, 0] + margin):
        if test == "permutation":
            drawn = (rng.choice([-1, 1], size=(20_000, n)) * difference).mean(axis=1)
        else:
            centred = difference - difference.mean()
            drawn = rng.choice(centred, size=(20_000, n)).mean(axis=1)
        p.append(np.mean(drawn >= difference.mean()))
    assert found == pytest.approx(max(p), abs=5 * np.sqrt(2 * 0.25 / 20_000) * 2 * np.sqrt(max(p)))


@pytest.mark.parametrize(
    ("mean", "sd", "verdict"),
    [
        (0.001, 0.05, Verdict.EQUIVALENT),
        (0.2, 0.05, Verdict.DIFFERENT),
        (0.02, 0.03, Verdict.BOTH),
        (0.05, 0.4, Verdict.UNDECIDED),
        (0.08, 0.1, Verdict.DIFFERENT),
    ],
)
def test_each_verdict_is_given_where_it_is_due(mean: float, sd: float, verdict: Verdict) -> None:
    result = equivalence(pair(mean, sd), margin=0.05, systems=["a", "b"])
    assert result.verdict("a", "b") is verdict
    assert result.verdict("b", "a") is verdict
    assert result.verdicts[0, 1] == verdict


def test_without_spread_nothing_is_uncertain() -> None:
    base = np.array([0.1, 0.4, 0.35, 0.7])
    values = np.column_stack([base, base, base + 0.01, base + 0.05, base + 0.2])
    result = equivalence(values, margin=0.05, systems=["a", "same", "near", "at", "far"])
    assert [result.verdict("a", name) for name in ("same", "near", "at", "far")] == [
        Verdict.EQUIVALENT,
        Verdict.BOTH,
        Verdict.DIFFERENT,
        Verdict.DIFFERENT,
    ]
    assert result.p[0] == pytest.approx([0.0, 0.0, 0.0, 1.0, 1.0])
    assert result.p_difference[0] == pytest.approx([1.0, 1.0, 0.0, 0.0, 0.0])
    assert (result.p > 0).all()


@given(matrices, st.floats(0.001, 2), st.floats(0.001, 0.4))
def test_the_interval_inside_the_margin_means_equivalent(values: Floats, margin: float, alpha: float) -> None:
    result = equivalence(values, margin=margin, alpha=alpha)
    assert not np.isnan(result.p).any()
    assert (result.p == result.p.T).all()
    assert (result.p_difference == result.p_difference.T).all()
    room = np.minimum(result.low + margin, margin - result.high)
    assert result.equivalent[room > 1e-9].all()
    assert not result.equivalent[room < -1e-9].any()
