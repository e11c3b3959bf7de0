"""MFCCs, mel bands and chroma are those of librosa, on sound of every kind."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.audio.features.spectra import compute_spectra, resample
from adjudge.audio.features.timbre import decibels, mel_filters, mel_power, mfcc
from adjudge.audio.features.tonal import chroma
from adjudge.audio.synthesis import synthesise

Sound = NDArray[np.float32]
KINDS = ["music", "silence", "clipped", "zero frequency", "shorter than a frame", "one sample", "a tone", "quiet",
         "from 8 kHz", "from 192 kHz"]  # fmt: skip


@pytest.fixture(scope="module")
def librosa() -> Iterator[ModuleType]:
    """The package without what it compiles when it is imported, a quarter of a minute: nothing of that is used here."""
    numba = importlib.import_module("numba")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for decorator in ("guvectorize", "vectorize"):
            patch.setattr(numba, decorator, lambda *_, **__: lambda function: function)
        yield importlib.import_module("librosa")


@pytest.fixture(scope="module")
def sounds() -> dict[str, Sound]:
    music = synthesise("rock-03-04", seconds=2.0, rate=22050).mean(axis=1).astype(np.float32)
    noise = np.random.default_rng(11).normal(size=(2, 192000)).astype(np.float32) * 0.1
    tone = np.sin(2 * np.pi * 1000 * np.arange(22050) / 22050)
    return {
        "music": music,
        "silence": np.zeros(22050, dtype=np.float32),
        "clipped": np.clip(50 * music, -1, 1),
        "zero frequency": np.full(22050, 0.5, dtype=np.float32),
        "shorter than a frame": music[4000:4900],
        "one sample": np.ones(1, dtype=np.float32),
        "a tone": (0.9 * tone).astype(np.float32),
        "quiet": 1e-6 * music,
        "from 8 kHz": resample(noise[0, :8000], 8000, 22050),
        "from 192 kHz": resample(noise[1], 192000, 22050),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_coefficients_are_those_of_librosa(librosa: ModuleType, sounds: dict[str, Sound], kind: str) -> None:
    sound = sounds[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of sound shorter than a frame
        wanted = librosa.feature.mfcc(y=sound, sr=22050, n_mfcc=20).T
    found = mfcc(compute_spectra(sound))
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < 0.005  # of coefficients up to 1,000; float32 and 80 dB allow no less


@pytest.mark.parametrize("kind", ["music", "silence", "shorter than a frame", "a tone"])
def test_chroma_is_that_of_librosa(librosa: ModuleType, sounds: dict[str, Sound], kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = librosa.feature.chroma_stft(y=sounds[kind], sr=22050, tuning=0.0).T
    assert np.abs(chroma(compute_spectra(sounds[kind])) - wanted).max() < 1e-5


def test_mel_bands_and_decibels_are_those_of_librosa(librosa: ModuleType, sounds: dict[str, Sound]) -> None:
    assert np.allclose(mel_filters(), librosa.filters.mel(sr=22050, n_fft=2048), atol=1e-8)
    power = mel_power(compute_spectra(sounds["music"]))
    assert np.allclose(power, librosa.feature.melspectrogram(y=sounds["music"], sr=22050).T, rtol=1e-3, atol=1e-6)
    assert np.allclose(decibels(power), librosa.power_to_db(power), atol=1e-3)


def test_resampling_is_that_of_librosa(librosa: ModuleType) -> None:
    time = np.arange(48000) / 48000
    chord = np.sin(2 * np.pi * np.outer([55.0, 440.0, 3000.0], time)).sum(axis=0).astype(np.float32)
    wanted = librosa.resample(chord, orig_sr=48000, target_sr=22050)
    assert np.array_equal(resample(chord, 48000, 22050), wanted)
