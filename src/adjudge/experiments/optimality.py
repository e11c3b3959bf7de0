"""Which significance test is the most powerful, the safest and the most exact; and by which measure and scale.

Queries are split at random into two disjoint sets, which stand for two collections, and all pairs of systems are tested
on both. Of each pair and test there is a p-value and a difference of means on both sets, and one of these happens at a
level α (thesis section 5.3):

- *non-significance*: the first finds nothing, p > α;
- *success*: both are significant and have the same sign;
- *lack of power*: the first is significant, the second has the same sign but is not;
- *minor conflict*: the first is significant, the second has the other sign and is not;
- *major conflict*: both are significant, with different signs. Minor and major together are *global* conflicts.

The first rate is a share of all comparisons, the others of those that are significant in the first set. Which of the
two sets comes first is arbitrary, so each takes its turn: rates are the same on average, from twice the comparisons.
Equal means point to neither system. They are not significant whatever p (only tests that do not look at means, such as
Wilcoxon's, could say otherwise), and in the second set they are a lack of power, not a conflict.

A powerful test has few non-significant results, a safe one few conflicts, an exact one as many as its level promises
(thesis chapter 5), over 32 levels. Conflicts approximate Type I errors and do not equal them: which systems really
differ is not known here, and rates are shares of the significant results, not of the pairs without a difference.
Intervals are the error of having drawn this number of trials, not that of having one collection only.

Urbano, J., Marrero, M., Martín, D. A comparison of the optimality of statistical significance tests for information
retrieval evaluation. SIGIR 2013. doi:10.1145/2484028.2484163
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError
from adjudge.experiments.comparing import AGAIN, FIVE_PROCEDURES, TIE, ComparisonExperiment, ProcedureField
from adjudge.experiments.rates import (
    LEVELS,
    Rates,
    check_levels,
    find_leaders,
    jackknife_error,
    leave_one_out,
    rates,
)
from adjudge.experiments.report import TableColumn, conclusion, table_of
from adjudge.experiments.samples import Samples
from adjudge.experiments.spec import EXPERIMENT_SECTIONS, Draws, Findings, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column, Result, figure, interval_columns
from adjudge.tables import Heading, Table
from adjudge.text import counted, listed, percent, share_with

if TYPE_CHECKING:
    import polars as pl


OUTCOMES: Mapping[str, str] = {
    "non_significant": "Non-significance",
    "success": "Success",
    "lack_of_power": "Lack of power",
    "minor_conflict": "Minor conflict",
    "major_conflict": "Major conflict",
    "global_conflict": "Global conflict",
}
"""What can come of a comparison, and how it is called."""
BINS: tuple[float, ...] = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0)
"""Upper ends of the bins of p-values in thesis Table 5.5, and what is above its last."""
SELECTED = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
"""The levels of thesis Table 5.3."""
_SAMPLES, _TESTS = 1, 3  # axes of the counts
_CLEAR = 1.96  # Monte-Carlo errors to either side of a value in its interval
_NONE = "nothing is significant"


@experiment("tests")
@dataclass(frozen=True, kw_only=True)
class Optimality(ComparisonExperiment):
    """All pairs of systems tested on two disjoint sets of queries, by default halves of the collection.

    The 100,000 resamples are those of the thesis: the lowest level, 0.0001, leaves 10 of them. All tests are examined
    at the same levels; the one after their ``@``, the same for all, is that at which conclusions are drawn.

    >>> Optimality(procedures=("t@0.01", "sign"))
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: tests: expected one level for all tests, got 0.01 and 0.05
    """

    title = "Optimality of significance tests"
    question = "Which test is the most powerful, the safest and the most exact?"

    trials: int = 300
    procedures: ProcedureField = FIVE_PROCEDURES
    resamples: int = 100_000

    def __post_init__(self) -> None:
        super().__post_init__()
        levels = sorted({procedure.alpha for procedure in self.procedures})
        if len(levels) > 1:
            several = listed([f"{alpha:g}" for alpha in levels])
            raise AdjudgeError(f"{self.name}: expected one level for all tests, got {several}")

    @property
    def alpha(self) -> float:
        """The level at which conclusions are drawn."""
        return self.procedures[0].alpha

    def prepared(self, samples: Samples) -> Optimality:
        """Without sizes, half of the queries of the smallest sample."""
        settled = replace(self, sizes=self.sizes or (samples.fewest_queries // 2,))
        settled.check_sizes(samples, count=2)
        return settled

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs on two disjoint sets of every size."""
        return self.compare_pairs(samples, draws, count=2)

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> OptimalityFindings:
        """Rates of outcomes, from the p-values of all trials."""
        return OptimalityFindings(self, samples, rows, provenance)


