"""Figures of preference studies: what people prefer against effectiveness, and the people. They only draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.reporting.figures import PALETTE, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WIDTH, _PANEL = 7.2, 2.15
_SERIES = ("accent", "muted", "warm")
_MARKS = ("o", "s", "^")
_LETTERS_PER_INCH, _LETTERS_PER_MARK = 14, 7  # of a legend: how wide words are, and the line before them


@dataclass(frozen=True)
class Series:
    """Shares of bins with the ends of their intervals, and a curve through them; NaN where nothing is known."""

    x: Floats
    share: Floats
    low: Floats
    high: Floats


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


def satisfaction_panels(data: Panels) -> Figure:
    """Bins as dots with their intervals; the first curve solid, the second dashed."""
    figure, cells = _multiples(data)
    for axes, panel in zip(cells, data.panels, strict=True):
        for series in panel.series:
            axes.vlines(series.x, series.low, series.high, color=PALETTE["soft"], linewidth=1.4)
            axes.plot(series.x, series.share, "o", color=PALETTE["soft"], markersize=3.2, label=data.series[0])
        for i, (name, curve) in enumerate(zip(data.curves, panel.curves, strict=True)):
            colour, dashes = (("accent", "-"), ("warm", (0, (4, 2))))[i % 2]
            axes.plot(data.grid, curve, color=PALETTE[colour], linewidth=1.5, linestyle=dashes, label=name)
    _legend(figure, cells[0])
    return figure


def agreement_panels(data: Panels) -> Figure:
    """One colour per answer, dots and intervals for bins, a line for the curve; upright where half notice."""
    figure, cells = _multiples(data)
    for axes, panel in zip(cells, data.panels, strict=True):
        if panel.mark is not None and np.isfinite(panel.mark[0]):
            value, low, high = panel.mark
            if np.isfinite(low) and np.isfinite(high):
                axes.axvspan(low, high, color=PALETTE["line"], alpha=0.45, linewidth=0)
            axes.axvline(value, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
            axes.text(value, 1.01, f"{value:.2f}", ha="center", va="bottom", fontsize=7.5, color=PALETTE["muted"])
        for i, (name, series, curve) in enumerate(zip(data.series, panel.series, panel.curves, strict=True)):
            colour = PALETTE[_SERIES[i % 3]]
            axes.vlines(series.x, series.low, series.high, color=colour, linewidth=0.9, alpha=0.6)
            axes.plot(series.x, series.share, _MARKS[i % 3], color=colour, markersize=2.8, alpha=0.8)
            axes.plot(data.grid, curve, color=colour, linewidth=1.5, label=name)
    _legend(figure, cells[0])
    return figure


def _multiples(data: Panels) -> tuple[Figure, list[Axes]]:
    """Panels in rows of three, or fewer and wider ones; axes run from 0 to 1 in all."""
    from matplotlib import pyplot

    n = len(data.panels)
    columns = min(n, 3)
    rows = -(-n // columns)
    width = _WIDTH if columns == 3 else 2.9 * columns + 0.6
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(width, _PANEL * rows + 0.7), sharex=True, sharey=True, squeeze=False
    )
    cells = list(grid.flat)
    for axes in cells[n:]:
        axes.set_visible(False)
    for i, (axes, panel) in enumerate(zip(cells, data.panels, strict=False)):
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
        axes.grid()
        axes.set_axisbelow(True)
        axes.set_title(panel.title, fontsize=8.5, loc="left", pad=14 if panel.mark is not None else 6)
        if i + columns >= n:  # nothing below it
            axes.set_xlabel(data.x_label)
            axes.tick_params(labelbottom=True)
        if i % columns == 0:
            axes.set_ylabel(data.y_label)
    return figure, cells[:n]


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    letters = sum(len(label) + _LETTERS_PER_MARK for label in labels)
    columns = len(labels) if letters <= figure.get_figwidth() * _LETTERS_PER_INCH else 1
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, frameon=False, fontsize=8)


@dataclass(frozen=True)
class Cumulative:
    """Shares up to a size, one line per name, and the place on it from which on people notice; NaN where none."""

    x_label: str
    names: tuple[str, ...]
    grid: Floats
    shares: tuple[Floats, ...]
    marks_x: tuple[float, ...]
    marks_y: tuple[float, ...]


def cumulative(data: Cumulative) -> Figure:
    """A rising line for each name, a dot on it where people begin to notice."""
    figure, (axes,) = canvas(2.9)
    looks = (("accent", "-"), ("warm", "-"), ("ink", (0, (4, 2))), ("soft", (0, (1, 1))))
    for i, (name, share) in enumerate(zip(data.names, data.shares, strict=True)):
        colour, dashes = looks[i % len(looks)]
        axes.plot(data.grid, share, color=PALETTE[colour], linestyle=dashes, linewidth=1.4, label=name)
        axes.plot([data.marks_x[i]], [data.marks_y[i]], "o", color=PALETTE[colour], markersize=5.5)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(data.x_label)
    axes.set_ylabel("share of comparisons")
    axes.grid()
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


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


def people(data: People) -> Figure:
    """Left: traps right against answers. Right: how far answers follow effectiveness against time. Crosses: doubted."""
    from matplotlib import pyplot

    timed = bool(np.isfinite(data.seconds).any())
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(_WIDTH, 3.0))
    left.axhline(data.bar, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    _dots(left, _apart(data.answers, data.trust), data.trust, data.doubted)
    left.set_ylim(-0.05, 1.05)
    left.set_xlim(0, 1.12 * float(data.answers.max(initial=1.0)))
    left.set_xlabel("answers, traps apart")
    left.set_ylabel("share of traps right")
    right.axhline(0, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    _dots(right, data.seconds if timed else data.answers, data.follows, data.doubted)
    right.set_xlabel("median seconds for an answer" if timed else "answers, traps apart")
    right.set_ylabel("follows the others")
    right.set_xlim(left=0)
    for axes in (left, right):
        axes.grid()
        axes.set_axisbelow(True)
    _legend(figure, left)
    return figure


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


def left_out(data: LeftOut) -> Figure:
    """A dot for the number without a participant, joined to the upright line of all; dashed with all answers back."""
    from matplotlib.ticker import MaxNLocator

    figure, cells = canvas(1.0 + 0.2 * len(data.names), len(data.labels))
    y = np.arange(len(data.names))
    for axes, label, without, now, back in zip(
        cells, data.labels, data.without, data.with_all, data.put_back, strict=True
    ):
        axes.axvline(now, color=PALETTE["ink"], linewidth=1, label="everybody")
        if np.isfinite(back):
            axes.axvline(back, color=PALETTE["warm"], linewidth=1, linestyle=(0, (4, 2)), label="answers put back in")
        axes.hlines(y, now, without, color=PALETTE["soft"], linewidth=1.3)
        axes.plot(without, y, "o", color=PALETTE["accent"], markersize=4, label="without the participant")
        axes.set_yticks(y, [name if len(name) <= 20 else f"{name[:19]}…" for name in data.names])
        axes.set_ylim(len(data.names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        axes.set_xlabel(label)
    _legend(figure, cells[0])
    return figure
