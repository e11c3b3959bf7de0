"""The report on the optimality of tests: tables and figures hold what the findings say."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.optimality import Optimality, OptimalityFindings
from adjudge.experiments.procedures import parse_procedures
from adjudge.experiments.report import experiment_report
from adjudge.experiments.samples import Sample, Samples
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, Paragraph, Report, TableBlock


@pytest.fixture(scope="module")
def found() -> OptimalityFindings:
    rng = np.random.default_rng(5)
    queries, systems = tuple(f"q{i}" for i in range(20)), ("a", "b", "c", "d")
    members = tuple(
        Sample(rng.random((20, 4)) / 2 + np.linspace(0, 0.4, 4), queries, systems, "AP", scale)
        for scale in ("fine", "binary")
    )
    samples = Samples(members)
    spec = Optimality(trials=6, sizes=(5, 10), procedures=parse_procedures(("t", "wilcoxon", "sign"))).prepared(samples)
    return spec.findings(samples, run_chunk(spec, samples, 0, 6), Provenance())


@pytest.fixture(scope="module")
def report(found: OptimalityFindings) -> Report:
    return experiment_report(found)


def blocks(report: Report) -> dict[str, TableBlock | FigureBlock]:
    return {b.name: b for part in report.sections for b in part.blocks if not isinstance(b, Paragraph)}


def test_it_begins_with_the_conclusion(found: OptimalityFindings, report: Report) -> None:
    first = report.sections[0].blocks[0]
    assert isinstance(first, Paragraph)
    assert first.text == found.sentences()[0]


def test_six_panels_have_a_curve_a_test_and_conflicts_a_diagonal(found: OptimalityFindings, report: Report) -> None:
    figure = blocks(report)["tests-rates"]
    assert isinstance(figure, FigureBlock)
    assert [panel.title for panel in figure.data.panels][::2] == ["Non-significance", "Success", "Lack of power"]
    assert [panel.diagonal for panel in figure.data.panels] == [False] * 5 + [True]
    for curve in figure.data.panels[0].curves:
        record = next(r for r in found.records() if r["test"] == curve.label and r["n_queries"] == 10)
        assert curve.y[0] == record["non_significant"]
        assert len(curve.x) == 32


def test_the_best_of_each_level_is_in_bold(report: Report) -> None:
    table = blocks(report)["tests-selected"]
    assert isinstance(table, TableBlock)
    assert len(table.rows) == 8 * 3
    for level in range(8):
        rows = range(3 * level, 3 * level + 3)
        quiet = [float(table.rows[i][2]) for i in rows]
        bold = [i for i in rows if (i, 2) in table.emphasised]
        assert bold
        assert all(float(table.rows[i][2]) == min(quiet) for i in bold)


def test_measures_have_a_table_and_panels_by_scale(report: Report) -> None:
    found = blocks(report)
    table, figure = found["tests-measures"], found["tests-measures-power"]
    assert isinstance(table, TableBlock)
    assert isinstance(figure, FigureBlock)
    assert [row[:2] for row in table.rows[:3]] == [("AP on fine", "5"), ("AP on fine", "10"), ("AP on binary", "5")]
    assert [panel.title for panel in figure.data.panels] == [
        f"{what}, {scale}" for scale in ("fine", "binary") for what in ("Non-significance", "Success")
    ]
    assert figure.data.panels[0].curves[0].x.tolist()[::18] == [0.001, 0.1]


def test_tables_of_sizes_stability_and_agreement_are_there(report: Report) -> None:
    found = blocks(report)
    rows = {name: len(block.rows) for name, block in found.items() if isinstance(block, TableBlock)}
    assert rows == {
        "tests-level": 6,
        "tests-sizes": 2,
        "tests-selected": 24,
        "tests-exactness": 3,
        "tests-measures": 4,
        "tests-self": 9,
        "tests-agreement": 3,
    }


def test_a_figure_can_be_drawn_with_plain_numbers_at_its_ticks(report: Report) -> None:
    from matplotlib import pyplot

    figure = blocks(report)["tests-rates"]
    assert isinstance(figure, FigureBlock)
    drawing = figure.draw(figure.data)
    drawing.canvas.draw()
    ticks = [label.get_text() for label in drawing.axes[4].get_xticklabels()]
    pyplot.close(drawing)
    assert "0.01" in ticks
    assert not any("$" in text for text in ticks)
