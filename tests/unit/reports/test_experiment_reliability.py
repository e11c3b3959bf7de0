"""The report of the reliability of G-theory estimates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.reliability import Reliability, ReliabilityFindings, reliability_sections
from adjudge.experiments.samples import samples_of
from adjudge.model.effectiveness import Effectiveness
from adjudge.reporting.document import FigureBlock, TableBlock


@pytest.fixture(scope="module")
def findings() -> ReliabilityFindings:
    rng = np.random.default_rng(1)
    values = rng.normal(0, 1, (40, 5)) + np.arange(5)
    samples = samples_of(Effectiveness.from_matrix(values, measure="A"))
    spec = Reliability(trials=4).prepared(samples)
    return spec.findings(samples, run_chunk(spec, samples, 0, 4), samples.provenance)


def test_tables_have_a_row_for_every_size_and_index(findings: ReliabilityFindings) -> None:
    blocks = [block for section in reliability_sections(findings) for block in section.blocks]
    tables = {block.name: block for block in blocks if isinstance(block, TableBlock)}
    assert [len(table.rows) for table in tables.values()] == [4, 2]
    assert all(len(row) == len(table.columns) for table in tables.values() for row in table.rows)


def test_figures_show_the_spread_around_all_queries_and_prediction_beside_observation(
    findings: ReliabilityFindings,
) -> None:
    blocks = [block for section in reliability_sections(findings) for block in section.blocks]
    spread, against = (block.data for block in blocks if isinstance(block, FigureBlock))
    assert spread.panels[0].levels == (findings.estimates[0].all_known, findings.estimates[1].all_known)
    labels = [curve.label for curve in against.panels[0].curves]
    assert labels[:3] == ["Eρ², predicted", "Eρ², with all queries", "correlation, observed"]


def test_sentences_go_through_a_few_samples_and_leave_others_to_tables() -> None:
    values = np.random.default_rng(1).normal(0, 1, (12, 3)) + np.arange(3)
    samples = samples_of({f"c{i}": Effectiveness.from_matrix(values, measure="A") for i in range(6)})
    spec = Reliability(trials=2, sizes=(4,)).prepared(samples)
    said = spec.findings(samples, run_chunk(spec, samples, 0, 2), samples.provenance).sentences()
    assert said[-2] == "Tables have 2 more samples."
    assert not any("c4" in one for one in said)


def test_a_simulated_truth_is_called_so(findings: ReliabilityFindings) -> None:
    spec = replace(findings.experiment, truth="simulated")
    found = spec.findings(findings.samples, findings.rows, findings.provenance)
    blocks = [block for section in reliability_sections(found) for block in section.blocks]
    spread, against = (block for block in blocks if isinstance(block, FigureBlock))
    assert spread.caption.endswith("Dotted lines are the values in truth.")
    assert against.data.panels[0].curves[1].label == "Eρ², in truth"
