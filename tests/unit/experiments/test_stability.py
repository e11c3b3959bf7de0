from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.unit.experiments.trial_runs import find, samples

from adjudge.experiments import Stability, experiment_report
from adjudge.experiments.stability import StabilityFindings

SAMPLES = samples(np.random.default_rng(0).random((20, 4)) + np.array([0.0, 0.1, 0.3, 0.5]))


@pytest.fixture(scope="module")
def by_hand() -> StabilityFindings:
    """Six pairs in one trial: twice significant, one set only (both signs), both ways, neither, only the second."""
    rows = pl.DataFrame(
        {
            "trial": pl.Series([0] * 6, dtype=pl.Int32),
            "sample": pl.Series(["AP"] * 6, dtype=pl.Enum(["AP"])),
            "n_queries": pl.Series([10] * 6, dtype=pl.Int32),
            "difference": [0.3, 0.2, 0.2, 0.3, 0.1, 1e-17],  # the last: equal means but for rounding
            "t": [0.01, 0.05, 0.04, 0.01, 0.60, 0.06],
            "difference_again": [0.3, 0.1, -0.1, -0.3, -0.1, -1e-17],
            "t_again": [0.02, 0.30, 0.70, 0.03, 0.60, 0.05],
        }
    )
    spec = Stability(trials=1, sizes=(10,), procedures=("t",))
    return spec.findings(SAMPLES, rows, SAMPLES.provenance)


def test_conflicts_are_told_apart_and_a_result_is_not_repeated_without_the_same_sign(
    by_hand: StabilityFindings,
) -> None:
    (row,) = by_hand.to_dicts()
    expected = {"power": 7 / 12, "conflicts": 3 / 6, "lack_of_power": 2 / 6, "minor": 1 / 6, "major": 1 / 6}
    expected |= {"unrepeated": 5 / 7, "repeated": 2 / 7, "both": 1 / 6}  # three on one set only, and both of the major
    assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_no_share_is_negative_where_hardly_anything_repeats() -> None:
    alike = samples(np.random.default_rng(4).random((24, 8)))  # what is significant is luck
    found: StabilityFindings = find(Stability(trials=40, sizes=(12,), procedures=("t",)), alike)
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
    assert any("1 of 6 comparisons by t" in sentence for sentence in said)


def test_other_levels_can_be_asked_of_the_same_trials(by_hand: StabilityFindings) -> None:
    (row,) = by_hand.at(0.001).to_dicts()
    assert (row["power"], row["unrepeated"]) == (0, None)
    assert by_hand.at(0.001).sentences()[0] == "With 10 queries, nothing is significant by AP, t at 0.001."


def test_two_sets_of_a_real_trial_share_no_query_and_figures_have_the_same_axes() -> None:
    found: StabilityFindings = find(Stability(trials=4), SAMPLES)
    assert found.experiment.sizes == (5, 6, 7, 8, 9, 10)
    # the halves of all queries: their mean difference is that of the whole, whatever the trial
    halves = found.rows.filter(pl.col("n_queries") == 10)
    means = SAMPLES[0].values.mean(axis=0)
    whole = np.tile([means[a] - means[b] for a in range(4) for b in range(a + 1, 4)], 4)
    np.testing.assert_allclose((halves["difference"] + halves["difference_again"]).to_numpy() / 2, whole)
    figures = experiment_report(found).figures
    assert [figure.name for figure in figures] == ["stability-friedman-tukey", "stability-wilcoxon-1"]
    assert len({figure.data.y_top for figure in figures}) == 1
    assert figures[0].data.y_top >= max(float(curve.conflicts.high.max()) for curve in found.curves)
