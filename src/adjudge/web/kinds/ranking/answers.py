"""Rankings as answers: sent once, changed by a correction, checked by the rules of their campaign.

A ranking that comes after its query had run out is kept, marked as late, while a place is free. Where none is, it is
refused, and stays with its expert as a ranking that was begun.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import Connection, func, select, update

from adjudge.web.api.body import Body
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.ranking.assignment import (
    REOPENED,
    Groups,
    arrangement_of,
    candidates_by_id,
    check_groups,
    keep_arrangement,
)
from adjudge.web.kinds.ranking.settings import MOST_CANDIDATES, RankingSettings, settings_of
from adjudge.web.store import schema as t
from adjudge.web.store.answers import (
    AnswerContent,
    LeasedAnswer,
    Milliseconds,
    SentSkip,
    StoredAnswer,
    append_correction,
    check_heard,
    least_heard,
    own_first_answer,
    own_lease,
    store_answer,
    store_skip,
    stored_before,
)
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.leases import Lease
from adjudge.web.store.participants import locked_participant

ItemId = Annotated[int, Field(ge=1, lt=2**63, strict=True)]  # true and "1" are no documents
ItemKey = Annotated[int, Field(ge=1, lt=2**63)]  # keys of JSON are text
Group = Annotated[list[ItemId], Field(max_length=MOST_CANDIDATES)]
Order = Annotated[list[Group], Field(max_length=2 * MOST_CANDIDATES)]
_LONGEST_MS = 2**31 - 1  # more than three weeks: somebody may come back to a ranking
_TWICE = "You put the documents of this query in order already; reopen that ranking to change it."


class NoPlaceLeft(Conflict):
    """The query had run out, and others have all its places."""

    def __init__(self) -> None:
        super().__init__(
            "The time for this query had run out, and as many people as are wanted have it meanwhile. Your ranking is "
            "kept, in case a place becomes free."
        )


class ClipTimes(Body):
    """Milliseconds of each clip that were really played; of candidates by ``id``."""

    query_ms: Milliseconds = 0
    candidates_ms: Annotated[dict[ItemKey, Milliseconds], Field(max_length=MOST_CANDIDATES)] = Field(
        default_factory=dict
    )


class NewOrder(LeasedAnswer):
    """A whole ranking: groups of candidates by ``id``, the most similar first; all others are unranked."""

    groups: Order
    heard: ClipTimes = Field(default_factory=ClipTimes)
    took_ms: Annotated[int | None, Field(ge=0, le=_LONGEST_MS)] = None

    def content(self, names: Mapping[int, str]) -> AnswerContent:
        """What is stored of it: documents by identifier instead of by number, and those that are left unranked."""
        ranked = {number for group in self.groups for number in group}
        times = self.heard.candidates_ms
        strange = [number for number in times if number not in names]
        if strange:
            raise Refused(
                f"Expected times of candidates of the query, got one of document {strange[0]}, which is none."
            )
        grades = {
            "groups": [[names[number] for number in group] for group in self.groups],
            "unranked": [name for number, name in names.items() if number not in ranked],
        }
        heard = {"query_ms": self.heard.query_ms, "candidates_ms": {names[number]: ms for number, ms in times.items()}}
        return AnswerContent(grades, heard, self.took_ms)


class NewRankingSkip(SentSkip):
    """Why the documents of a query cannot be put in order."""

    reason: Literal["broken", "other"]


def store_order(
    connection: Connection, campaign: Campaign, participant_id: int, sent: NewOrder, *, now: float
) -> StoredAnswer:
    """Keep a ranking of a query that was leased to this participant, or the correction of one that they reopened.

    What is not in it is unranked; that of somebody who was excluded takes no place. Needs a campaign that is
    :func:`~adjudge.web.store.campaigns.in_use`.
    """
    counts = locked_participant(connection, participant_id).set_aside_at is None

    def content_of(lease: Lease) -> AnswerContent:
        names = candidates_by_id(connection, lease.pair_id)
        check_order(settings_of(campaign), sent.groups, names)
        return sent.content(names)

    def check(lease: Lease) -> AnswerContent:
        content = content_of(lease)
        _check_heard(connection, campaign, lease, sent)
        if lease.ended_at is not None and counts:
            _need_place(connection, lease)
        return content

    lease = own_lease(connection, participant_id, sent.lease)
    if lease.kind == REOPENED:
        stored = stored_before(connection, participant_id, sent.key, lease_id=sent.lease)
        stored = stored or _store_correction(connection, lease, sent, content_of(lease), now=now)
    else:
        stored = store_answer(connection, participant_id, sent, check, now=now, counts=counts, twice=_TWICE)
    kept = arrangement_of(connection, participant_id, lease.pair_id)
    if not stored.again and [list(group) for group in kept.groups] != sent.groups:
        keep_arrangement(connection, lease, sent.groups, now=now)
    return stored


def check_order(settings: RankingSettings, groups: Groups, candidates: Mapping[int, str]) -> list[list[int]]:
    """Groups that the campaign takes as a whole ranking; refused in one line otherwise.

    >>> from adjudge.web.kinds.ranking.settings import RankingSettings
    >>> check_order(RankingSettings.parse({"title": "Incipits", "rank_all": True}), [[7]], {7: "a", 8: "b"})
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


