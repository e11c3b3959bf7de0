"""Generalizability Theory against published numbers.

Urbano's thesis, tables 6.1 to 6.3 (MIREX 2011); Brennan, Generalizability Theory, 2001: synthetic data sets 3 and 4,
tables 6.2 and 6.5, as the tests of gt4ireval and GeneralizIT quote them; and the mapping from Eρ² to Kendall's tau that
gt4ireval has from TREC data.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.cli import main
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES
from adjudge.stats.gtheory.dstudy import expected_tau

# shares of variance of system, query and residual; Eρ² and queries for .95; Φ and queries for .95
Row = tuple[float, float, float, float, int, float, int]
MIREX_2011: dict[str, Row] = {
    "CG@5": (0.184, 0.511, 0.304, 0.9838, 32, 0.9576, 85),
    "DCG@5": (0.186, 0.501, 0.314, 0.9834, 33, 0.958, 84),
    "nDCG@5": (0.219, 0.412, 0.369, 0.9834, 33, 0.9655, 68),
    "Q@5": (0.214, 0.405, 0.381, 0.9825, 34, 0.9646, 70),
    "RBP(ideal=judged)@5": (0.217, 0.413, 0.37, 0.9833, 33, 0.9653, 69),
    "GAP@5": (0.226, 0.419, 0.355, 0.9845, 30, 0.9669, 66),
    "P(rel=40)@5": (0.167, 0.464, 0.369, 0.9784, 42, 0.9526, 95),
    "AP(rel=40,ideal=judged)@5": (0.174, 0.452, 0.375, 0.9789, 41, 0.9546, 91),
}


@pytest.fixture(scope="module")
def effectiveness(mirex2011: aj.Collection) -> aj.Effectiveness:
    return aj.evaluate(mirex2011, list(MIREX_2011))


@pytest.mark.parametrize("measure", MIREX_2011)
def test_the_numbers_of_mirex_2011_come_out(effectiveness: aj.Effectiveness, measure: str) -> None:
    study = aj.gstudy(effectiveness[measure])
    found = study.dstudy(100, target=0.95)
    row = found.rows[0]
    assert (
        *(round(share, 3) for share in study.fractions().values()),
        round(row.e_rho2, 4),
        found.need("e_rho2").n_queries,
        round(row.phi, 4),
        found.need("phi").n_queries,
    ) == MIREX_2011[measure]


def test_the_same_numbers_come_from_the_command_line(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared_data / "mirex2011"
    files = [str(folder / "judgments.tsv"), str(folder / "runs.tsv"), "--scale", "fine"]
    assert main(["plan", *files, *(word for name in MIREX_2011 for word in ("-m", name)), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)["measures"]
    found = {}
    for measure, study in content.items():
        now = next(row for row in study["reliability"] if row["n_queries"] == 100)
        needed = {plan["index"]: plan["n_queries"] for plan in study["needed"]}
        shares = [round(effect["share"], 3) for effect in study["components"]]
        found[measure] = (*shares, round(now["e_rho2"], 4), needed["e_rho2"], round(now["phi"], 4), needed["phi"])
    assert found == MIREX_2011


def test_the_verdict_on_mirex_2011_is_that_of_the_thesis(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared_data / "mirex2011"
    files = [str(folder / "judgments.tsv"), str(folder / "runs.tsv"), "--scale", "fine"]
    assert main(["plan", *files, "-m", "nDCG@5"]) == 0
    assert capsys.readouterr().out.startswith(
        "33 queries are enough for a stable ranking (Eρ² ≥ 0.95), 68 for stable scores (Φ ≥ 0.95); there are 100 now."
    )


def test_halves_of_mirex_2011_agree_as_much_as_predicted(effectiveness: aj.Effectiveness) -> None:
    """Two collections of 50 queries each, drawn apart from one another, rank the systems alike to some degree."""
    for measure in ("CG@5", "nDCG@5"):
        matrix = effectiveness.matrix(measure)
        predicted = aj.gstudy(matrix).dstudy(50).rows[0].tau_again
        rng, taus = np.random.default_rng(2011), []
        for _ in range(400):
            order = rng.permutation(100)
            halves = matrix[order[:50]].mean(axis=0), matrix[order[50:]].mean(axis=0)
            taus.append(scipy.stats.kendalltau(*halves).statistic)
        assert abs(float(np.mean(taus)) - predicted) < 0.05


# 10 persons (rows), 3 tasks with 4 raters each, who are others for every task: persons are systems, tasks are queries.
SYNTHETIC_4 = """
5 6 5 5 5 3 4 5 6 7 3 3
9 3 7 7 7 5 5 5 7 7 5 2
3 4 3 3 5 3 3 5 6 5 1 6
7 5 5 3 3 1 4 3 5 3 3 5
9 2 9 7 7 7 3 7 2 7 5 3
3 4 3 5 3 3 6 3 4 5 1 2
7 3 7 7 7 5 5 7 5 5 5 4
5 8 5 7 7 5 5 4 3 2 1 1
9 9 8 8 6 6 6 5 5 8 1 1
4 4 4 3 3 5 6 5 5 7 1 1
"""
PERSON, TASK, RATER, PERSON_TASK, REST = 0.4731, 0.3252, 0.6475, 0.5596, 2.3802


@pytest.fixture(scope="module")
def synthetic4() -> Floats:
    return np.array([line.split() for line in SYNTHETIC_4.split("\n") if line], dtype=np.float64)


@pytest.fixture(scope="module")
def nested4(synthetic4: Floats) -> Floats:
    """Queries x systems x assessors."""
    return synthetic4.reshape(10, 3, 4).transpose(1, 0, 2)


def test_brennans_nested_example_comes_out(nested4: Floats) -> None:
    study = aj.gstudy(nested4, assessors="nested")
    assert study.design is NESTED
    assert study.size == "10 systems x 3 queries, 4 assessors per query"
    assert study.variances.round(4).tolist() == [PERSON, TASK, RATER, PERSON_TASK, REST]
    assert study.negative == ()


def test_brennans_raters_are_recognised_as_nested(synthetic4: Floats) -> None:
    """Twelve raters, each with the one task that is theirs, in any order."""
    cube = np.full((3, 10, 12), np.nan)
    for rater in range(12):
        cube[rater // 4, :, rater] = synthetic4[:, rater]
    study = aj.gstudy(cube[:, :, np.random.default_rng(4).permutation(12)])
    assert study.design is NESTED
    assert study.notes == ()
    assert study.variances.round(4).tolist() == [PERSON, TASK, RATER, PERSON_TASK, REST]


@pytest.mark.parametrize(("tasks", "raters"), [(3, 4), (3, 1), (6, 2), (12, 1), (100, 10)])
def test_decisions_from_brennans_nested_example_follow_the_published_components(
    nested4: Floats, tasks: int, raters: int
) -> None:
    relative = PERSON_TASK / tasks + REST / (tasks * raters)  # eq 6.9
    absolute = (TASK + PERSON_TASK) / tasks + (RATER + REST) / (tasks * raters)  # eq 6.10
    study = aj.gstudy(nested4, assessors="nested")
    found = study.dstudy(tasks, assessors=raters, target=0.8, interval="none")
    assert found.rows[0].e_rho2 == pytest.approx(PERSON / (PERSON + relative), abs=2e-4)
    assert found.rows[0].phi == pytest.approx(PERSON / (PERSON + absolute), abs=2e-4)
    for index, error in (("e_rho2", relative), ("phi", absolute)):
        exact = 4 * error * tasks / PERSON
        assert found.need(index).n_queries in (math.ceil(exact * 0.999), math.ceil(exact * 1.001))


def test_brennans_example_as_persons_by_items_comes_out(synthetic4: Floats) -> None:
    """Table 6.2 (estimates, mean squares) and table 6.5 (80 % intervals by Feldt and by Arteaga et al.)."""
    study = aj.gstudy(synthetic4.T)
    assert study.design is SYSTEMS_QUERIES
    assert study.variances.round(4).tolist() == [0.6258, 0.8840, 2.7872]
    assert study.mean_squares is not None
    assert study.mean_squares.values.round(4).tolist() == [10.2963, 11.6273, 2.7872]
    found = study.dstudy(confidence=0.8)
    row = found.rows[0]
    assert found.interval == "f"
    assert [round(x, 3) for x in (row.e_rho2, row.e_rho2_low, row.e_rho2_high)] == [0.729, 0.541, 0.876]
    assert [round(x, 3) for x in (row.phi, row.phi_low, row.phi_high)] == [0.672, 0.457, 0.845]


# 10 persons; 4 items on each of 2 occasions: persons are systems, items are queries, occasions are assessors.
SYNTHETIC_3 = [
    [[2, 4, 5, 5, 4, 4, 2, 3, 0, 6], [2, 6, 5, 5, 4, 6, 2, 6, 5, 6]],
    [[6, 5, 5, 9, 3, 4, 6, 4, 5, 8], [5, 7, 4, 7, 5, 4, 7, 6, 5, 8]],
    [[7, 6, 4, 8, 5, 4, 6, 4, 4, 7], [5, 5, 5, 7, 6, 7, 7, 6, 5, 8]],
    [[5, 7, 6, 6, 6, 7, 5, 5, 5, 6], [5, 7, 5, 6, 4, 8, 5, 4, 3, 6]],
]


def test_brennans_crossed_example_comes_out() -> None:
    study = aj.gstudy(np.array(SYNTHETIC_3).transpose(0, 2, 1))
    assert study.design is CROSSED
    assert study.size == "10 systems x 4 queries x 2 assessors"
    assert study.mean_squares is not None
    published = {"s": 6.9111, "q": 12.4833, "a": 3.2, "sq": 2.0852, "sa": 1.3389, "qa": 2.5, "sqa": 0.9352}
    squares = zip([effect.facets for effect in CROSSED.effects], study.mean_squares.values, strict=True)
    assert {facets: round(float(square), 4) for facets, square in squares} == published
    components = {"s": 0.5528, "q": 0.4417, "a": 0.0074, "sq": 0.5750, "sa": 0.1009, "qa": 0.1565, "sqa": 0.9352}
    assert {facets: round(study.variance(facets), 4) for facets in components} == components
    row = study.dstudy(4, assessors=2, interval="none").rows[0]
    relative = 0.5750 / 4 + 0.1009 / 2 + 0.9352 / 8
    absolute = relative + 0.4417 / 4 + 0.0074 / 2 + 0.1565 / 8
    assert row.e_rho2 == pytest.approx(0.5528 / (0.5528 + relative), abs=1e-4)
    assert row.phi == pytest.approx(0.5528 / (0.5528 + absolute), abs=1e-4)
    assert (round(row.e_rho2, 2), round(row.phi, 2)) == (0.64, 0.55)


def test_expected_tau_is_near_what_trec_shows() -> None:
    """Urbano et al. (2013) fitted tau = .864 at Eρ² = .95 to rankings of TREC runs, which are not quite normal."""
    assert float(expected_tau(math.sqrt(0.95))) == pytest.approx(0.86412, abs=0.01)
