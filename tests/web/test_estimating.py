"""The engine of a campaign: it believes what a session of the same grades believes, and lays all or nothing."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update
from tests.web.conftest import ON_SQLITE
from tests.web.judging_rows import Desk
from tests.web.making import random_runs

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.relevance.candidates import candidates
from adjudge.relevance.session import Session
from adjudge.web.kinds.judging import dashboard
from adjudge.web.kinds.judging.dashboard import make_snapshot
from adjudge.web.kinds.judging.export import export_report
from adjudge.web.kinds.judging.session import pair_grades
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import CurrentGrade
from adjudge.web.kinds.lifecycle import change_settings, set_state
from adjudge.web.live import Estimating, keep_to_one_core
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.database import Database
from adjudge.web.store.erase import erase_participant
from adjudge.web.store.leases import hold, lay_queue
from adjudge.web.store.participants import find_participant

ON_POSTGRESQL = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
SHAPE = {"n_queries": 6, "n_systems": 4, "depth": 3}
FINE = {"scales": [{"name": "fine", "maximum": 100}], "goal": {"kind": "pairs", "level": 0.999, "zone": 0}}


@pytest.fixture
def desk(small_campaign: Callable[..., Any], database: Database) -> Callable[..., Desk]:
    def make(**options: Any) -> Desk:
        return Desk(database, small_campaign(**{**SHAPE, **FINE, **options}).name)

    return make


@pytest.fixture
def engine(settings: Settings, database: Database) -> Estimating:
    return Estimating(settings, database)


def grade_of(which: tuple[str, str]) -> float:
    """A grade that depends on nothing but the names."""
    return float(sum(map(ord, "".join(which))) * 37 % 101)


def fed(grades: Sequence[tuple[tuple[str, ...], float]], **options: Any) -> Session:
    """A session on the same runs that nobody from the web had a hand in."""
    shape = {**SHAPE, **{name: options.pop(name) for name in SHAPE if name in options}}
    session = aj.judging(
        random_runs(**shape),
        f"CG@{shape['depth']}",
        scale="fine",
        goal=aj.relevance.Goal("pairs", 0.999, 0.0),
        **options,
    )
    for (query, document, *who), grade in grades:
        session.judge(query, document, grade, *who)
    return session


def shown(desk: Desk) -> dict[str, list[float]]:
    return {row["system"]: [row["score"], row["low"], row["high"]] for row in desk.picture["ranking"]}


def believed(session: Session) -> dict[str, list[float]]:
    return {row.system: [row.score, row.low, row.high] for row in session.ranking()}


def same(one: dict[str, list[float]], other: dict[str, list[float]]) -> None:
    assert list(one) == list(other)
    np.testing.assert_allclose(list(one.values()), list(other.values()), rtol=1e-9, atol=1e-9)


def test_before_any_answer_the_queue_and_the_picture_are_those_of_a_fresh_session(
    desk: Callable[..., Desk], engine: Estimating
) -> None:
    here = desk()
    assert engine.refresh(here.campaign.id)
    session = fed([])
    assert here.queue == session.next(200)
    same(shown(here), believed(session))
    assert here.picture["version"] == 1
    assert here.picture["status"]["judged"] == 0
    assert not engine.refresh(here.campaign.id), "nothing happened since"


def test_the_ranking_is_that_of_a_session_fed_the_same_grades(desk: Callable[..., Desk], engine: Estimating) -> None:
    here = desk()
    given = []
    for n in range(23):
        which = here.queue[0] if here.queue else ("", "")
        if n == 0:
            engine.refresh(here.campaign.id)
            which = here.queue[0]
        given.append((which, grade_of(which)))
        here.answer(f"A{n % 3 + 1}", *given[-1])
        assert engine.refresh(here.campaign.id)
    session = fed(given)
    same(shown(here), believed(session))
    assert here.queue == session.next(200)
    assert here.picture["status"]["value"] == pytest.approx(session.status().value)
    assert len(here.picture["trajectory"]) == 24


def test_an_audit_has_its_turns_in_the_queue_and_a_sentence_on_the_dashboard(
    desk: Callable[..., Desk], engine: Estimating
) -> None:
    here, given = desk(audit=0.5), []
    engine.refresh(here.campaign.id)
    assert here.queue == fed([], audit=0.5).next(200)
    assert here.queue != fed([]).next(200)
    for n in range(12):
        given.append((here.queue[0], grade_of(here.queue[0])))
        here.answer(f"A{n % 3 + 1}", *given[-1])
        engine.refresh(here.campaign.id)
    session = fed(given, audit=0.5)
    assert here.queue == session.next(200)
    assert session.audit().n_heard >= 6
    (said,) = [note for note in here.picture["notes"] if note.startswith("Audit of CG@3: not contradicted after ")]
    heard = int(said.split("after ")[1].split()[0])
    assert 1 <= heard <= session.audit().n_heard  # the sentence may be a few answers old
    (worth,) = [note for note in here.picture["notes"] if note.startswith("More effort tells most about queries like")]
    assert re.search(r" if it goes into [\d,]+ more (judgments?|query|queries): mean confidence ", worth)


def test_another_server_finds_the_same_numbers(
    desk: Callable[..., Desk], engine: Estimating, settings: Settings, database: Database
) -> None:
    here = desk()
    for which in list(here.pairs)[:13]:
        here.answer("A1", which, grade_of(which))
        engine.refresh(here.campaign.id)
    before = shown(here), here.queue
    here.person("A2", seen_at=settings.clock())  # somebody came: something to refresh
    assert Estimating(settings, database).refresh(here.campaign.id)
    same(shown(here), before[0])
    assert here.queue == before[1]


def test_a_correction_changes_what_is_believed_as_if_it_had_been_right_at_once(
    desk: Callable[..., Desk], engine: Estimating
) -> None:
    here = desk()
    order = list(here.pairs)[:12]
    first = {which: here.answer("A1", which, grade_of(which)) for which in order}
    engine.refresh(here.campaign.id)
    here.correct("A1", order[3], first[order[3]], 100.0)
    assert engine.refresh(here.campaign.id)
    same(shown(here), believed(fed([(which, 100.0 if which == order[3] else grade_of(which)) for which in order])))


def test_the_model_hears_both_of_two_assessors(desk: Callable[..., Desk], engine: Estimating) -> None:
    here = desk(judged_by=2)
    order = list(here.pairs)[:8]
    for which in order:
        here.answer("A1", which, 20.0)
    engine.refresh(here.campaign.id)
    assert here.queue[:8] == order, "what is begun comes first"
    for which in order[:4]:
        here.answer("A2", which, 70.0)
    engine.refresh(here.campaign.id)
    both = [*(((*which, "A1"), 20.0) for which in order), *(((*which, "A2"), 70.0) for which in order[:4])]
    same(shown(here), believed(fed(both, options={"noisy": True})))
    reliability = {row["code"]: row["reliability"] for row in here.picture["assessors"]}
    assert 0 < reliability["A1"] < 1
    assert 0 < reliability["A2"] < 1
    assert here.queue[:4] == order[4:], "what is complete is not asked any more"
    assert here.picture["status"]["judged"] == 8
    assert here.picture["status"]["answers"] == 12


def test_other_estimators_hear_the_mean_of_two_assessors(desk: Callable[..., Desk], engine: Estimating) -> None:
    here = desk(judged_by=2, estimator="uniform")
    order = list(here.pairs)[:8]
    for which in order:
        here.answer("A1", which, 20.0)
        here.answer("A2", which, 70.0)
    engine.refresh(here.campaign.id)
    same(shown(here), believed(fed([(which, 45.0) for which in order], estimator="uniform")))


def test_a_second_opinion_is_asked_for_where_it_tells_more(desk: Callable[..., Desk], engine: Estimating) -> None:
    here = desk(judged_by=2, second_opinions=True)
    session = fed([], per_pair=2)
    engine.refresh(here.campaign.id)
    assert {row.wanted for row in here.pairs.values()} == {1}
    for _ in range(25):
        which = here.queue[0]
        assert which == session.next()[0]
        who = "A2" if (session.candidates.find(*which), "A1") in session.model.answers else "A1"
        here.answer(who, which, grade_of(which))
        session.judge(*which, grade_of(which), who)
        engine.refresh(here.campaign.id)
        same(shown(here), believed(session))
        again = {which for which, row in here.pairs.items() if row.wanted > row.answered > 0}
        assert again == {which for which in here.queue if here.pairs[which].answered}
    assert sum(row.answered == 2 for row in here.pairs.values()) >= 2


def test_second_opinions_that_are_offered_are_not_counted_as_wanted(
    desk: Callable[..., Desk], engine: Estimating
) -> None:
    here = desk(judged_by=2, second_opinions=True, goal={"kind": "order", "level": 0.9})
    for n, which in enumerate(list(here.pairs)[:8]):
        here.answer("A1", which, grade_of(which))
        if n < 2:
            here.answer("A2", which, grade_of(which))
    engine.refresh(here.campaign.id)
    assert any(here.pairs[which].answered for which in here.queue)
    here.answer("A3", next(which for which, row in here.pairs.items() if not row.answered), 50.0)
    engine.refresh(here.campaign.id)
    left = here.picture["projection"]
    assert left["remaining"] == round(left["pairs"] * 11 / 9)


def test_a_report_has_the_numbers_of_the_dashboard(
    desk: Callable[..., Desk], engine: Estimating, database: Database
) -> None:
    here = desk(judged_by=2)
    for n, which in enumerate(fed([], options={"noisy": True}).next(34)):
        here.answer(f"A{n % 2 + 1}", which, grade_of(which))
    engine.refresh(here.campaign.id)
    with database.read() as connection:
        report = json.loads(export_report(connection, here.campaign, form="json", options={}))
    blocks = report["sections"]["estimate"]["blocks"]
    (rows,) = [block["rows"] for block in blocks if block.get("table") == "ranking"]
    scores = {row["system"]: row["score"] for row in rows}
    assert scores == pytest.approx({row["system"]: row["score"] for row in here.picture["ranking"]}, abs=1e-9)


def test_an_erased_assessor_is_forgotten(desk: Callable[..., Desk], engine: Estimating, database: Database) -> None:
    here = desk()
    order = list(here.pairs)[:9]
    for which in order:
        here.answer("A1" if which in order[:6] else "A2", which, grade_of(which))
    engine.refresh(here.campaign.id)
    with database.write() as connection:
        person = find_participant(connection, here.campaign, "A2")
        erase_participant(connection, person, how="remove", who="A2", now=here.clock)
    assert engine.refresh(here.campaign.id)
    same(shown(here), believed(fed([(which, grade_of(which)) for which in order[:6]])))


def test_binary_measures_take_the_majority_and_the_lower_grade_of_a_split() -> None:
    def said(*grades: float) -> list[CurrentGrade]:
        return [CurrentGrade(n, 1, "q", "d", f"A{n}", {"binary": g}, 0.0, None) for n, g in enumerate(grades)]

    assert pair_grades(said(1, 1, 0), "binary", binary=True) == {("q", "d"): 1.0}
    assert pair_grades(said(1, 0), "binary", binary=True) == {("q", "d"): 0.0}
    assert pair_grades(said(1, 0), "binary", binary=False) == {("q", "d"): 0.5}


@pytest.mark.parametrize("measure", ["P@3", "AP@3"])
def test_a_campaign_with_a_binary_measure_and_split_assessors_is_estimated(
    desk: Callable[..., Desk], engine: Estimating, measure: str
) -> None:
    here = desk(measure=measure, scales=[{"name": "binary", "maximum": 1}], judged_by=2)
    for which in list(here.pairs)[:6]:
        here.answer("A1", which, 1.0)
        here.answer("A2", which, 0.0)
    assert engine.refresh(here.campaign.id)
    assert here.picture["status"]["judged"] == 6


def test_a_campaign_has_the_measures_that_its_estimator_knows() -> None:
    assert JudgingSettings.parse({"title": "T", "measure": "ERR@10"}).measure == "ERR@10"
    with pytest.raises(AdjudgeError, match=r"ERR@10: only hierarchical and known_item estimate"):
        JudgingSettings.parse({"title": "T", "measure": "ERR@10", "estimator": "uniform"})
    with pytest.raises(AdjudgeError, match="at least 2 assessors for a pair, got 1"):
        JudgingSettings.parse({"title": "T", "second_opinions": True})
    with pytest.raises(AdjudgeError, match="known_item is no estimator for campaigns"):
        JudgingSettings.parse({"title": "T", "estimator": "known_item"})


def test_a_reached_goal_empties_the_queue_and_a_correction_fills_it_again(
    desk: Callable[..., Desk], engine: Estimating, database: Database
) -> None:
    here = desk(goal={"kind": "confidence", "level": 0.6, "least": 2}, judged_by=2)
    order = list(here.pairs)[:3]
    for which in order:
        here.answer("A1", which, grade_of(which))
    engine.refresh(here.campaign.id)
    assert here.picture["status"]["done"]
    assert here.picture["saved"] == len(here.pairs) - 3
    assert here.campaign.reached_at is not None
    assert here.picture["campaign"]["reached_at"] == here.campaign.reached_at
    assert here.queue == order, "begun pairs are still asked"
    assert here.picture["projection"]["remaining"] == 3
    with database.write() as connection:
        values = here.campaign.settings.model_dump(mode="json") | {
            "goal": {"kind": "pairs", "level": 0.9999, "zone": 0}
        }
        change_settings(connection, here.campaign, JudgingSettings.parse(values), who="somebody", now=here.clock)
    assert engine.refresh(here.campaign.id)
    assert here.campaign.reached_at is None
    assert len(here.queue) > 3


def test_a_campaign_may_go_on_after_its_goal(desk: Callable[..., Desk], engine: Estimating) -> None:
    here = desk(goal={"kind": "confidence", "level": 0.5, "least": 0}, stop_when_reached=False)
    engine.refresh(here.campaign.id)
    assert here.picture["status"]["done"]
    assert len(here.queue) == len(here.pairs)


def test_judging_everything_ends_when_every_wanted_answer_is_there(
    desk: Callable[..., Desk], engine: Estimating, database: Database
) -> None:
    here = desk(goal={"kind": "everything"}, judged_by=2, n_queries=2)
    order = list(here.pairs)
    with database.write() as connection:
        connection.execute(update(t.pair).where(t.pair.c.id == here.pairs[order[-1]].id).values(held=True))
    for which in order[:-1]:
        here.answer("A1", which, grade_of(which))
    engine.refresh(here.campaign.id)
    status = here.picture["status"]
    assert (status["done"], status["value"], status["wanted"], status["kind"]) == (False, 0.5, 1.0, "everything")
    assert here.picture["projection"]["remaining"] == len(order) - 1
    assert here.queue == order[:-1], "what is held back is not asked"
    for which in order[:-1]:
        here.answer("A2", which, grade_of(which))
    engine.refresh(here.campaign.id)
    assert here.picture["status"]["done"]
    assert here.queue == []
    assert here.picture["notes"][-1] == "1 pair is held back and will not be asked."


def test_with_everything_judged_scores_are_the_truth(desk: Callable[..., Desk], engine: Estimating) -> None:
    here = desk()
    for which in here.pairs:
        here.answer("A1", which, grade_of(which))
    engine.refresh(here.campaign.id)
    runs = random_runs(**SHAPE)
    pool = candidates(runs, cutoff=3, scale=aj.model.FINE)
    for s, system in enumerate(pool.systems):
        mine = pool.entry_pair[pool.entry_system == s]
        names = [(pool.queries[pool.query[place]], pool.document[place]) for place in mine]
        truth = sum(map(grade_of, names)) / 100 / 3 / SHAPE["n_queries"]
        row = next(row for row in here.picture["ranking"] if row["system"] == system)
        assert [row["score"], row["low"], row["high"]] == pytest.approx([truth] * 3)
    assert here.picture["status"]["done"]
    assert here.queue == []
    assert here.picture["projection"]["remaining"] == 0


def test_a_single_system_has_a_picture(desk: Callable[..., Desk], engine: Estimating) -> None:
    here = desk(n_systems=1, goal={"kind": "confidence"})
    engine.refresh(here.campaign.id)
    assert [row["system"] for row in here.picture["ranking"]] == ["s1"]
    assert here.picture["pairs"] == []
    assert here.picture["projection"]["remaining"] == SHAPE["n_queries"], "one a query before a model is believed"
    assert here.queue


def test_a_draft_and_an_unknown_campaign_are_left_alone(desk: Callable[..., Desk], engine: Estimating) -> None:
    here = desk(state="draft")
    assert not engine.refresh(here.campaign.id)
    assert not engine.refresh(12345)


def test_what_is_killed_in_the_middle_leaves_queue_and_picture_whole(
    desk: Callable[..., Desk], engine: Estimating, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = desk()
    engine.refresh(here.campaign.id)
    before = here.queue, here.picture, here.n_points
    which = here.queue[0]
    here.answer("A1", which, 50.0)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dashboard, "_keep_point", die)  # the queue is laid already at that moment
        with pytest.raises(KeyboardInterrupt):
            engine.refresh(here.campaign.id)
    assert (here.queue, here.picture, here.n_points) == before
    assert engine.refresh(here.campaign.id)
    assert which not in here.queue
    same(shown(here), believed(fed([(which, 50.0)])))


def test_what_an_organiser_does_during_a_refresh_is_not_overwritten(
    desk: Callable[..., Desk], engine: Estimating, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = desk()
    engine.refresh(here.campaign.id)
    here.answer("A1", here.queue[0], 50.0)
    made = make_snapshot

    def meanwhile(*arguments: Any) -> dict[str, Any]:
        content = made(*arguments)
        with database.write() as connection:
            set_state(connection, here.campaign, "paused", who="somebody", now=here.clock)
        return content

    with monkeypatch.context() as patch:
        patch.setattr(dashboard, "make_snapshot", meanwhile)
        assert not engine.refresh(here.campaign.id)
    assert here.picture["version"] == 1
    assert engine.refresh(here.campaign.id)
    assert here.picture["campaign"]["state"] == "paused"


@ON_POSTGRESQL
def test_two_servers_at_once_do_the_work_once(
    desk: Callable[..., Desk], settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = desk()
    others: list[bool] = []
    made = make_snapshot

    def meanwhile(*arguments: Any) -> dict[str, Any]:
        others.append(Estimating(settings, database).refresh(here.campaign.id))
        return made(*arguments)

    monkeypatch.setattr(dashboard, "make_snapshot", meanwhile)
    assert Estimating(settings, database).refresh(here.campaign.id)
    assert others == [False]
    assert here.picture["version"] == 1


@ON_POSTGRESQL
def test_questions_are_given_out_while_a_queue_is_being_laid(
    desk: Callable[..., Desk], engine: Estimating, database: Database, settings: Settings
) -> None:
    here = desk()
    engine.refresh(here.campaign.id)
    person = here.person("A1")
    ids = [one.id for one in here.pairs.values()]
    with database.write() as laying:
        lay_queue(laying, here.campaign.id, ids)
        with database.write() as asking:
            held = hold(asking, here.campaign, person, now=settings.clock(), seconds=60)
    assert len(held) == 2


def test_the_thread_follows_answers_and_stops(
    desk: Callable[..., Desk], engine: Estimating, database: Database
) -> None:
    here = desk()
    engine.start()
    try:
        _wait_for(lambda: _version(database) >= 1)
        which = here.queue[0]
        here.answer("A1", which, 80.0)
        engine.changed(here.campaign.id)
        _wait_for(lambda: here.picture["status"]["judged"] == 1)
        assert which not in here.queue
    finally:
        engine.stop()
    version = _version(database)
    here.answer("A1", here.queue[0], 80.0)
    engine.changed(here.campaign.id)
    assert not any(thread.name == "estimating" for thread in threading.enumerate()), "nobody is there to look"
    assert _version(database) == version


def test_linear_algebra_keeps_to_one_core_unless_somebody_chose_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    listened = keep_to_one_core()
    assert 0 <= listened <= 2
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    assert keep_to_one_core() == 0
    rng = np.random.default_rng(0)
    square = rng.normal(size=(300, 300))
    np.testing.assert_allclose(np.linalg.inv(square) @ square, np.eye(300), atol=1e-8)


@ON_SQLITE
def test_a_server_that_does_not_estimate_starts_no_thread(settings: Settings, database: Database) -> None:
    idle = Estimating(replace(settings, estimate=False), database)
    idle.start()
    assert not any(thread.name == "estimating" for thread in threading.enumerate())
    idle.stop()


@ON_SQLITE
def test_a_campaign_that_fails_is_logged_tried_again_and_harms_no_other(
    desk: Callable[..., Desk], engine: Estimating, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, whole = desk(name="broken"), desk(name="whole")
    ids = broken.campaign.id, whole.campaign.id
    failed: list[float] = []
    done = dashboard.queue_of

    def fail_once(session: Session, pairs: Any, *, stop: bool) -> list[int]:
        mine = {one.id for one in broken.pairs.values()}
        if pairs[0].id in mine and not failed:
            failed.append(time.monotonic())
            raise ValueError("a fault of ours")
        return done(session, pairs, stop=stop)

    monkeypatch.setattr(dashboard, "queue_of", fail_once)
    with caplog.at_level(logging.ERROR):
        engine.start()
        try:
            _wait_for(lambda: _version(broken.database, ids[1]) >= 1 and _version(broken.database, ids[0]) >= 1)
        finally:
            engine.stop()
    assert time.monotonic() - failed[0] >= 0.9, "it waits a second before it tries again"
    assert f"campaign {ids[0]} failed" in caplog.text
    assert "a fault of ours" in caplog.text


def test_people_who_come_and_go_make_a_new_picture(
    desk: Callable[..., Desk], engine: Estimating, settings: Settings
) -> None:
    here = desk()
    engine.refresh(here.campaign.id)
    here.person("A1", seen_at=settings.clock())
    assert engine.refresh(here.campaign.id)
    assert [(one["code"], one["live"]) for one in here.picture["assessors"]] == [("A1", True)]
    here.person("A1", seen_at=settings.clock() - 3600)
    assert engine.refresh(here.campaign.id)
    assert here.picture["assessors"] == []


def _version(database: Database, campaign_id: int | None = None) -> int:
    with database.read() as connection:
        query = select(t.picture.c.version)
        if campaign_id is not None:
            query = query.where(t.picture.c.campaign_id == campaign_id)
        return connection.execute(query).scalar_one_or_none() or 0


def _wait_for(condition: Callable[[], bool], seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_answers_that_were_stored_late_with_an_earlier_number_are_found(
    desk: Callable[..., Desk], engine: Estimating, database: Database
) -> None:
    """PostgreSQL numbers rows before they are stored: a smaller number may turn up after a larger one was seen."""
    here = desk()
    one, two = list(here.pairs)[:2]
    early, late = here.answer("A1", one, 10.0), here.answer("A2", two, 90.0)
    with database.write() as connection:
        row = dict(connection.execute(select(t.answer).where(t.answer.c.id == early)).mappings().one())
        connection.execute(t.answer.delete().where(t.answer.c.id == early))
    engine.refresh(here.campaign.id)
    assert here.picture["status"]["answers"] == 1
    with database.write() as connection:
        connection.execute(t.answer.insert().values(**row))
    assert engine.refresh(here.campaign.id)
    assert here.picture["status"]["answers"] == 2
    assert early < late
    same(shown(here), believed(fed([(one, 10.0), (two, 90.0)])))


def test_a_closed_campaign_keeps_when_its_goal_was_reached(
    desk: Callable[..., Desk], engine: Estimating, database: Database
) -> None:
    here = desk()
    with database.write() as connection:
        set_state(connection, here.campaign, "closed", who="somebody", now=here.clock)
        connection.execute(update(t.campaign).where(t.campaign.c.id == here.campaign.id).values(reached_at=12.5))
    assert engine.refresh(here.campaign.id)
    assert here.campaign.reached_at == 12.5
    assert here.picture["campaign"]["state"] == "closed"
