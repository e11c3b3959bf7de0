"""The report of Type I, II and III errors: which tests keep their promise, and what they find or get wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from adjudge.experiments.error_findings import LEVELS, Detection, ErrorFindings, TypeOne
from adjudge.experiments.words import share, share_with
from adjudge.reports.document import Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reports.experiment_figures import Curve, Curves, Panel, curves
from adjudge.reports.experiments import EXPERIMENT_SECTIONS, conclusion, table_of

_PANELS_ACROSS = 3
_SIZE = (Column("Sample", "left"), Column("Queries"), Column("Test", "left"))


@EXPERIMENT_SECTIONS.register("errors")
def error_sections(findings: ErrorFindings) -> Sequence[Section]:
    """The conclusion, then each kind of error, then how faithful the simulation is."""
    alphas = list(dict.fromkeys(one.alpha for one in findings.spec.procedures))
    main = alphas[0]
    overall = [one for alpha in alphas for one in findings.detection(alpha)]
    binned = findings.detection(main, binned=True)
    sections = [
        Section("errors", "Which tests keep their promise", tuple(conclusion(findings))),
        Section(
            "type-one",
            "Type I errors: differences that are not there",
            (
                _type_one_figure(findings),
                _type_one_table(findings, alphas),
            ),
        ),
    ]
    if binned:
        sections += [
            Section(
                "type-two",
                "Power and Type II errors: differences that are missed",
                (
                    _power_figure(findings, binned, main),
                    _power_table(findings, overall, alphas),
                ),
            ),
            Section(
                "type-three",
                "Type III errors: the wrong direction",
                (
                    _direction_figure(findings, binned, main),
                    _difference_table(binned, main),
                ),
            ),
        ]
    return (*sections, _fidelity_section(findings))


def _panel_names(findings: ErrorFindings) -> list[tuple[str, int, str]]:
    """Sample and size of each panel, and its title."""
    several = len(findings.samples) > 1
    return [
        (sample, n, f"{sample}, {n} queries" if several else f"{n} queries")
        for sample in findings.samples.names
        for n in findings.spec.sizes
    ]


def _type_one_figure(findings: ErrorFindings) -> FigureBlock:
    errors = findings.type_one(LEVELS)
    panels = tuple(
        Panel(title, tuple(_error_curve(errors, sample, n, name) for name in findings.procedures), diagonal=True)
        for sample, n, title in _panel_names(findings)
    )
    data = Curves("level α", "actual Type I error", panels, columns=_PANELS_ACROSS, log_x=True, log_y=True)
    caption = (
        "Actual Type I error against the level α on null collections, both on logarithmic axes. On the dotted line a "
        "test errs as often as promised; above it, more often. Bands are Monte-Carlo intervals."
    )
    at = [one for one in findings.type_one([0.05]) if one.n_queries == findings.spec.sizes[-1]]
    each = ", ".join(f"{one.procedure} {share(one.rate)}" for one in at[: len(findings.procedures)])
    alt = f"Lines near the diagonal; at 0.05 with {findings.spec.sizes[-1]} queries: {each}."
    return FigureBlock("type-one-errors", caption, alt, data, curves)


def _error_curve(errors: Sequence[TypeOne], sample: str, n: int, procedure: str) -> Curve:
    here = [one for one in errors if (one.sample, one.n_queries, one.procedure) == (sample, n, procedure)]
    x, y, low, high = (np.array([getattr(one, name) for one in here]) for name in ("alpha", "rate", "low", "high"))
    return Curve(procedure, x, y, low, high)


def _type_one_table(findings: ErrorFindings, alphas: Sequence[float]) -> TableBlock:
    levels = findings.levels
    errors = findings.type_one(levels)
    columns = (
        *_SIZE,
        Column("Verdict", "left", about=f"whether the rate at {alphas[0]:g} is off it (interval for all verdicts)"),
        *(Column(f"α = {alpha:g}", about="share of comparisons in which a true null is rejected") for alpha in levels),
        Column("Any", about=f"share of collections with any false positive, at {alphas[0]:g}"),
    )
    by_cell = {(one.sample, one.n_queries, one.procedure, one.alpha): one for one in errors}
    rows = []
    for cell in findings.each():
        main = by_cell[(*cell, alphas[0])]
        each = [by_cell[(*cell, alpha)] for alpha in levels]
        shown = [share_with(one.rate, one.low, one.high) for one in each]
        family = share_with(main.any_rate, main.any_low, main.any_high)
        rows.append((cell[0], f"{cell[1]:,}", cell[2], main.verdict, *shown, family))
    caption = f"Actual Type I error by level, over {findings.experiment.trials:,} null collections of each size."
    return table_of("type-one", caption, columns, rows, [asdict(one) for one in errors])


def _power_figure(findings: ErrorFindings, binned: Sequence[Detection], alpha: float) -> FigureBlock:
    data = replace(_by_difference(findings, binned, "power", "power"), y_top=1.0)
    caption = (
        f"Share of true differences that are significant at {alpha:g} against how large they are (the mean of each "
        "bin). What lacks to 1 is the Type II error."
    )
    top = max(binned, key=lambda one: (one.n_queries, one.difference))
    alt = (
        f"Lines that rise with the true difference and with queries, to {share(top.power)} of differences of about "
        f"{top.difference:.3f} with {top.n_queries} queries."
    )
    return FigureBlock("power-by-difference", caption, alt, data, curves)


def _direction_figure(findings: ErrorFindings, binned: Sequence[Detection], alpha: float) -> FigureBlock:
    data = _by_difference(findings, binned, "type_three", "Type III error")
    caption = (
        f"Share of true differences that are significant at {alpha:g} in the wrong direction, against how large they "
        "are; the table has intervals. The dotted line is half the level, which it nears as differences vanish."
    )
    lines = [tuple(replace(one, low=None, high=None) for one in panel.curves) for panel in data.panels]  # mostly 0 of n
    panels = [Panel(one.title, drawn, (alpha / 2,)) for one, drawn in zip(data.panels, lines, strict=True)]
    data = replace(data, panels=tuple(panels))
    worst = max(binned, key=lambda one: one.type_three)
    alt = (
        f"Lines that fall as differences grow; the highest point is {share(worst.type_three)}, {worst.procedure} with "
        f"{worst.n_queries} queries."
    )
    return FigureBlock("type-three-errors", caption, alt, data, curves)


def _by_difference(findings: ErrorFindings, binned: Sequence[Detection], what: str, label: str) -> Curves:
    panels = []
    for sample, n, title in _panel_names(findings):
        lines = []
        for name in findings.procedures:
            here = [one for one in binned if (one.sample, one.n_queries, one.procedure) == (sample, n, name)]
            x, y, low, high = (
                np.array([getattr(one, column) for one in here])
                for column in ("difference", what, f"{what}_low", f"{what}_high")
            )
            lines.append(Curve(name, x, y, low, high))
        panels.append(Panel(title, tuple(lines)))
    return Curves("true difference", label, tuple(panels), columns=_PANELS_ACROSS)


def _power_table(findings: ErrorFindings, overall: Sequence[Detection], alphas: Sequence[float]) -> TableBlock:
    fair = {
        (one.sample, one.n_queries, one.procedure, one.alpha): one
        for alpha in alphas
        for one in findings.adjusted_power(alpha)
    }
    columns = (
        *_SIZE,
        Column("α"),
        Column("Power", about="share of true differences that are significant"),
        Column("Type II", about="share of true differences that are missed"),
        Column("Adjusted level", about="level at which the actual Type I error is α"),
        Column("Adjusted power", about="power at that level, for a fair comparison of tests"),
        Column("Type III", about="share of true differences that are significant in the wrong direction"),
        Column("Wrong", about="share of the significant ones that point the wrong way"),
    )
    rows = []
    for one in overall:
        held = fair[one.sample, one.n_queries, one.procedure, one.alpha]
        rows.append(
            (
                one.sample,
                f"{one.n_queries:,}",
                one.procedure,
                f"{one.alpha:g}",
                share_with(one.power, one.power_low, one.power_high),
                share(one.type_two),
                f"{held.level:.4f}",
                share_with(held.power, held.low, held.high),
                share_with(one.type_three, one.type_three_low, one.type_three_high),
                share_with(one.wrong, one.wrong_low, one.wrong_high),
            )
        )
    caption = "Power, Type II and Type III errors over all true differences."
    return table_of("power", caption, columns, rows, [asdict(one) for one in overall])


def _difference_table(binned: Sequence[Detection], alpha: float) -> TableBlock:
    columns = (
        *_SIZE,
        Column("True difference", "left"),
        Column("Cases"),
        Column("Power"),
        Column("Type III", about="significant in the wrong direction"),
        Column("Wrong", about="share of the significant ones that point the wrong way"),
    )
    rows = [
        (
            one.sample,
            f"{one.n_queries:,}",
            one.procedure,
            f"{one.least:g} or more" if np.isinf(one.most) else f"{one.least:g} to {one.most:g}",
            f"{one.cases:,}",
            share(one.power),
            share_with(one.type_three, one.type_three_low, one.type_three_high),
            share_with(one.wrong, one.wrong_low, one.wrong_high),
        )
        for one in binned
    ]
    caption = f"What becomes of true differences, by how large they are, at {alpha:g}."
    return table_of("by-difference", caption, columns, rows, [asdict(one) for one in binned])


def _fidelity_section(findings: ErrorFindings) -> Section:
    columns = (
        Column("Sample", "left"),
        Column("Figure", "left"),
        Column("Mean error", about="simulated collections on average against the data, over systems or pairs"),
        Column("Largest error"),
        Column("Noise", about="how far one simulated collection is from their average: what the data are at best"),
    )
    records = [
        {"sample": sample, **record} for sample, found in findings.fidelity().items() for record in found.records()
    ]
    numbers = ("mean_error", "max_error", "noise")
    rows = [(one["sample"], one["figure"], *(f"{one[name]:.4f}" for name in numbers)) for one in records]
    text = (
        "Errors are those of the simulated collections. They are those of the data as far as the simulation is "
        "faithful, above all in the standard deviation of differences, by which tests judge a difference."
    )
    table = table_of("fidelity", "Simulated collections beside the data.", columns, rows, records)
    return Section("fidelity", "How faithful the simulated collections are", (Paragraph(text), table))
