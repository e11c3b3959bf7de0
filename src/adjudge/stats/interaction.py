"""Whether differences between systems change from one group of queries to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import RESAMPLES, SEED, checked
from adjudge.seeds import Seed, as_seed
from adjudge.stats.resampling import generators

_CELLS = 2**22  # of weights in memory at a time
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Interaction:
    """What :func:`interaction` finds; arrays are groups x systems.

    ``shift`` is how much better a system is on the queries of a group than its mean and the difficulty of these queries
    let expect, ``p_shift`` its p-value, corrected for all groups and systems; ``p`` is that of any change.
    """

    p: float
    shift: Floats
    p_shift: Floats


@checked(resamples=RESAMPLES, seed=SEED)
def interaction(
    values: Floats, groups: Ints, *, strata: Ints | None = None, resamples: int = 10_000, seed: Seed = 0
) -> Interaction:
    """Test whether differences between systems change between groups of queries, by permuting the groups of queries.

    With e_qs = x_qs - x̄_q - x̄_s + x̄ and T_gs = Σ_{q in g} e_qs, the statistic is Σ_gs T²_gs / n_g: the sum of squares
    of the interaction, as in the analysis of variance of a split plot. Where groups have nothing to do with systems,
    any assignment of queries to groups is as probable, so that p is exact whatever the distribution of effectiveness.
    ``p_shift`` compares |T_gs| / sqrt(s²_s n_g (1 - n_g / n)) with the largest of all groups and systems in each
    permutation. Within ``strata``, such as data sets, systems have means of their own, and queries are permuted.

    >>> rng = np.random.default_rng(1)
    >>> values, groups = rng.normal(size=(60, 3)), np.repeat([0, 1], 30)
    >>> interaction(values + np.outer(groups, [0, 0, 2]), groups, resamples=999).p
    0.001
    """
    strata = np.zeros(len(values), dtype=np.int64) if strata is None else strata
    order = np.argsort(strata, kind="stable")
    strata, labels = strata[order], groups[order]
    left = values[order] - values[order].mean(axis=1, keepdims=True)
    for stratum in np.unique(strata):
        left[strata == stratum] -= left[strata == stratum].mean(axis=0)
    sizes = np.bincount(labels).astype(np.float64)
    spread = np.sqrt(left.var(axis=0) * (sizes * (1 - sizes / len(left)))[:, None])
    tiny = _ROUNDING * np.abs(values).max()
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > tiny)

    def sums(drawn: Ints) -> Floats:
        total = np.stack([(drawn == g).astype(np.float64) @ left for g in range(len(sizes))], axis=1)
        return np.where(np.abs(total) > tiny, total, 0.0)

    def statistics(total: Floats) -> tuple[Floats, Floats]:
        return (total**2 / sizes[:, None]).sum(axis=(1, 2)), np.abs(total * inverse).max(axis=(1, 2))

    observed = sums(labels[None])
    (whole,), _ = statistics(observed)
    each = np.abs(observed[0] * inverse)
    extreme, above = 0, np.zeros(each.shape)
    width = max(1, _CELLS // len(left))
    for rng, size in generators(len(left), resamples, as_seed(seed)):
        for lo in range(0, size, width):
            keys = rng.random((min(width, size - lo), len(left))) + strata
            squares, largest = statistics(sums(labels[np.argsort(keys, axis=1)]))
            extreme += int(np.count_nonzero(squares >= whole * (1 - _ROUNDING)))
            largest.sort()
            above += len(largest) - np.searchsorted(largest, each * (1 - _ROUNDING))
    p = (extreme + 1) / (resamples + 1)
    return Interaction(p, observed[0] / sizes[:, None], (above + 1) / (resamples + 1))
