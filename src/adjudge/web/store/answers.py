"""Answers: stored once, never changed; what is current follows from them in order.

An answer comes with a key that its sender made. The same key again is the same answer, however often the network made
them send it. A correction is a new row that names the first answer. An answer whose lease had ended meanwhile is taken
all the same, marked as late: somebody listened for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection, RowMapping, distinct, exists, func, insert, select, update

from adjudge.web.errors import Conflict, NotFound, Refused
from adjudge.web.store import schema as t
from adjudge.web.store.leases import Lease, lease_of
from adjudge.web.store.media import HEARD
from adjudge.web.store.wording import several_lines_of

BROKEN_AFTER = 2
"""People who must call a pair broken before it is held back."""
ENOUGH_OF_A_CLIP = 0.9
"""Share of a clip shorter than the listening time that counts as all of it."""
MOST_COMMENT = 2000
LeaseId = Annotated[str, Field(pattern=r"^[\w-]{1,40}$")]
Milliseconds = Annotated[int, Field(ge=0, le=24 * 3600 * 1000)]

_SIGNED = (
    "campaign_id", "pair_id", "participant_id", "lease_id", "key", "kind", "corrects", "grades", "reason", "comment",
    "heard", "took_ms", "late", "created_at",
)  # fmt: skip


class SentAnswer(BaseModel):
    """What is sent with an answer of any kind, a skip or a correction: a key of its own, and perhaps some words.

    Anything unknown is refused, so that a misspelt name is not lost in silence.
    """

    model_config = ConfigDict(extra="forbid")

    key: Annotated[str, Field(pattern=r"^[!-~]{8,100}$", description="Made by the sender; the same for a retry.")]
    comment: Annotated[str | None, Field(max_length=MOST_COMMENT)] = None

    @property
    def words(self) -> str | None:
        """The comment as it is stored."""
        return several_lines_of(self.comment or "", what="a comment", most=MOST_COMMENT) or None


class LeasedAnswer(SentAnswer):
    """An answer to a question that was leased."""

    lease: LeaseId


class SentSkip(LeasedAnswer):
    """Why a question cannot be answered; each kind of campaign has its reasons."""

    reason: str


class SentCorrection(SentAnswer):
    """A second thought about an answer given before."""

    answer: Annotated[int, Field(ge=1, lt=2**63)]


@dataclass(frozen=True)
class AnswerContent:
    """What is stored of an answer that was checked: what it says, milliseconds heard, and how long it took."""

    grades: Mapping[str, object] = field(default_factory=dict)
    heard: Mapping[str, object] = field(default_factory=dict)
    took_ms: int | None = None


@dataclass(frozen=True)
class StoredAnswer:
    """What became of an answer; ``again`` where it had been stored before."""

    answer_id: int
    again: bool


def answer_digest(row: Mapping[str, Any] | RowMapping) -> str:
    """What an answer says, as a digest: it tells whether a row is as it was stored."""
    content = [row[name] for name in _SIGNED]
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def store_answer(
    connection: Connection,
    participant_id: int,
    sent: LeasedAnswer,
    check: Callable[[Lease], AnswerContent],
    *,
    now: float,
    counts: bool = True,
    twice: str = "",
) -> StoredAnswer:
    """Keep an answer to a question that was leased to this participant, once ``check`` has not refused it.

    One that does not count takes no place of others. ``twice`` is said to a second answer.
    """
    lease, before = begin_answer(connection, participant_id, sent, twice=twice)
    if before is not None:
        return before
    content = check(lease)
    is_late = lease.ended_at is not None
    settle(connection, lease, how="answered", taken=int(is_late and counts), answered=int(counts), now=now)
    return append_leased(connection, lease, sent, content, now=now)


def store_skip(
    connection: Connection,
    participant_id: int,
    sent: SentSkip,
    content: AnswerContent,
    *,
    now: float,
    twice: str = "",
) -> StoredAnswer:
    """Keep that a participant cannot answer a question, and why; it goes to somebody else."""
    lease, before = begin_answer(connection, participant_id, sent, twice=twice)
    if before is not None:
        return before
    settle(connection, lease, how="skipped", taken=-int(lease.ended_at is None), answered=0, now=now)
    stored = append_leased(connection, lease, sent, content, now=now, kind="skip", reason=sent.reason)
    if sent.reason == "broken":
        hold_if_broken(connection, lease.pair_id)
    return stored


def store_correction(
    connection: Connection,
    participant_id: int,
    sent: SentCorrection,
    check: Callable[[RowMapping], AnswerContent],
    *,
    now: float,
) -> StoredAnswer:
    """Keep a second thought about an answer of one's own, once ``check`` has not refused it for the first answer."""
    first = own_first_answer(connection, participant_id, sent.answer)
    before = stored_before(connection, participant_id, sent.key, corrects=first["id"])
    if before is not None:
        return before
    return append_correction(connection, first, sent, check(first), lease_id=first["lease_id"], now=now)


