"""Participants of a campaign: invitations, joining, being recognised, and the summaries that organisers see.

An invitation is a link. A personal one (``cap`` 1) belongs to one person, who comes back with it on any device; an open
one makes a new participant of everybody who joins, up to its cap. Nobody needs an account: whoever joined has a link of
their own. A revoked invitation ends for everybody who joined by it; an expired one only lets nobody new in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from adjudge.errors import shown
from adjudge.web.errors import Forbidden, Gone, NotFound, NotLoggedIn, Refused
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import (
    LIVE_SECONDS,
    Campaign,
    CampaignSettings,
    campaign_by_id,
    campaign_of,
    in_use,
    log_event,
)
from adjudge.web.store.leases import release
from adjudge.web.store.signing import is_genuine, new_nonce, number_in, signed_token
from adjudge.web.store.wording import end_of, one_line_of

MOST_PEOPLE = 1_000_000
SEEN_SECONDS = 15.0
"""How often it is noted that somebody is there."""


def recruited_from(campaign: Campaign, parameters: Mapping[str, str]) -> dict[str, str] | None:
    """What a recruiter's link says about a person, None in a campaign without a recruiter."""
    recruiter = campaign.settings.recruited_by()
    return None if recruiter is None else recruiter.person_in(parameters)


def who_came(
    connection: Connection, campaign: Campaign, parameters: Mapping[str, str], *, lock: bool = False
) -> Row[Any] | None:
    """The participant whom the recruiter sent with these parameters before, None where they are new."""
    recruiter = campaign.settings.recruited_by()
    if recruiter is None:
        return None
    same = t.participant.c.recruited_as == recruiter.digest(recruiter.person_in(parameters))
    query = select(t.participant).where(t.participant.c.campaign_id == campaign.id, same)
    return connection.execute(query.with_for_update() if lock else query).first()


def invitation_link(address: str, token: str, campaign: Campaign) -> str:
    """The link of an invitation; where people come from a recruiter, in the form to paste there.

    Prolific puts its own values in place of ``{{%NAME%}}``. Other recruiters have placeholders of their own:
    ``{NAME}`` stands where theirs belong.
    """
    link = f"{address.rstrip('/')}/i/{token}"
    recruiter = campaign.settings.recruited_by()
    if recruiter is None:
        return link
    form = "{name}={{{{%{name}%}}}}" if recruiter.kind == "prolific" else "{name}={{{name}}}"
    return f"{link}?{'&'.join(form.format(name=name) for name in recruiter.expected)}"


@dataclass(frozen=True)
class JoinDetails:
    """What somebody tells about themselves, and what their recruiter told (None where there is no recruiter)."""

    name: str | None
    language: str | None
    consent: bool
    recruited: dict[str, str] | None = None


def come(connection: Connection, settled: Campaign, invitation_id: int, told: JoinDetails, *, now: float) -> Row[Any]:
    """Store a new participant."""
    if settled.state == "closed":
        raise Gone("This campaign is closed; thank you for coming all the same.")
    values: dict[str, Any] = {"name": None, "language": settled.settings.languages[0]}
    values |= personal(settled.settings, name=told.name, language=told.language)
    values |= _consented(settled.settings, values["language"], consent=told.consent, now=now)
    values |= {"campaign_id": settled.id, "invitation_id": invitation_id, "nonce": new_nonce()}
    recruiter = settled.settings.recruited_by()
    if told.recruited is not None and recruiter is not None:
        values |= {"recruited": told.recruited, "recruited_as": recruiter.digest(told.recruited)}
    code = _next_code(connection, settled.id)
    return connection.execute(
        insert(t.participant).values(**values, code=code, created_at=now, seen_at=now).returning(t.participant)
    ).one()


def come_back(
    connection: Connection, known: Row[Any], settled: Campaign, invitation_id: int, told: JoinDetails, *, now: float
) -> Row[Any]:
    """The participant that somebody is already, with the details they gave now."""
    if known.erased_at is not None:
        raise Gone("Who was invited by this link was erased from the campaign; ask the organiser for another.")
    if known.blocked_at is not None:
        raise Forbidden("The organiser has ended your part in this campaign.")
    values: dict[str, Any] = {"seen_at": now}
    values |= personal(settled.settings, name=told.name or None, language=told.language)
    if known.consented_at is None:
        language = values.get("language", known.language)
        values |= _consented(settled.settings, language, consent=told.consent, now=now)
    if told.recruited is not None:
        values["recruited"] = told.recruited  # another session of theirs, to which they go back
        values["invitation_id"] = _in_force(connection, known.invitation_id, else_by=invitation_id)
    this = update(t.participant).where(t.participant.c.id == known.id)
    return connection.execute(this.values(**values).returning(t.participant)).one()


