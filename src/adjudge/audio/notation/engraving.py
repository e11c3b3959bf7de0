r"""Music as notation: a drawing that any page can show, and when each of its notes sounds.

Plaine & Easie (the code of RISM's incipits), MusicXML and MEI come in; a clean SVG and a timeline come out, from one
engraver, Verovio (``pip install adjudge[notation]``). It draws whatever it is given, so its input is checked first
(``notation.checks``), its warnings count as errors, and its drawing is cleaned and counted. The same notation gives the
same drawing, to the byte. Music without a tempo of its own goes at 100 quarters per minute.

>>> engraving = engrave("@clef:G-2\n@timesig:4/4\n@data:'4CDE^G2-")
>>> [(note.start, note.end, note.pitches) for note in engraving.notes]
[(0.0, 0.6, (60,)), (0.6, 1.2, (62,)), (1.2, 1.8, (64, 67))]
>>> engraving.seconds, engraving.form, engraving.notes[2].ids
(3.0, 'pae', ('n3', 'n4'))

The drawing is made safe and small: only elements and attributes of a short list are kept, and attributes only with
values of the expected form. Glyphs that the engraver defines once are copied to where they are used, so a drawing
refers to nothing, not even to itself. Everything is drawn in ``currentColor``. Of all identifiers only those of notes
stay, as n1, n2, … in the order of drawing, so that a page can point to the notes that sound.

The engraver says when each note begins and ends; its MIDI says which notes are struck and which are only held (the
second of two tied notes). Both count in quarters. Repeats are played; a note that is played twice is drawn once.

Reference: Pugin, Zitellini and Roland, "Verovio: a library for engraving MEI music notation into SVG", ISMIR 2014.
"""

from __future__ import annotations

import base64
import re
import threading
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.audio.notation.checks import FORMS, CheckedNotation, NotationError, check_notation, named_source
from adjudge.errors import shown
from adjudge.extras import need

SPACE = "http://www.w3.org/2000/svg"
PIXELS = 0.05  # of a page for each unit of the engraver: a staff, of 720 units, is 36 pixels high
MARGIN = 40  # units around everything
_NUMBER = r"-?[0-9]++(?:\.[0-9]++)?+(?:e-?[0-9]++)?+"  # possessive, so no input takes long: shapes may come from users
_NUMBERS = re.compile(rf"(?:{_NUMBER}[\s,]*+)*+")
_PATH = re.compile(r"[MmLlHhVvCcSsQqTtAaZz\d\s,.eE+-]*")
_TRANSFORM = re.compile(rf"(?:(?:translate|scale|rotate|matrix|skewX|skewY)\((?:{_NUMBER}[\s,]*+)*+\)\s*+)*+")
_WORD = re.compile(r"[a-z-]+")
_SIZE = re.compile(rf"{_NUMBER}(?:px)?")
_PAINT = re.compile(r"none|transparent|currentColor")
_SHAPES = ("path", "rect", "ellipse", "circle", "line", "polygon", "polyline")
_CLASSES = ("note", "rest", "notehead", "stem", "accid", "staff", "text")
# Attributes that may stay, and the form of their values; other values are left out.
_ATTRIBUTES = {
    "d": _PATH, "points": _NUMBERS, "transform": _TRANSFORM, "x": _NUMBERS, "y": _NUMBERS, "dx": _NUMBERS,
    "dy": _NUMBERS, "cx": _NUMBERS, "cy": _NUMBERS, "rx": _NUMBERS, "ry": _NUMBERS, "r": _NUMBERS, "x1": _NUMBERS,
    "y1": _NUMBERS, "x2": _NUMBERS, "y2": _NUMBERS, "width": _SIZE, "height": _SIZE, "fill": _PAINT, "stroke": _PAINT,
    "stroke-width": _SIZE, "stroke-linecap": _WORD, "stroke-linejoin": _WORD, "stroke-dasharray": _NUMBERS,
    "fill-opacity": _NUMBERS, "stroke-opacity": _NUMBERS, "text-anchor": _WORD, "font-size": _SIZE,
    "font-style": _WORD, "font-weight": _WORD,
}  # fmt: skip
_FONT_CHARACTERS = {
    "\ue1d5": "♩", "\ueca5": "♩", "\ue1d7": "♪", "\ueca7": "♪", "\ue262": "♯", "\ue260": "♭", "\ue261": "♮",
}  # fmt: skip
NEAR = 0.02  # quarters that the timemap and MIDI may differ, as MIDI counts in ticks
_REPEATED = re.compile(r"-rend\d+$")
TEMPO = 100.0  # quarters per minute, where the source has no tempo
MOST_NOTES = 2000
MOST_SECONDS = 120.0
WIDEST = 1600  # of the engraver's page: longer music continues on the next line
LONGEST_PAGE = 60000
MEASURED_TEMPO = re.compile(r"\bmidi\.bpm=|\bmidi\.mspb=|<tempo [^>]*\bmm=")
_OPTIONS = {
    "adjustPageHeight": True, "adjustPageWidth": True, "header": "none", "footer": "none", "svgViewBox": True,
    "svgRemoveXlink": True, "smuflTextFont": "none", "xmlIdSeed": 1, "pageMarginTop": 0, "pageMarginBottom": 0,
    "pageMarginLeft": 0, "pageMarginRight": 0, "pageHeight": LONGEST_PAGE, "breaks": "none",
}  # fmt: skip
_engraver_lock = threading.Lock()  # the engraver numbers its elements for the whole process


