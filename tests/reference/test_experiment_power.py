"""Power and stability on MIREX 2011: REFERENCE.md, and the shape that Urbano et al. (ISMIR 2011) report of 2009."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.experiments.trial_runs import find

import adjudge as aj
from adjudge.experiments import Power, Stability
from adjudge.experiments.comparing import FIVE_TESTS
from adjudge.experiments.power import PowerFindings
from adjudge.experiments.samples import Samples, samples_of
from adjudge.experiments.stability import StabilityFindings

MEASURES = ("CG@5", "nDCG(discount=original)@5", "ANDCG(discount=original)@5", "ADR@5")


@pytest.fixture(scope="module")
def fine(mirex2011: aj.Collection, shared_data: Path) -> Samples:
    lines = (shared_data / "mirex2011" / "metadata.tsv").read_text().splitlines()
    genre = {line.split("\t")[0]: line.split("\t")[2] for line in lines}
    return samples_of(aj.evaluate(mirex2011, list(MEASURES)), scale="fine", strata=genre)


@pytest.fixture(scope="module")
def power(fine: Samples) -> PowerFindings:
    found: PowerFindings = find(Power(trials=4, sizes=(10, 30, 50, 70)), fine)
    return found


@pytest.fixture(scope="module")
def stability(fine: Samples) -> StabilityFindings:
    found: StabilityFindings = find(Stability(trials=4, sizes=(10, 50)), fine)
    return found


def test_all_queries_find_what_is_published(power: PowerFindings) -> None:
    assert power.of("CG@5 on fine", "friedman-tukey").whole == 96
    assert power.of("CG@5 on fine", "wilcoxon-1").whole == 119


def test_power_rises_with_the_number_of_queries(power: PowerFindings) -> None:
    for curve in power.curves:
        assert (np.diff(curve.power.value) > 0).all()


def test_adr_on_fine_is_clearly_the_worst(power: PowerFindings) -> None:
    for procedure in ("friedman-tukey", "wilcoxon-1"):
        adr, *others = (power.of(f"{name} on fine", procedure) for name in reversed(MEASURES))
        for other in others:
            assert (adr.power.value[2:] < other.power.value[2:] - 0.1).all()


def test_half_the_queries_and_wilcoxon_find_what_friedman_finds_with_all(power: PowerFindings) -> None:
    reached = power.of("CG@5 on fine", "wilcoxon-1").reaching(96)
    assert reached is not None
    assert reached <= 50


def test_no_difference_is_significant_both_ways_by_friedman(stability: StabilityFindings) -> None:
    for name in MEASURES:
        assert stability.of(f"{name} on fine", "friedman-tukey").major.value.max() == 0


def test_conflicts_are_mostly_lack_of_power(stability: StabilityFindings) -> None:
    curve = stability.of("CG@5 on fine", "wilcoxon-1")
    assert curve.lack_of_power.value[-1] > 0.9 * curve.conflicts.value[-1]


def test_halves_disagree_as_often_as_the_thesis_says(fine: Samples) -> None:
    """REFERENCE.md: .257 not significant; .067 + .0096 + .0002 of results not repeated, five tests at .05 pooled.

    All five are needed, as they differ more among themselves than trials do; without strata, as in the thesis.
    """
    plain = Samples((replace(fine[0], strata=()),))
    found: StabilityFindings = find(Stability(trials=25, sizes=(50,), procedures=FIVE_TESTS, resamples=500), plain)
    power = np.array([curve.power.value[-1] for curve in found.curves])
    unrepeated = np.array([curve.unrepeated.value[-1] for curve in found.curves])
    errors = [(curve.power.error[-1], curve.unrepeated.error[-1]) for curve in found.curves]
    of_power, of_unrepeated = np.max(errors, axis=0)
    assert 1 - power.mean() == pytest.approx(0.257, abs=3 * of_power)
    assert np.average(unrepeated, weights=power) == pytest.approx(0.0768, abs=3 * of_unrepeated)


def test_the_sign_test_of_the_authors_runs_in_experiments(shared_data: Path) -> None:
    """REFERENCE.md: .00955987885663489 with |d| <= .01 as ties; dropping zeros only gives .01535."""
    matrix = np.loadtxt(shared_data / "trec" / "adhoc8_ap.csv", delimiter=",", skiprows=1)[:, [124, 125]]
    procedures = ("sign", "sign(min_difference=0.01)")
    samples = samples_of(aj.Effectiveness.from_matrix(matrix))
    found = find(Power(trials=1, sizes=(50,), procedures=procedures), samples)
    assert found.rows["sign(min_difference=0.01)"][0] == pytest.approx(0.00955987885663489, rel=1e-12)
    assert found.rows["sign"][0] == pytest.approx(0.01535, abs=5e-6)
