"""Names, labels and times that people type: kept as they meant them, free of what plays tricks where they are shown."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field

from adjudge.errors import shown
from adjudge.web.errors import Refused
from adjudge.web.languages import LANGUAGES

_TRICKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # they turn text around
_CONTROLS = ("Cc", "Cs", "Zl", "Zp")
_CALENDAR_END = 253_402_300_800.0  # the year 10000, which no calendar here can show
_INVISIBLE = (*_CONTROLS, "Cf", "Co", "Cn")


def one_line_of(text: str, *, what: str, most: int = 200) -> str:
    """A line of text without spaces around it; refused where it has line breaks or other control characters.

    >>> one_line_of("  Ana  María ", what="a name")
    'Ana María'
    """
    plain = " ".join(part for part in unicodedata.normalize("NFC", text).strip().split(" ") if part)
    if any(unicodedata.category(character) in _CONTROLS or character in _TRICKS for character in plain):
        raise Refused(f"Expected {what} of one line, got control characters in it.")
    if len(plain) > most:
        raise Refused(f"Expected {what} of at most {most} characters, got {len(plain)}.")
    return plain


def several_lines_of(text: str, *, what: str, most: int) -> str | None:
    r"""Text that may have lines and tabs; None where it is blank, refused where it has other control characters.

    >>> several_lines_of(" too\nquiet ", what="a comment", most=100)
    'too\nquiet'
    """
    plain = unicodedata.normalize("NFC", text).replace("\r\n", "\n").strip()
    if any(unicodedata.category(character) in _CONTROLS and character not in "\n\t" for character in plain):
        raise Refused(f"Expected {what} of plain text, got control characters in it.")
    if len(plain) > most:
        raise Refused(f"Expected {what} of at most {most} characters, got {len(plain)}.")
    return plain or None


def end_of(at: float | None, *, what: str, now: float) -> float | None:
    """When something ends that lasts until then; refused where that is over, or beyond every calendar.

    >>> end_of(20.0, what="a token", now=10.0)
    20.0
    """
    if at is not None and at <= now:
        raise Refused(f"Expected {what} that ends in the future, got one that has ended.")
    if at is not None and at >= _CALENDAR_END:
        raise Refused(f"Expected {what} that ends before the year 10000, got one that ends after it.")
    return at


def login_name(text: str) -> str:
    """A login as it is kept and compared: however it is typed, in capitals or in wide letters, it is the same.

    >>> login_name(" Ａda ")
    'ada'
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).strip()
    if not folded or len(folded) > 200:
        raise Refused(f"Expected a login of 1 to 200 characters, got {len(folded)}.")
    if any(unicodedata.category(character) in _INVISIBLE or character.isspace() for character in folded):
        raise Refused("Expected a login without spaces and invisible characters.")
    return folded


def _line(text: str) -> str:
    return one_line_of(text, what="text")


def some_words(text: str) -> str:
    """A text that must not be empty."""
    if not text:
        raise ValueError("expected some words, got none")
    return text


def _lines(text: str) -> str:
    several_lines_of(text, what="text", most=50_000)
    return text  # as it was written: spaces mean something in Markdown


def _spoken(language: str) -> str:
    if language not in LANGUAGES:
        raise ValueError(f"expected languages among {', '.join(LANGUAGES)}, got {shown(language)}")
    return language


Line = Annotated[str, Field(max_length=200), AfterValidator(_line)]
Lines = Annotated[str, Field(max_length=50_000), AfterValidator(_lines)]
Language = Annotated[str, Field(max_length=20), AfterValidator(_spoken)]
