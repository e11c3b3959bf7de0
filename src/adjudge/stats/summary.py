"""Effectiveness in a few numbers: mean, interval, queries, share judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from adjudge.checks import CONFIDENCE, SEED, Interval, checked
from adjudge.errors import unknown
from adjudge.model.effectiveness import Effectiveness
from adjudge.stats.bootstrap import bootstrap_interval
from adjudge.stats.intervals import t_interval, with_interval
from adjudge.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class MeanEffectiveness:
    """One system under one measure; ``lowest`` and ``highest`` bound the mean over unjudged documents, if asked for."""

    system: str
    team: str | None
    measure: str
    mean: float
    low: float
    high: float
    n_queries: int
    judged: float
    lowest: float | None = None
    highest: float | None = None

    def __str__(self) -> str:
        queries = "1 query" if self.n_queries == 1 else f"{self.n_queries} queries"
        return f"{self.system}: {self.measure} = {with_interval(self.mean, self.low, self.high)} ({queries})"


@dataclass(frozen=True)
class Summary(Sequence[MeanEffectiveness]):
    """Rows for every system and measure, best system of the first measure first."""

    rows: tuple[MeanEffectiveness, ...]
    systems: tuple[str, ...]
    measures: tuple[str, ...]
    confidence: float
    interval: Interval = "t"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[MeanEffectiveness]:
        return iter(self.rows)

    @overload
    def __getitem__(self, key: int) -> MeanEffectiveness: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[MeanEffectiveness]: ...
    @overload
    def __getitem__(self, key: str) -> Sequence[MeanEffectiveness]: ...
    def __getitem__(self, key: int | slice | str) -> MeanEffectiveness | Sequence[MeanEffectiveness]:
        """A row by number, or the rows of a measure by its name."""
        if not isinstance(key, str):
            return self.rows[key]
        if key not in self.measures:
            raise unknown("measure", key, self.measures)
        return tuple(row for row in self.rows if row.measure == key)

    def of(self, system: str, measure: str) -> MeanEffectiveness:
        """The row of one system under one measure."""
        if system not in self.systems:
            raise unknown("system", system, self.systems)
        return next(row for row in self[measure] if row.system == system)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain values; teams and bounds only where there are any."""
        teams = any(row.team is not None for row in self.rows)
        return [
            {name: value for name, value in asdict(row).items() if value is not None or (name == "team" and teams)}
            for row in self.rows
        ]

    def to_polars(self) -> pl.DataFrame:
        """One row a system and measure."""
        import polars as pl

        return pl.DataFrame(self.to_dicts(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """The same as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts())

    def __str__(self) -> str:
        return "\n".join(str(row) for row in self.rows)

    def __repr__(self) -> str:
        measures = dict.fromkeys(row.measure for row in self.rows)
        return f"<Summary: {counted(len(self.rows) // max(len(measures), 1), 'system')} ({', '.join(measures)})>"


@checked(confidence=CONFIDENCE, interval=Interval, seed=SEED)
def summarize(
    eff: Effectiveness, *, confidence: float = 0.95, interval: Interval = "t", sort: str | None = None, seed: int = 0
) -> Summary:
    """Mean effectiveness of every system under every measure, with its interval: t, or bootstrap (percentile, bca).

    Intervals end where the measure does: a mean of values from 0 to 1 lies there too, so that cutting what sticks out
    costs no coverage. With skewed scores (beta with shapes 0.5 and 2) 95 % t intervals hold the mean .867, .913, .934
    and .944 of the time with 3, 10, 25 and 50 queries, bca ones .701, .901, .936 and .945: t is the default, as it is
    better with few queries and no worse with many (``python -m benchmarks.claims``).

    ``sort`` names the measure that orders systems (the first one when not given), or ``"system"`` for their names.
    """
    mean, half, n = t_interval(eff.values, confidence=confidence)
    least, most = eff.limits()
    low, high = np.maximum(mean - half, least), np.minimum(mean + half, most)
    if interval != "t":
        flat = bootstrap_interval(
            eff.values.reshape(eff.n_queries, -1), confidence=confidence, method=interval, seed=seed
        )
        low, high = (end.reshape(mean.shape) for end in flat)
    judged = t_interval(eff.judged)[0]
    lowest = None if eff.lower is None else t_interval(eff.lower)[0]
    highest = None if eff.upper is None else t_interval(eff.upper)[0]
    order = _order(eff, mean, sort)
    rows = tuple(
        MeanEffectiveness(
            eff.systems[s],
            eff.teams[s] if eff.teams else None,
            eff.measures[m],
            float(mean[s, m]),
            float(low[s, m]),
            float(high[s, m]),
            int(n[s, m]),
            float(judged[s, m]),
            None if lowest is None else float(lowest[s, m]),
            None if highest is None else float(highest[s, m]),
        )
        for s in order
        for m in range(len(eff.measures))
    )
    return Summary(rows, tuple(eff.systems[s] for s in order), eff.measures, confidence, interval)


def _order(eff: Effectiveness, mean: np.ndarray, sort: str | None) -> list[int]:
    names = sorted(range(len(eff.systems)), key=lambda s: eff.systems[s])
    if sort == "system":
        return names
    measure = eff.measures[0] if sort is None else eff.name_of(sort)
    if measure not in eff.measures:
        raise unknown("measure of this table", measure, [*eff.measures, "system"])
    column = np.nan_to_num(mean[:, eff.measures.index(measure)], nan=-np.inf)
    return sorted(names, key=lambda s: -column[s])
