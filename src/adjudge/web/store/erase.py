"""Erasing a participant, and deleting a campaign.

A participant can be erased in two ways. *Anonymise* keeps grades and rankings, which the campaign rests on, and removes
everything that leads to the person: name, comments, links, the recruiter's identity, the label of a personal
invitation, and the code that earlier exports used. *Remove* deletes answers and leases as well. Unfinished rankings go
either way. A row without a person stays, so that counts of people and caps of invitations remain right. The person gets
a receipt; the log keeps its digest, which proves the receipt genuine and tells nobody else whose it is.

Only drafts and closed campaigns can be deleted, so that nobody is in the middle of a question. All rows go, and the
files that no other campaign needs. The log keeps one line with counts, and the digests of receipts. Exports and backups
made earlier are not affected.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Table, delete, func, null, select, update

from adjudge.text import counted
from adjudge.web.errors import Conflict, Gone, Refused
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.answers import answer_digest
from adjudge.web.store.campaigns import Campaign, find_campaign, in_use, locked, log_event
from adjudge.web.store.database import Database
from adjudge.web.store.leases import lock_pairs, recount_pairs
from adjudge.web.store.media import kept_files
from adjudge.web.store.participants import Participant
from adjudge.web.store.schema import metadata
from adjudge.web.store.signing import new_nonce

How = Literal["anonymise", "remove"]


@dataclass(frozen=True)
class Receipt:
    """What was done for somebody who asked to be erased. Nobody but them knows its ``number``."""

    campaign: str
    code: str
    how: str
    answers_kept: int
    answers_removed: int
    comments_removed: int
    leases_removed: int
    at: float
    number: str
    digest: str = ""

    def expected_digest(self) -> str:
        """The digest that a genuine receipt has."""
        content = {name: value for name, value in asdict(self).items() if name != "digest"}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def erase_participant(connection: Connection, participant: Participant, *, how: str, who: str, now: float) -> Receipt:
    """Take a person out of a campaign; the caller has a new snapshot made."""
    if how not in ("anonymise", "remove"):
        raise Refused(f"Expected to anonymise or to remove, got {how!r}.")
    campaign = in_use(connection, participant.campaign_id)
    where = select(t.participant).where(t.participant.c.id == participant.id).with_for_update()
    if connection.execute(where).one().erased_at is not None:
        raise Gone(f"Participant {participant.code} was erased already.")
    pairs = lock_pairs(connection, participant.id)
    counts = _counts(connection, participant.id)
    if how == "remove":
        _remove_answers(connection, participant.id)
    else:
        _anonymise_answers(connection, participant.id, now=now)
    connection.execute(delete(t.arrangement).where(t.arrangement.c.participant_id == participant.id))
    recount_pairs(connection, pairs)
    _forget_person(connection, participant, now=now)
    receipt = _receipt(campaign, participant, how=how, counts=counts, now=now)
    details = {"how": how, "digest": receipt.digest, "answers": counts["answers"]}
    log_event(connection, participant.campaign_id, who=who, what="erased", details=details, now=now)
    return receipt


def _counts(connection: Connection, participant_id: int) -> dict[str, int]:
    answers = select(func.count(), func.count(t.answer.c.comment)).where(t.answer.c.participant_id == participant_id)
    leases = select(func.count()).select_from(t.lease).where(t.lease.c.participant_id == participant_id)
    all_answers, comments = connection.execute(answers).one()
    return {"answers": all_answers, "comments": comments, "leases": connection.execute(leases).scalar_one()}


def _remove_answers(connection: Connection, participant_id: int) -> None:
    """Corrections before what they correct, answers before the leases they came by."""
    mine = t.answer.c.participant_id == participant_id
    connection.execute(delete(t.answer).where(mine, t.answer.c.corrects.is_not(None)))
    connection.execute(delete(t.answer).where(mine))
    connection.execute(delete(t.lease).where(t.lease.c.participant_id == participant_id))


def _anonymise_answers(connection: Connection, participant_id: int, *, now: float) -> None:
    """Comments go, and with them the digests that covered them; leases end."""
    said = select(t.answer).where(t.answer.c.participant_id == participant_id, t.answer.c.comment.is_not(None))
    for row in connection.execute(said).mappings().all():
        silent: dict[str, Any] = {**row, "comment": None}
        values = {"comment": None, "sha256": answer_digest(silent)}
        connection.execute(update(t.answer).where(t.answer.c.id == row["id"]).values(**values))
    held = (t.lease.c.participant_id == participant_id) & t.lease.c.ended_at.is_(None)
    connection.execute(update(t.lease).where(held).values(ended_at=now, ended_how="released"))


def _forget_person(connection: Connection, participant: Participant, *, now: float) -> None:
    """Leave a row that leads to nobody, in this table and in what was written about them elsewhere."""
    code = f"X{secrets.token_hex(5)}"
    values: dict[str, Any] = {"code": code, "name": None, "language": "", "nonce": new_nonce()}
    values |= {"erased_at": now, "blocked_at": None, "recruited": null(), "recruited_as": None}
    connection.execute(update(t.participant).where(t.participant.c.id == participant.id).values(**values))
    personal = (t.invitation.c.id == participant.invitation_id) & (t.invitation.c.cap == 1)
    ended = {"label": "", "nonce": new_nonce(), "revoked_at": func.coalesce(t.invitation.c.revoked_at, now)}
    connection.execute(update(t.invitation).where(personal).values(**ended))
    _forget_in_log(connection, participant, code)
    _forget_in_snapshot(connection, participant, code)


def _forget_in_log(connection: Connection, participant: Participant, code: str) -> None:
    """Events about the person tell the new code instead of the old."""
    for row in connection.execute(select(t.event).where(t.event.c.campaign_id == participant.campaign_id)).all():
        who, details = _renamed(row.who, participant.code, code), _renamed(row.details, participant.code, code)
        if (who, details) != (row.who, row.details):
            connection.execute(update(t.event).where(t.event.c.id == row.id).values(who=who, details=details))


def _forget_in_snapshot(connection: Connection, participant: Participant, code: str) -> None:
    """Take name, figures and comments out of the last snapshot, which stays until the next one is made."""
    this = t.picture.c.campaign_id == participant.campaign_id
    row = connection.execute(select(t.picture).where(this).with_for_update()).first()
    if row is None:
        return
    content: dict[str, Any] = {**row.content, "version": row.version + 1}
    for people in {"assessors", "people"} & content.keys():
        content[people] = [person for person in content[people] or [] if person.get("code") != participant.code]
    content["problems"] = [{**problem, "comments": []} for problem in content.get("problems") or []]
    values = {"version": row.version + 1, "content": _renamed(content, participant.code, code)}
    connection.execute(update(t.picture).where(this).values(**values))


def _renamed(content: Any, old: str, new: str) -> Any:
    """Plain values with one text for another, wherever it stands."""
    if isinstance(content, dict):
        return {new if name == old else name: _renamed(value, old, new) for name, value in content.items()}
    if isinstance(content, list):
        return [_renamed(value, old, new) for value in content]
    return new if content == old else content


def _receipt(campaign: Campaign, participant: Participant, *, how: str, counts: dict[str, int], now: float) -> Receipt:
    removed = how == "remove"
    unsigned = Receipt(
        campaign=campaign.name,
        code=participant.code,
        how=how,
        answers_kept=0 if removed else counts["answers"],
        answers_removed=counts["answers"] if removed else 0,
        comments_removed=counts["comments"],
        leases_removed=counts["leases"] if removed else 0,
        at=now,
        number=secrets.token_hex(16),
    )
    return Receipt(**{**asdict(unsigned), "digest": unsigned.expected_digest()})


DELETABLE = ("draft", "closed")
_FRESH = 3600.0  # seconds for which a file may wait until the campaign that takes it in names it


@dataclass(frozen=True)
class Deletion:
    """What went with a campaign; ``files`` are those of media that no campaign names any more."""

    campaign: str
    kind: str
    participants: int
    answers: int
    rows: int
    files: int
    at: float


def what_would_go(connection: Connection, campaign: Campaign) -> str:
    """What a campaign has, in words; refused where it cannot be deleted."""
    _refuse_in_use(campaign)
    people, answers = _count(connection, t.participant, campaign.id), _count(connection, t.answer, campaign.id)
    return f"The campaign {campaign.name} with {counted(people, 'participant')} and {counted(answers, 'answer')}"


def _refuse_in_use(campaign: Campaign) -> None:
    """Refuse to delete what people may be answering."""
    if campaign.state not in DELETABLE:
        raise Conflict(
            f"A campaign is deleted when it is closed, or still a draft; {campaign.name} is {campaign.state}."
        )


def delete_campaign(database: Database, settings: Settings, name: str, *, who: str) -> Deletion:
    """Delete a campaign for good; the rows at once or not at all, then the files."""
    now = settings.clock()
    with database.write() as connection:
        campaign = locked(connection, find_campaign(connection, name))
        _refuse_in_use(campaign)
        people, answers = _count(connection, t.participant, campaign.id), _count(connection, t.answer, campaign.id)
        n_rows = _delete_rows(connection, campaign.id)
        details = {"campaign": campaign.name, "number": campaign.id, "participants": people, "answers": answers}
        log_event(connection, None, who=who, what="deleted", details=details, now=now)
    with database.one_moment() as connection:
        n_files = _sweep(connection, settings)
    return Deletion(campaign.name, campaign.kind, people, answers, n_rows, n_files, now)


def _count(connection: Connection, table: Table, campaign_id: int) -> int:
    """Rows of a campaign in a table."""
    query = select(func.count()).select_from(table).where(table.c.campaign_id == campaign_id)
    return int(connection.execute(query).scalar_one())


def _delete_rows(connection: Connection, campaign_id: int) -> int:
    """Rows that name others before those that they name; the number of them."""
    receipts = (t.event.c.campaign_id == campaign_id) & (t.event.c.what == "erased")
    connection.execute(update(t.event).where(receipts).values(campaign_id=None))
    gone = 0
    for table in reversed(metadata.sorted_tables):
        whose = _of_campaign(table, campaign_id)
        if whose is not None:
            gone += connection.execute(delete(table).where(whose)).rowcount
    clips = select(t.item.c.clip_sha256).where(t.item.c.clip_sha256.is_not(None))
    return gone + connection.execute(delete(t.sound).where(t.sound.c.clip_sha256.not_in(clips))).rowcount


def _of_campaign(table: Table, campaign_id: int) -> ColumnElement[bool] | None:
    """Which rows of a table are a campaign's; None where a table is about none."""
    if table is t.campaign:
        return t.campaign.c.id == campaign_id
    if table is t.listed:
        return t.listed.c.pair_id.in_(select(t.pair.c.id).where(t.pair.c.campaign_id == campaign_id))
    return table.c.campaign_id == campaign_id if "campaign_id" in table.c else None


def _sweep(connection: Connection, settings: Settings) -> int:
    """Remove files that nothing names; how many.

    A file is there before a row names it: while there are other campaigns, what came within the hour stays.
    """
    rows = connection.execute(select(t.item)).mappings().all()
    needed = {path for row in rows for path, _ in kept_files(settings, row)}
    others = connection.execute(select(t.campaign.c.id).limit(1)).first() is not None
    before = time.time() - (_FRESH if others else 0)
    idle = [path for path in _files(settings.media) if path not in needed and path.stat().st_mtime <= before]
    for path in idle:
        path.unlink(missing_ok=True)
    return len(idle)


def _files(media: Path) -> list[Path]:
    return sorted(path for path in media.glob("*/*") if path.is_file())
