"""The report about the optimality of tests: the figures and tables of thesis chapter 5, from the user's own data."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.experiments.conflicts import OUTCOMES, OutcomeRates
from adjudge.experiments.optimality import BINS, OptimalityFindings
from adjudge.experiments.samples import Sample
from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reports.experiment_figures import Curve, Curves, Panel, curves
from adjudge.reports.experiments import EXPERIMENT_SECTIONS, conclusion, table_of

SELECTED = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
"""The levels of thesis Table 5.3."""
_SIDE_BY_SIDE = ("non_significant", "minor_conflict", "success", "major_conflict", "lack_of_power", "global_conflict")
_CLOSE = (0.001, 0.1)  # the levels of Figures 5.2 and 5.3
_ABOUT = {
    "non_significant": "share of all comparisons that are not significant in the first set (lower is better)",
    "success": "of the significant, share significant with the same sign in the second set (higher is better)",
    "lack_of_power": "of the significant, share with the same sign but not significant in the second set",
    "minor_conflict": "of the significant, share with the other sign in the second set, not significantly",
    "major_conflict": "of the significant, share significant with the other sign in the second set",
    "global_conflict": "minor and major conflicts together; as many as the level is exact",
}


@EXPERIMENT_SECTIONS.register("tests")
def optimality_sections(findings: OptimalityFindings) -> Sequence[Section]:
    """Tests compared at all levels, then measures and scales, then tests with themselves and with one another."""
    sections = [Section("tests", "Which test", (*conclusion(findings), *_of_tests(findings)))]
    if len(findings.samples) > 1:
        sections.append(Section("tests-samples", "Which measure and scale", tuple(_of_samples(findings))))
    return [*sections, Section("tests-stability", "How stable tests are, and how alike", tuple(_of_p(findings)))]


def _of_tests(findings: OptimalityFindings) -> list[Block]:
    alpha = findings.experiment.alpha
    blocks: list[Block] = [
        _with_intervals(
            "tests-level", f"Tests at {alpha:g}, over all samples, with 95 % intervals.", findings.at(alpha)
        )
    ]
    if len(findings.paired.sizes) > 1:
        caption = f"Sizes of the sets of queries at {alpha:g}, over all tests and samples, with 95 % intervals."
        blocks.append(_with_intervals("tests-sizes", caption, findings.pooled([alpha])))
    return [*blocks, _figure(findings), _selected(findings), _exactness(findings)]


def _figure(findings: OptimalityFindings) -> FigureBlock:
    view = findings.by_test()
    mine = _largest(findings, view)
    panels = tuple(
        Panel(
            OUTCOMES[outcome],
            tuple(_curve(view, outcome, i, view.cells[i]["test"]) for i in mine),
            diagonal=outcome == "global_conflict",
        )
        for outcome in _SIDE_BY_SIDE
    )
    data = Curves("level α", "rate", panels, columns=2, log_x=True, log_y=True, share_y=False)
    conflict = findings.pooled([findings.experiment.alpha]).values["global_conflict"].value[-1, 0]
    alt = (
        f"Six panels of rates against the level, one curve for each of {', '.join(findings.tests)}. At "
        f"{findings.experiment.alpha:g} conflicts are {conflict:.4f} of the significant results."
    )
    caption = (
        f"Rates of every test over {len(view.levels)} levels with sets of {findings.size} queries; both axes are "
        "logarithmic, rates of 0 are left out, and bands are 95 % intervals of the trials. An exact test follows the "
        "dotted diagonal of the last panel."
    )
    return FigureBlock("tests-rates", caption, alt, data, curves)


def _curve(view: OutcomeRates, outcome: str, i: int, label: str, kept: Any = slice(None)) -> Curve:
    found = view.values[outcome]
    return Curve(label, view.levels[kept], found.value[i][kept], found.low[i][kept], found.high[i][kept])


def _largest(findings: OptimalityFindings, view: OutcomeRates) -> list[int]:
    """Cells of the largest sets."""
    return [i for i, cell in enumerate(view.cells) if cell["n_queries"] == findings.size]


def _with_intervals(name: str, caption: str, view: OutcomeRates) -> TableBlock:
    """All outcomes of every cell at one level."""
    named = [key for key in ("sample", "test") if key in view.cells[0]]
    rows = [
        [*(cell[key] for key in named), str(cell["n_queries"]), *(_shown(view, outcome, i) for outcome in OUTCOMES)]
        for i, cell in enumerate(view.cells)
    ]
    columns = [
        *(Column(key.capitalize(), "left") for key in named),
        Column("Queries", about="in each of the two sets"),
        *(Column(title, about=_ABOUT[outcome]) for outcome, title in OUTCOMES.items()),
    ]
    return table_of(name, caption, columns, rows, view.records())


def _shown(view: OutcomeRates, outcome: str, i: int) -> str:
    found = view.values[outcome]
    value, low, high = (float(one[i, 0]) for one in (found.value, found.low, found.high))
    return f"{_rate(value)} [{_rate(low)}, {_rate(high)}]" if np.isfinite(value) else "–"


def _rate(value: float) -> str:
    """Four digits after the point, or as many as it takes where those would be 0 or 1.

    >>> _rate(0.92314), _rate(0.0000016), _rate(0.0), _rate(0.999984), _rate(1.0)
    ('0.9231', '1.6e-06', '0', '0.999984', '1.0000')
    """
    if not np.isfinite(value):
        return "–"
    if 0 < (off := round(1 - value, 9)) < 0.00005:
        return f"{value:.{1 - floor(log10(off))}f}"
    return "0" if value == 0 else f"{value:.4f}" if value >= 0.00005 else f"{value:.1e}"


def _selected(findings: OptimalityFindings) -> TableBlock:
    """Table 5.3: one row a level and test, the best of each level in bold."""
    view = findings.by_test(SELECTED)
    mine = _largest(findings, view)
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for j, alpha in enumerate(view.levels.tolist()):
        for column, outcome in enumerate(OUTCOMES, 2):
            merit = _merit(outcome, view.values[outcome].value[mine, j], alpha)
            if np.isfinite(merit).any():
                best |= {(len(rows) + int(k), column) for k in np.flatnonzero(merit == np.nanmax(merit))}
        rows += [
            [f"{alpha:g}", view.cells[i]["test"], *(_rate(float(view.values[o].value[i, j])) for o in OUTCOMES)]
            for i in mine
        ]
    columns = [
        Column("α"),
        Column("Test", "left"),
        *(Column(title, about=_ABOUT[outcome]) for outcome, title in OUTCOMES.items()),
    ]
    caption = f"Tests at selected levels with sets of {findings.size} queries, over all samples; best in bold."
    table = table_of("tests-selected", caption, columns, rows, view.records())
    return TableBlock(table.name, caption, table.columns, table.rows, table.records, frozenset(best))


def _merit(outcome: str, value: Floats, alpha: float) -> Floats:
    """The higher, the better."""
    if outcome == "success":
        return value
    merit: Floats = -np.abs(value - alpha) if outcome == "global_conflict" else -value
    return merit


def _exactness(findings: OptimalityFindings) -> TableBlock:
    records = findings.exactness()
    rows = [[one["test"], f"{one['error']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"] for one in records]
    columns = [Column("Test", "left"), Column("Error", about="relative RMS error over all levels, 0 is exact")]
    caption = "How far the rate of global conflicts is from the level, relative to it, with 95 % intervals."
    return table_of("tests-exactness", caption, columns, rows, records)


def _of_samples(findings: OptimalityFindings) -> list[Block]:
    alpha = findings.experiment.alpha
    caption = f"Measures and scales at {alpha:g}, over all tests, with 95 % intervals."
    return [
        _with_intervals("tests-measures", caption, findings.by_sample([alpha])),
        _by_scale(findings, "tests-measures-power", "non_significant", "success"),
        _by_scale(findings, "tests-measures-conflicts", "minor_conflict", "major_conflict"),
    ]


def _by_scale(findings: OptimalityFindings, name: str, *outcomes: str) -> FigureBlock:
    """Figures 5.2 and 5.3: a row of panels a scale, a curve a measure."""
    view = findings.by_sample()
    kept = np.flatnonzero((view.levels >= _CLOSE[0]) & (view.levels <= _CLOSE[1]))
    members = {sample.name: sample for sample in findings.samples}
    mine = [(i, members[view.cells[i]["sample"]]) for i in _largest(findings, view)]
    panels = [
        Panel(
            f"{OUTCOMES[outcome]}, {scale}" if scale else OUTCOMES[outcome],
            tuple(_curve(view, outcome, i, _label(sample), kept) for i, sample in mine if sample.scale == scale),
        )
        for scale in dict.fromkeys(sample.scale for sample in findings.samples)
        for outcome in outcomes
    ]
    data = Curves("level α", "rate", tuple(panels), columns=2, log_x=True, log_y=True, share_y=False)
    words = " and ".join(OUTCOMES[outcome].lower() for outcome in outcomes)
    caption = (
        f"Rates of {words} by measure and scale, over all tests, with sets of {findings.size} queries; both axes are "
        "logarithmic and rates of 0 are left out."
    )
    alt = f"Panels of {words} against the level, one curve for each of {', '.join(findings.samples.names)}."
    return FigureBlock(name, caption, alt, data, curves)


def _label(sample: Sample) -> str:
    return f"{sample.measure} ({sample.collection})" if sample.collection else sample.measure


def _of_p(findings: OptimalityFindings) -> list[Block]:
    blocks: list[Block] = [
        Paragraph("A stable test gives a similar p-value with another set of queries; two tests are alike if they do."),
        _self_error(findings),
    ]
    if len(findings.tests) > 1:
        blocks.append(_agreement(findings))
    return blocks


def _self_error(findings: OptimalityFindings) -> TableBlock:
    """Table 5.5."""
    records = findings.self_error()
    rms = np.array([one["rms"] for one in records]).reshape(len(findings.tests), len(BINS)).T
    rows = [
        [f"{low:g} < p ≤ {high:g}" if low else f"p ≤ {high:g}", *(_rate(float(value)) for value in row)]
        for low, high, row in zip((0.0, *BINS), BINS, rms, strict=False)
    ]
    best = {(i, int(k) + 1) for i, row in enumerate(rms) if np.isfinite(row).any() for k in [np.nanargmin(row)]}
    caption = "Tests with themselves: RMS of p in the second set less p in the first, by p in the first. Best in bold."
    columns = (Column("Bin", "left"), *map(Column, findings.tests))
    return TableBlock("tests-self", caption, columns, tuple(map(tuple, rows)), records, frozenset(best))


def _bounded(record: dict[str, Any], key: str) -> str:
    return f"{_rate(record[key])} [{_rate(record[f'{key}_low'])}, {_rate(record[f'{key}_high'])}]"


def _agreement(findings: OptimalityFindings) -> TableBlock:
    records = findings.agreement()
    rows = [[one["test"], one["other"], _bounded(one, "same"), _bounded(one, "rms")] for one in records]
    columns = [
        Column("Test", "left"),
        Column("Other", "left"),
        Column("Same decision", about=f"share that both call significant at {findings.experiment.alpha:g}, or neither"),
        Column("RMS", about="root of the mean squared difference of their p-values"),
    ]
    return table_of("tests-agreement", "Tests with one another, with 95 % intervals.", columns, rows, records)
