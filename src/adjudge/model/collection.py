"""A collection: runs, judgments and metadata that share their vocabularies.

Judgments are coded before runs, so that the codes of judged queries are 0, 1, …, ``n_judged - 1`` and every run holds
their rankings side by side. :class:`Metadata` is what is known about documents besides their relevance: artist, genre,
any column. :class:`Similarity` is how alike documents are to one another, whatever it is made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from adjudge.arrays import Codes, Floats
from adjudge.checks import COUNT, Combine, Exclude, Kind, Precision, checked
from adjudge.errors import AdjudgeError, InputError, shown, warn
from adjudge.model.judgments import Judgments, encode_judgments
from adjudge.model.provenance import Provenance
from adjudge.model.runs import Run, Runs, encode_run
from adjudge.model.scales import Scale
from adjudge.model.vocabulary import Vocabulary
from adjudge.registry import unknown
from adjudge.text import counted, listed

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Metadata:
    """One row per document: row i of ``table`` describes ``documents[code[i]]``."""

    documents: Vocabulary
    code: Codes
    table: pl.DataFrame

    def __len__(self) -> int:
        return len(self.code)

    def __repr__(self) -> str:
        return f"Metadata({counted(len(self), 'document')}: {', '.join(self.columns)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of what is known about a document."""
        return tuple(name for name in self.table.columns if name != "document")

    def values(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """A column as codes, one for each document code (-1 where nothing is known), and the names of those codes."""
        import polars as pl

        if column not in self.columns:
            raise unknown("metadata column", column, self.columns)
        text = self.table[column].cast(pl.String)
        known = text.is_not_null().to_numpy()
        names = Vocabulary()
        codes = np.full(len(self.documents), -1, dtype=np.int32)
        codes[self.code[known]] = names.encode(text.drop_nulls())
        return codes, tuple(names)


def encode_metadata(frame: pl.DataFrame, *, documents: Vocabulary, source: str) -> Metadata:
    """Code rows ``document, …``; a document may come once, or again with the same values."""
    if len(frame.columns) < 2:
        raise AdjudgeError(f"{source}: expected a document column and at least one more, got {frame.columns}")
    frame = frame.unique(maintain_order=True)
    repeated = frame.filter(frame["document"].is_duplicated())
    if repeated.height:
        came = f"several different ones for {shown(repeated['document'][0])}"
        raise InputError(f"expected one row per document, got {came}", source=source)
    return Metadata(documents, documents.encode(frame["document"]), frame)


@dataclass(frozen=True)
class Collection:
    """What an evaluation needs: the systems' rankings, the assessors' judgments, metadata of documents."""

    runs: Runs
    judgments: Judgments | None = None
    metadata: Metadata | None = None
    provenance: Provenance = field(default_factory=Provenance)

    def __repr__(self) -> str:
        parts = [repr(self.runs), *(repr(part) for part in (self.judgments, self.metadata) if part is not None)]
        return f"Collection({', '.join(parts)})"

    @property
    def queries(self) -> Vocabulary:
        """Identifiers of all queries, judged ones first."""
        return self.runs.queries

    @property
    def documents(self) -> Vocabulary:
        """Identifiers of all documents in runs, judgments and metadata."""
        return self.runs.documents

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return self.runs.systems

    def rescaled(self, target: str) -> Collection:
        """The collection with its judgments on another scale, such as ``graded3`` or ``binary40``."""
        judgments = self.need_judgments()
        provenance = self.provenance.with_settings(rescaled=target, rescaled_from=str(judgments.scale))
        return replace(self, judgments=judgments.rescaled(target), provenance=provenance)

    def combined(self, how: Combine) -> Collection:
        """The collection with another rule for pairs judged by several assessors."""
        provenance = self.provenance.with_settings(combine=how)
        return replace(self, judgments=self.need_judgments().combined(how), provenance=provenance)

    def need_judgments(self) -> Judgments:
        """The judgments, or an error that says they are missing."""
        if self.judgments is None or len(self.judgments) == 0:
            raise AdjudgeError("The collection has no judgments; give them with judgments=…")
        return self.judgments


@dataclass(frozen=True)
class Table:
    """A plain table and the name that messages call it by; ``line`` is the line of a row in its file, if known.

    ``exclude`` removes from every ranking of a table of runs the ``query`` itself, or with ``artist`` also the
    documents by its artist, as MIREX does.
    """

    frame: pl.DataFrame
    source: str
    exclude: Exclude = "nothing"
    line: Callable[[int], int | None] = lambda row: None


@checked(depth=COUNT)
def build_collection(
    runs: Iterable[Table],
    judgments: Sequence[Table] = (),
    metadata: Table | None = None,
    *,
    scale: Scale | None = None,
    teams: Mapping[str, str] | None = None,
    depth: int | None = None,
    score_precision: Precision = "single",
    provenance: Provenance | None = None,
) -> Collection:
    """Code plain tables into a collection; tables of runs come one at a time and need not fit in memory together.

    ``depth`` keeps that many documents per ranking; ``score_precision`` is the precision in which scores are compared.
    """
    queries, documents = Vocabulary(), Vocabulary()
    coded = encode_all_judgments(judgments, queries, documents, scale) if judgments else None
    known = None if metadata is None else encode_metadata(metadata.frame, documents=documents, source=metadata.source)
    systems = _encode_all_runs(
        runs, queries, documents, metadata=known, teams=teams or {}, depth=depth, precision=score_precision
    )
    if not systems:
        raise AdjudgeError("Expected at least one run, got none.")
    everything = Runs(tuple(_extended(run, len(queries)) for run in systems), queries, documents, depth)
    return Collection(everything, coded, known, provenance or Provenance())


def encode_all_judgments(
    tables: Sequence[Table], queries: Vocabulary, documents: Vocabulary, scale: Scale | None
) -> Judgments:
    """Code the judgments of several tables as one; errors name the table and the line."""
    import polars as pl

    names = ", ".join(table.source for table in tables)
    if len({frozenset(table.frame.columns) for table in tables}) > 1:
        raise AdjudgeError(f"Expected judgments with the same columns in {names}.")
    frame = pl.concat([table.frame.select(tables[0].frame.columns) for table in tables])

    def error(message: str, row: int) -> InputError:
        ends = np.cumsum([table.frame.height for table in tables])
        i = int(np.searchsorted(ends, row, side="right"))
        table = tables[i]
        return InputError(message, source=table.source, line=table.line(row - int(ends[i]) + table.frame.height))

    return encode_judgments(frame, queries=queries, documents=documents, scale=scale, source=names, error=error)


def _encode_all_runs(
    tables: Iterable[Table],
    queries: Vocabulary,
    documents: Vocabulary,
    *,
    metadata: Metadata | None,
    teams: Mapping[str, str],
    depth: int | None,
    precision: Precision,
) -> list[Run]:
    origin: dict[str, str] = {}
    runs, repeats = [], []
    for table in tables:
        for name, frame in _by_system(table.frame):
            if name in origin:
                raise InputError(
                    f"expected each system once, got {shown(name)} again (first in {origin[name]}); "
                    "where tags repeat, name systems after their files (--names file, names='file')",
                    source=table.source,
                )
            origin[name] = table.source
            team = teams.get(name, frame["team"][0] if "team" in frame.columns else None)
            run, n_again, first = encode_run(
                frame, system=name, team=team, queries=queries, documents=documents, precision=precision
            )
            if n_again:
                repeats.append((n_again, first))
            if table.exclude != "nothing":
                run = _excluded(run, queries, documents, metadata if table.exclude == "artist" else None)
            runs.append(run if depth is None else run.cut(depth))
            del frame
        del table  # while the next one is waited for
    if repeats:
        found = f"{sum(n for n, _ in repeats)} in {counted(len(repeats), 'system')}, first {repeats[0][1]}"
        warn(f"Documents that come twice in a ranking keep their best rank: {found}.", stacklevel=4)
    if strangers := [name for name in teams if name not in origin]:
        warn(f"Teams are given for systems without a run: {listed(strangers, most=5)}.", stacklevel=3)
    return runs


def _by_system(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each system; most files hold one, and are not copied."""
    if frame["system"].n_unique() == 1:
        yield frame["system"][0], frame
        return
    for (system, *_), rows in frame.group_by("system", maintain_order=True):
        yield str(system), rows


def _excluded(run: Run, queries: Vocabulary, documents: Vocabulary, metadata: Metadata | None) -> Run:
    """The run without the query itself and, with metadata, without the documents of its artist."""
    itself = documents.find(queries.strings)
    artist = np.full(len(documents), -1, dtype=np.int32) if metadata is None else metadata.values("artist")[0]
    own_artist = np.where(itself >= 0, artist[itself], -1)
    if metadata is not None and not (own_artist >= 0).any():
        warn("The artist filter removed nothing by artist: no query is a document of the metadata.", stacklevel=5)
    query = run.query_codes
    same_artist = (artist[run.documents] == own_artist[query]) & (own_artist[query] >= 0)
    return run.keep(~(same_artist | (run.documents == itself[query])))


def _extended(run: Run, n_queries: int) -> Run:
    """Offsets for every query code, also for those first seen after this run."""
    missing = n_queries + 1 - len(run.offsets)
    return replace(run, offsets=np.pad(run.offsets, (0, missing), mode="edge")) if missing else run


_ROUNDING = 1e-6  # by which the similarities of a pair may differ


COLLECTION = Kind(Collection, "a collection (from adjudge.read)")


@runtime_checkable
class Similarity(Protocol):
    """Similarity of documents from 0 (nothing in common) to 1 (the same), as a matrix of any of them."""

    @property
    def digest(self) -> str:
        """Digest of all that similarities depend on, so that a saved session knows whether they have changed."""

    def among(self, documents: Sequence[str]) -> Floats:
        """Documents x documents, symmetric, 1 on the diagonal; NaN in rows and columns of unknown documents."""


SIMILARITY = Kind(Similarity, "a similarity (from adjudge.relevance.embedding_similarity, for example)")


def similarities(similarity: Similarity, documents: Sequence[str]) -> Floats:
    """The matrix of :meth:`Similarity.among`, checked for shape and symmetry.

    >>> class Halves:
    ...     digest = "halves"
    ...     def among(self, documents: Sequence[str]) -> Floats:
    ...         return np.array([[1.0, 0.5], [0.4, 1.0]])
    >>> similarities(Halves(), ["a", "b"])
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: Similarity of 'a' and 'b': expected the same number both ways, got 0.5 and 0.4
    """
    found, n = np.asarray(similarity.among(documents), dtype=np.float64), len(documents)
    if found.shape != (n, n):
        came = " x ".join(str(length) for length in found.shape) or "one"
        raise AdjudgeError(f"Similarity of {n} documents: expected {n} x {n} numbers, got {came}")
    known = np.flatnonzero(~np.isnan(np.diagonal(found)))
    part = found[np.ix_(known, known)]
    with np.errstate(invalid="ignore"):
        same = np.abs(part - part.T) <= _ROUNDING  # False for NaN and infinity, too
    if not same.all():
        row, column = known[np.argwhere(~same)[0]]
        pair = listed([shown(documents[row]), shown(documents[column])])
        came = f"{found[row, column]} and {found[column, row]}"
        raise AdjudgeError(f"Similarity of {pair}: expected the same number both ways, got {came}")
    return found
