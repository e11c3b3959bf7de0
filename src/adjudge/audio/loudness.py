"""How loud a clip is, and the gain that makes it as loud as the others without harming it.

Louder sounds better, so clips that are compared must be equally loud. Loudness is the integrated, gated loudness of
ITU-R BS.1770 in LUFS: the power of the sound after a filter that models hearing, over blocks of 400 ms, silent blocks
left out. The peak is the *true* peak in dBTP: that of the waveform between the samples, found by oversampling four
times, because a converter or a lossy encoder works on that waveform.

One gain levels a whole clip; there is no limiter, no compressor and no clipping. Where the gain that reaches the target
would push the true peak over the ceiling, the gain is less, the clip stays quieter, and the result says ``limited``.

Samples are floats between -1 and 1, samples x channels, or one dimension for mono. The filter is that of De Man's
analysis of the standard (pyloudnorm's ``DeMan``), whose coefficients are the standard's own at 48 kHz.

References: ITU-R BS.1770-5 (2023); EBU R 128 (2023); Steinmetz and Reiss, "pyloudnorm", AES 150 (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import InputError

TARGET = -18.0  # LUFS: loud enough for a phone, quiet enough to leave most music its peaks
CEILING = -1.0  # dBTP: what EBU R 128 leaves for the encoder
BLOCK = 0.4  # seconds: the gating block of BS.1770
SILENCE = -70.0  # LUFS: the absolute gate of BS.1770
OVERSAMPLING = 4
_STRETCH, _REACH = 64, 10  # samples oversampled at a time, and those on either side that the filter looks at
MOST_CHANNELS = 5


class AudioError(InputError):
    """Sound that cannot be used. The message is one line: ``path: what was wanted, what came``."""


@dataclass(frozen=True)
class Level:
    """The level of a sound, and the gain to apply.

    ``loudness`` (LUFS) and ``true_peak`` (dBTP) are those of the original sound, ``gain_db`` is what to add and
    ``loudness_after`` the result; ``limited`` says that the ceiling keeps the sound from the target.
    """

    loudness: float
    true_peak: float
    gain_db: float
    loudness_after: float
    limited: bool

    def __str__(self) -> str:
        held = ", held back by its peak" if self.limited else ""
        return f"{self.loudness:.1f} LUFS {self.gain_db:+.1f} dB = {self.loudness_after:.1f} LUFS{held}"


def measure_level(samples: Floats, rate: int, *, target: float = TARGET, ceiling: float = CEILING) -> Level:
    """Find the gain that brings a sound to ``target`` LUFS, or as near as a true peak below ``ceiling`` dBTP allows.

    Silence (nothing above -70 LUFS) has no gain and is refused.

    >>> seconds = np.arange(48000) / 48000
    >>> print(measure_level(0.1 * np.sin(2 * np.pi * 997 * seconds), 48000))
    -23.0 LUFS +5.0 dB = -18.0 LUFS
    """
    loudness, peak = integrated_loudness(samples, rate), true_peak(samples, rate)
    if not np.isfinite(loudness):
        raise AudioError(f"expected sound, got silence (nothing above {SILENCE:.0f} LUFS)")
    return choose_gain(loudness, peak, target=target, ceiling=ceiling)


def choose_gain(loudness: float, peak: float, *, target: float = TARGET, ceiling: float = CEILING) -> Level:
    """The gain for a sound whose loudness (LUFS) and true peak (dBTP) are known.

    >>> print(choose_gain(-25.0, -4.0))
    -25.0 LUFS +3.0 dB = -22.0 LUFS, held back by its peak
    """
    wanted, allowed = target - loudness, ceiling - peak
    gain = min(wanted, allowed)
    return Level(loudness, peak, gain, loudness + gain, limited=allowed < wanted)


def amplify(samples: Floats, gain_db: float) -> Floats:
    """Apply a gain in dB.

    >>> amplify(np.array([0.5, -0.1]), 20.0)
    array([ 5., -1.])
    """
    louder: Floats = samples * 10 ** (gain_db / 20)
    return louder


def integrated_loudness(samples: Floats, rate: int) -> float:
    """Integrated loudness in LUFS; ``-inf`` for silence, where no block reaches -70 LUFS.

    A sound shorter than one block of 400 ms is repeated until it fills one: its loudness is that of its loop, not that
    of a short sound in a long silence.

    >>> seconds = np.arange(48000) / 48000
    >>> round(integrated_loudness(np.sin(2 * np.pi * 997 * seconds), 48000), 2)  # as the standard says
    -3.01
    """
    import pyloudnorm

    checked = _check_samples(samples, rate)
    missing = int(np.ceil(BLOCK * rate)) - len(checked)
    if missing > 0:
        checked = np.pad(checked, ((0, missing), (0, 0)), mode="wrap")
    return float(pyloudnorm.Meter(rate, filter_class="DeMan").integrated_loudness(checked))


def _check_samples(samples: Floats, rate: int) -> Floats:
    """Samples x channels as floats; refused where they cannot be sound."""
    array: Floats = np.asarray(samples, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not 1 <= array.shape[1] <= MOST_CHANNELS:
        raise AudioError(f"expected samples x 1 to {MOST_CHANNELS} channels, got shape {np.shape(samples)}")
    if len(array) == 0:
        raise AudioError("expected sound, got no samples")
    if rate <= 0:
        raise AudioError(f"expected a sampling rate above 0 Hz, got {rate}")
    if not np.isfinite(array).all():
        raise AudioError("expected finite samples, got NaN or infinity")
    return array


def true_peak(samples: Floats, rate: int) -> float:
    """The highest peak of any channel in dBTP, between the samples too; ``-inf`` where every sample is zero.

    >>> tone = np.sin(2 * np.pi * np.arange(4000) / 4 + np.pi / 4)  # every sample misses the crest
    >>> print(round(np.abs(tone).max(), 3), round(true_peak(tone * np.hanning(4000), 48000), 1))
    0.707 0.0
    """
    checked = _check_samples(samples, rate)
    peak = max(_find_peak(channel) for channel in checked.T)
    return 20 * float(np.log10(peak)) if peak > 0 else -np.inf


def _find_peak(channel: Floats) -> float:
    """The highest absolute value of one channel, oversampled.

    A value between samples exceeds the samples around it by no more than the largest gain of the filter, so only
    stretches with samples that high are oversampled, the most promising first.
    """
    oversample, factor = _oversampling()
    n = -(-len(channel) // _STRETCH)
    padded = np.zeros(n * _STRETCH + 2 * _REACH)
    padded[_REACH : _REACH + len(channel)] = channel
    stretches = np.lib.stride_tricks.sliding_window_view(padded, len(oversample))[::_STRETCH]
    size = np.abs(padded)
    around = np.maximum(*(size[at:][: n * _STRETCH].reshape(n, _STRETCH).max(axis=1) for at in (0, 2 * _REACH)))
    highest = float(around.max())
    searched = around >= 0.9 * highest
    highest = max(highest, float(np.abs(stretches[searched] @ oversample).max()))
    promising = np.flatnonzero((around * factor > highest) & ~searched)
    return max(highest, float(np.abs(stretches[promising] @ oversample).max(initial=0.0)))


@lru_cache(maxsize=1)
def _oversampling() -> tuple[Floats, float]:
    """The filter of ``resample_poly`` as a matrix, samples around a stretch x values in it, and its largest gain."""
    from scipy.signal import resample_poly

    values = resample_poly(np.eye(_STRETCH + 2 * _REACH), OVERSAMPLING, 1, axis=0)
    matrix = np.ascontiguousarray(values[OVERSAMPLING * _REACH : OVERSAMPLING * (_REACH + _STRETCH)].T)
    return matrix, float(np.abs(matrix).sum(axis=0).max())
