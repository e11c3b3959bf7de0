"""Questions about two lists: how they are handed out, what the page shows, how answers are stored, and live trust.

A quiz of attention checks comes first, then questions, with attention checks mixed in. Nobody gets a question before
the quiz is decided, more questions than their campaign has for one person, or an attention check twice. Questions come
batch after batch; where the campaign pauses after each, nothing of the next batch is given out before it has paused.
Whether an attention check comes, which one, and which list stands first is drawn from the campaign's seed, the person
and the question: asked again, it is the same. So it is where somebody hands everything back and asks again: what is
drawn belongs to a place in their order, which is theirs until it is answered, or else the questions that come again
and again would tell themselves from attention checks.

Nothing tells an attention check from a question: they look alike, and progress counts both once the quiz is over. A
completion code is shown only when the part of its participant has an outcome: by then the server holds every answer.

Answers are stored once, with everything that follows from them in the same transaction. People choose between the lists
on the two sides of their screen; what is stored is about lists a and b of the question. After each answer the attention
checks and other signs of attention are held against the campaign's rules (:mod:`adjudge.preferences.trust`). Who is not
trusted is stopped, kindly: their part has an outcome, others get their questions, and their answers stay in the store
without counting (:mod:`adjudge.web.kinds.lifecycle`). Whom an organiser readmitted the rules do not stop again.

Each answer may decide the quiz, show that somebody stopped listening, or be the last one wanted of them; then their
part ends with it. An answer that comes after that, or after its lease ended, is kept all the same, marked as late,
unless it is one more than a person may give.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, Connection, bindparam, func, or_, select, update

from adjudge.preferences.questions import CHOICES
from adjudge.preferences.trust import AnswerFacts, Trust, TrustRules, assess, chance_of, side_of
from adjudge.web.api.body import Body, DeskCampaign, DeskParticipant, Heard, heard_from
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.lifecycle import TAKEN_BACK, change_participant, exclude_participant
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
from adjudge.web.store.campaigns import Campaign, locked, log_event
from adjudge.web.store.leases import (
    QUESTIONS,
    Lease,
    chance,
    expire,
    give,
    lease_of,
    lock_pairs,
    new_to,
    next_pair,
    release,
    renew,
    repeat_due,
    take_slot,
)
from adjudge.web.store.participants import Participant, locked_participant
from adjudge.web.store.recruiting import Outcome

_NEXT_QUESTION = next_pair(t.pair.c.batch == bindparam("batch"))


@dataclass(frozen=True)
class Part:
    """What somebody did so far, and holds. ``answered`` are questions; attention checks are counted apart.

    ``unasked`` are the attention checks they can still be asked, in an order of their own.
    """

    answered: int
    skipped: int
    checks: int
    in_hand: tuple[Lease, ...]
    begun: bool
    unasked: tuple[int, ...]
    quiz: int

    @property
    def questions_in_hand(self) -> int:
        """Questions that are theirs to answer now."""
        return sum(one.kind in QUESTIONS for one in self.in_hand)

    @property
    def checks_in_hand(self) -> int:
        """Attention checks that are theirs to answer now."""
        return len(self.in_hand) - self.questions_in_hand

    @property
    def in_quiz(self) -> bool:
        """Whether they must answer more attention checks before they get questions, and there are more."""
        is_short = self.checks < self.quiz and not self.begun
        return is_short and bool(self.unasked or self.in_hand)


def part_of(connection: Connection, campaign: Campaign, participant_id: int) -> Part:
    """How far somebody is."""
    mine = t.answer.c.participant_id == participant_id
    query = select(t.answer.c.kind, t.pair.c.role, func.count().label("n")).join(
        t.pair, t.pair.c.id == t.answer.c.pair_id
    )
    counts: Counter[tuple[str, str]] = Counter()
    for row in connection.execute(query.where(mine).group_by(t.answer.c.kind, t.pair.c.role)):
        counts[row.kind, row.role] = row.n
    given = (
        select(t.lease.c.id).where(t.lease.c.participant_id == participant_id, t.lease.c.kind.in_(QUESTIONS)).limit(1)
    )
    held = select(t.lease).where(t.lease.c.participant_id == participant_id, t.lease.c.ended_at.is_(None))
    return Part(
        answered=sum(counts[kind, "question"] for kind in QUESTIONS),
        skipped=counts["skip", "question"],
        checks=counts["trap", "trap"],
        in_hand=tuple(lease_of(row) for row in connection.execute(held.order_by(t.lease.c.number)).mappings()),
        begun=connection.execute(given).first() is not None,
        unasked=_unasked_checks(connection, campaign, participant_id),
        quiz=settings_of(campaign).quiz,
    )


def _unasked_checks(connection: Connection, campaign: Campaign, participant_id: int) -> tuple[int, ...]:
    """Attention checks that somebody neither holds nor answered nor skipped, in an order drawn for them."""
    checks = select(t.pair.c.id).where(
        t.pair.c.campaign_id == campaign.id, t.pair.c.role == "trap", ~t.pair.c.held, new_to(participant_id)
    )
    ids = connection.execute(checks).scalars().all()
    return tuple(sorted(ids, key=lambda pair_id: chance("trap", campaign.settings.seed, participant_id, pair_id)))


def hold_questions(
    connection: Connection, campaign: Campaign, participant_id: int, *, now: float, seconds: float, most: int = 2
) -> list[Lease]:
    """The questions in a participant's hands, renewed, and as many new ones as make ``most``; by place.

    New ones are given out while the campaign is open only, and none to whom it is done with. Needs a campaign that is
    :func:`~adjudge.web.store.campaigns.in_use`.
    """
    person = locked_participant(connection, participant_id)
    if person.outcome is not None or person.set_aside_at is not None:
        return []
    held = renew(connection, campaign.id, participant_id, now=now, seconds=seconds)
    if campaign.state != "open":
        return held
    expire(connection, campaign.id, now=now)
    while len(held) < most:
        new = _take(connection, campaign, participant_id, now=now, seconds=seconds)
        if new is None:
            break
        held.append(new)
    return sorted(held, key=lambda one: one.number)


def _take(
    connection: Connection, campaign: Campaign, participant_id: int, *, now: float, seconds: float
) -> Lease | None:
    """A new question or attention check for a participant, None where there is none for them now."""
    part, settled = part_of(connection, campaign, participant_id), settings_of(campaign)
    number = next(free_places(connection, participant_id))
    values: dict[str, Any] = {"number": number, "issued_at": now, "expires_at": now + seconds}

    def leased(pair_id: int, kind: str, slot: int | None = None) -> Lease:
        swapped = chance("side", settled.seed, participant_id, pair_id) < 0.5
        own = {"kind": kind, "slot": slot, "swapped": swapped}
        return give(connection, campaign.id, participant_id, pair_id, **own, **values)

    if part.in_quiz:  # the last one alone: what comes after it depends on it
        is_enough = not part.unasked or part.checks + part.checks_in_hand >= settled.quiz
        return None if is_enough else leased(part.unasked[0], "trap")
    if part.answered + part.questions_in_hand >= settled.per_participant:
        return None
    asked = {"campaign": campaign.id, "participant": participant_id, "batch": open_batch(connection, campaign)}
    free = connection.execute(_NEXT_QUESTION, asked).first()
    if free is None:
        return None
    if part.unasked and is_check_due(campaign, participant_id, number):
        return leased(part.unasked[0], "trap")
    again = repeat_due(connection, campaign, participant_id, number)
    if again is not None:
        return leased(again, "repeat")
    return leased(free.id, "judgment", take_slot(connection, free.id, wanted=free.wanted))


def free_places(connection: Connection, participant_id: int) -> Iterator[int]:
    """The places in somebody's order that nothing stands at, lowest first, without end.

    What they hold, answered or skipped stands at its place; what they gave back, or what ran out, at none.
    """
    stands = or_(t.lease.c.ended_at.is_(None), t.lease.c.ended_how.in_(("answered", "skipped")))
    query = select(t.lease.c.number).where(t.lease.c.participant_id == participant_id, stands)
    taken = set(connection.execute(query).scalars())
    return (place for place in count() if place not in taken)


def is_check_due(campaign: Campaign, participant_id: int, number: int) -> bool:
    """Whether what stands at a place of somebody's order is to be an attention check, once they passed the quiz."""
    share, seed = settings_of(campaign).trap_share, campaign.settings.seed
    return chance("trap due", seed, participant_id, number) < share


