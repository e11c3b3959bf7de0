"""Rhythm: fluctuation patterns, how strongly loudness goes up and down, how fast, and in which bands.

A beat is a regular change of loudness. In every critical band, loudness in sone is cut in segments of 6 s and their
amplitude spectrum taken, which says how strong each rate of modulation is: 2 Hz is 120 beats per minute. What people
hear as fluctuation is strongest near 4 Hz, and that weights the rates. Patterns do not tell where the beats are, and
the median over segments leaves out what happens once.

    power in 22 critical bands   what reaches the inner ear (Terhardt), with what neighbouring bands mask (Schroeder)
    loudness                     in sone, where a sine at full scale has 96 dB
    modulation                   |FFT| of segments of 256 frames (5.94 s), a new one every 128
    strength                     times 1 / (f / 4 Hz + 4 Hz / f); differences of neighbouring rates, smoothed
    pattern                      median over segments: 22 bands x 60 rates from 0.17 to 10.1 Hz

We depart from the paper because all features share their spectra: frames of 93 ms every 23 ms instead of 23 ms every
12 ms (modulation of 10 Hz comes out 3 dB lower), bands up to 9.5 kHz instead of 5.5 kHz, and, as Pampalk's own toolbox
does, Terhardt's formula in place of equal-loudness contours.

References: Pampalk, Rauber and Merkl, "Content-based organization and visualization of music archives", ACM Multimedia
2002, doi:10.1145/641007.641121; Pampalk, "A Matlab toolbox to compute music similarity from audio", ISMIR 2004;
Zwicker and Fastl, *Psychoacoustics*, doi:10.1007/978-3-540-68888-4; Schroeder, Atal and Hall, "Optimizing digital
speech coders by exploiting masking properties of the human ear", JASA 66 (1979), doi:10.1121/1.383662;
Terhardt, "Calculating virtual pitch", Hearing Research 1 (1979), doi:10.1016/0378-5955(79)90025-X.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.audio.features import audio_feature
from adjudge.audio.features.spectra import HOP, N_BINS, N_FFT, RATE, Spectra, sum_weighted

EDGES = (0, 100, 200, 300, 400, 510, 630, 770, 920, 1080, 1270, 1480, 1720, 2000, 2320, 2700, 3150, 3700, 4400, 5300,
         6400, 7700, 9500)  # fmt: skip  # Hz: Zwicker's critical bands
N_BANDS = len(EDGES) - 1
SEGMENT, STEP = 256, 128  # frames
N_RATES = 60
FULL_SCALE = 96.0  # dB: the sound pressure of a sine at full scale
_SINE = N_FFT * 3 / 16 * N_FFT / 2  # power that a sine at full scale has in the spectrum: Parseval, Hann window
_SMOOTH = np.array([0.05, 0.1, 0.25, 0.5, 1, 0.5, 0.25, 0.1, 0.05])


@audio_feature("rhythm", version=2)
def rhythm(spectra: Spectra) -> Floats:
    """Fluctuation patterns: how strongly loudness is modulated in 22 critical bands, at 60 rates up to 10 Hz.

    1,320 numbers of at least 0, band by band. Clips shorter than 6 s are one segment: their loudness goes on with its
    mean and the strength is that of the part that is there, so that they compare with longer ones. Silence, and a tone
    that does not change, are 0.

    >>> from adjudge.audio.features.spectra import compute_spectra
    >>> rhythm(compute_spectra(np.zeros(22050, np.float32))).sum().item()
    0.0
    """
    return pattern(loudness(spectra)).ravel()


def rates() -> Floats:
    """The rates of modulation in Hz, halfway between those whose difference they are."""
    middles: Floats = (np.arange(N_RATES) + 0.5) * RATE / HOP / SEGMENT
    return middles


def loudness(spectra: Spectra) -> Floats:
    """Specific loudness in sone, frames x 22 critical bands.

    2^((L - 40) / 10) above 40 dB and (L / 40)^2.642 below, with L the level in the band, at least 0 dB.
    """
    power = np.maximum(sum_weighted(spectra.power, _bands()), 1e-30).astype(np.float64)
    level = np.maximum(0.0, 10 * np.log10(power) + FULL_SCALE - 10 * np.log10(_SINE))
    sone: Floats = np.where(level >= 40, 2 ** ((level - 40) / 10), (level / 40) ** 2.642)
    return sone


def pattern(sone: Floats) -> Floats:
    """Fluctuation pattern of loudness: bands x rates, median over segments."""
    length = min(SEGMENT, len(sone))
    starts = np.arange(0, len(sone) - length + 1, STEP)
    segments = np.stack([sone[start : start + length] for start in starts])
    segments = segments - segments.mean(axis=1, keepdims=True)  # the padding of short ones is then their mean
    strength = np.abs(np.fft.rfft(segments, SEGMENT, axis=1))[:, : N_RATES + 1] * (2 / length)
    rate = np.arange(1, N_RATES + 1) * RATE / HOP / SEGMENT
    heard = np.concatenate([[0.0], 1 / (rate / 4 + 4 / rate)])  # how strongly: 1/2 at 4 Hz, 0 at 0 Hz
    strength *= heard[:, None]
    edges = np.abs(np.diff(strength, axis=1)).transpose(0, 2, 1)
    median: Floats = np.median(_smoother(N_BANDS) @ edges @ _smoother(N_RATES).T, axis=0)
    return median


@lru_cache(maxsize=1)
def _bands() -> npt.NDArray[np.float32]:
    """Weights from bins to critical bands, bins x bands: the outer ear, then the band, then its spread to others."""
    hz = np.arange(N_BINS) * RATE / N_FFT
    inside = (hz[:, None] >= EDGES[:-1]) & (hz[:, None] < EDGES[1:])
    apart = np.subtract.outer(np.arange(N_BANDS), np.arange(N_BANDS)).T + 0.474  # from a band (row) to another
    spread = 10 ** ((15.81 + 7.5 * apart - 17.5 * np.sqrt(1 + apart**2)) / 10)
    khz = np.maximum(hz, 1.0) / 1000  # below, how much power passes the outer ear, by Terhardt's formula
    passed: Floats = 10 ** ((-3.64 * khz**-0.8 + 6.5 * np.exp(-0.6 * (khz - 3.3) ** 2) - 1e-3 * khz**4) / 10)
    return (passed[:, None] * (inside @ spread)).astype(np.float32)


@lru_cache(maxsize=2)
def _smoother(n: int) -> Floats:
    """Averages over neighbours, n x n; every row sums to 1."""
    reach = len(_SMOOTH) // 2
    weights = np.array([[_SMOOTH[reach + j - i] if abs(j - i) <= reach else 0.0 for j in range(n)] for i in range(n)])
    averages: Floats = weights / weights.sum(axis=1, keepdims=True)
    return averages
