"""CSV, TSV, Parquet, JSON, data frames and dictionaries of Python."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import adjudge as aj
from adjudge.errors import InputError, kept_warnings
from adjudge.formats import FORMATS, Kind, Source, pick
from adjudge.formats.tables import Csv, Json, JsonLines, Parquet, Tsv, frame_from_nested, frame_from_object

MIREX = Path(__file__).parents[4] / "shared" / "data" / "mirex2011"


def read(data: bytes | str, kind: Kind = "runs", format_name: str = "csv") -> pl.DataFrame:
    source = Source("dir/file.txt", data.encode() if isinstance(data, str) else data)
    return FORMATS[format_name].read(source, kind)


RUN = "system,query,document,score\nA,q1,007,0.5\nA,q1,d2,0.25\n"
RUN_ROWS = [("A", "q1", "007", 0.5), ("A", "q1", "d2", 0.25)]


@pytest.mark.parametrize(
    "data",
    [
        RUN,
        RUN.replace("\n", "\n\n"),
        RUN.replace("\n", "\n   \n"),
        RUN.replace("\n", "\n,,,\n"),
        RUN.replace("\n", "\n# a, comment\n"),
        "\n\n" + RUN,
        "# first\n" + RUN,
        RUN.rstrip(),
        RUN.replace(",", ";"),
        RUN.replace(",", " , "),
        RUN.replace("q1", '"q1"').replace("d2", '"d2"'),
        RUN.replace("0.5", '"0.5"'),
        RUN.partition("\n")[2],
        ",query,run,doc_id,similarity,note\n0,q1,A,007,0.5,x\n1,q1,A,d2,0.25,\n",
    ],
)
def test_a_run_reads_the_same_however_it_is_laid_out(data: str | bytes) -> None:
    assert read(data).rows() == RUN_ROWS


@pytest.mark.parametrize("header", ["", "system\tquery\tdocument\tscore\n"])
def test_tabs_separate_a_tsv(header: str) -> None:
    data = header + "A\tq1\t007\t0.5\r\nA\tq1\td2\t0.25\r\n"
    assert read(data, format_name="tsv").rows() == RUN_ROWS


@pytest.mark.parametrize(
    ("data", "kind", "format_name", "rows"),
    [
        ('A\tq"1\t"Heroes"\n', "runs", "tsv", [("A", 'q"1', '"Heroes"')]),  # quotes are plain text in a TSV
        ('query,document,grade\n"q ""2""","c,\nd",2\n', "judgments", "csv", [('q "2"', "c,\nd", 2.0)]),
        ('query,document,grade\nq1,7" single,1\n', "judgments", "csv", [("q1", '7" single', 1.0)]),
        ("query;document;grade\nq;a,b;0,5\nq;3,4;1\n", "judgments", "csv", [("q", "a,b", 0.5), ("q", "3,4", 1.0)]),
        ("q1;d1;0,5\nq1;d2;1\n", "judgments", "csv", [("q1", "d1", 0.5), ("q1", "d2", 1.0)]),
        ("A,q1,d1\nA,q1,d2\n", "runs", "csv", [("A", "q1", "d1"), ("A", "q1", "d2")]),
        ("query,document,score\nq,d,1\n", "runs", "csv", [("file", "q", "d", 1.0)]),  # named after its file
        ("q1,d1,2\n", "judgments", "csv", [("q1", "d1", 2.0)]),
        ('id,artist,year\n01,"",\n02,Björk,1999\n', "metadata", "csv", [("01", None, None), ("02", "Björk", "1999")]),
    ],
)
def test_cells_are_read_as_people_write_them(data: str, kind: Kind, format_name: str, rows: list[Any]) -> None:
    assert read(data, kind, format_name).rows() == rows


TEXT = 'first\n# second\n\n#third, with "quotes"\nlast'


@pytest.mark.parametrize("comment", ["", "# a comment\n", '# with a " quote\n'])
def test_a_line_in_quotes_that_begins_with_a_hash_is_text(comment: str) -> None:
    quoted = '"' + TEXT.replace('"', '""') + '"'
    data = f"document,text\n{comment}d1,{quoted}\n{comment}d2,plain\n"
    assert read(data, "metadata").rows() == [("d1", TEXT), ("d2", "plain")]


def test_a_comment_that_could_be_a_row_is_said() -> None:
    with kept_warnings() as notes:
        assert read("query,document,grade\nq,d,1\n#1,e,2\n# why\n", "judgments").height == 1
    assert notes == ["dir/file.txt: skipped as comments: 1 line that could be rows, first '#1,e,2'."]


