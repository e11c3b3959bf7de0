"""adjudge participants: its answer in every form, and one clear line for what cannot be said."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal
from tests.unit.preferences.people_study import simulated

from adjudge.preferences.files import write_answers


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_answers(simulated(participants=10).study, "answers.csv")
    return tmp_path


def test_people_and_what_hangs_on_them_are_shown(answers: Path, cli: Terminal) -> None:
    out = cli.out("participants", "answers.csv", "--least-seconds", "40", "-m", "CG@5", "--on", "fine")
    assert out.startswith("10 participants gave 300 answers, of which 0 are set aside.")
    assert "Without" in out
    assert "P(attentive)" in out


def test_rules_set_answers_aside_where_asked(answers: Path, cli: Terminal) -> None:
    out = cli.out("participants", "answers.csv", "--apply", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 10
    for row in rows:
        assert (row["verdict"] == "fine") == (row["set_aside"] == "0")
    assert any("failed quiz: " in row["reason"] for row in rows)


def test_json_has_everybody_and_every_change(answers: Path, cli: Terminal) -> None:
    content = cli.json("participants", "answers.csv")
    assert len(content["participants"]) == len(content["influence"]) == 10
    assert content["provenance"]["inputs"][0]["file"].endswith("answers.csv")
    assert content["summary"]


def test_a_page_is_written(answers: Path, cli: Terminal) -> None:
    _ = cli.out("participants", "answers.csv", "--on", "fine", "-o", "people.html", "--figures", "figures")
    assert "What hangs on whom" in Path("people.html").read_text(encoding="utf-8")
    assert sorted(one.name for one in Path("figures").glob("*.svg")) == ["left-out.svg", "participant-trust.svg"]


def test_questions_without_grades_have_people_and_no_influence(answers: Path, cli: Terminal) -> None:
    rows = list(csv.DictReader(io.StringIO(Path("answers.csv").read_text(encoding="utf-8"))))
    plain = [{name: cell for name, cell in row.items() if "_a" not in name and "_b" not in name} for row in rows]
    with Path("plain.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(plain[0]))
        writer.writeheader()
        writer.writerows(plain)
    content = cli.json("participants", "plain.csv")
    assert (len(content["participants"]), content["influence"]) == (10, [])


def test_a_file_that_does_not_know_participants_is_refused_in_one_line(shared_data: Path, cli: Terminal) -> None:
    code, out, err = cli("participants", str(shared_data / "user-study-2012" / "answers.csv"))
    assert (code, out) == (2, "")
    assert err.endswith("does not say who gave which answer, so nothing can be said of participants\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--bar", "70"], "'bar' must be in [0, 1], got 70"),
        (["--least-seconds", "0"], "'least-seconds' must be a finite number above 0, got 0"),
        (["-m", "NDCG"], "Did you mean"),
        (["--combinations", "CG@5"], "or a file with one a line, got 'CG@5'"),
        (
            ["-o", "people.pdf"],
            "people.pdf: expected a name that ends in .txt, .json, .csv, .tex, .md, .html",
        ),
        (["-o", "people.docx/x"], "expected a file in an existing directory"),
        (["-o", "answers.csv"], "answers.csv: is an input, and would be overwritten"),
        (["--on", "middling"], "middling"),
    ],
)
def test_what_makes_no_sense_is_refused(answers: Path, cli: Terminal, options: list[str], words: str) -> None:
    assert words in cli.refused("participants", "answers.csv", *options)


def test_people_are_told_of_when_none_of_their_answers_count(answers: Path, cli: Terminal) -> None:
    with open("answers.csv", encoding="utf-8") as file:
        rows = [row | {"set_aside": "a pilot"} for row in csv.DictReader(file)]
    with open("aside.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    code, out, err = cli("participants", "aside.csv")
    assert (code, err) == (0, "")
    assert out.startswith("10 participants gave 300 answers, of which 300 are set aside.")


def test_a_time_that_is_no_number_is_refused(answers: Path, cli: Terminal) -> None:
    code, _, err = cli("participants", "answers.csv", "--least-seconds", "nan")
    assert (code, err) == (2, "adjudge: 'least-seconds' must be a finite number above 0, got nan\n")


def test_a_page_says_how_many_answers_are_to_traps(answers: Path, cli: Terminal) -> None:
    cli("participants", "answers.csv", "-m", "CG@5 DCG@5", "-o", "people.md")
    assert "10 participants, 300 answers and " in Path("people.md").read_text()


def test_combinations_are_named_as_elsewhere(answers: Path, cli: Terminal) -> None:
    Path("which.txt").write_text("DCG@5 on fine\nCG@5 on fine\n")
    content = cli.json("participants", "answers.csv", "--combinations", "which.txt", "--seed", "3")
    assert {one["best"] for one in content["influence"]} <= {"DCG@5 on fine", "CG@5 on fine"}
    assert [one["file"] for one in content["provenance"]["inputs"]] == ["answers.csv", "which.txt"]
    assert content["provenance"]["settings"]["seed"] == 3
    out = cli.out("participants", "answers.csv", "--combinations", "CG@5 on fine")
    assert "CG@5" in out


def test_what_the_rules_set_aside_is_written_for_fit_to_leave_out(answers: Path, cli: Terminal) -> None:
    code, out, err = cli("participants", "answers.csv", "--write", "trusted.csv", "--csv")
    shown = {row["participant"]: int(row["set_aside"]) for row in csv.DictReader(io.StringIO(out))}
    rows = list(csv.DictReader(io.StringIO(Path("trusted.csv").read_text(encoding="utf-8"))))
    aside = [row for row in rows if row["set_aside"]]
    before = list(csv.DictReader(io.StringIO(Path("answers.csv").read_text(encoding="utf-8"))))
    assert code == 0
    assert [row["choice"] for row in rows] == [row["choice"] for row in before]  # all of them are there
    assert {row["participant"] for row in aside} == {name for name, n in shown.items() if n}
    assert all(": " in row["set_aside"] for row in aside)  # with the reason
    assert err == f"adjudge: note: wrote trusted.csv: {len(aside)} of {len(rows)} answers set aside\n"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("answers.csv", "answers.csv: is an input, and would be overwritten"),
        ("trusted.json", "trusted.json: expected a name that ends in .csv, or in .csv.gz and the like, got .json"),
        ("nowhere/trusted.csv", "nowhere/trusted.csv: expected a file in an existing directory as output"),
        ("both.csv", "both.csv: expected another file for answers than for the table (-o)"),
    ],
)
def test_answers_are_not_written_where_they_would_do_harm(answers: Path, cli: Terminal, target: str, said: str) -> None:
    before = Path("answers.csv").read_bytes()
    code, out, err = cli("participants", "answers.csv", "--write", target, "-o", "both.csv")
    assert (code, out, err) == (2, "", f"adjudge: {said}\n")
    assert Path("answers.csv").read_bytes() == before


def test_one_participant_with_one_answer_is_told_of_as_one_says_it(answers: Path, cli: Terminal) -> None:
    lines = Path("answers.csv").read_text(encoding="utf-8").splitlines()
    Path("one.csv").write_text("\n".join(lines[:2]) + "\n", encoding="utf-8")
    out = cli.out("participants", "one.csv")
    assert out.startswith("1 participant gave 1 answer, of which 0 are set aside. 1 passes the rules of trust")
