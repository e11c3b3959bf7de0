"""Compression of files: undone by their first bytes when reading, chosen by their suffix when writing."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Compression:
    """One way to make files smaller."""

    suffix: str
    magic: re.Pattern[bytes]
    pack: Callable[[bytes], bytes]
    unpack: Callable[[bytes], bytes]


def _zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


def _unzstd(data: bytes) -> bytes:
    import zstandard

    whole = []
    try:
        while data:
            frame = zstandard.ZstdDecompressor().decompressobj()
            whole.append(frame.decompress(data))
            if not frame.eof:
                raise EOFError("Compressed file ended before the end of its last frame")
            data = frame.unused_data
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from None
    return b"".join(whole)


COMPRESSIONS = (
    Compression(".gz", re.compile(rb"\x1f\x8b"), lambda data: gzip.compress(data, mtime=0), gzip.decompress),
    Compression(".zst", re.compile(rb"\x28\xb5\x2f\xfd"), _zstd, _unzstd),
    # "BZh" alone may begin a text
    Compression(".bz2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), bz2.compress, bz2.decompress),
    Compression(".xz", re.compile(rb"\xfd7zXZ\x00"), lzma.compress, lzma.decompress),
)
BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
"""What unpacking raises for data that are not intact."""


def compression_of(path: Path) -> Compression | None:
    """Compression that the last suffix names, in any case."""
    return next((known for known in COMPRESSIONS if known.suffix == path.suffix.lower()), None)


def without_compression(path: Path) -> Path:
    """Drop the suffix of a compression.

    >>> without_compression(Path("runs/bm25.txt.GZ")).name
    'bm25.txt'
    """
    return path if compression_of(path) is None else path.with_suffix("")
