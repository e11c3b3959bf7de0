"""adjudge questions, as a user types it, and as one mistypes it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from tests.unit.cli.conftest import Terminal

from adjudge.preferences.files import read_questions

FINE = ["--judgments", "fine.csv", "--scale", "fine"]
QUICK = ["-m", "CG@5", "--per-bin", "2", "--bins", "5"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_questions_are_written_and_their_coverage_is_told(cli: Terminal) -> None:
    out = cli.out("questions", *FINE, *QUICK, "--on", "fine,binary40", "--traps", "1", "-o", "q.csv")
    questions = read_questions("q.csv")
    traps = [question for question in questions.questions if question.is_trap]
    assert len(traps) == 5
    assert f"wrote {len(questions)} questions to q.csv" in out
    assert "5 traps are among the questions: listen to each before you use it." in out
    assert "2 combinations, 5 each" in " ".join(out.split())
    assert questions.effectiveness("CG@5", "binary40").shape == (len(questions), 2)


def test_two_scales_make_all_95_combinations(cli: Terminal) -> None:
    both = ["--judgments", "fine=fine.csv", "--judgments", "broad=broad.csv"]
    said = cli.json("questions", *both, "--per-bin", "1", "-o", "q.csv")
    assert len({(row["measure"], row["scale"]) for row in said["coverage"]["bins"]}) == 95
    assert said["coverage"]["impossible"] >= 28  # P, RR and EDCG on four binary scales; the rest is up to the grades
    assert set(read_questions("q.csv").grades) == {"fine", "broad"}


def test_one_table_may_have_a_column_for_each_scale(cli: Terminal) -> None:
    fine, broad = (Path(f"{name}.csv").read_text().splitlines()[1:] for name in ("fine", "broad"))
    rows = [f"{one},{other.rsplit(',', 1)[1]}" for one, other in zip(fine, broad, strict=True)]
    Path("both.csv").write_text("\n".join(["query,document,Fine,Broad", *rows]) + "\n")
    apart = ["--judgments", "fine=fine.csv", "--judgments", "broad=broad.csv"]
    together = ["--judgments", "fine=both.csv", "--judgments", "broad=both.csv"]
    for name, given in (("apart.csv", apart), ("together.csv", together)):
        cli.out("questions", *given, "-m", "CG@5", "--per-bin", "2", "-o", name)
    assert Path("apart.csv").read_bytes() == Path("together.csv").read_bytes()


def test_a_query_that_is_used_much_too_often_is_mentioned(cli: Terminal) -> None:
    rows = [f"q{q},d{d},{100 * (q == 0) * (d % 2)}" for q in range(30) for d in range(30)]
    Path("few.csv").write_text("\n".join(["query,document,grade", *rows]) + "\n")
    assert "questions are of one query; --per-query sets a limit" in cli.out(
        "questions", "--judgments", "fine=few.csv", "-m", "CG@5", "--per-bin", "15", "-o", "q.csv"
    )


def test_coverage_comes_as_csv(cli: Terminal) -> None:
    rows = cli.rows("questions", *FINE, *QUICK, "-o", "q.csv")
    assert [row["low"] for row in rows] == ["0.0", "0.2", "0.4", "0.6", "0.8"]
    assert sum(int(row["questions"]) for row in rows) == len(read_questions("q.csv"))


def test_combinations_come_from_a_file(cli: Terminal) -> None:
    Path("which.txt").write_text("# what we study\nCG@5 on fine\n\nP@5 on binary40  # plain\n")
    said = cli.json("questions", *FINE, "--combinations", "which.txt", "--max", "4", "-o", "q.csv")
    assert said["questions"] == 4
    assert {(row["measure"], row["scale"]) for row in said["coverage"]["bins"]} == {
        ("CG@5", "fine"), ("P@5", "binary40"),
    }  # fmt: skip


def test_lists_of_runs_are_asked_about(cli: Terminal) -> None:
    runs = ("questions", "--runs", "x.txt", "y.txt")
    out = cli.out(*runs, *FINE, "-m", "CG@5", "-k", "3", "--max", "4", "-o", "q.csv")
    assert "4 questions of 4 queries and 2 systems" in out
    questions = read_questions("q.csv")
    assert {frozenset(question.systems or ()) for question in questions.questions} == {frozenset(("x", "y"))}
    assert {len(documents) for question in questions.questions for documents in question.lists} == {3}
    cli.out(*runs, "-o", "plain.csv")
    assert read_questions("plain.csv").grades == {}


def test_the_same_command_writes_the_same_file_which_may_be_compressed(cli: Terminal) -> None:
    for name in ("one.csv", "two.csv", "three.csv.gz"):
        cli.out("questions", *FINE, *QUICK, "--traps", "1", "--seed", "3", "-o", name)
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    assert len(read_questions("three.csv.gz")) == len(read_questions("one.csv")) > 0


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
        ([*FINE, "-m", "nDCG@5"], "which two lists lack; use nDCG(ideal=max)@5"),
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
        (["--judgments", "fine=broken.csv"], "broken.csv:2: expected 4 columns, got 6"),
        ([*FINE, "--combinations", "which.txt"], "which.txt:2: Combination: expected MEASURE on SCALE"),
        ([*FINE, *QUICK, "--json", "-o", "q.json"], "q.json: expected a name that ends in .csv"),
        ([*FINE, *QUICK, "-o", "q.txt.gz"], "q.txt.gz: expected a name that ends in .csv"),
        (["--judgments", "fine=fine.csv", *QUICK, "-o", "fine.csv"], "is an input, and would be overwritten"),
        ([*FINE, "--combinations", "which.csv", "-o", "which.csv"], "which.csv: is an input"),
        (["--runs", "runs", "-o", "runs/x.csv"], "runs/x.csv: is an input, and would be overwritten"),
        (["--runs", "runs/*.csv", "-o", "runs/x.csv"], "runs/x.csv: is an input, and would be overwritten"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(
    tmp_path: Path, cli: Terminal, arguments: list[str], said: str
) -> None:
    Path("broken.csv").write_text("query,document,fine,broad\nq,d,1,2,3,4\n")
    for name in ("which.txt", "which.csv"):
        Path(name).write_text("CG@5 on fine\nCG@5 fine\n")
    Path("runs").mkdir()
    for name in ("x", "y"):
        Path(f"runs/{name}.csv").write_bytes(Path(f"{name}.txt").read_bytes())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    output = [] if "-o" in arguments else ["-o", "q.csv"]
    assert said in cli.refused("questions", *arguments, *output)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_a_measure_that_looks_further_than_lists_go_is_mentioned(cli: Terminal) -> None:
    asked = ("--judgments", "fine=fine.csv", "-m", "CG@9", "-k", "2", "--per-bin", "1")
    out = cli.out("questions", *asked, "-o", "deep.csv")
    assert "CG@9: lists have 2 documents, and the ranks below count as nothing relevant." in out


def test_json_says_what_made_the_questions(cli: Terminal) -> None:
    Path("which.txt").write_text("CG@5 on fine\n")
    given = ["--runs", "*.run", "--judgments", "fine=fine.csv", "--combinations", "which.txt", "--max", "2"]
    for name in ("x", "y"):
        Path(f"{name}.txt").rename(f"{name}.run")
    said = cli.json("questions", *given, "--seed", "4", "-o", "q.csv")["provenance"]
    names = ("fine.csv", "x.run", "y.run", "which.txt")
    digests = [hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in names]
    assert [(entry["file"], entry["sha256"]) for entry in said["inputs"]] == list(zip(names, digests, strict=True))
    assert said["settings"]["seed"] == 4
    assert said["settings"]["command"].startswith("adjudge")
    assert said["adjudge"]


def test_one_question_is_told_of_as_one_says_it(cli: Terminal) -> None:
    out = cli.out("questions", *FINE, *QUICK, "--max", "1", "-o", "q.csv")
    assert out.startswith("1 question of 1 query")
    assert out.endswith("wrote 1 question to q.csv\n")
