"""The optimality of tests: outcomes against a slow loop over their definitions, findings and report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.experiments.trial_runs import find, samples

from adjudge.experiments import Optimality, experiment_report
from adjudge.experiments.optimality import (
    BINS,
    OUTCOMES,
    OptimalityFindings,
    PairedComparisons,
    count_outcomes,
    relative_error,
)
from adjudge.experiments.rates import LEVELS
from adjudge.experiments.samples import Samples
from adjudge.reporting.document import FigureBlock, Paragraph, TableBlock

Row = tuple[Any, ...]
SAMPLES, TESTS = ("A", "B"), ("t", "sign")
P = st.sampled_from([0.0001, 0.0004, 0.001, 0.0011, 0.01, 0.05, 0.050001, 0.2, 0.5, 0.9, 1.0])
DIFFERENCE = st.sampled_from([-0.3, -0.1, 0.0, 1e-17, 0.2])
ROW = st.tuples(
    st.integers(0, 2), st.sampled_from(SAMPLES), st.sampled_from([5, 9]), DIFFERENCE, DIFFERENCE, P, P, P, P
)
COLUMNS = ("trial", "sample", "n_queries", "difference", "difference_again", "t", "t_again", "sign", "sign_again")


def outcome_of(p: float, again: float, sign: int, sign_again: int, alpha: float) -> str:
    """Thesis section 5.3, word for word; equal means are nobody's victory."""
    if p > alpha or sign == 0:
        return "non_significant"
    significant = again <= alpha
    if sign_again == sign:
        return "success" if significant else "lack_of_power"
    if sign_again == -sign:
        return "major_conflict" if significant else "minor_conflict"
    return "lack_of_power"


def way(difference: float) -> int:
    return 0 if abs(difference) < 1e-9 else 1 if difference > 0 else -1


def table(rows: Sequence[Row]) -> pl.DataFrame:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}
    return pl.DataFrame(columns, schema_overrides={"sample": pl.Enum(SAMPLES)})


@given(st.lists(ROW, min_size=1, max_size=40))
def test_counts_are_those_of_a_loop_over_the_definitions(rows: Sequence[Row]) -> None:
    paired = PairedComparisons.from_rows(table(rows), SAMPLES, TESTS, 1.0)
    counts = count_outcomes(paired, np.array(LEVELS))
    trials = sorted({row[0] for row in rows})
    slow = {outcome: np.zeros(counts[outcome][0].shape) for outcome in OUTCOMES}
    for trial, sample, size, first, second, *p in rows:
        cell = (trials.index(trial), SAMPLES.index(sample), paired.sizes.index(size))
        for test in range(2):
            one, two = p[2 * test], p[2 * test + 1]
            for j, alpha in enumerate(LEVELS):
                for a, b, sign, other in ((one, two, way(first), way(second)), (two, one, way(second), way(first))):
                    slow[outcome_of(a, b, sign, other, alpha)][(*cell, test, j)] += 1
    slow["global_conflict"] = slow["minor_conflict"] + slow["major_conflict"]
    significant = sum(slow[name] for name in ("success", "lack_of_power", "global_conflict"))
    for outcome in OUTCOMES:
        hits, cases = counts[outcome]
        assert np.array_equal(hits, slow[outcome]), outcome
        assert np.array_equal(cases, significant + (slow["non_significant"] if outcome == "non_significant" else 0))


def test_rates_after_the_first_are_shares_of_the_significant() -> None:
    # Two comparisons: one repeats, one is significant in the first set only and turns round in the second.
    rows = [(0, "A", 5, 0.1, 0.2, 0.01, 0.02, 1.0, 1.0), (0, "A", 5, 0.1, -0.1, 0.01, 0.6, 1.0, 1.0)]
    spec = Optimality(sizes=(5,), procedures=("t", "sign"))
    drawn_from = samples({"A": np.eye(10, 3), "B": np.eye(10, 3)})
    found = spec.findings(drawn_from, table(rows), drawn_from.provenance).by_test([0.05]).to_dicts()[0]
    assert found["significant"] == 3
    assert found["non_significant"] == pytest.approx(1 / 4)
    assert found["success"] == pytest.approx(2 / 3)
    assert found["minor_conflict"] == found["global_conflict"] == pytest.approx(1 / 3)
    assert found["major_conflict"] == found["lack_of_power"] == 0


