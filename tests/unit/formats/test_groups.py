"""Partially ordered lists as judgments: text, tables and JSON, and the measure that they were made for."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

import adjudge as aj
from adjudge.cli import main
from adjudge.errors import InputError
from adjudge.formats import FORMATS, Source, pick
from adjudge.measures.evaluation import default_measures

TEXT = b"q1 1 A\nq1 1 B\nq1 2 C\nq2 1 C\n"
ROWS = [("q1", "A", 2.0), ("q1", "B", 2.0), ("q1", "C", 1.0), ("q2", "C", 1.0)]
NESTED = {"q1": [["A", "B"], ["C"]], "q2": [["C"]]}
PAPER = {"q": [["A", "B"], ["C"], ["D", "E", "F"]]}
"""The worked example of Urbano et al. (ISMIR 2010, Table 1)."""


def read(data: bytes, name: str = "lists.txt") -> list[tuple[object, ...]]:
    source = Source(name, data)
    return pick(source, "judgments").read(source, "judgments").select("query", "document", "grade").rows()


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        TEXT.replace(b" ", b"\t"),
        TEXT.replace(b" ", b"  \t"),
        TEXT.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + TEXT,
        TEXT.replace(b"\n", b"\n\n"),
        b"# made in May\n" + TEXT.replace(b"q2", b"# the second\nq2"),
        TEXT.replace(b" 2 ", b" 7 "),
        b"query,group,document\n" + TEXT.replace(b" ", b","),
        b"Query;Document;Group\nq1;A;1\nq1;B;1\nq1;C;2\nq2;C;1\n",
        b"query\tgroup\tdocument\n" + TEXT.replace(b" ", b"\t"),
        json.dumps(NESTED).encode(),
        json.dumps({**NESTED, "q3": []}).encode(),
    ],
)
def test_lists_are_recognised_and_the_last_group_has_grade_1(data: bytes) -> None:
    assert read(data) == ROWS


def test_lists_are_read_from_parquet_and_dictionaries() -> None:
    table = pl.DataFrame({"query": "q", "group": [1, 2], "document": ["A", "B"]})
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    assert read(buffer.getvalue()) == [("q", "A", 2.0), ("q", "B", 1.0)]
    assert aj.read({"s": {"q": ["A"]}}, table).judgments is not None
    judged = aj.read({"s": {"q1": ["A"]}}, NESTED).judgments
    assert judged is not None
    assert judged.by_pair()["q1", "A"] == 2.0


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"q1 0 A 2\nq1 0 B 1\n", "trec"),
        (b"301 1 77 2\n", "trec"),
        (b"q1\tA\t2\nq1\tB\t1\n", "tsv"),
        (b"q1\t12\t2\nq1\t13\t1\n", "tsv"),
        (b"1,a 1 b,2\n", "csv"),
        (b"query,document,grade\nq,d,1\n", "csv"),
        (b'{"q": {"d": 1}}', "json"),
        (b"q1 1 A\nq1 2 B\n", "groups"),
        (b"# query group document\n7 1 12\n", "groups"),
        (b"q1\t1\tA\n", "groups"),
    ],
)
def test_lists_and_other_judgments_are_told_apart(data: bytes, name: str) -> None:
    assert pick(Source("a.txt", data), "judgments").name == name


def test_three_numbers_are_lists_only_where_something_says_so() -> None:
    numbers = b"7 1 12\n7 2 13\n"
    assert read(numbers, "lists.groups") == [("7", "12", 2.0), ("7", "13", 1.0)]
    with pytest.raises(InputError, match=r"^a\.txt:1: expected 4 columns, got 3$"):
        pick(Source("a.txt", numbers), "judgments")


def test_a_grade_beside_a_group_is_the_grade() -> None:
    assert read(b"query,document,group,grade\nq,A,1,0\nq,B,2,3\n") == [("q", "A", 0.0), ("q", "B", 3.0)]


def test_what_is_written_says_what_it_is() -> None:
    frame = pl.DataFrame({"query": ["q", "q"], "document": ["12", "7"], "grade": [0.5, 4.0]})
    text = FORMATS["groups"].write(frame, "judgments").decode()
    assert text.splitlines()[1:] == ["q 1 7", "q 2 12"]
    assert text.startswith("# query group document")
    assert pick(Source("a.txt", text.encode()), "judgments").name == "groups"


def test_queries_stand_together_and_as_they_came() -> None:
    frame = pl.DataFrame({"query": list("rqrq"), "document": list("abcd"), "grade": [1.0, 3.0, 2.0, 3.0]})
    text = FORMATS["groups"].write(frame, "judgments").decode()
    assert text.splitlines()[1:] == ["r 1 c", "r 2 a", "q 1 b", "q 1 d"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"query": "q", "document": "a b", "grade": 1.0}, "expected a document without white space, got 'a b'"),
        ({"query": "#q", "document": "a", "grade": 1.0}, "expected a query that does not begin with '#'"),
        ({"query": "q", "document": "a", "grade": 0.0}, "expected documents with grades above 0"),
        ({"query": "q", "document": "a", "grade": 1.0, "assessor": ["x", "y"]}, "combine them first: --combine mean"),
        ({"query": "q", "document": "a", "grade": 1.0, "subtopic": ["1", "2"]}, "hold no sub-topics"),
    ],
)
def test_what_lists_cannot_hold_is_refused(frame: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FORMATS["groups"].write(pl.DataFrame(frame), "judgments")


def test_judgments_are_converted_to_lists_and_what_is_lost_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 2\nq1 0 c 0\nq2 0 a 0\n")
    assert main(["convert", "judgments", str(tmp_path / "qrels"), "-o", str(tmp_path / "lists.groups")]) == 0
    assert (tmp_path / "lists.groups").read_text().splitlines()[1:] == ["q1 1 b", "q1 2 a"]
    assert "2 documents with grades of 0 or less are in no group" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["lists.groups", "lists.json", "lists.csv"])
def test_the_published_example_of_adr_comes_out_of_every_kind_of_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    from adjudge.groundtruth import PartialLists, write_lists

    write_lists(PartialLists.from_groups(PAPER), tmp_path / name)
    (tmp_path / "run").write_text("".join(f"q Q0 {d} {i} {9 - i} s\n" for i, d in enumerate("BCAGHD")))
    assert main(["score", str(tmp_path / name), str(tmp_path / "run"), "-m", "ADR", "--csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert float(row["mean"]) == pytest.approx((1 + 1 / 2 + 1 + 3 / 4 + 3 / 5 + 4 / 6) / 6)  # Table 1: .753


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 a\nq 1 b\n", "lists.groups:1: expected a group from 1 on, got '0'"),
        ("q 1.5 a\nq 1 b\n", "lists.groups:1: expected a group from 1 on, got '1.5'"),
        ("q -1 a\nq 1 b\n", "lists.groups:1: expected a group from 1 on, got '-1'"),
        ("q x a\nq 1 b\n", "lists.groups:1: expected a finite number as group, got 'x'"),
        ("q 1 a\n\n# b\nq 2 a\nq 5 b\n", "groups:4: expected one group for document 'a' of query 'q', got 1 and 2"),
    ],
)
def test_bad_groups_are_refused_in_the_words_of_the_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "lists.groups"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        aj.groundtruth.read_lists(file)


@pytest.mark.parametrize(
    "lists",
    [
        {"p": [["a", "b"], ["c"]], "q": [["a"]]},
        {"query": ["p", "p", "p", "q"], "document": ["a", "b", "c", "a"], "group": [1, 1, 2, 1]},
    ],
)
def test_lists_are_scored_by_average_dynamic_recall_unless_told_otherwise(lists: dict[str, list[object]]) -> None:
    collection = aj.read({"s": {"p": ["c", "a"], "q": ["a"]}}, lists)
    assert collection.need_judgments().scale.says_order_only
    assert str(default_measures(collection)[0]) == "ADR"


def test_grades_beside_lists_are_refused(tmp_path: Path) -> None:
    (tmp_path / "lists.groups").write_text("q 1 a\nq 2 b\n")
    (tmp_path / "grades.qrels").write_text("p 0 a 2\n")
    with pytest.raises(aj.AdjudgeError, match="same columns"):
        aj.read({"s": {"q": ["a"]}}, tmp_path)


def test_a_document_in_two_groups_is_told_by_its_groups() -> None:
    with pytest.raises(aj.AdjudgeError, match="expected one group for document 'a' of query 'q', got 1 and 2"):
        aj.read({"s": {"q": ["a"]}}, {"q": [["a"], ["b", "a"]]})
