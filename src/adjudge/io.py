"""Files: written whole or not at all, locked, compressed; and values as JSON holds them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import os
import re
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from adjudge.errors import AdjudgeError, InputError, reason, warn

_SYSTEM = (("/", "dev"), ("/", "proc"))


@contextmanager
def whole_file(target: Path, permissions: int | None = None) -> Iterator[BinaryIO]:
    """A file to write to, which appears under its name when everything is on disk, or leaves nothing behind.

    Without ``permissions`` it has those of any new file.
    """
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if permissions is None:
            umask = os.umask(0)
            os.umask(umask)
            permissions = 0o666 & ~umask
        os.chmod(temporary, permissions)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_whole(target: Path, data: bytes) -> None:
    """Write a file in one step: it is replaced when everything is on disk, or not touched.

    A link stays, and the file it points to is replaced; the permissions of an older file are kept. Pipes and devices
    are written to.
    """
    try:
        mode = target.stat().st_mode if target.exists() else None  # through links
        if mode is not None and (not stat.S_ISREG(mode) or target.parts[:2] in _SYSTEM):
            with open(target, "ab") as file:  # never cut what a shell has opened for us
                file.write(data)
            return
        with whole_file(Path(os.path.realpath(target)), None if mode is None else stat.S_IMODE(mode)) as file:
            file.write(data)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {reason(error)}", source=str(target)) from None


def lock(handle: int | IO[bytes], folder: Path, *, doing: str) -> None:
    """Lock an open file for this process; refused where another process, ``doing`` the same, has locked it.

    The system releases the lock when the process ends, however it ends. Systems without such locks do nothing; a file
    system without them causes a warning.
    """
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise AdjudgeError(f"{folder}: another process is {doing}") from None
    except OSError:
        warn(f"{folder}: its file system has no locks; make sure that only one process is {doing}.", stacklevel=2)


@dataclass(frozen=True)
class Compression:
    """One way to compress files."""

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
"""What decompressing raises for damaged data."""


def compression_of(path: Path) -> Compression | None:
    """Compression that the last suffix names, in any case."""
    return next((known for known in COMPRESSIONS if known.suffix == path.suffix.lower()), None)


def without_compression(path: Path) -> Path:
    """Drop the suffix of a compression.

    >>> without_compression(Path("runs/bm25.txt.GZ")).name
    'bm25.txt'
    """
    return path if compression_of(path) is None else path.with_suffix("")


def deliver(data: bytes, path: str | Path) -> None:
    """Put data into a file, compressed where its suffix says so, or on standard output where it is ``-``."""
    compression = compression_of(Path(path))
    packed = data if compression is None else compression.pack(data)
    if str(path) == "-":
        sys.stdout.buffer.write(packed)
        sys.stdout.buffer.flush()
    else:
        write_whole(Path(path), packed)


def not_finite(value: object) -> bool:
    """Whether a value is a NaN or an infinity."""
    return isinstance(value, float) and not math.isfinite(value)


def plain(content: Any) -> Any:
    """The same content with lists instead of tuples, and None instead of NaN and infinity.

    >>> plain({"low": float("nan"), "ends": (0.1, 0.2)})
    {'low': None, 'ends': [0.1, 0.2]}
    """
    if isinstance(content, Mapping):
        return {str(key): plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [plain(value) for value in content]
    return None if not_finite(content) else content
