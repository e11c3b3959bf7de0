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
from adjudge.experiments.rates import Rates
from adjudge.experiments.report import experiment_report
from adjudge.experiments.samples import Samples, samples_of
from adjudge.experiments.spec import experiment_from, make_experiment
from adjudge.reporting.render import render


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
    assert [one.alpha for one in only.experiment.procedures] == [0.001, 0.01]
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
        findings.experiment.findings(findings.samples, part, findings.provenance)


def test_the_report_has_a_figure_of_every_procedure(findings: PowerFindings) -> None:
    report = experiment_report(findings)
    assert [figure.name for figure in report.figures] == ["power-t", "power-wilcoxon-1"]
    assert [figure.data.y_top for figure in report.figures] == [1.0, 1.0]  # the same axes
    page = render(report, "markdown")
    assert "with all" in page.lower()
    assert "t at 0.05" in str(findings)
    json.dumps(findings.to_dict(), allow_nan=False)


def test_nothing_is_lost_with_all_queries_and_the_words_name_the_part_that_was_fitted(findings: PowerFindings) -> None:
    curve = findings.curves[0]
    share = 79 / 153
    whole = replace(
        curve,
        sample=replace(curve.sample, systems=tuple(f"s{i}" for i in range(18))),
        n_queries=np.array([20]),
        power=Rates(*(np.array([share]) for _ in range(4))),
        whole=79,
    )
    assert str(whole.lost[0]) == "0.0"
    assert whole.fitted_part == "the curve"
    assert replace(whole, n_queries=np.array([5, 10, 15, 20])).fitted_part == "the upper half of the curve"


def test_all_queries_as_a_size_have_no_error_of_trials_and_no_smaller_set_is_spoken_of(samples: Samples) -> None:
    spec = Power(trials=2, sizes=(20,), procedures=("t",)).prepared(samples)  # type: ignore[arg-type]
    found = spec.findings(samples, run_chunk(spec, samples, 0, 2), samples.provenance)
    curve = found.curves[0]
    assert curve.n_queries.tolist() == [20]
    assert curve.power.low[0] == curve.power.value[0] == curve.power.high[0] == curve.whole / 6
    assert found.sentences()[0].endswith("t at 0.05.")


def test_samples_that_share_the_lead_are_all_named() -> None:
    values = np.random.default_rng(2).random((12, 4)) + np.array([0.0, 0.2, 0.5, 0.5])
    equal = np.random.default_rng(3).random((12, 4))
    several = samples_of(
        [aj.Effectiveness.from_matrix(one, measure=name) for one, name in ((values, "A"), (values, "B"), (equal, "C"))]
    )
    spec = make_experiment("power", trials=1, sizes=(6,), procedures=("t",)).prepared(several)
    told = spec.findings(several, run_chunk(spec, several, 0, 1), several.provenance).sentences()
    assert any("A and B find the largest share" in sentence and "and C the smallest" in sentence for sentence in told)
