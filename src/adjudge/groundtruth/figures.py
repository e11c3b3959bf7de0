"""Figures of ground truth: consistency by group size, constructions, places of systems, a list. They only draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.reporting.figures import PALETTE, Grid, describe_points, label_axes, name_rows, shortened
from adjudge.text import text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from adjudge.reporting.canvas import Canvas


@dataclass(frozen=True)
class Sizes:
    """Mean group size and consistency of each query."""

    queries: tuple[str, ...]
    size: Floats
    consistency: Floats


def sizes(data: Sizes, canvas: Canvas) -> Axes:
    """A dot per query: consistency against documents per group, with names as far as they do not touch."""
    axes = canvas.axes(2.6)
    axes.plot(data.size, data.consistency, "o", color=PALETTE["accent"], markersize=4.5, alpha=0.75, markeredgewidth=0)
    rows = zip(data.queries, data.consistency, data.size, strict=True)
    words = [f"{query}: {consistency:.3f}, {size:.2f} documents per group" for query, consistency, size in rows]
    describe_points(axes, data.size, data.consistency, words, PALETTE["accent"])
    low, high = float(data.consistency.min()), float(data.consistency.max())
    pad = max(0.012, 0.08 * (high - low))
    axes.set_ylim(max(low - pad, -0.02), min(high + pad, 1.02))
    left, right = float(data.size.min()), float(data.size.max())
    width = max(0.5, right - left)
    axes.set_xlim(left - 0.05 * width, right + 0.3 * width)
    label_axes(axes, "documents per group, mean of the list", "ADR-1 consistency")
    _name_dots(axes, data, canvas)
    return axes


def _name_dots(axes: Axes, data: Sizes, canvas: Canvas) -> None:
    """Names right of their dots, the least consistent first; one that would touch another is left out."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    wide, names = canvas.width - 0.7, canvas.names(data.queries, part=0.3)
    x = (data.size - left) / (right - left) * wide  # inches, about
    y = (data.consistency - low) / (high - low) * 2.1
    taken = [(px - 0.04, py - 0.04, px + 0.04, py + 0.04) for px, py in zip(x, y, strict=True)]
    for i in np.argsort(data.consistency, kind="stable"):
        box = (x[i] + 0.06, y[i] - 0.06, x[i] + 0.1 + canvas.widest([names[i]]), y[i] + 0.06)
        touches = any(
            box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken
        )
        if box[2] < wide and not touches:
            axes.annotate(
                names[i], (data.size[i], data.consistency[i]), (5, 0), textcoords="offset points", va="center",
                color=PALETTE["muted"],
            )  # fmt: skip
            taken.append(box)


@dataclass(frozen=True)
class ByConstruction:
    """Consistency and mean group size of each query by each construction, and the mean consistency held out."""

    names: tuple[str, ...]
    consistency: tuple[Floats, ...]
    size: tuple[Floats, ...]
    held_out: tuple[float, ...]


def by_construction(data: ByConstruction, canvas: Canvas) -> Grid:
    """Left consistency, right group sizes: ticks for queries, the middle half, its median, the mean."""
    height = 0.6 + 0.26 * len(data.names)
    grid = canvas.grid(height, columns=2, sharey=True)
    left, right = grid[0]
    for y, (name, consistency, size) in enumerate(zip(data.names, data.consistency, data.size, strict=True)):
        _values(left, y, consistency, name)
        _values(right, y, size, name)
    known = [y for y, value in enumerate(data.held_out) if np.isfinite(value)]
    if known:
        look: dict[str, Any] = {"color": PALETTE["warm"], "markersize": 4.2, "markeredgewidth": 0}
        left.plot([data.held_out[y] for y in known], known, "s", label="mean, held out", **look)
    names = canvas.names(data.names, part=0.3)
    room = (canvas.width - canvas.widest(names) - 0.3) / 2
    for axes, label in ((left, "ADR-1 consistency"), (right, "documents per group")):
        name_rows(axes, names, height)
        axes.set_xlabel(canvas.wrapped(label, room))
    right.set_xlim(left=min(1.0, right.get_xlim()[0]))
    canvas.legend(left)
    return grid


def _values(axes: Axes, y: float, values: Floats, name: str) -> None:
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
    words = f"median {middle:.3f}, middle half {quarter:.3f} to {upper:.3f}, mean {known.mean():.3f}"
    describe_points(axes, [middle], [y], [f"{name}: {words}"], PALETTE["accent"])


@dataclass(frozen=True)
class Places:
    """Place of each system (columns) by each construction (rows), best first by the baseline; tau against it."""

    systems: tuple[str, ...]
    constructions: tuple[str, ...]
    place: Ints
    tau: Floats
    n_systems: int
    baseline: int = 0


