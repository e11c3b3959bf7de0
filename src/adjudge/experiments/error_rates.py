"""Type I, II and III errors of tests, on simulated collections whose truth is known.

A trial draws two collections of every size for every sample. In the *null* one all systems are truly equal, so that
whatever a test finds is a Type I error. In the *fitted* one they differ by the true differences of the model, so that
what a test does not find is a Type II error, and what it finds in the wrong direction a Type III error.

Every rate is over comparisons of pairs, with Monte-Carlo intervals that take trials as independent and pairs within one
as they come (:func:`~adjudge.experiments.rates.rates`): the error of having drawn this number of trials, not that of
having one collection to fit.

Urbano, J., Lima, H. and Hanjalic, A. Statistical significance testing in information retrieval: an empirical analysis
of Type I, Type II and Type III errors. SIGIR 2019. doi:10.1145/3331184.3331259
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import ALPHA, SEVERAL, Constraints, checked
from adjudge.errors import AdjudgeError, unknown
from adjudge.experiments.comparing import (
    FIVE_PROCEDURES,
    ComparisonExperiment,
    Procedure,
    ProcedureField,
    run_procedures,
)
from adjudge.experiments.rates import LEVELS, Rates, check_levels, find_leaders, leave_one_out, rates
from adjudge.experiments.report import TableColumn, conclusion, curve_of, share_of, table_of
from adjudge.experiments.samples import Samples
from adjudge.experiments.simulate import collection
from adjudge.experiments.spec import EXPERIMENT_SECTIONS, Draws, Findings, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import Curves, Panel, curves
from adjudge.results import Column, columns_of, figure
from adjudge.stats.multiple import FAMILYWISE_TESTS
from adjudge.tables import Table
from adjudge.text import listed, share, share_with

if TYPE_CHECKING:
    import polars as pl

    from adjudge.experiments.simulate.collection import Asymmetry, CollectionModel, Fidelity


Verdict = Literal["as promised", "conservative", "liberal", "unknown"]
TRUTHS = ("null", "fitted")
SHOWN_LEVELS = (0.05, 0.01, 0.001)
EQUAL = 1e-9
"""True differences up to this are none: rounding of the models' means."""
_WHICH, _WHOSE = 0, 1  # purposes of draws; sizes have theirs from 8
_NULL, _FITTED, _RESAMPLES = 0, 1, 2
_PURPOSES = 4
_MOST_BINS = 10
_ANY_WRONG = 0.05  # probability that any of all verdicts is wrong
_STEP = 0.2  # of a level, to either side, over which power is taken to rise evenly
_USUAL = 50  # queries of a usual collection
_MOST_SAMPLES = 4  # in sentences; tables have them all
_ABOUT_RANKS = {
    "wilcoxon": "differences symmetric around 0 (the hypothesis of the wilcoxon test)",
    "sign": "positive differences as frequent as negative ones (that of the sign test)",
}