def is_anything_left(connection: Connection, campaign: Campaign, participant_id: int, *, for_now: bool = True) -> bool:
    """Whether there is a question that somebody could still be given.

    ``for_now`` says that what is in the hands of others is not: one that nobody has, of this batch, or of a later one
    where the campaign goes on to it by itself. Otherwise any that wants more answers is one.
    """
    wants = t.pair.c.taken < t.pair.c.wanted if for_now else t.pair.c.answered < t.pair.c.wanted
    conditions = [t.pair.c.campaign_id == campaign.id, *_is_asked(), wants, new_to(participant_id)]
    if for_now and settings_of(campaign).pause_after_batch:
        conditions.append(t.pair.c.batch == open_batch(connection, campaign))
    return connection.execute(select(t.pair.c.id).where(*conditions).limit(1)).first() is not None


def current_batch(connection: Connection, campaign_id: int) -> int | None:
    """The lowest batch that has a question which wants more answers; None where none has."""
    query = select(func.min(t.pair.c.batch)).where(
        t.pair.c.campaign_id == campaign_id, *_is_asked(), t.pair.c.answered < t.pair.c.wanted
    )
    found = connection.execute(query).scalar_one_or_none()
    return None if found is None else int(found)


def _is_asked() -> tuple[ColumnElement[bool], ...]:
    return (t.pair.c.role == "question", ~t.pair.c.held)


