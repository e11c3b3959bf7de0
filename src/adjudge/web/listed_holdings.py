"""What campaigns hold that ask about lists: something is asked about a query, and its documents are rows of ``listed``.

Questions about two lists and orders of candidates are kept so. Documents are rows from the moment something that is
asked names them, and can be asked about once there is something to hear, read or see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.engine import RowMapping

from adjudge.errors import shown
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Refused
from adjudge.web.items import NewItem, chunks, is_complete, items_by_identifier, put_items, query_item
from adjudge.web.leasing import lay_queue
from adjudge.web.schema import arrangement, item, lease, listed, pair, queue

_NONE = {
    "preference": "The campaign has no questions yet; give it a questions file.",
    "ranking": "The campaign has no candidates yet; give it a file with those of each query.",
}


@dataclass(frozen=True)
class Asked:
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


def replace_asked(connection: Connection, found: Campaign, asked: Sequence[Asked]) -> None:
    """Ask these of a draft instead of what was asked before."""
    documents = dict.fromkeys(document for one in asked for document in one.documents)
    queries = dict.fromkeys(one.query for one in asked)
    _forget_asked(connection, found, needed={*documents, *queries})
    rows = items_by_identifier(connection, found.id)
    lacking = [name for name in documents if ("document", name) not in rows]
    lacking += [name for name in queries if name not in documents and query_item(rows, name) is None]
    put_items(connection, found, [NewItem(name) for name in lacking])
    rows = items_by_identifier(connection, found.id)
    for part in chunks([_pair_row(found, one, rows) for one in asked]):
        connection.execute(insert(pair), part)
    query = select(pair.c.document, pair.c.id).where(pair.c.campaign_id == found.id)
    ids = {row.document: row.id for row in connection.execute(query)}
    lists = [
        {"pair_id": ids[one.name], "side": side, "rank": rank, "item_id": rows["document", document]["id"]}
        for one in asked
        for side, names in one.lists.items()
        for rank, document in enumerate(names, start=1)
    ]
    for part in chunks(lists):
        connection.execute(insert(listed), part)


def _forget_asked(connection: Connection, found: Campaign, *, needed: set[str]) -> None:
    """Take out what a draft asks, and the documents that only this named and of which nothing else is known."""
    own = select(pair.c.id).where(pair.c.campaign_id == found.id)
    connection.execute(delete(listed).where(listed.c.pair_id.in_(own)))
    for table in (arrangement, lease, queue, pair):
        connection.execute(delete(table).where(table.c.campaign_id == found.id))
    empty = [
        row["id"]
        for row in items_by_identifier(connection, found.id).values()
        if row["identifier"] not in needed and not row["facts"] and not is_complete(row)
    ]
    if empty:
        connection.execute(delete(item).where(item.c.id == bindparam("this")), [{"this": one} for one in empty])


def _pair_row(found: Campaign, one: Asked, rows: Mapping[tuple[str, str], RowMapping]) -> dict[str, Any]:
    stands = query_item(rows, one.query)
    if stands is None:
        raise Refused(f"There is nothing to hear, read or see for {shown(one.query)}.")
    return {
        "campaign_id": found.id,
        "query": one.query,
        "document": one.name,
        "query_item_id": stands["id"],
        "document_item_id": None,
        "role": one.role,
        "batch": None,
        "details": one.details,
        "wanted": one.wanted,
        "taken": 0,
        "answered": 0,
    }


def missing_listed_items(connection: Connection, found: Campaign) -> list[str]:
    """Documents and queries of which there is nothing to hear, read or see yet, by name."""
    needed = needed_listed_items(connection, found)
    if needed is None:
        raise Refused(_NONE[found.kind])
    rows = items_by_identifier(connection, found.id)
    stands = {name: query_item(rows, name) for name in needed["query"]}
    asked = {name: rows.get(("document", name)) for name in _listed_documents(connection, found.id)}
    lacking = {name for part in (stands, asked) for name, row in part.items() if row is None or not is_complete(row)}
    return sorted(lacking)


def needed_listed_items(connection: Connection, found: Campaign) -> dict[str, set[str]] | None:
    """Documents and queries that somebody will be asked about, by role; None while nothing is asked."""
    asked = select(pair.c.query).where(pair.c.campaign_id == found.id).distinct()
    queries = set(connection.execute(asked).scalars())
    if not queries:
        return None
    return {"document": _listed_documents(connection, found.id) | queries, "query": queries}


def _listed_documents(connection: Connection, campaign_id: int) -> set[str]:
    """Documents that stand in some list."""
    query = (
        select(item.c.identifier)
        .join(listed, listed.c.item_id == item.c.id)
        .where(item.c.campaign_id == campaign_id)
        .distinct()
    )
    return set(connection.execute(query).scalars())


def lay_listed(connection: Connection, found: Campaign, batch_of: Callable[[int, int], int | None]) -> None:
    """Lay the queue of all but traps: begun ones first, then by batch, in an order of the seed.

    ``batch_of`` gets the place of something in that order and how much there is. Done whenever the campaign opens, or
    what the queue rests on changes. What is answered or on lease stays wanted.
    """
    settings = found.settings
    items = items_by_identifier(connection, found.id)
    columns = (pair.c.id, pair.c.query, pair.c.query_item_id, pair.c.role, pair.c.batch, pair.c.wanted, pair.c.taken)
    query = select(*columns).where(pair.c.campaign_id == found.id).order_by(pair.c.id).with_for_update()
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
        connection.execute(update(pair).where(pair.c.id == bindparam("this")).values(values), changed)
    ordered = sorted(asked, key=lambda row: (row.taken == 0, place[row.id]))
    lay_queue(connection, found.id, [row.id for row in ordered])