@dataclass(frozen=True)
class PairedComparisons:
    """All comparisons, read from the rows of an experiment.

    ``group`` numbers trial, sample and size together, with ``shape`` of them; ``first`` and ``second`` are p-values,
    tests x comparisons; ``sign`` and ``sign_again`` are 1, 0 or -1.
    """

    group: Ints
    shape: tuple[int, int, int]
    sizes: tuple[int, ...]
    first: Floats
    second: Floats
    sign: Floats
    sign_again: Floats

    @classmethod
    def from_rows(
        cls, rows: pl.DataFrame, samples: Sequence[str], tests: Sequence[str], largest: float
    ) -> PairedComparisons:
        """Comparisons of rows that :mod:`~adjudge.experiments.comparing` made.

        Differences of means are 0 where they are rounding of values that reach ``largest``.
        """
        import polars as pl

        trials, trial = np.unique(rows["trial"].to_numpy(), return_inverse=True)
        sizes, size = np.unique(rows["n_queries"].to_numpy(), return_inverse=True)
        sample = rows["sample"].cast(pl.Enum(list(samples))).to_physical().to_numpy().astype(np.int64)
        differences = (rows["difference" + suffix].to_numpy() for suffix in ("", AGAIN))
        return cls(
            (trial.astype(np.int64) * len(samples) + sample) * len(sizes) + size,
            (len(trials), len(samples), len(sizes)),
            tuple(sizes.tolist()),
            *(np.stack([rows[name + suffix].to_numpy() for name in tests]) for suffix in ("", AGAIN)),
            *(np.where(np.abs(values) <= TIE * largest, 0.0, np.sign(values)) for values in differences),
        )

    def totals(self, cell: Ints, n_cells: int, weights: Floats | None = None) -> Floats:
        """How many comparisons (or the sum of their weights) each group has in each cell: trials x ... x cells."""
        sums = np.bincount(self.group * n_cells + cell, weights, minlength=int(np.prod(self.shape)) * n_cells)
        return sums.astype(np.float64).reshape(*self.shape, n_cells)

    def totals_by_trial(self, weights: Floats | None = None) -> Floats:
        """Comparisons of each trial (or the sum of their weights): trials x 1."""
        summed: Floats = self.totals(np.zeros_like(self.group), 1, weights).sum(axis=(1, 2))
        return summed


Counts = dict[str, tuple[Floats, Floats]]
"""How often each outcome happened, and out of how many: arrays trials x samples x sizes x tests x levels."""


def count_outcomes(paired: PairedComparisons, levels: Floats) -> Counts:
    """Count outcomes at every level, which ascend, in one pass over the p-values.

    A p-value is significant from the least level that is not below it on, so that the histogram of those levels, summed
    up, counts the significant at each; both are from the larger p on.
    """
    never = len(levels)
    direction = paired.sign * paired.sign_again

    def up_to(place: Ints, which: Mask | None = None) -> Floats:
        weights = None if which is None else which.astype(np.float64)
        return paired.totals(place, never + 1, weights)[..., :never].cumsum(axis=-1)

    parts = []
    for p, p_again in zip(paired.first, paired.second, strict=True):
        start = np.where(paired.sign == 0, never, np.searchsorted(levels, p))
        again = np.where(paired.sign_again == 0, never, np.searchsorted(levels, p_again))
        both = np.maximum(start, again)
        significant, opposite = (up_to(start, which) + up_to(again, which) for which in (None, direction < 0))
        parts.append((significant, opposite, 2 * up_to(both, direction > 0), 2 * up_to(both, direction < 0)))
    significant, opposite, success, major = (np.stack(part, axis=_TESTS) for part in zip(*parts, strict=True))
    cases = np.broadcast_to(2 * paired.totals(np.zeros_like(paired.group), 1)[..., None], significant.shape)
    return {
        "non_significant": (cases - significant, cases),
        "success": (success, significant),
        "lack_of_power": (significant - opposite - success, significant),
        "minor_conflict": (opposite - major, significant),
        "major_conflict": (major, significant),
        "global_conflict": (opposite, significant),
    }


