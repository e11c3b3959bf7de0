"""Copulas: how effectiveness of systems goes together over queries, apart from their margins.

A dependence draws queries x systems numbers that are uniform on [0, 1] system by system; the margins turn them into
effectiveness. It is learnt from the ranks of the queries within each system.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.registry import Registry
from adjudge.stats.matrices import dense_ranks

_TIES_SEED = 20170101  # ties in ranks are broken once, always in the same way
_FREEDOMS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 14.0, 20.0, 30.0, 50.0, 100.0)
_NODES, _REACH = 1201, 6.0  # of the table of beta quantiles, in standard deviations of a normal
_SMALLEST = 1e-6  # eigenvalue of a correlation matrix


class Dependence(ABC):
    """A copula of systems, learnt from queries."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def fit(cls, values: npt.ArrayLike) -> Dependence:
        """Learn from effectiveness, queries x systems, without gaps."""

    @property
    @abstractmethod
    def n_systems(self) -> int:
        """Systems it is of."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """``n`` queries x systems, each system uniform on [0, 1]."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"dependence": self.name, "n_systems": self.n_systems}

    def __str__(self) -> str:
        return self.name


DEPENDENCES: Registry[type[Dependence]] = Registry("dependence")


@DEPENDENCES.register("empirical")
@dataclass(frozen=True, eq=False)
class EmpiricalBeta(Dependence):
    """The ranks of the queries that there are, smoothed: any shape of dependence is kept.

    A query is drawn, and with the rank R of each system on it among n queries, U = B(V; R, n + 1 - R), the quantile of
    a beta distribution at V. The margins are uniform, whatever the dependence of the V. With independent V this is the
    empirical beta copula (Segers et al.), whose noise, though, makes systems less alike than they are: with 50
    queries, a rank correlation of 0.89 falls to 0.85. So V has the dependence of a Gaussian copula fitted to the same
    queries (Kojadinovic & Yi). Ties of a system are broken at random, in favour of queries on which the other systems
    do well as far as they go together with it.

    Segers, J., Sibuya, M., Tsukahara, H. The Empirical Beta Copula. Journal of Multivariate Analysis 155, 2017.
    doi:10.1016/j.jmva.2016.11.010.
    Kojadinovic, I., Yi, B. A Class of Smooth, Possibly Data-Adaptive Nonparametric Copula Estimators Containing the
    Empirical Beta Copula. Journal of Multivariate Analysis 201, 2024.

    >>> model = EmpiricalBeta.fit([[0.1, 0.2], [0.5, 0.4], [0.9, 0.8], [0.3, 0.3]])
    >>> model.draw(np.random.default_rng(1), 1000).shape
    (1000, 2)
    """

    name: ClassVar[str] = "empirical"
    ranks: Ints = field(repr=False)
    noise: Gaussian = field(repr=False)

    @classmethod
    def fit(cls, values: npt.ArrayLike) -> EmpiricalBeta:
        matrix = _checked(values)
        return cls(broken_ranks(matrix), Gaussian.fit(matrix))

    @property
    def n_systems(self) -> int:
        return int(self.ranks.shape[1])

    @cached_property
    def _table(self) -> Floats:
        """Quantiles of the beta distribution of every rank (rows) at Φ of evenly spaced nodes."""
        from scipy.special import betaincinv, ndtr

        n = len(self.ranks)
        rank = np.arange(1, n + 1)[:, np.newaxis]
        return betaincinv(rank, n + 1 - rank, ndtr(np.linspace(-_REACH, _REACH, _NODES)))  # type: ignore[no-any-return]

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        rows = self.ranks[rng.integers(len(self.ranks), size=n)] - 1
        at = (np.clip(self.noise.normals(rng, n), -_REACH, _REACH) + _REACH) * ((_NODES - 1) / (2 * _REACH))
        node = np.minimum(at.astype(np.int64), _NODES - 2)
        below, above = self._table[rows, node], self._table[rows, node + 1]
        drawn: Floats = below + (at - node) * (above - below)
        return drawn


