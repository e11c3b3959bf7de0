"""Candidates: every pair of query and document that could be judged, and which systems retrieved it.

Pairs, queries and systems are in the order of their identifiers, whatever the order of the files: the same data give
the same numbers to the last bit, and ties are broken by a seed, never by a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import CUTOFF, Kind, checked
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.model.collection import SIMILARITY, Collection, Similarity, similarities
from adjudge.model.judgments import Judgments
from adjudge.model.runs import Run
from adjudge.model.scales import Scale
from adjudge.text import counted, listed

Opinion = Mapping[tuple[str, str], float]
"""Grades that a machine gives pairs of query and document."""
_AT_ONCE = 256  # documents whose similarity is asked for at a time


@dataclass(frozen=True, eq=False)
class Answers:
    """Who gave which pair what relevance, by pair and name of the assessor.

    ``turn`` says in which order they were given; all are 0 where that is not known, as in a file.
    """

    assessors: tuple[str, ...]
    pair: Ints
    assessor: Ints
    relevance: Floats
    turn: Ints

    def part(self, pairs: Ints) -> Answers:
        """The answers about some pairs (ascending), numbered as those."""
        kept = np.isin(self.pair, pairs)
        pair = np.searchsorted(pairs, self.pair[kept])
        return Answers(self.assessors, pair, self.assessor[kept], self.relevance[kept], self.turn[kept])

    def mean(self, n_pairs: int) -> Floats:
        """Mean relevance of each pair, NaN where nobody judged."""
        n, total = (np.bincount(self.pair, weights, minlength=n_pairs) for weights in (None, self.relevance))
        mean: Floats = np.divide(total, n, out=np.full(n_pairs, np.nan), where=n > 0)
        return mean

    @classmethod
    def of(cls, given: Mapping[tuple[int, str], float]) -> Answers:
        """Answers from relevance by pair and assessor, in the order in which they were given."""
        names = tuple(sorted({name for _, name in given}))
        place = {name: i for i, name in enumerate(names)}
        turn = {answer: i for i, answer in enumerate(given)}
        ordered = sorted(given)
        return cls(
            names,
            np.array([pair for pair, _ in ordered], dtype=np.int64),
            np.array([place[name] for _, name in ordered], dtype=np.int64),
            np.array([given[answer] for answer in ordered], dtype=np.float64),
            np.array([turn[answer] for answer in ordered], dtype=np.int64),
        )


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of query and document, in the order of their identifiers.

    A pair is a candidate when a system retrieved it in its first ``cutoff`` documents, or when it was judged. Entries
    say who retrieved what: ``entry_system[e]`` has pair ``entry_pair[e]`` at ``entry_rank[e]`` (from 1), by ascending
    pair. ``relevance`` is grade / highest grade of the scale, NaN where a pair is not judged. Teams, artists and genres
    are codes; -1 is unknown. ``similarity`` says how alike documents are, by their sound for example. ``answers`` are
    the judgments one by one where it is known who made them, as long as ``relevance`` is their mean.
    """

    queries: tuple[str, ...]
    systems: tuple[str, ...]
    scale: Scale
    cutoff: int
    query: Ints
    document: tuple[str, ...]
    entry_pair: Ints
    entry_system: Ints
    entry_rank: Ints
    relevance: Floats
    team: Ints
    artist: Ints
    genre: Ints
    query_artist: Ints
    query_genre: Ints
    opinions: Mapping[str, Floats] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    similarity: Similarity | None = None
    answers: Answers | None = None

    def __post_init__(self) -> None:
        if self.answers is not None and not _same(self.answers.mean(len(self)), self.relevance):
            object.__setattr__(self, "answers", None)

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        return (
            f"Candidates({len(self):,} pairs of {self.n_queries} queries, {self.n_systems} systems at {self.cutoff}, "
            f"{int(self.judged.sum()):,} judged)"
        )

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.queries)

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.systems)

    @cached_property
    def judged(self) -> Mask:
        """Which pairs are judged already."""
        return np.logical_not(np.isnan(self.relevance))

    @cached_property
    def offsets(self) -> Ints:
        """Pairs of query q are those from ``offsets[q]`` up to ``offsets[q + 1]``."""
        return np.searchsorted(self.query, np.arange(self.n_queries + 1)).astype(np.int64)

    def rows(self, query: int) -> slice:
        """The places of the pairs of a query."""
        return slice(int(self.offsets[query]), int(self.offsets[query + 1]))

    @cached_property
    def n_retrieving(self) -> Ints:
        """Number of systems that retrieved each pair; 0 for pairs that were only judged."""
        return np.bincount(self.entry_pair, minlength=len(self)).astype(np.int64)

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        names = (self.queries[q] for q in self.query)
        return {pair: i for i, pair in enumerate(zip(names, self.document, strict=True))}

    def __contains__(self, pair: object) -> bool:
        """Whether a query and a document are one of the pairs."""
        return pair in self._places

    def find(self, query: str, document: str) -> int:
        """The place of a pair; refused where it is no candidate."""
        place = self._places.get((query, document))
        if place is None:
            why = "no system answered that query" if query not in self.queries else f"not in the first {self.cutoff}"
            raise AdjudgeError(f"Document {shown(document)} of query {shown(query)} is no candidate: {why}.")
        return place

    def part(self, *, queries: Sequence[int], systems: Sequence[int]) -> Candidates:
        """The candidates of these systems and queries alone.

        Queries that none of the systems answered are left out, as :func:`candidates` leaves them out.
        """
        kept_systems = _sorted_places("systems", systems, self.n_systems)
        asked = np.isin(self.query[self.entry_pair], _sorted_places("queries", queries, self.n_queries))
        entry = np.isin(self.entry_system, kept_systems) & asked
        pairs, entry_pair = np.unique(self.entry_pair[entry], return_inverse=True)
        if not len(pairs):
            raise AdjudgeError("Expected systems that answer some of the queries, got none that does.")
        kept_queries = np.unique(self.query[pairs])
        return replace(
            self,
            queries=tuple(self.queries[q] for q in kept_queries),
            systems=tuple(self.systems[s] for s in kept_systems),
            query=np.searchsorted(kept_queries, self.query[pairs]),
            document=tuple(self.document[i] for i in pairs),
            entry_pair=entry_pair,
            entry_system=np.searchsorted(kept_systems, self.entry_system[entry]),
            entry_rank=self.entry_rank[entry],
            relevance=self.relevance[pairs],
            team=self.team[kept_systems],
            artist=self.artist[pairs],
            genre=self.genre[pairs],
            query_artist=self.query_artist[kept_queries],
            query_genre=self.query_genre[kept_queries],
            opinions={name: column[pairs] for name, column in self.opinions.items()},
            answers=self.answers and self.answers.part(pairs),
        )

    def retrieved(self) -> Candidates:
        """The candidates that some system retrieved, without those that were only judged."""
        return self.part(queries=range(self.n_queries), systems=range(self.n_systems))

    def of_judged_queries(self) -> Candidates:
        """The candidates of queries with judgments, if only of irrelevant documents; a note counts the others.

        Runs often answer more queries than were judged.
        """
        kept = np.unique(self.query[self.judged])
        if not len(kept):
            raise AdjudgeError("Expected judgments of candidates, got none.")
        if not (n_lost := self.n_queries - len(kept)):
            return self
        note = (
            f"{n_lost:,} of {counted(self.n_queries, 'query')} {'is' if n_lost == 1 else 'are'} left out: not judged."
        )
        pool = self.part(queries=kept.tolist(), systems=range(self.n_systems))
        return replace(pool, notes=(*pool.notes, note))

    def unjudged(self) -> Candidates:
        """The same candidates before anybody judged."""
        return replace(self, relevance=np.full(len(self), np.nan))

    def judged_as(self, grades: Mapping[tuple[str, str], float]) -> Candidates:
        """The same candidates with these judgments alone: grades by query and document."""
        relevance = np.full(len(self), np.nan)
        for (query, document), grade in grades.items():
            relevance[self.find(query, document)] = self.to_relevance(grade)
        return replace(self, relevance=relevance)

    def with_answers(self, given: Mapping[tuple[int, str], float]) -> Candidates:
        """The same candidates with these judgments alone: relevance by pair and assessor."""
        answers = Answers.of(given)
        return replace(self, relevance=answers.mean(len(self)), answers=answers)

    def first_relevance(self) -> Floats:
        """Relevance of each pair by the answer that was given first, NaN where it is not judged.

        Where it is not known which came first, it is the mean of all.
        """
        if self.answers is None:
            return self.relevance.copy()
        pair, turn = self.answers.pair, self.answers.turn
        earliest = np.full(len(self), np.iinfo(np.int64).max)
        np.minimum.at(earliest, pair, turn)
        first = turn == earliest[pair]
        return replace(self.answers, pair=pair[first], relevance=self.answers.relevance[first]).mean(len(self))

    def without_metadata(self) -> Candidates:
        """The same candidates without artists and genres."""
        nothing, none = np.full(len(self), -1), np.full(self.n_queries, -1)
        return replace(self, artist=nothing, genre=nothing, query_artist=none, query_genre=none)

    def without_similarity(self) -> Candidates:
        """The same candidates without the similarity of documents."""
        return replace(self, similarity=None)

    def to_relevance(self, grade: float) -> float:
        """A grade as a share of the highest; negative grades count as 0."""
        if not isinstance(grade, Real) or not self.scale.minimum <= grade <= self.scale.maximum:
            raise AdjudgeError(f"Expected a grade on the scale {self.scale}, got {shown(grade)}.")
        return max(float(grade), 0.0) / self.scale.maximum


