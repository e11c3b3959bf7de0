"""Recordings as people have them: opened and checked before anything is done with them.

Nothing is guessed from a name. Every problem is an error of its own kind with one line: files that are missing,
unreadable, empty, no audio, of a format that libsndfile does not read (AAC, WMA and others: the line says what to
convert them to), cut off, or with NaN or infinity as samples.

``open_sound`` opens a recording of any length and reads any part of it. ``read_source`` reads one of 0.5 s to half an
hour whole, so that hash and sound come from the same bytes. More than two channels fold to two as in ITU-R BS.775: the
centre and the surrounds at -3 dB into their sides, the low-frequency channel left out.

Most MP3s begin with a table (``Xing``, ``Info`` or ``VBRI``) that has the number of their frames. For one without it,
such as a stream that was saved, libsndfile guesses the length from the bit rate of the first frame and reads nothing
beyond its guess. Here the headers of all frames are counted, about a second for three hours of music, and a table is
put before them (ISO/IEC 11172-3:1993, clause 2.4.2.3).
"""

from __future__ import annotations

import hashlib
import io
import mmap
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from adjudge.arrays import Floats
from adjudge.audio.loudness import AudioError

_TABLES = (b"Xing", b"Info", b"VBRI")
_TABLE_REACH = 192  # bytes from the beginning of a frame within which its table begins
_RATES = (44100, 48000, 32000)  # Hz, MPEG-1; half of it MPEG-2, a quarter MPEG-2.5
_BIT_RATES = {
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),  # kbit/s, MPEG-1 Layer III
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),  # MPEG-2 and 2.5
}
_MOST_GARBAGE = 1 << 16  # bytes between two frames that are skipped
LEAST_SECONDS, MOST_SECONDS = 0.5, 1800.0
LEAST_RATE, MOST_RATE = 4000, 768000  # Hz
MOST_BYTES = 2**30
UNKNOWN_LENGTH = 2**31 - 2**16  # bytes: longer chunks were written before their end was known
# Excess that a header may promise: seconds, or a share of the length up to 1 s.
SLACK, SHARE, MOST_SLACK = 0.1, 0.01, 1.0
FORMATS = ("WAV", "WAVEX", "RF64", "W64", "FLAC", "OGG", "MP3", "AIFF")
WANTED = "WAV, FLAC, Ogg, Opus, MP3 or AIFF"
CONVERT = "convert it to FLAC, WAV, MP3, Ogg or Opus"
# Foreign formats by how their files begin: offset, bytes, name.
_FOREIGN_MAGIC = (
    (4, b"ftyp", "MPEG-4 audio (AAC or ALAC)"), (0, b"ADIF", "AAC"), (0, b"\xff\xf1", "AAC"), (0, b"\xff\xf9", "AAC"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "Windows Media (WMA)"), (0, b"MAC ", "Monkey's Audio"),
    (0, b"wvpk", "WavPack"), (0, b"\x1a\x45\xdf\xa3", "Matroska or WebM"), (0, b"MThd", "MIDI"),
)  # fmt: skip
FOREIGN_SUFFIXES = {
    ".m4a": "AAC or ALAC", ".m4b": "AAC", ".m4p": "AAC", ".mp4": "AAC", ".aac": "AAC", ".alac": "ALAC", ".3gp": "AAC",
    ".wma": "WMA", ".asf": "WMA", ".ape": "Monkey's Audio", ".wv": "WavPack", ".mpc": "Musepack", ".tta": "TTA",
    ".tak": "TAK", ".shn": "Shorten", ".ac3": "AC-3", ".dts": "DTS", ".dsf": "DSD", ".dff": "DSD", ".mka": "Matroska",
    ".weba": "WebM", ".webm": "WebM", ".spx": "Speex", ".amr": "AMR", ".ra": "RealAudio", ".rm": "RealAudio",
    ".au": "AU", ".snd": "AU", ".caf": "CAF", ".voc": "VOC", ".mid": "MIDI", ".midi": "MIDI", ".kar": "MIDI",
    ".mod": "tracker music", ".xm": "tracker music", ".s3m": "tracker music",
}  # fmt: skip
_OGG_PAGE = 2**16  # bytes: no page of Ogg is longer
# Channels: Left, Right, Centre, low Frequency, surround left and right (lower case), surround centre (s).
_LAYOUTS = {3: "LRC", 4: "LRlr", 5: "LRClr", 6: "LRCFlr", 7: "LRCFslr", 8: "LRCFlrlr"}
_OGG_LAYOUTS = {3: "LCR", 4: "LRlr", 5: "LCRlr", 6: "LCRlrF", 7: "LCRlrsF", 8: "LCRlrlrF"}
_SIDES = {"L": (1, 0), "R": (0, 1), "C": (0.5**0.5, 0.5**0.5), "F": (0, 0), "l": (0.5**0.5, 0), "r": (0, 0.5**0.5),
          "s": (0.5, 0.5)}  # fmt: skip


