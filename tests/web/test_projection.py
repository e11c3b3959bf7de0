"""Projected judgments, held against what sessions on judged collections really needed."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

import adjudge as aj
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.session import Session
from adjudge.web.kinds.judging.session import Projection, project
from adjudge.web.live import keep_to_one_core

SHARES = (0.0, 0.25, 0.5)
BATCH = 20  # judgments between two looks


@pytest.fixture(scope="module", autouse=True)
def _one_core() -> None:
    keep_to_one_core()


@pytest.fixture(scope="module")
def demo() -> Candidates:
    return candidates(aj.demo(), cutoff=5).retrieved()


def projected(judged: Candidates, goal: Goal, *, estimator: str = "hierarchical") -> tuple[int, list[Projection]]:
    """What a session needed with the true grades, and what was projected on its way, after shares of that number."""
    session = Session(judged.unjudged(), "CG@5", goal=goal, estimator=estimator)
    moments = [copy.deepcopy(session)]
    while not session.done:
        for query, document in session.next(BATCH):
            place = judged.find(query, document)
            session.judge(query, document, float(judged.relevance[place]) * judged.scale.maximum)
        moments.append(copy.deepcopy(session))
    needed = session.view.n_judged
    return needed, [project(moments[round(share * needed / BATCH)]) for share in SHARES]


def factors(needed: int, found: list[Projection]) -> list[float]:
    """By which factor projections were wrong, above 1 where too many were projected."""
    return [one.total / needed for one in found if one.total is not None]


@pytest.mark.parametrize("goal", [Goal("confidence"), Goal("error", 0.05)], ids=str)
def test_projections_for_the_demo_are_right_within_a_factor_of_2(demo: Candidates, goal: Goal) -> None:
    needed, found = projected(demo, goal)
    wrong = factors(needed, found)
    assert len(wrong) == len(SHARES), "it can be said from the start"
    assert all(1 / 2 < factor < 2 for factor in wrong), wrong
    assert sum(one.low <= needed <= one.high for one in found if one.low and one.high) >= 2
    assert abs(math.log(wrong[-1])) < math.log(1.3), "half-way one should know better"


@pytest.mark.parametrize("goal", [Goal("order"), Goal("confidence"), Goal("error", 0.05)], ids=str)
def test_projections_for_mirex_2011_are_right_within_a_factor_of_3(mirex2011: aj.Collection, goal: Goal) -> None:
    needed, found = projected(candidates(mirex2011, cutoff=5).retrieved(), goal)
    wrong = factors(needed, found)
    assert len(wrong) == len(SHARES)
    assert all(1 / 3 < factor < 3 for factor in wrong), wrong
    assert sum(one.low <= needed <= one.high for one in found if one.low and one.high) >= 2


def test_a_range_holds_its_projection_and_nothing_impossible(demo: Candidates) -> None:
    for estimator in ("prior", "uniform"):
        session = Session(demo.unjudged(), "CG@5", goal=Goal("confidence"), estimator=estimator)
        one = project(session)
        assert one.low is not None
        assert one.high is not None
        assert demo.n_queries <= one.low <= one.high <= len(demo)
        assert one.total is None or one.low <= one.total <= one.high


def test_the_same_session_has_the_same_projection(demo: Candidates) -> None:
    session = Session(demo.unjudged(), "CG@5")
    before = session.view.scores.mean.copy()
    assert project(session) == project(session)
    assert session.view.n_judged == 0, "nothing is judged but in thought"
    np.testing.assert_array_equal(session.view.scores.mean, before)


def test_a_harder_goal_needs_more(demo: Candidates) -> None:
    totals = [project(Session(demo.unjudged(), "CG@5", goal=Goal("error", level))).total for level in (0.1, 0.05, 0.03)]
    assert None not in totals
    assert totals == sorted(totals, key=lambda total: total or 0)
    assert len(set(totals)) == 3


def test_what_cannot_be_reached_is_said_in_words() -> None:
    hard = aj.demo(queries=2, depth=5)
    session = Session(candidates(hard, cutoff=5).unjudged(), "CG@5", goal=Goal("pairs", 0.9999, zone=0.0))
    one = project(session)
    assert one.total is None
    assert one.why is not None
    assert "may not be reached" in one.why
    assert one.left(5) == (None, (one.low or 0) - 5, (one.high or 0) - 5)


def test_a_goal_that_is_reached_needs_nothing(demo: Candidates) -> None:
    session = Session(demo, "CG@5")
    assert project(session).left(len(demo)) == (0, 0, 0)


def test_a_goal_that_is_met_too_early_needs_what_is_wanted_at_least() -> None:
    single = aj.read({"a": {f"q{n}": ["x", "y"] for n in range(7)}})
    session = Session(candidates(single, cutoff=2, scale=aj.model.FINE), "CG@2")
    one = project(session)
    assert (one.total, one.low, one.high) == (7, 7, 7)
    assert one.why is not None
    assert "to believe it" in one.why


def test_ratios_with_an_ideal_are_projected(demo: Candidates) -> None:
    some = demo.part(queries=range(15), systems=range(4)).unjudged()
    one = project(Session(some, "nDCG@5"), paths=8)
    assert one.total is not None
    assert 15 <= one.total <= len(some)
