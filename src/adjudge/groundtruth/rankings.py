"""Rankings: the order in which each expert put the documents of a query, the most similar first.

An expert need not rank every document: what seems very different from the query may be left unranked. Equal ranks are
ties. What matters is the order: by default ranks are counted anew in each expert's ranking, and tied documents share
the mean of their places (1, 1, 2 and 1, 1, 3 both become 1.5, 1.5, 3).

Queries that cannot be used, and queries that are named but not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, did_you_mean, shown


class QueryError(AdjudgeError):
    """Nothing can be made of the answers about a ``query`` as a whole; without it the others can be used.

    An error of a file that comes from one has it as its cause, unless the file has no other query.
    """

    def __init__(self, message: str, *, query: str) -> None:
        super().__init__(f"Query {shown(query)}: {message}")
        self.query = query


def check_named(asked: Iterable[str], known: Sequence[str]) -> None:
    """Refuse names that no query has.

    >>> check_named(["q2"], ["q1", "p"])
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: No query is called 'q2'. Did you mean 'q1'?
    """
    for query in asked:
        if query not in known:
            some = ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
            there = f"There is only {some}." if len(known) == 1 else f"There are {len(known)}: {some}."
            raise AdjudgeError(f"No query is called {shown(query)}. {did_you_mean(query, known) or there}")


def check_left_out(asked: Iterable[str], known: Sequence[str]) -> None:
    """Refuse to leave out queries that are not there, and all that are."""
    gone = set(asked)
    check_named(sorted(gone), known)
    if gone and gone >= set(known):
        raise AdjudgeError("Queries left out: expected at least one query to be left, got none")


Unranked = Literal["skip", "last"]
"""What an expert's silence about a document means: nothing is known, or it comes after all that they ranked."""
Places = Literal["counted", "given"]
"""Whether ranks are counted anew in each expert's ranking, or taken as they came."""


@dataclass(frozen=True)
class RankedQuery:
    """The rankings of one query: ``ranks`` is experts x documents, NaN where an expert left a document unranked."""

    query: str
    documents: tuple[str, ...]
    experts: tuple[str, ...]
    ranks: Floats

    def __post_init__(self) -> None:
        if len(self.documents) < 2:
            only = f"one document, {shown(self.documents[0])}" if self.documents else "no documents"
            raise QueryError(f"expected at least two documents to compare, got {only}", query=self.query)
        if not np.isfinite(self.ranks).any():
            raise QueryError("expected ranks from at least one expert, got none", query=self.query)

    @property
    def times_ranked(self) -> Floats:
        """How many experts ranked each document."""
        counts: Floats = np.isfinite(self.ranks).sum(axis=0).astype(np.float64)
        return counts

    def counted(self) -> RankedQuery:
        """The same orders with ranks counted anew: places from 1 in each ranking, ties share the mean of theirs."""
        from scipy.stats import rankdata

        ranks = rankdata(self.ranks, axis=1, nan_policy="omit").astype(np.float64)
        return RankedQuery(self.query, self.documents, self.experts, ranks)

    @checked(unranked=Unranked)
    def filled(self, unranked: Unranked) -> RankedQuery:
        """With ``last``, documents that an expert left unranked share the mean of the places after their ranking."""
        if unranked == "skip":
            return self
        n_ranked = np.isfinite(self.ranks).sum(axis=1, keepdims=True)
        last = np.fmax.reduce(self.ranks, axis=1, initial=0.0)[:, None]  # NaN never wins
        after = np.maximum(last, n_ranked) + (len(self.documents) - n_ranked + 1) / 2
        filled = np.where(np.isfinite(self.ranks), self.ranks, np.where(n_ranked > 0, after, np.nan))
        return RankedQuery(self.query, self.documents, self.experts, filled)

    def of_documents(self, keep: Sequence[int]) -> RankedQuery:
        """Some of the documents, by place."""
        index = np.asarray(keep, dtype=np.int64)
        return RankedQuery(self.query, tuple(self.documents[i] for i in index), self.experts, self.ranks[:, index])

    def of_experts(self, keep: Sequence[int]) -> RankedQuery:
        """The rankings of some of the experts, by place; the same one may come several times."""
        index = np.asarray(keep, dtype=np.int64)
        return RankedQuery(self.query, self.documents, tuple(self.experts[i] for i in index), self.ranks[index])


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
        return len({expert for one in self.queries for expert in one.experts})

    @property
    def n_ranks(self) -> int:
        """How many ranks were given."""
        return sum(int(np.isfinite(one.ranks).sum()) for one in self.queries)

    @property
    def n_answers(self) -> int:
        """How many ranks were given: what was asked of people, counted."""
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
        queries = [_ranked_query(query, given) for query, given in cells.items()]
        counted = [one.counted() if places == "counted" else one for one in queries]
        return cls(tuple(counted), places, source, sha256)

    def without(self, queries: Iterable[str]) -> Rankings:
        """The rankings of the other queries."""
        dropped = set(queries)
        kept = tuple(one for one in self.queries if one.query not in dropped)
        return Rankings(kept, self.places, self.source, self.sha256)


def _ranked_query(query: str, given: Mapping[tuple[str, str], float]) -> RankedQuery:
    """The matrix of one query; experts and documents stand in the order in which they came."""
    experts = {name: place for place, name in enumerate(dict.fromkeys(expert for expert, _ in given))}
    documents = {name: place for place, name in enumerate(dict.fromkeys(document for _, document in given))}
    ranks = np.full((len(experts), len(documents)), np.nan)
    for (expert, document), rank in given.items():
        ranks[experts[expert], documents[document]] = rank
    return RankedQuery(query, tuple(documents), tuple(experts), ranks)
