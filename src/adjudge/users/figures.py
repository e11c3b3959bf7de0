"""Figures of preference studies: what people prefer against effectiveness, and the people. They only draw."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.reporting.figures import DASHED, PALETTE, Grid, describe_points, label_axes, name_rows, rows_height
from adjudge.text import counted, number, percent, share_with

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from adjudge.reporting.canvas import Canvas


_PANEL = 2.0
_LETTERS = 11  # of the name of an axis, for each inch of a panel
_SERIES = ("accent", "muted", "warm")
_MARKS = ("o", "s", "^")


@dataclass(frozen=True)
class Series:
    """Shares of bins with the ends of their intervals, and a curve through them; NaN where nothing is known."""

    x: Floats
    share: Floats
    low: Floats
    high: Floats


NO_BINS = Series(*(np.empty(0) for _ in range(4)))


@dataclass(frozen=True)
class Panel:
    """One combination: bins of each series, lines over the grid, and where to put an upright line with its interval."""

    title: str
    series: tuple[Series, ...]
    curves: tuple[Floats, ...]
    mark: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Panels:
    """Small multiples with one meaning of axes, dots and lines."""

    x_label: str
    y_label: str
    grid: Floats
    series: tuple[str, ...]
    curves: tuple[str, ...]
    panels: tuple[Panel, ...]


def satisfaction_panels(data: Panels, canvas: Canvas) -> Grid:
    """Bins as dots with their intervals; the first curve solid, the second dashed."""
    grid, cells = _multiples(data, canvas)
    for axes, panel in zip(cells, data.panels, strict=True):
        for series in panel.series:
            _describe_bins(axes, data.series[0], series, PALETTE["soft"])
            axes.vlines(series.x, series.low, series.high, color=PALETTE["soft"], linewidth=1.4)
            axes.plot(series.x, series.share, "o", color=PALETTE["soft"], markersize=3.2, label=data.series[0])
        for i, (name, curve) in enumerate(zip(data.curves, panel.curves, strict=True)):
            colour, dashes = (("accent", "-"), ("warm", DASHED))[i % 2]
            axes.plot(data.grid, curve, color=PALETTE[colour], linewidth=1.5, linestyle=dashes, label=name)
            _describe_curve(axes, name, data.grid, curve, PALETTE[colour])
    canvas.legend(cells[0])
    return grid


def agreement_panels(data: Panels, canvas: Canvas) -> Grid:
    """One colour per answer, dots and intervals for bins, a line for the curve; upright where half notice."""
    grid, cells = _multiples(data, canvas)
    for axes, panel in zip(cells, data.panels, strict=True):
        if panel.mark is not None and np.isfinite(panel.mark[0]):
            value, low, high = panel.mark
            if np.isfinite(low) and np.isfinite(high):
                axes.axvspan(low, high, color=PALETTE["line"], alpha=0.45, linewidth=0)
            axes.axvline(value, color=PALETTE["muted"], linewidth=0.8, linestyle=DASHED)
            axes.text(value, 1.01, f"{value:.2f}", ha="center", va="bottom", color=PALETTE["muted"])
        for i, (name, series, curve) in enumerate(zip(data.series, panel.series, panel.curves, strict=True)):
            colour = PALETTE[_SERIES[i % 3]]
            axes.vlines(series.x, series.low, series.high, color=colour, linewidth=0.9, alpha=0.6)
            axes.plot(series.x, series.share, _MARKS[i % 3], color=colour, markersize=2.8, alpha=0.8)
            axes.plot(data.grid, curve, color=colour, linewidth=1.5, label=name)
            _describe_curve(axes, name, data.grid, curve, colour)
            _describe_bins(axes, name, series, colour)
    canvas.legend(cells[0])
    return grid


_EVERY = 10  # points of a line from which one is read


def _describe_curve(axes: Axes, name: str, x: Floats, y: Floats, colour: str) -> None:
    x, y = x[::_EVERY], y[::_EVERY]
    words = [f"{name}: {percent(share, 0)} at {place:.2g}" for place, share in zip(x, y, strict=True)]
    describe_points(axes, x, y, words, colour)


def _describe_bins(axes: Axes, name: str, bins: Series, colour: str) -> None:
    rows = zip(bins.x, bins.share, bins.low, bins.high, strict=True)
    words = [f"{name}: {share_with(share, low, high)} at {x:.2g}" for x, share, low, high in rows]
    describe_points(axes, bins.x, bins.share, words, colour)


def _multiples(data: Panels, canvas: Canvas) -> tuple[Grid, list[Axes]]:
    """Panels in rows of three, or fewer and wider ones; axes run from 0 to 1 in all."""
    n = len(data.panels)
    columns = canvas.columns(n, most=3, least=1.5)
    rows = -(-n // columns)
    width = min(canvas.width, 2.4 * columns + 0.9)
    grid = canvas.grid(_PANEL * rows + 0.2, rows=rows, columns=columns, width=width, sharex=True, sharey=True)
    cells = list(grid.flat)
    for axes in cells[n:]:
        axes.set_visible(False)
    ticks, texts = [0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"]
    for i, (axes, panel) in enumerate(zip(cells, data.panels, strict=False)):
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        axes.set_xticks(ticks, texts)
        axes.set_yticks(ticks, texts)
        axes.grid(visible=True)
        axes.set_title(panel.title, pad=14 if panel.mark is not None else 6)
        if i + columns >= n:  # nothing below it
            axes.tick_params(labelbottom=True)
            axes.set_xlabel(fill(data.x_label, int(_LETTERS * width / columns)))
        if i % columns == 0:
            axes.set_ylabel(data.y_label)
    return grid, cells[:n]


@dataclass(frozen=True)
class Cumulative:
    """Shares up to a size, one line per name, and the place on it from which on people notice; NaN where none."""

    x_label: str
    names: tuple[str, ...]
    grid: Floats
    shares: tuple[Floats, ...]
    marks_x: tuple[float, ...]
    marks_y: tuple[float, ...]


def cumulative(data: Cumulative, canvas: Canvas) -> Axes:
    """A rising line for each name, a dot on it where people begin to notice."""
    axes = canvas.axes(2.4)
    looks = (("accent", "-"), ("warm", "-"), ("ink", DASHED), ("soft", (0, (1, 1))))
    for i, (name, share) in enumerate(zip(data.names, data.shares, strict=True)):
        colour, dashes = looks[i % len(looks)]
        axes.plot(data.grid, share, color=PALETTE[colour], linestyle=dashes, linewidth=1.4, label=name)
        axes.plot([data.marks_x[i]], [data.marks_y[i]], "o", color=PALETTE[colour], markersize=5.5)
        _describe_curve(axes, name, data.grid, share, PALETTE[colour])
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    label_axes(axes, data.x_label, "share of comparisons")
    canvas.legend(axes)
    return axes


@dataclass(frozen=True)
class People:
    """Each participant: answers, share of traps right, P(attentive), how far answers follow those of others."""

    names: tuple[str, ...]
    answers: Floats
    trust: Floats
    attentive: Floats
    follows: Floats
    seconds: Floats
    doubted: Mask
    bar: float


def people(data: People, canvas: Canvas) -> Grid:
    """Left: traps right against answers. Right: how far answers follow effectiveness against time. Crosses: doubted.

    Without any traps only the right one.
    """
    timed, trapped = bool(np.isfinite(data.seconds).any()), bool(np.isfinite(data.trust).any())
    n = 1 + trapped
    columns = canvas.columns(n, most=2)
    grid = canvas.grid(2.5 * n / columns, rows=n // columns, columns=columns)
    right = grid.flat[-1]
    if trapped:
        _draw_traps(grid.flat[0], data)
    right.axhline(0, color=PALETTE["muted"], linewidth=0.8, linestyle=DASHED)
    across = data.seconds if timed else data.answers
    _dots(right, across, data.follows, data.doubted)
    _describe_people(right, across, data.follows, data)
    right.set_xlim(left=0)
    label_axes(right, "median seconds per answer" if timed else "answers, without checks", "follows the others")
    canvas.legend(right)
    return grid


def _draw_traps(left: Axes, data: People) -> None:
    left.axhline(data.bar, color=PALETTE["muted"], linewidth=0.8, linestyle=DASHED)
    across = _apart(data.answers, data.trust)
    _dots(left, across, data.trust, data.doubted)
    _describe_people(left, across, data.trust, data)
    left.set_ylim(-0.05, 1.05)
    left.set_xlim(0, 1.12 * float(data.answers.max(initial=1.0)))
    label_axes(left, "answers, without checks", "share of checks right")


def _describe_people(axes: Axes, x: Floats, y: Floats, data: People) -> None:
    rows = zip(data.names, data.answers, data.trust, data.follows, data.seconds, strict=True)
    words = [
        f"{name}: {counted(int(answers), 'answer')}, traps right {number(trust)}, follows others {number(follows)}, "
        f"median {number(seconds, 1)} s"
        for name, answers, trust, follows, seconds in rows
    ]
    describe_points(axes, x, y, words, PALETTE["accent"])


def _apart(x: Floats, y: Floats) -> Floats:
    """Marks at one place side by side, about where they belong: the first there, the others right and left of it."""
    step = 0.012 * float(x.max(initial=1.0))
    moved, seen = x.copy(), dict[tuple[float, float], int]()
    for i, place in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        k = seen[place] = seen.get(place, -1) + 1
        k = min(k, 15)
        moved[i] += step * ((k + 1) // 2) * (1 if k % 2 else -1)
    return moved


def _dots(axes: Axes, x: Floats, y: Floats, doubted: Mask) -> None:
    looks: tuple[tuple[str, Mask, dict[str, Any]], ...] = (
        ("passes the rules", ~doubted, {"marker": "o", "color": PALETTE["accent"], "alpha": 0.6}),
        ("does not", doubted, {"marker": "X", "color": PALETTE["warm"], "alpha": 0.85}),
    )
    for name, some, look in looks:
        if some.any():
            axes.plot(x[some], y[some], linestyle="none", markersize=5, markeredgewidth=0, label=name, **look)


@dataclass(frozen=True)
class LeftOut:
    """A number without each of some participants, one panel per number, and what it is with everybody."""

    names: tuple[str, ...]
    labels: tuple[str, ...]
    without: tuple[Floats, ...]
    with_all: tuple[float, ...]
    put_back: tuple[float, ...]


def left_out(data: LeftOut, canvas: Canvas) -> Grid:
    """A dot for the number without a participant, joined to the upright line of all; dashed with all answers back."""
    from matplotlib.ticker import MaxNLocator

    height = rows_height(len(data.names))
    grid = canvas.grid(height, columns=len(data.labels), sharey=True)
    y, names = np.arange(len(data.names)), canvas.names(data.names, part=0.25)
    for axes, label, without, now, back in zip(
        grid[0], data.labels, data.without, data.with_all, data.put_back, strict=True
    ):
        axes.axvline(now, color=PALETTE["ink"], linewidth=1, label="everybody")
        if np.isfinite(back):
            axes.axvline(back, color=PALETTE["warm"], linewidth=1, linestyle=DASHED, label="answers put back in")
        axes.hlines(y, now, without, color=PALETTE["soft"], linewidth=1.3)
        axes.plot(without, y, "o", color=PALETTE["accent"], markersize=4, label="without the participant")
        words = [f"without {name}: {value:.3g}" for name, value in zip(data.names, without, strict=True)]
        describe_points(axes, without, y, words, PALETTE["accent"])
        name_rows(axes, names, height)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.set_xlabel(label)
    canvas.legend(grid[0, 0])
    return grid
