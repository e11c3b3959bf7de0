"""Pace, agreement, severity, drift and problem pairs, on answers whose figures can be worked out by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update
from tests.web.conftest import ON_BOTH
from tests.web.judging_rows import Desk

from adjudge.web.kinds.judging.dashboard import Activity, LoggedAnswer, agreements, assessors, pace_of, thinned, watch
from adjudge.web.kinds.judging.session import Learner
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.live import Estimating
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.database import Database
from adjudge.web.store.snapshots import live_codes, problems

SCALES = [{"name": "broad", "maximum": 2}, {"name": "fine", "maximum": 100}]


@pytest.fixture
def desk(small_campaign: Callable[..., Any], database: Database) -> Callable[..., Desk]:
    def make(**options: Any) -> Desk:
        shape = {"n_queries": 6, "n_systems": 3, "depth": 4, "scales": SCALES}
        return Desk(database, small_campaign(**{**shape, **options}).name)

    return make


def seen(desk: Desk) -> Activity:
    with desk.database.read() as connection:
        return watch(connection, desk.campaign.id)


def people(desk: Desk, expected: dict[tuple[str, int], float] | None = None) -> dict[str, dict[str, Any]]:
    rows = assessors(
        seen(desk), desk.campaign.settings_as(JudgingSettings).evaluated, expected or {}, now=desk.clock + 3600
    )
    return {row["code"]: row for row in rows}


def logged(at: float, **values: Any) -> LoggedAnswer:
    row = {"assessor": "A1", "pair_id": 1, "kind": "judgment", "took_ms": None, "heard_ms": 4000}
    return LoggedAnswer(**{**row, "at": at, "reason": None, "comment": None, **values})


def test_breaks_do_not_count_as_work() -> None:
    times = [0, 30, 60, 60 + 301, 60 + 331]
    pace = pace_of([logged(at) for at in times])
    assert pace.per_hour == 120
    assert pace.median_seconds == 30


def test_the_time_that_the_page_measured_goes_before_the_time_between_answers() -> None:
    assert pace_of([logged(0, took_ms=9000), logged(30, took_ms=11_000), logged(60, took_ms=90_000_000)]) == pace_of(
        [logged(0, took_ms=9000), logged(30, took_ms=11_000), logged(60)]
    )
    assert pace_of([logged(0, took_ms=9000), logged(30, took_ms=11_000)]).median_seconds == 10


def test_a_single_answer_has_no_pace() -> None:
    pace = pace_of([logged(5)])
    assert (pace.per_hour, pace.median_seconds, pace.heard_seconds) == (None, None, 4.0)
    assert pace_of([]).heard_seconds is None


def test_a_clock_that_jumped_back_makes_no_negative_pace() -> None:
    assert pace_of([logged(100), logged(50), logged(120)]).per_hour == pytest.approx(3600 * 2 / 70)


def test_severity_is_held_against_others_who_judged_the_same(desk: Callable[..., Desk]) -> None:
    here = desk(judged_by=3)
    for which, grade in zip(list(here.pairs)[:6], (10, 30, 50, 70, 80, 60), strict=True):
        here.answer("strict", which, {"broad": 0, "fine": grade - 10})
        here.answer("fair", which, {"broad": 1, "fine": grade})
        here.answer("kind", which, {"broad": 2, "fine": grade + 20})
    found = people(here)
    assert {code: row["severity"] for code, row in found.items()} == pytest.approx(
        {"strict": 20.0, "fair": 5.0, "kind": -25.0}
    )
    assert found["fair"]["severity_against"] == "others"
    assert found["fair"]["answers"] == 6
    assert found["fair"]["live"] is False
    assert found["fair"]["median_seconds"] == 8
    assert found["fair"]["heard_seconds"] == 5


def test_severity_without_shared_pairs_is_held_against_a_model_that_did_not_hear_the_person(
    desk: Callable[..., Desk],
) -> None:
    here = desk(n_queries=12)
    rng = np.random.default_rng(1)
    for which in here.pairs:
        code = f"A{rng.integers(4) + 1}"
        here.answer(code, which, {"broad": 0, "fine": float(rng.integers(55, 65) - (50 if code == "A2" else 0))})
    learner = Learner()
    with here.database.read() as connection:
        grades = watch(connection, here.campaign.id).grades
        learner.learn(connection, here.campaign, grades, last_event=0)
    found = people(here, learner.expected(grades, "fine"))
    assert {row["severity_against"] for row in found.values()} == {"model"}
    assert found["A2"]["severity"] > 25
    assert all(found[code]["severity"] < 5 for code in ("A1", "A3", "A4"))


def test_somebody_who_becomes_milder_drifts(desk: Callable[..., Desk]) -> None:
    here = desk(judged_by=2)
    for n, which in enumerate(list(here.pairs)[:20]):
        here.answer("steady", which, {"broad": 1, "fine": 40 + n % 3})
        here.answer("milder", which, {"broad": 1, "fine": 20 + 2 * n + n % 3})
    drift = people(here)["milder"]["drift"]
    assert drift["moved"] is True
    assert drift["slope"] == pytest.approx(200)
    assert people(here)["steady"]["drift"]["slope"] == pytest.approx(-200)


def test_self_consistency_comes_from_planned_repeats(desk: Callable[..., Desk]) -> None:
    here = desk()
    for which, first, again in zip(list(here.pairs)[:4], (10, 50, 70, 90), (20, 50, 60, 90), strict=True):
        here.answer("A1", which, {"broad": 1, "fine": first})
        here.answer("A1", which, {"broad": 1, "fine": again}, kind="repeat")
    here.answer("A2", list(here.pairs)[5], {"broad": 1, "fine": 3})
    found = people(here)
    assert found["A1"]["repeats"] == 4
    assert found["A1"]["self_consistency"]["absolute_difference"] == 5.0
    assert found["A1"]["self_consistency"]["exact"] == 0.5
    assert found["A2"]["self_consistency"] is None
    assert found["A1"]["answers"] == 4, "repeats are no judgments of their own"


def test_agreement_is_told_for_each_scale_by_its_kind(desk: Callable[..., Desk]) -> None:
    here = desk(judged_by=2)
    for n, which in enumerate(list(here.pairs)[:12]):
        here.answer("A1", which, {"broad": n % 3, "fine": 10 * (n % 3)})
        here.answer("A2", which, {"broad": n % 3, "fine": 10 * (n % 3)})
    found = agreements(seen(here).grades, here.campaign.settings_as(JudgingSettings).scales)
    assert list(found) == ["broad", "fine"]
    assert [found[name]["metric"] for name in found] == ["ordinal", "interval"]
    assert [found[name]["alpha"]["value"] for name in found] == [1.0, 1.0]
    assert found["fine"]["n_units"] == 12


def test_agreement_of_nobody_and_of_one_says_why_there_is_none(desk: Callable[..., Desk]) -> None:
    here = desk()
    scales = here.campaign.settings_as(JudgingSettings).scales
    assert agreements([], scales)["fine"]["note"] == "nothing is judged on this scale yet"
    here.answer("A1", next(iter(here.pairs)), {"broad": 1, "fine": 3})
    assert agreements(seen(here).grades, scales)["fine"]["note"] == "there is a single assessor"


@ON_BOTH
def test_problem_pairs_are_those_skipped_commented_on_or_held(desk: Callable[..., Desk], database: Database) -> None:
    here = desk()
    one, two, three, four = list(here.pairs)[:4]
    here.answer("A1", one, {}, kind="skip", reason="broken", comment="noise only")
    here.answer("A2", one, {}, kind="skip", reason="broken")
    here.answer("A3", one, {}, kind="skip", reason="cannot_tell")
    here.answer("A1", two, {"broad": 1, "fine": 3}, comment="a cover version?")
    here.answer("A1", four, {"broad": 1, "fine": 3})
    with database.write() as connection:
        connection.execute(update(t.pair).where(t.pair.c.id == here.pairs[three].id).values(held=True))
        found = problems(connection, here.campaign.id)
    assert [(row["query"], row["document"]) for row in found] == [three, one, two]
    assert found[1]["reasons"] == {"broken": 2, "cannot_tell": 1}
    assert found[1]["skips"] == 3
    assert found[1]["comments"] == ["noise only"]
    assert found[2]["comments"] == ["a cover version?"]
    assert people(here)["A1"]["skips"] == 1


def test_who_is_there_is_who_was_seen_in_the_last_minute(desk: Callable[..., Desk]) -> None:
    here = desk()
    for code, seen_at in (("A1", 1000.0), ("A2", 1050.0)):
        here.person(code, seen_at=seen_at)
    with here.database.read() as connection:
        assert live_codes(connection, here.campaign.id, now=1070.0) == ["A2"]


def test_a_long_trajectory_is_drawn_in_few_points() -> None:
    points = [[float(n), 0.5, 0.5] for n in range(5000)]
    drawn = thinned(points)
    assert len(drawn) == 200
    assert (drawn[0], drawn[-1]) == (points[0], points[-1])
    assert {round(b[0] - a[0]) for a, b in itertools.pairwise(drawn)} == {25, 26}


@ON_BOTH
def test_the_picture_tells_of_people_and_hours(
    desk: Callable[..., Desk], settings: Settings, database: Database
) -> None:
    here = desk(judged_by=2, goal={"kind": "everything"})
    for which in list(here.pairs)[:6]:
        here.answer("A1", which, {"broad": 1, "fine": 30})
        here.answer("A2", which, {"broad": 1, "fine": 40})
    Estimating(settings, database).refresh(here.campaign.id)
    found = here.picture
    assert [row["code"] for row in found["assessors"]] == ["A1", "A2"]
    assert found["assessors"][0]["per_hour"] == pytest.approx(90), "an answer every 40 seconds"
    left = 2 * (len(here.pairs) - 6)
    assert found["projection"]["remaining"] == left
    assert found["projection"]["hours"] == pytest.approx(left / 90)
    assert found["agreement"]["fine"]["absolute_difference"]["value"] == 10
