"""A report before it has a look: sections of sentences, tables and figures.

Sections compute; renderers (HTML, Markdown, LaTeX, JSON) only show. A figure carries its data and the function that
draws them, so that the same report can go into a page as SVG, to a paper as PDF, or to JSON as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adjudge.registry import Registry
from adjudge.tables import Heading

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


Column = Heading  # its name in version 1.0


@dataclass(frozen=True)
class Paragraph:
    """Sentences, in plain text."""

    text: str


@dataclass(frozen=True)
class TableBlock:
    """A table. Cells are text to show; ``records`` are the same rows as plain values for JSON.

    The first ``n_key`` columns name a row, and are repeated where a table is too wide and goes on below.
    A ``folded`` table is closed on a page until the reader opens it; in print and in other forms it is always open.
    """

    name: str
    caption: str
    columns: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    records: Sequence[dict[str, Any]] = field(default=(), repr=False)
    emphasised: frozenset[tuple[int, int]] = frozenset()
    folded: bool = False
    n_key: int = 1

    @classmethod
    def of(
        cls, name: str, caption: str, rows: Iterable[Mapping[Heading, str]], records: Sequence[dict[str, Any]] = ()
    ) -> TableBlock:
        """A table of one row or more, each with its cells by heading."""
        listed = list(rows)
        return cls(name, caption, tuple(listed[0]), tuple(tuple(row.values()) for row in listed), records)


@dataclass(frozen=True)
class FigureBlock:
    """A figure: its data, the function that draws them, and a text alternative."""

    name: str
    caption: str
    alt: str
    data: Any = field(repr=False)
    draw: Callable[[Any], Drawing] = field(repr=False)


Block = Paragraph | TableBlock | FigureBlock


@dataclass(frozen=True)
class Section:
    """Part of a report; one of level 2 is part of the section of level 1 before it."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    level: int = 1


@dataclass(frozen=True)
class Report:
    """A whole report: what it is about, its sections, and their provenance."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    provenance: dict[str, Any]

    @property
    def figures(self) -> tuple[FigureBlock, ...]:
        """All figures, in order."""
        return tuple(block for section in self.sections for block in section.blocks if isinstance(block, FigureBlock))


SectionFunction = Callable[[Any], Section | Sequence[Section] | None]
SECTIONS: Registry[SectionFunction] = Registry("report section", "adjudge.*.report")


def section(name: str) -> Callable[[SectionFunction], SectionFunction]:
    """Register a section, or several that belong together; None means that there is nothing to report."""
    return SECTIONS.register(name)
