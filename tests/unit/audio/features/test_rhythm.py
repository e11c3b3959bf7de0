"""Fluctuation patterns show how fast loudness changes, and in which band."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.audio.features.rhythm import EDGES, N_BANDS, N_RATES, loudness, pattern, rates, rhythm
from adjudge.audio.features.spectra import spectra_of


def pulsing(hz: float, seconds: float, carrier: float = 1000.0) -> NDArray[np.float32]:
    time = np.arange(round(seconds * 22050)) / 22050
    samples: NDArray[np.float64] = 0.1 * np.sin(2 * np.pi * carrier * time) * (1 + np.sin(2 * np.pi * hz * time))
    return samples.astype(np.float32)


@pytest.mark.parametrize("hz", [1.0, 2.0, 4.0, 8.0])
def test_the_strongest_rate_is_that_of_the_pulse(hz: float) -> None:
    found = rhythm(spectra_of(pulsing(hz, 8))).reshape(N_BANDS, N_RATES)
    assert abs(rates()[found.sum(axis=0).argmax()] - hz) < 0.17


def test_the_strongest_band_is_that_of_the_carrier() -> None:
    found = rhythm(spectra_of(pulsing(2, 6.5, carrier=3400))).reshape(N_BANDS, N_RATES)
    band = int(found.max(axis=1).argmax())
    assert EDGES[band] <= 3400 < EDGES[band + 1]


def test_short_clips_compare_with_long_ones() -> None:
    long, short, slow = (rhythm(spectra_of(pulsing(hz, s))) for hz, s in ((4, 8), (4, 3), (1, 8)))
    assert np.linalg.norm(long - short) < 0.5 * np.linalg.norm(long - slow)
    assert 0.5 < short.max() / long.max() < 2


def test_what_does_not_change_has_no_rhythm() -> None:
    steady = np.full((300, N_BANDS), 2.5)
    assert pattern(steady).max() < 1e-12
    assert not rhythm(spectra_of(np.zeros(1, dtype=np.float32))).any()


def test_a_single_event_does_not_count() -> None:
    once = np.ones((1280, N_BANDS))
    once[600] = 50
    assert pattern(once).max() < 1e-12  # in 2 of 9 segments: the median does not see it


def test_a_tone_of_1_khz_at_40_db_has_about_a_sone() -> None:
    tone = 10 ** (-56 / 20) * np.sin(2 * np.pi * 1000 * np.arange(22050) / 22050)
    assert 0.7 < loudness(spectra_of(tone.astype(np.float32)))[10:-10].max(axis=1).mean() < 1.3


def test_rates_go_up_to_10_hz() -> None:
    assert len(rates()) == N_RATES
    assert rates()[0] == pytest.approx(0.084, abs=1e-3)
    assert rates()[-1] == pytest.approx(10.0, abs=0.05)
