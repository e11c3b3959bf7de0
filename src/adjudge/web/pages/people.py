"""Who takes part: invitations made and withdrawn, people blocked, excluded, and erased at their wish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from adjudge.errors import AdjudgeError
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Gone, Refused
from adjudge.web.http.access import AsOrganiser, OwnCampaign
from adjudge.web.kinds.base import kind_of
from adjudge.web.kinds.exports import iso
from adjudge.web.kinds.lifecycle import exclude_participant, overview, readmit_participant
from adjudge.web.pages.shared import PAGE, Fields, OrganiserRoute, day_end, field, go, several, show
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.erase import Receipt, erase_participant
from adjudge.web.store.participants import (
    Invitation,
    Participant,
    block_participant,
    count_by_participant,
    find_participant,
    invitation_link,
    last_participants,
    list_invitations,
    make_invitation,
    revoke_invitation,
)
from adjudge.web.store.people import Organiser

router = APIRouter(prefix="/campaigns/{name}/people", route_class=OrganiserRoute)

MOST_NAMES = 1000
_RECEIPT = {
    "campaign": "Campaign",
    "code": "Code",
    "how": "What was done",
    "answers_kept": "Answers kept without a name",
    "answers_removed": "Answers removed",
    "comments_removed": "Comments removed",
    "leases_removed": "Questions removed",
    "at": "When",
    "number": "Number",
    "digest": "Digest",
}


@router.get("")
def people(request: Request, organiser: AsOrganiser, campaign: OwnCampaign, context: InContext) -> Response:
    """Invitations and people."""
    return people_page(request, context, organiser, campaign)


@router.post("/personal")
def invite_by_name(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """A link for each name."""
    names = [line.strip() for line in field(fields, "names").splitlines() if line.strip()]
    try:
        if not 1 <= len(names) <= MOST_NAMES:
            raise Refused(f"Expected 1 to {MOST_NAMES:,} names, one per line, got {len(names):,}.")
        made = _invite(context, campaign, labels=names, cap=1, ends=field(fields, "expires"))
    except AdjudgeError as error:
        return people_page(request, context, organiser, campaign, problem=error)
    return people_page(request, context, organiser, campaign, made=made)


@router.post("/open")
def invite_many(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """One link for many people."""
    cap = field(fields, "cap")
    try:
        if cap and not (cap.isascii() and cap.isdigit() and len(cap) < 10):
            raise Refused(f"Expected a number of people, or nothing for no limit, got {cap[:20]!r}.")
        if cap and int(cap) == 1:
            raise Refused("Expected at least 2 people; to invite one, use a link by name.")
        labels, most = [field(fields, "label")], int(cap) if cap else None
        made = _invite(context, campaign, labels=labels, cap=most, ends=field(fields, "expires"))
    except AdjudgeError as error:
        return people_page(request, context, organiser, campaign, problem=error)
    return people_page(request, context, organiser, campaign, made=made)


def _invite(
    context: Context, campaign: Campaign, *, labels: Sequence[str], cap: int | None, ends: str
) -> list[Invitation]:
    """Make them all, or none."""
    expires_at, secret, now = day_end(ends), context.settings.secret, context.now()
    with context.database.write() as connection:
        return [
            make_invitation(connection, campaign, label=label, cap=cap, expires_at=expires_at, secret=secret, now=now)
            for label in labels
        ]


@router.post("/revoke")
def revoke(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """Withdraw an invitation."""
    number = field(fields, "invitation")
    try:
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise Refused("Expected the number of an invitation.")
        with context.database.write() as connection:
            revoke_invitation(connection, campaign, int(number), who=organiser.login, now=context.now())
    except AdjudgeError as error:
        return people_page(request, context, organiser, campaign, problem=error)
    return go(f"/campaigns/{campaign.name}/people", "revoked")


@router.post("/block")
def block(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """End somebody's part, or let them back."""
    blocked = field(fields, "blocked") == "yes"
    try:
        with context.database.write() as connection:
            participant = find_participant(connection, campaign, field(fields, "code"))
            block_participant(connection, participant, blocked=blocked, who=organiser.login, now=context.now())
    except AdjudgeError as error:
        return people_page(request, context, organiser, campaign, problem=error)
    return go(f"/campaigns/{campaign.name}/people", "blocked" if blocked else "unblocked")


