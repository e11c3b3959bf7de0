"""Reliability of G-theory: closed forms against the G-study, SciPy and known truth; its report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from tests.unit.experiments.trial_runs import find, samples

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.reliability import (
    Reliability,
    ReliabilityFindings,
    compared_means,
    components,
    reliability_sections,
    true_components,
)
from adjudge.experiments.simulate.collection import fit_collection
from adjudge.reporting.document import FigureBlock, TableBlock
from adjudge.stats.gtheory.gstudy import gstudy


def normal(rng: np.random.Generator, n_queries: int, n_systems: int, sets: int = 1) -> Floats:
    """Variances .04 of systems, .09 of queries, .16 of the rest."""
    system, query = rng.normal(0, 0.2, (sets, 1, n_systems)), rng.normal(0, 0.3, (sets, n_queries, 1))
    values: Floats = system + query + rng.normal(0, 0.4, (sets, n_queries, n_systems))
    return values


def found(values: Floats, *, trials: int = 40, **settings: Any) -> ReliabilityFindings:
    findings: ReliabilityFindings = find(Reliability(trials=trials, **settings), samples(values))
    return findings


def test_rankings_of_systems_do_not_see_rounding() -> None:
    """Means of tenths are equal where the sums of whole numbers are; SciPy has the truth on those."""
    rng = np.random.default_rng(1)
    one, other = (rng.integers(0, 3, size=(30, 20)) for _ in range(2))
    truth = compared_means(one.sum(axis=0).astype(float), other.sum(axis=0).astype(float))
    assert truth["tau"] == pytest.approx(scipy.stats.kendalltau(one.sum(axis=0), other.sum(axis=0)).statistic)
    found_ = compared_means((one / 10).mean(axis=0), (other / 10).mean(axis=0))
    for name in ("tau", "tau_ap", "swapped"):
        assert found_[name] == pytest.approx(truth[name])


@pytest.mark.parametrize("seed", range(6))
def test_the_closed_form_is_the_g_study(seed: int) -> None:
    values = normal(np.random.default_rng(seed), 12, 5)[0] * (0.1 if seed % 2 else 1)
    study, closed = gstudy(values), components(values)
    assert closed.variances == pytest.approx(study.variances, abs=1e-12)
    decided = study.dstudy(40, target=0.9, interval="f", confidence=0.9)
    for index, absolute in (("e_rho2", False), ("phi", True)):
        assert float(closed.index(40, absolute=absolute)) == pytest.approx(getattr(decided.rows[0], index))
        low, high = closed.interval(40, absolute=absolute, confidence=0.9)
        ends = (getattr(decided.rows[0], f"{index}_low"), getattr(decided.rows[0], f"{index}_high"))
        assert (float(low), float(high)) == pytest.approx(ends)
        assert float(closed.needed(0.9, absolute=absolute)) == (decided.need(index).n_queries or np.inf)


def test_variances_are_right_on_average_and_f_intervals_cover_as_often_as_they_say() -> None:
    closed = components(normal(np.random.default_rng(3), 15, 10, sets=4000))
    raw = ((closed.system - closed.residual) / 15, (closed.query - closed.residual) / 10, closed.residual)
    for values, truth in zip(raw, (0.04, 0.09, 0.16), strict=True):
        assert abs(values.mean() - truth) < 4 * values.std() / np.sqrt(4000)
    low, high = closed.interval(15, absolute=False, confidence=0.9)
    truth = 0.04 / (0.04 + 0.16 / 15)
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 4000))


def test_rankings_are_compared_as_scipy_does_from_the_same_to_the_reverse() -> None:
    rng = np.random.default_rng(4)
    for _ in range(5):
        first, second = rng.integers(0, 9, (2, 12)) / 8
        result = compared_means(first, second)
        assert result["tau"] == pytest.approx(scipy.stats.kendalltau(first, second).statistic)
        correlation = result["covariance"] / np.sqrt(result["variance"] * result["variance_again"])
        assert correlation == pytest.approx(scipy.stats.pearsonr(first, second).statistic)
    order = np.arange(6.0)
    for second, tau in ((order, 1), (-order, -1), (np.zeros(6), np.nan)):
        ends = compared_means(order, second)
        assert [ends["tau"], ends["tau_ap"]] == pytest.approx([tau, tau], nan_ok=True)


def test_on_normal_data_two_sets_correlate_as_predicted() -> None:
    result = found(normal(np.random.default_rng(5), 200, 40)[0], trials=200, sizes=(20, 50, 100))
    for shown in result.repeated:
        error = (shown.correlation_high - shown.correlation_low) / 4
        assert abs(shown.correlation - shown.correlation_known) < 4 * error
        assert shown.correlation == pytest.approx(shown.correlation_predicted, abs=0.015)
        assert shown.rmse == pytest.approx(shown.rmse_predicted, rel=0.05)
    spread = [row.all_sd for row in result.estimates if row.index == "e_rho2"]
    assert spread == sorted(spread, reverse=True)
    assert all(row.covered_low <= row.covered <= row.covered_high for row in result.estimates)


def test_systems_that_do_not_differ_need_more_queries_than_there_are() -> None:
    values = np.random.default_rng(6).normal(0, 0.1, (40, 3))
    result = found(values - values.mean(axis=0), trials=5)
    assert result.estimates[0].needed_known == np.inf
    assert any("out of reach" in text for text in result.sentences())
    assert result.to_dict()["table"][0]["needed_known"] is None


def test_sizes_are_tens_up_to_half_of_the_queries() -> None:
    values = normal(np.random.default_rng(7), 50, 4)[0]
    assert sorted({row.n_queries for row in found(values, trials=2).repeated}) == [10, 20]
    assert [row.n_queries for row in found(values[:9], trials=2).repeated] == [4]


def test_the_truth_of_a_model_is_what_its_queries_have() -> None:
    """Against the covariances of queries drawn with another seed."""
    model = fit_collection(np.clip(normal(np.random.default_rng(8), 40, 5)[0] + 0.5, 0, 1), dependence="gaussian")
    drawn = model.draw(np.random.default_rng(9), 60_000)
    covariances = np.cov(drawn.T)
    shared = (covariances.sum() - np.trace(covariances)) / 20
    truth = [np.var(drawn.mean(axis=0), ddof=1), shared, np.trace(covariances) / 5 - shared]
    assert [float(v) for v in true_components(model, 40).variances] == pytest.approx(truth, rel=0.06)


def test_estimates_from_simulated_queries_are_held_against_the_model() -> None:
    values = np.clip(normal(np.random.default_rng(10), 30, 6)[0] + 0.5, 0, 1)
    result = found(values, trials=300, sizes=(40,), truth="simulated", dependence="gaussian")  # more than there are
    truth = true_components(fit_collection(values, dependence="gaussian"), 30)
    (relative, absolute), (shown,) = result.estimates, result.repeated
    assert relative.all_known == pytest.approx(float(truth.index(30, absolute=False)))
    assert absolute.all_known == pytest.approx(float(truth.index(30, absolute=True)))
    assert abs(shown.correlation - shown.correlation_known) < shown.correlation_high - shown.correlation_low
    for column, expected in (("ms_query", truth.query), ("ms_residual", truth.residual)):
        of_trials = result.rows[column].to_numpy()
        assert abs(of_trials.mean() - float(expected)) < 4 * of_trials.std() / np.sqrt(300)
    assert "in truth" in result.sentences()[1]
    assert "Queries are simulated" in result.sentences()[-1]


def test_settings_of_a_model_that_is_not_used_are_refused() -> None:
    with pytest.raises(AdjudgeError, match="reliability: 'margin' is of the model behind the truth 'simulated'"):
        Reliability(margin="beta")


@pytest.fixture(scope="module")
def findings() -> ReliabilityFindings:
    return found(np.random.default_rng(1).normal(0, 1, (40, 5)) + np.arange(5), trials=4)


@pytest.mark.parametrize(("truth", "known"), [("collection", "with all queries"), ("simulated", "in truth")])
def test_the_report_names_what_estimates_are_held_against(
    findings: ReliabilityFindings, truth: str, known: str
) -> None:
    spec = replace(findings.experiment, truth=truth)
    findings = spec.findings(findings.samples, findings.rows, findings.provenance)
    blocks = [block for section in reliability_sections(findings) for block in section.blocks]
    assert [len(block.rows) for block in blocks if isinstance(block, TableBlock)] == [4, 2]
    spread, against = (block for block in blocks if isinstance(block, FigureBlock))
    assert spread.caption.endswith(f"Dotted lines are the values {known}.")
    assert spread.data.panels[0].levels == (findings.estimates[0].all_known, findings.estimates[1].all_known)
    labels = [curve.label for curve in against.data.panels[0].curves]
    assert labels[:3] == ["Eρ², predicted", f"Eρ², {known}", "correlation, observed"]


def test_sentences_go_through_a_few_samples_and_leave_others_to_tables() -> None:
    values = np.random.default_rng(1).normal(0, 1, (12, 3)) + np.arange(3)
    said = find(Reliability(trials=2, sizes=(4,)), samples({f"c{i}": values for i in range(6)})).sentences()
    assert said[-2] == "Tables have 2 more samples."
    assert not any("c4" in sentence for sentence in said)
