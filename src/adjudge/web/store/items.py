"""Items of a campaign, the documents and queries that people hear, read or see, and the questions about lists of them.

An item is a row as soon as something is known of it. It can be asked about once it is complete: audio has a clip,
notation a clip and a drawing, an image its original, a text its words and a url its address.

A question about lists (two lists to compare, candidates to put in order) is a row of ``pair`` with a query; its
documents are rows of ``listed``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.engine import RowMapping

from adjudge.errors import shown
from adjudge.web.errors import Conflict, Refused
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, locked
from adjudge.web.store.leases import lay_queue

KINDS = ("audio", "notation", "text", "image", "url")
ROLES = ("document", "query")
_CHUNK = 5_000  # rows sent to the database at a time


@dataclass(frozen=True)
class NewItem:
    """A document or query as it comes: what is known of it, and what of it people hear, read or see, if anything yet.

    Audio has a clip, notation a drawing as well, an image its original, a text its words and a url its address in
    ``text``. ``facts`` are artist, genre and any other column of a table.
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
    drawing_sha256: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> dict[str, Any]:
        """The columns that say what people get."""
        names = ("kind", "text", "original_sha256", "original_name", "clip_sha256", "media_type", "seconds", "loudness",
                 "gain_db", "drawing_sha256")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    @property
    def is_complete(self) -> bool:
        """Whether there is something to hear, read or see."""
        return is_complete(self.content)


def check_text(what: str, value: str, longest: int) -> str:
    """A name that a column can hold."""
    if not value or len(value) > longest or any(ord(character) < 32 for character in value):
        raise Refused(f"Expected {what} in at most {longest} characters without control characters, got {shown(value)}")
    return value


def put_items(connection: Connection, campaign: Campaign, items: Iterable[NewItem]) -> int:
    """Add documents and queries, or to what is known of them; the number of rows that are new or changed.

    What people hear, read or see is replaced where something comes, and gets a new address, as browsers keep what they
    had. Facts are added to those that were known.
    """
    if locked(connection, campaign).state == "closed":
        raise Conflict("The campaign is closed; reopen it to change its documents.")
    rows = connection.execute(select(t.item).where(t.item.c.campaign_id == campaign.id)).mappings()
    known = {(row["role"], row["identifier"]): row for row in rows}
    new, changed = [], []
    for given in {(item.role, item.identifier): item for item in items}.values():
        _check_item(given)
        before = known.get((given.role, given.identifier))
        if before is None:
            new.append({"campaign_id": campaign.id, "role": given.role, "identifier": given.identifier,
                        "address": secrets.token_urlsafe(16), "facts": dict(given.facts), **given.content})  # fmt: skip
        elif (after := _merged(before, given)) is not None:
            changed.append(after)
    for part in chunks(new):
        connection.execute(insert(t.item), part)
    if changed:
        columns = {name: bindparam(f"new_{name}", type_=t.item.c[name].type) for name in changed[0] if name != "id"}
        named = [{f"new_{name}": value for name, value in row.items()} for row in changed]
        connection.execute(update(t.item).where(t.item.c.id == bindparam("new_id")).values(columns), named)
    return len(new) + len(changed)


def _check_item(given: NewItem) -> None:
    if given.role not in ROLES or given.kind not in KINDS:
        raise Refused(f"Expected a {' or '.join(ROLES)} that is {', '.join(KINDS)}, got {given.role} of {given.kind}")
    check_text(f"the {given.role}", given.identifier, 400)


def _merged(before: RowMapping, given: NewItem) -> dict[str, Any] | None:
    """The row after something new came; None where it stays as it is."""
    content = {name: before[name] for name in given.content}
    after = dict(given.content) if given.is_complete else content
    if not given.is_complete and not is_complete(content):
        after["kind"] = given.kind
    facts = {**before["facts"], **given.facts}
    if after == content and facts == before["facts"]:
        return None
    address = before["address"] if after == content else secrets.token_urlsafe(16)
    return {"id": before["id"], "address": address, "facts": facts, **after}


