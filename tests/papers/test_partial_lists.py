"""Partially ordered lists: what public preferences allow of the ISMIR 2010 paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from papers.data import Data
from papers.studies import STUDIES, Effort, Found

SIX = ["All-2", "Any-2", "Prev-2", "All-1", "Any-1", "Prev-1"]


@pytest.fixture(scope="module")
def found(shared_data: Path) -> Found:
    return STUDIES["partial-lists"].run(Data(shared_data), Effort())


def test_all_are_inside_their_bounds(found: Found) -> None:
    assert [claim for claim in found.claims if claim.verdict == "fails"] == []


def test_table_3_is_there_with_its_18_numbers(found: Found) -> None:
    table = [claim for claim in found.claims if claim.what.split(":")[0] in SIX]
    assert len(table) == 18
    assert [claim.published for claim in table[:3]] == [".844", "3.752", "-.892"]
    assert all(claim.why is not None and "preferences" in claim.why.text for claim in table)


def test_correlations_of_table_4_follow_from_its_scores(found: Found) -> None:
    tau = [claim for claim in found.claims if claim.source == "L10 Table 4"]
    assert [claim.published for claim in tau] == [".81", "1", ".81", ".714", ".714"]
    assert {claim.verdict for claim in tau} == {"exact"}


def test_critical_values_of_the_appendix_are_a_note_since_sizes_were_looked_for_that_give_them(found: Found) -> None:
    assert "L10 Appendix" not in {claim.source for claim in found.claims}
    assert found.notes[0].endswith("ours are 121 and 136.")


def test_stricter_rules_and_tests_make_smaller_groups(found: Found) -> None:
    sizes = [claim for claim in found.claims if "groups are" in claim.what and "consistency" not in claim.what]
    assert {claim.verdict for claim in sizes} == {"exact"}


def test_figures_have_a_point_a_query_for_each_construction(found: Found) -> None:
    assert [plot.source for plot in found.plots] == ["L10 Figure 3", "L10 Figure 4"]
    for plot in found.plots:
        *points, mean = plot.panels[0].series
        assert [series.label.split()[1] for series in points] == SIX
        assert {len(series.y) for series in points} == {11}
        assert mean.x == (1, 2, 3, 4, 5, 6)
