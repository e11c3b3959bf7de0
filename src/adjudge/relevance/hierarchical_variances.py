"""Variances of the effects of relevance, estimated from the judgments so far.

Judged relevances are y ~ N(Xμ, K) with K = X V X' + blockdiag_q(K_q), K_q = Σ_k v_k B_qk, where B_qk says which judged
pairs of a query share effects of kind k. Maximised over log variances is

    -½ (log |K| + (y - Xμ)'K⁻¹(y - Xμ)) - ½ Σ_k ((log v_k - log v0_k) / sd)²,

a marginal likelihood with a log-normal prior around v0. Of queries with more than 64 judged pairs, 64 evenly spaced
ones tell enough of variances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from adjudge.arrays import Floats, Ints
from adjudge.relevance.hierarchical_effects import Design
from adjudge.relevance.hierarchical_posterior import scaled_inverse

_MOST_STEPS = 60
_MOST_OF_QUERY = 64
_FURTHEST = 8.0  # logarithms of variances from v0, in standard deviations of the prior


@dataclass(frozen=True, eq=False)
class JudgedBlocks:
    """Judged pairs by query, padded to the query with most of them: stacks over queries that have any."""

    x: Floats  # queries x judged x global effects; 0 where padded
    left: Floats  # queries x judged: y - X prior mean
    shares: Floats  # kinds x queries x judged x judged: B_k
    padded: Floats  # queries x judged: 1 where there is no pair
    prior_variance: Floats
    kind: Ints

    @classmethod
    def of(cls, design: Design, judged: Ints, relevance: Floats) -> JudgedBlocks:
        """Gather judged pairs (ascending) of a design."""
        rows = _thinned(design.candidates.query[judged], judged)
        used, query, count = np.unique(design.candidates.query[rows], return_inverse=True, return_counts=True)
        place = np.arange(len(rows)) - (np.cumsum(count) - count)[query]
        shape, m = (len(count), int(count.max())), design.n_local
        x = np.zeros((*shape, design.x.shape[1]))
        x[query, place] = design.x[rows]
        left, padded = np.zeros(shape), np.ones(shape)
        left[query, place] = relevance[rows] - design.x[rows] @ design.prior_mean
        padded[query, place] = 0.0
        chosen = design.local[rows]
        entry = np.repeat(np.arange(len(rows)), np.diff(chosen.indptr))
        f = np.zeros((*shape, m))
        f[query[entry], place[entry], chosen.indices % m] = chosen.data
        shares = np.zeros((len(design.kinds), *shape, shape[1]))
        for k in np.flatnonzero(design.active):
            part = f * (design.local_kind[used] == k)[:, None, :]
            shares[k] = part @ np.swapaxes(part, 1, 2)
            shares[k][query, place, place] += design.own[rows, k]
        return cls(x, left, shares, padded, design.prior_variance, design.kind)

    def objective(self, variances: Floats) -> tuple[float, Floats]:
        """Minus log-likelihood (without constants), and its slope by each variance.

        With T_q = K_q⁻¹X_q and M = V⁻¹ + Σ_q X_q'T_q, K⁻¹ has diagonal blocks K_q⁻¹ - T_q M⁻¹ T_q', and the slope by a
        variance of matrix B is ½ (tr K⁻¹B - α'Bα), α = K⁻¹(y - Xμ).
        """
        block = np.tensordot(variances, self.shares, 1)
        place, p = np.arange(block.shape[1]), self.x.shape[2]
        block[:, place, place] += self.padded
        inverse = np.linalg.inv(block)
        t = inverse @ self.x
        information = self.x.reshape(-1, p).T @ t.reshape(-1, p)
        prior = np.where(self.kind >= 0, variances[self.kind], self.prior_variance)
        covariance = scaled_inverse(information, prior)  # of θ, M⁻¹
        alpha = (inverse @ self.left[..., None])[..., 0]
        alpha -= t @ (covariance @ np.einsum("qji,qj->i", self.x, alpha))
        inner = np.eye(p) + np.sqrt(prior)[:, None] * information * np.sqrt(prior)
        value = 0.5 * (_log_determinant(block) + _log_determinant(inner) + float((self.left * alpha).sum()))
        rest = inverse - (t @ covariance) @ np.swapaxes(t, 1, 2) - alpha[:, :, None] * alpha[:, None, :]
        slope = 0.5 * np.tensordot(self.shares, rest, 3)
        towards = np.einsum("qji,qj->i", self.x, alpha)
        kept = np.diagonal(information) - np.einsum("ij,ji->i", information @ covariance, information)
        known = self.kind >= 0
        slope += 0.5 * np.bincount(self.kind[known], (kept - towards**2)[known], minlength=len(slope))
        return value, slope


def estimate(design: Design, judged: Ints, relevance: Floats, centre: Floats, sd: float = 1.0) -> Floats:
    """Variances at the maximum, by the kinds of the design.

    ``centre`` is v0, ``judged`` the rows of judged pairs. Variances of effects that there are not, and those that
    ``centre`` has at 0, stay as they are.
    """
    blocks = JudgedBlocks.of(design, judged, relevance)
    free = design.active & (centre > 0)
    start = np.log(centre[free])

    def variances(logs: Floats) -> Floats:
        chosen = centre.copy()
        chosen[free] = np.exp(logs)
        return chosen

    def objective(logs: Floats) -> tuple[float, Floats]:
        value, slope = blocks.objective(variances(logs))
        away = (logs - start) / sd
        return value + 0.5 * float(away @ away), slope[free] * np.exp(logs) + away / sd

    bounds = np.column_stack([start - _FURTHEST * sd, start + _FURTHEST * sd])
    options = {"maxiter": _MOST_STEPS, "ftol": 1e-9}
    return variances(minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x)


def _thinned(query: Ints, rows: Ints) -> Ints:
    """At most 64 rows of each query, evenly spaced; ``query`` ascends."""
    _, of_query, count = np.unique(query, return_inverse=True, return_counts=True)
    place = np.arange(len(rows)) - (np.cumsum(count) - count)[of_query]
    kept = np.minimum(count, _MOST_OF_QUERY)[of_query]
    total = count[of_query]
    return rows[(place + 1) * kept // total > place * kept // total]


def _log_determinant(matrix: Floats) -> float:
    """Sum of log |K| over a stack."""
    return float(np.sum(np.linalg.slogdet(matrix)[1]))
