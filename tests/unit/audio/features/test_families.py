"""Features: rhythm, spectra, timbre and tonal content of made-up sound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from adjudge.audio.features.rhythm import EDGES, N_BANDS, N_RATES, loudness, pattern, rates, rhythm
from adjudge.audio.features.spectra import compute_spectra, mix_and_resample, read_sound, resample
from adjudge.audio.features.timbre import RIDGE, mfcc, timbre, unpack
from adjudge.audio.features.tonal import chroma, tonal
from adjudge.audio.loudness import AudioError


def pulsing(hz: float, seconds: float, carrier: float = 1000.0) -> NDArray[np.float32]:
    time = np.arange(round(seconds * 22050)) / 22050
    samples: NDArray[np.float64] = 0.1 * np.sin(2 * np.pi * carrier * time) * (1 + np.sin(2 * np.pi * hz * time))
    return samples.astype(np.float32)


@pytest.mark.parametrize("hz", [1.0, 2.0, 4.0, 8.0])
def test_the_strongest_rate_is_that_of_the_pulse(hz: float) -> None:
    found = rhythm(compute_spectra(pulsing(hz, 8))).reshape(N_BANDS, N_RATES)
    assert abs(rates()[found.sum(axis=0).argmax()] - hz) < 0.17


def test_the_strongest_band_is_that_of_the_carrier() -> None:
    found = rhythm(compute_spectra(pulsing(2, 6.5, carrier=3400))).reshape(N_BANDS, N_RATES)
    band = int(found.max(axis=1).argmax())
    assert EDGES[band] <= 3400 < EDGES[band + 1]


def test_short_clips_compare_with_long_ones() -> None:
    long, short, slow = (rhythm(compute_spectra(pulsing(hz, s))) for hz, s in ((4, 8), (4, 3), (1, 8)))
    assert np.linalg.norm(long - short) < 0.5 * np.linalg.norm(long - slow)
    assert 0.5 < short.max() / long.max() < 2


def test_what_does_not_change_has_no_rhythm() -> None:
    steady = np.full((300, N_BANDS), 2.5)
    assert pattern(steady).max() < 1e-12
    assert not rhythm(compute_spectra(np.zeros(1, dtype=np.float32))).any()


def test_a_single_event_does_not_count() -> None:
    once = np.ones((1280, N_BANDS))
    once[600] = 50
    assert pattern(once).max() < 1e-12  # in 2 of 9 segments: the median does not see it


def test_a_tone_of_1_khz_at_40_db_has_about_a_sone() -> None:
    tone = 10 ** (-56 / 20) * np.sin(2 * np.pi * 1000 * np.arange(22050) / 22050)
    assert 0.7 < loudness(compute_spectra(tone.astype(np.float32)))[10:-10].max(axis=1).mean() < 1.3


def test_rates_go_up_to_10_hz() -> None:
    assert (len(rates()), rates()[0], rates()[-1]) == (
        N_RATES,
        pytest.approx(0.084, abs=1e-3),
        pytest.approx(10, abs=0.05),
    )


@pytest.mark.parametrize("n", [1, 2, 100, 4801])
@pytest.mark.parametrize("rate", [8000, 44057, 48000, 192000])
def test_resampling_keeps_length_and_zero_frequency(n: int, rate: int) -> None:
    found = resample(np.ones(n, dtype=np.float32), rate, 22050)
    assert len(found) == -(-n * 22050 // rate)
    assert np.isfinite(found).all()
    assert np.abs(found[300:-300] - 1).max(initial=0) < 1e-5


@pytest.mark.parametrize("rate", [0, -44100, 500, 1_000_000])
def test_rates_nobody_records_at_are_refused(rate: int) -> None:
    with pytest.raises(AudioError, match=f"expected a rate from 1000 to 768000 Hz, got {rate}"):
        resample(np.ones(10, dtype=np.float32), rate, 22050)


@pytest.mark.parametrize("channels", [1, 2, 6])
def test_channels_are_averaged(tmp_path: Path, channels: int) -> None:
    samples = np.random.default_rng(1).uniform(-0.5, 0.5, size=(3000, channels))
    soundfile.write(tmp_path / "a.wav", samples, 22050, subtype="FLOAT")
    assert np.allclose(read_sound(tmp_path / "a.wav"), samples.mean(axis=1), atol=1e-6)
    assert np.allclose(mix_and_resample(samples, 22050), samples.mean(axis=1), atol=1e-6)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT", "PCM_U8"])
def test_samples_are_what_libsndfile_says(tmp_path: Path, subtype: str) -> None:
    soundfile.write(tmp_path / "a.wav", np.linspace(-1, 1, 999), 22050, subtype=subtype)
    wanted, _ = soundfile.read(tmp_path / "a.wav", dtype="float32")
    assert (read_sound(tmp_path / "a.wav") == wanted).all()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("empty.mp3", "expected sound that can be decoded, got a file that is damaged or no sound"),
        ("text.mp3", "expected sound that can be decoded, got a file that is damaged or no sound"),
        ("none.wav", "expected sound, got no samples"),
        ("nan.wav", "expected finite samples, got NaN or infinity"),
        ("long.wav", "expected at most 30 minutes, got 30"),
        ("gone.wav", "expected a file, got none"),
        ("", "expected a file, got a folder"),
    ],
)
def test_files_that_are_no_sound_are_refused_in_one_line(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "empty.mp3").write_bytes(b"")
    (tmp_path / "text.mp3").write_text("no sound\n" * 100)
    soundfile.write(tmp_path / "none.wav", np.zeros(0), 44100)
    soundfile.write(tmp_path / "nan.wav", np.array([0.1, np.nan]), 44100, subtype="FLOAT")
    soundfile.write(tmp_path / "long.wav", np.zeros(1801 * 1000, dtype=np.int16), 1000)
    with pytest.raises(AudioError) as caught:
        read_sound(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: {said}"


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


@pytest.mark.parametrize("n", [1, 511, 512, 1024, 3000, 40000])
def test_spectra_are_those_of_the_definition(n: int) -> None:
    samples = np.random.default_rng(2).normal(size=n).astype(np.float32)
    padded = np.concatenate([np.zeros(1024), samples, np.zeros(1024)])
    window = np.hanning(2049)[:-1]
    wanted = [np.abs(np.fft.rfft(padded[i : i + 2048] * window)) ** 2 for i in range(0, n + 1, 512)]
    found = compute_spectra(samples).power
    assert found.shape == (1 + n // 512, 1025)
    assert np.allclose(found, wanted, rtol=1e-3, atol=1e-6 * np.max(wanted))


def test_only_mono_has_spectra() -> None:
    with pytest.raises(AudioError, match=r"expected mono sound in one dimension, got an array of shape \(2, 5\)"):
        compute_spectra(np.zeros((2, 5), dtype=np.float32))
    with pytest.raises(AudioError, match=r"expected samples x channels, got an array of shape \(2, 5, 1\)"):
        mix_and_resample(np.zeros((2, 5, 1)), 44100)


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
    values = timbre(compute_spectra(sound))
    assert np.isfinite(values).all()
    covariance = unpack(values[None])[1][0]
    assert (covariance == covariance.T).all()
    assert np.linalg.eigvalsh(covariance)[0] > 0.5 * RIDGE


def test_mean_and_covariance_are_those_of_the_coefficients() -> None:
    spectra = compute_spectra(SOUNDS["noise"].astype(np.float32))
    frames = mfcc(spectra).astype(np.float64)
    means, covariances = unpack(np.stack([timbre(spectra)] * 2))
    assert np.allclose(means[1], frames.mean(axis=0))
    assert np.allclose(covariances[1] - RIDGE * np.eye(20), np.cov(frames.T, bias=True))


C, E, G, A = 60, 64, 67, 69


def notes(*chords: tuple[int, ...], up: int = 0) -> NDArray[np.float32]:
    """Chords of MIDI numbers, half a second each."""
    time = np.arange(11025) / 22050
    played = [sum(np.sin(2 * np.pi * 440 * 2 ** ((n + up - 69) / 12) * time) for n in chord) for chord in chords]
    return (0.1 * np.concatenate(played)).astype(np.float32)


def test_the_covariance_is_that_of_chroma_and_distances_are_those_of_matrices() -> None:
    first, second = (compute_spectra(notes((C, E, G), chord)) for chord in ((A, C, E), (C, 65, A)))
    means, covariances = [], []
    for spectra in (first, second):
        frames = chroma(spectra).astype(np.float64)
        means.append(frames.mean(axis=0))
        covariances.append(np.cov(frames.T, bias=True))
    assert np.allclose(tonal(first)[12:24], np.diag(covariances[0]))
    assert tonal(first)[24 + 3] == pytest.approx(2**0.5 * covariances[0][3, 4])  # a semitone up from D sharp
    wanted = np.sum((means[0] - means[1]) ** 2) + np.sum((covariances[0] - covariances[1]) ** 2)
    assert np.sum((tonal(first) - tonal(second)) ** 2) == pytest.approx(wanted)


def test_transposed_music_is_a_rotation() -> None:
    here, there = (tonal(compute_spectra(notes((C, E, G), (A, C, E), up=up))).reshape(8, 12) for up in (0, 5))
    distances = [np.linalg.norm(np.roll(here, semitones, axis=1) - there) for semitones in range(12)]
    assert np.argmin(distances) == 5
    assert distances[5] < 0.1 * distances[0]
