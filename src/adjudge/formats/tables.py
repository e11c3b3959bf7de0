"""Tables: CSV, TSV and Parquet, with the column names of :mod:`adjudge.formats.columns`.

The first line of a text table is its header when it holds a name that we know. Without a header the number of columns
says what they are:

=========== ====================================================================================================
runs        3: system, query, document, in rank order; 4: the same and the score
judgments   3: query, document, grade. Four columns need a header, for the fourth could be the grade (as in TREC
            qrels) or the assessor
metadata    3: document, artist, genre; 2 or more: document, column_2, column_3, …
=========== ====================================================================================================

CSV fields may be quoted. Its separator is the comma or the semicolon, whichever makes a header; a first line such as
``sep=;`` says it. Semicolons and tabs go with decimal commas, too. TSV has no quotes, what lies between tabs is the
value, unless it is in UTF-16 (what Excel calls Unicode text) or all names in its header are quoted. Rows above the
header with a single cell are a title, and passed over with a note.

Lines that are empty (or hold nothing but separators and spaces) are skipped, and so are comments: lines outside of
quotes that begin with ``#``. Every other line must have as many fields as the first. Text stays text: nothing is
guessed from digits.

Polars reads the file at once. Only where that fails, where the last field of some line is empty (which for Polars is
the same as missing), or where a line that begins with ``#`` may lie in quotes, is it read line by line.

Tables of text with a header, as people's answers come: read fast, and with a line for every complaint.

Fields are separated by commas, semicolons or tabs, whichever the header has, and quoted where they need it. Every
line must have as many fields as the header; blank lines are skipped, and there are no comments.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from adjudge.arrays import Floats, Mask
from adjudge.errors import InputError, kept_warnings, shown, warn
from adjudge.formats.base import Format, Kind, register
from adjudge.formats.columns import (
    COLUMNS,
    TABLES,
    ErrorAt,
    canonical_frame,
    hint,
    is_header,
    listed,
    place_of,
    places_said,
    refuse,
    with_points,
)
from adjudge.formats.source import BLANKS, SUFFIXES, Source, is_number

_ALL: frozenset[Kind] = frozenset({"runs", "judgments", "metadata"})
_CONTROL = r"[\x00-\x1F]"
_COMMENT = re.compile(rb"^#.*\n?", re.MULTILINE)
_HINT = re.compile(r"sep=([,;\t|])\s*", re.IGNORECASE)  # for Excel, on the first line
_DEEPEST = 6  # records among which a header below a title is looked for

csv.field_size_limit(2**31 - 1)  # a cell may hold a whole text

Style = Literal["necessary", "non_numeric", "never"]


@dataclass(frozen=True)
class Layout:
    """How one text table is written.

    ``line`` is that of the header, or of the first record where there is none, and ``skipped`` how many lines lie above
    the first record of data.
    """

    separator: str
    is_quoted: bool
    names: list[str]
    has_header: bool
    line: int = 1
    skipped: int = 0
    has_comments: bool = True

    @property
    def has_decimal_commas(self) -> bool:
        """Whether a comma between digits may stand for a point."""
        return self.separator != ","


Test = Callable[[Sequence[str]], bool]


_Record = tuple[int, int, list[str]]  # first line, last line, fields


class _QuoteError(Exception):
    """Quotes that do not balance, in the record that begins on a line."""

    def __init__(self, error: csv.Error, line: int) -> None:
        super().__init__(str(error))
        self.line = line


def find_layout(
    source: Source,
    separators: str,
    is_header: Test,
    *,
    fits: Test = lambda fields: True,
    is_quoted: bool | None = None,
    has_comments: bool = True,
) -> Layout:
    """Find the separator and the header of a table: the first record, or one below a title of single cells.

    Of several separators the one is taken that makes a header, then one that makes as many fields in the next record,
    one without a title, one that makes a record that ``fits``, and the one that makes the most fields. ``is_quoted``
    says whether fields may be quoted; when not given, they may unless the separator is a tab.
    """
    first = next(source.every_line())
    hint = _HINT.fullmatch(first)
    if hint is not None:
        separators = hint[1]
    top = "".join(islice(source.every_line(), _DEEPEST * 3))
    found: list[tuple[tuple[int, ...], Layout, list[list[str]]]] = []
    for separator in [sign for sign in separators if sign in top] or separators[:1]:
        quoted = _is_quoted(source, separator, first) if is_quoted is None else is_quoted
        layout = Layout(separator, quoted, [], False, skipped=0 if hint is None else 1, has_comments=has_comments)
        records = _records(source, layout)
        if head := _readable(islice(records, _DEEPEST)):
            place = next((i for i, (_, _, fields) in enumerate(head) if is_header(fields)), None)
            if place is None or not all(_is_title(fields) for _, _, fields in head[:place]):
                place = 0
            (line, last, names), is_named = head[place], is_header(head[place][2])
            skipped = last if is_named else line - 1
            layout = replace(layout, names=names, has_header=is_named, line=line, skipped=skipped)
            is_even = all(len(fields) == len(names) for _, _, fields in head[place : place + 2])
            rating = (is_named, is_even, place == 0, fits(names), len(names))
            found.append((rating, layout, [fields for _, _, fields in head[:place]]))
    if not found:
        number, line_text = next(((n, t) for n, t in source.lines()), (None, ""))
        if number is None:
            raise source.error("expected data, got only comments")
        raise source.error(f"expected fields with balanced quotes, got {shown(line_text)}", number)
    _, layout, title = max(found, key=lambda one: one[0])
    if title:
        note = f"the header is below the title {shown(title[0][0].strip(BLANKS))}, which is passed over."
        warn(str(source.error(note, layout.line)), stacklevel=4)
    return layout


def _readable(records: Iterator[_Record]) -> list[_Record]:
    """The records before the first whose quotes do not balance."""
    head: list[_Record] = []
    with suppress(_QuoteError):
        head.extend(records)
    return head


def _is_quoted(source: Source, separator: str, first: str) -> bool:
    if separator != "\t" or source.is_utf_16:
        return True
    return "\t" in first and all(name[:1] == name[-1:] == '"' != name for name in first.split("\t"))


def _is_title(fields: Sequence[str]) -> bool:
    """Whether only the first cell of a row is filled."""
    return not "".join(fields[1:]).strip(BLANKS)


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
                layout = self._found(source, kind)
        except InputError:
            return False
        if len(layout.names) < 2:
            return False
        return layout.has_header or _fits(layout.names, kind)

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read a table; a line with more or fewer fields than the first is refused with its number."""
        layout = self._layout(source, kind)

        def error(message: str, row: int | None) -> InputError:
            return source.error(message, None if row is None else line_of(source, layout, row))

        return canonical_frame(
            read_cells(source, layout),
            kind,
            name=source.stem,
            error=error,
            names=layout.names,
            decimal_commas=layout.has_decimal_commas,
        )

    def line(self, source: Source, kind: Kind, row: int) -> int | None:
        """First line of a record."""
        with kept_warnings():
            return line_of(source, self._layout(source, kind), row)

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

    def _layout(self, source: Source, kind: Kind) -> Layout:
        """Find separator and columns."""
        layout = self._found(source, kind)
        names = layout.names if layout.has_header else _names(layout.names, kind, source, layout.line)
        return replace(layout, names=names)

    def _found(self, source: Source, kind: Kind) -> Layout:
        return find_layout(
            source, self.separators, lambda fields: is_header(fields, kind), fits=lambda fields: _fits(fields, kind)
        )


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


