"""JSON and JSON lines, and the nested dictionaries of Python that look the same.

=========== ====================================================================================================
runs        ``{system: {query: {document: score}}}``, or without the system for a single run; a list of documents in
            rank order may stand for ``{document: score}``
judgments   ``{query: {document: grade}}`` or ``{query: {document: {assessor: grade}}}``, or partially ordered lists
            ``{query: [[document, document], [document]]}``, the most similar group first
metadata    ``{document: {column: value}}``
any         records ``[{"query": …, "document": …}, …]``, one record a line (JSON lines), or lists of values by column,
            with the column names of :mod:`adjudge.formats.columns`
=========== ====================================================================================================

Identifiers that are numbers become text. A query without documents adds nothing. A key that comes twice in one object,
of which other readers keep the last in silence, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl

from adjudge.errors import InputError, shown
from adjudge.formats.base import Format, Kind, register
from adjudge.formats.columns import COLUMNS, ErrorAt, fold, places_of
from adjudge.formats.schema import Table, is_frame, plain_table, table_of_columns, table_of_frame, table_of_records
from adjudge.formats.source import Source, has_json_lines, json_lines, parse_json

_ALL: frozenset[Kind] = frozenset({"runs", "judgments", "metadata"})
_SHAPES: dict[tuple[Kind, int, bool], tuple[str, ...]] = {
    ("runs", 3, False): ("system", "query", "document", "score"),
    ("runs", 2, False): ("query", "document", "score"),
    ("runs", 2, True): ("system", "query", "document"),
    ("runs", 1, True): ("query", "document"),
    ("judgments", 2, False): ("query", "document", "grade"),
    ("judgments", 3, False): ("query", "document", "assessor", "grade"),
    ("judgments", 1, True): ("query", "group", "document"),
}
"""Columns by kind, levels of dictionaries and whether lists lie below them."""

_WANTED: dict[Kind, str] = {
    "runs": "{system: {query: {document: score}}}",
    "judgments": "{query: {document: grade}}",
    "metadata": "{document: {column: value}}",
}


@register
class Json(Format):
    """JSON: one object or list a file."""

    name = "json"
    about = "JSON: nested {system: {query: {document: score}}}, or lists of records"
    kinds = _ALL
    writes = _ALL
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether the text begins with a brace or a bracket, and is not one object a line."""
        return source.head(1) != [] and source.text.lstrip()[:1] in (b"{", b"[") and not has_json_lines(source)

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read an object, a list of records or one record a line."""
        lines = json_lines(source)
        if lines is None:
            return _frame(parse_json(source), kind, name=source.stem, source=source)
        table = table_of_records([record for _, record in lines], source, [number for number, _ in lines])
        return plain_table(table, kind, name=source.stem)

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write nested objects where they hold the whole table, else a list of records."""
        nested = _nested(frame, kind)
        if nested is None:
            return ("[\n" + ",\n".join(_dumped(frame)) + "\n]\n").encode()
        return (json.dumps(nested, ensure_ascii=False, indent=1) + "\n").encode()


@register
class JsonLines(Json):
    """JSON lines: one record a line."""

    name = "jsonl"
    about = 'JSON lines: one record {"query": …, "document": …} a line'
    suffixes = (".jsonl", ".ndjson")
    rows_are_lines = True

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether there are several lines and the first is an object by itself."""
        return has_json_lines(source)

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write one record a line."""
        return "".join(f"{record}\n" for record in _dumped(frame)).encode()


def frame_from_nested(obj: Mapping[Any, Any] | Sequence[Any], kind: Kind, *, name: str) -> pl.DataFrame:
    """Make the plain table of nested dictionaries or of a list of records; ``name`` is a single run's system.

    >>> frame_from_nested({"q1": {"d1": 0.5}}, "runs", name="bm25").row(0)
    ('bm25', 'q1', 'd1', 0.5)
    """
    return _frame(obj, kind, name=name, source=None)


def _frame(obj: object, kind: Kind, *, name: str, source: Source | None) -> pl.DataFrame:
    """Tell the shapes apart."""
    error = Table((), pl.DataFrame(), source).error
    if isinstance(obj, Mapping):
        values = list(obj.values())
        if values and not any(isinstance(value, Mapping | list | tuple) for value in values):
            return plain_table(table_of_records([obj], source), kind, name=name)
        if not _has_columns(obj, kind):
            return _from_levels(obj, kind, name=name, source=source, error=error)
        return plain_table(table_of_columns(obj, source), kind, name=name)
    if isinstance(obj, Sequence) and not isinstance(obj, str | bytes):
        return plain_table(table_of_records(obj, source), kind, name=name)
    raise error(f"expected {_WANTED[kind]} or records, got {shown(obj)}", None)


