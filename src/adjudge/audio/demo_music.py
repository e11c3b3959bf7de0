"""A folder of synthesised music such as a lab might have, to try every step from a folder to a campaign.

Tracks come from the demo, equally many per genre, enough of each that there is something similar to find, and two per
artist, so that an artist filter has an effect. As in any folder that grew for years, a few files are useless: one is
silent, one is empty, one is a copy under another name. Beside the folder lie the grades of the demo's listeners for
every pair of tracks.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adjudge.audio.synthesis import RATE, write_demo_audio
from adjudge.embedded import GENRES, N_ARTISTS, N_DOCUMENTS, N_TRACKS, demo_judgments, demo_space
from adjudge.errors import AdjudgeError
from adjudge.parallel import Progress

BY_ARTIST = 2  # tracks of an artist before the next artist
OF_GENRE = 12  # tracks per genre
MUSIC, LISTENERS = "music", "listeners.csv"
SILENT, EMPTY, COPY = "silence.flac", "unfinished.wav", "copy of %s.flac"


@dataclass(frozen=True)
class DemoMusic:
    """What was written: the folder of music, its number of usable tracks, and the listeners' grades."""

    music: Path
    listeners: Path
    n_tracks: int
    n_grades: int


def choose_tracks(n: int) -> list[str]:
    """Documents of the demo: genres in turn, one genre per twelve tracks, and two tracks per artist in a row.

    >>> choose_tracks(36)[:7]
    ['baroque-01-01', 'blues-01-01', 'classical-01-01', 'baroque-01-02', 'blues-01-02', 'classical-01-02',
    'baroque-02-01']
    """
    if not 2 <= n <= N_DOCUMENTS:
        raise AdjudgeError(f"demo: 'tracks' must be an integer from 2 to {N_DOCUMENTS}, got {n}")
    number, genre = np.divmod(np.arange(n), min(len(GENRES), max(2, n // OF_GENRE)))
    round_, number_in_round = np.divmod(number, N_ARTISTS * BY_ARTIST)
    artist, track = np.divmod(number_in_round, BY_ARTIST)
    code = (genre * N_ARTISTS + artist) * N_TRACKS + round_ * BY_ARTIST + track
    ids = demo_space()[0]
    return [ids[int(place)] for place in code]


def write_demo_music(
    folder: Path,
    *,
    tracks: int = 60,
    seed: int = 2012,
    seconds: float = 12.0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> DemoMusic:
    """Write tracks of the demo with tags into ``folder``/music, and the listeners' grades beside it."""
    chosen = choose_tracks(tracks)
    music, listeners = folder / MUSIC, folder / LISTENERS
    written = write_demo_audio(chosen, music, seed=seed, seconds=seconds, workers=workers, progress=progress)
    _write_silence(music / SILENT, seconds)
    (music / EMPTY).touch()
    shutil.copyfile(written[chosen[0]], music / (COPY % chosen[0]))
    judged = demo_judgments(chosen, seed)
    judged.write_csv(listeners)
    return DemoMusic(music, listeners, len(chosen), judged.height)


def _write_silence(path: Path, seconds: float) -> None:
    import soundfile

    soundfile.write(path, np.zeros((round(seconds * RATE), 2)), RATE, format="FLAC")
