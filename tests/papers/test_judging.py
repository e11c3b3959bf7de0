"""Evaluation with few judgments or none: the studies on a small collection, and numbers of MIREX 2011."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from papers.claims import ANOTHER
from papers.data import Data
from papers.studies import STUDIES, Effort, Found

import adjudge as aj
from adjudge.relevance.candidates import Candidates, candidates
from papers import absolute, judging, minimal

ALONE = Effort(workers=1)


@pytest.fixture(scope="module")
def small() -> aj.Collection:
    return aj.demo(queries=6, depth=5)


@pytest.fixture(scope="module")
def judged(small: aj.Collection) -> Candidates:
    return candidates(small, cutoff=5)


@pytest.fixture(scope="module")
def unjudged(shared_data: Path) -> Found:
    return STUDIES["unjudged"].run(Data(shared_data), Effort())


def of(found: Found, source: str, what: str) -> float:
    return next(claim.ours for claim in found.claims if (claim.source, claim.what) == (source, what))


def test_without_judgments_numbers_are_those_of_an_independent_implementation(unjudged: Found) -> None:
    assert [claim.what for claim in unjudged.claims if claim.verdict == "fails"] == []
    checked = [str(claim.bound) for claim in unjudged.claims if claim.bound.because == ANOTHER]
    assert checked == [".9304", ".9085", ".9241", ".8889", ".9232", ".8889", ".9256", ".8889"]


def test_the_model_with_judgments_was_fitted_with_each_document_s_own(unjudged: Found) -> None:
    """Table 7.1 has .0957; REFERENCE.md has .176 for documents that are not among their own features."""
    assert of(unjudged, "T Table 7.1", "M_jud, Fine, tried on 2011: RMSE") == pytest.approx(0.0957, abs=0.0002)


def test_grades_are_shares(unjudged: Found) -> None:
    (grades,) = (plot for plot in unjudged.plots if plot.source == "T Figure 7.1")
    assert sum(grades.panels[0].series[0].y) == pytest.approx(1)


def test_judging_until_the_ranking_is_known(judged: Candidates) -> None:
    found = judging.judged_until(judged, ALONE, orders=2)
    assert len(found.claims) == 4 * 5 + 4 * 3
    assert {plot.source for plot in found.plots} == {"T Figure 8.1", "T Figure 8.2", "T Table 8.4"}
    confidence = found.plots[0].panels[0].series[0]
    assert confidence.x[0] == 0
    assert all(0.5 <= value <= 1 for value in confidence.y)


def test_judging_until_scores_are_known(judged: Candidates) -> None:
    found = absolute.judged_until(judged, ALONE, orders=2)
    errors = found.plots[0].panels[0].series
    assert [curve.x[-1] for curve in errors] == [100.0] * 4
    assert [curve.y[-1] for curve in errors] == pytest.approx([0.0] * 4, abs=1e-9)
    assert of(found, "T 8.4", "root of the mean variance that makes ± .05 with 95 % confidence") == pytest.approx(
        0.0252, abs=5e-5
    )


def test_minimal_test_collections(small: aj.Collection) -> None:
    found = minimal.judged_until(small, ALONE, orders=2)
    assert of(found, "M12 4", "mean confidence without judgments") == pytest.approx(0.5)
    signs = next(plot for plot in found.plots if plot.source == "M12 Figure 3").panels[0].series
    assert [curve.y[-1] for curve in signs] == [100.0, 100.0]
    last = next(plot for plot in found.plots if plot.source == "M12 Figure 4").panels[0].series
    assert [curve.y[-1] for curve in last] == [100.0] * 3


def test_the_mean_of_five_grades_is_nearly_normal(small: aj.Collection) -> None:
    found = minimal.judged_until(small, ALONE, orders=1)
    for panel in found.plots[0].panels:
        bell, exact = panel.series
        assert np.abs(np.subtract(bell.y, exact.y)).max() < 0.05 * max(exact.y)
