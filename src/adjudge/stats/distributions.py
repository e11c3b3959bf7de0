"""Distributions of effectiveness over queries, and where effectiveness on a new query may fall.

A mean with its interval is about many queries; a user has one. One of four distributions is fitted to the sample of
queries (thesis section 4.2), and a prediction interval says where effectiveness on a new query is expected.

>>> sample = [0.12, 0.25, 0.31, 0.34, 0.42, 0.47, 0.55, 0.58, 0.71, 0.80]
>>> print(prediction_interval(sample, distribution="beta"))
95 % of new queries in [0.052, 0.909] (beta, 10 queries)
>>> print(prediction_interval(sample, distribution="empirical"))
82 % of new queries in [0.120, 0.800] (empirical, 10 queries: too few for 95 %)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.checks import CONFIDENCE, PROBABILITY, SEVERAL, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.registry import Registry
from adjudge.text import percent

_ROUNDING = 1e-12
_SHARPEST = 1e8  # α + β of a beta; its quantiles lose their order far beyond


class Distribution(ABC):
    """A distribution of effectiveness over queries, fitted to a sample of them."""

    name: ClassVar[str]
    bounded: ClassVar[bool] = False
    """Whether it is defined on [0, 1] only."""

    @classmethod
    def fit(cls, sample: npt.ArrayLike) -> Distribution:
        """The distribution of this family for a sample; NaN is left out, a constant sample is a point mass."""
        values = _finite(sample)
        if cls.bounded:
            _check_probabilities("effectiveness", values, where=f"{cls.name}: ")
        if np.ptp(values) <= _ROUNDING * max(1.0, float(np.abs(values).max())):
            return PointMass(float(values[0]), cls.name)
        return cls._fit(values)

    @classmethod
    @abstractmethod
    def _fit(cls, values: Floats) -> Distribution:
        """Fit at least two values that are not all the same."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """Parameters by name."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]  # every family is a dataclass

    @abstractmethod
    def cdf(self, x: npt.ArrayLike) -> Floats:
        """P(effectiveness <= x) on a new query."""

    @abstractmethod
    def quantile(self, p: npt.ArrayLike) -> Floats:
        """The smallest effectiveness that a new query stays at or below with probability p."""

    def central(self, z: float) -> tuple[float, float]:
        """Quantiles at Φ(-z) and Φ(z)."""
        from scipy.special import ndtr

        low, high = sorted(self.quantile(ndtr([-z, z])).tolist())  # a last digit may be out of order
        return low, high

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value:.4g}" for name, value in self.parameters.items())
        return f"{self.name}({inside})"


DISTRIBUTIONS: Registry[type[Distribution]] = Registry("distribution")


@dataclass(frozen=True)
class PointMass(Distribution):
    """Every query the same: what each family makes of a constant sample."""

    at: float
    name: str = "point mass"  # type: ignore[misc]

    @classmethod
    def _fit(cls, values: Floats) -> Distribution:
        raise AdjudgeError("A point mass fits constant samples only")

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"at": self.at}

    def cdf(self, x: npt.ArrayLike) -> Floats:
        return np.where(np.asarray(x) >= self.at, 1.0, 0.0)[()]

    def quantile(self, p: npt.ArrayLike) -> Floats:
        return np.full(_check_probabilities("p", p).shape, self.at)[()]


@DISTRIBUTIONS.register("empirical")
@dataclass(frozen=True, eq=False)
class Empirical(Distribution):
    """The sample itself: F(x) is the share of queries at or below x.

    ``quantile(p)`` is the smallest observation with F >= p (Hyndman & Fan's first definition), the inverse of F and
    always a value that was seen; the thesis interpolates between observations, which reads more into n queries than
    their steps of 1/n.

    Hyndman, R. J., Fan, Y. Sample Quantiles in Statistical Packages. The American Statistician 50(4), 1996.
    doi:10.1080/00031305.1996.10473566

    >>> Empirical.fit([0.1, 0.4, 0.2, 0.4]).cdf([0.1, 0.3, 0.4])
    array([0.25, 0.5 , 1.  ])
    """

    name: ClassVar[str] = "empirical"
    values: Floats = field(repr=False)

    @classmethod
    def _fit(cls, values: Floats) -> Distribution:
        return cls(np.sort(values))

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"n": float(self.values.size)}

    def cdf(self, x: npt.ArrayLike) -> Floats:
        return np.asarray(np.searchsorted(self.values, np.asarray(x), side="right") / self.values.size)[()]

    def quantile(self, p: npt.ArrayLike) -> Floats:
        n = self.values.size
        share = _check_probabilities("p", p)
        rank = np.ceil(np.round(share * n, 9)).astype(np.int64)  # .3 x 10 is 3, not 3.0000000000000004
        return self.values[np.clip(rank, 1, n) - 1]