@dataclass(frozen=True, repr=False)
class OutcomeRates(Result):
    """Rates of all outcomes: ``values[outcome]`` has an array cells x levels; ``cells`` say what each is about."""

    cells: tuple[dict[str, Any], ...]
    levels: Floats
    values: Mapping[str, Rates]
    significant: Floats
    """Significant comparisons that the rates after the first rest on, cells x levels."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """A record of every cell and level."""
        for i, cell in enumerate(self.cells):
            for j, alpha in enumerate(self.levels.tolist()):
                record = {**cell, "alpha": alpha, "significant": int(self.significant[i, j])}
                for outcome, rate in self.values.items():
                    names = (outcome, f"{outcome}_low", f"{outcome}_high")
                    record |= dict(zip(names, rate.at((i, j)).bounded, strict=True))
                yield record

    @property
    def title(self) -> str:
        """What it is, in one line."""
        return f"Outcomes of comparisons, {counted(len(self.levels), 'level')}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """What each cell is about, level, significant comparisons, and the rates with their intervals."""
        return (
            *(_CELL_COLUMNS[name] for name in self.cells[0]),
            Column("level of significance", "g", name="alpha"),
            Column("significant comparisons", ",d", name="significant", kind="whole"),
            *(
                column
                for outcome in self.values
                for column in interval_columns(
                    outcome, Column(f"rate of {OUTCOMES[outcome].lower()}", ".4f", label=OUTCOMES[outcome])
                )
            ),
        )

    def _rows(self) -> list[dict[str, Any]]:
        return list(self)

    def __repr__(self) -> str:
        return f"<OutcomeRates: {counted(len(self.cells), 'cell')}, {counted(len(self.levels), 'level')}>"


_CELL_COLUMNS = {
    "sample": Column("the sample", name="sample", kind="text", key=True),
    "n_queries": Column("queries of a set", "d", name="n_queries", kind="whole", label="queries"),
    "test": Column("the test", name="test", kind="text", key=True),
}


def relative_error(rate: Floats, levels: Floats) -> Floats:
    """How far conflict rates are from their levels: sqrt(mean(((rate - α) / α)²)) over the last axis.

    Thesis section 5.5 gives this of each test over 32 levels; 0 is an exact test. Levels at which nothing is
    significant have no rate and are left out.

    >>> round(float(relative_error(np.array([0.005, 0.05]), np.array([0.01, 0.05]))), 3)
    0.354
    """
    known = np.isfinite(rate)
    squares = np.where(known, ((rate - levels) / levels) ** 2, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        error: Floats = np.sqrt(squares.sum(axis=-1) / known.sum(axis=-1))
    return error


@dataclass(frozen=True, eq=False, repr=False)
class OptimalityFindings(Findings):
    """Rates of success, lack of power and conflict of every test and sample, at any level."""

    experiment: Optimality

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests."""
        return tuple(procedure.name for procedure in self.experiment.procedures)

    @property
    def size(self) -> int:
        """The largest sets of queries, which conclusions are about."""
        return self.paired.sizes[-1]

    @cached_property
    def paired(self) -> PairedComparisons:
        """All comparisons."""
        return PairedComparisons.from_rows(self.rows, self.samples.names, self.tests, self.samples.largest)

    @cached_property
    def _all_levels(self) -> Counts:
        return count_outcomes(self.paired, np.array(LEVELS))

    def counts(self, levels: Sequence[float] | None = None, *, samples: bool = False, tests: bool = False) -> Counts:
        """What happened in every trial; without levels, at the 32 of the thesis.

        Counts are summed over ``samples``, ``tests`` or both, which keep an axis of length 1.
        """
        counts = self._all_levels
        if levels is not None and set(levels) <= set(LEVELS):
            places = np.searchsorted(LEVELS, check_levels(levels))
            counts = {name: (hits[..., places], of[..., places]) for name, (hits, of) in counts.items()}
        elif levels is not None:
            counts = count_outcomes(self.paired, check_levels(levels))
        axes = tuple(axis for axis, is_over in ((_SAMPLES, samples), (_TESTS, tests)) if is_over)
        return {
            name: (hits.sum(axis=axes, keepdims=True), of.sum(axis=axes, keepdims=True))
            for name, (hits, of) in counts.items()
        }

    def by_test(self, levels: Sequence[float] | None = None) -> OutcomeRates:
        """Rates of every test, over all samples (thesis Table 5.3, Figure 5.1)."""
        return self._view(levels, samples=True, tests=False)

    def by_sample(self, levels: Sequence[float] | None = None) -> OutcomeRates:
        """Rates of every measure and scale, over all tests (thesis Table 5.4, Figures 5.2 and 5.3)."""
        return self._view(levels, samples=False, tests=True)

    def by_test_and_sample(self, levels: Sequence[float] | None = None) -> OutcomeRates:
        """Rates of every test with every measure and scale."""
        return self._view(levels, samples=False, tests=False)

    def pooled(self, levels: Sequence[float] | None = None) -> OutcomeRates:
        """Rates over all tests and samples."""
        return self._view(levels, samples=True, tests=True)

    def at(self, alpha: float) -> OutcomeRates:
        """Rates of every test at one level, whichever it is."""
        return self.by_test([alpha])

    def _view(self, levels: Sequence[float] | None, *, samples: bool, tests: bool) -> OutcomeRates:
        names: Mapping[str, Sequence[Any]] = {
            "sample": [None] if samples else self.samples.names,
            "n_queries": self.paired.sizes,
            "test": [None] if tests else self.tests,
        }
        cells = [
            {name: value for name, value in zip(names, cell, strict=True) if value is not None}
            for cell in product(*names.values())
        ]
        steps = check_levels(LEVELS if levels is None else levels)
        shape = (-1, len(cells), len(steps))
        counts = self.counts(levels, samples=samples, tests=tests)
        values = {name: rates(hits.reshape(shape), of.reshape(shape)) for name, (hits, of) in counts.items()}
        significant = counts["success"][1].reshape(shape).sum(axis=0)
        return OutcomeRates(tuple(cells), steps, values, significant)

    def exactness(self) -> list[dict[str, Any]]:
        """Relative RMS error of the global conflict rate over the 32 levels, of every test, with its interval.

        The interval is of ± 1.96 errors by the jackknife over trials. Few conflicts at the lowest levels make this
        error larger than it would be with more trials.
        """
        value, without = self._exact()
        error = jackknife_error(without)
        return [
            {"test": test, "error": float(v), "low": float(max(v - _CLEAR * e, 0.0)), "high": float(v + _CLEAR * e)}
            for test, v, e in zip(self.tests, value, error, strict=True)
        ]

    def most_exact(self) -> tuple[str, ...]:
        """Tests by how exact they are: the first leads, others are not clearly behind it."""
        return find_leaders(self.tests, *self._exact())

    def _exact(self) -> tuple[Floats, Floats]:
        hits, cases = (x[:, 0, -1] for x in self.counts(samples=True)["global_conflict"])  # trials x tests x levels
        levels = np.array(LEVELS)
        return relative_error(rates(hits, cases).value, levels), relative_error(leave_one_out(hits, cases), levels)

    def self_error(self) -> list[dict[str, Any]]:
        """RMS of p in the second set less p in the first, of every test by bins of the first (thesis Table 5.5).

        Either set is the first in its turn, and all sizes and samples are taken together.
        """
        records = []
        for test, *both in zip(self.tests, self.paired.first, self.paired.second, strict=True):
            known = np.isfinite(both[0]) & np.isfinite(both[1])
            squares: Floats = np.where(known, (both[1] - both[0]) ** 2, 0.0)
            sums, cases = np.zeros((2, self.paired.shape[0], len(BINS)))
            for p in both:
                place = np.searchsorted(np.array(BINS[:-1]), np.where(known, p, 1.0))
                sums += self.paired.totals(place, len(BINS), squares).sum(axis=(1, 2))
                cases += self.paired.totals(place, len(BINS), known.astype(np.float64)).sum(axis=(1, 2))
            for i, (low, high) in enumerate(zip((0.0, *BINS), BINS, strict=False)):
                records.append({"test": test, "above": low, "up_to": high, **_root(sums[:, i], cases[:, i])})
        return records

    def agreement(self, alpha: float | None = None) -> list[dict[str, Any]]:
        """How alike two tests are: share of comparisons decided the same at a level, and RMS difference of their p.

        Smucker, M. D., Allan, J., Carterette, B. A comparison of statistical significance tests for information
        retrieval evaluation. CIKM 2007. doi:10.1145/1321440.1321528
        """
        level = self.experiment.alpha if alpha is None else alpha
        records = []
        for i, j in combinations(range(len(self.tests)), 2):
            a, b = (np.stack([self.paired.first[k], self.paired.second[k]]) for k in (i, j))
            same = self.paired.totals_by_trial(((a <= level) == (b <= level)).sum(axis=0).astype(np.float64))
            apart = self.paired.totals_by_trial(((a - b) ** 2).sum(axis=0))
            cases = 2 * self.paired.totals_by_trial()
            names = ("same", "same_low", "same_high")
            share = dict(zip(names, rates(same[:, 0], cases[:, 0]).bounded, strict=True))
            tests = {"test": self.tests[i], "other": self.tests[j]}
            records.append({**tests, "alpha": level, **share, **_root(apart[:, 0], cases[:, 0])})
        return records

    def leaders(self, outcome: str, *, highest: bool = False, alpha: float | None = None) -> tuple[str, ...]:
        """Tests with the lowest (or highest) rate at a level: the first leads, others are not clearly behind it.

        Tests see the same queries, so that differences between them are more certain than their intervals suggest: what
        counts is the jackknife error of the difference.
        """
        level = self.experiment.alpha if alpha is None else alpha
        hits, cases = (x[:, 0, -1, :, 0] for x in self.counts([level], samples=True)[outcome])  # trials x tests
        return find_leaders(self.tests, rates(hits, cases).value, leave_one_out(hits, cases), highest=highest)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the rates of every test at the 32 levels."""
        return self.by_test().columns

    def _rows(self) -> list[dict[str, Any]]:
        return list(self.by_test())

    def sentences(self) -> list[str]:
        """The conclusion, then power, safety, exactness, measures, and what to keep in mind."""
        said = [_repeats(self, size) for size in reversed(range(len(self.paired.sizes)))]
        if len(self.tests) > 1:
            said += [_power(self), _safety(self), _exactness(self)]
        said.append(_nominal(self))
        if len(self.samples) > 1:
            said.append(_by_measure(self))
        drawn = [procedure.name for procedure in self.experiment.procedures if procedure.resampled]
        least = 1 / (self.experiment.resamples + 1)
        if drawn and least > LEVELS[0]:
            said.append(
                f"With {self.experiment.resamples:,} resamples p of {listed(drawn)} is at least {least:.2g}: at lower "
                "levels they cannot be significant."
            )
        return [
            *said,
            "Conflicts approximate Type I errors: which systems really differ is not known here. Intervals hold "
            f"{percent(0.95)} and are of the trials, not of having one collection only.",
        ]

    def _facts(self) -> dict[str, Any]:
        return {
            **super()._facts(),
            "by_sample": self.by_sample([self.experiment.alpha]).to_dicts(),
            "exactness": self.exactness(),
            "self_error": self.self_error(),
            "agreement": self.agreement(),
        }

    def table(self, *, digits: int | None = None) -> Table:
        """Rates of every test at the main level."""
        view = self.at(self.experiment.alpha)
        return replace(view.table(digits=digits), title=self.title, notes=self.sentences())

    @figure("tests-rates")
    def _rates(self) -> FigureBlock:
        """Rates of every test over the levels."""
        return _figure(self)

    @figure("tests-measures-power")
    def _power_by_scale(self) -> FigureBlock:
        """What is found, by measure and scale."""
        return _by_scale(self, "tests-measures-power", "non_significant", "success")

    @figure("tests-measures-conflicts")
    def _conflicts_by_scale(self) -> FigureBlock:
        """What conflicts, by measure and scale."""
        return _by_scale(self, "tests-measures-conflicts", "minor_conflict", "major_conflict")


def _root(squares: Floats, cases: Floats) -> dict[str, float]:
    """RMS with its interval, by the jackknife over trials."""
    total = float(cases.sum())
    value = float(np.sqrt(squares.sum() / total)) if total else float("nan")
    half = _CLEAR * float(jackknife_error(np.sqrt(leave_one_out(squares, cases))))
    return {"rms": value, "rms_low": max(value - half, 0.0), "rms_high": min(value + half, 1.0)}


def _interval(rate: Rates, i: int) -> str:
    """A rate with its interval: ``92.3 % [92.0, 92.6]``."""
    return share_with(*rate.at((i, 0)).bounded)


def _repeats(findings: OptimalityFindings, size: int) -> str:
    alpha = findings.experiment.alpha
    pooled = findings.pooled([alpha])
    if not pooled.significant[size, 0]:
        return f"At {alpha:g}, {_NONE} with {findings.paired.sizes[size]} queries."
    shown = {outcome: _interval(rate, size) for outcome, rate in pooled.values.items()}
    return (
        f"At {alpha:g}, {shown['success']} of the significant results repeat in a second collection of "
        f"{findings.paired.sizes[size]} queries, {shown['lack_of_power']} do not for lack of power, and "
        f"{shown['global_conflict']} point the other way; {shown['non_significant']} of all comparisons are not "
        "significant."
    )


def _rate_of(findings: OptimalityFindings, outcome: str, test: str) -> str:
    """The rate of a test with the largest sets."""
    view = findings.at(findings.experiment.alpha)
    place = next(i for i in _largest(findings, view) if view.cells[i]["test"] == test)
    return _interval(view.values[outcome], place)


def _hedged(leaders: Sequence[str], what: str) -> str:
    """The first leads; others that may be as good are named."""
    first, *others = leaders
    if not others:
        return f"The {what} test is {first}"
    return f"The {what} test comes out as {first}, but {listed(others)} cannot be told from it with these trials"


def _power(findings: OptimalityFindings) -> str:
    leaders = findings.leaders("non_significant")
    last = findings.leaders("non_significant", highest=True)[0]
    rate = _rate_of(findings, "non_significant", leaders[0])
    if last == leaders[0]:
        return f"All tests are equally powerful: {rate} of their comparisons are not significant."
    worst = f"The least powerful is {last}, with {_rate_of(findings, 'non_significant', last)}"
    return f"{_hedged(leaders, 'most powerful')}: {rate} of its comparisons are not significant. {worst}."


def _safety(findings: OptimalityFindings) -> str:
    alpha = findings.experiment.alpha
    if not np.nansum(findings.at(alpha).values["global_conflict"].value):
        return f"No test has any conflict at {alpha:g}: none can be called safer than another."
    leaders = findings.leaders("global_conflict")
    last = findings.leaders("global_conflict", highest=True)[0]
    rate, highest = (_rate_of(findings, "global_conflict", test) for test in (leaders[0], last))
    most = f", the most are of {last} with {highest}" if last != leaders[0] else ""
    return f"{_hedged(leaders, 'safest')}: {rate} of its significant results are conflicts{most}."


def _exactness(findings: OptimalityFindings) -> str:
    leaders = findings.most_exact()
    best = next(record for record in findings.exactness() if record["test"] == leaders[0])
    if math.isnan(best["error"]):
        return f"No test can be called exact: {_NONE} at any level."
    return (
        f"{_hedged(leaders, 'most exact')}: over {len(LEVELS)} levels its conflict rate is off the level by "
        f"{best['error']:.2f} of it [{best['low']:.2f}, {best['high']:.2f}] (relative RMS)."
    )


def _nominal(findings: OptimalityFindings) -> str:
    """Whether conflicts are certainly rarer than the level, certainly more frequent, or neither."""
    view, alpha = findings.by_test(), findings.experiment.alpha
    places = _largest(findings, view)
    conflict, now = view.values["global_conflict"], findings.at(alpha).values["global_conflict"]
    every = "every test" if len(places) > 1 else "the test"
    if all(now.high[i, 0] < alpha for i in places):
        first = f"Conflicts are clearly rarer than {alpha:g} at that level with {every}"
    else:
        first = f"Conflicts are not clearly rarer than {alpha:g} at that level with every test"
    above = {view.cells[i]["test"]: view.levels[conflict.low[i] > view.levels] for i in places}
    exceeding = [f"{test} up to {levels[-1]:g}" for test, levels in above.items() if len(levels)]
    if not exceeding:
        return f"{first}, and at no level clearly more frequent than it promises."
    return f"{first}, but clearly more frequent than promised at low levels: {listed(exceeding)}."


def _by_measure(findings: OptimalityFindings) -> str:
    view = findings.by_sample([findings.experiment.alpha])
    rate = view.values["non_significant"]
    order = sorted(_largest(findings, view), key=lambda i: float(rate.value[i, 0]))
    best, worst = order[0], order[-1]
    unsure = [view.cells[i]["sample"] for i in order[1:] if rate.low[i, 0] <= rate.high[best, 0]]
    hedge = f" (intervals of {listed(unsure)} overlap with it)" if unsure else ""
    return (
        f"{view.cells[best]['sample']} finds the most differences{hedge}: {_interval(rate, best)} are not significant"
        f", against {_interval(rate, worst)} by {view.cells[worst]['sample']}."
    )


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
    alpha = findings.experiment.alpha
    at_level = f"Tests at {alpha:g}, over all samples, with 95 % intervals."
    blocks: list[Block] = [_outcome_table("tests-level", at_level, findings.at(alpha))]
    if len(findings.paired.sizes) > 1:
        by_size = f"Sizes of the sets of queries at {alpha:g}, over all tests and samples, with 95 % intervals."
        blocks.append(_outcome_table("tests-sizes", by_size, findings.pooled([alpha])))
    blocks += [findings.figure(), _selected_table(findings), _exactness_table(findings)]
    sections = [Section("tests", "Which test", (*conclusion(findings), *blocks))]
    if len(findings.samples) > 1:
        by_sample = f"Measures and scales at {alpha:g}, over all tests, with 95 % intervals."
        several: tuple[Block, ...] = (
            _outcome_table("tests-measures", by_sample, findings.by_sample([alpha])),
            findings.figure("tests-measures-power"),
            findings.figure("tests-measures-conflicts"),
        )
        sections.append(Section("tests-samples", "Which measure and scale", several))
    text = "A stable test gives a similar p-value with another set of queries; two tests are alike if they do."
    alike = [_agreement_table(findings)] if len(findings.tests) > 1 else []
    last: tuple[Block, ...] = (Paragraph(text), _self_error_table(findings), *alike)
    return [*sections, Section("tests-stability", "How stable tests are, and how alike", last)]


def _figure(findings: OptimalityFindings) -> FigureBlock:
    view = findings.by_test()
    panels = tuple(
        Panel(
            OUTCOMES[outcome],
            tuple(_curve(view, outcome, i, view.cells[i]["test"]) for i in _largest(findings, view)),
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
    rate = view.values[outcome]
    return Curve(label, view.levels[kept], rate.value[i][kept], rate.low[i][kept], rate.high[i][kept])


def _largest(findings: OptimalityFindings, view: OutcomeRates) -> list[int]:
    """Cells of the largest sets."""
    return [i for i, cell in enumerate(view.cells) if cell["n_queries"] == findings.size]


def _outcome_table(name: str, caption: str, view: OutcomeRates) -> TableBlock:
    """All outcomes of every cell at one level."""
    named = [key for key in ("sample", "test") if key in view.cells[0]]
    columns: list[TableColumn] = [
        *((key.capitalize(), f"{{{key}}}", "") for key in named),
        ("Queries", "{n_queries:d}", "in each of the two sets"),
        *((title, _interval_of(outcome), _ABOUT[outcome]) for outcome, title in OUTCOMES.items()),
    ]
    return table_of(name, caption, columns, list(view), view.to_dicts())


def _interval_of(key: str) -> Callable[[dict[str, Any]], str]:
    def text(row: Mapping[str, Any]) -> str:
        value, low, high = row[key], row[f"{key}_low"], row[f"{key}_high"]
        return f"{_rate(value)} [{_rate(low)}, {_rate(high)}]" if math.isfinite(value) else "–"

    return text


def _rate(value: float) -> str:
    """Four digits after the point, or as many as it takes where those would be 0 or 1.

    >>> _rate(0.92314), _rate(0.0000016), _rate(0.0), _rate(0.999984), _rate(1.0)
    ('0.9231', '1.6e-06', '0', '0.999984', '1.0000')
    """
    if not math.isfinite(value):
        return "–"
    if 0 < (off := round(1 - value, 9)) < 0.00005:
        return f"{value:.{1 - math.floor(math.log10(off))}f}"
    return "0" if value == 0 else f"{value:.4f}" if value >= 0.00005 else f"{value:.1e}"


def _selected_table(findings: OptimalityFindings) -> TableBlock:
    """Table 5.3: one row per level and test, the best of each level in bold."""
    view = findings.by_test(SELECTED)
    places = _largest(findings, view)
    rows = [
        {"alpha": alpha, "test": view.cells[i]["test"]}
        | {outcome: _rate(float(rate.value[i, j])) for outcome, rate in view.values.items()}
        for j, alpha in enumerate(view.levels.tolist())
        for i in places
    ]
    best = set()
    for j, alpha in enumerate(view.levels.tolist()):
        for column, outcome in enumerate(OUTCOMES, 2):
            value = view.values[outcome].value[places, j]
            merit = {"success": value, "global_conflict": -np.abs(value - alpha)}.get(outcome, -value)
            if np.isfinite(merit).any():
                best |= {(j * len(places) + int(k), column) for k in np.flatnonzero(merit == np.nanmax(merit))}
    columns: list[TableColumn] = [
        ("α", "{alpha:g}", ""),
        ("Test", "{test}", ""),
        *((title, f"{{{outcome}:s}}", _ABOUT[outcome]) for outcome, title in OUTCOMES.items()),
    ]
    caption = f"Tests at selected levels with sets of {findings.size} queries, over all samples; best in bold."
    table = table_of("tests-selected", caption, columns, rows, view.to_dicts())
    return replace(table, emphasised=frozenset(best), folded=False)


def _exactness_table(findings: OptimalityFindings) -> TableBlock:
    columns = (
        ("Test", "{test}", ""),
        ("Error", "{error:.3f} [{low:.3f}, {high:.3f}]", "relative RMS error over all levels, 0 is exact"),
    )
    caption = "How far the rate of global conflicts is from the level, relative to it, with 95 % intervals."
    return table_of("tests-exactness", caption, columns, findings.exactness())


def _by_scale(findings: OptimalityFindings, name: str, *outcomes: str) -> FigureBlock:
    """Figures 5.2 and 5.3: one row of panels per scale, one curve per measure."""
    view = findings.by_sample()
    kept = np.flatnonzero((view.levels >= _CLOSE[0]) & (view.levels <= _CLOSE[1]))
    members = {sample.name: sample for sample in findings.samples}
    cells = [(i, members[view.cells[i]["sample"]]) for i in _largest(findings, view)]
    panels = []
    for scale in dict.fromkeys(sample.scale for sample in findings.samples):
        shown = [(i, sample) for i, sample in cells if sample.scale == scale]
        for outcome in outcomes:
            lines = []
            for i, sample in shown:
                label = f"{sample.measure} ({sample.collection})" if sample.collection else sample.measure
                lines.append(_curve(view, outcome, i, label, kept))
            panels.append(Panel(f"{OUTCOMES[outcome]}, {scale}" if scale else OUTCOMES[outcome], tuple(lines)))
    data = Curves("level α", "rate", tuple(panels), columns=2, log_x=True, log_y=True, share_y=False)
    words = " and ".join(OUTCOMES[outcome].lower() for outcome in outcomes)
    caption = (
        f"Rates of {words} by measure and scale, over all tests, with sets of {findings.size} queries; both axes are "
        "logarithmic and rates of 0 are left out."
    )
    alt = f"Panels of {words} against the level, one curve for each of {', '.join(findings.samples.names)}."
    return FigureBlock(name, caption, alt, data, curves)


def _self_error_table(findings: OptimalityFindings) -> TableBlock:
    """Table 5.5."""
    records = findings.self_error()
    rms = np.array([record["rms"] for record in records]).reshape(len(findings.tests), len(BINS)).T
    rows = [
        [f"{low:g} < p ≤ {high:g}" if low else f"p ≤ {high:g}", *(_rate(float(value)) for value in row)]
        for low, high, row in zip((0.0, *BINS), BINS, rms, strict=False)
    ]
    best = {(i, int(k) + 1) for i, row in enumerate(rms) if np.isfinite(row).any() for k in [np.nanargmin(row)]}
    caption = "Tests with themselves: RMS of p in the second set less p in the first, by p in the first. Best in bold."
    columns = (Heading("Bin", "left"), *map(Heading, findings.tests))
    return TableBlock("tests-self", caption, columns, tuple(map(tuple, rows)), records, frozenset(best))


def _agreement_table(findings: OptimalityFindings) -> TableBlock:
    about = f"share that both call significant at {findings.experiment.alpha:g}, or neither"
    columns = (
        ("Test", "{test}", ""),
        ("Other", "{other}", ""),
        ("Same decision", _interval_of("same"), about),
        ("RMS", _interval_of("rms"), "root of the mean squared difference of their p-values"),
    )
    return table_of("tests-agreement", "Tests with one another, with 95 % intervals.", columns, findings.agreement())
