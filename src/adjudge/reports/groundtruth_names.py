"""Names of documents and queries that fit beside a figure, whatever they are written in."""

from __future__ import annotations

import unicodedata


def n_cells(text: str) -> int:
    """How wide a text is, in signs of Latin width: those of East Asia count two, combining ones none.

    >>> n_cells("abc"), n_cells("旋律")
    (3, 4)
    """
    return sum(_cells(sign) for sign in text)


def _cells(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Cc", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def cleaned(name: str) -> str:
    r"""A name on one line, without signs that do not print.

    >>> cleaned("two\nlines")
    'two lines'
    """
    return " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())


def shortened(name: str, longest: int) -> str:
    """A name of at most so many cells: what is too long loses its middle, as identifiers differ at their ends.

    >>> shortened("000.111.706-1.1.1", 30)
    '000.111.706-1.1.1'
    >>> shortened("a-very-long-name-of-a-recording-take-12.wav", 20)
    'a-very-lo…ake-12.wav'
    """
    name = cleaned(name)
    if n_cells(name) <= longest:
        return name
    tail = _fitting(name[::-1], longest // 2)[::-1]
    while tail and unicodedata.combining(tail[0]):
        tail = tail[1:]
    return f"{_fitting(name, longest - 1 - n_cells(tail))}…{tail}"


def _fitting(text: str, width: int) -> str:
    """The beginning of a text that is no wider."""
    used = 0
    for place, sign in enumerate(text):
        used += _cells(sign)
        if used > width:
            return text[:place]
    return text