@router.post("/set-aside")
def put_aside(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """Let somebody's answers count no longer, or count again."""
    back, who, now = field(fields, "count") == "yes", organiser.login, context.now()
    try:
        with context.database.write() as connection:
            participant = find_participant(connection, campaign, field(fields, "code"))
            change = readmit_participant if back else exclude_participant
            change(connection, participant, who=who, now=now)
    except AdjudgeError as error:
        return people_page(request, context, organiser, campaign, problem=error)
    context.estimating.changed(campaign.id)
    return go(f"/campaigns/{campaign.name}/people", "counted" if back else "set-aside")


@router.get("/erase")
def erase_page(
    request: Request,
    organiser: AsOrganiser,
    campaign: OwnCampaign,
    context: InContext,
    code: Annotated[str, Query(max_length=200)],
) -> Response:
    """What erasing means, before it is done."""
    with context.database.read() as connection:
        participant = find_participant(connection, campaign, code)
        answers = count_by_participant(connection, campaign).get(participant.id, 0)
    if participant.erased_at is not None:
        raise Gone(f"Participant {participant.code} was erased already.")
    return show(
        request,
        context,
        "erase.html",
        organiser=organiser,
        campaign=campaign,
        tab="people",
        person=participant,
        answers=several(answers, "answer"),
    )


@router.post("/erase")
def erase(
    request: Request, organiser: AsOrganiser, campaign: OwnCampaign, fields: Fields, context: InContext
) -> Response:
    """Erase a person, and show the receipt, this once."""
    try:
        with context.database.write() as connection:
            participant = find_participant(connection, campaign, field(fields, "code"))
            receipt = erase_participant(
                connection, participant, how=field(fields, "how"), who=organiser.login, now=context.now()
            )
    except AdjudgeError as error:
        return people_page(request, context, organiser, campaign, problem=error)
    context.estimating.changed(campaign.id)
    return people_page(request, context, organiser, campaign, receipt=receipt)


def people_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    *,
    problem: AdjudgeError | None = None,
    made: Sequence[Invitation] = (),
    receipt: Receipt | None = None,
) -> Response:
    """Invitations and a page of people, perhaps with what came of the last form."""
    kind, page = kind_of(campaign), _page_number(request.query_params.get("page", "1"))
    with context.database.read() as connection:
        invitations = list_invitations(connection, campaign, secret=context.settings.secret)
        total = overview(connection, campaign).participants
        people = last_participants(connection, campaign, after=(page - 1) * PAGE, most=PAGE + 1)
        answers = count_by_participant(connection, campaign)
        known, values = kind.people_values(connection, campaign, people[:PAGE], now=context.now())
    address = f"/campaigns/{campaign.name}/people"
    return show(
        request,
        context,
        "people.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="people",
        people=[
            {**_person(person), "answers": answers.get(person.id, 0), **known.get(person.id, {})}
            for person in people[:PAGE]
        ],
        n_people=total,
        newer=None if page == 1 else address if page == 2 else f"{address}?page={page - 1}",
        older=f"{address}?page={page + 1}" if len(people) > PAGE else None,
        recruited=campaign.settings.recruited_by() is not None,
        can_exclude=bool(kind.exclusions),
        has_export="people" in kind.exports,
        invitations=[_shown(context, campaign, invitation) for invitation in invitations],
        made=[_shown(context, campaign, invitation) for invitation in made],
        made_words=f"{several(len(made), 'new link')}: send {'it' if len(made) == 1 else 'each to its person'}",
        receipt=None if receipt is None else _receipt(receipt),
        **values,
    )


def _page_number(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 7 else 1


def _person(participant: Participant) -> dict[str, Any]:
    """Somebody as they are shown."""
    return {
        **asdict(participant),
        "recruited": participant.recruited or {},
        "aside": participant.set_aside_at is not None,
        "blocked": participant.blocked_at is not None,
        "erased": participant.erased_at is not None,
    }


def _shown(context: Context, campaign: Campaign, invitation: Invitation) -> dict[str, Any]:
    """An invitation with its link, and how it ended where it did; a recruiter's link has what it is to fill in."""
    ended = None
    if invitation.revoked_at is not None:
        ended = "withdrawn"
    elif invitation.expires_at is not None and invitation.expires_at <= context.now():
        ended = "expired"
    elif invitation.cap is not None and not invitation.is_personal and invitation.used >= invitation.cap:
        ended = "full"
    link = invitation_link(context.settings.address, invitation.token, campaign)
    return {**asdict(invitation), "link": link, "ended": ended, "personal": invitation.is_personal}


def _receipt(receipt: Receipt) -> dict[str, Any]:
    values = {**asdict(receipt), "at": iso(receipt.at)}
    kept = several(receipt.answers_kept, "answer stays", "answers stay")
    gone = several(receipt.answers_removed, "answer was", "answers were")
    words = f"{kept} without a name." if receipt.how == "anonymise" else f"{gone} removed."
    return {"code": receipt.code, "words": words, "facts": [(title, values[name]) for name, title in _RECEIPT.items()]}