def test_a_conflict_rate_equal_to_its_level_is_exact() -> None:
    levels = np.array(LEVELS)
    assert relative_error(levels, levels) == 0
    assert relative_error(2 * levels, levels) == pytest.approx(1)
    assert relative_error(np.where(levels < 0.01, np.nan, levels / 2), levels) == pytest.approx(0.5)


def made_up(n_queries: int = 24) -> Samples:
    rng = np.random.default_rng(3)
    skill, deviations = np.linspace(0.3, 0.5, 5), {"CG@5": 0.1, "P@5": 0.3}
    values = {name: np.clip(skill + rng.normal(0, sd, (n_queries, 5)), 0, 1) for name, sd in deviations.items()}
    return samples(values, scale="fine")


def run(drawn_from: Samples, trials: int = 8, **settings: Any) -> OptimalityFindings:
    found: OptimalityFindings = find(Optimality(trials=trials, resamples=500, **settings), drawn_from)
    return found


@pytest.fixture(scope="module")
def found() -> OptimalityFindings:
    return run(made_up(), sizes=(6, 12))


def test_half_of_the_queries_are_the_default() -> None:
    assert Optimality().prepared(made_up(25)).sizes == (12,)


def test_outcomes_of_the_significant_add_up_to_one(found: OptimalityFindings) -> None:
    for record in found.by_test_and_sample([0.05, 0.5]).to_dicts():
        parts = [record[name] for name in ("success", "lack_of_power", "global_conflict")]
        assert record["significant"] == 0 or sum(parts) == pytest.approx(1)
        assert record["global_conflict"] == pytest.approx(
            record["minor_conflict"] + record["major_conflict"], nan_ok=True
        )


def test_views_have_a_cell_for_each_of_what_they_are_by(found: OptimalityFindings) -> None:
    assert len(found.by_test().cells) == 2 * 5
    assert len(found.by_sample().cells) == 2 * 2
    assert len(found.by_test_and_sample().cells) == 2 * 2 * 5
    assert [cell["n_queries"] for cell in found.pooled().cells] == [6, 12]
    assert found.by_sample().cells[0] == {"sample": "CG@5 on fine", "n_queries": 6}


def test_some_of_the_32_levels_are_not_counted_again(found: OptimalityFindings) -> None:
    counts = count_outcomes(found.paired, np.array([0.05, 0.1, 0.5]))
    for name, pair in found.counts([0.5, 0.05, 0.1]).items():
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(pair, counts[name], strict=True))


def test_any_level_can_be_asked_for_afterwards(found: OptimalityFindings) -> None:
    records = found.at(0.025).to_dicts()
    rows = found.rows.filter(found.rows["n_queries"] == 6)
    p = np.concatenate([rows["t"].to_numpy(), rows["t_again"].to_numpy()])
    assert records[0]["test"] == "t"
    assert records[0]["non_significant"] == pytest.approx(float((p > 0.025).mean()))


def test_more_queries_and_less_noise_find_more(found: OptimalityFindings) -> None:
    small, large = found.pooled([0.05]).values["non_significant"].value[:, 0]
    precise, noisy = found.by_sample([0.05]).values["non_significant"].value[[1, 3], 0]
    assert large < small
    assert precise < noisy


def test_error_with_oneself_is_the_rms_over_both_orders(found: OptimalityFindings) -> None:
    first, second = (found.rows[name].to_numpy() for name in ("sign", "sign_again"))
    p, other = np.concatenate([first, second]), np.concatenate([second, first])
    inside = (p > 0.1) & (p <= 0.5)
    expected = np.sqrt(np.mean((other - p)[inside] ** 2))
    record = next(row for row in found.self_error() if (row["test"], row["up_to"]) == ("sign", 0.5))
    assert record["rms"] == pytest.approx(float(expected))
    assert record["rms_low"] < record["rms"] < record["rms_high"]
    assert len(found.self_error()) == 5 * len(BINS)


