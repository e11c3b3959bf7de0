from __future__ import annotations

import math

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.measures.base import parse_measure
from adjudge.model.scales import BINARY, BROAD, FINE, Scale
from adjudge.relevance.base import scoring
from adjudge.relevance.candidates import candidates
from adjudge.relevance.session import Session

RUNS = {"a": {"q1": ["x", "y", "z"], "q2": ["x"]}, "b": {"q1": ["z", "y", "x"], "q2": ["w", "x"]}}
LOG = [1 / math.log2(i + 1) for i in (1, 2, 3)]


@pytest.mark.parametrize(
    ("measure", "weights", "divisor"),
    [
        ("CG@3", [1, 1, 1], 3),
        ("CG(ideal=none)@3", [1, 1, 1], 1 / 100),
        ("CG(ideal=judged)@3", [1, 1, 1], None),
        ("DCG@3", LOG, sum(LOG)),
        ("DCG(ideal=none)@3", LOG, 1 / 100),
        ("DCG(discount=original)@3", [1, 1, math.log(2) / math.log(3)], 2 + math.log(2) / math.log(3)),
        ("nDCG@3", LOG, None),
        ("nDCG(ideal=max)@3", LOG, sum(LOG)),
        ("RBP(p=0.5)@3", [1, 0.5, 0.25], 2),
        ("RBP(p=0.5, ideal=max)@3", [1, 0.5, 0.25], 1.75),
        ("RBP(p=0.5, ideal=judged)@3", [1, 0.5, 0.25], None),
    ],
)
def test_measures_are_weights_of_ranks(measure: str, weights: list[float], divisor: float | None) -> None:
    found = scoring(measure, FINE)
    np.testing.assert_allclose(found.weights, weights)
    assert found.divisor == (None if divisor is None else pytest.approx(divisor))
    assert found.linear == (divisor is not None)
    assert not found.binary


def test_precision_counts_on_a_binary_scale() -> None:
    found = scoring("P@4", BINARY)
    assert (found.weights.tolist(), found.divisor, found.binary) == ([1, 1, 1, 1], 4, True)
    assert scoring("P(ideal=judged)@4", BINARY).divisor is None
    assert scoring("RBP(rel=1)@4", BINARY).binary


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("Rprec", r"Rprec: effectiveness can be estimated for CG, DCG, nDCG, RBP, P, AP, RR.*, not for this measure"),
        ("RR", r"RR: expected a cutoff, such as RR@5"),
        ("nDCG", r"nDCG: expected a cutoff, such as nDCG@5"),
        ("CG(judged_only=True)@5", r"judged_only has no meaning where relevance is estimated"),
        ("RBP(rel=3)@5", r"RBP\(rel=3\)@5: expected a rel of at most 2, the highest of broad \(0..2\)"),
    ],
)
def test_measures_without_a_sound_expectation_are_refused(measure: str, message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        scoring(measure, BROAD)


@pytest.mark.parametrize(
    ("measure", "weights", "highest"),
    [
        ("AP@3", [1, 1 / 2, 1 / 3], 1),
        ("RR@3", [1, 1 / 2, 1 / 3], 1),
        ("P(rel=2)@2", [1 / 2, 1 / 2], 1),
        ("ERR@2", [3 / 4, 3 / 8], 3 / 4 + 1 / 2 * 3 / 16),
        ("DCG(gain=exp,ideal=none)@2", [3, 3 * LOG[1]], 3 + 3 * LOG[1]),
        ("CG(gain={0:0,1:1,2:3})@2", [1 / 2, 1 / 2], 1),
    ],
)
def test_other_measures_are_worth_what_a_single_perfect_document_is(
    measure: str, weights: list[float], highest: float
) -> None:
    found = scoring(measure, BROAD)
    np.testing.assert_allclose(found.weights, weights)
    assert found.highest == pytest.approx(highest)
    assert (str(found.drawn), found.linear) == (str(parse_measure(measure)), False)


def test_other_measures_need_draws() -> None:
    found = candidates(aj.read(RUNS), cutoff=3, scale=BINARY)
    with pytest.raises(AdjudgeError, match=r"AP@3: only hierarchical and known_item estimate"):
        Session(found, "AP@3", estimator="uniform")


def test_a_gain_is_not_linear_because_of_its_name() -> None:
    def linear(grades: Floats) -> Floats:
        return grades**2

    assert scoring(parse_measure("CG@5", gain=linear), FINE).drawn is not None
    assert scoring("CG(gain=linear)@5", FINE).linear


def test_candidates_and_measure_have_the_same_cutoff() -> None:
    found = candidates(aj.read(RUNS), cutoff=3, scale=FINE)
    with pytest.raises(AdjudgeError, match=r"CG@2: expected candidates of that cutoff, got 3"):
        Session(found, "CG@2", estimator="uniform")


@pytest.mark.parametrize("measure", ["P@3", "RBP(rel=1)@3", "AP@3"])
def test_half_relevant_documents_are_refused_where_only_counting_makes_sense(measure: str) -> None:
    """Effectiveness counts a mean grade of .5 as relevant, and expectation as half of that."""
    half = candidates(aj.read(RUNS, {"q1": {"x": 0.5}}, scale="binary"), cutoff=3)
    with pytest.raises(AdjudgeError, match=r"grades of 0 and 1.*got 0.5; ask for CG@3"):
        Session(half, measure)
    session = Session(half.unjudged(), measure)
    with pytest.raises(AdjudgeError, match=r"expected grades of 0 and 1, got 0.5"):
        session.judge("q1", "x", 0.5)
    session.judge("q1", "x", 1)
    with pytest.raises(AdjudgeError, match=r"expected grades of 0 and 1, got 0.5"):
        session.correct("q1", "x", 0.5)
    assert Session(half, "CG@3", estimator="uniform").ranking()


def test_scales_of_one_grade_and_real_grades_are_scales() -> None:
    assert scoring("CG@2", Scale("graded", 0.5)).divisor == 2
    assert scoring("CG(ideal=none)@2", Scale("graded", 0.5)).divisor == 2
