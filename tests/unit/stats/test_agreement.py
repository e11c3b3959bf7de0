"""Agreement between assessors: what is asked of it beyond the published numbers of tests/reference."""

from __future__ import annotations

import json
import math
from itertools import combinations, permutations
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
from adjudge.model.scales import BROAD, FINE, Scale
from adjudge.stats import agreement as module
from adjudge.stats.agreement import Agreement, Ratings, agreement, ratings
from adjudge.stats.coefficients import Metric, cohen_kappa, drift, fleiss_kappa, krippendorff_alpha, self_consistency

NAN = float("nan")
METRICS: tuple[Metric, ...] = get_args(Metric)
each_metric = pytest.mark.parametrize("metric", METRICS)
any_ratings = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.sampled_from([0.0, 1.0, 2.0, NAN, NAN]),
)


def rated(values: npt.ArrayLike, units_a_query: int = 1) -> Ratings:
    """Ratings with made-up names, so many units in each query."""
    matrix = np.asarray(values, dtype=np.float64)
    units = tuple((f"q{u // units_a_query}", f"d{u}") for u in range(len(matrix)))
    return Ratings(matrix, tuple(f"a{a}" for a in range(matrix.shape[1])), units)


def clustered(rng: np.random.Generator, n_queries: int, n_documents: int, n_assessors: int) -> Ratings:
    """Each assessor reads each query in his own way, for all of its documents; alpha is 1 / (1 + 0.25 + 0.49)."""
    pair = 0.6 * rng.normal(size=(n_queries, 1, 1)) + 0.8 * rng.normal(size=(n_queries, n_documents, 1))
    reading = 0.5 * rng.normal(size=(n_queries, 1, n_assessors))
    noise = 0.7 * rng.normal(size=(n_queries, n_documents, n_assessors))
    return rated((pair + reading + noise).reshape(-1, n_assessors), n_documents)


def numbers_in(plain: Any) -> list[Any]:
    """The leaves of nested plain values."""
    if isinstance(plain, dict):
        return [leaf for item in plain.values() for leaf in numbers_in(item)]
    if isinstance(plain, list):
        return [leaf for item in plain for leaf in numbers_in(item)]
    return [plain]


def test_rows_in_any_order_become_units_by_assessors() -> None:
    rows = [("q2", "x", "bob", 2.0), ("q1", "x", "ann", 0.0), ("q2", "x", "ann", 1.0)]
    built = Ratings.from_rows(rows)
    assert built.units == (("q2", "x"), ("q1", "x"))
    assert built.assessors == ("bob", "ann")
    np.testing.assert_array_equal(built.values, [[2.0, 1.0], [NAN, 0.0]])


def test_the_same_row_twice_counts_once() -> None:
    rows = [("q", "d", "ann", 1.0), ("q", "d", "ann", 1.0)]
    assert Ratings.from_rows(rows).n_ratings.tolist() == [1]


def test_two_grades_of_one_assessor_for_one_unit_are_refused() -> None:
    rows = [("q", "d", "ann", 1.0), ("q", "d", "ann", 2.0)]
    with pytest.raises(AdjudgeError, match="document 'd' of query 'q' by 'ann', got 1 and 2"):
        Ratings.from_rows(rows)


@pytest.mark.parametrize("grade", [math.inf, NAN])
def test_rows_without_a_finite_grade_are_refused(grade: float) -> None:
    with pytest.raises(AdjudgeError, match=f"expected one finite grade .* got {grade:g}"):
        Ratings.from_rows([("q", "d", "ann", grade)])


