"""Ground truth and experts in a report: the words, the tables, the data of the figures, in every form."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import adjudge as aj
from adjudge.cli import main
from adjudge.errors import kept_warnings
from adjudge.groundtruth import GroundTruth, PartialList, PartialLists, Preferences, Rankings, build
from adjudge.groundtruth import report as groundtruth_sections
from adjudge.groundtruth.building import MOST_ROWS, check_lists
from adjudge.groundtruth.comparing import ComparedConstructions, compare_constructions
from adjudge.groundtruth.files import write_rankings
from adjudge.groundtruth.report import (
    construction_sections,
    construction_sentences,
    experts_of,
    groundtruth_document,
    judgments_as_lists,
    system_sentences,
)
from adjudge.model.provenance import Provenance
from adjudge.reporting.canvas import draw
from adjudge.reporting.document import SECTIONS, Block, FigureBlock, Paragraph, Report, Section, TableBlock
from adjudge.reporting.figures import shortened
from adjudge.reporting.render import figure_bytes, render
from adjudge.text import text_width
from adjudge.users.report import gather, make_report, sections_in_order

NASTY = '<b>&_%{}\n$x$ 旋律"'
ALIKE = Rankings.from_orders(
    [("q", f"up{i}", [["a"], ["b"], ["c"], ["d"]], []) for i in range(6)]
    + [("q", f"down{i}", [["b"], ["a"], ["d"], ["c"]], ["e"]) for i in range(6)]
)  # a and b are alike, c and d are alike, nobody ranked e


def some_rankings(n_queries: int = 3, n_documents: int = 9, *, n_experts: int = 8) -> Rankings:
    rng = np.random.default_rng(0)
    orders: list[tuple[str, str, list[list[str]], list[str]]] = []
    for query in range(n_queries):
        for expert in range(n_experts):
            seen = np.argsort(np.arange(n_documents) + rng.normal(0, 2.0 + query, n_documents))
            orders.append((f"q{query}", f"e{expert}", [[f"d{i:03}"] for i in seen], []))
    return Rankings.from_orders(orders)


@lru_cache(maxsize=1)
def compared() -> ComparedConstructions:
    rankings = some_rankings()
    documents = [f"d{i:03}" for i in range(9)]
    ways = {"good": documents, "middle": [*documents[4:], *documents[:4]], "bad": documents[::-1]}
    runs = aj.read({name: {f"q{query}": order for query in range(3)} for name, order in ways.items()})
    return compare_constructions(rankings, ["All-2", "Any-1", "Best-1"], runs=runs, halves=1, resamples=50)


def compared_document() -> Report:
    return groundtruth_document(compared()["Any-1"].truth, comparison=compared())


def blocks(part: Report | Section) -> list[Block]:
    return [b for s in (part.sections if isinstance(part, Report) else (part,)) for b in s.blocks]


def of(part: Report | Section, kind: type[Block], name: str) -> Any:
    (found,) = (block for block in blocks(part) if isinstance(block, kind) and getattr(block, "name", "") == name)
    return found


def texts(part: Report | Section) -> str:
    return " ".join(block.text for block in blocks(part) if isinstance(block, Paragraph))


def quiet(answers: Rankings | Preferences, construction: str = "Any-1") -> GroundTruth:
    with kept_warnings():
        return build(answers, construction)


def test_every_list_has_a_section_with_its_drawing_and_its_documents() -> None:
    truth = quiet(some_rankings())
    report = groundtruth_document(truth)
    assert [part.title for part in report.sections if part.name.startswith("list-")] == ["q0", "q1", "q2"]
    table = of(report, TableBlock, "list-1-documents")
    assert sorted(row[0] for row in table.rows) == [f"d{i:03}" for i in range(9)]
    assert [int(row[1]) for row in table.rows] == sorted(int(row[1]) for row in table.rows)
    assert of(report, FigureBlock, "list-1-drawn").data.documents == tuple(row[0] for row in table.rows)
    table = of(report, TableBlock, "lists-in-numbers")
    assert [row[0] for row in table.rows] == ["q0", "q1", "q2", "all"]
    assert table.rows[-1][5] == f"{np.mean([built.consistency(1) for built in truth.built]):.3f}"
    assert table.rows[-1][1] == "27"
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_drawing_has_medians_quartiles_groups_and_who_is_left_out() -> None:
    (figure,) = quiet(ALIKE)["q"].figures("list")
    data = figure.data
    assert data.documents == ("a", "b", "c", "d")
    assert data.group == (0, 0, 1, 1)
    assert data.middle.tolist() == [1.5, 1.5, 3.5, 3.5]
    assert data.lower.tolist() == [1, 1, 3, 3]
    assert data.upper.tolist() == [2, 2, 4, 4]
    assert data.answers == (12, 12, 12, 12)
    assert data.left_out == ("e",)
    assert not len(data.intra) + len(data.inter) + len(data.misordered) + len(data.unasked)
    assert quiet(ALIKE)["q"].sentences() == (
        "Query q: 4 documents in 2 groups. ADR-1 consistency is 1.000, ADR-2 1.000. Experts contradict nothing in it. "
        "In no list: e."
    )


def test_contradicted_pairs_are_marked_by_kind() -> None:
    given = PartialLists.from_groups({"q": [["c"], ["a", "d"], ["b"]]})
    with kept_warnings():
        built = check_lists(given, ALIKE)["q"]
    text, (figure,) = built.sentences(), built.figures("list")
    assert "1 of 1 pair in one group differs; 2 of 5 pairs in different groups do not differ; 3 pairs stand in" in text
    names = figure.data.documents
    assert figure.data.mean.tolist() == [{"a": 1.5, "b": 1.5, "c": 3.5, "d": 3.5}[name] for name in names]
    assert [{names[i] for i in pair} for pair in figure.data.intra] == [{"a", "d"}]
    assert {frozenset(names[i] for i in pair) for pair in figure.data.inter} == {frozenset("cd"), frozenset("ab")}
    misordered = {frozenset(names[i] for i in pair) for pair in figure.data.misordered}
    assert misordered == {frozenset("ca"), frozenset("cb"), frozenset("db")}


def test_pairs_never_compared_are_marked_and_strengths_point_the_other_way() -> None:
    rows = [("q", "a", "b", 1, str(i)) for i in range(6)] + [("q", "b", "c", 1, str(i)) for i in range(6)]
    (figure,) = quiet(Preferences.from_rows(rows))["q"].figures("list")
    assert figure.data.documents == ("a", "b", "c")
    assert figure.data.unasked.tolist() == [[0, 2, 2], [2, 0, 0]]
    assert not figure.data.is_rank
    assert not len(figure.data.mean)
    assert b"never compared" in figure_bytes(figure, "svg")


@pytest.mark.parametrize(("n", "parts"), [(2, 1), (MOST_ROWS, 1), (MOST_ROWS + 1, 2), (120, 3)])
def test_a_long_list_is_drawn_in_parts_that_fit_a_page(n: int, parts: int) -> None:
    built = quiet(some_rankings(1, n, n_experts=2))["q0"]
    figures = built.figures("list")
    assert len(figures) == parts
    assert tuple(name for figure in figures for name in figure.data.documents) == built.list.documents
    assert all(len(figure.data.documents) <= MOST_ROWS for figure in figures)
    assert len({figure.name for figure in figures}) == parts
    left, right = draw(figures[-1]).axes[2].get_xlim()
    assert left < figures[-1].data.start < n - 1 < right, "the matrix holds at least the groups of its rows"
    last = figure_bytes(figures[-1], "svg").decode()
    height = re.search(r'height="([\d.]+)pt"', last)
    assert height is not None
    assert float(height[1]) < 11.7 * 72, "taller than a page"


def test_consistency_is_drawn_against_group_size_from_three_lists_on() -> None:
    truth = quiet(some_rankings(), "All-2")
    figure = of(groundtruth_document(truth), FigureBlock, "consistency-by-size")
    assert figure.data.size.tolist() == [9 / len(built.list.groups) for built in truth.built]
    assert figure.data.consistency.tolist() == [built.consistency(1) for built in truth.built]
    few = groundtruth_document(quiet(some_rankings(2)))
    assert "consistency-by-size" not in [block.name for block in few.figures]


def test_triples_have_a_section_where_there_are_any() -> None:
    assert "triples" not in [part.name for part in groundtruth_document(quiet(ALIKE)).sections]
    truth = quiet(some_rankings())
    table = of(groundtruth_document(truth), TableBlock, "triples")
    assert table.rows[-1][1] == f"{3 * 84:,}", "three queries of 9 documents, choose 3"
    assert [int(row[2]) for row in table.rows[:3]] == [built.triples.alike for built in truth.built]


def test_of_very_many_lists_the_least_consistent_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groundtruth_sections, "MOST_LISTS", 2)
    truth = quiet(some_rankings())
    report = groundtruth_document(truth)
    shown = [part.title for part in report.sections if part.name.startswith("list-")]
    assert shown == [query for query in truth if query in shown], "in their order"
    (left,) = set(truth) - set(shown)
    assert all(truth[query].consistency(1) <= truth[left].consistency(1) for query in shown)
    assert "Drawn below are the 2 least consistent of 3 lists." in texts(report)


def test_notes_and_origins_are_in_the_report() -> None:
    truth = quiet(ALIKE)
    report = groundtruth_document(
        truth, answers=ALIKE, inputs=Provenance((("r.csv", "abc"),), {"command": "adjudge x"})
    )
    assert len(truth.notes) == 1
    assert truth.notes[0] in texts(report)
    assert "48 ranks by 12 experts" in report.subtitle
    assert report.provenance["inputs"] == [{"file": "r.csv", "sha256": "abc"}]
    assert report.provenance["settings"]["construction"] == "Any-1"
    assert report.provenance["settings"]["command"] == "adjudge x"
    same = groundtruth_document(truth, answers=ALIKE, inputs=report.provenance)
    assert same.provenance == report.provenance


def test_the_constructions_are_told_by_consistency() -> None:
    found = compared()
    first = construction_sentences(found)[0]
    means = [float(np.mean(row.adr_1)) for row in found.rows]
    assert max(means) == means[2], "Best is, on what it was made from"
    assert first.startswith("Best-1")
    assert f"ADR-1 {means[2]:.3f} in the mean over 3 queries, against {means[0]:.3f} by All-2." in first


def test_the_table_of_constructions_emphasises_the_best() -> None:
    table = of(compared_document(), TableBlock, "constructions-compared")
    assert [row[0] for row in table.rows] == ["All-2", "Any-1", "Best-1"]
    assert (2, 1) in table.emphasised
    assert table.rows[0][2] == "–", "nothing is tested against itself"
    without = replace(compared(), rows=tuple(replace(row, held_out=np.full(3, np.nan)) for row in compared().rows))
    columns = [column.name for column in construction_sections(without)[0].blocks[1].columns]  # type: ignore[union-attr]
    assert "Held out" not in columns


def test_systems_are_ranked_by_each_construction() -> None:
    report = compared_document()
    table = of(report, TableBlock, "systems-means")
    assert [row[0] for row in table.rows] == ["good", "middle", "bad"]
    assert {(0, 1), (0, 2), (0, 3)} <= table.emphasised
    assert of(report, TableBlock, "systems-tau").rows[0] == ("All-2", "1", "0", "0")
    assert of(report, FigureBlock, "systems-places").data.place[0].tolist() == [1, 2, 3]
    assert "good is the best of 3 systems by ADR on 3 queries, whatever construction makes the lists." in texts(report)


def test_systems_that_change_places_are_told() -> None:
    systems = compared().systems
    assert systems is not None
    values = systems.values.copy()
    values[1] = values[1][:, ::-1]
    turned = replace(
        systems, values=values, tau=np.array([1.0, -1.0, 1.0]), tau_low=np.array([1.0, -1.0, 1.0]),
        tau_high=np.array([1.0, 0.5, 1.0]), moved=np.array([0, 2, 0]), swapped=np.array([0, 3, 0]),
    )  # fmt: skip
    first, second = system_sentences(turned)
    assert first.startswith("Which of 3 systems by ADR on 3 queries is the best depends on the construction:")
    assert "changes most with Any-1: τ = -1.00 [-1.00, 0.50], 2 systems of 3 in another place, 3 pairs of 3" in second


def test_one_construction_is_compared_with_nothing() -> None:
    one = replace(compared(), rows=compared().rows[1:2], baseline="Any-1", systems=None)
    sentences = construction_sentences(replace(one, rows=(replace(one.rows[0], p_consistency=float("nan")),)))
    assert sentences[0].startswith("Lists by Any-1 have an ADR-1 consistency of ")
    assert not [text for text in sentences if "Significantly" in text or "were not made from" in text]


@pytest.mark.parametrize("form", ["html", "markdown", "latex", "json"])
def test_every_form_takes_any_name(form: str) -> None:
    groups = [[NASTY + "1", "x" * 90], ["y"]]
    rankings = Rankings.from_orders([(f"{NASTY}{q}", f"e{i}", groups, []) for i in range(5) for q in range(2)])
    found = compare_constructions(rankings, ["All-2", "Any-1"], halves=0)
    report = groundtruth_document(found["Any-1"].truth, answers=rankings, comparison=found)
    text = render(report, form)
    if form == "json":
        rows = next(b for b in json.loads(text)["sections"]["list-1"]["blocks"] if b.get("table"))["rows"]
        assert {row["document"] for row in rows} == {NASTY + "1", "x" * 90, "y"}
    if form == "html":
        assert "<b>" not in text
        identifiers = re.findall(r'\sid="([^"]+)"', text)
        assert len(identifiers) == len(set(identifiers))
    if form == "markdown":
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert all(line.endswith("|") for line in lines), "a name with a line break stays in its cell"


def test_every_figure_is_drawn() -> None:
    figures = {block.name: block for block in compared_document().figures}
    for name in ("consistency-by-size", "constructions-spread", "systems-places", "list-1-drawn"):
        assert figure_bytes(figures[name], "svg").endswith(b"</svg>\n")


def test_names_are_shortened_in_the_middle_by_what_they_take() -> None:
    assert shortened("short", 30) == "short"
    assert shortened("recording-of-something-take-1.wav", 15) != shortened("recording-of-something-take-2.wav", 15)
    assert shortened("旋律" * 20, 15).endswith("律")
    for name in ("a" * 50, "旋律" * 30, "e\u0301" * 40, "한국어 노래" * 9):
        assert text_width(shortened(name, 15)) <= 15


def test_groups_of_one_size_are_not_said_to_be_related_to_consistency() -> None:
    def one(size: float, consistency: float) -> SimpleNamespace:
        two = PartialList("q", (("a", "b"),))
        return SimpleNamespace(list=two, mean_group_size=size, consistency=lambda tails: consistency)

    alike = cast(Any, (one(0.1 + 0.2, 0.5), one(0.3, 0.6), one(0.3, 0.7)))  # equal but for rounding
    figure = GroundTruth(alike, None, 0.05, "", "skip", 0).figure("consistency-by-size")
    assert "Pearson" not in figure.caption + figure.alt


RUNS = {"good": {q: ["a", "b", "c", "d"] for q in "xyz"}, "bad": {q: ["d", "c", "b", "a"] for q in "xyz"}}
GRADES = {q: {"a": 2, "b": 2, "c": 1, "d": 0} for q in "xyz"}
RANKINGS = Rankings.from_orders([(q, f"e{i}", [["a"], ["b"], ["c"]], ["d"]) for q in "xyz" for i in range(9)])


def section(grades: Any = None, rankings: Rankings = RANKINGS) -> Section:
    collection = aj.read(RUNS, GRADES if grades is None else grades, scale="0..2")
    eff = aj.evaluate(collection, ["ADR"])
    evidence = gather(eff, test="t", collection=collection, experts=experts_of(rankings, collection))
    return make_report(evidence, sections=["experts"]).sections[0]


def test_judgments_are_lists_of_what_is_relevant() -> None:
    lists = judgments_as_lists(aj.read(RUNS, GRADES, scale="0..2"))
    assert [set(group) for group in lists["x"].groups] == [{"a", "b"}, {"c"}]


def test_judgments_are_measured_by_what_experts_said() -> None:
    part = section()
    # experts tell a from b: at a the list expands to b, which is wrong (0 of 1); at b to a, which is right
    assert "have a mean ADR-1 consistency of 0.500 with what experts said" in texts(part)
    assert "by Any-1 have a mean ADR-1 consistency of 1.000" in texts(part)
    rows = of(part, TableBlock, "lists-in-numbers").rows
    assert [row[5] for row in rows] == ["0.500"] * 4
    assert [row[7:] for row in rows] == [("1/1", "0/2", "0")] * 3 + [("3/3", "0/6", "0")]
    assert of(part, FigureBlock, "list-1-drawn").data.intra.tolist() == [[0, 1]]
    table = of(part, TableBlock, "systems-means")
    assert [row[0] for row in table.rows] == ["good", "bad"]
    assert [column.name for column in table.columns][1:] == ["All-2", "Any-2", "Prev-2", "All-1", "Any-1", "Prev-1"]


@pytest.mark.filterwarnings("ignore:.*no document is judged")
def test_judgments_of_other_documents_are_no_lists() -> None:
    other = {q: {"u": 2, "v": 1} for q in "xyz"}
    part = section(other)
    assert "not about documents that experts were asked about" in texts(part)
    assert "Lists by Any-1 in numbers" in of(part, TableBlock, "lists-in-numbers").caption


def test_the_report_takes_a_file_of_experts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{q} 0 {d} {grade}\n" for q, grades in GRADES.items() for d, grade in grades.items()]
    Path("qrels.txt").write_text("".join(lines))
    for name, lists in RUNS.items():
        rows = [f"{q} Q0 {d} {r} {9 - r} {name}\n" for q, found in lists.items() for r, d in enumerate(found, start=1)]
        Path(f"{name}.txt").write_text("".join(rows))
    write_rankings(RANKINGS, "rankings.csv")
    command = ["report", "qrels.txt", "good.txt", "bad.txt", "-m", "ADR", "--test", "t"]
    assert main([*command, "--experts", "rankings.csv", "-o", "r.json", "--section", "experts"]) == 0
    values = json.loads(Path("r.json").read_text())
    assert "0.500 with what experts said" in json.dumps(values["sections"]["experts"])
    assert "rankings.csv" in [read["file"] for read in values["provenance"]["inputs"]]
    Path("rankings.json").write_text("{}")
    assert main([*command, "--experts", "rankings.json", "-o", "rankings.json"]) == 2
    assert "is an input" in capsys.readouterr().err
    Path("rankings.csv").write_text("query,expert,document,rank\nw,e,a,1\nw,e,b,2\n")
    assert main([*command, "--experts", "rankings.csv", "-o", "r.md"]) == 2
    assert "Lists and runs: expected queries in common, got none" in capsys.readouterr().err


def test_sections_come_in_the_same_order_whatever_was_imported_first(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = sections_in_order()
    assert usual[0] == "overview"
    monkeypatch.setattr(SECTIONS, "_members", dict(sorted(SECTIONS.items(), key=lambda one: one[0] != "experts")))
    monkeypatch.setattr(SECTIONS, "_home_of", {})
    assert next(iter(SECTIONS)) == "experts"
    assert sections_in_order() == usual
