"""Resamples that all pairs of systems share, and the counting of those as extreme as what was observed.

A resample is a column of weights, one per query: signs for a permutation, counts for a bootstrap. With values ``X``
(queries x systems) and weights ``W`` (queries x resamples), ``U = X' W`` holds a sum for every system, and the
resampled difference of systems *a* and *b* is ``U[a] - U[b]``: one matrix product serves all pairs. Weights are made,
used and forgotten a chunk at a time, so that memory does not grow with the number of resamples.

Signs given to ranks instead of values make the signed-rank distribution, which is small enough to be had whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Ints, Mask

_CELLS = 2**20  # of weights in memory at a time, 8 bytes each and a few copies
_CHUNK = 8192  # most resamples drawn at a time
_BLOCK = 1024  # resamples counted at a time: stays in cache; at most 8 x 255, see _count_rows
_ONE_THREAD = 10**6  # products this small stay in one BLAS thread; more threads cost more than they bring
_EXACT_SIGNS = 14  # queries up to which all sign flips are tried, however few resamples are asked for
_EXACT_RANKS, _EXACT_TIED_RANKS = 49, 13  # differences up to which the distribution of signed ranks is exact
_ROUNDING = 1e-13  # of the sum of magnitudes: sums closer than that are equal

Draw = Callable[[np.random.Generator, int, int], Floats]  # (generator, queries, resamples) -> queries x resamples


@dataclass(frozen=True)
class Resampling:
    """How a test draws: the weights, whether systems are shifted to mean 0 first, whether few signs are all tried."""

    draw: Draw
    centred: bool = False
    exhaustive: bool = False

    def enumerates(self, n_queries: int, resamples: int) -> bool:
        """Whether every one of the 2^n signs is tried: up to 14 queries, or no more of them than resamples."""
        return self.exhaustive and 2**n_queries <= max(resamples, 2**_EXACT_SIGNS)


@dataclass(frozen=True)
class Block:
    """Pairs of systems that share the same queries: each of ``left`` with each of ``right``, or all when it is None."""

    queries: Ints
    left: Ints
    right: Ints | None

    @property
    def systems(self) -> Ints:
        """Systems on both sides."""
        return self.left if self.right is None else np.concatenate([self.left, self.right])

    def others(self, row: int) -> slice:
        """Places in :attr:`systems` of those to compare with the one at ``row``."""
        return slice(row + 1 if self.right is None else len(self.left), None)


def blocks(values: Floats) -> Iterator[Block]:
    """Split all pairs of columns by the queries that both systems of the pair have.

    Systems that lack the same queries go together: one block when nothing is missing.

    >>> nan = float("nan")
    >>> for block in blocks(np.array([[1.0, 2.0, nan], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]])):
    ...     print(block.queries, block.left, block.right)
    [0 1 2] [0 1] None
    [1 2] [0 1] [2]
    """
    present = np.isfinite(values)
    patterns, which = np.unique(present, axis=1, return_inverse=True)
    members = [np.flatnonzero(which.reshape(-1) == g) for g in range(patterns.shape[1])]
    order = sorted(range(len(members)), key=lambda g: int(members[g][0]))
    for i, g in enumerate(order):
        if len(members[g]) > 1:
            yield Block(np.flatnonzero(patterns[:, g]), members[g], None)
        for h in order[i + 1 :]:
            yield Block(np.flatnonzero(patterns[:, g] & patterns[:, h]), members[g], members[h])


def chunk_size(n_queries: int) -> int:
    """How many resamples to draw at a time: a matter of the queries alone, so that the draws are too.

    >>> chunk_size(50), chunk_size(10_000)
    (8192, 64)
    """
    return int(min(_CHUNK, max(8, 2 ** int(np.log2(max(_CELLS / max(n_queries, 1), 1))))))


def generators(n_queries: int, resamples: int, seed: int) -> Iterator[tuple[np.random.Generator, int]]:
    """A generator for each chunk, with the resamples to draw from it; chunk *i* depends on the seed and *i* only."""
    size = chunk_size(n_queries)
    for i, start in enumerate(range(0, resamples, size)):
        sequence = np.random.SeedSequence(seed, spawn_key=(i,))
        yield np.random.default_rng(sequence), min(size, resamples - start)


def draws(draw: Draw, n_queries: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Weights of all resamples, chunk by chunk: queries x some."""
    return (draw(rng, n_queries, size) for rng, size in generators(n_queries, resamples, seed))


