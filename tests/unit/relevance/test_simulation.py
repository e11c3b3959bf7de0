from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.relevance.base import scoring
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.session import Session
from adjudge.relevance.simulation import Simulation, checkpoint, simulate, true_scores

MEASURES = (
    "CG@5", "CG(ideal=none)@5", "CG(ideal=judged)@5", "DCG@5", "nDCG@5", "RBP@5", "RBP(ideal=max)@5",
    "RBP(ideal=judged)@5", "CG@40", "nDCG@40", "AP@5", "AP(rel=2)@40", "RR@5", "ERR@5", "Q@5", "GAP@40",
    "DCG(gain=exp)@5", "P(rel=2)@5", "R@5",
)  # fmt: skip
Make = Callable[..., aj.Collection]
Dicts = Callable[..., tuple[dict[str, Any], dict[str, Any]]]


@pytest.fixture
def judged(make_collection: Make) -> Candidates:
    return candidates(make_collection(2, scale="0..3", n_queries=6, n_systems=4, longest=8), cutoff=5)


def run(judged: Candidates, measure: str = "CG@5", **settings: Any) -> Simulation:
    return simulate(judged, measure, **{"estimator": "uniform", "rule": "pairs", **settings})


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_the_truth_is_effectiveness(
    make_dicts: Dicts, evaluate_quietly: Callable[..., aj.Effectiveness], measure: str, seed: int
) -> None:
    """Queries that nobody judged, which effectiveness leaves out, are judged here."""
    runs, grades = make_dicts(seed, n_systems=4)
    grades["999"] = {"d01": 2, "d02": 1}
    collection = aj.read(runs, grades, scale="0..3")
    found = candidates(collection, cutoff=int(measure.split("@")[1]))
    eff = evaluate_quietly(collection, measure)
    expected = eff.values[:, :, 0].mean(axis=0)
    np.testing.assert_allclose(
        true_scores(found, scoring(measure, found.scale)), [expected[eff.systems.index(s)] for s in found.systems]
    )


def test_queries_that_nobody_judged_say_nothing_of_the_cost() -> None:
    """What is answered beyond the judged queries changes nothing; a query without relevant documents is one of them."""
    names = "uvwxyz"
    runs = {
        system: {f"q{q}": [names[(first + step * q) % 6] for first in range(3)] for q in range(9)}
        for step, system in enumerate("abc")
    }
    grades = {f"q{q}": {name: float(q < 4 and (q + i) % 2) for i, name in enumerate(names)} for q in range(5)}
    alone = {system: {q: lists[q] for q in grades} for system, lists in runs.items()}
    settings: dict[str, Any] = {"estimators": ["uniform", "hierarchical"], "seeds": 2, "workers": 1, "at": [0, 0.5]}
    found, expected = (aj.simulate(aj.read(r, grades, scale="binary"), "P@3", **settings) for r in (runs, alone))
    assert found.to_dicts() == expected.to_dicts()
    assert found.notes == (*expected.notes, "4 of 9 queries are left out: not judged.")
    settings = {"estimators": "uniform", "samples": 2, "queries": 5, "systems": 2, "workers": 1}
    (of_all,), (of_judged,) = (
        aj.calibrate(aj.read(r, grades, scale="binary"), "P@3", **settings) for r in (runs, alone)
    )
    assert vars(of_all) == vars(of_judged)
    with pytest.raises(AdjudgeError, match="'queries' must be a whole number from 2 to 5, got 6"):
        aj.calibrate(aj.read(runs, grades, scale="binary"), "P@3", queries=6)


# The course of a simulation


def test_judging_stops_at_the_goal_and_not_before(judged: Candidates) -> None:
    goal = Goal(level=0.8, least=0)
    done = run(judged, goal=goal, seed=3)
    session = Session(judged.retrieved().unjudged(), "CG@5", estimator="uniform", rule="pairs", goal=goal, seed=3)
    while not session.done:
        pair = session.next()[0]
        session.judge(*pair, float(np.nan_to_num(judged.relevance[judged.find(*pair)])) * 3)
    assert done.stop.n_judged == len(session.judgments)
    assert done.reached
    assert (done.estimator, done.rule, done.seed) == ("uniform", "pairs", 3)


def test_a_goal_out_of_reach_ends_with_everything_judged(judged: Candidates) -> None:
    done = run(judged, goal=Goal(level=1 - 1e-15, zone=0))
    assert done.stop.n_judged == done.n_candidates
    assert not done.reached
    assert (done.stop.accuracy, done.stop.tau, done.stop.confidence) == (1, 1, 1)
    assert (done.stop.difference_error, done.stop.score_error) == pytest.approx((0, 0), abs=1e-12)
    assert (done.stop.covered, done.stop.covered_scores) == (1, 1)


def test_checkpoints_come_as_they_are_asked_for(judged: Candidates) -> None:
    n = run(judged).n_candidates
    done = run(judged, at=(0.5, 3, 0, 0.1, 3, 10**9), goal=Goal(level=0.01, least=0))
    assert [point.n_judged for point in done.checkpoints] == [round(n / 2), 3, 0, round(n / 10), 3, n]
    assert done.stop.n_judged == 0
    assert run(judged, goal=Goal(level=0.01, least=0)).checkpoints == ()


