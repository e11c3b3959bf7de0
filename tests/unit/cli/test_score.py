"""adjudge score: its table, and the same numbers as CSV, JSON and LaTeX."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal

from adjudge.cli import main
from adjudge.cli.parser import build_parser

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq2 0 c 1\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text(QRELS)
    Path("runs").mkdir()
    Path("runs/one.txt").write_text("q1 Q0 a 1 2 alpha\nq2 Q0 c 1 2 alpha\n")
    Path("runs/two.txt").write_text("q1 Q0 b 1 2 bé_ta\nq2 Q0 x 1 3 bé_ta\nq2 Q0 a 2 2 bé_ta\n")
    return tmp_path


def _score(*arguments: str) -> None:
    assert main(["score", "qrels.txt", "runs", "-m", "P@1 RR", *arguments]) == 0


def test_csv_has_one_row_a_system_and_measure_best_first(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _score("--csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["system"], row["measure"], float(row["mean"])) for row in rows] == [
        ("alpha", "P@1", 1.0),
        ("alpha", "RR", 1.0),
        ("bé_ta", "P@1", 0.0),
        ("bé_ta", "RR", 0.25),
    ]
    assert [row["n_queries"] for row in rows] == ["2"] * 4
    # 0.25 ± t(.975, 1) s / sqrt 2 = 0.25 ± 12.7062 x 0.25, and RR ends at 0 and 1
    assert (float(rows[3]["low"]), float(rows[3]["high"])) == (0.0, 1.0)
    assert float(rows[2]["judged"]) == 0.5  # b is judged, x is not


def test_json_carries_the_digests_of_its_inputs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _score("--json")
    content = json.loads(capsys.readouterr().out)
    inputs = {entry["file"]: entry["sha256"] for entry in content["provenance"]["inputs"]}
    assert inputs["qrels.txt"] == sha256(QRELS.encode()).hexdigest()
    assert set(inputs) == {"qrels.txt", "runs/one.txt", "runs/two.txt"}
    assert content["effectiveness"][0]["mean"] == 1.0


def test_every_query_can_be_listed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _score("--per-query", "--csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0])[:4] == ["run", "query_id", "measure", "value"]
    values = {(row["run"], row["query_id"], row["measure"]): float(row["value"]) for row in rows}
    assert values["bé_ta", "q2", "RR"] == 0.5
    assert values["bé_ta", "q1", "RR"] == 0.0


def test_latex_escapes_what_latex_would_misread(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _score("--latex")
    text = capsys.readouterr().out
    assert r"bé\_ta & $0.000\pm0.000$ & $0.250\pm3.177$ & 67–75 \% & 2 \\" in text or r"bé\_ta" in text
    assert text.count(r"\\") == 3
    assert r"\toprule" in text


def test_the_suffix_of_the_output_chooses_its_form(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, beginning in (("a.json", "{"), ("a.csv", "system,"), ("a.tex", "%"), ("a.txt", "\n system")):
        _score("-o", name)
        assert Path(name).read_text().startswith(beginning)
    assert capsys.readouterr().out == ""


def test_a_file_that_was_written_is_named_on_stderr_and_nothing_is_on_stdout(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _score("-o", "scores.json")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1] == "adjudge: note: wrote scores.json"
    _score("-o", "/dev/null")
    assert "wrote" not in capsys.readouterr().err


def test_provenance_has_the_words_that_were_given_not_those_of_the_shell(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["pytest", "-x"])
    _score("--json")
    settings = json.loads(capsys.readouterr().out)["provenance"]["settings"]
    assert settings["command"] == "adjudge score qrels.txt runs -m 'P@1 RR' --json"


def test_the_table_is_aligned_and_sorted_by_the_measure_asked_for(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _score("--sort", "system")
    lines = [line for line in capsys.readouterr().out.splitlines() if re.match(r" (alpha|bé_ta)", line)]
    assert [line.split()[0] for line in lines] == ["alpha", "bé_ta"]
    assert len({len(line) for line in lines}) == 1


def test_no_colour_when_it_is_not_a_terminal(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _score()
    assert "\x1b" not in capsys.readouterr().out


def test_systems_can_be_named_after_their_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("runs/two.txt").write_text("q1 Q0 b 1 2 alpha\n")
    _score("--names", "file", "--csv")
    assert {line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]} == {"one", "two"}


def test_the_demo_can_be_written_and_scored_again_to_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    direct = cli.out("demo", "--queries", "10", "-m", "CG@5 ADR", "--csv")
    assert main(["demo", "--queries", "10", "--write", "d"]) == 0
    capsys.readouterr()
    arguments = ["d/fine.csv", "d/runs", "--scale", "fine", "--teams", "d/teams.csv", "-m", "CG@5 ADR", "--csv"]
    assert cli.out("score", *arguments) == direct


LINE = {
    "satisfaction": [
        {"measure": "P@1", "scale": "binary", "kind": "points", "points": [[0, 0.25], [1, 0.75]], "source": "our users"}
    ]
}


def test_users_of_ones_own_stand_beside_effectiveness(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("users.json").write_text(json.dumps(LINE))
    _score("--scale", "binary", "--users", "users.json", "--csv")
    rows = {(row["system"], row["measure"]): row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert [float(rows[system, "P@1"]["p_sat"]) for system in ("alpha", "bé_ta")] == [0.75, 0.25]
    assert [float(rows[system, "P@1"]["p_succ"]) for system in ("alpha", "bé_ta")] == [1.0, 0.0]
    assert rows["alpha", "RR"]["p_sat"] == ""
    _score("--scale", "binary", "--users", "users.json")
    shown = " ".join(capsys.readouterr().out.split())
    assert "P(Sat) P@1" in shown
    assert "P(Sat): share of users satisfied (our users)." in shown
    assert "no satisfaction mapping for RR on binary" in shown


def test_satisfaction_of_every_query_is_that_of_its_effectiveness(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("users.json").write_text(json.dumps(LINE))
    _score("--scale", "binary", "--users", "users.json", "--per-query", "--csv")
    for row in csv.DictReader(io.StringIO(capsys.readouterr().out)):
        wanted = 0.25 + 0.5 * float(row["value"]) if row["measure"] == "P@1" else None
        assert (float(row["p_sat"]) if row["p_sat"] else None) == wanted


def test_columns_can_be_named(files: Path, cli: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    Path("stars.csv").write_text("who,what,stars\nq1,a,1\nq1,b,0\nq2,a,1\nq2,c,1\n")
    plain = cli.out("score", "qrels.txt", "runs", "-m", "P@1", "--csv")
    named = ["--columns", "query=who,document=what,grade=stars"]
    assert cli.out("score", "stars.csv", "runs", "-m", "P@1", "--csv", *named) == plain
    assert "--columns query=NAME,document=NAME,grade=NAME" in cli.refused("score", "stars.csv", "runs")
    assert main(["score", "stars.csv", "runs", "--columns", "query=who,document=what,grade=star"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("adjudge: stars.csv:1: expected a column for the grade (")
    assert "got the columns 'who', 'what', 'stars'; there is no column 'star', which 'columns' names" in said


def test_a_name_that_no_table_has_is_refused_before_anything_is_printed_or_written(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("judged.csv").write_text("query,doc,grade\nq1,a,1\nq1,b,0\nq2,a,1\nq2,c,1\n")
    wrong = ["--columns", "assessor=foo"]
    for command in (["score"], ["compare"], ["plan"], ["report", "-o", "report.html"]):
        assert main([command[0], "judged.csv", "runs", "-m", "P@1", *command[1:], *wrong]) == 2
        out, err = capsys.readouterr()
        assert (out, Path("report.html").exists()) == ("", False)
        assert "columns: expected 'foo' for the assessor, got the columns 'query', 'doc', 'grade'" in err


def test_the_scores_of_a_run_may_be_called_as_the_grades_of_judgments(files: Path) -> None:
    Path("judged.csv").write_text("query,doc,relevance\nq1,a,1\nq1,b,0\n")
    Path("vespa.csv").write_text("query,id,relevance\nq1,a,0.5\nq1,b,0.7\n")
    assert main(["score", "judged.csv", "vespa.csv", "-m", "P@1", "--columns", "score=relevance"]) == 0


def test_one_column_for_two_things_is_refused(files: Path, cli: Terminal) -> None:
    Path("stars.csv").write_text("who,what,stars\nq1,a,1\n")
    assert "expected columns of their own for query and document, got 'who'" in cli.refused(
        "score", "stars.csv", "runs", "--columns", "query=who,document=who,grade=stars"
    )


def test_every_command_that_reads_tables_takes_names_of_columns() -> None:
    without = {
        *("serve", "campaign", "groundtruth", "experiment", "audio", "measures", "formats", "completion", "demo"),
        "reproduce",
    }
    (commands,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    for name, parser in commands.choices.items():
        assert name in without or "--columns" in parser._option_string_actions, name
