"""How large the differences between systems are: raw, standardised, and as the chance that one beats the other.

All pairs of systems at once: matrices of systems x systems whose entry [a, b] speaks of system a minus system b.

>>> effects = effect_sizes([[0.5, 0.4], [0.7, 0.3], [0.6, 0.6], [0.9, 0.4]], systems=["A", "B"])
>>> print(effects)
Effect sizes, 95 % intervals
system  other  queries      difference    d_z      g        superiority
A       B            4  +0.250 ± 0.379  +1.05  +0.76  0.88 [0.40, 0.99]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.checks import CONFIDENCE, checked
from adjudge.errors import unknown
from adjudge.results import Column, Result
from adjudge.stats.intervals import wilson_interval
from adjudge.stats.matrices import ROUNDING, common_queries, matrix_of
from adjudge.text import counted, percent


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
        for name in (system, other):
            if name not in self.systems:
                raise unknown("system", name, self.systems)
        return self._at(self.systems.index(system), self.systems.index(other))

    def pairs(self) -> tuple[Effect, ...]:
        """Every pair once, the system ahead first, the largest difference first."""
        return tuple(self._at(a, b) for a, b in pairs_by_difference(self.difference))

    def _at(self, a: int, b: int) -> Effect:
        names = [name for name in Effect.__dataclass_fields__ if name not in ("system", "other")]
        sizes = {name: getattr(self, name)[a, b].item() for name in names}
        return Effect(self.systems[a], self.systems[b], **sizes)

    row_type = Effect
    rows_name = "pairs"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Effect sizes, {percent(self.confidence)} intervals"

    def _rows(self) -> tuple[Effect, ...]:
        return self.pairs()

    def _facts(self) -> dict[str, Any]:
        return {"confidence": self.confidence, "systems": self.systems}

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
    from scipy.special import stdtrit

    matrix, names = matrix_of(values, systems)
    moments = paired_moments(matrix, names)
    half = stdtrit(moments.n_queries - 1, 0.5 + confidence / 2) * moments.standard_error
    d_z = standardised(moments)
    hits = moments.wins + moments.ties / 2
    share, low, high = wilson_interval(hits, moments.n_queries, confidence=confidence)
    return Effects(
        names,
        confidence,
        n_queries=moments.n_queries,
        difference=moments.mean,
        low=np.maximum(moments.mean - half, -largest),
        high=np.minimum(moments.mean + half, largest),
        smallest_significant=half,
        d_z=d_z,
        g=_hedges(d_z, moments.n_queries),
        superiority=share,
        superiority_low=low,
        superiority_high=high,
    )


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
        mean[a], sd[a] = _mean_and_sd(difference, shared[a], tiny)
        wins[a] = (difference > tiny).sum(axis=0)
        ties[a] = (np.abs(difference) <= tiny).sum(axis=0)
    return PairedMoments(shared, mean, sd, wins, ties)


def _mean_and_sd(difference: Floats, n: Ints, tiny: float) -> tuple[Floats, Floats]:
    mean = np.nansum(difference, axis=0) / n
    centred = difference - mean
    constant = np.nanmax(np.abs(centred), axis=0) <= tiny
    sd = np.where(constant, 0.0, np.sqrt(np.nansum(centred * centred, axis=0) / (n - 1)))
    return np.where(np.abs(mean) <= tiny, 0.0, mean), sd


def standardised(moments: PairedMoments) -> Floats:
    """Mean over standard deviation of differences; 0/0 is 0, and x/0 infinite with the sign of x."""
    limit = np.where(moments.mean == 0, 0.0, np.copysign(np.inf, moments.mean))
    return np.divide(moments.mean, moments.sd, out=limit, where=moments.sd > 0)


def _hedges(d_z: Floats, n: Ints) -> Floats:
    from scipy.special import gammaln

    half = np.maximum(n - 1, 2) / 2.0
    factor = np.where(n > 2, np.exp(gammaln(half) - gammaln(half - 0.5)) / np.sqrt(half), 0.0)
    return np.multiply(d_z, factor, out=d_z.copy(), where=np.isfinite(d_z))


def pairs_by_difference(difference: Floats) -> list[tuple[int, int]]:
    """Every pair of systems once, the system ahead first, the largest difference first.

    >>> pairs_by_difference(np.array([[0.0, 0.1, -0.2], [-0.1, 0.0, -0.3], [0.2, 0.3, 0.0]]))
    [(2, 1), (2, 0), (0, 1)]
    """
    ahead = [(a, b) if difference[a, b] >= 0 else (b, a) for a, b in combinations(range(len(difference)), 2)]
    return sorted(ahead, key=lambda pair: -difference[pair])
