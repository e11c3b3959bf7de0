"""Stability: how often a significant difference would not be found again with other queries.

Each trial draws two disjoint subsets of every size, balanced over strata such as genres where there are any, as if two
collections had been built, and compares all pairs of systems on both. A pair is in *conflict* when it is significant on
one subset and not on the other: for *lack of power* when the difference has the same sign on both, a *minor* conflict
when the sign is opposite. When it is significant on both with opposite signs the conflict is *major*.

Urbano, J., Martín, D., Marrero, M. and Morato, J. Audio Music Similarity and Retrieval: Evaluation Power and Stability.
ISMIR 2011, pp. 609-614, sections 5, 6.2 and 7.

Reports of the power and the stability of an evaluation, with the figures of the paper that they come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.experiments.comparing import AGAIN, TIE, Comparing
from adjudge.experiments.power import (
    FRIEDMAN_AND_WILCOXON,
    Counts,
    CurveFindings,
    CurveRow,
    PowerFindings,
    RateCurve,
    cases_of,
    count_pairs,
    default_sizes,
    described,
    significant_with_all,
    strata_sentence,
)
from adjudge.experiments.power import RateCurve as Found
from adjudge.experiments.procedures import Procedure
from adjudge.experiments.rates import Rates, rates
from adjudge.experiments.report import EXPERIMENT_SECTIONS, conclusion, table_of
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.spec import Draws, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column, columns_of, interval_columns
from adjudge.tables import Heading, Table
from adjudge.text import percent, share, share_with

if TYPE_CHECKING:
    import polars as pl


RATES = ("power", "conflicts", "lack_of_power", "minor", "major", "unrepeated")
"""Rates of a curve, in the order of the main table."""


@experiment("stability")
@dataclass(frozen=True, kw_only=True)
class Stability(Comparing):
    """How often two disjoint sets of as many queries disagree on what is significant, up to half of the queries.

    >>> Stability(trials=10, procedures=("t", "wilcoxon-1@0.01")).to_dict()["procedures"]
    ['t', 'wilcoxon-1@0.01']
    """

    title: ClassVar[str] = "Stability of the evaluation"
    question: ClassVar[str] = "How many significant differences would not be found again with other queries?"

    procedures: tuple[Procedure, ...] = FRIEDMAN_AND_WILCOXON

    def prepared(self, samples: Samples) -> Stability:
        """With sizes settled, and refused where the samples have not two disjoint sets of them."""
        self.check_sizes(samples, count=2)
        n_queries = samples.fewest_queries
        return self if self.sizes else replace(self, sizes=default_sizes(n_queries, n_queries // 2))

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs of systems on two disjoint subsets of every size."""
        return self.compared(samples, draws, count=2)

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> StabilityFindings:
        """Rates of conflicts, by sample, procedure and size."""
        counted = {
            f"{one.name} {name}": expression
            for one in self.procedures
            for name, expression in _conditions(one, samples.largest).items()
        }
        counts = count_pairs(rows, samples, counted)
        whole = significant_with_all(samples, self)
        cases = cases_of(samples, counts)
        sizes = np.array(counts.sizes, dtype=np.int64)
        curves = []
        for one in self.procedures:
            found = _rates(counts, one, cases)
            for i, sample in enumerate(samples):
                parts = {name: each.at(i) for name, each in found.items()}
                curves.append(StabilityCurve(sample, one, sizes, **parts, whole=whole[sample.name, one.name]))
        return StabilityFindings(self, samples, rows, provenance, tuple(curves))


def _conditions(procedure: Procedure, largest: float) -> dict[str, pl.Expr]:
    """What is counted of the rows of one procedure; means that differ by rounding only have no sign."""
    import polars as pl

    def sign(column: str) -> pl.Expr:
        return pl.when(pl.col(column).abs() > TIE * largest).then(pl.col(column).sign()).otherwise(0.0)

    first, second = pl.col(procedure.name) <= procedure.alpha, pl.col(procedure.name + AGAIN) <= procedure.alpha
    # signs, not the product of differences, which can be too small for a number
    opposite = sign("difference") * sign("difference" + AGAIN) < 0
    return {
        "first": first,
        "second": second,
        "conflicts": first != second,
        "minor": (first != second) & opposite,
        "major": first & second & opposite,
    }


def _rates(counts: Counts, procedure: Procedure, cases: Floats) -> dict[str, Rates]:
    """The rates of a procedure: of pairs, of which power has two chances each; ``unrepeated`` of significant results.

    A significant result is a pair on one of the two subsets; it is not repeated when the other subset has no
    significant difference of the same sign, so that a major conflict makes two of them.
    """
    of = {name: counts.of[f"{procedure.name} {name}"] for name in ("first", "second", "conflicts", "minor", "major")}
    results = of["first"] + of["second"]
    return {
        "power": rates(results, 2 * cases),
        "conflicts": rates(of["conflicts"], cases),
        "lack_of_power": rates(of["conflicts"] - of["minor"], cases),
        "minor": rates(of["minor"], cases),
        "major": rates(of["major"], cases),
        "unrepeated": rates(of["conflicts"] + 2 * of["major"], results),
    }