@experiment("errors")
@dataclass(frozen=True, kw_only=True)
class Errors(ComparisonExperiment):
    """How often tests find what is not there, miss what is, or get its direction wrong.

    ``null`` says how systems are made equal. ``exchangeable``: all have the distribution of one of them, drawn again in
    each trial, and nothing else tells them apart, the hypothesis under which all tests here promise their level.
    ``margins``: all have that distribution, but depend on one another as in the data, so that one may be ahead of
    another on more than half of the queries. ``means``: each keeps its own shape and only the means agree. The last two
    are null hypotheses about means; that of the Wilcoxon test (differences symmetric around 0) and of the sign test (as
    often above 0 as below) is false there, and rejecting it is no malfunction of these tests, but an error of whoever
    reads them as tests of means.

    ``systems`` is how many a trial compares at most; where there are more, it draws them. ``margin`` and ``dependence``
    are those of :func:`~adjudge.experiments.simulate.collection.fit_collection`. ``sizes`` may exceed the sample's,
    since queries are new.

    >>> print(*Errors(procedures=("t", "t+holm"), sizes=(50,)).procedures)
    t t+holm
    >>> Errors(null="median")
    Traceback (most recent call last):
    adjudge.errors.UnknownNameError: No null hypothesis is called 'median'. Did you mean 'means'?
    """

    title: ClassVar[str] = "Type I, II and III errors"
    question: ClassVar[str] = (
        "How often do tests find a difference that is not there, miss one that is, or get its direction wrong?"
    )

    constraints: ClassVar[Constraints] = {**ComparisonExperiment.constraints, "systems": SEVERAL}

    sizes: tuple[int, ...] = (25, 50, 100)
    procedures: ProcedureField = FIVE_PROCEDURES
    null: str = "exchangeable"
    systems: int = 20
    margin: str = "auto"
    dependence: str = "empirical"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.null not in collection.NULLS:
            raise unknown("null hypothesis", self.null, collection.NULLS)
        collection.check_names(self.margin, self.dependence)

    def prepared(self, samples: Samples) -> Errors:
        """The same; samples to which no model can be fitted, or whose systems have no mean in common, are refused."""
        self.models(samples)
        if self.null == "means":
            self._models_of_equal_means(samples)
        return self

    def names(self, samples: Samples) -> Mapping[str, Sequence[str]]:
        """Samples, systems, and which of the two truths a row is about."""
        return {**super().names(samples), "truth": TRUTHS}

    def models(self, samples: Samples) -> Sequence[CollectionModel]:
        """The model of every sample."""
        return collection.models_of(samples, self.margin, self.dependence)

    def _models_of_equal_means(self, samples: Samples) -> Sequence[CollectionModel]:
        fitted = self.models(samples)
        key = (samples.digest, self.margin, self.dependence, "means")
        return collection.kept(key, lambda: tuple(model.null("means") for model in fitted))

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs of the systems drawn, on a null and on a fitted collection of every size."""
        fitted = self.models(samples)
        if self.null == "means":
            null = self._models_of_equal_means(samples)
        else:
            whose = [int(draws.generator(_WHOSE).integers(len(model.systems))) for model in fitted]
            null = [model.null(self.null, system=model.systems[s]) for model, s in zip(fitted, whose, strict=True)]
        sources = [(truth, i, model) for truth, models in enumerate((null, fitted)) for i, model in enumerate(models)]
        places = [self._choose_systems(draws, len(model.systems)) for _, _, model in sources]
        parts = []
        for size in self.sizes:
            # samples share random numbers, so that measures differ by less than chance
            matrices = [
                np.ascontiguousarray(model.draw(draws.generator(_PURPOSES * size + truth), size)[:, chosen])
                for (truth, _, model), chosen in zip(sources, places, strict=True)
            ]
            seed = draws.number(_PURPOSES * size + _RESAMPLES)
            outcomes = run_procedures(matrices, self.procedures, resamples=self.resamples, seed=seed, gpu=self.gpu)
            for (truth, i, model), chosen, outcome in zip(sources, places, outcomes, strict=True):
                a, b = (chosen[side] for side in np.triu_indices(len(chosen), 1))
                codes = samples.codes[i]
                true = np.zeros(len(a)) if truth == _NULL else model.means[a] - model.means[b]
                parts.append(
                    {
                        "sample": np.full(len(a), i),
                        "n_queries": np.full(len(a), size, dtype=np.int32),
                        "truth": np.full(len(a), truth),
                        "system": codes[a],
                        "other": codes[b],
                        "true_difference": true,
                        "difference": outcome.difference,
                        **outcome.p,
                    }
                )
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _choose_systems(self, draws: Draws, n_systems: int) -> Ints:
        """Places of the systems to compare, in order: samples with as many systems get the same ones."""
        if n_systems <= self.systems:
            return np.arange(n_systems)
        return np.sort(draws.generator(_WHICH).choice(n_systems, size=self.systems, replace=False))

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> ErrorFindings:
        """Rates of errors over all trials."""
        return ErrorFindings(self, samples, rows, provenance)


@dataclass(frozen=True)
class TypeOne:
    """How often a procedure rejects a true null hypothesis: of all comparisons, and any in a whole collection.

    ``verdict`` is ``liberal`` where the rate is above ``alpha`` beyond the error of the trials, ``conservative`` where
    it is below, from an interval that is wider than ``low`` to ``high``: it holds for all verdicts at once.
    """

    sample: Annotated[str, Column("the sample", key=True)]
    n_queries: Annotated[int, Column("queries", "d", label="queries", key=True)]
    procedure: Annotated[str, Column("the test", key=True)]
    alpha: Annotated[float, Column("level of significance", "g", key=True)]
    rate: Annotated[float, Column("Type I error", ".4f", label="Type I", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    any_rate: Annotated[float, Column("collections with any Type I error", ".4f", shown=False)]
    any_low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    any_high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    verdict: Annotated[Verdict, Column("liberal, conservative or as promised")]


@dataclass(frozen=True)
class Detection:
    """What becomes of true differences of some size, ``least <= |difference| < most``.

    ``power`` is the share found significant, in whichever direction, ``type_three`` the share found significant
    in the wrong direction, ``wrong`` the share of the significant ones that are. The Type II error is 1 - ``power``.
    """

    sample: str
    n_queries: int
    procedure: str
    alpha: float
    least: float
    most: float
    difference: float
    cases: int
    power: Annotated[float, Column("share of true differences found significant", ".3f")]
    power_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    power_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    type_three: Annotated[float, Column("share found significant in the wrong direction", ".4f", label="Type III")]
    type_three_low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    type_three_high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    wrong: Annotated[float, Column("share of the significant ones in the wrong direction", ".4f", shown=False)]
    wrong_low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    wrong_high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]

    @property
    def type_two(self) -> float:
        """The share of true differences that are missed."""
        return 1 - self.power


@dataclass(frozen=True)
class AdjustedPower:
    """Power at the ``level`` at which the actual Type I error is ``alpha``."""

    sample: str
    n_queries: int
    procedure: str
    alpha: float
    level: float
    power: float
    low: float
    high: float


Cell = TypeOne | Detection | AdjustedPower
_ERROR_COLUMNS = (
    *(replace(column, name="test" if column.name == "procedure" else column.name) for column in columns_of(TypeOne)),
    *columns_of(Detection)[:3],
    Column("Type II error", ".3f", name="type_two", shown=False),
    *columns_of(Detection)[3:],
    Column("level at which the Type I error is α", ".4f", name="adjusted_level", shown=False),
    Column("power at that level", ".3f", name="adjusted_power"),
)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All comparisons of one sample, size and truth; ``trial`` is a number from 0."""

    n_trials: int
    trial: Ints
    true: Floats
    difference: Floats
    p: dict[str, Floats]

    @classmethod
    def from_rows(cls, rows: pl.DataFrame, procedures: Sequence[str]) -> Comparisons:
        """From rows of the experiment."""
        trials, trial = np.unique(rows["trial"].to_numpy(), return_inverse=True)
        true, difference = (rows[name].to_numpy() for name in ("true_difference", "difference"))
        p = {name: rows[name].to_numpy() for name in procedures}
        return cls(len(trials), trial.astype(np.int64), true, difference, p)

    def per_trial(self, which: Mask) -> Floats:
        """How many of these comparisons each trial has."""
        return np.bincount(self.trial[which], minlength=self.n_trials).astype(np.float64)

    def found_at(self, procedure: str, step: tuple[float, float, float], which: Mask) -> Floats:
        """How many of these comparisons are significant in each trial, at a level between two p-values."""
        lower, upper, part = step
        below, above = (self.per_trial(which & (self.p[procedure] <= level)) for level in (lower, upper))
        return (1 - part) * below + part * above

    def significant(self, procedure: str, alphas: Floats) -> Floats:
        """How many p-values of each trial are at most each level, in ascending order: trials x levels."""
        place = np.searchsorted(alphas, self.p[procedure], side="left")  # NaN comes last
        width = len(alphas) + 1
        counts = np.bincount(self.trial * width + place, minlength=self.n_trials * width)
        return np.cumsum(counts.reshape(self.n_trials, width)[:, :-1], axis=1).astype(np.float64)

    @cached_property
    def all(self) -> Mask:
        """All pairs."""
        return np.ones(len(self.trial), dtype=np.bool_)

    @cached_property
    def different(self) -> Mask:
        """Which pairs truly differ."""
        return np.abs(self.true) > EQUAL