def places(data: Places, canvas: Canvas) -> Axes:
    """A line for each system from construction to construction, the best at the top; coloured where it moves."""
    names = canvas.names(data.systems, part=0.2)
    axes = canvas.axes(0.9 + 0.18 * len(names))
    x = np.arange(len(data.constructions))
    looks = ("accent", "warm", "ink", "soft")
    moving = 0
    for s, name in enumerate(names):
        shared = (data.place[:, :s] == data.place[:, s : s + 1]).sum(axis=1)  # lines at one place, side by side
        place = data.place[:, s] + 0.12 * shared
        is_still = bool((data.place[:, s] == data.place[0, s]).all())
        colour = "line" if is_still else looks[moving % len(looks)]
        style = "-" if is_still or moving < len(looks) else (0, (4, 2))
        moving += not is_still
        axes.plot(x, place, color=PALETTE[colour], linewidth=1.4, linestyle=style, marker="o", markersize=3.6)
        said = zip(data.place[:, s], data.constructions, strict=True)
        words = [f"{data.systems[s]}: rank {rank} by {construction}" for rank, construction in said]
        describe_points(axes, x, place, words, PALETTE[colour])
        ends: dict[str, Any] = {"va": "center", "textcoords": "offset points"}
        axes.annotate(name, (x[0], place[0]), (-6, 0), ha="right", **ends)
        axes.annotate(name, (x[-1], place[-1]), (6, 0), ha="left", **ends)
    axes.set_ylim(float(data.place.max()) + 0.7, 0.3)
    inches = canvas.widest(names) + 0.2
    margin = (len(x) - 1) * inches / (canvas.width - 2 * inches)
    axes.set_xlim(-margin, len(x) - 1 + margin)
    _construction_axis(axes, data, canvas)
    axes.tick_params(axis="y", left=False, labelleft=False)
    axes.spines["left"].set_visible(False)
    return axes


def _construction_axis(axes: Axes, data: Places, canvas: Canvas) -> None:
    """Constructions with their tau; long names are slanted."""
    names = canvas.names(data.constructions, part=0.3)
    labels = [
        name + ("" if i == data.baseline or np.isnan(tau) else f"\nτ {tau:.2f}")
        for i, (name, tau) in enumerate(zip(names, data.tau, strict=True))
    ]
    is_long = (canvas.widest(names) + 0.1) * len(labels) > 0.6 * canvas.width
    axes.set_xticks(np.arange(len(labels)), labels, rotation=35 if is_long else 0)
    if is_long:
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.grid(visible=True, axis="x")


_LONGEST = 30


@dataclass(frozen=True)
class Bands:
    """A list without what it was made from: documents in order, and the group of each."""

    documents: tuple[str, ...]
    group: tuple[int, ...]


def bands(data: Bands, canvas: Canvas) -> Axes:
    """Documents from top to bottom, every other group shaded, groups numbered at the left."""
    n = len(data.documents)
    axes = canvas.axes(0.4 + 0.165 * n)
    names = canvas.names(data.documents, part=0.8)
    for number, (first, last) in enumerate(_stretches(data.group), start=1):
        if number % 2:
            axes.axhspan(first - 0.5, last + 0.5, color=PALETTE["line"], alpha=0.34, linewidth=0)
        axes.text(0.06, (first + last) / 2, str(number), ha="right", va="center", color=PALETTE["muted"])
    for row, name in enumerate(names):
        axes.text(0.1, row, name, va="center")
    axes.set(xlim=(0, 1), ylim=(n - 0.5, -0.5), xlabel="", ylabel="")
    axes.axis("off")
    axes.set_title("group, and its documents")
    return axes


_GROUP, _COUNT, _GAP = 0.34, 0.5, 0.16  # inches: number of the group, number of answers, before the matrix
_LINE = 0.165
_BESIDE = 5.0  # inches from which on there is room for the pairs beside the documents
_TITLE: dict[str, Any] = {"y": 1.0, "pad": 15}


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


