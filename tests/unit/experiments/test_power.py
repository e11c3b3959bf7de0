from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.power import Power, PowerFindings
from adjudge.experiments.samples import Samples, samples_of
from adjudge.experiments.specification import experiment_from, make_experiment
from adjudge.reports.experiments import experiment_report
from adjudge.reports.render import render


@pytest.fixture(scope="module")
def samples() -> Samples:
    values = np.random.default_rng(0).random((20, 4)) + np.array([0.0, 0.1, 0.3, 0.5])
    return samples_of([aj.Effectiveness.from_matrix(values**k, measure=name) for k, name in ((1, "AP"), (2, "RR"))])


@pytest.fixture(scope="module")
def findings(samples: Samples) -> PowerFindings:
    spec = make_experiment("power", trials=12, procedures=("t", "wilcoxon-1@0.01")).prepared(samples)
    found = spec.findings(samples, run_chunk(spec, samples, 0, 12), samples.provenance)
    assert isinstance(found, PowerFindings)
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
        assert curve.power.value[-1] == curve.whole / 6
        assert curve.power.low[-1] == curve.power.high[-1]


def test_other_levels_can_be_asked_of_the_same_trials(findings: PowerFindings) -> None:
    strict = findings.at(0.001)
    assert all(b.whole <= a.whole for a, b in zip(findings.curves, strict.curves, strict=True))
    only = findings.at({"t": 0.001})
    assert [one.alpha for one in only.spec.procedures] == [0.001, 0.01]
    with pytest.raises(AdjudgeError, match="No test of this experiment is called 'sign'"):
        findings.at({"sign": 0.01})


def test_enough_queries_stay_enough(findings: PowerFindings) -> None:
    curve = findings.of("AP", "t")
    enough = curve.enough(0.9)
    assert enough is not None
    later = curve.significant[curve.n_queries >= enough]
    assert (later >= 0.9 * curve.whole - 1e-9).all()
    assert curve.reaching(7) is None  # there are six pairs


def test_a_logarithm_is_found_again(findings: PowerFindings) -> None:
    curve = findings.of("AP", "t")
    drawn = replace(curve.power, value=(1 + 0.5 * np.log2(curve.n_queries)) / 6)
    assert replace(curve, power=drawn).gain() == pytest.approx(0.5)


def test_default_sizes_suit_small_samples() -> None:
    for n, sizes in ((4, (3,)), (5, (4,)), (6, (5,)), (100, tuple(range(5, 100, 5)))):
        sample = samples_of(aj.Effectiveness.from_matrix(np.random.default_rng(0).random((n, 2)), measure="AP"))
        spec = Power().prepared(sample)
        assert spec.sizes == sizes


def test_a_specification_comes_back_from_plain_values(findings: PowerFindings) -> None:
    spec = findings.experiment
    assert experiment_from(json.loads(json.dumps(spec.to_dict()))) == spec


def test_bad_settings_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"power: 'enough' must be in \(0, 1\], got 2"):
        make_experiment("power", enough=2)


def test_samples_that_never_differ_have_no_power() -> None:
    same = samples_of(aj.Effectiveness.from_matrix(np.ones((8, 3)), measure="AP"))
    spec = Power(trials=2).prepared(same)
    found = spec.findings(same, run_chunk(spec, same, 0, 2), same.provenance)
    assert found.curves[0].enough() is None
    assert found.sentences()[0].startswith("With all 8 queries, 0 of 3 pairs")


def test_incomplete_rows_are_refused(findings: PowerFindings) -> None:
    part = findings.rows.filter(~((pl.col("trial") == 1) & (pl.col("n_queries") == 10)))
    with pytest.raises(AdjudgeError, match="expected rows of every sample and size in every trial"):
        findings.spec.findings(findings.samples, part, findings.provenance)


def test_the_report_has_a_figure_of_every_procedure(findings: PowerFindings) -> None:
    report = experiment_report(findings)
    assert [figure.name for figure in report.figures] == ["power-t", "power-wilcoxon-1"]
    page = render(report, "markdown")
    assert "with all" in page.lower()
    assert "t at 0.05" in str(findings)
    json.dumps(findings.to_dict(), allow_nan=False)
