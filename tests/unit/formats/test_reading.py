"""Whole collections from files and back: which files are read, how they match, what is filtered, what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning, InputError, kept_warnings
from adjudge.formats import Kind, Source, convert, expand, pick
from adjudge.formats.base import format_for
from adjudge.formats.reading import Inputs, read_judgments, read_strata, read_teams
from adjudge.io import COMPRESSIONS

RUNS = {"s": {"q": ["a", "b"]}}
LISTS = "algo\nq\tq\ta\tb\nr\tr\tb\ta\n"
RUN = "q1 Q0 d1 1 0.5 s\nq1 Q0 d2 2 0.4 s\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _files(**contents: str) -> list[str]:
    for name, content in contents.items():
        Path(name).write_text(content)
    return list(contents)


def scored(runs: Any, judgments: Any) -> tuple[float, list[str]]:
    """Mean reciprocal rank of the first system, and what reading says."""
    with kept_warnings() as said:
        collection = aj.read(runs, judgments)
    with kept_warnings():
        return float(aj.evaluate(collection, "RR").values[:, 0, 0].mean()), said


# Which files are meant, and in which format they are


@pytest.fixture
def two_runs() -> None:
    Path("runs").mkdir()
    for name in ("b", "a"):
        Path(f"runs/{name}.txt").write_text(f"q Q0 {name} 1 2 tag-{name}\n")


@pytest.mark.parametrize(
    "given", ["runs", "runs/*.txt", Path("runs"), ["runs/a.txt", "runs"], ("runs/a.txt", "runs/b*")]
)
@pytest.mark.usefixtures("two_runs")
def test_directories_and_patterns_mean_their_files_in_order(given: Any) -> None:
    assert expand(given, "runs") == [Path("runs/a.txt"), Path("runs/b.txt")]


@pytest.mark.parametrize("make", [list, tuple, set, iter, dict.fromkeys])
@pytest.mark.usefixtures("two_runs")
def test_any_collection_of_paths_is_read(make: Callable[[Iterable[Any]], Any]) -> None:
    given = make(["runs/a.txt", Path("runs/b.txt")])
    collection = aj.read(list(given) if isinstance(given, dict) else given)
    assert collection.systems == ("tag-a", "tag-b")


@pytest.mark.usefixtures("two_runs")
def test_a_dictionary_of_files_names_the_systems() -> None:
    assert aj.read({"mine": "runs/a.txt", "yours": Path("runs/b.txt")}).systems == ("mine", "yours")
    assert aj.read({"query": "q", "document": "d"}).systems == ("run",)  # a record


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mine": "runs"}, r"^runs: expected one file for the system 'mine', got 2 files$"),
        ({"mine": "runs/a.txt", "yours": "runs/a.txt"}, r"^runs/a.txt: .* the system 'yours', got that of 'mine'$"),
        ({"mine": "nowhere"}, r"^nowhere: cannot be read: no such file or directory$"),
    ],
)
@pytest.mark.usefixtures("two_runs")
def test_a_system_has_one_file(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        aj.read(given)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "runs/a.txt/b"])
@pytest.mark.usefixtures("two_runs")
def test_a_name_that_no_file_can_have_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read: [^\n]+$"):
        aj.read(name)


@pytest.mark.parametrize("method", ["is_dir", "iterdir", "is_file"])
@pytest.mark.usefixtures("two_runs")
def test_what_may_not_be_looked_into_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def forbidden(self: Path) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, method, forbidden)
    with pytest.raises(InputError, match=r"^runs: cannot be read: permission denied$"):
        expand("runs", "runs")


def test_files_that_are_no_runs_by_name_are_skipped() -> None:
    Path("runs").mkdir()
    Path("runs/a.txt").write_text("q Q0 a 1 1 s\n")
    Path("runs/README.md").write_text("# Our runs\n")
    Path("runs/README").write_text("Our runs\n")
    for given in ("runs", "runs/*", ["runs/README", "runs/README.md", "runs/a.txt"]):
        with pytest.warns(AdjudgeWarning) as caught:
            assert aj.read(given).systems == ("s",)
        assert [str(warning.message) for warning in caught] == [
            f"runs/{name}: skipped, as its name is not that of runs." for name in ("README", "README.md")
        ]
    with pytest.raises(aj.AdjudgeError, match=r"^runs/README.md: "):
        aj.read("runs/README.md")


def test_a_run_given_twice_is_read_once_and_said() -> None:
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


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("q1 Q0 d1 1 0.5\nq1 Q0 d2 2 0.4\n", "runs", ":1: expected 6 columns, got 5"),
        ("q1\tQ0\td1\t1\t0.5\nq2\tQ0\td2\t2\t0.4\n", "runs", ":1: expected 6 columns, got 5"),
        ("# c\nq1 Q0 d1 1 high s\n" + RUN, "runs", ":2: expected a finite number as score, got 'high'"),
        ("q1 d1 1\nq1 d2 0\n", "judgments", ":1: expected 4 columns, got 3"),
        ("q1 0 d1 high\n", "judgments", ":1: expected a finite number as grade, got 'high'"),
        ("q1\td1\thigh\n", "judgments", ":1: expected a finite number as grade, got 'high'"),
        ("q1,d1,high\n", "judgments", ":1: expected a finite number as grade, got 'high'"),
        ("q1,d1\n", "judgments", ":1: expected a header with known names, or 3 columns, got 2"),
        ("s,q1,d1,0.5,x,y\n", "runs", ":1: expected a header with known names, or 3 or 4 columns, got 6"),
        ("hello\n", "runs", ": expected runs in a known format (trec, "),
        ("hello world\n", "metadata", ": expected metadata in a known format (spreadsheet, tsv, "),
        ("q d1 d2 3 4 d5\nr d2 d1 4 3 d6\n", "runs", ": expected runs in a known format (trec, "),
        (RUN, "judgments", ": expected judgments, but this looks like a run; on the command line"),
        (QRELS, "runs", ": expected runs, but this looks like judgments; on the command line"),
        ("# only\n# comments\n", "runs", ": expected data, got only comments"),
    ],
)
def test_what_is_wrong_with_a_file_in_no_format_is_told_with_its_line(text: str, kind: Kind, message: str) -> None:
    with pytest.raises(InputError, match=rf"\Adir/a\.txt{re.escape(message)}[^\n]*\Z"):
        pick(Source("dir/a.txt", text.encode()), kind)


# Identifiers that runs and judgments spell differently

JUDGMENTS = {"q1": {"sku-1": 1, "sku-2": 0}, "q2": {"sku-3": 1}}


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


def test_mirex_runs_that_lose_their_folders_match_judgments_that_keep_them() -> None:
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


def test_one_run_among_others_without_a_judged_document_is_named() -> None:
    Path("a.txt").write_text("".join(f"q Q0 d{i} {i} {-i} a\n" for i in range(30)))
    Path("b.txt").write_text("".join(f"q Q0 {chr(97 + i % 26) * 5} {i} {-i} b\n" for i in range(20)))
    _, said = scored(["a.txt", "b.txt"], {"q": {f"d{i}": 1 for i in range(25)}})
    (warning,) = said
    assert warning.startswith("b.txt: no document is judged. The runs have documents such as 'aaaaa'")
    _, said = scored(["a.txt", "b.txt"], {"q": {"d1": 1}})  # at the beginning of judging that is nothing strange
    assert said == []


# Judgments


@pytest.mark.parametrize(
    ("contents", "subtopics"),
    [
        ({"x": "q 0 a 1\n", "y": "q 0 b 1\n"}, None),
        ({"x": "q 1 a 1\n", "y": "q 2 a 0\n"}, ["1", "2"]),
        ({"x": "q 0 a 1\n", "y": "q 1 a 0\nq 2 b 1\n"}, ["0", "1", "2"]),
        ({"x": "q 1 a 1\nq 2 a 0\n", "y": "query,document,grade\nq,b,1\n"}, ["1", "2", "0"]),
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
    said = "1 grade below the scale graded (0..4), lowest -1: read as 0, not relevant. To keep it: --scale=-1..4."
    assert [note.partition(": ")[2] for note in notes] == ([said] if scale == "0..4" else [])


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"x": "# c\nq 0 a 1\n\nq 0 b 3\n"}, "x:4: expected grades on the scale broad .* got 3 for document 'b'"),
        ({"x": "q,a,1\n", "y": "query,doc,rel\n\nq,b,3\n"}, "y:3: expected grades on the scale broad .* got 3"),
        ({"x": 'doc,rel,query\n"b\nc",-1,q\nd,3,q\n'}, "x:4: expected grades on the scale broad .* got 3"),
        ({"x": "q 0 a 1\nq 0 b 1\nq 0 b 0\nq 0 a 2\n"}, "x:4: expected one grade for document 'a' .* got 1 and 2"),
        ({"x": "q 0 a 1\n", "y": "q\ta\t1\n\nq\ta\t2\n"}, "y:3: expected one grade for document 'a'"),
        ({"x": '{"qid": 1, "doc": 1, "rel": 1}\n{"qid": 1, "doc": 2, "rel": 9}\n'}, "x:2: expected grades on"),
        ({"x": '{"q": {"a": 1, "b": 9}}'}, "x: expected grades on the scale broad .* got 9"),
    ],
)
def test_judgments_that_the_model_refuses_are_named_with_their_line(contents: dict[str, str], message: str) -> None:
    files = _files(**contents)
    with kept_warnings(), pytest.raises(InputError, match=f"^{message}"):
        aj.read(RUNS, files, scale="broad")
    with kept_warnings(), pytest.raises(InputError, match=f"^{message}"):
        read_judgments(files, scale="broad")


def test_a_scale_that_is_none_is_refused() -> None:
    with pytest.raises(aj.AdjudgeError, match="Scale: expected one of binary, broad, fine or an interval"):
        aj.read({"s": {"q": ["a"]}}, {"q": {"a": 1}}, scale=5)  # type: ignore[arg-type]


# Systems, filters, provenance


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
        "Rankings in MIREX formats: the query itself was removed; it stays without the artist filter."
    ]
    assert caught[0].filename == __file__
    assert _documents(collection) == ["a", "b", "b", "a"] * 2
    assert collection.provenance.settings == {"artist_filter": "query"}


@pytest.mark.parametrize(
    ("content", "options", "documents", "applied"),
    [
        (
            LISTS,
            {"metadata": {"q": {"ARTIST": 1}, "a": {"ARTIST": 1}, "r": {"ARTIST": 2}, "b": {"ARTIST": 3}}},
            "bba",
            "artist",
        ),
        (LISTS, {"artist_filter": False}, "qabrba", "nothing"),
        ("q Q0 q 1 2 s\nq Q0 a 2 1 s\n", {}, "qa", None),
    ],
    ids=["by artist where artists are known", "not at all if asked", "no other format"],
)
def test_only_mirex_files_are_filtered(
    content: str, options: dict[str, Any], documents: str, applied: str | None
) -> None:
    _files(x=content)
    with kept_warnings() as said:
        collection = aj.read("x", **options)
    assert _documents(collection) == list(documents)
    assert collection.provenance.settings == ({} if applied is None else {"artist_filter": applied})
    assert ["the query itself and its artist's documents were removed" in note for note in said] == [True] * (
        "metadata" in options
    )


def test_provenance_holds_choices_and_every_file() -> None:
    contents = {"j": "q 0 a 1\n", "m": "id,artist\nq,1\n", "t": "system,team\nr.1,A\n", "r.1.txt": "q Q0 a 1 1 s\n"}
    _files(**contents)
    formats: dict[str, Any] = {"format": "trec", "judgments_format": "trec", "metadata_format": "csv"}
    collection = aj.read("r.1.txt", "j", "m", teams="t", names="file", artist_filter=True, depth=5, **formats)
    assert collection.runs.teams == {"r.1": "A"}
    assert collection.provenance.settings == formats | {"names": "file", "artist_filter": "artist", "depth": 5}
    assert dict(collection.provenance.inputs) == {
        name: sha256(content.encode()).hexdigest() for name, content in contents.items()
    }


def test_judgments_where_runs_are_expected_are_refused() -> None:
    """A table of grades would pass as a run of a system called after its file."""
    Path("fine.csv").write_text("query,document,grade,assessor\nq1,d1,40,A\n")
    with pytest.raises(AdjudgeError, match=r"fine\.csv: expected a run, got judgments: a column 'grade'"):
        aj.read("fine.csv")
    Path("run.csv").write_text("query,document,score,label\nq1,d1,1.5,2\n")
    assert aj.read("run.csv").systems == ("run",)


def test_a_run_file_with_several_tags_says_that_it_is_split() -> None:
    _files(x="q Q0 a 1 2 one\nq Q0 b 2 1 two\n")
    with pytest.warns(AdjudgeWarning, match=r"^x: 2 tags in one file \(one and two\) are read"):
        assert aj.read("x").systems == ("one", "two")


# Teams and strata

TEAMS = {"a1": "A, Inc.", "b1": "B"}


@pytest.mark.parametrize(
    "text",
    [
        'a1,"A, Inc."\nb1,B\n',
        'system,team\na1,"A, Inc."\nb1,B\n',
        'Team,System\n"A, Inc.",a1\nB,b1\n',
        "team\trun\nA, Inc.\ta1\nB\tb1\n",
        "system;team\na1;A, Inc.\nb1;B\n",
        '# made by hand\n\n"system","team"\n"a1","A, Inc."\nb1 , B\nb1,B\n',
    ],
)
def test_teams_read_the_same_however_they_are_laid_out(text: str) -> None:
    Path("teams.csv").write_text(text)
    inputs: Inputs = []
    assert read_teams("teams.csv", inputs) == TEAMS
    assert [name for name, _ in inputs] == ["teams.csv"]


@pytest.mark.parametrize(
    "text", ["q1,rock\nq2,jazz\n", "query,genre\r\nq1,rock\r\nq2,jazz\r\n", "genre\tqid\nrock\tq1\n\njazz\tq2"]
)
def test_strata_are_read_with_and_without_a_header(text: str) -> None:
    Path("strata.csv").write_bytes(text.encode())
    assert read_strata("strata.csv") == {"q1": "rock", "q2": "jazz"}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_teams, "a1,A\na1,B\n", ":2: expected one team for the system 'a1', got 'A' and 'B'"),
        (read_teams, "a1,A,x\n", ":1: expected .* 2 columns, got 3"),
        (read_teams, "system,team\na1,\n", ":2: expected a team, got nothing"),
        (read_teams, "# none\n", ": expected data, got only comments"),
        (read_strata, "q1,rock\nq1,jazz\n", ":2: expected one stratum for the query 'q1', got 'rock' and 'jazz'"),
        (read_strata, "q1\n", ":1: expected .* 2 columns, got 1"),
        (read_strata, "q1,rock\nq2,\n", ":2: expected a stratum, got nothing"),
        (read_strata, 'q1,"rock\n', ":1: expected fields with balanced quotes"),
        (read_teams, "systm,tem\na,T1\n", ":1: expected a column for the system .* --columns system=systm"),
        (read_teams, "system,tem\na,T1\n", ":1: expected a column for the team .* --columns team=tem"),
    ],
)
def test_teams_and_strata_that_cannot_be_used_are_refused_with_their_line(
    read: Callable[..., Any], text: str, message: str
) -> None:
    Path("t.csv").write_text(text)
    with pytest.raises(InputError, match=f"^t.csv{message}"):
        read("t.csv", *([[]] if read is read_teams else []))


# Writing


@pytest.mark.parametrize("thing", [aj.demo(queries=10, depth=3), None, "runs"])
def test_only_parts_of_a_collection_can_be_written(thing: object, tmp_path: Path) -> None:
    with pytest.raises(aj.AdjudgeError, match="Expected runs, judgments or metadata of a collection to write, got"):
        aj.write(thing, tmp_path / "x.csv")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [known.suffix for known in COMPRESSIONS])
def test_what_is_compressed_is_read_back_whatever_the_case(suffix: str) -> None:
    judgments = aj.read({"s": {"q": ["d"]}}, {"q": {"d": 1}}).need_judgments()
    for name in (f"a.csv{suffix}", f"b.CSV{suffix.upper()}"):
        aj.write(judgments, name)
        packed = Path(name).read_bytes()
        assert [known.suffix for known in COMPRESSIONS if known.magic.match(packed)] == [suffix]
        assert aj.read({"s": {"q": ["d"]}}, name).need_judgments().grade.tolist() == [1]


@pytest.mark.parametrize(
    ("name", "chosen"),
    [("a", "trec"), ("a.TXT.gz", "trec"), ("a.run", "trec"), ("a.tab", "tsv"), ("a.ndjson", "jsonl")],
)
def test_the_suffix_chooses_the_format(name: str, chosen: str) -> None:
    assert format_for(name, "runs").name == chosen


def test_the_library_does_not_overwrite_an_input_either() -> None:
    target = Path("a.qrels")
    target.write_text("q 0 d 1\n")
    for given in (target, (path for path in [target]), {target}):
        with pytest.raises(AdjudgeError, match=r"a\.qrels: is an input, and would be overwritten$"):
            convert(given, target, kind="judgments")
    assert target.read_text() == "q 0 d 1\n"
