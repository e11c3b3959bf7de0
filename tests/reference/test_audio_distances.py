"""Distances between clips beside direct formulas and SciPy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal, norm, skew
from tests.unit.audio.systems.invented_sounds import gaussians, invented

from adjudge.arrays import Floats
from adjudge.audio.systems import BASELINES
from adjudge.audio.systems.distances import CountedProximity, EstimatedProximity, Euclidean, SymmetricKL
from adjudge.audio.systems.statistics import PLAIN, describe_systems


def direct(means: Floats, covariances: Floats) -> Floats:
    """The formula, pair by pair."""
    inverse = np.linalg.inv(covariances)
    found = np.zeros((len(means), len(means)))
    for p, q in product(range(len(means)), repeat=2):
        away = means[p] - means[q]
        traces = np.trace(inverse[q] @ covariances[p]) + np.trace(inverse[p] @ covariances[q])
        found[p, q] = 0.5 * (traces + away @ (inverse[p] + inverse[q]) @ away) - means.shape[1]
    return found


def test_the_product_of_long_vectors_is_the_direct_formula() -> None:
    means, covariances = gaussians(25)
    assert SymmetricKL(means, covariances).rows(np.arange(25)) == pytest.approx(
        direct(means, covariances), rel=1e-11, abs=1e-10
    )


@pytest.mark.parametrize("condition", [1e2, 1e5, 1e8])
def test_ill_conditioned_covariances_keep_their_digits(condition: float) -> None:
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    stretch = turn * np.geomspace(1, condition**0.5, 20)
    means, covariances = gaussians(12)
    seen = stretch.T @ covariances @ stretch
    found = SymmetricKL(means @ stretch, seen).rows(np.arange(12))
    assert found == pytest.approx(direct(means, covariances), rel=1e-6, abs=1e-6)


def test_divergences_in_one_dimension_are_those_of_numerical_integration() -> None:
    means, deviations = np.array([0.0, 0.7, -2.0]), np.array([1.0, 0.5, 3.0])
    found = SymmetricKL(means[:, None], deviations[:, None, None] ** 2).rows(np.arange(3))
    for p, q in ((0, 1), (0, 2), (1, 2)):
        one, two = norm(means[p], deviations[p]), norm(means[q], deviations[q])

        def both(x: float, one: object = one, two: object = two) -> float:
            return float((one.pdf(x) - two.pdf(x)) * (one.logpdf(x) - two.logpdf(x)))  # type: ignore[attr-defined]

        assert found[p, q] == pytest.approx(quad(both, -25, 25, limit=200)[0], rel=1e-7)


def test_divergences_in_three_dimensions_are_those_of_quadrature_over_densities() -> None:
    means, covariances = gaussians(6, 3)
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    grid = np.array(list(product(nodes, repeat=3)))
    mass = np.array([np.prod(one) for one in product(weights, repeat=3)]) / (2 * np.pi) ** 1.5
    density = [multivariate_normal(mean, covariance) for mean, covariance in zip(means, covariances, strict=True)]

    def one_way(p: int, q: int) -> float:
        points = means[p] + grid @ np.linalg.cholesky(covariances[p]).T
        return float(mass @ (density[p].logpdf(points) - density[q].logpdf(points)))

    expected = [[one_way(p, q) + one_way(q, p) for q in range(6)] for p in range(6)]
    assert SymmetricKL(means, covariances).rows(np.arange(6)) == pytest.approx(np.array(expected), abs=1e-8)


def test_euclidean_distances_are_those_of_scipy() -> None:
    values = np.random.default_rng(0).normal(size=(30, 7)) + 1000
    assert Euclidean(values).rows(np.arange(30)) == pytest.approx(cdist(values, values), rel=1e-9, abs=1e-6)


def test_tonal_distances_are_the_least_over_all_transpositions() -> None:
    sounds = invented(10)
    tonal = sounds.features["tonal"]
    turned = [np.roll(tonal.reshape(10, 8, 12), semitones, axis=2).reshape(10, 96) for semitones in range(12)]
    expected = np.min([cdist(tonal, keys) for keys in turned], axis=0)
    assert BASELINES["tonal"].start(sounds).rows(np.arange(10)) == pytest.approx(expected, abs=1e-6)


def test_mutual_proximity_is_what_its_definition_counts() -> None:
    n = 20
    kl = SymmetricKL(*gaussians(n))
    d = kl.rows(np.arange(n))
    found = CountedProximity(kl, n).rows(np.arange(n))
    for x, y in ((x, y) for x in range(n) for y in range(n) if x != y):
        farther = sum(bool(d[x, j] > d[x, y] and d[y, j] > d[x, y]) for j in range(n) if j not in (x, y))
        assert 1 - (farther + 1) / n < found[x, y] <= 1 - farther / n


def test_mutual_proximity_of_many_is_the_product_of_log_normal_tails() -> None:
    n = 41
    kl = SymmetricKL(*gaussians(n))
    d = np.log(kl.rows(np.arange(n)) + np.eye(n))
    others = np.sort(d[~np.eye(n, dtype=np.bool_)].reshape(n, n - 1), axis=1)
    centre = others[:, 19]
    deviation = (centre - others[:, 1]) / norm.isf(0.05)
    tail = norm.sf((d - centre[:, None]) / deviation[:, None])
    expected = 1 - tail * tail.T
    np.fill_diagonal(expected, 0)
    assert EstimatedProximity(kl, n).rows(np.arange(n)) == pytest.approx(expected, abs=1e-9)


def test_skewness_of_occurrences_is_that_of_scipy() -> None:
    found = describe_systems(invented(60), ["timbre"], cutoffs=(5,)).of("timbre", PLAIN)
    assert found is not None
    assert found.at(5).skewness == pytest.approx(float(skew(found.at(5).counts)))