def _fits(fields: Sequence[str], kind: Kind) -> bool:
    """Whether a line without a header can be a row of the kind."""
    if kind == "runs":
        return len(fields) == 3 or (len(fields) == 4 and _is_number(fields[3]))
    if kind == "judgments":
        return len(fields) == 3 and _is_number(fields[2])
    return len(fields) > 1


def _is_number(text: str) -> bool:
    """Whether a field holds a number, perhaps with a decimal comma."""
    return is_number(text.strip(BLANKS).replace(",", ".", 1))


def _names(fields: list[str], kind: Kind, source: Source, line: int) -> list[str]:
    """Names of the columns of a table without a header."""
    n, needed = len(fields), [target for target, is_needed in TABLES[kind].items() if is_needed]
    what_to_do = hint(*needed, about="where it is a header")
    number = "score" if kind == "runs" and n == 4 else "grade" if kind == "judgments" and n == 3 else None
    if number is not None and not _is_number(fields[-1]):
        raise source.error(f"expected a finite number as {number}, got {shown(fields[-1])}{what_to_do}", line)
    if kind == "runs" and n in (3, 4):
        return ["system", "query", "document", "score"][:n]
    if kind == "judgments" and n == 3:
        return ["query", "document", "grade"]
    if kind == "metadata" and n == 3:
        return ["document", "artist", "genre"]
    if kind == "metadata" and n > 1:
        return ["document", *(f"column_{i}" for i in range(2, n + 1))]
    wanted = {"runs": "3 or 4 columns", "judgments": "3 columns", "metadata": "2 or more columns"}[kind]
    came = f"{n} in {shown(fields[0])}…{what_to_do}"
    raise source.error(f"expected a header with known names, or {wanted}, got {came}", line)


