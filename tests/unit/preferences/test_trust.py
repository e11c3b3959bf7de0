"""Trust: what traps and attention say of one participant, and what rules do to people of every kind."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from tests.unit.preferences.people_study import LEAST_SECONDS, simulated

from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import Question, Questions
from adjudge.preferences.simulated import BEHAVIOURS, Operating, operating, operating_table, simulated_answers
from adjudge.preferences.study import GOOD, A, B, Study
from adjudge.preferences.trust import (
    CUES,
    AnswerFacts,
    Trust,
    TrustRules,
    answer_facts,
    assess,
    assess_all,
    chance_of,
    judged,
    must_stop,
    set_aside,
    trap_accuracy,
    trap_trust,
)


def traps(right: int, wrong: int) -> list[AnswerFacts]:
    return [AnswerFacts(True, i < right, "good") for i in range(right + wrong)]


def cue(answers: list[AnswerFacts], name: str) -> Any:
    return next((one for one in assess(answers).cues if one.name == name), None)


def test_trap_trust_is_the_share_right_and_one_without_traps() -> None:
    assert trap_trust(3, 4) == 0.75
    assert trap_trust(0, 0) == 1.0


def test_more_right_than_asked_is_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"between 0 and 3 traps answered right.*got 4"):
        trap_trust(4, 3)


def test_accuracy_on_traps_is_the_posterior_of_a_uniform_prior() -> None:
    mean, low, high = trap_accuracy(0, 0)
    assert (mean, low, high) == pytest.approx((0.5, 0.025, 0.975))
    mean, low, high = trap_accuracy(3, 3, confidence=0.9)  # Beta(4, 1) has the distribution function x^4
    assert (mean, low, high) == pytest.approx((0.8, 0.05**0.25, 0.95**0.25))
    with pytest.raises(AdjudgeError, match="'confidence' must be in"):
        trap_accuracy(1, 1, confidence=1)


def test_before_any_answer_people_are_as_attentive_as_the_rules_take_them_to_be() -> None:
    trust = assess([], TrustRules(careful=0.7))
    assert trust.probability == pytest.approx(0.7)
    assert (trust.verdict, trust.share, trust.cues, trust.reason) == ("fine", 1.0, (), "")


def test_one_trap_moves_the_odds_by_the_ratio_of_its_probabilities() -> None:
    # who listens knows 9 in 10 answers, who does not 1 in 3, and guessing gets 1 in 4 of the others:
    # right with 1/4 + 3/4 x 9/10 = .925 and 1/4 + 3/4 x 1/3 = 1/2; wrong with .075 and 1/2
    assert assess(traps(1, 0)).probability == pytest.approx(4 * 1.85 / (1 + 4 * 1.85))
    assert assess(traps(0, 1)).probability == pytest.approx(4 * 0.15 / (1 + 4 * 0.15))


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
    ("right", "wrong", "chance", "published"),
    [(8, 7, 1 / 2, 0.020), (8, 7, 1 / 4, 0.124), (8, 2, 1 / 4, 0.852), (8, 2, 1 / 2, 0.652), (10, 0, 1 / 2, 0.977)],
)
def test_the_number_of_options_counts_and_chance_is_not_attention(
    right: int, wrong: int, chance: float, published: float
) -> None:
    found = assess([replace(one, chance=chance) for one in traps(right, wrong)]).probability
    assert found == pytest.approx(by_integration([chance] * right, [chance] * wrong), rel=1e-6)
    assert found == pytest.approx(published, abs=0.001)


def test_traps_with_different_numbers_of_options_are_each_held_against_their_own() -> None:
    asked = [AnswerFacts(True, right, "good", chance=chance) for right, chance in
             ((True, 0.5), (True, 0.25), (False, 1 / 3), (True, 1 / 3), (False, 0.5))]  # fmt: skip
    expected = by_integration([0.5, 0.25, 1 / 3], [1 / 3, 0.5])
    assert assess(asked).probability == pytest.approx(expected, rel=1e-6)


def test_a_trap_that_chance_gets_right_says_less() -> None:
    easy, hard = ([replace(one, chance=chance) for one in traps(4, 0)] for chance in (0.5, 0.25))
    assert 0.8 < assess(easy).probability < assess(hard).probability


def test_a_guess_is_right_as_often_as_the_options_say() -> None:
    assert [chance_of({"a"}, options) for options in (2, 3, 4)] == [1 / 2, 1 / 3, 1 / 4]
    assert [chance_of({"good", "bad"}, options) for options in (3, 4)] == [1 / 3, 1 / 2]
    assert chance_of({"a", "b", "good"}) == 3 / 4
    assert chance_of(()) == 1 / 4


def test_the_options_of_a_study_are_those_that_occur() -> None:
    study = simulated().study
    asked = tuple(replace(one, expected=frozenset({"a"}) if one.is_trap else frozenset()) for one in
                  study.questions.questions)  # fmt: skip
    two = replace(study, questions=replace(study.questions, questions=asked), choice=study.choice % 2)
    three = replace(two, choice=np.where(study.choice == GOOD, GOOD, study.choice % 2))
    for made, chance in ((two, 1 / 2), (three, 1 / 3)):
        facts = [one for answers in answer_facts(made) for one in answers if one.is_trap]
        assert {one.chance for one in facts} == {chance}
    facts = [one for answers in answer_facts(two, options=4) for one in answers if one.is_trap]
    assert {one.chance for one in facts} == {1 / 4}
    kind, strict = (assess_all(two, TrustRules(options=options)) for options in (4, None))
    assert all(one.probability >= other.probability for one, other in zip(kind, strict, strict=True))


def test_rules_print_and_are_read_back() -> None:
    for rules in (TrustRules(), TrustRules(quiz=3, bar=0.75, options=2, usual=(0.5, 0.25, 0.25))):
        assert TrustRules.parse(str(rules)) == rules
    assert TrustRules.parse("") == TrustRules()
    with pytest.raises(AdjudgeError, match=r"rules among quiz, quiz_bar, .*got 'quizz=3'"):
        TrustRules.parse("quizz=3")
    with pytest.raises(AdjudgeError, match="expected a number in 'quiz', got 'many'"):
        TrustRules.parse("quiz=many")
    with pytest.raises(AdjudgeError, match="'options' must be a whole number"):
        TrustRules(options=5)


@pytest.mark.parametrize("right", range(6))
@pytest.mark.parametrize("wrong", range(6))
def test_a_right_trap_never_lowers_trust_and_a_wrong_one_never_raises_it(right: int, wrong: int) -> None:
    now = assess(traps(right, wrong)).probability
    assert assess(traps(right + 1, wrong)).probability >= now >= assess(traps(right, wrong + 1)).probability


def test_the_mirror_image_of_sides_is_trusted_as_much() -> None:
    rng = np.random.default_rng(2)
    sides = ["left" if draw < 0.8 else "right" for draw in rng.random(30)]
    other = {"left": "right", "right": "left"}
    here = [AnswerFacts(False, choice="a", side=side) for side in sides]  # type: ignore[arg-type]
    there = [AnswerFacts(False, choice="b", side=other[side]) for side in sides]  # type: ignore[arg-type]
    assert assess(here).probability == pytest.approx(assess(there).probability, rel=1e-12)


def test_the_same_side_again_and_again_speaks_against_attention_the_longer_the_more() -> None:
    factors = [cue([AnswerFacts(False, choice="a", side="left")] * n, "side").factor for n in (2, 5, 10, 15, 40)]
    assert all(one > other for one, other in pairwise(factors))
    assert factors[-1] == pytest.approx(1e-3)


def test_sides_in_turn_are_a_pattern_too() -> None:
    turn = [AnswerFacts(False, choice="a", side=("left", "right")[i % 2]) for i in range(20)]
    assert cue(turn, "side").factor < 0.01


def test_sides_as_they_fall_say_a_little_for_attention_and_never_much() -> None:
    rng = np.random.default_rng(5)
    mixed = [AnswerFacts(False, choice="a", side=("left", "right")[i]) for i in rng.integers(2, size=200)]
    assert 1 < cue(mixed, "side").factor <= 1.5


def test_always_good_is_a_sign_and_always_preferring_is_none() -> None:
    good = cue([AnswerFacts(False, choice="good")] * 20, "choice")
    prefers = cue([AnswerFacts(False, choice="ab"[i % 2]) for i in range(20)], "choice")
    assert good.factor < 0.01
    assert "both good in 20 of 20 answers" in good.evidence
    assert prefers.factor > 1


def test_where_everything_is_bad_saying_so_is_usual() -> None:
    bad = [AnswerFacts(False, choice="bad")] * 20
    strict, used_to_it = assess(bad), assess(bad, TrustRules(usual=(0.1, 0.05, 0.85)))
    assert used_to_it.probability > 20 * strict.probability


def test_a_preference_between_identical_lists_and_other_answers_to_the_same_question_count() -> None:
    identical = [AnswerFacts(False, choice="a", identical_lists=True)] * 3
    repeats = [AnswerFacts(False, choice="a", same=False)] * 6
    assert cue(identical, "identical").factor < 0.1
    assert cue(repeats, "repeats").factor < 0.2
    assert cue([replace(one, choice="good") for one in identical], "identical").factor > 1
    assert cue([replace(one, same=True) for one in repeats], "repeats").factor > 1
    assert cue([replace(one, is_trap=True) for one in identical], "identical") is None


def test_slower_answers_are_never_trusted_less() -> None:
    before = 0.0
    for seconds in (1.0, 5.0, 29.0, 31.0, 100.0):
        now = assess([AnswerFacts(False, seconds=seconds, least_seconds=60, choice="a")] * 20).probability
        assert now >= before
        before = now


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


def test_verdicts_come_quiz_first_then_traps_then_attention() -> None:
    rules = TrustRules()
    left = [AnswerFacts(False, choice="a", side="left")] * 20
    assert assess(traps(2, 3)).verdict == "failed quiz"
    assert assess(traps(3, 2)).verdict == "fine"
    assert assess([*traps(3, 0), *traps(0, 2)]).verdict == "fine"
    assert assess(traps(4, 4)).verdict == "failed traps"
    assert assess(traps(4, 3)).verdict == "fine"  # too few to say
    assert assess([*traps(3, 1), *left]).verdict == "inattentive"
    assert judged(assess(traps(2, 3)), replace(rules, quiz=0)) == "fine"
    assert assess([*traps(5, 0), *traps(0, 5)]).verdict == "failed traps"


def test_bars_are_met_by_meeting_them() -> None:
    assert assess(traps(7, 3), TrustRules(quiz=10, quiz_bar=0.7, bar=0.7)).verdict == "fine"
    assert assess(traps(6, 4), TrustRules(quiz=10, quiz_bar=0.7)).verdict == "failed quiz"


def test_reasons_say_why() -> None:
    assert assess(traps(2, 4)).reason == "2 of the first 5 traps right"
    assert assess(traps(4, 4)).reason == "4 of 8 traps right"
    left = assess([AnswerFacts(False, choice="a", side="left")] * 30)
    assert left.reason.startswith("P(attentive) 0.00")
    assert "left in 30 of 30 preferences" in left.reason


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"quiz": -1}, "'quiz' must be a whole number of at least 0, got -1"),
        ({"least": 0}, "'least' must be a whole number of at least 1, got 0"),
        ({"answers": 1.5}, "'answers' must be a whole number of at least 1, got 1.5"),
        ({"quiz_bar": 70}, r"'quiz_bar' must be in \[0, 1\], got 70"),
        ({"bar": -0.1}, r"'bar' must be in \[0, 1\], got -0.1"),
        ({"attention": 0.6}, r"'attention' must be in \[0, 0.5\], got 0.6"),
        ({"attention": math.nan}, r"'attention' must be in \[0, 0.5\], got nan"),
        ({"careful": 1}, r"'careful' must be in \(0, 1\), got 1"),
        ({"usual": (0.5, 0.5, 0.0)}, "'usual' must be three shares above 0 that add up to 1"),
    ],
)
def test_rules_that_make_no_sense_are_refused(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(AdjudgeError, match=f"TrustRules: {words}"):
        TrustRules(**setting)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"choice": "left"}, "expected a choice among a, b, good, bad, got 'left'"),
        ({"side": "top"}, "expected side left, right or None, got 'top'"),
        ({"chance": 0.0}, r"'chance' must be in \(0, 1\], got 0"),
    ],
)
def test_facts_that_make_no_sense_are_refused(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(AdjudgeError, match=words):
        AnswerFacts(False, **facts)


def small_study() -> Study:
    same = Question("same", "q", ("x",), ("x",))
    trap = Question("trap", "q", ("x",), ("y",), frozenset(["good", "bad"]))
    asked = Questions((Question("one", "q", ("x",), ("y",)), same, trap))
    n = 5
    return Study(
        asked,
        np.array([0, 1, 2, 0, 0]),
        np.array([A, B, GOOD, B, A]),
        np.array([0, 0, 0, 0, 1]),
        ("ann", "bob"),
        np.array([0, 0, -1, 1, 1]),
        np.array([10.0, np.nan, 5.0, 7.0, 8.0]),
        np.full(n, np.nan),
        np.arange(n, dtype=float),
        np.zeros(n, dtype=bool),
    )


def test_facts_of_a_study_know_sides_repeats_identical_lists_and_chances() -> None:
    ann, bob = answer_facts(small_study(), least_seconds={"one": 30.0})
    assert [one.side for one in ann] == ["left", "right", None, "left"]
    assert [one.side for one in bob] == ["right"]
    assert [one.same for one in ann] == [None, None, None, False]
    assert [one.identical_lists for one in ann] == [False, True, False, False]
    assert [one.least_seconds for one in ann] == [30.0, None, None, 30.0]
    assert [one.seconds for one in ann] == [10.0, None, 5.0, 7.0]
    assert (ann[2].is_trap, ann[2].right, ann[2].chance) == (True, True, 0.5)


def test_a_study_that_does_not_know_its_participants_is_refused() -> None:
    study = replace(small_study(), participant=np.full(5, -1), source="a.csv")
    with pytest.raises(AdjudgeError, match=r"a\.csv: expected answers that say whose they are"):
        assess_all(study)


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


@pytest.mark.parametrize("seed", range(3))
def test_simulated_spammers_are_caught_and_honest_people_are_not(seed: int) -> None:
    made = simulated(participants=60, spammers=0.3, seed=seed)
    stopped = np.array([must_stop(one) for one in assess_all(made.study, least_seconds=LEAST_SECONDS)])
    assert stopped[made.is_spammer].mean() >= 0.95
    assert stopped[~made.is_spammer].mean() <= 0.05


@pytest.fixture(scope="module", params=[0, 1])
def characteristics(request: pytest.FixtureRequest) -> dict[str, Operating]:
    return {row.behaviour: row for row in operating(people=60, n=40, seed=request.param)}


def test_rules_stop_who_does_not_listen_and_hardly_anybody_else(characteristics: dict[str, Operating]) -> None:
    assert characteristics["listens, 95 % of traps right"].stopped <= 0.05
    assert characteristics["listens, 90 % of traps right"].stopped <= 0.1
    for name in ("guesses", "guesses at once", "always left", "left and right in turn", "always both good"):
        assert characteristics[name].stopped >= 0.97
        assert characteristics[name].by_quiz >= 0.75
    assert 0.4 <= characteristics["listens to every other question"].stopped <= 0.97


def test_without_traps_patterns_are_caught_and_nobody_who_listens_is_stopped() -> None:
    rules = TrustRules(quiz=0)
    found = {row.behaviour: row for row in operating(rules, people=25, n=40, trap_every=1000, seed=3)}
    for name, one in BEHAVIOURS.items():
        if one.listens:
            assert found[name].stopped <= 0.04
    for name in ("always left", "left and right in turn", "always both good"):
        assert found[name].stopped == 1
        assert found[name].questions <= 25


def test_simulations_are_the_same_for_the_same_seed_and_print_as_a_table() -> None:
    one, again = operating(people=3, n=20, seed=4), operating(people=3, n=20, seed=4)
    assert operating_table(one) == operating_table(again)
    assert operating_table(one).splitlines()[0].split() == ["who", "stopped", "by", "the", "quiz", "after", "questions"]
    with pytest.raises(AdjudgeError, match="expected people, questions and traps"):
        operating(people=0)


def test_simulated_people_have_the_traps_that_rules_ask_for() -> None:
    answers = list(simulated_answers("guesses", np.random.default_rng(0), rules=TrustRules(quiz=3), n=13))
    assert [i for i, one in enumerate(answers) if one.is_trap] == [0, 1, 2, 7, 12]


def test_every_cue_says_what_it_saw() -> None:
    answer = AnswerFacts(False, choice="a", side="left", seconds=3, least_seconds=60, identical_lists=True, same=True)
    trust = assess([answer] * 4)
    assert [one.name for one in trust.cues] == list(CUES)
    for one in trust.cues:
        assert one.n == 4
        assert one.about
        assert one.evidence in str(one)
        assert 0 < one.factor <= 4
    assert isinstance(trust, Trust)
    assert str(trust).count("\n") == len(CUES)
