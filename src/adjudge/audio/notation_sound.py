"""Notation as sound: every note struck on a plain piano, exactly when the drawing's timeline says.

The instrument is the demo's piano (``synthesis_voices``), the same for every piece, without a room and without
expression: what listeners compare is the music and not its performance. Loudness is left to the pipeline of clips.

A clip begins with a tenth of a second of silence, so that no player swallows the first attack, and ends with the last
note dying away; ``clip_times`` moves the timeline accordingly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from adjudge.arrays import Floats
from adjudge.audio.notation import Engraved
from adjudge.audio.synthesis_voices import INSTRUMENTS, tone

RATE = 44100
LEAD, TAIL = 0.1, 0.6  # seconds before the first beat and after the last
LEAST_SECONDS = 1.0  # of a clip
HELD = 0.06  # seconds at least that a note sounds, however short it is written
LEVEL = 0.12

Timeline = list[tuple[float, float, tuple[str, ...]]]


def clip_times(engraved: Engraved) -> Timeline:
    """When the notes of the drawing sound in the clip: start and end in seconds, and which.

    >>> from adjudge.audio.notation import engrave
    >>> clip_times(engrave("%G-2@c '4CD"))
    [(0.1, 0.7, ('n1',)), (0.7, 1.3, ('n2',))]
    """
    return [(round(LEAD + one.start, 4), round(LEAD + one.end, 4), one.ids) for one in engraved.notes]


def render(engraved: Engraved, *, rate: int = RATE) -> Floats:
    """The sound: samples x 2, silence where there are only rests.

    >>> from adjudge.audio.notation import engrave
    >>> render(engrave("%G-2@c '4CDEF")).shape  # four quarters of 0.6 s, and what is before and after them
    (136710, 2)
    """
    length = round(max(LEAST_SECONDS, LEAD + engraved.seconds + TAIL) * rate)
    mix = np.zeros((2, length), dtype=np.float32)
    known: dict[tuple[int, int], NDArray[np.float32]] = {}
    for note in engraved.notes:
        held = max(HELD, note.end - note.start)
        start = round((LEAD + note.start) * rate)
        for pitch in note.pitches:
            key = pitch, round(held * rate)
            if key not in known:
                known[key] = _struck(pitch, held, rate)
            wave = known[key][:, : length - start]
            mix[:, start : start + wave.shape[1]] += wave
    return np.asarray(_faded(mix, rate).T, dtype=np.float64)


def _struck(pitch: int, held: float, rate: int) -> NDArray[np.float32]:
    """One note; high ones are a little softer, as they are on a piano."""
    softer = 2 ** ((60 - pitch) / 48)
    frequency = 440 * 2 ** ((pitch - 69) / 12)
    wave = tone(INSTRUMENTS["piano"], frequency, held, rate=rate, brightness=-0.06)
    return np.asarray(np.broadcast_to(wave, (2, wave.shape[1])) * np.float32(LEVEL * softer), dtype=np.float32)


def _faded(mix: NDArray[np.float32], rate: int) -> NDArray[np.float32]:
    """The last tenth of a second fades out."""
    n = min(mix.shape[1], rate // 10)
    mix[:, mix.shape[1] - n :] *= np.linspace(1, 0, n, dtype=np.float32)
    return mix


def sounding(times: Sequence[tuple[float, float, tuple[str, ...]]], seconds: float) -> set[str]:
    """Which notes sound at a moment of the clip; what a page lights up.

    >>> sounding([(0.1, 0.7, ("n1",)), (0.7, 1.3, ("n2", "n3"))], 0.9) == {"n2", "n3"}
    True
    """
    return {name for start, end, ids in times if start <= seconds < end for name in ids}
