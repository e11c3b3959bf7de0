"""The demo's compositions: from an artist's habits to notes in time.

A piece repeats its artist's progression, accompaniment, bass and drums bar after bar, and has a melody of its own. The
melody is one bar of rhythm and contour, heard four times a phrase as A A B A: each time it starts from a tone of the
chord, moves through the scale by the same steps, and rests on tones of the chord wherever it lands on a beat or stays,
so that it is always at home in the harmony. A second voice, where there is one, takes the next tone of the chord below.

Times in seconds, pitches in MIDI semitones (60 is middle C, 69 is 440 Hz), strengths from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adjudge.audio.synthesis_styles import MODES, Style, Traits, chord

COMP_BELOW, BASS_LOW = 15, 31  # semitones from melody to accompaniment; the lowest root of the bass (G1)
REACH = 9  # semitones that a melody leaves its register by, up or down
STEADINESS = 0.004  # seconds: standard deviation of a player's timing
STEPS = (-3, -2, -1, -1, 1, 1, 2, 3)  # a contour moves mostly by one step of the scale
STRENGTHS = {"X": 1.0, "x": 0.8, "m": 0.75, "o": 0.4}


class Note(NamedTuple):
    """A tone: when, for how long, how high, how strong, and the semitones it glides in from."""

    start: float
    held: float
    pitch: float
    strength: float = 0.8
    bend: float = 0.0


class Stroke(NamedTuple):
    """A stroke of a drum."""

    start: float
    drum: str
    strength: float


@dataclass(frozen=True)
class Habits:
    """How an artist plays a piece: the style, what was chosen from it, and the traits of the piece.

    ``key`` is the tonic in semitones above C, ``voices`` whether the melody has a second voice, ``tuning`` a factor on
    the pitch of the drums.
    """

    style: Style
    traits: Traits
    lead: str
    comp: str
    bass: str
    pad: str
    progression: str
    comp_pattern: str
    bass_pattern: str
    drums: str
    key: int
    voices: bool
    tuning: float


@dataclass(frozen=True)
class Score:
    """The notes of every part, by name (lead, comp, pad, bass), and the strokes of the drums."""

    parts: dict[str, list[Note]]
    strokes: list[Stroke]


def compose(habits: Habits, seconds: float, rng: np.random.Generator) -> Score:
    """Write a piece of at least ``seconds``: whole bars, the last of which may end later."""
    setting = _Setting(habits)
    bars = range(int(np.ceil(seconds / setting.bar_seconds)))
    melody = list(_melody(setting, bars, rng))
    parts = {
        "lead": melody + (list(_second_voice(setting, melody)) if habits.voices else []),
        "comp": [note for bar in bars for note in _accompaniment(setting, bar)],
        "pad": [note for bar in bars for note in _pad(setting, bar)] if habits.pad else [],
        "bass": [note for bar in bars for note in _bass(setting, bar)],
    }
    strokes = [stroke for bar in bars for stroke in _beat(setting, bar)]
    loose = {name: [_humanised(note, rng) for note in notes] for name, notes in parts.items()}
    return Score(loose, strokes)


class _Setting:
    """Where things are: steps in time, chords and scale in pitch."""

    def __init__(self, habits: Habits) -> None:
        self.habits, self.style, self.traits = habits, habits.style, habits.traits
        mode, chords = habits.progression.split(": ")
        self.chords = [chord(numeral) for numeral in chords.split()]
        self.n_steps = self.style.beats * self.style.steps
        self.beat = 60 / self.traits.tempo
        self.bar_seconds = self.style.beats * self.beat
        self.swung = 0.5 + self.traits.swing / 6  # where the second half of a swung pair begins
        self.pair = 1.0 if self.style.traits.tempo >= 100 else 0.5  # beats: swung eighths, or sixteenths when slow
        low, high = round(self.traits.register) - REACH, round(self.traits.register) + REACH
        self.classes = {(habits.key + tone) % 12 for tone in MODES[mode]}
        self.scale = [pitch for pitch in range(low, high + 1) if pitch % 12 in self.classes]

    def time(self, bar: int, step: float) -> float:
        """When a step of a bar sounds, swung, and with the beat wavering where it does."""
        position = step / self.style.steps
        if self.style.steps == 4:
            pair, inside = divmod(position, self.pair)
            inside /= self.pair
            early = inside * 2 * self.swung
            late = self.swung + (inside - 0.5) * 2 * (1 - self.swung)
            position = (pair + (early if inside < 0.5 else late)) * self.pair
        position += self.style.rubato * np.sin(2 * np.pi * position / self.style.beats)
        return float(bar * self.bar_seconds + position * self.beat)

    def chord(self, bar: int, step: int) -> tuple[int, ...]:
        part = step * self.style.chords_per_bar // self.n_steps
        return self.chords[(bar * self.style.chords_per_bar + part) % len(self.chords)]

    def near_chord_tone(self, pitch: float, bar: int, step: int) -> int:
        """The tone of the chord nearest to a pitch; of two as near, the lower."""
        chord = self.chord(bar, step)
        tones = {(self.habits.key + tone) % 12 for tone in chord}
        if len(tones) == 2:  # a power chord, which leaves the third to the scale
            tones |= {(self.habits.key + chord[0] + third) % 12 for third in (3, 4)} & self.classes
        at = round(pitch)
        return min((p for p in range(at - 6, at + 7) if p % 12 in tones), key=lambda p: (abs(p - at), p))

    def events(self, pattern: str, bar: int) -> Iterator[tuple[int, str, float, float]]:
        """Step, sign, start and length (seconds) of every event of a bar's pattern."""
        starts = [step for step, sign in enumerate(pattern) if sign not in "-."]
        for step in starts:
            rest = pattern[step + 1 :]
            length = 1 + len(rest) - len(rest.lstrip("-"))
            start = self.time(bar, step)
            yield step, pattern[step], start, self.time(bar, step + length) - start


