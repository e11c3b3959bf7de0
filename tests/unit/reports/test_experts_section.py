"""What experts said, in the report of an evaluation: the judgments as lists, and systems by other lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import adjudge as aj
from adjudge.cli import main
from adjudge.groundtruth import Rankings
from adjudge.groundtruth.report import experts_of, judgments_as_lists
from adjudge.reporting.document import SECTIONS, FigureBlock, Paragraph, Section, TableBlock
from adjudge.users.report import gather, make_report, sections_in_order

RUNS = {"good": {q: ["a", "b", "c", "d"] for q in "xyz"}, "bad": {q: ["d", "c", "b", "a"] for q in "xyz"}}
GRADES = {q: {"a": 2, "b": 2, "c": 1, "d": 0} for q in "xyz"}
RANKINGS = Rankings.from_orders([(q, f"e{i}", [["a"], ["b"], ["c"]], ["d"]) for q in "xyz" for i in range(9)])


def section(grades: Any = None, rankings: Rankings = RANKINGS) -> Section:
    collection = aj.read(RUNS, GRADES if grades is None else grades, scale="0..2")
    eff = aj.evaluate(collection, ["ADR"])
    evidence = gather(eff, test="t", collection=collection, experts=experts_of(rankings, collection))
    return make_report(evidence, sections=["experts"]).sections[0]


def of(part: Section, name: str) -> Any:
    (found,) = [b for b in part.blocks if isinstance(b, TableBlock | FigureBlock) and b.name == name]
    return found


def texts(part: Section) -> str:
    return " ".join(block.text for block in part.blocks if isinstance(block, Paragraph))


def test_judgments_are_lists_of_what_is_relevant() -> None:
    lists = judgments_as_lists(aj.read(RUNS, GRADES, scale="0..2"))
    assert [set(group) for group in lists["x"].groups] == [{"a", "b"}, {"c"}]


def test_judgments_are_measured_by_what_experts_said() -> None:
    part = section()
    # experts tell a from b: at a the list expands to b, which is wrong (0 of 1); at b to a, which is right
    assert "have a mean ADR-1 consistency of 0.500 with what experts said" in texts(part)
    assert "by Any-1 have a mean ADR-1 consistency of 1.000" in texts(part)
    assert [row[5] for row in of(part, "lists-in-numbers").rows] == ["0.500"] * 4
    assert of(part, "list-1-drawn").data.intra.tolist() == [[0, 1]]


def test_systems_are_ranked_by_each_way_of_making_lists() -> None:
    table = of(section(), "systems-means")
    assert [row[0] for row in table.rows] == ["good", "bad"]
    assert [column.name for column in table.columns][1:] == ["All-2", "Any-2", "Prev-2", "All-1", "Any-1", "Prev-1"]


@pytest.mark.filterwarnings("ignore:.*no document is judged")
def test_judgments_of_other_documents_are_no_lists() -> None:
    other = {q: {"u": 2, "v": 1} for q in "xyz"}
    part = section(other)
    assert "not about documents that experts were asked about" in texts(part)
    assert "Lists by Any-1 in numbers" in of(part, "lists-in-numbers").caption


def test_without_experts_there_is_nothing_to_say() -> None:
    collection = aj.read(RUNS, GRADES, scale="0..2")
    evidence = gather(aj.evaluate(collection, ["ADR"]), test="t", collection=collection)
    assert "experts" not in [part.name for part in make_report(evidence).sections]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"{q} 0 {d} {grade}\n" for q, grades in GRADES.items() for d, grade in grades.items()]
    Path("qrels.txt").write_text("".join(lines))
    for name, lists in RUNS.items():
        rows = [f"{q} Q0 {d} {r} {9 - r} {name}\n" for q, found in lists.items() for r, d in enumerate(found, start=1)]
        Path(f"{name}.txt").write_text("".join(rows))
    ranks = [f"{q},e{i},{d},{r}\n" for q in "xyz" for i in range(9) for r, d in enumerate("abc", start=1)]
    Path("rankings.csv").write_text("query,expert,document,rank\n" + "".join(ranks))
    return tmp_path


def test_the_report_takes_a_file_of_experts(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["report", "qrels.txt", "good.txt", "bad.txt", "-m", "ADR", "--test", "t"]
    assert main([*command, "--experts", "rankings.csv", "-o", "r.json", "--section", "experts"]) == 0
    values = json.loads(Path("r.json").read_text())
    assert "0.500 with what experts said" in json.dumps(values["sections"]["experts"])
    assert "rankings.csv" in [one["file"] for one in values["provenance"]["inputs"]]


def test_the_file_of_experts_is_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rankings.json").write_text("{}")
    assert main(["report", "qrels.txt", "good.txt", "--experts", "rankings.json", "-o", "rankings.json"]) == 2
    assert "is an input" in capsys.readouterr().err


def test_answers_about_other_queries_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rankings.csv").write_text("query,expert,document,rank\nw,e,a,1\nw,e,b,2\n")
    command = ["report", "qrels.txt", "good.txt", "bad.txt", "-m", "ADR", "--experts", "rankings.csv", "-o", "r.md"]
    assert main(command) == 2
    assert "Lists and runs: expected queries in common, got none" in capsys.readouterr().err


def test_sections_come_in_the_same_order_whatever_was_imported_first(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = sections_in_order()
    assert usual[0] == "overview"
    monkeypatch.setattr(SECTIONS, "_members", dict(sorted(SECTIONS.items(), key=lambda one: one[0] != "experts")))
    assert next(iter(SECTIONS)) == "experts"
    assert sections_in_order() == usual
