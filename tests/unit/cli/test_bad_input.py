"""Bad input gets one clear line, exit code 2, no traceback and no output file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal

from adjudge.cli import main

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"
RUN = "q1 Q0 a 1 2.0 mine\nq1 Q0 b 2 1.0 mine\nq2 Q0 a 1 2.0 mine\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "empty").mkdir()
    return tmp_path


def _write(name: str, content: str | bytes) -> None:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


CASES: list[tuple[str, str | bytes | None, list[str], str]] = [
    ("a short line", RUN + "q2 Q0 b 2 1.0\n", [], "bad.txt:4: expected 6 columns, got 5"),
    ("a word as score", RUN + "q2 Q0 b 2 high mine\n", [], "bad.txt:4: expected a finite number as score, got 'high'"),
    ("a NaN score", RUN + "q2 Q0 b 2 nan mine\n", [], "bad.txt:4: expected a finite number as score, got 'nan'"),
    (
        "an infinite score",
        RUN + "q2 Q0 b 2 -inf mine\n",
        [],
        "bad.txt:4: expected a finite number as score, got '-inf'",
    ),
    ("an empty file", "", [], "bad.txt: expected data, got an empty file"),
    ("a blank file", "\n \n", [], "bad.txt: expected data, got an empty file"),
    ("a binary file", b"\x00\x01\x02", [], "bad.txt:1: expected text, got binary data"),
    (
        "bytes that are not UTF-8",
        RUN.encode() + b"q2 Q0 caf\xe9\x81 2 1 mine\n",
        [],
        "bad.txt:4: expected text in UTF-8",
    ),
    ("a broken gzip file", gzip.compress(RUN.encode(), mtime=0)[:-9], [], "bad.txt: expected intact compressed data"),
    ("a file that is nothing known", "hello\n", [], "bad.txt: expected runs in a known format"),
    (
        "the same system twice",
        RUN + "q2 Q0 b 2 1.0 mine\n",
        ["run.txt"],
        "run.txt: expected each system once, got 'mine' again (first in bad.txt)",
    ),
]


@pytest.mark.parametrize(("content", "more", "message"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_bad_run_is_named_with_its_place(
    files: Path, capsys: pytest.CaptureFixture[str], content: str | bytes, more: list[str], message: str
) -> None:
    _write("bad.txt", content)
    code = main(["score", "qrels.txt", "bad.txt", *more, "-m", "P@2", "-o", "out.csv"])
    captured = capsys.readouterr()
    assert code == 2
    assert captured.err.startswith("adjudge: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt", "run.txt"], "nowhere.txt: cannot be read: no such file or directory"),
        (["qrels.txt", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["qrels.txt", "empty"], "empty: expected a directory with runs, got an empty one"),
        (["qrels.txt", "*.nothing"], "*.nothing: expected files with runs, got none that match the pattern"),
        (["qrels.txt", "run.txt", "-m", "NDCG@10"], "No measure is called 'NDCG'. Did you mean 'nDCG'?"),
        (["qrels.txt", "run.txt", "-m", "nDCG@0"], "nDCG: the cutoff must be from 1 to 1,000,000, got 0"),
        (["qrels.txt", "run.txt", "-m", "RBP(p=1.5)"], "RBP: 'p' must be in (0, 1), got 1.5"),
        (["qrels.txt", "run.txt", "-m", "PSum@5", "--scale", "0..4"], "PSum@5: expected judgments on the Broad scale"),
        (["qrels.txt", "run.txt", "--scale", "binary"], "qrels.txt:3: expected grades on the scale binary (0..1), got"),
        (["qrels.txt", "run.txt", "--scale", "rough"], "Scale: expected one of binary, broad, fine"),
        (["qrels.txt", "run.txt", "--rescale", "graded9"], "Conversion: graded9 wants 9 levels"),
        (["qrels.txt", "run.txt", "--format", "docx"], "No format is called 'docx'"),
        (["qrels.txt", "run.txt", "--artist-filter"], "The artist filter needs metadata with a column 'artist'."),
        (["qrels.txt", "run.txt", "--depth", "0"], "'depth' must be a whole number of at least 1, got 0"),
        (["qrels.txt", "run.txt", "--confidence", "95"], "'confidence' must be in (0, 1), got 95"),
        (["qrels.txt", "run.txt", "--sort", "AP"], "No measure of this table is called 'AP'"),
        (
            ["qrels.txt", "run.txt", "-o", "no/such/dir.csv"],
            "no/such/dir.csv: expected a file in an existing directory",
        ),
        (["run.txt", "qrels.txt"], "run.txt: expected judgments, but this looks like a run; on the command"),
    ],
)
def test_a_bad_argument_is_refused_in_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    measures = [] if "-m" in arguments else ["-m", "nDCG@10"]
    code = main(["score", *arguments, *measures])
    captured = capsys.readouterr()
    assert code == 2
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_an_unknown_option_is_one_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["score", "--nonsense", "a", "b"])
    assert capsys.readouterr().err.count("\n") == 1


def test_an_older_output_file_survives_a_failure(files: Path) -> None:
    _write("out.csv", "precious")
    _write("bad.txt", "q1 Q0 a 1\n")
    assert main(["score", "qrels.txt", "bad.txt", "-o", "out.csv"]) == 2
    assert Path("out.csv").read_text() == "precious"


def test_contradicting_judgments_are_refused(files: Path, cli: Terminal) -> None:
    _write("qrels.txt", QRELS + "q1 0 a 0\n")
    assert "expected one grade for document 'a' of query 'q1', got 1 and 0" in cli.refused(
        "score", "qrels.txt", "run.txt"
    )


def test_what_weakens_a_result_is_said_and_counted_as_documented(
    files: Path, cli: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    _write("run.txt", "q1 Q0 a 1 2.0 mine\nq9 Q0 a 1 2.0 mine\n")
    captured = cli("score", "qrels.txt", "run.txt", "-m", "P@1")
    assert captured.code == 0
    assert "1 query of the runs without judgments left out: q9." in captured.out
    assert "1 list missing: nothing retrieved by mine for judged queries such as 'q2'; each counts 0." in captured.out
    assert captured.err == ""
    assert "0.500" in captured.out
    assert main(["score", "qrels.txt", "run.txt", "-m", "P@1", "--csv"]) == 0
    assert "note: 1 query of the runs without judgments left out: q9." in capsys.readouterr().err
