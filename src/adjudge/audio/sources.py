"""Recordings as they come: read and checked before anything is done with them.

A source is read whole into memory and decoded from there, so that what is hashed is what is heard, and nothing is
guessed from its name. Refused, with one line that says what was wanted and what came: files that are missing, empty,
no audio, of a format that libsndfile does not read (AAC, WMA and others: it says what to convert them to), cut off in
the middle, with samples that are no numbers, shorter than 0.5 s or longer than half an hour.

More than two channels fold to two as ITU-R BS.775 says: the centre and the surrounds at -3 dB into their sides, the
low-frequency channel left out. Ogg has its own order of channels (centre second), which is heeded.
"""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.audio.loudness import AudioError

LEAST_SECONDS, MOST_SECONDS = 0.5, 1800.0
LEAST_RATE, MOST_RATE = 4000, 768000  # Hz
MOST_BYTES = 2**30
UNKNOWN_LENGTH = 2**31 - 2**16  # bytes: chunks that promise this much or more were written before their end was known
SLACK = 0.1  # seconds that a header may promise too much
FORMATS = ("WAV", "WAVEX", "RF64", "W64", "FLAC", "OGG", "MP3", "AIFF")
WANTED = "WAV, FLAC, Ogg, Opus, MP3 or AIFF"
CONVERT = "convert it to FLAC, WAV, MP3, Ogg or Opus"

# Foreign formats by how their files begin: where, what, and what they are called.
_FOREIGN = (
    (4, b"ftyp", "MPEG-4 audio (AAC or ALAC)"),
    (0, b"ADIF", "AAC"),
    (0, b"\xff\xf1", "AAC"),
    (0, b"\xff\xf9", "AAC"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "Windows Media (WMA)"),
    (0, b"MAC ", "Monkey's Audio"),
    (0, b"wvpk", "WavPack"),
    (0, b"\x1a\x45\xdf\xa3", "Matroska or WebM"),
    (0, b"MThd", "MIDI"),
)
_FOREIGN_SUFFIXES = {".m4a": "AAC", ".aac": "AAC", ".mp4": "AAC", ".wma": "WMA", ".ape": "Monkey's Audio"}

_LENGTH_SIGNS = (b"Xing", b"Info", b"VBRI")  # the tables at the beginning of an MP3 that say how long it is

