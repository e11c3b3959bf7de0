"""Any recording a person has, as a clip any browser plays: checked, equally loud, and named by its content.

A source is WAV, FLAC, Ogg Vorbis, Opus, MP3 or AIFF. It is read whole (or its first ``max_seconds``), folded to stereo
where it has more channels, resampled to 44.1 kHz where its rate is not one of MP3's common ones, levelled with one gain
(``adjudge.audio.loudness``) and written as MP3 of about 190 kbit/s, which everything plays, telephones included.

A lossy encoder moves the peaks, so what was written is decoded again and measured: where it does not decode, the clip
is refused; where its true peak is over the ceiling, it is encoded again with less gain. The file is called after the
SHA-256 of its bytes and appears whole or not at all, so that two processes may prepare the same clip at once.

Whatever is wrong with a source comes as one line, ``path: what was wanted, what came``: from ``prepare_clip`` as an
``AudioError``, from ``prepare_clips`` among the ``problems`` of the many.

Loudness is in LUFS, peaks in dBTP, gains in dB, durations in seconds, rates in Hz.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import gcd
from pathlib import Path
from typing import TypeVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.audio.loudness import CEILING, TARGET, AudioError, amplified, integrated_loudness, levelling, true_peak
from adjudge.audio.sources import read_source
from adjudge.processes import CrashedError, Progress, run_jobs

Value = TypeVar("Value")

RATES = (32000, 44100, 48000)  # what MPEG-1 Layer III writes
USUAL_RATE = 44100
QUALITY = 0.2  # of libsndfile's 0 (best) to 1: LAME's V2, about 190 kbit/s in stereo
SLACK = 0.1  # seconds that an encoder may add or lose
TRIES, STEP = 4, 0.1  # encodings to get below the ceiling, and the dB beyond what the last one lacked
FADE = 0.02  # seconds faded out where max_seconds cuts


@dataclass(frozen=True)
class Clip:
    """A clip ready to be played, and where it came from.

    ``loudness`` (LUFS) and ``true_peak`` (dBTP) are those of the written clip, decoded; ``gain_db`` is what was added
    to the source, and ``limited`` says that its peaks kept it from the target loudness.
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
class Prepared:
    """The clips that could be prepared, and one line for each source that could not; both by name."""

    clips: dict[str, Clip]
    problems: dict[str, str]

    def __str__(self) -> str:
        held = sum(clip.limited for clip in self.clips.values())
        return f"{len(self.clips)} clips ({held} held back by their peaks), {len(self.problems)} problems"


@dataclass(frozen=True)
class _Encoded:
    """An MP3 and what it sounds like once decoded."""

    data: bytes
    gain_db: float
    loudness: float
    true_peak: float


def prepare_clip(
    source: Path, folder: Path, *, target: float = TARGET, ceiling: float = CEILING, max_seconds: float | None = None
) -> Clip:
    """Check, level and encode one recording into ``folder`` as ``<sha256 of its bytes>.mp3``.

    ``max_seconds`` keeps the beginning of a longer recording, faded out over 20 ms. The same source and settings give
    the same file; an existing one is written again, whole.

    >>> prepare_clip(Path("nowhere.wav"), Path("clips"))
    Traceback (most recent call last):
    adjudge.audio.loudness.AudioError: nowhere.wav: expected a file, got none
    """
    if max_seconds is not None and not max_seconds > 0:
        raise AudioError(f"expected 'max_seconds' above 0, got {max_seconds}")
    original = read_source(source, max_seconds=max_seconds)
    try:
        samples, rate = _resampled(original.samples, original.rate)
        samples = _faded(samples, rate) if original.cut else samples
        return clip_of(
            samples, rate, folder, source_name=source.name, original_sha256=original.sha256, target=target,
            ceiling=ceiling,
        )  # fmt: skip
    except AudioError as error:
        raise AudioError(str(error), source=str(source)) from None


def clip_of(
    samples: Floats,
    rate: int,
    folder: Path,
    *,
    source_name: str,
    original_sha256: str,
    target: float = TARGET,
    ceiling: float = CEILING,
) -> Clip:
    """Level and encode sound that is at hand (samples x channels, at a rate of MP3) into ``folder``."""
    level = levelling(samples, rate, target=target, ceiling=ceiling)
    encoded = _encoded(samples, rate, gain_db=level.gain_db, ceiling=ceiling)
    clip_sha256 = hashlib.sha256(encoded.data).hexdigest()
    path = folder / f"{clip_sha256}.mp3"
    write_whole(path, encoded.data)
    return Clip(
        source_name=source_name,
        original_sha256=original_sha256,
        clip_sha256=clip_sha256,
        path=path,
        seconds=len(samples) / rate,
        rate=rate,
        channels=samples.shape[1],
        loudness=encoded.loudness,
        gain_db=encoded.gain_db,
        true_peak=encoded.true_peak,
        limited=level.limited or encoded.gain_db < level.gain_db,
    )