@pytest.mark.parametrize(
    ("values", "assessors", "message"),
    [
        (np.zeros((2, 2)), ("ann", "bob"), r"expected values of shape \(1, 2\)"),
        (np.full((1, 2), np.inf), ("ann", "bob"), "got an infinite one"),
        (np.zeros((1, 2)), ("ann", "ann"), "every assessor once"),
    ],
)
def test_ratings_that_do_not_fit_are_refused(values: Floats, assessors: tuple[str, ...], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        Ratings(values, assessors, (("q", "d"),))


def test_judgments_of_several_assessors_come_side_by_side() -> None:
    import polars as pl

    frame = pl.DataFrame(
        {
            "query": ["1", "1", "1", "2"],
            "document": ["a", "a", "b", "a"],
            "grade": [2.0, 1.0, 0.0, 2.0],
            "assessor": ["ann", "bob", "bob", "ann"],
        }
    )
    judgments = encoded(frame)
    side = ratings(judgments)
    assert side.assessors == ("ann", "bob")
    assert side.units == (("1", "a"), ("1", "b"), ("2", "a"))
    np.testing.assert_array_equal(side.values, [[2.0, 1.0], [NAN, 0.0], [2.0, NAN]])


def test_judgments_that_name_nobody_are_those_of_one_assessor(mirex2011: aj.Collection) -> None:
    judgments = mirex2011.judgments
    assert judgments is not None
    side = ratings(judgments)
    assert side.assessors == ("assessor",)
    assert side.values.shape == (len(judgments), 1)
    assert agreement(side).alpha.reason == "there is a single assessor"


def test_of_several_sub_topics_the_highest_grade_counts() -> None:
    import polars as pl

    columns = {"query": ["1", "1"], "document": ["a", "a"], "grade": [1.0, 2.0], "subtopic": ["x", "y"]}
    assert ratings(encoded(pl.DataFrame(columns))).values.tolist() == [[2.0]]


def encoded(frame: Any) -> Any:
    from adjudge.model.judgments import encode_judgments
    from adjudge.model.vocabulary import Vocabulary

    return encode_judgments(frame, queries=Vocabulary(), documents=Vocabulary(), scale=BROAD, source="here")


def test_linear_weights_are_the_mean_distance_over_all_pairs_of_grades() -> None:
    a, b = np.array([0.0, 1.0, 4.0, 9.0]), np.array([1.0, 1.0, 0.0, 9.0])
    observed = np.mean(np.abs(a - b))
    by_chance = np.mean([abs(x - y) for x in a for y in b])
    assert cohen_kappa(a, b, weights="linear") == pytest.approx(1 - observed / by_chance, abs=1e-14)


def test_kappa_leaves_out_units_that_one_did_not_rate() -> None:
    assert cohen_kappa([0, 1, NAN, 1, 0], [0, 1, 1, NAN, 1]) == cohen_kappa([0, 1, 0], [0, 1, 1])


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0]), ([1.0, NAN], [1.0, 2.0]), ([0.1] * 3, [0.1] * 3)])
def test_kappa_is_undefined_without_two_units_or_a_second_grade(a: list[float], b: list[float]) -> None:
    assert math.isnan(cohen_kappa(a, b))
    assert math.isnan(cohen_kappa(a, b, weights="quadratic"))
    assert math.isnan(cohen_kappa(a, b, weights="linear"))


def test_kappa_says_what_is_wrong_with_its_arguments() -> None:
    with pytest.raises(AdjudgeError, match="two lists of equal length, got shapes"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(AdjudgeError, match="'weights' must be one of none, linear, quadratic, got 'cubic'"):
        cohen_kappa([1], [1], weights="cubic")  # type: ignore[arg-type]
    with pytest.raises(AdjudgeError, match="expected grades among 0, 1, got 3"):
        cohen_kappa([1, 3], [1, 1], levels=[0, 1])
    with pytest.raises(AdjudgeError, match="'levels' must be the grades of the scale"):
        cohen_kappa([1, 1], [1, 1], levels=[1, 0])


def test_coefficients_refuse_what_is_not_a_matrix() -> None:
    with pytest.raises(AdjudgeError, match="units x assessors, got shape"):
        fleiss_kappa([1, 2])
    with pytest.raises(AdjudgeError, match="got an infinite one"):
        krippendorff_alpha([[1, math.inf]])
    with pytest.raises(AdjudgeError, match="'metric' must be one of nominal, ordinal, interval, ratio, got 'cardinal'"):
        krippendorff_alpha([[1, 2]], "cardinal")  # type: ignore[arg-type]


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


def test_assessors_who_never_share_two_units_have_no_mean_kappa() -> None:
    result = agreement(rated([[1, 2, NAN], [NAN, 2, 3]]), resamples=0)
    assert result.cohen.reason == "no two assessors share two units with different grades"
    assert [pair.n_units for pair in result.pairs] == [1, 1]
    assert math.isfinite(result.alpha.value)


def test_a_single_unit_with_two_ratings_has_values_without_intervals() -> None:
    result = agreement(rated([[1.0, 3.0], [2.0, NAN], [NAN, 2.0]]))
    assert result.absolute_difference.value == 2
    assert math.isnan(result.absolute_difference.low)
    assert result.absolute_difference.reason == "there is a single unit to draw from"


def test_perfect_agreement_has_no_interval_because_nothing_else_can_be_drawn() -> None:
    alpha = agreement(rated([[u % 3, u % 3] for u in range(30)])).alpha
    assert alpha.value == 1
    assert math.isnan(alpha.low)
    assert alpha.reason == "all draws are alike"


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


def test_pairs_have_the_differences_of_the_units_that_both_rated() -> None:
    (pair,) = agreement(rated([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0], [NAN, 0.0]]), resamples=0).pairs
    assert (pair.assessor, pair.other, pair.n_units) == ("a0", "a1", 3)
    assert pair.difference == pytest.approx(1 / 3)
    assert pair.absolute_difference == pytest.approx(1)


