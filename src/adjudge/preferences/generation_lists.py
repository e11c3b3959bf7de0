"""Effectiveness of many artificial lists at once, on every combination.

Most scales have few levels, and so few different lists: five documents on five levels make 3,125. Their effectiveness
is computed once and then looked up, whatever the number of lists. Only scales such as Fine are computed list by list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.model.rankings import Lists
from adjudge.model.scales import Scale
from adjudge.preferences.combinations import Combination
from adjudge.preferences.generation_data import Material
from adjudge.users.combinations import RelevanceScale

MOST_VECTORS = 20_000  # level by level lists that are worth a table


def graded_lists(grades: Floats, scale: Scale) -> Lists:
    """Lists of judged documents only, (lists, ranks); nothing else is known of their queries."""
    n, k = grades.shape
    lengths = np.full(n, k, dtype=np.int64)
    there = np.ones(grades.shape, dtype=np.bool_)
    return Lists(grades, there, lengths, -np.sort(-grades, axis=1), lengths, np.arange(n, dtype=np.int64), scale)


@dataclass(frozen=True)
class Graded:
    """The documents on one scale, original or converted: grades (queries, width), NaN past the end."""

    grades: Floats
    scale: Scale
    k: int

    @cached_property
    def levels(self) -> Floats:
        """The grades that occur, lowest first."""
        return np.unique(self.grades[~np.isnan(self.grades)])

    @property
    def is_small(self) -> bool:
        """Whether all lists can be told by the levels of their documents."""
        return float(len(self.levels)) ** self.k <= MOST_VECTORS

    @cached_property
    def level(self) -> Ints:
        """Level of each document, as a place in ``levels``; one more past the end."""
        return np.where(
            np.isnan(self.grades), len(self.levels), np.searchsorted(self.levels, np.nan_to_num(self.grades))
        ).astype(np.int64)

    @cached_property
    def vectors(self) -> Ints:
        """Every list there can be, as the levels of its documents: (levels ** k, k)."""
        return np.indices((len(self.levels),) * self.k).reshape(self.k, -1).T

    @cached_property
    def supply(self) -> Ints:
        """How many documents of each level a query has: (queries, levels)."""
        return np.stack([(self.level == one).sum(axis=1) for one in range(len(self.levels))], axis=1)

    def attainable(self, supply: Ints) -> Ints:
        """Places in ``vectors`` of the lists that a query with this many documents of each level can have."""
        used = np.stack([(self.vectors == one).sum(axis=1) for one in range(len(supply))], axis=1)
        return np.flatnonzero((used <= supply).all(axis=1))

    def codes(self, query: Ints, lists: Ints) -> Ints:
        """Place in ``vectors`` of each list."""
        found = np.zeros(len(lists), dtype=np.int64)
        for rank in range(self.k):
            found = found * len(self.levels) + self.level[query, lists[:, rank]]
        return found


@dataclass(frozen=True)
class Evaluator:
    """All combinations over the same material."""

    material: Material
    combinations: tuple[Combination, ...]

    @cached_property
    def graded(self) -> dict[str, Graded]:
        """The documents on each scale of the combinations."""
        return {one.scale: self._on(one.relevance) for one in self.combinations}

    def _on(self, scale: RelevanceScale) -> Graded:
        grades = self.material.grades[str(RelevanceScale(scale.origin))]
        if scale.conversion is None:
            return Graded(grades, scale.origin, self.material.k)
        converted = np.where(np.isnan(grades), np.nan, scale.conversion(grades))
        return Graded(converted, scale.conversion.scale, self.material.k)

    @cached_property
    def tables(self) -> dict[int, Floats]:
        """Effectiveness of every vector of levels, for each combination on a small scale."""
        lists = {
            scale: graded_lists(one.levels[one.vectors], one.scale)
            for scale, one in self.graded.items()
            if one.is_small
        }
        return {c: one.parsed(lists[one.scale]) for c, one in enumerate(self.combinations) if one.scale in lists}

    def __call__(self, query: Ints, lists: Ints) -> Floats:
        """Effectiveness (lists, combinations) of lists (lists, k), which are columns of documents of their query."""
        values = np.empty((len(lists), len(self.combinations)))
        found = {scale: one.codes(query, lists) for scale, one in self.graded.items() if one.is_small}
        large = {
            scale: graded_lists(one.grades[query[:, None], lists], one.scale)
            for scale, one in self.graded.items()
            if not one.is_small
        }
        for c, one in enumerate(self.combinations):
            values[:, c] = self.tables[c][found[one.scale]] if c in self.tables else one.parsed(large[one.scale])
        return values

    def one(self, c: int, query: Ints, lists: Ints) -> Floats:
        """Effectiveness of lists on one combination."""
        alone = self.graded[self.combinations[c].scale]
        if c in self.tables:
            return self.tables[c][alone.codes(query, lists)]
        return self.combinations[c].parsed(graded_lists(alone.grades[query[:, None], lists], alone.scale))


def aimed_lists(material: Material, query: Ints, rng: np.random.Generator) -> Ints:
    """One list for each of ``query``, over all levels of effectiveness: (lists, k) columns of documents.

    Each list aims at a grade for each of its ranks (the same for all; from one to another; or any) on one of the
    scales, and takes the nearest document that it does not have yet, give or take some luck.
    """
    n, k = len(query), material.k
    aim = _aims(n, k, rng)
    shares = np.stack([material.shares(scale) for scale in material.grades])
    which = rng.integers(len(shares), size=n)
    luck = rng.choice([0.02, 0.08, 0.3], size=n)
    lists = np.empty((n, k), dtype=np.int64)
    step = max(1, 2_000_000 // shares.shape[2])  # documents looked at in one go
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        near = shares[which[part], query[part]]
        noise = rng.random(near.shape) * luck[part, None]
        rows = np.arange(len(near))
        for rank in range(k):
            far = np.abs(near - aim[part, rank : rank + 1]) + noise
            chosen = np.nanargmin(far, axis=1)
            lists[part, rank] = chosen
            near[rows, chosen] = np.nan
    return lists


def _aims(n: int, k: int, rng: np.random.Generator) -> Floats:
    """Grades to aim at, as shares of the highest: (lists, k)."""
    ends = rng.uniform(-0.1, 1.1, size=(2, n, 1))  # past the ends, so that the best and the worst come often
    way = np.linspace(0.0, 1.0, k) if k > 1 else np.zeros(1)
    kind = rng.choice(3, size=(n, 1), p=(0.35, 0.3, 0.35))
    any_ = rng.uniform(-0.1, 1.1, size=(n, k))
    two = np.where(rng.random((n, k)) < 0.5, ends[0], ends[1])  # some very good among some very bad
    loose = np.where(rng.random((n, 1)) < 0.5, any_, two)
    aims: Floats = np.where(kind == 0, ends[0], np.where(kind == 1, ends[0] + way * (ends[1] - ends[0]), loose))
    return aims


def shuffled_lists(material: Material, query: Ints, rng: np.random.Generator) -> Ints:
    """One list of random documents for each of ``query``: (lists, k)."""
    keys = np.where(material.filled[query], rng.random((len(query), material.filled.shape[1])), np.inf)
    return np.argsort(keys, axis=1)[:, : material.k]


def unique_rows(query: Ints, lists: Ints) -> Ints:
    """Places of the first of each list, lists of different queries being different."""
    rows = np.concatenate([query[:, None], lists], axis=1)
    return np.sort(np.unique(rows, axis=0, return_index=True)[1]).astype(np.int64)
