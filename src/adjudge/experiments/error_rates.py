"""Type I, II and III errors of tests, on simulated collections whose truth is known.

A trial draws two collections of every size for every sample. In the *null* one all systems are truly equal, so that
whatever a test finds is a Type I error. In the *fitted* one they differ by the true differences of the model, so that
what a test does not find is a Type II error, and what it finds in the wrong direction a Type III error.

Urbano, J., Lima, H. and Hanjalic, A. Statistical significance testing in information retrieval: an empirical analysis
of Type I, Type II and Type III errors. SIGIR 2019. doi:10.1145/3331184.3331259

What simulated collections say of tests: Type I error, power, Type III error, each with its interval.

Every rate is over comparisons of pairs, with Monte-Carlo intervals that take trials as independent and pairs within one
as they come (:func:`~adjudge.experiments.rates.rates`): the error of having drawn so many trials, not that of having
one collection to fit.

What the errors of tests mean, in plain language.

The report of Type I, II and III errors: which tests keep their promise, and what they find or get wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypedDict, cast

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import SEVERAL, Constraints
from adjudge.errors import AdjudgeError, unknown
from adjudge.experiments.comparing import Comparing
from adjudge.experiments.conflicts import LEVELS, leading, left_out
from adjudge.experiments.procedures import FIVE_TESTS, PairsTested, Procedure, parse_procedures, run_procedures
from adjudge.experiments.rates import Rates, rates
from adjudge.experiments.report import EXPERIMENT_SECTIONS, conclusion, table_of
from adjudge.experiments.samples import Samples
from adjudge.experiments.simulate import collection
from adjudge.experiments.spec import Draws, Findings, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column, columns_of
from adjudge.stats.multiple import FAMILYWISE_TESTS
from adjudge.tables import Heading, Table
from adjudge.text import listed, share, share_with

if TYPE_CHECKING:
    import polars as pl

    from adjudge.experiments.simulate.collection import Asymmetry, CollectionModel, Fidelity


TRUTHS = ("null", "fitted")
_WHICH, _WHOSE = 0, 1  # purposes of draws; sizes have theirs from 8
_NULL, _FITTED, _RESAMPLES = 0, 1, 2
_PURPOSES = 4


@experiment("errors")
@dataclass(frozen=True, kw_only=True)
class Errors(Comparing):
    """How often tests find what is not there, miss what is, or get its direction wrong.

    ``null`` says how systems are made equal. ``exchangeable``: all have the distribution of one of them, drawn anew
    each trial, and nothing else tells them apart, the hypothesis under which all tests here promise their level.
    ``margins``: all have that distribution, but depend on one another as in the data, so that one may be ahead of
    another on more than half of the queries. ``means``: each keeps the shape of its own and only the means agree. The
    last two are null hypotheses about means; that of the Wilcoxon test (differences symmetric around 0) and of the sign
    test (as often above 0 as below) is false there, and rejecting it is no malfunction of these tests, but an error of
    whoever reads them as tests of means.

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

    constraints: ClassVar[Constraints] = {**Comparing.constraints, "systems": SEVERAL}

    sizes: tuple[int, ...] = (25, 50, 100)
    procedures: tuple[Procedure, ...] = parse_procedures(FIVE_TESTS)
    null: str = "exchangeable"
    systems: int = 20
    margin: str = "auto"
    dependence: str = "empirical"

    def __post_init__(self) -> None:
        from adjudge.experiments.simulate.collection import NULLS, check_names

        super().__post_init__()
        if self.null not in NULLS:
            raise unknown("null hypothesis", self.null, NULLS)
        check_names(self.margin, self.dependence)

    def prepared(self, samples: Samples) -> Errors:
        """The same; samples to which no model can be fitted, or whose systems have no mean in common, are refused."""
        collection.models_of(samples, self.margin, self.dependence)
        if self.null == "means":
            _of_equal_means(self, samples)
        return self

    def names(self, samples: Samples) -> Mapping[str, Sequence[str]]:
        """Samples, systems, and which of the two truths a row is about."""
        return {**super().names(samples), "truth": TRUTHS}

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs of the systems drawn, on a null and on a fitted collection of every size."""
        fitted = collection.models_of(samples, self.margin, self.dependence)
        null = _equal(self, samples, draws)
        sources = [
            _Source(i, truth, model, _chosen(draws.generator(_WHICH), len(model.systems), self.systems))
            for truth, drawn_from in ((_NULL, null), (_FITTED, fitted))
            for i, model in enumerate(drawn_from)
        ]
        parts = [_of_size(self, samples, draws, size, sources) for size in self.sizes]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> ErrorFindings:
        """Rates of errors over all trials."""
        return ErrorFindings(self, samples, rows, provenance)


def _of_equal_means(spec: Errors, samples: Samples) -> Sequence[CollectionModel]:
    fitted = collection.models_of(samples, spec.margin, spec.dependence)
    key = (samples.digest, spec.margin, spec.dependence, "means")
    return collection.kept(key, lambda: tuple(model.null("means") for model in fitted))


def _equal(spec: Errors, samples: Samples, draws: Draws) -> Sequence[CollectionModel]:
    """The models with all systems equal: in their means, or in their margins to a system drawn at random."""
    if spec.null == "means":
        return _of_equal_means(spec, samples)
    return [
        model.null(spec.null, system=model.systems[int(draws.generator(_WHOSE).integers(len(model.systems)))])
        for model in collection.models_of(samples, spec.margin, spec.dependence)
    ]


def _chosen(rng: np.random.Generator, n_systems: int, most: int) -> Ints:
    """Places of the systems to compare, in their order: samples with as many systems get the same ones."""
    if n_systems <= most:
        return np.arange(n_systems)
    places: Ints = np.sort(rng.choice(n_systems, size=most, replace=False))
    return places


@dataclass(frozen=True)
class _Source:
    """A model to draw from, for one sample and truth, and the places of the systems to compare."""

    sample: int
    truth: int
    model: CollectionModel
    chosen: Ints


def _of_size(spec: Errors, samples: Samples, draws: Draws, size: int, sources: Sequence[_Source]) -> Rows:
    """All sources at one size; samples share random numbers, so that measures differ by less than luck."""
    matrices = [
        np.ascontiguousarray(one.model.draw(draws.generator(_PURPOSES * size + one.truth), size)[:, one.chosen])
        for one in sources
    ]
    seed = draws.number(_PURPOSES * size + _RESAMPLES)
    tested = run_procedures(matrices, spec.procedures, resamples=spec.resamples, seed=seed, gpu=spec.gpu)
    parts = [_rows(samples, size, source, one) for source, one in zip(sources, tested, strict=True)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _rows(samples: Samples, size: int, source: _Source, tested: PairsTested) -> Rows:
    a, b = (source.chosen[places] for places in np.triu_indices(len(source.chosen), 1))
    place = {name: i for i, name in enumerate(samples.systems)}
    codes = np.array([place[name] for name in samples[source.sample].systems])
    means = source.model.means
    return {
        "sample": np.full(len(a), source.sample),
        "n_queries": np.full(len(a), size, dtype=np.int32),
        "truth": np.full(len(a), source.truth),
        "system": codes[a],
        "other": codes[b],
        "true_difference": np.zeros(len(a)) if source.truth == _NULL else means[a] - means[b],
        "difference": tested.difference,
        **tested.p,
    }


SHOWN_LEVELS = (0.05, 0.01, 0.001)
EQUAL = 1e-9
"""True differences up to this are none: rounding of the models' means."""
_MOST_BINS = 10
_ANY_WRONG = 0.05  # probability that any of all verdicts is wrong
_STEP = 0.2  # of a level, to either side, over which power is taken to rise evenly
Verdict = Literal["as promised", "conservative", "liberal", "unknown"]


