"""The words of the assessors' pages, one JSON file a language, every file with the same keys and placeholders.

Keys are dotted places (``send.missing``); values may hold ``{placeholders}``; a key that counts something ends in
``.one`` and ``.other``. Pages get the whole mapping as ``t``; scripts get the same mapping.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType

LANGUAGES = ("en", "es", "de", "fr")
NAMES: Mapping[str, str] = MappingProxyType({"en": "English", "es": "Español", "de": "Deutsch", "fr": "Français"})
"""What each language calls itself."""


@cache
def words(language: str) -> Mapping[str, str]:
    """The words of a language; English where there is none of that name.

    >>> words("de")["judge.send"]
    'Senden'
    """
    name = language if language in LANGUAGES else LANGUAGES[0]
    text = (resources.files(__package__) / f"{name}.json").read_text(encoding="utf-8")
    return MappingProxyType(json.loads(text))


def preferred(accepted: str, offered: Sequence[str]) -> str:
    """The language that a browser's ``Accept-Language`` likes most among those offered; else the first offered.

    >>> preferred("fr-CH, fr;q=0.9, es;q=0.95, de;q=0", ("en", "es", "de"))
    'es'
    """
    wishes: list[tuple[float, str]] = []
    for wish in accepted.split(","):
        name, _, quality = wish.strip().partition(";q=")
        try:
            weight = float(quality) if quality else 1.0
        except ValueError:
            continue
        wishes.append((weight, name.partition("-")[0].lower()))
    wishes.sort(key=lambda wish: -wish[0])
    return next((name for weight, name in wishes if weight > 0 and name in offered), offered[0])