@dataclass(frozen=True, eq=False, repr=False)
class ErrorFindings(Findings):
    """Errors of every procedure by sample and size; any level can be asked for, as p-values are kept."""

    experiment: Errors

    @property
    def procedures(self) -> tuple[str, ...]:
        """Names of the procedures."""
        return tuple(procedure.name for procedure in self.experiment.procedures)

    @property
    def alphas(self) -> tuple[float, ...]:
        """Levels of the procedures, each once."""
        return tuple(dict.fromkeys(procedure.alpha for procedure in self.experiment.procedures))

    @cached_property
    def _comparisons(self) -> dict[tuple[str, int, str], Comparisons]:
        parts = self.rows.partition_by(["sample", "n_queries", "truth"], as_dict=True)
        return {
            (str(s), int(n), str(t)): Comparisons.from_rows(part, self.procedures) for (s, n, t), part in parts.items()
        }

    def compared(self, sample: str, n_queries: int, truth: str) -> Comparisons:
        """The comparisons of one sample, size and truth."""
        if sample not in self.samples.names:
            raise unknown("sample", sample, self.samples.names)
        if (sample, n_queries, truth) not in self._comparisons:
            sizes = ", ".join(map(str, self.experiment.sizes))
            raise AdjudgeError(
                f"errors: expected one of {sizes} queries and null or fitted, got {n_queries} and {truth}"
            )
        return self._comparisons[sample, n_queries, truth]

    def fidelity(self, *, repeats: int = 100) -> dict[str, Fidelity]:
        """How faithful simulated collections are to the data, by sample; always with the same draws."""
        return {
            sample.name: model.fidelity(sample.values, np.random.default_rng(self.experiment.seed), repeats=repeats)
            for sample, model in zip(self.samples, self.experiment.models(self.samples), strict=True)
        }

    @cached_property
    def asymmetries(self) -> dict[str, Asymmetry]:
        """How unequal null systems are in the numbers of queries on which they are ahead, by sample."""
        return {
            name: collection.asymmetry(model.null(self.experiment.null), np.random.default_rng(self.experiment.seed))
            for name, model in zip(self.samples.names, self.experiment.models(self.samples), strict=True)
        }

    def each(self) -> list[tuple[str, int, str]]:
        """Every sample, size and procedure."""
        return list(product(self.samples.names, self.experiment.sizes, self.procedures))

    @property
    def levels(self) -> tuple[float, ...]:
        """Levels of the tables, the highest first: the usual ones, and those of the procedures."""
        return tuple(sorted({*SHOWN_LEVELS, *self.alphas}, reverse=True))

    @property
    def n_verdicts(self) -> int:
        """How many verdicts are made at once: one per sample, size, procedure and level."""
        return len(self.each()) * len(self.levels)

    def type_one(self, alphas: Sequence[float] = SHOWN_LEVELS) -> list[TypeOne]:
        """Type I error of every sample, size and procedure at these levels, per comparison and per collection.

        Verdicts rest on intervals of confidence 1 - 0.05 / n for the n verdicts of the report (Bonferroni), so that the
        probability that any test that keeps its level is called liberal or conservative is at most 5 %.
        """
        levels = check_levels(alphas, where="errors: ")
        wide = 1 - _ANY_WRONG / self.n_verdicts
        found = []
        for sample, n, procedure in self.each():
            null = self.compared(sample, n, "null")
            hits = null.significant(procedure, levels)
            cases = np.broadcast_to(null.per_trial(null.all)[:, np.newaxis], hits.shape)
            each, judged = rates(hits, cases), rates(hits, cases, confidence=wide)
            any_ = rates((hits > 0).astype(np.float64), np.ones_like(hits))
            for i, alpha in enumerate(levels.tolist()):
                shares = (*each.at(i).bounded, *any_.at(i).bounded)
                found.append(TypeOne(sample, n, procedure, alpha, *shares, _verdict(alpha, judged.at(i))))
        return found

    @checked("errors", alpha=ALPHA)
    def detection(self, alpha: float, *, binned: bool = False) -> list[Detection]:
        """Power and Type III error of every sample, size and procedure: of all true differences, or by bins of them."""
        found = []
        for sample, n, procedure in self.each():
            fitted = self.compared(sample, n, "fitted")
            first = self.compared(sample, self.experiment.sizes[0], "fitted").true
            edges = difference_bins(first).tolist() if binned else [0.0, np.inf]
            size, significant = np.abs(fitted.true), fitted.p[procedure] <= alpha
            backwards = significant & (fitted.difference * fitted.true < 0)
            for least, most in pairwise(edges):
                within = fitted.different & (size >= least) & (size < most)
                if within.any():
                    cases, hits, wrong = (fitted.per_trial(within & x) for x in (fitted.all, significant, backwards))
                    pairs = ((hits, cases), (wrong, cases), (wrong, hits))
                    shares = [end for pair in pairs for end in rates(*pair).bounded]
                    about = (least, most, float(size[within].mean()), int(within.sum()))
                    found.append(Detection(sample, n, procedure, alpha, *about, *shares))
        return found

    @checked("errors", alpha=ALPHA)
    def adjusted_power(self, alpha: float) -> list[AdjustedPower]:
        """Power of every sample, size and procedure at the level at which its actual Type I error is ``alpha``.

        That level is the ``alpha`` quantile of its p-values on null collections, so that a liberal test does not seem
        powerful for that alone. Where p-values are few, as a sign test's are, no level has that error: the power is
        then interpolated between the two next to it, as if the test chose at random at the upper one. Intervals allow
        for the level being estimated from the same trials.
        """
        found = []
        for cell in self.each():
            level, hits, cases = self._find_at_actual(*cell, alpha)
            found.append(AdjustedPower(*cell, alpha, level, *rates(hits, cases).bounded))
        return found

    def leaders(
        self, sample: str, n_queries: int, procedures: Sequence[str], alpha: float, *, adjusted: bool = False
    ) -> tuple[str, ...]:
        """Procedures with the highest power, or size-adjusted power: the first leads, others are not clearly behind."""
        fitted = self.compared(sample, n_queries, "fitted")
        several = [
            self._find_at_actual(sample, n_queries, name, alpha)[1]
            if adjusted
            else fitted.per_trial(fitted.different & (fitted.p[name] <= alpha))
            for name in procedures
        ]
        hits = np.stack(several, axis=1)
        cases = np.broadcast_to(fitted.per_trial(fitted.different)[:, np.newaxis], hits.shape)
        return find_leaders(procedures, rates(hits, cases).value, leave_one_out(hits, cases), highest=True)

    def _find_at_actual(
        self, sample: str, n_queries: int, procedure: str, alpha: float
    ) -> tuple[float, Floats, Floats]:
        """The level at which the Type I error is ``alpha``, what is found at it in each trial, and of how much.

        A trial in which the null is rejected more often than in others lowers the level of all, and with it the power,
        by dpower/derror for each; its hits are less by that, which adds up to nothing over trials.
        """
        null, fitted = (self.compared(sample, n_queries, truth) for truth in TRUTHS)
        steps = [level_of(null.p[procedure], a) for a in (alpha, (1 - _STEP) * alpha, (1 + _STEP) * alpha)]
        at, less, more = (fitted.found_at(procedure, step, fitted.different) for step in steps)
        cases, compared = fitted.per_trial(fitted.different), null.per_trial(null.all)
        rejected = null.found_at(procedure, steps[0], null.all)
        slope = (more.sum() - less.sum()) / (2 * _STEP * alpha * compared.sum())
        shift = slope * (rejected.sum() / compared.sum() * compared - rejected)
        lower, upper, part = steps[0]
        return (1 - part) * lower + part * upper, at + shift, cases

    @property
    def columns(self) -> tuple[Column, ...]:
        """Errors and power of one procedure with a number of queries at one level."""
        return _ERROR_COLUMNS

    def _rows(self) -> list[dict[str, Any]]:
        """A row for every sample, size, procedure and level: those of the tables, and the procedure's own."""
        detected = {_key(cell): cell for alpha in self.levels for cell in self.detection(alpha)}
        adjusted = {_key(cell): cell for alpha in self.levels for cell in self.adjusted_power(alpha)}
        rows = []
        for error in self.type_one(self.levels):
            row, fair = {**asdict(error), "test": error.procedure}, adjusted[_key(error)]
            if power := detected.get(_key(error)):
                row |= {**asdict(power), "type_two": power.type_two}
            row |= {"adjusted_level": fair.level, "adjusted_power": fair.power}
            rows.append({column.name: row.get(column.name) for column in _ERROR_COLUMNS})
        return rows

    def sentences(self) -> list[str]:
        """Which tests keep their promise, which is most powerful, and how often significance misleads."""
        size = usual_size(self.experiment.sizes)
        return [
            *(
                sentence
                for sample in self.samples.names[:_MOST_SAMPLES]
                for alpha in self.alphas
                for sentence in _describe_sample(self, sample, size, alpha)
            ),
            *_describe_experiment(self),
        ]

    def _facts(self) -> dict[str, Any]:
        """With power and Type III error by true difference, and how asymmetric null systems are."""
        binned = [asdict(cell) for alpha in sorted(self.alphas) for cell in self.detection(alpha, binned=True)]
        asymmetry = {sample: asdict(each) for sample, each in self.asymmetries.items()}
        return {**super()._facts(), "by_difference": binned, "null_asymmetry": asymmetry}

    def table(self, *, digits: int | None = None) -> Table:
        """Errors and power at each procedure's own level."""
        levels = {procedure.name: procedure.alpha for procedure in self.experiment.procedures}
        own = [place for place, row in enumerate(self._rows()) if row["alpha"] == levels[row["test"]]]
        return super().table(digits=digits).take(own)

    @figure("type-one-errors")
    def _type_one(self) -> FigureBlock:
        """Actual Type I error against the level."""
        return _type_one_figure(self)

    @figure("power-by-difference")
    def _power(self) -> FigureBlock:
        """Power against how large true differences are."""
        return _power_figure(self, self._binned, self.alphas[0])

    @figure("type-three-errors")
    def _direction(self) -> FigureBlock:
        """Significance in the wrong direction against how large true differences are."""
        return _direction_figure(self, self._binned, self.alphas[0])

    @property
    def _binned(self) -> Sequence[Detection]:
        """True differences by size, at the first level."""
        binned = self.detection(self.alphas[0], binned=True)
        if not binned:
            raise AdjudgeError("there are no true differences to detect in these samples")
        return binned


