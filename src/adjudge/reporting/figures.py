"""Figures: each takes numbers that a section computed and only draws them.

Colours come from one palette. On a page they become the page's own (light or dark); in files they are those of the
palette.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


PALETTE = {
    "ink": "#1b1d22",
    "muted": "#6a6e77",
    "line": "#c3c6cd",
    "paper": "#fefefe",
    "accent": "#2557c4",
    "soft": "#7f9ad8",
    "warm": "#b4452f",
}
COLOURS = ("accent", "warm", "ink", "soft", "muted")
"""Colours of lines, in order."""
_WIDTH = 7.2


def style() -> Any:
    """Settings of Matplotlib that all figures share: text stays text, thin lines, no box."""
    return {
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "text.parse_math": False,
        "svg.hashsalt": "adjudge",
        "font.family": "sans-serif",
        "font.size": 9,
        "text.color": PALETTE["ink"],
        "axes.labelcolor": PALETTE["ink"],
        "axes.edgecolor": PALETTE["muted"],
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": PALETTE["muted"],
        "ytick.color": PALETTE["muted"],
        "xtick.labelcolor": PALETTE["ink"],
        "ytick.labelcolor": PALETTE["ink"],
        "grid.color": PALETTE["line"],
        "grid.linewidth": 0.6,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "figure.constrained_layout.use": True,
    }


def canvas(height: float, columns: int = 1) -> tuple[Figure, Sequence[Axes]]:
    """A figure as wide as the page, with panels side by side."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, columns, figsize=(_WIDTH, height), sharey=True, squeeze=False)
    return figure, list(axes[0])


def label_axes(axes: Axes, x: str, y: str) -> None:
    """Name both axes, and draw a grid below the data."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid()
    axes.set_axisbelow(True)


def _system_axis(axes: Axes, systems: Sequence[str]) -> None:
    """Systems from top to bottom, one line each."""
    axes.set_yticks(np.arange(len(systems)), [_short(name) for name in systems])
    axes.set_ylim(len(systems) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.set_axisbelow(True)


def _short(name: str, longest: int = 24) -> str:
    """A name that fits beside a figure."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _height(n: int) -> float:
    return 0.9 + 0.24 * n


def _matrix_axes(axes: Axes, rows: Sequence[str], columns: Sequence[str], title: str) -> None:
    """Names beside rows and below columns, from the top left, without a frame."""
    axes.set_xticks(np.arange(len(columns)), [_short(name) for name in columns], rotation=90)
    axes.set_yticks(np.arange(len(rows)), [_short(name) for name in rows])
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(title, fontsize=9, loc="left")


@dataclass(frozen=True)
class Forest:
    """Means with their intervals, best first."""

    label: str
    systems: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats


def forest(data: Forest) -> Figure:
    """A dot for each mean, a line for its interval."""
    figure, (axes,) = canvas(_height(len(data.systems)))
    y = np.arange(len(data.systems))
    axes.hlines(y, data.low, data.high, color=PALETTE["accent"], linewidth=1.6)
    axes.plot(data.mean, y, "o", color=PALETTE["accent"], markersize=5)
    _system_axis(axes, data.systems)
    axes.set_xlabel(data.label)
    return figure


@dataclass(frozen=True)
class PairMatrix:
    """Differences of means, row minus column, and which are significant."""

    label: str
    systems: tuple[str, ...]
    difference: Floats
    significant: Mask


def pair_matrix(data: PairMatrix) -> Figure:
    """A square for each pair: its size is the difference, its colour the sign, filled where significant."""
    from matplotlib import pyplot
    from matplotlib.patches import Rectangle

    n = len(data.systems)
    side = min(_WIDTH, 1.6 + 0.3 * n)
    figure, axes = pyplot.subplots(figsize=(side + 0.4, side))
    largest = float(np.abs(data.difference).max()) or 1.0
    for row in range(n):
        for column in range(n):
            size = 0.92 * np.sqrt(abs(data.difference[row, column]) / largest)
            colour = PALETTE["accent" if data.difference[row, column] > 0 else "warm"]
            face = colour if data.significant[row, column] else "none"
            corner = (column - size / 2, row - size / 2)
            axes.add_patch(Rectangle(corner, size, size, facecolor=face, edgecolor=colour, linewidth=0.8))
    _matrix_axes(axes, data.systems, data.systems, data.label)
    axes.set_aspect("equal")
    return figure


