"""G- and D-studies: worked by hand, recovered from simulations, and true to what the formulas promise."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, Design, mean_squares
from adjudge.stats.gtheory.dstudy import DStudy, delta_interval, resampled_variances
from adjudge.stats.gtheory.gstudy import GStudy

TRUTH = {"s": 1.0, "q": 1.5, "a": 0.8, "sq": 1.2, "sa": 0.6, "qa": 0.7, "sqa": 0.9}  # by effect, in simulations


def simulated(rng: np.random.Generator, design: Design, n_q: int, n_s: int, n_a: int = 1) -> Floats:
    """Normal effects with the variances of TRUTH, one independent draw for every level of every effect."""
    shape = (n_q, n_s, n_a)
    values = np.zeros(shape)
    for effect in design.effects:
        levels = tuple(n if facet in effect.facets else 1 for n, facet in zip(shape, "qsa", strict=True))
        values = values + math.sqrt(TRUTH[effect.facets]) * rng.normal(size=levels)
    return values if design.has_assessors else values[:, :, 0]


def studied(design: Design, variances: Iterable[float], n_queries: int = 20) -> GStudy:
    """A study whose variances are known, as if from data."""
    return GStudy(design, np.array(list(variances), dtype=np.float64), 10, n_queries, 1, "given", "CG@5")


def test_variances_below_0_are_set_to_0_after_all_are_solved_and_named() -> None:
    cube = np.array([[[2.0, 4], [5, 9]], [[1, 1], [6, 4]], [[3, 7], [7, 8]]])
    study = aj.gstudy(cube)
    assert study.design is CROSSED
    assert (study.n_systems, study.n_queries, study.n_assessors, study.method) == (2, 3, 2, "ANOVA")
    solved = mean_squares(cube, CROSSED).variances()
    assert study.variances == pytest.approx(np.maximum(solved, 0.0), abs=1e-12)
    assert study.negative == ("system × query", "system × assessor")
    note = "Estimated below 0 and set to 0: system × query, system × assessor."
    assert study.notes == (note,)
    assert str(study).splitlines()[-1] == note
    assert study.to_dict()["negative"] == list(study.negative)


def test_a_two_way_example_comes_out_as_worked_by_hand() -> None:
    """Two systems on three queries, thesis eq 6.3 to 6.7."""
    # means: systems 2 and 6, queries 2, 5, 5, all 4; residuals 0 0, -1 1, 1 -1
    ms_s, ms_q, ms_e = 3 * (4 + 4) / 1, 2 * (4 + 1 + 1) / 2, 4 / 2
    study = aj.gstudy([[0, 4], [2, 8], [4, 6]])
    var_s, var_q, var_e = (ms_s - ms_e) / 3, (ms_q - ms_e) / 2, ms_e
    assert study.variances == pytest.approx([var_s, var_q, var_e])
    assert study.fractions() == pytest.approx({"system": 22 / 34, "query": 6 / 34, "residual": 6 / 34})
    assert (study.var_system, study.total) == pytest.approx((22 / 3, 34 / 3))
    found = study.dstudy(5, target=[0.9, 0.99])
    assert found.rows[0].e_rho2 == pytest.approx(var_s / (var_s + var_e / 5))
    assert found.rows[0].phi == pytest.approx(var_s / (var_s + (var_q + var_e) / 5))
    for target in (0.9, 0.99):
        odds = target / (1 - target)
        assert found.need("e_rho2", target=target).n_queries == math.ceil(odds * var_e / var_s)
        assert found.need("phi", target=target).n_queries == math.ceil(odds * (var_q + var_e) / var_s)


# What the formulas of thesis 6.4, 6.5, 6.9 and 6.10 say, and Brennan's for assessors who are crossed.


def averaged(v: dict[str, float], system: str, how: str, n_q: float, n_a: float) -> float:
    """Variance of the effects of queries and assessors, ``system`` being s for those that involve systems."""
    query, assessor, both = (v["".join(f for f in "sqa" if f in system + facets)] for facets in ("q", "a", "qa"))
    return {
        "two-way": query / n_q,
        "crossed": query / n_q + assessor / n_a + both / (n_q * n_a),
        "nested": query / n_q + both / (n_q * n_a),
        "nested from crossed": query / n_q + (assessor + both) / (n_q * n_a),
    }[how]


def relative_error(v: dict[str, float], how: str, n_q: float, n_a: float) -> float:
    return averaged(v, "s", how, n_q, n_a)


def absolute_error(v: dict[str, float], how: str, n_q: float, n_a: float) -> float:
    return relative_error(v, how, n_q, n_a) + averaged(v, "", how, n_q, n_a)


def _study_of(v: dict[str, float], how: str) -> GStudy:
    design = {"two-way": SYSTEMS_QUERIES, "nested": NESTED}.get(how, CROSSED)
    return studied(design, (v[effect.facets] for effect in design.effects))


def _decide(v: dict[str, float], how: str, n_q: int, n_a: int, target: float) -> DStudy:
    design: Any = "nested" if how == "nested from crossed" else "auto"
    return _study_of(v, how).dstudy(n_q, assessors=n_a, target=target, design=design, interval="none")


hows = st.sampled_from(["two-way", "crossed", "nested", "nested from crossed"])
a_variance = st.one_of(st.just(0.0), st.floats(1e-3, 10))
components = st.fixed_dictionaries(dict.fromkeys(TRUTH, a_variance)).filter(lambda v: sum(v.values()) > 0)


@settings(max_examples=80)
@given(v=components, how=hows, n_q=st.integers(1, 500), n_a=st.integers(1, 6))
def test_reliability_is_a_share_that_grows_with_queries_and_assessors(
    v: dict[str, float], how: str, n_q: int, n_a: int
) -> None:
    n_a = 1 if how == "two-way" else n_a
    row = _decide(v, how, n_q, n_a, 0.9).rows[0]
    errors = relative_error(v, how, n_q, n_a), absolute_error(v, how, n_q, n_a)
    shares = [v["s"] / (v["s"] + error) if v["s"] > 0 else 0.0 for error in errors]
    assert (row.e_rho2, row.phi) == pytest.approx(shares)
    assert (row.relative_error**2, row.absolute_error**2) == pytest.approx(errors)
    assert 0 <= row.phi <= row.e_rho2 * (1 + 1e-12) <= 1 + 1e-12
    assert 0 <= row.tau_again <= row.tau + 1e-12 <= 1 + 1e-12
    larger = [(n_q + 1, n_a)] if how == "two-way" else [(n_q + 1, n_a), (n_q, n_a + 1)]
    for sizes in larger:
        more = _decide(v, how, *sizes, 0.9).rows[0]
        assert more.e_rho2 >= row.e_rho2 - 1e-12
        assert more.phi >= row.phi - 1e-12


@settings(max_examples=80)
@given(v=components, how=hows, n_a=st.integers(1, 6), target=st.floats(0.05, 0.999))
def test_queries_needed_are_the_fewest_that_reach_the_target(
    v: dict[str, float], how: str, n_a: int, target: float
) -> None:
    n_a = 1 if how == "two-way" else n_a
    found = _decide(v, how, 10, n_a, target)
    for index, error in (("e_rho2", relative_error), ("phi", absolute_error)):
        n = found.need(index).n_queries

        def reached(n_q: float, error: Any = error) -> float:
            return v["s"] / (v["s"] + error(v, how, n_q, n_a)) if v["s"] > 0 else 0.0

        limit = reached(1e15)
        assume(abs(limit - target) > 1e-6)  # what is a hair's breadth from possible may be either
        if limit < target:
            assert n is None
        else:
            assert n is not None
            assert n >= 1
            assert reached(n) >= target - 1e-8
            assert n == 1 or reached(n - 1) < target + 1e-8


def test_what_no_query_shrinks_may_put_a_target_out_of_reach() -> None:
    v = {"s": 1.0, "q": 1.0, "a": 0.0, "sq": 1.0, "sa": 0.5, "qa": 0.0, "sqa": 0.1}
    found = _study_of(v, "crossed").dstudy(assessors=[1, 3, 10, 11], target=0.95, interval="none")
    # σ²_s (1 - t) / t = .0526 must be above σ²_sa / n_a: from 10 assessors on
    needs = [found.need("e_rho2", assessors=n).n_queries for n in (1, 3, 10, 11)]
    assert needs[:2] == [None, None]
    assert needs[2] == math.ceil((1.0 + 0.01) / (0.05 / 0.95 - 0.05))
    assert str(found.need("e_rho2")) == "Eρ² ≥ 0.95: no number of queries is enough"
    assert str(found.need("e_rho2", assessors=3)) == "Eρ² ≥ 0.95: no number of queries is enough with 3 assessors"
    assert found.to_dict()["needed"][0]["n_queries"] is None
    nested = _study_of(v, "crossed").dstudy(design="nested", target=0.95, interval="none")
    assert str(nested.design) == "systems x (assessors in queries)"
    assert nested.need("e_rho2").n_queries == math.ceil(1.6 * 0.95 / 0.05)


# Intervals.


def f_ends(matrix: Floats, n_q_new: int, p: float) -> tuple[float, float]:
    """Ends of the intervals for Eρ² (Feldt) and Φ (Arteaga et al.) as gt4ireval computes them, with SciPy's F."""
    n_q, n_s = matrix.shape
    of_s, of_q, m = matrix.mean(axis=0), matrix.mean(axis=1), matrix.mean()
    df_s, df_q = n_s - 1, n_q - 1
    df_e = df_s * df_q
    ms_s, ms_q = n_q * ((of_s - m) ** 2).sum() / df_s, n_s * ((of_q - m) ** 2).sum() / df_q
    ms_e = ((matrix - of_s - of_q[:, None] + m) ** 2).sum() / df_e

    def f(df: float) -> float:
        return float(scipy.stats.chi2.ppf(p, df_s) / df_s if math.isinf(df) else scipy.stats.f.ppf(p, df_s, df))

    ratio = (ms_s / (ms_e * f(df_e)) - 1) / n_q
    low = ms_s**2 - f(math.inf) * ms_s * ms_e + (f(math.inf) - f(df_e)) * f(df_e) * ms_e**2
    low /= (n_s - 1) * f(math.inf) * ms_s * ms_e + f(df_q) * ms_s * ms_q
    one_query = n_s * low / (n_s * low + n_q)
    return n_q_new * ratio / (1 + n_q_new * ratio), n_q_new * one_query / (1 + (n_q_new - 1) * one_query)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_f_intervals_are_those_of_gt4ireval(confidence: float) -> None:
    matrix = simulated(np.random.default_rng(1), SYSTEMS_QUERIES, 25, 8)
    found = aj.gstudy(matrix).dstudy([10, 25, 80], confidence=confidence, target=0.9)
    assert found.interval == "f"
    tail = (1 - confidence) / 2
    for row in found.rows:
        low, high = f_ends(matrix, row.n_queries, 1 - tail), f_ends(matrix, row.n_queries, tail)
        assert (row.e_rho2_low, row.phi_low) == pytest.approx(low)
        assert (row.e_rho2_high, row.phi_high) == pytest.approx(high)
    one_low, one_high = f_ends(matrix, 1, 1 - tail), f_ends(matrix, 1, tail)
    for i, index in enumerate(("e_rho2", "phi")):
        plan = found.need(index)
        assert plan.low == math.ceil(9 * (1 - one_high[i]) / one_high[i])
        assert plan.high == math.ceil(9 * (1 - one_low[i]) / one_low[i])