def _verdict(alpha: float, judged: Rates) -> Verdict:
    """Whether an interval contains the level, lies below it, or above."""
    _, low, high = judged.bounded
    if not low <= high:
        return "unknown"
    if low > alpha:
        return "liberal"
    return "conservative" if high < alpha else "as promised"


def _key(cell: Cell) -> tuple[str, int, str, float]:
    return cell.sample, cell.n_queries, cell.procedure, cell.alpha


def level_of(null: Floats, alpha: float) -> tuple[float, float, float]:
    """Two neighbouring p-values between which the Type I error reaches ``alpha``, and how far between them.

    >>> level_of(np.array([0.01, 0.02, 0.02, 1.0]), 0.5)
    (0.01, 0.02, 0.5)
    """
    values, counts = np.unique(null[~np.isnan(null)], return_counts=True)
    actual = np.concatenate([[0.0], np.cumsum(counts) / len(null)])
    levels = np.concatenate([[0.0], values])
    place = int(np.searchsorted(actual, alpha, side="right")) - 1
    if place + 1 >= len(levels):
        return float(levels[-1]), float(levels[-1]), 0.0
    part = (alpha - actual[place]) / (actual[place + 1] - actual[place])
    return float(levels[place]), float(levels[place + 1]), float(part)


def difference_bins(true: Floats) -> Floats:
    """Edges of up to ten bins of a round width that three quarters of the true differences reach; the last is open.

    >>> difference_bins(np.array([0.0, 0.05, -0.1, 0.12, 0.14])).tolist()
    [0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, inf]
    """
    size = np.abs(true[np.abs(true) > EQUAL])
    if not len(size):
        return np.array([0.0, np.inf])
    wanted = float(np.quantile(size, 0.75)) / (_MOST_BINS - 1)
    power = np.floor(np.log10(wanted))
    width = next(step * 10.0**power for step in (1, 2, 5, 10) if step * 10.0**power >= wanted * (1 - EQUAL))
    edges = np.round(width * np.arange(_MOST_BINS), 12)
    return np.append(edges[edges <= size.max()], np.inf)


