"""A pool of artificial lists, and pairs of them that fall in a given bin of a given combination.

The lists of a query are sorted by effectiveness, combination by combination, so that the partners of a list whose
difference lies in a bin stand side by side: two binary searches find them all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.preferences.generation_data import Material
from adjudge.preferences.generation_lists import Evaluator, aimed_lists, shuffled_lists, unique_rows
from adjudge.users.binning import limits_of

_APART = 3.0  # between the keys of two queries: effectiveness plus a difference is at most 2
_CELLS = 20_000_000  # documents to choose from, over all lists of a pool


@dataclass(frozen=True)
class Candidates:
    """Pairs of lists: query (n,), lists (n, 2, k) and the absolute differences on every combination (n, c)."""

    query: Ints
    lists: Ints
    differences: Floats

    def __len__(self) -> int:
        return len(self.query)


@dataclass
class Pool:
    """Lists with their effectiveness on every combination, sorted when a combination is first asked for."""

    query: Ints
    lists: Ints
    values: Floats
    bins: int
    _sorted: dict[int, tuple[Ints, Floats]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.query)

    def pairs(self, c: int, b: int, anchors: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Up to one pair for each anchor: the anchor and a list that is better by a difference in the bin."""
        order, keys = self._order(c)
        low, high = limits_of(b, self.bins)
        start = _APART * self.query[anchors] + self.values[anchors, c]
        first = np.searchsorted(keys, start + low)
        n = np.searchsorted(keys, np.minimum(start + high, _APART * self.query[anchors] + 1.5)) - first
        found = np.flatnonzero(n > 0)
        partner = order[first[found] + (rng.random(len(found)) * n[found]).astype(np.int64)]
        anchor = anchors[found]
        apart = anchor != partner
        return anchor[apart], partner[apart]

    def candidates(self, one: Ints, other: Ints) -> Candidates:
        """Pairs of lists of the pool with all their differences."""
        differences = np.abs(self.values[one] - self.values[other])
        return Candidates(self.query[one], np.stack([self.lists[one], self.lists[other]], axis=1), differences)

    def _order(self, c: int) -> tuple[Ints, Floats]:
        if c not in self._sorted:
            keys = _APART * self.query + self.values[:, c]
            order = np.argsort(keys)
            self._sorted[c] = order, keys[order]
        return self._sorted[c]


def make_pool(material: Material, evaluator: Evaluator, size: int, bins: int, rng: np.random.Generator) -> Pool:
    """About ``size`` different lists, as many for each query; most aim at something, some are random."""
    size = min(size, _CELLS // int(material.sizes.max()))
    each = max(20, min(400, size // len(material)))
    query = np.repeat(np.arange(len(material), dtype=np.int64), each)
    if len(material) * each > 2 * size:  # more queries than a pool can serve: some of them
        some = rng.choice(len(material), size=max(1, size // each), replace=False)
        query = np.repeat(np.sort(some), each)
    lists = aimed_lists(material, query, rng)
    plain = np.arange(len(query)) % each < each // 10
    lists[plain] = shuffled_lists(material, query[plain], rng)
    kept = unique_rows(query, lists)
    query, lists = query[kept], lists[kept]
    return Pool(query, lists, evaluator(query, lists), bins)
