"""How large the differences between systems are, and whether systems are as good as the same.

Effect sizes are raw, standardised, and the chance that one system beats the other. Equivalence is tested against a
margin, as a test that finds no difference does not show that there is none. All pairs of systems are compared at once:
matrices are systems x systems, and entry [a, b] is about system a minus system b.

>>> values = [[0.50, 0.51], [0.70, 0.70], [0.60, 0.59], [0.90, 0.92]]
>>> print(effect_sizes(values, systems=["A", "B"]))
Effect sizes, 95 % intervals
system  other  queries      difference    d_z      g        superiority
B       A            4  +0.005 ± 0.021  +0.39  +0.28  0.62 [0.22, 0.91]
>>> print(equivalence(values, margin=0.05, systems=["A", "B"]))
Equivalence within ±0.05, t tests, alpha 0.05, 90 % intervals
system  other      difference      p  p different  verdict
B       A      +0.005 ± 0.015  0.003          0.5  equivalent
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import Annotated

import numpy as np
import numpy.typing as npt

from adjudge.arrays import ROUNDING, Floats, Ints, Mask
from adjudge.checks import CONFIDENCE, HALF_ALPHA, POSITIVE, RESAMPLES, SEED, checked
from adjudge.results import Column, Result
from adjudge.seeds import Seed, as_seed
from adjudge.stats.intervals import wilson_interval
from adjudge.stats.matrices import common_queries, matrix_of, places_of
from adjudge.stats.paired import PAIRED_TESTS, TINY, How
from adjudge.text import counted, percent

LIBERAL = (
    "Equivalence is claimed too often with few queries and skewed differences: at most .05 is promised, and it was "
    ".10 to .13 with 10 queries, .09 to .10 with 25 and .07 to .09 with 50 (t tests, gamma to exponential differences)"
)
"""What to say of equivalence with fewer than :data:`MANY_QUERIES`; ``python -m benchmarks.claims`` has the numbers."""
MANY_QUERIES = 100


@dataclass(frozen=True, eq=False)
class PairedMoments:
    """What the queries that two systems share say of their differences; every array is systems x systems."""

    n_queries: Ints
    mean: Floats
    sd: Floats
    wins: Ints
    ties: Ints

    @property
    def standard_error(self) -> Floats:
        """Standard deviation of the mean difference, sd / sqrt(n)."""
        error: Floats = self.sd / np.sqrt(self.n_queries)
        return error


def paired_moments(matrix: Floats, systems: Sequence[str]) -> PairedMoments:
    """Mean, standard deviation, wins and ties of the differences of all pairs, over the queries that both have.

    One system against all others at a time, so that memory grows with queries x systems only. The standard deviation
    (n - 1 below) is exactly 0 where differences vary by no more than rounding, and so is a mean that small.

    >>> moments = paired_moments(np.array([[0.3, 0.1], [0.4, 0.2]]), ["A", "B"])
    >>> moments.mean[0, 1].round(3).item(), moments.sd[0, 1].item(), moments.wins[0, 1].item()
    (0.2, 0.0, 2)
    """
    here = np.isfinite(matrix)
    shared = common_queries(matrix, systems)
    tiny = ROUNDING * np.max(np.abs(matrix), where=here, initial=0.0)
    mean, sd = np.zeros(shared.shape), np.zeros(shared.shape)
    wins, ties = np.zeros_like(shared), np.zeros_like(shared)
    for a in range(matrix.shape[1]):
        difference = matrix[:, [a]] - matrix
        mean[a] = np.nansum(difference, axis=0) / shared[a]
        centred = difference - mean[a]
        constant = np.nanmax(np.abs(centred), axis=0) <= tiny
        sd[a] = np.where(constant, 0.0, np.sqrt(np.nansum(centred * centred, axis=0) / (shared[a] - 1)))
        wins[a] = (difference > tiny).sum(axis=0)
        ties[a] = (np.abs(difference) <= tiny).sum(axis=0)
    return PairedMoments(shared, np.where(np.abs(mean) <= tiny, 0.0, mean), sd, wins, ties)


@dataclass(frozen=True)
class Effect:
    """How far one system is ahead of another; the fields of :class:`Effects` for one pair."""

    system: Annotated[str, Column("the system ahead", key=True)]
    other: Annotated[str, Column("the other system", key=True)]
    n_queries: Annotated[int, Column("queries that both have", "d", label="queries")]
    difference: Annotated[float, Column("mean difference", "+.3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", "+.3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", "+.3f", shown=False)]
    smallest_significant: Annotated[float, Column("difference that would have been significant", ".3f", shown=False)]
    d_z: Annotated[float, Column("difference in standard deviations of the differences", "+.2f", label="d_z")]
    g: Annotated[float, Column("that without the bias of few queries, Hedges' g", "+.2f")]
    superiority: Annotated[
        float,
        Column("share of queries with the first ahead, ties half", ".2f", ends=("superiority_low", "superiority_high")),
    ]
    superiority_low: Annotated[float, Column("lower end of its interval", ".2f", shown=False)]
    superiority_high: Annotated[float, Column("upper end of its interval", ".2f", shown=False)]

    def __str__(self) -> str:
        return (
            f"{self.system} - {self.other} = {self.difference:+.3f} ± {self.smallest_significant:.3f}, "
            f"g = {self.g:+.2f}, superiority {self.superiority:.2f} "
            f"[{self.superiority_low:.2f}, {self.superiority_high:.2f}] ({self.n_queries} queries)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Effects(Result):
    """Effect sizes of all pairs of systems, as :func:`effect_sizes` defines them.

    ``difference``, ``d_z`` and ``g`` are antisymmetric; ``smallest_significant`` and ``n_queries`` symmetric;
    ``superiority[a, b] + superiority[b, a]`` is 1, and the bounds of one are 1 minus those of the other, swapped.
    """

    systems: tuple[str, ...]
    confidence: float
    n_queries: Ints
    difference: Floats
    low: Floats
    high: Floats
    smallest_significant: Floats
    d_z: Floats
    g: Floats
    superiority: Floats
    superiority_low: Floats
    superiority_high: Floats

    def of(self, system: str, other: str) -> Effect:
        """The effect sizes of one system minus another."""
        return self._at(*places_of((system, other), self.systems))

    def pairs(self) -> tuple[Effect, ...]:
        """Every pair once, the system ahead first, the largest difference first."""
        return tuple(self._at(a, b) for a, b in pairs_by_difference(self.difference))

    def _at(self, a: int, b: int) -> Effect:
        sizes = (getattr(self, field.name)[a, b].item() for field in fields(Effect)[2:])
        return Effect(self.systems[a], self.systems[b], *sizes)

    row_type = Effect
    rows_name = "pairs"
    fact_names = ("confidence", "systems")

    @property
    def title(self) -> str:
        return f"Effect sizes, {percent(self.confidence)} intervals"

    def _rows(self) -> tuple[Effect, ...]:
        return self.pairs()

    def __repr__(self) -> str:
        return f"<Effects: {counted(len(self.systems), 'system')}>"


@checked(confidence=CONFIDENCE)
def effect_sizes(
    values: npt.ArrayLike, *, confidence: float = 0.95, systems: Sequence[str] | None = None, largest: float = np.inf
) -> Effects:
    """Effect sizes of all pairs of systems from effectiveness, queries x systems; NaN cells are left out pairwise.

    With d_q the difference of a pair on query q, mean d and standard deviation s over the n queries both have:

    - ``difference`` is d, between ``low`` and ``high``, d ± t(1 - α/2, n - 1) s / sqrt(n), α = 1 - ``confidence``, cut
      at ± ``largest``, which is 1 for measures from 0 to 1.
    - ``smallest_significant`` is that half-width: any larger mean difference, with this spread, would have been
      significant in a two-sided t test at α (Urbano et al. 2012, section 5).
    - ``d_z`` is d / s, and ``g`` is J d_z with Hedges' J = Γ(ν/2) / (sqrt(ν/2) Γ((ν - 1)/2)), ν = n - 1, which takes
      away the bias of few queries. (With two queries J is 0, and so is g.)
    - ``superiority`` is P(a > b) + P(a = b) / 2 over queries, a tie being half a win, with the Wilson score interval
      of that share. Ties vary less than its binomial supposes, so the interval is wide rather than narrow; systems
      equal on every query keep an interval around 1/2 instead of certainty from a few queries.

    Where all differences are equal, s is 0: identical systems have d_z = g = 0, others ±inf with the sign of d. Values
    that differ by rounding only (1e-12 of the largest value) count as equal. No result is NaN: pairs that share
    fewer than two queries are refused.

    Hedges, L. V. Distribution Theory for Glass's Estimator of Effect Size and Related Estimators. Journal of
    Educational Statistics 6(2), 1981. doi:10.3102/10769986006002107
    Wilson, E. B. Probable Inference, the Law of Succession, and Statistical Inference. JASA 22(158), 1927.
    doi:10.1080/01621459.1927.10502953

    >>> sizes = effect_sizes([[0.2, 0.1], [0.5, 0.3], [0.9, 0.6]], systems=["A", "B"])
    >>> print(sizes.of("A", "B"))
    A - B = +0.200 ± 0.248, g = +1.13, superiority 1.00 [0.44, 1.00] (3 queries)
    """
    from scipy.special import gammaln, stdtrit

    matrix, names = matrix_of(values, systems)
    moments = paired_moments(matrix, names)
    n, mean = moments.n_queries, moments.mean
    half = stdtrit(n - 1, 0.5 + confidence / 2) * moments.standard_error
    limit = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    d_z = np.divide(mean, moments.sd, out=limit, where=moments.sd > 0)
    nu = np.maximum(n - 1, 2) / 2.0
    hedges = np.where(n > 2, np.exp(gammaln(nu) - gammaln(nu - 0.5)) / np.sqrt(nu), 0.0)
    share, low, high = wilson_interval(moments.wins + moments.ties / 2, n, confidence=confidence)
    return Effects(
        names,
        confidence,
        n_queries=n,
        difference=mean,
        low=np.maximum(mean - half, -largest),
        high=np.minimum(mean + half, largest),
        smallest_significant=half,
        d_z=d_z,
        g=np.multiply(d_z, hedges, out=d_z.copy(), where=np.isfinite(d_z)),
        superiority=share,
        superiority_low=low,
        superiority_high=high,
    )


def pairs_by_difference(difference: Floats) -> list[tuple[int, int]]:
    """Every pair of systems once, the system ahead first, the largest difference first.

    >>> pairs_by_difference(np.array([[0.0, 0.1, -0.2], [-0.1, 0.0, -0.3], [0.2, 0.3, 0.0]]))
    [(2, 1), (2, 0), (0, 1)]
    """
    ahead = [(a, b) if difference[a, b] >= 0 else (b, a) for a, b in combinations(range(len(difference)), 2)]
    return sorted(ahead, key=lambda pair: -difference[pair])


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
        a, b = places_of((system, other), self.systems)
        return Verdict(str(self.verdicts[a, b]))

    @cached_property
    def verdicts(self) -> npt.NDArray[np.str_]:
        """The verdict of every pair, as text."""
        words = np.where(self.different, str(Verdict.DIFFERENT), str(Verdict.UNDECIDED))
        return np.where(self.equivalent, np.where(self.different, str(Verdict.BOTH), str(Verdict.EQUIVALENT)), words)

    row_type = EquivalentPair
    rows_name = "pairs"
    fact_names = ("systems", "test", "margin", "alpha")

    @property
    def title(self) -> str:
        level = percent(1 - 2 * self.alpha)
        return f"Equivalence within ±{self.margin:g}, {self.test} tests, alpha {self.alpha:g}, {level} intervals"

    def _rows(self) -> list[EquivalentPair]:
        rows = []
        for a, b in pairs_by_difference(self.difference):
            numbers = {field.name: getattr(self, field.name)[a, b].item() for field in fields(EquivalentPair)[2:-1]}
            verdict = Verdict(str(self.verdicts[a, b]))
            rows.append(EquivalentPair(self.systems[a], self.systems[b], **numbers, verdict=verdict))
        return rows

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
    from scipy.special import stdtrit

    seed = as_seed(seed)
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
