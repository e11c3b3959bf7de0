"""When each note of a drawing sounds, and how high.

The engraver says when it thinks that each note begins and ends, note by note; which of them are struck and which only
held on (the second of two tied notes) is in the MIDI that it makes. Both count in quarters, which is what they are
compared by. Repeats are played, and a note that is played twice is drawn once.
"""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.audio.notation_checks import NotationError

NEAR = 0.02  # quarters: how far the two may be apart, as MIDI counts in ticks
_AGAIN = re.compile(r"-rend\d+$")


@dataclass(frozen=True)
class Note:
    """What begins and ends at once: seconds, the notes of the drawing that it lights up, and MIDI's pitches.

    A chord has several pitches; a note that is tied to others has the identifiers of them all.
    """

    start: float
    end: float
    ids: tuple[str, ...]
    pitches: tuple[int, ...]


@dataclass
class _Sounding:
    """One pitch while it sounds, from the beat on which it is struck."""

    start: float
    end: float
    pitch: int
    ids: list[str]
    last: float  # the quarter on which it ends so far


def timed_notes(
    timemap: Sequence[Mapping[str, Any]], pitches: Mapping[str, int], midi: str, ids: Mapping[str, str], *,
    tempo: float | None,
) -> tuple[tuple[Note, ...], float]:  # fmt: skip
    """The notes as they sound, and the seconds until the last of them, or the last rest, ends.

    ``timemap`` and ``midi`` are the engraver's, ``pitches`` those of the timemap's notes, ``ids`` our names for those
    that are drawn. Times are those of ``tempo`` in quarters a minute; without one, the engraver's own.
    """

    def at(event: Mapping[str, Any]) -> float:
        return float(event["tstamp"]) / 1000 if tempo is None else float(event["qstamp"]) * 60 / tempo

    struck = struck_notes(midi)
    ends = {name: event for event in timemap for name in event.get("off", ())}
    sounds: list[_Sounding] = []
    open_at: dict[int, _Sounding] = {}
    for event in timemap:
        beat = float(event["qstamp"])
        for name in event.get("on", ()):
            pitch, over = pitches[name], ends.get(name, event)
            shown = ids.get(_AGAIN.sub("", name))
            held = open_at.get(pitch)
            is_struck = not struck[pitch] or any(abs(beat - other) <= NEAR for other in struck[pitch])
            if held is not None and not is_struck and abs(held.last - beat) <= NEAR:
                held.end, held.last = at(over), float(over["qstamp"])
            else:
                held = _Sounding(at(event), at(over), pitch, [], float(over["qstamp"]))
                open_at[pitch] = held
                sounds.append(held)
            if shown is not None and shown not in held.ids:
                held.ids.append(shown)
    return _together(sounds), at(timemap[-1]) if timemap else 0.0


def _together(sounds: Sequence[_Sounding]) -> tuple[Note, ...]:
    """Pitches that begin and end at once as one."""
    groups: dict[tuple[float, float], list[_Sounding]] = defaultdict(list)
    for one in sounds:
        if one.end > one.start:
            groups[round(one.start, 4), round(one.end, 4)].append(one)
    return tuple(
        Note(start, end, tuple(dict.fromkeys(name for one in group for name in one.ids)), tuple(p.pitch for p in group))
        for (start, end), group in sorted(groups.items())
    )


def struck_notes(midi: str) -> dict[int, list[float]]:
    """The quarters on which each pitch is struck, from a MIDI file in base 64."""
    data = base64.b64decode(midi)
    if data[:4] != b"MThd" or len(data) < 14:
        raise NotationError("expected MIDI from the engraver, got something else")
    a_quarter = int.from_bytes(data[12:14], "big")
    found: dict[int, list[float]] = defaultdict(list)
    at = 14
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        if data[at : at + 4] == b"MTrk":
            _read_track(data[at + 8 : at + 8 + size], a_quarter, found)
        at += 8 + size
    return found


def _read_track(track: bytes, a_quarter: int, found: dict[int, list[float]]) -> None:
    at, ticks, status = 0, 0, 0
    while at < len(track):
        step, at = _number(track, at)
        ticks += step
        if track[at] & 0x80:
            status, at = track[at], at + 1
        if status >= 0xF0:  # something about the piece (0xFF has a kind first) or the instrument
            size, at = _number(track, at + (status == 0xFF))
            at += size
            continue
        if status & 0xF0 == 0x90 and track[at + 1] > 0:
            found[track[at]].append(ticks / a_quarter)
        at += 1 if status & 0xF0 in (0xC0, 0xD0) else 2


def _number(track: bytes, at: int) -> tuple[int, int]:
    """A number of MIDI, seven bits a byte, and where what follows it is."""
    value = 0
    while True:
        value = value << 7 | track[at] & 0x7F
        at += 1
        if not track[at - 1] & 0x80:
            return value, at
