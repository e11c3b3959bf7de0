"""Files that people hear and see, named by their content, and the files that come in from folders, uploads and zips.

Originals are kept as they came, beside clips that browsers play and drawings. A file is there before any row names it
and never changes, so that a row that can be read has its file. What a picture is, its first bytes say, not its name; an
SVG is a program, and is refused.

Names of incoming files are keys of a dictionary and nothing more: uploads lie under names of our own in a working
folder, so that no hostile name reaches the file system. A zip that promises more than the server takes is refused
before any of it is unpacked.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.engine import RowMapping

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.web.errors import NotFound, Refused, TooLarge
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t

AUDIO = (".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff")
FOREIGN_AUDIO = (".m4a", ".aac", ".mp4", ".wma", ".ape", ".wv", ".mid", ".webm")
"""Sound that cannot be read here; it is a problem to be told of, not a file to be passed over."""
PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
}
TEXTS = (".txt",)
NOTATION = (".pae", ".mei", ".musicxml", ".xml", ".mxl", ".abc")
"""Notation, and ABC, which is refused with the form to send instead."""
HEARD = ("audio", "notation")
"""Kinds of items that have a clip to listen to."""
LONGEST_TEXT = 100_000
_BLOCK = 1 << 20
_STALE = 24 * 3600.0
_SUFFIX_OF = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif"}


def kind_of_file(name: str) -> str | None:
    """What a file is by its name: audio, notation, image or text; None for anything else."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in NOTATION:
        return "notation"
    if suffix in AUDIO or suffix in FOREIGN_AUDIO:
        return "audio"
    return "image" if suffix in PICTURES else "text" if suffix in TEXTS else None


def picture_type(head: bytes) -> str | None:
    """The kind of picture that begins with these bytes; None if it is not one that is shown here."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def checked_picture(path: Path) -> str:
    """The media type of a picture; anything else is refused."""
    with path.open("rb") as file:
        found = picture_type(file.read(16))
    if found is None:
        raise AdjudgeError("expected a picture in PNG, JPEG, WebP or GIF, got something else")
    return found


def checked_text(path: Path) -> str:
    """The words of a text file in any encoding that tables may have; anything else is refused."""
    from adjudge.formats import Source

    data = path.read_bytes()[: 4 * LONGEST_TEXT + 4]
    try:
        text = Source(str(path), data).text.decode() if data.strip() else ""
    except InputError:
        raise AdjudgeError("expected text in UTF-8, got something else") from None
    return checked_words(text)


def checked_words(text: str) -> str:
    """A text that can be shown; refused where it is empty or endless."""
    plain = text.replace("\r\n", "\n").strip()
    if not plain or len(plain) > LONGEST_TEXT or "\0" in plain:
        raise AdjudgeError(f"expected a text of 1 to {LONGEST_TEXT:,} characters, got {len(plain):,}")
    return plain


def digest_of(path: Path) -> str:
    """SHA-256 of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def keep_original(settings: Settings, path: Path, *, sha256: str, name: str) -> Path:
    """Keep a file as it came, under its digest; the suffix is one that we know, or none."""
    suffix = PurePosixPath(name).suffix.lower()
    known = suffix if suffix in AUDIO or suffix in PICTURES else ""
    return _copied(path, settings.media / "originals" / f"{sha256}{known}", sha256=sha256)


def keep_picture(settings: Settings, path: Path, *, sha256: str, media_type: str) -> Path:
    """Keep a picture under its digest, with the suffix of what it is."""
    return _copied(path, settings.media / "originals" / f"{sha256}{_SUFFIX_OF[media_type]}", sha256=sha256)


def _copied(source: Path, target: Path, *, sha256: str) -> Path:
    """A copy that is there whole or not at all; one that was there is trusted, as its name is its content."""
    if target.exists():
        os.utime(target)  # in use from now on: a campaign that is deleted meanwhile leaves it
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    digest = hashlib.sha256()
    try:
        with os.fdopen(descriptor, "wb") as written, source.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                written.write(block)
            written.flush()
            os.fsync(written.fileno())
        if digest.hexdigest() != sha256:
            raise AdjudgeError("expected a file that stays as it is while it is read, got one that changed")
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return target


