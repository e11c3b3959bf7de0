r"""Music as notation: a drawing that any page can show, and when each of its notes sounds.

Plaine & Easie (the code of RISM's incipits), MusicXML and MEI come in; a clean SVG and a timeline come out, from one
engraver, Verovio (``pip install adjudge[notation]``). It draws whatever it is given, so its input is checked first
(``notation.checks``), its warnings count as errors, and its drawing is cleaned and counted: where nothing was drawn,
nothing is returned.

The same notation gives the same drawing, to the byte. Without a tempo of its own, music goes at 100 quarters a minute.

>>> engraved = engrave("@clef:G-2\n@timesig:4/4\n@data:'4CDE^G2-")
>>> [(note.start, note.end, note.pitches) for note in engraved.notes]
[(0.0, 0.6, (60,)), (0.6, 1.2, (62,)), (1.2, 1.8, (64, 67))]
>>> engraved.seconds, engraved.form, engraved.notes[2].ids
(3.0, 'pae', ('n3', 'n4'))

Reference: Pugin, Zitellini and Roland, "Verovio: a library for engraving MEI music notation into SVG", ISMIR 2014.

The drawing is made safe and small: shapes and words, nothing that runs, loads or styles. Only elements and attributes
of a short list are kept, each with a value of the form that it should have. Glyphs that the engraver defines once and
uses often are put where they are used, so that a drawing refers to nothing, not even to itself. Everything is drawn in
``currentColor``: black on white, white on black, as the page is. Of all identifiers only those of notes stay, as n1,
n2, … in the order in which they are drawn, so that one can point to the notes that sound.

The engraver says when each note begins and ends; which notes are struck and which are only held (the second of two tied
notes) is in the MIDI that it makes. Both count in quarters, by which they are compared. Repeats are played, and a note
that is played twice is drawn once.
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

from adjudge.audio.notation.checks import FORMS, Checked, NotationError, check_notation
from adjudge.errors import shown
from adjudge.extras import need

SPACE = "http://www.w3.org/2000/svg"
PIXELS = 0.05  # of a page for each unit of the engraver: a staff, of 720 units, is 36 pixels high
MARGIN = 40  # units around everything

_NUMBER = r"-?[0-9]++(?:\.[0-9]++)?+(?:e-?[0-9]++)?+"  # never read in two ways: notation may bring shapes of its own
_NUMBERS = re.compile(rf"(?:{_NUMBER}[\s,]*+)*+")
_PATH = re.compile(r"[MmLlHhVvCcSsQqTtAaZz\d\s,.eE+-]*")
_MOVED = re.compile(rf"(?:(?:translate|scale|rotate|matrix|skewX|skewY)\((?:{_NUMBER}[\s,]*+)*+\)\s*+)*+")
_WORD = re.compile(r"[a-z-]+")
_SIZE = re.compile(rf"{_NUMBER}(?:px)?")
_PAINT = re.compile(r"none|transparent|currentColor")
_SHAPES = ("path", "rect", "ellipse", "circle", "line", "polygon", "polyline")
_CLASSES = ("note", "rest", "notehead", "stem", "accid", "staff", "text")

# What may stay, and what its value must look like; a value of another form is left out.
_ATTRIBUTES = {
    "d": _PATH, "points": _NUMBERS, "transform": _MOVED, "x": _NUMBERS, "y": _NUMBERS, "dx": _NUMBERS, "dy": _NUMBERS,
    "cx": _NUMBERS, "cy": _NUMBERS, "rx": _NUMBERS, "ry": _NUMBERS, "r": _NUMBERS, "x1": _NUMBERS, "y1": _NUMBERS,
    "x2": _NUMBERS, "y2": _NUMBERS, "width": _SIZE, "height": _SIZE, "fill": _PAINT, "stroke": _PAINT,
    "stroke-width": _SIZE, "stroke-linecap": _WORD, "stroke-linejoin": _WORD, "stroke-dasharray": _NUMBERS,
    "fill-opacity": _NUMBERS, "stroke-opacity": _NUMBERS, "text-anchor": _WORD, "font-size": _SIZE,
    "font-style": _WORD, "font-weight": _WORD,
}  # fmt: skip
_SIGNS = {"\ue1d5": "♩", "\ueca5": "♩", "\ue1d7": "♪", "\ueca7": "♪", "\ue262": "♯", "\ue260": "♭", "\ue261": "♮"}


@dataclass(frozen=True)
class Drawing:
    """A drawing, the engraver's identifiers of its notes by ours, and how many rests and notes it has."""

    svg: str
    ids: dict[str, str]
    n_rests: int


