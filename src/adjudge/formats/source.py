"""Where data come from: the bytes of a file as text, cells or JSON, the same for every reader.

Compression (gzip, zstd, bzip2, xz) is recognised by the first bytes, not by the name of the file. Text is UTF-8 with
or without a byte-order mark, or UTF-16 with one; anything else is read as Latin-1 or Windows-1252, with a note. CRLF
and lone CR end a line.

A spreadsheet (``.xlsx``, ``.xlsb``, ``.xls``, ``.ods``) is read as CSV: the first visible sheet that is not empty, or
the one that ``table.xlsx#Sheet2`` names. Rows keep their numbers, whole numbers lose their ``.0`` (1.0 is ``1``), dates
are ISO 8601, and text is quoted, so that a cell that begins with ``#`` is not a comment.

The separator of a text table is the one that makes a header, or the one that a first line such as ``sep=;`` names.
Semicolons and tabs allow decimal commas. Rows above the header with fewer cells than it has are a title, which is
skipped with a note. Empty lines (also those of separators and spaces alone) and comments (lines outside quotes that
begin with ``#``) are skipped; every other line must have as many fields as the first. Text stays text: nothing is
guessed from digits. Polars reads a whole table at once; it is read line by line only where that fails, where the last
field of a line is empty (for Polars, the same as missing), or where a line that begins with ``#`` may be quoted.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import polars as pl

from adjudge.errors import InputError, reason, shown, warn
from adjudge.extras import need
from adjudge.io import BROKEN, COMPRESSIONS, without_compression
from adjudge.text import counted, listed

csv.field_size_limit(2**31 - 1)  # a cell may hold a whole text

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")  # how ZIP and OLE files begin


def named_sheet(path: Path) -> tuple[Path, str | None]:
    """The file and the sheet that ``table.xlsx#Sheet2`` means; a file of exactly that name is the file.

    >>> named_sheet(Path("a/b.xlsx#May")), named_sheet(Path("a#b.txt"))
    ((PosixPath('a/b.xlsx'), 'May'), (PosixPath('a#b.txt'), None))
    """
    name, mark, sheet = str(path).partition("#")
    while mark and not name.lower().endswith(SUFFIXES):
        more, mark, sheet = sheet.partition("#")
        name = f"{name}#{more}"
    return (path, None) if not mark or path.exists() else (Path(name), sheet)


def _sheet_rows(data: bytes, sheet: str | None, name: str) -> list[list[Any]]:
    """The cells of a sheet, row by row; ``name`` is what messages call the file."""
    need("spreadsheets", f"{name}: spreadsheets need")
    import python_calamine as calamine

    try:
        book = calamine.load_workbook(io.BytesIO(data))
        sheets = [each for each in book.sheets_metadata if each.typ == calamine.SheetTypeEnum.WorkSheet]
        if sheet is None:
            visible = [each.name for each in sheets if each.visible == calamine.SheetVisibleEnum.Visible]
            full = [each for each in visible if book.get_sheet_by_name(each).height]
            if len(full) > 1:
                others = listed([f"'{name}#{each}'" for each in full[1:]], "or", most=3)
                warn(
                    f"{name}: has {len(full)} sheets; {shown(full[0])} is read. To read another: {others}.",
                    stacklevel=6,
                )
            return book.get_sheet_by_name(full[0]).to_python(skip_empty_area=False) if full else []
        if sheet not in [each.name for each in sheets]:
            names = ", ".join(shown(each.name) for each in sheets)
            raise InputError(f"expected the sheet {shown(sheet)}, got {names}", source=name)
        return book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        came = "a password" if isinstance(error, calamine.PasswordError) else shown(error, 100)
        raise InputError(f"expected an intact spreadsheet, got {came}", source=name) from None


def _text_of_rows(rows: Sequence[Sequence[Any]]) -> tuple[bytes, list[int]]:
    """CSV of the columns that are not empty, and the line on which each row begins."""
    used = [i for row in rows for i, cell in enumerate(row) if cell not in ("", None)]
    first, end = (min(used), max(used) + 1) if used else (0, 0)
    text, starts, line = io.StringIO(), [], 1
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    for row in rows:
        cells = [_cell(cell) for cell in row[first:end]]
        starts.append(line)
        line += 1 + sum(cell.count("\n") for cell in cells if isinstance(cell, str))
        if any(cell not in ("", None) for cell in cells):
            writer.writerow(cells)
        else:
            text.write("\n")
    return text.getvalue().encode(), starts


def _cell(value: Any) -> str | int | float | None:
    """The content of a cell: numbers as they are, anything else as text.

    >>> _cell(1.0), _cell(0.5), _cell(datetime(2026, 5, 1)), _cell(True), _cell("#1")
    (1, 0.5, '2026-05-01', 'TRUE', '#1')
    """
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime) and value.time() == time.min:
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n") or None
    return value  # type: ignore[no-any-return]


SPACES = " \t\n\r\v\f"
"""White space of ASCII; any other, such as the no-break space, is part of a name."""


def is_number(text: str) -> bool:
    """Whether Polars reads a text as a number, which excludes Python's ``1_000`` and digits beyond ASCII.

    >>> is_number("1e-3"), is_number("1_000"), is_number("²")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


