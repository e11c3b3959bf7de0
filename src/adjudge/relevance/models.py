"""Proportional-odds models of relevance: fitted to judged collections, saved as plain values, and those of the thesis.

    log P(R ≥ l) / P(R < l) = α_l + x'β,    l = 1 … L - 1,    α_1 > α_2 > …

with R the level of a document (0 … L - 1), x its features, β their effects, α_l the intercept of level l (thesis 7.3).
Probabilities of single levels are differences of neighbours, P(R = l) = P(R ≥ l) - P(R ≥ l + 1).

A model with judgments among its features is fitted as it will be used: some documents, drawn at random, are judged, and
the others are predicted from them. So a document's own judgment is never among its features, and the variance that a
model claims is that of documents it has not seen. (The published M_jud was fitted with each document's own judgment
inside; on unseen documents its error is about twice what it claims.)

The published models M_out and M_jud are those of Table A.1, for the scales Broad and Fine of MIREX, fitted to all
judgments of 2007, 2009, 2010 and 2011, four digits as printed. Fine was cut into the levels 5, 15, …, 95.

McCullagh, P., Regression models for ordinal data, Journal of the Royal Statistical Society B 42(2), 1980,
doi:10.1111/j.2517-6161.1980.tb01109.x.
Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.special import expit, log_expit

from adjudge.arrays import Floats, Ints
from adjudge.checks import INNER_SHARE, NOT_NEGATIVE, SEED, checked
from adjudge.errors import AdjudgeError, shown
from adjudge.formats import Source
from adjudge.io import write_whole
from adjudge.model.scales import BROAD, FINE
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.features import FEATURES, Evidence, cut_levels
from adjudge.seeds import Seed, as_seed

_STEPS = 200
_SETTLED = 1e-12  # half the squared Newton decrement: the log-likelihood still to gain
_FAR = 30.0  # effects of standardised features beyond this only grow: levels are told apart perfectly


@dataclass(frozen=True, eq=False)
class Ordinal:
    """A proportional-odds model: ``intercepts`` (levels - 1, falling) and ``effects`` (one per feature)."""

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
        return np.asarray(expit((x @ self.effects)[:, None] + self.intercepts))

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
            return np.asarray(log_expit(upper) + log_expit(-lower) + np.log(-np.expm1(-gap))[level])


@checked(ridge=NOT_NEGATIVE)
def fit_ordinal(x: Floats, level: Ints, n_levels: int, *, ridge: float = 0.0) -> Ordinal:
    """Fit by maximum likelihood: Newton's method on a concave function, so what it finds is the maximum.

    ``x`` is documents x features, ``level`` 0 … n_levels - 1. With ``ridge`` λ the log-likelihood also gets
    -λ/2 Σ b² for the effects b of standardised features, and λ average documents spread evenly over the levels: finite
    estimates where features tell levels apart perfectly, move together or levels were never seen. Without it such data
    are refused. A feature that is the same everywhere gets no effect.

    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(4000, 1))
    >>> latent = 2.0 * x[:, 0] + rng.logistic(size=4000)
    >>> model = fit_ordinal(x, np.digitize(latent, [-1.0, 1.0]), 3)
    >>> bool(abs(model.effects[0] - 2) < 0.1), np.abs(model.intercepts - [1, -1]).round(1).tolist()
    (True, [0.0, 0.1])
    """
    _check_data(x, level, n_levels, ridge)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    moves = spread > 1e-12 * np.maximum(np.abs(centre), 1.0)
    scaled = (x[:, moves] - centre[moves]) / spread[moves]
    theta = _newton(_Likelihood(scaled, level, n_levels, ridge))
    effects = np.zeros(x.shape[1])
    effects[moves] = theta[n_levels - 1 :] / spread[moves]
    return Ordinal(theta[: n_levels - 1] - float(effects @ centre), effects)


def _check_data(x: Floats, level: Ints, n_levels: int, ridge: float) -> None:
    if x.ndim != 2 or level.shape != x.shape[:1] or not len(level):
        raise AdjudgeError(f"Expected features of documents and a level each, got {x.shape} and {level.shape}.")
    if not np.isfinite(x).all():
        raise AdjudgeError("Expected features that are finite numbers.")
    if n_levels < 2 or level.min() < 0 or level.max() >= n_levels:
        raise AdjudgeError(f"Expected levels from 0 to {n_levels - 1}, 2 or more of them.")
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


OUTPUT_FEATURES = ("fSYS", "OV", "fSYS:OV", "fART", "sGEN", "fGEN", "sGEN:fGEN")
"""Features of the published M_out (T 7.3.1)."""
JUDGMENT_FEATURES = ("fSYS", "aSYS", "aART")
"""Features of the published M_jud (T 7.3.1)."""

_KEYS = ("features", "effects", "intercepts", "levels", "source", "n_documents")


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A proportional-odds model of relevance: features by name, their effects, and what each level is worth (0 to 1).

    ``n_documents`` is the number of documents it was fitted to, each as often as it was drawn, ``source`` its origin.
    """

    features: tuple[str, ...]
    ordinal: Ordinal
    levels: tuple[float, ...]
    source: str = ""
    n_documents: int = 0

    def __post_init__(self) -> None:
        if len(self.features) != len(self.ordinal.effects):
            raise AdjudgeError(f"Expected an effect of each feature, got {len(self.ordinal.effects)} effects.")
        if len(self.levels) != len(self.ordinal.intercepts) + 1:
            raise AdjudgeError(f"Expected {len(self.ordinal.intercepts) + 1} levels, got {len(self.levels)}.")
        if not all(0 <= level <= 1 for level in self.levels) or list(self.levels) != sorted(self.levels):
            raise AdjudgeError(f"Expected levels that rise between 0 and 1, got {list(self.levels)}.")

    def __str__(self) -> str:
        names = [*self.features, *(f"α {level:g}" for level in self.levels[1:])]
        values = [*self.ordinal.effects, *self.ordinal.intercepts]
        rows = [f"{name:<{max(map(len, names))}} {value:9.4f}" for name, value in zip(names, values, strict=True)]
        return "\n".join([self.source or "own fit", *rows])

    def estimate(self, evidence: Evidence, relevance: Floats | None = None) -> tuple[Floats, Floats]:
        """Expectation and variance of the relevance of every pair; NaN where a feature is not defined."""
        return self.ordinal.moments(evidence.table(self.features, relevance), np.array(self.levels))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "features": list(self.features),
            "effects": self.ordinal.effects.tolist(),
            "intercepts": self.ordinal.intercepts.tolist(),
            "levels": list(self.levels),
            "source": self.source,
            "n_documents": self.n_documents,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> FittedModel:
        """From plain values; anything but a model is refused.

        >>> values = {"features": ["fSYS"], "effects": [3.5], "intercepts": [-1], "levels": [0, 1]}
        >>> FittedModel.from_dict(values).features
        ('fSYS',)
        """
        if not isinstance(plain, Mapping) or not set(_KEYS[:4]) <= set(plain) <= set(_KEYS):
            raise AdjudgeError(f"Expected a model with {', '.join(_KEYS)}, got {shown(plain)}")
        names = plain["features"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise AdjudgeError(f"'features' must be a list of names, got {shown(names)}")
        for key in _KEYS[1:4]:
            values = plain[key]
            if not isinstance(values, list) or any(isinstance(x, bool) or not isinstance(x, Real) for x in values):
                raise AdjudgeError(f"{key!r} must be a list of numbers, got {shown(values)}")
        effects, intercepts, levels = (np.array(plain[key], dtype=np.float64) for key in _KEYS[1:4])
        source, n = plain.get("source", ""), plain.get("n_documents", 0)
        if not isinstance(source, str) or not isinstance(n, int):
            raise AdjudgeError(f"'source' must be text and 'n_documents' a number, got {shown(source)} and {shown(n)}")
        return cls(tuple(names), Ordinal(intercepts, effects), tuple(levels.tolist()), source, n)

    def save(self, path: str | Path) -> None:
        """Write as JSON; the file appears when it is complete."""
        write_whole(Path(path), (json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> FittedModel:
        """Read from JSON; what cannot be used is refused with its place."""
        source = Source.open(Path(path))
        try:
            return cls.from_dict(json.loads(source.text))
        except json.JSONDecodeError as error:
            raise source.error(f"expected JSON: {error.msg.lower()}", error.lineno) from None
        except AdjudgeError as error:
            raise source.error(str(error)) from None


@checked(seed=SEED)
def fit_estimator(
    collections: Sequence[Candidates],
    *,
    features: Sequence[str] = OUTPUT_FEATURES,
    levels: int | None = None,
    shares: Sequence[float] = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7),
    draws: int = 4,
    ridge: float = 1.0,
    seed: Seed = 0,
) -> FittedModel:
    """Fit a model to the judged pairs of collections, without any document's own judgment in its features.

    The scale is cut into ``levels`` equal parts, by default 10 where it has more than 11 levels (Fine); scales with few
    levels keep them. Where ``features`` contain judgments, each collection is judged in part, ``draws`` times for
    each of the ``shares``, and the documents left are what is fitted. Pairs for which a feature is not defined are left
    out.
    ``ridge`` as in :func:`~adjudge.relevance.models.fit_ordinal`.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> print(fit_estimator([candidates(aj.demo(depth=5), cutoff=5)], features=["fSYS", "aDOC"], seed=1))
    own fit
    ...
    """
    seed = as_seed(seed)
    if not collections:
        raise AdjudgeError("Expected one judged collection or more to fit to, got none.")
    scale = collections[0].scale
    for other in collections:
        if (other.scale.maximum, other.scale.levels) != (scale.maximum, scale.levels):
            raise AdjudgeError(f"Expected collections with one scale, got {scale} and {other.scale}.")
        if not other.judged.any():
            raise AdjudgeError("Expected judged collections to fit to, got one without judgments.")
    bounds, worth = cut_levels(scale, levels)
    rng = np.random.default_rng(seed)
    examples = [example for pool in collections for example in _examples(pool, features, np.repeat(shares, draws), rng)]
    x, relevance = (np.concatenate(part) for part in zip(*examples, strict=True))
    defined = ~np.isnan(x).any(axis=1)
    if not defined.any():
        raise AdjudgeError("No judged document has all features: " + ", ".join(features))
    level = np.searchsorted(bounds, relevance[defined], side="right").astype(np.int64)
    ordinal = fit_ordinal(x[defined], level, len(worth), ridge=ridge)
    return FittedModel(tuple(features), ordinal, worth, "own fit", len(level))


def _examples(
    candidates: Candidates, features: Sequence[str], shares: Floats, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Features and relevance of judged documents; where judgments are among the features, for each share judged."""
    evidence, judged = Evidence(candidates), np.flatnonzero(candidates.judged)
    names = {name for term in features for name in term.split(":")}
    if not any(name in FEATURES and FEATURES[name].judged for name in names):
        yield evidence.table(features)[judged], candidates.relevance[judged]
        return
    for share in shares.tolist():
        INNER_SHARE.check("shares", share)
        seen = rng.choice(judged, size=max(1, round(share * len(judged))), replace=False)
        known = np.full(len(candidates), np.nan)
        known[seen] = candidates.relevance[seen]
        left = np.setdiff1d(judged, seen)
        yield evidence.table(features, known)[left], candidates.relevance[left]


SOURCE = "Urbano 2013 (thesis), Table A.1"

_EFFECTS: dict[tuple[str, str], dict[str, float]] = {
    (scale, kind): dict(zip(features, effects, strict=True))
    for scale, kind, features, effects in (
        ("broad", "output", OUTPUT_FEATURES, (-19.7968, -0.3227, 29.6378, 3.2530, 1.8975, 5.4055, -2.9606)),
        ("broad", "judgments", JUDGMENT_FEATURES, (0.9789, 1.1964, 7.1813)),
        ("fine", "output", OUTPUT_FEATURES, (-17.4721, 0.1336, 26.4550, 2.9111, 2.0443, 5.4544, -3.4851)),
        ("fine", "judgments", JUDGMENT_FEATURES, (0.7954, 0.0128, 0.2078)),
    )
}
_INTERCEPTS: dict[tuple[str, str], tuple[float, ...]] = {
    ("broad", "output"): (-1.4351, -3.5205),
    ("broad", "judgments"): (-5.2165, -11.9251),
    ("fine", "output"): (-0.5092, -1.2231, -1.7919, -2.2787, -2.7216, -3.1956, -3.8044, -4.6928, -5.9567),
    ("fine", "judgments"): (-2.7554, -4.9168, -7.0128, -9.0010, -10.8548, -12.7158, -14.6722, -16.8831, -19.2536),
}
_LEVELS = {"broad": (0.0, 1.0, 2.0), "fine": tuple(float(level) for level in range(5, 100, 10))}
_HIGHEST = {"broad": BROAD.maximum, "fine": FINE.maximum}
_ON_GRADES = ("aSYS", "aART")  # 0 to 2 and 0 to 100 in the thesis, relevance from 0 to 1 here
PUBLISHED_SCALES = tuple(_LEVELS)


def published_model(scale: str, kind: Literal["output", "judgments"]) -> FittedModel:
    """M_out (``output``) or M_jud (``judgments``) for the scale ``broad`` or ``fine``.

    >>> print(published_model("broad", "output").features)
    ('fSYS', 'OV', 'fSYS:OV', 'fART', 'sGEN', 'fGEN', 'sGEN:fGEN')
    """
    effects, highest = _EFFECTS[scale, kind], _HIGHEST[scale]
    slopes = [effect * (highest if name in _ON_GRADES else 1.0) for name, effect in effects.items()]
    ordinal = Ordinal(np.array(_INTERCEPTS[scale, kind]), np.array(slopes))
    return FittedModel(tuple(effects), ordinal, tuple(level / highest for level in _LEVELS[scale]), SOURCE)
