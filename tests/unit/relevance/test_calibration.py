from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.relevance.calibration import Bin, Calibrations, binned, calibrate_judging
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.simulation import simulate


@pytest.fixture(scope="module")
def judged() -> Candidates:
    return candidates(aj.demo(queries=8, depth=5), cutoff=5)


def run(judged: Candidates, **settings: Any) -> Calibrations:
    usual: dict[str, Any] = {"samples": 2, "systems": 4, "queries": 3, "workers": 1}
    return calibrate_judging(judged, **{"estimators": ["uniform", "prior"], "rules": "pairs", **usual, **settings})


def test_bins_by_hand() -> None:
    claimed = np.array([0.5, 0.55, 0.6, 0.65, 0.949, 0.95, 0.989, 0.99, 1.0, 1.0])
    right = np.array([1.0, 0, 1, 0.5, 1, 1, 0, 1, 1, 0])
    expected = [
        (0.5, 0.6, 2, 0.525, 0.5),
        (0.6, 0.7, 2, 0.625, 0.75),
        (0.9, 0.95, 1, 0.949, 1.0),
        (0.95, 0.99, 2, 0.9695, 0.5),
        (0.99, 1.0, 3, 2.99 / 3, 2 / 3),
    ]
    np.testing.assert_allclose([dataclasses.astuple(b) for b in binned(claimed, right)], expected)


def test_calibration_error_weighs_bins_by_their_pairs(judged: Candidates) -> None:
    found = run(judged, estimators="uniform", samples=1)[0]
    bins = (Bin(0.5, 0.6, 10, 0.55, 0.75), Bin(0.9, 0.95, 30, 0.93, 0.83))
    assert dataclasses.replace(found, bins=bins).calibration_error == pytest.approx((10 * 0.2 + 30 * 0.1) / 40)
    assert dataclasses.replace(found, bins=()).calibration_error == 0


def test_summaries_are_means_of_simulations_on_the_same_parts(judged: Candidates) -> None:
    """Sample i draws from its own stream: queries, then systems."""
    shares, goal = (0.1, 0.4), Goal(level=0.8)
    found = run(judged, rules=["pairs", "random"], at=shares, seed=9, goal=goal)
    methods = list(itertools.product(["uniform", "prior"], ["pairs", "random"]))
    for summary, (estimator, rule) in zip(found, methods, strict=True):
        runs = []
        for i in range(2):
            rng = np.random.default_rng(np.random.SeedSequence(9, spawn_key=(i,)))
            queries, systems = rng.choice(8, 3, replace=False), rng.choice(12, 4, replace=False)
            part = judged.part(queries=queries.tolist(), systems=systems.tolist())
            runs.append(simulate(part, "CG@5", estimator=estimator, rule=rule, at=shares, seed=i, goal=goal))
        assert (summary.estimator, summary.rule, summary.n_samples, summary.shares) == (estimator, rule, 2, shares)
        for name in ("confidence", "accuracy", "covered", "difference_error", "score_error"):
            values = [[getattr(point, name) for point in run.checkpoints] for run in runs]
            assert getattr(summary, name) == pytest.approx(np.mean(values, axis=0))
        assert summary.stop_share == pytest.approx(np.mean([run.stop.n_judged / run.n_candidates for run in runs]))
        assert summary.stop_accuracy == pytest.approx(np.mean([run.stop.accuracy for run in runs]))
        assert summary.reached == np.mean([run.reached for run in runs])
        assert sum(b.n for b in summary.bins) == 2 * 2 * 6  # samples, shares, pairs of four systems


def test_with_everything_judged_all_is_right(judged: Candidates) -> None:
    found = run(judged, at=(1.0, 0.1, 0.1001, 0.1))[0]
    assert found.shares == (0.1, 0.1001, 1.0)
    assert found.accuracy[0] == found.accuracy[1]
    assert found.accuracy[2] == found.covered[2] == 1


def test_claims_are_compared_before_any_judgment_too(judged: Candidates) -> None:
    (found,) = run(judged, estimators="uniform", at=[0])
    assert (found.shares, found.confidence, found.accuracy) == ((0,), (0.5,), (0.5,))  # nothing is known, or claimed


def test_answers_depend_on_the_seed_and_not_on_processes(judged: Candidates) -> None:
    first, again, other = (
        [dataclasses.asdict(method) for method in run(judged, estimators="uniform", **settings)]
        for settings in ({"workers": 1}, {"workers": 2}, {"seed": 1})
    )
    assert first == again != other


def test_parts_have_half_of_everything_by_default(judged: Candidates) -> None:
    (found,) = run(judged, estimators="uniform", samples=1, systems=None, queries=None, at=(0.1,))
    assert sum(b.n for b in found.bins) == 15  # pairs of six systems


def test_options_go_to_their_estimator(judged: Candidates) -> None:
    options = {"prior": {"mean": 99.0, "variance": 1.0}}
    plain, sure = run(judged, at=(0.1,)), run(judged, at=(0.1,), options=options)
    assert plain[0].accuracy == sure[0].accuracy
    assert plain[1].score_error != sure[1].score_error


def test_an_estimator_warns_once(judged: Candidates) -> None:
    with pytest.warns(AdjudgeWarning, match="No document has the metadata") as heard:
        run(judged.without_metadata(), estimators="output")
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimators": []}, "expected at least one method and one share, got 0"),
        ({"at": ()}, "expected at least one method and one share"),
        ({"at": (0.5, 1.5)}, r"'at' must be in \[0, 1\], got 1.5"),
        ({"systems": 13}, "'systems' must be a whole number from 2 to 12, got 13"),
    ],
)
def test_what_makes_no_sense_is_refused(judged: Candidates, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        run(judged, **settings)


def test_one_system_cannot_be_sampled() -> None:
    alone = candidates(aj.read({"a": {"q1": ["x"], "q2": ["x"]}}, {"q1": {"x": 1}}), cutoff=1)
    with pytest.raises(AdjudgeError, match="Parts of a collection need at least 2 systems, got 1"):
        run(alone)
