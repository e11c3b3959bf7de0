"""What people try who want the code without the work, or to know the traps; and requests that meet at a bad moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.exc import IntegrityError
from tests.web.preference_rows import PROLIFIC, Stage, pid

from adjudge.errors import AdjudgeError
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.lifecycle import change_settings, set_state
from adjudge.web.kinds.preference import store as preference_holdings
from adjudge.web.kinds.preference.assignment import PlayedTime, facts_of
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.settings import Settings
from adjudge.web.store import participants as invitations
from adjudge.web.store import schema
from adjudge.web.store.campaigns import in_use, locked, log_event
from adjudge.web.store.database import Database
from adjudge.web.store.leases import release
from adjudge.web.store.participants import block_participant, revoke_invitation
from adjudge.web.store.recruiting import Recruiter

on_postgresql = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)


@pytest.fixture
def stage(database: Database, settings: Settings) -> Stage:
    return Stage(database, settings)


def change(stage: Stage, **decided: Any) -> None:
    """Decide otherwise while people answer."""
    with stage.database.write() as connection:
        values = {**stage.campaign.settings.model_dump(mode="json"), **decided}
        change_settings(connection, stage.campaign, PreferenceSettings.parse(values), who="ann", now=stage.now)


def in_threads(*work: Callable[[], None]) -> list[BaseException]:
    """Run functions at once; what went wrong in them."""
    wrong: list[BaseException] = []

    def caught(one: Callable[[], None]) -> None:
        try:
            one()
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=caught, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads)
    return wrong


def test_who_hands_questions_back_and_asks_again_does_not_learn_which_are_traps(stage: Stage) -> None:
    stage.begin(n=30, traps=12, quiz=2, trap_share=0.4, per_participant=20)
    ana = stage.come()
    stage.work(ana, most=2)
    kinds = set()
    for _ in range(6):
        desk, seen = stage.desk(ana), set()
        for _ in range(5):
            with stage.database.write() as connection:
                release(connection, ana.id, now=stage.now)
            held = stage.hold(ana)
            seen.add(tuple((one.pair_id, one.kind, one.number) for one in held))
            assert stage.desk(ana).progress == desk.progress
        assert len(seen) == 1
        kinds |= {one.kind for one in held}
        stage.answer(ana)
    assert kinds == {"trap", "judgment"}
    assert stage.faults() == []


def test_a_lease_that_ran_out_leaves_its_place_to_the_one_that_comes_instead(stage: Stage) -> None:
    stage.begin(n=6, traps=0, quiz=0)
    ana = stage.come()
    first, second = stage.hold(ana)
    with stage.database.write() as connection:
        mine = schema.lease.c.id == first.id
        connection.execute(update(schema.lease).where(mine).values(ended_at=stage.now, ended_how="expired"))
        taken = schema.pair.c.taken - 1
        connection.execute(update(schema.pair).where(schema.pair.c.id == first.pair_id).values(taken=taken))
    again = stage.hold(ana)
    assert [(one.pair_id, one.number) for one in again] == [(first.pair_id, 0), (second.pair_id, 1)]
    assert stage.faults() == []


def test_who_gathers_questions_by_handing_them_back_does_not_get_past_the_cap(stage: Stage) -> None:
    stage.begin(n=12, traps=0, quiz=0, per_participant=2, recruiter=PROLIFIC)
    ana, gathered = stage.come(pid("ana")), []
    for number in range(3):
        gathered += stage.hold(ana)
        with stage.database.write() as connection:
            release(connection, ana.id, now=stage.now)
        stage.hold(stage.come(pid(f"other {number}")))  # has now what ana handed back: she gets something else
    assert len({one.pair_id for one in gathered}) == 6
    for lease in gathered[:2]:
        stage.choose(ana, lease, "good", key=f"key-of-{lease.id}")
    assert stage.person(ana).outcome == "done"
    for lease in gathered[2:]:
        with pytest.raises(Conflict, match="You answered 2 questions already, as many as one person may"):
            stage.choose(ana, lease, "good")
    assert stage.choose(ana, gathered[0], "good", key=f"key-of-{gathered[0].id}").again
    assert len(stage.all_of(schema.answer)) == 2
    assert stage.faults() == []


def test_who_answered_nothing_at_all_gets_no_code(stage: Stage) -> None:
    stage.begin(n=2, traps=0, quiz=0, recruiter=PROLIFIC)
    for who in ("puppet 1", "puppet 2"):  # they call everything broken: nothing is left for anybody
        puppet = stage.come(pid(who))
        while held := stage.hold(puppet):
            stage.skip(puppet, held[0])
    idle = stage.come(pid("idle"))
    assert (stage.desk(idle).outcome, stage.desk(idle).completion, stage.desk(idle).why) == (None, None, "nothing_left")


def test_a_longer_quiz_does_not_make_those_who_answered_questions_screened_out(stage: Stage) -> None:
    rules = {"quiz": 2, "quiz_bar": 0.9, "trap_share": 0.5, "trust_bar": 0.0, "attention_bar": 0.0}
    stage.begin(n=20, traps=10, recruiter=PROLIFIC, **rules)
    ana = stage.come(pid("ana"))
    while sum(one["kind"] == "judgment" for one in stage.all_of(schema.answer)) < 3:
        stage.answer(ana, right=len(stage.all_of(schema.answer)) < 2)
    change(stage, quiz=3)
    stage.work(ana, right=False)
    assert (stage.person(ana).set_aside_why, stage.person(ana).outcome) == ("quiz", "failed")
    assert stage.faults() == []


@pytest.mark.parametrize("said", [60_000, None])
def test_a_page_that_lies_about_time_is_held_against_the_clock_of_the_server(stage: Stage, said: int | None) -> None:
    rules = {"quiz": 0, "attention_bar": 0.02, "listen_seconds": 20.0, "per_participant": 40}
    stage.begin(n=40, traps=0, **rules)
    with stage.database.write() as connection:
        connection.execute(update(schema.item).values(kind="audio", seconds=30.0))
    quick, slow = stage.come(), stage.come()
    forged = PlayedTime(query_ms=20_000, first_ms=(20_000, 20_000), second_ms=(20_000, 20_000))
    for who, pause in ((quick, 0), (slow, 90)):
        for number in range(20):
            held = stage.hold(who)
            if not held:
                break
            stage.now += pause
            stage.choose(who, held[0], ("first", "good", "second", "bad", "second")[number % 5], heard=forged,
                         took_ms=said)  # fmt: skip
    with stage.database.read() as connection:
        facts = facts_of(connection, stage.campaign, quick.id)
    assert all(one.seconds is not None and one.seconds <= 4 for one in facts)
    assert (stage.person(quick).set_aside_why, stage.person(slow).set_aside_why) == ("attention", None)


def test_an_address_keeps_its_server_and_loses_what_did_not_come() -> None:
    panel = Recruiter(kind="other", parameters=("pid", "job"), codes={"done": "C 1"},
                      addresses={"done": "https://panel.example/end?c={code}&id={pid}&j={job}"})  # fmt: skip
    assert panel.way_back("done", {"pid": "{job}&x=/#"})[1] == (
        "https://panel.example/end?c=C%201&id=%7Bjob%7D%26x%3D%2F%23&j="
    )


@pytest.mark.parametrize(
    ("recruiter", "words"),
    [
        ({"addresses": {"done": "https://{pid}/end"}}, "expected an address whose server is written out"),
        ({"addresses": {"done": "https://panel.example@{pid}"}}, "expected an address whose server is written out"),
        ({"addresses": {"done": "https:///end?{pid}"}}, "expected an address whose server is written out"),
        ({"addresses": {"done": "https://a.example/\r\nSet-Cookie: x=y"}}, "without spaces and control characters"),
        ({"addresses": {"done": "javascript:alert(1)"}}, "expected an address that begins with https://"),
        ({"parameters": ["code"]}, "expected another name than 'code'"),
    ],
)
def test_a_way_back_that_the_writer_of_a_link_could_turn_is_refused(recruiter: dict[str, Any], words: str) -> None:
    values = {"kind": "other", "parameters": ["pid"], **recruiter}
    with pytest.raises(AdjudgeError, match=words):
        PreferenceSettings.parse({"title": "Demo", "recruiter": values})


def test_more_questions_than_a_server_takes_are_refused(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preference_holdings, "MOST_QUESTIONS", 5)
    with pytest.raises(Refused, match="Expected at most 5 questions, got 6"):
        Stage(database, settings).begin(n=5, traps=1, quiz=0)


def test_what_a_recruiter_told_is_in_no_message_about_the_database(stage: Stage) -> None:
    ana = stage.begin(recruiter=PROLIFIC).come(pid("ana's own number"))
    values = {"campaign_id": ana.campaign_id, "code": ana.code, "recruited": ana.recruited, "nonce": "n"}
    again = insert(schema.participant).values(**values, language="en", created_at=1.0, seen_at=1.0)
    with pytest.raises(IntegrityError, match="hidden") as error, stage.database.write() as connection:
        connection.execute(again)
    assert "own number" not in str(error.value)


@on_postgresql
@pytest.mark.parametrize("what", ["block", "revoke"])
def test_stopping_people_and_opening_a_campaign_at_once_do_not_wait_for_each_other(
    stage: Stage, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.begin(n=6, traps=0, quiz=0)
    ana = stage.come()
    stage.hold(ana)
    with stage.database.write() as connection:
        set_state(connection, stage.campaign, "paused", who="ann", now=stage.now)
    before, released = log_event, threading.Event()

    def slowly(*arguments: Any, **named: Any) -> None:
        released.set()  # ana's pairs are locked: now the other one comes
        time.sleep(0.5)
        before(*arguments, **named)

    monkeypatch.setattr(invitations, "log_event", slowly)

    def stop() -> None:
        with stage.database.write() as connection:
            if what == "block":
                block_participant(connection, ana, blocked=True, who="ann", now=stage.now)
            else:
                revoke_invitation(connection, stage.campaign, ana.invitation_id or 0, who="ann", now=stage.now)

    def reopen() -> None:
        released.wait(300)
        with stage.database.write() as connection:
            set_state(connection, stage.campaign, "open", who="ann", now=stage.now)

    assert in_threads(stop, reopen) == []
    assert stage.campaign.state == "open"
    assert stage.faults() == []


@on_postgresql
def test_who_wants_to_close_a_campaign_is_not_passed_by_all_who_answer(stage: Stage) -> None:
    campaign, order = stage.begin().campaign, list[str]()

    def happens(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 300
        while not condition():
            assert time.monotonic() < end, f"it did not happen: {order}"
            time.sleep(0.01)

    def n_waiting() -> int:
        asked = text(
            "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database "
            "WHERE NOT granted AND locktype = 'advisory' AND datname = current_database()"
        )
        with stage.database.read() as connection:
            return int(connection.execute(asked).scalar_one())

    def first() -> None:
        with stage.database.write() as connection:
            in_use(connection, campaign.id)
            order.append("begun")
            happens(lambda: n_waiting() == 2 or len(order) > 1)
            in_use(connection, campaign.id)  # who has it already does not wait again
            order.append("first")

    def closing() -> None:
        happens(lambda: order == ["begun"])
        with stage.database.write() as connection:
            locked(connection, campaign)
            order.append("closed")

    def second() -> None:
        happens(lambda: n_waiting() == 1)
        with stage.database.write() as connection:
            in_use(connection, campaign.id)
            order.append("second")

    wrong = in_threads(first, closing, second)
    assert (wrong, order) == ([], ["begun", "first", "closed", "second"])
