"""Folders to scan, and tables of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adjudge.audio.library.scan import scan


def files(folder: Path, *names: str) -> Path:
    """A folder with files of zero bytes: a scan does not look inside."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def found(folder: Path, **options: Any) -> dict[str, str]:
    """Documents by the names of their recordings."""
    return {recording.name: recording.document for recording in scan(folder, **options).recordings}


def table(folder: Path, text: str) -> Path:
    """A table with that text."""
    path = folder / "table.csv"
    path.write_text(text)
    return path