def prepare_clips(
    sources: Mapping[str, Path],
    folder: Path,
    *,
    target: float = TARGET,
    ceiling: float = CEILING,
    max_seconds: float | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Prepared:
    """Prepare many recordings over processes; one that cannot be used is a line in ``problems`` and stops no other.

    ``progress`` is told how many are done, of how many. ``workers=1`` stays in this process.

    >>> prepare_clips({"a": Path("nowhere.wav")}, Path("clips"), workers=1).problems
    {'a': 'nowhere.wav: expected a file, got none'}
    """
    prepare = partial(_attempt, folder=folder, target=target, ceiling=ceiling, max_seconds=max_seconds)
    clips: dict[str, Clip] = {}
    problems: dict[str, str] = {}
    for name, result in run_jobs(prepare, sources, workers=workers, progress=progress):
        if isinstance(result, Clip):
            clips[name] = result
        elif isinstance(result, CrashedError):
            problems[name] = str(AudioError("expected sound, got a crash while reading it", source=str(sources[name])))
        else:
            problems[name] = result
    return Prepared(_in_order(sources, clips), _in_order(sources, problems))


def _in_order(sources: Mapping[str, Path], found: Mapping[str, Value]) -> dict[str, Value]:
    return {name: found[name] for name in sources if name in found}


def _attempt(source: Path, folder: Path, *, target: float, ceiling: float, max_seconds: float | None) -> Clip | str:
    """A clip, or the line that says why there is none."""
    try:
        return prepare_clip(source, folder, target=target, ceiling=ceiling, max_seconds=max_seconds)
    except AudioError as error:
        return str(error)
    except (OSError, MemoryError, ValueError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        return str(AudioError(f"expected a clip, got {said}", source=str(source)))


def _resampled(samples: Floats, rate: int) -> tuple[Floats, int]:
    """The sound at a rate of MP3: its own where it is one, otherwise 44.1 kHz."""
    from scipy.signal import resample_poly

    if rate in RATES:
        return samples, rate
    common = gcd(rate, USUAL_RATE)
    return resample_poly(samples, USUAL_RATE // common, rate // common, axis=0), USUAL_RATE


def _faded(samples: Floats, rate: int) -> Floats:
    """The sound with its last 20 ms faded out."""
    length = min(len(samples), round(FADE * rate))
    ramp = np.ones(len(samples))
    ramp[len(samples) - length :] = np.cos(np.linspace(0, np.pi / 2, length)) ** 2
    faded: Floats = samples * ramp[:, None]
    return faded


def _encoded(samples: Floats, rate: int, *, gain_db: float, ceiling: float) -> _Encoded:
    """Encode with a gain, or with as much less as keeps the decoded true peak at or below the ceiling."""
    for _ in range(TRIES):
        data = _mp3(amplified(samples, gain_db), rate)
        decoded = _decoded(data, wanted=samples.shape, rate=rate)
        peak = true_peak(decoded, rate)
        if peak <= ceiling:
            return _Encoded(data, gain_db, integrated_loudness(decoded, rate), peak)
        gain_db -= peak - ceiling + STEP
    raise AudioError(f"expected a true peak of at most {ceiling:g} dBTP after encoding, got {peak:.1f}")


def _mp3(samples: Floats, rate: int) -> bytes:
    import soundfile

    written = io.BytesIO()
    soundfile.write(
        written, samples, rate, format="MP3", subtype="MPEG_LAYER_III", compression_level=QUALITY,
        bitrate_mode="VARIABLE",
    )  # fmt: skip
    return written.getvalue()


def _decoded(data: bytes, *, wanted: tuple[int, ...], rate: int) -> Floats:
    """What was written, if it is what was meant: same rate and channels, and a duration within 0.1 s."""
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


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all, even when the power fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".clip-")
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(temporary, 0o644)  # mkstemp's own is for its owner alone, and a web server may be somebody else
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name last; where folders cannot be opened (Windows) the system sees to it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
