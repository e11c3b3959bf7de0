"""Making questions: from judgments, such that every bin of differences has enough, and from the lists of real systems.

The thesis (section 3.2.1) picks the combination of measure, scale and bin with the fewest examples, makes an example
that falls in it, counts it in the bins of all other combinations, and goes on until all have enough or the judgments
allow no more. Here the example is chosen among many candidates: the one that helps most other bins that are not full
yet, the scarcest first, so that fewer questions suffice.

Candidates come from a pool of artificial lists. The lists of a query are sorted by effectiveness on a combination, so
two binary searches find all partners of a list whose difference lies in a bin. Where the pool has no pair for a bin,
one is made on purpose, or the bin is proven impossible. On scales with few levels every list is known by the levels of
its documents (five documents on five levels make 3,125 lists), so effectiveness is looked up in a table and the bins
that a query can reach are known exactly. On scales such as Fine, pairs of lists are improved document by document until
their difference falls in the bin; bins beyond the best and the worst list of every query are proven impossible for
measures that never fall when a grade rises.

Lists of real systems are alike more often than not, so large differences are rare. But they are what users will see,
and what the share of noticeable differences is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations as pairs_of
from itertools import permutations

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import COUNT, LIST_LENGTH, PER_BIN, QUESTION_BINS, SEED, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError, shown
from adjudge.model.collection import Collection
from adjudge.model.judgments import Judgments
from adjudge.model.rankings import Lists
from adjudge.model.scales import Scale
from adjudge.preferences.questions import Combination, Coverage, Question, Questions, as_combinations, bins_of, covered
from adjudge.registry import unknown
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted
from adjudge.users.combinations import RelevanceScale, relevance_scale
from adjudge.users.curves import bin_of, limits_of

JudgmentsByScale = Judgments | Mapping[str, Judgments]
"""Judgments on one scale, or on several by the name of their scale."""


@dataclass(frozen=True)
class Material:
    """Queries with their documents, and the documents' grades on each scale.

    ``grades`` are (queries, width), one column per document, NaN past the ``sizes`` of a query, which are at least
    ``k``, the length of the lists to be made.
    """

    queries: tuple[str, ...]
    documents: tuple[tuple[str, ...], ...]
    grades: Mapping[str, Floats]
    sizes: Ints
    k: int

    def __len__(self) -> int:
        return len(self.queries)

    def shares(self, scale: str) -> Floats:
        """Grades as shares of the highest grade, NaN past the documents of a query."""
        return self.grades[scale] / relevance_scale(scale).origin.maximum

    def questions(
        self, query: Ints, lists: Ints, *, prefix: str, expected: Sequence[frozenset[str]] | None = None
    ) -> Questions:
        """Questions about ``lists`` (questions, 2, k), columns of documents of ``query``, named by number."""
        made = []
        for place, (q, pair) in enumerate(zip(query.tolist(), lists.tolist(), strict=True)):
            a, b = (tuple(self.documents[q][d] for d in side) for side in pair)
            right = frozenset[str]() if expected is None else expected[place]
            made.append(Question(f"{prefix}{place + 1}", self.queries[q], a, b, right))
        grades = {scale: values[query[:, None, None], lists] for scale, values in self.grades.items()}
        return Questions(tuple(made), grades)


def by_scale(judgments: JudgmentsByScale | None, combinations: Iterable[Combination] = ()) -> dict[str, Judgments]:
    """Judgments by the name of their scale, checked to be on it and to include the scales of the combinations."""
    found: dict[str, Judgments] = {}
    if isinstance(judgments, Judgments):
        found[str(RelevanceScale(judgments.scale))] = judgments
    elif judgments is not None:
        if not judgments:
            raise AdjudgeError("expected judgments on at least one scale, got none")
        for name, judged in judgments.items():
            scale = relevance_scale(name)
            if scale.conversion is not None:
                raise AdjudgeError(f"expected judgments on the scale that assessors used, got {shown(name)}")
            outside = judged.grade[~scale.origin.contains(judged.grade)]
            if len(outside):
                raise AdjudgeError(f"expected grades on the scale {scale.origin}, got {outside[0]:g}")
            found[str(scale)] = judged
    for combination in combinations:
        if combination.origin not in found:
            known = ", ".join(found) or "none"
            raise AdjudgeError(f"{combination} needs judgments on {combination.origin}, got {known}")
    return found


@checked(k=LIST_LENGTH)
def material(judgments: JudgmentsByScale, combinations: Sequence[Combination] | None, k: int) -> Material:
    """The documents of each query that are judged on all scales of the combinations (all scales when None)."""
    import polars as pl

    given = by_scale(judgments, combinations or ())
    scales = list(given if combinations is None else dict.fromkeys(combination.origin for combination in combinations))
    on = " and ".join(scales)
    first, *others = (given[scale].pairs().rename({"grade": f"on {scale}"}) for scale in scales)
    frame = first
    for other in others:
        frame = frame.join(other, on=["query", "document"], how="inner", maintain_order="left")
    if frame.height == 0:
        raise AdjudgeError(f"expected documents judged on {on}, got none")
    groups = frame.group_by("query", maintain_order=True).agg(pl.all(), pl.len().alias("n documents"))
    kept = groups.filter(pl.col("n documents") >= k)
    if kept.height == 0:
        most = max(groups["n documents"].to_list())
        raise AdjudgeError(f"expected queries with at least {k} documents judged on {on}, got at most {most}")
    sizes = kept["n documents"].to_numpy().astype(np.int64)
    grades = {scale: np.full((len(sizes), int(sizes.max())), np.nan) for scale in scales}
    for scale, array in grades.items():
        array[np.arange(array.shape[1]) < sizes[:, None]] = kept[f"on {scale}"].explode().to_numpy()
    return Material(tuple(kept["query"]), tuple(map(tuple, kept["document"].to_list())), grades, sizes, k)


_MOST_VECTORS = 20_000  # lists told apart by levels that are worth a table


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
        """Whether all lists can be told apart by the levels of their documents."""
        return float(len(self.levels)) ** self.k <= _MOST_VECTORS

    @cached_property
    def level(self) -> Ints:
        """Level of each document, as a place in ``levels``; one more past the end."""
        return np.where(
            np.isnan(self.grades), len(self.levels), np.searchsorted(self.levels, np.nan_to_num(self.grades))
        ).astype(np.int64)

    @cached_property
    def vectors(self) -> Ints:
        """Every possible list, as the levels of its documents: (levels ** k, k)."""
        return np.indices((len(self.levels),) * self.k).reshape(self.k, -1).T

    @cached_property
    def supply(self) -> Ints:
        """How many documents of each level a query has: (queries, levels)."""
        return np.stack([(self.level == level).sum(axis=1) for level in range(len(self.levels))], axis=1)

    def attainable(self, supply: Ints) -> Ints:
        """Places in ``vectors`` of the lists that a query with this many documents of each level can have."""
        used = np.stack([(self.vectors == level).sum(axis=1) for level in range(len(supply))], axis=1)
        return np.flatnonzero((used <= supply).all(axis=1))

    def lists(self, grades: Floats) -> Lists:
        """Lists with these grades (lists, ranks), all judged; nothing else is known of their queries."""
        n, k = grades.shape
        lengths, places = np.full(n, k, dtype=np.int64), np.arange(n, dtype=np.int64)
        return Lists(
            grades, np.ones((n, k), dtype=np.bool_), lengths, -np.sort(-grades, axis=1), lengths, places, self.scale
        )

    def keys(self, query: Ints, lists: Ints) -> Ints | Lists:
        """What effectiveness follows from: the place in ``vectors`` of each list on a small scale, else the lists."""
        if not self.is_small:
            return self.lists(self.grades[query[:, None], lists])
        codes = np.zeros(len(lists), dtype=np.int64)
        for rank in range(self.k):
            codes = codes * len(self.levels) + self.level[query, lists[:, rank]]
        return codes


@dataclass(frozen=True)
class Evaluator:
    """Effectiveness of many lists at once, on every combination over the same material."""

    material: Material
    combinations: tuple[Combination, ...]

    @cached_property
    def graded(self) -> dict[str, Graded]:
        """The documents on each scale of the combinations."""
        found: dict[str, Graded] = {}
        for combination in self.combinations:
            scale, grades = combination.relevance, self.material.grades[combination.origin]
            if scale.conversion is None:
                found[combination.scale] = Graded(grades, scale.origin, self.material.k)
            elif combination.scale not in found:
                converted = np.where(np.isnan(grades), np.nan, scale.conversion(grades))
                found[combination.scale] = Graded(converted, scale.conversion.scale, self.material.k)
        return found

    def on(self, c: int) -> Graded:
        """The documents on the scale of a combination."""
        return self.graded[self.combinations[c].scale]

    @cached_property
    def tables(self) -> dict[int, Floats]:
        """Effectiveness of every vector of levels, for each combination on a small scale."""
        small = {scale: on.lists(on.levels[on.vectors]) for scale, on in self.graded.items() if on.is_small}
        return {c: one.parsed(small[one.scale]) for c, one in enumerate(self.combinations) if one.scale in small}

    def __call__(self, query: Ints, lists: Ints) -> Floats:
        """Effectiveness (lists, combinations) of lists (lists, k), which are columns of documents of their query."""
        keys = {scale: graded.keys(query, lists) for scale, graded in self.graded.items()}
        return np.stack([self._values(c, keys[one.scale]) for c, one in enumerate(self.combinations)], axis=1)

    def one(self, c: int, query: Ints, lists: Ints) -> Floats:
        """Effectiveness of lists on one combination."""
        return self._values(c, self.on(c).keys(query, lists))

    def _values(self, c: int, keys: Ints | Lists) -> Floats:
        return self.combinations[c].parsed(keys) if isinstance(keys, Lists) else self.tables[c][keys]


def aimed_lists(material: Material, query: Ints, rng: np.random.Generator) -> Ints:
    """One list for each of ``query``, over all levels of effectiveness: (lists, k) columns of documents.

    Each list aims at a grade for each of its ranks (the same for all; from one to another; or any) on one of the
    scales, and takes the nearest document that it does not have yet, give or take some luck.
    """
    n, k = len(query), material.k
    ends = rng.uniform(-0.1, 1.1, size=(2, n, 1))  # past the ends, so that the best and the worst come often
    way = np.linspace(0.0, 1.0, k) if k > 1 else np.zeros(1)
    kind = rng.choice(3, size=(n, 1), p=(0.35, 0.3, 0.35))
    any_ = rng.uniform(-0.1, 1.1, size=(n, k))
    two = np.where(rng.random((n, k)) < 0.5, ends[0], ends[1])  # some very good among some very bad
    loose = np.where(rng.random((n, 1)) < 0.5, any_, two)
    aim = np.where(kind == 0, ends[0], np.where(kind == 1, ends[0] + way * (ends[1] - ends[0]), loose))
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


def shuffled_lists(material: Material, query: Ints, rng: np.random.Generator) -> Ints:
    """One list of random documents for each of ``query``: (lists, k)."""
    filled = np.arange(int(material.sizes.max())) < material.sizes[query][:, None]
    keys = np.where(filled, rng.random(filled.shape), np.inf)
    return np.argsort(keys, axis=1, kind="stable")[:, : material.k]


_APART = 3.0  # between the keys of two queries: effectiveness plus a difference is at most 2
_CELLS = 20_000_000  # documents to choose from, over all lists of a pool


@dataclass(frozen=True)
class Candidates:
    """Pairs of lists: query (n,), lists (n, 2, k) and the absolute differences on every combination (n, c)."""

    query: Ints
    lists: Ints
    differences: Floats


@dataclass
class Pool:
    """Lists with their effectiveness on every combination, sorted when a combination is first asked for."""

    query: Ints
    lists: Ints
    values: Floats
    bins: int
    _sorted: dict[int, tuple[Ints, Floats]] = field(default_factory=dict)

    def pairs(self, c: int, b: int, anchors: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Up to one pair for each anchor: the anchor and a list that is better by a difference in the bin."""
        if c not in self._sorted:
            values = _APART * self.query + self.values[:, c]
            order = np.argsort(values, kind="stable")
            self._sorted[c] = order, values[order]
        order, keys = self._sorted[c]
        low, high = limits_of(b, self.bins)
        start = _APART * self.query[anchors] + self.values[anchors, c]
        first = np.searchsorted(keys, start + low)
        n = np.searchsorted(keys, np.minimum(start + high, _APART * self.query[anchors] + 1.5)) - first
        found = np.flatnonzero(n > 0)
        partner = order[first[found] + (rng.random(len(found)) * n[found]).astype(np.int64)]
        anchor = anchors[found]
        apart = anchor != partner
        return anchor[apart], partner[apart]


