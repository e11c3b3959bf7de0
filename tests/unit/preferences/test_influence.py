"""What hangs on whom: curves without each participant are those that a fit to the others finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.preferences.people_study import LEAST_SECONDS, renamed, simulated

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.preferences.influence import (
    MEDIUM,
    Conclusions,
    Influence,
    InfluenceRow,
    curves_without,
    default_combination,
    influence,
    satisfaction_without,
)
from adjudge.preferences.questions import Questions
from adjudge.preferences.study import GOOD, Evidence, Study, evidence
from adjudge.preferences.trust import assess_all, set_aside
from adjudge.users.noticing import FORMS, AgreementMapping, fit_agreement, noticeable_difference
from adjudge.users.satisfaction import fit_satisfaction


def study(**options: int) -> Study:
    return simulated(**options).study


def honest() -> Study:
    """The study with what the rules set aside."""
    whole = study()
    return set_aside(whole, assess_all(whole, least_seconds=LEAST_SECONDS))


def fitted_to(seen: Evidence) -> tuple[Floats, Ints, Ints]:
    return seen.delta, seen.prefers, seen.participant


@pytest.mark.parametrize("form", list(FORMS))
def test_curves_without_each_are_those_of_a_fit_to_the_others(form: str) -> None:
    delta, answer, who = fitted_to(evidence(study(), "CG@5", "fine"))
    found = curves_without(delta, answer, who, 30, form=form)
    for one in (0, 17):
        fit = fit_agreement(delta[who != one], answer[who != one], form=form)
        assert found.log_likelihood_without[one] == pytest.approx(fit.log_likelihood, abs=1e-6)
        assert FORMS[form](np.linspace(0, 1, 11), found.parameters_without[one]).agree == pytest.approx(
            FORMS[form](np.linspace(0, 1, 11), fit.parameters).agree, abs=1e-4
        )


def test_satisfaction_without_each_is_that_of_a_fit_to_the_others() -> None:
    rng = np.random.default_rng(4)
    values, who = rng.random(600).round(2), rng.integers(12, size=600)
    good = (rng.random(600) < 0.2 + 0.6 * values).astype(np.int64)
    all_, without = satisfaction_without(values, good, who, 12)
    assert all_ == pytest.approx(fit_satisfaction(values, good).coefficients)
    for one in (0, 7):
        fit = fit_satisfaction(values[who != one], good[who != one])
        assert without[one] == pytest.approx(fit.coefficients, abs=1e-4)


def test_satisfaction_by_pairs_without_each_is_that_of_a_fit_to_the_others() -> None:
    rng = np.random.default_rng(4)
    pairs, who = rng.random((600, 2)).round(2), rng.integers(12, size=600)
    good = (rng.random(600) < 0.2 + 0.6 * pairs.mean(axis=1)).astype(np.int64)
    _, without = satisfaction_without(pairs, good, who, 12)
    for one in (0, 7):
        fit = fit_satisfaction(pairs[who != one], good[who != one])
        assert without[one] == pytest.approx(fit.parameters, abs=1e-3)


def test_who_gave_no_answer_or_all_of_them_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    delta, answer = rng.uniform(-1, 1, 80), rng.integers(-1, 2, 80)
    found = curves_without(delta, answer, np.zeros(80, dtype=np.int64), 2)
    assert found.parameters_without == pytest.approx(np.tile(found.parameters, (2, 1)))
    assert found.log_likelihood_without == pytest.approx([found.log_likelihood] * 2)
    assert np.isnan(found.own).all()


def test_a_copy_of_everybody_makes_leaving_out_one_of_them_nothing_new() -> None:
    rng = np.random.default_rng(3)
    delta, answer = rng.uniform(-1, 1, 300), rng.integers(-1, 2, 300)
    twice = curves_without(np.tile(delta, 2), np.tile(answer, 2), np.repeat([0, 1], 300), 2)
    assert twice.parameters_without == pytest.approx(np.tile(twice.parameters, (2, 1)), abs=1e-5)


def test_the_conclusions_are_those_of_the_curves_of_all_and_of_the_others() -> None:
    whole = honest()
    found = influence(whole, measure="CG@5", scale="fine")
    one = next(row for row in found.rows if row.answers)
    for row, left in ((found.of_all, whole.counted()), (one, whole.without(one.participant).counted())):
        delta, answer, _ = fitted_to(evidence(left, "CG@5", "fine"))
        mapping = AgreementMapping("CG@5", "fine", "two-stage", tuple(fit_agreement(delta, answer).parameters))
        assert row.noticeable == pytest.approx(noticeable_difference(mapping), abs=1e-5)
        neither = left.select(left.choice >= GOOD)
        lists = neither.questions.effectiveness("CG@5", "fine")[neither.question]
        curve = fit_satisfaction(lists, neither.choice == GOOD).mapping("CG@5", "fine")
        assert row.satisfied == pytest.approx(float(curve(MEDIUM)), abs=1e-5)
    assert one.noticeable_change == pytest.approx(one.noticeable - found.of_all.noticeable)


def test_who_is_set_aside_changes_nothing_and_comes_back_with_all() -> None:
    whole = honest()
    found = influence(whole)
    assert found.with_aside is not None
    assert found.with_aside.answers == int((~whole.trap).sum())
    assert found.of_all.answers == len(whole.counted())
    for row in found.rows:
        if not row.answers:
            assert (row.noticeable_change, row.satisfied_change) == (0, 0)
    back = influence(replace(whole, set_aside=np.zeros(len(whole), dtype=np.bool_)))
    assert back.with_aside is None
    assert back.of_all.noticeable == pytest.approx(found.with_aside.noticeable)
    # spam flattens the curve: it takes more to be noticed
    assert found.with_aside.noticeable > found.of_all.noticeable


def test_names_and_the_order_of_answers_change_nothing() -> None:
    whole = study()
    found = influence(whole)
    order = np.random.default_rng(1).permutation(len(whole))
    other = influence(renamed(whole.select(order), {"p1": "zoe"}))
    assert [row.noticeable for row in other.rows] == pytest.approx([row.noticeable for row in found.rows], abs=1e-7)
    assert other.rows[0].participant == "zoe"


def test_the_best_combination_is_the_one_that_people_follow() -> None:
    found = influence(honest(), combinations=[("CG@5", "broad"), ("CG@5", "fine")])
    assert (found.measure, found.scale) == ("CG@5", "broad")
    assert found.of_all.best == "CG@5 on fine"
    assert any("CG@5 on fine explains answers best" in sentence for sentence in found.sentences())


def rows(*noticeable: float) -> tuple[InfluenceRow, ...]:
    return tuple(
        InfluenceRow(f"p{i + 1}", 10, value, value - 0.29, 0.5, 0.0, "CG@5 on fine")
        for i, value in enumerate(noticeable)
    )


def made(*noticeable: float, of_all: float = 0.29) -> Influence:
    conclusions = Conclusions(20, of_all, 0.5, "CG@5 on fine")
    return Influence("CG@5", "fine", (("CG@5", "fine"),), conclusions, None, rows(*noticeable))


def test_the_largest_change_is_said_in_words() -> None:
    assert made(0.30, 0.31, 0.28).sentences()[0] == (
        "Without p2 the noticeable difference in CG@5 on fine would be 0.31 instead of 0.29, the largest change that "
        "any one participant makes."
    )


def test_no_change_is_said_in_words() -> None:
    assert made(0.2901, 0.2899).sentences() == [
        "The noticeable difference in CG@5 on fine, 0.29, does not hang on anybody: without any one participant it "
        "stays the same to two digits.",
        "P(Sat) at 0.5 is 0.50 without any one of them, too.",
    ]


def test_a_difference_that_only_one_person_makes_noticeable_is_said() -> None:
    nan = float("nan")
    assert "Without p2 no difference would be noticed by more than half." in made(0.3, nan).sentences()[0]
    assert made(nan, nan, of_all=nan).sentences()[0] == (
        "No difference in CG@5 on fine is noticed by more than half of the people."
    )
    assert "though without p1 there would be" in made(0.9, nan, of_all=nan).sentences()[0]


def test_one_participant_alone_is_everything() -> None:
    assert made(0.29).sentences() == [
        "One participant gave all the answers that count, so that everything hangs on them."
    ]


def test_an_influence_prints_and_becomes_a_table() -> None:
    found = made(*(0.29 + 0.01 * i for i in range(12)))
    lines = str(found).splitlines()
    assert lines[1].split() == ["without", "answers", "noticeable", "P(Sat)"]
    assert [line.split()[0] for line in lines[2:4]] == ["nobody", "p12"]
    assert found.to_polars().shape == (12, 7)


def test_the_default_is_cumulative_gain_on_the_finest_grades() -> None:
    whole = study()
    assert default_combination(whole) == ("CG@5", "fine")
    assert default_combination(whole, "DCG@3", "broad") == ("DCG@3", "broad")
    bare = replace(whole, questions=Questions(whole.questions.questions))
    with pytest.raises(AdjudgeError, match="expected questions with grades"):
        default_combination(bare)


def test_too_few_answers_and_unknown_participants_are_refused() -> None:
    whole = replace(study(), source="a.csv")
    with pytest.raises(AdjudgeError, match=r"a\.csv.*2 answers or more that count.*got 0"):
        influence(replace(whole, set_aside=np.ones(len(whole), dtype=np.bool_)))
    with pytest.raises(AdjudgeError, match=r"a\.csv: expected answers that say whose they are"):
        influence(replace(whole, participant=np.full(len(whole), -1)))


def test_unjudged_lists_are_left_out_and_refused_when_all_are() -> None:
    whole = study().counted()
    grades = whole.questions.grades["fine"].copy()
    grades[:100, 0, 0] = np.nan
    some = replace(whole, questions=replace(whole.questions, grades={"fine": grades}))
    assert len(evidence(some, "CG@5", "fine").delta) == int((whole.question >= 100).sum())
    assert influence(some).of_all.noticeable != influence(whole).of_all.noticeable
    none = replace(whole, questions=replace(whole.questions, grades={"fine": np.full_like(grades, np.nan)}))
    with pytest.raises(AdjudgeError, match=r"CG@5 on fine.*answers about lists that are judged.*got none"):
        influence(none)
    one = replace(whole.select(np.arange(2)), participant=np.array([0, 1]), participants=("x", "y"))
    grades[one.question[0], 0, 0] = np.nan
    grades[one.question[1]] = 50.0
    few = replace(one, questions=replace(whole.questions, grades={"fine": grades}))
    with pytest.raises(AdjudgeError, match=r"CG@5 on fine.*2 answers or more to lists that are judged.*got 1"):
        influence(few)


def test_combinations_are_compared_on_answers_that_all_of_them_can_score() -> None:
    """Broad knows only the answers that nobody can explain; over its own answers Fine would seem better than it is."""
    whole = honest().counted()
    fine, broad = (whole.questions.grades[scale].copy() for scale in ("fine", "broad"))
    hidden = np.arange(len(whole.questions)) % 3 > 0
    fine[hidden, 0, 0] = np.nan
    some = replace(whole, questions=replace(whole.questions, grades={"fine": fine, "broad": broad}))
    shared = whole.select(~hidden[whole.question])
    wanted = [("CG@5", "broad"), ("CG@5", "fine")]
    best = {row.participant: row.best for row in influence(shared, combinations=wanted).rows}
    assert {row.participant: row.best for row in influence(some, combinations=wanted).rows} == best
    fine[:, 0, 0] = np.nan
    with pytest.raises(AdjudgeError, match=r"2 answers or more that all combinations can score.*got 0"):
        influence(replace(some, questions=replace(some.questions, grades={"fine": fine, "broad": broad})),
                  combinations=wanted)  # fmt: skip


def test_leaving_out_somebody_who_is_not_there_is_refused() -> None:
    with pytest.raises(AdjudgeError, match="No participant is called 'zoe'"):
        study().without("zoe")