def _same(relevance: Floats, other: Floats) -> bool:
    return np.allclose(relevance, other, rtol=0.0, atol=1e-9, equal_nan=True)


CANDIDATES = Kind(Candidates, "candidates (from adjudge.relevance.find_candidates)")
OPINIONS = Kind(Mapping, "machine opinions by name")


@checked(cutoff=CUTOFF, opinions=OPINIONS, similarity=SIMILARITY)
def candidates(
    collection: Collection,
    *,
    cutoff: int,
    scale: Scale | None = None,
    opinions: Mapping[str, Opinion] | None = None,
    similarity: Similarity | None = None,
) -> Candidates:
    """The candidates of a collection, judged or not.

    ``opinions`` are columns of machine opinions by (query, document), NaN or left out where there is none.
    ``similarity`` is that of documents, by their sound for example; it must know some of them. ``scale`` is needed
    where nothing is judged yet. Judgments of queries that no system answered are left out with a warning. Lists may be
    of any length: ranks without a document add nothing to a score. ``notes`` say both. A system without a team is a
    team of its own.

    >>> import adjudge as aj
    >>> candidates(aj.demo(depth=5), cutoff=5)
    Candidates(2,050 pairs of 60 queries, 12 systems at 5, 2,050 judged)
    """
    judgments = collection.judgments if collection.judgments is not None and len(collection.judgments) else None
    used = scale or (None if judgments is None else judgments.scale)
    if used is None:
        raise AdjudgeError(
            "Expected a scale, as nothing is judged yet: broad, fine, binary or an interval such as 0..4"
        )
    systems = tuple(sorted(collection.systems))
    runs = [collection.runs[collection.systems.index(name)] for name in systems]
    answered = np.zeros(len(collection.queries), dtype=np.bool_)
    for run in runs:
        answered[: len(run.lengths)] |= run.lengths > 0
    if not answered.any():
        raise AdjudgeError("Expected runs with documents, got empty ones.")
    rows = _Rows(collection, runs, answered, cutoff)
    notes = _short_lists(runs, answered, cutoff)
    if judgments is not None and (n_lost := rows.add_judgments(judgments)):
        lost = f"{counted(n_lost, 'judgment')} {'is' if n_lost == 1 else 'are'} left out: no system answered the query."
        warn(lost, stacklevel=2)
        notes.insert(0, lost)
    if judgments is not None and scale is None:
        notes += judgments.notes  # the scale was inferred
    pool = rows.candidates(collection, systems, used, opinions or {})
    return replace(pool, notes=(*notes, *_unknown_documents(pool, similarity)), similarity=similarity)


