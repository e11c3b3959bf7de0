"""A report before it has a look: its answer, then sections of sentences, tables and figures.

Sections compute; renderers (HTML, Markdown, LaTeX, JSON) only show. On a page every table sorts by its headings. A
figure carries its data and the function that draws them, so that the same report can go into a page as SVG, to a paper
as PDF, or to JSON as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from adjudge.registry import Registry
from adjudge.tables import Heading

if TYPE_CHECKING:
    from adjudge.reporting.canvas import Canvas

Column = Heading  # its name in version 1.0


@dataclass(frozen=True)
class Paragraph:
    """Sentences, in plain text."""

    text: str


@dataclass(frozen=True)
class TableBlock:
    """A table. Cells are text to show; ``records`` are the same rows as plain values for JSON.

    A ``folded`` table is closed on a page until the reader opens it; in print and in other forms it is always open.
    With ``total`` the last row is about all others, and stays below them when they are sorted.
    """

    name: str
    caption: str
    columns: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    records: Sequence[dict[str, Any]] = field(default=(), repr=False)
    emphasised: frozenset[tuple[int, int]] = frozenset()
    folded: bool = False
    total: bool = False

    @classmethod
    def of(
        cls, name: str, caption: str, rows: Iterable[Mapping[Heading, str]], records: Sequence[dict[str, Any]] = ()
    ) -> TableBlock:
        """A table of one row or more, each with its cells by heading."""
        listed = list(rows)
        return cls(name, caption, tuple(listed[0]), tuple(tuple(row.values()) for row in listed), records)


@dataclass(frozen=True)
class FigureBlock:
    """A figure: its data, the function that draws them on a canvas and returns the axes, and a text alternative."""

    name: str
    caption: str
    alt: str
    data: Any = field(repr=False)
    draw: Callable[[Any, Canvas], Any] = field(repr=False)


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
    """A whole report: what it is about, its sections, their provenance, and the answer that it begins with.

    ``home`` is the name and the address of the page that it comes from, such as that of a campaign.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    provenance: dict[str, Any]
    lead: tuple[Block, ...] = ()
    home: tuple[str, str] | None = None

    @property
    def figures(self) -> tuple[FigureBlock, ...]:
        """All figures, in order."""
        blocks = chain(self.lead, *(section.blocks for section in self.sections))
        return tuple(block for block in blocks if isinstance(block, FigureBlock))


SectionFunction = Callable[[Any], Section | Sequence[Section] | None]
SECTIONS: Registry[SectionFunction] = Registry("report section", "adjudge.*.report", "adjudge.users.*.report")


def section(name: str) -> Callable[[SectionFunction], SectionFunction]:
    """Register a section, or several that belong together; None means that there is nothing to report."""
    return SECTIONS.register(name)
