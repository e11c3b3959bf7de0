"""Answers about two lists: stored once, with everything that follows from them in the same transaction.

People choose between the lists on the two sides of their screen; what is stored is about lists a and b of the question.
Each answer may decide the quiz, show that somebody stopped listening, or be the last one wanted of them; then their
part ends with it. An answer that comes after that, or after its lease ended, is kept all the same, marked as late,
unless it is one more than a person may give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Connection, select

from adjudge.web.answering import (
    Given,
    Stored,
    append_answer,
    check_heard,
    check_not_answered,
    hold_if_broken,
    least_heard,
    own_lease,
    settle,
    stored_before,
    values_of,
)
from adjudge.web.aside import set_aside
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Conflict, Refused
from adjudge.web.invitations import Participant, locked_participant
from adjudge.web.leasing import Lease
from adjudge.web.pair_counts import lock_pairs
from adjudge.web.preference_leasing import part_of
from adjudge.web.preference_trust import settle_outcome, why_stop
from adjudge.web.schema import item, listed, pair

Choice = Literal["first", "second", "good", "bad"]
SKIP_REASONS = ("broken", "other")
_TWICE = "You compared these lists already; here is the next question."


@dataclass(frozen=True)
class Played:
    """Milliseconds of each clip that were really played: of the query, and by rank of the first and second list."""

    query_ms: int = 0
    first_ms: tuple[int, ...] = ()
    second_ms: tuple[int, ...] = ()


@dataclass(frozen=True)
class Chosen:
    """What somebody sends: the key of the answer, their choice (None for a skip), and how it came about."""

    key: str
    choice: Choice | None
    played: Played = Played()
    took_ms: int | None = None
    comment: str | None = None


def store_choice(
    connection: Connection, campaign: Campaign, participant_id: int, *, lease_id: str, chosen: Chosen, now: float
) -> Stored:
    """Keep an answer to a question or trap that was leased to this participant, and do what follows from it.

    Needs a campaign that is :func:`~adjudge.web.campaign_rows.in_use`, and no pair locked yet.
    """
    if chosen.choice is None or chosen.choice not in get_args(Choice):
        raise Refused(f"Expected a choice among {', '.join(get_args(Choice))}, got {chosen.choice!r}.")
    person = locked_participant(connection, participant_id)
    found = own_lease(connection, participant_id, lease_id)
    before = stored_before(connection, participant_id, chosen.key, lease_id=lease_id)
    if before is not None:
        return before
    check_not_answered(connection, found, twice=_TWICE)
    _check_cap(connection, campaign, person, found)
    _check_played(connection, campaign, found, chosen.played)
    late = found.ended_at is not None
    given = _given(found, chosen, {"choice": list_chosen(chosen.choice, swapped=bool(found.swapped))})
    values = values_of(found, given, grades=given.grades, kind=found.kind, late=late, now=now)
    stored = Stored(append_answer(connection, values), again=False)
    why, is_last = None, False
    if person.outcome is None and person.set_aside_at is None:
        why = why_stop(connection, campaign, person)
        is_last = part_of(connection, campaign, participant_id).answered >= campaign.preference.per_participant
    if why is not None or is_last:
        lock_pairs(connection, participant_id)
    counts = person.set_aside_at is None
    settle(connection, found, how="answered", taken=int(late and counts), answered=int(counts), now=now)
    if why is not None:
        set_aside(connection, person, why=why, who="campaign", now=now)
    elif is_last:
        settle_outcome(connection, campaign, participant_id, now=now)
    return stored


def store_unable(
    connection: Connection,
    campaign: Campaign,
    participant_id: int,
    *,
    lease_id: str,
    chosen: Chosen,
    reason: str,
    now: float,
) -> Stored:
    """Keep that a participant cannot answer a question, and why; it goes to somebody else."""
    if reason not in SKIP_REASONS:
        raise Refused(f"Expected a reason among {', '.join(SKIP_REASONS)}, got {reason!r}.")
    person = locked_participant(connection, participant_id)
    found = own_lease(connection, participant_id, lease_id)
    before = stored_before(connection, participant_id, chosen.key, lease_id=lease_id)
    if before is not None:
        return before
    check_not_answered(connection, found, twice=_TWICE)
    if found.kind == "trap":  # without it their quiz may end
        lock_pairs(connection, participant_id)
    late = found.ended_at is not None
    given = _given(found, chosen, {})
    values = values_of(found, given, grades={}, kind="skip", late=late, now=now) | {"reason": reason}
    stored = Stored(append_answer(connection, values), again=False)
    settle(connection, found, how="skipped", taken=0 if late else -1, answered=0, now=now)
    if reason == "broken":
        hold_if_broken(connection, found.pair_id)
    if found.kind == "trap" and person.outcome is None and person.set_aside_at is None:
        why = why_stop(connection, campaign, person)
        if why is not None:
            set_aside(connection, person, why=why, who="campaign", now=now)
    return stored


def list_chosen(choice: Choice, *, swapped: bool) -> str:
    """The choice between sides as one between lists: a, b, good or bad; list b stands first where they are swapped.

    >>> list_chosen("first", swapped=False), list_chosen("first", swapped=True), list_chosen("bad", swapped=True)
    ('a', 'b', 'bad')
    """
    if choice in ("good", "bad"):
        return choice
    return "a" if (choice == "first") != swapped else "b"


def _given(found: Lease, chosen: Chosen, grades: dict[str, str]) -> Given:
    """What is stored: times by list instead of by side, and which list stood first."""
    played, swapped = chosen.played, bool(found.swapped)
    a, b = (played.second_ms, played.first_ms) if swapped else (played.first_ms, played.second_ms)
    heard = {"query_ms": played.query_ms, "a_ms": list(a), "b_ms": list(b), "first": "b" if swapped else "a"}
    return Given(chosen.key, grades, heard, chosen.took_ms, chosen.comment)


def _check_cap(connection: Connection, campaign: Campaign, person: Participant, found: Lease) -> None:
    """Refuse more questions than one person may answer, which somebody gathered by handing them back unanswered."""
    if person.outcome != "done" or found.ended_at is None or found.kind == "trap":
        return
    most = campaign.preference.per_participant
    if part_of(connection, campaign, person.id).answered >= most:
        what = "question" if most == 1 else "questions"
        raise Conflict(f"You answered {most} {what} already, as many as one person may; thank you.")


def _check_played(connection: Connection, campaign: Campaign, found: Lease, played: Played) -> None:
    """Refuse what was not listened to: the query and every result of both lists, each time."""
    listen, lists = campaign.settings.listen_seconds, _clips(connection, found.pair_id)
    query = select(item.c.kind, item.c.seconds).join(pair, pair.c.query_item_id == item.c.id)
    row = connection.execute(query.where(pair.c.id == found.pair_id)).one()
    wanted = [("the query", least_heard(row.kind, row.seconds, listen), played.query_ms)]
    sides = ("b", "a") if found.swapped else ("a", "b")
    for side, times, which in zip(sides, (played.first_ms, played.second_ms), ("first", "second"), strict=True):
        clips = lists[side]
        if len(times) > len(clips):
            raise Refused(f"Expected times of the {len(clips)} results of the {which} list, got {len(times)}.")
        for rank, (kind, seconds) in enumerate(clips):
            got = times[rank] if rank < len(times) else 0
            wanted.append((f"result {rank + 1} of the {which} list", least_heard(kind, seconds, listen), got))
    for name, least, got in wanted:
        check_heard(name, least, got)


def _clips(connection: Connection, pair_id: int) -> dict[str, Sequence[tuple[Any, Any]]]:
    """Kind and length of what stands in each list, by rank."""
    query = select(listed.c.side, item.c.kind, item.c.seconds).join(item, item.c.id == listed.c.item_id)
    rows = connection.execute(query.where(listed.c.pair_id == pair_id).order_by(listed.c.rank)).all()
    return {side: [(row.kind, row.seconds) for row in rows if row.side == side] for side in "ab"}
