"""Tables: CSV, TSV and Parquet, with the column names of :mod:`adjudge.formats.columns`.

The first line of a text table is its header when it holds a name that we know. Without a header the number of columns
says what they are:

=========== ====================================================================================================
runs        3: system, query, document, in rank order; 4: the same and the score
judgments   3: query, document, grade. Four columns need a header, for the fourth could be the grade (as in TREC
            qrels) or the assessor
metadata    3: document, artist, genre; 2 or more: document, column_2, column_3, …
=========== ====================================================================================================

CSV fields may be quoted; the separator is the semicolon when the first line has one and no comma. TSV has no quotes:
what lies between tabs is the value. Lines that are empty (or hold nothing but separators and blanks) and lines that
begin with ``#`` are skipped. Every other line must have as many fields as the first. Text stays text: nothing is
guessed from digits.

Polars reads the file at once. Only where that fails, or where the last field of some line is empty (which for Polars is
the same as missing), is it read line by line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Literal

import polars as pl

from adjudge.errors import InputError, shown
from adjudge.formats.base import Format, Kind, register
from adjudge.formats.columns import canonical_frame, is_header, refuse
from adjudge.formats.source import Source
from adjudge.formats.text import BLANKS, is_number

_ALL: frozenset[Kind] = frozenset({"runs", "judgments", "metadata"})
_CONTROL = r"[\x00-\x1F]"
_HEADER = re.compile(rb"\A(?:[ \t\v\f]*\n)*[^\n]*\n?")

Style = Literal["necessary", "non_numeric", "never"]


@dataclass(frozen=True)
class Layout:
    """How one text table is written."""

    separator: str
    is_quoted: bool
    names: list[str]
    has_header: bool


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
        separator = self._separator(head[0])
        fields = split_fields(head[0], separator, self.is_quoted)
        if separator not in head[0] or fields is None:
            return False
        return is_header(fields, kind) or _fits(fields, kind)

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read a table; a line with more or fewer fields than the first is refused with its number."""
        layout = self._layout(source, kind)
        table = fast_table(source, layout)
        if table is None:
            table = slow_table(source, layout)

        def error(message: str, row: int | None) -> InputError:
            return source.error(message, None if row is None else self.line(source, kind, row))

        return canonical_frame(table, kind, name=source.stem, error=error, names=layout.names)

    def line(self, source: Source, kind: Kind, row: int) -> int | None:
        """First line of a record."""
        records = records_of(source, self._layout(source, kind))
        return next((number for number, _ in islice(records, row, None)), None)

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
        style: Style = "never" if not self.is_quoted else "non_numeric" if is_like_comment else "necessary"
        return frame.write_csv(separator=self.separators[0], quote_style=style).encode()

    def _separator(self, line: str) -> str:
        return next((separator for separator in self.separators if separator in line), self.separators[0])

    def _layout(self, source: Source, kind: Kind) -> Layout:
        """Find separator and columns from the first line."""
        number, line = next(source.lines(), (None, ""))
        if number is None:
            raise source.error("expected data, got only comments")
        separator = self._separator(line)
        fields = split_fields(line, separator, self.is_quoted)
        if fields is None:
            raise source.error(f"expected fields with balanced quotes, got {shown(line)}", number)
        has_header = is_header(fields, kind)
        names = fields if has_header else _names(fields, kind, source, number)
        return Layout(separator, self.is_quoted, names, has_header)


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
        table = parquet_frame(source)

        def error_at(message: str, row: int | None) -> InputError:
            return source.error(message if row is None else f"row {row + 1}: {message}")

        return canonical_frame(table, kind, name=source.stem, error=error_at)

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write the table as it is."""
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        return buffer.getvalue()


def parquet_frame(source: Source) -> pl.DataFrame:
    """The whole table of a Parquet file; one that is not intact is refused."""
    if not source.data:
        raise source.error("expected data, got an empty file")
    try:
        return pl.read_parquet(io.BytesIO(source.data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise source.error(f"expected an intact Parquet file, got {shown(reason, 100)}") from None


def split_fields(line: str, separator: str, is_quoted: bool) -> list[str] | None:
    """Split one line; None when its quotes do not balance."""
    if not is_quoted:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error:
        return None


def _fits(fields: list[str], kind: Kind) -> bool:
    """Whether a line without a header can be a row of the kind."""
    if kind == "runs":
        return len(fields) == 3 or (len(fields) == 4 and is_number(fields[3]))
    if kind == "judgments":
        return len(fields) == 3 and is_number(fields[2])
    return len(fields) > 1


def _names(fields: list[str], kind: Kind, source: Source, line: int) -> list[str]:
    """Names of the columns of a table without a header."""
    n = len(fields)
    if kind == "runs" and n in (3, 4):
        return ["system", "query", "document", "score"][:n]
    if kind == "judgments" and n == 3:
        return ["query", "document", "grade"]
    if kind == "metadata" and n == 3:
        return ["document", "artist", "genre"]
    if kind == "metadata" and n > 1:
        return ["document", *(f"column_{i}" for i in range(2, n + 1))]
    wanted = {"runs": "3 or 4 columns", "judgments": "3 columns", "metadata": "2 or more columns"}[kind]
    raise source.error(f"expected a header with known names, or {wanted}, got {n} in {shown(fields[0])}…", line)


def fast_table(source: Source, layout: Layout) -> pl.DataFrame | None:
    """Read all lines at once; None where some line may have missing or surplus fields."""
    text = source.uncommented()
    if layout.has_header:
        text = _HEADER.sub(b"", text, count=1)
    columns = [f"column_{i}" for i in range(len(layout.names))]
    try:
        table = pl.read_csv(
            text,
            separator=layout.separator,
            has_header=False,
            quote_char='"' if layout.is_quoted else None,
            schema=dict.fromkeys(columns, pl.String),
        )
    except pl.exceptions.PolarsError:
        return None
    if layout.is_quoted and b'""' in text:
        table = table.with_columns(pl.all().replace("", None))
    if table[columns[-1]].null_count():
        table = table.filter(~pl.all_horizontal(pl.all().fill_null("").str.strip_chars(BLANKS) == ""))
    return None if table[columns[-1]].null_count() else table


def slow_table(source: Source, layout: Layout) -> pl.DataFrame:
    """Read line by line; fields that are empty become null."""
    records = list(records_of(source, layout))
    columns = {
        f"column_{i}": pl.Series([fields[i] or None for _, fields in records], dtype=pl.String)
        for i in range(len(layout.names))
    }
    return pl.DataFrame(columns)


def records_of(source: Source, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield first line and fields of every record but the header; the first that is wrong is refused."""
    lines = ("\n" if line.startswith("#") else line + "\n" for line in source.text.decode().split("\n"))
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.is_quoted else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=layout.separator, quoting=quoting, strict=True)
    is_first, n = True, len(layout.names)
    while True:
        number = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise source.error(f"expected fields with balanced quotes, got {shown(error)}", number) from None
        if not (fields and fields[0].strip(BLANKS)) and not "".join(fields).strip(BLANKS):
            continue
        if not (is_first and layout.has_header):
            if len(fields) != n:
                raise source.error(f"expected {n} columns, got {len(fields)}", number)
            yield number, fields
        is_first = False