@dataclass(frozen=True)
class Note:
    """Pitches that begin and end together: seconds, the notes of the drawing to highlight, and MIDI pitches.

    A chord has several pitches; a note that is tied to others has the identifiers of all of them.
    """

    start: float
    end: float
    ids: tuple[str, ...]
    pitches: tuple[int, ...]


@dataclass(frozen=True)
class Engraving:
    """A drawing (SVG), its notes as they sound, their duration in seconds, and the form of the notation.

    ``notes`` are in the order in which they begin, in seconds from the beginning of the music; music of rests only has
    none.
    """

    svg: str
    notes: tuple[Note, ...]
    seconds: float
    form: str


def engrave(text: str, *, source: str | None = None, form: str | None = None, line: int = 1) -> Engraving:
    r"""Draw notation, and say when its notes sound.

    ``form`` is pae, musicxml or mei, recognised where it is None. ``source`` is named in errors, with ``line`` where
    the text is only a part of it. At most 2,000 notes and 120 seconds.

    >>> engrave("@clef:G-2\n@data:'4CDZ", source="a.pae")
    Traceback (most recent call last):
    adjudge.audio.notation.checks.NotationError: a.pae:2: expected characters of Plaine & Easie, got 'Z' at ...
    """
    with named_source(source):
        checked = check_notation(text, form=form, line=line)
        with _engraver_lock:
            return _engrave(checked)


def _engrave(checked: CheckedNotation) -> Engraving:
    need("notation", "Notation needs")
    import verovio

    verovio.enableLog(verovio.LOG_OFF)
    verovio.setDefaultResourcePath(str(Path(verovio.__file__).parent / "data"))  # a new thread does not know it
    toolkit = verovio.toolkit()
    toolkit.setOptions(_OPTIONS)
    toolkit.resetXmlIdSeed(1)
    if checked.form == "pae":
        _check_report(toolkit.validatePAE(checked.text), checked)
    toolkit.setInputFrom(checked.form)
    if not toolkit.loadData(checked.text):
        raise NotationError(f"expected {FORMS[checked.form]} that can be drawn, got some that cannot")
    mei = _repair_mei(toolkit, checked.form)
    if (n_notes := mei.count("<note ")) > MOST_NOTES:
        raise NotationError(f"expected at most {MOST_NOTES:,} notes, got {n_notes:,}")
    drawing = _draw(toolkit)
    if not drawing.ids and not drawing.n_rests:
        raise NotationError(f"expected {FORMS[checked.form]} with notes, got none that can be drawn")
    tempo = None if MEASURED_TEMPO.search(mei) else TEMPO
    timemap = toolkit.renderToTimemap({"includeRests": True})
    last = timemap[-1] if timemap else {"qstamp": 0, "tstamp": 0}
    seconds = last["tstamp"] / 1000 if tempo is None else last["qstamp"] * 60 / tempo
    if seconds > MOST_SECONDS:
        raise NotationError(f"expected at most {MOST_SECONDS:g} seconds of music, got {seconds:,.0f}")
    names = [name for event in timemap for name in event.get("on", ())]
    pitches = {name: int(toolkit.getMIDIValuesForElement(name).get("pitch", -1)) for name in names}
    if outside := [pitch for pitch in pitches.values() if not 12 <= pitch <= 120]:
        raise NotationError(f"expected pitches from C0 to C9 (12 to 120 in MIDI), got {outside[0]}")
    notes, seconds = time_notes(timemap, pitches, toolkit.renderToMIDI(), drawing.ids, tempo=tempo)
    return Engraving(drawing.svg, notes, seconds, checked.form)


