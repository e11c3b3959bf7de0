"""The organiser's picture of a preference campaign: what is counted, what it costs, what is learnt, and how seldom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, func, select, update
from tests.web.conftest import ON_BOTH
from tests.web.organiser.visiting import Visitor
from tests.web.preference_rows import PROLIFIC, Stage, pid

from adjudge.preferences.study import Study
from adjudge.preferences.trust import Trust
from adjudge.web.kinds.lifecycle import exclude_participant, readmit_participant
from adjudge.web.kinds.preference import dashboard as preference_picturing
from adjudge.web.kinds.preference.assignment import trust_of
from adjudge.web.kinds.preference.curves import Work, cost_of, curves_so_far, earned, people_needed, typical_person
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.live import Estimating
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.snapshots import read_snapshot

PAY = {"currency": "GBP", "per_answer": 0.1, "per_participant": 1.0, "per_screened_out": 0.4, "fee_share": 0.5}


def picture_of(stage: Stage, estimating: Estimating | None = None) -> dict[str, Any]:
    (estimating or Estimating(stage.settings, stage.database)).refresh(stage.campaign.id)
    with stage.database.read() as connection:
        found = read_snapshot(connection, stage.campaign.id)
    assert found is not None
    return found


@ON_BOTH
def test_the_picture_counts_answers_people_and_batches(stage: Stage) -> None:
    stage.begin(n=6, traps=4, quiz=2, judged_by=2, batch_size=4, repeat_share=0.0)
    ann = stage.come()
    stage.work(ann)  # a quiz of two, then the four questions of the first batch
    cheat = stage.come()
    stage.work(cheat, right=False)
    picture = picture_of(stage)
    status = picture["status"]
    assert picture["kind"] == "preference"
    assert (status["questions"], status["wanted_answers"], status["answers"]) == (6, 12, 4)
    assert (status["traps"], status["trap_questions"], status["done"]) == (4, 4, False)
    assert status["complete"] == pytest.approx(4 / 12)
    assert status["batch"] == {"current": 0, "of": 2, "complete": 0}
    assert [(one["questions"], one["wanted"], one["answers"]) for one in picture["batches"]] == [(4, 8, 4), (2, 4, 0)]
    people = {one["code"]: one for one in picture["people"]}
    assert (people[ann.code]["answers"], people[ann.code]["traps_right"], people[ann.code]["trust"]) == (4, 2, 1.0)
    assert people[cheat.code]["state"] == people[cheat.code]["outcome"] == "screened_out"
    assert people[cheat.code]["set_aside_why"] == "quiz"
    assert picture["outcomes"] == {"done": 0, "screened_out": 1, "failed": 0, "working": 1}
    assert picture["projection"]["remaining"] == 8
    assert picture["cost"] is None


@ON_BOTH
def test_who_is_set_aside_leaves_the_picture_and_comes_back(stage: Stage) -> None:
    stage.begin(n=6, traps=2)
    ann, estimating = stage.come(), Estimating(stage.settings, stage.database)
    stage.work(ann)
    before = picture_of(stage, estimating)
    assert (before["status"]["answers"], before["status"]["done"]) == (6, True)
    assert stage.campaign.reached_at is not None
    with stage.database.write() as connection:
        exclude_participant(connection, ann, why="organiser", who="chief", now=stage.now)
    aside = picture_of(stage, estimating)
    assert (aside["status"]["answers"], aside["status"]["set_aside_answers"], aside["status"]["done"]) == (0, 6, False)
    assert aside["people"][0]["set_aside_why"] == "organiser"
    assert stage.campaign.reached_at is None
    with stage.database.write() as connection:
        readmit_participant(connection, ann, who="chief", now=stage.now)
    assert picture_of(stage, estimating)["status"]["answers"] == 6


def test_a_question_that_is_held_back_wants_no_more_answers(stage: Stage) -> None:
    stage.begin(n=6, traps=2)
    stage.work(stage.come(), most=5)
    with stage.database.write() as connection:
        unanswered = (schema.pair.c.role == "question") & (schema.pair.c.answered == 0)
        connection.execute(update(schema.pair).where(unanswered).values(held=True))
    status = picture_of(stage)["status"]
    assert (status["answers"], status["wanted_answers"], status["held"], status["done"]) == (3, 3, 3, True)


def test_the_cost_in_the_picture_is_what_people_earned(stage: Stage) -> None:
    stage.begin(n=6, traps=3, quiz=2, per_participant=4, pay=PAY, recruiter=PROLIFIC, repeat_share=0.0)
    stage.work(stage.come({"PROLIFIC_PID": "ann"}))  # finishes: 2 traps and 4 questions
    stage.work(stage.come({"PROLIFIC_PID": "bob"}), right=False)  # is screened out
    cost = picture_of(stage)["cost"]
    assert cost["currency"] == "GBP"
    assert cost["so_far"] == pytest.approx(1.5 * (6 * 0.1 + 1.0 + 0.4))
    assert cost["low"] <= cost["to_goal"] <= cost["high"]
    assert cost["expected"]


def test_the_set_up_page_and_the_picture_know_one_cost(stage: Stage, chief: Visitor) -> None:
    stage.begin(n=6, traps=3, quiz=2, per_participant=4, judged_by=9, pay=PAY, recruiter=PROLIFIC)
    for number in range(5):
        stage.work(stage.come(pid(f"ann {number}")))  # nobody is screened out: less than the settings expect
    cost = picture_of(stage)["cost"]
    assert not cost["expected"]
    chief.get("/campaigns/lists/set-up")
    assert f"about {cost['to_goal']:,.2f} GBP" in chief.words
    assert f"({cost['low']:,.2f} to {cost['high']:,.2f})" in chief.words


def test_what_somebody_earns_depends_on_how_their_part_ended() -> None:
    pay = PreferenceSettings.parse({"title": "x", "pay": PAY}).pay
    work = {outcome: Work(10, 7, outcome) for outcome in ("done", "failed", "screened_out", None)}
    assert {name: round(earned(pay, one), 6) for name, one in work.items()} == {
        "done": 2.0,
        "failed": 1.0,
        "screened_out": 0.4,
        None: 1.0,
    }


def test_the_cost_to_the_goal_is_what_a_counted_answer_cost() -> None:
    settings = PreferenceSettings.parse({"title": "x", "pay": PAY, "per_participant": 10})
    people = [Work(12, 10, "done")] * 4 + [Work(3, 0, "screened_out"), Work(8, 0, "failed")]
    found = cost_of(settings, people, remaining=100, n_questions=50, n_traps=10)
    assert found is not None
    paid = 4 * (1.2 + 1.0) + 0.4 + 0.8
    assert found.so_far == pytest.approx(1.5 * paid)
    assert found.per_counted_answer == pytest.approx(1.5 * paid / 40)
    assert found.to_goal == pytest.approx(100 * 1.5 * paid / 40)
    assert found.low < found.to_goal < found.high
    assert not found.expected
    assert people_needed(settings, people, remaining=100, n_questions=50, n_traps=10) == math.ceil(100 / (40 / 6))


def test_before_anybody_ended_the_cost_follows_from_the_settings() -> None:
    pay = {"per_answer": 0.1}
    settings = PreferenceSettings.parse({"title": "x", "pay": pay, "per_participant": 20, "quiz": 5, "trap_share": 0.2})
    assert typical_person(settings, n_questions=100, n_traps=50) == Work(30, 20, "done")
    found = cost_of(settings, [], remaining=200, n_questions=100, n_traps=50)
    assert found is not None
    assert (found.so_far, found.expected) == (0.0, True)
    assert found.per_counted_answer == pytest.approx(0.15)  # 30 answers paid for 20 that count
    free = cost_of(PreferenceSettings(title="free"), [], remaining=200, n_questions=100, n_traps=50)
    assert free is None


def test_more_people_narrow_what_the_rest_may_cost() -> None:
    settings = PreferenceSettings.parse({"title": "x", "pay": PAY})
    few = [Work(25, 20, "done"), Work(4, 0, "screened_out")] * 3
    ranges = []
    for people in (few, few * 25):
        found = cost_of(settings, people, remaining=100, n_questions=500, n_traps=20)
        assert found is not None
        ranges.append(found.high - found.low)
    assert ranges[1] < ranges[0] / 4


def test_curves_tell_from_which_difference_on_people_notice() -> None:
    from adjudge.preferences.simulated import example_study

    study = example_study(participants=30, per_participant=20, seed=1)
    [found] = curves_so_far(study, [f"CG@{study.questions.n_ranks} on fine"])
    assert found["why"] is None
    assert sum(one["n"] for one in found["agreement"]["bins"]) == found["answers"]
    slack = 1e-9
    assert all(one["lower"] - slack <= one["share"] <= one["upper"] + slack for one in found["agreement"]["bins"])
    agree = [y for _, y in found["agreement"]["curve"]]
    assert agree == sorted(agree)
    assert 0 < found["agreement"]["noticeable"] < 1
    low, high = found["agreement"]["noticeable_low"], found["agreement"]["noticeable_high"]
    assert low is None or high is None or low <= found["agreement"]["noticeable"] <= high
    satisfied = [y for _, y in found["satisfaction"]["curve"]]
    assert satisfied == sorted(satisfied)


def test_curves_say_why_there_are_none() -> None:
    from adjudge.preferences.simulated import example_study

    study = example_study(participants=2, per_participant=4, seed=1)
    found = curves_so_far(study, [f"CG@{study.questions.n_ranks} on fine", "CG@2 on 0..4"])
    assert found[0]["agreement"]["curve"] == []
    assert "of at least 20 answers" in found[0]["agreement"]["why"]
    assert "expected grades on 0..4" in found[1]["why"]


def test_costly_things_are_done_again_only_when_something_changed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: list[int] = []
    trusted: list[int] = []

    def fit(study: Study, combinations: Sequence[str]) -> list[dict[str, Any]]:
        fitted.append(len(study))
        return curves_so_far(study, combinations)

    def trust(connection: Connection, campaign: Campaign, participant_id: int) -> Trust:
        trusted.append(participant_id)
        return trust_of(connection, campaign, participant_id)

    monkeypatch.setattr(preference_picturing, "curves_so_far", fit)
    monkeypatch.setattr(preference_picturing, "trust_of", trust)
    stage.begin(n=6, traps=2, judged_by=2)
    ann, bob, estimating = stage.come(), stage.come(), Estimating(stage.settings, stage.database)
    stage.work(ann)
    assert estimating.refresh(stage.campaign.id)
    assert not estimating.refresh(stage.campaign.id)
    assert (len(fitted), trusted) == (1, [ann.id])
    stage.work(bob, most=1)
    assert estimating.refresh(stage.campaign.id)
    assert trusted == [ann.id, bob.id]
    assert len(fitted) <= 2


def test_a_picture_leaves_the_queue_as_it_was_laid(stage: Stage, database: Database, settings: Settings) -> None:
    stage.begin(n=6, traps=2)
    laid = [row["pair_id"] for row in stage.all_of(schema.queue)]
    stage.work(stage.come(), most=4)
    picture_of(stage)
    assert [row["pair_id"] for row in stage.all_of(schema.queue)] == laid
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(schema.progress)).scalar_one() == 0


def test_the_interface_sends_an_empty_picture_before_there_is_any(chief: Visitor, stage: Stage) -> None:
    from tests.web.preference_rows import preference_draft

    preference_draft(stage.database, "draft", pay=PAY)
    picture = chief.client.get("/api/campaigns/draft/picture").json()
    assert (picture["kind"], picture["version"], picture["status"]["answers"]) == ("preference", 0, 0)
    assert picture["cost"]["so_far"] == 0
    chief.get("/campaigns/draft")
    assert chief.status == 200
    assert "Not open yet" in chief.words