def _has_columns(obj: Mapping[Any, Any], kind: Kind) -> bool:
    """Whether a dictionary holds the values of columns: its keys name a query and a document."""
    if kind == "metadata":
        return all(isinstance(values, list | tuple) for values in obj.values())
    return names_pairs(obj)


def names_pairs(keys: Iterable[Any]) -> bool:
    """Whether keys name a query and a document, as those of a record do."""
    names = [str(key) for key in keys]
    return all(places_of(names, target, needed=True) for target in ("query", "document"))


def _from_levels(
    obj: Mapping[Any, Any], kind: Kind, *, name: str, source: Source | None, error: ErrorAt
) -> pl.DataFrame:
    """Make a table of nested dictionaries; all must have the depth of the first that holds anything."""
    if kind == "metadata":
        described = [_described(key, value, error) for key, value in obj.items()]
        return plain_table(table_of_records(described, source), kind, name=name)
    levels, has_lists = _depth(obj)
    names = _SHAPES.get((kind, levels, has_lists))
    if names is None:
        came = "nothing" if levels == 0 else f"{levels} levels" + (" and lists" if has_lists else "")
        raise error(f"expected {_WANTED[kind]}, got {came}", None)
    if "group" in names:
        rows = list(_grouped_rows(obj, error))
    else:
        rows = list(_rows(obj, levels, has_lists, (), _Misfit(_WANTED[kind], error)))
    values: Sequence[Sequence[object]] = list(zip(*rows, strict=True)) or [()] * len(names)
    table = table_of_columns(dict(zip(names, map(list, values), strict=True)), source)
    return plain_table(replace(table, at=lambda row: " > ".join(map(str, rows[row][:-1]))), kind, name=name)


def _grouped_rows(obj: Mapping[Any, Any], error: ErrorAt) -> Iterator[tuple[object, ...]]:
    """Yield query, group and document of partially ordered lists; a document outside of any group is refused."""
    for query, groups in obj.items():
        if not isinstance(groups, list | tuple):
            raise error(f"{query}: expected groups [[document, …], …], got {shown(groups)}", None)
        for number, documents in enumerate(groups, start=1):
            if not isinstance(documents, list | tuple):
                wanted = "{document: grade}, or groups [[document, …], …]"
                raise error(f"{query}: expected {wanted}, got {shown(documents)} in a list", None)
            unfit = next((one for one in documents if isinstance(one, Mapping | list | tuple)), None)
            if unfit is not None or not documents:
                came = shown(unfit) if documents else "none"
                raise error(f"{query}: expected documents in group {number}, got {came}", None)
            yield from ((query, number, document) for document in documents)


class _Misfit:
    """Builds the error for a part of nested dictionaries that is not as deep as the others."""

    def __init__(self, wanted: str, error: ErrorAt) -> None:
        self.wanted = wanted
        self.error = error

    def __call__(self, path: tuple[object, ...], came: object) -> InputError:
        place = " > ".join(map(str, path))
        return self.error(f"{place}: expected the same depth as in the rest of {self.wanted}, got {shown(came)}", None)


def _rows(
    obj: object, levels: int, has_lists: bool, path: tuple[object, ...], misfit: _Misfit
) -> Iterator[tuple[object, ...]]:
    """Yield keys and value of every leaf, or keys and every element of a list."""
    if levels:
        if not isinstance(obj, Mapping):
            raise misfit(path, obj)
        for key, value in obj.items():
            yield from _rows(value, levels - 1, has_lists, (*path, key), misfit)
    elif isinstance(obj, Mapping) or isinstance(obj, list | tuple) != has_lists:
        raise misfit(path, obj)
    elif isinstance(obj, list | tuple):
        for value in obj:
            if isinstance(value, Mapping | list | tuple):
                raise misfit(path, value)
            yield (*path, value)
    else:
        yield (*path, obj)


def _depth(obj: object, limit: int = 5) -> tuple[int, bool]:
    """Levels of dictionaries above the first value, and whether it lies in a list; (0, False) where there is none."""
    if isinstance(obj, list | tuple):
        return 0, True
    if not isinstance(obj, Mapping) or limit == 0:
        return 0, False
    for value in obj.values():
        below = _depth(value, limit - 1)
        if below != (0, False) or not isinstance(value, Mapping) or (value and limit == 1):
            return below[0] + 1, below[1]
    return 0, False


