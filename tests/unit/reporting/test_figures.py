"""Figures of experiments: legends that fit, and numbers of queries that are whole."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.reporting.figures import Curve, Curves, Panel, curves


def data(labels: list[str], x: list[float]) -> Curves:
    y = np.full(len(x), 0.5)
    lines = tuple(Curve(label, np.array(x), y, y - 0.2, y + 0.2) for label in labels)
    return Curves("queries", "rate", (Panel("", lines),))


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        (["t", "wilcoxon", "sign", "bootstrap", "permutation"], 5),
        ([f"{i} with a rather long name" for i in range(4)], 2),
    ],
)
def test_legends_have_as_few_even_rows_as_fit(labels: list[str], columns: int) -> None:
    from matplotlib import pyplot

    figure = curves(data(labels, [5, 10]))
    assert figure.legends[0]._ncols == columns  # type: ignore[attr-defined]
    pyplot.close(figure)


def test_one_number_of_queries_is_whole_and_shows_its_interval() -> None:
    from matplotlib import pyplot

    figure = curves(data(["t"], [10]))
    axes = figure.axes[0]
    figure.canvas.draw()
    assert all(tick == round(tick) for tick in axes.get_xticks())
    (segment,) = axes.collections[0].get_segments()  # type: ignore[attr-defined]
    assert segment.tolist() == [[10, 0.3], [10, 0.7]]
    pyplot.close(figure)


def test_figures_with_a_top_have_the_same_axes_and_cut_nothing() -> None:
    from matplotlib import pyplot

    few, many = np.array([5.0, 10.0]), np.array([5.0, 10.0, 50.0])
    panels = tuple(Panel("", (Curve("t", x, np.linspace(low, 1, len(x))),)) for x, low in ((few, 0.5), (many, 0.0)))
    nothing = Panel("", (Curve("t", np.array([]), np.array([])),))
    for shown in (panels, panels[::-1], panels[1:], (*panels, nothing)):
        figure = curves(Curves("queries", "power", shown, y_top=1.0))
        lowest = [place + 2 >= len(shown) for place in range(len(shown))]  # two columns
        assert [axes.get_xlabel() == "queries" for axes in figure.axes[: len(shown)]] == lowest
        for axes in figure.axes:
            assert axes.get_xlim() == pytest.approx((0, 51))
            assert axes.get_ylim() == pytest.approx((-0.02, 1.02))
        pyplot.close(figure)
