"""Assessors: how they are invited, how they join, how they are known again.

An invitation is a link. A personal one (``cap`` 1) belongs to one person, who comes back with it on any device; an open
one makes a new participant of everybody who joins, until its cap. Nobody needs an account: whoever joined has a link of
their own. Invitations end when they are revoked, and with them the links of those who joined by them; when they expire,
nobody new can join, and those who did go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from adjudge.errors import shown
from adjudge.web.campaign_rows import Campaign, campaign_by_id, campaign_of, in_use, log_event
from adjudge.web.coming import Told, come, come_back, personal
from adjudge.web.errors import Forbidden, Gone, NotFound, NotLoggedIn, Refused
from adjudge.web.leasing import release
from adjudge.web.recruiting import recruited_from, recruiter_of, who_came
from adjudge.web.schema import answer, campaign, invitation, participant
from adjudge.web.signing import is_genuine, new_nonce, number_in, signed_token
from adjudge.web.wording import end_of, one_line_of

MOST_PEOPLE = 1_000_000
SEEN_SECONDS = 15.0
"""How often it is noted that somebody is there."""

_UNKNOWN = "This invitation is not known here; check that the link is complete."
_REVOKED = "This invitation was withdrawn; ask the organiser for another."


@dataclass(frozen=True)
class Participant:
    """Somebody who judges in a campaign; exports know them by their code.

    ``recruited`` is what came in their recruiter's link, ``outcome`` how their part ended; since ``set_aside_at`` their
    answers do not count.
    """

    id: int
    campaign_id: int
    code: str
    name: str | None
    language: str
    consented_at: float | None
    blocked_at: float | None
    erased_at: float | None
    created_at: float
    seen_at: float
    invitation_id: int | None
    recruited: dict[str, str] | None = None
    outcome: str | None = None
    outcome_at: float | None = None
    set_aside_at: float | None = None
    set_aside_why: str | None = None


@dataclass(frozen=True)
class Invitation:
    """A link to join a campaign by. ``used`` is how many did; ``cap`` how many may, none where all may."""

    id: int
    campaign_id: int
    label: str
    cap: int | None
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    used: int
    token: str

    @property
    def is_personal(self) -> bool:
        """Whether it is for one person."""
        return self.cap == 1


def make_invitation(
    connection: Connection,
    found: Campaign,
    *,
    label: str = "",
    cap: int | None = None,
    expires_at: float | None = None,
    secret: bytes,
    now: float,
) -> Invitation:
    """A new link to a campaign, for one person (cap 1), for so many, or for all who have it."""
    if cap is not None and not 1 <= cap <= MOST_PEOPLE:
        raise Refused(f"Expected an invitation for 1 to {MOST_PEOPLE:,} people, got {cap}.")
    values = {
        "campaign_id": found.id,
        "nonce": new_nonce(),
        "label": one_line_of(label, what="the label of an invitation"),
        "cap": cap,
        "created_at": now,
        "expires_at": end_of(expires_at, what="an invitation", now=now),
    }
    row = connection.execute(insert(invitation).values(**values).returning(invitation)).one()
    return _invitation(row, used=0, secret=secret)


def list_invitations(connection: Connection, found: Campaign, *, secret: bytes) -> list[Invitation]:
    """The invitations of a campaign, newest first, also those that have ended."""
    counts = (
        select(participant.c.invitation_id, func.count().label("used"))
        .where(participant.c.campaign_id == found.id)
        .group_by(participant.c.invitation_id)
        .subquery()
    )
    rows = connection.execute(
        select(invitation, func.coalesce(counts.c.used, 0).label("used"))
        .outerjoin(counts, counts.c.invitation_id == invitation.c.id)
        .where(invitation.c.campaign_id == found.id)
        .order_by(invitation.c.id.desc())
    )
    return [_invitation(row, used=row.used, secret=secret) for row in rows]


def revoke_invitation(connection: Connection, found: Campaign, invitation_id: int, *, who: str, now: float) -> None:
    """End an invitation, and the links of those who joined by it; their answers stay."""
    in_use(connection, found.id)
    this = (invitation.c.id == invitation_id) & (invitation.c.campaign_id == found.id)
    row = connection.execute(select(invitation).where(this).with_for_update()).first()
    if row is None:
        raise NotFound("There is no such invitation in this campaign.")
    if row.revoked_at is None:
        connection.execute(update(invitation).where(this).values(revoked_at=now))
        joined = select(participant.c.id).where(participant.c.invitation_id == invitation_id)
        for participant_id in connection.execute(joined).scalars().all():
            release(connection, participant_id, now=now)
        log_event(connection, found.id, who=who, what="revoked", details={"invitation": invitation_id}, now=now)


def find_invitation(
    connection: Connection, token: str, *, secret: bytes, now: float, recruited: Mapping[str, str] | None = None
) -> Invitation:
    """The invitation of a link that somebody may join by now; a personal one also once they have.

    ``recruited`` are the parameters of a recruiter's link: whom it sent before may come back also when an invitation is
    full or expired, and a link that does not say who comes is refused.
    """
    number = number_in(token)
    row = None if number is None else _invitation_row(connection, number)
    if row is None or not is_genuine(token, secret, "invitation", row.id, row.nonce):
        raise NotFound(_UNKNOWN)
    found = _invitation(row, used=_used(connection, row.id), secret=secret)
    _refuse_ended(found, now=now, sent=_sent_before(connection, found, recruited))
    return found


def _sent_before(connection: Connection, found: Invitation, recruited: Mapping[str, str] | None) -> bool | None:
    """Whether a recruiter sent this person before; None where no recruiter says who comes."""
    settled = campaign_by_id(connection, found.campaign_id)
    if recruited is None or recruiter_of(settled) is None:
        return None
    return who_came(connection, settled, recruited) is not None


def join(
    connection: Connection,
    found: Invitation,
    *,
    name: str | None = None,
    language: str | None = None,
    consent: bool = False,
    recruited: Mapping[str, str] | None = None,
    now: float,
    secret: bytes,
) -> tuple[Participant, str]:
    """Become a participant, and get a link of one's own; who comes back by a personal invitation is who they were.

    So is whom the campaign's recruiter sends again: ``recruited`` are the parameters of the link. Needs a writing
    transaction: joining people wait for each other, so that a cap holds, codes differ, and nobody comes twice.
    """
    # Locked in this order by everybody; answers, which only point to a campaign, do not wait for it.
    where = select(campaign).where(campaign.c.id == found.campaign_id)
    settled = campaign_of(connection.execute(where.with_for_update(key_share=True)).mappings().one())
    again = _invitation_row(connection, found.id, lock=True)
    if again is None:
        raise NotFound(_UNKNOWN)
    fresh = _invitation(again, used=_used(connection, found.id), secret=secret)
    came_with = recruited_from(settled, recruited or {})
    if came_with is not None:
        known = who_came(connection, settled, came_with, lock=True)
        _refuse_ended(fresh, now=now, sent=known is not None)
    else:
        _refuse_ended(fresh, now=now)
        known = _who_joined(connection, fresh) if fresh.is_personal else None
    told = Told(name, language, consent, came_with)
    if known is not None:
        row = come_back(connection, known, settled, fresh.id, told, now=now)
    else:
        row = come(connection, settled, fresh.id, told, now=now)
    return participant_from(row), participant_token(row.id, row.nonce, secret=secret)


def participant_token(participant_id: int, nonce: str, *, secret: bytes) -> str:
    """What a participant is known by: in the cookie, in their own link, in the header of a program."""
    return signed_token(secret, "participant", participant_id, nonce)


def participant_of_token(connection: Connection, token: str, *, secret: bytes) -> Participant:
    """Who comes with this token; refused where they may not go on, with the reason."""
    number = number_in(token)
    row = None if number is None else connection.execute(_with_invitation(number)).first()
    if row is not None and row.erased_at is not None:
        raise Gone("You were erased from this campaign; nothing of you is kept, and there is nothing more to do.")
    if row is None or not is_genuine(token, secret, "participant", row.id, row.nonce):
        raise NotLoggedIn("Your link is not known here; open your invitation again.")
    if row.blocked_at is not None:
        raise Forbidden("The organiser has ended your part in this campaign.")
    if row.revoked_at is not None:
        raise Gone(_REVOKED)
    return participant_from(row)


def still_there(connection: Connection, found: Participant, *, change: bool = False) -> None:
    """Refuse where somebody was erased or blocked meanwhile; they stay as they are until this transaction ends.

    ``change`` says that this transaction may change them, as :func:`locked_participant` does.
    """
    where = select(participant.c.erased_at, participant.c.blocked_at).where(participant.c.id == found.id)
    row = connection.execute(where.with_for_update(read=not change, key_share=change)).one()
    if row.erased_at is not None:
        raise Gone("You were erased from this campaign; nothing was stored.")
    if row.blocked_at is not None:
        raise Forbidden("The organiser has ended your part in this campaign; nothing was stored.")


def locked_participant(connection: Connection, participant_id: int) -> Participant:
    """A participant as they are now, kept from others until this transaction ends; others may point to them.

    Whoever is going to change what somebody holds does this first, after :func:`in_use`: what one person does in two
    windows is done one after the other.
    """
    query = select(participant).where(participant.c.id == participant_id).with_for_update(key_share=True)
    return participant_from(connection.execute(query).one())


def note_seen(connection: Connection, found: Participant, *, now: float) -> None:
    """Somebody is there; their organiser sees it."""
    connection.execute(update(participant).where(participant.c.id == found.id).values(seen_at=now))


def token_of(connection: Connection, found: Participant, *, secret: bytes) -> str:
    """The token of a participant, for the link that takes them to another device."""
    nonce = connection.execute(select(participant.c.nonce).where(participant.c.id == found.id)).scalar_one()
    return participant_token(found.id, nonce, secret=secret)


def change_participant(
    connection: Connection, found: Participant, *, name: str | None = None, language: str | None = None
) -> Participant:
    """Be called otherwise, or read another language; what is not given stays, and an empty name is taken away."""
    settled = campaign_by_id(connection, found.campaign_id).settings
    values = personal(settled, name=name, language=language)
    if values:
        still_there(connection, found)
        connection.execute(update(participant).where(participant.c.id == found.id).values(**values))
    return participant_from(connection.execute(select(participant).where(participant.c.id == found.id)).one())


def list_participants(connection: Connection, found: Campaign) -> list[Participant]:
    """Everybody who joined a campaign, in the order they did, also those who were erased."""
    rows = connection.execute(
        select(participant).where(participant.c.campaign_id == found.id).order_by(participant.c.id)
    )
    return [participant_from(row) for row in rows]


def find_participant(connection: Connection, found: Campaign, code: str) -> Participant:
    """The participant of a code."""
    this = (participant.c.campaign_id == found.id) & (participant.c.code == code)
    row = connection.execute(select(participant).where(this)).first()
    if row is None:
        raise NotFound(f"There is no participant {shown(code)} in this campaign.")
    return participant_from(row)


def count_by_participant(connection: Connection, found: Campaign) -> dict[int, int]:
    """How many answers each participant gave; skips and corrections are not counted."""
    counts = (
        select(answer.c.participant_id, func.count())
        .where(answer.c.campaign_id == found.id, answer.c.kind.in_(("judgment", "repeat", "import")))
        .group_by(answer.c.participant_id)
    )
    return {row[0]: row[1] for row in connection.execute(counts)}


def block_participant(
    connection: Connection, found: Participant, *, blocked: bool, who: str, now: float
) -> Participant:
    """End somebody's part in a campaign, or let them back; their answers stay, others get their questions."""
    in_use(connection, found.campaign_id)
    if locked_participant(connection, found.id).erased_at is not None:
        raise Gone(f"Participant {found.code} was erased.")
    if blocked:
        release(connection, found.id, now=now)
    values = {"blocked_at": (found.blocked_at or now) if blocked else None}
    row = connection.execute(
        update(participant).where(participant.c.id == found.id).values(**values).returning(participant)
    ).one()
    what = "blocked" if blocked else "unblocked"
    log_event(connection, found.campaign_id, who=who, what=what, details={"participant": found.code}, now=now)
    return participant_from(row)


