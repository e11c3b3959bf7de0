"""adjudge fit: a mapping file that compare and report take, its table in every form, and one line for what is wrong."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import adjudge as aj
from adjudge.cli import main
from adjudge.preferences.files import write_answers, write_questions
from adjudge.preferences.simulated import example_study
from adjudge.users import read_mappings

QUICK = ("--resamples", "100")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    study = example_study()
    write_answers(study, "answers.csv")
    write_questions(study.questions, "questions.csv")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["fit", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_what_people_notice_is_shown_and_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "answers.csv", "-o", "mapping.json", "--report", "report.md", *QUICK)
    assert code == 0
    assert out.startswith("600 answers of 30 participants about 40 queries")
    assert "noticed from" in out
    assert "wrote 2 combinations to mapping.json" in out
    assert "More than half notice differences in CG@2 on fine" in (folder / "report.md").read_text()
    mappings = read_mappings("mapping.json")
    assert [one.measure for one in mappings.satisfaction] == ["CG@2", "DCG@2"]
    assert all(one.covariance for one in mappings.satisfaction)
    assert all(one.covariance for one in mappings.agreement)


def test_comparisons_and_satisfaction_take_the_mapping_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "answers.csv", "-m", "CG@2", "-o", "mapping.json", *QUICK)
    demo = aj.demo()
    aj.write(demo.runs, "runs.csv")
    assert demo.judgments is not None
    aj.write(demo.judgments, "judgments.csv")
    common = ("judgments.csv", "runs.csv", "--scale", "fine", "-m", "CG@2", "--users", "mapping.json")
    assert main(["compare", *common, "--test", "t", "--correction", "holm", "--json"]) == 0
    compared = capsys.readouterr().out
    assert "fitted with Adjudge on answers.csv" in compared
    assert main(["report", *common, "-o", "report.html"]) == 0
    assert "fitted with Adjudge on answers.csv" in (folder / "report.html").read_text()
    code, out, _ = run(
        capsys,
        "answers.csv",
        "-m",
        "CG@2",
        "--judgments",
        "judgments.csv",
        "--scale",
        "fine",
        "--runs",
        "runs.csv",
        *QUICK,
    )
    assert code == 0
    assert "comparisons noticed" in out


def test_the_table_comes_as_json_and_csv(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "answers.csv", "--combinations", "CG@2 on fine", "--json", *QUICK)
    content = json.loads(out)
    assert content["combinations"][0]["measure"] == "CG@2"
    assert len(content["bins"][0]["agree"]) == 10
    _, out, _ = run(capsys, "answers.csv", "-m", "CG@2", "--on", "fine,binary40", "--kind", "logistic", "--csv", *QUICK)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["scale"] for row in rows] == ["fine", "binary40"]
    assert {row["kind"] for row in rows} == {"logistic"}


def test_several_files_are_one_study(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_answers(example_study(seed=2), "more.csv")
    _, out, _ = run(capsys, "answers.csv", "more.csv", "-m", "CG@2", *QUICK)
    assert out.startswith("1,200 answers of 30 participants")


def test_judgments_add_the_grades_that_questions_lack(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = example_study()
    grades = study.questions.grades["fine"]
    rows = ["query,document,grade"]
    for i, one in enumerate(study.questions.questions):
        for side, documents in enumerate(one.lists):
            rows += [f"{one.query},{d},{grades[i, side, rank]:g}" for rank, d in enumerate(documents)]
    (folder / "judgments.csv").write_text("\n".join(rows) + "\n")
    from dataclasses import replace

    write_answers(replace(study, questions=replace(study.questions, grades={})), "bare.csv")
    given = ("-m", "CG@2", "--on", "fine", "--csv", *QUICK)
    _, known, _ = run(capsys, "answers.csv", *given)
    code, found, _ = run(capsys, "bare.csv", "--judgments", "judgments.csv", "--scale", "fine", *given)
    assert code == 0
    assert found == known
    assert np.isfinite([float(row["noticeable"]) for row in csv.DictReader(io.StringIO(found))]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["answers.csv", "--kind", "quartic"],
            "'kind' must be one of cubic, logistic, psychometric, bounded, got 'quartic'",
        ),
        (["answers.csv", "-o", "mapping.csv"], "mapping.csv: expected a mapping file that ends in .json"),
        (["answers.csv", "--report", "report.pdf"], "report.pdf: expected a report that ends in .html, .md, .tex"),
        (["answers.csv", "--runs", "runs.csv"], "expected --judgments with --runs"),
        (["answers.csv", "-m", "nDCG@2"], "compares with the best of all judged documents"),
        (["answers.csv", "-m", "CG@2", "--on", "broad"], "expected grades on broad to compute CG@2, got fine"),
        (["none.csv"], "none.csv: cannot be read"),
        (["questions.csv"], "questions.csv:1: expected a column 'choice'"),
        (["answers.csv", "--confidence", "2"], "'confidence' must be in (0, 1), got 2"),
        (["answers.csv", "--resamples", "3"], "'resamples' must be 100 or more, got 3"),
    ],
)
def test_what_cannot_be_done_gets_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1
