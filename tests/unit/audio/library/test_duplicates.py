"""Recordings that are there twice are found, and different ones are not taken for the same."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from adjudge.audio.library import duplicates
from adjudge.audio.library.duplicates import Bits, find_duplicates, fingerprint, measure_difference, unpack_signs
from adjudge.audio.synthesis import synthesise

RATE = 16000
Sound = npt.NDArray[np.float64]


def melody(seed: int, seconds: float = 8.0, beat: float = 0.25) -> Sound:
    """Two channels of plucked notes with five partials, every ``beat`` seconds, at random pitches."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(1.2 * RATE)) / RATE
    sound = np.zeros((round(seconds * RATE) + len(time), 2))
    for start in np.arange(0, seconds, beat):
        pitch = 220 * 2 ** (rng.integers(0, 25) / 12)
        partials = [np.sin(2 * np.pi * pitch * k * time) / k * rng.uniform(0.3, 1) for k in range(1, 6)]
        note = sum(partials) * np.exp(-3 * time)
        first = round(start * RATE)
        sound[first : first + len(time)] += note[:, None] * rng.uniform(0.2, 1, 2)
    return 0.1 * sound[: round(seconds * RATE)]


@pytest.fixture(scope="module")
def original() -> Sound:
    return melody(1)


def encoded(sound: Sound, file_format: str, subtype: str | None = None, level: float = 1.0) -> Sound:
    written = io.BytesIO()
    soundfile.write(written, sound, RATE, format=file_format, subtype=subtype, compression_level=level)
    written.seek(0)
    decoded: Sound = soundfile.read(written, always_2d=True)[0]
    return decoded


@pytest.mark.parametrize(
    "changed",
    [
        lambda sound: encoded(sound, "MP3", level=0.99),
        lambda sound: encoded(sound, "OGG", "VORBIS"),
        lambda sound: encoded(sound, "OGG", "OPUS", level=0.95),
        lambda sound: sound[round(0.05 * RATE) :],
        lambda sound: np.vstack([np.zeros((round(0.05 * RATE), 2)), sound]),
        lambda sound: sound[round(1.4 * RATE) :],
        lambda sound: 0.02 * sound,
        lambda sound: sound.mean(axis=1),
        lambda sound: sound.mean(axis=1, keepdims=True) * (1, -1),
        lambda sound: sound + 0.3,
        lambda sound: np.round(sound * 100) / 100,
    ],
    ids=["mp3", "ogg", "opus", "50 ms less", "50 ms more", "cut", "level", "mono", "phase", "offset", "7 bits"],
)  # fmt: skip
def test_the_same_recording_is_found_however_it_comes(changed: Callable[[Sound], Sound], original: Sound) -> None:
    prints = {name: fingerprint(sound, RATE) for name, sound in (("a", original), ("b", changed(original)))}
    assert find_duplicates(prints) == {"b": "a"}


def test_the_rate_does_not_count(original: Sound) -> None:
    from scipy.signal import resample_poly

    prints = {"a": fingerprint(original, RATE)}
    prints["44.1 kHz"] = fingerprint(resample_poly(original, 441, 160), 44100)
    prints["8 kHz"] = fingerprint(resample_poly(original, 1, 2), 8000)
    assert find_duplicates(prints) == {"44.1 kHz": "a", "8 kHz": "a"}


def synthesised(name: str) -> Sound:
    return synthesise(name, seconds=8.0, rate=RATE)


@pytest.mark.parametrize(
    "sounds",
    [
        lambda: [melody(seed) for seed in range(8)],  # of one rhythm and instrument
        lambda: [synthesised(name) for name in ("electronica-01-01", "electronica-01-02", "baroque-01-01")],
        lambda: [np.random.default_rng(seed).normal(0, 0.1, 8 * RATE) for seed in range(8)],
    ],
    ids=["melodies", "one artist", "noise"],
)
def test_different_sounds_are_different(sounds: Callable[[], list[Sound]]) -> None:
    assert find_duplicates({str(i): fingerprint(sound, RATE) for i, sound in enumerate(sounds())}) == {}


def test_what_does_not_change_has_no_fingerprint() -> None:
    time = np.arange(8 * RATE) / RATE
    tones = [np.sin(2 * np.pi * pitch * time) for pitch in (440, 880)]
    still = [*tones, tones[0] + tones[1], np.zeros((8 * RATE, 2)), 1e-5 * melody(1), np.zeros(0), np.zeros((5, 2))]
    prints = {str(i): fingerprint(sound, RATE) for i, sound in enumerate(still)}
    assert all(len(bits) == 0 for bits in prints.values())
    assert find_duplicates(prints) == {}


def test_short_clips_are_never_taken_for_the_same_nor_a_part_for_the_whole(original: Sound) -> None:
    lengths = (0.3, 1.0, 1.6, 2.0, 3.0)
    prints = {f"{seed} {n}": fingerprint(melody(seed, n), RATE) for seed in range(3) for n in lengths}
    prints |= {"whole": fingerprint(original, RATE), "part": fingerprint(original[: 5 * RATE], RATE)}
    assert find_duplicates(prints) == {}


def test_the_first_is_the_original_and_blocks_do_not_matter(original: Sound, monkeypatch: pytest.MonkeyPatch) -> None:
    other = melody(2)
    sounds = {"x": other, "b": original, "a": 0.5 * original, "y": 0.5 * other, "c": original, "z": melody(3)}
    prints = {name: fingerprint(sound, RATE) for name, sound in sounds.items()}
    wanted = {"a": "b", "y": "x", "c": "b"}
    assert find_duplicates(prints) == wanted
    monkeypatch.setattr(duplicates, "BLOCK", 2)
    assert find_duplicates(prints) == wanted


def random_bits(rng: np.random.Generator, n_frames: int) -> Bits:
    known = rng.random((n_frames, 32)) < 0.7
    return np.packbits(np.hstack([rng.random((n_frames, 32)) < 0.5, known]), axis=1).ravel()


def test_the_share_of_differing_signs_is_that_of_a_count_by_hand() -> None:
    signs = unpack_signs(random_bits(np.random.default_rng(1), 100))
    flipped = signs.copy()
    flipped[30, :20] *= -1
    wrong = np.count_nonzero(signs[30, :20])
    assert measure_difference(signs, flipped) == pytest.approx(wrong / np.count_nonzero(signs))
    assert measure_difference(signs[5:], flipped) == pytest.approx(wrong / np.count_nonzero(signs[5:]))
    flipped[40:42] *= -1  # more than 0.01 of them
    assert measure_difference(signs, flipped) is None
    assert measure_difference(signs, unpack_signs(random_bits(np.random.default_rng(2), 100))) is None


def test_chance_finds_nothing_among_many() -> None:
    rng = np.random.default_rng(7)
    lengths = (3, 6, 10, 15, 25, 60, 120)
    prints = {str(i): random_bits(rng, lengths[i % len(lengths)]) for i in range(300)}
    assert find_duplicates(prints) == {}
