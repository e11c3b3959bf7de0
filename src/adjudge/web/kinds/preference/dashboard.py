"""The dashboard of a preference campaign: progress, cost, people, and the curves so far.

All of it is counting, except the trust in each person, which is assessed again when they have answered something, and
the curves, which are fitted again when enough has changed.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, select

from adjudge.io import plain
from adjudge.web.kinds.base import SECONDS, Costly, Moment, Observer, Snapshot
from adjudge.web.kinds.preference.assignment import trust_of
from adjudge.web.kinds.preference.curves import Work, cost_of, curves_so_far, people_needed
from adjudge.web.kinds.preference.export import study_of
from adjudge.web.kinds.preference.settings import settings_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, CampaignSettings
from adjudge.web.store.participants import ParticipantSummary, people_of
from adjudge.web.store.snapshots import Basis, as_reached, campaign_row, problems

if TYPE_CHECKING:
    from adjudge.preferences.trust import Trust

PAID = ("judgment", "trap", "repeat")
"""Kinds of answer that say which list is better."""
BAD_CHECK = 0.6
"""An attention check is bad if fewer of those who listen get it right, as a share."""
FEWEST = 4
"""Fewest people who were asked before an attention check is called bad."""


@dataclass(frozen=True)
class AnswerRow:
    """One answer; ``choice`` is empty where somebody could not answer."""

    id: int
    participant_id: int
    pair_id: int
    kind: str
    choice: str
    at: float
    took_ms: int | None


@dataclass(frozen=True)
class QuestionRow:
    """A question or attention check, and how far it is."""

    id: int
    name: str
    query: str
    role: str
    batch: int | None
    wanted: int
    answered: int
    held: bool
    expected: frozenset[str]

    @property
    def is_trap(self) -> bool:
        """Whether its answer is known."""
        return self.role == "trap"

    @property
    def left(self) -> int:
        """Answers that are still wanted."""
        return 0 if self.held or self.is_trap else max(0, self.wanted - self.answered)


@dataclass(frozen=True)
class PreferenceActivity:
    """Everything that people did, read at one moment."""

    people: tuple[ParticipantSummary, ...]
    answers: tuple[AnswerRow, ...]
    asked: tuple[QuestionRow, ...]

    @property
    def questions(self) -> list[QuestionRow]:
        """What is asked to learn from."""
        return [question for question in self.asked if not question.is_trap]

    @property
    def traps(self) -> list[QuestionRow]:
        """What is asked to see who listens."""
        return [question for question in self.asked if question.is_trap]


def watch_preferences(connection: Connection, campaign_id: int) -> PreferenceActivity:
    """Read what people did."""
    return PreferenceActivity(
        people_of(connection, campaign_id), _answers(connection, campaign_id), _asked(connection, campaign_id)
    )


def _answers(connection: Connection, campaign_id: int) -> tuple[AnswerRow, ...]:
    names = ("id", "participant_id", "pair_id", "kind", "grades", "created_at", "took_ms")
    query = select(*(t.answer.c[name] for name in names)).where(t.answer.c.campaign_id == campaign_id)
    return tuple(
        AnswerRow(number, who, pair_id, kind, (grades or {}).get("choice", ""), at, took)
        for number, who, pair_id, kind, grades, at, took in connection.execute(query.order_by(t.answer.c.id))
    )


def _asked(connection: Connection, campaign_id: int) -> tuple[QuestionRow, ...]:
    names = ("id", "document", "query", "role", "batch", "wanted", "answered", "held", "details")
    query = select(*(t.pair.c[name] for name in names)).where(t.pair.c.campaign_id == campaign_id).order_by(t.pair.c.id)
    return tuple(
        QuestionRow(
            row.id,
            row.document,
            row.query,
            row.role,
            row.batch,
            row.wanted,
            row.answered,
            row.held,
            frozenset((row.details or {}).get("expected", ())),
        )
        for row in connection.execute(query)
    )


@dataclass(frozen=True)
class AttentionCheckRecord:
    """How people answered an attention check.

    ``listened_right`` are right answers of the ``listened`` people who got at least half of the others right: one that
    these people miss is a bad one. Excluded people count here, or a bad one would hide itself.
    """

    question: QuestionRow
    asked: int
    right: int
    choices: Mapping[str, int]
    listened: int
    listened_right: int

    @property
    def share(self) -> float | None:
        """Share of right answers, None before anybody was asked."""
        return self.right / self.asked if self.asked else None

    @property
    def is_bad(self) -> bool:
        """Whether people who listen miss it too often."""
        return self.listened >= FEWEST and self.listened_right < BAD_CHECK * self.listened


def attention_check_records(seen: PreferenceActivity) -> list[AttentionCheckRecord]:
    """How people answered each attention check, bad ones first, then as they were given."""
    checks = {check.id: check for check in seen.traps}
    answered: dict[int, list[AnswerRow]] = defaultdict(list)
    by_person: dict[int, list[bool]] = defaultdict(list)
    for answer in seen.answers:
        if answer.pair_id in checks and answer.kind == "trap":
            answered[answer.pair_id].append(answer)
            by_person[answer.participant_id].append(answer.choice in checks[answer.pair_id].expected)
    records = [_record_of(check, answered[check.id], by_person) for check in checks.values()]
    return sorted(records, key=lambda record: not record.is_bad)


def _record_of(
    check: QuestionRow, answers: Sequence[AnswerRow], by_person: Mapping[int, Sequence[bool]]
) -> AttentionCheckRecord:
    right = [answer.choice in check.expected for answer in answers]
    listened = []
    for answer, was_right in zip(answers, right, strict=True):
        others = by_person[answer.participant_id]
        others_right = sum(others) - was_right
        if len(others) > 1 and 2 * others_right >= len(others) - 1:
            listened.append(was_right)
    choices = Counter(answer.choice for answer in answers)
    return AttentionCheckRecord(check, len(answers), sum(right), dict(choices), len(listened), sum(listened))


MOST_PEOPLE = 300
"""People who are listed: those who are there, then those who came last."""
MOST_BATCHES = 200
HOURS = 24
"""Hours of which the answers are counted one by one."""
_HOUR = 3600.0


@dataclass
class PreferenceObserver(Observer):
    """What a process remembers of a preference campaign between two snapshots."""

    curves: Costly = field(default_factory=Costly)
    trusts: dict[int, tuple[int, Trust]] = field(default_factory=dict)
    settings: CampaignSettings | None = None

    def look(self, connection: Connection, moment: Moment, *, is_unchanged: bool) -> Snapshot | None:
        """A new snapshot; None where the one that is stored holds. The queue was laid when the campaign opened."""
        happened = _happened(moment.basis)
        is_behind = self.curves.of not in (-1, happened) and self.curves.is_due(happened, slowly=True)
        if is_unchanged and not is_behind:
            return None
        campaign, content = make_snapshot(connection, moment, self)
        again_at = None if self.curves.of in (-1, happened) else time.monotonic() + SECONDS
        return Snapshot(campaign, moment.basis, content, again_at)


def _happened(made_from: Basis) -> int:
    """A number that changes with every answer, and with everything that decides which of them count."""
    return made_from.answers + made_from.last_event


def make_snapshot(connection: Connection, moment: Moment, known: PreferenceObserver) -> tuple[Campaign, dict[str, Any]]:
    """The campaign, whose goal may be reached, and its snapshot without a version; None where something is unknown."""
    campaign, basis, now = moment.campaign, moment.basis, moment.now
    if campaign.settings != known.settings:
        known.curves, known.trusts, known.settings = Costly(), {}, campaign.settings
    seen = watch_preferences(connection, campaign.id)
    curves = _curves(connection, campaign, seen, known, _happened(basis))
    done, reason = _is_done(seen)
    campaign = as_reached(campaign, done=done, now=now)
    people = _people(connection, campaign, seen, known, now=now)
    made = {
        "made_at": now,
        "made_from": asdict(basis),
        "kind": "preference",
        "campaign": campaign_row(campaign),
        "status": {**_status(seen), "done": done, "reason": reason},
        "batches": _batches(seen.questions),
        "cost": _cost(campaign, seen),
        "people": people[:MOST_PEOPLE],
        "outcomes": _outcomes(seen),
        "curves": curves,
        "traps": _bad_attention_checks(seen),
        "problems": problems(connection, campaign.id),
        "pace": _pace(seen, now=now),
        "projection": _projection(campaign, seen, now=now),
        "repeats": _repeats(seen),
        "notes": _notes(seen, len(people)),
    }
    values: dict[str, Any] = plain(made)
    return campaign, values


def first_snapshot(campaign: Campaign) -> dict[str, Any]:
    """A snapshot before anything is known, of version 0."""
    nothing = PreferenceActivity((), (), ())
    made: dict[str, Any] = {
        "version": 0,
        "made_at": None,
        "kind": "preference",
        "campaign": campaign_row(campaign),
        "status": {**_status(nothing), "done": False, "reason": "nothing is asked yet"},
        "batches": [],
        "cost": _cost(campaign, nothing),
        "people": [],
        "outcomes": _outcomes(nothing),
        "curves": [],
        "traps": [],
        "problems": [],
        "pace": {"per_hour": None, "hours": []},
        "projection": {"remaining": None, "participants_needed": None, "hours": None},
        "repeats": _repeats(nothing),
        "notes": [],
    }
    values: dict[str, Any] = plain(made)
    return values


def _is_done(seen: PreferenceActivity) -> tuple[bool, str]:
    """Whether every question has the answers that were wanted, and why or why not."""
    left = sum(question.left for question in seen.questions)
    if left:
        return False, f"{left:,} answer{'s are' if left > 1 else ' is'} still wanted"
    return bool(seen.questions), "every question has the answers that were wanted"


def _status(seen: PreferenceActivity) -> dict[str, Any]:
    """How far it is: answers that count, of those that are wanted; what is held back wants no more."""
    questions = seen.questions
    wanted = sum(question.answered if question.held else question.wanted for question in questions)
    answers = sum(question.answered for question in questions)
    there = sum(min(question.answered, question.wanted) for question in questions if not question.held)
    open_wanted = sum(question.wanted for question in questions if not question.held)
    excluded = {person.id for person in seen.people if not person.counts}
    return {
        "questions": len(questions),
        "questions_done": sum(question.left == 0 for question in questions),
        "held": sum(question.held for question in questions),
        "wanted_answers": wanted,
        "answers": answers,
        "trap_questions": len(seen.traps),
        "traps": sum(answer.kind == "trap" for answer in seen.answers),
        "set_aside_answers": sum(
            answer.kind == "judgment" and answer.participant_id in excluded for answer in seen.answers
        ),
        "complete": there / open_wanted if open_wanted else None,
        "batch": _batch(questions),
    }


def _batch(questions: Sequence[QuestionRow]) -> dict[str, Any]:
    """The batch that is asked now, from 0; how many there are, and how many are complete."""
    batches = {question.batch for question in questions if question.batch is not None}
    begun = {question.batch for question in questions if question.left and question.batch is not None}
    return {"current": min(begun, default=None), "of": len(batches), "complete": len(batches - begun)}


def _batches(questions: Sequence[QuestionRow]) -> list[dict[str, Any]]:
    """How far each batch is."""
    rows: dict[int, list[QuestionRow]] = defaultdict(list)
    for question in questions:
        if question.batch is not None:
            rows[question.batch].append(question)
    return [
        {
            "batch": batch,
            "questions": len(rows[batch]),
            "wanted": sum(row.wanted for row in rows[batch] if not row.held),
            "answers": sum(min(row.answered, row.wanted) for row in rows[batch] if not row.held),
        }
        for batch in sorted(rows)[:MOST_BATCHES]
    ]


def work_of(seen: PreferenceActivity) -> dict[int, Work]:
    """What each person did, by number."""
    answers: Counter[int] = Counter()
    counted: Counter[int] = Counter()
    for answer in seen.answers:
        answers[answer.participant_id] += answer.kind in PAID
        counted[answer.participant_id] += answer.kind == "judgment"
    return {
        person.id: Work(answers[person.id], counted[person.id] if person.counts else 0, person.outcome)
        for person in seen.people
    }


def _cost(campaign: Campaign, seen: PreferenceActivity) -> dict[str, Any] | None:
    people = list(work_of(seen).values())
    remaining = sum(question.left for question in seen.questions)
    cost = cost_of(
        settings_of(campaign), people, remaining=remaining, n_questions=len(seen.questions), n_traps=len(seen.traps)
    )
    return None if cost is None else asdict(cost)


def _outcomes(seen: PreferenceActivity) -> dict[str, int]:
    """How many people ended how; who never answered anything does not count as working."""
    active = {answer.participant_id for answer in seen.answers}
    ended = Counter(person.outcome or "working" for person in seen.people if person.outcome or person.id in active)
    return {name: ended[name] for name in ("done", "screened_out", "failed", "working")}


def _people(
    connection: Connection, campaign: Campaign, seen: PreferenceActivity, known: PreferenceObserver, *, now: float
) -> list[dict[str, Any]]:
    """A row for each person who answered or is there; those who are there first, then who came last."""
    by_person: dict[int, list[AnswerRow]] = defaultdict(list)
    for given in seen.answers:
        by_person[given.participant_id].append(given)
    chosen = [person for person in seen.people if by_person[person.id] or person.is_live(now)]
    chosen.sort(key=lambda person: (not person.is_live(now), -person.seen_at))
    rows = []
    for place, person in enumerate(chosen):
        trust = _trust(connection, campaign, person, len(by_person[person.id]), known) if place < MOST_PEOPLE else None
        rows.append({**_person(person, by_person[person.id], now=now), **trust_row(trust)})
    return rows


def _trust(
    connection: Connection, campaign: Campaign, person: ParticipantSummary, n: int, known: PreferenceObserver
) -> Trust | None:
    """Trust in somebody, computed again only when they answered something."""
    if not n:
        return None
    before = known.trusts.get(person.id)
    if before is None or before[0] != n:
        known.trusts[person.id] = before = (n, trust_of(connection, campaign, person.id))
    return before[1]


def trust_row(trust: Trust | None) -> dict[str, Any]:
    """What is known of somebody's attention; ``cues`` are the words of those that speak against it."""
    if trust is None:
        return {"traps_right": 0, "traps_asked": 0, "trust": None, "probability": None, "cues": []}
    return {
        "traps_right": trust.traps_right,
        "traps_asked": trust.traps_asked,
        "trust": trust.share if trust.traps_asked else None,
        "probability": trust.probability,
        "cues": [cue.evidence for cue in trust.cues if cue.factor < 1],
    }