@dataclass(frozen=True)
class TypeOne:
    """How often a procedure rejects a true null hypothesis: of all comparisons, and any in a whole collection.

    ``verdict`` is ``liberal`` where the rate is above ``alpha`` beyond the error of the trials, ``conservative`` where
    it is below, from an interval that is wider than ``low`` to ``high``: it holds for all verdicts at once.
    """

    sample: str
    n_queries: int
    procedure: str
    alpha: float
    rate: float
    low: float
    high: float
    any_rate: float
    any_low: float
    any_high: float
    verdict: Verdict


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
    power: float
    power_low: float
    power_high: float
    type_three: float
    type_three_low: float
    type_three_high: float
    wrong: float
    wrong_low: float
    wrong_high: float

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


@dataclass(frozen=True, eq=False)
class Compared:
    """All comparisons of one sample, size and truth; ``trial`` is a number from 0."""

    n_trials: int
    trial: Ints
    true: Floats
    difference: Floats
    p: dict[str, Floats]

    def per_trial(self, which: Mask) -> Floats:
        """How many of these comparisons each trial has."""
        return np.bincount(self.trial[which], minlength=self.n_trials).astype(np.float64)

    def found_at(self, procedure: str, step: tuple[float, float, float], which: Mask) -> Floats:
        """How many of these comparisons are significant in each trial, at a level between two p-values."""
        lower, upper, share = step
        below, above = (self.per_trial(which & (self.p[procedure] <= level)) for level in (lower, upper))
        return (1 - share) * below + share * above

    def significant(self, procedure: str, alphas: Floats) -> Floats:
        """How many p-values of each trial are at most each level, which rise: trials x levels."""
        place = np.searchsorted(alphas, self.p[procedure], side="left")  # NaN comes last
        width = len(alphas) + 1
        counted = np.bincount(self.trial * width + place, minlength=self.n_trials * width)
        return np.cumsum(counted.reshape(self.n_trials, width)[:, :-1], axis=1).astype(np.float64)

    @cached_property
    def all(self) -> Mask:
        """All pairs."""
        return np.ones(len(self.trial), dtype=np.bool_)

    @cached_property
    def different(self) -> Mask:
        """Which pairs truly differ."""
        mask: Mask = np.abs(self.true) > EQUAL
        return mask


