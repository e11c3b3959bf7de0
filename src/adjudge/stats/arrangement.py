"""Effectiveness as a G-study takes it: which design its cells follow, and what had to be left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.choices import Assessors, check_choice
from adjudge.errors import AdjudgeError, shown
from adjudge.model.assessed import AssessedEffectiveness
from adjudge.model.effectiveness import Effectiveness
from adjudge.stats.designs import CROSSED, NESTED, SYSTEMS_QUERIES, Design
from adjudge.stats.matrices import ROUNDING

Studied = Effectiveness | AssessedEffectiveness | npt.ArrayLike


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Effectiveness, queries x systems or queries x systems x assessors, with NaN for empty cells; and its design.

    In a nested design the columns of assessors are places to fill: column 1 of two queries is not the same person.
    """

    values: Floats
    design: Design
    systems: tuple[str, ...]
    measure: str
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every cell is filled."""
        return bool(np.isfinite(self.values).all())


def arranged(given: Studied, *, assessors: Assessors = "auto", leave_out_worst: float = 0) -> Arrangement:
    """Find the design of effectiveness, as :func:`adjudge.gstudy` defines it, and refuse what cannot be studied."""
    check_choice("assessors", assessors, Assessors)
    cube, systems, names, measure = _cube(given)
    if np.isinf(cube).any():
        raise AdjudgeError("A G-study expects finite numbers, got an infinite one.")
    kept = better_systems(given, leave_out_worst)
    cube = cube[:, kept]
    systems = tuple(name for name, keep in zip(systems, kept, strict=True) if keep)
    filled = np.isfinite(cube)
    keep_q, keep_s, keep_a = (_any(filled, axes) for axes in ((1, 2), (0, 2), (0, 1)))
    notes = _left_out(keep_q, keep_s, keep_a)
    cube = cube[np.ix_(keep_q, keep_s, keep_a)]
    systems = tuple(name for name, kept in zip(systems, keep_s, strict=True) if kept)
    names = tuple(name for name, kept in zip(names, keep_a, strict=True) if kept)
    _check_size(cube, systems)
    judged = _any(np.isfinite(cube), (1,))
    if judged.sum(axis=1).max() == 1:
        if assessors == "crossed" and len(names) > 1:
            _check_crossed(judged, names)
        matrix = _side_by_side(cube, judged)[:, :, 0]
        if len(names) > 1 or assessors != "auto":
            notes.append("Every query has one assessor: what assessors differ in is part of queries and residual.")
        return Arrangement(matrix, SYSTEMS_QUERIES, systems, measure, tuple(notes))
    if assessors == "crossed" or (assessors == "auto" and judged.all()):
        _check_crossed(judged, names)
        return Arrangement(cube, CROSSED, systems, measure, tuple(notes))
    if assessors == "auto" and (judged.sum(axis=0) > 1).any():
        could_be_crossed = _shared_queries(judged).min() > 1
        instead = " Say crossed if the same people will judge all queries." if could_be_crossed else ""
        notes.append(f"Assessors did not all judge the same queries: they are taken as nested in queries.{instead}")
    return Arrangement(_side_by_side(cube, judged), NESTED, systems, measure, tuple(notes))


def better_systems(given: Studied, leave_out_worst: float) -> Mask:
    """Which systems are left when the worst by their mean are left out: a share of them below 1, or so many from 1.

    A share keeps the means that are no less than their quantile of that order, as ``drop`` of gt4ireval does.

    >>> better_systems([[0.1, 0.4, 0.3, 0.2], [0.2, 0.5, 0.4, 0.2]], 0.25).tolist()
    [False, True, True, True]
    """
    cube = _cube(given)[0]
    n = cube.shape[1]
    whole = leave_out_worst >= 1
    if not 0 <= leave_out_worst < n or (whole and leave_out_worst != int(leave_out_worst)):
        expected = f"a share from 0 to 1 or a whole number of the {n} systems"
        raise AdjudgeError(f"'leave_out_worst' must be {expected}, got {leave_out_worst:g}")
    there = np.isfinite(cube)
    counts = there.sum(axis=(0, 2))
    means = np.where(there, cube, 0.0).sum(axis=(0, 2)) / np.maximum(counts, 1)
    means = np.where(counts > 0, means, -np.inf)
    if whole:
        kept: Mask = np.argsort(np.argsort(means, kind="stable"), kind="stable") >= leave_out_worst
        return kept
    known = means[counts > 0]
    least = np.quantile(known, leave_out_worst) - ROUNDING * np.abs(known).max() if len(known) else 0.0
    return np.asarray((means >= least) | (leave_out_worst == 0))


def _cube(given: Studied) -> tuple[Floats, tuple[str, ...], tuple[str, ...], str]:
    """Queries x systems x assessors, names of systems and assessors, and the measure."""
    if isinstance(given, Effectiveness):
        return given.matrix()[:, :, None], given.systems, ("",), given.measures[0]
    if isinstance(given, AssessedEffectiveness):
        return given.array(), given.systems, given.assessors, given.measures[0]
    array = np.asarray(given, dtype=np.float64)
    if array.ndim not in (2, 3) or array.size == 0:
        raise AdjudgeError(
            f"A G-study expects queries x systems, or queries x systems x assessors, got shape {array.shape}"
        )
    cube = array[:, :, None] if array.ndim == 2 else array
    systems = tuple(f"s{i + 1}" for i in range(cube.shape[1]))
    return cube, systems, tuple(f"a{i + 1}" for i in range(cube.shape[2])), "effectiveness"


def _any(mask: Mask, axes: tuple[int, ...]) -> Mask:
    found: Mask = np.asarray(mask.any(axis=axes))
    return found


def _left_out(queries: Mask, systems: Mask, assessors: Mask) -> list[str]:
    notes = []
    kinds = (("query", "queries", queries), ("system", "systems", systems), ("assessor", "assessors", assessors))
    for one, words, keep in kinds:
        if not keep.all():
            n = int((~keep).sum())
            notes.append(f"{n} {words if n > 1 else one} without any value left out.")
    return notes


def _check_size(cube: Floats, systems: tuple[str, ...]) -> None:
    n_q, n_s, _ = cube.shape
    if n_s < 2:
        only = f" ({shown(systems[0])})" if n_s else ""
        raise AdjudgeError(
            f"A G-study needs at least 2 systems, got {n_s}{only}: reliability is about their differences."
        )
    if n_q < 2:
        raise AdjudgeError(f"A G-study needs at least 2 queries, got {n_q}: nothing is known of how queries differ.")
    low, high = np.nanmin(cube), np.nanmax(cube)
    if high - low <= 1e-12 * max(1.0, abs(high)):
        raise AdjudgeError(
            f"Every system has the same effectiveness, {low:g}, on every query: there is nothing to study."
        )


def _check_crossed(judged: Mask, names: tuple[str, ...]) -> None:
    """Assessors are crossed with queries when any two of them have at least two queries in common."""
    common = _shared_queries(judged)
    a, b = np.unravel_index(int(np.argmin(common)), common.shape)
    if common[a, b] < 2:
        shared = {0: "no query", 1: "1 query"}[int(common[a, b])]
        who = (
            f"assessor {shown(names[a])} judged"
            if a == b
            else f"assessors {shown(names[a])} and {shown(names[b])} share"
        )
        raise AdjudgeError(f"Expected assessors crossed with queries, but {who} {shared}; say nested instead.")


def _shared_queries(judged: Mask) -> Ints:
    """How many queries any two assessors both judged."""
    counts = judged.astype(np.int64)
    return counts.T @ counts


def _side_by_side(cube: Floats, judged: Mask) -> Floats:
    """Move each query's assessors to the first columns, as many columns as the busiest query has."""
    order = np.argsort(~judged, axis=1, kind="stable")[:, : int(judged.sum(axis=1).max())]
    moved: Floats = np.take_along_axis(cube, order[:, None, :], axis=2)
    return moved