@DISTRIBUTIONS.register("normal")
@dataclass(frozen=True)
class Normal(Distribution):
    """Normal with the mean and standard deviation of the sample (n - 1 below); it spills over the ends of [0, 1].

    F(x) = Φ((x - μ) / σ).

    >>> Normal.fit([0.2, 0.4, 0.6]).quantile([0.025, 0.5]).round(3)
    array([0.008, 0.4  ])
    """

    name: ClassVar[str] = "normal"
    mu: float
    sigma: float

    @classmethod
    def _fit(cls, values: Floats) -> Distribution:
        return cls(float(values.mean()), float(values.std(ddof=1)))

    def cdf(self, x: npt.ArrayLike) -> Floats:
        from scipy.special import ndtr

        return ndtr((np.asarray(x, dtype=np.float64) - self.mu) / self.sigma)  # type: ignore[no-any-return]

    def quantile(self, p: npt.ArrayLike) -> Floats:
        from scipy.special import ndtri

        return self.mu + self.sigma * ndtri(_check_probabilities("p", p))  # type: ignore[no-any-return]

    def central(self, z: float) -> tuple[float, float]:
        return self.mu - z * self.sigma, self.mu + z * self.sigma


@DISTRIBUTIONS.register("truncated-normal")
@dataclass(frozen=True)
class TruncatedNormal(Normal):
    """Normal with the mean and standard deviation of the sample, cut at 0 and 1 and scaled to what is left.

    F(x) = (Φ((x - μ) / σ) - Φ(-μ / σ)) / (Φ((1 - μ) / σ) - Φ(-μ / σ)) in [0, 1]. As in the thesis, μ and σ are those of
    the sample and not of the normal that would have them when cut: the fit is narrower than the sample.

    >>> TruncatedNormal.fit([0.2, 0.4, 0.6]).cdf([-1, 0.4, 1]).round(3)
    array([0.   , 0.489, 1.   ])
    """

    name: ClassVar[str] = "truncated-normal"
    bounded: ClassVar[bool] = True

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"mu": self.mu, "sigma": self.sigma, "a": 0.0, "b": 1.0}

    def cdf(self, x: npt.ArrayLike) -> Floats:
        below, up_to = super().cdf([0.0, 1.0])
        inner = np.clip(np.asarray(x, dtype=np.float64), 0, 1)
        share: Floats = (super().cdf(inner) - below) / (up_to - below)
        return np.clip(share, 0, 1)

    def quantile(self, p: npt.ArrayLike) -> Floats:
        below, up_to = super().cdf([0.0, 1.0])
        return np.clip(super().quantile(below + _check_probabilities("p", p) * (up_to - below)), 0, 1)

    central = Distribution.central


@DISTRIBUTIONS.register("beta")
@dataclass(frozen=True)
class Beta(Distribution):
    """Beta distribution on [0, 1], by moments, or by maximum likelihood where those fail.

    With mean μ and variance s² (n - 1 below) of the sample, α = μ k and β = (1 - μ) k, k = μ (1 - μ) / s² - 1. They
    fail where s² >= μ (1 - μ), which takes a sample of hardly anything but zeros and ones. The likelihood of an exact 0
    or 1 has no maximum, so that the sample is drawn in first, x' = ((n - 1) x + 1/2) / n (Smithson & Verkuilen), and
    then the likelihood maximised by Newton's method.

    Smithson, M., Verkuilen, J. A Better Lemon Squeezer? Psychological Methods 11(1), 2006.
    doi:10.1037/1082-989X.11.1.54

    >>> print(Beta.fit([0.2, 0.4, 0.6]), Beta.fit([0, 0, 1]))
    beta(alpha=2, beta=3) beta(alpha=0.9537, beta=1.345)
    """

    name: ClassVar[str] = "beta"
    bounded: ClassVar[bool] = True
    alpha: float
    beta: float

    @classmethod
    def _fit(cls, values: Floats) -> Distribution:
        mean, variance = float(values.mean()), float(values.var(ddof=1))
        precision = mean * (1 - mean) / variance - 1
        if precision > _ROUNDING:
            precision = min(precision, _SHARPEST)
            return cls(mean * precision, (1 - mean) * precision)
        return cls(*_most_likely_beta((values * (values.size - 1) + 0.5) / values.size))

    def cdf(self, x: npt.ArrayLike) -> Floats:
        from scipy.special import betainc

        return betainc(self.alpha, self.beta, np.clip(np.asarray(x, dtype=np.float64), 0, 1))  # type: ignore[no-any-return]

    def quantile(self, p: npt.ArrayLike) -> Floats:
        from scipy.special import betaincinv

        return betaincinv(self.alpha, self.beta, _check_probabilities("p", p))  # type: ignore[no-any-return]


