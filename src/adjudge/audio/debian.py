"""Freely licensed music from Debian packages: downloaded, unpacked and credited, ready to be made a library.

A folder grows by what is asked for, and what it has stays: an interrupted download or one without network goes on from
there, and once everything is there no network is needed. ``debian_packages`` talks to apt, ``debian_music`` keeps the
music, ``debian_copyright`` reads copyright files, ``debian_credits`` says who made what, ``debian_attribution`` writes
it down.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.audio.debian_attribution import attribution
from adjudge.audio.debian_credits import Credit, credits_of
from adjudge.audio.debian_music import (
    COPYRIGHT,
    MUSIC,
    PACKAGES,
    KeptPackage,
    keep_music,
    kept_package,
    kept_packages,
)
from adjudge.audio.debian_packages import Found, Package, check_name, download, find_packages
from adjudge.errors import AdjudgeError, reason
from adjudge.io import write_whole
from adjudge.parallel import Progress

if TYPE_CHECKING:
    from adjudge.audio.library.folder import Library

DEFAULT_PACKAGES = (
    "wesnoth-1.16-music",  # orchestral, by ten composers
    "singularity-music",  # electronic
    "hyperrogue-music",  # cinematic, by three composers
    "colobot-common-sounds",  # synthesisers and jazz
    "ardentryst",  # role-playing
    "pushover-data",  # a style of the world a piece
    "xmoto-data",  # rock and techno
    "zaz-data",  # industrial
    "asc-music",  # strategic
)
TABLE, ATTRIBUTION = "music.csv", "ATTRIBUTION.md"
_TABLE_COLUMNS = ("file", "title", "artist", "album", "genre", "year")

Bar = Callable[[str], AbstractContextManager[Progress]]
"""What shows progress of something that is called so."""


@dataclass(frozen=True)
class DebianMusic:
    """Music of packages in a folder: the packages, a credit a file, and notes on what is not as it was asked for."""

    folder: Path
    packages: tuple[KeptPackage, ...]
    credits: tuple[Credit, ...]
    notes: tuple[str, ...]

    @property
    def music(self) -> Path:
        """The folder with the recordings."""
        return self.folder / MUSIC

    @property
    def table(self) -> Path:
        """What is known of them, for ``prepare_library``."""
        return self.folder / TABLE


def collect_music(
    folder: Path,
    names: Sequence[str] = DEFAULT_PACKAGES,
    *,
    least_seconds: float = 30.0,
    bar: Bar | None = None,
    tell: Callable[[Sequence[str]], None] | None = None,
) -> DebianMusic:
    """Download packages into a folder, keep their music that lasts ``least_seconds``, and find out who made it.

    Packages that are there already are not looked up again, so that a folder stays what it is. The table that is
    written has what tags and copyright files say of title, artist, album, genre and year. ``tell`` is given notes as
    soon as they are known, before a long download.
    """
    for name in names:
        check_name(name)
    missing = [name for name in dict.fromkeys(names) if kept_package(folder, name) is None]
    found = find_packages(missing) if missing else Found((), ())
    tell = tell or (lambda _: None)
    tell(found.notes)
    if missing and not found.packages and not kept_packages(folder):
        raise AdjudgeError(
            f"Expected packages with music, got none of {', '.join(missing)}; where apt's lists are empty, "
            "'apt-get update' (as root) fills them"
        )
    _make(folder)
    _keep(found.packages, folder, least_seconds=least_seconds, bar=bar or (lambda _: nullcontext(_silent)))
    packages = kept_packages(folder)
    credited = [credit for package in packages for credit in credits_of(package, folder)]
    if not credited:
        raise AdjudgeError(f"{folder}: expected packages with music of {least_seconds:g} s or more, got none")
    write_whole(folder / TABLE, _table(credited))
    empty = [f"{one.name}: no music of {least_seconds:g} s or more in it" for one in packages if not one.files]
    tell(empty)
    return DebianMusic(folder, tuple(packages), tuple(credited), (*found.notes, *empty))


def _silent(done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def _make(folder: Path) -> None:
    try:
        for name in (PACKAGES, MUSIC, COPYRIGHT):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AdjudgeError(f"{folder}: cannot be made: {reason(error)}") from None


def _keep(packages: Sequence[Package], folder: Path, *, least_seconds: float, bar: Bar) -> None:
    with bar("downloading MB") as advance:
        files = download(packages, folder / PACKAGES, progress=advance) if packages else {}
    with bar("unpacking") as advance:
        for done, package in enumerate(packages, start=1):
            keep_music(package, files[package.name], folder, least_seconds=least_seconds)
            advance(done, len(packages))


def _table(credited: Sequence[Credit]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_TABLE_COLUMNS)
    writer.writerows([getattr(credit, column) for column in _TABLE_COLUMNS] for credit in credited)
    return text.getvalue().encode()


def write_attribution(music: DebianMusic, library: Library, *, seconds: float, loudness: float) -> tuple[Credit, ...]:
    """Credit every clip of a library on a page beside it; the credits that were needed."""
    clips = dict(zip(library.clips["file"].to_list(), library.documents, strict=True))
    used = [(credit, f"{clips[credit.file]}.mp3") for credit in music.credits if credit.file in clips]
    page = attribution(used, seconds=seconds, loudness=loudness)
    write_whole(music.folder / ATTRIBUTION, page.encode())
    return tuple(credit for credit, _ in used)