def _person(person: ParticipantSummary, answers: Sequence[AnswerRow], *, now: float) -> dict[str, Any]:
    took = [answer.took_ms / 1000 for answer in answers if answer.took_ms is not None and answer.kind in PAID]
    return {
        "code": person.code,
        "name": person.name,
        "seen_at": person.seen_at,
        "state": person.state(now),
        "live": person.is_live(now),
        "outcome": person.outcome,
        "answers": sum(answer.kind == "judgment" for answer in answers),
        "skips": sum(answer.kind == "skip" for answer in answers),
        "median_seconds": float(np.median(took)) if took else None,
        "set_aside_why": None if person.counts else person.set_aside_why or "organiser",
    }


def _bad_attention_checks(seen: PreferenceActivity) -> list[dict[str, Any]]:
    """Attention checks that people miss who get most of the others right."""
    return [
        {
            "name": record.question.name,
            "query": record.question.query,
            "asked": record.listened,
            "right": record.listened_right,
        }
        for record in attention_check_records(seen)
        if record.is_bad
    ]


def _pace(seen: PreferenceActivity, *, now: float) -> dict[str, Any]:
    """Answers in the last hour, and in each of the last hours: those that count, and all others."""
    counts = {person.id for person in seen.people if person.counts}
    recent = [answer for answer in seen.answers if answer.kind in PAID and now - answer.at < HOURS * _HOUR]
    hours = [[0, 0] for _ in range(HOURS)]
    for answer in recent:
        ago = min(HOURS - 1, max(0, int((now - answer.at) // _HOUR)))
        hours[HOURS - 1 - ago][answer.kind != "judgment" or answer.participant_id not in counts] += 1
    return {"per_hour": hours[-1][0] if recent else None, "hours": hours if recent else []}


def _projection(campaign: Campaign, seen: PreferenceActivity, *, now: float) -> dict[str, Any]:
    """Answers that are still to give, about how many more people that takes, and hours as things go now."""
    remaining = sum(question.left for question in seen.questions)
    per_hour = _pace(seen, now=now)["per_hour"]
    needed = people_needed(
        settings_of(campaign),
        list(work_of(seen).values()),
        remaining=remaining,
        n_questions=len(seen.questions),
        n_traps=len(seen.traps),
    )
    return {
        "remaining": remaining,
        "participants_needed": needed,
        "hours": remaining / per_hour if per_hour and campaign.state == "open" else None,
    }


def _repeats(seen: PreferenceActivity) -> dict[str, int]:
    """Questions that somebody was asked again, and how often they said the same."""
    counts = {person.id for person in seen.people if person.counts}
    first = {
        (answer.participant_id, answer.pair_id): answer.choice for answer in seen.answers if answer.kind == "judgment"
    }
    again = [answer for answer in seen.answers if answer.kind == "repeat" and answer.participant_id in counts]
    same = sum(first.get((answer.participant_id, answer.pair_id)) == answer.choice for answer in again)
    return {"n": len(again), "same": same}


def _notes(seen: PreferenceActivity, n_people: int) -> list[str]:
    notes = []
    held = sum(question.held for question in seen.questions)
    if held:
        notes.append(f"{held:,} {'questions are' if held > 1 else 'question is'} held back and will not be asked.")
    if n_people > MOST_PEOPLE:
        notes.append(f"Of {n_people:,} people the {MOST_PEOPLE} who came last are listed; the People page has all.")
    return notes


def _curves(
    connection: Connection, campaign: Campaign, seen: PreferenceActivity, known: PreferenceObserver, happened: int
) -> list[dict[str, Any]]:
    """The curves, fitted again where that is due; as they were, or none, where it is not."""
    if not any(question.answered for question in seen.questions):
        return []
    if known.curves.is_due(happened, slowly=True):
        began = time.thread_time()
        value = curves_so_far(study_of(connection, campaign), settings_of(campaign).combinations)
        known.curves.keep(value, happened, began)
    curves: list[dict[str, Any]] = known.curves.value
    return curves
