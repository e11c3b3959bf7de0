"""Tables as files (CSV, TSV, spreadsheets, Parquet, JSON) and as objects of Python.

Columns have the names of :mod:`adjudge.formats.columns`; :mod:`adjudge.formats.source` says how text is cut into cells.
The first line of a text table is its header if it has a known name. Without one the number of columns says what they
are:

=========== ====================================================================================================
runs        3: system, query, document, in rank order; 4: the same and the score
judgments   3: query, document, grade. Four columns need a header, for the fourth could be the grade (as in TREC
            qrels) or the assessor
metadata    3: document, artist, genre; 2 or more: document, column_2, column_3, …
=========== ====================================================================================================

The separator of CSV is the comma or the semicolon. TSV has no quotes, unless it is in UTF-16 (Excel's Unicode text) or
all names in its header are quoted.

JSON, and the nested dictionaries of Python, have these shapes:

=========== ====================================================================================================
runs        ``{system: {query: {document: score}}}``, or without the system for a single run; a list of documents in
            rank order may stand for ``{document: score}``
judgments   ``{query: {document: grade}}`` or ``{query: {document: {assessor: grade}}}``, or partially ordered lists
            ``{query: [[document, document], [document]]}``, the most similar group first
metadata    ``{document: {column: value}}``
any         records ``[{"query": …, "document": …}, …]``, one record per line (JSON lines), or lists of values by column
=========== ====================================================================================================

Identifiers that are numbers become text. A query without documents adds nothing. A key that comes twice in one object,
of which other readers silently keep the last, is refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import polars as pl

from adjudge.errors import InputError, kept_warnings, shown
from adjudge.formats.base import Format, Kind, refuse, register
from adjudge.formats.columns import COLUMNS, fold, hint, places_of
from adjudge.formats.schema import (
    SCHEMAS,
    Table,
    is_frame,
    plain_table,
    table_of_columns,
    table_of_frame,
    table_of_records,
)
from adjudge.formats.source import SUFFIXES, Source, has_json_lines, json_lines, line_of, parquet_frame, parse_json

_ALL: frozenset[Kind] = frozenset({"runs", "judgments", "metadata"})
_CONTROL = r"[\x00-\x1F]"
_FEWEST = 3  # rows that it takes to tell a header from data
_WANTED: dict[Kind, str] = {
    "runs": "{system: {query: {document: score}}}",
    "judgments": "{query: {document: grade}}",
    "metadata": "{document: {column: value}}",
}
_SHAPES: dict[tuple[Kind, int, bool], tuple[str, ...]] = {
    ("runs", 3, False): ("system", "query", "document", "score"),
    ("runs", 2, False): ("query", "document", "score"),
    ("runs", 2, True): ("system", "query", "document"),
    ("runs", 1, True): ("query", "document"),
    ("judgments", 2, False): ("query", "document", "grade"),
    ("judgments", 3, False): ("query", "document", "assessor", "grade"),
    ("judgments", 1, True): ("query", "group", "document"),
}
"""Columns by kind, levels of dictionaries and whether these hold lists."""


class _TextTable(Format):
    """What CSV and TSV have in common."""

    kinds = _ALL
    writes = _ALL
    separators: ClassVar[str]
    is_quoted: ClassVar[bool]

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether the first line is a header, or has as many columns as a table without one."""
        head = source.head(1)
        if not head or head[0].lstrip()[:1] in ("{", "["):
            return False
        try:
            with kept_warnings():
                layout = SCHEMAS[kind].find_layout(source, self.separators)
        except InputError:
            return False
        return len(layout.names) > 1 and (layout.has_header or SCHEMAS[kind].fits(layout.names))

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read a table; a line with more or fewer fields than the first is refused with its number."""
        table = SCHEMAS[kind].open_text(source, self.separators)
        if kind == "runs":
            _refuse_unknown_header(table)
        return plain_table(table, kind, name=source.stem)

    def line(self, source: Source, kind: Kind, row: int) -> int | None:
        """First line of a record."""
        with kept_warnings():
            return line_of(source, SCHEMAS[kind].layout(source, self.separators), row)

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write the table with a header; text with control characters is refused."""
        texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
        refuse(frame, texts, _CONTROL, "without control characters")
        for name, dtype in frame.schema.items():
            if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
                raise InputError(f"expected columns of text or numbers, got {shown(name)} of {dtype}")
        first = frame.columns[0]
        is_like_comment = first in texts and bool(frame[first].str.starts_with("#").any())
        if is_like_comment and not self.is_quoted:
            refuse(frame, [first], "^#", "that does not begin with '#'")
        style: Literal["never", "non_numeric", "necessary"] = "non_numeric" if is_like_comment else "necessary"
        return frame.write_csv(separator=self.separators[0], quote_style=style if self.is_quoted else "never").encode()


