from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.relevance.calibration import Bin, Calibration, binned, calibrate
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.simulation import simulate

METHODS = [("uniform", "pairs"), ("prior", "random")]
Make = Callable[..., aj.Collection]


@pytest.fixture(scope="module")
def judged() -> Candidates:
    return candidates(aj.demo(queries=8, depth=5), cutoff=5)


def run(judged: Candidates, **settings: Any) -> list[Calibration]:
    chosen: dict[str, Any] = {"methods": METHODS, "samples": 2, "systems": 4, "queries": 3, "workers": 1, **settings}
    return calibrate(judged, "CG@5", **chosen)


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
    np.testing.assert_allclose([dataclasses.astuple(one) for one in binned(claimed, right)], expected)


def test_calibration_error_weighs_bins_by_their_pairs(judged: Candidates) -> None:
    one = dataclasses.replace(
        run(judged)[0], bins=(Bin(0.5, 0.6, 10, 0.55, 0.75), Bin(0.9, 0.95, 30, 0.93, 0.83)), shares=()
    )
    assert one.calibration_error == pytest.approx((10 * 0.2 + 30 * 0.1) / 40)
    assert dataclasses.replace(one, bins=()).calibration_error == 0


def test_summaries_are_means_of_simulations_on_the_same_parts(judged: Candidates) -> None:
    """Sample i draws from its own stream: queries, then systems."""
    shares = (0.1, 0.4)
    found = run(judged, shares=shares, seed=9, goal=Goal(level=0.8))
    for one, (estimator, rule) in zip(found, METHODS, strict=True):
        runs = []
        for i in range(2):
            rng = np.random.default_rng(np.random.SeedSequence(9, spawn_key=(i,)))
            queries, systems = rng.choice(8, 3, replace=False), rng.choice(12, 4, replace=False)
            part = judged.part(queries=queries.tolist(), systems=systems.tolist())
            runs.append(simulate(part, "CG@5", estimator=estimator, rule=rule, at=shares, seed=i, goal=Goal(level=0.8)))
        assert (one.estimator, one.rule, one.n_samples, one.shares) == (estimator, rule, 2, shares)
        for k in range(2):
            points = [run.checkpoints[k] for run in runs]
            for name in ("confidence", "accuracy", "covered", "difference_error", "score_error"):
                assert getattr(one, name)[k] == pytest.approx(np.mean([getattr(point, name) for point in points]))
        assert one.stop_share == pytest.approx(np.mean([run.stop.n_judged / run.n_candidates for run in runs]))
        assert one.stop_accuracy == pytest.approx(np.mean([run.stop.accuracy for run in runs]))
        assert one.reached == np.mean([run.reached for run in runs])
        assert sum(b.n for b in one.bins) == 2 * 2 * 6  # samples, shares, pairs of four systems


def test_shares_keep_their_order_and_may_fall_together(judged: Candidates) -> None:
    up, down = run(judged, shares=(0.05, 0.4, 1.0)), run(judged, shares=(1.0, 0.4, 0.05))
    assert up[0].accuracy == down[0].accuracy[::-1]
    assert up[0].accuracy[2] == 1
    assert up[0].covered[2] == 1
    near = run(judged, shares=(0.1, 0.1001, 0.4))[0]
    assert near.accuracy[0] == near.accuracy[1]


def test_answers_do_not_depend_on_processes(judged: Candidates) -> None:
    one, two = run(judged, workers=1), run(judged, workers=2)
    for a, b in zip(one, two, strict=True):
        assert dataclasses.asdict(a) == dataclasses.asdict(b)


def test_the_same_seed_draws_the_same_parts_and_another_seed_others(judged: Candidates) -> None:
    assert dataclasses.asdict(run(judged)[0]) == dataclasses.asdict(run(judged)[0])
    assert dataclasses.asdict(run(judged, seed=1)[0]) != dataclasses.asdict(run(judged)[0])


def test_parts_have_half_of_everything_unless_told(judged: Candidates) -> None:
    (one,) = calibrate(judged, "CG@5", methods=METHODS[:1], samples=1, shares=(0.1,), workers=1)
    assert sum(b.n for b in one.bins) == 15  # pairs of six systems


def test_options_go_to_their_estimator(judged: Candidates) -> None:
    options = {"prior": {"mean": 99.0, "variance": 1.0}}
    plain, sure = run(judged, shares=(0.1,)), run(judged, shares=(0.1,), options=options)
    assert plain[0].accuracy == sure[0].accuracy
    assert plain[1].score_error != sure[1].score_error


def test_what_an_estimator_warns_of_is_heard_once(judged: Candidates) -> None:
    with pytest.warns(AdjudgeWarning, match="No document has the metadata") as heard:
        calibrate(judged.without_metadata(), "CG@5", methods=[("output", "pairs")], samples=2, workers=1)
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"samples": 0}, "'samples' must be a whole number of at least 1, got 0"),
        ({"methods": []}, "expected at least one method and one share, got 0"),
        ({"systems": 13}, "'systems' of a sample must be from 2 to 12, got 13"),
        ({"systems": 1}, "'systems' must be a whole number of at least 2, got 1"),
        ({"queries": 0}, "'queries' must be a whole number of at least 2, got 0"),
        ({"shares": ()}, "expected at least one method and one share"),
        ({"shares": (0.5, 1.5)}, r"'shares' must be in \(0, 1\], got 1.5"),
        ({"seed": -1}, "'seed' must be a whole number of at least 0, got -1"),
        ({"workers": 0}, "'workers' must be a whole number of at least 1, got 0"),
        ({"methods": [("oracle", "pairs")]}, "No relevance estimator is called 'oracle'"),
        ({"methods": [("uniform", "best")]}, "No selection rule is called 'best'"),
    ],
)
def test_what_makes_no_sense_is_refused(judged: Candidates, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        run(judged, **settings)


def test_one_system_cannot_be_sampled() -> None:
    one = candidates(aj.read({"a": {"q1": ["x"], "q2": ["x"]}}, {"q1": {"x": 1}}), cutoff=1)
    with pytest.raises(AdjudgeError, match="Parts of a collection need at least 2 systems, got 1"):
        calibrate(one, "CG@1", methods=METHODS)
