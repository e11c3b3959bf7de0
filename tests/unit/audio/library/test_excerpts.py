"""The part of a recording that is cut: the right one, of any format, and never more of it than needed."""

from __future__ import annotations

import hashlib
import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray
from tests.unit.audio.sound_formats import FORMATS

from adjudge.audio.library.excerpts import Excerpt, read_excerpt
from adjudge.audio.loudness import AudioError
from adjudge.audio.sources import BrokenError, ShortError, UnreadableError, add_length, lacks_length, read_source

Floats = NDArray[np.float64]


def steps(seconds: int = 6, rate: int = 16000, *, channels: int = 1) -> Floats:
    """A tone for every second, 200 Hz higher than the last: what is cut can be told by its pitch."""
    time = np.arange(seconds * rate) / rate
    tone = 0.3 * np.sin(2 * np.pi * np.cumsum(400 + 200 * np.floor(time)) / rate)
    return np.repeat(tone[:, None], channels, axis=1)


def write(path: Path, samples: Floats, rate: int = 16000, **options: str) -> Path:
    soundfile.write(path, samples, rate, **(FORMATS.get(path.suffix[1:], {}) | options))
    return path


def pitches(excerpt: Excerpt) -> list[int]:
    """The strongest frequency of every whole second, to 100 Hz."""
    seconds = excerpt.samples[: len(excerpt.samples) // excerpt.rate * excerpt.rate, 0].reshape(-1, excerpt.rate)
    return [int(round(np.argmax(np.abs(np.fft.rfft(second))) / 100) * 100) for second in seconds]


@pytest.mark.parametrize("kind", list(FORMATS))
def test_the_middle_of_every_format_is_found(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / f"song.{kind}", steps())
    excerpt = read_excerpt(path, seconds=2)
    assert pitches(excerpt) == [800, 1000]
    assert excerpt.start == pytest.approx(2.0, abs=0.03)
    assert excerpt.total_seconds == pytest.approx(6.0, abs=0.06)
    assert excerpt.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("rate", "channels", "subtype"),
    [(8000, 1, "PCM_U8"), (192000, 2, "PCM_24"), (96000, 6, "PCM_32"), (22050, 2, "FLOAT"), (11025, 1, "DOUBLE")],
)
def test_any_rate_width_and_number_of_channels_is_cut(tmp_path: Path, rate: int, channels: int, subtype: str) -> None:
    path = write(tmp_path / "song.wav", steps(3, rate, channels=channels), rate, subtype=subtype)
    excerpt = read_excerpt(path, seconds=1)
    assert (excerpt.rate, excerpt.samples.shape) == (rate, (rate, min(channels, 2)))
    assert pitches(excerpt) == [600]


def test_the_start_is_the_start_and_a_short_recording_is_taken_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "song.wav", steps())
    assert pitches(read_excerpt(path, seconds=2, place="start")) == [400, 600]
    whole = read_excerpt(path, seconds=30)
    assert (whole.start, whole.seconds) == (0.0, 6.0)
    assert np.allclose(whole.samples, steps(), atol=1e-4)


def test_fades_are_only_where_it_was_cut(tmp_path: Path) -> None:
    constant = np.full((6 * 16000, 1), 0.5)
    path = write(tmp_path / "song.wav", constant, subtype="FLOAT")
    middle = read_excerpt(path, seconds=2).samples[:, 0]
    assert middle[0] == 0
    assert middle[-1] == pytest.approx(0, abs=1e-6)
    assert middle[160] == pytest.approx(0.25, rel=0.02)  # 10 ms are half of a fade
    assert (middle[320:-320] == 0.5).all()
    start = read_excerpt(path, seconds=2, place="start").samples[:, 0]
    assert (start[0], start[-1]) == (0.5, 0.0)


def test_a_middle_of_silence_moves_to_the_nearest_sound(tmp_path: Path) -> None:
    song = steps(24, 8000)
    song[4 * 8000 : 20 * 8000] = 0  # a hidden track after a long silence
    song[20 * 8000 :] *= 0.1
    excerpt = read_excerpt(write(tmp_path / "hidden.flac", song, 8000), seconds=3)
    assert excerpt.start in {1.0, 20.0}
    assert np.sqrt(np.mean(excerpt.samples**2)) > 0.01


@pytest.mark.parametrize("sample", [0.0, np.nan], ids=["silence", "damage at once"])
def test_where_no_sound_is_found_the_middle_is_cut(tmp_path: Path, sample: float) -> None:
    samples = np.zeros((8000 * 6, 1))
    samples[100] = sample
    assert read_excerpt(write(tmp_path / "s.wav", samples, 8000, subtype="FLOAT"), seconds=2).start == 2.0


