"""Figures of ground truth: consistency by group size, constructions side by side, places of systems. They only draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.reports.figures import PALETTE, canvas
from adjudge.reports.groundtruth_names import n_cells, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 7.2
_CELL = 0.066  # inches that a sign of a name takes
_SMALL = 7.5


@dataclass(frozen=True)
class Sizes:
    """Mean group size and consistency of each query."""

    queries: tuple[str, ...]
    size: Floats
    consistency: Floats


def sizes(data: Sizes) -> Figure:
    """Each query a dot: consistency against documents a group, with names as far as they do not touch."""
    figure, (axes,) = canvas(3.1)
    axes.plot(data.size, data.consistency, "o", color=PALETTE["accent"], markersize=4.5, alpha=0.75, markeredgewidth=0)
    low, high = float(data.consistency.min()), float(data.consistency.max())
    pad = max(0.012, 0.08 * (high - low))
    axes.set_ylim(max(low - pad, -0.02), min(high + pad, 1.02))
    left, right = float(data.size.min()), float(data.size.max())
    width = max(0.5, right - left)
    axes.set_xlim(left - 0.05 * width, right + 0.3 * width)
    axes.set_xlabel("documents a group, mean of the list")
    axes.set_ylabel("ADR-1 consistency")
    axes.grid()
    axes.set_axisbelow(True)
    _named(axes, data)
    return figure


def _named(axes: Axes, data: Sizes) -> None:
    """Names right of their dots, the least consistent first; one that would touch another is left out."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    x = (data.size - left) / (right - left) * 6.3  # inches, about
    y = (data.consistency - low) / (high - low) * 2.5
    taken = [(px - 0.04, py - 0.04, px + 0.04, py + 0.04) for px, py in zip(x, y, strict=True)]
    for i in np.argsort(data.consistency, kind="stable"):
        name = shortened(data.queries[i], 22)
        box = (x[i] + 0.06, y[i] - 0.06, x[i] + 0.1 + 0.06 * n_cells(name), y[i] + 0.06)
        if box[2] < 6.4 and not any(_touch(box, other) for other in taken):
            axes.annotate(
                name, (data.size[i], data.consistency[i]), (5, 0), textcoords="offset points", va="center", fontsize=7,
                color=PALETTE["muted"],
            )  # fmt: skip
            taken.append(box)


def _touch(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@dataclass(frozen=True)
class ByConstruction:
    """Consistency and mean group size of each query by each construction, and the mean consistency held out."""

    names: tuple[str, ...]
    consistency: tuple[Floats, ...]
    size: tuple[Floats, ...]
    held_out: tuple[float, ...]


def by_construction(data: ByConstruction) -> Figure:
    """Left consistency, right group sizes: ticks for queries, the middle half, its median, the mean."""
    figure, (left, right) = canvas(1.25 + 0.3 * len(data.names), 2)
    for y, (consistency, size) in enumerate(zip(data.consistency, data.size, strict=True)):
        _values(left, y, consistency)
        _values(right, y, size)
    known = [y for y, value in enumerate(data.held_out) if np.isfinite(value)]
    left.plot(
        [data.held_out[y] for y in known], known, "s", color=PALETTE["warm"], markersize=4.2, markeredgewidth=0,
        label="mean, held out",
    )  # fmt: skip
    for axes, label in ((left, "ADR-1 consistency"), (right, "documents a group")):
        axes.set_yticks(np.arange(len(data.names)), [shortened(name, 26) for name in data.names])
        axes.set_ylim(len(data.names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        axes.set_xlabel(label)
    right.set_xlim(left=min(1.0, right.get_xlim()[0]))
    handles, labels = left.get_legend_handles_labels()
    named = {label: handle for handle, label in zip(handles, labels, strict=True) if label != "mean, held out" or known}
    figure.legend(
        named.values(), named.keys(), loc="outside upper left", ncols=len(named), frameon=False, fontsize=_SMALL
    )
    return figure


def _values(axes: Axes, y: float, values: Floats) -> None:
    """The values of one row: a tick each, the middle half, the median, the mean."""
    known = values[np.isfinite(values)]
    if not len(known):
        return
    quarter, middle, upper = np.quantile(known, [0.25, 0.5, 0.75])
    x = np.stack([known, known, np.full(len(known), np.nan)], axis=1).reshape(-1)  # one path for all ticks
    axes.plot(x, np.tile([y - 0.3, y + 0.3, np.nan], len(known)), color=PALETTE["soft"], linewidth=0.8)
    axes.hlines(y, quarter, upper, color=PALETTE["accent"], linewidth=2.6)
    axes.plot(
        [middle], [y], "o", color=PALETTE["paper"], markeredgecolor=PALETTE["accent"], markersize=4.5, label="median"
    )
    axes.plot([known.mean()], [y], "D", color=PALETTE["ink"], markersize=3.6, markeredgewidth=0, label="mean")


@dataclass(frozen=True)
class Places:
    """Place of each system (columns) by each construction (rows), best first by the baseline; tau against it."""

    systems: tuple[str, ...]
    constructions: tuple[str, ...]
    place: Ints
    tau: Floats
    n_systems: int
    baseline: int = 0


def places(data: Places) -> Figure:
    """A line for each system from construction to construction, the best at the top; coloured where it moves."""
    names = [shortened(name, 24) for name in data.systems]
    figure, (axes,) = canvas(1.1 + 0.21 * len(names))
    x = np.arange(len(data.constructions))
    looks = ("accent", "warm", "ink", "soft")
    moving = 0
    for s, name in enumerate(names):
        place = data.place[:, s] + 0.12 * _shared(data.place, s)
        is_still = bool((data.place[:, s] == data.place[0, s]).all())
        colour = "line" if is_still else looks[moving % len(looks)]
        style = "-" if is_still or moving < len(looks) else (0, (4, 2))
        moving += not is_still
        axes.plot(x, place, color=PALETTE[colour], linewidth=1.4, linestyle=style, marker="o", markersize=3.6)
        ends: dict[str, Any] = {"va": "center", "fontsize": _SMALL, "textcoords": "offset points"}
        axes.annotate(name, (x[0], place[0]), (-6, 0), ha="right", **ends)
        axes.annotate(name, (x[-1], place[-1]), (6, 0), ha="left", **ends)
    axes.set_ylim(float(data.place.max()) + 0.7, 0.3)
    inches = _CELL * max(map(n_cells, names)) + 0.2
    margin = (len(x) - 1) * inches / (_WIDTH - 2 * inches)
    axes.set_xlim(-margin, len(x) - 1 + margin)
    _construction_axis(axes, data)
    axes.tick_params(axis="y", left=False, labelleft=False)
    axes.spines["left"].set_visible(False)
    return figure


def _shared(place: Ints, s: int) -> Floats:
    """How many systems before this one have the same place, by construction: their lines are drawn side by side."""
    same: Floats = (place[:, :s] == place[:, s : s + 1]).sum(axis=1).astype(np.float64)
    return same


def _construction_axis(axes: Axes, data: Places) -> None:
    """Constructions with their tau; long names are slanted."""
    labels = [
        shortened(name, 26) + ("" if i == data.baseline or np.isnan(tau) else f"\nτ {tau:.2f}")
        for i, (name, tau) in enumerate(zip(data.constructions, data.tau, strict=True))
    ]
    is_long = max(n_cells(name) for name in data.constructions) * len(labels) > 60
    axes.set_xticks(np.arange(len(labels)), labels, fontsize=_SMALL, rotation=35 if is_long else 0)
    if is_long:
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
