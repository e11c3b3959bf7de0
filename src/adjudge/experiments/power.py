"""Power: how many differences between systems a test finds, over the number of queries.

Each trial draws a subset of every size, balanced over strata such as genres where there are any, compares all pairs of
systems on it and keeps their p-values. The share of pairs that are significant is averaged over trials.

Urbano, J., Martín, D., Marrero, M. and Morato, J. Audio Music Similarity and Retrieval: Evaluation Power and Stability.
ISMIR 2011, pp. 609-614, sections 4 and 6.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.checks import SOME_SHARE, Constraints
from adjudge.experiments.comparing import (
    ABOUT_INTERVALS,
    CURVE_KEYS,
    FRIEDMAN_AND_WILCOXON,
    ComparisonExperiment,
    CurveFindings,
    CurveRow,
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
from adjudge.results import Column, figure
from adjudge.text import listed, percent, share

if TYPE_CHECKING:
    import polars as pl


@experiment("power")
@dataclass(frozen=True, kw_only=True)
class Power(ComparisonExperiment):
    """How many pairs of systems differ significantly, for numbers of queries up to all.

    ``enough`` is the share of what all queries find that is considered enough. Without ``sizes``, there are about
    twenty from 5 queries on; all queries need no trials and are always included.

    >>> Power(trials=100).to_dict()["procedures"]
    ['friedman-tukey', 'wilcoxon-1@0.01']
    """

    title: ClassVar[str] = "Power of the evaluation"
    question: ClassVar[str] = "How many differences between systems are found, with how many queries?"

    constraints: ClassVar[Constraints] = {**ComparisonExperiment.constraints, "enough": SOME_SHARE}

    procedures: ProcedureField = FRIEDMAN_AND_WILCOXON
    enough: float = 0.95

    def prepared(self, samples: Samples) -> Power:
        """With sizes settled, and refused where the samples have too few queries."""
        self.check_sizes(samples, count=1)
        n_queries = samples.fewest_queries
        return replace(self, sizes=self.sizes or default_sizes(n_queries, n_queries)[:-1] or (n_queries - 1,))

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs of systems on one subset of every size."""
        return self.compare_pairs(samples, draws, count=1)

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> PowerFindings:
        """Shares of significant pairs, by sample, procedure and size."""
        import polars as pl

        conditions = {each.name: pl.col(each.name) <= each.alpha for each in self.procedures}
        sizes, cases, counts = count_pairs(rows, samples, conditions)
        whole = self.count_significant(samples)
        found = []
        for procedure in self.procedures:
            power = rates(counts[procedure.name], cases)
            for i, sample in enumerate(samples):
                n_queries, n_whole = len(sample.queries), whole[sample.name, procedure.name]
                tried = sizes < n_queries
                end = n_whole / sample.n_pairs  # all queries have no error of trials
                ends = {"value": end, "error": 0.0, "low": end, "high": end}
                parts = {name: np.append(getattr(power, name)[i, tried], value) for name, value in ends.items()}
                found.append(PowerCurve(sample, procedure, np.append(sizes[tried], n_queries), n_whole, Rates(**parts)))
        return PowerFindings(self, samples, rows, provenance, tuple(found))


