"""The demo's music: what genres and artists sound like is described here with plain NumPy, from the samples alone."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import soundfile
from numpy.typing import NDArray
from scipy.stats import spearmanr
from tinytag import TinyTag

import adjudge as aj
from adjudge.audio import synthesis
from adjudge.audio.loudness import integrated_loudness
from adjudge.audio.synthesis import (
    INSTRUMENTS,
    STYLES,
    choose_tracks,
    synthesise,
    tone,
    write_demo_audio,
    write_demo_music,
)
from adjudge.cli import main
from adjudge.embedded import GENRES, demo_judgments, demo_space
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


def test_a_piece_is_fit_to_be_heard(pieces: dict[str, Floats]) -> None:
    for document, piece in pieces.items():
        assert piece.shape == (round(SECONDS * RATE), 2)
        assert piece.dtype == np.float64
        assert -21 < integrated_loudness(piece, RATE) < -15, document
        assert np.max(np.abs(piece)) < 0.85, document
        assert np.max(np.abs(np.diff(piece, axis=0))) < 0.45, f"{document} has a click"
        assert np.max(np.abs(piece[[0, -1]])) < 1e-3, f"{document} does not begin and end at rest"
        assert np.all(np.abs(piece.mean(axis=0)) < 1e-3), f"{document} has an offset"
        windows = (piece**2).mean(axis=1)[: len(piece) // 1600 * 1600].reshape(-1, 1600).mean(axis=1)  # of 50 ms
        quiet = "".join("q" if power < 1e-3 * windows.mean() else " " for power in windows)  # 30 dB below the mean
        assert "q" * 20 not in quiet, f"{document} is silent for a second"
        sides = np.sqrt((piece**2).mean(axis=0))
        assert 0.5 < sides[0] / sides[1] < 2, document
        assert 0.15 < np.mean(piece[:, 0] * piece[:, 1]) / (sides[0] * sides[1]) < 0.999, f"{document}: stereo, softly"


def test_tracks_in_one_place_have_melodies_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    ids, space = demo_space()
    monkeypatch.setattr(synthesis, "demo_space", lambda seed: (ids, np.repeat(space[::12], 12, axis=0)))
    first, second = (synthesise(f"jazz-03-0{track}", seed=77, seconds=2)[:, 0] for track in (1, 2))
    assert np.corrcoef(first, second)[0, 1] < 0.9


def test_another_seed_gives_another_piece() -> None:
    assert not np.array_equal(synthesise("jazz-07-07", seconds=2), synthesise("jazz-07-07", seed=1, seconds=2))


@pytest.mark.parametrize(("seconds", "rate"), [(0.5, 8000), (3.0, 44100), (1.0, 192000), (30.0, 16000)])
def test_other_lengths_and_rates_are_played(seconds: float, rate: int) -> None:
    piece = synthesise("rock-05-05", seconds=seconds, rate=rate)
    assert piece.shape == (round(seconds * rate), 2)
    assert np.isfinite(piece).all()
    assert 0.05 < np.sqrt(np.mean(piece**2)) < 0.15


@pytest.mark.parametrize("document", ["", "polka-01-01", "jazz-26-01", "jazz-1-1", "jazz-01-01\x1b[2J\n"])
def test_an_unknown_document_is_refused_in_one_line_and_nothing_is_written(document: str, tmp_path: Path) -> None:
    with pytest.raises(AdjudgeError, match=r"no document is called '.*'; they go from baroque-01-01 to") as refused:
        write_demo_audio(["rock-01-01", document], tmp_path / "audio")
    assert str(refused.value).isprintable()
    assert not (tmp_path / "audio").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seconds": 0}, r"'seconds' must be in \[0\.5, 120\], got 0"),
        ({"seconds": float("nan")}, r"'seconds' must be .* got nan"),
        ({"rate": 1}, "'rate' must be a whole number from 8,000 to 192,000, got 1"),
    ],
)
def test_lengths_and_rates_beyond_reason_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(AdjudgeError, match=f"demo: {said}"):
        synthesise("jazz-01-01", **given)


def test_files_are_the_same_however_many_processes_write_them(
    tmp_path: Path, pickled_jobs: Callable[[str], None]
) -> None:
    wanted = ["rock-01-01", "blues-02-03", "rock-01-01", "hiphop-25-12"]
    alone = write_demo_audio(wanted, tmp_path / "alone", seconds=1.5, workers=1)
    pickled_jobs("synthesis")
    together = write_demo_audio(wanted, tmp_path / "together", seconds=1.5, workers=2)
    assert list(alone) == list(together) == ["rock-01-01", "blues-02-03", "hiphop-25-12"]
    for document, path in alone.items():
        assert path.name == f"{document}.flac"
        assert path.read_bytes() == together[document].read_bytes()
        samples, rate = soundfile.read(path)
        assert (samples.shape, rate) == ((48000, 2), 32000)
        assert np.max(np.abs(samples - synthesise(document, seconds=1.5))) < 1e-4
    assert len(list((tmp_path / "together").iterdir())) == 3


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
def test_patterns_of_a_style_fill_a_bar_and_its_instruments_and_artists_can_be_heard(genre: str) -> None:
    style = STYLES[genre]
    lanes = [lane.split(":")[1] for kit in style.kits.split("|") for lane in kit.split()]
    bars = {len(bar) for bar in (*f"{style.comping} {style.walking} {style.rhythms}".split(), *lanes)}
    assert bars == {style.beats * style.steps}
    assert {*f"{style.leads} {style.comps} {style.basses} {style.pads}".split()} <= {"none", *INSTRUMENTS}
    for artist in range(1, 26):
        piece = synthesise(f"{genre}-{artist:02}-01", seconds=0.5, rate=8000)
        assert 0.05 < np.sqrt(np.mean(piece**2)) < 0.2


# ---------- a folder of music ----------


def test_tracks_are_spread_over_genres_and_artists_have_two_each() -> None:
    for n, n_genres in ((40, 3), (80, 6), (240, len(GENRES))):
        tracks = choose_tracks(n)
        assert len(set(tracks)) == n
        genres = Counter(track.split("-")[0] for track in tracks)
        assert len(genres) == n_genres
        assert max(genres.values()) - min(genres.values()) <= 1
        assert max(Counter(track[:-3] for track in tracks).values()) == 2
    assert len(set(choose_tracks(3000))) == 3000
    for n in (1, 3001):
        with pytest.raises(AdjudgeError, match=f"'tracks' must be a whole number from 2 to 3,000, got {n}"):
            choose_tracks(n)


def test_the_folder_has_tagged_music_and_three_files_of_no_use(tmp_path: Path) -> None:
    made = write_demo_music(tmp_path, tracks=3, seconds=1.0, workers=1)
    names = sorted(path.name for path in made.music.iterdir())
    assert names == [
        "baroque-01-01.flac", "baroque-01-02.flac", "blues-01-01.flac", "copy of baroque-01-01.flac", "silence.flac",
        "unfinished.wav",
    ]  # fmt: skip
    metadata = aj.demo(queries=1, depth=1).metadata
    assert metadata is not None
    known = metadata.table.filter(pl.col("document") == "blues-01-01").row(0, named=True)
    tags = TinyTag.get(made.music / "blues-01-01.flac")
    assert (tags.artist, tags.title, tags.genre) == (known["artist"], known["title"], known["genre"])
    assert not soundfile.read(made.music / "silence.flac")[0].any()
    assert pl.read_csv(made.listeners).height == made.n_grades


def test_listeners_judge_every_pair_of_different_artists_and_hear_what_is_near() -> None:
    tracks = choose_tracks(60)
    genre, artist = (pl.col(name).str.split("-").list.head(n) for name, n in (("query", 1), ("query", 2)))
    other_genre, other_artist = (pl.col("document").str.split("-").list.head(n) for n in (1, 2))
    judged = demo_judgments(tracks).with_columns(same_genre=genre == other_genre, same_artist=artist == other_artist)
    n_pairs = sum(first[:-3] != second[:-3] for first in tracks for second in tracks)
    assert judged.select("query", "document").n_unique() == n_pairs
    assert not judged["same_artist"].any()
    assert judged["grade"].is_between(0, 100).all()
    means = dict(judged.group_by("same_genre").agg(pl.col("grade").mean()).iter_rows())
    assert means[True] > means[False] + 20


@pytest.mark.usefixtures("one_processor")
def test_the_command_says_what_to_do_next_and_refuses_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--music", "my lab", "--tracks", "2"]) == 0
    assert capsys.readouterr().out.endswith("Try:\n  adjudge audio prepare 'my lab/music' -o lab\n")
    assert main(["demo", "--music", "my lab"]) == 2
    assert main(["demo", "--tracks", "2"]) == 2
    assert "expected a new directory" in (said := capsys.readouterr().err)
    assert "--tracks goes with --music" in said


def test_without_the_extra_it_is_one_line_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "soundfile", None)
    assert main(["demo", "--music", "lab", "--tracks", "2"]) == 2
    said = "adjudge: Files of sound need soundfile, which is not installed: pip install 'adjudge[audio]'\n"
    assert capsys.readouterr().err == said
    assert list(tmp_path.iterdir()) == []
