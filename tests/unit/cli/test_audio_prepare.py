"""adjudge audio prepare, as a user types it, and as one mistypes it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import soundfile

from adjudge.audio.library.excerpts import PLACES
from adjudge.cli import main
from adjudge.cli.parser import build_parser

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two recordings that can be used, and two that cannot."""
    monkeypatch.chdir(tmp_path)
    music = tmp_path / "music"
    music.mkdir()
    for seed, name in enumerate(("one", "two")):
        soundfile.write(music / f"{name}.wav", np.random.default_rng(seed).normal(0, 0.1, (32000, 1)), 32000)
    soundfile.write(music / "silence.wav", np.zeros((32000, 1)), 32000)
    (music / "empty.mp3").write_bytes(b"")
    return tmp_path


QUICK = ["--seconds", "1", "--workers", "1"]


def test_what_was_made_and_left_out_is_said(folder: Path, capsys: Captured) -> None:
    assert main(["audio", "prepare", "music", "-o", "my lab", *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(
        r"2 clips in my lab, all of them new: -1[78]\.\d to -1[78]\.\d LUFS, true peaks of at most -\d+\.\d dBTP",
        lines[0],
    )
    assert lines[1:] == [
        "2 files left out: 1 not audio, 1 silent; see my lab/problems.csv",
        "next: adjudge audio runs 'my lab'",
    ]
    assert sorted(path.name for path in (folder / "my lab" / "clips").iterdir()) == ["one.mp3", "two.mp3"]
    assert main(["audio", "prepare", "music", "-o", "my lab", *QUICK]) == 0
    assert capsys.readouterr().out.startswith("2 clips in my lab, none of them new: ")


def test_clips_that_stay_quieter_and_rows_that_miss_are_said(folder: Path, capsys: Captured) -> None:
    Path("table.csv").write_text("file,artist\none.wav,A\nthree.wav,B\n")
    hits = np.random.default_rng(1).normal(0, 0.01, (32000, 1))
    hits[16000] = 1.0
    soundfile.write(folder / "music" / "hits.wav", hits, 32000)
    assert main(["audio", "prepare", "music", "-o", "lab", "--table", "table.csv", "--loudness", "-18", *QUICK]) == 0
    said = capsys.readouterr().out
    assert "1 clip held more than 1 LU below -18 LUFS by its peaks: hits\n" in said
    assert "2 files left out: 1 not audio, 1 silent; see lab/problems.csv\n" in said
    assert "used all the same: 2 not in table; see lab/problems.csv\n" in said
    assert "1 row of the table without a recording; see lab/problems.csv\n" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nowhere", "-o", "lab"], "nowhere: expected a folder with recordings, got nothing of that name"),
        (["music", "-o", ""], "--output: expected a folder, got an empty name"),
        (["", "-o", "lab"], "FOLDER: expected a folder, got an empty name"),
        (["music", "-o", "music"], "music: expected another folder for the clips than that of the recordings"),
        (["music", "-o", "lab", "--loudness", "loud"], "--loudness: expected auto or a number in LUFS, got 'loud'"),
        (["music", "-o", "lab", "--seconds", "-3"], "'seconds' must be from 0.5 to 1800, got -3"),
        (
            ["music", "-o", "lab", "--least-seconds=-1"],
            "'least-seconds' must be a finite number of at least 0, got -1",
        ),
        (["music", "-o", "lab", "--table", "none.csv"], "none.csv: "),
        (["music", "-o", "music/one.wav"], "music/one.wav: expected a folder for the clips, got a file"),
        (["music", "-o", "lab", "--seconds", "1", "--least-seconds", "2", "--workers", "1"], "music: none of 4 files"),
    ],
)
def test_mistakes_are_one_line(folder: Path, capsys: Captured, options: list[str], said: str) -> None:
    assert main(["audio", "prepare", *options]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"adjudge: {said}")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_an_interruption_says_how_to_go_on(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    from adjudge.audio.library import prepare

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(prepare, "run_jobs", interrupted)
    assert main(["audio", "prepare", "music", "-o", "lab", *QUICK]) == 130
    assert capsys.readouterr().err == "adjudge: interrupted: nothing is lost; the same command goes on in lab\n"


def test_every_place_can_be_asked_for() -> None:
    for place in PLACES:
        asked = build_parser().parse_args(["audio", "prepare", "music", "-o", "lab", "--place", place])
        assert asked.place == place
