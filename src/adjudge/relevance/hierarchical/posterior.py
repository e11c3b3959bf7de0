"""Posterior of the hierarchical relevance model, exact, in the space of its effects; variances of effects; draws.

Given global effects θ queries are independent, so beliefs are θ ~ N(m, Σ) and, for every query, P_q = Cov(φ_q | θ),
with E[r_i | θ] = constant + g_i'θ for every pair. Then

    Cov(r_i, r_j) = g_i'Σg_j + [same query] f_i'P_q f_j + [i = j] d_i,

d_i the variance of ε_i. A judgment is a rank-one change of one P_q, of the g_i of one query, and of Σ. Where it is not
exact (:mod:`~adjudge.relevance.hierarchical.assessors`) the leniency of assessors is part of θ, and the pair keeps a
share ρ = 1 - κ of f_i and of d_i, κ = d_i / (d_i + σ_a²): r_i is κ (y - λ_a) + (1 - κ) (what it was) + what is left of
ε_i. Exact judgments leave ρ = 0, no judgment ρ = 1.

Variances of effects are estimated from the judgments so far. Judged relevances are y ~ N(Xμ, K) with
K = X V X' + blockdiag_q(K_q), K_q = Σ_k v_k B_qk, where B_qk says which judged pairs of a query share effects of kind
k. Maximised over log variances is

    -½ (log |K| + (y - Xμ)'K⁻¹(y - Xμ)) - ½ Σ_k ((log v_k - log v0_k) / sd)²,

a marginal likelihood with a log-normal prior around v0. Of queries with more than 64 judged pairs, 64 evenly spaced
ones tell enough of variances; of large collections fewer do, so that this takes less than a second.

Draws of relevance stay on the scale, from 0 to 1. Gaussian beliefs leave it, and cutting them off there moves their
mean. So a draw has two stages. What pairs share is drawn as the model believes and clipped: μ_i, the relevance expected
of pair i in this draw. Around that, what is the pair's own is drawn as clip(m + s z, 0, 1), z standard normal, with m
and s such that the mean is μ_i and the variance 4μ_i(1 - μ_i) d: d, the variance of ε_i, in the middle of the scale and
less towards its ends, as for a beta distribution of constant precision. d counts as .225 at most: at .25 all draws
would be 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from scipy.interpolate import RectBivariateSpline
from scipy.linalg.blas import dgemm, dger
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import ndtr

from adjudge.arrays import Floats, Ints, Mask
from adjudge.relevance.candidates import Answers
from adjudge.relevance.hierarchical.assessors import FACTOR_SD, CombinedAnswers, Panel
from adjudge.relevance.hierarchical.effects import Design

_AT_ONCE = 20_000  # pairs


@dataclass(frozen=True, eq=False)
class Step:
    """What a judgment of one pair did: every mean moves by ``covariance`` · surprise / variance."""

    pair: int
    covariance: Floats  # of each pair with the answer, before; 0 for those that are known
    variance: float  # of the answer
    surprise: float
    kept: float = 0.0  # share of ε that is left to the pair
    assessor: int = -1
    noise: float = 0.0
    lenient: Floats | None = None  # covariance of each assessor's leniency with the answer, before


class Posterior:
    """Gaussian beliefs about the relevance of all pairs, given judgments of some, with fixed variances.

    Judgments are exact unless there is a ``panel`` of assessors. ``left`` is the share ρ of what is special to a pair
    that is not known: 0 where it was judged exactly, whose ``mean`` and ``variance`` are the judged relevance and 0.
    ``own`` is the variance of that part of ε, ``whole`` what it was.
    ``theta`` and ``sigma`` are the mean and the covariance of global effects, leniency being the last of them.
    """

    def __init__(
        self, design: Design, variances: Floats, judged: Mask, relevance: Floats, panel: Panel | None = None
    ) -> None:
        """Learn all judgments at once."""
        self.design, self.panel = design, panel
        self.whole = design.own_variance(variances)
        self._columns = design.local.indices % design.n_local
        rows = np.flatnonzero(judged)
        told = CombinedAnswers.exact(rows, relevance[rows]) if panel is None else CombinedAnswers.of_panel(panel)
        self.relevant: Mask = np.zeros(len(judged), dtype=np.bool_)  # by the judgment of somebody
        self.relevant[told.pair] = told.relevance > 0
        self._learn(variances, told)

    @property
    def known(self) -> Mask:
        """Pairs about which nothing is left to learn."""
        known: Mask = self.left == 0
        return known

    def _learn(self, variances: Floats, told: CombinedAnswers) -> None:
        """Condition on what was told, with noise s_i.

        With V the prior variances of θ, h_i the row of ``design.x`` and the loading of leniency, D_i = d_i + s_i and
        B_q = Σ f_i h_i'/D_i over judged pairs, Σ⁻¹ = V⁻¹ + N + Σ h_i h_i'/D_i - Σ_q B_q'P_q B_q, N what contrasts tell,
        and E[φ_q | θ] = P_q Σ f_i (r_i - h_i'θ)/D_i.
        """
        design, n_queries, rows = self.design, self.design.candidates.n_queries, told.pair
        m, n_features, n_assessors = design.n_local, design.x.shape[1], told.loading.shape[1]
        p, leniency = n_features + n_assessors, 0.0 if self.panel is None else self.panel.leniency
        f, x, d = design.local[rows], np.hstack([design.x[rows], told.loading]), self.whole[rows] + told.noise
        weighted = csr_array((f.data / np.repeat(d, np.diff(f.indptr)), f.indices, f.indptr), shape=f.shape)
        left = told.relevance - design.x[rows] @ design.prior_mean
        used = np.unique(design.candidates.query[rows])
        self.p = self._local_covariance(design.local_variance(variances), (f.T @ weighted).tocoo(), used)
        b = (weighted.T @ np.column_stack([x, left])).reshape(n_queries, m, p + 1)[used]
        pb = self.p[used] @ b
        gram = np.column_stack([x, left]).T @ (x / d[:, None])
        gram -= b.reshape(-1, p + 1).T @ pb.reshape(-1, p + 1)[:, :p]
        gram[n_features:p, n_features:] += told.information
        gram[p, n_features:] += told.towards
        self.sigma = scaled_inverse(
            gram[:p], np.append(design.global_variance(variances), np.full(n_assessors, leniency))
        )
        change = self.sigma @ gram[p]
        self.theta = np.append(design.prior_mean, np.zeros(n_assessors)) + change
        given = np.zeros((n_queries, m, p + 1))  # E[φ_q | θ] = given[q] @ (-(θ - prior mean), 1)
        given[used] = pb
        self.g = design.local @ given[..., :p].reshape(n_queries * m, p)
        np.negative(self.g, out=self.g)
        self.g[:, :n_features] += design.x
        self.mean = design.x @ design.prior_mean + design.local @ given[..., p].ravel()
        self.left = np.ones(len(self.mean))
        self.left[rows] = told.noise / d
        self.g[rows] *= self.left[rows, None]
        self.g[rows, n_features:] -= (1 - self.left[rows, None]) * told.loading
        self.mean[rows] = self.left[rows] * self.mean[rows] + (1 - self.left[rows]) * told.relevance
        self.mean += self.g @ change
        self.own = self.left * self.whole
        self.variance = self._variances()

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
        """g_i'Σg_i + ρ_i² f_i'P_q f_i + ρ_i d_i of every pair, some at a time."""
        local, stacked = self.design.local, self.p.reshape(-1, self.design.n_local)
        variance = self.own.copy()
        for first in range(0, len(variance), _AT_ONCE):
            part = slice(first, min(first + _AT_ONCE, len(variance)))
            g, f = self.g[part], local[part.start : part.stop]
            row = np.repeat(np.arange(f.shape[0]), np.diff(f.indptr))
            products = f.data * (f @ stacked)[row, f.indices % stacked.shape[1]]
            variance[part] += np.einsum("ij,ij->i", g @ self.sigma, g)
            variance[part] += self.left[part] ** 2 * np.bincount(row, products, minlength=f.shape[0])
        return variance

    def local_rows(self, query: int) -> tuple[slice, Floats]:
        """Pairs of a query and what is left of their local effects, ρ f, dense."""
        rows, local = self.design.candidates.rows(query), self.design.local
        f = np.zeros((rows.stop - rows.start, self.design.n_local))
        entries = slice(local.indptr[rows.start], local.indptr[rows.stop])
        row = np.repeat(np.arange(len(f)), np.diff(local.indptr[rows.start : rows.stop + 1]))
        f[row, self._columns[entries]] = local.data[entries]
        f *= self.left[rows, None]
        return rows, f

    def update(self, pair: int, relevance: float, assessor: int = -1) -> Step:
        """Learn one judgment more, of an assessor of the panel where there is one."""
        query = int(self.design.candidates.query[pair])
        rows, f = self.local_rows(query)
        place = pair - rows.start
        g, surprise, noise, lenient = self.g[pair].copy(), relevance - float(self.mean[pair]), 0.0, None
        if self.panel is not None:
            column, noise = assessor - len(self.panel), float(self.panel.noise[assessor])
            g[column] += 1.0
            surprise -= float(self.theta[column])
        towards = self.p[query] @ f[place]
        shared = f @ towards  # covariance with the answer of each pair of the query, given θ
        shared[place] += self.own[pair]
        given = float(shared[place]) + noise
        common = self.sigma @ g
        covariance = self.g @ common
        covariance[rows] += shared
        variance = float(g @ common) + given
        if self.panel is not None:
            lenient = common[-len(self.panel) :].copy()
        kept = noise / (float(self.own[pair]) + noise)
        step = Step(pair, covariance, variance, surprise, kept, assessor, noise, lenient)
        self.p[query] -= np.outer(towards, towards / given)
        self.g[rows] -= np.outer(shared / given, g)
        self.sigma -= np.outer(common, common / variance)
        self.theta += common * (step.surprise / variance)
        self.mean += covariance * (step.surprise / variance)
        self.variance -= covariance**2 / variance
        self.left[pair] *= kept
        self.own[pair] *= kept
        self.relevant[pair] |= relevance > 0
        if noise == 0:
            self.g[pair], self.mean[pair], self.variance[pair] = 0.0, relevance, 0.0
        return step

    def covariance_with(self, weights: csr_array | Floats) -> Floats:
        """Cov(r_i, Σ_j weights_js r_j), pairs x sums; rows of known pairs are 0."""
        m, n_sums = self.design.n_local, weights.shape[1]
        towards = self.p @ _dense(self.design.local.T @ _scaled(weights, self.left)).reshape(-1, m, n_sums)
        covariance = self.design.local @ towards.reshape(-1, n_sums)
        covariance *= self.left[:, None]
        covariance += self.g @ (self.sigma @ _dense(weights.T @ self.g).T)
        covariance += _dense(_scaled(weights, self.own))
        return np.ascontiguousarray(covariance)

    def query_covariance_with(self, query: int, weights: Floats, *, given_global: bool = False) -> Floats:
        """The same for pairs of one query, both ways; ``given_global`` leaves out what global effects add."""
        rows, f = self.local_rows(query)
        covariance = f @ (self.p[query] @ (f.T @ weights)) + self.own[rows, None] * weights
        if not given_global:
            covariance += self.g[rows] @ (self.sigma @ (self.g[rows].T @ weights))
        return np.asarray(covariance, dtype=np.float64)


def scaled_inverse(information: Floats, prior: Floats) -> Floats:
    """(D⁻¹ + N)⁻¹ = D^½ (I + D^½ N D^½)⁻¹ D^½, symmetric; prior variances D may be 0. Works on stacks."""
    root = np.sqrt(prior)
    scale = root[..., :, None] * root[..., None, :]
    inner = scale * information
    place = np.arange(prior.shape[-1])
    inner[..., place, place] += 1.0
    scale *= np.linalg.inv(inner)
    return np.asarray((scale + np.swapaxes(scale, -1, -2)) / 2, dtype=np.float64)


def subtract_outer(matrix: Floats, column: Floats, row: Floats) -> None:
    """Matrix -= column row', in place; the matrix must be C-contiguous."""
    dger(-1.0, row, column, a=matrix.T, overwrite_a=1)


def add_product(matrix: Floats, left: Floats, right: Floats) -> None:
    """Matrix += left right, in place; the matrix must be C-contiguous."""
    dgemm(1.0, right.T, left.T, beta=1.0, c=matrix.T, overwrite_c=1)


def _dense(matrix: csr_array | Floats) -> Floats:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def _scaled(matrix: csr_array | Floats, factor: Floats) -> csr_array | Floats:
    if isinstance(matrix, np.ndarray):
        return matrix * factor[:, None]
    return csr_array(
        (matrix.data * np.repeat(factor, np.diff(matrix.indptr)), matrix.indices, matrix.indptr), matrix.shape
    )


_MOST_STEPS = 60
_MOST_OF_QUERY = 64
_LEAST_OF_QUERY = 8
_MOST_NUMBERS = 400_000  # judgments x global effects
_FURTHEST = 8.0  # logarithms of variances from v0, in standard deviations of the prior
_LEAST_RESIDUAL = 1e-12  # of the largest variance: below that, covariances of judgments are singular but for rounding


@dataclass(frozen=True, eq=False)
class JudgedBlocks:
    """Judgments by query, padded to the query with most of them: stacks over queries that have any.

    Where there is a panel, its leniency and the noise of each assessor are variances after those by kind.
    """

    x: Floats  # queries x judged x global effects; 0 where padded
    left: Floats  # queries x judged: y - X prior mean
    shares: Floats  # kinds x queries x judged x judged: B_k
    padded: Floats  # queries x judged: 1 where there is no pair
    prior_variance: Floats
    kind: Ints
    by: Floats  # queries x judged x assessors: 1 for whom each judgment is by; no assessors without a panel

    @classmethod
    def of(cls, design: Design, judged: Ints, relevance: Floats, answers: Answers | None = None) -> JudgedBlocks:
        """Gather judged pairs (ascending) of a design, or the answers about them."""
        query = design.candidates.query[judged]
        n_effects = design.x.shape[1] + (0 if answers is None else len(answers.assessors))
        each = _MOST_NUMBERS // (n_effects * len(np.unique(query)))
        most = min(max(each, _LEAST_OF_QUERY), _MOST_OF_QUERY)
        if answers is None:
            rows = _thin(query, judged, most)
            told = relevance[rows]
        else:
            per_pair = -(-len(answers.pair) // len(judged))
            kept = np.isin(answers.pair, _thin(query, judged, max(most // per_pair, 1)))
            rows, told = answers.pair[kept], answers.relevance[kept]
        used, query, count = np.unique(design.candidates.query[rows], return_inverse=True, return_counts=True)
        place = np.arange(len(rows)) - (np.cumsum(count) - count)[query]
        shape, m = (len(count), int(count.max())), design.n_local
        x = np.zeros((*shape, design.x.shape[1]))
        x[query, place] = design.x[rows]
        left, padded = np.zeros(shape), np.ones(shape)
        left[query, place] = told - design.x[rows] @ design.prior_mean
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
        if answers is None:
            return cls(x, left, shares, padded, design.prior_variance, design.kind, np.zeros((*shape, 0)))
        number = np.full(shape, -1)
        number[query, place] = rows
        q, a, b = np.nonzero((number[:, :, None] == number[:, None, :]) & (number[:, :, None] >= 0))
        other = a != b  # two answers to one pair
        shares[:, q[other], a[other], b[other]] += design.own[number[q[other], a[other]]].T
        by = np.zeros((*shape, len(answers.assessors)))
        by[query, place, answers.assessor[kept]] = 1.0
        kinds = np.append(design.kind, np.full(len(answers.assessors), len(design.kinds)))
        x = np.concatenate([x, by], axis=2)
        prior = np.append(design.prior_variance, np.full(len(answers.assessors), np.nan))
        return cls(x, left, shares, padded, prior, kinds, by)

    def covariance(self, variances: Floats) -> Floats:
        """K_q of every query."""
        n_kinds, place = len(self.shares), np.arange(self.shares.shape[2])
        block: Floats = np.tensordot(variances[:n_kinds], self.shares, 1)
        block[:, place, place] += self.padded
        block[:, place, place] += self.by @ variances[n_kinds + 1 :]
        return block

    def objective(self, variances: Floats) -> tuple[float, Floats]:
        """Minus log-likelihood (without constants), and its slope by each variance.

        With T_q = K_q⁻¹X_q and M = V⁻¹ + Σ_q X_q'T_q, K⁻¹ has diagonal blocks K_q⁻¹ - T_q M⁻¹ T_q', and the slope by a
        variance of matrix B is ½ (tr K⁻¹B - α'Bα), α = K⁻¹(y - Xμ).
        """
        block, p = self.covariance(variances), self.x.shape[2]
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
        noise = 0.5 * np.tensordot(np.diagonal(rest, axis1=1, axis2=2), self.by, 2)
        slope = np.concatenate([slope, np.zeros(len(variances) - len(slope) - len(noise)), noise])
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
    moves = _moves(design.active & (centre > 0))
    return centre * np.exp(moves @ _highest(JudgedBlocks.of(design, judged, relevance), design, centre, moves, sd))


def estimate_panel(
    design: Design, judged: Ints, answers: Answers, centre: Floats, sd: float = 1.0
) -> tuple[Floats, Floats]:
    """The same where assessors have noise and leniency: variances by kind and by PANEL, and noise by assessor.

    ``centre`` has v0 by kind and by PANEL. The noise of an assessor is the common one times a factor, whose logarithm
    has standard deviation ``FACTOR_SD`` around 0 before anything is learned.
    """
    n_assessors = len(answers.assessors)
    common, moves, sds = _panel_moves(design, centre, n_assessors, sd)
    start = np.append(centre[:-1], np.full(n_assessors, centre[-1]))
    u = _highest(JudgedBlocks.of(design, judged, np.empty(0), answers), design, start, moves, sds)
    return centre * np.exp(common @ u[:-n_assessors]), (start * np.exp(moves @ u))[-n_assessors:]


def noise_spread(
    design: Design, judged: Ints, answers: Answers, found: tuple[Floats, Floats], sd: float = 1.0
) -> Floats:
    """Standard deviations of the logarithms of the noise of assessors around what was ``found``.

    From the prior and Fisher's information about variances, ½ tr(K⁻¹B_k K⁻¹B_l), as if global effects were known.
    """
    variances, noise = found
    blocks, n_kinds = JudgedBlocks.of(design, judged, np.empty(0), answers), len(design.kinds)
    whole, by = np.append(variances[:-1], noise), blocks.by
    inverse = np.linalg.inv(blocks.covariance(whole))
    pulled = inverse @ blocks.shares  # kinds x queries x judged x judged
    diagonal = np.diagonal(pulled @ inverse, axis1=2, axis2=3)
    information = np.zeros((len(whole), len(whole)))
    information[:n_kinds, :n_kinds] = np.einsum("kqij,lqji->kl", pulled, pulled, optimize=True)
    information[:n_kinds, n_kinds + 1 :] = np.tensordot(diagonal, by, 2)
    information[n_kinds + 1 :, :n_kinds] = information[:n_kinds, n_kinds + 1 :].T
    information[n_kinds + 1 :, n_kinds + 1 :] = np.tensordot(by, inverse**2 @ by, ((0, 1), (0, 1)))
    _, moves, sds = _panel_moves(design, variances, len(noise), sd)
    moved = moves * whole[:, None]
    covariance = np.linalg.inv(0.5 * moved.T @ information @ moved + np.diag(1 / sds**2))
    spread: Floats = np.sqrt(np.einsum("ai,ij,aj->a", moves, covariance, moves)[-len(noise) :])
    return spread


def _panel_moves(design: Design, centre: Floats, n_assessors: int, sd: float) -> tuple[Floats, Floats, Floats]:
    """What moves variances by kind and by PANEL, what moves those by kind, leniency and assessor; prior deviations."""
    common = _moves(np.append(design.active, [True, True]) & (centre > 0))
    shared = np.vstack([common, np.repeat(common[-1:], n_assessors - 1, axis=0)])
    factors = np.vstack([np.zeros((len(centre) - 1, n_assessors)), np.eye(n_assessors)])
    sds = np.append(np.full(common.shape[1], sd), np.full(n_assessors, FACTOR_SD))
    return common, np.hstack([shared, factors]), sds


def _moves(free: Mask) -> Floats:
    """A column for each variance that is free, 1 in its own row."""
    return np.eye(len(free))[:, free]


def _highest(blocks: JudgedBlocks, design: Design, centre: Floats, moves: Floats, sd: float | Floats) -> Floats:
    """The u ~ N(0, sd²) at the maximum, with variances exp(log centre + moves u)."""

    def objective(u: Floats) -> tuple[float, Floats]:
        variances, away = centre * np.exp(moves @ u), u / sd
        value, slope = blocks.objective(variances)
        return value + 0.5 * float(away @ away), moves.T @ (slope * variances) + away / sd

    residual = float(centre[design.kinds.index("residual")] / centre.max())
    furthest = np.minimum(_FURTHEST * np.broadcast_to(sd, moves.shape[1]), np.log(residual / _LEAST_RESIDUAL) / 2)
    options, bounds = {"maxiter": _MOST_STEPS, "ftol": 1e-9}, np.column_stack([-furthest, furthest])
    start = np.zeros(len(furthest))
    found: Floats = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return found


def _thin(query: Ints, rows: Ints, most: int) -> Ints:
    """Up to ``most`` rows of each query, evenly spaced; ``query`` ascends."""
    _, of_query, count = np.unique(query, return_inverse=True, return_counts=True)
    place = np.arange(len(rows)) - (np.cumsum(count) - count)[of_query]
    kept = np.minimum(count, most)[of_query]
    total = count[of_query]
    return rows[(place + 1) * kept // total > place * kept // total]


def _log_determinant(matrix: Floats) -> float:
    """Sum of log |K| over a stack."""
    return float(np.sum(np.linalg.slogdet(matrix)[1]))


_JITTER = 1e-12
_LEAST, _MOST = 0.005, 0.95  # of μ, and of √(4d)
_N_MEANS, _N_ROOTS, _N_GRID = 50, 96, 397
_STEPS = 12


class Draws:
    """Antithetic draws of the relevance of all pairs: Gaussian, following judgments, brought onto the scale when asked.

    ``deviations`` are Gaussian draws less their mean, 0 for known pairs; half as many as are given out, as the others
    are their reflections. ``noise`` is what is left of ε_i in each, divided by its standard deviation, ``leniency``
    that of assessors, less its mean.
    """

    def __init__(self, posterior: Posterior, n_draws: int, rng: np.random.Generator) -> None:
        design, half = posterior.design, n_draws // 2
        n_queries, m, p = *design.local_kind.shape, len(posterior.theta)
        self.posterior = posterior
        shared = _root(posterior.sigma) @ rng.standard_normal((p, half))
        deviations = posterior.g @ shared
        local = design.local @ (_root(posterior.p) @ rng.standard_normal((n_queries, m, half))).reshape(-1, half)
        deviations += posterior.left[:, None] * local
        self.noise = rng.standard_normal(deviations.shape)
        deviations += np.sqrt(posterior.own)[:, None] * self.noise
        self.deviations, self.leniency = np.ascontiguousarray(deviations), shared[design.x.shape[1] :]
        self._rng = rng

    def learn(self, step: Step) -> None:
        """Follow the posterior by one judgment: r_j += Cov(r_j, y_i) (y - y_i) / Var(y_i), Matheron's rule."""
        answer = self.deviations[step.pair]
        if step.lenient is None:
            subtract_outer(self.deviations, step.covariance, answer / step.variance)
            self.deviations[step.pair] = 0.0
            return
        error = np.sqrt(step.noise) * self._rng.standard_normal(len(answer))
        answer = answer + self.leniency[step.assessor] + error
        subtract_outer(self.deviations, step.covariance, answer / step.variance)
        self.leniency -= np.outer(step.lenient, answer / step.variance)
        left = np.sqrt(self.posterior.own[step.pair])
        self.noise[step.pair] = np.sqrt(step.kept) * self.noise[step.pair] - (1 - step.kept) * error / left

    def relevance(self, rows: slice, rounding: float = 0.0) -> tuple[Floats, Floats]:
        """Relevance of some pairs, pairs x draws, and its slopes by their expected relevance.

        Known pairs are what they were judged, with slope 0. What judgments left of ε_i counts in eighths of powers of
        two, so that there are a handful of variances. ``rounding`` is variance that draws will get afterwards, so that
        they have as much less of what is the pair's own.
        """
        posterior = self.posterior
        mean, own, known = posterior.mean[rows, None], posterior.own[rows], posterior.known[rows]
        shared = self.deviations[rows] - np.sqrt(own)[:, None] * self.noise[rows]
        expected = np.concatenate([mean + shared, mean - shared], axis=1)
        noise = np.concatenate([self.noise[rows], -self.noise[rows]], axis=1)
        raw, slopes = np.zeros_like(noise), np.zeros_like(noise)
        rounded = np.exp2(np.rint(8 * np.log2(np.where(known, 1.0, posterior.left[rows]))) / 8)
        spread = np.where(known, 0.0, posterior.whole[rows] * rounded)
        for variance in np.unique(spread[~known]):  # a handful: ε with and without an artist and a genre of its own
            same = spread == variance
            left = max(float(variance) - rounding, 0.0)
            raw[same], slopes[same] = _around(expected[same], noise[same], left)
        slopes *= (raw > 0) & (raw < 1)
        values = np.clip(raw, 0.0, 1.0)
        values[known] = mean[known]
        return values, slopes


def _root(covariance: Floats) -> Floats:
    """L with LL' = covariance but for rounding; works on stacks."""
    try:
        return np.asarray(np.linalg.cholesky(covariance + _JITTER * np.eye(covariance.shape[-1])))
    except np.linalg.LinAlgError:  # where variances differ by many orders, rounding exceeds what is added
        values, vectors = np.linalg.eigh(covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])


def _around(expected: Floats, noise: Floats, variance: float) -> tuple[Floats, Floats]:
    """Draws with given expectations before they are clipped, and their slopes by those; linear around a grid."""
    shape = _tabulate(variance)
    clipped = np.clip(expected, _LEAST, 1 - _LEAST)
    place = (clipped - _LEAST) * ((_N_GRID - 1) / (1 - 2 * _LEAST))
    nearest = np.rint(place).astype(np.int64)
    off = (place - nearest) * ((1 - 2 * _LEAST) / (_N_GRID - 1))
    slopes = shape.location_slope[nearest] + shape.scale_slope[nearest] * noise
    raw = shape.location[nearest] + shape.scale[nearest] * noise + slopes * off
    return raw, slopes * (clipped == expected)


@dataclass(frozen=True, eq=False)
class ClippedNormal:
    """Location m and scale s of draws before they are clipped, and the slopes of both by μ."""

    location: Floats
    scale: Floats
    location_slope: Floats
    scale_slope: Floats


def clipped_normal(mean: Floats, variance: Floats) -> ClippedNormal:
    """M and s for each mean from .005 to .995 and variance d.

    >>> found = clipped_normal(np.array([0.5, 0.1]), np.array([0.01, 0.1]))
    >>> found.location.round(2), found.scale.round(2)
    (array([ 0.5 , -0.16]), array([0.1 , 0.42]))
    """
    location, stretch = _tables()
    low = np.minimum(mean, 1 - mean)
    sign = np.where(mean <= 0.5, 1.0, -1.0)
    root = np.clip(2 * np.sqrt(variance), 0.0, _MOST)
    spread = np.sqrt(mean * (1 - mean))
    factor = stretch.ev(low, root)
    slope = sign * stretch.ev(low, root, dx=1) * spread + factor * (0.5 - mean) / spread
    return ClippedNormal(
        mean + sign * location.ev(low, root), root * spread * factor, 1 + location.ev(low, root, dx=1), root * slope
    )


def moments(location: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of clip(location + scale z, 0, 1), z standard normal."""
    mean, square = _raw_moments(location, scale)[:2]
    return mean, square - mean**2


def _raw_moments(m: Floats, s: Floats) -> tuple[Floats, ...]:
    """E r and E r² of r = clip(m + s z, 0, 1), the slopes of E r by m and s, and those of E r²."""
    a, b = -m / s, (1 - m) / s
    at_a, at_b = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi), np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi)
    within, above = ndtr(b) - ndtr(a), ndtr(-b)
    inner = m * within + s * (at_a - at_b)  # E r where r is not clipped
    tilt = m * (at_a - at_b) + s * (within + a * at_a - b * at_b)  # E r z there
    return inner + above, m * inner + s * tilt + above, within, at_a - at_b, 2 * inner, 2 * tilt


@lru_cache(maxsize=256)
def _tabulate(variance: float) -> ClippedNormal:
    """M and s over a grid of means, for one variance."""
    return clipped_normal(np.linspace(_LEAST, 1 - _LEAST, _N_GRID), np.full(_N_GRID, variance))


@cache
def _tables() -> tuple[RectBivariateSpline, RectBivariateSpline]:
    """M - μ and s / (√(4d) √(μ(1 - μ))) over μ up to ½ (the rest is its mirror image) and √(4d).

    Newton's method, for each √(4d) from the solution of the one before.
    """
    mu, roots = np.geomspace(_LEAST, 0.5, _N_MEANS), np.linspace(0.0, _MOST, _N_ROOTS)
    spread = np.sqrt(mu * (1 - mu))
    shift, factor = np.zeros((_N_MEANS, _N_ROOTS)), np.ones((_N_MEANS, _N_ROOTS))
    m, log_s = mu.copy(), np.log(roots[1] * spread)
    for j, root in enumerate(roots[1:], start=1):
        log_s = log_s + np.log(root / roots[max(j - 1, 1)])
        for _ in range(_STEPS):
            s = np.exp(log_s)
            mean, square, mean_m, mean_s, square_m, square_s = _raw_moments(m, s)
            off, spare = mean - mu, square - mean**2 - (root * spread) ** 2
            variance_m, variance_s = square_m - 2 * mean * mean_m, square_s - 2 * mean * mean_s
            determinant = mean_m * variance_s - mean_s * variance_m
            m = m - np.clip((off * variance_s - spare * mean_s) / determinant, -s, s)
            log_s = log_s - np.clip((spare * mean_m - off * variance_m) / determinant / s, -0.5, 0.5)
        shift[:, j], factor[:, j] = m - mu, np.exp(log_s) / (root * spread)
    return RectBivariateSpline(mu, roots, shift), RectBivariateSpline(mu, roots, factor)
