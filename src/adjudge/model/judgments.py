"""Judgments: the grade that an assessor gave a document for a query.

One rule each, for every measure:

several assessors
    A pair of query and document has one grade in a measure: the mean over its assessors (or their median, minimum or
    maximum).
sub-topics
    A document judged for several sub-topics of a query has the highest of those grades.
duplicates
    The same judgment twice counts once, with a warning; two different grades for one pair by one assessor are an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Codes, Floats, Ints, Keys
from adjudge.checks import Combine, checked
from adjudge.errors import InputError, shown, warn
from adjudge.model.scales import Scale, conversion, groups_scale, infer_scale
from adjudge.model.vocabulary import HashIndex, Vocabulary
from adjudge.text import counted

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Pool:
    """One grade a judged pair, sorted by query code and document code."""

    offsets: Ints
    documents: Codes
    grades: Floats

    def part(self, codes: slice) -> Pool:
        """The pairs of some query codes, which count from 0 in it. What it indexes stays in cache while it is used."""
        offsets = self.offsets[codes.start : codes.stop + 1]
        inside = slice(int(offsets[0]), int(offsets[-1]))
        return Pool(offsets - offsets[0], self.documents[inside], self.grades[inside])

    @cached_property
    def _index(self) -> HashIndex:
        query = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return HashIndex(_pair_keys(query, self.documents))

    def find(self, query: Codes, document: Codes) -> Codes:
        """Place in ``grades`` of each pair, -1 where it was not judged."""
        return self._index.find(_pair_keys(query, document))


def _pair_keys(query: Codes | Ints, document: Codes) -> Keys:
    keys = query.astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= document.view(np.uint32)
    return keys


@dataclass(frozen=True)
class Judgments:
    """All judgments of a collection, one row a judgment, as they were made."""

    queries: Vocabulary
    documents: Vocabulary
    query: Codes
    document: Codes
    grade: Floats
    scale: Scale
    notes: tuple[str, ...] = ()
    assessor: Codes | None = None
    assessors: tuple[str, ...] = ()
    subtopic: Codes | None = None
    subtopics: tuple[str, ...] = ()
    combine: Combine = "mean"

    def __len__(self) -> int:
        return len(self.grade)

    def __repr__(self) -> str:
        who = f" by {counted(len(self.assessors), 'assessor')}" if self.assessors else ""
        return f"Judgments({counted(len(self), 'grade')}{who}, {counted(self.n_queries, 'query')}, scale {self.scale})"

    @cached_property
    def n_queries(self) -> int:
        """Number of queries with a judgment; their codes are the first ones."""
        return int(self.query.max()) + 1 if len(self) else 0

    def rescaled(self, target: str) -> Judgments:
        """Judgments on another scale, such as ``graded3`` or ``binary40``."""
        convert = conversion(target, self.scale)
        cuts = ", ".join(f"{bound:g}" for bound in convert.bounds)
        note = f"Grades converted to {convert.name}: cut at {cuts} of the scale {self.scale}."
        return replace(self, grade=convert(self.grade), scale=convert.scale, notes=(*self.notes, note))

    @checked(how=Combine)
    def combined(self, how: Combine) -> Judgments:
        """The same judgments with another rule for several assessors."""
        return replace(self, combine=how)

    @cached_property
    def pool(self) -> Pool:
        """One grade for each judged pair: the highest over sub-topics, then combined over assessors."""
        import polars as pl

        frame = pl.DataFrame({"query": self.query, "document": self.document, "grade": self.grade})
        if self.subtopic is not None:
            who = np.zeros_like(self.query) if self.assessor is None else self.assessor
            frame = frame.with_columns(who=who).group_by("query", "document", "who").agg(pl.col("grade").max())
        if self.assessor is not None or self.subtopic is not None:
            aggregate: Callable[[], pl.Expr] = getattr(pl.col("grade"), self.combine)
            frame = frame.group_by("query", "document").agg(aggregate())
        frame = frame.sort("query", "document")
        offsets = np.searchsorted(frame["query"].to_numpy(), np.arange(self.n_queries + 1)).astype(np.int64)
        return Pool(offsets, frame["document"].to_numpy().copy(), frame["grade"].to_numpy().copy())

    def pairs(self) -> pl.DataFrame:
        """Table ``query, document, grade``, one row a judged pair (see :attr:`pool`), in the order of the queries."""
        import polars as pl

        query = np.repeat(np.arange(len(self.pool.offsets) - 1, dtype=np.int32), np.diff(self.pool.offsets))
        names = {"query": self.queries.decode(query), "document": self.documents.decode(self.pool.documents)}
        return pl.DataFrame({**names, "grade": self.pool.grades})

    def by_pair(self) -> dict[tuple[str, str], float]:
        """The grade of each judged pair of query and document.

        >>> from adjudge.formats.reading import read_judgments
        >>> read_judgments({"q": {"d1": 2, "d2": 0}}, scale="broad").by_pair()
        {('q', 'd1'): 2.0, ('q', 'd2'): 0.0}
        """
        queries, documents, grades = (column.to_list() for column in self.pairs())
        return dict(zip(zip(queries, documents, strict=True), grades, strict=True))

    def to_polars(self) -> pl.DataFrame:
        """Table ``query, document, grade[, assessor][, subtopic]``, one row a judgment."""
        import polars as pl

        frame = pl.DataFrame(
            {
                "query": self.queries.decode(self.query),
                "document": self.documents.decode(self.document),
                "grade": self.grade,
            }
        )
        for name, codes, names in (
            ("assessor", self.assessor, self.assessors),
            ("subtopic", self.subtopic, self.subtopics),
        ):
            if codes is not None:
                frame = frame.with_columns(pl.Series(name, names).gather(codes).alias(name))
        return frame


def encode_judgments(
    frame: pl.DataFrame, *, queries: Vocabulary, documents: Vocabulary, scale: Scale | None, source: str
) -> Judgments:
    """Code and check rows ``query, document, grade[, assessor][, subtopic][, group]``."""
    are_lists = "group" in frame.columns
    frame = _without_repeats(frame, source)
    grade = frame["grade"].to_numpy().copy()
    found = groups_scale(grade) if are_lists else infer_scale(grade)
    used = found if scale is None else scale
    notes: list[str] = []
    if scale is None:
        notes.append(f"Scale taken from the judgments: {used}.")
    elif found.minimum < used.minimum:
        n = int(np.count_nonzero(grade < used.minimum))
        lowest, least = f"{found.minimum:g}", f"{used.minimum:g}"
        many = f"1 grade is below the scale {used} and counts" if n == 1 else f"{n:,} grades are below {used} and count"
        keep = f"--scale={lowest}..{used.maximum:g} keeps {'it' if n == 1 else 'them'}."
        warn(f"{source}: {many} as {least}, not relevant (lowest: {lowest}); {keep}", stacklevel=3)
        grade = np.maximum(grade, used.minimum)
    outside = np.flatnonzero(grade > used.maximum)
    if len(outside):
        bad = frame.row(int(outside[0]), named=True)
        raise InputError(
            f"expected grades on the scale {used}, got {bad['grade']:g} for document {shown(bad['document'])} "
            f"of query {shown(bad['query'])}",
            source=source,
        )
    roles: dict[str, Any] = {}
    for name, plural in (("assessor", "assessors"), ("subtopic", "subtopics")):
        if name in frame.columns:
            names = Vocabulary()
            roles |= {name: names.encode(frame[name]), plural: tuple(names)}
    return Judgments(
        queries,
        documents,
        queries.encode(frame["query"]),
        documents.encode(frame["document"]),
        grade,
        used,
        notes=tuple(notes),
        **roles,
    )


def _without_repeats(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """Drop judgments that came twice; refuse those that contradict one another."""
    import polars as pl

    said = "group" if "group" in frame.columns else "grade"  # what the file holds, and what is wrong is told in
    keys = [name for name in frame.columns if name not in ("grade", "group")]
    if not frame.select(keys).is_duplicated().any():
        return frame
    groups = frame.group_by(keys, maintain_order=True).agg(pl.col("grade", said).unique(maintain_order=True))
    clash = groups.filter(pl.col("grade").list.len() > 1)
    if clash.height:
        bad = clash.row(0, named=True)
        given = " and ".join(f"{value:g}" for value in bad[said][:3])
        raise InputError(
            f"expected one {said} for document {shown(bad['document'])} of query {shown(bad['query'])}, got {given}",
            source=source,
        )
    warn(
        f"{source}: {frame.height - groups.height} judgments come twice with the same grade; each is counted once.",
        stacklevel=3,
    )
    return groups.with_columns(pl.col("grade", said).list.first()).select(frame.columns)
