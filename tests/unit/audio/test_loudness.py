"""Loudness and peaks against the test signals of the standards: ITU-R BS.1770 and EBU Tech 3341."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from adjudge.audio.loudness import AudioError, amplify, integrated_loudness, measure_level, true_peak

Floats = NDArray[np.float64]


def sine(seconds: float, rate: int = 48000, *, hertz: float = 997.0, dbfs: float = 0.0, channels: int = 1) -> Floats:
    wave = 10 ** (dbfs / 20) * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)
    return np.repeat(wave[:, None], channels, axis=1)


@pytest.mark.parametrize("rate", [32000, 44100, 48000, 96000, 192000])
def test_a_full_scale_sine_in_one_channel_has_the_loudness_of_the_standard(rate: int) -> None:
    # BS.1770: "a 0 dB FS, 997 Hz sine wave applied to the left, centre, or right channel input … -3.01 LKFS"
    assert integrated_loudness(sine(3, rate), rate) == pytest.approx(-3.01, abs=0.05)


@pytest.mark.parametrize("dbfs", [-23.0, -33.0])
def test_a_stereo_tone_is_as_loud_as_ebu_3341_says_in_cases_1_and_2(dbfs: float) -> None:
    tone = sine(20, hertz=1000, dbfs=dbfs, channels=2)
    assert integrated_loudness(tone, 48000) == pytest.approx(dbfs, abs=0.1)


def test_quiet_stretches_are_left_out_as_ebu_3341_says_in_case_3() -> None:
    parts = [(5, -36.0), (20, -23.0), (5, -36.0)]  # shorter than there
    tone = np.vstack([sine(seconds, hertz=1000, dbfs=dbfs, channels=2) for seconds, dbfs in parts])
    assert integrated_loudness(tone, 48000) == pytest.approx(-23.0, abs=0.1)


def test_a_sound_shorter_than_a_block_is_as_loud_as_its_loop() -> None:
    assert integrated_loudness(sine(0.1, dbfs=-20), 48000) == pytest.approx(-23.01, abs=0.3)


def test_the_peak_between_samples_is_found() -> None:
    # EBU Tech 3341 case 16: a sine at a quarter of the rate and 45 degrees, 0.5 of full scale: -6.0 dBTP (+0.2, -0.4)
    wave = 0.5 * np.sin(2 * np.pi * np.arange(4800) / 4 + np.pi / 4) * np.hanning(4800)
    sampled = 20 * np.log10(np.max(np.abs(wave)))
    assert sampled == pytest.approx(-9.03, abs=0.01)
    assert true_peak(wave, 48000) == pytest.approx(sampled + 3.01, abs=0.1)


def test_the_peak_is_that_of_the_louder_channel() -> None:
    both = np.hstack([sine(1, dbfs=-20), sine(1, dbfs=-12)])
    assert true_peak(both, 48000) == pytest.approx(-12, abs=0.05)


@pytest.mark.parametrize("dbfs", [-40.0, 0.0])
def test_a_sound_gets_the_gain_that_it_lacks_or_loses_what_is_too_much(dbfs: float) -> None:
    tone = sine(2, dbfs=dbfs)[:, 0]  # mono may have one dimension
    level = measure_level(tone, 48000, target=-18)
    assert not level.limited
    assert level.gain_db == pytest.approx(-18 - (dbfs - 3.01), abs=0.05)
    assert integrated_loudness(amplify(tone, level.gain_db), 48000) == pytest.approx(-18, abs=0.05)


def test_peaks_hold_the_gain_back_and_the_result_says_so() -> None:
    quiet = sine(2, dbfs=-40)
    quiet[48000 : 48000 + 48] += 0.5 * np.hanning(48)[:, None]
    level = measure_level(quiet, 48000, target=-18, ceiling=-1)
    assert level.limited
    assert level.loudness_after == pytest.approx(level.loudness + level.gain_db)
    assert level.loudness_after < -20
    assert true_peak(amplify(quiet, level.gain_db), 48000) == pytest.approx(-1, abs=0.01)
    assert "held back" in str(level)


@pytest.mark.parametrize("samples", [np.zeros((48000, 2)), sine(2, dbfs=-80)], ids=["zeros", "below the gate"])
def test_silence_is_minus_infinity_and_refused_with_a_reason(samples: Floats) -> None:
    assert true_peak(samples, 48000) == (-np.inf if not samples.any() else pytest.approx(-80, abs=0.05))
    assert integrated_loudness(samples, 48000) == -np.inf
    with pytest.raises(AudioError, match=r"^expected sound, got silence \(nothing above -70 LUFS\)$"):
        measure_level(samples, 48000)


@pytest.mark.parametrize(
    ("samples", "rate", "said"),
    [
        (np.zeros((0, 2)), 48000, "expected sound, got no samples"),
        (np.full((48000, 1), np.nan), 48000, "expected finite samples, got NaN or infinity"),
        (np.zeros((100, 6)), 48000, r"expected samples x 1 to 5 channels, got shape \(100, 6\)"),
        (np.zeros((2, 2, 2)), 48000, r"got shape \(2, 2, 2\)"),
        (np.ones(100), 0, "expected a sampling rate above 0 Hz, got 0"),
    ],
)
def test_what_is_no_sound_is_refused(samples: Floats, rate: int, said: str) -> None:
    with pytest.raises(AudioError, match=said):
        measure_level(samples, rate)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 500), crest=st.floats(0, 3))
def test_the_true_peak_is_that_of_the_whole_sound_oversampled(seed: int, n: int, crest: float) -> None:
    rng = np.random.default_rng(seed)
    sound = rng.normal(size=n) * np.exp(crest * rng.normal(size=n))  # from even to all in a few peaks
    whole = np.abs(scipy.signal.resample_poly(sound, 4, 1)).max()
    assert true_peak(sound, 44100) == pytest.approx(20 * np.log10(max(whole, np.abs(sound).max())), abs=1e-9)
