"""Harmony is that of the notes, and the same in every key once transposed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.audio.features.spectra import spectra_of
from adjudge.audio.features.tonal import chroma, tonal

C, E, G, A = 60, 64, 67, 69


def notes(*chords: tuple[int, ...], up: int = 0) -> NDArray[np.float32]:
    """Chords of MIDI numbers, half a second each."""
    time = np.arange(11025) / 22050
    played = [sum(np.sin(2 * np.pi * 440 * 2 ** ((n + up - 69) / 12) * time) for n in chord) for chord in chords]
    return (0.1 * np.concatenate(played)).astype(np.float32)


def test_a_chord_is_its_notes() -> None:
    mean = tonal(spectra_of(notes((C, E, G))))[:12]
    assert set(np.argsort(mean)[-3:]) == {0, 4, 7}


def test_the_covariance_is_that_of_chroma_and_distances_are_those_of_matrices() -> None:
    one, two = (spectra_of(notes((C, E, G), chord)) for chord in ((A, C, E), (C, 65, A)))
    means, covariances = [], []
    for spectra in (one, two):
        frames = chroma(spectra).astype(np.float64)
        means.append(frames.mean(axis=0))
        covariances.append(np.cov(frames.T, bias=True))
    assert np.allclose(tonal(one)[12:24], np.diag(covariances[0]))
    assert tonal(one)[24 + 3] == pytest.approx(2**0.5 * covariances[0][3, 4])  # a semitone up from D sharp
    wanted = np.sum((means[0] - means[1]) ** 2) + np.sum((covariances[0] - covariances[1]) ** 2)
    assert np.sum((tonal(one) - tonal(two)) ** 2) == pytest.approx(wanted)


def test_transposed_music_is_a_rotation() -> None:
    here, there = (tonal(spectra_of(notes((C, E, G), (A, C, E), up=up))).reshape(8, 12) for up in (0, 5))
    distances = [np.linalg.norm(np.roll(here, semitones, axis=1) - there) for semitones in range(12)]
    assert np.argmin(distances) == 5
    assert distances[5] < 0.1 * distances[0]