def test_a_severe_assessor_has_a_bias_below_zero() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=(200, 1)) + 0.1 * rng.normal(size=(200, 4)) + [0, 0, 0, -1]
    each = agreement(rated(values), resamples=0).each
    others = values[:, :3].mean(axis=1)
    assert each[3].bias == pytest.approx(np.mean(values[:, 3] - others), abs=1e-12)
    assert each[3].bias == pytest.approx(-1, abs=0.05)
    assert each[3].correlation == pytest.approx(stats.pearsonr(values[:, 3], others).statistic, abs=1e-12)
    assert all(other.bias > 0.2 for other in each[:3])


def test_an_assessor_who_never_changes_has_no_correlation() -> None:
    each = agreement(rated([[1, 2], [1, 3], [1, 4]]), resamples=0).each
    assert math.isnan(each[0].correlation)


def test_a_result_in_plain_values_has_none_for_what_is_unknown() -> None:
    plain = agreement(rated([[1, 2], [2, 2], [0, 1]]), resamples=0).to_dict()
    assert plain["alpha"]["low"] is None
    assert plain["pairs"][0]["n_units"] == 3
    assert plain["assessors"] == ["a0", "a1"]
    assert {type(leaf) for leaf in numbers_in(plain)} <= {str, int, float, bool, type(None)}


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others() -> None:
    some = clustered(np.random.default_rng(1), 30, 4, 3)
    first, again, other = (agreement(some, resamples=200, seed=seed) for seed in (3, 3, 4))
    assert first.to_dict() == again.to_dict()
    assert first.alpha.value == other.alpha.value
    assert first.alpha.low != other.alpha.low


@each_metric
def test_the_order_of_assessors_changes_no_coefficient(metric: Metric) -> None:
    values = np.random.default_rng(6).integers(0, 4, size=(25, 3)).astype(np.float64)
    values[::4, 1] = NAN
    found = [agreement(rated(values[:, list(order)]), metric=metric, resamples=0) for order in permutations(range(3))]
    assert [one.alpha.value for one in found] == pytest.approx([found[0].alpha.value] * 6, abs=1e-12)
    assert [one.cohen.value for one in found] == pytest.approx([found[0].cohen.value] * 6, abs=1e-12)


def coverage(results: list[Agreement], truth: float) -> float:
    return float(np.mean([one.alpha.low <= truth <= one.alpha.high for one in results]))


def test_intervals_cover_the_truth_when_queries_are_drawn_and_less_often_when_units_are() -> None:
    samples = [clustered(np.random.default_rng([9, i]), 40, 6, 3) for i in range(100)]
    truth = 1 / (1 + 0.25 + 0.49)
    by_query = [agreement(one, resamples=200) for one in samples]
    by_unit = [agreement(one, resamples=200, resample="units") for one in samples]
    assert (by_query[0].resampled, by_query[0].n_resampled) == ("queries", 40)
    assert (by_unit[0].resampled, by_unit[0].n_resampled) == ("units", 240)
    assert 0.88 <= coverage(by_query, truth) <= 1
    assert coverage(by_unit, truth) < coverage(by_query, truth)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "fuzzy"}, "'metric' must be one of"),
        ({"confidence": 1.0}, r"'confidence' must be in \(0, 1\), got 1.0"),
        ({"resamples": 5}, "'resamples' must be 0 or a whole number from 100 to 50,000, got 5"),
        ({"seed": -1}, "'seed' must be a whole number of at least 0, got -1"),
        ({"resample": "assessors"}, "'resample' must be one of queries, units"),
    ],
)
def test_wrong_options_are_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        agreement(rated([[1, 2]]), **options)


def test_it_prints_intervals_and_those_pairs_of_assessors_it_has_room_for() -> None:
    text = str(agreement(clustered(np.random.default_rng(8), 20, 3, 14), resamples=200))
    assert "95 % intervals, 200 draws of queries" in " ".join(text.split())
    assert f"… and {14 * 13 // 2 - 20} more" in text


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
    json.dumps(found.to_dict(), allow_nan=False)


def test_repeats_of_unequal_length_are_refused() -> None:
    with pytest.raises(AdjudgeError, match="self_consistency: expected two lists of equal length"):
        self_consistency([1.0], [1.0, 2.0], BROAD)
    with pytest.raises(AdjudgeError, match="got an infinite one"):
        self_consistency([1.0], [math.inf], BROAD)


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


def test_steady_assessors_are_flagged_about_one_time_in_twenty() -> None:
    rng = np.random.default_rng(12)
    flagged = [drift(rng.normal(size=50), np.zeros(50)).moved is True for _ in range(400)]
    assert 0.02 <= np.mean(flagged) <= 0.08


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


def test_drift_refuses_bad_arguments() -> None:
    with pytest.raises(AdjudgeError, match="drift: expected two lists of equal length"):
        drift([1.0], [])
    with pytest.raises(AdjudgeError, match="'confidence' must be in"):
        drift([1.0], [1.0], confidence=2)
