"""The table of ``adjudge score``: systems x measures, or every query."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.choices import Interval
from adjudge.errors import AdjudgeError
from adjudge.model.effectiveness import Effectiveness
from adjudge.reports import latex
from adjudge.reports.tables import FittedTable, as_csv, as_json, printable
from adjudge.stats.intervals import percent, with_interval
from adjudge.stats.summary import MeanEffectiveness, Summary, summarize

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

    @classmethod
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
    ) -> ScoreTable:
        """Summarise effectiveness for showing."""
        if not 0 <= digits <= 15:
            raise AdjudgeError(f"'digits' must be from 0 to 15, got {digits}")
        summary = summarize(eff, confidence=confidence, interval=interval, sort=sort)
        return cls(eff.select(systems=summary.systems), summary, digits, per_query, command)

    def text(self, style: str) -> str:
        """The table as ``csv``, ``json`` or ``latex``."""
        styles: dict[str, Callable[[], str]] = {"csv": self._csv, "json": self._json, "latex": self._latex}
        return styles[style]()

    def _records(self) -> list[dict[str, Any]]:
        if not self.per_query:
            return self.summary.to_dicts()
        return self.eff.to_polars().to_dicts()

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
        header, rows = self._cells(latex.escape)
        align = "l" * self._n_text + "r" * (len(header) - self._n_text)
        return latex.booktabs(
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
        header = ["system", *(["team"] if self._has_teams else []), *map(escape, measures), "judged", "queries"]
        rows = []
        for cells in by_system:
            team = [escape(cells[0].team or "")] if self._has_teams else []
            rows.append(
                [
                    escape(cells[0].system),
                    *team,
                    *(escape(self._mean(cell)) for cell in cells),
                    escape(_percent([cell.judged for cell in cells])),
                    self._queries(cells),
                ]
            )
        return header, rows

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
        header = ["system", "query", *map(escape, self.eff.measures), "judged"]
        rows = [
            [
                escape(system),
                escape(query),
                *(escape(self._value(q, s, m)) for m in range(len(self.eff.measures))),
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
        if not self.per_query and any(math.isfinite(row.low) for row in self.summary):
            level = percent(self.summary.confidence)
            how = "± half of its" if self.summary.interval == "t" else "with its"
            about.append(f"Mean over queries {how} {level} interval ({self.summary.interval}).")
        if self.eff.lower is not None:
            about.append("In brackets: lowest and highest effectiveness over all grades of unjudged documents.")
        if self.eff.error is not None and np.isfinite(self.eff.error).any() and np.nanmax(self.eff.error) > 0:
            about.append(f"Expected over ties; standard error of a query at most {np.nanmax(self.eff.error):.2g}.")
        return [*about, *self.eff.notes]


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "∞" if value == math.inf else "–"


def _percent(shares: Iterable[float]) -> str:
    """A share in percent, or the range of several."""
    known = [share for share in shares if math.isfinite(share)]
    if not known:
        return "–"
    low, high = f"{min(known) * 100:.0f}", f"{max(known) * 100:.0f}"
    return f"{low} %" if low == high else f"{low}–{high} %"
