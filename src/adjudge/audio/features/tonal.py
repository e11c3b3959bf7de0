"""Harmony: how strong the twelve pitch classes are, and which of them sound together.

The spectrum is folded into pitch classes as ``librosa.feature.chroma_stft`` does (A at 440 Hz, no estimate of tuning);
the frames of a clip are described by their mean and covariance: which notes, and which with which.

A song in another key has the same harmony, with all pitch classes moved on by some semitones. So the numbers come in
rows of twelve that all move together: the mean of each pitch class, and for each interval from the unison to the
tritone how each pitch class goes with the one that is this interval above. The least distance over all twelve keys
(``adjudge.audio.systems.distances.BestRotation``) does not depend on the key.

References: Ellis, "Chroma feature analysis and synthesis" (2007), https://www.ee.columbia.edu/~dpwe/resources/matlab/;
Serrà, Gómez, Herrera and Serra, "Chroma binary similarity and local alignment applied to cover song identification",
IEEE Trans. ASLP 16 (2008), doi:10.1109/TASL.2008.924595 (transposition).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.audio.features import audio_feature
from adjudge.audio.features.spectra import N_FFT, RATE, Spectra, sum_weighted

N_CHROMA, N_INTERVALS = 12, 7
# Every pair of pitch classes is here once, but twice in a covariance; pairs a tritone apart are here twice, too.
_SCALE = np.array([1, *[2**0.5] * 5, 1])[:, None]


@audio_feature("tonal", version=2)
def tonal(spectra: Spectra) -> Floats:
    """Chroma: mean and covariance of the strength of the twelve pitch classes.

    96 numbers, 8 rows of 12 from C to B: the mean; the variance; then, for intervals of d = 1 to 6 semitones, the
    covariance of each pitch class with that d above it, times the square root of 2 for d < 6, so that squared Euclidean
    distances are those of the means plus those of the whole covariances (Frobenius). Silence is 0.

    >>> from adjudge.audio.features.spectra import compute_spectra
    >>> a440 = np.sin(2 * np.pi * 440 * np.arange(22050) / 22050).astype(np.float32)
    >>> int(tonal(compute_spectra(a440))[:12].argmax())
    9
    """
    frames = chroma(spectra).astype(np.float64)
    mean = frames.mean(axis=0)
    centred = frames - mean
    covariance = centred.T @ centred / len(frames)
    return np.concatenate([mean, (covariance[_pairs()] * _SCALE).ravel()])


def chroma(spectra: Spectra) -> npt.NDArray[np.float32]:
    """Frames x 12 pitch classes from C, the strongest of each frame at 1: librosa's ``chroma_stft``, transposed.

    Frames of silence are 0.
    """
    raw = sum_weighted(spectra.power, _filters())
    strongest = raw.max(axis=1, keepdims=True)
    strongest[strongest < np.finfo(np.float32).tiny] = 1
    classes: npt.NDArray[np.float32] = raw / strongest
    return classes


@lru_cache(maxsize=1)
def _pairs() -> tuple[Ints, Ints]:
    """Pitch classes and those of an interval above them, intervals x 12 each."""
    lower = np.arange(N_CHROMA) + np.zeros((N_INTERVALS, 1), dtype=np.int64)
    return lower, (lower + np.arange(N_INTERVALS)[:, None]) % N_CHROMA


@lru_cache(maxsize=1)
def _filters() -> npt.NDArray[np.float32]:
    """Weights from bins to pitch classes, bins x 12.

    A bump of the width of a bin, at least a semitone, around each pitch class in every octave; bins have unit norm, and
    weigh less the further they are from the octave above middle A (a Gaussian with a deviation of two octaves).
    """
    hz = np.arange(1, N_FFT) * RATE / N_FFT
    semitones = 12 * np.log2(hz / 27.5)
    semitones = np.concatenate([[semitones[0] - 18], semitones])  # the bin at 0 Hz: an octave and a half below
    width = np.concatenate([np.maximum(np.diff(semitones), 1.0), [1.0]])
    away = np.remainder(semitones[:, None] - np.arange(12) + 126, 12) - 6
    weights = np.exp(-0.5 * (2 * away / width[:, None]) ** 2)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    weights *= np.exp(-0.5 * ((semitones[:, None] / 12 - 5) / 2) ** 2)
    from_c = np.roll(weights, -3, axis=1)  # they were counted from A
    return np.ascontiguousarray(from_c[: N_FFT // 2 + 1], dtype=np.float32)
