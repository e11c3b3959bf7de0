"""Music out of unpacked Debian packages: which files are music, kept with the copyright file that covers them.

Games have far more sounds than music. Music is what lasts as long as a clip and lies in a folder of music, or in none
that is for effects, speech or noises. Files that do not open are kept where their folder says that they are music:
whoever prepares them says what is wrong with them.

    packages/<package>.deb     as downloaded; may be deleted
    packages/<package>.json    where its music came from
    music/<package>/…          its music, by the paths below the folder that all of it shares
    copyright/<package>.txt    its copyright file, whole
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from adjudge.audio.debian_packages import Package, unpack
from adjudge.audio.library.scan import SUFFIXES
from adjudge.errors import AdjudgeError, InputError, reason
from adjudge.io import write_whole

PACKAGES, MUSIC, COPYRIGHT = "packages", "music", "copyright"
_MUSICAL = re.compile(r"(?i)\b(?:musics?|soundtracks?|ost|songs?|tunes?|bgm)\b")
_NOT_MUSICAL = re.compile(
    r"(?i)\b(?:sounds?|snd|sfx|fx|effects?|speech|voices?|dialog(?:ue)?s?|ambien(?:t|ce)|noises?|samples?)\b"
)


@dataclass(frozen=True)
class KeptFile:
    """A file of music: its path below ``music``, and the path that it has in its package."""

    file: str
    source: str


@dataclass(frozen=True)
class KeptPackage:
    """A package whose music was kept: what it is, and its files in order."""

    name: str
    version: str
    asked: str
    files: tuple[KeptFile, ...]

    def copyright_file(self, folder: Path) -> Path:
        """Where its copyright file is."""
        return folder / COPYRIGHT / f"{self.name}.txt"


def kept_packages(folder: Path) -> list[KeptPackage]:
    """Everything that was kept and is still there, by name."""
    return [kept for path in _indexes(folder) if (kept := _whole(path, folder)) is not None]


def kept_package(folder: Path, asked: str) -> KeptPackage | None:
    """What was kept of a package earlier, by its name or the one it was asked for by, if all of it is still there."""
    return next((kept for kept in kept_packages(folder) if asked in (kept.name, kept.asked)), None)


def _indexes(folder: Path) -> list[Path]:
    return sorted((folder / PACKAGES).glob("*.json"))


def _whole(index: Path, folder: Path) -> KeptPackage | None:
    """The package that an index is about; None where it cannot be read, or not all of it is there: it is made anew."""
    try:
        fields = json.loads(index.read_text("utf-8"))
        files = tuple(KeptFile(one["file"], one["source"]) for one in fields["files"])
        kept = KeptPackage(fields["name"], fields["version"], fields["asked"], files)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    there = kept.copyright_file(folder).is_file() and all((folder / MUSIC / one.file).is_file() for one in files)
    return kept if there else None


def keep_music(package: Package, deb: Path, folder: Path, *, least_seconds: float) -> KeptPackage:
    """Unpack a package beside the others and keep its music and its copyright file.

    A package without a copyright file has no licence, and is refused. One without music is kept without files. The
    index is there before the music is: nothing lies among the music that nobody is credited for.
    """
    unpacked, staged = folder / PACKAGES / f".{package.name}", folder / MUSIC / f".{package.name}"
    _forget(unpacked, staged)
    try:
        unpack(deb, unpacked)
        _keep_copyright(package, unpacked, folder)
        files = _move(music_files(unpacked, least_seconds=least_seconds), unpacked, staged, name=package.name)
        kept = KeptPackage(package.name, package.version, package.asked, files)
        target = folder / MUSIC / package.name
        _forget(target)
        write_whole(folder / PACKAGES / f"{package.name}.json", json.dumps(asdict(kept), indent=1).encode())
        if files:
            staged.rename(target)
        return kept
    except OSError as error:
        raise InputError(f"cannot be unpacked: {reason(error)}", source=str(error.filename or deb)) from None
    finally:
        _forget(unpacked, staged)


def _forget(*folders: Path) -> None:
    for one in folders:
        shutil.rmtree(one, ignore_errors=True)


def _keep_copyright(package: Package, unpacked: Path, folder: Path) -> None:
    path = unpacked / "usr" / "share" / "doc" / package.name / "copyright"
    if not path.is_file() or not path.resolve().is_relative_to(unpacked.resolve()):
        raise AdjudgeError(f"{package.name}: expected a copyright file in the package, got none; leave it out")
    write_whole(folder / COPYRIGHT / f"{package.name}.txt", path.read_bytes())


def _move(files: list[str], unpacked: Path, staged: Path, *, name: str) -> tuple[KeptFile, ...]:
    """Move files into a folder of their own, without the folders that all of them are in."""
    shared = PurePosixPath(os.path.commonpath([str(PurePosixPath(one).parent) for one in files]) if files else "")
    kept = []
    for one in files:
        below = PurePosixPath(one).relative_to(shared)
        target = staged / below
        target.parent.mkdir(parents=True, exist_ok=True)
        (unpacked / one).rename(target)
        kept.append(KeptFile(f"{name}/{below}", one))
    return tuple(kept)


def music_files(unpacked: Path, *, least_seconds: float) -> list[str]:
    """Paths of the music below a folder, in order; links are passed over."""
    found = []
    for where, folders, names in os.walk(unpacked):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            if _is_sound(path):
                inner = path.relative_to(unpacked)
                if _is_music(inner.parent.as_posix(), _seconds(path), least_seconds=least_seconds):
                    found.append(inner.as_posix())
    return found


def _is_sound(path: Path) -> bool:
    """Whether a file is one of sound by its name, which a table can hold, and no link."""
    return path.suffix.lower() in SUFFIXES and path.name.isprintable() and not path.is_symlink() and path.is_file()


def _is_music(folder: str, seconds: float | None, *, least_seconds: float) -> bool:
    """Whether a file in that folder of a package is music; of the words in its path the last one decides.

    >>> _is_music("usr/share/games/colobot/music", 191.4, least_seconds=30)
    True
    >>> _is_music("usr/share/hyperrogue/sounds", 30.0, least_seconds=30)
    False
    >>> _is_music("usr/share/games/zaz", None, least_seconds=30)
    False
    """
    words = folder.replace("_", " ")
    musical = max((found.start() for found in _MUSICAL.finditer(words)), default=-1)
    other = max((found.start() for found in _NOT_MUSICAL.finditer(words)), default=-1)
    if seconds is None:
        return musical > other
    return seconds >= least_seconds and musical >= other


def _seconds(path: Path) -> float | None:
    """How long a recording is; None where it does not open."""
    import soundfile

    try:
        return float(soundfile.info(str(path)).duration)
    except (OSError, RuntimeError, ValueError):
        return None
