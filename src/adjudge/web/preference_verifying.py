"""Looking at preference campaigns with suspicion: lists without holes, answers and leases that fit them, outcomes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlalchemy import Connection, select

from adjudge.preferences.questions import CHOICES
from adjudge.web.preference_settings import OUTCOMES
from adjudge.web.schema import answer, campaign, lease, listed, pair, participant

_KINDS = {
    "question": ("judgment", "repeat"),
    "trap": ("trap",),
    "candidate": ("judgment", "repeat"),
    "ranking": ("judgment", "correction"),
}
_ASKED_IN = {"candidate": "judging", "question": "preference", "trap": "preference", "ranking": "ranking"}
_COMPARED = ("question", "trap")


def preference_checks(connection: Connection) -> tuple[Iterator[str], ...]:
    """What is wrong with questions, their leases and answers, and the people, one kind of fault after the other."""
    return _lists(connection), _sides(connection), _choices(connection), _people(connection)


def _lists(connection: Connection) -> Iterator[str]:
    """Whether each question and trap has both lists, without holes; whether a trap says what is right."""
    ranks: dict[tuple[int, str], list[int]] = defaultdict(list)
    for row in connection.execute(select(listed).order_by(listed.c.pair_id, listed.c.side, listed.c.rank)):
        ranks[row.pair_id, row.side].append(row.rank)
    columns = (pair.c.id, pair.c.document, pair.c.role, pair.c.details, pair.c.wanted, pair.c.document_item_id)
    query = select(*columns, campaign.c.name, campaign.c.kind).join(campaign, campaign.c.id == pair.c.campaign_id)
    for row in connection.execute(query.order_by(pair.c.id)):
        where = f"{row.name}: {row.role} {row.document!r}"
        if _ASKED_IN.get(row.role) != row.kind:
            yield f"{where} does not belong into a {row.kind} campaign"
        if row.role not in _COMPARED:
            is_one = row.document_item_id is not None
            if is_one != (row.role == "candidate") or (row.id, "a") in ranks or (row.id, "b") in ranks:
                yield f"{where}: expected {'one document, not lists' if row.role == 'candidate' else 'candidates only'}"
            continue
        for side in "ab":
            there = ranks.get((row.id, side), [])
            if there != list(range(1, len(there) + 1)) or not there:
                yield f"{where}: expected list {side} to have ranks 1, 2, …, got {there or 'none'}"
        expected = (row.details or {}).get("expected") or []
        if not set(expected) <= set(CHOICES) or bool(expected) != (row.role == "trap"):
            yield f"{where}: expected right answers of traps only, among {', '.join(CHOICES)}, got {expected}"
        if row.role == "trap" and row.wanted:
            yield f"{where}: is wanted {row.wanted} times; traps are never counted"


def _sides(connection: Connection) -> Iterator[str]:
    """Whether leases fit what they are about, and say which list stood first where there are lists."""
    query = select(lease.c.id, lease.c.kind, lease.c.slot, lease.c.swapped, pair.c.role)
    for row in connection.execute(query.join(pair, pair.c.id == lease.c.pair_id)):
        if (row.swapped is None) != (row.role not in _COMPARED):
            yield f"lease {row.id}: expected it to say which list stood first {_where(row.role)}"
        if row.kind not in _KINDS.get(row.role, ()):
            yield f"lease {row.id}: a {row.role} is leased as {row.kind}"
        if row.kind != "judgment" and row.slot is not None:
            yield f"lease {row.id}: a {row.kind} takes the place of an answer"


def _where(role: str) -> str:
    return "as lists are compared" if role in _COMPARED else "only where lists are compared"


def _choices(connection: Connection) -> Iterator[str]:
    """Whether answers about lists are possible ones, of the right kind, and name the list that stood first."""
    columns = (answer.c.id, answer.c.kind, answer.c.grades, answer.c.heard, pair.c.role, lease.c.swapped)
    query = select(*columns).join(pair, pair.c.id == answer.c.pair_id)
    query = query.outerjoin(lease, lease.c.id == answer.c.lease_id).where(pair.c.role.in_(_COMPARED))
    for row in connection.execute(query.order_by(answer.c.id)):
        if row.kind not in (*_KINDS[row.role], "skip"):
            yield f"answer {row.id}: a {row.role} is answered as {row.kind}"
        choice = (row.grades or {}).get("choice")
        if row.kind != "skip" and choice not in CHOICES:
            yield f"answer {row.id}: expected a choice among {', '.join(CHOICES)}, got {choice!r}"
        first = (row.heard or {}).get("first")
        if row.swapped is not None and first != ("b" if row.swapped else "a"):
            yield f"answer {row.id}: says that list {first} stood first, which its lease does not"


def _people(connection: Connection) -> Iterator[str]:
    """Whether ended parts are ended: with a time and a reason, and with nothing in hand."""
    in_hand = set(connection.execute(select(lease.c.participant_id).where(lease.c.ended_at.is_(None))).scalars())
    columns = ("id", "code", "outcome", "outcome_at", "set_aside_at", "set_aside_why", "erased_at", "recruited_as")
    query = select(*(participant.c[name] for name in columns), campaign.c.name)
    for row in connection.execute(query.join(campaign, campaign.c.id == participant.c.campaign_id)):
        where = f"{row.name}: participant {row.code}"
        if row.outcome not in (None, *OUTCOMES):
            yield f"{where}: expected an outcome among {', '.join(OUTCOMES)}, got {row.outcome!r}"
        if (row.outcome is None) != (row.outcome_at is None):
            yield f"{where}: an outcome and its time go together"
        if (row.set_aside_at is None) != (row.set_aside_why is None):
            yield f"{where}: being set aside and its reason go together"
        if row.erased_at is not None and row.recruited_as is not None:
            yield f"{where}: was erased, and is still known to the recruiter"
        if (row.outcome is not None or row.set_aside_at is not None) and row.id in in_hand:
            yield f"{where}: their part has ended, and something is in their hands"