def _check_report(report: dict[str, Any], checked: CheckedNotation) -> None:
    """Refuse what the engraver would draw wrongly, with its first remark."""
    if not report:
        return
    name, remarks = ("", report) if "text" in report else next(iter(report.items()))
    remark = remarks[0] if isinstance(remarks, list) else remarks
    text = str(remark.get("text", "")).strip().rstrip(".") or "something else"
    column = remark.get("column", -1)
    at = f" (character {column + 1})" if isinstance(column, int) and column > 0 else ""
    came = f"{shown(text, limit=120)[1:-1]}{at}"
    raise NotationError(f"expected Plaine & Easie, got this: {came}", line=checked.lines.get(name))


def _repair_mei(toolkit: Any, form: str) -> str:
    """Correct what the engraver read wrongly, let transposing instruments sound as written, and return the MEI drawn.

    In Plaine & Easie the engraver gives groups of five, six, … notes the time of two instead of four or eight.
    """

    def correct(tuplet: re.Match[str]) -> str:
        base = 1 << max(0, (int(tuplet[1]) - 1).bit_length() - 1)
        return re.sub(r'\bnumbase="\d+"', f'numbase="{base}"', tuplet[0])

    mei = str(toolkit.getMEI())
    repaired = re.sub(r'<tuplet [^>]*\bnum="(\d+)"[^>]*>', correct, mei) if form == "pae" else mei
    repaired = _add_repeat_starts(repaired)
    repaired = re.sub(r' trans\.(?:semi|diat)="[^"]*"', "", repaired)
    if repaired != mei:
        toolkit.setInputFrom("mei")
        toolkit.loadData(repaired)
    return repaired


def _add_repeat_starts(mei: str) -> str:
    """Begin a repeat where the last one ended, unless it has a beginning; the engraver crashes on one without."""
    tags = list(re.finditer(r"<measure\b[^>]*>", mei))
    begins: set[int] = set()
    after: int | None = None  # the bar after the last repeat that ended, until another one begins
    for place, tag in enumerate(tags):
        if 'left="rptstart"' in tag[0] or 'left="rptboth"' in tag[0]:
            after = None
        if re.search(r'right="rpt(?:end|both)"', tag[0]):
            begins |= set() if after is None else {after}
            after = None if 'right="rptboth"' in tag[0] else place + 1
    for place in sorted(begins, reverse=True):
        tag = tags[place]
        plain = re.sub(r' left="[^"]*"', "", tag[0])
        mei = mei[: tag.start()] + plain.replace("<measure", '<measure left="rptstart"', 1) + mei[tag.end() :]
    return mei


def _draw(toolkit: Any) -> Drawing:
    """Draw short music on one line, longer music on several."""
    svg = toolkit.renderToSVG(1)
    box = re.search(r'viewBox="0 0 (\d+)', svg)
    if box and int(box[1]) > WIDEST:
        toolkit.setOptions({"breaks": "auto", "pageWidth": WIDEST})
        toolkit.redoLayout()
        if toolkit.getPageCount() > 1:
            raise NotationError("expected music that fits on one page, got more")
        svg = toolkit.renderToSVG(1)
    return clean_drawing(svg)


@dataclass(frozen=True)
class Drawing:
    """A drawing, our identifiers of its notes by the engraver's, and its number of rests."""

    svg: str
    ids: dict[str, str]
    n_rests: int


