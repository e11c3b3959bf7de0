"""CSV, TSV and Parquet."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from adjudge.errors import InputError, kept_warnings
from adjudge.formats import pick
from adjudge.formats.base import FORMATS, Kind
from adjudge.formats.source import Source
from adjudge.formats.tables import Csv, Parquet, Tsv

MIREX = Path(__file__).parents[4] / "shared" / "data" / "mirex2011"
names = st.text(st.characters(exclude_categories=["C"]), min_size=1).filter(lambda name: name == name.strip())
plain_names = names.filter(lambda name: not name.startswith("#"))
numbers = st.floats(allow_nan=False, allow_infinity=False)


def read(data: bytes | str, kind: Kind = "runs", format_name: str = "csv") -> pl.DataFrame:
    source = Source("dir/file.txt", data.encode() if isinstance(data, str) else data)
    return FORMATS[format_name].read(source, kind)


RUN = "system,query,document,score\nA,q1,007,0.5\nA,q1,d2,0.25\n"
RUN_ROWS = [("A", "q1", "007", 0.5), ("A", "q1", "d2", 0.25)]


@pytest.mark.parametrize(
    "data",
    [
        RUN,
        RUN.replace("\n", "\r\n"),
        RUN.replace("\n", "\r"),
        RUN.replace("\n", "\n\n"),
        RUN.replace("\n", "\n   \n"),
        RUN.replace("\n", "\n,,,\n"),
        RUN.replace("\n", "\n# a, comment\n"),
        "\n\n" + RUN,
        "# first\n" + RUN,
        "\ufeff" + RUN,
        RUN.rstrip(),
        RUN.replace(",", ";"),
        RUN.replace(",", " , "),
        RUN.replace("q1", '"q1"').replace("d2", '"d2"'),
        RUN.replace("0.5", '"0.5"'),
        RUN.partition("\n")[2],
        gzip.compress(RUN.encode(), mtime=0),
        ",query,run,doc_id,similarity,note\n0,q1,A,007,0.5,x\n1,q1,A,d2,0.25,\n",
    ],
)
def test_a_run_reads_the_same_however_it_is_laid_out(data: str | bytes) -> None:
    assert read(data).rows() == RUN_ROWS


@pytest.mark.parametrize("header", ["", "system\tquery\tdocument\tscore\n"])
def test_tabs_separate_a_tsv(header: str) -> None:
    data = header + "A\tq1\t007\t0.5\r\nA\tq1\td2\t0.25\r\n"
    assert read(data, format_name="tsv").rows() == RUN_ROWS


def test_quotes_are_plain_text_in_a_tsv() -> None:
    assert read('A\tq"1\t"Heroes"\n', format_name="tsv").row(0) == ("A", 'q"1', '"Heroes"')


def test_quoted_fields_hold_separators_quotes_and_line_breaks() -> None:
    data = 'query,document,grade\nq1,"a, b",1\n"q ""2""","c\nd",2\n'
    assert read(data, "judgments").rows() == [("q1", "a, b", 1.0), ('q "2"', "c\nd", 2.0)]


def test_a_stray_quote_in_the_middle_of_a_field_is_text() -> None:
    assert read('query,document,grade\nq1,7" single,1\n', "judgments").row(0) == ("q1", '7" single', 1.0)


TEXT = 'first\n# second\n\n#third, with "quotes"\nlast'


@pytest.mark.parametrize("comment", ["", "# a comment\n", '# with a " quote\n'])
def test_a_line_in_quotes_that_begins_with_a_hash_is_text(comment: str) -> None:
    quoted = '"' + TEXT.replace('"', '""') + '"'
    data = f"document,text\n{comment}d1,{quoted}\n{comment}d2,plain\n"
    assert read(data, "metadata").rows() == [("d1", TEXT), ("d2", "plain")]


def test_an_error_below_text_with_hashes_names_its_line() -> None:
    data = 'query,document,grade\nq,"a\n# b\n",1\n# comment\nq,d,x\n'
    with pytest.raises(InputError, match=r":6: expected a finite number as grade, got 'x'"):
        read(data, "judgments")


