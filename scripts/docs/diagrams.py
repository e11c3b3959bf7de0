"""Drawings of how things flow: through the library, and through a campaign's server.

Where a box stands is kept by hand; what it names is not taken on trust: every one of its ``homes`` is a module or an
object of ours, and a test imports it, so that a box whose code was renamed is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scripts.docs.figures import figure

from adjudge.reporting.figures import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Place = tuple[float, float]
_WIDTH = 7.2
_LOOKS = {"code": ("paper", "muted"), "kept": ("line", "muted"), "people": ("paper", "accent")}


@dataclass(frozen=True)
class Box:
    """Something that does or holds: where it stands (left, bottom, width, height in inches), and what its code is."""

    name: str
    text: str
    place: tuple[float, float, float, float]
    homes: tuple[str, ...] = ()
    look: str = "code"


@dataclass(frozen=True)
class Arrow:
    """Something that goes from one place to another, with words at a place of their own."""

    way: tuple[Place, ...]
    words: str = ""
    at: Place = (0.0, 0.0)
    align: str = "center"


@dataclass(frozen=True)
class Diagram:
    """Boxes and arrows on a sheet of some height."""

    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def draw(diagram: Diagram) -> Figure:
    """Boxes over arrows, words over both."""
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots(figsize=(_WIDTH, diagram.height))
    axes.set_xlim(0, _WIDTH)
    axes.set_ylim(0, diagram.height)
    axes.axis("off")
    for arrow in diagram.arrows:
        _draw_arrow(axes, arrow)
    for box in diagram.boxes:
        _draw_box(axes, box)
    return drawing


def _draw_box(axes: Axes, box: Box) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y, width, height = box.place
    face, edge = _LOOKS[box.look]
    look: dict[str, Any] = {"facecolor": PALETTE[face], "edgecolor": PALETTE[edge], "linewidth": 0.9, "zorder": 3}
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.06", **look))
    lines = box.text.count("\n") + 1 if box.text else 0
    top = y + height / 2 + 0.065 * lines
    axes.text(x + width / 2, top, box.name, ha="center", va="center", fontsize=8.5, fontweight="bold", zorder=5)
    axes.text(
        x + width / 2, top - 0.1, box.text, ha="center", va="top", fontsize=7, linespacing=1.25, zorder=5,
        color=PALETTE["ink"],
    )  # fmt: skip


def _draw_arrow(axes: Axes, arrow: Arrow) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    look: dict[str, Any] = {"arrowstyle": "-|>", "color": PALETTE["accent"], "linewidth": 1.0, "mutation_scale": 9}
    axes.add_patch(
        FancyArrowPatch(path=Path(list(arrow.way)), joinstyle="round", shrinkA=0, shrinkB=0, zorder=2, **look)
    )
    if arrow.words:
        x, y = arrow.at
        axes.text(x, y, arrow.words, ha=arrow.align, va="center", fontsize=7, color=PALETTE["muted"], zorder=5)


_LEFT, _MIDDLE, _RIGHT, _FAR = 0.05, 1.88, 3.71, 5.54
_COLUMN = 1.6

DATA_FLOW = Diagram(
    6.9,
    (
        Box("audio", "a folder of music: clips,\nfeatures, baseline runs", (_LEFT, 6.15, _COLUMN, 0.7),
            ("adjudge.audio.library.prepare:prepare_library", "adjudge.audio.systems.ranking:make_runs")),
        Box("files and frames", "runs, judgments,\nmetadata, tables", (_MIDDLE, 6.15, _COLUMN, 0.7), look="kept"),
        Box("groundtruth", "experts' rankings: partially\nordered lists", (_RIGHT, 6.15, _COLUMN, 0.7),
            ("adjudge.groundtruth.building:build",)),
        Box("formats", "aj.read, aj.write", (_MIDDLE, 5.2, _COLUMN, 0.5),
            ("adjudge.formats.reading:read", "adjudge.formats.reading:write")),
        Box("model", "Collection: identifiers are\nnumbers from here on", (_MIDDLE, 4.15, _COLUMN, 0.65),
            ("adjudge.model.collection:Collection", "adjudge.model.rankings:Lists")),
        Box("measures", "aj.evaluate: many ranked\nlists at once", (_MIDDLE, 3.05, _COLUMN, 0.65),
            ("adjudge.measures.evaluation:evaluate",)),
        Box("preferences", "questions, people's answers,\nwhat they teach", (_LEFT, 3.05, _COLUMN, 0.65),
            ("adjudge.preferences.generation:make_questions", "adjudge.preferences.learning:learn")),
        Box("users", "P(Sat), P(Succ), aj.compare:\nwho would notice", (_LEFT, 1.9, _COLUMN, 0.65),
            ("adjudge.users.satisfaction:satisfaction", "adjudge.users.comparison:compare")),
        Box("stats", "intervals, tests, aj.gstudy", (_MIDDLE, 1.9, _COLUMN, 0.65),
            ("adjudge.stats.summary:summarize", "adjudge.stats.gtheory.gstudy:gstudy")),
        Box("experiments", "trials about evaluation\nitself", (_RIGHT, 1.9, _COLUMN, 0.65),
            ("adjudge.experiments.run:run_experiment",)),
        Box("relevance", "aj.judging: what is believed,\nask next, when to stop", (_FAR, 1.9, _COLUMN, 0.65),
            ("adjudge.relevance.session:judging", "adjudge.relevance.session:Session")),
        Box("reports", "sections compute tables and figure data; text, HTML, LaTeX and JSON only show them",
            (_LEFT, 0.95, 7.09, 0.5), ("adjudge.reporting.document:Report", "adjudge.reporting.render")),
        Box("cli", "adjudge …", (_LEFT, 0.05, 2.1, 0.45), ("adjudge.cli:main",), "people"),
        Box("Python", "import adjudge as aj", (2.55, 0.05, 2.1, 0.45), ("adjudge",), "people"),
        Box("web", "campaigns", (5.05, 0.05, 2.09, 0.45), ("adjudge.web.app:create_app",), "people"),
    ),
    (
        Arrow(((0.85, 6.15), (0.85, 5.95), (2.3, 5.95), (2.3, 5.7))),
        Arrow(((2.68, 6.15), (2.68, 5.7))),
        Arrow(((4.51, 6.15), (4.51, 5.95), (3.06, 5.95), (3.06, 5.7))),
        Arrow(((2.68, 5.2), (2.68, 4.8)), "Collection", (2.78, 5.0), "left"),
        Arrow(((2.68, 4.15), (2.68, 3.7)), "lists joined with grades", (2.78, 3.92), "left"),
        Arrow(((3.48, 4.48), (6.34, 4.48), (6.34, 2.55)), "few judgments, or none", (4.95, 4.58)),
        Arrow(((2.68, 3.05), (2.68, 2.55)), "Effectiveness: queries × systems", (2.78, 2.92), "left"),
        Arrow(((2.68, 2.8), (0.85, 2.8), (0.85, 2.55))),
        Arrow(((2.68, 2.8), (4.51, 2.8), (4.51, 2.55))),
        Arrow(((0.3, 3.05), (0.3, 2.55)), "curves", (0.36, 2.92), "left"),
        *(Arrow(((x, 1.9), (x, 1.45))) for x in (0.85, 2.68, 4.51, 6.34)),
        *(Arrow(((x, 0.95), (x, 0.5))) for x in (1.1, 3.6, 6.1)),
    ),
)  # fmt: skip


@figure("data_flow")
def data_flow() -> Figure:
    """From files to what people see."""
    return draw(DATA_FLOW)


_BROWSER, _SERVER, _STORE = (0.05, 1.55), (2.6, 2.0), (5.55, 1.6)

CAMPAIGN_SERVER = Diagram(
    5.2,
    (
        Box("assessor's page", "plays, asks; what is not\nsent yet waits in an\noutbox of the browser",
            (_BROWSER[0], 3.05, _BROWSER[1], 2.1), look="people"),
        Box("assignment, leases", "the question in hand, or the\nnext of the queue, leased",
            (_SERVER[0], 4.4, _SERVER[1], 0.75),
            ("adjudge.web.kinds.judging.assignment", "adjudge.web.store.leases", "adjudge.web.kinds.judging.pages")),
        Box("queue, pair, lease", "a place is leased once", (_STORE[0], 4.4, _STORE[1], 0.75),
            ("adjudge.web.store.schema:queue", "adjudge.web.store.schema:pair", "adjudge.web.store.schema:lease"),
            "kept"),
        Box("answers", "checks listening and key,\nends the lease, counts", (_SERVER[0], 3.05, _SERVER[1], 0.75),
            ("adjudge.web.store.answers:append_answer", "adjudge.web.store.database:Database")),
        Box("answer, event", "only ever added to,\neach row with its digest", (_STORE[0], 3.05, _STORE[1], 0.75),
            ("adjudge.web.store.schema:answer", "adjudge.web.store.schema:event"), "kept"),
        Box("estimating, a thread", "learning: a Session of relevance\nprojection: judgments still needed\n"
            "monitoring: who, how fast, how alike", (_SERVER[0], 1.5, _SERVER[1], 0.95),
            ("adjudge.web.live:Estimating", "adjudge.web.kinds.judging.session:Learner",
             "adjudge.web.kinds.judging.session:project", "adjudge.web.kinds.judging.dashboard")),
        Box("picture, progress", "one value for page and API,\nreplaced as a whole", (_STORE[0], 1.5, _STORE[1], 0.95),
            ("adjudge.web.store.schema:picture", "adjudge.web.store.schema:progress", "adjudge.web.store.snapshots"),
            "kept"),
        Box("stream", "looks once a second", (_SERVER[0], 0.05, _SERVER[1], 0.75), ("adjudge.web.api.campaigns",)),
        Box("organiser's page", "ranking, confidence,\nwho judges, what is left",
            (_BROWSER[0], 0.05, _BROWSER[1], 0.75),
            ("adjudge.web.pages.organiser",), "people"),
    ),
    (
        Arrow(((1.6, 4.93), (2.6, 4.93)), "what next?", (2.1, 5.03)),
        Arrow(((2.6, 4.6), (1.6, 4.6)), "question, lease", (2.1, 4.7)),
        Arrow(((4.6, 4.93), (5.55, 4.93)), "lease", (5.08, 5.03)),
        Arrow(((5.55, 4.6), (4.6, 4.6)), "most telling", (5.08, 4.7)),
        Arrow(((1.6, 3.6), (2.6, 3.6)), "answer, key", (2.1, 3.7)),
        Arrow(((2.6, 3.25), (1.6, 3.25)), "stored", (2.1, 3.35)),
        Arrow(((4.6, 3.43), (5.55, 3.43)), "append", (5.18, 3.53)),
        Arrow(((5.7, 3.05), (5.7, 2.75), (3.6, 2.75), (3.6, 2.45)), "what is new", (5.2, 2.84)),
        Arrow(((4.6, 1.98), (5.55, 1.98)), "snapshot", (5.08, 2.08)),
        Arrow(((4.6, 2.2), (4.8, 2.2), (4.8, 4.1), (5.85, 4.1), (5.85, 4.4)),
              "queue and snapshot together:\nboth or neither", (4.7, 4.1), "right"),
        Arrow(((6.35, 1.5), (6.35, 0.43), (4.6, 0.43)), "version", (5.45, 0.53)),
        Arrow(((2.6, 0.43), (1.6, 0.43)), "server-sent\nevents", (2.1, 0.62)),
    ),
)  # fmt: skip


@figure("campaign_server")
def campaign_server() -> Figure:
    """From a browser to the store and back."""
    return draw(CAMPAIGN_SERVER)
