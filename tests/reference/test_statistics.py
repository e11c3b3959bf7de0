"""Paired tests and multiple comparisons against SciPy, statsmodels, brute force and published numbers.

Published: the README of github.com/julian-urbano/sigir2019-statistical (runs 125 and 126 of TREC-8 ad hoc, R's t.test,
wilcox.test and binom.test, a million resamples), and the analysis of MIREX 2011 after Urbano et al. (2011).
"""

from __future__ import annotations

import itertools
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from adjudge.arrays import Floats
from adjudge.checks import Alternative
from adjudge.stats.intervals import Method, bootstrap_interval
from adjudge.stats.multiple import CORRECTIONS, friedman, friedman_tukey, studentised_range_tail, tukey_hsd
from adjudge.stats.paired import paired_tests
from adjudge.stats.resampling import signed_rank_tails

ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")
each_alternative = pytest.mark.parametrize("alternative", ALTERNATIVES)


@pytest.fixture(scope="module")
def adhoc8(shared_data: Path) -> Floats:
    """Average precision of 129 runs on 50 topics of TREC-8."""
    return np.loadtxt(shared_data / "trec" / "adhoc8_ap.csv", delimiter=",", skiprows=1)


@pytest.fixture(scope="module")
def cg5(shared_data: Path) -> Floats:
    """CG@5 with Fine grades of 18 systems on 100 queries of MIREX 2011, from the raw files."""
    folder = shared_data / "mirex2011"
    rows = [line.split("\t") for line in (folder / "judgments.tsv").read_text().splitlines() if line]
    grades = {(query, document): float(grade) for query, document, grade in rows}
    total: dict[tuple[str, str], float] = {}
    for line in (folder / "runs.tsv").read_text().splitlines():
        if line:
            system, query, document = line.split("\t")
            total[query, system] = total.get((query, system), 0) + grades[query, document]
    queries, systems = (sorted({key[i] for key in total}) for i in (0, 1))
    return np.array([[total[query, system] / 500 for system in systems] for query in queries])


@pytest.mark.parametrize(
    ("test", "options", "two_sided", "less"),
    [
        ("t", {}, 0.00131939720193334, 0.0006596986),
        ("sign", {"min_difference": 0.01}, 0.00955987885663489, 0.004779939),
    ],
)
def test_published_p_values_come_out(
    adhoc8: Floats, test: str, options: dict[str, Any], two_sided: float, less: float
) -> None:
    pair = adhoc8[:, [124, 125]]
    assert paired_tests(pair, test=test, **options).p[0, 1] == pytest.approx(two_sided, rel=1e-12)
    assert paired_tests(pair, test=test, alternative="less", **options).p[0, 1] == pytest.approx(less, rel=1e-6)


def test_the_published_wilcoxon_test_ranks_rounding_and_ours_does_not(adhoc8: Floats) -> None:
    """Two of the 50 differences have the same size, and R's default does not see it; SciPy on whole numbers does."""
    difference = adhoc8[:, 124] - adhoc8[:, 125]
    greater, less, _, _ = signed_rank_tails(difference[:, None])
    assert 2 * less[0] == pytest.approx(0.00344518836613166, rel=1e-12)
    assert greater[0] > 0.99
    truth = scipy.stats.wilcoxon(whole(difference, 1e4), correction=True, method="approx").pvalue
    assert truth == pytest.approx(0.00339194266749417, rel=1e-12)
    assert paired_tests(adhoc8[:, [124, 125]], test="wilcoxon").p[0, 1] == pytest.approx(truth, rel=1e-12)


def whole(values: Floats, unit: float) -> Floats:
    """Values printed with few digits, as the whole numbers that they are of their last digit."""
    rounded: Floats = np.rint(values * unit)
    assert np.abs(values * unit - rounded).max() < 1e-6
    return rounded


def test_ties_of_a_discrete_measure_are_those_of_whole_numbers(shared_data: Path) -> None:
    """P@10 on TREC-8: floating-point noise moved 2,704 of 8,256 p-values by more than .01."""
    values = np.loadtxt(shared_data / "trec" / "adhoc8_p10.csv", delimiter=",", skiprows=1)
    found = paired_tests(values, test="wilcoxon").p
    np.testing.assert_allclose(found, paired_tests(whole(values, 10), test="wilcoxon").p, rtol=1e-9)
    for a, b in sample_of_pairs(values):
        difference = whole(values[:, a] - values[:, b], 10)
        difference = difference[difference != 0]
        if len(difference) > 13:  # exact here, not so in SciPy
            expected = scipy.stats.wilcoxon(difference, correction=True, method="approx").pvalue
            assert found[a, b] == pytest.approx(expected, rel=1e-9)


