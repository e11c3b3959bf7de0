"""An organiser's own things: tokens for programs, and the password."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response

from adjudge.errors import AdjudgeError
from adjudge.web.access import ORGANISER_COOKIE, AsOrganiser, client_address, forget_cookie
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Refused
from adjudge.web.pages.organiser_shared import Fields, OrganiserRoute, day_end, field, go, show
from adjudge.web.people import (
    ApiToken,
    Organiser,
    change_password,
    check_again,
    list_tokens,
    make_token,
    revoke_token,
)

router = APIRouter(prefix="/account", route_class=OrganiserRoute)


@router.get("")
def account(request: Request, organiser: AsOrganiser, context: InContext) -> Response:
    """Tokens and password."""
    return _account_page(request, context, organiser)


@router.post("/tokens")
def new_token(request: Request, organiser: AsOrganiser, fields: Fields, context: InContext) -> Response:
    """Make a token and show it, this once."""
    try:
        ends = day_end(field(fields, "expires"))
        with context.database.write() as connection:
            _, plain = make_token(connection, organiser, name=field(fields, "name"), expires_at=ends, now=context.now())
    except AdjudgeError as error:
        return _account_page(request, context, organiser, problem=error)
    return _account_page(request, context, organiser, plain=plain)


@router.post("/tokens/revoke")
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


@router.post("/password")
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
