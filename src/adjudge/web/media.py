"""Files that people hear and see: originals as they came, clips that browsers play, drawings; named by their content.

A file is there before any row names it, and is never changed, so that a row that can be read has its file. Pictures are
kept as they came; what they are is read from their first bytes, never from their name. An SVG is a program, and is
refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.engine import RowMapping

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.web.errors import NotFound
from adjudge.web.schema import item
from adjudge.web.settings import Settings

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


def kind_of(name: str) -> str | None:
    """What a file is by its name: audio, notation, image or text; None for anything else."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in NOTATION:
        return "notation"
    if suffix in AUDIO or suffix in FOREIGN_AUDIO:
        return "audio"
    return "image" if suffix in PICTURES else "text" if suffix in TEXTS else None


def picture_type(head: bytes) -> str | None:
    """The kind of picture that begins with these bytes; None where it is none that is shown here."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def checked_picture(path: Path) -> str:
    """The media type of a picture; refused where it is none."""
    with path.open("rb") as file:
        found = picture_type(file.read(16))
    if found is None:
        raise AdjudgeError("expected a picture in PNG, JPEG, WebP or GIF, got something else")
    return found


def checked_text(path: Path) -> str:
    """The words of a text file in any encoding that tables may have; refused where it is none."""
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
    row = connection.execute(select(item).where(item.c.address == address)).mappings().first()
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
    if not parts or path.is_absolute() or ".." in parts or ":" in parts[0] or any(ord(sign) < 32 for sign in name):
        raise AdjudgeError(f"expected a name inside the folder, got {shown(name)}")
    return path
