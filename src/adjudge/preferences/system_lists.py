"""Questions from the lists of real systems: a query, and what two systems retrieved for it.

Real lists are alike more often than not, so that large differences are rare (thesis section 3.2.1 makes artificial ones
for that reason); but they are what users will see, and what the share of differences that they notice is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations as pairs_of

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import COUNT, LIST_LENGTH, QUESTION_BINS, SEED, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError, shown, unknown
from adjudge.model.collection import Collection
from adjudge.model.judgments import Judgments
from adjudge.preferences.generation import by_scale
from adjudge.preferences.questions import Combination, Question, Questions, as_combinations
from adjudge.seeds import Seed, as_seed
from adjudge.users.curves import bin_of

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
        systems = {name for one in asked if one.systems is not None for name in one.systems}
        return (
            f"{len(asked):,} questions of {len({one.query for one in asked}):,} queries and {len(systems):,} systems; "
            f"{self.n_identical:,} pairs of lists are identical, {self.n_repeated:,} come more than once, "
            f"{self.n_empty:,} lists are empty."
        )


@checked(k=LIST_LENGTH, n=COUNT, per_pair=COUNT, bins=QUESTION_BINS, seed=SEED)
def questions_from_runs(
    collection: Collection,
    *,
    k: int = 5,
    pairs: Sequence[tuple[str, str]] | None = None,
    n: int | None = None,
    per_pair: int | None = None,
    judgments: Judgments | Mapping[str, Judgments] | None = None,
    combinations: Iterable[Combination | str] = (),
    bins: int = 10,
    identical: bool = False,
    seed: Seed = 0,
) -> SystemQuestions:
    """Ask about the first ``k`` documents of real systems: ``n`` questions in all, or ``per_pair`` for each pair.

    Without either, everything is asked that can be. Queries, systems and pairs of systems take turns; with
    ``combinations``, so do the ``bins`` of ``|Δ|`` of each, as far as lists are judged. Lists that are the same are
    left out unless ``identical`` wants them. ``pairs`` names the pairs of systems, all when None. Grades come from
    ``judgments``, or from the collection's own.

    >>> from adjudge.formats import read
    >>> runs = {"x": {"q": ["d1", "d2"]}, "y": {"q": ["d3", "d1"]}, "z": {"q": ["d1", "d2"]}}
    >>> made = questions_from_runs(read(runs, {"q": {"d1": 2, "d2": 0, "d3": 1}}, scale="broad"), k=2)
    >>> print(made)
    1 questions of 1 queries and 2 systems; 1 pairs of lists are identical, 1 come more than once, 0 lists are empty.
    >>> sorted(made.questions.effectiveness("CG@2", "broad")[0].tolist())
    [0.5, 0.75]
    """
    seed = as_seed(seed)
    known = as_combinations(combinations) if (combinations := list(combinations)) else ()
    rng = np.random.default_rng(seed)
    graded = {} if judgments is None and collection.judgments is None else by_scale(
        judgments if judgments is not None else collection.need_judgments()
    )  # fmt: skip
    lacking = next((one for one in known if one.origin not in graded), None)
    if lacking is not None:
        raise AdjudgeError(f"{lacking} needs judgments on {lacking.origin}, got {', '.join(graded) or 'none'}")
    tops = _tops(collection, k)
    offers, left_out = _offers(collection.systems, tops, pairs, identical=identical, rng=rng)
    if not len(offers.query):
        raise AdjudgeError("expected two systems with different lists for a query, got none")
    if n is not None or per_pair is not None:
        wanted = (n or len(offers.query)) if per_pair is None else len(offers.query)
        offers = offers.select(np.arange(max(_LOOKED_AT, 4 * min(wanted, len(offers.query))), dtype=np.int64))
    everything = _as_questions(collection, tops, offers, graded, rng)
    if n is None and per_pair is None:
        chosen = np.lexsort((offers.pair, offers.query))
    else:
        chosen = _Choice(offers, _hits(everything, known, bins), bins, len(collection.systems)).take(n, per_pair, rng)
    picked = everything.select(chosen)
    renamed = tuple(
        Question(f"q{i}", one.query, one.a, one.b, systems=one.systems) for i, one in enumerate(picked.questions, 1)
    )
    return SystemQuestions(Questions(renamed, picked.grades), *left_out)


@dataclass(frozen=True)
class _Offers:
    """Pairs of lists that could be asked about: query codes and places of systems, (n,) each."""

    query: Ints
    one: Ints
    other: Ints
    pair: Ints

    def select(self, places: Ints) -> _Offers:
        places = places[places < len(self.query)]
        return _Offers(self.query[places], self.one[places], self.other[places], self.pair[places])


def _tops(collection: Collection, k: int) -> Ints:
    """Document codes at the first k ranks: (systems, queries, k), -1 past the end of a list."""
    n_queries = len(collection.queries)
    tops = np.full((len(collection.systems), n_queries, k), _NONE, dtype=np.int64)
    for place, run in enumerate(collection.runs):
        rank = np.arange(len(run.documents)) - np.repeat(run.offsets[:-1], run.lengths)
        first = rank < k
        tops[place, run.query_codes[first], rank[first]] = run.documents[first]
    return tops


def _offers(
    systems: tuple[str, ...],
    tops: Ints,
    pairs: Sequence[tuple[str, str]] | None,
    *,
    identical: bool,
    rng: np.random.Generator,
) -> tuple[_Offers, tuple[int, int, int]]:
    """Everything that could be asked, in random order, each two lists once; and how much is left out, and why."""
    chosen = np.array(_pairs(systems, pairs), dtype=np.int64).reshape(-1, 2)
    n_systems, n_queries, k = tops.shape
    ids = np.unique(tops.reshape(-1, k), axis=0, return_inverse=True)[1].reshape(n_systems, n_queries)
    there = tops[:, :, 0] != _NONE
    pair, query = (found.ravel() for found in np.indices((len(chosen), n_queries)))
    order = rng.permutation(len(pair))
    pair, query = pair[order], query[order]
    one, other = chosen[pair].T
    asked = there[one, query] & there[other, query]
    same = asked & (ids[one, query] == ids[other, query])
    kept = np.flatnonzero(asked if identical else asked & ~same)
    low, high = np.sort(np.stack([ids[one, query], ids[other, query]]), axis=0)[:, kept]
    first = np.sort(np.unique(np.stack([query[kept], low, high]), axis=1, return_index=True)[1])
    final = kept[first]
    offers = _Offers(query[final], one[final], other[final], pair[final])
    retrieved = there.any(axis=0)
    return offers, (int(same.sum()), len(kept) - len(final), int((~there[:, retrieved]).sum()))


def _pairs(systems: tuple[str, ...], pairs: Sequence[tuple[str, str]] | None) -> list[tuple[int, int]]:
    if len(systems) < 2:
        raise NotEnoughDataError(f"expected runs of at least two systems, got {len(systems)}")
    if pairs is None:
        return list(pairs_of(range(len(systems)), 2))
    for name in (name for pair in pairs for name in pair):
        if name not in systems:
            raise unknown("system", name, systems)
    found = [(systems.index(one), systems.index(other)) for one, other in pairs]
    alone = next((systems[one] for one, other in found if one == other), None)
    if alone is not None:
        raise AdjudgeError(f"expected pairs of two systems, got {shown(alone)} twice")
    return found


def _as_questions(
    collection: Collection, tops: Ints, offers: _Offers, graded: Mapping[str, Judgments], rng: np.random.Generator
) -> Questions:
    """The offers as questions with grades; luck says which system is a."""
    swapped = rng.random(len(offers.query)) < 0.5
    first, second = np.where(swapped, offers.other, offers.one), np.where(swapped, offers.one, offers.other)
    names, documents, systems = collection.queries[:], collection.documents[:], collection.systems
    made = []
    for place, (query, a, b) in enumerate(zip(offers.query.tolist(), first.tolist(), second.tolist(), strict=True)):
        lists = [tuple(documents[d] for d in tops[side, query].tolist() if d != _NONE) for side in (a, b)]
        made.append(Question(str(place), names[query], lists[0], lists[1], systems=(systems[a], systems[b])))
    questions = Questions(tuple(made))
    for scale, judgments in graded.items():
        questions = questions.with_grades(scale, judgments.by_pair())
    return questions


def _hits(questions: Questions, combinations: Sequence[Combination], bins: int) -> Ints:
    """Bin of every question on every combination, (questions, combinations); -1 where it is not judged."""
    found = np.full((len(questions), len(combinations)), -1, dtype=np.int64)
    for place, one in enumerate(combinations):
        values = questions.effectiveness(one.measure, one.scale)
        found[:, place] = bin_of(np.abs(values[:, 0] - values[:, 1]), bins)
    return found


@dataclass
class _Choice:
    """Chooses one question after the other, the one whose query, systems, pair and bins had the fewest so far."""

    offers: _Offers
    hits: Ints
    bins: int
    n_systems: int
    taken: list[int] = field(default_factory=list)

    def take(self, n: int | None, per_pair: int | None, rng: np.random.Generator) -> Ints:
        """Places of up to ``n`` questions, and up to ``per_pair`` of each pair of systems."""
        offers = self.offers
        queries, systems = np.zeros(int(offers.query.max()) + 1), np.zeros(self.n_systems)
        pairs, counts = np.zeros(int(offers.pair.max()) + 1), np.zeros((self.hits.shape[1], self.bins))
        left = np.ones(len(offers.query), dtype=np.bool_)
        luck = rng.random(len(left)) * 1e-3
        columns = np.arange(self.hits.shape[1])
        while left.any() and (n is None or len(self.taken) < n):
            cost = luck + _over(queries)[offers.query] + _over(pairs)[offers.pair]
            cost += (_over(systems)[offers.one] + _over(systems)[offers.other]) / 2
            if len(columns):
                worth = 1.0 / (1.0 + counts)
                gain = np.where(self.hits >= 0, worth[columns, self.hits], 0.0).mean(axis=1)
                cost -= 3.0 * gain / max(float(gain[left].max()), 1e-12)
            place = int(np.where(left, cost, np.inf).argmin())
            self.taken.append(place)
            left[place] = False
            queries[offers.query[place]] += 1
            systems[[offers.one[place], offers.other[place]]] += 1
            pairs[offers.pair[place]] += 1
            known = self.hits[place] >= 0
            counts[columns[known], self.hits[place, known]] += 1
            if per_pair is not None and pairs[offers.pair[place]] >= per_pair:
                left &= offers.pair != offers.pair[place]
        return np.array(self.taken, dtype=np.int64)


def _over(used: Floats) -> Floats:
    """How often something was used, against the average."""
    share: Floats = used / (used.mean() + 1.0)
    return share
