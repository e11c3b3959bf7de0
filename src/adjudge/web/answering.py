"""Answers: stored once, never changed; what is current follows from them in order.

An answer comes with a key that its sender made. The same key again is the same answer, however often the network made
them send it. A correction is a new row that names the first answer. An answer whose lease had ended meanwhile is taken
all the same, marked as late: somebody listened for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, distinct, exists, func, insert, select, update

from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Conflict, NotFound, Refused
from adjudge.web.leasing import Lease, lease_of
from adjudge.web.media import HEARD
from adjudge.web.schema import answer, item, lease, pair

SKIP_REASONS = ("broken", "cannot_tell", "known", "other")
BROKEN_AFTER = 2
"""So many people must call a pair broken before it is held back."""
ENOUGH_OF_A_CLIP = 0.9
"""Share of a clip shorter than the listening time that counts as all of it."""

_SIGNED = (
    "campaign_id", "pair_id", "participant_id", "lease_id", "key", "kind", "corrects", "grades", "reason", "comment",
    "heard", "took_ms", "late", "created_at",
)  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """What became of an answer; ``again`` where it had been stored before."""

    answer_id: int
    again: bool


@dataclass(frozen=True)
class Given:
    """What somebody sends with an answer: its key, and how it came about."""

    key: str
    grades: Mapping[str, object]
    heard: Mapping[str, object]
    took_ms: int | None = None
    comment: str | None = None


def answer_digest(row: Mapping[str, Any] | RowMapping) -> str:
    """What an answer says, as a digest: it tells whether a row is as it was stored."""
    content = [row[name] for name in _SIGNED]
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def store_answer(
    connection: Connection, campaign: Campaign, participant_id: int, *, lease_id: str, given: Given, now: float
) -> Stored:
    """Keep an answer to a question that was leased to this participant."""
    found = own_lease(connection, participant_id, lease_id)
    before = stored_before(connection, participant_id, given.key, lease_id=lease_id)
    if before is not None:
        return before
    grades = campaign.judging.check_grades(dict(given.grades))
    check_not_answered(connection, found)
    _check_heard(connection, campaign, found, given.heard)
    late = found.ended_at is not None
    settle(connection, found, how="answered", taken=1 if late else 0, answered=1, now=now)
    values = values_of(found, given, grades=grades, kind=found.kind, late=late, now=now)
    return Stored(append_answer(connection, values), again=False)


def store_skip(
    connection: Connection, participant_id: int, *, lease_id: str, given: Given, reason: str, now: float
) -> Stored:
    """Keep that a participant cannot answer a question, and why; it goes to somebody else."""
    if reason not in SKIP_REASONS:
        raise Refused(f"Expected a reason among {', '.join(SKIP_REASONS)}, got {reason!r}")
    found = own_lease(connection, participant_id, lease_id)
    before = stored_before(connection, participant_id, given.key, lease_id=lease_id)
    if before is not None:
        return before
    check_not_answered(connection, found)
    late = found.ended_at is not None
    settle(connection, found, how="skipped", taken=0 if late else -1, answered=0, now=now)
    values = values_of(found, given, grades={}, kind="skip", late=late, now=now) | {"reason": reason}
    stored = Stored(append_answer(connection, values), again=False)
    if reason == "broken":
        hold_if_broken(connection, found.pair_id)
    return stored


def store_correction(
    connection: Connection, campaign: Campaign, participant_id: int, *, answer_id: int, given: Given, now: float
) -> Stored:
    """Keep a second thought about an answer of one's own."""
    first = own_first_answer(connection, participant_id, answer_id)
    before = stored_before(connection, participant_id, given.key, corrects=first["id"])
    if before is not None:
        return before
    if first["kind"] not in ("judgment", "repeat"):
        raise Refused("Expected an answer with grades to correct, got one that was skipped.")
    grades = campaign.judging.check_grades(dict(given.grades))
    return append_correction(connection, first, given, grades=grades, lease_id=first["lease_id"], now=now)


