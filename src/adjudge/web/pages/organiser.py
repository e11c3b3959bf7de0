"""The organisers' door: log in, log out, and the list of campaigns.

There is no registration: who may use the server's command line makes the first organiser. A login form proves that it
is ours by a token that belongs to a cookie of its own, given with the form, because there is no login yet that it could
belong to.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection

from adjudge.errors import AdjudgeError
from adjudge.web.access import (
    ORGANISER_COOKIE,
    AsOrganiser,
    MaybeOrganiser,
    client_address,
    csrf_token,
    forget_cookie,
    give_cookie,
)
from adjudge.web.campaign_rows import Campaign
from adjudge.web.campaigns import Overview, list_campaigns, overview
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Forbidden, NotLoggedIn, TooMany
from adjudge.web.monitoring import live_codes
from adjudge.web.pages import (
    organiser_account,
    organiser_answers,
    organiser_campaign,
    organiser_judgments,
    organiser_people,
    organiser_preference_set_up,
    organiser_ranking_set_up,
    organiser_set_up,
)
from adjudge.web.pages.organiser_forms import goal_in_words
from adjudge.web.pages.organiser_preference_forms import preference_goal_in_words
from adjudge.web.pages.organiser_ranking_forms import ranking_goal_in_words
from adjudge.web.pages.organiser_shared import Fields, OrganiserRoute, field, go, several, show
from adjudge.web.people import list_organisers, log_in, log_out
from adjudge.web.picturing import read_picture
from adjudge.web.signing import is_csrf_token

router = APIRouter(route_class=OrganiserRoute)

LOGIN_COOKIE = "adjudge_login"
_FORM_SECONDS = 3600


@dataclass(frozen=True)
class Card:
    """A campaign in the list: where it stands, in words."""

    name: str
    title: str
    state: str
    goal: str
    candidates: int
    share: float
    progress: str
    value: str
    live: int
    people: str


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
    seen, picture = overview(connection, campaign), read_picture(connection, campaign.id)
    live = len(live_codes(connection, campaign.id, now=now))
    status: dict[str, Any] = {} if picture is None else picture["status"]
    if campaign.kind == "preference":
        return _preference_card(campaign, seen, status, live)
    if campaign.kind == "ranking":
        return _ranking_card(campaign, seen, status, live)
    judged, candidates = status.get("judged", seen.judged), status.get("candidates", seen.pairs)
    there = f"{several(live, 'assessor')} judging now" if live else several(seen.participants, "assessor")
    return Card(
        name=campaign.name,
        title=campaign.settings.title,
        state=campaign.state,
        goal=goal_in_words(campaign.judging),
        candidates=candidates,
        share=_nearness(status, judged, candidates),
        progress=f"{judged:,} of {candidates:,} judged",
        value="The goal is reached" if status.get("done") else "",
        live=live,
        people=there,
    )


def _preference_card(campaign: Campaign, seen: Overview, status: dict[str, Any], live: int) -> Card:
    """Progress in answers that count, once the campaign was open; before, how many questions there are."""
    settings = campaign.preference
    wanted = status.get("wanted_answers", seen.pairs * settings.judged_by)
    answers = status.get("answers", seen.answers)
    people = "person" if live == 1 else "people"
    there = f"{live:,} {people} answering now" if live else several(seen.participants, "person", "people")
    return Card(
        name=campaign.name,
        title=settings.title,
        state=campaign.state,
        goal=preference_goal_in_words(settings),
        candidates=wanted,
        share=1.0 if status.get("done") else round(status.get("complete") or 0.0, 4),
        progress=f"{answers:,} of {wanted:,} answers",
        value="Every question is answered" if status.get("done") else "",
        live=live,
        people=there,
    )


def _ranking_card(campaign: Campaign, seen: Overview, status: dict[str, Any], live: int) -> Card:
    """Progress in rankings; before the campaign was open, how many are wanted."""
    settings = campaign.ranking
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


def _nearness(status: dict[str, Any], judged: int, candidates: int) -> float:
    """How much of the way to the goal is done, as a share of judgments."""
    if status.get("done"):
        return 1.0
    return round(judged / candidates, 4) if candidates else 0.0


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


for part in (
    organiser_campaign,
    organiser_set_up,
    organiser_preference_set_up,
    organiser_ranking_set_up,
    organiser_people,
    organiser_judgments,
    organiser_answers,
    organiser_account,
):
    router.include_router(part.router)
