"""What experts said: rankings of the documents of a query, or preferences between two of them.

*Rankings*: the order in which each expert put the documents, the most similar first. An expert need not rank every
document: what seems very different from the query may be left unranked. Equal ranks are ties. What matters is the
order: by default ranks are counted again in each expert's ranking, and tied documents share the mean of their places
(1, 1, 2 and 1, 1, 3 both become 1.5, 1.5, 3).

*Preferences*: which of two documents is more similar to the query, or that both are alike. Not every pair need be asked
about: whoever sorts by asking compares each document with a few others. What was not asked is unknown, which is not the
same as alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, shown
from adjudge.registry import did_you_mean


class QueryError(AdjudgeError):
    """The answers about a ``query`` cannot be used as a whole; without it the others can.

    The error of a file has it as its cause, unless the file has no other query.
    """

    def __init__(self, message: str, *, query: str) -> None:
        super().__init__(f"Query {shown(query)}: {message}")
        self.query = query


def check_named(queries: Iterable[str], known: Sequence[str]) -> None:
    """Refuse names that no query has.

    >>> check_named(["q2"], ["q1", "p"])
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: No query is called 'q2'. Did you mean 'q1'?
    """
    for query in queries:
        if query not in known:
            some = ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
            there = f"There is only {some}." if len(known) == 1 else f"There are {len(known)}: {some}."
            raise AdjudgeError(f"No query is called {shown(query)}. {did_you_mean(query, known) or there}")


def check_left_out(queries: Iterable[str], known: Sequence[str]) -> None:
    """Refuse to leave out queries that are not there, and all that are."""
    left_out = set(queries)
    check_named(sorted(left_out), known)
    if left_out and left_out >= set(known):
        raise AdjudgeError("Queries left out: expected at least one query to be left, got none")


def _check_documents(query: str, documents: tuple[str, ...]) -> None:
    if len(documents) < 2:
        only = f"one document, {shown(documents[0])}" if documents else "no documents"
        raise QueryError(f"expected at least two documents to compare, got {only}", query=query)


Unranked = Literal["skip", "last"]
"""What an expert's silence about a document means: nothing is known, or it comes after all that they ranked."""
Places = Literal["counted", "given"]
"""Whether ranks are counted again in each expert's ranking, or taken as given."""


@dataclass(frozen=True)
class RankedQuery:
    """The rankings of one query: ``ranks`` is experts x documents, NaN where an expert left a document unranked."""

    query: str
    documents: tuple[str, ...]
    experts: tuple[str, ...]
    ranks: Floats

    def __post_init__(self) -> None:
        _check_documents(self.query, self.documents)
        if not np.isfinite(self.ranks).any():
            raise QueryError("expected ranks from at least one expert, got none", query=self.query)

    @property
    def times_ranked(self) -> Floats:
        """How many experts ranked each document."""
        counts: Floats = np.isfinite(self.ranks).sum(axis=0).astype(np.float64)
        return counts

    def counted(self) -> RankedQuery:
        """The same orders with ranks counted again: places from 1 in each ranking, ties share the mean of theirs."""
        from scipy.stats import rankdata

        return replace(self, ranks=rankdata(self.ranks, axis=1, nan_policy="omit").astype(np.float64))

    @checked(unranked=Unranked)
    def filled(self, unranked: Unranked) -> RankedQuery:
        """With ``last``, documents that an expert left unranked share the mean of the places after their ranking."""
        if unranked == "skip":
            return self
        n_ranked = np.isfinite(self.ranks).sum(axis=1, keepdims=True)
        last = np.fmax.reduce(self.ranks, axis=1, initial=0.0)[:, None]  # NaN never wins
        after = np.maximum(last, n_ranked) + (len(self.documents) - n_ranked + 1) / 2
        filled = np.where(np.isfinite(self.ranks), self.ranks, np.where(n_ranked > 0, after, np.nan))
        return replace(self, ranks=filled)

    def of_documents(self, keep: Sequence[int]) -> RankedQuery:
        """Some of the documents, by place."""
        index = np.asarray(keep, dtype=np.int64)
        return replace(self, documents=tuple(self.documents[i] for i in index), ranks=self.ranks[:, index])

    def of_experts(self, keep: Sequence[int]) -> RankedQuery:
        """The rankings of some of the experts, by place; the same one may come several times."""
        index = np.asarray(keep, dtype=np.int64)
        return replace(self, experts=tuple(self.experts[i] for i in index), ranks=self.ranks[index])