def begin_answer(
    connection: Connection, participant_id: int, sent: LeasedAnswer, *, twice: str = ""
) -> tuple[Lease, StoredAnswer | None]:
    """The lease that is answered, locked, and the answer that was stored for it by this key before, if one was."""
    lease = own_lease(connection, participant_id, sent.lease)
    before = stored_before(connection, participant_id, sent.key, lease_id=sent.lease)
    if before is None:
        check_not_answered(connection, lease, twice=twice)
    return lease, before


def own_lease(connection: Connection, participant_id: int, lease_id: str) -> Lease:
    """A lease of this participant, locked; nobody learns of the leases of others."""
    query = (
        select(t.lease).where(t.lease.c.id == lease_id, t.lease.c.participant_id == participant_id).with_for_update()
    )
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
    mine = select(t.answer).where(t.answer.c.id == answer_id, t.answer.c.participant_id == participant_id)
    mine = mine.with_for_update() if lock else mine
    row = connection.execute(mine).mappings().first()
    if row is None:
        raise NotFound("There is no such answer of yours.")
    return row


def stored_before(connection: Connection, participant_id: int, key: str, **same: object) -> StoredAnswer | None:
    """The answer that this key brought before; refused where it was another one."""
    mine = select(t.answer).where(t.answer.c.participant_id == participant_id, t.answer.c.key == key)
    row = connection.execute(mine).mappings().first()
    if row is None:
        return None
    if any(row[name] != value for name, value in same.items()):
        raise Conflict("This key belongs to another answer; make a new one for each.")
    return StoredAnswer(row["id"], again=True)


def check_not_answered(connection: Connection, lease: Lease, *, twice: str = "") -> None:
    """Refuse a second answer to a question, and to a pair that was asked again after its lease had ended.

    ``twice`` is what is said then.
    """
    if lease.ended_how in ("answered", "skipped"):
        raise Conflict("You answered this question already, perhaps in another window; here is the next one.")
    if lease.ended_at is None or lease.kind == "repeat":
        return
    before = select(t.answer.c.id).where(
        t.answer.c.participant_id == lease.participant_id,
        t.answer.c.pair_id == lease.pair_id,
        t.answer.c.kind.in_(("judgment", "import", "trap")),
    )
    if connection.execute(before.limit(1)).first() is not None:
        raise Conflict(twice or "You judged this pair already; correct that answer instead.")


def least_heard(kind: str, seconds: float | None, listen: float) -> float:
    """How many seconds of an item must be heard: of sound the listening time, or nearly all of a shorter clip.

    >>> least_heard("audio", 30.0, 3.0), least_heard("notation", 2.0, 3.0), least_heard("text", None, 3.0)
    (3.0, 1.8, 0.0)
    """
    if kind not in HEARD:
        return 0.0
    return listen if seconds is None else min(listen, ENOUGH_OF_A_CLIP * seconds)


def is_enough(least: float, got_ms: int) -> bool:
    """Whether something was heard for its ``least`` seconds."""
    return got_ms >= 1000 * least - 1  # a millisecond is forgiven


def check_heard(name: str, least: float, got_ms: int) -> None:
    """Refuse what was heard for less than its ``least`` seconds."""
    if not is_enough(least, got_ms):
        raise Refused(f"Listen to {name} for at least {least:.1f} s before you answer; it was {got_ms / 1000:.1f} s.")


