"""Tables as files: CSV, TSV, spreadsheets and Parquet, with the column names of :mod:`adjudge.formats.columns`.

The first line of a text table is its header when it holds a name that we know. Without a header the number of columns
says what they are:

=========== ====================================================================================================
runs        3: system, query, document, in rank order; 4: the same and the score
judgments   3: query, document, grade. Four columns need a header, for the fourth could be the grade (as in TREC
            qrels) or the assessor
metadata    3: document, artist, genre; 2 or more: document, column_2, column_3, …
=========== ====================================================================================================

How text is cut into cells, :mod:`adjudge.formats.source` says. The separator of CSV is the comma or the semicolon. TSV
has no quotes, what lies between tabs is the value, unless it is in UTF-16 (what Excel calls Unicode text) or all names
in its header are quoted.
"""

from __future__ import annotations

import io
from typing import ClassVar, Literal

import polars as pl

from adjudge.errors import InputError, kept_warnings, shown
from adjudge.formats.base import Format, Kind, refuse, register
from adjudge.formats.columns import hint
from adjudge.formats.schema import SCHEMAS, Table, plain_table
from adjudge.formats.source import SUFFIXES, Source, line_of, parquet_frame

_ALL: frozenset[Kind] = frozenset({"runs", "judgments", "metadata"})
_CONTROL = r"[\x00-\x1F]"
_FEWEST = 3  # rows from which on a header can be told from data

Style = Literal["necessary", "non_numeric", "never"]


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
        if len(layout.names) < 2:
            return False
        return layout.has_header or SCHEMAS[kind].fits(layout.names)

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
        style: Style = "never" if not self.is_quoted else "non_numeric" if is_like_comment else "necessary"
        return frame.write_csv(separator=self.separators[0], quote_style=style).encode()


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


def _refuse_unknown_header(table: Table) -> None:
    """Refuse a first row of three words that come nowhere else, above rows that repeat: it is a header, not a system.

    Only a run without scores has no number to tell its header by.
    """
    columns = list(table.frame)
    if table.heading is None or list(table.names) != ["system", "query", "document"] or table.height < _FEWEST:
        return
    if table.at(0) != table.heading:
        return  # it has a header
    first = [str(column[0]) for column in columns]
    are_words = not any(cell.isdigit() for cell in "".join(first))
    if (
        are_words
        and all((column[1:] != column[0]).all() for column in columns)
        and (
            any(column[1:].n_unique() < table.height - 1 for column in columns[:2])
            and any(column[1:].str.contains(r"\d").all() for column in columns)
        )
    ):
        came = ", ".join(map(shown, first))
        about = hint("query", "document", about="where it is a header")
        raise table.error(f"expected system, query and document, or a header with known names, got {came}{about}", 0)
