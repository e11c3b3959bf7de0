"""Which significance test is the most powerful, the safest and the most exact; and by which measure and scale.

Queries are split at random into two disjoint sets, and all pairs of systems tested on both; what the second set says of
the results of the first is counted over 32 levels (:mod:`~adjudge.experiments.conflicts`). A powerful test has few
non-significant results, a safe one few conflicts, an exact one as many as its level promises (thesis chapter 5).

Conflicts approximate Type I errors and do not equal them: nobody knows here which systems really differ, and rates are
shares of the significant results, not of the pairs without a difference. Intervals are the error of having drawn so
many trials, not that of having one collection only.

Urbano, J., Marrero, M., Martín, D. A comparison of the optimality of statistical significance tests for information
retrieval evaluation. SIGIR 2013. doi:10.1145/2484028.2484163
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.comparing import Comparing
from adjudge.experiments.conflicts import (
    LEVELS,
    Counts,
    OutcomeRates,
    Paired,
    count_outcomes,
    jackknifed,
    left_out,
    outcome_rates,
    relative_error,
)
from adjudge.experiments.leading import leading
from adjudge.experiments.optimality_words import sentences, small_table
from adjudge.experiments.procedures import FIVE_TESTS, Procedure, parse_procedures
from adjudge.experiments.rates import rates
from adjudge.experiments.samples import Samples
from adjudge.experiments.specification import Draws, Findings, Rows, experiment
from adjudge.experiments.words import listed
from adjudge.model.provenance import Provenance

if TYPE_CHECKING:
    import polars as pl

BINS: tuple[float, ...] = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0)
"""Upper ends of the bins of p-values in thesis Table 5.5, and what is above its last."""
_CLEAR = 1.96  # Monte-Carlo errors by which two tests must differ to be called different


@experiment("tests")
@dataclass(frozen=True, kw_only=True)
class Optimality(Comparing):
    """All pairs of systems tested on two disjoint sets of queries, by default halves of the collection.

    The 100,000 resamples are those of the thesis: the least level, 0.0001, leaves 10 of them. Tests are all seen at the
    same levels; what is written after their ``@`` is the level at which conclusions are drawn, one for all.

    >>> Optimality(procedures=("t@0.01", "sign"))
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: tests: expected one level for all tests, got 0.01 and 0.05
    """

    title = "Optimality of significance tests"
    question = "Which test is the most powerful, the safest and the most exact?"

    trials: int = 300
    procedures: tuple[Procedure, ...] = parse_procedures(FIVE_TESTS)
    resamples: int = 100_000

    def __post_init__(self) -> None:
        super().__post_init__()
        levels = sorted({one.alpha for one in self.procedures})
        if len(levels) > 1:
            raise AdjudgeError(
                f"{self.name}: expected one level for all tests, got {listed([f'{a:g}' for a in levels])}"
            )

    @property
    def alpha(self) -> float:
        """The level at which conclusions are drawn."""
        return self.procedures[0].alpha

    def prepared(self, samples: Samples) -> Optimality:
        """Without sizes, half of the queries of the smallest sample."""
        settled = self if self.sizes else replace(self, sizes=(samples.fewest_queries // 2,))
        settled.check_sizes(samples, count=2)
        return settled

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs on two disjoint sets of every size."""
        return self.compared(samples, draws, count=2)

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> OptimalityFindings:
        """Rates of outcomes, from the p-values of all trials."""
        return OptimalityFindings(self, samples, rows, provenance)


