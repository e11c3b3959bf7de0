"""What a file format is, and the plain tables that every format reads into and writes from.

A reader turns a :class:`~adjudge.formats.source.Source` into a Polars frame with these columns, a writer turns such a
frame into bytes. Nothing past this package knows about files.

=========== ====================================================================================================
runs        ``system, query, document`` and optionally ``score`` (higher is better), ``rank``, ``team``.
            Without scores the order of ``rank``, or else of the rows, is the ranking.
judgments   ``query, document, grade`` and optionally ``assessor``, ``subtopic`` (also one that is always the same:
            only all files together say whether it means anything), and ``group`` where grades only say the order
metadata    ``document`` and any other column
=========== ====================================================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

from adjudge.registry import Registry

if TYPE_CHECKING:
    import polars as pl

    from adjudge.formats.source import Source

Kind = Literal["runs", "judgments", "metadata"]


class Format(ABC):
    """One file format. Subclass, give ``name``, ``about`` and ``kinds``, and decorate with :func:`register`.

    Files are recognised by what is in them: ``sniff`` looks inside, and the registry is asked in order, so put the
    format with the sharper test first. ``suffixes`` only choose the format of a file that is written.
    ``excludes_query`` says that rankings in this format hold the query itself, which is removed unless asked otherwise.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    kinds: ClassVar[frozenset[Kind]]
    writes: ClassVar[frozenset[Kind]]
    suffixes: ClassVar[tuple[str, ...]] = ()
    excludes_query: ClassVar[bool] = False

    @abstractmethod
    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether this file looks like this format."""

    @abstractmethod
    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read a whole file into the plain table of its kind."""

    @abstractmethod
    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """The file that holds this table; only called for kinds in ``writes``."""

    def line(self, source: Source, kind: Kind, row: int) -> int | None:
        """Line of the file that row ``row`` (from 0) of its table came from, where the format has one a row."""
        return None


FORMATS: Registry[Format] = Registry("format")


def register(format_class: type[Format]) -> type[Format]:
    """Class decorator: add a format to the registry."""
    FORMATS.add(format_class.name, format_class())
    return format_class
