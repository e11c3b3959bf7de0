"""A partially ordered list drawn: groups, spread of the answers, the pairs that experts contradict. It only draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.reports.figures import PALETTE
from adjudge.reports.groundtruth_names import n_cells, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 7.2
_CELL = 0.066  # inches that a sign of a name takes
_LONGEST = 30
_GROUP, _COUNT, _GAP = 0.34, 0.5, 0.16  # inches: number of the group, number of answers, before the matrix
_SMALL = 7.5
_LEGEND_COLUMNS = 4
_TITLE: dict[str, Any] = {"fontsize": _SMALL, "y": 1.0, "pad": 15, "color": PALETTE["ink"]}


@dataclass(frozen=True)
class DrawnList:
    """A list, or the part of it from row ``start`` on: groups, spread of the answers, pairs that experts contradict.

    ``documents`` and what is said of each are of the rows shown; ``group`` and pairs are of the whole list. ``unasked``
    are runs of pairs that were never compared: row, first and last column.
    """

    documents: tuple[str, ...]
    start: int
    group: tuple[int, ...]
    middle: Floats
    lower: Floats
    upper: Floats
    mean: Floats
    answers: tuple[int, ...]
    is_rank: bool
    label: str
    middle_label: str
    spread_label: str
    answers_label: str
    intra: Ints
    inter: Ints
    misordered: Ints
    unasked: Ints
    left_out: tuple[str, ...] = ()


def drawn_list(data: DrawnList) -> Figure:
    """Groups as bands: names, the middle of the answers with their spread, how many; beside it the pairs."""
    from matplotlib import pyplot

    rows, n = len(data.documents), len(data.group)
    step = 0.165 if rows > 12 else 0.21
    names = [shortened(name, _LONGEST) for name in data.documents]
    for_names = max(0.7, _CELL * max(map(n_cells, names)) + 0.1)
    side = min(2.3, max(1.0, 0.21 * n))
    footer, legend = _footer(data.left_out), _marks(data)
    top = 0.56 + 0.165 * -(-len(legend) // _LEGEND_COLUMNS)
    bottom = 0.26 + (0.16 * len(footer) + 0.08 if footer else 0.0)
    height = top + step * rows + bottom
    figure = pyplot.figure(figsize=(_WIDTH, height), layout="none")

    def panel(left: float, width: float) -> Axes:
        axes = figure.add_axes((left / _WIDTH, bottom / height, width / _WIDTH, step * rows / height))
        axes.set_ylim(data.start + rows - 0.5, data.start - 0.5)
        return axes

    before = _GROUP + for_names
    spread = _WIDTH - before - _COUNT - _GAP - side - 0.06
    back = panel(0, before + spread + _COUNT)
    _bands(back, data, names, before, before + spread + _COUNT)
    _spread(panel(before, spread - 0.06), data)
    matrix = panel(before + spread + _COUNT + _GAP, side)
    _pairs(matrix, data)
    for line, text in enumerate(footer):
        figure.text(0.01, (0.06 + 0.16 * (len(footer) - 1 - line)) / height, text, fontsize=7, color=PALETTE["muted"])
    figure.legend(
        handles=legend, loc="upper left", bbox_to_anchor=(0.0, 1.0), ncols=_LEGEND_COLUMNS, frameon=False,
        fontsize=_SMALL, handlelength=1.2, handleheight=0.8, columnspacing=1.4, borderaxespad=0.1, handletextpad=0.5,
    )  # fmt: skip
    return figure


def _footer(left_out: Sequence[str]) -> list[str]:
    """Documents that are in no list, in at most three lines."""
    if not left_out:
        return []
    lines, used = ["in no list: "], 0
    for place, name in enumerate(left_out):
        text = shortened(name, _LONGEST) + (", " if place < len(left_out) - 1 else "")
        if n_cells(lines[-1] + text) > 100:
            if len(lines) == 3:
                break
            lines.append("")
        lines[-1] += text
        used = place + 1
    if used < len(left_out):
        lines[-1] += f"… and {len(left_out) - used} more"
    return lines


def _bands(axes: Axes, data: DrawnList, names: Sequence[str], before: float, width: float) -> None:
    """Every other group shaded, groups numbered at the left, names, and how many spoke of each document."""
    axes.set_xlim(0, width)
    axes.axis("off")
    first, last = data.start, data.start + len(data.documents) - 1
    for number, (begin, end) in enumerate(_stretches(data.group)):
        shown = max(begin, first), min(end, last)
        if shown[0] > shown[1]:
            continue
        if number % 2 == 0:
            axes.axhspan(shown[0] - 0.5, shown[1] + 0.5, color=PALETTE["line"], alpha=0.34, linewidth=0)
        axes.text(
            0.26, sum(shown) / 2, str(number + 1), ha="right", va="center", fontsize=_SMALL, color=PALETTE["muted"]
        )
    for row, (name, answers) in enumerate(zip(names, data.answers, strict=True), start=first):
        axes.text(before - 0.07, row, name, ha="right", va="center", fontsize=_SMALL)
        axes.text(width - 0.1, row, str(answers), ha="right", va="center", fontsize=7, color=PALETTE["muted"])
    above: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "fontsize": 7, "color": PALETTE["muted"]}
    axes.annotate("group", (0.36, first - 0.5), (0, 15), **above)
    axes.annotate(data.answers_label, (width - 0.06, first - 0.5), (0, 15), **above)


def _stretches(group: Sequence[int]) -> list[tuple[int, int]]:
    """First and last place of each group."""
    starts = [place for place in range(len(group)) if place == 0 or group[place] != group[place - 1]]
    return list(zip(starts, [*(start - 1 for start in starts[1:]), len(group) - 1], strict=True))


def _spread(axes: Axes, data: DrawnList) -> None:
    """A line for the spread, a dot for the middle, a tick for the mean; the axis stands above and below."""
    from matplotlib.ticker import MaxNLocator

    y = data.start + np.arange(len(data.documents))
    axes.hlines(y, data.lower, data.upper, color=PALETTE["soft"], linewidth=2.2)
    if len(data.mean):
        axes.plot(data.mean, y, "|", color=PALETTE["ink"], markersize=6, markeredgewidth=0.9)
    axes.plot(data.middle, y, "o", color=PALETTE["accent"], markersize=3.8, markeredgewidth=0)
    ends = np.concatenate([data.middle, data.lower, data.upper, data.mean])
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    pad = 0.03 * (high - low or 1.0)
    axes.set_xlim(*((low - pad, high + pad) if data.is_rank else (high + pad, low - pad)))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=data.is_rank, min_n_ticks=2))
    axes.tick_params(axis="x", labelsize=7, top=True, labeltop=True, length=2, pad=2)
    axes.tick_params(axis="y", left=False, labelleft=False)
    axes.spines["left"].set_visible(False)
    axes.spines["top"].set_visible(True)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_title(data.label, **_TITLE)


def _pairs(axes: Axes, data: DrawnList) -> None:
    """A square for each pair of the list: outlined within groups, marked where experts contradict it."""
    from matplotlib.patches import Rectangle

    first, last, n = data.start, data.start + len(data.documents) - 1, len(data.group)
    left, right = _window(data, n)
    axes.set_xlim(left - 0.5, right + 0.5)
    _cells(axes, np.stack([np.arange(first, last + 1)] * 2, axis=1), 0.84, PALETTE["line"])
    for row, begin, end in data.unasked:
        axes.add_patch(Rectangle((begin - 0.5, row - 0.5), end - begin + 1, 1, color=PALETTE["line"], alpha=0.45, lw=0))
    _cells(axes, _shown(data.inter, first, last), 0.84, PALETTE["accent"])
    _cells(axes, _shown(data.intra, first, last), 0.84, PALETTE["warm"])
    _crosses(axes, _shown(data.misordered, first, last))
    stretches = _stretches(data.group)
    for begin, end in stretches:
        size = end - begin + 1
        axes.add_patch(
            Rectangle((begin - 0.5, begin - 0.5), size, size, fill=False, edgecolor=PALETTE["muted"], linewidth=0.7)
        )
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(PALETTE["line"])
    axes.tick_params(axis="y", left=False, labelleft=False)
    places, numbers = _labelled(stretches, left, right)
    axes.set_xticks(places, numbers)
    axes.tick_params(axis="x", length=0, labelsize=7, pad=2, bottom=False, labelbottom=False, top=False, labeltop=True)
    axes.set_title("pairs, by group", **_TITLE)


def _window(data: DrawnList, n: int) -> tuple[int, int]:
    """First and last column to show: all of a whole list, of a part what its groups and its pairs reach."""
    first, last = data.start, data.start + len(data.documents) - 1
    if last - first + 1 == n:
        return 0, n - 1
    rows = [begin_end for begin_end in _stretches(data.group) if begin_end[1] >= first and begin_end[0] <= last]
    marked = np.concatenate([_shown(pairs, first, last)[:, 1] for pairs in (data.intra, data.inter, data.misordered)])
    reached = [rows[0][0], rows[-1][1], *marked.tolist()]
    return min(reached), max(reached)


def _labelled(stretches: Sequence[tuple[int, int]], left: int, right: int) -> tuple[list[float], list[str]]:
    """Numbers of groups above the columns, as many as do not touch."""
    places: list[float] = []
    shown = []
    for number, (begin, end) in enumerate(stretches, start=1):
        middle = (max(begin, left) + min(end, right)) / 2
        if begin > right or end < left:
            continue
        if not places or (middle - places[-1]) / (right - left + 1) >= 0.03 + 0.03 * len(str(number)):
            places.append(middle)
            shown.append(str(number))
    return places, shown


def _shown(pairs: Ints, first: int, last: int) -> Ints:
    """Rows and columns of pairs in both directions, of the rows that are shown."""
    both: Ints = np.concatenate([pairs, pairs[:, ::-1]]).reshape(-1, 2)
    shown: Ints = both[(both[:, 0] >= first) & (both[:, 0] <= last)]
    return shown


def _cells(axes: Axes, cells: Ints, size: float, colour: str) -> None:
    """Squares in the matrix, one path for all of them: thousands are no burden to a page."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if not len(cells):
        return
    half = size / 2
    corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half], [-half, -half]])
    vertices = (cells[:, None, ::-1] + corners[None]).reshape(-1, 2)
    codes = np.tile([Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], len(cells))
    axes.add_patch(PathPatch(Path(vertices, codes), facecolor=colour, edgecolor="none", linewidth=0))


