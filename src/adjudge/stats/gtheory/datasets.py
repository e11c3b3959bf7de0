"""Queries within data sets: how much of effectiveness is due to systems, data sets, queries, and to both together.

The mixed model of several data sets in which every system has every query, of as many queries as each data set has:

    x_dqs = μ + ν_s + ν_d + ν_q:d + ν_sd + ε_dqs

with independent normal effects. A difference between two systems on *other queries of these data sets* varies by ε
alone; on *other data sets* it varies by ν_sd as well, however many queries there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import NotEnoughDataError
from adjudge.results import Result
from adjudge.stats.gtheory.designs import Design, Effect
from adjudge.stats.gtheory.gstudy import Component
from adjudge.text import counted

QUERIES_IN_DATASETS = Design(
    "systems x (queries in data sets)",
    (
        Effect("system", "s"),
        Effect("data set", "q"),
        Effect("query in data set", "qa", nested=True),
        Effect("system × data set", "sq"),
        Effect("residual", "sqa", nested=True),
    ),
)
"""The nested design of a G-study, with data sets in the place of queries, and queries in that of assessors."""
_STEP = 1e-30  # of the complex step that gives slopes exact to rounding
_LEAST = 1e-10  # of the total: a residual is no smaller, and another variance is 0
_FEW_DATASETS = 10  # that may show no variance from one to the other by chance


@dataclass(frozen=True, eq=False, repr=False)
class DatasetStudy(Result):
    """Variance components of several data sets, as :func:`study_datasets` estimates them."""

    variances: Floats
    n_systems: int
    n_queries: tuple[int, ...]
    mean: float
    log_likelihood: float

    row_type = Component
    rows_name = "components"
    fact_names = ("n_systems", "n_queries", "mean", "log_likelihood")

    @property
    def title(self) -> str:
        """What it is, in a line."""
        size = f"{counted(self.n_systems, 'system')} x {counted(sum(self.n_queries), 'query')}"
        return f"Variance components: {size} in {counted(len(self.n_queries), 'data set')}, REML"

    def _rows(self) -> list[Component]:
        total = float(self.variances.sum())
        names = [effect.name for effect in QUERIES_IN_DATASETS.effects]
        variances = self.variances.tolist()
        return [Component(name, v, v / total if total else 0.0) for name, v in zip(names, variances, strict=True)]

    @cached_property
    def queries_error(self) -> float:
        """Standard error of a difference between two systems, about other queries of these data sets.

        The square root of 2 σ²_ε Σ_d 1/n_d / D²; the mean of a system is that of the means of D data sets.
        """
        return float(np.sqrt(2 * self.variances[4] * sum(1 / n for n in self.n_queries)) / len(self.n_queries))

    @cached_property
    def datasets_error(self) -> float:
        """The same about other data sets: σ²_sd / D comes in addition."""
        return float(np.sqrt(self.queries_error**2 + 2 * self.variances[3] / len(self.n_queries)))

    def margins(self, confidence: float) -> tuple[float, float | None]:
        """To what ± a difference is known, about other queries and about other data sets, by t.

        Degrees of freedom are those of the residual, and D - 1. None where few data sets show no σ²_sd: it may be more.
        """
        from scipy.special import stdtrit

        n_datasets, n_systems = len(self.n_queries), self.n_systems
        at = 0.5 + confidence / 2
        near = stdtrit((n_systems - 1) * (sum(self.n_queries) - n_datasets), at) * self.queries_error
        if n_datasets < _FEW_DATASETS and self.variances[3] <= _LEAST * self.variances.sum():
            return float(near), None
        return float(near), float(stdtrit(n_datasets - 1, at) * self.datasets_error)

    def __repr__(self) -> str:
        return f"<DatasetStudy: {self.title}>"


def study_datasets(values: Floats, datasets: Ints) -> DatasetStudy:
    """Restricted maximum-likelihood estimates of the variances of queries within data sets.

    ``values`` are queries x systems without gaps, ``datasets`` the number of the data set of each query, from 0. As all
    systems have the same queries, contrasts between systems and means over systems are independent, and so are
    deviations within data sets and means of data sets. ℓ is a sum of four parts, each as small as the data sets are
    many, however many systems and queries there are:

    - within data sets, SS_ε ~ σ²_ε χ² and SS_q:d ~ (σ²_ε + S σ²_q:d) χ²;
    - the S - 1 contrasts of the means of data sets, each N(0, σ²_s 11' + diag(σ²_sd + σ²_ε / n_d));
    - their mean over systems, N(μ1, (σ²_s / S) 11' + diag(σ²_d + σ²_sd / S + σ²_q:d / n_d + σ²_ε / (S n_d))).

    It is the likelihood that :func:`~adjudge.stats.gtheory.reml.reml` has for the nested design. Two systems, two data
    sets and a data set of two queries are needed. Constant data have variances 0.

    >>> rng = np.random.default_rng(1)
    >>> values = rng.normal(size=(60, 4)) + np.repeat(rng.normal(size=(6, 4)), 10, axis=0)
    >>> study_datasets(values, np.repeat(np.arange(6), 10)).variances.round(1).tolist()
    [0.0, 0.0, 0.0, 0.6, 0.8]
    """
    from scipy.optimize import minimize

    n = np.bincount(datasets)
    n_systems = values.shape[1]
    if n_systems < 2 or len(n) < 2 or n.max() < 2:
        came = (
            f"{counted(n_systems, 'system')}, {counted(len(n), 'data set')} of up to {counted(int(n.max()), 'query')}"
        )
        raise NotEnoughDataError(f"variance components need 2 systems and 2 data sets, one of 2 queries, got {came}")
    parts = _Parts.of(values, datasets, n)
    scale = parts.total / values.size
    if scale <= _LEAST * max(1.0, float(values.mean()) ** 2):
        return DatasetStudy(np.zeros(5), n_systems, tuple(n.tolist()), float(values.mean()), np.inf)

    def descend(variances: Floats) -> tuple[float, Floats]:
        moved = variances + 1j * _STEP * np.eye(5)
        slopes = np.array([parts.log_likelihood(there * scale)[0].imag / _STEP for there in moved])
        return -parts.log_likelihood(variances * scale)[0].real, -slopes

    starts = [np.full(5, 0.2), *(np.where(np.arange(5) == i, 0.9, 0.025) for i in (0, 3, 4))]
    bounds = [(0.0, None)] * 4 + [(_LEAST, None)]
    how = {"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 20}
    tops = [minimize(descend, x, jac=True, method="L-BFGS-B", bounds=bounds, options=how) for x in starts]
    variances = min(tops, key=lambda top: float(top.fun)).x * scale
    likelihood, mean = parts.log_likelihood(variances)
    return DatasetStudy(variances, n_systems, tuple(n.tolist()), mean.real, likelihood.real)


@dataclass(frozen=True, eq=False)
class _Parts:
    """What the likelihood takes from the data."""

    n: Ints
    n_systems: int
    residual: float  # sum of squares within data sets, less those of queries
    queries: float  # sum of squares of the means of queries within data sets
    contrasts: Floats  # data sets x data sets: products of the deviations of systems in the means of data sets
    means: Floats  # of data sets
    total: float

    @classmethod
    def of(cls, values: Floats, datasets: Ints, n: Ints) -> _Parts:
        tables, residual, queries, total = [], 0.0, 0.0, 0.0
        for dataset in range(len(n)):
            part = values[datasets == dataset]
            table = part.mean(axis=0)
            left = part - table
            total += float((left**2).sum())
            of_query = left.mean(axis=1)
            queries += values.shape[1] * float((of_query**2).sum())
            left -= of_query[:, None]
            residual += float((left**2).sum())
            tables.append(table)
        cells = np.array(tables)
        means = cells.mean(axis=1)
        deviations = cells - means[:, None]
        total += float((n[:, None] * (cells - cells.mean()) ** 2).sum())
        return cls(n, values.shape[1], residual, queries, deviations @ deviations.T, means, total)

    def log_likelihood(self, variances: Floats) -> tuple[complex, complex]:
        """ℓ, and the mean of data sets that generalised least squares gives; also of complex variances."""
        system, dataset, query, both, residual = variances
        n, s = self.n, self.n_systems
        df = float((n - 1).sum())
        of_query = residual + s * query
        height = df * (s - 1) * np.log(residual) + self.residual / residual + df * np.log(of_query)
        height += self.queries / of_query
        own = both + residual / n
        height += (s - 1) * _log_determinant(own, system) + _quadratic(own, system, self.contrasts)
        own, shared = dataset + both / s + query / n + residual / (s * n), system / s
        weight = (1 / own).sum() / (1 + shared * (1 / own).sum())  # 1'V⁻¹1
        mean = (self.means / own).sum() / (1 / own).sum()
        left = self.means - mean
        height += _log_determinant(own, shared) + np.log(weight) + _quadratic(own, shared, np.outer(left, left))
        height += (s * n.sum() - 1) * np.log(2 * np.pi) + s * np.log(n).sum() + len(n) * np.log(s)
        return complex(-0.5 * height), complex(mean)


def _log_determinant(own: Floats, shared: complex) -> complex:
    """Log |diag(own) + shared 11'|."""
    return complex(np.log(own).sum() + np.log(1 + shared * (1 / own).sum()))


def _quadratic(own: Floats, shared: complex, products: Floats) -> complex:
    """Tr (diag(own) + shared 11')⁻¹ products."""
    inverse = 1 / own
    return complex(
        (inverse * np.diag(products)).sum() - shared * (inverse @ products @ inverse) / (1 + shared * inverse.sum())
    )
