"""Queries whose documents are put in order: how they are handed out, what the page shows, how rankings are stored.

An expert holds one query. It is theirs until some hours after they last changed its ranking, whether or not their page
is open, and until they hand it back. Once it has run out somebody else may get the place; the ranking stays, and who
comes back goes on where they were if a place is free. A query that was handed back comes to the same expert after all
others. A ranking that was sent can be reopened: that is a lease of its own, which takes no place of anybody.

Unfinished rankings are saved at every change, by version, so that no window overwrites another. Candidates come in an
order drawn for each expert and query, so that where somebody begins is no bias of all.

Rankings are sent once, changed by a correction, and checked by the rules of their campaign. One that comes after its
query had run out is kept, marked as late, while a place is free. Where none is, it is refused, and stays with its
expert as a ranking that was begun.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from adjudge.web.api.body import Body, DeskCampaign, DeskParticipant, Heard, heard_from
from adjudge.web.errors import Conflict, Refused
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
from adjudge.web.store.leases import (
    Lease,
    chance,
    expire,
    give,
    lease_of,
    new_to,
    next_number,
    next_pair,
    release,
    take_slot,
)
from adjudge.web.store.participants import Participant, locked_participant

REOPENED = "correction"
"""The kind of a lease by which a ranking that was sent is changed."""

_ME: Any = bindparam("participant")
_HANDED_BACK = exists().where(
    t.lease.c.pair_id == t.pair.c.id, t.lease.c.participant_id == _ME, t.lease.c.ended_how == "released"
)
_BEGUN = exists().where(t.arrangement.c.pair_id == t.pair.c.id, t.arrangement.c.participant_id == _ME)
_NEXT_QUERY = next_pair(
    t.pair.c.id != bindparam("but"),
    order=[case((_HANDED_BACK, literal(2)), (_BEGUN, literal(0)), else_=literal(1, Integer))],
)
_NO_PAIR = -1


def hold_query(
    connection: Connection, campaign: Campaign, participant_id: int, *, now: float, but: int = _NO_PAIR
) -> Lease | None:
    """The query in somebody's hands, a ranking that they reopened before any other, else a new one; None for none.

    New ones are given out while the campaign is open only, and never the one ``but``. Needs a campaign that is
    :func:`~adjudge.web.store.campaigns.in_use`.
    """
    person = locked_participant(connection, participant_id)
    if person.set_aside_at is not None:
        return None
    held = in_hand(connection, participant_id)
    if held:
        first = held[0]
        # What ran out, but was taken by nobody else yet, is theirs again.
        return first if first.expires_at >= now else _prolonged(connection, campaign, first, now=now)
    if campaign.state != "open":
        return None
    expire(connection, campaign.id, now=now)
    asked = {"campaign": campaign.id, "participant": participant_id, "but": but}
    free = connection.execute(_NEXT_QUERY, asked).first()
    if free is None:
        return None
    slot = take_slot(connection, free.id, wanted=free.wanted)
    return _give(connection, campaign, participant_id, free.id, kind="judgment", slot=slot, now=now)


def in_hand(connection: Connection, participant_id: int) -> list[Lease]:
    """What somebody holds: a ranking that they reopened first."""
    query = select(t.lease).where(t.lease.c.participant_id == participant_id, t.lease.c.ended_at.is_(None))
    held = [lease_of(row) for row in connection.execute(query).mappings()]
    return sorted(held, key=lambda one: (one.kind != REOPENED, one.number))


def _give(
    connection: Connection,
    campaign: Campaign,
    participant_id: int,
    pair_id: int,
    *,
    kind: str,
    now: float,
    slot: int | None = None,
) -> Lease:
    number = next_number(connection, participant_id)
    values = {"kind": kind, "slot": slot, "number": number, "issued_at": now, "expires_at": kept_until(campaign, now)}
    return give(connection, campaign.id, participant_id, pair_id, **values)


def kept_until(campaign: Campaign, now: float) -> float:
    """Until when a ranking is kept that is changed now."""
    return now + 3600 * settings_of(campaign).kept_hours


def _prolonged(connection: Connection, campaign: Campaign, found: Lease, *, now: float, **values: Any) -> Lease:
    values["expires_at"] = kept_until(campaign, now)
    statement = update(t.lease).where(t.lease.c.id == found.id).values(**values).returning(t.lease)
    return lease_of(connection.execute(statement).mappings().one())


def prolong(connection: Connection, campaign: Campaign, found: Lease, *, now: float) -> Lease:
    """The lease after its ranking changed: it lasts on; where it had run out and a place is free it is in force again.

    Where no place is free, or its expert was excluded or holds another query by now, it stays as it is.
    """
    if found.ended_at is None:
        return _prolonged(connection, campaign, found, now=now)
    if campaign.state != "open" or found.ended_how != "expired":
        return found
    if locked_participant(connection, found.participant_id).set_aside_at is not None:
        return found
    if any(one.kind == found.kind for one in in_hand(connection, found.participant_id)):
        return found
    values: dict[str, Any] = {"ended_at": None, "ended_how": None}
    if found.kind != REOPENED:
        free = connection.execute(
            select(t.pair.c.wanted)
            .where(
                t.pair.c.id == found.pair_id,
                t.pair.c.taken < t.pair.c.wanted,
                ~t.pair.c.held,
                new_to(found.participant_id),
            )
            .with_for_update(of=t.pair, key_share=True)
        ).first()
        if free is None:
            return found
        values["slot"] = take_slot(connection, found.pair_id, wanted=free.wanted)
    return _prolonged(connection, campaign, found, now=now, **values)


def reopen(connection: Connection, campaign: Campaign, participant_id: int, answer_id: int, *, now: float) -> Lease:
    """Take a ranking of one's own into one's hands again, while the campaign is open; another that was is let go."""
    person = locked_participant(connection, participant_id)
    first = own_first_answer(connection, participant_id, answer_id)
    if person.set_aside_at is not None:
        raise Conflict("The organiser has ended your part in this campaign; your rankings stay as you sent them.")
    if first["kind"] != "judgment":
        raise Refused("Expected a ranking to change, got a query that was skipped.")
    if campaign.state != "open":
        raise Conflict(f"Rankings can be changed while the campaign is open; it is {campaign.state}.")
    for one in in_hand(connection, participant_id):
        if one.kind == REOPENED and one.pair_id == first["pair_id"]:
            return _prolonged(connection, campaign, one, now=now)
        if one.kind == REOPENED:
            release(connection, participant_id, now=now, only=one.id)
    return _give(connection, campaign, participant_id, first["pair_id"], kind=REOPENED, now=now)


Groups = Sequence[Sequence[int]]
"""Numbers of items by group, the most similar group first."""


@dataclass(frozen=True)
class Arrangement:
    """A ranking as far as it got; ``version`` 0 is before anything was saved."""

    version: int = 0
    groups: tuple[tuple[int, ...], ...] = ()
    saved_at: float | None = None


@dataclass(frozen=True)
class Saved:
    """A ranking that is on the server's disk, and until when its query is kept."""

    version: int
    saved_at: float
    expires_at: float