def usual_size(sizes: Sequence[int]) -> int:
    """The size that sentences are about: 50 queries, or the nearest to it.

    >>> usual_size([25, 50, 100]), usual_size([10, 30])
    (50, 30)
    """
    return min(sizes, key=lambda size: (abs(size - _USUAL), size))


# Sentences


def _describe_sample(findings: ErrorFindings, sample: str, size: int, alpha: float) -> list[str]:
    """What tests at one level do on one sample with the usual number of queries."""
    spec = findings.experiment
    own = [procedure for procedure in spec.procedures if procedure.alpha == alpha]
    keys = {(sample, size, procedure.name, alpha) for procedure in own}
    errors = [error for error in findings.type_one([alpha]) if _key(error) in keys]
    detected = {cell.procedure: cell for cell in findings.detection(alpha) if _key(cell) in keys}
    what = "a true null hypothesis" if spec.null == "exchangeable" else "a true null hypothesis about means"
    rejected = _each(errors, "rate", "low", "high", between=" in ")
    said = [
        f"At α = {alpha:g} with {size} queries by {sample}, {what} is rejected by {rejected} of cases.",
        _describe_promises(errors, spec),
    ]
    if detected:
        said += _describe_power(findings, errors, detected)
        parts = "; ".join(
            _each([cell], "wrong", "wrong_low", "wrong_high")
            if cell.power > 0
            else f"{_test(name)} has none that is significant"
            for name, cell in detected.items()
        )
        said.append(f"This share of the significant differences points the wrong way (Type III errors): {parts}.")
    n = min(next(len(each.systems) for each in findings.samples if each.name == sample), spec.systems)
    return [
        *said,
        f"Where {n} systems are all equal, at least one of the {n * (n - 1) // 2} comparisons is significant in this "
        f"share of the collections: {_each(errors, 'any_rate', 'any_low', 'any_high')}.",
    ]


