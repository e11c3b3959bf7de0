"""A ranking campaign over HTTP: queries and rankings, candidates as files, lists so far, and what its pages show.

The set-up page shows candidates and a look at a query; the page of answers every ranking with its expert, and queries
that people could not do; the page of people what they sent, and how far they agree with the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection, func, select
from starlette.concurrency import run_in_threadpool

from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.errors import shown
from adjudge.groundtruth import DEFAULT_ALPHA, parse_construction
from adjudge.web.api.body import Alive, AskingApi, Body, Heard, TakenAnswer, heard_from
from adjudge.web.api.files import Received, form_description, naming, received, telling_sender
from adjudge.web.context import Context, InContext
from adjudge.web.errors import NotFound, Refused
from adjudge.web.http.access import AsOrganiser, AsParticipant, OwnCampaign
from adjudge.web.http.failures import Failure
from adjudge.web.kinds.base import Card
from adjudge.web.kinds.lifecycle import Overview
from adjudge.web.kinds.ranking.assignment import (
    ArrangedGroups,
    ItemId,
    NewOrder,
    NewRankingSkip,
    NoPlaceLeft,
    Order,
    RankingDesk,
    StaleArrangement,
    hand_back,
    hold_query,
    in_hand,
    keep_arrangement,
    make_ranking_desk,
    reopen,
    save_arrangement,
    store_order,
    store_unable_to_order,
)
from adjudge.web.kinds.ranking.dashboard import (
    agreements_of,
    expert_row,
    listed,
    ranked_queries,
    skips_by_person,
    summary,
    watch_rankings,
)
from adjudge.web.kinds.ranking.settings import RankingSettings, settings_of
from adjudge.web.kinds.ranking.store import candidate_files, put_candidates
from adjudge.web.pages.answers import list_downloads
from adjudge.web.pages.shared import (
    several,
)
from adjudge.web.store import schema as t
from adjudge.web.store.answers import LeaseId, own_lease
from adjudge.web.store.campaigns import Campaign, campaign_by_id
from adjudge.web.store.items import missing_listed_items
from adjudge.web.store.leases import Lease
from adjudge.web.store.participants import Participant, still_there

router = APIRouter(prefix="/ranking", tags=["ranking"])


class NewArrangement(Body):
    """A ranking as it is now, made from a version of it; what is in no group is unranked."""

    lease: LeaseId
    version: Annotated[int, Field(ge=0, lt=2**31)]
    groups: Order


class SavedArrangement(BaseModel):
    """The version that was stored, when, until when the query is kept, and whether the campaign is still open."""

    version: int
    saved_at: float
    expires_at: float
    state: str


class RankingAlive(Alive):
    """Until when the query in one's hands is kept, and whether the campaign is still open."""

    state: str


class Stale(Failure):
    """The ranking was changed elsewhere since: how it stands there."""

    arrangement: ArrangedGroups


class Reopening(Body):
    """An answer of one's own."""

    answer: ItemId


class HandingBack(Body):
    """What is handed back."""

    lease: LeaseId


class RankingTaken(TakenAnswer):
    """An answer that is stored for good, and the next assignment."""

    desk: RankingDesk


def _hold(
    connection: Connection, context: Context, campaign: Campaign, participant: Participant, done: object
) -> Lease | None:
    """What is in hand from now on, all but the query of a lease that was handed back."""
    but = {"but": done.pair_id} if isinstance(done, Lease) else {}
    return hold_query(connection, campaign, participant.id, now=context.now(), **but)


def _show(context: Context, campaign: Campaign, participant: Participant, held: Lease | None) -> RankingDesk:
    with context.database.read() as connection:
        return make_ranking_desk(connection, campaign, participant, held)


_RANKING = AskingApi(RankingSettings, RankingTaken, _hold, _show)


@router.get("", summary="The query in hand with the ranking so far, or a new one")
def ranking_desk(participant: AsParticipant, context: InContext) -> RankingDesk:
    """Lease a query if there is none; the same one comes back after a reload or on another device."""
    return _RANKING.next(context, participant)


