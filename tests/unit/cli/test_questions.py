"""adjudge questions, as a user types it, and as one mistypes it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pytest
from tests.unit.cli.conftest import Terminal

from adjudge.cli import main
from adjudge.preferences.files import read_questions

Captured = pytest.CaptureFixture[str]
FINE = ["--judgments", "fine.csv", "--scale", "fine"]
QUICK = ["-m", "CG@5", "--per-bin", "2", "--bins", "5"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fine and Broad judgments, and two runs."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = [(f"q{q}", f"d{d}", int(rng.integers(101)), int(rng.integers(3))) for q in range(6) for d in range(40)]
    for name, column in (("fine", 2), ("broad", 3)):
        lines = [f"{row[0]},{row[1]},{row[column]}" for row in rows]
        Path(f"{name}.csv").write_text("\n".join(["query,document,grade", *lines]) + "\n")
    for system in ("x", "y"):
        ranked = [
            f"q{q} Q0 d{d} {rank} {10 - rank} {system}\n"
            for q in range(6)
            for rank, d in enumerate(rng.permutation(40)[:8], start=1)
        ]
        Path(f"{system}.txt").write_text("".join(ranked))
    return tmp_path


def refused(capsys: Captured, *arguments: str) -> str:
    """The one line that the command refuses with; no file is there."""
    try:
        code = main(["questions", *arguments, "-o", "q.csv"])
    except SystemExit as stop:
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert not Path("q.csv").exists()
    return captured.err


def test_questions_are_written_and_their_coverage_is_told(folder: Path, cli: Terminal) -> None:
    out = cli.out("questions", *FINE, *QUICK, "--on", "fine,binary40", "--traps", "1", "-o", "q.csv")
    questions = read_questions("q.csv")
    traps = [one for one in questions.questions if one.is_trap]
    assert len(traps) == 5
    assert f"wrote {len(questions)} questions to q.csv" in out
    assert "5 traps are among the questions: listen to each before you use it." in out
    assert "2 combinations, 5 each" in " ".join(out.split())
    assert questions.effectiveness("CG@5", "binary40").shape == (len(questions), 2)


def test_two_scales_make_all_95_combinations(folder: Path, cli: Terminal) -> None:
    both = ["--judgments", "fine=fine.csv", "--judgments", "broad=broad.csv"]
    said = json.loads(cli.out("questions", *both, "--per-bin", "1", "--json", "-o", "q.csv"))
    assert len({(row["measure"], row["scale"]) for row in said["coverage"]["bins"]}) == 95
    assert said["coverage"]["impossible"] >= 28  # P, RR and EDCG on four binary scales; the rest is up to the grades
    assert set(read_questions("q.csv").grades) == {"fine", "broad"}


def test_one_table_may_have_a_column_for_each_scale(folder: Path) -> None:
    fine, broad = (Path(f"{name}.csv").read_text().splitlines()[1:] for name in ("fine", "broad"))
    rows = [f"{one},{other.rsplit(',', 1)[1]}" for one, other in zip(fine, broad, strict=True)]
    Path("both.csv").write_text("\n".join(["query,document,Fine,Broad", *rows]) + "\n")
    apart = ["--judgments", "fine=fine.csv", "--judgments", "broad=broad.csv"]
    together = ["--judgments", "fine=both.csv", "--judgments", "broad=both.csv"]
    for name, given in (("apart.csv", apart), ("together.csv", together)):
        assert main(["questions", *given, "-m", "CG@5", "--per-bin", "2", "-o", name]) == 0
    assert Path("apart.csv").read_bytes() == Path("together.csv").read_bytes()


def test_a_broken_table_of_two_scales_is_refused_in_one_line(folder: Path, capsys: Captured) -> None:
    Path("both.csv").write_text("query,document,fine,broad\nq,d,1,2,3,4\n")
    assert "both.csv:2: expected 4 columns, got 6" in refused(capsys, "--judgments", "fine=both.csv")


def test_a_query_that_is_used_much_too_often_is_mentioned(folder: Path, cli: Terminal) -> None:
    rows = [f"q{q},d{d},{100 * (q == 0) * (d % 2)}" for q in range(30) for d in range(30)]
    Path("few.csv").write_text("\n".join(["query,document,grade", *rows]) + "\n")
    assert "questions are of one query; --per-query sets a limit" in cli.out(
        "questions", "--judgments", "fine=few.csv", "-m", "CG@5", "--per-bin", "15", "-o", "q.csv"
    )


def test_coverage_comes_as_csv(folder: Path, cli: Terminal) -> None:
    rows = list(csv.DictReader(io.StringIO(cli.out("questions", *FINE, *QUICK, "--csv", "-o", "q.csv"))))
    assert [row["low"] for row in rows] == ["0.0", "0.2", "0.4", "0.6", "0.8"]
    assert sum(int(row["questions"]) for row in rows) == len(read_questions("q.csv"))


def test_combinations_come_from_a_file(folder: Path, cli: Terminal) -> None:
    Path("which.txt").write_text("# what we study\nCG@5 on fine\n\nP@5 on binary40  # plain\n")
    said = json.loads(cli.out("questions", *FINE, "--combinations", "which.txt", "--max", "4", "--json", "-o", "q.csv"))
    assert said["questions"] == 4
    assert {(row["measure"], row["scale"]) for row in said["coverage"]["bins"]} == {
        ("CG@5", "fine"), ("P@5", "binary40"),
    }  # fmt: skip


def test_lists_of_runs_are_asked_about(folder: Path, capsys: Captured) -> None:
    assert (
        main(["questions", "--runs", "x.txt", "y.txt", *FINE, "-m", "CG@5", "-k", "3", "--max", "4", "-o", "q.csv"])
        == 0
    )
    assert "4 questions of 4 queries and 2 systems" in capsys.readouterr().out
    questions = read_questions("q.csv")
    assert {frozenset(one.systems or ()) for one in questions.questions} == {frozenset(("x", "y"))}
    assert {len(documents) for one in questions.questions for documents in one.lists} == {3}
    assert main(["questions", "--runs", "x.txt", "y.txt", "-o", "plain.csv"]) == 0
    assert read_questions("plain.csv").grades == {}


def test_the_same_command_writes_the_same_file(folder: Path) -> None:
    for name in ("one.csv", "two.csv"):
        assert main(["questions", *FINE, *QUICK, "--traps", "1", "--seed", "3", "-o", name]) == 0
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "expected --judgments to make lists of, or --runs whose lists to ask about, got neither"),
        (["--judgments", "none.csv"], "none.csv"),
        (["--judgments", "fine.csv", "--judgments", "broad.csv"], "a different scale in front of each"),
        (["--judgments", "fine=fine.csv", "--judgments", "fine=broad.csv"], "a different scale in front of each"),
        (["--judgments", "broad=fine.csv"], "expected grades on the scale broad (0..2)"),
        (["--judgments", "nice=fine.csv"], "Scale: expected one of"),
        (["--judgments", "fine.csv", "--scale", "0..100"], "the thesis has no combinations on 0..100"),
        ([*FINE, "--on", "binary40"], "expected --measure, got none"),
        ([*FINE, "-m", "CG@5", "--on", "broad"], "CG@5 on broad needs judgments on broad, got fine"),
        ([*FINE, "-m", "nDCG@5"], "which two lists do not tell; use nDCG(ideal=max)@5"),
        ([*FINE, "--per-bin", "0"], "'per-bin' must be a whole number"),
        ([*FINE, "-k", "45"], "expected queries with at least 45 documents judged on fine, got at most 40"),
        ([*FINE, "--traps", "-1"], "'traps' must be a whole number of at least 0"),
        ([*FINE, "--per-pair", "3"], "--per-pair is about the lists of --runs"),
        (["--runs", "x.txt", "y.txt", "--traps", "2"], "--traps needs --judgments"),
        (["--runs", "x.txt", "y.txt", "-m", "CG@5"], "measures need --judgments"),
        ([*FINE, "--combinations", "CG@5"], "expected MEASURE on SCALE, such as 'CG@5 on fine', 'thesis', or a file"),
        ([*FINE, "--combinations", "CG@5 on fine", "--on", "fine"], "expected --measure, got none"),
        ([*FINE, "--metadata", "fine.csv"], "--metadata is about the lists of --runs, got none"),
        ([*FINE, "--names", "file"], "--names is about the lists of --runs, got none"),
        (["--runs", "x.txt", "y.txt", "--per-query", "2"], "--per-query is about artificial lists"),
    ],
)
def test_bad_input_is_refused_in_one_line(folder: Path, capsys: Captured, arguments: list[str], said: str) -> None:
    assert said in refused(capsys, *arguments)


def test_a_bad_line_of_a_file_of_combinations_is_named(folder: Path, capsys: Captured) -> None:
    Path("which.txt").write_text("CG@5 on fine\nCG@5 fine\n")
    assert "which.txt:2: Combination: expected MEASURE on SCALE" in refused(
        capsys, *FINE, "--combinations", "which.txt"
    )


def test_judgments_are_not_overwritten(folder: Path, cli: Terminal) -> None:
    before = Path("fine.csv").read_bytes()
    assert "is an input, and would be overwritten" in cli.refused(
        "questions", "--judgments", "fine=fine.csv", *QUICK, "-o", "fine.csv"
    )
    assert Path("fine.csv").read_bytes() == before


def test_a_measure_that_looks_further_than_lists_go_is_mentioned(folder: Path, capsys: Captured) -> None:
    main(["questions", "--judgments", "fine=fine.csv", "-m", "CG@9", "-k", "2", "--per-bin", "1", "-o", "deep.csv"])
    assert "CG@9: lists have 2 documents, and the ranks below count as nothing relevant." in capsys.readouterr().out


def digest(name: str) -> dict[str, str]:
    """A file as provenance names it."""
    return {"file": name, "sha256": hashlib.sha256(Path(name).read_bytes()).hexdigest()}


def test_json_says_what_made_the_questions(folder: Path, capsys: Captured) -> None:
    Path("which.txt").write_text("CG@5 on fine\n")
    given = ["--runs", "*.run", "--judgments", "fine=fine.csv", "--combinations", "which.txt", "--max", "2"]
    for name in ("x", "y"):
        Path(f"{name}.txt").rename(f"{name}.run")
    assert main(["questions", *given, "--seed", "4", "--json", "-o", "q.csv"]) == 0
    said = json.loads(capsys.readouterr().out)["provenance"]
    assert said["inputs"] == [digest(name) for name in ("fine.csv", "x.run", "y.run", "which.txt")]
    assert said["settings"]["seed"] == 4
    assert said["settings"]["command"].startswith("adjudge")
    assert said["adjudge"]


@pytest.mark.parametrize("name", ["q.json", "q.parquet", "q.txt.gz"])
def test_a_name_that_promises_another_format_is_refused(folder: Path, cli: Terminal, name: str) -> None:
    assert f"{name}: expected a name that ends in .csv" in cli.refused("questions", *FINE, *QUICK, "--json", "-o", name)
    assert not Path(name).exists()


def test_compressed_questions_are_read_again(folder: Path) -> None:
    assert main(["questions", *FINE, *QUICK, "-o", "q.csv.gz"]) == 0
    assert len(read_questions("q.csv.gz")) > 0


@pytest.mark.parametrize("meant", ["runs", "runs/*.csv"])
def test_runs_are_not_overwritten(folder: Path, cli: Terminal, meant: str) -> None:
    Path("runs").mkdir()
    for name in ("x", "y"):
        Path(f"{name}.txt").rename(f"runs/{name}.csv")
    before = Path("runs/x.csv").read_bytes()
    assert "runs/x.csv: is an input, and would be overwritten" in cli.refused(
        "questions", "--runs", meant, "-o", "runs/x.csv"
    )
    assert Path("runs/x.csv").read_bytes() == before


def test_a_file_of_combinations_is_not_overwritten(folder: Path, cli: Terminal) -> None:
    Path("which.csv").write_text("CG@5 on fine\n")
    assert "which.csv: is an input" in cli.refused("questions", *FINE, "--combinations", "which.csv", "-o", "which.csv")


def test_one_question_is_told_of_as_one_says_it(folder: Path, cli: Terminal) -> None:
    out = cli.out("questions", *FINE, *QUICK, "--max", "1", "-o", "q.csv")
    assert out.startswith("1 question of 1 query")
    assert out.endswith("wrote 1 question to q.csv\n")