@dataclass(frozen=True)
class CriticalDifference:
    """Systems on the axis of their mean rank; ``groups`` are first and last of systems that do not differ."""

    label: str
    systems: tuple[str, ...]
    rank: Floats
    groups: tuple[tuple[int, int], ...]


def critical_difference(data: CriticalDifference) -> Figure:
    """Systems hang from an axis of mean ranks; a bar joins those whose differences are not significant."""
    from matplotlib import pyplot

    n = len(data.systems)
    half = (n + 1) // 2
    bars = 0.16 * len(data.groups)
    figure, axes = pyplot.subplots(figsize=(_WIDTH, 0.9 + bars + 0.24 * half))
    low, high = float(data.rank.min()), float(data.rank.max())
    span = (high - low) or 1.0
    left, right = low - 0.04 * span, high + 0.04 * span
    axes.hlines(0, left, right, color=PALETTE["ink"], linewidth=1)
    for tick in np.arange(np.ceil(low), np.floor(high) + 1):
        axes.vlines(tick, 0, 0.25, color=PALETTE["ink"], linewidth=0.8)
        axes.text(tick, 0.4, f"{tick:g}", ha="center", va="bottom", fontsize=8, color=PALETTE["muted"])
    for level, (first, last) in enumerate(data.groups):
        y = -0.35 - 0.55 * level
        axes.hlines(
            y, data.rank[first] - 0.01 * span, data.rank[last] + 0.01 * span, color=PALETTE["accent"], linewidth=2.6
        )
    below = -0.7 - 0.55 * len(data.groups)
    for place, (name, rank) in enumerate(zip(data.systems, data.rank, strict=True)):
        is_left = place < half
        y = below - (place if is_left else n - 1 - place)
        edge = left - 0.04 * span if is_left else right + 0.04 * span
        beyond = edge + (-0.012 if is_left else 0.012) * span
        axes.plot([rank, rank, edge], [0, y, y], color=PALETTE["muted"], linewidth=0.7)
        axes.text(beyond, y, _short(name), ha="right" if is_left else "left", va="center", fontsize=8.5)
    axes.set_xlim(left - 0.3 * span, right + 0.3 * span)
    axes.set_ylim(below - half, 1.4)
    axes.axis("off")
    axes.set_title(data.label, fontsize=9, loc="left")
    return figure


@dataclass(frozen=True)
class Spread:
    """Values of every query for every system: queries x systems, one panel per label."""

    systems: tuple[str, ...]
    labels: tuple[str, ...]
    panels: tuple[Floats, ...]


def spread(data: Spread) -> Figure:
    """Every query a tick; a thin line from 5 to 95 %, a thick one over the middle half, a dot at the median."""
    figure, axes = canvas(_height(len(data.systems)), len(data.panels))
    for panel, label, values in zip(axes, data.labels, data.panels, strict=True):
        for y, column in enumerate(values.T):
            inside = column[np.isfinite(column)]
            low, quarter, middle, upper, high = np.quantile(inside, [0.05, 0.25, 0.5, 0.75, 0.95])
            x = np.stack([inside, inside, np.full(len(inside), np.nan)], axis=1).reshape(-1)  # one path for all ticks
            panel.plot(x, np.tile([y - 0.3, y + 0.3, np.nan], len(inside)), color=PALETTE["soft"], linewidth=0.7)
            panel.hlines(y, low, high, color=PALETTE["accent"], linewidth=0.9)
            panel.hlines(y, quarter, upper, color=PALETTE["accent"], linewidth=3)
            panel.plot([middle], [y], "o", color=PALETTE["paper"], markeredgecolor=PALETTE["accent"], markersize=4.5)
        _system_axis(panel, data.systems)
        panel.set_xlabel(label)
        panel.set_xlim(-0.02, max(1.0, float(np.nanmax(values))) + 0.02)
    return figure


@dataclass(frozen=True)
class PairSignificance:
    """Difference and p-value of each pair, with the level and the margin to compare them with."""

    label: str
    difference: Floats
    p: Floats
    alpha: float
    margin: float | None