def known_queries(connection: Connection, participant_id: int, pair_ids: Sequence[int]) -> set[int]:
    """Those of some pairs about whose query a participant answered something before."""
    before = t.pair.alias("before")
    about = (
        exists()
        .where(t.answer.c.participant_id == participant_id, t.answer.c.kind != "skip")
        .where(before.c.id == t.answer.c.pair_id)
        .where(before.c.campaign_id == t.pair.c.campaign_id, before.c.query == t.pair.c.query)
    )
    return set(connection.execute(select(t.pair.c.id).where(t.pair.c.id.in_(pair_ids), about)).scalars())


def settle(connection: Connection, lease: Lease, *, how: str, taken: int, answered: int, now: float) -> None:
    """End a lease with an answer or a skip, and count."""
    connection.execute(update(t.lease).where(t.lease.c.id == lease.id).values(ended_at=now, ended_how=how))
    is_counted = lease.kind == "judgment"
    if is_counted:
        counts = {"taken": t.pair.c.taken + taken, "answered": t.pair.c.answered + answered}
        connection.execute(update(t.pair).where(t.pair.c.id == lease.pair_id).values(**counts))
    if lease.ended_at is None:
        return
    # The lease had ended, and the same person may have been given the pair again: they need not answer twice.
    again = select(t.lease.c.id).where(
        t.lease.c.pair_id == lease.pair_id,
        t.lease.c.participant_id == lease.participant_id,
        t.lease.c.kind == lease.kind,
        t.lease.c.ended_at.is_(None),
    )
    ids = connection.execute(again).scalars().all()
    if ids:
        connection.execute(update(t.lease).where(t.lease.c.id.in_(ids)).values(ended_at=now, ended_how="released"))
    if ids and is_counted:
        connection.execute(update(t.pair).where(t.pair.c.id == lease.pair_id).values(taken=t.pair.c.taken - len(ids)))


def append_leased(
    connection: Connection,
    lease: Lease,
    sent: SentAnswer,
    content: AnswerContent,
    *,
    now: float,
    kind: str | None = None,
    reason: str | None = None,
) -> StoredAnswer:
    """Add the answer to a leased question; late where the lease had ended."""
    about = {"campaign_id": lease.campaign_id, "pair_id": lease.pair_id, "participant_id": lease.participant_id}
    more = {"kind": kind or lease.kind, "reason": reason, "late": lease.ended_at is not None}
    return _append(connection, sent, content, {**about, "lease_id": lease.id, **more}, now=now)


def append_correction(
    connection: Connection,
    first: RowMapping,
    sent: SentAnswer,
    content: AnswerContent,
    *,
    lease_id: str | None,
    now: float,
) -> StoredAnswer:
    """Add an answer that corrects the ``first`` of somebody about something."""
    about = {name: first[name] for name in ("campaign_id", "pair_id", "participant_id")}
    more = {"lease_id": lease_id, "kind": "correction", "corrects": first["id"], "late": False}
    return _append(connection, sent, content, {**about, **more}, now=now)


def _append(
    connection: Connection, sent: SentAnswer, content: AnswerContent, values: dict[str, Any], *, now: float
) -> StoredAnswer:
    said = {"key": sent.key, "comment": sent.words, "grades": dict(content.grades), "heard": dict(content.heard)}
    row = {**values, **said, "took_ms": content.took_ms, "created_at": now}
    return StoredAnswer(append_answer(connection, row), again=False)


def append_answer(connection: Connection, values: dict[str, Any]) -> int:
    """Add a row with its digest; the only way into the table."""
    whole = {"corrects": None, "reason": None, "comment": None, **values}
    row = connection.execute(insert(t.answer).values(**whole, sha256=answer_digest(whole)).returning(t.answer.c.id))
    return int(row.scalar_one())


def hold_if_broken(connection: Connection, pair_id: int) -> None:
    """Keep a pair back once several people called it broken; the organiser can put it back."""
    people = select(func.count(distinct(t.answer.c.participant_id))).where(
        t.answer.c.pair_id == pair_id, t.answer.c.kind == "skip", t.answer.c.reason == "broken"
    )
    if connection.execute(people).scalar_one() >= BROKEN_AFTER:
        connection.execute(update(t.pair).where(t.pair.c.id == pair_id).values(held=True))
