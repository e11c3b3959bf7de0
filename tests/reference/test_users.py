"""Users: the numbers of the ISMIR 2012 study and of thesis chapters 3 and 4, and the curves that ship, fitted again."""

from __future__ import annotations

import csv
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

import adjudge as aj
from adjudge.arrays import Floats, Ints, Mask
from adjudge.stats.intervals import t_interval
from adjudge.users import (
    find_agreement,
    find_satisfaction,
    noticeable_difference,
    noticeable_interval,
    p_satisfied,
)
from adjudge.users.noticing import AGREEMENT_2012
from adjudge.users.satisfaction import TABLE_4_3

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {("CG@5", "broad"): "agb", ("CG@5", "fine"): "agf", ("DCG@5", "broad"): "ndcgb", ("DCG@5", "fine"): "ndcgf"}
SCALES = {"f": "fine", "b": "broad"}
NAMES_OF_SUMS = {"f": "Fine@5", "b": "PSum@5"}  # as MIREX has them


@dataclass(frozen=True)
class Study:
    """The 2,200 answers: 1 for service A, -1 for B, 0 for neither."""

    rows: list[dict[str, str]]

    @property
    def answer(self) -> Ints:
        signs = {"Service A": 1, "Service B": -1}
        return np.array([signs.get(row["what_service_gives_better_results"], 0) for row in self.rows])

    @property
    def good(self) -> Mask:
        return np.array([row["what_service_gives_better_results"].endswith("equally good") for row in self.rows])

    def column(self, name: str) -> Floats:
        return np.array([float(row[name]) for row in self.rows])

    def documents(self, row: dict[str, str], service: str) -> tuple[str, ...]:
        return tuple(row[f"d{rank}{service}"] for rank in range(1, 6))


@pytest.fixture(scope="module")
def study(shared_data: Path) -> Study:
    with (shared_data / "user-study-2012" / "answers.csv").open(newline="") as file:
        return Study(list(csv.DictReader(file)))


