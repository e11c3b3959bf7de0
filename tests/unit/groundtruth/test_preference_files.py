"""Files of preferences: answers by many names, blank ones, faults with their line, and the file of a real study."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.unit.groundtruth.test_files import PREFERRED, RANKED

from adjudge.errors import InputError, kept_warnings
from adjudge.groundtruth import Preferences
from adjudge.groundtruth.files import read_experts, read_preferences, write_preferences

Given = Callable[[str | bytes], Path]


def test_answers_are_read(file: Given) -> None:
    preferences = read_experts(file(PREFERRED))
    assert isinstance(preferences, Preferences)
    assert preferences.assessors == ("ann", "bob")
    first = preferences.queries[0]
    assert first.documents == ("a", "b", "c")
    assert [column.tolist() for column in (first.first, first.second, first.answer, first.assessor)] == [
        [0, 1, 0],
        [1, 2, 2],
        [1, 0, -1],
        [0, 0, 1],
    ]


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
def test_answers_go_by_many_names(file: Given, header: str, words: dict[str, str]) -> None:
    lines = [line.split(",") for line in PREFERRED.splitlines()[1:]]
    rows = [",".join([*line[:3], words[line[3]], line[4]]) for line in lines]
    plain, other = read_preferences(file(PREFERRED)), read_preferences(file("\n".join([header, *rows])))
    for one, two in zip(plain.queries, other.queries, strict=True):
        assert np.array_equal(one.wins, two.wins)
        assert np.array_equal(one.alike, two.alike)


def test_without_a_column_for_them_nobody_knows_who_answered(file: Given) -> None:
    text = "".join(line.rsplit(",", 1)[0] + "\n" for line in PREFERRED.splitlines())
    preferences = read_preferences(file(text))
    assert preferences.assessors == ()
    assert preferences.queries[0].assessor.tolist() == [-1, -1, -1]


def test_blank_answers_are_counted_and_left_out_aloud(file: Given) -> None:
    path = file(PREFERRED + "q1,a,b,,ann\nq1,a,b,-,bob\nq3,m,n, ,bob\n")
    with kept_warnings() as said:
        preferences = read_preferences(path)
    assert said == [f"{path}: 3 of 7 answers are blank and left out; nothing is left of 1 query."]
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
def test_what_is_wrong_with_an_answer_is_told_with_its_line(file: Given, row: str, message: str) -> None:
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
def test_files_without_preferences_are_refused(file: Given, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_preferences(file(text))


@pytest.mark.parametrize("suffix", ["csv", "tsv.zst", "parquet", "jsonl"])
def test_preferences_come_back_as_they_were_written(file: Given, tmp_path: Path, suffix: str) -> None:
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
    assert "5 of 2,810 answers are blank" in said[0]
    assert (len(preferences.queries), len(preferences.assessors), preferences.n_blank) == (11, 79, 5)
    answers = np.concatenate([one.answer for one in preferences.queries])
    assert [int((answers == value).sum()) for value in (1, -1, 0)] == [577, 823, 1405]  # as grep counts them
