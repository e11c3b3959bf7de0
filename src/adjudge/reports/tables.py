"""Rows of plain values as CSV, JSON, Markdown, or a drawing for a terminal."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

Row = Mapping[str, Any]


def as_csv(rows: Sequence[Row]) -> str:
    """A header and one line a row; numbers that are not finite are left empty."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if not_finite(value) else value for name, value in row.items()} for row in rows)
    return buffer.getvalue()


def as_json(content: Any) -> str:
    """Indented JSON; numbers that are not finite become null, as JSON has none."""
    return json.dumps(_plain(content), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_markdown(rows: Sequence[Row]) -> str:
    """A Markdown table.

    >>> print(as_markdown([{"a": 1, "b": "x"}]), end="")
    | a | b |
    |---|---|
    | 1 | x |
    """
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([str(row[name]).replace("|", "\\|") for name in header] for row in rows)]
    return "".join(f"|{'|'.join(cells)}|\n" if cells[0] == "---" else f"| {' | '.join(cells)} |\n" for cells in lines)


def drawn(rows: Sequence[Row], *, bold: str | None = None) -> Table:
    """A table of text columns for a terminal."""
    from rich.text import Text

    table = plain_table()
    for i, name in enumerate(rows[0]):
        table.add_column(name, overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(Text(str(value), style="bold" if name == bold else "") for name, value in row.items()))
    return table


def plain_table() -> Table:
    """The look that all tables share: a line under the header, nothing else."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")


def not_finite(value: object) -> bool:
    """Whether a value is a NaN or an infinity."""
    return isinstance(value, float) and not math.isfinite(value)


def _plain(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    return None if not_finite(content) else content
