"""Rules against their definitions, one pair of systems at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.scales import FINE
from adjudge.relevance.base import RelevanceModel, View, scoring
from adjudge.relevance.candidates import candidates
from adjudge.relevance.choosing import RULES, choose
from adjudge.relevance.estimators import IndependentModel
from adjudge.relevance.session import Session

MEASURES = ("CG@5", "DCG@5", "RBP@5", "nDCG@5", "RBP(ideal=judged)@5")
Make = Callable[..., aj.Collection]


def believing(make: Make, measure: str, seed: int = 1) -> IndependentModel:
    """A model of any beliefs, with a few judgments; systems differ, so that some pairs are sure and some are not."""
    some = candidates(make(seed, scale="0..3", n_queries=6, n_systems=4), cutoff=5).unjudged()
    rng = np.random.default_rng(seed)
    level = np.zeros(len(some))
    np.maximum.at(level, some.entry_pair, 0.12 * some.entry_system.astype(np.float64))
    mean = np.clip(0.3 + level + 0.1 * rng.random(len(some)), 0, 1)
    model = IndependentModel(some, scoring(measure, some.scale), lambda relevance: (mean, 0.3 * mean * (1 - mean)))
    for pair in rng.permutation(len(some))[:9]:
        model.judge(int(pair), float(rng.random()))
    return model


def weight(model: RelevanceModel, pair: int, system: int, *, over_constant: bool = True) -> float:
    """Weight of a pair in a system's score of its query: that of the rank at which the system has it."""
    c, s = model.candidates, model.scoring
    for e in range(len(c.entry_pair)):
        if c.entry_pair[e] == pair and c.entry_system[e] == system:
            return float(s.weights[c.entry_rank[e] - 1]) / ((s.divisor or 1.0) if over_constant else 1.0)
    return 0.0


def variance_of_difference(model: RelevanceModel, a: int, b: int) -> float:
    s = model.scores().covariance
    return float(s[a, a] + s[b, b] - 2 * s[a, b])


def sure(model: RelevanceModel, a: int, b: int) -> float:
    """P(the likelier sign), by the error function."""
    variance = variance_of_difference(model, a, b)
    if variance <= 1e-18:
        return 1.0
    z = abs(float(model.scores().mean[a] - model.scores().mean[b])) / math.sqrt(variance)
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


def asked(model: RelevanceModel, rule: str, zone: float = 0.0) -> Floats:
    return RULES[rule](model)(View(model, zone))


@pytest.mark.parametrize("measure", MEASURES)
def test_information_is_the_doubt_that_a_judgment_removes(make_collection: Make, measure: str) -> None:
    model = believing(make_collection, measure)
    told, k, v = asked(model, "information"), model.influence(), model.variance
    n = model.candidates.n_systems
    for i in range(len(model.candidates)):
        expected = 0.0
        for a, b in itertools.combinations(range(n), 2):
            if v[i] > 0:
                removed = (k[i, a] - k[i, b]) ** 2 / v[i]
                expected += (1 - sure(model, a, b)) * removed / variance_of_difference(model, a, b)
        assert told[i] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("measure", ["CG@5", "DCG@5", "RBP@5"])
