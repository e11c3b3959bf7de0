"""Who is asking: dependencies of routes, cookies, and the proof that a form is ours.

Organisers come with the cookie of their login or the token of a program, assessors with the cookie or the token of
their link; the two are kept apart, and neither opens the doors of the other. A browser sends cookies by itself, also
where another site made it ask; so a request that changes something and comes with a cookie must bring the page's csrf
token, in the header ``X-CSRF-Token`` or the field ``csrf`` of a form. Programs name their token in every request, and
need not.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Request, Response
from starlette.requests import HTTPConnection

from adjudge.errors import shown
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Forbidden, NotFound, NotLoggedIn, WebError
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import Campaign, find_campaign
from adjudge.web.store.participants import SEEN_SECONDS, Participant, note_seen, participant_of_token
from adjudge.web.store.people import (
    LOGIN_SECONDS,
    TOKEN_PREFIX,
    USE_SECONDS,
    Organiser,
    note_use,
    organiser_of_login,
    organiser_of_token,
)
from adjudge.web.store.signing import csrf_token, is_csrf_token

ORGANISER_COOKIE = "adjudge_organiser"
ASSESSOR_COOKIE = "adjudge_assessor"
ASSESSOR_SECONDS = 180 * 24 * 3600
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

Person = TypeVar("Person")


@dataclass(frozen=True)
class Credentials:
    """What a request brings to show who it is from: a token, whether it came as a cookie, a csrf token beside it."""

    token: str
    is_cookie: bool
    csrf: str


def give_cookie(response: Response, settings: Settings, name: str, token: str) -> None:
    """Let a browser show a token with every request; scripts cannot read it."""
    for_organiser = name == ORGANISER_COOKIE
    response.set_cookie(
        name,
        token,
        max_age=int(LOGIN_SECONDS) if for_organiser else ASSESSOR_SECONDS,
        path="/",
        secure=settings.encrypted,
        httponly=True,
        samesite="strict" if for_organiser else "lax",  # links in letters lead to assessors' pages
    )


def forget_cookie(response: Response, settings: Settings, name: str) -> None:
    """Let a browser forget a token."""
    strict = name == ORGANISER_COOKIE
    response.delete_cookie(
        name, path="/", secure=settings.encrypted, httponly=True, samesite="strict" if strict else "lax"
    )


def csrf_of(connection: HTTPConnection, settings: Settings, cookie: str) -> str:
    """The csrf token for a page that is shown to the bearer of a cookie; empty without one."""
    token = connection.cookies.get(cookie, "")
    return csrf_token(settings.secret, token) if token else ""


def client_address(connection: HTTPConnection, settings: Settings) -> str:
    """Where a request comes from: the last address on its way that is not one of our own proxies."""
    address = connection.client.host if connection.client else "unknown"
    ways = ",".join(connection.headers.getlist("x-forwarded-for")).split(",")
    for earlier in reversed([way.strip() for way in ways]):
        if not _is_proxy(address, settings.proxies) or not _is_address(earlier):
            break
        address = earlier
    return address


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_proxy(address: str, proxies: tuple[str, ...]) -> bool:
    if address in proxies:
        return True
    if not _is_address(address):
        return False
    parsed = ipaddress.ip_address(address)
    return any(parsed in ipaddress.ip_network(proxy, strict=False) for proxy in proxies if _is_network(proxy))


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def offered_by(connection: HTTPConnection, cookie: str, *, csrf: str = "") -> Credentials | None:
    """What a request brings: the token of its header before the one of its cookie, None where there is neither.

    Other kinds of authorisation are not for us: a proxy before this server may ask for a password of its own.
    """
    kind, _, token = connection.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return Credentials(token.strip(), is_cookie=False, csrf="")
    token = connection.cookies.get(cookie, "")
    return Credentials(token, is_cookie=True, csrf=csrf) if token else None


async def _offered_csrf(request: Request) -> AsyncIterator[str]:
    """The csrf token of a request, from its header or its form, whose files are closed when the request is done."""
    header = request.headers.get("x-csrf-token")
    is_form = request.headers.get("content-type", "").lower().startswith(_FORMS)
    if header is not None or request.method in SAFE_METHODS or not is_form:
        yield header or ""
        return
    async with request.form() as form:
        field = form.get("csrf")
        yield field if isinstance(field, str) else ""


Csrf = Annotated[str, Depends(_offered_csrf)]


def _check_csrf(method: str, offered: Credentials, settings: Settings) -> None:
    if method in SAFE_METHODS or not offered.is_cookie:
        return
    if not is_csrf_token(offered.csrf, settings.secret, offered.token):
        raise Forbidden("This page is out of date, or the request did not come from it; load it again.")


def organiser_behind(context: Context, offered: Credentials | None) -> Organiser:
    """The organiser whose token was brought; any other token is refused."""
    if offered is None:
        raise NotLoggedIn("This is for organisers; log in first.")
    now = context.now()
    if offered.is_cookie:
        with context.database.read() as connection:
            return organiser_of_login(connection, offered.token, now=now)
    if not offered.token.startswith(TOKEN_PREFIX):
        raise NotLoggedIn(f"This is for organisers; expected one of their tokens, which begin with {TOKEN_PREFIX}.")
    with context.database.read() as connection:
        found, token = organiser_of_token(connection, offered.token, now=now)
    if token.used_at is None or abs(now - token.used_at) > USE_SECONDS:
        with context.database.write() as connection:
            note_use(connection, token, now=now)
    return found


def _participant_behind(context: Context, offered: Credentials | None) -> Participant:
    if offered is None:
        raise NotLoggedIn("This is for assessors; open your invitation first.")
    now = context.now()
    with context.database.read() as connection:
        found = participant_of_token(connection, offered.token, secret=context.settings.secret)
    if abs(now - found.seen_at) > SEEN_SECONDS:
        with context.database.write() as connection:
            note_seen(connection, found, now=now)
    return found


def as_organiser(request: Request, context: InContext, csrf: Csrf) -> Organiser:
    """The organiser who asks; anybody else is refused."""
    offered = offered_by(request, ORGANISER_COOKIE, csrf=csrf)
    found = organiser_behind(context, offered)
    if offered is not None:
        _check_csrf(request.method, offered, context.settings)
    return found


def as_participant(request: Request, context: InContext, csrf: Csrf) -> Participant:
    """The assessor who asks; anybody else is refused."""
    offered = offered_by(request, ASSESSOR_COOKIE, csrf=csrf)
    found = _participant_behind(context, offered)
    if offered is not None:
        _check_csrf(request.method, offered, context.settings)
    return found


def maybe_organiser(request: Request, context: InContext, csrf: Csrf) -> Organiser | None:
    """The organiser who asks, if there is one; for what both kinds of people, or nobody in particular, may see."""
    return _or_nobody(lambda: as_organiser(request, context, csrf))


def maybe_participant(request: Request, context: InContext, csrf: Csrf) -> Participant | None:
    """The assessor who asks, if there is one."""
    return _or_nobody(lambda: as_participant(request, context, csrf))


def _or_nobody(ask: Callable[[], Person]) -> Person | None:
    try:
        return ask()
    except WebError:
        return None


AsOrganiser = Annotated[Organiser, Depends(as_organiser)]
AsParticipant = Annotated[Participant, Depends(as_participant)]
MaybeOrganiser = Annotated[Organiser | None, Depends(maybe_organiser)]
MaybeParticipant = Annotated[Participant | None, Depends(maybe_participant)]


def own_campaign(name: str, organiser: AsOrganiser, context: InContext) -> Campaign:
    """A campaign of this organiser; of those of others nobody learns that they exist."""
    with context.database.read() as connection:
        campaign = find_campaign(connection, name)
    if campaign.organiser_id != organiser.id and not organiser.is_admin:
        raise NotFound(f"There is no campaign called {shown(name)}.")
    return campaign


OwnCampaign = Annotated[Campaign, Depends(own_campaign)]