def read_cells(source: Source, layout: Layout) -> pl.DataFrame:
    """All cells as text, null where empty; the first line with missing or surplus fields is refused."""
    table = _fast_table(source, layout)
    return _slow_table(source, layout) if table is None else table


def line_of(source: Source, layout: Layout, row: int) -> int | None:
    """The first line of a record, counted from 0."""
    return next((number for number, _ in islice(records_of(source, layout), row, None)), None)


def _fast_table(source: Source, layout: Layout) -> pl.DataFrame | None:
    """Read all lines at once; None where some line may have missing or surplus fields, or may be no comment."""
    text, start = source.text, 0
    for _ in range(layout.skipped):
        start = text.find(b"\n", start) + 1 or len(text)
    text = text[start:] if start else text
    if layout.has_comments and b"#" in text and (text.startswith(b"#") or b"\n#" in text):
        if layout.is_quoted and b'"' in text:
            return None
        _note_comments(source, layout, [line.decode() for line in _COMMENT.findall(text)])
        text = _COMMENT.sub(b"", text)
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


def _slow_table(source: Source, layout: Layout) -> pl.DataFrame:
    """Read line by line; fields that are empty become null."""
    comments: list[str] = []
    records = list(records_of(source, layout, comments))
    _note_comments(source, layout, comments)
    columns = {
        f"column_{i}": pl.Series([fields[i] or None for _, fields in records], dtype=pl.String)
        for i in range(len(layout.names))
    }
    return pl.DataFrame(columns)


def _note_comments(source: Source, layout: Layout, comments: Sequence[str]) -> None:
    """Say which comments could be rows: whoever did not mean them as comments would miss them."""
    alike = [line.strip() for line in comments if line.count(layout.separator) == len(layout.names) - 1 > 0]
    if alike:
        many = f"{len(alike)} lines that begin with # and could be rows are skipped as comments, first"
        said = many if len(alike) > 1 else "1 line that begins with # and could be a row is skipped as a comment:"
        warn(f"{source.name}: {said} {shown(alike[0])}.", stacklevel=5)


