"""Storing who joins a campaign, or who is there again."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from adjudge.errors import shown
from adjudge.web.asking_settings import AskingSettings
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Forbidden, Gone, Refused
from adjudge.web.recruiting import recruited_digest
from adjudge.web.schema import invitation, participant
from adjudge.web.signing import new_nonce
from adjudge.web.wording import one_line_of


@dataclass(frozen=True)
class Told:
    """What somebody tells about themselves, and what their recruiter told (None where there is no recruiter)."""

    name: str | None
    language: str | None
    consent: bool
    recruited: dict[str, str] | None = None


def come(connection: Connection, settled: Campaign, invitation_id: int, told: Told, *, now: float) -> Row[Any]:
    """Store a new participant."""
    if settled.state == "closed":
        raise Gone("This campaign is closed; thank you for coming all the same.")
    values: dict[str, Any] = {"name": None, "language": settled.settings.languages[0]}
    values |= personal(settled.settings, name=told.name, language=told.language)
    values |= _consented(settled.settings, values["language"], consent=told.consent, now=now)
    values |= {"campaign_id": settled.id, "invitation_id": invitation_id, "nonce": new_nonce()}
    if told.recruited is not None:
        values |= {"recruited": told.recruited, "recruited_as": recruited_digest(settled, told.recruited)}
    code = _next_code(connection, settled.id)
    return connection.execute(
        insert(participant).values(**values, code=code, created_at=now, seen_at=now).returning(participant)
    ).one()


def come_back(
    connection: Connection, known: Row[Any], settled: Campaign, invitation_id: int, told: Told, *, now: float
) -> Row[Any]:
    """The participant that somebody is already, with what they told anew."""
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
    this = update(participant).where(participant.c.id == known.id)
    return connection.execute(this.values(**values).returning(participant)).one()


def _in_force(connection: Connection, number: int | None, *, else_by: int) -> int:
    """The invitation somebody came by first, unless it was revoked since and they come by another."""
    there = select(invitation.c.id).where(invitation.c.id == number, invitation.c.revoked_at.is_(None))
    found = connection.execute(there).scalar_one_or_none()
    return else_by if found is None else int(found)


def personal(settled: AskingSettings, *, name: str | None, language: str | None) -> dict[str, Any]:
    """What somebody tells about themselves, as it is stored; nothing for what they do not tell."""
    values: dict[str, Any] = {}
    if name is not None:
        values["name"] = one_line_of(name, what="a name") or None
    if language is not None:
        if language not in settled.languages:
            raise Refused(f"Expected a language among {', '.join(settled.languages)}, got {shown(language)}.")
        values["language"] = language
    return values


def _consented(settled: AskingSettings, language: str, *, consent: bool, now: float) -> dict[str, Any]:
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
        connection.execute(select(participant.c.code).where(participant.c.campaign_id == campaign_id)).scalars().all()
    )
    highest = max((int(code[1:]) for code in codes if re.fullmatch(r"A[0-9]{1,9}", code)), default=0)
    return f"A{max(highest, len(codes)) + 1}"
