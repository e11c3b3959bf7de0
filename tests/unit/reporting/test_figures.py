"""Figures of experiments: legends that fit, and numbers of queries that are whole."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.latex import COLUMN, PAGE
from adjudge.reporting.canvas import Canvas
from adjudge.reporting.figures import Curve, Curves, Panel, curves


def drawn(data: Curves, *, width: float = PAGE) -> Canvas:
    canvas = Canvas(width)
    curves(data, canvas)
    return canvas


def data(labels: list[str], x: list[float]) -> Curves:
    y = np.full(len(x), 0.5)
    lines = tuple(Curve(label, np.array(x), y, y - 0.2, y + 0.2) for label in labels)
    return Curves("queries", "rate", (Panel("", lines),))


@pytest.mark.parametrize("width", [COLUMN, PAGE])
@pytest.mark.parametrize(
    "labels",
    [["t", "wilcoxon", "sign", "bootstrap", "permutation"], [f"{i} with a rather long name" for i in range(4)]],
)
def test_legends_fit_and_have_as_few_rows_as_that_allows(labels: list[str], width: float) -> None:
    figure = drawn(data(labels, [5, 10]), width=width).figure
    figure.canvas.draw()
    (legend,) = figure.legends
    assert legend.get_window_extent().x0 >= 0
    assert legend.get_window_extent().x1 <= figure.bbox.x1
    one_row = len(labels) == 5 and width == PAGE
    assert (legend._ncols == len(labels)) == one_row  # type: ignore[attr-defined]


def test_one_number_of_queries_is_whole_and_shows_its_interval() -> None:
    figure = drawn(data(["t"], [10])).figure
    axes = figure.axes[0]
    figure.canvas.draw()
    assert all(tick == round(tick) for tick in axes.get_xticks())
    (segment,) = axes.collections[0].get_segments()  # type: ignore[attr-defined]
    assert segment.tolist() == [[10, 0.3], [10, 0.7]]


def test_a_long_line_has_few_marks_and_points_without_a_line_keep_all() -> None:
    many = np.arange(40.0)
    lines = Curve("line", many, many), Curve("points", many, many, joined=False)
    (axes,) = drawn(Curves("x", "y", (Panel("", lines),))).figure.axes
    assert [line.get_markevery() for line in axes.get_lines()] == [0.12, None]


def test_figures_with_a_top_have_the_same_axes_and_cut_nothing() -> None:
    few, many = np.array([5.0, 10.0]), np.array([5.0, 10.0, 50.0])
    panels = tuple(Panel("", (Curve("t", x, np.linspace(low, 1, len(x))),)) for x, low in ((few, 0.5), (many, 0.0)))
    nothing = Panel("", (Curve("t", np.array([]), np.array([])),))
    for shown in (panels, panels[::-1], panels[1:], (*panels, nothing)):
        figure = drawn(Curves("queries", "power", shown, y_top=1.0)).figure
        lowest = [place + 2 >= len(shown) for place in range(len(shown))]  # two columns
        assert [axes.get_xlabel() == "queries" for axes in figure.axes[: len(shown)]] == lowest
        for axes in figure.axes:
            assert axes.get_xlim() == pytest.approx((0, 51))
            assert axes.get_ylim() == pytest.approx((-0.02, 1.02))


def test_a_name_of_nothing_that_prints_is_drawn_as_nothing() -> None:
    assert Canvas(PAGE).names(["\u200b\n", "b"]) == ["", "b"]
