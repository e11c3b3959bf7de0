"""The one reader of tables: a schema says what a table holds, and reads it from wherever it lies.

A :class:`Schema` declares columns: what each holds (by the names of :mod:`adjudge.formats.columns`, or by its own), of
which kind its values are, whether the table needs it and whether cells may be empty. It reads text (CSV, TSV),
spreadsheets, Parquet, JSON records and lines, data frames of pandas and Polars, records and columns of Python, and says
what is wrong in the same words everywhere, with the line where there are lines.

Identifiers become text without surrounding spaces (7 and 7.0 become ``"7"``, ``"007"`` stays), numbers finite floats.
An optional column that is empty altogether counts as missing.

``SCHEMAS`` are those of runs, judgments and metadata. Distances become scores by changing their sign. Where judgments
have no grade but a ``group``, as partially ordered lists have, the last group of each query becomes grade 1, the one
before it 2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import InputError, shown, warn
from adjudge.formats.base import Kind
from adjudge.formats.columns import COLUMNS, fold, hint, missing_column, place_of, places_of, places_said, worded
from adjudge.formats.source import (
    BLANKS,
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
    with_article,
)
from adjudge.text import listed

if TYPE_CHECKING:
    import pandas as pd

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

    It goes by all names of what it ``holds`` in the dictionary of columns (its own name, when not given), or with None
    by its own alone. A ``pattern`` stands for any number of columns whose names, in lower case, match its name.

    ``needed``: the table must have it; ``full``: none of its cells may be empty. Words in ``blank`` count as empty,
    ``wanted`` is what messages want. ``weak`` says whether names are taken that are not sure (where the column is
    needed, when not given), ``first`` is the name that wins over others, and ``stands_for`` names another column of
    which this one may take the place.
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
        """What the column holds, by the dictionary of columns; None where it is not in there."""
        target = self.name if self.holds == "" else self.holds
        return target if target in COLUMNS else None

    def wants(self) -> str:
        """What messages want in a cell."""
        if self.wanted or self.values == "text":
            return self.wanted or with_article(worded(self.name))
        if self.values == "choice":
            return f"{_either(list(self.choices))} as {self.name}"
        kind = "whole number" if self.values == "whole" else "number"
        bound = f" of {self.least:g} or more" if np.isfinite(self.least) else ""
        bound = f" of more than {self.above:g}" if np.isfinite(self.above) else bound
        return f"a {kind if bound or kind != 'number' else 'finite number'}{bound} as {self.name}"


def _either(words: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


@dataclass(frozen=True)
class Table:
    """A table as it came: columns may have any type, and names may repeat.

    ``at`` says where a row stands, by its line or in words, ``heading`` is the line of the names. ``rows`` are those of
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
        """Make the error for a row, counted from 0, or for the table; a row that stands nowhere is counted from 1."""
        if row is not None:
            row = int(row if self.rows is None else self.rows[row])
            place = self.at(row)
            if isinstance(place, int) and self.source is not None:
                return self.source.error(message, place)
            message = f"row {row + 1}: {message}" if place is None else f"{place}: {message}"
        return InputError(message) if self.source is None else self.source.error(message)

    def header_error(self, message: str) -> InputError:
        """Make the error for what is wrong with the names of columns."""
        return InputError(message) if self.source is None else self.source.error(message, self.heading)

    def refuse(self, bad: Mask | pl.Series, message: Callable[[int], str]) -> None:
        """Raise for the first bad row."""
        rows = np.flatnonzero(bad if isinstance(bad, np.ndarray) else bad.fill_null(True).to_numpy())
        if len(rows):
            raise self.error(message(int(rows[0])), int(rows[0]))

    def refuse_repeats(self, keys: pl.DataFrame, rows: Ints | None = None) -> None:
        """Raise for the first row whose keys stand in an earlier one; ``rows`` are those of the table, if not all."""
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
        if target != column.name:  # what the reader calls it is the surest name
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
        given = self.frame.to_series(place).alias(column.name)
        if given.dtype == pl.Null:
            given = given.cast(pl.String)
        if column.values == "text":
            values, bad = self._text(given, column, place)
        elif column.values == "choice":
            values, bad = self._choices(given, column, place)
        else:
            values, bad = self._numbers(given, column, place)
        if bad.any():
            row, name = int(bad.arg_true()[0]), self.names[place]
            is_text = column.values == "text"  # then what is bad is empty
            came = "nothing" if is_text or _says_nothing(given[row]) else shown(given[row])
            where = "" if fold(name) in ("", fold(column.name), fold(column.target or "")) else f" in {shown(name)}"
            raise self.error(f"expected {column.wants()}{where}, got {came}", row)
        return values

    def _text(self, given: pl.Series, column: Field, place: int) -> tuple[pl.Series, pl.Series]:
        if given.dtype.is_nested() or given.dtype == pl.Object:
            raise self._misfit("text", given, column, place)
        if given.dtype.is_float():
            value = pl.col(given.name).fill_nan(None)
            whole = value.cast(pl.Int64, strict=False)
            text = pl.when(value == whole).then(whole.cast(pl.String)).otherwise(value.cast(pl.String))
            given = given.to_frame().select(text.alias(given.name)).to_series()
        try:
            values = given.cast(pl.String).str.strip_chars(BLANKS)
        except pl.exceptions.PolarsError:
            raise self._misfit("text", given, column, place) from None
        empty = (values == "").fill_null(True)
        if column.blank:
            empty |= values.str.to_lowercase().is_in(column.blank).fill_null(False)
        if column.full:
            return values, empty
        return (values.set(empty, None) if empty.any() else values), empty & False

    def _numbers(self, given: pl.Series, column: Field, place: int) -> tuple[pl.Series, pl.Series]:
        if given.dtype == pl.String:
            text = given.str.strip_chars(BLANKS)
            silent = text.is_null() | (text == "")
            if column.blank:
                silent |= text.str.to_lowercase().is_in(column.blank).fill_null(False)
            values = (with_points(text) if self.has_decimal_commas else text).cast(pl.Float64, strict=False)
            values = values.set(silent, None) if column.blank else values
        elif given.dtype.is_numeric() or given.dtype == pl.Boolean:
            values = given.cast(pl.Float64)
            values = values if column.full else values.fill_nan(None)
            silent = values.is_null()
        else:
            raise self._misfit("numbers", given, column, place)
        good = values.is_finite()
        if np.isfinite(column.least) or np.isfinite(column.above):
            good &= (values >= column.least) & (values > column.above)
        if column.values == "whole":
            good &= (values == values.round()) & (values.abs() < 2**53)
        good = good.fill_null(False)
        bad = ~good if column.full else ~(good | silent)
        return values.cast(pl.Int64, strict=False) if column.values == "whole" else values, bad

    def _choices(self, given: pl.Series, column: Field, place: int) -> tuple[pl.Series, pl.Series]:
        text, _ = self._text(given, replace(column, full=False), place)
        words, codes = list(column.choices), list(column.choices.values())
        values = text.str.to_lowercase().replace_strict(words, codes, default=None, return_dtype=pl.Int64)
        unknown = values.is_null() if column.full else values.is_null() & text.is_not_null()
        return values, unknown

    def _misfit(self, wanted: str, given: pl.Series, column: Field, place: int) -> InputError:
        where = "" if fold(self.names[place]) == fold(column.name) else f" in {shown(self.names[place])}"
        came = f"a column of {given.dtype.base_type()}"
        return self.header_error(f"expected {wanted} as {column.name}{where}, got {came}")


