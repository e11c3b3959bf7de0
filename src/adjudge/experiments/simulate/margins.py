"""Margins: the distribution of one system's effectiveness over queries, as simulated collections draw from it.

A margin consists of cells with probabilities: single values where a measure has few of them, or for what it gives
often (an AP of exactly 0), and narrow intervals, uniform inside, where it is continuous. Means are therefore exact,
support and ties are kept, and a margin can be bent to another mean without leaving its support. A family of margins is
one function that fits cells and probabilities to the effectiveness of a system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError
from adjudge.registry import Registry

_MOST_STEPS = 1000  # of a regular support: means of 5 grades from 0 to 100 have 500; four decimals are continuous
_REPEATS = 5  # cells of the matrix for each different value, for a support that is not regular
_SPARSE = 4  # points of a regular support for each value seen; with more the others cannot be reached
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Support:
    """Values that a measure can give: ``points`` where they are few, with how often each was seen, or an interval.

    ``regular`` points are equally far apart, and include those between that nobody reached.
    """

    low: float
    high: float
    points: Floats = field(default_factory=lambda: np.empty(0))
    counts: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    regular: bool = False

    @property
    def discrete(self) -> bool:
        """Whether there are few enough values to list them."""
        return bool(self.points.size)

    @property
    def kind(self) -> str:
        """What it is, in words."""
        if not self.discrete:
            return f"continuous from {self.low:g} to {self.high:g}"
        return f"{self.points.size} {'equidistant' if self.regular else 'different'} values"

    def places(self, values: Floats) -> Ints:
        """The nearest point of each value."""
        middles = (self.points[1:] + self.points[:-1]) / 2
        return np.searchsorted(middles, values).astype(np.int64)


def support_of(values: npt.ArrayLike) -> Support:
    """The support that effectiveness of all systems together shows.

    Multiples of 1/d, d up to 1,000, are a regular support: P@10 has tenths, the mean of five grades out of 100 has
    1/500ths. Otherwise it is discrete where there are five cells of the matrix or more for each different value (RBP on
    binary grades, also where its values are multiples of something, but few of them), and continuous if not. Within
    [0, 1] the ends are 0 and 1; without negative values the lower end is 0; other ends are unknown (infinite).

    >>> support_of([[0.1, 0.5], [0.3, 0.2]]).points
    array([0. , 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1. ])
    """
    matrix = np.asarray(values, dtype=np.float64)
    seen, counts = np.unique(np.round(matrix.reshape(-1), 12), return_counts=True)
    low, high = (-np.inf, np.inf) if seen[0] < 0 else (0.0, 1.0 if seen[-1] <= 1 else np.inf)
    # the smallest d for which all values are multiples of 1/d
    steps = (d for d in range(1, _MOST_STEPS + 1) if (np.abs(seen * d - np.rint(seen * d)) <= _TOLERANCE * d).all())
    step = next(steps, 0)
    few = seen.size * _REPEATS <= matrix.size
    if step:
        first, last = (low if np.isfinite(low) else seen[0]), (high if np.isfinite(high) else seen[-1])
        begin, end = round(first * step), round(last * step) + 1  # perhaps too far apart to be put into an array
        size = end - begin
        if size <= max(_MOST_STEPS + 1, _REPEATS * seen.size) and not (few and size > _SPARSE * seen.size):
            points = np.arange(begin, end) / step
            found = Support(low, high, points, regular=True)
            every = np.bincount(found.places(seen), weights=counts, minlength=points.size)
            return replace(found, counts=every.astype(np.int64))
    if few:
        return Support(low, high, seen, counts.astype(np.int64))
    return Support(low, high)


@dataclass(frozen=True, eq=False)
class Margin:
    """A distribution over cells: ``points`` in rising order, their ``probabilities``, and half the width of each cell.

    A cell of width 0 is a single value. Inside the others the distribution is uniform around its point, so that

        mean = Σ p_i x_i,    variance = Σ p_i (x_i² + w_i² / 3) - mean²

    hold exactly, for half widths w.

    >>> tenths = Margin("by hand", np.array([0.0, 0.5, 1.0]), np.array([0.5, 0.25, 0.25]), np.zeros(3))
    >>> tenths.mean, tenths.quantile([0.1, 0.6, 1.0]).tolist()
    (0.375, [0.0, 0.5, 1.0])
    >>> tenths.tilted(0.6).mean
    0.6
    """

    family: str
    points: Floats
    probabilities: Floats
    widths: Floats
    parameters: Mapping[str, float] = field(default_factory=dict)
    score: float = np.nan
    """Log-likelihood that new queries of the system would have, estimated; comparable between families."""
    exact_mean: float | None = None

    @property
    def mean(self) -> float:
        """The mean: of a margin that was bent to one, that one to the last digit."""
        return float(self.probabilities @ self.points) if self.exact_mean is None else self.exact_mean

    @property
    def sd(self) -> float:
        """The standard deviation."""
        centred = self.points - self.mean
        return float(np.sqrt(self.probabilities @ (centred**2 + self.widths**2 / 3)))

    @property
    def low(self) -> float:
        """The smallest value it can give."""
        return float(self.points[0] - self.widths[0])

    @property
    def high(self) -> float:
        """The largest value it can give."""
        return float(self.points[-1] + self.widths[-1])

    @cached_property
    def _heights(self) -> Floats:
        heights: Floats = np.cumsum(self.probabilities)
        heights /= heights[-1]
        return heights

    def quantile(self, u: npt.ArrayLike) -> Floats:
        """Effectiveness at probabilities ``u``: the inverse of the distribution function."""
        levels = np.asarray(u, dtype=np.float64)
        if not ((levels >= 0) & (levels <= 1)).all():
            raise AdjudgeError(f"a probability must be in [0, 1], got {levels[~((levels >= 0) & (levels <= 1))][0]:g}")
        place = np.minimum(np.searchsorted(self._heights, levels), self.points.size - 1)
        within = 1 - (self._heights[place] - levels) / self.probabilities[place]
        return self.points[place] + self.widths[place] * np.clip(2 * within - 1, -1, 1)

    def cdf(self, x: npt.ArrayLike) -> Floats:
        """P(effectiveness <= x) on a new query."""
        at = np.asarray(x, dtype=np.float64)[..., np.newaxis]
        inside = np.where(self.widths > 0, self.widths, 1.0)
        share = np.where(self.widths > 0, np.clip((at - self.points) / (2 * inside) + 0.5, 0, 1), at >= self.points)
        return np.asarray(share @ self.probabilities)[()]

    def tilted(self, mean: float) -> Margin:
        """The nearest margin with another mean: p_i e^(θ x_i) / Z, with the only θ that gives it.

        Of all distributions over the same cells with that mean it has the smallest Kullback-Leibler divergence from
        this one. Means that the cells cannot have are refused; the ends themselves too, as only a point mass has them.

        Csiszár, I. I-Divergence Geometry of Probability Distributions and Minimization Problems. The Annals of
        Probability 3(1), 1975. doi:10.1214/aop/1176996454
        """
        low, high = float(self.points[0]), float(self.points[-1])
        scale = max(abs(low), abs(high), 1e-300)
        if abs(mean - self.mean) <= 4e-16 * scale:
            return replace(self, exact_mean=float(mean))
        if not low < mean < high:
            raise AdjudgeError(f"a mean must be between {low:g} and {high:g}, the ends of the margin, got {mean:g}")
        logs = _tilt(np.log(self.probabilities), (self.points - mean) / (high - low))
        return self._weighted(logs, mean)

    def matched(self, mean: float, sd: float) -> Margin:
        """The nearest margin with this mean and this standard deviation, or only the mean where there is none.

        p_i e^(θ x_i + η x_i²) / Z has the smallest Kullback-Leibler divergence from this margin among those with both.
        """
        if self.points.size < 3 or sd <= 0:
            return self.tilted(mean)
        y = (self.points - mean) / sd
        logs = _bend(np.log(self.probabilities), y, y**2 + (self.widths / sd) ** 2 / 3)
        return self.tilted(mean) if logs is None else self._weighted(logs, None).tilted(mean)

    def _weighted(self, logs: Floats, mean: float | None) -> Margin:
        weights = np.exp(logs - logs.max())
        weights = np.maximum(weights / weights.sum(), 1e-300)  # no cell is lost for good
        return replace(self, probabilities=weights, exact_mean=mean)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        numbers = {name: float(value) for name, value in self.parameters.items()}
        return {"family": self.family, "parameters": numbers, "mean": self.mean, "sd": self.sd}

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value:.4g}" for name, value in self.parameters.items())
        return f"{self.family}({inside})"

    def __repr__(self) -> str:
        return f"<Margin: {self}, {self.points.size} cells, mean {self.mean:.4g}>"


def _tilt(logs: Floats, y: Floats) -> Floats:
    """Log-weights logs + θ y with mean 0 of y, for which θ is found between two that have it on both sides."""
    from scipy.optimize import brentq

    def slope(theta: float) -> float:
        bent = logs + theta * y
        weights = np.exp(bent - bent.max())
        return float(weights @ y / weights.sum())

    side = -np.sign(slope(0.0)) or 1.0
    reach = 1.0
    while np.sign(slope(side * reach)) == -side and reach < 1e15:
        reach *= 2
    ends = sorted((0.0, side * reach))
    theta = brentq(slope, *ends, xtol=1e-300, rtol=8.9e-16, maxiter=1000) if reach < 1e15 else side * reach
    return logs + float(theta) * y


def _bend(logs: Floats, y: Floats, squares: Floats) -> Floats | None:
    """Log-weights logs + θ y + η squares with means 0 and 1, if any, by Newton's method on the convex dual."""
    terms = np.stack([y, squares])
    wanted, at = np.array([0.0, 1.0]), np.zeros(2)

    def dual(at: Floats) -> tuple[float, Floats, Floats]:
        bent = logs + at @ terms
        top = bent.max()
        weights = np.exp(bent - top)
        total = weights.sum()
        weights /= total
        mean = terms @ weights
        return (
            float(top + np.log(total) - at @ wanted),
            mean - wanted,
            (terms * weights) @ terms.T - np.outer(mean, mean),
        )

    value, gradient, curvature = dual(at)
    for _ in range(60):
        if np.abs(gradient).max() < 1e-12:
            break
        step = np.linalg.lstsq(curvature, -gradient, rcond=1e-14)[0]
        share = 1.0
        while (new := dual(at + share * step))[0] > value + 1e-4 * share * (gradient @ step) + 1e-15 and share > 1e-6:
            share /= 2
        at = at + share * step
        value, gradient, curvature = new
    return logs + at @ terms if np.abs(gradient).max() < 1e-8 and np.abs(at).max() < 50 else None