# What each channel is: left, right, Centre, Low frequency, surround left and right (lower case), surround centre (s).
_LAYOUTS = {3: "LRC", 4: "LRlr", 5: "LRClr", 6: "LRCFlr", 7: "LRCFslr", 8: "LRCFlrlr"}
_OGG_LAYOUTS = {3: "LCR", 4: "LRlr", 5: "LCRlr", 6: "LCRlrF", 7: "LCRlrsF", 8: "LCRlrlrF"}
_SIDES = {"L": (1, 0), "R": (0, 1), "C": (0.5**0.5, 0.5**0.5), "F": (0, 0), "l": (0.5**0.5, 0), "r": (0, 0.5**0.5),
          "s": (0.5, 0.5)}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A recording: samples x 1 or 2 channels, its rate in Hz, the SHA-256 of its file, and whether it was cut."""

    samples: Floats
    rate: int
    sha256: str
    cut: bool


def read_source(path: Path, *, max_seconds: float | None = None) -> Source:
    """Read and check a recording, or the beginning of it.

    >>> read_source(Path("nowhere.flac"))
    Traceback (most recent call last):
    adjudge.audio.loudness.AudioError: nowhere.flac: expected a file, got none
    """
    try:
        data = _bytes_of(path)
        samples, rate, cut = _decoded(data, max_seconds)
        return Source(samples, rate, hashlib.sha256(data).hexdigest(), cut)
    except AudioError as error:
        foreign = _FOREIGN_SUFFIXES.get(path.suffix.lower())
        if foreign is not None and "none of them" in str(error):
            error = AudioError(_foreign_line(foreign))
        raise AudioError(str(error), source=str(path)) from None


def _bytes_of(path: Path) -> bytes:
    try:
        if not path.exists():
            raise AudioError("expected a file, got none")
        if not path.is_file():
            raise AudioError("expected a file, got something else")
        if path.stat().st_size > MOST_BYTES:
            raise AudioError(f"expected at most {MOST_BYTES >> 20} MiB, got {path.stat().st_size >> 20}")
        data = path.read_bytes()
    except OSError as error:
        raise AudioError(f"expected a file that can be read, got {error.strerror or 'an error'}") from None
    if not data:
        raise AudioError("expected audio, got a file of zero bytes")
    return data


def _decoded(data: bytes, max_seconds: float | None) -> tuple[Floats, int, bool]:
    """Samples (mono or stereo), their rate, and whether the rest was left out."""
    import soundfile

    for start, sign, name in _FOREIGN:
        if data[start : start + len(sign)] == sign:
            raise AudioError(_foreign_line(name))
    try:
        opened = soundfile.SoundFile(io.BytesIO(data))
    except soundfile.LibsndfileError:
        raise AudioError(f"expected {WANTED}, got a file that is none of them") from None
    with opened as file:
        _check_header(file, data, max_seconds)
        samples = _read(file, max_seconds, trusted=file.format != "MP3" or any(sign in data for sign in _LENGTH_SIGNS))
        _check_samples(samples, file.samplerate)
        return _folded(samples, file.format), file.samplerate, len(samples) < file.frames


def _foreign_line(name: str) -> str:
    return f"expected {WANTED}, got {name}, which cannot be read here; {CONVERT}"


def _check_header(file: Any, data: bytes, max_seconds: float | None) -> None:
    if file.format not in FORMATS:
        raise AudioError(f"expected {WANTED}, got {file.format}; {CONVERT}")
    if not LEAST_RATE <= file.samplerate <= MOST_RATE:
        raise AudioError(f"expected a rate from {LEAST_RATE} to {MOST_RATE} Hz, got {file.samplerate}")
    if max_seconds is None and file.frames > MOST_SECONDS * file.samplerate:
        minutes = file.frames / file.samplerate / 60
        raise AudioError(f"expected at most {MOST_SECONDS / 60:.0f} minutes, got {minutes:.0f}; keep a part of it")
    if _is_cut_off(file, data):
        raise AudioError("expected a whole file, got one that is cut off")


def _is_cut_off(file: Any, data: bytes) -> bool:
    """Whether a file ends before its own header, or its last page, says it does.

    libsndfile notes in its log where a chunk of samples is longer than the file; what a program writes that does not
    know the length yet (nearly 2 or 4 GiB) does not count. A stream of Ogg ends with a page that says so. In FLAC and
    MP3, reading finds fewer samples than promised.
    """
    if file.format == "OGG":
        last = data.rfind(b"OggS")
        return not data[last + 5] & 4 if last + 5 < len(data) else True
    noted = re.findall(r"^\s*(?:data|SSND) : (\d+) \(should be (\d+)\)", file.extra_info, re.MULTILINE)
    return any(int(there) + 8 < int(promised) < UNKNOWN_LENGTH for promised, there in noted)


def _read(file: Any, max_seconds: float | None, *, trusted: bool) -> Floats:
    """The samples; fewer than promised is a file cut off, unless the promise was a guess (MP3 without a table)."""
    import soundfile

    longest = MOST_SECONDS if max_seconds is None else max_seconds
    wanted = min(int(file.frames), max(1, round(longest * file.samplerate)))
    if wanted * file.channels * 8 > 2 * MOST_BYTES:
        raise AudioError(f"expected sound that fits in memory, got {wanted} samples of {file.channels} channels")
    try:
        samples: Floats = file.read(wanted, dtype="float64", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise AudioError(f"expected a whole file, got one that is cut off or damaged ({error.error_string})") from None
    if trusted and len(samples) < wanted - SLACK * file.samplerate:
        share = len(samples) / file.samplerate, wanted / file.samplerate
        raise AudioError(f"expected a whole file, got one that is cut off: {share[0]:.2f} s of {share[1]:.2f} s")
    return samples


def _check_samples(samples: Floats, rate: int) -> None:
    if len(samples) < LEAST_SECONDS * rate:
        raise AudioError(f"expected at least {LEAST_SECONDS} s, got {len(samples) / rate:.3f} s")
    if not np.isfinite(samples).all():
        raise AudioError("expected finite samples, got NaN or infinity")


def _folded(samples: Floats, file_format: str) -> Floats:
    """Mono and stereo as they are, everything else as stereo; layouts nobody named alternate left and right."""
    channels = samples.shape[1]
    if channels <= 2:
        return samples
    known = _OGG_LAYOUTS if file_format == "OGG" else _LAYOUTS
    weights = np.array([_SIDES[place] for place in known.get(channels, ("LR" * channels)[:channels])])
    folded: Floats = samples @ weights / max(1.0, weights.sum(axis=0).max())
    return folded
