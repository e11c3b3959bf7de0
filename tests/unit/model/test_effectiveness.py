"""Effectiveness, also by assessor: slices, prints, converts and refuses what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.measures import parse_measure
from adjudge.model.effectiveness import AssessedEffectiveness
from adjudge.model.provenance import Provenance
from adjudge.stats.intervals import t_interval


@pytest.fixture
def eff() -> aj.Effectiveness:
    return aj.evaluate(aj.demo(queries=20, depth=5), ["CG@5", "nDCG@5", "P(rel=40)@3"])


def test_a_measure_is_taken_by_name_or_by_itself(eff: aj.Effectiveness) -> None:
    assert eff["nDCG@5"].measures == ("nDCG@5",)
    assert (eff[aj.parse_measure("nDCG@5")].matrix() == eff.values[:, :, 1]).all()
    assert eff[["CG@5", "nDCG@5"]].measures == ("CG@5", "nDCG@5")
    with pytest.raises(aj.AdjudgeError, match=r"'CG@10'.*'CG@5'"):
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


def test_matrices_computed_elsewhere_are_welcome_unless_they_hold_no_numbers() -> None:
    eff = aj.Effectiveness.from_matrix(np.array([[0.1, 0.2]]), systems=["a", "b"])
    assert eff.mean() == {"effectiveness": {"a": 0.1, "b": 0.2}}
    with pytest.raises(aj.AdjudgeError, match=r"finite numbers.*got nan for query 1, system 2"):
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
    with pytest.raises(aj.AdjudgeError, match=r"'ZX2'.*'ZX1'"):
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


QUERIES, SYSTEMS, ASSESSORS, MEASURES = ("q1", "q2", "q3"), ("s1", "s2"), ("ann", "bob"), ("AP", "nDCG@5")


@pytest.fixture
def by_assessor() -> AssessedEffectiveness:
    """Every value tells its place, q.s.a.m in digits; bob did not judge q2."""
    q, s, a, m = np.indices((3, 2, 2, 2)) + 1
    values = (1000.0 * q + 100 * s + 10 * a + m) / 10_000
    values[1, :, 1] = np.nan
    return AssessedEffectiveness(
        values,
        QUERIES,
        SYSTEMS,
        ASSESSORS,
        MEASURES,
        notes=("Something.",),
        provenance=Provenance(settings={"partial": "drop"}),
        canonical=lambda text: str(parse_measure(text)),
    )


def test_a_measure_is_taken_by_any_of_its_spellings(by_assessor: AssessedEffectiveness) -> None:
    for name in ("nDCG@5", "ndcg_cut_5", parse_measure("nDCG@5"), ["nDCG@5"]):
        part = by_assessor[name]
        assert part.measures == ("nDCG@5",)
        assert np.array_equal(part.values[..., 0], by_assessor.values[..., 1], equal_nan=True)
    assert by_assessor[["nDCG@5", "map"]].measures == ("nDCG@5", "AP")
    assert by_assessor.array("AP").shape == (3, 2, 2)
    assert by_assessor.array("AP")[2, 1, 0] == 0.3211
    with pytest.raises(AdjudgeError, match=r"Which measure\? Name one of AP, nDCG@5"):
        by_assessor.array()


def test_a_selection_comes_in_the_order_asked_for_and_keeps_what_made_it(
    by_assessor: AssessedEffectiveness,
) -> None:
    part = by_assessor.select(queries=["q3", "q1"], systems=["s2"], assessors=["bob", "ann"], measures=["nDCG@5"])
    assert (part.queries, part.systems, part.assessors) == (("q3", "q1"), ("s2",), ("bob", "ann"))
    assert part.array()[:, 0].tolist() == [[0.3222, 0.3212], [0.1222, 0.1212]]
    assert (part.notes, part.provenance) == (by_assessor.notes, by_assessor.provenance)
    assert part["ndcg_cut_5"].measures == ("nDCG@5",)
    assert by_assessor.select(assessors="bob").assessors == ("bob",)
    with pytest.raises(AdjudgeError, match=r"'anne'.*'ann'"):
        by_assessor.select(assessors=["anne"])


def test_the_long_table_holds_every_value_once_and_no_empty_ones(by_assessor: AssessedEffectiveness) -> None:
    assert by_assessor.cells.tolist() == [[True, True], [True, False], [True, True]]
    table = by_assessor.to_polars()
    assert table.columns == ["run", "query_id", "assessor", "measure", "value"]
    assert table.height == 5 * 2 * 2
    assert not table["value"].is_nan().any()
    for run, query, assessor, measure, value in table.iter_rows():
        place = (QUERIES.index(query), SYSTEMS.index(run), ASSESSORS.index(assessor), MEASURES.index(measure))
        assert value == by_assessor.values[place]
    assert table["measure"].to_list() == ["AP"] * 10 + ["nDCG@5"] * 10
    nothing = by_assessor.select(queries=["q2"], assessors=["bob"]).to_polars()
    assert nothing.height == 0
    assert nothing.schema == table.schema


def test_it_prints_the_mean_of_each_system_over_all_cells(by_assessor: AssessedEffectiveness) -> None:
    assert str(by_assessor).splitlines() == [
        "Effectiveness by 2 assessors on 3 queries, mean of 5 of 6 cells",
        "system      AP  nDCG@5",
        "s2      0.2215  0.2216",
        "s1      0.2115  0.2116",
    ]
    assert str(by_assessor.select(queries=["q1"], assessors=["ann"])).startswith(
        "Effectiveness by 1 assessor on 1 query, mean"
    )
    assert "–" in str(by_assessor.select(queries=["q2"], assessors=["bob"]))
    assert repr(by_assessor) == "<AssessedEffectiveness: 3 queries x 2 systems x 2 assessors x 2 measures (AP, nDCG@5)>"


def test_a_shape_or_a_name_that_does_not_fit_is_refused() -> None:
    with pytest.raises(
        AdjudgeError,
        match=r"Effectiveness.*queries x systems x assessors x measures \(3, 2, 2, 2\).*got \(3, 2, 2\)",
    ):
        AssessedEffectiveness(np.zeros((3, 2, 2)), QUERIES, SYSTEMS, ASSESSORS, MEASURES)
    with pytest.raises(AdjudgeError, match=r"Effectiveness.*each assessor once.*got 'ann' twice"):
        AssessedEffectiveness(np.zeros((3, 2, 2, 2)), QUERIES, SYSTEMS, ("ann", "ann"), MEASURES)
