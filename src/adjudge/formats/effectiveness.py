"""Effectiveness that was computed before: tables of last year's results, or of another tool, as they are.

====== =========================================================================================================
long   a row for every system, query and measure, in columns for them and for the value, as ``adjudge score
       --per-query`` writes it (``--csv`` and ``--json``), and ir_measures and PyTerrier; with a column for the
       assessor, effectiveness by each assessor. Columns with other names are dropped
wide   a row for every query, a column for every system, one measure. The first column is the query when it has no
       name, one that queries have, or mostly values that are no numbers; else queries are q1, q2, …
====== =========================================================================================================

Both as CSV, TSV, Parquet, JSON records or lines, or a data frame; text as in :mod:`adjudge.formats.tables`, but always
with a header. Empty cells, ``NaN``, ``NA`` and ``null`` are missing values.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.arrays import Floats
from adjudge.errors import InputError, shown, unknown, warn
from adjudge.formats.base import FORMATS, Kind
from adjudge.formats.columns import (
    COLUMNS,
    TABLES,
    ErrorAt,
    column_of,
    fold,
    hint,
    identifiers,
    listed,
    naming_columns,
    place_of,
    places_of,
    places_said,
    with_points,
)
from adjudge.formats.inputs import STDIN, is_frame, is_path, open_source, pandas_columns
from adjudge.formats.json import json_lines, parse_json
from adjudge.formats.source import BLANKS, Source, is_number
from adjudge.formats.tables import find_layout, line_of, parquet_frame, read_cells
from adjudge.model.effectiveness import AssessedEffectiveness, Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.model.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pandas as pd

_LONG = ("system", "query", "assessor", "measure", "value", "lower", "upper", "error", "judged")
_Cells = tuple[dict[str, tuple[str, ...]], dict[str, Floats]]  # names by axis, and arrays of that shape
_AXES = ("query", "system", "assessor", "measure")
_INDEX = {*COLUMNS["query"].tiers[0], *COLUMNS["query"].tiers[1], "id", ""}  # names of the queries of a wide table
_OTHERS: dict[Kind, str] = {"judgments": "judgments", "runs": "a run"}
_MISSING = ["", "nan", "-nan", "na", "null"]
_MEASURE = "effectiveness"
_MOST_CELLS = 250_000_000  # two gigabytes, unless at least every tenth is filled


def read_effectiveness(
    given: str | Path | pl.DataFrame | pl.LazyFrame | pd.DataFrame,
    *,
    measure: str | None = None,
    columns: Mapping[str, str] | str | None = None,
) -> Effectiveness | AssessedEffectiveness:
    """Effectiveness that was computed before: a table file (``-`` is standard input), or a data frame.

    ``measure`` names the measure of a table that does not say it (``effectiveness`` when not given), and chooses one
    from a table with several. Names stay as they are written, in the order in which they first come; a long table
    without systems is one system, called as its file. ``columns`` says which column holds what where names do not:
    ``{"system": "engine", "value": "result"}``. Share judged, bounds and error are kept where there are any.

    With a column for the assessor, the answer is by assessor. Missing values are NaN, with a warning, but for queries
    that an assessor did not judge at all. Effectiveness may be outside [0, 1]. Refused, with their line: text or
    infinity in place of a number, anything that comes twice, and tables of something else (runs, judgments, means).

    >>> frame = pl.DataFrame({"name": ["a", "b"], "qid": [7, 7], "measure": ["AP", "AP"], "value": [0.5, 0.25]})
    >>> read_effectiveness(frame).mean()
    {'AP': {'a': 0.5, 'b': 0.25}}
    >>> wide = read_effectiveness(pl.DataFrame({"a": [0.5, 0.7], "b": [0.25, 0.45]}), measure="nDCG@10")
    >>> wide.queries, wide.mean()
    (('q1', 'q2'), {'nDCG@10': {'a': 0.6, 'b': 0.35}})
    """
    with naming_columns(columns):
        return _effectiveness(_table(given), measure)


def _effectiveness(table: _Table, measure: str | None) -> Effectiveness | AssessedEffectiveness:
    if table.frame.height == 0:
        raise table.error("expected at least one row with effectiveness, got none", None)
    found = {target for target in _LONG if places_of(table.names, target, needed=target == "system")}
    _refuse_runs_and_judgments(table, found)
    if found.issuperset({"query", "value"}) and found & {"system", "measure", "assessor"}:
        axes, arrays = _from_long(table, _places(table), measure)
    else:
        _refuse_half_long(table)
        axes, arrays = _from_wide(table, measure)
    notes = (*_gaps(table, axes, arrays["value"]), *table.notes)
    return _result(axes, arrays, notes, Provenance(table.inputs, {} if measure is None else {"measure": measure}))


@dataclass(frozen=True)
class _Table:
    """Columns as they came: their names may repeat; ``error`` knows the line of a row, ``heading`` that of names."""

    frame: pl.DataFrame
    names: Sequence[str]
    error: ErrorAt
    heading: int | None = None
    label: str | None = None
    stem: str = "run"
    inputs: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def header_error(self, message: str) -> InputError:
        """Make the error for what is wrong with the names of columns."""
        return InputError(message, source=self.label, line=self.heading)


def _table(given: Any) -> _Table:
    """Columns of a file or a data frame."""
    if is_frame(given):
        return _from_frame(given)
    if not is_path(given):
        raise InputError(f"expected effectiveness as a file or a data frame, got {shown(type(given).__name__)}")
    source = open_source(STDIN if os.fspath(given) == "-" else Path(given))
    if source.begins(b"PAR1"):
        table = _from_parquet(source)
    else:
        table = _from_json(source) if source.text.lstrip()[:1] in (b"{", b"[") else _from_text(source)
    return replace(table, label=source.name, stem=source.stem, inputs=((source.name, source.sha256),))


def _by_row(source: str | None, lines: Sequence[int] | None = None) -> ErrorAt:
    """Errors with the line of a row, or with its number where there are no lines."""

    def error(message: str, row: int | None) -> InputError:
        place = f"row {row + 1}: " if row is not None and lines is None else ""
        return InputError(place + message, source=source, line=None if row is None or lines is None else lines[row])

    return error


def _from_frame(frame: Any) -> _Table:
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return _Table(frame, frame.columns, _by_row(None))
    index = frame.index
    if index.nlevels == 1 and index.name is None and index.tolist() != list(range(len(frame))):
        frame = frame.reset_index(names="")  # of a wide table, the queries
    names, columns = pandas_columns(frame)
    return _Table(pl.DataFrame([c.alias(str(i)) for i, c in enumerate(columns)]), names, _by_row(None))


def _from_parquet(source: Source) -> _Table:
    frame = parquet_frame(source)
    return _Table(frame, frame.columns, _by_row(source.name))


def _from_json(source: Source) -> _Table:
    """Records in a list, one a line, or in what ``adjudge score --per-query --json`` writes."""
    lines = json_lines(source)
    content: Any = parse_json(source) if lines is None else [record for _, record in lines]
    error = _by_row(source.name, None if lines is None else [number for number, _ in lines])
    notes: tuple[str, ...] = ()
    if isinstance(content, Mapping) and "effectiveness" in content:
        notes = tuple(map(str, content["notes"])) if isinstance(content.get("notes"), list) else ()
        content = content["effectiveness"]
    if not isinstance(content, list):
        raise error("expected a list of records, or the JSON of 'adjudge score --per-query'", None)
    names: dict[str, None] = {}
    for row, record in enumerate(content):
        if not isinstance(record, Mapping):
            raise error(f"expected a record with names and values, got {shown(record)}", row)
        names.update(dict.fromkeys(record))
    columns = [column_of(name, [record.get(name) for record in content]) for name in names]
    return _Table(pl.DataFrame(columns), list(names), error, notes=notes)


def _from_text(source: Source) -> _Table:
    """CSV or TSV with a header."""
    source.uncommented()  # a file of comments only is refused as that
    layout = find_layout(source, "\t,;", lambda fields: sum(map(bool, fields)) > 1)
    layout = replace(layout, has_header=True, skipped=max(layout.skipped, layout.line))
    names = layout.names
    _refuse_headless(source, names, layout.line)

    def error(message: str, row: int | None) -> InputError:
        return source.error(message, None if row is None else line_of(source, layout, row))

    frame = read_cells(source, layout)
    if layout.has_decimal_commas:
        named = {place for axis in _AXES for place in places_of(names, axis, needed=axis == "system")}
        frame = pl.DataFrame([column if i in named else with_points(column) for i, column in enumerate(frame)])
    return _Table(frame, names, error, heading=layout.line)


def _refuse_headless(source: Source, names: Sequence[str], line: int) -> None:
    """Refuse a first line that holds data: that of a TREC file, or numbers where systems should be named."""
    if fold(names[0]) in _INDEX or not (len(names) == 1 or any(map(is_number, names))):
        return
    for kind, what in _OTHERS.items():
        if FORMATS["trec"].sniff(source, kind):
            raise source.error(f"expected effectiveness, but this looks like {what}")
    if all(map(is_number, names[1:] or names)):
        raise source.error(f"expected a header with the names of the systems, got {shown(names[-1])}", line)


def _refuse_runs_and_judgments(table: _Table, found: set[str]) -> None:
    """Refuse tables that have a query and a document in every row."""
    if "query" not in found or "measure" in found or not places_of(table.names, "document"):
        return
    for kind, what in _OTHERS.items():
        typical = [target for target in TABLES[kind] if target in ("grade", "score", "rank")]
        if any(places_of(table.names, target) for target in typical):
            came = f"{what}: it has the columns {listed(table.names)}"
            raise table.header_error(f"expected effectiveness, but this looks like {came}")


def _refuse_half_long(table: _Table) -> None:
    """Refuse tables that name systems, measures or assessors in rows, but no query or no value: means, for example."""
    axes = ("system", "measure", "assessor")
    named = {place for axis in axes for place in places_of(table.names, axis, needed=axis == "system")}
    if any(_is_text(table.frame.to_series(place)) for place in named):
        wanted = "columns for system, query and value, or a row for every query and a column for every system"
        came = listed(table.names) + hint("value", about="say which is which")
        raise table.header_error(f"expected {wanted}, got the columns {came}")


def _places(table: _Table) -> dict[str, int]:
    """Which column holds what."""
    found = {
        target: place_of(table.names, target, lambda message, _: table.header_error(message), needed=target == "system")
        for target in _LONG
    }
    return {target: place for target, place in found.items() if place is not None}


def _from_long(table: _Table, places: Mapping[str, int], measure: str | None) -> _Cells:
    frame = table.frame.select(pl.nth(place).alias(target) for target, place in places.items())
    frame = frame.drop(name for name in frame.columns if name not in ("query", "value") and _is_empty(frame[name]))
    keys = [axis for axis in _AXES if axis in frame.columns]
    frame = frame.with_columns(_names(frame[axis], axis, table.error) for axis in keys)
    error = table.error
    if measure is not None and "measure" in keys:
        rows = (frame["measure"] == measure).arg_true()
        if not len(rows):
            raise unknown("measure", measure, frame["measure"].unique())
        frame = frame[rows]
        error = lambda message, row: table.error(message, None if row is None else rows[row])  # noqa: E731
    numbers = {name: _numbers(frame[name], f"as {name}", error) for name in frame.columns if name not in keys}
    defaults = {"system": table.stem, "measure": measure or _MEASURE}
    absent = [pl.lit(name).alias(axis) for axis, name in defaults.items() if axis not in keys]
    axes = [axis for axis in _AXES if axis in keys or axis in defaults]
    return _spread(frame.with_columns(absent).select(axes), numbers, error)


def _spread(keys: pl.DataFrame, numbers: Mapping[str, Floats], error: ErrorAt) -> _Cells:
    """Put every row into its cell; a cell that is filled twice is refused."""
    names = {axis: Vocabulary() for axis in keys.columns}
    codes = [names[axis].encode(keys[axis]) for axis in keys.columns]
    shape = tuple(map(len, names.values()))
    if math.prod(shape) > max(_MOST_CELLS, 10 * keys.height):
        came = f"{keys.height} rows for {' x '.join(map(str, shape))} ({' x '.join(names)})"
        raise error(f"expected most systems to have most queries, got {came}", None)
    flat = np.ravel_multi_index(codes, shape)
    again = pl.Series(flat).is_first_distinct().not_().arg_true()
    if len(again):
        cell = ", ".join(f"{axis} {shown(keys[axis][again[0]])}" for axis in keys.columns)
        raise error(f"expected each cell once, got {cell} again", again[0])
    arrays = {name: np.full(shape, np.nan) for name in numbers}
    for name, values in numbers.items():
        arrays[name].ravel()[flat] = values
    return {axis: tuple(known) for axis, known in names.items()}, arrays


def _from_wide(table: _Table, measure: str | None) -> _Cells:
    names = [name.strip(BLANKS) for name in table.names]
    columns = [table.frame.to_series(i) for i in range(len(names))]
    systems = [i for i, name in enumerate(names) if name or i == 0 or not _is_empty(columns[i])]
    if names[0] == "" and len(names) > 1 and fold(names[1]) in _INDEX:
        systems = systems[1:]  # numbers of rows that a data frame was written with
    first = systems[0]
    queries = tuple(f"q{row + 1}" for row in range(table.frame.height))
    if fold(names[first]) in _INDEX or places_said(names).get("query") == first or _is_text(columns[first]):
        systems = systems[1:]
        queries = _distinct_queries(columns[first], table.error)
    if not systems:
        raise table.header_error(f"expected a column for every system, got only {listed(table.names)}")
    for i in systems:
        if not names[i]:
            raise table.header_error(f"expected a system as the name of column {i + 1}, got nothing")
        if names[i] in names[first:i]:
            raise table.header_error(f"expected each column once, got {shown(names[i])} twice")
    values = np.column_stack([_numbers(columns[i], f"for the system {shown(names[i])}", table.error) for i in systems])
    if first == systems[0] and _is_numbering(values):
        came = f"the whole numbers of the column {shown(names[first])}"
        raise table.header_error(f"expected effectiveness, got {came}: call it 'query', or number queries before it")
    axes = {"query": queries, "system": tuple(names[i] for i in systems), "measure": (measure or _MEASURE,)}
    return axes, {"value": values[:, :, None]}


def _distinct_queries(column: pl.Series, error: ErrorAt) -> tuple[str, ...]:
    queries = _names(column, "query", error)
    again = queries.is_first_distinct().not_().arg_true()
    if len(again):
        came = f"{shown(queries[again[0]])} again{hint('system', 'query', 'value', about='where rows are not queries')}"
        raise error(f"expected each query once, got {came}", again[0])
    return tuple(queries)


def _is_numbering(values: Floats) -> bool:
    """Whether the first column counts on in whole numbers beyond 1, while others do not hold whole numbers."""
    is_whole, first = (values == np.round(values)).all(axis=0), values[:, 0]
    return bool(is_whole[0] and not is_whole[1:].all() and (np.diff(first) > 0).all() and len(first) > 1 < first[-1])


def _names(column: pl.Series, target: str, error: ErrorAt) -> pl.Series:
    """Identifiers as text; the measures of ir_measures are objects that print their names."""
    names = identifiers(_text(column) if column.dtype == pl.Object else column, target, error)
    if target == "query" and (names == "all").any():
        row = (names == "all").arg_true()[0]
        raise error("expected a query, got 'all', which is how trec_eval calls the mean over queries", row)
    return names


def _text(column: pl.Series) -> pl.Series:
    if column.dtype in (pl.Object, pl.Binary) or column.dtype.is_nested():
        return pl.Series([None if item is None else str(item) for item in column.to_list()], dtype=pl.String)
    return column.cast(pl.String).str.strip_chars(BLANKS)


def _present(column: pl.Series) -> pl.Series:
    """Numbers as they are, anything else as text, null where it counts as missing."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column
    text = _text(column)
    return text.set(text.str.to_lowercase().is_in(_MISSING), None)


