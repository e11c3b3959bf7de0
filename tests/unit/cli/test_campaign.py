"""adjudge campaign of every kind, as an organiser types it, and as one mistypes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal
from tests.web.preference_rows import some_questions

from adjudge.cli import main
from adjudge.preferences.files import read_questions, write_questions

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


def test_a_campaign_from_first_to_last(place: Path, cli: Terminal) -> None:
    assert cli.out("campaign", "user", "add", "ann", "--admin") == "Added ann, who sees all campaigns.\n"
    options = ["--scale", "broad", "--scale", "fine", "--goal", "confidence", "--level", ".9", "--judged-by", "2",
               "--agreement-share", ".5", "--repeat-share", "0", "--instructions", "read.md", "--instructions",
               "es=read.md", "--consent", "en=read.md", "--language", "en", "--language", "es", "--title",
               "Which songs?"]  # fmt: skip
    made = cli.out("campaign", *CREATE, *options)
    assert made.splitlines() == [
        "Made the campaign songs: 2 systems, 2 queries.",
        "3 documents taken in.",
        "2 queries taken in.",
        "Everything is there. Open it with: adjudge campaign open songs",
    ]
    shown = cli.json("campaign", "show", "songs")
    settings = shown["settings"]
    assert (settings["title"], settings["goal"]["level"], settings["judged_by"]) == ("Which songs?", 0.9, 2)
    assert settings["instructions"] == {"en": "# Listen\n", "es": "# Listen\n"}
    assert (settings["languages"], settings["consent"]) == (["en", "es"], {"en": "# Listen\n"})
    assert (shown["state"], shown["missing"], shown["counts"]["systems"]) == ("draft", [], 2)
    assert cli.out("campaign", "open", "songs") == "The campaign songs is open.\n"
    assert (
        cli.out("campaign", "import", "songs", "fine.csv", "--scale", "fine") == "Added 3 judgments by 2 assessors.\n"
    )
    assert "3 were there already" in cli.out("campaign", "import", "songs", "fine.csv", "--scale", "fine")
    assert cli.out("campaign", "export", "songs", "qrels", "-o", "out.txt") == "Wrote out.txt.\n"
    assert Path("out.txt").read_text() == "q1 0 d1 80\nq1 0 d2 10\nq2 0 d1 60\n"
    cli.out("campaign", "export", "songs", "log", "-o", "log.json")
    assert len(json.loads(Path("log.json").read_text())) == 3
    cli.out("campaign", "export", "songs", "report", "-o", "report.html")
    assert "Which songs?" in Path("report.html").read_text()
    cli.out("campaign", "export", "songs", "session")
    assert Path("songs-session.json").exists()
    assert cli.out("campaign", "pause", "songs") == "The campaign songs is paused.\n"
    assert cli.out("campaign", "close", "songs") == "The campaign songs is closed.\n"
    listed = cli.out("campaign", "list")
    assert "songs" in listed
    assert "closed" in listed
    assert "3 judged" in cli.out("campaign", "show", "songs")
    assert cli.out("campaign", "verify") == "Everything is there and adds up.\n"


def test_runs_may_come_after_options(place: Path, cli: Terminal) -> None:
    made = cli.out("campaign", "create", "songs", "--metadata", "tracks.csv", "-m", "CG@2", "runs")
    assert made.startswith("Made the campaign songs: 2 systems, 2 queries.")


def test_links_lead_to_where_the_server_listened_last_and_say_who_reaches_that(
    place: Path, cli: Terminal, capsys: Captured
) -> None:
    cli.out("campaign", *CREATE)
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


def test_links_tokens_and_erasing(place: Path, cli: Terminal) -> None:
    cli.out("campaign", "user", "add", "ann")
    cli.out("campaign", *CREATE)
    links = cli.out("campaign", "invite", "songs", "--count", "3", "--label", "lab", "--expires", "7d", "--address",
                "https://judge.example.org/").splitlines()  # fmt: skip
    assert len(set(links)) == 3
    assert all(link.startswith("https://judge.example.org/i/") for link in links)
    assert len(cli.out("campaign", "invite", "songs", "--cap", "20").splitlines()) == 1
    assert cli.out("campaign", "token", "ann", "--name", "notebook").startswith("adj_")
    cli.out("campaign", "import", "songs", "fine.csv", "--scale", "fine")
    receipt = json.loads(cli.out("campaign", "erase", "songs", "ann", "--how", "remove"))
    assert (receipt["code"], receipt["answers_removed"]) == ("ann", 2)
    assert cli.out("campaign", "verify") == "Everything is there and adds up.\n"
    assert cli.out("campaign", "user", "list") == "ann\n"
    assert "logged out" in cli.out("campaign", "user", "password", "ann")
    cli.out("campaign", "user", "disable", "ann")
    assert cli.out("campaign", "user", "list") == ""


def test_what_is_missing_is_said_and_can_be_given_later(place: Path, cli: Terminal, capsys: Captured) -> None:
    Path("tracks.csv").write_text("document,artist\nd1,Ann\n")
    made = cli.out("campaign", "create", "songs", "runs", "--metadata", "tracks.csv", "-m", "CG@2")
    assert "Nothing to hear, read or see yet for 5 documents: d1, d2, d3, q1, q2" in made
    assert "5 documents have nothing" in cli.refused("campaign", "open", "songs")
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
    assert "1 document taken in; 4 were there already." in cli.out("campaign", "documents", "songs", "--audio", "texts")
    cli.out("campaign", "open", "songs")


def test_a_backup_goes_and_comes_back(place: Path, cli: Terminal) -> None:
    cli.out("campaign", *CREATE)
    cli.out("campaign", "import", "songs", "fine.csv", "--scale", "fine")
    assert cli.out("campaign", "backup", "all.tar").startswith("Wrote all.tar: ")
    assert "rows and 0 files into new" in cli.out("campaign", "restore", "all.tar", "--data", "new")
    assert json.loads(cli.out("campaign", "show", "songs", "--json", "--data", "new"))["counts"]["answers"] == 3
    assert "empty or a new folder" in cli.refused("campaign", "restore", "all.tar", "--data", "new")
    assert "--data DIR" in cli.refused("campaign", "restore", "all.tar")


def test_verify_says_what_is_wrong_and_exits_with_1(place: Path, cli: Terminal, capsys: Captured) -> None:
    cli.out("campaign", *CREATE)
    assert cli.json("campaign", "verify") == {"good": True, "problems": []}
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
        (["create", "songs", "runs", "-m", "Bpref"], "effectiveness can be estimated for"),
        (["create", "songs", "runs", "--goal", "glory"], "Campaign: goal: expected one of"),
        (["create", "songs", "runs", "--language", "xx"], "expected languages among"),
        (["create", "songs", "runs", "--instructions", "gone.md"], "gone.md: cannot be read"),
        (["create", "songs", "runs", "--organiser", "nobody"], "no organiser called 'nobody'"),
        (["show", "songs"], "there are no campaigns here"),
        (["frobnicate"], "No command is called 'frobnicate'"),
        (["restore", "gone.tar", "--data", "new"], "got no file"),
        (["list", "--database", "mysql://x"], "Expected a database as"),
        (["list", "--address", "nowhere"], "Expected an address as"),
    ],
)
def test_what_is_wrong_is_one_line_and_makes_nothing(
    place: Path, cli: Terminal, arguments: list[str], message: str
) -> None:
    assert message in cli.refused("campaign", *arguments)
    if Path("adjudge-data/adjudge.sqlite3").exists():
        assert cli.json("campaign", "list") == {"campaigns": []}


def test_mistakes_about_a_campaign_are_one_line(place: Path, cli: Terminal) -> None:
    cli.out("campaign", *CREATE)
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
        assert message in cli.refused("campaign", *arguments)


def test_a_campaign_is_deleted_when_it_is_closed_and_one_says_yes(place: Path, cli: Terminal) -> None:
    cli.out("campaign", *CREATE)
    would = "adjudge: The campaign songs with 0 participants and 0 answers would be gone for good; to delete them, say"
    assert cli.refused("campaign", "delete", "songs").startswith(would)
    assert "songs" in cli.out("campaign", "list")
    gone = json.loads(cli.out("campaign", "delete", "songs", "--yes"))
    assert (gone["campaign"], gone["kind"], gone["answers"]) == ("songs", "judging", 0)
    assert cli.json("campaign", "list") == {"campaigns": []}
    assert "There is no campaign called 'songs'." in cli.refused("campaign", "delete", "songs", "--yes")


def test_a_password_is_never_typed_into_the_command(
    place: Path, cli: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADJUDGE_PASSWORD")
    assert "Expected a password in ADJUDGE_PASSWORD" in cli.refused("campaign", "user", "add", "ann")
    assert "No option is called '--password'" in cli.refused("campaign", "user", "add", "ann", "--password", "secret")


def test_data_can_be_named_by_the_environment(place: Path, cli: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_DATA", str(place / "elsewhere"))
    cli.out("campaign", *CREATE)
    assert (place / "elsewhere" / "adjudge.sqlite3").exists()
    assert not (place / "adjudge-data").exists()


def test_a_missing_extra_is_one_line(place: Path, cli: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    for arguments in (["list"], CREATE, ["user", "list"], ["restore", "x.tar", "--data", "y"]):
        line = cli.refused("campaign", *arguments)
        assert line == "adjudge: Campaigns need sqlalchemy, which is not installed: pip install 'adjudge[web]'\n"


def test_help_imports_nothing_heavy() -> None:
    heavy = "{'sqlalchemy', 'fastapi', 'numpy', 'polars', 'rich', 'pydantic'}"
    code = (
        "import sys\nfrom adjudge.cli import main\n"
        "try:\n    main(['campaign', 'create', '--help'])\nexcept SystemExit:\n    pass\n"
        f"sys.exit(bool({heavy} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


__all__ = ["place"]  # a fixture
CREATE_PREFERENCE = [
    "create",
    "lists",
    "--questions",
    "questions.csv",
    "--traps",
    "traps.csv",
    "--quiz",
    "2",
]
PROLIFIC = ["--recruiter", "prolific", "--code", "done=C1", "--code", "screened-out=C2", "--code", "failed=C3"]


@pytest.fixture
def here(place: Path) -> Path:
    """A folder with questions, traps and documents."""
    asked = some_questions(5, 3)
    write_questions(asked.select(range(5)), place / "questions.csv")
    write_questions(asked.select(range(5, 8)), place / "traps.csv")
    (place / "texts").mkdir()
    for name in {name for one in asked.questions for name in (*one.a, *one.b, one.query)}:
        (place / "texts" / f"{name}.txt").write_text(f"about {name}")
    return place


def test_a_preference_campaign_from_first_to_last(here: Path, cli: Terminal) -> None:
    options = ["--documents", "texts", "--title", "Which list?", *PROLIFIC, "--per-participant", "4", "--batch-size",
               "3", "--pause-after-batch", "--pay", "0.12", "--pay-screened-out", "0.1", "--currency", "GBP", "--fee",
               "0.33", "--judged-by", "2", "--combination", "CG@2 on fine"]  # fmt: skip
    n_texts = len(list((here / "texts").iterdir()))
    assert cli.out("campaign", *CREATE_PREFERENCE, *options).splitlines() == [
        "Made the campaign lists: 5 questions about 2 queries, 3 attention checks.",
        f"{n_texts} documents taken in.",
        "Everything is there. Open it with: adjudge campaign open lists",
    ]
    shown = cli.json("campaign", "show", "lists")
    settings = shown["settings"]
    assert (shown["kind"], shown["missing"], shown["counts"]["traps"]) == ("preference", [], 3)
    assert settings["recruiter"]["codes"] == {"done": "C1", "screened_out": "C2", "failed": "C3"}
    assert settings["pay"] == {"currency": "GBP", "per_answer": 0.12, "per_participant": 0.0,
                               "per_screened_out": 0.1, "fee_share": 0.33}  # fmt: skip
    assert (settings["pause_after_batch"], settings["batch_size"], settings["per_participant"]) == (True, 3, 4)
    lines = cli.out("campaign", "show", "lists").splitlines()
    assert [
        line.split("  ", 1)[1].strip() for line in lines if line.startswith(("questions", "attention checks", "pay"))
    ] == [
        "5, 0 answered",
        "3; 2 in the quiz, then 20 % of questions",
        "0.12 GBP per answer + 0.1 GBP per screened-out participant, fee 33 %",
    ]
    assert cli.out("campaign", "open", "lists") == "The campaign lists is open.\n"
    link = cli.out("campaign", "invite", "lists", "--address", "https://judge.example.org").strip()
    assert link.startswith("https://judge.example.org/i/")
    assert link.endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")
    listed = cli.json("campaign", "list")["campaigns"]
    assert [(one["kind"], one["questions"], one["candidates"]) for one in listed] == [("preference", 5, 0)]
    assert cli.out("campaign", "export", "lists", "questions", "-o", "back.csv") == "Wrote back.csv.\n"
    asked = some_questions(5, 3)
    assert read_questions(here / "back.csv").questions == asked.questions
    assert cli.out("campaign", "export", "lists", "answers") == "Wrote lists-answers.csv.\n"
    assert cli.out("campaign", "export", "lists", "people") == "Wrote lists-people.csv.\n"
    assert (here / "lists-people.csv").read_text().rstrip().endswith("PROLIFIC_PID,STUDY_ID,SESSION_ID")
    assert cli.out("campaign", "verify") == "Everything is there and adds up.\n"


def test_documents_can_come_later(here: Path, cli: Terminal) -> None:
    assert "Nothing to hear, read or see yet for" in cli.out("campaign", *CREATE_PREFERENCE)
    assert "something to hear, read or see for every document and query" in cli.refused("campaign", "open", "lists")
    assert "Everything is there." in cli.out("campaign", "documents", "lists", "--documents", "texts")
    assert cli.out("campaign", "open", "lists") == "The campaign lists is open.\n"


def test_another_recruiter_has_parameters_and_ways_back(here: Path, cli: Terminal) -> None:
    options = ["--recruiter", "other", "--parameter", "pid", "--parameter", "study", "--way-back",
               "done=https://panel.example.org/end?c={code}&p={pid}", "--code", "done=X"]  # fmt: skip
    cli.out("campaign", *CREATE_PREFERENCE, *options)
    settings = cli.json("campaign", "show", "lists")["settings"]
    assert settings["recruiter"]["parameters"] == ["pid", "study"]
    assert settings["recruiter"]["addresses"] == {"done": "https://panel.example.org/end?c={code}&p={pid}"}
    assert cli.out("campaign", "invite", "lists").strip().endswith("?pid={pid}&study={study}")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["create", "x"], "Expected files with runs, or --questions FILE"),
        ([*CREATE_PREFERENCE, "runs"], "Expected runs or --questions, not both; got 'runs'"),
        (
            [*CREATE_PREFERENCE, "--scale", "fine"],
            "--scale is for judging documents; with --questions two lists are compared",
        ),
        ([*CREATE_PREFERENCE, "-m", "CG@5"], "--measure is for judging documents"),
        ([*CREATE_PREFERENCE, "--names", "file"], "--names is for judging documents"),
        (["create", "x", "runs", "--combination", "CG@5 on fine"], "--combinations is for comparing two lists"),
        ([*CREATE_PREFERENCE, "--goal", "tau"], "--goal is for judging documents"),
        (["create", "x", "runs", "--quiz", "3"], "--quiz is for comparing two lists; give --questions FILE as well"),
        (["create", "x", "runs", "--pay", "3"], "--pay is for comparing two lists"),
        (["create", "x", "runs", "--code", "done=1"], "--code is for comparing two lists"),
        (["create", "x", "runs", "--traps", "traps.csv"], "--traps is for comparing two lists"),
        (
            [*CREATE_PREFERENCE, *PROLIFIC, "--code", "gone=1"],
            "--code: expected OUTCOME=… with one of done, screened-out, failed",
        ),
        (
            [*CREATE_PREFERENCE, *PROLIFIC, "--code", "done=C9"],
            "--code: expected each outcome once, got done again",
        ),
        (
            [*CREATE_PREFERENCE, "--code", "done=1"],
            "expected parameters, codes and addresses with a recruiter only",
        ),
        (
            [*CREATE_PREFERENCE, "--recruiter", "other"],
            "expected the name of the URL parameter that identifies a person",
        ),
        ([*CREATE_PREFERENCE, "--currency", "pounds"], "pay.currency"),
        ([*CREATE_PREFERENCE, "--combination", "CG@2"], "expected MEASURE on SCALE"),
        (
            [*CREATE_PREFERENCE, "--combination", "CG@2 on 0..4"],
            "CG@2 on 0..4 needs grades on 0..4; the questions have fine, broad",
        ),
        (["create", "lists", "--questions", "questions.csv"], "The quiz wants 5 attention checks, and there are none"),
        (["create", "lists", "--questions", "nowhere.csv"], "nowhere.csv"),
        ([*CREATE_PREFERENCE, "--per-participant", "0"], "per_participant"),
    ],
)
def test_mistakes_are_one_line_and_make_nothing(here: Path, cli: Terminal, arguments: list[str], sentence: str) -> None:
    assert sentence in cli.refused("campaign", *arguments)
    if (here / "adjudge-data").exists():
        assert cli.json("campaign", "list")["campaigns"] == []


def test_what_belongs_to_judging_is_refused_in_one_line(here: Path, cli: Terminal) -> None:
    cli.out("campaign", *CREATE_PREFERENCE)
    told = "asks for preferences; it takes none from files"
    assert told in cli.refused("campaign", "import", "lists", "fine.csv")
    assert "asks for preferences; nobody can be simulated" in cli.refused("campaign", "rehearse", "lists")
    assert "got 'qrels'" in cli.refused("campaign", "export", "lists", "qrels")
    assert "expected a suffix among .csv for answers" in cli.refused(
        "campaign", "export", "lists", "answers", "-o", "a.json"
    )


def test_combinations_are_named_as_elsewhere(here: Path, cli: Terminal) -> None:
    (here / "which.txt").write_text("CG@2 on fine  # first\nDCG@2 on broad\n")
    cli.out("campaign", *CREATE_PREFERENCE, "--combinations", "which.txt", "--combination", "CG@2 on broad")
    settings = cli.json("campaign", "show", "lists")["settings"]
    assert settings["combinations"] == ["CG@2 on fine", "DCG@2 on broad", "CG@2 on broad"]
    cli.out("campaign", "create", "thesis", *CREATE_PREFERENCE[2:], "--combinations", "thesis")
    settings = cli.json("campaign", "show", "thesis")["settings"]
    assert len(settings["combinations"]) == 95


CREATE_RANKING = ["create", "incipits", "--candidates", "candidates.csv"]


@pytest.fixture
def with_rankings(place: Path) -> Path:
    """A folder with candidates, runs and documents."""
    (place / "candidates.csv").write_text("query,document\nq1,a\nq1,b\nq2,a\nq2,c\n")
    (place / "one.run").write_text("q1 Q0 a 1 9 one\nq1 Q0 b 2 8 one\n")
    (place / "two.run").write_text("q1 Q0 c 1 9 two\nq1 Q0 a 2 8 two\n")
    (place / "texts").mkdir()
    for name in ("a", "b", "c", "q1", "q2"):
        (place / "texts" / f"{name}.txt").write_text(f"about {name}")
    return place


def test_a_ranking_campaign_from_first_to_last(with_rankings: Path, cli: Terminal) -> None:
    options = ["--kind", "ranking", "--documents", "texts", "--judged-by", "3", "--no-ties", "--kept-hours", "24"]
    assert cli.out("campaign", *CREATE_RANKING, *options).splitlines() == [
        "Made the campaign incipits: 4 candidates of 2 queries.",
        "5 documents taken in.",
        "Everything is there. Open it with: adjudge campaign open incipits",
    ]
    shown = cli.json("campaign", "show", "incipits")
    settings = shown["settings"]
    assert (shown["kind"], shown["missing"], shown["counts"]["pairs"]) == ("ranking", [], 2)
    assert (settings["ties"], settings["judged_by"], settings["kept_hours"], settings["listen_seconds"]) == (
        False,
        3,
        24.0,
        0.0,
    )
    assert cli.out("campaign", "candidates", "incipits", "one.run", "two.run", "--cutoff", "1") == (
        "The campaign incipits has 2 candidates of 1 query now.\n"
    )
    cli.out("campaign", "candidates", "incipits", "candidates.csv")
    assert cli.out("campaign", "open", "incipits") == "The campaign incipits is open.\n"
    assert "3 each" in cli.out("campaign", "show", "incipits")
    assert cli.out("campaign", "export", "incipits", "rankings", "-o", "rankings.csv") == "Wrote rankings.csv.\n"
    assert (with_rankings / "rankings.csv").read_text() == "query,expert,document,rank\n"
    assert cli.out("campaign", "verify") == "Everything is there and adds up.\n"


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["create", "x", "--kind", "ranking", "runs"], "--kind ranking needs --candidates FILE"),
        ([*CREATE_RANKING, "--kind", "judging"], "--kind judging needs files with runs, not --candidates"),
        (
            [*CREATE_RANKING, "--scale", "fine"],
            "--scale is for judging documents; with --candidates documents are put in order",
        ),
        (
            [*CREATE_RANKING, "--quiz", "3"],
            "--quiz is for comparing two lists; with --candidates documents are put in order",
        ),
        (["create", "x", "runs", "--rank-all"], "--rank-all is for putting documents in order; give --candidates FILE"),
        (
            [*CREATE_RANKING, "--questions", "questions.csv"],
            "Expected --questions or --candidates, not both",
        ),
        ([*CREATE_RANKING, "--cutoff", "3"], "candidates.csv: expected runs where a cutoff is given"),
        (
            [*CREATE_RANKING, "--rank-all", "--least-ranked", "2"],
            "either all documents ranked or a least number of them",
        ),
        ([*CREATE_RANKING, "--repeat-share", "0.1"], "repeat_share"),
        (["create", "x", "--candidates", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_what_is_mistyped_is_refused_in_one_line(
    with_rankings: Path, cli: Terminal, typed: list[str], sentence: str
) -> None:
    assert sentence in cli.refused("campaign", *typed)
    assert not (with_rankings / "adjudge-data" / "adjudge.sqlite3").exists()