def open_batch(connection: Connection, campaign: Campaign) -> int | None:
    """The batch that questions are given out of; None where all are complete, or the campaign has to pause first."""
    batch = current_batch(connection, campaign.id)
    if not batch or not settings_of(campaign).pause_after_batch:
        return batch
    return batch if batch - 1 <= _paused_after(connection, campaign.id) else None


def _paused_after(connection: Connection, campaign_id: int) -> int:
    """The last batch after which a campaign has paused, -1 before it did."""
    ours = (t.event.c.campaign_id == campaign_id) & (t.event.c.what == "paused") & (t.event.c.who == "campaign")
    logged = connection.execute(select(t.event.c.details).where(ours)).scalars()
    return max((int(details.get("batch", -1)) for details in logged), default=-1)


def must_pause(connection: Connection, campaign: Campaign) -> bool:
    """Whether a batch is complete after which the campaign has not paused yet."""
    if campaign.state != "open" or not settings_of(campaign).pause_after_batch:
        return False
    return current_batch(connection, campaign.id) is not None and open_batch(connection, campaign) is None


def pause_after_batch(connection: Connection, campaign: Campaign, *, now: float) -> bool:
    """Pause a campaign whose batch is complete; whether it did.

    In a transaction of its own, as it waits for all answers that are on their way; until it is done nothing of the next
    batch is given out, so that nothing is lost where it fails.
    """
    there = locked(connection, campaign)
    if not must_pause(connection, there):
        return False
    batch = current_batch(connection, campaign.id)
    connection.execute(update(t.campaign).where(t.campaign.c.id == campaign.id).values(state="paused"))
    details = {"before": there.state, "batch": (batch or 0) - 1}
    log_event(connection, campaign.id, who="campaign", what="paused", details=details, now=now)
    return True


PreferenceWhy = Literal["closed", "paused", "draft", "nothing_left", "wait", "ended"]
_FORESEEN = 500
"""Questions whose attention checks are foreseen; for more of them the share is enough."""


class PreferenceQuestion(BaseModel):
    """A query and two lists, and the lease to answer with; ``number`` counts from 1."""

    lease: str
    expires_at: float
    number: int
    query: Heard
    first: list[Heard]
    second: list[Heard]


class PreferenceProgress(BaseModel):
    """How far one is: ``answered`` of about as many as there will be, after a quiz of ``quiz_of``."""

    answered: int
    of: int
    phase: Literal["quiz", "main"]
    quiz_answered: int
    quiz_of: int


class Completion(BaseModel):
    """How one's part ended, the code that proves it and the address to go back to."""

    outcome: Outcome
    code: str | None
    address: str | None


class PreferenceDesk(BaseModel):
    """Everything that the page needs; ``why`` says why there is no question."""

    campaign: DeskCampaign
    participant: DeskParticipant
    question: PreferenceQuestion | None
    next: PreferenceQuestion | None
    why: PreferenceWhy | None
    listen_seconds: float
    progress: PreferenceProgress
    outcome: Outcome | None
    completion: Completion | None


def make_preference_desk(
    connection: Connection, campaign: Campaign, participant: Participant, leases: Sequence[Lease]
) -> PreferenceDesk:
    """The assignment of a participant who holds these leases; ``participant`` as they are after what they did."""
    questions = make_preference_questions(connection, leases[:2])
    completion = completion_of(campaign, participant)
    return PreferenceDesk(
        campaign=DeskCampaign(name=campaign.name, title=campaign.settings.title, state=campaign.state),
        participant=DeskParticipant(code=participant.code, name=participant.name, language=participant.language),
        question=questions[0] if questions else None,
        next=questions[1] if len(questions) > 1 else None,
        why=None if questions else _why(connection, campaign, participant),
        listen_seconds=campaign.settings.listen_seconds,
        progress=_progress(connection, campaign, participant),
        outcome=None if completion is None else completion.outcome,
        completion=completion,
    )


def completion_of(campaign: Campaign, participant: Participant) -> Completion | None:
    """The way back to the recruiter, for those whose part ended."""
    if participant.outcome is None:
        return None
    recruiter = campaign.settings.recruited_by()
    outcome: Outcome = participant.outcome  # type: ignore[assignment]
    code, address = (None, None) if recruiter is None else recruiter.way_back(outcome, participant.recruited or {})
    return Completion(outcome=outcome, code=code, address=address)


