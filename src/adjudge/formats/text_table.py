"""Tables of text with a header, as people's answers come: read fast, and with a line for every complaint.

Fields are separated by commas, semicolons or tabs, whichever the header has, and quoted where they need it. Every
line must have as many fields as the header; blank lines are skipped. Polars reads the file at once. Only where fields
are missing, or where a quoted field spans lines, is it read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import polars as pl

from adjudge.arrays import Floats, Mask
from adjudge.errors import InputError, shown
from adjudge.formats.source import Source
from adjudge.formats.tables import Layout, split_fields
from adjudge.formats.text import BLANKS

_BLANK = re.compile(rb"\n[ \t\v\f,;]*(?=\n|\Z)")
_LEADING = re.compile(rb"\A(?:[ \t\v\f]*\n)+")
_END = "\x1e"  # stands at the end of every line, so that a line that lacks fields shows


@dataclass(frozen=True)
class TextTable:
    """The cells of a file as text: ``columns`` by name in lower case, null where empty."""

    source: Source
    layout: Layout
    columns: pl.DataFrame

    @classmethod
    def open(cls, source: Source) -> TextTable:
        """Read a file with a header."""
        layout = _layout(source)
        frame = _fast(source, layout)
        if frame is None:
            frame = _slow(source, layout)
        if not frame.height:
            raise source.error("expected at least one row of data, got none")
        return cls(source, layout, frame)

    def __contains__(self, name: str) -> bool:
        return name in self.columns.columns

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.columns.height

    def text(self, name: str) -> pl.Series:
        """A column without surrounding blanks; null where empty, or everywhere when there is no such column."""
        if name not in self:
            return pl.Series(name, [None] * self.height, dtype=pl.String)
        stripped = self.columns[name].str.strip_chars(BLANKS)
        return stripped.to_frame().select(pl.col(name).replace("", None)).to_series()

    def needed(self, name: str) -> pl.Series:
        """A column that must be there and have a value in every row."""
        if name not in self:
            came = ", ".join(self.columns.columns[:8]) + (", …" if self.columns.width > 8 else "")
            raise self.source.error(f"expected a column {name!r}, got the columns {came}", self.header_line)
        column = self.text(name)
        self.refuse(column.is_null().to_numpy(), lambda row: f"expected something in {name!r}, got nothing")
        return column

    def numbers(self, name: str, *, least: float = -np.inf) -> Floats:
        """A column of numbers; NaN where empty."""
        column = self.text(name)
        values = column.cast(pl.Float64, strict=False)
        known = column.is_not_null()
        bad = known & ~(values.is_finite().fill_null(False) & (values >= least).fill_null(False))
        wanted = "a number" if np.isneginf(least) else f"a number of {least:g} or more"
        self.refuse(bad.to_numpy(), lambda row: f"expected {wanted} in {name!r}, got {shown(column[row])}")
        numbers: Floats = values.fill_null(np.nan).to_numpy().astype(np.float64)
        return numbers

    def one_of(self, name: str, choices: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """A column as places in ``choices``, -1 where empty; case does not count."""
        column = self.text(name)
        lowered = column.str.to_lowercase()
        places = lowered.replace_strict(list(choices), list(range(len(choices))), default=-2, return_dtype=pl.Int64)
        codes = np.where(column.is_null().to_numpy(), -1, places.to_numpy()).astype(np.int64)
        wanted = ", ".join(choices)
        self.refuse(codes == -2, lambda row: f"expected {wanted} in {name!r}, got {shown(column[row])}")
        return codes

    @property
    def header(self) -> tuple[int, str]:
        """Number and text of the line with the names of the columns."""
        return _header(self.source)

    @property
    def header_line(self) -> int:
        """Number of the line with the names of the columns."""
        return self.header[0]

    def refuse(self, bad: Mask, message: Callable[[int], str]) -> None:
        """Raise for the first bad row, with its line."""
        rows = np.flatnonzero(bad)
        if len(rows):
            raise self.error(message(int(rows[0])), int(rows[0]))

    def error(self, message: str, row: int) -> InputError:
        """Make the error for a row, counted from 0."""
        line = next((number for number, _ in islice(_records(self.source, self.layout), row, None)), None)
        return self.source.error(message, line)


def _lines(source: Source) -> list[str]:
    return source.text.decode().split("\n")


def _header(source: Source) -> tuple[int, str]:
    """Number and text of the first line that is not blank; the text of a source always has one."""
    blank = _LEADING.match(source.text)
    start = blank.end() if blank else 0
    end = source.text.find(b"\n", start)
    line = source.text[start:] if end < 0 else source.text[start:end]
    return source.text.count(b"\n", 0, start) + 1, line.decode()


def _layout(source: Source) -> Layout:
    """Separator and names of columns, from the first line that is not blank."""
    number, line = _header(source)
    separator = max("\t,;", key=line.count)
    fields = split_fields(line, separator, is_quoted=True)
    if fields is None:
        raise source.error(f"expected fields with balanced quotes, got {shown(line)}", number)
    names = [field.strip(BLANKS).lower() for field in fields]
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise source.error(f"expected each column once, got {shown(twice[0])} again", number)
    return Layout(separator, True, [name or f"column {i}" for i, name in enumerate(names)], True)


def _fast(source: Source, layout: Layout) -> pl.DataFrame | None:
    """All lines at once; None where a line has fields too few or too many, or a field spans lines."""
    text = _BLANK.sub(b"", _LEADING.sub(b"", source.text)).rstrip(b"\n") + b"\n"
    end = f"{layout.separator}{_END}\n".encode()
    try:
        frame = pl.read_csv(
            text.replace(b"\n", end),
            separator=layout.separator,
            has_header=False,
            skip_lines=1,
            quote_char='"',
            schema=dict.fromkeys([*layout.names, _END], pl.String),
        )
    except pl.exceptions.PolarsError:
        return None
    if frame.height != text.count(b"\n") - 1 or not bool((frame[_END] == _END).fill_null(False).all()):
        return None
    return frame.drop(_END)


def _slow(source: Source, layout: Layout) -> pl.DataFrame:
    rows = [fields for _, fields in _records(source, layout)]
    columns = {name: [row[i] or None for row in rows] for i, name in enumerate(layout.names)}
    return pl.DataFrame(columns, schema=dict.fromkeys(layout.names, pl.String))


def _records(source: Source, layout: Layout) -> list[tuple[int, list[str]]]:
    """First line and fields of every record but the header; the first that is wrong is refused."""
    import csv

    reader = csv.reader((line + "\n" for line in _lines(source)), delimiter=layout.separator, strict=True)
    found: list[tuple[int, list[str]]] = []
    is_header, n = True, len(layout.names)
    while True:
        number = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return found
        except csv.Error as error:
            raise source.error(f"expected fields with balanced quotes, got {shown(error)}", number) from None
        if not "".join(fields).strip(BLANKS):
            continue
        if not is_header:
            if len(fields) != n:
                raise source.error(f"expected {n} columns, got {len(fields)}", number)
            found.append((number, fields))
        is_header = False
