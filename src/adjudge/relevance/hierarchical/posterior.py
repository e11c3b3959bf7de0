"""Posterior of the hierarchical relevance model, exact, in the space of its effects; variances of effects; draws.

Given global effects θ queries are independent, so beliefs are θ ~ N(m, Σ) and, for every query, P_q = Cov(φ_q | θ),
with E[r_i | θ] = constant + g_i'θ for every pair. Then

    Cov(r_i, r_j) = g_i'Σg_j + [same query] f_i'P_q f_j + [i = j] d_i,

d_i the variance of ε_i. A judgment is a rank-one change of one P_q, of the g_i of one query, and of Σ.

Variances of effects are estimated from the judgments so far. Judged relevances are y ~ N(Xμ, K) with
K = X V X' + blockdiag_q(K_q), K_q = Σ_k v_k B_qk, where B_qk says which judged pairs of a query share effects of kind
k. Maximised over log variances is

    -½ (log |K| + (y - Xμ)'K⁻¹(y - Xμ)) - ½ Σ_k ((log v_k - log v0_k) / sd)²,

a marginal likelihood with a log-normal prior around v0. Of queries with more than 64 judged pairs, 64 evenly spaced
ones tell enough of variances.

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
from scipy.linalg.blas import dger
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import ndtr

from adjudge.arrays import Floats, Ints, Mask
from adjudge.relevance.hierarchical.effects import Design

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

    ``mean`` and ``variance`` of judged pairs are the judged relevance and 0. ``theta`` and ``sigma`` are the mean and
    the covariance of global effects.
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

    def local_rows(self, query: int) -> tuple[slice, Floats]:
        """Pairs of a query and their local effects f, dense."""
        rows, local = self.design.candidates.rows(query), self.design.local
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
        rows = _thin(design.candidates.query[judged], judged)
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


def _thin(query: Ints, rows: Ints) -> Ints:
    """At most 64 rows of each query, evenly spaced; ``query`` ascends."""
    _, of_query, count = np.unique(query, return_inverse=True, return_counts=True)
    place = np.arange(len(rows)) - (np.cumsum(count) - count)[of_query]
    kept = np.minimum(count, _MOST_OF_QUERY)[of_query]
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

    ``deviations`` are Gaussian draws less their mean, 0 for judged pairs; half as many as are given out, as the others
    are their reflections. ``noise`` is ε_i / √d_i in each.
    """

    def __init__(self, posterior: Posterior, n_draws: int, rng: np.random.Generator) -> None:
        design, half = posterior.design, n_draws // 2
        n_queries, m, p = *design.local_kind.shape, len(posterior.theta)
        self.posterior = posterior
        root = np.linalg.cholesky(posterior.sigma + _JITTER * np.eye(p))
        deviations = posterior.g @ (root @ rng.standard_normal((p, half)))
        roots = np.linalg.cholesky(posterior.p + _JITTER * np.eye(m))
        deviations += design.local @ (roots @ rng.standard_normal((n_queries, m, half))).reshape(-1, half)
        self.noise = rng.standard_normal(deviations.shape)
        deviations += np.sqrt(posterior.own)[:, None] * self.noise
        deviations[posterior.judged] = 0.0
        self.deviations = np.ascontiguousarray(deviations)

    def learn(self, step: Step) -> None:
        """Follow the posterior by one judgment: r_j += Cov(r_j, r_i) (y - r_i) / Var(r_i), Matheron's rule."""
        subtract_outer(self.deviations, step.covariance, self.deviations[step.pair] / step.variance)
        self.deviations[step.pair] = 0.0

    def relevance(self, rows: slice) -> tuple[Floats, Floats]:
        """Relevance of some pairs, pairs x draws, and its slopes by their expected relevance.

        Judged pairs are what they were judged, with slope 0.
        """
        posterior = self.posterior
        mean, own, judged = posterior.mean[rows, None], posterior.own[rows], posterior.judged[rows]
        shared = self.deviations[rows] - np.sqrt(own)[:, None] * self.noise[rows]
        expected = np.concatenate([mean + shared, mean - shared], axis=1)
        noise = np.concatenate([self.noise[rows], -self.noise[rows]], axis=1)
        raw, slopes = np.empty_like(noise), np.empty_like(noise)
        for variance in np.unique(own):  # a handful: ε with and without an artist and a genre of its own
            same = own == variance
            raw[same], slopes[same] = _around(expected[same], noise[same], float(variance))
        slopes *= (raw > 0) & (raw < 1)
        values = np.clip(raw, 0.0, 1.0)
        values[judged], slopes[judged] = mean[judged], 0.0
        return values, slopes


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


@lru_cache(maxsize=64)
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
