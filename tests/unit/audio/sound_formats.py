"""Formats of recordings, by suffix: what soundfile must be told to write them."""

from __future__ import annotations

FORMATS: dict[str, dict[str, str]] = {
    "wav": {},
    "flac": {},
    "ogg": {},
    "opus": {"format": "OGG", "subtype": "OPUS"},
    "mp3": {"format": "MP3"},
    "aiff": {},
}
