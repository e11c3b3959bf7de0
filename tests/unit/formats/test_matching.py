"""Identifiers that differ between runs and judgments, files that are no runs, and runs that come twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import adjudge as aj
from adjudge.errors import AdjudgeWarning, InputError, kept_warnings

JUDGMENTS = {"q1": {"sku-1": 1, "sku-2": 0}, "q2": {"sku-3": 1}}


def scored(runs: Any, judgments: Any, **options: Any) -> tuple[float, list[str]]:
    """Mean reciprocal rank of the first system, and what reading says."""
    with kept_warnings() as said:
        collection = aj.read(runs, judgments, **options)
    with kept_warnings():
        return float(aj.evaluate(collection, "RR").values[:, 0, 0].mean()), said


@pytest.mark.parametrize(
    ("spell", "removed"),
    [
        ("id:ns:product::{}", "the prefix 'id:ns:product::'"),
        ("music/rock/{}", "folders"),
        ("{}.wav", "extensions"),
        ("C:\\music\\{}.mp3", "folders and extensions"),
        ("{}_en", "the suffix '_en'"),
    ],
)
def test_what_all_documents_of_one_side_have_more_is_removed_with_a_note(spell: str, removed: str) -> None:
    longer = {query: {spell.format(d): grade for d, grade in grades.items()} for query, grades in JUDGMENTS.items()}
    lists = {query: list(grades) for query, grades in JUDGMENTS.items()}
    long_lists = {query: list(grades) for query, grades in longer.items()}
    for runs, judgments, changed in ((long_lists, JUDGMENTS, "runs"), (lists, longer, "judgments")):
        value, said = scored({"s": runs}, judgments)
        assert value == 1
        (note,) = said
        assert f"the {changed} given: documents are read without {removed}, to match" in note
        assert note.endswith(f"{spell.format('sku-1')!r} is 'sku-1'.")


def test_queries_are_matched_as_documents_are() -> None:
    value, said = scored({"s": {"topic301": ["a"], "topic302": ["b"]}}, {"301": {"a": 1}, "302": {"b": 1}})
    assert value == 1
    assert "queries are read without the prefix 'topic', to match those of the judgments" in said[0]


def test_documents_of_a_run_for_other_queries_are_left_as_they_are() -> None:
    with kept_warnings() as notes:
        collection = aj.read({"s": {"x": ["1", "2"]}}, {"q1": {"d1": 1, "d2": 0}})
    assert "d1" in collection.need_judgments().to_polars()["document"].to_list()
    assert not [note for note in notes if "prefix" in note]


def test_mirex_runs_that_lose_their_folders_match_judgments_that_keep_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lists.txt").write_text("algo\n/m/q.wav\t/m/q.wav\t/m/a.wav\t/m/b.wav\n")
    Path("judgments.csv").write_text("query,document,grade\n/m/q.wav,/m/a.wav,2\n/m/q.wav,/m/b.wav,0\n")
    value, said = scored("lists.txt", "judgments.csv")
    assert value == 1  # the query itself is still removed
    assert sum("are read without folders" in note for note in said) == 2


@pytest.mark.parametrize(
    ("documents", "judged"),
    [
        (["x1", "x2"], ["a", "b"]),
        (["p/x", "r/x"], ["x", "y"]),  # two documents would become one
        (["a-b-x", "a-b-y"], ["b-x", "x", "y", "b-y"]),  # either prefix would do
    ],
    ids=["unrelated", "not distinct", "ambiguous"],
)
def test_where_nothing_can_be_removed_for_sure_a_warning_shows_both_sides(
    documents: list[str], judged: list[str]
) -> None:
    value, said = scored({"s": {"q": documents}}, {"q": dict.fromkeys(judged, 1)})
    assert value == 0
    (warning,) = said
    assert "no document is judged" in warning
    assert repr(documents[0]) in warning
    assert repr(judged[0]) in warning


def test_one_run_among_others_without_a_judged_document_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("".join(f"q Q0 d{i} {i} {-i} a\n" for i in range(30)))
    Path("b.txt").write_text("".join(f"q Q0 {chr(97 + i % 26) * 5} {i} {-i} b\n" for i in range(20)))
    _, said = scored(["a.txt", "b.txt"], {"q": {f"d{i}": 1 for i in range(25)}})
    (warning,) = said
    assert warning.startswith("b.txt: no document is judged. The runs have documents such as 'aaaaa'")
    _, said = scored(["a.txt", "b.txt"], {"q": {"d1": 1}})  # at the beginning of judging that is nothing strange
    assert said == []


def test_files_that_are_no_runs_by_name_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    Path("runs/a.txt").write_text("q Q0 a 1 1 s\n")
    Path("runs/README.md").write_text("# Our runs\n")
    Path("runs/README").write_text("Our runs\n")
    for given in ("runs", "runs/*", ["runs/README", "runs/README.md", "runs/a.txt"]):
        with pytest.warns(AdjudgeWarning) as caught:
            assert aj.read(given).systems == ("s",)
        assert [str(warning.message) for warning in caught] == [
            f"runs/{name}: passed over, as its name is not that of runs." for name in ("README", "README.md")
        ]
    with pytest.raises(aj.AdjudgeError, match=r"^runs/README.md: "):
        aj.read("runs/README.md")


def test_a_run_given_twice_is_read_once_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        Path(name).write_text("q Q0 a 1 1 s\n")
    for given, note in (
        (["a.txt", "a.txt"], "a.txt: given twice; read once."),
        (["a.txt", "b.txt"], "b.txt: the same run as a.txt; read once."),
    ):
        with pytest.warns(AdjudgeWarning) as caught:
            assert aj.read(given).systems == ("s",)
        assert [str(warning.message) for warning in caught] == [note]
    with pytest.warns(AdjudgeWarning, match=r"^b.txt: the same run as a.txt; the systems 'a' and 'b' are the same.$"):
        assert aj.read(["a.txt", "b.txt"], names="file").systems == ("a", "b")


def test_results_of_pyterrier_are_called_by_their_name_column() -> None:
    pd = pytest.importorskip("pandas")
    columns = {"qid": ["1", "1"], "docid": [7, 8], "docno": ["d7", "d8"], "rank": [0, 1], "score": [2.0, 1.0]}
    named = pd.DataFrame({**columns, "name": "BM25"})
    assert aj.read(named).systems == ("BM25",)
    assert aj.read([named, pd.DataFrame(columns)]).systems == ("BM25", "run2")
    assert aj.read([pd.DataFrame(columns), pd.DataFrame(columns)], {"1": {"d8": 1}}).systems == ("run1", "run2")
    assert aj.read({"mine": named, "other": pd.DataFrame(columns)}).systems == ("mine", "other")
    with pytest.raises(InputError, match="expected one system in the frame for 'mine', got several"):
        aj.read({"mine": pd.concat([named, named.assign(name="LM")])})
