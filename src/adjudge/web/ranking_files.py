"""Files that say which documents are to be put in order for each query: a table, or runs whose documents are pooled."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.formats import Source, read_table
from adjudge.web.ranking_settings import MOST_CANDIDATES
from adjudge.web.run_files import read_runs

if TYPE_CHECKING:
    import polars as pl

    from adjudge.formats import Format
    from adjudge.model.runs import Run, Runs


class GivenCandidates(NamedTuple):
    """Documents by query, the files that they came from with their digests, and what the reader had to say."""

    candidates: dict[str, list[str]]
    inputs: list[tuple[str, str]]
    notes: list[str]


def read_candidates(path: Path, *, cutoff: int | None = None) -> dict[str, list[str]]:
    """The documents of each query, in the order in which they come.

    A table with columns query and document (CSV, TSV, Parquet), or JSON ``{query: [document, …]}``, is taken as it
    stands: each document once for a query, and at least two of them. A run gives the documents that it retrieved, or
    the first ``cutoff`` of them.
    """
    return candidate_files([path], cutoff=cutoff).candidates


def candidate_files(paths: Sequence[Path], *, cutoff: int | None = None) -> GivenCandidates:
    """Candidates from one file, or pooled from several runs: the first ``cutoff`` documents of each, best ranks first.

    ``cutoff`` is for runs; with a table of candidates it is refused, as it would leave out what was asked for. Of
    several tables a note says which candidates come again: unlike runs, they are not made to overlap.
    """
    if cutoff is not None and cutoff < 1:
        raise AdjudgeError(f"'cutoff' must be at least 1, got {cutoff}")
    if not paths:
        raise AdjudgeError("Expected a file with candidates, got none.")
    source = Source.open(paths[0])
    frame, origin = read_table(source, "runs")
    is_table = "score" not in frame.columns and "rank" not in frame.columns and frame["system"].n_unique() == 1
    if len(paths) > 1 or not is_table:
        collection, notes = read_runs([str(path) for path in paths])
        pooled = _pooled(collection.runs, cutoff)
        if is_table and cutoff is None:
            notes += _named_again(collection.runs)
        _check(pooled, str(paths[0]) if len(paths) == 1 else "the runs", None)
        return GivenCandidates(pooled, list(collection.provenance.inputs), notes)
    if cutoff is not None:
        raise InputError("expected runs where a cutoff is given, got a table of candidates", source=source.name)
    found = _listed(frame, origin, source)
    return GivenCandidates(found, [(source.name, source.sha256)], [])


def _listed(frame: pl.DataFrame, origin: Format, source: Source) -> dict[str, list[str]]:
    """The rows of a table by query; a document that comes again is refused with its line."""
    found: dict[str, dict[str, None]] = {}
    if origin.name == "json":  # a query without documents has no row
        given = json.loads(source.text)
        empty = [query for query, documents in given.items() if not documents] if isinstance(given, dict) else []
        if empty:
            raise source.error(f"expected 2 to {MOST_CANDIDATES} documents for query {shown(empty[0])}, got none", None)
    first: dict[str, int] = {}
    for row, (query, document) in enumerate(frame.select("query", "document").iter_rows()):
        there = found.setdefault(query, {})
        first.setdefault(query, row)
        if document in there:
            line = origin.line(source, "runs", row)
            raise source.error(
                f"expected each document once a query, got {shown(document)} of {shown(query)} again", line
            )
        there[document] = None
    lines = {query: origin.line(source, "runs", row) for query, row in first.items() if _is_wrong(len(found[query]))}
    candidates = {query: list(documents) for query, documents in found.items()}
    _check(candidates, source.name, lines)
    return candidates


def _is_wrong(number: int) -> bool:
    return not 2 <= number <= MOST_CANDIDATES


def _check(candidates: Mapping[str, Sequence[str]], source: str, lines: Mapping[str, int | None] | None) -> None:
    """Refuse a query with one document, or with more than anybody puts in order."""
    for query, documents in candidates.items():
        if _is_wrong(len(documents)):
            got = f"only {shown(documents[0])}" if len(documents) == 1 else f"{len(documents):,}"
            raise InputError(
                f"expected 2 to {MOST_CANDIDATES} documents for query {shown(query)}, got {got}",
                source=source,
                line=None if lines is None else lines.get(query),
            )


def _pooled(runs: Runs, cutoff: int | None) -> dict[str, list[str]]:
    """Documents that any system retrieved, by query; those of the best ranks first, then as systems come."""
    ranked: dict[str, list[tuple[int, str]]] = {}
    for one in runs if cutoff is None else [whole.cut(cutoff) for whole in runs]:
        queries, documents = runs.queries.decode(one.query_codes), runs.documents.decode(one.documents)
        for query, rank, document in zip(queries, _ranks(one), documents, strict=True):
            ranked.setdefault(query, []).append((rank, document))
    return {
        query: list(dict.fromkeys(name for _, name in sorted(of, key=itemgetter(0)))) for query, of in ranked.items()
    }


def _named_again(runs: Runs) -> list[str]:
    """What tables say twice; no error, as runs without scores look the same, and they do have documents in common."""
    times: Counter[tuple[str, str]] = Counter()
    for one in runs:
        if one.scores is None:
            times.update(zip(runs.queries.decode(one.query_codes), runs.documents.decode(one.documents), strict=True))
    again = [f"{shown(document)} of {shown(query)}" for (query, document), n in times.items() if n > 1]
    if not again:
        return []
    some = f"{', '.join(again[:3])}{', …' if len(again) > 3 else ''}"
    return [f"Candidates in several tables are taken once ({len(again):,} of {len(times):,}): {some}."]


def _ranks(one: Run) -> list[int]:
    """The rank of each document that a system retrieved."""
    ranks: list[int] = (np.arange(len(one.documents)) - np.repeat(one.offsets[:-1], one.lengths)).tolist()
    return ranks
