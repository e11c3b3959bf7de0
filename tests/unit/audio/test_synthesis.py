"""The demo's music: what genres and artists sound like is described here with plain NumPy, from the samples alone."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray
from scipy.stats import spearmanr

from adjudge.audio.loudness import integrated_loudness
from adjudge.audio.synthesis import INSTRUMENTS, STYLES, synthesise, tone, write_demo_audio
from adjudge.embedded import GENRES, demo_space
from adjudge.errors import AdjudgeError

Floats = NDArray[np.float64]
RATE, SECONDS = 32000, 6.0
ARTISTS, TRACKS = (3, 12, 21), (2, 9)
NAMES = [genre.replace("-", "").lower() for genre in GENRES]
DOCUMENTS = [f"{genre}-{artist:02}-{track:02}" for genre in NAMES for artist in ARTISTS for track in TRACKS]


@pytest.fixture(scope="module")
def pieces() -> dict[str, Floats]:
    return {document: synthesise(document, seconds=SECONDS) for document in DOCUMENTS}


def bands(samples: Floats, *, size: int = 2048) -> Floats:
    """Logarithm of the power in 24 bands from 60 Hz to 14 kHz: frames of 64 ms, 32 ms apart, x bands."""
    frames = np.lib.stride_tricks.sliding_window_view(samples.mean(axis=1), size)[:: size // 2] * np.hanning(size)
    power, hertz = np.abs(np.fft.rfft(frames)) ** 2, np.fft.rfftfreq(size, 1 / RATE)
    edges = np.geomspace(60, 14000, 25)
    inside = [(hertz >= low) & (hertz < high) for low, high in pairwise(edges)]
    return np.log(np.stack([power[:, band].sum(axis=1) for band in inside], axis=1) + 1e-6)


def description(samples: Floats) -> Floats:
    """Timbre (mean and spread of the bands), onsets in each band, and how onsets repeat in time."""
    spectrum = bands(samples)
    onsets = np.maximum(np.diff(spectrum, axis=0), 0)
    pulse = onsets.mean(axis=1) - onsets.mean()
    repeats = np.correlate(pulse, pulse, "full")[len(pulse) : len(pulse) + 40] / (pulse @ pulse)
    return np.concatenate([spectrum.mean(axis=0), spectrum.std(axis=0), onsets.mean(axis=0), repeats])


@pytest.fixture(scope="module")
def distances(pieces: dict[str, Floats]) -> Floats:
    """Between every two pieces, in standard deviations of what describes them."""
    described = np.array([description(piece) for piece in pieces.values()])
    described = (described - described.mean(axis=0)) / described.std(axis=0)
    apart: Floats = np.linalg.norm(described[:, None] - described[None], axis=2)
    return apart


def mean_distance(distances: Floats, *, same_genre: bool, same_artist: bool) -> float:
    chosen = [
        distances[i, j]
        for (i, first), (j, second) in combinations(enumerate(DOCUMENTS), 2)
        if (first.split("-")[0] == second.split("-")[0]) == same_genre and (first[:-3] == second[:-3]) == same_artist
    ]
    return float(np.mean(chosen))


def test_an_artist_is_nearer_to_itself_than_to_its_genre_and_that_nearer_than_other_genres(distances: Floats) -> None:
    artist = mean_distance(distances, same_genre=True, same_artist=True)
    genre = mean_distance(distances, same_genre=True, same_artist=False)
    others = mean_distance(distances, same_genre=False, same_artist=False)
    assert artist < 0.85 * genre
    assert genre < 0.85 * others


def test_the_nearest_piece_by_another_artist_is_mostly_of_the_same_genre(distances: Floats) -> None:
    artists = np.array([document[:-3] for document in DOCUMENTS])
    others = np.where(artists[:, None] == artists, np.inf, distances)
    genres = np.array([document.split("-")[0] for document in DOCUMENTS])
    assert np.mean(genres[np.argmin(others, axis=1)] == genres) > 0.45  # a tenth by chance


def test_what_is_near_in_the_latent_space_sounds_near(distances: Floats) -> None:
    ids, space = demo_space()
    places = space[[ids.index(document) for document in DOCUMENTS]]
    pairs = np.triu_indices(len(DOCUMENTS), 1)
    latent = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert spearmanr(latent[pairs], distances[pairs]).statistic > 0.15


def test_every_piece_is_another(pieces: dict[str, Floats]) -> None:
    alike = np.corrcoef(np.array([piece[::4].mean(axis=1) for piece in pieces.values()]))
    assert np.max(alike - np.eye(len(alike))) < 0.9


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_piece_is_fit_to_be_heard(pieces: dict[str, Floats], document: str) -> None:
    piece = pieces[document]
    assert piece.shape == (round(SECONDS * RATE), 2)
    assert piece.dtype == np.float64
    assert -21 < integrated_loudness(piece, RATE) < -15
    assert np.max(np.abs(piece)) < 0.85
    assert np.max(np.abs(np.diff(piece, axis=0))) < 0.45, "a click"
    assert np.max(np.abs(piece[[0, -1]])) < 1e-3, "begins and ends at rest"
    assert np.all(np.abs(piece.mean(axis=0)) < 1e-3), "no offset"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_piece_is_never_silent_for_a_second(pieces: dict[str, Floats], document: str) -> None:
    window = RATE // 20
    power = (pieces[document] ** 2).mean(axis=1)[: len(pieces[document]) // window * window].reshape(-1, window)
    quiet = power.mean(axis=1) < 1e-3 * np.mean(power)  # 30 dB below the mean
    longest = max((len(run) for run in "".join("q" if is_quiet else " " for is_quiet in quiet).split()), default=0)
    assert longest * 0.05 < 1


def test_a_piece_is_stereo_but_softly(pieces: dict[str, Floats]) -> None:
    for piece in pieces.values():
        sides = np.sqrt((piece**2).mean(axis=0))
        assert 0.5 < sides[0] / sides[1] < 2
        assert 0.15 < np.mean(piece[:, 0] * piece[:, 1]) / (sides[0] * sides[1]) < 0.999


def test_the_same_document_and_seed_give_the_same_samples() -> None:
    piece = synthesise("jazz-07-07", seconds=2)
    synthesise("metal-01-01", seconds=2)
    assert np.array_equal(piece, synthesise("jazz-07-07", seconds=2))
    assert not np.array_equal(piece, synthesise("jazz-07-07", seed=1, seconds=2))


@pytest.mark.parametrize(("seconds", "rate"), [(0.5, 8000), (3.0, 44100), (1.0, 192000), (30.0, 16000)])
def test_other_lengths_and_rates_are_played(seconds: float, rate: int) -> None:
    piece = synthesise("rock-05-05", seconds=seconds, rate=rate)
    assert piece.shape == (round(seconds * rate), 2)
    assert np.isfinite(piece).all()
    assert 0.05 < np.sqrt(np.mean(piece**2)) < 0.15


@pytest.mark.parametrize("document", ["", "polka-01-01", "jazz-26-01", "jazz-1-1", "jazz-01-01\x1b[2J\n"])
def test_an_unknown_document_is_refused_in_one_line(document: str) -> None:
    with pytest.raises(
        AdjudgeError, match=r"demo: no document is called '.*'; they go from baroque-01-01 to"
    ) as refused:
        synthesise(document)
    assert str(refused.value).isprintable()


def test_lengths_and_rates_beyond_reason_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"demo: 'seconds' must be from 0\.5 to 120, got 0"):
        synthesise("jazz-01-01", seconds=0)
    with pytest.raises(AdjudgeError, match=r"demo: 'seconds' must be from 0\.5 to 120, got nan"):
        synthesise("jazz-01-01", seconds=float("nan"))
    with pytest.raises(AdjudgeError, match="demo: 'rate' must be from 8000 to 192000, got 1"):
        synthesise("jazz-01-01", rate=1)


def test_files_are_the_same_however_many_processes_write_them(tmp_path: Path) -> None:
    wanted = ["rock-01-01", "blues-02-03", "rock-01-01", "hiphop-25-12"]
    alone = write_demo_audio(wanted, tmp_path / "alone", seconds=1.5, workers=1)
    together = write_demo_audio(wanted, tmp_path / "together", seconds=1.5, workers=2)
    assert list(alone) == list(together) == ["rock-01-01", "blues-02-03", "hiphop-25-12"]
    for document, path in alone.items():
        assert path.name == f"{document}.flac"
        assert path.read_bytes() == together[document].read_bytes()
        samples, rate = soundfile.read(path)
        assert (samples.shape, rate) == ((48000, 2), 32000)
        assert np.max(np.abs(samples - synthesise(document, seconds=1.5))) < 1e-4
    assert len(list((tmp_path / "together").iterdir())) == 3


def test_nothing_is_written_where_a_document_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(AdjudgeError, match="no document is called 'polka-01-01'"):
        write_demo_audio(["rock-01-01", "polka-01-01"], tmp_path / "audio")
    assert not (tmp_path / "audio").exists()


@pytest.mark.parametrize("name", list(INSTRUMENTS))
def test_an_instrument_plays_in_tune_and_without_clicks(name: str) -> None:
    wave = tone(name, 57, 1.0, rate=RATE).astype(np.float64)
    spectrum = np.abs(np.fft.rfft(wave * np.hanning(len(wave)), 8 * RATE))
    hertz = np.fft.rfftfreq(8 * RATE, 1 / RATE)
    fundamental = (hertz > 150) & (hertz < 300)
    assert hertz[fundamental][np.argmax(spectrum[fundamental])] == pytest.approx(220, rel=0.01)
    assert np.max(np.abs(wave[[0, -1]])) < 0.01
    assert tone(name, 57, 0.01, rate=RATE).shape == (round((0.01 + INSTRUMENTS[name].release) * RATE),)


@pytest.mark.parametrize("genre", NAMES)
def test_patterns_of_a_style_fill_a_bar_and_instruments_are_known(genre: str) -> None:
    style = STYLES[genre]
    lanes = [lane.split(":")[1] for kit in style.kits.split("|") for lane in kit.split()]
    bars = {len(bar) for bar in (*f"{style.comping} {style.walking} {style.rhythms}".split(), *lanes)}
    assert bars == {style.beats * style.steps}
    assert {*f"{style.leads} {style.comps} {style.basses} {style.pads}".split()} <= {"none", *INSTRUMENTS}


@pytest.mark.parametrize("genre", NAMES)
def test_every_artist_of_a_genre_can_be_heard(genre: str) -> None:
    for artist in range(1, 26):
        piece = synthesise(f"{genre}-{artist:02}-01", seconds=0.5, rate=8000)
        assert 0.05 < np.sqrt(np.mean(piece**2)) < 0.2
