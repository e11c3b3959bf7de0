"""ABC as MEI: the part of ABC that one melody needs, read strictly.

The engraver's own reader of ABC loses tuplets, broken rhythms, lengths of chords and accidentals inside a bar, and some
of what people write ends its process; what it is given is therefore MEI that is made here. Read are: one tune in one
voice; the fields M, L, Q and K (also inside the tune, between bars); notes, chords, rests, ties, tuplets, broken
rhythm, grace notes, bars and repeats. Words, chord symbols and decorations are passed over. What would change the
music and is not read is refused: several voices, overlays, first and second endings, macros.

Reference: Walshaw, "The ABC music standard 2.1" (2011).

The MEI that a tune of ABC becomes: its bars, with their tuplets and beams, in a score of one staff.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from adjudge.audio.notation.checks import Checked, NotationError
from adjudge.errors import shown


@dataclass
class Event:
    """Something of a bar as MEI, with what grouping needs to know."""

    xml: str
    beams: bool
    joined: bool  # to what stands before it, without a space between them
    tuplet: int  # 0 outside


@dataclass
class Measure:
    """A bar as it fills."""

    before: str = ""
    left: str = ""
    events: list[Event] = field(default_factory=list)
    ties: list[str] = field(default_factory=list)


def grouped(events: Sequence[Event], ratios: Mapping[int, tuple[int, int]]) -> str:
    """The events of a bar, in their tuplets and beams; ``ratios`` are those of the tuplets: so many in the time of."""
    out, at = "", 0
    while at < len(events):
        end = at
        while end < len(events) and events[end].tuplet == events[at].tuplet:
            end += 1
        inside = _beamed(events[at:end])
        if events[at].tuplet:
            number, time = ratios[events[at].tuplet]
            inside = f'<tuplet num="{number}" numbase="{time}">{inside}</tuplet>'
        out, at = out + inside, end
    return out


def _beamed(events: Sequence[Event]) -> str:
    """Short notes that stand together, under one beam."""
    out, at = "", 0
    while at < len(events):
        end = at + 1
        while end < len(events) and events[at].beams and events[end].beams and events[end].joined:
            end += 1
        inside = "".join(event.xml for event in events[at:end])
        out, at = out + (f"<beam>{inside}</beam>" if end - at > 1 else inside), end
    return out


def mei_of(measures: Sequence[str], head: Mapping[str, str], clef: tuple[str, int]) -> str:
    """A score of bars; ``head`` has its first key and meter."""
    about = " ".join(f'{name}="{value}"' for name, value in head.items())
    shape, line = clef
    staff = f'<staffGrp><staffDef n="1" lines="5" clef.shape="{shape}" clef.line="{line}"/></staffGrp>'
    return (
        '<mei xmlns="http://www.music-encoding.org/ns/mei" meiversion="5.0"><meiHead><fileDesc><titleStmt><title/>'
        "</titleStmt><pubStmt/></fileDesc></meiHead><music><body><mdiv><score>"
        f"<scoreDef {about}>{staff}</scoreDef><section>{''.join(measures)}</section>"
        "</score></mdiv></body></music></mei>"
    )


LONGEST = Fraction(64)  # of one note, in wholes
_SHARPS = "fcgdaeb"
_FIFTHS = {"C": 0, "G": 1, "D": 2, "A": 3, "E": 4, "B": 5, "F#": 6, "C#": 7, "F": -1, "Bb": -2, "Eb": -3, "Ab": -4,
           "Db": -5, "Gb": -6, "Cb": -7, "G#": 8, "D#": 9, "A#": 10}  # fmt: skip
_MODES = {
    "": 0,
    "maj": 0,
    "ion": 0,
    "lyd": 1,
    "mix": -1,
    "dor": -2,
    "m": -3,
    "min": -3,
    "aeo": -3,
    "phr": -4,
    "loc": -5,
}
_CLEFS = {"treble": ("G", 2), "alto": ("C", 3), "tenor": ("C", 4), "bass": ("F", 4)}
_ACCIDENTALS = {"^": "s", "^^": "x", "=": "n", "_": "f", "__": "ff"}
_BARS = {"|": "single", "||": "dbl", "|]": "end", "[|": "dbl", ":|": "rptend", "|:": "dbl", "::": "rptend"}
_LENGTH = r"([0-9]*)(/*)([0-9]*)"
_PITCH = r"(\^\^|\^|__|_|=)?([A-Ga-g])([,']*)"
_NOTE = re.compile(_PITCH + _LENGTH + r"(-?)")
_REST = re.compile(r"([zx])" + _LENGTH)
_CHORD = re.compile(r"\[((?:[\^_=]*+[A-Ga-g][,']*+[0-9]*+/*+[0-9]*+-?+\s*+)++)\]" + _LENGTH + r"(-?)")
_GRACE = re.compile(r"\{/?([^}\n]*)\}")
_TUPLET = re.compile(r"\(([0-9])(?::([0-9]*))?(?::([0-9]*))?")
_BAR = re.compile(r":\|+:|::|\|\]|\[\||\|\||:\||\|:|\|")
_PASSED = re.compile(r'"[^"\n]*"|![^!\n]*!|\+[^+\n]+\+|[.~HLMOPSTuvy`()$\\]|\s')
_Pitch = tuple[str, str, int]  # the accidental that is written, the letter, the octave; all empty for a rest
_Place = tuple[str, int]  # letter and octave
_BROKEN = re.compile(r"\s*(>{1,3}|<{1,3})")


def read_abc(text: str, *, source: str | None = None, first: int = 1) -> Checked:
    r"""A tune of ABC as MEI for the engraver, and its tempo.

    >>> read_abc("X:1\nL:1/4\nQ:1/4=90\nK:G\nGABc|").tempo
    90.0
    """
    return _Reader(text, source, first).read()


class _Reader:
    """Reads a tune from its first line to its last."""

    def __init__(self, text: str, source: str | None, first: int) -> None:
        self.rows = list(enumerate(text.split("\n"), start=first))
        self.source = source
        self.line = first
        self.unit: Fraction | None = None
        self.meter = Fraction(1)
        self.tempo: tuple[Fraction | None, float] | None = None
        self.head: dict[str, str] = {}
        self.clef = ("G", 2)
        self.key = 0
        self.voice: str | None = None
        self.measures: list[str] = []
        self.measure = Measure()
        self.altered: dict[_Place, str] = {}
        self.tied: dict[_Place, tuple[str, str]] = {}  # name of the note and its accidental
        self.n_notes = 0
        self.broken = Fraction(1)  # what > or < left for the next note
        self.left_in_tuplet, self.tuplet, self.ratios = 0, 0, dict[int, tuple[int, int]]()
        self.joined = False

    def fail(self, wanted: str, came: str) -> NoReturn:
        """Say what is wrong with the line that is being read."""
        raise NotationError(f"expected {wanted}, got {shown(came)}", source=self.source, line=self.line)

    def read(self) -> Checked:
        """The whole tune."""
        in_tune = False
        for number, row in self.rows:
            self.line = number
            plain = re.sub(r"(?<!\\)%.*", "", row).rstrip()
            named = re.match(r"\s*([A-Za-z]):\s*(.*)", plain)
            if named and not (in_tune and named[1] in "abcdefgz"):
                in_tune = self._field(named[1], named[2], in_tune=in_tune)
            elif in_tune and plain.strip():
                self._music(plain)
            elif plain.strip():
                self.fail("a field such as K:C before the notes", plain.strip())
        if not in_tune:
            self.fail("a key (K:), after which the notes begin", "none")
        if self.measure.events:
            self._bar("|", final=True)
        if not self.n_notes and not self.measures:
            self.fail("notes after the key", "none")
        beat, count = self.tempo or (None, 0.0)
        tempo = None if self.tempo is None else float(count * (beat or self._unit) * 4)
        return Checked("abc", mei_of(self.measures, self.head, self.clef), {}, tempo, "mei")

    # ---------- fields ----------

    def _field(self, name: str, value: str, *, in_tune: bool) -> bool:
        """Heed a field; whether the notes have begun."""
        if name == "X" and in_tune:
            self.fail("one tune", f"another (X:{value})")
        if name in "mU" or (name == "V" and self.voice not in (None, value.partition(" ")[0])):
            self.fail("one voice and no macros", f"{name}:{value}")
        if name == "V":
            self.voice = value.partition(" ")[0]
        elif name == "L":
            self.unit = self._fraction(value)
        elif name == "M":
            self._change(self._meter(value), in_tune=in_tune)
        elif name == "Q":
            self._tempo(value, in_tune=in_tune)
        elif name == "K":
            self.unit = self._unit
            self._change(self._key(value), in_tune=in_tune)
            return True
        return in_tune

    def _change(self, attributes: str, *, in_tune: bool) -> None:
        """A new meter or key: for the whole tune, or from the next bar on."""
        if in_tune and self.measure.events:
            self.fail("changes of key or meter between bars", "one inside a bar")
        if in_tune:
            self.measure.before += f"<scoreDef {attributes}/>" if attributes else ""
        else:
            self.head.update(re.findall(r'(\S+)="([^"]*)"', attributes))

    def _fraction(self, value: str) -> Fraction:
        found = re.fullmatch(r"([0-9]{1,3})\s*/\s*([0-9]{1,3})", value.strip())
        if found is None or not int(found[1]) or not int(found[2]):
            self.fail("a length such as 1/8", value)
        return Fraction(int(found[1]), int(found[2]))

    def _meter(self, value: str) -> str:
        plain = value.strip()
        if plain in ("C", "C|"):
            self.meter = Fraction(1)
            return 'meter.sym="common" meter.count="4" meter.unit="4"' if plain == "C" else (
                'meter.sym="cut" meter.count="2" meter.unit="2"')  # fmt: skip
        if plain in ("", "none"):
            return ""
        found = re.fullmatch(r"\(?([0-9]{1,2})\)?/([0-9]{1,2})", plain)
        if found is None or not int(found[1]) or int(found[2]) not in (1, 2, 4, 8, 16, 32, 64):
            self.fail("a meter such as 4/4, C or 6/8", value)
        self.meter = Fraction(int(found[1]), int(found[2]))
        return f'meter.count="{found[1]}" meter.unit="{found[2]}"'

    def _tempo(self, value: str, *, in_tune: bool) -> None:
        plain = re.sub(r'"[^"]*"', "", value).strip()
        found = re.fullmatch(r"(?:([0-9]{1,2}/[0-9]{1,2})\s*=\s*)?([0-9]{1,3})", plain)
        if (plain and found is None) or (found and not 10 <= int(found[2]) <= 600):
            self.fail("a tempo such as 1/4=100", value)
        if found and in_tune and (self.measures or self.measure.events):
            self.fail("one tempo for the whole tune", value)
        if found:
            self.tempo = (self._fraction(found[1]) if found[1] else None, float(found[2]))

    def _key(self, value: str) -> str:
        for name, clef in _CLEFS.items():
            if re.search(rf"\b{name}\b", value):
                self.clef = clef
        plain = re.sub(r"(clef=)?\b(treble|alto|tenor|bass)\b\S*|\b(middle|octave|transpose|stafflines)=\S+", "", value)
        if re.search(r"(treble|bass|alto|tenor)[-+]8|octave=|transpose=", value):
            self.fail("a clef without a transposition", value)
        found = re.fullmatch(r"([A-G][#b]?)\s*([A-Za-z]*)", plain.strip()) or re.fullmatch(r"(none)()", plain.strip())
        mode = found[2].lower()[: 1 if found[2] == "m" else 3] if found else ""
        if found is None or mode not in _MODES:
            self.fail("a key such as G, Am or Ddor", value)
        fifths = (0 if found[1] == "none" else _FIFTHS.get(found[1], 99)) + _MODES[mode]
        if not -7 <= fifths <= 7:
            self.fail("a key of at most seven accidentals", value)
        self.key = fifths
        return f'keysig="{abs(fifths)}{"s" if fifths > 0 else "f" if fifths else ""}"'

    @property
    def _unit(self) -> Fraction:
        return self.unit or (Fraction(1, 8) if self.meter >= Fraction(3, 4) else Fraction(1, 16))

    # ---------- notes ----------

    def _music(self, row: str) -> None:
        at = 0
        self.joined = False
        while at < len(row):
            at = self._token(row, at)

    def _token(self, row: str, at: int) -> int:
        """Read one thing; where the next one is."""
        if field_here := re.compile(r"\[([A-Za-z]):([^\]]*)\]").match(row, at):
            self._field(field_here[1], field_here[2].strip(), in_tune=True)
            return field_here.end()
        if found := _BAR.match(row, at):
            if re.compile(r"\s*+[0-9]").match(row, found.end()):
                self.fail("music without first and second endings", row[at : found.end() + 2])
            self._bar(found[0])
            return found.end()
        if found := _TUPLET.match(row, at):
            self._begin_tuplet(found)
            return found.end()
        if found := _GRACE.match(row, at):
            self._grace(found[1])
            return found.end()
        if found := _CHORD.match(row, at):
            return self._sounding(row, found.end(), _NOTE.findall(found[1]), found.groups()[1:])
        if found := _NOTE.match(row, at):
            return self._sounding(row, found.end(), [(*found.groups("")[:3], "", "", "", "")], found.groups()[3:])
        if found := _REST.match(row, at):
            return self._written(row, found.end(), [("", "", 0)], self._length(found.groups()[1:]))
        if found := re.compile(r"Z([0-9]{0,3})").match(row, at):
            self._whole_rests(int(found[1] or 1))
            return found.end()
        if found := _PASSED.match(row, at):
            self.joined = self.joined and not found[0].isspace()
            return found.end()
        return self.fail("notes of ABC", row[at : at + 12])

    def _written(self, row: str, at: int, pitches: list[_Pitch], units: Fraction, *, tied: bool = False) -> int:
        """Write what was read up to ``at``, made longer or shorter by > and <; where the next thing is."""
        units, self.broken = units * self.broken, Fraction(1)
        found = _BROKEN.match(row, at)
        if found is not None:
            part = Fraction(1, 2 ** len(found[1]))
            mine, self.broken = (2 - part, part) if found[1][0] == ">" else (part, 2 - part)
            units *= mine
        self._put(pitches, units * self._unit, tied=tied)
        self.joined = True
        return at if found is None else found.end()

    def _length(self, groups: tuple[str, ...]) -> Fraction:
        above, slashes, below = groups
        if len(above) > 3 or len(below) > 3 or len(slashes) > 7 or not int(above or 1) or not int(below or 1):
            self.fail("a length such as 2, 3/2 or /", "".join(groups))
        divided = int(below) if below else 2 ** len(slashes)
        return Fraction(int(above or 1), divided if slashes else 1)

    def _sounding(self, row: str, at: int, notes: list[tuple[str, ...]], end: tuple[str, ...]) -> int:
        """A note or a chord; ``end`` is its length and its tie. A chord's length is its first note's, times its own."""
        pitches = [self._pitch(sign, letter, marks) for sign, letter, marks, *_ in notes]
        units = self._length(notes[0][3:6]) * self._length(end[:3])
        return self._written(row, at, pitches, units, tied=bool(end[3]) or any(note[6] for note in notes))

    def _pitch(self, sign: str, letter: str, marks: str) -> _Pitch:
        """The accidental that is written, the letter, and the octave; 4 begins with middle C."""
        if len(marks) > 4:
            self.fail("at most four marks of octaves", letter + marks)
        octave = (5 if letter.islower() else 4) + marks.count("'") - marks.count(",")
        return sign, letter.lower(), octave

    def _put(self, pitches: list[_Pitch], length: Fraction, *, tied: bool) -> None:
        """Write a note, chord or rest of so many wholes; one that no single sign has as several, tied."""
        parts = self._parts(length)
        number = self.tuplet if self.left_in_tuplet else 0
        for place, (value, dots) in enumerate(parts):
            goes_on = tied or place + 1 < len(parts)
            xml = self._xml(pitches, value, dots, goes_on=goes_on and pitches[0][1] != "")
            short = int(value) >= 8 if value.isdigit() else False
            self.measure.events.append(Event(xml, short and pitches[0][1] != "", self.joined, number))
        if self.left_in_tuplet:
            self.left_in_tuplet -= 1

    def _parts(self, length: Fraction) -> list[tuple[str, int]]:
        if length > LONGEST:
            self.fail("a shorter note", f"one of {length} wholes")
        values = {Fraction(4): "long", Fraction(2): "breve"} | {Fraction(1, 2**n): str(2**n) for n in range(8)}
        known = {
            value * (2 - Fraction(1, 2**dots)): (name, dots) for value, name in values.items() for dots in range(3)
        }
        if length in known:
            return [known[length]]
        parts: list[tuple[str, int]] = []
        for whole in sorted(values, reverse=True):
            while length >= whole and len(parts) < 40:
                parts.append((values[whole], 0))
                length -= whole
        if length or not parts:
            self.fail("a length that notes can have", str(length))
        return parts

    def _xml(self, pitches: list[_Pitch], value: str, dots: int, *, goes_on: bool) -> str:
        shape = f'dur="{value}"' + (f' dots="{dots}"' if dots else "")
        if not pitches[0][1]:
            self.tied = {}
            return f"<rest {shape}/>"
        held, self.tied = self.tied, {}
        notes = [self._note(pitch, "" if len(pitches) > 1 else shape, held, goes_on=goes_on) for pitch in pitches]
        return notes[0] if len(notes) == 1 else f"<chord {shape}>{''.join(notes)}</chord>"

    def _note(self, pitch: _Pitch, shape: str, held: dict[_Place, tuple[str, str]], *,
              goes_on: bool, grace: bool = False) -> str:  # fmt: skip
        """One note: its accidental is that written, else that of the note tied to it, of its bar, or of the key."""
        sign, letter, octave = pitch
        place = letter, octave
        before = held.get(place)
        if sign:
            self.altered[place] = _ACCIDENTALS[sign]
        sounding = self.altered.get(place, self._of_key(letter))
        if before is not None and not sign:
            sounding = before[1]
        self.n_notes += 1
        name = f"a{self.n_notes}"
        if before is not None:
            self.measure.ties.append(f'<tie startid="#{before[0]}" endid="#{name}"/>')
        if goes_on:
            self.tied[place] = (name, sounding)
        written = f' accid="{_ACCIDENTALS[sign]}"' if sign else f' accid.ges="{sounding}"' if sounding != "n" else ""
        small = ' grace="unacc"' if grace else ""
        return f'<note xml:id="{name}" pname="{letter}" oct="{octave}" {shape}{small}{written}/>'

    def _of_key(self, letter: str) -> str:
        if self.key > 0:
            return "s" if letter in _SHARPS[: self.key] else "n"
        return "f" if letter in _SHARPS[::-1][: -self.key] else "n"

    def _grace(self, inside: str) -> None:
        """Grace notes, of whatever length they are written, as short ones before the next."""
        for sign, letter, marks, *_ in _NOTE.findall(inside):
            xml = self._note(self._pitch(sign, letter, marks), 'dur="8"', {}, goes_on=False, grace=True)
            self.measure.events.append(Event(xml, False, True, self.tuplet if self.left_in_tuplet else 0))

    def _begin_tuplet(self, found: re.Match[str]) -> None:
        number = int(found[1])
        compound = self.meter.denominator == 8 and self.meter.numerator % 3 == 0
        usual = {2: 3, 3: 2, 4: 3, 6: 2, 8: 3}.get(number, 3 if compound else 2)
        time, notes = int(found[2] or usual), int(found[3] or number)
        if self.left_in_tuplet or not number or not time or not notes:
            self.fail("a tuplet such as (3", found[0])
        self.tuplet += 1
        self.ratios[self.tuplet] = (number, time)
        self.left_in_tuplet = notes

    # ---------- bars ----------

    def _whole_rests(self, number: int) -> None:
        if not 0 < number <= 100 or self.measure.events:
            self.fail("rests of 1 to 100 bars, at the beginning of one", f"Z{number}")
        for place in range(number):
            self.measure.events.append(Event("<mRest/>", False, False, 0))
            if place + 1 < number:
                self._bar("|")

    def _bar(self, sign: str, *, final: bool = False) -> None:
        """End a bar, and begin the next."""
        if self.left_in_tuplet:
            self.fail("all notes of a tuplet in one bar", sign)
        again = sign.endswith(":")
        kind = _BARS.get("::" if sign.startswith(":") and again else sign, "single")
        if self.measure.events:
            right = "invis" if final else kind
            left = f' left="{self.measure.left}"' if self.measure.left else ""
            inside = grouped(self.measure.events, self.ratios)
            layer = f'<staff n="1"><layer n="1">{inside}</layer></staff>' + "".join(self.measure.ties)
            number = len(self.measures) + 1
            self.measures.append(f'{self.measure.before}<measure n="{number}"{left} right="{right}">{layer}</measure>')
            self.measure = Measure()
        if again:
            self.measure.left = "rptstart"
        self.altered = {}
        self.joined = False