def test_metadata_without_a_header_is_named_by_its_width() -> None:
    assert read("d1,x,y\n", "metadata").columns == ["document", "artist", "genre"]
    assert read("d1,x\n", "metadata").columns == ["document", "column_2"]
    assert read("d1,x,y,z\n", "metadata").columns == ["document", "column_2", "column_3", "column_4"]


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (RUN + "A,q1,d3\n", "runs", ":4: expected 4 columns, got 3"),
        (RUN + "A,q1,d3,0.1,x\n", "runs", ":4: expected 4 columns, got 5"),
        (RUN + "A,q1,d3,\n", "runs", ":4: expected a finite number as score, got nothing"),
        (RUN + "A,q1,d3,high\n", "runs", ":4: expected a finite number as score, got 'high'"),
        (RUN + "\n#\nA,,d3,1\n", "runs", ":6: expected a query, got nothing"),
        (RUN + 'A,"q\n\n1",d3,1\nA,q1,d4,x\n', "runs", ":7: expected a finite number as score, got 'x'"),
        (RUN + 'A,"q1,d3,1\n', "runs", ":4: expected fields with balanced quotes, got "),
        ("q,d,x\n", "judgments", ":1: expected a finite number as grade, got 'x'; where it is a header: --columns"),
        ("who,what,grade,points\nq1,a,0,2\n", "runs", ":1: expected a finite number as score, got 'points'; where"),
        ("q,d,1\nq,e,nan\n", "judgments", ":2: expected a finite number as grade, got 'nan'"),
        ("q,d,1,ann\n", "judgments", ":1: expected a header with known names, or 3 columns, got 4"),
        ("a,b\n", "runs", ":1: expected a header with known names, or 3 or 4 columns, got 2"),
        ("lonely\n", "metadata", ":1: expected a header with known names, or 2 or more columns, got 1"),
        ("id,artist,genre\nd,x,\ne,z\n", "metadata", ":3: expected 3 columns, got 2"),
        ("query,doc,value\nq,d,1\n", "judgments", ":1: expected a column for the grade "),
        ("query,query,doc\nq,d,1\n", "runs", ":1: expected one column for the query, got 'query' and 'query'"),
        ("query,doc,grade\n", "judgments", ": expected at least one row of data, got none"),
        ('query,document,grade\nq,"a\n# b\n",1\n# c\nq,d,x\n', "judgments", ":6: expected a finite number as grade"),
        ('query,document,grade\nq,a,"0,5"\n', "judgments", ":2: expected a finite number as grade, got '0,5'"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(data: str, kind: Kind, message: str) -> None:
    with pytest.raises(InputError, match=f"^dir/file.txt{message}"):
        read(data, kind)


@pytest.mark.parametrize("bad", ["A\tq\td\tx\n", "A\tq\n"])
def test_one_ragged_line_among_many_is_found(bad: str) -> None:
    lines = "A\tq\td\n" * 20_000
    with pytest.raises(InputError, match=r":20001: expected 3 columns, got [24]$"):
        read(lines + bad + lines, format_name="tsv")


@pytest.mark.parametrize("title", ["Results,of May,\n", "Results,,\n\nby,hand,\n", "Results\n"])
def test_a_title_of_fewer_cells_than_the_header_is_skipped_with_a_note(title: str) -> None:
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


@pytest.mark.parametrize(
    ("format_name", "columns", "message"),
    [
        ("tsv", {"query": ["a\tb"]}, "expected a query without control characters"),
        ("tsv", {"query": ["a\nb"]}, "expected a query without control characters"),
        ("tsv", {"query": ["#1"]}, "expected a query that does not begin with '#'"),
        ("csv", {"document": ["d"], "tags": [["x"]]}, "expected columns of text or numbers, got 'tags' of List"),
    ],
)
def test_what_a_table_cannot_hold_is_not_written(format_name: str, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FORMATS[format_name].write(pl.DataFrame(columns), "metadata")


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
        (' \n{"a"', "runs", "json"),
        ('{"a": 1, "b": 2}', "metadata", "json"),
        ('{"q":\n{"d": 1}}\n', "runs", "json"),
        ("[1]\n[2]\n", "runs", "json"),
        ('{"query": "q", "doc": 1}\n{"query": "q", "doc": 2}\n', "runs", "jsonl"),
    ],
)
def test_the_format_is_told_from_the_first_line(data: str, kind: Kind, expected: str | None) -> None:
    source = Source("a", data.encode())
    found = [name for name in ("parquet", "tsv", "csv", "json", "jsonl") if FORMATS[name].sniff(source, kind)]
    assert found == ([expected] if expected else [])


