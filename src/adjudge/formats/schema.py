"""The one reader of tables: a schema says what a table holds, and reads it from wherever it is.

A :class:`Schema` declares columns: what each holds (by the names of :mod:`adjudge.formats.columns`, or by its own), the
kind of its values, whether the table needs it and whether cells may be empty. It reads text (CSV, TSV), spreadsheets,
Parquet, JSON records and lines, data frames of pandas and Polars, and records and columns of Python. Errors have the
same wording everywhere, with the line where there are lines.

Identifiers become text without surrounding spaces (7 and 7.0 become ``"7"``, ``"007"`` stays), numbers finite floats.
An optional column without any value counts as missing.

``SCHEMAS`` are those of runs, judgments and metadata. Distances become scores by changing their sign. Where judgments
have a ``group`` instead of a grade, as partially ordered lists have, the last group of each query becomes grade 1, the
one before it 2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import InputError, shown, warn
from adjudge.formats.columns import (
    COLUMNS,
    find_misnamed,
    fold,
    hint,
    missing_column,
    place_of,
    places_of,
    places_said,
    worded,
)
from adjudge.formats.source import (
    SPACES,
    Layout,
    Source,
    find_layout,
    is_json,
    is_number,
    json_lines,
    line_of,
    open_source,
    parquet_frame,
    parse_json,
    read_cells,
)
from adjudge.text import listed, with_article

if TYPE_CHECKING:
    import pandas as pd

    from adjudge.formats.base import Kind

    Frame: TypeAlias = pl.DataFrame | pl.LazyFrame | pd.DataFrame
else:
    Frame = pl.DataFrame | pl.LazyFrame  # pandas is not imported for its name
Tabular: TypeAlias = str | os.PathLike[str] | Source | Frame | Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]]
"""What holds a table: a file (``-`` is standard input), a data frame, records, or values by column."""
Values = Literal["text", "number", "whole", "choice"]
SEPARATORS = "\t,;"

_DECIMAL_COMMA = r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)$"
_DISTANCES = {"distance", "dist"}
_DESCRIPTIONS = {"artist", "genre", "title", "album", "name", "style", "composer"}
_KNOWN_DESCRIPTIONS = {*_DESCRIPTIONS, "year", "label", "duration"}


@dataclass(frozen=True)
class Field:
    """A column of a schema, which the reader calls ``name``.

    It has all names of what it ``holds`` in the dictionary of columns (its own name, if not given), or with None only
    its own. A ``pattern`` stands for any number of columns whose names, in lower case, match its name.

    ``needed``: the table must have it; ``full``: none of its cells may be empty. Words in ``blank`` count as empty;
    ``wanted`` is what messages ask for. ``weak`` says whether names that are not sure count (if not given, where the
    column is needed); ``first`` is a name that wins over others; ``stands_for`` a column that this one may replace.
    """

    name: str
    values: Values = "text"
    needed: bool = False
    full: bool = True
    holds: str | None = ""
    least: float = -np.inf
    above: float = -np.inf
    choices: Mapping[str, int] = field(default_factory=dict)
    wanted: str = ""
    blank: tuple[str, ...] = ()
    weak: bool | None = None
    first: str = ""
    stands_for: str = ""
    pattern: bool = False

    @property
    def target(self) -> str | None:
        """What the column holds, by the dictionary of columns; None where that does not have it."""
        target = self.name if self.holds == "" else self.holds
        return target if target in COLUMNS else None

    def wants(self) -> str:
        """What messages ask for in a cell."""
        if self.wanted or self.values == "text":
            return self.wanted or with_article(worded(self.name))
        if self.values == "choice":
            return f"{listed(list(self.choices), 'or')} as {self.name}"
        kind = "whole number" if self.values == "whole" else "number"
        bound = f" of {self.least:g} or more" if np.isfinite(self.least) else ""
        bound = f" of more than {self.above:g}" if np.isfinite(self.above) else bound
        return f"a {kind if bound or kind != 'number' else 'finite number'}{bound} as {self.name}"


@dataclass(frozen=True)
class Table:
    """A table before its columns are checked: they may have any type, and names may repeat.

    ``at`` says where a row is, by its line or in words; ``heading`` is the line of the names. ``rows`` are the rows of
    the file that are left, where some were left out.
    """

    names: Sequence[str]
    frame: pl.DataFrame
    source: Source | None = None
    at: Callable[[int], int | str | None] = lambda row: None
    heading: int | None = None
    has_decimal_commas: bool = False
    rows: Ints | None = None

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.frame.height

    def error(self, message: str, row: int | None = None) -> InputError:
        """The error for a row, counted from 0, or for the table; a row without a place is numbered from 1."""
        if row is not None:
            row = int(row if self.rows is None else self.rows[row])
            place = self.at(row)
            if isinstance(place, int) and self.source is not None:
                return self.source.error(message, place)
            message = f"row {row + 1}: {message}" if place is None else f"{place}: {message}"
        return InputError(message) if self.source is None else self.source.error(message)

    def header_error(self, message: str) -> InputError:
        """The error for what is wrong with the names of columns."""
        return InputError(message) if self.source is None else self.source.error(message, self.heading)

    def refuse(self, bad: Mask | pl.Series, message: Callable[[int], str]) -> None:
        """Raise for the first bad row."""
        rows = np.flatnonzero(bad if isinstance(bad, np.ndarray) else bad.fill_null(True).to_numpy())
        if len(rows):
            raise self.error(message(int(rows[0])), int(rows[0]))

    def refuse_repeats(self, keys: pl.DataFrame, rows: Ints | None = None) -> None:
        """Raise for the first row whose keys an earlier row has; ``rows`` are those of the table, if not all."""
        again = np.flatnonzero(~first_of_kind(keys))
        if not len(again):
            return
        row, names = int(again[0]), keys.columns
        came = listed([f"{worded(name)} {shown(keys[name][row])}" for name in names])
        wanted = f"one row for each {listed(names)}"
        if len(names) == 1:
            wanted, came = f"each {names[0]} once", shown(keys[names[0]][row])
        raise self.error(f"expected {wanted}, got {came} again", row if rows is None else int(rows[row]))

    def only(self, rows: Ints) -> Table:
        """Some of the rows, which keep their lines."""
        return replace(self, frame=self.frame[rows], rows=rows if self.rows is None else self.rows[rows])

    def place(self, column: Field) -> int | None:
        """Which column holds something, as far as names say; several for one thing are refused."""
        said, target = places_said(self.names), column.target
        if (target or column.name) in said:
            return said[target or column.name]
        if target != column.name:  # the reader's own name is the surest
            taken, wanted = said.values(), fold(column.name)
            found = [i for i, name in enumerate(self.names) if fold(name) == wanted and i not in taken]
            if found:
                return found[0]
        if target is None:
            return None
        weak = column.needed if column.weak is None else column.weak
        error = lambda message, _: self.header_error(message)  # noqa: E731
        return place_of(self.names, target, error, needed=weak, first=column.first)

    def read(self, column: Field, place: int) -> pl.Series:
        """The values of a column, checked: text, floats, integers, or the numbers of choices; null where empty."""
        given, name = self.frame.to_series(place).alias(column.name), self.names[place]
        if given.dtype == pl.Null:
            given = given.cast(pl.String)
        check = {"text": _read_text, "choice": _read_choices}.get(column.values, _read_numbers)
        checked = check(given, column, has_decimal_commas=self.has_decimal_commas)
        if checked is None:
            where = "" if fold(name) == fold(column.name) else f" in {shown(name)}"
            wanted = "text" if column.values in ("text", "choice") else "numbers"
            came = f"a column of {given.dtype.base_type()}"
            raise self.header_error(f"expected {wanted} as {column.name}{where}, got {came}")
        values, bad = checked
        if bad.any():
            row = int(bad.arg_true()[0])
            is_empty = given[row] is None or (isinstance(given[row], str) and not given[row].strip(SPACES))
            came = "nothing" if column.values == "text" or is_empty else shown(given[row])  # bad text is empty
            where = "" if fold(name) in ("", fold(column.name), fold(column.target or "")) else f" in {shown(name)}"
            raise self.error(f"expected {column.wants()}{where}, got {came}", row)
        return values


_Checked = tuple[pl.Series, pl.Series] | None  # values and which of them are bad; None where the type does not fit


def _read_text(given: pl.Series, column: Field, **_: bool) -> _Checked:
    if given.dtype.is_nested() or given.dtype == pl.Object:
        return None
    if given.dtype.is_float():
        value = pl.col(given.name).fill_nan(None)
        whole = value.cast(pl.Int64, strict=False)
        text = pl.when(value == whole).then(whole.cast(pl.String)).otherwise(value.cast(pl.String))
        given = given.to_frame().select(text.alias(given.name)).to_series()
    try:
        values = given.cast(pl.String).str.strip_chars(SPACES)
    except pl.exceptions.PolarsError:
        return None
    empty = (values == "").fill_null(True)
    if column.blank:
        empty |= values.str.to_lowercase().is_in(column.blank).fill_null(False)
    if column.full:
        return values, empty
    return (values.set(empty, None) if empty.any() else values), empty & False


def _read_numbers(given: pl.Series, column: Field, *, has_decimal_commas: bool) -> _Checked:
    if given.dtype == pl.String:
        text = given.str.strip_chars(SPACES)
        empty = text.is_null() | (text == "")
        if column.blank:
            empty |= text.str.to_lowercase().is_in(column.blank).fill_null(False)
        values = (with_points(text) if has_decimal_commas else text).cast(pl.Float64, strict=False)
        values = values.set(empty, None) if column.blank else values
    elif given.dtype.is_numeric() or given.dtype == pl.Boolean:
        values = given.cast(pl.Float64)
        values = values if column.full else values.fill_nan(None)
        empty = values.is_null()
    else:
        return None
    good = values.is_finite()
    if np.isfinite(column.least) or np.isfinite(column.above):
        good &= (values >= column.least) & (values > column.above)
    if column.values == "whole":
        good &= (values == values.round()) & (values.abs() < 2**53)
        values = values.cast(pl.Int64, strict=False)
    good = good.fill_null(False)
    return values, ~good if column.full else ~(good | empty)


def _read_choices(given: pl.Series, column: Field, **_: bool) -> _Checked:
    checked = _read_text(given, replace(column, full=False))
    if checked is None:
        return None
    text, words, codes = checked[0], list(column.choices), list(column.choices.values())
    values = text.str.to_lowercase().replace_strict(words, codes, default=None, return_dtype=pl.Int64)
    return values, values.is_null() if column.full else values.is_null() & text.is_not_null()


@dataclass(frozen=True)
class Records:
    """The checked columns of a table, by the names that its schema gives them."""

    table: Table
    columns: Mapping[str, pl.Series]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> pl.Series:
        """A column; all null where the table does not have it."""
        return self.columns.get(name, pl.Series(name, [None] * self.table.height, dtype=pl.String))

    def numbers(self, name: str) -> Floats:
        """A column of numbers, NaN where empty."""
        numbers: Floats = self[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        return numbers

    def codes(self, name: str) -> Ints:
        """A column of choices, -1 where empty."""
        codes: Ints = self[name].cast(pl.Int64).fill_null(-1).to_numpy()
        return codes


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order, and how it is read.

    No two rows agree in all ``unique`` columns. Without a header, the number of columns says which of ``orders`` they
    are in; without orders, a table needs a header. A line is a header if it has a name of a column in ``telling``, or
    any two names. ``distinct``: no two columns have the same name. ``has_comments`` and ``is_quoted`` are about text;
    None lets the separator decide about quotes.
    """

    fields: tuple[Field, ...]
    unique: tuple[str, ...] = ()
    orders: tuple[tuple[str, ...], ...] = ()
    telling: tuple[str, ...] = ()
    distinct: bool = False
    has_comments: bool = True
    is_quoted: bool | None = True

    def field(self, name: str) -> Field:
        """The column of a name."""
        return next(column for column in self.fields if column.name == name)

    def read(self, given: Tabular | Table) -> Records:
        """Read a file (``-`` is standard input), a data frame, records, columns, or an open table."""
        table = given if isinstance(given, Table) else self.open(given)
        columns: dict[str, pl.Series] = {}
        for name, place in self.places(table).items():
            column = self.field(name)
            is_empty = table.frame.to_series(place).null_count() == table.height
            if column.needed or column.stands_for or not is_empty:
                columns[name] = table.read(column, place)
        for column in self.fields:
            if column.pattern:
                for place, given_name in enumerate(table.names):
                    name = given_name.lower()
                    if place not in places_said(table.names).values() and re.fullmatch(column.name, name):
                        columns[name] = table.read(replace(column, name=name, pattern=False), place)
        if self.unique:
            table.refuse_repeats(pl.DataFrame([columns[name] for name in self.unique]))
        return Records(table, columns)

    def open(self, given: Tabular) -> Table:
        """The table that something holds, before its columns are checked; one without rows is refused."""
        if is_frame(given):
            table = table_of_frame(given)
        elif isinstance(given, Source | str | os.PathLike):
            table = self._open_file(given if isinstance(given, Source) else open_source(given))
        elif isinstance(given, Mapping):
            table = table_of_columns(given)
        else:
            table = table_of_records(list(given))  # type: ignore[arg-type]
        if not table.height:
            raise table.error("expected at least one row of data, got none")
        names = [name.lower() for name in table.names]
        if self.distinct and (twice := [name for name in names if name and names.count(name) > 1]):
            raise table.header_error(f"expected each column once, got {shown(twice[0])} again")
        return table

    def _open_file(self, source: Source) -> Table:
        if source.begins(b"PAR1"):
            frame = parquet_frame(source)
            return Table(frame.columns, frame, source)
        if not is_json(source):
            return self.open_text(source, SEPARATORS, is_quoted=self.is_quoted)
        lines = json_lines(source)
        content = parse_json(source) if lines is None else [record for _, record in lines]
        if isinstance(content, Mapping) and self.is_header(list(content)):
            if all(isinstance(values, list) for values in content.values()):
                return table_of_columns(content, source)
            content = [content]
        if not isinstance(content, list):
            raise source.error(f"expected records with {listed(self._needed_names())}, got other JSON")
        return table_of_records(content, source, None if lines is None else [number for number, _ in lines])

    def _needed_names(self) -> list[str]:
        return [column.name for column in self.fields if column.needed]

    def open_text(self, source: Source, separators: str, *, is_quoted: bool | None = None) -> Table:
        """The cells of a text, named by its header or by the order of its columns."""
        if self.has_comments:
            source.uncommented()  # refuses a file of comments alone
        layout = self.layout(source, separators, is_quoted=is_quoted)
        frame = read_cells(source, layout)
        names = [name.strip(SPACES) for name in layout.names]
        return Table(
            names, frame, source, lambda row: line_of(source, layout, row), layout.line, layout.has_decimal_commas
        )

    def layout(self, source: Source, separators: str, *, is_quoted: bool | None = None) -> Layout:
        """How a text is written, with the names of its columns."""
        found = self.find_layout(source, separators, is_quoted=is_quoted)
        if found.has_header:
            return found
        if self.orders:
            return replace(found, names=self._ordered(found.names, source, found.line))
        return replace(found, has_header=True, skipped=max(found.skipped, found.line))

    def find_layout(self, source: Source, separators: str, *, is_quoted: bool | None = None) -> Layout:
        """How a text is written, with the first line that may be its header."""
        options: dict[str, Any] = {"is_quoted": is_quoted, "has_comments": self.has_comments}
        layout = find_layout(source, separators, self.is_header, fits=self.fits, **options)
        if layout.has_header or self.orders:
            return layout
        return find_layout(source, separators, lambda fields: sum(map(bool, fields)) > 1, **options)

    def is_header(self, names: Sequence[str]) -> bool:
        """Whether a line of text holds names of columns.

        >>> SCHEMAS["judgments"].is_header(["qid", "clip", "value"]), SCHEMAS["judgments"].is_header(["q1", "d1", "2"])
        (True, False)
        """
        if any(places_of(names, target) for target in self.telling):
            return True
        table, found = Table(names, pl.DataFrame()), set[int]()
        for column in self.fields:
            if column.pattern:
                found |= {i for i, name in enumerate(names) if re.fullmatch(column.name, name.lower())}
            elif column.target is not None:
                found |= set(places_of(names, column.target, needed=True))
            elif (place := table.place(column)) is not None:
                found.add(place)
        return len(found) > 1

    def fits(self, cells: Sequence[str]) -> bool:
        """Whether a line without a header can be a row: it has as many cells, with numbers where they belong."""
        orders = [order for order in self.orders if len(order) == len(cells)]
        return not self.orders or any(self._misplaced(order, cells) is None for order in orders)

    def _misplaced(self, order: Sequence[str], cells: Sequence[str]) -> str | None:
        """The first column of numbers that holds something else, if any."""
        numbers = {column.name for column in self.fields if column.values == "number"}
        for name, cell in zip(order, cells, strict=True):
            if name in numbers and not is_number(cell.strip(SPACES).replace(",", ".", 1)):
                return name
        return None

    def _ordered(self, cells: Sequence[str], source: Source, line: int) -> list[str]:
        """Names of the columns of a table without a header."""
        what_to_do = hint(*self._needed_names(), about="where it is a header")
        for order in self.orders:
            if len(order) == len(cells):
                if (name := self._misplaced(order, cells)) is not None:
                    came = shown(cells[order.index(name)])
                    raise source.error(f"expected a finite number as {name}, got {came}{what_to_do}", line)
                if misnamed := find_misnamed(cells, [self.field(name).target or name for name in order]):
                    raise source.error(missing_column(cells, misnamed), line)
                return list(order)
        widths = listed([str(len(order)) for order in self.orders], "or")
        came = f"{len(cells)} in {shown(cells[0])}…{what_to_do}"
        raise source.error(f"expected a header with known names, or {widths} columns, got {came}", line)

    def places(self, table: Table) -> dict[str, int]:
        """Which column holds what; a needed one that is missing is refused."""
        places: dict[str, int] = {}
        for column in self.fields:
            if column.pattern or column.stands_for:
                continue
            held, place = column, table.place(column)
            instead = next((other for other in self.fields if other.stands_for == column.name), None)
            if place is None and instead is not None:
                held, place = instead, table.place(instead)
            taken = next((other for other, there in places.items() if there == place), None)
            if place is not None and taken is None:
                places[held.name] = place
            elif taken is not None and column.target in places_said(table.names):
                came = shown(table.names[place or 0])
                raise table.header_error(f"expected columns of their own for {taken} and {column.name}, got {came}")
            elif column.needed:
                raise table.header_error(missing_column(table.names, column.target or column.name))
        return places


