"""Where figures are drawn: axes of their own, as wide as a column or a page of a paper, or axes that somebody gave.

One style, one size of text at every width. Reports draw on figures that nobody else knows; :func:`plot` draws on one
of pyplot's, which a notebook shows once, or on given axes. Nothing here changes Matplotlib's settings for others.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from textwrap import fill
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adjudge.checks import PAPER_WIDTH, checked
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.latex import PAGE
from adjudge.reporting.figures import PALETTE, TEXT, shortened
from adjudge.text import listed, text_width

if TYPE_CHECKING:
    from adjudge.reporting.document import FigureBlock

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "adjudge",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": TEXT,
    **dict.fromkeys(("axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), TEXT),
    **dict.fromkeys(("legend.fontsize", "legend.title_fontsize"), TEXT),
    "axes.titlelocation": "left",
    "text.color": PALETTE["ink"],
    "axes.labelcolor": PALETTE["ink"],
    "axes.edgecolor": PALETTE["muted"],
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": PALETTE["muted"],
    "ytick.color": PALETTE["muted"],
    "xtick.labelcolor": PALETTE["ink"],
    "ytick.labelcolor": PALETTE["ink"],
    "grid.color": PALETTE["line"],
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "auto",
}
"""Settings of Matplotlib that all figures share: text stays text, whole fonts, thin lines, no box."""


_NAMED = 8  # characters in a warning


@contextmanager
def styled() -> Iterator[None]:
    """The shared style, and no warnings of characters that a font lacks or of names too long for a layout."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


