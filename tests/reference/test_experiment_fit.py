"""Goodness of fit and reliability on MIREX 2011: thesis Tables 4.4 and 4.5 in shape, Table 6.2 in numbers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.experiments.trial_runs import find

import adjudge as aj
from adjudge.experiments.goodness import Fit, FitFindings
from adjudge.experiments.reliability import components
from adjudge.experiments.samples import Samples, samples_of


@pytest.fixture(scope="module")
def fitted(mirex2011: aj.Collection) -> FitFindings:
    fine = samples_of(aj.evaluate(mirex2011, ["CG(ideal=max)@5", "GAP(ideal=max)@5"]), scale="fine")
    binary = samples_of(aj.evaluate(mirex2011.rescaled("binary40"), ["P@5"]), scale="binary40")
    samples = Samples((*fine, *binary))
    findings: FitFindings = find(Fit(trials=60, sizes=(20, 50)), samples)
    return findings


def test_beta_is_best_on_the_fine_scale_and_the_sample_itself_with_two_levels(fitted: FitFindings) -> None:
    # Table 4.4, 50 queries: beta .4808 (CG) and .4822 (GAP) on Fine, empirical .4739 (P, relevant from 40)
    best = {cell.sample: cell.distribution for cell in fitted.cells if cell.best and cell.n_queries == 50}
    assert list(best.values()) == ["beta", "beta", "empirical"]


def test_distances_are_of_the_size_that_the_thesis_reports(fitted: FitFindings) -> None:
    # means over 53 systems of four years there, 18 of one year here; CG and P at 50 queries, CG at 20
    fine, _, binary = fitted.samples.names
    found = {(cell.sample, cell.n_queries, cell.distribution): cell.omega for cell in fitted.cells}
    published = {(fine, 50, "beta"): 0.4808, (fine, 50, "normal"): 0.5071, (fine, 20, "normal"): 0.7098}
    published |= {(fine, 50, "truncated-normal"): 0.5602, (fine, 20, "empirical"): 0.8457}
    published |= {(binary, 50, "empirical"): 0.4739, (binary, 50, "normal"): 1.0539}
    for key, value in published.items():
        assert found[key] == pytest.approx(value, rel=0.1)


def test_all_queries_of_mirex_2011_give_the_published_reliability(mirex2011: aj.Collection) -> None:
    closed = components(np.ascontiguousarray(aj.evaluate(mirex2011, ["CG@5"]).values[:, :, 0]))
    found = [float(closed.index(100, absolute=absolute)) for absolute in (False, True)]
    assert found == pytest.approx([0.9838, 0.9576], abs=5e-5)
    assert [float(closed.needed(0.95, absolute=absolute)) for absolute in (False, True)] == [32, 85]
