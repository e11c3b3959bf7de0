"""People over HTTP: what assessors do about themselves (join, rename, be erased), and what organisers do about people.

Organisers log in and out, make tokens for programs and invitations, and see, block and exclude participants.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, FiniteFloat

from adjudge.web.api.body import Body, RowId
from adjudge.web.context import Context, InContext
from adjudge.web.http.access import (
    ASSESSOR_COOKIE,
    ORGANISER_COOKIE,
    AsOrganiser,
    AsParticipant,
    OwnCampaign,
    client_address,
    forget_cookie,
    give_cookie,
)
from adjudge.web.kinds import lifecycle
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.erase import Receipt, erase_participant
from adjudge.web.store.participants import (
    MOST_PEOPLE,
    Invitation,
    Participant,
    block_participant,
    change_participant,
    count_by_participant,
    find_invitation,
    find_participant,
    invitation_link,
    join,
    list_invitations,
    list_participants,
    make_invitation,
    revoke_invitation,
)
from adjudge.web.store.people import (
    ApiToken,
    Organiser,
    change_password,
    check_again,
    list_tokens,
    log_in,
    log_out,
    make_token,
    revoke_token,
)
from adjudge.web.store.signing import csrf_token
from adjudge.web.store.wording import one_line_of

joining_router = APIRouter(tags=["assessors"])


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


@joining_router.post("/join", status_code=201, summary="Join a campaign by an invitation")
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


@joining_router.patch("/judging/me", summary="Be called otherwise, or read another language")
def change_me(sent: Myself, participant: AsParticipant, context: InContext) -> Me:
    """Change what one told about oneself."""
    with context.database.write() as connection:
        return me_of(change_participant(connection, participant, name=sent.name, language=sent.language))


@joining_router.post("/judging/erase", summary="Be erased from the campaign")
def erase_me(sent: Erasing, participant: AsParticipant, response: Response, context: InContext) -> Receipt:
    """Take one's person out of the campaign; the receipt is shown this once."""
    with context.database.write() as connection:
        receipt = erase_participant(connection, participant, how=sent.how, who="participant", now=context.now())
    context.estimating.changed(participant.campaign_id)
    forget_cookie(response, context.settings, ASSESSOR_COOKIE)
    return receipt


router = APIRouter(tags=["organisers"])

Password = Annotated[str, Field(max_length=1000)]


class Login(Body):
    """Who wants to log in."""

    login: Annotated[str, Field(max_length=400)]
    password: Password


class NewPassword(Body):
    """The password so far, and the one from now on."""

    password: Password
    new_password: Password


class NewToken(Body):
    """What a token is for, and until when."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    expires_at: FiniteFloat | None = None


class NewInvitations(Body):
    """How many links to make, and for how many people each; without a cap for all who have it."""

    label: Annotated[str, Field(max_length=200)] = ""
    cap: Annotated[int | None, Field(ge=1, le=MOST_PEOPLE)] = None
    expires_at: FiniteFloat | None = None
    count: Annotated[int, Field(ge=1, le=1000)] = 1


class Blocking(Body):
    """Whether somebody's part is over."""

    blocked: bool


class SettingAside(Body):
    """Why somebody's answers are not to count."""

    why: Annotated[str, Field(min_length=1, max_length=40)] = "organiser"


class OrganiserOut(BaseModel):
    """An organiser."""

    login: str
    is_admin: bool


class LoggedIn(BaseModel):
    """Who logged in, and what to send with every change as X-CSRF-Token."""

    organiser: OrganiserOut
    csrf: str


class TokenOut(BaseModel):
    """A token without its text."""

    id: int
    name: str
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    used_at: float | None


class TokenMade(TokenOut):
    """A token with its text, which is shown this once."""

    token: str


class Tokens(BaseModel):
    """Tokens, newest first."""

    tokens: list[TokenOut]


class InvitationOut(BaseModel):
    """An invitation and its link."""

    id: int
    label: str
    cap: int | None
    used: int
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    token: str
    url: str


class Invitations(BaseModel):
    """Invitations, newest first; those just made in the order of their labels."""

    invitations: list[InvitationOut]