@pytest.mark.skipif(not MIREX.exists(), reason="the real data are not here")
@pytest.mark.parametrize(("kind", "height"), [("runs", 9000), ("judgments", 6322), ("metadata", 7000)])
def test_the_files_of_mirex_2011_are_read(kind: Kind, height: int) -> None:
    source = Source.open(MIREX / f"{kind}.tsv")
    assert Tsv().sniff(source, kind)
    frame = Tsv().read(source, kind)
    assert frame.height == height
    assert not any("\r" in value for value in frame[:, -1].cast(pl.String))
    if kind == "runs":
        assert (frame["system"].n_unique(), frame["query"].n_unique()) == (18, 100)
        assert frame.row(0) == ("c1d55b", "948320", "6f8033")


# JSON


@pytest.mark.parametrize(
    ("obj", "kind", "row"),
    [
        ({"s": {"q": {"d": 1}}}, "runs", {"system": "s", "query": "q", "document": "d", "score": 1.0}),
        ({"q": {"d": 0.5}}, "runs", {"system": "file", "query": "q", "document": "d", "score": 0.5}),
        ({"q": ["d"]}, "runs", {"system": "file", "query": "q", "document": "d"}),
        ({"s": {"q": ["d"]}}, "runs", {"system": "s", "query": "q", "document": "d"}),
        ({"s": {"q": [7]}}, "runs", {"system": "s", "query": "q", "document": "7"}),
        ({"q": {"d": "2"}}, "judgments", {"query": "q", "document": "d", "grade": 2.0}),
        ({"q": {"d": True}}, "judgments", {"query": "q", "document": "d", "grade": 1.0}),
        ({"q": {"d": {"ann": 2}}}, "judgments", {"query": "q", "document": "d", "grade": 2.0, "assessor": "ann"}),
        ([{"qid": 1, "docno": "d", "label": 2}], "judgments", {"query": "1", "document": "d", "grade": 2.0}),
        ({"qid": [1], "docno": ["d"], "label": [2]}, "judgments", {"query": "1", "document": "d", "grade": 2.0}),
        ({"qid": {"0": 1}, "docno": {"0": "d"}}, "runs", {"system": "file", "query": "1", "document": "d"}),
        ({"qid": 1, "docno": "d"}, "runs", {"system": "file", "query": "1", "document": "d"}),
        ({"d": {"artist": 7, "year": 1990}}, "metadata", {"document": "d", "artist": "7", "year": 1990}),
        ([{"id": "d", "artist": "x"}], "metadata", {"document": "d", "artist": "x"}),
        ({"id": ["d"], "artist": ["x"]}, "metadata", {"document": "d", "artist": "x"}),
        ({"q1": {}, "q2": {"d": 1}}, "runs", {"system": "file", "query": "q2", "document": "d", "score": 1.0}),
    ],
)
def test_each_shape_is_recognised(obj: Any, kind: Kind, row: dict[str, object]) -> None:
    for frame in (
        read(json.dumps(obj), kind, "json"),
        read(json.dumps(obj, indent=2), kind, "json"),
        read(json.dumps(obj), kind, "jsonl"),
        frame_from_nested(obj, kind, name="file"),
    ):
        assert frame.rows(named=True) == [row]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"q1": [], "q2": ["b", "a"]}', [("file", "q2", "b"), ("file", "q2", "a")]),
        (
            '# run\n{"query": "q", "doc": 1, "score": 3}\n\n{"query": "q", "doc": "b", "score": 1.5, "note": null}\n',
            [("file", "q", "1", 3.0), ("file", "q", "b", 1.5)],
        ),
    ],
    ids=["lists in order, empty ones", "lines with gaps and comments"],
)
def test_runs_are_read_from_json(text: str, rows: list[Any]) -> None:
    assert read(text, "runs", "json").rows() == rows


