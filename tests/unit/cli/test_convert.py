"""adjudge convert: the same numbers from any format, and never over an input."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq2 0 c 1\n"
ASSESSED = "query,document,grade,assessor\nq1,a,1,ann\nq1,a,2,ben\nq1,b,0,ann\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text(QRELS)
    Path("runs").mkdir()
    Path("runs/one.txt").write_text("q1 Q0 a 1 2 alpha\nq2 Q0 c 1 2 alpha\n")
    Path("runs/two.txt").write_text("q1 Q0 b 1 2 bé_ta\nq2 Q0 x 1 3 bé_ta\nq2 Q0 a 2 2 bé_ta\n")
    Path("assessed.csv").write_text(ASSESSED)
    Path("metadata.csv").write_text("id,Artist\na,x\n")


def scored(cli: Terminal, judgments: str = "qrels.txt", runs: str = "runs") -> str:
    return cli.out("score", judgments, runs, "-m", "P@1 RR", "--csv")


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let the next command read a text from standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize("target", ["all.tsv", "all.csv.gz", "all.parquet.gz", "all.json", "all.JSONL", "all"])
def test_runs_can_be_converted_and_give_the_same_scores(cli: Terminal, target: str) -> None:
    direct = scored(cli)
    assert cli("convert", "runs", "runs", "-o", target) == (0, "", f"adjudge: note: wrote {target}\n")
    assert scored(cli, runs=target) == direct


@pytest.mark.parametrize("target", ["j.tsv", "j.csv", "j.parquet.xz", "j.json", "j.ndjson", "j.qrels", "j.txt.bz2"])
def test_judgments_can_be_converted(cli: Terminal, target: str) -> None:
    direct = scored(cli)
    cli.out("convert", "judgments", "qrels.txt", "-o", target)
    assert scored(cli, judgments=target) == direct


def test_a_device_that_was_written_is_not_named(cli: Terminal) -> None:
    assert cli("convert", "judgments", "qrels.txt", "--to", "csv", "-o", "/dev/null") == (0, "", "")


def test_the_last_input_is_not_taken_for_the_output(cli: Terminal) -> None:
    before = Path("runs/two.txt").read_bytes()
    assert "-o/--output" in cli.refused("convert", "runs", "runs/one.txt", "runs/two.txt")
    assert Path("runs/two.txt").read_bytes() == before


@pytest.mark.parametrize("target", ["runs/two.txt", "./runs/../runs/two.txt", "link.txt"])
@pytest.mark.parametrize("given", ["runs", "runs/*.txt", "runs/two.txt"])
def test_an_input_is_not_overwritten(cli: Terminal, given: str, target: str) -> None:
    Path("link.txt").symlink_to("runs/two.txt")
    before = Path("runs/two.txt").read_bytes()
    assert f"{target}: is an input, and would be overwritten" in cli.refused("convert", "runs", given, "-o", target)
    assert Path("runs/two.txt").read_bytes() == before


@pytest.mark.parametrize(("how", "grade"), [("mean", "1.5"), ("median", "1.5"), ("min", "1"), ("max", "2")])
def test_several_assessors_are_combined_if_asked_and_not_lost_in_qrels(cli: Terminal, how: str, grade: str) -> None:
    message = cli.refused("convert", "judgments", "assessed.csv", "-o", "j.qrels")
    assert "TREC qrels hold no assessors; combine them first: --combine mean" in message
    assert not Path("j.qrels").exists()
    cli.out("convert", "judgments", "assessed.csv", "-o", "j.qrels", "--combine", how)
    assert Path("j.qrels").read_text() == f"q1 0 a {grade}\nq1 0 b 0\n"


def test_assessors_stay_where_the_format_holds_them(cli: Terminal) -> None:
    cli.out("convert", "judgments", "assessed.csv", "-o", "j.csv")
    assert Path("j.csv").read_text().splitlines()[1:] == ["q1,a,1.0,ann", "q1,a,2.0,ben", "q1,b,0.0,ann"]


def test_systems_can_be_named_after_their_files(cli: Terminal) -> None:
    cli.out("convert", "runs", "runs", "-o", "r.csv", "--names", "file")
    assert {line.split(",")[0] for line in Path("r.csv").read_text().splitlines()[1:]} == {"one", "two"}


@pytest.mark.parametrize(
    ("kind", "given", "target", "came"),
    [
        ("runs", "runs", "r.xlsx", "'.xlsx'"),
        ("judgments", "qrels.txt", "j.mirex", "'.mirex'"),
        ("judgments", "qrels.txt", "j.xls.gz", "'.xls'"),
        ("metadata", "metadata.csv", "m.txt", "'.txt'"),
        ("metadata", "metadata.csv", "m", "none"),
        ("metadata", "metadata.csv", "-", "none"),
    ],
)
def test_a_suffix_that_says_nothing_is_refused(cli: Terminal, kind: str, given: str, target: str, came: str) -> None:
    message = cli.refused("convert", kind, given, "-o", target)
    assert f"{target}: expected a suffix that says how to write {kind} (" in message
    assert message.endswith(f"or a format (--to, format=), got {came}\n")
    assert " .csv " in message
    assert not Path(target).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["judgments", "qrels.txt", "-o", "j.csv", "--names", "tag"], "'names' is for runs, not for judgments."),
        (["runs", "runs", "-o", "r.csv", "--combine", "mean"], "'combine' is for judgments, not for runs."),
        (
            ["metadata", "metadata.csv", "-o", "m", "--to", "trec"],
            "The format trec does not write metadata; these do: tsv, csv, parquet, json, jsonl.",
        ),
    ],
)
def test_options_of_another_kind_are_refused(cli: Terminal, arguments: list[str], message: str) -> None:
    assert message in cli.refused("convert", *arguments)


def test_a_dash_reads_standard_input_and_writes_standard_output(cli: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, QRELS)
    assert cli("convert", "judgments", "-", "-o", "-") == (0, QRELS, "")
    assert not Path("-").exists()


def test_runs_come_through_a_pipe_once_and_their_faults_are_named(
    cli: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = scored(cli, runs="runs/one.txt")
    pipe(monkeypatch, Path("runs/one.txt").read_text())
    assert scored(cli, runs="-") == direct
    pipe(monkeypatch, "q1 Q0 a 1 high s\n")
    fault = cli.refused("convert", "runs", "-", "-o", "r.csv")
    assert "<stdin>:1: expected a finite number as score, got 'high'" in fault
    twice = cli.refused("score", "-", "-", "-m", "P@1")
    assert "Standard input can be read once, got '-' for judgments and runs." in twice
