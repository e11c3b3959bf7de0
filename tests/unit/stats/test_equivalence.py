"""Two one-sided tests of all pairs, against scipy's one-sided t tests and what the verdicts should mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.equivalence import Verdict, equivalence

matrices = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=8),
    elements=st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0]),
)


def scipy_tost(difference: Floats, margin: float) -> float:
    above = stats.ttest_1samp(difference, -margin, alternative="greater").pvalue
    below = stats.ttest_1samp(difference, margin, alternative="less").pvalue
    return float(max(above, below))


def pair(mean: float, sd: float, n: int = 50) -> Floats:
    """Two systems whose differences have exactly this mean and standard deviation."""
    noise = np.random.default_rng(n).normal(size=n)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    return np.column_stack([0.5 + mean + sd * noise, np.full(n, 0.5)])


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.2])
def test_p_is_the_larger_of_two_one_sided_t_tests(margin: float) -> None:
    values = np.random.default_rng(9).beta(2, 2, size=(30, 5))
    result = equivalence(values, margin=margin)
    for a in range(5):
        for b in range(5):
            if a != b:
                difference = values[:, a] - values[:, b]
                assert result.p[a, b] == pytest.approx(scipy_tost(difference, margin), abs=1e-13)
                usual = stats.ttest_rel(values[:, a], values[:, b])
                assert result.p_difference[a, b] == pytest.approx(usual.pvalue, abs=1e-13)
                interval = usual.confidence_interval(0.90)
                assert result.low[a, b] == pytest.approx(interval.low, abs=1e-13)
                assert result.high[a, b] == pytest.approx(interval.high, abs=1e-13)


def one_sided(test: str, difference: Floats, alternative: str) -> float:
    """SciPy's p-value of differences that are above, or below, 0."""
    if test == "wilcoxon":
        return float(stats.wilcoxon(difference, alternative=alternative, method="exact").pvalue)
    if test == "sign":
        return float(stats.binomtest(int((difference > 0).sum()), len(difference), alternative=alternative).pvalue)
    found = stats.permutation_test(
        (difference,), np.mean, permutation_type="samples", alternative=alternative, n_resamples=np.inf
    )
    return float(found.pvalue)


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "permutation"])
@pytest.mark.parametrize("margin", [0.01, 0.1, 0.4])
def test_equivalence_follows_the_test_that_is_chosen(test: str, margin: float) -> None:
    values = np.random.default_rng(11).beta(2, 2, size=(12, 4))
    values[0, 3] = np.nan
    result = equivalence(values, margin=margin, test=test)
    for a, b in ((0, 1), (1, 2), (2, 0), (3, 1)):
        difference = values[:, a] - values[:, b]
        difference = difference[np.isfinite(difference)]
        above, below = (
            one_sided(test, difference + shift, side) for shift, side in ((margin, "greater"), (-margin, "less"))
        )
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


def test_the_words_of_the_verdicts_are_kept() -> None:
    assert {str(verdict) for verdict in Verdict} == {
        "equivalent",
        "different",
        "different but too small to notice",
        "undecided",
    }


def test_systems_at_the_margin_are_seldom_called_equivalent() -> None:
    rng = np.random.default_rng(10)
    values = np.concatenate([np.zeros((25, 1)), rng.normal(0.05, 0.1, size=(25, 600))], axis=1)
    result = equivalence(values, margin=0.05)
    assert result.equivalent[1:, 0].mean() == pytest.approx(0.05, abs=0.025)


def test_the_pair_of_the_paper_is_significant_but_too_small_to_notice(mirex2011: aj.Collection) -> None:
    eff = aj.evaluate(mirex2011, ["CG@5"])
    result = equivalence(eff.matrix(), margin=0.3, systems=eff.systems)
    a, b = np.argwhere(result.difference.round(4) == 0.0815)[0]
    assert result.verdict(eff.systems[a], eff.systems[b]) is Verdict.BOTH


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


@given(matrices, st.floats(0.01, 1), st.floats(0, 1))
def test_a_wider_margin_never_takes_equivalence_away(values: Floats, margin: float, more: float) -> None:
    narrow, wide = equivalence(values, margin=margin), equivalence(values, margin=margin + more)
    assert (wide.p <= narrow.p).all()


def test_cells_left_out_are_left_out_pairwise() -> None:
    values = np.random.default_rng(1).random((12, 3))
    values[0, 0] = np.nan
    result, alone = equivalence(values, margin=0.1), equivalence(values[1:], margin=0.1)
    assert result.p[0, 1] == pytest.approx(alone.p[0, 1], abs=1e-14)
    assert result.p[1, 2] != alone.p[1, 2]


def test_it_prints_a_small_table() -> None:
    text = str(equivalence(pair(0.02, 0.03), margin=0.05, systems=["a", "b"]))
    assert text.splitlines()[0].startswith("Equivalence within ±0.05, t tests, alpha 0.05")
    assert "different but too small to notice" in " ".join(text.split())


@pytest.mark.parametrize("margin", [0, -0.1, np.nan, np.inf])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(AdjudgeError, match=r"\A'margin' must be a finite number above 0, got "):
        equivalence([[0.1, 0.2], [0.2, 0.1]], margin=margin)


def test_levels_and_names_are_checked() -> None:
    values = [[0.1, 0.2], [0.2, 0.1]]
    with pytest.raises(AdjudgeError, match=r"'alpha' must be in \(0, 0.5\), got 0.5"):
        equivalence(values, margin=0.1, alpha=0.5)
    with pytest.raises(AdjudgeError, match="No system is called 'c'"):
        equivalence(values, margin=0.1, systems=["a", "b"]).verdict("a", "c")
    with pytest.raises(AdjudgeError, match="a comparison needs at least 2 queries, got 1"):
        equivalence([[0.1, 0.2]], margin=0.1)