class StyledFigure(Figure):
    """A figure that is saved in the style in which it was drawn: PDF without Type 3 fonts, text in SVG as text."""

    def savefig(self, fname: Any, **settings: Any) -> None:
        """Save it as Matplotlib does; characters that no font here has are named in a warning, except in SVG."""
        with styled(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            super().savefig(fname, **settings)
        for each in caught:
            if not issubclass(each.category, UserWarning):
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        codes = [found[1] for each in caught if (found := re.match(r"Glyph (\d+)", str(each.message)))]
        is_svg = str(settings.get("format") or fname).lower().endswith(("svg", "svgz"))
        if codes and not is_svg:  # there text is text, which a page has fonts for
            missing = listed([chr(int(code)) for code in dict.fromkeys(codes)], most=_NAMED)
            warn(f"No font of Matplotlib's here has {missing}: boxes are drawn instead.", stacklevel=2)


class Canvas:
    """Axes to draw in: new ones on a figure ``width`` inches wide, or the ``ax`` that somebody gave.

    A function that draws asks for :meth:`axes` or for a :meth:`grid` of panels, and returns what it got.
    """

    def __init__(self, width: float = PAGE, *, ax: Axes | None = None, make: Callable[..., Figure] = Figure) -> None:
        self.given = ax
        self.width = width if ax is None else ax.get_window_extent().width / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
        self._make = make
        self._figure: Figure | None = None

    @property
    def figure(self) -> Figure:
        """The figure of its own; that of given axes belongs to somebody else."""
        if self._figure is None:
            raise AdjudgeError("nothing is drawn yet, or it is drawn on axes that were given")
        return self._figure

    def new_figure(self, height: float, *, width: float | None = None, layout: str = "constrained") -> Figure:
        """A figure for what arranges its own axes; refused where axes were given."""
        if self.given is not None:
            raise AdjudgeError("this plot has several panels and makes a figure for them; expected no 'ax'")
        self._figure = self._make(figsize=(width or self.width, height), layout=layout)
        return self._figure

    def grid(
        self, height: float, *, rows: int = 1, columns: int = 1, width: float | None = None, **sharing: Any
    ) -> npt.NDArray[Any]:
        """Panels, rows x columns; a single one may be axes that were given."""
        if self.given is not None and rows * columns == 1:
            _dress(self.given)
            return np.array([[self.given]], dtype=object)
        panels: npt.NDArray[Any] = self.new_figure(height, width=width).subplots(
            rows, columns, squeeze=False, **sharing
        )
        return panels

    def axes(self, height: float, *, width: float | None = None) -> Axes:
        """A single panel."""
        panel: Axes = self.grid(height, width=width)[0, 0]
        return panel

    def columns(self, n: int, *, most: int, least: float = 2.0) -> int:
        """Columns for n panels of at least so many inches."""
        return max(1, min(n, most, int(self.width / least)))

    def names(self, names: Sequence[str], *, part: float = 0.34) -> list[str]:
        """Names that take no more than this part of the width."""
        return [fitted(name, min(2.2, part * self.width)) for name in names]

    def widest(self, names: Sequence[str]) -> float:
        """Inches that the widest of some names takes."""
        return max(map(text_inches, names))

    def wrapped(self, text: str, inches: float) -> str:
        """A text in lines that are no wider, as far as its words allow."""
        return fill(text, max(1, int(len(text) * inches / max(text_inches(text), inches))))

    def legend(self, axes: Axes, handles: Sequence[Any] | None = None, *, per_row: int | None = None) -> None:
        """What lines and marks mean: below a figure in as few even rows as fit, or inside axes that were given."""
        if handles is None:
            found, texts = axes.get_legend_handles_labels()
            handles = list(dict(zip(texts, found, strict=True)).values())
        if not handles:
            return
        names = [str(handle.get_label()) for handle in handles]
        if self.given is not None:
            axes.legend(handles, names, fontsize=TEXT, frameon=False)
            return
        width, height = self.figure.get_size_inches()
        labels = [fitted(name, width - 0.5) for name in names]
        columns = per_row or legend_columns(labels, width)
        self.figure.set_size_inches(width, height + 0.06 + 0.17 * -(-len(labels) // columns))
        spacing = {"handlelength": 1.6, "columnspacing": 1.4, "handletextpad": 0.6}
        self.figure.legend(handles, labels, loc="outside lower center", ncols=columns, **spacing)


def _dress(axes: Axes) -> None:
    """Given axes look as new ones do."""
    axes.tick_params(which="both", color=PALETTE["muted"], labelcolor=PALETTE["ink"], labelsize=TEXT)
    for text in (axes.xaxis.label, axes.yaxis.label, axes.title):
        text.set(fontsize=TEXT, color=PALETTE["ink"])
    axes.spines[:].set_color(PALETTE["muted"])
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)


@lru_cache(maxsize=4096)
def text_inches(text: str) -> float:
    """How wide a text is."""
    if not text.strip():  # Matplotlib has no path for it
        return 0.0
    from matplotlib.textpath import TextPath

    with styled():
        path = TextPath((0, 0), text, size=TEXT)
    return 0.0 if not len(path.vertices) else float(path.get_extents().width) / 72


def fitted(name: str, inches: float) -> str:
    """A name that is no wider; a longer one loses its middle, as identifiers differ at their ends."""
    longest = text_width(name)
    while text_inches(short := shortened(name, longest)) > inches and longest > 4:
        longest -= max(1, (longest - 4) // 8)
    return short


def legend_columns(labels: Sequence[str], width: float) -> int:
    """As few rows as the width allows, and rows as even as possible."""
    each = max(map(text_inches, labels)) + 0.45  # the mark before it, the space behind it
    most = max(1, int(width / each))
    rows = -(-len(labels) // most)
    return -(-len(labels) // rows)


def draw(block: FigureBlock, *, width: float = PAGE) -> Figure:
    """A figure that only the caller knows; to be saved under :func:`styled`."""
    with styled():
        canvas = Canvas(width, make=StyledFigure)
        block.draw(block.data, canvas)
    return canvas.figure


@checked(width=PAPER_WIDTH)
def plot(block: FigureBlock, *, ax: Axes | None = None, width: float | None = None) -> Any:
    """The axes of a figure, drawn on ``ax`` or on a new figure of pyplot; an array of them for several panels."""
    from matplotlib import pyplot

    pyplot.draw_if_interactive()  # type: ignore[no-untyped-call]  # its backend sets more than the style may undo
    if ax is not None and not isinstance(ax, Axes):
        raise AdjudgeError(f"'ax': expected axes of matplotlib, got {shown(ax)}")
    if ax is not None and width is not None:
        raise AdjudgeError("'width' is that of a new figure; expected none together with 'ax'")
    canvas = Canvas(width or PAGE, ax=ax, make=lambda **settings: pyplot.figure(FigureClass=StyledFigure, **settings))
    try:
        with styled():
            drawn = block.draw(block.data, canvas)
            if ax is None:
                canvas.figure.set_facecolor(PALETTE["paper"])  # dark text is not to stand on a notebook's dark page
                canvas.figure.draw_without_rendering()  # ticks are made now, in this style
    except BaseException:
        if ax is None and canvas._figure is not None:
            pyplot.close(canvas.figure)
        raise
    return drawn.item() if isinstance(drawn, np.ndarray) and drawn.size == 1 else drawn