Fit = Callable[[Floats, Support], Margin]


@dataclass(frozen=True)
class Family:
    """A family of margins: what fits it to the effectiveness of a system, and on which supports."""

    name: str
    fit: Fit
    suits: Callable[[Support], bool]
    needs: str
    """The support it needs, in words."""
    automatic: bool = True
    """Whether it is among those that ``auto`` chooses from."""

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return (self.fit.__doc__ or "").strip().split("\n")[0]


MARGINS: Registry[Family] = Registry("margin")
_SUPPORTS: dict[str, Callable[[Support], bool]] = {
    "any": lambda support: True,
    "continuous": lambda support: not support.discrete,
    "continuous in [0, 1]": lambda support: not support.discrete and bool(np.isfinite(support.high)),
    "discrete": lambda support: support.discrete,
    "equidistant": lambda support: support.regular,
}


def margin_family(name: str, *, needs: str, automatic: bool = True) -> Callable[[Fit], Fit]:
    """Register a family of margins; the function is returned unchanged."""

    def decorate(fit: Fit) -> Fit:
        MARGINS.add(name, Family(name, fit, _SUPPORTS[needs], needs, automatic))
        return fit

    return decorate


def fit_margin(values: npt.ArrayLike, family: str = "auto", *, support: Support | None = None) -> Margin:
    """The margin of one system, by a family or by the most likely of those that suit the support.

    ``auto`` takes the family under which new queries would be most likely: by the log-likelihood less the number of
    parameters (half of Akaike's criterion), and for kernels, which have no such number, by that of each query under
    a fit to the others; the two estimate the same (Stone 1977). Of equals the first registered wins. The margin is then
    bent, as little as can be, to have the mean and standard deviation (n - 1 below) of the sample. A system that is the
    same on all queries is a point mass in every family.

    Stone, M. An Asymptotic Equivalence of Choice of Model by Cross-Validation and Akaike's Criterion. Journal of the
    Royal Statistical Society B 39(1), 1977. doi:10.1111/j.2517-6161.1977.tb01603.x

    >>> margin = fit_margin([0.1, 0.2, 0.2, 0.5, 0.3, 0.7])
    >>> margin.family, round(margin.mean, 6), margin.points.size
    ('beta-binomial', 0.333333, 11)
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not sample.size:
        raise AdjudgeError(f"a margin needs the effectiveness of one system, got an array of shape {sample.shape}")
    if not np.isfinite(sample).all():
        raise AdjudgeError(f"a margin needs finite effectiveness, got {sample[~np.isfinite(sample)][0]:g}")
    support = support_of(sample) if support is None else support
    if np.ptp(sample) <= 1e-12 * max(1.0, float(np.abs(sample).max())):
        return Margin("point", sample[:1].copy(), np.ones(1), np.zeros(1), {"at": float(sample[0])}, 0.0)
    if family == "auto":
        suited = [member for member in MARGINS.values() if member.automatic and member.suits(support)]
        fitted = max((member.fit(sample, support) for member in suited), key=lambda margin: margin.score)
    else:
        chosen = MARGINS[family]
        if not chosen.suits(support):
            raise AdjudgeError(f"margin {family}: expected {chosen.needs} effectiveness, got {support.kind}")
        fitted = chosen.fit(sample, support)
    return fitted.matched(float(sample.mean()), float(sample.std(ddof=1)))


_CELLS = 512
_LARGEST = 1000  # observations that bandwidths and leave-one-out likelihoods are worked out with
_ATOM_TIMES, _ATOM_SHARE = 3, 0.05  # how often a value must be seen to be an atom of a continuous margin
_BANDWIDTHS = np.geomspace(0.35, 2.0, 10)  # times the rule of thumb
_DECAYS = np.concatenate([[0.02], np.linspace(0.05, 0.95, 19), [0.97, 0.98, 0.99, 0.995]])
_TINY = 1e-300

Cdf = Callable[[Floats], Floats]


@margin_family("beta", needs="continuous in [0, 1]")
def beta(values: Floats, support: Support) -> Margin:
    """Beta distribution between 0 and 1, by maximum likelihood, with atoms at exact zeros, ones and what recurs.

    f(x) = x^(α - 1) (1 - x)^(β - 1) / B(α, β). Values count as atoms, with the share of queries that have them, when
    they are 0 or 1, or seen three times or more and on 5 % of the queries or more.
    """
    from scipy.special import betainc, betaln

    inner, atoms = _split(values, support)
    if np.unique(inner).size < 3:
        return reflected_kernel(values, support)
    mean, variance = float(inner.mean()), float(inner.var())
    precision = max(mean * (1 - mean) / variance - 1, 0.2)
    logs = np.array([np.log(inner).mean(), np.log1p(-inner).mean()])

    def loss(at: Floats) -> float:
        a, b = np.exp(at)
        return float(betaln(a, b) - (a - 1) * logs[0] - (b - 1) * logs[1])

    at, least = _minimum(loss, np.log([mean * precision, (1 - mean) * precision]), ((-5.0, 12.0), (-5.0, 12.0)))
    a, b = np.exp(at).tolist()
    score = -least * inner.size - 2
    return _mixed(values, atoms, "beta", lambda x: betainc(a, b, x), (0.0, 1.0), score=score, alpha=a, beta=b)


@margin_family("truncated-normal", needs="continuous")
def truncated_normal(values: Floats, support: Support) -> Margin:
    """Normal distribution cut at the ends of the support, by maximum likelihood of what is left, with atoms.

    f(x) = φ((x - μ) / σ) / σ / (Φ((b - μ) / σ) - Φ((a - μ) / σ)) between a and b; where the support has no end it is
    not cut there. Unlike the one of the thesis, μ and σ are those of the normal before it is cut, not of the sample.
    """
    from scipy.special import ndtr

    inner, atoms = _split(values, support)
    if np.unique(inner).size < 3:
        return reflected_kernel(values, support)
    centre, spread = float(inner.mean()), float(inner.std())
    low, high = support.low, support.high

    def loss(at: Floats) -> float:
        mu, sigma = centre + spread * at[0], spread * np.exp(at[1])
        squares = (1 + at[0] ** 2) * (spread / sigma) ** 2  # mean of ((x - mu) / sigma)²
        return float(0.5 * squares + np.log(sigma) + _log_mass((low - mu) / sigma, (high - mu) / sigma))

    at, least = _minimum(loss, np.zeros(2), ((-30.0, 30.0), (-3.0, 3.5)))
    mu, sigma = centre + spread * float(at[0]), spread * float(np.exp(at[1]))
    reach = min(8 * sigma, 20 * spread)  # a normal cut far from its mean falls like an exponential distribution
    ends = max(low, float(inner.min()) - reach), min(high, float(inner.max()) + reach)
    upper = mu < (ends[0] + ends[1]) / 2  # tails keep their digits on the side that is far from μ

    def cdf(x: Floats) -> Floats:
        return -ndtr((mu - x) / sigma) if upper else ndtr((x - mu) / sigma)  # type: ignore[no-any-return]

    score = -(least + 0.5 * np.log(2 * np.pi)) * inner.size - 2
    return _mixed(values, atoms, "truncated-normal", cdf, ends, score=score, mu=mu, sigma=sigma)


@margin_family("kernel", needs="continuous")
def reflected_kernel(values: Floats, support: Support) -> Margin:
    """Gaussian kernels, folded back at the ends of the support, with atoms.

    f(x) = Σ K((x - x_i) / h) / (n h), with copies of the x_i mirrored at each end. The bandwidth h is the most likely
    one, each query under the others, of ten around Silverman's rule 0.9 min(s, IQR / 1.34) n^(-1/5).

    Silverman, B. W. Density Estimation for Statistics and Data Analysis, 1986. doi:10.1201/9781315140919
    """
    from scipy.special import ndtr

    inner, atoms = _split(values, support)
    if not inner.size:
        return empirical(values, support)
    images = np.stack([inner, *(2 * end - inner for end in (support.low, support.high) if np.isfinite(end))])
    h, score = _bandwidth(images, np.zeros(inner.size))
    ends = max(support.low, float(inner.min()) - 5 * h), min(support.high, float(inner.max()) + 5 * h)

    def cdf(x: Floats) -> Floats:
        return ndtr((x[:, np.newaxis] - images.reshape(-1)) / h).sum(axis=1)  # type: ignore[no-any-return]

    return _mixed(values, atoms, "kernel", cdf, ends, score=score, bandwidth=h)


@margin_family("logit-kernel", needs="continuous in [0, 1]")
def logit_kernel(values: Floats, support: Support) -> Margin:
    """Gaussian kernels on the scale log(x / (1 - x)), so that they narrow towards 0 and 1, with atoms.

    f(x) = Σ K((logit x - logit x_i) / h) / (n h x (1 - x)); the bandwidth as that of ``kernel``.
    """
    from scipy.special import logit, ndtr

    inner, atoms = _split(values, support)
    if not inner.size:
        return empirical(values, support)
    at = logit(inner)
    h, score = _bandwidth(at[np.newaxis], -np.log(inner) - np.log1p(-inner))

    def cdf(x: Floats) -> Floats:
        return ndtr((logit(x)[:, np.newaxis] - at) / h).sum(axis=1)  # type: ignore[no-any-return]

    return _mixed(values, atoms, "logit-kernel", cdf, (0.0, 1.0), score=score, bandwidth=h)


@margin_family("beta-binomial", needs="equidistant")
def beta_binomial(values: Floats, support: Support) -> Margin:
    """Beta-binomial distribution over equidistant values, by maximum likelihood.

    P(k) = C(m, k) B(k + α, m - k + β) / B(α, β) for the k-th of the m + 1 points from the lowest on.
    """
    from scipy.special import betaln, gammaln

    places = support.places(values)
    m = support.points.size - 1
    k = np.arange(m + 1.0)
    chosen = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    seen = np.bincount(places, minlength=m + 1) / places.size

    def logs(at: Floats) -> Floats:
        a, b = np.exp(at)
        return chosen + betaln(k + a, m - k + b) - betaln(a, b)  # type: ignore[no-any-return]

    mean = float(np.clip(places.mean() / m, 0.01, 0.99))
    at, least = _minimum(lambda x: -float(seen @ logs(x)), np.log([4 * mean, 4 - 4 * mean]), ((-7.0, 9.0), (-7.0, 9.0)))
    a, b = np.exp(at).tolist()
    parameters = {"alpha": a, "beta": b, "n": float(m)}
    return _discrete("beta-binomial", support.points, np.exp(logs(at)), parameters, -least * places.size - 2)


@margin_family("pooled", needs="discrete")
def pooled(values: Floats, support: Support) -> Margin:
    """What the other systems get, bent to the mean and standard deviation of this one.

    p_i ∝ q_i e^(θ x_i + η x_i²), where q_i is how often the other systems got the value, plus a half: an exponential
    family, in which having the moments of the sample is maximum likelihood. It knows which values are common, which
    matters where points are irregular.
    """
    places = support.places(values)
    own = np.bincount(places, minlength=support.points.size)
    base = _discrete("pooled", support.points, (support.counts - own).astype(np.float64) + 0.5, {}, np.nan)
    bent = base.matched(float(values.mean()), float(values.std()))
    score = float(np.log(bent.probabilities[places]).sum()) - 2
    return _discrete("pooled", support.points, bent.probabilities, {}, score)


@margin_family("discrete-kernel", needs="discrete")
def discrete_kernel(values: Floats, support: Support) -> Margin:
    """Geometric kernels on the points of the support.

    p_i = Σ_q λ^|i - i_q| / c(i_q) / n for queries at the points i_q, with c such that each adds up to 1 over the points
    there are, and the λ in (0, 1) under which each query is most likely given the others.

    Wang, M.-C., van Ryzin, J. A Class of Smooth Estimators for Discrete Distributions. Biometrika 68(1), 1981.
    doi:10.1093/biomet/68.1.301
    """
    places = support.places(values)
    points, n = support.points, places.size
    seen, times = np.unique(places, return_counts=True)
    counts = times.astype(np.float64)
    apart = np.abs(np.arange(points.size)[:, np.newaxis] - seen)
    found: tuple[float, float, Floats] | None = None
    for decay in _DECAYS:
        powers = decay ** np.arange(points.size + 1.0)
        sums = (1 + decay - powers[seen + 1] - powers[points.size - seen]) / (1 - decay)  # of geometric series
        total = (powers[apart] / sums) @ counts
        left = np.maximum(total[seen] - 1 / sums, _TINY) / max(n - 1, 1)
        score = float(counts @ np.log(left)) - 1
        if found is None or score > found[0]:
            found = score, float(decay), total / n
    score, decay, weights = found if found is not None else (np.nan, np.nan, np.ones(points.size))
    return _discrete("discrete-kernel", points, weights, {"decay": decay}, score)


@margin_family("empirical", needs="any", automatic=False)
def empirical(values: Floats, support: Support) -> Margin:
    """The values of the sample themselves, each as often as it was seen; ``auto`` never takes it."""
    points, counts = np.unique(values, return_counts=True)
    return _discrete("empirical", points, counts.astype(np.float64), {"n": float(values.size)}, -np.inf)


def _discrete(family: str, points: Floats, weights: Floats, parameters: dict[str, float], score: float) -> Margin:
    weights = np.maximum(weights / weights.sum(), _TINY)
    return Margin(family, points, weights, np.zeros(points.size), parameters, score)


def _split(values: Floats, support: Support) -> tuple[Floats, Floats]:
    """Values that the continuous part is fitted to, and the atoms."""
    points, counts = np.unique(values, return_counts=True)
    often: Mask = (counts >= _ATOM_TIMES) & (counts >= _ATOM_SHARE * values.size)
    atoms = points[often | (points == support.low) | (points == support.high)]
    return values[~np.isin(values, atoms)], atoms


def _mixed(
    values: Floats,
    atoms: Floats,
    family: str,
    cdf: Cdf,
    ends: tuple[float, float],
    *,
    score: float,
    **parameters: float,
) -> Margin:
    """The cells of a continuous distribution, and the atoms with the share of queries that have them."""
    edges, masses = _cells(cdf, ends)
    shares = np.array([(values == atom).mean() for atom in atoms])
    points = np.concatenate([(edges[1:] + edges[:-1]) / 2, atoms])
    weights = np.concatenate([masses * (1 - shares.sum()), shares])
    widths = np.concatenate([np.diff(edges) / 2, np.zeros(atoms.size)])
    kept = weights > _TINY
    order = np.argsort(points[kept], kind="stable")
    points, weights, widths = (array[kept][order] for array in (points, weights, widths))
    if atoms.size:
        parameters["atoms"] = float(shares.sum())
    return Margin(family, points, weights / weights.sum(), widths, parameters, score)


def _cells(cdf: Cdf, ends: tuple[float, float]) -> tuple[Floats, Floats]:
    """Edges, equally far apart and at equal probabilities, so that neither long tails nor narrow peaks are lost."""
    edges = np.linspace(*ends, _CELLS + 1)
    levels = np.linspace(0, 1, _CELLS + 1)
    for _ in range(2):  # the quantiles of one round are as good as the edges of the last
        heights = _scaled(cdf(edges))
        between: Floats = np.interp(levels, heights, edges)
        edges = np.unique(np.concatenate([np.linspace(*ends, _CELLS + 1), between]))
    return edges, np.diff(_scaled(cdf(edges)))


def _scaled(heights: Floats) -> Floats:
    rising: Floats = np.maximum.accumulate(heights)
    scaled: Floats = (rising - rising[0]) / (rising[-1] - rising[0])
    return scaled


def _minimum(
    loss: Callable[[Floats], float], start: Floats, bounds: tuple[tuple[float, float], ...]
) -> tuple[Floats, float]:
    """Two parameters by the simplex method: no linear algebra, so that threads cannot change a digit."""
    from scipy.optimize import minimize

    low, high = np.array(bounds).T
    options = {"xatol": 1e-7, "fatol": 1e-11, "maxiter": 1000}
    found = minimize(loss, np.clip(start, low, high), method="Nelder-Mead", bounds=bounds, options=options)
    return found.x, float(found.fun)


def _log_mass(a: float, b: float) -> float:
    """Logarithm of Φ(b) - Φ(a), also far out in a tail."""
    from scipy.special import log_ndtr

    if a > 0:
        a, b = -b, -a
    lower, upper = log_ndtr(a), log_ndtr(b)
    return float(upper + np.log1p(-np.exp(lower - upper)))


def _bandwidth(images: Floats, jacobian: Floats) -> tuple[float, float]:
    """The most likely of some bandwidths, each observation under the others, and its likelihood, less 1 for choosing.

    ``images`` are the observations and their mirrored copies; ``jacobian`` the logarithm of the change of scale. Of
    more than 1,000 observations evenly spaced ones speak for all.
    """
    values, n = images[0], images.shape[1]
    spread = min(values.std(ddof=1), np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.34) if n > 1 else 0.0
    rule = 0.9 * (spread or (values.std() if n > 1 else 0.0) or 0.1 * max(1.0, abs(float(values[0])))) * n**-0.2
    chosen = np.argsort(values, kind="stable")[:: -(-n // _LARGEST)]
    images, m = images[:, chosen], chosen.size
    if m < 3:
        return rule, -np.inf
    apart = images[0][:, np.newaxis] - images[:, np.newaxis, :]
    apart[:, np.arange(m), np.arange(m)] = np.inf
    scores = []
    for h in _BANDWIDTHS * rule:
        density = np.exp(-0.5 * (apart / h) ** 2).sum(axis=(0, 2)) / ((m - 1) * h * np.sqrt(2 * np.pi))
        scores.append(float((np.log(np.maximum(density, _TINY)) + jacobian[chosen]).sum()))
    best = int(np.argmax(scores))
    return float(_BANDWIDTHS[best] * rule), scores[best] * n / m - 1
