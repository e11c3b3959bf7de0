"""Timbre: the Gaussian that fits the MFCCs of a clip, as one vector.

Timbre is how the frames of a clip sound taken together, whatever their order: the mean and the full covariance of 20
mel-frequency cepstral coefficients, after Mandel and Ellis. Two clips are compared by the Kullback-Leibler divergence
of their Gaussians.

The coefficients are librosa's. The power spectrum is summed in 128 triangular bands that are equally wide to the ear
(Slaney's mel scale: linear below 1 kHz, logarithmic above), taken in decibels down to 80 dB below the loudest band of
the clip, and its shape is described by the first coefficients of a cosine transform: the first is the level, the next
few are the slope and the formants.

References: Mandel and Ellis, "Song-level features and support vector machines for music classification", ISMIR 2005;
Davis and Mermelstein, "Comparison of parametric representations for monosyllabic word recognition", IEEE Trans. ASSP 28
(1980), doi:10.1109/TASSP.1980.1163420; Slaney, *Auditory Toolbox*, Interval TR 1998-010.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.audio.features import audio_feature
from adjudge.audio.features.spectra import N_BINS, RATE, Spectra, sum_weighted
from adjudge.errors import AdjudgeError

N_MFCC, N_MELS = 20, 128
FLOOR = 1e-10  # power: -100 dB
RANGE = 80.0  # dB below the loudest band of the clip
_SPLITS = 8  # groups of bands: each uses only the bins that it needs
RIDGE = 1e-3  # dB^2 added to all variances, for clips without 20 dimensions: silence, a tone, fewer than 21 frames
N_PACKED = N_MFCC * (N_MFCC + 1) // 2
_UPPER = np.triu_indices(N_MFCC)


@audio_feature("timbre", version=2)
def timbre(spectra: Spectra) -> Floats:
    """A single Gaussian: mean and covariance of 20 mel-frequency cepstral coefficients (MFCCs).

    The mean (20 numbers) and then the upper triangle of the covariance row by row (210), in dB and dB^2. The covariance
    is that of maximum likelihood (sums over frames divided by their number), plus 0.001 on its diagonal, so that it is
    positive definite for every clip. Of real music the least variance in any direction is around 5 dB^2.

    >>> from adjudge.audio.features.spectra import compute_spectra
    >>> silence = timbre(compute_spectra(np.zeros(22050, np.float32)))
    >>> means, covariances = unpack(silence[None])
    >>> silence.shape, round(covariances[0, 0, 0].item(), 5)
    ((230,), 0.001)
    """
    coefficients = mfcc(spectra).astype(np.float64)
    mean = coefficients.mean(axis=0)
    centred = coefficients - mean
    return pack(mean, centred.T @ centred / len(coefficients) + RIDGE * np.eye(N_MFCC))


def pack(mean: Floats, covariance: Floats) -> Floats:
    """A Gaussian of 20 dimensions as 230 numbers."""
    packed: Floats = np.concatenate([mean, covariance[_UPPER]])
    return packed


def unpack(values: Floats) -> tuple[Floats, Floats]:
    """Means (n x 20) and covariances (n x 20 x 20) of n packed Gaussians (n x 230).

    >>> unpack(np.zeros((3, 12)))
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: timbre: expected documents x 230 numbers, got an array of shape (3, 12)
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != N_MFCC + N_PACKED:
        wanted = N_MFCC + N_PACKED
        raise AdjudgeError(f"timbre: expected documents x {wanted} numbers, got an array of shape {values.shape}")
    covariances = np.empty((len(values), N_MFCC, N_MFCC))
    covariances[:, *_UPPER] = values[:, N_MFCC:]
    covariances[:, _UPPER[1], _UPPER[0]] = values[:, N_MFCC:]
    return values[:, :N_MFCC].copy(), covariances


def mfcc(spectra: Spectra, n: int = N_MFCC) -> npt.NDArray[np.float32]:
    """Frames x ``n`` coefficients: ``librosa.feature.mfcc(y=y, sr=22050, n_mfcc=n)``, transposed.

    c_j = sqrt((1 + [j > 0]) / 128) sum_m L_m cos(pi j (m + 1/2) / 128), with L_m the level of band m in dB. Silence is
    -100 dB in all bands: c_0 = -1131.4 and nothing else.

    >>> from adjudge.audio.features.spectra import compute_spectra
    >>> silence = mfcc(compute_spectra(np.zeros(600, np.float32)))
    >>> silence.shape, round(float(silence[0, 0]), 1), round(float(abs(silence[:, 1:]).max()), 3)
    ((2, 20), -1131.4, 0.0)
    """
    return sum_weighted(decibels(mel_power(spectra)), _cosine_transform(n))


@lru_cache(maxsize=4)
def _cosine_transform(n: int) -> npt.NDArray[np.float32]:
    """The orthonormal cosine transform (DCT-II) of 128 bands to ``n`` coefficients, bands x coefficients."""
    places, order = np.arange(N_MELS)[:, None] + 0.5, np.arange(n)
    scale = np.sqrt(np.where(order > 0, 2.0, 1.0) / N_MELS)
    cosines: Floats = np.cos(np.pi / N_MELS * places * order) * scale
    return cosines.astype(np.float32)


def mel_power(spectra: Spectra) -> npt.NDArray[np.float32]:
    """Power in 128 mel bands, frames x bands: ``librosa.feature.melspectrogram``, transposed."""
    power = np.empty((len(spectra.power), N_MELS), dtype=np.float32)
    for bands, bins, weights in _group_bands():
        power[:, bands] = sum_weighted(spectra.power[:, bins], weights)
    return power


@lru_cache(maxsize=1)
def _group_bands() -> tuple[tuple[slice, slice, npt.NDArray[np.float32]], ...]:
    """Neighbouring bands, the bins in which any of them is above 0, and their weights there, bins x bands."""
    weights, groups = mel_filters(), []
    for start in range(0, N_MELS, N_MELS // _SPLITS):
        bands = slice(start, start + N_MELS // _SPLITS)
        used = np.flatnonzero(weights[bands].any(axis=0))
        bins = slice(int(used[0]), int(used[-1]) + 1)
        groups.append((bands, bins, np.ascontiguousarray(weights[bands, bins].T, dtype=np.float32)))
    return tuple(groups)


def decibels(power: npt.NDArray[np.float32], *, span: float = RANGE) -> npt.NDArray[np.float32]:
    """Power in dB, no lower than -100 and no lower than ``span`` below its highest: ``librosa.power_to_db``.

    >>> decibels(np.array([1.0, 0.01, 0.0], np.float32)).round(3).tolist()
    [0.0, -20.0, -80.0]
    """
    least = max(FLOOR, float(power.max(initial=0.0)) * 10 ** (-span / 10))
    levels = np.log10(np.maximum(power, np.float32(least)))
    levels *= np.float32(10)
    return levels


@lru_cache(maxsize=1)
def mel_filters() -> Floats:
    """Weights of the bands, bands x bins: triangles of equal area between neighbouring centres.

    On Slaney's mel scale, 3 mels are 200 Hz below 1 kHz, and 27 are a factor of 6.4 above.
    """
    mels = np.linspace(0, 15 + 27 * np.log(RATE / 2 / 1000) / np.log(6.4), N_MELS + 2)
    edges: Floats = np.where(mels < 15, mels * 200 / 3, 1000 * np.exp(np.log(6.4) / 27 * (mels - 15)))
    bins = np.linspace(0, RATE / 2, N_BINS)
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    weights: Floats = np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]
    return weights
