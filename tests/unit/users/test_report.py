"""Reports: self-contained, accessible, the same numbers in every form, the same bytes every time."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import adjudge as aj
from adjudge.cli import main
from adjudge.model.provenance import Provenance
from adjudge.reporting.canvas import draw
from adjudge.reporting.document import FigureBlock, Paragraph, Report, Section, TableBlock
from adjudge.reporting.render import figure_bytes, render, write_figures
from adjudge.tables import Heading
from adjudge.users.comparison import ComparisonTable
from adjudge.users.noticing import AgreementMapping
from adjudge.users.report import Evidence, gather, make_report, sections_in_order
from adjudge.users.satisfaction import SatisfactionMapping

NASTY = '<script>alert("x")</script>&_%'


@cache
def demo(*measures: str, queries: int = 10) -> aj.Effectiveness:
    return aj.evaluate(aj.demo(queries=queries, depth=5), measures)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return gather(demo("CG@5", "nDCG@5", queries=20), test="t")


@pytest.fixture(scope="module")
def report(evidence: Evidence) -> Report:
    return make_report(evidence, title=NASTY, command="adjudge report …")


class Page(HTMLParser):
    """Collects what the tests ask of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def tables_of(report: Report) -> list[TableBlock]:
    return [block for part in report.sections for block in part.blocks if isinstance(block, TableBlock)]


@pytest.fixture(scope="module")
def html(report: Report) -> str:
    return render(report, "html")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    parsed = Page()
    parsed.feed(html)
    return parsed


def test_the_page_loads_nothing_from_anywhere(html: str, page: Page) -> None:
    assert not any(page.all(tag) for tag in ("link", "img"))
    assert page.all("script") == [{}], "its own, inside"
    assert re.findall(r'(?:src|href)="(?!#)([^"]*)"|url\(http|@import', html) == []
    assert "&lt;script&gt;" in html, "names cannot break out of the page"


def test_the_page_says_its_language_title_and_structure(page: Page) -> None:
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("h1")) == 1
    assert len(page.all("main")) == 1
    assert any(tag["href"] == "#content" for tag in page.all("a"))
    identifiers = [tag["id"] for _, tag in page.tags if tag.get("id")]
    assert len(identifiers) == len(set(identifiers)), "every id once"
    targets = {str(tag["href"])[1:] for tag in page.all("a") if str(tag.get("href", "")).startswith("#")}
    assert targets <= set(identifiers)


def test_every_figure_has_words_and_every_table_a_caption_and_headers(page: Page, report: Report) -> None:
    figures = [tag for tag in page.all("svg") if tag.get("role") == "img"]
    assert len(figures) == 2 * len(report.figures) >= 10, "each for broad pages and for narrow ones"
    assert all(tag["aria-label"] for tag in figures)
    assert len(page.all("table")) == len(page.all("caption")) == len(tables_of(report))
    assert all(tag["scope"] in {"row", "col"} for tag in page.all("th"))


def test_long_tables_fold_parts_have_their_own_contents_and_intervals_may_wrap() -> None:
    columns = (Heading("system", "left"), Heading("rate"))
    table = TableBlock("many", "All rates.", columns, (("a", "0.5 [0.4, 0.6]"),) * 30, folded=True)
    parts = [Section(f"part-{i}", f"Part {i}", (replace(table, name=f"many-{i}"),), level=2) for i in (1, 2)]
    report = Report("Title", "", (Section("whole", "Whole", (Paragraph("Text."),)), *parts), Provenance().to_dict())
    html = render(report, "html")
    page = Page()
    page.feed(html)
    assert len(page.all("details")) == 2
    assert "<summary>All rates. 30 rows</summary>" in html
    assert [tag["id"] for tag in page.all("h3")] == ["part-1", "part-2"]
    assert [tag["href"] for tag in page.all("a")].count("#part-1") == 1  # in the section, not at the head of the page
    assert "<span>0.5</span> <span>[0.4, 0.6]</span>" in html
    assert "\n### Part 1\n" in render(report, "markdown")
    assert r"\subsection{Part 2}" in render(report, "latex")
    assert list(json.loads(render(report, "json"))["sections"]) == ["whole", "part-1", "part-2"]


