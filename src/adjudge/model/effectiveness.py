"""Effectiveness: what each measure gives each system for each query, combined or by each assessor's own judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypedDict

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Mask
from adjudge.checks import Kind
from adjudge.errors import AdjudgeError
from adjudge.model.provenance import Provenance
from adjudge.registry import unknown
from adjudge.results import Column, Result, columns_of
from adjudge.tables import Heading, Table
from adjudge.text import counted, listed, plural


class EffectivenessRow(TypedDict):
    """Effectiveness of one system for one query under one measure; columns have the names of other tools."""

    run: Annotated[str, Column("the system", key=True)]
    query_id: Annotated[str, Column("the query", key=True)]
    dataset: Annotated[str | None, Column("the data set of the query", optional=True)]
    measure: Annotated[str, Column("the measure")]
    value: Annotated[float, Column("effectiveness; not known where the query was left out on purpose", ".4f")]
    lower: Annotated[float | None, Column("least value over all grades of unjudged documents", ".4f", optional=True)]
    upper: Annotated[float | None, Column("largest value over all grades of unjudged documents", ".4f", optional=True)]
    error: Annotated[float | None, Column("standard error of what is expected over ties", ".4f", optional=True)]
    judged: Annotated[float, Column("share of documents in the measure's reach that were judged", ".0f %")]


class AssessedRow(TypedDict):
    """Effectiveness of one system for one query as one assessor judged it."""

    run: Annotated[str, Column("the system", key=True)]
    query_id: Annotated[str, Column("the query", key=True)]
    assessor: Annotated[str, Column("who judged", key=True)]
    measure: Annotated[str, Column("the measure")]
    value: Annotated[float, Column("effectiveness", ".4f")]


class _Measured(Result):
    """Effectiveness with any axes: the parts that both kinds share."""

    axes: ClassVar[tuple[str, ...]]
    arrays: ClassVar[tuple[str, ...]] = ("values",)
    rows_name = "effectiveness"

    if TYPE_CHECKING:  # fields of both kinds

        @property
        def values(self) -> Floats: ...
        @property
        def queries(self) -> tuple[str, ...]: ...
        @property
        def systems(self) -> tuple[str, ...]: ...
        @property
        def measures(self) -> tuple[str, ...]: ...
        @property
        def notes(self) -> tuple[str, ...]: ...
        @property
        def provenance(self) -> Provenance: ...
        @property
        def canonical(self) -> Callable[[str], str]: ...

    def __post_init__(self) -> None:
        for axis, names in self._names().items():
            if len(set(names)) < len(names):
                twice = next(name for i, name in enumerate(names) if name in names[:i])
                raise AdjudgeError(f"Effectiveness: expected each {axis} once, got {twice!r} twice")
        expected = tuple(map(len, self._names().values()))
        if self.values.shape != expected:
            wanted = " x ".join(map(plural, self.axes))
            raise AdjudgeError(f"Effectiveness: expected {wanted} {expected}, got {self.values.shape}")

    def _names(self) -> dict[str, tuple[str, ...]]:
        return {axis: getattr(self, plural(axis)) for axis in self.axes}

    def __getitem__(self, measure: object) -> Self:
        """One measure, or several in a list."""
        return self._select(measure=measure if isinstance(measure, list | tuple) else [measure])

    def _select(self, **wanted: Iterable[object] | None) -> Self:
        """Some names of each axis, in the order given; all where None."""
        places: dict[str, list[int]] = {}
        for axis, known in self._names().items():
            asked = wanted.get(axis)
            names = known if asked is None else [asked] if isinstance(asked, str) else list(asked)
            chosen = [self.name_of(name) if axis == "measure" and asked is not None else str(name) for name in names]
            index = {name: i for i, name in enumerate(known)}
            if strange := [name for name in chosen if name not in index]:
                raise unknown(axis, strange[0], known)
            places[axis] = [index[name] for name in chosen]
        cells = np.ix_(*places.values())
        changes = {name: array[cells] for name in self.arrays if (array := getattr(self, name)) is not None}
        for axis, known in self._names().items():
            changes[plural(axis)] = tuple(known[i] for i in places[axis])
        for name, axis in (("teams", "system"), ("datasets", "query")):
            if held := getattr(self, name, ()):
                changes[name] = tuple(held[i] for i in places[axis])
        return replace(self, **changes)  # type: ignore[type-var]

    def name_of(self, measure: object) -> str:
        """The name that a measure has here, in whatever spelling; unchanged if nobody knows it."""
        name = str(measure)
        if name in self.measures:
            return name
        try:
            return self.canonical(name)
        except AdjudgeError:
            return name

    def _values_of(self, measure: object | None) -> Floats:
        """The values of one measure; it need not be named if there is only one."""
        if measure is None and len(self.measures) > 1:
            raise AdjudgeError(f"Which measure? Name one of {', '.join(self.measures)}.")
        chosen = self if measure is None else self[measure]
        return chosen.values[..., 0]

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.queries)

    def _facts(self) -> dict[str, Any]:
        return {"notes": self.notes, "provenance": self.provenance.to_dict()}

    def _means_table(self, means: Floats, digits: int | None) -> Table:
        """Means, systems x measures, best first by the first measure."""
        order = np.argsort(-means[:, 0], kind="stable") if means.size else np.arange(len(self.systems))
        number = Column("mean over queries", ".4f")
        headings = [Heading("system", "left"), *(Heading(name, about=number.about) for name in self.measures)]
        rows = [[self.systems[s], *(number.text(float(value), digits=digits) for value in means[s])] for s in order]
        return Table(headings, rows, self.title)

    def __repr__(self) -> str:
        size = " x ".join(counted(len(names), axis) for axis, names in self._names().items())
        return f"<{type(self).__name__}: {size} ({', '.join(self.measures)})>"


@dataclass(frozen=True, eq=False, repr=False)
class Effectiveness(_Measured):
    """Effectiveness of systems on queries under measures.

    ``values[q, s, m]`` belongs to ``queries[q]``, ``systems[s]`` and ``measures[m]``; it is NaN only where the query
    was left out on purpose. ``judged`` has the same shape: the share of documents in the measure's reach that were
    judged. ``lower`` and ``upper`` bound ``values`` over all grades that unjudged documents might have, where asked
    for. ``notes`` say what weakens the result; ``unbounded`` names the measures that are known to exceed 1.
    ``datasets`` has the data set of each query, where they are known.
    """

    values: Floats
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    measures: tuple[str, ...]
    judged: Floats
    lower: Floats | None = None
    upper: Floats | None = None
    error: Floats | None = None
    teams: tuple[str | None, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    canonical: Callable[[str], str] = str
    unbounded: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    axes = ("query", "system", "measure")
    arrays = ("values", "judged", "lower", "upper", "error")
    row_type = EffectivenessRow

    @classmethod
    def from_matrix(
        cls,
        values: npt.ArrayLike,
        *,
        measure: str = "effectiveness",
        systems: Sequence[str] | None = None,
        queries: Sequence[str] | None = None,
    ) -> Effectiveness:
        """Effectiveness that was computed elsewhere: one row per query, one column per system.

        >>> eff = Effectiveness.from_matrix([[0.1, 0.2], [0.3, 0.5]], measure="AP", systems=["a", "b"])
        >>> eff.mean()["AP"]
        {'a': 0.2, 'b': 0.35}
        """
        matrix = np.asarray(values, dtype=np.float64)
        if matrix.ndim != 2 or matrix.size == 0:
            raise AdjudgeError(f"Effectiveness: expected a matrix of queries x systems, got shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            q, s = np.argwhere(~np.isfinite(matrix))[0]
            raise AdjudgeError(
                f"Effectiveness: expected finite numbers, got {matrix[q, s]} for query {q + 1}, system {s + 1}"
            )
        names = tuple(systems) if systems is not None else tuple(f"s{i + 1}" for i in range(matrix.shape[1]))
        rows = tuple(queries) if queries is not None else tuple(f"q{i + 1}" for i in range(matrix.shape[0]))
        block = matrix[:, :, None]
        return cls(block, rows, names, (measure,), np.full_like(block, np.nan))

    def select(
        self,
        *,
        queries: Iterable[str] | None = None,
        systems: Iterable[str] | None = None,
        measures: Iterable[object] | None = None,
    ) -> Effectiveness:
        """Some queries, systems or measures, in the order given."""
        return self._select(query=queries, system=systems, measure=measures)

    def matrix(self, measure: object | None = None) -> Floats:
        """Queries x systems for one measure; it need not be named if there is only one."""
        return self._values_of(measure)

    def limits(self) -> tuple[Floats, Floats]:
        """The least and the largest value that each measure can have; infinite where there is none.

        They are 0 and 1 where all values lie between them, and 0 and infinity for measures known to exceed 1.

        >>> low, high = Effectiveness.from_matrix([[0.1, 0.2], [0.3, 0.5]]).limits()
        >>> low.tolist(), high.tolist()
        ([0.0], [1.0])
        """
        flat = self.values.reshape(-1, len(self.measures))
        known = np.array([name in self.unbounded for name in self.measures])
        inside = ~((flat < 0) | (flat > 1)).any(axis=0)
        low = np.where(inside | (known & ~(flat < 0).any(axis=0)), 0.0, -np.inf)
        return low, np.where(inside & ~known, 1.0, np.inf)

    def mean(self) -> dict[str, dict[str, float]]:
        """Mean over queries: ``{measure: {system: mean}}``; queries left out on purpose do not count."""
        means = mean_over_queries(self.values)
        return {
            measure: dict(zip(self.systems, means[:, m].tolist(), strict=True))
            for m, measure in enumerate(self.measures)
        }

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Effectiveness, mean of {counted(self.n_queries, 'query')}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the long table, with data sets, bounds and error where there are any."""
        optional = {"dataset": self.datasets or None, "lower": self.lower, "upper": self.upper, "error": self.error}
        return tuple(c for c in columns_of(EffectivenessRow) if optional.get(c.name, self.values) is not None)

    def _values(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        n_q, n_s, n_m = self.values.shape
        arrays = {"value": self.values, "lower": self.lower, "upper": self.upper, "error": self.error}
        arrays["judged"] = self.judged
        held = {name: array.transpose(2, 1, 0).reshape(-1) for name, array in arrays.items() if array is not None}
        columns: dict[str, Any] = {
            "run": np.tile(np.repeat(np.array(self.systems, dtype=object), n_q), n_m).tolist(),
            "query_id": list(self.queries) * (n_s * n_m),
            **({"dataset": list(self.datasets) * (n_s * n_m)} if self.datasets else {}),
            "measure": np.repeat(np.array(self.measures, dtype=object), n_q * n_s).tolist(),
            **held,
        }
        return columns if names is None else {name: columns[name] for name in names}

    def table(self, *, digits: int | None = None) -> Table:
        """Means over queries, systems x measures, best first by the first measure."""
        return self._means_table(mean_over_queries(self.values), digits)


def mean_over_queries(values: Floats) -> Floats:
    """Mean over the first axis, NaN aside; NaN where nothing is left."""
    counted = np.isfinite(values).sum(axis=0)
    total = np.nansum(values, axis=0)
    means: Floats = np.divide(total, counted, out=np.full(total.shape, np.nan), where=counted > 0)
    return means


def beside(tables: Sequence[Effectiveness], *, names: Sequence[str]) -> Effectiveness:
    """Tables of one system each side by side, under their common measures; NaN where a system lacks a query.

    >>> one, two = (Effectiveness.from_matrix([[value]], queries=["q1"]) for value in (0.25, 0.5))
    >>> beside([one, two], names=["old", "new"]).mean()
    {'effectiveness': {'old': 0.25, 'new': 0.5}}
    """
    queries = tuple(dict.fromkeys(query for table in tables for query in table.queries))
    measures = tuple(name for name in tables[0].measures if all(name in table.measures for table in tables))
    if not measures:
        came = " and ".join(", ".join(table.measures) for table in tables)
        raise AdjudgeError(f"expected tables with a measure in common, got {came}")
    shape = (len(queries), len(tables), len(measures))
    values, judged, place = np.full(shape, np.nan), np.full(shape, np.nan), {name: i for i, name in enumerate(queries)}
    for s, table in enumerate(tables):
        rows, chosen = [place[query] for query in table.queries], table[measures]
        values[rows, s], judged[rows, s] = chosen.values[:, 0], chosen.judged[:, 0]
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    if len(lacking := np.flatnonzero(np.isnan(values).any(axis=(1, 2)))):
        names_lacking = listed([f"'{queries[q]}'" for q in lacking], most=3)
        notes += (
            f"{counted(len(lacking), 'query')} of {len(queries)} left out, as a system lacks them: {names_lacking}.",
        )
    inputs = tuple(dict.fromkeys(file for table in tables for file in table.provenance.inputs))
    return Effectiveness(values, queries, tuple(names), measures, judged, notes=notes, provenance=Provenance(inputs))


@dataclass(frozen=True, eq=False, repr=False)
class AssessedEffectiveness(_Measured):
    """Effectiveness of systems on queries under measures, by the judgments of one assessor at a time.

    ``values[q, s, a, m]`` belongs to ``queries[q]``, ``systems[s]``, ``assessors[a]`` and ``measures[m]``. It is NaN
    where the assessor did not judge the query, or the list was left out on purpose. ``notes`` say what weakens the
    result.

    >>> values = np.array([0.2, 0.4, 0.6, np.nan]).reshape(2, 1, 2, 1)
    >>> eff = AssessedEffectiveness(values, ("q1", "q2"), ("mine",), ("ann", "bob"), ("AP",))
    >>> eff.array()[:, 0].tolist()
    [[0.2, 0.4], [0.6, nan]]
    >>> print(eff)
    Effectiveness by 2 assessors on 2 queries, mean of 3 of 4 cells
    system      AP
    mine    0.4000
    """

    values: Floats
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    assessors: tuple[str, ...]
    measures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    canonical: Callable[[str], str] = str
    axes = ("query", "system", "assessor", "measure")
    row_type = AssessedRow

    def select(
        self,
        *,
        queries: Iterable[str] | None = None,
        systems: Iterable[str] | None = None,
        assessors: Iterable[str] | None = None,
        measures: Iterable[object] | None = None,
    ) -> AssessedEffectiveness:
        """Some queries, systems, assessors or measures, in the order given."""
        return self._select(query=queries, system=systems, assessor=assessors, measure=measures)

    @property
    def cells(self) -> Mask:
        """Which queries each assessor judged, shape (queries, assessors): where any system has effectiveness."""
        judged: Mask = np.any(np.isfinite(self.values), axis=(1, 3))
        return judged

    def array(self, measure: object | None = None) -> Floats:
        """Queries x systems x assessors for one measure; it need not be named if there is only one."""
        return self._values_of(measure)

    @property
    def title(self) -> str:
        """What it is, in a line."""
        n_q, _, n_a, _ = self.values.shape
        cells = f"mean of {np.count_nonzero(self.cells)} of {n_q * n_a} cells"
        return f"Effectiveness by {counted(n_a, 'assessor')} on {counted(n_q, 'query')}, {cells}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the long table, without cells that nobody judged."""
        return columns_of(AssessedRow)

    def _values(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        by_measure = self.values.transpose(3, 1, 0, 2)
        m, s, q, a = np.nonzero(~np.isnan(by_measure))
        axes = {"run": (self.systems, s), "query_id": (self.queries, q), "assessor": (self.assessors, a)}
        axes["measure"] = (self.measures, m)
        held = {name: np.array(known, dtype=object)[place].tolist() for name, (known, place) in axes.items()}
        columns: dict[str, Any] = {**held, "value": by_measure[m, s, q, a]}
        return columns if names is None else {name: columns[name] for name in names}

    def table(self, *, digits: int | None = None) -> Table:
        """Means over what was judged, systems x measures, best first by the first measure."""
        n_q, n_s, n_a, n_m = self.values.shape
        means = mean_over_queries(self.values.transpose(0, 2, 1, 3).reshape(n_q * n_a, n_s, n_m))
        return self._means_table(means, digits)


EFFECTIVENESS = Kind(Effectiveness, "effectiveness (from adjudge.evaluate)")
ASSESSED = Kind(AssessedEffectiveness, "effectiveness by assessor (from adjudge.measures.evaluate_assessors)")
