"""Files of questions and answers: what is written comes back, quirks are survived, and what is wrong has a line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.preferences.files import joined_studies, read_answers, read_questions, write_answers, write_questions
from adjudge.preferences.questions import CHOICES, Question, Questions
from adjudge.preferences.simulated import example_study
from adjudge.preferences.study import Study
from adjudge.preferences.trust import TrustRules

HEADER = "question,query,a1,a2,b1,b2,expected,fine_a1,fine_a2,fine_b1,fine_b2"
ROWS = ["1,q1,x,y,y,z,,80,60,60,10", "2,q1,x,,z,y,good|bad,80,,10,60"]

name = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)
lists = st.lists(name, min_size=1, max_size=4, unique=True).map(tuple)
seconds = st.one_of(st.just(float("nan")), st.floats(0, 1e5))


@st.composite
def some_questions(draw: st.DrawFn) -> Questions:
    names = draw(st.lists(name, min_size=1, max_size=5, unique=True))
    has_systems = draw(st.booleans())
    expected = st.sets(st.sampled_from(CHOICES)).map(frozenset)
    asked = tuple(
        Question(
            one, draw(name), draw(lists), draw(lists), draw(expected), (draw(name), draw(name)) if has_systems else None
        )
        for one in names
    )
    ranks = max(len(side) for one in asked for side in one.lists)
    grades = np.full((len(asked), 2, ranks), np.nan)
    for i, one in enumerate(asked):
        for side, documents in enumerate(one.lists):
            cells = st.one_of(st.floats(0, 100), st.just(float("nan")))
            grades[i, side, : len(documents)] = [draw(cells) for _ in documents]
    return Questions(asked, {"fine": grades})


@st.composite
def some_study(draw: st.DrawFn) -> Study:
    questions = draw(some_questions())
    people = tuple(draw(st.lists(name, min_size=1, max_size=3, unique=True)))
    n = draw(st.integers(1, 8))

    def many(one: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(one, min_size=n, max_size=n))

    comments = many(st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=12))
    return Study(
        questions,
        np.array(many(st.integers(0, len(questions) - 1))),
        np.array(many(st.integers(0, 3))),
        np.array(many(st.integers(-1, len(people) - 1))),
        people,
        np.array(many(st.integers(-1, 1))),
        np.array(many(seconds)),
        np.array(many(seconds)),
        np.array(many(st.one_of(st.just(float("nan")), st.integers(0, 4_000_000_000).map(float)))),
        np.array(many(st.booleans())),
        comments=tuple(comments) if any(comments) else (),
    )


def same_questions(one: Questions, other: Questions) -> bool:
    return one.questions == other.questions and all(
        np.array_equal(one.grades[scale], other.grades[scale], equal_nan=True) for scale in one.grades
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(questions=some_questions())
def test_questions_come_back_as_they_were_written(tmp_path: Path, questions: Questions) -> None:
    write_questions(questions, tmp_path / "questions.csv.gz")
    assert same_questions(questions, read_questions(tmp_path / "questions.csv.gz"))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(study=some_study())
def test_a_study_comes_back_as_it_was_written(tmp_path: Path, study: Study) -> None:
    write_answers(study, tmp_path / "answers.csv")
    again = read_answers(tmp_path / "answers.csv")
    for row in range(len(study)):
        before, after = (s.questions.questions[s.question[row]] for s in (study, again))
        assert before == after
        who = [s.participants[s.participant[row]] if s.participant[row] >= 0 else None for s in (study, again)]
        assert who[0] == who[1]
    for column in ("choice", "swapped", "seconds", "heard", "at", "set_aside"):
        np.testing.assert_array_equal(getattr(study, column), getattr(again, column))
    assert [text.replace("\r", "\n") for text in study.comments] == list(again.comments)


def answers(tmp_path: Path, text: str, name: str = "answers.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def asked(tmp_path: Path) -> Questions:
    return read_questions(answers(tmp_path, "\n".join([HEADER, *ROWS]) + "\n", "questions.csv"))


def test_the_rules_of_a_campaign_and_the_sound_to_be_heard_come_back(tmp_path: Path) -> None:
    study = example_study(participants=2, per_participant=5)
    heard = dict.fromkeys(study.questions.places, 12.5)
    rules = TrustRules(quiz=3, bar=0.75, options=4)
    write_answers(replace(study, rules=rules, least_seconds=heard), tmp_path / "answers.csv")
    found = read_answers(tmp_path / "answers.csv")
    assert found.rules == rules
    assert found.least_seconds == {found.questions.questions[place].name: 12.5 for place in found.question}
    write_answers(study, tmp_path / "plain.csv")
    plain = read_answers(tmp_path / "plain.csv")
    assert (plain.rules, plain.least_seconds) == (None, None)


def test_quirks_of_real_files_are_survived(tmp_path: Path) -> None:
    text = (
        '\ufeffanswer\tquestion\tparticipant\tchoice\tfirst\tcomment\tset_aside\r\n\r\n'
        'x1\t1\tÅsa\tA\tb\t"both, ""fine"",\r\nreally"\t\r\n'
        'x2\t2\tBo\tbad\t\t\tno sound\r\n'
        'x3\t2\t\tgood\t\t\t\r\n'
        'x1\t1\tÅsa\tA\tb\t"both, ""fine"",\r\nreally"\t\r\n\r\n'
    )  # fmt: skip
    study = read_answers(answers(tmp_path, text), asked(tmp_path))
    assert study.choice.tolist() == [0, 3, 2]
    assert study.swapped.tolist() == [1, -1, -1]
    assert study.participants == ("Åsa", "Bo")
    assert study.participant.tolist() == [0, 1, -1]
    assert study.comments[0] == 'both, "fine",\nreally'
    assert study.set_aside.tolist() == [False, True, False]
    assert study.reasons == ("", "no sound")
    assert np.isnan(study.seconds).all()


def test_times_with_zones_and_without_are_read(tmp_path: Path) -> None:
    text = "question,choice,at\n1,a,1970-01-02T00:00:00\n2,good,1970-01-01T01:00:00+01:00\n"
    assert read_answers(answers(tmp_path, text), asked(tmp_path)).at.tolist() == [86400.0, 0.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question,choice\n1,a\n2,c\n", ":3: expected a, b, good or bad as choice, got 'c'"),
        ("question,choice\n1,a\n\n2,\n", ":4: expected a, b, good or bad as choice, got nothing"),
        ("question,choice\n1,a\n9,a\n", ":3: expected a question of the questions file, got '9'"),
        ("question\n1\n", ":1: expected a column for the choice"),
        ("choice,participant\na,p\n", ":1: expected a column for the question"),
        ("question,choice,seconds\n1,a,-3\n", ":2: expected a number of 0 or more as seconds, got '-3'"),
        ("question,choice,at\n1,a,noon\n", ":2: expected a time such as .* in 'at', got 'noon'"),
        ("question,choice,first\n1,a,left\n", ":2: expected a or b as first, got 'left'"),
        ("answer,question,choice\n1,1,a\n1,1,b\n", ":3: answer '1' differs from the one in an earlier row"),
        ("question,choice,choice\n1,a,a\n", ":1: expected each column once, got 'choice' again"),
        ("question,choice,rules\n1,a,quiz=3\n2,a,quiz=4\n", ":3: expected the same rules in each row"),
        ("question,choice,rules\n1,a,\n2,a,quiz=-3\n", ":3: TrustRules: 'quiz' must be a whole number"),
        ("question,choice,rules\n1,a,strict\n", ":2: TrustRules: expected rules among .*, got 'strict'"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_answers_has_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=r"answers\.csv" + message):
        read_answers(answers(tmp_path, text), asked(tmp_path))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["1,q,x,y,x,z,,1,2,3,101"], r":2: expected a grade on the scale fine.* in 'fine_b2', got 101"),
        (["1,q,x,,x,z,,1,2,3,4"], r":2: expected no grade in 'fine_a2', where the list has no document, got 2"),
        (["1,q,,y,x,z,,1,2,3,4"], r":2: expected the documents of list a without a gap"),
        (["1,q,,,x,z,,,,3,4"], r":2: Question '1': expected documents in list a, got none"),
        (["1,q,x,x,x,z,,1,2,3,4"], r":2: Question '1': list a has document 'x' twice"),
        (["1,q,x,y,x,z,better,1,2,3,4"], r":2: Question '1': expected answers among a, b, good, bad, got better"),
        ([ROWS[0], "", ROWS[0]], r":4: expected each question once, got '1' again"),
        (["1,q,x,y,x,z,,many,2,3,4"], r":2: expected a finite number as fine_a1, got 'many'"),
    ],
)
def test_what_is_wrong_in_questions_has_its_line(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=r"questions\.csv" + message):
        read_questions(answers(tmp_path, "\n".join([HEADER, *rows]) + "\n", "questions.csv"))


def test_a_question_must_be_the_same_in_every_row(tmp_path: Path) -> None:
    text = f"choice,{HEADER}\na,{ROWS[0]}\nb,{ROWS[0]}\nb,{ROWS[0].replace('80', '81')}\n"
    with pytest.raises(aj.AdjudgeError, match=r"answers\.csv:4: question '1' differs from the one in an earlier row"):
        read_answers(answers(tmp_path, text))
    with pytest.raises(aj.AdjudgeError, match=r"expected columns that describe the questions"):
        read_answers(answers(tmp_path, "question,choice\n1,a\n"))


@pytest.mark.parametrize("document", [" x", "x\ny", "x\0", ""])
def test_names_that_a_file_cannot_hold_are_refused(tmp_path: Path, document: str) -> None:
    odd = Questions((Question("1", "q", (document,), ("y",)),))
    with pytest.raises(aj.AdjudgeError, match="Expected a document that a file can hold, got"):
        write_questions(odd, tmp_path / "questions.csv")
    assert not (tmp_path / "questions.csv").exists()


def test_studies_are_joined_by_names_of_people_and_of_questions(tmp_path: Path) -> None:
    one = read_answers(answers(tmp_path, "question,participant,choice\n1,p,a\n2,o,good\n"), asked(tmp_path))
    same = joined_studies([one, one])
    assert len(same) == 4
    assert len(same.questions) == 2
    assert same.participants == ("p", "o")
    first = replace(one.questions.questions[0], query="another")
    changed = replace(one, questions=replace(one.questions, questions=(first, one.questions.questions[1])))
    both = joined_studies([one, changed])
    assert [question.name for question in both.questions.questions] == ["1", "2", "answers/1"]
    assert both.question.tolist() == [0, 1, 2, 1]
