"""Reliability: MIREX 2011 from its data, the other collections from the components that the thesis prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from papers.claims import printed_value
from papers.data import Data
from papers.reliability import ROWS
from papers.studies import STUDIES, Effort, Found


@pytest.fixture(scope="module")
def found(shared_data: Path) -> Found:
    return STUDIES["reliability"].run(Data(shared_data), Effort())


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return STUDIES["reliability-printed"].run(Data(tmp_path_factory.mktemp("empty")), Effort())


def test_every_number_of_2011_is_exact(found: Found) -> None:
    assert [claim for claim in found.claims if claim.verdict != "exact"] == []
    assert len(found.claims) == 4 + 8 * 7


def test_figures_have_a_curve_for_each_measure_that_rises_to_the_number_of_the_table(found: Found) -> None:
    first = found.plots[0]
    assert [plot.source for plot in found.plots] == ["T Figure 6.1", "T Figure 6.2"]
    assert [len(panel.series) for panel in first.panels] == [6, 2]
    curve = first.panels[0].series[0]
    assert curve.label == "CG"
    assert list(curve.y) == sorted(curve.y)
    assert curve.y[curve.x.index(100.0)] == pytest.approx(0.9838, abs=5e-5)


def test_shares_of_variance_add_up_to_1_in_every_row_of_the_thesis() -> None:
    assert len(ROWS) == 14 * 4
    for row in ROWS:
        assert sum(map(printed_value, row.shares)) == pytest.approx(1, abs=0.0016), row.name


def test_tables_of_other_years_follow_from_the_components_but_for_rounding(printed: Found) -> None:
    tables = [claim for claim in printed.claims if "Table" in claim.source]
    assert len(tables) == 48 * 4
    assert {claim.verdict for claim in tables} == {"exact", "within tolerance"}
    for claim in tables:
        limit = 0.0005 if "queries" not in claim.what else 2
        assert claim.tolerance <= limit, claim.what


def test_what_the_text_rounds_is_what_its_tables_print(printed: Found) -> None:
    assert [claim.what for claim in printed.claims if claim.verdict == "fails"] == []


def test_more_assessors_are_more_reliable_with_as_many_queries_and_less_with_as_many_judgments(printed: Found) -> None:
    queries, judgments = (plot for plot in printed.plots if plot.source == "T Figure 6.5")
    for panel in queries.panels:
        at_100 = [curve.y[curve.x.index(100.0)] for curve in panel.series]
        assert at_100 == sorted(at_100)
    one, five = (curve for curve in judgments.panels[0].series if curve.label in ("1 assessor", "5 assessors"))
    assert five.x[0] == pytest.approx(5 * one.x[0])
    assert five.y[0] < one.y[one.x.index(next(x for x in one.x if x >= five.x[0]))]
