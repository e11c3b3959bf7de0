"""Reports of the power and the stability of an evaluation, with the figures of the paper that they come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjudge.experiments.counting import Curve as Found
from adjudge.experiments.counting import described
from adjudge.experiments.power import PowerFindings
from adjudge.experiments.procedures import Procedure
from adjudge.experiments.rates import Rates
from adjudge.experiments.samples import Sample
from adjudge.experiments.stability import StabilityCurve, StabilityFindings
from adjudge.experiments.words import share, share_with
from adjudge.reports.document import Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reports.experiment_figures import Curve, Curves, Panel, curves
from adjudge.reports.experiments import EXPERIMENT_SECTIONS, conclusion, table_of
from adjudge.stats.intervals import percent

_ERROR = (
    "Intervals hold 95 % and are the error of having run so many trials, not that of having one collection. "
    "Subsets of one collection overlap, so that curves near all its queries are smoother than new queries would be."
)


@EXPERIMENT_SECTIONS.register("power")
def power_sections(findings: PowerFindings) -> Sequence[Section]:
    """What all queries find and how many would do, then the curves of every procedure."""
    figures = [_power_figure(findings, one) for one in findings.experiment.procedures]
    return (
        Section("power", "How many differences are found", (*conclusion(findings), _power_summary(findings))),
        Section(
            "power-by-size", "Power over the number of queries", (Paragraph(_ERROR), *figures, _power_table(findings))
        ),
    )


@EXPERIMENT_SECTIONS.register("stability")
def stability_sections(findings: StabilityFindings) -> Sequence[Section]:
    """What would not repeat, then the curves of every procedure and what conflicts are made of."""
    figures = [_stability_figure(findings, one) for one in findings.experiment.procedures]
    return (
        Section("stability", "How many results would not repeat", (*conclusion(findings), _repeated_table(findings))),
        Section(
            "stability-by-size",
            "Conflicts over the number of queries",
            (Paragraph(_ERROR), *figures, _conflict_table(findings)),
        ),
    )


def _named(one: Found) -> tuple[str, str]:
    return one.sample.name, one.described


_NAMES = (Column("Sample", "left"), Column("Test", "left"))


def _power_summary(findings: PowerFindings) -> TableBlock:
    part = percent(findings.experiment.enough)
    columns = (
        *_NAMES,
        Column("Significant", about="pairs of systems, with all queries"),
        Column(f"{part} with", about=f"fewest queries that find {part} as many pairs as all queries do"),
        Column("As the first", about="fewest queries that find as many pairs as the first test does with all queries"),
        Column("Doubling adds", about="pairs, by the logarithm fitted to the upper half of the curve"),
    )
    records = findings.summary()
    rows = [
        (
            *_named(one),
            f"{one.whole:,} of {one.sample.n_pairs:,}",
            str(row["enough"] or "–"),
            str(row["as_first"] or "–"),
            f"{row['twice_the_queries']:,.1f}",
        )
        for one, row in zip(findings.curves, records, strict=True)
    ]
    return table_of("power-summary", "Power with all queries, and with fewer.", columns, rows, records)


def _power_table(findings: PowerFindings) -> TableBlock:
    columns = (
        *_NAMES,
        Column("Queries"),
        Column("Power", about="share of pairs that are significant, with its interval"),
        Column("Pairs", about="mean number of significant pairs"),
        Column("Lost", about="significant pairs fewer than with all queries"),
    )
    rows = [
        (
            *_named(one),
            str(row["n_queries"]),
            share_with(row["power"], row["low"], row["high"]),
            f"{row['significant']:,.1f}",
            f"{row['lost']:,.1f}",
        )
        for one in findings.curves
        for row in one.records()
    ]
    return table_of("power-by-size", "Power by number of queries.", columns, rows, findings.records())


def _repeated_table(findings: StabilityFindings) -> TableBlock:
    columns = (
        *_NAMES,
        Column("Queries"),
        Column("Power", about="share of pairs that are significant on a set"),
        Column("Conflicts", about="share of pairs that are significant on one of two disjoint sets only"),
        Column("On both", about="share of pairs that are significant on both sets with the same sign"),
        Column("Repeated", about="share of significant results that the other set repeats with the same sign"),
        Column("Power, all", about="share of pairs that are significant with all queries"),
    )
    records = findings.summary()
    names = ("power", "conflicts", "both", "repeated", "all_power")
    rows = [
        (*_named(one), str(row["n_queries"]), *(share(row[name]) for name in names))
        for one, row in zip(findings.curves, records, strict=True)
    ]
    return table_of("repeated", "What is significant with the largest sets, and what repeats.", columns, rows, records)


def _conflict_table(findings: StabilityFindings) -> TableBlock:
    columns = (
        *_NAMES,
        Column("Queries"),
        Column("Conflicts", about="share of pairs, with its interval"),
        Column("Lack of power", about="conflicts with the same sign on both sets"),
        Column("Minor", about="conflicts with opposite signs"),
        Column("Major", about="share of pairs that are significant on both sets with opposite signs"),
        Column("Not repeated", about="share of significant results that the other set does not repeat"),
    )
    rows = [
        (
            *_named(one),
            str(row["n_queries"]),
            share_with(row["conflicts"], row["conflicts_low"], row["conflicts_high"]),
            *(share(row[name]) for name in ("lack_of_power", "minor", "major", "unrepeated")),
        )
        for one in findings.curves
        for row in one.records()
    ]
    return table_of("conflicts", "Conflicts by number of queries.", columns, rows, findings.records())


def _power_figure(findings: PowerFindings, procedure: Procedure) -> FigureBlock:
    first = {one.sample.name: one.whole / one.sample.n_pairs for one in findings.curves[: len(findings.samples)]}
    chosen = [one for one in findings.curves if one.procedure == procedure]
    data = _panels(chosen, "significant pairs", lambda one: one.power, lambda sample: first[sample.name], 1.0)
    caption = (
        f"Power of {described(procedure)}: pairs of systems that are significant. The dotted line is what "
        f"{described(findings.experiment.procedures[0])} finds with all queries by the first measure of a panel."
    )
    ends = "; ".join(f"{one.sample.name} {share(float(one.power.value[-1]))}" for one in chosen)
    alt = f"Share of significant pairs by {described(procedure)} over the number of queries. With all: {ends}."
    return FigureBlock(f"power-{_file_name(procedure)}", caption, alt, data, curves)


def _stability_figure(findings: StabilityFindings, procedure: Procedure) -> FigureBlock:
    chosen = [one for one in findings.curves if one.procedure == procedure]
    last = {one.sample.name: float(one.conflicts.value[-1]) for one in chosen}
    highest = max(float(np.nanmax(one.conflicts.high)) for one in findings.curves)
    top = min(np.ceil(highest * 10) / 10, 1.0)  # of all tests, so that their figures can be compared
    data = _panels(chosen, "pairs in conflict", lambda one: one.conflicts, lambda sample: last[sample.name], top)
    caption = (
        f"Conflicts of {described(procedure)}: pairs of systems that are significant on one of two disjoint sets of "
        "queries only. The dotted line is the rate of the first measure of a panel with the largest sets."
    )
    ends = "; ".join(f"{name} {share(rate)}" for name, rate in last.items())
    alt = f"Share of pairs in conflict by {described(procedure)} over the number of queries. Largest sets: {ends}."
    return FigureBlock(f"stability-{_file_name(procedure)}", caption, alt, data, curves)


def _file_name(procedure: Procedure) -> str:
    """The procedure as part of the name of a file or anchor, which brackets would break."""
    return re.sub(r"[^\w.+-]+", "-", procedure.name).strip("-")


def _panels(
    chosen: Sequence[Any],
    y_label: str,
    rates: Callable[[Any], Rates],
    level: Callable[[Sample], float],
    top: float,
) -> Curves:
    """A panel for every scale and collection, a line for every measure."""
    groups: dict[tuple[str, str], list[Found | StabilityCurve]] = {}
    for one in chosen:
        groups.setdefault((one.sample.collection, one.sample.scale), []).append(one)
    panels = tuple(
        Panel(" ".join(filter(None, key)), tuple(_line(one, rates(one)) for one in group), (level(group[0].sample),))
        for key, group in groups.items()
    )
    return Curves("queries", y_label, panels, y_top=top)


def _line(one: Found, found: Rates) -> Curve:
    return Curve(one.sample.measure, one.n_queries.astype(np.float64), found.value, found.low, found.high)
