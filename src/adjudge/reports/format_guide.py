"""The guide to file formats, drawn from their registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.formats import FORMATS
from adjudge.reports.tables import as_csv, as_json, as_markdown, drawn

if TYPE_CHECKING:
    from rich.console import RenderableType


def rows() -> list[dict[str, str]]:
    """One row a format, in the order in which they are tried."""
    return [
        {
            "format": name,
            "reads": ", ".join(sorted(member.kinds)),
            "writes": ", ".join(sorted(member.writes)) or "–",
            "suffixes": " ".join(member.suffixes) or "–",
            "what it is": member.about,
        }
        for name, member in FORMATS.items()
    ]


def text(style: str) -> str:
    """The guide as ``json``, ``csv`` or ``markdown``."""
    if style == "markdown":
        return (
            "# File formats\n\n"
            "Formats are recognised by what is in the file; `--format NAME` names one. Any of them may be compressed "
            "(gzip, zstd, bzip2, xz).\nThey are tried in this order.\n\n" + as_markdown(rows())
        )
    return as_json(rows()) if style == "json" else as_csv(rows())


def overview() -> RenderableType:
    """The guide for a terminal."""
    return drawn(rows())