def drawing_from(svg: str) -> Drawing:
    """A drawing of the engraver as one that may be put into a page.

    >>> tall = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><script>alert(1)</script></svg>'
    >>> drawing_from(tall).svg
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-40 -40 170 170" ... stroke="currentColor" />'
    """
    try:
        root = ET.fromstring(svg)
    except ET.ParseError as error:
        raise NotationError(f"expected a drawing that is XML, got another ({error})") from None
    if root.tag != f"{{{SPACE}}}svg":
        raise NotationError("expected a drawing in SVG, got something else")
    maker = _Maker(_signs(root))
    width, height = _size_of(root)
    kept = ET.Element("svg", {
        "xmlns": SPACE,
        "viewBox": f"{-MARGIN} {-MARGIN} {width + 2 * MARGIN:g} {height + 2 * MARGIN:g}",
        "width": f"{(width + 2 * MARGIN) * PIXELS:g}", "height": f"{(height + 2 * MARGIN) * PIXELS:g}",
        "fill": "currentColor", "stroke": "currentColor",
    })  # fmt: skip
    for child in root:
        maker.keep(child, kept)
    return Drawing(ET.tostring(kept, encoding="unicode"), maker.ids, maker.n_rests)


def _size_of(root: ET.Element) -> tuple[float, float]:
    """Width and height in the units of the shapes: those of the page inside, which has ten to each of the outer."""
    inner = root.find(f"{{{SPACE}}}svg")
    box = (root.get("viewBox") or "").split()
    try:
        width, height = float(box[2]), float(box[3])
    except (IndexError, ValueError):
        raise NotationError("expected a drawing with a size, got none") from None
    if inner is None or not inner.get("viewBox"):
        return 10 * width, 10 * height
    scale = float((inner.get("viewBox") or "0 0 0 0").split()[2]) / width if width else 10.0
    return width * scale, height * scale


def _signs(root: ET.Element) -> dict[str, ET.Element]:
    """The signs that are defined once, by identifier."""
    found = {}
    for sign in root.iterfind(f"{{{SPACE}}}defs/{{{SPACE}}}g"):
        shape = sign.find(f"{{{SPACE}}}path")
        if shape is not None and sign.get("id"):
            found[str(sign.get("id"))] = shape
    return found


class _Maker:
    """Copies what may stay, from one tree to another."""

    def __init__(self, signs: dict[str, ET.Element]) -> None:
        self.signs = signs
        self.ids: dict[str, str] = {}
        self.n_rests = 0

    def keep(self, element: ET.Element, parent: ET.Element) -> None:
        """Copy an element with what is in it, if it is one of those that may stay."""
        name = str(element.tag).removeprefix(f"{{{SPACE}}}")
        classes = (element.get("class") or "").split()
        if "placeholder" in classes:  # invisible, by a style that is not kept; what stands in it is not
            for child in element.iterfind(f"{{{SPACE}}}g"):
                self.keep(child, parent)
        elif name == "use":
            self._place(element, parent)
        elif name in ("g", "svg"):
            self._group(element, classes, parent)
        elif name in _SHAPES:
            ET.SubElement(parent, name, _plain(element))
        elif name == "text":
            self._words(element, ET.SubElement(parent, "text", {**_plain(element), "stroke": "none"}))

    def _group(self, element: ET.Element, classes: list[str], parent: ET.Element) -> None:
        """A group that has something in it; without name or place of its own, only what is in it."""
        marks = [name for name in classes if name in _CLASSES]
        group = ET.Element("g", {**_plain(element), **({"class": marks[0]} if marks else {})})
        self.n_rests += any(name in classes for name in ("rest", "mRest", "multiRest"))
        given = element.get("id")
        if "note" in classes and given:
            group.set("id", self.ids.setdefault(given, f"n{len(self.ids) + 1}"))
        for child in element:
            self.keep(child, group)
        if len(group) and group.attrib:
            parent.append(group)
        else:
            parent.extend(group)

    def _place(self, element: ET.Element, parent: ET.Element) -> None:
        """A sign where it is used."""
        name = (element.get("href") or element.get("{http://www.w3.org/1999/xlink}href") or "").removeprefix("#")
        sign = self.signs.get(name)
        if sign is None:
            return
        own, inner = _plain(element), _plain(sign)
        moved = " ".join(part for part in (own.get("transform", ""), inner.get("transform", "")) if part)
        ET.SubElement(parent, "path", {"d": inner.get("d", ""), **({"transform": moved} if moved else {})})

    def _words(self, element: ET.Element, kept: ET.Element) -> None:
        """Words of a drawing: tempo, text that is sung, names of parts."""
        kept.text = _said(element.text)
        for child in element:
            if str(child.tag).removeprefix(f"{{{SPACE}}}") == "tspan":
                self._words(child, ET.SubElement(kept, "tspan", _plain(child)))


