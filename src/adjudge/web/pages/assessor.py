"""The pages of those who answer: the invitation, the page that asks, the way back to it, and the way out.

An invitation is its own proof: whoever has the link may join, so its form needs no token against forgery beside it, and
what another site makes a browser send is refused before it comes here (``security.SameSite``). Joining sets a cookie;
everything after it that changes something brings the csrf token of that cookie. Whom a recruiter sends is known by the
parameters of their link: they pass through the form, and who comes again goes on without being asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field

from adjudge.web.context import Context, InContext
from adjudge.web.errors import Gone, NotFound, NotLoggedIn, Refused
from adjudge.web.http.access import (
    ASSESSOR_COOKIE,
    AsParticipant,
    MaybeParticipant,
    csrf_of,
    forget_cookie,
    give_cookie,
)
from adjudge.web.http.rendering import markdown, page
from adjudge.web.kinds.base import KINDS, kind_of
from adjudge.web.languages import LANGUAGES, preferred, words
from adjudge.web.store.campaigns import Campaign, campaign_by_id
from adjudge.web.store.erase import Receipt, erase_participant
from adjudge.web.store.participants import (
    Invitation,
    Participant,
    find_invitation,
    join,
    participant_of_token,
    recruited_from,
    who_came,
)

router = APIRouter()

SEE_OTHER = 303
_CARRIED = "recruited."
"""What the names of hidden fields begin with that carry a recruiter's parameters through the form."""


def _language(request: Request, offered: tuple[str, ...], wished: str | None = None) -> str:
    """The language of a page: the one asked for, else the one the browser likes most."""
    if wished in offered:
        return wished
    return preferred(request.headers.get("accept-language", ""), offered)


def _text(campaign: Campaign, texts: dict[str, str], language: str) -> Markup | None:
    text = campaign.settings.in_language(texts, language)
    return markdown(text) if text.strip() else None


def _invited(context: Context, token: str, parameters: Mapping[str, str] | None = None) -> tuple[Invitation, Campaign]:
    secret, now = context.settings.secret, context.now()
    with context.database.read() as connection:
        invitation = find_invitation(connection, token, secret=secret, now=now, recruited=parameters)
        return invitation, campaign_by_id(connection, invitation.campaign_id)


def _closed(request: Request, error: Gone | NotFound) -> HTMLResponse:
    language = _language(request, LANGUAGES)
    said = words(language)
    return page(
        "closed.html",
        status=error.status,
        language=language,
        title=said["closed.title"],
        message=str(error),
        advice=said["closed.advice"],
    )


def _unrecruited(request: Request, context: Context, token: str) -> HTMLResponse:
    """A link to a campaign of recruited people that does not say who comes: nobody joins by it."""
    try:
        _, campaign = _invited(context, token)
    except (Gone, NotFound) as error:
        return _closed(request, error)
    language = _language(request, campaign.settings.languages)
    said = words(language)
    recruiter = campaign.settings.recruited_by()
    is_prolific = recruiter is not None and recruiter.kind == "prolific"
    return page(
        "closed.html",
        status=Refused.status,
        language=language,
        title=said["unrecruited.title"],
        message=said["unrecruited"],
        advice=said["unrecruited.prolific" if is_prolific else "unrecruited.advice"],
    )


def _welcome(
    campaign: Campaign,
    invitation: Invitation,
    participant: Participant | None,
    *,
    language: str,
    recruited: Mapping[str, str] | None,
    problem: str = "",
    name: str = "",
) -> HTMLResponse:
    settings = campaign.settings
    known = participant is not None and participant.invitation_id == invitation.id and recruited is None
    recruiter = campaign.settings.recruited_by()
    return page(
        "welcome.html",
        status=Refused.status if problem else 200,
        language=language,
        campaign=campaign,
        home=kind_of(campaign).home,
        token=invitation.token,
        participant=participant if known else None,
        languages=settings.languages,
        instructions=_text(campaign, settings.instructions, language),
        consent=_text(campaign, settings.consent, language),
        recruiter=recruiter.kind if recruiter else "none",
        carried={f"{_CARRIED}{parameter}": value for parameter, value in (recruited or {}).items()},
        came_by=urlencode(dict(recruited or {})),
        problem=problem,
        name=name,
    )


@router.get("/i/{token}")
def invitation_page(
    token: str, request: Request, context: InContext, participant: MaybeParticipant, language: str | None = None
) -> Response:
    """What an invitation is for, and the form to join by it; one that has ended says so."""
    try:
        invitation, campaign = _invited(context, token, request.query_params)
        recruited = recruited_from(campaign, request.query_params)
        if recruited is not None and _is_known(context, campaign, recruited):
            return _enter(context, _join(context, invitation, JoinForm(), None, recruited), campaign)
    except (Gone, NotFound) as error:
        return _closed(request, error)
    except Refused:
        return _unrecruited(request, context, token)
    chosen = _language(request, campaign.settings.languages, language)
    return _welcome(campaign, invitation, participant, language=chosen, recruited=recruited)