def test_figures_follow_the_colours_of_the_page(html: str) -> None:
    assert html.count("var(--accent)") > 20
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_the_same_evidence_gives_the_same_bytes(evidence: Evidence) -> None:
    once, again = (make_report(evidence, sections=["overview"]) for _ in range(2))
    assert render(once, "html") == render(again, "html")
    assert figure_bytes(once.figures[0], "pdf") == figure_bytes(again.figures[0], "pdf")


def test_markdown_latex_and_json_carry_the_same_sections_and_numbers(report: Report, evidence: Evidence) -> None:
    best = evidence.summary[0]
    half = (best.high - best.low) / 2
    markdown, tex = render(report, "markdown"), render(report, "latex")
    values = json.loads(render(report, "json"))
    made = [name for name in sections_in_order() if name not in ("effort", "experts", "experiments")]  # all is judged
    assert list(values["sections"]) == [part.name for part in report.sections] == made
    for part in report.sections:
        assert f"## {part.title}" in markdown
        assert rf"\section{{{part.title}}}" in tex
    assert f"{best.mean:.3f} ± {half:.3f}" in markdown
    assert rf"{best.mean:.3f} $\pm$ {half:.3f}" in tex
    assert "## Provenance" in markdown
    assert "% adjudge: " in tex
    assert tex.count(r"\toprule") == len(tables_of(report))
    rows = next(block for block in values["sections"]["overview"]["blocks"] if "table" in block)["rows"]
    assert rows[0]["CG@5"] == pytest.approx(best.mean)


def test_figures_carry_the_numbers_of_the_evidence(report: Report, evidence: Evidence) -> None:
    figures = {block.name: block for block in report.figures}
    forest = figures["forest"].data
    assert forest.mean.tolist() == [evidence.summary.of(name, "CG@5").mean for name in forest.systems]
    matrix = figures["pair-matrix"].data
    assert np.allclose(matrix.difference, -matrix.difference.T)
    assert matrix.filled.sum() == 2 * sum(pair.significant for pair in evidence.main.pairs)
    spread = figures["spread"].data
    assert np.allclose(spread.panels[0].mean(axis=0), forest.mean)
    assert len(spread.panels) == 2, "effectiveness and satisfaction"


def test_systems_under_one_bar_do_not_differ_significantly(report: Report, evidence: Evidence) -> None:
    data = next(block for block in report.figures if block.name == "critical-difference").data
    assert (np.diff(data.rank) >= 0).all()
    for group in data.groups:
        inside = [data.systems[place] for place in group]
        assert not any(p.significant for p in evidence.main.pairs if p.system in inside and p.other in inside)


def test_the_report_names_pairs_where_the_two_answers_disagree(report: Report, evidence: Evidence) -> None:
    text = render(report, "json")
    silent = [pair for pair in evidence.main.parted if pair.significant]
    assert silent
    assert f"{len(silent)} are significant but not noticeable" in text
    assert silent[-1].sentence("CG@5") in text
    (table,) = (table for table in tables_of(report) if table.name == "pairs")
    neighbours = {frozenset(pair) for pair in itertools.pairwise(evidence.summary.systems)}
    disagreeing = {frozenset((pair.system, pair.other)) for pair in evidence.main.parted}
    assert {frozenset(row[:2]) for row in table.rows} == neighbours | disagreeing


def test_figures_are_written_as_svg_and_pdf(evidence: Evidence, tmp_path: Path) -> None:
    report = make_report(evidence, sections=["overview", "ranking"])
    written = write_figures(report, tmp_path / "figures")
    assert {path.suffix for path in written} == {".svg", ".pdf"}
    assert all(path.read_bytes()[:4] in {b"%PDF", b"<?xm"} for path in written)
    assert len(written) == 2 * len(report.figures)


def test_sections_can_be_chosen_and_bad_ones_are_refused(evidence: Evidence) -> None:
    assert [part.name for part in make_report(evidence, sections=["queries"]).sections] == ["queries"]
    with pytest.raises(aj.AdjudgeError, match=r"'query'.*'queries'"):
        make_report(evidence, sections=["query"])


def test_measures_without_mappings_and_two_systems_make_a_report_too() -> None:
    made = make_report(gather(demo("nDCG@5").select(systems=["KLN1", "ZX1"]), test="t"))
    assert not {"ranking", "users"} & {part.name for part in made.sections}
    assert "No satisfaction mapping for nDCG@5" in render(made, "json")


