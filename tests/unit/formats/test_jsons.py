"""JSON, JSON lines and nested dictionaries."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from adjudge.errors import InputError
from adjudge.formats.base import Kind
from adjudge.formats.json import Json, JsonLines, frame_from_nested
from adjudge.formats.source import Source

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda name: name == name.strip())
numbers = st.floats(allow_nan=False, allow_infinity=False)


def read(text: str | bytes, kind: Kind = "runs") -> pl.DataFrame:
    data = text.encode() if isinstance(text, str) else text
    return Json().read(Source("dir/bm25.json", data), kind)


@pytest.mark.parametrize(
    ("obj", "kind", "row"),
    [
        ({"s": {"q": {"d": 1}}}, "runs", {"system": "s", "query": "q", "document": "d", "score": 1.0}),
        ({"q": {"d": 0.5}}, "runs", {"system": "bm25", "query": "q", "document": "d", "score": 0.5}),
        ({"q": ["d"]}, "runs", {"system": "bm25", "query": "q", "document": "d"}),
        ({"s": {"q": ["d"]}}, "runs", {"system": "s", "query": "q", "document": "d"}),
        ({"s": {"q": [7]}}, "runs", {"system": "s", "query": "q", "document": "7"}),
        ({"q": {"d": "2"}}, "judgments", {"query": "q", "document": "d", "grade": 2.0}),
        ({"q": {"d": True}}, "judgments", {"query": "q", "document": "d", "grade": 1.0}),
        ({"q": {"d": {"ann": 2}}}, "judgments", {"query": "q", "document": "d", "grade": 2.0, "assessor": "ann"}),
        ([{"qid": 1, "docno": "d", "label": 2}], "judgments", {"query": "1", "document": "d", "grade": 2.0}),
        ({"qid": [1], "docno": ["d"], "label": [2]}, "judgments", {"query": "1", "document": "d", "grade": 2.0}),
        ({"qid": {"0": 1}, "docno": {"0": "d"}}, "runs", {"system": "bm25", "query": "1", "document": "d"}),
        ({"qid": 1, "docno": "d"}, "runs", {"system": "bm25", "query": "1", "document": "d"}),
        ({"d": {"artist": 7, "year": 1990}}, "metadata", {"document": "d", "artist": "7", "year": 1990}),
        ([{"id": "d", "artist": "x"}], "metadata", {"document": "d", "artist": "x"}),
        ({"id": ["d"], "artist": ["x"]}, "metadata", {"document": "d", "artist": "x"}),
    ],
)
def test_each_shape_is_recognised(obj: Any, kind: Kind, row: dict[str, object]) -> None:
    for frame in (
        read(json.dumps(obj), kind),
        read(json.dumps(obj, indent=2), kind),
        Json().read(Source("bm25.jsonl", json.dumps(obj).encode()), kind),
        frame_from_nested(obj, kind, name="bm25"),
    ):
        assert frame.rows(named=True) == [row]


def test_lists_keep_their_order_and_empty_ones_add_nothing() -> None:
    frame = read('{"q1": [], "q2": ["b", "a"]}')
    assert frame.rows() == [("bm25", "q2", "b"), ("bm25", "q2", "a")]


def test_the_depth_is_that_of_the_first_query_with_documents() -> None:
    assert read('{"q1": {}, "q2": {"d": 1}}').rows() == [("bm25", "q2", "d", 1.0)]


def test_json_lines_may_have_gaps_and_comments() -> None:
    text = '# run\n{"query": "q", "doc": 1, "score": 3}\n\n{"query": "q", "doc": "b", "score": 1.5, "note": null}\n'
    assert read(text).rows() == [("bm25", "q", "1", 3.0), ("bm25", "q", "b", 1.5)]


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
        ('{"q": {"d": 1}, "r": 3}', "runs", ": r: expected the same depth "),
        ('{"q": {"d": 1}, "r": {"d": {"e": 1}}}', "runs", ": r > d: expected the same depth "),
        ('{"q": [["d", 1]]}', "runs", ": q: expected the same depth "),
        ('{"q": ["d"]}', "judgments", r": q: expected {document: grade}, or groups .*, got 'd' in a list"),
        ('{"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}', "runs", ": expected .*, got 5 levels"),
        ('{"d": {"artist": 1}, "e": 3}', "metadata", ": e: expected {column: value}, got '3'"),
        ('{"query": ["q"], "doc": ["a", "b"]}', "runs", ": expected columns of the same length"),
        ('{"d": 3}', "metadata", ": expected a column for the document "),
        ('{"q": {"\\ud800": 1}}', "runs", ": expected values that can be stored as document"),
        ('{"q": {"d": ' + "1" * 5000 + "}}", "runs", ": expected JSON, got "),
        ("[" * 100_000, "runs", ": expected JSON, got too many levels"),
        ('[{"query": ' + "[" * 500 + "]" * 500 + ', "doc": 1}]', "runs", ": expected "),
        ("{}", "runs", ": expected .*, got nothing"),
        ('{"q": {}}', "judgments", ": expected .*, got nothing"),
        ("[]", "runs", ": expected at least one row of data, got none"),
        ("3", "runs", ": expected .* or records, got '3'"),
        ('"text"', "metadata", ": expected .* or records, got 'text'"),
        ("", "runs", ": expected data, got an empty file"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(text: str, kind: Kind, message: str) -> None:
    with pytest.raises(InputError, match=f"^dir/bm25.json{message}[^\n]*$"):
        read(text, kind)


def test_nested_objects_are_written_where_they_hold_everything() -> None:
    frame = pl.DataFrame({"system": "s", "query": ["q", "q"], "document": ["b", "a"], "score": [2.0, 1.0]})
    assert json.loads(Json().write(frame, "runs")) == {"s": {"q": {"b": 2.0, "a": 1.0}}}
    assert json.loads(Json().write(frame.drop("score"), "runs")) == {"s": {"q": ["b", "a"]}}


def test_records_are_written_where_objects_would_lose_something() -> None:
    frame = pl.DataFrame({"query": ["q", "q"], "document": ["d", "d"], "grade": [2.0, 1.0]})
    assert json.loads(Json().write(frame, "judgments")) == frame.rows(named=True)


def test_json_lines_are_written_one_record_a_line() -> None:
    frame = pl.DataFrame({"system": "s", "query": ["q", "q"], "document": ["b", "a"], "score": [2.0, 1.0]})
    lines = JsonLines().write(frame, "runs").decode().splitlines()
    assert [json.loads(line) for line in lines] == frame.rows(named=True)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"query": "q", "doc": 1}\n{"query": "q", "doc": 2}\n', True),
        ('{"q": {"d": 1}}\n', False),
        ('{"q":\n{"d": 1}}\n', False),
        ("[1]\n[2]\n", False),
        ("", False),
    ],
)
def test_json_lines_are_told_from_one_object(text: str, answer: bool) -> None:
    assert JsonLines().sniff(Source("a", text.encode()), "runs") is answer


@given(st.lists(st.tuples(names, names, names, numbers), min_size=1, unique_by=lambda row: row[:3]))
def test_runs_come_back_as_they_were_written(rows: list[tuple[str, str, str, float]]) -> None:
    frame = pl.DataFrame(rows, ["system", "query", "document", "score"], orient="row")
    back = read(Json().write(frame, "runs"))
    assert_frame_equal(back, frame, check_exact=True, check_row_order=False)


@given(st.lists(st.tuples(names, names, names), min_size=1))
def test_lists_come_back_as_they_were_written(rows: list[tuple[str, str, str]]) -> None:
    frame = pl.DataFrame(rows, ["system", "query", "document"], orient="row")
    back = read(Json().write(frame, "runs"))
    for key, part in frame.partition_by("system", "query", as_dict=True).items():
        same = back.filter(system=key[0], query=key[1])
        assert same["document"].to_list() == part["document"].to_list()


@given(st.lists(st.tuples(names, names, numbers, names), min_size=1))
def test_judgments_come_back_as_they_were_written(rows: list[tuple[str, str, float, str]]) -> None:
    frame = pl.DataFrame(rows, ["query", "document", "grade", "assessor"], orient="row")
    back = read(Json().write(frame, "judgments"), "judgments")
    assert_frame_equal(back, frame, check_exact=True, check_row_order=False)


@given(st.lists(st.tuples(names, st.none() | names, st.integers(0, 9)), min_size=1))
def test_metadata_comes_back_as_it_was_written(rows: list[tuple[str, str | None, int]]) -> None:
    frame = pl.DataFrame(rows, {"document": pl.String, "artist": pl.String, "year": pl.Int64}, orient="row")
    assert_frame_equal(read(Json().write(frame, "metadata"), "metadata"), frame)


@pytest.mark.parametrize(
    ("text", "answer"), [(' \n{"a"', True), ("[", True), ("a,b", False), ("", False), ("\0", False)]
)
def test_the_format_is_told_from_the_first_character(text: str, answer: bool) -> None:
    assert Json().sniff(Source("a", text.encode()), "runs") is answer
