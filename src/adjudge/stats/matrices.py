"""Effectiveness as every statistic takes it: a matrix of queries x systems, and the names of the systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from adjudge.arrays import ROUNDING, Floats, Ints
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.model.effectiveness import Effectiveness
from adjudge.registry import unknown

Values = Effectiveness | npt.ArrayLike


def matrix_of(
    values: Values, systems: Sequence[str] | None = None, *, at_least: int = 1
) -> tuple[Floats, tuple[str, ...]]:
    """Numbers and NaN (a query left out), queries x systems, and names, s1, s2, … where none are given.

    Infinite numbers, names that do not fit and fewer than ``at_least`` systems are refused.
    """
    if isinstance(values, Effectiveness):
        chosen = values if systems is None else values.select(systems=systems)
        matrix, names = chosen.matrix(), chosen.systems
    else:
        matrix = np.asarray(values, dtype=np.float64)
        if matrix.ndim != 2 or matrix.size == 0:
            raise AdjudgeError(f"expected a matrix of queries x systems, got shape {matrix.shape}")
        names = tuple(f"s{i + 1}" for i in range(matrix.shape[1])) if systems is None else tuple(systems)
    if len(names) != matrix.shape[1]:
        raise AdjudgeError(f"expected a name for each of {matrix.shape[1]} systems, got {len(names)}")
    if len(set(names)) < len(names):
        raise AdjudgeError(f"expected different systems, got {max(names, key=names.count)!r} twice")
    if np.isinf(matrix).any():
        q, s = np.argwhere(np.isinf(matrix))[0]
        raise AdjudgeError(f"expected finite numbers, got {matrix[q, s]} for query {q + 1}, system {names[s]!r}")
    if len(names) < at_least:
        raise NotEnoughDataError(f"a comparison needs at least {at_least} systems, got {len(names)}")
    return np.ascontiguousarray(matrix), names


def places_of(names: Sequence[str], systems: Sequence[str]) -> list[int]:
    """Where some systems are among all of them; a name that is none of theirs is refused."""
    for name in names:
        if name not in systems:
            raise unknown("system", name, systems)
    return [systems.index(name) for name in names]


def dense_ranks(values: Floats, *, axis: int = -1) -> Ints:
    """The place of each value among the distinct ones along an axis, from 0; finite values only.

    Values are ties where :data:`~adjudge.arrays.ROUNDING` of the largest of all can account for the gap between them.

    >>> dense_ranks(np.array([0.3 - 0.1, 0.2, 0.1, 0.6 - 0.4])).tolist()
    [1, 1, 0, 1]
    """
    order = np.argsort(values, axis=axis, kind="stable")
    ascending = np.take_along_axis(values, order, axis=axis)
    gaps = np.diff(ascending, axis=axis, prepend=ascending.take([0], axis=axis))
    ranks = np.empty(values.shape, dtype=np.int64)
    steps = np.cumsum(gaps > ROUNDING * np.abs(values).max(), axis=axis)
    np.put_along_axis(ranks, order, steps, axis=axis)
    return ranks


def common_queries(matrix: Floats, names: Sequence[str]) -> Ints:
    """How many queries each pair of systems shares; raises where that is not enough for a comparison."""
    if len(matrix) < 2:
        raise NotEnoughDataError(f"a comparison needs at least 2 queries, got {len(matrix)}")
    present = np.isfinite(matrix).astype(np.float64)
    n: Ints = np.rint(present.T @ present).astype(np.int64)
    few = np.argwhere(np.triu(n < 2, 1))
    if len(few):
        a, b = few[np.argmin(n[few[:, 0], few[:, 1]])]
        pair = f"systems {names[a]!r} and {names[b]!r} share"
        raise NotEnoughDataError(
            f"{pair} no query" if n[a, b] == 0 else f"{pair} 1 query, a comparison needs at least 2"
        )
    return n