_COMMENT = re.compile(rb"^#.*\n?", re.MULTILINE)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NOT_WINDOWS_1252 = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")


@dataclass(frozen=True)
class Source:
    """The bytes of one file as they are on disk, and the views of them that readers need."""

    name: str
    packed: bytes
    sheet: str | None = None

    @classmethod
    def open(cls, path: Path) -> Source:
        """Read a whole file; a missing or unreadable one is an :class:`InputError`.

        ``table.xlsx#Sheet2`` is a sheet of a spreadsheet.
        """
        file, sheet = named_sheet(path)
        try:
            return cls(str(path), file.read_bytes(), sheet)
        except (OSError, ValueError) as error:
            raise unreadable(path, error) from None

    @classmethod
    def stdin(cls) -> Source:
        """Read standard input to its end."""
        name = "<stdin>"
        if sys.stdin is None:
            raise InputError("cannot be read: it is closed", source=name)
        try:
            return cls(name, sys.stdin.buffer.read())
        except (OSError, ValueError) as error:
            raise unreadable(name, error) from None

    @property
    def stem(self) -> str:
        """File name without directories and suffixes: ``runs/bm25.txt.gz`` is ``bm25``, ``a.xlsx#May`` is ``a#May``."""
        if self.sheet is not None:
            return f"{named_sheet(Path(self.name))[0].stem}#{self.sheet}"
        return without_compression(Path(self.name)).stem

    @property
    def suffix(self) -> str:
        """Suffix in lower case, without that of a compression: ``.csv`` for ``a.CSV.zst``."""
        return without_compression(Path(self.name)).suffix.lower()

    @cached_property
    def sha256(self) -> str:
        """Digest of the file on disk, for the provenance of results."""
        return hashlib.sha256(self.packed).hexdigest()

    @cached_property
    def data(self) -> bytes:
        """The decompressed bytes of the file."""
        for compression in COMPRESSIONS:
            if compression.magic.match(self.packed):
                try:
                    return compression.unpack(self.packed)
                except BROKEN as error:
                    raise self.error(f"expected intact compressed data, got {shown(error)}") from None
        return self.packed

    def begins(self, *magic: bytes) -> bool:
        """Whether the decompressed file begins with any of these bytes; False where it cannot be decompressed."""
        try:
            return self.data.startswith(magic)
        except InputError:
            return False

    @property
    def is_spreadsheet(self) -> bool:
        """Whether the file is a workbook of Excel or LibreOffice, or at least packed as one, whatever its name."""
        return self.begins(*_WORKBOOKS)

    @property
    def is_utf_16(self) -> bool:
        """Whether the text is in UTF-16, as Excel saves "Unicode text"."""
        return self.data.startswith(_UTF_16)

    @cached_property
    def text(self) -> bytes:
        """UTF-8 text with LF as line end and without byte-order mark; anything but text is refused with its line."""
        if self.is_spreadsheet:
            return self._sheet[0]
        data = self.data
        if self.is_utf_16:
            try:
                data = data.decode("utf-16").encode()
            except UnicodeDecodeError:
                raise self.error("expected text, got UTF-16 that is cut or damaged") from None
        data = data.removeprefix(b"\xef\xbb\xbf")
        if b"\0" in data:
            line = _line_at(data, data.index(b"\0"))
            what = "binary data (a zero byte); save UTF-16 with a byte order mark, or as UTF-8"
            raise self.error(f"expected text, got {what}", line)
        if not data.isascii():
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                data = self._recoded(data, error.start)
        data = _plain_ends(data)
        if not data or data.isspace():
            raise self.error("expected data, got an empty file")
        return data

    def _recoded(self, data: bytes, place: int) -> bytes:
        """Text in Latin-1 or Windows-1252 as UTF-8; ``place`` is the first byte that is not UTF-8.

        Bytes that neither encoding has, control characters, and UTF-8 that is damaged in places are refused.
        """
        line = _line_at(data, place)
        bad, mixed = _NOT_WINDOWS_1252.search(data), data.decode("utf-8", errors="replace").replace("\ufffd", "")
        if bad is not None or not mixed.isascii():
            came = f"the byte 0x{data[place]:02x}" if bad is None else f"the byte 0x{data[bad.start()]:02x}"
            wanted = "UTF-8 text" if bad is None else "text in UTF-8, UTF-16, Latin-1 or Windows-1252"
            raise self.error(f"expected {wanted}, got {came}", line if bad is None else _line_at(data, bad.start()))
        encoding = "Windows-1252" if re.search(rb"[\x80-\x9f]", data) else "Latin-1"
        warn(f"{self.name}: not UTF-8 (line {line}); read as {encoding}.", stacklevel=4)
        return data.decode("cp1252").encode()

    @cached_property
    def _sheet(self) -> tuple[bytes, list[int]]:
        """The CSV of a sheet, and the line on which each of its rows begins."""
        text, starts = _text_of_rows(_sheet_rows(self.data, self.sheet, self.name))
        if not text.strip():
            raise InputError("expected data, got an empty spreadsheet", source=self.name)
        return text, starts

    def uncommented(self) -> bytes:
        """The text without lines that begin with ``#``; a file of comments alone is refused."""
        text = self.text
        if b"#" in text and (text.startswith(b"#") or b"\n#" in text):  # one byte is found far faster than two
            text = _COMMENT.sub(b"", text)
            if not text.strip():
                raise self.error("expected data, got only comments")
        return text

    def head(self, lines: int = 20) -> list[str]:
        """The first lines that are neither blank nor comments, for sniffing; none if the file is not text."""
        try:
            return [line for _, line in islice(self.lines(), lines)]
        except InputError:
            return []

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield number and text of every line that is neither blank nor a comment. Slow: for sniffing and errors."""
        for number, line in enumerate(self.every_line(), start=1):
            if line.strip(SPACES) and not line.startswith("#"):
                yield number, line

    def every_line(self) -> Iterator[str]:
        """Yield every line, one at a time, without its end."""
        start, text = 0, self.text
        while start < len(text):
            end = text.find(b"\n", start)
            end = len(text) if end < 0 else end
            yield text[start:end].decode("utf-8")
            start = end + 1

    def error(self, message: str, line: int | None = None) -> InputError:
        """An :class:`InputError` that names this file; the line of a spreadsheet is the row of its sheet."""
        if line is not None and self.is_spreadsheet:
            line = bisect_right(self._sheet[1], line)
        return InputError(message, source=self.name, line=line)


STDIN = Path("<stdin>")
"""Stands for standard input among paths."""


def open_source(path: str | os.PathLike[str]) -> Source:
    """Read a file, or standard input (``-``)."""
    return Source.stdin() if path is STDIN or os.fspath(path) == "-" else Source.open(Path(path))


def unreadable(path: Path | str, error: Exception) -> InputError:
    """The error for a file or directory that the system does not let us read."""
    return InputError(f"cannot be read: {reason(error)}", source=str(path))


def _plain_ends(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _line_at(data: bytes, offset: int) -> int:
    return _plain_ends(data[:offset]).count(b"\n") + 1


_SEPARATOR = re.compile(r"sep=([,;\t|])\s*", re.IGNORECASE)  # for Excel, on the first line
_DEEPEST = 6  # records among which a header below a title is searched


@dataclass(frozen=True)
class Layout:
    """How one text table is written.

    ``line`` is the line of the header, or of the first record without one; ``skipped`` lines are above the data.
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

    Of several separators, one that makes a header is preferred, then one that makes as many fields in the next record,
    one without a title, one that makes a record that ``fits``, and one that makes the most fields. ``is_quoted`` says
    whether fields may be quoted; if not given, they may be unless the separator is a tab.
    """
    first = next(source.every_line())
    hint = _SEPARATOR.fullmatch(first)
    if hint is not None:
        separators = hint[1]
    top = "".join(islice(source.every_line(), _DEEPEST * 3))
    found: list[tuple[tuple[int, ...], Layout, list[list[str]]]] = []
    for separator in [each for each in separators if each in top] or separators[:1]:
        quoted = _is_quoted(source, separator, first) if is_quoted is None else is_quoted
        layout = Layout(separator, quoted, [], False, skipped=0 if hint is None else 1, has_comments=has_comments)
        head: list[_Record] = []
        with suppress(InputError):  # quotes that do not balance
            head.extend(islice(_records(source, layout), _DEEPEST))
        if head:
            place = next((i for i, (_, _, fields) in enumerate(head) if is_header(fields)), None)
            if place is None or any(_n_filled(fields) >= _n_filled(head[place][2]) for _, _, fields in head[:place]):
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
    _, layout, title = max(found, key=lambda rated: rated[0])
    if title:
        note = f"the header is below the title {shown(title[0][0].strip(SPACES))}, which is skipped."
        warn(str(source.error(note, layout.line)), stacklevel=4)
    return layout


def _is_quoted(source: Source, separator: str, first: str) -> bool:
    if separator != "\t" or source.is_utf_16:
        return True
    return "\t" in first and all(name[:1] == name[-1:] == '"' != name for name in first.split("\t"))


def _n_filled(fields: Sequence[str]) -> int:
    return sum(bool(field.strip(SPACES)) for field in fields)


def parquet_frame(source: Source) -> pl.DataFrame:
    """The table of a Parquet file; a damaged file is refused."""
    if not source.data:
        raise source.error("expected data, got an empty file")
    try:
        return pl.read_parquet(io.BytesIO(source.data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        came = shown((str(error).splitlines() or [""])[0], 100)
        raise source.error(f"expected an intact Parquet file, got {came}") from None


def read_cells(source: Source, layout: Layout) -> pl.DataFrame:
    """All cells as text, null where empty; the first line with missing or surplus fields is refused."""
    table = _read_at_once(source, layout)
    if table is not None:
        return table
    comments: list[str] = []
    records = list(records_of(source, layout, comments))
    _note_comments(source, layout, comments)
    columns = {
        f"column_{i}": pl.Series([fields[i] or None for _, fields in records], dtype=pl.String)
        for i in range(len(layout.names))
    }
    return pl.DataFrame(columns)


def line_of(source: Source, layout: Layout, row: int) -> int | None:
    """The first line of a record, counted from 0."""
    return next((number for number, _ in islice(records_of(source, layout), row, None)), None)


def _read_at_once(source: Source, layout: Layout) -> pl.DataFrame | None:
    """The cells of all lines; None where a line may have missing or surplus fields, or a comment may be quoted."""
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
        table = table.filter(~pl.all_horizontal(pl.all().fill_null("").str.strip_chars(SPACES) == ""))
    return None if table[columns[-1]].null_count() else table


def _note_comments(source: Source, layout: Layout, comments: Sequence[str]) -> None:
    """Say which comments could be rows, in case they were not meant as comments."""
    alike = [line.strip() for line in comments if line.count(layout.separator) == len(layout.names) - 1 > 0]
    if alike:
        said = f"skipped as comments: {counted(len(alike), 'line')} that could be rows"
        warn(f"{source.name}: {said}, first {shown(alike[0])}.", stacklevel=5)


def records_of(source: Source, layout: Layout, comments: list[str] | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield first line and fields of every record of data; the first that is wrong is refused."""
    n = len(layout.names)
    for first, _, fields in _records(source, layout, comments):
        if len(fields) != n:
            raise source.error(f"expected {n} columns, got {len(fields)}", first)
        yield first, fields


