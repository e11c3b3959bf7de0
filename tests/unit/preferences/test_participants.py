"""Participants: what each answered, how they agree with the others, and how conclusions change without each."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.preferences.people_study import LEAST_SECONDS, simulated, study_of

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.preferences.participants import (
    MEDIUM,
    Conclusions,
    Influence,
    InfluenceRow,
    curves_without,
    influence,
    quality,
    satisfaction_without,
)
from adjudge.preferences.questions import Question, Questions
from adjudge.preferences.study import BAD, GOOD, A, B, Study, evidence
from adjudge.preferences.trust import TrustRules, assess_all, set_aside
from adjudge.stats.agreement_coefficients import krippendorff_alpha
from adjudge.users.noticing import FORMS, AgreementMapping, fit_agreement, noticeable_difference
from adjudge.users.satisfaction import fit_satisfaction

ANN, BOB, CAT = range(3)
NAN = math.nan
Row = tuple[int, int, int, int, float, bool]

ROWS: list[Row] = [
    (0, A, ANN, 0, 10, False),
    (1, B, ANN, 1, 30, False),
    (2, GOOD, ANN, 0, 20, False),
    (3, A, ANN, 0, 5, False),
    (0, A, BOB, 1, NAN, False),
    (1, A, BOB, -1, NAN, False),
    (0, BAD, CAT, 0, 3, True),
    (3, BAD, CAT, 0, 3, False),
]


def small_study(rows: list[Row]) -> Study:
    """Answers of ann, bob and cat to three questions and a trap: question, choice, who, swapped, seconds, set aside."""
    trap = Question("trap", "q", ("x",), ("y",), frozenset(["a"]))
    asked = Questions((*(Question(name, "q", ("x",), ("y",)) for name in "opq"), trap))
    question, choice, who, swapped, seconds, aside = (np.array(column) for column in zip(*rows, strict=True))
    columns = {"swapped": swapped, "seconds": seconds.astype(float), "set_aside": aside.astype(bool)}
    return study_of(asked, question, choice, who, ("ann", "bob", "cat"), **columns)


def honest() -> Study:
    """The simulated study with what the rules set aside."""
    whole = simulated().study
    return set_aside(whole, assess_all(whole, least_seconds=LEAST_SECONDS))


def test_each_participant_is_described_from_their_answers() -> None:
    found = quality(small_study(ROWS), resamples=0)
    ann, bob, cat = found.rows
    assert (ann.answers, ann.traps_right, ann.traps_asked, ann.trust) == (3, 1, 1, 1.0)
    assert (ann.a, ann.b, ann.good, ann.bad) == pytest.approx((1 / 3, 1 / 3, 1 / 3, 0))
    assert ann.median_seconds == 20
    assert ann.left == 1.0  # a stood first, then b did
    assert bob.left == 0.0  # one side known, and it was the other
    assert math.isnan(bob.median_seconds)
    assert (cat.answers, cat.set_aside, cat.reason, cat.trust) == (1, 1, "set aside", 0.0)
    assert (ann.agrees, ann.shared) == (bob.agrees, bob.shared) == (0.5, 2)  # with one another: one of two
    assert (cat.agrees, cat.shared) == (0.0, 1)  # hers does not count, but ann and bob said something else
    assert found.n_shared == 2
    assert found.alpha.value == pytest.approx(krippendorff_alpha([[A, A], [B, A]], "nominal"))


def test_alpha_does_not_depend_on_who_said_what() -> None:
    study = simulated(n=60).study
    firsts: dict[int, list[int]] = {}
    plain = study.select(~study.trap)
    for place, choice in zip(plain.question.tolist(), plain.choice.tolist(), strict=True):
        firsts.setdefault(place, []).append(choice)
    widest = max(map(len, firsts.values()))
    table = [[*answers, *[NAN] * (widest - len(answers))] for answers in firsts.values()]
    assert quality(study, resamples=0).alpha.value == pytest.approx(krippendorff_alpha(table, "nominal"))


def test_nobody_to_agree_with_is_said() -> None:
    alone = quality(small_study([(place, A, place, 0, 1, False) for place in range(3)]))
    assert alone.n_shared == 0
    assert alone.alpha.reason == "no question was answered by two people"
    assert all(math.isnan(row.agrees) for row in alone.rows)
    assert "nothing is known about their agreement" in alone.sentences()[-1]


def test_who_answers_at_random_does_not_follow_the_others() -> None:
    made = simulated()
    spammers = made.is_spammer
    found, aside = (quality(s, least_seconds=LEAST_SECONDS, resamples=0) for s in (made.study, honest()))
    follows, again = (np.array([row.follows for row in one.rows]) for one in (found, aside))
    assert follows[~spammers].mean() > 0.1
    assert follows[spammers].mean() < 0
    assert np.isfinite(again).all()  # who is set aside is held against the others, too
    assert again[spammers].mean() < follows[spammers].mean()
    # whom the rules would stop is named as long as their answers count
    assert len(found.doubtful) == int(spammers.sum())
    first = found.doubtful[0]
    assert f"By these rules the answers of {first.participant} ({first.verdict})" in " ".join(found.sentences())
    assert not aside.doubtful


def test_what_the_curve_of_the_others_says_of_answers_is_compared_with_guessing() -> None:
    """Bob and cat prefer the better of two unlike lists and none of two equal ones; so does ann, but for one answer."""
    unlike, equal = (0, A), (1, GOOD)
    given = {ANN: [unlike, unlike, equal, (0, B)], BOB: [unlike, unlike, equal, equal], CAT: [unlike, equal] * 2}
    bare = small_study([(place, choice, who, 0, 1.0, False) for who, said in given.items() for place, choice in said])
    grades = np.array([[[100.0], [0.0]], [[50.0], [50.0]], [[0.0], [0.0]], [[0.0], [0.0]]])
    study = replace(bare, questions=replace(bare.questions, grades={"fine": grades}))
    ann, bob, _ = quality(study, measure="CG@1", resamples=0).rows
    # without ann everything is certain: log 1 against guesses of 1/4 for a list and 1/2 for neither; her third
    # preference is impossible to the curve, which then costs log 1e-12
    sure = (2 * math.log(4) + math.log(2) + math.log(1e-12) - math.log(0.25)) / 4
    assert ann.follows == pytest.approx(sure, abs=0.01)
    # without bob 4 of 5 preferences between unlike lists are for a, and 3 of 3 answers about equal ones for none
    assert bob.follows == pytest.approx((2 * math.log(0.8 / 0.25) + 2 * math.log(1 / 0.5)) / 4, abs=0.01)


def test_rules_are_those_given() -> None:
    lenient = quality(simulated().study, rules=TrustRules(quiz=0, bar=0, attention=0), resamples=0)
    assert {row.verdict for row in lenient.rows} == {"fine"}
    assert f"{len(lenient.rows)} pass the rules of trust" in lenient.sentences()[0]


def test_a_quality_prints_with_the_least_attentive_first() -> None:
    table = quality(small_study(ROWS), resamples=0).table()
    shown = [{heading.name: cell for heading, cell in zip(table.headings, row, strict=True)} for row in table.rows]
    assert [row["participant"] for row in shown] == ["cat", "bob", "ann"]
    assert [row["P(attentive)"] for row in shown] == ["0.308", "0.841", "0.883"]
    columns = [(row["aside"], row["median (s)"], row["left"]) for row in shown]
    assert columns == [("1", "3", "–"), ("0", "–", "0.00"), ("0", "20", "1.00")]
    assert table.notes[0].startswith("3 participants gave 6 answers, of which 1 is excluded.")


@pytest.mark.parametrize("form", list(FORMS))
def test_curves_without_each_are_those_of_a_fit_to_the_others(form: str) -> None:
    seen = evidence(simulated().study, "CG@5", "fine")
    delta, answer, who = seen.delta, seen.prefers, seen.participant
    found = curves_without(delta, answer, who, 30, form=form)
    grid = np.linspace(0, 1, 11)
    for person in (0, 17):
        fit = fit_agreement(delta[who != person], answer[who != person], form=form)
        assert found.log_likelihood[1 + person] == pytest.approx(fit.log_likelihood, abs=1e-6)
        curve = FORMS[form](grid, found.parameters[1 + person]).agree
        assert curve == pytest.approx(FORMS[form](grid, fit.parameters).agree, abs=1e-4)


@pytest.mark.parametrize("shape", [(600,), (600, 2)], ids=["lists", "pairs"])
def test_satisfaction_without_each_is_that_of_a_fit_to_the_others(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    values, who = rng.random(shape).round(2), rng.integers(12, size=600)
    good = (rng.random(600) < 0.2 + 0.6 * values.reshape(600, -1).mean(axis=1)).astype(np.int64)
    found = satisfaction_without(values, good, who, 12)
    assert found[0] == pytest.approx(fit_satisfaction(values, good).parameters)
    for person in (0, 7):
        fit = fit_satisfaction(values[who != person], good[who != person])
        assert found[1 + person] == pytest.approx(fit.parameters, abs=1e-3)


def test_who_gave_no_answer_or_all_of_them_changes_nothing_nor_does_one_of_two_copies() -> None:
    rng = np.random.default_rng(3)
    delta, answer = rng.uniform(-1, 1, 300), rng.integers(-1, 2, 300)
    found = curves_without(delta, answer, np.zeros(300, dtype=np.int64), 2)
    assert found.parameters == pytest.approx(np.tile(found.parameters[0], (3, 1)))
    assert found.log_likelihood == pytest.approx([found.log_likelihood[0]] * 3)
    assert np.isnan(found.own).all()
    twice = curves_without(np.tile(delta, 2), np.tile(answer, 2), np.repeat([0, 1], 300), 2)
    assert twice.parameters == pytest.approx(np.tile(twice.parameters[0], (3, 1)), abs=1e-5)


def test_the_conclusions_are_those_of_the_curves_of_all_and_of_the_others() -> None:
    whole = honest()
    found = influence(whole, measure="CG@5", scale="fine")
    one = next(row for row in found.rows if row.answers)
    for row, left in ((found.of_all, whole.counted()), (one, whole.without(one.participant).counted())):
        seen = evidence(left, "CG@5", "fine")
        parameters = tuple(fit_agreement(seen.delta, seen.prefers).parameters)
        mapping = AgreementMapping("CG@5", "fine", "two-stage", parameters)
        assert row.noticeable == pytest.approx(noticeable_difference(mapping), abs=1e-5)
        neither = left.select(left.choice >= GOOD)
        lists = neither.questions.effectiveness("CG@5", "fine")[neither.question]
        curve = fit_satisfaction(lists, neither.choice == GOOD).mapping("CG@5", "fine")
        assert row.satisfied == pytest.approx(float(curve(MEDIUM)), abs=1e-5)
    assert one.noticeable_change == pytest.approx(one.noticeable - found.of_all.noticeable)
    assert one.answers == int((whole.counted().participant == whole.participants.index(one.participant)).sum())
    with pytest.raises(AdjudgeError, match="No participant is called 'zoe'"):
        whole.without("zoe")


def test_who_is_set_aside_changes_nothing_and_comes_back_with_all() -> None:
    whole = honest()
    found = influence(whole)
    assert (found.measure, found.scale) == ("CG@5", "fine")  # the default
    assert found.with_aside is not None
    assert found.with_aside.answers == int((~whole.trap).sum())
    assert found.of_all.answers == len(whole.counted())
    unheard = [row for row in found.rows if not row.answers]
    assert all((row.noticeable_change, row.satisfied_change) == (0, 0) for row in unheard)
    back = influence(whole.with_aside())
    assert back.with_aside is None
    assert back.of_all.noticeable == pytest.approx(found.with_aside.noticeable)
    # spam flattens the curve: it takes more to be noticed
    assert found.with_aside.noticeable > found.of_all.noticeable


def test_names_and_the_order_of_answers_change_nothing() -> None:
    whole = simulated().study
    mixed = whole.select(np.random.default_rng(1).permutation(len(whole)))
    other = influence(replace(mixed, participants=("zoe", *whole.participants[1:])))
    expected = [row.noticeable for row in influence(whole).rows]
    assert [row.noticeable for row in other.rows] == pytest.approx(expected, abs=1e-7)
    assert other.rows[0].participant == "zoe"


def test_the_best_combination_is_the_one_that_people_follow() -> None:
    found = influence(honest(), combinations=[("CG@5", "broad"), ("CG@5", "fine")])
    assert (found.measure, found.scale) == ("CG@5", "broad")
    assert found.of_all.best == "CG@5 on fine"
    assert any("CG@5 on fine explains answers best" in sentence for sentence in found.sentences())


def made(*noticeable: float, of_all: float = 0.29) -> Influence:
    conclusions = Conclusions(20, of_all, 0.5, "CG@5 on fine")
    values = enumerate(noticeable, 1)
    rows = tuple(InfluenceRow(f"p{i}", 10, value, value - 0.29, 0.5, 0.0, "CG@5 on fine") for i, value in values)
    return Influence("CG@5", "fine", (("CG@5", "fine"),), conclusions, None, rows)


@pytest.mark.parametrize(
    ("noticeable", "of_all", "words"),
    [
        (
            (0.30, 0.31, 0.28),
            0.29,
            "Without p2 the noticeable difference in CG@5 on fine would be 0.31 instead of 0.29",
        ),
        ((0.2901, 0.2899), 0.29, "0.29, does not depend on any one participant"),
        ((0.3, NAN), 0.29, "Without p2 no difference would be noticed by more than half."),
        ((NAN, NAN), NAN, "No difference in CG@5 on fine is noticed by more than half of the people."),
        ((0.9, NAN), NAN, "though without p1 there would be"),
        ((0.29,), 0.29, "One participant gave all the answers that count"),
    ],
)
def test_the_largest_change_is_said_in_words(noticeable: tuple[float, ...], of_all: float, words: str) -> None:
    said = made(*noticeable, of_all=of_all).sentences()
    assert words in said[0]
    assert ("P(Sat) at 0.5 is 0.50 without any one of them, too." in said) == (len(noticeable) > 1)


def test_an_influence_prints_with_the_largest_change_first() -> None:
    found = made(*(0.29 + 0.01 * i for i in range(12)))
    lines = str(found).splitlines()
    assert lines[1].split() == ["without", "answers", "noticeable", "P(Sat)"]
    assert [line.split()[0] for line in lines[2:4]] == ["nobody", "p12"]


def with_grades(study: Study, **grades: Floats) -> Study:
    return replace(study, questions=replace(study.questions, grades=grades))


def test_a_study_that_allows_no_conclusions_is_refused() -> None:
    whole = replace(simulated().study, source="a.csv")
    anonymous = replace(whole, participant=np.full(len(whole), -1))
    for check in (influence, quality):
        with pytest.raises(AdjudgeError, match=r"a\.csv: expected answers that say whose they are"):
            check(anonymous)
    with pytest.raises(AdjudgeError, match=r"a\.csv.*2 answers or more that count.*got 0"):
        influence(replace(whole, set_aside=np.ones(len(whole), dtype=np.bool_)))
    with pytest.raises(AdjudgeError, match="expected questions with grades"):
        influence(with_grades(whole))


def test_unjudged_lists_are_left_out_and_refused_when_all_are() -> None:
    whole = simulated().study.counted()
    grades = whole.questions.grades["fine"].copy()
    grades[:100, 0, 0] = np.nan
    some = with_grades(whole, fine=grades)
    assert len(evidence(some, "CG@5", "fine").delta) == int((whole.question >= 100).sum())
    assert influence(some).of_all.noticeable != influence(whole).of_all.noticeable
    with pytest.raises(AdjudgeError, match=r"CG@5 on fine.*answers about lists that are judged.*got none"):
        influence(with_grades(whole, fine=np.full_like(grades, np.nan)))
    two = replace(whole.select(np.arange(2)), participant=np.array([0, 1]), participants=("x", "y"))
    grades[two.question[0], 0, 0] = np.nan
    grades[two.question[1]] = 50.0
    with pytest.raises(AdjudgeError, match=r"CG@5 on fine.*2 answers or more to lists that are judged.*got 1"):
        influence(with_grades(two, fine=grades))


def test_combinations_are_compared_on_answers_that_all_of_them_can_score() -> None:
    """Broad knows only the answers that nobody can explain; over its own answers Fine would seem better than it is."""
    whole = honest().counted()
    fine, broad = (whole.questions.grades[scale].copy() for scale in ("fine", "broad"))
    hidden = np.arange(len(whole.questions)) % 3 > 0
    fine[hidden, 0, 0] = np.nan
    wanted = [("CG@5", "broad"), ("CG@5", "fine")]
    some, shared = with_grades(whole, fine=fine, broad=broad), whole.select(~hidden[whole.question])
    found, expected = ([row.best for row in influence(s, combinations=wanted).rows] for s in (some, shared))
    assert found == expected
    fine[:, 0, 0] = np.nan
    with pytest.raises(AdjudgeError, match=r"2 answers or more that all combinations can score.*got 0"):
        influence(with_grades(whole, fine=fine, broad=broad), combinations=wanted)
