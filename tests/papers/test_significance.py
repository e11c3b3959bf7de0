"""Significance with a few trials: its claims and figures are there; the numbers themselves are in tests/reference."""

from __future__ import annotations

import numpy as np
import pytest
from papers.claims import Claim
from papers.data import Data
from papers.reliability import MEASURES as WRITTEN
from papers.significance import (
    LEVELS,
    MEASURES,
    OUTCOMES,
    TABLE_5_3,
    TABLE_5_4,
    TABLE_5_5,
    TESTS,
    all_queries,
    optimality_claims,
    optimality_plots,
)

from adjudge.experiments import Optimality
from adjudge.experiments.optimality import OptimalityFindings
from adjudge.experiments.run import run_experiment
from adjudge.experiments.samples import samples_of


@pytest.fixture(scope="module")
def claims(data: Data) -> tuple[Claim, ...]:
    return all_queries(data)


@pytest.fixture(scope="module")
def found(data: Data) -> OptimalityFindings:
    samples = samples_of(data.effectiveness([WRITTEN[name] for name in MEASURES]), scale="fine")
    findings = run_experiment(Optimality(trials=2, resamples=200), samples, workers=1)
    assert isinstance(findings, OptimalityFindings)
    return findings


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_table_of_the_thesis_is_whole(outcome: str) -> None:
    assert np.array(TABLE_5_3[outcome]).shape == (len(LEVELS), len(TESTS))


def test_what_the_thesis_prints_adds_up() -> None:
    """Success, lack of power and conflicts are all there is; global conflicts are minor and major ones."""
    table = {name: np.array(rows) for name, rows in TABLE_5_3.items()}
    whole = table["success"] + table["lack_of_power"] + table["global_conflict"]
    assert np.abs(whole - 1).max() < 2e-4
    assert np.abs(table["minor_conflict"] + table["major_conflict"] - table["global_conflict"]).max() < 2e-4
    for rates in TABLE_5_4.values():
        assert sum(rates[1:3]) + rates[5] == pytest.approx(1, abs=2e-5)
        assert rates[3] + rates[4] == pytest.approx(rates[5], abs=2e-5)
    assert np.array(TABLE_5_5).shape == (8, 5)


def test_numbers_of_the_reference_come_out(claims: tuple[Claim, ...]) -> None:
    assert [claim.published for claim in claims if claim.source == "another implementation"] == ["617.65", "96", "119"]
    assert {claim.verdict for claim in claims if claim.source == "another implementation"} == {"exact"}
    assert len([claim for claim in claims if claim.source == "TREC-8 data"]) == 5
    assert all(claim.verdict != "differs" for claim in claims if claim.source == "TREC-8 data")


def test_q_is_average_precision_only_where_five_documents_are_relevant(claims: tuple[Claim, ...]) -> None:
    """Table 5.2 says they are the same; with one relevant document at rank 2, Q is 2 / (2 + 1) and AP is 1 / 2."""
    same = [claim for claim in claims if claim.source == "T Table 5.2"]
    assert [claim.verdict for claim in same] == ["exact", "differs", "exact"]
    assert same[1].ours == pytest.approx(2 / 3 - 1 / 2)


def test_every_measure_has_its_places(found: OptimalityFindings) -> None:
    claims: list[Claim] = list(optimality_claims(found))
    assert len([claim for claim in claims if claim.source == "T Table 5.4"]) == 2 * len(MEASURES)


def test_figures_have_lines_of_2011_and_all_points_of_the_thesis(found: OptimalityFindings) -> None:
    first, second, third, fourth = optimality_plots(found)
    assert [plot.source for plot in (first, second, third)] == ["T Figure 5.1", "T Figure 5.2", "T Figure 5.3"]
    assert [panel.title for panel in first.panels] == list(OUTCOMES.values())
    for panel in first.panels:
        assert [series.joined for series in panel.series] == [True] * 5 + [False] * 5
        assert [len(series.x) for series in panel.series] == [32] * 5 + [8] * 5
    assert {len(panel.series) for panel in (*second.panels, *third.panels)} == {9}
    assert fourth.source == "T Table 5.5"
