"""When the pool has no pair for a bin: make one on purpose, or prove that there is none.

On scales with few levels every list is known by the levels of its documents, so that the bins which a query can reach
are known exactly, and lists that reach them are put together from documents of those levels. On other scales pairs of
lists are improved document by document until their difference falls in the bin; what lies beyond the best and the
worst list of every query is proven impossible for measures that never fall when a grade rises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.preferences.generation_data import Material
from adjudge.preferences.generation_lists import Evaluator, Graded, aimed_lists
from adjudge.preferences.generation_pool import Candidates
from adjudge.users.binning import limits_of

_MOST_RANKS = 6  # whose permutations are few enough to try them all
_ROUNDS = 60  # of changing a document in each pair


@dataclass
class Search:
    """Looks for pairs of lists in a bin of a combination; remembers what it found out about queries."""

    material: Material
    evaluator: Evaluator
    bins: int
    _profiles: dict[str, tuple[Ints, list[Ints]]] = field(default_factory=dict)
    _able: dict[int, Mask] = field(default_factory=dict)
    _likely: dict[int, Mask] = field(default_factory=dict)

    def able(self, c: int, b: int) -> tuple[Mask, bool]:
        """Which queries may have two lists in the bin, and whether that is exact (else: no more than these can)."""
        graded = self.evaluator.graded[self.evaluator.combinations[c].scale]
        if c not in self._able:
            self._able[c] = self._by_levels(c) if graded.is_small else self._by_range(c, graded)
        return self._able[c][:, b], graded.is_small

    def _by_levels(self, c: int) -> Mask:
        """Bins that each query can reach, (queries, bins), from all lists that it can have."""
        profile, attainable = self._levels(c)
        edges = np.array([*(limits_of(b, self.bins)[0] for b in range(self.bins)), 2.0])
        can = np.zeros((len(attainable), self.bins), dtype=np.bool_)
        for place, one in enumerate(attainable):
            values = np.unique(np.round(self.evaluator.tables[c][one], 12))
            before = np.searchsorted(values, values[:, None] + edges)
            can[place] = (before[:, 1:] > before[:, :-1]).any(axis=0)
            near = len(values) < len(one) or bool((np.diff(values) < edges[1]).any())
            can[place, 0] = near or self._has_equals(c, int(np.argmax(profile == place)))
        return can[profile]

    def _has_equals(self, c: int, query: int) -> bool:
        """Whether a query has two documents of one level: two lists can differ by nothing and yet be two."""
        return bool((self.evaluator.graded[self.evaluator.combinations[c].scale].supply[query] > 1).any())

    def _by_range(self, c: int, graded: Graded) -> Mask:
        """Bins that each query might reach, (queries, bins), as far as its best and its worst list lie apart."""
        edges = np.array([limits_of(b, self.bins)[0] for b in range(self.bins)])
        within: Mask = self._range(c, graded)[:, None] >= edges
        self._likely[c] = within
        is_proof = self.evaluator.combinations[c].parsed.monotone and self.material.k <= _MOST_RANKS
        return within if is_proof else np.ones(within.shape, dtype=np.bool_)

    def _levels(self, c: int) -> tuple[Ints, list[Ints]]:
        """Kind of each query, by how many documents of each level it has, and the lists that each kind can have."""
        scale = self.evaluator.combinations[c].scale
        if scale not in self._profiles:
            graded = self.evaluator.graded[scale]
            kinds, kind = np.unique(np.minimum(graded.supply, graded.k + 1), axis=0, return_inverse=True)
            self._profiles[scale] = kind.ravel().astype(np.int64), [graded.attainable(one) for one in kinds]
        return self._profiles[scale]

    def _range(self, c: int, graded: Graded) -> Floats:
        """Difference between the best documents of each query and the worst, in the orders that make it largest.

        That is the largest of all for a monotone measure: in any list, the best documents can take the places of
        others, the better ones those of the better ones, and no place gets worse. All orders are tried, but for long
        lists only two.
        """
        k = self.material.k
        ordered = np.argsort(graded.grades, axis=1)  # NaN last
        worst = ordered[:, :k]
        best = np.take_along_axis(ordered, self.material.sizes[:, None] - k + np.arange(k), axis=1)
        every = permutations(range(k)) if k <= _MOST_RANKS else (range(k), range(k - 1, -1, -1))
        orders = np.array([list(one) for one in every])
        query = np.repeat(np.arange(len(self.material)), len(orders))
        high, low = (
            self.evaluator.one(c, query, one[:, orders].reshape(-1, k)).reshape(len(one), -1) for one in (best, worst)
        )
        apart: Floats = high.max(axis=1) - low.min(axis=1)
        return apart

    def find(self, c: int, b: int, n: int, weights: Floats, rng: np.random.Generator) -> Candidates | None:
        """Pairs in the bin, from n tries; ``weights`` say how welcome each query is. None where there are none."""
        able, exact = self.able(c, b)
        welcome = np.where(able, weights, 0.0)
        if c in self._likely:  # the others are not ruled out, but it would be a surprise
            welcome *= np.where(self._likely[c][:, b], 1.0, 0.01)
        if not welcome.any():
            return None
        query = rng.choice(len(welcome), size=n, p=welcome / welcome.sum()).astype(np.int64)
        lists = self._assembled(c, b, query, rng) if exact else self._climbed(c, b, query, rng)
        values = np.stack([self.evaluator(query, lists[:, side]) for side in (0, 1)])
        differences: Floats = np.abs(values[0] - values[1])
        low, high = limits_of(b, self.bins)
        good = (differences[:, c] >= low) & (differences[:, c] < high) & (lists[:, 0] != lists[:, 1]).any(axis=1)
        return Candidates(query[good], lists[good], differences[good]) if good.any() else None

    def _assembled(self, c: int, b: int, query: Ints, rng: np.random.Generator) -> Ints:
        """Pairs of lists whose levels make the difference, of random documents on those levels."""
        profile, attainable = self._levels(c)
        graded = self.evaluator.graded[self.evaluator.combinations[c].scale]
        table = self.evaluator.tables[c]
        low, high = limits_of(b, self.bins)
        vectors = np.empty((len(query), 2, graded.k), dtype=np.int64)
        for kind in np.unique(profile[query]):
            rows = np.flatnonzero(profile[query] == kind)
            codes = attainable[kind][np.argsort(table[attainable[kind]])]
            values = table[codes]
            first, last = np.searchsorted(values, values + low), np.searchsorted(values, values + high)
            starts = np.flatnonzero(last > first)
            start = rng.choice(starts, size=len(rows))
            partner = first[start] + (rng.random(len(rows)) * (last - first)[start]).astype(np.int64)
            vectors[rows] = graded.vectors[np.stack([codes[start], codes[partner]], axis=1)]
        return np.stack([_of_levels(graded, query, vectors[:, side], rng) for side in (0, 1)], axis=1)

    def _climbed(self, c: int, b: int, query: Ints, rng: np.random.Generator) -> Ints:
        """Pairs of lists that change document by document, nearer to the bin, and inside it in any way."""
        low, high = limits_of(b, self.bins)
        middle, width = (low + min(high, 1.0)) / 2, (min(high, 1.0) - low) / 2
        lists = np.stack([aimed_lists(self.material, query, rng) for _ in (0, 1)], axis=1)
        far = rng.random(len(query)) < (b + 1) / self.bins  # bins of large differences are near the ends
        lists[far] = self._ends(c, query[far], rng)
        values = np.stack([self.evaluator.one(c, query, lists[:, side]) for side in (0, 1)], axis=1)
        rows = np.arange(len(query))
        for _ in range(_ROUNDS):
            off = np.abs(np.abs(values[:, 0] - values[:, 1]) - middle)
            side = rng.integers(2, size=len(query))
            changed = _one_changed(lists[rows, side], self.material.sizes[query], rng)
            value = self.evaluator.one(c, query, changed)
            better = np.abs(np.abs(value - values[rows, 1 - side]) - middle) < np.maximum(off, width)
            lists[rows[better], side[better]] = changed[better]
            values[rows[better], side[better]] = value[better]
        return lists

    def _ends(self, c: int, query: Ints, rng: np.random.Generator) -> Ints:
        """Lists of the best and of the worst documents of each query, the better ones rather earlier and later."""
        k = self.material.k
        grades = self.evaluator.graded[self.evaluator.combinations[c].scale].grades[query]
        span = np.nanmax(grades) - np.nanmin(grades)
        noisy = grades + rng.random(grades.shape) * span * rng.choice([0.001, 0.05, 0.2], size=(len(query), 1))
        ordered = np.argsort(noisy, axis=1)  # NaN last
        best = np.take_along_axis(ordered, self.material.sizes[query][:, None] - 1 - np.arange(k), axis=1)
        return np.stack([best, ordered[:, :k]], axis=1)


def _of_levels(graded: Graded, query: Ints, vectors: Ints, rng: np.random.Generator) -> Ints:
    """Lists of random documents of given levels, none twice."""
    level = graded.level[query]
    keys = rng.random(level.shape)
    rows = np.arange(len(query))
    lists = np.empty(vectors.shape, dtype=np.int64)
    for rank in range(vectors.shape[1]):
        lists[:, rank] = np.where(level == vectors[:, rank : rank + 1], keys, np.inf).argmin(axis=1)
        keys[rows, lists[:, rank]] = np.inf
    return lists


def _one_changed(lists: Ints, sizes: Ints, rng: np.random.Generator) -> Ints:
    """Lists with another document at one rank; one that the list has already changes places with it."""
    n, k = lists.shape
    rows = np.arange(n)
    rank = rng.integers(k, size=len(lists))
    document: Ints = (rng.random(n) * sizes).astype(np.int64)
    changed = lists.copy()
    there = lists == document[:, None]
    swaps = there.any(axis=1)
    changed[rows[swaps], there[swaps].argmax(axis=1)] = lists[rows[swaps], rank[swaps]]
    changed[rows, rank] = document
    return changed