def test_a_comment_that_could_be_a_row_is_said() -> None:
    with kept_warnings() as notes:
        assert read("query,document,grade\nq,d,1\n#1,e,2\n# why\n", "judgments").height == 1
    said = "dir/file.txt: 1 line that begins with # and could be a row is skipped as a comment: '#1,e,2'."
    assert notes == [said]


def test_semicolons_go_with_decimal_commas_and_commas_do_not() -> None:
    assert read("query;document;grade\nq;a,b;0,5\nq;3,4;1\n", "judgments").rows() == [
        ("q", "a,b", 0.5),
        ("q", "3,4", 1),
    ]
    with pytest.raises(InputError, match=r":2: expected a finite number as grade, got '0,5'"):
        read('query,document,grade\nq,a,"0,5"\n', "judgments")


def test_triples_without_a_header_are_runs_in_rank_order() -> None:
    assert read("A,q1,d1\nA,q1,d2\n").to_dict(as_series=False) == {
        "system": ["A", "A"],
        "query": ["q1", "q1"],
        "document": ["d1", "d2"],
    }


def test_a_run_without_a_system_is_called_as_its_file() -> None:
    assert read("query,document,score\nq,d,1\n").row(0) == ("file", "q", "d", 1.0)


def test_triples_without_a_header_are_judgments() -> None:
    assert read("q1,d1,2\n", "judgments").row(0) == ("q1", "d1", 2.0)


def test_metadata_without_a_header_is_named_by_its_width() -> None:
    assert read("d1,x,y\n", "metadata").columns == ["document", "artist", "genre"]
    assert read("d1,x\n", "metadata").columns == ["document", "column_2"]
    assert read("d1,x,y,z\n", "metadata").columns == ["document", "column_2", "column_3", "column_4"]


