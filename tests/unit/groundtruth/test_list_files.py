"""Files of lists: what is written comes back, judgments are lists, faults have a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.errors import InputError, kept_warnings
from adjudge.groundtruth import PartialLists
from adjudge.groundtruth.files import read_lists, write_lists

Given = Callable[[str | bytes], Path]

name = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)
quiet = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LISTS = PartialLists.from_groups({"q1": [["b", "a"], ["c"]], "q2": [["a"]], "q3": [["x"], ["z", "y"], ["a"]]})


@pytest.mark.parametrize(
    "suffix", ["json", "groups", "csv", "tsv", "parquet", "jsonl", "qrels", "groups.gz", "json.xz"]
)
def test_lists_come_back_as_they_were_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"lists.{suffix}"
    write_lists(LISTS, path)
    assert read_lists(path) == LISTS


@quiet
@given(
    groups=st.dictionaries(
        name.filter(lambda text: not text.startswith("#")),
        st.lists(name, min_size=1, max_size=6, unique=True),
        min_size=1,
        max_size=3,
    ),
    cuts=st.integers(0, 63),
    suffix=st.sampled_from(("json", "groups", "csv", "parquet", "jsonl")),
)
def test_lists_of_any_names_and_cuts_come_back(
    tmp_path: Path, groups: dict[str, list[str]], cuts: int, suffix: str
) -> None:
    cut: dict[str, list[list[str]]] = {}
    for query, documents in groups.items():
        cut[query] = [[documents[0]]]
        for place, document in enumerate(documents[1:]):
            if cuts >> place & 1:
                cut[query].append([])
            cut[query][-1].append(document)
    lists = PartialLists.from_groups(cut)
    path = tmp_path / f"lists.{suffix}"
    write_lists(lists, path)
    assert read_lists(path) == lists


def test_lists_in_qrels_have_the_highest_grade_first(tmp_path: Path) -> None:
    write_lists(LISTS, tmp_path / "lists.qrels")
    assert (tmp_path / "lists.qrels").read_text().splitlines()[:3] == ["q1 0 b 2", "q1 0 a 2", "q1 0 c 1"]


def test_graded_judgments_are_lists_without_what_is_not_relevant(file: Given) -> None:
    path = file("query,document,grade\nq1,a,1\nq1,b,3\nq1,c,0\nq1,d,3\nq2,a,0\n")
    with kept_warnings() as said:
        lists = read_lists(path)
    assert lists.to_groups() == {"q1": [["b", "d"], ["a"]]}
    assert said == ["2 documents with grades of 0 or less are in no group and left out; nothing is left of 1 query."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 1 a\nq1 2 b\nq1 2 a\n", ":3: expected one group for document 'a' of query 'q1', got 1 and 2"),
        ("q1 1 a\nq1 2.5 b\n", ":2: expected a group from 1 on, got '2.5'"),
        ("q1 1 a\nq1 0 b\n", ":2: expected a group from 1 on, got '0'"),
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
def test_what_is_wrong_with_lists_is_told(file: Given, text: str, message: str) -> None:
    path = file(text)
    with pytest.raises(InputError, match=f"^{path}{message}"):
        read_lists(path)


def test_lists_are_text_where_nothing_says_otherwise(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    write_lists(LISTS, tmp_path / "lists.txt")
    write_lists(LISTS, "-")
    assert capfdbinary.readouterr().out == (tmp_path / "lists.txt").read_bytes()
    assert read_lists(tmp_path / "lists.txt") == LISTS
