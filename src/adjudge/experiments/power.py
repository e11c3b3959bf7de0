"""Power: how many differences between systems a test finds, over the number of queries.

Each trial draws a subset of every size, balanced over strata such as genres where there are any, compares all pairs of
systems on it and keeps their p-values. The share of pairs that are significant is averaged over trials.

Urbano, J., Martín, D., Marrero, M. and Morato, J. Audio Music Similarity and Retrieval: Evaluation Power and Stability.
ISMIR 2011, pp. 609-614, sections 4 and 6.1.

Counting pairs of systems over trials: what power and stability have in common.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self, TypedDict, TypeVar, cast

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import SOME_SHARE, Constraints
from adjudge.errors import AdjudgeError, kept_warnings, unknown
from adjudge.experiments.comparing import Comparing
from adjudge.experiments.procedures import Procedure, run_procedures
from adjudge.experiments.rates import Rates, rates
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.spec import Draws, Findings, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.results import Column, Result
from adjudge.tables import Heading, Table
from adjudge.text import listed, percent, share

if TYPE_CHECKING:
    import polars as pl


ComparingT = TypeVar("ComparingT", bound=Comparing)
_STEPS = 20  # query-set sizes to look at, about
_FEWEST = 5  # queries below which power and stability are not looked at, unless there is nothing else
_KEYS = ("trial", "sample", "n_queries")


def default_sizes(n_queries: int, most: int) -> tuple[int, ...]:
    """About twenty equal steps from 5 to all queries, as far as ``most``, which is always one of them.

    >>> default_sizes(100, 50)
    (5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
    >>> default_sizes(6, 5), default_sizes(6, 3)
    ((5,), (3,))
    """
    step = max(1, round(n_queries / _STEPS))
    first = -(-_FEWEST // step) * step
    return (*range(first, most, step), most)


@dataclass(frozen=True)
class Counts:
    """Sums over the pairs of a trial, arrays trials x samples x sizes by name; ``sizes`` are in rising order."""

    sizes: tuple[int, ...]
    of: Mapping[str, Floats]

    @property
    def n_trials(self) -> int:
        """Trials that were counted."""
        return len(next(iter(self.of.values())))


def count_pairs(rows: pl.DataFrame, samples: Samples, counted: Mapping[str, pl.Expr]) -> Counts:
    """How many pairs of every trial, sample and size each expression holds for, in one pass over the rows."""
    import polars as pl

    sums = [expression.sum().cast(pl.Float64).alias(name) for name, expression in counted.items()]
    cells = rows.lazy().group_by(*_KEYS).agg(sums).sort(*_KEYS).collect()
    sizes = tuple(sorted(int(size) for size in cells["n_queries"].unique()))
    n_trials = cells["trial"].n_unique()
    shape = (n_trials, len(samples), len(sizes))
    if cells.height == 0 or cells.height != int(np.prod(shape)):
        raise AdjudgeError(f"expected rows of every sample and size in every trial, {shape}, got {cells.height} cells")
    return Counts(sizes, {name: cells[name].to_numpy().reshape(shape) for name in counted})


def cases_of(samples: Samples, counts: Counts) -> Floats:
    """Pairs of systems as an array of the shape of the counts."""
    pairs = np.array([float(sample.n_pairs) for sample in samples])
    cases: Floats = np.broadcast_to(pairs[:, np.newaxis], (counts.n_trials, len(samples), len(counts.sizes))).copy()
    return cases


def significant_with_all(samples: Samples, spec: Comparing) -> dict[tuple[str, str], int]:
    """How many pairs are significant with all queries, by the names of sample and procedure.

    No trial is needed for it. Samples may have different numbers of queries; resampled tests draw from the seed of the
    experiment, in one thread, so that the answer is the same everywhere.
    """
    from threadpoolctl import threadpool_limits

    found = {}
    with threadpool_limits(limits=1), kept_warnings():
        for sample in samples:
            (tested,) = run_procedures([sample.values], spec.procedures, resamples=spec.resamples, seed=spec.seed)
            for one in spec.procedures:
                found[sample.name, one.name] = int(np.count_nonzero(tested.p[one.name] <= one.alpha))
    return found


def at_levels(spec: ComparingT, alpha: float | Mapping[str, float]) -> ComparingT:
    """The same experiment at another level of all its procedures, or at one for each that is named."""
    names = [one.name for one in spec.procedures]
    levels = dict.fromkeys(names, alpha) if isinstance(alpha, int | float) else dict(alpha)
    for name in levels:
        if name not in names:
            raise unknown("test of this experiment", name, names)
    procedures = tuple(replace(one, alpha=levels.get(one.name, one.alpha)) for one in spec.procedures)
    return replace(spec, procedures=procedures)


class CurveRow(TypedDict):
    """What the rows of curves begin with."""

    sample: Annotated[str, Column("the sample", key=True)]
    collection: Annotated[str, Column("its collection", shown=False)]
    measure: Annotated[str, Column("its measure", shown=False)]
    scale: Annotated[str | None, Column("its scale", shown=False)]
    test: Annotated[str, Column("the test", key=True)]
    alpha: Annotated[float, Column("level of significance", "g")]
    n_queries: Annotated[int, Column("queries", "d", label="queries")]


@dataclass(frozen=True, eq=False, repr=False)
class RateCurve(Result):
    """What one procedure does on one sample, over numbers of queries in rising order."""

    sample: Sample
    procedure: Procedure
    n_queries: Ints

    @property
    def described(self) -> str:
        """The procedure and its level in words: ``friedman-tukey at 0.05``."""
        return described(self.procedure)

    @property
    def title(self) -> str:
        """The sample and the procedure."""
        return f"{self.sample.name}, {self.described}"

    @abstractmethod
    def points(self) -> list[dict[str, Any]]:
        """A row for every number of queries; what is not known is NaN."""

    def _rows(self) -> list[dict[str, Any]]:
        return self.points()

    def identity(self) -> dict[str, Any]:
        """What the rows of a table begin with."""
        one = self.sample
        names = {"sample": one.name, "collection": one.collection, "measure": one.measure, "scale": one.scale}
        return {**names, "test": self.procedure.name, "alpha": self.procedure.alpha}


def described(procedure: Procedure) -> str:
    """A procedure and its level in words."""
    return f"{procedure.name} at {procedure.alpha:g}"


CurveT = TypeVar("CurveT", bound=RateCurve)


@dataclass(frozen=True, eq=False, repr=False)
class CurveFindings(Findings, Generic[CurveT]):
    """Curves of the first procedure for every sample, then of the next."""

    experiment: Comparing
    curves: tuple[CurveT, ...]

    def of(self, sample: str, procedure: str) -> CurveT:
        """The curve of a sample and a procedure, by their names; names that are not there are refused."""
        for kind, name, known in (
            ("sample", sample, [one.sample.name for one in self.curves]),
            ("test of this experiment", procedure, [one.procedure.name for one in self.curves]),
        ):
            if name not in known:
                raise unknown(kind, name, dict.fromkeys(known))
        return next(one for one in self.curves if (one.sample.name, one.procedure.name) == (sample, procedure))

    def at(self, alpha: float | Mapping[str, float]) -> Self:
        """The same trials at another level: one for all procedures, or by their names."""
        found = at_levels(self.experiment, alpha).findings(self.samples, self.rows, self.provenance)
        return cast("Self", found)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the curves."""
        return self.curves[0].columns

    def _rows(self) -> list[dict[str, Any]]:
        """A row for every sample, procedure and number of queries."""
        return [row for curve in self.curves for row in curve.points()]


def strata_sentence(samples: Samples) -> str:
    """Whether queries were drawn evenly from strata."""
    numbers = {len(set(sample.strata)) for sample in samples if sample.strata}
    if not numbers:
        return "Queries were drawn at random without replacement."
    words = f"{numbers.pop()} strata" if len(numbers) == 1 else "the strata"
    return f"Queries were drawn at random without replacement, balanced over {words}."


FRIEDMAN_AND_WILCOXON = (Procedure("friedman-tukey"), Procedure("wilcoxon", one_sided=True, alpha=0.01))
"""What MIREX does, and what the paper proposes instead."""


@experiment("power")
@dataclass(frozen=True, kw_only=True)
class Power(Comparing):
    """How many pairs of systems differ significantly, for numbers of queries up to all.

    ``enough`` is the share of what all queries find that is held to be enough of it. Without ``sizes``, about twenty
    from 5 queries on are looked at; all queries need no trials and are always there.

    >>> Power(trials=100).to_dict()["procedures"]
    ['friedman-tukey', 'wilcoxon-1@0.01']
    """

    title: ClassVar[str] = "Power of the evaluation"
    question: ClassVar[str] = "How many differences between systems are found, with how many queries?"

    constraints: ClassVar[Constraints] = {**Comparing.constraints, "enough": SOME_SHARE}

    procedures: tuple[Procedure, ...] = FRIEDMAN_AND_WILCOXON
    enough: float = 0.95

    def prepared(self, samples: Samples) -> Power:
        """With sizes settled, and refused where the samples have not as many queries."""
        from dataclasses import replace

        self.check_sizes(samples, count=1)
        if self.sizes:
            return self
        n_queries = samples.fewest_queries
        return replace(self, sizes=default_sizes(n_queries, n_queries)[:-1] or (n_queries - 1,))

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs of systems on one subset of every size."""
        return self.compared(samples, draws, count=1)

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> PowerFindings:
        """Shares of significant pairs, by sample, procedure and size."""
        import polars as pl

        counted = {one.name: pl.col(one.name) <= one.alpha for one in self.procedures}
        counts = count_pairs(rows, samples, counted)
        whole = significant_with_all(samples, self)
        cases = cases_of(samples, counts)
        curves = tuple(
            _curve(sample, one, counts, found.at(i), whole[sample.name, one.name])
            for one, found in ((one, rates(counts.of[one.name], cases)) for one in self.procedures)
            for i, sample in enumerate(samples)
        )
        return PowerFindings(self, samples, rows, provenance, curves)


class PowerRow(CurveRow):
    """A point of a curve of power."""

    power: Annotated[float, Column("share of pairs that are significant", ".3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    significant: Annotated[float, Column("mean number of significant pairs", ",.1f")]
    lost: Annotated[float, Column("significant pairs fewer than with all queries", ",.1f")]


@dataclass(frozen=True, eq=False, repr=False)
class PowerCurve(RateCurve):
    """Shares of pairs that are significant, over numbers of queries; the last is all of them.

    ``whole`` is the number of pairs that are significant with all queries.
    """

    power: Rates
    whole: int

    @property
    def whole_share(self) -> float:
        """Share of pairs that are significant with all queries."""
        return self.whole / self.sample.n_pairs

    @property
    def significant(self) -> Floats:
        """Mean number of significant pairs."""
        return self.power.value * self.sample.n_pairs

    @property
    def lost(self) -> Floats:
        """How many significant pairs fewer than with all queries."""
        lost: Floats = np.round(self.whole - self.significant, 9) + 0.0  # 79 / 153 * 153 is a little more than 79
        return lost

    def reaching(self, number: float) -> int | None:
        """The fewest queries from which on as many pairs are significant, as far as was looked at; None where none."""
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
        used = self._upper if self._upper_is_enough else np.ones_like(self._upper)
        if used.sum() < 2:
            return float("nan")
        slope = np.polyfit(np.log(self.n_queries[used]), self.significant[used], 1)[0]
        return float(slope * np.log(2))

    @property
    def _upper(self) -> Mask:
        upper: Mask = self.n_queries >= self.n_queries[-1] / 2
        return upper

    @property
    def _upper_is_enough(self) -> bool:
        return int(self._upper.sum()) > 2

    @property
    def fitted_part(self) -> str:
        """The part of the curve that :meth:`gain` is fitted to, in words."""
        return "the upper half of the curve" if self._upper_is_enough else "the curve"

    row_type = PowerRow

    def points(self) -> list[dict[str, Any]]:
        """A row for every number of queries."""
        columns = zip(
            self.n_queries.tolist(),
            *(part.tolist() for part in (self.power.value, self.power.low, self.power.high)),
            self.significant.tolist(),
            self.lost.tolist(),
            strict=True,
        )
        names = ("n_queries", "power", "low", "high", "significant", "lost")
        return [{**self.identity(), **dict(zip(names, row, strict=True))} for row in columns]


def _curve(sample: Sample, procedure: Procedure, counts: Counts, found: Rates, whole: int) -> PowerCurve:
    """With the point of all queries at the end, which has no error of trials."""
    sizes, n_queries = list(counts.sizes), len(sample.queries)
    tried = [i for i, size in enumerate(sizes) if size < n_queries]
    share_of_all = whole / sample.n_pairs
    ends = {"value": share_of_all, "error": 0.0, "low": share_of_all, "high": share_of_all}
    found = Rates(**{name: np.append(getattr(found, name)[tried], end) for name, end in ends.items()})
    return PowerCurve(sample, procedure, np.array([*(sizes[i] for i in tried), n_queries], np.int64), found, whole)


@dataclass(frozen=True, eq=False, repr=False)
class PowerFindings(CurveFindings[PowerCurve]):
    """Curves of power: of the first procedure for every sample, then of the next."""

    experiment: Power

    def summary(self) -> list[dict[str, Any]]:
        """A row for every sample and procedure: with all queries, how many queries are enough, what more would bring.

        ``as_first`` is the fewest queries that find as many pairs as the first procedure does with all.
        """
        first = {one.sample.name: one for one in self.curves[: len(self.samples)]}
        return [
            {
                **one.identity(),
                "n_pairs": one.sample.n_pairs,
                "n_queries": len(one.sample.queries),
                "significant": one.whole,
                "power": one.whole / one.sample.n_pairs,
                "enough": one.enough(self.experiment.enough),
                "as_first": one.reaching(first[one.sample.name].whole),
                "twice_the_queries": one.gain(),
            }
            for one in self.curves
        ]

    def sentences(self) -> list[str]:
        """What all queries find, how many would do, what other procedures and measures do."""
        n = len(self.samples)
        main = self.curves[::n] if n else ()
        told = [_with_all(main[0], self.experiment.enough), _fewer(main[0])]
        told += [_against(one, main[0]) for one in main[1:]]
        told += [_measures(self.curves[i : i + n]) for i in range(0, len(self.curves), n)] if n > 1 else []
        told += [_more(main[0]), strata_sentence(self.samples)]
        return [sentence for sentence in told if sentence]

    def table(self, *, digits: int | None = None) -> Table:
        """Every sample and procedure: with all queries, how many queries are enough, what more would bring."""
        headings = [
            Heading("", "left"),
            Heading("all queries", about="pairs that are significant with all queries"),
            Heading(f"{percent(self.experiment.enough)} with", about="fewest queries that find this part of them"),
            Heading("doubling adds", about="pairs that twice the queries would find"),
        ]
        rows = [
            (
                curve.title,
                f"{curve.whole:,} of {curve.sample.n_pairs:,}",
                str(curve.enough(self.experiment.enough) or "–"),
                f"{curve.gain():,.1f}",
            )
            for curve in self.curves
        ]
        return Table(headings, rows, self.title, self.sentences())


def _with_all(one: PowerCurve, part: float) -> str:
    n_queries, n_pairs = len(one.sample.queries), one.sample.n_pairs
    found = (
        f"With all {n_queries} queries, {one.whole:,} of {n_pairs:,} pairs of systems ({share(one.whole_share, 0)}) "
        f"differ significantly by {one.sample.name}, {one.described}"
    )
    enough = one.enough(part)
    if enough is None or len(one.n_queries) == 1:  # nothing to find, or no smaller set was tried
        return f"{found}."
    if enough == n_queries:
        return f"{found}; with any of the smaller sets that were tried, fewer than {percent(part)} of them."
    return f"{found}; {enough} queries are enough to find {percent(part)} as many."


def _fewer(one: PowerCurve) -> str:
    """What is lost with seven tenths of the queries, and with half."""
    n_queries = int(one.n_queries[-1])
    told: list[str] = []
    if not one.significant.any():
        return ""
    for part in (0.7, 0.5):
        place = int(np.argmin(np.abs(one.n_queries[:-1] - part * n_queries))) if len(one.n_queries) > 1 else -1
        if place >= 0 and abs(one.n_queries[place] - part * n_queries) <= 0.1 * n_queries:
            lost, size = one.lost[place], int(one.n_queries[place])
            told.append(f"with {size} of {n_queries} queries {abs(lost):,.1f} {'fewer' if lost >= 0 else 'more'}")
    words = " and ".join(dict.fromkeys(told))
    return f"On average over trials, {words} would be found." if told else ""


def _against(one: PowerCurve, first: PowerCurve) -> str:
    """How many queries another procedure needs for what the first finds with all."""
    as_many = one.reaching(first.whole)
    found = f"{one.described} finds {one.whole:,} with all queries"
    found = found[0].upper() + found[1:]
    if as_many is None:
        return f"{found}, fewer than {first.described}."
    if as_many == int(one.n_queries[-1]):
        return f"{found}; with fewer queries it does not find as many as {first.described} with all."
    return f"{found}; {as_many} queries are enough for it to find as many as {first.described} with all."


def _measures(curves: tuple[PowerCurve, ...]) -> str:
    """Which samples give most and least, with all queries."""
    order = sorted(curves, key=lambda one: -one.whole_share)
    best, worst = order[0], order[-1]
    if best.whole_share == worst.whole_share:
        return f"By {best.described}, all find the same share with all queries ({share(best.whole_share)})."
    most, least = ([one.sample.name for one in order if one.whole_share == end.whole_share] for end in (best, worst))
    return (
        f"By {best.described}, {listed(most)} {'find' if len(most) > 1 else 'finds'} the largest share with all "
        f"queries ({share(best.whole_share)}) and {listed(least)} the smallest ({share(worst.whole_share)})."
    )


def _more(one: PowerCurve) -> str:
    gain = one.gain()
    if not np.isfinite(gain):
        return ""
    return (
        f"If {one.fitted_part} of {one.described} goes on as the logarithm fitted to it, twice the queries would find "
        f"{max(gain, 0.0):,.1f} pairs more."
    )
