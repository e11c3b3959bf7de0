"""A chunk of trials: the pure function that every kind of worker runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge.errors import kept_warnings
from adjudge.experiments.samples import Samples
from adjudge.experiments.specification import Draws, Experiment, Rows

if TYPE_CHECKING:
    import polars as pl


def run_chunk(experiment: Experiment, samples: Samples, first: int, last: int) -> pl.DataFrame:
    """Rows of trials ``first`` up to, not including, ``last``; products of matrices stay in one thread.

    One thread, because workers are processes, and because the last digit of a sum must not depend on how many cores a
    machine has.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), kept_warnings():
        rows = [_numbered(experiment.trial(samples, Draws(experiment.seed, i)), i) for i in range(first, last)]
    return as_frame({name: np.concatenate([one[name] for one in rows]) for name in rows[0]}, experiment.names(samples))


def _numbered(rows: Rows, trial: int) -> Rows:
    length = len(next(iter(rows.values())))
    return {"trial": np.full(length, trial, dtype=np.int32), **rows}


def as_frame(rows: Rows, names: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Rows as a table, with names in the place of their codes."""
    import polars as pl

    def column(name: str, values: npt.NDArray[Any]) -> pl.Series:
        if name not in names:
            return pl.Series(name, values)
        return pl.Series(name, list(names[name]), dtype=pl.Enum(list(names[name]))).gather(values.astype(np.uint32))

    return pl.DataFrame([column(name, values) for name, values in rows.items()])
