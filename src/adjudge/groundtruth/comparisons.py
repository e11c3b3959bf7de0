"""Tests of two documents: Mann-Whitney of their ranks, signed ranks of experts who ranked both, signs of preferences.

*Mann-Whitney*, of every pair of documents at once. For samples X and Y of n and m ranks, U is the number of pairs (x,
y) with x > y, ties counting one half. P(U <= u) under the null hypothesis that both come from one distribution is the
p-value of "X has smaller ranks than Y"; twice the smaller of both directions, at most 1, is the two-tailed one.

Exact p-values are over all ways of dealing the pooled values, ties included, into samples of n and m: without ties the
classic table, with ties the conditional one. The normal approximation corrects for ties and continuity, as in SciPy and
R. Mann & Whitney 1947, doi 10.1214/aoms/1177730491; with ties: Lehmann, Nonparametrics, 1975, section 1.4.

*Sign tests* count how many of those who compared two documents preferred the one, how many the other. Preferences are
such comparisons; so are rankings, where an expert who ranked both put one before the other or tied them. "Alike" is an
answer to what groups are about, not a missing one, and so it is split: half of such answers count for each document, an
odd one for neither. (Leaving them out, the classic way, tests which of the two is preferred by those who have a
preference, and calls documents different at .25 that eight of ten people call alike and two do not.)
Dixon & Mood 1946, doi 10.1080/01621459.1946.10501898.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Literal

import numpy as np
from scipy.special import bdtr, ndtr

from adjudge.arrays import ROUNDING, Floats, Ints, Mask
from adjudge.checks import SEED, checked
from adjudge.groundtruth.answers import PreferredQuery, RankedQuery
from adjudge.groundtruth.evidence import Evidence, comparison
from adjudge.groundtruth.strengths import answers_about, bradley_terry
from adjudge.stats.resampling import signed_rank_tails

Method = Literal["auto", "exact", "normal"]
MOST_EXACT_TIED = 24
"""Pooled ranks up to which ``auto`` deals tied values out exactly, as each pair takes its own table: 2 x 12 experts.

