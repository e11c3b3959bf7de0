"""Timbre as a Gaussian that is one for every clip, whatever is in it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.audio.features.spectra import spectra_of
from adjudge.audio.features.timbre import RIDGE, mfcc, timbre, unpack
from adjudge.errors import AdjudgeError

TIME = np.arange(22050) / 22050
SOUNDS = {
    "silence": np.zeros(22050),
    "a tone": 0.5 * np.sin(2 * np.pi * 440 * TIME),
    "zero frequency": np.full(22050, 0.9),
    "clipped": np.sign(np.sin(2 * np.pi * 97 * TIME)),
    "a click": np.eye(1, 22050, 11025)[0],
    "noise": np.random.default_rng(3).normal(size=22050),
    "shorter than a frame": np.random.default_rng(4).normal(size=700),
    "one sample": np.ones(1),
    "next to nothing": np.full(3000, 1e-30),
    "the loudest": np.full(3000, 1e9),
}


@pytest.mark.parametrize("name", SOUNDS)
def test_covariances_are_positive_definite_for_every_sound(name: str) -> None:
    sound: NDArray[np.float32] = SOUNDS[name].astype(np.float32)
    values = timbre(spectra_of(sound))
    assert np.isfinite(values).all()
    covariance = unpack(values[None])[1][0]
    assert (covariance == covariance.T).all()
    assert np.linalg.eigvalsh(covariance)[0] > 0.5 * RIDGE
    assert np.isfinite(np.linalg.cholesky(covariance)).all()


def test_mean_and_covariance_are_those_of_the_coefficients() -> None:
    spectra = spectra_of(SOUNDS["noise"].astype(np.float32))
    frames = mfcc(spectra).astype(np.float64)
    means, covariances = unpack(np.stack([timbre(spectra)] * 2))
    assert np.allclose(means[1], frames.mean(axis=0))
    assert np.allclose(covariances[1] - RIDGE * np.eye(20), np.cov(frames.T, bias=True))
    assert np.linalg.matrix_rank(covariances[0]) == 20


def test_other_numbers_are_not_unpacked() -> None:
    with pytest.raises(AdjudgeError, match=r"timbre: expected documents x 230 numbers, got an array of shape \(230,\)"):
        unpack(np.zeros(230))
