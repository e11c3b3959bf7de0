"""The cells of a file of experts' answers as text, whatever holds them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from adjudge.arrays import Codes, Ints, Mask
from adjudge.errors import InputError, shown
from adjudge.formats.columns import column_of, missing_column, place_of, worded
from adjudge.formats.source import Source
from adjudge.formats.tables import find_layout, line_of, parquet_frame, read_cells
from adjudge.formats.text import BLANKS, with_article
from adjudge.groundtruth.refused import check_left_out


@dataclass(frozen=True)
class ExpertTable:
    """Columns of text with the names that the file gives them, and the line of each row where there is one.

    ``rows`` are those of the file that are left, where some were left out.
    """

    source: Source
    names: tuple[str, ...]
    frame: pl.DataFrame
    line: Callable[[int], int | None]
    has_decimal_commas: bool = False
    rows: Ints | None = None

    def place(self, target: str, *, needed: bool = True) -> int | None:
        """Which column holds something, as far as names say; several for one thing are refused."""
        return place_of(
            self.names,
            "assessor" if target == "expert" else target,
            lambda message, _: self.source.error(message),
            needed=needed,
        )

    def __contains__(self, target: str) -> bool:
        return self.place(target, needed=target != "document") is not None

    def text(self, place: int) -> pl.Series:
        """A column by its place, without surrounding blanks; null where empty."""
        try:
            column = _as_text(self.frame.to_series(place)).str.strip_chars(BLANKS)
        except pl.exceptions.PolarsError:
            kind = self.frame.dtypes[place].base_type()
            raise self.source.error(f"expected text in {shown(self.names[place])}, got a column of {kind}") from None
        return column.set(column == "", None)

    def needed(self, target: str) -> pl.Series:
        """A column that must be there and have a value in every row."""
        column, wanted = self.text(self.needed_place(target)), with_article(worded(target))
        self.refuse(column.is_null().to_numpy(), lambda row: f"expected {wanted}, got nothing")
        return column

    def needed_place(self, target: str) -> int:
        """Which column holds something that must be there."""
        place = self.place(target)
        if place is None:
            raise self.source.error(missing_column(self.names, "assessor" if target == "expert" else target))
        return place

    def without(self, queries: Collection[str]) -> ExpertTable:
        """The rows about other queries; names that no row has are refused."""
        query = self.text(self.needed_place("query"))
        check_left_out(queries, query.drop_nulls().unique(maintain_order=True).to_list())
        kept = np.flatnonzero(~query.is_in(list(queries)).fill_null(False).to_numpy())
        return replace(self, frame=self.frame[kept], rows=kept)

    def refuse(self, bad: Mask, message: Callable[[int], str]) -> None:
        """Raise for the first bad row, with its line."""
        rows = np.flatnonzero(bad)
        if len(rows):
            raise self.error(message(int(rows[0])), int(rows[0]))

    def error(self, message: str, row: int) -> InputError:
        """Make the error for a row, counted from 0; where it has no line, the row is said, counted from 1."""
        place = row if self.rows is None else int(self.rows[row])
        line = self.line(place)
        return self.source.error(message if line is not None else f"row {place + 1}: {message}", line)


@dataclass(frozen=True)
class Nested:
    """What a file of JSON holds, where it is no table."""

    source: Source
    content: object

    def __contains__(self, target: str) -> bool:
        return False

    def without(self, queries: Collection[str]) -> Nested:
        """The same without some queries; names that it does not have are refused."""
        if not isinstance(self.content, Mapping):
            return self  # refused later
        names = {key: str(key).strip(BLANKS) for key in self.content}
        check_left_out(queries, list(names.values()))
        return replace(self, content={key: value for key, value in self.content.items() if names[key] not in queries})


def is_json(source: Source) -> bool:
    """Whether a file holds JSON."""
    return not source.begins(b"PAR1") and source.text.lstrip()[:1] in (b"{", b"[")


def open_table(source: Source) -> ExpertTable:
    """The table in a file of CSV, TSV or Parquet."""
    if source.begins(b"PAR1"):
        frame = parquet_frame(source)
        if not frame.height:
            raise source.error("expected at least one row of data, got none")
        return ExpertTable(source, tuple(frame.columns), frame, lambda row: None)
    return _text_table(source)


def _text_table(source: Source) -> ExpertTable:
    """A table of text; quotes may stand between tabs, too."""
    source.uncommented()  # refuses a file of comments only
    layout = find_layout(source, "\t,;", lambda fields: sum(map(bool, fields)) > 1, is_quoted=True)
    layout = replace(layout, has_header=True, skipped=max(layout.skipped, layout.line))
    names = tuple(name.strip(BLANKS) for name in layout.names)
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise source.error(f"expected each column once, got {shown(twice[0])} again", layout.line)
    frame = read_cells(source, layout)
    if not frame.height:
        raise source.error("expected at least one row of data, got none")
    return ExpertTable(source, names, frame, lambda row: line_of(source, layout, row), layout.has_decimal_commas)


def table_of_records(source: Source, records: Sequence[object], line: Callable[[int], int | None]) -> ExpertTable:
    """The table that records with names and values make."""
    names: dict[str, None] = {}
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            where = line(row)
            raise source.error(
                f"{'' if where else f'row {row + 1}: '}expected a record with names and values, got {shown(record)}",
                where,
            )
        names.update(dict.fromkeys(map(str, record)))
    if not names:
        raise source.error("expected at least one row of data, got none")
    try:
        columns = [column_of(name, [record.get(name) for record in records]) for name in names]  # type: ignore[attr-defined]
    except InputError as fault:
        raise source.error(str(fault)) from None
    nested = next((one.name for one in columns if one.dtype.is_nested() or one.dtype == pl.Object), None)
    if nested is not None:
        raise source.error(f"expected text or a number in {shown(nested)}, got a list or an object")
    return ExpertTable(source, tuple(names), pl.DataFrame(columns), line)


def _as_text(column: pl.Series) -> pl.Series:
    """Values as text: 7.0 is ``7``, as it is where names are numbers."""
    if column.dtype == pl.String:
        return column
    if not column.dtype.is_float():
        return column.cast(pl.String)
    value = pl.col(column.name).fill_nan(None)
    whole = value.cast(pl.Int64, strict=False)
    text = pl.when(value == whole).then(whole.cast(pl.String)).otherwise(value.cast(pl.String))
    return column.to_frame().select(text).to_series()


def in_order(codes: Codes) -> tuple[Ints, Ints]:
    """The distinct codes in the order in which they come, and the place among them of each."""
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return distinct[order].astype(np.int64), place[inverse]
