"""Judgments: the grade that an assessor gave a document for a query.

One rule each, for every measure:

several assessors
    A pair of query and document has one grade in a measure: the mean over its assessors (or their median, minimum or
    maximum).
sub-topics
    A document judged for several sub-topics of a query has the highest of those grades, but in measures of sub-topics.
duplicates
    The same judgment twice counts once, with a warning; two different grades of one pair by one assessor are refused.
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
from adjudge.text import counted, plural

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Pool:
    """One grade per judged pair, sorted by query code and document code.

    Where sub-topics were judged, ``subtopics`` has the grade of each pair for every sub-topic of its query (pairs x
    sub-topics, 0 where not judged), and ``order`` numbers the pairs query after query, last identifier first.
    """

    offsets: Ints
    documents: Codes
    grades: Floats
    subtopics: Floats | None = None
    order: Ints | None = None

    def part(self, codes: slice) -> Pool:
        """The pairs of some query codes, counted from 0; small enough to stay in cache while it is used."""
        offsets = self.offsets[codes.start : codes.stop + 1]
        inside = slice(int(offsets[0]), int(offsets[-1]))
        subtopics = None if self.subtopics is None else self.subtopics[inside]
        order = None if self.order is None else self.order[inside] - inside.start
        return Pool(offsets - offsets[0], self.documents[inside], self.grades[inside], subtopics, order)

    @cached_property
    def _index(self) -> HashIndex:
        query = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return HashIndex(_pair_keys(query, self.documents))

    def find(self, query: Codes, document: Codes) -> Codes:
        """Position in ``grades`` of each pair, -1 where it was not judged."""
        return self._index.find(_pair_keys(query, document))


def _pair_keys(query: Codes | Ints, document: Codes) -> Keys:
    keys = query.astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= document.view(np.uint32)
    return keys


@dataclass(frozen=True)
class Judgments:
    """All judgments of a collection as they were made, one row per judgment."""

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
        pool = Pool(offsets, frame["document"].to_numpy().copy(), frame["grade"].to_numpy().copy())
        return pool if self.subtopic is None else self._with_subtopics(pool)

    def _with_subtopics(self, pool: Pool) -> Pool:
        """The pool with the grades for each sub-topic, combined over assessors."""
        import polars as pl

        place = pool.find(self.query, self.document)
        frame = pl.DataFrame({"query": self.query, "place": place, "subtopic": self.subtopic, "grade": self.grade})
        aggregate: Callable[[], pl.Expr] = getattr(pl.col("grade"), self.combine)
        frame = frame.group_by("query", "place", "subtopic").agg(aggregate())
        column = frame.select(pl.col("subtopic").rank("dense").over("query") - 1)["subtopic"].to_numpy()
        grades = np.zeros((len(pool.grades), int(column.max(initial=0)) + 1))
        grades[frame["place"].to_numpy(), column] = frame["grade"].to_numpy()
        query = np.repeat(np.arange(self.n_queries), np.diff(pool.offsets))
        pairs = pl.DataFrame({"query": query, "name": self.documents.decode(pool.documents)}).with_row_index("pair")
        sorted_ = pairs.sort("query", "name", descending=[False, True])["pair"].to_numpy()
        return replace(pool, subtopics=grades, order=np.argsort(sorted_))

    def pairs(self) -> pl.DataFrame:
        """Table ``query, document, grade``, one row per judged pair (see :attr:`pool`), in the order of the queries."""
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
        """Table ``query, document, grade[, assessor][, subtopic]``, one row per judgment."""
        import polars as pl

        names = {"query": self.queries.decode(self.query), "document": self.documents.decode(self.document)}
        frame = pl.DataFrame({**names, "grade": self.grade})
        if self.assessor is not None:
            frame = frame.with_columns(assessor=pl.Series(self.assessors).gather(self.assessor))
        if self.subtopic is not None:
            frame = frame.with_columns(subtopic=pl.Series(self.subtopics).gather(self.subtopic))
        return frame


ErrorAt = Callable[[str, int], InputError]
"""Builds the error for a message about a row, counted from 0."""


def encode_judgments(
    frame: pl.DataFrame,
    *,
    queries: Vocabulary,
    documents: Vocabulary,
    scale: Scale | None,
    source: str,
    error: ErrorAt | None = None,
) -> Judgments:
    """Code and check rows ``query, document, grade[, assessor][, subtopic][, group]``.

    ``source`` is what messages call the table; ``error`` knows its file and line.
    """
    error = error or (lambda message, row: InputError(message, source=source))
    given = frame["grade"].to_numpy()
    found = groups_scale(given) if "group" in frame.columns else infer_scale(given)
    used = found if scale is None else scale
    frame = _without_repeats(frame, source, error)
    outside = np.flatnonzero(given > used.maximum)
    if len(outside):
        bad = frame.filter(frame["grade"] > used.maximum).row(0, named=True)
        pair = f"document {shown(bad['document'])} of query {shown(bad['query'])}"
        raise error(f"expected grades on the scale {used}, got {bad['grade']:g} for {pair}", int(outside[0]))
    grade = frame["grade"].to_numpy().copy()
    if found.minimum < used.minimum:
        n, keep = int(np.count_nonzero(grade < used.minimum)), f"--scale={found.minimum:g}..{used.maximum:g}"
        warn(
            f"{source}: {counted(n, 'grade')} below the scale {used}, lowest {found.minimum:g}: read as "
            f"{used.minimum:g}, not relevant. To keep {'it' if n == 1 else 'them'}: {keep}.",
            stacklevel=3,
        )
        grade = np.maximum(grade, used.minimum)
    roles: dict[str, Any] = {}
    for name in ("assessor", "subtopic"):
        if name in frame.columns:
            names = Vocabulary()
            roles |= {name: names.encode(frame[name]), plural(name): tuple(names)}
    return Judgments(
        queries,
        documents,
        queries.encode(frame["query"]),
        documents.encode(frame["document"]),
        grade,
        used,
        notes=(f"Scale taken from the judgments: {used}.",) if scale is None else (),
        **roles,
    )


def _without_repeats(frame: pl.DataFrame, source: str, error: ErrorAt) -> pl.DataFrame:
    """Drop judgments that came twice; refuse those that contradict one another."""
    import polars as pl

    said = "group" if "group" in frame.columns else "grade"  # what the file holds
    keys = [name for name in frame.columns if name not in ("grade", "group")]
    if not frame.select(keys).is_duplicated().any():
        return frame
    numbered = frame.with_row_index("row").with_columns(
        first=pl.col("row").min().over(keys), given=pl.col(said).first().over(keys)
    )
    clash = numbered.filter(pl.col(said) != pl.col("given")).sort("first", "row")
    if clash.height:
        bad = clash.row(0, named=True)
        pair = f"document {shown(bad['document'])} of query {shown(bad['query'])}"
        raise error(f"expected one {said} for {pair}, got {bad['given']:g} and {bad[said]:g}", bad["row"])
    once = frame.unique(keys, keep="first", maintain_order=True)
    n = frame.height - once.height
    warn(f"{source}: {counted(n, 'judgment')} repeated with the same grade; each counts once.", stacklevel=3)
    return once