class StaleArrangement(Conflict):
    """The ranking was changed elsewhere since it was read: ``there`` is how it stands."""

    def __init__(self, there: Arrangement) -> None:
        super().__init__("You changed this ranking elsewhere meanwhile, perhaps in another window; here it is.")
        self.there = there


def candidates_by_id(connection: Connection, pair_id: int) -> dict[int, str]:
    """The documents to be put in order for a query by the number of their item, in the order in which they came."""
    query = select(t.listed.c.item_id, t.item.c.identifier).join(t.item, t.item.c.id == t.listed.c.item_id)
    rows = connection.execute(query.where(t.listed.c.pair_id == pair_id).order_by(t.listed.c.rank))
    return {row.item_id: row.identifier for row in rows}


def check_groups(groups: Groups, candidates: Collection[int]) -> list[list[int]]:
    """Groups of candidates, each in one place; refused otherwise."""
    seen: set[int] = set()
    for number in [number for group in groups for number in group]:
        if number not in candidates:
            raise Refused(f"Expected candidates of the query, got document {number}, which is none.")
        if number in seen:
            raise Refused(f"Expected each document at one place, got document {number} twice.")
        seen.add(number)
    return [list(group) for group in groups]


def arrangement_of(connection: Connection, participant_id: int, pair_id: int) -> Arrangement:
    """The ranking of a query as somebody left it."""
    row = connection.execute(select(t.arrangement).where(_this(participant_id, pair_id))).first()
    if row is None:
        return Arrangement()
    return Arrangement(row.version, tuple(tuple(group) for group in row.groups), row.saved_at)


def save_arrangement(
    connection: Connection,
    campaign: Campaign,
    participant_id: int,
    *,
    lease_id: str,
    version: int,
    groups: Groups,
    now: float,
) -> Saved:
    """Keep a ranking that was made from ``version``, and with it the query; the same again changes nothing.

    It is kept also where the lease has run out. Refused as stale where it was made from an older version.
    """
    locked_participant(connection, participant_id)
    found = own_lease(connection, participant_id, lease_id)
    if found.ended_how not in (None, "expired"):
        how = {"answered": "sent this ranking", "skipped": "skipped this query"}.get(found.ended_how or "")
        raise Conflict(f"You {how or 'handed this query back'} already, perhaps in another window.")
    checked = check_groups(groups, candidates_by_id(connection, found.pair_id))
    there = arrangement_of(connection, participant_id, found.pair_id)
    is_again = there.version == version + 1 and [list(group) for group in there.groups] == checked
    if there.version != version and not is_again:
        raise StaleArrangement(there)
    kept = there if is_again else keep_arrangement(connection, found, checked, now=now)
    until = prolong(connection, campaign, found, now=now).expires_at
    return Saved(kept.version, kept.saved_at or now, until)


