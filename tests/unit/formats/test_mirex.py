"""MIREX lists and distance matrices."""

from __future__ import annotations

import polars as pl
import pytest

from adjudge.errors import InputError
from adjudge.formats import pick
from adjudge.formats.mirex import MirexList, MirexMatrix
from adjudge.formats.source import Source

LISTS = "q1.wav\ta.wav\tb.wav\nq2.wav\tc.wav\n"
SPARSE = "q1.wav\ta.wav,0.5\tb.wav,1\nq2.wav\tc.wav,0\n"
LIST_ROWS = [("algo", "q1.wav", "a.wav"), ("algo", "q1.wav", "b.wav"), ("algo", "q2.wav", "c.wav")]
SPARSE_ROWS = [(*row, score) for row, score in zip(LIST_ROWS, [-0.5, -1.0, 0.0], strict=True)]
MATRIX = (
    "Timbre distance (me@example.org)\n1\t/audio/a.wav\n2\tC:\\audio\\b.wav\n3\tc d.wav\n"
    "Q/R\t1\t2\t3\n1\t0.0\t1.24\t2\n3\t2\t0.5\t0\n"
)


def read_list(text: str) -> pl.DataFrame:
    return MirexList().read(Source("dir/algo.txt", text.encode()), "runs")


def read_matrix(text: str) -> pl.DataFrame:
    return MirexMatrix().read(Source("dir/algo.txt", text.encode()), "runs")


@pytest.mark.parametrize(
    "text",
    [
        LISTS,
        LISTS.replace("\n", "\t\n"),
        LISTS.replace("\n", ",\n"),
        LISTS.replace("\n", "\n\n# comment\n"),
        LISTS.rstrip(),
        LISTS.replace("a.wav", "/some/where/a.wav").replace("q1", "C:\\x y\\q1"),
        "algo\n" + LISTS,
        "algo (someone@example.org)\n" + LISTS,
        LISTS + "q3.wav\t\n",
        "q1.wav: a.wav b.wav\nq2.wav: c.wav\n",
        "q1.wav:\ta.wav\tb.wav\nq2.wav:\tc.wav\n",
        "algo\nq1.wav: a.wav  b.wav \nq2.wav: dir/c.wav\nq3.wav:\n",
    ],
)
def test_a_list_reads_the_same_however_it_is_laid_out(text: str) -> None:
    assert read_list(text).rows() == LIST_ROWS


@pytest.mark.parametrize(
    "text",
    [SPARSE, "algo\n" + SPARSE, SPARSE.replace("\t", ",\t"), SPARSE.replace(",", ", "), SPARSE.replace("\n", ",\n")],
)
def test_distances_of_a_list_become_scores(text: str) -> None:
    assert str(read_list(text).rows()) == str(SPARSE_ROWS)


def test_a_comma_in_a_name_is_part_of_it() -> None:
    assert read_list("q\ta, b.wav\tc.wav\n")["document"].to_list() == ["a, b.wav", "c.wav"]
    assert read_list("q\ta, b.wav,0.5\n").row(0) == ("algo", "q", "a, b.wav", -0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("algo\nq1\ta\nq2 b c\n", ":3: expected a query and its documents separated by tabs, got 'q2 b c'"),
        ("# c\nq1\ta,0.5\nq2\tb,x\n", ":3: expected a document and its distance, got 'b,x'"),
        ("q1\ta,0.5\tb,nan\n", ":1: expected a document and its distance, got 'b,nan'"),
        ("q1\ta\t\tb\n", ":1: expected a document, got ''"),
        ("q1\tdir/\tb\n", ":1: expected a document, got 'dir/'"),
        ("\ta\tb\n", ":1: expected a query, got 'a'"),
        ("q1: a\nq2 b\nq3: c\n", ":2: expected a query, a colon and documents, got 'q2 b'"),
        ("algo\n", ": expected at least one query with documents, got none"),
        ("# nothing\n", ": expected data, got only comments"),
    ],
)
def test_a_wrong_line_of_a_list_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^dir/algo.txt{message}$"):
        read_list(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (SPARSE, True),
        ("algo\n" + LISTS, True),
        ("q1: a b\nq2: c d\n", True),
        ("q1\ta\tb\tc\td\tf\nq2\tb\ta\td\tc\te\n", True),
        ("s\tq\td\ns\tq\te\n", False),
        ("s\tq\td\t0.5\n", False),
        ("a,b,c\n", False),
        ("name, which: that, this\nb, c: d, e\n", False),
        ('{"a": 1}', False),
        (MATRIX, False),
        ("1\ta\n", False),
    ],
)
def test_a_list_is_told_from_other_files(text: str, answer: bool) -> None:
    assert MirexList().sniff(Source("a", text.encode()), "runs") is answer
    assert MirexMatrix().sniff(Source("a", text.encode()), "runs") is (text == MATRIX)


