"""What a campaign holds: the rankings of its systems, its documents and queries, and the pairs that follow from them.

Rankings are kept as Parquet tables, at least the first 100 documents of each. A document is a row from the moment
something is known about it; it can be asked about once there is something to hear, read or see. Pairs are what
``adjudge.relevance`` calls candidates, neither more nor fewer.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.engine import RowMapping

from adjudge.errors import shown
from adjudge.model.provenance import Provenance
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.web.campaign_rows import Campaign, locked, log_event, refuse_unless_draft
from adjudge.web.errors import Conflict, Refused
from adjudge.web.leasing import lay_queue
from adjudge.web.schema import event, item, lease, pair, queue, run

if TYPE_CHECKING:
    import polars as pl

    from adjudge.model.collection import Collection, Table
    from adjudge.model.runs import Run, Runs

DEEPEST = 100
"""So many ranks are kept in any case: a report may want more than the campaign asks about."""
KINDS = ("audio", "text", "image", "url")
ROLES = ("document", "query")
_CHUNK = 5_000  # rows sent to the database at a time


@dataclass(frozen=True)
class NewItem:
    """A document or query as it comes: what is known of it, and what of it people hear, read or see, if anything yet.

    Audio has a clip, an image its original, a text its words and a url its address in ``text``. ``facts`` are artist,
    genre and any other column of a table.
    """

    identifier: str
    role: str = "document"
    kind: str = "audio"
    text: str | None = None
    original_sha256: str | None = None
    original_name: str | None = None
    clip_sha256: str | None = None
    media_type: str | None = None
    seconds: float | None = None
    loudness: float | None = None
    gain_db: float | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> dict[str, Any]:
        """The columns that say what people get."""
        names = ("kind", "text", "original_sha256", "original_name", "clip_sha256", "media_type", "seconds", "loudness",
                 "gain_db")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    @property
    def is_complete(self) -> bool:
        """Whether there is something to hear, read or see."""
        return _is_complete(self.content)


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
        _check_text("the system", one.system, 200)
        packed = _packed(runs, one.cut(depth))
        source = names[place] if len(names) == len(runs) else ", ".join(names)
        digest = hashlib.sha256(packed).hexdigest()
        team = None if one.team is None else _check_text("the team", one.team, 200)
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
            _check_text(f"the {name}", longest[name][0], 400)
    if one.scores is not None:
        frame = frame.with_columns(pl.Series("score", one.scores))
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _check_text(what: str, value: str, longest: int) -> str:
    """A name that a column can hold."""
    if not value or len(value) > longest or any(ord(sign) < 32 for sign in value):
        raise Refused(f"Expected {what} in at most {longest} characters without control characters, got {shown(value)}")
    return value


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


def candidates_of(connection: Connection, found: Campaign, collection: Collection | None = None) -> Candidates:
    """What there is to judge, as the engine sees it before anybody judged."""
    whole = collection_of(connection, found) if collection is None else collection
    return candidates(whole, cutoff=found.judging.cutoff, scale=found.judging.evaluated.scale)


def _retrieved(connection: Connection, found: Campaign) -> list[tuple[str, str]]:
    """Every candidate as query and document, in the order of the engine."""
    from adjudge.model.collection import build_collection

    pool = candidates_of(connection, found, build_collection(run_tables(connection, found.id)[0]))
    return [(pool.queries[query], document) for query, document in zip(pool.query, pool.document, strict=True)]


def put_items(connection: Connection, found: Campaign, items: Iterable[NewItem]) -> int:
    """Add documents and queries, or to what is known of them; the number of rows that are new or changed.

    What people hear, read or see is replaced where something comes, and gets a new address, as browsers keep what they
    had. Facts are added to those that were known.
    """
    if locked(connection, found).state == "closed":
        raise Conflict("The campaign is closed; reopen it to change its documents.")
    rows = connection.execute(select(item).where(item.c.campaign_id == found.id)).mappings()
    known = {(row["role"], row["identifier"]): row for row in rows}
    new, changed = [], []
    for given in {(one.role, one.identifier): one for one in items}.values():
        _check_item(given)
        before = known.get((given.role, given.identifier))
        if before is None:
            new.append({"campaign_id": found.id, "role": given.role, "identifier": given.identifier,
                        "address": secrets.token_urlsafe(16), "facts": dict(given.facts), **given.content})  # fmt: skip
        elif (after := _merged(before, given)) is not None:
            changed.append(after)
    for part in _chunks(new):
        connection.execute(insert(item), part)
    if changed:
        columns = {name: bindparam(f"new_{name}", type_=item.c[name].type) for name in changed[0] if name != "id"}
        named = [{f"new_{name}": value for name, value in row.items()} for row in changed]
        connection.execute(update(item).where(item.c.id == bindparam("new_id")).values(columns), named)
    return len(new) + len(changed)


def _check_item(given: NewItem) -> None:
    if given.role not in ROLES or given.kind not in KINDS:
        raise Refused(f"Expected a {' or '.join(ROLES)} that is {', '.join(KINDS)}, got {given.role} of {given.kind}")
    _check_text(f"the {given.role}", given.identifier, 400)


def _merged(before: RowMapping, given: NewItem) -> dict[str, Any] | None:
    """The row after something new came; None where it stays as it is."""
    content = {name: before[name] for name in given.content}
    after = dict(given.content) if given.is_complete else content
    if not given.is_complete and not _is_complete(content):
        after["kind"] = given.kind
    facts = {**before["facts"], **given.facts}
    if after == content and facts == before["facts"]:
        return None
    address = before["address"] if after == content else secrets.token_urlsafe(16)
    return {"id": before["id"], "address": address, "facts": facts, **after}


def _is_complete(content: Mapping[str, Any] | RowMapping) -> bool:
    column = {"audio": "clip_sha256", "image": "original_sha256"}.get(content["kind"], "text")
    return bool(content[column])


def items_by_identifier(connection: Connection, campaign_id: int) -> dict[tuple[str, str], RowMapping]:
    """All rows of a campaign by role and identifier."""
    rows = connection.execute(select(item).where(item.c.campaign_id == campaign_id)).mappings()
    return {(row["role"], row["identifier"]): row for row in rows}


def query_item(rows: Mapping[tuple[str, str], RowMapping], query: str) -> RowMapping | None:
    """What stands for a query: an item of its own, else the document of the same name."""
    own, document = rows.get(("query", query)), rows.get(("document", query))
    return document if own is None or (document is not None and not _is_complete(own)) else own


def missing_items(connection: Connection, found: Campaign) -> list[str]:
    """Candidates and queries of which there is nothing to hear, read or see yet, by name."""
    rows = items_by_identifier(connection, found.id)
    pairs = _retrieved(connection, found)
    wanted = {document: rows.get(("document", document)) for _, document in pairs}
    queries = {query: query_item(rows, query) for query, _ in pairs}
    lacking = [name for part in (wanted, queries) for name, row in part.items() if row is None or not _is_complete(row)]
    return sorted(set(lacking))


def needed_items(connection: Connection, found: Campaign) -> dict[str, set[str]] | None:
    """Documents and queries that somebody will be asked about, by role; None while there are no runs."""
    if connection.execute(select(run.c.id).where(run.c.campaign_id == found.id).limit(1)).first() is None:
        return None
    pairs = _retrieved(connection, found)
    queries = {query for query, _ in pairs}
    return {"document": {document for _, document in pairs} | queries, "query": queries}


def make_pairs(connection: Connection, found: Campaign, *, now: float) -> int:
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
    for part in _chunks(new):
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


def _chunks(rows: list[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))
