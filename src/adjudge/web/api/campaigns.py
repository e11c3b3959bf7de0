"""Campaigns over HTTP: made, looked at, changed, opened, paused, closed, watched.

Dashboard snapshots are read once, or streamed whenever they change. The stream (server-sent events) looks at the
version of the snapshot once a second. It ends after a while, when the reader is gone and when the server is asked to
stop; browsers come back after two seconds, and are checked again.
"""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from collections.abc import AsyncIterator
from types import FrameType
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, GetJsonSchemaHandler, SerializeAsAny
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from sqlalchemy import Connection, select, update

from adjudge.errors import AdjudgeError
from adjudge.web.api.body import Body, RowId
from adjudge.web.context import Context, InContext
from adjudge.web.errors import NotFound, Refused
from adjudge.web.http.access import AsOrganiser, OwnCampaign
from adjudge.web.kinds.base import KINDS, kind_of
from adjudge.web.kinds.lifecycle import Overview, change_settings, create_campaign, list_campaigns, overview, set_state
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, CampaignSettings, in_use, log_event
from adjudge.web.store.database import StorageError
from adjudge.web.store.snapshots import problems, read_snapshot, snapshot_version

router = APIRouter(prefix="/campaigns", tags=["campaigns"])


class _OfAnyKind:
    """Describes settings in the API's schema as those of one of the kinds that there are."""

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(kind.settings.__pydantic_core_schema__) for kind in KINDS.values()]}


class NewCampaign(Body):
    """A campaign to be made; ``settings`` of its kind need a title, everything else has a usual value."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    kind: Annotated[str, Field(max_length=40, json_schema_extra={"enum": [*KINDS]})] = next(iter(KINDS))
    settings: dict[str, Any]


class Change(Body):
    """Settings to be changed; those that are not named stay."""

    settings: dict[str, Any]


class NewState(Body):
    """Where a campaign should stand."""

    state: Literal["open", "paused", "closed"]


class Shown(BaseModel):
    """A campaign."""

    name: str
    kind: str
    state: str
    settings: Annotated[SerializeAsAny[CampaignSettings], _OfAnyKind]
    created_at: float
    opened_at: float | None
    reached_at: float | None
    closed_at: float | None
    counts: Overview


class Listed(BaseModel):
    """Campaigns, the newest first."""

    campaigns: list[Shown]


class Missing(BaseModel):
    """Documents and queries of which there is nothing to hear, read or see yet."""

    missing: list[str]


def show(connection: Connection, campaign: Campaign) -> Shown:
    """A campaign as this interface shows it."""
    known = {name: getattr(campaign, name) for name in Shown.model_fields if name != "counts"}
    return Shown(**known, counts=overview(connection, campaign))


def checked_settings(values: dict[str, Any], kind: str) -> CampaignSettings:
    """Settings from outside; what is wrong with them is the sender's to mend."""
    try:
        return KINDS[kind].settings.parse(values)
    except AdjudgeError as error:
        raise Refused(str(error)) from None


@router.get("", summary="One's campaigns")
def all_campaigns(organiser: AsOrganiser, context: InContext) -> Listed:
    """Those of this organiser; administrators see all."""
    with context.database.read() as connection:
        found = list_campaigns(connection, organiser_id=None if organiser.is_admin else organiser.id)
        return Listed(campaigns=[show(connection, campaign) for campaign in found])


@router.post("", status_code=201, summary="Make a campaign")
def create(sent: NewCampaign, organiser: AsOrganiser, context: InContext) -> Shown:
    """A draft: give it runs, questions or candidates, and documents, then open it."""
    settings = checked_settings(sent.settings, sent.kind)
    with context.database.write() as connection:
        made = create_campaign(
            connection, name=sent.name, settings=settings, organiser_id=organiser.id, now=context.now()
        )
        return show(connection, made)


@router.get("/{name}", summary="A campaign")
def one(campaign: OwnCampaign, context: InContext) -> Shown:
    """Its settings, state and numbers."""
    with context.database.read() as connection:
        return show(connection, campaign)


@router.patch("/{name}", summary="Change settings of a campaign")
def change(sent: Change, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext) -> Shown:
    """What answers rest on stays as it is once there are any: scales and measure, batches and the seed, rules."""
    settings = checked_settings({**campaign.settings.model_dump(mode="json"), **sent.settings}, campaign.kind)
    with context.database.write() as connection:
        changed = change_settings(connection, campaign, settings, who=organiser.login, now=context.now())
        shown = show(connection, changed)
    context.estimating.changed(campaign.id)
    return shown


