"""Where data come from: a file's bytes, made plain once for every reader.

Compression (gzip, zstd, bzip2, xz) is recognised by its first bytes, not by the name of the file. Text is UTF-8 with
or without a byte-order mark, or UTF-16 with one; what is neither is read as Latin-1 or Windows-1252, with a note. CRLF
and lone CR count as line ends. The text of a spreadsheet is CSV: every reader of tables reads one.
"""

from __future__ import annotations

import hashlib
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from adjudge.errors import InputError, shown, warn
from adjudge.formats.compression import BROKEN, COMPRESSIONS, without_compression
from adjudge.formats.spreadsheets import is_spreadsheet, named_sheet, sheet_rows, text_of_rows
from adjudge.formats.text import BLANKS

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
