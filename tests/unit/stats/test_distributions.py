"""Distributions of effectiveness, against scipy, worked examples and the tables of the thesis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import adjudge as aj
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


def test_where_moments_fail_beta_is_scipys_maximum_likelihood() -> None:
    values = np.array([0.0, 0, 1, 0, 1, 1, 0, 0, 0, 1])
    fitted = Beta.fit(values).parameters
    alpha, beta, _, _ = stats.beta.fit((values * 9 + 0.5) / 10, floc=0, fscale=1)
    assert (fitted["alpha"], fitted["beta"]) == pytest.approx((alpha, beta), rel=1e-6)


def test_the_empirical_distribution_is_scipys(sample: Floats) -> None:
    fitted = Empirical.fit(sample)
    assert fitted.cdf(X) == pytest.approx(stats.ecdf(sample).cdf.evaluate(X), abs=1e-15)
    assert fitted.quantile(P).tolist() == np.quantile(sample, P, method="inverted_cdf").tolist()


@given(st.integers(2, 60), st.integers(1, 1000))
def test_an_empirical_quantile_is_always_something_seen(n: int, thousandths: int) -> None:
    values = np.arange(n) / n
    at = Empirical.fit(values).quantile(thousandths / 1000)
    assert at in values
    assert sum(values <= at) * 1000 >= n * thousandths > (sum(values <= at) - 1) * 1000


def test_the_normal_prediction_interval_is_the_textbooks() -> None:
    values = np.array([0.31, 0.45, 0.52, 0.38, 0.6, 0.47])
    interval = prediction_interval(values, distribution="normal", confidence=0.9)
    half = stats.t.ppf(0.95, 5) * values.std(ddof=1) * math.sqrt(1 + 1 / 6)
    assert (interval.low, interval.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=1e-12)


def test_two_queries_still_give_a_finite_normal_interval() -> None:
    interval = prediction_interval([10.0, 11.0], distribution="normal", confidence=0.999)
    half = stats.t.ppf(0.9995, 1) * math.sqrt(0.5) * math.sqrt(1.5)
    assert (interval.low, interval.high) == pytest.approx((10.5 - half, 10.5 + half))


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
    assert ("too few for 95%" in str(interval)) == (n < 39)


def test_an_empirical_interval_covers_what_it_attains_whatever_the_distribution() -> None:
    rng = np.random.default_rng(4)
    for draw in (rng.random, rng.standard_exponential):
        samples, new = draw((3000, 12)), draw(3000)
        inside = (new >= samples.min(axis=1)) & (new <= samples.max(axis=1))
        assert inside.mean() == pytest.approx(
            prediction_interval(samples[0], distribution="empirical").attained, abs=0.02
        )


def test_a_constant_sample_is_not_certain_from_few_queries() -> None:
    interval = prediction_interval([0.4] * 5, distribution="beta")
    assert (interval.low, interval.high) == (0.4, 0.4)
    assert interval.attained == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    ("n", "levels", "best"),
    [
        (50, 2, "empirical"),
        (20, 2, "empirical"),
        (50, 3, "empirical"),
        (20, 3, "empirical"),
        (50, 4, "empirical"),
        (20, 4, "normal"),
        (50, 5, "empirical"),
        (20, 5, "normal"),
        (50, 101, "beta"),
        (20, 101, "beta"),
        (1000, 101, "empirical"),
        (29, None, "normal"),
        (30, None, "empirical"),
    ],
)
def test_the_choice_is_the_best_of_the_tables(n: int, levels: int | None, best: str) -> None:
    assert choose_distribution(n, levels=levels) == best


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


TABLES = {  # thesis Tables 4.4 and 4.5, CG@5, Fine: mean omega over 53 systems of four years, 200 trials each
    50: {"normal": 0.5071, "truncated-normal": 0.5602, "beta": 0.4808, "empirical": 0.526},
    20: {"normal": 0.7098, "truncated-normal": 0.7523, "beta": 0.7057, "empirical": 0.8457},
}


@pytest.mark.parametrize("n", TABLES)
def test_fits_on_mirex_2011_are_as_good_as_in_the_thesis(mirex2011: aj.Collection, n: int) -> None:
    scores = aj.evaluate(mirex2011, ["CG@5"]).matrix()
    rng = np.random.default_rng(5)
    found: dict[str, list[float]] = {name: [] for name in DISTRIBUTIONS}
    for system in np.repeat(np.arange(scores.shape[1]), 15):
        order = rng.permutation(len(scores))
        for name, family in DISTRIBUTIONS.items():
            fitted = family.fit(scores[order[:n], system])
            found[name].append(omega(fitted, scores[order[n:], system]))
    means = {name: float(np.mean(values)) for name, values in found.items()}
    assert means == pytest.approx(TABLES[n], abs=0.04)
    assert means["beta"] <= means["normal"] + 0.005 < means["empirical"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distribution": "gamma"}, r"\ANo distribution is called 'gamma'. "),
        ({"distribution": "Beta"}, r"\ANo distribution is called 'Beta'. Did you mean 'beta'\?\Z"),
        ({"confidence": 95}, r"\A'confidence' must be in \(0, 1\), got 95\Z"),
        ({"levels": 1}, r"\A'levels' must be a whole number of at least 2, got 1\Z"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        prediction_interval([0.1, 0.2, 0.3], **options)  # type: ignore[arg-type]


def test_one_query_predicts_nothing() -> None:
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
