"""What every experiment must obey: trials in any grouping, a specification that survives JSON, a whole report."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.unit.experiments.trial_runs import find, samples

from adjudge.experiments import EXPERIMENTS, experiment_report
from adjudge.experiments.run import run_chunk
from adjudge.experiments.spec import Findings, experiment_from
from adjudge.reporting.canvas import draw
from adjudge.reporting.document import FigureBlock, Paragraph, TableBlock
from adjudge.reporting.render import render

RNG = np.random.default_rng(5)
SAMPLES = samples({name: RNG.beta(2, 3, (24, 4)) / 2 + np.linspace(0, 0.4, 4) for name in ("AP", "RR")})
TESTS = ("t", "bootstrap", "sign(min_difference=0.01)")
SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"procedures": TESTS, "resamples": 100} for name in ("power", "stability", "tests")},
    "errors": {"procedures": TESTS, "resamples": 100, "sizes": (10, 20)},
    "fit": {"sizes": (6, 12)},
    "reliability": {"truth": "simulated", "dependence": "gaussian"},
}


@cache
def found(name: str) -> Findings:
    findings: Findings = find(EXPERIMENTS[name](trials=4, seed=3, **SETTINGS[name]), SAMPLES)
    return findings


@pytest.fixture(params=SETTINGS)
def findings(request: pytest.FixtureRequest) -> Findings:
    return found(request.param)


def test_every_experiment_is_tested_here() -> None:
    assert set(SETTINGS) == set(EXPERIMENTS)


def test_a_trial_does_not_depend_on_its_chunk(findings: Findings) -> None:
    parts = [run_chunk(findings.experiment, SAMPLES, *span) for span in ((0, 1), (1, 4))]
    assert parts[0].vstack(parts[1]).equals(findings.rows)


def test_a_specification_survives_json(findings: Findings) -> None:
    spec = findings.experiment
    assert experiment_from(json.loads(json.dumps(spec.to_dict()))) == spec


def test_a_report_begins_with_the_conclusion_and_is_whole(findings: Findings) -> None:
    report = experiment_report(findings)
    assert report.sections[0].blocks[0] == Paragraph(findings.sentences()[0])
    blocks = [block for section in report.sections for block in section.blocks]
    names = [block.name for block in blocks if not isinstance(block, Paragraph)]
    assert len(set(names)) == len(names)
    assert all(name.replace(".", "").replace("+", "").replace("-", "").replace("_", "").isalnum() for name in names)
    for block in blocks:
        if isinstance(block, TableBlock):
            assert block.caption
            assert block.rows
            assert block.records
            assert {len(row) for row in block.rows} == {len(block.columns)}
            texts = {"Sample", "Test", "Other", "Verdict", "Index", "Figure", "True difference", "Bin", "Chosen"}
            assert all((heading.align == "left") == (heading.name in texts) for heading in block.columns)
        elif isinstance(block, FigureBlock):
            assert block.caption
            assert block.alt
    json.dumps(findings.to_dict(), allow_nan=False)
    assert findings.title in render(report, "markdown")


@pytest.mark.parametrize("name", ["errors", "tests"])
def test_figures_with_logarithmic_axes_have_plain_numbers_at_their_ticks(name: str) -> None:
    figure = next(figure for figure in experiment_report(found(name)).figures if figure.data.log_x)
    drawing = draw(figure)
    drawing.canvas.draw()
    ticks = [label.get_text() for axes in drawing.axes for label in axes.get_xticklabels()]
    assert "0.01" in ticks
    assert not any("$" in text for text in ticks)
