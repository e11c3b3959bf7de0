"""Distributions of effectiveness, against scipy and worked examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.distributions import (
    DISTRIBUTIONS,
    Beta,
    Empirical,
    Normal,
    TruncatedNormal,
    choose_distribution,
    omega,
    prediction_interval,
)

X = np.linspace(-0.2, 1.2, 57)
P = np.linspace(0.001, 0.999, 41)


@pytest.fixture(scope="module")
def sample() -> Floats:
    return np.random.default_rng(2).beta(0.8, 2.5, size=60)


def test_normal_and_truncated_normal_are_scipys(sample: Floats) -> None:
    mu, sigma = sample.mean(), sample.std(ddof=1)
    cut = stats.truncnorm(-mu / sigma, (1 - mu) / sigma, loc=mu, scale=sigma)
    for ours, theirs in ((Normal.fit(sample), stats.norm(mu, sigma)), (TruncatedNormal.fit(sample), cut)):
        assert ours.cdf(X) == pytest.approx(theirs.cdf(X), abs=1e-12)
        assert ours.quantile(P) == pytest.approx(theirs.ppf(P), abs=1e-10)


def test_beta_by_moments_has_the_moments_of_the_sample(sample: Floats) -> None:
    fitted = Beta.fit(sample)
    theirs = stats.beta(fitted.parameters["alpha"], fitted.parameters["beta"])
    assert theirs.mean() == pytest.approx(sample.mean(), abs=1e-12)
    assert theirs.var() == pytest.approx(sample.var(ddof=1), abs=1e-12)
    assert fitted.cdf(X) == pytest.approx(theirs.cdf(X), abs=1e-12)
    assert fitted.quantile(P) == pytest.approx(theirs.ppf(P), abs=1e-10)


@pytest.mark.parametrize(
    "values", [[0, 1], [0, 0, 1], [0] * 99 + [1], [0] * 9999 + [1], [0, 1] * 50, [1] * 30 + [0] * 2, [0, 1, 0, 1, 1e-9]]
)
def test_where_moments_fail_beta_is_the_most_likely_for_the_sample_drawn_in(values: list[float]) -> None:
    given_values = np.array(values, dtype=float)
    mean, n = given_values.mean(), given_values.size
    assert given_values.var(ddof=1) >= mean * (1 - mean)
    fitted = Beta.fit(given_values)
    alpha, beta = fitted.parameters["alpha"], fitted.parameters["beta"]
    inside = (given_values * (n - 1) + 0.5) / n
    best = stats.beta.logpdf(inside, alpha, beta).sum()
    for factor in (0.999, 1.001):
        assert stats.beta.logpdf(inside, alpha * factor, beta).sum() < best
        assert stats.beta.logpdf(inside, alpha, beta * factor).sum() < best


def test_the_empirical_distribution_is_scipys(sample: Floats) -> None:
    fitted = Empirical.fit(sample)
    assert fitted.cdf(X) == pytest.approx(stats.ecdf(sample).cdf.evaluate(X), abs=1e-15)
    assert fitted.quantile(P).tolist() == np.quantile(sample, P, method="inverted_cdf").tolist()
    assert Empirical.fit(np.arange(1.0, 101.0)).quantile([0.07, 0.29, 0.55]).tolist() == [7, 29, 55]  # but for rounding


@pytest.mark.parametrize("sample", [[0.31, 0.45, 0.52, 0.38, 0.6, 0.47], [10.0, 11.0]])
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_the_normal_prediction_interval_is_the_textbooks(sample: list[float], confidence: float) -> None:
    values, n = np.array(sample), len(sample)
    interval = prediction_interval(values, distribution="normal", confidence=confidence)
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * values.std(ddof=1) * math.sqrt(1 + 1 / n)
    assert (interval.low, interval.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=1e-12)


def test_with_many_queries_the_interval_is_that_of_the_quantiles() -> None:
    values = np.random.default_rng(3).beta(2, 3, size=200_000)
    for name in DISTRIBUTIONS:
        interval = prediction_interval(values, distribution=name)
        quantiles = DISTRIBUTIONS[name].fit(values).quantile([0.025, 0.975])
        assert (interval.low, interval.high) == pytest.approx(np.clip(quantiles, 0, 1), abs=1e-3), name


@pytest.mark.parametrize(
    ("n", "rank", "attained"), [(2, 1, 1 / 3), (10, 1, 9 / 11), (38, 1, 37 / 39), (39, 1, 0.95), (100, 2, 97 / 101)]
)
def test_an_empirical_interval_claims_no_more_than_its_observations(n: int, rank: int, attained: float) -> None:
    interval = prediction_interval(np.arange(1, n + 1) / 200, distribution="empirical")
    assert (interval.low, interval.high) == (rank / 200, (n + 1 - rank) / 200)
    assert interval.attained == pytest.approx(attained)
    assert ("too few for 95 %" in str(interval)) == (n < 39)


def test_a_constant_sample_is_not_certain_from_few_queries() -> None:
    interval = prediction_interval([0.4] * 5, distribution="beta")
    assert (interval.low, interval.high) == (0.4, 0.4)
    assert interval.attained == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    ("levels", "with_20", "with_50"),
    [
        (3, "empirical", "empirical"),
        (4, "normal", "empirical"),
        (101, "beta", "beta"),
        (None, "normal", "empirical"),
    ],
)
def test_the_choice_is_the_best_of_the_tables(levels: int | None, with_20: str, with_50: str) -> None:
    assert choose_distribution(20, levels=levels) == choose_distribution(29, levels=levels) == with_20
    assert choose_distribution(50, levels=levels) == choose_distribution(30, levels=levels) == with_50
    assert choose_distribution(1000, levels=levels) == "empirical"


def test_the_choice_sees_ties_and_bounds_and_the_number_of_queries() -> None:
    coarse, fine = [0.0, 0.2, 0.2, 0.4, 0.4, 0.2, 0.0, 0.0], [0.11, 0.12, 0.25, 0.31, 0.44, 0.52]
    assert prediction_interval(coarse).distribution == "empirical"
    assert prediction_interval(fine).distribution == "normal"
    assert prediction_interval(fine, levels=101).distribution == "beta"
    assert prediction_interval([10 * x for x in fine], levels=101).distribution == "normal"
    assert prediction_interval(fine, levels=4, n_queries=30).distribution == "empirical"


def test_omega_of_a_worked_example() -> None:
    fitted = Empirical.fit([0.2, 0.4, 0.6, 0.8])
    # held out .1, .5, .5, .9: F is .25, .75, .75, 1 and the fit 0, .5, .5, 1
    assert omega(fitted, [0.5, 0.1, 0.9, 0.5]) == pytest.approx(math.sqrt(3 * 0.25**2))
    assert omega(fitted, [0.2, 0.4, 0.6, 0.8]) == 0.0


def test_omega_is_the_cramer_von_mises_statistic_of_scipy_but_for_its_continuity(sample: Floats) -> None:
    fitted = Normal.fit(sample)
    n, ours = sample.size, omega(fitted, sample) ** 2
    heights = np.sort(fitted.cdf(sample))
    theirs = stats.cramervonmises(sample, fitted.cdf).statistic
    # scipy has (i - 1/2)/n where the thesis has i/n
    moved = ours - ((np.arange(1, n + 1) / n - heights) / n).sum() + 1 / (4 * n)
    assert theirs == pytest.approx(moved + 1 / (12 * n), abs=1e-12)


def test_an_unknown_distribution_and_a_single_query_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"No distribution is called 'Beta'\. Did you mean 'beta'"):
        prediction_interval([0.1, 0.2, 0.3], distribution="Beta")
    with pytest.raises(AdjudgeError, match="A prediction interval needs at least 2 queries, got 1"):
        prediction_interval([0.3, np.nan])


@pytest.mark.parametrize("atom", [0.0, 1.0])
@pytest.mark.parametrize("n", [10, 40])
def test_a_beta_prediction_interval_holds_new_queries_that_are_exactly_0_or_1(atom: float, n: int) -> None:
    """A fifth of the queries fail (or are perfect): a density alone held .79 of new ones where .95 is said."""
    rng = np.random.default_rng(6)
    drawn = np.where(rng.random((300, n + 100)) < 0.2, atom, rng.beta(1.5, 3, (300, n + 100)))
    held = []
    for values in drawn:
        interval = prediction_interval(values[:n], distribution="beta")
        held.append(np.mean((values[n:] >= interval.low) & (values[n:] <= interval.high)))
    assert 0.93 < np.mean(held) <= 1.0