def test_metadata_stays_text_and_may_have_gaps() -> None:
    frame = read('id,artist,year\n01,"",\n02,Sigur Rós,1999\n', "metadata")
    assert frame.rows() == [("01", None, None), ("02", "Sigur Rós", "1999")]


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (RUN + "A,q1,d3\n", "runs", ":4: expected 4 columns, got 3"),
        (RUN + "A,q1,d3,0.1,x\n", "runs", ":4: expected 4 columns, got 5"),
        (RUN + "A,q1,d3,0.1,\n", "runs", ":4: expected 4 columns, got 5"),
        (RUN + "A,q1,d3,\n", "runs", ":4: expected a finite number as score, got nothing"),
        (RUN + "A,q1,d3,high\n", "runs", ":4: expected a finite number as score, got 'high'"),
        (RUN + "\n#\nA,,d3,1\n", "runs", ":6: expected a query, got nothing"),
        (RUN + 'A,"q\n\n1",d3,1\nA,q1,d4,x\n', "runs", ":7: expected a finite number as score, got 'x'"),
        (RUN + 'A,"q1,d3,1\n', "runs", ":4: expected fields with balanced quotes, got "),
        ("# c\r\nq,d,1\r\nq,d\r\n", "judgments", ":3: expected 3 columns, got 2"),
        (
            "q,d,x\n",
            "judgments",
            ":1: expected a finite number as grade, got 'x'; where it is a header: --columns query=NAME,",
        ),
        (
            "who,what,grade,points\nq1,a,0,2\n",
            "runs",
            ":1: expected a finite number as score, got 'points'; where it is a header: --columns query=NAME,",
        ),
        ("q,d,1\nq,e,nan\n", "judgments", ":2: expected a finite number as grade, got 'nan'"),
        ("q,d,1,ann\n", "judgments", ":1: expected a header with known names, or 3 columns, got 4"),
        ("a,b\n", "runs", ":1: expected a header with known names, or 3 or 4 columns, got 2"),
        ("lonely\n", "metadata", ":1: expected a header with known names, or 2 or more columns, got 1"),
        ("d,x,y\ne,z\n", "metadata", ":2: expected 3 columns, got 2"),
        ("id,artist,genre\nd,x,\ne,z\n", "metadata", ":3: expected 3 columns, got 2"),
        ("query,doc,value\nq,d,1\n", "judgments", ":1: expected a column for the grade "),
        ("query,query,doc\nq,d,1\n", "runs", ":1: expected one column for the query, got 'query' and 'query'"),
        ("query,doc,grade\n", "judgments", ": expected at least one row of data, got none"),
        ("# nothing\n", "runs", ": expected data, got only comments"),
        ("", "runs", ": expected data, got an empty file"),
        ("a\0,b,c\n", "runs", ":1: expected text, got binary data"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(data: str, kind: Kind, message: str) -> None:
    with pytest.raises(InputError, match=f"^dir/file.txt{message}"):
        read(data, kind)


@pytest.mark.parametrize("bad", ["A\tq\td\tx\n", "A\tq\n"])
def test_one_ragged_line_among_many_is_found(bad: str) -> None:
    lines = "A\tq\td\n" * 70_000
    with pytest.raises(InputError, match=r":70001: expected 3 columns, got [24]$"):
        read(lines + bad + lines, format_name="tsv")


@pytest.mark.parametrize("value", ["a\tb", "a\nb"])
def test_control_characters_are_not_written(value: str) -> None:
    with pytest.raises(InputError, match="expected a query without control characters"):
        Tsv().write(pl.DataFrame({"query": [value], "document": ["d"], "grade": [1.0]}), "judgments")


def test_a_tsv_cannot_begin_a_line_with_a_hash() -> None:
    with pytest.raises(InputError, match="expected a query that does not begin with '#'"):
        Tsv().write(pl.DataFrame({"query": ["#1"], "document": ["d"], "grade": [1.0]}), "judgments")


def test_nested_columns_are_not_written() -> None:
    with pytest.raises(InputError, match="expected columns of text or numbers, got 'tags' of List"):
        Csv().write(pl.DataFrame({"document": ["d"], "tags": [["x"]]}), "metadata")


@pytest.mark.parametrize("format_name", ["csv", "tsv", "parquet"])
@given(data=st.data())
def test_runs_come_back_as_they_were_written(format_name: str, data: st.DataObject) -> None:
    name = plain_names if format_name == "tsv" else names
    rows: list[Any] = data.draw(st.lists(st.tuples(name, name, name, numbers, st.integers(1, 99)), min_size=1))
    frame = pl.DataFrame(rows, ["system", "query", "document", "score", "rank"], orient="row")
    assert_frame_equal(read(FORMATS[format_name].write(frame, "runs"), "runs", format_name), frame, check_exact=True)


@pytest.mark.parametrize("format_name", ["csv", "tsv", "parquet"])
@given(data=st.data())
def test_judgments_come_back_as_they_were_written(format_name: str, data: st.DataObject) -> None:
    name = plain_names if format_name == "tsv" else names
    rows: list[Any] = data.draw(st.lists(st.tuples(name, name, numbers, name), min_size=1))
    frame = pl.DataFrame(rows, ["query", "document", "grade", "assessor"], orient="row")
    back = read(FORMATS[format_name].write(frame, "judgments"), "judgments", format_name)
    assert_frame_equal(back, frame, check_exact=True)


@pytest.mark.parametrize("format_name", ["csv", "tsv", "parquet"])
@given(data=st.data())
def test_metadata_comes_back_as_it_was_written(format_name: str, data: st.DataObject) -> None:
    name = plain_names if format_name == "tsv" else names
    rows: list[Any] = data.draw(st.lists(st.tuples(name, st.none() | name, st.none() | name), min_size=1))
    schema = {"document": pl.String, "artist": pl.String, "colour": pl.String}
    frame = pl.DataFrame(rows, schema, orient="row")
    assert_frame_equal(read(FORMATS[format_name].write(frame, "metadata"), "metadata", format_name), frame)


def test_parquet_keeps_types_and_names_rows() -> None:
    frame = pl.DataFrame({"doc_id": [1, 2], "year": [1990, None], "genre": [3, 4]})
    assert read(Parquet().write(frame, "metadata"), "metadata", "parquet").rows() == [
        ("1", 1990, "3"),
        ("2", None, "4"),
    ]
    frame = pl.DataFrame({"query": ["q", None], "doc": ["d", "e"]})
    with pytest.raises(InputError, match=r"^dir/file.txt: row 2: expected a query, got nothing$"):
        read(Parquet().write(frame, "runs"), "runs", "parquet")


def test_a_compressed_parquet_file_is_recognised() -> None:
    frame = pl.DataFrame({"query": ["q"], "document": ["d"], "grade": [1.0]})
    source = Source("a.parquet.gz", gzip.compress(Parquet().write(frame, "judgments"), mtime=0))
    assert pick(source, "judgments").name == "parquet"
    assert_frame_equal(Parquet().read(source, "judgments"), frame)


@pytest.mark.parametrize("cut", [0, 3, 4, 20, -1])
def test_a_broken_parquet_file_is_refused(cut: int) -> None:
    whole = Parquet().write(pl.DataFrame({"query": ["q"], "doc": ["d"]}), "runs")
    with pytest.raises(InputError, match=r"^dir/file.txt: expected (an intact Parquet file|data), got .*$"):
        read(whole[:cut], "runs", "parquet")


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        (RUN, "runs", "csv"),
        (RUN.replace(",", ";"), "runs", "csv"),
        (RUN.replace(",", "\t"), "runs", "tsv"),
        ("A,q,d\n", "runs", "csv"),
        ("A\tq\td\t0.5\n", "runs", "tsv"),
        ("q\ta, b\t3\n", "judgments", "tsv"),
        ("q\td\tx\n", "judgments", None),
        ("q,d,1,2,3\n", "judgments", None),
        ("d\tx\n", "metadata", "tsv"),
        ("just a line\n", "metadata", None),
        ('{"a": 1, "b": 2}', "metadata", None),
    ],
)
def test_the_format_is_told_from_the_first_line(data: str, kind: Kind, expected: str | None) -> None:
    source = Source("a", data.encode())
    found = [name for name in ("parquet", "tsv", "csv") if FORMATS[name].sniff(source, kind)]
    assert found[:1] == ([expected] if expected else [])