def _melody(setting: _Setting, bars: range, rng: np.random.Generator) -> Iterator[Note]:
    rhythms = setting.style.rhythms
    dense = int(np.clip(setting.traits.density * len(rhythms), 0, len(rhythms) - 1))
    other = min(len(rhythms) - 1, dense + 1) if dense == 0 or rng.random() < 0.5 else dense - 1
    contours = rng.choice(STEPS, size=(2, setting.n_steps))
    arc = rng.permutation([0, 2, 4]).tolist()
    place = float(setting.traits.register)
    for bar in bars:
        answer = bar % 4 == 2
        pattern, contour = rhythms[other if answer else dense], contours[int(answer)]
        begin = setting.traits.register - 2 + [arc[0], arc[0], arc[1], arc[2]][bar % 4]
        place = setting.near_chord_tone((begin + place) / 2, bar, 0)
        for number, (step, _, start, length) in enumerate(setting.events(pattern, bar)):
            last, place = place, _moved(setting, place, int(contour[number])) if number else place
            if step % setting.style.steps == 0 or length >= setting.beat:
                place = setting.near_chord_tone(place, bar, step)
                if number and place == last:  # keep moving
                    place = setting.near_chord_tone(last + 4 * np.sign(contour[number]), bar, step)
            bend = float(rng.choice([-2, -1])) if rng.random() < setting.style.bends else 0.0
            strength = 0.9 if step == 0 else 0.8 if step % setting.style.steps == 0 else 0.65
            yield Note(start, length * setting.traits.legato, place, strength, bend)


def _moved(setting: _Setting, pitch: float, steps: int) -> float:
    """A pitch some steps along the scale, turned back at the ends of the melody's reach."""
    scale = setting.scale
    at = int(np.argmin(np.abs(np.array(scale) - pitch)))
    to = at + steps
    return scale[to if 0 <= to < len(scale) else at - steps]


