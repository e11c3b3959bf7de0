"""What a second collection says of the results of a first: success, lack of power, conflicts, at every level at once.

Two disjoint sets of queries stand for two collections. Of each pair of systems and each test there is a p-value and a
difference of means on both, and one of these happens at a level α (thesis section 5.3):

- *non-significance*: the first finds nothing, p > α;
- *success*: both are significant and have the same sign;
- *lack of power*: the first is significant, the second has the same sign but is not;
- *minor conflict*: the first is significant, the second has the other sign and is not;
- *major conflict*: both are significant, with different signs. Minor and major together are *global* conflicts.

The first rate is a share of all comparisons, the others of those that are significant in the first set. Which of the
two sets comes first is arbitrary, so each takes its turn: rates are the same on average, from twice the comparisons.

Equal means point to neither system. They are not significant whatever p (only tests that do not look at means, such as
Wilcoxon's, could say otherwise), and in the second set they are a lack of power, not a conflict.

Which of several procedures lead, when all were tried in the same trials: never more than the trials can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError
from adjudge.experiments.comparing import AGAIN, TIE
from adjudge.experiments.rates import Rates, rates
from adjudge.results import Column, Result, interval_columns
from adjudge.text import counted

if TYPE_CHECKING:
    import polars as pl


LEVELS: tuple[float, ...] = (
    *(float(f"{digit}e-{power}") for power in (4, 3, 2) for digit in range(1, 10)),
    *(0.1, 0.2, 0.3, 0.4, 0.5),
)
"""The 32 levels of thesis section 5.4."""
OUTCOMES: Mapping[str, str] = {
    "non_significant": "Non-significance",
    "success": "Success",
    "lack_of_power": "Lack of power",
    "minor_conflict": "Minor conflict",
    "major_conflict": "Major conflict",
    "global_conflict": "Global conflict",
}
"""What can come of a comparison, and how it is called."""
_SAMPLES, _TESTS = 1, 3  # axes of the counts


@dataclass(frozen=True)
class Paired:
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
    def from_rows(cls, rows: pl.DataFrame, samples: Sequence[str], tests: Sequence[str], largest: float) -> Paired:
        """Comparisons of rows that :mod:`~adjudge.experiments.comparing` made; ``largest`` is what values can reach."""
        import polars as pl

        trials, trial = np.unique(rows["trial"].to_numpy(), return_inverse=True)
        sizes, size = np.unique(rows["n_queries"].to_numpy(), return_inverse=True)
        sample = rows["sample"].cast(pl.Enum(list(samples))).to_physical().to_numpy().astype(np.int64)
        group = (trial.astype(np.int64) * len(samples) + sample) * len(sizes) + size
        return cls(
            group,
            (len(trials), len(samples), len(sizes)),
            tuple(int(one) for one in sizes),
            np.stack([rows[name].to_numpy() for name in tests]),
            np.stack([rows[name + AGAIN].to_numpy() for name in tests]),
            signs(rows["difference"].to_numpy(), largest),
            signs(rows["difference" + AGAIN].to_numpy(), largest),
        )

    def totals(self, cell: Ints, n_cells: int, weights: Floats | None = None) -> Floats:
        """How many comparisons (or what they weigh) each group has in each of ``n_cells``: trials x ... x cells."""
        counted = np.bincount(self.group * n_cells + cell, weights, minlength=int(np.prod(self.shape)) * n_cells)
        return counted.astype(np.float64).reshape(*self.shape, n_cells)


def signs(difference: Floats, largest: float) -> Floats:
    """Sign of a difference of means, 0 where it is rounding of values that reach ``largest``.

    >>> signs(np.array([0.1, 1e-17, -0.2]), 1.0)
    array([ 1.,  0., -1.])
    """
    found: Floats = np.where(np.abs(difference) <= TIE * largest, 0.0, np.sign(difference))
    return found


@dataclass(frozen=True)
class Counts:
    """How often each thing happened: trials x samples x sizes x tests x levels; ``cases`` has one test and level.

    ``significant`` are comparisons significant in the first set, ``opposite`` those of them whose sign is another in
    the second, ``success`` and ``major`` those significant in both, with the same sign or not.
    """

    levels: Floats
    cases: Floats
    significant: Floats
    opposite: Floats
    success: Floats
    major: Floats

    def pooled(self, *, samples: bool, tests: bool) -> Counts:
        """Summed over samples, tests or both, which keep an axis of length 1."""
        axes = tuple(axis for axis, over in ((_SAMPLES, samples), (_TESTS, tests)) if over)
        found = [np.broadcast_to(self.cases, self.significant.shape), *self._four()]
        return Counts(self.levels, *(one.sum(axis=axes, keepdims=True) for one in found))

    def at(self, levels: Sequence[float]) -> Counts:
        """At some of the levels only."""
        steps = check_levels(levels)
        places = np.searchsorted(self.levels, steps)
        return Counts(steps, self.cases, *(one[..., places] for one in self._four()))

    def _four(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.significant, self.opposite, self.success, self.major

    def ratio(self, outcome: str) -> tuple[Floats, Floats]:
        """How often an outcome was seen, and of how many."""
        if outcome == "non_significant":
            cases = np.broadcast_to(self.cases, self.significant.shape)
            return cases - self.significant, cases
        hits = {
            "success": self.success,
            "lack_of_power": self.significant - self.opposite - self.success,
            "minor_conflict": self.opposite - self.major,
            "major_conflict": self.major,
            "global_conflict": self.opposite,
        }
        return hits[outcome], self.significant


def count_outcomes(paired: Paired, levels: Sequence[float]) -> Counts:
    """Count what happens at every level, in one pass over the p-values.

    A p-value is significant from the least level that is not below it on, so that the histogram of those levels, summed
    up, counts the significant at each; both are from the larger p on.
    """
    steps = check_levels(levels)
    found = [_count(paired, first, second, steps) for first, second in zip(paired.first, paired.second, strict=True)]
    significant, opposite, success, major = (np.stack(parts, axis=_TESTS) for parts in zip(*found, strict=True))
    cases = 2 * paired.totals(np.zeros_like(paired.group), 1)[..., None]
    return Counts(steps, cases, significant, opposite, success, major)


def check_levels(levels: Sequence[float]) -> Floats:
    """Levels in ascending order."""
    steps = np.unique(np.asarray(levels, dtype=np.float64))
    if not len(steps) or not (steps[0] > 0 and steps[-1] < 1):
        raise AdjudgeError(f"levels must be in (0, 1), got {', '.join(f'{level:g}' for level in levels) or 'none'}")
    return steps


def _count(paired: Paired, first: Floats, second: Floats, levels: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    never = len(levels)
    start = np.where(paired.sign == 0, never, np.searchsorted(levels, first))
    again = np.where(paired.sign_again == 0, never, np.searchsorted(levels, second))
    direction = paired.sign * paired.sign_again

    def upto(place: Ints, which: Mask | None = None) -> Floats:
        weights = None if which is None else which.astype(np.float64)
        summed: Floats = paired.totals(place, never + 1, weights)[..., :never].cumsum(axis=-1)
        return summed

    significant = upto(start) + upto(again)
    opposite = upto(start, direction < 0) + upto(again, direction < 0)
    both = np.maximum(start, again)
    return significant, opposite, 2 * upto(both, direction > 0), 2 * upto(both, direction < 0)


@dataclass(frozen=True, repr=False)
class OutcomeRates(Result):
    """Rates of all outcomes: ``values[outcome]`` has an array cells x levels, and ``cells`` says what each is about."""

    cells: tuple[dict[str, Any], ...]
    levels: Floats
    values: Mapping[str, Rates]
    significant: Floats
    """Significant comparisons that the rates after the first rest on, cells x levels."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """A record of every cell and level."""
        for i, cell in enumerate(self.cells):
            for j, alpha in enumerate(self.levels.tolist()):
                yield {**cell, "alpha": alpha, "significant": int(self.significant[i, j]), **self._record(i, j)}

    def _record(self, i: int, j: int) -> dict[str, float]:
        record = {}
        for outcome, found in self.values.items():
            record[outcome] = float(found.value[i, j])
            record[f"{outcome}_low"], record[f"{outcome}_high"] = float(found.low[i, j]), float(found.high[i, j])
        return record

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"What comes of comparisons, {counted(len(self.levels), 'level')}"

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


def outcome_rates(counts: Counts, cells: Sequence[dict[str, Any]]) -> OutcomeRates:
    """Rates of every cell (sample, size and test, in this order) with their Monte-Carlo intervals."""

    def flat(counted: Floats) -> Floats:
        return counted.reshape(len(counted), len(cells), len(counts.levels))

    values = {}
    for outcome in OUTCOMES:
        hits, cases = counts.ratio(outcome)
        values[outcome] = rates(flat(hits), flat(cases))
    return OutcomeRates(tuple(cells), counts.levels, values, flat(counts.significant).sum(axis=0))


def left_out(hits: Floats, cases: Floats) -> Floats:
    """Rates without one trial each, trials x ...: how rates of the same trials move together."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (hits.sum(axis=0) - hits) / (cases.sum(axis=0) - cases)
    return found