def _in_force(connection: Connection, number: int | None, *, else_by: int) -> int:
    """The invitation somebody came by first, unless it was revoked since and they come by another."""
    there = select(t.invitation.c.id).where(t.invitation.c.id == number, t.invitation.c.revoked_at.is_(None))
    found = connection.execute(there).scalar_one_or_none()
    return else_by if found is None else int(found)


def personal(settled: CampaignSettings, *, name: str | None, language: str | None) -> dict[str, Any]:
    """What somebody tells about themselves, as it is stored; nothing for what they do not tell."""
    values: dict[str, Any] = {}
    if name is not None:
        values["name"] = one_line_of(name, what="a name") or None
    if language is not None:
        if language not in settled.languages:
            raise Refused(f"Expected a language among {', '.join(settled.languages)}, got {shown(language)}.")
        values["language"] = language
    return values


def _consented(settled: CampaignSettings, language: str, *, consent: bool, now: float) -> dict[str, Any]:
    """That somebody agreed, when, and to which text; refused where they must and do not."""
    text = settled.in_language(settled.consent, language)
    if not any(words.strip() for words in settled.consent.values()):
        return {}
    if not consent:
        raise Refused("Please read and accept how your answers are used before you start.")
    return {"consented_at": now, "consent_sha256": hashlib.sha256(text.encode()).hexdigest()}


def _next_code(connection: Connection, campaign_id: int) -> str:
    """A1, A2, …: higher than every one there is, and than the number of people there ever were."""
    codes = (
        connection.execute(select(t.participant.c.code).where(t.participant.c.campaign_id == campaign_id))
        .scalars()
        .all()
    )
    highest = max((int(code[1:]) for code in codes if re.fullmatch(r"A[0-9]{1,9}", code)), default=0)
    return f"A{max(highest, len(codes)) + 1}"


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
    campaign: Campaign,
    *,
    label: str = "",
    cap: int | None = None,
    expires_at: float | None = None,
    secret: bytes,
    now: float,
) -> Invitation:
    """A new link to a campaign, for one person (cap 1), for ``cap`` people, or for all who have it."""
    if cap is not None and not 1 <= cap <= MOST_PEOPLE:
        raise Refused(f"Expected an invitation for 1 to {MOST_PEOPLE:,} people, got {cap}.")
    values = {
        "campaign_id": campaign.id,
        "nonce": new_nonce(),
        "label": one_line_of(label, what="the label of an invitation"),
        "cap": cap,
        "created_at": now,
        "expires_at": end_of(expires_at, what="an invitation", now=now),
    }
    row = connection.execute(insert(t.invitation).values(**values).returning(t.invitation)).one()
    return _invitation(row, used=0, secret=secret)


def list_invitations(connection: Connection, campaign: Campaign, *, secret: bytes) -> list[Invitation]:
    """The invitations of a campaign, newest first, also those that have ended."""
    counts = (
        select(t.participant.c.invitation_id, func.count().label("used"))
        .where(t.participant.c.campaign_id == campaign.id)
        .group_by(t.participant.c.invitation_id)
        .subquery()
    )
    rows = connection.execute(
        select(t.invitation, func.coalesce(counts.c.used, 0).label("used"))
        .outerjoin(counts, counts.c.invitation_id == t.invitation.c.id)
        .where(t.invitation.c.campaign_id == campaign.id)
        .order_by(t.invitation.c.id.desc())
    )
    return [_invitation(row, used=row.used, secret=secret) for row in rows]


def revoke_invitation(connection: Connection, campaign: Campaign, invitation_id: int, *, who: str, now: float) -> None:
    """End an invitation, and the links of those who joined by it; their answers stay."""
    in_use(connection, campaign.id)
    this = (t.invitation.c.id == invitation_id) & (t.invitation.c.campaign_id == campaign.id)
    row = connection.execute(select(t.invitation).where(this).with_for_update()).first()
    if row is None:
        raise NotFound("There is no such invitation in this campaign.")
    if row.revoked_at is None:
        connection.execute(update(t.invitation).where(this).values(revoked_at=now))
        joined = select(t.participant.c.id).where(t.participant.c.invitation_id == invitation_id)
        for participant_id in connection.execute(joined).scalars().all():
            release(connection, participant_id, now=now)
        log_event(connection, campaign.id, who=who, what="revoked", details={"invitation": invitation_id}, now=now)


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


