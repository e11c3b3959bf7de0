"""The pages of assessors: the invitation, the judging page, the way back to it, and the way out.

An invitation is its own proof: whoever has the link may join, so its form needs no token against forgery beside it, and
what another site makes a browser send is refused before it comes here (``security.SameSite``). Joining sets a cookie;
everything after it that changes something brings the csrf token of that cookie.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from pydantic import BaseModel, Field

from adjudge.web.access import (
    ASSESSOR_COOKIE,
    AsParticipant,
    MaybeParticipant,
    csrf_of,
    forget_cookie,
    give_cookie,
)
from adjudge.web.campaign_rows import Campaign, campaign_by_id
from adjudge.web.context import Context, InContext
from adjudge.web.erasing import Receipt, erase_participant
from adjudge.web.errors import Gone, NotFound, NotLoggedIn, Refused
from adjudge.web.invitations import Invitation, Participant, find_invitation, join, participant_of_token
from adjudge.web.languages import LANGUAGES, preferred, words
from adjudge.web.rendering import markdown, page

router = APIRouter()

SEE_OTHER = 303


def _language(request: Request, offered: tuple[str, ...], wished: str | None = None) -> str:
    """The language of a page: the one asked for, else the one the browser likes most."""
    if wished in offered:
        return wished
    return preferred(request.headers.get("accept-language", ""), offered)


def _text(campaign: Campaign, texts: dict[str, str], language: str) -> Markup | None:
    text = campaign.settings.in_language(texts, language)
    return markdown(text) if text.strip() else None


def _invited(context: Context, token: str) -> tuple[Invitation, Campaign]:
    with context.database.read() as connection:
        invitation = find_invitation(connection, token, secret=context.settings.secret, now=context.now())
        return invitation, campaign_by_id(connection, invitation.campaign_id)


def _closed(request: Request, error: Gone | NotFound) -> HTMLResponse:
    language = _language(request, LANGUAGES)
    return page("closed.html", status=error.status, language=language, message=str(error))


def _welcome(
    campaign: Campaign,
    invitation: Invitation,
    participant: Participant | None,
    *,
    language: str,
    problem: str = "",
    name: str = "",
) -> HTMLResponse:
    settings = campaign.settings
    known = participant is not None and participant.invitation_id == invitation.id
    return page(
        "welcome.html",
        status=Refused.status if problem else 200,
        language=language,
        campaign=campaign,
        token=invitation.token,
        participant=participant if known else None,
        languages=settings.languages,
        instructions=_text(campaign, settings.instructions, language),
        consent=_text(campaign, settings.consent, language),
        problem=problem,
        name=name,
    )


@router.get("/i/{token}")
def invitation_page(
    token: str, request: Request, context: InContext, participant: MaybeParticipant, language: str | None = None
) -> HTMLResponse:
    """What an invitation is for, and the form to join by it; one that has ended says so."""
    try:
        invitation, campaign = _invited(context, token)
    except (Gone, NotFound) as error:
        return _closed(request, error)
    chosen = _language(request, campaign.settings.languages, language)
    return _welcome(campaign, invitation, participant, language=chosen)


class JoinForm(BaseModel):
    """What the form of an invitation asks."""

    name: Annotated[str, Field(max_length=1000)] = ""
    language: Annotated[str, Field(max_length=20)] = ""
    consent: Annotated[str, Field(max_length=10)] = ""


@router.post("/i/{token}")
def join_by_form(token: str, form: Annotated[JoinForm, Form()], request: Request, context: InContext) -> Response:
    """Join and go on to the judging page; without consent, where it is asked for, the form comes back."""
    try:
        invitation, campaign = _invited(context, token)
        language = _language(request, campaign.settings.languages, form.language)
        if _text(campaign, campaign.settings.consent, language) and not form.consent:
            raise Refused(words(language)["welcome.agree.missing"])
        return _enter(context, _join(context, invitation, form, language))
    except (Gone, NotFound) as error:
        return _closed(request, error)
    except Refused as error:
        return _welcome(campaign, invitation, None, language=language, problem=str(error), name=form.name)


def _join(context: Context, invitation: Invitation, form: JoinForm, language: str) -> str:
    """Become a participant; the token that they are known by."""
    with context.database.write() as connection:
        _, token = join(
            connection,
            invitation,
            name=form.name or None,
            language=language,
            consent=bool(form.consent),
            now=context.now(),
            secret=context.settings.secret,
        )
    return token


def _enter(context: Context, token: str) -> RedirectResponse:
    """On to the judging page, with the cookie that opens it."""
    response = RedirectResponse("/judge", status_code=SEE_OTHER)
    give_cookie(response, context.settings, ASSESSOR_COOKIE, token)
    return response


@router.get("/r/{token}")
def resume(token: str, request: Request, context: InContext) -> Response:
    """A participant's own link: go on where they were, on this device."""
    try:
        with context.database.read() as connection:
            participant_of_token(connection, token, secret=context.settings.secret, now=context.now())
    except Gone as error:
        return _closed(request, error)
    except NotLoggedIn as error:
        return _closed(request, NotFound(str(error)))
    return _enter(context, token)