def make_pool(evaluator: Evaluator, size: int, bins: int, rng: np.random.Generator) -> Pool:
    """About ``size`` different lists, as many for each query; most aim at something, some are random."""
    material = evaluator.material
    size = min(size, _CELLS // int(material.sizes.max()))
    each = max(20, min(400, size // len(material)))
    query = np.repeat(np.arange(len(material), dtype=np.int64), each)
    if len(material) * each > 2 * size:  # more queries than a pool can serve: some of them
        some = rng.choice(len(material), size=max(1, size // each), replace=False)
        query = np.repeat(np.sort(some), each)
    lists = aimed_lists(material, query, rng)
    plain = np.arange(len(query)) % each < each // 10
    lists[plain] = shuffled_lists(material, query[plain], rng)
    kept = np.sort(np.unique(np.column_stack([query, lists]), axis=0, return_index=True)[1])
    query, lists = query[kept], lists[kept]
    return Pool(query, lists, evaluator(query, lists), bins)


_MOST_RANKS = 6  # whose permutations are few enough to try them all
_ROUNDS = 60  # of changing a document in each pair


@dataclass
class Search:
    """Looks for pairs of lists in a bin of a combination; remembers what it found out about queries."""

    evaluator: Evaluator
    bins: int
    _profiles: dict[str, tuple[Ints, list[Ints]]] = field(default_factory=dict)
    _able: dict[int, Mask] = field(default_factory=dict)
    _likely: dict[int, Mask] = field(default_factory=dict)

    def able(self, c: int, b: int) -> tuple[Mask, bool]:
        """Which queries may have two lists in the bin, and whether that is exact (else: no more than these can)."""
        is_small = self.evaluator.on(c).is_small
        if c not in self._able:
            self._able[c] = self._by_levels(c) if is_small else self._by_range(c)
        return self._able[c][:, b], is_small

    def _by_levels(self, c: int) -> Mask:
        """Bins that each query can reach, (queries, bins), from all lists that it can have."""
        profile, attainable = self._levels(c)
        edges = np.array([*(limits_of(b, self.bins)[0] for b in range(self.bins)), 2.0])
        can = np.zeros((len(attainable), self.bins), dtype=np.bool_)
        for place, codes in enumerate(attainable):
            values = np.unique(np.round(self.evaluator.tables[c][codes], 12))
            before = np.searchsorted(values, values[:, None] + edges)
            can[place] = (before[:, 1:] > before[:, :-1]).any(axis=0)
            near = len(values) < len(codes) or bool((np.diff(values) < edges[1]).any())
            supply = self.evaluator.on(c).supply[int(np.argmax(profile == place))]
            can[place, 0] = near or bool((supply > 1).any())  # equal documents make two lists without a difference
        return can[profile]

    def _by_range(self, c: int) -> Mask:
        """Bins that each query might reach, (queries, bins), as far as its best and its worst list lie apart.

        The best documents and the worst, in the orders that make their difference largest, differ most of all for a
        monotone measure: in any list, the best documents can take the places of others, the better ones those of the
        better ones, and no place gets worse. All orders are tried, for long lists only two.
        """
        material = self.evaluator.material
        k = material.k
        ordered = np.argsort(self.evaluator.on(c).grades, axis=1, kind="stable")  # NaN last
        best = np.take_along_axis(ordered, material.sizes[:, None] - k + np.arange(k), axis=1)
        every = permutations(range(k)) if k <= _MOST_RANKS else (range(k), range(k - 1, -1, -1))
        orders = np.array([list(order) for order in every])
        query = np.repeat(np.arange(len(material)), len(orders))
        high, low = (
            self.evaluator.one(c, query, lists[:, orders].reshape(-1, k)).reshape(len(lists), -1)
            for lists in (best, ordered[:, :k])
        )
        edges = np.array([limits_of(b, self.bins)[0] for b in range(self.bins)])
        within: Mask = (high.max(axis=1) - low.min(axis=1))[:, None] >= edges
        self._likely[c] = within
        is_proof = self.evaluator.combinations[c].parsed.monotone and k <= _MOST_RANKS
        return within if is_proof else np.ones(within.shape, dtype=np.bool_)

    def _levels(self, c: int) -> tuple[Ints, list[Ints]]:
        """Kind of each query, by how many documents of each level it has, and the lists that each kind can have."""
        scale = self.evaluator.combinations[c].scale
        if scale not in self._profiles:
            graded = self.evaluator.graded[scale]
            kinds, kind = np.unique(np.minimum(graded.supply, graded.k + 1), axis=0, return_inverse=True)
            self._profiles[scale] = kind.ravel().astype(np.int64), [graded.attainable(supply) for supply in kinds]
        return self._profiles[scale]

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
        graded, table = self.evaluator.on(c), self.evaluator.tables[c]
        low, high = limits_of(b, self.bins)
        vectors = np.empty((len(query), 2, graded.k), dtype=np.int64)
        for kind in np.unique(profile[query]):
            rows = np.flatnonzero(profile[query] == kind)
            codes = attainable[kind][np.argsort(table[attainable[kind]], kind="stable")]
            values = table[codes]
            first, last = np.searchsorted(values, values + low), np.searchsorted(values, values + high)
            starts = np.flatnonzero(last > first)
            start = rng.choice(starts, size=len(rows))
            partner = first[start] + (rng.random(len(rows)) * (last - first)[start]).astype(np.int64)
            vectors[rows] = graded.vectors[np.stack([codes[start], codes[partner]], axis=1)]
        return np.stack([_of_levels(graded, query, vectors[:, side], rng) for side in (0, 1)], axis=1)

    def _climbed(self, c: int, b: int, query: Ints, rng: np.random.Generator) -> Ints:
        """Pairs of lists that change document by document, nearer to the bin, and inside it in any way."""
        material = self.evaluator.material
        low, high = limits_of(b, self.bins)
        middle, width = (low + min(high, 1.0)) / 2, (min(high, 1.0) - low) / 2
        lists = np.stack([aimed_lists(material, query, rng) for _ in (0, 1)], axis=1)
        far = rng.random(len(query)) < (b + 1) / self.bins  # bins of large differences are near the ends
        lists[far] = self._ends(c, query[far], rng)
        values = np.stack([self.evaluator.one(c, query, lists[:, side]) for side in (0, 1)], axis=1)
        rows = np.arange(len(query))
        for _ in range(_ROUNDS):
            off = np.abs(np.abs(values[:, 0] - values[:, 1]) - middle)
            side = rng.integers(2, size=len(query))
            changed = _one_changed(lists[rows, side], material.sizes[query], rng)
            value = self.evaluator.one(c, query, changed)
            better = np.abs(np.abs(value - values[rows, 1 - side]) - middle) < np.maximum(off, width)
            lists[rows[better], side[better]] = changed[better]
            values[rows[better], side[better]] = value[better]
        return lists

    def _ends(self, c: int, query: Ints, rng: np.random.Generator) -> Ints:
        """Lists of the best and of the worst documents of each query, the better ones rather earlier and later."""
        material = self.evaluator.material
        grades = self.evaluator.on(c).grades[query]
        span = np.nanmax(grades) - np.nanmin(grades)
        noisy = grades + rng.random(grades.shape) * span * rng.choice([0.001, 0.05, 0.2], size=(len(query), 1))
        ordered = np.argsort(noisy, axis=1, kind="stable")  # NaN last
        best = np.take_along_axis(ordered, material.sizes[query][:, None] - 1 - np.arange(material.k), axis=1)
        return np.stack([best, ordered[:, : material.k]], axis=1)


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
class GeneratedQuestions:
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
) -> GeneratedQuestions:
    """Make questions such that every bin of abs(Δ) of every combination has at least ``per_bin``, if the data allow it.

    ``judgments`` are on one scale, or a mapping from scales to judgments; lists are made of documents that are judged
    on all scales that the combinations need. Lists have ``k`` different documents of one query, both may have some in
    common, and all questions differ. Which list is a and which is b is random. Queries take turns as far as they can,
    and none is used more than ``per_query`` times. The same seed makes the same questions.

    Bins that no two lists can reach are reported as impossible where that can be proven: always on scales with few
    levels (P@5 has no differences but multiples of .2), on other scales for bins beyond the best and the worst list
    of every query. Others that stay below ``per_bin`` are short. ``progress`` is called with the number of questions
    that all bins have and the number that they want.

    Thesis section 3.2.1; there 22,074 judgments, 95 combinations and 10 bins took 4,115 examples.

    >>> from adjudge.formats.reading import read_judgments
    >>> grades = {f"d{i}": i % 3 for i in range(12)}
    >>> made = make_questions(read_judgments({"q": grades}, scale="broad"), ["CG@2 on broad"], per_bin=4, bins=4, k=2)
    >>> len(made.questions), made.coverage.is_complete, made.coverage.counts.tolist()
    (16, True, [[4, 4, 4, 4]])
    """
    seed = as_seed(seed)
    known = as_combinations(combinations)
    evaluator = Evaluator(material(judgments, known, k), known)
    cap = np.inf if per_query is None else per_query
    greedy = _Greedy(evaluator, per_bin, bins, np.random.default_rng(seed), cap)
    while max_questions is None or len(greedy.query) < max_questions:
        if not greedy.fill_one():
            break
        if progress is not None:
            missing = int(np.maximum(per_bin - greedy.counts, 0)[~greedy.given_up].sum())
            progress(greedy.counts.size * per_bin - missing, greedy.counts.size * per_bin)
    if not greedy.query:
        raise AdjudgeError(f"expected judgments that allow two different lists of {k} documents of a query, got none")
    query, lists = np.array(greedy.query, dtype=np.int64), np.array(greedy.lists, dtype=np.int64)
    questions = evaluator.material.questions(query, lists, prefix="q")
    impossible: Mask = np.asarray(greedy.counts == 0)  # bins that there was no time to try included
    for c, b in np.argwhere(impossible).tolist():
        impossible[c, b] = not greedy.search.able(c, b)[0].any()
    return GeneratedQuestions(questions, covered(questions, known, greedy.counts, impossible, per_bin=per_bin), seed)


@dataclass
class _Greedy:
    """What has been made so far, and what is missing."""

    evaluator: Evaluator
    per_bin: int
    bins: int
    rng: np.random.Generator
    per_query: float
    query: list[int] = field(default_factory=list)
    lists: list[Ints] = field(default_factory=list)
    seen: set[tuple[int, ...]] = field(default_factory=set)
    reserve: dict[tuple[int, int], tuple[Candidates, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (len(self.evaluator.combinations), self.bins)
        self.counts = np.zeros(shape, dtype=np.int64)
        self.given_up = np.zeros(shape, dtype=np.bool_)
        self.used = np.zeros(len(self.evaluator.material))
        self.search = Search(self.evaluator, self.bins)
        self.pool: Pool = make_pool(self.evaluator, _POOL, self.bins, self.rng)

    def fill_one(self) -> bool:
        """Add a question to a bin with the fewest, or give the bin up; False when there is nothing left to do."""
        left = np.where((self.counts < self.per_bin) & ~self.given_up, self.counts, self.per_bin)
        if left.min() >= self.per_bin:
            return False
        c, b = divmod(int(self.rng.choice(np.flatnonzero(left == left.min()))), self.bins)
        if not any(found is not None and self._add_most_helpful(found) for found in self._offers(c, b)):
            self.given_up[c, b] = True
        return True

    def _offers(self, c: int, b: int) -> Iterator[Candidates | None]:
        """Pairs in the bin: from queries that were used little, from any that may be used, then made on purpose."""
        used = self.used[self.pool.query]
        for able in (np.flatnonzero(used <= np.median(self.used)), np.flatnonzero(used < self.per_query)):
            anchors = np.sort(able[self.rng.integers(len(able), size=2 * _SAMPLE)]) if len(able) else able
            one, other = self.pool.pairs(c, b, anchors, self.rng)
            if len(one) >= _SAMPLE // 16:
                some = self.rng.permutation(len(one))[:_SAMPLE]
                pair = np.stack([one[some], other[some]], axis=1)
                values = self.pool.values[pair]
                yield Candidates(
                    self.pool.query[pair[:, 0]], self.pool.lists[pair], np.abs(values[:, 0] - values[:, 1])
                )
        if not self.search.able(c, b)[0].any():
            return
        for _ in range(_TRIES):  # the pairs that a search finds serve a few times before the next search
            found, times = self.reserve.pop((c, b), (None, _REUSED))
            if times == _REUSED:
                welcome = np.where(self.used < self.per_query, 1.0 / (1.0 + self.used) ** 2, 0.0)
                found, times = self.search.find(c, b, 256, welcome, self.rng), 0
            if found is not None:
                self.reserve[c, b] = found, times + 1
            yield found

    def _add_most_helpful(self, found: Candidates) -> bool:
        """Add the new pair that adds most to bins that are far from full, of a query that was used little."""
        columns = np.arange(len(self.counts))
        need = np.maximum(self.per_bin - self.counts, 0) * ~self.given_up
        worth = (need / self.per_bin) ** _URGENCY
        hit = bin_of(found.differences, self.bins)
        gain = worth[columns, hit].sum(axis=1)
        score = gain / (1.0 + _BALANCE * self.used[found.query] / (self.used.mean() + 1.0))
        for place in np.argsort(-score, kind="stable"):
            a, b = found.lists[place].tolist()
            query = int(found.query[place])
            key = (query, *min(a, b), *max(a, b))
            if a != b and key not in self.seen and self.used[query] < self.per_query:
                self.seen.add(key)
                self.query.append(query)
                self.lists.append(found.lists[place] if self.rng.random() < 0.5 else found.lists[place][::-1])
                self.used[query] += 1
                self.counts[columns, hit[place]] += 1
                return True
        return False


_LOOKED_AT = 20_000  # pairs of lists to choose from
_NONE = -1  # past the end of a list


@dataclass(frozen=True)
class SystemQuestions:
    """Questions from runs, and what was left out.

    ``n_identical`` pairs of systems retrieved the same list for a query; ``n_repeated`` pairs of lists are those of
    another pair of systems, too, and are asked once; ``n_empty`` lists have no document.
    """

    questions: Questions
    n_identical: int
    n_repeated: int
    n_empty: int

    def __str__(self) -> str:
        asked = self.questions.questions
        systems = {name for question in asked for name in question.systems or ()}
        return (
            f"{counted(len(asked), 'question')} of {counted(len(set(self.questions.queries)), 'query')} and "
            f"{counted(len(systems), 'system')}; {counted(self.n_identical, 'pair')} of identical lists, "
            f"{counted(self.n_repeated, 'repeated pair')}, {counted(self.n_empty, 'empty list')}."
        )


@checked(k=LIST_LENGTH, n=COUNT, per_pair=COUNT, bins=QUESTION_BINS, seed=SEED)
def questions_from_runs(
    collection: Collection,
    *,
    k: int = 5,
    pairs: Sequence[tuple[str, str]] | None = None,
    n: int | None = None,
    per_pair: int | None = None,
    judgments: JudgmentsByScale | None = None,
    combinations: Iterable[Combination | str] = (),
    bins: int = 10,
    identical: bool = False,
    seed: Seed = 0,
) -> SystemQuestions:
    """Ask about the first ``k`` documents of real systems: ``n`` questions in all, or ``per_pair`` for each pair.

    Without either, everything is asked that can be. Queries, systems and pairs of systems take turns; with
    ``combinations``, so do the ``bins`` of ``|Δ|`` of each, as far as lists are judged. Lists that are the same are
    left out unless ``identical`` is set. ``pairs`` names the pairs of systems, all when None. Grades come from
    ``judgments``, or from the collection's own.

    >>> from adjudge.formats import read
    >>> runs = {"x": {"q": ["d1", "d2"]}, "y": {"q": ["d3", "d1"]}, "z": {"q": ["d1", "d2"]}}
    >>> made = questions_from_runs(read(runs, {"q": {"d1": 2, "d2": 0, "d3": 1}}, scale="broad"), k=2)
    >>> print(made)
    1 question of 1 query and 2 systems; 1 pair of identical lists, 1 repeated pair, 0 empty lists.
    >>> sorted(made.questions.effectiveness("CG@2", "broad")[0].tolist())
    [0.5, 0.75]
    """
    rng = np.random.default_rng(as_seed(seed))
    known = as_combinations(combinations) if (combinations := list(combinations)) else ()
    graded = by_scale(collection.judgments if judgments is None else judgments, known)
    tops = np.full((len(collection.systems), len(collection.queries), k), _NONE, dtype=np.int64)
    for place, run in enumerate(collection.runs):  # document codes at the first k ranks
        rank = np.arange(len(run.documents)) - np.repeat(run.offsets[:-1], run.lengths)
        first = rank < k
        tops[place, run.query_codes[first], rank[first]] = run.documents[first]
    offers, left_out = _offers(_pairs(collection.systems, pairs), tops, identical=identical, rng=rng)
    if not len(offers):
        raise AdjudgeError("expected two systems with different lists for a query, got none")
    if n is not None or per_pair is not None:
        wanted = len(offers) if n is None or per_pair is not None else min(n, len(offers))
        offers = offers[: max(_LOOKED_AT, 4 * wanted)]
    everything = _as_questions(collection, tops, offers, rng)
    for scale, judged in graded.items():
        everything = everything.with_grades(scale, judged.by_pair())
    if n is None and per_pair is None:
        chosen = np.lexsort((offers[:, 1], offers[:, 0]))
    else:
        counts = np.zeros((len(known), bins))
        chosen = _take_turns(offers, len(tops), bins_of(everything, known, bins), counts, rng, n=n, per_pair=per_pair)
    picked = everything.select(chosen)
    renamed = tuple(replace(question, name=f"q{i}") for i, question in enumerate(picked.questions, 1))
    return SystemQuestions(Questions(renamed, picked.grades), *left_out)


def _pairs(systems: tuple[str, ...], pairs: Sequence[tuple[str, str]] | None) -> Ints:
    """Places of the systems of each pair: (pairs, 2)."""
    if len(systems) < 2:
        raise NotEnoughDataError(f"expected runs of at least two systems, got {len(systems)}")
    if pairs is None:
        return np.array(list(pairs_of(range(len(systems)), 2)), dtype=np.int64)
    for name in (name for pair in pairs for name in pair):
        if name not in systems:
            raise unknown("system", name, systems)
    alone = next((one for one, other in pairs if one == other), None)
    if alone is not None:
        raise AdjudgeError(f"expected pairs of two systems, got {shown(alone)} twice")
    return np.array([[systems.index(name) for name in pair] for pair in pairs], dtype=np.int64).reshape(-1, 2)


def _offers(pairs: Ints, tops: Ints, *, identical: bool, rng: np.random.Generator) -> tuple[Ints, tuple[int, int, int]]:
    """Everything that could be asked, each two lists once, in random order; and how much is left out, and why.

    Offers have four columns: the query, the pair, and the two systems of the pair.
    """
    n_systems, n_queries, k = tops.shape
    ids = np.unique(tops.reshape(-1, k), axis=0, return_inverse=True)[1].reshape(n_systems, n_queries)
    there = tops[:, :, 0] != _NONE
    pair, query = (places.ravel() for places in np.indices((len(pairs), n_queries)))
    order = rng.permutation(len(pair))
    pair, query = pair[order], query[order]
    one, other = pairs[pair].T
    asked = there[one, query] & there[other, query]
    same = asked & (ids[one, query] == ids[other, query])
    kept = np.flatnonzero(asked if identical else asked & ~same)
    low, high = np.sort(np.stack([ids[one, query], ids[other, query]]), axis=0)[:, kept]
    first = np.sort(np.unique(np.stack([query[kept], low, high]), axis=1, return_index=True)[1])
    offers = np.stack([query, pair, one, other], axis=1)[kept[first]]
    n_empty = int((~there[:, there.any(axis=0)]).sum())
    return offers, (int(same.sum()), len(kept) - len(offers), n_empty)


def _as_questions(collection: Collection, tops: Ints, offers: Ints, rng: np.random.Generator) -> Questions:
    """The offers as questions; chance decides which system is a."""
    swapped = rng.random(len(offers)) < 0.5
    sides = np.where(swapped[:, None], offers[:, [3, 2]], offers[:, [2, 3]])
    names, documents, systems = collection.queries[:], collection.documents[:], collection.systems
    made = []
    for place, (query, (a, b)) in enumerate(zip(offers[:, 0].tolist(), sides.tolist(), strict=True)):
        lists = [tuple(documents[d] for d in tops[side, query].tolist() if d != _NONE) for side in (a, b)]
        made.append(Question(str(place), names[query], lists[0], lists[1], systems=(systems[a], systems[b])))
    return Questions(tuple(made))


def _take_turns(
    offers: Ints,
    n_systems: int,
    hits: Ints,
    counts: Floats,
    rng: np.random.Generator,
    *,
    n: int | None,
    per_pair: int | None,
) -> Ints:
    """Places of up to ``n`` offers, up to ``per_pair`` per pair: next is always the least used query, systems and bins.

    ``hits`` are the bins of each offer, (offers, combinations); ``counts`` the offers taken in each bin.
    """
    query, pair, one, other = offers.T
    queries, pairs, systems = (np.zeros(size) for size in (query.max() + 1, pair.max() + 1, n_systems))
    columns = np.arange(len(counts))
    left = np.ones(len(offers), dtype=np.bool_)
    luck = rng.random(len(left)) * 1e-3
    taken: list[int] = []
    while left.any() and (n is None or len(taken) < n):
        by_query, by_pair, by_system = (used / (used.mean() + 1.0) for used in (queries, pairs, systems))
        cost = luck + by_query[query] + by_pair[pair]
        cost += (by_system[one] + by_system[other]) / 2
        if len(columns):
            worth = 1.0 / (1.0 + counts)
            gain = np.where(hits >= 0, worth[columns, hits], 0.0).mean(axis=1)
            cost -= 3.0 * gain / max(float(gain[left].max()), 1e-12)
        place = int(np.where(left, cost, np.inf).argmin())
        taken.append(place)
        left[place] = False
        queries[query[place]] += 1
        pairs[pair[place]] += 1
        systems[offers[place, 2:]] += 1
        known = hits[place] >= 0
        counts[columns[known], hits[place, known]] += 1
        if per_pair is not None and pairs[pair[place]] >= per_pair:
            left &= pair != pair[place]
    return np.array(taken, dtype=np.int64)