class UnreadableError(AudioError):
    """A file that is not there or cannot be read."""


class NotAudioError(AudioError):
    """A file that holds no sound."""


class ForeignError(AudioError):
    """Sound in a format that cannot be read here."""


class BrokenError(AudioError):
    """Sound that is cut off or damaged."""


class ShortError(AudioError):
    """Too little sound."""


@dataclass(frozen=True)
class Source:
    """A recording: samples x 1 or 2 channels, its rate in Hz, the SHA-256 of its file, and whether it was cut.

    ``is_mp3`` says that the file is an MP3 that states its length; ``note`` is its comment.
    """

    samples: Floats
    rate: int
    sha256: str
    cut: bool
    is_mp3: bool = False
    note: str = ""


class Sound:
    """An open recording: ``n_samples`` per channel, ``n_channels`` of the file, ``rate`` in Hz.

    Samples come folded to mono or stereo. ``is_length_known`` is false where the length is a guess.
    """

    def __init__(self, file: Any, *, is_length_known: bool) -> None:
        self._file, self.is_length_known = file, is_length_known
        self.n_samples, self.n_channels, self.rate = int(file.frames), int(file.channels), int(file.samplerate)
        self.format = str(file.format)

    @property
    def seconds(self) -> float:
        """Duration."""
        return self.n_samples / self.rate

    @property
    def slack(self) -> float:
        """Samples by which a recording may be shorter than it says, as some encoders make it."""
        return self.rate * min(MOST_SLACK, max(SLACK, SHARE * self.seconds))

    @property
    def note(self) -> str:
        """The comment in the file."""
        return str(self._file.comment)

    def read(self, n_samples: int, *, start: int | None = None, dtype: str = "float64") -> Floats:
        """Samples from ``start`` or from here on (samples x 1 or 2 channels), fewer where the recording ends."""
        import soundfile

        try:
            if start is not None:
                self._file.seek(start)
            samples: Floats = self._file.read(n_samples, dtype=dtype, always_2d=True)
        except soundfile.LibsndfileError as error:
            came = f"one that is cut off or damaged ({error.error_string})"
            raise BrokenError(f"expected a whole file, got {came}") from None
        if not np.isfinite(samples).all():
            raise BrokenError("expected finite samples, got NaN or infinity")
        return _fold_channels(samples, self.format)

    def check_end(self) -> None:
        """Refuse a recording that ends too early; the position is lost."""
        wanted = min(self.n_samples, 2 * self.rate)
        there = self.read(wanted, start=self.n_samples - wanted)
        if self.is_length_known and len(there) < wanted - self.slack:
            raise BrokenError(f"expected a whole file, got one that is cut off: less than {self.seconds:.2f} s")


def _fold_channels(samples: Floats, file_format: str) -> Floats:
    """Mono and stereo as they are, everything else as stereo; unknown layouts alternate left and right."""
    channels = samples.shape[1]
    if channels <= 2:
        return samples
    known = _OGG_LAYOUTS if file_format == "OGG" else _LAYOUTS
    weights = np.array([_SIDES[place] for place in known.get(channels, ("LR" * channels)[:channels])])
    folded: Floats = samples @ weights / max(1.0, weights.sum(axis=0).max())
    return folded


@contextmanager
def open_sound(path: Path) -> Iterator[Sound]:
    """Open and check a recording of any length; errors raised inside name the file."""
    with named_errors(path):
        _check_file(path)
        with open(path, "rb") as file, _decoder(file) as sound:
            yield sound


def _check_file(path: Path) -> None:
    if not path.exists():
        raise UnreadableError("expected a file, got none")
    if not path.is_file():
        raise UnreadableError("expected a file, got something else")
    if path.stat().st_size == 0:
        raise NotAudioError("expected audio, got a file of zero bytes")