def make_preference_questions(connection: Connection, leases: Sequence[Lease]) -> list[PreferenceQuestion]:
    """Leased questions and attention checks as they are shown."""
    pair_ids = [found.pair_id for found in leases]
    columns = (t.item.c.kind, t.item.c.address, t.item.c.text, t.item.c.seconds)
    queries = (
        select(t.pair.c.id, *columns)
        .join(t.item, t.item.c.id == t.pair.c.query_item_id)
        .where(t.pair.c.id.in_(pair_ids))
    )
    heard = {row[0]: heard_from(*row[1:]) for row in connection.execute(queries)}
    inside = (
        select(t.listed.c.pair_id, t.listed.c.side, *columns)
        .join(t.item, t.item.c.id == t.listed.c.item_id)
        .where(t.listed.c.pair_id.in_(pair_ids))
        .order_by(t.listed.c.pair_id, t.listed.c.side, t.listed.c.rank)
    )
    lists: dict[tuple[int, str], list[Heard]] = defaultdict(list)
    for row in connection.execute(inside):
        lists[row[0], row[1]].append(heard_from(*row[2:]))
    return [
        PreferenceQuestion(
            lease=found.id,
            expires_at=found.expires_at,
            number=found.number + 1,
            query=heard[found.pair_id],
            first=lists[found.pair_id, "b" if found.swapped else "a"],
            second=lists[found.pair_id, "a" if found.swapped else "b"],
        )
        for found in leases
    ]


def _progress(connection: Connection, campaign: Campaign, participant: Participant) -> PreferenceProgress:
    part = part_of(connection, campaign, participant.id)
    in_quiz, quiz_checks = part.in_quiz, _quiz_checks(connection, part, participant.id)
    to_come = 0 if participant.outcome else _to_come(connection, campaign, participant.id, part)
    answered = 0 if in_quiz else part.answered + max(0, part.checks - quiz_checks)
    return PreferenceProgress(
        answered=answered,
        of=answered + to_come,
        phase="quiz" if in_quiz else "main",
        quiz_answered=min(part.checks, part.quiz) if in_quiz else quiz_checks,
        quiz_of=part.quiz,
    )


def _quiz_checks(connection: Connection, part: Part, participant_id: int) -> int:
    """Attention checks answered before the first question was given out."""
    mine = t.lease.c.participant_id == participant_id
    first = select(func.min(t.lease.c.number)).where(mine, t.lease.c.kind != "trap").scalar_subquery()
    before = select(func.count()).where(
        mine, t.lease.c.kind == "trap", t.lease.c.ended_how == "answered", t.lease.c.number < first
    )
    return min(connection.execute(before).scalar_one() if part.begun else part.checks, part.quiz)


def _to_come(connection: Connection, campaign: Campaign, participant_id: int, part: Part) -> int:
    """Questions and attention checks that somebody has before them, as they are drawn; the same whatever comes next.

    Counted so, progress goes one step with each answer, and nobody learns from it what was an attention check.
    """
    asked = t.pair.c.campaign_id == campaign.id, t.pair.c.role == "question", ~t.pair.c.held
    there = connection.execute(select(func.count()).where(*asked)).scalar_one()
    questions = max(0, min(settings_of(campaign).per_participant, there) - part.answered)
    quiz_left = max(0, part.quiz - part.checks - part.checks_in_hand) if part.in_quiz else 0
    in_hand = () if part.in_quiz else part.in_hand
    total, questions = len(in_hand), questions - sum(one.kind != "trap" for one in in_hand)
    places, unasked = free_places(connection, participant_id), len(part.unasked) - quiz_left
    for place in islice(places, quiz_left, quiz_left + _FORESEEN):
        if questions <= 0:
            return total
        is_check = unasked > 0 and is_check_due(campaign, participant_id, place)
        total, unasked, questions = total + 1, unasked - is_check, questions - (not is_check)
    return total + questions


def _why(connection: Connection, campaign: Campaign, participant: Participant) -> PreferenceWhy:
    """Why somebody is asked nothing now."""
    if participant.outcome is not None or participant.set_aside_at is not None:
        return "ended"
    if campaign.state != "open":
        states: dict[str, PreferenceWhy] = {"draft": "draft", "paused": "paused"}
        return states.get(campaign.state, "closed")
    return "wait" if is_anything_left(connection, campaign, participant.id, for_now=False) else "nothing_left"


WHY = {"failed quiz": "quiz", "failed traps": "traps", "inattentive": "attention"}
"""Why somebody is excluded, by the verdict."""


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
    """Trust in somebody, from every answer they gave, also where those were excluded."""
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
    """Whether no attention check is left for an undecided quiz, because some were skipped; those were not right then.

    Attention checks that are held back by now, which others called broken too, do not count.
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
    if not part.answered + part.checks:
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
    """Keep an answer to a question or attention check that was leased to this participant, and do what follows from it.

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
    is_new_check = lease.kind == "trap" and not stored.again
    if is_new_check and person.outcome is None and person.set_aside_at is None:
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
