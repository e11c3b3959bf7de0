"""Rankings as answers: sent once, changed by a correction, checked by the rules of their campaign.

A ranking that comes after its query had run out is kept, marked as late, while a place is free. Where none is, it is
refused, and stays with its expert as a ranking that was begun.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select, update

from adjudge.web.answering import (
    Given,
    Stored,
    append_answer,
    append_correction,
    check_heard,
    check_not_answered,
    least_heard,
    own_first_answer,
    own_lease,
    settle,
    store_skip,
    stored_before,
    values_of,
)
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Conflict, Refused
from adjudge.web.invitations import locked_participant
from adjudge.web.leasing import Lease
from adjudge.web.ranking_arranging import (
    Groups,
    arrangement_of,
    candidates_by_id,
    check_groups,
    keep_arrangement,
)
from adjudge.web.ranking_leasing import REOPENED
from adjudge.web.ranking_settings import RankingSettings
from adjudge.web.schema import answer, item, lease, listed, pair

SKIP_REASONS = ("broken", "other")
_TWICE = "You put the documents of this query in order already; reopen that ranking to change it."


class NoPlaceLeft(Conflict):
    """The query had run out, and others have all its places."""

    def __init__(self) -> None:
        super().__init__(
            "The time for this query had run out, and as many people as are wanted have it meanwhile. Your ranking is "
            "kept, in case a place becomes free."
        )


@dataclass(frozen=True)
class Ordered:
    """What somebody sends: the key of the answer, groups by number of the item, and how it came about.

    Milliseconds of each clip that were really played are those of the query, and of candidates by number.
    """

    key: str
    groups: Groups
    query_ms: int = 0
    candidates_ms: Mapping[int, int] = field(default_factory=dict)
    took_ms: int | None = None
    comment: str | None = None


def store_order(
    connection: Connection, campaign: Campaign, participant_id: int, *, lease_id: str, ordered: Ordered, now: float
) -> Stored:
    """Keep a ranking of a query that was leased to this participant, or the correction of one that they reopened.

    What is not in it is unranked. Needs a campaign that is :func:`~adjudge.web.campaign_rows.in_use`.
    """
    person = locked_participant(connection, participant_id)
    found = own_lease(connection, participant_id, lease_id)
    before = stored_before(connection, participant_id, ordered.key, lease_id=lease_id)
    if before is not None:
        return before
    names = candidates_by_id(connection, found.pair_id)
    groups = check_order(campaign.ranking, ordered.groups, names)
    given = _given(ordered, groups, names)
    if found.kind == REOPENED:
        stored = _store_correction(connection, found, given, now=now)
    else:
        check_not_answered(connection, found, twice=_TWICE)
        _check_heard(connection, campaign, found, ordered)
        stored = _store_first(connection, found, given, counts=person.set_aside_at is None, now=now)
    if [list(group) for group in arrangement_of(connection, participant_id, found.pair_id).groups] != groups:
        keep_arrangement(connection, found, groups, now=now)
    return stored


def check_order(settings: RankingSettings, groups: Groups, candidates: Mapping[int, str]) -> list[list[int]]:
    """Groups that the campaign takes as a whole ranking; refused in one line otherwise.

    >>> from adjudge.web.ranking_settings import ranking_settings_from
    >>> check_order(ranking_settings_from({"title": "Incipits", "rank_all": True}), [[7]], {7: "a", 8: "b"})
    Traceback (most recent call last):
    adjudge.web.errors.Refused: Expected all 2 documents in the ranking, got 1.
    """
    checked = check_groups(groups, candidates)
    if not all(checked):
        raise Refused("Expected groups of at least one document, got an empty one.")
    if not settings.ties and any(len(group) > 1 for group in checked):
        raise Refused("Expected every document at a place of its own, got several that share one.")
    ranked, n = sum(map(len, checked)), len(candidates)
    if settings.rank_all and ranked < n:
        raise Refused(f"Expected all {n} documents in the ranking, got {ranked}.")
    least = min(settings.least_ranked, n)
    if ranked < least:
        raise Refused(
            f"Expected at least {least} {'document' if least == 1 else 'documents'} in the ranking, got {ranked}."
        )
    return checked


def _given(ordered: Ordered, groups: Groups, names: Mapping[int, str]) -> Given:
    """What is stored: documents by identifier instead of by number, and those that are left unranked."""
    ranked = {number for group in groups for number in group}
    strange = [number for number in ordered.candidates_ms if number not in names]
    if strange:
        raise Refused(f"Expected times of candidates of the query, got one of document {strange[0]}, which is none.")
    grades = {
        "groups": [[names[number] for number in group] for group in groups],
        "unranked": [name for number, name in names.items() if number not in ranked],
    }
    heard = {
        "query_ms": ordered.query_ms,
        "candidates_ms": {names[number]: ms for number, ms in ordered.candidates_ms.items()},
    }
    return Given(ordered.key, grades, heard, ordered.took_ms, ordered.comment)


def _store_first(connection: Connection, found: Lease, given: Given, *, counts: bool, now: float) -> Stored:
    """Keep a ranking that was not sent before; that of somebody who was set aside takes no place."""
    late = found.ended_at is not None
    if late and counts:
        _need_place(connection, found)
    settle(connection, found, how="answered", taken=int(late and counts), answered=int(counts), now=now)
    values = values_of(found, given, grades=given.grades, kind=found.kind, late=late, now=now)
    return Stored(append_answer(connection, values), again=False)


def _store_correction(connection: Connection, found: Lease, given: Given, *, now: float) -> Stored:
    """Keep another ranking in place of the one that was sent, and let the query go."""
    if found.ended_how in ("answered", "released"):
        raise Conflict("You changed this ranking already, or left it as it was, perhaps in another window.")
    mine = (answer.c.participant_id == found.participant_id) & (answer.c.pair_id == found.pair_id)
    sent = select(answer.c.id).where(mine, answer.c.kind == "judgment")
    first = own_first_answer(connection, found.participant_id, connection.execute(sent).scalar_one())
    connection.execute(update(lease).where(lease.c.id == found.id).values(ended_at=now, ended_how="answered"))
    return append_correction(connection, first, given, grades=given.grades, lease_id=found.id, now=now)


def _need_place(connection: Connection, found: Lease) -> None:
    """Refuse where others have all places of a query whose lease had ended; the pair is locked."""
    wanted = select(pair.c.taken, pair.c.wanted).where(pair.c.id == found.pair_id).with_for_update(key_share=True)
    row = connection.execute(wanted).one()
    own = select(func.count()).where(
        lease.c.pair_id == found.pair_id,
        lease.c.participant_id == found.participant_id,
        lease.c.ended_at.is_(None),
        lease.c.slot.is_not(None),
    )
    if row.taken - connection.execute(own).scalar_one() >= row.wanted:
        raise NoPlaceLeft


def _check_heard(connection: Connection, campaign: Campaign, found: Lease, ordered: Ordered) -> None:
    """Refuse what was not listened to: the query, and every document that has a place."""
    listen = campaign.settings.listen_seconds
    if not listen:
        return
    of_query = select(item.c.kind, item.c.seconds).join(pair, pair.c.query_item_id == item.c.id)
    query = connection.execute(of_query.where(pair.c.id == found.pair_id)).one()
    check_heard("the query", least_heard(query.kind, query.seconds, listen), ordered.query_ms)
    inside = select(item.c.id, item.c.kind, item.c.seconds).join(listed, listed.c.item_id == item.c.id)
    clips = {row.id: row for row in connection.execute(inside.where(listed.c.pair_id == found.pair_id))}
    for place, number in enumerate([number for group in ordered.groups for number in group], start=1):
        least = least_heard(clips[number].kind, clips[number].seconds, listen)
        check_heard(f"document {place} of your ranking", least, ordered.candidates_ms.get(number, 0))


def store_unable_to_order(
    connection: Connection, participant_id: int, *, lease_id: str, given: Given, reason: str, now: float
) -> Stored:
    """Keep that a participant cannot put the documents of a query in order, and why; it goes to somebody else."""
    if reason not in SKIP_REASONS:
        raise Refused(f"Expected a reason among {', '.join(SKIP_REASONS)}, got {reason!r}.")
    locked_participant(connection, participant_id)
    if own_lease(connection, participant_id, lease_id).kind == REOPENED:
        raise Refused("Expected a query to skip, got a ranking that was sent; leave it as it was instead.")
    return store_skip(connection, participant_id, lease_id=lease_id, given=given, reason=reason, now=now)