def test_the_representative_part_has_the_least_divergence_by_the_direct_formula(tmp_path: Path) -> None:
    from adjudge.audio.features.spectra import compute_spectra
    from adjudge.audio.features.timbre import mfcc

    rng = np.random.default_rng(8)
    levels = rng.uniform(0.02, 0.2, size=9)
    song = np.concatenate([level * rng.normal(size=22050) + steps(1, 22050)[:, 0] for level in levels])
    path = write(tmp_path / "song.wav", song[:, None], 22050, subtype="FLOAT")
    frames = mfcc(compute_spectra(song.astype(np.float32))).astype(np.float64)
    second = np.minimum(np.arange(len(frames)) * 512 // 22050, 8)

    def kl(a: Floats, b: Floats) -> float:
        gap, inverse = b.mean(0) - a.mean(0), np.linalg.inv(np.cov(b.T, bias=True))
        mine = np.cov(a.T, bias=True)
        logs = np.linalg.slogdet(np.cov(b.T, bias=True))[1] - np.linalg.slogdet(mine)[1]
        return float(0.5 * (np.trace(inverse @ mine) + gap @ inverse @ gap - 20 + logs))

    windows = [frames[(second >= start) & (second < start + 4)] for start in range(6)]
    distances = [kl(window, frames) + kl(frames, window) for window in windows]
    assert read_excerpt(path, seconds=4, place="representative").start == np.argmin(distances)


def without_length(samples: Floats, rate: int) -> bytes:
    """An MP3 of variable bit rate without the frame that says how long it is."""
    written = io.BytesIO()
    soundfile.write(written, samples, rate, format="MP3", bitrate_mode="VARIABLE", compression_level=0.2)
    data = written.getvalue()
    return data[data.index(b"\xff\xfb", 10) :]


def test_an_mp3_that_does_not_say_how_long_it_is_is_counted(tmp_path: Path) -> None:
    quiet = np.zeros((5 * 44100, 2))
    data = without_length(np.concatenate([quiet, np.random.default_rng(1).normal(0, 0.1, (5 * 44100, 2))]), 44100)
    path = tmp_path / "stream.mp3"
    path.write_bytes(b"ID3\x04\0\0\0\0\x01\x00" + bytes(128) + data)
    assert abs(soundfile.info(path).duration - 10) > 1  # what is guessed from the first frame
    excerpt = read_excerpt(path, seconds=2)
    assert excerpt.total_seconds == pytest.approx(10, abs=0.1)
    assert excerpt.start == pytest.approx(5, abs=2.1)
    assert len(read_source(path).samples) == pytest.approx(441000, abs=4000)


def test_mp3s_with_and_without_a_table_are_told_apart(tmp_path: Path) -> None:
    with_one = write(tmp_path / "song.mp3", steps(1, 32000), 32000).read_bytes()
    assert not lacks_length(io.BytesIO(with_one))
    assert lacks_length(io.BytesIO(without_length(steps(1, 32000), 32000)))
    assert add_length(io.BytesIO(b"ID3 and nothing of use" * 99)) is None


def test_hours_are_not_read_to_cut_seconds(tmp_path: Path) -> None:
    path = tmp_path / "hours.wav"
    with soundfile.SoundFile(path, "w", 8000, 1, subtype="PCM_U8") as file:
        minute = steps(60, 8000)
        for _ in range(60):
            file.write(minute)
    tracemalloc.start()
    excerpt = read_excerpt(path, seconds=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (excerpt.start, excerpt.total_seconds) == (1799.0, 3600.0)
    assert peak < 4e6  # an hour as floats is 115 MB


@pytest.mark.parametrize("kind", list(FORMATS))
def test_a_recording_that_ends_too_early_is_broken(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / f"song.{kind}", steps(4))
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 7 // 10])
    with pytest.raises(BrokenError, match=rf"song\.{kind}: expected a whole file, got one that is cut off"):
        read_excerpt(path, seconds=1)


def test_damage_is_said_where_it_is_heard(tmp_path: Path) -> None:
    path = write(tmp_path / "song.flac", np.random.default_rng(0).normal(0, 0.1, (7 * 16000, 1)))
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle - 6000 : middle + 6000] = bytes(12000)
    path.write_bytes(data)
    with pytest.raises(BrokenError, match=r"song\.flac.*a whole file.*got one that is .*damaged"):
        read_excerpt(path, seconds=2)
    assert read_excerpt(path, seconds=1, place="start").seconds == 1


def test_too_little_nothing_and_nonsense_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "blip.wav", steps(1)[:4000])
    with pytest.raises(ShortError, match=r"blip\.wav.*at least 0\.5 s.*got 0\.250 s"):
        read_excerpt(path)
    with pytest.raises(UnreadableError, match="expected a file, got something else"):
        read_excerpt(tmp_path)
    for seconds in (0, float("nan")):
        with pytest.raises(AudioError, match=rf"'seconds' must be from 0\.5 to 1800, got {seconds}$"):
            read_excerpt(path, seconds=seconds)