def _test(name: str) -> str:
    """A procedure with its article: the t-test, the wilcoxon test, t+holm as it is written."""
    if "+" in name or name.endswith("-1"):
        return name
    return "the t-test" if name == "t" else f"the {name} test"


def _each(cells: Sequence[Cell], *names: str, between: str = " ") -> str:
    """Tests with a share and its interval."""
    return "; ".join(
        f"{_test(cell.procedure)}{between}{share_with(*(getattr(cell, name) for name in names))}" for cell in cells
    )


def _describe_promises(errors: Sequence[TypeOne], spec: Errors) -> str:
    by_verdict = {
        "as promised": "as often as promised, as far as these trials tell",
        "conservative": "less often than promised (conservative)",
        "liberal": "more often than promised (liberal)",
    }
    parts = []
    for verdict, words in by_verdict.items():
        names = [_test(error.procedure) for error in errors if error.verdict == verdict]
        if names:
            parts.append(f"{listed(names)} {'reject' if len(names) > 1 else 'rejects'} {words}")
    known = {error.procedure for error in errors}
    ranks = [_test(each.name) for each in spec.procedures if each.test in _ABOUT_RANKS and each.name in known]
    if parts and ranks and spec.null != "exchangeable":
        they = "they do" if len(ranks) > 1 else "it does"
        parts.append(f"of {listed(ranks)} that would be a promise about means, which {they} not make")
    text = "; ".join(parts) or "no test could be judged"
    return f"{text[0].upper()}{text[1:]}."


def _describe_power(findings: ErrorFindings, errors: Sequence[TypeOne], detected: Mapping[str, Detection]) -> list[str]:
    sample, size, _, alpha = _key(errors[0])
    said = "All tests reject too often, so that none is called the most powerful at its level."
    kept = [error.procedure for error in errors if error.verdict in ("as promised", "conservative")]
    kept = [name for name in kept if name in detected]
    if kept:
        powers = {name: (cell.power, cell.power_low, cell.power_high) for name, cell in detected.items()}
        most = _describe_leaders(findings.leaders(sample, size, kept, alpha), kept, powers)
        said = f"Among those that are not seen to reject too often, {most}."
    fair = {
        cell.procedure: (cell.power, cell.low, cell.high)
        for cell in findings.adjusted_power(alpha)
        if (cell.sample, cell.n_queries) == (sample, size) and cell.procedure in detected
    }
    alone = [each.name for each in findings.experiment.procedures if each.name in fair and not _is_of_family(each)]
    alone = alone or list(fair)
    leaders = findings.leaders(sample, size, alone, alpha, adjusted=True)
    return [
        said,
        f"With all tests held to the same actual Type I error, {_describe_leaders(leaders, alone, fair)}.",
    ]


def _describe_leaders(
    leaders: Sequence[str], among: Sequence[str], powers: Mapping[str, tuple[float, float, float]]
) -> str:
    """Which test finds most of the true differences, or that it cannot be told."""
    if len(leaders) == 1:
        text = f"{_test(leaders[0])} finds most of the true differences: {share_with(*powers[leaders[0]])}"
        others = sorted((name for name in among if name != leaders[0]), key=lambda name: -powers[name][0])
        return f"{text}, next {_test(others[0])} with {share(powers[others[0]][0])}" if others else text
    shares = listed([share_with(*powers[name]) for name in leaders])
    return (
        f"{listed([_test(name) for name in leaders])} find most of the true differences, too close to one another "
        f"to tell which finds more: {shares}"
    )


def _is_of_family(procedure: Procedure) -> bool:
    """Whether it looks at all pairs at once, so that its errors in one comparison are not what it promises."""
    return procedure.correction != "none" or procedure.test in FAMILYWISE_TESTS