class ErrorRow(TypedDict):
    """Errors and power of one procedure with so many queries at one level."""

    sample: Annotated[str, Column("the sample", key=True)]
    n_queries: Annotated[int, Column("queries", "d", label="queries", key=True)]
    test: Annotated[str, Column("the test", key=True)]
    alpha: Annotated[float, Column("level of significance", "g", key=True)]
    rate: Annotated[float, Column("Type I error", ".4f", label="Type I", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    any_rate: Annotated[float, Column("collections with any Type I error", ".4f", shown=False)]
    any_low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    any_high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    verdict: Annotated[str, Column("liberal, conservative or as promised")]
    power: Annotated[float, Column("share of true differences found significant", ".3f")]
    power_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    power_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    type_two: Annotated[float, Column("Type II error", ".3f", shown=False)]
    type_three: Annotated[float, Column("share found significant in the wrong direction", ".4f", label="Type III")]
    type_three_low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    type_three_high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    wrong: Annotated[float, Column("share of the significant ones in the wrong direction", ".4f", shown=False)]
    wrong_low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    wrong_high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    adjusted_level: Annotated[float, Column("level at which the Type I error is α", ".4f", shown=False)]
    adjusted_power: Annotated[float, Column("power at that level", ".3f")]


@dataclass(frozen=True, eq=False, repr=False)
class ErrorFindings(Findings):
    """Errors of every procedure by sample and size; any level can be asked for, as p-values are kept."""

    @property
    def spec(self) -> Errors:
        """The experiment."""
        return cast("Errors", self.experiment)

    @property
    def procedures(self) -> tuple[str, ...]:
        """Names of the procedures."""
        return tuple(one.name for one in self.spec.procedures)

    @cached_property
    def _compared(self) -> dict[tuple[str, int, str], Compared]:
        keys = ["sample", "n_queries", "truth"]
        parts = self.rows.partition_by(keys, as_dict=True)
        return {(str(s), int(n), str(t)): _compared(part, self.procedures) for (s, n, t), part in parts.items()}

    def compared(self, sample: str, n_queries: int, truth: str) -> Compared:
        """The comparisons of one sample, size and truth."""
        if sample not in self.samples.names:
            raise unknown("sample", sample, self.samples.names)
        try:
            return self._compared[sample, n_queries, truth]
        except KeyError:
            raise AdjudgeError(
                f"errors: expected one of {', '.join(map(str, self.spec.sizes))} queries and null or fitted, "
                f"got {n_queries} and {truth}"
            ) from None

    def fidelity(self, *, repeats: int = 100) -> dict[str, Fidelity]:
        """How faithful simulated collections are to the data, by sample; always with the same draws."""
        from adjudge.experiments.simulate.collection import models_of

        models = models_of(self.samples, self.spec.margin, self.spec.dependence)
        return {
            sample.name: model.fidelity(sample.values, np.random.default_rng(self.spec.seed), repeats=repeats)
            for sample, model in zip(self.samples, models, strict=True)
        }

    @cached_property
    def asymmetries(self) -> dict[str, Asymmetry]:
        """How unequal null systems are in the numbers of queries on which they are ahead, by sample."""
        from adjudge.experiments.simulate.collection import asymmetry, models_of

        models = models_of(self.samples, self.spec.margin, self.spec.dependence)
        return {
            sample.name: asymmetry(model.null(self.spec.null), np.random.default_rng(self.spec.seed))
            for sample, model in zip(self.samples, models, strict=True)
        }

    def each(self) -> Iterator[tuple[str, int, str]]:
        """Every sample, size and procedure."""
        for sample in self.samples.names:
            for n_queries in self.spec.sizes:
                for procedure in self.procedures:
                    yield sample, n_queries, procedure

    @property
    def levels(self) -> tuple[float, ...]:
        """Levels of the tables, the highest first: the usual ones, and those of the procedures."""
        return tuple(sorted({*SHOWN_LEVELS, *(one.alpha for one in self.spec.procedures)}, reverse=True))

    @property
    def n_verdicts(self) -> int:
        """How many verdicts are made at once: one per sample, size, procedure and level."""
        return sum(1 for _ in self.each()) * len(self.levels)

    def type_one(self, alphas: Sequence[float] = SHOWN_LEVELS) -> list[TypeOne]:
        """Type I error of every sample, size and procedure at these levels, per comparison and per collection.

        Verdicts rest on intervals of confidence 1 - 0.05 / n for the n verdicts of the report (Bonferroni), so that the
        probability that any test that keeps its level is called liberal or conservative is at most 5 %.
        """
        levels = np.sort(_checked(alphas))
        wide = 1 - _ANY_WRONG / self.n_verdicts
        found = []
        for sample, n, procedure in self.each():
            null = self.compared(sample, n, "null")
            hits = null.significant(procedure, levels)
            cases = null.per_trial(null.all)[:, np.newaxis]
            cases = np.broadcast_to(cases, hits.shape)
            each, judged = rates(hits, cases), rates(hits, cases, confidence=wide)
            any_ = rates((hits > 0).astype(np.float64), np.ones_like(hits))
            for i, alpha in enumerate(levels.tolist()):
                shares = (*each.at(i).bounded, *any_.at(i).bounded)
                found.append(TypeOne(sample, n, procedure, alpha, *shares, _verdict(alpha, judged.at(i))))
        return found

    def bins(self, sample: str) -> Floats:
        """Edges of bins of true differences of a sample; the last has no end."""
        return difference_bins(self.compared(sample, self.spec.sizes[0], "fitted").true)

    def detection(self, alpha: float, *, binned: bool = False) -> list[Detection]:
        """Power and Type III error of every sample, size and procedure: of all true differences, or by bins of them."""
        _checked([alpha])
        found = []
        for sample, n, procedure in self.each():
            fitted = self.compared(sample, n, "fitted")
            edges = self.bins(sample) if binned else np.array([0.0, np.inf])
            significant = fitted.p[procedure] <= alpha
            for least, most in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
                size = np.abs(fitted.true)
                within = fitted.different & (size >= least) & (size < most)
                if within.any():
                    mean = float(size[within].mean())
                    shares = _detected(fitted, within, significant)
                    found.append(Detection(sample, n, procedure, alpha, least, most, mean, int(within.sum()), *shares))
        return found

    def adjusted_power(self, alpha: float) -> list[AdjustedPower]:
        r"""Power of every sample, size and procedure at the level at which its actual Type I error is ``alpha``.

        That level is the ``alpha`` quantile of its p-values on null collections, so that a liberal test does not seem
        powerful for that alone. Where p-values are few, as a sign test's are, no level has that error: the power is
        then interpolated between the two next to it, as if the test drew lots at the upper one. Intervals know that the
        level is estimated from the same trials.
        """
        _checked([alpha])
        found = []
        for sample, n, procedure in self.each():
            level, hits, cases = self._held(sample, n, procedure, alpha)
            found.append(AdjustedPower(sample, n, procedure, alpha, level, *rates(hits, cases).bounded))
        return found

    def leaders(
        self, sample: str, n_queries: int, procedures: Sequence[str], alpha: float, *, adjusted: bool = False
    ) -> tuple[str, ...]:
        """Procedures with the highest power, or size-adjusted power: the first leads, others are not clearly behind."""
        fitted = self.compared(sample, n_queries, "fitted")
        cases = fitted.per_trial(fitted.different)[:, np.newaxis]
        hits = np.stack(
            [
                self._held(sample, n_queries, name, alpha)[1]
                if adjusted
                else fitted.per_trial(fitted.different & (fitted.p[name] <= alpha))
                for name in procedures
            ],
            axis=1,
        )
        cases = np.broadcast_to(cases, hits.shape)
        return leading(procedures, rates(hits, cases).value, left_out(hits, cases), highest=True)

    def _held(self, sample: str, n_queries: int, procedure: str, alpha: float) -> tuple[float, Floats, Floats]:
        """The level at which the Type I error is ``alpha``, what is found at it in each trial, and of how much.

        A trial in which the null is rejected more often than in others lowers the level of all, and with it the power,
        by dpower/derror for each; its hits are less by that, which adds up to nothing over trials.
        """
        null, fitted = (self.compared(sample, n_queries, truth) for truth in ("null", "fitted"))
        steps = [level_of(null.p[procedure], a) for a in (alpha, (1 - _STEP) * alpha, (1 + _STEP) * alpha)]
        at, less, more = (fitted.found_at(procedure, step, fitted.different) for step in steps)
        cases, compared = fitted.per_trial(fitted.different), null.per_trial(null.all)
        rejected = null.found_at(procedure, steps[0], null.all)
        slope = (more.sum() - less.sum()) / (2 * _STEP * alpha * compared.sum())
        shift = slope * (rejected.sum() / compared.sum() * compared - rejected)
        lower, upper, share = steps[0]
        return (1 - share) * lower + share * upper, at + shift, cases

    row_type = ErrorRow

    def _rows(self) -> list[dict[str, Any]]:
        """A row for every sample, size, procedure and level: those of the tables, and the procedure's own."""
        empty = dict.fromkeys(column.name for column in columns_of(ErrorRow))
        detected = {_key(one): one for alpha in self.levels for one in self.detection(alpha)}
        adjusted = {_key(one): one for alpha in self.levels for one in self.adjusted_power(alpha)}
        records = []
        for error in self.type_one(self.levels):
            power, fair = detected.get(_key(error)), adjusted[_key(error)]
            record = {"test" if name == "procedure" else name: value for name, value in asdict(error).items()}
            if power is not None:
                wanted = ("power", "power_low", "power_high", "type_two", "type_three", "type_three_low")
                record |= {name: getattr(power, name) for name in (*wanted, "type_three_high", "wrong")}
                record |= {"wrong_low": power.wrong_low, "wrong_high": power.wrong_high}
            records.append({**empty, **record, "adjusted_level": fair.level, "adjusted_power": fair.power})
        return records

    def sentences(self) -> list[str]:
        """Which tests keep their promise, which is most powerful, and how often significance misleads."""
        return sentences(self)

    def _facts(self) -> dict[str, Any]:
        """With power and Type III error by true difference, and how asymmetric null systems are."""
        alphas = sorted({procedure.alpha for procedure in self.spec.procedures})
        by_difference = [asdict(each) for alpha in alphas for each in self.detection(alpha, binned=True)]
        asymmetry = {sample: asdict(each) for sample, each in self.asymmetries.items()}
        return {**super()._facts(), "by_difference": by_difference, "null_asymmetry": asymmetry}

    def table(self, *, digits: int | None = None) -> Table:
        """Errors and power at each procedure's own level."""
        levels = {procedure.name: procedure.alpha for procedure in self.spec.procedures}
        own = [place for place, row in enumerate(self._rows()) if row["alpha"] == levels[row["test"]]]
        return super().table(digits=digits).take(own)


def _verdict(alpha: float, judged: Rates) -> Verdict:
    """Whether an interval contains the level, lies below it, or above."""
    _, low, high = judged.bounded
    if not low <= high:
        return "unknown"
    if low > alpha:
        return "liberal"
    return "conservative" if high < alpha else "as promised"


def _key(one: TypeOne | Detection | AdjustedPower) -> tuple[str, int, str, float]:
    return one.sample, one.n_queries, one.procedure, one.alpha


def _checked(alphas: Sequence[float]) -> Floats:
    levels = np.asarray(alphas, dtype=np.float64)
    if not len(levels) or not ((levels > 0) & (levels < 1)).all():
        raise AdjudgeError(f"errors: levels must be in (0, 1), got {', '.join(f'{a:g}' for a in alphas) or 'none'}")
    return levels


def _compared(part: pl.DataFrame, procedures: Sequence[str]) -> Compared:
    trials, trial = np.unique(part["trial"].to_numpy(), return_inverse=True)
    p = {name: part[name].to_numpy() for name in procedures}
    return Compared(
        len(trials), trial.astype(np.int64), part["true_difference"].to_numpy(), part["difference"].to_numpy(), p
    )


def _detected(fitted: Compared, within: Mask, significant: Mask) -> tuple[float, ...]:
    """Power, Type III error and share of wrong ones among the significant, each with its interval."""
    cases = fitted.per_trial(within)
    hits = fitted.per_trial(within & significant)
    wrong = fitted.per_trial(within & significant & (fitted.difference * fitted.true < 0))
    return (*rates(hits, cases).bounded, *rates(wrong, cases).bounded, *rates(wrong, hits).bounded)


def level_of(null: Floats, alpha: float) -> tuple[float, float, float]:
    """Two p-values next to each other between which the Type I error reaches ``alpha``, and how far on it does.

    >>> level_of(np.array([0.01, 0.02, 0.02, 1.0]), 0.5)
    (0.01, 0.02, 0.5)
    """
    values, counts = np.unique(null[~np.isnan(null)], return_counts=True)
    actual = np.concatenate([[0.0], np.cumsum(counts) / len(null)])
    levels = np.concatenate([[0.0], values])
    place = int(np.searchsorted(actual, alpha, side="right")) - 1
    if place + 1 >= len(levels):
        return float(levels[-1]), float(levels[-1]), 0.0
    share = (alpha - actual[place]) / (actual[place + 1] - actual[place])
    return float(levels[place]), float(levels[place + 1]), float(share)


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


_USUAL = 50  # queries of a usual collection
_ABOUT_RANKS = {
    "wilcoxon": "differences symmetric around 0 (the hypothesis of the wilcoxon test)",
    "sign": "positive differences as frequent as negative ones (that of the sign test)",
}
_MOST_SAMPLES = 4  # that sentences go through; tables have them all


def usual_size(sizes: Sequence[int]) -> int:
    """The size that sentences speak of: 50 queries, or the nearest to it.

    >>> usual_size([25, 50, 100]), usual_size([10, 30])
    (50, 30)
    """
    return min(sizes, key=lambda size: (abs(size - _USUAL), size))


def sentences(findings: ErrorFindings) -> list[str]:
    """The conclusion by sample at the usual size, then what the numbers are and are not."""
    spec = findings.spec
    size = usual_size(spec.sizes)
    found = []
    for sample in findings.samples.names[:_MOST_SAMPLES]:
        for alpha in dict.fromkeys(one.alpha for one in spec.procedures):
            found += _of_sample(findings, sample, size, alpha)
    found += [_null_in_words(spec.null), _verdicts_in_words(findings), *_about_ranks(findings)]
    if any(one.one_sided for one in spec.procedures):
        found.append(
            "One-sided tests here take the direction from the data, as people do who test whether the better system is "
            "better; that doubles their Type I error, and the same test with two sides at twice the level is no other."
        )
    found.append(
        "The rate of conflicts between two halves of the queries is no Type I error rate: most of those pairs do "
        "differ, so that a conflict is rare whatever the test, and it stays below α also for a test that rejects true "
        "null hypotheses too often. It is nearer to the Type III error, which is counted here from the known truth."
    )
    return found


def _of_sample(findings: ErrorFindings, sample: str, size: int, alpha: float) -> list[str]:
    own = [one for one in findings.spec.procedures if one.alpha == alpha]
    names = [one.name for one in own]

    def here(one: TypeOne | Detection) -> bool:
        return one.sample == sample and one.n_queries == size and one.procedure in names

    errors = [one for one in findings.type_one([alpha]) if here(one)]
    detected = {one.procedure: one for one in findings.detection(alpha) if here(one)}
    return [
        _rejections(errors, size, findings.spec.null),
        _promises(errors, findings.spec),
        *_powers(findings, errors, detected, alpha),
        *_directions(detected),
        _families(findings, errors, own),
    ]


def _rejections(errors: Sequence[TypeOne], size: int, null: str) -> str:
    parts = "; ".join(f"{_test(one.procedure)} in {share_with(one.rate, one.low, one.high)}" for one in errors)
    what = "a true null hypothesis" if null == "exchangeable" else "a true null hypothesis about means"
    where = f"At α = {errors[0].alpha:g} with {size} queries by {errors[0].sample}"
    return f"{where}, {what} is rejected by {parts} of cases."


def _test(name: str) -> str:
    """A procedure with its article: the t-test, the wilcoxon test, t+holm as it is written."""
    if "+" in name or name.endswith("-1"):
        return name
    return "the t-test" if name == "t" else f"the {name} test"


def _promises(errors: Sequence[TypeOne], spec: Errors) -> str:
    by_verdict = {
        "as promised": "{} as often as promised, as far as these trials tell",
        "conservative": "{} less often than promised (conservative)",
        "liberal": "{} more often than promised (liberal)",
    }
    parts = []
    for verdict, words in by_verdict.items():
        names = [_test(one.procedure) for one in errors if one.verdict == verdict]
        if names:
            parts.append(words.format(f"{listed(names)} {'reject' if len(names) > 1 else 'rejects'}"))
    ranks = [_test(one.name) for one in _of_ranks(spec) if one.name in {error.procedure for error in errors}]
    if parts and ranks and spec.null != "exchangeable":
        parts.append(f"of {listed(ranks)} that would be a promise about means, which {_its(ranks)} not make")
    return (_capital("; ".join(parts)) if parts else "No test could be judged") + "."


def _its(names: Sequence[str]) -> str:
    return "they do" if len(names) > 1 else "it does"


def _of_ranks(spec: Errors) -> list[Procedure]:
    return [one for one in spec.procedures if one.test in _ABOUT_RANKS]


def _powers(
    findings: ErrorFindings, errors: Sequence[TypeOne], detected: dict[str, Detection], alpha: float
) -> list[str]:
    kept = [one for one in errors if one.verdict in ("as promised", "conservative") and one.procedure in detected]
    if not detected:
        return []
    sample, size = errors[0].sample, errors[0].n_queries
    said = ["All tests reject too often, so that none is called the most powerful at its level."]
    if kept:
        names = [one.procedure for one in kept]
        first = findings.leaders(sample, size, names, alpha)
        powers = {name: (one.power, one.power_low, one.power_high) for name, one in detected.items()}
        said = [f"Among those that are not seen to reject too often, {_finding_most(first, names, powers)}."]
    fair = {
        one.procedure: (one.power, one.low, one.high)
        for one in findings.adjusted_power(alpha)
        if (one.sample, one.n_queries) == (sample, size) and one.procedure in detected
    }
    alone = [one.name for one in findings.spec.procedures if one.name in fair and not _of_family(one)] or list(fair)
    held = findings.leaders(sample, size, alone, alpha, adjusted=True)
    return [*said, f"With all tests held to the same actual Type I error, {_finding_most(held, alone, fair)}."]


def _finding_most(
    leaders: Sequence[str], among: Sequence[str], powers: Mapping[str, tuple[float, float, float]]
) -> str:
    """Who finds most of the true differences, or that it cannot be told."""
    if len(leaders) == 1:
        text = f"{_test(leaders[0])} finds most of the true differences: {share_with(*powers[leaders[0]])}"
        others = sorted((name for name in among if name != leaders[0]), key=lambda name: -powers[name][0])
        return f"{text}, next {_test(others[0])} with {share(powers[others[0]][0])}" if others else text
    shares = listed([share_with(*powers[name]) for name in leaders])
    return (
        f"{listed([_test(name) for name in leaders])} find most of the true differences, too close to one another "
        f"to tell which finds more: {shares}"
    )


def _of_family(one: Procedure) -> bool:
    """Whether it looks at all pairs at once, so that its errors in one comparison are not what it promises."""
    return one.correction != "none" or one.test in FAMILYWISE_TESTS


def _directions(detected: dict[str, Detection]) -> list[str]:
    if not detected:
        return []
    parts = "; ".join(
        f"{_test(name)} {share_with(one.wrong, one.wrong_low, one.wrong_high)}"
        if one.power > 0
        else f"{_test(name)} has none that is significant"
        for name, one in detected.items()
    )
    return [f"Of the significant differences this many point the wrong way (Type III errors): {parts}."]


def _families(findings: ErrorFindings, errors: Sequence[TypeOne], own: Sequence[Procedure]) -> str:
    sample = next(one for one in findings.samples if one.name == errors[0].sample)
    n = min(len(sample.systems), findings.spec.systems)
    parts = "; ".join(
        f"{_test(one.name)} {share_with(error.any_rate, error.any_low, error.any_high)}"
        for one, error in zip(own, errors, strict=True)
    )
    return (
        f"Where {n} systems are all equal, at least one of the {n * (n - 1) // 2} comparisons is significant in this "
        f"share of the collections: {parts}."
    )


def _about_ranks(findings: ErrorFindings) -> list[str]:
    """What tests about ranks or signs are asked where only means are equal, and how far from their hypothesis it is."""
    ranks = _of_ranks(findings.spec)
    if not ranks or findings.spec.null == "exchangeable":
        return []
    measured = "; ".join(
        f"by {name} typically {share(one.typical)}, at most {share(one.largest)}"
        for name, one in list(findings.asymmetries.items())[:_MOST_SAMPLES]
    )
    hypotheses = listed([_ABOUT_RANKS[test] for test in dict.fromkeys(one.test for one in ranks)])
    return [
        f"Equal means do not make {hypotheses}. One of two null systems is better on more queries than the other: the "
        f"share of queries on which it is better less that on which it is worse is {measured}. What these tests reject "
        "beyond α because of that is no malfunction: they find a difference that is there, and the error is to read it "
        "as one of means. They do so the more often the more queries there are; how often is also the luck of the one "
        "collection that was fitted."
    ]


def _null_in_words(null: str) -> str:
    made = {
        "exchangeable": "all systems have the distribution of one of them, drawn anew each trial, and values are "
        "shuffled among them on every query, so that nothing tells one from another: the hypothesis under which all "
        "these tests promise their level. Pairs depend on one another as strongly as pairs in the data do on average",
        "margins": "all systems have the distribution of one of them, drawn anew each trial, and depend on one another "
        "as in the data, so that means are equal",
        "means": "each system keeps its own distribution, bent as little as can be until all means are equal",
    }
    return f"In null collections {made[null]}. Intervals are of the trials (95 %), not of having one collection to fit."


def _verdicts_in_words(findings: ErrorFindings) -> str:
    n = findings.n_verdicts
    at_once = f"for all {n} verdicts of this experiment at once" if n > 1 else "for this verdict"
    return (
        f"A test is called liberal or conservative only where a wider interval, which holds {at_once}, lies above or "
        "below α: in at most 5 of 100 experiments is any test called so that keeps its level."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_PANELS_ACROSS = 3
_SIZE = (Heading("Sample", "left"), Heading("Queries"), Heading("Test", "left"))


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
        Heading("Verdict", "left", about=f"whether the rate at {alphas[0]:g} is off it (interval for all verdicts)"),
        *(Heading(f"α = {alpha:g}", about="share of comparisons in which a true null is rejected") for alpha in levels),
        Heading("Any", about=f"share of collections with any false positive, at {alphas[0]:g}"),
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
        Heading("α"),
        Heading("Power", about="share of true differences that are significant"),
        Heading("Type II", about="share of true differences that are missed"),
        Heading("Adjusted level", about="level at which the actual Type I error is α"),
        Heading("Adjusted power", about="power at that level, for a fair comparison of tests"),
        Heading("Type III", about="share of true differences that are significant in the wrong direction"),
        Heading("Wrong", about="share of the significant ones that point the wrong way"),
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
        Heading("True difference", "left"),
        Heading("Cases"),
        Heading("Power"),
        Heading("Type III", about="significant in the wrong direction"),
        Heading("Wrong", about="share of the significant ones that point the wrong way"),
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
        Heading("Sample", "left"),
        Heading("Figure", "left"),
        Heading("Mean error", about="simulated collections on average against the data, over systems or pairs"),
        Heading("Largest error"),
        Heading("Noise", about="how far one simulated collection is from their average: what the data are at best"),
    )
    records = [
        {"sample": sample, **record} for sample, found in findings.fidelity().items() for record in found.to_dicts()
    ]
    numbers = ("mean_error", "max_error", "noise")
    rows = [(one["sample"], one["figure"], *(f"{one[name]:.4f}" for name in numbers)) for one in records]
    text = (
        "Errors are those of the simulated collections. They are those of the data as far as the simulation is "
        "faithful, above all in the standard deviation of differences, by which tests judge a difference."
    )
    table = table_of("fidelity", "Simulated collections beside the data.", columns, rows, records)
    return Section("fidelity", "How faithful the simulated collections are", (Paragraph(text), table))