def random_signs(rng: np.random.Generator, n_queries: int, size: int) -> Floats:
    """-1 or 1 for each query and resample."""
    bits = np.unpackbits(rng.integers(0, 256, size=(n_queries, -(-size // 8)), dtype=np.uint8), axis=1, count=size)
    return bits.astype(np.float64) * 2.0 - 1.0


def random_counts(rng: np.random.Generator, n_queries: int, size: int) -> Floats:
    """How often each query is drawn when n of n are drawn with replacement."""
    drawn = rng.integers(0, n_queries, size=(n_queries, size)) * size + np.arange(size)
    return np.bincount(drawn.reshape(-1), minlength=n_queries * size).reshape(n_queries, size).astype(np.float64)


SHIFTED = Resampling(random_counts, centred=True)
"""Queries drawn with replacement, differences shifted to mean 0: the bootstrap test."""
FLIPPED = Resampling(random_signs, exhaustive=True)
"""The sign of each query's difference at random: the permutation test."""


def all_signs(n_queries: int) -> Iterator[Floats]:
    """Every one of the 2^n ways to give signs to the queries, once, the observed one (all 1) among them.

    >>> next(all_signs(2))
    array([[ 1., -1.,  1., -1.],
           [ 1.,  1., -1., -1.]])
    """
    size, total = chunk_size(n_queries), 2**n_queries
    bit = np.arange(n_queries)[:, None]
    for lo in range(0, total, size):
        minus = np.arange(lo, min(lo + size, total)) >> bit & 1
        yield 1.0 - 2.0 * minus.astype(np.float64)


def weighted_sums(values: Floats, weights: Floats) -> Floats:
    """``values' weights``: systems x resamples.

    The product is made in slices small enough for BLAS to stay in one thread where that is the faster way.
    """
    sums = np.empty((values.shape[1], weights.shape[1]))
    width = _ONE_THREAD // max(values.size, 1)
    width = width if width >= 64 else max(weights.shape[1], 1)
    for lo in range(0, weights.shape[1], width):
        np.matmul(values.T, weights[:, lo : lo + width], out=sums[:, lo : lo + width])
    return sums


@dataclass(frozen=True)
class Counts:
    """Of how many resamples (``total``) the difference of systems a and b is at least as large as observed.

    All are systems x systems. ``complete`` says that the resamples were all there are, the observed sample among them.
    """

    extreme: Ints
    total: Ints
    complete: Mask

    def probabilities(self) -> tuple[Floats, Floats]:
        """p-values, which count the observed sample and so are never 0, and their Monte-Carlo standard errors."""
        drawn = np.where(self.complete, 0, 1)
        p = (self.extreme + drawn) / (self.total + drawn)
        return p, np.sqrt(p * (1 - p) / self.total) * drawn


def count_pairs(
    matrices: Sequence[Floats],
    scheme: Resampling,
    *,
    resamples: int,
    seed: int,
    two_sided: bool,
    margin: float = 0.0,
) -> list[Counts]:
    """Count resampled differences of all pairs within each matrix, each on the queries that both systems have.

    Pairs with as many queries share the draws, whichever matrix they are in: drawing costs more than counting.
    Two-sided counts compare magnitudes. Sums that differ by no more than rounding can account for are equal: a resample
    that gives back what was observed counts. With a ``margin``, one-sided, each system is given it as a start over the
    other: what is counted is a - b + margin.
    """
    found = [_nothing_counted(values.shape[1]) for values in matrices]
    by_size: dict[int, list[tuple[Counts, _Tally]]] = {}
    for values, counts in zip(matrices, found, strict=True):
        for block in blocks(values):
            tally = _Tally(values, block, centred=scheme.centred, two_sided=two_sided, margin=margin)
            by_size.setdefault(len(block.queries), []).append((counts, tally))
    for n, tallies in by_size.items():
        enumerated = scheme.enumerates(n, resamples)
        for weights in all_signs(n) if enumerated else draws(scheme.draw, n, resamples, seed):
            for _, tally in tallies:
                tally.add(weights)
        for counts, tally in tallies:
            for pair, count in tally.counts():
                counts.extreme[pair], counts.total[pair] = count, 2**n if enumerated else resamples
                counts.complete[pair] = enumerated
    return found


def _nothing_counted(n_systems: int) -> Counts:
    """Every system against itself only: a sample that is as extreme as itself."""
    ones = np.ones((n_systems, n_systems), dtype=np.int64)
    return Counts(ones, ones.copy(), np.eye(n_systems, dtype=np.bool_))


class _Tally:
    """Running counts for the pairs of one block.

    ``upper`` counts differences at least as large as observed, ``lower`` those at most as large; two-sided, there is
    only ``upper``, of magnitudes. Places are those in the block. A margin is added to differences for ``upper`` and
    taken from them for ``lower``; centring takes it away again, but not from what was observed.
    """

    def __init__(self, values: Floats, block: Block, *, centred: bool, two_sided: bool, margin: float) -> None:
        data = values[np.ix_(block.queries, block.systems)]
        total, magnitude = data.sum(axis=0), np.abs(data).sum(axis=0)
        observed = total[:, None] - total
        start = margin * len(data)
        slack = _ROUNDING * (magnitude[:, None] + magnitude + start)
        self.block = block
        self.source = np.ascontiguousarray(data - total / len(data) if centred else data)
        self.least = (np.abs(observed) if two_sided else observed + start) - slack
        self.most = observed - start + slack
        self.margin = 0.0 if centred else margin
        self.upper = np.zeros(observed.shape, dtype=np.int64)
        self.lower = None if two_sided else np.zeros(observed.shape, dtype=np.int64)

    def add(self, weights: Floats) -> None:
        """Count a chunk of resamples, a cacheful at a time."""
        for lo in range(0, weights.shape[1], _BLOCK):
            block = weights[:, lo : lo + _BLOCK]
            self._add(weighted_sums(self.source, block), self.margin * block.sum(axis=0) if self.margin else None)

    def _add(self, sums: Floats, start: Floats | None) -> None:
        """Compare each system with its others: all their resampled differences in one go."""
        n_systems, size = sums.shape
        differences = np.empty((n_systems, size))
        flags = np.zeros((n_systems, -(-size // 8) * 8), dtype=np.bool_)
        for a in range(len(self.block.left)):
            others = self.block.others(a)
            difference, flag = differences[others], flags[others]
            if self.lower is not None:
                np.subtract(sums[a] if start is None else sums[a] - start, sums[others], out=difference)
                np.less_equal(difference, self.most[a, others, None], out=flag[:, :size])
                self.lower[a, others] += _count_rows(flag)
            if self.lower is None or start is not None:
                np.subtract(sums[a] if start is None else sums[a] + start, sums[others], out=difference)
            if self.lower is None:
                np.abs(difference, out=difference)
            np.greater_equal(difference, self.least[a, others, None], out=flag[:, :size])
            self.upper[a, others] += _count_rows(flag)

    def counts(self) -> Iterator[tuple[tuple[Any, Any], Ints]]:
        """Where in a matrix of all systems the counts belong, and they."""
        systems = self.block.systems
        lower = self.upper if self.lower is None else self.lower
        for a in range(len(self.block.left)):
            others = self.block.others(a)
            yield (systems[a], systems[others]), self.upper[a, others]
            yield (systems[others], systems[a]), lower[a, others]


def _count_rows(flags: Mask) -> Ints:
    """How many are true in each row, eight at a time: each byte of a 64-bit sum counts on its own, up to 255."""
    lanes = flags.view(np.uint64).sum(axis=1, dtype=np.uint64)
    counts: Ints = lanes.view(np.uint8).reshape(-1, 8).sum(axis=1, dtype=np.int64)
    return counts


def signed_rank_tails(differences: Floats, slack: Floats | float = 0.0) -> tuple[Floats, Floats, Floats, Floats]:
    """P(W >= W+), P(W <= W+), W+ and W- of each column: sums of the ranks of positive and of negative differences.

    Exact for few differences, by the sums of all ways to give signs to the ranks; otherwise normal and corrected for
    continuity. Zeros and NaN are dropped; magnitudes that follow one another by no more than ``slack`` are tied.
    """
    from scipy.special import ndtr

    ranks, positive, ties = _signed_ranks(differences, slack)
    n = (ranks > 0).sum(axis=0)
    plus = (ranks * positive).sum(axis=0)
    centre, total = n * (n + 1) / 4, n * (n + 1) / 2
    deviation = np.sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48)
    scale = np.where(n > 0, deviation, 1.0)
    greater, less = ndtr((centre - plus + 0.5) / scale), ndtr((plus - centre + 0.5) / scale)
    for size in np.unique(n[(ties == 0) & (n <= _EXACT_RANKS)]):
        chosen = (ties == 0) & (n == size)
        weight = _signed_rank_distribution(int(size))
        greater[chosen], less[chosen] = _both_tails(weight, plus[chosen].astype(np.int64))
    chosen = (ties > 0) & (n <= _EXACT_TIED_RANKS)
    if chosen.any():
        weights = _tied_rank_distributions(np.rint(2 * ranks[:_EXACT_TIED_RANKS, chosen]).astype(np.int64))
        greater[chosen], less[chosen] = _both_tails(weights, np.rint(2 * plus[chosen]).astype(np.int64))
    return greater, less, plus, total - plus


def _signed_ranks(differences: Floats, slack: Floats | float) -> tuple[Floats, Mask, Floats]:
    """Mid-ranks of magnitudes in ascending order (0 for zeros and NaN, at the end), which are positive, sum of t^3 - t.

    Each of the t members of a group of ties brings t^2 - 1 to the sum.
    """
    magnitude = np.abs(differences)
    magnitude[~(magnitude > 0)] = np.inf
    order = np.argsort(magnitude, axis=0, kind="stable")
    ascending = np.take_along_axis(magnitude, order, axis=0)
    place = np.arange(1.0, len(ascending) + 1)[:, None]
    border = np.ones((1, ascending.shape[1]), dtype=np.bool_)
    changes = ascending[1:] > ascending[:-1] + slack
    first = np.maximum.accumulate(np.where(np.vstack([border, changes]), place, 0), axis=0)
    last = np.where(np.vstack([changes, border]), place, np.inf)
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    counted = np.isfinite(ascending)
    ties = np.where(counted, (last - first + 1) ** 2 - 1, 0.0).sum(axis=0)
    return np.where(counted, (first + last) / 2, 0.0), np.take_along_axis(differences, order, axis=0) > 0, ties


@lru_cache(maxsize=_EXACT_RANKS + 1)
def _signed_rank_distribution(n: int) -> Floats:
    """Probability of every sum of ranks 0 … n (n + 1) / 2 when each of the ranks 1 … n is in it or not."""
    weight = np.ones(1)
    for rank in range(1, n + 1):
        weight = (np.pad(weight, (0, rank)) + np.pad(weight, (rank, 0))) / 2
    return weight


def _tied_rank_distributions(doubled: Ints) -> Floats:
    """The same for the mid-ranks of each pair, in columns, times two so that they are whole: pairs x sums."""
    n_pairs, longest = doubled.shape[1], int(doubled.sum(axis=0).max())
    weights = np.zeros((n_pairs, longest + 1))
    weights[:, 0] = 1.0
    for ranks in doubled:
        source = np.arange(longest + 1) - ranks[:, None]
        shifted = np.take_along_axis(weights, np.maximum(source, 0), axis=1)
        weights = (weights + np.where(source >= 0, shifted, 0.0)) / 2
    return weights


def _both_tails(weights: Floats, observed: Ints) -> tuple[Floats, Floats]:
    """P(sum >= observed) and P(sum <= observed); one distribution for all or, in rows, one for each."""
    rows = np.broadcast_to(weights, (len(observed), weights.shape[-1]))
    below = np.cumsum(rows, axis=1)
    above = np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]
    place = observed[:, None]
    return np.take_along_axis(above, place, axis=1)[:, 0], np.take_along_axis(below, place, axis=1)[:, 0]
