"""Showing that two systems are as good as the same, which a test that finds no difference does not show.

>>> near = equivalence([[0.50, 0.51], [0.70, 0.70], [0.60, 0.59], [0.90, 0.92]], margin=0.05, systems=["A", "B"])
>>> print(near)
Equivalence within ±0.05, t tests, alpha 0.05, 90 % intervals
system  other      difference      p  p different  verdict
B       A      +0.005 ± 0.015  0.003          0.5  equivalent
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import HALF_ALPHA, POSITIVE, RESAMPLES, SEED, checked
from adjudge.errors import unknown
from adjudge.results import Column, Result
from adjudge.seeds import Seed, as_seed
from adjudge.stats.effects import paired_moments, pairs_by_difference
from adjudge.stats.matrices import matrix_of
from adjudge.stats.paired import PAIRED_TESTS, TINY, How
from adjudge.text import counted, percent

LIBERAL = (
    "Equivalence is claimed too often with few queries and skewed differences: at most .05 is promised, and it was "
    ".10 to .13 with 10 queries, .09 to .10 with 25 and .07 to .09 with 50 (t tests, gamma to exponential differences)"
)
"""What to say of equivalence with fewer than :data:`MANY_QUERIES`; ``python -m benchmarks.claims`` has the numbers."""
MANY_QUERIES = 100


class Verdict(StrEnum):
    """What a test of difference and one of equivalence say together."""

    EQUIVALENT = "equivalent"
    DIFFERENT = "different"
    BOTH = "different but too small to notice"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class EquivalentPair:
    """What the two tests say of one pair of systems."""

    system: Annotated[str, Column("the system ahead", key=True)]
    other: Annotated[str, Column("the other system", key=True)]
    n_queries: Annotated[int, Column("queries that both have", "d", shown=False)]
    difference: Annotated[float, Column("mean difference", "+.3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of the interval that the margin must hold", "+.3f", shown=False)]
    high: Annotated[float, Column("upper end of the interval that the margin must hold", "+.3f", shown=False)]
    p: Annotated[float, Column("p-value of being within the margin", "p")]
    p_difference: Annotated[float, Column("p-value of being different", "p", label="p different")]
    verdict: Annotated[Verdict, Column("what the two tests say together")]


@dataclass(frozen=True, eq=False, repr=False)
class Equivalence(Result):
    """Equivalence of all pairs of systems, as :func:`equivalence` defines it; every array is systems x systems."""

    systems: tuple[str, ...]
    test: str
    margin: float
    alpha: float
    n_queries: Ints
    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    p_difference: Floats
    equivalent: Mask
    different: Mask

    def verdict(self, system: str, other: str) -> Verdict:
        """What the two tests say of a pair of systems."""
        for name in (system, other):
            if name not in self.systems:
                raise unknown("system", name, self.systems)
        return Verdict(str(self.verdicts[self.systems.index(system), self.systems.index(other)]))

    @cached_property
    def verdicts(self) -> npt.NDArray[np.str_]:
        """The verdict of every pair, as text."""
        words = np.where(self.different, str(Verdict.DIFFERENT), str(Verdict.UNDECIDED))
        return np.where(self.equivalent, np.where(self.different, str(Verdict.BOTH), str(Verdict.EQUIVALENT)), words)

    row_type = EquivalentPair
    rows_name = "pairs"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        level = percent(1 - 2 * self.alpha)
        return f"Equivalence within ±{self.margin:g}, {self.test} tests, alpha {self.alpha:g}, {level} intervals"

    def _rows(self) -> list[EquivalentPair]:
        names = ("difference", "low", "high", "p", "p_difference")
        return [
            EquivalentPair(
                self.systems[a],
                self.systems[b],
                int(self.n_queries[a, b]),
                **{name: float(getattr(self, name)[a, b]) for name in names},
                verdict=self.verdict(self.systems[a], self.systems[b]),
            )
            for a, b in pairs_by_difference(self.difference)
        ]

    def _facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("systems", "test", "margin", "alpha")}

    def __repr__(self) -> str:
        return f"<Equivalence: {counted(len(self.systems), 'system')}, margin {self.margin:g}>"


@checked(margin=POSITIVE, alpha=HALF_ALPHA, resamples=RESAMPLES, seed=SEED)
def equivalence(
    values: npt.ArrayLike,
    *,
    margin: float,
    alpha: float = 0.05,
    test: str = "t",
    systems: Sequence[str] | None = None,
    resamples: int = 100_000,
    seed: Seed = 0,
) -> Equivalence:
    """Two one-sided tests (TOST) of all pairs of systems against a margin, from effectiveness, queries x systems.

    ``margin`` m is the smallest difference that matters, such as the smallest that users would notice. Any paired
    ``test`` can be asked twice: whether the differences plus m are above 0, and whether those less m are below; p is
    the larger of the two. What lies within the margin is then what that test is about: the mean (t, bootstrap,
    permutation), the pseudo-median (wilcoxon) or the median (sign). With d the mean difference of a pair and
    e = s / sqrt(n) its standard error, over the n queries both have (NaN cells are left out), the t tests have

    p = max(P(T >= (d + m) / e), P(T <= (d - m) / e)), T of Student with n - 1 degrees of freedom.

    A pair is *equivalent* where p <= alpha; for t tests that is where the interval d ± t(1 - α, n - 1) e from ``low``
    to ``high`` lies inside ±m. It is *different* where the ordinary two-sided test has ``p_difference`` <= alpha. Both
    at once means a real difference too small to notice; neither, that there are too few queries to say. p-values are of
    one pair each: many pairs want a correction.

    The level is nominal. Of pairs that differ by just the margin, at most 5 % should be called equivalent at 0.05; with
    differences skewed towards the margin it is more. Shares with 10, 25 and 50 queries: .13, .10 and .09 for t and
    permutation and .18, .13 and .10 for bootstrap tests with exponential differences (skewness 2); .10, .09 and .07,
    and .14, .11 and .08 with gamma ones (skewness 1.4). wilcoxon and sign do not test the mean at all. Shares are of
    20,000 trials; ``python -m benchmarks.claims`` repeats them with 3,000.

    Where all differences are equal, e is 0 and nothing is uncertain: p of the t tests is 0 if -m < d < m, else 1;
    ``p_difference`` is 1 for identical systems, else 0. As in the paired tests, 0 is written as the least float there
    is. Pairs that share fewer than two queries are refused.

    Schuirmann, D. J. A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the
    Equivalence of Average Bioavailability. J. Pharmacokinetics and Biopharmaceutics 15(6), 1987. doi:10.1007/BF01068419
    Lakens, D. Equivalence Tests: A Practical Primer for t Tests, Correlations, and Meta-Analyses. Social Psychological
    and Personality Science 8(4), 2017. doi:10.1177/1948550617697177

    >>> wide = equivalence([[0.5, 0.1], [0.7, 0.3], [0.6, 0.3], [0.9, 0.4]], margin=0.05, systems=["A", "B"])
    >>> str(wide.verdict("A", "B"))
    'different'
    """
    seed = as_seed(seed)
    from scipy.special import stdtrit

    matrix, names = matrix_of(values, systems)
    moments = paired_moments(matrix, names)
    half = -stdtrit(moments.n_queries - 1, alpha) * moments.standard_error
    p = p_equivalence(matrix, test=test, margin=margin, resamples=resamples, seed=seed)
    p_difference = PAIRED_TESTS[test].function(matrix, How("two-sided", resamples, seed)).p
    return Equivalence(
        names,
        test,
        margin,
        alpha,
        n_queries=moments.n_queries,
        difference=moments.mean,
        low=moments.mean - half,
        high=moments.mean + half,
        p=p,
        p_difference=p_difference,
        equivalent=p <= alpha,
        different=p_difference <= alpha,
    )


@checked(margin=POSITIVE, resamples=RESAMPLES, seed=SEED)
def p_equivalence(matrix: Floats, *, test: str, margin: float, resamples: int = 100_000, seed: int = 0) -> Floats:
    """The larger p-value of the two one-sided tests of each pair; a system is equivalent to itself."""
    above = PAIRED_TESTS[test].function(matrix, How("greater", resamples, seed, margin=margin)).p
    p: Floats = np.maximum(above, above.T)
    np.fill_diagonal(p, TINY)
    return p
