"""Posterior of the hierarchical relevance model, exact, in the space of its effects.

Given global effects θ queries are independent, so beliefs are θ ~ N(m, Σ) and, for every query, P_q = Cov(φ_q | θ),
with E[r_i | θ] = constant + g_i'θ for every pair. Then

    Cov(r_i, r_j) = g_i'Σg_j + [same query] f_i'P_q f_j + [i = j] d_i,

d_i the variance of ε_i. A judgment is a rank-one change of one P_q, of the g_i of one query, and of Σ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dger
from scipy.sparse import csr_array

from adjudge.arrays import Floats, Ints, Mask
from adjudge.relevance.hierarchical_effects import Design

_AT_ONCE = 20_000  # pairs


@dataclass(frozen=True, eq=False)
class Step:
    """What a judgment of one pair did: every mean moves by ``covariance`` · surprise / variance."""

    pair: int
    covariance: Floats  # of each pair with the one that was judged, before; 0 for those judged earlier
    variance: float
    surprise: float


class Posterior:
    """Gaussian beliefs about the relevance of all pairs, given exact judgments of some, with fixed variances.

    ``mean`` and ``variance`` of judged pairs are what was judged and 0. ``theta`` and ``sigma`` are the mean and the
    covariance of global effects.
    """

    def __init__(self, design: Design, variances: Floats, judged: Mask, relevance: Floats) -> None:
        """Learn all judgments at once."""
        self.design = design
        self.judged = judged.copy()
        self.own = design.own_variance(variances)
        self._columns = design.local.indices % design.n_local
        self._learn(variances, np.flatnonzero(judged), relevance)

    def _learn(self, variances: Floats, rows: Ints, relevance: Floats) -> None:
        """Condition on judged rows.

        With V the prior variances of θ, h_i the row of ``design.x`` and B_q = Σ f_i h_i'/d_i over judged pairs,
        Σ⁻¹ = V⁻¹ + Σ h_i h_i'/d_i - Σ_q B_q'P_q B_q and E[φ_q | θ] = P_q Σ f_i (r_i - h_i'θ)/d_i.
        """
        design, n_queries = self.design, self.design.candidates.n_queries
        m, p = design.n_local, design.x.shape[1]
        f, x, d = design.local[rows], design.x[rows], self.own[rows]
        weighted = csr_array((f.data / np.repeat(d, np.diff(f.indptr)), f.indices, f.indptr), shape=f.shape)
        left = relevance[rows] - x @ design.prior_mean
        used = np.unique(design.candidates.query[rows])
        self.p = self._local_covariance(design.local_variance(variances), (f.T @ weighted).tocoo(), used)
        b = (weighted.T @ np.column_stack([x, left])).reshape(n_queries, m, p + 1)[used]
        pb = self.p[used] @ b
        gram = np.column_stack([x, left]).T @ (x / d[:, None])
        gram -= b.reshape(-1, p + 1).T @ pb.reshape(-1, p + 1)[:, :p]
        self.sigma = scaled_inverse(gram[:p], design.global_variance(variances))
        change = self.sigma @ gram[p]
        self.theta = design.prior_mean + change
        given = np.zeros((n_queries, m, p + 1))  # E[φ_q | θ] = given[q] @ (-(θ - prior mean), 1)
        given[used] = pb
        self.g = design.local @ given[..., :p].reshape(n_queries * m, p)
        np.subtract(design.x, self.g, out=self.g)
        self.mean = design.x @ design.prior_mean + design.local @ given[..., p].ravel() + self.g @ change
        self.mean[rows] = relevance[rows]
        self.variance = self._variances()
        self.variance[rows] = 0.0

    def _local_covariance(self, prior: Floats, gram: csr_array, used: Ints) -> Floats:
        """P_q = (D⁻¹ + Σ f_i f_i'/d_i)⁻¹ of every query, with D the prior variances of its effects."""
        n_queries, m = prior.shape
        p = np.zeros((n_queries, m, m))
        p[:, np.arange(m), np.arange(m)] = prior
        information = np.zeros((n_queries, m, m))
        information[gram.row // m, gram.row % m, gram.col % m] = gram.data
        p[used] = scaled_inverse(information[used], prior[used])
        return p

    def _variances(self) -> Floats:
        """g_i'Σg_i + f_i'P_q f_i + d_i of every pair, some at a time."""
        local, stacked = self.design.local, self.p.reshape(-1, self.design.n_local)
        variance = self.own.copy()
        for first in range(0, len(variance), _AT_ONCE):
            part = slice(first, min(first + _AT_ONCE, len(variance)))
            g, f = self.g[part], local[part.start : part.stop]
            row = np.repeat(np.arange(f.shape[0]), np.diff(f.indptr))
            products = f.data * (f @ stacked)[row, f.indices % stacked.shape[1]]
            variance[part] += np.einsum("ij,ij->i", g @ self.sigma, g) + np.bincount(row, products)
        return variance

    def rows(self, query: int) -> slice:
        """Where the pairs of a query stand."""
        offsets = self.design.candidates.offsets
        return slice(int(offsets[query]), int(offsets[query + 1]))

    def local_rows(self, query: int) -> tuple[slice, Floats]:
        """Pairs of a query and their local effects f, dense."""
        rows, local = self.rows(query), self.design.local
        f = np.zeros((rows.stop - rows.start, self.design.n_local))
        entries = slice(local.indptr[rows.start], local.indptr[rows.stop])
        row = np.repeat(np.arange(len(f)), np.diff(local.indptr[rows.start : rows.stop + 1]))
        f[row, self._columns[entries]] = local.data[entries]
        return rows, f

    def update(self, pair: int, relevance: float) -> Step:
        """Learn one judgment more."""
        query = int(self.design.candidates.query[pair])
        rows, f = self.local_rows(query)
        g = self.g[pair].copy()
        towards = self.p[query] @ f[pair - rows.start]
        shared = f @ towards  # covariance with the other pairs of the query, given θ
        shared[pair - rows.start] += self.own[pair]
        given = float(shared[pair - rows.start])
        common = self.sigma @ g
        covariance = self.g @ common
        covariance[rows] += shared
        covariance[self.judged] = 0.0
        variance = float(covariance[pair])
        step = Step(pair, covariance, variance, relevance - float(self.mean[pair]))
        self.p[query] -= np.outer(towards, towards / given)
        shared[pair - rows.start] -= self.own[pair]
        self.g[rows] -= np.outer(shared / given, g)
        self.sigma -= np.outer(common, common / variance)
        self.theta += common * (step.surprise / variance)
        self.mean += covariance * (step.surprise / variance)
        self.variance -= covariance**2 / variance
        self.judged[pair], self.mean[pair], self.variance[pair] = True, relevance, 0.0
        return step

    def covariance_with(self, weights: csr_array | Floats) -> Floats:
        """Cov(r_i, Σ_j weights_js r_j), pairs x sums; rows of judged pairs are 0, and so must be their weights."""
        m, n_sums = self.design.n_local, weights.shape[1]
        towards = self.p @ _dense(self.design.local.T @ weights).reshape(-1, m, n_sums)
        covariance = self.design.local @ towards.reshape(-1, n_sums)
        covariance += self.g @ (self.sigma @ _dense(weights.T @ self.g).T)
        covariance += _dense(_scaled(weights, self.own))
        covariance[self.judged] = 0.0
        return np.ascontiguousarray(covariance)

    def query_covariance_with(self, query: int, weights: Floats, *, given_global: bool = False) -> Floats:
        """The same for pairs of one query, both ways; ``given_global`` leaves out what global effects add."""
        rows, f = self.local_rows(query)
        weights = np.where(self.judged[rows, None], 0.0, weights)
        covariance = f @ (self.p[query] @ (f.T @ weights)) + self.own[rows, None] * weights
        if not given_global:
            covariance += self.g[rows] @ (self.sigma @ (self.g[rows].T @ weights))
        covariance[self.judged[rows]] = 0.0
        return np.asarray(covariance, dtype=np.float64)


def scaled_inverse(information: Floats, prior: Floats) -> Floats:
    """(D⁻¹ + N)⁻¹ = D^½ (I + D^½ N D^½)⁻¹ D^½, symmetric; prior variances D may be 0. Works on stacks."""
    root = np.sqrt(prior)
    inner = root[..., :, None] * information * root[..., None, :] + np.eye(prior.shape[-1])
    inverse = root[..., :, None] * np.linalg.inv(inner) * root[..., None, :]
    return np.asarray((inverse + np.swapaxes(inverse, -1, -2)) / 2, dtype=np.float64)


def subtract_outer(matrix: Floats, column: Floats, row: Floats) -> None:
    """Matrix -= column row', in place; the matrix must be C-contiguous."""
    dger(-1.0, row, column, a=matrix.T, overwrite_a=1)


def _dense(matrix: csr_array | Floats) -> Floats:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def _scaled(matrix: csr_array | Floats, factor: Floats) -> csr_array | Floats:
    if isinstance(matrix, np.ndarray):
        return matrix * factor[:, None]
    return csr_array(
        (matrix.data * np.repeat(factor, np.diff(matrix.indptr)), matrix.indices, matrix.indptr), matrix.shape
    )