def test_lists_are_written_by_rank_where_there_are_no_scores() -> None:
    frame = pl.DataFrame({"system": "s", "query": "q", "document": ["b", "a"], "rank": [2, 1]})
    assert MirexList().write(frame, "runs") == b"s\nq\ta\tb\n"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"document": "a,1"}, "expected a document without tabs, commas and slashes"),
        ({"document": "a/b"}, "expected a document without tabs, commas and slashes"),
        ({"query": "a\tb"}, "expected a query without tabs, commas and slashes"),
        ({"query": "a:"}, "expected a query that can begin a line of a list"),
        ({"query": "#a"}, "expected a query that can begin a line of a list"),
        ({"system": "#a"}, "expected a system that can head a MIREX file"),
        ({"system": "a (b@c)"}, "expected a system that can head a MIREX file"),
        ({"system": ["s", "t"]}, "expected one system in a MIREX file, got 2"),
    ],
)
def test_what_a_list_cannot_hold_is_not_written(row: dict[str, str], message: str) -> None:
    frame = pl.DataFrame({"system": "s", "query": "q", "document": "d"} | row)
    with pytest.raises(InputError, match=message):
        MirexList().write(frame, "runs")


@pytest.mark.parametrize(
    "text",
    [
        MATRIX,
        MATRIX.replace("\n", "\t\n"),
        MATRIX.replace("\n", "\n\n"),
        MATRIX.replace("Q/R", "# comment\nQ/R").replace("\n3\t2", "\n# comment\n3\t2"),
        MATRIX.rstrip(),
        MATRIX.replace("1.24", " 1.24 "),
    ],
)
def test_a_matrix_reads_the_same_however_it_is_laid_out(text: str) -> None:
    frame = read_matrix(text)
    assert frame.columns == ["system", "query", "document", "score"]
    assert frame["system"].unique().to_list() == ["Timbre distance"]
    assert str(frame.select("query", "document", "score").rows()) == str(
        [
            ("a.wav", "a.wav", 0.0),
            ("a.wav", "b.wav", -1.24),
            ("a.wav", "c d.wav", -2.0),
            ("c d.wav", "a.wav", -2.0),
            ("c d.wav", "b.wav", -0.5),
            ("c d.wav", "c d.wav", 0.0),
        ]
    )


def test_a_matrix_without_a_header_is_called_as_its_file() -> None:
    assert read_matrix(MATRIX.partition("\n")[2])["system"][0] == "algo"


