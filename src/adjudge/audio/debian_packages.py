"""Packages of a Debian system, or one of its relatives: looked up, downloaded and unpacked, without installing them.

``apt-cache`` says which packages there are, ``apt-get download`` fetches them as whoever runs it, ``dpkg-deb`` unpacks
them into a folder; nobody needs to be root. Only what is free by Debian's guidelines is taken: its component ``main``,
which Ubuntu splits into ``main`` and ``universe``. What was downloaded is checked against the SHA-256 of apt's signed
lists and never fetched twice. Names of packages may carry versions (``wesnoth-1.16-music``): where a release has
another version, that one is taken.

Sizes are in bytes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adjudge.audio.debian_copyright import paragraphs
from adjudge.audio.sources import digest_of
from adjudge.errors import AdjudgeError, shown
from adjudge.parallel import Progress

FREE = ("main", "universe")
_TOOLS = ("apt-cache", "apt-get", "dpkg-deb")
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_VERSION_IN_NAME = re.compile(r"(?<=-)\d[\d.]*(?=-|$)")
_COMPONENT = re.compile(r"(?:^|/)pool/(?:updates/)?([^/]+)/")
_MEGABYTE = 10**6
_LOOK = 0.2  # seconds between two looks at how far a download is
_SPARE = 200 * _MEGABYTE  # for clips, features and a campaign


@dataclass(frozen=True)
class Package:
    """A package that can be had: ``asked`` is the name it was asked for by, ``unpacked`` its size once unpacked."""

    name: str
    version: str
    sha256: str
    size: int
    unpacked: int
    asked: str


@dataclass(frozen=True)
class Found:
    """Packages in the order they were asked for, and a line for each that is not there, or not as it was asked for."""

    packages: tuple[Package, ...]
    notes: tuple[str, ...]


def check_name(name: str) -> str:
    """A name that a package can have; anything else is refused before a program sees it.

    >>> check_name("-o Dir=/")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: Expected the name of a Debian package, got '-o Dir=/'
    """
    if _NAME.fullmatch(name) is None:
        raise AdjudgeError(f"Expected the name of a Debian package, got {shown(name)}")
    return name


def find_packages(names: Iterable[str]) -> Found:
    """Look packages up in apt's lists; those that are missing, or not free, are left out and said."""
    wanted = [check_name(name) for name in dict.fromkeys(names)]
    _need_tools()
    known = _shown_packages(wanted)
    packages: list[Package] = []
    notes: list[str] = []
    for name in wanted:
        fields = known.get(name) or _other_version(name)
        if fields is None:
            notes.append(f"{name}: this release has no such package; it is left out")
        elif (component := _component(fields)) not in FREE:
            notes.append(f"{name}: expected a package in main, got one in {component}; it is left out")
        else:
            packages.append(_package(fields, asked=name))
            if packages[-1].name != name:
                notes.append(f"{name}: this release has {packages[-1].name} instead, which is taken")
    return Found(tuple(packages), tuple(notes))


def _need_tools() -> None:
    for tool in _TOOLS:
        if shutil.which(tool) is None:
            raise AdjudgeError(
                f"Music from Debian packages needs {', '.join(_TOOLS[:-1])} and {_TOOLS[-1]}, as Debian, Ubuntu and "
                f"their relatives have them; there is no {tool} here"
            )


