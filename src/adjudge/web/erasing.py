"""Erasing a participant, at their wish or the organiser's.

*Anonymise* keeps grades and rankings, which the campaign rests on, and takes away whatever leads to the person: their
name, their comments, their links, who their recruiter says they are, the label of an invitation that was theirs alone,
and the code that earlier exports knew them by. *Remove* takes the answers and leases away as well, as if they had never
been given. Rankings that were begun go either way. A row without a person stays, so that counts of people and caps of
invitations remain right, and the person gets a receipt. The log keeps the digest of that receipt: it proves the receipt
genuine, and tells nobody else whose it is.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, null, select, update

from adjudge.web.answering import answer_digest
from adjudge.web.campaign_rows import Campaign, in_use, log_event
from adjudge.web.errors import Gone, Refused
from adjudge.web.invitations import Participant
from adjudge.web.pair_counts import lock_pairs, recount_pairs
from adjudge.web.schema import answer, arrangement, event, invitation, lease, participant, picture
from adjudge.web.signing import new_nonce

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


def erase_participant(connection: Connection, found: Participant, *, how: str, who: str, now: float) -> Receipt:
    """Take a person out of a campaign; the caller has the picture made anew."""
    if how not in ("anonymise", "remove"):
        raise Refused(f"Expected to anonymise or to remove, got {how!r}.")
    campaign = in_use(connection, found.campaign_id)
    where = select(participant).where(participant.c.id == found.id).with_for_update()
    if connection.execute(where).one().erased_at is not None:
        raise Gone(f"Participant {found.code} was erased already.")
    pairs = lock_pairs(connection, found.id)
    counts = _counts(connection, found.id)
    if how == "remove":
        _remove_answers(connection, found.id)
    else:
        _anonymise_answers(connection, found.id, now=now)
    connection.execute(delete(arrangement).where(arrangement.c.participant_id == found.id))
    recount_pairs(connection, pairs)
    _forget_person(connection, found, now=now)
    receipt = _receipt(campaign, found, how=how, counts=counts, now=now)
    details = {"how": how, "digest": receipt.digest, "answers": counts["answers"]}
    log_event(connection, found.campaign_id, who=who, what="erased", details=details, now=now)
    return receipt


def _counts(connection: Connection, participant_id: int) -> dict[str, int]:
    answers = select(func.count(), func.count(answer.c.comment)).where(answer.c.participant_id == participant_id)
    leases = select(func.count()).select_from(lease).where(lease.c.participant_id == participant_id)
    all_answers, comments = connection.execute(answers).one()
    return {"answers": all_answers, "comments": comments, "leases": connection.execute(leases).scalar_one()}


def _remove_answers(connection: Connection, participant_id: int) -> None:
    """Corrections before what they correct, answers before the leases they came by."""
    mine = answer.c.participant_id == participant_id
    connection.execute(delete(answer).where(mine, answer.c.corrects.is_not(None)))
    connection.execute(delete(answer).where(mine))
    connection.execute(delete(lease).where(lease.c.participant_id == participant_id))


def _anonymise_answers(connection: Connection, participant_id: int, *, now: float) -> None:
    """Comments go, and with them the digests that covered them; questions in hand are given back."""
    said = select(answer).where(answer.c.participant_id == participant_id, answer.c.comment.is_not(None))
    for row in connection.execute(said).mappings().all():
        silent: dict[str, Any] = {**row, "comment": None}
        values = {"comment": None, "sha256": answer_digest(silent)}
        connection.execute(update(answer).where(answer.c.id == row["id"]).values(**values))
    held = (lease.c.participant_id == participant_id) & lease.c.ended_at.is_(None)
    connection.execute(update(lease).where(held).values(ended_at=now, ended_how="released"))


def _forget_person(connection: Connection, found: Participant, *, now: float) -> None:
    """Leave a row that leads to nobody, in this table and in what was written about them elsewhere."""
    code = f"X{secrets.token_hex(5)}"
    values: dict[str, Any] = {"code": code, "name": None, "language": "", "nonce": new_nonce()}
    values |= {"erased_at": now, "blocked_at": None, "recruited": null(), "recruited_as": None}
    connection.execute(update(participant).where(participant.c.id == found.id).values(**values))
    personal = (invitation.c.id == found.invitation_id) & (invitation.c.cap == 1)
    ended = {"label": "", "nonce": new_nonce(), "revoked_at": func.coalesce(invitation.c.revoked_at, now)}
    connection.execute(update(invitation).where(personal).values(**ended))
    _forget_in_log(connection, found, code)
    _forget_in_picture(connection, found, code)


def _forget_in_log(connection: Connection, found: Participant, code: str) -> None:
    """Events about the person tell the new code instead of the old."""
    for row in connection.execute(select(event).where(event.c.campaign_id == found.campaign_id)).all():
        who, details = _renamed(row.who, found.code, code), _renamed(row.details, found.code, code)
        if (who, details) != (row.who, row.details):
            connection.execute(update(event).where(event.c.id == row.id).values(who=who, details=details))


def _forget_in_picture(connection: Connection, found: Participant, code: str) -> None:
    """Take name, figures and comments out of the last picture, which stays until the next one is made."""
    this = picture.c.campaign_id == found.campaign_id
    row = connection.execute(select(picture).where(this).with_for_update()).first()
    if row is None:
        return
    content: dict[str, Any] = {**row.content, "version": row.version + 1}
    for people in {"assessors", "people"} & content.keys():
        content[people] = [person for person in content[people] or [] if person.get("code") != found.code]
    content["problems"] = [{**problem, "comments": []} for problem in content.get("problems") or []]
    values = {"version": row.version + 1, "content": _renamed(content, found.code, code)}
    connection.execute(update(picture).where(this).values(**values))


def _renamed(content: Any, old: str, new: str) -> Any:
    """Plain values with one text for another, wherever it stands."""
    if isinstance(content, dict):
        return {new if name == old else name: _renamed(value, old, new) for name, value in content.items()}
    if isinstance(content, list):
        return [_renamed(value, old, new) for value in content]
    return new if content == old else content


def _receipt(campaign: Campaign, found: Participant, *, how: str, counts: dict[str, int], now: float) -> Receipt:
    removed = how == "remove"
    unsigned = Receipt(
        campaign=campaign.name,
        code=found.code,
        how=how,
        answers_kept=0 if removed else counts["answers"],
        answers_removed=counts["answers"] if removed else 0,
        comments_removed=counts["comments"],
        leases_removed=counts["leases"] if removed else 0,
        at=now,
        number=secrets.token_hex(16),
    )
    return Receipt(**{**asdict(unsigned), "digest": unsigned.expected_digest()})