def _second_voice(setting: _Setting, melody: list[Note]) -> Iterator[Note]:
    """Below the melody by a third or more, in the chord that sounds."""
    for note in melody:
        bar, rest = divmod(note.start + 0.01, setting.bar_seconds)
        step = min(setting.n_steps - 1, int(rest / setting.beat * setting.style.steps))
        below = setting.near_chord_tone(note.pitch - 4, int(bar), step)
        yield note._replace(pitch=below if note.pitch - below >= 3 else below - 12, strength=0.6 * note.strength)


def _voicing(setting: _Setting, tones: tuple[int, ...], centre: int) -> list[int]:
    """A chord around a pitch, low to high, every tone in its nearest octave; a power chord stays as it is built."""
    roots = [setting.habits.key + tone for tone in tones]
    if tones[-1] - tones[0] == 12:
        low = centre - 12 + (roots[0] - centre) % 12
        return [low + tone - tones[0] for tone in tones]
    return sorted(centre - 6 + (root - centre + 6) % 12 for root in roots)


def _accompaniment(setting: _Setting, bar: int) -> Iterator[Note]:
    centre = round(setting.traits.register) - COMP_BELOW
    for step, sign, start, length in setting.events(setting.habits.comp_pattern, bar):
        pitches = _voicing(setting, setting.chord(bar, step), centre)
        held = length * (0.45 if sign == "m" else min(0.97, setting.traits.legato + 0.1))
        if sign.isdigit():
            octaves, tone = divmod(int(sign), len(pitches))
            yield Note(start, held, pitches[tone] + 12 * octaves, 0.8 if step % setting.style.steps == 0 else 0.6)
            continue
        chosen = pitches[:2] if sign == "m" else pitches
        for number, pitch in enumerate(chosen):  # from the bottom, as a hand strums
            yield Note(start + 0.009 * number, held, pitch, STRENGTHS[sign])


def _pad(setting: _Setting, bar: int) -> Iterator[Note]:
    per_bar = setting.style.chords_per_bar
    for part in range(per_bar):
        first, last = part * setting.n_steps // per_bar, (part + 1) * setting.n_steps // per_bar
        start, end = setting.time(bar, first), setting.time(bar, last)
        for pitch in _voicing(setting, setting.chord(bar, first), 60):
            yield Note(start, end - start, pitch, 0.7)


def _bass(setting: _Setting, bar: int) -> Iterator[Note]:
    for step, sign, start, length in setting.events(setting.habits.bass_pattern, bar):
        tones = setting.chord(bar, step)
        root = BASS_LOW + (setting.habits.key + tones[0] - BASS_LOW) % 12
        if sign == "a":
            pitch = _leading(setting, bar, root)
        else:
            tone = int(sign)
            pitch = root + (12 if tone == 3 and len(tones) < 4 else tones[min(tone, len(tones) - 1)] - tones[0])
        yield Note(start, length * 0.92, pitch, 0.9 if step == 0 else 0.75)


def _leading(setting: _Setting, bar: int, root: int) -> int:
    """A tone that leads to the root of the next bar: of its two neighbours in the scale, the nearer."""
    target = BASS_LOW + (setting.habits.key + setting.chord(bar + 1, 0)[0] - BASS_LOW) % 12
    near = [pitch for pitch in range(target - 4, target + 5) if pitch % 12 in setting.classes and pitch != target]
    return min(near, key=lambda pitch: (abs(pitch - target), abs(pitch - root))) if near else target


def _beat(setting: _Setting, bar: int) -> Iterator[Stroke]:
    for lane in setting.habits.drums.split():
        name, pattern = lane.split(":")
        for _, sign, start, _ in setting.events(pattern, bar):
            yield Stroke(start, name, STRENGTHS[sign])


def _humanised(note: Note, rng: np.random.Generator) -> Note:
    early, firm = rng.normal(size=2)
    strength = float(np.clip(note.strength + 0.04 * firm, 0.1, 1.0))
    return note._replace(start=max(0.0, note.start + STEADINESS * float(early)), strength=strength)