def _describe_experiment(findings: ErrorFindings) -> list[str]:
    """What the numbers are and are not."""
    spec, n = findings.experiment, findings.n_verdicts
    made = {
        "exchangeable": "all systems have the distribution of one of them, drawn again in each trial, and values are "
        "shuffled among them on every query, so that nothing tells one from another: the hypothesis under which all "
        "these tests promise their level. Pairs depend on one another as strongly as pairs in the data do on average",
        "margins": "all systems have the distribution of one of them, drawn again in each trial, and depend on one "
        "another as in the data, so that means are equal",
        "means": "each system keeps its own distribution, bent as little as can be until all means are equal",
    }
    at_once = f"for all {n} verdicts of this experiment at once" if n > 1 else "for this verdict"
    said = [
        f"In null collections {made[spec.null]}. Intervals are of the trials (95 %), not of having one collection to "
        "fit.",
        f"A test is called liberal or conservative only where a wider interval, which holds {at_once}, lies above or "
        "below α: in at most 5 of 100 experiments is any test called so that keeps its level.",
    ]
    ranks = [each.test for each in spec.procedures if each.test in _ABOUT_RANKS]
    if ranks and spec.null != "exchangeable":
        measured = "; ".join(
            f"by {name} typically {share(each.typical)}, at most {share(each.largest)}"
            for name, each in list(findings.asymmetries.items())[:_MOST_SAMPLES]
        )
        hypotheses = listed([_ABOUT_RANKS[test] for test in dict.fromkeys(ranks)])
        said.append(
            f"Equal means do not make {hypotheses}. One of two null systems is better on more queries than the other: "
            f"the share of queries on which it is better less that on which it is worse is {measured}. What these "
            "tests reject beyond α because of that is no malfunction: they find a difference that is there, and the "
            "error is to read it as one of means. They do so the more often the more queries there are; how often also "
            "depends on the one collection that was fitted."
        )
    if any(procedure.one_sided for procedure in spec.procedures):
        said.append(
            "One-sided tests here take the direction from the data, as people do who test whether the better system is "
            "better; that doubles their Type I error, and the same test with two sides at twice the level is no other."
        )
    return [
        *said,
        "The rate of conflicts between two halves of the queries is no Type I error rate: most of those pairs do "
        "differ, so that a conflict is rare whatever the test, and it stays below α also for a test that rejects true "
        "null hypotheses too often. It is nearer to the Type III error, which is counted here from the known truth.",
    ]


# Report


_KEY_COLUMNS: tuple[TableColumn, ...] = (
    ("Sample", "{sample}", ""),
    ("Queries", "{n_queries:,d}", ""),
    ("Test", "{procedure}", ""),
)
_WRONG_COLUMNS: tuple[TableColumn, ...] = (
    ("Type III", share_of("type_three"), "share of true differences that are significant in the wrong direction"),
    ("Wrong", share_of("wrong"), "share of the significant ones that point the wrong way"),
)


@EXPERIMENT_SECTIONS.register("errors")
def error_sections(findings: ErrorFindings) -> Sequence[Section]:
    """The conclusion, then each kind of error, then how faithful the simulation is."""
    alpha = findings.alphas[0]
    binned = findings.detection(alpha, binned=True)
    sections = [
        Section("errors", "Which tests keep their promise", tuple(conclusion(findings))),
        Section(
            "type-one",
            "Type I errors: differences that are not there",
            (findings.figure("type-one-errors"), _type_one_table(findings)),
        ),
    ]
    if binned:
        sections += [
            Section(
                "type-two",
                "Power and Type II errors: differences that are missed",
                (findings.figure("power-by-difference"), _power_table(findings)),
            ),
            Section(
                "type-three",
                "Type III errors: the wrong direction",
                (findings.figure("type-three-errors"), _difference_table(binned, alpha)),
            ),
        ]
    return (*sections, _fidelity_section(findings))


def _panels(
    findings: ErrorFindings, cells: Sequence[Cell], names: Sequence[str], *, diagonal: bool = False
) -> tuple[Panel, ...]:
    """A panel for every sample and size, a line for every test; ``names`` are of x, y and the ends of its interval."""
    panels = []
    for sample, n in product(findings.samples.names, findings.experiment.sizes):
        lines = []
        for name in findings.procedures:
            here = [cell for cell in cells if (cell.sample, cell.n_queries, cell.procedure) == (sample, n, name)]
            lines.append(curve_of(name, here, *names))
        title = f"{sample}, {n} queries" if len(findings.samples) > 1 else f"{n} queries"
        panels.append(Panel(title, tuple(lines), diagonal=diagonal))
    return tuple(panels)


def _type_one_figure(findings: ErrorFindings) -> FigureBlock:
    panels = _panels(findings, findings.type_one(LEVELS), ("alpha", "rate", "low", "high"), diagonal=True)
    data = Curves("level α", "actual Type I error", panels, columns=3, log_x=True, log_y=True)
    caption = (
        "Actual Type I error against the level α on null collections, both on logarithmic axes. On the dotted line a "
        "test errs as often as promised; above it, more often. Bands are Monte-Carlo intervals."
    )
    size = findings.experiment.sizes[-1]
    errors = [error for error in findings.type_one([0.05]) if error.n_queries == size][: len(findings.procedures)]
    each = ", ".join(f"{error.procedure} {share(error.rate)}" for error in errors)
    alt = f"Lines near the diagonal; at 0.05 with {size} queries: {each}."
    return FigureBlock("type-one-errors", caption, alt, data, curves)


