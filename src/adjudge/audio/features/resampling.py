"""Sound from one rate to another: one low-pass filter, applied to overlapping blocks by fast Fourier transforms.

A block of spectrum is multiplied by the filter's response and cut (or padded with zeros) to the length of the other
rate, which is the exact convolution with a filter of finite length followed by decimation (overlap-save). The filter
is a sinc in a Kaiser window: flat to 91.3 % of the lower of the two Nyquist frequencies and 100 dB down from there on,
so that nothing folds back; that is what SoX's resampler, librosa's usual one, does with its quality HQ. All ratios cost
about the same, also those without a common factor.

Reference: Crochiere and Rabiner, *Multirate Digital Signal Processing*, Prentice-Hall (1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, gcd

import numpy as np
import numpy.typing as npt

from adjudge.audio.loudness import AudioError

Samples = npt.NDArray[np.float32]

ATTENUATION = 100.0  # dB: below what 16 bits hold
BLOCK = 1024  # samples of a block at the lower of the two rates, about: 46 ms at 22,050 Hz
TRANSITION = 0.087  # of the lower Nyquist frequency, just below it
LEAST_RATE, MOST_RATE = 1000, 768000  # Hz
_CHUNK = 2**18  # samples transformed at once, so that they stay in the processor's cache


@dataclass(frozen=True, eq=False)
class _Plan:
    """Lengths of a block and of what it shares with its neighbours, before and after, and the filter's response."""

    block: int
    shared: int
    block_after: int
    shared_after: int
    response: npt.NDArray[np.float32]


def resampled(samples: Samples, rate: int, to: int) -> Samples:
    """Mono samples at another rate, ceil(samples * to / rate) of them, in time with the first.

    >>> tone = np.sin(2 * np.pi * 440 * np.arange(48000) / 48000).astype(np.float32)
    >>> wanted = np.sin(2 * np.pi * 440 * np.arange(22050) / 22050)
    >>> bool(np.abs(resampled(tone, 48000, 22050) - wanted)[500:-500].max() < 1e-4)
    True
    """
    if not LEAST_RATE <= rate <= MOST_RATE:
        raise AudioError(f"expected a rate from {LEAST_RATE} to {MOST_RATE} Hz, got {rate}")
    if rate == to or not len(samples):
        return samples
    from scipy.fft import irfft, rfft

    plan = _plan(rate, to)
    step, inner = plan.block - 2 * plan.shared, slice(plan.shared_after, plan.block_after - plan.shared_after)
    n_blocks = ceil(len(samples) / step)
    after = np.empty((n_blocks, inner.stop - inner.start), dtype=np.float32)
    some = max(1, _CHUNK // max(plan.block, plan.block_after))
    for start in range(0, n_blocks, some):
        n = min(some, n_blocks - start)
        blocks = windows_of(samples, start * step - plan.shared, n, length=plan.block, step=step)
        spectrum = rfft(blocks)[:, : len(plan.response)]
        spectrum *= plan.response
        after[start : start + n] = irfft(spectrum, plan.block_after)[:, inner]
    return after.reshape(-1)[: ceil(len(samples) * to / rate)]


def windows_of(samples: Samples, start: int, n: int, *, length: int, step: int) -> Samples:
    """``n`` windows of sound, n x length, a new one every ``step`` samples; before and after the sound it is silent.

    They share their memory with the sound, unless they reach beyond it.

    >>> windows_of(np.array([1, 2, 3], np.float32), -1, 3, length=2, step=1).tolist()
    [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
    """
    stop = start + (n - 1) * step + length
    part = samples[max(0, start) : max(0, stop)]
    if start < 0 or stop > len(samples):
        part = np.pad(part, (max(0, -start), max(0, stop - len(samples))))
    return np.lib.stride_tricks.sliding_window_view(part, length)[::step]


@lru_cache(maxsize=16)
def _plan(rate: int, to: int) -> _Plan:
    """Blocks that are whole numbers of samples at both rates, long enough for the filter; and its response."""
    from scipy.fft import next_fast_len

    common = gcd(rate, to)
    unit, unit_after = rate // common, to // common
    width = TRANSITION * min(1.0, to / rate) / 2  # in cycles a sample, as the cutoff
    half = ceil((ATTENUATION - 7.95) / (14.36 * width) / 2)  # length of the filter by Kaiser's formula
    shares = ceil(half / unit)
    units = next_fast_len(max(8 * shares, round(BLOCK / min(unit, unit_after))))
    places = np.arange(-half, half + 1)
    cutoff = (min(1.0, to / rate) - width) / 2
    taps = np.sinc(2 * cutoff * places) * np.kaiser(len(places), 0.1102 * (ATTENUATION - 8.7))
    around_zero = np.zeros(units * unit)
    around_zero[places] = taps / taps.sum()
    kept = units * min(unit, unit_after) // 2 + 1
    response = np.fft.rfft(around_zero).real[:kept] * (to / rate)
    return _Plan(units * unit, shares * unit, units * unit_after, shares * unit_after, response.astype(np.float32))
