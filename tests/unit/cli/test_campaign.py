"""adjudge campaign, as an organiser types it, and as one mistypes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.cli import main

Captured = pytest.CaptureFixture[str]
PASSWORD = "correct horse battery"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with runs and documents, to work in."""
    monkeypatch.chdir(tmp_path)
    for name in ("ADJUDGE_DATA", "ADJUDGE_DATABASE", "ADJUDGE_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ADJUDGE_PASSWORD", PASSWORD)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.txt").write_text("q1 Q0 d1 1 9 a\nq1 Q0 d2 2 8 a\nq2 Q0 d1 1 5 a\n")
    (tmp_path / "runs" / "b.txt").write_text("q1 Q0 d3 1 9 b\nq1 Q0 d2 2 8 b\nq2 Q0 d3 1 5 b\n")
    (tmp_path / "tracks.csv").write_text("document,artist,text\nd1,Ann,one\nd2,Bob,two\nd3,Cid,three\n")
    (tmp_path / "queries.csv").write_text("query,text\nq1,first question\nq2,second question\n")
    (tmp_path / "read.md").write_text("# Listen\n")
    (tmp_path / "fine.csv").write_text("query,document,grade,assessor\nq1,d1,80,ann\nq1,d2,10,ann\nq2,d1,60,bob\n")
    return tmp_path


CREATE = ["create", "songs", "runs", "--metadata", "tracks.csv", "--queries", "queries.csv", "-m", "CG@2",
          "--estimator", "uniform"]  # fmt: skip


def run(capsys: Captured, *arguments: str) -> str:
    capsys.readouterr()
    assert main(["campaign", *arguments]) == 0, capsys.readouterr()
    return capsys.readouterr().out