@contextmanager
def _decoder(handle: BinaryIO) -> Iterator[Sound]:
    """The sound in a file, if its format can be read and its header says that it is whole."""
    beginning = handle.read(64)
    for start, magic, name in _FOREIGN_MAGIC:
        if beginning[start : start + len(magic)] == magic:
            raise ForeignError(_foreign_message(name))
    with _open_file(handle) as file:
        position = handle.tell()
        _check_header(file, handle)
        is_length_known = file.format != "MP3" or not lacks_length(handle)
        counted = None if is_length_known else add_length(handle)
        handle.seek(position)  # from where the decoder goes on
        if counted is None:
            yield Sound(file, is_length_known=is_length_known)
            return
    with _open_file(counted) as file:
        yield Sound(file, is_length_known=False)


def _foreign_message(name: str) -> str:
    return f"expected {WANTED}, got {name}, which cannot be read here; {CONVERT}"


def _open_file(handle: BinaryIO | PrefixedFile) -> Any:
    import soundfile

    handle.seek(0)
    try:
        return soundfile.SoundFile(handle)
    except soundfile.LibsndfileError:
        raise NotAudioError(f"expected {WANTED}, got a file that is none of them") from None


def _check_header(file: Any, handle: BinaryIO) -> None:
    """Refuse unknown formats and rates, and files that end before their header says, or without a last page.

    libsndfile logs chunks of samples that are longer than the file; lengths written before the end was known (nearly 2
    or 4 GiB) do not count. A stream of Ogg ends with a page that says so. In FLAC and MP3, reading finds fewer samples
    than promised.
    """
    if file.format not in FORMATS:
        raise ForeignError(f"expected {WANTED}, got {file.format}; {CONVERT}")
    if not LEAST_RATE <= file.samplerate <= MOST_RATE:
        raise ForeignError(f"expected a rate from {LEAST_RATE} to {MOST_RATE} Hz, got {file.samplerate}")
    if file.format == "OGG":
        handle.seek(-min(_OGG_PAGE, handle.seek(0, io.SEEK_END)), io.SEEK_END)
        tail = handle.read(_OGG_PAGE)
        page = tail[tail.rfind(b"OggS") :]
        lengths = page[27 : 27 + page[26]] if len(page) > 27 else b""
        is_whole = len(page) >= 27 + len(lengths) + sum(lengths) and bool(page[5] & 4)
    else:
        chunks = re.findall(r"^\s*(?:data|SSND) : (\d+) \(should be (\d+)\)", file.extra_info, re.MULTILINE)
        is_whole = not any(int(there) + 8 < int(promised) < UNKNOWN_LENGTH for promised, there in chunks)
    if not is_whole:
        raise BrokenError("expected a whole file, got one that is cut off")


