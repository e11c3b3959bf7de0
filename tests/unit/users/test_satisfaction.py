"""Satisfaction: curves stay probabilities, means and shares come with intervals, bad input gets one clear line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import adjudge as aj
from adjudge.stats.intervals import wilson_interval
from adjudge.users import SatisfactionMapping, p_satisfied, satisfaction
from adjudge.users.satisfaction import TABLE_4_3

STEEP = SatisfactionMapping("CG@5", "fine", "cubic", (-0.5, 2.0, 0.0, 0.0))
JOINED = SatisfactionMapping("CG@5", "fine", "points", points=((0.0, 0.1), (0.5, 0.2), (1.0, 0.8)))


def matrix(values: object, measure: str = "CG@5") -> aj.Effectiveness:
    return aj.Effectiveness.from_matrix(values, measure=measure, systems=["a", "b"])  # type: ignore[arg-type]


@pytest.mark.parametrize("mapping", TABLE_4_3, ids=str)
def test_every_curve_is_a_probability_that_more_effectiveness_raises(mapping: SatisfactionMapping) -> None:
    p = mapping(np.linspace(0, 1, 1001))
    assert ((p >= 0) & (p <= 1)).all()
    assert p[-1] - p[0] > 0.5
    assert "\n" not in str(mapping)


def test_a_cubic_is_clipped_and_points_are_joined() -> None:
    assert STEEP([0.0, 0.25, 0.5, 1.0]).tolist() == [0.0, 0.0, 0.5, 1.0]
    assert JOINED([[0.0, 0.25], [0.75, 1.0]]) == pytest.approx(np.array([[0.1, 0.15], [0.5, 0.8]]))


def test_a_query_left_out_has_no_satisfaction() -> None:
    assert np.isnan(STEEP([np.nan])).all()


@pytest.mark.parametrize("bad", [-0.01, 1.01, 37.0, np.inf])
def test_effectiveness_outside_0_and_1_is_refused(bad: float) -> None:
    with pytest.raises(aj.AdjudgeError, match=r"^CG@5 on fine: expected effectiveness in \[0, 1\], got "):
        STEEP([0.5, bad])
    assert STEEP(1 + 1e-12) == 1.0


@pytest.mark.parametrize(
    ("kind", "coefficients", "points", "message"),
    [
        ("cubic", (1.0, 2.0, 3.0), (), "a cubic has 4 coefficients and no points, got 3 and 0"),
        ("cubic", (1.0, 2.0, 3.0, np.nan), (), "a cubic has 4 coefficients"),
        ("points", (), ((0.0, 0.5),), "has 2 or more points and no coefficients, got 1 and 0"),
        ("points", (), ((0.1, 0.5), (1.0, 0.7)), "must rise from effectiveness 0 to effectiveness 1"),
        ("points", (), ((0.0, 0.5), (0.5, 0.2), (0.5, 0.3), (1.0, 0.7)), "must rise from effectiveness 0"),
        ("points", (), ((0.0, 0.5), (1.0, 1.7)), r"probabilities of points must be in \[0, 1\]"),
        ("quartic", (), (), "No kind of satisfaction mapping is called 'quartic'"),
    ],
)
def test_a_mapping_that_makes_no_sense_is_refused(
    kind: str, coefficients: tuple[float, ...], points: tuple[tuple[float, float], ...], message: str
) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        SatisfactionMapping("CG@5", "fine", kind, coefficients, points)


def test_the_mean_has_the_t_interval_of_its_queries() -> None:
    rng = np.random.default_rng(4)
    values = rng.random((30, 2))
    sat = satisfaction(matrix(values), scale="fine")
    p = next(m for m in TABLE_4_3 if (m.measure, m.scale) == ("CG@5", "fine"))(values[:, 0])
    low, high = stats.t.interval(0.95, 29, p.mean(), stats.sem(p))
    row = sat.of("a", "CG@5")
    assert (row.mean, row.low, row.high) == pytest.approx((p.mean(), low, high))
    assert row.success == np.mean(p > 0.5)
    wilson = stats.binomtest(int((p > 0.5).sum()), 30).proportion_ci(method="wilson")
    assert (row.success_low, row.success_high) == pytest.approx((wilson.low, wilson.high))


def test_success_is_strictly_above_the_threshold() -> None:
    values = [[0.25, 0.5], [0.5, 0.75], [0.75, 0.75]]
    shares = {t: satisfaction(matrix(values), scale="fine", mappings=[STEEP], threshold=t).success for t in (0, 0.5, 1)}
    assert shares[0][:, 0].tolist() == pytest.approx([2 / 3, 1.0])
    assert shares[0.5][:, 0].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert shares[1][:, 0].tolist() == [0.0, 0.0]


def test_own_mappings_come_first() -> None:
    sat = satisfaction(matrix([[0.2, 0.6]]), scale="fine", mappings=[JOINED])
    assert sat.mappings == (JOINED,)
    assert sat.p_sat[0, :, 0] == pytest.approx(JOINED([0.2, 0.6]))


def test_queries_left_out_do_not_count() -> None:
    whole = matrix([[0.2, 0.6], [0.4, 0.8], [0.6, 0.9]])
    values = whole.values.copy()
    values[0, 0, 0] = np.nan
    sat = satisfaction(replace(whole, values=values), scale="fine", mappings=[STEEP])
    assert sat.n_queries[:, 0].tolist() == [2, 3]
    assert sat.mean[0, 0] == pytest.approx(STEEP([0.4, 0.6]).mean())
    assert sat.success[0, 0] == 0.5


def test_a_measure_without_a_mapping_is_said_so_and_the_rest_goes_on() -> None:
    eff = aj.evaluate(aj.demo(queries=8, depth=5), ["nDCG@5", "CG@5"])
    sat = satisfaction(eff)
    assert sat.measures == ("CG@5",)
    assert sat.missing[0].startswith("no satisfaction mapping for nDCG@5 on fine; known on fine: CG@5")
    assert sat.missing[0] in str(sat)
    assert sat.p_sat.shape == (8, len(eff.systems), 1)
    assert sat.to_polars().height == len(eff.systems)
    with pytest.raises(aj.AdjudgeError, match="No measure with a satisfaction mapping is called 'nDCG@5'"):
        sat.of(eff.systems[0], "nDCG@5")
    with pytest.raises(aj.AdjudgeError, match="No system is called 'nobody'"):
        sat.of("nobody", "CG@5")


def test_effectiveness_without_a_scale_or_any_mapping_gives_an_empty_answer() -> None:
    sat = satisfaction(matrix([[0.2, 0.6], [0.3, 0.1]]))
    assert sat.missing == ("no satisfaction mapping for CG@5: the scale of its judgments is not known",)
    assert sat.rows() == []
    assert str(sat) == sat.missing[0]


def test_one_query_has_a_mean_and_no_interval() -> None:
    row = satisfaction(matrix([[0.2, 0.6]]), scale="fine").of("a", "CG@5")
    assert np.isfinite(row.mean)
    assert np.isnan(row.low)
    assert row.success_low >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1.5}, r"'threshold' must be in \[0, 1\], got 1.5"),
        ({"confidence": 1.0}, r"'confidence' must be in \(0, 1\), got 1.0"),
        ({"scale": "coarse"}, "Scale: expected one of binary, broad, fine"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        satisfaction(matrix([[0.2, 0.6]]), **{"scale": "fine", **options})  # type: ignore[arg-type]


def test_effectiveness_on_another_range_is_refused() -> None:
    with pytest.raises(aj.AdjudgeError, match=r"CG@5 on fine: expected effectiveness in \[0, 1\], got 58"):
        satisfaction(matrix([[58.0, 60.0]]), scale="fine")


@given(st.integers(0, 60), st.integers(0, 60), st.floats(1e-6, 1 - 1e-6) | st.sampled_from([0.0, 1.0]))
def test_users_satisfied_follow_the_binomial(k: int, n: int, p: float) -> None:
    if k > n:
        k, n = n, k
    assert float(p_satisfied(k, n, p)) == pytest.approx(stats.binom.pmf(k, n, p), rel=1e-9, abs=1e-300)
    assert float(p_satisfied(k, n, p, at_least=True)) == pytest.approx(stats.binom.sf(k - 1, n, p), abs=1e-12)


@pytest.mark.parametrize(
    ("k", "n", "p", "message"),
    [
        (11, 10, 0.5, "expected k of n users with 0 <= k <= n"),
        (-1, 10, 0.5, "expected k of n users"),
        (2.5, 10, 0.5, "expected k of n users"),
        (2, 10, 1.5, r"expected a probability of satisfaction in \[0, 1\]"),
    ],
)
def test_impossible_numbers_of_users_are_refused(k: float, n: int, p: float, message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        p_satisfied(k, n, p)


@given(st.integers(1, 500), st.floats(0, 1), st.floats(0.5, 0.999))
def test_wilsons_interval_is_that_of_scipy(n: int, share: float, confidence: float) -> None:
    hits = round(share * n)
    expected = stats.binomtest(hits, n).proportion_ci(confidence, method="wilson")
    middle, low, high = wilson_interval(hits, n, confidence=confidence)
    assert (float(low), float(high)) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert low - 1e-12 <= middle <= high + 1e-12


def test_wilsons_interval_of_nothing_is_nan() -> None:
    assert np.isnan(wilson_interval(0, 0)).all()
    with pytest.raises(aj.AdjudgeError, match=r"'confidence' must be in \(0, 1\)"):
        wilson_interval(1, 2, confidence=0)


def test_what_is_unknown_of_a_curve_widens_the_interval_of_the_mean() -> None:
    eff = aj.evaluate(aj.demo(queries=10, depth=5), ["CG@5"])
    known = SatisfactionMapping("CG@5", "fine", "cubic", (0.2, 0.6, 0.0, 0.0))
    unsure = replace(known, covariance=tuple(tuple(0.04 if i == j == 0 else 0.0 for i in range(4)) for j in range(4)))
    sure, wide = (satisfaction(eff, mappings=[mapping]) for mapping in (known, unsure))
    assert np.array_equal(sure.mean, wide.mean)
    half = (sure.high - sure.low) / 2
    inside = (wide.low > 0) & (wide.high < 1)
    assert inside.any()
    # a0 has standard error 0.2 and moves every P(Sat) as much as itself
    assert np.allclose(((wide.high - wide.low) / 2)[inside], np.hypot(half, 1.959964 * 0.2)[inside])
