"""Runs, judgments and metadata out to files, whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from adjudge.errors import AdjudgeError, InputError
from adjudge.formats.base import FORMATS, Format, Kind
from adjudge.model.judgments import Judgments
from adjudge.model.metadata import Metadata
from adjudge.model.runs import Runs


def _zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".zst": _zstd,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def write(part: Runs | Judgments | Metadata, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a collection's runs, judgments or metadata, in the format that the suffix or ``format`` names.

    ``.gz``, ``.zst``, ``.bz2`` and ``.xz`` are compressed. The file appears when it is complete; an older one stays
    until then.
    """
    kind: Kind = "runs" if isinstance(part, Runs) else "judgments" if isinstance(part, Judgments) else "metadata"
    frame = part.table if isinstance(part, Metadata) else part.to_polars()
    target = Path(path)
    suffix = Path(target.stem).suffix if target.suffix in _PACKERS else target.suffix
    chosen = FORMATS[format] if format is not None else _by_suffix(suffix.lower(), kind)
    if kind not in chosen.writes:
        able = ", ".join(name for name, other in FORMATS.items() if kind in other.writes)
        raise AdjudgeError(f"The format {chosen.name} does not write {kind}; these do: {able}.")
    data = chosen.write(frame, kind)
    write_whole(target, _PACKERS[target.suffix](data) if target.suffix in _PACKERS else data)


def _by_suffix(suffix: str, kind: Kind) -> Format:
    for candidate in FORMATS.values():
        if suffix in candidate.suffixes and kind in candidate.writes:
            return candidate
    return FORMATS["trec" if kind != "metadata" else "csv"]


def write_whole(target: Path, data: bytes) -> None:
    """Write a file in one step: it is replaced when everything is on disk, or not touched."""
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"cannot be written: {(error.strerror or str(error)).lower()}", source=str(target)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = (error.strerror or str(error)).lower()
            raise InputError(f"cannot be written: {reason}", source=str(target)) from None
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
