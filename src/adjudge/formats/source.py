"""Where data come from: a file's bytes, made plain once for every reader.

Compression (gzip, zstd, bzip2, xz) is recognised by its first bytes, not by the name of the file. Text is UTF-8 with
or without a byte-order mark; CRLF and lone CR count as line ends.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from adjudge.errors import InputError, shown
from adjudge.formats.compression import BROKEN, COMPRESSIONS, without_compression
from adjudge.formats.text import BLANKS

_COMMENT = re.compile(rb"^#.*\n?", re.MULTILINE)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Source:
    """The bytes of one file, as it lies on disk, and the views of them that readers need."""

    name: str
    packed: bytes

    @classmethod
    def open(cls, path: Path) -> Source:
        """Read a whole file; a missing or unreadable one is an :class:`InputError`."""
        try:
            return cls(str(path), path.read_bytes())
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
        """File name without directories and suffixes: ``runs/bm25.txt.gz`` is ``bm25``."""
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

    @cached_property
    def text(self) -> bytes:
        """UTF-8 text with plain line ends (LF) and no byte-order mark; anything else is refused with its line."""
        data = self.data.removeprefix(b"\xef\xbb\xbf")
        if data.startswith(_UTF_16):
            raise self.error("expected UTF-8 text, got UTF-16")
        if b"\0" in data:
            line = _line_at(data, data.index(b"\0"))
            raise self.error("expected text, got binary data (a zero byte)", line)
        if not data.isascii():
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                line = _line_at(data, error.start)
                raise self.error(f"expected UTF-8 text, got the byte 0x{data[error.start]:02x}", line) from None
        data = _plain_ends(data)
        if not data or data.isspace():
            raise self.error("expected data, got an empty file")
        return data

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
        start, number, text = 0, 0, self.text
        while start < len(text):
            end = text.find(b"\n", start)
            end = len(text) if end < 0 else end
            number += 1
            line = text[start:end].decode("utf-8")
            start = end + 1
            if line.strip(BLANKS) and not line.startswith("#"):
                yield number, line

    def error(self, message: str, line: int | None = None) -> InputError:
        """Make an :class:`InputError` that names this file."""
        return InputError(message, source=self.name, line=line)


def unreadable(path: Path | str, error: Exception) -> InputError:
    """Make the error for a file or directory that the system does not give."""
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return InputError(f"cannot be read: {reason}", source=str(path))


def _plain_ends(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _line_at(data: bytes, offset: int) -> int:
    return _plain_ends(data[:offset]).count(b"\n") + 1
