"""The proportional-odds model: how likely each level of relevance is, given features (thesis 7.3).

    log P(R ≥ l) / P(R < l) = α_l + x'β,    l = 1 … L - 1,    α_1 > α_2 > …

with R the level of a document (0 … L - 1), x its features, β what each feature does, α_l the intercept of level l.
Probabilities of single levels are differences of neighbours, P(R = l) = P(R ≥ l) - P(R ≥ l + 1).

McCullagh, P., Regression models for ordinal data, Journal of the Royal Statistical Society B 42(2), 1980,
doi:10.1111/j.2517-6161.1980.tb01109.x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError

_STEPS = 200
_SETTLED = 1e-12  # half the squared Newton decrement: the log-likelihood still to gain
_FAR = 30.0  # effects of standardised features beyond this only grow: levels are told apart perfectly


@dataclass(frozen=True, eq=False)
class Ordinal:
    """A proportional-odds model: ``intercepts`` (levels - 1, falling) and ``effects`` (one a feature)."""

    intercepts: Floats
    effects: Floats

    def __post_init__(self) -> None:
        if self.intercepts.ndim != 1 or not len(self.intercepts) or self.effects.ndim != 1:
            raise AdjudgeError("Expected a list of intercepts, one or more, and a list of effects.")
        if not (np.isfinite(self.intercepts).all() and np.isfinite(self.effects).all()):
            raise AdjudgeError("Expected intercepts and effects that are finite numbers.")
        if (np.diff(self.intercepts) > 0).any():
            raise AdjudgeError(f"Expected intercepts that fall from level to level, got {self.intercepts.tolist()}.")

    def at_least(self, x: Floats) -> Floats:
        """P(R ≥ l) for l = 1 … L - 1, documents x (levels - 1)."""
        reached: Floats = expit((x @ self.effects)[:, None] + self.intercepts)
        return reached

    def probabilities(self, x: Floats) -> Floats:
        """P(R = l) for every level, documents x levels; NaN where a feature is."""
        reached = self.at_least(x)
        one = np.where(np.isnan(reached[:, :1]), np.nan, 1.0)
        return np.hstack([one, reached]) - np.hstack([reached, 0.0 * one])

    def moments(self, x: Floats, levels: Floats) -> tuple[Floats, Floats]:
        """Expectation and variance (T 7.1, 7.2) where level l is worth ``levels[l]``; NaN where a feature is.

        >>> model = Ordinal(np.array([0.0]), np.array([1.0]))
        >>> mean, variance = model.moments(np.array([[0.0]]), np.array([0.0, 1.0]))
        >>> mean.tolist(), variance.tolist()
        ([0.5], [0.25])
        """
        centred = levels - levels.mean()  # keeps E[R²] - E[R]² from cancelling
        gains = np.stack([np.diff(centred), np.diff(centred**2)], axis=1)
        first, second = (self.at_least(x) @ gains).T + np.array([[centred[0]], [centred[0] ** 2]])
        return first + levels.mean(), np.maximum(second - first**2, 0.0)

    def log_likelihood(self, x: Floats, level: Ints) -> Floats:
        """Log P(R = level) of each document; -inf where two intercepts are the same."""
        upper, lower, gap = _logits(self.intercepts, x @ self.effects, level)
        with np.errstate(divide="ignore"):
            logs: Floats = log_expit(upper) + log_expit(-lower) + np.log(-np.expm1(-gap))[level]
        return logs


def fit_ordinal(x: Floats, level: Ints, n_levels: int, *, ridge: float = 0.0) -> Ordinal:
    """Fit by maximum likelihood: Newton's method on a concave function, so what it finds is the maximum.

    ``x`` is documents x features, ``level`` 0 … n_levels - 1. With ``ridge`` λ the log-likelihood also gets
    -λ/2 Σ b² for the effects b of standardised features, and as many documents as λ, average ones, spread evenly over
    the levels: finite estimates where features tell levels apart perfectly, move together or levels were never seen.
    Without it such data are refused. A feature that is the same everywhere gets no effect.

    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(4000, 1))
    >>> latent = 2.0 * x[:, 0] + rng.logistic(size=4000)
    >>> model = fit_ordinal(x, np.digitize(latent, [-1.0, 1.0]), 3)
    >>> bool(abs(model.effects[0] - 2) < 0.1), np.abs(model.intercepts - [1, -1]).round(1).tolist()
    (True, [0.0, 0.1])
    """
    _check(x, level, n_levels, ridge)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    moves = spread > 1e-12 * np.maximum(np.abs(centre), 1.0)
    scaled = (x[:, moves] - centre[moves]) / spread[moves]
    theta = _newton(_Likelihood(scaled, level, n_levels, ridge))
    effects = np.zeros(x.shape[1])
    effects[moves] = theta[n_levels - 1 :] / spread[moves]
    return Ordinal(theta[: n_levels - 1] - float(effects @ centre), effects)


def _check(x: Floats, level: Ints, n_levels: int, ridge: float) -> None:
    if x.ndim != 2 or level.shape != x.shape[:1] or not len(level):
        raise AdjudgeError(f"Expected features of documents and a level each, got {x.shape} and {level.shape}.")
    if not np.isfinite(x).all():
        raise AdjudgeError("Expected features that are finite numbers.")
    if n_levels < 2 or level.min() < 0 or level.max() >= n_levels:
        raise AdjudgeError(f"Expected levels from 0 to {n_levels - 1}, 2 or more of them.")
    if not 0 <= ridge < np.inf:
        raise AdjudgeError(f"'ridge' must be at least 0, got {ridge}")
    missing = np.flatnonzero(np.bincount(level, minlength=n_levels) == 0)
    if ridge == 0 and len(missing):
        raise AdjudgeError(
            f"No document has level {missing[0]} of {n_levels}: give a 'ridge' above 0, or fewer levels."
        )


def _logits(alpha: Floats, linear: Floats, level: Ints) -> tuple[Floats, Floats, Floats]:
    """α_l + x'β and α_(l+1) + x'β of each document's level l, and α_l - α_(l+1) of each level; ends are infinite."""
    ends = np.concatenate([[np.inf], alpha, [-np.inf]])
    return ends[level] + linear, ends[level + 1] + linear, ends[:-1] - ends[1:]


