"""How reliable a collection of some size would be, from variance components.

With σ²_s the variance between systems, and each other component σ²_T divided by the queries and assessors it is
averaged over,

    relative error  σ²_δ = Σ σ²_T / n_T over effects T that involve systems
    absolute error  σ²_Δ = Σ σ²_T / n_T over all effects T but systems
    Eρ² = σ²_s / (σ²_s + σ²_δ)        Φ = σ²_s / (σ²_s + σ²_Δ)

(thesis eq 6.4, 6.5, 6.9, 6.10). Eρ², the generalizability coefficient, is for the ranking of systems, Φ, the index of
dependability, for their scores. Functions take variances with one column an effect, and as many rows as there are
resamples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.stats.designs import Design

INDICES = {"e_rho2": "Eρ²", "phi": "Φ"}
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Errors:
    """Error variance of a D-study: part that queries shrink (``by_query``), and part that they do not (``fixed``)."""

    by_query: Floats
    fixed: Floats

    def at(self, n_queries: float) -> Floats:
        """Error variance with so many queries."""
        return self.by_query / n_queries + self.fixed


def errors(variances: Floats, design: Design, n_assessors: npt.ArrayLike, *, absolute: bool) -> Errors:
    """Relative or absolute error variance with so many assessors a query; shape of ``variances`` without effects."""
    one, assessors = np.asarray(1.0), np.asarray(n_assessors, dtype=np.float64)
    by_query: Floats = np.zeros(np.broadcast_shapes(variances.shape[:-1], assessors.shape))
    fixed = by_query.copy()
    for i, effect in enumerate(design.effects):
        if effect.facets != "s" and (absolute or effect.relative):
            part = np.maximum(variances[..., i], 0.0) / effect.divisor(one, assessors)
            if "q" in effect.facets:
                by_query = by_query + part
            else:
                fixed = fixed + part
    return Errors(by_query, fixed)


def coefficient(var_system: Floats, error: Floats) -> Floats:
    """σ²_s / (σ²_s + σ²_error); 0 where systems do not vary, whatever the error."""
    system = np.maximum(var_system, 0.0)
    total = system + error
    share: Floats = np.divide(system, total, out=np.zeros(np.shape(total)), where=total > 0)
    return share


def queries_for(target: float, var_system: Floats, error: Errors) -> Floats:
    """Fewest queries with which the coefficient reaches a target; infinite where no number does.

    n >= σ²_by_query / (σ²_s (1 - t) / t - σ²_fixed), thesis eq 6.6 and 6.7: what no query shrinks, such as systems
    that please some assessors more than others, must leave room.
    """
    room = np.maximum(var_system, 0.0) * (1 - target) / target - error.fixed
    needed: Floats = np.divide(error.by_query, room, out=np.full(np.shape(room), np.inf), where=room > 0)
    return np.maximum(np.ceil(needed * (1 - _ROUNDING)), 1.0)


def expected_tau(correlation: npt.ArrayLike) -> Floats:
    """Expected Kendall correlation of two rankings whose scores are normal and correlate so: 2/π arcsin(ρ).

    Scores of a collection correlate with the true ones by sqrt(Eρ²), and with those of another collection of the same
    size by Eρ². It holds for any number of systems, as tau counts pairs.

    >>> [round(float(tau), 3) for tau in expected_tau([0.0, 0.95, 1.0])]
    [0.0, 0.798, 1.0]
    """
    tau: Floats = 2 / np.pi * np.arcsin(np.clip(correlation, -1.0, 1.0))
    return tau


def nested_in_queries(design: Design) -> Design:
    """The design in which every query has assessors of its own, judged by components of a crossed one.

    What assessors differ in everywhere and what they differ in on one query is then drawn anew with each query, so
    that more queries shrink both.
    """
    effects = tuple(
        replace(effect, facets="".join(f for f in "sqa" if f in effect.facets or f == "q"))
        if "a" in effect.facets
        else effect
        for effect in design.effects
    )
    return replace(design, name="systems x (assessors in queries)", effects=effects)