def append_correction(
    connection: Connection,
    first: RowMapping,
    given: Given,
    *,
    grades: Mapping[str, object],
    lease_id: str | None,
    now: float,
) -> Stored:
    """Add a row that corrects the ``first`` answer of somebody about something."""
    values = {name: first[name] for name in ("campaign_id", "pair_id", "participant_id")} | {
        "lease_id": lease_id,
        "key": given.key,
        "kind": "correction",
        "corrects": first["id"],
        "grades": dict(grades),
        "comment": given.comment,
        "heard": dict(given.heard),
        "took_ms": given.took_ms,
        "late": False,
        "created_at": now,
    }
    return Stored(append_answer(connection, values), again=False)


def own_lease(connection: Connection, participant_id: int, lease_id: str) -> Lease:
    """A lease of this participant, locked; nobody learns of the leases of others."""
    query = select(lease).where(lease.c.id == lease_id, lease.c.participant_id == participant_id).with_for_update()
    row = connection.execute(query).mappings().first()
    if row is None:
        raise NotFound("This question was never given to you; ask for the next one.")
    return lease_of(row)


def own_first_answer(connection: Connection, participant_id: int, answer_id: int) -> RowMapping:
    """The first answer that this one, perhaps a correction of it, is about; nobody corrects it at the same moment."""
    row = _own_answer(connection, participant_id, answer_id)
    return _own_answer(connection, participant_id, row["id"] if row["corrects"] is None else row["corrects"], lock=True)


def _own_answer(connection: Connection, participant_id: int, answer_id: int, *, lock: bool = False) -> RowMapping:
    """An answer of this participant; with ``lock`` nobody corrects it at the same moment."""
    mine = select(answer).where(answer.c.id == answer_id, answer.c.participant_id == participant_id)
    mine = mine.with_for_update() if lock else mine
    row = connection.execute(mine).mappings().first()
    if row is None:
        raise NotFound("There is no such answer of yours.")
    return row


def stored_before(connection: Connection, participant_id: int, key: str, **same: object) -> Stored | None:
    """The answer that this key brought before; refused where it was another one."""
    mine = select(answer).where(answer.c.participant_id == participant_id, answer.c.key == key)
    row = connection.execute(mine).mappings().first()
    if row is None:
        return None
    if any(row[name] != value for name, value in same.items()):
        raise Conflict("This key belongs to another answer; make a new one for each.")
    return Stored(row["id"], again=True)


def check_not_answered(connection: Connection, found: Lease, *, twice: str = "") -> None:
    """Refuse a second answer to a question, and to a pair that was asked again after its lease had ended.

    ``twice`` is what is said then.
    """
    if found.ended_how in ("answered", "skipped"):
        raise Conflict("You answered this question already, perhaps in another window; here is the next one.")
    if found.ended_at is None or found.kind == "repeat":
        return
    before = select(answer.c.id).where(
        answer.c.participant_id == found.participant_id,
        answer.c.pair_id == found.pair_id,
        answer.c.kind.in_(("judgment", "import", "trap")),
    )
    if connection.execute(before.limit(1)).first() is not None:
        raise Conflict(twice or "You judged this pair already; correct that answer instead.")


_QUERY_ITEM, _DOCUMENT_ITEM = item.alias("query_item"), item.alias("document_item")
_CLIPS = (
    select(
        _QUERY_ITEM.c.kind.label("query_kind"),
        _QUERY_ITEM.c.seconds.label("query_seconds"),
        _DOCUMENT_ITEM.c.kind.label("candidate_kind"),
        _DOCUMENT_ITEM.c.seconds.label("candidate_seconds"),
    )
    .join_from(pair, _QUERY_ITEM, pair.c.query_item_id == _QUERY_ITEM.c.id)
    .join(_DOCUMENT_ITEM, pair.c.document_item_id == _DOCUMENT_ITEM.c.id)
    .where(pair.c.id == bindparam("pair"))
)


def _check_heard(connection: Connection, campaign: Campaign, found: Lease, heard: Mapping[str, object]) -> None:
    """Refuse what was not listened to: the candidate always, the query once."""
    clips = connection.execute(_CLIPS, {"pair": found.pair_id}).mappings().one()
    for role in ("candidate", "query"):
        least = least_heard(clips[f"{role}_kind"], clips[f"{role}_seconds"], campaign.settings.listen_seconds)
        got = heard.get(f"{role}_ms", 0)
        got = got if isinstance(got, int) else 0
        if _is_enough(least, got):
            continue
        if role == "query" and found.pair_id in known_queries(connection, found.participant_id, [found.pair_id]):
            continue
        check_heard(f"the {role}", least, got)


