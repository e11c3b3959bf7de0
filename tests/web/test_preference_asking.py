"""Questions about two lists: who is asked what, what an answer changes, and that nothing acknowledged is lost."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import update
from tests.web.conftest import ON_SQLITE
from tests.web.preference_rows import PROLIFIC, SECONDS, Stage, pid, some_questions

from adjudge.web.errors import Conflict, NotFound, Refused
from adjudge.web.kinds.lifecycle import set_state
from adjudge.web.kinds.preference.assignment import Choice, PlayedTime, current_batch
from adjudge.web.kinds.preference.store import preference_checks
from adjudge.web.kinds.verify import _counters, _roles
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.database import Database
from adjudge.web.store.erase import erase_participant
from adjudge.web.store.leases import release


@pytest.fixture
def stage(database: Database, settings: Settings) -> Stage:
    return Stage(database, settings)


def names(stage: Stage, leases: list[Any]) -> list[str]:
    by_id = {row["id"]: name for name, row in stage.pairs().items()}
    return [by_id[one.pair_id] for one in leases]


def test_the_quiz_comes_first_and_nothing_real_is_given_out_before_it_is_decided(stage: Stage) -> None:
    stage.begin(quiz=3, per_participant=2)
    ana = stage.come()
    for expected in (2, 2, 1):  # the last trap of the quiz comes alone
        held = stage.hold(ana)
        assert [lease.kind for lease in held] == ["trap"] * expected
        assert len({lease.pair_id for lease in held}) == expected
        stage.choose(ana, held[0], stage.side(held[0], "a"))
    assert [lease.kind for lease in stage.hold(ana)] == ["judgment", "judgment"]
    assert all(row["taken"] == row["answered"] == 0 for name, row in stage.pairs().items() if name.startswith("t"))
    assert stage.faults() == []


def test_nobody_is_given_more_than_the_cap_also_ahead(stage: Stage) -> None:
    stage.begin(quiz=0, per_participant=3)
    ana = stage.come()
    sizes = []
    while held := stage.hold(ana):
        sizes.append(len(held))
        stage.choose(ana, held[0], "good")
    assert sizes == [2, 2, 1]
    assert stage.person(ana).outcome == "done"
    assert stage.desk(ana).why == "ended"


@ON_SQLITE
def test_traps_are_mixed_in_each_at_most_once_in_an_order_of_everybodys_own(stage: Stage) -> None:
    stage.begin(n=24, traps=10, quiz=2, trap_share=0.4, per_participant=12, judged_by=6)
    orders = []
    for _ in range(4):
        asked = stage.work(stage.come())
        kinds = Counter(lease.kind for lease in asked)
        traps = [name for name in names(stage, asked) if name.startswith("t")]
        assert kinds["judgment"] == 12
        assert len(set(traps)) == len(traps)
        assert [lease.kind for lease in asked[:2]] == ["trap", "trap"]
        orders.append(tuple(traps))
    assert len(set(orders)) == 4
    assert 4 * 2 + 8 <= sum(map(len, orders)) <= 4 * 10  # 0.4 of about 20 each, after a quiz of 2
    assert stage.faults() == []


def test_what_is_drawn_is_the_same_when_it_is_asked_again(stage: Stage) -> None:
    stage.begin(n=6, traps=6, quiz=1, trap_share=0.5, per_participant=6)
    ana = stage.come()
    before = stage.hold(ana)
    with stage.database.write() as connection:
        release(connection, ana.id, now=stage.now)
    after = stage.hold(ana)
    assert [(one.pair_id, one.swapped, one.kind) for one in before] == [
        (one.pair_id, one.swapped, one.kind) for one in after
    ]


@ON_SQLITE
def test_lists_stand_on_either_side_about_equally_often(stage: Stage) -> None:
    stage.begin(n=40, traps=0, quiz=0, per_participant=40, judged_by=4)
    sides = [bool(lease.swapped) for _ in range(4) for lease in stage.hold(stage.come(), most=40)]
    assert len(sides) == 160
    assert 55 <= sum(sides) <= 105  # 80 ± 4 standard deviations


@ON_SQLITE
@pytest.mark.parametrize("choice", ["first", "second", "good", "bad"])
def test_a_choice_between_sides_is_stored_as_one_between_lists(stage: Stage, choice: Choice) -> None:
    stage.begin(n=12, traps=0, quiz=0, per_participant=12)
    ana = stage.come()
    held = stage.hold(ana, most=12)
    shown = {True: ("b", "a"), False: ("a", "b")}
    seen = set()
    for lease in held:
        stage.choose(ana, lease, choice, heard=PlayedTime(query_ms=5, first_ms=(10, 11), second_ms=(20,)))
        row = stage.all_of(schema.answer)[-1]
        first, second = shown[bool(lease.swapped)]
        assert row["grades"] == {"choice": {"first": first, "second": second}.get(choice, choice)}
        assert row["heard"] == {"query_ms": 5, f"{first}_ms": [10, 11], f"{second}_ms": [20], "first": first}
        seen.add(lease.swapped)
    assert seen == {True, False}
    assert stage.faults() == []


def test_the_desk_shows_the_lists_as_the_lease_says(stage: Stage) -> None:
    stage.begin(n=12, traps=0, quiz=0, per_participant=12, judged_by=3)
    questions = {one.name: one for one in some_questions(12, 0).questions}
    texts = {(row["role"], row["identifier"]): row["text"] for row in stage.all_of(schema.item)}
    seen = set()
    for _ in range(3):
        ana = stage.come()
        desk, held = stage.desk(ana), stage.hold(ana)
        for shown, lease, name in zip((desk.question, desk.next), held, names(stage, held), strict=True):
            assert shown is not None
            first, second = questions[name].lists[:: -1 if lease.swapped else 1]
            assert [one.text for one in shown.first] == [texts["document", document] for document in first]
            assert [one.text for one in shown.second] == [texts["document", document] for document in second]
            assert shown.query.text == texts["query", questions[name].query]
            seen.add(lease.swapped)
    assert seen == {True, False}


@ON_SQLITE
def test_nothing_on_the_desk_tells_a_trap_from_a_question(stage: Stage) -> None:
    stage.begin(n=8, traps=8, quiz=2, trap_share=0.5, per_participant=8)
    ana = stage.come()
    shapes: dict[str, set[str]] = {"trap": set(), "judgment": set()}
    steps = []
    while held := stage.hold(ana):
        desk = stage.desk(ana)
        content = desk.model_dump()["question"]
        shapes[held[0].kind].add(repr(sorted((name, type(value).__name__) for name, value in content.items())))
        if desk.progress.phase == "main":
            steps.append((held[0].kind, desk.progress.answered, desk.progress.of))
        stage.choose(ana, held[0], stage.side(held[0], "a"))
    assert shapes["trap"] == shapes["judgment"]
    assert len(shapes["trap"]) == 1
    kinds, answered, of = zip(*steps, strict=True)
    assert set(kinds) == {"trap", "judgment"}
    assert answered == tuple(range(len(steps)))  # one step with each answer, whatever it was
    assert set(of) == {len(steps)}
    after = stage.desk(ana).progress
    assert (after.answered, after.of, after.phase) == (len(steps), len(steps), "main")


def test_batches_come_one_after_the_other(stage: Stage) -> None:
    stage.begin(n=6, traps=0, quiz=0, batch_size=2, per_participant=6)
    ana, bo = stage.come(), stage.come()
    first = stage.hold(ana)
    assert {stage.pairs()[name]["batch"] for name in names(stage, first)} == {0}
    assert stage.hold(bo) == []
    assert stage.desk(bo).why == "wait"
    for lease in first:
        stage.choose(ana, lease, "good")
    with stage.database.read() as connection:
        assert current_batch(connection, stage.campaign.id) == 1
    assert {stage.pairs()[name]["batch"] for name in names(stage, stage.hold(bo))} == {1}


def test_a_campaign_pauses_after_each_batch_but_the_last_and_asks_on_once_it_is_opened_again(stage: Stage) -> None:
    stage.begin(n=4, traps=0, quiz=0, batch_size=2, pause_after_batch=True, per_participant=4)
    ana = stage.come()
    assert [lease.kind for lease in stage.work(ana)] == ["judgment"] * 2
    assert stage.campaign.state == "paused"
    assert stage.desk(ana).why == "paused"
    (paused,) = stage.events("paused")
    assert (paused["who"], paused["details"]) == ("campaign", {"before": "open", "batch": 0})
    with stage.database.write() as connection:
        set_state(connection, stage.campaign, "open", who="ann", now=stage.now)
    assert len(stage.work(ana)) == 2
    assert stage.campaign.state == "open"
    assert stage.person(ana).outcome == "done"
    assert stage.faults() == []


def test_nothing_of_the_next_batch_is_given_out_before_the_pause_also_where_it_failed(stage: Stage) -> None:
    stage.begin(n=4, traps=0, quiz=0, batch_size=2, pause_after_batch=True, per_participant=4)
    ana = stage.come()
    for lease in stage.hold(ana):
        stage.choose(ana, lease, "good")  # and the server falls over before it pauses
    assert stage.campaign.state == "open"
    assert stage.hold(ana) == []
    assert stage.campaign.state == "paused"


def test_what_ran_out_goes_to_somebody_else_and_a_late_answer_is_kept(stage: Stage) -> None:
    stage.begin(n=1, traps=0, quiz=0, per_participant=5)
    ana, bo = stage.come(), stage.come()
    (early,) = stage.hold(ana)
    stage.now += SECONDS + 1
    (taken,) = stage.hold(bo)
    stage.choose(ana, early, "good")
    stage.choose(bo, taken, "bad")
    assert [(row["late"], row["grades"]["choice"]) for row in stage.all_of(schema.answer)] == [
        (True, "good"),
        (False, "bad"),
    ]
    assert stage.faults() == []


def test_a_trap_that_was_asked_again_is_not_answered_twice(stage: Stage) -> None:
    stage.begin(quiz=1, traps=1, per_participant=2)
    ana = stage.come()
    (early,) = stage.hold(ana)
    with stage.database.write() as connection:
        release(connection, ana.id, now=stage.now)
    (again,) = stage.hold(ana)
    assert again.pair_id == early.pair_id
    stage.choose(ana, early, stage.side(early, "a"))
    with pytest.raises(Conflict, match="already"):
        stage.choose(ana, again, stage.side(again, "b"))
    assert [lease.kind for lease in stage.hold(ana)] == ["judgment", "judgment"]
    assert stage.faults() == []


def test_a_key_means_one_answer_and_another_lease_is_refused(stage: Stage) -> None:
    stage.begin(quiz=0)
    ana, bo = stage.come(), stage.come()
    held = stage.hold(ana)
    first = stage.choose(ana, held[0], "good", key="the-same-key")
    again = stage.choose(ana, held[0], "good", key="the-same-key")
    assert (again.answer_id, first.again, again.again) == (first.answer_id, False, True)
    with pytest.raises(Conflict, match="another answer"):
        stage.choose(ana, held[1], "good", key="the-same-key")
    with pytest.raises(Conflict, match="already"):
        stage.choose(ana, held[0], "bad")
    with pytest.raises(NotFound, match="never given to you"):
        stage.choose(bo, held[1], "bad")
    with pytest.raises(ValidationError, match="'first', 'second', 'good' or 'bad'"):
        stage.choose(ana, held[1], "a")  # type: ignore[arg-type]
    assert len(stage.all_of(schema.answer)) == 1


def test_a_crash_before_the_end_stores_neither_the_answer_nor_what_follows_from_it(stage: Stage) -> None:
    stage.begin(quiz=2, traps=2)
    ana = stage.come()
    stage.answer(ana, right=False)
    (last,) = stage.hold(ana)
    with stage.database.engine.connect() as connection:
        begun = connection.begin()
        stage.choose_in(connection, ana, last, stage.side(last, "b"), key="the-last-one")
        begun.rollback()
    assert stage.person(ana).outcome is None
    assert len(stage.all_of(schema.answer)) == 1
    assert stage.faults() == []
    stage.choose(ana, last, stage.side(last, "b"), key="the-last-one")
    assert stage.person(ana).outcome == "screened_out"
    again = stage.choose(ana, last, stage.side(last, "b"), key="the-last-one")
    assert (again.again, len(stage.all_of(schema.answer))) == (True, 2)


def test_one_person_in_many_windows_answers_each_question_once_and_not_more_than_the_cap(stage: Stage) -> None:
    stage.begin(n=12, traps=4, quiz=2, trap_share=0.3, per_participant=6)
    ana = stage.come()

    def window(_: int) -> None:
        for _ in range(12):
            try:
                stage.answer(ana)
            except Conflict:
                continue

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(window, range(4)))
    answers = stage.all_of(schema.answer)
    assert sum(row["kind"] == "judgment" for row in answers) == 6
    assert len({row["pair_id"] for row in answers}) == len(answers)
    assert stage.person(ana).outcome == "done"
    assert stage.faults() == []


def test_many_people_at_once_some_of_whom_are_stopped_leave_the_books_in_order(stage: Stage) -> None:
    stage.begin(n=8, traps=6, quiz=2, quiz_bar=0.5, trap_share=0.4, trust_bar=0.6, least_traps=4, judged_by=3)
    people = [stage.come() for _ in range(6)]

    def take_part(number: int) -> None:
        for step in range(14):
            stage.answer(people[number], right=number % 2 == 0 or step < 2)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(take_part, range(6)))
    assert stage.faults() == []
    outcomes = {stage.person(one).outcome for one in people[1::2]}
    assert outcomes <= {"failed", "screened_out", None}
    for row in stage.pairs().values():
        assert row["answered"] <= max(row["wanted"], 0)


def test_every_clip_must_be_heard_and_the_refusal_names_the_one_that_was_not(stage: Stage) -> None:
    stage.begin(quiz=0, listen_seconds=3.0)
    with stage.database.write() as connection:
        connection.execute(update(schema.item).values(kind="audio", seconds=10.0))
        connection.execute(update(schema.item).where(schema.item.c.role == "query").values(seconds=1.0))
    ana = stage.come()
    lease = stage.hold(ana)[0]

    def answered(query: int, first: tuple[int, ...], second: tuple[int, ...]) -> None:
        stage.choose(ana, lease, "good", heard=PlayedTime(query_ms=query, first_ms=first, second_ms=second))

    for query, first, second, words in (
        (800, (3000, 3000), (3000, 3000), r"Listen to the query for at least 0\.9 s before you answer; it was 0\.8 s"),
        (900, (3000, 2900), (3000, 3000), r"result 2 of the first list for at least 3\.0 s .* it was 2\.9 s"),
        (900, (3000, 3000), (3000,), r"result 2 of the second list .* it was 0\.0 s"),
        (900, (3000, 3000, 1), (3000, 3000), r"Expected times of the 2 results of the first list, got 3"),
    ):
        with pytest.raises(Refused, match=words):
            answered(query, first, second)
    assert stage.all_of(schema.answer) == []
    answered(900, (3000, 3000), (2999, 3000))
    assert len(stage.all_of(schema.answer)) == 1


def test_a_skipped_question_goes_to_somebody_else_and_is_held_once_two_call_it_broken(stage: Stage) -> None:
    stage.begin(n=1, traps=0, quiz=0)
    for person in (stage.come(), stage.come()):
        (held,) = stage.hold(person)
        stage.skip(person, held)
        assert stage.hold(person) == []
        assert stage.desk(person).why == "nothing_left"
    assert stage.hold(stage.come()) == []
    assert stage.pairs()["n1"]["held"] is True
    assert stage.faults() == []


def test_who_skips_the_traps_does_not_get_past_the_quiz(stage: Stage) -> None:
    stage.begin(quiz=2, traps=3)
    ana = stage.come()
    stage.answer(ana)
    while held := stage.hold(ana):
        assert held[0].kind == "trap"
        stage.skip(ana, held[0], "other")
    assert stage.person(ana).outcome == "screened_out"
    assert stage.person(ana).set_aside_why == "quiz"
    assert stage.faults() == []


def test_a_trap_that_is_broken_for_all_keeps_nobody_from_the_questions(stage: Stage) -> None:
    stage.begin(quiz=1, traps=1)
    with stage.database.write() as connection:
        connection.execute(update(schema.pair).where(schema.pair.c.role == "trap").values(held=True))
    assert [lease.kind for lease in stage.hold(stage.come())] == ["judgment", "judgment"]


@ON_SQLITE
def test_repeats_count_as_questions_and_are_no_second_answer(stage: Stage) -> None:
    stage.begin(n=30, traps=0, quiz=0, repeat_share=0.5, per_participant=25, attention_bar=0.0)
    asked = stage.work(stage.come())
    kinds = Counter(lease.kind for lease in asked)
    assert kinds["repeat"] >= 2
    assert len(asked) == 25
    assert sum(row["answered"] for row in stage.pairs().values()) == kinds["judgment"]
    assert stage.faults() == []


@pytest.mark.parametrize("how", ["anonymise", "remove"])
def test_erasing_forgets_the_recruiters_data_and_the_books_stay_right(stage: Stage, how: str) -> None:
    stage.begin(n=6, traps=2, quiz=1, per_participant=4, recruiter=PROLIFIC)
    ana = stage.come(pid("ana-from-lima"))
    stage.work(ana, most=3)
    with stage.database.write() as connection:
        erase_participant(connection, stage.person(ana), how=how, who="participant", now=stage.now)
    (row,) = stage.all_of(schema.participant)
    assert (row["recruited"], row["recruited_as"]) == (None, None)
    assert "ana-from-lima" not in repr(stage.all_of(schema.participant)) + repr(stage.all_of(schema.event))
    assert sum(one["answered"] for one in stage.pairs().values()) == (2 if how == "anonymise" else 0)
    assert stage.faults() == []
    assert stage.come(pid("ana")).id != ana.id


def test_verifying_sees_what_does_not_fit(stage: Stage) -> None:
    stage.begin(n=4, traps=2, quiz=1, per_participant=3)
    ana = stage.come()
    stage.work(ana, most=2)
    assert stage.faults() == []
    pair, listed, lease, answer, person = (
        schema.pair, schema.listed, schema.lease, schema.answer, schema.participant
    )  # fmt: skip
    some = stage.pairs()["n1"]["id"]
    for change, words in (
        (
            listed.delete().where(listed.c.pair_id == some, listed.c.side == "b"),
            "list b to have ranks 1, 2, …, got none",
        ),
        (update(listed).where(listed.c.pair_id == some, listed.c.rank == 2).values(rank=3), r"got \[1, 3\]"),
        (update(lease).values(swapped=None), "which list stood first as lists are compared"),
        (update(lease).where(lease.c.kind == "trap").values(slot=1), "takes the place of an answer"),
        (update(pair).where(pair.c.role == "trap").values(wanted=1), "attention checks are never counted"),
        (update(pair).where(pair.c.role == "trap").values(answered=1), "is counted as answered 1"),
        (update(pair).where(pair.c.id == some).values(role="trap"), "expected right answers of checks only"),
        (update(answer).values(grades={"choice": "first"}), "expected a choice among a, b, good, bad, got 'first'"),
        (update(answer).where(answer.c.kind == "trap").values(kind="judgment"), "a trap is answered as judgment"),
        (update(lease).values(swapped=~lease.c.swapped), "stood first, which its lease does not"),
        (update(person).values(outcome="done"), "an outcome and its time go together"),
        (update(person).values(outcome="won", outcome_at=1.0), "expected an outcome among done, screened_out, failed"),
        (update(person).values(set_aside_at=1.0, set_aside_why="traps"), "is counted as answered 1 and taken 1 times"),
        (update(person).values(set_aside_why="traps"), "being excluded and its reason go together"),
        (update(person).values(outcome="done", outcome_at=1.0), "something is in their hands"),
        (update(person).values(erased_at=1.0, recruited_as="x"), "still known to the recruiter"),
    ):
        _spoilt(stage, change, words)


def _spoilt(stage: Stage, change: Any, words: str) -> None:
    """Make a change, look, and take it back."""
    with stage.database.engine.connect() as connection:
        begun = connection.begin()
        connection.execute(change)
        found = [
            line
            for check in (*preference_checks(connection), _counters(connection), _roles(connection))
            for line in check
        ]
        begun.rollback()
    assert any(re.search(words, line) for line in found), (words, found)