def pair_significance(data: PairSignificance) -> Figure:
    """A dot for each pair: right of the vertical line users would notice it, below the level it is significant."""
    figure, (axes,) = canvas(3.2)
    axes.plot(data.difference, np.maximum(data.p, 1e-6), "o", color=PALETTE["accent"], markersize=4, alpha=0.55)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: "")
    axes.set_ylim(6e-7, 1.6)
    axes.axhline(data.alpha, color=PALETTE["warm"], linewidth=1)
    axes.text(1.0, data.alpha, f" α = {data.alpha:g}", transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    if data.margin is not None:
        axes.axvline(data.margin, color=PALETTE["warm"], linewidth=1, linestyle="--")
        axes.text(data.margin, 1.0, " matters", transform=axes.get_xaxis_transform(), va="bottom", fontsize=8)
    axes.set_xlim(left=0.0)
    label_axes(axes, data.label, "p, corrected")
    return figure


@dataclass(frozen=True)
class HardQueries:
    """Effectiveness of every system on the hardest queries: queries x systems."""

    label: str
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    values: Floats


def hard_queries(data: HardQueries) -> Figure:
    """A dot for each query and system, the larger the better."""
    from matplotlib import pyplot

    n_queries, n_systems = data.values.shape
    figure, axes = pyplot.subplots(figsize=(min(_WIDTH, 2.2 + 0.3 * n_systems), _height(n_queries) + 0.5))
    column, row = np.meshgrid(np.arange(n_systems), np.arange(n_queries))
    sizes = 90 * np.clip(np.nan_to_num(data.values), 0.0, 1.0)
    axes.scatter(column, row, s=90, facecolor="none", edgecolor=PALETTE["line"], linewidth=0.6)
    axes.scatter(column, row, s=sizes, color=PALETTE["accent"], linewidth=0)
    _matrix_axes(axes, data.queries, data.systems, data.label)
    return figure


_PANEL_HEIGHT = 2.5
_DASHES = ("-", "--", ":", "-.")
_MARKERS = "osD^vPX*"
_EDGE = 0.02  # of an axis, on either side, so that markers at its ends are whole
_PER_INCH, _PER_LINE = 14, 7  # characters of a legend: in an inch, and as wide as the line before its text


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
    """Curves on the same axes, with horizontal lines at ``levels``, texts at ``marks``, and the ``diagonal`` y = x."""

    title: str
    curves: tuple[Curve, ...]
    levels: tuple[float, ...] = ()
    diagonal: bool = False
    marks: tuple[tuple[float, float, str], ...] = ()


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
    """Every curve as a line with its band, one style per label in all panels, and one legend below them."""
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
    flat = axes.ravel()
    for place, panel in enumerate(data.panels):
        _draw(flat[place], panel, data, labels)
        if place + n_columns >= len(data.panels):  # the last of its column
            flat[place].set_xlabel(data.x_label)
            flat[place].tick_params(labelbottom=True)
    for empty in flat[len(data.panels) :]:
        empty.set_visible(False)
    for row in axes:
        row[0].set_ylabel(data.y_label)
    if data.y_top is not None:  # of all panels, once all are drawn: they share their axes
        last = max((x for panel in data.panels for curve in panel.curves for x in curve.x.tolist()), default=1.0)
        flat[0].set(xlim=(0, (1 + _EDGE) * last), ylim=(-_EDGE * data.y_top, (1 + _EDGE) * data.y_top))
    if len(labels) > 1:
        handles = [Line2D([], [], label=label, **_look(labels, label)) for label in labels]
        figure.legend(handles=handles, loc="outside lower center", ncols=legend_columns, frameon=False)
    return figure


def _legend_columns(labels: Sequence[str]) -> int:
    """As few rows as the width allows, and rows as even as possible."""
    most = max(1, int(_WIDTH * _PER_INCH / (max(map(len, labels), default=0) + _PER_LINE)))
    rows = -(-len(labels) // most) or 1
    return -(-len(labels) // rows) or 1


def _look(labels: Sequence[str], label: str) -> dict[str, Any]:
    """Colour, dashes and marker of a label: no two are alike, even in black and white."""
    place = labels.index(label)
    return {
        "color": PALETTE[COLOURS[place % len(COLOURS)]],
        "linestyle": _DASHES[place // len(COLOURS) % len(_DASHES)],
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
