"""A report before it has a look: sections of sentences, tables and figures.

Sections compute; renderers (HTML, Markdown, LaTeX, JSON) only show. A figure carries its data and the function that
draws them, so that the same report can go into a page as SVG, to a paper as PDF, or to JSON as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    A ``folded`` one is closed on a page until somebody opens it; in print and in other forms it is always open.
    """

    name: str
    caption: str
    columns: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    records: Sequence[dict[str, Any]] = field(default=(), repr=False)
    emphasised: frozenset[tuple[int, int]] = frozenset()
    folded: bool = False


@dataclass(frozen=True)
class FigureBlock:
    """A figure: data, how to draw them, and words for who cannot see it."""

    name: str
    caption: str
    alt: str
    data: Any = field(repr=False)
    draw: Callable[[Any], Drawing] = field(repr=False)


Block = Paragraph | TableBlock | FigureBlock


@dataclass(frozen=True)
class Section:
    """Part of a report; of level 2, part of the section of level 1 before it."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    level: int = 1


@dataclass(frozen=True)
class Report:
    """A whole report: what it is about, its sections, where it came from."""

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
    """Register a section, or several that belong together; it returns None when it has nothing to say."""
    return SECTIONS.register(name)
