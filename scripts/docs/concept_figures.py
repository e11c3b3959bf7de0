"""The figures of the concepts: each draws numbers of ``concept_numbers``, in the look of the reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scripts.docs import concept_numbers as numbers
from scripts.docs.figures import figure

from adjudge.arrays import Floats
from adjudge.relevance.calibration import draw_claims
from adjudge.reporting.canvas import Canvas, draw
from adjudge.reporting.figures import PALETTE, curves
from adjudge.users.figures import agreement_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEAST_P = 1e-6  # smaller ones are drawn here
_GOLDEN = 0.618034  # multiples of it, without their whole part, spread evenly
_LOOKS = (("accent", "o"), ("warm", "s"))


def _panels(height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side."""
    canvas = Canvas()
    panels = canvas.grid(height, columns=columns, sharey=True)
    return canvas.figure, list(panels[0])


def _drawn(draw: Callable[[Any, Canvas], Any], data: object) -> Figure:
    """A figure as reports draw it."""
    canvas = Canvas()
    draw(data, canvas)
    return canvas.figure


@figure("satisfaction")
def satisfaction() -> Figure:
    """Left: queries on the curve of satisfaction. Right: the same queries as shares of users, with their mean."""
    data = numbers.satisfied()
    drawing, (curve, users) = _panels(3.3, 2)
    curve.plot(numbers.GRID, data.curve, color=PALETTE["ink"], linewidth=1.2)
    for i, (name, (colour, mark)) in enumerate(zip(data.systems, _LOOKS, strict=True)):
        look: dict[str, Any] = {
            "linestyle": "none",
            "marker": mark,
            "color": PALETTE[colour],
            "alpha": 0.5,
            "markersize": 4.5,
        }
        curve.plot(data.effectiveness[:, i], data.p_sat[:, i], label=name, **look)
        users.plot(_beside(i, len(data.p_sat)), data.p_sat[:, i], **look)
        users.hlines(data.mean[i], i - 0.3, i + 0.3, color=PALETTE["ink"], linewidth=2)
        users.text(i + 0.34, data.mean[i], f"{data.mean[i]:.2f}", va="center", fontweight="bold")
    for axes in (curve, users):
        axes.axhline(0.5, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
        axes.set_ylim(0, 1.02)
    curve.set_xlim(-0.02, 1.02)
    _gridded(curve, "effectiveness of a list (CG@5)", "share of users who are satisfied")
    curve.legend(frameon=False, loc="upper left", title="a query of", alignment="left")
    above = [f"{name}\n{100 * share:.0f} % of queries\nabove one half" for name, share in _pairs(data)]
    users.set_xticks(range(len(above)), above)
    users.set_xlim(-0.5, len(data.systems) - 0.25)
    users.set_title("bar: mean over queries, P(Sat)")
    return drawing


def _pairs(data: numbers.Satisfied) -> list[tuple[str, float]]:
    return list(zip(data.systems, data.success.tolist(), strict=True))


def _beside(place: float, n: int) -> Floats:
    """Places side by side about one, the same every time."""
    beside: Floats = place + 0.44 * (np.arange(n, dtype=np.float64) * _GOLDEN % 1.0 - 0.5)
    return beside


@figure("preferences")
def preferences() -> Figure:
    """Whom users prefer, by the size of the difference."""
    return _drawn(agreement_panels, numbers.preferred())


@figure("noticed")
def noticed() -> Figure:
    """Each pair a dot, by p-value and by the share of users who prefer the better system; few queries, and many."""
    panels = numbers.noticed()
    drawing, cells = _panels(3.4, 2)
    for axes, data in zip(cells, panels, strict=True):
        x = np.maximum(data.p, _LEAST_P)
        axes.plot(x, data.prefer, "o", color=PALETTE["soft"], markersize=4, alpha=0.7)
        for (name, place), (colour, mark) in zip(data.marked, _LOOKS, strict=True):
            axes.plot(x[place], data.prefer[place], mark, color=PALETTE[colour], markersize=7, label=name)
        _significance(axes)
        axes.set_title(f"{data.n_queries} queries")
    cells[0].set_ylabel("share of users who prefer the better system")
    handles, labels = cells[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper left", ncols=2)
    return drawing


def _significance(axes: Axes) -> None:
    """Likely by chance on the left, hardly on the right; lines where one says significant, and where most notice."""
    axes.set_xscale("log")
    axes.set_xlim(1.8, _LEAST_P / 2)
    axes.set_ylim(0, 0.8)
    axes.set_xticks([1, 0.05, 1e-3, _LEAST_P], ["1", ".05", ".001", "≤ 1e-6"])
    axes.tick_params(axis="x", which="minor", bottom=False)
    axes.axvline(0.05, color=PALETTE["warm"], linewidth=1)
    axes.axhline(0.5, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    axes.text(0.035, 0.015, "significant →", color=PALETTE["warm"])
    axes.text(0.035, 0.51, "most notice ↑", color=PALETTE["muted"], va="bottom")
    axes.set_xlabel("p-value, corrected")
    axes.grid(axis="y")
    axes.set_axisbelow(True)


@figure("other_queries")
def other_queries() -> Figure:
    """A line for each set of queries: the difference with its interval, filled where it leaves 0 out."""
    data = numbers.other_queries()
    drawing, (axes,) = _panels(3.9)
    y = np.arange(len(data.mean))
    colours = [PALETTE["warm" if wrong else "accent"] for wrong in data.reversed]
    axes.hlines(y, data.low, data.high, color=colours, linewidth=1.5)
    for place, mean, colour, filled in zip(y, data.mean, colours, data.significant, strict=True):
        face = colour if filled else PALETTE["paper"]
        axes.plot(mean, place, "o", color=colour, markerfacecolor=face, markersize=5.5)
    axes.axvline(0, color=PALETTE["ink"], linewidth=0.8)
    axes.axvline(data.together, color=PALETTE["muted"], linewidth=1, linestyle=(0, (2, 2)))
    first, second = data.systems
    n = numbers.QUERIES_A_SET
    axes.set_title(
        f"{n} other queries each time: {second} is ahead on {data.reversed.sum()} of {len(y)} sets,\n"
        f"and {data.significant.sum()} of {len(y)} differences are significant (filled). "
        f"Dashed: all {n * len(y)} queries.",
    )  # fmt: skip
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(y) - 0.3, -0.7)
    axes.set_ylabel("sets of queries")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{first} minus {second} in mean CG@5, with its 95 % interval")
    return drawing


@figure("variance_shares")
def variance_shares() -> Figure:
    """A bar for each measure, cut into what its variance is due to."""
    data = numbers.variance_shares()
    drawing, (axes,) = _panels(2.5)
    y = np.arange(len(data.measures))
    left = np.zeros(len(y))
    looks = (("accent", "paper"), ("soft", "ink"), ("line", "ink"))
    words = {"system": "systems", "query": "queries", "residual": "systems that differ by query, and chance"}
    for k, (effect, (colour, ink)) in enumerate(zip(data.effects, looks, strict=True)):
        width = data.shares[:, k]
        axes.barh(y, width, left=left, height=0.66, color=PALETTE[colour], label=words[effect])
        for place, (start, share) in enumerate(zip(left, width, strict=True)):
            axes.text(start + share / 2, place, f"{100 * share:.0f} %", ha="center", va="center", color=PALETTE[ink])
        left = left + width
    axes.set_yticks(y, data.measures)
    axes.set_ylim(len(y) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("share of the variance of effectiveness")
    drawing.legend(loc="outside upper left", ncols=3)
    return drawing


@figure("reliability")
def reliability() -> Figure:
    """Reliability of the order and of the scores, by number of queries."""
    return draw(numbers.reliability())


@figure("power_and_stability")
def power_and_stability() -> Figure:
    """What is found, and what of it is not found again."""
    return _drawn(curves, numbers.power_and_stability())


@figure("believed")
def believed() -> Figure:
    """The documents of one query: belief as a dot with its spread, the truth as a cross; before and after."""
    data = numbers.believed()
    drawing, cells = _panels(3.2, 2)
    x = np.arange(len(data.truth))
    for axes, n, mean, spread, judged in zip(
        cells, data.n_judged, data.relevance, data.deviation, data.judged, strict=True
    ):
        axes.vlines(x[~judged], (mean - spread)[~judged], (mean + spread)[~judged], color=PALETTE["soft"], linewidth=2)
        axes.plot(x[~judged], mean[~judged], "o", color=PALETTE["accent"], markersize=4, label="believed, ± 1 sd")
        axes.plot(x, data.truth, "x", color=PALETTE["warm"], markersize=5, label="grade it would get")
        axes.plot(x[judged], data.truth[judged], "s", color=PALETTE["ink"], markersize=5, label="judged")
        axes.set_title("nothing judged" if n == 0 else f"{n} judgments, {judged.sum()} of this query")
        axes.set_ylim(-3, 103)
        axes.set_xticks([])
        _gridded(axes, "documents of one query, best first", "")
    cells[0].set_ylabel("grade")
    handles, labels = cells[1].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper left", ncols=3)
    return drawing


@figure("narrowing")
def narrowing() -> Figure:
    """Believed scores of systems at some moments, in the order of the truth; crosses are the truth."""
    data = numbers.judging()
    systems = sorted(data.truth, key=lambda name: -data.truth[name])
    drawing, cells = _panels(3.6, len(data.moments))
    y = np.arange(len(systems))
    for axes, moment in zip(cells, data.moments, strict=True):
        place = np.array([systems.index(name) for name in moment.systems])
        axes.hlines(place, moment.low, moment.high, color=PALETTE["soft"], linewidth=2)
        axes.plot(moment.score, place, "o", color=PALETTE["accent"], markersize=4.5, label="believed, 95 %")
        axes.plot([data.truth[name] for name in systems], y, "x", color=PALETTE["warm"], label="all judged")
        share = moment.n_judged / len(data.candidates)
        axes.set_title(f"{moment.n_judged} judgments, {100 * share:.0f} %")
        axes.set_yticks(y, systems)
        axes.set_ylim(len(y) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        _gridded(axes, "CG@5", "")
    handles, labels = cells[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper left", ncols=2)
    return drawing


@figure("telling")
def telling() -> Figure:
    """A dot for each document: what its judgment would tell, by how many systems retrieved it."""
    data = numbers.telling()
    drawing, (axes,) = _panels(2.9)
    x = data.systems + 0.8 * (np.arange(len(data.systems)) * _GOLDEN % 1.0 - 0.5)
    axes.plot(x, data.value, "o", color=PALETTE["accent"], markersize=3.2, alpha=0.45, markeredgewidth=0)
    axes.set_xticks(range(1, data.n_systems + 1))
    axes.set_ylim(-0.03, 1.05)
    _gridded(axes, f"systems that retrieved the document, of {data.n_systems}", "what its judgment would tell")
    return drawing


@figure("stopping")
def stopping() -> Figure:
    """What is promised and how often it is kept, until the session stops and somewhat further."""
    return _drawn(curves, numbers.judging().history)


@figure("claimed")
def claimed() -> Figure:
    """Confidence claimed against what was right."""
    return _drawn(draw_claims, numbers.claimed())


@figure("covered")
def covered() -> Figure:
    """Intervals that hold the truth, by estimator."""
    return _drawn(curves, numbers.covered())


def _gridded(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    if y:
        axes.set_ylabel(y)
    axes.grid()
    axes.set_axisbelow(True)
