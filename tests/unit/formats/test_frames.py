"""Data frames, named tuples and dictionaries of Python."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest

from adjudge.errors import InputError
from adjudge.formats.json import frame_from_object

RUN = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [1.5, 0.5]}
ROWS = [("me", "q1", "a", 1.5), ("me", "q1", "b", 0.5)]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(RUN),
        pl.LazyFrame(RUN),
        pd.DataFrame(RUN),
        pd.DataFrame(RUN).astype({"query_id": object, "doc_id": "category"}),
        pd.DataFrame(RUN).convert_dtypes(),
        pd.DataFrame(RUN).set_index(["query_id", "doc_id"]),
        pd.DataFrame(RUN, index=[5, 9]),
    ],
)
def test_frames_of_either_library_give_the_same_table(frame: Any) -> None:
    assert frame_from_object(frame, "runs", name="me").rows() == ROWS
    assert frame_from_object(frame, "runs", name="me").rows() == ROWS


@pytest.mark.parametrize(
    "ids", [[7, 8], [7.0, 8.0], np.array([7, 8], dtype=object), np.array(["7", 8], dtype=object), pd.array([7, 8])]
)
def test_identifiers_that_are_numbers_become_text(ids: Any) -> None:
    frame = frame_from_object(pd.DataFrame({"qid": ids, "docno": "d", "label": 1}), "judgments", name="")
    assert frame["query"].to_list() == ["7", "8"]


def test_results_of_pyterrier_are_recognised() -> None:
    frame = pd.DataFrame(
        {"qid": ["1"], "docid": [5], "docno": ["d5"], "rank": [0], "score": [2.5], "query": ["what is music"]}
    )
    assert frame_from_object(frame, "runs", name="bm25").row(0) == ("bm25", "1", "d5", 2.5, 0)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_whatever_pandas_calls_missing_is_refused_with_its_row(missing: object) -> None:
    frame = pd.DataFrame({"query_id": ["q1", missing], "doc_id": ["a", "b"]})
    with pytest.raises(InputError, match=r"^row 2: expected a query in 'query_id', got nothing$"):
        frame_from_object(frame, "runs", name="me")


def test_a_missing_score_is_refused_with_its_row() -> None:
    with pytest.raises(InputError, match=r"^row 2: expected a finite number as score, got 'nan'$"):
        frame_from_object(pd.DataFrame(RUN | {"score": [1, None]}), "runs", name="me")


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


def test_dictionaries_and_records_are_recognised() -> None:
    assert frame_from_object({"q": {"d": 1}}, "runs", name="me").row(0) == ("me", "q", "d", 1.0)
    assert frame_from_object([{"query": "q", "doc": "d"}], "runs", name="me").row(0) == ("me", "q", "d")


def test_a_dictionary_of_frames_is_one_of_systems() -> None:
    frames = {"a": pl.DataFrame(RUN), "b": pd.DataFrame(RUN)}
    assert frame_from_object(frames, "runs", name="me")["system"].to_list() == ["a", "a", "b", "b"]
    frames["b"] = pl.DataFrame(RUN).drop("score")
    with pytest.raises(InputError, match="expected frames with the same columns, got system, query, "):
        frame_from_object(frames, "runs", name="me")


def test_a_list_of_frames_is_one_table() -> None:
    first, second = pl.DataFrame(RUN | {"run": "a"}), pd.DataFrame(RUN).assign(run="b")
    assert frame_from_object([first, second], "runs", name="me")["system"].to_list() == ["a", "a", "b", "b"]
    known = [pl.DataFrame({"id": [1], "artist": ["x"]}), pl.DataFrame({"id": [2], "genre": ["y"]})]
    assert frame_from_object(known, "metadata", name="").rows() == [("1", "x", None), ("2", None, "y")]


@pytest.mark.parametrize("obj", [3, "text", None])
def test_what_holds_no_table_is_refused(obj: object) -> None:
    with pytest.raises(InputError, match="expected runs as a table, got "):
        frame_from_object(obj, "runs", name="me")


def test_pandas_is_not_imported_without_need() -> None:
    code = "import adjudge.formats.json, sys; sys.exit('pandas' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