def _refuse_unknown_header(table: Table) -> None:
    """Refuse a first row of three words that no other row has, above rows that repeat: a header, not a system.

    Only a run without scores has no number to tell its header by.
    """
    is_first_line = table.heading is not None and table.at(0) == table.heading
    if table.height < _FEWEST or not is_first_line or list(table.names) != ["system", "query", "document"]:
        return
    columns = list(table.frame)
    first = [str(column[0]) for column in columns]
    if (
        not any(character.isdigit() for character in "".join(first))
        and all((column[1:] != column[0]).all() for column in columns)
        and any(column[1:].n_unique() < table.height - 1 for column in columns[:2])
        and any(column[1:].str.contains(r"\d").all() for column in columns)
    ):
        came = ", ".join(map(shown, first)) + hint("query", "document", about="where it is a header")
        raise table.error(f"expected system, query and document, or a header with known names, got {came}", 0)


@register
class Spreadsheet(_TextTable):
    """The first sheet of a spreadsheet, or the one that is named."""

    name = "spreadsheet"
    about = (
        "Excel and LibreOffice: the first sheet that is not empty, or that of table.xlsx#Sheet2 (extra: spreadsheets)"
    )
    writes = frozenset()
    suffixes = SUFFIXES
    separators = ","
    is_quoted = True

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether the file is a workbook."""
        return source.is_spreadsheet


@register
class Tsv(_TextTable):
    """Columns separated by tabs."""

    name = "tsv"
    about = "tab-separated columns, with a header of known names or in the usual order"
    suffixes = (".tsv", ".tab")
    separators = "\t"
    is_quoted = False


@register
class Csv(_TextTable):
    """Columns separated by commas or semicolons, quoted where needed."""

    name = "csv"
    about = "comma- or semicolon-separated columns, with a header of known names or in the usual order"
    suffixes = (".csv",)
    separators = ",;"
    is_quoted = True


@register
class Parquet(Format):
    """Apache Parquet."""

    name = "parquet"
    about = "Apache Parquet files with known column names"
    kinds = _ALL
    writes = _ALL
    suffixes = (".parquet", ".pq")

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether the file begins with Parquet's magic bytes."""
        return source.begins(b"PAR1")

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read the file; rows in errors count from 1."""
        frame = parquet_frame(source)
        return plain_table(Table(frame.columns, frame, source), kind, name=source.stem)

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write the table as it is."""
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        return buffer.getvalue()


