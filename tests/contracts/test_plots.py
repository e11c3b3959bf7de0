"""What every plot of a result must obey: axes as asked for, nothing left behind, words for all, at any width."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.text import Text
from tests.contracts.test_results import RESULTS, complete, few

import adjudge as aj
from adjudge.latex import COLUMN, PAGE
from adjudge.model.effectiveness import Effectiveness
from adjudge.relevance.candidates import candidates
from adjudge.relevance.session import Session
from adjudge.reporting.canvas import draw, styled
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import TEXT
from adjudge.reporting.render import figure_bytes
from adjudge.results import Result, figure
from adjudge.stats.gtheory.plan import Costs, Pricing, make_plan


def history() -> Result:
    pool = candidates(aj.demo(queries=5, depth=5), cutoff=5).unjudged()
    working = Session(pool, "CG@5", estimator="uniform")
    for _ in range(12):
        ((query, document),) = working.next()
        working.judge(query, document, 50)
    return working.history()


MAKERS: dict[str, Callable[[], Result]] = {
    **RESULTS,
    "comparison of a few systems": lambda: aj.compare(few(), test="t"),
    "plan with prices": lambda: make_plan(complete(), pricing=Pricing(Costs(), {"CG@5": 12.5})),
    "history": history,
}
LACKING = {  # what cannot be drawn of some, and why
    ("comparison", "critical-difference"): "on queries that all have",
    ("comparison without users", "critical-difference"): "on queries that all have",
    ("comparison without users", "users-notice"): "what users notice is not known",
    ("plan", "cost-curves"): "costs need designs",
    ("learnt", "differences"): "in practice need runs",
}


@cache
def blocks(name: str) -> dict[str, FigureBlock]:
    result = MAKERS[name]()
    made = {}
    allowed = list(result.plots)
    for plot in type(result).plots:
        if (name, plot) in LACKING:
            with pytest.raises(aj.AdjudgeError, match=LACKING[name, plot]):
                result.figure(plot)
        else:
            made[plot] = result.figure(plot)
    assert allowed == list(made), "only plots that the data allow are named"
    return made


every_result = pytest.mark.parametrize("name", MAKERS)


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    pyplot.close("all")


def plotted(block: FigureBlock, **where: Any) -> Any:
    """As :meth:`Result.plot` draws it; making the result again would take longer than drawing it."""

    class Drawn(Result):
        title = "drawn"

        @figure("one")
        def _one(self) -> FigureBlock:
            return block

    return Drawn().plot("one", **where)


def texts(axes: Axes) -> list[Text]:
    return [text for text in axes.findobj(Text) if text.get_visible() and text.get_text()]


@every_result
def test_a_plot_shows_once_says_what_it_shows_and_has_one_size_of_text(name: str) -> None:
    for block in blocks(name).values():
        assert block.caption.endswith(".")
        assert len(block.alt) > 20
        pyplot.close("all")
        drawn = plotted(block)
        assert len(pyplot.get_fignums()) == 1
        several = np.atleast_1d(np.asarray(drawn, dtype=object)).ravel().tolist()
        assert all(isinstance(axes, Axes) for axes in several)
        for axes in several:
            if axes.get_visible():
                assert axes.get_xlabel() or axes.get_title(loc="left") or not axes.axison, (
                    f"{block.name}: an axis without a name"
                )
        assert {text.get_fontsize() for axes in several for text in texts(axes)} == {TEXT}


@every_result
def test_a_plot_goes_on_axes_that_are_given_or_says_why_not(name: str) -> None:
    for block in blocks(name).values():
        _, ax = pyplot.subplots()
        if isinstance(plotted(block), Axes):
            n = len(pyplot.get_fignums())
            assert plotted(block, ax=ax) is ax
            assert ax.has_data() or texts(ax)
            assert len(pyplot.get_fignums()) == n, "drawn elsewhere as well"
        else:
            n = len(pyplot.get_fignums())
            with pytest.raises(aj.AdjudgeError, match=r"several panels .* expected no 'ax'"):
                plotted(block, ax=ax)
            assert len(pyplot.get_fignums()) == n
        pyplot.close("all")


@every_result
@pytest.mark.parametrize("width", [COLUMN, PAGE])
def test_reports_keep_no_figure_and_everything_fits(name: str, width: float) -> None:
    for block in blocks(name).values():
        drawn = draw(block, width=width)
        assert not pyplot.get_fignums()
        with styled():
            drawn.draw_without_rendering()
            tight = drawn.get_tightbbox()
        assert drawn.get_figwidth() <= width
        slack = 0.08  # inches
        assert tight.x0 >= -slack, f"{block.name} sticks out at the left"
        assert tight.x1 <= drawn.get_figwidth() + slack, f"{block.name} sticks out at the right"


@every_result
@pytest.mark.filterwarnings("ignore:No font of Matplotlib")
def test_files_have_whole_fonts_and_text_as_text(name: str) -> None:
    for block in blocks(name).values():
        pdf = figure_bytes(block, "pdf", width=COLUMN)
        streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, flags=re.DOTALL)
        whole = pdf + b"".join(zlib.decompress(part) for part in streams if part[:1] == b"\x78")
        assert b"/Type3" not in whole.replace(b" ", b"")
        assert b"/FontFile2" in whole, "a TrueType font"
        svg = figure_bytes(block, "svg", width=COLUMN)
        assert b"<text" in svg


def test_what_a_notebook_saves_has_whole_fonts_too(tmp_path: Any) -> None:
    axes = aj.summarize(complete()).plot()
    axes.figure.savefig(tmp_path / "mine.pdf")
    assert b"/FontFile2" in (tmp_path / "mine.pdf").read_bytes()
    pyplot.figure().add_subplot().set_title("other")
    pyplot.savefig(tmp_path / "other.pdf")
    assert b"/Type3" in (tmp_path / "other.pdf").read_bytes().replace(b" ", b""), "figures of others stay theirs"


def test_names_settings_and_axes_that_do_not_exist_are_refused_in_one_line() -> None:
    result = aj.compare(few(), test="t")
    refused: tuple[tuple[Callable[[], object], str], ...] = (
        (lambda: result.plot("forrest"), r"No plot of Comparison is called 'forrest'. Did you mean 'forest'\?"),
        (lambda: result.plot("forest", measure="P@5"), "The plot 'forest' has no settings of its own, got 'measure'"),
        (lambda: aj.summarize(few()).plot(mesure="P@5"), "No setting of the plot 'forest' is called 'mesure'"),
        (lambda: aj.summarize(few()).plot(measure="P@5"), "No measure is called 'P@5'"),
        (lambda: result.plot(ax=cast(Any, "here")), "'ax': expected axes of matplotlib, got 'here'"),
        (lambda: result.plot(width=0.5), r"'width' must be in \[2, 20\], got 0.5"),
        (lambda: result.plot(ax=pyplot.figure().add_subplot(), width=3.3), "'width' is that of a new figure"),
        (lambda: few().plot(), "Effectiveness has no plots"),
    )
    for call, said in refused:
        with pytest.raises(aj.AdjudgeError, match=said) as raised:
            call()
        assert "\n" not in str(raised.value)


def test_without_matplotlib_a_plot_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.extras._is_there", lambda module: False)
    with pytest.raises(aj.AdjudgeError, match=r"^Plots need matplotlib, .*pip install 'adjudge\[plots\]'$"):
        aj.summarize(few()).plot()


def test_a_figure_that_fails_half_way_is_not_shown() -> None:
    def fails(data: Any, canvas: Any) -> Axes:
        canvas.axes(2.0)
        raise ValueError("half-way")

    with pytest.raises(ValueError, match="half-way"):
        plotted(FigureBlock("one", "A figure.", "A figure that fails.", None, fails))
    assert not pyplot.get_fignums()


def test_a_saved_picture_has_a_background_and_that_of_a_report_has_none() -> None:
    axes = aj.compare(Effectiveness.from_matrix(np.eye(3)), test="t").plot("forest")
    saved = BytesIO()
    axes.figure.savefig(saved, format="png")
    assert pyplot.imread(BytesIO(saved.getvalue()))[0, 0, 3] == 1
    in_report = BytesIO()
    draw(aj.compare(Effectiveness.from_matrix(np.eye(3)), test="t").figure("forest")).savefig(in_report, format="png")
    assert pyplot.imread(BytesIO(in_report.getvalue()))[0, 0, 3] == 0


def test_characters_that_no_font_has_are_named_once_except_where_text_stays_text(tmp_path: Path) -> None:
    axes = aj.summarize(Effectiveness.from_matrix(np.eye(3), systems=["系统", "系", "b"])).plot()
    axes.figure.savefig(tmp_path / "plot.svg")
    with pytest.warns(aj.AdjudgeWarning) as caught:
        axes.figure.savefig(tmp_path / "plot.pdf")
    (said,) = (str(each.message) for each in caught)
    assert said == "No font of Matplotlib's here has 系 and 统: boxes are drawn instead."