def _most_likely_beta(values: Floats) -> tuple[float, float]:
    """Maximum likelihood for values strictly inside (0, 1), not all equal: Newton on a concave function."""
    from scipy.special import polygamma, psi

    logs = np.array([np.log(values).mean(), np.log1p(-values).mean()])
    mean = values.mean()
    shape = np.array([mean, 1 - mean]) * max(mean * (1 - mean) / values.var() - 1, 1e-3)
    for _ in range(200):
        gradient = psi(shape.sum()) - psi(shape) + logs
        hessian = polygamma(1, shape.sum()) - np.diag(polygamma(1, shape))
        moved = np.maximum(shape - np.linalg.solve(hessian, gradient), shape / 8)  # both stay above 0
        if np.allclose(moved, shape, rtol=1e-12, atol=0):
            break
        shape = moved
    return float(moved[0]), float(moved[1])


def omega(fitted: Distribution, sample: npt.ArrayLike) -> float:
    """How far a distribution is from queries it was not fitted to, ω̂ of thesis eq 4.7; 0 is best.

    ω̂² = Σ_q (F(λ_q) - F̂(λ_q))², over the effectiveness λ_q of the held-out queries, F their empirical distribution and
    F̂ the ``fitted`` one. The square root is returned, as the thesis reports. It is a sum: compare only over the same
    number of held-out queries.

    Cramér, H. On the Composition of Elementary Errors. Scandinavian Actuarial Journal 1928(1).
    doi:10.1080/03461238.1928.10416862

    >>> round(omega(Normal(0.5, 0.2), [0.3, 0.5, 0.7]), 4)
    0.2889
    """
    values = _finite(sample)
    return float(np.linalg.norm(Empirical(np.sort(values)).cdf(values) - fitted.cdf(values)))


def _finite(sample: npt.ArrayLike) -> Floats:
    """The effectiveness of one system, NaN left out; infinite numbers are refused."""
    values = np.asarray(sample, dtype=np.float64)
    if values.ndim != 1:
        raise AdjudgeError(
            f"A distribution needs the effectiveness of one system, got an array of shape {values.shape}"
        )
    values = values[~np.isnan(values)]
    if values.size == 0:
        raise NotEnoughDataError("A distribution needs at least one query, got none")
    if np.isinf(values).any():
        raise AdjudgeError("A distribution needs finite effectiveness, got an infinity")
    return values


def _check_probabilities(name: str, values: npt.ArrayLike, *, where: str = "") -> Floats:
    """An array, or an error that names the first value that is not in [0, 1]."""
    numbers = np.asarray(values, dtype=np.float64)
    outside = numbers[~((numbers >= 0) & (numbers <= 1))]
    if outside.size:
        PROBABILITY.check(name, outside[0].item(), where=where)
    return numbers


_FEW_QUERIES = 30  # below this the empirical distribution is too coarse (thesis section 4.4)
_MANY_QUERIES = 1000  # from here on it is safe on any scale: 0.013 off on average, whatever the shape
_FEW_LEVELS, _FINE_LEVELS = 3, 11
_ATOMS = 0.05  # share of values at 0 or 1 beyond which no density fits


@dataclass(frozen=True)
class PredictionInterval:
    """Where effectiveness on a new query is expected with probability ``attained``.

    ``attained`` is ``confidence``, more where steps of 1/n allow no closer, or less where there are too few queries.
    """

    low: float
    high: float
    distribution: str
    confidence: float
    attained: float
    n_queries: int

    def __str__(self) -> str:
        short = self.attained < self.confidence
        note = f": too few for {percent(self.confidence)}" if short else ""
        share = self.attained if short else self.confidence
        return (
            f"{percent(share, 0)} of new queries in [{self.low:.3f}, {self.high:.3f}] "
            f"({self.distribution}, {self.n_queries} queries{note})"
        )


