"""adjudge convert: the same numbers from any format, and never over an input."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal

from adjudge.cli import main

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq2 0 c 1\n"
ASSESSED = "query,document,grade,assessor\nq1,a,1,ann\nq1,a,2,ben\nq1,b,0,ann\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text(QRELS)
    Path("runs").mkdir()
    Path("runs/one.txt").write_text("q1 Q0 a 1 2 alpha\nq2 Q0 c 1 2 alpha\n")
    Path("runs/two.txt").write_text("q1 Q0 b 1 2 bé_ta\nq2 Q0 x 1 3 bé_ta\nq2 Q0 a 2 2 bé_ta\n")
    Path("assessed.csv").write_text(ASSESSED)
    Path("metadata.csv").write_text("id,Artist\na,x\n")
    return tmp_path


def _scored(capsys: pytest.CaptureFixture[str], judgments: str = "qrels.txt", runs: str = "runs") -> str:
    assert main(["score", judgments, runs, "-m", "P@1 RR", "--csv"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "target", ["all.tsv", "all.csv.gz", "all.parquet", "all.parquet.gz", "all.json", "all.JSONL", "all.txt.ZST", "all"]
)
def test_runs_can_be_converted_and_give_the_same_scores(
    files: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    direct = _scored(capsys)
    assert main(["convert", "runs", "runs", "-o", target]) == 0
    assert _scored(capsys, runs=target) == direct


@pytest.mark.parametrize("target", ["j.tsv", "j.csv", "j.parquet.xz", "j.json", "j.ndjson", "j.qrels", "j.txt.bz2"])
def test_judgments_can_be_converted(files: Path, capsys: pytest.CaptureFixture[str], target: str) -> None:
    direct = _scored(capsys)
    assert main(["convert", "judgments", "qrels.txt", "-o", target]) == 0
    assert _scored(capsys, judgments=target) == direct


def test_the_file_that_was_written_is_named(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "judgments", "qrels.txt", "-o", "j.csv"]) == 0
    assert capsys.readouterr() == ("", "adjudge: note: wrote j.csv\n")
    assert main(["convert", "judgments", "qrels.txt", "--to", "csv", "-o", "/dev/null"]) == 0
    assert capsys.readouterr() == ("", "")


def test_the_last_input_is_not_taken_for_the_output(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("runs/two.txt").read_bytes()
    with pytest.raises(SystemExit, match="2"):
        main(["convert", "runs", "runs/one.txt", "runs/two.txt"])
    assert "-o/--output" in capsys.readouterr().err
    assert Path("runs/two.txt").read_bytes() == before


@pytest.mark.parametrize("target", ["runs/two.txt", "./runs/../runs/two.txt", "link.txt"])
@pytest.mark.parametrize("given", ["runs", "runs/*.txt", "runs/two.txt"])
def test_an_input_is_not_overwritten(files: Path, cli: Terminal, given: str, target: str) -> None:
    Path("link.txt").symlink_to("runs/two.txt")
    before = Path("runs/two.txt").read_bytes()
    assert f"{target}: is an input, and would be overwritten" in cli.refused("convert", "runs", given, "-o", target)
    assert Path("runs/two.txt").read_bytes() == before


def test_several_assessors_are_not_lost_in_qrels(files: Path, cli: Terminal) -> None:
    message = cli.refused("convert", "judgments", "assessed.csv", "-o", "j.qrels")
    assert "TREC qrels hold no assessors; combine them first: --combine mean" in message
    assert not Path("j.qrels").exists()


@pytest.mark.parametrize(("how", "grade"), [("mean", "1.5"), ("median", "1.5"), ("min", "1"), ("max", "2")])
def test_several_assessors_can_be_combined(files: Path, how: str, grade: str) -> None:
    assert main(["convert", "judgments", "assessed.csv", "-o", "j.qrels", "--combine", how]) == 0
    assert Path("j.qrels").read_text() == f"q1 0 a {grade}\nq1 0 b 0\n"


def test_assessors_stay_where_the_format_holds_them(files: Path) -> None:
    assert main(["convert", "judgments", "assessed.csv", "-o", "j.csv"]) == 0
    assert Path("j.csv").read_text().splitlines()[1:] == ["q1,a,1.0,ann", "q1,a,2.0,ben", "q1,b,0.0,ann"]


def test_options_of_another_kind_are_refused(files: Path, cli: Terminal) -> None:
    names = ["judgments", "qrels.txt", "-o", "j.csv", "--names", "tag"]
    assert "'names' is for runs, not for judgments." in cli.refused("convert", *names)
    combine = ["runs", "runs", "-o", "r.csv", "--combine", "mean"]
    assert "'combine' is for judgments, not for runs." in cli.refused("convert", *combine)


def test_systems_can_be_named_after_their_files(files: Path) -> None:
    assert main(["convert", "runs", "runs", "-o", "r.csv", "--names", "file"]) == 0
    assert {line.split(",")[0] for line in Path("r.csv").read_text().splitlines()[1:]} == {"one", "two"}


@pytest.mark.parametrize(
    ("kind", "given", "target", "came"),
    [
        ("runs", "runs", "r.xlsx", "'.xlsx'"),
        ("judgments", "qrels.txt", "j.mirex", "'.mirex'"),
        ("judgments", "qrels.txt", "j.xls.gz", "'.xls'"),
        ("metadata", "metadata.csv", "m.qrels", "'.qrels'"),
        ("metadata", "metadata.csv", "m.txt", "'.txt'"),
        ("metadata", "metadata.csv", "m", "none"),
        ("metadata", "metadata.csv", "-", "none"),
    ],
)
@pytest.mark.usefixtures("files")
def test_a_suffix_that_says_nothing_is_refused(cli: Terminal, kind: str, given: str, target: str, came: str) -> None:
    message = cli.refused("convert", kind, given, "-o", target)
    assert f"{target}: expected a suffix that says how to write {kind} (" in message
    assert message.endswith(f"or a format (--to, format=), got {came}\n")
    assert " .csv " in message
    assert not Path(target).exists()


def test_a_format_that_does_not_write_the_kind_is_refused(files: Path, cli: Terminal) -> None:
    message = cli.refused("convert", "metadata", "metadata.csv", "-o", "m", "--to", "trec")
    assert "The format trec does not write metadata; these do: tsv, csv, parquet, json, jsonl." in message


def test_a_dash_reads_standard_input_and_writes_standard_output(
    files: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(QRELS.encode())))
    assert main(["convert", "judgments", "-", "-o", "-"]) == 0
    assert capsysbinary.readouterr().out == QRELS.encode()
    assert not Path("-").exists()


def test_standard_input_is_read_once(files: Path, cli: Terminal) -> None:
    assert "Standard input can be read once, got '-' for judgments and runs." in cli.refused(
        "score", "-", "-", "-m", "P@1"
    )


def test_runs_come_through_a_pipe(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = _scored(capsys, runs="runs/one.txt")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("runs/one.txt").read_bytes())))
    assert _scored(capsys, runs="-") == direct


def test_a_fault_in_standard_input_is_named(files: Path, cli: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"q1 Q0 a 1 high s\n")))
    assert "<stdin>:1: expected a finite number as score, got 'high'" in cli.refused(
        "convert", "runs", "-", "-o", "r.csv"
    )