def test_a_judgment_removes_the_variance_that_information_counts(make_collection: Make, measure: str) -> None:
    """Linear measures: s² before less s² after is (k_a - k_b)² / v, whatever the grade."""
    model, again = believing(make_collection, measure), believing(make_collection, measure)
    i = int(np.argmax(asked(model, "information")))
    again.judge(i, 1.0)
    k = model.influence()[i]
    for a, b in itertools.combinations(range(model.candidates.n_systems), 2):
        removed = variance_of_difference(model, a, b) - variance_of_difference(again, a, b)
        assert removed == pytest.approx((k[a] - k[b]) ** 2 / model.variance[i], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_variance_is_what_a_judgment_removes_from_scores(make_collection: Make, measure: str) -> None:
    model = believing(make_collection, measure)
    told, k, v = asked(model, "variance"), model.influence(), model.variance
    for i in range(len(model.candidates)):
        expected = sum(k[i, s] ** 2 for s in range(model.candidates.n_systems)) / v[i] if v[i] > 0 else 0.0
        assert told[i] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
def test_confidence_is_equation_6_of_admire(make_collection: Make, measure: str) -> None:
    model = believing(make_collection, measure)
    told, n = asked(model, "confidence"), model.candidates.n_systems
    doubts = {(a, b): 1 - sure(model, a, b) for a, b in itertools.combinations(range(n), 2)}
    assert {doubt < 0.05 for doubt in doubts.values()} == {True, False}  # some pairs are left out, some are not
    for i in range(len(model.candidates)):
        expected = sum(
            doubt * (weight(model, i, a) - weight(model, i, b)) ** 2 for (a, b), doubt in doubts.items() if doubt > 0.05
        )
        assert told[i] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
def test_pairs_is_the_weight_of_section_8_3(make_collection: Make, measure: str) -> None:
    model = believing(make_collection, measure)
    told, c = asked(model, "pairs"), model.candidates
    for i in range(len(c)):
        expected = sum(
            abs(weight(model, i, a) - weight(model, i, b)) for a, b in itertools.combinations(range(c.n_systems), 2)
        )
        if not model.scoring.linear:
            best = sorted((float(model.mean[j]) for j in range(len(c)) if c.query[j] == c.query[i]), reverse=True)
            expected /= sum(r * w for r, w in zip(best, model.scoring.weights, strict=False))
        assert told[i] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
def test_spread_is_the_weight_of_section_8_4(make_collection: Make, measure: str) -> None:
    model = believing(make_collection, measure)
    told, own = asked(model, "spread"), np.diagonal(model.scores().covariance)
    for i in range(len(model.candidates)):
        systems = [s for s in range(model.candidates.n_systems) if weight(model, i, s) > 0]
        assert told[i] == pytest.approx(sum(own[s] for s in systems), rel=1e-9, abs=1e-15)


def test_random_prefers_nothing(make_collection: Make) -> None:
    assert len(set(asked(believing(make_collection, "CG@5"), "random").tolist())) == 1


def test_documents_of_all_systems_at_one_rank_tell_nothing_of_differences() -> None:
    runs = {s: {"q": ["both", s]} for s in "ab"}
    found = candidates(aj.read(runs), cutoff=2, scale=FINE)
    for rule in ("information", "confidence", "pairs"):
        session = Session(found, "DCG@2", estimator="uniform", rule=rule)
        assert ("q", "both") not in session.next(2)
        assert session.next(3)[2] == ("q", "both")


# Choosing among equals


def some_view(n_queries: int = 4, depth: int = 3) -> View:
    found = candidates(
        aj.read({"a": {f"q{q}": [f"d{i}" for i in range(depth)] for q in range(n_queries)}}), cutoff=depth, scale=FINE
    )
    return View(Session(found, f"CG@{depth}", estimator="uniform").model)


def test_the_most_telling_comes_first_and_equals_by_priority() -> None:
    view = some_view()
    utility = np.array([1.0, 3, 2, 0, 3, 0, 0, 0, 3, 0, 0, 0])
    priority = np.arange(12.0)[::-1].copy()
    assert choose(utility, view, priority, 1) == [8]
    assert choose(utility, view, np.arange(12.0), 1) == [1]


@pytest.mark.parametrize("size", [1e-9, 1.0, 3.3, 1e12])
def test_what_rounding_makes_different_is_equal(size: float) -> None:
    """Three values around the highest, two around its third, each a few units in the last place apart."""
    view = some_view()
    third = size / 3
    utility = np.array(
        [
            size,
            size * (1 - 3e-16),
            size * (1 + 3e-16),
            0.0,
            third,
            third * (1 + 3e-16),
            0,
            0,
            third * (1 - 3e-16),
            0,
            0,
            0,
        ]
    )
    rng = np.random.default_rng(1)
    firsts, seconds = set(), set()
    for _ in range(100):
        priority = rng.permutation(12).astype(np.float64)
        assert choose(utility, view, priority, 1) == choose(utility, view, priority, 4)[:1]
        first, second, *_ = choose(utility, view, priority, 4)  # one of each query
        firsts.add(first)
        seconds.add(second)
    assert firsts == {0, 1, 2}
    assert seconds == {4, 5, 8}


def test_a_second_document_of_a_query_waits_for_the_other_queries() -> None:
    view = some_view()
    utility = np.arange(12.0)[::-1].copy()  # all of the first query before all of the second
    assert choose(utility, view, np.arange(12.0), 6) == [0, 3, 6, 9, 1, 4]


def test_judged_and_excluded_documents_are_not_chosen() -> None:
    view = some_view()
    view.model.judge(0, 0.5)
    utility = np.ones(12)
    utility[[1, 2]] = np.nan
    assert sorted(choose(utility, view, np.arange(12.0), 99)) == list(range(3, 12))


def test_documents_in_other_hands_are_not_named_again() -> None:
    session = Session(some_view().model.candidates, "CG@3", estimator="uniform")
    mine = session.next(5)
    theirs = session.next(5, exclude=mine)
    assert not set(mine) & set(theirs)
    everything = {session.pair(i) for i in range(12)}
    assert session.next(1, exclude=everything) == []
    with pytest.raises(AdjudgeError, match="is no candidate"):
        session.next(1, exclude=[("q0", "nowhere")])
    with pytest.raises(AdjudgeError, match="'n' must be a whole number of at least 1, got 0"):
        session.next(0)
