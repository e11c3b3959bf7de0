"""The table of ``adjudge score``: systems x measures, or every query."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.checks import CONFIDENCE, DIGITS, Interval, checked
from adjudge.model.effectiveness import Effectiveness
from adjudge.reporting import tables
from adjudge.reporting.tables import FittedTable, as_csv, as_json, printable
from adjudge.stats.intervals import with_interval
from adjudge.stats.summary import MeanEffectiveness, Summary, summarize
from adjudge.text import percent
from adjudge.users.satisfaction import Satisfaction, SatisfactionMapping, satisfaction

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class ScoreTable:
    """Effectiveness ready to be shown. ``drawing`` is for a terminal, ``text`` for ``csv``, ``json`` and ``latex``."""

    eff: Effectiveness
    summary: Summary
    digits: int
    per_query: bool
    command: str | None
    satisfaction: Satisfaction | None = None

    @classmethod
    @checked(confidence=CONFIDENCE, interval=Interval, digits=DIGITS)
    def of(
        cls,
        eff: Effectiveness,
        *,
        confidence: float = 0.95,
        interval: Interval = "t",
        sort: str | None = None,
        digits: int = 3,
        per_query: bool = False,
        command: str | None = None,
        users: Iterable[SatisfactionMapping] | None = None,
    ) -> ScoreTable:
        """Summarise effectiveness for showing.

        With ``users``, mappings that come before those of the thesis, or none, P(Sat) and P(Succ) stand beside every
        measure that has a mapping; the others are named below the table.
        """
        summary = summarize(eff, confidence=confidence, interval=interval, sort=sort)
        chosen = eff.select(systems=summary.systems)
        satisfied = None if users is None else satisfaction(chosen, mappings=users, confidence=confidence)
        return cls(chosen, summary, digits, per_query, command, satisfied)

    def text(self, style: str) -> str:
        """The table as ``csv``, ``json`` or ``latex``."""
        styles: dict[str, Callable[[], str]] = {"csv": self._csv, "json": self._json, "latex": self._latex}
        return styles[style]()

    def _records(self) -> list[dict[str, Any]]:
        if self.per_query:
            return self._query_records()
        return [{**record, **self._users_of(record)} for record in self.summary.to_dicts()]

    def _query_records(self) -> list[dict[str, Any]]:
        frame = self.eff.to_polars()
        if self.satisfaction is None:
            return frame.to_dicts()
        known = self.satisfaction
        p_sat = np.full(self.eff.values.shape, np.nan)
        for place, measure in enumerate(known.measures):
            p_sat[:, :, self.eff.measures.index(measure)] = known.p_sat[:, :, place]
        column = [None if math.isnan(value) else value for value in p_sat.transpose(2, 1, 0).ravel().tolist()]
        return [{**record, "p_sat": value} for record, value in zip(frame.to_dicts(), column, strict=True)]

    def _users_of(self, record: dict[str, Any]) -> dict[str, Any]:
        """What users say of a mean effectiveness; None for measures without a mapping."""
        if self.satisfaction is None:
            return {}
        names = {"p_sat": "mean", "p_sat_low": "low", "p_sat_high": "high", "p_succ": "success"}
        if record["measure"] not in self.satisfaction.measures:
            return dict.fromkeys(names)
        row = self.satisfaction.of(record["system"], record["measure"])
        return {name: getattr(row, value) for name, value in names.items()}

    def _csv(self) -> str:
        return as_csv(self._records())

    def _json(self) -> str:
        provenance = self.eff.provenance
        if self.command is not None:
            provenance = provenance.with_settings(command=self.command)
        return as_json(
            {
                "effectiveness": self._records(),
                "confidence": self.summary.confidence,
                "notes": self.eff.notes,
                "provenance": provenance.to_dict(),
            }
        )

    def _latex(self) -> str:
        header, rows = self._cells(tables.escape)
        align = "l" * self._n_text + "r" * (len(header) - self._n_text)
        return tables.booktabs(
            header, rows, align=align, comment=[f"Adjudge {self.eff.provenance.version}", self.command or ""]
        )

    @property
    def _has_teams(self) -> bool:
        return any(team is not None for team in self.eff.teams)

    @property
    def _n_text(self) -> int:
        """Columns of text before those of numbers."""
        return 2 if self.per_query else 1 + self._has_teams

    def _cells(self, escape: Callable[[str], str] = str) -> tuple[list[str], list[list[str]]]:
        """Header and rows as text."""
        return self._query_cells(escape) if self.per_query else self._mean_cells(escape)

    def _mean_cells(self, escape: Callable[[str], str]) -> tuple[list[str], list[list[str]]]:
        measures, systems = self.summary.measures, self.summary.systems
        by_system = [self.summary[i * len(measures) : (i + 1) * len(measures)] for i in range(len(systems))]
        header = ["system", *(["team"] if self._has_teams else []), *map(escape, measures)]
        header += [*map(escape, self._user_columns), "judged", "queries"]
        rows = []
        for cells in by_system:
            team = [escape(cells[0].team or "")] if self._has_teams else []
            rows.append(
                [
                    escape(cells[0].system),
                    *team,
                    *(escape(self._mean(cell)) for cell in cells),
                    *map(escape, self._user_cells(cells[0].system)),
                    escape(_percent([cell.judged for cell in cells])),
                    self._queries(cells),
                ]
            )
        return header, rows

    @property
    def _user_columns(self) -> list[str]:
        if self.satisfaction is None:
            return []
        return [f"{what} {measure}" for measure in self.satisfaction.measures for what in ("P(Sat)", "P(Succ)")]

    def _user_cells(self, system: str) -> list[str]:
        if self.satisfaction is None:
            return []
        rows = [self.satisfaction.of(system, measure) for measure in self.satisfaction.measures]
        return [
            cell
            for row in rows
            for cell in (with_interval(row.mean, row.low, row.high, self.digits), _number(row.success, self.digits))
        ]

    def _mean(self, cell: MeanEffectiveness) -> str:
        number = with_interval(cell.mean, cell.low, cell.high, self.digits)
        if cell.lowest is not None and cell.highest is not None:
            number += f" [{_number(cell.lowest, self.digits)}, {_number(cell.highest, self.digits)}]"
        return number

    @staticmethod
    def _queries(cells: Sequence[MeanEffectiveness]) -> str:
        counts = {cell.n_queries for cell in cells}
        return "–".join(str(n) for n in sorted({min(counts), max(counts)}))

    def _query_cells(self, escape: Callable[[str], str]) -> tuple[list[str], list[list[str]]]:
        satisfying = () if self.satisfaction is None else self.satisfaction.measures
        header = ["system", "query", *map(escape, self.eff.measures), *(f"P(Sat) {escape(m)}" for m in satisfying)]
        header.append("judged")
        rows = [
            [
                escape(system),
                escape(query),
                *(escape(self._value(q, s, m)) for m in range(len(self.eff.measures))),
                *(
                    escape(_number(float(self.satisfaction.p_sat[q, s, m]), self.digits))
                    for m in range(len(satisfying))
                    if self.satisfaction is not None
                ),
                escape(_percent(self.eff.judged[q, s])),
            ]
            for s, system in enumerate(self.eff.systems)
            for q, query in enumerate(self.eff.queries)
        ]
        return header, rows

    def _value(self, q: int, s: int, m: int) -> str:
        number = _number(self.eff.values[q, s, m], self.digits)
        if self.eff.lower is None or self.eff.upper is None:
            return number
        ends = (_number(array[q, s, m], self.digits) for array in (self.eff.lower, self.eff.upper))
        return f"{number} [{', '.join(ends)}]"

    def drawing(self) -> RenderableType:
        """The table for a terminal: best of each measure in bold, notes below."""
        from rich.console import Group
        from rich.text import Text

        header, rows = self._cells()
        best = {} if self.per_query else {(row, m + self._n_text): "bold green" for m, row in self._best().items()}
        table = FittedTable(header, rows, self._n_text, 2 if self.per_query else 1, best)
        return Group(table, *(Text(printable(line), style="dim") for line in self._foot()))

    def _best(self) -> dict[int, int]:
        """Row of the best system under each measure."""
        means = np.array([cell.mean for cell in self.summary]).reshape(-1, len(self.summary.measures))
        return {m: int(np.nanargmax(column)) for m, column in enumerate(means.T) if np.isfinite(column).any()}

    def _foot(self) -> list[str]:
        about = []
        uneven = not self.per_query and any("[" in with_interval(row.mean, row.low, row.high) for row in self.summary)
        if not self.per_query and any(math.isfinite(row.low) for row in self.summary):
            level = percent(self.summary.confidence)
            how = "± half of its" if self.summary.interval == "t" else "with its"
            ends = ", or its ends where it is cut off at 0 or 1" if self.summary.interval == "t" and uneven else ""
            about.append(f"Mean over queries {how} {level} interval ({self.summary.interval}){ends}.")
        if self.eff.lower is not None:
            which = "the last brackets" if uneven else "brackets"
            about.append(f"In {which}: bounds over all grades that unjudged documents could have.")
        if self.eff.error is not None and np.isfinite(self.eff.error).any() and np.nanmax(self.eff.error) > 0:
            about.append(f"Expected over ties; standard error of a query at most {np.nanmax(self.eff.error):.2g}.")
        return [*about, *self._about_users(), *self.eff.notes]

    def _about_users(self) -> list[str]:
        """Where P(Sat) comes from, and which measures have none."""
        if self.satisfaction is None:
            return []
        sources = list(dict.fromkeys(mapping.source for mapping in self.satisfaction.mappings if mapping.source))
        succeeds = f"P(Succ): share of queries with P(Sat) above {self.satisfaction.threshold:g}."
        told = [f"P(Sat): share of users satisfied ({'; '.join(sources) or 'own mappings'}). {succeeds}"]
        return [*(told if self.satisfaction.measures else []), *self.satisfaction.missing]


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "∞" if value == math.inf else "–"


def _percent(shares: Iterable[float]) -> str:
    """A share in percent, or the range of several."""
    known = [share for share in shares if math.isfinite(share)]
    if not known:
        return "–"
    low, high = f"{min(known) * 100:.0f}", f"{max(known) * 100:.0f}"
    return f"{low} %" if low == high else f"{low}–{high} %"
