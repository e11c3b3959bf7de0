"""Trust: what traps and attention say of one participant, and what rules do to people of every kind."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from tests.unit.preferences.people_study import LEAST_SECONDS, simulated, study_of

from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import Question, Questions
from adjudge.preferences.simulated import BEHAVIOURS, OperatingRow, operating
from adjudge.preferences.study import GOOD, A, B
from adjudge.preferences.trust import (
    AnswerFacts,
    TrustRules,
    answer_facts,
    assess,
    assess_all,
    chance_of,
    must_stop,
    set_aside,
    trap_trust,
)


def traps(right: int, wrong: int) -> list[AnswerFacts]:
    return [AnswerFacts(True, i < right, "good") for i in range(right + wrong)]


def cue(answers: list[AnswerFacts], name: str) -> Any:
    return next((one for one in assess(answers).cues if one.name == name), None)


def test_more_traps_right_than_asked_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"between 0 and 3 traps answered right.*got 4"):
        trap_trust(4, 3)


def test_before_any_answer_people_are_as_attentive_as_the_rules_take_them_to_be() -> None:
    trust = assess([], TrustRules(careful=0.7))
    assert trust.probability == pytest.approx(0.7)
    assert (trust.verdict, trust.share, trust.cues, trust.reason) == ("fine", 1.0, (), "")


def by_integration(right: list[float], wrong: list[float]) -> float:
    """P(attentive) from traps that a guess gets right with these probabilities, by numerical integration over θ."""

    def likelihood(a: float, b: float) -> float:
        def density(share: float) -> float:
            hits = math.prod(chance + (1 - chance) * share for chance in right)
            misses = math.prod((1 - chance) * (1 - share) for chance in wrong)
            return float(hits * misses * stats.beta.pdf(share, a, b))

        return float(integrate.quad(density, 0, 1, epsabs=0, epsrel=1e-10)[0])

    odds = 4 * likelihood(9, 1) / likelihood(1, 2)
    return odds / (1 + odds)


@pytest.mark.parametrize(
    ("right", "wrong", "published"),
    [
        # who listens knows 9 in 10 answers, who does not 1 in 3, and guessing gets 1 in 4 of the others: one trap is
        # right with .925 and .5, wrong with .075 and .5
        *(([1 / 4], [], 4 * 1.85 / (1 + 4 * 1.85)), ([], [1 / 4], 4 * 0.15 / (1 + 4 * 0.15))),
        *(([1 / 2] * 8, [1 / 2] * 7, 0.020), ([1 / 4] * 8, [1 / 4] * 7, 0.124)),
        *(([1 / 4] * 8, [1 / 4] * 2, 0.852), ([1 / 2] * 8, [1 / 2] * 2, 0.652), ([1 / 2] * 10, [], 0.977)),
        ([0.5, 0.25, 1 / 3], [1 / 3, 0.5], None),  # each trap against its own options
    ],
)
def test_the_number_of_options_counts_and_chance_is_not_attention(
    right: list[float], wrong: list[float], published: float | None
) -> None:
    asked = [AnswerFacts(True, True, chance=chance) for chance in right]
    asked += [AnswerFacts(True, False, chance=chance) for chance in wrong]
    found = assess(asked).probability
    assert found == pytest.approx(by_integration(right, wrong), rel=1e-6)
    assert published is None or found == pytest.approx(published, abs=0.001)


def test_a_guess_is_right_as_often_as_the_options_say() -> None:
    assert chance_of({"a"}, 3) == chance_of({"good", "bad"}, 3) == 1 / 3
    assert chance_of({"a", "b", "good"}) == 3 / 4


def test_the_options_of_a_study_are_those_that_occur() -> None:
    study = simulated().study
    asked = tuple(
        replace(one, expected=frozenset({"a"}) if one.is_trap else frozenset()) for one in study.questions.questions
    )
    two = replace(study, questions=replace(study.questions, questions=asked), choice=study.choice % 2)
    three = replace(two, choice=np.where(study.choice == GOOD, GOOD, study.choice % 2))
    for made, options, chance in ((two, None, 1 / 2), (three, None, 1 / 3), (two, 4, 1 / 4)):
        facts = [one for answers in answer_facts(made, options=options) for one in answers if one.is_trap]
        assert {one.chance for one in facts} == {chance}
    kind, strict = (assess_all(two, TrustRules(options=options)) for options in (4, None))
    assert all(one.probability >= other.probability for one, other in zip(kind, strict, strict=True))


def test_rules_print_and_are_read_back() -> None:
    for rules in (TrustRules(), TrustRules(quiz=3, bar=0.75, options=2, usual=(0.5, 0.25, 0.25))):
        assert TrustRules.parse(str(rules)) == rules
    assert TrustRules.parse("") == TrustRules()
    with pytest.raises(AdjudgeError, match="a number in 'quiz', got 'many'"):
        TrustRules.parse("quiz=many")


def test_a_right_trap_never_lowers_trust_and_a_wrong_one_never_raises_it() -> None:
    found = np.array([[assess(traps(right, wrong)).probability for wrong in range(7)] for right in range(7)])
    assert (np.diff(found, axis=0) >= 0).all()
    assert (np.diff(found, axis=1) <= 0).all()


def test_the_mirror_image_of_sides_is_trusted_as_much() -> None:
    rng = np.random.default_rng(2)
    sides = ["left" if draw < 0.8 else "right" for draw in rng.random(30)]
    other = {"left": "right", "right": "left"}
    here = [AnswerFacts(False, choice="a", side=side) for side in sides]  # type: ignore[arg-type]
    there = [AnswerFacts(False, choice="b", side=other[side]) for side in sides]  # type: ignore[arg-type]
    assert assess(here).probability == pytest.approx(assess(there).probability, rel=1e-12)


def test_sides_in_turn_are_a_pattern_too_and_sides_as_they_fall_are_none() -> None:
    turn = [AnswerFacts(False, choice="a", side=("left", "right")[i % 2]) for i in range(20)]
    assert cue(turn, "side").factor < 0.01
    assert cue(turn, "side").evidence == "left in 10 of 20 preferences, at most 1 in a row, 19 changes of side"
    mixed = np.random.default_rng(5).integers(2, size=200)
    assert cue([replace(turn[0], side=("left", "right")[i]) for i in mixed], "side").factor > 1


def test_always_preferring_shows_no_cue_and_traps_with_identical_lists_do_not_count() -> None:
    assert cue([AnswerFacts(False, choice="ab"[i % 2]) for i in range(20)], "choice").factor > 1
    assert cue([AnswerFacts(True, choice="a", identical_lists=True)] * 3, "identical") is None


def test_where_everything_is_bad_saying_so_is_usual() -> None:
    bad = [AnswerFacts(False, choice="bad")] * 20
    strict, used_to_it = assess(bad), assess(bad, TrustRules(usual=(0.1, 0.05, 0.85)))
    assert used_to_it.probability > 20 * strict.probability


def test_slower_answers_are_never_trusted_less() -> None:
    times = (1.0, 5.0, 29.0, 31.0, 100.0)
    found = [assess([AnswerFacts(False, seconds=s, least_seconds=60, choice="a")] * 20).probability for s in times]
    assert found == sorted(found)


def test_what_is_not_known_says_nothing() -> None:
    known = [AnswerFacts(False, choice="a", seconds=float("nan"), least_seconds=60)] * 9
    assert [one.name for one in assess(known).cues] == ["choice"]
    assert cue([AnswerFacts(False, seconds=3)] * 9, "time") is None


def test_time_alone_stops_nobody_unless_it_is_extreme() -> None:
    rng = np.random.default_rng(1)
    fast = [
        AnswerFacts(False, choice="ab"[s], side=("left", "right")[s], seconds=20.0, least_seconds=60)
        for s in rng.integers(2, size=40)
    ]
    assert not must_stop(assess(fast))
    strict = TrustRules(attention=0.5, careful=0.5)
    assert not must_stop(assess(fast, strict), strict)
    at_once = [replace(one, seconds=2.0) for one in fast]
    assert cue(at_once, "time").extreme
    assert assess(at_once).verdict == "inattentive"


LEFT = [AnswerFacts(False, choice="a", side="left")] * 20


@pytest.mark.parametrize(
    ("answers", "rules", "verdict", "reason"),
    [
        (traps(2, 3), {}, "failed quiz", "2 of the first 5 traps right"),
        (traps(3, 2), {}, "fine", ""),
        (traps(4, 4), {}, "failed traps", "4 of 8 traps right"),
        (traps(4, 3), {}, "fine", ""),  # too few to say
        ([*traps(5, 0), *traps(0, 5)], {}, "failed traps", "5 of 10 traps right"),
        ([*traps(3, 1), *LEFT], {}, "inattentive", "P(attentive) 0.005: left in 20 of 20 preferences"),
        (traps(2, 3), {"quiz": 0}, "fine", ""),
        (traps(7, 3), {"quiz": 10, "quiz_bar": 0.7, "bar": 0.7}, "fine", ""),  # bars are met by meeting them
        (traps(6, 4), {"quiz": 10, "quiz_bar": 0.7}, "failed quiz", "6 of the first 10 traps right"),
    ],
)
def test_verdicts_come_quiz_first_then_traps_then_attention(
    answers: list[AnswerFacts], rules: dict[str, Any], verdict: str, reason: str
) -> None:
    trust = assess(answers, TrustRules(**rules))
    assert trust.verdict == verdict
    assert trust.reason.startswith(reason)
    assert bool(trust.reason) == bool(reason)
    assert must_stop(trust, TrustRules(**rules)) == (verdict != "fine")


@pytest.mark.parametrize("usual", [(0.5, 0.5, 0.0), (0.5, 0.5), (0.5, 0.4, 0.2)])
def test_usual_answers_are_three_shares(usual: Any) -> None:
    with pytest.raises(AdjudgeError, match="'usual' must be three shares above 0"):
        TrustRules(usual=usual)


@pytest.mark.parametrize("facts", [{"choice": "left"}, {"side": "top"}, {"chance": 0.0}])
def test_facts_that_make_no_sense_are_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(AdjudgeError, match=f"AnswerFacts: .*{next(iter(facts))}.*got"):
        AnswerFacts(False, **facts)


def test_facts_of_a_study_know_sides_repeats_identical_lists_and_chances() -> None:
    same = Question("same", "q", ("x",), ("x",))
    trap = Question("trap", "q", ("x",), ("y",), frozenset(["good", "bad"]))
    study = study_of(
        Questions((Question("one", "q", ("x",), ("y",)), same, trap)),
        np.array([0, 1, 2, 0, 0]),
        np.array([A, B, GOOD, B, A]),
        np.array([0, 0, 0, 0, 1]),
        ("ann", "bob"),
        swapped=np.array([0, 0, -1, 1, 1]),
        seconds=np.array([10.0, np.nan, 5.0, 7.0, 8.0]),
    )
    ann, bob = answer_facts(study, least_seconds={"one": 30.0})
    assert [one.side for one in ann] == ["left", "right", None, "left"]
    assert [one.side for one in bob] == ["right"]
    assert [one.same for one in ann] == [None, None, None, False]
    assert [one.identical_lists for one in ann] == [False, True, False, False]
    assert [one.least_seconds for one in ann] == [30.0, None, None, 30.0]
    assert [one.seconds for one in ann] == [10.0, None, 5.0, 7.0]
    assert (ann[2].is_trap, ann[2].right, ann[2].chance) == (True, True, 0.5)


def test_what_is_set_aside_is_kept_with_its_reason() -> None:
    made = simulated()
    trusts = assess_all(made.study, least_seconds=LEAST_SECONDS)
    apart = set_aside(made.study, trusts)
    stopped = np.array([must_stop(one) for one in trusts])
    assert len(apart) == len(made.study)
    assert np.array_equal(apart.set_aside, stopped[made.study.participant])
    assert all(bool(reason) == bad for reason, bad in zip(apart.reasons, stopped, strict=True))
    again = set_aside(replace(apart, reasons=tuple("left" for _ in trusts)), trusts)
    assert set(again.reasons) == {"left"}
    with pytest.raises(AdjudgeError, match="expected trust in each of 30 participants, got 1"):
        set_aside(made.study, trusts[:1])


def test_simulated_spammers_are_caught_and_honest_people_are_not() -> None:
    made = simulated(participants=120, spammers=0.3, seed=1)
    stopped = np.array([must_stop(one) for one in assess_all(made.study, least_seconds=LEAST_SECONDS)])
    assert stopped[made.is_spammer].mean() >= 0.95
    assert stopped[~made.is_spammer].mean() <= 0.05


def stopped(rules: TrustRules | None = None, **options: int) -> dict[str, OperatingRow]:
    return {row.behaviour: row for row in operating(rules, **options)}


def test_rules_stop_who_does_not_listen_and_hardly_anybody_else() -> None:
    found = stopped(people=40, n=40)
    assert found["listens, 95 % of traps right"].stopped <= 0.05
    assert found["listens, 90 % of traps right"].stopped <= 0.1
    for name in ("guesses", "guesses at once", "always left", "left and right in turn", "always both good"):
        assert found[name].stopped >= 0.97
        assert found[name].by_quiz >= 0.75
    assert 0.4 <= found["listens to every other question"].stopped <= 0.97


def test_without_traps_patterns_are_caught_and_nobody_who_listens_is_stopped() -> None:
    found = stopped(TrustRules(quiz=0), people=25, n=40, trap_every=1000, seed=3)
    for name, one in BEHAVIOURS.items():
        if one.listens:
            assert found[name].stopped <= 0.04
    for name in ("always left", "left and right in turn", "always both good"):
        assert found[name].stopped == 1
        assert found[name].questions <= 25


def test_what_rules_do_prints_as_a_table() -> None:
    title, header, *lines = str(operating(people=3, n=20, seed=4)).splitlines()
    assert title.startswith("What rules do")
    assert header.split() == ["who", "stopped", "by", "the", "quiz", "after", "questions"]
    assert len(lines) == len(BEHAVIOURS)
