"""Whether the server is well, for whatever watches over it.

An organiser's own things: tokens for programs, and the password.

The organisers' door: log in, log out, and the list of campaigns.

There is no registration: who may use the server's command line makes the first organiser. A login form proves that it
is ours by a token that belongs to a cookie of its own, given with the form, because there is no login yet that it could
belong to.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from sqlalchemy import Connection, select

from adjudge.errors import AdjudgeError
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Forbidden, NotLoggedIn, Refused, TooMany
from adjudge.web.http.access import (
    ORGANISER_COOKIE,
    AsOrganiser,
    MaybeOrganiser,
    client_address,
    forget_cookie,
    give_cookie,
)
from adjudge.web.kinds.base import Card, kind_of
from adjudge.web.kinds.lifecycle import list_campaigns, overview
from adjudge.web.pages.shared import Fields, OrganiserRoute, day_end, field, go, show
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.people import (
    ApiToken,
    Organiser,
    change_password,
    check_again,
    list_organisers,
    list_tokens,
    log_in,
    log_out,
    make_token,
    revoke_token,
)
from adjudge.web.store.signing import csrf_token, is_csrf_token
from adjudge.web.store.snapshots import live_codes, read_snapshot

health_router = APIRouter()


class Health(BaseModel):
    """That the server answers, and its database as well."""

    status: str = "ok"


@health_router.get("/healthz", summary="Whether the server and its database answer")
def health(context: InContext) -> Health:
    """Fails with 503 where the database does not answer."""
    with context.database.read() as connection:
        connection.execute(select(t.organiser.c.id).limit(1)).first()
    return Health()


account_router = APIRouter(prefix="/account", route_class=OrganiserRoute)


@account_router.get("")
def account(request: Request, organiser: AsOrganiser, context: InContext) -> Response:
    """Tokens and password."""
    return _account_page(request, context, organiser)


@account_router.post("/tokens")
def new_token(request: Request, organiser: AsOrganiser, fields: Fields, context: InContext) -> Response:
    """Make a token and show it, this once."""
    try:
        ends = day_end(field(fields, "expires"))
        with context.database.write() as connection:
            _, plain = make_token(connection, organiser, name=field(fields, "name"), expires_at=ends, now=context.now())
    except AdjudgeError as error:
        return _account_page(request, context, organiser, problem=error)
    return _account_page(request, context, organiser, plain=plain)


@account_router.post("/tokens/revoke")
def end_token(request: Request, organiser: AsOrganiser, fields: Fields, context: InContext) -> Response:
    """End a token."""
    number = field(fields, "token")
    try:
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise Refused("Expected the number of a token.")
        with context.database.write() as connection:
            revoke_token(connection, organiser, int(number), now=context.now())
    except AdjudgeError as error:
        return _account_page(request, context, organiser, problem=error)
    return go("/account", "token-revoked")


@account_router.post("/password")
def new_password(request: Request, organiser: AsOrganiser, fields: Fields, context: InContext) -> Response:
    """Change the password; every login ends, this one as well."""
    current, new, again = (str(fields.get(name, "")) for name in ("current", "new", "again"))
    address, limit = client_address(request, context.settings), context.settings.logins_per_minute
    try:
        if new != again:
            raise Refused("The new password was written in two ways; nothing was changed.")
        check_again(context.database, organiser, password=current, who_ip=address, now=context.now(), limit=limit)
        with context.database.write() as connection:
            change_password(connection, organiser, password=new)
    except AdjudgeError as error:
        return _account_page(request, context, organiser, problem=error)
    response = go("/login", "password")
    forget_cookie(response, context.settings, ORGANISER_COOKIE)
    return response


def _account_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    *,
    problem: AdjudgeError | None = None,
    plain: str | None = None,
) -> Response:
    with context.database.read() as connection:
        tokens = list_tokens(connection, organiser)
    return show(
        request,
        context,
        "account.html",
        organiser=organiser,
        problem=problem,
        section="account",
        tokens=[_shown(token, now=context.now()) for token in tokens],
        plain=plain,
    )


def _shown(token: ApiToken, *, now: float) -> dict[str, Any]:
    expired = token.expires_at is not None and token.expires_at <= now
    ended = "revoked" if token.revoked_at is not None else "expired" if expired else None
    return {**asdict(token), "ended": ended}


router = APIRouter(route_class=OrganiserRoute)

LOGIN_COOKIE = "adjudge_login"
_FORM_SECONDS = 3600


@router.get("/")
def campaigns(request: Request, organiser: MaybeOrganiser, context: InContext) -> Response:
    """The campaigns of an organiser; others are led to the login."""
    if organiser is None:
        return go("/login")
    with context.database.read() as connection:
        found = list_campaigns(connection, organiser_id=None if organiser.is_admin else organiser.id)
        cards = [_card(connection, campaign, now=context.now()) for campaign in found]
    return show(request, context, "campaigns.html", organiser=organiser, cards=cards)


def _card(connection: Connection, campaign: Campaign, *, now: float) -> Card:
    seen, snapshot = overview(connection, campaign), read_snapshot(connection, campaign.id)
    live = len(live_codes(connection, campaign.id, now=now))
    return kind_of(campaign).card(campaign, seen, {} if snapshot is None else snapshot["status"], live)


@router.get("/login")
def login_page(
    request: Request,
    organiser: MaybeOrganiser,
    context: InContext,
    next: Annotated[str, Query(max_length=400)] = "/",  # noqa: A002
) -> Response:
    """The login form; on a new server, how to make its first organiser."""
    if organiser is not None:
        return go(own_path(next))
    return _login_form(request, context, after=next)


@router.post("/login")
def log_in_here(request: Request, fields: Fields, context: InContext) -> Response:
    """Check login and password; wrong ones are counted."""
    settings, login = context.settings, field(fields, "login")
    try:
        _check_form(request, context, field(fields, "csrf"))
        token, _ = log_in(
            context.database,
            login=login,
            password=str(fields.get("password", "")),
            who_ip=client_address(request, settings),
            now=context.now(),
            limit=settings.logins_per_minute,
        )
    except (Forbidden, NotLoggedIn, TooMany) as error:
        response = _login_form(request, context, after=field(fields, "next", "/"), login=login, problem=error)
        if isinstance(error, TooMany):
            response.headers["Retry-After"] = str(int(error.retry_after))
        return response
    _end_login(request, context)
    response = go(own_path(field(fields, "next", "/")))
    give_cookie(response, settings, ORGANISER_COOKIE, token)
    response.delete_cookie(LOGIN_COOKIE, path="/login")
    return response


def own_path(path: str) -> str:
    r"""Where to go after the login: a page of this server, never another site.

    >>> own_path("/campaigns/a"), own_path("//evil.example"), own_path("https://evil.example"), own_path("/\\evil")
    ('/campaigns/a', '/', '/', '/')
    """
    inside = path.startswith("/") and not path.startswith("//") and path.isprintable() and "\\" not in path
    return path if inside else "/"


def _check_form(request: Request, context: Context, offered: str) -> None:
    cookie = request.cookies.get(LOGIN_COOKIE, "")
    if not cookie or not is_csrf_token(offered, context.settings.secret, cookie):
        raise Forbidden("This form is out of date, or your browser keeps no cookies; try again.")


def _login_form(
    request: Request,
    context: Context,
    *,
    after: str,
    login: str = "",
    problem: AdjudgeError | None = None,
) -> Response:
    with context.database.read() as connection:
        first_run = not list_organisers(connection)
    cookie = request.cookies.get(LOGIN_COOKIE) or secrets.token_urlsafe(24)
    response = show(
        request,
        context,
        "login.html",
        organiser=None,
        problem=problem,
        first_run=first_run,
        login_csrf=csrf_token(context.settings.secret, cookie),
        next=own_path(after),
        login=login,
    )
    encrypted = context.settings.encrypted
    response.set_cookie(
        LOGIN_COOKIE, cookie, max_age=_FORM_SECONDS, path="/login", httponly=True, secure=encrypted, samesite="strict"
    )
    return response


@router.post("/logout")
def log_out_here(request: Request, organiser: AsOrganiser, context: InContext) -> Response:
    """End the login of this browser."""
    _end_login(request, context)
    response = go("/login", "logged-out")
    forget_cookie(response, context.settings, ORGANISER_COOKIE)
    return response


def _end_login(request: Request, context: Context) -> None:
    before = request.cookies.get(ORGANISER_COOKIE)
    if before:
        with context.database.write() as connection:
            log_out(connection, before)