class _Rows:
    """Retrieved and judged pairs as keys, query << 32 | document, with queries and documents in alphabetical order."""

    def __init__(self, collection: Collection, runs: list[Run], answered: Mask, cutoff: int) -> None:
        self.cutoff = cutoff
        self.query_of = _alphabetical(collection.queries[:], answered)  # -1 where no system answered
        self.documents = np.asarray(collection.documents.strings.arg_sort().to_numpy(), dtype=np.int64)
        self.place = np.argsort(self.documents)
        keys, systems, ranks = [], [], []
        for s, run in enumerate(run.cut(cutoff) for run in runs):
            keys.append((self.query_of[run.query_codes] << 32) | self.place[run.documents])
            systems.append(np.full(len(run.documents), s))
            ranks.append(np.arange(len(run.documents)) - np.repeat(run.offsets[:-1], run.lengths) + 1)
        self.key, self.system, self.rank = np.concatenate(keys), np.concatenate(systems), np.concatenate(ranks)
        self.judged_key, self.grade = np.empty(0, dtype=np.int64), np.empty(0)
        self.answered: tuple[tuple[str, ...], Ints, Ints, Floats] | None = None  # names; keys, assessors, grades

    def add_judgments(self, judgments: Judgments) -> int:
        """Add judged pairs; the number of judgments of queries that no system answered, which are left out."""
        pool = judgments.pool
        query = self.query_of[np.repeat(np.arange(len(pool.offsets) - 1), np.diff(pool.offsets))]
        kept = query >= 0
        if not kept.any():
            raise AdjudgeError("No query of the runs is judged: do runs and judgments name queries alike?")
        self.judged_key, self.grade = (query[kept] << 32) | self.place[pool.documents[kept]], pool.grades[kept]
        if judgments.assessor is not None and judgments.combine == "mean":
            self.answered = self._answers(judgments)
        return int((~kept).sum())

    def _answers(self, judgments: Judgments) -> tuple[tuple[str, ...], Ints, Ints, Floats]:
        """Judgments one by one, by key and assessor; the highest grade over sub-topics."""
        names = _alphabetical(list(judgments.assessors), np.ones(len(judgments.assessors), dtype=np.bool_))
        query = self.query_of[judgments.query]
        kept = query >= 0
        key = (query[kept] << 32) | self.place[judgments.document[kept]]
        who, grade = names[np.asarray(judgments.assessor)[kept]], judgments.grade[kept]
        order = np.lexsort((-grade, who, key))
        key, who, grade = key[order], who[order], grade[order]
        first = (np.diff(key, prepend=-1) != 0) | (np.diff(who, prepend=-1) != 0)
        return tuple(sorted(judgments.assessors)), key[first], who[first], grade[first]

    def candidates(
        self, collection: Collection, systems: tuple[str, ...], scale: Scale, opinions: Mapping[str, Opinion]
    ) -> Candidates:
        """Number the pairs, and look up what is known of their documents."""
        outside = self.grade[~scale.contains(self.grade)]
        if len(outside):
            raise AdjudgeError(f"Expected grades on the scale {scale}, got {outside[0]:g}.")
        pairs, number = np.unique(np.concatenate([self.key, self.judged_key]), return_inverse=True)
        entry_pair = number[: len(self.key)]
        relevance = np.full(len(pairs), np.nan)
        relevance[number[len(self.key) :]] = np.maximum(self.grade, 0.0) / scale.maximum
        answers = None
        if self.answered is not None:
            names, key, who, grade = self.answered
            said = np.maximum(grade, 0.0) / scale.maximum
            answers = Answers(names, np.searchsorted(pairs, key), who, said, np.zeros(len(who), dtype=np.int64))
        by_pair = np.lexsort((self.system, entry_pair))
        query, document = pairs >> 32, self.documents[pairs & 0xFFFF_FFFF]
        old_query = np.argsort(self.query_of)[np.count_nonzero(self.query_of < 0) :]
        queries = tuple(collection.queries[int(code)] for code in old_query)
        documents = tuple(collection.documents.strings.gather(document).to_list())
        own = np.asarray(collection.documents.find(list(queries)), dtype=np.int64)
        artist, genre = _labels(collection, "artist"), _labels(collection, "genre")
        teams = [collection.runs.teams.get(name, f"\0{name}") for name in systems]
        distinct = {team: code for code, team in enumerate(dict.fromkeys(teams))}
        return Candidates(
            queries,
            systems,
            scale,
            self.cutoff,
            query,
            documents,
            entry_pair[by_pair],
            self.system[by_pair],
            self.rank[by_pair],
            relevance,
            np.array([distinct[team] for team in teams], dtype=np.int64),
            artist[document],
            genre[document],
            np.where(own >= 0, artist[own], -1),
            np.where(own >= 0, genre[own], -1),
            {name: _opinions(name, column, queries, query, documents) for name, column in opinions.items()},
            answers=answers,
        )


