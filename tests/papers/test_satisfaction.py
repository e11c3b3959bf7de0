"""Chapters 3 and 4 of the thesis with the answers that are public, and its tables as they were typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from papers.claims import printed_value
from papers.data import Data
from papers.distributions import fitted
from papers.studies import STUDIES, Effort, Found
from papers.thesis_tables import TABLE_3_2, TABLE_3_3, TABLE_3_4, TABLE_3_5, TABLE_4_4, TABLE_4_5

from adjudge.preferences.questions import thesis_combinations
from adjudge.users.satisfaction import TABLE_4_3

CHAPTER_3 = (TABLE_3_2, TABLE_3_3, TABLE_3_4, TABLE_3_5)


@pytest.fixture(scope="module")
def found(shared_data: Path) -> Found:
    return STUDIES["satisfaction"].run(Data(shared_data), Effort())


@pytest.mark.parametrize("table", CHAPTER_3)
def test_tables_of_chapter_3_have_all_combinations(table: dict[tuple[str, str], str]) -> None:
    assert set(table) == {(one.measure, one.scale) for one in thesis_combinations()}
    assert all(0 < printed_value(number) < 1 for number in table.values())


@pytest.mark.parametrize("table", [TABLE_4_4, TABLE_4_5])
def test_tables_of_chapter_4_have_all_combinations_that_follow_from_fine(
    table: dict[tuple[str, str], tuple[str, ...]],
) -> None:
    assert set(table) == {(one.measure, one.scale) for one in TABLE_4_3 if one.scale != "broad"}
    assert {len(numbers) for numbers in table.values()} == {4}


def test_typed_tables_are_those_of_the_thesis(shared_data: Path) -> None:
    (thesis,) = (shared_data.parent / "seeds").glob("2013-thesis-*.txt")
    cells = {cell for line in thesis.read_text().splitlines() for cell in line.replace("<i>", "").split("\t")}
    printed = {cell.replace("</i>", "") for cell in cells}
    typed = [number for table in CHAPTER_3 for number in table.values()]
    typed += [number for table in (TABLE_4_4, TABLE_4_5) for numbers in table.values() for number in numbers]
    assert [number for number in typed if f"{float(number):g}" not in printed] == []


def test_what_other_listeners_said_is_inside_its_bounds_and_near_where_it_can_be(found: Found) -> None:
    assert [claim.what for claim in found.claims if claim.verdict == "fails"] == []
    near = [claim for claim in found.claims if claim.source == "T Table 3.3"]
    assert len(near) == 10
    assert sum(claim.verdict == "within tolerance" for claim in near) >= 8
    assert all(claim.tolerance < 0.08 for claim in near)


def test_an_endpoint_of_few_lists_is_not_compared(found: Found) -> None:
    biases = [claim.what for claim in found.claims if claim.source == "T Table 3.2"]
    assert len(biases) == 5
    assert all(what.endswith("Broad") for what in biases)


def test_figures_show_every_combination(found: Found) -> None:
    curves = {plot.source: sum(len(panel.series) for panel in plot.panels) for plot in found.plots}
    assert [curves[f"T Figure 3.{number}"] for number in (2, 3, 4, 5)] == [95] * 4
    assert curves["T Figure 4.1"] == 40
    points = next(plot for plot in found.plots if plot.source == "T Table 3.2")
    assert sum(len(series.x) for series in points.panels[0].series) == 95


def test_distances_of_distributions_are_as_those_of_more_systems(shared_data: Path) -> None:
    """Table 4.4, CG on Fine, beta: .4808 published over four editions; 4 trials are right to .1."""
    fits = fitted(Data(shared_data), Effort(workers=1), trials=4)
    distances = [claim for claim in fits.claims if "predicts best" not in claim.what]
    assert [claim.what for claim in distances if claim.verdict == "fails"] == []
    (beta,) = (claim for claim in fits.claims if claim.what == "CG@5 on fine, beta, 50 queries")
    assert beta.ours == pytest.approx(0.4808, abs=0.1)
    assert [plot.source for plot in fits.plots] == ["T Table 4.4", "T Table 4.5", "T Figure 4.5", "T Figure 4.7"]
    for panel in fits.plots[-1].panels:  # of 31 x 153 pairs, those within .005 of one another are one point
        points = list(zip(panel.series[0].x, panel.series[0].y, strict=True))
        assert len(set(points)) == len(points) < 31 * 153
        assert all(round(value, 2) == value for point in points for value in point)
