"""Identifiers of recordings, made from where they lie.

An identifier is the path below the folder, without its suffix: letters of any script, digits, ``.``, ``_`` and ``-``;
any run of other signs, the separators of folders included, is one ``-``. It has no blanks (TREC files separate by
them), never begins with ``-`` or ``.``, has at most 100 bytes and names a file on every system. Two that differ in case
only would be one file on some systems, so they count as the same; of those that are the same, the first in the order of
names keeps it and the others are numbered, ``-2``, ``-3``. Files that come or go elsewhere change nothing.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence

LONGEST = 100  # bytes of an identifier in UTF-8
_ODD_BYTE = re.compile("[\udc80-\udcff]")  # what Python makes of bytes in names that are no UTF-8
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_KEPT = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd"}
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # files that Windows does not make
_DIGEST, _HEAD, _TAIL = 8, 45, 45


def identifier(name: str) -> str:
    """The identifier that a file's path below its folder asks for.

    Bytes that are no UTF-8 are taken for Latin-1. What is too long keeps its head and tail and gets eight digits of its
    SHA-256; so does what has no letter or digit at all.

    >>> identifier("Sigur Rós/( )/01 - Untitled #1.flac")
    'Sigur-Rós-01-Untitled-1'
    >>> identifier("!!!/???.mp3")
    'recording-1d28873b'
    """
    path = SUFFIX.sub("", readable(name))
    return _short(_cleaned(path), path)


def readable(name: str) -> str:
    r"""A name in composed form (NFC), whose bytes that are no UTF-8 are taken for Latin-1.

    >>> readable("caf\udce9")
    'café'
    """
    text = _ODD_BYTE.sub(lambda found: chr(ord(found[0]) - 0xDC00), name)
    return unicodedata.normalize("NFC", text)


def is_identifier(text: str) -> bool:
    """Whether a text may be an identifier as it is.

    >>> is_identifier("a000123"), is_identifier("track 7"), is_identifier(".a")
    (True, False, False)
    """
    return bool(text) and text == identifier(f"{text}.wav")


def _cleaned(text: str) -> str:
    if not _PLAIN.fullmatch(text):
        text = "".join(sign if sign in "._-" or unicodedata.category(sign) in _KEPT else "-" for sign in text)
    text = re.sub(r"\.*-[.-]*", "-", text).strip("-.")
    while text and unicodedata.category(text[0]) in ("Mn", "Mc"):  # a mark needs a letter before it
        text = text[1:].lstrip("-.")
    return f"{text}_" if _RESERVED.fullmatch(text) else text


def _short(text: str, path: str) -> str:
    digest = hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()[:_DIGEST]
    if not text.strip("_"):
        return f"recording-{digest}"
    data = text.encode()
    if len(data) <= LONGEST:
        return text
    head, tail = (part.decode("utf-8", "ignore") for part in (data[:_HEAD], data[-_TAIL:]))
    return _cleaned(f"{head}-{tail}-{digest}")


def identifiers(names: Sequence[str], *, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """An identifier for each name, all different even where case does not count.

    ``given`` are those that somebody chose, which stay as they are; they must differ from each other already.

    >>> identifiers(["a.flac", "A.mp3", "a-2.mp3"])
    {'a.flac': 'a-3', 'A.mp3': 'A', 'a-2.mp3': 'a-2'}
    """
    found = dict(given or {})
    taken = {folded(document) for document in found.values()}
    waiting = []
    for name in sorted(name for name in names if name not in found):
        wanted = identifier(name)
        if folded(wanted) in taken:
            waiting.append((name, wanted))
        else:
            found[name] = wanted
            taken.add(folded(wanted))
    following: dict[str, int] = {}
    for name, wanted in waiting:
        found[name], following[folded(wanted)] = _numbered(wanted, taken, following.get(folded(wanted), 2))
        taken.add(folded(found[name]))
    return {name: found[name] for name in names}


def folded(document: str) -> str:
    """What two identifiers share that name the same file where case does not count."""
    return unicodedata.normalize("NFC", document.casefold())


def _numbered(wanted: str, taken: Collection[str], number: int) -> tuple[str, int]:
    """The identifier with the first free number from here on, and the number after it."""
    while True:
        ending = f"-{number}"
        stem = wanted.encode()[: LONGEST - len(ending)].decode("utf-8", "ignore")
        number += 1
        if folded(stem + ending) not in taken:
            return stem + ending, number
