"""Stability: how often a significant difference would not be found again with other queries.

Each trial draws two disjoint subsets of every size, balanced over strata such as genres where there are any, as if two
collections had been built, and compares all pairs of systems on both. A pair is in *conflict* when it is significant on
one subset and not on the other: for *lack of power* when the difference has the same sign on both, a *minor* conflict
when the sign is opposite. When it is significant on both with opposite signs the conflict is *major*.

Urbano, J., Martín, D., Marrero, M. and Morato, J. Audio Music Similarity and Retrieval: Evaluation Power and Stability.
ISMIR 2011, pp. 609-614, sections 5, 6.2 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.experiments.comparing import AGAIN, TIE, Comparing
from adjudge.experiments.counting import (
    Counts,
    Curve,
    CurveFindings,
    cases_of,
    count_pairs,
    default_sizes,
    significant_with_all,
    strata_sentence,
)
from adjudge.experiments.power import FRIEDMAN_AND_WILCOXON
from adjudge.experiments.procedures import Procedure
from adjudge.experiments.rates import Rates, rates
from adjudge.experiments.samples import Samples
from adjudge.experiments.specification import Draws, Rows, experiment
from adjudge.experiments.words import share, share_with
from adjudge.model.provenance import Provenance
from adjudge.stats.effects import table

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


@dataclass(frozen=True, eq=False)
class StabilityCurve(Curve):
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

    def records(self) -> list[dict[str, Any]]:
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

    def __str__(self) -> str:
        head = ("", "queries", "power", "conflicts", "on both", "repeated", "major")
        rows = [
            (
                f"{one.sample.name}, {one.described}",
                str(one.n_queries[-1]),
                *(share(float(x[-1])) for x in (one.power.value, one.conflicts.value, one.both)),
                *(share(float(x[-1])) for x in (one.repeated, one.major.value)),
            )
            for one in self.curves
        ]
        return "\n".join([super().__str__(), *table([head, *rows])])


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
