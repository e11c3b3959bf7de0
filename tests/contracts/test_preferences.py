"""What every cue of attention, every family of curves and every way to answer must obey."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.contracts.preference_cues import FLOOR_OF_EXTREMES, FLOORS, PATTERNS, SHARES, USUAL, answers_that

from adjudge.arrays import Floats
from adjudge.preferences.simulated import BEHAVIOURS, example_study, simulate_study, simulated_answers
from adjudge.preferences.simulated import KINDS as SPAM
from adjudge.preferences.trust import CUES, AnswerFacts, TrustRules, assess
from adjudge.users.files import Mappings, read_mappings, write_mappings
from adjudge.users.noticing import FORMS, AgreementMapping, find_agreement
from adjudge.users.satisfaction import MONOTONE, SatisfactionMapping, find_satisfaction

GRID = np.linspace(0, 1, 101)
MANY = 60


def members(form: str, registry: str, n: int = 60) -> Floats:
    """Parameters from all over what a family allows, its corners included; what has no bound goes to 30."""
    family = FORMS[form] if registry == "agreement" else MONOTONE[form]
    low, high = np.clip(family.lowest, -30, 30), np.clip(family.highest, -30, 30)
    rng = np.random.default_rng(11)
    inside = low + (high - low) * rng.random((n, len(low)))
    corners = np.where(rng.random((n, len(low))) < 0.5, low, high)
    return np.concatenate([inside, corners, [family.start]])


# --- cues of attention


def test_every_cue_has_its_share_its_floor_and_its_patterns() -> None:
    assert set(SHARES) == set(FLOORS) == set(PATTERNS) == set(CUES)


@pytest.mark.parametrize("name", list(CUES))
def test_nothing_known_says_nothing(name: str) -> None:
    assert CUES[name]([], USUAL) is None
    assert CUES[name]([AnswerFacts(True, right=True, chance=0.25)] * 20, USUAL) is None


@pytest.mark.parametrize("name", list(CUES))
def test_a_factor_stays_between_its_floor_and_what_its_share_allows(name: str) -> None:
    rng = np.random.default_rng(5)
    for n in (1, 2, 7, 40, 400):
        for share in (0.0, 0.2, 0.5, 1.0):
            mixed = [one for shows in rng.random(n) < share for one in answers_that(name, shows=bool(shows))]
            cue = CUES[name](mixed, USUAL)
            if cue is not None:
                floor = FLOOR_OF_EXTREMES if cue.extreme else FLOORS[name]
                assert floor <= cue.factor <= 1 / (1 - SHARES[name]) + 1e-9
                assert 0 <= cue.count <= cue.n
                assert cue.name == name


@pytest.mark.parametrize("name", list(CUES))
def test_more_of_the_same_evidence_never_turns_a_cue_around(name: str) -> None:
    """Who shows the cue is ever less, who does not show it ever more likely to listen."""
    for shows in (True, False):
        factors = [
            cue.factor
            for n in range(2, MANY)
            if (cue := CUES[name](answers_that(name, shows=shows) * n, USUAL)) is not None
        ]
        steps = np.diff(factors)
        assert len(factors) > MANY // 2
        assert (steps <= 1e-9).all() if shows else (steps >= -1e-9).all()
        assert factors[-1] < 0.2 if shows else factors[-1] > 1


@pytest.mark.parametrize("name", list(CUES))
def test_a_cue_says_what_it_saw(name: str) -> None:
    cue = CUES[name](answers_that(name, shows=True) * 10, USUAL)
    assert cue is not None
    assert str(cue.count) in cue.evidence
    assert str(cue.n) in cue.evidence
    assert CUES[name](answers_that(name, shows=True) * 10, USUAL) == cue


# --- families of curves


@pytest.mark.parametrize("kind", list(MONOTONE))
def test_satisfaction_never_falls_and_never_leaves_its_bounds(kind: str) -> None:
    for parameters in members(kind, "satisfaction"):
        shares = MONOTONE[kind](GRID, parameters)
        assert np.isfinite(shares).all()
        assert ((shares >= 0) & (shares <= 1)).all()
        assert (np.diff(shares) >= -1e-9).all()


@pytest.mark.parametrize("form", list(FORMS))
def test_the_three_shares_of_agreement_add_up_and_the_better_list_gains(form: str) -> None:
    for parameters in members(form, "agreement"):
        shares = FORMS[form](GRID, parameters)
        assert np.sum(shares, axis=0) == pytest.approx(np.ones(len(GRID)))
        assert all(((share >= 0) & (share <= 1)).all() for share in shares)
        assert (np.diff(shares.agree) >= -1e-9).all()
        assert (shares.agree - shares.disagree >= -1e-9).all()
        assert shares.agree[0] == pytest.approx(shares.disagree[0])  # no difference, no better list


@pytest.mark.parametrize("kind", [*MONOTONE, *FORMS])
def test_a_curve_survives_its_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "mapping.json"
    if kind in MONOTONE:
        satisfaction = SatisfactionMapping("CG@5", "fine", kind, MONOTONE[kind].start, source="made")
        write_mappings(Mappings((satisfaction,), ()), path)
        assert read_mappings(path).satisfaction == (satisfaction,)
        assert np.array_equal(read_mappings(path).satisfaction[0](GRID), satisfaction(GRID))
    else:
        agreement = AgreementMapping("CG@5", "fine", kind, FORMS[kind].start, source="made")
        write_mappings(Mappings((), (agreement,)), path)
        assert read_mappings(path).agreement == (agreement,)
        assert np.array_equal(read_mappings(path).agreement[0](GRID), agreement(GRID))


# --- ways to answer


@pytest.mark.parametrize("name", list(BEHAVIOURS))
def test_every_behaviour_gives_answers_that_can_be_assessed(name: str) -> None:
    rules = TrustRules()
    made = list(simulated_answers(name, np.random.default_rng(3), rules=rules, n=40, trap_every=5))
    assert len(made) == 40
    assert [one.is_trap for one in made[: rules.quiz]] == [True] * rules.quiz
    assert sum(one.is_trap for one in made) == rules.quiz + 7
    assert all(one.seconds is not None and 0 < one.seconds < math.inf for one in made)
    assert all(one.prefers == (one.side is not None) for one in made)
    assert not any(one.right for one in made if not one.is_trap)
    assert 0 <= assess(made, rules).probability <= 1


@pytest.mark.parametrize("name", list(BEHAVIOURS))
def test_the_same_seed_makes_the_same_person(name: str) -> None:
    one, two, other = (
        list(simulated_answers(name, np.random.default_rng(seed), rules=TrustRules())) for seed in (3, 3, 4)
    )
    assert one == two
    assert one != other


@pytest.mark.parametrize("kind", SPAM)
def test_every_kind_of_spammer_answers_every_question_it_gets_the_same_by_seed(kind: str) -> None:
    satisfaction, agreement = find_satisfaction("CG@5", "fine").mapping, find_agreement("CG@5", "fine").mapping
    assert satisfaction is not None
    assert agreement is not None
    one, two, other = (
        simulate_study(
            example_study(participants=1, per_participant=1).questions,
            satisfaction=satisfaction,
            agreement=agreement,
            measure="CG@2",
            scale="fine",
            participants=8,
            per_participant=20,
            spammers=1.0,
            kinds=(kind,),
            seed=seed,
        )
        for seed in (3, 3, 4)
    )
    assert set(one.kind) == {kind}
    assert np.bincount(one.study.participant).tolist() == [20] * 8
    assert np.isin(one.study.choice, range(4)).all()
    assert (one.study.seconds > 0).all()
    assert (one.study.heard <= one.study.seconds).all()
    assert np.array_equal(one.study.choice, two.study.choice)
    assert np.array_equal(one.study.at, two.study.at)
    assert not np.array_equal(one.study.question, other.study.question)
