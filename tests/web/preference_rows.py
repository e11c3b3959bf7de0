"""Preference campaigns of texts, without HTTP: questions, people who join, are asked and answer, answers as rows."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sqlalchemy import insert, select, update
from tests.web.preference_simulated import preference_texts
from tests.web.stages import CampaignStage

from adjudge.preferences.questions import CHOICES, Question, Questions
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.kinds.preference.assignment import (
    Choice,
    NewChoice,
    NewPreferenceSkip,
    PreferenceDesk,
    hold_questions,
    make_preference_desk,
    pause_after_batch,
    settle_outcome,
    store_choice,
    store_unable,
)
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.kinds.preference.store import put_questions
from adjudge.web.store import schema as t
from adjudge.web.store.answers import StoredAnswer, answer_digest
from adjudge.web.store.campaigns import Campaign, in_use
from adjudge.web.store.database import Database
from adjudge.web.store.items import put_items
from adjudge.web.store.leases import Lease
from adjudge.web.store.participants import Participant

DEPTH = 2


def some_questions(n: int = 6, traps: int = 2, *, queries: int = 2, seed: int = 0, depth: int = DEPTH) -> Questions:
    """Questions ``n1``, … about documents ``q1-1``, …, with Fine and Broad grades; then traps ``t1``, …

    Of a trap list a has grades of 100 and list b grades of 0, and ``a`` is expected.
    """
    rng = np.random.default_rng(seed)
    made, fine = [], []
    for number in range(n + traps):
        query, is_trap = f"q{number % queries + 1}", number >= n
        drawn = [f"{query}-{d + 1}" for d in rng.permutation(4 * depth)[: 2 * depth]]
        name = f"t{number - n + 1}" if is_trap else f"n{number + 1}"
        expected = frozenset("a") if is_trap else frozenset[str]()
        made.append(Question(name, query, tuple(drawn[:depth]), tuple(drawn[depth:]), expected))
        fine.append([[100.0] * depth, [0.0] * depth] if is_trap else rng.integers(0, 101, (2, depth)).tolist())
    grades = np.array(fine, dtype=np.float64)
    return Questions(tuple(made), {"fine": grades, "broad": np.digitize(grades, [33.5, 66.5]).astype(np.float64)})


def preference_draft(database: Database, name: str = "lists", **settings: Any) -> Campaign:
    """A campaign without questions."""
    values = {"title": "Which list is better?", "quiz": 2, "listen_seconds": 0, "seed": 0, **settings}
    with database.write() as connection:
        made = PreferenceSettings.parse(values)
        return create_campaign(connection, name=name, settings=made, organiser_id=None, now=10.0)


def preference_campaign(
    database: Database,
    name: str = "lists",
    *,
    questions: Questions | None = None,
    state: str = "open",
    **settings: Any,
) -> Campaign:
    """A campaign with questions and something to read for all of them."""
    found, asked = preference_draft(database, name, **settings), questions or some_questions()
    with database.write() as connection:
        put_questions(connection, found, asked, inputs=[("questions.csv", "1" * 64)], now=11.0)
        put_items(connection, found, preference_texts(asked))
        for step in {"draft": (), "open": ("open",)}.get(state, ("open", state)):
            found = set_state(connection, found, step, who="ann", now=12.0)
    return found


def store_people(database: Database, campaign: Campaign, codes: Sequence[str], **more: Any) -> dict[str, int]:
    """Participants by code; ``more`` are columns that all of them have."""
    values = {"campaign_id": campaign.id, "language": "en", "created_at": 20.0, "seen_at": 20.0, **more}
    with database.write() as connection:
        return {
            code: connection.execute(
                insert(t.participant)
                .values(**values, code=code, nonce=secrets.token_urlsafe(8))
                .returning(t.participant)
            ).scalar_one()
            for code in codes
        }


def store_answers(database: Database, campaign: Campaign, given: Sequence[tuple[int, str, str]], **more: Any) -> None:
    """Answers of (participant, question, choice) with leases, counters and digests as the server leaves them.

    The first of two lists is list b for every other answer. ``more`` are columns that all answers have.
    """
    with database.write() as connection:
        rows = connection.execute(
            select(t.pair.c.document, t.pair.c.id, t.pair.c.role).where(t.pair.c.campaign_id == campaign.id)
        ).all()
        known = {row.document: row for row in rows}
        leases, answers = [], []
        for number, (who, name, choice) in enumerate(given):
            row, swapped = known[name], bool(number % 2)
            kind = "trap" if row.role == "trap" else "judgment"
            own = {"id": secrets.token_urlsafe(12), "campaign_id": campaign.id, "pair_id": row.id}
            times = {"issued_at": 30.0 + number, "expires_at": 999.0, "ended_at": 31.0 + number}
            slot = 0 if kind == "judgment" else None
            leases.append({**own, **times, "participant_id": who, "kind": kind, "slot": slot, "number": number,
                           "swapped": swapped, "ended_how": "answered"})  # fmt: skip
            heard = {"query_ms": 1000, "a_ms": [500] * DEPTH, "b_ms": [750] * DEPTH, "first": "b" if swapped else "a"}
            values = {"campaign_id": campaign.id, "pair_id": row.id, "participant_id": who, "lease_id": own["id"],
                      "key": f"key-{number}-{own['id']}", "kind": kind, "corrects": None,
                      "grades": {"choice": choice}, "reason": None, "comment": None, "heard": heard, "took_ms": 9000,
                      "late": False, "created_at": 31.0 + number, **more}  # fmt: skip
            answers.append({**values, "sha256": answer_digest(values)})
            if kind == "judgment":
                counted = update(t.pair).where(t.pair.c.id == row.id)
                connection.execute(counted.values(answered=t.pair.c.answered + 1, taken=t.pair.c.taken + 1))
        connection.execute(insert(t.lease), leases)
        connection.execute(insert(t.answer), answers)


def answered_at_random(
    database: Database, campaign: Campaign, questions: Questions, *, people: int = 3, seed: int = 0
) -> list[tuple[str, str, str]]:
    """Everybody answers everything, traps rightly; what was stored as (code, question, choice)."""
    rng = np.random.default_rng(seed)
    ids = store_people(database, campaign, [f"p{number + 1}" for number in range(people)])
    said = []
    for code in ids:
        for one in questions.questions:
            choice = min(one.expected) if one.expected else CHOICES[rng.integers(len(CHOICES))]
            said.append((code, one.name, choice))
    store_answers(database, campaign, [(ids[code], name, choice) for code, name, choice in said])
    return said


SECONDS = 100.0
PROLIFIC = {"kind": "prolific", "codes": {"done": "DONE-1", "screened_out": "OUT-2", "failed": "FAIL-3"}}
_IN_TURN: tuple[Choice, ...] = ("good", "bad", "first", "second")
_keys = itertools.count()


def pid(who: str) -> dict[str, str]:
    """What Prolific puts into the link of somebody."""
    return {"PROLIFIC_PID": who, "STUDY_ID": "study", "SESSION_ID": f"session of {who}"}


class Stage(CampaignStage):
    """A campaign, and what people do in it: ``stage.work(person, right=True)``."""

    def begin(self, *, n: int = 6, traps: int = 4, **decided: Any) -> Stage:
        """Open a campaign whose traps are answered rightly by ``a``, and invite everybody."""
        questions = some_questions(n, traps)
        preference_campaign(self.database, self.name, questions=questions, **{"trap_share": 0.0, **decided})
        self.invite()
        return self

    def hold(self, who: Participant, *, most: int = 2) -> list[Lease]:
        """What is in somebody's hands, as their page asks for it."""
        self.now += 1
        with self.database.write() as connection:
            campaign = in_use(connection, who.campaign_id)
            held = hold_questions(connection, campaign, who.id, now=self.now, seconds=SECONDS, most=most)
            settle_outcome(connection, campaign, who.id, now=self.now)
        with self.database.write() as connection:
            pause_after_batch(connection, self.campaign, now=self.now)
        return held

    def desk(self, who: Participant) -> PreferenceDesk:
        """What their page shows."""
        held = self.hold(who)
        with self.database.read() as connection:
            return make_preference_desk(connection, self.campaign, self.person(who), held)

    def choose(self, who: Participant, lease: Lease, choice: Choice, *, key: str = "", **more: Any) -> StoredAnswer:
        """Answer a question."""
        self.now += 1
        with self.database.write() as connection:
            return self.choose_in(connection, who, lease, choice, key=key, **more)

    def choose_in(self, connection: Any, who: Participant, lease: Lease, choice: Choice, **more: Any) -> StoredAnswer:
        """Answer a question in a transaction that is under way."""
        key = more.pop("key", "") or f"key-{next(_keys):06}"
        sent = NewChoice(key=key, lease=lease.id, choice=choice, **{"took_ms": 60_000, **more})
        return store_choice(connection, in_use(connection, who.campaign_id), who.id, sent, now=self.now)

    def skip(self, who: Participant, lease: Lease, reason: Literal["broken", "other"] = "broken") -> StoredAnswer:
        """Say that a question cannot be answered."""
        self.now += 1
        with self.database.write() as connection:
            sent = NewPreferenceSkip(key=f"key-{next(_keys):06}", lease=lease.id, reason=reason)
            return store_unable(connection, in_use(connection, who.campaign_id), who.id, sent, now=self.now)

    def side(self, lease: Lease, of: str) -> Choice:
        """Where a list stands."""
        return "first" if (of == "b") == bool(lease.swapped) else "second"

    def answer(self, who: Participant, *, right: bool = True, choice: Choice = "good") -> Lease | None:
        """Answer the question in hand, traps rightly or wrongly; None where there is none."""
        held = self.hold(who)
        if not held:
            return None
        lease = held[0]
        trap: Choice = self.side(lease, "a" if right else "b")
        self.choose(who, lease, trap if lease.kind == "trap" else choice)
        return lease

    def work(self, who: Participant, *, right: bool = True, most: int = 1000) -> list[Lease]:
        """Answer until nothing comes any more, or so many; what was answered."""
        done: list[Lease] = []
        while len(done) < most:
            lease = self.answer(who, right=right, choice=_IN_TURN[len(done) % 4])
            if lease is None:
                break
            done.append(lease)
        self.hold(who)
        return done
