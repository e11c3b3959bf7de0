"""What a file format is, and the plain tables that every format reads into and writes from.

A reader turns a :class:`~adjudge.formats.source.Source` into a Polars frame with these columns, a writer turns such a
frame into bytes. Nothing past this package knows about files.

=========== ====================================================================================================
runs        ``system, query, document`` and optionally ``score`` (higher is better), ``rank``, ``team``.
            Without scores the order of ``rank``, or else of the rows, is the ranking.
judgments   ``query, document, grade`` and optionally ``assessor``, ``subtopic``
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

    ``suffixes`` claim a file by its name; ``sniff`` looks inside. The registry is asked in order, so put the format
    with the sharper test first.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    kinds: ClassVar[frozenset[Kind]]
    writes: ClassVar[frozenset[Kind]]
    suffixes: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether this file looks like this format."""

    @abstractmethod
    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read a whole file into the plain table of its kind."""

    @abstractmethod
    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """The file that holds this table; only called for kinds in ``writes``."""


FORMATS: Registry[Format] = Registry("format")


def register(format_class: type[Format]) -> type[Format]:
    """Class decorator: add a format to the registry."""
    FORMATS.add(format_class.name, format_class())
    return format_class