@pytest.mark.parametrize("batch", [2, 5, 1000])
def test_batches_meet_checkpoints_and_judge_everything_once(judged: Candidates, batch: int) -> None:
    done = run(judged, at=(1, 4, 17), batch=batch, until_end=True)
    assert [point.n_judged for point in done.checkpoints] == [1, 4, 17]
    assert run(judged, at=(0.999999,), batch=batch, until_end=True).checkpoints[0].accuracy == 1


@pytest.mark.parametrize("mark", [-1, 2.5, float("nan"), float("inf")])
def test_checkpoints_that_make_no_sense_are_refused(judged: Candidates, mark: float) -> None:
    with pytest.raises(AdjudgeError, match="A checkpoint must be a whole number of judgments or a share below 1"):
        run(judged, at=(mark,))


def test_nobody_is_asked_for_what_no_system_retrieved() -> None:
    runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
    grades = {"q": {"x": 1, "y": 0, "z": 1, **{f"far{i}": 1 for i in range(50)}}}
    done = run(candidates(aj.read(runs, grades), cutoff=2), "CG@2", until_end=True)
    assert done.n_candidates == 3


@pytest.mark.parametrize(
    ("runs", "n_pairs"),
    [({"a": {"q1": ["x", "y"], "q2": ["y"]}}, 0), ({s: {"q1": ["x", "y"]} for s in ("a", "copy")}, 1)],
    ids=["one system", "copies of a system"],
)
def test_without_a_difference_the_order_is_right_and_nothing_is_nan(runs: dict[str, Any], n_pairs: int) -> None:
    found = candidates(aj.read(runs, {"q1": {"x": 80}}, scale="fine"), cutoff=2)
    done = run(found, "nDCG@2", at=(0, 1), rule="information")
    for point in (*done.checkpoints, done.stop):
        assert all(np.isfinite(getattr(point, field.name)).all() for field in dataclasses.fields(point))
        assert (point.accuracy, point.tau, point.confidence, point.covered, point.difference_error) == (1, 1, 1, 1, 0)
        assert len(point.claimed) == n_pairs


# What is held against the truth


def test_a_checkpoint_by_hand(judged: Candidates) -> None:
    known = judged.retrieved()
    session = Session(known.unjudged(), "CG@5", estimator="prior", options={"from_judgments": True})
    for i in range(0, len(known), 4):
        session.judge(*session.pair(i), float(np.nan_to_num(known.relevance[i])) * 3)
    truth = true_scores(known, session.scoring)
    point, scores = checkpoint(session, truth), session.model.scores()
    df = session.model.confidence_df
    quantile = stats.t.ppf(0.975, df)
    pairs = np.array(list(itertools.combinations(range(known.n_systems), 2)))
    mean, true = (values[pairs[:, 0]] - values[pairs[:, 1]] for values in (scores.mean, truth))
    s = scores.covariance
    sd = np.array([np.sqrt(s[a, a] + s[b, b] - 2 * s[a, b]) for a, b in pairs])
    claimed, right = stats.t.cdf(np.abs(mean) / sd, df), (true == 0) | ((mean > 0) == (true > 0))
    np.testing.assert_allclose(point.claimed, claimed)
    np.testing.assert_array_equal(point.right, right)
    own, error = np.sqrt(np.diagonal(s)), scores.mean - truth
    expected = {
        "confidence": np.mean(claimed),
        "accuracy": np.mean(right),
        "tau": 2 * np.mean(right) - 1,
        "difference_error": np.sqrt(np.mean((mean - true) ** 2)),
        "score_error": np.sqrt(np.mean(error**2)),
        "covered": np.mean(np.abs(mean - true) <= quantile * sd),
        "covered_scores": np.mean(np.abs(error) <= quantile * own),
    }
    assert {name: getattr(point, name) for name in expected} == pytest.approx(expected)


def test_orders_that_are_not_claimed_are_half_right_and_true_ties_are_right() -> None:
    """Nothing judged, all expectations equal: a and b differ in truth, b and c do not."""
    runs = {s: {"q": [s]} for s in "abc"}
    found = candidates(aj.read(runs, {"q": {"a": 1, "b": 0, "c": 0}}), cutoff=1)
    (point,) = run(found, "CG@1", at=(0,)).checkpoints
    assert point.right.tolist() == [0.5, 0.5, 1]


# Many sessions


def test_seeds_only_matter_where_documents_are_equally_telling(judged: Candidates) -> None:
    runs = {"a": {"q": ["x", "y", "z"]}, "b": {"q": ["x"]}}
    found = candidates(aj.read(runs, {"q": {"y": 9}}, scale="fine"), cutoff=3)
    counts = {run(judged, seed=seed, rule="random", goal=Goal(least=0)).stop.n_judged for seed in range(8)}
    assert len(counts) > 1
    assert len({run(found, "RBP@3", seed=seed, goal=Goal(zone=0)).stop.n_judged for seed in range(8)}) == 1


def test_a_goal_by_name_is_described_in_the_notes() -> None:
    found = aj.simulate(aj.demo(queries=5, depth=5), "CG@5", estimators="uniform", goal="winner", seeds=1, at=())
    assert any("Goal: probability that the first system is the best ≥ 0.95" in note for note in found.notes)
