"""What is done with one recording: it is listened to, and then its clip is made. Both run in processes of their own."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import parent_process
from pathlib import Path

import numpy as np

from adjudge.arrays import Floats
from adjudge.audio.clips import at_mp3_rate, clip_of
from adjudge.audio.library.excerpts import read_excerpt
from adjudge.audio.library.journal import Heard, Made
from adjudge.audio.library.scanning import (
    BROKEN,
    FOREIGN,
    NOT_AUDIO,
    TOO_SHORT,
    UNREADABLE,
    FileProblem,
    Recording,
)
from adjudge.audio.library.tags import read_tags
from adjudge.audio.loudness import AudioError, integrated_loudness, level_of, true_peak
from adjudge.audio.sources import (
    BrokenError,
    ForeignError,
    NotAudioError,
    ShortError,
    UnreadableError,
    digest_of,
    named_errors,
)
from adjudge.errors import AdjudgeError, InputError

_WORDS: tuple[tuple[type[AudioError], str], ...] = (
    (UnreadableError, UNREADABLE), (NotAudioError, NOT_AUDIO), (ForeignError, FOREIGN), (ShortError, TOO_SHORT),
    (BrokenError, BROKEN),
)  # fmt: skip
_CHANGED = "expected a file that stays as it is, got one that changed meanwhile"
_TOO_MUCH = "expected sound that fits in memory, got more"


def is_unchanged(path: Path, known: Heard) -> bool:
    """Whether a recording is still the file that was heard, by its size and time."""
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (known.size, known.mtime_ns)


def is_clip(path: Path, made: Made) -> bool:
    """Whether a file is the clip that was made: by size and time, or by its bytes where it was copied."""
    try:
        status = path.stat()
        return status.st_size == made.size and (
            status.st_mtime_ns == made.mtime_ns or digest_of(path) == made.clip_sha256
        )
    except (OSError, AudioError):
        return False


def hear_recording(
    job: tuple[Recording, Heard | None], *, seconds: float, place: str, settings: str
) -> Heard | FileProblem:
    """Listen to a recording; one whose bytes are those that were heard before is left alone."""
    _quiet_decoders()
    recording, known = job
    size = mtime_ns = 0
    try:
        with named_errors(recording.path):
            status = recording.path.stat()
        size, mtime_ns = status.st_size, status.st_mtime_ns
        sha256 = digest_of(recording.path)
        if known is not None and known.sha256 == sha256:
            return replace(known, size=size, mtime_ns=mtime_ns)
        heard = _listened(recording, seconds=seconds, place=place, sha256=sha256)
        heard = replace(heard, size=size, mtime_ns=mtime_ns, settings=settings)
        if not is_unchanged(recording.path, heard):
            raise UnreadableError(_CHANGED)
        return heard
    except AudioError as error:
        word, detail = _worded(error, recording)
        return Heard(recording.document, recording.name, size, mtime_ns, settings, problem=word, detail=detail)
    except MemoryError:
        return Heard(recording.document, recording.name, size, mtime_ns, settings, problem=UNREADABLE, detail=_TOO_MUCH)
    except ValueError as error:
        return _unforeseen(error, recording)


def _listened(recording: Recording, *, seconds: float, place: str, sha256: str) -> Heard:
    from adjudge.audio.library.duplicates import fingerprint

    excerpt = read_excerpt(recording.path, seconds=seconds, place=place, sha256=sha256)
    samples, rate = at_mp3_rate(excerpt.samples.astype(np.float64), excerpt.rate)
    loudness = integrated_loudness(samples, rate)
    is_silent = not math.isfinite(loudness)
    return Heard(
        recording.document,
        recording.name,
        size=0,
        mtime_ns=0,
        settings="",
        sha256=sha256,
        start=excerpt.start,
        seconds=excerpt.seconds,
        total_seconds=excerpt.total_seconds,
        loudness=None if is_silent else loudness,
        true_peak=0.0 if is_silent else true_peak(samples, rate),
        fingerprint="" if is_silent else fingerprint(samples, rate).tobytes().hex(),
        tags=read_tags(recording.path),
    )


@dataclass(frozen=True, eq=False)
class Clipped:
    """A clip that was made, and its audio features: while it is decoded to be checked, they cost little."""

    made: Made
    features: dict[str, Floats]


def make_clip(
    job: tuple[Recording, Heard, str], *, seconds: float, target: float, ceiling: float, folder: Path
) -> Clipped | FileProblem:
    """Make the clip of a recording that was heard; what cannot be written is raised, for it concerns them all."""
    from adjudge.audio.features.extracting import extract_sound

    recording, heard, key = job
    features: dict[str, Floats] = {}
    _quiet_decoders()
    try:
        if not is_unchanged(recording.path, heard):
            raise UnreadableError(_CHANGED)
        excerpt = read_excerpt(recording.path, seconds=seconds, start=heard.start, sha256=heard.sha256)
        samples, rate = at_mp3_rate(excerpt.samples.astype(np.float64), excerpt.rate)
        level = level_of(heard.loudness or 0.0, heard.true_peak, target=target, ceiling=ceiling)
        clip = clip_of(
            samples, rate, folder, source_name=recording.path.name, original_sha256=heard.sha256, target=target,
            ceiling=ceiling, level=level, name=f"{recording.document}.mp3",
            listen=lambda decoded, at: features.update(extract_sound(decoded.astype(np.float32), at)),
        )  # fmt: skip
    except AudioError as error:
        return FileProblem(recording.name, *_worded(error, recording))
    except MemoryError:
        return FileProblem(recording.name, UNREADABLE, _TOO_MUCH)
    except ValueError as error:
        return _unforeseen(error, recording)
    status = clip.path.stat()
    made = Made(
        recording.document, key, status.st_size, status.st_mtime_ns, clip.clip_sha256, clip.seconds, clip.rate,
        clip.channels, clip.loudness, clip.true_peak, clip.gain_db, clip.limited,
    )  # fmt: skip
    return Clipped(made, features)


@cache
def _quiet_decoders() -> None:
    """Keep decoders from writing to the terminal what becomes a problem in one line; only in a process of our own."""
    if parent_process() is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)


def _unforeseen(error: ValueError, recording: Recording) -> FileProblem:
    """The problem of one recording that nobody thought of, which must not stop the others."""
    if isinstance(error, AdjudgeError):  # said on purpose, of all of them
        raise error
    said = " ".join(str(error).split()) or type(error).__name__
    return FileProblem(recording.name, BROKEN, f"expected sound, got {said}")


def _worded(error: AudioError, recording: Recording) -> tuple[str, str]:
    """The word for a problem, and what is to say about it without the name of the file."""
    word = next((word for kind, word in _WORDS if isinstance(error, kind)), BROKEN)
    return word, str(error).removeprefix(str(InputError("", source=str(recording.path))))