@pytest.fixture(scope="module")
def script(shared_data: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("fit_agreement", ROOT / "scripts" / "fit_agreement.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def bins(sizes: Floats) -> Ints:
    """Number of the 0.1-wide bin; the last one is closed. Grades make multiples of 0.1 that floats just miss."""
    return np.minimum((sizes * 10 + 1e-9).astype(np.int64), 9)


def grades(row: dict[str, str], scale: str, service: str) -> dict[str, float]:
    """Grade of each document of a list, by its rank: the same document may stand in both lists of an answer."""
    return {f"{service}{rank}": float(row[f"{scale}{rank}{service}"]) for rank in range(1, 6)}


def evaluate(study: Study, scale: str, measures: list[str]) -> aj.Effectiveness:
    """Each answer is a query, each service a system."""
    runs = {
        service: {str(i): [f"{service}{rank}" for rank in range(1, 6)] for i in range(len(study.rows))}
        for service in "ab"
    }
    judgments = {str(i): grades(row, scale, "a") | grades(row, scale, "b") for i, row in enumerate(study.rows)}
    return aj.evaluate(aj.read(runs, judgments, scale=SCALES[scale]), measures)


# The study itself


@pytest.mark.parametrize("scale", SCALES)
def test_their_effectiveness_is_user_oriented_dcg_and_cg_and_its_differences(study: Study, scale: str) -> None:
    columns = {"DCG@5": "ndcg", "nDCG(ideal=max)@5": "ndcg", "CG@5": "ag", NAMES_OF_SUMS[scale]: "ag"}
    eff = evaluate(study, scale, [*columns])
    assert eff.systems == ("a", "b")
    for measure, column in columns.items():
        ours = eff.matrix(measure)
        published = [study.column(f"{column}{scale}{service}") for service in "ab"]
        assert np.abs(ours.T - published).max() < 1e-9, measure
        assert np.abs(ours[:, 0] - ours[:, 1] - study.column(f"d{column}{scale}")).max() < 1e-9, measure


def test_the_answers_are_those_of_the_paper(study: Study) -> None:
    assert len(study.rows) == 2200
    assert np.count_nonzero(study.answer == 0) == 884
    assert np.count_nonzero(study.answer != 0) == 1316
    assert np.count_nonzero(study.good) == 440
    assert np.count_nonzero((study.answer == 0) & ~study.good) == 444


def test_the_lists_and_clips_are_those_of_the_paper(study: Study) -> None:
    lists = [study.documents(row, service) for row in study.rows for service in "ab"]
    queries = {row["query"] for row in study.rows}
    assert len(set(lists)) == 2869
    assert len(queries) == 73
    assert len(queries.union(*lists)) == 3031


def test_identical_lists_are_told_apart_twice(study: Study) -> None:
    same = np.array([study.documents(row, "a") == study.documents(row, "b") for row in study.rows])
    assert np.count_nonzero(same) == 27
    assert np.count_nonzero(study.answer[same]) == 2


@pytest.mark.parametrize(
    ("column", "first"),
    [("dagf", 3), ("dagb", 5), ("dndcgb", 4)],
    ids=["nAG Fine .3", "nAG Broad .5", "nDCG Broad .4"],
)
def test_the_first_bin_in_which_most_prefer_the_better_system(study: Study, column: str, first: int) -> None:
    delta = study.column(column)
    agrees = study.answer * np.sign(delta) == 1
    shares = [agrees[bins(np.abs(delta)) == b].mean() for b in range(10)]
    assert next(b for b, share in enumerate(shares) if share > 0.5) == first


def test_few_prefer_the_worse_system(study: Study) -> None:
    shares = [(study.answer * np.sign(study.column(f"d{column}")) == -1).mean() for column in COLUMNS.values()]
    assert min(shares) == pytest.approx(0.062, abs=5e-4)
    assert max(shares) == pytest.approx(0.076, abs=5e-4)


# Agreement


def test_the_shipped_curves_are_what_the_script_gives(script: ModuleType) -> None:
    again = script.mappings(script.read_study(script.DATA))
    assert [(m.measure, m.scale, m.form) for m in again] == [(m.measure, m.scale, m.form) for m in AGREEMENT_2012]
    for ours, shipped in zip(again, AGREEMENT_2012, strict=True):
        assert ours.parameters == pytest.approx(shipped.parameters, rel=1e-4)
        assert np.array(ours.covariance) == pytest.approx(np.array(shipped.covariance), rel=1e-2)
        assert ours.provenance == shipped.provenance
    assert script.BLOCK.findall(script.TARGET.read_text(encoding="utf-8")) == [script.block(AGREEMENT_2012)]


@pytest.mark.parametrize(("combination", "column"), COLUMNS.items())
def test_the_curves_are_calibrated(study: Study, combination: tuple[str, str], column: str) -> None:
    mapping = find_agreement(*combination).mapping
    assert mapping is not None
    delta = study.column(f"d{column}")
    differs = delta != 0
    bin_, answer = bins(np.abs(delta)), study.answer * np.sign(delta)
    chi2, cells = 0.0, 0
    for kind, share in zip((1, 0, -1), mapping(delta), strict=True):
        for b in range(10):
            inside = differs & (bin_ == b)
            if share[inside].sum() < 1:
                continue
            seen, expected = np.count_nonzero(answer[inside] == kind), share[inside].sum()
            assert abs(seen - expected) < 3 * np.sqrt((share[inside] * (1 - share[inside])).sum()), (kind, b)
            chi2, cells = chi2 + (seen - expected) ** 2 / expected, cells + 1
    assert stats.chi2.sf(chi2, cells * 2 // 3 - len(mapping.parameters)) > 0.05


@pytest.mark.parametrize(
    ("measure", "scale", "margin"),
    [("CG@5", "fine", 0.291), ("CG@5", "broad", 0.433), ("DCG@5", "fine", 0.294), ("DCG@5", "broad", 0.437)],
)
def test_the_noticeable_difference_is_near_where_the_bins_cross_a_half(
    study: Study, measure: str, scale: str, margin: float
) -> None:
    mapping = find_agreement(measure, scale).mapping
    assert mapping is not None
    assert noticeable_difference(mapping) == pytest.approx(margin, abs=5e-4)
    low, high = noticeable_interval(mapping)
    assert low is not None
    assert high is not None
    delta = study.column(f"d{COLUMNS[measure, scale]}")
    sizes, agrees = np.abs(delta), study.answer * np.sign(delta) == 1
    centres = np.array([sizes[bins(sizes) == b].mean() for b in range(10)])
    shares = np.array([agrees[bins(sizes) == b].mean() for b in range(10)])
    first = int(np.argmax(shares > 0.5))
    crossing = np.interp(0.5, shares[first - 1 : first + 1], centres[first - 1 : first + 1])
    assert low < crossing < high


def test_their_significant_difference_is_hardly_noticed() -> None:
    mapping = find_agreement("CG@5", "fine").mapping
    assert mapping is not None
    shares = mapping(0.0815)
    assert shares.cannot_tell > 0.6
    assert shares.agree < 0.25


def test_a_pair_of_mirex_2011_differs_significantly_but_not_noticeably(mirex2011: aj.Collection) -> None:
    """U12 (ISMIR 2012, section 5.3) works through this comparison."""
    compared = aj.compare(aj.evaluate(mirex2011, "CG@5"), test="t", correction="none")
    published = pytest.approx((0.0815, 0.0508, 0.1122), abs=5e-5)
    (pair,) = (pair for pair in compared.pairs if (pair.difference, pair.low, pair.high) == published)
    assert pair.smallest_significant == pytest.approx(0.0307, abs=5e-5)
    assert pair.significant
    assert pair.noticeable is False
    assert pair.verdict == "different but too small to notice"


# Satisfaction


def printed_table_4_3(shared_data: Path) -> dict[tuple[str, str], tuple[float, ...]]:
    """The table as our copy of the thesis prints it: three blocks of two scales, four coefficients each."""
    (thesis,) = (shared_data.parent / "seeds").glob("2013-thesis-*.txt")
    lines = thesis.read_text().splitlines()
    end = next(i for i, line in enumerate(lines) if line.startswith("Table 4.3:"))
    scales = iter([("broad", "fine"), ("graded4", "graded5"), ("binary20", "binary40")])
    names = {"P": "P@5", "AP": "AP(ideal=max)@5", "GAP": "GAP(ideal=max)@5"}
    for name, ideal in (("CG", ""), ("DCG", ""), ("Q", "ideal=max"), ("RBP", "ideal=max")):
        names[f"{name}_l"] = f"{name}({ideal})@5".replace("()", "")
        names[f"{name}_e"] = f"{name}(gain=exp,{ideal})@5".replace(",)", ")")
    table: dict[tuple[str, str], tuple[float, ...]] = {}
    for line in lines[end - 32 : end]:
        first, *cells = line.split("\t")
        if first == "Measure":
            pair = next(scales)
        elif first.startswith("$") and len(cells) >= 4:
            for half, scale in enumerate(pair):
                numbers = [float(cell) for cell in cells[4 * half : 4 * half + 4] if cell]
                if numbers:
                    table[names[first.strip("$").removesuffix("@5")], scale] = tuple(numbers)
    return table


def test_table_4_3_is_as_printed(shared_data: Path) -> None:
    assert len(TABLE_4_3) == 40
    assert {(m.measure, m.scale): m.coefficients for m in TABLE_4_3} == printed_table_4_3(shared_data)


def test_the_worked_examples_of_chapter_4() -> None:
    gap = find_satisfaction("GAP(ideal=max)@5", "broad").mapping
    assert gap is not None
    assert float(gap(0.32)) == pytest.approx(0.5116, abs=5e-5)
    assert float(p_satisfied(10, 15, 0.7)) == pytest.approx(0.2061, abs=5e-5)
    quarter = find_satisfaction("Q(ideal=max)@5", "fine").mapping
    assert quarter is not None
    assert float(quarter(0.6095)) == pytest.approx(0.7, abs=0.01)


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high"), [(0.3526, 0.2187, 0.3092, 0.3960), (0.2525, 0.2557, 0.2018, 0.3033)]
)
def test_the_intervals_of_system_cl1(mean: float, sd: float, low: float, high: float) -> None:
    deviations = np.linspace(-1, 1, 100)
    scores = mean + sd * deviations / deviations.std(ddof=1)
    centre, half, _ = t_interval(scores)
    assert [centre - half, centre + half] == pytest.approx([low, high], abs=1e-4)


@pytest.mark.parametrize(("combination", "column"), COLUMNS.items())
def test_a_cubic_refitted_on_the_answers_is_near_the_published_one(
    study: Study, combination: tuple[str, str], column: str
) -> None:
    mapping = find_satisfaction(*combination).mapping
    assert mapping is not None
    undecided = study.answer == 0
    scores = np.concatenate([study.column(column + service)[undecided] for service in "ab"])
    good = np.tile(study.good[undecided], 2).astype(float)
    refitted = np.polynomial.polynomial.polyval(scores, np.polynomial.polynomial.polyfit(scores, good, 3))
    assert 0.04 < np.sqrt(np.mean((refitted - mapping(scores)) ** 2)) < 0.08


def test_the_combinations_of_mirex_2011_are_recognised(mirex2011: aj.Collection) -> None:
    named = ["CG@5", "Fine@5", "nDCG(ideal=max)@5", "P(rel=40)@5", "AP(rel=20,ideal=max)@5", "nDCG@5"]
    sat = aj.satisfaction(aj.evaluate(mirex2011, named))
    assert [(m.measure, m.scale) for m in sat.mappings] == [
        ("CG@5", "fine"),
        ("CG@5", "fine"),
        ("DCG@5", "fine"),
        ("P@5", "binary40"),
        ("AP(ideal=max)@5", "binary20"),
    ]
    assert len(sat.missing) == 1
    assert sat.missing[0].startswith("no satisfaction mapping for nDCG@5 on fine")
    converted = aj.satisfaction(aj.evaluate(mirex2011.rescaled("binary40"), ["P@5", "CG@5", "GAP(ideal=max)@5"]))
    assert converted.scale == "binary40"
    assert converted.missing == ()
    assert np.array_equal(converted.p_sat[:, :, 0], sat.p_sat[:, :, 3])
    assert np.array_equal(converted.p_sat[:, :, 0], converted.p_sat[:, :, 1])


def test_the_system_of_the_2012_example_satisfies_as_many_as_they_say(mirex2011: aj.Collection) -> None:
    eff = aj.evaluate(mirex2011, ["CG@5"])
    sat = aj.satisfaction(eff)
    place = int(np.argmin(np.abs(eff.matrix().mean(axis=0) - 0.421880)))
    row = sat.of(eff.systems[place], "CG@5")
    assert 0.35 < row.mean < 0.55  # "35 % to 45 %" by eye from their figure; Table 4.3 lies above it
    assert row.n_queries == 100
    assert row.low < row.mean < row.high
