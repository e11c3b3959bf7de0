"""Runs: what each system retrieved for each query, in rank order, as integer codes.

One rule each, for every measure:

ties
    Documents are ranked by score, highest first, and equal scores by document identifier, last in byte order first, as
    trec_eval does. Scores are kept in double precision and compared in single, as trec_eval 9 does, or in double, as
    trec_eval 10 does. Without scores the order given is the ranking.
duplicates
    A document that comes twice in one ranking keeps its best rank; the others are dropped with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Codes, Floats, Ints, Mask
from adjudge.choices import Precision
from adjudge.errors import AdjudgeError, shown
from adjudge.model.coding import Vocabulary
from adjudge.words import counted

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Run:
    """The rankings of one system, query after query.

    ``documents[offsets[q]:offsets[q + 1]]`` is the ranking for the query with code q; codes past the end have none.
    ``precision`` is that in which scores are compared.
    """

    system: str
    team: str | None
    offsets: Ints
    documents: Codes
    scores: Floats | None
    precision: Precision = "single"

    @property
    def lengths(self) -> Ints:
        """Number of documents retrieved for each query code."""
        return np.diff(self.offsets)

    @property
    def query_codes(self) -> Codes:
        """Query code of each retrieved document."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), self.lengths)

    def keep(self, mask: Mask) -> Run:
        """The same run with only the documents under the mask."""
        kept = np.concatenate([[0], np.cumsum(mask)])[self.offsets]
        scores = None if self.scores is None else self.scores[mask]
        return replace(self, offsets=kept, documents=self.documents[mask], scores=scores)

    def compared_scores(self) -> npt.NDArray[np.floating] | None:
        """Scores as they are compared: documents whose scores are equal here are tied."""
        return None if self.scores is None else in_precision(self.scores, self.precision)

    def cut(self, depth: int) -> Run:
        """The same run with at most the first ``depth`` documents of every ranking."""
        rank = np.arange(len(self.documents)) - np.repeat(self.offsets[:-1], self.lengths)
        return self if (self.lengths <= depth).all() else self.keep(rank < depth)


@dataclass(frozen=True)
class Runs(Sequence[Run]):
    """Runs of several systems, coded with the same vocabularies; ``cut_at`` is the depth they were cut at, if any."""

    runs: tuple[Run, ...]
    queries: Vocabulary
    documents: Vocabulary
    cut_at: int | None = None

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, index: int) -> Run:  # type: ignore[override]
        return self.runs[index]

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __repr__(self) -> str:
        retrieved = sum(len(run.documents) for run in self)
        return f"Runs({counted(len(self), 'system')}, {counted(retrieved, 'document')} retrieved)"

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in the order in which they came."""
        return tuple(run.system for run in self)

    @property
    def teams(self) -> dict[str, str]:
        """Team of each system that has one."""
        return {run.system: run.team for run in self if run.team is not None}

    @property
    def depth(self) -> int:
        """Length of the longest ranking."""
        return max((int(run.lengths.max(initial=0)) for run in self), default=0)

    def to_polars(self) -> pl.DataFrame:
        """Table ``system, query, document[, score][, team]`` in rank order; scores where every system has them."""
        import polars as pl

        scored = all(run.scores is not None for run in self)
        if not scored and any(run.scores is not None for run in self):
            raise AdjudgeError("Runs with and without scores cannot stand in one table; write them apart.")
        parts = [
            pl.DataFrame(
                {"query": self.queries.decode(run.query_codes), "document": self.documents.decode(run.documents)}
            )
            .with_columns(pl.Series("score", run.scores) if scored else [])
            .select(
                pl.lit(run.system).alias("system"), pl.all(), *([pl.lit(run.team).alias("team")] if self.teams else [])
            )
            for run in self
        ]
        return pl.concat(parts, how="vertical_relaxed")


@dataclass(frozen=True)
class Repeats:
    """Documents that came twice in rankings of one system: how many, and the first."""

    n: int
    system: str
    query: str
    document: str


def encode_run(
    frame: pl.DataFrame,
    *,
    system: str,
    team: str | None,
    queries: Vocabulary,
    documents: Vocabulary,
    precision: Precision = "single",
) -> tuple[Run, Repeats | None]:
    """Code, rank and check one system's rows ``query, document[, score | rank]``; say which documents came twice."""
    query = _encode_sorted(frame["query"], queries)
    document = documents.encode(frame["document"])
    scores = frame["score"].to_numpy() if "score" in frame.columns else None
    if scores is not None and not np.isfinite(scores).all():
        raise AdjudgeError(f"System {shown(system)}: expected finite scores, got {scores[~np.isfinite(scores)][0]}")
    by = scores if scores is not None else -frame["rank"].to_numpy() if "rank" in frame.columns else None
    by = None if by is None else in_precision(by, precision)
    order = _ranking(query, by, document, documents if scores is not None else None)
    if order is not None:
        query, document = query[order], document[order]
        scores = scores[order] if scores is not None else None
    offsets = np.searchsorted(query, np.arange(len(queries) + 1)).astype(np.int64)
    run = Run(system, team, offsets, document, scores, precision)
    again = _repeats(run)
    if again is None:
        return run, None
    first = int(np.flatnonzero(again)[0])
    repeats = Repeats(int(again.sum()), system, queries[query[first]], documents[document[first]])
    return run.keep(~again), repeats


