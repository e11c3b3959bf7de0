"""Figures of low-cost evaluation: confidence and accuracy against judgments, claims against truth. They only draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats
from adjudge.reports.figures import PALETTE, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("accent", "warm", "ink", "soft", "muted")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class History:
    """A number after so many judgments, one line a name, and the level it should reach."""

    label: str
    names: tuple[str, ...]
    judgments: tuple[Floats, ...]
    values: tuple[Floats, ...]
    level: float | None


def history(data: History) -> Figure:
    """Lines against judgments."""
    figure, (axes,) = canvas(3.0)
    for i, (name, x, y) in enumerate(zip(data.names, data.judgments, data.values, strict=True)):
        axes.plot(x, y, color=_colour(i), linewidth=1.5, marker=_MARKS[i % len(_MARKS)], markersize=3.5, label=name)
    if data.level is not None:
        axes.axhline(data.level, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    axes.set_xlim(left=0)
    axes.set_xlabel("judgments")
    axes.set_ylabel(data.label)
    axes.grid()
    axes.set_axisbelow(True)
    if len(data.names) > 1:
        axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


@dataclass(frozen=True)
class Claims:
    """Mean confidence and share of right signs of binned pairs, with the number of pairs; one line a method."""

    names: tuple[str, ...]
    claimed: tuple[Floats, ...]
    right: tuple[Floats, ...]
    pairs: tuple[Floats, ...]
    shares: Floats
    accuracy: tuple[Floats, ...]


def claims(data: Claims) -> Figure:
    """Left: right signs against claimed confidence, on the diagonal when calibrated. Right: accuracy by effort."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7.2, 3.4))
    left.plot([0.5, 1], [0.5, 1], color=PALETTE["line"], linewidth=1)
    for i, name in enumerate(data.names):
        size = 8 + 40 * data.pairs[i] / max(1.0, float(data.pairs[i].max()))
        left.plot(data.claimed[i], data.right[i], color=_colour(i), linewidth=1.1)
        left.scatter(data.claimed[i], data.right[i], s=size, color=_colour(i), linewidth=0, alpha=0.75, label=name)
        right.plot(
            100 * data.shares, data.accuracy[i], color=_colour(i), linewidth=1.4, marker=_MARKS[i % len(_MARKS)],
            markersize=4, label=name,
        )  # fmt: skip
    _axes(left, "confidence claimed", "right signs")
    _axes(right, "% of the candidates judged", "right signs")
    right.legend(frameon=False, fontsize=7.5, loc="lower right")
    return figure


def _axes(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid()
    axes.set_axisbelow(True)


def _colour(i: int) -> str:
    return PALETTE[_COLOURS[i % len(_COLOURS)]]


def as_floats(values: object) -> Floats:
    """Numbers to draw."""
    return np.asarray(values, dtype=np.float64)
