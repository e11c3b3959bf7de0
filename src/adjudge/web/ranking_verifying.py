"""Looking at ranking campaigns with suspicion: candidates without holes, and rankings that are about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlalchemy import Connection, select

from adjudge.web.ranking_holdings import SIDE
from adjudge.web.schema import answer, arrangement, campaign, item, listed, pair, participant


def ranking_checks(connection: Connection) -> tuple[Iterator[str], ...]:
    """What is wrong with candidates, rankings that were sent and rankings that were begun, one after the other."""
    return _candidates(connection), _orders(connection), _arrangements(connection)


def _candidates(connection: Connection) -> Iterator[str]:
    """Whether every query has at least two documents, each once and without holes."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in connection.execute(select(listed).where(listed.c.side == SIDE).order_by(listed.c.rank)):
        found[row.pair_id].append((row.rank, row.item_id))
    columns = (pair.c.id, pair.c.query, pair.c.document, pair.c.role, campaign.c.name)
    query = select(*columns).join(campaign, campaign.c.id == pair.c.campaign_id).order_by(pair.c.id)
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
    query = select(listed.c.pair_id, item.c.id, item.c.identifier).join(item, item.c.id == listed.c.item_id)
    found: dict[int, dict[int, str]] = defaultdict(dict)
    for pair_id, number, name in connection.execute(query.where(listed.c.side == SIDE)):
        found[pair_id][number] = name
    return found


def _orders(connection: Connection) -> Iterator[str]:
    """Whether each ranking that was sent has every document once: in one group, or unranked."""
    names = _names(connection)
    columns = (answer.c.id, answer.c.kind, answer.c.pair_id, answer.c.grades)
    query = select(*columns).join(pair, pair.c.id == answer.c.pair_id).where(pair.c.role == "ranking")
    for row in connection.execute(query.order_by(answer.c.id)):
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
    columns = (arrangement, pair.c.campaign_id.label("asked_in"), participant.c.campaign_id.label("joined"))
    query = select(*columns, participant.c.erased_at).join(pair, pair.c.id == arrangement.c.pair_id)
    query = query.join(participant, participant.c.id == arrangement.c.participant_id)
    for row in connection.execute(query):
        where = f"ranking of pair {row.pair_id} by participant {row.participant_id}"
        given = [number for group in row.groups for number in group]
        if len(set(given)) < len(given) or not set(given) <= names[row.pair_id].keys():
            yield f"{where}: expected candidates of its query, each once"
        if row.version < 1 or {row.campaign_id, row.asked_in, row.joined} != {row.campaign_id}:
            yield f"{where}: expected a version, and one campaign"
        if row.erased_at is not None:
            yield f"{where}: its participant was erased"
