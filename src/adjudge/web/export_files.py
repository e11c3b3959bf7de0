"""Files that leave the server: their names and types, and tables that no spreadsheet takes for a program."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adjudge.web.campaign_rows import Campaign

if TYPE_CHECKING:
    import polars as pl

_SUFFIXES = {"trec": "txt", "markdown": "md", "latex": "tex"}
_TYPES = {
    "trec": "text/plain; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "latex": "text/x-tex; charset=utf-8",
    "zip": "application/zip",
}
_FORMULA = re.compile(r"^[=+\-@\t\r]")


@dataclass(frozen=True)
class Exported:
    """A file to be written or sent."""

    name: str
    media_type: str
    data: bytes


def export_file(campaign: Campaign, what: str, form: str, data: bytes) -> Exported:
    """The file of an export, called after its campaign."""
    return Exported(f"{campaign.name}-{what}.{_SUFFIXES.get(form, form)}", _TYPES[form], data)


def plain_table(frame: pl.DataFrame, form: str) -> bytes:
    """A table as csv, tsv, parquet or json."""
    buffer = io.BytesIO()
    if form == "parquet":
        frame.write_parquet(buffer)
    elif form == "json":
        return json.dumps(frame.to_dicts(), ensure_ascii=False, indent=1).encode() + b"\n"
    else:
        frame.write_csv(buffer, separator="\t" if form == "tsv" else ",")
    return buffer.getvalue()


def harmless(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Put an apostrophe before what a spreadsheet would calculate."""
    import polars as pl

    return frame.with_columns(
        pl.when(pl.col(name).str.contains(_FORMULA.pattern))
        .then("'" + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name in columns
    )


def iso(seconds: float) -> str:
    """A time as people and programs read it.

    >>> iso(0.25)
    '1970-01-01T00:00:00.250+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