@DEPENDENCES.register("gaussian")
@dataclass(frozen=True, eq=False)
class Gaussian(Dependence):
    """A Gaussian copula: normals with the correlations that the ranks of queries imply.

    Correlations are sin(π τ / 2) of Kendall's τ (τ-b where there are ties), made positive definite by raising negative
    eigenvalues and scaling the diagonal back to 1: of 129 systems on 50 queries at most 49 directions are seen.

    >>> Gaussian.fit([[0.1, 0.2], [0.5, 0.4], [0.9, 0.3]]).correlation.round(3)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    name: ClassVar[str] = "gaussian"
    correlation: Floats = field(repr=False)

    @classmethod
    def fit(cls, values: npt.ArrayLike) -> Gaussian:
        return cls(positive_definite(np.sin(np.pi / 2 * kendall(_checked(values)))))

    @property
    def n_systems(self) -> int:
        return len(self.correlation)

    @cached_property
    def _factor(self) -> Floats:
        return np.linalg.cholesky(self.correlation).astype(np.float64)

    def normals(self, rng: np.random.Generator, n: int) -> Floats:
        """``n`` queries x systems, each system standard normal."""
        return rng.standard_normal((n, self.n_systems)) @ self._factor.T

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        from scipy.special import ndtr

        return ndtr(self.normals(rng, n))  # type: ignore[no-any-return]


@DEPENDENCES.register("t")
@dataclass(frozen=True, eq=False)
class StudentT(Dependence):
    """A t copula: as the Gaussian, but queries on which all systems are extreme are more common.

    Correlations as those of the Gaussian copula; degrees of freedom, from 2 to 100, the most likely given them, by the
    likelihood of all pairs of systems (at most 200 of them, evenly spaced), which does not break down where there are
    more systems than queries.

    Demarta, S., McNeil, A. J. The t Copula and Related Copulas. International Statistical Review 73(1), 2005.
    doi:10.1111/j.1751-5823.2005.tb00254.x

    >>> StudentT.fit([[0.1, 0.2], [0.5, 0.4], [0.9, 0.3], [0.3, 0.8]]).n_systems
    2
    """

    name: ClassVar[str] = "t"
    gaussian: Gaussian = field(repr=False)
    freedom: float

    @classmethod
    def fit(cls, values: npt.ArrayLike) -> StudentT:
        matrix = _checked(values)
        gaussian = Gaussian.fit(matrix)
        uniform = broken_ranks(matrix) / (len(matrix) + 1)
        return cls(gaussian, max(_FREEDOMS, key=lambda nu: _t_likelihood(uniform, gaussian.correlation, nu)))

    @property
    def n_systems(self) -> int:
        return self.gaussian.n_systems

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        from scipy.special import stdtr

        normals = self.gaussian.normals(rng, n)
        scale = np.sqrt(rng.chisquare(self.freedom, size=(n, 1)) / self.freedom)
        return stdtr(self.freedom, normals / scale)  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"freedom": self.freedom}

    def __str__(self) -> str:
        return f"t({self.freedom:g} degrees of freedom)"


@DEPENDENCES.register("independent")
@dataclass(frozen=True)
class Independent(Dependence):
    """Systems that are independent of one another: a baseline that no real systems are like.

    >>> Independent.fit([[0.1, 0.2], [0.5, 0.4]]).draw(np.random.default_rng(1), 3).shape
    (3, 2)
    """

    name: ClassVar[str] = "independent"
    systems: int

    @classmethod
    def fit(cls, values: npt.ArrayLike) -> Independent:
        return cls(_checked(values).shape[1])

    @property
    def n_systems(self) -> int:
        return self.systems

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        return rng.random((n, self.systems))


@dataclass(frozen=True, eq=False)
class SharedDependence(Dependence):
    """A dependence of different systems, of which some stand for several that are the same on every query."""

    name: ClassVar[str] = "shared"
    distinct: Dependence
    places: Ints = field(repr=False)
    """Which of the different systems each system is."""

    @classmethod
    def fit(cls, values: npt.ArrayLike) -> SharedDependence:
        matrix = _checked(values)
        first, places = _distinct(matrix)
        return cls(EmpiricalBeta.fit(matrix[:, first]), places)

    @property
    def n_systems(self) -> int:
        return len(self.places)

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        return self.distinct.draw(rng, n)[:, self.places]

    def to_dict(self) -> dict[str, Any]:
        return self.distinct.to_dict() | {"n_systems": self.n_systems, "distinct": self.distinct.n_systems}

    def __str__(self) -> str:
        return f"{self.distinct} of {self.distinct.n_systems} different systems"


def fit_dependence(name: str, values: npt.ArrayLike) -> Dependence:
    """A dependence by its name; systems that are the same on every query stay so, unless all are independent.

    >>> print(fit_dependence("gaussian", [[0.1, 0.2, 0.1], [0.5, 0.4, 0.5], [0.9, 0.3, 0.9]]))
    gaussian of 2 different systems
    """
    kind = DEPENDENCES[name]
    matrix = _checked(values)
    first, places = _distinct(matrix)
    if len(first) == matrix.shape[1] or kind is Independent:
        return kind.fit(matrix)
    return SharedDependence(kind.fit(matrix[:, first]), places)


def _distinct(matrix: Floats) -> tuple[Ints, Ints]:
    """The first of the systems that are the same on every query, in their order, and which of them each system is."""
    seen: dict[bytes, int] = {}
    places = np.array([seen.setdefault(column.tobytes(), len(seen)) for column in np.ascontiguousarray(matrix.T + 0.0)])
    _, first = np.unique(places, return_index=True)
    return first, places


def kendall(matrix: Floats) -> Floats:
    """Kendall's τ-b of all pairs of systems; 0 with a system that is the same on all queries, 1 with itself.

    >>> kendall(np.array([[0.1, 0.2], [0.5, 0.4], [0.9, 0.3]])).round(3)
    array([[1.   , 0.333],
           [0.333, 1.   ]])
    """
    (n, m), places = matrix.shape, dense_ranks(matrix, axis=0)
    agreed, block = np.zeros((m, m)), max(1, 4_000_000 // (n * m))
    for first in range(0, n, block):
        rows = places[first : first + block, np.newaxis, :] - places
        signs = np.sign(rows).reshape(-1, m).astype(np.float64)
        agreed += signs.T @ signs
    untied = np.sqrt(np.diag(agreed))
    tau: Floats = agreed / np.where(untied > 0, untied, 1.0) / np.where(untied > 0, untied, 1.0)[:, np.newaxis]
    np.fill_diagonal(tau, 1.0)
    return tau


def positive_definite(correlation: Floats) -> Floats:
    """The correlation matrix with small and negative eigenvalues raised, and 1 on its diagonal again.

    >>> positive_definite(np.array([[1.0, 1.0], [1.0, 1.0]])).round(3)
    array([[1., 1.],
           [1., 1.]])
    """
    sizes, directions = np.linalg.eigh((correlation + correlation.T) / 2)
    if sizes[0] < _SMALLEST:
        correlation = (directions * np.maximum(sizes, _SMALLEST * len(sizes))) @ directions.T
    spread = np.sqrt(np.diag(correlation))
    found: Floats = correlation / spread / spread[:, np.newaxis]
    found = (found + found.T) / 2
    np.fill_diagonal(found, 1.0)
    return found


def broken_ranks(matrix: Floats) -> Ints:
    """Ranks from 1 to n of the queries of each system, without ties.

    Tied queries are ordered by ρ z + √(1 - ρ²) ε: z how the other systems do on the query, ρ the correlation of the
    system with them, both of normal scores, and ε normal noise from a fixed seed. Plain chance would take from systems
    of discrete measures some of what they have in common.

    >>> broken_ranks(np.array([[0.1, 0.3], [0.4, 0.2], [0.2, 0.1]]))
    array([[1, 3],
           [3, 2],
           [2, 1]])
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    n, m = matrix.shape
    average = rankdata(dense_ranks(matrix, axis=0), axis=0)
    noise = np.random.default_rng(_TIES_SEED).standard_normal((n, m))
    scores = ndtri(average / (n + 1))
    others = _standard(scores.sum(axis=1, keepdims=True) - scores)
    rho = np.clip((_standard(scores) * others).mean(axis=0), -1, 1)
    keys = rho * others + np.sqrt(1 - rho**2) * noise
    order = np.stack([np.lexsort((keys[:, s], average[:, s])) for s in range(m)], axis=1)
    ranks = np.empty((n, m), dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(1, n + 1)[:, np.newaxis], axis=0)
    return ranks


