"""Making questions from judgments: pairs of artificial lists such that every bin has enough.

The thesis (section 3.2.1) picks the combination of measure, scale and bin with the fewest examples, makes an example
that falls in it, counts it in the bins of all other combinations, and goes on until all have enough or the judgments
allow no more. Here the example is chosen among many that would do: the one that helps most other bins that are
not full yet, and the scarcest first, so that fewer questions suffice, which is what a study costs.

What questions are made of: for each query, its documents that are judged on every scale that is needed.

Effectiveness of many artificial lists at once, on every combination.

Most scales have few levels, and so few different lists: five documents on five levels make 3,125. Their effectiveness
is computed once and then looked up, whatever the number of lists. Only scales such as Fine are computed list by list.

A pool of artificial lists, and pairs of them that fall in a given bin of a given combination.

The lists of a query are sorted by effectiveness, combination by combination, so that the partners of a list whose
difference lies in a bin stand side by side: two binary searches find them all.

When the pool has no pair for a bin: make one on purpose, or prove that there is none.

On scales with few levels every list is known by the levels of its documents, so that the bins which a query can reach
are known exactly, and lists that reach them are put together from documents of those levels. On other scales pairs of
lists are improved document by document until their difference falls in the bin; what lies beyond the best and the
worst list of every query is proven impossible for measures that never fall when a grade rises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import COUNT, LIST_LENGTH, PER_BIN, QUESTION_BINS, SEED, checked
from adjudge.errors import AdjudgeError, shown
from adjudge.model.judgments import Judgments
from adjudge.model.rankings import Lists
from adjudge.model.scales import Scale
from adjudge.preferences.questions import Combination, Coverage, Question, Questions, as_combinations, covered
from adjudge.seeds import Seed, as_seed
from adjudge.users.combinations import RelevanceScale, relevance_scale
from adjudge.users.curves import bin_of, limits_of

if TYPE_CHECKING:
    import polars as pl


JudgmentsByScale = Judgments | Mapping[str, Judgments]
"""Judgments on one scale, or several by the name of their scale."""


@dataclass(frozen=True)
class Material:
    """Queries with their documents, and the documents' grades on each scale.

    ``grades`` are (queries, width), one column a document, NaN past the ``sizes`` of a query; ``sizes`` are at least
    the k of the lists to be made.
    """

    queries: tuple[str, ...]
    documents: tuple[tuple[str, ...], ...]
    grades: Mapping[str, Floats]
    sizes: Ints
    k: int

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def filled(self) -> Mask:
        """Which cells hold a document: (queries, width)."""
        there: Mask = np.arange(max(int(self.sizes.max()), 1)) < self.sizes[:, None]
        return there

    def shares(self, scale: str) -> Floats:
        """Grades as shares of the highest grade, NaN past the documents of a query."""
        return self.grades[scale] / relevance_scale(scale).origin.maximum

    def questions(
        self,
        query: Ints,
        lists: Ints,
        *,
        names: Sequence[str],
        expected: Sequence[frozenset[str]] | None = None,
    ) -> Questions:
        """Questions of ``lists`` (questions, 2, k), columns of documents of ``query`` (questions,)."""
        made = []
        for place, (q, pair) in enumerate(zip(query.tolist(), lists.tolist(), strict=True)):
            known = self.documents[q]
            a, b = (tuple(known[d] for d in one) for one in pair)
            right = frozenset[str]() if expected is None else expected[place]
            made.append(Question(names[place], self.queries[q], a, b, right))
        grades = {scale: values[query[:, None, None], lists] for scale, values in self.grades.items()}
        return Questions(tuple(made), grades)


def by_scale(judgments: JudgmentsByScale) -> dict[str, Judgments]:
    """Judgments by the name of their scale, checked to be on it."""
    if isinstance(judgments, Judgments):
        return {str(RelevanceScale(judgments.scale)): judgments}
    found: dict[str, Judgments] = {}
    for name, one in judgments.items():
        scale = relevance_scale(name)
        if scale.conversion is not None:
            raise AdjudgeError(f"expected judgments on the scale that assessors used, got {shown(name)}")
        outside = one.grade[~scale.origin.contains(one.grade)]
        if len(outside):
            raise AdjudgeError(f"expected grades on the scale {scale.origin}, got {outside[0]:g}")
        found[str(scale)] = one
    if not found:
        raise AdjudgeError("expected judgments on at least one scale, got none")
    return found


@checked(k=LIST_LENGTH)
def material(judgments: JudgmentsByScale, combinations: Sequence[Combination] | None, k: int) -> Material:
    """The documents of each query that are judged on all scales of the combinations (all scales when None)."""
    import polars as pl

    given = by_scale(judgments)
    needed = list(given) if combinations is None else list(dict.fromkeys(one.origin for one in combinations))
    lacking = next((one for one in combinations or () if one.origin not in given), None)
    if lacking is not None:
        raise AdjudgeError(f"{lacking} needs judgments on {lacking.origin}, got {', '.join(given)}")
    frame = None
    for scale in needed:
        one = given[scale].pairs().rename({"grade": f"on {scale}"})
        frame = one if frame is None else frame.join(one, on=["query", "document"], how="inner", maintain_order="left")
    if frame is None or frame.height == 0:
        raise AdjudgeError(f"expected documents judged on {' and '.join(needed)}, got none")
    groups = (
        frame.group_by("query", maintain_order=True)
        .agg(pl.all(), pl.len().alias("n documents"))
        .filter(pl.col("n documents") >= k)
    )
    if groups.height == 0:
        most = max(frame.group_by("query").len()["len"].to_list())
        on = " and ".join(needed)
        raise AdjudgeError(f"expected queries with at least {k} documents judged on {on}, got at most {most}")
    sizes = groups["n documents"].to_numpy().astype(np.int64)
    documents = tuple(tuple(names) for names in groups["document"].to_list())
    return Material(tuple(groups["query"]), documents, {s: _padded(groups[f"on {s}"], sizes) for s in needed}, sizes, k)


def _padded(column: pl.Series, sizes: Ints) -> Floats:
    """Lists of different lengths as one array, NaN past their ends."""
    array = np.full((len(sizes), int(sizes.max())), np.nan)
    array[np.arange(array.shape[1]) < sizes[:, None]] = column.explode().to_numpy()
    return array


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


Progress = Callable[[int, int], None]

_POOL = 120_000  # lists that pairs are drawn from
_SAMPLE = 2048  # pairs among which the most helpful is taken
_URGENCY = 4  # power of the share that a bin lacks, in what a pair that falls in it is worth; 4 took fewest questions
_REUSED = 6  # times that the pairs of one search are looked at
_TRIES = 12  # looks at such pairs without a new one before a bin is given up
_BALANCE = 0.5  # what a query loses that has been used as often as the average


@dataclass(frozen=True)
class Generated:
    """Questions, in the order in which they were made, and what they cover.

    The first ones cover as evenly as all do: a study that stops half-way has half of everything.
    """

    questions: Questions
    coverage: Coverage
    seed: int

    def __str__(self) -> str:
        return str(self.coverage)


@checked(per_bin=PER_BIN, bins=QUESTION_BINS, k=LIST_LENGTH, seed=SEED, max_questions=COUNT, per_query=COUNT)
def make_questions(
    judgments: JudgmentsByScale,
    combinations: Iterable[Combination | str],
    *,
    per_bin: int = 200,
    bins: int = 10,
    k: int = 5,
    seed: Seed = 0,
    max_questions: int | None = None,
    per_query: int | None = None,
    progress: Progress | None = None,
) -> Generated:
    """Make questions such that every bin of abs(Δ) of every combination has at least ``per_bin``, if the data allow it.

    ``judgments`` are on one scale, or a mapping from scales to judgments; lists are made of documents that are judged
    on all scales that the combinations need. Lists have ``k`` different documents of one query, both may have some in
    common, and all questions differ. Which list is a and which is b is a matter of luck. Queries take turns as far as
    they can, and none is used more than ``per_query`` times. The same seed makes the same questions.

    Bins that no two lists can reach are reported as impossible where that can be proven: always on scales with few
    levels (P@5 has no differences but multiples of .2), on other scales for bins beyond the best and the worst list
    of every query. Others that stay below ``per_bin`` are short. ``progress`` is told how many questions all bins have
    and how many they want.

    Thesis section 3.2.1; there 22,074 judgments, 95 combinations and 10 bins took 4,115 examples.

    >>> from adjudge.formats.reading import read_judgments
    >>> grades = {f"d{i}": i % 3 for i in range(12)}
    >>> made = make_questions(read_judgments({"q": grades}, scale="broad"), ["CG@2 on broad"], per_bin=4, bins=4, k=2)
    >>> len(made.questions), made.coverage.is_complete, made.coverage.counts.tolist()
    (16, True, [[4, 4, 4, 4]])
    """
    seed = as_seed(seed)
    known = as_combinations(combinations)
    stuff = material(judgments, known, k)
    cap = np.inf if per_query is None else per_query
    rng = np.random.default_rng(seed)
    greedy = _Greedy(stuff, known, per_bin, bins, rng, most=max_questions, per_query=cap, progress=progress)
    greedy.run()
    if not greedy.query:
        raise AdjudgeError(f"expected judgments that allow two different lists of {k} documents of a query, got none")
    questions = greedy.questions()
    coverage = covered(questions, known, greedy.counts, greedy.impossible, per_bin=per_bin)
    return Generated(questions, coverage, seed)


@dataclass
class _Greedy:
    """What has been made so far, and what is missing."""

    material: Material
    combinations: tuple[Combination, ...]
    per_bin: int
    bins: int
    rng: np.random.Generator
    most: int | None = None
    per_query: float = np.inf
    progress: Progress | None = None
    query: list[int] = field(default_factory=list)
    lists: list[Ints] = field(default_factory=list)
    seen: set[tuple[int, ...]] = field(default_factory=set)
    reserve: dict[tuple[int, int], tuple[Candidates, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (len(self.combinations), self.bins)
        self.counts = np.zeros(shape, dtype=np.int64)
        self.given_up = np.zeros(shape, dtype=np.bool_)
        self.used = np.zeros(len(self.material))
        self.evaluator = Evaluator(self.material, self.combinations)
        self.search = Search(self.material, self.evaluator, self.bins)
        self.pool: Pool = make_pool(self.material, self.evaluator, _POOL, self.bins, self.rng)

    def run(self) -> None:
        """Fill the bins."""
        while (self.most is None or len(self.query) < self.most) and (target := self._target()) is not None:
            if not self._add_one(*target):
                self.given_up[target] = True
            if self.progress is not None:
                missing = int(np.maximum(self.per_bin - self.counts, 0)[~self.given_up].sum())
                self.progress(self.counts.size * self.per_bin - missing, self.counts.size * self.per_bin)

    @property
    def impossible(self) -> Mask:
        """Which bins no two lists can reach, those too that there was no time to try."""
        found: Mask = np.asarray(self.counts == 0)
        for c, b in np.argwhere(found).tolist():
            found[c, b] = not self.search.able(c, b)[0].any()
        return found

    def _target(self) -> tuple[int, int] | None:
        """A bin with the fewest questions of those to fill; None when there is nothing left to do."""
        left = np.where((self.counts < self.per_bin) & ~self.given_up, self.counts, self.per_bin)
        fewest = np.flatnonzero(left == left.min()) if left.min() < self.per_bin else np.array([], dtype=np.int64)
        if not len(fewest):
            return None
        place = int(self.rng.choice(fewest))
        return place // self.bins, place % self.bins

    def _add_one(self, c: int, b: int) -> bool:
        """Add the most helpful new question that falls in the bin; False when none was found."""
        return any(found is not None and self._add_most_helpful(found) for found in self._offers(c, b))

    def _offers(self, c: int, b: int) -> Iterator[Candidates | None]:
        """Pairs in the bin: from queries that were used little, from any that may be used, then made on purpose."""
        used = self.used[self.pool.query]
        for able in (np.flatnonzero(used <= np.median(self.used)), np.flatnonzero(used < self.per_query)):
            anchors = np.sort(able[self.rng.integers(len(able), size=2 * _SAMPLE)]) if len(able) else able
            one, other = self.pool.pairs(c, b, anchors, self.rng)
            if len(one) >= _SAMPLE // 16:
                some = self.rng.permutation(len(one))[:_SAMPLE]
                yield self.pool.candidates(one[some], other[some])
        if not self.search.able(c, b)[0].any():
            return
        for _ in range(_TRIES):
            yield self._made_on_purpose(c, b)

    def _made_on_purpose(self, c: int, b: int) -> Candidates | None:
        """Pairs that a search finds, which then serve a few times before the next search."""
        found, times = self.reserve.pop((c, b), (None, _REUSED))
        if times == _REUSED:
            welcome = np.where(self.used < self.per_query, 1.0 / (1.0 + self.used) ** 2, 0.0)
            found, times = self.search.find(c, b, 256, welcome, self.rng), 0
        if found is not None:
            self.reserve[c, b] = found, times + 1
        return found

    def _add_most_helpful(self, found: Candidates) -> bool:
        """Add the new pair that adds most to bins that are far from full, of a query that was used little."""
        need = np.maximum(self.per_bin - self.counts, 0) * ~self.given_up
        worth = (need / self.per_bin) ** _URGENCY
        hit = bin_of(found.differences, self.bins)
        gain = worth[np.arange(len(self.combinations)), hit].sum(axis=1)
        score = gain / (1.0 + _BALANCE * self.used[found.query] / (self.used.mean() + 1.0))
        for place in np.argsort(-score):
            a, b = found.lists[place].tolist()
            query = int(found.query[place])
            key = (query, *min(a, b), *max(a, b))
            if a != b and key not in self.seen and self.used[query] < self.per_query:
                self._add(query, found.lists[place], hit[place], key)
                return True
        return False

    def _add(self, query: int, pair: Ints, hit: Ints, key: tuple[int, ...]) -> None:
        self.seen.add(key)
        self.query.append(query)
        self.lists.append(pair if self.rng.random() < 0.5 else pair[::-1])
        self.used[query] += 1
        self.counts[np.arange(len(self.combinations)), hit] += 1

    def questions(self) -> Questions:
        """What was made, named from q1 on."""
        query = np.array(self.query, dtype=np.int64)
        lists = np.array(self.lists, dtype=np.int64).reshape(len(query), 2, self.material.k)
        return self.material.questions(query, lists, names=[f"q{i}" for i in range(1, len(query) + 1)])