def _short_lists(runs: list[Run], answered: Mask, cutoff: int) -> list[str]:
    """A note about lists that are shorter than the cutoff."""
    lengths = np.stack([run.lengths[answered] for run in runs])
    short: Mask = lengths < cutoff
    if not short.any():
        return []
    names = [run.system for run, has in zip(runs, short, strict=True) if has.any()]
    some = listed(names, most=1 if len(names) > 2 else None, more="more systems")
    nothing = int((lengths == 0).sum())
    return [
        f"{int(short.sum()):,} of {short.size:,} lists have fewer than {cutoff} documents"
        f"{f', {nothing:,} of them none' if nothing else ''} ({some}): empty ranks add nothing to a score."
    ]


def _unknown_documents(pool: Candidates, similarity: Similarity | None) -> list[str]:
    """A note about documents that a similarity does not know; refused where it knows none."""
    if similarity is None:
        return []
    documents, missing = sorted(set(pool.document)), []
    for first in range(0, len(documents), _AT_ONCE):
        some = documents[first : first + _AT_ONCE]
        unknown = np.isnan(np.diagonal(similarities(similarity, some)))
        missing += [document for document, is_unknown in zip(some, unknown, strict=True) if is_unknown]
    if len(missing) == len(documents):
        raise AdjudgeError(
            f"Similarity: expected that of some candidates, got none, not even of {shown(missing[0])}: do the runs and "
            "the similarity name documents alike?"
        )
    names = listed(missing, most=1 if len(missing) > 2 else None)
    few = f"{len(missing):,} of {len(documents):,} documents"
    return [f"{few} unknown to the similarity ({names}) are estimated without it."] if missing else []


