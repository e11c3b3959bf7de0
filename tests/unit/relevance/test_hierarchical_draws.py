"""Draws of relevance that stay on the scale."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.relevance.candidates import candidates
from adjudge.relevance.hierarchical.effects import KINDS, design, feature_columns
from adjudge.relevance.hierarchical.posterior import Draws, Posterior, bounded, moments

MEANS = np.array([0.005, 0.02, 0.1, 0.3, 0.5, 0.62, 0.9, 0.99])


@pytest.mark.parametrize(("location", "scale"), [(0.3, 0.2), (-0.4, 0.5), (0.9, 1.3), (0.5, 0.01)])
def test_moments_of_what_is_clipped_are_its_integrals(location: float, scale: float) -> None:
    def integral(power: int) -> float:
        inside = quad(lambda r: r**power * norm.pdf(r, location, scale), 0, 1, points=[min(max(location, 0.0), 1.0)])[0]
        return float(inside + norm.sf(1, location, scale))

    mean, variance = moments(np.array([location]), np.array([scale]))
    assert mean[0] == pytest.approx(integral(1), abs=1e-8)
    assert variance[0] == pytest.approx(integral(2) - integral(1) ** 2, abs=1e-8)


@pytest.mark.parametrize("variance", [1e-6, 0.004, 0.03, 0.1, 0.2])
def test_means_are_kept_and_variances_shrink_towards_the_ends(variance: float) -> None:
    found = bounded(MEANS, np.full(len(MEANS), variance))
    mean, spread = moments(found.location, found.scale)
    np.testing.assert_allclose(mean, MEANS, atol=1e-5)
    np.testing.assert_allclose(spread, 4 * MEANS * (1 - MEANS) * variance, rtol=1e-3)


def test_more_variance_than_the_scale_allows_counts_as_nearly_all_it_allows() -> None:
    found = bounded(MEANS, np.full(len(MEANS), 5.0))
    mean, spread = moments(found.location, found.scale)
    np.testing.assert_allclose(mean, MEANS, atol=1e-5)
    np.testing.assert_allclose(spread, MEANS * (1 - MEANS) * 0.95**2, rtol=1e-3)


@pytest.mark.parametrize("variance", [0.004, 0.1])
def test_slopes_are_those_of_location_and_scale(variance: float) -> None:
    inner, same = MEANS[1:], np.full(len(MEANS) - 1, variance)
    found, step = bounded(inner, same), 1e-6
    above, below = bounded(inner + step, same), bounded(inner - step, same)
    np.testing.assert_allclose(found.location_slope, (above.location - below.location) / (2 * step), atol=1e-3)
    np.testing.assert_allclose(found.scale_slope, (above.scale - below.scale) / (2 * step), atol=2e-3)


def drawn(variances: Floats) -> tuple[Posterior, Draws]:
    """Many draws of a small collection, after some judgments."""
    c = candidates(aj.demo(queries=3, depth=4), cutoff=4)
    posterior = Posterior(
        design(c, feature_columns(c)), variances, np.zeros(len(c), dtype=np.bool_), np.full(len(c), np.nan)
    )
    draws = Draws(posterior, 20_000, np.random.default_rng(1))
    for pair in (3, 30, 47):
        draws.learn(posterior.update(pair, float(c.relevance[pair])))
    return posterior, draws


def test_deviations_have_the_covariance_of_beliefs() -> None:
    posterior, draws = drawn(np.full(len(KINDS), 0.02))
    covariance = posterior.covariance_with(np.eye(len(posterior.mean)) * ~posterior.judged)
    np.testing.assert_allclose(draws.deviations @ draws.deviations.T / 10_000, covariance, atol=0.008)


def test_draws_are_on_the_scale_with_the_expected_mean() -> None:
    posterior, draws = drawn(np.full(len(KINDS), 0.001))
    values, slopes = draws.relevance(slice(0, len(posterior.mean)))
    assert values.min() >= 0
    assert values.max() <= 1
    np.testing.assert_array_equal(values[47], posterior.mean[47])
    assert (slopes[47] == 0).all()
    sure = (posterior.mean - 0.5) ** 2 < 0.01  # shared beliefs hardly leave the scale
    assert sure.sum() > 10
    np.testing.assert_allclose(values.mean(axis=1)[sure], posterior.mean[sure], atol=0.006)
    np.testing.assert_allclose(slopes.mean(axis=1)[sure], 1.0, atol=0.05)


@pytest.mark.parametrize("scale", ["binary", "broad"])  # on Fine a grade of 1 would make whoever has it ideal
def test_queries_with_nothing_relevant_score_nothing_when_almost_everything_is_judged(scale: str) -> None:
    rng = np.random.default_rng(3)
    runs = {f"s{s}": {f"q{q}": [f"d{d}" for d in rng.permutation(12)[:5]] for q in range(8)} for s in range(4)}
    pool = {q: sorted({d for run in runs.values() for d in run[q]}) for q in runs["s0"]}
    judged = {q: dict.fromkeys(documents[1:], 0.0) for q, documents in pool.items()}  # the first of each is left
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", aj.AdjudgeWarning)
        session = aj.judging(aj.read(runs, judged, scale=scale), "nDCG@5")
    assert session.view.scores.mean.max() < 0.1
