"""What every registered audio feature must obey: as many finite numbers for any sound, and the same for the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.audio.features import AUDIO_FEATURES
from adjudge.audio.features.spectra import compute_spectra
from adjudge.audio.synthesis import synthesise

every_feature = pytest.mark.parametrize("name", AUDIO_FEATURES)


@pytest.fixture(scope="module")
def sounds() -> dict[str, NDArray[np.float32]]:
    music = synthesise("jazz-05-02", seconds=2.0, rate=22050).mean(axis=1).astype(np.float32)
    noise = np.random.default_rng(7).normal(size=9000).astype(np.float32)
    return {
        "music": music,
        "noise": noise,
        "silence": np.zeros(5000, dtype=np.float32),
        "one sample": np.ones(1, dtype=np.float32),
        "zero frequency": np.ones(5000, dtype=np.float32),
        "clipped": np.clip(100 * music, -1, 1),
        "quiet": 1e-20 * noise,
        "loud": 1e6 * noise,
    }


@every_feature
def test_it_says_what_it_is(name: str) -> None:
    feature = AUDIO_FEATURES[name]
    assert feature.name == name
    assert feature.about.endswith(".")
    assert len(feature.about) > 20
    assert feature.version >= 1


@every_feature
def test_every_sound_has_as_many_finite_numbers(name: str, sounds: dict[str, NDArray[np.float32]]) -> None:
    values = {key: AUDIO_FEATURES[name].compute(compute_spectra(sound)) for key, sound in sounds.items()}
    shapes = {found.shape for found in values.values()}
    assert len(shapes) == 1
    assert len(shapes.pop()) == 1
    for found in values.values():
        assert found.dtype == np.float64
        assert np.isfinite(found).all()


@every_feature
def test_the_same_sound_has_the_same_numbers_and_other_sound_others(
    name: str, sounds: dict[str, NDArray[np.float32]]
) -> None:
    first, again, other = (
        AUDIO_FEATURES[name].compute(compute_spectra(sounds[key])) for key in ("music", "music", "noise")
    )
    assert (first == again).all()
    assert not np.allclose(first, other)


@every_feature
def test_spectra_are_not_changed(name: str, sounds: dict[str, NDArray[np.float32]]) -> None:
    spectra = compute_spectra(sounds["music"])
    before = spectra.power.copy()
    AUDIO_FEATURES[name].compute(spectra)
    assert (spectra.power == before).all()
