"""Where data come from: a file's bytes, made plain once for every reader.

Compression (gzip, zstd, bzip2, xz) is recognised by its first bytes, not by the name of the file. Text is UTF-8 with
or without a byte-order mark, or UTF-16 with one; what is neither is read as Latin-1 or Windows-1252, with a note. CRLF
and lone CR count as line ends. The text of a spreadsheet is CSV: every reader of tables reads one.

Sheets of Excel (``.xlsx``, ``.xlsb``, ``.xls``) and LibreOffice (``.ods``) as CSV, which all readers of tables read.

The first sheet that is visible and not empty is read; ``table.xlsx#Sheet2`` names another. Rows keep their numbers:
an empty one is a blank line. Whole numbers lose their ``.0`` (1.0 is ``1``), dates are written as ISO 8601, and text is
quoted, so that a cell that begins with ``#`` is no comment.

Text tables are cut into cells here, too, and JSON is parsed. CSV fields may be quoted. The separator is the one that
makes a header; a first line such as ``sep=;`` says it. Semicolons and tabs go with decimal commas, too. Rows above the
header with fewer cells than it has are a title, and passed over with a note. Lines that are empty (or hold nothing but
separators and spaces) are skipped, and so are comments: lines outside of quotes that begin with ``#``. Every other line
must have as many fields as the first. Text stays text: nothing is guessed from digits.

Polars reads a table at once. Only where that fails, where the last field of some line is empty (which for Polars is the
same as missing), or where a line that begins with ``#`` may lie in quotes, is it read line by line.
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

from adjudge.errors import InputError, shown, warn
from adjudge.extras import need
from adjudge.io import BROKEN, COMPRESSIONS, without_compression

csv.field_size_limit(2**31 - 1)  # a cell may hold a whole text

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def is_spreadsheet(data: bytes) -> bool:
    """Whether data are a workbook, or at least packed as one."""
    return data.startswith((_ZIP, _OLE))


def named_sheet(path: Path) -> tuple[Path, str | None]:
    """The file and the sheet that ``table.xlsx#Sheet2`` means; a file that is called so is that file.

    >>> named_sheet(Path("a/b.xlsx#May")), named_sheet(Path("a#b.txt"))
    ((PosixPath('a/b.xlsx'), 'May'), (PosixPath('a#b.txt'), None))
    """
    name, sign, sheet = str(path).partition("#")
    while sign and not name.lower().endswith(SUFFIXES):
        more, sign, sheet = sheet.partition("#")
        name = f"{name}#{more}"
    return (path, None) if not sign or path.exists() else (Path(name), sheet)


def sheet_rows(data: bytes, sheet: str | None, name: str) -> list[list[Any]]:
    """The cells of a sheet, row by row from the first; ``name`` is what messages call the file."""
    need("spreadsheets", f"{name}: spreadsheets need")
    import python_calamine as calamine

    try:
        book = calamine.load_workbook(io.BytesIO(data))
        about = [one for one in book.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
        if sheet is not None:
            if sheet not in [one.name for one in about]:
                names = ", ".join(shown(one.name) for one in about)
                raise InputError(f"expected the sheet {shown(sheet)}, got {names}", source=name)
            return book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
        visible = [one.name for one in about if one.visible == calamine.SheetVisibleEnum.Visible]
        full = [one for one in visible if book.get_sheet_by_name(one).height]
        if len(full) > 1:
            others = ", ".join(f"'{name}#{one}'" for one in full[1:4]) + (", …" if len(full) > 4 else "")
            warn(f"{name}: of {len(full)} sheets, {shown(full[0])} is read; another is {others}.", stacklevel=6)
        return book.get_sheet_by_name(full[0]).to_python(skip_empty_area=False) if full else []
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = "a password" if isinstance(error, calamine.PasswordError) else shown(error, 100)
        raise InputError(f"expected an intact spreadsheet, got {reason}", source=name) from None


def text_of_rows(rows: Sequence[Sequence[Any]]) -> tuple[bytes, list[int]]:
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
    """What stands in a cell: numbers as they are, anything else as text.

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


BLANKS = " \t\n\r\v\f"
"""The white space of ASCII. Any other, such as the no-break space, is part of a name."""


def is_number(text: str) -> bool:
    """Whether Polars would read it as a number: Python's ``1_000`` and other digits than ours are none.

    >>> is_number("1e-3"), is_number("1_000"), is_number("²")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def with_article(noun: str) -> str:
    """Put the indefinite article before a noun.

    >>> with_article("query"), with_article("assessor")
    ('a query', 'an assessor')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


_COMMENT = re.compile(rb"^#.*\n?", re.MULTILINE)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NOT_WINDOWS_1252 = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")