class ParticipantOut(BaseModel):
    """A participant as their organiser sees them."""

    code: str
    name: str | None
    language: str
    invitation: int | None
    answers: int
    consented_at: float | None
    created_at: float
    seen_at: float
    blocked_at: float | None
    erased_at: float | None
    outcome: str | None = None
    set_aside_at: float | None = None
    set_aside_why: str | None = None


class Participants(BaseModel):
    """Everybody who joined, in the order they did."""

    participants: list[ParticipantOut]


@router.post("/login", summary="Log in as an organiser")
def login(sent: Login, request: Request, response: Response, context: InContext) -> LoggedIn:
    """Set the cookie of a new login; one that the browser had before ends."""
    token, found = log_in(
        context.database,
        login=sent.login,
        password=sent.password,
        who_ip=client_address(request, context.settings),
        now=context.now(),
        limit=context.settings.logins_per_minute,
    )
    _end_login(request, context)
    give_cookie(response, context.settings, ORGANISER_COOKIE, token)
    return LoggedIn(organiser=organiser_of(found), csrf=csrf_token(context.settings.secret, token))


@router.post("/logout", status_code=204, summary="Log out")
def logout(request: Request, organiser: AsOrganiser, context: InContext) -> Response:
    """End the login of this browser."""
    _end_login(request, context)
    response = Response(status_code=204)
    forget_cookie(response, context.settings, ORGANISER_COOKIE)
    return response


@router.post("/password", status_code=204, summary="Change one's password")
def password(sent: NewPassword, request: Request, organiser: AsOrganiser, context: InContext) -> Response:
    """Give oneself another password; every browser is logged out, this one as well."""
    who_ip, limit = client_address(request, context.settings), context.settings.logins_per_minute
    check_again(context.database, organiser, password=sent.password, who_ip=who_ip, now=context.now(), limit=limit)
    with context.database.write() as connection:
        change_password(connection, organiser, password=sent.new_password)
    response = Response(status_code=204)
    forget_cookie(response, context.settings, ORGANISER_COOKIE)
    return response


@router.get("/tokens", summary="One's tokens for programs")
def tokens(organiser: AsOrganiser, context: InContext) -> Tokens:
    """Newest first, without their texts."""
    with context.database.read() as connection:
        return Tokens(tokens=[token_of(token) for token in list_tokens(connection, organiser)])


@router.post("/tokens", status_code=201, summary="Make a token for a program")
def new_token(sent: NewToken, organiser: AsOrganiser, context: InContext) -> TokenMade:
    """Its text is in this response and nowhere else."""
    with context.database.write() as connection:
        made, plain = make_token(connection, organiser, name=sent.name, expires_at=sent.expires_at, now=context.now())
    return TokenMade(**token_of(made).model_dump(), token=plain)


@router.delete("/tokens/{token_id}", status_code=204, summary="Revoke a token")
def end_token(token_id: RowId, organiser: AsOrganiser, context: InContext) -> Response:
    """Programs that use it are refused from now on."""
    with context.database.write() as connection:
        revoke_token(connection, organiser, token_id, now=context.now())
    return Response(status_code=204)


@router.get("/campaigns/{name}/invitations", summary="The invitations of a campaign")
def invitations(campaign: OwnCampaign, context: InContext) -> Invitations:
    """Newest first, with their links and how many used them."""
    with context.database.read() as connection:
        found = list_invitations(connection, campaign, secret=context.settings.secret)
    return Invitations(invitations=[invitation_of(context, campaign, invitation) for invitation in found])


@router.post("/campaigns/{name}/invitations", status_code=201, summary="Invite people to a campaign")
def invite(sent: NewInvitations, campaign: OwnCampaign, context: InContext) -> Invitations:
    """Make one link, or ``count`` of them with numbered labels."""
    labels = [sent.label] if sent.count == 1 else [f"{sent.label} {n}" for n in range(1, sent.count + 1)]
    secret, now = context.settings.secret, context.now()
    with context.database.write() as connection:
        made = [
            make_invitation(
                connection, campaign, label=label, cap=sent.cap, expires_at=sent.expires_at, secret=secret, now=now
            )
            for label in labels
        ]
    return Invitations(invitations=[invitation_of(context, campaign, invitation) for invitation in made])


