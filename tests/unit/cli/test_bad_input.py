"""Bad input gets one clear line, exit code 2, no traceback and no output file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal

RUN = "q1 Q0 a 1 2.0 mine\nq1 Q0 b 2 1.0 mine\nq2 Q0 a 1 2.0 mine\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n")
    Path("run.txt").write_text(RUN)
    Path("short.txt").write_text(RUN + "q2 Q0 b 2 1.0\n")
    Path("same.txt").write_text(RUN + "q2 Q0 b 2 1.0 mine\n")
    Path("binary.txt").write_bytes(b"\x00\x01\x02")
    Path("contradicting.txt").write_text("q1 0 a 1\nq1 0 a 0\n")
    Path("twice.csv").write_text("query,document,grade,grade\nq1,a,1,2\n")
    Path("empty").mkdir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels.txt", "short.txt"], "short.txt:4: expected 6 columns, got 5"),
        (["qrels.txt", "binary.txt"], "binary.txt:1: expected text, got binary data"),
        (["qrels.txt", "same.txt", "run.txt"], "run.txt: expected each system once, got 'mine' again (first in same"),
        (["contradicting.txt", "run.txt"], "expected one grade for document 'a' of query 'q1', got 1 and 0"),
        (["twice.csv", "run.txt"], "twice.csv:1: expected one column for the grade, got 'grade' and 'grade'\n"),
        (["nowhere.txt", "run.txt"], "nowhere.txt: cannot be read: no such file or directory"),
        (["qrels.txt", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["qrels.txt", "empty"], "empty: expected a directory with runs, got an empty one"),
        (["qrels.txt", ""], "expected a file with runs, got an empty name"),
        (["", "run.txt"], "expected a file with judgments, got an empty name"),
        (["qrels.txt", "*.nothing"], "*.nothing: expected files with runs, got none that match the pattern"),
        (["qrels.txt", "run.txt", "-m", "NDCG@10"], "No measure is called 'NDCG'. Did you mean 'nDCG'?"),
        (["qrels.txt", "run.txt", "-m", "RBP(p=1.5)"], "RBP: 'p' must be in (0, 1), got 1.5"),
        (["qrels.txt", "run.txt", "-m", "PSum@5", "--scale", "0..4"], "PSum@5: expected judgments on the Broad scale"),
        (["qrels.txt", "run.txt", "--scale", "binary"], "qrels.txt:3: expected grades on the scale binary (0..1), got"),
        (["qrels.txt", "run.txt", "--scale", "rough"], "Scale: expected one of binary, broad, fine"),
        (["qrels.txt", "run.txt", "--rescale", "graded9"], "Conversion: graded9 has 9 levels"),
        (["qrels.txt", "run.txt", "--format", "docx"], "No format is called 'docx'"),
        (["qrels.txt", "run.txt", "--artist-filter"], "The artist filter needs metadata with a column 'artist'."),
        (["qrels.txt", "run.txt", "--depth", "0"], "'depth' must be a whole number of at least 1, got 0"),
        (["qrels.txt", "run.txt", "--confidence", "95"], "'confidence' must be in (0, 1), got 95"),
        (["qrels.txt", "run.txt", "--sort", "AP"], "No measure of this table is called 'AP'"),
        (["qrels.txt", "run.txt", "-o", "no/such.csv"], "no/such.csv: expected a file in an existing directory"),
        (["qrels.txt", "run.txt", "-o", ""], "expected a file as output, got an empty name"),
        (["run.txt", "qrels.txt"], "run.txt: expected judgments, but this looks like a run; on the command"),
        (["--nonsense", "a", "b"], "No option is called '--nonsense'"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_line_and_an_older_output_stays(
    cli: Terminal, arguments: list[str], message: str
) -> None:
    Path("out.csv").write_text("precious")
    output = [] if "-o" in arguments else ["-o", "out.csv"]
    measures = [] if "-m" in arguments else ["-m", "nDCG@10"]
    assert message in cli.refused("score", *arguments, *measures, *output)
    assert Path("out.csv").read_text() == "precious"


def test_what_weakens_a_result_is_said_and_counted_as_documented(cli: Terminal) -> None:
    Path("run.txt").write_text("q1 Q0 a 1 2.0 mine\nq9 Q0 a 1 2.0 mine\n")
    said = cli("score", "qrels.txt", "run.txt", "-m", "P@1")
    assert (said.code, said.err) == (0, "")
    assert "1 query of the runs without judgments left out: q9." in said.out
    assert "1 list missing: nothing retrieved by mine for judged queries such as 'q2'; each counts 0." in said.out
    assert "0.500" in said.out
    as_csv = cli("score", "qrels.txt", "run.txt", "-m", "P@1", "--csv")
    assert "note: 1 query of the runs without judgments left out: q9." in as_csv.err


def test_figures_need_the_name_of_a_folder(cli: Terminal) -> None:
    assert "expected a directory for figures, got an empty name" in cli.refused(
        "plan", "qrels.txt", "run.txt", "--figures", ""
    )
