"""What a ranking campaign holds: queries, and of each the documents that experts are to put in order.

A query is a row of ``pair`` under its own name; its candidates are rows of ``listed`` in the order in which they came.
The queue is drawn from the campaign's seed when it opens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from adjudge.errors import shown
from adjudge.web.campaign_rows import Campaign, locked, log_event, refuse_unless_draft
from adjudge.web.errors import Refused
from adjudge.web.items import check_text
from adjudge.web.listed_holdings import Asked, lay_listed, replace_asked
from adjudge.web.ranking_settings import MOST_CANDIDATES
from adjudge.web.schema import item, listed, pair

MOST_QUERIES = 10_000
"""So many queries a campaign has at most: storing them takes seconds, in which nobody else can write."""
SIDE = "c"
"""Where candidates stand in ``listed``."""


def put_candidates(
    connection: Connection,
    found: Campaign,
    candidates: Mapping[str, Sequence[str]],
    *,
    inputs: Sequence[tuple[str, str]] = (),
    who: str = "command line",
    now: float,
) -> None:
    """Keep these documents by query instead of those that were there; ``inputs`` are their files, with digests.

    Only a draft takes candidates.
    """
    refuse_unless_draft(connection, locked(connection, found), "candidates")
    wanted = found.ranking.judged_by
    if not 1 <= len(candidates) <= MOST_QUERIES:
        raise Refused(f"Expected the candidates of 1 to {MOST_QUERIES:,} queries, got {len(candidates) or 'none'}.")
    for query, documents in candidates.items():
        _check(query, documents)
    asked = [Asked(query, query, {SIDE: documents}, "ranking", wanted) for query, documents in candidates.items()]
    replace_asked(connection, found, asked)
    details = {
        "queries": len(asked),
        "candidates": sum(len(documents) for documents in candidates.values()),
        "inputs": [list(given) for given in inputs],
    }
    log_event(connection, found.id, who=who, what="candidates", details=details, now=now)


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
        select(pair.c.query, item.c.identifier)
        .join(listed, listed.c.pair_id == pair.c.id)
        .join(item, item.c.id == listed.c.item_id)
        .where(pair.c.campaign_id == campaign_id, pair.c.role == "ranking")
        .order_by(pair.c.id, listed.c.rank)
    )
    found: dict[str, list[str]] = {}
    for name, document in connection.execute(query):
        found.setdefault(name, []).append(document)
    return found


def lay_rankings(connection: Connection, found: Campaign) -> None:
    """Lay the queue of a ranking campaign: begun queries first, then the others, in an order of the seed."""
    lay_listed(connection, found, lambda place, n: None)
