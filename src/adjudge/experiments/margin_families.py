"""Families of margins: each one function that fits cells and probabilities to the effectiveness of a system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.experiments.margins import Margin, Support, margin_family

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
    a, b = (float(one) for one in np.exp(at))
    return _mixed(
        values,
        atoms,
        _Density("beta", lambda x: betainc(a, b, x), (0.0, 1.0), {"alpha": a, "beta": b}, -least * inner.size - 2),
    )


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
    return _mixed(values, atoms, _Density("truncated-normal", cdf, ends, {"mu": mu, "sigma": sigma}, score))


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

    return _mixed(values, atoms, _Density("kernel", cdf, ends, {"bandwidth": h}, score))


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

    return _mixed(values, atoms, _Density("logit-kernel", cdf, (0.0, 1.0), {"bandwidth": h}, score))


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
    a, b = (float(one) for one in np.exp(at))
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


@dataclass(frozen=True)
class _Density:
    """A continuous distribution between two ends."""

    family: str
    cdf: Cdf
    ends: tuple[float, float]
    parameters: dict[str, float]
    score: float


def _mixed(values: Floats, atoms: Floats, fitted: _Density) -> Margin:
    """The cells of a continuous distribution, and the atoms with the share of queries that have them."""
    edges, masses = _cells(fitted.cdf, fitted.ends)
    shares = np.array([(values == atom).mean() for atom in atoms])
    points = np.concatenate([(edges[1:] + edges[:-1]) / 2, atoms])
    weights = np.concatenate([masses * (1 - shares.sum()), shares])
    widths = np.concatenate([np.diff(edges) / 2, np.zeros(atoms.size)])
    kept = weights > _TINY
    order = np.argsort(points[kept], kind="stable")
    points, weights, widths = (array[kept][order] for array in (points, weights, widths))
    parameters = fitted.parameters | ({"atoms": float(shares.sum())} if atoms.size else {})
    return Margin(fitted.family, points, weights / weights.sum(), widths, parameters, fitted.score)


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
