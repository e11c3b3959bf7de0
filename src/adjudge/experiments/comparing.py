"""Systems compared on subsets of the queries: the rows that power, stability and the optimality of tests are read from.

A row is a pair of systems on one subset of a size, or on two disjoint ones, ``again`` being the second: the difference
of means of ``system`` less ``other``, and the p-value of every procedure, in a column of its name.

Drawing queries: disjoint subsets of a sample, balanced over strata where there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adjudge.arrays import Ints
from adjudge.checks import RESAMPLES, SEVERAL, Constraints
from adjudge.errors import AdjudgeError
from adjudge.experiments.procedures import PairsTested, Procedure, parse_procedures, run_procedures
from adjudge.experiments.samples import Samples
from adjudge.experiments.spec import Draws, Experiment, Rows


@dataclass(frozen=True, kw_only=True)
class Drawing(Experiment):
    """What experiments that draw query sets of several ``sizes`` have in common; without any, samples settle them."""

    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = tuple(SEVERAL.check("sizes", size, where=f"{self.name}: ") for size in self.sizes)
        if len(set(sizes)) < len(sizes):
            raise AdjudgeError(f"{self.name}: expected each size once, got {', '.join(map(str, sizes))}")
        object.__setattr__(self, "sizes", sizes)

    def check_sizes(self, samples: Samples, *, count: int, left: int = 0) -> None:
        """Refuse sizes of which the smallest sample has not ``count`` disjoint subsets, with so many queries left."""
        smallest = min(samples, key=lambda sample: len(sample.queries))
        for size in self.sizes:
            if size * count + left > len(smallest.queries):
                sets = (
                    f"a set of {size} queries needs" if count == 1 else f"{count} disjoint sets of {size} queries need"
                )
                more = f" and {left} left over" if left else ""
                raise AdjudgeError(
                    f"{self.name}: {sets} {size * count}{more}, got {len(smallest.queries)} of {smallest.name}"
                )


def draw_subsets(rng: np.random.Generator, stratum: Ints, size: int, *, count: int = 1) -> Ints:
    """``count`` disjoint subsets of ``size`` queries each, at random without replacement: subsets x places.

    Every stratum gives as many queries to a subset as any other, as far as it has them: quotas grow together until
    strata run out, and what does not divide evenly goes to strata at random. Within a subset queries are in the order
    of the sample. The draw depends on the generator, the strata and the sizes only, so that measures with the same
    queries get the same ones.

    >>> draw_subsets(np.random.default_rng(1), np.array([0, 0, 0, 0, 1, 1]), 2, count=2)
    array([[0, 4],
           [2, 5]])
    """
    if size * count > len(stratum):
        raise AdjudgeError(f"{count} disjoint sets of {size} queries need {size * count}, got {len(stratum)}")
    order = rng.permutation(len(stratum))
    names, available = np.unique(stratum, return_counts=True)
    quota = _quotas(rng, available, size * count)
    chosen = [order[stratum[order] == name][:n] for name, n in zip(names, quota, strict=True)]
    whole = [part[: n // count * count].reshape(count, -1) for part, n in zip(chosen, quota, strict=True)]
    left = np.concatenate([part[n // count * count :] for part, n in zip(chosen, quota, strict=True)])
    dealt = _deal(rng, left, count, size - sum(part.shape[1] for part in whole))
    subsets: Ints = np.sort(np.concatenate([*whole, dealt], axis=1), axis=1)
    return subsets


def _quotas(rng: np.random.Generator, available: Ints, wanted: int) -> Ints:
    """How many each stratum gives: all the same until some run out; the remainder by lot among those with any left."""
    quota = np.zeros_like(available)
    while (missing := wanted - int(quota.sum())) > 0:
        open_ = np.flatnonzero(quota < available)
        if missing >= len(open_):
            quota[open_] += np.minimum(missing // len(open_), available[open_] - quota[open_])
        else:
            quota[rng.permutation(open_)[:missing]] += 1
    return quota


def _deal(rng: np.random.Generator, left: Ints, count: int, each: int) -> Ints:
    """What did not divide among the subsets, dealt so that no two of a stratum go to the same one where possible."""
    turns = np.arange(len(left)).reshape(
        each, count
    )  # neighbours, which may be of one stratum, go to different subsets
    turns = rng.permuted(turns, axis=1)
    dealt: Ints = left[turns].T
    return dealt


AGAIN = "_again"
"""What the columns of the second of two disjoint subsets end in."""
TIE = 1e-12
"""Of the largest effectiveness: means that differ by less are equal but for rounding."""


@dataclass(frozen=True, kw_only=True)
class Comparing(Drawing):
    """What experiments that compare systems on subsets of queries have in common.

    ``procedures`` are tests as they are written. ``gpu`` says where resamples are drawn, since draws differ there.
    """

    constraints: ClassVar[Constraints] = {**Drawing.constraints, "resamples": RESAMPLES}

    procedures: tuple[Procedure, ...] = ()
    resamples: int = 10_000
    gpu: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "procedures", parse_procedures(self.procedures))

    def compared(self, samples: Samples, draws: Draws, *, count: int) -> Rows:
        """All pairs of systems of every sample on ``count`` disjoint subsets of every size."""
        parts = [_of_size(self, samples, draws, size, count) for size in self.sizes]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _of_size(spec: Comparing, samples: Samples, draws: Draws, size: int, count: int) -> Rows:
    matrices = [
        sample.values[subset]
        for sample in samples
        for subset in draw_subsets(draws.generator(2 * size), sample.stratum, size, count=count)
    ]
    tested = run_procedures(
        matrices, spec.procedures, resamples=spec.resamples, seed=draws.number(2 * size + 1), gpu=spec.gpu
    )
    rows = _identified(samples, size)
    for which in range(count):
        rows |= _outcomes(spec.procedures, tested[which::count], AGAIN if which else "")
    return rows


def _identified(samples: Samples, size: int) -> Rows:
    """Which sample, size and pair of systems each row is about."""
    place = {name: i for i, name in enumerate(samples.systems)}
    pairs = []
    for sample in samples:
        codes = np.array([place[name] for name in sample.systems])
        a, b = np.triu_indices(len(codes), 1)
        pairs.append((codes[a], codes[b]))
    n_pairs = [sample.n_pairs for sample in samples]
    return {
        "sample": np.repeat(np.arange(len(samples)), n_pairs),
        "n_queries": np.full(sum(n_pairs), size, dtype=np.int32),
        "system": np.concatenate([a for a, _ in pairs]),
        "other": np.concatenate([b for _, b in pairs]),
    }


def _outcomes(procedures: Sequence[Procedure], tested: Sequence[PairsTested], suffix: str) -> Rows:
    return {
        f"difference{suffix}": np.concatenate([one.difference for one in tested]),
        **{f"{each.name}{suffix}": np.concatenate([one.p[each.name] for one in tested]) for each in procedures},
    }
