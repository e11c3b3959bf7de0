"""From one file format to another, through the same checks as any other reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adjudge.formats.base import Kind
from adjudge.formats.reading import Names, read, read_judgments, read_metadata
from adjudge.formats.writing import write


def convert(
    given: Any,
    target: str | Path,
    *,
    kind: Kind,
    format: str | None = None,  # noqa: A002 - the word users know
    to: str | None = None,
    names: Names = "tag",
) -> None:
    """Read files of one ``kind`` and write them as one file; ``to`` names its format where the suffix does not."""
    if kind == "runs":
        write(read(given, format=format, names=names, artist_filter=False).runs, target, format=to)
    elif kind == "judgments":
        write(read_judgments(given, format=format), target, format=to)
    else:
        write(read_metadata(given, format=format), target, format=to)
