"""Mel-frequency cepstral coefficients, the same as librosa's.

The power spectrum is summed in 128 triangular bands that are equally wide to the ear (Slaney's mel scale: linear below
1 kHz, logarithmic above), taken in decibels down to 80 dB below the loudest of the clip, and its shape described by
the first coefficients of a cosine transform: the first is the level, the next few are the slope and the formants.

Reference: Davis and Mermelstein, "Comparison of parametric representations for monosyllabic word recognition", IEEE
Trans. ASSP 28 (1980), doi:10.1109/TASSP.1980.1163420; Slaney, *Auditory Toolbox*, Interval TR 1998-010.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.audio.features.spectra import N_BINS, RATE, Spectra, weighted

N_MFCC, N_MELS = 20, 128
FLOOR = 1e-10  # power: -100 dB
RANGE = 80.0  # dB below the loudest band of the clip
_SPLITS = 8  # groups of bands: each looks only at the bins that it needs


def mfcc(spectra: Spectra, n: int = N_MFCC) -> npt.NDArray[np.float32]:
    """Frames x ``n`` coefficients: ``librosa.feature.mfcc(y=y, sr=22050, n_mfcc=n)``, transposed.

    c_j = sqrt((1 + [j > 0]) / 128) sum_m L_m cos(pi j (m + 1/2) / 128), with L_m the level of band m in dB. Silence is
    -100 dB in all bands: c_0 = -1131.4 and nothing else.

    >>> from adjudge.audio.features.spectra import spectra_of
    >>> silence = mfcc(spectra_of(np.zeros(600, np.float32)))
    >>> silence.shape, round(float(silence[0, 0]), 1), round(float(abs(silence[:, 1:]).max()), 3)
    ((2, 20), -1131.4, 0.0)
    """
    return weighted(decibels(mel_power(spectra)), _cosines(n))


def mel_power(spectra: Spectra) -> npt.NDArray[np.float32]:
    """Power in 128 mel bands, frames x bands: ``librosa.feature.melspectrogram``, transposed."""
    power = np.empty((len(spectra.power), N_MELS), dtype=np.float32)
    for bands, bins, weights in _groups():
        power[:, bands] = weighted(spectra.power[:, bins], weights)
    return power


def decibels(power: npt.NDArray[np.float32], *, span: float = RANGE) -> npt.NDArray[np.float32]:
    """Power in dB, no lower than -100 and no lower than ``span`` below its highest: ``librosa.power_to_db``.

    >>> decibels(np.array([1.0, 0.01, 0.0], np.float32)).round(3).tolist()
    [0.0, -20.0, -80.0]
    """
    least = max(FLOOR, float(power.max(initial=0.0)) * 10 ** (-span / 10))
    levels = np.log10(np.maximum(power, np.float32(least)))
    levels *= np.float32(10)
    return levels


def mel_to_hz(mels: Floats) -> Floats:
    """Slaney's mel scale: 3 mels are 200 Hz below 1 kHz, and 27 are a factor of 6.4 above.

    >>> mel_to_hz(np.array([0.0, 15.0, 42.0])).round(3).tolist()
    [0.0, 1000.0, 6400.0]
    """
    hz: Floats = np.where(mels < 15, mels * 200 / 3, 1000 * np.exp(np.log(6.4) / 27 * (mels - 15)))
    return hz


@lru_cache(maxsize=1)
def mel_filters() -> Floats:
    """Weights of the bands, bands x bins: triangles of equal area between neighbouring centres."""
    top = 15 + 27 * np.log(RATE / 2 / 1000) / np.log(6.4)
    edges = mel_to_hz(np.linspace(0, top, N_MELS + 2))
    bins = np.linspace(0, RATE / 2, N_BINS)
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    weights: Floats = np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]
    return weights


@lru_cache(maxsize=1)
def _groups() -> tuple[tuple[slice, slice, npt.NDArray[np.float32]], ...]:
    """Neighbouring bands, the bins in which any of them is above 0, and their weights there, bins x bands."""
    weights, groups = mel_filters(), []
    for start in range(0, N_MELS, N_MELS // _SPLITS):
        bands = slice(start, start + N_MELS // _SPLITS)
        used = np.flatnonzero(weights[bands].any(axis=0))
        bins = slice(int(used[0]), int(used[-1]) + 1)
        groups.append((bands, bins, np.ascontiguousarray(weights[bands, bins].T, dtype=np.float32)))
    return tuple(groups)


@lru_cache(maxsize=4)
def _cosines(n: int) -> npt.NDArray[np.float32]:
    """The orthonormal cosine transform (DCT-II) of 128 bands to ``n`` coefficients, bands x coefficients."""
    places, order = np.arange(N_MELS)[:, None] + 0.5, np.arange(n)
    scale = np.sqrt(np.where(order > 0, 2.0, 1.0) / N_MELS)
    cosines: Floats = np.cos(np.pi / N_MELS * places * order) * scale
    return cosines.astype(np.float32)