def _type_one_table(findings: ErrorFindings) -> TableBlock:
    errors, first = findings.type_one(findings.levels), findings.alphas[0]
    rows = {_key(error)[:3]: asdict(error) for error in errors if error.alpha == first}
    for error in errors:
        place = findings.levels.index(error.alpha)
        rows[_key(error)[:3]][f"at_{place}"] = share_with(error.rate, error.low, error.high)
    about = "share of comparisons in which a true null is rejected"
    columns: list[TableColumn] = [
        *_KEY_COLUMNS,
        ("Verdict", "{verdict}", f"whether the rate at {first:g} is off it (interval for all verdicts)"),
        *((f"α = {alpha:g}", f"{{at_{place}:s}}", about) for place, alpha in enumerate(findings.levels)),
        (
            "Any",
            share_of("any_rate", "any_low", "any_high"),
            f"share of collections with any false positive, at {first:g}",
        ),
    ]
    caption = f"Actual Type I error by level, over {findings.experiment.trials:,} null collections of each size."
    return table_of("type-one", caption, columns, list(rows.values()), [asdict(error) for error in errors])


def _power_figure(findings: ErrorFindings, binned: Sequence[Detection], alpha: float) -> FigureBlock:
    panels = _panels(findings, binned, ("difference", "power", "power_low", "power_high"))
    data = Curves("true difference", "power", panels, columns=3, y_top=1.0)
    caption = (
        f"Share of true differences that are significant at {alpha:g} against how large they are (the mean of each "
        "bin). What lacks to 1 is the Type II error."
    )
    top = max(binned, key=lambda cell: (cell.n_queries, cell.difference))
    alt = (
        f"Lines that rise with the true difference and with queries, to {share(top.power)} of differences of about "
        f"{top.difference:.3f} with {top.n_queries} queries."
    )
    return FigureBlock("power-by-difference", caption, alt, data, curves)


def _direction_figure(findings: ErrorFindings, binned: Sequence[Detection], alpha: float) -> FigureBlock:
    panels = [  # without bands, which are mostly of 0 in n
        replace(panel, levels=(alpha / 2,)) for panel in _panels(findings, binned, ("difference", "type_three"))
    ]
    data = Curves("true difference", "Type III error", tuple(panels), columns=3)
    caption = (
        f"Share of true differences that are significant at {alpha:g} in the wrong direction, against how large they "
        "are; the table has intervals. The dotted line is half the level, which it nears as differences vanish."
    )
    worst = max(binned, key=lambda cell: cell.type_three)
    alt = (
        f"Lines that fall as differences grow; the highest point is {share(worst.type_three)}, {worst.procedure} with "
        f"{worst.n_queries} queries."
    )
    return FigureBlock("type-three-errors", caption, alt, data, curves)


def _power_table(findings: ErrorFindings) -> TableBlock:
    cells = [cell for alpha in findings.alphas for cell in findings.detection(alpha)]
    fair = {_key(cell): asdict(cell) for alpha in findings.alphas for cell in findings.adjusted_power(alpha)}
    rows = [{**asdict(cell), **{f"fair_{k}": v for k, v in fair[_key(cell)].items()}} for cell in cells]
    columns: list[TableColumn] = [
        *_KEY_COLUMNS,
        ("α", "{alpha:g}", ""),
        ("Power", share_of("power"), "share of true differences that are significant"),
        ("Type II", lambda row: share(1 - row["power"]), "share of true differences that are missed"),
        ("Adjusted level", "{fair_level:.4f}", "level at which the actual Type I error is α"),
        (
            "Adjusted power",
            share_of("fair_power", "fair_low", "fair_high"),
            "power at that level, for a fair comparison of tests",
        ),
        *_WRONG_COLUMNS,
    ]
    caption = "Power, Type II and Type III errors over all true differences."
    return table_of("power", caption, columns, rows, [asdict(cell) for cell in cells])


def _difference_table(binned: Sequence[Detection], alpha: float) -> TableBlock:
    columns: list[TableColumn] = [
        *_KEY_COLUMNS,
        ("True difference", "{bin}", ""),
        ("Cases", "{cases:,d}", ""),
        ("Power", lambda row: share(row["power"]), ""),
        *_WRONG_COLUMNS,
    ]
    records = [asdict(cell) for cell in binned]
    ends = [f"{cell.least:g} or more" if np.isinf(cell.most) else f"{cell.least:g} to {cell.most:g}" for cell in binned]
    rows = [{**record, "bin": end} for record, end in zip(records, ends, strict=True)]
    caption = f"What becomes of true differences, by how large they are, at {alpha:g}."
    return table_of("by-difference", caption, columns, rows, records)


def _fidelity_section(findings: ErrorFindings) -> Section:
    columns: list[TableColumn] = [
        ("Sample", "{sample}", ""),
        ("Figure", "{figure}", ""),
        ("Mean error", "{mean_error:.4f}", "simulated collections on average against the data, over systems or pairs"),
        ("Largest error", "{max_error:.4f}", ""),
        ("Noise", "{noise:.4f}", "how far one simulated collection is from their average: what the data are at best"),
    ]
    records = [
        {"sample": sample, **record} for sample, found in findings.fidelity().items() for record in found.to_dicts()
    ]
    text = (
        "Errors are those of the simulated collections. They are those of the data as far as the simulation is "
        "faithful, above all in the standard deviation of differences, by which tests judge a difference."
    )
    table = table_of("fidelity", "Simulated collections beside the data.", columns, records)
    return Section("fidelity", "How faithful the simulated collections are", (Paragraph(text), table))
