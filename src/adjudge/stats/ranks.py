"""Ranks of systems: which are possible, which systems form a tier, and how probable it is to be the best.

Ranks are by the mean, 1 is best. Where some systems are shown to differ and others are not, a system may have any rank
from 1 + the number of systems shown to be better, to n - the number shown to be worse. All these decisions are right at
once with the confidence asked for, so all intervals of ranks hold together. A system whose true mean is tied with
others has several true ranks, and its interval holds all of them.

Mogstad, M., Romano, J. P., Shaikh, A. M., Wilhelm, D. Inference for Ranks with Applications to Mobility across
Neighbourhoods and Academic Achievement across Countries. Review of Economic Studies 91(1), 2024.
doi:10.1093/restud/rdad006
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from adjudge.arrays import ROUNDING, Floats, Ints, Mask
from adjudge.checks import CONFIDENCE, RESAMPLES, SEED, checked
from adjudge.stats import resampling

Chance = Literal["bootstrap", "model"]
_MOST_SIGNED = 2000  # queries; sums over more are as good as normal, and drawn as such
_WIDEST = 2048  # queries or systems that chunks of draws are made for
_CELLS = 2**19  # resampled differences at a time; they stay in cache
_SAME = 1e-12  # of the squares of two systems: differences below are rounding
_LENT = 25  # queries of the average pair that each pair is lent; chosen on simulated scores and AP of TREC-8


@dataclass(frozen=True, eq=False)
class Sample:
    """Effectiveness, queries x systems without gaps, and the stratum (data set) of each query; strata count alike."""

    values: Floats
    strata: Ints

    @classmethod
    def of(cls, values: Floats, strata: Ints | None = None) -> Sample:
        """One stratum where none are given."""
        return cls(values, np.zeros(len(values), dtype=np.int64) if strata is None else strata)

    def parts(self) -> Iterator[Floats]:
        """The queries of one stratum after the other, each without what all systems have in common."""
        for stratum in range(int(self.strata.max()) + 1):
            part = self.values[self.strata == stratum]
            yield part - part.mean(axis=1, keepdims=True)

    def is_powerless(self, confidence: float) -> bool:
        """Whether no differences at all could be shown: all signs together are too few."""
        return int(self.strata.max()) == 0 and 2.0 ** (1 - len(self.values)) > 1 - confidence + _SAME

    @cached_property
    def skewed(self) -> float:
        """The share of pairs whose differences have a skewness beyond ±1; 0 with several strata."""
        if self.strata.any():
            return 0.0
        _, variance, third = _moments(next(self.parts()))
        skewed = np.abs(third) > variance**1.5 + _SAME
        return float(skewed[np.triu_indices(len(skewed), 1)].mean())

    @cached_property
    def means(self) -> Floats:
        """Mean of the means of strata."""
        by_stratum = [self.values[self.strata == s].mean(axis=0) for s in range(int(self.strata.max()) + 1)]
        return np.asarray(np.mean(by_stratum, axis=0))

    def intervals(self, confidence: float) -> tuple[Floats, Floats]:
        """Ends of the interval of each mean by t, with Satterthwaite's degrees of freedom over strata."""
        from scipy.special import stdtrit

        shares, free = [], []
        for stratum in range(int(self.strata.max()) + 1):
            part = self.values[self.strata == stratum]
            shares.append(part.var(axis=0, ddof=1) / len(part))
            free.append(len(part) - 1)
        total = np.sum(shares, axis=0)
        squares = sum(share**2 / df for share, df in zip(shares, free, strict=True))
        df = np.divide(total**2, squares, out=np.full(len(total), float(sum(free))), where=squares > 0)
        half = stdtrit(df, 0.5 + confidence / 2) * np.sqrt(total) / len(shares)
        return self.means - half, self.means + half

    @cached_property
    def covariance(self) -> tuple[Floats, float]:
        """Covariance of the means over queries, apart from what all share, and its degrees of freedom.

        Strata are given: (1/D²) Σ_d S_d / n_d, with S_d the covariance within stratum d. Degrees of freedom are
        Satterthwaite's, for the mean variance of a system.
        """
        total, traces, free = np.zeros((self.values.shape[1],) * 2), [], []
        for part in self.parts():
            left = part - part.mean(axis=0)
            share = left.T @ left / (len(part) * max(len(part) - 1, 1))
            total += share
            traces.append(float(np.trace(share)))
            free.append(len(part) - 1)
        squares = sum(trace**2 / df for trace, df in zip(traces, free, strict=True) if df)
        n_strata = len(traces)
        return total / n_strata**2, sum(traces) ** 2 / squares if squares > 0 else float(sum(free))


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks by the mean, those that are possible, and tiers; ``better[a, b]``: a is shown to be better than b."""

    means: Floats
    p: Floats
    better: Mask

    @property
    def rank(self) -> Ints:
        """1 + the number of systems with a higher mean; systems with the same mean share a rank."""
        slack = ROUNDING * np.abs(self.means).max(initial=0.0)
        return 1 + np.asarray((self.means[:, None] > self.means + slack).sum(axis=0))

    @property
    def low(self) -> Ints:
        """The best rank that is possible."""
        return 1 + np.asarray(self.better.sum(axis=0))

    @property
    def high(self) -> Ints:
        """The worst rank that is possible."""
        return len(self.means) - np.asarray(self.better.sum(axis=1))

    @property
    def tier(self) -> Ints:
        """Tiers from 1, best first.

        From the highest mean down, a tier begins where a system is shown to be worse than the first of the tier above.
        Nobody is in a better tier than a system with a higher mean.
        """
        tiers, first, tier = np.empty(len(self.means), dtype=np.int64), -1, 0
        for system in np.argsort(-self.means, kind="stable"):
            if first < 0 or self.better[first, system]:
                first, tier = system, tier + 1
            tiers[system] = tier
        return tiers


@checked(confidence=CONFIDENCE, resamples=RESAMPLES, seed=SEED)
def rank_sets(sample: Sample, *, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0) -> Ranks:
    """Which systems are shown to be better than which, with all decisions right at once, and so the possible ranks.

    For systems a and b with differences d_q over n queries, the statistic is r = Σ d_q / sqrt(Σ d_q² + 25 v), where v
    is the mean variance of the differences of a pair: each pair is lent 25 queries of the average pair, since few
    queries may miss what makes two systems differ (Smyth 2004). Without them it grows with Student's t. Signs are given
    to queries at random, the same for all systems: r* = Σ w_q d_q / sqrt(Σ d_q² + 25 v), a permutation test. p is
    stepped down (Romano and Wolf 2005): pairs are shown to differ from the largest |r| on, each against the largest
    |r*| of those not yet shown, and r says which of the two is better. Where the differences of a pair are skewed
    against the better system, its r counts less (Hall 1992), and never more.

    Where all systems are alike, any is shown to be better with probability 1 - confidence at most; where they are not,
    the probability of any wrong decision is smaller, and often much smaller. Up to 14 queries all signs are tried. Over
    more than 2,000 queries, sums are drawn from the normal distribution that they have by then. With several strata,
    sums are those of deviations from the means of strata, normal with a common χ² for their spread (multivariate t),
    and the statistic is over its standard error: strata are given, and the claim is about other queries of theirs.
    Systems that are the same on all queries are never shown to differ.
    """
    n_strata = int(sample.strata.max()) + 1
    if n_strata == 1:
        (rows,) = sample.parts()
        gram, observed = rows.T @ rows, rows.sum(axis=0)
        drawn = _signed(rows, gram, resamples, seed) if len(rows) <= _MOST_SIGNED else _normal(gram, resamples, seed)
        lent = _lent(np.atleast_2d(np.cov(rows, rowvar=False, ddof=0)))
        kept = _kept(rows, lent)
    else:
        gram, df = sample.covariance
        observed = sample.means
        drawn = _normal(gram, resamples, seed, df=df)
        lent, kept = _lent(gram) / df, np.ones_like(gram)
    complete = n_strata == 1 and resampling.FLIPPED.enumerates(len(sample.values), resamples)
    p = stepped_down(observed, gram, drawn, complete=complete, lent=lent, kept=kept)
    if n_strata > 1:  # differences without any spread, which signs would have an answer for
        difference = observed[:, None] - observed
        p[(_squares(gram) == 0) & (difference > ROUNDING * np.abs(observed).max())] = 1 / (resamples + 1)
    return Ranks(sample.means, p, p <= 1 - confidence + _SAME)


def _signed(rows: Floats, gram: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Sums with signs, systems x some at a time; all of them where they are few."""
    n = len(rows)
    if resampling.FLIPPED.enumerates(n, resamples):
        weights: Iterator[Floats] = resampling.all_signs(n)
    else:
        weights = resampling.draws(resampling.random_signs, n, resamples, seed)
    return (resampling.weighted_sums(rows, each) for each in weights)