def read_source(path: Path, *, max_seconds: float | None = None) -> Source:
    """Read and check a recording of at most half an hour, or its beginning.

    >>> read_source(Path("nowhere.flac"))
    Traceback (most recent call last):
    adjudge.audio.sources.UnreadableError: nowhere.flac: expected a file, got none
    """
    with named_errors(path):
        _check_file(path)
        if path.stat().st_size > MOST_BYTES:
            raise AudioError(f"expected at most {MOST_BYTES >> 20} MiB, got {path.stat().st_size >> 20}")
        data = path.read_bytes()
        with _decoder(io.BytesIO(data)) as sound:
            if max_seconds is None and sound.seconds > MOST_SECONDS:
                minutes = f"{MOST_SECONDS / 60:.0f} minutes, got {sound.seconds / 60:.0f}"
                raise AudioError(f"expected at most {minutes}; keep a part of it")
            longest = MOST_SECONDS if max_seconds is None else max_seconds
            wanted = min(sound.n_samples, max(1, round(longest * sound.rate)))
            if wanted * sound.n_channels * 8 > 2 * MOST_BYTES:
                came = f"{wanted} samples of {sound.n_channels} channels"
                raise AudioError(f"expected sound that fits in memory, got {came}")
            samples = sound.read(wanted)
            if sound.is_length_known and len(samples) < wanted - sound.slack:
                share = f"{len(samples) / sound.rate:.2f} s of {wanted / sound.rate:.2f} s"
                raise BrokenError(f"expected a whole file, got one that is cut off: {share}")
            if len(samples) < LEAST_SECONDS * sound.rate:
                raise ShortError(f"expected at least {LEAST_SECONDS} s, got {len(samples) / sound.rate:.3f} s")
            is_mp3 = sound.format == "MP3" and sound.is_length_known
            digest = hashlib.sha256(data).hexdigest()
            return Source(samples, sound.rate, digest, len(samples) < sound.n_samples, is_mp3, sound.note)


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Give errors the name of the file; errors of the operating system become ``UnreadableError``."""
    try:
        yield
    except AudioError as error:
        foreign = FOREIGN_SUFFIXES.get(path.suffix.lower())
        if foreign is not None and isinstance(error, NotAudioError):
            error = ForeignError(_foreign_message(foreign))
        raise type(error)(str(error), source=str(path)) from None
    except OSError as error:
        line = f"expected a file that can be read, got {error.strerror or 'an error'}"
        raise UnreadableError(line, source=str(path)) from None


def quote_error(error: Exception) -> str:
    """The message of an error of another library, as part of one line."""
    return " ".join(str(error).split()) or type(error).__name__


def digest_of(path: Path) -> str:
    """SHA-256 of a file of any size."""
    with named_errors(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def lacks_length(handle: BinaryIO) -> bool:
    """Whether a file of MP3 frames lacks a table with its length."""
    handle.seek(_skip_id3(handle))
    beginning = handle.read(_MOST_GARBAGE)
    first = _find_frame(beginning, 0)
    return first is not None and not any(name in beginning[first : first + _TABLE_REACH] for name in _TABLES)


def _skip_id3(handle: BinaryIO) -> int:
    """The offset after the tags of ID3v2, which may hold pictures of any size."""
    at = 0
    while True:
        handle.seek(at)
        head = handle.read(10)
        if len(head) < 10 or head[:3] != b"ID3":
            return at
        size = sum((byte & 0x7F) << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True))
        at += 10 + size + (10 if head[5] & 0x10 else 0)


def _find_frame(data: bytes | memoryview | mmap.mmap, start: int) -> int | None:
    """The offset of the next frame, one that another frame or the end of the file follows."""
    for at in range(start, min(start + _MOST_GARBAGE, len(data) - 3)):
        if data[at] == 0xFF and (frame := _parse_frame(data[at : at + 4])) is not None:
            then = at + frame[0]
            if then == len(data) or _parse_frame(data[then : then + 4]) is not None:
                return at
    return None


def _parse_frame(header: bytes | memoryview | mmap.mmap) -> tuple[int, int] | None:
    """The length of the frame that begins with four bytes, and the offset of a table in it; None where none begins."""
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
    return size, 4 + ((17 if is_mono else 32) if is_first else (9 if is_mono else 17))


def add_length(handle: BinaryIO) -> PrefixedFile | None:
    """The same file with a table before its first frame; None where its frames cannot be counted."""
    start, n_frames = _skip_id3(handle), 0
    with (
        handle.getbuffer()
        if isinstance(handle, io.BytesIO)
        else mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data
    ):
        first = at = _find_frame(data, start)
        if first is None:
            return None
        while at is not None and at + 4 <= len(data):
            if (frame := _parse_frame(data[at : at + 4])) is None:  # bytes between frames are skipped
                at = _find_frame(data, at)
            else:
                n_frames += 1
                at += frame[0]
        header = bytes(data[first : first + 4])
    header = bytes((header[0], header[1] | 1, *header[2:]))  # no checksum
    size, table_at = _parse_frame(header) or (0, 0)
    if table_at + 12 > size:
        return None
    table = header.ljust(table_at, b"\0") + b"Xing" + (1).to_bytes(4) + n_frames.to_bytes(4)
    return PrefixedFile(table.ljust(size, b"\0"), handle, first)


class PrefixedFile:
    """Some bytes, then the rest of a file from an offset on, as one file to read."""

    def __init__(self, prefix: bytes, handle: BinaryIO, start: int) -> None:
        self._prefix, self._handle, self._start = prefix, handle, start
        self._at = 0
        self._length = len(prefix) + handle.seek(0, io.SEEK_END) - start

    def tell(self) -> int:
        """The position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position, and return it."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence])
        return self._at

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes from here on."""
        part = self._prefix[self._at : self._at + size]
        if len(part) < size:
            self._handle.seek(self._start + max(0, self._at - len(self._prefix)))
            part += self._handle.read(size - len(part))
        self._at += len(part)
        return part