class _Likelihood:
    """Penalised log-likelihood of θ = (α, b), its gradient and its Hessian.

    With u and v the logits at a document's level and at the next, and c = 1 / (exp(u - v) - 1),
    log P = log F(u) + log F(-v) + log(1 - exp(v - u)), ∂/∂u = F(-u) + c, ∂/∂v = -F(v) - c, and second derivatives
    -F(u)F(-u) - c(1 + c), -F(v)F(-v) - c(1 + c), mixed c(1 + c).
    """

    def __init__(self, x: Floats, level: Ints, n_levels: int, ridge: float) -> None:
        self.n_levels, self.ridge = n_levels, ridge
        pseudo = n_levels if ridge > 0 else 0
        self.x = np.vstack([x, np.zeros((pseudo, x.shape[1]))])
        self.level = np.concatenate([level, np.arange(pseudo)])
        self.weight = np.concatenate([np.ones(len(x)), np.full(pseudo, ridge / n_levels)])

    def start(self) -> Floats:
        """No effects; intercepts from the shares of levels, a little smoothed."""
        n = np.bincount(self.level, weights=self.weight, minlength=self.n_levels) + 0.5
        above = np.cumsum(n[::-1])[::-1][1:]
        return np.concatenate([np.log(above / (n.sum() - above)), np.zeros(self.x.shape[1])])

    def value(self, theta: Floats) -> float:
        alpha, b = theta[: self.n_levels - 1], theta[self.n_levels - 1 :]
        if (np.diff(alpha) >= 0).any():
            return -np.inf
        each = Ordinal(alpha, b).log_likelihood(self.x, self.level)
        return float(self.weight @ each - self.ridge / 2 * (b @ b))

    def derivatives(self, theta: Floats) -> tuple[Floats, Floats]:
        """Gradient and Hessian."""
        n, b = self.n_levels, theta[self.n_levels - 1 :]
        upper, lower, gap = _logits(theta[: n - 1], self.x @ b, self.level)
        c = 1.0 / np.expm1(np.minimum(gap, 700.0))
        c[[0, -1]] = 0.0
        reach, over = expit(-upper), expit(lower)  # F(-u), F(v)
        curve_u, curve_v = self.weight * reach * (1 - reach), self.weight * over * (1 - over)
        count = self._by_level(self.weight)
        gradient = np.concatenate(
            [
                (self._by_level(self.weight * reach) + count * c)[1:]
                - (self._by_level(self.weight * over) + count * c)[:-1],
                self.x.T @ (self.weight * (reach - over)) - self.ridge * b,
            ]
        )
        bend = count * c * (1 + c)
        hessian = np.zeros((len(theta), len(theta)))
        diagonal = (self._by_level(curve_u) + bend)[1:] + (self._by_level(curve_v) + bend)[:-1]
        hessian[: n - 1, : n - 1] = np.diag(-diagonal) + np.diag(bend[1:-1], 1) + np.diag(bend[1:-1], -1)
        one_hot = np.zeros((n + 1, len(self.level)))
        one_hot[self.level, np.arange(len(self.level))] = curve_u
        one_hot[self.level + 1, np.arange(len(self.level))] += curve_v
        cross = -(one_hot @ self.x)[1:n]
        hessian[: n - 1, n - 1 :], hessian[n - 1 :, : n - 1] = cross, cross.T
        hessian[n - 1 :, n - 1 :] = -(self.x.T * (curve_u + curve_v)) @ self.x - self.ridge * np.eye(len(b))
        return gradient, hessian

    def _by_level(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.level, weights=values, minlength=self.n_levels), dtype=np.float64)


def _newton(likelihood: _Likelihood) -> Floats:
    theta = likelihood.start()
    value = likelihood.value(theta)
    for _ in range(_STEPS):
        gradient, hessian = likelihood.derivatives(theta)
        step = np.linalg.lstsq(-hessian, gradient, rcond=None)[0]  # features that move together share the effect
        gain = float(gradient @ step) / 2
        if gain < _SETTLED * max(1.0, abs(value)):
            if np.abs(theta[likelihood.n_levels - 1 :]).max(initial=0.0) > _FAR and likelihood.ridge == 0:
                break
            return theta
        size = 1.0
        while (new := likelihood.value(theta + size * step)) <= value and size > 1e-8:
            size /= 2
        if size <= 1e-8:
            return theta
        theta, value = theta + size * step, new
    raise AdjudgeError("The fit did not settle, as features tell levels apart perfectly: give a 'ridge' above 0.")
