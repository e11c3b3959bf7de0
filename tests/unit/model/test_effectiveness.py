"""Effectiveness slices, prints, converts and keeps what it rests on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import adjudge as aj
from adjudge.stats.intervals import t_interval


@pytest.fixture
def eff() -> aj.Effectiveness:
    return aj.evaluate(aj.demo(queries=20, depth=5), ["CG@5", "nDCG@5", "P(rel=40)@3"])


def test_a_measure_is_taken_by_name_or_by_itself(eff: aj.Effectiveness) -> None:
    assert eff["nDCG@5"].measures == ("nDCG@5",)
    assert (eff[aj.parse_measure("nDCG@5")].matrix() == eff.values[:, :, 1]).all()
    assert eff[["CG@5", "nDCG@5"]].measures == ("CG@5", "nDCG@5")
    with pytest.raises(aj.AdjudgeError, match=r"No measure is called 'CG@10'. Did you mean 'CG@5'"):
        eff["CG@10"]
    with pytest.raises(aj.AdjudgeError, match="Which measure"):
        eff.matrix()


def test_a_selection_keeps_values_teams_and_judged_together(eff: aj.Effectiveness) -> None:
    part = eff.select(systems=["ZX1", "KLN1"], queries=eff.queries[5:7])
    assert part.systems == ("ZX1", "KLN1")
    assert part.teams == ("ZX", "KLN")
    assert (part.values[:, 1] == eff.values[5:7, eff.systems.index("KLN1")]).all()
    assert part.judged.shape == part.values.shape
    assert part.provenance == eff.provenance


def test_the_long_tables_hold_every_value_once(eff: aj.Effectiveness) -> None:
    table = eff.to_polars()
    assert table.columns[:4] == ["run", "query_id", "measure", "value"]
    assert table.height == eff.values.size
    row = table.row(20 * 3 + 4, named=True)  # fourth system, fifth query of the first measure
    assert (row["run"], row["query_id"], row["measure"]) == (eff.systems[3], eff.queries[4], "CG@5")
    assert row["value"] == eff.values[4, 3, 0]
    assert eff.to_pandas()["value"].to_list() == table["value"].to_list()


def test_everything_retrieved_by_the_demo_is_judged_at_any_cutoff(eff: aj.Effectiveness) -> None:
    assert (eff.judged == 1).all()


def test_matrices_computed_elsewhere_are_welcome_unless_they_hold_no_numbers() -> None:
    eff = aj.Effectiveness.from_matrix(np.array([[0.1, 0.2]]), systems=["a", "b"])
    assert eff.mean() == {"effectiveness": {"a": 0.1, "b": 0.2}}
    with pytest.raises(aj.AdjudgeError, match="expected finite numbers, got nan for query 1, system 2"):
        aj.Effectiveness.from_matrix([[0.1, np.nan]])
    with pytest.raises(aj.AdjudgeError, match="expected a matrix"):
        aj.Effectiveness.from_matrix([0.1, 0.2])


def test_intervals_agree_with_scipy() -> None:
    values = np.random.default_rng(1).random((30, 4))
    mean, half, n = t_interval(values, confidence=0.9)
    low, high = stats.t.interval(0.9, 29, loc=values.mean(axis=0), scale=stats.sem(values, axis=0))
    assert np.allclose(mean - half, low, atol=1e-12)
    assert np.allclose(mean + half, high, atol=1e-12)
    assert (n == 30).all()


def test_left_out_queries_do_not_count_and_one_query_has_no_interval() -> None:
    mean, half, n = t_interval(np.array([[0.2, 0.5, np.nan], [0.4, np.nan, np.nan]]))
    assert mean[:2].tolist() == pytest.approx([0.3, 0.5])
    assert np.isfinite(half[0])
    assert np.isnan(half[1:]).all()
    assert np.isnan(mean[2])
    assert n.tolist() == [2, 1, 0]


def test_the_summary_is_sorted_and_addressed_by_name(eff: aj.Effectiveness) -> None:
    summary = aj.summarize(eff, sort="nDCG@5")
    means = [row.mean for row in summary["nDCG@5"]]
    assert means == sorted(means, reverse=True)
    row = summary.of("ZX1", "CG@5")
    assert row.mean == pytest.approx(eff.mean()["CG@5"]["ZX1"])
    assert row.low < row.mean < row.high
    assert summary.to_polars().height == 12 * 3
    with pytest.raises(aj.AdjudgeError, match=r"No system is called 'ZX2'. Did you mean 'ZX1'"):
        summary.of("ZX2", "CG@5")


def test_intervals_of_means_end_where_the_measure_does() -> None:
    """Three queries: the t interval of 0.267 is ± 1.147, and no mean of values from 0 to 1 is below 0 or above 1."""
    eff = aj.Effectiveness.from_matrix([[0.8, 0.4], [0.0, 0.41], [0.0, 0.42]], measure="AP", systems=["wide", "narrow"])
    wide, narrow = (aj.summarize(eff).of(name, "AP") for name in ("wide", "narrow"))
    assert (wide.low, wide.high) == (0.0, 1.0)
    assert str(wide) == "wide: AP = 0.267 [0.000, 1.000] (3 queries)"
    assert str(narrow) == "narrow: AP = 0.410 ± 0.025 (3 queries)"
    apart = aj.Effectiveness.from_matrix([[1.0, 0.0], [0.9, 0.0], [0.0, 0.1]])
    (pair,) = aj.compare(apart, test="t").pairs
    truth = stats.ttest_rel(apart.matrix()[:, 0], apart.matrix()[:, 1]).confidence_interval(0.95)
    assert truth.low < -0.9
    assert (pair.low, pair.high) == pytest.approx((max(truth.low, -1.0), 1.0))
    assert pair.sentence("AP").startswith("ΔAP = 0.600 [")


def test_a_measure_that_can_exceed_1_has_intervals_that_can() -> None:
    """The values happen to lie in [0, 1]; means may not be below 0 all the same."""
    judgments = {"q1": {"a": 1}, "q2": {"a": 1, "b": 0}, "q3": {"b": 1, "a": 0}}
    collection = aj.read({"s": {"q1": ["a"], "q2": ["b"], "q3": ["b"]}, "t": {q: ["x"] for q in judgments}}, judgments)
    eff = aj.evaluate(collection, ["CG(ideal=none)@1", "P@1"])
    assert eff.select(systems=["s"]).unbounded == ("CG(ideal=none)@1",)
    summary = aj.summarize(eff)
    sums, share = (summary.of("s", name) for name in eff.measures)
    assert sums.mean == share.mean == pytest.approx(2 / 3)
    assert (sums.low, share.low, share.high) == (0.0, 0.0, 1.0)
    assert sums.high == pytest.approx(2 / 3 + stats.t(2).ppf(0.975) * np.std([1, 0, 1], ddof=1) / np.sqrt(3))
    assert aj.compare(eff["P@1"], test="t").pairs[0].high == 1.0
    assert aj.compare(eff["CG(ideal=none)@1"], test="t").pairs[0].high > 1.0
