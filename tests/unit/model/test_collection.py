"""Runs and judgments: one rule each for ties, duplicates and what is missing."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.model.collection import Collection, Table, build_collection


def _rankings(collection: Collection) -> dict[tuple[str, str], list[str]]:
    frame = collection.runs.to_polars()
    return {
        (system, query): rows["document"].to_list()
        for (system, query), rows in frame.group_by("system", "query", maintain_order=True)
    }


scored_rows = st.lists(
    st.tuples(
        st.sampled_from("pqr"),
        st.sampled_from(["a", "B", "é", "ä", "10", "9"]),
        st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 2.5]),
    ),
    unique_by=lambda row: row[:2],
    min_size=1,
)


@given(scored_rows)
def test_rankings_are_by_score_in_single_precision_then_by_identifier_backwards(
    rows: list[tuple[str, str, float]],
) -> None:
    frame = pl.DataFrame(rows, schema=["query", "document", "score"], orient="row").with_columns(system=pl.lit("s"))
    found = _rankings(build_collection([Table(frame, "test")]))
    for query in {row[0] for row in rows}:
        mine = [row for row in rows if row[0] == query]
        mine.sort(key=lambda row: row[1].encode(), reverse=True)
        mine.sort(key=lambda row: np.float32(row[2]), reverse=True)
        assert found["s", query] == [row[1] for row in mine]


def test_shuffled_lines_give_the_same_rankings() -> None:
    rows = [(s, q, f"d{d}", float(d % 7)) for s in "xyz" for q in ("q1", "q2", "q10") for d in range(40)]
    schema = ["system", "query", "document", "score"]
    sorted_runs = _rankings(build_collection([Table(pl.DataFrame(rows, schema=schema, orient="row"), "a")]))
    random.Random(1).shuffle(rows)
    assert _rankings(build_collection([Table(pl.DataFrame(rows, schema=schema, orient="row"), "b")])) == sorted_runs


def test_without_scores_ranks_or_else_the_order_given_decide() -> None:
    plain = {"system": ["s"] * 3, "query": ["q"] * 3, "document": ["a", "b", "c"]}
    assert _rankings(build_collection([Table(pl.DataFrame(plain), "t")]))["s", "q"] == ["a", "b", "c"]
    ranked = pl.DataFrame({**plain, "rank": [3, 1, 2]})
    assert _rankings(build_collection([Table(ranked, "t")]))["s", "q"] == ["b", "c", "a"]


@pytest.mark.parametrize("lengths", [(3, 3), (3, 50)], ids=["even", "uneven"])
def test_a_document_twice_keeps_its_best_rank(lengths: tuple[int, int]) -> None:
    run = {f"q{i}": [f"d{j}" for j in range(n)] for i, n in enumerate(lengths)}
    run["q0"].append("d1")
    with pytest.warns(aj.AdjudgeWarning, match="keep their best rank: 1 in 1 system, first 'd1'"):
        collection = aj.read({"s": run})
    assert _rankings(collection)["s", "q0"] == ["d0", "d1", "d2"]


def test_queries_first_seen_in_a_later_run_are_empty_in_earlier_ones() -> None:
    collection = aj.read({"one": {"q1": ["a"]}, "two": {"q2": ["a", "b"]}}, {"q3": {"a": 1}})
    assert list(collection.queries) == ["q3", "q1", "q2"]
    assert [run.lengths.tolist() for run in collection.runs] == [[0, 1, 0], [0, 0, 2]]


def test_depth_keeps_the_top_of_every_ranking() -> None:
    collection = aj.read({"s": {"q1": list("abcd"), "q2": list("ab")}}, depth=3)
    assert _rankings(collection) == {("s", "q1"): list("abc"), ("s", "q2"): list("ab")}
    assert collection.runs.depth == 3


def test_the_artist_filter_removes_the_query_and_its_artist() -> None:
    metadata = pl.DataFrame({"document": ["q", "a", "b", "c"], "artist": ["X", "X", "Y", None]})
    runs = {"s": {"q": ["q", "a", "b", "c", "unknown"]}}
    collection = aj.read(runs, metadata=metadata, artist_filter=True)
    assert _rankings(collection)["s", "q"] == ["b", "c", "unknown"]
    metadata = pl.DataFrame({"document": ["a"], "artist": ["X"]})
    with pytest.warns(aj.AdjudgeWarning, match="removed nothing by artist"):
        aj.read({"s": {"q": ["a"]}}, metadata=metadata, artist_filter=True)


def test_several_assessors_have_the_mean_of_their_grades_or_what_is_asked_for() -> None:
    judgments = {"q": {"a": {"ann": 0, "ben": 1, "cem": 2}, "b": {"ann": 2, "ben": 2, "cem": 0}}}
    collection = aj.read({"s": {"q": ["a", "b"]}}, judgments, scale="broad")
    for how, expected in (("mean", [1, 4 / 3]), ("median", [1, 2]), ("min", [0, 0]), ("max", [2, 2])):
        assert collection.combined(how).need_judgments().pool.grades.tolist() == pytest.approx(expected)  # type: ignore[arg-type]


def test_a_document_judged_for_sub_topics_has_its_highest_grade() -> None:
    judged = {"query": ["q"] * 3, "document": ["a", "a", "b"], "grade": [0.0, 2.0, 1.0]}
    frame = pl.DataFrame({**judged, "assessor": ["ann", "ann", "bob"], "subtopic": ["1", "2", "1"]})
    collection = aj.read({"s": {"q": ["a", "b"]}}, frame)
    assert collection.need_judgments().pool.grades.tolist() == [2, 1]
    assert collection.need_judgments().to_polars().sort("document", "subtopic").equals(frame)


def test_the_same_judgment_twice_counts_once_with_a_warning() -> None:
    frame = pl.DataFrame({"query": ["q", "q"], "document": ["a", "a"], "grade": [1.0, 1.0]})
    with pytest.warns(aj.AdjudgeWarning, match="1 judgment repeated with the same grade"):
        collection = aj.read({"s": {"q": ["a"]}}, frame)
    assert len(collection.need_judgments()) == 1


def test_teams_come_from_a_mapping_or_a_column() -> None:
    collection = aj.read({"a1": {"q": ["x"]}, "b1": {"q": ["x"]}}, teams={"a1": "A"})
    assert collection.runs.teams == {"a1": "A"}
    with pytest.warns(aj.AdjudgeWarning, match="Teams are given for systems without a run: zz"):
        aj.read({"a1": {"q": ["x"]}}, teams={"zz": "Z"})


def test_metadata_become_codes_with_minus_one_for_the_unknown() -> None:
    metadata = pl.DataFrame({"document": ["a", "b", "c"], "genre": ["Jazz", None, "Jazz"]})
    collection = aj.read({"s": {"q": ["z", "b", "a"]}}, metadata=metadata)
    assert collection.metadata is not None
    codes, names = collection.metadata.values("genre")
    assert names == ("Jazz",)
    assert dict(zip(collection.documents, codes.tolist(), strict=True)) == {"a": 0, "b": -1, "c": 0, "z": -1}
    with pytest.raises(aj.AdjudgeError, match=r"'gnre'.*'genre'"):
        collection.metadata.values("gnre")
    metadata = pl.DataFrame({"document": ["a", "a"], "genre": ["Jazz", "Rock"]})
    with pytest.raises(aj.InputError, match=r"one row per document.*got several different ones for 'a'"):
        aj.read({"s": {"q": ["a"]}}, metadata=metadata)
