"""Figures: data that a result or a section computed, and functions that only draw them.

A function that draws takes the data and a canvas, asks the canvas for axes and returns them. Colours come from one
palette. On a page they become the page's own (light or dark); in files they are those of the palette.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Mask
from adjudge.latex import PAGE
from adjudge.text import counted, listed, number, text_width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from adjudge.reporting.canvas import Canvas

Grid = npt.NDArray[Any]
"""Axes of several panels, rows x columns."""

TEXT = 8
"""Size of all text in figures, in points."""
PALETTE = {
    "ink": "#1c2422",
    "muted": "#56605d",
    "line": "#c9c5ba",
    "paper": "#fffefb",
    "accent": "#14655d",
    "soft": "#7fb2ab",
    "warm": "#96481a",
}
"""The colours of figures, of pages of reports, of the documentation and, by other names, of the web app."""
DARK = {
    "ink": "#e9ecea",
    "muted": "#a7b1ae",
    "line": "#4d575b",
    "paper": "#1b2124",
    "accent": "#7fd1c4",
    "soft": "#4b8a82",
    "warm": "#f0b488",
}
"""The same on dark paper."""
COLOURS = ("accent", "warm", "ink", "soft", "muted")
"""Colours of lines, in order."""
DASHED = (0, (3, 2))


def cleaned(name: str) -> str:
    r"""A name on one line, without characters that do not print.

    >>> cleaned("two\nlines")
    'two lines'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())


DESCRIPTIONS = "adjudge_descriptions"
_MOST_DESCRIBED = 60  # points of a line; of more, every second, third… one


def describe(artist: Artist, texts: Sequence[str]) -> None:
    """Say what each mark of a collection is, or a line, patch or text as a whole; pages show it beside the pointer.

    A text for each mark, in the order of the data: ``describe(axes.scatter(x, y), ["KLN2: 0.647", …])``.
    """
    setattr(artist, DESCRIPTIONS, list(texts))


def describe_points(axes: Axes, x: npt.ArrayLike, y: npt.ArrayLike, texts: Sequence[str], colour: str) -> None:
    """Say the values of points that something else draws; they are seen when they are pointed at."""
    describe(axes.scatter(x, y, s=16, color=colour, alpha=0, linewidth=0, zorder=4), texts)