def origin(table: Table) -> tuple[str, str]:
    """Name and digest of the file that a table came from; empty without a file."""
    return ("", "") if table.source is None else (table.source.name, table.source.sha256)


def first_of_kind(frame: pl.DataFrame) -> Mask:
    """Which rows differ from all rows above them."""
    is_first: Mask = frame.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
    return is_first


def is_frame(obj: object) -> bool:
    """Whether something is a data frame of pandas or Polars."""
    if isinstance(obj, pl.DataFrame | pl.LazyFrame):
        return True
    return type(obj).__module__.startswith("pandas") and type(obj).__name__ == "DataFrame"


def table_of_frame(frame: Any) -> Table:
    """The table of a pandas or Polars data frame; named levels of a pandas index count as columns.

    pandas is recognised without being imported, and its values are copied without pyarrow.
    """
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return Table(frame.columns, frame)
    if (levels := frame.columns.nlevels) > 1:
        came = "".join(f", such as {name}" for name in frame.columns[:1])
        raise InputError(f"expected a data frame with one level of column names, got {levels}{came}")
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    columns = [_pandas_column(str(i), frame.iloc[:, i]) for i in range(frame.shape[1])]
    return Table([str(name) for name in frame.columns], pl.DataFrame(columns))


def _pandas_column(name: str, column: Any) -> pl.Series:
    """Numbers as they are; anything else value by value, with null for whatever pandas calls missing."""
    if column.dtype.kind in "iufb" and type(column.dtype).__module__.startswith("numpy"):
        return pl.Series(name, column.to_numpy())
    values = column.tolist()
    for row in column.isna().to_numpy().nonzero()[0]:
        values[row] = None
    return column_of(name, values)


