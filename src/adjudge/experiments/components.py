"""Variance components of many query sets at once: systems x queries, in closed form.

The numbers are those of :func:`~adjudge.stats.generalizability.gstudy` and its F intervals; a trial has no need of
everything else that a G-study keeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats
from adjudge.stats.reliability import Errors, coefficient, queries_for

if TYPE_CHECKING:
    from adjudge.experiments.simulation import CollectionModel

_DRAWN, _BLOCK, _SEED = 1 << 17, 1 << 13, 20130728  # queries of a model from which its covariances are taken
_ROUNDING = 1e-12  # of the total, as the G-study has it


@dataclass(frozen=True)
class Components:
    """Mean squares of systems, queries and the residual, of sets of ``n_queries`` queries of ``n_systems`` systems."""

    system: Floats
    query: Floats
    residual: Floats
    n_queries: int
    n_systems: int

    @property
    def variances(self) -> tuple[Floats, Floats, Floats]:
        """σ²_s, σ²_q and σ²_e (thesis eq 6.3); estimates below 0 are 0."""
        of_system = (self.system - self.residual) / self.n_queries
        of_query = (self.query - self.residual) / self.n_systems
        tiny = _ROUNDING * (np.abs(of_system) + np.abs(of_query) + np.abs(self.residual))
        system, query, residual = (np.where(v > tiny, v, 0.0) for v in (of_system, of_query, self.residual))
        return system, query, residual

    def error(self, *, absolute: bool) -> Errors:
        """Error variance of a mean over queries: for comparing systems, or of the scores themselves."""
        _, query, residual = self.variances
        by_query = query + residual if absolute else residual
        return Errors(by_query, np.zeros_like(by_query))

    def index(self, n_queries: int, *, absolute: bool) -> Floats:
        """Eρ², or Φ if ``absolute``, of a collection with so many queries (eq 6.4 and 6.5)."""
        return coefficient(self.variances[0], self.error(absolute=absolute).at(n_queries))

    def needed(self, target: float, *, absolute: bool) -> Floats:
        """Queries for the index to reach a target (eq 6.6 and 6.7); infinite where no number does."""
        return queries_for(target, self.variances[0], self.error(absolute=absolute))

    def interval(self, n_queries: int, *, absolute: bool, confidence: float) -> tuple[Floats, Floats]:
        """Ends of the F interval of the index for so many queries."""
        low, high = (self._end(p, absolute=absolute) for p in ((1 + confidence) / 2, (1 - confidence) / 2))
        return _of_ratio(low, n_queries), _of_ratio(high, n_queries)

    def _end(self, p: float, *, absolute: bool) -> Floats:
        """Feldt's end of σ²_s / σ²_e, or that of Arteaga et al. of σ²_s / (σ²_q + σ²_e)."""
        from scipy.special import chdtri, fdtri

        df_s, df_q = self.n_systems - 1.0, self.n_queries - 1.0
        to_q, to_e = float(fdtri(df_s, df_q, p)), float(fdtri(df_s, df_s * df_q, p))
        to_none = float(chdtri(df_s, 1 - p)) / df_s
        ms_s, ms_q, ms_e = self.system, self.query, self.residual
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(ms_s > 0, (ms_s / (ms_e * to_e) - 1) / self.n_queries, 0.0)
            if not absolute:
                return np.maximum(relative, 0.0)
            top = ms_s**2 - to_none * ms_s * ms_e + (to_none - to_e) * to_e * ms_e**2
            bottom = (self.n_systems - 1) * to_none * ms_s * ms_e + to_q * ms_s * ms_q
            ratio = np.where(relative > 0, self.n_systems / self.n_queries * top / bottom, 0.0)
        return np.maximum(ratio, 0.0)


def components(values: Floats) -> Components:
    """Mean squares of complete effectiveness, (sets x) queries x systems.

    >>> found = components(np.array([[0.2, 0.5], [0.4, 0.7], [0.1, 0.5]]))
    >>> [round(float(v), 4) for v in found.variances]
    [0.055, 0.0167, 0.0017]
    """
    n_queries, n_systems = values.shape[-2:]
    centred = values - values.mean(axis=(-2, -1), keepdims=True)
    by_system, by_query = centred.mean(axis=-2), centred.mean(axis=-1)
    total = (centred**2).sum(axis=(-2, -1))
    system = n_queries * (by_system**2).sum(axis=-1)
    query = n_systems * (by_query**2).sum(axis=-1)
    residual = ((centred - by_system[..., None, :] - by_query[..., None]) ** 2).sum(axis=(-2, -1))
    system, query, residual = (np.where(part > _ROUNDING * total, part, 0.0) for part in (system, query, residual))
    df_s, df_q = n_systems - 1, n_queries - 1
    return Components(system / df_s, query / df_q, residual / (df_s * df_q), n_queries, n_systems)


def true_components(model: CollectionModel, n_queries: int) -> Components:
    """Mean squares that sets of ``n_queries`` queries of a model have on average, so that variances are its true ones.

    Over queries, systems have the means μ, the variances and the covariances of the model, so that σ²_s is the variance
    of μ, σ²_q the mean covariance of two systems, and σ²_e the mean variance less that. Means and variances are exact.
    Covariances are from 131,072 queries drawn always alike, scaled to the exact variances: σ²_q is right to about half
    a per cent, and Eρ² of a reliable collection to the fourth digit.

    >>> from adjudge.experiments.simulation import fit_collection
    >>> model = fit_collection([[0.12, 0.31], [0.53, 0.42], [0.95, 0.83], [0.34, 0.375]])
    >>> [round(float(v), 3) for v in true_components(model, 4).variances]
    [0.0, 0.08, 0.01]
    """
    rng, means, n_systems = np.random.default_rng(_SEED), model.means, len(model.systems)
    of_sum = of_each = 0.0
    for _ in range(_DRAWN // _BLOCK):
        centred = model.draw(rng, _BLOCK) - means
        of_sum += float((centred.sum(axis=1) ** 2).sum())
        of_each += float((centred**2).sum())
    variance = float((model.sds**2).sum())
    covariance = variance * (of_sum / of_each - 1) / (n_systems * (n_systems - 1)) if of_each > 0 else 0.0
    residual = max(variance / n_systems - covariance, 0.0)
    system = n_queries * float(means.var(ddof=1)) + residual
    query = n_systems * covariance + residual
    return Components(np.array(system), np.array(query), np.array(residual), n_queries, n_systems)


def _of_ratio(ratio: Floats, n_queries: int) -> Floats:
    with np.errstate(invalid="ignore"):
        share: Floats = np.where(np.isinf(ratio), 1.0, n_queries * ratio / (1 + n_queries * ratio))
    return share
