"""Live trust: whether somebody still listens, and how their part in a preference campaign ends.

After each answer the traps and other signs of attention are held against the campaign's rules
(:mod:`adjudge.preferences.trust`). Who is not trusted is stopped, kindly: their part has an outcome, others get their
questions, and their answers stay in the store without counting (``kinds.exclusion``). Whom an organiser took back
the rules do not stop again.

Answers about two lists: stored once, with everything that follows from them in the same transaction.

People choose between the lists on the two sides of their screen; what is stored is about lists a and b of the question.
Each answer may decide the quiz, show that somebody stopped listening, or be the last one wanted of them; then their
part ends with it. An answer that comes after that, or after its lease ended, is kept all the same, marked as late,
unless it is one more than a person may give.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import Connection, select

from adjudge.preferences.questions import CHOICES
from adjudge.preferences.trust import AnswerFacts, Trust, TrustRules, assess, chance_of, side_of
from adjudge.web.api.body import Body
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.exclusion import TAKEN_BACK, change_participant, exclude_participant
from adjudge.web.kinds.preference.assignment import Part, is_anything_left, part_of
from adjudge.web.kinds.preference.settings import settings_of
from adjudge.web.store import schema as t
from adjudge.web.store.answers import (
    AnswerContent,
    LeasedAnswer,
    Milliseconds,
    SentSkip,
    StoredAnswer,
    append_leased,
    begin_answer,
    check_heard,
    least_heard,
    own_lease,
    settle,
    store_skip,
)
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.leases import Lease, lock_pairs, release
from adjudge.web.store.participants import Participant, locked_participant

WHY = {"failed quiz": "quiz", "failed traps": "traps", "inattentive": "attention"}
"""Why somebody is set aside, by the verdict."""


def rules_of(campaign: Campaign) -> TrustRules:
    """The campaign's rules of trust."""
    settled = settings_of(campaign)
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


def facts_of(connection: Connection, campaign: Campaign, participant_id: int) -> list[AnswerFacts]:
    """Somebody's answers as trust is assessed from them, in the order in which they came."""
    rows = connection.execute(
        select(
            t.answer.c.pair_id,
            t.answer.c.kind,
            t.answer.c.grades,
            t.answer.c.took_ms,
            t.answer.c.created_at,
            t.lease.c.issued_at,
            t.lease.c.swapped,
            t.pair.c.details,
            t.item.c.kind.label("query_kind"),
            t.item.c.seconds.label("query_seconds"),
        )
        .join_from(t.answer, t.pair, t.pair.c.id == t.answer.c.pair_id)
        .join(t.item, t.item.c.id == t.pair.c.query_item_id)
        .outerjoin(t.lease, t.lease.c.id == t.answer.c.lease_id)
        .where(t.answer.c.participant_id == participant_id, t.answer.c.kind.in_(("judgment", "repeat", "trap")))
        .order_by(t.answer.c.id)
    ).all()
    lists = _lists(connection, participant_id)
    first: dict[int, str] = {}
    facts = []
    for row in rows:
        facts.append(_fact(row, lists[row.pair_id], first.get(row.pair_id), campaign.settings.listen_seconds))
        first.setdefault(row.pair_id, row.grades["choice"])
    return facts