def test_f_intervals_that_would_fall_below_0_end_there() -> None:
    matrix = np.random.default_rng(3).random((6, 4))
    assert min(f_ends(matrix, 6, 0.975)) < 0
    found = aj.gstudy(matrix).dstudy()
    assert (found.rows[0].e_rho2_low, found.rows[0].phi_low) == (0, 0)
    assert (found.need("e_rho2").high, found.need("phi").high) == (None, None)


def test_systems_whose_means_are_all_but_equal_have_no_reliability_by_either_index() -> None:
    """The quadratic of Arteaga et al. has a second root, below which it would give Φ an upper end near 1."""
    rng = np.random.default_rng(4)
    first = rng.random(21)
    row = aj.gstudy(np.array([first, 1 - first + 1e-4 * rng.random(21)])).dstudy().rows[0]
    assert (row.e_rho2, row.e_rho2_high, row.phi, row.phi_high) == (0, 0, 0, 0)


def test_without_residual_or_systems_intervals_do_not_divide_by_0() -> None:
    additive = aj.gstudy(np.add.outer([0.1, 0.2, 0.4], [0.0, 0.3, 0.5])).dstudy()
    assert additive.study.negative == (), "0 is not below 0"
    assert (additive.rows[0].e_rho2_low, additive.rows[0].e_rho2, additive.rows[0].e_rho2_high) == (1, 1, 1)
    assert 0 < additive.rows[0].phi_low < additive.rows[0].phi < additive.rows[0].phi_high < 1
    only_systems = aj.gstudy(np.add.outer([0.0, 0.0, 0.0], [0.0, 0.3])).dstudy()
    assert (only_systems.rows[0].phi_low, only_systems.rows[0].phi_high) == (1, 1)
    only_queries = aj.gstudy(np.add.outer([0.0, 0.1, 0.4], [0.3, 0.3])).dstudy()
    assert (only_queries.rows[0].e_rho2, only_queries.rows[0].e_rho2_high, only_queries.rows[0].phi_high) == (0, 0, 0)


