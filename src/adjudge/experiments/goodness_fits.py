"""Distributions fitted to all systems at once, and how far they are from queries that they were not fitted to.

The numbers are those of :data:`~adjudge.stats.distributions.DISTRIBUTIONS` and
:func:`~adjudge.stats.distributions.omega`, system by system; a family that has no formula here is fitted that way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.stats.distributions import DISTRIBUTIONS

Both = tuple[Floats, Floats]  # F̂(x), and F̂ just below x, which differ where F̂ has a step
_ROUNDING = 1e-12  # as the distributions have it
_SHARPEST = 1e8


def distances(fitted_to: Floats, held_out: Floats, name: str) -> tuple[Floats, Floats]:
    """ω̂ and Kolmogorov's D of every system: a family fitted to ``fitted_to``, systems x queries, against the rest.

    ω̂² = Σ_q (F(λ_q) - F̂(λ_q))² over the queries held out, F their empirical distribution and F̂ the fitted one;
    D = sup |F - F̂|. Between two neighbouring values F stays as it is and F̂ only rises, so that the supremum is at one
    of the values, or just below it.

    >>> omega, d = distances(np.array([[0.2, 0.4, 0.6]]), np.array([[0.3, 0.5, 0.7]]), "empirical")
    >>> omega.round(4), d.round(4)
    (array([0.]), array([0.3333]))
    """
    held_out = np.sort(held_out, axis=1)
    at, below = _steps(held_out, held_out)
    fit_at, fit_below = _fitted(np.ascontiguousarray(fitted_to), held_out, name)
    omega: Floats = np.sqrt(((at - fit_at) ** 2).sum(axis=1))
    largest: Floats = np.maximum(np.abs(at - fit_at), np.abs(below - fit_below)).max(axis=1)
    return omega, largest


def _fitted(sample: Floats, x: Floats, name: str) -> Both:
    """F̂ of every system at its own values x."""
    at, below = np.empty_like(x), np.empty_like(x)
    constant: Mask = np.ptp(sample, axis=1) <= _ROUNDING * np.maximum(1.0, np.abs(sample).max(axis=1))
    point = sample[constant, :1]
    at[constant], below[constant] = x[constant] >= point, x[constant] > point
    varied = ~constant
    if varied.any():
        with np.errstate(over="ignore", under="ignore"):
            at[varied], below[varied] = _FAMILIES.get(name, _one_by_one(name))(sample[varied], x[varied])
    return at, below


def _one_by_one(name: str) -> Callable[[Floats, Floats], Both]:
    """A family of which nothing is known but that it can be fitted."""

    def fit(sample: Floats, x: Floats) -> Both:
        members = [DISTRIBUTIONS[name].fit(row) for row in sample]
        at = [member.cdf(row) for member, row in zip(members, x, strict=True)]
        below = [member.cdf(np.nextafter(row, -np.inf)) for member, row in zip(members, x, strict=True)]
        return np.stack(at), np.stack(below)

    return fit


def _steps(sample: Floats, x: Floats) -> Both:
    ordered, n = np.sort(sample, axis=1), sample.shape[1]
    rows = list(zip(ordered, x, strict=True))
    at = np.stack([np.searchsorted(row, values, side="right") for row, values in rows]) / n
    below = np.stack([np.searchsorted(row, values, side="left") for row, values in rows]) / n
    return at, below


def _moments(sample: Floats) -> tuple[Floats, Floats]:
    return sample.mean(axis=1, keepdims=True), sample.std(axis=1, ddof=1, keepdims=True)


def _normal(sample: Floats, x: Floats) -> Both:
    from scipy.special import ndtr

    mu, sigma = _moments(sample)
    at = ndtr((x - mu) / sigma)
    return at, at


def _truncated(sample: Floats, x: Floats) -> Both:
    from scipy.special import ndtr

    mu, sigma = _moments(sample)
    below = ndtr(-mu / sigma)
    inside = ndtr((1 - mu) / sigma) - below
    at = np.clip((ndtr((np.clip(x, 0, 1) - mu) / sigma) - below) / inside, 0, 1)
    return at, at


def _beta(sample: Floats, x: Floats) -> Both:
    """By moments; the few systems where those fail are fitted by maximum likelihood, one by one."""
    from scipy.special import betainc

    mean, variance = sample.mean(axis=1, keepdims=True), sample.var(axis=1, ddof=1, keepdims=True)
    precision = np.minimum(mean * (1 - mean) / variance - 1, _SHARPEST)
    simple = precision[:, 0] > _ROUNDING
    at = np.empty_like(x)
    shape = mean[simple] * precision[simple], (1 - mean[simple]) * precision[simple]
    at[simple] = betainc(*shape, np.clip(x[simple], 0, 1))
    if not simple.all():
        at[~simple] = _one_by_one("beta")(sample[~simple], x[~simple])[0]
    return at, at


_FAMILIES: dict[str, Callable[[Floats, Floats], Both]] = {
    "empirical": _steps,
    "normal": _normal,
    "truncated-normal": _truncated,
    "beta": _beta,
}