def _plain(element: ET.Element) -> dict[str, str]:
    """Attributes that may stay."""
    kept = {}
    for name, value in element.attrib.items():
        wanted = _ATTRIBUTES.get(name)
        if wanted is not None and wanted.fullmatch(value.strip()):
            kept[name] = value.strip()
    return kept


def _said(text: str | None) -> str:
    """Words without the private signs of music fonts, which no browser has; common ones by their usual sign."""
    plain = "".join(_SIGNS.get(sign, sign) for sign in text or "")
    return "".join(sign for sign in plain if not 0xE000 <= ord(sign) <= 0xF8FF).strip("\n\t")


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


TEMPO = 100.0  # quarters a minute, where the source says nothing
MOST_NOTES = 2000
MOST_SECONDS = 120.0
WIDEST = 1600  # of the engraver's page: music that is longer goes on in the next line
LONGEST_PAGE = 60000
MEASURED_TEMPO = re.compile(r"\bmidi\.bpm=|\bmidi\.mspb=|<tempo [^>]*\bmm=")

_OPTIONS = {
    "adjustPageHeight": True, "adjustPageWidth": True, "header": "none", "footer": "none", "svgViewBox": True,
    "svgRemoveXlink": True, "smuflTextFont": "none", "xmlIdSeed": 1, "pageMarginTop": 0, "pageMarginBottom": 0,
    "pageMarginLeft": 0, "pageMarginRight": 0, "pageHeight": LONGEST_PAGE, "breaks": "none",
}  # fmt: skip
_one_at_a_time = threading.Lock()  # the engraver numbers its elements for the whole process


@dataclass(frozen=True)
class Engraved:
    """A drawing (SVG), its notes as they sound, the seconds that they take, and the form that the notation had.

    ``notes`` are in the order in which they begin, in seconds from the beginning of the music; there are none where
    there are only rests.
    """

    svg: str
    notes: tuple[Note, ...]
    seconds: float
    form: str


def engrave(text: str, *, source: str | None = None, form: str | None = None, line: int = 1) -> Engraved:
    r"""Draw notation, and say when its notes sound.

    ``form`` is pae, musicxml or mei; None, and it is recognised. ``source`` is named in errors, with ``line``
    where the text is only a part of it. At most 2,000 notes and 120 seconds.

    >>> engrave("@clef:G-2\n@data:'4CDZ", source="a.pae")
    Traceback (most recent call last):
    adjudge.audio.notation.checks.NotationError: a.pae:2: expected signs of Plaine & Easie, got 'Z' at character 5 ...
    """
    checked = check_notation(text, form=form, source=source, line=line)
    try:
        with _one_at_a_time:
            return _engraved(checked, source)
    except NotationError as error:
        if error.source is not None or source is None:
            raise
        raise NotationError(str(error), source=source) from None


def _engraved(checked: Checked, source: str | None) -> Engraved:
    toolkit = _toolkit()
    if checked.form == "pae":
        _heed(toolkit.validatePAE(checked.text), checked, source)
    toolkit.setInputFrom(checked.form)
    if not toolkit.loadData(checked.text):
        raise NotationError(f"expected {FORMS[checked.form]} that can be drawn, got some that cannot")
    mei = _mended(toolkit, checked.form)
    if (n_notes := mei.count("<note ")) > MOST_NOTES:
        raise NotationError(f"expected at most {MOST_NOTES:,} notes, got {n_notes:,}")
    drawing = _drawn(toolkit)
    if not drawing.ids and not drawing.n_rests:
        raise NotationError(f"expected {FORMS[checked.form]} with notes, got none that can be drawn")
    notes, seconds = _timed(toolkit, drawing, None if MEASURED_TEMPO.search(mei) else TEMPO)
    return Engraved(drawing.svg, notes, seconds, checked.form)