def test_keys_that_are_numbers_become_text() -> None:
    nested = {1: {np.int64(2): np.float32(0.5)}, 3: {4: 1}}
    assert frame_from_nested(nested, "runs", name="me").rows() == [("me", "1", "2", 0.5), ("me", "3", "4", 1.0)]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ('{"q": {"d": 1}', "runs", ":1: expected JSON, got the end of the text"),
        ('{"q":\n {"d": 1,}}', "runs", ":2: expected JSON, got "),
        ('{"q":\n {"d" 1}}', "runs", ":2: expected JSON, got '1}}'"),
        ('{"q": {"d": 1}} x', "runs", ":1: expected JSON, got 'x'"),
        ('{"query": "q", "doc": 1}\n{"query": "q", doc: 1}\n', "runs", ":2: expected JSON, got "),
        ('{"query": "q", "doc": 1}\n\n{"query": "q"}\n', "runs", ":3: expected a document in 'doc', got nothing"),
        ('{"query": "q", "doc": 1}\n[1]\n', "runs", ":2: expected a record with names and values, got '\\[1\\]'"),
        ('[{"query": "q", "doc": 1}, 3]', "runs", ": row 2: expected a record with names and values, got '3'"),
        ('{"q": {"d": NaN}}', "runs", ": q > d: expected a finite number as score, got 'nan'"),
        ('{"q": {"d": "x"}}', "runs", ": q > d: expected a finite number as score, got 'x'"),
        ('{"q": {"d": 1, "e": null}}', "judgments", ": q > e: expected a finite number as grade, got nothing"),
        ('{"q": {"d": 1, "d": 2}}', "runs", ": expected JSON, got the key 'd' twice in one object"),
        ('{"q": {"d": 1}, "r": ["d"]}', "runs", ": r: expected the same depth "),
        ('{"q": {"d": 1}, "r": {"d": {"e": 1}}}', "runs", ": r > d: expected the same depth "),
        ('{"q": [["d", 1]]}', "runs", ": q: expected the same depth "),
        ('{"q": ["d"]}', "judgments", r": q: expected {document: grade}, or groups .*, got 'd' in a list"),
        ('{"q": [["d"], []]}', "judgments", ": q: expected documents in group 2, got none"),
        ('{"q": [["d"], [["e"]]]}', "judgments", ": q: expected documents in group 2, got "),
        ('{"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}', "runs", ": expected .*, got 5 levels"),
        ('{"d": {"artist": 1}, "e": 3}', "metadata", ": e: expected {column: value}, got '3'"),
        ('{"query": ["q"], "doc": ["a", "b"]}', "runs", ": expected columns of the same length"),
        ('{"d": 3}', "metadata", ": expected a column for the document "),
        ('{"q": {"\\ud800": 1}}', "runs", ": expected values that can be stored as document"),
        ('{"q": {"d": ' + "1" * 5000 + "}}", "runs", ": expected JSON, got "),
        ("[" * 100_000, "runs", ": expected JSON, got too many levels"),
        ('[{"query": ' + "[" * 60 + "]" * 60 + ', "doc": 1}]', "runs", ": expected "),
        ("{}", "runs", ": expected .*, got nothing"),
        ("[]", "runs", ": expected at least one row of data, got none"),
        ("3", "runs", ": expected .* or records, got '3'"),
        ('"text"', "metadata", ": expected .* or records, got 'text'"),
    ],
)
def test_what_is_wrong_with_json_is_told_in_one_line(text: str, kind: Kind, message: str) -> None:
    with pytest.raises(InputError, match=f"^dir/file.txt{message}[^\n]*$"):
        read(text, kind, "json")


def test_json_is_written_nested_where_that_holds_everything_and_else_as_records() -> None:
    frame = pl.DataFrame({"system": "s", "query": ["q", "q"], "document": ["b", "a"], "score": [2.0, 1.0]})
    assert json.loads(Json().write(frame, "runs")) == {"s": {"q": {"b": 2.0, "a": 1.0}}}
    assert json.loads(Json().write(frame.drop("score"), "runs")) == {"s": {"q": ["b", "a"]}}
    twice = pl.DataFrame({"query": ["q", "q"], "document": ["d", "d"], "grade": [2.0, 1.0]})
    assert json.loads(Json().write(twice, "judgments")) == twice.rows(named=True)
    lines = JsonLines().write(frame, "runs").decode().splitlines()
    assert [json.loads(line) for line in lines] == frame.rows(named=True)


# Objects of Python

FRAME = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [1.5, 0.5]}
ROWS = [("me", "q1", "a", 1.5), ("me", "q1", "b", 0.5)]
GAPS = (None, float("nan"), pd.NA)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(FRAME),
        pl.LazyFrame(FRAME),
        pd.DataFrame(FRAME),
        pd.DataFrame(FRAME).astype({"query_id": object, "doc_id": "category"}),
        pd.DataFrame(FRAME).convert_dtypes(),
        pd.DataFrame(FRAME).set_index(["query_id", "doc_id"]),
        pd.DataFrame(FRAME, index=[5, 9]),
    ],
)
def test_frames_of_either_library_give_the_same_table(frame: Any) -> None:
    for _ in range(2):  # reading does not change it
        assert frame_from_object(frame, "runs", name="me").rows() == ROWS


