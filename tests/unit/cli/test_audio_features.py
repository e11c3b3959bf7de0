"""adjudge audio features: a line of what was done, files for other programs, and one line of what was wrong."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile

from adjudge.audio.features import AUDIO_FEATURES
from adjudge.audio.library.folder import CLIP_COLUMNS
from adjudge.cli import main


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    clip = Path("lab/clips/a.mp3")
    clip.parent.mkdir(parents=True)
    soundfile.write(clip, np.random.default_rng(1).uniform(-0.1, 0.1, size=22050), 44100, format="MP3")
    digest = hashlib.sha256(clip.read_bytes()).hexdigest()
    row = dict.fromkeys(CLIP_COLUMNS, "1") | {"document": "a", "clip_sha256": digest}
    pl.DataFrame([row]).write_csv("lab/clips.csv")
    pl.DataFrame({"document": ["a"]}).write_csv("lab/tracks.csv")
    return Path("lab")


def _refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["audio", "features", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_it_says_what_it_did(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audio", "features", "lab", "--feature", "timbre", "--feature", "tonal"]) == 0
    said = capsys.readouterr().out
    assert said == "timbre (230 numbers), tonal (96 numbers) of 1 clip, 1 new; kept in lab/features\n"
    assert main(["audio", "features", "lab", "--feature", "timbre", "-o", "timbre.csv"]) == 0
    said = capsys.readouterr().out
    assert said == "timbre (230 numbers) of 1 clip, 0 new; kept in lab/features\nwrote timbre.csv\n"
    assert pl.read_csv("timbre.csv").shape == (1, 231)


def test_without_a_library_it_lists_the_features(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audio", "features"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert [line.split()[0] for line in lines[2:]] == list(AUDIO_FEATURES)


def test_what_is_wrong_is_one_line(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "clips.csv" not in _refused(capsys, "nowhere")
    assert "No audio feature is called 'tembre'. Did you mean 'timbre'?" in _refused(
        capsys, "lab", "--feature", "tembre"
    )
    assert "expected a name that ends in .npz, .csv, .parquet, got .xlsx" in _refused(capsys, "lab", "-o", "f.xlsx")
    assert "outside of the library" in _refused(capsys, "lab", "-o", "lab/tracks.csv")
    assert "existing directory" in _refused(capsys, "lab", "-o", "nowhere/f.csv")
    assert "'workers' must be a whole number of at least 1" in _refused(capsys, "lab", "--workers", "0")
    assert "expected the folder of a library" in _refused(capsys, "--feature", "timbre")
    Path("lab/clips/a.mp3").write_bytes(b"no sound")
    assert "lab/clips/a.mp3: expected sound that can be decoded" in _refused(capsys, "lab")
