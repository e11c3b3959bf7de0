"""adjudge participants: its answer in every form, and one clear line for what cannot be said."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal
from tests.unit.preferences.people_study import simulated

from adjudge.preferences.files import write_answers


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "answers.csv"
    write_answers(simulated(participants=10).study, path)
    return path


@pytest.fixture(autouse=True)
def answers(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(written, "answers.csv")


def rows_in(name: str) -> list[dict[str, str]]:
    with open(name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(name: str, rows: list[dict[str, str]]) -> None:
    with open(name, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def test_people_and_what_hangs_on_them_are_shown(cli: Terminal) -> None:
    out = cli.out("participants", "answers.csv", "--least-seconds", "40", "-m", "CG@5", "--on", "fine")
    assert out.startswith("10 participants gave 300 answers, of which 0 are excluded.")
    assert "Without" in out
    assert "P(attentive)" in out


def test_rules_set_answers_aside_where_asked(cli: Terminal) -> None:
    rows = cli.rows("participants", "answers.csv", "--apply")
    assert len(rows) == 10
    for row in rows:
        assert (row["verdict"] == "fine") == (row["set_aside"] == "0")
    assert any("failed quiz: " in row["reason"] for row in rows)


def test_json_has_everybody_and_every_change(cli: Terminal) -> None:
    content = cli.json("participants", "answers.csv")
    assert len(content["participants"]) == len(content["influence"]) == 10
    assert content["provenance"]["inputs"][0]["file"].endswith("answers.csv")
    assert content["summary"]


def test_a_page_is_written(cli: Terminal) -> None:
    cli.out("participants", "answers.csv", "--on", "fine", "-o", "people.html", "--figures", "figures")
    assert "How much depends on each participant" in Path("people.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in Path("figures").glob("*.svg")) == ["left-out.svg", "participant-trust.svg"]


def test_questions_without_grades_have_people_and_no_influence(cli: Terminal) -> None:
    rows = rows_in("answers.csv")
    write_rows(
        "plain.csv", [{name: row[name] for name in row if "_a" not in name and "_b" not in name} for row in rows]
    )
    content = cli.json("participants", "plain.csv")
    assert (len(content["participants"]), content["influence"]) == (10, [])


def test_a_file_that_does_not_know_participants_is_refused_in_one_line(shared_data: Path, cli: Terminal) -> None:
    said = cli.refused("participants", str(shared_data / "user-study-2012" / "answers.csv"))
    assert said.endswith("does not say who gave which answer, so nothing can be said of participants\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--bar", "70"], "'bar' must be in [0, 1], got 70"),
        (["--least-seconds", "0"], "'least-seconds' must be a finite number above 0, got 0"),
        (["-m", "NDCG"], "Did you mean"),
        (["--combinations", "CG@5"], "or a file with one per line, got 'CG@5'"),
        (["--least-seconds", "nan"], "'least-seconds' must be a finite number above 0, got nan"),
        (["-o", "people.pdf"], "people.pdf: expected a name that ends in .txt, .json, .csv, .tex, .md, .html"),
        (["-o", "people.docx/x"], "expected a file in an existing directory"),
        (["-o", "answers.csv"], "answers.csv: is an input, and would be overwritten"),
        (["--on", "middling"], "middling"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Terminal, options: list[str], words: str) -> None:
    assert words in cli.refused("participants", "answers.csv", *options)


def test_people_are_told_of_when_none_of_their_answers_count(cli: Terminal) -> None:
    write_rows("aside.csv", [row | {"set_aside": "a pilot"} for row in rows_in("answers.csv")])
    code, out, err = cli("participants", "aside.csv")
    assert (code, err) == (0, "")
    assert out.startswith("10 participants gave 300 answers, of which 300 are excluded.")


def test_a_page_says_how_many_answers_are_to_traps(cli: Terminal) -> None:
    cli("participants", "answers.csv", "-m", "CG@5 DCG@5", "-o", "people.md")
    assert "10 participants, 300 answers and " in Path("people.md").read_text()


def test_combinations_are_named_as_elsewhere(cli: Terminal) -> None:
    Path("which.txt").write_text("DCG@5 on fine\nCG@5 on fine\n")
    content = cli.json("participants", "answers.csv", "--combinations", "which.txt", "--seed", "3")
    assert {row["best"] for row in content["influence"]} <= {"DCG@5 on fine", "CG@5 on fine"}
    assert [entry["file"] for entry in content["provenance"]["inputs"]] == ["answers.csv", "which.txt"]
    assert content["provenance"]["settings"]["seed"] == 3
    out = cli.out("participants", "answers.csv", "--combinations", "CG@5 on fine")
    assert "CG@5" in out


def test_what_the_rules_set_aside_is_written_for_fit_to_leave_out(cli: Terminal) -> None:
    code, out, err = cli("participants", "answers.csv", "--write", "trusted.csv", "--csv")
    shown = {row["participant"]: int(row["set_aside"]) for row in csv.DictReader(out.splitlines())}
    rows, before = rows_in("trusted.csv"), rows_in("answers.csv")
    aside = [row for row in rows if row["set_aside"]]
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
def test_answers_are_not_written_where_they_would_do_harm(cli: Terminal, target: str, said: str) -> None:
    before = Path("answers.csv").read_bytes()
    assert cli.refused("participants", "answers.csv", "--write", target, "-o", "both.csv") == f"adjudge: {said}\n"
    assert Path("answers.csv").read_bytes() == before


def test_one_participant_with_one_answer_is_told_of_as_one_says_it(cli: Terminal) -> None:
    lines = Path("answers.csv").read_text(encoding="utf-8").splitlines()
    Path("one.csv").write_text("\n".join(lines[:2]) + "\n", encoding="utf-8")
    out = cli.out("participants", "one.csv")
    assert out.startswith("1 participant gave 1 answer, of which 0 are excluded. 1 passes the rules of trust")
