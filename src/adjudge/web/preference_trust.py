"""Live trust: whether somebody still listens, and how their part in a preference campaign ends.

After each answer the traps and other signs of attention are held against the campaign's rules
(:mod:`adjudge.preferences.trust`). Who is not trusted is stopped, kindly: their part has an outcome, others get their
questions, and their answers stay in the store without counting (:mod:`adjudge.web.aside`). Whom an organiser took back
the rules do not stop again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from adjudge.preferences.questions import CHOICES
from adjudge.preferences.trust import AnswerFacts, Trust, TrustRules, assess, chance_of, side_of
from adjudge.web.answering import least_heard
from adjudge.web.aside import TAKEN_BACK, change_participant
from adjudge.web.campaign_rows import Campaign
from adjudge.web.invitations import Participant, locked_participant
from adjudge.web.leasing import release
from adjudge.web.pair_counts import lock_pairs
from adjudge.web.preference_leasing import Part, is_anything_left, part_of
from adjudge.web.schema import answer, event, item, lease, listed, pair

WHY = {"failed quiz": "quiz", "failed traps": "traps", "inattentive": "attention"}
"""Why somebody is set aside, by the verdict."""


def rules_of(found: Campaign) -> TrustRules:
    """The campaign's rules of trust."""
    settled = found.preference
    return TrustRules(
        quiz=settled.quiz,
        quiz_bar=settled.quiz_bar,
        bar=settled.trust_bar,
        least=settled.least_traps,
        attention=settled.attention_bar,
        options=len(CHOICES),
    )


def trust_of(connection: Connection, campaign: Campaign, participant_id: int) -> Trust:
    """Trust in somebody, from every answer they gave, also where those were set aside."""
    return assess(facts_of(connection, campaign, participant_id), rules_of(campaign))


def facts_of(connection: Connection, found: Campaign, participant_id: int) -> list[AnswerFacts]:
    """Somebody's answers as trust is assessed from them, in the order in which they came."""
    rows = connection.execute(
        select(
            answer.c.pair_id,
            answer.c.kind,
            answer.c.grades,
            answer.c.took_ms,
            answer.c.created_at,
            lease.c.issued_at,
            lease.c.swapped,
            pair.c.details,
            item.c.kind.label("query_kind"),
            item.c.seconds.label("query_seconds"),
        )
        .join_from(answer, pair, pair.c.id == answer.c.pair_id)
        .join(item, item.c.id == pair.c.query_item_id)
        .outerjoin(lease, lease.c.id == answer.c.lease_id)
        .where(answer.c.participant_id == participant_id, answer.c.kind.in_(("judgment", "repeat", "trap")))
        .order_by(answer.c.id)
    ).all()
    lists = _lists(connection, participant_id)
    first: dict[int, str] = {}
    facts = []
    for row in rows:
        facts.append(_fact(row, lists[row.pair_id], first.get(row.pair_id), found.settings.listen_seconds))
        first.setdefault(row.pair_id, row.grades["choice"])
    return facts


def _lists(connection: Connection, participant_id: int) -> dict[int, list[Any]]:
    """What stands in the lists of everything that somebody answered, in order of rank."""
    answered = select(answer.c.pair_id).where(answer.c.participant_id == participant_id)
    query = (
        select(listed.c.pair_id, listed.c.side, listed.c.item_id, item.c.kind, item.c.seconds)
        .join(item, item.c.id == listed.c.item_id)
        .where(listed.c.pair_id.in_(answered))
        .order_by(listed.c.pair_id, listed.c.side, listed.c.rank)
    )
    found: dict[int, list[Any]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.pair_id].append(row)
    return found