def clean_drawing(svg: str) -> Drawing:
    """Clean a drawing of the engraver, so that a page may include it.

    >>> svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><script>alert(1)</script></svg>'
    >>> clean_drawing(svg).svg
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-40 -40 170 170" ... stroke="currentColor" />'
    """
    try:
        root = ET.fromstring(svg)
    except ET.ParseError as error:
        raise NotationError(f"expected a drawing that is XML, got another ({error})") from None
    if root.tag != f"{{{SPACE}}}svg":
        raise NotationError("expected a drawing in SVG, got something else")
    defined = root.iterfind(f"{{{SPACE}}}defs/{{{SPACE}}}g")
    copier = _DrawingCopier({str(glyph.get("id")): glyph.find(f"{{{SPACE}}}path") for glyph in defined})
    box, inner = (root.get("viewBox") or "").split(), root.find(f"{{{SPACE}}}svg")
    try:
        width, height = float(box[2]), float(box[3])
    except (IndexError, ValueError):
        raise NotationError("expected a drawing with a size, got none") from None
    scale = 10.0  # units of the shapes, those of the inner page, per unit of the outer
    if inner is not None and inner.get("viewBox") and width:
        scale = float((inner.get("viewBox") or "0 0 0").split()[2]) / width
    width, height = width * scale, height * scale
    kept = ET.Element("svg", {
        "xmlns": SPACE,
        "viewBox": f"{-MARGIN} {-MARGIN} {width + 2 * MARGIN:g} {height + 2 * MARGIN:g}",
        "width": f"{(width + 2 * MARGIN) * PIXELS:g}", "height": f"{(height + 2 * MARGIN) * PIXELS:g}",
        "fill": "currentColor", "stroke": "currentColor",
    })  # fmt: skip
    for child in root:
        copier.copy(child, kept)
    return Drawing(ET.tostring(kept, encoding="unicode"), copier.ids, copier.n_rests)


class _DrawingCopier:
    """Copies the elements that may stay from one tree to another."""

    def __init__(self, glyphs: dict[str, ET.Element | None]) -> None:
        self.glyphs = glyphs
        self.ids: dict[str, str] = {}
        self.n_rests = 0

    def copy(self, element: ET.Element, parent: ET.Element) -> None:
        """Copy an element and its children, if it may stay."""
        name = str(element.tag).removeprefix(f"{{{SPACE}}}")
        classes = (element.get("class") or "").split()
        if "placeholder" in classes:  # invisible by a style that is not kept, but its children are visible
            for child in element.iterfind(f"{{{SPACE}}}g"):
                self.copy(child, parent)
        elif name == "use":
            self._copy_glyph(element, parent)
        elif name in ("g", "svg"):
            self._copy_group(element, classes, parent)
        elif name in _SHAPES:
            ET.SubElement(parent, name, _keep_attributes(element))
        elif name == "text":
            self._copy_words(element, ET.SubElement(parent, "text", {**_keep_attributes(element), "stroke": "none"}))

    def _copy_group(self, element: ET.Element, classes: list[str], parent: ET.Element) -> None:
        """Copy a group that is not empty; of a group without attributes, only the children."""
        marks = [mark for mark in classes if mark in _CLASSES]
        group = ET.Element("g", {**_keep_attributes(element), **({"class": marks[0]} if marks else {})})
        self.n_rests += any(kind in classes for kind in ("rest", "mRest", "multiRest"))
        name = element.get("id")
        if "note" in classes and name:
            group.set("id", self.ids.setdefault(name, f"n{len(self.ids) + 1}"))
        for child in element:
            self.copy(child, group)
        if len(group) and group.attrib:
            parent.append(group)
        else:
            parent.extend(group)

    def _copy_glyph(self, element: ET.Element, parent: ET.Element) -> None:
        """Copy a glyph to where it is used."""
        name = (element.get("href") or element.get("{http://www.w3.org/1999/xlink}href") or "").removeprefix("#")
        glyph = self.glyphs.get(name)
        if glyph is None:
            return
        own, inner = _keep_attributes(element), _keep_attributes(glyph)
        moved = " ".join(part for part in (own.get("transform", ""), inner.get("transform", "")) if part)
        ET.SubElement(parent, "path", {"d": inner.get("d", ""), **({"transform": moved} if moved else {})})

    def _copy_words(self, element: ET.Element, kept: ET.Element) -> None:
        """Copy words (tempo, lyrics, names of parts), without the private characters of music fonts."""
        plain = "".join(_FONT_CHARACTERS.get(char, char) for char in element.text or "")
        kept.text = "".join(char for char in plain if not 0xE000 <= ord(char) <= 0xF8FF).strip("\n\t")
        for child in element:
            if str(child.tag).removeprefix(f"{{{SPACE}}}") == "tspan":
                self._copy_words(child, ET.SubElement(kept, "tspan", _keep_attributes(child)))


