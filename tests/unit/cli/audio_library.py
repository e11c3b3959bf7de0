"""A library of eight short clips of noise and tones, for tests of commands."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import numpy as np

from adjudge.audio.library.folder import CLIP_COLUMNS, CLIP_FOLDER, CLIPS, TRACK_COLUMNS, TRACKS

ARTISTS = ("Ann", "ann ", "Bo", "Bo", "Cy", "Di", "Di; Ed", None)
GENRES = ("rock", "rock", "rock", "folk", "folk", "folk", "jazz", None)


def write_library(folder: Path, *, tagged: bool = True) -> Path:
    """Write clips, tracks.csv and clips.csv into a folder."""
    import soundfile

    (folder / CLIP_FOLDER).mkdir(parents=True)
    tracks, clips = [], []
    for place, (artist, genre) in enumerate(zip(ARTISTS, GENRES, strict=True)):
        rng = np.random.default_rng(place)
        tone = np.sin(2 * np.pi * 220 * 2 ** (place / 3) * np.arange(22050) / 22050)
        path = folder / CLIP_FOLDER / f"d{place}.mp3"
        soundfile.write(path, 0.3 * tone + 0.05 * rng.normal(size=22050), 22050, format="MP3")
        row = [f"d{place}", f"song {place}", artist, "album", genre, "1999"]
        tracks.append([*(row if tagged else [*row[:2], *[None] * 4]), "1.0"])
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        clips.append([f"d{place}", f"{place}.wav", 0, 1.0, 22050, 1, -18, -3, 0, "false", digest, digest])
    for name, columns, rows in ((TRACKS, TRACK_COLUMNS, tracks), (CLIPS, CLIP_COLUMNS, clips)):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, *rows])
    return folder