def table_of_records(
    records: Sequence[object], source: Source | None = None, lines: Sequence[int] | None = None
) -> Table:
    """The table of dictionaries, which may lack keys, or of named tuples with the same fields."""
    at: Callable[[int], int | None] = (lambda row: None) if lines is None else lines.__getitem__
    table, names, rows = Table((), pl.DataFrame(), source, at), dict[str, None](), list[Mapping[str, object]]()
    for row, given in enumerate(records):
        record = given._asdict() if hasattr(given, "_asdict") else given
        if not isinstance(record, Mapping):
            raise table.error(f"expected a record with names and values, got {shown(given)}", row)
        if record is not given and names and names.keys() != record.keys():
            raise table.error(f"expected the fields {', '.join(names)}, got {', '.join(record)}", row)
        names.update(dict.fromkeys(map(str, record)))
        rows.append(record)
    return replace(table_of_columns({name: [record.get(name) for record in rows] for name in names}, source), at=at)


def table_of_columns(columns: Mapping[Any, Any], source: Source | None = None) -> Table:
    """The table of lists of values, or of pandas' ``{row: value}``, by column."""
    lists = {str(key): list(v.values()) if isinstance(v, Mapping) else v for key, v in columns.items()}
    table = Table(list(lists), pl.DataFrame(), source)
    if not all(isinstance(values, list | tuple) for values in lists.values()) or len(set(map(len, lists.values()))) > 1:
        raise table.error("expected columns of the same length")
    try:
        return replace(table, frame=pl.DataFrame([column_of(key, values) for key, values in lists.items()]))
    except InputError as fault:
        raise table.error(str(fault)) from None


