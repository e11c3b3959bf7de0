"""The table of ``adjudge score``: systems x measures, or every query."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adjudge.checks import CONFIDENCE, DIGITS, Interval, checked
from adjudge.model.effectiveness import Effectiveness
from adjudge.results import Column
from adjudge.stats.summary import Summary, share_range, summarize
from adjudge.tables import Heading, Table, as_csv, as_json, as_latex
from adjudge.text import with_interval
from adjudge.users.satisfaction import Satisfaction, SatisfactionMapping, satisfaction

_NUMBER = Column("effectiveness, or what follows from it", ".3f")


@dataclass(frozen=True)
class ScoreTable:
    """Effectiveness ready to be shown; ``table`` is for people, ``text`` for ``csv``, ``json`` and ``latex``."""

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

        With ``users``, P(Sat) and P(Succ) stand beside every measure that has a mapping, one of ``users`` or of the
        thesis; the other measures are named below the table.
        """
        summary = summarize(eff, confidence=confidence, interval=interval, sort=sort)
        chosen = eff.select(systems=summary.systems)
        satisfied = None if users is None else satisfaction(chosen, mappings=users, confidence=confidence)
        return cls(chosen, summary, digits, per_query, command, satisfied)

    def text(self, style: str, **paper: Any) -> str:
        """The table as ``csv``, ``json`` or ``latex``, this with options for :func:`adjudge.tables.as_latex`."""
        provenance = self.eff.provenance
        if style == "latex":
            comment, table = [f"Adjudge {provenance.version}", self.command or ""], self.table()
            shown = replace(table, title=self.summary.title) if paper.get("standalone") else replace(table, notes=())
            return as_latex([shown], comment=comment, **paper)
        records = self._query_records() if self.per_query else self._system_records()
        if style == "csv":
            return as_csv(records)
        if self.command is not None:
            provenance = provenance.with_settings(command=self.command)
        return as_json(
            {
                "effectiveness": records,
                "confidence": self.summary.confidence,
                "notes": self.eff.notes,
                "provenance": provenance.to_dict(),
            }
        )

    def _query_records(self) -> list[dict[str, Any]]:
        records = self.eff.to_dicts()
        if self.satisfaction is None:
            return records
        known = self.satisfaction
        p_sat = np.full(self.eff.values.shape, np.nan)
        for place, measure in enumerate(known.measures):
            p_sat[:, :, self.eff.measures.index(measure)] = known.p_sat[:, :, place]
        column = [None if math.isnan(value) else value for value in p_sat.transpose(2, 1, 0).ravel().tolist()]
        return [{**record, "p_sat": value} for record, value in zip(records, column, strict=True)]

    def _system_records(self) -> list[dict[str, Any]]:
        """Means, and what users say of them; None for measures without a mapping."""
        records = self.summary.to_dicts()
        names = {"p_sat": "mean", "p_sat_low": "low", "p_sat_high": "high", "p_succ": "success"}
        if self.satisfaction is not None:
            for record in records:
                record.update(dict.fromkeys(names))
                if record["measure"] in self.satisfaction.measures:
                    row = self.satisfaction.of(record["system"], record["measure"])
                    record.update({name: getattr(row, value) for name, value in names.items()})
        return records

    def table(self) -> Table:
        """The table for people: best of each measure in bold, notes below."""
        table = self._queries() if self.per_query else self._means()
        return replace(table, title="", notes=[*table.notes, *self._foot()])

    def _means(self) -> Table:
        table, satisfaction = self.summary.table(digits=self.digits), self.satisfaction
        if satisfaction is None:
            return table
        shown = []
        for measure in satisfaction.measures:
            rows = [satisfaction.of(system, measure) for system in self.summary.systems]
            sat = [with_interval(row.mean, row.low, row.high, self.digits) for row in rows]
            shown.append((Heading(f"P(Sat) {measure}"), sat))
            shown.append((Heading(f"P(Succ) {measure}"), [self._number(row.success) for row in rows]))
        return table.insert(len(table.headings) - 2, shown)  # before what was judged, and the queries

    def _queries(self) -> Table:
        satisfying = () if self.satisfaction is None else self.satisfaction.measures
        headings = [Heading("system", "left"), Heading("query", "left"), *map(Heading, self.eff.measures)]
        headings += [*(Heading(f"P(Sat) {measure}") for measure in satisfying), Heading("judged")]
        rows = [
            [
                system,
                query,
                *(self._value(q, s, m) for m in range(len(self.eff.measures))),
                *(
                    self._number(float(self.satisfaction.p_sat[q, s, m]))
                    for m in range(len(satisfying))
                    if self.satisfaction is not None
                ),
                share_range(self.eff.judged[q, s]),
            ]
            for s, system in enumerate(self.eff.systems)
            for q, query in enumerate(self.eff.queries)
        ]
        bounds = "In brackets: bounds over all grades that unjudged documents could have."
        return Table(headings, rows, notes=[] if self.eff.lower is None else [bounds], n_key=2)

    def _value(self, q: int, s: int, m: int) -> str:
        value = self._number(self.eff.values[q, s, m])
        if self.eff.lower is None or self.eff.upper is None:
            return value
        ends = (self._number(array[q, s, m]) for array in (self.eff.lower, self.eff.upper))
        return f"{value} [{', '.join(ends)}]"

    def _number(self, value: float) -> str:
        return _NUMBER.text(float(value), digits=self.digits)

    def _foot(self) -> list[str]:
        """What is expected over ties, where P(Sat) comes from, which measures have none, and other notes."""
        error, satisfaction, lines = self.eff.error, self.satisfaction, []
        if error is not None and np.isfinite(error).any() and np.nanmax(error) > 0:
            lines.append(f"Expected over ties; standard error of a query at most {np.nanmax(error):.2g}.")
        if satisfaction is not None and satisfaction.measures:
            sources = list(dict.fromkeys(mapping.source for mapping in satisfaction.mappings if mapping.source))
            lines.append(
                f"P(Sat): share of users satisfied ({'; '.join(sources) or 'own mappings'}). "
                f"P(Succ): share of queries with P(Sat) above {satisfaction.threshold:g}."
            )
        return [*lines, *(satisfaction.missing if satisfaction is not None else ()), *self.eff.notes]