@router.delete("/campaigns/{name}/invitations/{invitation_id}", status_code=204, summary="Withdraw an invitation")
def withdraw(invitation_id: RowId, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext) -> Response:
    """Nobody joins by it any more, and who did cannot go on; their answers stay."""
    with context.database.write() as connection:
        revoke_invitation(connection, campaign, invitation_id, who=who_is(organiser), now=context.now())
    return Response(status_code=204)


@router.get("/campaigns/{name}/participants", summary="The participants of a campaign")
def participants(campaign: OwnCampaign, context: InContext) -> Participants:
    """Everybody who joined, with how much they answered."""
    with context.database.read() as connection:
        counts = count_by_participant(connection, campaign)
        found = list_participants(connection, campaign)
    return Participants(participants=[participant_of(one, counts.get(one.id, 0)) for one in found])


@router.post("/campaigns/{name}/participants/{code}/erase", summary="Erase a participant")
def erase(code: str, sent: Erasing, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext) -> Receipt:
    """Take a person out of the campaign; hand them the receipt, which is shown this once."""
    with context.database.write() as connection:
        found = find_participant(connection, campaign, code)
        receipt = erase_participant(connection, found, how=sent.how, who=who_is(organiser), now=context.now())
    context.estimating.changed(campaign.id)
    return receipt


@router.post("/campaigns/{name}/participants/{code}/block", summary="End somebody's part, or let them back")
def block(
    code: str, sent: Blocking, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> ParticipantOut:
    """Their answers stay; they get no more questions."""
    with context.database.write() as connection:
        found = find_participant(connection, campaign, code)
        changed = block_participant(connection, found, blocked=sent.blocked, who=who_is(organiser), now=context.now())
        answers = count_by_participant(connection, campaign).get(changed.id, 0)
    return participant_of(changed, answers)


@router.post("/campaigns/{name}/participants/{code}/set-aside", summary="Let somebody's answers count no longer")
def set_aside(
    code: str, sent: SettingAside, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> ParticipantOut:
    """Where the kind of campaign excludes people: answers stay, do not count, and what was asked is asked again."""
    return _counting(code, campaign, organiser, context, why=sent.why)


@router.post("/campaigns/{name}/participants/{code}/take-back", summary="Let somebody's answers count again")
def take_back(code: str, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext) -> ParticipantOut:
    """Where the kind of campaign excludes people: answers that were excluded count again."""
    return _counting(code, campaign, organiser, context, why=None)


def _counting(
    code: str, campaign: Campaign, organiser: Organiser, context: Context, *, why: str | None
) -> ParticipantOut:
    """Exclude somebody for a reason, or readmit them where there is none."""
    who, now = who_is(organiser), context.now()
    with context.database.write() as connection:
        found = find_participant(connection, campaign, code)
        if why is None:
            lifecycle.readmit_participant(connection, found, who=who, now=now)
        else:
            lifecycle.exclude_participant(connection, found, why=one_line_of(why, what="reason"), who=who, now=now)
        changed = find_participant(connection, campaign, code)
        answers = count_by_participant(connection, campaign).get(changed.id, 0)
    context.estimating.changed(campaign.id)
    return participant_of(changed, answers)


def who_is(found: Organiser) -> str:
    """An organiser as the log names them."""
    return f"organiser {found.id}"


def organiser_of(found: Organiser) -> OrganiserOut:
    """An organiser as they are sent."""
    return OrganiserOut(login=found.login, is_admin=found.is_admin)


def token_of(found: ApiToken) -> TokenOut:
    """A token as it is sent."""
    return TokenOut.model_validate(found, from_attributes=True)


def invitation_of(context: Context, campaign: Campaign, found: Invitation) -> InvitationOut:
    """An invitation as it is sent, with its link."""
    url = invitation_link(context.settings.address, found.token, campaign)
    return InvitationOut.model_validate({**vars(found), "url": url})


def participant_of(found: Participant, answers: int) -> ParticipantOut:
    """A participant as their organiser gets them."""
    return ParticipantOut.model_validate({**vars(found), "invitation": found.invitation_id, "answers": answers})


def _end_login(request: Request, context: Context) -> None:
    before = request.cookies.get(ORGANISER_COOKIE)
    if before:
        with context.database.write() as connection:
            log_out(connection, before)