def _normal(covariance: Floats, resamples: int, seed: int, df: float = np.inf) -> Iterator[Floats]:
    """Draws with this covariance, systems x some at a time; of the multivariate t with ``df``."""
    root = _root(covariance)
    for rng, size in resampling.generators(_WIDEST, resamples, seed):
        drawn = root @ rng.standard_normal((root.shape[1], size))
        yield drawn if np.isinf(df) else drawn * np.sqrt(df / rng.chisquare(df, size))


def _root(covariance: Floats) -> Floats:
    """A matrix whose product with its transpose is the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > _SAME * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _squares(gram: Floats) -> Floats:
    """Sums of squares of the difference of each two systems, from their products; rounding is 0."""
    both = np.diag(gram)[:, None] + np.diag(gram)
    squares = both - 2 * gram
    return np.where(squares > _SAME * both, squares, 0.0)


def _lent(covariance: Floats) -> float:
    """The squares of the queries lent to each pair: 25 times the mean variance of pairs, given that of systems."""
    squares = _squares(covariance)
    return _LENT * float(squares.sum()) / max(int(np.count_nonzero(squares)), 1)


def _moments(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and third central moment of the differences of each two systems."""
    n, means, gram = len(rows), rows.mean(axis=0), rows.T @ rows
    mean, squares = means[:, None] - means, _squares(gram) / n
    cubes, mixed = (rows**3).sum(axis=0), (rows**2).T @ rows
    third = (cubes[:, None] - cubes - 3 * (mixed - mixed.T)) / n
    return mean, np.maximum(squares - mean**2, 0.0), third - 3 * mean * squares + 2 * mean**3


