"""Arguments of the wrong type: one wording for what was wanted and what came, and one value where several are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adjudge as aj
from adjudge.preferences.simulated import example_study

DEMO = aj.demo(queries=10, depth=5)
EFFECTIVENESS = aj.evaluate(DEMO, "CG@5")
WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "'ratings' must be ratings .*, got Collection": (aj.agreement, (DEMO,)),
    "'eff' must be effectiveness .*, got None": (aj.summarize, (None,)),
    "'eff' must be effectiveness .*, got Collection": (aj.compare, (DEMO,)),
    "'collection' must be a collection .*, got <Effectiveness.*": (aj.evaluate, (EFFECTIVENESS, "CG@5")),
    "'answers' must be rankings or preferences .*, got None": (aj.ground_truth, (None,)),
    "'data' must be a collection .* or effectiveness .*, got None": (aj.plan, (None,)),
    "'data' must be a collection .* or candidates .*, got 1": (aj.simulate, (1,)),
    "'study' must be a study .*, got None": (aj.learn, (None, "CG@5 on fine")),
    "A G-study expects effectiveness .* or an array of numbers, got Collection": (aj.gstudy, (DEMO,)),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_first_argument_of_the_wrong_type_is_refused_in_one_line(message: str) -> None:
    function, arguments = WRONG[message]
    with pytest.raises(aj.errors.ParameterError, match=f"^{message}$"):
        function(*arguments)


def test_a_plan_takes_one_number_where_it_takes_several() -> None:
    one = aj.plan(DEMO, "CG@5", interval="none", targets=0.9, queries=30, differences=0.1, assessors_per_query=1)
    several = aj.plan(
        DEMO, "CG@5", interval="none", targets=[0.9], queries=[30], differences=[0.1], assessors_per_query=[1]
    )
    assert one.to_dicts() == several.to_dicts()
    with pytest.raises(aj.errors.ParameterError, match=r"'targets' must be in \(0, 1\), got 90"):
        aj.plan(DEMO, "CG@5", targets=90)


def test_a_goal_may_be_a_name() -> None:
    session = aj.judging(DEMO, "CG@5", estimator="uniform", goal="tau")
    assert session.status().wanted == aj.relevance.Goal("tau").wanted
    with pytest.raises(aj.errors.UnknownNameError, match="No goal is called 'tao'"):
        aj.judging(DEMO, "CG@5", estimator="uniform", goal="tao")
    with pytest.raises(aj.errors.ParameterError, match=r"'goal' must be a goal .* or the name of one, got 0\.9"):
        aj.judging(DEMO, "CG@5", goal=0.9)  # type: ignore[arg-type]


def test_an_option_that_an_estimator_does_not_take_is_refused() -> None:
    with pytest.raises(aj.errors.UnknownNameError, match="No option of prior is called 'strenth'"):
        aj.judging(DEMO, "CG@5", estimator="prior", options={"strenth": 1})


def test_a_single_combination_is_learnt() -> None:
    study = example_study()
    one, several = (aj.learn(study, given, resamples=0) for given in ("CG@2 on fine", ["CG@2 on fine"]))
    assert one.to_dicts() == several.to_dicts()