@contextmanager
def working_folder(settings: Settings) -> Iterator[Path]:
    """A folder inside the data for what is on its way in; gone at the end, or a day after a server was killed."""
    parent = settings.data / "tmp"
    parent.mkdir(parents=True, exist_ok=True)
    for old in parent.iterdir():
        with contextlib.suppress(OSError):
            if old.stat().st_mtime < time.time() - _STALE:
                shutil.rmtree(old)
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        yield Path(folder)


def find_item(connection: Connection, address: str) -> RowMapping:
    """The row behind an address that a browser asks for."""
    row = connection.execute(select(t.item).where(t.item.c.address == address)).mappings().first()
    if row is None:
        raise NotFound("There is nothing at this address.")
    return row


def file_of(settings: Settings, row: Mapping[str, Any] | RowMapping) -> tuple[Path, str, str] | None:
    """The file that people get of an item, its media type and its digest; None where it has none."""
    if row["kind"] in HEARD and row["clip_sha256"]:
        digest = str(row["clip_sha256"])
        return settings.media / "clips" / f"{digest}.mp3", row["media_type"] or "audio/mpeg", digest
    if row["kind"] == "image" and row["original_sha256"] and row["media_type"] in _SUFFIX_OF:
        digest, media_type = str(row["original_sha256"]), str(row["media_type"])
        return settings.media / "originals" / f"{digest}{_SUFFIX_OF[media_type]}", media_type, digest
    return None


def kept_files(settings: Settings, row: Mapping[str, Any] | RowMapping) -> list[tuple[Path, str]]:
    """Every file that an item needs, with the digest that it must have."""
    found = []
    if (served := file_of(settings, row)) is not None:
        found.append((served[0], served[2]))
    if row["kind"] == "audio" and row["original_sha256"]:
        suffix = PurePosixPath(row["original_name"] or "").suffix.lower()
        name = f"{row['original_sha256']}{suffix if suffix in AUDIO else ''}"
        found.append((settings.media / "originals" / name, row["original_sha256"]))
    if row["kind"] == "notation" and row["original_sha256"]:
        found.append((settings.media / "originals" / row["original_sha256"], row["original_sha256"]))
    if (drawn := drawing_of(settings, row)) is not None:
        found.append(drawn)
    return found


def drawing_of(settings: Settings, row: Mapping[str, Any] | RowMapping) -> tuple[Path, str] | None:
    """The file with the drawing of an item and its digest; None where it has none."""
    if row["kind"] != "notation" or not row["drawing_sha256"]:
        return None
    digest = str(row["drawing_sha256"])
    return settings.media / "drawings" / f"{digest}.json", digest


def served_drawing(settings: Settings, row: Mapping[str, Any] | RowMapping) -> tuple[Path, str]:
    """As ``drawing_of``; refused where there is no file, or none any more."""
    found = drawing_of(settings, row)
    if found is None or not found[0].is_file():
        raise NotFound(f"There is no drawing at this address{'' if found is None else ' any more'}.")
    return found


def served_file(settings: Settings, row: Mapping[str, Any] | RowMapping) -> tuple[Path, str, str]:
    """As ``file_of``; refused where there is no file, or none any more."""
    found = file_of(settings, row)
    if found is None or not found[0].is_file():
        raise NotFound(f"There is no file at this address{'' if found is None else ' any more'}.")
    return found


def safe_name(name: str) -> PurePosixPath:
    """A relative name from elsewhere; refused where it leads out of its folder. It never names a file of ours."""
    path = PurePosixPath(name.replace("\\", "/"))
    parts = path.parts
    if (
        not parts
        or path.is_absolute()
        or ".." in parts
        or ":" in parts[0]
        or any(ord(character) < 32 for character in name)
    ):
        raise AdjudgeError(f"expected a name inside the folder, got {shown(name)}")
    return path


MOST_FILES = 20_000
_ZIP_BLOCK = 1 << 20

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
        while block := packed.read(_ZIP_BLOCK):
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