def _toolkit() -> Any:
    """An engraver of its own for each piece; it says nothing by itself."""
    need("notation", "Notation needs")
    import verovio

    verovio.enableLog(verovio.LOG_OFF)
    verovio.setDefaultResourcePath(str(Path(verovio.__file__).parent / "data"))  # it forgets them in every new thread
    toolkit = verovio.toolkit()
    toolkit.setOptions(_OPTIONS)
    toolkit.resetXmlIdSeed(1)
    return toolkit


def _heed(report: dict[str, Any], checked: Checked, source: str | None) -> None:
    """Refuse what the engraver would draw otherwise than it was meant."""
    if "text" in report:
        raise NotationError(_told(report), source=source)
    for name, said in report.items():
        first = said[0] if isinstance(said, list) else said
        raise NotationError(_told(first), source=source, line=checked.lines.get(name))


def _told(said: dict[str, Any]) -> str:
    """A remark of the engraver as one of ours."""
    text = str(said.get("text", "")).strip().rstrip(".") or "something else"
    column = said.get("column", -1)
    at = f" (character {column + 1})" if isinstance(column, int) and column > 0 else ""
    return f"expected Plaine & Easie, got this: {shown(text, limit=120)[1:-1]}{at}"


def _mended(toolkit: Any, form: str) -> str:
    """Put right what the engraver read otherwise than it was meant, and let transposing instruments sound as written.

    Returns the music in MEI, as it is drawn.

    In Plaine & Easie it gives groups of five, six, … notes the time of two, where it is that of four or eight.
    """
    mei = str(toolkit.getMEI())
    mended = re.sub(r'<tuplet [^>]*\bnum="(\d+)"[^>]*>', _with_base, mei) if form == "pae" else mei
    mended = _with_starts(mended)
    mended = re.sub(r' trans\.(?:semi|diat)="[^"]*"', "", mended)
    if mended != mei:
        toolkit.setInputFrom("mei")
        toolkit.loadData(mended)
    return mended


def _with_starts(mei: str) -> str:
    """Begin a repeat where the last one ended, unless it says where it begins; the engraver dies of one without."""
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


def _with_base(found: re.Match[str]) -> str:
    number = int(found[1])
    base = 1 << max(0, (number - 1).bit_length() - 1)
    return re.sub(r'\bnumbase="\d+"', f'numbase="{base}"', found[0])


def _drawn(toolkit: Any) -> Drawing:
    """In one line where it is short, otherwise in several."""
    svg = toolkit.renderToSVG(1)
    box = re.search(r'viewBox="0 0 (\d+)', svg)
    if box and int(box[1]) > WIDEST:
        toolkit.setOptions({"breaks": "auto", "pageWidth": WIDEST})
        toolkit.redoLayout()
        if toolkit.getPageCount() > 1:
            raise NotationError("expected music that fits on one page, got more")
        svg = toolkit.renderToSVG(1)
    return drawing_from(svg)


def _timed(toolkit: Any, drawing: Drawing, tempo: float | None) -> tuple[tuple[Note, ...], float]:
    """The notes as they sound; refused where they sound for too long or where nobody can hear them."""
    timemap = toolkit.renderToTimemap({"includeRests": True})
    last = timemap[-1] if timemap else {"qstamp": 0, "tstamp": 0}
    seconds = last["tstamp"] / 1000 if tempo is None else last["qstamp"] * 60 / tempo
    if seconds > MOST_SECONDS:
        raise NotationError(f"expected at most {MOST_SECONDS:g} seconds of music, got {seconds:,.0f}")
    names = [name for event in timemap for name in event.get("on", ())]
    pitches = {name: int(toolkit.getMIDIValuesForElement(name).get("pitch", -1)) for name in names}
    if strange := [pitch for pitch in pitches.values() if not 12 <= pitch <= 120]:
        raise NotationError(f"expected pitches from C0 to C9 (12 to 120 in MIDI), got {strange[0]}")
    return timed_notes(timemap, pitches, toolkit.renderToMIDI(), drawing.ids, tempo=tempo)