def _kept(rows: Floats, lent: float) -> Floats:
    """What skewness leaves of the statistic of each two systems: 1, or less where it speaks against the better one.

    With S = m / s, the mean of the differences over their standard deviation, and their skewness γ, Hall's
    transformation is S (1 + u / 3 + u² / 27) with u = γ S. It is used for u < 0, down to its least value.

    Hall, P. On the Removal of Skewness by Transformation. JRSS B 54(1), 1992. doi:10.1111/j.2517-6161.1992.tb01876.x
    """
    mean, variance, third = _moments(rows)
    variance += lent / len(rows)
    u = np.divide(third * mean, variance**2, out=np.zeros_like(mean), where=variance > 0).clip(-4.5, 0)
    factor = 1 + u / 3 + u**2 / 27
    left = np.divide(mean**2 + variance, (factor * mean) ** 2 + variance, out=np.ones_like(mean), where=variance > 0)
    return np.asarray(factor * np.sqrt(left))


def stepped_down(
    observed: Floats,
    gram: Floats,
    drawn: Iterator[Floats],
    *,
    complete: bool,
    lent: float = 0.0,
    kept: Floats | None = None,
) -> Floats:
    """p-values of "a is better than b", systems x systems, from successive maxima of the draws; 1 against the order.

    ``lent`` is added to the squares of every pair, and ``kept`` is what counts of its observed statistic.
    """
    p = np.ones_like(gram)
    first, second = np.triu_indices(len(observed), 1)
    squares = _squares(gram)[first, second]
    differ = squares > 0
    first, second, scale = first[differ], second[differ], 1 / np.sqrt(squares[differ] + lent)
    if not len(first):
        return p
    statistic = (observed[first] - observed[second]) * scale
    if kept is not None:
        statistic *= kept[first, second]
    first, second = np.where(statistic < 0, (second, first), (first, second))
    statistic = np.abs(statistic)
    order = np.argsort(statistic, kind="stable")
    first, second, scale, statistic = first[order], second[order], scale[order, None], statistic[order, None]
    extreme, total = np.zeros(len(first), dtype=np.int64), 0
    width = max(32, _CELLS // len(first))
    for sums in drawn:
        for lo in range(0, sums.shape[1], width):
            block = sums[:, lo : lo + width]
            peaks = block[first]
            peaks -= block[second]
            peaks *= scale
            np.abs(peaks, out=peaks)
            np.maximum.accumulate(peaks, axis=0, out=peaks)
            extreme += np.count_nonzero(peaks >= statistic * (1 - _SAME), axis=1)
            total += block.shape[1]
    found = extreme / total if complete else (extreme + 1) / (total + 1)
    p[first, second] = np.maximum.accumulate(found[::-1])[::-1]
    return p


def chances(
    sample: Sample, *, top: int, how: Chance = "bootstrap", queries: int | None = None, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """Probability of each system to have the best mean, and to be among the ``top``; ties share.

    - ``bootstrap``: of how many resamples of the queries, drawn within strata, the system is the best.
    - ``model``: the means over queries are normal around the true ones, with the covariance S of the sample, and these
      are drawn from N(μ, τ²), with τ² learned from the means. True means are then around μ + b (m - μ) with covariance
      b S and b = τ² / (τ² + σ²), where σ² is the mean variance of a system in S and b is known as Eρ². S is not known
      either: they are drawn from a multivariate t with its degrees of freedom.

    With a number of new ``queries``, the probability is that of being best *on these*: their mean is drawn in addition.

    >>> rng = np.random.default_rng(1)
    >>> best, _ = chances(Sample.of(rng.random((50, 3)) + [0, 0, 0.3]), top=1, resamples=1000, seed=0)
    >>> bool(best[2] > 0.99)
    True
    """
    covariance, df = sample.covariance
    centre, n_systems = sample.means, len(covariance)
    if how == "model":
        error = float(np.trace(covariance)) / (n_systems - 1)
        kept = 1 - min(error / variance, 1.0) if (variance := float(centre.var(ddof=1))) > 0 else 0.0
        centre = centre.mean() + kept * (centre - centre.mean())
        many = len(sample.values) > _MOST_SIGNED
        noise = _normal(covariance, resamples, seed, df) if many else _weighted(sample, resamples, seed, df)
        drawn: Iterator[Floats] = (centre[:, None] + np.sqrt(kept) * sums for sums in noise)
    elif len(sample.values) > _MOST_SIGNED:
        drawn = (centre[:, None] + sums for sums in _normal(covariance, resamples, seed))
    else:
        drawn = _redrawn(sample, resamples, seed)
    if queries is not None:
        more = _normal(covariance * (len(sample.values) / queries), resamples, seed + 1)
        drawn = (means + new for means, new in zip(drawn, more, strict=True))
    best, high = np.zeros(n_systems), np.zeros(n_systems)
    for means in drawn:
        best += top_shares(means, 1)
        high += top_shares(means, top)
    return best / resamples, high / resamples


def _redrawn(sample: Sample, resamples: int, seed: int) -> Iterator[Floats]:
    """Means over queries drawn with replacement within each stratum, systems x some at a time."""
    parts = list(sample.parts())
    for rng, size in resampling.generators(_WIDEST, resamples, seed):
        weights = [resampling.random_counts(rng, len(part), size) / len(part) for part in parts]
        yield np.mean([part.T @ weight for part, weight in zip(parts, weights, strict=True)], axis=0)


def _weighted(sample: Sample, resamples: int, seed: int, df: float) -> Iterator[Floats]:
    """Draws of the multivariate t with the covariance of the means, by normal weights of queries.

    Unlike those of :func:`_normal`, they depend neither on the order of systems nor on rounding.
    """
    parts = [part - part.mean(axis=0) for part in sample.parts()]
    for rng, size in resampling.generators(_WIDEST, resamples, seed):
        sums = [p.T @ rng.standard_normal((len(p), size)) / np.sqrt(len(p) * max(len(p) - 1, 1)) for p in parts]
        yield np.sum(sums, axis=0) / len(parts) * np.sqrt(df / rng.chisquare(df, size))


def top_shares(means: Floats, top: int) -> Floats:
    """How often each system is among the ``top``, over draws in columns; ties at the border share."""
    slack = ROUNDING * np.abs(means).max(initial=0.0)
    border = -np.partition(-means, top - 1, axis=0)[top - 1]
    above, at = means > border + slack, np.abs(means - border) <= slack
    left = (top - above.sum(axis=0)) / at.sum(axis=0)
    return np.asarray((above + at * left).sum(axis=1))
