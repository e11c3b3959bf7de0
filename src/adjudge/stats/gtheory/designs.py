"""Designs of a G-study: which effects vary, what mean squares are expected of them, and which design data follow.

A score depends on the system, the query and, where several people judged, the assessor. Every effect is named by its
facets: ``s`` (systems), ``q`` (queries), ``a`` (assessors). With n_f the levels of facet f, a random-effects model
expects of the mean square of effect T

    E[MS_T] = Σ_{U ⊇ T} (Π_{f not in U} n_f) σ²_U

for crossed and nested designs alike (Brennan 2001, chapters 3 and 7): the equations of thesis 6.3 and 6.8, and those of
Bodoff & Li for three crossed facets, are this one. Solving them for σ² gives the variance components.

Brennan, R. L. Generalizability Theory. Springer, 2001. doi:10.1007/978-1-4757-3456-0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, compress

import numpy as np
import numpy.typing as npt

from adjudge.arrays import ROUNDING, Floats, Ints, Mask
from adjudge.checks import Assessors, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError, ParameterError, shown
from adjudge.model.effectiveness import EFFECTIVENESS, AssessedEffectiveness, Effectiveness
from adjudge.text import counted

_ROUNDING = 1e-12  # of the total sum of squares: less than that is rounding


@dataclass(frozen=True)
class Effect:
    """A source of variance: its name in words and its facets. ``nested`` effects lie within queries."""

    name: str
    facets: str
    nested: bool = False

    @property
    def relative(self) -> bool:
        """Whether it blurs differences between systems; the others only move all systems together."""
        return "s" in self.facets and self.facets != "s"

    def divisor(self, n_queries: Floats, n_assessors: Floats) -> Floats:
        """By how much averaging over queries and assessors shrinks its variance."""
        ones = np.ones(np.broadcast_shapes(np.shape(n_queries), np.shape(n_assessors)))
        return ones * (n_queries if "q" in self.facets else 1) * (n_assessors if "a" in self.facets else 1)


@dataclass(frozen=True)
class Design:
    """A set of effects, from the widest to the residual."""

    name: str
    effects: tuple[Effect, ...]

    def __str__(self) -> str:
        return self.name

    @property
    def has_assessors(self) -> bool:
        """Whether assessors are a facet of their own."""
        return any("a" in effect.facets for effect in self.effects)

    def expected_mean_squares(self, levels: dict[str, int]) -> Floats:
        """Coefficients of the variances (columns) in the expected mean squares (rows)."""
        return np.array(
            [
                [
                    float(np.prod([n for facet, n in levels.items() if facet not in of.facets], initial=1.0))
                    if set(row.facets) <= set(of.facets)
                    else 0.0
                    for of in self.effects
                ]
                for row in self.effects
            ]
        )

    def degrees_of_freedom(self, levels: dict[str, int]) -> Floats:
        """Degrees of freedom of each effect: Π (n_f - 1), and n_q for the queries that an effect is nested in."""
        return np.array(
            [
                float(np.prod([levels[f] - (0 if effect.nested and f == "q" else 1) for f in effect.facets]))
                for effect in self.effects
            ]
        )


SYSTEMS_QUERIES = Design("systems x queries", (Effect("system", "s"), Effect("query", "q"), Effect("residual", "sq")))
CROSSED = Design(
    "systems x queries x assessors",
    (
        Effect("system", "s"),
        Effect("query", "q"),
        Effect("assessor", "a"),
        Effect("system × query", "sq"),
        Effect("system × assessor", "sa"),
        Effect("query × assessor", "qa"),
        Effect("residual", "sqa"),
    ),
)
NESTED = Design(
    "systems x (assessors in queries)",
    (
        Effect("system", "s"),
        Effect("query", "q"),
        Effect("assessor in query", "qa", nested=True),
        Effect("system × query", "sq"),
        Effect("residual", "sqa", nested=True),
    ),
)


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """Mean squares of a balanced design, one column per effect; several rows where the data were resampled."""

    design: Design
    levels: dict[str, int]
    values: Floats

    @property
    def df(self) -> Floats:
        """Degrees of freedom."""
        return self.design.degrees_of_freedom(self.levels)

    def variances(self) -> Floats:
        """Estimated variance components, below 0 where the data say so."""
        expected = self.design.expected_mean_squares(self.levels)
        solved: Floats = np.linalg.solve(expected, self.values[..., None])[..., 0].astype(np.float64)
        return solved

    def without_resampling_bias(self, facet: str) -> MeanSquares:
        """What mean squares of data resampled over a facet say of the data they were drawn from.

        Drawing n levels with replacement shrinks the spread between them by (n - 1) / n, and adds to an effect T
        without the facet the spread of its interaction with it: E*[MS_T] = MS_T + E*[MS_Tf]. Taking both back gives
        the corrections of Wiley (Brennan 2001, section 6.4) for the crossed design, and their like for the others.
        Effects nested in the resampled queries are averages over them and stay.
        """
        effects = self.design.effects
        kept = (self.levels[facet] - 1) / self.levels[facet]
        corrected = self.values.copy()
        for i, effect in enumerate(effects):
            if facet in effect.facets:
                corrected[..., i] /= 1.0 if effect.nested and facet == "q" else kept
            else:
                crossed = [j for j, of in enumerate(effects) if set(of.facets) == {*effect.facets, facet}]
                corrected[..., i] -= sum(self.values[..., j] for j in crossed)
        return MeanSquares(self.design, self.levels, corrected)


def mean_squares(
    values: Floats, design: Design, *, queries: Floats | None = None, systems: Floats | None = None
) -> MeanSquares:
    """Mean squares of effectiveness, queries x systems (x assessors), every cell filled.

    ``queries`` and ``systems`` say how often each was drawn, one row per resample (counts that sum to their number);
    without them the data are taken once, as they are.
    """
    cube = values[:, :, None] if values.ndim == 2 else values
    n_q, n_s, n_a = cube.shape
    levels = {"s": n_s, "q": n_q} | ({"a": n_a} if design.has_assessors else {})
    weight_q = np.ones((1, n_q)) if queries is None else queries
    weight_s = np.ones((1, n_s)) if systems is None else systems
    raw = _raw_squares(cube - cube.mean(), weight_q, weight_s)
    squares = {facets: sum((-1) ** (len(facets) - len(of)) * raw[of] for of in _subsets(facets)) for facets in raw}
    if design is NESTED:
        squares["qa"], squares["sqa"] = squares["qa"] + squares["a"], squares["sqa"] + squares["sa"]
    total = raw["sqa"]
    table = np.stack([np.asarray(squares[effect.facets]) for effect in design.effects], axis=-1)
    table[table <= _ROUNDING * total[:, None]] = 0.0
    table /= design.degrees_of_freedom(levels)
    resampled = queries is not None or systems is not None
    return MeanSquares(design, levels, table if resampled else table[0])


def _raw_squares(cube: Floats, weight_q: Floats, weight_s: Floats) -> dict[str, Floats]:
    """Σ of squared means over each set of facets, each counted as often as cells share it; one number per resample."""
    n_q, n_s, n_a = cube.shape
    over_a = cube.mean(axis=2)
    q_means = np.einsum("rq,qsa->rsa", weight_q, cube, optimize=True) / n_q
    s_means = np.einsum("rs,qsa->rqa", weight_s, cube, optimize=True) / n_s
    both = np.einsum("rs,rsa->ra", weight_s, q_means, optimize=True) / n_s
    return {
        "": n_q * n_s * n_a * both.mean(axis=1) ** 2,
        "a": n_q * n_s * (both**2).sum(axis=1),
        "s": n_q * n_a * (weight_s * q_means.mean(axis=2) ** 2).sum(axis=1),
        "q": n_s * n_a * (weight_q * s_means.mean(axis=2) ** 2).sum(axis=1),
        "sq": n_a * _bilinear(weight_q, over_a**2, weight_s),
        "sa": n_q * (weight_s * (q_means**2).sum(axis=2)).sum(axis=1),
        "qa": n_s * (weight_q * (s_means**2).sum(axis=2)).sum(axis=1),
        "sqa": _bilinear(weight_q, (cube**2).sum(axis=2), weight_s),
    }


def _bilinear(left: Floats, matrix: Floats, right: Floats) -> Floats:
    product: Floats = np.atleast_1d(((left @ matrix) * right).sum(axis=1))
    return product


def _subsets(facets: str) -> Iterator[str]:
    for size in range(len(facets) + 1):
        for chosen in combinations(facets, size):
            yield "".join(chosen)


StudyData = Effectiveness | AssessedEffectiveness | npt.ArrayLike
"""Effectiveness as a G-study takes it."""


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


@checked(assessors=Assessors)
def arrange(data: StudyData, *, assessors: Assessors = "auto", leave_out_worst: float = 0) -> Arrangement:
    """Find the design of effectiveness, as :func:`adjudge.gstudy` defines it, and refuse what cannot be studied."""
    cube, systems, names, measure = _cube(data)
    if np.isinf(cube).any():
        raise AdjudgeError("A G-study expects finite numbers, got an infinite one.")
    better = better_systems(data, leave_out_worst)
    cube, systems = cube[:, better], tuple(compress(systems, better))
    filled = np.isfinite(cube)
    keep_q, keep_s, keep_a = (np.asarray(filled.any(axis=axes)) for axes in ((1, 2), (0, 2), (0, 1)))
    empty = {"query": keep_q, "system": keep_s, "assessor": keep_a}
    notes = [
        f"{counted(int((~keep).sum()), kind)} without any value left out."
        for kind, keep in empty.items()
        if not keep.all()
    ]
    cube = cube[np.ix_(keep_q, keep_s, keep_a)]
    systems, names = tuple(compress(systems, keep_s)), tuple(compress(names, keep_a))
    _check_size(cube, systems)
    judged: Mask = np.asarray(np.isfinite(cube).any(axis=1))
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


def better_systems(data: StudyData, leave_out_worst: float) -> Mask:
    """Which systems are left without the worst by their mean: a share of all (below 1), or a number of them.

    A share keeps the means that are no less than their quantile of that order, as ``drop`` of gt4ireval does.

    >>> better_systems([[0.1, 0.4, 0.3, 0.2], [0.2, 0.5, 0.4, 0.2]], 0.25).tolist()
    [False, True, True, True]
    """
    cube = _cube(data)[0]
    n = cube.shape[1]
    whole = leave_out_worst >= 1
    if not 0 <= leave_out_worst < n or (whole and leave_out_worst != int(leave_out_worst)):
        expected = f"a share from 0 to 1 or a whole number of the {n} systems"
        raise ParameterError(f"'leave_out_worst' must be {expected}, got {leave_out_worst:g}")
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


def _cube(data: StudyData) -> tuple[Floats, tuple[str, ...], tuple[str, ...], str]:
    """Queries x systems x assessors, names of systems and assessors, and the measure."""
    if isinstance(data, Effectiveness):
        return data.matrix()[:, :, None], data.systems, ("",), data.measures[0]
    if isinstance(data, AssessedEffectiveness):
        return data.array(), data.systems, data.assessors, data.measures[0]
    try:
        array = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        wanted = f"{EFFECTIVENESS.wanted} or an array of numbers"
        raise ParameterError(f"A G-study expects {wanted}, got {type(data).__name__}") from None
    if array.ndim not in (2, 3) or array.size == 0:
        raise AdjudgeError(
            f"A G-study expects queries x systems, or queries x systems x assessors, got shape {array.shape}"
        )
    cube = array[:, :, None] if array.ndim == 2 else array
    systems = tuple(f"s{i + 1}" for i in range(cube.shape[1]))
    return cube, systems, tuple(f"a{i + 1}" for i in range(cube.shape[2])), "effectiveness"


def _check_size(cube: Floats, systems: tuple[str, ...]) -> None:
    n_q, n_s, _ = cube.shape
    if n_s < 2:
        only = f" ({shown(systems[0])})" if n_s else ""
        raise NotEnoughDataError(
            f"A G-study needs at least 2 systems, got {n_s}{only}: reliability is about their differences."
        )
    if n_q < 2:
        raise NotEnoughDataError(
            f"A G-study needs at least 2 queries, got {n_q}: nothing is known of how queries differ."
        )
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
        shared = "1 query" if common[a, b] else "no query"
        who = f"assessors {shown(names[a])} and {shown(names[b])} share"
        if a == b:
            who = f"assessor {shown(names[a])} judged"
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
