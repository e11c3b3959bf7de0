"""Clips, pictures and drawings for browsers, at addresses that tell nothing: neither system nor rank nor what it is."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request, Response
from sqlalchemy.engine import RowMapping
from starlette.responses import FileResponse

from adjudge.web.context import Context, InContext
from adjudge.web.errors import NotFound, NotLoggedIn
from adjudge.web.http.access import MaybeOrganiser, MaybeParticipant
from adjudge.web.store.campaigns import campaign_by_id
from adjudge.web.store.media import find_item, served_drawing, served_file
from adjudge.web.store.participants import Participant
from adjudge.web.store.people import Organiser

router = APIRouter(tags=["media"])


@router.api_route("/media/{address}", methods=["GET", "HEAD"], response_class=FileResponse)
def media(
    address: str, request: Request, context: InContext, participant: MaybeParticipant, organiser: MaybeOrganiser
) -> Response:
    """Part or all of a file, for assessors of its campaign and the campaign's organiser.

    What is at an address never changes: browsers may keep it, and need not ask again.
    """
    row = _item_for(address, context, participant, organiser)
    path, media_type, digest = served_file(context.settings, row)
    return _answer(request, path, media_type, digest)


@router.api_route("/media/{address}/drawing", methods=["GET", "HEAD"], response_class=FileResponse)
def drawing(
    address: str, request: Request, context: InContext, participant: MaybeParticipant, organiser: MaybeOrganiser
) -> Response:
    """How notation is drawn, and when its notes sound in its clip: ``{"svg": …, "notes": [[start, end, [id, …]], …]}``.

    Whoever may hear it may see it.
    """
    row = _item_for(address, context, participant, organiser)
    path, digest = served_drawing(context.settings, row)
    return _answer(request, path, "application/json", digest)


def _item_for(
    address: str, context: Context, participant: Participant | None, organiser: Organiser | None
) -> RowMapping:
    """The row behind an address, for somebody who may have it."""
    if participant is None and organiser is None:
        raise NotLoggedIn("Clips are for the assessors of a campaign; open your invitation first.")
    with context.database.read() as connection:
        row = find_item(connection, address)
    _refuse_others(row, context, participant, organiser)
    return row


def _answer(request: Request, path: Path, media_type: str, digest: str) -> Response:
    headers = {"ETag": f'"{digest}"', "Cache-Control": "private, max-age=86400, immutable"}
    if headers["ETag"] in _tags(request):
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=media_type, headers={**headers, "X-Content-Type-Options": "nosniff"})


def _tags(request: Request) -> list[str]:
    """What a browser has already; a proxy that packed it on its way made the tag a weak one."""
    return [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]


def _refuse_others(
    row: RowMapping, context: Context, participant: Participant | None, organiser: Organiser | None
) -> None:
    """Whoever has nothing to do with a campaign does not learn what it has."""
    if participant is not None and participant.campaign_id == row["campaign_id"]:
        return
    if organiser is not None:
        with context.database.read() as connection:
            campaign = campaign_by_id(connection, row["campaign_id"])
        if organiser.is_admin or campaign.organiser_id == organiser.id:
            return
    raise NotFound("There is nothing at this address.")