def drawn_list(data: DrawnList, canvas: Canvas) -> Grid:
    """Groups as bands: names, the middle of the answers with their spread, how many; the pairs beside it, or below."""
    from adjudge.reporting.canvas import legend_columns

    rows, n = len(data.documents), len(data.group)
    step = 0.165 if rows > 12 else 0.21
    names = canvas.names(data.documents, part=0.28)
    for_names = max(0.7, canvas.widest(names) + 0.1)
    is_wide, before = canvas.width >= _BESIDE, _GROUP + for_names
    side = min(2.3, max(1.0, 0.21 * n), canvas.width - before - 0.06)
    footer, legend = _footer(data.left_out, int(14 * canvas.width)), _marks(data)
    columns = legend_columns([mark.get_label() for mark in legend], canvas.width)
    top = 0.56 + _LINE * -(-len(legend) // columns)
    bottom = 0.26 + (_LINE * len(footer) + 0.08 if footer else 0.0)
    tall = step * rows if is_wide else min(side, step * rows)  # of the pairs
    below = 0.0 if is_wide else tall + 0.7
    height = top + step * rows + below + bottom
    figure = canvas.new_figure(height, layout="none")

    def panel(left: float, width: float, lift: float = below, inches: float = step * rows) -> Axes:
        box = (left / canvas.width, (bottom + lift) / height, width / canvas.width, inches / height)
        axes = figure.add_axes(box)
        axes.set_ylim(data.start + rows - 0.5, data.start - 0.5)
        return axes

    spread = canvas.width - before - _COUNT - (_GAP + side + 0.06 if is_wide else 0.0)
    back = panel(0, before + spread + _COUNT)
    _bands(back, data, names, before, before + spread + _COUNT)
    answers = panel(before, spread - 0.06)
    _spread(answers, data)
    matrix = panel(before + spread + _COUNT + _GAP if is_wide else before, side, 0.0, tall)
    _pairs(matrix, data)
    for line, text in enumerate(footer):
        figure.text(0.01, (0.06 + _LINE * (len(footer) - 1 - line)) / height, text, color=PALETTE["muted"])
    spacing = {"handlelength": 1.2, "handleheight": 0.8, "columnspacing": 1.4, "handletextpad": 0.5}
    figure.legend(
        handles=legend, loc="upper left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.1, **spacing
    )
    return np.array([[answers, matrix]], dtype=object)


def _footer(left_out: Sequence[str], longest: int) -> list[str]:
    """Documents that are in no list, in at most three lines."""
    if not left_out:
        return []
    lines, used = ["in no list: "], 0
    for place, name in enumerate(left_out):
        text = shortened(name, _LONGEST) + (", " if place < len(left_out) - 1 else "")
        if text_width(lines[-1] + text) > longest:
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
        axes.text(0.26, sum(shown) / 2, str(number + 1), ha="right", va="center", color=PALETTE["muted"])
    for row, (name, answers) in enumerate(zip(names, data.answers, strict=True), start=first):
        axes.text(before - 0.07, row, name, ha="right", va="center")
        axes.text(width - 0.1, row, str(answers), ha="right", va="center", color=PALETTE["muted"])
    above: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "color": PALETTE["muted"]}
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
    rows = zip(data.documents, data.middle, data.lower, data.upper, data.answers, strict=True)
    words = [
        f"{name}: {middle:.3g} [{low:.3g}, {high:.3g}], {answers} {data.answers_label}"
        for name, middle, low, high, answers in rows
    ]
    describe_points(axes, data.middle, y, words, PALETTE["accent"])
    ends = np.concatenate([data.middle, data.lower, data.upper, data.mean])
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    pad = 0.03 * (high - low or 1.0)
    axes.set_xlim(*((low - pad, high + pad) if data.is_rank else (high + pad, low - pad)))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=data.is_rank, min_n_ticks=2))
    axes.tick_params(axis="x", top=True, labeltop=True, length=2, pad=2)
    axes.tick_params(axis="y", left=False, labelleft=False)
    axes.spines["left"].set_visible(False)
    axes.spines["top"].set_visible(True)
    axes.grid(visible=True, axis="x")
    axes.set_title(data.label, **_TITLE)


def _pairs(axes: Axes, data: DrawnList) -> None:
    """A square for each pair of the list: outlined within groups, marked where experts contradict it."""
    from matplotlib.patches import Rectangle

    first, last, n = data.start, data.start + len(data.documents) - 1, len(data.group)
    stretches = _stretches(data.group)
    left, right = 0, n - 1
    if last - first + 1 < n:  # of a part of a list, the columns that its groups and its pairs reach
        groups = [(begin, end) for begin, end in stretches if end >= first and begin <= last]
        pairs = np.concatenate([data.intra, data.inter, data.misordered])
        reached = [groups[0][0], groups[-1][1], *_shown(pairs, first, last)[:, 1].tolist()]
        left, right = min(reached), max(reached)
    axes.set_xlim(left - 0.5, right + 0.5)
    _draw_cells(axes, np.stack([np.arange(first, last + 1)] * 2, axis=1), 0.84, PALETTE["line"])
    for row, begin, end in data.unasked:
        axes.add_patch(Rectangle((begin - 0.5, row - 0.5), end - begin + 1, 1, color=PALETTE["line"], alpha=0.45, lw=0))
    _draw_cells(axes, _shown(data.inter, first, last), 0.84, PALETTE["accent"])
    _draw_cells(axes, _shown(data.intra, first, last), 0.84, PALETTE["warm"])
    _draw_crosses(axes, _shown(data.misordered, first, last))
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
    axes.tick_params(axis="x", length=0, pad=2, bottom=False, labelbottom=False, top=False, labeltop=True)
    axes.set_title("pairs, by group", **_TITLE)


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
    return both[(both[:, 0] >= first) & (both[:, 0] <= last)]


def _draw_cells(axes: Axes, cells: Ints, size: float, colour: str) -> None:
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


def _draw_crosses(axes: Axes, cells: Ints) -> None:
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