@dataclass(frozen=True)
class Rankings:
    """Experts' rankings for several queries, and the file that they came from, if any."""

    queries: tuple[RankedQuery, ...]
    places: Places = "counted"
    source: str | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        if not self.queries:
            raise AdjudgeError("Rankings: expected at least one query, got none")

    def __repr__(self) -> str:
        return f"Rankings({len(self.queries)} queries, {self.n_experts} experts, {self.n_ranks:,} ranks)"

    @property
    def n_experts(self) -> int:
        """How many people ranked anything."""
        return len({expert for asked in self.queries for expert in asked.experts})

    @property
    def n_ranks(self) -> int:
        """How many ranks were given."""
        return sum(int(np.isfinite(asked.ranks).sum()) for asked in self.queries)

    @property
    def n_answers(self) -> int:
        """How many ranks were given."""
        return self.n_ranks

    @classmethod
    def from_orders(
        cls,
        orders: Iterable[tuple[str, str, Sequence[Sequence[str]], Sequence[str]]],
        *,
        source: str | None = None,
        sha256: str | None = None,
    ) -> Rankings:
        """Rankings from orders: query, expert, groups of documents (the most similar first), documents left unranked.

        >>> Rankings.from_orders([("q", "ann", [["a", "b"], ["c"]], ["d"])]).queries[0].ranks.tolist()
        [[1.5, 1.5, 3.0, nan]]
        """
        rows = (
            (query, expert, document, rank)
            for query, expert, groups, unranked in orders
            for rank, documents in [*enumerate(groups, start=1), (float("nan"), unranked)]
            for document in documents
        )
        return cls.from_rows(rows, source=source, sha256=sha256)

    @classmethod
    @renamed({"places": {"as given": "given"}})
    @checked(places=Places)
    def from_rows(
        cls,
        rows: Iterable[tuple[str, str, str, float]],
        *,
        places: Places = "counted",
        source: str | None = None,
        sha256: str | None = None,
    ) -> Rankings:
        """Rankings from rows of query, expert, document and rank, NaN where the document was left unranked.

        A document that an expert ranks twice for a query is refused, and so is a query with a single document or one
        that nobody ranked anything for.

        >>> Rankings.from_rows([("q", "ann", "a", 1), ("q", "ann", "a", 2)])
        Traceback (most recent call last):
        adjudge.errors.AdjudgeError: Query 'q': expected each document once from an expert, got 'a' twice from 'ann'
        """
        cells: dict[str, dict[tuple[str, str], float]] = {}
        for query, expert, document, rank in rows:
            given = cells.setdefault(query, {})
            if (expert, document) in given:
                raise AdjudgeError(
                    f"Query {shown(query)}: expected each document once from an expert, "
                    f"got {shown(document)} twice from {shown(expert)}"
                )
            given[expert, document] = rank
        queries = []
        for query, given in cells.items():
            experts, documents = (_places(key[side] for key in given) for side in (0, 1))
            ranks = np.full((len(experts), len(documents)), np.nan)
            for (expert, document), rank in given.items():
                ranks[experts[expert], documents[document]] = rank
            asked = RankedQuery(query, tuple(documents), tuple(experts), ranks)
            queries.append(asked.counted() if places == "counted" else asked)
        return cls(tuple(queries), places, source, sha256)

    def without(self, queries: Iterable[str]) -> Rankings:
        """The rankings of the other queries."""
        left_out = set(queries)
        return replace(self, queries=tuple(asked for asked in self.queries if asked.query not in left_out))