def _shown_packages(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """What apt's lists say of packages, by name; those that are not in them are missing."""
    if not names:
        return {}
    said = _run(["apt-cache", "show", "--no-all-versions", *names]).stdout
    return {fields["package"]: fields for fields in reversed(list(paragraphs(said))) if "package" in fields}


def _other_version(name: str) -> dict[str, str] | None:
    """The package of that name with another number in it; of several, the highest."""
    pattern = _VERSION_IN_NAME.sub("*", name)
    if "*" not in pattern:
        return None
    expression = re.compile(re.escape(pattern).replace(r"\*", r"(\d[\d.]*)"))
    listed = _run(["apt-cache", "pkgnames", pattern.partition("*")[0]]).stdout.split()
    found = [match for one in listed if (match := expression.fullmatch(one)) is not None]
    for match in sorted(found, key=_numbers, reverse=True):
        fields = _shown_packages([match[0]]).get(match[0])
        if fields is not None:
            return fields
    return None


def _numbers(match: re.Match[str]) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", match[0])]


def _component(fields: dict[str, str]) -> str:
    """Which part of the archive a package is in: what its section begins with, or where its file is."""
    head, slash, _ = fields.get("section", "").partition("/")
    if slash:
        return head
    found = _COMPONENT.search(fields.get("filename", ""))
    return found[1] if found is not None else "an unknown component"


def _package(fields: dict[str, str], *, asked: str) -> Package:
    try:
        return Package(
            name=check_name(fields["package"]),
            version=fields["version"],
            sha256=fields["sha256"].lower(),
            size=int(fields["size"]),
            unpacked=1024 * int(fields.get("installed-size", 0)),
            asked=asked,
        )
    except (KeyError, ValueError) as error:
        raise AdjudgeError(f"{asked}: apt's lists say too little of it: {error}") from None


def download(packages: Sequence[Package], folder: Path, *, progress: Progress | None = None) -> dict[str, Path]:
    """Download packages into a folder, those that are not there whole; their files by name.

    ``progress`` is told megabytes. A disk without the room for them, unpacked, is refused before anything is fetched.
    """
    files = {package.name: file for package in packages if (file := _whole(package, folder)) is not None}
    missing = [package for package in packages if package.name not in files]
    _check_room(folder, packages, missing)
    total = sum(package.size for package in missing)
    done = 0
    for package in missing:

        def advance(here: int, before: int = done) -> None:
            if progress is not None:
                progress((before + here) // _MEGABYTE, max(total // _MEGABYTE, 1))

        files[package.name] = _fetched(package, folder, advance)
        done += package.size
    return files


def _check_room(folder: Path, packages: Iterable[Package], missing: Iterable[Package]) -> None:
    needed = sum(one.size for one in missing) + sum(one.unpacked for one in packages) + _SPARE
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise AdjudgeError(
            f"{folder}: expected {needed // _MEGABYTE:,} MB free for packages and clips, got {free // _MEGABYTE:,}"
        )


def _fetched(package: Package, folder: Path, advance: Callable[[int], None]) -> Path:
    """Download one package and check it; apt says itself what it holds of a file that is there in part."""
    command = ["apt-get", "download", "-q", f"{package.name}={package.version}"]
    with subprocess.Popen(
        command, cwd=folder, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
    ) as running:  # fmt: skip
        try:
            said = _waited(running, package, folder, advance)
        except BaseException:
            running.terminate()
            raise
    if running.returncode != 0:
        raise AdjudgeError(f"{package.name}: cannot be downloaded: {_error_line(said)}; what is there stays")
    file = _whole(package, folder)
    if file is None:
        raise AdjudgeError(f"{package.name}: expected a file with the SHA-256 of apt's lists, got another; try again")
    return file


def _waited(running: subprocess.Popen[str], package: Package, folder: Path, advance: Callable[[int], None]) -> str:
    """Wait for apt, and say how large the file is meanwhile; what apt complained about."""
    while True:
        try:
            return running.communicate(timeout=_LOOK)[1]
        except subprocess.TimeoutExpired:
            sizes = [file.stat().st_size for file in _files(package, folder) if file.exists()]
            advance(min(max(sizes, default=0), package.size))


def _files(package: Package, folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{package.name}_*.deb"))


def _whole(package: Package, folder: Path) -> Path | None:
    """The package's file, if it is there and as apt's lists say."""
    for file in _files(package, folder):
        if file.is_file() and file.stat().st_size == package.size and digest_of(file) == package.sha256:
            return file
    return None


def unpack(file: Path, folder: Path) -> None:
    """Unpack a package into a new folder; nothing in it is run."""
    done = _run(["dpkg-deb", "-x", str(file), str(folder)])
    if done.returncode != 0:
        raise AdjudgeError(f"{file}: cannot be unpacked: {_error_line(done.stderr)}")


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
        check=False,
    )  # fmt: skip


def _environment() -> dict[str, str]:
    """Programs that speak English, so that their words can be understood."""
    return {**os.environ, "LC_ALL": "C", "LANGUAGE": "C"}


def _error_line(said: str) -> str:
    """The line that says why, out of all that a program said; apt warns a root of the sandbox, which is no error."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("E:").strip() for line in lines if line.startswith(("E:", "dpkg-deb: error:"))]
    chosen = errors[0] if errors else next((line for line in reversed(lines) if not line.startswith("W:")), "no reason")
    return " ".join(chosen.removeprefix("dpkg-deb: error:").split())
