"""Figures of the documentation, drawn by our own code from numbers that our own code computes.

A page shows one as ``![words for who cannot see it](../_figures/NAME.svg)``; they are drawn whenever the site is built.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.registry import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Drawing = Callable[[], "Figure"]
FIGURES: Registry[Drawing] = Registry("figure of the documentation")


def figure(name: str) -> Callable[[Drawing], Drawing]:
    """Register a function that draws a figure."""
    return FIGURES.register(name)


def write_figure(name: str, folder: Path) -> Path:
    """Draw a figure in the look of the reports, as SVG, the same bytes every time."""
    from matplotlib import pyplot
    from threadpoolctl import threadpool_limits

    from adjudge.reporting.canvas import styled
    from adjudge.reporting.figures import PALETTE

    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}.svg"
    with styled(), threadpool_limits(limits=1):  # small matrices: more threads take longer
        drawing = FIGURES[name]()
        paper = PALETTE["paper"]  # a picture in a page does not know whether the page is dark
        drawing.savefig(target, format="svg", facecolor=paper, metadata={"Date": None})
        pyplot.close(drawing)
    return target


from scripts.docs import architecture_map, concept_figures, diagrams  # noqa: E402,F401 - they register their figures
