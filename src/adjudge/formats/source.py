"""Where data come from: a file's bytes, made plain once for every reader.

Compression (gzip, zstd, bzip2, xz) is recognised by its first bytes, not by the name of the file. Text is UTF-8 with
or without a byte-order mark, or UTF-16 with one; what is neither is read as Latin-1 or Windows-1252, with a note. CRLF
and lone CR count as line ends. The text of a spreadsheet is CSV: every reader of tables reads one.

Sheets of Excel (``.xlsx``, ``.xlsb``, ``.xls``) and LibreOffice (``.ods``) as CSV, which all readers of tables read.

The first sheet that is visible and not empty is read; ``table.xlsx#Sheet2`` names another. Rows keep their numbers:
an empty one is a blank line. Whole numbers lose their ``.0`` (1.0 is ``1``), dates are written as ISO 8601, and text is
quoted, so that a cell that begins with ``#`` is no comment.

Small rules about text that several formats share.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from adjudge.errors import InputError, shown, warn
from adjudge.extras import need
from adjudge.io import BROKEN, COMPRESSIONS, without_compression

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


def unreadable(path: Path | str, error: Exception) -> InputError:
    """Make the error for a file or directory that the system does not give."""
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return InputError(f"cannot be read: {reason}", source=str(path))


def _plain_ends(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _line_at(data: bytes, offset: int) -> int:
    return _plain_ends(data[:offset]).count(b"\n") + 1
