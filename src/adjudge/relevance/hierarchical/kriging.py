"""Sound for estimators that take documents as independent: expectations corrected by judgments of similar documents.

An estimator says E_i ± √V_i of every pair. With y_i = (r_i - E_i) / σ the error of a judged pair, σ² the mean of V,

    y_i = β_0 + β_1 sSIM_i + b_q + s_i + ε_i,    Cov(s_i, s_j) = v_sound K_ij within a query,

K from the similarity of documents (:mod:`~adjudge.relevance.features`), all else independent. Errors that all documents
share (β_0) or those of a query (b_q) are accounted for, but an estimator is corrected only by what sound says of it:

    E_i + σ_i (β_1 sSIM_i + ŝ_i),    V_i (1 - Var(ŝ_i) / T_i),    T_i = v_query + v_sound K_ii + v_residual,

with σ_i the smaller of σ and √V_i, and ŝ the best linear prediction from the judged pairs of the query (simple kriging;
Cressie, Statistics for Spatial Data, 1993, doi:10.1002/9781119115151). Where an estimator claims less than the errors
show, V_i < σ² T_i, it is not made surer than σ² (T_i - Var(ŝ_i)), nor less sure than it was. Variances and β are
learned from all judged pairs as in the hierarchical estimator, with priors under which sound is worth little: where it
tells nothing, little changes. sSIM is standardised, and 0 where it is not defined.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from adjudge.arrays import Floats
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.features import Evidence, sound_effects
from adjudge.relevance.hierarchical.effects import Block, Design, assemble, standardise
from adjudge.relevance.hierarchical.posterior import Posterior, estimate

KINDS = ("query", "residual", "sound")
DEFAULTS = (0.25, 0.7, 0.05)
"""Variances of the effects before any judgment, in units of the variance that an estimator claims."""
_SLOPE_SD, _OFFSET_SD = 0.2, 0.5  # of β_1 and β_0, before any judgment
_NO_VARIANCE = 1e-9


class SoundCorrection:
    """What sound says of the errors of an estimator.

    ``variances`` are those learned last, by KINDS, ``offset`` and ``slope`` β_0 and β_1.
    """

    def __init__(self, candidates: Candidates) -> None:
        evidence = Evidence(candidates)
        self.candidates = candidates
        self.alike = standardise(evidence.column("sSIM"))
        self._design = _design(candidates, evidence, self.alike)
        self._covariance = _blocks(self._design)
        self.variances = np.array(DEFAULTS)
        self.offset, self.slope = 0.0, 0.0

    def learn(self, mean: Floats, variance: Floats, relevance: Floats) -> None:
        """Learn variances and slope from the errors of an estimator, ``relevance`` being NaN where not judged."""
        doubt = variance > _NO_VARIANCE
        self._mean, self._variance = mean, variance
        self._unit = np.where(doubt, np.sqrt(variance[doubt].mean()) if doubt.any() else 0.0, 0.0)
        errors = self._errors(relevance)
        known = ~np.isnan(errors)
        if not known.any():
            return
        self.variances = estimate(self._design, np.flatnonzero(known), errors, np.array(DEFAULTS))
        self.offset, self.slope = Posterior(self._design, self.variances, known, errors).theta.tolist()

    def _errors(self, relevance: Floats, rows: slice = slice(None)) -> Floats:
        """Errors of judged pairs in units of σ; NaN where not judged, or where the estimator claims no variance."""
        unit = self._unit[rows]
        return np.where(unit > 0, (relevance[rows] - self._mean[rows]) / np.where(unit > 0, unit, 1.0), np.nan)

    def corrected(self, relevance: Floats) -> tuple[Floats, Floats]:
        """Expectation and variance of every pair."""
        mean, variance = np.empty(len(relevance)), np.empty(len(relevance))
        for query in range(self.candidates.n_queries):
            rows = self.candidates.rows(query)
            mean[rows], variance[rows] = self.of_query(query, relevance)
        return mean, variance

    def of_query(self, query: int, relevance: Floats) -> tuple[Floats, Floats]:
        """Expectation and variance of the pairs of a query."""
        rows = self.candidates.rows(query)
        slope, unit, claimed = self.slope * self.alike[rows], self._unit[rows], self._variance[rows]
        errors = self._errors(relevance, rows)
        known = np.flatnonzero(~np.isnan(errors))
        most = np.minimum(unit, np.sqrt(claimed))
        if not len(known):
            return np.clip(self._mean[rows] + most * slope, 0.0, 1.0), claimed
        of_query, residual, sound = self.variances
        shared = sound * self._covariance[query]
        inner = of_query + shared[np.ix_(known, known)]
        inner[np.diag_indices(len(known))] += residual
        left = (errors - self.offset - slope)[known]
        solved = cho_solve(cho_factor(inner), np.column_stack([left, shared[known]]))
        mean = np.clip(self._mean[rows] + most * (slope + shared[:, known] @ solved[:, 0]), 0.0, 1.0)
        total = of_query + residual + np.diagonal(shared)
        open_share = 1.0 - np.einsum("ij,ji->i", shared[:, known], solved[:, 1:]) / total
        return mean, np.minimum(claimed, np.maximum(claimed, unit**2 * total) * open_share)


def _design(candidates: Candidates, evidence: Evidence, alike: Floats) -> Design:
    """Effects on errors: a constant and sSIM for all, and in each query its own and those of sound."""
    n, heard = len(candidates), sound_effects(evidence)
    own = np.zeros((n, len(KINDS)))
    own[:, KINDS.index("residual")], own[:, KINDS.index("sound")] = 1.0, heard.own
    blocks = [
        Block("query", np.arange(n), np.zeros(n, dtype=np.int64), np.ones(n)),
        Block("sound", heard.pair, heard.number, heard.value),
    ]
    return Design(
        candidates,
        ("constant", "sSIM"),
        np.column_stack([np.ones(n), alike]),
        np.zeros(2),
        np.array([_OFFSET_SD, _SLOPE_SD]) ** 2,
        np.full(2, -1, dtype=np.int64),
        *assemble(blocks, candidates, KINDS),
        own,
        KINDS,
    )


def _blocks(design: Design) -> list[Floats]:
    """K of each query, pairs x pairs, with the part of its diagonal that loadings leave."""
    m, sound, blocks = design.n_local, KINDS.index("sound"), []
    for query in range(design.candidates.n_queries):
        rows = design.candidates.rows(query)
        loadings = design.local[rows, query * m : (query + 1) * m].toarray()[:, design.local_kind[query] == sound]
        blocks.append(loadings @ loadings.T + np.diag(design.own[rows, sound]))
    return blocks
