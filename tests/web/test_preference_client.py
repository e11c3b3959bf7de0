"""A preference campaign driven from Python, with participants made by code, against a real server."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.web.preference_rows import some_questions
from tests.web.preference_simulated import Person, careful, spammer, take_part
from tests.web.test_client import lab

from adjudge.errors import AdjudgeError
from adjudge.preferences.files import write_questions
from adjudge.preferences.questions import Questions
from adjudge.users.files import read_mappings
from adjudge.users.noticing import find_agreement
from adjudge.users.satisfaction import find_satisfaction
from adjudge.web.client import Campaign, CampaignError, Organiser

__all__ = ["lab"]  # a fixture
N = 16


def written(questions: Questions, folder: Path) -> Path:
    """Questions, traps and documents as files."""
    n = sum(not one.is_trap for one in questions.questions)
    write_questions(questions.select(range(n)), folder / "questions.csv")
    write_questions(questions.select(range(n, len(questions))), folder / "traps.csv")
    names = sorted({name for one in questions.questions for name in (*one.a, *one.b, one.query)})
    (folder / "documents.csv").write_text("\n".join(["document,text", *(f"{name},{name}" for name in names)]) + "\n")
    return folder


def opened(lab: Organiser, name: str, folder: Path, **more: object) -> Campaign:
    settings = {
        "title": "Lists",
        "quiz": 3,
        "quiz_bar": 0.7,
        "trap_share": 0.2,
        "per_participant": N,
        "seed": 0,
        **more,
    }
    campaign = lab.create_preferences(name, settings)
    taken = campaign.put_questions(folder / "questions.csv", traps=folder / "traps.csv")
    assert (taken["questions"], taken["traps"]) == (N, 6)
    assert len(campaign.missing()) == taken["missing"] > 0
    campaign.put_documents(folder / "documents.csv")
    assert campaign.missing() == []
    campaign.open()
    return campaign


def a_careful_person(questions: Questions) -> Person:
    satisfaction, agreement = find_satisfaction("CG@5", "fine").mapping, find_agreement("CG@5", "fine").mapping
    assert satisfaction is not None
    assert agreement is not None
    curves = {"measure": "CG@2", "scale": "fine", "trap_accuracy": 1.0}
    return careful(questions, satisfaction=satisfaction, agreement=agreement, **curves)  # type: ignore[arg-type]


def test_a_campaign_runs_from_the_first_file_to_the_last_export(lab: Organiser, tmp_path: Path) -> None:
    asked = some_questions(N, 6)
    recruiter = {"kind": "prolific", "codes": {"done": "C1", "screened_out": "C2", "failed": "C3"}}
    campaign = opened(lab, "lists", written(asked, tmp_path), judged_by=2, recruiter=recruiter)
    link, url = campaign.invite(label="study")["url"].partition("?")[0], lab.connection.url

    def come(number: int, person: Person) -> tuple[str | None, str | None]:
        told = {"PROLIFIC_PID": f"person-{number}", "STUDY_ID": "s", "SESSION_ID": f"session-{number}"}
        took = take_part(url, link, person=person, seed=number, recruited=told)
        again = take_part(url, link, person=person, seed=number, recruited=told)
        assert (again.code, again.outcome, again.answers) == (took.code, took.outcome, 0)  # their part is over
        return took.outcome, took.completion

    ended = [come(number, a_careful_person(asked)) for number in range(2)]
    assert ended == [("done", "C1")] * 2
    assert come(9, lambda question, rng: "first" if rng.random() < 0.5 else "second")[0] in (
        "screened_out",
        "failed",
        "done",
    )
    study = campaign.study()
    assert len(study.counted()) == 2 * N
    assert Counter(study.participant[~study.set_aside & ~study.trap].tolist()) == {0: N, 1: N}
    assert study.right[study.trap & ~study.set_aside].all()
    assert (campaign.export("people", to=tmp_path / "people.csv"), campaign.log().height) == (
        tmp_path / "people.csv",
        len(study),
    )
    assert "person-0" in (tmp_path / "people.csv").read_text()
    assert "person-0" not in str(campaign.export("answers"))
    campaign.export("mapping", to=tmp_path / "mapping.json")
    assert {one.measure for one in read_mappings(tmp_path / "mapping.json").agreement} == {"CG@2"}
    report = bytes(campaign.export("report", format="markdown")).decode()
    assert f"{2 * N} answers count, of {2 * N} that {N} questions want." in report
    with pytest.raises(CampaignError, match="asks for preferences"):
        campaign.put_judgments(tmp_path / "documents.csv")


def test_somebody_who_reads_does_not_guess() -> None:
    person = a_careful_person(some_questions())
    with pytest.raises(AdjudgeError, match="does not know the question about 'unheard'"):
        person({"query": {"text": "unheard"}, "first": [], "second": []}, None)  # type: ignore[arg-type]
    with pytest.raises(AdjudgeError, match="Expected a spammer of kind random, first or same"):
        spammer("lazy")  # type: ignore[arg-type]
