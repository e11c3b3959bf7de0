"""TREC runs and qrels, and partially ordered lists as text, tables and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import adjudge as aj
from adjudge.cli import main
from adjudge.errors import AdjudgeWarning, InputError
from adjudge.formats import FORMATS, Source, pick
from adjudge.formats.trec import Trec
from adjudge.groundtruth import PartialLists, write_lists
from adjudge.measures.evaluation import default_measures

GOOD = b"q1 Q0 d1 1 0.5 s\nq1 Q0 d2 2 0.25 s\n"
ROWS = [("s", "q1", "d1", 0.5), ("s", "q1", "d2", 0.25)]


def read_run(data: bytes) -> list[tuple[object, ...]]:
    return Trec().read(Source("dir/run.txt", data), "runs").rows()


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        GOOD.replace(b" ", b"\t"),
        GOOD.replace(b" ", b"  \t "),
        GOOD.replace(b" ", b"\v"),
        GOOD.replace(b"\n", b" \n"),
        GOOD.replace(b"\n", b"\t\r\n"),
        GOOD.replace(b"q1", b"  q1"),
        GOOD.replace(b"\n", b"\n\n \n"),
        GOOD.rstrip(),
        b"\n\n" + GOOD,
        b"# a comment with  spaces\n" + GOOD + b"#another\n",
        GOOD.replace(b"\n", b"\n# in the middle\n"),
    ],
)
def test_a_run_reads_the_same_however_it_is_laid_out(data: bytes) -> None:
    assert read_run(data) == ROWS


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("007 Q0 1e5 1 1 02\n", ("02", "007", "1e5", 1.0)),
        ('q"1 Q0 d#é 1 1 s\u00a0x\n', ("s\u00a0x", 'q"1', "d#é", 1.0)),
        (" #1 Q0 d 1 1 s\n", ("s", "#1", "d", 1.0)),  # only a line that begins with a hash is a comment
    ],
)
def test_identifiers_stay_as_they_are(line: str, row: tuple[object, ...]) -> None:
    assert read_run(line.encode()) == [row]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"q2 Q0 d 1 0.5", "expected 6 columns, got 5"),
        (b"q2 Q0 d  0.5 s", "expected 6 columns, got 5"),
        (b"q2\t\td\t1\t0.5\ts", "expected 6 columns, got 5"),
        (b" q2 Q0 d 1 0.5", "expected 6 columns, got 5"),
        (b"q2 Q0 d 1 0.5 ", "expected 6 columns, got 5"),
        (b"q2", "expected 6 columns, got 1"),
        (b"q2 Q0 d 1 high s", "expected a finite number as score, got 'high'"),
        (b"q2 Q0 d 1 inf s", "expected a finite number as score, got 'inf'"),
        (b"q2 Q0 d 1 1_0 s", "expected a finite number as score, got '1_0'"),
        (b"q2 Q0 d 1 1,5 s", "expected a finite number as score, got '1,5'"),
    ],
)
@pytest.mark.parametrize("before", [GOOD, b"# comment\n\n" + GOOD, GOOD.replace(b"\n", b"\r")])
@pytest.mark.parametrize("after", [b"", b"\n" + GOOD])
def test_a_wrong_line_is_named_with_its_number(line: bytes, message: str, before: bytes, after: bytes) -> None:
    number = before.count(b"\n") + before.count(b"\r") + 1
    with pytest.raises(InputError, match=f"^dir/run.txt:{number}: {message}$"):
        read_run(before + line + after)


@pytest.mark.parametrize(
    "data",
    [
        GOOD.replace(b"s\n", b"s extra columns\n"),
        GOOD.replace(b" ", b"\t").replace(b"s\n", b"s\textra\t7\r\n"),
        GOOD.replace(b"0.5 s", b"0.5 s  only in one line "),
    ],
)
def test_columns_after_the_tag_are_ignored_with_a_note(data: bytes) -> None:
    with pytest.warns(AdjudgeWarning, match=r"^dir/run.txt: columns after the tag are ignored.* in [12] line"):
        assert read_run(data) == ROWS


def test_a_fifth_column_of_judgments_is_refused_as_in_trec_eval() -> None:
    with pytest.raises(InputError, match=r"^q:2: expected 4 columns, got 5$"):
        Trec().read(Source("q", b"q1 0 d1 1\nq1 0 d2 1 x\n"), "judgments")


@pytest.mark.parametrize("subtopics", [["0", "0"], ["1", "2"]])
def test_sub_topics_are_kept_even_if_they_never_change(subtopics: list[str]) -> None:
    frame = pl.DataFrame({"query": "q", "subtopic": subtopics, "document": ["d", "e"], "grade": [0.0, 2.5]})
    assert_frame_equal(Trec().read(Source("a", Trec().write(frame, "judgments")), "judgments"), frame)


def test_one_bad_line_among_many_is_found() -> None:
    lines = b"qq Q0 d 1 0.5 ss\n" * 70_000  # with a space at the end of a block in which spaces are counted
    assert read_run(lines) == [("ss", "qq", "d", 0.5)] * 70_000
    with pytest.raises(InputError, match=r":70001: expected 6 columns, got 5$"):
        read_run(lines + b"q Q0 d 1 0.5\n" + lines)


def test_runs_without_scores_are_written_in_rank_order() -> None:
    frame = pl.DataFrame({"system": "s", "query": "q", "document": ["b", "a"], "rank": [2, 1]})
    assert Trec().write(frame, "runs") == b"q Q0 a 1 -1.0 s\nq Q0 b 2 -2.0 s\n"


def test_ranks_are_written_in_the_order_of_the_rows() -> None:
    tied = [1.0, 1.0 + 1e-9, 0.5]  # in single precision the first two are equal, and the identifier decided
    frame = pl.DataFrame({"system": "s", "query": ["q", "q", "p"], "document": ["b", "a", "a"], "score": tied})
    ranks = [line.split()[3] for line in Trec().write(frame, "runs").decode().splitlines()]
    assert ranks == ["1", "2", "1"]


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("trec", {"document": "a b"}, "expected a document without white space, got 'a b'"),
        ("trec", {"system": "a\tb"}, "expected a system without white space"),
        ("trec", {"query": ""}, "expected a query without white space"),
        ("trec", {"query": "#1"}, "expected a query that does not begin with '#'"),
        ("trec", {"assessor": ["x", "y"]}, "TREC qrels hold no assessors; combine them first: --combine mean"),
        ("groups", {"document": "a b"}, "expected a document without white space, got 'a b'"),
        ("groups", {"query": "#q"}, "expected a query that does not begin with '#'"),
        ("groups", {"grade": 0.0}, "expected documents with grades above 0"),
        ("groups", {"assessor": ["x", "y"]}, "combine them first: --combine mean"),
        ("groups", {"subtopic": ["1", "2"]}, "hold no sub-topics"),
    ],
)
def test_what_a_file_cannot_hold_is_not_written(name: str, columns: dict[str, object], message: str) -> None:
    frame = pl.DataFrame({"query": "q", "document": "d", "grade": 1.0} | columns)
    with pytest.raises(InputError, match=message):
        FORMATS[name].write(frame, "judgments")


def test_a_row_is_found_in_its_line() -> None:
    source = Source("a", b"# c\nq 0 a 1\n\nq 0 b 1\n")
    assert [Trec().line(source, "judgments", row) for row in range(3)] == [2, 4, None]


@pytest.mark.parametrize(
    ("data", "kind", "answer"),
    [
        (GOOD, "runs", True),
        (b"q Q0 d 1 0.5 s\n", "runs", True),
        (b"q\t10\t20\t30\t40\t50\nr\t11\t21\t31\t41\t51\n", "runs", False),
        (b"q Q0 d 1 0.5 s more\n", "runs", True),
        (b"q 1 2 3 4 5 6\n", "runs", False),
        (b"q 0 d 1\n", "judgments", True),
        (b"q\t0\td\t1\n", "judgments", True),
        (b"q\tmy song\t1\n", "judgments", False),
        (b"query\tdocument\tgrade\tassessor\n", "judgments", False),
        (b"# only\n", "runs", False),
    ],
)
def test_the_format_is_told_from_the_first_lines(data: bytes, kind: str, answer: bool) -> None:
    assert Trec().sniff(Source("a", data), kind) is answer  # type: ignore[arg-type]


# Partially ordered lists

TEXT = b"q1 1 A\nq1 1 B\nq1 2 C\nq2 1 C\n"
LISTED = [("q1", "A", 2.0), ("q1", "B", 2.0), ("q1", "C", 1.0), ("q2", "C", 1.0)]
NESTED = {"q1": [["A", "B"], ["C"]], "q2": [["C"]]}
PAPER = {"q": [["A", "B"], ["C"], ["D", "E", "F"]]}
"""The worked example of Urbano et al. (ISMIR 2010, Table 1)."""


def read_lists(data: bytes, name: str = "lists.txt") -> list[tuple[object, ...]]:
    source = Source(name, data)
    return pick(source, "judgments").read(source, "judgments").select("query", "document", "grade").rows()


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        TEXT.replace(b" ", b"\t"),
        TEXT.replace(b" ", b"  \t"),
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
    assert read_lists(data) == LISTED


def test_lists_are_read_from_parquet_and_dictionaries() -> None:
    table = pl.DataFrame({"query": "q", "group": [1, 2], "document": ["A", "B"]})
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    assert read_lists(buffer.getvalue()) == [("q", "A", 2.0), ("q", "B", 1.0)]
    for given in (table, {"q": [["A"], ["B"]]}, table.to_dict(as_series=False)):
        collection = aj.read({"s": {"q": ["A"]}}, given)
        assert collection.need_judgments().by_pair() == {("q", "A"): 2.0, ("q", "B"): 1.0}
        assert str(default_measures(collection)[0]) == "ADR"


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
    assert read_lists(numbers, "lists.groups") == [("7", "12", 2.0), ("7", "13", 1.0)]
    with pytest.raises(InputError, match=r"^a\.txt:1: expected 4 columns, got 3$"):
        pick(Source("a.txt", numbers), "judgments")


def test_a_grade_beside_a_group_is_the_grade() -> None:
    assert read_lists(b"query,document,group,grade\nq,A,1,0\nq,B,2,3\n") == [("q", "A", 0.0), ("q", "B", 3.0)]


def test_what_is_written_says_what_it_is_with_queries_together_in_order_of_appearance() -> None:
    frame = pl.DataFrame({"query": list("rqrq"), "document": list("1234"), "grade": [0.5, 3.0, 2.0, 3.0]})
    title, *lines = FORMATS["groups"].write(frame, "judgments").decode().splitlines()
    assert title.startswith("# query group document")
    assert lines == ["r 1 3", "r 2 1", "q 1 2", "q 1 4"]


def test_judgments_are_converted_to_lists_and_what_is_lost_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 2\nq1 0 c 0\nq2 0 a 0\n")
    assert main(["convert", "judgments", str(tmp_path / "qrels"), "-o", str(tmp_path / "lists.groups")]) == 0
    assert (tmp_path / "lists.groups").read_text().splitlines()[1:] == ["q1 1 b", "q1 2 a"]
    assert "2 documents with a grade of 0 or less left out; nothing is left of 1 query." in capsys.readouterr().err


@pytest.mark.parametrize("name", ["lists.groups", "lists.json", "lists.csv"])
def test_the_published_example_of_adr_comes_out_of_every_kind_of_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
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


def test_grades_beside_lists_are_refused(tmp_path: Path) -> None:
    (tmp_path / "lists.groups").write_text("q 1 a\nq 2 b\n")
    (tmp_path / "grades.qrels").write_text("p 0 a 2\n")
    with pytest.raises(aj.AdjudgeError, match="same columns"):
        aj.read({"s": {"q": ["a"]}}, tmp_path)