def test_bootstrap_intervals_hold_the_truth_most_often() -> None:
    n_q, trials, rng, hits = 30, 150, np.random.default_rng(2013), np.zeros(2)
    s, q, sq = TRUTH["s"], TRUTH["q"], TRUTH["sq"]
    truth = s / (s + sq / n_q), s / (s + (q + sq) / n_q)
    for trial in range(trials):
        study = aj.gstudy(simulated(rng, SYSTEMS_QUERIES, n_q, 15))
        row = study.dstudy(interval="bootstrap", seed=trial, resamples=200).rows[0]
        hits += row.e_rho2_low <= truth[0] <= row.e_rho2_high, row.phi_low <= truth[1] <= row.phi_high
    assert ((hits > 0.85 * trials) & (hits <= trials)).all()


def test_bootstrap_variances_average_to_the_estimates() -> None:
    """Within the error of the draws; components are far enough from 0 that none falls below."""
    values = simulated(np.random.default_rng(4), CROSSED, 60, 40, 5)
    drawn = resampled_variances(values, CROSSED, over="both", resamples=1500, seed=1)
    far = drawn.min(axis=0) > 0
    assert far[[0, 1, -1]].all()
    wanted, error = mean_squares(values, CROSSED).variances(), drawn.std(axis=0) / math.sqrt(1500)
    assert (np.abs(drawn.mean(axis=0) - wanted)[far] < 4 * error[far]).all()


