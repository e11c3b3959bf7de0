"""Objects of Python to plain tables: pandas and Polars frames, nested dictionaries, records and named tuples.

Column names are those of :mod:`adjudge.formats.columns`, so that frames of ir_measures, ir_datasets and PyTerrier pass
as they are. pandas is recognised without being imported, and its values are copied without pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from adjudge.errors import InputError, shown
from adjudge.formats.base import Kind
from adjudge.formats.columns import COLUMNS, canonical_frame, column_of, fold
from adjudge.formats.jsons import frame_from_nested


def frame_from_object(obj: object, kind: Kind, *, name: str) -> pl.DataFrame:
    """Make the plain table of whatever holds one; ``name`` is the system where nothing in it says so.

    A dictionary of frames is a dictionary of runs by system, whatever their columns say; a list of frames is one table,
    in which a run without a column for the system is called after its place, ``run1``, ``run2``, …
    """
    if is_frame(obj):
        return frame_from_pandas_or_polars(obj, kind, name=name)
    if isinstance(obj, Mapping):
        if kind == "runs" and obj and all(is_frame(value) for value in obj.values()):
            return _together([_run_called(str(key), frame) for key, frame in obj.items()])
        return frame_from_nested(obj, kind, name=name)
    if isinstance(obj, Iterable) and not isinstance(obj, str | bytes):
        items = list(obj)
        if items and all(is_frame(item) for item in items):
            return _from_frames(items, kind)
        if items and all(hasattr(item, "_fields") for item in items):
            return _from_tuples(items, kind, name=name)
        return frame_from_nested(items, kind, name=name)
    raise InputError(f"expected {kind} as a table, got {shown(type(obj).__name__)}")


def _run_called(system: str, obj: object) -> pl.DataFrame:
    """The run of a frame under the name that its dictionary has for it."""
    table = frame_from_pandas_or_polars(obj, "runs", name=system)
    if table["system"].n_unique() > 1:
        raise InputError(f"expected one system in the frame for {shown(system)}, got several")
    return table.with_columns(pl.lit(system).alias("system"))


def frame_from_pandas_or_polars(obj: object, kind: Kind, *, name: str) -> pl.DataFrame:
    """Make the plain table of a pandas or Polars data frame; named levels of a pandas index count as columns.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"qid": [1], "docno": ["d1"], "label": [2]})
    >>> frame_from_pandas_or_polars(frame, "judgments", name="qrels").row(0)
    ('1', 'd1', 2.0)
    """
    if isinstance(obj, pl.LazyFrame):
        obj = obj.collect()
    if isinstance(obj, pl.DataFrame):
        return canonical_frame(obj, kind, name=name, error=_error, names=_pyterrier_names(obj.columns, kind))
    if is_frame(obj):
        names, columns = pandas_columns(obj)
        frame = pl.DataFrame([column.alias(f"column_{i}") for i, column in enumerate(columns)])
        return canonical_frame(frame, kind, name=name, error=_error, names=_pyterrier_names(names, kind))
    raise InputError(f"expected a pandas or Polars data frame, got {shown(type(obj).__name__)}")


def _pyterrier_names(names: list[str], kind: Kind) -> list[str]:
    """Names of columns in which PyTerrier's ``name`` is the system; elsewhere ``name`` may be that of a document.

    >>> _pyterrier_names(["qid", "docno", "rank", "score", "name"], "runs")
    ['qid', 'docno', 'rank', 'score', 'system']
    """
    is_result = kind == "runs" and {"qid", "docno", "name"} <= set(names)
    system = COLUMNS["system"]
    if not is_result or any(fold(name) in tier for tier in system.tiers[: system.sure] for name in names):
        return names
    return ["system" if name == "name" else name for name in names]


def is_frame(obj: object) -> bool:
    """Whether something is a data frame of pandas or Polars."""
    if isinstance(obj, pl.DataFrame | pl.LazyFrame):
        return True
    return type(obj).__module__.startswith("pandas") and type(obj).__name__ == "DataFrame"


def _from_frames(frames: list[Any], kind: Kind) -> pl.DataFrame:
    """Make one table of several frames."""
    tables = [frame_from_pandas_or_polars(frame, kind, name=f"run{i}") for i, frame in enumerate(frames, start=1)]
    if kind == "metadata":
        return pl.concat(tables, how="diagonal_relaxed")
    return _together(tables)


def _together(tables: list[pl.DataFrame]) -> pl.DataFrame:
    columns = tables[0].columns
    other = next((table.columns for table in tables if set(table.columns) != set(columns)), None)
    if other is not None:
        raise InputError(f"expected frames with the same columns, got {', '.join(columns)} and {', '.join(other)}")
    return pl.concat([table.select(columns) for table in tables])


def _error(message: str, row: int | None) -> InputError:
    return InputError(message if row is None else f"row {row + 1}: {message}")


def pandas_columns(frame: Any) -> tuple[list[str], list[pl.Series]]:
    """Names and values, a named index first; names may repeat."""
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    return names, [_pandas_column(names[i], frame.iloc[:, i]) for i in range(len(names))]


def _pandas_column(name: str, column: Any) -> pl.Series:
    """Copy numbers as they lie; anything else value by value, with whatever pandas calls missing as null."""
    if column.dtype.kind in "iufb" and type(column.dtype).__module__.startswith("numpy"):
        return pl.Series(name, column.to_numpy())
    values = column.tolist()
    for row in column.isna().to_numpy().nonzero()[0]:
        values[row] = None
    return column_of(name, values)


def _from_tuples(items: list[Any], kind: Kind, *, name: str) -> pl.DataFrame:
    """Make a table of named tuples with the same fields, such as ``Qrel`` and ``ScoredDoc`` of ir_measures."""
    fields = items[0]._fields
    for row, item in enumerate(items):
        if item._fields != fields:
            raise _error(f"expected the fields {', '.join(fields)}, got {', '.join(item._fields)}", row)
    columns = [column_of(field, values) for field, values in zip(fields, zip(*items, strict=True), strict=True)]
    return canonical_frame(pl.DataFrame(columns), kind, name=name, error=_error)
