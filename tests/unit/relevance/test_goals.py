from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.model.scales import FINE
from adjudge.relevance.base import Scores, confidence, within
from adjudge.relevance.candidates import candidates
from adjudge.relevance.choosing import GOALS, Goal, noticeable_zone
from adjudge.relevance.session import Session
from adjudge.users.comparison import compare

RUNS = {
    "a": {f"q{q}": ["w", "x", "y"] for q in range(4)},
    "b": {f"q{q}": ["x", "y", "z"] for q in range(4)},
    "c": {f"q{q}": ["v", "u", "z"] for q in range(4)},
}


def started(estimator: str = "uniform", measure: str = "CG@3", **settings: Any) -> Session:
    session = Session(candidates(aj.read(RUNS), cutoff=3, scale=FINE), measure, estimator=estimator, **settings)
    for query, document, grade in [("q0", "w", 90), ("q1", "z", 10), ("q2", "v", 0)]:
        session.judge(query, document, grade)
    return session


def sure_pairs(session: Session, zone: float) -> list[float]:
    """Each pair of systems: P(right sign), or P(within the zone) where that is likelier."""
    scores, df = session.model.scores(), session.model.confidence_df
    found = []
    for a in range(3):
        for b in range(a + 1, 3):
            s = scores.covariance
            law = (stats.norm if df is None else stats.t(df)).cdf
            sd = np.sqrt(s[a, a] + s[b, b] - 2 * s[a, b])
            mean = scores.mean[a] - scores.mean[b]
            sign = max(law(mean / sd), 1 - law(mean / sd))
            found.append(float(max(sign, law((zone - mean) / sd) - law((-zone - mean) / sd) if zone else 0.0)))
    return found


@pytest.mark.parametrize("estimator", ["uniform", "prior"])
@pytest.mark.parametrize("zone", [0.0, 0.01, 0.3])
def test_values_are_what_they_are_called(estimator: str, zone: float) -> None:
    session = started(estimator)
    sure = sure_pairs(session, zone)
    own = np.diagonal(session.model.scores().covariance)
    df = session.model.confidence_df
    quantile = stats.norm.ppf(0.975) if df is None else stats.t.ppf(0.975, df)
    expected = {
        "confidence": np.mean(sure),
        "tau": np.mean([2 * c - 1 for c in sure]),
        "pairs": min(sure),
        "error": quantile * np.sqrt(np.mean(own)),
    }
    assert set(expected) == set(GOALS)
    for kind, value in expected.items():
        assert started(estimator, goal=Goal(kind, zone=zone)).status().value == pytest.approx(value)


def test_a_zone_helps_systems_that_are_near_and_no_others() -> None:
    scores = Scores(np.array([0.5, 0.5005, 0.2]), np.diag([1e-6, 1e-6, 1e-6]))
    plain, zoned = confidence(scores), confidence(scores, zone=0.01)
    assert plain[0, 1] < 0.7
    assert zoned[0, 1] > 0.999
    assert zoned[0, 2] == plain[0, 2] > 0.999
    np.testing.assert_allclose(within(scores, 0.01)[0], [1, 1, 0], atol=1e-9)


def test_what_is_certain_is_within_the_zone_or_not() -> None:
    scores = Scores(np.array([0.5, 0.45, 0.5]), np.zeros((3, 3)))
    assert within(scores, 0.01).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert within(scores, 0.0).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert within(scores, 0.06).min() == 1


def test_judging_goes_on_until_one_judgment_a_query_whatever_the_model_says() -> None:
    session = started(goal=Goal(level=0.01))
    assert session.goal.met(session.view)
    assert session.goal.lacking(session.view) == 1
    assert not session.done
    assert "1 more judgment is wanted before" in session.status().reason
    session.judge("q3", "w", 50)
    assert session.done
    assert session.status().reason.startswith("the goal is reached, mean confidence over all pairs of systems >= 0.01")
    assert started(goal=Goal(level=0.01, least=3)).done
    assert not started(goal=Goal(level=0.01, least=1000)).done


def test_error_is_corrected_for_models_that_claim_too_little() -> None:
    plain, corrected = started(goal=Goal("error")), started(goal=Goal("error", correction=2.5))
    assert corrected.status().value == pytest.approx(2.5 * plain.status().value)
    assert started(goal=Goal(correction=2.5)).status().value == started().status().value


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "speed"}, r"No goal is called 'speed'. Known: confidence, error, pairs, tau"),
        ({"level": 95}, r"Goal confidence: 'level' must be in \(0, 1\), got 95"),
        ({"level": 1.0}, r"must be in \(0, 1\), got 1"),
        ({"level": 0.0}, r"must be in \(0, 1\), got 0"),
        ({"level": float("nan")}, r"must be in \(0, 1\), got nan"),
        ({"kind": "error", "level": float("inf")}, r"must be a finite number above 0, got inf"),
        ({"kind": "error", "level": -0.1}, r"must be a finite number above 0, got -0.1"),
        ({"zone": -0.1}, r"'zone' must be in \[0, 1\), got -0.1"),
        ({"zone": 1.0}, r"'zone' must be in \[0, 1\), got 1"),
        ({"zone": float("nan")}, r"'zone' must be in \[0, 1\)"),
        ({"least": -1}, r"'least' must be a whole number of at least 0, got -1"),
        ({"least": 2.5}, r"'least' must be a whole number of at least 0, got 2.5"),
        ({"correction": 0.0}, r"'correction' must be a finite number above 0, got 0"),
        ({"correction": float("inf")}, r"'correction' must be a finite number above 0, got inf"),
    ],
)
def test_goals_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        Goal(**settings)


def test_goals_say_what_they_want() -> None:
    assert str(Goal(zone=0)) == "mean confidence over all pairs of systems >= 0.95"
    assert str(Goal("tau", 0.8, zone=0.02)) == (
        "expected Kendall correlation with the truth >= 0.8 (differences below 0.02 do not matter)"
    )
    assert str(Goal("error")) == "half-width of the 95 % interval of a typical score <= 0.05"


def test_what_users_notice_is_known_where_they_were_asked() -> None:
    zone = noticeable_zone("CG@5", FINE)
    assert zone == pytest.approx(compare(aj.evaluate(aj.demo(queries=20), ["CG@5"])).margin)
    with pytest.raises(AdjudgeError, match=r"^What users notice is not known: no agreement mapping for RBP@5 on fine"):
        noticeable_zone("RBP@5", FINE)