def _says_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip(BLANKS))


@dataclass(frozen=True)
class Records:
    """The columns of a table that a schema asks for, checked, by the names that the schema gives them."""

    table: Table
    columns: Mapping[str, pl.Series]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> pl.Series:
        """A column; nothing but null where the table does not have it."""
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

    ``unique`` columns together stand once. Without a header, the number of columns says which of ``orders`` they stand
    in; where there are no orders, a table needs a header. Any name of a column in ``telling`` makes one, or any two
    names. ``distinct``: no two columns have the same name. ``has_comments`` and ``is_quoted`` are about text: None
    leaves quotes to the separator.
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
        return next(one for one in self.fields if one.name == name)

    def read(self, given: Tabular | Table) -> Records:
        """Read a file (``-`` is standard input), a data frame, records, columns, or a table that is open already."""
        table = given if isinstance(given, Table) else self.open(given)
        columns: dict[str, pl.Series] = {}
        for name, place in self.places(table).items():
            values = table.frame.to_series(place)
            column = self.field(name)
            if not column.needed and not column.stands_for and _is_empty(values):
                continue
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
        """The table that something holds, before its columns are looked at; one without rows is refused."""
        if is_frame(given):
            table = table_of_frame(given)
        elif isinstance(given, Source | str | os.PathLike):
            source = given if isinstance(given, Source) else open_source(given)
            table = self._open_file(source)
        elif isinstance(given, Mapping):
            table = table_of_columns(given)
        else:
            table = table_of_records(list(given))  # type: ignore[arg-type]
        if not table.height:
            raise table.error("expected at least one row of data, got none")
        if self.distinct:
            refuse_same_names(table)
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
            raise source.error(f"expected records with {listed(self._names())}, got other JSON")
        return table_of_records(content, source, None if lines is None else [number for number, _ in lines])

    def _names(self) -> list[str]:
        return [one.name for one in self.fields if one.needed]

    def open_text(self, source: Source, separators: str, *, is_quoted: bool | None = None) -> Table:
        """The cells of a text, by the names of its header or by its columns' order."""
        if self.has_comments:
            source.uncommented()  # a file of comments only is refused as that
        layout = self.layout(source, separators, is_quoted=is_quoted)
        frame = read_cells(source, layout)
        names = [name.strip(BLANKS) for name in layout.names]
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
        """How a text is written, as far as it shows."""
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
        kinds = {one.name: one.values for one in self.fields}
        for name, cell in zip(order, cells, strict=True):
            if kinds.get(name) == "number" and not is_number(cell.strip(BLANKS).replace(",", ".", 1)):
                return name
        return None

    def _ordered(self, cells: Sequence[str], source: Source, line: int) -> list[str]:
        """Names of the columns of a table without a header."""
        what_to_do = hint(*self._names(), about="where it is a header")
        for order in self.orders:
            if len(order) == len(cells):
                if (name := self._misplaced(order, cells)) is not None:
                    came = shown(cells[order.index(name)])
                    raise source.error(f"expected a finite number as {name}, got {came}{what_to_do}", line)
                return list(order)
        widths = _either([str(len(order)) for order in self.orders])
        came = f"{len(cells)} in {shown(cells[0])}…{what_to_do}"
        raise source.error(f"expected a header with known names, or {widths} columns, got {came}", line)

    def places(self, table: Table) -> dict[str, int]:
        """Which column holds what; a needed one that is not there is refused."""
        places: dict[str, int] = {}
        for column in self.fields:
            if column.pattern or column.stands_for:
                continue
            held, place = column, table.place(column)
            instead = next((one for one in self.fields if one.stands_for == column.name), None)
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