def column_of(name: str, values: Sequence[object]) -> pl.Series:
    """A column of Python values: of one type where they have one, else of floats or of text.

    >>> column_of("doc", [7, "a", None]).to_list()
    ['7', 'a', None]
    """
    try:
        try:
            return pl.Series(name, values)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            if all(value is None or isinstance(value, Number) for value in values):
                numbers = [None if value is None else float(value) for value in values]  # type: ignore[arg-type]
                return pl.Series(name, numbers, dtype=pl.Float64)
            return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
    except (UnicodeEncodeError, OverflowError, RecursionError) as fault:
        raise InputError(f"expected values that can be stored as {name}, got {shown(fault)}") from None


def with_points(column: pl.Series) -> pl.Series:
    """Numbers in text with a point instead of a decimal comma; anything else unchanged.

    >>> with_points(pl.Series(["0,5", " 12 ", "1.5", "1,5,2"])).to_list()
    ['0.5', '12', '1.5', '1,5,2']
    """
    if column.dtype != pl.String:
        return column
    return column.str.strip_chars(SPACES).str.replace(_DECIMAL_COMMA, "$1.$2")


class _Metadata(Schema):
    """Documents and what is known about them, in any number of columns."""

    def is_header(self, names: Sequence[str]) -> bool:
        return not _DESCRIPTIONS.isdisjoint(map(fold, names)) or bool(places_of(names, "document", needed=True))

    def fits(self, cells: Sequence[str]) -> bool:
        return len(cells) > 1

    def _ordered(self, cells: Sequence[str], source: Source, line: int) -> list[str]:
        if len(cells) < 2:
            came = f"{len(cells)} in {shown(cells[0])}…{hint('document', about='where it is a header')}"
            raise source.error(f"expected a header with known names, or 2 or more columns, got {came}", line)
        if len(cells) == 3:
            return ["document", "artist", "genre"]
        return ["document", *(f"column_{i}" for i in range(2, len(cells) + 1))]


