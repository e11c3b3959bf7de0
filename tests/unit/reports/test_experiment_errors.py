"""The report of Type I, II and III errors, from a little experiment on a normal model made by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np
import pytest

from adjudge.arrays import Floats
from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.error_rates import ErrorFindings, Errors, error_sections
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.simulate import collection
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, TableBlock

MEANS = np.array([0.3, 0.4, 0.5])


@dataclass(frozen=True)
class NormalModel:
    """Normal effectiveness with the means of the data and a standard deviation of 0.1."""

    means: Floats
    systems: tuple[str, ...] = ("a", "b", "c")

    def draw(self, rng: np.random.Generator, n_queries: int) -> Floats:
        return rng.normal(self.means, 0.1, size=(n_queries, 3))

    def null(self, kind: str, system: str | None = None) -> NormalModel:
        return replace(self, means=np.full(3, 0.4))

    def fidelity(self, values: Floats, rng: np.random.Generator, *, repeats: int) -> collection.Fidelity:
        return collection.fidelity(self, values, rng, repeats=repeats)  # type: ignore[arg-type]


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> ErrorFindings:
    monkeypatch.setattr(collection, "models_of", lambda samples, margin, dependence: [NormalModel(MEANS)])
    values = MEANS + np.random.default_rng(5).normal(0, 0.1, size=(2000, 3))
    samples = Samples((Sample(values, tuple(map(str, range(2000))), ("a", "b", "c"), "AP"),))
    spec = Errors(procedures=("t", "sign"), sizes=(10, 20), trials=30, resamples=1000)  # type: ignore[arg-type]
    return spec.findings(samples, run_chunk(spec, samples, 0, 30), Provenance())


def test_every_kind_of_error_has_its_section(findings: ErrorFindings) -> None:
    names = [section.name for section in error_sections(findings)]
    assert names == ["errors", "type-one", "type-two", "type-three", "fidelity"]


def test_tables_are_full_and_figures_have_words(findings: ErrorFindings) -> None:
    blocks = [block for section in error_sections(findings) for block in section.blocks]
    for table in (block for block in blocks if isinstance(block, TableBlock)):
        assert table.rows
        assert table.records
        assert all(len(row) == len(table.columns) for row in table.rows)
    figures = [block for block in blocks if isinstance(block, FigureBlock)]
    assert [figure.name for figure in figures] == ["type-one-errors", "power-by-difference", "type-three-errors"]
    assert all(figure.alt and figure.caption for figure in figures)


def test_the_figure_of_type_one_errors_holds_32_levels_a_test_and_the_diagonal(findings: ErrorFindings) -> None:
    figure = error_sections(findings)[1].blocks[0]
    assert isinstance(figure, FigureBlock)
    assert figure.data.log_x
    assert figure.data.log_y
    for panel in figure.data.panels:
        assert panel.diagonal
        assert [curve.label for curve in panel.curves] == ["t", "sign"]
        assert all(len(curve.x) == 32 for curve in panel.curves)


def test_a_faithful_model_has_small_gaps(findings: ErrorFindings) -> None:
    table = error_sections(findings)[-1].blocks[1]
    assert isinstance(table, TableBlock)
    errors = {record["figure"]: record["max_error"] for record in table.records}
    assert errors["mean"] < 0.01
    assert errors["sd of differences"] < 0.01


def test_curves_on_logarithmic_axes_can_be_drawn(findings: ErrorFindings) -> None:
    pyplot = import_module("matplotlib.pyplot")
    from adjudge.reporting.figures import style

    figure = error_sections(findings)[1].blocks[0]
    assert isinstance(figure, FigureBlock)
    with pyplot.rc_context(style()):
        pyplot.close(figure.draw(figure.data))


def test_no_band_hides_type_three_errors_and_the_table_has_their_intervals(findings: ErrorFindings) -> None:
    blocks = [block for section in error_sections(findings) for block in section.blocks]
    figures = {block.name: block for block in blocks if isinstance(block, FigureBlock)}
    tables = {block.name: block for block in blocks if isinstance(block, TableBlock)}
    panels = figures["type-three-errors"].data.panels
    assert all(curve.low is None for panel in panels for curve in panel.curves)
    assert all("[" in row[6] for row in tables["by-difference"].rows)