@pytest.mark.skipif(not MIREX.exists(), reason="the real data are not here")
@pytest.mark.parametrize(("kind", "height"), [("runs", 9000), ("judgments", 6322), ("metadata", 7000)])
def test_the_files_of_mirex_2011_are_read(kind: Kind, height: int) -> None:
    source = Source.open(MIREX / f"{kind}.tsv")
    assert Tsv().sniff(source, kind)
    frame = Tsv().read(source, kind)
    assert frame.height == height
    assert not any("\r" in value for value in frame[:, -1].cast(pl.String))


@pytest.mark.skipif(not MIREX.exists(), reason="the real data are not here")
def test_the_runs_of_mirex_2011_have_their_systems_and_queries() -> None:
    frame = Tsv().read(Source.open(MIREX / "runs.tsv"), "runs")
    assert (frame["system"].n_unique(), frame["query"].n_unique()) == (18, 100)
    assert frame.row(0) == ("c1d55b", "948320", "6f8033")


def test_a_table_without_a_header_may_have_decimal_commas() -> None:
    assert read("A;q1;d1;0,5\nA;q1;d2;0,25\n", "runs")["score"].to_list() == [0.5, 0.25]
    assert read("q1;d1;0,5\nq1;d2;1\n", "judgments")["grade"].to_list() == [0.5, 1.0]


@pytest.mark.parametrize("title", ["Results,of May,\n", "Results,,\n\nby,hand,\n", "Results\n"])
def test_a_title_of_fewer_cells_than_the_header_is_passed_over_with_a_note(title: str) -> None:
    source = Source("t.csv", f"{title}query,document,grade\nq,a,1\n".encode())
    with kept_warnings() as notes:
        frame = Csv().read(source, "judgments")
    assert frame.rows() == [("q", "a", 1.0)]
    assert notes
    assert all("'Results'" in note for note in notes)


def test_an_unknown_header_above_a_run_without_scores_is_refused() -> None:
    rows = "".join(f"bm25,q{i // 2},d{i}\n" for i in range(6))
    assert Csv().read(Source("t.csv", rows.encode()), "runs").height == 6
    with pytest.raises(InputError, match=r"^t\.csv:1: .*got 'engine', 'need', 'answer'; where it is a header"):
        Csv().read(Source("t.csv", f"engine,need,answer\n{rows}".encode()), "runs")
    lone = Source("t.csv", f"lsi,q0,d1\n{rows}".encode())  # a system with one document
    assert Csv().read(lone, "runs")["system"].unique(maintain_order=True).to_list() == ["lsi", "bm25"]
