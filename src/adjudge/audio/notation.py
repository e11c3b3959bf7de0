r"""Music as notation: a drawing that any page can show, and when each of its notes sounds.

Plaine & Easie (the code of RISM's incipits), MusicXML, MEI and ABC come in; a clean SVG and a timeline come out, from
one engraver, Verovio (``pip install adjudge[notation]``). It draws whatever it is given, so what it is given is checked
first (``notation_checks``), what it says is heeded, and what it drew is cleaned (``notation_drawing``) and counted:
where nothing was drawn, nothing is returned.

The same notation gives the same drawing, to the byte. Without a tempo of its own, music goes at 100 quarters a minute.

>>> engraved = engrave("@clef:G-2\n@timesig:4/4\n@data:'4CDE^G2-")
>>> [(note.start, note.end, note.pitches) for note in engraved.notes]
[(0.0, 0.6, (60,)), (0.6, 1.2, (62,)), (1.2, 1.8, (64, 67))]
>>> engraved.seconds, engraved.form, engraved.notes[2].ids
(3.0, 'pae', ('n3', 'n4'))

Reference: Pugin, Zitellini and Roland, "Verovio: a library for engraving MEI music notation into SVG", ISMIR 2014.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.audio.notation_checks import FORMS, Checked, NotationError, check_notation
from adjudge.audio.notation_drawing import Drawing, drawing_from
from adjudge.audio.notation_timing import Note, timed_notes
from adjudge.errors import shown
from adjudge.extras import need

__all__ = ["FORMS", "Engraved", "NotationError", "Note", "engrave"]

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

    ``form`` is pae, musicxml, mei or abc; None, and it is recognised. ``source`` is named in errors, with ``line``
    where the text is only a part of it. At most 2,000 notes and 120 seconds.

    >>> engrave("@clef:G-2\n@data:'4CDZ", source="a.pae")
    Traceback (most recent call last):
    adjudge.audio.notation_checks.NotationError: a.pae:2: expected signs of Plaine & Easie, got 'Z' at character 5 ...
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
    toolkit.setInputFrom(checked.given_as or checked.form)
    if not toolkit.loadData(checked.text):
        raise NotationError(f"expected {FORMS[checked.form]} that can be drawn, got some that cannot")
    mei = _mended(toolkit, checked.form)
    if (n_notes := mei.count("<note ")) > MOST_NOTES:
        raise NotationError(f"expected at most {MOST_NOTES:,} notes, got {n_notes:,}")
    drawing = _drawn(toolkit)
    if not drawing.ids and not drawing.n_rests:
        raise NotationError(f"expected {FORMS[checked.form]} with notes, got none that can be drawn")
    has_tempo = checked.tempo is not None or MEASURED_TEMPO.search(mei)
    notes, seconds = _timed(toolkit, drawing, checked.tempo if has_tempo else TEMPO)
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