def _refuse_ended(found: Invitation, *, now: float, sent: bool | None = None) -> None:
    """Refuse who comes by a link that has ended. Whom a recruiter ``sent`` before may come back until it is revoked."""
    if found.revoked_at is not None:
        raise Gone(_REVOKED)
    if sent:
        return
    if found.expires_at is not None and found.expires_at <= now:
        raise Gone("This invitation has expired; ask the organiser for another.")
    is_theirs = found.is_personal and sent is None
    if found.cap is not None and found.used >= found.cap and not is_theirs:
        people = "1 person, who has" if found.is_personal else f"{found.cap} people, and as many have"
        raise Gone(f"This invitation was for {people} joined; ask the organiser for another.")


def _invitation_row(connection: Connection, number: int, *, lock: bool = False) -> Row[Any] | None:
    where = select(invitation).where(invitation.c.id == number)
    return connection.execute(where.with_for_update(key_share=True) if lock else where).first()


def _used(connection: Connection, invitation_id: int) -> int:
    joined = select(func.count()).select_from(participant).where(participant.c.invitation_id == invitation_id)
    return int(connection.execute(joined).scalar_one())


def _who_joined(connection: Connection, found: Invitation) -> Row[Any] | None:
    theirs = select(participant).where(participant.c.invitation_id == found.id).order_by(participant.c.id)
    return connection.execute(theirs.with_for_update()).first()


def _with_invitation(number: int) -> Any:
    joined = participant.outerjoin(invitation, invitation.c.id == participant.c.invitation_id)
    return select(participant, invitation.c.revoked_at).select_from(joined).where(participant.c.id == number)


def _invitation(row: Row[Any], *, used: int, secret: bytes) -> Invitation:
    return Invitation(
        row.id,
        row.campaign_id,
        row.label,
        row.cap,
        row.created_at,
        row.expires_at,
        row.revoked_at,
        used,
        signed_token(secret, "invitation", row.id, row.nonce),
    )


def participant_from(row: Row[Any]) -> Participant:
    """A row of the table as a participant."""
    return Participant(**{name: getattr(row, name) for name in Participant.__dataclass_fields__})
