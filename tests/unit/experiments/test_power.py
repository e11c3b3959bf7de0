from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.unit.experiments.trial_runs import find, samples

from adjudge.errors import AdjudgeError
from adjudge.experiments import Power, experiment_report
from adjudge.experiments.power import PowerFindings
from adjudge.experiments.rates import Rates

VALUES = np.random.default_rng(0).random((20, 4)) + np.array([0.0, 0.1, 0.3, 0.5])
SAMPLES = samples({"AP": VALUES, "RR": VALUES**2})


@pytest.fixture(scope="module")
def findings() -> PowerFindings:
    found: PowerFindings = find(Power(trials=12, procedures=("t", "wilcoxon-1@0.01")), SAMPLES)
    return found


def test_power_is_the_share_of_p_values_up_to_the_level(findings: PowerFindings) -> None:
    rows = findings.rows.filter((pl.col("sample") == "RR") & (pl.col("n_queries") == 10))
    curve = findings.of("RR", "wilcoxon-1")
    place = curve.n_queries.tolist().index(10)
    assert curve.power.value[place] == pytest.approx(np.mean(rows["wilcoxon-1"].to_numpy() <= 0.01))
    assert curve.significant[place] + curve.lost[place] == pytest.approx(curve.whole)


def test_curves_end_with_all_queries_without_error(findings: PowerFindings) -> None:
    for curve in findings.curves:
        assert curve.n_queries[-1] == 20
        assert curve.power.low[-1] == curve.power.value[-1] == curve.power.high[-1] == curve.whole / 6


def test_other_levels_can_be_asked_of_the_same_trials(findings: PowerFindings) -> None:
    strict = findings.at(0.001)
    assert all(b.whole <= a.whole for a, b in zip(findings.curves, strict.curves, strict=True))
    assert [each.alpha for each in findings.at({"t": 0.001}).experiment.procedures] == [0.001, 0.01]
    with pytest.raises(AdjudgeError, match="No test of this experiment is called 'sign'"):
        findings.at({"sign": 0.01})
    with pytest.raises(AdjudgeError, match="No sample is called 'P'"):
        findings.of("P", "t")


def test_enough_queries_stay_enough(findings: PowerFindings) -> None:
    curve = findings.of("AP", "t")
    enough = curve.enough(0.9)
    assert enough is not None
    assert (curve.significant[curve.n_queries >= enough] >= 0.9 * curve.whole - 1e-9).all()
    assert curve.reaching(7) is None  # there are six pairs


def test_a_logarithm_is_found_again(findings: PowerFindings) -> None:
    curve = findings.of("AP", "t")
    drawn = replace(curve.power, value=(1 + 0.5 * np.log2(curve.n_queries)) / 6)
    assert replace(curve, power=drawn).gain() == pytest.approx(0.5)


@pytest.mark.parametrize(("n", "sizes"), [(4, (3,)), (5, (4,)), (6, (5,)), (100, tuple(range(5, 100, 5)))])
def test_default_sizes_suit_small_samples(n: int, sizes: tuple[int, ...]) -> None:
    assert Power().prepared(samples(np.random.default_rng(0).random((n, 2)))).sizes == sizes


def test_samples_that_never_differ_have_no_power() -> None:
    found: PowerFindings = find(Power(trials=2), samples(np.ones((8, 3))))
    assert found.curves[0].enough() is None
    assert found.sentences()[0].startswith("With all 8 queries, 0 of 3 pairs")


def test_incomplete_rows_are_refused(findings: PowerFindings) -> None:
    part = findings.rows.filter(~((pl.col("trial") == 1) & (pl.col("n_queries") == 10)))
    with pytest.raises(AdjudgeError, match="rows of every sample and size in every trial"):
        findings.experiment.findings(findings.samples, part, findings.provenance)


def test_the_report_has_a_figure_of_every_procedure_with_the_same_axes(findings: PowerFindings) -> None:
    figures = experiment_report(findings).figures
    assert [(figure.name, figure.data.y_top) for figure in figures] == [("power-t", 1.0), ("power-wilcoxon-1", 1.0)]


def test_nothing_is_lost_with_all_queries_and_the_words_name_the_part_that_was_fitted(findings: PowerFindings) -> None:
    curve = findings.curves[0]
    whole = replace(
        curve,
        sample=replace(curve.sample, systems=tuple(f"s{i}" for i in range(18))),
        n_queries=np.array([20]),
        power=Rates(*np.full((4, 1), 79 / 153)),
        whole=79,
    )
    assert str(whole.lost[0]) == "0.0"
    assert whole.fitted_part == "the curve"
    assert replace(whole, n_queries=np.array([5, 10, 15, 20])).fitted_part == "the upper half of the curve"


def test_of_all_queries_as_a_size_no_smaller_set_is_spoken_of() -> None:
    found: PowerFindings = find(Power(trials=2, sizes=(20,), procedures=("t",)), SAMPLES)
    assert found.curves[0].n_queries.tolist() == [20]
    assert found.sentences()[0].endswith("t at 0.05.")


def test_samples_that_share_the_lead_are_all_named() -> None:
    values = np.random.default_rng(2).random((12, 4)) + np.array([0.0, 0.2, 0.5, 0.5])
    several = samples({"A": values, "B": values, "C": np.random.default_rng(3).random((12, 4))})
    said = find(Power(trials=1, sizes=(6,), procedures=("t",)), several).sentences()
    assert any("A and B find the largest share" in sentence and "and C the smallest" in sentence for sentence in said)
