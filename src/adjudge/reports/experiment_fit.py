"""Report of how well distributions fitted to some queries predict others (Figure 4.5, Tables 4.4 and 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjudge.experiments.goodness import FitCell, FitFindings
from adjudge.experiments.words import share
from adjudge.reports.document import Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reports.experiment_figures import Curve, Curves, Panel, curves
from adjudge.reports.experiments import EXPERIMENT_SECTIONS, conclusion

_NOTE = (
    "ω̂ is the distance between the distribution fitted to some queries and that of the queries left over, summed over "
    "the latter: it can be compared within a number of queries only. Intervals and what is called as good are about "
    "the number of trials, not about having one collection only."
)


@EXPERIMENT_SECTIONS.register("fit")
def fit_sections(findings: FitFindings) -> Sequence[Section]:
    """The conclusion with the curves, then a table for every number of queries."""
    sizes = sorted({cell.n_queries for cell in findings.cells})
    first = Section("fit", "Which distribution predicts new queries", (*conclusion(findings), _figure(findings)))
    tables = tuple(_table(findings, size) for size in sizes)
    return [first, Section("fit-tables", "Distance by number of queries", (Paragraph(_NOTE), *tables))]


def _families(findings: FitFindings) -> list[str]:
    return list(dict.fromkeys(cell.distribution for cell in findings.cells))


def _figure(findings: FitFindings) -> FigureBlock:
    panels = tuple(
        Panel(
            name, tuple(_curve(findings, name, family) for family in _families(findings) if _of(findings, name, family))
        )
        for name in findings.samples.names
    )
    data = Curves("queries fitted to", "mean distance ω̂", panels, log_y=True)
    caption = (
        "Mean distance ω̂ between distributions fitted to some queries and the queries left over, with the error of the "
        "trials as a band; lower is better. More queries leave fewer over to sum up, which lowers all curves."
    )
    best = [f"{cell.distribution} ({cell.sample}, {cell.n_queries} queries)" for cell in findings.cells if cell.best]
    alt = f"Distance by number of queries for {len(_families(findings))} distributions. Best: {'; '.join(best)}."
    return FigureBlock("fit-curves", caption, alt, data, curves)


def _of(findings: FitFindings, sample: str, family: str) -> list[FitCell]:
    return [cell for cell in findings.cells if (cell.sample, cell.distribution) == (sample, family)]


def _curve(findings: FitFindings, sample: str, family: str) -> Curve:
    cells = _of(findings, sample, family)
    x, y, low, high = (
        np.array([getattr(cell, name) for cell in cells]) for name in ("n_queries", "omega", "low", "high")
    )
    return Curve(family, x.astype(np.float64), y, low, high)


def _table(findings: FitFindings, size: int) -> TableBlock:
    families = _families(findings)
    columns = (
        Column("Sample", "left"),
        *(
            Column(name, about="mean distance ω̂, and the share of systems for which it is the lowest")
            for name in families
        ),
        Column("A query", about="distance of the best as a root mean square over queries, comparable between tables"),
        Column("Chosen", "left", about="what prediction intervals take here by themselves"),
    )
    rows, emphasised = [], set()
    for row, name in enumerate(findings.samples.names):
        cells = {cell.distribution: cell for cell in findings.cases[name, size]}
        emphasised |= {(row, 1 + i) for i, family in enumerate(families) if family in cells and cells[family].best}
        rows.append(
            (
                name,
                *(_cell(cells.get(family)) for family in families),
                f"{next(cell.rms for cell in cells.values() if cell.best):.3f}",
                next((cell.distribution for cell in cells.values() if cell.rule), ""),
            )
        )
    left = sorted({cell.n_left for cell in findings.cells if cell.n_queries == size})
    caption = (
        f"Mean distance ω̂ of distributions fitted to {size} queries from the {' or '.join(map(str, left))} left over, "
        "and in brackets the share of systems that each predicts best. Best in bold, those as good with an asterisk."
    )
    records = [record for record in findings.records() if record["n_queries"] == size]
    return TableBlock(f"fit-{size}", caption, columns, tuple(rows), records, frozenset(emphasised))


def _cell(cell: FitCell | None) -> str:
    if cell is None:
        return "–"
    return f"{cell.omega:.4f}{'*' if cell.as_good and not cell.best else ''} ({share(cell.best_for, 0)})"
