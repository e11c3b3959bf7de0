"""Preferences: which of two documents is more similar to the query, or that both are alike.

Not every pair of documents need be asked about: whoever sorts by asking compares each document with a few others. What
was not asked is unknown, which is not the same as alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError, shown
from adjudge.groundtruth.rankings import QueryError

ANSWERS = {"a": 1, "b": -1, "same": 0}
"""What an answer says: the first document is more similar, the second is, neither is."""


@dataclass(frozen=True)
class PreferredQuery:
    """The preferences of one query, one row an answer: places of both documents, what was preferred, and by whom.

    ``answer`` is 1 where the first document was preferred, -1 where the second was, 0 where neither was.
    ``assessor`` is the place of whoever said so among all, -1 where that is not known.
    """

    query: str
    documents: tuple[str, ...]
    first: Ints
    second: Ints
    answer: Ints
    assessor: Ints

    def __post_init__(self) -> None:
        if len(self.documents) < 2:
            only = f"one document, {shown(self.documents[0])}" if self.documents else "no documents"
            raise QueryError(f"expected at least two documents to compare, got {only}", query=self.query)

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
        return sum(len(one.answer) for one in self.queries)

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
        queries = tuple(_preferred_query(query, given, people) for query, given in by_query.items())
        return cls(queries, tuple(people), n_blank, source, sha256)

    def without(self, queries: Iterable[str]) -> Preferences:
        """The preferences of the other queries."""
        dropped = set(queries)
        kept = tuple(one for one in self.queries if one.query not in dropped)
        return Preferences(kept, self.assessors, self.n_blank, self.source, self.sha256)


def _preferred_query(query: str, given: list[tuple[str, str, int, str]], people: dict[str, int]) -> PreferredQuery:
    """The columns of one query; documents stand in the order in which they came."""
    documents = {name: i for i, name in enumerate(dict.fromkeys(name for row in given for name in row[:2]))}
    columns = [(documents[a], documents[b], answer, people[who]) for a, b, answer, who in given]
    first, second, answer, assessor = np.array(columns, dtype=np.int64).T
    return PreferredQuery(query, tuple(documents), first, second, answer, assessor)
