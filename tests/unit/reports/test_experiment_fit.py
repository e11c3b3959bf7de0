"""The report of goodness of fit."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.goodness import Fit, FitFindings, fit_sections
from adjudge.experiments.samples import samples_of
from adjudge.model.effectiveness import Effectiveness
from adjudge.reporting.document import FigureBlock, TableBlock
from adjudge.reporting.figures import Curves


@pytest.fixture(scope="module")
def findings() -> FitFindings:
    rng = np.random.default_rng(1)
    inside = Effectiveness.from_matrix(rng.beta(2, 3, (30, 4)), measure="A")
    beyond = Effectiveness.from_matrix(rng.normal(0, 1, (30, 4)), measure="B")
    samples = samples_of([inside, beyond])
    spec = Fit(trials=4, sizes=(10, 20)).prepared(samples)
    return spec.findings(samples, run_chunk(spec, samples, 0, 4), samples.provenance)


def test_every_size_has_a_table_with_the_best_in_bold(findings: FitFindings) -> None:
    tables = [block for section in fit_sections(findings) for block in section.blocks if isinstance(block, TableBlock)]
    assert [table.name for table in tables] == ["fit-10", "fit-20"]
    for table in tables:
        assert {row for row, _ in table.emphasised} == {0, 1}
        assert len(table.rows[0]) == len(table.columns)
        assert table.rows[1].count("–") == 2


def test_curves_have_a_panel_for_every_sample_and_a_line_for_every_family(findings: FitFindings) -> None:
    (figure,) = [
        block for section in fit_sections(findings) for block in section.blocks if isinstance(block, FigureBlock)
    ]
    assert isinstance(figure.data, Curves)
    assert figure.data.log_y
    assert [len(panel.curves) for panel in figure.data.panels] == [4, 2]
    assert figure.data.panels[0].curves[0].x.tolist() == [10, 20]
