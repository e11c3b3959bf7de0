"""The folder of invented music: what a lab might have, and what listeners say of it."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
import soundfile
from tinytag import TinyTag

import adjudge as aj
from adjudge.audio.demo_music import choose_tracks, write_demo_music
from adjudge.cli import main
from adjudge.embedded import GENRES, demo_judgments
from adjudge.errors import AdjudgeError


def test_tracks_are_spread_over_genres_and_artists_have_two_each() -> None:
    for n, n_genres in ((40, 3), (80, 6), (240, len(GENRES))):
        tracks = choose_tracks(n)
        assert len(set(tracks)) == n
        genres = Counter(track.split("-")[0] for track in tracks)
        assert len(genres) == n_genres
        assert max(genres.values()) - min(genres.values()) <= 1
        assert max(Counter(track[:-3] for track in tracks).values()) == 2


def test_all_tracks_of_the_demo_can_be_asked_for_and_not_one_more() -> None:
    assert len(set(choose_tracks(3000))) == 3000
    for n in (1, 3001):
        with pytest.raises(AdjudgeError, match=f"'tracks' must be an integer from 2 to 3000, got {n}"):
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


def test_listeners_judge_every_pair_of_different_artists_as_they_do_in_the_demo() -> None:
    collection = aj.demo(queries=10, depth=5)
    judgments = collection.need_judgments()
    shared = {"jazz-01-01", "jazz-01-02", "rock-03-04"}
    said = demo_judgments(sorted(shared))
    pairs = set(zip(said["query"], said["document"], strict=True))
    assert pairs == {
        ("jazz-01-01", "rock-03-04"), ("jazz-01-02", "rock-03-04"), ("rock-03-04", "jazz-01-01"),
        ("rock-03-04", "jazz-01-02"),
    }  # fmt: skip
    assert said["grade"].is_between(judgments.scale.minimum, judgments.scale.maximum).all()


def test_what_is_near_in_the_space_is_judged_more_similar_than_what_is_far() -> None:
    tracks = choose_tracks(60)
    said = demo_judgments(tracks).with_columns(
        same=pl.col("query").str.split("-").list.first() == pl.col("document").str.split("-").list.first()
    )
    means = dict(said.group_by("same").agg(pl.col("grade").mean()).iter_rows())
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
