"""What a ranking campaign stores: queries, and for each the documents that experts put in order.

A query is a row of ``pair`` under its own name; its candidates are rows of ``listed`` in the order in which they came,
from a table or from runs whose documents are pooled. The queue is drawn from the campaign's seed when it opens.
Checks of what is stored find candidates with gaps, and rankings of other documents.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from adjudge.errors import AdjudgeError, InputError, kept_warnings, shown
from adjudge.formats import Source, read, read_table
from adjudge.web.errors import Refused
from adjudge.web.kinds.ranking.settings import MOST_CANDIDATES, settings_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, locked, log_event, refuse_unless_draft
from adjudge.web.store.items import NewQuestion, check_text, lay_listed, replace_asked

if TYPE_CHECKING:
    import polars as pl

    from adjudge.formats import Format
    from adjudge.model.runs import Run, Runs


class CandidateFiles(NamedTuple):
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


def candidate_files(paths: Sequence[Path], *, cutoff: int | None = None) -> CandidateFiles:
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
        with kept_warnings() as notes:
            collection = read([str(path) for path in paths])
        pooled = _pooled(collection.runs, cutoff)
        if is_table and cutoff is None:
            notes += _named_again(collection.runs)
        _check_cutoff(pooled, str(paths[0]) if len(paths) == 1 else "the runs", None)
        return CandidateFiles(pooled, list(collection.provenance.inputs), notes)
    if cutoff is not None:
        raise InputError("expected runs where a cutoff is given, got a table of candidates", source=source.name)
    found = _listed(frame, origin, source)
    return CandidateFiles(found, [(source.name, source.sha256)], [])


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
    _check_cutoff(candidates, source.name, lines)
    return candidates


def _is_wrong(number: int) -> bool:
    return not 2 <= number <= MOST_CANDIDATES


def _check_cutoff(candidates: Mapping[str, Sequence[str]], source: str, lines: Mapping[str, int | None] | None) -> None:
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
    for run in runs if cutoff is None else [whole.cut(cutoff) for whole in runs]:
        queries, documents = runs.queries.decode(run.query_codes), runs.documents.decode(run.documents)
        for query, rank, document in zip(queries, _ranks(run), documents, strict=True):
            ranked.setdefault(query, []).append((rank, document))
    return {
        query: list(dict.fromkeys(name for _, name in sorted(of, key=itemgetter(0)))) for query, of in ranked.items()
    }


def _named_again(runs: Runs) -> list[str]:
    """What tables say twice; no error, as runs without scores look the same, and they do have documents in common."""
    times: Counter[tuple[str, str]] = Counter()
    for run in runs:
        if run.scores is None:
            times.update(zip(runs.queries.decode(run.query_codes), runs.documents.decode(run.documents), strict=True))
    again = [f"{shown(document)} of {shown(query)}" for (query, document), n in times.items() if n > 1]
    if not again:
        return []
    some = f"{', '.join(again[:3])}{', …' if len(again) > 3 else ''}"
    return [f"Candidates in several tables are taken once ({len(again):,} of {len(times):,}): {some}."]


def _ranks(run: Run) -> list[int]:
    """The rank of each document that a system retrieved."""
    ranks: list[int] = (np.arange(len(run.documents)) - np.repeat(run.offsets[:-1], run.lengths)).tolist()
    return ranks


MOST_QUERIES = 10_000
"""Queries of a campaign at most: storing them takes seconds, in which nobody else can write."""
SIDE = "c"
"""Where candidates stand in ``listed``."""


def put_candidates(
    connection: Connection,
    campaign: Campaign,
    candidates: Mapping[str, Sequence[str]],
    *,
    inputs: Sequence[tuple[str, str]] = (),
    who: str = "command line",
    now: float,
) -> None:
    """Keep these documents by query instead of those that were there; ``inputs`` are their files, with digests.

    Only a draft takes candidates.
    """
    refuse_unless_draft(connection, locked(connection, campaign), "candidates")
    wanted = settings_of(campaign).judged_by
    if not 1 <= len(candidates) <= MOST_QUERIES:
        raise Refused(f"Expected the candidates of 1 to {MOST_QUERIES:,} queries, got {len(candidates) or 'none'}.")
    for query, documents in candidates.items():
        _check(query, documents)
    asked = [NewQuestion(query, query, {SIDE: documents}, "ranking", wanted) for query, documents in candidates.items()]
    replace_asked(connection, campaign, asked)
    details = {
        "queries": len(asked),
        "candidates": sum(len(documents) for documents in candidates.values()),
        "inputs": [list(given) for given in inputs],
    }
    log_event(connection, campaign.id, who=who, what="candidates", details=details, now=now)


def _check(query: str, documents: Sequence[str]) -> None:
    """Refuse what nobody can put in order."""
    check_text("the query", query, 400)
    if not 2 <= len(documents) <= MOST_CANDIDATES:
        raise Refused(
            f"Query {shown(query)}: expected 2 to {MOST_CANDIDATES} documents to put in order, got {len(documents)}."
        )
    seen: set[str] = set()
    for document in documents:
        if check_text("the document", document, 400) in seen:
            raise Refused(f"Query {shown(query)}: expected each document once, got {shown(document)} again.")
        seen.add(document)


def candidates_of(connection: Connection, campaign_id: int) -> dict[str, list[str]]:
    """The documents of each query, all in the order in which they were given."""
    query = (
        select(t.pair.c.query, t.item.c.identifier)
        .join(t.listed, t.listed.c.pair_id == t.pair.c.id)
        .join(t.item, t.item.c.id == t.listed.c.item_id)
        .where(t.pair.c.campaign_id == campaign_id, t.pair.c.role == "ranking")
        .order_by(t.pair.c.id, t.listed.c.rank)
    )
    found: dict[str, list[str]] = {}
    for name, document in connection.execute(query):
        found.setdefault(name, []).append(document)
    return found


def lay_rankings(connection: Connection, campaign: Campaign) -> None:
    """Lay the queue of a ranking campaign: begun queries first, then the others, in an order of the seed."""
    lay_listed(connection, campaign, lambda place, n: None)


def ranking_checks(connection: Connection) -> tuple[Iterator[str], ...]:
    """What is wrong with candidates, rankings that were sent and rankings that were begun, one after the other."""
    return _candidates(connection), _orders(connection), _arrangements(connection)


def _candidates(connection: Connection) -> Iterator[str]:
    """Whether every query has at least two documents, each once and without holes."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in connection.execute(select(t.listed).where(t.listed.c.side == SIDE).order_by(t.listed.c.rank)):
        found[row.pair_id].append((row.rank, row.item_id))
    columns = (t.pair.c.id, t.pair.c.query, t.pair.c.document, t.pair.c.role, t.campaign.c.name)
    query = select(*columns).join(t.campaign, t.campaign.c.id == t.pair.c.campaign_id).order_by(t.pair.c.id)
    for row in connection.execute(query):
        there, where = found.pop(row.id, []), f"{row.name}: query {row.query!r}"
        if row.role != "ranking":
            if there:
                yield f"{where}: a {row.role} has documents to be put in order"
            continue
        ranks, items = [rank for rank, _ in there], {number for _, number in there}
        if row.document != row.query or len(there) < 2 or ranks != [*range(1, len(there) + 1)]:
            yield f"{where}: expected at least two documents with ranks 1, 2, …, got {ranks or 'none'}"
        if len(items) < len(there):
            yield f"{where}: expected each document once"


