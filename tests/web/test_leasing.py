"""Leases and answers, driven by a machine that does whatever assessors, clocks and networks might do."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import Connection, func, insert, select

from adjudge.web.errors import Conflict, NotFound
from adjudge.web.kinds.judging.assignment import (
    NewAnswer,
    NewCorrection,
    NewSkip,
    store_grades,
    store_other_grades,
    store_unable_to_grade,
)
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import current_grades, own_answers, repeats
from adjudge.web.kinds.lifecycle import change_settings
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.answers import answer_digest
from adjudge.web.store.campaigns import Campaign, campaign_by_id, in_use
from adjudge.web.store.database import Database, open_database
from adjudge.web.store.leases import Lease, expire, hold, lay_queue, let_go, release, renew

SECONDS = 100.0
_keys = itertools.count()


def make_campaign(
    connection: Connection, *, pairs: int = 6, people: int = 3, wanted: int = 1, state: str = "open", **values: object
) -> tuple[Campaign, list[int], list[int]]:
    """A campaign of text items in the tables: itself, the numbers of its pairs and those of its participants."""
    decided: JudgingSettings = JudgingSettings.parse(
        {"title": "Texts", "scales": [{"name": "fine", "maximum": 100}], **values}
    )
    row = {
        "name": "c",
        "kind": "judging",
        "state": state,
        "settings": decided.model_dump(mode="json"),
        "created_at": 0.0,
    }
    campaign_id = connection.execute(insert(schema.campaign).values(**row).returning(schema.campaign.c.id)).scalar_one()
    items = [_item(connection, campaign_id, f"d{number}") for number in range(pairs + 1)]
    pair_ids = []
    for number in range(pairs):
        pair = {"query": f"q{number % 2}", "document": f"d{number}", "query_item_id": items[-1]}
        counts = {"document_item_id": items[number], "wanted": wanted, "taken": 0, "answered": 0}
        statement = insert(schema.pair).values(campaign_id=campaign_id, **pair, **counts).returning(schema.pair.c.id)
        pair_ids.append(connection.execute(statement).scalar_one())
    lay_queue(connection, campaign_id, pair_ids)
    return (
        campaign_by_id(connection, campaign_id),
        pair_ids,
        [_person(connection, campaign_id, n) for n in range(people)],
    )


def _item(connection: Connection, campaign_id: int, name: str) -> int:
    values = {"role": "document", "identifier": name, "kind": "text", "address": name, "text": name, "facts": {}}
    statement = insert(schema.item).values(campaign_id=campaign_id, **values).returning(schema.item.c.id)
    return int(connection.execute(statement).scalar_one())


def _person(connection: Connection, campaign_id: int, number: int) -> int:
    values = {"code": f"A{number}", "nonce": "", "language": "en", "created_at": 0.0, "seen_at": 0.0}
    statement = insert(schema.participant).values(campaign_id=campaign_id, **values).returning(schema.participant.c.id)
    return int(connection.execute(statement).scalar_one())


def answered(lease_id: str, grade: float = 50.0, *, key: str | None = None) -> NewAnswer:
    return NewAnswer(key=key or f"key-{next(_keys):06}", lease=lease_id, grades={"fine": grade}, took_ms=1000)


def skipped(lease_id: str) -> NewSkip:
    return NewSkip(key=f"key-{next(_keys):06}", lease=lease_id, reason="broken", took_ms=1000)


def corrected(answer_id: int, grade: float) -> NewCorrection:
    return NewCorrection(key=f"key-{next(_keys):06}", answer=answer_id, grades={"fine": grade}, took_ms=1000)


def check_counts(connection: Connection) -> None:
    """The counters of pairs are what leases and answers say."""
    for pair in connection.execute(select(schema.pair)).mappings():
        people = select(func.count(schema.answer.c.participant_id.distinct())).where(
            schema.answer.c.pair_id == pair["id"], schema.answer.c.kind == "judgment"
        )
        leases = select(func.count()).where(
            schema.lease.c.pair_id == pair["id"], schema.lease.c.ended_at.is_(None), schema.lease.c.slot.is_not(None)
        )
        answered, held = connection.execute(people).scalar_one(), connection.execute(leases).scalar_one()
        assert (pair["answered"], pair["taken"]) == (answered, answered + held)


@contextmanager
def small_database() -> Iterator[Database]:
    with TemporaryDirectory() as folder:
        database = open_database(Settings(Path(folder)))
        try:
            yield database
        finally:
            database.close()


class Assessors(RuleBasedStateMachine):
    """Three people, one clock that may jump, six pairs that two people each should judge, one of five repeated."""

    @initialize()
    def begin(self) -> None:
        self._opened = small_database()
        self.database = self._opened.__enter__()
        self.now = 1000.0
        self.asked: dict[int, list[Lease]] = {}
        self.sent: list[tuple[int, Lease, NewAnswer, int]] = []
        self.answered: dict[tuple[int, int], float] = {}
        with self.database.write() as connection:
            self.campaign, self.pairs, self.people = make_campaign(connection, wanted=2, repeat_share=0.5)

    def teardown(self) -> None:
        if hasattr(self, "_opened"):
            self._opened.__exit__(None, None, None)

    @rule(who=st.integers(0, 2))
    def ask(self, who: int) -> None:
        with self.database.write() as connection:
            held = hold(connection, self.campaign, self.people[who], now=self.now, seconds=SECONDS)
        assert len({lease.pair_id for lease in held}) == len(held) <= 2
        for lease in held:
            known = (who, lease.pair_id) in self.answered
            assert known == (lease.kind == "repeat"), "a pair comes to the same person again only as a repeat"
            if lease.id not in {before.id for before in self.asked.get(who, [])}:
                self.asked.setdefault(who, []).append(lease)

    @rule(who=st.integers(0, 2), which=st.integers(0, 30), grade=st.integers(0, 100))
    def answer(self, who: int, which: int, grade: int) -> None:
        if not self.asked.get(who):
            return
        lease = self.asked[who][which % len(self.asked[who])]
        message = answered(lease.id, float(grade))
        twice = lease.kind == "judgment" and (who, lease.pair_id) in self.answered
        done = any(before.id == lease.id for _, before, _, _ in self.sent)
        with self.database.write() as connection:
            if twice or done:
                with pytest.raises(Conflict, match="already"):
                    self._store(connection, who, lease, message)
                return
            stored = self._store(connection, who, lease, message)
        self.sent.append((who, lease, message, stored))
        if lease.kind == "judgment":
            self.answered[who, lease.pair_id] = float(grade)

    def _store(self, connection: Connection, who: int, lease: Lease, message: NewAnswer) -> int:
        person = self.people[who]
        return store_grades(connection, self.campaign, person, message, now=self.now).answer_id

    @rule(which=st.integers(0, 30))
    def send_again(self, which: int) -> None:
        if not self.sent:
            return
        who, lease, message, number = self.sent[which % len(self.sent)]
        with self.database.write() as connection:
            assert self._store(connection, who, lease, message) == number

    @rule(which=st.integers(0, 30), grade=st.integers(0, 100))
    def correct(self, which: int, grade: int) -> None:
        if not self.sent:
            return
        who, lease, _, number = self.sent[which % len(self.sent)]
        with self.database.write() as connection:
            store_other_grades(
                connection, self.campaign, self.people[who], corrected(number, float(grade)), now=self.now
            )
        if lease.kind == "judgment":
            self.answered[who, lease.pair_id] = float(grade)

    @rule(who=st.integers(0, 2))
    def leave(self, who: int) -> None:
        with self.database.write() as connection:
            release(connection, self.people[who], now=self.now)

    @rule(who=st.integers(0, 2))
    def heartbeat(self, who: int) -> None:
        with self.database.write() as connection:
            for lease in renew(connection, self.campaign.id, self.people[who], now=self.now, seconds=SECONDS):
                assert lease.expires_at == self.now + SECONDS

    @rule(by=st.sampled_from((-500.0, 10.0, 90.0, 101.0, 5000.0)))
    def time_passes_or_jumps(self, by: float) -> None:
        self.now += by

    @invariant()
    def everything_adds_up(self) -> None:
        if not hasattr(self, "database"):
            return
        with self.database.read() as connection:
            check_counts(connection)
            said = {
                (self.people.index(_id_of(connection, grade.assessor)), grade.pair_id): grade.grades["fine"]
                for grade in current_grades(connection, self.campaign.id)
            }
            assert said == self.answered
            firsts = select(func.count()).where(schema.answer.c.kind.in_(("judgment", "repeat")))
            assert connection.execute(firsts).scalar_one() == len(self.sent)
            for row in connection.execute(select(schema.answer)).mappings():
                assert row["sha256"] == answer_digest(row)


def _id_of(connection: Connection, code: str) -> int:
    return int(
        connection.execute(select(schema.participant.c.id).where(schema.participant.c.code == code)).scalar_one()
    )


Assessors.TestCase.settings = settings(
    max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
test_nothing_that_assessors_do_breaks_the_books = Assessors.TestCase


def test_the_first_of_the_queue_comes_first_and_the_next_is_held_ahead(database: Database) -> None:
    with database.write() as connection:
        campaign, pairs, people = make_campaign(connection)
        lay_queue(connection, campaign.id, pairs[::-1])
        held = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
    assert [lease.pair_id for lease in held] == [pairs[-1], pairs[-2]]


def test_two_people_never_hold_the_same_pair_unless_two_are_wanted(database: Database) -> None:
    with database.write() as connection:
        campaign, pairs, people = make_campaign(connection, pairs=3)
        first, second = (hold(connection, campaign, person, now=0.0, seconds=SECONDS) for person in people[:2])
        third = hold(connection, campaign, people[2], now=0.0, seconds=SECONDS)
    assert {lease.pair_id for lease in (*first, *second)} == set(pairs)
    assert third == []


def test_what_ran_out_goes_to_somebody_else_and_a_late_answer_is_kept(database: Database) -> None:
    with database.write() as connection:
        campaign, pairs, people = make_campaign(connection, pairs=1)
        (early,) = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
        assert hold(connection, campaign, people[1], now=99.0, seconds=SECONDS) == []
        (taken,) = hold(connection, campaign, people[1], now=101.0, seconds=SECONDS)
        assert taken.pair_id == early.pair_id == pairs[0]
        store_grades(connection, campaign, people[0], answered(early.id, 10.0), now=102.0)
        store_grades(connection, campaign, people[1], answered(taken.id, 30.0), now=103.0)
        check_counts(connection)
        late = connection.execute(select(schema.answer.c.late).order_by(schema.answer.c.id)).scalars().all()
    assert late == [True, False]


def test_a_sign_of_life_keeps_what_nobody_took(database: Database) -> None:
    with database.write() as connection:
        campaign, _, people = make_campaign(connection, pairs=1)
        (held,) = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
        (kept,) = renew(connection, campaign.id, people[0], now=150.0, seconds=SECONDS)
        assert (kept.id, kept.expires_at) == (held.id, 250.0)
        assert expire(connection, campaign.id, now=249.0) == 0
        assert expire(connection, campaign.id, now=251.0) == 1


def test_who_leaves_a_page_has_some_seconds_to_load_it_again(database: Database) -> None:
    with database.write() as connection:
        campaign, _, people = make_campaign(connection, pairs=1)
        (held,) = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
        let_go(connection, people[0], now=10.0)
        assert hold(connection, campaign, people[1], now=29.0, seconds=SECONDS) == []
        (again,) = hold(connection, campaign, people[0], now=29.5, seconds=SECONDS)
        assert again.id == held.id
        let_go(connection, people[0], now=40.0)
        assert len(hold(connection, campaign, people[1], now=60.5, seconds=SECONDS)) == 1


def test_an_answer_to_a_question_of_somebody_else_is_refused(database: Database) -> None:
    with database.write() as connection:
        campaign, _, people = make_campaign(connection)
        held = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
    for lease_id in (held[0].id, "never-leased"):
        with pytest.raises(NotFound, match="never given to you"), database.write() as connection:
            store_grades(connection, campaign, people[1], answered(lease_id), now=1.0)
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(schema.answer)).scalar_one() == 0


@pytest.mark.parametrize("grade", [101.0, -1.0, 0.5])
def test_a_grade_off_the_scale_is_refused_and_the_question_stays(database: Database, grade: float) -> None:
    with database.write() as connection:
        campaign, _, people = make_campaign(connection)
        held = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
    with pytest.raises(ValueError, match=r"expected a grade from 0 to 100"), database.write() as connection:
        store_grades(connection, campaign, people[0], answered(held[0].id, grade), now=1.0)
    with database.write() as connection:
        assert hold(connection, campaign, people[0], now=2.0, seconds=SECONDS)[0].id == held[0].id


def test_a_key_means_one_answer(database: Database) -> None:
    with database.write() as connection:
        campaign, _, people = make_campaign(connection)
        held = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
        message = answered(held[0].id, 20.0, key="the-same-key")
        first = store_grades(connection, campaign, people[0], message, now=1.0)
        again = store_grades(connection, campaign, people[0], message, now=2.0)
    assert (again.answer_id, first.again, again.again) == (first.answer_id, False, True)
    with pytest.raises(Conflict, match="another answer"), database.write() as connection:
        store_grades(connection, campaign, people[0], message.model_copy(update={"lease": held[1].id}), now=3.0)


def test_a_skipped_pair_goes_to_somebody_else_and_is_held_once_two_call_it_broken(database: Database) -> None:
    with database.write() as connection:
        campaign, _, people = make_campaign(connection, pairs=1)
        for person in people[:2]:
            (held,) = hold(connection, campaign, person, now=0.0, seconds=SECONDS)
            store_unable_to_grade(connection, campaign, person, skipped(held.id), now=1.0)
            assert hold(connection, campaign, person, now=2.0, seconds=SECONDS) == []
        assert hold(connection, campaign, people[2], now=3.0, seconds=SECONDS) == []
        check_counts(connection)
        assert connection.execute(select(schema.pair.c.held)).scalar_one() is True


def test_a_paused_campaign_asks_nothing_new_but_takes_answers_to_what_it_asked(database: Database) -> None:
    with database.write() as connection:
        campaign, _, people = make_campaign(connection, pairs=4)
        held = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
        connection.execute(schema.campaign.update().values(state="paused"))
        paused = campaign_by_id(connection, campaign.id)
        store_grades(connection, paused, people[0], answered(held[0].id), now=1.0)
        assert [lease.id for lease in hold(connection, paused, people[0], now=2.0, seconds=SECONDS)] == [held[1].id]
        assert hold(connection, paused, people[1], now=2.0, seconds=SECONDS) == []


def test_repeats_are_planned_after_ten_questions_and_come_once(database: Database) -> None:
    asked = []
    with database.write() as connection:
        campaign, _, people = make_campaign(connection, pairs=60, repeat_share=0.5)
        for step in range(90):
            held = hold(connection, campaign, people[0], now=float(step), seconds=SECONDS, most=1)
            if not held:
                break
            asked.append((held[0].kind, held[0].pair_id))
            message = answered(held[0].id, float(step % 100))
            store_grades(connection, campaign, people[0], message, now=float(step))
        compared = repeats(connection, campaign.id, current_grades(connection, campaign.id))
    kinds = [kind for kind, _ in asked]
    again = [pair for kind, pair in asked if kind == "repeat"]
    assert "repeat" not in kinds[:10]
    assert 10 <= len(again) <= 50
    assert len(set(again)) == len(again)
    assert {pair for kind, pair in asked if kind == "judgment"} >= set(again)
    assert len(compared) == len(again)
    for kind, pair in asked:
        if kind == "repeat":
            assert asked.index(("repeat", pair)) - asked.index(("judgment", pair)) >= 10


def test_a_correction_stands_and_the_first_answer_stays_in_the_log(database: Database) -> None:
    with database.write() as connection:
        campaign, _, people = make_campaign(connection)
        held = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
        first = store_grades(connection, campaign, people[0], answered(held[0].id, 10.0), now=1.0)
        second = store_other_grades(connection, campaign, people[0], corrected(first.answer_id, 20.0), now=2.0)
        store_other_grades(connection, campaign, people[0], corrected(second.answer_id, 30.0), now=3.0)
        log = connection.execute(select(schema.answer.c.grades, schema.answer.c.corrects)).all()
        assert [row.grades["fine"] for row in log] == [10.0, 20.0, 30.0]
        assert [row.corrects for row in log] == [None, first.answer_id, first.answer_id]
        assert [grade.grades for grade in current_grades(connection, campaign.id)] == [{"fine": 30.0}]
        assert [own.grades for own in own_answers(connection, people[0], last=5)] == [{"fine": 30.0}]
        with pytest.raises(NotFound, match="no such answer of yours"):
            store_other_grades(connection, campaign, people[1], corrected(first.answer_id, 99.0), now=4.0)


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_settings_cannot_change_under_an_answer_that_is_on_its_way(database: Database) -> None:
    with database.write() as connection:
        campaign, _, people = make_campaign(connection, pairs=2)
        held = hold(connection, campaign, people[0], now=0.0, seconds=SECONDS)
    other = JudgingSettings.parse({"title": "Texts", "scales": [{"name": "other", "maximum": 1}]})
    begun, refused = threading.Event(), []

    def change() -> None:
        begun.set()
        try:
            with database.write() as connection:
                change_settings(connection, campaign, other, who="ann", now=2.0)
        except Conflict as error:
            refused.append(str(error))

    organiser = threading.Thread(target=change)
    with database.write() as connection:
        current = in_use(connection, campaign.id)
        organiser.start()
        begun.wait()
        store_grades(connection, current, people[0], answered(held[0].id, 30.0), now=1.0)
    organiser.join()
    assert len(refused) == 1
    assert "cannot be changed once there are answers" in refused[0]