def test_columns_of_a_matrix_may_be_some_of_the_files() -> None:
    frame = read_matrix("x\n1\ta\n2\tb\n3\tc\nQ/R\t3\t1\n2\t0.5\t1\n")
    assert frame.rows() == [("x", "b", "c", -0.5), ("x", "b", "a", -1.0)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1.24", "x", ":6: expected a finite distance of 0 or more, got 'x'"),
        ("1.24", "-0.1", ":6: expected a finite distance of 0 or more, got '-0.1'"),
        ("1.24", "inf", ":6: expected a finite distance of 0 or more, got 'inf'"),
        ("1.24", "", ":6: expected a finite distance of 0 or more, got ''"),
        ("1.24\t", "", ":6: expected 4 columns, got 3"),
        ("\t0.5\t0\n", "\t0.5\t0\t0\n", ":7: expected 4 columns, got 5"),
        ("\t2\n3\t2", "\n3\t2\t2", ":6: expected 4 columns, got 3"),
        ("\n3\t2\t", "\n4\t2\t", ":5: expected a file for every number of the matrix, got none for 4"),
        ("Q/R\t1", "Q/R\t9", ":5: expected a file for every number of the matrix, got none for 9"),
        ("Q/R\t1", "Q/R\tx", ":5: expected numbers of files after Q/R, got 'x"),
        ("Q/R\t1", "R\t1", ":5: expected a numbered file or the Q/R line, got 'R"),
        ("2\tC:", "1\tC:", ":3: expected each file number once, got 1 again"),
        ("3\tc d.wav", "", ":5: expected a file for every number of the matrix, got none for 3"),
        ("1\t0.0\t1.24\t2\n3\t2\t0.5\t0\n", "", ": expected rows of distances after the Q/R line, got none"),
        (MATRIX[MATRIX.index("Q/R") :], "", ": expected a line that begins with Q/R, got none"),
    ],
)
def test_a_wrong_line_of_a_matrix_is_named(old: str, new: str, message: str) -> None:
    assert MATRIX.count(old) == 1
    with pytest.raises(InputError, match=f"^dir/algo.txt{message}"):
        read_matrix(MATRIX.replace(old, new))


COMPLETE = {
    "system": "s",
    "query": ["p", "p", "q", "q"],
    "document": ["p", "a", "p", "a"],
    "score": [0.0, -1, -2.5, -3],
}


def test_a_matrix_is_written_with_all_its_distances() -> None:
    text = MirexMatrix().write(pl.DataFrame(COMPLETE), "runs").decode()
    assert text == "s\n1\tp\n2\ta\n3\tq\nQ/R\t1\t2\n1\t0.0\t1.0\n3\t2.5\t3.0\n"
    assert read_matrix(text).rows() == pl.DataFrame(COMPLETE).rows()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame(COMPLETE).head(3), "expected every query to rank the same documents for a MIREX matrix"),
        (pl.DataFrame(COMPLETE).drop("score"), "expected scores of 0 or less, which are distances"),
        (pl.DataFrame(COMPLETE | {"score": 1.0}), "expected scores of 0 or less, which are distances"),
        (pl.DataFrame(COMPLETE | {"system": "Q/R"}), "expected a system that can head a MIREX file"),
        (pl.DataFrame(COMPLETE | {"query": ["p", "p", "a/q", "a/q"]}), "expected a query without tabs and slashes"),
    ],
)
def test_what_a_matrix_cannot_hold_is_not_written(frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MirexMatrix().write(frame, "runs")


@pytest.mark.parametrize(
    "line", ["{q}\tQ0\td\t1\t0.5", "{q}\tQ0\td\t0.5\tsys", "{q}\tQ0\td\t1\thigh\tsys", "{q}\t0\td\t1\thigh\tsys"]
)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_run_with_a_column_missing_is_no_list(line: str, n: int) -> None:
    text = "\n".join(line.format(q=f"q{i}") for i in range(n))
    assert not MirexList().sniff(Source("a", text.encode()), "runs")


@pytest.mark.parametrize("header", ["", "system\tquery\tdocument\n"])
def test_a_table_whose_system_ends_in_a_colon_is_no_list(header: str) -> None:
    source = Source("a", f"{header}sys:\tq1\td1\nsys:\tq1\td2\n".encode())
    assert not MirexList().sniff(source, "runs")
    assert pick(source, "runs").read(source, "runs").rows() == [("sys:", "q1", "d1"), ("sys:", "q1", "d2")]
