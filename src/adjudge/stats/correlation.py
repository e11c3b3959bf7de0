"""How alike two rankings are, most of all at the top: rank-biased overlap and AP correlation, with ties.

A ranking is a mapping of items to scores, highest first and equal scores tied, as runs and means of systems come; or a
sequence of items, best first, in which tied items stand together in a set, list or tuple.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import Between, checked
from adjudge.errors import AdjudgeError, shown

Ranking = Mapping[str, float] | Sequence[str | Collection[str]]
OverlapTies = Literal["a", "b", "w"]
CorrelationTies = Literal["a", "b"]


@checked("rbo", p=Between(0, 1), ties=OverlapTies)
def rbo(first: Ranking, second: Ranking, *, p: float = 0.9, ties: OverlapTies = "a") -> float:
    """Extrapolated rank-biased overlap: 1 for rankings that agree at every depth, 0 for those without a common item.

    RBO = (1-p) sum_d p^(d-1) A_d, where A_d is the agreement of the first d items of both. The agreement past the end
    of a ranking is assumed to be that at its end (RBO_EXT of Webber et al., equation 32). The rankings may have
    different items and lengths. ``p`` is the probability of going on to the next depth: with 0.9 the first ten ranks
    have 86 % of the weight.

    ``ties`` follow Corsi and Urbano. ``"a"``: a tie means that the order is not known, and RBO is the mean over all
    orders (with rankings of different lengths, of what both have; past the end of the shorter one it can be less). A
    ranking with ties then has less than 1 with itself. ``"b"`` corrects that for the ties, as tau-b does.
    ``"w"``: tied items really share a rank, as in sports. All are the same without ties.

    Corsi, M. & Urbano, J. The Treatment of Ties in Rank-Biased Overlap. SIGIR 2024, doi:10.1145/3626772.3657700.
    Webber, W., Moffat, A. & Zobel, J. A Similarity Measure for Indefinite Rankings. ACM TOIS 28(4), 2010,
    doi:10.1145/1852102.1852106.

    >>> rbo(["a", "b", "c"], ["a", "c", "b"], p=0.8)
    0.92
    >>> round(rbo({"a": 0.9, "b": 0.7, "c": 0.7}, {"a": 0.8, "b": 0.6, "c": 0.5}, p=0.8), 3)
    0.96
    """
    short, long = sorted((_tops(first, "first"), _tops(second, "second")), key=len)
    s, n = len(short), len(long)
    common = [item for item in short if item in long]
    depths = np.arange(1, n + 1)
    overlap = np.zeros(n)
    for item in common:
        overlap += _present(*short[item], depths, ties) * _present(*long[item], depths, ties)
    size_short, size_long = (_size(ranking, depths, ties) for ranking in (short, long))
    size_short[s:] = depths[s:]  # it is assumed to go on without ties
    at_end = overlap[s - 1] / _whole(size_short, size_long, depths, ties)[s - 1]
    if s < n:
        alone = np.stack([_present(*place, depths[s:], ties) for item, place in long.items() if item not in short])
        overlap[s:] += (depths[s:] - s) * at_end * alone.sum(axis=0) / np.count_nonzero(alone, axis=0)
    agreement = overlap / _whole(size_short, size_long, depths, ties)
    last = (len(common) + (n - s) * at_end) / n
    return float((1 - p) * (agreement * p ** (depths - 1)).sum() + last * p**n)


def _present(top: int, bottom: int, depths: Ints, ties: OverlapTies) -> Floats:
    """How much of an item tied from ``top`` to ``bottom`` is among the first d: for sure, or the probability."""
    if ties == "w":
        return (depths >= top).astype(np.float64)
    return np.clip((depths - top + 1) / (bottom - top + 1), 0.0, 1.0)


def _size(ranking: Mapping[str, tuple[int, int]], depths: Ints, ties: OverlapTies) -> Floats:
    """Sum over items of how much of them is among the first d; of its square for ``b``."""
    power = 2 if ties == "b" else 1
    size = np.zeros(len(depths))
    for place in ranking.values():
        size += _present(*place, depths, ties) ** power
    return size


def _whole(first: Floats, second: Floats, depths: Ints, ties: OverlapTies) -> Floats:
    """What an overlap is divided by."""
    if ties == "a":
        return depths.astype(np.float64)
    whole: Floats = np.sqrt(first * second) if ties == "b" else (first + second) / 2
    return whole


@checked("tau_ap", ties=CorrelationTies)
def tau_ap(truth: Ranking, estimate: Ranking, *, ties: CorrelationTies = "a") -> float:
    """AP correlation of two rankings of the same items: Kendall's tau in which swaps at the top cost more.

    tau_AP = 2/(n-1) sum_(i=2..n) C_i/(i-1) - 1, where C_i counts the items above rank i of the estimate that are above
    that item in the truth as well. From -1 (reversed) to 1 (the same).

    ``ties`` follow Urbano and Marrero. ``"a"``: how accurate an estimate is, whose ties are orders not known; the mean
    over all of them. The truth must have no ties. ``"b"``: how far two rankings agree, either with ties; only pairs
    with an order count, and the mean of both directions makes it symmetric, also without ties. It is NaN where a
    ranking ties everything.

    Urbano, J. & Marrero, M. The Treatment of Ties in AP Correlation. ICTIR 2017, doi:10.1145/3121050.3121106. Yilmaz,
    E., Aslam, J. A. & Robertson, S. A New Rank Correlation Coefficient for Information Retrieval. SIGIR 2008,
    doi:10.1145/1390334.1390435.

    >>> tau_ap(["a", "b", "c", "d"], ["b", "a", "c", "d"]), tau_ap(["a", "b", "c", "d"], ["a", "b", "d", "c"])
    (0.33333333333333326, 0.7777777777777777)
    """
    places = _tops(truth, "true"), _tops(estimate, "estimated")
    if places[0].keys() != places[1].keys():
        item = min(places[0].keys() ^ places[1].keys())
        where = "the truth" if item in places[0] else "the estimate"
        raise AdjudgeError(f"tau_ap: expected the same items in both rankings, got {shown(item)} only in {where}")
    if len(places[0]) < 2:
        raise AdjudgeError(f"tau_ap: expected two items or more, got {len(places[0])}")
    true, estimated = (np.array([ranking[item] for item in places[0]]).T for ranking in places)
    if ties == "b":
        return (_agreement(true[0], estimated[0]) + _agreement(estimated[0], true[0])) / 2
    if len(np.unique(true[0])) < true.shape[1]:
        raise AdjudgeError("tau_ap: expected a true ranking without ties for ties='a', got some; ties='b' allows them")
    top, bottom = estimated
    tied = bottom - top + 1
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, len(top) + 1))])
    above = _concordant(true[0], top) * (harmonic[bottom - 1] - harmonic[np.maximum(top - 2, 0)]) / tied
    # of the k-1 items of its own group above the k-th, half are above it in the truth, too
    within = (tied - 1 - (top - 1) * (harmonic[bottom - 1] - harmonic[top - 1])) / (2.0 * tied)
    return float(2 * (np.where(top > 1, above, 0.0) + within).sum() / (len(top) - 1) - 1)


def _concordant(first: Ints, second: Ints) -> Ints:
    """How many items are above each one in both rankings, by their top ranks."""
    both = (first[None, :] < first[:, None]) & (second[None, :] < second[:, None])
    n: Ints = np.count_nonzero(both, axis=1)
    return n


def _agreement(truth: Ints, estimate: Ints) -> float:
    """tau_AP,b in one direction: items tied with the pivot do not count, nor does the first group as pivots."""
    pivots = estimate > 1
    if not pivots.any():
        return float("nan")
    share = _concordant(truth, estimate)[pivots] / (estimate[pivots] - 1)
    return float(2 * share.mean() - 1)


def _tops(ranking: Ranking, which: str) -> dict[str, tuple[int, int]]:
    """First and last rank that each item can have, in order."""
    groups: list[Collection[str]]
    if isinstance(ranking, Mapping):
        if not np.isfinite(list(ranking.values())).all():
            raise AdjudgeError(f"expected finite scores in the {which} ranking")
        by_score: dict[float, list[str]] = {}
        for item, score in ranking.items():
            by_score.setdefault(float(score), []).append(item)
        groups = [by_score[score] for score in sorted(by_score, reverse=True)]
    else:
        groups = [[group] if isinstance(group, str) else group for group in ranking]
    places: dict[str, tuple[int, int]] = {}
    for group in groups:
        top, bottom = len(places) + 1, len(places) + len(group)
        for item in group:
            if item in places:
                raise AdjudgeError(f"expected each item once in the {which} ranking, got {shown(item)} again")
            places[item] = (top, bottom)
    if not places:
        raise AdjudgeError(f"expected items in the {which} ranking, got none")
    return places