def test_agreement_is_the_share_of_the_same_decisions(found: OptimalityFindings) -> None:
    t, sign = (np.concatenate([found.rows[n].to_numpy(), found.rows[n + "_again"].to_numpy()]) for n in ("t", "sign"))
    record = next(row for row in found.agreement(0.1) if (row["test"], row["other"]) == ("t", "sign"))
    assert record["same"] == pytest.approx(float(((t <= 0.1) == (sign <= 0.1)).mean()))
    assert record["rms"] == pytest.approx(float(np.sqrt(np.mean((t - sign) ** 2))))
    assert len(found.agreement()) == 10


def test_leaders_begin_with_the_best_and_name_who_is_not_clearly_behind(found: OptimalityFindings) -> None:
    value = found.at(0.05).values["non_significant"].value[5:, 0]  # of the larger sets
    leaders = found.leaders("non_significant")
    assert leaders[0] == found.tests[int(np.argmin(value))]
    assert len(run(made_up(), trials=1, procedures=("t", "sign")).leaders("success", highest=True)) == 2


def test_the_conclusion_is_in_plain_words(found: OptimalityFindings) -> None:
    said = found.sentences()
    assert said[0].startswith("At 0.05, ")
    assert "of the significant results repeat in a second collection of 12 queries" in said[0]
    assert "6 queries" in said[1]
    assert any(sentence.startswith("The most powerful test ") and "]" in sentence for sentence in said)
    assert any("CG@5 on fine finds the most differences" in sentence for sentence in said)
    assert any("With 500 resamples p of bootstrap and permutation is at least 0.002" in sentence for sentence in said)


def test_systems_that_are_all_the_same_are_never_significant() -> None:
    found = run(samples(np.full((24, 5), 0.5)), trials=2)
    assert found.sentences()[0] == "At 0.05, nothing is significant with 12 queries."
    assert all(record["non_significant"] == 1 for record in found.to_dicts())
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.fixture(scope="module")
def blocks(found: OptimalityFindings) -> dict[str, Any]:
    sections = experiment_report(found).sections
    return {block.name: block for part in sections for block in part.blocks if not isinstance(block, Paragraph)}


def test_six_panels_have_a_curve_per_test_and_conflicts_a_diagonal(
    found: OptimalityFindings, blocks: dict[str, FigureBlock]
) -> None:
    panels = blocks["tests-rates"].data.panels
    assert [panel.title for panel in panels][::2] == ["Non-significance", "Success", "Lack of power"]
    assert [panel.diagonal for panel in panels] == [False] * 5 + [True]
    for curve in panels[0].curves:
        record = next(row for row in found.to_dicts() if row["test"] == curve.label and row["n_queries"] == 12)
        assert curve.y[0] == record["non_significant"]
        assert len(curve.x) == 32


def test_the_best_of_each_level_is_in_bold(blocks: dict[str, TableBlock]) -> None:
    table = blocks["tests-selected"]
    for level in range(8):
        rows = range(5 * level, 5 * level + 5)
        bold = {float(table.rows[i][2]) for i in rows if (i, 2) in table.emphasised}
        assert bold == {min(float(table.rows[i][2]) for i in rows)}


def test_measures_have_a_table_and_panels_by_scale(blocks: dict[str, Any]) -> None:
    rows = blocks["tests-measures"].rows
    assert [row[:2] for row in rows[:3]] == [("CG@5 on fine", "6"), ("CG@5 on fine", "12"), ("P@5 on fine", "6")]
    panels = blocks["tests-measures-power"].data.panels
    assert [panel.title for panel in panels] == ["Non-significance, fine", "Success, fine"]
    assert panels[0].curves[0].x.tolist()[::18] == [0.001, 0.1]


def test_tables_of_sizes_stability_and_agreement_are_there(blocks: dict[str, Any]) -> None:
    rows = {name.removeprefix("tests-"): len(b.rows) for name, b in blocks.items() if isinstance(b, TableBlock)}
    assert rows == {
        "level": 10, "sizes": 2, "selected": 40, "exactness": 5, "measures": 4, "self": 9, "agreement": 10
    }  # fmt: skip