def in_precision(scores: npt.NDArray[np.floating], precision: Precision) -> npt.NDArray[np.floating]:
    """Scores as they are compared; what is too large for single precision becomes infinite, and ties."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32) if precision == "single" else scores


def _encode_sorted(column: pl.Series, queries: Vocabulary) -> Codes:
    """Query codes; rows of one query mostly stand together, so only the first of each stretch is looked up."""
    stretches = column.rle().struct
    return np.repeat(queries.encode(stretches.field("value")), stretches.field("len").to_numpy())


def _ranking(
    query: Codes, scores: npt.NDArray[np.floating] | None, document: Codes, documents: Vocabulary | None
) -> npt.NDArray[np.intp] | None:
    """Order of the rows by query, score and identifier; None when they stand in that order already."""
    grouped = bool((query[1:] >= query[:-1]).all())
    if scores is None:
        return None if grouped else np.argsort(query, kind="stable")
    same_query = query[1:] == query[:-1]
    order = None
    if not grouped or bool((same_query & (scores[1:] > scores[:-1])).any()):
        order = np.lexsort((-scores, query))
        query, scores, document = query[order], scores[order], document[order]
        same_query = query[1:] == query[:-1]
    tied = same_query & (scores[1:] == scores[:-1])
    if documents is None or not tied.any():
        return order
    fixed = _break_ties(tied, document, documents)
    return fixed if order is None else order[fixed]


def _break_ties(tied: Mask, document: Codes, documents: Vocabulary) -> npt.NDArray[np.intp]:
    """Order that sorts stretches of tied rows by identifier, descending; ``tied[i]`` links rows i and i + 1."""
    order = np.arange(len(document))
    rows = np.flatnonzero(np.concatenate([tied, [False]]) | np.concatenate([[False], tied]))
    group = np.cumsum(~np.concatenate([[False], tied]))[rows]
    codes, inverse = np.unique(document[rows], return_inverse=True)
    place = documents.decode(codes).rank("ordinal", descending=True).to_numpy()[inverse]
    order[rows] = rows[np.lexsort((place, group))]
    return order


def _repeats(run: Run) -> Mask | None:
    """Which rows repeat a document of the same ranking at a better rank; None when no row does."""
    lengths = run.lengths
    if run.documents.size == 0 or not _has_repeats(run, lengths):
        return None
    keys = (run.query_codes.astype(np.int64) << 32) | run.documents
    _, firsts = np.unique(keys, return_index=True)
    mask = np.ones(len(keys), dtype=np.bool_)
    mask[firsts] = False
    return mask


def _has_repeats(run: Run, lengths: Ints) -> bool:
    """Sort each ranking by code and look for equal neighbours: cheap where rankings are of like length."""
    longest, filled = int(lengths.max()), lengths[lengths > 0]
    if longest * len(filled) > 2 * len(run.documents):
        keys = np.sort((run.query_codes.astype(np.int64) << 32) | run.documents)
        return bool((keys[1:] == keys[:-1]).any())
    if (filled == longest).all():
        rows = np.sort(run.documents.reshape(-1, longest), axis=1)
    else:
        rows = np.tile(-1 - np.arange(longest, dtype=np.int32), (len(filled), 1))
        rows[np.arange(longest) < filled[:, None]] = run.documents
        rows.sort(axis=1)
    return bool((rows[:, 1:] == rows[:, :-1]).any())