def test_the_command_writes_each_form_by_its_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--queries", "10", "--ranks", "5", "--write", "d"]) == 0
    files = ["d/fine.csv", "d/runs", "--scale", "fine", "-m", "CG@5", "--test", "t"]
    for name, beginning in (("r.html", "<!doctype html>"), ("r.md", "# CG@5"), ("r.tex", "% "), ("r.json", "{")):
        assert main(["report", *files, "--section", "overview", "-o", name]) == 0
        assert Path(name).read_text().startswith(beginning)
    assert main(["report", *files, "-o", "r.docx"]) == 2
    assert "r.docx: reports are written as" in capsys.readouterr().err
    assert main(["compare", *files, "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 66


def test_pages_find_the_figures_that_were_written_and_name_those_that_were_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("page").mkdir()
    Path("qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    Path("runs.csv").write_text("system,query,document\nx,q1,a\nx,q2,a\ny,q1,b\ny,q2,b\n")
    make = ["report", "qrels.txt", "runs.csv", "--scale", "binary", "-m", "P@1", "--test", "t", "--section", "overview"]
    assert main([*make, "-o", "page/r.md", "--figures", "my drawings"]) == 0
    assert "](../my%20drawings/forest.svg)" in Path("page/r.md").read_text()
    assert Path("my drawings/forest.svg").is_file()
    assert main([*make, "-o", "page/r.tex", "--figures", "page"]) == 0
    assert (
        r"\includegraphics[width=\linewidth,height=.85\textheight,keepaspectratio]{forest}"
        in Path("page/r.tex").read_text()
    )
    assert "names" not in capsys.readouterr().err
    assert main([*make, "-o", "r.tex"]) == 0
    assert capsys.readouterr().err == "adjudge: note: r.tex names 1 figure, to be written by --figures DIR\n"


def test_with_a_baseline_nothing_is_said_of_pairs_that_were_not_compared() -> None:
    evidence = gather(demo("CG@5"), test="t", baseline="ZX1")
    assert "pair-matrix" not in [block.name for block in make_report(evidence, sections=["differences"]).figures]
    with pytest.raises(aj.AdjudgeError, match="Nothing to report: ranking"):
        make_report(evidence, sections=["ranking"])


def test_names_with_characters_of_other_languages_are_drawn_as_they_are() -> None:
    names = ["a$x_1$ & b", '#2557c4 id="z', "系统", "x" * 90]
    values = np.random.default_rng(2).random((12, 4))
    eff = aj.Effectiveness.from_matrix(values, systems=names, queries=[f"q$_{i}\\bad$" for i in range(12)])
    html = render(make_report(gather(eff, test="t"), sections=["overview", "queries"]), "html")
    assert "a$x_1$ &amp; b" in html
    assert '#2557c4 id="z' in html
    assert "系统" in html


def test_a_title_cannot_leave_its_latex_comment(evidence: Evidence) -> None:
    tex = render(make_report(evidence, title="new\n\\input{/etc/passwd}", sections=["overview"]), "latex")
    assert not any(line.startswith("\\input") for line in tex.splitlines())


def test_the_help_of_compare_names_every_test_and_correction(capsys: pytest.CaptureFixture[str]) -> None:
    from adjudge.stats.multiple import CORRECTIONS, FAMILYWISE_TESTS
    from adjudge.stats.paired import PAIRED_TESTS

    with pytest.raises(SystemExit, match="0"):
        main(["compare", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for name in (*PAIRED_TESTS, *FAMILYWISE_TESTS, *CORRECTIONS):
        assert name in text.replace("- ", "-")


# Ordinal logit: half prefer the better system where slope x - threshold = 0, here at 0.25.
NOTICE = AgreementMapping("CG@5", "fine", "ordinal", (8.0, 2.0), source="our listeners")
SATISFY = SatisfactionMapping("CG@5", "fine", "points", points=((0.0, 0.1), (1.0, 0.9)), source="our listeners")


@pytest.fixture(scope="module")
def blocks() -> tuple[object, ...]:
    evidence = gather(demo("CG@5", "RR"), test="t", satisfied=[SATISFY], mappings=[NOTICE])
    return make_report(evidence, sections=["users"]).sections[0].blocks


def test_it_names_the_study_and_where_most_notice_of_measures_with_a_curve(blocks: tuple[object, ...]) -> None:
    said, table = blocks[:2]
    assert isinstance(said, Paragraph)
    assert "our listeners." in said.text
    assert "more than half of the users notice differences in CG@5 from 0.25 on" in said.text
    assert isinstance(table, TableBlock)
    assert [tuple(row) for row in table.rows] == [("CG@5", "0.25", "0.10", "0.50", "0.90")]


def test_curves_are_those_of_the_mappings(blocks: tuple[object, ...]) -> None:
    drawn = {block.name: block for block in blocks if isinstance(block, FigureBlock)}
    notice, satisfied = drawn["users-notice"].data, drawn["users-satisfied"].data
    assert np.allclose(sum(notice.panels[0].curves), 1.0)
    assert notice.panels[0].mark[0] == pytest.approx(0.25)
    assert np.allclose(satisfied.panels[0].curves[0], 0.1 + 0.8 * satisfied.grid)


def test_the_legend_of_a_single_curve_fits_into_its_narrow_figure(blocks: tuple[object, ...]) -> None:
    (block,) = (block for block in blocks if isinstance(block, FigureBlock) and block.name == "users-notice")
    figure = draw(block)
    figure.canvas.draw()
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "prefer the worse one"
    assert figure.legends[0].get_window_extent().x1 <= figure.bbox.x1


def test_latex_says_which_version_and_command_made_it_and_how_to_read_it() -> None:
    text = ComparisonTable((aj.compare(demo("CG@5"), test="t"),), (), "adjudge compare …").text("latex")
    version, command, means, *_ = text.splitlines()
    assert (version, command) == (f"% Adjudge {aj.__version__}", "% adjudge compare …")
    assert means.startswith("% Mean CG@5; systems that share a letter do not differ significantly")
    how, noticeable = (line for line in text.splitlines() if line.startswith(("% t test", "% Noticeable")))
    assert how.startswith("% t test, holm correction, α = 0.05; 95 % intervals")
    assert noticeable.startswith("% Noticeable: more than half of the users")
    assert text.count(r" \\") == (1 + 12) + (2 + 66), "means with their heading, pairs on two pages"
    assert "not shown" not in text


def test_whoever_waits_for_a_report_hears_of_each_section() -> None:
    heard: list[tuple[int, int]] = []
    evidence = gather(demo("CG@5"), test="t")
    make_report(evidence, sections=["overview", "differences"], progress=lambda *step: heard.append(step))
    assert heard == [(1, 3), (2, 3)]


@pytest.mark.parametrize(
    ("means", "said"),
    [
        ((0.1, 0.1, 0.1), "none of the 3 is at least 0.5, the smallest that matters."),
        ((0.1, 0.4, 0.7), "1 of the 3 is at least 0.5, the smallest that matters, which is significant."),
        ((0.1, 0.1, 0.7), "2 of the 3 are at least 0.5, the smallest that matters, all of them significant."),
    ],
)
def test_the_report_counts_noticeable_pairs_in_words(means: tuple[float, ...], said: str) -> None:
    values = np.random.default_rng(1).normal(means, 0.01, size=(10, 3))
    eff = aj.Effectiveness.from_matrix(values, measure="CG@5", systems=["a", "b", "c"])
    assert said in render(make_report(gather(eff, test="t", margin=0.5), sections=["differences"]), "markdown")


def said(report: Report) -> str:
    blocks = [block for section in report.sections for block in section.blocks]
    texts = [block.text for block in blocks if isinstance(block, Paragraph)]
    return " ".join([*texts, *(figure.caption for figure in report.figures)])


def test_a_page_says_why_there_are_no_ties_or_no_diagram() -> None:
    values = np.random.default_rng(1).random((10, 41))
    many = aj.Effectiveness.from_matrix(values)
    assert "A critical-difference diagram has room for 40 systems: the figure of means" in said(
        aj.report(many, test="t", sections=["overview", "ranking"])
    )
    few = aj.Effectiveness.from_matrix(values[:, :3], systems=["a", "b", "c"])
    against = aj.report(few, test="t", baseline="b", sections=["overview"])
    assert "Who is tied with whom is not known: only pairs with b are compared." in said(against)
    assert "is not known" not in said(aj.report(few, test="t", sections=["overview"]))
    assert against.title == "Effectiveness of 3 systems"
