"""The organiser's picture over HTTP: once, or sent again whenever it changes; and pairs that make problems.

The stream (server-sent events) looks at the version of the picture once a second. It ends by itself after a while, when
the reader is gone and when the server is asked to stop; browsers come back after two seconds, and are checked again.
"""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from collections.abc import AsyncIterator
from types import FrameType
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from sqlalchemy import select, update

from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.errors import shown
from adjudge.groundtruth import DEFAULT_ALPHA, parse_construction
from adjudge.web import monitoring
from adjudge.web.access import AsOrganiser, OwnCampaign
from adjudge.web.api.body import Body
from adjudge.web.api.people import RowId
from adjudge.web.campaign_rows import Campaign, in_use, log_event
from adjudge.web.context import Context, InContext
from adjudge.web.database import StorageError
from adjudge.web.errors import NotFound
from adjudge.web.picturing import picture_version, read_picture
from adjudge.web.preference_picturing import first_picture
from adjudge.web.ranking_lists import listed, ranked_queries, summary
from adjudge.web.ranking_watching import watch_rankings
from adjudge.web.schema import pair

router = APIRouter(prefix="/campaigns/{name}", tags=["picture"])

POLL_SECONDS = 1.0
QUIET_SECONDS = 15.0
"""After so long without news a comment says that the line is alive."""
LONGEST_SECONDS = 600.0
"""A stream ends after so long, so that who may see it is checked again."""
RETRY_MS = 2000

_leaving = threading.Event()  # this process was asked to stop
_heeding = threading.Lock()
_heeded: set[int] = set()


class Held(Body):
    """Whether a pair is kept back."""

    held: bool


@router.get("/picture")
def get_picture(found: OwnCampaign, context: InContext) -> dict[str, Any]:
    """What is believed now: ranking or curves, what is left to do, what it costs, and the people."""
    return _current(context, found)[1]


def _current(context: Context, found: Campaign) -> tuple[int, dict[str, Any]]:
    """Version and content of the picture; an empty one of version 0 before there is any."""
    with context.database.read() as connection:
        content = read_picture(connection, found.id)
    if content is None:
        return 0, first_picture(found)
    return content["version"], content


@router.get("/events", response_class=StreamingResponse)
async def get_events(request: Request, found: OwnCampaign, context: InContext) -> StreamingResponse:
    """The picture now, and again whenever it changes, as server-sent events called ``picture``."""
    _heed_signals()
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(request, found, context), media_type="text/event-stream", headers=headers)


async def _events(request: Request, found: Campaign, context: Context) -> AsyncIterator[str]:
    sent, said_at, end = -1, time.monotonic(), time.monotonic() + LONGEST_SECONDS
    yield f"retry: {RETRY_MS}\n\n"
    while time.monotonic() < end and not _is_over(context) and not await request.is_disconnected():
        version = await run_in_threadpool(_version, context, found, sent)
        if version != sent:
            sent, content = await run_in_threadpool(_current, context, found)
            yield f"id: {sent}\nevent: picture\ndata: {json.dumps(content, ensure_ascii=False)}\n\n"
            said_at = time.monotonic()
        elif time.monotonic() - said_at >= QUIET_SECONDS:
            yield ": still here\n\n"
            said_at = time.monotonic()
        await _rest(context)


def _version(context: Context, found: Campaign, sent: int) -> int:
    """The version of the picture; the one that was sent already while the database does not answer."""
    try:
        with context.database.read() as connection:
            return picture_version(connection, found.id)
    except StorageError:
        return sent


async def _rest(context: Context) -> None:
    """Wait for the next look, but no longer than the server runs."""
    until = time.monotonic() + POLL_SECONDS
    while time.monotonic() < until and not _is_over(context):
        await asyncio.sleep(min(0.1, POLL_SECONDS))


def _is_over(context: Context) -> bool:
    return _leaving.is_set() or context.estimating.stopping


def _heed_signals() -> None:
    """Notice when this process is asked to stop: servers wait for open streams before they tell the application.

    The handlers that are there are called as before. Outside of the main thread nothing is done, and nothing needed.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    with _heeding:
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if number in _heeded or not callable(before):
                continue

            def leave(received: int, frame: FrameType | None, *, before: Any = before) -> None:
                _leaving.set()
                before(received, frame)

            signal.signal(number, leave)
            _heeded.add(number)


@router.get("/lists")
def get_lists(
    found: OwnCampaign,
    context: InContext,
    construction: Annotated[str, Query(max_length=80)] = DEFAULT_CONSTRUCTION,
    alpha: Annotated[float, Query(gt=0, lt=1)] = DEFAULT_ALPHA,
    query: Annotated[str | None, Query(max_length=400)] = None,
) -> dict[str, Any]:
    """Of a ranking campaign: the lists as they stand, made in some way, in numbers; that of one query to be drawn."""
    _ = found.ranking  # refused where something else is asked for
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


@router.get("/problems")
def get_problems(found: OwnCampaign, context: InContext) -> dict[str, list[dict[str, Any]]]:
    """Pairs that somebody skipped or commented on, or that are held back."""
    with context.database.read() as connection:
        return {"problems": monitoring.problems(connection, found.id)}


@router.post("/pairs/{pair_id}/held")
def post_held(
    pair_id: RowId, body: Held, found: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> dict[str, Any]:
    """Keep a pair back, or let it be asked again."""
    return hold_pair(context, found, pair_id, held=body.held, who=organiser.login)


def hold_pair(context: Context, found: Campaign, pair_id: int, *, held: bool, who: str) -> dict[str, Any]:
    """Keep a pair or question back, or let it be asked again; it as it is then."""
    with context.database.write() as connection:
        in_use(connection, found.id)
        this = (pair.c.id == pair_id) & (pair.c.campaign_id == found.id)
        row = connection.execute(select(pair).where(this).with_for_update()).first()
        if row is None:
            raise NotFound(f"There is no pair {pair_id} in this campaign.")
        connection.execute(update(pair).where(this).values(held=held))
        if row.held != held:
            what = "held" if held else "released"
            details = {"pair": pair_id, "query": row.query, "document": row.document}
            log_event(connection, found.id, who=who, what=what, details=details, now=context.now())
    context.estimating.changed(found.id)
    return {"pair": pair_id, "query": row.query, "document": row.document, "held": held}
