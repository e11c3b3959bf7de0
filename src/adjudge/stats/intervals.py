"""Confidence intervals over queries: Student's t for means, Wilson's for shares, the bootstrap for means of any shape.

The bootstrap draws queries with replacement; all systems, and all pairs of systems, share the draws. The *percentile*
interval is cut from the resampled means as they are. *BCa* (bias-corrected and accelerated) moves the cuts by the
median bias of the resampled means and by the skewness of the values, and is the better of the two for few or skewed
values.

Reference: Efron (1987). Better bootstrap confidence intervals. JASA 82(397). doi:10.1080/01621459.1987.10478410
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.checks import CONFIDENCE, RESAMPLES, SEED, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.seeds import Seed, as_seed
from adjudge.stats import resampling

Method = Literal["bca", "percentile"]

_ROUNDING = 1e-13  # of the largest value: means closer than that are equal
_MOST_CELLS = 2**27  # resampled means in memory, 8 bytes each
_CELLS = 2**20  # resampled differences sorted at a time


@checked(confidence=CONFIDENCE)
def t_interval(values: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats, Ints]:
    """Mean, half-width of its interval and number of queries, along the first axis; NaN cells are left out.

    mean ± t(1 - α/2, n - 1) s / sqrt(n), thesis section 4.2. With one query the half-width is NaN: nothing is known
    of the spread.

    >>> mean, half, n = t_interval(np.array([0.2, 0.4, 0.6]))
    >>> round(float(mean), 3), round(float(half), 3), int(n)
    (0.4, 0.497, 3)
    """
    from scipy.special import stdtrit

    n = np.isfinite(values).sum(axis=0)
    mean = np.divide(np.nansum(values, axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    squares = np.nansum((values - mean) ** 2, axis=0)
    several = n > 1
    variance = np.divide(squares, n - 1, out=np.full(n.shape, np.nan), where=several)
    quantile = np.where(several, stdtrit(np.maximum(n - 1, 1), 0.5 + confidence / 2), np.nan)
    return mean, quantile * np.sqrt(variance / np.maximum(n, 1)), n


@checked(confidence=CONFIDENCE)
def wilson_interval(
    hits: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Share, lower and upper end of Wilson's score interval; NaN where n is 0.

    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n), with z the normal quantile of 1 - α/2. It stays inside [0, 1]
    and has a width even when all or none are hits.

    Wilson 1927, doi:10.1080/01621459.1927.10502953.

    >>> [round(float(x), 4) for x in wilson_interval(0, 10)]
    [0.0, 0.0, 0.2775]
    """
    from scipy.special import ndtri

    total = np.where(np.asarray(n) > 0, n, np.nan).astype(np.float64)
    share = np.asarray(hits, dtype=np.float64) / total
    z2 = float(ndtri(0.5 + confidence / 2)) ** 2
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = np.sqrt(z2) * np.sqrt(share * (1 - share) / total + z2 / (4 * total**2)) / (1 + z2 / total)
    return share, np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


