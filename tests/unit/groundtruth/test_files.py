"""Files of rankings, and of either kind: what is written comes back, quirks are survived, faults have a line."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.errors import AdjudgeError, InputError, kept_warnings
from adjudge.groundtruth import Rankings
from adjudge.groundtruth.files import read_experts, read_lists, read_preferences, read_rankings, write_rankings

RANKED = (
    "query,expert,document,rank\nq1,Ann,a,1\nq1,Ann,b,2\nq1,Ann,c,\nq1,Bob,b,1\nq1,Bob,a,1\nq2,Ann,a,2\nq2,Ann,z,1\n"
)
WIDE = "query,document,Ann,Bob\nq1,a,1,1\nq1,b,2,1\nq1,c,,\nq2,a,2,\nq2,z,1,\n"
PREFERRED = "query,document_a,document_b,answer,assessor\nq1,a,b,a,ann\nq1,b,c,same,ann\nq1,a,c,b,bob\nq2,x,y,a,bob\n"
Given = Callable[[str | bytes], Path]

name = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)
quiet = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def ranks_of(rankings: Rankings) -> dict[str, dict[tuple[str, str], float]]:
    """Ranks that were given, by query, expert and document."""
    return {
        one.query: {
            (expert, document): float(one.ranks[i, j])
            for i, expert in enumerate(one.experts)
            for j, document in enumerate(one.documents)
            if np.isfinite(one.ranks[i, j])
        }
        for one in rankings.queries
    }


HELD = {
    "q1": {("Ann", "a"): 1.0, ("Ann", "b"): 2.0, ("Bob", "a"): 1.5, ("Bob", "b"): 1.5},
    "q2": {("Ann", "a"): 2.0, ("Ann", "z"): 1.0},
}


def same_rankings(one: Rankings, other: Rankings) -> bool:
    return len(one.queries) == len(other.queries) and all(
        (a.query, a.documents, a.experts) == (b.query, b.documents, b.experts)
        and np.array_equal(a.ranks, b.ranks, equal_nan=True)
        for a, b in zip(one.queries, other.queries, strict=True)
    )


def test_rows_of_ranks_are_read(file: Given) -> None:
    rankings = read_rankings(file(RANKED))
    assert ranks_of(rankings) == HELD
    assert rankings.queries[0].documents == ("a", "b", "c")
    assert rankings.queries[0].experts == ("Ann", "Bob")


def test_a_file_is_read_as_rows_are(file: Given) -> None:
    lines = [line.split(",") for line in RANKED.splitlines()[1:]]
    rows = [(query, expert, document, float(rank or "nan")) for query, expert, document, rank in lines]
    assert same_rankings(read_rankings(file(RANKED)), Rankings.from_rows(rows))


@pytest.mark.parametrize(
    "data",
    [
        RANKED.replace("\n", "\r\n").encode(),
        RANKED.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + RANKED.encode(),
        RANKED.replace(",", "\t").encode(),
        RANKED.replace(",", ";").encode(),
        RANKED.replace(",", " , ").encode(),
        ("sep=;\n" + RANKED.replace(",", ";")).encode(),
        RANKED.replace("\n", "\n\n").encode(),
        RANKED.replace("\n", "\n,,,\n").encode(),
        RANKED.rstrip("\n").encode(),
        ("# ranked in May\n\n" + RANKED.replace("q2,", "# q2 from here\nq2,", 1)).encode(),
        gzip.compress(RANKED.encode(), mtime=0),
        RANKED.replace("q1,Ann,c,\n", "q1,Ann,c,-\n").encode(),
        RANKED.replace("q1,Ann,c,\n", "q1,Ann,c,Unranked\n").encode(),
        RANKED.replace("q1,Ann,c,\n", 'q1,Ann,c,""\n').encode(),
        RANKED.replace("Bob,b,1", "Bob,b,3.5").replace("Bob,a,1", '"Bob",a,3.50').encode(),
        RANKED.replace(",", ";").replace("Bob;b;1", "Bob;b;1,5").replace("Bob;a;1", "Bob;a;1,5").encode(),
        RANKED.replace("query,expert,document,rank", "Topic ID,Participant,Incipit,Position").encode(),
        RANKED.replace("query,expert,document,rank", "Input.query,WorkerId,Input.doc,Answer.rank").encode(),
        WIDE.encode(),
        WIDE.replace("\n", ",,\n").encode(),
    ],
)
def test_quirks_of_files_change_nothing(file: Given, data: bytes) -> None:
    rankings = read_experts(file(data))
    assert isinstance(rankings, Rankings)
    assert ranks_of(rankings) == HELD
    assert rankings.queries[0].documents == ("a", "b", "c")


def test_names_in_any_script_stay_as_they_are(file: Given) -> None:
    text = "query,expert,document,rank\nΩ,Łukasz,Björk – 音楽.mp3,1\nΩ,Łukasz,no\u00a0break,2\n"
    asked = read_rankings(file(text)).queries[0]
    assert (asked.query, asked.experts, asked.documents) == ("Ω", ("Łukasz",), ("Björk – 音楽.mp3", "no\u00a0break"))


def test_columns_for_other_things_are_passed_over(file: Given) -> None:
    text = "".join(f"{line},{extra}\n" for line, extra in zip(RANKED.splitlines(), ["note", *"abcdefg"], strict=True))
    assert ranks_of(read_rankings(file(text))) == HELD


def test_ranks_may_be_taken_as_they_came(file: Given) -> None:
    rankings = read_rankings(file(RANKED.replace("Ann,b,2", "Ann,b,7.5")), places="given")
    assert ranks_of(rankings)["q1"]["Ann", "b"] == 7.5
    assert ranks_of(rankings)["q1"]["Bob", "b"] == 1.0


def test_experts_of_a_wide_table_who_ranked_nothing_for_a_query_were_not_asked(file: Given) -> None:
    rankings = read_rankings(file(WIDE))
    assert [one.experts for one in rankings.queries] == [("Ann", "Bob"), ("Ann",)]


def test_experts_called_a_and_b_make_no_preferences(file: Given) -> None:
    assert isinstance(read_experts(file(WIDE.replace("Ann", "A").replace("Bob", "B"))), Rankings)


@pytest.mark.parametrize(
    "content",
    [
        {"q1": {"Ann": [["a"], ["b"]], "Bob": [["b", "a"]]}, "q2": {"Ann": [["z"], ["a"]]}},
        {"q1": {"Ann": ["a", "b"], "Bob": [["b", "a"]]}, "q2": {"Ann": ["z", "a"], "Bob": []}},
        {"q1": {"Ann": {"a": 1, "b": 2, "c": None}, "Bob": {"b": 4, "a": 4}}, "q2": {"Ann": {"a": 2, "z": 1}}},
    ],
)
def test_rankings_in_json_are_read(file: Given, content: object) -> None:
    assert ranks_of(read_rankings(file(json.dumps(content)))) == HELD
    assert ranks_of(read_rankings(file(json.dumps(content, indent=2)))) == HELD


def test_records_are_read_from_json_and_parquet(file: Given, tmp_path: Path) -> None:
    frame = pl.read_csv(RANKED.encode())
    records = [json.dumps(row) for row in frame.iter_rows(named=True)]
    assert ranks_of(read_rankings(file("\n".join(records)))) == HELD
    assert ranks_of(read_rankings(file(f"[{', '.join(records)}]"))) == HELD
    frame.write_parquet(tmp_path / "ranks.pq")
    assert ranks_of(read_rankings(tmp_path / "ranks.pq")) == HELD


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (RANKED + "q1,Ann,a,3\n", 9, "expected one row for each .* query 'q1', expert 'Ann' and document 'a'"),
        (RANKED + "q1,Ann,a,1\n", 9, "expected one row for each"),
        (RANKED + "\nq1,Ann,d,first\n", 10, "expected a rank of more than 0, or nothing, got 'first'"),
        (RANKED + "q1,Ann,d,0\n", 9, "expected a rank of more than 0, or nothing, got '0'"),
        (RANKED + "q1,Ann,d,-2\n", 9, "expected a rank of more than 0, or nothing, got '-2'"),
        (RANKED + "q1,Ann,d,inf\n", 9, "expected a rank of more than 0, or nothing, got 'inf'"),
        (RANKED + "q1, ,d,2\n", 9, "expected an expert, got nothing"),
        (RANKED + ",Ann,d,2\n", 9, "expected a query, got nothing"),
        (RANKED + "q1,Ann,,2\n", 9, "expected a document, got nothing"),
        (RANKED + "q1,Ann,d\n", 9, "expected 4 columns, got 3"),
        (RANKED + "q3,Ann,d,1\n", 9, "Query 'q3': expected at least two documents to compare, got one document, 'd'"),
        (RANKED + "q3,Ann,d,\nq3,Ann,e,\n", 9, "Query 'q3': expected ranks from at least one expert, got none"),
        (RANKED.replace("expert", "who"), 1, r"expected a column for the assessor \(.*got the columns 'qu"),
        (RANKED.replace("rank", "score"), 1, r"expected a column for the rank \(rank, "),
        (RANKED.replace("query", "list"), 1, r"expected a column for the query \(query, "),
        (RANKED.replace("rank", "worker"), 1, r"expected a column for the rank \("),
        ("query,document\nq1,a\nq1,b\n", 1, r"expected a column for the assessor \("),
        (WIDE + "q2,a,3,\n", 7, "expected one row for each .* query 'q2', expert 'Ann' and document 'a'"),
        (WIDE + "q2,b,3,x\n", 7, "expected a rank of more than 0, or nothing in 'Bob', got 'x'"),
        (WIDE + "q3,b,,\nq3,c,,\n", 7, "Query 'q3': expected ranks from at least one expert, got none"),
        ("," + WIDE.replace("\n", "\n0,").removesuffix("0,"), 1, "expected the name of an expert above column 1"),
        (PREFERRED, 1, "expected rankings .*, got preferences"),
        ("query,expert,document,rank\n", None, "expected at least one row of data, got none"),
        ("# nothing\n", None, "expected data, got only comments"),
        ('{"q": {"ann": ["a", "b"]}, "r": 3}', None, "r: expected {expert: .*, got '3'"),
        ('{"q": {"ann": 3}}', None, "q > ann: expected documents in order, got '3'"),
        ('{"q": {"ann": [["a"], []]}}', None, "q > ann: expected documents at place 2"),
        ('{"q": {"ann": ["a", null]}}', None, "q > ann: expected a name, got 'None'"),
        ('{"q": {"ann": {"a": 1, "b": 0}}}', None, "q > ann > b: expected a rank of more than 0, or null, got '0'"),
        ('{"q": {"ann": ["a", "b", "a"]}}', None, "Query 'q': expected each document once"),
        ('{"q": {"ann": ["a"]}}', None, "Query 'q': expected at least two documents"),
        ('{"q": {"ann": []}}', None, "expected at least one ranking, got none"),
        ('{"q": {"ann": ["a"]}, "q": {"ann": ["b"]}}', None, "expected JSON, got the key 'q' twice"),
        ('["a", "b"]', None, "row 1: expected a record with names and values, got 'a'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_rankings_is_told_with_its_line(
    file: Given, text: str, line: int | None, message: str
) -> None:
    path = file(text)
    place = f"{path}:{line}: " if line else f"{path}: "
    with pytest.raises(InputError, match=rf"^{place}{message}[^\n]*$"):
        read_rankings(path)


@st.composite
def some_rankings(draw: st.DrawFn) -> Rankings:
    rows = []
    for query in draw(st.lists(name, min_size=1, max_size=3, unique=True)):
        documents = draw(st.lists(name, min_size=2, max_size=5, unique=True))
        for expert in draw(st.lists(name, min_size=1, max_size=3, unique=True)):
            ranks = st.one_of(st.just(float("nan")), st.integers(1, 6).map(float), st.floats(0.5, 9))
            rows += [(query, expert, documents[0], 1.0)]
            rows += [(query, expert, document, draw(ranks)) for document in documents[1:]]
    return Rankings.from_rows(rows, places=draw(st.sampled_from(("counted", "given"))))


@quiet
@given(rankings=some_rankings(), suffix=st.sampled_from(("csv", "csv.gz", "tsv", "parquet", "json", "jsonl")))
def test_rankings_come_back_as_they_were_written(tmp_path: Path, rankings: Rankings, suffix: str) -> None:
    path = tmp_path / f"ranks.{suffix}"
    write_rankings(rankings, path)
    assert same_rankings(read_rankings(path, places=rankings.places), rankings)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "ranks.groups",
            "expected rankings to be written as csv, tsv, parquet, jsonl, json, got a name that says groups",
        ),
        ("ranks.pdf", "expected a suffix that says how to write"),
    ],
)
def test_rankings_are_not_written_as_what_they_are_not(tmp_path: Path, file: Given, target: str, message: str) -> None:
    rankings = read_rankings(file(RANKED))
    with pytest.raises(AdjudgeError, match=message):
        write_rankings(rankings, tmp_path / target)
    assert not (tmp_path / target).exists()


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_names_that_a_file_would_not_give_back_are_not_written(tmp_path: Path, suffix: str) -> None:
    rankings = Rankings.from_rows([("q", "ann", "a", 1), ("q", "ann", "b ", 2)])
    with pytest.raises(InputError, match="expected a document that a file can hold, got 'b '"):
        write_rankings(rankings, tmp_path / f"ranks.{suffix}")


def test_columns_that_hold_no_text_are_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query": ["q", "q"], "expert": "e", "document": [["a"], ["b"]], "rank": [1, 2]})
    frame.write_parquet(tmp_path / "ranks.parquet")
    with pytest.raises(InputError, match=r"ranks\.parquet: expected text as document, got a column of List"):
        read_rankings(tmp_path / "ranks.parquet")


def refusal(path: Path) -> str | None:
    """What a file is refused with, None where it is read."""
    try:
        with kept_warnings():
            read_experts(path)
    except AdjudgeError as error:
        return str(error)
    return None


@pytest.mark.parametrize("whole", [RANKED, WIDE, PREFERRED, json.dumps({"q": {"ann": ["a", ["b", "c"]]}})])
def test_a_broken_file_is_read_or_refused_in_one_line(file: Given, whole: str) -> None:
    generator = random.Random(1)
    for _ in range(60):
        broken = bytearray(whole[: generator.randrange(1, len(whole) + 1)].encode())
        broken[generator.randrange(len(broken))] = generator.choice(b'ab1,;\t"\n{}[]:#\0\xff')
        said = refusal(file(bytes(broken)))
        assert said is None or (said.startswith(str(file(b""))) and "\n" not in said)


def test_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    for read in (read_experts, read_rankings, read_preferences, read_lists):
        with pytest.raises(InputError, match=r"missing\.csv: cannot be read: no such file"):
            read(tmp_path / "missing.csv")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "query,expert,document,rank\nbad,ann,x,1\nq,ann,x,1\nq,ann,y,2\n"),
        ("r.json", '{"bad": {"ann": 7}, "q": {"ann": ["x", "y"]}}'),
        ("p.csv", "query,document_a,document_b,answer\nbad,x,x,?\nq,x,y,a\n"),
    ],
)
def test_queries_left_out_are_not_looked_at(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert [one.query for one in read_experts(path, without=["bad"]).queries] == ["q"]
    with pytest.raises(InputError) as refused:
        read_experts(path)
    assert "--without" not in str(refused.value)
    with pytest.raises(AdjudgeError, match="No query is called 'none'"):
        read_experts(path, without=["bad", "none"])
    with pytest.raises(AdjudgeError, match="expected at least one query to be left, got none"):
        read_experts(path, without=["bad", "q"])


def test_lines_are_those_of_the_file_where_queries_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("query,expert,document,rank\nbad,ann,x,1\nq,ann,x,1\nq,ann,y,none such\n")
    with pytest.raises(InputError, match=r"r\.csv:4: expected a rank"):
        read_rankings(path, without={"bad"})