_PAIR = (Field("query", needed=True), Field("document", needed=True))

SCHEMAS: dict[Kind, Schema] = {
    "runs": Schema(
        (Field("system"), *_PAIR, Field("score", "number"), Field("rank", "whole"), Field("team")),
        orders=(("system", "query", "document"), ("system", "query", "document", "score")),
        telling=("query", "document"),
    ),
    "judgments": Schema(
        (
            *_PAIR,
            Field("grade", "number", needed=True),
            Field("group", "whole", least=1, stands_for="grade"),
            Field("assessor"),
            Field("subtopic"),
        ),
        orders=(("query", "document", "grade"),),
        telling=("query", "document"),
    ),
    "metadata": _Metadata((Field("document", needed=True, first="id"),), orders=(("document", "artist", "genre"),)),
}
"""The tables that collections are made of."""


def plain_table(table: Table, kind: Kind, *, name: str) -> pl.DataFrame:
    """The plain table of a kind from any table with recognisable columns; ``name`` is a run's system.

    Unknown columns of runs and judgments are dropped; those of metadata are kept under their own names and types, but
    for descriptions such as artist and genre, which are text and in lower case (``Artist`` is ``artist``).
    """
    if not table.height:
        raise table.error("expected at least one row of data, got none")
    schema = SCHEMAS[kind]
    places = schema.places(table)
    if kind == "metadata":
        return pl.DataFrame([schema.read(table)["document"], *_descriptions(table, places["document"])])
    grade = places_of(table.names, "grade")
    if kind == "runs" and grade and places.keys().isdisjoint(("system", "score", "rank")):
        given = table.names[grade[0]]  # as a run it would be a system that nobody built
        raise table.error(
            f"expected a run, got judgments: a column {shown(given)}, but no score, rank or system; where "
            f"{shown(given)} holds scores: --columns score={given} (in Python, columns=)"
        )
    asked = table.names[places["query"]]
    if fold(asked) in ("user", "userid") and "query" not in places_said(table.names):
        note = f"no column is named for the query; {shown(asked)} is used, as recommenders answer users."
        warn(str(table.error(note)), stacklevel=2)
    columns = dict(schema.read(table).columns)
    if "score" in columns and fold(table.names[places["score"]]) in _DISTANCES:
        columns["score"] = pl.select(negated(pl.lit(columns["score"]))).to_series().alias("score")
    frame = pl.DataFrame(list(columns.values()))
    if "group" in columns:
        return graded(frame)
    return frame if kind != "runs" or "system" in columns else frame.select(pl.lit(name).alias("system"), pl.all())