def _sent_before(connection: Connection, invitation: Invitation, recruited: Mapping[str, str] | None) -> bool | None:
    """Whether a recruiter sent this person before; None where no recruiter says who comes."""
    settled = campaign_by_id(connection, invitation.campaign_id)
    if recruited is None or settled.settings.recruited_by() is None:
        return None
    return who_came(connection, settled, recruited) is not None


def join(
    connection: Connection,
    invitation: Invitation,
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
    where = select(t.campaign).where(t.campaign.c.id == invitation.campaign_id)
    settled = campaign_of(connection.execute(where.with_for_update(key_share=True)).mappings().one())
    again = _invitation_row(connection, invitation.id, lock=True)
    if again is None:
        raise NotFound(_UNKNOWN)
    fresh = _invitation(again, used=_used(connection, invitation.id), secret=secret)
    came_with = recruited_from(settled, recruited or {})
    if came_with is not None:
        known = who_came(connection, settled, came_with, lock=True)
        _refuse_ended(fresh, now=now, sent=known is not None)
    else:
        _refuse_ended(fresh, now=now)
        known = _who_joined(connection, fresh) if fresh.is_personal else None
    told = JoinDetails(name, language, consent, came_with)
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


def still_there(connection: Connection, participant: Participant, *, change: bool = False) -> None:
    """Refuse where somebody was erased or blocked meanwhile; they stay as they are until this transaction ends.

    ``change`` says that this transaction may change them, as :func:`locked_participant` does.
    """
    where = select(t.participant.c.erased_at, t.participant.c.blocked_at).where(t.participant.c.id == participant.id)
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
    query = select(t.participant).where(t.participant.c.id == participant_id).with_for_update(key_share=True)
    return participant_from(connection.execute(query).one())


def note_seen(connection: Connection, participant: Participant, *, now: float) -> None:
    """Somebody is there; their organiser sees it."""
    connection.execute(update(t.participant).where(t.participant.c.id == participant.id).values(seen_at=now))


def token_of(connection: Connection, participant: Participant, *, secret: bytes) -> str:
    """The token of a participant, for the link that takes them to another device."""
    nonce = connection.execute(select(t.participant.c.nonce).where(t.participant.c.id == participant.id)).scalar_one()
    return participant_token(participant.id, nonce, secret=secret)


def change_participant(
    connection: Connection, participant: Participant, *, name: str | None = None, language: str | None = None
) -> Participant:
    """Be called otherwise, or read another language; what is not given stays, and an empty name is taken away."""
    settled = campaign_by_id(connection, participant.campaign_id).settings
    values = personal(settled, name=name, language=language)
    if values:
        still_there(connection, participant)
        connection.execute(update(t.participant).where(t.participant.c.id == participant.id).values(**values))
    return participant_from(connection.execute(select(t.participant).where(t.participant.c.id == participant.id)).one())


def list_participants(connection: Connection, campaign: Campaign) -> list[Participant]:
    """Everybody who joined a campaign, in the order they did, also those who were erased."""
    rows = connection.execute(
        select(t.participant).where(t.participant.c.campaign_id == campaign.id).order_by(t.participant.c.id)
    )
    return [participant_from(row) for row in rows]


def last_participants(connection: Connection, campaign: Campaign, *, after: int, most: int) -> list[Participant]:
    """Who came last first, past the first ``after`` of them."""
    query = select(t.participant).where(t.participant.c.campaign_id == campaign.id)
    rows = connection.execute(query.order_by(t.participant.c.id.desc()).offset(after).limit(most))
    return [participant_from(row) for row in rows]


def find_participant(connection: Connection, campaign: Campaign, code: str) -> Participant:
    """The participant of a code."""
    this = (t.participant.c.campaign_id == campaign.id) & (t.participant.c.code == code)
    row = connection.execute(select(t.participant).where(this)).first()
    if row is None:
        raise NotFound(f"There is no participant {shown(code)} in this campaign.")
    return participant_from(row)


def count_by_participant(connection: Connection, campaign: Campaign) -> dict[int, int]:
    """How many answers each participant gave; skips and corrections are not counted."""
    counts = (
        select(t.answer.c.participant_id, func.count())
        .where(t.answer.c.campaign_id == campaign.id, t.answer.c.kind.in_(("judgment", "repeat", "import")))
        .group_by(t.answer.c.participant_id)
    )
    return {row[0]: row[1] for row in connection.execute(counts)}


def block_participant(
    connection: Connection, participant: Participant, *, blocked: bool, who: str, now: float
) -> Participant:
    """End somebody's part in a campaign, or let them back; their answers stay, others get their questions."""
    in_use(connection, participant.campaign_id)
    if locked_participant(connection, participant.id).erased_at is not None:
        raise Gone(f"Participant {participant.code} was erased.")
    if blocked:
        release(connection, participant.id, now=now)
    values = {"blocked_at": (participant.blocked_at or now) if blocked else None}
    row = connection.execute(
        update(t.participant).where(t.participant.c.id == participant.id).values(**values).returning(t.participant)
    ).one()
    what = "blocked" if blocked else "unblocked"
    log_event(
        connection, participant.campaign_id, who=who, what=what, details={"participant": participant.code}, now=now
    )
    return participant_from(row)


def _refuse_ended(invitation: Invitation, *, now: float, sent: bool | None = None) -> None:
    """Refuse who comes by a link that has ended. Whom a recruiter ``sent`` before may come back until it is revoked."""
    if invitation.revoked_at is not None:
        raise Gone(_REVOKED)
    if sent:
        return
    if invitation.expires_at is not None and invitation.expires_at <= now:
        raise Gone("This invitation has expired; ask the organiser for another.")
    is_theirs = invitation.is_personal and sent is None
    if invitation.cap is not None and invitation.used >= invitation.cap and not is_theirs:
        people = "1 person, who has" if invitation.is_personal else f"{invitation.cap} people, and as many have"
        raise Gone(f"This invitation was for {people} joined; ask the organiser for another.")


def _invitation_row(connection: Connection, number: int, *, lock: bool = False) -> Row[Any] | None:
    where = select(t.invitation).where(t.invitation.c.id == number)
    return connection.execute(where.with_for_update(key_share=True) if lock else where).first()


def _used(connection: Connection, invitation_id: int) -> int:
    joined = select(func.count()).select_from(t.participant).where(t.participant.c.invitation_id == invitation_id)
    return int(connection.execute(joined).scalar_one())


def _who_joined(connection: Connection, invitation: Invitation) -> Row[Any] | None:
    theirs = select(t.participant).where(t.participant.c.invitation_id == invitation.id).order_by(t.participant.c.id)
    return connection.execute(theirs.with_for_update()).first()


def _with_invitation(number: int) -> Any:
    joined = t.participant.outerjoin(t.invitation, t.invitation.c.id == t.participant.c.invitation_id)
    return select(t.participant, t.invitation.c.revoked_at).select_from(joined).where(t.participant.c.id == number)


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


@dataclass(frozen=True)
class ParticipantSummary:
    """A participant as organisers see them."""

    id: int
    code: str
    name: str | None
    seen_at: float
    can_come: bool
    blocked: bool
    outcome: str | None
    set_aside_at: float | None
    set_aside_why: str | None

    @property
    def counts(self) -> bool:
        """Whether their answers count."""
        return self.set_aside_at is None

    def state(self, now: float) -> str:
        """Whether their part ended and how, else whether they are there now."""
        if self.outcome is not None:
            return self.outcome
        if self.blocked:
            return "blocked"
        return "live" if self.is_live(now) else "idle"

    def is_live(self, now: float) -> bool:
        """Whether they are there now, to answer."""
        return self.can_come and not self.blocked and self.outcome is None and now - self.seen_at <= LIVE_SECONDS


def people_of(connection: Connection, campaign_id: int) -> tuple[ParticipantSummary, ...]:
    """Everybody, in the order they came."""
    rows = connection.execute(
        select(t.participant).where(t.participant.c.campaign_id == campaign_id).order_by(t.participant.c.id)
    )
    return tuple(
        ParticipantSummary(
            row.id,
            row.code,
            row.name,
            row.seen_at,
            row.erased_at is None and row.invitation_id is not None,
            row.blocked_at is not None,
            row.outcome,
            row.set_aside_at,
            row.set_aside_why,
        )
        for row in rows
    )