def _lists(connection: Connection, participant_id: int) -> dict[int, list[Any]]:
    """What stands in the lists of everything that somebody answered, in order of rank."""
    answered = select(t.answer.c.pair_id).where(t.answer.c.participant_id == participant_id)
    query = (
        select(t.listed.c.pair_id, t.listed.c.side, t.listed.c.item_id, t.item.c.kind, t.item.c.seconds)
        .join(t.item, t.item.c.id == t.listed.c.item_id)
        .where(t.listed.c.pair_id.in_(answered))
        .order_by(t.listed.c.pair_id, t.listed.c.side, t.listed.c.rank)
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


def why_stop(connection: Connection, campaign: Campaign, person: Participant) -> str | None:
    """Why somebody should be stopped after their last answer: quiz, traps or attention; None where they go on."""
    trust = trust_of(connection, campaign, person.id)
    why = WHY.get(trust.verdict)
    if why is None and trust.traps_asked < settings_of(campaign).quiz:
        why = _ran_out(connection, campaign, person.id, trust)
    return None if why is None or _was_taken_back(connection, person) else why


def _ran_out(connection: Connection, campaign: Campaign, participant_id: int, trust: Trust) -> str | None:
    """Whether no trap is left for a quiz that is not decided, because they were skipped; then those were not right.

    Traps that are held back by now, which others called broken too, do not count.
    """
    part = part_of(connection, campaign, participant_id)
    if part.begun or part.unasked or part.in_hand:
        return None
    skips = select(t.answer.c.id).join(t.pair, t.pair.c.id == t.answer.c.pair_id)
    mine = (t.answer.c.participant_id == participant_id) & (t.answer.c.kind == "skip")
    skipped = len(connection.execute(skips.where(mine, t.pair.c.role == "trap", ~t.pair.c.held)).all())
    asked = trust.traps_asked + skipped
    return "quiz" if trust.traps_right < settings_of(campaign).quiz_bar * asked - 1e-9 else None


def _was_taken_back(connection: Connection, person: Participant) -> bool:
    ours = (t.event.c.campaign_id == person.campaign_id) & (t.event.c.what == TAKEN_BACK)
    logged = connection.execute(select(t.event.c.details).where(ours)).scalars()
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
    if part.answered < settings_of(campaign).per_participant and not _is_over(connection, campaign, person, part):
        return person
    if part.in_hand:
        lock_pairs(connection, participant_id)
        release(connection, participant_id, now=now)
    return change_participant(connection, person, {"outcome": "done", "outcome_at": now})


def _is_over(connection: Connection, campaign: Campaign, person: Participant, part: Part) -> bool:
    """Whether somebody whom a recruiter sent did all that there is for them."""
    if person.recruited is None or part.in_hand or part.skipped > part.answered:
        return False
    if not part.answered + part.traps:
        return False
    if campaign.state == "closed":
        return part.answered > 0
    if campaign.state != "open" or part.in_quiz:
        return False
    return not is_anything_left(connection, campaign, person.id)


Choice = Literal["first", "second", "good", "bad"]
Times = Annotated[tuple[Milliseconds, ...], Field(max_length=100)]
_TWICE = "You compared these lists already; here is the next question."


class PlayedTime(Body):
    """Milliseconds of each clip that were really played; of lists by rank."""

    query_ms: Milliseconds = 0
    first_ms: Times = ()
    second_ms: Times = ()


class _Timed(LeasedAnswer):
    heard: PlayedTime = PlayedTime()
    took_ms: Milliseconds | None = None

    def content(self, lease: Lease, grades: dict[str, str]) -> AnswerContent:
        """What is stored of it: times by list instead of by side, and which list stood first."""
        times, sides = self.heard, ("b", "a") if lease.swapped else ("a", "b")
        by_list = dict(zip(sides, (list(times.first_ms), list(times.second_ms)), strict=True))
        heard = {"query_ms": times.query_ms, "a_ms": by_list["a"], "b_ms": by_list["b"], "first": sides[0]}
        return AnswerContent(grades, heard, self.took_ms)


class NewChoice(_Timed):
    """Which of the two lists is better, as they stand on the page, or that both are good or bad."""

    choice: Choice


class NewPreferenceSkip(_Timed, SentSkip):
    """Why a question cannot be answered."""

    reason: Literal["broken", "other"]


def store_choice(
    connection: Connection, campaign: Campaign, participant_id: int, sent: NewChoice, *, now: float
) -> StoredAnswer:
    """Keep an answer to a question or trap that was leased to this participant, and do what follows from it.

    The answer is appended before its lease is settled: whether somebody's part ends with it follows from all their
    answers, and then all pairs that they hold are locked together. Needs a campaign that is
    :func:`~adjudge.web.store.campaigns.in_use`, and no pair locked yet.
    """
    person = locked_participant(connection, participant_id)
    lease, before = begin_answer(connection, participant_id, sent, twice=_TWICE)
    if before is not None:
        return before
    _check_cap(connection, campaign, person, lease)
    _check_played(connection, campaign, lease, sent.heard)
    content = sent.content(lease, {"choice": list_chosen(sent.choice, swapped=bool(lease.swapped))})
    stored = append_leased(connection, lease, sent, content, now=now)
    why, is_last = None, False
    if person.outcome is None and person.set_aside_at is None:
        why = why_stop(connection, campaign, person)
        is_last = part_of(connection, campaign, participant_id).answered >= settings_of(campaign).per_participant
    if why is not None or is_last:
        lock_pairs(connection, participant_id)
    counts = person.set_aside_at is None
    is_late = lease.ended_at is not None
    settle(connection, lease, how="answered", taken=int(is_late and counts), answered=int(counts), now=now)
    if why is not None:
        exclude_participant(connection, person, why=why, who="campaign", now=now)
    elif is_last:
        settle_outcome(connection, campaign, participant_id, now=now)
    return stored


def store_unable(
    connection: Connection, campaign: Campaign, participant_id: int, sent: NewPreferenceSkip, *, now: float
) -> StoredAnswer:
    """Keep that a participant cannot answer a question, and why; it goes to somebody else."""
    person = locked_participant(connection, participant_id)
    lease = own_lease(connection, participant_id, sent.lease)
    if lease.kind == "trap":  # without it their quiz may end
        lock_pairs(connection, participant_id)
    stored = store_skip(connection, participant_id, sent, sent.content(lease, {}), now=now, twice=_TWICE)
    is_new_trap = lease.kind == "trap" and not stored.again
    if is_new_trap and person.outcome is None and person.set_aside_at is None:
        why = why_stop(connection, campaign, person)
        if why is not None:
            exclude_participant(connection, person, why=why, who="campaign", now=now)
    return stored


def list_chosen(choice: Choice, *, swapped: bool) -> str:
    """The choice between sides as one between lists: a, b, good or bad; list b stands first where they are swapped.

    >>> list_chosen("first", swapped=False), list_chosen("first", swapped=True), list_chosen("bad", swapped=True)
    ('a', 'b', 'bad')
    """
    if choice in ("good", "bad"):
        return choice
    return "a" if (choice == "first") != swapped else "b"


def _check_cap(connection: Connection, campaign: Campaign, person: Participant, lease: Lease) -> None:
    """Refuse more questions than one person may answer, which somebody gathered by handing them back unanswered."""
    if person.outcome != "done" or lease.ended_at is None or lease.kind == "trap":
        return
    most = settings_of(campaign).per_participant
    if part_of(connection, campaign, person.id).answered >= most:
        what = "question" if most == 1 else "questions"
        raise Conflict(f"You answered {most} {what} already, as many as one person may; thank you.")


def _check_played(connection: Connection, campaign: Campaign, lease: Lease, heard: PlayedTime) -> None:
    """Refuse what was not listened to: the query and every result of both lists, each time."""
    listen, lists = campaign.settings.listen_seconds, _clips(connection, lease.pair_id)
    query = select(t.item.c.kind, t.item.c.seconds).join(t.pair, t.pair.c.query_item_id == t.item.c.id)
    row = connection.execute(query.where(t.pair.c.id == lease.pair_id)).one()
    wanted = [("the query", least_heard(row.kind, row.seconds, listen), heard.query_ms)]
    sides = ("b", "a") if lease.swapped else ("a", "b")
    for side, times, which in zip(sides, (heard.first_ms, heard.second_ms), ("first", "second"), strict=True):
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
    query = select(t.listed.c.side, t.item.c.kind, t.item.c.seconds).join(t.item, t.item.c.id == t.listed.c.item_id)
    rows = connection.execute(query.where(t.listed.c.pair_id == pair_id).order_by(t.listed.c.rank)).all()
    return {side: [(row.kind, row.seconds) for row in rows if row.side == side] for side in "ab"}