@checked(confidence=CONFIDENCE, method=Method, resamples=RESAMPLES, seed=SEED)
def bootstrap_interval(
    values: npt.ArrayLike, *, confidence: float = 0.95, method: Method = "bca", resamples: int = 10_000, seed: Seed = 0
) -> tuple[Floats, Floats]:
    """Lower and upper end of the interval for the mean of each column, or of a single one.

    ``values`` is (queries,) or queries x columns; NaN cells are left out. Ends have the shape of one row. With m* the
    resampled means, G their distribution and m the observed mean, the percentile interval is G^-1(α/2), G^-1(1 - α/2);
    BCa replaces each level α by Φ(z0 + (z0 + z_α) / (1 - a (z0 + z_α))), where z0 = Φ^-1(G(m)), ties with m counting
    half, and a = sum (x - m)^3 / (6 (sum (x - m)^2)^1.5). A column that is always c has the interval (c, c).

    >>> low, high = bootstrap_interval([0.2, 0.4, 0.6, 0.3, 0.9, 0.1])
    >>> round(float(low), 1), round(float(high), 1)
    (0.2, 0.7)
    """
    seed = as_seed(seed)
    matrix = _columns(values)
    _check_memory(resamples, 1)
    flat = matrix.reshape(len(matrix), -1)
    low, high = np.empty((2, flat.shape[1]))
    present, which = np.unique(np.isfinite(flat), axis=1, return_inverse=True)
    width = max(1, _MOST_CELLS // 16 // resamples)
    for g in range(present.shape[1]):
        members = np.flatnonzero(which.reshape(-1) == g)
        for lo in range(0, len(members), width):
            chosen = members[lo : lo + width]
            data = flat[np.ix_(present[:, g], chosen)]
            means = _resampled_means(data, resamples, seed)
            low[chosen], high[chosen] = _ends(means, data, confidence, method, np.abs(data).max(axis=0))
    shape = matrix.shape[1:]
    return low.reshape(shape), high.reshape(shape)


@checked(confidence=CONFIDENCE, method=Method, resamples=RESAMPLES, seed=SEED)
def bootstrap_differences(
    values: npt.ArrayLike, *, confidence: float = 0.95, method: Method = "bca", resamples: int = 10_000, seed: Seed = 0
) -> tuple[Floats, Floats]:
    """Lower and upper end of the interval for the mean difference of each pair of columns, systems x systems.

    ``low[a, b]`` and ``high[a, b]`` are for the mean of a minus that of b over the queries that both have, as in
    :func:`bootstrap_interval`. Systems that always differ by c have the interval (c, c).

    >>> low, high = bootstrap_differences([[0.5, 0.3], [0.6, 0.4], [0.9, 0.6], [0.4, 0.3]])
    >>> low.round(2)
    array([[ 0.  ,  0.13],
           [-0.27,  0.  ]])
    """
    seed = as_seed(seed)
    matrix = _columns(values)
    if matrix.ndim != 2:
        raise AdjudgeError(f"expected a matrix of queries x systems, got shape {matrix.shape}")
    _check_memory(resamples, matrix.shape[1])
    low, high = np.zeros((2, matrix.shape[1], matrix.shape[1]))
    width = max(1, _CELLS // resamples)
    for block in resampling.blocks(matrix):
        data, systems = matrix[np.ix_(block.queries, block.systems)], block.systems
        if len(data) < 2:
            a, b = systems[0], systems[-1]
            raise NotEnoughDataError(
                f"a bootstrap needs at least 2 queries, systems {a + 1} and {b + 1} share {len(data)}"
            )
        means, scale = _resampled_means(data, resamples, seed), np.abs(data).max(axis=0)
        for a in range(len(block.left)):
            for lo in range(block.others(a).start, len(systems), width):
                b = slice(lo, lo + width)
                largest = np.maximum(scale[a], scale[b])
                ends = _ends(means[a] - means[b], data[:, [a]] - data[:, b], confidence, method, largest)
                i, j = systems[a], systems[b]
                low[i, j], high[i, j] = ends
                low[j, i], high[j, i] = -ends[1], -ends[0]
    return low, high


def _columns(values: npt.ArrayLike) -> Floats:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim == 0 or matrix.size == 0:
        raise AdjudgeError(f"expected values of queries, got shape {matrix.shape}")
    if np.isinf(matrix).any():
        raise AdjudgeError("expected finite numbers, got an infinite one")
    fewest = int(np.isfinite(matrix).sum(axis=0).min())
    if fewest < 2:
        raise NotEnoughDataError(f"a bootstrap needs at least 2 queries, got {fewest}")
    return matrix


def _check_memory(resamples: int, n_systems: int) -> None:
    if resamples * n_systems > _MOST_CELLS:
        most = _MOST_CELLS // n_systems
        raise AdjudgeError(f"{resamples:,} resamples of {n_systems} systems need over 1 GiB, ask for at most {most:,}")


def _resampled_means(data: Floats, resamples: int, seed: int) -> Floats:
    """Columns x resamples."""
    n, start = len(data), 0
    means = np.empty((data.shape[1], resamples))
    for counts in resampling.draws(resampling.random_counts, n, resamples, seed):
        stop = start + counts.shape[1]
        means[:, start:stop] = resampling.weighted_sums(data, counts)
        start = stop
    means /= n
    return means


def _ends(means: Floats, data: Floats, confidence: float, method: Method, scale: Floats) -> tuple[Floats, Floats]:
    """Both ends for every row of ``means``, the resampled means of a column of ``data``."""
    observed = data.mean(axis=0)
    deviation = data - observed
    slack = _ROUNDING * scale
    constant = np.abs(deviation).max(axis=0) <= slack
    means.sort(axis=1)
    levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2])[:, None]
    if method == "bca":
        levels = _bca_levels(levels, means, observed, slack, np.where(constant, 1.0, deviation))
    low, high = (_cut(means, np.broadcast_to(level, observed.shape)) for level in levels)
    return np.where(constant, observed, low), np.where(constant, observed, high)


def _bca_levels(levels: Floats, means: Floats, observed: Floats, slack: Floats, deviation: Floats) -> Floats:
    """Levels at which to cut, 2 x columns."""
    from scipy.special import ndtr, ndtri

    n_resamples = means.shape[1]
    below = (means < (observed - slack)[:, None]).sum(axis=1)
    up_to = (means <= (observed + slack)[:, None]).sum(axis=1)
    bias = ndtri(np.clip((below + up_to) / (2 * n_resamples), 0.5 / n_resamples, 1 - 0.5 / n_resamples))
    acceleration = (deviation**3).sum(axis=0) / (6 * (deviation**2).sum(axis=0) ** 1.5)
    z = bias + ndtri(levels)
    moved: Floats = ndtr(bias + z / np.maximum(1 - acceleration * z, 1e-12))
    return moved


def _cut(ascending: Floats, level: Floats) -> Floats:
    """Quantiles of each row at a level of its own, interpolated linearly as NumPy does."""
    place = level * (ascending.shape[1] - 1)
    under = np.floor(place).astype(np.int64)
    over = np.minimum(under + 1, ascending.shape[1] - 1)
    row = np.arange(len(ascending))
    cut: Floats = ascending[row, under] + (place - under) * (ascending[row, over] - ascending[row, under])
    return cut