def records_of(source: Source, layout: Layout, comments: list[str] | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield first line and fields of every record of data; the first that is wrong is refused."""
    n = len(layout.names)
    try:
        for first, _, fields in _records(source, layout, comments):
            if len(fields) != n:
                raise source.error(f"expected {n} columns, got {len(fields)}", first)
            yield first, fields
    except _QuoteError as error:
        raise source.error(f"expected fields with balanced quotes, got {shown(error)}", error.line) from None


def _records(source: Source, layout: Layout, comments: list[str] | None = None) -> Iterator[_Record]:
    """Yield every record that is not blank, below the lines that are skipped; comments are added to a list.

    Only the first line of a record can be a comment: the others lie in quotes.
    """
    is_first = True

    def lines() -> Iterator[str]:
        nonlocal is_first
        for line in islice(source.every_line(), layout.skipped, None):
            if is_first and layout.has_comments and line.startswith("#"):
                if comments is not None:
                    comments.append(line)
                yield "\n"
            else:
                is_first = False
                yield line + "\n"

    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.is_quoted else csv.QUOTE_NONE
    reader = csv.reader(lines(), delimiter=layout.separator, quoting=quoting, strict=True)
    while True:
        number, is_first = reader.line_num + layout.skipped + 1, True
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _QuoteError(error, number) from None
        if (fields and fields[0].strip(BLANKS)) or "".join(fields).strip(BLANKS):
            yield number, reader.line_num + layout.skipped, fields


@dataclass(frozen=True)
class TextTable:
    """The cells of a file as text: ``columns`` by name in lower case, null where empty."""

    source: Source
    layout: Layout
    columns: pl.DataFrame

    @classmethod
    def open(cls, source: Source, known: Mapping[str, str] | None = None) -> TextTable:
        """Read a file with a header.

        ``known`` gives columns of :data:`~adjudge.formats.columns.COLUMNS` the names that the reader asks for, where no
        column has them already.
        """
        layout = find_layout(
            source, "\t,;", lambda fields: sum(map(bool, fields)) > 1, is_quoted=True, has_comments=False
        )
        layout = replace(layout, has_header=True, skipped=max(layout.skipped, layout.line))
        frame = read_cells(source, layout)
        if not frame.height:
            raise source.error("expected at least one row of data, got none")
        names = _column_names(layout, known or {}, lambda message, _: source.error(message, layout.line))
        return cls(source, layout, frame.rename(dict(zip(frame.columns, names, strict=True))))

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
            came = listed(self.columns.columns) + (hint(name) if name in COLUMNS else "")
            raise self.source.error(f"expected a column {name!r}, got the columns {came}", self.header_line)
        column = self.text(name)
        self.refuse(column.is_null().to_numpy(), lambda row: f"expected something in {name!r}, got nothing")
        return column

    def numbers(self, name: str, *, least: float = -np.inf) -> Floats:
        """A column of numbers; NaN where empty."""
        column = self.text(name)
        values = (with_points(column) if self.layout.has_decimal_commas else column).cast(pl.Float64, strict=False)
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
    def header_line(self) -> int:
        """Number of the line with the names of the columns."""
        return self.layout.line

    def refuse(self, bad: Mask, message: Callable[[int], str]) -> None:
        """Raise for the first bad row, with its line."""
        rows = np.flatnonzero(bad)
        if len(rows):
            raise self.error(message(int(rows[0])), int(rows[0]))

    def error(self, message: str, row: int) -> InputError:
        """Make the error for a row, counted from 0."""
        return self.source.error(message, line_of(self.source, self.layout, row))


def _column_names(layout: Layout, known: Mapping[str, str], error: ErrorAt) -> list[str]:
    """What columns are called: as the user says, as the reader knows them, or as in the file, in lower case."""
    names = [name.strip(BLANKS).lower() for name in layout.names]
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise error(f"expected each column once, got {shown(twice[0])} again", None)
    for target, place in places_said(layout.names).items():
        wanted = known.get(target, target)
        names = [f"{name} of the file" if name == wanted else name for name in names]
        names[place] = wanted
    for target, wanted in known.items():
        found = None if wanted in names else place_of(layout.names, target, error)
        if found is not None:
            names[found] = wanted
    return [name or f"column {i}" for i, name in enumerate(names)]