def jackknifed(without: Floats) -> Floats:
    """Monte-Carlo error of a statistic from its values without one trial each; infinite with one trial.

    sqrt((m - 1) / m Σ (s_i - mean(s))²) over m trials.
    """
    m = len(without)
    if m < 2:
        return np.full(without.shape[1:], np.inf)
    error: Floats = np.sqrt((m - 1) / m * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    return error


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


_CLEAR = 0.975  # of Student's distribution: beyond that many errors two rates are called different


def leading(names: Sequence[str], value: Floats, without: Floats, *, highest: bool = False) -> tuple[str, ...]:
    """Names with the lowest (or highest) value: the first leads, others are not clearly behind it.

    ``without`` has the values without one trial each, trials x names. Trials are shared, so that differences are surer
    than intervals suggest: what counts is the jackknife error of the difference, times Student's 97.5 % quantile for so
    many trials. Names without a value are left out; if none has one, or nothing tells them apart, all lead.

    >>> moved = np.array([[0.50, 0.51, 0.70], [0.52, 0.50, 0.71], [0.48, 0.49, 0.69]])
    >>> leading(["t", "permutation", "sign"], moved.mean(axis=0), moved)
    ('t', 'permutation')
    """
    from scipy.special import stdtrit

    if np.isnan(value).all():
        return tuple(names)
    behind = np.where(np.isnan(value), np.inf, -value if highest else value)
    best = int(np.argmin(behind))
    margin = float(stdtrit(max(len(without) - 1, 1), _CLEAR)) * jackknifed(without - without[:, [best]])
    order = [int(k) for k in np.argsort(behind, kind="stable") if k != best and np.isfinite(behind[k])]
    return tuple(names[k] for k in (best, *(k for k in order if not behind[k] - behind[best] > margin[k])))
