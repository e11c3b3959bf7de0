"""The quality of participants: shares, sides, agreement with others, and what was set aside."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.preferences.people_study import LEAST_SECONDS, simulated

from adjudge.errors import AdjudgeError
from adjudge.preferences.quality import quality
from adjudge.preferences.questions import Question, Questions
from adjudge.preferences.study import BAD, GOOD, A, B, Study
from adjudge.preferences.trust import TrustRules, assess_all, set_aside
from adjudge.stats.coefficients import krippendorff_alpha

ANN, BOB, CAT = range(3)


def small_study(rows: list[tuple[int, int, int, int, float, bool]]) -> Study:
    """Answers of ann, bob and cat to three questions and a trap: question, choice, who, swapped, seconds, set aside."""
    lists = (("x",), ("y",))
    trap = Question("trap", "q", *lists, frozenset(["a"]))
    asked = Questions((*(Question(name, "q", *lists) for name in "opq"), trap))
    question, choice, who, swapped, seconds, aside = (np.array(column) for column in zip(*rows, strict=True))
    unknown = np.full(len(rows), np.nan)
    return Study(
        asked,
        question,
        choice,
        who,
        ("ann", "bob", "cat"),
        swapped,
        seconds.astype(float),
        unknown,
        unknown,
        aside.astype(bool),
    )


ROWS: list[tuple[int, int, int, int, float, bool]] = [
    (0, A, ANN, 0, 10, False),
    (1, B, ANN, 1, 30, False),
    (2, GOOD, ANN, 0, 20, False),
    (3, A, ANN, 0, 5, False),
    (0, A, BOB, 1, math.nan, False),
    (1, A, BOB, -1, math.nan, False),
    (0, BAD, CAT, 0, 3, True),
    (3, BAD, CAT, 0, 3, False),
]


def test_what_is_said_of_each_is_counted_from_their_answers() -> None:
    ann, bob, cat = quality(small_study(ROWS), resamples=0).rows
    assert (ann.answers, ann.traps_right, ann.traps_asked, ann.trust) == (3, 1, 1, 1.0)
    assert (ann.a, ann.b, ann.good, ann.bad) == pytest.approx((1 / 3, 1 / 3, 1 / 3, 0))
    assert ann.median_seconds == 20
    assert ann.left == 1.0  # a stood first, then b did
    assert bob.left == 0.0  # one side known, and it was the other
    assert math.isnan(bob.median_seconds)
    assert (cat.answers, cat.set_aside, cat.reason, cat.trust) == (1, 1, "set aside", 0.0)


def test_agreement_is_with_others_whose_answers_count() -> None:
    ann, bob, cat = quality(small_study(ROWS), resamples=0).rows
    assert (ann.agrees, ann.shared) == (0.5, 2)  # with bob: the same to one of two
    assert (bob.agrees, bob.shared) == (0.5, 2)
    assert (cat.agrees, cat.shared) == (0.0, 1)  # hers does not count, but ann and bob said something else


def test_alpha_is_krippendorffs_of_the_answers_that_count() -> None:
    found = quality(small_study(ROWS), resamples=0)
    assert found.n_shared == 2
    assert found.alpha.value == pytest.approx(krippendorff_alpha([[A, A], [B, A]], "nominal"))


def test_alpha_does_not_depend_on_who_said_what() -> None:
    study = simulated(n=60).study
    firsts: dict[int, list[int]] = {}
    plain = study.select(~study.trap)
    for place, choice in zip(plain.question.tolist(), plain.choice.tolist(), strict=True):
        firsts.setdefault(place, []).append(choice)
    widest = max(map(len, firsts.values()))
    table = [[*answers, *[math.nan] * (widest - len(answers))] for answers in firsts.values()]
    assert quality(study, resamples=0).alpha.value == pytest.approx(krippendorff_alpha(table, "nominal"))


def test_nobody_to_agree_with_is_said() -> None:
    alone = quality(small_study([(0, A, ANN, 0, 1, False), (1, A, BOB, 0, 1, False), (2, BAD, CAT, 0, 1, False)]))
    assert alone.n_shared == 0
    assert alone.alpha.reason == "no question was answered by two people"
    assert all(math.isnan(row.agrees) for row in alone.rows)
    assert alone.sentences()[-1] == (
        "No two people answered the same question, so that nothing is known of their agreement."
    )


def test_who_answers_at_random_does_not_follow_the_others() -> None:
    made = simulated()
    follows = np.array([row.follows for row in quality(made.study, least_seconds=LEAST_SECONDS, resamples=0).rows])
    assert follows[~made.is_spammer].mean() > 0.1
    assert follows[made.is_spammer].mean() < 0
    aside = set_aside(made.study, assess_all(made.study, least_seconds=LEAST_SECONDS))
    again = np.array([row.follows for row in quality(aside, resamples=0).rows])
    assert np.isfinite(again).all()  # who is set aside is held against the others, too
    assert again[made.is_spammer].mean() < follows[made.is_spammer].mean()


def test_what_the_curve_of_the_others_says_of_answers_is_compared_with_guessing() -> None:
    """Bob and cat prefer the better of two unlike lists and none of two equal ones; so does ann, but for one answer."""
    unlike, equal = (0, A), (1, GOOD)
    given = {ANN: [unlike, unlike, equal, (0, B)], BOB: [unlike, unlike, equal, equal], CAT: [unlike, equal] * 2}
    rows = [(place, choice, who, 0, 1.0, False) for who, said in given.items() for place, choice in said]
    bare = small_study(rows)
    grades = np.array([[[100.0], [0.0]], [[50.0], [50.0]], [[0.0], [0.0]], [[0.0], [0.0]]])
    study = replace(bare, questions=replace(bare.questions, grades={"fine": grades}))
    ann, bob, _ = quality(study, measure="CG@1", resamples=0).rows
    # without ann everything is certain: log 1 against guesses of 1/4 for a list and 1/2 for neither; her third
    # preference is impossible to the curve, which then costs log 1e-12
    sure = (2 * math.log(4) + math.log(2) + math.log(1e-12) - math.log(0.25)) / 4
    assert ann.follows == pytest.approx(sure, abs=0.01)
    # without bob 4 of 5 preferences between unlike lists are for a, and 3 of 3 answers about equal ones for none
    assert bob.follows == pytest.approx((2 * math.log(0.8 / 0.25) + 2 * math.log(1 / 0.5)) / 4, abs=0.01)


def test_doubtful_people_whose_answers_count_are_named() -> None:
    made = simulated()
    found = quality(made.study, least_seconds=LEAST_SECONDS, resamples=0)
    assert len(found.doubtful) == int(made.is_spammer.sum())
    words = " ".join(found.sentences())
    assert f"By these rules the answers of {found.doubtful[0].participant} ({found.doubtful[0].verdict})" in words
    aside = set_aside(made.study, assess_all(made.study, least_seconds=LEAST_SECONDS))
    assert not quality(aside, least_seconds=LEAST_SECONDS, resamples=0).doubtful


def test_rules_are_those_given() -> None:
    made = simulated()
    lenient = quality(made.study, rules=TrustRules(quiz=0, bar=0, attention=0), resamples=0)
    assert {row.verdict for row in lenient.rows} == {"fine"}
    assert f"{len(lenient.rows)} pass the rules of trust" in lenient.sentences()[0]


def test_a_quality_prints_and_becomes_a_table() -> None:
    found = quality(simulated().study, resamples=0)
    lines = str(found).splitlines()
    assert any("P(attentive)" in line for line in lines)
    assert "… and 10 more" in lines
    assert found.to_polars().height == 30


def test_a_small_table_reads_as_it_should() -> None:
    found = quality(small_study(ROWS), resamples=0)
    table = found.table()
    shown = [{heading.name: cell for heading, cell in zip(table.headings, row, strict=True)} for row in table.rows]
    assert [row["participant"] for row in shown] == ["cat", "bob", "ann"], "the least attentive first"
    assert [row["P(attentive)"] for row in shown] == ["0.308", "0.841", "0.883"]
    assert [(row["aside"], row["median (s)"], row["left"]) for row in shown] == [
        ("1", "3", "–"),
        ("0", "–", "0.00"),
        ("0", "20", "1.00"),
    ]
    assert table.notes[0].startswith("3 participants gave 6 answers, of which 1 is set aside.")


def test_a_study_that_does_not_know_its_participants_is_refused() -> None:
    study = small_study(ROWS)
    with pytest.raises(AdjudgeError, match="expected answers that say whose they are"):
        quality(replace(study, participant=np.full(len(study), -1)))
