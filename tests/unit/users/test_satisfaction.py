"""Satisfaction: curves stay probabilities, means and shares have intervals, clusters widen bands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit

import adjudge as aj
from adjudge.arrays import Floats, Mask
from adjudge.users import (
    CURVES,
    MONOTONE,
    Mappings,
    SatisfactionMapping,
    curve_error,
    fit_satisfaction,
    held_out_satisfaction,
    p_satisfied,
    read_mappings,
    satisfaction_interval,
    write_mappings,
)
from adjudge.users.curves import Data, between_clusters, blocks, no_less_than_model, widened
from adjudge.users.satisfaction import TABLE_4_3, SatisfactionForm, satisfaction_model

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
    assert np.isnan(STEEP([np.nan])).all()
    assert JOINED([[0.0, 0.25], [0.75, 1.0]]) == pytest.approx(np.array([[0.1, 0.15], [0.5, 0.8]]))


@pytest.mark.parametrize("bad", [-0.01, 1.01, 37.0, np.inf])
def test_effectiveness_outside_0_and_1_is_refused(bad: float) -> None:
    with pytest.raises(aj.AdjudgeError, match=r"CG@5 on fine: expected effectiveness in \[0, 1\], got "):
        STEEP([0.5, bad])
    assert STEEP(1 + 1e-12) == 1.0


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"coefficients": (1.0, 2.0, 3.0)}, r"'cubic' has 4 parameters \(a0, a1, a2, a3\), got 3"),
        ({"coefficients": (1.0, 2.0, 3.0, np.nan)}, "'a3' must be finite"),
        ({"coefficients": (0.0,) * 4, "points": ((0.0, 0.5),)}, "'cubic' has no points, got 1"),
        ({"kind": "points", "points": ((0.0, 0.5),)}, "has 2 or more points and no coefficients, got 1 and 0"),
        ({"kind": "points", "points": ((0.1, 0.5), (1.0, 0.7))}, "must rise from effectiveness 0 to effectiveness 1"),
        ({"kind": "points", "points": ((0.0, 0.5), (0.5, 0.2), (0.5, 0.3), (1.0, 0.7))}, "must rise from"),
        ({"kind": "points", "points": ((0.0, 0.5), (1.0, 1.7))}, r"probabilities of points must be in \[0, 1\]"),
        ({"kind": "quartic"}, "No kind of satisfaction mapping is called 'quartic'"),
        ({"kind": "logistic", "coefficients": (1.0,)}, r"'logistic' has 2 parameters \(base, slope\), got 1"),
        ({"kind": "logistic", "coefficients": (1.0, -1.0)}, r"'slope' must be .* in \[0, 200\], got -1"),
        ({"kind": "logistic", "coefficients": (1.0, 1.0), "covariance": ((1.0,),)}, "covariance must be 2 x 2"),
    ],
)
def test_a_mapping_that_makes_no_sense_is_refused(numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        SatisfactionMapping("CG@5", "fine", **numbers)


def test_the_mean_has_the_t_interval_of_its_queries() -> None:
    rng = np.random.default_rng(4)
    values = rng.random((30, 2))
    sat = aj.satisfaction(matrix(values), scale="fine")
    p = next(m for m in TABLE_4_3 if (m.measure, m.scale) == ("CG@5", "fine"))(values[:, 0])
    low, high = stats.t.interval(0.95, 29, p.mean(), stats.sem(p))
    row = sat.of("a", "CG@5")
    assert (row.mean, row.low, row.high) == pytest.approx((p.mean(), low, high))
    assert row.success == np.mean(p > 0.5)
    wilson = stats.binomtest(int((p > 0.5).sum()), 30).proportion_ci(method="wilson")
    assert (row.success_low, row.success_high) == pytest.approx((wilson.low, wilson.high))


def test_success_is_strictly_above_the_threshold() -> None:
    values = [[0.25, 0.5], [0.5, 0.75], [0.75, 0.75]]
    for threshold, expected in ((0, [2 / 3, 1.0]), (0.5, [1 / 3, 2 / 3]), (1, [0.0, 0.0])):
        sat = aj.satisfaction(matrix(values), scale="fine", mappings=[STEEP], threshold=threshold)
        assert sat.success[:, 0].tolist() == pytest.approx(expected)


def test_queries_left_out_do_not_count() -> None:
    whole = matrix([[0.2, 0.6], [0.4, 0.8], [0.6, 0.9]])
    values = whole.values.copy()
    values[0, 0, 0] = np.nan
    sat = aj.satisfaction(replace(whole, values=values), scale="fine", mappings=[STEEP])
    assert sat.mappings == (STEEP,)
    assert sat.n_queries[:, 0].tolist() == [2, 3]
    assert sat.mean[0, 0] == pytest.approx(STEEP([0.4, 0.6]).mean())
    assert sat.success[0, 0] == 0.5


def test_a_measure_without_a_mapping_is_said_so_and_the_rest_goes_on() -> None:
    eff = aj.evaluate(aj.demo(queries=8, depth=5), ["nDCG@5", "CG@5"])
    sat = aj.satisfaction(eff)
    assert sat.measures == ("CG@5",)
    assert sat.missing[0].startswith("no satisfaction mapping for nDCG@5 on fine; known on fine: CG@5")
    assert sat.missing[0] in " ".join(str(sat).split())
    assert sat.p_sat.shape == (8, len(eff.systems), 1)
    assert sat.to_polars().height == len(eff.systems)
    with pytest.raises(aj.AdjudgeError, match="No measure with a satisfaction mapping is called 'nDCG@5'"):
        sat.of(eff.systems[0], "nDCG@5")
    with pytest.raises(aj.AdjudgeError, match="No system is called 'nobody'"):
        sat.of("nobody", "CG@5")


def test_effectiveness_without_a_scale_or_any_mapping_gives_an_empty_answer() -> None:
    with pytest.raises(aj.AdjudgeError, match="Scale: expected one of binary, broad, fine"):
        aj.satisfaction(matrix([[0.2, 0.6]]), scale="coarse")
    sat = aj.satisfaction(matrix([[0.2, 0.6], [0.3, 0.1]]))
    assert sat.missing == ("no satisfaction mapping for CG@5: the scale of its judgments is not known",)
    assert sat.rows() == []
    assert str(sat).endswith(sat.missing[0])


def test_one_query_has_a_mean_and_no_interval() -> None:
    row = aj.satisfaction(matrix([[0.2, 0.6]]), scale="fine").of("a", "CG@5")
    assert np.isfinite(row.mean)
    assert np.isnan(row.low)
    assert row.success_low >= 0


@settings(max_examples=40)
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


def test_what_is_unknown_of_a_curve_widens_the_interval_of_the_mean() -> None:
    eff = aj.evaluate(aj.demo(queries=10, depth=5), ["CG@5"])
    known = SatisfactionMapping("CG@5", "fine", "cubic", (0.2, 0.6, 0.0, 0.0))
    unsure = replace(known, covariance=tuple(tuple(0.04 if i == j == 0 else 0.0 for i in range(4)) for j in range(4)))
    sure, wide = (aj.satisfaction(eff, mappings=[mapping]) for mapping in (known, unsure))
    assert np.array_equal(sure.mean, wide.mean)
    half = (sure.high - sure.low) / 2
    inside = (wide.low > 0) & (wide.high < 1)
    assert inside.any()
    # a0 has standard error 0.2 and moves every P(Sat) as much as itself
    assert np.allclose(((wide.high - wide.low) / 2)[inside], np.hypot(half, 1.959964 * 0.2)[inside])


def answers(seed: int, n: int = 1500) -> tuple[Floats, Mask]:
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return x, rng.random(n) < 0.15 + 0.7 * expit(9 * (x - 0.5))


@pytest.mark.parametrize("form", MONOTONE.values(), ids=lambda form: str(form.name))
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_every_monotone_curve_rises_within_0_and_1(form: SatisfactionForm, data: st.DataObject) -> None:
    parameters = [data.draw(st.floats(low, high)) for low, high in zip(form.lowest, form.highest, strict=True)]
    mapping = SatisfactionMapping("CG@5", "fine", form.name, tuple(parameters))
    p = mapping(np.linspace(0, 1, 101))
    assert ((p >= 0) & (p <= 1)).all()
    assert np.diff(p).min() >= -1e-9


@pytest.mark.parametrize("kind", [*MONOTONE, "cubic"])
def test_every_kind_finds_the_curve_that_made_the_answers(kind: str, tmp_path: object) -> None:
    x, y = answers(1, 6000)
    fit = fit_satisfaction(x, y, kind=kind)
    mapping = fit.mapping("CG@5", "fine", source="made up", provenance=(("answers", "6000"),))
    at = np.linspace(0.1, 0.9, 9)
    assert mapping(at) == pytest.approx(0.15 + 0.7 * expit(9 * (at - 0.5)), abs=0.09 if kind == "logistic" else 0.06)
    low, high = satisfaction_interval(mapping, at)
    assert ((low < mapping(at)) & (mapping(at) < high)).all()
    assert 0 < curve_error(mapping, x) < 0.02
    path = f"{tmp_path}/mapping.json"
    write_mappings(Mappings((mapping,)), path)
    assert read_mappings(path).satisfaction == (mapping,)


def test_copies_of_answers_in_their_clusters_change_nothing() -> None:
    x, y = answers(2)
    group = np.arange(len(x)) // 10
    once = fit_satisfaction(x, y, kind="logistic", clusters=group)
    copied = fit_satisfaction(np.tile(x, 3), np.tile(y, 3), kind="logistic", clusters=np.tile(group, 3))
    assert copied.coefficients == pytest.approx(once.coefficients, rel=5e-3)
    assert copied.covariance == pytest.approx(once.covariance, rel=2e-2)


def test_nobody_satisfied_is_not_certainty() -> None:
    x = np.linspace(0, 1, 40)
    mapping = fit_satisfaction(x, np.zeros(40), clusters=np.arange(40)).mapping("CG@5", "fine")
    assert (mapping(x) > 0).all()
    assert mapping(0.5) < 0.05


def test_a_mapping_without_covariance_knows_no_band() -> None:
    mapping = SatisfactionMapping("CG@5", "fine", "cubic", (0.1, 0.2, 0.3, 0.1))
    assert np.isnan(satisfaction_interval(mapping, [0.2, 0.4])).all()
    assert np.isnan(curve_error(mapping, [0.2]))
    assert CURVES["points"].at is None


def test_held_out_prefers_the_family_that_made_the_answers() -> None:
    rng = np.random.default_rng(4)
    x = rng.random(4000)
    y = rng.random(4000) < 0.3 + 0.4 * (x > 0.5)
    scores = {kind: held_out_satisfaction(x, y, kind=kind, folds=5).mean() for kind in ("logistic", "psychometric")}
    assert scores["psychometric"] > scores["logistic"]


def test_two_kinds_of_clusters_are_added_and_what_both_say_is_not_counted_twice() -> None:
    rng = np.random.default_rng(6)
    person, query = np.divmod(np.arange(1200), 30)
    effects = rng.standard_normal(40)[person] + rng.standard_normal(30)[query] + rng.standard_normal(1200)
    scores = effects[:, None]
    both = float(between_clusters(scores, [person, query])[0, 0])
    truth = 40 * 30**2 + 30 * 40**2 + 1200  # variance of the sum: people, queries, answers
    assert both == pytest.approx(truth, rel=0.5)
    assert both > max(float(between_clusters(scores, [kind])[0, 0]) for kind in (person, query))
    with pytest.raises(aj.AdjudgeError, match="clusters of one or two kinds, got 3"):
        between_clusters(scores, [person, query, person])


def test_one_cluster_alone_tells_nothing() -> None:
    assert np.isnan(widened(np.eye(2), [np.zeros(5, dtype=np.int64)])).all()
    fit = fit_satisfaction([0.1, 0.9, 0.5], [0, 1, 1], kind="logistic", clusters=[0, 0, 0])
    assert fit.mapping("CG@5", "fine").covariance == ()


def test_no_cluster_is_on_both_sides_and_every_answer_is_held_out_once() -> None:
    rng = np.random.default_rng(7)
    person, query = rng.integers(0, 12, 300), rng.integers(0, 9, 300)
    times = np.zeros(300)
    for fit_on, out in blocks((person, query), 300, 4, rng):
        times += out
        assert not set(person[fit_on]) & set(person[out])
        assert not set(query[fit_on]) & set(query[out])
    assert (times == 1).all()


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0.1], [1], "expected as many answers as lists or pairs, 2 or more"),
        ([0.1, 1.2], [1, 0], r"expected effectiveness in \[0, 1\]"),
        ([0.1, 0.2], [1, 2], "answers 0 or 1"),
        ([0.1, 0.9, 0.12], [0, 1, 0], "a cubic needs lists in 4 bins of effectiveness or more, got 2"),
    ],
)
def test_impossible_answers_are_refused(x: list[float], y: list[float], message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        fit_satisfaction(x, y, kind="cubic")


def test_a_covariance_is_in_no_direction_less_than_the_likelihood_has_it() -> None:
    """Information of a logistic curve: Σ p (1 - p) (1, x)' (1, x)."""
    x, y = answers(3, 400)
    at = np.array([-1.0, 2.0])
    p, rows = expit(at[0] + at[1] * x), np.stack([np.ones_like(x), x], axis=1)
    least = np.linalg.inv((rows * (p * (1 - p))[:, None]).T @ rows)

    def larger(spread: Floats) -> Floats:
        return no_less_than_model(spread, satisfaction_model("logistic"), Data(x, y.astype(np.int64)), at)

    assert larger(np.zeros((2, 2))) == pytest.approx(least, rel=1e-6)
    assert larger(4 * least) == pytest.approx(4 * least, rel=1e-6)
    wide = np.diag([9 * least[0, 0], least[1, 1] / 9])
    for smaller in (wide, least):
        assert np.linalg.eigvalsh(larger(wide) - smaller).min() >= -1e-6 * least.max()
    assert np.isnan(larger(np.full((2, 2), np.nan))).all()
