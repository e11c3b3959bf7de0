"""A preference campaign out of the server: the study as it was answered, and nobody's identity in it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import update
from tests.conftest import missing
from tests.web.conftest import ON_BOTH
from tests.web.preference_rows import (
    answered_at_random,
    preference_campaign,
    some_questions,
    store_answers,
    store_people,
)
from tests.web.test_archiving import everything

from adjudge.cli import main
from adjudge.formats import Source
from adjudge.preferences.files import read_answers, read_questions
from adjudge.preferences.learning import learn
from adjudge.preferences.questions import CHOICES
from adjudge.reporting.render import render
from adjudge.users.files import read_mappings
from adjudge.web.errors import Refused
from adjudge.web.kinds.exports import export
from adjudge.web.kinds.judging.store import import_judgments
from adjudge.web.kinds.preference import export as preference_reporting
from adjudge.web.kinds.preference.assignment import trust_of
from adjudge.web.kinds.preference.export import preference_report, study_of
from adjudge.web.kinds.verify import verify
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.archive import backup, restore
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database

RECRUITER = {"kind": "prolific", "codes": {"done": "C-DONE", "screened_out": "C-OUT", "failed": "C-FAILED"}}
TOLD = {"PROLIFIC_PID": "5f3e-secret", "STUDY_ID": "study-7", "SESSION_ID": "session-9"}


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def data_of(database: Database, campaign: Campaign, what: str, **options: Any) -> bytes:
    with database.read() as connection:
        return export(connection, campaign, what, **options).data


@ON_BOTH
def test_a_study_is_what_people_answered(database: Database) -> None:
    asked = some_questions(5, 2)
    campaign = preference_campaign(database, questions=asked, judged_by=3)
    said = answered_at_random(database, campaign, asked)
    with database.read() as connection:
        study = study_of(connection, campaign)
    names = [one.name for one in study.questions.questions]
    found = [
        (study.participants[who], names[place], CHOICES[choice])
        for who, place, choice in zip(study.participant, study.question, study.choice, strict=True)
    ]
    assert found == said
    assert study.swapped.tolist() == [number % 2 for number in range(len(said))]
    assert set(study.seconds) == {1.0}  # the page says 9, but nobody had a question for longer than 1
    assert set(study.heard) == {1.0 + 2 * 0.5 + 2 * 0.75}
    assert study.at.tolist() == [31.0 + number for number in range(len(said))]
    assert study.trap.sum() == 3 * 2
    assert study.right[study.trap].all()
    assert len(study.counted()) == 3 * 5


def test_the_command_judges_exported_answers_by_the_rules_of_the_campaign_as_its_page_does(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = some_questions(20, 10)
    rules: dict[str, Any] = {"quiz": 3, "quiz_bar": 0.9, "trust_bar": 0.75, "least_traps": 6, "attention_bar": 0.5}
    campaign = preference_campaign(database, questions=asked, **rules, listen_seconds=2)
    traps, plain = ([one.name for one in asked.questions if one.is_trap == is_trap] for is_trap in (True, False))
    wrong = {"right": (), "quiz": (1,), "traps": (4, 5, 6, 7), "two later": (8, 9), "guesses": (3, 4)}
    ids = store_people(database, campaign, list(wrong))
    rng = np.random.default_rng(2)
    for code, missed in wrong.items():
        checks = [(ids[code], name, "b" if place in missed else "a") for place, name in enumerate(traps)]
        others = [(ids[code], name, "good" if code == "guesses" else CHOICES[rng.integers(4)]) for name in plain]
        store_answers(database, campaign, [*checks[:3], *others, *checks[3:]])
    with database.read() as connection:
        page = {code: trust_of(connection, campaign, number) for code, number in ids.items()}
    path = tmp_path / "answers.csv"
    path.write_bytes(data_of(database, campaign, "answers"))
    assert main(["participants", str(path), "--json"]) == 0
    said = capsys.readouterr()
    rows = {row["participant"]: row for row in json.loads(said.out)["participants"]}
    assert {code: row["verdict"] for code, row in rows.items()} == {code: one.verdict for code, one in page.items()}
    assert {code: row["attentive"] for code, row in rows.items()} == pytest.approx(
        {code: one.probability for code, one in page.items()}
    )
    assert {"failed quiz", "failed traps", "inattentive", "fine"} == {one.verdict for one in page.values()}
    assert "judged by the rules of its campaign: quiz=3 quiz_bar=0.9 bar=0.75" in said.err
    assert "options=4" in said.err
    assert main(["participants", str(path), "--json", "--quiz", "0", "--bar", "0", "--attention", "0"]) == 0
    others_rules = json.loads(capsys.readouterr().out)["participants"]
    assert {row["verdict"] for row in others_rules} == {"fine"}


def test_the_file_of_answers_is_the_whole_study(database: Database, tmp_path: Path) -> None:
    asked = some_questions(4, 2)
    campaign = preference_campaign(database, questions=asked, judged_by=3)
    answered_at_random(database, campaign, asked)
    with database.write() as connection:
        connection.execute(
            update(t.participant)
            .where(t.participant.c.code == "p2")
            .values(set_aside_at=50.0, set_aside_why="traps", outcome="failed", outcome_at=50.0)
        )
        study = study_of(connection, campaign)
    path = tmp_path / "answers.csv"
    path.write_bytes(data_of(database, campaign, "answers"))
    back = read_answers(path)
    for name in ("choice", "participant", "swapped", "seconds", "heard", "set_aside"):
        assert np.array_equal(getattr(back, name), getattr(study, name)), name
    assert (back.participants, back.reasons) == (study.participants, ("", "traps", ""))
    assert [back.questions.questions[place] for place in back.question] == [
        study.questions.questions[place] for place in study.question
    ]
    (tmp_path / "questions.csv").write_bytes(data_of(database, campaign, "questions"))
    questions = read_questions(tmp_path / "questions.csv")
    assert questions.questions == asked.questions
    assert all(np.array_equal(questions.grades[scale], asked.grades[scale]) for scale in ("fine", "broad"))


def test_a_campaign_without_answers_has_an_empty_study(database: Database) -> None:
    campaign = preference_campaign(database)
    with database.read() as connection:
        assert len(study_of(connection, campaign)) == 0
    assert table(data_of(database, campaign, "answers")) == []
    assert table(data_of(database, campaign, "log")) == []
    assert len(table(data_of(database, campaign, "questions"))) == 8


def test_repeats_and_skips_are_in_the_log_alone(database: Database) -> None:
    campaign = preference_campaign(database, judged_by=2)
    (who,) = store_people(database, campaign, ["p1"]).values()
    store_answers(database, campaign, [(who, "n1", "a"), (who, "n2", "good")])
    with database.write() as connection:
        connection.execute(update(t.answer).where(t.answer.c.id == 1).values(kind="repeat"))
    with database.read() as connection:
        assert len(study_of(connection, campaign)) == 1
    rows = table(data_of(database, campaign, "log"))
    assert [(row["kind"], row["question"], row["choice"], row["first"]) for row in rows] == [
        ("repeat", "n1", "a", "a"),
        ("judgment", "n2", "good", "b"),
    ]
    assert (rows[0]["query_ms"], rows[0]["a_ms"], rows[0]["b_ms"]) == ("1000", "500|500", "750|750")
    assert pl.read_parquet(io.BytesIO(data_of(database, campaign, "log", form="parquet"))).height == 2
    assert len(json.loads(data_of(database, campaign, "log", form="json"))) == 2


def test_what_people_write_never_becomes_a_formula(database: Database) -> None:
    campaign = preference_campaign(database)
    (who,) = store_people(database, campaign, ["p1"]).values()
    store_answers(database, campaign, [(who, "n1", "a")], comment='=HYPERLINK("http://x","y")')
    for what in ("answers", "log"):
        assert table(data_of(database, campaign, what))[0]["comment"] == '\'=HYPERLINK("http://x","y")'


@ON_BOTH
def test_only_the_people_export_says_what_the_recruiter_told(database: Database) -> None:
    asked = some_questions(4, 2)
    campaign = preference_campaign(database, questions=asked, judged_by=2, recruiter=RECRUITER)
    people = store_people(database, campaign, ["p1"], recruited=TOLD, outcome="done", outcome_at=60.0)
    people |= store_people(database, campaign, ["p2"], recruited={**TOLD, "PROLIFIC_PID": "=1+1"}, outcome="failed",
                           outcome_at=61.0, set_aside_at=61.0, set_aside_why="traps")  # fmt: skip
    people |= store_people(database, campaign, ["p3"])
    given = [(who, name, "a") for who in list(people.values())[:2] for name in ("n1", "n2", "t1")]
    store_answers(database, campaign, [*given, (people["p2"], "t2", "b")])
    rows = {row["code"]: row for row in table(data_of(database, campaign, "people"))}
    assert {name: rows["p1"][name] for name in ("outcome", "completion_code", "answers", "traps_asked", "trust")} == {
        "outcome": "done", "completion_code": "C-DONE", "answers": "2", "traps_asked": "1", "trust": "1.0"
    }  # fmt: skip
    assert [rows["p1"][name] for name in TOLD] == list(TOLD.values())
    assert (rows["p2"]["set_aside"], rows["p2"]["trust"], rows["p2"]["PROLIFIC_PID"]) == ("traps", "0.5", "'=1+1")
    assert (rows["p3"]["outcome"], rows["p3"]["answers"], rows["p3"]["trust"]) == ("", "0", "")
    for what, form in (("answers", "csv"), ("questions", "csv"), ("log", "csv"), ("log", "json"), ("log", "parquet")):
        content = data_of(database, campaign, what, form=form)
        assert not any(value.encode() in content for value in TOLD.values()), what


def test_what_a_preference_campaign_does_not_have_is_refused(database: Database) -> None:
    campaign = preference_campaign(database)
    with database.read() as connection:
        with pytest.raises(Refused, match="to export of a preference campaign, got 'qrels'"):
            export(connection, campaign, "qrels")
        with pytest.raises(Refused, match="The answers can be had as csv, not as 'parquet'"):
            export(connection, campaign, "answers", form="parquet")
        with pytest.raises(Refused, match="take no scale"):
            export(connection, campaign, "log", scale="fine")
    source = Source("file.csv", b"query,document,grade\nq1,q1-1,80\n")
    with database.write() as connection, pytest.raises(Refused, match="asks for preferences, not for grades"):
        import_judgments(connection, campaign, source, now=1.0)


def test_before_there_is_enough_a_sentence_says_so(database: Database) -> None:
    campaign = preference_campaign(database, judged_by=3)
    with database.read() as connection, pytest.raises(Refused, match="A report needs answers; so far there are none"):
        export(connection, campaign, "report")
    people = store_people(database, campaign, ["p1", "p2"])
    store_answers(database, campaign, [(people["p1"], "n1", "a"), (people["p1"], "t1", "a"), (people["p2"], "n1", "b")])
    told = "Curves need 20 answers that count; so far there are 2."
    with database.read() as connection, pytest.raises(Refused, match=told):
        export(connection, campaign, "mapping")
    report = data_of(database, campaign, "report", form="markdown").decode()
    assert told in report
    assert "2 answers count, of 18 that 6 questions want. 0 more are excluded, and 1 are to attention checks." in report
    assert "p2" in report  # the people are there all the same


def test_answers_that_are_all_alike_are_a_sentence_too(database: Database) -> None:
    asked = some_questions(24, 2)
    campaign = preference_campaign(database, questions=asked)
    (who,) = store_people(database, campaign, ["p1"]).values()
    store_answers(database, campaign, [(who, f"n{number}", "a") for number in range(1, 25)])
    with database.read() as connection, pytest.raises(Refused, match="The answers so far allow no curves: "):
        export(connection, campaign, "mapping")
    assert "The answers so far allow no curves" in data_of(database, campaign, "report", form="markdown").decode()


def test_curves_and_a_report_once_there_is_enough(database: Database, tmp_path: Path) -> None:
    asked = some_questions(40, 4, queries=8)
    campaign = preference_campaign(
        database, questions=asked, judged_by=4, combinations=["CG@2 on fine", "P@2 on binary40"]
    )
    answered_at_random(database, campaign, asked, people=4)
    with database.write() as connection:
        aside = update(t.participant).where(t.participant.c.code == "p4")
        connection.execute(aside.values(set_aside_at=50.0, set_aside_why="organiser"))
    (tmp_path / "mapping.json").write_bytes(data_of(database, campaign, "mapping"))
    mappings = read_mappings(tmp_path / "mapping.json")
    for found in (mappings.satisfaction, mappings.agreement):
        assert [(one.measure, one.scale) for one in found] == [("CG@2", "fine"), ("P@2", "binary40")]
    facts = dict(mappings.agreement[0].provenance)
    assert facts["answers"] == "120"
    answers = tmp_path / "answers.csv"
    answers.write_bytes(data_of(database, campaign, "answers"))
    assert facts["sha256"] == hashlib.sha256(answers.read_bytes()).hexdigest()
    taken_away = learn(read_answers(answers), ["CG@2 on fine", "P@2 on binary40"], resamples=10).mappings()
    for here, there in zip(mappings.agreement + mappings.satisfaction,
                           taken_away.agreement + taken_away.satisfaction, strict=True):  # fmt: skip
        assert here.provenance == there.provenance
        here_at, there_at = (np.asarray(one(np.array([0.1, 0.6]))) for one in (here, there))
        assert here_at == pytest.approx(there_at, abs=1e-9)
    with database.read() as connection:
        made = preference_report(connection, campaign)
    keys = [section.name for section in made.sections]
    assert keys[:2] == ["learnt", "so-far"]
    assert "participants" in keys
    assert made.provenance["inputs"]
    page = render(made, "html")
    assert page.startswith("<!")
    assert (
        "120 answers count, of 160 that 40 questions want. 40 more are excluded, and 16 are to attention checks."
        in page
    )


def test_the_report_says_what_it_does_not_look_at(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = some_questions(12, 2)
    campaign = preference_campaign(database, questions=asked, judged_by=4)
    answered_at_random(database, campaign, asked)
    assert "asked again" not in data_of(database, campaign, "report", form="markdown").decode()
    with database.write() as connection:
        connection.execute(update(t.answer).where(t.answer.c.id == 1).values(kind="repeat"))
    monkeypatch.setattr(preference_reporting, "_MOST_LEFT_OUT", 2)
    said = data_of(database, campaign, "report", form="markdown").decode()
    assert "1 answer to questions asked again is not looked at here" in said
    assert "without each participant for up to 2 of them, and there are 3" in said
    with database.write() as connection:
        connection.execute(update(t.answer).where(t.answer.c.id > 15).values(kind="repeat"))
    said = data_of(database, campaign, "report", form="markdown").decode()
    assert said.count("Curves need 20 answers that count") == 2  # nothing is learnt, and nothing hangs on anybody


@ON_BOTH
def test_a_preference_campaign_moves_to_the_other_database(
    database: Database, settings: Settings, tmp_path: Path, backend: str, request: pytest.FixtureRequest
) -> None:
    asked = some_questions(4, 2)
    campaign = preference_campaign(database, questions=asked, judged_by=3, batch_size=2, recruiter=RECRUITER)
    answered_at_random(database, campaign, asked)
    store_people(database, campaign, ["p9"], recruited=TOLD, recruited_as="1" * 64, outcome="done", outcome_at=60.0)
    assert settings.secret
    backup(database, settings, tmp_path / "all.tar", now=10.0)
    other: str | None = None
    if backend == "sqlite":
        postgres = request.getfixturevalue("_postgres")
        if isinstance(postgres, str):
            missing(postgres)
        name, other = postgres.fresh()
        request.addfinalizer(lambda: postgres.drop(name))
    target = Settings(data=tmp_path / "new", database=other)
    restore(tmp_path / "all.tar", target)
    opened = Database(target.url)
    try:
        there = everything(database)
        assert everything(opened) == there
        assert len(there["listed"]) == 6 * 4
        assert verify(opened, target) == []
        assert data_of(opened, campaign, "answers") == data_of(database, campaign, "answers")
        with opened.read() as connection:  # what is not known is nothing, also after the way through JSON
            nobody = t.participant.select().where(t.participant.c.recruited.is_(None))
            assert len(connection.execute(nobody).all()) == 3
    finally:
        opened.close()