@pytest.mark.parametrize(
    "ids", [[7, 8], [7.0, 8.0], np.array([7, 8], dtype=object), np.array(["7", 8], dtype=object), pd.array([7, 8])]
)
def test_identifiers_that_are_numbers_become_text(ids: Any) -> None:
    frame = frame_from_object(pd.DataFrame({"qid": ids, "docno": "d", "label": 1}), "judgments", name="")
    assert frame["query"].to_list() == ["7", "8"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        *(
            ({**FRAME, "query_id": ["q1", gap]}, r"^row 2: expected a query in 'query_id', got nothing$")
            for gap in GAPS
        ),
        ({**FRAME, "score": [1, None]}, r"^row 2: expected a finite number as score, got 'nan'$"),
    ],
)
def test_whatever_pandas_calls_missing_is_refused_with_its_row(frame: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        frame_from_object(pd.DataFrame(frame), "runs", name="me")


def test_repeated_columns_of_pandas_are_refused() -> None:
    frame = pd.DataFrame([["q", "q", "d"]], columns=["qid", "qid", "docno"])
    with pytest.raises(InputError, match="expected one column for the query, got 'qid' and 'qid'"):
        frame_from_object(frame, "runs", name="me")


def test_metadata_of_pandas_keeps_its_columns() -> None:
    frame = pd.DataFrame({"track_id": [1, 2], "artist": ["x", None], "year": [1990, 2000]})
    assert frame_from_object(frame, "metadata", name="").rows() == [("1", "x", 1990), ("2", None, 2000)]


def test_tuples_of_ir_measures_are_recognised() -> None:
    judged = [ir_measures.Qrel("q", "d", 2, "0"), ir_measures.Qrel("q", "e", 0, "0")]
    found = (ir_measures.ScoredDoc("q", document, 1.5) for document in "de")
    assert frame_from_object(judged, "judgments", name="").rows() == [("q", "d", 2.0, "0"), ("q", "e", 0.0, "0")]
    assert frame_from_object(found, "runs", name="me").rows() == [("me", "q", "d", 1.5), ("me", "q", "e", 1.5)]


def test_tuples_of_several_kinds_are_refused() -> None:
    class Other(NamedTuple):
        query_id: str

    with pytest.raises(InputError, match=r"^row 2: expected the fields query_id, doc_id, score, got query_id$"):
        frame_from_object([ir_measures.ScoredDoc("q", "d", 1), Other("q")], "runs", name="me")


def test_a_dictionary_of_frames_is_one_of_systems() -> None:
    frames = {"a": pl.DataFrame(FRAME), "b": pd.DataFrame(FRAME)}
    assert frame_from_object(frames, "runs", name="me")["system"].to_list() == ["a", "a", "b", "b"]
    frames["b"] = pl.DataFrame(FRAME).drop("score")
    with pytest.raises(InputError, match="expected frames with the same columns, got system, query, "):
        frame_from_object(frames, "runs", name="me")


def test_a_list_of_frames_is_one_table() -> None:
    first, second = pl.DataFrame(FRAME | {"run": "a"}), pd.DataFrame(FRAME).assign(run="b")
    assert frame_from_object([first, second], "runs", name="me")["system"].to_list() == ["a", "a", "b", "b"]
    known = [pl.DataFrame({"id": [1], "artist": ["x"]}), pl.DataFrame({"id": [2], "genre": ["y"]})]
    assert frame_from_object(known, "metadata", name="").rows() == [("1", "x", None), ("2", None, "y")]


def test_results_of_pyterrier_are_called_by_their_name_column() -> None:
    columns = {"qid": ["1", "1"], "docid": [7, 8], "docno": ["d7", "d8"], "rank": [0, 1], "score": [2.0, 1.0]}
    named = pd.DataFrame({**columns, "name": "BM25"})
    assert aj.read(named).systems == ("BM25",)
    assert aj.read([named, pd.DataFrame(columns)]).systems == ("BM25", "run2")
    assert aj.read([pd.DataFrame(columns), pd.DataFrame(columns)], {"1": {"d8": 1}}).systems == ("run1", "run2")
    assert aj.read({"mine": named, "other": pd.DataFrame(columns)}).systems == ("mine", "other")
    with pytest.raises(InputError, match="expected one system in the frame for 'mine', got several"):
        aj.read({"mine": pd.concat([named, named.assign(name="LM")])})


@pytest.mark.parametrize("obj", [3, "text", None])
def test_what_holds_no_table_is_refused(obj: object) -> None:
    with pytest.raises(InputError, match="expected runs as a table, got "):
        frame_from_object(obj, "runs", name="me")


def test_pandas_is_not_imported_without_need() -> None:
    code = "import adjudge.formats.tables, sys; sys.exit('pandas' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
