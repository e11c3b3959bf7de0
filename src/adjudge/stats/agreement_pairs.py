"""Who agrees with whom: every pair of assessors over the units that both rated, every assessor against the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.stats.agreement_coefficients import ROUNDING, Metric, Statistic, ratio_of
from adjudge.stats.resampling import weighted_sums

_CELLS = 2**21  # of units x pairs in memory at a time
_DENSE = 10  # times faster a plain matrix multiplies a number than a sparse one


@dataclass(frozen=True)
class PairAgreement:
    """Two assessors over the ``n_units`` that both rated.

    ``cohen`` is their Cohen's kappa, ``difference`` the mean grade of ``assessor`` minus that of ``other``,
    ``absolute_difference`` the mean distance of their grades. NaN where undefined.
    """

    assessor: str
    other: str
    n_units: int
    cohen: float
    difference: float
    absolute_difference: float


@dataclass(frozen=True)
class AssessorAgreement:
    """One assessor against the others, over the ``n_units`` that somebody else rated as well.

    ``bias`` is the mean of the grade minus the mean grade of the others on the unit: above 0 for the lenient, below for
    the severe. ``correlation`` is Pearson's, of the grade with the others' mean; NaN with fewer than three units or
    where either never changes.
    """

    assessor: str
    n_units: int
    bias: float
    correlation: float


def pairs_of(values: Floats, assessors: tuple[str, ...], metric: Metric) -> tuple[PairAgreement, ...]:
    """Every pair of assessors with a unit in common, in their order. Kappa is quadratic unless ``metric`` is nominal.

    >>> for pair in pairs_of(np.array([[0.0, 1.0], [2.0, 2.0], [1.0, 2.0]]), ("ann", "bob"), "interval"):
    ...     print(pair.n_units, round(pair.cohen, 3), round(pair.difference, 3), round(pair.absolute_difference, 3))
    3 0.5 -0.667 0.667
    """
    from scipy import sparse

    first, second, n = _sharing(values, 1)
    members = sparse.csr_array(np.ones((1, len(values))))
    rows = []
    for some in _chunks(len(first), len(values)):
        a, b = values[:, first[some]], values[:, second[some]]
        kappa, _ = _kappas(a, b, members, metric)(np.ones((1, 1)))
        apart = a - b
        differences = np.nansum(apart, axis=0) / n[some], np.nansum(np.abs(apart), axis=0) / n[some]
        rows += list(zip(first[some], second[some], n[some], kappa[:, 0], *differences, strict=True))
    return tuple(
        PairAgreement(assessors[i], assessors[j], int(k), *(float(x) for x in numbers)) for i, j, k, *numbers in rows
    )


def cohen_by_weights(values: Floats, members: Any, metric: Metric) -> Statistic:
    """Mean of Cohen's kappa over pairs of assessors, each counted by its common units, as a statistic of weights.

    ``members`` are blocks x units, sparse. Pairs with fewer than two units, or whose kappa is undefined, are left out.
    """
    first, second, _ = _sharing(values, 2)

    def mean(weights: Floats) -> Floats:
        top, bottom = np.zeros((2, weights.shape[1]))
        for some in _chunks(len(first), len(values)):
            kappa, n = _kappas(values[:, first[some]], values[:, second[some]], members, metric)(weights)
            known = np.isfinite(kappa)
            top += np.sum(n * kappa, axis=0, where=known)
            bottom += np.sum(n, axis=0, where=known)
        return ratio_of(top, bottom)

    return mean


def _sharing(values: Floats, fewest: int) -> tuple[Ints, Ints, Ints]:
    """The pairs of assessors with so many units in common, and their number."""
    here = np.isfinite(values).astype(np.float64)
    shared = np.rint(here.T @ here).astype(np.int64)
    pairs = [(a, b) for a, b in combinations(range(len(shared)), 2) if shared[a, b] >= fewest]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return first, second, shared[first, second]


def _chunks(n_pairs: int, n_units: int) -> Iterator[slice]:
    width = max(1, _CELLS // max(n_units, 1) // 5)
    return (slice(lo, lo + width) for lo in range(0, n_pairs, width))


def _kappas(a: Floats, b: Floats, members: Any, metric: Metric) -> Any:
    """From weights of blocks to kappas and common units, both pairs x draws; ``a`` and ``b`` are units x pairs."""
    return _nominal_kappas(a, b, members) if metric == "nominal" else _quadratic_kappas(a, b, members)


def _quadratic_kappas(a: Floats, b: Floats, members: Any) -> Any:
    """1 - n sum (a - b)^2 / sum_ij (a_i - b_j)^2, by sums of a, b, their squares and those of a - b."""
    both = np.isfinite(a) & np.isfinite(b)
    centre = np.nanmean(np.where(both, a, np.nan)) if both.any() else 0.0
    a, b = np.where(both, a - centre, 0.0), np.where(both, b - centre, 0.0)
    sums = members @ np.concatenate([both, a, b, a * a + b * b, np.square(a - b)], axis=1, dtype=np.float64)

    def kappas(weights: Floats) -> tuple[Floats, Floats]:
        n, of_a, of_b, squares, apart = (sums.T @ weights).reshape(5, -1, weights.shape[1])
        by_chance = n * squares - 2 * of_a * of_b
        by_chance = np.where((n >= 2) & (by_chance > ROUNDING * n * squares), by_chance, 0.0)
        return 1 - ratio_of(n * apart, by_chance), n

    return kappas


def _nominal_kappas(a: Floats, b: Floats, members: Any) -> Any:
    """1 - n (n - agreed) / (n^2 - sum_k n_ak n_bk), a pair at a time."""

    def kappas(weights: Floats) -> tuple[Floats, Floats]:
        rows = [_nominal_kappa(a[:, i], b[:, i], members, weights) for i in range(a.shape[1])]
        return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])

    return kappas


def _nominal_kappa(a: Floats, b: Floats, members: Any, weights: Floats) -> tuple[Floats, Floats]:
    from scipy import sparse

    units = np.flatnonzero(np.isfinite(a) & np.isfinite(b))
    grades, codes = np.unique(np.concatenate([a[units], b[units]]), return_inverse=True)
    marginals = []
    for code in np.split(codes, 2):
        table = sparse.csr_array((np.ones(len(units)), (units, code)), shape=(len(a), len(grades)))
        of_blocks = members @ table
        dense = np.prod(of_blocks.shape) < _DENSE * len(units)
        marginals.append(weighted_sums(of_blocks.toarray(), weights) if dense else of_blocks.T.tocsr() @ weights)
    n = marginals[0].sum(axis=0)
    agreed = (members @ (a == b).astype(np.float64)) @ weights
    by_chance = np.where(n >= 2, n * n - (marginals[0] * marginals[1]).sum(axis=0), 0.0)
    return 1 - ratio_of(n * (n - agreed), by_chance), n


def each_of(values: Floats, assessors: tuple[str, ...]) -> tuple[AssessorAgreement, ...]:
    """Every assessor against the mean of the others, unit by unit.

    >>> ann, bob = each_of(np.array([[0.0, 1.0], [2.0, 2.0], [1.0, 2.0], [1.0, np.nan]]), ("ann", "bob"))
    >>> ann.n_units, round(ann.bias, 3), round(ann.correlation, 3)
    (3, -0.667, 0.866)
    """
    total, n = np.nansum(values, axis=1), np.isfinite(values).sum(axis=1)
    rows = []
    for name, own in zip(assessors, values.T, strict=True):
        shared = np.isfinite(own) & (n >= 2)
        mine = own[shared]
        others = (total[shared] - mine) / (n[shared] - 1)
        bias = float(np.mean(mine - others)) if len(mine) else np.nan
        rows.append(AssessorAgreement(name, len(mine), bias, correlation(mine, others)))
    return tuple(rows)


def correlation(a: Floats, b: Floats) -> float:
    """Pearson's correlation; NaN with fewer than three values, or where either never changes.

    >>> round(correlation(np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])), 3)
    0.866
    """
    if len(a) < 3:
        return np.nan
    x, y = a - a.mean(), b - b.mean()
    for centred, values in ((x, a), (y, b)):
        if np.abs(centred).max() <= ROUNDING * np.abs(values).max():
            return np.nan
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))