def _places(names: Iterable[str]) -> dict[str, int]:
    """The place of each name, in the order in which they came."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


ANSWERS = {"a": 1, "b": -1, "same": 0}
"""What an answer says: the first document is more similar, the second is, neither is."""


@dataclass(frozen=True)
class PreferredQuery:
    """The preferences of one query, one row per answer: places of both documents, what was preferred, and by whom.

    ``answer`` is 1 where the first document was preferred, -1 where the second was, 0 where neither was.
    ``assessor`` is the place of whoever answered among all, -1 where that is not known.
    """

    query: str
    documents: tuple[str, ...]
    first: Ints
    second: Ints
    answer: Ints
    assessor: Ints

    def __post_init__(self) -> None:
        _check_documents(self.query, self.documents)

    @property
    def wins(self) -> Floats:
        """How often the document of a row was preferred to the document of a column."""
        return self._counts(self.answer == 1, self.answer == -1)

    @property
    def alike(self) -> Floats:
        """How often two documents were called alike; symmetric."""
        same = self.answer == 0
        return self._counts(same, same)

    def _counts(self, forth: Mask, back: Mask) -> Floats:
        n = len(self.documents)
        counts = np.zeros((n, n))
        np.add.at(counts, (self.first[forth], self.second[forth]), 1.0)
        np.add.at(counts, (self.second[back], self.first[back]), 1.0)
        return counts

    def of_answers(self, keep: Ints) -> PreferredQuery:
        """Some of the answers, by place; the same one may come several times. All documents stay."""
        return PreferredQuery(
            self.query, self.documents, self.first[keep], self.second[keep], self.answer[keep], self.assessor[keep]
        )


@dataclass(frozen=True)
class Preferences:
    """Preferences for several queries. ``n_blank`` rows held no answer and are left out."""

    queries: tuple[PreferredQuery, ...]
    assessors: tuple[str, ...] = ()
    n_blank: int = 0
    source: str | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        if not self.queries:
            raise AdjudgeError("Preferences: expected at least one query, got none")

    def __repr__(self) -> str:
        return f"Preferences({len(self.queries)} queries, {self.n_answers:,} answers)"

    @property
    def n_answers(self) -> int:
        """How many answers there are, blank ones aside."""
        return sum(len(asked.answer) for asked in self.queries)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[tuple[str, str, str, int, str]],
        *,
        n_blank: int = 0,
        source: str | None = None,
        sha256: str | None = None,
    ) -> Preferences:
        """Preferences from rows of query, first and second document, answer (1, -1, 0) and who gave it.

        >>> Preferences.from_rows([("q", "a", "b", 1, "ann"), ("q", "b", "c", 0, "ann")])
        Preferences(1 queries, 2 answers)
        """
        by_query: dict[str, list[tuple[str, str, int, str]]] = {}
        people: dict[str, int] = {}
        for query, first, second, answer, assessor in rows:
            if first == second:
                raise AdjudgeError(f"Query {shown(query)}: expected two documents, got {shown(first)} against itself")
            by_query.setdefault(query, []).append((first, second, answer, assessor))
            people.setdefault(assessor, len(people))
        queries = []
        for query, given in by_query.items():
            documents = _places(name for row in given for name in row[:2])
            columns = [(documents[a], documents[b], answer, people[who]) for a, b, answer, who in given]
            queries.append(PreferredQuery(query, tuple(documents), *np.array(columns, dtype=np.int64).T))
        return cls(tuple(queries), tuple(people), n_blank, source, sha256)

    def without(self, queries: Iterable[str]) -> Preferences:
        """The preferences of the other queries."""
        left_out = set(queries)
        return replace(self, queries=tuple(asked for asked in self.queries if asked.query not in left_out))