def _descriptions(table: Table, document: int) -> list[pl.Series]:
    """All other columns of metadata; those without a name are dropped."""
    others: dict[str, pl.Series] = {}
    for place, given in enumerate(name.strip() for name in table.names):
        name = fold(given) if fold(given) in _KNOWN_DESCRIPTIONS else given
        if place == document or not name:
            continue
        if name in others or name == "document":
            raise table.error(f"expected distinct names of columns, got {shown(name)} twice")
        column = table.frame.to_series(place).alias(name)
        is_text = fold(name) in _DESCRIPTIONS and not column.dtype.is_nested() and column.dtype != pl.Object
        others[name] = column.cast(pl.String) if is_text else column
    return list(others.values())


def graded(table: pl.DataFrame) -> pl.DataFrame:
    """Add a ``grade`` to the ``group`` (1 is the most similar), for each assessor separately.

    >>> graded(pl.DataFrame({"query": "q", "document": ["A", "B", "C"], "group": [1, 1, 2]}))["grade"].to_list()
    [2.0, 2.0, 1.0]
    """
    keys = [name for name in ("query", "assessor", "subtopic") if name in table.columns]
    grade = pl.col("group").rank("dense", descending=True).over(keys).cast(pl.Float64)
    return table.with_columns(grade.alias("grade"), pl.col("group").cast(pl.Float64))


def negated(distance: pl.Expr) -> pl.Expr:
    """Turn distances into scores and back, without making a negative zero."""
    return pl.when(distance == 0).then(0.0).otherwise(-distance)
