"""What files say about themselves, and what a table says about them: artist, title, album, genre and year.

Tags are what people typed, or what a program guessed, so they are cleaned: in Unicode's composed form (NFC), with
single blanks, without control characters, at most 300 characters long. A file whose tags cannot be read has none;
whether it holds sound is for others to find out.

Where a tag has several values, all artists are kept, as ``A; B``, and the first of everything else: who made it must
be said in full, while statistics want one genre for a recording. Genres that ID3 writes as numbers become words
(``(17)`` is Rock), dates become years. Values that say nothing ("Unknown Artist", a genre of 255) are left out, so
that recordings by unknown artists do not count as those of one. Without an artist, that of the album is taken, then
the composer.

A table wins over tags, cell by cell, and may have columns of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.errors import InputError
from adjudge.extras import need

if TYPE_CHECKING:
    from tinytag import TinyTag

    from adjudge.formats.tables import TextTable

TAGS = ("artist", "title", "album", "genre", "year")
LONGEST = 300  # characters of a value
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_UNSEEN = re.compile("[\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]")  # direction, width zero, no text
_YEAR = re.compile(r"(?<!\d)([12]\d{3})(?:\d{4})?(?!\d)")
_NUMBER = re.compile(r"\(?\d*\)?")
_SAYS_NOTHING = {
    "unknown",
    "unknown artist",
    "unknown album",
    "unknown title",
    "unknown genre",
    "no artist",
    "untitled",
}
_OTHER_NAMES = {"date": "year", "artistname": "artist", "tracktitle": "title", "songtitle": "title"}
_MEASURED = {"seconds"}  # columns of tracks.csv that the sound itself fills


@dataclass(frozen=True)
class TagRow:
    """A row of a table: the ``file`` or the ``document`` that it is about (or both), and what it says of it."""

    number: int
    file: str | None
    document: str | None
    tags: dict[str, str]


@dataclass(frozen=True)
class TagTable:
    """The rows of a table, in order; those that name nothing are left out."""

    source: str
    rows: tuple[TagRow, ...]


def read_tags(path: str | Path) -> dict[str, str]:
    """What a file says about itself; only what is known, in the order of ``TAGS``.

    ID3 (1, 2.2 to 2.4, also inside WAV and AIFF), Vorbis comments (Ogg, Opus, FLAC) and RIFF INFO are understood, by
    how the file begins, not by its name. A file that is missing, broken or no audio says nothing.

    >>> read_tags("nowhere.mp3")
    {}
    """
    tag = open_tags(Path(path))
    if tag is None:
        return {}
    artists = _values(tag, "artist") or _values(tag, "albumartist") or _values(tag, "composer")
    genres = [genre for genre in _values(tag, "genre") if not _NUMBER.fullmatch(genre)]
    years = [year[1] for text in _values(tag, "year") if (year := _YEAR.search(text))]
    found = {
        "artist": clean("; ".join(_apart(artists))),
        "title": _first(_values(tag, "title")),
        "album": _first(_values(tag, "album")),
        "genre": _first(genres),
        "year": _first(years),
    }
    return {name: value for name, value in found.items() if value}


def open_tags(path: Path) -> TinyTag | None:
    """The tags as tinytag has them; None where there are none to be had."""
    need("audio", "Tags of recordings need", "tinytag")
    from tinytag import TinyTag, TinyTagException, UnsupportedFormatError

    try:
        with path.open("rb") as file:
            try:
                return TinyTag.get(file_obj=file, duration=False)
            except UnsupportedFormatError:  # an MP3 may begin with anything: then its name decides
                file.seek(0)
                return TinyTag.get(filename=path, file_obj=file, duration=False)
    except (OSError, ValueError, TinyTagException):
        return None


def _values(tag: TinyTag, name: str) -> list[str]:
    """All values of a tag that say something, cleaned, each once."""
    given = [getattr(tag, name), *tag.other.get(name, [])]
    parts = [clean(_mended(part)) for value in given if value is not None for part in str(value).split("\0")]
    if name == "genre":
        parts = [clean(piece) for part in parts for piece in part.split(";")]
    said: dict[str, str] = {}
    for part in parts:
        if part and part.strip("<>[]() ").casefold() not in _SAYS_NOTHING:
            said.setdefault(part.casefold(), part)
    return list(said.values())


def _mended(text: str) -> str:
    """UTF-8 that was declared as Latin-1, and read so, as what it is; no other text survives being read back.

    >>> _mended("BjÃ¶rk"), _mended("Björk")
    ('Björk', 'Björk')
    """
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _apart(names: Sequence[str]) -> list[str]:
    """Names that are not part of another: "A feat. B" makes "A" and "B" beside it needless."""
    folded = [name.casefold() for name in names]
    return [name for i, name in enumerate(names) if not any(
        folded[i] in other for j, other in enumerate(folded) if j != i
    )]  # fmt: skip


def _first(values: Sequence[str]) -> str:
    return values[0] if values else ""


def clean(text: str) -> str:
    r"""Text on one line, in composed form and at most 300 characters, the last of which says where it was cut.

    >>> clean("  Bjo\u0308rk \x00\n Live")
    'Björk Live'
    """
    if text.isascii() and text.isalnum() and len(text) <= LONGEST:
        return text
    plain = _BLANKS.sub(" ", _UNSEEN.sub("", text[: 20 * LONGEST])).strip()
    plain = unicodedata.normalize("NFC", plain)
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1].rstrip() + "…"


def read_tag_table(path: str | Path) -> TagTable:
    """Read what a table says of files or documents.

    The table has a header; its fields are separated by commas, semicolons or tabs, quoted where needed; it may be
    compressed. A column ``file`` (path below the folder) or ``document`` (identifier) says what a row is about. With
    both, ``document`` is the identifier that the file gets. Empty cells say nothing; a column without a name and
    ``seconds``, which is measured, are passed over.
    """
    from adjudge.formats.source import Source
    from adjudge.formats.tables import TextTable

    table = TextTable.open(Source.open(Path(path)))
    file, document = _column(table, "file"), _column(table, "document")
    if file is None and document is None:
        came = ", ".join(table.columns.columns[:8]) + (", …" if table.columns.width > 8 else "")
        raise table.source.error(f"expected a column 'file' or 'document', got the columns {came}", table.header_line)
    others = _descriptions(table, {file, document})
    cells = {name: table.text(name).to_list() for name in (file, document, *others) if name is not None}
    rows = []
    for i in range(table.height):
        said = {others[name]: clean(cells[name][i] or "") for name in others}
        named, called = (None if name is None else cells[name][i] for name in (file, document))
        if named or called:
            rows.append(TagRow(i + 1, named, called, {name: value for name, value in said.items() if value}))
    if not rows:
        raise InputError(f"expected something in {file or document!r}, got nothing in any row", source=str(path))
    return TagTable(str(path), tuple(rows))


def _column(table: TextTable, target: str) -> str | None:
    """The column that holds something, None where there is none; ``track`` and ``item`` are often numbers on a disc."""
    from adjudge.formats.columns import fold, place_of

    names = ["" if fold(name) in ("track", "item") else name for name in table.columns.columns]
    place = place_of(names, target, lambda message, _: table.source.error(message, table.header_line))
    return None if place is None else names[place]


def _descriptions(table: TextTable, keys: set[str | None]) -> dict[str, str]:
    """What each further column is called in the library."""
    from adjudge.formats.columns import fold

    named: dict[str, str] = {}
    for place, name in enumerate(table.columns.columns):
        folded = fold(name)
        target = folded if folded in TAGS else _OTHER_NAMES.get(folded, name)
        if name in keys or name == f"column {place}" or target in _MEASURED:
            continue
        if target in named.values():
            raise table.source.error(f"expected one column for the {target}, got {name!r}, too", table.header_line)
        named[name] = target
    return named
