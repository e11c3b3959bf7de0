"""Whole collections from files: sub-topics, lines of bad judgments, filters and provenance."""

from __future__ import annotations

import warnings
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning, InputError, kept_warnings
from adjudge.formats import convert
from adjudge.formats.reading import read_judgments

RUNS = {"s": {"q": ["a", "b"]}}
LISTS = "algo\nq\tq\ta\tb\nr\tr\tb\ta\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _files(**contents: str) -> list[str]:
    for name, content in contents.items():
        Path(name).write_text(content)
    return list(contents)


@pytest.mark.parametrize(
    ("contents", "subtopics"),
    [
        ({"x": "q 0 a 1\n", "y": "q 0 b 1\n"}, None),
        ({"x": "q 7 a 1\n", "y": "q 7 b 1\n"}, None),
        ({"x": "q 1 a 1\n", "y": "q 2 a 0\n"}, ["1", "2"]),
        ({"x": "q 0 a 1\n", "y": "q 1 a 0\nq 2 b 1\n"}, ["0", "1", "2"]),
        ({"x": "q 1 a 1\nq 2 a 0\n", "y": "query,document,grade\nq,b,1\n"}, ["1", "2", "0"]),
        ({"x": "query,document,grade\nq,b,1\n", "y": "q 1 a 1\n"}, ["0", "1"]),
        ({"x": "query,document,grade\nq,b,1\n", "y": "q 0 a 1\n"}, None),
        ({"x": "query,iteration,document,grade\nq,3,b,1\n", "y": "q 3 a 1\n"}, None),
        ({"x": "query,iteration,document,grade\nq,3,b,1\n", "y": "q 4 a 1\n"}, ["3", "4"]),
    ],
)
def test_sub_topics_are_dropped_only_when_all_files_have_the_same(
    contents: dict[str, str], subtopics: list[str] | None
) -> None:
    frame = read_judgments(_files(**contents)).to_polars()
    assert (frame["subtopic"].to_list() if "subtopic" in frame.columns else None) == subtopics


@pytest.mark.parametrize(("scale", "counted"), [("0..4", 0.0), ("-1..4", -1.0), (None, -1.0)])
def test_grades_below_the_scale_count_as_its_lowest_and_that_is_said(scale: str | None, counted: float) -> None:
    with kept_warnings() as notes:
        judgments = read_judgments({"q": {"a": 4, "b": -1, "c": 0}}, scale=scale)
    assert judgments.by_pair() == {("q", "a"): 4.0, ("q", "b"): counted, ("q", "c"): 0.0}
    said = (
        "1 grade is below the scale graded (0..4) and counts as 0, not relevant (lowest: -1); --scale=-1..4 keeps it."
    )
    assert [note.partition(": ")[2] for note in notes] == ([said] if scale == "0..4" else [])


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"x": "# c\nq 0 a 1\n\nq 0 b 3\n"}, "x:4: expected grades on the scale broad .* got 3 for document 'b'"),
        ({"x": "q 0 a 1\n", "y": "\nq 0 b 3\n"}, "y:2: expected grades on the scale broad .* got 3"),
        ({"x": "q,a,1\n", "y": "query,doc,rel\n\nq,b,3\n"}, "y:3: expected grades on the scale broad .* got 3"),
        ({"x": 'doc,rel,query\n"b\nc",-1,q\nd,3,q\n'}, "x:4: expected grades on the scale broad .* got 3"),
        ({"x": "q 0 a 1\nq 0 b 1\nq 0 b 0\nq 0 a 2\n"}, "x:4: expected one grade for document 'a' .* got 1 and 2"),
        ({"x": "q 0 a 1\n", "y": "q\ta\t1\n\nq\ta\t2\n"}, "y:3: expected one grade for document 'a'"),
        ({"x": '{"qid": 1, "doc": 1, "rel": 1}\n{"qid": 1, "doc": 2, "rel": 9}\n'}, "x:2: expected grades on"),
        ({"x": '{"q": {"a": 1, "b": 9}}'}, "x: expected grades on the scale broad .* got 9"),
    ],
)
def test_judgments_that_the_model_refuses_are_named_with_their_line(contents: dict[str, str], message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdjudgeWarning)
        with pytest.raises(InputError, match=f"^{message}"):
            aj.read(RUNS, _files(**contents), scale="broad")
        with pytest.raises(InputError, match=f"^{message}"):
            read_judgments(list(contents), scale="broad")


def test_errors_about_runs_keep_their_place() -> None:
    _files(x="q 0 a 1\n", a="q Q0 a 1 1 s\n", b="q Q0 a 1 2 s\n")
    with pytest.raises(InputError, match=r"^b: expected each system once"):
        aj.read(["a", "b"], "x")


