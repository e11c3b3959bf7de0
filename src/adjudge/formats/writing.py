"""Runs, judgments and metadata out to files, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from adjudge.errors import AdjudgeError, shown
from adjudge.formats.base import FORMATS, Format, Kind
from adjudge.io import COMPRESSIONS, deliver, without_compression
from adjudge.model.collection import Metadata
from adjudge.model.judgments import Judgments
from adjudge.model.runs import Runs

_PACKED = " ".join(known.suffix for known in COMPRESSIONS)


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