@dataclass(frozen=True, eq=False, repr=False)
class StabilityCurve(RateCurve):
    """Rates over numbers of queries, all but the last of pairs of systems.

    ``power`` is the share that is significant on a subset, over both; ``conflicts`` the share that is significant on
    one of the two only, and ``lack_of_power`` and ``minor`` its parts with the same sign and with opposite ones;
    ``major`` the share that is significant on both with opposite signs. ``unrepeated`` is the share of significant
    results, not of pairs, that the other subset does not repeat with the same sign, ``repeated`` the share that it
    does; NaN where nothing was significant.
    ``whole`` is the number of pairs that are significant with all queries.
    """

    power: Rates
    conflicts: Rates
    lack_of_power: Rates
    minor: Rates
    major: Rates
    unrepeated: Rates
    whole: int

    @property
    def stable(self) -> Floats:
        """Power less conflicts, as the paper has it. It is no share: below 0 where more pairs conflict than agree.

        A pair that conflicts is significant on one of two subsets, and counts half in power but once in conflicts.
        """
        return self.power.value - self.conflicts.value

    @property
    def repeated(self) -> Floats:
        """Share of significant results that the other subset repeats with the same sign."""
        return 1 - self.unrepeated.value

    @property
    def both(self) -> Floats:
        """Share of pairs that are significant on both subsets with the same sign: power less half the conflicts."""
        both: Floats = np.maximum(self.power.value - self.conflicts.value / 2 - self.major.value, 0.0)  # not rounding
        return both

    @property
    def power_of_all(self) -> float:
        """Share of pairs that are significant with all queries."""
        return self.whole / self.sample.n_pairs

    @property
    def stable_of_all(self) -> float:
        """Power with all queries less the conflicts of the largest subsets: as if these no longer changed."""
        return self.power_of_all - float(self.conflicts.value[-1])

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a point; ends of intervals in ``_low`` and ``_high``."""
        return (*columns_of(CurveRow), *_RATE_COLUMNS)

    def points(self) -> list[dict[str, Any]]:
        """A row for every number of queries; ends of intervals in ``_low`` and ``_high``."""
        columns: dict[str, Floats] = {}
        for name in RATES:
            each: Rates = getattr(self, name)
            columns |= {name: each.value, f"{name}_low": each.low, f"{name}_high": each.high}
        columns |= {"repeated": self.repeated, "both": self.both}
        return [
            {**self.identity(), "n_queries": size, **{name: float(column[i]) for name, column in columns.items()}}
            for i, size in enumerate(self.n_queries.tolist())
        ]


_RATES_ABOUT = (
    "share of pairs that are significant on a set",
    "share of pairs that are significant on one of two sets only",
    "conflicts with the same sign",
    "conflicts with opposite signs",
    "share of pairs that are significant on both sets with opposite signs",
    "share of significant results that the other set does not repeat",
)
_RATE_COLUMNS = (
    *(
        column
        for name, about in zip(RATES, _RATES_ABOUT, strict=True)
        for column in interval_columns(name, Column(about, ".3f", shown=name not in ("lack_of_power", "minor")))
    ),
    Column("share of significant results that the other set repeats", ".3f", name="repeated", shown=False),
    Column("share of pairs that are significant on both sets with the same sign", ".3f", name="both", shown=False),
)


@dataclass(frozen=True, eq=False, repr=False)
class StabilityFindings(CurveFindings[StabilityCurve]):
    """Curves of stability: of the first procedure for every sample, then of the next."""

    experiment: Stability

    def summary(self) -> list[dict[str, Any]]:
        """The largest subsets: what is significant and what repeats; and what is significant with all queries."""
        return [
            {
                **one.identity(),
                "n_queries": int(one.n_queries[-1]),
                **{name: float(getattr(one, name).value[-1]) for name in ("power", "conflicts")},
                **{name: float(getattr(one, name)[-1]) for name in ("both", "repeated")},
                "unrepeated": float(one.unrepeated.value[-1]),
                "all_queries": len(one.sample.queries),
                "all_power": one.power_of_all,
            }
            for one in self.curves
        ]

    def sentences(self) -> list[str]:
        """What would not repeat, what conflicts are made of, how samples compare."""
        n = len(self.samples)
        main = self.curves[::n]
        told = [_unrepeated(one) for one in main]
        told += [_conflicting(one) for one in main]
        told += [_measures(self.curves[i : i + n]) for i in range(0, len(self.curves), n)] if n > 1 else []
        told += [_swaps(self), strata_sentence(self.samples)]
        return told

    def table(self, *, digits: int | None = None) -> Table:
        """Every sample and procedure with the largest subsets."""
        names = ("queries", "power", "conflicts", "on both", "repeated", "major")
        rows = [
            (
                curve.title,
                str(curve.n_queries[-1]),
                *(share(float(x[-1])) for x in (curve.power.value, curve.conflicts.value, curve.both)),
                *(share(float(x[-1])) for x in (curve.repeated, curve.major.value)),
            )
            for curve in self.curves
        ]
        return Table([Heading("", "left"), *map(Heading, names)], rows, self.title, self.sentences())


def _unrepeated(one: StabilityCurve) -> str:
    size, found = int(one.n_queries[-1]), one.unrepeated
    start = f"With {size} queries,"
    if not np.isfinite(found.value[-1]):
        return f"{start} nothing is significant by {one.sample.name}, {one.described}."
    rate = share_with(*found.at(-1).bounded)
    return (
        f"{start} {rate} of the significant results of {one.described} by {one.sample.name} would not repeat with "
        f"{size} other queries."
    )


def _conflicting(one: StabilityCurve) -> str:
    """Conflicts, of all pairs, and what they are made of."""
    size, conflicts = int(one.n_queries[-1]), float(one.conflicts.value[-1])
    found = (
        f"Of all {one.sample.n_pairs:,} pairs, {share(float(one.power.value[-1]))} are significant by {one.described} "
        f"with {size} queries, and {share(conflicts)} on one of two sets only"
    )
    if conflicts == 0:
        return f"{found}."
    lack = float(one.lack_of_power.value[-1]) / conflicts
    return f"{found}; {share(lack)} of these conflicts have the same sign on both sets."


def _measures(curves: tuple[StabilityCurve, ...]) -> str:
    """Which samples conflict least and most with the largest sets."""
    order = sorted(curves, key=lambda one: float(one.conflicts.value[-1]))
    least, most = order[0], order[-1]
    fewest, largest = (share(float(one.conflicts.value[-1])) for one in (least, most))
    return (
        f"By {least.described}, {least.sample.name} has the fewest conflicts ({fewest} of pairs) and "
        f"{most.sample.name} the most ({largest})."
    )


def _swaps(findings: StabilityFindings) -> str:
    """Differences that are significant both ways, in all trials and sizes."""
    trials = findings.rows["trial"].n_unique()
    parts = []
    for procedure in findings.experiment.procedures:
        curves = [one for one in findings.curves if one.procedure == procedure]
        swaps = sum(float(one.major.value.sum()) * one.sample.n_pairs * trials for one in curves)
        looked = sum(len(one.n_queries) * one.sample.n_pairs * trials for one in curves)
        number = "none" if round(swaps) == 0 else f"{round(swaps):,}"
        parts.append(f"{number} of {looked:,} comparisons by {procedure.name}")
    return f"Significant on both sets with opposite signs, over all sizes: {', '.join(parts)}."


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


_NAMES = (Heading("Sample", "left"), Heading("Test", "left"))


def _power_summary(findings: PowerFindings) -> TableBlock:
    part = percent(findings.experiment.enough)
    columns = (
        *_NAMES,
        Heading("Significant", about="pairs of systems, with all queries"),
        Heading(f"{part} with", about=f"fewest queries that find {part} as many pairs as all queries do"),
        Heading("As the first", about="fewest queries that find as many pairs as the first test does with all queries"),
        Heading("Doubling adds", about="pairs, by the logarithm fitted to the upper half of the curve"),
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
        Heading("Queries"),
        Heading("Power", about="share of pairs that are significant, with its interval"),
        Heading("Pairs", about="mean number of significant pairs"),
        Heading("Lost", about="significant pairs fewer than with all queries"),
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
        for row in one.points()
    ]
    return table_of("power-by-size", "Power by number of queries.", columns, rows, findings.to_dicts())


def _repeated_table(findings: StabilityFindings) -> TableBlock:
    columns = (
        *_NAMES,
        Heading("Queries"),
        Heading("Power", about="share of pairs that are significant on a set"),
        Heading("Conflicts", about="share of pairs that are significant on one of two disjoint sets only"),
        Heading("On both", about="share of pairs that are significant on both sets with the same sign"),
        Heading("Repeated", about="share of significant results that the other set repeats with the same sign"),
        Heading("Power, all", about="share of pairs that are significant with all queries"),
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
        Heading("Queries"),
        Heading("Conflicts", about="share of pairs, with its interval"),
        Heading("Lack of power", about="conflicts with the same sign on both sets"),
        Heading("Minor", about="conflicts with opposite signs"),
        Heading("Major", about="share of pairs that are significant on both sets with opposite signs"),
        Heading("Not repeated", about="share of significant results that the other set does not repeat"),
    )
    rows = [
        (
            *_named(one),
            str(row["n_queries"]),
            share_with(row["conflicts"], row["conflicts_low"], row["conflicts_high"]),
            *(share(row[name]) for name in ("lack_of_power", "minor", "major", "unrepeated")),
        )
        for one in findings.curves
        for row in one.points()
    ]
    return table_of("conflicts", "Conflicts by number of queries.", columns, rows, findings.to_dicts())


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