@pytest.mark.parametrize(
    ("over", "varies"),
    [("queries", [False, True, False]), ("systems", [True, False, False]), ("both", [True, True, False])],
)
def test_the_bootstrap_draws_what_it_is_told_to(over: Any, varies: list[bool]) -> None:
    """With effects that only add up, drawing queries leaves the variance of systems alone, and the other way round."""
    additive = np.add.outer([0.1, 0.2, 0.4, 0.9], [0.0, 0.3, 0.5])
    drawn = resampled_variances(additive, SYSTEMS_QUERIES, over=over, resamples=100, seed=1)
    assert (drawn.std(axis=0) > 1e-6).tolist() == varies


def test_bootstrap_intervals_depend_on_nothing_but_the_seed(design: Design) -> None:
    study = aj.gstudy(
        simulated(np.random.default_rng(6), design, 12, 6, 3), assessors="nested" if design is NESTED else "auto"
    )
    assert study.design is design
    options: Any = {"interval": "bootstrap", "resamples": 400}
    first, again, other = (study.dstudy([5, 20], seed=seed, **options) for seed in (7, 7, 8))
    assert first.rows == again.rows
    assert first.needed == again.needed
    assert first.rows != other.rows
    for row in first.rows:
        assert row.e_rho2_low <= row.e_rho2 <= row.e_rho2_high
        assert row.phi_low <= row.phi <= row.phi_high
    for plan in first.needed:
        assert (plan.low or math.inf) <= (plan.n_queries or math.inf) <= (plan.high or math.inf)


