"""A report on a terminal: its sentences and tables; figures are for other places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.reports.document import Align, Paragraph, Report, TableBlock
from adjudge.reports.tables import FittedTable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table


def drawing(report: Report, *, notes: tuple[str, ...] = ()) -> RenderableType:
    """Sentences and tables of all sections, each table with its caption above it."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for block in (block for section in report.sections for block in section.blocks):
        if isinstance(block, Paragraph):
            parts.append(Text(block.text))
        elif isinstance(block, TableBlock):
            parts += [Text(), Text(block.caption, style="bold"), _table(block)]
    return Group(*parts, *(Text(note, style="dim") for note in notes))


@dataclass(frozen=True)
class _AlignedTable(FittedTable):
    """A fitted table whose columns stand as its block says."""

    aligns: tuple[Align, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        for columns in self._parts(options.max_width):
            table = self._part(columns)
            for i, column in zip(columns, table.columns, strict=True):
                column.justify = self.aligns[i]
            yield table


def _table(block: TableBlock) -> FittedTable:
    names = [column.name for column in block.columns]
    return _AlignedTable(names, block.rows, 0, aligns=tuple(column.align for column in block.columns))
