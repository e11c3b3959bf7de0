"""Agreement between assessors: what is asked of it beyond the published numbers of tests/reference."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import combinations
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.judgments import encode_judgments
from adjudge.model.scales import BROAD, FINE, Scale
from adjudge.model.vocabulary import Vocabulary
from adjudge.stats import agreement as module
from adjudge.stats.agreement import Cluster, Ratings, agreement, ratings
from adjudge.stats.agreement_coefficients import (
    Metric,
    Weights,
    cohen_kappa,
    drift,
    fleiss_kappa,
    krippendorff_alpha,
    self_consistency,
)

NAN = float("nan")
METRICS: tuple[Metric, ...] = get_args(Metric)
each_metric = pytest.mark.parametrize("metric", METRICS)
any_ratings = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.sampled_from([0.0, 1.0, 2.0, NAN, NAN]),
)


def rated(values: npt.ArrayLike, units_per_query: int = 1) -> Ratings:
    """Ratings with made-up names."""
    matrix = np.asarray(values, dtype=np.float64)
    units = tuple((f"q{u // units_per_query}", f"d{u}") for u in range(len(matrix)))
    return Ratings(matrix, tuple(f"a{a}" for a in range(matrix.shape[1])), units)


def clustered(rng: np.random.Generator, n_queries: int, n_documents: int, n_assessors: int) -> Ratings:
    """Each assessor reads each query in his own way, for all of its documents; alpha is 1 / (1 + 0.25 + 0.49)."""
    pair = 0.6 * rng.normal(size=(n_queries, 1, 1)) + 0.8 * rng.normal(size=(n_queries, n_documents, 1))
    reading = 0.5 * rng.normal(size=(n_queries, 1, n_assessors))
    noise = 0.7 * rng.normal(size=(n_queries, n_documents, n_assessors))
    return rated((pair + reading + noise).reshape(-1, n_assessors), n_documents)


def test_rows_in_any_order_become_units_by_assessors_and_the_same_row_counts_once() -> None:
    rows = [("q2", "x", "bob", 2.0), ("q1", "x", "ann", 0.0), ("q2", "x", "ann", 1.0), ("q1", "x", "ann", 0.0)]
    built = Ratings.from_rows(rows)
    assert built.units == (("q2", "x"), ("q1", "x"))
    assert built.assessors == ("bob", "ann")
    np.testing.assert_array_equal(built.values, [[2.0, 1.0], [NAN, 0.0]])


def graded_by_ann(*grades: float) -> Ratings:
    return Ratings.from_rows([("q", "d", "ann", grade) for grade in grades])


def side_by_side(**columns: Any) -> Ratings:
    """Ratings of judgments with these columns."""
    import polars as pl

    frame = pl.DataFrame(columns)
    return ratings(encode_judgments(frame, queries=Vocabulary(), documents=Vocabulary(), scale=BROAD, source="here"))


def test_judgments_of_several_assessors_come_side_by_side() -> None:
    who, documents = ["ann", "bob", "bob", "ann"], ["a", "a", "b", "a"]
    side = side_by_side(query=list("1112"), document=documents, grade=[2.0, 1.0, 0.0, 2.0], assessor=who)
    assert side.assessors == ("ann", "bob")
    assert side.units == (("1", "a"), ("1", "b"), ("2", "a"))
    np.testing.assert_array_equal(side.values, [[2.0, 1.0], [NAN, 0.0], [2.0, NAN]])
    side = side_by_side(query=["1", "1"], document=["a", "a"], grade=[1.0, 2.0], subtopic=["x", "y"])
    assert side.values.tolist() == [[2.0]], "the highest of several sub-topics"


def test_judgments_that_name_nobody_are_those_of_one_assessor(mirex2011: aj.Collection) -> None:
    judgments = mirex2011.judgments
    assert judgments is not None
    side = ratings(judgments)
    assert side.assessors == ("assessor",)
    assert side.values.shape == (len(judgments), 1)
    assert agreement(side).alpha.reason == "there is a single assessor"


def test_linear_weights_are_the_mean_distance_over_all_pairs_of_grades() -> None:
    a, b = np.array([0.0, 1.0, 4.0, 9.0]), np.array([1.0, 1.0, 0.0, 9.0])
    observed = np.mean(np.abs(a - b))
    by_chance = np.mean([abs(x - y) for x in a for y in b])
    assert cohen_kappa(a, b, weights="linear") == pytest.approx(1 - observed / by_chance, abs=1e-14)


def test_kappa_leaves_out_units_that_one_did_not_rate() -> None:
    assert cohen_kappa([0, 1, NAN, 1, 0], [0, 1, 1, NAN, 1]) == cohen_kappa([0, 1, 0], [0, 1, 1])


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0]), ([1.0, NAN], [1.0, 2.0]), ([0.1] * 3, [0.1] * 3)])
def test_kappa_is_undefined_without_two_units_or_a_second_grade(a: list[float], b: list[float]) -> None:
    for weights in get_args(Weights):
        assert math.isnan(cohen_kappa(a, b, weights=weights))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: graded_by_ann(1, 2), "finite grade for document 'd' of query 'q' by 'ann', got 1 and 2"),
        (lambda: graded_by_ann(math.inf), "by 'ann', got inf"),
        (lambda: graded_by_ann(NAN), "by 'ann', got nan"),
        (lambda: Ratings(np.zeros((2, 2)), ("ann", "bob"), (("q", "d"),)), r"expected values of shape \(1, 2\)"),
        (lambda: Ratings(np.full((1, 2), np.inf), ("ann", "bob"), (("q", "d"),)), "got an infinite one"),
        (lambda: Ratings(np.zeros((1, 2)), ("ann", "ann"), (("q", "d"),)), "every assessor once"),
        (lambda: cohen_kappa([1, 2], [1]), "two lists of equal length, got shapes"),
        (lambda: cohen_kappa([1, 3], [1, 1], levels=[0, 1]), "expected grades among 0, 1, got 3"),
        (lambda: cohen_kappa([1, 1], [1, 1], levels=[1, 0]), "'levels' must be the grades of the scale"),
        (lambda: fleiss_kappa([1, 2]), "units x assessors, got shape"),
        (lambda: krippendorff_alpha([[1, math.inf]]), "got an infinite one"),
        (lambda: self_consistency([1.0], [1.0, 2.0], BROAD), "self_consistency: expected two lists of equal length"),
        (lambda: self_consistency([1.0], [math.inf], BROAD), "got an infinite one"),
        (lambda: drift([1.0], []), "drift: expected two lists of equal length"),
    ],
)
def test_grades_that_do_not_fit_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        call()


@each_metric
def test_alpha_is_one_when_all_agree_and_undefined_when_none_differs(metric: Metric) -> None:
    assert krippendorff_alpha([[1.0, 1.0], [3.0, 3.0], [2.0, NAN]], metric) == pytest.approx(1, abs=1e-12)
    assert math.isnan(krippendorff_alpha([[1.0, 1.0], [1.0, 1.0], [2.0, NAN]], metric))
    assert math.isnan(krippendorff_alpha([[1, NAN], [NAN, 2]], metric))
    assert math.isnan(krippendorff_alpha(np.empty((0, 3)), metric))


def test_the_ratio_of_negative_grades_is_undefined() -> None:
    assert math.isnan(krippendorff_alpha([[1, -1], [2, 2]], "ratio"))
    assert agreement(rated([[1, -1], [2, 2]]), metric="ratio").alpha.reason == "ratios need grades of 0 or more"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.empty((0, 0)), "no unit has two ratings"),
        (np.empty((0, 2)), "no unit has two ratings"),
        ([[NAN, NAN]], "no unit has two ratings"),
        ([[1, NAN], [NAN, 2]], "no unit has two ratings"),
        ([[1], [2]], "there is a single assessor"),
        ([[1, NAN], [2, NAN]], "there is a single assessor"),
        ([[2, 2], [2, 2], [2, NAN]], "everybody gave the same grade"),
        ([[0.1, 0.1, 0.1]] * 5, "everybody gave the same grade"),
    ],
)
def test_what_cannot_be_known_says_why(values: Any, reason: str) -> None:
    result = agreement(rated(values), resamples=100)
    for estimate in (result.alpha, result.fleiss, result.cohen):
        assert math.isnan(estimate.value)
        assert estimate.reason == reason


@pytest.mark.parametrize(
    ("values", "coefficient", "value", "reason"),
    [
        ([[1, 2, NAN], [NAN, 2, 3]], "cohen", NAN, "no two assessors share two units with different grades"),
        ([[1, 3], [2, NAN], [NAN, 2]], "absolute_difference", 2, "there is a single unit to draw from"),
        ([[u % 3, u % 3] for u in range(30)], "alpha", 1, "all draws are alike"),
    ],
)
def test_a_coefficient_without_an_interval_says_why(values: Any, coefficient: str, value: float, reason: str) -> None:
    result = agreement(rated(values))
    estimate = getattr(result, coefficient)
    assert estimate.value == pytest.approx(value, nan_ok=True)
    assert math.isnan(estimate.low)
    assert estimate.reason == reason
    assert math.isfinite(result.alpha.value)
    assert result.pairs[0].n_units == np.isfinite(np.array(values, dtype=float)[:, :2]).all(axis=1).sum()


@each_metric
@settings(deadline=None, max_examples=30)
@given(values=any_ratings)
def test_nothing_fails_for_lack_of_ratings(metric: Metric, values: Floats) -> None:
    result = agreement(rated(values, 2), metric=metric, resamples=100)
    assert result.n_paired == int((np.isfinite(values).sum(axis=1) >= 2).sum())
    for estimate in (result.alpha, result.fleiss, result.cohen, result.absolute_difference):
        assert math.isfinite(estimate.low) == (estimate.reason is None)
        assert estimate.reason is not None or estimate.low <= estimate.high
    assert str(result).startswith("Agreement of")
    json.dumps(result.to_dict(), allow_nan=False)


def test_the_absolute_difference_is_the_mean_over_units_of_the_mean_over_pairs() -> None:
    values = np.random.default_rng(2).integers(0, 101, size=(20, 5)).astype(np.float64)
    values[::3, 0] = NAN
    by_hand = [np.mean([abs(x - y) for x, y in combinations(row[np.isfinite(row)], 2)]) for row in values]
    found = agreement(rated(values), resamples=0).absolute_difference.value
    assert found == pytest.approx(np.mean(by_hand), abs=1e-12)


@each_metric
def test_pairs_have_kappa_and_differences_of_the_units_that_both_rated(metric: Metric) -> None:
    values = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0], [NAN, 0.0]])
    (pair,) = agreement(rated(values), metric=metric, resamples=0).pairs
    assert (pair.assessor, pair.other, pair.n_units) == ("a0", "a1", 3)
    assert pair.difference == pytest.approx(1 / 3)
    assert pair.absolute_difference == pytest.approx(1)
    weights: Weights = "none" if metric == "nominal" else "quadratic"
    assert pair.cohen == pytest.approx(cohen_kappa(*values.T, weights=weights), abs=1e-12)


def test_a_severe_assessor_has_a_bias_below_zero() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=(200, 1)) + 0.1 * rng.normal(size=(200, 4)) + [0, 0, 0, -1]
    each = agreement(rated(values), resamples=0).each
    others = values[:, :3].mean(axis=1)
    assert each[3].bias == pytest.approx(np.mean(values[:, 3] - others), abs=1e-12)
    assert each[3].bias == pytest.approx(-1, abs=0.05)
    assert each[3].correlation == pytest.approx(stats.pearsonr(values[:, 3], others).statistic, abs=1e-12)
    assert all(other.bias > 0.2 for other in each[:3])
    assert math.isnan(agreement(rated([[1, 2], [1, 3], [1, 4]]), resamples=0).each[0].correlation), "never changes"


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others() -> None:
    some = clustered(np.random.default_rng(1), 30, 4, 3)
    first, again, other = (agreement(some, resamples=200, seed=seed) for seed in (3, 3, 4))
    assert first.to_dict() == again.to_dict()
    assert first.alpha.value == other.alpha.value
    assert first.alpha.low != other.alpha.low


def test_intervals_cover_the_truth_when_queries_are_drawn_and_less_often_when_units_are() -> None:
    samples = [clustered(np.random.default_rng([9, i]), 40, 6, 3) for i in range(60)]
    truth = 1 / (1 + 0.25 + 0.49)
    drawn: dict[Cluster, int] = {"queries": 40, "units": 240}
    held = {}
    for resample, n in drawn.items():
        results = [agreement(sample, resamples=200, resample=resample) for sample in samples]
        assert (results[0].resampled, results[0].n_resampled) == (resample, n)
        held[resample] = np.mean([result.alpha.low <= truth <= result.alpha.high for result in results])
    assert 0.86 <= held["queries"] <= 1
    assert held["units"] < held["queries"]


def test_many_queries_gathered_in_blocks_have_about_the_interval_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    some = clustered(np.random.default_rng(2), 1500, 1, 3)
    gathered = agreement(some).alpha
    monkeypatch.setattr(module, "_BLOCKS", 1500)
    every = agreement(some).alpha
    assert gathered.high - gathered.low == pytest.approx(every.high - every.low, rel=0.15)


def test_with_a_single_query_units_are_drawn_and_a_note_says_so() -> None:
    result = agreement(rated(np.random.default_rng(3).integers(0, 3, size=(15, 2)), 15), resamples=200)
    assert result.resampled == "units"
    assert "intervals are for that query only" in result.notes[0]
    assert "rest on 15 units" in result.notes[1]


def test_many_assessors_with_few_common_units_are_told_that_kappa_comes_out_low() -> None:
    rng = np.random.default_rng(5)
    values = clustered(rng, 60, 5, 30).values
    values[rng.random(values.shape) < 0.85] = NAN
    result = agreement(rated(values, 5), resamples=200)
    assert "Cohen's kappa comes out low on so few" in result.notes[-1]
    assert result.cohen.reason == "the draws are biased"
    assert result.alpha.low < result.alpha.value < result.alpha.high


def test_it_prints_intervals_and_those_pairs_of_assessors_it_has_room_for() -> None:
    text = str(agreement(clustered(np.random.default_rng(8), 20, 3, 14), resamples=200))
    assert "95 % intervals, 200 draws of queries" in " ".join(text.split())
    assert f"… and {14 * 13 // 2 - 20} more" in text


@pytest.mark.parametrize(
    ("result", "old", "new"),
    [
        (agreement(rated([[1, 2]]), resamples=0), "level", "confidence"),
        (agreement(rated([[1, 2]]), resamples=0), "n_boot", "resamples"),
        (drift([], []), "level", "confidence"),
        (self_consistency([], [], BROAD), "level", "confidence"),
    ],
)
def test_fields_keep_their_old_names_with_a_warning(result: Any, old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{type(result).__name__}.{old} is called {new} now"):
        assert getattr(result, old) == getattr(result, new)
    with pytest.raises(AttributeError, match="no attribute 'n_boots'"):
        _ = result.n_boots


def test_repeats_have_the_numbers_of_a_one_way_analysis_and_a_t_interval() -> None:
    rng = np.random.default_rng(7)
    first = rng.uniform(0, 90, size=40)
    again = first + rng.normal(2, 5, size=40)
    found = self_consistency(first, again, FINE)
    wanted = stats.ttest_rel(again, first).confidence_interval()
    assert (found.shift_low, found.shift_high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    # F of a one-way analysis with two answers in each of 40 groups: ICC(1, 1) = (F - 1) / (F + 1)
    f = stats.f_oneway(*np.stack([first, again], axis=1)).statistic
    assert found.icc == pytest.approx((f - 1) / (f + 1), abs=1e-12)
    assert found.absolute_difference == pytest.approx(np.mean(np.abs(again - first)))
    assert found.share_of_scale == pytest.approx(np.mean(np.abs(again - first)) / 100)


def test_the_share_of_the_scale_takes_its_lowest_grade_into_account() -> None:
    found = self_consistency([-2, 0, 2], [0, 0, 0], Scale("graded", 2.0, -2.0))
    assert found.share_of_scale == pytest.approx(4 / 3 / 4)
    assert found.exact == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("first", "again", "n", "reason"),
    [
        ([], [], 0, "no pair was rated twice"),
        ([1.0, NAN], [NAN, 1.0], 0, "no pair was rated twice"),
        ([1.0], [2.0], 1, "a single pair was rated twice"),
        ([0.1] * 3, [0.1] * 3, 3, "all grades are the same"),
    ],
)
def test_repeats_that_say_little_say_why(first: list[float], again: list[float], n: int, reason: str) -> None:
    found = self_consistency(first, again, BROAD)
    assert (found.n, found.reason) == (n, reason)
    assert math.isnan(found.kappa)
    assert math.isnan(found.icc)
    assert reason in str(found)
    assert found.to_dict()["kappa"] is None


def test_drift_is_the_least_squares_line_of_scipy() -> None:
    rng = np.random.default_rng(3)
    expected = rng.uniform(0, 100, size=120)
    grades = expected + 0.1 * np.arange(120) + rng.normal(0, 4, size=120)
    grades[[5, 60]] = NAN
    at = np.flatnonzero(np.isfinite(grades))
    line = stats.linregress(at, (grades - expected)[at])
    half = stats.t.ppf(0.975, len(at) - 2) * line.stderr
    found = drift(grades, expected)
    assert (found.n, found.moved) == (118, True)
    assert found.slope == pytest.approx(100 * line.slope, abs=1e-9)
    assert found.low == pytest.approx(100 * (line.slope - half), abs=1e-9)
    assert found.high == pytest.approx(100 * (line.slope + half), abs=1e-9)


def test_drift_of_few_answers_is_unknown_and_says_so() -> None:
    found = drift([1.0] * 9, [0.0] * 9)
    assert (found.slope, found.low, found.high, found.moved) == (None, None, None, None)
    assert found.bias == 1
    assert found.title == "Drift over 9 answers: unknown, 9 answers are fewer than 10"
    assert drift([], []).bias is None


@pytest.mark.parametrize("offset", [0.0, 0.1, 1 / 3])
def test_a_constant_offset_is_bias_and_no_drift(offset: float) -> None:
    expected = np.linspace(0, 1, 30) ** 2
    found = drift(expected + offset, expected)
    assert (found.slope, found.low, found.high, found.moved) == (0, 0, 0, False)
    assert found.bias == pytest.approx(offset)
