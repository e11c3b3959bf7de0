"""Files of rankings, preferences and lists: what is written comes back, quirks are survived, faults have a line."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.errors import AdjudgeError, InputError, kept_warnings
from adjudge.groundtruth import PartialLists, Preferences, Rankings
from adjudge.groundtruth.files import (
    read_experts,
    read_lists,
    read_preferences,
    read_rankings,
    write_lists,
    write_preferences,
    write_rankings,
)

RANKED = (
    "query,expert,document,rank\nq1,Ann,a,1\nq1,Ann,b,2\nq1,Ann,c,\nq1,Bob,b,1\nq1,Bob,a,1\nq2,Ann,a,2\nq2,Ann,z,1\n"
)
WIDE = "query,document,Ann,Bob\nq1,a,1,1\nq1,b,2,1\nq1,c,,\nq2,a,2,\nq2,z,1,\n"
PREFERRED = "query,document_a,document_b,answer,assessor\nq1,a,b,a,ann\nq1,b,c,same,ann\nq1,a,c,b,bob\nq2,x,y,a,bob\n"
Write = Callable[[str | bytes], Path]

name = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)
quiet = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def file(tmp_path: Path) -> Write:
    """Write a file and give its path."""

    def write(content: str | bytes) -> Path:
        path = tmp_path / "given.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def ranks_of(rankings: object) -> dict[str, dict[tuple[str, str], float]]:
    """Ranks that were given, by query, expert and document."""
    assert isinstance(rankings, Rankings)
    return {
        asked.query: {
            (expert, document): float(asked.ranks[i, j])
            for i, expert in enumerate(asked.experts)
            for j, document in enumerate(asked.documents)
            if np.isfinite(asked.ranks[i, j])
        }
        for asked in rankings.queries
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


def test_a_file_is_read_as_rows_are(file: Write) -> None:
    lines = [line.split(",") for line in RANKED.splitlines()[1:]]
    rows = [(query, expert, document, float(rank or "nan")) for query, expert, document, rank in lines]
    assert same_rankings(read_rankings(file(RANKED)), Rankings.from_rows(rows))
    assert ranks_of(read_rankings(file(RANKED))) == HELD


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
        "".join(f"{line},note\n" for line in RANKED.splitlines()).encode(),
        WIDE.encode(),
        WIDE.replace("\n", ",,\n").encode(),
    ],
)
def test_quirks_of_files_change_nothing(file: Write, data: bytes) -> None:
    rankings = read_experts(file(data))
    assert ranks_of(rankings) == HELD
    assert rankings.queries[0].documents == ("a", "b", "c")


def test_names_in_any_script_stay_as_they_are(file: Write) -> None:
    text = "query,expert,document,rank\nΩ,Łukasz,Björk – 音楽.mp3,1\nΩ,Łukasz,no\u00a0break,2\n"
    asked = read_rankings(file(text)).queries[0]
    assert (asked.query, asked.experts, asked.documents) == ("Ω", ("Łukasz",), ("Björk – 音楽.mp3", "no\u00a0break"))


def test_ranks_may_be_taken_as_they_came(file: Write) -> None:
    ranks = ranks_of(read_rankings(file(RANKED.replace("Ann,b,2", "Ann,b,7.5")), places="given"))["q1"]
    assert (ranks["Ann", "b"], ranks["Bob", "b"]) == (7.5, 1.0)


def test_experts_of_a_wide_table_who_ranked_nothing_for_a_query_were_not_asked(file: Write) -> None:
    rankings = read_experts(file(WIDE.replace("Ann", "A").replace("Bob", "B")))
    assert isinstance(rankings, Rankings), "experts called a and b make no preferences"
    assert [asked.experts for asked in rankings.queries] == [("A", "B"), ("A",)]


@pytest.mark.parametrize(
    "content",
    [
        {"q1": {"Ann": [["a"], ["b"]], "Bob": [["b", "a"]]}, "q2": {"Ann": [["z"], ["a"]]}},
        {"q1": {"Ann": ["a", "b"], "Bob": [["b", "a"]]}, "q2": {"Ann": ["z", "a"], "Bob": []}},
        {"q1": {"Ann": {"a": 1, "b": 2, "c": None}, "Bob": {"b": 4, "a": 4}}, "q2": {"Ann": {"a": 2, "z": 1}}},
    ],
)
def test_rankings_in_json_are_read(file: Write, content: object) -> None:
    assert ranks_of(read_rankings(file(json.dumps(content)))) == HELD
    assert ranks_of(read_rankings(file(json.dumps(content, indent=2)))) == HELD


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (RANKED + "q1,Ann,a,3\n", 9, "expected one row for each .* query 'q1', expert 'Ann' and document 'a'"),
        (RANKED + "\nq1,Ann,d,first\n", 10, "expected a rank of more than 0, or nothing, got 'first'"),
        (RANKED + "q1,Ann,d,0\n", 9, "expected a rank of more than 0, or nothing, got '0'"),
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
    file: Write, text: str, line: int | None, message: str
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
        ("ranks.groups", "as csv, tsv, parquet, jsonl or json, got a name that says groups"),
        ("ranks.pdf", "expected a suffix that says how to write"),
        ("ranks.csv", "expected a document that a file can hold, got 'b '"),
        ("ranks.tsv", "expected a document that a file can hold, got 'b '"),
        ("ranks.jsonl", "expected a document that a file can hold, got 'b '"),
    ],
)
def test_what_a_file_would_not_give_back_is_not_written(tmp_path: Path, target: str, message: str) -> None:
    rankings = Rankings.from_rows([("q", "ann", "a", 1), ("q", "ann", "b ", 2)])
    with pytest.raises(AdjudgeError, match=message):
        write_rankings(rankings, tmp_path / target)
    assert not (tmp_path / target).exists()


def refusal(path: Path) -> str | None:
    """What a file is refused with, None where it is read."""
    try:
        with kept_warnings():
            read_experts(path)
    except AdjudgeError as error:
        return str(error)
    return None


@pytest.mark.parametrize("whole", [RANKED, WIDE, PREFERRED, json.dumps({"q": {"ann": ["a", ["b", "c"]]}})])
def test_a_broken_file_is_read_or_refused_in_one_line(file: Write, whole: str) -> None:
    generator = random.Random(1)
    for _ in range(60):
        broken = bytearray(whole[: generator.randrange(1, len(whole) + 1)].encode())
        broken[generator.randrange(len(broken))] = generator.choice(b'ab1,;\t"\n{}[]:#\0\xff')
        said = refusal(file(bytes(broken)))
        assert said is None or (said.startswith(str(file(b""))) and "\n" not in said)


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
    assert [asked.query for asked in read_experts(path, without=["bad"]).queries] == ["q"]
    with pytest.raises(InputError) as refused:
        read_experts(path)
    assert "--without" not in str(refused.value)
    with pytest.raises(AdjudgeError, match="No query is called 'none'"):
        read_experts(path, without=["bad", "none"])
    with pytest.raises(AdjudgeError, match="expected at least one query to be left, got none"):
        read_experts(path, without=["bad", "q"])


def test_lines_are_those_of_the_file_where_queries_are_left_out(file: Write) -> None:
    path = file("query,expert,document,rank\nbad,ann,x,1\nq,ann,x,1\nq,ann,y,none such\n")
    with pytest.raises(InputError, match=r"given\.csv:4: expected a rank"):
        read_rankings(path, without={"bad"})


def test_answers_are_read(file: Write) -> None:
    preferences = read_experts(file(PREFERRED))
    assert isinstance(preferences, Preferences)
    assert preferences.assessors == ("ann", "bob")
    first = preferences.queries[0]
    assert first.documents == ("a", "b", "c")
    columns = np.stack([first.first, first.second, first.answer, first.assessor])
    assert columns.tolist() == [[0, 1, 0], [1, 2, 2], [1, 0, -1], [0, 0, 1]]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("query,document_a,document_b,answer,assessor", {"a": "A", "b": "B", "same": "Same"}),
        ("topic,doc1,doc2,choice,worker", {"a": "1", "b": "2", "same": "tie"}),
        ("qid,left,right,preference,user", {"a": "left", "b": "right", "same": "="}),
        ("query,a,b,answer,judge", {"a": ">", "b": "<", "same": "s"}),
        ("query,first,second,answer,rater", {"a": "1", "b": "-1", "same": "0"}),
    ],
)
def test_answers_go_by_many_names(file: Write, header: str, words: dict[str, str]) -> None:
    lines = [line.split(",") for line in PREFERRED.splitlines()[1:]]
    rows = [",".join([*line[:3], words[line[3]], line[4]]) for line in lines]
    plain, other = read_preferences(file(PREFERRED)), read_preferences(file("\n".join([header, *rows])))
    for one, two in zip(plain.queries, other.queries, strict=True):
        assert np.array_equal(one.wins, two.wins)
        assert np.array_equal(one.alike, two.alike)


def test_without_a_column_for_them_nobody_knows_who_answered(file: Write) -> None:
    text = "".join(line.rsplit(",", 1)[0] + "\n" for line in PREFERRED.splitlines())
    preferences = read_preferences(file(text))
    assert preferences.assessors == ()
    assert preferences.queries[0].assessor.tolist() == [-1, -1, -1]


def test_blank_answers_are_counted_and_left_out_aloud(file: Write) -> None:
    path = file(PREFERRED + "q1,a,b,,ann\nq1,a,b,-,bob\nq3,m,n, ,bob\n")
    with kept_warnings() as said:
        preferences = read_preferences(path)
    assert said == [f"{path}: left out 3 blank answers of 7; nothing is left of 1 query."]
    assert (preferences.n_blank, preferences.n_answers, len(preferences.queries)) == (3, 4, 2)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q1,a,a,b,ann", "expected two documents, got 'a' against itself"),
        ("q1,a,b,maybe,ann", "expected a, b or same as answer, got 'maybe'"),
        ("q1,a,b,a,", "expected an expert, got nothing"),
        ("q1,,b,a,ann", "expected a first document, got nothing"),
        ("q1,a,,a,ann", "expected a second document, got nothing"),
        (",a,b,a,ann", "expected a query, got nothing"),
        ("q1,a,b,a", "expected 5 columns, got 4"),
    ],
)
def test_what_is_wrong_with_an_answer_is_told_with_its_line(file: Write, row: str, message: str) -> None:
    path = file(f"{PREFERRED}\n{row}\n")
    with pytest.raises(InputError, match=f"^{path}:7: {message}$"):
        read_preferences(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,document_a,document_b,answer\nq,a,b,\n", "expected at least one answer, got only blank ones"),
        (RANKED, r"expected a column for the first document \(document_a, "),
        ('{"q": {"ann": ["a", "b"]}}', "expected records with query, document_a"),
    ],
)
def test_files_without_preferences_are_refused(file: Write, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_preferences(file(text))


@pytest.mark.parametrize("suffix", ["csv", "tsv.zst", "parquet", "jsonl"])
def test_preferences_come_back_as_they_were_written(file: Write, tmp_path: Path, suffix: str) -> None:
    preferences = read_preferences(file(PREFERRED))
    path = tmp_path / f"preferences.{suffix}"
    write_preferences(preferences, path)
    back = read_preferences(path)
    assert back.assessors == preferences.assessors
    for one, two in zip(preferences.queries, back.queries, strict=True):
        assert (one.query, one.documents) == (two.query, two.documents)
        for column in ("first", "second", "answer", "assessor"):
            assert getattr(one, column).tolist() == getattr(two, column).tolist()


def test_the_file_of_the_2010_study_is_read_as_it_is(shared_data: Path) -> None:
    with kept_warnings() as said:
        preferences = read_experts(shared_data / "preferences-2010" / "judgments.csv")
    assert isinstance(preferences, Preferences)
    assert "left out 5 blank answers of 2,810" in said[0]
    assert (len(preferences.queries), len(preferences.assessors), preferences.n_blank) == (11, 79, 5)
    answers = np.concatenate([asked.answer for asked in preferences.queries])
    assert [int((answers == value).sum()) for value in (1, -1, 0)] == [577, 823, 1405]  # as grep counts them


LISTS = PartialLists.from_groups({"q1": [["b", "a"], ["c"]], "q2": [["a"]], "q3": [["x"], ["z", "y"], ["a"]]})


@quiet
@given(
    groups=st.dictionaries(
        name.filter(lambda text: not text.startswith("#")),
        st.lists(name, min_size=1, max_size=6, unique=True),
        min_size=1,
        max_size=3,
    ),
    cut=st.integers(1, 6),
    suffix=st.sampled_from(("json", "groups", "csv", "tsv", "parquet", "jsonl", "qrels", "groups.gz", "json.xz")),
)
def test_lists_of_any_names_come_back(tmp_path: Path, groups: dict[str, list[str]], cut: int, suffix: str) -> None:
    parts = {query: (documents[:cut], documents[cut:]) for query, documents in groups.items()}
    lists = PartialLists.from_groups({query: list(filter(None, two)) for query, two in parts.items()})
    path = tmp_path / f"lists.{suffix}"
    write_lists(lists, path)
    assert read_lists(path) == lists


def test_graded_judgments_are_lists_without_what_is_not_relevant(file: Write) -> None:
    path = file("query,document,grade\nq1,a,1\nq1,b,3\nq1,c,0\nq1,d,3\nq2,a,0\n")
    with kept_warnings() as said:
        lists = read_lists(path)
    assert lists.to_groups() == {"q1": [["b", "d"], ["a"]]}
    assert said == ["2 documents with a grade of 0 or less left out; nothing is left of 1 query."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,group,document\nq1,1,a\nq1,-1,b\n", ":3: expected a whole number of 1 or more as group, got '-1'"),
        ("query,group,document\nq1,1,a\nq1,,b\n", ":3: expected a whole number of 1 or more as group, got nothing"),
        ('{"q": [["a"], []]}', ": q: expected documents in group 2, got none"),
        ('{"q": [["a"], "b"]}', ": q: expected .* groups .*, got 'b' in a list"),
        ('{"q": [["a"], [["b"]]]}', ": q: expected documents in group 2, got .*b"),
        ('{"q": [["a"], [null]]}', ": q > 2: expected a document, got nothing"),
        ("query,document,grade\nq1,a,0\n", ": expected documents with grades above 0"),
        ("query,document,grade,assessor\nq1,a,1,x\nq1,a,2,y\n", ": Lists of groups hold no assessors; combine them"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_lists_is_told(file: Write, text: str, message: str) -> None:
    path = file(text)
    with pytest.raises(InputError, match=f"^{path}{message}"):
        read_lists(path)


def test_lists_are_text_where_nothing_says_otherwise(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    write_lists(LISTS, tmp_path / "lists.txt")
    write_lists(LISTS, "-")
    assert capfdbinary.readouterr().out == (tmp_path / "lists.txt").read_bytes()
    assert read_lists(tmp_path / "lists.txt") == LISTS
