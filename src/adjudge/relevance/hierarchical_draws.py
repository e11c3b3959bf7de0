"""Draws of relevance that stay on the scale, from 0 to 1.

Gaussian beliefs leave the scale, and cutting them off there moves their mean. So a draw has two stages. What pairs
share is drawn as the model believes and clipped: μ_i, the relevance expected of pair i in this draw. Around that, what
is the pair's own is drawn as clip(m + s z, 0, 1), z standard normal, with m and s such that the mean is μ_i and the
variance 4μ_i(1 - μ_i) d: d, the variance of ε_i, in the middle of the scale and less towards its ends, as for a beta
distribution of constant precision. d counts as .225 at most: at .25 all draws would be 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from scipy.interpolate import RectBivariateSpline
from scipy.special import ndtr

from adjudge.arrays import Floats
from adjudge.relevance.hierarchical_posterior import Posterior, Step, subtract_outer

_JITTER = 1e-12
_LEAST, _MOST = 0.005, 0.95  # of μ, and of √(4d)
_N_MEANS, _N_ROOTS, _N_GRID = 50, 96, 397
_STEPS = 12


class Draws:
    """Antithetic draws of the relevance of all pairs: Gaussian, following judgments, brought onto the scale when asked.

    ``deviations`` are Gaussian draws less their mean, 0 for judged pairs; half as many as are given out, as the others
    are their reflections. ``noise`` is ε_i / √d_i in each.
    """

    def __init__(self, posterior: Posterior, n_draws: int, rng: np.random.Generator) -> None:
        design, half = posterior.design, n_draws // 2
        n_queries, m, p = *design.local_kind.shape, len(posterior.theta)
        self.posterior = posterior
        root = np.linalg.cholesky(posterior.sigma + _JITTER * np.eye(p))
        deviations = posterior.g @ (root @ rng.standard_normal((p, half)))
        roots = np.linalg.cholesky(posterior.p + _JITTER * np.eye(m))
        deviations += design.local @ (roots @ rng.standard_normal((n_queries, m, half))).reshape(-1, half)
        self.noise = rng.standard_normal(deviations.shape)
        deviations += np.sqrt(posterior.own)[:, None] * self.noise
        deviations[posterior.judged] = 0.0
        self.deviations = np.ascontiguousarray(deviations)

    def learn(self, step: Step) -> None:
        """Follow the posterior by one judgment: r_j += Cov(r_j, r_i) (y - r_i) / Var(r_i), Matheron's rule."""
        subtract_outer(self.deviations, step.covariance, self.deviations[step.pair] / step.variance)
        self.deviations[step.pair] = 0.0

    def relevance(self, rows: slice) -> tuple[Floats, Floats]:
        """Relevance of some pairs, pairs x draws, and its slopes by their expected relevance.

        Judged pairs are what they were judged, with slope 0.
        """
        posterior = self.posterior
        mean, own, judged = posterior.mean[rows, None], posterior.own[rows], posterior.judged[rows]
        shared = self.deviations[rows] - np.sqrt(own)[:, None] * self.noise[rows]
        expected = np.concatenate([mean + shared, mean - shared], axis=1)
        noise = np.concatenate([self.noise[rows], -self.noise[rows]], axis=1)
        raw, slopes = np.empty_like(noise), np.empty_like(noise)
        for variance in np.unique(own):  # a handful: ε with and without an artist and a genre of its own
            same = own == variance
            raw[same], slopes[same] = _around(expected[same], noise[same], float(variance))
        slopes *= (raw > 0) & (raw < 1)
        values = np.clip(raw, 0.0, 1.0)
        values[judged], slopes[judged] = mean[judged], 0.0
        return values, slopes


def _around(expected: Floats, noise: Floats, variance: float) -> tuple[Floats, Floats]:
    """Draws with given expectations before they are clipped, and their slopes by those; linear around a grid."""
    shape = _tabulated(variance)
    clipped = np.clip(expected, _LEAST, 1 - _LEAST)
    place = (clipped - _LEAST) * ((_N_GRID - 1) / (1 - 2 * _LEAST))
    nearest = np.rint(place).astype(np.int64)
    off = (place - nearest) * ((1 - 2 * _LEAST) / (_N_GRID - 1))
    slopes = shape.location_slope[nearest] + shape.scale_slope[nearest] * noise
    raw = shape.location[nearest] + shape.scale[nearest] * noise + slopes * off
    return raw, slopes * (clipped == expected)


