"""What an assessor does about themselves: join, be called otherwise, be erased."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from adjudge.web.access import ASSESSOR_COOKIE, AsParticipant, csrf_token, forget_cookie, give_cookie
from adjudge.web.api.body import Body
from adjudge.web.context import Context, InContext
from adjudge.web.erasing import Receipt, erase_participant
from adjudge.web.invitations import Participant, change_participant, find_invitation, join

router = APIRouter(tags=["assessors"])


class Joining(Body):
    """An invitation, and what somebody tells about themselves."""

    invitation: Annotated[str, Field(min_length=1, max_length=200, description="The last part of the link.")]
    name: Annotated[str | None, Field(max_length=200)] = None
    language: Annotated[str | None, Field(max_length=20)] = None
    consent: bool = False
    recruited: Annotated[
        dict[Annotated[str, Field(max_length=60)], Annotated[str, Field(max_length=1000)]],
        Field(max_length=50, description="The parameters of a recruiter's link; others than it sends are left out."),
    ] = Field(default_factory=dict)


class Myself(Body):
    """What to be called and which language to read; what is left out stays, an empty name is taken away."""

    name: Annotated[str | None, Field(max_length=200)] = None
    language: Annotated[str | None, Field(max_length=20)] = None


class Erasing(Body):
    """Whether answers stay without a name, or go as well."""

    how: Literal["anonymise", "remove"]


class Me(BaseModel):
    """A participant as they see themselves."""

    code: str
    name: str | None
    language: str
    consented_at: float | None


class Joined(BaseModel):
    """A new participant, or one who came back; the link takes them to another device."""

    participant: Me
    token: str
    resume_url: str
    csrf: str


def me_of(found: Participant) -> Me:
    """A participant as they see themselves."""
    return Me(code=found.code, name=found.name, language=found.language, consented_at=found.consented_at)


def resume_url(context: Context, token: str) -> str:
    """A participant's own link."""
    return f"{context.settings.address.rstrip('/')}/r/{token}"


@router.post("/join", status_code=201, summary="Join a campaign by an invitation")
def join_campaign(sent: Joining, response: Response, context: InContext) -> Joined:
    """Become a participant, or who one was by a personal invitation or to a recruiter; a cookie is set as well."""
    secret, now = context.settings.secret, context.now()
    with context.database.write() as connection:
        found = find_invitation(connection, sent.invitation, secret=secret, now=now, recruited=sent.recruited)
        joined, token = join(
            connection,
            found,
            name=sent.name,
            language=sent.language,
            consent=sent.consent,
            recruited=sent.recruited,
            now=now,
            secret=secret,
        )
    give_cookie(response, context.settings, ASSESSOR_COOKIE, token)
    url, csrf = resume_url(context, token), csrf_token(secret, token)
    return Joined(participant=me_of(joined), token=token, resume_url=url, csrf=csrf)


@router.patch("/judging/me", summary="Be called otherwise, or read another language")
def change_me(sent: Myself, participant: AsParticipant, context: InContext) -> Me:
    """Change what one told about oneself."""
    with context.database.write() as connection:
        return me_of(change_participant(connection, participant, name=sent.name, language=sent.language))


@router.post("/judging/erase", summary="Be erased from the campaign")
def erase_me(sent: Erasing, participant: AsParticipant, response: Response, context: InContext) -> Receipt:
    """Take one's person out of the campaign; the receipt is shown this once."""
    with context.database.write() as connection:
        receipt = erase_participant(connection, participant, how=sent.how, who="participant", now=context.now())
    context.estimating.changed(participant.campaign_id)
    forget_cookie(response, context.settings, ASSESSOR_COOKIE)
    return receipt
