"""The organiser's picture of a preference campaign: progress, cost, people, and the curves so far.

It is kept and sent as that of a judging campaign is. All of it is counting, but the trust in each person, which is
asked again when they answered something, and the curves, which are fitted again when enough has changed.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection

from adjudge.io import plain
from adjudge.web import monitoring
from adjudge.web.asking_settings import AskingSettings
from adjudge.web.campaign_rows import Campaign
from adjudge.web.costly import SECONDS, Costly
from adjudge.web.picturing import MadeFrom, as_reached, empty_picture
from adjudge.web.preference_costs import Work, cost_of, people_needed
from adjudge.web.preference_curves import curves_so_far
from adjudge.web.preference_exporting import study_of
from adjudge.web.preference_trust import trust_of
from adjudge.web.preference_watching import PAID, Asked, Given, Seen, traps_seen, watch_preferences
from adjudge.web.ranking_picturing import first_ranking_picture
from adjudge.web.seen_people import Someone

if TYPE_CHECKING:
    from adjudge.preferences.trust import Trust

MOST_PEOPLE = 300
"""People who are listed: those who are there, then those who came last."""
MOST_BATCHES = 200
HOURS = 24
"""Hours of which the answers are counted one by one."""
_HOUR = 3600.0


@dataclass
class KnownPreferences:
    """What a process remembers of a campaign between two pictures."""

    curves: Costly = field(default_factory=Costly)
    trusts: dict[int, tuple[int, Trust]] = field(default_factory=dict)
    settings: AskingSettings | None = None

    def is_behind(self, made_from: MadeFrom) -> bool:
        """Whether something happened that the curves do not know of, and they may be fitted again by now."""
        happened = _happened(made_from)
        return self.curves.of not in (-1, happened) and self.curves.is_due(happened, slowly=True)

    def look_again_at(self, made_from: MadeFrom) -> float | None:
        """When to look again although nothing may have changed by then: the curves are behind."""
        return None if self.curves.of in (-1, _happened(made_from)) else time.monotonic() + SECONDS


def _happened(made_from: MadeFrom) -> int:
    """A number that changes with every answer, and with everything that decides which of them count."""
    return made_from.answers + made_from.last_event


@dataclass(frozen=True)
class Pictured:
    """A campaign whose goal is or is not reached, and its picture."""

    campaign: Campaign
    content: dict[str, Any]


def picture_preferences(
    connection: Connection, found: Campaign, made_from: MadeFrom, known: KnownPreferences, *, now: float
) -> Pictured:
    """The picture without its version; plain values, None where something is unknown."""
    if found.settings != known.settings:
        known.curves, known.trusts, known.settings = Costly(), {}, found.settings
    seen = watch_preferences(connection, found.id)
    curves = _curves(connection, found, seen, known, _happened(made_from))
    done, reason = _is_done(seen)
    found = as_reached(found, done=done, now=now)
    people = _people(connection, found, seen, known, now=now)
    made = {
        "made_at": now,
        "made_from": asdict(made_from),
        "kind": "preference",
        "campaign": _campaign(found),
        "status": {**_status(seen), "done": done, "reason": reason},
        "batches": _batches(seen.questions),
        "cost": _cost(found, seen),
        "people": people[:MOST_PEOPLE],
        "outcomes": _outcomes(seen),
        "curves": curves,
        "traps": _bad_traps(seen),
        "problems": monitoring.problems(connection, found.id),
        "pace": _pace(seen, now=now),
        "projection": _projection(found, seen, now=now),
        "repeats": _repeats(seen),
        "notes": _notes(seen, len(people)),
    }
    values: dict[str, Any] = plain(made)
    return Pictured(found, values)


def first_picture(found: Campaign) -> dict[str, Any]:
    """A picture of a campaign of any kind before anything is known, of version 0."""
    make = {"preference": _empty, "ranking": first_ranking_picture}.get(found.kind, empty_picture)
    return make(found)


def _empty(found: Campaign) -> dict[str, Any]:
    nothing = Seen((), (), ())
    made: dict[str, Any] = {
        "version": 0,
        "made_at": None,
        "kind": "preference",
        "campaign": _campaign(found),
        "status": {**_status(nothing), "done": False, "reason": "nothing is asked yet"},
        "batches": [],
        "cost": _cost(found, nothing),
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


def _campaign(found: Campaign) -> dict[str, Any]:
    return {"name": found.name, "title": found.settings.title, "state": found.state, "reached_at": found.reached_at}


def _is_done(seen: Seen) -> tuple[bool, str]:
    """Whether every question has the answers that were wanted, and why or why not."""
    left = sum(one.left for one in seen.questions)
    if left:
        return False, f"{left:,} answer{'s are' if left > 1 else ' is'} still wanted"
    return bool(seen.questions), "every question has the answers that were wanted"


def _status(seen: Seen) -> dict[str, Any]:
    """How far it is: answers that count, of those that are wanted; what is held back wants no more."""
    questions = seen.questions
    wanted = sum(one.answered if one.held else one.wanted for one in questions)
    answers = sum(one.answered for one in questions)
    there = sum(min(one.answered, one.wanted) for one in questions if not one.held)
    open_wanted = sum(one.wanted for one in questions if not one.held)
    aside = {one.id for one in seen.people if not one.counts}
    return {
        "questions": len(questions),
        "questions_done": sum(one.left == 0 for one in questions),
        "held": sum(one.held for one in questions),
        "wanted_answers": wanted,
        "answers": answers,
        "trap_questions": len(seen.traps),
        "traps": sum(one.kind == "trap" for one in seen.answers),
        "set_aside_answers": sum(one.kind == "judgment" and one.participant_id in aside for one in seen.answers),
        "complete": there / open_wanted if open_wanted else None,
        "batch": _batch(questions),
    }


def _batch(questions: Sequence[Asked]) -> dict[str, Any]:
    """The batch that is asked now, from 0; how many there are, and how many are complete."""
    batches = {one.batch for one in questions if one.batch is not None}
    begun = {one.batch for one in questions if one.left and one.batch is not None}
    return {"current": min(begun, default=None), "of": len(batches), "complete": len(batches - begun)}


def _batches(questions: Sequence[Asked]) -> list[dict[str, Any]]:
    """How far each batch is."""
    rows: dict[int, list[Asked]] = defaultdict(list)
    for one in questions:
        if one.batch is not None:
            rows[one.batch].append(one)
    return [
        {
            "batch": batch,
            "questions": len(rows[batch]),
            "wanted": sum(one.wanted for one in rows[batch] if not one.held),
            "answers": sum(min(one.answered, one.wanted) for one in rows[batch] if not one.held),
        }
        for batch in sorted(rows)[:MOST_BATCHES]
    ]


def work_of(seen: Seen) -> dict[int, Work]:
    """What each person did, by number."""
    answers: Counter[int] = Counter()
    counted: Counter[int] = Counter()
    for one in seen.answers:
        answers[one.participant_id] += one.kind in PAID
        counted[one.participant_id] += one.kind == "judgment"
    return {one.id: Work(answers[one.id], counted[one.id] if one.counts else 0, one.outcome) for one in seen.people}


def _cost(found: Campaign, seen: Seen) -> dict[str, Any] | None:
    people = list(work_of(seen).values())
    remaining = sum(one.left for one in seen.questions)
    cost = cost_of(
        found.preference, people, remaining=remaining, n_questions=len(seen.questions), n_traps=len(seen.traps)
    )
    return None if cost is None else asdict(cost)


def _outcomes(seen: Seen) -> dict[str, int]:
    """How many people ended how; who never answered anything does not count as working."""
    active = {one.participant_id for one in seen.answers}
    ended = Counter(one.outcome or "working" for one in seen.people if one.outcome or one.id in active)
    return {name: ended[name] for name in ("done", "screened_out", "failed", "working")}


def _people(
    connection: Connection, found: Campaign, seen: Seen, known: KnownPreferences, *, now: float
) -> list[dict[str, Any]]:
    """A row for each person who answered or is there; those who are there first, then who came last."""
    by_person: dict[int, list[Given]] = defaultdict(list)
    for given in seen.answers:
        by_person[given.participant_id].append(given)
    chosen = [one for one in seen.people if by_person[one.id] or one.is_live(now)]
    chosen.sort(key=lambda one: (not one.is_live(now), -one.seen_at))
    rows = []
    for place, one in enumerate(chosen):
        trust = _trust(connection, found, one, len(by_person[one.id]), known) if place < MOST_PEOPLE else None
        rows.append({**_person(one, by_person[one.id], now=now), **trust_row(trust)})
    return rows


def _trust(connection: Connection, found: Campaign, person: Someone, n: int, known: KnownPreferences) -> Trust | None:
    """Trust in somebody, computed again only when they answered something."""
    if not n:
        return None
    before = known.trusts.get(person.id)
    if before is None or before[0] != n:
        known.trusts[person.id] = before = (n, trust_of(connection, found, person.id))
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


def _person(person: Someone, answers: Sequence[Given], *, now: float) -> dict[str, Any]:
    took = [one.took_ms / 1000 for one in answers if one.took_ms is not None and one.kind in PAID]
    return {
        "code": person.code,
        "name": person.name,
        "seen_at": person.seen_at,
        "state": person.state(now),
        "live": person.is_live(now),
        "outcome": person.outcome,
        "answers": sum(one.kind == "judgment" for one in answers),
        "skips": sum(one.kind == "skip" for one in answers),
        "median_seconds": float(np.median(took)) if took else None,
        "set_aside_why": None if person.counts else person.set_aside_why or "organiser",
    }


def _bad_traps(seen: Seen) -> list[dict[str, Any]]:
    """Traps that people miss who get most of the others right."""
    return [
        {"name": one.trap.name, "query": one.trap.query, "asked": one.listened, "right": one.listened_right}
        for one in traps_seen(seen)
        if one.is_bad
    ]


def _pace(seen: Seen, *, now: float) -> dict[str, Any]:
    """Answers in the last hour, and in each of the last hours: those that count, and all others."""
    counts = {one.id for one in seen.people if one.counts}
    recent = [one for one in seen.answers if one.kind in PAID and now - one.at < HOURS * _HOUR]
    hours = [[0, 0] for _ in range(HOURS)]
    for one in recent:
        ago = min(HOURS - 1, max(0, int((now - one.at) // _HOUR)))
        hours[HOURS - 1 - ago][one.kind != "judgment" or one.participant_id not in counts] += 1
    return {"per_hour": hours[-1][0] if recent else None, "hours": hours if recent else []}


def _projection(found: Campaign, seen: Seen, *, now: float) -> dict[str, Any]:
    """Answers that are still to give, about how many more people that takes, and hours as things go now."""
    remaining = sum(one.left for one in seen.questions)
    per_hour = _pace(seen, now=now)["per_hour"]
    needed = people_needed(
        found.preference,
        list(work_of(seen).values()),
        remaining=remaining,
        n_questions=len(seen.questions),
        n_traps=len(seen.traps),
    )
    return {
        "remaining": remaining,
        "participants_needed": needed,
        "hours": remaining / per_hour if per_hour and found.state == "open" else None,
    }


def _repeats(seen: Seen) -> dict[str, int]:
    """Questions that somebody was asked again, and how often they said the same."""
    counts = {one.id for one in seen.people if one.counts}
    first = {(one.participant_id, one.pair_id): one.choice for one in seen.answers if one.kind == "judgment"}
    again = [one for one in seen.answers if one.kind == "repeat" and one.participant_id in counts]
    same = sum(first.get((one.participant_id, one.pair_id)) == one.choice for one in again)
    return {"n": len(again), "same": same}


def _notes(seen: Seen, n_people: int) -> list[str]:
    notes = []
    held = sum(one.held for one in seen.questions)
    if held:
        notes.append(f"{held:,} {'questions are' if held > 1 else 'question is'} held back and will not be asked.")
    if n_people > MOST_PEOPLE:
        notes.append(f"Of {n_people:,} people the {MOST_PEOPLE} who came last are listed; the People page has all.")
    return notes


def _curves(
    connection: Connection, found: Campaign, seen: Seen, known: KnownPreferences, happened: int
) -> list[dict[str, Any]]:
    """The curves, fitted again where that is due; as they were, or none, where it is not."""
    if not any(one.answered for one in seen.questions):
        return []
    if known.curves.is_due(happened, slowly=True):
        began = time.thread_time()
        value = curves_so_far(study_of(connection, found), found.preference.combinations)
        known.curves.keep(value, happened, began)
    curves: list[dict[str, Any]] = known.curves.value
    return curves
