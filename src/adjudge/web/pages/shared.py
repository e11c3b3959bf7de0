"""What the organisers' pages share: how they are shown, who may see them, and the sentences they say after a change.

Who is not logged in is sent to the login and back. A form that is refused shows its page again with the reason and the
status of it; one that is taken leads to the page by a redirect, so that loading it again does nothing twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, time
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from markupsafe import Markup
from sqlalchemy import Connection, select
from starlette.datastructures import FormData

from adjudge.errors import AdjudgeError
from adjudge.web.context import Context
from adjudge.web.errors import NotLoggedIn, Refused, WebError
from adjudge.web.http.access import ORGANISER_COOKIE, csrf_of
from adjudge.web.http.rendering import page
from adjudge.web.kinds.base import kind_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.people import Organiser

PAGE = 50
"""Rows on one page."""

_EVENTS = 50  # of those that happened so far
SEE_OTHER = 303
UNPROCESSABLE = 422
SAID = {
    "logged-out": "You are logged out.",
    "password": "The password is changed; log in with the new one.",
    "created": "Created. It is a draft: bring {material} and documents, then open it.",
    "saved": "The settings are saved.",
    "state": "Done.",
    "revoked": "The invitation is withdrawn.",
    "blocked": "Blocked: they cannot go on; their answers stay.",
    "unblocked": "They can go on {doing}.",
    "token-revoked": "The token is revoked.",
    "material": "The {material} are here.",
    "set-aside": "Excluded: their answers do not count, and their questions are asked again.",
    "counted": "Their answers count again.",
    "imported": "The judgments are here.",
}
"""What a page says after a change, by the word in its address, with words of the kind of campaign."""


class OrganiserRoute(APIRoute):
    """A page that sends people to the login first, and brings them back."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                return await handler(request)
            except NotLoggedIn:
                back = request.url.path if request.method == "GET" else "/"
                return RedirectResponse(f"/login?next={quote(back)}", SEE_OTHER)

        return guarded


async def _form(request: Request) -> FormData:
    return await request.form()


Fields = Annotated[FormData, Depends(_form)]


def field(fields: FormData, name: str, usual: str = "") -> str:
    """A field of a form as text; files are none."""
    value = fields.get(name, usual)
    return value.strip() if isinstance(value, str) else usual


def day_end(text: str) -> float | None:
    """The end of a day, in UTC, that somebody chose; None where they chose none.

    >>> day_end("2030-01-31"), day_end("")
    (1896134399.0, None)
    """
    if not text:
        return None
    try:
        chosen = date.fromisoformat(text)
    except ValueError:
        raise Refused(f"Expected a day as year-month-day, got {text[:20]!r}.") from None
    return float(int(datetime.combine(chosen, time.max, tzinfo=UTC).timestamp()))


def moment(seconds: float) -> Markup:
    """A time that browsers show in their own zone."""
    at = datetime.fromtimestamp(seconds, UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        at.isoformat(timespec="seconds"), at.strftime("%-d %b %Y, %H:%M UTC")
    )


def embedded(value: object) -> Markup:
    """A value as JSON inside a script element: nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def several(n: int, one: str, many: str | None = None) -> str:
    """A number of things in words.

    >>> several(1, "query", "queries"), several(1200, "query", "queries")
    ('1 query', '1,200 queries')
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def go(path: str, said: str | None = None) -> RedirectResponse:
    """Lead to a page after a change, which says what was done."""
    return RedirectResponse(f"{path}?said={said}" if said else path, SEE_OTHER)


def last_events(connection: Connection, campaign: Campaign) -> Sequence[Any]:
    """What happened to a campaign, by whom and when, newest first."""
    past = select(t.event.c.at, t.event.c.who, t.event.c.what).where(t.event.c.campaign_id == campaign.id)
    return connection.execute(past.order_by(t.event.c.id.desc()).limit(_EVENTS)).all()


def status_of(error: AdjudgeError) -> int:
    """The status of a refusal."""
    return error.status if isinstance(error, WebError) else UNPROCESSABLE


def show(
    request: Request,
    context: Context,
    template: str,
    *,
    organiser: Organiser | None,
    problem: AdjudgeError | None = None,
    section: str = "campaigns",
    campaign: Campaign | None = None,
    **values: Any,
) -> HTMLResponse:
    """A page of an organiser; with a problem its status is the problem's.

    A page of a campaign has the words of its kind, and is the kind's own where it has one.
    """
    said = None if problem is not None else SAID.get(request.query_params.get("said", ""))
    templates = [template, f"organiser/{template}"]
    if campaign is not None:
        templates.insert(0, f"{campaign.kind}/{template}")
        values["words"] = kind_of(campaign).words
        said = said and said.format_map(asdict(kind_of(campaign).words))
    return page(
        templates,
        status=200 if problem is None else status_of(problem),
        csrf=csrf_of(request, context.settings, ORGANISER_COOKIE),
        organiser=organiser,
        section=section,
        problem=None if problem is None else sentence(str(problem)),
        said=said,
        moment=moment,
        campaign=campaign,
        **values,
    )


def sentence(text: str) -> str:
    """A message as a sentence; names of files keep their letters.

    >>> sentence("expected a number"), sentence("runs.txt:2: expected 6 columns, got 4")
    ('Expected a number.', 'runs.txt:2: expected 6 columns, got 4.')
    """
    whole = text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text
    return whole if whole.endswith((".", "!", "?")) else f"{whole}."
