"""Counting pairs of systems over trials: what power and stability have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, kept_warnings, unknown
from adjudge.experiments.comparing import Comparing
from adjudge.experiments.procedures import Procedure, run_procedures
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.specification import Findings

if TYPE_CHECKING:
    import polars as pl

ComparingT = TypeVar("ComparingT", bound=Comparing)
_STEPS = 20  # query-set sizes to look at, about
_FEWEST = 5  # queries below which power and stability are not looked at, unless there is nothing else
_KEYS = ("trial", "sample", "n_queries")


def default_sizes(n_queries: int, most: int) -> tuple[int, ...]:
    """About twenty equal steps from 5 to all queries, as far as ``most``, which is always one of them.

    >>> default_sizes(100, 50)
    (5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
    >>> default_sizes(6, 5), default_sizes(6, 3)
    ((5,), (3,))
    """
    step = max(1, round(n_queries / _STEPS))
    first = -(-_FEWEST // step) * step
    return (*range(first, most, step), most)


@dataclass(frozen=True)
class Counts:
    """Sums over the pairs of a trial, arrays trials x samples x sizes by name; ``sizes`` are in rising order."""

    sizes: tuple[int, ...]
    of: Mapping[str, Floats]

    @property
    def n_trials(self) -> int:
        """Trials that were counted."""
        return len(next(iter(self.of.values())))


def count_pairs(rows: pl.DataFrame, samples: Samples, counted: Mapping[str, pl.Expr]) -> Counts:
    """How many pairs of every trial, sample and size each expression holds for, in one pass over the rows."""
    import polars as pl

    sums = [expression.sum().cast(pl.Float64).alias(name) for name, expression in counted.items()]
    cells = rows.lazy().group_by(*_KEYS).agg(sums).sort(*_KEYS).collect()
    sizes = tuple(sorted(int(size) for size in cells["n_queries"].unique()))
    n_trials = cells["trial"].n_unique()
    shape = (n_trials, len(samples), len(sizes))
    if cells.height == 0 or cells.height != int(np.prod(shape)):
        raise AdjudgeError(f"expected rows of every sample and size in every trial, {shape}, got {cells.height} cells")
    return Counts(sizes, {name: cells[name].to_numpy().reshape(shape) for name in counted})


def cases_of(samples: Samples, counts: Counts) -> Floats:
    """Pairs of systems as an array of the shape of the counts."""
    pairs = np.array([float(sample.n_pairs) for sample in samples])
    cases: Floats = np.broadcast_to(pairs[:, np.newaxis], (counts.n_trials, len(samples), len(counts.sizes))).copy()
    return cases


def significant_with_all(samples: Samples, spec: Comparing) -> dict[tuple[str, str], int]:
    """How many pairs are significant with all queries, by the names of sample and procedure.

    No trial is needed for it. Samples may have different numbers of queries; resampled tests draw from the seed of the
    experiment, in one thread, so that the answer is the same everywhere.
    """
    from threadpoolctl import threadpool_limits

    found = {}
    with threadpool_limits(limits=1), kept_warnings():
        for sample in samples:
            (tested,) = run_procedures([sample.values], spec.procedures, resamples=spec.resamples, seed=spec.seed)
            for one in spec.procedures:
                found[sample.name, one.name] = int(np.count_nonzero(tested.p[one.name] <= one.alpha))
    return found


def at_levels(spec: ComparingT, alpha: float | Mapping[str, float]) -> ComparingT:
    """The same experiment at another level of all its procedures, or at one for each that is named."""
    names = [one.name for one in spec.procedures]
    levels = dict.fromkeys(names, alpha) if isinstance(alpha, int | float) else dict(alpha)
    for name in levels:
        if name not in names:
            raise unknown("test of this experiment", name, names)
    procedures = tuple(replace(one, alpha=levels.get(one.name, one.alpha)) for one in spec.procedures)
    return replace(spec, procedures=procedures)


@dataclass(frozen=True, eq=False)
class Curve(ABC):
    """What one procedure does on one sample, over numbers of queries in rising order."""

    sample: Sample
    procedure: Procedure
    n_queries: Ints

    @property
    def described(self) -> str:
        """The procedure and its level in words: ``friedman-tukey at 0.05``."""
        return described(self.procedure)

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """A row for every number of queries."""

    def identity(self) -> dict[str, Any]:
        """What the rows of a table begin with."""
        one = self.sample
        names = {"sample": one.name, "collection": one.collection, "measure": one.measure, "scale": one.scale}
        return {**names, "test": self.procedure.name, "alpha": self.procedure.alpha}


def described(procedure: Procedure) -> str:
    """A procedure and its level in words."""
    return f"{procedure.name} at {procedure.alpha:g}"


CurveT = TypeVar("CurveT", bound=Curve)


@dataclass(frozen=True, eq=False, repr=False)
class CurveFindings(Findings, Generic[CurveT]):
    """Curves of the first procedure for every sample, then of the next."""

    experiment: Comparing
    curves: tuple[CurveT, ...]

    def of(self, sample: str, procedure: str) -> CurveT:
        """The curve of a sample and a procedure, by their names; names that are not there are refused."""
        for kind, name, known in (
            ("sample", sample, [one.sample.name for one in self.curves]),
            ("test of this experiment", procedure, [one.procedure.name for one in self.curves]),
        ):
            if name not in known:
                raise unknown(kind, name, dict.fromkeys(known))
        return next(one for one in self.curves if (one.sample.name, one.procedure.name) == (sample, procedure))

    def at(self, alpha: float | Mapping[str, float]) -> Self:
        """The same trials at another level: one for all procedures, or by their names."""
        found = at_levels(self.experiment, alpha).findings(self.samples, self.rows, self.provenance)
        return cast("Self", found)

    def records(self) -> list[dict[str, Any]]:
        """A row for every sample, procedure and number of queries."""
        return [row for curve in self.curves for row in curve.records()]


def strata_sentence(samples: Samples) -> str:
    """Whether queries were drawn evenly from strata."""
    numbers = {len(set(sample.strata)) for sample in samples if sample.strata}
    if not numbers:
        return "Queries were drawn at random without replacement."
    words = f"{numbers.pop()} strata" if len(numbers) == 1 else "the strata"
    return f"Queries were drawn at random without replacement, balanced over {words}."