def least_heard(kind: str, seconds: float | None, listen: float) -> float:
    """How many seconds of an item must be heard: of sound the listening time, or nearly all of a shorter clip.

    >>> least_heard("audio", 30.0, 3.0), least_heard("notation", 2.0, 3.0), least_heard("text", None, 3.0)
    (3.0, 1.8, 0.0)
    """
    if kind not in HEARD:
        return 0.0
    return listen if seconds is None else min(listen, ENOUGH_OF_A_CLIP * seconds)


def _is_enough(least: float, got_ms: int) -> bool:
    return got_ms >= 1000 * least - 1  # a millisecond is forgiven


def check_heard(name: str, least: float, got_ms: int) -> None:
    """Refuse what was heard for less than its ``least`` seconds."""
    if not _is_enough(least, got_ms):
        raise Refused(f"Listen to {name} for at least {least:.1f} s before you answer; it was {got_ms / 1000:.1f} s.")


def known_queries(connection: Connection, participant_id: int, pair_ids: Sequence[int]) -> set[int]:
    """Those of some pairs about whose query a participant answered something before."""
    before = pair.alias("before")
    about = (
        exists()
        .where(answer.c.participant_id == participant_id, answer.c.kind != "skip")
        .where(before.c.id == answer.c.pair_id)
        .where(before.c.campaign_id == pair.c.campaign_id, before.c.query == pair.c.query)
    )
    return set(connection.execute(select(pair.c.id).where(pair.c.id.in_(pair_ids), about)).scalars())


def settle(connection: Connection, found: Lease, *, how: str, taken: int, answered: int, now: float) -> None:
    """End a lease with an answer or a skip, and count."""
    connection.execute(update(lease).where(lease.c.id == found.id).values(ended_at=now, ended_how=how))
    is_counted = found.kind == "judgment"
    if is_counted:
        counts = {"taken": pair.c.taken + taken, "answered": pair.c.answered + answered}
        connection.execute(update(pair).where(pair.c.id == found.pair_id).values(**counts))
    if found.ended_at is None:
        return
    # The lease had ended, and the same person may have been given the pair again: they need not answer twice.
    again = select(lease.c.id).where(
        lease.c.pair_id == found.pair_id,
        lease.c.participant_id == found.participant_id,
        lease.c.kind == found.kind,
        lease.c.ended_at.is_(None),
    )
    ids = connection.execute(again).scalars().all()
    if ids:
        connection.execute(update(lease).where(lease.c.id.in_(ids)).values(ended_at=now, ended_how="released"))
    if ids and is_counted:
        connection.execute(update(pair).where(pair.c.id == found.pair_id).values(taken=pair.c.taken - len(ids)))


def values_of(
    found: Lease, given: Given, *, grades: Mapping[str, object], kind: str, late: bool, now: float
) -> dict[str, Any]:
    """What an answer to a leased question is stored as."""
    return {
        "campaign_id": found.campaign_id,
        "pair_id": found.pair_id,
        "participant_id": found.participant_id,
        "lease_id": found.id,
        "key": given.key,
        "kind": kind,
        "grades": dict(grades),
        "comment": given.comment or None,
        "heard": dict(given.heard),
        "took_ms": given.took_ms,
        "late": late,
        "created_at": now,
    }


def append_answer(connection: Connection, values: dict[str, Any]) -> int:
    """Add a row with its digest; the only way into the table."""
    whole = {"corrects": None, "reason": None, "comment": None, **values}
    row = connection.execute(insert(answer).values(**whole, sha256=answer_digest(whole)).returning(answer.c.id))
    return int(row.scalar_one())


def hold_if_broken(connection: Connection, pair_id: int) -> None:
    """Keep a pair back once several people called it broken; the organiser can put it back."""
    people = select(func.count(distinct(answer.c.participant_id))).where(
        answer.c.pair_id == pair_id, answer.c.kind == "skip", answer.c.reason == "broken"
    )
    if connection.execute(people).scalar_one() >= BROKEN_AFTER:
        connection.execute(update(pair).where(pair.c.id == pair_id).values(held=True))