@dataclass(frozen=True, eq=False, repr=False)
class OptimalityFindings(Findings):
    """Rates of success, lack of power and conflict of every test and sample, at any level."""

    experiment: Optimality

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests."""
        return tuple(one.name for one in self.experiment.procedures)

    @property
    def size(self) -> int:
        """The largest sets of queries, which conclusions are about."""
        return self.paired.sizes[-1]

    @cached_property
    def paired(self) -> Paired:
        """All comparisons."""
        return Paired.from_rows(self.rows, self.samples.names, self.tests, self.samples.largest)

    @cached_property
    def _all_levels(self) -> Counts:
        return count_outcomes(self.paired, LEVELS)

    def counts(self, levels: Sequence[float] | None = None) -> Counts:
        """What happened in every trial; without levels, at the 32 of the thesis."""
        if levels is None:
            return self._all_levels
        return self._all_levels.at(levels) if set(levels) <= set(LEVELS) else count_outcomes(self.paired, levels)

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
        cells = [
            {
                **({} if samples else {"sample": sample}),
                "n_queries": size,
                **({} if tests else {"test": test}),
            }
            for sample in ((None,) if samples else self.samples.names)
            for size in self.paired.sizes
            for test in ((None,) if tests else self.tests)
        ]
        return outcome_rates(self.counts(levels).pooled(samples=samples, tests=tests), cells)

    def exactness(self) -> list[dict[str, Any]]:
        """Relative RMS error of the global conflict rate over the 32 levels, of every test, with its interval.

        The interval is of ± 1.96 errors by the jackknife over trials. Few conflicts at the least levels make this
        error larger than it would be with more trials.
        """
        value, without = self._exact()
        error = jackknifed(without)
        return [
            {"test": test, "error": float(v), "low": float(max(v - _CLEAR * e, 0.0)), "high": float(v + _CLEAR * e)}
            for test, v, e in zip(self.tests, value, error, strict=True)
        ]

    def most_exact(self) -> tuple[str, ...]:
        """Tests by how exact they are: the first leads, others are not clearly behind it."""
        return self._leading(*self._exact())

    def _exact(self) -> tuple[Floats, Floats]:
        hits, cases = self._of_size(self.counts(), "global_conflict")
        rate = rates(hits, cases).value
        levels = self.counts().levels
        return relative_error(rate, levels), relative_error(left_out(hits, cases), levels)

    def _of_size(self, counts: Counts, outcome: str) -> tuple[Floats, Floats]:
        """Hits and cases of every test with the largest sets: trials x tests x levels."""
        hits, cases = counts.pooled(samples=True, tests=False).ratio(outcome)
        return hits[:, 0, -1], cases[:, 0, -1]

    def self_error(self) -> list[dict[str, Any]]:
        """RMS of p in the second set less p in the first, of every test by bins of the first (thesis Table 5.5).

        Either set is the first in its turn, and all sizes and samples are taken together.
        """
        records = []
        for test, first, second in zip(self.tests, self.paired.first, self.paired.second, strict=True):
            found = _binned(self.paired, first, second)
            lows = (0.0, *BINS)
            for i, high in enumerate(BINS):
                records.append({"test": test, "above": lows[i], "up_to": high, **_root(*found, i)})
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
            same, apart = _each_trial(
                self.paired, ((a <= level) == (b <= level)).sum(axis=0), ((a - b) ** 2).sum(axis=0)
            )
            cases = 2 * self.paired.totals(np.zeros_like(self.paired.group), 1).sum(axis=(1, 2))
            found = rates(same, cases)
            records.append(
                {
                    "test": self.tests[i],
                    "other": self.tests[j],
                    "alpha": level,
                    "same": float(found.value[0]),
                    "same_low": float(found.low[0]),
                    "same_high": float(found.high[0]),
                    **_root(apart, cases),
                }
            )
        return records

    def leaders(self, outcome: str, *, highest: bool = False, alpha: float | None = None) -> tuple[str, ...]:
        """Tests with the lowest (or highest) rate at a level: the first leads, others are not clearly behind it.

        Tests see the same queries, so that differences between them are surer than their intervals suggest: what counts
        is the jackknife error of the difference.
        """
        level = self.experiment.alpha if alpha is None else alpha
        hits, cases = self._of_size(self.counts([level]), outcome)
        return self._leading(rates(hits, cases).value[:, 0], left_out(hits, cases)[:, :, 0], highest)

    def _leading(self, value: Floats, without: Floats, highest: bool = False) -> tuple[str, ...]:
        return leading(self.tests, value, without, highest=highest)

    def records(self) -> list[dict[str, Any]]:
        """Rates of every test at the 32 levels."""
        return self.by_test().records()

    def sentences(self) -> list[str]:
        """What a second collection would say, which test is best at what, and how far to trust it."""
        return sentences(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        from adjudge.plain import plain

        more: dict[str, Any] = plain(
            {
                "by_sample": self.by_sample([self.experiment.alpha]).records(),
                "exactness": self.exactness(),
                "self_error": self.self_error(),
                "agreement": self.agreement(),
            }
        )
        return {**super().to_dict(), **more}

    def __str__(self) -> str:
        return "\n".join([super().__str__(), "", *small_table(self)])


def _binned(paired: Paired, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Squared differences by bins of the first p, either being the first, and how many: trials x bins."""
    known = np.isfinite(first) & np.isfinite(second)
    squares = np.where(known, (second - first) ** 2, 0.0)
    sums, counts = [], []
    for p in (first, second):
        place = np.searchsorted(np.array(BINS[:-1]), np.where(known, p, 1.0))
        sums.append(paired.totals(place, len(BINS), squares).sum(axis=(1, 2)))
        counts.append(paired.totals(place, len(BINS), known.astype(np.float64)).sum(axis=(1, 2)))
    return sums[0] + sums[1], counts[0] + counts[1]


def _each_trial(paired: Paired, *weights: Floats) -> list[Floats]:
    """Sums over the comparisons of each trial: trials x 1."""
    all_in_one = np.zeros_like(paired.group)
    return [paired.totals(all_in_one, 1, one.astype(np.float64)).sum(axis=(1, 2)) for one in weights]


def _root(squares: Floats, cases: Floats, i: int = 0) -> dict[str, float]:
    """RMS with its interval, by the jackknife over trials."""
    total = float(cases[:, i].sum())
    value = float(np.sqrt(squares[:, i].sum() / total)) if total else float("nan")
    half = _CLEAR * float(jackknifed(np.sqrt(left_out(squares[:, i], cases[:, i]))))
    return {"rms": value, "rms_low": max(value - half, 0.0), "rms_high": min(value + half, 1.0)}