@router.put(
    "/arrangement",
    summary="Save the ranking so far",
    response_model=SavedArrangement,
    responses={409: {"model": Stale, "description": "It was changed elsewhere since, and how."}},
)
def save(sent: NewArrangement, participant: AsParticipant, context: InContext) -> Response | SavedArrangement:
    """Keep a ranking that is not finished, and its query; when this returns it is on the server's disk.

    Rankings of any shape are taken. One that was made from an older version is refused with how it stands, unless it is
    the very same.
    """
    try:
        with context.database.write() as connection:
            campaign = _RANKING.begin(connection, participant)
            saved = save_arrangement(
                connection,
                campaign,
                participant.id,
                lease_id=sent.lease,
                version=sent.version,
                groups=sent.groups,
                now=context.now(),
            )
    except StaleArrangement as stale:
        there = ArrangedGroups(version=stale.there.version, groups=[list(group) for group in stale.there.groups])
        told = {"status": stale.status, "message": str(stale)}
        return JSONResponse({"error": told, "arrangement": there.model_dump()}, status_code=stale.status)
    return SavedArrangement(
        version=saved.version, saved_at=saved.saved_at, expires_at=saved.expires_at, state=campaign.state
    )


@router.post("/answers", summary="Send a ranking and get the next query")
def order(sent: NewOrder, participant: AsParticipant, context: InContext) -> RankingTaken:
    """Store a ranking, or the change of one; when this returns it is on disk. The same key again changes nothing.

    Where a query had run out and others have all its places, the ranking is refused, and kept as one that was begun.
    """
    try:
        return _RANKING.store(context, participant, sent, store_order)
    except NoPlaceLeft:
        with context.database.write() as connection:
            _RANKING.begin(connection, participant)
            lease = own_lease(connection, participant.id, sent.lease)
            keep_arrangement(connection, lease, sent.groups, now=context.now())
        raise


@router.post("/skips", summary="Say why a query cannot be done and get the next")
def ranking_skip(sent: NewRankingSkip, participant: AsParticipant, context: InContext) -> RankingTaken:
    """Store a skip; the query goes to somebody else."""
    return _RANKING.store(context, participant, sent, store_unable_to_order)


@router.post("/reopen", summary="Change a ranking that was sent")
def reopen_order(sent: Reopening, participant: AsParticipant, context: InContext) -> RankingDesk:
    """Take it into one's hands again, before any other query, until it is sent again or handed back."""

    def do(connection: Connection, campaign: Campaign) -> None:
        reopen(connection, campaign, participant.id, sent.answer, now=context.now())

    return _RANKING.next(context, participant, do)


@router.post("/hand-back", summary="Hand a query back and get another")
def hand_query_back(sent: HandingBack, participant: AsParticipant, context: InContext) -> RankingDesk:
    """For others to take; it comes again after all others, with its ranking. A reopened one stays as it was sent."""

    def do(connection: Connection, campaign: Campaign) -> Lease:
        return hand_back(connection, participant.id, sent.lease, now=context.now())

    return _RANKING.next(context, participant, do)


@router.post("/heartbeat", summary="Say that one is still there")
def ranking_heartbeat(participant: AsParticipant, context: InContext) -> RankingAlive:
    """Until when the query in hand is kept: only changing its ranking makes that later."""
    with context.database.write() as connection:
        still_there(connection, participant)
        held = in_hand(connection, participant.id)
        state = campaign_by_id(connection, participant.campaign_id).state
    return RankingAlive(expires_at=held[0].expires_at if held else None, state=state)


files_router = APIRouter(prefix="/campaigns/{name}", tags=["files"])


class TakenCandidates(BaseModel):
    """Queries and candidates that are kept now, what the reader had to say, and how many cannot be heard yet."""

    queries: int
    candidates: int
    notes: list[str]
    missing: int


