"""Systems compared on subsets of the queries: the rows that power, stability and the optimality of tests are read from.

A row is a pair of systems on one subset of a size, or on two disjoint ones, ``again`` being the second: the difference
of means of ``system`` less ``other``, and the p-value of every procedure, in a column of its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adjudge.experiments.procedures import PairsTested, Procedure, parse_procedures, run_procedures
from adjudge.experiments.samples import Samples
from adjudge.experiments.specification import Draws, Rows
from adjudge.experiments.subsets import Drawing, draw_subsets
from adjudge.stats.resampling import check_resampling

AGAIN = "_again"
"""What the columns of the second of two disjoint subsets end in."""
TIE = 1e-12
"""Of the largest effectiveness: means that differ by less are equal but for rounding."""


@dataclass(frozen=True, kw_only=True)
class Comparing(Drawing):
    """What experiments that compare systems on subsets of queries have in common.

    ``procedures`` are tests as they are written. ``gpu`` says where resamples are drawn, since draws differ there.
    """

    procedures: tuple[Procedure, ...] = ()
    resamples: int = 10_000
    gpu: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "procedures", parse_procedures(self.procedures))
        check_resampling(self.resamples, self.seed)

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