def _is_empty(column: pl.Series) -> bool:
    return column.null_count() == len(column) or (column.dtype == pl.String and not any(_text(column).drop_nulls()))


def _is_text(column: pl.Series) -> bool:
    """Whether most of what a column holds are no numbers."""
    given = _present(column).drop_nulls()
    return given.cast(pl.Float64, strict=False).null_count() * 2 > len(given)


def _numbers(column: pl.Series, what: str, error: ErrorAt) -> Floats:
    """Finite numbers, NaN where there are none."""
    given = _present(column)
    values = given.cast(pl.Float64, strict=False)
    rows = ((values.is_null() & given.is_not_null()) | values.is_infinite().fill_null(False)).arg_true()
    if len(rows):
        raise error(f"expected a finite number {what}, got {shown(given[rows[0]])}", rows[0])
    return values.fill_null(math.nan).to_numpy()


def _result(
    axes: Mapping[str, tuple[str, ...]], given: Mapping[str, Floats], notes: tuple[str, ...], provenance: Provenance
) -> Effectiveness | AssessedEffectiveness:
    values, (queries, systems, *assessors, measures) = given["value"], axes.values()
    if assessors:
        return AssessedEffectiveness(values, queries, systems, assessors[0], measures, notes, provenance)
    lower, upper = (given.get(name) if {"lower", "upper"} <= set(given) else None for name in ("lower", "upper"))
    judged, error = given.get("judged", np.full_like(values, np.nan)), given.get("error")
    return Effectiveness(values, queries, systems, measures, judged, lower, upper, error, (), notes, provenance)


def _gaps(table: _Table, axes: Mapping[str, tuple[str, ...]], values: Floats) -> list[str]:
    """Say aloud how many cells are empty, if any; those of queries that an assessor did not judge are meant to be."""
    empty = np.isnan(values)
    if empty.all():
        raise table.error("expected effectiveness, got no value at all", None)
    if "assessor" in axes:
        empty &= ~empty.all(axis=1, keepdims=True)
    if not empty.any():
        return []
    first = zip(axes.items(), np.argwhere(empty)[0], strict=True)
    place = ", ".join(f"{axis} {shown(names[i])}" for (axis, names), i in first)
    text = str(InputError(f"empty cells (NaN): {np.count_nonzero(empty)}, first {place}.", source=table.label))
    warn(text, stacklevel=4)
    return [text]
