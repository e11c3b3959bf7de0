"""Effectiveness by assessor slices, prints, converts and refuses what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.errors import AdjudgeError
from adjudge.measures import parse_measure
from adjudge.model.effectiveness import AssessedEffectiveness
from adjudge.model.provenance import Provenance

QUERIES, SYSTEMS, ASSESSORS, MEASURES = ("q1", "q2", "q3"), ("s1", "s2"), ("ann", "bob"), ("AP", "nDCG@5")


@pytest.fixture
def eff() -> AssessedEffectiveness:
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


def test_a_measure_is_taken_by_any_of_its_spellings(eff: AssessedEffectiveness) -> None:
    for name in ("nDCG@5", "ndcg_cut_5", parse_measure("nDCG@5"), ["nDCG@5"]):
        one = eff[name]
        assert one.measures == ("nDCG@5",)
        assert np.array_equal(one.values[..., 0], eff.values[..., 1], equal_nan=True)
    assert eff[["nDCG@5", "map"]].measures == ("nDCG@5", "AP")


def test_a_measure_that_is_not_there_is_refused(eff: AssessedEffectiveness) -> None:
    with pytest.raises(AdjudgeError, match=r"^No measure is called 'nDCG@10'\. Did you mean 'nDCG@5'\?$"):
        eff["nDCG@10"]
    with pytest.raises(AdjudgeError, match=r"^No measure is called 'no such thing'\. "):
        eff["no such thing"]


def test_the_array_of_one_measure_is_queries_by_systems_by_assessors(eff: AssessedEffectiveness) -> None:
    assert eff.array("AP").shape == (3, 2, 2)
    assert eff.array("AP")[2, 1, 0] == 0.3211
    assert np.array_equal(eff["AP"].array(), eff.array("map"), equal_nan=True)
    with pytest.raises(AdjudgeError, match=r"^Which measure\? Name one of AP, nDCG@5\.$"):
        eff.array()


def test_a_selection_comes_in_the_order_asked_for_and_keeps_what_made_it(eff: AssessedEffectiveness) -> None:
    part = eff.select(queries=["q3", "q1"], systems=["s2"], assessors=["bob", "ann"], measures=["nDCG@5"])
    assert (part.queries, part.systems, part.assessors) == (("q3", "q1"), ("s2",), ("bob", "ann"))
    assert part.array()[:, 0].tolist() == [[0.3222, 0.3212], [0.1222, 0.1212]]
    assert (part.notes, part.provenance) == (eff.notes, eff.provenance)
    assert part["ndcg_cut_5"].measures == ("nDCG@5",)
    assert eff.select(assessors="bob").assessors == ("bob",)
    with pytest.raises(AdjudgeError, match=r"^No assessor is called 'anne'\. Did you mean 'ann'\?$"):
        eff.select(assessors=["anne"])


def test_cells_say_who_judged_which_query(eff: AssessedEffectiveness) -> None:
    assert eff.cells.tolist() == [[True, True], [True, False], [True, True]]
    assert eff.n_queries == 3


def test_the_long_table_holds_every_value_once_and_no_empty_ones(eff: AssessedEffectiveness) -> None:
    table = eff.to_polars()
    assert table.columns == ["run", "query_id", "assessor", "measure", "value"]
    assert table.height == 5 * 2 * 2
    assert not table["value"].is_nan().any()
    for run, query, assessor, measure, value in table.iter_rows():
        place = (QUERIES.index(query), SYSTEMS.index(run), ASSESSORS.index(assessor), MEASURES.index(measure))
        assert value == eff.values[place]
    assert table["measure"].to_list() == ["AP"] * 10 + ["nDCG@5"] * 10


def test_the_long_table_of_nothing_has_the_same_columns(eff: AssessedEffectiveness) -> None:
    nothing = eff.select(queries=["q2"], assessors=["bob"]).to_polars()
    assert nothing.height == 0
    assert nothing.schema == eff.to_polars().schema


def test_it_prints_the_mean_of_each_system_over_all_cells(eff: AssessedEffectiveness) -> None:
    assert str(eff).splitlines() == [
        "Effectiveness by 2 assessors on 3 queries, mean of 5 of 6 cells",
        "         AP   nDCG@5",
        "s2   0.2215   0.2216",
        "s1   0.2115   0.2116",
    ]
    assert str(eff.select(queries=["q1"], assessors=["ann"])).startswith("Effectiveness by 1 assessor on 1 query, mean")
    assert "nan" in str(eff.select(queries=["q2"], assessors=["bob"]))
    assert repr(eff) == "<AssessedEffectiveness: 3 queries x 2 systems x 2 assessors x 2 measures (AP, nDCG@5)>"


def test_a_shape_or_a_name_that_does_not_fit_is_refused() -> None:
    with pytest.raises(
        AdjudgeError,
        match=r"^Effectiveness: expected queries x systems x assessors x measures \(3, 2, 2, 2\), got \(3, 2, 2\)$",
    ):
        AssessedEffectiveness(np.zeros((3, 2, 2)), QUERIES, SYSTEMS, ASSESSORS, MEASURES)
    with pytest.raises(AdjudgeError, match=r"^Effectiveness: expected each assessor once, got 'ann' twice$"):
        AssessedEffectiveness(np.zeros((3, 2, 2, 2)), QUERIES, SYSTEMS, ("ann", "ann"), MEASURES)
