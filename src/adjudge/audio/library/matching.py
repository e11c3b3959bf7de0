r"""Rows of a table and the recordings that they are about.

A cell of the column ``file`` fits a recording whose path below the folder it is, or the end of that path: ``a.mp3`` for
``rock/a.mp3``. It may go through the folder, as ``D:\music\rock\a.mp3`` does for the folder ``music``, and lack the
suffix. Neither case nor the direction of slashes counts, unless two recordings fit. A cell of ``document`` fits by
identifier, then in the same ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from adjudge.audio.library.naming import SUFFIX, folded, identifiers, is_identifier, readable
from adjudge.audio.library.tags import TagRow, TagTable
from adjudge.errors import InputError, shown

_SLASHES = re.compile(r"[\\/]+")


@dataclass
class Matched:
    """By name of recording: its row's ``tags`` and the identifiers ``given``; and rows that fit nothing, and why."""

    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    unmatched: list[tuple[TagRow, str]] = field(default_factory=list)


def match_table(table: TagTable, names: Sequence[str], *, folder: str = "") -> Matched:
    """Find the recording of every row; ``folder`` is the name of the folder that holds them.

    Refused are two rows for one recording, an identifier that no document may have or two have, and a table of which
    no row fits anything.

    >>> rows = (TagRow(1, "A.MP3", None, {"artist": "X"}), TagRow(2, "b.mp3", None, {}))
    >>> found = match_table(TagTable("t.csv", rows), ["rock/a.mp3"])
    >>> found.tags, [why for _, why in found.unmatched]
    ({'rock/a.mp3': {'artist': 'X'}}, ['no recording fits it'])
    """
    index = _Index(names, folder)
    found, rows = Matched(), dict[str, int]()
    for row in table.rows:
        fitting = index.fitting(row)
        if len(fitting) != 1:
            why = "no recording fits it" if not fitting else f"{len(fitting)} recordings fit it"
            found.unmatched.append((row, why))
            continue
        name = fitting[0]
        if name in rows:
            raise _error(table, row, f"expected one row for {shown(name)}, got another in row {rows[name]}")
        rows[name] = row.number
        found.tags[name] = row.tags
        if row.document is not None:
            found.given[name] = row.document
    if not rows:
        first = table.rows[0].file or table.rows[0].document
        raise InputError(
            f"expected rows about the recordings, such as {shown(names[0])}, got none of them ({shown(first)}, …)",
            source=table.source,
        )
    _check_given(table, found.given, rows)
    return found


def _check_given(table: TagTable, given: Mapping[str, str], rows: Mapping[str, int]) -> None:
    """Refuse identifiers that files could not be called, and those that two recordings would have."""
    seen: dict[str, str] = {}
    for name, document in given.items():
        if not is_identifier(document):
            raise InputError(
                f"row {rows[name]}: expected a document of at most 100 bytes made of letters, digits, '.', '_' and "
                f"'-', got {shown(document)}",
                source=table.source,
            )
        if folded(document) in seen:
            other = seen[folded(document)]
            raise InputError(
                f"row {rows[name]}: expected different documents, got {shown(document)} for {shown(name)} and "
                f"{shown(other)}",
                source=table.source,
            )
        seen[folded(document)] = name


def _error(table: TagTable, row: TagRow, message: str) -> InputError:
    return InputError(f"row {row.number}: {message}", source=table.source)


class _Index:
    """Recordings by everything that a cell may call them."""

    def __init__(self, names: Sequence[str], folder: str) -> None:
        self.folder = _plain(folder).casefold()
        self.exact = {_plain(name): name for name in names}
        self.whole: dict[str, list[str]] = {}
        self.tails: dict[str, list[str]] = {}
        for name in names:
            for key in _keys(name):
                self.whole.setdefault(key, []).append(name)
                for tail in _tails(key):
                    self.tails.setdefault(tail, []).append(name)
        self.documents = {folded(document): name for name, document in identifiers(names).items()}

    def fitting(self, row: TagRow) -> list[str]:
        """The recordings that a row may be about."""
        if row.file is not None:
            return self._by_path(row.file)
        document = row.document or ""
        own = self.documents.get(folded(readable(document)))
        return [own] if own is not None else self._by_path(document)

    def _by_path(self, cell: str) -> list[str]:
        plain = _plain(cell)
        if plain in self.exact:
            return [self.exact[plain]]
        key = plain.casefold()
        if key in self.whole:
            return self.whole[key]
        if key in self.tails:
            return self.tails[key]
        _, through, below = f"/{key}".partition(f"/{self.folder}/")
        return self.whole.get(below, []) if through and self.folder else []


def _plain(path: str) -> str:
    return _SLASHES.sub("/", readable(path)).removeprefix("./").strip("/ ")


def _keys(name: str) -> Iterable[str]:
    """A path with and without its suffix; case does not count."""
    plain = _plain(name).casefold()
    return dict.fromkeys((plain, SUFFIX.sub("", plain)))


def _tails(path: str) -> Iterable[str]:
    """Every end of a path that begins with a whole name, without the path itself; the longest first.

    >>> list(_tails("a/b/c"))
    ['b/c', 'c']
    """
    parts = path.split("/")
    return ("/".join(parts[i:]) for i in range(1, len(parts)))
