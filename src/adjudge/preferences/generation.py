"""Making questions from judgments: pairs of artificial lists such that every bin has enough.

The thesis (section 3.2.1) picks the combination of measure, scale and bin with the fewest examples, makes an example
that falls in it, counts it in the bins of all other combinations, and goes on until all have enough or the judgments
allow no more. Here the example is chosen among many that would do: the one that helps most other bins that are
not full yet, and the scarcest first, so that fewer questions suffice, which is what a study costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from adjudge.arrays import Ints, Mask
from adjudge.checks import check_whole
from adjudge.errors import AdjudgeError
from adjudge.preferences.combinations import Combination, as_combinations
from adjudge.preferences.coverage import Coverage, covered
from adjudge.preferences.generation_data import JudgmentsByScale, Material, material
from adjudge.preferences.generation_lists import Evaluator
from adjudge.preferences.generation_pool import Candidates, Pool, make_pool
from adjudge.preferences.generation_search import Search
from adjudge.preferences.questions import Questions
from adjudge.users.binning import bin_of

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


def make_questions(
    judgments: JudgmentsByScale,
    combinations: Iterable[Combination | str],
    *,
    per_bin: int = 200,
    bins: int = 10,
    k: int = 5,
    seed: int = 0,
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
    known = as_combinations(combinations)
    check_whole("per_bin", per_bin, 1, 100_000)
    check_whole("bins", bins, 1, 100)
    check_whole("seed", seed, 0)
    if max_questions is not None:
        check_whole("max_questions", max_questions, 1)
    stuff = material(judgments, known, k)
    cap = np.inf if per_query is None else check_whole("per_query", per_query, 1)
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