def test_without_a_threshold_the_sign_test_is_binomial(adhoc8: Floats) -> None:
    assert paired_tests(adhoc8[:, [124, 125]], test="sign").p[0, 1] == pytest.approx(0.015346677832630107, rel=1e-12)


@pytest.mark.parametrize(
    ("test", "two_sided", "less"), [("permutation", 0.001188, 0.000603), ("bootstrap", 0.000586, 0.000424)]
)
def test_published_monte_carlo_p_values_come_out(adhoc8: Floats, test: str, two_sided: float, less: float) -> None:
    """Both sides have a million resamples and so the same error."""
    cases: tuple[tuple[Alternative, float], ...] = (("two-sided", two_sided), ("less", less))
    for alternative, published in cases:
        result = paired_tests(adhoc8[:, [124, 125]], test=test, alternative=alternative, resamples=10**6)
        assert abs(result.p[0, 1] - published) <= 4 * np.sqrt(2) * result.error[0, 1]


def test_mirex_2011_comes_out(cg5: Floats) -> None:
    assert friedman(cg5).chi2 == pytest.approx(617.65, abs=0.005)
    assert (friedman_tukey(cg5).p[np.triu_indices(18, 1)] <= 0.05).sum() == 96
    assert (paired_tests(cg5, test="wilcoxon", alternative="greater").p <= 0.01).sum() == 119


def sample_of_pairs(values: Floats, size: int = 60) -> list[tuple[int, int]]:
    rng = np.random.default_rng(0)
    draws = (rng.choice(values.shape[1], 2, replace=False) for _ in range(size))
    return [(int(a), int(b)) for a, b in draws]


@each_alternative
def test_t_is_scipys(adhoc8: Floats, alternative: Alternative) -> None:
    result = paired_tests(adhoc8, alternative=alternative)
    for a, b in sample_of_pairs(adhoc8):
        expected = scipy.stats.ttest_rel(adhoc8[:, a], adhoc8[:, b], alternative=alternative)
        assert result.p[a, b] == pytest.approx(expected.pvalue, rel=1e-9)
        assert result.statistic[a, b] == pytest.approx(expected.statistic, rel=1e-9)


@each_alternative
@pytest.mark.parametrize("topics", [50, 20])
def test_wilcoxon_is_scipys(adhoc8: Floats, alternative: Alternative, topics: int) -> None:
    """Exact where there are fewer than 50 differences without ties, zeros dropped; otherwise normal and corrected."""
    values = adhoc8[:topics]
    result = paired_tests(values, test="wilcoxon", alternative=alternative)
    methods = []
    for a, b in sample_of_pairs(values):
        difference = whole(values[:, a] - values[:, b], 1e4)
        difference = difference[difference != 0]
        tied = len(set(np.abs(difference))) < len(difference)
        if tied and len(difference) <= 13:
            continue  # exact here, not so in SciPy
        methods.append("approx" if tied or len(difference) >= 50 else "exact")
        expected = scipy.stats.wilcoxon(difference, correction=True, method=methods[-1], alternative=alternative)
        assert result.p[a, b] == pytest.approx(expected.pvalue, rel=1e-9)
    assert methods.count("approx" if topics == 50 else "exact") >= 20


@each_alternative
def test_the_sign_test_is_scipys_binomial(adhoc8: Floats, alternative: Alternative) -> None:
    result = paired_tests(adhoc8, test="sign", alternative=alternative)
    for a, b in sample_of_pairs(adhoc8):
        difference = adhoc8[:, a] - adhoc8[:, b]
        wins, n = int((difference > 0).sum()), int((difference != 0).sum())
        assert result.p[a, b] == pytest.approx(scipy.stats.binomtest(wins, n, alternative=alternative).pvalue, rel=1e-9)