@dataclass(frozen=True, eq=False)
class Bounded:
    """Location m and scale s of draws before they are clipped, and the slopes of both by μ."""

    location: Floats
    scale: Floats
    location_slope: Floats
    scale_slope: Floats


def bounded(mean: Floats, variance: Floats) -> Bounded:
    """M and s for each mean from .005 to .995 and variance d.

    >>> found = bounded(np.array([0.5, 0.1]), np.array([0.01, 0.1]))
    >>> found.location.round(2), found.scale.round(2)
    (array([ 0.5 , -0.16]), array([0.1 , 0.42]))
    """
    location, stretch = _tables()
    low = np.minimum(mean, 1 - mean)
    sign = np.where(mean <= 0.5, 1.0, -1.0)
    root = np.clip(2 * np.sqrt(variance), 0.0, _MOST)
    spread = np.sqrt(mean * (1 - mean))
    factor = stretch.ev(low, root)
    slope = sign * stretch.ev(low, root, dx=1) * spread + factor * (0.5 - mean) / spread
    return Bounded(
        mean + sign * location.ev(low, root), root * spread * factor, 1 + location.ev(low, root, dx=1), root * slope
    )


def moments(location: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of clip(location + scale z, 0, 1), z standard normal."""
    mean, square = _raw_moments(location, scale)[:2]
    return mean, square - mean**2


def _raw_moments(m: Floats, s: Floats) -> tuple[Floats, ...]:
    """E r and E r² of r = clip(m + s z, 0, 1), the slopes of E r by m and s, and those of E r²."""
    a, b = -m / s, (1 - m) / s
    at_a, at_b = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi), np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi)
    within, above = ndtr(b) - ndtr(a), ndtr(-b)
    inner = m * within + s * (at_a - at_b)  # E r where r is not clipped
    tilt = m * (at_a - at_b) + s * (within + a * at_a - b * at_b)  # E r z there
    return inner + above, m * inner + s * tilt + above, within, at_a - at_b, 2 * inner, 2 * tilt


@lru_cache(maxsize=64)
def _tabulated(variance: float) -> Bounded:
    """M and s over a grid of means, for one variance."""
    return bounded(np.linspace(_LEAST, 1 - _LEAST, _N_GRID), np.full(_N_GRID, variance))


@cache
def _tables() -> tuple[RectBivariateSpline, RectBivariateSpline]:
    """M - μ and s / (√(4d) √(μ(1 - μ))) over μ up to ½ (the rest is its mirror image) and √(4d).

    Newton's method, for each √(4d) from the solution of the one before.
    """
    mu, roots = np.geomspace(_LEAST, 0.5, _N_MEANS), np.linspace(0.0, _MOST, _N_ROOTS)
    spread = np.sqrt(mu * (1 - mu))
    shift, factor = np.zeros((_N_MEANS, _N_ROOTS)), np.ones((_N_MEANS, _N_ROOTS))
    m, log_s = mu.copy(), np.log(roots[1] * spread)
    for j, root in enumerate(roots[1:], start=1):
        log_s = log_s + np.log(root / roots[max(j - 1, 1)])
        for _ in range(_STEPS):
            s = np.exp(log_s)
            mean, square, mean_m, mean_s, square_m, square_s = _raw_moments(m, s)
            off, spare = mean - mu, square - mean**2 - (root * spread) ** 2
            variance_m, variance_s = square_m - 2 * mean * mean_m, square_s - 2 * mean * mean_s
            determinant = mean_m * variance_s - mean_s * variance_m
            m = m - np.clip((off * variance_s - spare * mean_s) / determinant, -s, s)
            log_s = log_s - np.clip((spare * mean_m - off * variance_m) / determinant / s, -0.5, 0.5)
        shift[:, j], factor[:, j] = m - mu, np.exp(log_s) / (root * spread)
    return RectBivariateSpline(mu, roots, shift), RectBivariateSpline(mu, roots, factor)
