"""What a file format is, and the plain tables that every format reads into and writes from.

A reader turns a :class:`~adjudge.formats.source.Source` into a Polars frame with these columns; a writer turns such a
frame into bytes.

=========== ====================================================================================================
runs        ``system, query, document`` and optionally ``score`` (higher is better), ``rank``, ``team``.
            Without scores, the order of ``rank``, or else of the rows, is the ranking.
judgments   ``query, document, grade`` and optionally ``assessor``, ``subtopic`` (even if it is always the same: only
            all files together show whether it means anything), and ``group`` where only the order of grades counts
metadata    ``document`` and any other column
=========== ====================================================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.formats.source import Source
from adjudge.io import COMPRESSIONS, without_compression
from adjudge.registry import Registry
from adjudge.text import with_article

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["runs", "judgments", "metadata"]


class Format(ABC):
    """One file format. Subclass, give ``name``, ``about`` and ``kinds``, and decorate with :func:`register`.

    Files are recognised by their content: ``sniff`` looks inside, in the order of the registry, so put the format with
    the sharper test first. ``suffixes`` only choose the format of a file that is written. ``excludes_query`` says that
    rankings in this format hold the query itself, which is removed by default; ``rows_are_lines`` that every line that
    is neither blank nor a comment is a row.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    kinds: ClassVar[frozenset[Kind]]
    writes: ClassVar[frozenset[Kind]]
    suffixes: ClassVar[tuple[str, ...]] = ()
    excludes_query: ClassVar[bool] = False
    rows_are_lines: ClassVar[bool] = False

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
        """Line of the file that row ``row`` (from 0) of its table came from, where the format has one line per row."""
        lines = islice(source.lines(), row, None) if self.rows_are_lines else iter(())
        return next((number for number, _ in lines), None)


FORMATS: Registry[Format] = Registry(  # in the order in which they are tried, sharper tests first
    "format", "adjudge.formats.trec", "adjudge.formats.mirex", "adjudge.formats.tables"
)


def register(format_class: type[Format]) -> type[Format]:
    """Class decorator: add a format to the registry."""
    FORMATS.add(format_class.name, format_class())
    return format_class


def format_for(path: str | Path, kind: Kind, name: str | None = None) -> Format:
    """Format in which to write a kind into a file: the one named, or else that of its suffix."""
    able = [candidate for candidate in FORMATS.values() if kind in candidate.writes]
    if name is not None:
        if FORMATS[name] not in able:
            names = ", ".join(candidate.name for candidate in able)
            raise AdjudgeError(f"The format {name} does not write {kind}; these do: {names}.")
        return FORMATS[name]
    suffix = without_compression(Path(path)).suffix.lower()
    for candidate in able:
        if suffix in candidate.suffixes or (candidate.name == "trec" and suffix in ("", ".txt")):
            return candidate
    suffixes = " ".join(suffix for candidate in able for suffix in candidate.suffixes)
    packed = " ".join(compression.suffix for compression in COMPRESSIONS)
    raise AdjudgeError(
        f"{path}: expected a suffix that says how to write {kind} ({suffixes}; then {packed}) "
        f"or a format (--to, format=), got {shown(suffix) if suffix else 'none'}"
    )


def refuse(frame: pl.DataFrame, columns: Sequence[str], pattern: str, wanted: str) -> None:
    """Raise for the first identifier that a file could not hold."""
    for name in columns:
        if name in frame.columns:
            bad = frame[name].str.contains(pattern).fill_null(False)
            if bad.any():
                raise InputError(f"expected {with_article(name)} {wanted}, got {shown(frame[name].filter(bad)[0])}")
