"""Tags of recordings, from their files or from a table: artist, title, album, genre and year.

Tags are cleaned: in Unicode's composed form (NFC), with single spaces, without control characters, at most 300
characters long. A file whose tags cannot be read has none.

Where a tag has several values, all artists are kept, as ``A; B``, but only the first of other values. Genres that ID3
writes as numbers become words (``(17)`` is Rock), dates become years. Placeholders ("Unknown Artist", a genre of 255)
are left out, so that recordings by unknown artists do not count as those of one artist. Without an artist, that of the
album is used, then the composer.

A table overrides tags, cell by cell, and may have columns of its own.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.extras import need

if TYPE_CHECKING:
    from tinytag import TinyTag

TAGS = ("artist", "title", "album", "genre", "year")
LONGEST = 300  # characters of a value
_SPACES = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_INVISIBLE = re.compile("[\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]")  # or surrogates
_YEAR = re.compile(r"(?<!\d)([12]\d{3})(?:\d{4})?(?!\d)")
_NUMBER = re.compile(r"\(?\d*\)?")
_PLACEHOLDERS = {
    "unknown", "unknown artist", "unknown album", "unknown title", "unknown genre", "no artist", "untitled",
}  # fmt: skip
_OTHER_NAMES = {"date": "year", "artistname": "artist", "tracktitle": "title", "songtitle": "title"}
_NUMBERS_ON_A_DISC = {"track", "item"}  # as often as they are documents
_MEASURED = {"seconds"}  # columns of tracks.csv that the sound itself fills


@dataclass(frozen=True)
class TagRow:
    """A row of a table: the ``file`` or the ``document`` that it is about (or both), and its tags."""

    number: int
    file: str | None
    document: str | None
    tags: dict[str, str]


def read_tags(path: str | Path) -> dict[str, str]:
    """Read the tags of a file: only those that are known, in the order of ``TAGS``.

    ID3 (1, 2.2 to 2.4, also inside WAV and AIFF), Vorbis comments (Ogg, Opus, FLAC) and RIFF INFO are recognised by how
    the file begins, not by its name. A file that is missing, broken or no audio has no tags.

    >>> read_tags("nowhere.mp3")
    {}
    """
    tag = open_tags(Path(path))
    if tag is None:
        return {}
    artists = _read_values(tag, "artist") or _read_values(tag, "albumartist") or _read_values(tag, "composer")
    genres = [genre for genre in _read_values(tag, "genre") if not _NUMBER.fullmatch(genre)]
    years = [year[1] for text in _read_values(tag, "year") if (year := _YEAR.search(text))]
    folded = [artist.casefold() for artist in artists]
    named = [  # beside "A feat. B", "A" and "B" are redundant
        artist for i, artist in enumerate(artists)
        if not any(folded[i] in other for j, other in enumerate(folded) if j != i)
    ]  # fmt: skip
    found = {
        "artist": [clean("; ".join(named))],
        "title": _read_values(tag, "title"),
        "album": _read_values(tag, "album"),
        "genre": genres,
        "year": years,
    }
    return {name: values[0] for name, values in found.items() if values and values[0]}


def open_tags(path: Path) -> TinyTag | None:
    """The tags as tinytag reads them; None where it cannot."""
    need("audio", "Tags of recordings need", "tinytag")
    from tinytag import TinyTag, TinyTagException, UnsupportedFormatError

    try:
        with path.open("rb") as file:
            try:
                return TinyTag.get(file_obj=file, duration=False)
            except UnsupportedFormatError:  # an MP3 may begin with anything, so its name decides
                file.seek(0)
                return TinyTag.get(filename=path, file_obj=file, duration=False)
    except (OSError, ValueError, TinyTagException):
        return None


def _read_values(tag: TinyTag, name: str) -> list[str]:
    """All values of a tag, cleaned, each once, without placeholders."""
    given = [getattr(tag, name), *tag.other.get(name, [])]
    parts = [clean(_repair_encoding(part)) for value in given if value is not None for part in str(value).split("\0")]
    if name == "genre":
        parts = [clean(piece) for part in parts for piece in part.split(";")]
    values: dict[str, str] = {}
    for part in parts:
        if part and part.strip("<>[]() ").casefold() not in _PLACEHOLDERS:
            values.setdefault(part.casefold(), part)
    return list(values.values())


def _repair_encoding(text: str) -> str:
    """Decode UTF-8 that was declared and read as Latin-1; any other text stays as it is."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def clean(text: str) -> str:
    r"""Text on one line, in composed form and at most 300 characters; a cut shows as "…".

    >>> clean("  Bjo\u0308rk \x00\n Live")
    'Björk Live'
    """
    if text.isascii() and text.isalnum() and len(text) <= LONGEST:
        return text
    plain = _SPACES.sub(" ", _INVISIBLE.sub("", text[: 20 * LONGEST])).strip()
    plain = unicodedata.normalize("NFC", plain)
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1].rstrip() + "…"


def read_tag_table(path: str | Path) -> tuple[TagRow, ...]:
    """Read the rows of a table of tags, in order; rows that name neither file nor document are left out.

    The table is any that :mod:`adjudge.formats.schema` reads, with a header. A column ``file`` (path below the folder)
    or ``document`` (identifier) says what a row is about. With both, ``document`` is the identifier that the file gets.
    Empty cells say nothing; a column without a name and ``seconds``, which is measured, are passed over.
    """
    from adjudge.formats.columns import fold
    from adjudge.formats.schema import Field, Schema

    keys = Field("file", full=False), Field("document", full=False)
    schema = Schema((*keys, *(Field(tag, holds=None) for tag in TAGS)), distinct=True, has_comments=False)
    table = schema.open(path)
    named = ["" if fold(name) in _NUMBERS_ON_A_DISC else name for name in table.names]
    places = [replace(table, names=named).place(key) for key in keys]
    if places == [None, None]:
        came = ", ".join(table.names[:8]) + (", …" if len(table.names) > 8 else "")
        raise table.header_error(f"expected a column 'file' or 'document', got the columns {came}")
    others: dict[str, int] = {}  # where each further column is, by what it is called in the library
    for place, name in enumerate(table.names):
        folded = fold(name)
        target = folded if folded in TAGS else _OTHER_NAMES.get(folded, name.lower())
        if place in places or not name or target in _MEASURED:
            continue
        if target in others:
            raise table.header_error(f"expected one column for the {target}, got {name!r}, too")
        others[target] = place
    nothing = [None] * table.height
    files, documents = (
        nothing if place is None else table.read(key, place).to_list() for key, place in zip(keys, places, strict=True)
    )
    tags = {name: table.read(Field(name, full=False, holds=None), place).to_list() for name, place in others.items()}
    rows = []
    for i, (file, document) in enumerate(zip(files, documents, strict=True)):
        said = {name: clean(cells[i] or "") for name, cells in tags.items()}
        if file or document:
            rows.append(TagRow(i + 1, file, document, {name: value for name, value in said.items() if value}))
    if not rows:
        key = places[1] if places[0] is None else places[0]
        raise table.error(f"expected something in {table.names[key or 0]!r}, got nothing in any row")
    return tuple(rows)