@checked(confidence=CONFIDENCE, levels=SEVERAL)
def prediction_interval(
    sample: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    distribution: str = "auto",
    levels: int | None = None,
    n_queries: int | None = None,
) -> PredictionInterval:
    """Interval for effectiveness on a new query, from one system's effectiveness on a sample of them; NaN is left out.

    With F̂ fitted to the n queries and α = 1 - ``confidence``:

    - *normal, truncated normal, beta*: from F̂⁻¹(p) to F̂⁻¹(1 - p), p = Φ(-t(1 - α/2, n - 1) sqrt(1 + 1/n)). The thesis
      has p = α/2, as if the parameters were known; ours is wider with few queries, exact for the normal, where it is
      the textbook's mean ± t s sqrt(1 + 1/n), and becomes α/2 as n grows. A density gives 0 and 1 themselves no
      probability: where more than α/2 of the sample is exactly 0 (or 1), the interval of beta or truncated normal
      begins (ends) there. Without that, 95 % intervals of beta held .79 of new queries where 20 % are 0, and .78 of
      P@10 on TREC-8; with it they hold .93 to .99 of both, and of AP. A truncated normal does not fit skewed scores:
      its intervals hold .77 to .82 of beta scores with shapes 0.5 and 2 (``python -m benchmarks.claims``).
    - *empirical*: no more resolution than 1/n is claimed. The interval runs between observations, the r-th from below
      and from above, r the largest with r / (n + 1) <= α/2, and a new query falls inside with probability at least
      ``attained`` = 1 - 2 r / (n + 1) whatever the distribution. Below 2/α - 1 queries (39 for 95 %) no two
      observations reach the confidence: the interval is the range of the sample and ``attained`` says how much it is.
    - A constant sample is a point with the ``attained`` of the empirical interval.

    ``distribution`` "auto" is :func:`choose_distribution` by ``levels`` of the relevance scale and ``n_queries``, those
    of the sample if not given; normal in place of beta where effectiveness leaves [0, 1]. Where the sample lies in
    [0, 1], so does the interval. At least two queries are needed.

    Urbano, J. Evaluation in Audio Music Similarity. PhD thesis, Universidad Carlos III de Madrid, 2013, section 4.2.
    Geisser, S. Predictive Inference: An Introduction, 1993. doi:10.1201/9780203742310

    >>> interval = prediction_interval([0.2, 0.4, 0.6, 0.5], distribution="normal", confidence=0.5)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.279, 0.571)
    """
    from scipy.special import stdtrit

    values = _finite(sample)
    n, tail, attained = values.size, (1 - confidence) / 2, confidence
    if n < 2:
        raise NotEnoughDataError("A prediction interval needs at least 2 queries, got 1")
    name = _choose(values, levels, n_queries) if distribution == "auto" else distribution
    fitted = DISTRIBUTIONS[name].fit(values)
    if isinstance(fitted, Empirical | PointMass):
        r = max(int(np.floor(np.round(tail * (n + 1), 9))), 1)
        (low, high), attained = np.sort(values)[[r - 1, n - r]].tolist(), 1 - 2 * r / (n + 1)
    else:
        low, high = fitted.central(float(-stdtrit(n - 1, tail) * np.sqrt(1 + 1 / n)))
        if fitted.bounded:
            low = 0.0 if np.mean(values == 0) > tail else low
            high = 1.0 if np.mean(values == 1) > tail else high
    if values.min() >= 0 and values.max() <= 1:
        low, high = max(low, 0.0), min(high, 1.0)
    return PredictionInterval(low, high, name, confidence, attained, n)


@checked(levels=SEVERAL)
def choose_distribution(n_queries: int, *, levels: int | None = None, tied: bool = False) -> str:
    """Name the distribution that predicts best for a number of queries and of levels of the relevance scale.

    From Tables 4.4 and 4.5 of the thesis (mean ω̂ over 53 systems, 50 and 20 queries) and its section 4.4:

    ====================  =================  ====================
    levels                under 30 queries   30 queries or more
    ====================  =================  ====================
    2, 3                  empirical          empirical
    4 to 10               normal             empirical
    11 or more (Fine)     beta               beta; empirical from 1,000
    not known             normal             empirical
    not known, ``tied``   empirical          empirical
    ====================  =================  ====================

    The thesis stops at 50 queries, where beta is still ahead on the Fine scale. A family with two parameters has an
    error of shape that no number of queries removes; with 1,000 the empirical distribution is sqrt(1/6n) = 0.013 from
    the truth (root mean square), so that nothing is lost by changing there. Where levels are not known the choice is
    the one that loses least on any scale; ``tied`` says that at most half of the values are distinct.

    >>> choose_distribution(20, levels=3), choose_distribution(20, levels=5), choose_distribution(50, levels=101)
    ('empirical', 'normal', 'beta')
    """
    if levels is not None and levels >= _FINE_LEVELS:
        return "beta" if n_queries < _MANY_QUERIES else "empirical"
    coarse = tied if levels is None else levels <= _FEW_LEVELS
    return "empirical" if coarse or n_queries >= _FEW_QUERIES else "normal"


def _choose(values: Floats, levels: int | None, n_queries: int | None) -> str:
    tied = 2 * np.unique(values).size <= values.size
    name = choose_distribution(values.size if n_queries is None else n_queries, levels=levels, tied=tied)
    if not DISTRIBUTIONS[name].bounded:
        return name
    if np.isin(values, [0.0, 1.0]).mean() > _ATOMS:
        return "empirical"  # a density has no room for a share of exact zeros
    return "normal" if values.min() < 0 or values.max() > 1 else name
