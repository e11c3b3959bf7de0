"""Figures of the papers, drawn as those of experiments are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from adjudge.reports.experiment_figures import Curve, Curves, Panel, curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from adjudge.reproduction.plots import Panel as Planned
    from adjudge.reproduction.plots import Plot, Series

_MARKS = 8  # on a line, at most
_ALIKE = 0.3  # panels share their axis if each needs at least this part of it


def draw_plot(plot: Plot) -> Figure:
    """Every panel of a figure, with one legend."""
    panels = tuple(
        Panel(panel.title, tuple(map(_curve, panel.series)), panel.levels, panel.diagonal) for panel in plot.panels
    )
    data = Curves(
        plot.x_label,
        plot.y_label,
        panels,
        columns=plot.columns,
        log_x=plot.log_x,
        log_y=plot.log_y,
        share_y=panels_are_alike(plot),
    )
    figure = curves(data)
    _without_lines(figure, plot)
    _with_fewer_marks(figure)
    return figure


def _without_lines(figure: Figure, plot: Plot) -> None:
    """Points that no line joins are points in the legend, too."""
    joined = {series.label for panel in plot.panels for series in panel.series if series.joined}
    for legend in figure.legends:
        for text, handle in zip(legend.get_texts(), legend.get_lines(), strict=True):
            if text.get_text() not in joined:
                handle.set_linestyle("none")


def _with_fewer_marks(figure: Figure) -> None:
    """A line of many points needs no mark on each to be told from others, and marks are most of what a page weighs."""
    for axes in figure.axes:
        for line in axes.get_lines():
            n_points = np.size(line.get_xdata())
            if line.get_linestyle() != "None" and n_points > _MARKS:
                line.set_markevery(math.ceil(n_points / _MARKS))


def panels_are_alike(plot: Plot) -> bool:
    """Whether all panels can be read on one vertical axis: none of them would be a flat line at some height."""
    spans = [span for span in (_span(panel, log=plot.log_y) for panel in plot.panels) if span is not None]
    if not spans:
        return True
    whole = max(high for _, high in spans) - min(low for low, _ in spans)
    return all(high - low >= _ALIKE * whole for low, high in spans)


def _span(panel: Planned, *, log: bool) -> tuple[float, float] | None:
    values = [value for series in panel.series for value in series.y if math.isfinite(value) and (value > 0 or not log)]
    if not values:
        return None
    low, high = min(values), max(values)
    return (math.log(low), math.log(high)) if log else (low, high)


def _curve(series: Series) -> Curve:
    x, y, low, high = (np.asarray(values, dtype=float) for values in (series.x, series.y, series.low, series.high))
    banded = len(low) > 0
    return Curve(series.label, x, y, low if banded else None, high if banded else None, joined=series.joined)
