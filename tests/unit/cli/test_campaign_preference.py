"""adjudge campaign about two lists, as an organiser types it, and as one mistypes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.test_campaign import Captured, place, refused, run
from tests.web.preferring_rows import some_questions

from adjudge.preferences.files import read_questions, write_questions

__all__ = ["place"]  # a fixture
CREATE = ["create", "lists", "--questions", "questions.csv", "--traps", "traps.csv", "--quiz", "2"]
PROLIFIC = ["--recruiter", "prolific", "--code", "done=C1", "--code", "screened-out=C2", "--code", "failed=C3"]


@pytest.fixture
def here(place: Path) -> Path:
    """A folder with questions, traps and documents."""
    asked = some_questions(5, 3)
    write_questions(asked.select(range(5)), place / "questions.csv")
    write_questions(asked.select(range(5, 8)), place / "traps.csv")
    (place / "texts").mkdir()
    for name in {name for one in asked.questions for name in (*one.a, *one.b, one.query)}:
        (place / "texts" / f"{name}.txt").write_text(f"about {name}")
    return place


def test_a_campaign_from_first_to_last(here: Path, capsys: Captured) -> None:
    options = ["--documents", "texts", "--title", "Which list?", *PROLIFIC, "--per-participant", "4", "--batch-size",
               "3", "--pause-after-batch", "--pay", "0.12", "--pay-screened-out", "0.1", "--currency", "GBP", "--fee",
               "0.33", "--judged-by", "2", "--combination", "CG@2 on fine"]  # fmt: skip
    n_texts = len(list((here / "texts").iterdir()))
    assert run(capsys, *CREATE, *options).splitlines() == [
        "Made the campaign lists: 5 questions about 2 queries, 3 traps.",
        f"{n_texts} documents taken in.",
        "Everything is there. Open it with: adjudge campaign open lists",
    ]
    shown = json.loads(run(capsys, "show", "lists", "--json"))
    settings = shown["settings"]
    assert (shown["kind"], shown["missing"], shown["counts"]["traps"]) == ("preference", [], 3)
    assert settings["recruiter"]["codes"] == {"done": "C1", "screened_out": "C2", "failed": "C3"}
    assert settings["pay"] == {"currency": "GBP", "per_answer": 0.12, "per_participant": 0.0,
                               "per_screened_out": 0.1, "fee_share": 0.33}  # fmt: skip
    assert (settings["pause_after_batch"], settings["batch_size"], settings["per_participant"]) == (True, 3, 4)
    lines = run(capsys, "show", "lists").splitlines()
    assert [line.split("  ", 1)[1].strip() for line in lines if line.startswith(("questions", "traps", "pay"))] == [
        "5, 0 answered",
        "3; 2 in the quiz, then 20% of questions",
        "0.12 GBP an answer + 0.1 GBP a screened-out participant, fee 33%",
    ]
    assert run(capsys, "open", "lists") == "The campaign lists is open.\n"
    link = run(capsys, "invite", "lists", "--address", "https://judge.example.org").strip()
    assert link.startswith("https://judge.example.org/i/")
    assert link.endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")
    listed = json.loads(run(capsys, "list", "--json"))["campaigns"]
    assert [(one["kind"], one["questions"], one["candidates"]) for one in listed] == [("preference", 5, 0)]
    assert run(capsys, "export", "lists", "questions", "-o", "back.csv") == "Wrote back.csv.\n"
    asked = some_questions(5, 3)
    assert read_questions(here / "back.csv").questions == asked.questions
    assert run(capsys, "export", "lists", "answers") == "Wrote lists-answers.csv.\n"
    assert run(capsys, "export", "lists", "people") == "Wrote lists-people.csv.\n"
    assert (here / "lists-people.csv").read_text().rstrip().endswith("PROLIFIC_PID,STUDY_ID,SESSION_ID")
    assert run(capsys, "verify") == "Everything is there and adds up.\n"


def test_documents_can_come_later(here: Path, capsys: Captured) -> None:
    assert "Nothing to hear, read or see yet for" in run(capsys, *CREATE)
    assert "something to hear, read or see for every document and query" in refused(capsys, "open", "lists")
    assert "Everything is there." in run(capsys, "documents", "lists", "--documents", "texts")
    assert run(capsys, "open", "lists") == "The campaign lists is open.\n"


def test_another_recruiter_has_parameters_and_ways_back(here: Path, capsys: Captured) -> None:
    options = ["--recruiter", "other", "--parameter", "pid", "--parameter", "study", "--way-back",
               "done=https://panel.example.org/end?c={code}&p={pid}", "--code", "done=X"]  # fmt: skip
    run(capsys, *CREATE, *options)
    settings = json.loads(run(capsys, "show", "lists", "--json"))["settings"]
    assert settings["recruiter"]["parameters"] == ["pid", "study"]
    assert settings["recruiter"]["addresses"] == {"done": "https://panel.example.org/end?c={code}&p={pid}"}
    assert run(capsys, "invite", "lists").strip().endswith("?pid={pid}&study={study}")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["create", "x"], "Expected files with runs, or --questions FILE"),
        ([*CREATE, "runs"], "Expected runs or --questions, not both; got 'runs'"),
        ([*CREATE, "--scale", "fine"], "--scale is for judging documents; with --questions two lists are compared"),
        ([*CREATE, "-m", "CG@5"], "--measure is for judging documents"),
        ([*CREATE, "--names", "file"], "--names is for judging documents"),
        (["create", "x", "runs", "--combination", "CG@5 on fine"], "--combinations is for comparing two lists"),
        ([*CREATE, "--goal", "tau"], "--goal is for judging documents"),
        (["create", "x", "runs", "--quiz", "3"], "--quiz is for comparing two lists; give --questions FILE as well"),
        (["create", "x", "runs", "--pay", "3"], "--pay is for comparing two lists"),
        (["create", "x", "runs", "--code", "done=1"], "--code is for comparing two lists"),
        (["create", "x", "runs", "--traps", "traps.csv"], "--traps is for comparing two lists"),
        ([*CREATE, *PROLIFIC, "--code", "gone=1"], "--code: expected OUTCOME=… with one of done, screened-out, failed"),
        ([*CREATE, *PROLIFIC, "--code", "done=C9"], "--code: expected each outcome once, got done again"),
        ([*CREATE, "--code", "done=1"], "expected parameters, codes and addresses with a recruiter only"),
        ([*CREATE, "--recruiter", "other"], "expected the name of the URL parameter that identifies a person"),
        ([*CREATE, "--currency", "pounds"], "pay.currency"),
        ([*CREATE, "--combination", "CG@2"], "expected MEASURE on SCALE"),
        (
            [*CREATE, "--combination", "CG@2 on 0..4"],
            "CG@2 on 0..4 needs grades on 0..4; the questions have fine, broad",
        ),
        (["create", "lists", "--questions", "questions.csv"], "The quiz wants 5 traps, and there are none"),
        (["create", "lists", "--questions", "nowhere.csv"], "nowhere.csv"),
        ([*CREATE, "--per-participant", "0"], "per_participant"),
    ],
)
def test_mistakes_are_one_line_and_make_nothing(
    here: Path, capsys: Captured, arguments: list[str], sentence: str
) -> None:
    assert sentence in refused(capsys, *arguments)
    if (here / "adjudge-data").exists():
        assert json.loads(run(capsys, "list", "--json"))["campaigns"] == []


def test_what_belongs_to_judging_is_refused_in_one_line(here: Path, capsys: Captured) -> None:
    run(capsys, *CREATE)
    told = "asks for preferences, not for grades"
    assert told in refused(capsys, "import", "lists", "fine.csv")
    assert told in refused(capsys, "rehearse", "lists")
    assert "got 'qrels'" in refused(capsys, "export", "lists", "qrels")
    assert "expected a suffix among .csv for answers" in refused(capsys, "export", "lists", "answers", "-o", "a.json")


def test_combinations_are_named_as_elsewhere(here: Path, capsys: Captured) -> None:
    (here / "which.txt").write_text("CG@2 on fine  # first\nDCG@2 on broad\n")
    run(capsys, *CREATE, "--combinations", "which.txt", "--combination", "CG@2 on broad")
    settings = json.loads(run(capsys, "show", "lists", "--json"))["settings"]
    assert settings["combinations"] == ["CG@2 on fine", "DCG@2 on broad", "CG@2 on broad"]
    run(capsys, "create", "thesis", *CREATE[2:], "--combinations", "thesis")
    settings = json.loads(run(capsys, "show", "thesis", "--json"))["settings"]
    assert len(settings["combinations"]) == 95
