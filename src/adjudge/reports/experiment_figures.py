"""Figures of experiments: curves with their intervals, in panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.reports.figures import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_WIDTH, _PANEL_HEIGHT = 7.2, 2.5
_COLOURS = ("accent", "warm", "ink", "soft", "muted")
_DASHES = ("-", "--", ":", "-.")
_MARKERS = "osD^vPX*"
_EDGE = 0.02  # of an axis, on either side, so that markers at its ends are whole
_LETTERS_AN_INCH, _LETTERS_A_LINE = 14, 7  # of a legend: how wide words are, and the line before them


@dataclass(frozen=True)
class Curve:
    """One line: ``y`` over ``x``, and where it may lie; points only, where they are not ``joined``."""

    label: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    """Curves on the same axes; ``levels`` are horizontal lines, ``diagonal`` is the line y = x."""

    title: str
    curves: tuple[Curve, ...]
    levels: tuple[float, ...] = ()
    diagonal: bool = False
    marks: tuple[tuple[float, float, str], ...] = field(default=())


@dataclass(frozen=True)
class Curves:
    """Panels that share their axes' meaning and their legend.

    With ``y_top`` both axes begin at 0 and y ends there, so that figures beside each other have the same axes.
    """

    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    columns: int = 2
    log_x: bool = False
    log_y: bool = False
    share_y: bool = True
    y_top: float | None = None


def curves(data: Curves) -> Figure:
    """Every curve as a line with its band, one look for a label in all panels, and one legend below them."""
    from matplotlib import pyplot
    from matplotlib.lines import Line2D

    n_columns = min(data.columns, len(data.panels))
    n_rows = -(-len(data.panels) // n_columns)
    labels = list(dict.fromkeys(curve.label for panel in data.panels for curve in panel.curves))
    legend_columns = _legend_columns(labels)
    legend_rows = -(-len(labels) // legend_columns)
    figure, axes = pyplot.subplots(
        n_rows,
        n_columns,
        figsize=(_WIDTH, _PANEL_HEIGHT * n_rows + 0.25 * legend_rows + 0.2),
        sharey=data.share_y,
        sharex=True,
        squeeze=False,
    )
    for place, panel in enumerate(data.panels):
        _draw(axes[place // n_columns][place % n_columns], panel, data, labels)
    for empty in range(len(data.panels), n_rows * n_columns):
        axes[empty // n_columns][empty % n_columns].set_visible(False)
    if data.y_top is not None:  # of all panels, once all are drawn: they share their axes
        last = max((x for panel in data.panels for curve in panel.curves for x in curve.x.tolist()), default=1.0)
        axes[0][0].set(xlim=(0, (1 + _EDGE) * last), ylim=(-_EDGE * data.y_top, (1 + _EDGE) * data.y_top))
    _name_axes(axes, data, n_columns)
    if len(labels) > 1:
        handles = [Line2D([], [], label=label, **_look(labels, label)) for label in labels]
        figure.legend(handles=handles, loc="outside lower center", ncols=legend_columns, frameon=False)
    return figure


def _legend_columns(labels: Sequence[str]) -> int:
    """As few rows as the width allows, and rows as even as possible."""
    most = max(1, int(_WIDTH * _LETTERS_AN_INCH / (max(map(len, labels), default=0) + _LETTERS_A_LINE)))
    rows = -(-len(labels) // most) or 1
    return -(-len(labels) // rows) or 1


def _look(labels: Sequence[str], label: str) -> dict[str, Any]:
    """Colour, dashes and marker of a label: no two are alike, also in black and white."""
    place = labels.index(label)
    return {
        "color": PALETTE[_COLOURS[place % len(_COLOURS)]],
        "linestyle": _DASHES[place // len(_COLOURS) % len(_DASHES)],
        "marker": _MARKERS[place % len(_MARKERS)],
        "markersize": 3.2,
        "linewidth": 1.3,
    }


def _draw(axes: Axes, panel: Panel, data: Curves, labels: Sequence[str]) -> None:
    from matplotlib.ticker import MaxNLocator

    if data.log_x:
        axes.set_xscale("log")
        _plain_logarithms(axes.xaxis)
    elif all((curve.x == np.round(curve.x)).all() for curve in panel.curves):  # numbers of queries
        axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True, min_n_ticks=1))
    if data.log_y:
        axes.set_yscale("log")
        _plain_logarithms(axes.yaxis)
    for level in panel.levels:
        axes.axhline(level, color=PALETTE["muted"], linewidth=0.8, linestyle=":")
    for curve in panel.curves:
        look = _look(labels, curve.label) | ({} if curve.joined else {"linestyle": "none"})
        shown = (curve.y > 0) if data.log_y else np.isfinite(curve.y)  # a logarithm has no place for 0
        axes.plot(curve.x[shown], curve.y[shown], **look)
        if curve.low is not None and curve.high is not None:
            floor = float(curve.y[shown].min()) / 3 if data.log_y and shown.any() else -np.inf
            low = np.maximum(curve.low[shown], floor)
            if shown.sum() == 1:  # a band of one point cannot be seen
                axes.vlines(curve.x[shown], low, curve.high[shown], color=look["color"], alpha=0.5, linewidth=1.3)
            axes.fill_between(curve.x[shown], low, curve.high[shown], color=look["color"], alpha=0.15, linewidth=0)
    if panel.diagonal and panel.curves:
        ends = np.array([min(c.x.min() for c in panel.curves), max(c.x.max() for c in panel.curves)])
        axes.plot(ends, ends, color=PALETTE["muted"], linewidth=0.8, linestyle=":")
    for x, y, text in panel.marks:
        axes.annotate(text, (x, y), textcoords="offset points", xytext=(4, 4), color=PALETTE["muted"], fontsize=8)
    axes.set_title(panel.title, fontsize=9)
    axes.grid(visible=True)
    axes.set_axisbelow(True)


def _plain_logarithms(axis: Axis) -> None:
    """Ticks written as plain numbers, and between powers of ten only where there are few of those."""
    from matplotlib.ticker import FuncFormatter, LogFormatter

    class Between(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:g}" if super().__call__(x, pos) else ""

    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(Between(labelOnlyBase=False, minor_thresholds=(1, 0.4)))


def _name_axes(axes: npt.NDArray[Any], data: Curves, n_columns: int) -> None:
    for place in range(len(data.panels)):
        if place + n_columns >= len(data.panels):
            axes[place // n_columns][place % n_columns].set_xlabel(data.x_label)
            axes[place // n_columns][place % n_columns].tick_params(labelbottom=True)
    for row in axes:
        row[0].set_ylabel(data.y_label)