def is_complete(content: Mapping[str, Any] | RowMapping) -> bool:
    """Whether a row has something to hear, read or see."""
    needed = {"audio": ("clip_sha256",), "notation": ("clip_sha256", "drawing_sha256"), "image": ("original_sha256",)}
    return all(content[column] for column in needed.get(content["kind"], ("text",)))


def items_by_identifier(connection: Connection, campaign_id: int) -> dict[tuple[str, str], RowMapping]:
    """All rows of a campaign by role and identifier."""
    rows = connection.execute(select(t.item).where(t.item.c.campaign_id == campaign_id)).mappings()
    return {(row["role"], row["identifier"]): row for row in rows}


def query_item(rows: Mapping[tuple[str, str], RowMapping], query: str) -> RowMapping | None:
    """What stands for a query: an item of its own, else the document of the same name."""
    own, document = rows.get(("query", query)), rows.get(("document", query))
    return document if own is None or (document is not None and not is_complete(own)) else own


def chunks(rows: list[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    """Rows in parts that a database takes at once."""
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))


@dataclass(frozen=True)
class NewQuestion:
    """Something that is asked about a query: its name, its documents by side, and for how many people it is."""

    name: str
    query: str
    lists: Mapping[str, Sequence[str]]
    role: str
    wanted: int
    details: dict[str, Any] | None = None

    @property
    def documents(self) -> list[str]:
        """All that stand in some list."""
        return [document for documents in self.lists.values() for document in documents]


def replace_asked(connection: Connection, campaign: Campaign, asked: Sequence[NewQuestion]) -> None:
    """Ask these of a draft instead of what was asked before."""
    documents = dict.fromkeys(document for question in asked for document in question.documents)
    queries = dict.fromkeys(question.query for question in asked)
    _forget_asked(connection, campaign, needed={*documents, *queries})
    rows = items_by_identifier(connection, campaign.id)
    lacking = [name for name in documents if ("document", name) not in rows]
    lacking += [name for name in queries if name not in documents and query_item(rows, name) is None]
    put_items(connection, campaign, [NewItem(name) for name in lacking])
    rows = items_by_identifier(connection, campaign.id)
    for part in chunks([_pair_row(campaign, question, rows) for question in asked]):
        connection.execute(insert(t.pair), part)
    query = select(t.pair.c.document, t.pair.c.id).where(t.pair.c.campaign_id == campaign.id)
    ids = {row.document: row.id for row in connection.execute(query)}
    lists = [
        {"pair_id": ids[question.name], "side": side, "rank": rank, "item_id": rows["document", document]["id"]}
        for question in asked
        for side, names in question.lists.items()
        for rank, document in enumerate(names, start=1)
    ]
    for part in chunks(lists):
        connection.execute(insert(t.listed), part)


def _forget_asked(connection: Connection, campaign: Campaign, *, needed: set[str]) -> None:
    """Take out what a draft asks, and the documents that only this named and of which nothing else is known."""
    own = select(t.pair.c.id).where(t.pair.c.campaign_id == campaign.id)
    connection.execute(delete(t.listed).where(t.listed.c.pair_id.in_(own)))
    for table in (t.arrangement, t.lease, t.queue, t.pair):
        connection.execute(delete(table).where(table.c.campaign_id == campaign.id))
    empty = [
        row["id"]
        for row in items_by_identifier(connection, campaign.id).values()
        if row["identifier"] not in needed and not row["facts"] and not is_complete(row)
    ]
    if empty:
        connection.execute(
            delete(t.item).where(t.item.c.id == bindparam("this")), [{"this": item_id} for item_id in empty]
        )


