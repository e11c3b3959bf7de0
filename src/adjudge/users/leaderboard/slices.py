"""Slices of queries by their attributes: a board for each, and whether differences between systems change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import polars as pl

from adjudge.arrays import Ints
from adjudge.errors import AdjudgeError, shown
from adjudge.formats.schema import Field, Schema, Table, Tabular
from adjudge.model.effectiveness import Effectiveness
from adjudge.registry import unknown
from adjudge.results import Column, Result
from adjudge.stats.interaction import interaction
from adjudge.stats.multiple import CORRECTIONS
from adjudge.stats.ranks import Sample, rank_sets
from adjudge.tables import Heading
from adjudge.tables import Table as Shown
from adjudge.text import counted, listed, percent, shown_p

_QUERIES = Schema((Field("query", needed=True), Field("dataset")))
_FEWEST = 3  # queries of a slice
_MOST_VALUES = 5  # of a number that is not cut into groups
_BLANK = ("", "nan", "na", "null")


@dataclass(frozen=True)
class SliceStanding:
    """Where a system stands on the queries of a slice."""

    slice: Annotated[str, Column("the slice", key=True)]
    system: Annotated[str, Column("the system", key=True)]
    n_queries: Annotated[int, Column("queries of the slice", "d", label="queries")]
    mean: Annotated[float, Column("mean over the queries of the slice", ".3f")]
    rank: Annotated[int, Column("rank by this mean; possible ranks", "d", ends=("rank_low", "rank_high"))]
    rank_low: Annotated[int, Column("best rank that is possible", "d", shown=False)]
    rank_high: Annotated[int, Column("worst rank that is possible", "d", shown=False)]
    tier: Annotated[int, Column("tier on this slice", "d")]
    shift: Annotated[float, Column("how much better than all queries let expect", "+.3f")]
    p_shift: Annotated[float, Column("its p-value, corrected for all slices and systems", "p", label="p")]


@dataclass(frozen=True, eq=False, repr=False)
class Slices(Result):
    """Boards by the values of one attribute, best system of the whole board first.

    ``p`` is that of any change of differences between systems, ``p_corrected`` allows for the number of attributes.
    """

    attribute: str
    rows: tuple[SliceStanding, ...]
    p: float
    p_corrected: float
    n_attributes: int
    confidence: float
    notes: tuple[str, ...]

    row_type = SliceStanding
    fact_names = ("attribute", "p", "p_corrected", "n_attributes", "confidence", "notes")

    @property
    def changes(self) -> bool:
        """Whether differences between systems are shown to change between slices."""
        return self.p_corrected <= 1 - self.confidence

    @property
    def title(self) -> str:
        """The answer in a line."""
        said = "change" if self.changes else "are not shown to change"
        p, n = shown_p(self.p_corrected), self.n_attributes
        corrected = f", corrected for {counted(n, 'attribute')}" if n > 1 else ""
        return (
            f"By {self.attribute}: differences between systems {said} (p {'' if p[0] == '<' else '= '}{p}{corrected})"
        )

    def _notes(self) -> list[str]:
        level = percent(self.confidence)
        return [
            f"Mean, rank and the ranks that are possible, at once on all slices with {level} confidence.",
            "▲ ▼: better or worse on the slice than all queries let expect, at the same level.",
            *self.notes,
        ]

    def table(self, *, digits: int | None = None) -> Shown:
        """Systems x slices: mean, rank and possible ranks."""
        mean, rank = (next(column for column in self.columns if column.name == name) for name in ("mean", "rank"))
        systems = list(dict.fromkeys(row.system for row in self.rows))
        columns: dict[str, list[str]] = {}
        for row in self.rows:
            mark = "" if row.p_shift > 1 - self.confidence else " ▲" if row.shift > 0 else " ▼"
            cell = f"{mean.text(row.mean, digits=digits)}, {rank.text(row.rank, row.rank_low, row.rank_high)}{mark}"
            columns.setdefault(f"{row.slice} ({row.n_queries})", []).append(cell)
        about = "mean, rank and possible ranks; the number of queries is in brackets"
        headings = [(Heading(name, about=about), cells) for name, cells in columns.items()]
        return self._table_of((Heading("system", "left"), systems), *headings)

    def __repr__(self) -> str:
        return f"<Slices: {self.title}>"


def slice_boards(
    eff: Effectiveness, given: Tabular, by: str | Iterable[str] | None, *, confidence: float, resamples: int, seed: int
) -> tuple[Slices, ...]:
    """Boards and tests for each attribute of a table of queries, or for those in ``by``."""
    attributes = _read_attributes(eff, given, None if by is None else [by] if isinstance(by, str) else list(by))
    found, lost = list[tuple[str, list[str], Ints, tuple[str, ...]]](), list[str]()
    for name, column in attributes.items():
        labels, groups, rule = _cut(column)
        sizes = np.bincount(groups[groups >= 0], minlength=len(labels))
        kept = [g for g in range(len(labels)) if sizes[g] >= _FEWEST]
        few = [f"{labels[g]} ({sizes[g]})" for g in range(len(labels)) if g not in kept]
        notes = [*rule, *([f"Left out, with fewer than {_FEWEST} queries: {listed(few, most=5)}."] if few else [])]
        if n_unknown := int((groups < 0).sum()):
            notes.append(f"{counted(n_unknown, 'query')} left out, without a value.")
        if len(kept) < 2:
            lost.append(f"{shown(name)} has {counted(len(kept), 'slice')} of {_FEWEST} queries or more")
            continue
        places = np.full(len(labels) + 1, -1)
        places[kept] = np.arange(len(kept))
        found.append((name, [labels[g] for g in kept], places[groups], tuple(notes)))
    if not found or (lost and by is not None):
        came = "; ".join(lost) or "no attribute"
        raise AdjudgeError(f"slices: expected attributes with at least 2 slices of {_FEWEST} queries, got {came}")
    no_slices = tuple(f"No slices: {reason}." for reason in lost)
    return _compared(eff, found, no_slices, confidence=confidence, resamples=resamples, seed=seed)


def _compared(
    eff: Effectiveness, found: Sequence[Any], lost: tuple[str, ...], *, confidence: float, resamples: int, seed: int
) -> tuple[Slices, ...]:
    """A board for each slice, all ranks at once, and a test for each attribute."""
    matrix, alpha = eff.matrix(), 1 - confidence
    names = list(dict.fromkeys(eff.datasets))
    strata = np.array([names.index(name) for name in eff.datasets] or [0] * len(matrix))
    n_slices, made = sum(len(labels) for _, labels, *_ in found), []
    for name, labels, groups, notes in found:
        inside = groups >= 0
        tested = interaction(matrix[inside], groups[inside], strata=strata[inside], resamples=resamples, seed=seed)
        rows = []
        for g, label in enumerate(labels):
            part = matrix[groups == g]
            ranks = rank_sets(Sample.of(part), confidence=1 - alpha / n_slices, resamples=resamples, seed=seed)
            columns = (ranks.means, ranks.rank, ranks.low, ranks.high, ranks.tier, tested.shift[g],
                       np.minimum(tested.p_shift[g] * len(found), 1.0))  # fmt: skip
            rows += [
                SliceStanding(label, system, len(part), *(column[s].item() for column in columns))
                for s, system in enumerate(eff.systems)
            ]
        made.append(Slices(name, tuple(rows), tested.p, tested.p, len(found), confidence, notes))
    corrected = CORRECTIONS["holm"]([each.p for each in made]).tolist()
    made = [replace(each, p_corrected=p) for each, p in zip(made, corrected, strict=True)]
    return (*made[:-1], replace(made[-1], notes=(*made[-1].notes, *lost)))


def _read_attributes(eff: Effectiveness, given: Tabular, by: Sequence[str] | None) -> dict[str, pl.Series]:
    """The columns of a table of queries, in the order of the queries of effectiveness."""
    table: Table = _QUERIES.open(given)
    keys = [place for name in ("query", "dataset") if (place := table.place(_QUERIES.field(name))) is not None]
    records = _QUERIES.read(table)
    queries = records["query"]
    if "dataset" in records and not set(queries) >= set(eff.queries):
        queries = pl.select(pl.format("{}/{}", records["dataset"], queries)).to_series()
    table.refuse_repeats(pl.DataFrame({"query": queries}))
    row_of = {query: row for row, query in enumerate(queries)}
    if lacking := [query for query in eff.queries if query not in row_of]:
        came = listed([shown(query) for query in lacking], most=3)
        raise table.error(f"expected a row for every query, got none for {came}")
    names = [name for i, name in enumerate(table.names) if i not in keys and name.strip()]
    for name in by or ():
        if name not in names:
            raise unknown("attribute of queries", name, names)
    rows = [row_of[query] for query in eff.queries]
    return {name: table.frame.to_series(list(table.names).index(name))[rows].alias(name) for name in by or names}


def _cut(column: pl.Series) -> tuple[list[str], Ints, list[str]]:
    """Names of the groups of an attribute, the group of each query (-1: unknown), and the rule, if numbers were cut.

    >>> _cut(pl.Series("length", [3, 9, 4, 8, 5, 7, 6, None]))[:2]
    (['up to 5', 'above 5, up to 7', 'above 7'], array([ 0,  2,  0,  2,  0,  1,  1, -1]))
    >>> _cut(pl.Series("genre", ["rock", "folk", "", "rock"]))[:2]
    (['folk', 'rock'], array([ 1,  0, -1,  1]))
    """
    text = column.cast(pl.String).str.strip_chars()
    text = text.set(text.str.to_lowercase().is_in(_BLANK).fill_null(True), None)
    numbers = text.cast(pl.Float64, strict=False)
    known = numbers.drop_nulls()
    if len(known) == len(text.drop_nulls()) and known.n_unique() > _MOST_VALUES:
        low, high = np.quantile(known.to_numpy(), [1 / 3, 2 / 3], method="inverted_cdf").tolist()
        values = numbers.fill_null(np.nan).to_numpy()
        groups = np.where(np.isnan(values), -1, (values > low).astype(np.int64) + (values > high))
        labels = [f"up to {low:g}", f"above {low:g}, up to {high:g}", f"above {high:g}"]
        return labels, groups, [f"{column.name} is cut at its terciles, {low:g} and {high:g}."]
    is_number = len(known) == len(text.drop_nulls())
    labels = sorted(text.drop_nulls().unique().to_list(), key=float if is_number else str)
    index = {label: g for g, label in enumerate(labels)}
    return labels, np.array([-1 if label is None else index[label] for label in text]), []
