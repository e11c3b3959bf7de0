"""What a campaign holds: the rankings of its systems, its documents and queries, and the pairs that follow from them.

Rankings are kept as Parquet tables, at least the first 100 documents of each. A document is a row from the moment
something is known about it; it can be asked about once there is something to hear, read or see. Pairs are what
``adjudge.relevance`` calls candidates, neither more nor fewer.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from adjudge.errors import shown
from adjudge.model.provenance import Provenance
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.web.campaign_rows import Campaign, locked, log_event, refuse_unless_draft
from adjudge.web.errors import Refused
from adjudge.web.hearing import similarity_of
from adjudge.web.items import NewItem, check_text, chunks, is_complete, items_by_identifier, put_items, query_item
from adjudge.web.leasing import lay_queue
from adjudge.web.listed_holdings import missing_listed_items, needed_listed_items
from adjudge.web.schema import event, item, lease, pair, queue, run

if TYPE_CHECKING:
    import polars as pl

    from adjudge.model.collection import Collection, Table
    from adjudge.model.runs import Run, Runs

__all__ = [
    "DEEPEST",
    "NewItem",
    "candidates_of",
    "collection_of",
    "count_pairs",
    "items_by_identifier",
    "make_pairs",
    "metadata_table",
    "missing_items",
    "needed_items",
    "put_items",
    "put_runs",
    "query_item",
    "run_tables",
    "wish_again",
]

DEEPEST = 100
"""So many ranks are kept in any case: a report may want more than the campaign asks about."""


def put_runs(
    connection: Connection,
    found: Campaign,
    runs: Runs,
    *,
    inputs: Sequence[tuple[str, str]] = (),
    who: str = "command line",
    now: float,
) -> None:
    """Keep these runs instead of those that were there; ``inputs`` are the files they came from, with digests."""
    refuse_unless_draft(connection, locked(connection, found), "runs")
    depth = max(DEEPEST, found.judging.cutoff)
    names = [name for name, _ in inputs]
    rows = []
    for place, one in enumerate(runs):
        check_text("the system", one.system, 200)
        packed = _packed(runs, one.cut(depth))
        source = names[place] if len(names) == len(runs) else ", ".join(names)
        digest = hashlib.sha256(packed).hexdigest()
        team = None if one.team is None else check_text("the team", one.team, 200)
        rows.append({"campaign_id": found.id, "system": one.system, "team": team, "source": source[:400],
                     "sha256": digest, "rankings": packed})  # fmt: skip
    for table in (lease, queue, pair, run):
        connection.execute(delete(table).where(table.c.campaign_id == found.id))
    connection.execute(insert(run), rows)
    details = {"systems": list(runs.systems), "inputs": [list(given) for given in inputs]}
    log_event(connection, found.id, who=who, what="runs", details=details, now=now)


def _packed(runs: Runs, one: Run) -> bytes:
    """Rankings of one system as a Parquet file: query, document and, where there are any, scores."""
    import polars as pl

    queries, documents = runs.queries.decode(one.query_codes), runs.documents.decode(one.documents)
    frame = pl.DataFrame({"query": queries, "document": documents})
    for name in frame.columns:
        longest = frame.filter(
            (frame[name].str.len_chars() > 400) | frame[name].str.contains(r"[\x00-\x1F]")  # what no column can hold
        )
        if longest.height:
            check_text(f"the {name}", longest[name][0], 400)
    if one.scores is not None:
        frame = frame.with_columns(pl.Series("score", one.scores))
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def run_tables(connection: Connection, campaign_id: int) -> tuple[list[Table], dict[str, str]]:
    """The stored rankings as plain tables, and the team of each system that has one."""
    import polars as pl

    from adjudge.model.collection import Table

    rows = connection.execute(select(run).where(run.c.campaign_id == campaign_id).order_by(run.c.id)).mappings().all()
    if not rows:
        raise Refused("The campaign has no runs yet; it needs those of at least one system.")
    tables = []
    for row in rows:
        frame = pl.read_parquet(io.BytesIO(row["rankings"]))
        tables.append(Table(frame.select(pl.lit(row["system"]).alias("system"), pl.all()), row["source"] or "runs"))
    return tables, {row["system"]: row["team"] for row in rows if row["team"] is not None}


def metadata_table(connection: Connection, campaign_id: int) -> Table | None:
    """What is known of documents, and of queries that are none; None where nothing is."""
    import polars as pl

    from adjudge.model.collection import Table

    columns = (item.c.role, item.c.identifier, item.c.facts)
    ordered = select(*columns).where(item.c.campaign_id == campaign_id).order_by(item.c.role, item.c.identifier)
    facts: dict[str, dict[str, str]] = {}
    for row in connection.execute(ordered):
        facts.setdefault(row.identifier, row.facts)  # 'document' comes before 'query'
    names = sorted({name for known in facts.values() for name in known})
    if not names:
        return None
    by_column = {name: [known.get(name) for known in facts.values()] for name in names}
    frame: pl.DataFrame = pl.DataFrame(
        {"document": list(facts), **by_column}, schema=dict.fromkeys(["document", *names], pl.String)
    )
    return Table(frame, "the campaign's documents")


def collection_of(connection: Connection, found: Campaign, judgments: Sequence[Table] = ()) -> Collection:
    """Runs, teams and what is known of documents, as everything else in Adjudge takes them.

    ``judgments`` are tables of grades on the scale that is evaluated; without them nothing is judged.
    """
    from adjudge.model.collection import build_collection

    tables, teams = run_tables(connection, found.id)
    return build_collection(
        tables,
        judgments,
        metadata_table(connection, found.id),
        scale=found.judging.evaluated.scale,
        teams=teams,
        provenance=_provenance(connection, found),
    )


def _provenance(connection: Connection, found: Campaign) -> Provenance:
    """The files that the runs came from."""
    last = select(event.c.details).where(event.c.campaign_id == found.id, event.c.what == "runs")
    details = connection.execute(last.order_by(event.c.id.desc()).limit(1)).scalar_one_or_none() or {}
    inputs = tuple((str(name), str(digest)) for name, digest in details.get("inputs", ()))
    return Provenance(inputs, {"campaign": found.name})


def candidates_of(connection: Connection, found: Campaign) -> Candidates:
    """What there is to judge, as the engine sees it before anybody judged."""
    whole = collection_of(connection, found)
    pool = candidates(whole, cutoff=found.judging.cutoff, scale=found.judging.evaluated.scale)
    return replace(pool, similarity=similarity_of(connection, found, pool.document)) if found.judging.by_sound else pool


def _retrieved(connection: Connection, found: Campaign) -> list[tuple[str, str]]:
    """Every candidate as query and document, in the order of the engine."""
    from adjudge.model.collection import build_collection

    runs = build_collection(run_tables(connection, found.id)[0])
    pool = candidates(runs, cutoff=found.judging.cutoff, scale=found.judging.evaluated.scale)
    return [(pool.queries[query], document) for query, document in zip(pool.query, pool.document, strict=True)]


def missing_items(connection: Connection, found: Campaign) -> list[str]:
    """What somebody will be asked about and of which there is nothing to hear, read or see yet, by name."""
    if found.kind != "judging":
        return missing_listed_items(connection, found)
    rows = items_by_identifier(connection, found.id)
    pairs = _retrieved(connection, found)
    wanted = {document: rows.get(("document", document)) for _, document in pairs}
    queries = {query: query_item(rows, query) for query, _ in pairs}
    lacking = [name for part in (wanted, queries) for name, row in part.items() if row is None or not is_complete(row)]
    return sorted(set(lacking))


def needed_items(connection: Connection, found: Campaign) -> dict[str, set[str]] | None:
    """Documents and queries that somebody will be asked about, by role; None while that is not known."""
    if found.kind != "judging":
        return needed_listed_items(connection, found)
    if connection.execute(select(run.c.id).where(run.c.campaign_id == found.id).limit(1)).first() is None:
        return None
    pairs = _retrieved(connection, found)
    queries = {query for query, _ in pairs}
    return {"document": {document for _, document in pairs} | queries, "query": queries}


def make_pairs(connection: Connection, found: Campaign) -> int:
    """Add the candidates that are not there yet, and lay a first queue; the number of new ones.

    Everything must be there to be heard; see ``missing_items``. Until the engine has looked, the queue is in an order
    drawn from the campaign's seed.
    """
    rows = items_by_identifier(connection, found.id)
    there = connection.execute(select(pair.c.query, pair.c.document).where(pair.c.campaign_id == found.id))
    known = {(row.query, row.document) for row in there}
    pairs = _retrieved(connection, found)
    wanted = _wanted(found, len(pairs))
    new = []
    for (query, document), how_many in zip(pairs, wanted, strict=True):
        if (query, document) in known:
            continue
        heard, asked = query_item(rows, query), rows.get(("document", document))
        if heard is None or asked is None:
            raise Refused(f"There is nothing to hear, read or see for {shown(document if heard else query)}.")
        new.append({"campaign_id": found.id, "query": query, "document": document, "query_item_id": heard["id"],
                    "document_item_id": asked["id"], "wanted": how_many, "taken": 0, "answered": 0})  # fmt: skip
    for part in chunks(new):
        connection.execute(insert(pair), part)
    if new:
        _lay_first_queue(connection, found)
    return len(new)


def _wanted(found: Campaign, n_pairs: int) -> list[int]:
    """How many assessors each candidate is for: several for a share of them, drawn from the seed."""
    settings = found.judging
    n_several = round(settings.agreement_share * n_pairs) if settings.judged_by > 1 else 0
    if settings.judged_by > 1 and n_pairs:
        n_several = max(1, n_several)
    drawn = np.random.default_rng([settings.seed, 1]).permutation(n_pairs)[:n_several]
    wanted = np.ones(n_pairs, dtype=np.int64)
    wanted[drawn] = settings.judged_by
    return [int(number) for number in wanted]


def wish_again(connection: Connection, found: Campaign) -> None:
    """Ask for as many assessors a pair as the settings say now; what is answered or on lease stays wanted."""
    query = select(pair.c.id, pair.c.taken, pair.c.wanted).where(pair.c.campaign_id == found.id)
    there = connection.execute(query.order_by(pair.c.id).with_for_update()).all()
    wishes = zip(there, _wanted(found, len(there)), strict=True)
    changed = [
        {"pair": row.id, "wish": max(1, wish, row.taken)} for row, wish in wishes if row.wanted != max(wish, row.taken)
    ]
    if changed:
        connection.execute(update(pair).where(pair.c.id == bindparam("pair")).values(wanted=bindparam("wish")), changed)


def _lay_first_queue(connection: Connection, found: Campaign) -> None:
    ids = (
        connection.execute(select(pair.c.id).where(pair.c.campaign_id == found.id).order_by(pair.c.id)).scalars().all()
    )
    order = np.random.default_rng([found.settings.seed, 2]).permutation(len(ids))
    lay_queue(connection, found.id, [ids[place] for place in order])


def count_pairs(connection: Connection, campaign_id: int) -> int:
    """How many candidates are in the store."""
    query = select(func.count()).select_from(pair).where(pair.c.campaign_id == campaign_id)
    return int(connection.execute(query).scalar_one())
