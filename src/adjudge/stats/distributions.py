"""The distribution of effectiveness over queries: four that can be fitted to a sample (thesis section 4.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.registry import Registry

_ROUNDING = 1e-12
_SHARPEST = 1e8  # α + β of a beta; its quantiles lose their order far beyond


class Distribution(ABC):
    """A distribution of effectiveness over queries, fitted to a sample of them."""

    name: ClassVar[str]
    bounded: ClassVar[bool] = False
    """Whether it is defined on [0, 1] only."""

    @classmethod
    def fit(cls, sample: npt.ArrayLike) -> Distribution:
        """The distribution of this family for a sample; NaN is left out, one value only is a point mass."""
        values = finite_sample(sample)
        if cls.bounded and (values.min() < 0 or values.max() > 1):
            outside = values[(values < 0) | (values > 1)][0]
            raise AdjudgeError(f"{cls.name}: effectiveness must be in [0, 1], got {outside:g}")
        if np.ptp(values) <= _ROUNDING * max(1.0, float(np.abs(values).max())):
            return PointMass(float(values[0]), cls.name)
        return cls._fit(values)

    @classmethod
    @abstractmethod
    def _fit(cls, values: Floats) -> Distribution:
        """Fit at least two values that are not all the same."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, float]:
        """Parameters by name."""

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
        return np.full(_probabilities(p).shape, self.at)[()]


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
        rank = np.ceil(np.round(_probabilities(p) * n, 9)).astype(np.int64)  # .3 x 10 is 3, not 3.0000000000000004
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

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"mu": self.mu, "sigma": self.sigma}

    def cdf(self, x: npt.ArrayLike) -> Floats:
        from scipy.special import ndtr

        return ndtr((np.asarray(x, dtype=np.float64) - self.mu) / self.sigma)  # type: ignore[no-any-return]

    def quantile(self, p: npt.ArrayLike) -> Floats:
        from scipy.special import ndtri

        return self.mu + self.sigma * ndtri(_probabilities(p))  # type: ignore[no-any-return]

    def central(self, z: float) -> tuple[float, float]:
        return self.mu - z * self.sigma, self.mu + z * self.sigma


@DISTRIBUTIONS.register("truncated-normal")
@dataclass(frozen=True)
class TruncatedNormal(Distribution):
    """Normal with the mean and standard deviation of the sample, cut at 0 and 1 and scaled to what is left.

    F(x) = (Φ((x - μ) / σ) - Φ(-μ / σ)) / (Φ((1 - μ) / σ) - Φ(-μ / σ)) in [0, 1]. As in the thesis, μ and σ are those of
    the sample and not of the normal that would have them when cut: the fit is narrower than the sample.

    >>> TruncatedNormal.fit([0.2, 0.4, 0.6]).cdf([-1, 0.4, 1]).round(3)
    array([0.   , 0.489, 1.   ])
    """

    name: ClassVar[str] = "truncated-normal"
    bounded: ClassVar[bool] = True
    mu: float
    sigma: float

    @classmethod
    def _fit(cls, values: Floats) -> Distribution:
        return cls(float(values.mean()), float(values.std(ddof=1)))

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"mu": self.mu, "sigma": self.sigma, "a": 0.0, "b": 1.0}

    def cdf(self, x: npt.ArrayLike) -> Floats:
        from scipy.special import ndtr

        below, inside = self._masses()
        inner = np.clip(np.asarray(x, dtype=np.float64), 0, 1)
        return np.clip((ndtr((inner - self.mu) / self.sigma) - below) / inside, 0, 1)  # type: ignore[no-any-return]

    def quantile(self, p: npt.ArrayLike) -> Floats:
        from scipy.special import ndtri

        below, inside = self._masses()
        return np.clip(self.mu + self.sigma * ndtri(below + _probabilities(p) * inside), 0, 1)  # type: ignore[no-any-return]

    def _masses(self) -> tuple[float, float]:
        from scipy.special import ndtr

        below = float(ndtr(-self.mu / self.sigma))
        return below, float(ndtr((1 - self.mu) / self.sigma)) - below


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

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"alpha": self.alpha, "beta": self.beta}

    def cdf(self, x: npt.ArrayLike) -> Floats:
        from scipy.special import betainc

        return betainc(self.alpha, self.beta, np.clip(np.asarray(x, dtype=np.float64), 0, 1))  # type: ignore[no-any-return]

    def quantile(self, p: npt.ArrayLike) -> Floats:
        from scipy.special import betaincinv

        return betaincinv(self.alpha, self.beta, _probabilities(p))  # type: ignore[no-any-return]


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
    values = finite_sample(sample)
    return float(np.linalg.norm(Empirical(np.sort(values)).cdf(values) - fitted.cdf(values)))


def finite_sample(sample: npt.ArrayLike) -> Floats:
    """The effectiveness of one system, NaN left out; anything else than finite numbers is refused."""
    values = np.asarray(sample, dtype=np.float64)
    if values.ndim != 1:
        raise AdjudgeError(
            f"A distribution needs the effectiveness of one system, got an array of shape {values.shape}"
        )
    values = values[~np.isnan(values)]
    if values.size == 0:
        raise AdjudgeError("A distribution needs at least one query, got none")
    if np.isinf(values).any():
        raise AdjudgeError("A distribution needs finite effectiveness, got an infinity")
    return values


def _probabilities(p: npt.ArrayLike) -> Floats:
    given = np.asarray(p, dtype=np.float64)
    if not ((given >= 0) & (given <= 1)).all():
        raise AdjudgeError(f"A probability must be in [0, 1], got {given[~((given >= 0) & (given <= 1))][0]:g}")
    return given
