"""Maps of the package and of its server, drawn from what the code imports and from the layers of ``pyproject.toml``.

Nothing here is kept by hand but the order of boxes within a row: a package that is added to the layers is on the map,
an import that is added is an arrow or a number, and one that points up stops the build, as import-linter does.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scripts.docs.figures import figure
from scripts.docs.pages import ROOT

from adjudge.errors import AdjudgeError
from adjudge.reporting.figures import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Edge = tuple[str, str]
Place = tuple[float, float]
_FIRST = ("groundtruth", "preferences", "relevance", "audio", "users", "embedded", "stats", "measures", "formats")
_WIDTH, _BOX, _GAP = 7.2, 0.42, 0.46
_APART, _BESIDE = 0.08, 0.12  # of arrows from one another and from boxes


@dataclass(frozen=True)
class Architecture:
    """Layers of parts from top to bottom, lines of code of each part, and how many imports lead from one to another.

    ``ground`` is the number of last rows that nearly everything uses, so that arrows to them would say nothing.
    """

    layers: tuple[tuple[str, ...], ...]
    lines: dict[str, int]
    imports: dict[Edge, int]
    ground: int

    @property
    def upper(self) -> tuple[str, ...]:
        """All parts above the ground, from top to bottom."""
        return tuple(part for layer in self.layers[: -self.ground] for part in layer)


@cache
def read_architecture(package: str = "adjudge", *, ground: int = 2) -> Architecture:
    """What the code of a package is like now."""
    layers = read_layers(ROOT / "pyproject.toml", package)
    imports = imports_between([part for layer in layers for part in layer], package)
    for importer, imported in imports:
        if _row(layers, importer) >= _row(layers, imported):
            raise AdjudgeError(f"imports point down: expected none from {importer} to {imported}")
    lines = {part: _lines(f"{package}.{part}") for layer in layers for part in layer}
    return Architecture(layers, lines, imports, ground)


def read_layers(project: Path, package: str = "adjudge") -> tuple[tuple[str, ...], ...]:
    """The layers of a package that import-linter checks, without its name."""
    layers = _contract(project, package)["layers"]
    return tuple(
        tuple(sorted((part.strip().removeprefix(f"{package}.") for part in layer.split("|")), key=_place))
        for layer in layers
    )


def _contract(project: Path, package: str) -> dict[str, Any]:
    contracts = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["layers"][0].rpartition(".")[0] == package)


def _place(part: str) -> int:
    return _FIRST.index(part) if part in _FIRST else len(_FIRST)


def imports_between(parts: Iterable[str], package: str = "adjudge") -> dict[Edge, int]:
    """How many imports of modules lead from one part of a package to another."""
    import grimp

    graph = grimp.build_graph("adjudge", cache_dir=None, exclude_type_checking_imports=True)  # types of what is taken
    ignored = _contract(ROOT / "pyproject.toml", package).get("ignore_imports", ())
    part_of = {
        module: part
        for part in parts
        for name in (f"{package}.{part}",)
        for module in graph.modules
        if module == name or module.startswith(f"{name}.")
    }
    counts = Counter(
        (part, part_of[imported])
        for module, part in part_of.items()
        for imported in graph.find_modules_directly_imported_by(module)
        if part_of.get(imported, part) != part and f"{module} -> {imported}" not in ignored
    )
    return dict(counts)


def _lines(name: str) -> int:
    folder = ROOT.joinpath("src", *name.split("."))
    files = folder.rglob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def _row(layers: Iterable[tuple[str, ...]], part: str) -> int:
    return next(i for i, layer in enumerate(layers) if part in layer)


def not_implied(edges: Iterable[Edge]) -> set[Edge]:
    """Edges but for those whose ends a longer way joins as well.

    >>> sorted(not_implied([("a", "b"), ("b", "c"), ("a", "c")]))
    [('a', 'b'), ('b', 'c')]
    """
    there = set(edges)
    reached: dict[str, set[str]] = {}

    def below(part: str) -> set[str]:
        if part not in reached:
            direct = {to for of, to in there if of == part}
            reached[part] = direct.union(*(below(to) for to in direct))
        return reached[part]

    return {(of, to) for of, to in there if not any(to in below(by) for start, by in there if start == of and by != to)}


@dataclass(frozen=True)
class _Box:
    """Where a part is drawn: its left end, its bottom and its width, in inches."""

    x: float
    y: float
    width: float

    def along(self, places: int) -> list[float]:
        """Evenly spread places along its edge."""
        return [self.x + self.width * (i + 1) / (places + 1) for i in range(places)]


@figure("architecture")
def architecture() -> Figure:
    """The package: layers as rows, parts as boxes with a bar for their lines of code, arrows for imports."""
    return draw_map(read_architecture())


@figure("server")
def server() -> Figure:
    """The same of the server."""
    return draw_map(read_architecture("adjudge.web", ground=4))


def draw_map(data: Architecture) -> Figure:
    """Layers as rows, parts as boxes, arrows for imports."""
    from matplotlib import pyplot

    height = len(data.layers) * (_BOX + _GAP) - _GAP + 0.1
    drawing, axes = pyplot.subplots(figsize=(_WIDTH, height))
    axes.set_xlim(0, _WIDTH)
    axes.set_ylim(0, height)
    axes.axis("off")
    boxes = _laid_out(data.layers, height)
    most = max(data.lines.values())
    for part, box in boxes.items():
        _draw_box(axes, part, box, data.lines[part], most)
    edges = not_implied(edge for edge in data.imports if set(edge) <= set(data.upper))
    for edge, way in _ways(edges, boxes).items():
        _draw_arrow(axes, way, data.imports[edge])
    ground = boxes[data.layers[-data.ground][0]]
    axes.text(_WIDTH / 2, ground.y + _BOX + _GAP / 2, "everything above may use the ground below", ha="center",
              va="center", fontsize=8, color=PALETTE["muted"])  # fmt: skip
    return drawing


def _laid_out(layers: tuple[tuple[str, ...], ...], height: float) -> dict[str, _Box]:
    """A row a layer, boxes as wide as the row allows, but not wider than a name needs."""
    boxes = {}
    for row, layer in enumerate(layers):
        between = 0.08 if len(layer) > 4 else 0.5
        width = min(1.3, (_WIDTH - 0.1 - between * (len(layer) - 1)) / len(layer))
        left = (_WIDTH - len(layer) * width - (len(layer) - 1) * between) / 2
        y = height - 0.05 - _BOX - row * (_BOX + _GAP)
        for i, part in enumerate(layer):
            boxes[part] = _Box(left + i * (width + between), y, width)
    return boxes


def _draw_box(axes: Axes, part: str, box: _Box, lines: int, most: int) -> None:
    from matplotlib.patches import Rectangle

    paper, edge = PALETTE["paper"], PALETTE["muted"]
    axes.add_patch(Rectangle((box.x, box.y), box.width, _BOX, facecolor=paper, edgecolor=edge, linewidth=0.8, zorder=3))
    bar = max(0.02, box.width * lines / most)
    axes.add_patch(Rectangle((box.x, box.y), bar, 0.06, facecolor=PALETTE["soft"], linewidth=0, zorder=4))
    middle = box.x + box.width / 2
    size = 8.5 if len(part) < 14 else 7
    axes.text(middle, box.y + 0.3, part, ha="center", va="center", fontsize=size, fontweight="bold", zorder=5)
    words = f"{lines:,} lines" if box.width > 1 else f"{lines:,}"
    axes.text(middle, box.y + 0.14, words, ha="center", va="center", fontsize=7, color=PALETTE["muted"], zorder=5)


def _ways(edges: set[Edge], boxes: dict[str, _Box]) -> dict[Edge, list[Place]]:
    """Where each arrow goes: from the lower edge of a box to the upper one of another, between boxes on its way."""
    starts: dict[Edge, float] = {}
    ends: dict[Edge, float] = {}
    for part, box in boxes.items():
        out = sorted((edge for edge in edges if edge[0] == part), key=lambda edge: boxes[edge[1]].x)
        into = sorted((edge for edge in edges if edge[1] == part), key=lambda edge: boxes[edge[0]].x)
        starts |= dict(zip(out, box.along(len(out)), strict=True))
        ends |= dict(zip(into, box.along(len(into)), strict=True))
    taken: dict[float, list[float]] = {}
    return {
        edge: _way((starts[edge], boxes[edge[0]].y), (ends[edge], boxes[edge[1]].y + _BOX), boxes, taken)
        for edge in sorted(edges, key=lambda edge: starts[edge])
    }


def _way(start: Place, end: Place, boxes: dict[str, _Box], taken: dict[float, list[float]]) -> list[Place]:
    """As straight as can be, but around the boxes of the rows between, and beside the arrows that are there."""
    way = [start]
    for y in sorted({box.y for box in boxes.values() if end[1] <= box.y < start[1] - _BOX / 2}, reverse=True):
        part = (start[1] - y) / (start[1] - end[1])
        x = _free(start[0] + part * (end[0] - start[0]), [box for box in boxes.values() if box.y == y])
        while any(abs(x - other) < _APART for other in taken.get(y, ())):
            x += _APART if end[0] > start[0] else -_APART
        taken.setdefault(y, []).append(x)
        way += [(x, y + _BOX + _APART), (x, y - _APART)]
    return [*way, end]


def _free(x: float, row: list[_Box]) -> float:
    """The place nearest to x that is in no box of a row, nor close to one."""
    edges = [place for box in row for place in (box.x - _BESIDE, box.x + box.width + _BESIDE)]
    inside = [box for box in row if box.x - _BESIDE < x < box.x + box.width + _BESIDE]
    return min(edges, key=lambda place: abs(place - x)) if inside else x


def _draw_arrow(axes: Axes, way: list[Place], imports: int) -> None:
    """The more imports, the stronger."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Line

    width = 0.5 + 0.5 * np.log10(imports)
    look = {"arrowstyle": "-|>", "color": PALETTE["accent"], "linewidth": width, "mutation_scale": 8}
    axes.add_patch(FancyArrowPatch(path=Line(way), joinstyle="round", shrinkA=0, shrinkB=0, zorder=2, **look))


@figure("imports")
def imports() -> Figure:
    """A number for each part that imports (row) another (column): below the diagonal nothing, as imports point down."""
    from matplotlib import pyplot

    data = read_architecture()
    parts = data.upper
    drawing, axes = pyplot.subplots(figsize=(_WIDTH, 4.4))
    for (importer, imported), n in data.imports.items():
        if importer in parts and imported in parts:
            row, column = parts.index(importer), parts.index(imported)
            axes.plot(column, row, "s", color=PALETTE["soft"], markersize=17, alpha=min(1.0, 0.15 + n / 40))
            axes.text(column, row, str(n), ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(parts)), parts, rotation=90)
    axes.set_yticks(range(len(parts)), parts)
    axes.set_xlim(-0.5, len(parts) - 0.5)
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.plot([-0.5, len(parts) - 0.5], [-0.5, len(parts) - 0.5], color=PALETTE["line"], linewidth=0.8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.text(0, len(parts) - 1.5, "how many times each row\nimports from each column", fontsize=8.5,
              color=PALETTE["muted"])  # fmt: skip
    return drawing