def refused(capsys: Captured, *arguments: str) -> str:
    """The one line that a command refuses with."""
    capsys.readouterr()
    try:
        code = main(["campaign", *arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    assert code == 2, captured
    assert captured.err.startswith("adjudge: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_a_campaign_from_first_to_last(place: Path, capsys: Captured) -> None:
    assert run(capsys, "user", "add", "ann", "--admin") == "Added ann, who sees all campaigns.\n"
    options = ["--scale", "broad", "--scale", "fine", "--goal", "confidence", "--level", ".9", "--judged-by", "2",
               "--agreement-share", ".5", "--repeat-share", "0", "--instructions", "read.md", "--instructions",
               "es=read.md", "--consent", "en=read.md", "--language", "en", "--language", "es", "--title",
               "Which songs?"]  # fmt: skip
    made = run(capsys, *CREATE, *options)
    assert made.splitlines() == [
        "Made the campaign songs: 2 systems, 2 queries.",
        "3 documents taken in.",
        "2 queries taken in.",
        "Everything is there. Open it with: adjudge campaign open songs",
    ]
    shown = json.loads(run(capsys, "show", "songs", "--json"))
    settings = shown["settings"]
    assert (settings["title"], settings["goal"]["level"], settings["judged_by"]) == ("Which songs?", 0.9, 2)
    assert settings["instructions"] == {"en": "# Listen\n", "es": "# Listen\n"}
    assert (settings["languages"], settings["consent"]) == (["en", "es"], {"en": "# Listen\n"})
    assert (shown["state"], shown["missing"], shown["counts"]["systems"]) == ("draft", [], 2)
    assert run(capsys, "open", "songs") == "The campaign songs is open.\n"
    assert run(capsys, "import", "songs", "fine.csv", "--scale", "fine") == "Added 3 judgments by 2 assessors.\n"
    assert "3 were there already" in run(capsys, "import", "songs", "fine.csv", "--scale", "fine")
    assert run(capsys, "export", "songs", "qrels", "-o", "out.txt") == "Wrote out.txt.\n"
    assert Path("out.txt").read_text() == "q1 0 d1 80\nq1 0 d2 10\nq2 0 d1 60\n"
    run(capsys, "export", "songs", "log", "-o", "log.json")
    assert len(json.loads(Path("log.json").read_text())) == 3
    run(capsys, "export", "songs", "report", "-o", "report.html")
    assert "Which songs?" in Path("report.html").read_text()
    run(capsys, "export", "songs", "session")
    assert Path("songs-session.json").exists()
    assert run(capsys, "pause", "songs") == "The campaign songs is paused.\n"
    assert run(capsys, "close", "songs") == "The campaign songs is closed.\n"
    listed = run(capsys, "list")
    assert "songs" in listed
    assert "closed" in listed
    assert "3 judged" in run(capsys, "show", "songs")
    assert run(capsys, "verify") == "Everything is there and adds up.\n"


def test_runs_may_come_after_options(place: Path, capsys: Captured) -> None:
    made = run(capsys, "create", "songs", "--metadata", "tracks.csv", "-m", "CG@2", "runs")
    assert made.startswith("Made the campaign songs: 2 systems, 2 queries.")


def test_links_lead_to_where_the_server_listened_last_and_say_who_reaches_that(place: Path, capsys: Captured) -> None:
    run(capsys, *CREATE)
    for address in ("http://127.0.0.1:8000", "http://127.0.0.1:8123"):
        assert main(["campaign", "invite", "songs"]) == 0
        out, said = capsys.readouterr()
        assert out.startswith(f"{address}/i/")
        assert said == (
            f"adjudge: note: links lead to {address}, which only this machine reaches; for others give --address URL\n"
        )
        Path("adjudge-data/address").write_text("http://127.0.0.1:8123")
    assert main(["campaign", "invite", "songs", "--address", "https://judge.example.org"]) == 0
    assert capsys.readouterr().err == ""


def test_links_tokens_and_erasing(place: Path, capsys: Captured) -> None:
    run(capsys, "user", "add", "ann")
    run(capsys, *CREATE)
    links = run(capsys, "invite", "songs", "--count", "3", "--label", "lab", "--expires", "7d", "--address",
                "https://judge.example.org/").splitlines()  # fmt: skip
    assert len(set(links)) == 3
    assert all(link.startswith("https://judge.example.org/i/") for link in links)
    assert len(run(capsys, "invite", "songs", "--cap", "20").splitlines()) == 1
    assert run(capsys, "token", "ann", "--name", "notebook").startswith("adj_")
    run(capsys, "import", "songs", "fine.csv", "--scale", "fine")
    receipt = json.loads(run(capsys, "erase", "songs", "ann", "--how", "remove"))
    assert (receipt["code"], receipt["answers_removed"]) == ("ann", 2)
    assert run(capsys, "verify") == "Everything is there and adds up.\n"
    assert run(capsys, "user", "list") == "ann\n"
    assert "logged out" in run(capsys, "user", "password", "ann")
    run(capsys, "user", "disable", "ann")
    assert run(capsys, "user", "list") == ""


def test_what_is_missing_is_said_and_can_be_given_later(place: Path, capsys: Captured) -> None:
    Path("tracks.csv").write_text("document,artist\nd1,Ann\n")
    made = run(capsys, "create", "songs", "runs", "--metadata", "tracks.csv", "-m", "CG@2")
    assert "Nothing to hear, read or see yet for 5 documents: d1, d2, d3, q1, q2" in made
    assert "5 documents have nothing" in refused(capsys, "open", "songs")
    Path("texts").mkdir()
    for name in ("d1", "d2", "d3", "q1", "q2"):
        (Path("texts") / f"{name}.txt").write_text(f"about {name}")
    (Path("texts") / "d3.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(SystemExit, match="1"):
        main(["campaign", "documents", "songs", "--audio", "texts"])
    captured = capsys.readouterr()
    assert "4 documents taken in." in captured.out
    assert "adjudge: note: d3: d3.txt: expected text in UTF-8" in captured.err
    (Path("texts") / "d3.txt").write_text("mended")
    assert "1 document taken in; 4 were there already." in run(capsys, "documents", "songs", "--audio", "texts")
    run(capsys, "open", "songs")


def test_a_backup_goes_and_comes_back(place: Path, capsys: Captured) -> None:
    run(capsys, *CREATE)
    run(capsys, "import", "songs", "fine.csv", "--scale", "fine")
    assert run(capsys, "backup", "all.tar").startswith("Wrote all.tar: ")
    assert "rows and 0 files into new" in run(capsys, "restore", "all.tar", "--data", "new")
    assert json.loads(run(capsys, "show", "songs", "--json", "--data", "new"))["counts"]["answers"] == 3
    assert "empty or a new folder" in refused(capsys, "restore", "all.tar", "--data", "new")
    assert "--data DIR" in refused(capsys, "restore", "all.tar")


def test_verify_says_what_is_wrong_and_exits_with_1(place: Path, capsys: Captured) -> None:
    run(capsys, *CREATE)
    assert json.loads(run(capsys, "verify", "--json")) == {"good": True, "problems": []}
    Path("adjudge-data/secret").write_text("short")
    with pytest.raises(SystemExit) as stop:
        main(["campaign", "verify", "--json"])
    assert stop.value.code == 1
    assert json.loads(capsys.readouterr().out) == {
        "good": False,
        "problems": ["secret: expected 64 hexadecimal digits; invitations that were given out will not work"],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "Songs", "runs"], "lower-case letters"),
        (["create", "songs", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["create", "songs", "runs", "--metadata", "gone.csv"], "gone.csv: cannot be read"),
        (["create", "songs", "runs", "--audio", "gone"], "gone: expected a folder"),
        (
            ["create", "songs", "runs", "--metadata", "tracks.csv", "--columns", "document=isrc"],
            "columns: expected 'isrc' for the document",
        ),
        (["create", "songs", "runs", "--scale", "loud"], "Scale: expected one of"),
        (["create", "songs", "runs", "-m", "AP"], "effectiveness can be estimated for"),
        (["create", "songs", "runs", "--goal", "glory"], "Campaign: goal: expected one of"),
        (["create", "songs", "runs", "--language", "xx"], "expected languages among"),
        (["create", "songs", "runs", "--instructions", "gone.md"], "gone.md: cannot be read"),
        (["create", "songs", "runs", "--organiser", "nobody"], "no organiser called 'nobody'"),
        (["show", "songs"], "there are no campaigns here"),
        (["export", "songs", "everything"], "invalid choice"),
        (["frobnicate"], "No command is called 'frobnicate'"),
        (["restore", "gone.tar", "--data", "new"], "got no file"),
        (["list", "--database", "mysql://x"], "Expected a database as"),
        (["list", "--address", "nowhere"], "Expected an address as"),
    ],
)
def test_what_is_wrong_is_one_line_and_makes_nothing(
    place: Path, capsys: Captured, arguments: list[str], message: str
) -> None:
    assert message in refused(capsys, *arguments)
    if Path("adjudge-data/adjudge.sqlite3").exists():
        assert json.loads(run(capsys, "list", "--json")) == {"campaigns": []}


def test_mistakes_about_a_campaign_are_one_line(place: Path, capsys: Captured) -> None:
    run(capsys, *CREATE)
    for arguments, message in (
        (CREATE, "There is a campaign called 'songs' already."),
        (["open", "song"], "There is no campaign called 'song'."),
        (["import", "songs", "fine.csv"], "Expected the scale of the judgments"),
        (["import", "songs", "gone.csv", "--scale", "fine"], "gone.csv: cannot be read"),
        (["export", "songs", "qrels", "-o", "x.docx"], "expected a suffix among .txt, .qrels, .trec, .csv, "),
        (["export", "songs", "session", "-o", "x.zip"], "x.zip: expected a suffix among .json for session, or --f"),
        (["export", "songs", "qrels", "-o", "x.zip"], "expected a suffix among .txt, .qrels, .trec, .csv, "),
        (["export", "songs", "qrels", "--per-assessor", "-o", "x.txt"], "among .zip, .csv, .tsv, .json, .parquet, "),
        (["export", "songs", "log", "-o", "x.html"], "expected a suffix among .csv, .json, .parquet, .pq for log"),
        (["export", "songs", "people", "-o", "x.csv"], "Expected one of qrels, log, report, session to export"),
        (["export", "songs", "qrels", "-o", "no/x.csv"], "in an existing directory"),
        (["invite", "songs", "--expires", "soon"], "Expected a time such as 7d"),
        (["invite", "songs", "--expires", "2001-01-01"], "ends in the future"),
        (["invite", "songs", "--count", "0"], "'count' must be a whole number from 1"),
        (["token", "nobody"], "no organiser called 'nobody'"),
        (["erase", "songs", "A9", "--how", "remove"], "no participant 'A9'"),
    ):
        assert message in refused(capsys, *arguments)


def test_a_campaign_is_deleted_when_it_is_closed_and_one_says_yes(place: Path, capsys: Captured) -> None:
    run(capsys, *CREATE)
    would = "adjudge: The campaign songs with 0 participants and 0 answers would be gone for good; to delete them, say"
    assert refused(capsys, "delete", "songs").startswith(would)
    assert "songs" in run(capsys, "list")
    gone = json.loads(run(capsys, "delete", "songs", "--yes"))
    assert (gone["campaign"], gone["kind"], gone["answers"]) == ("songs", "judging", 0)
    assert json.loads(run(capsys, "list", "--json")) == {"campaigns": []}
    assert "There is no campaign called 'songs'." in refused(capsys, "delete", "songs", "--yes")


def test_a_password_is_never_typed_into_the_command(
    place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADJUDGE_PASSWORD")
    assert "Expected a password in ADJUDGE_PASSWORD" in refused(capsys, "user", "add", "ann")
    assert "No option is called '--password'" in refused(capsys, "user", "add", "ann", "--password", "secret")


def test_data_can_be_named_by_the_environment(place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_DATA", str(place / "elsewhere"))
    run(capsys, *CREATE)
    assert (place / "elsewhere" / "adjudge.sqlite3").exists()
    assert not (place / "adjudge-data").exists()


def test_a_missing_extra_is_one_line(place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    for arguments in (["list"], CREATE, ["user", "list"], ["restore", "x.tar", "--data", "y"]):
        line = refused(capsys, *arguments)
        assert line == "adjudge: Campaigns need sqlalchemy, which is not installed: pip install 'adjudge[web]'\n"


def test_help_imports_nothing_heavy() -> None:
    heavy = "{'sqlalchemy', 'fastapi', 'numpy', 'polars', 'rich', 'pydantic'}"
    code = (
        "import sys\nfrom adjudge.cli import main\n"
        "try:\n    main(['campaign', 'create', '--help'])\nexcept SystemExit:\n    pass\n"
        f"sys.exit(bool({heavy} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
