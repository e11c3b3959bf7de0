"""Timbre: the Gaussian that fits the MFCCs of a clip, as one vector.

How the frames of a clip sound taken together, whatever their order: the mean and the full covariance of 20 MFCCs, as
Mandel and Ellis did. Two clips are compared by the Kullback-Leibler divergence of their Gaussians.

Reference: Mandel and Ellis, "Song-level features and support vector machines for music classification", ISMIR 2005.
"""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats
from adjudge.audio.features.base import audio_feature
from adjudge.audio.features.mfcc import N_MFCC, mfcc
from adjudge.audio.features.spectra import Spectra
from adjudge.errors import AdjudgeError

RIDGE = 1e-3  # dB^2 added to all variances, for clips without 20 dimensions: silence, a tone, fewer than 21 frames
N_PACKED = N_MFCC * (N_MFCC + 1) // 2
_UPPER = np.triu_indices(N_MFCC)


@audio_feature("timbre")
def timbre(spectra: Spectra) -> Floats:
    """A single Gaussian: mean and covariance of 20 mel-frequency cepstral coefficients (MFCCs).

    The mean (20 numbers) and then the upper triangle of the covariance row by row (210), in dB and dB^2. The covariance
    is that of maximum likelihood (sums over frames divided by their number), plus 0.001 on its diagonal, so that it is
    positive definite for every clip. Of real music the least variance in any direction is around 5 dB^2.

    >>> from adjudge.audio.features.spectra import spectra_of
    >>> silence = timbre(spectra_of(np.zeros(22050, np.float32)))
    >>> means, covariances = unpack(silence[None])
    >>> silence.shape, covariances[0, 0, 0].item()
    ((230,), 0.001)
    """
    return pack(*gaussian(mfcc(spectra).astype(np.float64)))


def gaussian(coefficients: Floats) -> tuple[Floats, Floats]:
    """Mean and regularised covariance of coefficients, frames x 20."""
    mean: Floats = coefficients.mean(axis=0)
    centred = coefficients - mean
    covariance: Floats = centred.T @ centred / len(coefficients) + RIDGE * np.eye(N_MFCC)
    return mean, covariance


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
