from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.procedures import parse_procedures
from adjudge.experiments.report import experiment_report
from adjudge.experiments.run import run_experiment
from adjudge.experiments.samples import Samples, samples_of
from adjudge.experiments.spec import make_experiment
from adjudge.experiments.stability import Stability, StabilityFindings
from adjudge.reporting.render import render


@pytest.fixture(scope="module")
def samples() -> Samples:
    values = np.random.default_rng(0).random((20, 4)) + np.array([0.0, 0.1, 0.3, 0.5])
    return samples_of(aj.Effectiveness.from_matrix(values, measure="AP"))


@pytest.fixture(scope="module")
def by_hand(samples: Samples) -> StabilityFindings:
    """Six pairs in one trial: twice significant, one set only (both signs), both ways, neither, only the second."""
    systems = pl.Enum(samples.systems)
    pairs = [(a, b) for i, a in enumerate(samples.systems) for b in samples.systems[i + 1 :]]
    rows = pl.DataFrame(
        {
            "trial": pl.Series([0] * 6, dtype=pl.Int32),
            "sample": pl.Series(["AP"] * 6, dtype=pl.Enum(["AP"])),
            "n_queries": pl.Series([10] * 6, dtype=pl.Int32),
            "system": pl.Series([a for a, _ in pairs], dtype=systems),
            "other": pl.Series([b for _, b in pairs], dtype=systems),
            "difference": [0.3, 0.2, 0.2, 0.3, 0.1, 1e-17],  # the last: equal means but for rounding
            "t": [0.01, 0.05, 0.04, 0.01, 0.60, 0.06],
            "difference_again": [0.3, 0.1, -0.1, -0.3, -0.1, -1e-17],
            "t_again": [0.02, 0.30, 0.70, 0.03, 0.60, 0.05],
        }
    )
    spec = make_experiment("stability", trials=1, sizes=(10,), procedures=("t",))
    found = spec.findings(samples, rows, samples.provenance)
    assert isinstance(found, StabilityFindings)
    return found


def test_conflicts_are_told_apart(by_hand: StabilityFindings) -> None:
    (row,) = by_hand.to_dicts()
    assert row["power"] == pytest.approx(7 / 12)
    assert row["conflicts"] == pytest.approx(3 / 6)
    assert row["lack_of_power"] == pytest.approx(2 / 6)
    assert row["minor"] == pytest.approx(1 / 6)
    assert row["major"] == pytest.approx(1 / 6)


def test_a_result_is_not_repeated_without_the_same_sign(by_hand: StabilityFindings) -> None:
    (row,) = by_hand.to_dicts()
    assert row["unrepeated"] == pytest.approx(5 / 7)  # three on one set only, and both of the major conflict
    assert row["repeated"] == pytest.approx(2 / 7)
    assert row["both"] == pytest.approx(1 / 6)


def test_no_share_is_negative_where_hardly_anything_repeats() -> None:
    values = np.random.default_rng(4).random((24, 8))  # systems that are all alike: what is significant is luck
    alike = aj.Effectiveness.from_matrix(values)
    found = run_experiment(Stability(trials=40, sizes=(12,), procedures=parse_procedures(["t"])), alike, workers=1)
    assert isinstance(found, StabilityFindings)
    assert float(found.curves[0].stable[-1]) < 0  # as the paper defines it, which is why nothing shows it
    (row,), (summary,) = found.to_dicts(), found.summary()
    numbers = [value for record in (row, summary) for value in record.values() if isinstance(value, float)]
    assert min(numbers) >= 0
    assert max(numbers) <= 1
    assert not [name for record in (row, summary) for name in record if "stable" in name]


def test_the_first_sentence_says_of_what_the_rate_is(by_hand: StabilityFindings) -> None:
    said = by_hand.sentences()
    assert said[0].startswith("With 10 queries, 71.4 % [")
    assert said[0].endswith("of the significant results of t at 0.05 by AP would not repeat with 10 other queries.")
    assert any("1 of 6 comparisons by t" in one for one in said)


def test_other_levels_can_be_asked_of_the_same_trials(by_hand: StabilityFindings) -> None:
    (row,) = by_hand.at(0.001).to_dicts()
    assert row["power"] == 0
    assert row["unrepeated"] is None
    assert by_hand.at(0.001).sentences()[0] == "With 10 queries, nothing is significant by AP, t at 0.001."


def test_two_sets_of_a_real_trial_share_no_query_and_are_reported(samples: Samples) -> None:
    spec = Stability(trials=4).prepared(samples)
    assert spec.sizes == (5, 6, 7, 8, 9, 10)
    found = spec.findings(samples, run_chunk(spec, samples, 0, 4), samples.provenance)
    # the halves of all queries: their mean difference is that of the whole, whatever the trial
    halves = found.rows.filter(pl.col("n_queries") == 10)
    means = samples[0].values.mean(axis=0)
    whole = np.tile([means[a] - means[b] for a in range(4) for b in range(a + 1, 4)], 4)
    np.testing.assert_allclose((halves["difference"] + halves["difference_again"]).to_numpy() / 2, whole)
    report = experiment_report(found)
    assert [figure.name for figure in report.figures] == ["stability-friedman-tukey", "stability-wilcoxon-1"]
    highest = max(float(curve.conflicts.high.max()) for curve in found.curves)
    assert len({figure.data.y_top for figure in report.figures}) == 1  # the same axes
    assert report.figures[0].data.y_top >= highest
    assert "would not repeat" in render(report, "markdown") or "nothing is significant" in render(report, "markdown")
    assert "repeated" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