def _fact(row: Any, lists: Sequence[Any], before: str | None, listen: float) -> AnswerFacts:
    choice, is_trap = row.grades["choice"], row.kind == "trap"
    expected = row.details["expected"]
    a, b = ([one.item_id for one in lists if one.side == side] for side in "ab")
    clips = [(row.query_kind, row.query_seconds), *((one.kind, one.seconds) for one in lists)]
    return AnswerFacts(
        is_trap,
        right=is_trap and choice in expected,
        choice=choice,
        side=side_of(choice, swapped=row.swapped),
        seconds=seconds_taken(row.took_ms, row.created_at, row.issued_at),
        least_seconds=sum(least_heard(kind, seconds, listen) for kind, seconds in clips),
        identical_lists=a == b,
        same=None if row.kind != "repeat" or before is None else choice == before,
        chance=chance_of(expected),
    )


def seconds_taken(took_ms: int | None, created_at: float, issued_at: float | None) -> float | None:
    """How long an answer took, as the page says, but never longer than somebody had the question.

    Pages can be made to say anything; when a question was given out and when its answer came is ours to know.
    """
    said = [] if took_ms is None else [took_ms / 1000]
    return min([*said, *([] if issued_at is None else [max(0.0, created_at - issued_at)])], default=None)


def why_stop(connection: Connection, found: Campaign, person: Participant) -> str | None:
    """Why somebody should be stopped after their last answer: quiz, traps or attention; None where they go on."""
    trust = trust_of(connection, found, person.id)
    why = WHY.get(trust.verdict)
    if why is None and trust.traps_asked < found.preference.quiz:
        why = _ran_out(connection, found, person.id, trust)
    return None if why is None or _was_taken_back(connection, person) else why


def _ran_out(connection: Connection, found: Campaign, participant_id: int, trust: Trust) -> str | None:
    """Whether no trap is left for a quiz that is not decided, because they were skipped; then those were not right.

    Traps that are held back by now, which others called broken too, do not count.
    """
    part = part_of(connection, found, participant_id)
    if part.begun or part.unasked or part.in_hand:
        return None
    skips = select(answer.c.id).join(pair, pair.c.id == answer.c.pair_id)
    mine = (answer.c.participant_id == participant_id) & (answer.c.kind == "skip")
    skipped = len(connection.execute(skips.where(mine, pair.c.role == "trap", ~pair.c.held)).all())
    asked = trust.traps_asked + skipped
    return "quiz" if trust.traps_right < found.preference.quiz_bar * asked - 1e-9 else None


def _was_taken_back(connection: Connection, person: Participant) -> bool:
    ours = (event.c.campaign_id == person.campaign_id) & (event.c.what == TAKEN_BACK)
    logged = connection.execute(select(event.c.details).where(ours)).scalars()
    return any(details.get("participant") == person.code for details in logged)


def settle_outcome(connection: Connection, campaign: Campaign, participant_id: int, *, now: float) -> Participant:
    """The participant, whose part is done from now on where it is.

    It is done when they answered as many questions as one person may. Whom a recruiter sent cannot be kept waiting:
    theirs is done also when nothing is left to ask them now and nothing is in their hands, unless they skipped more
    questions than they answered, or answered nothing at all.
    """
    person = locked_participant(connection, participant_id)
    if person.outcome is not None or person.set_aside_at is not None:
        return person
    part = part_of(connection, campaign, participant_id)
    if part.answered < campaign.preference.per_participant and not _is_over(connection, campaign, person, part):
        return person
    if part.in_hand:
        lock_pairs(connection, participant_id)
        release(connection, participant_id, now=now)
    return change_participant(connection, person, {"outcome": "done", "outcome_at": now})


def _is_over(connection: Connection, found: Campaign, person: Participant, part: Part) -> bool:
    """Whether somebody whom a recruiter sent did all that there is for them."""
    if person.recruited is None or part.in_hand or part.skipped > part.answered:
        return False
    if not part.answered + part.traps:
        return False
    if found.state == "closed":
        return part.answered > 0
    if found.state != "open" or part.in_quiz:
        return False
    return not is_anything_left(connection, found, person.id)