def keep_arrangement(connection: Connection, found: Lease, groups: Groups, *, now: float) -> Arrangement:
    """Put a ranking in the place of the one before it, whatever it was made from."""
    there = arrangement_of(connection, found.participant_id, found.pair_id)
    made = Arrangement(there.version + 1, tuple(tuple(group) for group in groups), now)
    values = {"version": made.version, "groups": [list(group) for group in groups], "saved_at": now}
    if there.version:
        this = update(t.arrangement).where(_this(found.participant_id, found.pair_id))
        connection.execute(this.values(**values))
    else:
        own = {"participant_id": found.participant_id, "pair_id": found.pair_id, "campaign_id": found.campaign_id}
        connection.execute(insert(t.arrangement).values(**own, **values))
    return made


def hand_back(connection: Connection, participant_id: int, lease_id: str, *, now: float) -> Lease:
    """Give a query back to others; its ranking stays for when it comes again. A reopened one stays as it was sent."""
    locked_participant(connection, participant_id)
    found = own_lease(connection, participant_id, lease_id)
    if found.ended_at is not None:
        return found
    if found.kind == REOPENED:
        names = candidates_by_id(connection, found.pair_id)
        sent = sent_groups(connection, participant_id, found.pair_id, names)
        if [list(group) for group in arrangement_of(connection, participant_id, found.pair_id).groups] != sent:
            keep_arrangement(connection, found, sent, now=now)
    release(connection, participant_id, now=now, only=lease_id)
    return found


def sent_groups(connection: Connection, participant_id: int, pair_id: int, names: Mapping[int, str]) -> list[list[int]]:
    """The ranking that somebody sent last for a query, by numbers; ``names`` are those of the candidates."""
    mine = (t.answer.c.participant_id == participant_id) & (t.answer.c.pair_id == pair_id)
    last = select(t.answer.c.grades).where(mine, t.answer.c.kind.in_(("judgment", "correction")))
    grades = connection.execute(last.order_by(t.answer.c.id.desc()).limit(1)).scalar_one()
    numbers = {name: number for number, name in names.items()}
    return [[numbers[name] for name in group] for group in grades["groups"]]


def _this(participant_id: int, pair_id: int) -> ColumnElement[bool]:
    return and_(t.arrangement.c.participant_id == participant_id, t.arrangement.c.pair_id == pair_id)


RankingWhy = Literal["closed", "paused", "draft", "nothing_left", "wait"]


class Candidate(Heard):
    """A document to be given a place; ``id`` is what rankings call it."""

    id: int


class ArrangedGroups(BaseModel):
    """A ranking as far as it got: groups of candidates, most similar first; ``version`` 0 is before it was saved."""

    version: int
    groups: list[list[int]]


class RankingQuestion(BaseModel):
    """A query, its candidates as they lie in the tray, and the lease to save and answer with; ``number`` from 1.

    ``corrects`` is the answer that was reopened, if one was.
    """

    lease: str
    expires_at: float
    number: int
    query: Heard
    candidates: list[Candidate]
    arrangement: ArrangedGroups
    corrects: int | None


class RankingRules(BaseModel):
    """What a ranking has to be like; ``listen_seconds`` are of the query and of every document that gets a place."""

    ties: bool
    rank_all: bool
    least_ranked: int
    listen_seconds: float


class RankingProgress(BaseModel):
    """Queries that one is done with, of those that one can be asked about."""

    answered: int
    of: int


class DoneOrder(BaseModel):
    """A ranking that was sent, as it stands now: how many documents have a place, of how many."""

    answer: int
    number: int
    query: str
    at: float
    ranked: int
    of: int


class RankingDesk(BaseModel):
    """Everything that the page needs; ``why`` says why there is no question."""

    campaign: DeskCampaign
    participant: DeskParticipant
    question: RankingQuestion | None
    why: RankingWhy | None
    rules: RankingRules
    progress: RankingProgress
    done: list[DoneOrder]