def _keep_attributes(element: ET.Element) -> dict[str, str]:
    """The attributes that may stay."""
    known = ((name, value.strip(), _ATTRIBUTES.get(name)) for name, value in element.attrib.items())
    return {name: value for name, value, wanted in known if wanted is not None and wanted.fullmatch(value)}


def time_notes(
    timemap: Sequence[Mapping[str, Any]], pitches: Mapping[str, int], midi: str, ids: Mapping[str, str], *,
    tempo: float | None,
) -> tuple[tuple[Note, ...], float]:  # fmt: skip
    """The notes as they sound, and the seconds until the last note or rest ends.

    ``timemap`` and ``midi`` are the engraver's, ``pitches`` those of the timemap's notes, ``ids`` our identifiers of
    drawn notes. Times follow ``tempo`` in quarters per minute, or without it the engraver.
    """

    def at(event: Mapping[str, Any]) -> float:
        return float(event["tstamp"]) / 1000 if tempo is None else float(event["qstamp"]) * 60 / tempo

    onsets = read_onsets(midi)
    ends = {name: event for event in timemap for name in event.get("off", ())}
    sounds: list[_SoundingPitch] = []
    open_at: dict[int, _SoundingPitch] = {}
    for event in timemap:
        beat = float(event["qstamp"])
        for name in event.get("on", ()):
            pitch, end = pitches[name], ends.get(name, event)
            identifier = ids.get(_REPEATED.sub("", name))
            held = open_at.get(pitch)
            is_struck = not onsets[pitch] or any(abs(beat - onset) <= NEAR for onset in onsets[pitch])
            if held is not None and not is_struck and abs(held.last - beat) <= NEAR:
                held.end, held.last = at(end), float(end["qstamp"])
            else:
                held = _SoundingPitch(at(event), at(end), pitch, [], float(end["qstamp"]))
                open_at[pitch] = held
                sounds.append(held)
            if identifier is not None and identifier not in held.ids:
                held.ids.append(identifier)
    groups: dict[tuple[float, float], list[_SoundingPitch]] = defaultdict(list)  # that begin and end together
    for sound in sounds:
        if sound.end > sound.start:
            groups[round(sound.start, 4), round(sound.end, 4)].append(sound)
    notes = tuple(
        Note(start, end, tuple(dict.fromkeys(name for s in group for name in s.ids)), tuple(s.pitch for s in group))
        for (start, end), group in sorted(groups.items())
    )
    return notes, at(timemap[-1]) if timemap else 0.0


@dataclass
class _SoundingPitch:
    """One pitch while it sounds, from the beat on which it is struck."""

    start: float
    end: float
    pitch: int
    ids: list[str]
    last: float  # the quarter on which it ends so far


def read_onsets(midi: str) -> dict[int, list[float]]:
    """The quarters on which each pitch is struck, from a MIDI file in base 64."""
    data = base64.b64decode(midi)
    if data[:4] != b"MThd" or len(data) < 14:
        raise NotationError("expected MIDI from the engraver, got something else")
    ticks_per_quarter = int.from_bytes(data[12:14], "big")
    onsets: dict[int, list[float]] = defaultdict(list)
    at = 14
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        if data[at : at + 4] == b"MTrk":
            _read_track(data[at + 8 : at + 8 + size], ticks_per_quarter, onsets)
        at += 8 + size
    return onsets


def _read_track(track: bytes, ticks_per_quarter: int, onsets: dict[int, list[float]]) -> None:
    at, ticks, status = 0, 0, 0
    while at < len(track):
        step, at = _read_number(track, at)
        ticks += step
        if track[at] & 0x80:
            status, at = track[at], at + 1
        if status >= 0xF0:  # a meta event (0xFF, with its kind first) or a system event
            size, at = _read_number(track, at + (status == 0xFF))
            at += size
            continue
        if status & 0xF0 == 0x90 and track[at + 1] > 0:
            onsets[track[at]].append(ticks / ticks_per_quarter)
        at += 1 if status & 0xF0 in (0xC0, 0xD0) else 2


def _read_number(track: bytes, at: int) -> tuple[int, int]:
    """A number of MIDI, seven bits per byte, and the offset after it."""
    value = 0
    while True:
        value = value << 7 | track[at] & 0x7F
        at += 1
        if not track[at - 1] & 0x80:
            return value, at