def refuse_same_names(table: Table) -> None:
    """Raise where two columns have the same name."""
    names = [name.lower() for name in table.names]
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise table.header_error(f"expected each column once, got {shown(twice[0])} again")


def _is_empty(column: pl.Series) -> bool:
    return column.null_count() == len(column)


def origin(table: Table) -> tuple[str, str]:
    """The name and the digest of the file that a table came from; empty where it came from none."""
    return ("", "") if table.source is None else (table.source.name, table.source.sha256)


def first_of_kind(frame: pl.DataFrame) -> Mask:
    """Which rows are not as any row above them."""
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
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    columns = [_pandas_column(str(i), frame.iloc[:, i]) for i in range(frame.shape[1])]
    return Table([str(name) for name in frame.columns], pl.DataFrame(columns))


def _pandas_column(name: str, column: Any) -> pl.Series:
    """Copy numbers as they lie; anything else value by value, with whatever pandas calls missing as null."""
    if column.dtype.kind in "iufb" and type(column.dtype).__module__.startswith("numpy"):
        return pl.Series(name, column.to_numpy())
    values = column.tolist()
    for row in column.isna().to_numpy().nonzero()[0]:
        values[row] = None
    return column_of(name, values)


def table_of_records(
    records: Sequence[object], source: Source | None = None, lines: Sequence[int] | None = None
) -> Table:
    """The table of dictionaries with the same keys, more or less, or of named tuples with the same fields."""
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
    """Make a column of Python values: of one type where they have one, else of floats or of text.

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
    """Numbers as text with a point where they have a decimal comma; anything else as it is.

    >>> with_points(pl.Series(["0,5", " 12 ", "1.5", "1,5,2"])).to_list()
    ['0.5', '12', '1.5', '1,5,2']
    """
    if column.dtype != pl.String:
        return column
    return column.str.strip_chars(BLANKS).str.replace(_DECIMAL_COMMA, "$1.$2")


class _Metadata(Schema):
    """Documents and anything that is known of them, in any number of columns."""

    def is_header(self, names: Sequence[str]) -> bool:
        return not _DESCRIPTIONS.isdisjoint(map(fold, names)) or bool(places_of(names, "document", needed=True))

    def fits(self, cells: Sequence[str]) -> bool:
        return len(cells) > 1

    def _ordered(self, cells: Sequence[str], source: Source, line: int) -> list[str]:
        if len(cells) < 2:
            came = f"{len(cells)} in {shown(cells[0])}…{hint('document', about='where it is a header')}"
            raise source.error(f"expected a header with known names, or 2 or more columns, got {came}", line)
        known = len(cells) == 3
        return ["document", *(("artist", "genre") if known else (f"column_{i + 2}" for i in range(len(cells) - 1)))]


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
    """Make the plain table of a kind from any table with recognisable columns; ``name`` is a run's system.

    Unknown columns of runs and judgments are dropped; those of metadata are kept under their own names, as they are
    typed, but for descriptions such as artist and genre, which are text and in lower case (``Artist`` is ``artist``).
    """
    if not table.height:
        raise table.error("expected at least one row of data, got none")
    schema = SCHEMAS[kind]
    if kind == "metadata":
        records = schema.read(table)
        return pl.DataFrame([records["document"], *_descriptions(table, schema.places(table)["document"])])
    places = schema.places(table)
    if kind == "runs":
        _refuse_judgments(table, places)
    _note_users(table, places)
    columns = dict(schema.read(table).columns)
    if "score" in columns and fold(table.names[places["score"]]) in _DISTANCES:
        columns["score"] = pl.select(negated(pl.lit(columns["score"]))).to_series().alias("score")
    frame = pl.DataFrame(list(columns.values()))
    if "group" in columns:
        return graded(frame)
    return frame if kind != "runs" or "system" in columns else frame.select(pl.lit(name).alias("system"), pl.all())


def _refuse_judgments(table: Table, places: Collection[str]) -> None:
    """Refuse a table with grades and nothing that only runs have: as a run it would be a system nobody built."""
    graded = places_of(table.names, "grade")
    if graded and not {"system", "score", "rank"} & set(places):
        name = table.names[graded[0]]
        raise table.error(
            f"expected a run, got judgments: a column {shown(name)}, but no score, rank or system; where {shown(name)} "
            f"holds scores: --columns score={name} (in Python, columns=)"
        )


def _note_users(table: Table, places: Mapping[str, int]) -> None:
    taken = table.names[places["query"]]
    if fold(taken) in ("user", "userid") and "query" not in places_said(table.names):
        note = f"no column is named for the query; {shown(taken)} is taken for it, as recommenders answer users."
        warn(str(table.error(note)), stacklevel=2)


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
    """Add ``grade`` to a column ``group`` (1 is the most similar); each assessor's groups count by themselves.

    >>> graded(pl.DataFrame({"query": "q", "document": ["A", "B", "C"], "group": [1, 1, 2]}))["grade"].to_list()
    [2.0, 2.0, 1.0]
    """
    keys = [name for name in ("query", "assessor", "subtopic") if name in table.columns]
    grade = pl.col("group").rank("dense", descending=True).over(keys).cast(pl.Float64)
    return table.with_columns(grade.alias("grade"), pl.col("group").cast(pl.Float64))


def negated(distance: pl.Expr) -> pl.Expr:
    """Turn distances into scores and back, without making a negative zero."""
    return pl.when(distance == 0).then(0.0).otherwise(-distance)
