"""Ranked lists joined with grades: the arrays that measures work on.

:class:`Lists` holds many rankings at once, one row per list and one column per rank, so that a measure is a few array
operations however many lists there are. :class:`Blocks` cuts a collection into such arrays of bounded size, query by
query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError
from adjudge.model.collection import Collection
from adjudge.model.judgments import Pool
from adjudge.model.runs import Run
from adjudge.model.scales import Scale

NO_SUBTOPICS = "expected judgments of several sub-topics (query subtopic document grade), got none"
BLOCK_CELLS = 1 << 20  # lists x ranks in one block: a few arrays of 8 MB


@dataclass(frozen=True)
class Subtopics:
    """Grades for each sub-topic: one row per judged document, query after query and last identifier first.

    ======= ===================== =====================================================================
    grades  (documents + 1, most) grade for each sub-topic; the last row is 0, for documents not judged
    offsets (queries + 1,)        where the rows of each query begin
    ======= ===================== =====================================================================
    """

    grades: Floats
    offsets: Ints


@dataclass(frozen=True)
class Lists:
    """Grades of many ranked lists at once, with what an ideal ranking needs.

    ========= ================ =====================================================================
    grades    (lists, ranks)   grade at each rank; 0 where unjudged and past the end of the list
    judged    (lists, ranks)   whether that document was judged; False past the end
    lengths   (lists,)         documents retrieved
    pool      (queries, width) grades of all judged documents of a query, highest first, then 0
    sizes     (queries,)       how many documents were judged for the query
    query     (lists,)         row of ``pool`` that belongs to the list
    tied      (lists, ranks)   number of the group of equal scores at each rank; None when unknown
    place     (lists, ranks)   row of ``subtopics`` that belongs to the document; None without sub-topics
    ========= ================ =====================================================================
    """

    grades: Floats
    judged: Mask
    lengths: Ints
    pool: Floats
    sizes: Ints
    query: Ints
    scale: Scale
    cutoff: int | None = None
    tied: Ints | None = None
    place: Ints | None = None
    subtopics: Subtopics | None = None

    def __len__(self) -> int:
        return len(self.grades)

    def at(self, cutoff: int | None) -> Lists:
        """The first ``cutoff`` ranks of every list; all if it is None."""
        if cutoff is None:
            return self
        return replace(
            self,
            grades=self.grades[:, :cutoff],
            judged=self.judged[:, :cutoff],
            tied=None,
            place=None if self.place is None else self.place[:, :cutoff],
            cutoff=cutoff,
        )

    @property
    def n_ranks(self) -> int:
        """Number of columns."""
        return int(self.grades.shape[1])

    @cached_property
    def depths(self) -> Ints:
        """The k of each list: the cutoff, or without one the length of the list."""
        return self.lengths if self.cutoff is None else np.full(len(self), self.cutoff, dtype=np.int64)

    def relevant(self, rel: float | None) -> Mask:
        """Where documents are relevant: a grade of at least ``rel``, or above 0 if it is None."""
        return self.grades > 0 if rel is None else self.grades >= rel

    def n_relevant(self, rel: float | None) -> Ints:
        """Number R of relevant documents among the judged ones, for each list."""
        per_query: Ints = np.count_nonzero(self.pool > 0 if rel is None else self.pool >= rel, axis=1)
        return per_query[self.query]

    def need_subtopics(self) -> Subtopics:
        """The grades for each sub-topic, or an error that says they are missing."""
        if self.subtopics is None:
            raise AdjudgeError(NO_SUBTOPICS)
        return self.subtopics

    @cached_property
    def pool_judged(self) -> Mask:
        """Which cells of ``pool`` hold a judged document; the rest is padding."""
        filled: Mask = np.arange(self.pool.shape[1]) < self.sizes[:, None]
        return filled

    def ideal(self) -> Lists:
        """The judged documents as lists, best first, one list per query, at the same cutoff."""
        return replace(
            self,
            grades=self.pool,
            judged=self.pool_judged,
            lengths=self.sizes,
            query=np.arange(len(self.pool)),
            tied=None,
            place=None,
            subtopics=None,
            cutoff=None,
        ).at(self.cutoff)

    def condensed(self) -> Lists:
        """Lists without their unjudged documents: judged ones move up."""
        judged = self.judged.sum(axis=1)
        if (judged == self.lengths).all():
            return self
        order = np.argsort(~self.judged, axis=1, kind="stable")
        return replace(self.reordered(order), lengths=judged)

    def reordered(self, order: Ints) -> Lists:
        """Lists with their ranks rearranged, row by row."""
        tied, place = (
            None if cells is None else np.take_along_axis(cells, order, axis=1) for cells in (self.tied, self.place)
        )
        return replace(
            self,
            grades=np.take_along_axis(self.grades, order, axis=1),
            judged=np.take_along_axis(self.judged, order, axis=1),
            tied=tied,
            place=place,
        )

    def rows(self, index: npt.NDArray[np.integer] | Mask) -> Lists:
        """Some of the lists."""
        return replace(
            self,
            grades=self.grades[index],
            judged=self.judged[index],
            lengths=self.lengths[index],
            query=self.query[index],
            tied=None if self.tied is None else self.tied[index],
            place=None if self.place is None else self.place[index],
        )


@dataclass(frozen=True)
class Blocks:
    """A collection cut into blocks of all systems' lists for a few queries, each of bounded size.

    ``depth`` is the number of ranks, all if it is None; ``ties`` adds the groups of equal scores.
    """

    collection: Collection
    depth: int | None = None
    ties: bool = False
    cells: int = BLOCK_CELLS

    @property
    def width(self) -> int:
        """Number of ranks of every block."""
        longest = self.collection.runs.depth
        return max(1, longest if self.depth is None else min(self.depth, longest))

    def __iter__(self) -> Iterator[slice]:
        """Query codes of each block."""
        n_queries = self.collection.need_judgments().n_queries
        step = max(1, self.cells // (self.width * len(self.collection.runs)))
        return (slice(start, min(start + step, n_queries)) for start in range(0, n_queries, step))

    def lists(self, codes: slice) -> Lists:
        """The lists of one block, ordered by system, then query."""
        judgments, runs = self.collection.need_judgments(), self.collection.runs
        pool = judgments.pool.part(codes)
        n_queries, width = codes.stop - codes.start, self.width
        shape = (len(runs), n_queries * width)
        grades, judged = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        tied = np.zeros(shape, dtype=np.int64) if self.ties else None
        places = None if pool.order is None else np.full(shape, -1, dtype=np.int64)
        lengths = np.empty((len(runs), n_queries), dtype=np.int64)
        bound = int(pool.documents.max(initial=-1)) + 1  # codes of judged documents are the lowest of all
        for s, run in enumerate(runs):
            lengths[s] = run.lengths[codes]
            cells, rows = _top(run, codes, width)
            documents = run.documents[rows]
            maybe = np.flatnonzero(documents < bound)
            at = maybe if cells is None else cells[maybe]
            place = pool.find((at // width).astype(np.int32), documents[maybe])
            at, place = at[place >= 0], place[place >= 0]
            grades[s, at], judged[s, at] = pool.grades[place], True
            if places is not None and pool.order is not None:
                places[s, at] = pool.order[place]
            if tied is not None:
                tied[s, slice(None) if cells is None else cells] = _tie_groups(run, rows)
        best, sizes = _pool_rows(pool)
        return Lists(
            grades.reshape(-1, width),
            judged.reshape(-1, width),
            lengths.reshape(-1),
            best,
            sizes,
            np.tile(np.arange(n_queries), len(runs)),
            judgments.scale,
            tied=None if tied is None else tied.reshape(-1, width),
            place=None if places is None else places.reshape(-1, width),
            subtopics=_subtopics(pool),
        )


def _top(run: Run, codes: slice, width: int) -> tuple[Ints | None, Ints | slice]:
    """The flat cells of the block that the run fills (None: all), and the rows of the run that fill them."""
    offsets = run.offsets[codes.start : codes.stop + 1]
    lengths = np.diff(offsets)
    columns = np.arange(width)
    inside = None if (lengths >= width).all() else columns < np.minimum(lengths, width)[:, None]
    cells = None if inside is None else np.flatnonzero(inside)
    if (lengths <= width).all():
        return cells, slice(int(offsets[0]), int(offsets[-1]))
    rows = offsets[:-1, None] + columns
    return cells, rows.reshape(-1) if inside is None else rows[inside]


def _tie_groups(run: Run, rows: Ints | slice) -> Ints:
    """Numbers that are equal for documents of one ranking with equal scores."""
    scores = run.compared_scores()
    if scores is None:
        return np.arange(len(run.documents))[rows]
    new: Mask = np.ones(len(scores), dtype=np.bool_)
    new[1:] = scores[1:] != scores[:-1]
    new[run.offsets[:-1][run.lengths > 0]] = True
    groups: Ints = np.cumsum(new, dtype=np.int64)
    return groups[rows]


def _subtopics(pool: Pool) -> Subtopics | None:
    if pool.subtopics is None or pool.order is None:
        return None
    grades = np.zeros((len(pool.subtopics) + 1, pool.subtopics.shape[1]))
    grades[pool.order] = pool.subtopics
    return Subtopics(grades, pool.offsets)


def _pool_rows(pool: Pool) -> tuple[Floats, Ints]:
    """Judged grades of each query, highest first, padded with 0."""
    sizes = np.diff(pool.offsets)
    rows = np.full((len(sizes), max(1, int(sizes.max()))), -np.inf)
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = pool.grades
    rows = -np.sort(-rows, axis=1)
    rows[np.isneginf(rows)] = 0.0
    return rows, sizes
