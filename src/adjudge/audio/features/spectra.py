"""The input of all features: a clip decoded, mixed to mono at 22,050 Hz, and its short-time spectrum.

One rate for all recordings makes their features comparable; 22,050 Hz keeps what is below 10.5 kHz, which holds nearly
everything that distinguishes timbre, rhythm and harmony. The spectrum is librosa's default: a Hann window of 2,048
samples (93 ms) every 512 (23 ms), centred, with silence before and after the clip.

Samples are float32 between -1 and 1, and so is everything computed frame by frame: the rounding is 10,000 times below
the range of 80 dB that features use. Sums over frames are float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.audio.loudness import AudioError
from adjudge.audio.sources import MOST_SECONDS, lacks_length, quote_error
from adjudge.extras import need

Samples = npt.NDArray[np.float32]
RATE = 22050  # Hz
LEAST_RATE, MOST_RATE = 1000, 768000  # Hz
N_FFT, HOP = 2048, 512  # samples: 93 ms, every 23 ms
N_BINS = 1 + N_FFT // 2
MOST_BYTES = 2**31
SLACK = 0.1  # seconds in excess that a header may promise
_SMALL = 2**18  # multiplications that OpenBLAS does in one thread
_CHUNK = 64  # frames at once: their spectra stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Spectra:
    """Power spectra of a mono sound at 22,050 Hz: frames x 1,025 bins, Hann window, a frame every 512 samples."""

    power: npt.NDArray[np.float32]


def read_sound(path: str | Path) -> Samples:
    """Samples of a recording, mixed to mono (the mean of its channels) and resampled to 22,050 Hz.

    Anything that libsndfile decodes, at any rate, up to half an hour; refused in one line where it cannot be used.
    """
    path = Path(path)
    try:
        if not path.is_file():
            raise AudioError(f"expected a file, got {'a folder' if path.is_dir() else 'none'}")
        samples, rate = _decode(path)
        return mix_and_resample(samples, rate)
    except AudioError as error:
        raise AudioError(str(error), source=str(path)) from None


def _decode(path: Path) -> tuple[Samples, int]:
    """Samples x channels and their rate; read at once, because libsndfile seeks again for every block."""
    require_decoder()
    import soundfile

    try:
        opened = soundfile.SoundFile(str(path))
    except (soundfile.LibsndfileError, OSError, RuntimeError):  # its own messages are misleading here
        raise AudioError("expected sound that can be decoded, got a file that is damaged or no sound") from None
    with opened as file:
        frames, channels, rate = int(file.frames), int(file.channels), int(file.samplerate)
        if rate < 1 or frames > MOST_SECONDS * rate:
            raise AudioError(f"expected at most {MOST_SECONDS / 60:.0f} minutes, got {frames / max(1, rate) / 60:.0f}")
        if frames * channels * 4 > MOST_BYTES:
            raise AudioError(f"expected sound that fits in memory, got {frames} samples of {channels} channels")
        samples: Samples
        try:
            if file.format == "WAV" and file.subtype == "PCM_16":  # the same numbers in a third of the time
                samples = np.multiply(file.read(dtype="int16", always_2d=True), np.float32(2**-15), dtype=np.float32)
            else:
                samples = file.read(dtype="float32", always_2d=True)
        except (soundfile.LibsndfileError, OSError, RuntimeError) as error:
            raise AudioError(f"expected sound that can be decoded, got {quote_error(error).rstrip('.')}") from None
        if len(samples) < frames - SLACK * rate:
            with path.open("rb") as handle:
                is_guess = file.format == "MP3" and lacks_length(handle)
            if not is_guess:
                share = f"{len(samples) / rate:.2f} s of {frames / rate:.2f} s"
                raise AudioError(f"expected a whole file, got one that is cut off: {share}")
        return samples, rate


def require_decoder() -> None:
    """Refuse to go on without the packages that decode and resample sound."""
    need("audio", "Audio features need", "soundfile", "soxr")


def mix_and_resample(samples: npt.NDArray[Any], rate: int) -> Samples:
    """Samples mixed to mono and resampled to 22,050 Hz: one dimension, or samples x channels, at any rate in Hz.

    >>> stereo = np.zeros((44100, 2))
    >>> mix_and_resample(stereo, 44100).shape
    (22050,)
    """
    samples = np.asarray(samples)
    if samples.ndim == 1:
        samples = samples[:, None]
    if samples.ndim != 2 or not samples.shape[1]:
        raise AudioError(f"expected samples x channels, got an array of shape {samples.shape}")
    channels = samples.shape[1]
    mono: Samples = samples[:, 0].astype(np.float32)
    for channel in range(1, channels):  # because ``mean`` takes 20 times as long
        mono += samples[:, channel]
    if channels > 1:
        mono *= np.float32(1 / channels)
    if not len(mono):
        raise AudioError("expected sound, got no samples")
    if not np.isfinite(mono).all():
        raise AudioError("expected finite samples, got NaN or infinity")
    return resample(mono, rate, RATE)


def resample(samples: Samples, rate: int, to: int) -> Samples:
    """Mono samples at another rate, ceil(samples * to / rate) of them, in time with the first.

    By SoX's resampler at its quality HQ, as librosa does: flat to 91.3 % of the lower of the two Nyquist frequencies,
    and 120 dB down above it, so that nothing folds back.

    >>> tone = np.sin(2 * np.pi * 440 * np.arange(48000) / 48000).astype(np.float32)
    >>> expected = np.sin(2 * np.pi * 440 * np.arange(22050) / 22050)
    >>> bool(np.abs(resample(tone, 48000, 22050) - expected)[500:-500].max() < 1e-4)
    True
    """
    if not LEAST_RATE <= rate <= MOST_RATE:
        raise AudioError(f"expected a rate from {LEAST_RATE} to {MOST_RATE} Hz, got {rate}")
    if rate == to or not len(samples):
        return samples
    need("audio", "Audio features need", "soxr")
    import soxr

    length = ceil(len(samples) * to / rate)
    converted: Samples = soxr.resample(samples, rate, to)[:length]
    return np.pad(converted, (0, length - len(converted)))  # soxr rounds the length, down to nothing


def compute_spectra(samples: Samples) -> Spectra:
    """Power spectra of mono sound at 22,050 Hz, 1 + samples // 512 frames; frame *i* is centred on sample 512 *i*.

    X_i[k] = |sum_n w[n] x[512 i + n - 1024] exp(-2 pi j k n / 2048)|^2, with w the periodic Hann window and x silent
    outside the clip: the square of ``librosa.stft`` with its defaults. Sound shorter than a frame is one frame.

    >>> compute_spectra(np.ones(1000, np.float32)).power.shape
    (2, 1025)
    """
    from scipy.fft import rfft

    samples = np.asarray(samples, dtype=np.float32)
    if samples.ndim != 1 or not len(samples):
        raise AudioError(f"expected mono sound in one dimension, got an array of shape {samples.shape}")
    power = np.empty((1 + len(samples) // HOP, N_BINS), dtype=np.float32)
    windowed, window = np.empty((_CHUNK, N_FFT), dtype=np.float32), _hann_window()
    for start in range(0, len(power), _CHUNK):
        n = min(_CHUNK, len(power) - start)
        frames = _frames(samples, start * HOP - N_FFT // 2, n)
        spectrum = rfft(np.multiply(frames, window, out=windowed[:n]))
        out = power[start : start + n]
        np.multiply(spectrum.real, spectrum.real, out=out)
        out += np.square(spectrum.imag)
    return Spectra(power)


@lru_cache(maxsize=1)
def _hann_window() -> npt.NDArray[np.float32]:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)).astype(np.float32)


def _frames(samples: Samples, start: int, n: int) -> Samples:
    """``n`` frames, n x 2,048, from sample ``start`` on, with silence before and after the sound."""
    stop = start + (n - 1) * HOP + N_FFT
    part = samples[max(0, start) : max(0, stop)]
    if start < 0 or stop > len(samples):
        part = np.pad(part, (max(0, -start), max(0, stop - len(samples))))
    return np.lib.stride_tricks.sliding_window_view(part, N_FFT)[::HOP]


def sum_weighted(spectra: npt.NDArray[np.float32], weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Weighted sums of frames: frames x bins times bins x numbers, a few frames at a time.

    For a large product OpenBLAS starts its threads, which takes longer than all of this in one thread.

    >>> sum_weighted(np.ones((3, 2), np.float32), np.ones((2, 1), np.float32)).tolist()
    [[2.0], [2.0], [2.0]]
    """
    sums = np.empty((len(spectra), weights.shape[1]), dtype=np.float32)
    n_frames = max(1, _SMALL // weights.size)
    for start in range(0, len(spectra), n_frames):
        np.matmul(spectra[start : start + n_frames], weights, out=sums[start : start + n_frames])
    return sums