@register
class Json(Format):
    """JSON: one object or list per file."""

    name = "json"
    about = "JSON: nested {system: {query: {document: score}}}, or lists of records"
    kinds = _ALL
    writes = _ALL
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether the text begins with a brace or a bracket, and is not JSON lines."""
        return source.head(1) != [] and source.text.lstrip()[:1] in (b"{", b"[") and not has_json_lines(source)

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read an object, a list of records or one record per line."""
        lines = json_lines(source)
        if lines is None:
            return frame_from_nested(parse_json(source), kind, name=source.stem, source=source)
        table = table_of_records([record for _, record in lines], source, [number for number, _ in lines])
        return plain_table(table, kind, name=source.stem)

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write nested objects where they hold the whole table, else a list of records."""
        nested = _nest(frame, kind)
        if nested is None:
            return ("[\n" + ",\n".join(_dump_records(frame)) + "\n]\n").encode()
        return (json.dumps(nested, ensure_ascii=False, indent=1) + "\n").encode()


@register
class JsonLines(Json):
    """JSON lines: one record per line."""

    name = "jsonl"
    about = 'JSON lines: one record {"query": …, "document": …} per line'
    suffixes = (".jsonl", ".ndjson")
    rows_are_lines = True

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether there are several lines and the first is an object by itself."""
        return has_json_lines(source)

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write one record per line."""
        return "".join(f"{record}\n" for record in _dump_records(frame)).encode()


def _dump_records(frame: pl.DataFrame) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False, default=str) for row in frame.iter_rows(named=True))


def _nest(frame: pl.DataFrame, kind: Kind) -> dict[str, Any] | None:
    """The table nested by its identifiers; None where that would lose a column, a repeated row or the order of rows."""
    shapes = [shape for (of, levels, _), shape in _SHAPES.items() if of == kind and (of, levels) != ("runs", 1)]
    names = next((shape for shape in shapes if set(shape) == set(frame.columns)), None)
    if names is None:
        return None
    result: dict[str, Any] = {}
    for *path, key, value in frame.select(names).iter_rows():
        inner = result
        for outer in path:
            inner = inner.setdefault(outer, {})
        if names[-1] == "document":
            inner.setdefault(key, []).append(value)
        elif key in inner:
            return None
        else:
            inner[key] = value
    return result


def frame_from_nested(obj: object, kind: Kind, *, name: str, source: Source | None = None) -> pl.DataFrame:
    """The plain table of nested dictionaries or of a list of records; ``name`` is a single run's system.

    >>> frame_from_nested({"q1": {"d1": 0.5}}, "runs", name="bm25").row(0)
    ('bm25', 'q1', 'd1', 0.5)
    """
    if isinstance(obj, Mapping):
        values = list(obj.values())
        if values and not any(isinstance(value, Mapping | list | tuple) for value in values):
            table = table_of_records([obj], source)
        elif kind != "metadata":
            table = table_of_columns(obj, source) if names_pairs(obj) else _table_of_levels(obj, kind, source)
        elif all(isinstance(value, list | tuple) for value in values):
            table = table_of_columns(obj, source)
        else:
            records = []
            for document, columns in obj.items():
                if not isinstance(columns, Mapping):
                    raise _error(source, f"{document}: expected {{column: value}}, got {shown(columns)}")
                records.append({**columns, "document": document})
            table = table_of_records(records, source)
    elif isinstance(obj, Sequence) and not isinstance(obj, str | bytes):
        table = table_of_records(obj, source)
    else:
        raise _error(source, f"expected {_WANTED[kind]} or records, got {shown(obj)}")
    return plain_table(table, kind, name=name)


def _error(source: Source | None, message: str) -> InputError:
    return InputError(message) if source is None else source.error(message)


def names_pairs(keys: Iterable[Any]) -> bool:
    """Whether keys name a query and a document, as those of a record do."""
    names = [str(key) for key in keys]
    return all(places_of(names, target, needed=True) for target in ("query", "document"))


def _table_of_levels(obj: Mapping[Any, Any], kind: Kind, source: Source | None) -> Table:
    """The table of nested dictionaries; all must have the depth of the first that holds anything."""
    levels, has_lists = _depth(obj)
    names = _SHAPES.get((kind, levels, has_lists))
    if names is None:
        came = "nothing" if levels == 0 else f"{levels} levels" + (" and lists" if has_lists else "")
        raise _error(source, f"expected {_WANTED[kind]}, got {came}")
    wanted = f"the same depth as in the rest of {_WANTED[kind]}"
    rows = list(_group_rows(obj, source) if "group" in names else _leaf_rows(obj, levels, has_lists, wanted, source))
    values: Sequence[Sequence[object]] = list(zip(*rows, strict=True)) or [()] * len(names)
    table = table_of_columns(dict(zip(names, map(list, values), strict=True)), source)
    return replace(table, at=lambda row: " > ".join(map(str, rows[row][:-1])))


def _depth(obj: object, limit: int = 5) -> tuple[int, bool]:
    """Levels of dictionaries above the first value, and whether that is in a list; (0, False) without a value."""
    if isinstance(obj, list | tuple):
        return 0, True
    if not isinstance(obj, Mapping) or limit == 0:
        return 0, False
    for value in obj.values():
        below = _depth(value, limit - 1)
        if below != (0, False) or not isinstance(value, Mapping) or (value and limit == 1):
            return below[0] + 1, below[1]
    return 0, False


def _leaf_rows(
    obj: object, levels: int, has_lists: bool, wanted: str, source: Source | None, *path: object
) -> Iterator[tuple[object, ...]]:
    """Yield keys and value of every leaf, or keys and every element of a list."""
    if levels and isinstance(obj, Mapping):
        for key, value in obj.items():
            yield from _leaf_rows(value, levels - 1, has_lists, wanted, source, *path, key)
        return
    values = obj if isinstance(obj, list | tuple) and has_lists and not levels else [obj]
    is_leaf = not levels and isinstance(obj, list | tuple) == has_lists
    for value in values:
        if not is_leaf or isinstance(value, Mapping | list | tuple):
            raise _error(source, f"{' > '.join(map(str, path))}: expected {wanted}, got {shown(value)}")
        yield (*path, value)


def _group_rows(obj: Mapping[Any, Any], source: Source | None) -> Iterator[tuple[object, ...]]:
    """Yield query, group and document of partially ordered lists; a document outside of any group is refused."""
    for query, groups in obj.items():
        if not isinstance(groups, list | tuple):
            raise _error(source, f"{query}: expected groups [[document, …], …], got {shown(groups)}")
        for number, documents in enumerate(groups, start=1):
            if not isinstance(documents, list | tuple):
                wanted = "{document: grade}, or groups [[document, …], …]"
                raise _error(source, f"{query}: expected {wanted}, got {shown(documents)} in a list")
            unfit = [document for document in documents if isinstance(document, Mapping | list | tuple)]
            if unfit or not documents:
                came = shown(unfit[0]) if unfit else "none"
                raise _error(source, f"{query}: expected documents in group {number}, got {came}")
            yield from ((query, number, document) for document in documents)


def frame_from_object(obj: object, kind: Kind, *, name: str) -> pl.DataFrame:
    """The plain table of whatever holds one; ``name`` is the system of a run that does not say it.

    Frames of ir_measures, ir_datasets and PyTerrier are accepted as they are. A dictionary of frames holds runs by
    system, whatever their columns say; a list of frames is one table, in which a run without a column for the system is
    named by its place, ``run1``, ``run2``, …

    >>> frame = pl.DataFrame({"qid": [1], "docno": ["d1"], "label": [2]})
    >>> frame_from_object(frame, "judgments", name="qrels").row(0)
    ('1', 'd1', 2.0)
    """
    if is_frame(obj):
        table = table_of_frame(obj)
        return plain_table(replace(table, names=_pyterrier_names(table.names, kind)), kind, name=name)
    if isinstance(obj, Mapping):
        if kind != "runs" or not obj or not all(is_frame(value) for value in obj.values()):
            return frame_from_nested(obj, kind, name=name)
        runs = []
        for system, frame in obj.items():
            run = frame_from_object(frame, "runs", name=str(system))
            if run["system"].n_unique() > 1:
                raise InputError(f"expected one system in the frame for {shown(system)}, got several")
            runs.append(run.with_columns(pl.lit(str(system)).alias("system")))
        return _concatenate(runs)
    if isinstance(obj, Iterable) and not isinstance(obj, str | bytes):
        items = list(obj)
        if not items or not all(is_frame(item) for item in items):
            return frame_from_nested(items, kind, name=name)
        tables = [frame_from_object(item, kind, name=f"run{i}") for i, item in enumerate(items, start=1)]
        return pl.concat(tables, how="diagonal_relaxed") if kind == "metadata" else _concatenate(tables)
    raise InputError(f"expected {kind} as a table, got {shown(type(obj).__name__)}")


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


def _concatenate(tables: list[pl.DataFrame]) -> pl.DataFrame:
    columns = tables[0].columns
    other = next((table.columns for table in tables if set(table.columns) != set(columns)), None)
    if other is not None:
        raise InputError(f"expected frames with the same columns, got {', '.join(columns)} and {', '.join(other)}")
    return pl.concat([table.select(columns) for table in tables])
