"""Runs, judgments and metadata out to files, whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.files import whole_file
from adjudge.formats.base import FORMATS, Format, Kind
from adjudge.formats.compression import COMPRESSIONS, compression_of, without_compression
from adjudge.model.judgments import Judgments
from adjudge.model.metadata import Metadata
from adjudge.model.runs import Runs

_PACKED = " ".join(known.suffix for known in COMPRESSIONS)
_SYSTEM = (("/", "dev"), ("/", "proc"))


def write(part: Runs | Judgments | Metadata, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a collection's runs, judgments or metadata, in the format that the suffix or ``format`` names.

    ``.txt`` and no suffix at all mean TREC's runs and judgments; ``.gz``, ``.zst``, ``.bz2`` and ``.xz`` are
    compressed. The file appears when it is complete; an older one stays until then. ``-`` is standard output.
    """
    kinds: dict[type, Kind] = {Runs: "runs", Judgments: "judgments", Metadata: "metadata"}
    kind = kinds.get(type(part))
    if kind is None:
        raise AdjudgeError(f"Expected runs, judgments or metadata of a collection to write, got {type(part).__name__}")
    chosen = format_for(path, kind, format)
    data = chosen.write(part.table if isinstance(part, Metadata) else part.to_polars(), kind)
    deliver(data, path)


def deliver(data: bytes, path: str | Path) -> None:
    """Put data into a file, compressed where its suffix says so, or on standard output where it is ``-``."""
    compression = compression_of(Path(path))
    packed = data if compression is None else compression.pack(data)
    if str(path) == "-":
        sys.stdout.buffer.write(packed)
        sys.stdout.buffer.flush()
    else:
        write_whole(Path(path), packed)


def format_for(path: str | Path, kind: Kind, name: str | None = None) -> Format:
    """Format in which to write a kind into a file: the one named, else that of its suffix."""
    able = [candidate for candidate in FORMATS.values() if kind in candidate.writes]
    if name is not None:
        if FORMATS[name] not in able:
            names = ", ".join(candidate.name for candidate in able)
            raise AdjudgeError(f"The format {name} does not write {kind}; these do: {names}.")
        return FORMATS[name]
    suffix = without_compression(Path(path)).suffix.lower()
    for candidate in able:
        if suffix in candidate.suffixes or (candidate.name == "trec" and suffix in ("", ".txt")):
            return candidate
    suffixes = " ".join(suffix for candidate in able for suffix in candidate.suffixes)
    came = shown(suffix) if suffix else "none"
    raise AdjudgeError(
        f"{path}: expected a suffix that says how to write {kind} ({suffixes}; then {_PACKED}) "
        f"or a format (--to, format=), got {came}"
    )


def write_whole(target: Path, data: bytes) -> None:
    """Write a file in one step: it is replaced when everything is on disk, or not touched.

    A link stays and what it points to is replaced; an older file's permissions are kept. What is no file, such as a
    pipe or a device, is written to as it is.
    """
    try:
        mode = _mode(target)
        if mode is not None and (not stat.S_ISREG(mode) or target.parts[:2] in _SYSTEM):
            with open(target, "ab") as file:  # never cut what a shell has opened for us
                file.write(data)
            return
        with whole_file(Path(os.path.realpath(target)), None if mode is None else stat.S_IMODE(mode)) as file:
            file.write(data)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot be written: {reason}", source=str(target)) from None


def _mode(target: Path) -> int | None:
    """Type and permissions of what is there already, through links; None where nothing is."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None
