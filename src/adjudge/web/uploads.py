"""What comes in from outside: files of a folder, an upload or a zip, under the names that they were given.

Names are keys of a dictionary and nothing more: what is uploaded lies under names of our own in a working folder, so
that no name, however hostile, reaches the file system. A zip that promises more than the server takes is refused before
anything of it is unpacked.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.web.errors import Refused, TooLarge
from adjudge.web.media import safe_name
from adjudge.web.settings import Settings

MOST_FILES = 20_000
_BLOCK = 1 << 20

Files = dict[str, Path]
"""Files by the name that they were given, relative to their folder."""


def folder_files(folder: Path) -> Files:
    """The files of a folder and those below it; links that lead out of it are refused."""
    if not folder.is_dir():
        raise InputError("expected a folder with files", source=str(folder))
    inside = folder.resolve()
    found: Files = {}
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(".")):
            path = Path(parent) / name
            if not path.resolve().is_relative_to(inside):
                raise InputError("expected files inside the folder, got a link that leaves it", source=str(path))
            if path.is_file():
                found[path.relative_to(folder).as_posix()] = path
    return found


def unpacked(files: Mapping[str, Path], folder: Path, settings: Settings) -> Files:
    """The same files with every zip among them replaced by what is in it."""
    found: Files = {}
    for name, path in files.items():
        if PurePosixPath(name).suffix.lower() == ".zip":
            new = _unzipped(path, name, folder, settings)
        else:
            _refuse_large(name, path.stat().st_size, settings)
            new = {_checked(name).as_posix(): path}
        for inner, file in new.items():
            if inner in found:
                raise Refused(f"Expected files of different names, got {shown(inner)} twice.")
            found[inner] = file
    if len(found) > MOST_FILES:
        raise TooLarge(f"Expected at most {MOST_FILES:,} files at once, got {len(found):,}.")
    return found


def _unzipped(path: Path, name: str, folder: Path, settings: Settings) -> Files:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir() and not _is_litter(member)]
            _refuse_bomb(members, name, settings)
            found: Files = {}
            for number, member in enumerate(members):
                target = folder / f"{path.name}-{number}"
                _extract(archive, member, target)
                found[_checked(member.filename).as_posix()] = target
            return found
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError) as error:
        if isinstance(error, AdjudgeError):
            raise
        raise Refused(f"{shown(name)}: expected a zip that can be unpacked, got {shown(error)}") from None


def _is_litter(member: zipfile.ZipInfo) -> bool:
    """What file managers put beside files."""
    parts = PurePosixPath(member.filename.replace("\\", "/")).parts
    return "__MACOSX" in parts or (bool(parts) and parts[-1].startswith("."))


def _refuse_bomb(members: list[zipfile.ZipInfo], name: str, settings: Settings) -> None:
    """Refuse what is too much, encrypted, a link or would land elsewhere; before anything is unpacked.

    So is what is neither stored nor deflated: other packings unpack some bytes to gigabytes at once, whatever they say.
    """
    total = sum(member.file_size for member in members)
    if len(members) > MOST_FILES:
        raise TooLarge(f"{shown(name)}: expected at most {MOST_FILES:,} files in a zip, got {len(members):,}.")
    if total > settings.max_upload:
        raise TooLarge(f"{shown(name)}: unpacks to {_size(total)}; at most {_size(settings.max_upload)} are taken.")
    for member in members:
        _refuse_large(member.filename, member.file_size, settings)
        _checked(member.filename)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise Refused(f"{shown(name)}: expected files, got the link {shown(member.filename)}.")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Refused(f"{shown(name)}: expected a zip of deflated files, got {shown(member.filename)} otherwise.")
        if member.flag_bits & 1:
            raise Refused(f"{shown(name)}: expected a zip without a password.")


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    """Unpack one file; what is longer than it said is cut there, and its check sum is wrong."""
    with archive.open(member) as packed, target.open("xb") as file:
        while block := packed.read(_BLOCK):
            file.write(block)


def _refuse_large(name: str, size: int, settings: Settings) -> None:
    if size > settings.max_file:
        raise TooLarge(f"{shown(name)}: is {_size(size)}; a file may have at most {_size(settings.max_file)}.")


def _checked(name: str) -> PurePosixPath:
    try:
        return safe_name(name)
    except AdjudgeError as error:
        raise Refused(str(error)[:1].upper() + str(error)[1:]) from None


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.0f} MB" if n_bytes >= 2**20 else f"{n_bytes:,} bytes"