def _pair_row(campaign: Campaign, question: NewQuestion, rows: Mapping[tuple[str, str], RowMapping]) -> dict[str, Any]:
    stands = query_item(rows, question.query)
    if stands is None:
        raise Refused(f"There is nothing to hear, read or see for {shown(question.query)}.")
    return {
        "campaign_id": campaign.id,
        "query": question.query,
        "document": question.name,
        "query_item_id": stands["id"],
        "document_item_id": None,
        "role": question.role,
        "batch": None,
        "details": question.details,
        "wanted": question.wanted,
        "taken": 0,
        "answered": 0,
    }


def missing_listed_items(connection: Connection, campaign: Campaign) -> list[str]:
    """Documents and queries of which there is nothing to hear, read or see yet, by name."""
    needed = needed_listed_items(connection, campaign)
    if needed is None:
        raise Refused(f"The campaign asks nothing yet; it needs {campaign.settings.made_of}.")
    rows = items_by_identifier(connection, campaign.id)
    stands = {name: query_item(rows, name) for name in needed["query"]}
    asked = {name: rows.get(("document", name)) for name in _listed_documents(connection, campaign.id)}
    lacking = {name for part in (stands, asked) for name, row in part.items() if row is None or not is_complete(row)}
    return sorted(lacking)


def needed_listed_items(connection: Connection, campaign: Campaign) -> dict[str, set[str]] | None:
    """Documents and queries that somebody will be asked about, by role; None while nothing is asked."""
    asked = select(t.pair.c.query).where(t.pair.c.campaign_id == campaign.id).distinct()
    queries = set(connection.execute(asked).scalars())
    if not queries:
        return None
    return {"document": _listed_documents(connection, campaign.id) | queries, "query": queries}


def _listed_documents(connection: Connection, campaign_id: int) -> set[str]:
    """Documents that stand in some list."""
    query = (
        select(t.item.c.identifier)
        .join(t.listed, t.listed.c.item_id == t.item.c.id)
        .where(t.item.c.campaign_id == campaign_id)
        .distinct()
    )
    return set(connection.execute(query).scalars())


def lay_listed(connection: Connection, campaign: Campaign, batch_of: Callable[[int, int], int | None]) -> None:
    """Lay the queue of all but attention checks: begun ones first, then by batch, in an order of the seed.

    ``batch_of`` gets the place of something in that order and how much there is. Done whenever the campaign opens, or
    what the queue rests on changes. What is answered or on lease stays wanted.
    """
    settings = campaign.settings
    items = items_by_identifier(connection, campaign.id)
    columns = (
        t.pair.c.id,
        t.pair.c.query,
        t.pair.c.query_item_id,
        t.pair.c.role,
        t.pair.c.batch,
        t.pair.c.wanted,
        t.pair.c.taken,
    )
    query = select(*columns).where(t.pair.c.campaign_id == campaign.id).order_by(t.pair.c.id).with_for_update()
    rows = connection.execute(query).all()
    asked = [row for row in rows if row.role != "trap"]
    drawn = np.random.default_rng([settings.seed, 3]).permutation(len(asked))
    place = {asked[int(number)].id: at for at, number in enumerate(drawn)}
    changed = []
    for row in rows:
        stands = query_item(items, row.query)
        query_item_id = row.query_item_id if stands is None else stands["id"]
        batch, wanted = None, 0
        if row.role != "trap":
            batch, wanted = batch_of(place[row.id], len(asked)), max(settings.judged_by, row.taken)
        if (query_item_id, batch, wanted) != (row.query_item_id, row.batch, row.wanted):
            changed.append({"this": row.id, "stands": query_item_id, "of": batch, "wish": wanted})
    if changed:
        values: dict[str, Any] = {
            "query_item_id": bindparam("stands"),
            "batch": bindparam("of"),
            "wanted": bindparam("wish"),
        }
        connection.execute(update(t.pair).where(t.pair.c.id == bindparam("this")).values(values), changed)
    ordered = sorted(asked, key=lambda row: (row.taken == 0, place[row.id]))
    lay_queue(connection, campaign.id, [row.id for row in ordered])