@router.post("/{name}/state", summary="Open, pause, close or reopen a campaign")
def state(sent: NewState, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext) -> Shown:
    """Opening needs runs, questions or candidates, and something to hear, read or see for all that is asked about."""
    with context.database.write() as connection:
        changed = set_state(connection, campaign, sent.state, who=organiser.login, now=context.now())
        shown = show(connection, changed)
    context.estimating.changed(campaign.id)
    return shown


@router.get("/{name}/missing", summary="What keeps a campaign from opening")
def missing(campaign: OwnCampaign, context: InContext) -> Missing:
    """Documents and queries of which there is nothing to hear, read or see yet."""
    with context.database.read() as connection:
        return Missing(missing=kind_of(campaign).missing_items(connection, campaign))


snapshots_router = APIRouter(prefix="/campaigns/{name}", tags=["picture"])

POLL_SECONDS = 1.0
QUIET_SECONDS = 15.0
"""Without news for this long, a comment says that the connection is alive."""
LONGEST_SECONDS = 600.0
"""A stream ends after this long, so that who may see it is checked again."""
RETRY_MS = 2000

_leaving = threading.Event()  # this process was asked to stop
_heeding = threading.Lock()
_heeded: set[int] = set()


class Held(Body):
    """Whether a pair is kept back."""

    held: bool


@snapshots_router.get("/picture")
def get_picture(found: OwnCampaign, context: InContext) -> dict[str, Any]:
    """What is believed now: ranking or curves, what is left to do, what it costs, and the people."""
    return _current(context, found)[1]


def _current(context: Context, campaign: Campaign) -> tuple[int, dict[str, Any]]:
    """Version and content of the snapshot; an empty one of version 0 before the first."""
    with context.database.read() as connection:
        content = read_snapshot(connection, campaign.id)
    if content is None:
        return 0, kind_of(campaign).first_snapshot(campaign)
    return content["version"], content


@snapshots_router.get("/events", response_class=StreamingResponse)
async def get_events(request: Request, found: OwnCampaign, context: InContext) -> StreamingResponse:
    """The snapshot now, and again whenever it changes, as server-sent events called ``picture``."""
    _heed_signals()
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(request, found, context), media_type="text/event-stream", headers=headers)


async def _events(request: Request, campaign: Campaign, context: Context) -> AsyncIterator[str]:
    sent, said_at, end = -1, time.monotonic(), time.monotonic() + LONGEST_SECONDS
    yield f"retry: {RETRY_MS}\n\n"
    while time.monotonic() < end and not _is_over(context) and not await request.is_disconnected():
        version = await run_in_threadpool(_version, context, campaign, sent)
        if version != sent:
            sent, content = await run_in_threadpool(_current, context, campaign)
            yield f"id: {sent}\nevent: picture\ndata: {json.dumps(content, ensure_ascii=False)}\n\n"
            said_at = time.monotonic()
        elif time.monotonic() - said_at >= QUIET_SECONDS:
            yield ": still here\n\n"
            said_at = time.monotonic()
        await _rest(context)


def _version(context: Context, campaign: Campaign, sent: int) -> int:
    """The version of the snapshot; the one that was sent already while the database does not answer."""
    try:
        with context.database.read() as connection:
            return snapshot_version(connection, campaign.id)
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


@snapshots_router.get("/problems")
def get_problems(found: OwnCampaign, context: InContext) -> dict[str, list[dict[str, Any]]]:
    """Pairs that somebody skipped or commented on, or that are held back."""
    with context.database.read() as connection:
        return {"problems": problems(connection, found.id)}


@snapshots_router.post("/pairs/{pair_id}/held")
def post_held(
    pair_id: RowId, body: Held, found: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> dict[str, Any]:
    """Keep a pair back, or let it be asked again."""
    return hold_pair(context, found, pair_id, held=body.held, who=organiser.login)


def hold_pair(context: Context, campaign: Campaign, pair_id: int, *, held: bool, who: str) -> dict[str, Any]:
    """Keep a pair or question back, or let it be asked again; it as it is then."""
    with context.database.write() as connection:
        in_use(connection, campaign.id)
        this = (t.pair.c.id == pair_id) & (t.pair.c.campaign_id == campaign.id)
        row = connection.execute(select(t.pair).where(this).with_for_update()).first()
        if row is None:
            raise NotFound(f"There is no pair {pair_id} in this campaign.")
        connection.execute(update(t.pair).where(this).values(held=held))
        if row.held != held:
            what = "held" if held else "released"
            details = {"pair": pair_id, "query": row.query, "document": row.document}
            log_event(connection, campaign.id, who=who, what=what, details=details, now=context.now())
    context.estimating.changed(campaign.id)
    return {"pair": pair_id, "query": row.query, "document": row.document, "held": held}