def _crosses(axes: Axes, cells: Ints) -> None:
    """A cross over each pair that stands in the wrong order."""
    if len(cells):
        row, column = cells[:, 0].astype(np.float64), cells[:, 1].astype(np.float64)
        nothing = np.full(len(cells), np.nan)
        x = np.stack([column - 0.5, column + 0.5, nothing, column - 0.5, column + 0.5, nothing], axis=1).reshape(-1)
        y = np.stack([row - 0.5, row + 0.5, nothing, row + 0.5, row - 0.5, nothing], axis=1).reshape(-1)
        axes.plot(x, y, color=PALETTE["ink"], linewidth=0.9)


def _marks(data: DrawnList) -> list[Any]:
    """What each mark means; of the pairs only what there is."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    dot: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": PALETTE["accent"], "markersize": 4}
    tick: dict[str, Any] = {"linestyle": "none", "marker": "|", "color": PALETTE["ink"], "markersize": 6}
    cross: dict[str, Any] = {"linestyle": "none", "marker": "x", "color": PALETTE["ink"], "markersize": 5}
    marks: list[tuple[bool, Any]] = [
        (True, Line2D([], [], **dot, label=data.middle_label)),
        (True, Line2D([], [], color=PALETTE["soft"], linewidth=2.2, label=data.spread_label)),
        (bool(len(data.mean)), Line2D([], [], **tick, label="mean")),
        (bool(len(data.intra)), Patch(color=PALETTE["warm"], label="one group, but they differ")),
        (bool(len(data.inter)), Patch(color=PALETTE["accent"], label="two groups, but no difference")),
        (bool(len(data.misordered)), Line2D([], [], **cross, label="wrong order")),
        (bool(len(data.unasked)), Patch(color=PALETTE["line"], alpha=0.45, label="never compared")),
    ]
    return [mark for is_there, mark in marks if is_there]
