"""adjudge fit: a mapping file that compare and report take, its table in every form, and one line for what is wrong."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.unit.cli.conftest import Terminal, typed

import adjudge as aj
from adjudge.cli.fit import _summary
from adjudge.preferences.files import write_answers, write_questions
from adjudge.preferences.learning import learn
from adjudge.preferences.simulated import example_study
from adjudge.reporting.document import Report
from adjudge.reporting.render import drawing
from adjudge.users import read_mappings

QUICK = ("--resamples", "100")
STUDY = example_study()
BARE = replace(STUDY, questions=replace(STUDY.questions, grades={}))  # without grades


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_answers(STUDY, "answers.csv")
    write_questions(STUDY.questions, "questions.csv")


def test_what_people_notice_is_shown_and_written(cli: Terminal) -> None:
    out = cli.out("fit", "answers.csv", "-o", "mapping.json", "--report", "report.md", *QUICK)
    assert out.startswith("600 answers of 30 participants about 40 queries")
    assert "noticed from" in out
    assert "wrote 2 combinations to mapping.json" in out
    assert "More than half notice differences in CG@2 on fine" in Path("report.md").read_text()
    mappings = read_mappings("mapping.json")
    assert [one.measure for one in mappings.satisfaction] == ["CG@2", "DCG@2"]
    assert all(one.covariance for one in mappings.satisfaction)
    assert all(one.covariance for one in mappings.agreement)


def test_comparisons_and_satisfaction_take_the_mapping_file(cli: Terminal) -> None:
    cli("fit", "answers.csv", "-m", "CG@2", "-o", "mapping.json", *QUICK)
    demo = aj.demo(queries=15)
    aj.write(demo.runs, "runs.csv")
    assert demo.judgments is not None
    aj.write(demo.judgments, "judgments.csv")
    common = ("judgments.csv", "runs.csv", "--scale", "fine", "-m", "CG@2", "--users", "mapping.json")
    compared = cli.out("compare", *common, "--test", "t", "--correction", "holm", "--json")
    assert "fitted with Adjudge on answers.csv" in compared
    cli.out("report", *common, "-o", "report.html")
    assert "fitted with Adjudge on answers.csv" in Path("report.html").read_text()
    known = typed("fit answers.csv -m CG@2 --judgments judgments.csv --scale fine --runs runs.csv")
    assert "comparisons noticed" in cli.out(*known, *QUICK)


def test_the_table_comes_as_json_and_csv(cli: Terminal) -> None:
    content = cli.json("fit", "answers.csv", "--combinations", "CG@2 on fine", *QUICK)
    assert content["combinations"][0]["measure"] == "CG@2"
    assert len(content["bins"][0]["agree"]) == 10
    rows = cli.rows("fit", "answers.csv", "-m", "CG@2", "--on", "fine,binary40", "--kind", "logistic", *QUICK)
    assert [row["scale"] for row in rows] == ["fine", "binary40"]
    assert {row["kind"] for row in rows} == {"logistic"}


def test_without_resamples_what_needs_them_has_no_interval(cli: Terminal) -> None:
    (learnt,) = cli.json("fit", "answers.csv", "-m", "CG@2", "--on", "fine", "--resamples", "0")["combinations"]
    assert learnt["distance_positive"] is not None
    assert learnt["distance_positive_low"] is None


def test_several_files_are_one_study(cli: Terminal) -> None:
    write_answers(example_study(seed=2), "more.csv")
    out = cli.out("fit", "answers.csv", "more.csv", "-m", "CG@2", *QUICK)
    assert out.startswith("1,200 answers of 30 participants")


def test_judgments_add_the_grades_that_questions_lack(cli: Terminal) -> None:
    judged("judgments.csv")
    write_answers(BARE, "bare.csv")
    given = ("-m", "CG@2", "--on", "fine", *QUICK)
    known = cli.rows("fit", "answers.csv", *given)
    assert cli.rows("fit", "bare.csv", "--judgments", "judgments.csv", "--scale", "fine", *given) == known
    assert np.isfinite([float(row["noticeable"]) for row in known]).all()


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
        (["none.csv"], "none.csv: cannot be read"),
        (["questions.csv"], "questions.csv:1: expected a column for the choice"),
        (["answers.csv", "--combinations", "CG@2"], "or a file with one per line, got 'CG@2'"),
        (["answers.csv", "--combinations", "CG@2 on fine", "--on", "fine"], "expected --measure, got none"),
        (["answers.csv", "--metadata", "questions.csv"], "--metadata is about the lists of --runs, got none"),
        (["answers.csv", "--artist-filter"], "--artist-filter is about the lists of --runs, got none"),
        (["answers.csv", "--figures", "answers.csv/figures"], "answers.csv/figures: expected a directory for figures"),
        (["answers.csv", "--confidence", "2"], "'confidence' must be in (0, 1), got 2"),
        (["answers.csv", "--resamples", "-1"], "'resamples' must be a whole number of at least 0, got -1"),
    ],
)
def test_what_cannot_be_done_gets_one_line(cli: Terminal, arguments: list[str], message: str) -> None:
    assert message in cli.refused("fit", *arguments)


def rows_in(name: str) -> list[dict[str, str]]:
    with open(name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rewritten(change: Callable[[dict[str, str]], dict[str, str]], name: str = "changed.csv") -> str:
    """The answers with every row changed, as another file."""
    rows = [change(row) for row in rows_in("answers.csv")]
    with open(name, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return name


def test_answers_that_follow_a_curve_exactly_give_no_warning_and_no_interval(cli: Terminal) -> None:
    def plain(row: dict[str, str]) -> dict[str, str]:
        a, b = (sum(float(row[f"fine_{side}{rank}"]) for rank in (1, 2)) for side in "ab")
        return row | {"choice": ("good" if a + b > 200 else "bad") if abs(a - b) <= 60 else "a" if a > b else "b"}

    code, out, err = cli("fit", rewritten(plain), "-m", "CG@2", "--json", *QUICK)
    assert code == 0
    assert err == ""
    row = json.loads(out)["combinations"][0]
    assert 0.28 < row["noticeable"] < 0.32
    assert row["noticeable_low"] is None


def test_differences_of_one_size_teach_no_curve(cli: Terminal) -> None:
    same = rewritten(lambda row: row | {f"fine_{side}{rank}": "50" for side in "ab" for rank in (1, 2)})
    said = "adjudge: CG@2 on fine: expected differences of two sizes or more, got 0 alone\n"
    assert cli.refused("fit", same, *QUICK) == said


@pytest.mark.parametrize("column", ["query", "participant"])
def test_one_query_or_one_participant_leaves_everything_open(cli: Terminal, column: str) -> None:
    one = rewritten(lambda row: row | {column: "the only one"})
    content = cli.json("fit", one, "-m", "CG@2", "-m", "DCG@2", "--report", "one.md", *QUICK)
    for row in content["combinations"]:
        unknown = {name for name, value in row.items() if name.endswith(("_low", "_high")) and value is None}
        assert unknown == {name for name in row if name.endswith(("_low", "_high"))}
    assert "[nan" not in Path("one.md").read_text()
    assert f" 1 {column}" in Path("one.md").read_text()


def test_an_answer_of_nobody_does_not_make_people_strangers_to_themselves(cli: Terminal) -> None:
    one = rewritten(lambda row: row | {"participant": "" if row["answer"] == "1" else row["participant"]})
    widths = []
    for file in ("answers.csv", one, rewritten(lambda row: row | {"participant": ""}, "nobody.csv")):
        row = cli.json("fit", file, "-m", "CG@2", *QUICK)["combinations"][0]
        widths.append(row["noticeable_high"] - row["noticeable_low"])
    assert abs(widths[1] - widths[0]) < 0.1 * abs(widths[2] - widths[0])


def test_the_same_answers_twice_are_refused(cli: Terminal) -> None:
    Path("copy.csv").write_bytes(Path("answers.csv").read_bytes())
    said = cli.refused("fit", "answers.csv", "copy.csv", *QUICK)
    assert said == "adjudge: copy.csv: has the same answers as answers.csv\n"


def test_several_measures_in_quotes_are_several(cli: Terminal) -> None:
    rows = cli.rows("fit", "answers.csv", "-m", "CG@2 DCG@2", *QUICK)
    assert [row["measure"] for row in rows] == ["CG@2", "DCG@2"]


def test_judgments_fill_single_grades_that_are_missing(cli: Terminal) -> None:
    judged("fine.csv")
    holes = rewritten(lambda row: row | {"fine_a1": "" if int(row["question"]) % 2 else row["fine_a1"]})
    filled = cli("fit", holes, "--judgments", "fine.csv", "--scale", "fine", "--csv", *QUICK)
    assert filled == cli("fit", "answers.csv", "--csv", *QUICK)


def judged(name: str, *, assessors: int = 1) -> None:
    """Judgments of all documents of the questions, by assessors of whom each is harder than the last."""
    known = {
        (question.query, d): STUDY.questions.grades["fine"][i, side, rank]
        for i, question in enumerate(STUDY.questions.questions)
        for side, documents in enumerate(question.lists)
        for rank, d in enumerate(documents)
    }
    lines = [
        f"{query},{document},{max(0, grade - 30 * who):g},{who}"
        for (query, document), grade in known.items()
        for who in range(assessors)
    ]
    Path(name).write_text("\n".join(["query,document,grade,assessor", *lines]) + "\n")


def runs(name: str) -> None:
    """Two systems that return what the questions have."""
    lines = ["system,query,document,score"]
    found: dict[str, dict[str, None]] = {}
    for question in STUDY.questions.questions:
        found.setdefault(question.query, {}).update(dict.fromkeys((*question.a, *question.b)))
    for query, documents in found.items():
        for rank, document in enumerate(documents):
            lines += [f"up,{query},{document},{100 - rank}", f"down,{query},{document},{rank + 1}"]
    Path(name).write_text("\n".join(lines) + "\n")


def test_results_and_mappings_say_what_made_them(cli: Terminal) -> None:
    judged("judgments.csv")
    runs("runs.csv")
    Path("which.txt").write_text("CG@2 on fine\n")
    Path("artists.csv").write_text("document,artist\nnobody,nothing\n")
    given = ("--questions", "questions.csv", "--judgments", "judgments.csv", "--scale", "fine", "--runs", "runs.csv",
             "--metadata", "artists.csv", "--combinations", "which.txt", "--seed", "7")  # fmt: skip
    provenance = cli.json("fit", "answers.csv", *given, "-o", "mapping.json", *QUICK)["provenance"]
    names = ["answers.csv", "questions.csv", "judgments.csv", "artists.csv", "runs.csv", "which.txt"]
    digests = {name: hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in names}
    assert {one["file"]: one["sha256"] for one in provenance["inputs"]} == digests
    assert [one["file"] for one in provenance["inputs"]] == names
    assert provenance["settings"]["seed"] == 7
    mappings = read_mappings("mapping.json")
    every = [one.provenance for one in mappings.satisfaction] + [one.provenance for one in mappings.agreement]
    for facts in map(dict, every):
        assert facts["inputs"] == ", ".join(f"{name} {digest}" for name, digest in digests.items())
        assert facts["seed"] == "7"


def test_grades_of_several_assessors_are_combined_as_asked(cli: Terminal) -> None:
    write_answers(BARE, "bare.csv")
    judged("two.csv", assessors=2)
    given = ("-m", "CG@2", "--csv", *QUICK)
    known = cli("fit", "answers.csv", *given)
    common = ("bare.csv", "--judgments", "two.csv", "--scale", "fine", *given)
    assert cli("fit", *common, "--combine", "max") == known
    assert cli("fit", *common) != known


def test_the_artist_filter_works_on_runs(cli: Terminal) -> None:
    judged("judgments.csv")
    runs("runs.csv")
    documents = dict.fromkeys(line.split(",")[2] for line in Path("runs.csv").read_text().splitlines()[1:])
    Path("artists.csv").write_text("\n".join(["document,artist", *(f"{one},{one}" for one in documents)]) + "\n")
    given = ("answers.csv", "-m", "CG@2", "--judgments", "judgments.csv", "--scale", "fine", "--runs", "runs.csv")
    assert "The artist filter needs metadata with a column 'artist'." in cli.refused("fit", *given, "--artist-filter")
    cli.out("fit", *given, "--artist-filter", "--metadata", "artists.csv", *QUICK)


def test_combinations_come_from_a_file_as_for_questions(cli: Terminal) -> None:
    Path("which.txt").write_text("# two\nCG@2 on fine\n\nP@2 on binary40\n")
    rows = cli.rows("fit", "answers.csv", "--combinations", "which.txt", "-m", "DCG@2", *QUICK)
    assert {f"{row['measure']} on {row['scale']}" for row in rows} == {
        "CG@2 on fine", "P@2 on binary40", "DCG@2 on fine",
    }  # fmt: skip


@pytest.mark.parametrize(
    "bad", [("--report", "no/such/report.html"), ("--report", "report.html", "--figures", "questions.csv/x")]
)
def test_a_report_that_cannot_be_written_leaves_nothing_half_done(
    folder: Path, cli: Terminal, bad: tuple[str, ...]
) -> None:
    cli.refused("fit", "answers.csv", "-o", "mapping.json", *bad, *QUICK)
    assert not Path("mapping.json").exists()
    assert not Path("report.html").exists()


@pytest.mark.parametrize("option", ["--judgments", "--teams", "--metadata", "--combinations"])
def test_inputs_are_not_overwritten_by_the_report(cli: Terminal, option: str) -> None:
    Path("precious.md").write_text("CG@2 on fine\n")
    more = [] if option == "--judgments" else ["--judgments", "questions.csv"]
    given = [option, "precious.md", *more, "--scale", "fine", "--runs", "questions.csv", "--report", "precious.md"]
    assert cli.refused("fit", "answers.csv", *given) == "adjudge: precious.md: is an input, and would be overwritten\n"


def test_rows_are_recognised_on_a_narrow_terminal(cli: Terminal) -> None:
    learnt = learn(STUDY, ["CG@2 on fine", "CG@2 on binary40"])
    narrow = Console(file=io.StringIO(), width=60, highlight=False)
    narrow.print(drawing(Report("", "", (_summary(learnt),), {})))
    assert isinstance(narrow.file, io.StringIO)
    lines = narrow.file.getvalue().splitlines()
    parts = sum(line.strip().startswith("combination") for line in lines)
    assert parts > 1
    for name in ("CG@2 on fine", "CG@2 on binary40"):
        assert sum(line.strip().startswith(name) for line in lines) == parts