def _is_known(context: Context, campaign: Campaign, recruited: Mapping[str, str]) -> bool:
    """Whether a recruiter sent this person before, and they need not be asked for consent."""
    with context.database.read() as connection:
        found = who_came(connection, campaign, recruited)
    if found is None:
        return False
    asked = _text(campaign, campaign.settings.consent, found.language) is not None
    return found.consented_at is not None or not asked


class JoinForm(BaseModel):
    """What the form of an invitation asks; hidden fields carry what a recruiter's link said."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, Field(max_length=1000)] = ""
    language: Annotated[str, Field(max_length=20)] = ""
    consent: Annotated[str, Field(max_length=10)] = ""

    @property
    def carried(self) -> dict[str, str]:
        """A recruiter's parameters."""
        extra = self.model_extra or {}
        return {
            name.removeprefix(_CARRIED): value
            for name, value in extra.items()
            if name.startswith(_CARRIED) and isinstance(value, str)
        }


@router.post("/i/{token}")
def join_by_form(token: str, form: Annotated[JoinForm, Form()], request: Request, context: InContext) -> Response:
    """Join and go on to the page that asks; without consent, where it is asked for, the form comes back."""
    try:
        invitation, campaign = _invited(context, token, form.carried)
        recruited = recruited_from(campaign, form.carried)
    except (Gone, NotFound) as error:
        return _closed(request, error)
    except Refused:
        return _unrecruited(request, context, token)
    language = _language(request, campaign.settings.languages, form.language)
    try:
        if _text(campaign, campaign.settings.consent, language) and not form.consent:
            raise Refused(words(language)["welcome.agree.missing"])
        return _enter(context, _join(context, invitation, form, language, recruited), campaign)
    except (Gone, NotFound) as error:
        return _closed(request, error)
    except Refused as error:
        problem = str(error)
    return _welcome(campaign, invitation, None, language=language, recruited=recruited, problem=problem, name=form.name)


def _join(
    context: Context,
    invitation: Invitation,
    form: JoinForm,
    language: str | None,
    recruited: Mapping[str, str] | None,
) -> str:
    """Become a participant, or who one was; the token that they are known by."""
    with context.database.write() as connection:
        _, token = join(
            connection,
            invitation,
            name=form.name or None,
            language=language,
            consent=bool(form.consent),
            recruited=recruited,
            now=context.now(),
            secret=context.settings.secret,
        )
    return token


def _enter(context: Context, token: str, campaign: Campaign) -> RedirectResponse:
    """On to the page that asks, with the cookie that opens it."""
    response = RedirectResponse(kind_of(campaign).home, status_code=SEE_OTHER)
    give_cookie(response, context.settings, ASSESSOR_COOKIE, token)
    return response


@router.get("/r/{token}")
def resume(token: str, request: Request, context: InContext) -> Response:
    """A participant's own link: go on where they were, on this device."""
    try:
        with context.database.read() as connection:
            found = participant_of_token(connection, token, secret=context.settings.secret)
            campaign = campaign_by_id(connection, found.campaign_id)
    except Gone as error:
        return _closed(request, error)
    except NotLoggedIn as error:
        return _closed(request, NotFound(str(error)))
    return _enter(context, token, campaign)


def asking_page(request: Request, participant: AsParticipant, context: InContext) -> Response:
    """The page that asks; its script asks the API for questions. Participants of another kind are sent to theirs."""
    with context.database.read() as connection:
        campaign = campaign_by_id(connection, participant.campaign_id)
    kind = kind_of(campaign)
    if request.url.path != kind.home:
        return RedirectResponse(kind.home, status_code=SEE_OTHER)
    settings = campaign.settings
    recruiter = campaign.settings.recruited_by()
    language = _language(request, LANGUAGES, participant.language)
    own = request.cookies.get(ASSESSOR_COOKIE, "")
    return page(
        f"{kind.name}/ask.html",
        language=language,
        csrf=csrf_of(request, context.settings, ASSESSOR_COOKIE),
        campaign=campaign,
        participant=participant,
        languages=settings.languages,
        home=kind_of(campaign).home,
        resume_url=f"{context.settings.address.rstrip('/')}/r/{own}",
        instructions=_text(campaign, settings.instructions, language),
        contact=settings.contact,
        recruiter=recruiter.kind if recruiter else "none",
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
        "privacy.html",
        language=language,
        participant=None,
        campaign=None,
        home=None,
        receipt=_rows(receipt),
        problem="",
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
        home=kind_of(campaign).home if campaign else None,
        stored=[what for kind in ([kind_of(campaign)] if campaign else KINDS.values()) for what in kind.stored],
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