def test_the_interval_is_the_first_that_the_data_allow() -> None:
    rng = np.random.default_rng(8)
    two_way, crossed = simulated(rng, SYSTEMS_QUERIES, 10, 4), simulated(rng, CROSSED, 10, 4, 2)
    assert aj.gstudy(two_way).dstudy().interval == "f"
    assert aj.gstudy(crossed).dstudy(resamples=100).interval == "bootstrap"
    none = aj.gstudy(two_way).dstudy(interval="none")
    assert math.isnan(none.rows[0].e_rho2_low)
    assert (none.need("phi").low, none.need("phi").high) == (None, None)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_delta_intervals_are_normal_on_the_logit_scale(confidence: float) -> None:
    """For Eρ² = σ²_s / (σ²_s + σ²_e / n) the logit is log(n σ²_s / σ²_e), whose variance the delta method gives."""
    variances, n = np.array([0.5, 0.3, 0.8]), 25
    root = np.random.default_rng(9).normal(size=(3, 3))
    covariance = 0.01 * root @ root.T
    gradient = np.array([1 / 0.5, 0.0, -1 / 0.8])
    half = scipy.stats.norm.ppf((1 + confidence) / 2) * math.sqrt(gradient @ covariance @ gradient)
    centre = math.log(n * 0.5 / 0.8)

    def share(v: Floats) -> float:
        return float(v[0] / (v[0] + v[2] / n))

    found = delta_interval(share, variances, covariance, confidence=confidence)
    ends = [1 / (1 + math.exp(-(centre + sign * half))) for sign in (-1, 1)]
    assert found == pytest.approx(ends, rel=1e-3)
    assert all(map(math.isnan, delta_interval(lambda v: 1.0, variances, covariance, confidence=confidence)))


def test_empty_cells_are_said_aloud_and_kept_in_the_study() -> None:
    values = simulated(np.random.default_rng(10), SYSTEMS_QUERIES, 20, 6)
    values[3, 2] = values[7, 0] = np.nan
    said = "2 of 120 cells are empty: variances by restricted maximum likelihood, not by ANOVA."
    with pytest.warns(aj.AdjudgeWarning, match=f"^{said}$") as caught:
        study = aj.gstudy(values)
    assert caught[0].filename == __file__
    assert (study.method, study.notes) == ("REML", (said,))
    assert study.mean_squares is None
    row = study.dstudy().rows[0]
    assert study.dstudy().interval == "delta"
    assert 0 < row.e_rho2_low < row.e_rho2 < row.e_rho2_high < 1
    whole = aj.gstudy(simulated(np.random.default_rng(10), SYSTEMS_QUERIES, 20, 6))
    assert study.variances == pytest.approx(whole.variances, rel=0.1)
    plan = study.dstudy(target=0.9).need("phi")
    assert plan.low is not None
    assert plan.n_queries is not None
    assert plan.high is not None
    assert plan.low < plan.n_queries < plan.high
    by_size = study.dstudy([plan.low - 1, plan.low, plan.high - 1, plan.high]).rows
    assert by_size[0].phi_high < 0.9 <= by_size[1].phi_high
    assert by_size[2].phi_low < 0.9 <= by_size[3].phi_low


def test_uneven_assessors_are_said_aloud_with_their_numbers() -> None:
    values = simulated(np.random.default_rng(11), NESTED, 12, 6, 3)
    values[:4, :, 1:] = np.nan
    with pytest.warns(aj.AdjudgeWarning, match="Queries have 1 to 3 assessors: variances by restricted maximum"):
        study = aj.gstudy(values, assessors="nested")
    assert study.n_assessors == 2  # harmonic mean of 1 four times and 3 eight times: 12 / (4 + 8/3) = 1.8
    assert study.size == "6 systems x 12 queries, 1 to 3 assessors per query"
    values[5, 2, 0] = np.nan
    with pytest.warns(aj.AdjudgeWarning, match=r"^1 of 168 cells are empty: "):  # 4 x 6 x 1 + 8 x 6 x 3
        aj.gstudy(values, assessors="nested")