def _described(document: object, columns: object, error: ErrorAt) -> dict[object, object]:
    if not isinstance(columns, Mapping):
        raise error(f"{document}: expected {{column: value}}, got {shown(columns)}", None)
    return {**columns, "document": document}


def _dumped(frame: pl.DataFrame) -> Iterator[str]:
    """Give every row as a record."""
    return (json.dumps(row, ensure_ascii=False, default=str) for row in frame.iter_rows(named=True))


def _nested(frame: pl.DataFrame, kind: Kind) -> dict[str, Any] | None:
    """Nest a table by its identifiers; None where that would lose a column, a repeated row or the order of rows."""
    shapes = [shape for (of, levels, _), shape in _SHAPES.items() if of == kind and (of, levels) != ("runs", 1)]
    names = next((shape for shape in shapes if "query" in shape and set(shape) == set(frame.columns)), None)
    if names is None:
        return None
    result: dict[str, Any] = {}
    is_list = names[-1] == "document"
    for *path, last in frame.select(names).iter_rows():
        place = result
        for key in path[:-1]:
            place = place.setdefault(key, {})
        if is_list:
            place.setdefault(path[-1], []).append(last)
        elif path[-1] in place:
            return None
        else:
            place[path[-1]] = last
    return result


def frame_from_object(obj: object, kind: Kind, *, name: str) -> pl.DataFrame:
    """Make the plain table of whatever holds one; ``name`` is the system where nothing in it says so.

    Frames of ir_measures, ir_datasets and PyTerrier pass as they are. A dictionary of frames is a dictionary of runs by
    system, whatever their columns say; a list of frames is one table, in which a run without a column for the system is
    called after its place, ``run1``, ``run2``, …

    >>> frame = pl.DataFrame({"qid": [1], "docno": ["d1"], "label": [2]})
    >>> frame_from_object(frame, "judgments", name="qrels").row(0)
    ('1', 'd1', 2.0)
    """
    if is_frame(obj):
        table = table_of_frame(obj)
        return plain_table(replace(table, names=_pyterrier_names(table.names, kind)), kind, name=name)
    if isinstance(obj, Mapping):
        if kind == "runs" and obj and all(is_frame(value) for value in obj.values()):
            return _together([_run_called(str(key), frame) for key, frame in obj.items()])
        return frame_from_nested(obj, kind, name=name)
    if isinstance(obj, Iterable) and not isinstance(obj, str | bytes):
        items = list(obj)
        if items and all(is_frame(item) for item in items):
            tables = [frame_from_object(item, kind, name=f"run{i}") for i, item in enumerate(items, start=1)]
            return pl.concat(tables, how="diagonal_relaxed") if kind == "metadata" else _together(tables)
        return frame_from_nested(items, kind, name=name)
    raise InputError(f"expected {kind} as a table, got {shown(type(obj).__name__)}")


def _run_called(system: str, obj: object) -> pl.DataFrame:
    """The run of a frame under the name that its dictionary has for it."""
    table = frame_from_object(obj, "runs", name=system)
    if table["system"].n_unique() > 1:
        raise InputError(f"expected one system in the frame for {shown(system)}, got several")
    return table.with_columns(pl.lit(system).alias("system"))


def _pyterrier_names(names: Sequence[str], kind: Kind) -> Sequence[str]:
    """Names of columns in which PyTerrier's ``name`` is the system; elsewhere ``name`` may be that of a document.

    >>> _pyterrier_names(["qid", "docno", "rank", "score", "name"], "runs")
    ['qid', 'docno', 'rank', 'score', 'system']
    """
    is_result = kind == "runs" and {"qid", "docno", "name"} <= set(names)
    system = COLUMNS["system"]
    if not is_result or any(fold(name) in tier for tier in system.tiers[: system.sure] for name in names):
        return names
    return ["system" if name == "name" else name for name in names]


def _together(tables: list[pl.DataFrame]) -> pl.DataFrame:
    columns = tables[0].columns
    other = next((table.columns for table in tables if set(table.columns) != set(columns)), None)
    if other is not None:
        raise InputError(f"expected frames with the same columns, got {', '.join(columns)} and {', '.join(other)}")
    return pl.concat([table.select(columns) for table in tables])