@dataclass(frozen=True)
class Source:
    """The bytes of one file, as it lies on disk, and the views of them that readers need."""

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
        """Suffix in lower case, compression aside: ``.csv`` for ``a.CSV.zst``."""
        return without_compression(Path(self.name)).suffix.lower()

    @cached_property
    def sha256(self) -> str:
        """Digest of the file as it lies on disk, for the provenance of results."""
        return hashlib.sha256(self.packed).hexdigest()

    @cached_property
    def data(self) -> bytes:
        """The file's bytes with compression undone."""
        for compression in COMPRESSIONS:
            if compression.magic.match(self.packed):
                try:
                    return compression.unpack(self.packed)
                except BROKEN as error:
                    raise self.error(f"expected intact compressed data, got {shown(error)}") from None
        return self.packed

    def begins(self, magic: bytes) -> bool:
        """Whether the file, compression undone, begins with these bytes; False where it cannot be undone."""
        try:
            return self.data.startswith(magic)
        except InputError:
            return False

    @property
    def is_spreadsheet(self) -> bool:
        """Whether the file is a workbook of Excel or LibreOffice, whatever its name is."""
        try:
            return is_spreadsheet(self.data)
        except InputError:
            return False

    @property
    def is_utf_16(self) -> bool:
        """Whether the text is in UTF-16, as what Excel calls Unicode text."""
        return self.data.startswith(_UTF_16)

    @cached_property
    def text(self) -> bytes:
        """UTF-8 text with plain line ends (LF) and no byte-order mark; what is no text is refused with its line."""
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
        """Text in Latin-1 or Windows-1252 as UTF-8; ``place`` is the first byte that is no UTF-8.

        Bytes that neither has, control characters, and UTF-8 that is damaged in places are refused.
        """
        line = _line_at(data, place)
        bad, mixed = _NOT_WINDOWS_1252.search(data), data.decode("utf-8", errors="replace").replace("\ufffd", "")
        if bad is not None or not mixed.isascii():
            came = f"the byte 0x{data[place]:02x}" if bad is None else f"the byte 0x{data[bad.start()]:02x}"
            wanted = "UTF-8 text" if bad is None else "text in UTF-8, UTF-16, Latin-1 or Windows-1252"
            raise self.error(f"expected {wanted}, got {came}", line if bad is None else _line_at(data, bad.start()))
        encoding = "Windows-1252" if re.search(rb"[\x80-\x9f]", data) else "Latin-1"
        warn(f"{self.name}: is not UTF-8 (line {line}); read as {encoding}.", stacklevel=4)
        return data.decode("cp1252").encode()

    @cached_property
    def _sheet(self) -> tuple[bytes, list[int]]:
        """The CSV of a sheet, and the line on which each of its rows begins."""
        text, starts = text_of_rows(sheet_rows(self.data, self.sheet, self.name))
        if not text.strip():
            raise InputError("expected data, got an empty spreadsheet", source=self.name)
        return text, starts

    def uncommented(self) -> bytes:
        """Give the text without the lines that begin with ``#``; a file of comments only is refused."""
        text = self.text
        if b"#" in text and (text.startswith(b"#") or b"\n#" in text):  # one byte is found far faster than two
            text = _COMMENT.sub(b"", text)
            if not text.strip():
                raise self.error("expected data, got only comments")
        return text

    def head(self, lines: int = 20) -> list[str]:
        """Give the first lines that are neither blank nor comments, for sniffing; none of what is not text."""
        try:
            return [line for _, line in islice(self.lines(), lines)]
        except InputError:
            return []

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield number and text of every line that is neither blank nor a comment. Slow: to sniff and for errors."""
        for number, line in enumerate(self.every_line(), start=1):
            if line.strip(BLANKS) and not line.startswith("#"):
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
        """Make an :class:`InputError` that names this file; the line of a spreadsheet is the row of its sheet."""
        if line is not None and self.is_spreadsheet:
            line = bisect_right(self._sheet[1], line)
        return InputError(message, source=self.name, line=line)


STDIN = Path("<stdin>")
"""Stands for standard input among paths."""


def open_source(path: str | os.PathLike[str]) -> Source:
    """Read a file, or standard input (``-``)."""
    return Source.stdin() if path is STDIN or os.fspath(path) == "-" else Source.open(Path(path))


def unreadable(path: Path | str, error: Exception) -> InputError:
    """Make the error for a file or directory that the system does not give."""
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return InputError(f"cannot be read: {reason}", source=str(path))


def _plain_ends(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _line_at(data: bytes, offset: int) -> int:
    return _plain_ends(data[:offset]).count(b"\n") + 1


_SEPARATOR = re.compile(r"sep=([,;\t|])\s*", re.IGNORECASE)  # for Excel, on the first line
_DEEPEST = 6  # records among which a header below a title is looked for


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
    hint = _SEPARATOR.fullmatch(first)
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


def _n_filled(fields: Sequence[str]) -> int:
    return sum(bool(field.strip(BLANKS)) for field in fields)


def parquet_frame(source: Source) -> pl.DataFrame:
    """The whole table of a Parquet file; one that is not intact is refused."""
    if not source.data:
        raise source.error("expected data, got an empty file")
    try:
        return pl.read_parquet(io.BytesIO(source.data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise source.error(f"expected an intact Parquet file, got {shown(reason, 100)}") from None


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


def is_json(source: Source) -> bool:
    """Whether a file holds JSON."""
    return not source.begins(b"PAR1") and source.text.lstrip()[:1] in (b"{", b"[")


def has_json_lines(source: Source) -> bool:
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
    if not has_json_lines(source):
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