def _sorted_places(name: str, places: Sequence[int], most: int) -> Ints:
    ascending = np.unique(np.asarray(places, dtype=np.int64))
    if not len(ascending) or ascending[0] < 0 or ascending[-1] >= most:
        raise AdjudgeError(f"Expected places of {name} from 0 to {most - 1}, got {list(places)[:5] or 'none'}")
    return ascending


def _alphabetical(names: list[str], kept: Mask) -> Ints:
    """Place of each kept name in alphabetical order; -1 for the others."""
    codes = np.full(len(names), -1, dtype=np.int64)
    codes[sorted(np.flatnonzero(kept), key=lambda code: names[code])] = np.arange(int(kept.sum()))
    return codes


def _labels(collection: Collection, column: str) -> Ints:
    """Codes of a metadata column by document code, in alphabetical order; -1 where nothing is known."""
    if collection.metadata is None or column not in collection.metadata.columns:
        return np.full(len(collection.documents), -1, dtype=np.int64)
    codes, names = collection.metadata.values(column)
    new = np.append(_alphabetical(list(names), np.ones(len(names), dtype=np.bool_)), -1)
    labels = np.full(len(collection.documents), -1, dtype=np.int64)
    labels[: len(codes)] = new[codes]
    return labels


def _opinions(name: str, column: Opinion, queries: tuple[str, ...], query: Ints, documents: tuple[str, ...]) -> Floats:
    """A column of machine opinions, NaN where there is none."""
    if not isinstance(column, Mapping):
        raise AdjudgeError(f"Opinions {shown(name)}: expected numbers by (query, document), got {shown(column)}")
    pairs = zip(query, documents, strict=True)
    said = [column.get((queries[q], d), np.nan) for q, d in pairs]
    try:
        opinions: Floats = np.array(said, dtype=np.float64)
    except (TypeError, ValueError):
        raise AdjudgeError(f"Opinions {shown(name)}: expected numbers, got others.") from None
    if np.isinf(opinions).any():
        raise AdjudgeError(f"Opinions {shown(name)}: expected finite numbers, got an infinite one.")
    if np.isnan(opinions).all():
        raise AdjudgeError(f"Opinions {shown(name)}: expected some about candidates, got none.")
    return opinions
