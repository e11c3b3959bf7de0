"""What listeners said: counts and shares of the paper of 2012, and the example of MIREX 2011."""

from __future__ import annotations

from pathlib import Path

import pytest
from papers.data import Data
from papers.studies import STUDIES, Effort, Found


@pytest.fixture(scope="module")
def found(shared_data: Path) -> Found:
    return STUDIES["listeners"].run(Data(shared_data), Effort())


def test_every_count_of_the_paper_is_exact(found: Found) -> None:
    exact = {claim.published for claim in found.claims if claim.verdict == "exact"}
    assert exact >= {"884", "440", "444", "1,316", "27", "2,869", "3,031", "73", "2,200", "6,322", "881", "6,895"}


def test_all_is_as_independent_implementations_have_it(found: Found) -> None:
    assert [claim.what for claim in found.claims if claim.verdict == "fails"] == []


def test_systems_whose_names_are_hashed_are_found_by_search(found: Found) -> None:
    searched = [claim.published for claim in found.claims if claim.verdict == "found by search"]
    assert searched == [".422", ".376", ".468", ".082", ".051", ".112", ".031"]


def test_the_worse_system_is_preferred_as_often_as_the_paper_and_another_implementation_say(found: Found) -> None:
    worse = [
        claim for claim in found.claims if "prefer the worse" in claim.what or "negative preferences" in claim.what
    ]
    assert [(claim.published, claim.verdict) for claim in worse] == [
        ("4", "exact"),
        ("6.2 %", "exact"),
        ("7.6 %", "exact"),
    ]


def test_only_three_numbers_differ(found: Found) -> None:
    assert [claim.what for claim in found.claims if claim.verdict == "differs"] == [
        "share of people rejected, all but 100",
        "share of good for a nAG of 0, Broad",
        "first bin in which more than half prefer the better system, nDCG Broad",
    ]


def test_the_figures_are_those_of_the_paper(found: Found) -> None:
    assert [plot.source for plot in found.plots] == [f"U12 Figure {number}" for number in (2, 3, 4, 5)]
    differences, scores, _, preferences = found.plots
    assert differences.panels[0].series[0].y == (200.0,) * 11
    assert all(sum(panel.series[0].y) == 2200 for panel in differences.panels)
    assert all(sum(panel.series[0].y) == 2 * 884 for panel in scores.panels)
    shares = [[panel.series[line].y[5] for panel in preferences.panels] for line in range(4)]
    assert [sum(of_one) for of_one in shares] == pytest.approx([1.0] * 4)
