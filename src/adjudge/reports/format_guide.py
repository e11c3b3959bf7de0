"""The guide to file formats, drawn from their registry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from adjudge.formats import FORMATS

if TYPE_CHECKING:
    from rich.console import RenderableType


def as_text(style: str) -> tuple[str | None, RenderableType | None]:
    """The guide as ``json``, ``csv`` or a drawing."""
    rows = [
        {
            "name": name,
            "reads": " ".join(sorted(f.kinds)),
            "writes": " ".join(sorted(f.writes)),
            "suffixes": " ".join(f.suffixes),
            "about": f.about,
        }
        for name, f in FORMATS.items()
    ]
    if style == "json":
        return json.dumps(rows, ensure_ascii=False, indent=2) + "\n", None
    if style == "csv":
        import polars as pl

        return pl.DataFrame(rows).write_csv(), None
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in rows[0]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row.values())
    return None, table
