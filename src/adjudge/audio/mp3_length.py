"""How long an MP3 is, where it does not say so itself.

Most MP3s begin with a frame that holds a table (``Xing``, ``Info`` or ``VBRI``) with the number of frames to come. One
without it, such as a stream that was saved, has its length guessed by decoders from the bit rate of its first frame,
which is wrong by any factor where the bit rate varies, and libsndfile reads nothing beyond its guess. Here the headers
of all frames are walked, which costs about a second for three hours of music, and a table is put before them.

Reference: ISO/IEC 11172-3:1993, clause 2.4.2.3.
"""

from __future__ import annotations

import io
import mmap
from dataclasses import dataclass
from typing import BinaryIO

_TABLES = (b"Xing", b"Info", b"VBRI")
_TABLE_REACH = 192  # bytes from the beginning of a frame within which its table begins, and then some
_RATES = (44100, 48000, 32000)  # Hz, MPEG-1; half of it MPEG-2, a quarter MPEG-2.5
_BIT_RATES = {
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),  # kbit/s, MPEG-1 Layer III
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),  # MPEG-2 and 2.5
}
_MOST_GARBAGE = 1 << 16  # bytes between two frames that are stepped over


@dataclass(frozen=True)
class _Frame:
    """What the four bytes at the beginning of a frame say: its length in bytes, and where a table would be."""

    n_bytes: int
    table_at: int


def without_table(handle: BinaryIO) -> bool:
    """Whether a file of MP3 frames does not say how long it is."""
    handle.seek(_sound_at(handle))
    beginning = handle.read(_MOST_GARBAGE)
    first = _next_frame(beginning, 0)
    return first is not None and not any(sign in beginning[first : first + _TABLE_REACH] for sign in _TABLES)


def with_table(handle: BinaryIO) -> BinaryIO | None:
    """The same file with a table before its first frame; None where its frames cannot be followed."""
    start = _sound_at(handle)
    with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) if _is_real(handle) else _view(handle) as data:
        first = _next_frame(data, start)
        if first is None:
            return None
        n_frames = _count(data, first)
        header = bytes(data[first : first + 4])
    header = bytes((header[0], header[1] | 1, *header[2:]))  # no checksum
    frame = _frame(header)
    if frame is None or frame.table_at + 12 > frame.n_bytes:
        return None
    table = header.ljust(frame.table_at, b"\0") + b"Xing" + (1).to_bytes(4) + n_frames.to_bytes(4)
    return _Prefixed(table.ljust(frame.n_bytes, b"\0"), handle, first)


def _is_real(handle: BinaryIO) -> bool:
    return not isinstance(handle, io.BytesIO)


def _view(handle: BinaryIO) -> memoryview:
    if not isinstance(handle, io.BytesIO):
        raise TypeError(f"expected a file or bytes, got {type(handle).__name__}")
    return handle.getbuffer()


def _sound_at(handle: BinaryIO) -> int:
    """Where the first frame may begin: after the tags of ID3v2, which may hold pictures of any size."""
    at = 0
    while True:
        handle.seek(at)
        head = handle.read(10)
        if len(head) < 10 or head[:3] != b"ID3":
            return at
        size = sum((byte & 0x7F) << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True))
        at += 10 + size + (10 if head[5] & 0x10 else 0)


def _frame(header: bytes | memoryview | mmap.mmap) -> _Frame | None:
    """The frame that four bytes begin, if they do."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return None
    version, layer = header[1] >> 3 & 3, header[1] >> 1 & 3
    bit_rate, rate = header[2] >> 4, header[2] >> 2 & 3
    if version == 1 or layer != 1 or bit_rate in (0, 15) or rate == 3:
        return None
    is_first = version == 3
    hertz = _RATES[rate] // {3: 1, 2: 2, 0: 4}[version]
    size = (144 if is_first else 72) * _BIT_RATES[is_first][bit_rate] * 1000 // hertz + (header[2] >> 1 & 1)
    is_mono = header[3] >> 6 == 3
    return _Frame(size, 4 + ((17 if is_mono else 32) if is_first else (9 if is_mono else 17)))


def _next_frame(data: bytes | memoryview | mmap.mmap, start: int) -> int | None:
    """Where the next frame begins: one that another follows, or the end of the file."""
    for at in range(start, min(start + _MOST_GARBAGE, len(data) - 3)):
        if data[at] == 0xFF and (frame := _frame(data[at : at + 4])) is not None:
            then = at + frame.n_bytes
            if then == len(data) or _frame(data[then : then + 4]) is not None:
                return at
    return None


def _count(data: bytes | memoryview | mmap.mmap, first: int) -> int:
    """Number of frames, stepping over what is none."""
    at: int | None = first
    n_frames = 0
    while at is not None and at + 4 <= len(data):
        frame = _frame(data[at : at + 4])
        if frame is None:
            at = _next_frame(data, at)
        else:
            n_frames += 1
            at += frame.n_bytes
    return n_frames


class _Prefixed(io.RawIOBase, BinaryIO):
    """Some bytes, then a file from somewhere on, as one file to read."""

    def __init__(self, prefix: bytes, handle: BinaryIO, start: int) -> None:
        self._prefix, self._handle, self._start = prefix, handle, start
        self._at = 0
        self._length = len(prefix) + handle.seek(0, io.SEEK_END) - start

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence])
        return self._at

    def read(self, size: int = -1) -> bytes:
        size = self._length - self._at if size < 0 else size
        part = self._prefix[self._at : self._at + size]
        if len(part) < size:
            self._handle.seek(self._start + max(0, self._at - len(self._prefix)))
            part += self._handle.read(size - len(part))
        self._at += len(part)
        return part

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        part = self.read(len(view))
        view[: len(part)] = part
        return len(part)
