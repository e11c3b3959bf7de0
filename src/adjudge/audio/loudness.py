"""How loud a clip is, and the gain that makes it as loud as the others without harming it.

Louder sounds better, so clips that are compared must be equally loud. Loudness is the integrated, gated loudness of
ITU-R BS.1770 in LUFS: the power of the sound after a filter that hears as people do, over blocks of 400 ms, leaving out
those that are silent. The peak is the *true* peak in dBTP (decibels relative to full scale): that of the waveform
between the samples, found by oversampling four times, because that is what a converter or a lossy encoder will meet.

A clip is levelled with one gain for all of it and nothing else. Where the gain that reaches the target would push the
true peak over the ceiling, the gain is less, the clip stays quieter than the others, and the result says ``limited``;
there is no limiter, no compressor and no clipping.

Samples are floats between -1 and 1, samples x channels, or one dimension for mono. The filter is that of De Man's
analysis of the standard (pyloudnorm's ``DeMan``), whose coefficients are the standard's own at 48 kHz.

References: ITU-R BS.1770-5 (2023); EBU R 128 (2023); Steinmetz and Reiss, "pyloudnorm", AES 150 (2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import InputError

TARGET = -18.0  # LUFS: loud enough for a phone, quiet enough to leave most music its peaks
CEILING = -1.0  # dBTP: what EBU R 128 leaves for the encoder
BLOCK = 0.4  # seconds: the gating block of BS.1770
SILENCE = -70.0  # LUFS: the absolute gate of BS.1770
OVERSAMPLING = 4
MOST_CHANNELS = 5


class AudioError(InputError):
    """Sound that cannot be used. The message is one line: ``path: what was wanted, what came``."""


@dataclass(frozen=True)
class Level:
    """What levelling found and what it will do.

    ``loudness`` (LUFS) and ``true_peak`` (dBTP) are those of the sound as it came, ``gain_db`` what to add to it and
    ``loudness_after`` what that gives; ``limited`` when the ceiling kept it from the target.
    """

    loudness: float
    true_peak: float
    gain_db: float
    loudness_after: float
    limited: bool

    def __str__(self) -> str:
        held = ", held back by its peak" if self.limited else ""
        return f"{self.loudness:.1f} LUFS {self.gain_db:+.1f} dB = {self.loudness_after:.1f} LUFS{held}"


def integrated_loudness(samples: Floats, rate: int) -> float:
    """Integrated loudness in LUFS; ``-inf`` where no block reaches -70 LUFS, which is silence.

    A sound shorter than one block of 400 ms is repeated until it fills one: its loudness is that of its loop, not that
    of a short sound in a long silence.

    >>> seconds = np.arange(48000) / 48000
    >>> round(integrated_loudness(np.sin(2 * np.pi * 997 * seconds), 48000), 2)  # as the standard says
    -3.01
    """
    import pyloudnorm

    checked = _checked(samples, rate)
    missing = int(np.ceil(BLOCK * rate)) - len(checked)
    if missing > 0:
        checked = np.pad(checked, ((0, missing), (0, 0)), mode="wrap")
    return float(pyloudnorm.Meter(rate, filter_class="DeMan").integrated_loudness(checked))


def true_peak(samples: Floats, rate: int) -> float:
    """The highest peak of any channel in dBTP, between the samples too; ``-inf`` where every sample is zero.

    >>> tone = np.sin(2 * np.pi * np.arange(4000) / 4 + np.pi / 4)  # every sample misses the crest
    >>> print(round(np.abs(tone).max(), 3), round(true_peak(tone * np.hanning(4000), 48000), 1))
    0.707 0.0
    """
    from scipy.signal import resample_poly

    checked = _checked(samples, rate)
    between = max(float(np.max(np.abs(resample_poly(channel, OVERSAMPLING, 1)))) for channel in checked.T)
    peak = max(between, float(np.max(np.abs(checked))))
    return 20 * float(np.log10(peak)) if peak > 0 else -np.inf


def levelling(samples: Floats, rate: int, *, target: float = TARGET, ceiling: float = CEILING) -> Level:
    """Find the gain that brings a sound to ``target`` LUFS, or as near as a true peak below ``ceiling`` dBTP allows.

    Silence (nothing above -70 LUFS) has no gain and is refused.

    >>> seconds = np.arange(48000) / 48000
    >>> print(levelling(0.1 * np.sin(2 * np.pi * 997 * seconds), 48000))
    -23.0 LUFS +5.0 dB = -18.0 LUFS
    """
    loudness, peak = integrated_loudness(samples, rate), true_peak(samples, rate)
    if not np.isfinite(loudness):
        raise AudioError(f"expected sound, got silence (nothing above {SILENCE:.0f} LUFS)")
    wanted, allowed = target - loudness, ceiling - peak
    gain = min(wanted, allowed)
    return Level(loudness, peak, gain, loudness + gain, limited=allowed < wanted)


def amplified(samples: Floats, gain_db: float) -> Floats:
    """The samples with a gain in dB.

    >>> amplified(np.array([0.5, -0.1]), 20.0)
    array([ 5., -1.])
    """
    louder: Floats = samples * 10 ** (gain_db / 20)
    return louder


def _checked(samples: Floats, rate: int) -> Floats:
    """Samples x channels as floats, or the reason why not."""
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
