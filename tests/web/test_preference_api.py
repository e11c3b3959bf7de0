"""Setting up a preference campaign over HTTP: settings of its kind, questions by file, exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import ON_BOTH
from tests.web.preference_rows import answered_at_random, some_questions
from tests.web.test_campaign_api import api, organiser

from adjudge.preferences.files import write_questions
from adjudge.preferences.questions import Questions
from adjudge.web.store.campaigns import find_campaign
from adjudge.web.store.database import Database

__all__ = ["api", "organiser"]  # fixtures
PLACE = "/api/campaigns/lists"
Files = list[tuple[str, tuple[str, bytes]]]


def created(api: TestClient, **settings: Any) -> dict[str, Any]:
    values = {"title": "Lists", "quiz": 2, "listen_seconds": 0, "seed": 0, **settings}
    answer = api.post("/api/campaigns", json={"name": "lists", "kind": "preference", "settings": values})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def as_file(tmp_path: Path, questions: Questions) -> bytes:
    write_questions(questions, tmp_path / "questions.csv")
    return (tmp_path / "questions.csv").read_bytes()


@ON_BOTH
def test_from_questions_to_an_open_campaign(api: TestClient, database: Database, tmp_path: Path) -> None:
    recruiter = {"kind": "prolific", "codes": {"done": "C1", "screened_out": "C2", "failed": "C3"}}
    made = created(api, judged_by=2, recruiter=recruiter, pay={"currency": "GBP", "per_answer": 0.12})
    assert (made["kind"], made["state"], made["settings"]["recruiter"]["codes"]["screened_out"]) == (
        "preference",
        "draft",
        "C2",
    )
    assert api.get(f"{PLACE}/missing").status_code == 422  # nothing is asked yet
    asked = some_questions(4, 3)
    both = [as_file(tmp_path, asked.select(range(4))), as_file(tmp_path, asked.select(range(4, 7)))]
    files: Files = [("file", ("questions.csv", both[0])), ("traps", ("traps.csv", both[1]))]
    taken = api.put(f"{PLACE}/questions", files=files)
    assert taken.status_code == 200, taken.text
    missing = api.get(f"{PLACE}/missing").json()["missing"]
    assert taken.json() == {"questions": 4, "traps": 3, "queries": 2, "scales": ["fine", "broad"],
                            "missing": len(missing)}  # fmt: skip
    assert set(missing) == {name for one in asked.questions for name in (*one.a, *one.b, one.query)}
    refused = api.post(f"{PLACE}/state", json={"state": "open"})
    assert (refused.status_code, "every document and query" in refused.text) == (422, True)
    rows = "\n".join(["document,text", *(f"{name},words about {name}" for name in [*missing, "nobody-asks"])])
    sent: Files = [("table", ("documents.csv", rows.encode()))]
    documents = api.post(f"{PLACE}/documents", files=sent).json()
    assert (documents["taken"], documents["skipped"], documents["problems"]) == (len(missing), 1, [])
    shown = api.post(f"{PLACE}/state", json={"state": "open"}).json()
    assert (shown["state"], shown["counts"]["pairs"], shown["counts"]["traps"]) == ("open", 4, 3)
    assert [one["kind"] for one in api.get("/api/campaigns").json()["campaigns"]] == ["preference"]
    assert api.patch(PLACE, json={"settings": {"per_participant": 7}}).json()["settings"]["per_participant"] == 7
    with database.read() as connection:
        campaign = find_campaign(connection, "lists")
    answered_at_random(database, campaign, asked, people=2)
    answers = api.get(f"{PLACE}/export/answers")
    assert (answers.status_code, len(answers.text.splitlines())) == (200, 1 + 2 * 7)
    assert answers.headers["content-disposition"] == 'attachment; filename="lists-answers.csv"'
    assert api.get(f"{PLACE}/export/people").text.startswith("code,outcome,completion_code")
    late = api.patch(PLACE, json={"settings": {"seed": 3}})
    assert (late.status_code, "cannot be changed once there are answers" in late.text) == (409, True)


def test_what_is_wrong_has_the_right_status_and_a_sentence(api: TestClient, tmp_path: Path) -> None:
    created(api)
    good = as_file(tmp_path, some_questions())
    for given, sentence in (
        ([("file", ("a.csv", good)), ("file", ("b.csv", good))], "Expected one file as 'file', got 2"),
        ([("file", ("a.csv", good)), ("traps", ("b.csv", good))], "expected each name once, got 'n1' again"),
        ([("traps", ("a.csv", good))], "Expected a file with questions in the field 'file'"),
        ([("file", ("a.csv", b"question,query\n1,2\n"))], "a.csv:1: expected columns a1"),
        ([("file", ("a.csv", b"question,query,a1,b1\n1,q,x\n"))], "a.csv:2: expected 4 columns, got 3"),
        ([("file", ("a.csv", b"question,query,a1,b1\n1,q,x,y\n"))], "The quiz wants 2 attention checks"),
        ([("file", ("a.csv", b"\x00\x01"))], "a.csv"),
    ):
        answer = api.put(f"{PLACE}/questions", files=given)
        assert (answer.status_code, sentence in answer.text) == (422, True), answer.text
        assert "/tmp" not in answer.text
    runs: Files = [("files", ("a.txt", b"q1 Q0 d1 1 9 a\n"))]
    assert "asks for preferences" in api.put(f"{PLACE}/runs", files=runs).text
    judged: Files = [("file", ("a.csv", b"query,document,grade\nq1,d1,80\n"))]
    assert "asks for preferences" in api.post(f"{PLACE}/judgments", files=judged).text
    for what, sentence in (("qrels", "Expected one of answers"), ("session", "Expected one of answers")):
        answer = api.get(f"{PLACE}/export/{what}")
        assert (answer.status_code, sentence in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("decided", "sentence"),
    [
        ({"measure": "CG@5"}, "measure"),
        ({"quiz": -1}, "quiz"),
        ({"recruiter": {"kind": "other"}}, "the name of the URL parameter"),
        ({"combinations": ["CG@5"]}, "expected MEASURE on SCALE"),
        ({"combinations": ["AP@5 on fine"]}, "AP"),
    ],
)
def test_settings_that_cannot_be_are_refused(api: TestClient, decided: dict[str, Any], sentence: str) -> None:
    body = {"name": "lists", "kind": "preference", "settings": {"title": "Lists", **decided}}
    answer = api.post("/api/campaigns", json=body)
    assert (answer.status_code, sentence in answer.text) == (422, True), answer.text
    assert api.get("/api/campaigns").json()["campaigns"] == []


def test_a_curve_needs_grades_on_its_scale(api: TestClient, tmp_path: Path) -> None:
    created(api, combinations=["CG@2 on fine", "CG@2 on 0..4"])
    files: Files = [("file", ("a.csv", as_file(tmp_path, some_questions())))]
    answer = api.put(f"{PLACE}/questions", files=files)
    assert "CG@2 on 0..4 needs grades on 0..4; the questions have fine, broad." in answer.text
    assert api.patch(PLACE, json={"settings": {"combinations": ["P@2 on binary40"]}}).status_code == 200
    assert api.put(f"{PLACE}/questions", files=files).status_code == 200
    assert api.patch(PLACE, json={"settings": {"combinations": ["CG@2 on 0..4"]}}).status_code == 422


def test_a_judging_campaign_takes_no_questions(api: TestClient, tmp_path: Path) -> None:
    api.post("/api/campaigns", json={"name": "lists", "settings": {"title": "Songs"}})
    files: Files = [("file", ("a.csv", as_file(tmp_path, some_questions())))]
    answer = api.put(f"{PLACE}/questions", files=files)
    assert (answer.status_code, "asks for grades, not for preferences" in answer.text) == (422, True)
    assert api.get(f"{PLACE}/export/answers").status_code == 422