# What is asked for in the wrong words.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 1.0}, r"'target' must be in \(0, 1\), got 1"),
        ({"target": [0.9, -0.1]}, r"'target' must be in \(0, 1\), got -0\.1"),
        ({"target": []}, "'target' must have at least one number, got none"),
        ({"queries": [10, 2.5]}, r"'queries' must be a whole number from 1 to .*, got 2\.5"),
        ({"queries": 10**16}, "'queries' must be a whole number from 1 to 1,000,000,000,000,000, got 1"),
        ({"assessors": 0}, "'assessors' must be a whole number from 1 to .*, got 0"),
        ({"assessors": 2}, "Expected a G-study with assessors to plan for 2 of them, got systems x queries: "),
        ({"interval": "delta"}, "Delta intervals are for data with empty cells; ask for f or bootstrap"),
        ({"resample": "queries"}, "'resample' is for bootstrap intervals, got queries with interval f"),
        ({"design": "nested"}, "Expected a G-study with assessors to plan nested ones, got systems x queries: "),
        ({"design": "crossed"}, "Expected a G-study with assessors to plan crossed ones, got systems x queries: "),
    ],
)
def test_a_decision_that_cannot_be_made_is_refused(options: dict[str, Any], message: str) -> None:
    study = aj.gstudy([[0.2, 0.5, 0.6], [0.3, 0.5, 0.9], [0.1, 0.6, 0.6]])
    with pytest.raises(aj.AdjudgeError, match=message):
        study.dstudy(**options)


def test_decisions_that_the_study_says_nothing_of_are_refused() -> None:
    crossed = simulated(np.random.default_rng(13), CROSSED, 6, 4, 2)
    with pytest.raises(aj.AdjudgeError, match="Assessors nested in queries say nothing of the same assessors"):
        aj.gstudy(crossed, assessors="nested").dstudy(design="crossed")
    with pytest.raises(aj.AdjudgeError, match="F intervals are for complete systems x queries, got systems x quer"):
        aj.gstudy(crossed).dstudy(interval="f")
    crossed[0, 0, 0] = np.nan
    with pytest.warns(aj.AdjudgeWarning, match="1 of 48 cells are empty"):
        study = aj.gstudy(crossed)
    with pytest.raises(aj.AdjudgeError, match="Bootstrap intervals need every cell filled; with empty ones ask for"):
        study.dstudy(interval="bootstrap")
    with pytest.raises(aj.AdjudgeError, match=r"Nothing was computed for 'phi', target 0\.5, assessors"):
        study.dstudy().need("phi", target=0.5)


def test_studies_print_as_small_tables_and_turn_into_plain_values() -> None:
    study = aj.gstudy([[0, 4], [2, 8], [4, 6]])
    assert str(study).splitlines()[0] == "G-study of effectiveness: 2 systems x 3 queries, ANOVA"
    sizes: list[Any] = [3, 3.0, np.float64(10)]  # numbers may be whole floats
    found = study.dstudy(sizes, interval="none")
    assert [row.n_queries for row in found.rows] == [3, 10]
    lines = str(found).splitlines()
    assert lines[0] == "D-study of effectiveness"
    assert lines[2].split() == ["3", "0.917", "0.846", "0.81", "0.816", "1.155"]
    assert lines[-1] == "Φ ≥ 0.95: 11 queries"
    content = json.loads(json.dumps({**study.to_dict(), **found.to_dict()}))
    assert content["components"][0] == {"effect": "system", "variance": pytest.approx(22 / 3), "share": 22 / 34}
    assert content["reliability"][0]["e_rho2"] == pytest.approx(11 / 12)
    people = aj.gstudy(simulated(np.random.default_rng(14), CROSSED, 6, 4, 2)).dstudy(assessors=[1, 2], resamples=100)
    assert str(people).splitlines()[1].split()[:2] == ["queries", "assessors"]
    assert people.study.size == "4 systems x 6 queries x 2 assessors"


def test_variances_are_found_by_facets_and_by_name_and_no_other_word() -> None:
    study = aj.gstudy(np.random.default_rng(1).normal(size=(20, 5)) + np.arange(5))
    assert study.variance("system") == study.variance("s") == study.var_system > 0
    assert study.variance("residual") == study.variance("sq") > 0
    assert study.variance("assessor") == study.variance("a") == 0
    with pytest.raises(aj.AdjudgeError, match=r"No effect is called 'systems'. Known: s \(system\), q \(query\), sq"):
        study.variance("systems")
