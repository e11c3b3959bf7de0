"""Recordings as clips that any browser plays: checked, equally loud, and named by their content.

A source is WAV, FLAC, Ogg Vorbis, Opus, MP3 or AIFF. It is read whole (or its first ``max_seconds``), folded to stereo
where it has more channels, resampled to 44.1 kHz where its rate is not one of MP3's common ones, levelled with one gain
(``adjudge.audio.loudness``) and written as MP3 of about 190 kbit/s, which every browser plays. A source that is such a
clip already is copied bit for bit, because every encoding costs a little of the sound.

A lossy encoder moves the peaks, so the MP3 is decoded again and measured: where its true peak is over the ceiling, it
is encoded again with less gain. The file is called after the SHA-256 of its bytes, unless it is given a name, and
appears whole or not at all. A clip with another target than the default says so in its comment (``Levelled to -21
LUFS``): clips that were levelled together stay equally loud when they are prepared again.

Every problem with a source is one line, ``path: what was wanted, what came``. Loudness is in LUFS, peaks in dBTP, gains
in dB, durations in seconds, rates in Hz.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import gcd
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.audio.loudness import (
    CEILING,
    TARGET,
    AudioError,
    Level,
    amplify,
    choose_gain,
    integrated_loudness,
    measure_level,
    true_peak,
)
from adjudge.audio.sources import quote_error, read_source
from adjudge.errors import InputError
from adjudge.io import whole_file
from adjudge.parallel import CrashedError, Progress, run_jobs

Value = TypeVar("Value")
Samples = TypeVar("Samples", Floats, npt.NDArray[np.float32])
RATES = (32000, 44100, 48000)  # what MPEG-1 Layer III writes
USUAL_RATE = 44100
QUALITY = 0.2  # of libsndfile's 0 (best) to 1: LAME's V2, about 190 kbit/s in stereo
SLACK = 0.1  # seconds that an encoder may add or lose
TRIES, STEP = 4, 0.1  # encodings to get below the ceiling, and the dB beyond what the last one lacked
FADE = 0.02  # seconds faded where a recording is cut
NEAR = 0.5  # LU that a clip may be from its target and still be copied
_NOTE = "Levelled to {:g} LUFS"  # at most 30 characters, which is all that the tag has
_NOTE_PATTERN = re.compile(r"Levelled to (-\d{1,2}(?:\.\d{1,2})?) LUFS")


@dataclass(frozen=True)
class Clip:
    """A clip ready to be played, and its source.

    ``loudness`` (LUFS) and ``true_peak`` (dBTP) are those of the written clip, decoded; ``gain_db`` was added to the
    source, and ``limited`` says that its peaks kept it from the target loudness.
    """

    source_name: str
    original_sha256: str
    clip_sha256: str
    path: Path
    seconds: float
    rate: int
    channels: int
    loudness: float
    gain_db: float
    true_peak: float
    limited: bool


@dataclass(frozen=True)
class PreparedClips:
    """Clips, and one line for each source that could not be used; both by name."""

    clips: dict[str, Clip]
    problems: dict[str, str]

    def __str__(self) -> str:
        held = sum(clip.limited for clip in self.clips.values())
        return f"{len(self.clips)} clips ({held} held back by their peaks), {len(self.problems)} problems"


def prepare_clip(
    source: Path, folder: Path, *, target: float = TARGET, ceiling: float = CEILING, max_seconds: float | None = None
) -> Clip:
    """Check, level and encode one recording into ``folder`` as ``<sha256 of its bytes>.mp3``.

    ``max_seconds`` keeps the beginning of a longer recording, faded out over 20 ms. The same source and settings give
    the same file; an existing one is written again, whole.

    A source that is a clip already is copied, its bytes unchanged and its gain 0: an MP3 that states its length, at a
    rate of ``RATES``, not longer than ``max_seconds``, with a true peak not above the ceiling and at most 0.5 dB from
    its level. Where its comment says what it was levelled to, that is its target.

    >>> prepare_clip(Path("nowhere.wav"), Path("clips"))
    Traceback (most recent call last):
    adjudge.audio.sources.UnreadableError: nowhere.wav: expected a file, got none
    """
    if max_seconds is not None and not max_seconds > 0:
        raise AudioError(f"expected 'max_seconds' above 0, got {max_seconds}")
    original = read_source(source, max_seconds=max_seconds)
    name, digest = source.name, original.sha256
    try:
        samples, rate = resample_for_mp3(original.samples, original.rate)
        samples = fade(samples, rate, end=True) if original.cut else samples
        level = measure_level(samples, rate, target=target, ceiling=ceiling)
        if original.is_mp3 and not original.cut and original.rate in RATES and level.true_peak <= ceiling:
            noted = _NOTE_PATTERN.fullmatch(original.note)
            meant = float(noted[1]) if noted else target
            own = choose_gain(level.loudness, level.true_peak, target=meant, ceiling=ceiling)
            if abs(own.gain_db) <= NEAR:
                ready, data = replace(own, gain_db=0.0, loudness_after=own.loudness), source.read_bytes()
                return _write_clip(data, ready, samples.shape, rate, folder, source_name=name, original_sha256=digest)
        return encode_clip(
            samples, rate, folder, source_name=name, original_sha256=digest, target=target, ceiling=ceiling, level=level
        )
    except AudioError as error:
        raise type(error)(str(error), source=str(source)) from None


def _write_clip(
    data: bytes, level: Level, shape: tuple[int, ...], rate: int, folder: Path, *, source_name: str,
    original_sha256: str, name: str | None = None,
) -> Clip:  # fmt: skip
    """Write a clip to its file; ``level`` is that of the clip, and the gain that was added."""
    clip_sha256 = hashlib.sha256(data).hexdigest()
    path = folder / (name or f"{clip_sha256}.mp3")
    write_media(path, data)
    return Clip(
        source_name, original_sha256, clip_sha256, path, shape[0] / rate, rate, shape[1], loudness=level.loudness_after,
        gain_db=level.gain_db, true_peak=level.true_peak, limited=level.limited,
    )  # fmt: skip


def prepare_clips(
    sources: Mapping[str, Path],
    folder: Path,
    *,
    target: float = TARGET,
    ceiling: float = CEILING,
    max_seconds: float | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> PreparedClips:
    """Prepare many recordings over processes; one that cannot be used is a line in ``problems`` and stops no others.

    ``progress`` is told how many are done, of how many. ``workers=1`` stays in this process.

    >>> prepare_clips({"a": Path("nowhere.wav")}, Path("clips"), workers=1).problems
    {'a': 'nowhere.wav: expected a file, got none'}
    """
    prepare = partial(_try_prepare_clip, folder=folder, target=target, ceiling=ceiling, max_seconds=max_seconds)
    results = run_jobs(prepare, sources, workers=workers, progress=progress)

    def crash(name: str) -> AudioError:
        return AudioError("expected sound, got a crash while reading it", source=str(sources[name]))

    return PreparedClips(*collect_results(results, sources, crash))


def collect_results(
    results: Iterable[tuple[str, Value | str | CrashedError]], names: Iterable[str], crash: Callable[[str], InputError]
) -> tuple[dict[str, Value], dict[str, str]]:
    """Results of jobs, and one line for each job that failed or crashed; both in the order of ``names``."""
    found = dict(results)
    values: dict[str, Value] = {}
    problems: dict[str, str] = {}
    for name in names:
        match found[name]:
            case str(line):
                problems[name] = line
            case CrashedError():
                problems[name] = str(crash(name))
            case value:
                values[name] = value
    return values, problems


def _try_prepare_clip(
    source: Path, folder: Path, *, target: float, ceiling: float, max_seconds: float | None
) -> Clip | str:
    """Prepare a clip, or return the line that says why there is none."""
    try:
        return prepare_clip(source, folder, target=target, ceiling=ceiling, max_seconds=max_seconds)
    except AudioError as error:
        return str(error)
    except (OSError, MemoryError, ValueError) as error:
        return str(AudioError(f"expected a clip, got {quote_error(error)}", source=str(source)))


def encode_clip(
    samples: Floats,
    rate: int,
    folder: Path,
    *,
    source_name: str,
    original_sha256: str,
    target: float = TARGET,
    ceiling: float = CEILING,
    level: Level | None = None,
    name: str | None = None,
    listen: Callable[[Floats, int], object] | None = None,
) -> Clip:
    """Level and encode sound (samples x channels, at a rate of MP3) into ``folder``.

    ``level`` is given where it is already known. ``name`` is that of the file, by default the SHA-256 of its bytes.
    ``listen`` gets the decoded clip and its rate.
    """
    level = level or measure_level(samples, rate, target=target, ceiling=ceiling)
    note = "" if target == TARGET else _NOTE.format(target)
    data, reached, decoded = _encode(samples, rate, level=level, ceiling=ceiling, note=note)
    if listen is not None:
        listen(decoded, rate)
    return _write_clip(
        data, reached, samples.shape, rate, folder, source_name=source_name, original_sha256=original_sha256, name=name
    )


def _encode(samples: Floats, rate: int, *, level: Level, ceiling: float, note: str) -> tuple[bytes, Level, Floats]:
    """Encode with a gain, reduced as far as the decoded true peak exceeds the ceiling.

    Returns the MP3, its level, and its decoded samples.
    """
    import soundfile

    gain_db = level.gain_db
    for _ in range(TRIES):
        written = io.BytesIO()
        with soundfile.SoundFile(
            written, "w", rate, samples.shape[1], format="MP3", subtype="MPEG_LAYER_III", compression_level=QUALITY,
            bitrate_mode="VARIABLE",
        ) as file:  # fmt: skip
            if note:
                file.comment = note
            file.write(amplify(samples, gain_db))
        data = written.getvalue()
        decoded = _decode(data, wanted=samples.shape, rate=rate)
        peak = true_peak(decoded, rate)
        if peak <= ceiling:
            after = integrated_loudness(decoded, rate)
            reached = Level(level.loudness, peak, gain_db, after, level.limited or gain_db < level.gain_db)
            return data, reached, decoded
        gain_db -= peak - ceiling + STEP
    raise AudioError(f"expected a true peak of at most {ceiling:g} dBTP after encoding, got {peak:.1f}")


def _decode(data: bytes, *, wanted: tuple[int, ...], rate: int) -> Floats:
    """Decode an MP3 and check its rate, its channels, and its duration to 0.1 s."""
    import soundfile

    samples: Floats
    try:
        samples, found_rate = soundfile.read(io.BytesIO(data), dtype="float64", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise AudioError(f"expected an MP3 that decodes, got {error.error_string}") from None
    if found_rate != rate or samples.shape[1] != wanted[1] or abs(len(samples) - wanted[0]) > SLACK * rate:
        raise AudioError(
            f"expected an MP3 of {wanted[0] / rate:.2f} s, {rate} Hz and {wanted[1]} channels, "
            f"got {len(samples) / found_rate:.2f} s, {found_rate} Hz and {samples.shape[1]}"
        )
    return samples


def resample_for_mp3(samples: Floats, rate: int) -> tuple[Floats, int]:
    """The sound at a rate of MP3: its own if that is one, otherwise 44.1 kHz."""
    from scipy.signal import resample_poly

    if rate in RATES:
        return samples, rate
    common = gcd(rate, USUAL_RATE)
    return resample_poly(samples, USUAL_RATE // common, rate // common, axis=0), USUAL_RATE


def fade(samples: Samples, rate: int, *, start: bool = False, end: bool = False) -> Samples:
    """Fade the first 20 ms of a sound in, or the last 20 ms out."""
    length = min(len(samples), round(FADE * rate))
    ramp = np.sin(np.linspace(0, np.pi / 2, length))[:, None] ** 2
    softer = samples.copy()
    if start:
        softer[:length] *= ramp
    if end:
        softer[len(samples) - length :] *= ramp[::-1]
    return softer


def write_media(path: Path, data: bytes) -> None:
    """Write a file that anybody may read, whole or not at all, even when the power fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, 0o644) as file:  # a web server may run as another user
        file.write(data)
    if hasattr(os, "O_DIRECTORY"):  # make the new name durable; where folders cannot be opened the system does it
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
