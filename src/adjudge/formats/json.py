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
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

import polars as pl

from adjudge.errors import InputError, shown
from adjudge.formats.base import Format, Kind, register
from adjudge.formats.columns import ErrorAt, canonical_frame, column_of, places_of
from adjudge.formats.source import Source

_ALL: frozenset[Kind] = frozenset({"runs", "judgments", "metadata"})
_SHAPES: dict[tuple[Kind, int, bool], tuple[str, ...]] = {
    ("runs", 3, False): ("system", "query", "document", "score"),
    ("runs", 2, False): ("query", "document", "score"),
    ("runs", 2, True): ("system", "query", "document"),
    ("runs", 1, True): ("query", "document"),
    ("judgments", 2, False): ("query", "document", "grade"),
    ("judgments", 3, False): ("query", "document", "assessor", "grade"),
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
        return source.head(1) != [] and source.text.lstrip()[:1] in (b"{", b"[") and not _has_json_lines(source)

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read an object, a list of records or one record a line."""
        lines = json_lines(source)
        if lines is None:
            return _frame(parse_json(source), kind, name=source.stem, source=source.name)

        def error(message: str, row: int | None) -> InputError:
            return source.error(message, None if row is None else lines[row][0])

        return _from_records([record for _, record in lines], kind, name=source.stem, error=error)

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

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether there are several lines and the first is an object by itself."""
        return _has_json_lines(source)

    def line(self, source: Source, kind: Kind, row: int) -> int | None:
        """Lines that are neither blank nor comments are the rows."""
        return next((number for number, _ in islice(source.lines(), row, None)), None)

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write one record a line."""
        return "".join(f"{record}\n" for record in _dumped(frame)).encode()


def frame_from_nested(obj: Mapping[Any, Any] | Sequence[Any], kind: Kind, *, name: str) -> pl.DataFrame:
    """Make the plain table of nested dictionaries or of a list of records; ``name`` is a single run's system.

    >>> frame_from_nested({"q1": {"d1": 0.5}}, "runs", name="bm25").row(0)
    ('bm25', 'q1', 'd1', 0.5)
    """
    return _frame(obj, kind, name=name, source=None)


def _frame(obj: object, kind: Kind, *, name: str, source: str | None) -> pl.DataFrame:
    """Tell the shapes apart."""

    def error(message: str, row: int | None) -> InputError:
        return InputError(message if row is None else f"row {row + 1}: {message}", source=source)

    if isinstance(obj, Mapping):
        values = list(obj.values())
        if values and not any(isinstance(value, Mapping | list | tuple) for value in values):
            return _from_records([obj], kind, name=name, error=error)
        if _has_columns(obj, kind):
            return _from_columns(obj, kind, name=name, error=error)
        return _from_levels(obj, kind, name=name, error=error)
    if isinstance(obj, Sequence) and not isinstance(obj, str | bytes):
        return _from_records(obj, kind, name=name, error=error)
    raise error(f"expected {_WANTED[kind]} or records, got {shown(obj)}", None)


def _has_columns(obj: Mapping[Any, Any], kind: Kind) -> bool:
    """Whether a dictionary holds the values of columns: its keys name a query and a document."""
    if kind == "metadata":
        return all(isinstance(values, list | tuple) for values in obj.values())
    return all(places_of([str(key) for key in obj], target, needed=True) for target in ("query", "document"))


def _from_records(records: Sequence[object], kind: Kind, *, name: str, error: ErrorAt) -> pl.DataFrame:
    """Make a table of dictionaries with the same keys, more or less."""
    names: dict[str, None] = {}
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise error(f"expected a record with names and values, got {shown(record)}", row)
        names.update(dict.fromkeys(map(str, record)))
    columns = {str(key): [record.get(key) for record in records] for key in names}  # type: ignore[attr-defined]
    return _from_columns(columns, kind, name=name, error=error)


def _from_columns(columns: Mapping[Any, Any], kind: Kind, *, name: str, error: ErrorAt) -> pl.DataFrame:
    """Make a table of lists of values, or of pandas' ``{row: value}``, by column."""
    lists = {str(key): list(v.values()) if isinstance(v, Mapping) else v for key, v in columns.items()}
    if not all(isinstance(values, list | tuple) for values in lists.values()) or len(set(map(len, lists.values()))) > 1:
        raise error(f"expected columns of the same length, or {_WANTED[kind]}", None)
    try:
        frame = pl.DataFrame([column_of(key, values) for key, values in lists.items()])
    except InputError as fault:
        raise error(str(fault), None) from None
    return canonical_frame(frame, kind, name=name, error=error)


def _from_levels(obj: Mapping[Any, Any], kind: Kind, *, name: str, error: ErrorAt) -> pl.DataFrame:
    """Make a table of nested dictionaries; all must have the depth of the first that holds anything."""
    if kind == "metadata":
        return _from_records(
            [_described(key, value, error) for key, value in obj.items()], kind, name=name, error=error
        )
    levels, has_lists = _depth(obj)
    if (kind, levels, has_lists) == ("judgments", 1, True):
        return _from_groups(obj, name=name, error=error)
    names = _SHAPES.get((kind, levels, has_lists))
    if names is None:
        came = "nothing" if levels == 0 else f"{levels} levels" + (" and lists" if has_lists else "")
        raise error(f"expected {_WANTED[kind]}, got {came}", None)
    rows = list(_rows(obj, levels, has_lists, (), _Misfit(_WANTED[kind], error)))
    values: Sequence[Sequence[object]] = list(zip(*rows, strict=True)) or [()] * len(names)

    def error_at(message: str, row: int | None) -> InputError:
        return error(message if row is None else f"{' > '.join(map(str, rows[row][:-1]))}: {message}", None)

    columns = dict(zip(names, map(list, values), strict=True))
    return _from_columns(columns, kind, name=name, error=error_at)


def _from_groups(obj: Mapping[Any, Any], *, name: str, error: ErrorAt) -> pl.DataFrame:
    """Make a table of partially ordered lists; a document outside of any group might stand for anything: refused."""
    columns: dict[str, list[Any]] = {"query": [], "group": [], "document": []}
    for query, groups in obj.items():
        if not isinstance(groups, list | tuple):
            raise error(f"{query}: expected groups [[document, …], …], got {shown(groups)}", None)
        for number, documents in enumerate(groups, start=1):
            if not isinstance(documents, list | tuple):
                wanted = "{document: grade}, or groups [[document, …], …]"
                raise error(f"{query}: expected {wanted}, got {shown(documents)} in a list", None)
            if not documents:
                raise error(f"{query}: expected documents in group {number}, got none", None)
            unfit = next((one for one in documents if isinstance(one, Mapping | list | tuple)), None)
            if unfit is not None:
                raise error(f"{query}: expected documents in group {number}, got {shown(unfit)}", None)
            columns["query"] += [query] * len(documents)
            columns["group"] += [number] * len(documents)
            columns["document"] += documents

    def error_at(message: str, row: int | None) -> InputError:
        where = "" if row is None else f"{columns['query'][row]}, group {columns['group'][row]}: "
        return error(where + message, None)

    return _from_columns(columns, "judgments", name=name, error=error_at)


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


def _has_json_lines(source: Source) -> bool:
    """Whether a file has two lines or more of which the first is an object by itself."""
    first = source.head(2)
    if len(first) < 2 or not first[0].lstrip().startswith("{"):
        return False
    try:
        json.loads(first[0])
    except (ValueError, RecursionError):
        return False
    return True


def json_lines(source: Source) -> list[tuple[int, object]] | None:
    """Give line number and record of JSON lines; None of a file whose first line is not a record by itself."""
    if not _has_json_lines(source):
        return None
    return [(number, _loads(line, source, number)) for number, line in source.lines()]


def parse_json(source: Source) -> object:
    """The content of a JSON file."""
    return _loads(source.text.decode(), source)


def _loads(text: str, source: Source, line: int | None = None) -> Any:
    """Parse JSON; what is wrong is told with the line it is in."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        rest = text[error.pos :].split("\n", 1)[0].strip()
        came = shown(rest, 40) if rest else "the end of a line" if text[error.pos :].strip() else "the end of the text"
        raise source.error(f"expected JSON, got {came}", (line or 1) + error.lineno - 1) from None
    except RecursionError:
        raise source.error("expected JSON, got too many levels", line) from None
    except _RepeatedKeyError as error:
        raise source.error(f"expected JSON, got the key {shown(error)} twice in one object", line) from None
    except ValueError as error:
        raise source.error(f"expected JSON, got {shown(error, 100)}", line) from None


class _RepeatedKeyError(ValueError):
    """A key that comes twice in one object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make the dictionary of an object whose keys must differ."""
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return result


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
