"""The words of participants' pages: one JSON file per language here, and one in the folder of each kind of campaign.

All languages have the same keys and placeholders. Keys are dotted places (``send.missing``); values may hold
``{placeholders}``; a key that counts something ends in ``.one`` and ``.other``. Pages get the whole mapping as ``t``;
scripts get the same mapping.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

LANGUAGES = ("en", "es", "de", "fr")
NAMES: Mapping[str, str] = MappingProxyType({"en": "English", "es": "Español", "de": "Deutsch", "fr": "Français"})
"""What each language calls itself."""
_FOLDERS = [Path(__file__).parent]


def add_folder(folder: Path) -> None:
    """Take the words of a kind of campaign as well, where it has some; a language that it lacks is read in English."""
    if folder.is_dir() and folder not in _FOLDERS:
        _FOLDERS.append(folder)
        words.cache_clear()


@cache
def words(language: str) -> Mapping[str, str]:
    """The words of a language; English where there is none of that name.

    >>> words("de")["judge.send"]
    'Senden'
    """
    name = language if language in LANGUAGES else LANGUAGES[0]
    said: dict[str, str] = {}
    for folder in _FOLDERS:
        file = folder / f"{name}.json"
        said |= json.loads((file if file.exists() else folder / "en.json").read_text(encoding="utf-8"))
    return MappingProxyType(said)


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
