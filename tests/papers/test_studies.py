"""Studies of the papers on the public data; that no number is outside its bound is seen in test_page.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from papers.claims import ANOTHER, Claim, printed_value
from papers.data import Data
from papers.reliability import ROWS
from papers.studies import STUDIES, Effort, Found
from papers.thesis_tables import TABLE_3_2, TABLE_3_3, TABLE_3_4, TABLE_3_5, TABLE_4_4, TABLE_4_5

import adjudge as aj
from adjudge.preferences.questions import thesis_combinations
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.users.satisfaction import TABLE_4_3
from papers import absolute, judging, minimal

ALONE = Effort(workers=1)
Find = Callable[[str], Found]


def with_verdict(found: Found, verdict: str) -> list[Claim]:
    return [claim for claim in found.claims if claim.verdict == verdict]


def from_source(found: Found, source: str) -> list[Claim]:
    return [claim for claim in found.claims if claim.source == source]


def value_of(found: Found, source: str, what: str) -> float:
    """Our number for the last claim of a source whose name ends so."""
    return next(claim.ours for claim in reversed(from_source(found, source)) if claim.what.endswith(what))


# ---------- examples worked by hand ----------


def test_only_the_slip_of_appendix_a_differs(find: Find) -> None:
    differing = with_verdict(find("examples"), "differs")
    assert [(claim.source, claim.published) for claim in differing] == [("T A", "1.6577")]


@pytest.mark.parametrize(
    ("source", "what", "value"),
    [
        ("T 4.1.2", "by Table 4.3", 0.5116),
        ("T 4.1", "each with .7", 0.2061),
        ("T 4.1.3", "degrees of freedom", 1.9842),
        ("T A", "variance", 0.2552),
        ("T 5.6.2", "BSWH2 and BSWH1", 0.00011),
        ("T 5.6.2", "LR and BSWH1", 0.0726),  # printed .0721, from more digits of the difference than are printed
        ("L10 Table 1", "average dynamic recall", 0.753),
        ("L10 Table 2", "consistency of the list", 0.86),
        ("M12 5", "power analysis", 0.066955),
    ],
)
def test_numbers_of_the_reference_come_out(find: Find, source: str, what: str, value: float) -> None:
    assert value_of(find("examples"), source, what) == pytest.approx(value, abs=2e-4 if source == "T A" else 5e-4)


def test_tables_1_and_2_of_ismir_2010_are_there_row_by_row(find: Find) -> None:
    recalls = from_source(find("examples"), "L10 Table 1")
    assert [claim.published for claim in recalls[1:-1:2]] == ["1", ".5", "1", ".75", ".6", ".667"]
    assert [claim.published for claim in recalls[:-1:2]] == ["1", "1", "3", "3", "3", "4"]
    assert len(from_source(find("examples"), "L10 Table 2")) == 6


def test_examples_need_no_data_and_draw_nothing(find: Find, tmp_path: Path) -> None:
    assert STUDIES["examples"].run(Data(tmp_path), Effort(quick=True, seed=5)).claims == find("examples").claims


# ---------- listeners of 2012 ----------


def test_every_count_of_the_paper_is_exact(find: Find) -> None:
    exact = {claim.published for claim in with_verdict(find("listeners"), "exact")}
    assert exact >= {"884", "440", "444", "1,316", "27", "2,869", "3,031", "73", "2,200", "6,322", "881", "6,895"}


def test_systems_whose_names_are_hashed_are_found_by_search(find: Find) -> None:
    searched = [claim.published for claim in with_verdict(find("listeners"), "found by search")]
    assert searched == [".422", ".376", ".468", ".082", ".051", ".112", ".031"]


def test_the_worse_system_is_preferred_as_often_as_the_paper_and_another_implementation_say(find: Find) -> None:
    phrases = ("prefer the worse", "negative preferences")
    worse = [claim for claim in find("listeners").claims if any(phrase in claim.what for phrase in phrases)]
    assert [claim.published for claim in worse] == ["4", "6.2 %", "7.6 %"]
    assert {claim.verdict for claim in worse} == {"exact"}


def test_only_three_numbers_of_listeners_differ(find: Find) -> None:
    assert [claim.what for claim in with_verdict(find("listeners"), "differs")] == [
        "share of people rejected, all but 100",
        "share of good for a nAG of 0, Broad",
        "first bin in which more than half prefer the better system, nDCG Broad",
    ]


def test_figures_of_listeners_count_every_answer(find: Find) -> None:
    plots = find("listeners").plots
    assert [plot.source for plot in plots] == [f"U12 Figure {number}" for number in (2, 3, 4, 5)]
    differences, scores, _, preferences = plots
    assert differences.panels[0].series[0].y == (200.0,) * 11
    assert all(sum(panel.series[0].y) == 2200 for panel in differences.panels)
    assert all(sum(panel.series[0].y) == 2 * 884 for panel in scores.panels)
    shares = [[panel.series[line].y[5] for panel in preferences.panels] for line in range(4)]
    assert [sum(of_one) for of_one in shares] == pytest.approx([1.0] * 4)


# ---------- partially ordered lists of 2010 ----------

CONSTRUCTIONS = ["All-2", "Any-2", "Prev-2", "All-1", "Any-1", "Prev-1"]


def test_table_3_is_there_with_its_18_numbers(find: Find) -> None:
    table = [claim for claim in find("partial-lists").claims if claim.what.split(":")[0] in CONSTRUCTIONS]
    assert len(table) == 18
    assert [claim.published for claim in table[:3]] == [".844", "3.752", "-.892"]
    assert all(claim.why is not None and "preferences" in claim.why.text for claim in table)


def test_correlations_of_table_4_follow_from_its_scores(find: Find) -> None:
    tau = from_source(find("partial-lists"), "L10 Table 4")
    assert [claim.published for claim in tau] == [".81", "1", ".81", ".714", ".714"]
    assert {claim.verdict for claim in tau} == {"exact"}


def test_critical_values_of_the_appendix_are_a_note_since_sizes_were_looked_for_that_give_them(find: Find) -> None:
    assert from_source(find("partial-lists"), "L10 Appendix") == []
    assert find("partial-lists").notes[0].endswith("ours are 121 and 136.")


def test_stricter_rules_and_tests_make_smaller_groups(find: Find) -> None:
    claims = find("partial-lists").claims
    sizes = [claim for claim in claims if "groups are" in claim.what and "consistency" not in claim.what]
    assert {claim.verdict for claim in sizes} == {"exact"}


def test_figures_of_lists_have_a_point_per_query_for_each_construction(find: Find) -> None:
    plots = find("partial-lists").plots
    assert [plot.source for plot in plots] == ["L10 Figure 3", "L10 Figure 4"]
    for plot in plots:
        *points, mean = plot.panels[0].series
        assert [series.label.split()[1] for series in points] == CONSTRUCTIONS
        assert {len(series.y) for series in points} == {11}
        assert mean.x == (1, 2, 3, 4, 5, 6)


# ---------- reliability ----------


def test_every_number_of_2011_is_exact(find: Find) -> None:
    assert {claim.verdict for claim in find("reliability").claims} == {"exact"}
    assert len(find("reliability").claims) == 4 + 8 * 7


def test_figures_have_a_curve_for_each_measure_that_rises_to_the_number_of_the_table(find: Find) -> None:
    plots = find("reliability").plots
    assert [plot.source for plot in plots] == ["T Figure 6.1", "T Figure 6.2"]
    assert [len(panel.series) for panel in plots[0].panels] == [6, 2]
    curve = plots[0].panels[0].series[0]
    assert curve.label == "CG"
    assert list(curve.y) == sorted(curve.y)
    assert curve.y[curve.x.index(100.0)] == pytest.approx(0.9838, abs=5e-5)


def test_shares_of_variance_add_up_to_1_in_every_row_of_the_thesis() -> None:
    assert len(ROWS) == 14 * 4
    for row in ROWS:
        assert sum(map(printed_value, row.shares)) == pytest.approx(1, abs=0.0016), row.name


def test_tables_of_other_years_follow_from_the_components_but_for_rounding(find: Find) -> None:
    tables = [claim for claim in find("reliability-printed").claims if "Table" in claim.source]
    assert len(tables) == 48 * 4
    assert {claim.verdict for claim in tables} == {"exact", "within tolerance"}
    for claim in tables:
        assert claim.tolerance <= (2 if "queries" in claim.what else 0.0005), claim.what


def test_more_assessors_are_more_reliable_with_as_many_queries_and_less_with_as_many_judgments(find: Find) -> None:
    queries, judgments = (plot for plot in find("reliability-printed").plots if plot.source == "T Figure 6.5")
    for panel in queries.panels:
        at_100 = [curve.y[curve.x.index(100.0)] for curve in panel.series]
        assert at_100 == sorted(at_100)
    one, five = (curve for curve in judgments.panels[0].series if curve.label in ("1 assessor", "5 assessors"))
    assert five.x[0] == pytest.approx(5 * one.x[0])
    assert five.y[0] < one.y[one.x.index(next(x for x in one.x if x >= five.x[0]))]


# ---------- satisfaction and distributions: chapters 3 and 4 of the thesis ----------

CHAPTER_3 = (TABLE_3_2, TABLE_3_3, TABLE_3_4, TABLE_3_5)


def test_typed_tables_have_all_combinations() -> None:
    for table in CHAPTER_3:
        assert set(table) == {(one.measure, one.scale) for one in thesis_combinations()}
        assert all(0 < printed_value(number) < 1 for number in table.values())
    for fits in (TABLE_4_4, TABLE_4_5):  # those that follow from Fine
        assert set(fits) == {(one.measure, one.scale) for one in TABLE_4_3 if one.scale != "broad"}
        assert {len(numbers) for numbers in fits.values()} == {4}


def test_typed_tables_are_those_of_the_thesis(shared_data: Path) -> None:
    (thesis,) = (shared_data.parent / "seeds").glob("2013-thesis-*.txt")
    cells = {cell for line in thesis.read_text().splitlines() for cell in line.replace("<i>", "").split("\t")}
    printed = {cell.replace("</i>", "") for cell in cells}
    typed = [number for table in CHAPTER_3 for number in table.values()]
    typed += [number for table in (TABLE_4_4, TABLE_4_5) for numbers in table.values() for number in numbers]
    assert [number for number in typed if f"{float(number):g}" not in printed] == []


def test_what_other_listeners_said_is_near_where_it_can_be(find: Find) -> None:
    near = from_source(find("satisfaction"), "T Table 3.3")
    assert len(near) == 10
    assert sum(claim.verdict == "within tolerance" for claim in near) >= 8
    assert all(claim.tolerance < 0.08 for claim in near)


def test_an_endpoint_of_few_lists_is_not_compared(find: Find) -> None:
    biases = [claim.what for claim in from_source(find("satisfaction"), "T Table 3.2")]
    assert len(biases) == 5
    assert all(what.endswith("Broad") for what in biases)


def test_figures_of_satisfaction_show_every_combination(find: Find) -> None:
    plots = {plot.source: plot for plot in find("satisfaction").plots}
    curves = {source: sum(len(panel.series) for panel in plot.panels) for source, plot in plots.items()}
    assert [curves[f"T Figure 3.{number}"] for number in (2, 3, 4, 5)] == [95] * 4
    assert curves["T Figure 4.1"] == 40
    assert sum(len(series.x) for series in plots["T Table 3.2"].panels[0].series) == 95


def test_distances_of_distributions_are_as_those_of_more_systems(fits: Found) -> None:
    """Table 4.4, CG on Fine, beta: .4808 published over four editions; 20 trials are right to .05."""
    assert with_verdict(fits, "fails") == []
    assert value_of(fits, "T Table 4.4", "CG@5 on fine, beta, 50 queries") == pytest.approx(0.4808, abs=0.05)
    assert [plot.source for plot in fits.plots] == ["T Table 4.4", "T Table 4.5", "T Figure 4.5", "T Figure 4.7"]
    for panel in fits.plots[-1].panels:  # of 31 x 153 pairs, those within .005 of one another are one point
        points = list(zip(panel.series[0].x, panel.series[0].y, strict=True))
        assert len(set(points)) == len(points) < 31 * 153
        assert all(round(value, 2) == value for point in points for value in point)


# ---------- few judgments or none ----------


@pytest.fixture(scope="module")
def small() -> aj.Collection:
    return aj.demo(queries=6, depth=5)


@pytest.fixture(scope="module")
def judged(small: aj.Collection) -> Candidates:
    return candidates(small, cutoff=5)


def test_without_judgments_numbers_are_those_of_an_independent_implementation(find: Find) -> None:
    checked = [str(claim.bound) for claim in find("unjudged").claims if claim.bound.because == ANOTHER]
    assert checked == [".9304", ".9085", ".9241", ".8889", ".9232", ".8889", ".9256", ".8889"]


def test_the_model_with_judgments_was_fitted_with_each_document_s_own(find: Find) -> None:
    """Table 7.1 has .0957; REFERENCE.md has .176 for documents that are not among their own features."""
    found = value_of(find("unjudged"), "T Table 7.1", "M_jud, Fine, tried on 2011: RMSE")
    assert found == pytest.approx(0.0957, abs=0.0002)


def test_grades_are_shares(find: Find) -> None:
    (grades,) = (plot for plot in find("unjudged").plots if plot.source == "T Figure 7.1")
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
    wanted = value_of(found, "T 8.4", "root of the mean variance that makes ± .05 with 95 % confidence")
    assert wanted == pytest.approx(0.0252, abs=5e-5)


def test_minimal_test_collections(small: aj.Collection) -> None:
    found = minimal.judged_until(small, ALONE, orders=2)
    plots = {plot.source: plot for plot in found.plots}
    assert value_of(found, "M12 4", "mean confidence without judgments") == pytest.approx(0.5)
    assert [curve.y[-1] for curve in plots["M12 Figure 3"].panels[0].series] == [100.0, 100.0]
    assert [curve.y[-1] for curve in plots["M12 Figure 4"].panels[0].series] == [100.0] * 3
    for panel in found.plots[0].panels:  # the mean of five grades is nearly normal
        bell, exact = panel.series
        assert np.abs(np.subtract(bell.y, exact.y)).max() < 0.05 * max(exact.y)
