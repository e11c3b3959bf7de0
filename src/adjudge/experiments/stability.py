"""Stability: how often a significant difference would not be found again with other queries.

Each trial draws two disjoint subsets of every size, balanced over strata such as genres where there are any, as if two
collections had been built, and compares all pairs of systems on both. A pair is in *conflict* when it is significant on
one subset and not on the other: for *lack of power* when the difference has the same sign on both, a *minor* conflict
when the sign is opposite. When it is significant on both with opposite signs the conflict is *major*.

Urbano, J., Martín, D., Marrero, M. and Morato, J. Audio Music Similarity and Retrieval: Evaluation Power and Stability.
ISMIR 2011, pp. 609-614, sections 5, 6.2 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.experiments.comparing import (
    ABOUT_INTERVALS,
    AGAIN,
    CURVE_KEYS,
    FRIEDMAN_AND_WILCOXON,
    TIE,
    ComparisonExperiment,
    CurveFindings,
    CurveRow,
    Procedure,
    ProcedureField,
    RateCurve,
    count_pairs,
    default_sizes,
    figure_name,
    rate_panels,
)
from adjudge.experiments.rates import Rates, rates
from adjudge.experiments.report import TableColumn, conclusion, share_of, table_of
from adjudge.experiments.samples import Samples
from adjudge.experiments.spec import EXPERIMENT_SECTIONS, Draws, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import curves
from adjudge.results import Column, columns_of, figure, interval_columns
from adjudge.text import share, share_with

if TYPE_CHECKING:
    import polars as pl


_ABOUT = {
    "power": "share of pairs that are significant on a set",
    "conflicts": "share of pairs that are significant on one of two sets only",
    "lack_of_power": "conflicts with the same sign",
    "minor": "conflicts with opposite signs",
    "major": "share of pairs that are significant on both sets with opposite signs",
    "unrepeated": "share of significant results that the other set does not repeat",
}
RATES = tuple(_ABOUT)
"""Rates of a curve, in the order of the main table."""


@experiment("stability")
@dataclass(frozen=True, kw_only=True)
class Stability(ComparisonExperiment):
    """How often two disjoint sets of as many queries disagree on what is significant, up to half of the queries.

    >>> Stability(trials=10, procedures=("t", "wilcoxon-1@0.01")).to_dict()["procedures"]
    ['t', 'wilcoxon-1@0.01']
    """

    title: ClassVar[str] = "Stability of the evaluation"
    question: ClassVar[str] = "How many significant differences would not be found again with other queries?"

    procedures: ProcedureField = FRIEDMAN_AND_WILCOXON

    def prepared(self, samples: Samples) -> Stability:
        """With sizes settled, and refused where the samples have no two disjoint sets of them."""
        self.check_sizes(samples, count=2)
        n_queries = samples.fewest_queries
        return replace(self, sizes=self.sizes or default_sizes(n_queries, n_queries // 2))

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs of systems on two disjoint subsets of every size."""
        return self.compare_pairs(samples, draws, count=2)

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> StabilityFindings:
        """Rates of conflicts, by sample, procedure and size."""
        conditions = {
            f"{procedure.name} {name}": condition
            for procedure in self.procedures
            for name, condition in _conditions(procedure, samples.largest).items()
        }
        sizes, cases, counts = count_pairs(rows, samples, conditions)
        whole = self.count_significant(samples)
        found = []
        for procedure in self.procedures:
            named = {name: counts[f"{procedure.name} {name}"] for name in _conditions(procedure, 0.0)}
            by_name = _rates(named, cases)
            for i, sample in enumerate(samples):
                parts = {name: rate.at(i) for name, rate in by_name.items()}
                found.append(StabilityCurve(sample, procedure, sizes, whole[sample.name, procedure.name], **parts))
        return StabilityFindings(self, samples, rows, provenance, tuple(found))


def _conditions(procedure: Procedure, largest: float) -> dict[str, pl.Expr]:
    """What is counted in the rows of one procedure; means that differ by rounding only have no sign."""
    import polars as pl

    def sign(column: str) -> pl.Expr:
        return pl.when(pl.col(column).abs() > TIE * largest).then(pl.col(column).sign()).otherwise(0.0)

    first, second = pl.col(procedure.name) <= procedure.alpha, pl.col(procedure.name + AGAIN) <= procedure.alpha
    # signs, because the product of differences may underflow
    opposite = sign("difference") * sign("difference" + AGAIN) < 0
    return {
        "first": first,
        "second": second,
        "conflicts": first != second,
        "minor": (first != second) & opposite,
        "major": first & second & opposite,
    }