def _records(source: Source, layout: Layout, comments: list[str] | None = None) -> Iterator[_Record]:
    """Yield every record that is not blank, below the lines that are skipped; append comments to a list.

    Only the first line of a record can be a comment: the others are quoted. Quotes that do not balance are refused.
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
            raise source.error(f"expected fields with balanced quotes, got {shown(error)}", number) from None
        if (fields and fields[0].strip(SPACES)) or "".join(fields).strip(SPACES):
            yield number, reader.line_num + layout.skipped, fields


def is_json(source: Source) -> bool:
    """Whether a file holds JSON."""
    return not source.begins(b"PAR1") and source.text.lstrip()[:1] in (b"{", b"[")


def has_json_lines(source: Source) -> bool:
    """Whether a file has at least two lines and the first is an object by itself."""
    first = source.head(2)
    if len(first) < 2 or not first[0].lstrip().startswith("{"):
        return False
    try:
        json.loads(first[0])
    except (ValueError, RecursionError):
        return False
    return True


def json_lines(source: Source) -> list[tuple[int, object]] | None:
    """Line number and record of JSON lines; None for a file whose first line is not a record by itself."""
    if not has_json_lines(source):
        return None
    return [(number, _loads(line, source, number)) for number, line in source.lines()]


def parse_json(source: Source) -> object:
    """The content of a JSON file."""
    return _loads(source.text.decode(), source)


def _loads(text: str, source: Source, line: int | None = None) -> Any:
    """Parse JSON; errors name the line."""

    def build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise source.error(f"expected JSON, got the key {shown(twice)} twice in one object", line)
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=build_object)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        rest = text[error.pos :].split("\n", 1)[0].strip()
        came = shown(rest, 40) if rest else "the end of a line" if text[error.pos :].strip() else "the end of the text"
        raise source.error(f"expected JSON, got {came}", (line or 1) + error.lineno - 1) from None
    except RecursionError:
        raise source.error("expected JSON, got too many levels", line) from None
    except ValueError as error:
        raise source.error(f"expected JSON, got {shown(error, 100)}", line) from None
