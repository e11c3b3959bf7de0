"""Effectiveness that was computed before: tables of earlier results, or of another tool.

====== =========================================================================================================
long   a row for every system, query and measure, in columns for them and for the value, as ``adjudge score
       --per-query`` (``--csv`` and ``--json``), ir_measures and PyTerrier write it; with a column for the
       assessor, effectiveness by each assessor. Other columns are dropped
wide   a row for every query, a column for every system, one measure. The first column holds the queries if it has
       no name, a name of queries, or mostly values that are not numbers; else queries are q1, q2, …
====== =========================================================================================================

Both as CSV, TSV, Parquet, JSON records or lines, or a data frame; text as in :mod:`adjudge.formats.source`, but always
with a header. Empty cells, ``NaN``, ``NA`` and ``null`` are missing values.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from adjudge.arrays import Floats
from adjudge.errors import InputError, shown, unknown, warn
from adjudge.formats.base import FORMATS, Kind
from adjudge.formats.columns import COLUMNS, fold, hint, listed_names, naming_columns, places_of, places_said
from adjudge.formats.schema import (
    Field,
    Schema,
    Table,
    Tabular,
    is_frame,
    table_of_frame,
    table_of_records,
    with_points,
)
from adjudge.formats.source import SPACES, Source, is_json, is_number, json_lines, open_source, parse_json
from adjudge.model.effectiveness import AssessedEffectiveness, Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.model.vocabulary import Vocabulary

_Cells = tuple[dict[str, tuple[str, ...]], dict[str, Floats]]  # names by axis, and arrays of that shape
_AXES = ("query", "system", "assessor", "measure")
_MISSING = ("nan", "-nan", "na", "null")
_LONG = Schema(
    (
        Field("query", needed=True, weak=False),
        Field("system", weak=True),
        Field("assessor"),
        Field("measure"),
        Field("value", "number", needed=True, full=False, weak=False, blank=_MISSING),
        *(Field(name, "number", full=False, blank=_MISSING) for name in ("lower", "upper", "error", "judged")),
    ),
    is_quoted=None,
)
_INDEX = {*COLUMNS["query"].tiers[0], *COLUMNS["query"].tiers[1], "id", ""}  # names of queries in a wide table
_OTHERS: dict[Kind, str] = {"judgments": "judgments", "runs": "a run"}
_MEASURE = "effectiveness"
_MOST_CELLS = 250_000_000  # two gigabytes, unless at least every tenth is filled


def read_effectiveness(
    given: Tabular, *, measure: str | None = None, columns: Mapping[str, str] | str | None = None
) -> Effectiveness | AssessedEffectiveness:
    """Effectiveness that was computed before: a table file (``-`` is standard input), a data frame or records.

    ``measure`` names the measure of a table that does not (``effectiveness`` if not given), and chooses one from a
    table with several. Names keep their spelling and order of appearance; a long table without systems is one system,
    named after its file. ``columns`` says which column holds what where names do not: ``{"system": "engine", "value":
    "result"}``. Share judged, bounds and error are kept where there are any.

    With a column for the assessor, the result is by assessor. Missing values are NaN, with a warning, except for
    queries that an assessor did not judge at all. Effectiveness may be outside [0, 1]. Refused, with their line: text
    or infinity instead of a number, anything that comes twice, and tables of something else (runs, judgments, means).

    >>> frame = pl.DataFrame({"name": ["a", "b"], "qid": [7, 7], "measure": ["AP", "AP"], "value": [0.5, 0.25]})
    >>> read_effectiveness(frame).mean()
    {'AP': {'a': 0.5, 'b': 0.25}}
    >>> wide = read_effectiveness(pl.DataFrame({"a": [0.5, 0.7], "b": [0.25, 0.45]}), measure="nDCG@10")
    >>> wide.queries, wide.mean()
    (('q1', 'q2'), {'nDCG@10': {'a': 0.6, 'b': 0.35}})
    """
    with naming_columns(columns):
        table, notes = _open(given)
        found = {
            column.name for column in _LONG.fields if places_of(table.names, column.name, needed=bool(column.weak))
        }
        _refuse_runs_and_judgments(table, found)
        if found.issuperset({"query", "value"}) and found & {"system", "measure", "assessor"}:
            axes, arrays = _from_long(table, measure)
        else:
            _refuse_half_long(table)
            axes, arrays = _from_wide(table, measure)
        notes = (*_note_gaps(table, axes, arrays["value"]), *notes)
    inputs = () if table.source is None else ((table.source.name, table.source.sha256),)
    provenance = Provenance(inputs, {} if measure is None else {"measure": measure})
    values, (queries, systems, *assessors, measures) = arrays["value"], axes.values()
    if assessors:
        return AssessedEffectiveness(values, queries, systems, assessors[0], measures, notes, provenance)
    lower, upper = (arrays.get(name) if {"lower", "upper"} <= set(arrays) else None for name in ("lower", "upper"))
    judged, error = arrays.get("judged", np.full_like(values, np.nan)), arrays.get("error")
    return Effectiveness(values, queries, systems, measures, judged, lower, upper, error, (), notes, provenance)


def _open(given: Tabular) -> tuple[Table, Sequence[str]]:
    """The table of a file or a data frame, and the notes that ``adjudge score --per-query --json`` writes."""
    notes: Sequence[str] = ()
    if is_frame(given):
        frame: Any = given
        if not isinstance(frame, pl.DataFrame | pl.LazyFrame):  # the index of a wide frame of pandas holds the queries
            index = frame.index
            if index.nlevels == 1 and index.name is None and index.tolist() != list(range(len(frame))):
                frame = frame.reset_index(names="")
        table = table_of_frame(frame)
    elif isinstance(given, list | Mapping):
        table = _LONG.open(given)
    elif not isinstance(given, str | os.PathLike):
        raise InputError(f"expected effectiveness as a file or a data frame, got {shown(type(given).__name__)}")
    else:
        source = open_source(given)
        content = parse_json(source) if is_json(source) and json_lines(source) is None else None
        if isinstance(content, Mapping):
            notes = tuple(map(str, content["notes"])) if isinstance(content.get("notes"), list) else ()
            content = content.get("effectiveness", content)
        if content is not None and not isinstance(content, list):
            raise source.error("expected a list of records, or the JSON of 'adjudge score --per-query'")
        table = _LONG.open(source) if content is None else table_of_records(content, source)
        if table.heading is not None:
            _refuse_headless(source, table.names, table.heading)
    if not table.height:
        raise table.error("expected at least one row of data, got none")
    objects = [_as_text(column) if column.dtype == pl.Object else column for column in table.frame]
    return replace(table, frame=pl.DataFrame(objects)), notes


def _refuse_headless(source: Source, names: Sequence[str], line: int) -> None:
    """Refuse a first line of data: of a TREC file, or with numbers instead of names of systems."""
    if fold(names[0]) in _INDEX or not (len(names) == 1 or any(map(is_number, names))):
        return
    for kind, what in _OTHERS.items():
        if FORMATS["trec"].sniff(source, kind):
            raise source.error(f"expected effectiveness, but this looks like {what}")
    if all(map(is_number, names[1:] or names)):
        raise source.error(f"expected a header with the names of the systems, got {shown(names[-1])}", line)


def _refuse_runs_and_judgments(table: Table, found: set[str]) -> None:
    """Refuse tables that have a query and a document in every row."""
    if "query" not in found or "measure" in found or not places_of(table.names, "document"):
        return
    for what, *typical in (("judgments", "grade"), ("a run", "score", "rank")):
        if any(places_of(table.names, target) for target in typical):
            came = f"{what}: it has the columns {listed_names(table.names)}"
            raise table.header_error(f"expected effectiveness, but this looks like {came}")


def _refuse_half_long(table: Table) -> None:
    """Refuse tables that have systems, measures or assessors in rows, but no query or no value, such as means."""
    axes = ("system", "measure", "assessor")
    named = {place for axis in axes for place in places_of(table.names, axis, needed=axis == "system")}
    if any(_is_text(table, place) for place in named):
        wanted = "columns for system, query and value, or a row for every query and a column for every system"
        came = listed_names(table.names) + hint("value", about="say which is which")
        raise table.header_error(f"expected {wanted}, got the columns {came}")


def _from_long(table: Table, measure: str | None) -> _Cells:
    if measure is not None and (place := table.place(_LONG.field("measure"))) is not None:
        names = table.read(replace(_LONG.field("measure"), full=False), place)
        rows = (names == measure).fill_null(False).to_numpy().nonzero()[0]
        if names.null_count() < table.height:
            if not len(rows):
                raise unknown("measure", measure, names.drop_nulls().unique())
            table = table.only(rows)
    columns = dict(_LONG.read(table).columns)
    keys = [axis for axis in _AXES if axis in columns]
    _refuse_means(columns["query"], table)
    defaults = {"system": "run" if table.source is None else table.source.stem, "measure": measure or _MEASURE}
    numbers = {name: columns[name].fill_null(math.nan).to_numpy() for name in columns if name not in keys}
    absent = [pl.lit(name).alias(axis) for axis, name in defaults.items() if axis not in keys]
    axes = [axis for axis in _AXES if axis in keys or axis in defaults]
    frame = pl.DataFrame([columns[axis] for axis in keys])
    return _spread(frame.with_columns(absent).select(axes), numbers, table)


def _spread(keys: pl.DataFrame, numbers: Mapping[str, Floats], table: Table) -> _Cells:
    """Put every row into its cell; a cell that is filled twice is refused."""
    names = {axis: Vocabulary() for axis in keys.columns}
    codes = [names[axis].encode(keys[axis]) for axis in keys.columns]
    shape = tuple(map(len, names.values()))
    if math.prod(shape) > max(_MOST_CELLS, 10 * keys.height):
        came = f"{keys.height} rows for {' x '.join(map(str, shape))} ({' x '.join(names)})"
        raise table.error(f"expected most systems to have most queries, got {came}")
    flat = np.ravel_multi_index(codes, shape)
    if not pl.Series(flat).is_first_distinct().all():
        table.refuse_repeats(keys)
    arrays = {name: np.full(shape, np.nan) for name in numbers}
    for name, values in numbers.items():
        arrays[name].ravel()[flat] = values
    return {axis: tuple(known) for axis, known in names.items()}, arrays


def _from_wide(table: Table, measure: str | None) -> _Cells:
    names = [name.strip(SPACES) for name in table.names]
    columns = [table.frame.to_series(i) for i in range(len(names))]
    systems = [i for i, name in enumerate(names) if name or i == 0 or len(_present(columns[i]))]
    if names[0] == "" and len(names) > 1 and fold(names[1]) in _INDEX:
        systems = systems[1:]  # row numbers of a data frame
    first = systems[0]
    queries = tuple(f"q{row + 1}" for row in range(table.frame.height))
    if fold(names[first]) in _INDEX or places_said(names).get("query") == first or _is_text(table, first):
        systems = systems[1:]
        queries = _distinct_queries(table, first)
    if not systems:
        raise table.header_error(f"expected a column for every system, got only {listed_names(table.names)}")
    for i in systems:
        if not names[i]:
            raise table.header_error(f"expected a system as the name of column {i + 1}, got nothing")
        if names[i] in names[first:i]:
            raise table.header_error(f"expected each column once, got {shown(names[i])} twice")
    values = np.column_stack([_read_system(table, i) for i in systems])
    if first == systems[0] and _is_numbering(values):
        came = f"the whole numbers of the column {shown(names[first])}"
        raise table.header_error(f"expected effectiveness, got {came}: call it 'query', or number queries before it")
    axes = {"query": queries, "system": tuple(names[i] for i in systems), "measure": (measure or _MEASURE,)}
    return axes, {"value": values[:, :, None]}


def _read_system(table: Table, place: int) -> Floats:
    """The effectiveness of a system, NaN where it is missing."""
    wanted = f"a finite number for the system {shown(table.names[place])}"
    system = Field(table.names[place], "number", full=False, holds=None, blank=_MISSING, wanted=wanted)
    values: Floats = table.read(system, place).fill_null(math.nan).to_numpy()
    return values


def _distinct_queries(table: Table, place: int) -> tuple[str, ...]:
    queries = table.read(_LONG.field("query"), place)
    _refuse_means(queries, table)
    again = queries.is_first_distinct().not_().arg_true()
    if len(again):
        came = f"{shown(queries[again[0]])} again{hint('system', 'query', 'value', about='where rows are not queries')}"
        raise table.error(f"expected each query once, got {came}", again[0])
    return tuple(queries)


def _refuse_means(queries: pl.Series, table: Table) -> None:
    why = "expected a query, got 'all', which is trec_eval's name for the mean over queries"
    table.refuse((queries == "all").to_numpy(), lambda row: why)


def _is_numbering(values: Floats) -> bool:
    """Whether the first column has increasing whole numbers beyond 1, while others do not hold whole numbers."""
    is_whole, first = (values == np.round(values)).all(axis=0), values[:, 0]
    return bool(is_whole[0] and not is_whole[1:].all() and (np.diff(first) > 0).all() and len(first) > 1 < first[-1])


def _as_text(column: pl.Series) -> pl.Series:
    if column.dtype in (pl.Object, pl.Binary) or column.dtype.is_nested():
        return pl.Series([None if item is None else str(item) for item in column.to_list()], dtype=pl.String)
    return column.cast(pl.String).str.strip_chars(SPACES)


def _present(column: pl.Series) -> pl.Series:
    """The values that do not count as missing: numbers as they are, anything else as text."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.drop_nulls()
    text = _as_text(column)
    return text.set(text.str.to_lowercase().is_in(("", *_MISSING)), None).drop_nulls()


def _is_text(table: Table, place: int) -> bool:
    """Whether most values of a column are not numbers."""
    column = table.frame.to_series(place)
    given = _present(with_points(column) if table.has_decimal_commas else column)
    return given.cast(pl.Float64, strict=False).null_count() * 2 > len(given)


def _note_gaps(table: Table, axes: Mapping[str, tuple[str, ...]], values: Floats) -> list[str]:
    """Warn about empty cells, if any; those of queries that an assessor did not judge are meant to be empty."""
    empty = np.isnan(values)
    if empty.all():
        raise table.error("expected effectiveness, got no value at all")
    if "assessor" in axes:
        empty &= ~empty.all(axis=1, keepdims=True)
    if not empty.any():
        return []
    first = zip(axes.items(), np.argwhere(empty)[0], strict=True)
    place = ", ".join(f"{axis} {shown(names[i])}" for (axis, names), i in first)
    note = str(table.error(f"empty cells (NaN): {np.count_nonzero(empty)}, first {place}."))
    warn(note, stacklevel=3)
    return [note]
