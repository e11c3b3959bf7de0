"""A collection: runs, judgments and metadata that share their vocabularies.

Judgments are coded before runs, so that the codes of judged queries are 0, 1, …, ``n_judged - 1`` and every run holds
their rankings side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.choices import Combine, Exclude, Precision
from adjudge.errors import AdjudgeError, InputError, shown, warn
from adjudge.model.coding import Vocabulary
from adjudge.model.judgments import Judgments, encode_judgments
from adjudge.model.metadata import Metadata, encode_metadata
from adjudge.model.provenance import Provenance
from adjudge.model.runs import Run, Runs, encode_run
from adjudge.model.scales import Scale

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Collection:
    """What an evaluation needs: the systems' rankings, what assessors said, what is known of documents."""

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
        return replace(
            self,
            judgments=judgments.rescaled(target),
            provenance=self.provenance.with_settings(rescaled=target, rescaled_from=str(judgments.scale)),
        )

    def combined(self, how: Combine) -> Collection:
        """The collection with another rule for pairs judged by several assessors."""
        return replace(
            self,
            judgments=self.need_judgments().combined(how),
            provenance=self.provenance.with_settings(combine=how),
        )

    def need_judgments(self) -> Judgments:
        """The judgments, or an error that says they are missing."""
        if self.judgments is None or len(self.judgments) == 0:
            raise AdjudgeError("The collection has no judgments; give them with judgments=…")
        return self.judgments


@dataclass(frozen=True)
class Table:
    """A plain table and the name that messages call it by.

    ``exclude`` removes from every ranking of a table of runs the ``query`` itself, or with ``artist`` also the
    documents by its artist, as MIREX does.
    """

    frame: pl.DataFrame
    source: str
    exclude: Exclude = "nothing"


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
    """Code plain tables into a collection; tables of runs are taken one at a time and need not fit in memory together.

    ``depth`` keeps that many documents per ranking; ``score_precision`` is that in which scores are compared.
    """
    if depth is not None and not (isinstance(depth, int) and depth >= 1):
        raise AdjudgeError(f"'depth' must be a whole number of at least 1, got {depth}")
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
    """Code the judgments of several tables as one."""
    import polars as pl

    names = ", ".join(table.source for table in tables)
    if len({frozenset(table.frame.columns) for table in tables}) > 1:
        raise AdjudgeError(f"Expected judgments with the same columns in {names}.")
    frame = pl.concat([table.frame.select(tables[0].frame.columns) for table in tables])
    return encode_judgments(frame, queries=queries, documents=documents, scale=scale, source=names)


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
    runs = []
    repeats = []
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
            run, again = encode_run(
                frame, system=name, team=team, queries=queries, documents=documents, precision=precision
            )
            if again is not None:
                repeats.append(again)
            if table.exclude != "nothing":
                run = _excluded(run, queries, documents, metadata if table.exclude == "artist" else None)
            runs.append(run if depth is None else run.cut(depth))
            del frame
        del table  # while the next one is waited for
    if repeats:
        total, first = sum(again.n for again in repeats), repeats[0]
        warn(
            f"Documents that come twice in a ranking keep their best rank: {total} in {len(repeats)} "
            f"system{'s' if len(repeats) > 1 else ''}, first {shown(first.document)} for query {shown(first.query)} of "
            f"{shown(first.system)}.",
            stacklevel=4,
        )
    unknown_systems = [name for name in teams if name not in origin]
    if unknown_systems:
        warn(
            f"Teams are given for systems without a run: {', '.join(unknown_systems[:5])}.",
            stacklevel=3,
        )
    return runs


def _by_system(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each system; most files hold one, and are not copied."""
    if frame["system"].n_unique() == 1:
        yield frame["system"][0], frame
        return
    for (system, *_), rows in frame.group_by("system", maintain_order=True):
        yield str(system), rows


def _excluded(run: Run, queries: Vocabulary, documents: Vocabulary, metadata: Metadata | None) -> Run:
    """The run without the query itself and, where metadata are given, without the documents of its artist."""
    itself = documents.find(queries.strings)
    artist = np.full(len(documents), -1, dtype=np.int32) if metadata is None else metadata.values("artist")[0]
    own_artist = np.where(itself >= 0, artist[itself], -1)
    if metadata is not None and not (own_artist >= 0).any():
        warn(
            "The artist filter removed nothing by artist: no query is a document of the metadata.",
            stacklevel=5,
        )
    query = run.query_codes
    same_artist = (artist[run.documents] == own_artist[query]) & (own_artist[query] >= 0)
    return run.keep(~(same_artist | (run.documents == itself[query])))


def _extended(run: Run, n_queries: int) -> Run:
    """Offsets for every query code, also for those first seen after this run."""
    missing = n_queries + 1 - len(run.offsets)
    return replace(run, offsets=np.pad(run.offsets, (0, missing), mode="edge")) if missing else run
