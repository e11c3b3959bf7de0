"""adjudge score: its table, and the same numbers as CSV, JSON and LaTeX."""

from __future__ import annotations

import argparse
import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal, typed

from adjudge.cli.parser import build_parser

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq2 0 c 1\n"
ASKED = ("score", "qrels.txt", "runs", "-m", "P@1 RR")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text(QRELS)
    Path("runs").mkdir()
    Path("runs/one.txt").write_text("q1 Q0 a 1 2 alpha\nq2 Q0 c 1 2 alpha\n")
    Path("runs/two.txt").write_text("q1 Q0 b 1 2 bé_ta\nq2 Q0 x 1 3 bé_ta\nq2 Q0 a 2 2 bé_ta\n")


def test_csv_has_one_row_per_system_and_measure_best_first(cli: Terminal) -> None:
    rows = cli.rows(*ASKED)
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


def test_json_says_what_was_typed_and_the_digests_of_its_inputs(cli: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["pytest", "-x"])  # another program gave the words, not the shell
    content = cli.json(*ASKED)
    inputs = {entry["file"]: entry["sha256"] for entry in content["provenance"]["inputs"]}
    assert inputs["qrels.txt"] == sha256(QRELS.encode()).hexdigest()
    assert set(inputs) == {"qrels.txt", "runs/one.txt", "runs/two.txt"}
    assert content["provenance"]["settings"]["command"] == "adjudge score qrels.txt runs -m 'P@1 RR' --json"
    assert content["effectiveness"][0]["mean"] == 1.0


def test_every_query_can_be_listed(cli: Terminal) -> None:
    rows = cli.rows(*ASKED, "--per-query")
    assert list(rows[0])[:4] == ["run", "query_id", "measure", "value"]
    values = {(row["run"], row["query_id"], row["measure"]): float(row["value"]) for row in rows}
    assert (values["bé_ta", "q1", "RR"], values["bé_ta", "q2", "RR"]) == (0.0, 0.5)


def test_latex_escapes_what_latex_would_misread(cli: Terminal) -> None:
    text = cli.out(*ASKED, "--latex")
    assert r"b\'{e}\_ta & " in text
    assert "50--75" in text, "a range of shares is not split"
    assert text.count(r"\\") == 3
    assert r"\toprule" in text


@pytest.mark.parametrize(("name", "start"), [("a.json", "{"), ("a.csv", "system,"), ("a.tex", "%"), ("a", "\n system")])
def test_the_suffix_of_the_output_chooses_its_form_and_the_file_is_named_on_stderr(
    cli: Terminal, name: str, start: str
) -> None:
    said = cli(*ASKED, "-o", name)
    assert (said.code, said.out) == (0, "")
    assert said.err.splitlines()[-1] == f"adjudge: note: wrote {name}"
    assert Path(name).read_text().startswith(start)
    assert "wrote" not in cli(*ASKED, "-o", "/dev/null").err


def test_the_table_is_aligned_sorted_and_without_colour_where_there_is_no_terminal(cli: Terminal) -> None:
    out = cli.out(*ASKED, "--sort", "system")
    lines = [line for line in out.splitlines() if re.match(r" (alpha|bé_ta)", line)]
    assert [line.split()[0] for line in lines] == ["alpha", "bé_ta"]
    assert len({len(line) for line in lines}) == 1
    assert "\x1b" not in out


def test_systems_can_be_named_after_their_files(cli: Terminal) -> None:
    Path("runs/two.txt").write_text("q1 Q0 b 1 2 alpha\n")
    assert {row["system"] for row in cli.rows(*ASKED, "--names", "file")} == {"one", "two"}


def test_the_demo_can_be_written_and_scored_again_to_the_same_numbers(cli: Terminal) -> None:
    direct = cli.out("demo", "--queries", "10", "-m", "CG@5 ADR", "--csv")
    cli.out("demo", "--queries", "10", "--write", "d")
    arguments = ["d/fine.csv", "d/runs", "--scale", "fine", "--teams", "d/teams.csv", "-m", "CG@5 ADR", "--csv"]
    assert cli.out("score", *arguments) == direct


def test_users_of_ones_own_stand_beside_effectiveness(cli: Terminal) -> None:
    mapping = {"measure": "P@1", "scale": "binary", "kind": "points", "points": [[0, 0.25], [1, 0.75]]}
    Path("users.json").write_text(json.dumps({"satisfaction": [{**mapping, "source": "our users"}]}))
    asked = (*ASKED, "--scale", "binary", "--users", "users.json")
    rows = {(row["system"], row["measure"]): row for row in cli.rows(*asked)}
    assert [float(rows[system, "P@1"]["p_sat"]) for system in ("alpha", "bé_ta")] == [0.75, 0.25]
    assert [float(rows[system, "P@1"]["p_succ"]) for system in ("alpha", "bé_ta")] == [1.0, 0.0]
    assert rows["alpha", "RR"]["p_sat"] == ""
    shown = " ".join(cli.out(*asked).split())
    assert "P(Sat) P@1" in shown
    assert "P(Sat): share of users satisfied (our users)." in shown
    assert "no satisfaction mapping for RR on binary" in shown
    for row in cli.rows(*asked, "--per-query"):  # that of each query is that of its effectiveness
        wanted = 0.25 + 0.5 * float(row["value"]) if row["measure"] == "P@1" else None
        assert (float(row["p_sat"]) if row["p_sat"] else None) == wanted


def test_columns_can_be_named(cli: Terminal) -> None:
    Path("stars.csv").write_text("who,what,stars\nq1,a,1\nq1,b,0\nq2,a,1\nq2,c,1\n")
    named = ["--columns", "query=who,document=what,grade=stars"]
    assert cli.rows("score", "stars.csv", *ASKED[2:], *named) == cli.rows(*ASKED)


@pytest.mark.parametrize(
    ("columns", "messages"),
    [
        (None, ["--columns query=NAME,document=NAME,grade=NAME"]),
        ("query=who,document=what,grade=star", [
            "adjudge: stars.csv:1: expected a column for the grade (",
            "got the columns 'who', 'what' and 'stars'; there is no column 'star', which 'columns' names",
        ]),
        ("query=who,document=who,grade=stars", ["expected columns of their own for query and document, got 'who'"]),
    ],
)  # fmt: skip
def test_columns_that_are_not_known_are_refused(cli: Terminal, columns: str | None, messages: list[str]) -> None:
    Path("stars.csv").write_text("who,what,stars\nq1,a,1\n")
    said = cli.refused("score", "stars.csv", "runs", *([] if columns is None else ["--columns", columns]))
    assert all(message in said for message in messages)


@pytest.mark.parametrize("command", [["score"], ["compare"], ["plan"], ["report", "-o", "report.html"]])
def test_a_name_that_no_table_has_is_refused_before_anything_is_printed_or_written(
    cli: Terminal, command: list[str]
) -> None:
    Path("judged.csv").write_text("query,doc,grade\nq1,a,1\nq1,b,0\nq2,a,1\nq2,c,1\n")
    said = cli(command[0], "judged.csv", "runs", "-m", "P@1", *command[1:], "--columns", "assessor=foo")
    assert (said.code, said.out, Path("report.html").exists()) == (2, "", False)
    assert "columns: expected 'foo' for the assessor, got the columns 'query', 'doc' and 'grade'" in said.err


def test_every_command_that_reads_tables_takes_names_of_columns() -> None:
    without = typed("serve campaign groundtruth experiment audio measures formats completion demo reproduce")
    (commands,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    for name, parser in commands.choices.items():
        assert name in without or "--columns" in parser._option_string_actions, name
