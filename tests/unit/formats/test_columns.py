"""Known column names, and the plain tables made of any frame that has them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adjudge.errors import AdjudgeError, InputError, kept_warnings
from adjudge.formats import read
from adjudge.formats.base import Kind
from adjudge.formats.columns import COLUMNS, naming_columns, places_of
from adjudge.formats.effectiveness import read_effectiveness
from adjudge.formats.reading import read_judgments
from adjudge.formats.schema import SCHEMAS, Table, column_of, plain_table
from adjudge.formats.source import Source
from adjudge.groundtruth import read_lists, read_preferences, read_rankings
from adjudge.preferences.files import read_answers


def make(columns: dict[str, Any], kind: Kind = "runs", name: str = "me") -> pl.DataFrame:
    frame = pl.DataFrame(columns)
    return plain_table(Table(frame.columns, frame, Source("t", b""), at=lambda row: row), kind, name=name)


RUN: dict[str, list[Any]] = {"system": ["s"], "query": ["q"], "document": ["d"]}
JUDGED: dict[str, list[Any]] = {"query": ["q"], "document": ["d"], "grade": [1]}


@pytest.mark.parametrize("target", COLUMNS)
def test_no_name_stands_twice_for_one_thing(target: str) -> None:
    folded = [name for tier in COLUMNS[target].tiers for name in tier]
    assert len(folded) == len(set(folded))
    assert sum(map(len, COLUMNS[target].names)) == len(folded)


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        (("query", "_id", "_score"), "runs"),  # Elasticsearch
        (("query", "id", "score"), "runs"),  # Vespa
        (("userId", "movieId", "score"), "runs"),
        (("Query Text", "Doc ID", "Rating"), "judgments"),  # Quepid
        (("query", "docid", "rating"), "judgments"),
        (("userId", "movieId", "rating"), "judgments"),  # MovieLens
        (("query.id", "doc.id", "relevance"), "judgments"),  # R
        (("Input.query", "Input.doc_id", "Answer.rating"), "judgments"),  # Mechanical Turk
        (("query-id", "corpus-id", "score"), "judgments"),  # BEIR
        ((" Query-Id ", "DOCNO", "Score"), "runs"),
    ],
)
def test_the_columns_of_common_tools_are_known(columns: tuple[str, str, str], kind: Kind) -> None:
    with kept_warnings():
        frame = make({name: [value] for name, value in zip(columns, ("q", "d", 1), strict=True)}, kind)
    assert frame.select("query", "document", {"runs": "score", "judgments": "grade"}[kind]).row(0) == ("q", "d", 1.0)


def test_users_are_queries_only_where_nothing_else_is_and_that_is_said() -> None:
    with kept_warnings() as notes:
        frame = make({"userId": ["u"], "movieId": ["m"], "rating": [4]}, "judgments")
    assert frame.row(0, named=True) == {"query": "u", "document": "m", "grade": 4.0}
    assert notes == ["t: no column is named for the query; 'userId' is used, as recommenders answer users."]
    frame = make({"userId": ["u"], "query": ["q"], "movieId": ["m"], "rating": [4]}, "judgments")
    assert frame.row(0, named=True) == {"query": "q", "document": "m", "grade": 4.0, "assessor": "u"}


def test_an_id_beside_another_name_for_documents_is_refused_but_in_metadata() -> None:
    with pytest.raises(InputError, match=r"expected one column for the document, got 'id' and 'product'; say which it"):
        make({"id": [1], "query": ["q"], "product": ["p"], "rating": [1]}, "judgments")
    assert make({"id": [1], "song": ["Heroes"]}, "metadata").row(0) == ("1", "Heroes")


ODD = {"who": ["u", "u"], "what": ["m", "n"], "stars": [4, 0]}


@pytest.mark.parametrize(
    "columns", [{"query": "who", "document": "what", "grade": "stars"}, "query=who, document=what,grade=Stars"]
)
def test_the_user_can_say_which_column_holds_what(columns: Any, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    pl.DataFrame(ODD).write_csv(path)
    for given in (path, pl.DataFrame(ODD), [dict(zip(ODD, row, strict=True)) for row in pl.DataFrame(ODD).rows()]):
        assert read_judgments(given, columns=columns).by_pair() == {("u", "m"): 4.0, ("u", "n"): 0.0}


def test_a_column_that_the_user_names_is_nothing_else() -> None:
    with naming_columns("query=user_id,score=relevance"):
        frame = make({"user_id": ["u"], "query": ["text"], "doc": ["d"], "relevance": [0.5]})
    assert frame.row(0, named=True) == {"system": "me", "query": "u", "document": "d", "score": 0.5}


def test_a_table_without_the_named_column_is_read_by_the_usual_names() -> None:
    runs = pl.DataFrame({"query": ["u"], "document": ["m"], "score": [1.0]})
    collection = read(runs, pl.DataFrame(ODD), columns={"query": "who", "document": "what", "grade": "stars"})
    assert collection.need_judgments().by_pair() == {("u", "m"): 4.0, ("u", "n"): 0.0}


def test_a_column_that_holds_scores_of_runs_may_hold_grades_of_judgments() -> None:
    runs, judgments = (pl.DataFrame({"query": ["q"], "document": ["d"], "rating": [value]}) for value in (0.5, 2.0))
    collection = read(runs, judgments, columns="score=rating")
    assert collection.need_judgments().by_pair() == {("q", "d"): 2.0}


def test_every_reader_takes_the_names_of_columns(tmp_path: Path) -> None:
    def file(text: str) -> Path:
        path = tmp_path / "t.csv"
        path.write_text(text)
        return path

    eff = read_effectiveness(file("q,engine,result\n1,s,0.5\n"), columns="query=q,system=engine,value=result")
    assert (eff.queries, eff.systems, eff.values.tolist()) == (("1",), ("s",), [[[0.5]]])
    ranked = read_rankings(file("q,musician,piece,rank\nq,ann,a,1\nq,ann,b,2\n"), columns=PIECES)
    assert ranked.queries[0].experts == ("ann",)
    pairs = read_preferences(file("q,musician,x,y,said\nq,ann,a,b,a\n"), columns=PAIRS)
    assert pairs.queries[0].documents == ("a", "b")
    lists = read_lists(file("q,piece,group\nq,a,1\nq,b,2\n"), columns="query=q,document=piece")
    assert lists.lists[0].groups == (("a",), ("b",))
    study = read_answers(
        file("item,vote,who,query,a1,b1\n1,a,ann,q,x,y\n"), columns="question=item,choice=vote,assessor=who"
    )
    assert study.participants == ("ann",)


PIECES = "query=q,assessor=musician,document=piece"
PAIRS = "query=q,assessor=musician,document_a=x,document_b=y,answer=said"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("query=whom", r"^columns: expected 'whom' for the query, got the columns 'who', 'what' and 'stars'$"),
        ("qury=who", r"^No column is called 'qury'\. Did you mean 'query'\?$"),
        ("who", r"^columns: expected pairs such as query=userId,document=movieId, got 'who'$"),
        ("query=who,query=what", r"^columns: expected pairs such as"),
        ("expert=who,worker=what", "expected each thing once"),
        ({"score of all": "who"}, "No column is called 'score of all'"),
        ({"user_id": "who"}, "No column is called 'user_id'"),  # a query or an assessor
    ],
)
def test_names_that_say_nothing_are_refused(columns: Any, message: str) -> None:
    frame = pl.DataFrame({"who": ["u"], "what": ["m"], "stars": [1]})
    with pytest.raises(AdjudgeError, match=message), naming_columns(columns):
        places_of(frame.columns, "query")


def test_columns_come_in_canonical_order_and_types() -> None:
    frame = make({"team": ["t"], "rank": ["1"], "score": [3], "doc": [7], "qid": ["007"], "run": ["s"]})
    types = dict.fromkeys(("system", "query", "document"), pl.String)
    assert frame.schema == pl.Schema({**types, "score": pl.Float64, "rank": pl.Int64, "team": pl.String})
    assert frame.row(0) == ("s", "007", "7", 3.0, 1, "t")


def test_distances_change_their_sign() -> None:
    scores = make({"query": ["q", "q"], "doc": ["a", "b"], "distance": [0.0, 1.5]})["score"]
    assert str(scores.to_list()) == "[0.0, -1.5]"


def test_a_score_beside_a_grade_is_not_the_grade() -> None:
    assert make(JUDGED | {"score": [9]}, "judgments").row(0) == ("q", "d", 1.0)


def test_unknown_columns_of_runs_and_judgments_are_dropped() -> None:
    assert make(RUN | {"comment": ["x"]}).columns == ["system", "query", "document"]
    assert make(JUDGED | {"comment": ["x"]}, "judgments").columns == ["query", "document", "grade"]


@pytest.mark.parametrize(
    ("columns", "kind", "message"),
    [
        (JUDGED | {"fine": [1]}, "judgments", r"^t: expected one column for the grade, got 'grade' and 'fine'; say"),
        (RUN | {"distance": [1], "score": [1]}, "runs", "one column for the score, got 'distance' and 'score'"),
        (RUN | {"topic": ["q"]}, "runs", r"expected one column for the query, got 'query' and 'topic'"),
        ({"query": ["q"]}, "runs", r"^t: expected a column for the document \(document, .*\), got the columns 'query'"),
        ({"query": ["q"], "doc": ["d"]}, "judgments", r"expected a column for the grade .* 'query' and 'doc'; say"),
        ({"query": ["q"], "document": ["d"], "garde": [1]}, "judgments", "--columns grade=garde"),
        ({"artist": ["q"]}, "metadata", r"expected a column for the document .* 'artist'; say"),
        ({"doc_id": ["d"], "document": ["x"]}, "metadata", r"expected distinct names of columns, got 'document' twice"),
        ({"id": ["d"], "Artist": ["x"], "artist": ["y"]}, "metadata", r"distinct names of columns, got 'artist' twice"),
        ({"query": [], "doc": []}, "runs", r"^t: expected at least one row of data, got none$"),
        (RUN | {"rank": [1.5]}, "runs", r"^t:0: expected a whole number as rank, got '1\.5'$"),
        ({"query": ["q"], "doc": [["a"]]}, "runs", "expected text as document in 'doc', got a column of List"),
        (JUDGED | {"grade": [date(2020, 1, 1)]}, "judgments", "expected numbers as grade, got a column of Date"),
        (JUDGED | {"judge": [""]}, "judgments", r"^t:0: expected an assessor in 'judge', got nothing$"),
        ({"query": [float("nan")], "doc": ["a"]}, "runs", r"^t:0: expected a query, got nothing$"),
    ],
)
def test_columns_that_cannot_be_told_apart_or_found_are_refused(
    columns: dict[str, Any], kind: Kind, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        make(columns, kind)


@pytest.mark.parametrize(
    ("values", "came"),
    [
        ([1.0, None], "nothing"),
        ([1.0, float("nan")], "'nan'"),
        ([1.0, float("inf")], "'inf'"),
        (["1", "x"], "'x'"),
        (["1", ""], "nothing"),
        (["1", "1_0"], "'1_0'"),
    ],
)
@pytest.mark.parametrize(("kind", "target"), [("runs", "score"), ("judgments", "grade")])
def test_numbers_that_are_not_are_refused_with_their_row(values: list[Any], came: str, kind: Kind, target: str) -> None:
    with pytest.raises(InputError, match=f"^t:1: expected a finite number as {target}, got {came}$"):
        make({"query": ["q", "q"], "doc": ["a", "b"], target: values}, kind)


@pytest.mark.parametrize("missing", [None, "", "  \t"])
@pytest.mark.parametrize("target", ["system", "query", "document", "team"])
def test_empty_identifiers_are_refused_with_their_row(missing: str | None, target: str) -> None:
    columns: dict[str, list[Any]] = {name: ["x", "y"] for name in ("system", "query", "document", "team")}
    columns[target][1] = missing
    with pytest.raises(InputError, match=f"^t:1: expected a {target}, got nothing$"):
        make(columns)


def test_optional_columns_without_any_value_are_dropped() -> None:
    assert make(RUN | {"score": [None], "rank": [1], "team": [None]}).columns == ["system", "query", "document", "rank"]


def test_identifiers_lose_surrounding_spaces_and_whole_floats_their_zero() -> None:
    assert make({"query": [7.0, 7.5], "doc": [" a b ", "c\n"]}).rows() == [("me", "7", "a b"), ("me", "7.5", "c")]


def test_metadata_keeps_every_named_column() -> None:
    frame = make(
        {"": [0], "track": ["Song"], "track_id": [12], "Artist": [7], "YEAR": [1990], "BPM": [None]}, "metadata"
    )
    assert frame.row(0, named=True) == {"document": "12", "track": "Song", "artist": "7", "year": 1990, "BPM": None}


@pytest.mark.parametrize(
    ("names", "kind", "answer"),
    [
        (["a", "qid", "b"], "runs", True),
        (["a", "b", "Doc"], "judgments", True),
        (["method", "score", "x"], "runs", True),
        (["model", "q1", "d1"], "runs", False),
        (["id", "x"], "metadata", True),
        (["code", "Artist"], "metadata", True),
        (["0001e0", "898f04", "282918"], "metadata", False),
    ],
)
def test_a_header_is_told_from_data(names: list[str], kind: Kind, answer: bool) -> None:
    assert SCHEMAS[kind].is_header(names) is answer


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2.5, None], [1.0, 2.5, None]),
        ([1, "a"], ["1", "a"]),
        (["a", None], ["a", None]),
        ([10**30, 1], [10**30, 1]),
    ],
)
def test_python_values_become_columns(values: list[Any], expected: list[Any]) -> None:
    assert column_of("x", values).to_list() == expected


@pytest.mark.parametrize("value", ["\ud800", 10**400])
def test_values_that_no_column_can_hold_are_refused(value: object) -> None:
    with pytest.raises(InputError, match="expected values that can be stored as x"):
        column_of("x", [value, 1.5])


@pytest.mark.parametrize("name", ["expert", "worker", "assessor", "Worker-ID"])
def test_what_a_column_holds_may_be_said_by_any_name_that_means_nothing_else(name: str) -> None:
    frame = pl.DataFrame({"query": "q", "who": ["x", "y"], "document": "d", "grade": 1})
    assert read_judgments(frame, columns={name: "who"}).assessors == ("x", "y")