class PowerRow(CurveRow):
    """A point of a curve of power."""

    power: Annotated[float, Column("share of pairs that are significant", ".3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    significant: Annotated[float, Column("mean number of significant pairs", ",.1f")]
    lost: Annotated[float, Column("significant pairs fewer than with all queries", ",.1f")]


@dataclass(frozen=True, eq=False, repr=False)
class PowerCurve(RateCurve):
    """Shares of pairs that are significant, over numbers of queries; the last is all of them."""

    power: Rates

    row_type = PowerRow

    @property
    def significant(self) -> Floats:
        """Mean number of significant pairs."""
        return self.power.value * self.sample.n_pairs

    @property
    def lost(self) -> Floats:
        """How many significant pairs fewer than with all queries."""
        return np.round(self.whole - self.significant, 9) + 0.0  # 79 / 153 * 153 is a little more than 79

    def reaching(self, number: float) -> int | None:
        """The fewest queries from which on at least this number of pairs is significant; None where none are enough."""
        enough: Mask = self.significant >= number - 1e-9
        from_here = np.logical_and.accumulate(enough[::-1])[::-1]
        return int(self.n_queries[np.argmax(from_here)]) if from_here.any() else None

    def enough(self, part: float = 0.95) -> int | None:
        """The fewest queries that find this part of what all queries find; None where all find nothing."""
        return self.reaching(part * self.whole) if self.whole else None

    def gain(self) -> float:
        """How many more pairs twice the queries would find: b ln 2 of the fit of y = a + b ln n.

        By least squares over numbers of queries from half of all on, where curves are close to logarithms; over all
        where that leaves fewer than three, and NaN with fewer than two.
        """
        used = self._upper if self._upper.sum() > 2 else np.ones_like(self._upper)
        if used.sum() < 2:
            return float("nan")
        slope = np.polyfit(np.log(self.n_queries[used]), self.significant[used], 1)[0]
        return float(slope * np.log(2))

    @property
    def _upper(self) -> Mask:
        upper: Mask = self.n_queries >= self.n_queries[-1] / 2
        return upper

    @property
    def fitted_part(self) -> str:
        """The part of the curve that :meth:`gain` is fitted to, in words."""
        return "the upper half of the curve" if self._upper.sum() > 2 else "the curve"

    def _points(self) -> dict[str, Floats]:
        ends = {"power": self.power.value, "low": self.power.low, "high": self.power.high}
        return {**ends, "significant": self.significant, "lost": self.lost}


@dataclass(frozen=True, eq=False, repr=False)
class PowerFindings(CurveFindings[PowerCurve]):
    """Curves of power: of the first procedure for every sample, then of the next."""

    experiment: Power

    def summary(self) -> list[dict[str, Any]]:
        """A row for every sample and procedure: with all queries, how many queries are enough, what more would bring.

        ``as_first`` is the fewest queries that find as many pairs as the first procedure does with all.
        """
        first = {curve.sample.name: curve for curve in self.by_procedure()[0]}
        return [
            {
                **curve.identity(),
                "n_pairs": curve.sample.n_pairs,
                "n_queries": len(curve.sample.queries),
                "significant": curve.whole,
                "power": curve.whole_share,
                "enough": curve.enough(self.experiment.enough),
                "as_first": curve.reaching(first[curve.sample.name].whole),
                "twice_the_queries": curve.gain(),
            }
            for curve in self.curves
        ]

    def sentences(self) -> list[str]:
        """What all queries find, how many would do, what other procedures and measures do."""
        by_procedure = self.by_procedure()
        first, *others = (several[0] for several in by_procedure)
        said = [_with_all(first, self.experiment.enough), _with_fewer(first)]
        said += [_against_first(curve, first) for curve in others]
        said += [_by_measure(several) for several in by_procedure] if len(self.samples) > 1 else []
        if np.isfinite(first.gain()):
            said.append(
                f"If {first.fitted_part} of {first.procedure.described} goes on as the logarithm fitted to it, twice "
                f"the queries would find {max(first.gain(), 0.0):,.1f} pairs more."
            )
        return [sentence for sentence in [*said, self.strata_sentence()] if sentence]

    def _summary_block(self) -> TableBlock:
        """With all queries, how many queries are enough, what more would bring."""
        part = percent(self.experiment.enough)
        as_first = "fewest queries that find as many pairs as the first test does with all queries"
        columns: list[TableColumn] = [
            *CURVE_KEYS[:2],
            ("Significant", "{significant:,} of {n_pairs:,}", "pairs of systems, with all queries"),
            (
                f"{part} with",
                lambda row: str(row["enough"] or "–"),
                f"fewest queries that find {part} as many pairs as all queries do",
            ),
            ("As the first", lambda row: str(row["as_first"] or "–"), as_first),
            (
                "Doubling adds",
                "{twice_the_queries:,.1f}",
                "pairs, by the logarithm fitted to the upper half of the curve",
            ),
        ]
        return table_of("power-summary", "Power with all queries, and with fewer.", columns, self.summary())

    @figure("power")
    def _rates(self, *, procedure: str = "") -> FigureBlock:
        """Power over the number of queries by one procedure, the first unless another is named."""
        return _figure(self, self.of_procedure(procedure))


def _with_all(curve: PowerCurve, part: float) -> str:
    n_queries, n_pairs = len(curve.sample.queries), curve.sample.n_pairs
    text = (
        f"With all {n_queries} queries, {curve.whole:,} of {n_pairs:,} pairs of systems "
        f"({share(curve.whole_share, 0)}) differ significantly by {curve.title}"
    )
    enough = curve.enough(part)
    if enough is None or len(curve.n_queries) == 1:  # nothing to find, or no smaller set was tried
        return f"{text}."
    if enough == n_queries:
        return f"{text}; with any of the smaller sets that were tried, fewer than {percent(part)} of them."
    return f"{text}; {enough} queries are enough to find {percent(part)} as many."


def _with_fewer(curve: PowerCurve) -> str:
    """What is lost with seven tenths of the queries, and with half."""
    sizes, n_queries = curve.n_queries[:-1], int(curve.n_queries[-1])
    if not curve.significant.any() or not len(sizes):
        return ""
    said = []
    for part in (0.7, 0.5):
        place = int(np.argmin(np.abs(sizes - part * n_queries)))
        if abs(sizes[place] - part * n_queries) <= 0.1 * n_queries:
            lost = curve.lost[place]
            more = f"{abs(lost):,.1f} {'fewer' if lost >= 0 else 'more'}"
            said.append(f"with {sizes[place]} of {n_queries} queries {more}")
    return f"On average over trials, {' and '.join(dict.fromkeys(said))} would be found." if said else ""


def _against_first(curve: PowerCurve, first: PowerCurve) -> str:
    """How many queries another procedure needs for what the first finds with all."""
    as_many, other = curve.reaching(first.whole), first.procedure.described
    text = f"{curve.procedure.described} finds {curve.whole:,} with all queries"
    text = text[0].upper() + text[1:]
    if as_many is None:
        return f"{text}, fewer than {other}."
    if as_many == int(curve.n_queries[-1]):
        return f"{text}; with fewer queries it does not find as many as {other} with all."
    return f"{text}; {as_many} queries are enough for it to find as many as {other} with all."


def _by_measure(several: Sequence[PowerCurve]) -> str:
    """Which samples give most and least, with all queries."""
    shares = sorted({curve.whole_share for curve in several})
    by = f"By {several[0].procedure.described}"
    if len(shares) == 1:
        return f"{by}, all find the same share with all queries ({share(shares[0])})."
    most, least = (
        [curve.sample.name for curve in several if curve.whole_share == end] for end in (shares[-1], shares[0])
    )
    return (
        f"{by}, {listed(most)} {'find' if len(most) > 1 else 'finds'} the largest share with all queries "
        f"({share(shares[-1])}) and {listed(least)} the smallest ({share(shares[0])})."
    )


@EXPERIMENT_SECTIONS.register("power")
def power_sections(findings: PowerFindings) -> Sequence[Section]:
    """What all queries find and how many would do, then the curves of every procedure."""
    figures = [findings.figure(procedure=several[0].procedure.name) for several in findings.by_procedure()]
    columns = (
        *CURVE_KEYS,
        ("Power", share_of("power", "low", "high"), "share of pairs that are significant, with its interval"),
        ("Pairs", "{significant:,.1f}", "mean number of significant pairs"),
        ("Lost", "{lost:,.1f}", "significant pairs fewer than with all queries"),
    )
    table = table_of("power-by-size", "Power by number of queries.", columns, findings.to_dicts())
    return (
        Section("power", "How many differences are found", (*conclusion(findings), findings._summary_block())),
        Section("power-by-size", "Power over the number of queries", (Paragraph(ABOUT_INTERVALS), *figures, table)),
    )


def _figure(findings: PowerFindings, several: Sequence[PowerCurve]) -> FigureBlock:
    procedure, first = several[0].procedure, findings.by_procedure()[0]
    levels = {curve.sample.name: curve.whole_share for curve in first}
    data = rate_panels(several, "power", "significant pairs", levels=levels, top=1.0)
    caption = (
        f"Power of {procedure.described}: pairs of systems that are significant. The dotted line is what "
        f"{first[0].procedure.described} finds with all queries by the first measure of a panel."
    )
    ends = "; ".join(f"{curve.sample.name} {share(float(curve.power.value[-1]))}" for curve in several)
    alt = f"Share of significant pairs by {procedure.described} over the number of queries. With all: {ends}."
    return FigureBlock(figure_name("power", procedure), caption, alt, data, curves)
