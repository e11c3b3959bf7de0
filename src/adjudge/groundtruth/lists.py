"""Partially ordered lists: groups of documents, the most similar group first, in any order within a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, TypedDict

from adjudge.checks import checked
from adjudge.errors import AdjudgeError, shown, unknown
from adjudge.groundtruth.figures import Bands, bands
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import shortened
from adjudge.results import Column, Result, figure
from adjudge.text import counted

Grading = Literal["levels", "even"]
"""Grades of groups: ``levels`` counts from the last group (1) up, ``even`` is that as a share of the groups."""


@dataclass(frozen=True)
class PartialList:
    """The list of one query: groups of documents, the most similar first."""

    query: str
    groups: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.groups:
            raise AdjudgeError(f"Query {shown(self.query)}: expected at least one group of documents, got none")
        seen: set[str] = set()
        for place, group in enumerate(self.groups, start=1):
            if not group:
                raise AdjudgeError(f"Query {shown(self.query)}: expected documents in group {place}, got none")
            for document in group:
                if document in seen:
                    raise AdjudgeError(f"Query {shown(self.query)}: expected each document once, got {shown(document)}")
                seen.add(document)

    def __len__(self) -> int:
        return sum(map(len, self.groups))

    def __str__(self) -> str:
        return "⟨" + ", ".join(f"({', '.join(group)})" for group in self.groups) + "⟩"

    @property
    def documents(self) -> tuple[str, ...]:
        """All documents in order."""
        return tuple(document for group in self.groups for document in group)

    @property
    def group_numbers(self) -> tuple[int, ...]:
        """The group of each document, from 0."""
        return tuple(number for number, group in enumerate(self.groups) for _ in group)


class ListedDocument(TypedDict):
    """A document of a list."""

    query: Annotated[str, Column("the query", key=True)]
    group: Annotated[int, Column("its group, from 1 for the most similar", "d")]
    document: Annotated[str, Column("the document")]


@dataclass(frozen=True, repr=False)
class PartialLists(Result, Mapping[str, PartialList]):
    """The lists of a collection, by query."""

    lists: tuple[PartialList, ...]

    def __post_init__(self) -> None:
        if len({ranked.query for ranked in self.lists}) < len(self.lists):
            raise AdjudgeError("Lists: expected one list per query, got several")

    @classmethod
    def from_groups(cls, groups: Mapping[str, Iterable[Sequence[str]]]) -> PartialLists:
        """Lists from groups of documents by query.

        >>> print(PartialLists.from_groups({"q": [["A", "B"], ["C"]]})["q"])
        ⟨(A, B), (C)⟩
        """
        return cls(tuple(PartialList(query, tuple(tuple(group) for group in given)) for query, given in groups.items()))

    @cached_property
    def _by_query(self) -> dict[str, PartialList]:
        return {ranked.query: ranked for ranked in self.lists}

    def __getitem__(self, query: str) -> PartialList:
        return self._by_query[query]

    def __iter__(self) -> Iterator[str]:
        return (ranked.query for ranked in self.lists)

    def __len__(self) -> int:
        return len(self.lists)

    def __repr__(self) -> str:
        return f"PartialLists({len(self.lists)} queries, {sum(map(len, self.lists))} documents)"

    def to_groups(self) -> dict[str, list[list[str]]]:
        """Plain lists by query, as a JSON file holds them."""
        return {ranked.query: [list(group) for group in ranked.groups] for ranked in self.lists}

    @checked(grading=Grading)
    def to_grades(self, grading: Grading = "levels") -> dict[str, dict[str, float]]:
        """Graded judgments in the order of the lists; documents that are in no list have none.

        Only the order of the grades is known from a list. ``levels`` are whole numbers: the last group has 1, the one
        before it 2. ``even`` divides them by the number of groups of the query, so that the first group of every query
        has grade 1 and queries with many groups weigh no more than others.

        >>> PartialLists.from_groups({"q": [["A", "B"], ["C"]]}).to_grades("even")
        {'q': {'A': 1.0, 'B': 1.0, 'C': 0.5}}
        """
        grades = {}
        for ranked in self.lists:
            n, share = len(ranked.groups), len(ranked.groups) if grading == "even" else 1
            numbered = zip(ranked.documents, ranked.group_numbers, strict=True)
            grades[ranked.query] = {document: (n - number) / share for document, number in numbered}
        return grades

    @figure("list")
    def _drawn(self, *, query: str = "") -> FigureBlock:
        """The groups of a query, the first unless another is named."""
        if query and query not in self:
            raise unknown("query of these lists", query, list(self))
        ranked = self[query] if query else self.lists[0]
        data = Bands(ranked.documents, ranked.group_numbers)
        caption = f"The list of {shortened(ranked.query, 60)}, the most similar first. Bands are groups."
        alt = f"{counted(len(ranked), 'document')} in {counted(len(ranked.groups), 'group')}."
        return FigureBlock("list", caption, alt, data, bands)

    row_type = ListedDocument

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Lists of {counted(len(self.lists), 'query')}"

    def _rows(self) -> list[ListedDocument]:
        return [
            {"query": query, "group": number, "document": document}
            for query, groups in self.to_groups().items()
            for number, group in enumerate(groups, start=1)
            for document in group
        ]
