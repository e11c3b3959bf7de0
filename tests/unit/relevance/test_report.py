"""Low-cost evaluation in a report: the words, the tables and the data of the figures."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge.cli.output import drawn
from adjudge.model.scales import FINE
from adjudge.relevance.calibration import Bin, Calibration, CalibrationRecord, Calibrations
from adjudge.relevance.candidates import candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.report import calibration_section, estimate_section, simulation_section
from adjudge.relevance.session import Session
from adjudge.relevance.simulation import Checkpoint, Simulation, SimulationRecord, Simulations
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Report, Section, TableBlock
from adjudge.reporting.render import drawing, render

RUNS = {
    "best": {"q1": ["a", "b"], "q2": ["a", "b"]},
    "copy": {"q1": ["a", "b"], "q2": ["a", "b"]},
    "poor": {"q1": ["c", "d"], "q2": ["c", "b"]},
}
GRADES = {"q1": {"a": 90, "b": 80, "c": 0, "d": 10}, "q2": {"a": 70, "b": 80, "c": 0}}


def session(n: int = 0, runs: Any = RUNS, **settings: Any) -> Session:
    pool = candidates(aj.read(runs), cutoff=2, scale=FINE)
    started = Session(pool, "CG@2", **{"estimator": "uniform", "goal": Goal(zone=0.01), **settings})
    for i in range(n):
        query, document = started.pair(i)
        started.judge(query, document, GRADES[query][document])
    return started


def of(section: Section, kind: type[Block], name: str | None = None) -> list[Any]:
    return [b for b in section.blocks if isinstance(b, kind) and (name is None or getattr(b, "name", None) == name)]


def texts(section: Section) -> str:
    return " ".join(paragraph.text for paragraph in of(section, Paragraph))


def test_before_anything_is_judged_systems_share_a_rank_and_nothing_is_told() -> None:
    section = estimate_section(session())
    assert "0 of 7 candidates are judged. Judging should go on, as the goal is not reached yet" in texts(section)
    assert "Pairs of systems: 0 of 3 told apart, 1 tied within 0.01, 2 open." in texts(section)
    (ranking,) = of(section, TableBlock, "ranking")
    names = ("best", "copy", "poor")
    assert [row[:4] for row in ranking.rows] == [("1 [1, 3]", "1", name, "0.500") for name in names]
    assert [row[-1] for row in ranking.rows] == ["copy and poor", "best and poor", "best and copy"]


def test_who_is_near_the_leader_is_not_said_to_be_open() -> None:
    assert "best has the highest expected CG@2, 0.800" in (text := texts(estimate_section(session(7))))
    assert "; it is tied with copy within 0.01." in text
    assert "not told apart" not in text


def test_when_everything_is_judged_what_is_told_is_told() -> None:
    """(.9 + .8 + .7 + .8) / 4 = .8 and (0 + .1 + 0 + .8) / 4 = .225."""
    section = estimate_section(session(7))
    assert "7 of 7 candidates are judged. Judging can stop, as everything is judged" in texts(section)
    (ranking,) = of(section, TableBlock, "ranking")
    assert [(row[0], *row[2:5]) for row in ranking.rows] == [
        ("1 [1, 2]", "best", "0.800", "[0.800, 0.800]"),
        ("1 [1, 2]", "copy", "0.800", "[0.800, 0.800]"),
        ("3 [3, 3]", "poor", "0.225", "[0.225, 0.225]"),
    ]
    assert [row[1] for row in ranking.rows] == ["1", "1", "2"]
    assert [row[5] for row in ranking.rows] == ["50.0 %", "50.0 %", "0.0 %"]
    assert [row[-1] for row in ranking.rows] == ["copy", "best", ""]
    (pairs,) = of(section, TableBlock, "open-pairs")
    assert pairs.rows == (("best", "copy", "0.000", "[0.000, 0.000]", "1.000", "tie"),)
    (matrix,) = of(section, FigureBlock, "estimated-differences")
    np.testing.assert_allclose(matrix.data.difference, [[0, 0, 0.575], [0, 0, 0.575], [-0.575, -0.575, 0]])
    assert matrix.data.filled.sum() == 4  # best and copy against poor, both ways round


def test_one_system_has_no_pairs_and_judging_can_stop_early() -> None:
    saved = estimate_section(session(3, goal=Goal(level=0.4, least=0)))
    assert "3 of 7 candidates are judged. Judging can stop, 4 saved, as the goal is reached" in texts(saved)
    section = estimate_section(session(runs={"a": RUNS["best"]}))
    assert "pairs of systems" not in texts(section).replace("over all pairs of systems", "")
    assert not of(section, TableBlock, "open-pairs")
    assert not of(section, FigureBlock, "estimated-differences")


@pytest.mark.parametrize(("second", "warned"), [(0, True), (1, False)])
def test_known_item_search_is_noticed(second: int, warned: bool) -> None:
    """Twelve queries with one relevant document each, or one query with two."""
    queries = [f"q{i:02d}" for i in range(12)]
    runs = {name: {q: list(documents) for q in queries} for name, documents in (("x", "abc"), ("y", "bca"))}
    grades = {q: {"a": 1, "b": 0, "c": 0} for q in queries}
    grades["q05"]["b"] = second
    pool = candidates(aj.read(runs, grades, scale="binary"), cutoff=3)
    said = texts(estimate_section(Session(pool, "nDCG@3")))
    assert ("No query has two relevant documents" in said) is warned
    assert "known_item" not in texts(estimate_section(Session(pool, "nDCG@3", estimator="uniform")))


def test_a_table_of_open_pairs_is_left_out_where_there_are_none() -> None:
    runs = {"best": RUNS["best"], "poor": RUNS["poor"]}
    assert not of(estimate_section(session(7, runs=runs)), TableBlock, "open-pairs")
    assert of(estimate_section(session(0, runs=runs)), TableBlock, "open-pairs")


def test_long_lists_are_cut_and_say_so() -> None:
    runs = {f"s{i:02d}": {"q1": [f"d{i}"]} for i in range(12)}
    section = estimate_section(session(runs=runs))
    (ranking,) = of(section, TableBlock, "ranking")
    assert ranking.rows[0][-1] == "s01, s02, s03, s04, s05, s06 and 5 more"
    (pairs,) = of(section, TableBlock, "open-pairs")
    assert pairs.caption == "Pairs that are tied or open, least sure first (30 of 66)."
    assert (len(pairs.rows), len(pairs.records)) == (30, 66)


def test_history_is_drawn_as_it_came() -> None:
    section = estimate_section(session(2), history=[(0, 0.5), (1, 0.6), (2, 0.7)])
    (figure,) = of(section, FigureBlock, "confidence-history")
    (panel,) = figure.data.panels
    assert panel.curves[0].x.tolist() == [0, 1, 2]
    assert panel.curves[0].y.tolist() == [0.5, 0.6, 0.7]
    assert panel.levels == (0.95,)
    assert not of(estimate_section(session(2), history=[(0, 0.5)]), FigureBlock, "confidence-history")


# Simulations and calibration, from numbers made up


def point(n: int, accuracy: float) -> Checkpoint:
    return Checkpoint(
        n, 0.9, accuracy, 2 * accuracy - 1, 0.02, 0.04, 0.8, 0.7, 0.95, 0.94, np.array([0.9]), np.array([1.0])
    )


def simulated(rule: str, stops: list[int]) -> list[Simulation]:
    return [
        Simulation("uniform", rule, seed, 200, (point(10, 0.6), point(20, 0.7 + 0.1 * seed)), point(n, 0.9), n < 200)
        for seed, n in enumerate(stops)
    ]


def several(*methods: list[Simulation]) -> Simulations:
    return Simulations(SimulationRecord, methods, "Simulations")


def test_efforts_are_means_over_seeds() -> None:
    runs = several(simulated("pairs", [40, 60]), simulated("random", [200, 200]))
    section = simulation_section(runs, "enough is known")
    assert "until the goal: enough is known. Means over 2 sessions, with other orders of ties." in texts(section)
    (effort,) = of(section, TableBlock, "effort")
    assert effort.rows[0][:8] == ("uniform", "pairs", "50", "40 to 60", "25.0 %", "2 of 2", "0.950", "0.940")
    assert effort.rows[1][2:6] == ("200", "200", "100.0 %", "0 of 2")
    (accuracy,) = of(section, TableBlock, "accuracy")
    assert accuracy.rows == (("uniform, pairs", "0.600", "0.750"), ("uniform, random", "0.600", "0.750"))
    assert [column.name for column in accuracy.columns] == ["Method", "10", "20"]
    (figure,) = of(section, FigureBlock, "accuracy-history")
    curve = figure.data.panels[0].curves[0]
    assert curve.y.tolist() == pytest.approx([0.6, 0.75])
    half = 12.7062 * 0.05 * np.sqrt(2) / np.sqrt(2)  # t(.975, 1) times the standard error of .7 and .8
    assert curve.low.tolist() == pytest.approx([0.6, 0.75 - half], abs=1e-4)
    assert curve.high.tolist() == pytest.approx([0.6, 1.0])


def test_every_checkpoint_and_stop_is_a_row() -> None:
    records = several(simulated("pairs", [40, 60])).to_dicts()
    assert [(row["seed"], row["checkpoint"], row["n_judged"]) for row in records] == [
        (0, "at", 10), (0, "at", 20), (0, "stop", 40), (1, "at", 10), (1, "at", 20), (1, "stop", 60),
    ]  # fmt: skip


def calibrated() -> Calibrations:
    method = Calibration(
        "uniform", "pairs", 4, (0.05, 0.2), (0.7, 0.8), (0.6, 0.9), (0.5, 0.7), (0.1, 0.05), (0.2, 0.1),
        (Bin(0.5, 0.6, 30, 0.55, 0.45), Bin(0.99, 1.0, 10, 1.0, 0.9)), 0.31, 0.93, 0.96, 0.95, 0.94, 0.75,
    )  # fmt: skip
    return Calibrations(CalibrationRecord, (method,), "Calibration")


def test_claims_stand_beside_the_truth() -> None:
    section = calibration_section(calibrated(), "means of 4 parts")
    (table,) = of(section, TableBlock, "calibration")
    assert table.rows == (
        ("uniform", "pairs", "0.600", "0.900", "0.60", "0.100", "31.0 %", "0.950", "0.940", "0.930", "75 %"),
    )
    (bins,) = of(section, TableBlock, "bins-1")
    assert bins.rows == (("[0.5, 0.6)", "30", "0.550", "0.450"), ("[0.99, 1]", "10", "1.000", "0.900"))
    records = calibrated().to_dicts()
    assert [(row["share"], row["accuracy"], row["samples"]) for row in records] == [(0.05, 0.6, 4), (0.2, 0.9, 4)]


# Every form


def report() -> Report:
    sections = (
        estimate_section(session(3), history=[(0, 0.5), (3, 0.7)]),
        simulation_section(several(simulated("pairs", [40, 60])), "x"),
        calibration_section(calibrated(), "means of 4 parts"),
    )
    return Report("Judging", "", sections, aj.demo(queries=4).provenance.to_dict())


@pytest.mark.parametrize("form", ["html", "markdown", "latex", "json"])
def test_all_sections_go_into_every_form(form: str) -> None:
    page = render(report(), form)
    assert "best" in page
    assert not re.search(r"\bnan\b", page, re.IGNORECASE)


def test_figures_have_names_and_texts() -> None:
    names = {block.name for block in report().figures}
    assert names == {"estimated-ranking", "confidence-history", "estimated-differences", "accuracy-history", "claims"}
    assert all(block.alt for block in report().figures)


def test_on_a_terminal_columns_stand_as_they_should() -> None:
    text = drawn(drawing(report(), notes=("Lists are short.",)))
    lines = text.splitlines()
    row = next(line for line in lines if line.count("[") == 2 and " best " in line)
    header = next(line for line in lines if "Rank" in line and "System" in line)
    assert row.index("best") == header.index("System")
    assert row.index("copy") == header.index("Not told apart from")
    assert row.rindex("]") == header.index("interval") + len("interval") - 1
    assert lines[-1] == "Lists are short."