def _rates(counts: Mapping[str, Floats], cases: Floats) -> dict[str, Rates]:
    """The rates of a procedure: of pairs, of which power has two chances each; ``unrepeated`` of significant results.

    A significant result is a pair on one of the two subsets; it is not repeated when the other subset has no
    significant difference of the same sign, so that a major conflict counts twice.
    """
    results, conflicts = counts["first"] + counts["second"], counts["conflicts"]
    return {
        "power": rates(results, 2 * cases),
        "conflicts": rates(conflicts, cases),
        "lack_of_power": rates(conflicts - counts["minor"], cases),
        "minor": rates(counts["minor"], cases),
        "major": rates(counts["major"], cases),
        "unrepeated": rates(conflicts + 2 * counts["major"], results),
    }


@dataclass(frozen=True, eq=False, repr=False)
class StabilityCurve(RateCurve):
    """Rates over numbers of queries, all but the last of pairs of systems.

    ``power`` is the share that is significant on a subset, over both; ``conflicts`` the share that is significant on
    one of the two only, and ``lack_of_power`` and ``minor`` its parts with the same sign and with opposite ones;
    ``major`` the share that is significant on both with opposite signs. ``unrepeated`` is the share of significant
    results, not of pairs, that the other subset does not repeat with the same sign, ``repeated`` the share that it
    does; NaN where nothing was significant.
    """

    power: Rates
    conflicts: Rates
    lack_of_power: Rates
    minor: Rates
    major: Rates
    unrepeated: Rates

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
        return np.maximum(self.power.value - self.conflicts.value / 2 - self.major.value, 0.0)  # not rounding

    @property
    def stable_of_all(self) -> float:
        """Power with all queries less the conflicts of the largest subsets: as if these no longer changed."""
        return self.whole_share - float(self.conflicts.value[-1])

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a point; ends of intervals in ``_low`` and ``_high``."""
        return (*columns_of(CurveRow), *_RATE_COLUMNS)

    def _points(self) -> dict[str, Floats]:
        columns: dict[str, Floats] = {}
        for name in RATES:
            rate: Rates = getattr(self, name)
            columns |= {name: rate.value, f"{name}_low": rate.low, f"{name}_high": rate.high}
        return {**columns, "repeated": self.repeated, "both": self.both}


_RATE_COLUMNS = (
    *(
        column
        for name, about in _ABOUT.items()
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
        names = ("n_queries", "power", "conflicts", "both", "repeated", "unrepeated")
        return [
            {
                **curve.identity(),
                **{name: row[name] for name in names},
                "all_queries": len(curve.sample.queries),
                "all_power": curve.whole_share,
            }
            for curve in self.curves
            for row in curve._rows()[-1:]
        ]

    def sentences(self) -> list[str]:
        """What would not repeat, what conflicts are made of, how samples compare."""
        by_procedure = self.by_procedure()
        said = [_unrepeated(several[0]) for several in by_procedure]
        said += [_conflicting(several[0]) for several in by_procedure]
        said += [_by_measure(several) for several in by_procedure] if len(self.samples) > 1 else []
        return [*said, _swaps(self), self.strata_sentence()]

    def _summary_block(self) -> TableBlock:
        """What is significant with the largest sets, and what repeats."""
        columns: list[TableColumn] = [
            *CURVE_KEYS,
            ("Power", _share("power"), _ABOUT["power"]),
            ("Conflicts", _share("conflicts"), "share of pairs that are significant on one of two disjoint sets only"),
            ("On both", _share("both"), "share of pairs that are significant on both sets with the same sign"),
            (
                "Repeated",
                _share("repeated"),
                "share of significant results that the other set repeats with the same sign",
            ),
            ("Power, all", _share("all_power"), "share of pairs that are significant with all queries"),
        ]
        caption = "What is significant with the largest sets, and what repeats."
        return table_of("repeated", caption, columns, self.summary())

    @figure("stability")
    def _rates(self, *, procedure: str = "") -> FigureBlock:
        """Conflicts over the number of queries by one procedure, the first unless another is named."""
        return _figure(self, self.of_procedure(procedure))


def _unrepeated(curve: StabilityCurve) -> str:
    size, described = int(curve.n_queries[-1]), curve.procedure.described
    last = curve.unrepeated.at(-1)
    if not np.isfinite(last.value):
        return f"With {size} queries, nothing is significant by {curve.title}."
    return (
        f"With {size} queries, {share_with(*last.bounded)} of the significant results of {described} by "
        f"{curve.sample.name} would not repeat with {size} other queries."
    )


def _conflicting(curve: StabilityCurve) -> str:
    """Conflicts, of all pairs, and what they are made of."""
    size, conflicts = int(curve.n_queries[-1]), float(curve.conflicts.value[-1])
    text = (
        f"Of all {curve.sample.n_pairs:,} pairs, {share(float(curve.power.value[-1]))} are significant by "
        f"{curve.procedure.described} with {size} queries, and {share(conflicts)} on one of two sets only"
    )
    if conflicts == 0:
        return f"{text}."
    lack = float(curve.lack_of_power.value[-1]) / conflicts
    return f"{text}; {share(lack)} of these conflicts have the same sign on both sets."


def _by_measure(several: Sequence[StabilityCurve]) -> str:
    """Which samples conflict least and most with the largest sets."""
    order = sorted(several, key=lambda curve: float(curve.conflicts.value[-1]))
    fewest, most = ((curve.sample.name, share(float(curve.conflicts.value[-1]))) for curve in (order[0], order[-1]))
    return (
        f"By {order[0].procedure.described}, {fewest[0]} has the fewest conflicts ({fewest[1]} of pairs) and "
        f"{most[0]} the most ({most[1]})."
    )


def _swaps(findings: StabilityFindings) -> str:
    """Differences that are significant both ways, in all trials and sizes."""
    trials = findings.rows["trial"].n_unique()
    parts = []
    for several in findings.by_procedure():
        swaps = sum(float(curve.major.value.sum()) * curve.sample.n_pairs * trials for curve in several)
        looked = sum(len(curve.n_queries) * curve.sample.n_pairs * trials for curve in several)
        number = "none" if round(swaps) == 0 else f"{round(swaps):,}"
        parts.append(f"{number} of {looked:,} comparisons by {several[0].procedure.name}")
    return f"Significant on both sets with opposite signs, over all sizes: {', '.join(parts)}."


@EXPERIMENT_SECTIONS.register("stability")
def stability_sections(findings: StabilityFindings) -> Sequence[Section]:
    """What would not repeat, then the curves of every procedure and what conflicts are made of."""
    conflicts: list[TableColumn] = [
        *CURVE_KEYS,
        ("Conflicts", share_of("conflicts"), "share of pairs, with its interval"),
        ("Lack of power", _share("lack_of_power"), "conflicts with the same sign on both sets"),
        ("Minor", _share("minor"), _ABOUT["minor"]),
        ("Major", _share("major"), _ABOUT["major"]),
        ("Not repeated", _share("unrepeated"), _ABOUT["unrepeated"]),
    ]
    by_size = "Conflicts by number of queries."
    table = table_of("conflicts", by_size, conflicts, findings._rows(), findings.to_dicts())
    figures = [findings.figure(procedure=several[0].procedure.name) for several in findings.by_procedure()]
    return (
        Section("stability", "How many results would not repeat", (*conclusion(findings), findings._summary_block())),
        Section(
            "stability-by-size",
            "Conflicts over the number of queries",
            (Paragraph(ABOUT_INTERVALS), *figures, table),
        ),
    )


def _share(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: share(row[name])


def _figure(findings: StabilityFindings, several: Sequence[StabilityCurve]) -> FigureBlock:
    described = several[0].procedure.described
    last = {curve.sample.name: float(curve.conflicts.value[-1]) for curve in several}
    highest = max(float(np.nanmax(curve.conflicts.high)) for curve in findings.curves)
    top = min(np.ceil(highest * 10) / 10, 1.0)  # of all tests, so that their figures can be compared
    data = rate_panels(several, "conflicts", "pairs in conflict", levels=last, top=top)
    caption = (
        f"Conflicts of {described}: pairs of systems that are significant on one of two disjoint sets of queries only. "
        "The dotted line is the rate of the first measure of a panel with the largest sets."
    )
    ends = "; ".join(f"{name} {share(rate)}" for name, rate in last.items())
    alt = f"Share of pairs in conflict by {described} over the number of queries. Largest sets: {ends}."
    return FigureBlock(figure_name("stability", several[0].procedure), caption, alt, data, curves)
