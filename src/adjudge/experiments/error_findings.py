"""What simulated collections say of tests: Type I error, power, Type III error, each with its interval.

Every rate is over comparisons of pairs, with Monte-Carlo intervals that take trials as independent and pairs within one
as they come (:func:`~adjudge.experiments.rates.rates`): the error of having drawn so many trials, not that of having
one collection to fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError, unknown
from adjudge.experiments.conflicts import LEVELS, left_out
from adjudge.experiments.leading import leading
from adjudge.experiments.rates import Rates, rates
from adjudge.experiments.specification import Findings

if TYPE_CHECKING:
    import polars as pl

    from adjudge.experiments.error_rates import Errors
    from adjudge.experiments.simulation import Asymmetry, Fidelity

__all__ = ["LEVELS", "ErrorFindings"]
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
        from adjudge.experiments.models import models_of

        models = models_of(self.samples, self.spec.margin, self.spec.dependence)
        return {
            sample.name: model.fidelity(sample.values, np.random.default_rng(self.spec.seed), repeats=repeats)
            for sample, model in zip(self.samples, models, strict=True)
        }

    @cached_property
    def asymmetries(self) -> dict[str, Asymmetry]:
        """How unequal null systems are in the numbers of queries on which they are ahead, by sample."""
        from adjudge.experiments.models import models_of
        from adjudge.experiments.simulation import asymmetry

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

    def records(self) -> list[dict[str, Any]]:
        """A row for every sample, size, procedure and level: those of the tables, and the procedure's own."""
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
            records.append({**record, "adjusted_level": fair.level, "adjusted_power": fair.power})
        return records

    def sentences(self) -> list[str]:
        """Which tests keep their promise, which is most powerful, and how often significance misleads."""
        from adjudge.experiments.error_words import sentences

        return sentences(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with power and Type III error by true difference, and how asymmetric null systems are."""
        from adjudge.plain import plain

        alphas = sorted({one.alpha for one in self.spec.procedures})
        by_difference = [asdict(one) for alpha in alphas for one in self.detection(alpha, binned=True)]
        asymmetry = {sample: asdict(one) for sample, one in self.asymmetries.items()}
        content: dict[str, Any] = plain({"by_difference": by_difference, "null_asymmetry": asymmetry})
        return {**super().to_dict(), **content}


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
