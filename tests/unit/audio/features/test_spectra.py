"""Any recording becomes mono sound at 22,050 Hz and power spectra, or one line that says why not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from adjudge.audio.features.resampling import resampled
from adjudge.audio.features.spectra import read_sound, sound_of, spectra_of
from adjudge.audio.loudness import AudioError

RATES = [8000, 11025, 16000, 22050, 32000, 44056, 44100, 48000, 96000, 192000]


def tone(hz: float, rate: int, seconds: float = 0.5) -> NDArray[np.float32]:
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


@pytest.mark.parametrize("rate", RATES)
def test_a_tone_is_the_same_tone_from_any_rate(rate: int) -> None:
    found, wanted = resampled(tone(1000, rate), rate, 22050), tone(1000, 22050)
    assert found.dtype == np.float32
    assert abs(len(found) - len(wanted)) <= 1
    inner = slice(500, min(len(found), len(wanted)) - 500)
    assert np.abs(found[inner] - wanted[inner]).max() < 1e-5


@pytest.mark.parametrize(("rate", "hz"), [(44100, 11100), (44100, 21000), (48000, 13000), (192000, 90000)])
def test_what_is_above_the_new_range_does_not_fold_back(rate: int, hz: float) -> None:
    assert np.abs(resampled(tone(hz, rate), rate, 22050)[500:-500]).max() < 0.5 * 10 ** (-98 / 20)


def test_resampling_keeps_zero_frequency_and_length() -> None:
    found = resampled(np.ones(4801, dtype=np.float32), 48000, 22050)
    assert len(found) == 2206  # ceil(4801 x 147 / 320)
    assert np.abs(found[300:-300] - 1).max() < 1e-5


@pytest.mark.parametrize("n", [1, 2, 100])
@pytest.mark.parametrize("rate", [8000, 44057, 192000])
def test_a_few_samples_are_enough(n: int, rate: int) -> None:
    found = resampled(np.ones(n, dtype=np.float32), rate, 22050)
    assert len(found) == -(-n * 22050 // rate)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("rate", [0, -44100, 500, 1_000_000])
def test_rates_nobody_records_at_are_refused(rate: int) -> None:
    with pytest.raises(AudioError, match=f"expected a rate from 1000 to 768000 Hz, got {rate}"):
        resampled(np.ones(10, dtype=np.float32), rate, 22050)


@pytest.mark.parametrize("channels", [1, 2, 6])
def test_channels_are_averaged(tmp_path: Path, channels: int) -> None:
    samples = np.random.default_rng(1).uniform(-0.5, 0.5, size=(3000, channels))
    soundfile.write(tmp_path / "a.wav", samples, 22050, subtype="FLOAT")
    assert np.allclose(read_sound(tmp_path / "a.wav"), samples.mean(axis=1), atol=1e-6)
    assert np.allclose(sound_of(samples, 22050), samples.mean(axis=1), atol=1e-6)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT", "PCM_U8"])
def test_samples_are_what_libsndfile_says(tmp_path: Path, subtype: str) -> None:
    soundfile.write(tmp_path / "a.wav", np.linspace(-1, 1, 999), 22050, subtype=subtype)
    wanted, _ = soundfile.read(tmp_path / "a.wav", dtype="float32")
    assert (read_sound(tmp_path / "a.wav") == wanted).all()


def test_files_that_are_no_sound_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.mp3").write_bytes(b"")
    (tmp_path / "text.mp3").write_text("no sound\n" * 100)
    soundfile.write(tmp_path / "none.wav", np.zeros(0), 44100)
    soundfile.write(tmp_path / "nan.wav", np.array([0.1, np.nan]), 44100, subtype="FLOAT")
    wanted = {
        "empty.mp3": "expected sound that can be decoded, got a file that is damaged or no sound",
        "text.mp3": "expected sound that can be decoded, got a file that is damaged or no sound",
        "none.wav": "expected sound, got no samples",
        "nan.wav": "expected finite samples, got NaN or infinity",
        "gone.wav": "expected a file, got none",
        ".": "expected a file, got a folder",
    }
    for name, words in wanted.items():
        with pytest.raises(AudioError) as caught:
            read_sound(tmp_path / name)
        assert str(caught.value).startswith(f"{tmp_path / name}: {words}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["mp3", "flac", "wav", "ogg"])
def test_half_a_file_is_sound_or_one_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"half.{suffix}"
    soundfile.write(path, np.random.default_rng(9).uniform(-0.1, 0.1, size=44100), 44100)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    if suffix == "wav":  # its length is what is there
        assert 9000 < len(read_sound(path)) < 13000
        return
    with pytest.raises(
        AudioError, match=r"half\.[a-z0-9]+: expected (a whole file|sound that can be decoded|sound), got [^\n]+$"
    ):
        read_sound(path)


def test_a_file_longer_than_half_an_hour_is_refused(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "long.wav", np.zeros(1801 * 1000, dtype=np.int16), 1000)
    with pytest.raises(AudioError, match=r"long\.wav: expected at most 30 minutes, got 30"):
        read_sound(tmp_path / "long.wav")


@pytest.mark.parametrize("n", [1, 511, 512, 1024, 3000, 40000])
def test_spectra_are_those_of_the_definition(n: int) -> None:
    samples = np.random.default_rng(2).normal(size=n).astype(np.float32)
    padded = np.concatenate([np.zeros(1024), samples, np.zeros(1024)])
    window = np.hanning(2049)[:-1]
    wanted = [np.abs(np.fft.rfft(padded[i : i + 2048] * window)) ** 2 for i in range(0, n + 1, 512)]
    found = spectra_of(samples).power
    assert found.shape == (1 + n // 512, 1025)
    assert np.allclose(found, wanted, rtol=1e-3, atol=1e-6 * np.max(wanted))


def test_only_mono_has_spectra() -> None:
    with pytest.raises(AudioError, match=r"expected mono sound in one dimension, got an array of shape \(2, 5\)"):
        spectra_of(np.zeros((2, 5), dtype=np.float32))
    with pytest.raises(AudioError, match=r"expected samples x channels, got an array of shape \(2, 5, 1\)"):
        sound_of(np.zeros((2, 5, 1)), 44100)