Beyond it p-values between .05 and .6 were off by less than .01 on simulated experts (by .005 from 2 x 15 on).
"""
MOST_EXACT = 100
"""Pooled ranks up to which ``auto`` is exact where nothing is tied: the table is made once for all pairs."""
_FEW = 32  # pooled ranks that whole numbers deal out faster than arrays do


@checked(method=Method)
def smaller_ranks(ranks: Floats, *, method: Method = "auto") -> Floats:
    """p-values of "the document of the row has smaller ranks than the document of the column".

    ``ranks`` is experts x documents, NaN where there is none; pairs of which one has no rank at all have p = 1. The
    diagonal is 1.

    >>> smaller_ranks(np.array([[1.0, 3.0], [2.0, 4.0]])).round(4).tolist()
    [[1.0, 0.1667], [1.0, 1.0]]
    """
    counts = _histograms(ranks)
    u, sizes = _u(counts), counts.sum(axis=1)
    ties = _tied(counts)
    p = _normal(u, sizes, ties)
    total = sizes[:, None] + sizes[None, :]
    has_both = (sizes[:, None] > 0) & (sizes[None, :] > 0)
    most_tied, most = (np.inf, np.inf) if method == "exact" else (MOST_EXACT_TIED, MOST_EXACT)
    if method != "normal":
        exact = has_both & (total <= np.where(ties > 0, most_tied, most))
        np.fill_diagonal(exact, False)
        whole, twice_u, n = counts.astype(np.int64), np.rint(2 * u).astype(np.int64), sizes.astype(np.int64).tolist()
        for i, j in np.argwhere(np.triu(exact | exact.T)).tolist():
            times = tuple([t for t in (whole[i] + whole[j]).tolist() if t])
            p[i, j], p[j, i] = _exact(int(twice_u[i, j]), times, n[i], n[j])
    p[~has_both] = 1.0
    np.fill_diagonal(p, 1.0)
    return p


def u_statistic(x: Floats, y: Floats) -> float:
    """U of two samples: in how many pairs x is the larger, ties counting one half.

    >>> u_statistic(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
    0.5
    """
    return float((x[:, None] > y[None, :]).sum() + 0.5 * (x[:, None] == y[None, :]).sum())


def _histograms(ranks: Floats) -> Floats:
    """How often each document has each of the distinct ranks: documents x ranks."""
    is_given = np.isfinite(ranks)
    values, code = np.unique(ranks[is_given], return_inverse=True)
    counts = np.zeros((ranks.shape[1], len(values)))
    np.add.at(counts, (np.nonzero(is_given)[1], code), 1.0)
    return counts


def _u(counts: Floats) -> Floats:
    """U of all pairs, rows against columns: two products of histograms rather than all pairs of ranks."""
    below = np.cumsum(counts, axis=1) - counts / 2  # how many of a document are smaller, the equal ones half
    return counts @ below.T


def _tied(counts: Floats) -> Floats:
    """Sum of t^3 - t over the pooled values of each pair, t being how often a value comes."""
    cubes, squares = (counts**3).sum(axis=1), counts**2
    mixed = squares @ counts.T
    size = counts.sum(axis=1)
    tied: Floats = cubes[:, None] + cubes[None, :] + 3 * (mixed + mixed.T) - size[:, None] - size[None, :]
    return tied


def _normal(u: Floats, sizes: Floats, ties: Floats) -> Floats:
    """P(U <= u) by the normal approximation; 1 where all pooled values are equal."""
    product, total = sizes[:, None] * sizes[None, :], sizes[:, None] + sizes[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = product / 12 * (total + 1 - ties / (total * (total - 1)))
        z = (u - product / 2 + 0.5) / np.sqrt(variance)
    return np.where(variance > 1e-9, ndtr(z), 1.0)


def _exact(twice_u: int, times: tuple[int, ...], n: int, m: int) -> tuple[float, float]:
    """P(U <= u) and P(U >= u) of samples of n and m, given how often each of their pooled values comes, in order."""
    if n > m:  # the smaller sample is the one to deal out
        return _exact(2 * n * m - twice_u, times, m, n)[::-1]
    if n + m > _FEW:
        below, above = _many_dealt(times, n)
        return float(below[twice_u + n * n]), float(above[twice_u + n * n])  # at the sum of ranks that U belongs to
    ways, total, bits = _dealt(times, n)
    low, high = ways & ((1 << bits * (twice_u + 1)) - 1), ways >> bits * twice_u
    return low % ((1 << bits) - 1) / total, high % ((1 << bits) - 1) / total  # which sums the digits


@lru_cache(maxsize=256)
def _dealt(times: tuple[int, ...], n: int) -> tuple[int, int, int]:
    """In how many ways a sample of n, of values that come ``times`` each, has 2U = 0, 1 …; of how many in all.

    The counts are digits of one whole number, each with enough bits (the third result) for the sum of all: adding two
    such numbers adds all their counts, and shifting one adds to U. There is one number for each size of a sample;
    values are dealt in turn, and a size gets the samples that hold the value from the size below. For all of them 2U is
    counted from nothing, which is a sum of doubled mid-ranks of size^2; whole numbers make both tails exact.
    """
    pooled, total = sum(times), comb(sum(times), n)
    bits = total.bit_length() + 1
    ways, seen = [1] + [0] * n, 0
    for time in times:
        value = 2 * seen + time  # twice the mid-rank, counted from 0, and 1: a whole number
        for _ in range(time):
            seen += 1
            for size in range(min(seen, n), max(0, n - pooled + seen - 1), -1):  # what can still reach n
                shift = bits * (value - 2 * size + 1)
                ways[size] += ways[size - 1] << shift if shift >= 0 else ways[size - 1] >> -shift
    return ways[n], total, bits


@lru_cache(maxsize=256)
def _many_dealt(times: tuple[int, ...], n: int) -> tuple[Floats, Floats]:
    """P(sum <= s) and P(sum >= s) for s = 0 … of n doubled mid-ranks, all ways of choosing them being alike.

    Values ascend, so that after k of them no sum is above that of the last n, which bounds the work. Counts of ways
    grow to 10^29; only additions of positive numbers make them, so that doubles lose nothing that shows. Both tails are
    summed from their own end: with 1 less the other, 1 of 20 ways would be .05 in one direction and more in the other.
    """
    end = np.cumsum(times)
    doubled = np.repeat(2 * end - times, times).tolist()  # twice the mid-ranks, counted from 0, and 1: whole numbers
    total = np.cumsum((0, *doubled))
    highest = int(total[-1] - total[-1 - n])
    ways = np.zeros((n + 1, highest + 1))
    ways[0, 0] = 1.0
    for seen, value in enumerate(doubled, start=1):
        most, low = min(seen, n), max(0, n - len(doubled) + seen - 1)  # chosen at most; and at least, to reach n
        top = int(total[seen] - total[seen - most])
        ways[low + 1 : most + 1, value : top + 1] += ways[low:most, : top + 1 - value].copy()
    below: Floats = np.minimum(np.cumsum(ways[n]) / ways[n].sum(), 1.0)
    above: Floats = np.minimum(np.cumsum(ways[n][::-1])[::-1] / ways[n].sum(), 1.0)
    return below, above


def rank_summaries(asked: RankedQuery) -> tuple[Floats, Floats, Floats, Floats]:
    """Median, mean and both quartiles of the ranks of each document; every document has some."""
    ordered = np.sort(asked.ranks, axis=0)  # what is unknown comes last
    place = np.array([0.25, 0.5, 0.75])[:, None] * (np.isfinite(ordered).sum(axis=0) - 1)
    below = np.floor(place).astype(np.int64)
    low, high = (np.take_along_axis(ordered, at, axis=0) for at in (below, np.ceil(place).astype(np.int64)))
    lower, middle, upper = low + (high - low) * (place - below)
    return middle, np.nanmean(asked.ranks, axis=0), lower, upper


def by_median_then_mean(middle: Floats, mean: Floats, documents: tuple[str, ...]) -> Ints:
    """The arrangement of the original method; documents equal in both stand by name, so that it never changes."""
    names = np.argsort(np.argsort(np.array(documents, dtype=object)))
    return np.lexsort((names, mean, middle)).astype(np.int64)


def rank_evidence(asked: RankedQuery, sooner: Floats, *, compared: Mask) -> Evidence:
    """Evidence from a test of ranks, arranged by median, then mean; the diagonal is not compared."""
    middle, mean, lower, upper = rank_summaries(asked)
    evidence = Evidence(
        query=asked.query,
        documents=asked.documents,
        sooner=sooner,
        compared=compared & ~np.eye(len(asked.documents), dtype=np.bool_),
        middle=middle,
        lower=lower,
        upper=upper,
        answers=asked.times_ranked,
        mean=mean,
    )
    return evidence.arranged(by_median_then_mean(middle, mean, asked.documents))


@comparison(
    "mann-whitney",
    takes="rankings",
    about="Mann-Whitney U test of the ranks of two documents; arranged by median, then mean (Typke et al. 2005)",
)
@checked(seed=SEED)
def mann_whitney(asked: RankedQuery, *, seed: int = 0, method: Method = "auto") -> Evidence:
    """Rank samples compared as if they were independent; every document must have been ranked by somebody.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> mann_whitney(asked).documents
    ('b', 'a')
    """
    n = len(asked.documents)
    return rank_evidence(asked, smaller_ranks(asked.ranks, method=method), compared=np.ones((n, n), dtype=np.bool_))


@comparison(
    "signed-rank",
    takes="rankings",
    about="Wilcoxon signed-rank test of the experts who ranked both documents; arranged by median, then mean",
)
@checked(seed=SEED)
def signed_rank(asked: RankedQuery, *, seed: int = 0) -> Evidence:
    """Differences of the ranks that each expert gave both documents, which uses that the same people ranked both.

    Exact for up to 49 experts (13 if some differences are equal in size), beyond that normal and corrected for
    continuity. Experts who tied the two are dropped, as in :func:`adjudge.stats.paired.wilcoxon`.
    Pairs that no expert ranked both of were not compared.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> signed_rank(asked).sooner.tolist()
    [[1.0, 0.25], [1.0, 1.0]]
    """
    n = len(asked.documents)
    row, column = np.triu_indices(n, 1)
    differences = asked.ranks[:, row] - asked.ranks[:, column]
    sooner, compared = np.ones((n, n)), np.zeros((n, n), dtype=np.bool_)
    greater, less, _, _ = signed_rank_tails(differences, ROUNDING * np.nanmax(np.abs(asked.ranks)))
    sooner[column, row], sooner[row, column] = greater, less
    compared[row, column] = compared[column, row] = np.isfinite(differences).any(axis=0)
    return rank_evidence(asked, sooner, compared=compared)


Alike = Literal["split", "skip"]
"""What happens to answers that call two documents alike."""


@checked(ties=Alike)
def sign_tests(wins: Floats, alike: Floats, *, ties: Alike = "split") -> Floats:
    """p-values of "the row is preferred to the column": P(X >= wins), X binomial with probability 1/2; exact.

    1 where nobody compared the two.

    >>> wins, alike = np.array([[0.0, 3.0], [0.0, 0.0]]), np.array([[0.0, 4.0], [4.0, 0.0]])
    >>> sign_tests(wins, alike)[0].round(4).tolist()  # 5 of 7
    [1.0, 0.2266]
    >>> sign_tests(wins, alike, ties="skip")[0].round(4).tolist()  # 3 of 3
    [1.0, 0.125]
    """
    shared = np.floor(alike / 2) if ties == "split" else np.zeros_like(alike)
    against, total = wins.T + shared, wins + wins.T + 2 * shared
    p: Floats = bdtr(against, total.astype(np.int64), 0.5)  # as many against as there are, or fewer
    return p


@comparison(
    "sign",
    takes="preferences",
    about="exact sign test of each pair that was asked, alike split; arranged by Bradley-Terry strength",
)
@checked(seed=SEED)
def preferred(asked: PreferredQuery, *, seed: int = 0, ties: Alike = "split") -> Evidence:
    """Pairs that were asked, each by its own answers alone; of other pairs nothing is said.

    >>> from adjudge.groundtruth.answers import Preferences
    >>> rows = [("q", "a", "b", -1, str(i)) for i in range(5)] + [("q", "b", "c", 1, "0")]
    >>> evidence = preferred(Preferences.from_rows(rows).queries[0])
    >>> evidence.documents, evidence.sooner[0].round(3).tolist()
    (('b', 'c', 'a'), [1.0, 0.5, 0.031])
    """
    wins, alike = asked.wins, asked.alike
    strengths = bradley_terry(wins, alike)
    return strengths.evidence(
        asked.query,
        asked.documents,
        sooner=sign_tests(wins, alike, ties=ties),
        compared=wins + wins.T + alike > 0,
        answers=answers_about(asked),
    )


@comparison(
    "paired-sign",
    takes="rankings",
    about="exact sign test of the experts who ranked both documents, ties split; arranged by median, then mean",
)
@checked(seed=SEED)
def ranked_before(asked: RankedQuery, *, seed: int = 0, ties: Alike = "split") -> Evidence:
    """How many experts put the one before the other: the same people ranked both, which Mann-Whitney does not use.

    Pairs that no expert ranked both of were not compared.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> ranked_before(asked).sooner.tolist()
    [[1.0, 0.25], [1.0, 1.0]]
    """
    rows, columns = asked.ranks[:, :, None], asked.ranks[:, None, :]
    before, alike = ((rows < columns).sum(axis=0) * 1.0, (rows == columns).sum(axis=0) * 1.0)
    np.fill_diagonal(alike, 0.0)
    return rank_evidence(asked, sign_tests(before, alike, ties=ties), compared=before + before.T + alike > 0)