def _documents(collection: aj.Collection) -> list[str]:
    return list(collection.runs.to_polars()["document"])


def test_mirex_files_are_filtered_by_query_with_one_warning() -> None:
    _files(x=LISTS, y=LISTS.replace("algo", "other"))
    with pytest.warns(AdjudgeWarning) as caught:
        collection = aj.read(["x", "y"])
    assert [str(warning.message) for warning in caught] == [
        "Rankings in MIREX formats: the query itself was removed; without the artist filter it stays."
    ]
    assert caught[0].filename == __file__
    assert _documents(collection) == ["a", "b", "b", "a"] * 2
    assert collection.provenance.settings == {"artist_filter": "query"}


def test_mirex_files_are_filtered_by_artist_where_artists_are_known() -> None:
    _files(x=LISTS, m="id,ARTIST\nq,1\na,1\nr,2\nb,3\n")
    with pytest.warns(AdjudgeWarning, match="the query itself and its artist's documents were removed"):
        collection = aj.read("x", metadata="m")
    assert _documents(collection) == ["b", "b", "a"]
    assert collection.provenance.settings == {"artist_filter": "artist"}


def test_mirex_files_stay_whole_where_that_is_asked_for() -> None:
    _files(x=LISTS)
    collection = aj.read("x", artist_filter=False)
    assert _documents(collection) == ["q", "a", "b", "r", "b", "a"]
    assert collection.provenance.settings == {"artist_filter": "nothing"}


def test_other_formats_are_not_filtered() -> None:
    _files(x="q Q0 q 1 2 s\nq Q0 a 2 1 s\n")
    collection = aj.read("x")
    assert _documents(collection) == ["q", "a"]
    assert collection.provenance.settings == {}


def test_provenance_holds_choices_and_every_file() -> None:
    contents = {"j": "q 0 a 1\n", "m": "id,artist\nq,1\n", "t": "system,team\nr.1,A\n", "r.1.txt": "q Q0 a 1 1 s\n"}
    for name, content in contents.items():
        Path(name).write_text(content)
    collection = aj.read(
        "r.1.txt",
        "j",
        "m",
        teams="t",
        format="trec",
        judgments_format="trec",
        metadata_format="csv",
        names="file",
        artist_filter=True,
        depth=5,
    )
    assert collection.runs.teams == {"r.1": "A"}
    assert collection.provenance.settings == {
        "format": "trec",
        "judgments_format": "trec",
        "metadata_format": "csv",
        "names": "file",
        "artist_filter": "artist",
        "depth": 5,
    }
    assert dict(collection.provenance.inputs) == {
        name: sha256(content.encode()).hexdigest() for name, content in contents.items()
    }


@pytest.mark.parametrize("names", ["tags", None, 3])
def test_systems_are_named_after_tags_or_files(names: Any) -> None:
    with pytest.raises(AdjudgeError, match="'names' must be one of tag, file, got "):
        aj.read(RUNS, names=names)


def test_a_matrix_is_written_where_every_query_ranks_the_same_documents() -> None:
    _files(x=LISTS, y="s\nq\ta,1\tb,2\nr\tb,0.5\ta,3\n")
    convert("y", "y.out", kind="runs", to="mirex-matrix")
    assert Path("y.out").read_text() == "s\n1\ta\n2\tb\n3\tq\n4\tr\nQ/R\t1\t2\n3\t1.0\t2.0\n4\t3.0\t0.5\n"
    with pytest.raises(InputError, match="expected scores of 0 or less, which are distances, for a MIREX matrix"):
        convert("x", "x.out", kind="runs", to="mirex-matrix")


def test_judgments_where_runs_are_expected_are_refused(tmp_path: Path) -> None:
    """A table of grades would pass as a run of a system called after its file."""
    (tmp_path / "fine.csv").write_text("query,document,grade,assessor\nq1,d1,40,A\n")
    with pytest.raises(AdjudgeError, match=r"fine\.csv: expected a run, got judgments: a column 'grade'"):
        aj.read(tmp_path / "fine.csv")
    (tmp_path / "run.csv").write_text("query,document,score,label\nq1,d1,1.5,2\n")
    assert aj.read(tmp_path / "run.csv").systems == ("run",)


def test_a_run_file_with_several_tags_says_that_it_is_split() -> None:
    _files(x="q Q0 a 1 2 one\nq Q0 b 2 1 two\n")
    with pytest.warns(AdjudgeWarning, match=r"^x: 2 tags \(one, two\) in one file: each is read as a system"):
        assert aj.read("x").systems == ("one", "two")
