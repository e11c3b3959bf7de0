"""Packages of a Debian system or one of its relatives, downloaded and unpacked but never installed; nobody is root.

Only what is free by Debian's guidelines is taken: its component ``main``, which Ubuntu splits into ``main`` and
``universe``. Names of packages may carry versions (``wesnoth-1.16-music``): where a release has another version, the
newest is taken.

    packages/*.deb             as downloaded; apt has checked them against its signed lists
    music/<package>/usr/…      their music, by the paths in the package
    copyright/<package>.txt    their copyright files

Games have far more sounds than music. Music is what lasts as long as a clip and lies in a folder of music, or in none
that is for effects, speech or noises. A file that does not open is kept where its folder says that it is music: what
is wrong with it is said when clips are cut.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from adjudge.audio.library.scan import SUFFIXES
from adjudge.errors import AdjudgeError, shown

PACKAGES, MUSIC, COPYRIGHT = "packages", "music", "copyright"
FREE = ("main", "universe")
_TOOLS = ("apt-cache", "apt-get", "dpkg-deb")
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_VERSION_IN_NAME = re.compile(r"(?<=-)\d[\d.]*(?=-|$)")
_COMPONENT = re.compile(r"(?:^|/)pool/(?:updates/)?([^/]+)/")
_MUSICAL = re.compile(r"(?i)\b(?:musics?|soundtracks?|ost|songs?|tunes?|bgm)\b")
_NOT_MUSICAL = re.compile(
    r"(?i)\b(?:sounds?|snd|sfx|fx|effects?|speech|voices?|dialog(?:ue)?s?|ambien(?:t|ce)|noises?|samples?)\b"
)


@dataclass(frozen=True)
class Package:
    """A package whose music was kept: the files by their paths in the package, in order."""

    name: str
    version: str
    files: tuple[str, ...]


def collect_packages(
    folder: Path, names: Sequence[str], *, least_seconds: float, tell: Callable[[str], None]
) -> list[Package]:
    """Download packages into a folder and keep their music; everything that the folder has then, by name.

    Packages that are there are not looked up again, so that a folder stays what it is. ``tell`` is given a line for
    each package that a release lacks, or has otherwise than it was asked for.
    """
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise AdjudgeError(f"Expected the name of a Debian package, got {shown(name)}")
    if find_spec("debian") is None:
        raise AdjudgeError("Music from Debian packages needs python-debian: pip install --group examples")
    for tool in _TOOLS:
        if shutil.which(tool) is None:
            raise AdjudgeError(f"Music from Debian packages needs {', '.join(_TOOLS)}; there is no {tool} here")
    there = _list_downloaded(folder)
    available = (_find(name, tell) for name in dict.fromkeys(names) if name not in there)
    wanted = [name for name in available if name is not None]
    if not there and not wanted:
        raise AdjudgeError(
            f"Expected packages with music, got none of {', '.join(names)}; where apt's lists are empty, "
            "'apt-get update' (as root) fills them"
        )
    _download(folder, [name for name in wanted if name not in there])
    packages = []
    for name, (version, deb) in _list_downloaded(folder).items():
        inside = folder / MUSIC / name
        if not inside.is_dir():
            _keep_music(name, deb, folder, least_seconds=least_seconds)
        files = sorted(path.relative_to(inside).as_posix() for path in inside.rglob("*") if path.is_file())
        if not files:
            tell(f"{name}: no music of {least_seconds:g} s or more in it")
        packages.append(Package(name, version, tuple(files)))
    return packages


def _list_downloaded(folder: Path) -> dict[str, tuple[str, Path]]:
    """Version and file of the packages that are there, by name."""
    found = {}
    for deb in sorted((folder / PACKAGES).glob("*.deb")):
        name, version = _run("dpkg-deb", "--show", "--showformat", "${Package} ${Version}", str(deb)).split()
        found[name] = version, deb
    return found


def _find(name: str, tell: Callable[[str], None]) -> str | None:
    """The package of that name in apt's lists, or that with the highest other number in its name, if it is free."""
    from debian.deb822 import Deb822
    from debian.debian_support import Version

    parts = _VERSION_IN_NAME.split(name)
    pattern = re.compile(r"\d[\d.]*".join(map(re.escape, parts)))
    listed = _run("apt-cache", "pkgnames", parts[0]).split()
    others = sorted(filter(pattern.fullmatch, listed), key=Version, reverse=True)
    for candidate in sorted(others, key=lambda other: other != name):  # the name itself first
        fields = next(Deb822.iter_paragraphs(_run("apt-cache", "show", "--no-all-versions", candidate)), None)
        if fields is None:  # another package mentions it
            continue
        place = _COMPONENT.search(fields.get("Filename", ""))
        component = place[1] if place is not None else "an unknown component"
        if component not in FREE:
            tell(f"{name}: expected a package in main, got one in {component}; it is left out")
            return None
        if candidate != name:
            tell(f"{name}: this release has {candidate} instead, which is taken")
        return candidate
    tell(f"{name}: this release has no such package; it is left out")
    return None


def _download(folder: Path, names: Sequence[str]) -> None:
    """Let apt download packages and show how far it is; what is there in part waits in a folder of its own."""
    partial = folder / PACKAGES / ".partial"
    partial.mkdir(parents=True, exist_ok=True)
    for name in names:
        if subprocess.run(["apt-get", "download", name], cwd=partial, stdin=subprocess.DEVNULL, check=False).returncode:
            raise AdjudgeError(f"{name}: cannot be downloaded; what is there stays")
        for deb in partial.glob(f"{name}_*.deb"):
            deb.rename(folder / PACKAGES / deb.name)
    shutil.rmtree(partial)


def _keep_music(name: str, deb: Path, folder: Path, *, least_seconds: float) -> None:
    """Unpack a package and keep its music and its copyright file; without the latter it has no licence."""
    unpacked, staged = folder / PACKAGES / ".unpacked", folder / PACKAGES / ".music"
    try:
        _run("dpkg-deb", "-x", str(deb), str(unpacked))
        about = unpacked / "usr" / "share" / "doc" / name / "copyright"
        if not about.resolve().is_relative_to(unpacked.resolve()) or not about.is_file():
            raise AdjudgeError(f"{name}: expected a copyright file in the package, got none; delete {deb}")
        (folder / COPYRIGHT).mkdir(exist_ok=True)
        shutil.copyfile(about, folder / COPYRIGHT / f"{name}.txt")
        staged.mkdir()
        for path in list(unpacked.rglob("*")):
            inner = path.relative_to(unpacked)
            is_sound = path.suffix.lower() in SUFFIXES and path.name.isprintable()
            if not is_sound or not path.is_file() or path.is_symlink():
                continue
            if _is_music(inner.parent.as_posix(), _seconds(path), least_seconds=least_seconds):
                (staged / inner).parent.mkdir(parents=True, exist_ok=True)
                path.rename(staged / inner)
        (folder / MUSIC).mkdir(exist_ok=True)
        staged.rename(folder / MUSIC / name)
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
        shutil.rmtree(staged, ignore_errors=True)


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


def _run(*command: str) -> str:
    """Run a program and return its output, in English; apt-cache may fail for packages that it does not know."""
    done = subprocess.run(
        command, env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", check=False,
    )  # fmt: skip
    if done.returncode and command[0] != "apt-cache":
        raise AdjudgeError(f"{command[-1]}: {command[0]} fails: {shown(done.stderr.strip())}")
    return done.stdout