def _names(connection: Connection) -> dict[int, dict[int, str]]:
    """Candidates of each pair: identifiers by number of the item."""
    query = select(t.listed.c.pair_id, t.item.c.id, t.item.c.identifier).join(t.item, t.item.c.id == t.listed.c.item_id)
    found: dict[int, dict[int, str]] = defaultdict(dict)
    for pair_id, number, name in connection.execute(query.where(t.listed.c.side == SIDE)):
        found[pair_id][number] = name
    return found


def _orders(connection: Connection) -> Iterator[str]:
    """Whether each ranking that was sent has every document once: in one group, or unranked."""
    names = _names(connection)
    columns = (t.answer.c.id, t.answer.c.kind, t.answer.c.pair_id, t.answer.c.grades)
    query = select(*columns).join(t.pair, t.pair.c.id == t.answer.c.pair_id).where(t.pair.c.role == "ranking")
    for row in connection.execute(query.order_by(t.answer.c.id)):
        if row.kind == "skip":
            continue
        if row.kind not in ("judgment", "correction"):
            yield f"answer {row.id}: a ranking is answered as {row.kind}"
        groups = row.grades.get("groups") or []
        given = [name for group in groups for name in group] + (row.grades.get("unranked") or [])
        if not groups or not all(groups) or sorted(given) != sorted(names[row.pair_id].values()):
            yield f"answer {row.id}: expected every candidate of its query once, in a group or unranked"


def _arrangements(connection: Connection) -> Iterator[str]:
    """Whether rankings that were begun are about candidates of their query, each once, and of people who are there."""
    names = _names(connection)
    columns = (t.arrangement, t.pair.c.campaign_id.label("asked_in"), t.participant.c.campaign_id.label("joined"))
    query = select(*columns, t.participant.c.erased_at).join(t.pair, t.pair.c.id == t.arrangement.c.pair_id)
    query = query.join(t.participant, t.participant.c.id == t.arrangement.c.participant_id)
    for row in connection.execute(query):
        where = f"ranking of pair {row.pair_id} by participant {row.participant_id}"
        given = [number for group in row.groups for number in group]
        if len(set(given)) < len(given) or not set(given) <= names[row.pair_id].keys():
            yield f"{where}: expected candidates of its query, each once"
        if row.version < 1 or {row.campaign_id, row.asked_in, row.joined} != {row.campaign_id}:
            yield f"{where}: expected a version, and one campaign"
        if row.erased_at is not None:
            yield f"{where}: its participant was erased"