def _standard(scores: Floats) -> Floats:
    spread = scores.std(axis=0)
    return (scores - scores.mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0)  # type: ignore[no-any-return]


def _t_likelihood(uniform: Floats, correlation: Floats, nu: float) -> float:
    """Log-likelihood of the t copulas of pairs of systems, added up."""
    from scipy.special import gammaln, stdtrit

    t = stdtrit(nu, uniform)
    alone = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi) - (nu + 1) / 2 * np.log1p(t**2 / nu)
    a, b = np.triu_indices(t.shape[1], 1)
    a, b = (side[:: max(1, len(side) // 200)] for side in (a, b))
    rho = np.clip(correlation[a, b], -0.999, 0.999)
    squares = (t[:, a] ** 2 - 2 * rho * t[:, a] * t[:, b] + t[:, b] ** 2) / (1 - rho**2)
    both = -np.log(2 * np.pi) - 0.5 * np.log(1 - rho**2) - (nu + 2) / 2 * np.log1p(squares / nu)
    return float((both - alone[:, a] - alone[:, b]).sum())


def _checked(values: npt.ArrayLike) -> Floats:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 1:
        raise NotEnoughDataError(
            f"a dependence needs at least 2 queries x 1 system, got an array of shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise AdjudgeError("a dependence needs finite effectiveness without gaps")
    return matrix
