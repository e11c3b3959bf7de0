"""Effectiveness by each assessor's own judgments: what Generalizability Theory asks about assessors rests on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.errors import AdjudgeError
from adjudge.model.effectiveness import check_axes, mean_over_queries, means_table, name_among, places
from adjudge.model.provenance import Provenance
from adjudge.words import counted

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class AssessedEffectiveness:
    """Effectiveness of systems on queries under measures, by the judgments of one assessor at a time.

    ``values[q, s, a, m]`` belongs to ``queries[q]``, ``systems[s]``, ``assessors[a]`` and ``measures[m]``. It is NaN
    where the assessor did not judge the query, or the list was left out on purpose. ``notes`` are the things worth
    saying aloud.

    >>> values = np.array([0.2, 0.4, 0.6, np.nan]).reshape(2, 1, 2, 1)
    >>> eff = AssessedEffectiveness(values, ("q1", "q2"), ("mine",), ("ann", "bob"), ("AP",))
    >>> eff.array()[:, 0].tolist()
    [[0.2, 0.4], [0.6, nan]]
    >>> print(eff)
    Effectiveness by 2 assessors on 2 queries, mean of 3 of 4 cells
               AP
    mine   0.4000
    """

    values: Floats
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    assessors: tuple[str, ...]
    measures: tuple[str, ...]
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    canonical: Callable[[str], str] = str

    def __post_init__(self) -> None:
        check_axes(self.values, query=self.queries, system=self.systems, assessor=self.assessors, measure=self.measures)

    def __getitem__(self, measure: object) -> AssessedEffectiveness:
        """One measure, or several in a list."""
        wanted = [str(item) for item in measure] if isinstance(measure, list | tuple) else [str(measure)]
        return self.select(measures=wanted)

    def select(
        self,
        *,
        queries: Iterable[str] | None = None,
        systems: Iterable[str] | None = None,
        assessors: Iterable[str] | None = None,
        measures: Iterable[object] | None = None,
    ) -> AssessedEffectiveness:
        """Some queries, systems, assessors or measures, in the order asked for."""
        q = places("query", queries, self.queries)
        s = places("system", systems, self.systems)
        a = places("assessor", assessors, self.assessors)
        names = None if measures is None else [self.name_of(name) for name in measures]
        m = places("measure", names, self.measures)
        return replace(
            self,
            values=self.values[np.ix_(q, s, a, m)],
            queries=tuple(self.queries[i] for i in q),
            systems=tuple(self.systems[i] for i in s),
            assessors=tuple(self.assessors[i] for i in a),
            measures=tuple(self.measures[i] for i in m),
        )

    def name_of(self, measure: object) -> str:
        """The name that a measure has here, however it is spelt."""
        return name_among(self.measures, measure, self.canonical)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.queries)

    @property
    def cells(self) -> Mask:
        """Which queries each assessor judged, shape (queries, assessors): where any system has effectiveness."""
        judged: Mask = np.any(np.isfinite(self.values), axis=(1, 3))
        return judged

    def array(self, measure: object | None = None) -> Floats:
        """Queries x systems x assessors for one measure; it need not be named when there is only one."""
        if measure is None and len(self.measures) > 1:
            raise AdjudgeError(f"Which measure? Name one of {', '.join(self.measures)}.")
        chosen = self if measure is None else self[measure]
        return chosen.values[:, :, :, 0]

    def to_polars(self) -> pl.DataFrame:
        """Long table ``run, query_id, assessor, measure, value``, without the cells that nobody judged."""
        import polars as pl

        by_measure = self.values.transpose(3, 1, 0, 2)
        m, s, q, a = np.nonzero(~np.isnan(by_measure))
        return pl.DataFrame(
            {
                "run": pl.Series(self.systems, dtype=pl.String).gather(s),
                "query_id": pl.Series(self.queries, dtype=pl.String).gather(q),
                "assessor": pl.Series(self.assessors, dtype=pl.String).gather(a),
                "measure": pl.Series(self.measures, dtype=pl.String).gather(m),
                "value": by_measure[m, s, q, a],
            }
        )

    def __str__(self) -> str:
        n_q, n_s, n_a, n_m = self.values.shape
        means = mean_over_queries(self.values.transpose(0, 2, 1, 3).reshape(n_q * n_a, n_s, n_m))
        who = "1 assessor" if n_a == 1 else f"{n_a} assessors"
        what = "1 query" if n_q == 1 else f"{n_q} queries"
        cells = f"mean of {np.count_nonzero(self.cells)} of {n_q * n_a} cells"
        title = f"Effectiveness by {who} on {what}, {cells}"
        return "\n".join([title, *means_table(means, self.systems, self.measures)])

    def __repr__(self) -> str:
        axes = (
            (self.queries, "query"),
            (self.systems, "system"),
            (self.assessors, "assessor"),
            (self.measures, "measure"),
        )
        size = " x ".join(counted(len(names), noun) for names, noun in axes)
        return f"<AssessedEffectiveness: {size} ({', '.join(self.measures)})>"