@router.get("/judge")
def judging_page(request: Request, participant: AsParticipant, context: InContext) -> HTMLResponse:
    """The page on which questions are answered; its script asks the API for them."""
    with context.database.read() as connection:
        campaign = campaign_by_id(connection, participant.campaign_id)
    settings = campaign.settings
    language = _language(request, LANGUAGES, participant.language)
    own = request.cookies.get(ASSESSOR_COOKIE, "")
    return page(
        "judge.html",
        language=language,
        csrf=csrf_of(request, context.settings, ASSESSOR_COOKIE),
        campaign=campaign,
        participant=participant,
        languages=settings.languages,
        resume_url=f"{context.settings.address.rstrip('/')}/r/{own}",
        instructions=_text(campaign, settings.instructions, language),
        contact=settings.contact,
    )


@router.get("/privacy")
def privacy_page(request: Request, participant: MaybeParticipant, context: InContext) -> HTMLResponse:
    """What is stored about an assessor, and the form to be erased."""
    return _privacy(request, context, participant)


@router.post("/privacy/erase")
def erase_by_form(
    request: Request,
    participant: AsParticipant,
    context: InContext,
    how: Annotated[str, Form(max_length=20)] = "",
    sure: Annotated[str, Form(max_length=10)] = "",
) -> HTMLResponse:
    """Erase the person who asks, once they say that they are sure; the page is their receipt."""
    language = _language(request, LANGUAGES, participant.language)
    if how not in ("anonymise", "remove") or not sure:
        return _privacy(request, context, participant, problem=words(language)["privacy.erase.unsure"])
    with context.database.write() as connection:
        receipt = erase_participant(connection, participant, how=how, who="participant", now=context.now())
    context.estimating.changed(participant.campaign_id)
    response = page(
        "privacy.html", language=language, participant=None, campaign=None, receipt=_rows(receipt), problem=""
    )
    forget_cookie(response, context.settings, ASSESSOR_COOKIE)
    return response


def _privacy(request: Request, context: Context, participant: Participant | None, *, problem: str = "") -> HTMLResponse:
    campaign = None
    if participant is not None:
        with context.database.read() as connection:
            campaign = campaign_by_id(connection, participant.campaign_id)
    return page(
        "privacy.html",
        status=Refused.status if problem else 200,
        language=_language(request, LANGUAGES, participant.language if participant else None),
        csrf=csrf_of(request, context.settings, ASSESSOR_COOKIE) if participant else "",
        participant=participant,
        campaign=campaign,
        receipt=None,
        problem=problem,
    )


def _rows(receipt: Receipt) -> list[tuple[str, str]]:
    """A receipt as its page shows it: names of rows, which the language has words for, and values."""
    at = datetime.fromtimestamp(receipt.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return [
        ("campaign", receipt.campaign),
        ("code", receipt.code),
        ("at", at),
        ("kept", str(receipt.answers_kept)),
        ("removed", str(receipt.answers_removed)),
        ("comments", str(receipt.comments_removed)),
        ("number", receipt.number),
        ("digest", receipt.digest),
    ]