def _store_correction(
    connection: Connection, lease: Lease, sent: NewOrder, content: AnswerContent, *, now: float
) -> StoredAnswer:
    """Keep another ranking in place of the one that was sent, and let the query go."""
    if lease.ended_how in ("answered", "released"):
        raise Conflict("You changed this ranking already, or left it as it was, perhaps in another window.")
    mine = (t.answer.c.participant_id == lease.participant_id) & (t.answer.c.pair_id == lease.pair_id)
    first_id = connection.execute(select(t.answer.c.id).where(mine, t.answer.c.kind == "judgment")).scalar_one()
    first = own_first_answer(connection, lease.participant_id, first_id)
    connection.execute(update(t.lease).where(t.lease.c.id == lease.id).values(ended_at=now, ended_how="answered"))
    return append_correction(connection, first, sent, content, lease_id=lease.id, now=now)


def _need_place(connection: Connection, lease: Lease) -> None:
    """Refuse where others have all places of a query whose lease had ended; the pair is locked."""
    wanted = select(t.pair.c.taken, t.pair.c.wanted).where(t.pair.c.id == lease.pair_id).with_for_update(key_share=True)
    row = connection.execute(wanted).one()
    own = select(func.count()).where(
        t.lease.c.pair_id == lease.pair_id,
        t.lease.c.participant_id == lease.participant_id,
        t.lease.c.ended_at.is_(None),
        t.lease.c.slot.is_not(None),
    )
    if row.taken - connection.execute(own).scalar_one() >= row.wanted:
        raise NoPlaceLeft


def _check_heard(connection: Connection, campaign: Campaign, lease: Lease, sent: NewOrder) -> None:
    """Refuse what was not listened to: the query, and every document that has a place."""
    listen = campaign.settings.listen_seconds
    if not listen:
        return
    of_query = select(t.item.c.kind, t.item.c.seconds).join(t.pair, t.pair.c.query_item_id == t.item.c.id)
    query = connection.execute(of_query.where(t.pair.c.id == lease.pair_id)).one()
    check_heard("the query", least_heard(query.kind, query.seconds, listen), sent.heard.query_ms)
    inside = select(t.item.c.id, t.item.c.kind, t.item.c.seconds).join(t.listed, t.listed.c.item_id == t.item.c.id)
    clips = {row.id: row for row in connection.execute(inside.where(t.listed.c.pair_id == lease.pair_id))}
    for place, number in enumerate([number for group in sent.groups for number in group], start=1):
        least = least_heard(clips[number].kind, clips[number].seconds, listen)
        check_heard(f"document {place} of your ranking", least, sent.heard.candidates_ms.get(number, 0))


def store_unable_to_order(
    connection: Connection, campaign: Campaign, participant_id: int, sent: NewRankingSkip, *, now: float
) -> StoredAnswer:
    """Keep that a participant cannot put the documents of a query in order, and why; it goes to somebody else."""
    locked_participant(connection, participant_id)
    if own_lease(connection, participant_id, sent.lease).kind == REOPENED:
        raise Refused("Expected a query to skip, got a ranking that was sent; leave it as it was instead.")
    return store_skip(connection, participant_id, sent, AnswerContent(), now=now)