def make_ranking_desk(
    connection: Connection, campaign: Campaign, participant: Participant, held: Lease | None
) -> RankingDesk:
    """The assignment of a participant who holds this lease, or none."""
    settings, done = settings_of(campaign), done_orders(connection, participant.id)
    return RankingDesk(
        campaign=DeskCampaign(name=campaign.name, title=campaign.settings.title, state=campaign.state),
        participant=DeskParticipant(code=participant.code, name=participant.name, language=participant.language),
        question=None if held is None else _question(connection, campaign, held, done),
        why=None if held is not None else _why(connection, campaign, participant.id),
        rules=RankingRules(
            ties=settings.ties,
            rank_all=settings.rank_all,
            least_ranked=settings.least_ranked,
            listen_seconds=settings.listen_seconds,
        ),
        progress=_progress(connection, campaign, participant.id, len(done)),
        done=[one for _, one in done],
    )


def done_orders(connection: Connection, participant_id: int) -> list[tuple[int, DoneOrder]]:
    """What somebody sent, first to last, each with its pair."""
    columns = (
        t.answer.c.id,
        t.answer.c.pair_id,
        t.answer.c.corrects,
        t.answer.c.grades,
        t.answer.c.created_at,
        t.pair.c.query,
    )
    query = select(*columns, t.item.c.facts).join(t.pair, t.pair.c.id == t.answer.c.pair_id)
    query = query.join(t.item, t.item.c.id == t.pair.c.query_item_id).where(t.answer.c.participant_id == participant_id)
    found: dict[int, tuple[int, DoneOrder]] = {}
    for row in connection.execute(query.where(t.answer.c.kind.in_(("judgment", "correction"))).order_by(t.answer.c.id)):
        first = row.id if row.corrects is None else row.corrects
        ranked = sum(len(group) for group in row.grades["groups"])
        number = found[first][1].number if first in found else len(found) + 1
        made = DoneOrder(
            answer=first,
            number=number,
            query=row.facts.get("title") or row.query,
            at=row.created_at,
            ranked=ranked,
            of=ranked + len(row.grades["unranked"]),
        )
        found[first] = (row.pair_id, made)
    return list(found.values())


def _question(
    connection: Connection, campaign: Campaign, held: Lease, done: list[tuple[int, DoneOrder]]
) -> RankingQuestion:
    columns = (t.item.c.kind, t.item.c.address, t.item.c.text, t.item.c.seconds)
    of_query = select(*columns).join(t.pair, t.pair.c.query_item_id == t.item.c.id).where(t.pair.c.id == held.pair_id)
    inside = select(t.item.c.id, *columns).join(t.listed, t.listed.c.item_id == t.item.c.id)
    rows = connection.execute(inside.where(t.listed.c.pair_id == held.pair_id)).all()
    drawn = sorted(
        rows, key=lambda row: chance("tray", campaign.settings.seed, held.participant_id, held.pair_id, row.id)
    )
    begun = arrangement_of(connection, held.participant_id, held.pair_id)
    sent = next((one for pair_id, one in done if pair_id == held.pair_id), None)
    reopened = sent if held.kind == REOPENED else None
    return RankingQuestion(
        lease=held.id,
        expires_at=held.expires_at,
        number=len(done) + 1 if reopened is None else reopened.number,
        query=heard_from(*connection.execute(of_query).one()),
        candidates=[Candidate(id=row[0], **heard_from(*row[1:]).model_dump()) for row in drawn],
        arrangement=ArrangedGroups(version=begun.version, groups=[list(group) for group in begun.groups]),
        corrects=None if reopened is None else reopened.answer,
    )


def _progress(connection: Connection, campaign: Campaign, participant_id: int, answered: int) -> RankingProgress:
    """Of all queries that somebody ranked, holds, or could be given once they are free."""
    to_come = _count(connection, campaign, new_to(participant_id), t.pair.c.answered < t.pair.c.wanted, ~t.pair.c.held)
    holds = sum(one.kind != REOPENED for one in in_hand(connection, participant_id))
    return RankingProgress(answered=answered, of=answered + holds + to_come)


def _count(connection: Connection, campaign: Campaign, *conditions: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(t.pair).where(t.pair.c.campaign_id == campaign.id, *conditions)
    return int(connection.execute(query).scalar_one())


def _why(connection: Connection, campaign: Campaign, participant_id: int) -> RankingWhy:
    """Why somebody is asked nothing now: ``wait`` where what is left is in the hands of others, or being given out.

    What somebody handed back themselves is nothing that they wait for while nobody else has it.
    """
    if campaign.state != "open":
        states: dict[str, RankingWhy] = {"draft": "draft", "paused": "paused"}
        return states.get(campaign.state, "closed")
    theirs = (t.lease.c.pair_id == t.pair.c.id) & (t.lease.c.participant_id == participant_id)
    back = exists().where(theirs, t.lease.c.ended_how == "released")
    left = ~t.pair.c.held, t.pair.c.answered < t.pair.c.wanted, or_(t.pair.c.taken >= t.pair.c.wanted, ~back)
    return "wait" if _count(connection, campaign, new_to(participant_id), *left) else "nothing_left"


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