@files_router.put(
    "/candidates",
    summary="Give a ranking campaign the documents that are put in order for each query",
    openapi_extra=form_description(
        files="a table with columns query and document, or JSON {query: [document, …]}; or runs, whose documents are "
        "pooled",
        cutoff="of runs, how many documents of each are taken for a query; all where it is not given",
    ),
)
async def candidates(
    request: Request, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> TakenCandidates:
    """Replace the candidates of a draft."""
    async with received(request, context.settings) as form:
        return await run_in_threadpool(_candidates, form, campaign, organiser.login, context)


def _candidates(form: Received, campaign: Campaign, who: str, context: Context) -> TakenCandidates:
    if not form.files.get("files"):
        raise Refused("Expected a file with candidates in the field 'files', got none.")
    cutoff = form.fields.get("cutoff") or None
    if cutoff is not None and (not cutoff.isdecimal() or len(cutoff) > 6):
        raise Refused(f"Expected a number as 'cutoff', got {shown(cutoff)}")
    with telling_sender(form), naming(form):
        given = candidate_files(form.readable("files"), cutoff=None if cutoff is None else int(cutoff))
    inputs = [(form.plain(name), digest) for name, digest in given.inputs]
    with context.database.write() as connection:
        put_candidates(connection, campaign, given.candidates, inputs=inputs, who=who, now=context.now())
        missing = len(missing_listed_items(connection, campaign))
    return TakenCandidates(
        queries=len(given.candidates),
        candidates=sum(map(len, given.candidates.values())),
        notes=[form.plain(note) for note in given.notes],
        missing=missing,
    )


lists_router = APIRouter(prefix="/campaigns/{name}", tags=["picture"])


@lists_router.get("/lists")
def get_lists(
    found: OwnCampaign,
    context: InContext,
    construction: Annotated[str, Query(max_length=80)] = DEFAULT_CONSTRUCTION,
    alpha: Annotated[float, Query(gt=0, lt=1)] = DEFAULT_ALPHA,
    query: Annotated[str | None, Query(max_length=400)] = None,
) -> dict[str, Any]:
    """Of a ranking campaign: the lists as they stand, made in some way, in numbers; that of one query to be drawn."""
    settings_of(found)  # refused where something else is asked for
    chosen = parse_construction(construction)
    chosen.comparison("rankings")
    with context.database.read() as connection:
        seen = watch_rankings(connection, found.id, now=context.now())
    ranked = ranked_queries(seen.counted, {one.id: one.code for one in seen.people})
    if query is None:
        lists = [summary(one, str(chosen), alpha=alpha) for one in ranked.values()]
        return {"construction": str(chosen), "alpha": alpha, "lists": lists}
    if query not in ranked:
        raise NotFound(f"Nobody has ranked documents for {shown(query)} in this campaign.")
    return listed(ranked[query], str(chosen), alpha=alpha)


def ranking_goal_in_words(settings: RankingSettings) -> str:
    """What a campaign is after, for people.

    >>> ranking_goal_in_words(RankingSettings(title="Demo", judged_by=3))
    'Rank documents: 3 experts for every query'
    """
    return f"Rank documents: {several(settings.judged_by, 'expert')} for every query"


_PREVIEWS = 500  # queries among which one is chosen to look at


class Candidate(Heard):
    """A candidate as an organiser sees it: with its name, which experts never see."""

    document: str


class QueryClips(BaseModel):
    """What experts hear or see of a query, and of its candidates as they came."""

    query: Heard
    candidates: list[Candidate]


def set_up_values(connection: Connection, campaign: Campaign, asked_for: Mapping[str, str]) -> dict[str, Any]:
    """What the set-up page shows of a ranking campaign."""
    rows, settings = _queries(connection, campaign.id), settings_of(campaign)
    values: dict[str, Any] = {
        "has_material": bool(rows),
        "facts": {"Rankings in all": f"{len(rows) * settings.judged_by:,}"} if rows else {},
        "n_queries": len(rows),
        "preview": None,
    }
    if not rows:
        return values
    sizes = [row.n for row in rows]
    spread = f"{sizes[0]}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    return values | {
        "counts": f"{several(len(rows), 'query', 'queries')} with {spread} documents each",
        "most": max(sizes),
        "preview": _preview(connection, rows, asked_for.get("query", "")),
    }


def _queries(connection: Connection, campaign_id: int) -> list[Any]:
    """Numbers and names of queries, as they were given, and how many documents each has."""
    query = select(t.pair.c.id, t.pair.c.query, func.count().label("n")).join(
        t.listed, t.listed.c.pair_id == t.pair.c.id
    )
    named = query.where(t.pair.c.campaign_id == campaign_id).group_by(t.pair.c.id, t.pair.c.query).order_by(t.pair.c.id)
    return list(connection.execute(named))


def _preview(connection: Connection, rows: list[Any], chosen: str) -> dict[str, Any]:
    """One query with its candidates, and the others to choose among."""
    this = next((row for row in rows if row.query == chosen), rows[0])
    return {
        "query": this.query,
        "clips": clips_of_query(connection, this.id),
        "names": [row.query for row in rows[:_PREVIEWS]],
        "chosen": bool(chosen),
    }


