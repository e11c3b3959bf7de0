"""Lines of judgments that the model refuses: it sees tables, people see files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from adjudge.errors import InputError
from adjudge.formats.base import Format
from adjudge.formats.source import Source
from adjudge.model.collection import Table
from adjudge.model.scales import Scale


@dataclass(frozen=True)
class FileTable(Table):
    """A table and the format in which it lay in the file ``source``; None where it cannot be read again."""

    origin: Format | None = None


@contextmanager
def naming_lines(judgments: Sequence[Table], scale: Scale | None) -> Iterator[None]:
    """Give errors about judgments, which know only the names of files, the file and the line."""
    try:
        yield
    except InputError as error:
        names = ", ".join(table.source for table in judgments)
        row = _faulty_row(judgments, scale) if error.line is None and error.source == names else None
        if row is None:
            raise
        source, line = _place(judgments, row)
        message = str(error).removeprefix(str(InputError("", source=error.source)))
        raise InputError(message, source=source, line=line) from None


def _faulty_row(tables: Sequence[Table], scale: Scale | None) -> int | None:
    """Find the row, counted through all tables, that contradicts an earlier one or is above the scale."""
    columns = tables[0].frame.columns
    frame = pl.concat([table.frame.select(columns) for table in tables]).with_row_index("row")
    keys = [name for name in columns if name not in ("grade", "group")]
    clashes = frame.with_columns(
        first=pl.col("row").min().over(keys),  # the model names the pair that comes first
        given=pl.col("grade").first().over(keys),
    ).filter(pl.col("grade") != pl.col("given"))
    if clashes.height:
        return int(clashes.sort("first", "row")["row"][0])
    highest = np.inf if scale is None else scale.maximum
    outside = np.flatnonzero(frame["grade"].to_numpy() > highest)
    return int(outside[0]) if len(outside) else None


def _place(tables: Sequence[Table], row: int) -> tuple[str, int | None]:
    """Say in which file, and if possible in which line, a row lies."""
    for table in tables:
        if row < table.frame.height:
            break
        row -= table.frame.height
    if not isinstance(table, FileTable) or table.origin is None:
        return table.source, None
    try:
        return table.source, table.origin.line(Source.open(Path(table.source)), "judgments", row)
    except InputError:  # the file is no longer what it was
        return table.source, None
