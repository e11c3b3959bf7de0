"""Figures of a plan: reliability against queries and judgments, and how the answer moved. They only draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats
from adjudge.reports.figures import PALETTE, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("accent", "warm", "muted", "ink", "soft")
_STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class ReliabilityCurves:
    """Eρ² and Φ by number of queries, with their intervals; the targets, and the queries there are."""

    queries: Floats
    names: tuple[str, ...]
    values: tuple[Floats, ...]
    low: tuple[Floats, ...]
    high: tuple[Floats, ...]
    targets: tuple[float, ...]
    n_queries: int


def reliability_curves(data: ReliabilityCurves) -> Figure:
    """A line for each index with a band for its interval, on a logarithmic axis of queries."""
    figure, (axes,) = canvas(3.2)
    for i, (name, value, low, high) in enumerate(zip(data.names, data.values, data.low, data.high, strict=True)):
        colour = PALETTE[_COLOURS[i]]
        if np.isfinite(low).any():
            axes.fill_between(data.queries, low, high, color=colour, alpha=0.14, linewidth=0)
        axes.plot(data.queries, value, color=colour, linewidth=1.6, label=name, linestyle=_STYLES[i % len(_STYLES)])
    for target in data.targets:
        axes.axhline(target, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
        axes.text(1.0, target, f" {target:g}", transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    axes.axvline(data.n_queries, color=PALETTE["line"], linewidth=1)
    axes.text(data.n_queries, 0.02, " now", transform=axes.get_xaxis_transform(), fontsize=8, color=PALETTE["muted"])
    _log_axis(axes, data.queries, "queries")
    axes.set_ylabel("reliability")
    axes.legend(frameon=False, loc="lower right")
    return figure


@dataclass(frozen=True)
class CostCurves:
    """An index against judgments: one line a cutoff and number of assessors."""

    label: str
    measures: tuple[str, ...]
    assessors: tuple[int, ...]
    judgments: tuple[Floats, ...]
    values: tuple[Floats, ...]
    target: float


def cost_curves(data: CostCurves) -> Figure:
    """A line for each design, on a logarithmic axis of judgments: a colour a cutoff, a stroke a number of assessors."""
    figure, (axes,) = canvas(3.2)
    colours, people = list(dict.fromkeys(data.measures)), sorted(set(data.assessors))
    for measure, n, judgments, values in zip(data.measures, data.assessors, data.judgments, data.values, strict=True):
        colour = PALETTE[_COLOURS[colours.index(measure) % len(_COLOURS)]]
        stroke = _STYLES[people.index(n) % len(_STYLES)]
        name = measure if len(people) == 1 else f"{measure}, {n} assessor{'' if n == 1 else 's'}"
        axes.plot(judgments, values, color=colour, linewidth=1.5, linestyle=stroke, label=name)
    axes.axhline(data.target, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    _log_axis(axes, np.concatenate(data.judgments), "judgments")
    axes.set_ylabel(data.label)
    axes.legend(frameon=False, loc="lower right", fontsize=8)
    return figure


@dataclass(frozen=True)
class GrowthCurves:
    """Queries asked for after so many queries were judged; NaN where no number was enough."""

    queries: Floats
    names: tuple[str, ...]
    needed: tuple[Floats, ...]


def growth_curves(data: GrowthCurves) -> Figure:
    """Lines of queries asked for; below the slanted line the collection is large enough."""
    figure, (axes,) = canvas(3.0)
    for i, (name, needed) in enumerate(zip(data.names, data.needed, strict=True)):
        colour = PALETTE[_COLOURS[i]]
        axes.plot(data.queries, needed, "o-", color=colour, markersize=3.5, linewidth=1.4, label=name)
    axes.plot(
        data.queries,
        data.queries,
        color=PALETTE["muted"],
        linewidth=1,
        linestyle=(0, (2, 2)),
        label="queries there are",
    )
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel("queries judged so far")
    axes.set_ylabel("queries needed")
    axes.grid()
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8)
    return figure


def _log_axis(axes: Axes, values: Floats, label: str) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    axes.set_xlim(float(values.min()), float(values.max()))
    axes.set_ylim(top=1.0)
    axes.set_xlabel(label)
    axes.grid()
    axes.set_axisbelow(True)
