"""Who does not listen is stopped kindly: outcome, answers set aside, others get the questions; and the way back."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from tests.web.people_app import make_campaign
from tests.web.preference_rows import PROLIFIC, Stage, pid

from adjudge.web.errors import Conflict, Gone, Refused
from adjudge.web.kinds.lifecycle import exclude_participant, readmit_participant, set_state
from adjudge.web.kinds.preference.assignment import PlayedTime, facts_of, trust_of
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.campaigns import in_use
from adjudge.web.store.database import Database
from adjudge.web.store.erase import erase_participant
from adjudge.web.store.leases import Lease
from adjudge.web.store.participants import find_invitation, join, make_invitation

STRICT = {"quiz": 2, "quiz_bar": 0.5, "trap_share": 0.5, "trust_bar": 0.75, "least_traps": 4, "attention_bar": 0.0}


@pytest.fixture
def stage(database: Database, settings: Settings) -> Stage:
    return Stage(database, settings)


def counts(stage: Stage) -> dict[str, tuple[int, int]]:
    return {name: (row["taken"], row["answered"]) for name, row in stage.pairs().items()}


def fails_later(stage: Stage, who: Any) -> list[Any]:
    """Pass the quiz, answer questions, and miss every trap from then on."""
    answered: list[Any] = []
    while (lease := stage.answer(who, right=len(answered) < 2)) is not None:
        answered.append(lease)
    return answered


def test_who_fails_the_quiz_is_screened_out_and_was_given_nothing_real(stage: Stage) -> None:
    stage.begin(n=4, traps=6, quiz=4, quiz_bar=0.7, recruiter=PROLIFIC)
    ana = stage.come(pid("ana"))
    for number in range(4):
        desk = stage.desk(ana)
        assert (desk.outcome, desk.completion, desk.progress.phase) == (None, None, "quiz")
        assert desk.progress.quiz_answered == number
        stage.answer(ana, right=number < 2)
    desk = stage.desk(ana)
    assert (desk.question, desk.why, desk.outcome) == (None, "ended", "screened_out")
    assert desk.completion is not None
    assert desk.completion.code == "OUT-2"
    assert desk.completion.address == "https://app.prolific.com/submissions/complete?cc=OUT-2"
    assert {row["kind"] for row in stage.all_of(schema.lease)} == {"trap"}
    assert len(stage.all_of(schema.answer)) == 4  # set aside, not deleted
    assert stage.person(ana).set_aside_why == "quiz"
    assert stage.faults() == []


def test_who_misses_traps_later_fails_and_others_are_asked_their_questions(stage: Stage) -> None:
    stage.begin(n=6, traps=8, **STRICT, per_participant=6, recruiter=PROLIFIC)
    ana, bo = stage.come(pid("ana")), stage.come(pid("bo"))
    answered = fails_later(stage, ana)
    theirs = {lease.pair_id for lease in answered if lease.kind == "judgment"}
    assert theirs
    person = stage.person(ana)
    assert (person.outcome, person.set_aside_why) == ("failed", "traps")
    assert person.outcome_at == person.set_aside_at
    assert set(counts(stage).values()) == {(0, 0)}  # also what was held ahead is free again
    assert len(stage.all_of(schema.answer)) == len(answered)
    (logged,) = stage.events("set aside")
    assert (logged["who"], logged["details"]["participant"], logged["details"]["why"]) == ("campaign", "A1", "traps")
    completion = stage.desk(ana).completion
    assert completion is not None
    assert completion.code == "FAIL-3"
    asked = stage.work(bo)
    assert theirs <= {lease.pair_id for lease in asked}
    assert stage.person(bo).outcome == "done"
    assert stage.faults() == []


def test_inattention_stops_people_too(stage: Stage) -> None:
    stage.begin(n=30, traps=2, quiz=0, per_participant=30, attention_bar=0.3, listen_seconds=0)
    ana = stage.come()
    for _ in range(30):
        held = stage.hold(ana)
        if not held:
            break
        stage.choose(ana, held[0], "first")
    person = stage.person(ana)
    assert (person.outcome, person.set_aside_why) == ("failed", "attention")
    assert stage.faults() == []


@pytest.mark.parametrize("by", ["rules", "organiser"])
def test_an_answer_that_comes_after_the_stop_is_kept_and_does_not_count(stage: Stage, by: str) -> None:
    stage.begin(n=6, traps=8, **STRICT, per_participant=6)
    ana = stage.come()
    if by == "rules":
        fails_later(stage, ana)
    else:
        stage.work(ana, most=2)
        with stage.database.write() as connection:
            exclude_participant(connection, ana, why="organiser", who="o", now=stage.now)
    assert stage.person(ana).outcome == "failed"
    released = [row for row in stage.all_of(schema.lease) if row["ended_how"] == "released"]
    assert released  # what was in hand, or held ahead, when the stop came
    assert by == "rules" or "judgment" in {row["kind"] for row in released}
    before = counts(stage)
    for row in released:
        lease, key = Lease(**{name: row[name] for name in Lease.__dataclass_fields__}), f"after-{row['id']}"
        stored = stage.choose(ana, lease, "good", key=key)
        last = stage.all_of(schema.answer)[-1]
        assert (last["id"], last["late"], last["kind"]) == (stored.answer_id, True, row["kind"])
        assert stage.choose(ana, lease, "good", key=key).again
    assert counts(stage) == before
    assert stage.person(ana).outcome == "failed"
    assert stage.faults() == []


def test_all_answered_is_done_and_the_code_comes_only_then(stage: Stage) -> None:
    stage.begin(n=6, traps=2, quiz=1, per_participant=3, recruiter=PROLIFIC)
    ana = stage.come(pid("ana"))
    for _ in range(4):
        text = stage.desk(ana).model_dump_json()
        assert not any(code in text for code in PROLIFIC["codes"].values())  # type: ignore[attr-defined]
        stage.answer(ana)
    desk = stage.desk(ana)
    assert desk.completion is not None
    assert (desk.completion.outcome, desk.completion.code) == ("done", "DONE-1")
    assert (desk.progress.answered, desk.progress.of) == (3, 3)
    assert stage.person(ana).set_aside_at is None
    assert stage.faults() == []


def test_without_a_recruiter_nothing_left_is_rest_and_with_one_it_is_the_end(stage: Stage) -> None:
    stage.begin(n=2, traps=1, quiz=1, per_participant=5)
    ana = stage.come()
    stage.work(ana)
    assert (stage.desk(ana).why, stage.person(ana).outcome) == ("nothing_left", None)
    other = Stage(stage.database, stage.settings, "recruited").begin(
        n=2, traps=1, quiz=1, per_participant=5, recruiter=PROLIFIC
    )
    bo, cy = other.come(pid("bo")), other.come(pid("cy"))
    other.work(bo)
    assert other.person(bo).outcome == "done"
    other.answer(cy)  # the quiz; nothing is left after it
    assert other.desk(cy).outcome == "done"
    assert other.faults() == []


def test_recruited_people_who_skip_more_than_they_answer_are_not_done(stage: Stage) -> None:
    stage.begin(n=3, traps=0, quiz=0, per_participant=3, recruiter=PROLIFIC)
    ana = stage.come(pid("ana"))
    while held := stage.hold(ana):
        stage.skip(ana, held[0], "other")
    desk = stage.desk(ana)
    assert (desk.why, desk.completion) == ("nothing_left", None)


def test_recruited_people_in_the_middle_of_it_are_done_when_the_campaign_closes(stage: Stage) -> None:
    stage.begin(n=6, traps=0, quiz=0, per_participant=6, recruiter=PROLIFIC)
    ana, bo = stage.come(pid("ana")), stage.come(pid("bo"))
    stage.answer(ana)
    with stage.database.write() as connection:
        set_state(connection, stage.campaign, "closed", who="ann", now=stage.now)
    assert (stage.desk(bo).why, stage.person(bo).outcome) == ("closed", None)
    while stage.hold(ana):
        stage.answer(ana)  # what was in hand is still taken
    assert stage.desk(ana).outcome == "done"


def test_an_organiser_sets_aside_and_takes_back_and_the_books_follow(stage: Stage) -> None:
    stage.begin(n=6, traps=0, quiz=0, per_participant=6, judged_by=2)
    ana = stage.come()
    stage.work(ana, most=3)
    before = counts(stage)
    with stage.database.write() as connection:
        aside = exclude_participant(connection, ana, why="organiser", who="organiser 1", now=stage.now)
        assert exclude_participant(connection, ana, why="traps", who="organiser 1", now=stage.now) == aside
    assert (aside.outcome, aside.set_aside_why) == ("failed", "organiser")
    assert stage.desk(ana).why == "ended"
    assert set(counts(stage).values()) == {(0, 0)}
    assert stage.faults() == []
    with stage.database.write() as connection:
        back = readmit_participant(connection, aside, who="organiser 1", now=stage.now)
    assert (back.outcome, back.outcome_at, back.set_aside_at, back.set_aside_why) == (None, None, None, None)
    assert stage.faults() == []
    stage.hold(ana)
    assert counts(stage) == before
    assert len(stage.work(ana)) == 3
    assert stage.person(ana).outcome == "done"


def test_whom_an_organiser_took_back_the_rules_do_not_stop_again(stage: Stage) -> None:
    stage.begin(n=6, traps=8, **STRICT, per_participant=6)
    ana = stage.come()
    fails_later(stage, ana)
    with stage.database.write() as connection:
        readmit_participant(connection, stage.person(ana), who="organiser 1", now=stage.now)
    stage.work(ana, right=False)
    assert (stage.person(ana).outcome, stage.person(ana).set_aside_at) == ("done", None)
    assert sum(answered for _, answered in counts(stage).values()) == 6
    assert stage.faults() == []


def test_who_was_done_stays_done_when_set_aside_and_taken_back(stage: Stage) -> None:
    stage.begin(n=2, traps=0, quiz=0, per_participant=2)
    ana = stage.come()
    stage.work(ana)
    at = stage.person(ana).outcome_at
    with stage.database.write() as connection:
        assert exclude_participant(connection, ana, why="organiser", who="o", now=stage.now + 5).outcome == "done"
        back = readmit_participant(connection, ana, who="o", now=stage.now + 9)
    assert (back.outcome, back.outcome_at) == ("done", at)


def test_setting_aside_is_refused_where_it_means_nothing(stage: Stage) -> None:
    stage.begin(n=2, traps=0, quiz=0)
    ana = stage.come()
    with stage.database.write() as connection:
        with pytest.raises(Refused, match="a reason among quiz, traps, attention, organiser, got 'mood'"):
            exclude_participant(connection, ana, why="mood", who="o", now=1.0)
        erase_participant(connection, ana, how="anonymise", who="o", now=1.0)
        with pytest.raises(Gone, match="was erased"):
            exclude_participant(connection, ana, why="organiser", who="o", now=1.0)
    grades = make_campaign(stage.database, "grades")
    with stage.database.write() as connection:
        secret = stage.settings.secret
        link = make_invitation(connection, grades, secret=secret, now=1.0).token
        found = find_invitation(connection, link, secret=secret, now=1.0)
        judge, _ = join(connection, found, secret=secret, now=1.0)
        with pytest.raises(Conflict, match="sets nobody aside"):
            exclude_participant(connection, judge, why="organiser", who="o", now=1.0)


def test_trust_is_made_of_what_was_stored(stage: Stage) -> None:
    stage.begin(n=6, traps=4, quiz=2, quiz_bar=0.5, per_participant=4, listen_seconds=2.0)
    with stage.database.write() as connection:
        connection.execute(schema.item.update().values(kind="audio", seconds=30.0))
    ana = stage.come()
    for number in range(4):
        held = stage.hold(ana)
        choice = stage.side(held[0], "a" if number == 0 else "b")
        stage.now += 50
        stage.choose(
            ana,
            held[0],
            choice,
            heard=PlayedTime(query_ms=9000, first_ms=(9000, 9000), second_ms=(9000, 9000)),
            took_ms=45_000,
        )
    with stage.database.read() as connection:
        campaign = in_use(connection, stage.campaign.id)
        facts = facts_of(connection, campaign, ana.id)
        trust = trust_of(connection, campaign, ana.id)
        leases = connection.execute(select(schema.lease.c.swapped).order_by(schema.lease.c.number)).scalars().all()
    assert [one.is_trap for one in facts] == [True, True, False, False]
    assert [one.right for one in facts[:2]] == [True, False]
    assert [one.choice for one in facts] == ["a", "b", "b", "b"]
    sides = [{"a": "right", "b": "left"} if swapped else {"a": "left", "b": "right"} for swapped in leases]
    assert [one.side for one in facts] == [sides[n][one.choice] for n, one in enumerate(facts)]
    assert {(one.seconds, one.least_seconds) for one in facts} == {(45.0, 10.0)}  # the query and four results, 2 s each
    assert (trust.traps_asked, trust.traps_right, trust.n_answers) == (2, 1, 4)