@each_alternative
@pytest.mark.parametrize("grid", [4, 10, 1000])
def test_exact_permutation_is_brute_force(alternative: Alternative, grid: int) -> None:
    """Decimal fractions make sums that are equal on paper and differ in floating point."""
    values = np.random.default_rng(grid).integers(0, grid, size=(9, 4)) / grid
    result = paired_tests(values, test="permutation", alternative=alternative)
    whole = np.rint(values * grid).astype(int)
    signs = np.array(list(itertools.product([-1, 1], repeat=9)))
    for a, b in itertools.permutations(range(4), 2):
        difference = whole[:, a] - whole[:, b]
        sums, observed = signs @ difference, difference.sum()
        extreme = {"greater": sums >= observed, "less": sums <= observed, "two-sided": abs(sums) >= abs(observed)}
        assert result.p[a, b] == extreme[alternative].mean()


@each_alternative
def test_drawn_permutations_are_scipys(adhoc8: Floats, alternative: Alternative) -> None:
    result = paired_tests(adhoc8, test="permutation", alternative=alternative, resamples=20_000)
    for a, b in sample_of_pairs(adhoc8, 8):
        expected = scipy.stats.permutation_test(
            (adhoc8[:, a], adhoc8[:, b]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=20_000,
            alternative=alternative,
            rng=np.random.default_rng(1),
        ).pvalue
        assert abs(result.p[a, b] - expected) <= 5 * np.sqrt(2) * result.error[a, b] + 2 / 20_000


@pytest.mark.parametrize(("name", "theirs"), [("bonferroni", "bonferroni"), ("holm", "holm"), ("bh", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(name: str, theirs: str) -> None:
    multitest = import_module("statsmodels.stats.multitest")
    rng = np.random.default_rng(0)
    for p in (rng.random(200) ** 4, np.repeat([0.01, 0.04, 0.5], 3), np.array([0.5])):
        np.testing.assert_allclose(CORRECTIONS[name](p), multitest.multipletests(p, method=theirs)[1], rtol=1e-12)


def test_friedman_is_scipys(adhoc8: Floats) -> None:
    for values in (adhoc8[:, :20], np.round(adhoc8[:, :8], 1)):
        expected = scipy.stats.friedmanchisquare(*values.T)
        assert friedman(values).chi2 == pytest.approx(expected.statistic, rel=1e-9)
        assert friedman(values).p == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("k", [2, 3, 18, 129])
@pytest.mark.parametrize("queries", [2, 10, 100, None])
def test_the_studentised_range_is_scipys(k: int, queries: int | None) -> None:
    df = np.inf if queries is None else (queries - 1) * (k - 1)
    q = np.array([0.1, 1.0, 2.5, 3.5, 5.0, 8.0])
    expected = np.array([scipy.stats.studentized_range.sf(value, k, df) for value in q])
    np.testing.assert_allclose(studentised_range_tail(q, k, df), expected, atol=2e-9)


def test_tukeys_hsd_is_that_of_a_two_way_analysis_of_variance(adhoc8: Floats) -> None:
    """Sums of squares by least squares on dummy variables, so by another road."""
    values = adhoc8[:, :5]
    n, k = values.shape
    design = np.column_stack([np.tile(np.eye(n), (k, 1)), np.repeat(np.eye(k), n, axis=0)])
    response = values.T.reshape(-1)
    residual = response - design @ np.linalg.lstsq(design, response, rcond=None)[0]
    df = (n - 1) * (k - 1)
    result = tukey_hsd(values)
    for a, b in itertools.combinations(range(k), 2):
        q = abs(values[:, a].mean() - values[:, b].mean()) / np.sqrt((residual**2).sum() / df / n)
        assert result.p[a, b] == pytest.approx(scipy.stats.studentized_range.sf(q, k, df), abs=1e-9)


@pytest.mark.parametrize(("method", "theirs"), [("bca", "BCa"), ("percentile", "percentile")])
def test_bootstrap_intervals_are_scipys(adhoc8: Floats, method: Method, theirs: str) -> None:
    """Ends wander by some 1 % of the interval's width with 20,000 resamples."""
    low, high = bootstrap_interval(adhoc8, method=method, resamples=20_000)
    for column in (0, 1, 50, 100, 128):
        expected = scipy.stats.bootstrap(
            (adhoc8[:, column],), np.mean, n_resamples=20_000, method=theirs, rng=np.random.default_rng(2)
        ).confidence_interval
        slack = 0.03 * (expected.high - expected.low)
        assert (low[column], high[column]) == pytest.approx((expected.low, expected.high), abs=slack)