def clips_of_query(connection: Connection, pair_id: int) -> QueryClips:
    """What experts hear or see of a query and its candidates."""
    asked = select(t.item).join(t.pair, t.pair.c.query_item_id == t.item.c.id).where(t.pair.c.id == pair_id)
    below = select(t.item).join(t.listed, t.listed.c.item_id == t.item.c.id).where(t.listed.c.pair_id == pair_id)
    row = connection.execute(asked).one()
    return QueryClips(
        query=heard_from(row.kind, row.address, row.text, row.seconds),
        candidates=[
            Candidate(document=one.identifier, **heard_from(one.kind, one.address, one.text, one.seconds).model_dump())
            for one in connection.execute(below.order_by(t.listed.c.rank))
        ],
    )


def answers_values(connection: Connection, campaign: Campaign, rows: Sequence[Any]) -> dict[str, Any]:
    """What the page of answers shows of a ranking campaign."""
    files = {
        "lists": ("Lists", f"partially ordered, made by {DEFAULT_CONSTRUCTION}"),
        "rankings": ("Rankings", "every ranking as it stands, for adjudge groundtruth"),
        "log": ("Log", "everything that was sent, in order"),
        "people": ("People", "who took part, and how much they did; personal"),
        "report": ("Report", "lists, their consistency, what they rest on"),
    }
    replaced = _replaced(connection, campaign.id)
    return {"rows": [_answer_row(row, replaced) for row in rows], "files": list_downloads(campaign, files)}


def _replaced(connection: Connection, campaign_id: int) -> dict[int, int]:
    """The last correction of each first ranking, by the number of the first one."""
    query = select(t.answer.c.corrects, func.max(t.answer.c.id)).where(
        t.answer.c.campaign_id == campaign_id, t.answer.c.kind == "correction"
    )
    return {row[0]: row[1] for row in connection.execute(query.group_by(t.answer.c.corrects))}


def _answer_row(row: Any, replaced: dict[int, int]) -> dict[str, Any]:
    """An answer as it is shown; ``replaced`` says whether a later one counts in its place."""
    groups, unranked = row.grades.get("groups", []), row.grades.get("unranked", [])
    ranked = sum(map(len, groups))
    stands = {"judgment": row.id not in replaced, "correction": row.id in replaced.values()}
    return {
        **row._mapping,
        "groups": groups,
        "unranked": unranked,
        "ranked": ranked,
        "of": ranked + len(unranked),
        "replaced": not stands.get(row.kind, True),
    }


def people_values(
    connection: Connection, campaign: Campaign, people: Sequence[Participant], *, now: float
) -> tuple[dict[int, dict[str, Any]], dict[str, Any]]:
    """What experts sent and began, and how far they agree with the others."""
    seen = watch_rankings(connection, campaign.id, now=now)
    agreeing, sent = agreements_of(seen), defaultdict(list)
    for ranking in seen.sent:
        sent[ranking.participant_id].append(ranking)
    begun = {ranking.participant_id: ranking for ranking in seen.begun}
    skips = skips_by_person(connection, campaign.id)
    known = {
        person.id: {
            **expert_row(sent[person.id], agreeing.get(person.code)),
            "begun": begun.get(person.id),
            "skips": skips[person.id],
        }
        for person in people
    }
    return known, {"n_queries": len(seen.queries)}


def card(campaign: Campaign, seen: Overview, status: Mapping[str, Any], live: int) -> Card:
    """Progress in rankings; before the campaign was open, how many are wanted."""
    settings = settings_of(campaign)
    wanted = status.get("wanted", seen.pairs * settings.judged_by)
    rankings = status.get("rankings", seen.answers)
    return Card(
        name=campaign.name,
        title=settings.title,
        state=campaign.state,
        goal=ranking_goal_in_words(settings),
        candidates=wanted,
        share=1.0 if status.get("done") else round(status.get("complete") or 0.0, 4),
        progress=f"{rankings:,} of {several(wanted, 'ranking')}",
        value="Every query is ranked" if status.get("done") else "",
        live=live,
        people=f"{several(live, 'expert')} at work now" if live else several(seen.participants, "expert"),
    )