def shortened(name: str, longest: int) -> str:
    """A name of at most ``longest`` cells; a longer one loses its middle, as identifiers differ at their ends.

    >>> shortened("000.111.706-1.1.1", 30)
    '000.111.706-1.1.1'
    >>> shortened("a-very-long-name-of-a-recording-take-12.wav", 20)
    'a-very-lo…ake-12.wav'
    """
    name = cleaned(name)
    if text_width(name) <= longest:
        return name
    tail = _fitting(name[::-1], longest // 2)[::-1]
    while tail and unicodedata.combining(tail[0]):
        tail = tail[1:]
    return f"{_fitting(name, longest - 1 - text_width(tail))}…{tail}"


def _fitting(text: str, width: int) -> str:
    """The beginning of a text that is no wider."""
    used = 0
    for place, character in enumerate(text):
        used += text_width(character)
        if used > width:
            return text[:place]
    return text


def label_axes(axes: Axes, x: str, y: str) -> None:
    """Name both axes, and draw a grid below the data."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True)


_ROW = 0.165  # inches of a line of text
_TALLEST = 9.0  # of a figure with a row per system


def rows_height(n: int, *, above: float = 0.6) -> float:
    """Height of a figure with n rows; very many rows are thinner than their names."""
    return min(above + _ROW * n, _TALLEST)


def name_rows(axes: Axes, names: Sequence[str], height: float) -> None:
    """Rows from top to bottom, each with its name, or every second, third… one where the rows are thin."""
    step = int(np.ceil(0.8 * _ROW * len(names) / max(height - 0.6, _ROW)))
    axes.set_yticks(np.arange(0, len(names), step), names[::step])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")


@dataclass(frozen=True)
class Forest:
    """Means with their intervals, best first. ``groups`` are places of systems that are tied, each with its letter."""

    label: str
    systems: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats
    groups: tuple[tuple[int, ...], ...] = ()
    letters: tuple[str, ...] = ()


def forest(data: Forest, canvas: Canvas) -> Axes:
    """A dot for each mean, a line for its interval; beside them a bar for each group of tied systems.

    With so many groups that bars say nothing, colours tell who is tied with the first.
    """
    n = len(data.systems)
    height = rows_height(n, above=0.75 if data.groups else 0.6)
    axes = canvas.axes(height)
    y, thick = np.arange(n), n <= 60
    barred = len(data.groups) <= MOST_BARS
    first = {place for group in data.groups if group[0] == 0 for place in group}
    pale = np.array([not barred and place not in first for place in y])
    for here, colour, label in ((~pale, "accent", "does not differ significantly from the first"), (pale, "muted", "")):
        look: dict[str, Any] = {"color": PALETTE[colour]}
        axes.hlines(y[here], data.low[here], data.high[here], linewidth=1.4 if thick else 0.7, **look)
        dots = axes.scatter(data.mean[here], y[here], s=16 if thick else 5, linewidth=0, zorder=3, label=label, **look)
        values = zip(y[here], data.mean[here], data.low[here], data.high[here], strict=True)
        describe(dots, [f"{data.systems[s]}: {mean:.3f} [{low:.3f}, {high:.3f}]" for s, mean, low, high in values])
    name_rows(axes, canvas.names(data.systems), height)
    axes.set_xlabel(data.label)
    if barred:
        _tie_bars(axes, data, canvas.width)
    else:
        canvas.legend(axes)
    return axes


_GROUP_STEP = 0.11  # inches between bars
MOST_BARS = 16
"""Groups up to which a forest has a bar for each."""


def _tie_bars(axes: Axes, data: Forest, width: float) -> None:
    """A column for each group right of the axes: thick where systems belong to it, thin where one between does not."""
    if not data.groups:
        return
    step = min(_GROUP_STEP, 0.25 * width / len(data.groups)) / width
    across = axes.get_yaxis_transform()
    look: dict[str, Any] = {"color": PALETTE["muted"], "transform": across, "clip_on": False, "solid_capstyle": "butt"}
    lettered = step * width >= 0.9 * _GROUP_STEP and max(map(len, data.letters)) == 1
    for place, (group, letter) in enumerate(zip(data.groups, data.letters, strict=True)):
        x = 1.03 + step * place / 0.62
        axes.plot([x, x], [group[0] - 0.35, group[-1] + 0.35], linewidth=0.5, **look)
        for first, last in _runs(group):
            axes.plot([x, x], [first - 0.35, last + 0.35], linewidth=2.2, **look)
        if lettered:
            axes.text(x, group[0] - 0.45, letter, transform=across, ha="center", va="bottom", color=PALETTE["ink"])


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """First and last place of each stretch without a gap.

    >>> _runs([0, 1, 3, 4, 5]), _runs([])
    ([(0, 1), (3, 5)], [])
    """
    if not len(places):
        return []
    cut = np.flatnonzero(np.diff(places) > 1)
    firsts, lasts = [0, *(cut + 1)], [*cut, len(places) - 1]
    return [(places[first], places[last]) for first, last in zip(firsts, lasts, strict=True)]


MOST_SIZED = 40
"""Systems up to which the squares of a matrix of pairs are large enough to have sizes."""


@dataclass(frozen=True)
class PairMatrix:
    """Differences of means of all pairs, best system first, with what is ``filled`` and what is ``coloured``.

    ``difference`` is row minus column. ``words`` say what it means: filled and hollow, coloured and pale.
    """

    label: str
    systems: tuple[str, ...]
    difference: Floats
    filled: Mask
    coloured: Mask | None
    words: tuple[str, ...]


def pair_matrix(data: PairMatrix, canvas: Canvas) -> Axes:
    """A square for each pair, once: right of the better system's name and above that of the worse one.

    The names stand on the diagonal, in the half that has nothing else to show.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    n = len(data.systems)
    names = canvas.names(data.systems, part=0.25)
    side = min(canvas.width, 1.6 + 0.24 * n)
    axes = canvas.axes(side + 0.25, width=side)
    largest = float(np.abs(data.difference).max()) or 1.0
    upper = np.triu(np.ones((n, n), dtype=np.bool_), 1)
    coloured = np.ones((n, n), dtype=np.bool_) if data.coloured is None else data.coloured
    handles = []
    sized = n <= MOST_SIZED
    size = 0.92 * np.sqrt(np.abs(data.difference) / largest) if sized else np.ones((n, n))
    for colour, is_coloured in (("accent", True), ("soft", False)):
        for filled in (True, False):
            here = upper & (data.filled == filled) & (coloured == is_coloured)
            if here.any():
                face = PALETTE[colour] if filled else "none" if sized else PALETTE["line"]
                look: dict[str, Any] = {"facecolor": face, "edgecolor": PALETTE[colour], "linewidth": 0.7 * sized}
                words = [data.words[0 if filled else 1], *data.words[2:][0 if is_coloured else 1 :][:1]]
                if sized:
                    runs = [(row, column, column) for row, column in np.argwhere(here).tolist()]
                else:  # neighbours are one mark: thousands of squares would be a burden to a page
                    runs = [(row, *run) for row in range(n) for run in _runs(np.flatnonzero(here[row]).tolist())]
                shapes = axes.add_collection(PolyCollection([_rectangle(*run, size) for run in runs], **look), False)
                describe(shapes, [f"{_pair_words(data, *run)}, {', '.join(words)}" for run in runs])
                handles.append(Patch(label=", ".join(words), **look))
    inches = side - 0.2
    step = int(np.ceil(0.8 * _ROW * n / inches))
    for place in range(0, n, step):
        axes.text(place + 0.35, place, names[place], ha="right", va="center")
    axes.set_xlim(-0.5, n - 0.5)
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(data.label)
    canvas.legend(axes, handles)
    return axes


def _rectangle(row: int, first: int, last: int, size: Floats) -> list[tuple[float, float]]:
    """Corners of the squares of a row from one column to another; those of a single square as large as it is."""
    half = size[row, first] / 2
    left, right = first - half, last + half
    return [(left, row - half), (right, row - half), (right, row + half), (left, row + half)]


def _pair_words(data: PairMatrix, row: int, first: int, last: int) -> str:
    differences = data.difference[row, first : last + 1]
    if first == last:
        return f"{data.systems[row]} over {data.systems[first]}: {differences[0]:.3f}"
    others = f"{data.systems[first]} to {data.systems[last]} ({counted(len(differences), 'system')})"
    return f"{data.systems[row]} over {others}: {differences.min():.3f} to {differences.max():.3f}"


@dataclass(frozen=True)
class CriticalDifference:
    """Systems on the axis of their mean rank, best first; ``groups`` are places of systems that do not differ."""

    label: str
    systems: tuple[str, ...]
    rank: Floats
    groups: tuple[tuple[int, ...], ...]


def critical_difference(data: CriticalDifference, canvas: Canvas) -> Axes:
    """Systems hang from an axis of mean ranks; a bar joins those whose differences are not significant."""
    n, names = len(data.systems), canvas.names(data.systems, part=0.24)
    half = (n + 1) // 2
    axes = canvas.axes(0.75 + 0.09 * len(data.groups) + _ROW * half)
    low, high = float(data.rank.min()), float(data.rank.max())
    span = (high - low) or 1.0
    left, right = low - 0.04 * span, high + 0.04 * span
    axes.hlines(0, left, right, color=PALETTE["ink"], linewidth=1)
    for tick in _ticks(low, high, most=int(2.5 * canvas.width)):
        axes.vlines(tick, 0, 0.25, color=PALETTE["ink"], linewidth=0.8)
        axes.text(tick, 0.4, f"{tick:g}", ha="center", va="bottom", color=PALETTE["muted"])
    for level, group in enumerate(data.groups):
        y, nudge = -0.35 - 0.55 * level, 0.01 * span
        ends = data.rank[group[0]] - nudge, data.rank[group[-1]] + nudge
        axes.hlines(y, *ends, color=PALETTE["accent"], linewidth=0.6)
        for first, last in _runs(group):
            ends = data.rank[first] - nudge, data.rank[last] + nudge
            bar = axes.hlines(y, *ends, color=PALETTE["accent"], linewidth=2.4)
            describe(bar, [f"{listed([data.systems[s] for s in group], most=12)} do not differ significantly"])
    below = -0.7 - 0.55 * len(data.groups)
    for place, (name, rank) in enumerate(zip(names, data.rank, strict=True)):
        is_left = place < half
        y = below - (place if is_left else n - 1 - place)
        edge = left - 0.04 * span if is_left else right + 0.04 * span
        beyond = edge + (-0.012 if is_left else 0.012) * span
        axes.plot([rank, rank, edge], [0, y, y], color=PALETTE["muted"], linewidth=0.7)
        text = axes.text(beyond, y, name, ha="right" if is_left else "left", va="center")
        describe(text, [f"{data.systems[place]}: mean rank {rank:.2f}"])
    axes.set_xlim(left - 0.05 * span, right + 0.05 * span)
    axes.set_ylim(below - half, 1.4)
    axes.axis("off")
    axes.set_title(data.label)
    return axes


def _ticks(low: float, high: float, *, most: int) -> Floats:
    """Round numbers from low to high, whole ones where these are enough."""
    from matplotlib.ticker import MaxNLocator

    ticks: Floats = np.asarray(MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(low, high), dtype=np.float64)
    return ticks[(ticks >= low - 1e-9) & (ticks <= high + 1e-9)]


@dataclass(frozen=True)
class Spread:
    """Values of every query for every system: queries x systems, one panel per label."""

    systems: tuple[str, ...]
    labels: tuple[str, ...]
    panels: tuple[Floats, ...]


def spread(data: Spread, canvas: Canvas) -> Grid:
    """Every query a tick; a thin line from 5 to 95 %, a thick one over the middle half, a dot at the median."""
    height = rows_height(len(data.systems))
    panels = canvas.grid(height, columns=len(data.panels), sharey=True)
    names = canvas.names(data.systems, part=0.25)
    for panel, label, values in zip(panels[0], data.labels, data.panels, strict=True):
        for y, column in enumerate(values.T):
            inside = column[np.isfinite(column)]
            low, quarter, middle, upper, high = np.quantile(inside, [0.05, 0.25, 0.5, 0.75, 0.95])
            x = np.stack([inside, inside, np.full(len(inside), np.nan)], axis=1).reshape(-1)  # one path for all ticks
            panel.plot(x, np.tile([y - 0.3, y + 0.3, np.nan], len(inside)), color=PALETTE["soft"], linewidth=0.6)
            panel.hlines(y, low, high, color=PALETTE["accent"], linewidth=0.9)
            panel.hlines(y, quarter, upper, color=PALETTE["accent"], linewidth=2.6)
            dot = panel.scatter([middle], [y], s=16, color=PALETTE["paper"], edgecolor=PALETTE["accent"], zorder=3)
            words = f"median {middle:.3f}, middle half {quarter:.3f} to {upper:.3f}, 90 % {low:.3f} to {high:.3f}"
            describe(dot, [f"{data.systems[y]}: {words}"])
        name_rows(panel, names, height)
        panel.set_xlabel(label)
        panel.set_xlim(-0.02, max(1.0, float(np.nanmax(values))) + 0.02)
    return panels


@dataclass(frozen=True)
class PairSizes:
    """Every pair: size of its difference, its p-value, the two answers; ``noticeable`` is None where not known."""

    label: str
    difference: Floats
    p: Floats
    significant: Mask
    noticeable: Mask | None
    alpha: float
    margin: float | None


def pair_sizes(data: PairSizes, canvas: Canvas) -> Axes:
    """Pairs by the size of their difference, stacked: the colour says what is significant, and what users notice."""
    from matplotlib.ticker import MaxNLocator

    axes = canvas.axes(2.4)
    largest = float(data.difference.max()) or 1.0
    edges = np.linspace(0.0, largest, min(int(6 * canvas.width), max(8, len(data.p))) + 1)
    below = np.zeros(len(edges) - 1)
    for label, colour, here in _answers(data):
        if here.any():
            counts = np.histogram(data.difference[here], edges)[0].astype(np.float64)
            look: dict[str, Any] = {"color": PALETTE[colour], "edgecolor": PALETTE["paper"], "linewidth": 0.5}
            name = f"{label} ({int(here.sum()):,})"
            bars = axes.bar(edges[:-1], counts, np.diff(edges), below, align="edge", label=name, **look)
            for bar, n, start, end in zip(bars, counts, edges[:-1], edges[1:], strict=True):
                if n:
                    describe(bar, [f"{start:.3f} to {end:.3f}: {counted(int(n), 'pair')}, {label}"])
            below += counts
    right = largest
    if data.margin is not None and data.margin <= 1.3 * largest:
        right = max(right, 1.02 * data.margin)
        axes.axvline(data.margin, color=PALETTE["ink"], linewidth=0.9, linestyle=DASHED)
        side = "right" if data.margin > 0.7 * right else "left"
        above = axes.get_xaxis_transform()
        axes.text(data.margin, 1.0, f"matters from {data.margin:.2g}", transform=above, ha=side, va="bottom")
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set(xlim=(0.0, right), ylim=(0.0, 1.08 * float(below.max())))
    label_axes(axes, data.label, "pairs of systems")
    axes.grid(visible=False, axis="x")
    canvas.legend(axes, per_row=2 if canvas.width < PAGE / 2 else None)
    return axes


def _answers(data: PairSizes) -> list[tuple[str, str, Mask]]:
    """Words, colour and pairs for each combination of the two answers."""
    real = data.significant
    if data.noticeable is None:
        return [("significant", "accent", real), ("not significant", "line", ~real)]
    noticed = data.noticeable
    return [
        ("significant and noticeable", "accent", real & noticed),
        ("noticeable only", "warm", ~real & noticed),
        ("significant only", "soft", real & ~noticed),
        ("neither", "line", ~real & ~noticed),
    ]


@dataclass(frozen=True)
class HardQueries:
    """Effectiveness of every system on the hardest queries, queries x systems, as shares of ``top``."""

    label: str
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    values: Floats
    top: float = 1.0


def hard_queries(data: HardQueries, canvas: Canvas) -> Axes:
    """A dot for each query and system, the larger the better; squares where there are many systems."""
    n_queries, n_systems = data.values.shape
    rows, columns = canvas.names(data.queries, part=0.25), canvas.names(data.systems, part=0.25)
    width = min(canvas.width, 1.4 + 0.24 * n_systems)
    cell = min(0.24, (width - 1.2) / n_systems)  # inches
    axes = canvas.axes(1.5 + max(cell, _ROW) * n_queries, width=width)
    column, row = np.meshgrid(np.arange(n_systems), np.arange(n_queries))
    full = (72 * 0.85 * min(cell, _ROW)) ** 2
    look: dict[str, Any] = {"marker": "o" if n_systems <= MOST_SIZED else "s"}  # circles weigh more on a page
    axes.scatter(column, row, s=full * np.clip(np.nan_to_num(data.values), 0.0, 1.0), color=PALETTE["accent"],
                 linewidth=0, **look)  # fmt: skip
    rings = axes.scatter(column, row, s=full, facecolor="none", edgecolor=PALETTE["line"], linewidth=0.6, **look)
    values = zip(product(data.queries, data.systems), (data.top * data.values).ravel(), strict=True)
    describe(rings, [f"{system}, {query}: {number(value, 3)}" for (query, system), value in values])
    step = int(np.ceil(0.8 * _ROW / cell))
    axes.set_xticks(np.arange(0, n_systems, step), columns[::step], rotation=90)
    axes.set_yticks(np.arange(n_queries), rows)
    axes.set_xlim(-0.5, n_systems - 0.5)
    axes.set_ylim(n_queries - 0.5, -0.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(canvas.wrapped(data.label, width - canvas.widest(rows) - 0.2))
    return axes


_PANEL_HEIGHT = 2.1
_DASHES = ("-", "--", ":", "-.")
_MARKERS = "osD^vPX*"
_MOST_MARKS = 12  # on a line: more are most of what a page weighs
_MARKS_APART = 0.12  # of the diagonal of the axes
_EDGE = 0.02  # of an axis, on either side, so that markers at its ends are whole


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
    """Curves on the same axes, with horizontal lines at ``levels``, upright ones, texts at ``marks``, and y = x."""

    title: str
    curves: tuple[Curve, ...]
    levels: tuple[float, ...] = ()
    diagonal: bool = False
    marks: tuple[tuple[float, float, str], ...] = ()
    uprights: tuple[tuple[float, str], ...] = ()


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


def curves(data: Curves, canvas: Canvas) -> Grid:
    """Every curve as a line with its band, one style per label in all panels, and one legend below them."""
    from matplotlib.lines import Line2D

    n_columns = canvas.columns(len(data.panels), most=data.columns)
    n_rows = -(-len(data.panels) // n_columns)
    labels = list(dict.fromkeys(curve.label for panel in data.panels for curve in panel.curves))
    axes = canvas.grid(_PANEL_HEIGHT * n_rows + 0.2, rows=n_rows, columns=n_columns, sharey=data.share_y, sharex=True)
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
        joined = {curve.label for panel in data.panels for curve in panel.curves if curve.joined}
        looks = {
            label: line_look(place) | ({} if label in joined else {"linestyle": "none"})
            for place, label in enumerate(labels)
        }
        canvas.legend(flat[0], [Line2D([], [], label=label, **look) for label, look in looks.items()])
    return axes


def line_look(place: int) -> dict[str, Any]:
    """Colour, dashes and marker of the line at a place: no two are alike, even in black and white."""
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
        look = line_look(labels.index(curve.label)) | ({} if curve.joined else {"linestyle": "none"})
        shown = (curve.y > 0) if data.log_y else np.isfinite(curve.y)  # a logarithm has no place for 0
        apart = _MARKS_APART if curve.joined and shown.sum() > _MOST_MARKS else None
        axes.plot(curve.x[shown], curve.y[shown], markevery=apart, **look)
        if curve.low is not None and curve.high is not None:
            floor = float(curve.y[shown].min()) / 3 if data.log_y and shown.any() else -np.inf
            low = np.maximum(curve.low[shown], floor)
            if shown.sum() == 1:  # a band of one point cannot be seen
                axes.vlines(curve.x[shown], low, curve.high[shown], color=look["color"], alpha=0.5, linewidth=1.3)
            axes.fill_between(curve.x[shown], low, curve.high[shown], color=look["color"], alpha=0.15, linewidth=0)
        said = np.flatnonzero(shown)[:: 1 + int(shown.sum()) // _MOST_DESCRIBED]
        words = [_point_words(curve, place) for place in said.tolist()]
        describe_points(axes, curve.x[said], curve.y[said], words, look["color"])
    if panel.diagonal and panel.curves:
        ends = np.array([min(c.x.min() for c in panel.curves), max(c.x.max() for c in panel.curves)])
        axes.plot(ends, ends, color=PALETTE["muted"], linewidth=0.8, linestyle=":")
    for x, y, text in panel.marks:
        axes.annotate(text, (x, y), textcoords="offset points", xytext=(4, 4), color=PALETTE["muted"])
    for x, text in panel.uprights:
        axes.axvline(x, color=PALETTE["muted"], linewidth=0.8, linestyle=DASHED)
        axes.annotate(text, (x, 0), xycoords=axes.get_xaxis_transform(), textcoords="offset points", xytext=(3, 3))
    axes.set_title(panel.title)
    axes.grid(visible=True)


def _point_words(curve: Curve, place: int) -> str:
    ends = ""
    if curve.low is not None and curve.high is not None and np.isfinite(curve.low[place]):
        ends = f" [{curve.low[place]:.3g}, {curve.high[place]:.3g}]"
    return f"{curve.label}: {curve.y[place]:.3g}{ends} at {curve.x[place]:,.6g}"


def _plain_logarithms(axis: Axis) -> None:
    """Ticks written as plain numbers, and between powers of ten only where there are few of those."""
    from matplotlib.ticker import FuncFormatter, LogFormatter, LogLocator

    class Between(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:g}" if super().__call__(x, pos) else ""

    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(Between(labelOnlyBase=False, minor_thresholds=(1, 0.4)))
