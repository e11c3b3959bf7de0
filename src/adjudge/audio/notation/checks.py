"""Notation as people send it, checked before anything is drawn: which form it has, and whether it can be what it says.

The engraver draws whatever it is given, rubbish included, and some rubbish ends its process. What reaches it is
therefore read here first: Plaine & Easie is split into its fields and every sign of it must be one of the code; XML
must be well-formed, without entities, of a known root, and have notes. ABC is refused: the engraver's reader of it
loses accidentals inside a bar, lengths of chords and clefs, and ends its process for a missing key or an open quote.

References: IAML and RISM, "Plaine & Easie Code"; W3C MusicXML 4.0; Music Encoding Initiative, MEI 5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from adjudge.errors import InputError, shown

MOST_CHARACTERS = 2_000_000  # MusicXML needs some hundreds of them for a note
MOST_WRITTEN = 50_000  # characters of Plaine & Easie: notes are counted only once they are loaded
MOST_DEPTH = 100  # of elements inside elements
MOST_OCTAVES = 5  # signs that move a note of Plaine & Easie up or down
FORMS = {"pae": "Plaine & Easie", "musicxml": "MusicXML", "mei": "MEI"}

_ROOTS = {"mei": "mei", "music": "mei", "score-partwise": "musicxml", "score-timewise": "musicxml"}
_NOTES = {"mei": {"note", "rest", "mRest", "multiRest"}, "musicxml": {"note"}}
_FIELDS = ("clef", "keysig", "timesig", "data")
_CLEF = re.compile(r"[GCFg][-+][1-5]")
_SIGNS = re.compile(
    r"%[GCFg][-+][1-5]\s*|\$[xbn\[\]A-G]*\s*"
    r"|@(?:[co][/.]?|[0-9]{1,2}(?!/))?(?:[0-9]{1,2}/[0-9]{1,2})?(?:[ |][0-9]{1,2}/[0-9]{1,2})*\s*"
    r"|=[0-9]{0,4}(?=[/\s]|$)|[A-G0-9xbngqrtif',.\-+/:{}();^!\s]"
)
_OCTAVES = re.compile(rf"'{{{MOST_OCTAVES + 1},}}|,{{{MOST_OCTAVES + 1},}}")


class NotationError(InputError):
    """Notation that cannot be used. The message is one line: ``path:line: what was wanted, what came``."""


@dataclass(frozen=True)
class Checked:
    """Notation that the engraver may have: its form, the text for the engraver, and where its fields came from.

    ``lines`` are those of the fields of Plaine & Easie.
    """

    form: str
    text: str
    lines: dict[str, int] = field(default_factory=dict)


def form_of(text: str) -> str | None:
    """The form that a text seems to have; None where it is none of them.

    >>> form_of("%G-2$xF@3/4 '4GAB"), form_of("<mei/>"), form_of("Dear all,")
    ('pae', 'mei', None)
    """
    head = text.lstrip("\ufeff \t\r\n")
    if head.startswith(("@", "%")) and not head.startswith("%abc"):
        return "pae"
    if head.startswith("<"):
        root = re.search(r"<(?![?!])(?:[\w.-]+:)?([\w.-]+)", head)
        return _ROOTS.get(root[1], "musicxml") if root else "musicxml"
    return None


def check_notation(text: str, *, form: str | None = None, source: str | None = None, line: int = 1) -> Checked:
    """What the engraver may have of a text; refused where it cannot be notation of that form.

    ``line`` is the line of ``source`` on which the text begins.
    """
    if len(text) > MOST_CHARACTERS:
        raise NotationError(f"expected at most {MOST_CHARACTERS:,} characters, got {len(text):,}", source=source)
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not plain.strip():
        raise NotationError("expected notation, got nothing", source=source)
    if (at := plain.find("\0")) >= 0:
        at_line = line + plain.count("\n", 0, at)
        raise NotationError("expected text, got a byte of zero", source=source, line=at_line)
    found = form or form_of(plain)
    if found is None:
        is_abc = re.search(r"^K:", plain, re.MULTILINE)
        came = "ABC (save the tune as MusicXML)" if is_abc else shown(plain.strip())
        raise NotationError(f"expected Plaine & Easie, MusicXML or MEI, got {came}", source=source, line=line)
    if found not in FORMS:
        raise NotationError(f"expected a form among {', '.join(FORMS)}, got {shown(found)}", source=source)
    if found != "pae":
        return _checked_xml(plain, source=source, first=line)
    if len(plain) > MOST_WRITTEN:
        came = f"{len(plain):,} of {FORMS[found]}"
        raise NotationError(f"expected at most {MOST_WRITTEN:,} characters, got {came}", source=source, line=line)
    return _checked_pae(plain, source=source, first=line)


def _checked_pae(text: str, *, source: str | None, first: int) -> Checked:
    """The fields, one a line, in the order that the engraver knows."""
    values, lines = (_one_line if text.lstrip().startswith("%") else _by_field)(text, source=source, first=first)
    for name in ("clef", "data"):
        if not values.get(name):
            wanted = "a clef, as in @clef:G-2" if name == "clef" else "notes, as in @data:'4CDEF"
            raise NotationError(f"expected {wanted}, got none", source=source, line=lines.get(name, first))
    if not _CLEF.fullmatch(values["clef"]):
        came = shown(values["clef"])
        raise NotationError(f"expected a clef such as G-2, C-1 or F-4, got {came}", source=source, line=lines["clef"])
    _check_signs(values["data"], source=source, line=lines["data"])
    _check_brackets(values["data"], source=source, line=lines["data"])
    kept = "\n".join(f"@{name}:{values.get(name, '')}" for name in _FIELDS)
    return Checked("pae", kept, lines)


def _check_signs(data: str, *, source: str | None, line: int) -> None:
    """Refuse what is no sign of the code, where it stands."""
    at = 0
    while at < len(data) and (found := _SIGNS.match(data, at)) and found.end() > at:
        at = found.end()
    wanted, came = "signs of Plaine & Easie", data[at : at + 1]
    if at == len(data):
        high = _OCTAVES.search(data)
        if high is None:
            return
        wanted, came, at = f"at most {MOST_OCTAVES} octaves", high[0], high.start()
    place = f"at character {at + 1} of the notes"
    raise NotationError(f"expected {wanted}, got {shown(came)} {place}", source=source, line=line)


def _check_brackets(data: str, *, source: str | None, line: int) -> None:
    """Refuse beams, groups and figures that do not end, or begin again before they end; some of them end the engraver.

    Beams may stand inside groups and groups inside beams; figures to be repeated have both inside.
    """
    pairs = {"}": "{", ")": "("}
    still_open: list[tuple[str, int]] = []
    for at, sign in enumerate(data):
        opened = [one for one, _ in still_open]
        if sign in "{(" or (sign == "!" and sign not in opened):
            if sign in opened or (sign == "!" and opened):
                break
            still_open.append((sign, at))
        elif sign == "=" and opened:
            break
        elif sign in "})!":
            if not opened or opened[-1] != pairs.get(sign, sign):
                break
            still_open.pop()
    else:
        if not still_open:
            return
        sign, at = still_open[-1]
    came = f"{sign!r} at character {at + 1} of the notes"
    raise NotationError(f"expected brackets and ! that end in turn, got {came}", source=source, line=line)


def _by_field(text: str, *, source: str | None, first: int) -> tuple[dict[str, str], dict[str, int]]:
    """Lines ``@name:value``; notes may go on in the lines after theirs."""
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    last = ""
    for number, row in enumerate(text.split("\n"), start=first):
        given = re.match(r"@([A-Za-z]+):(.*)", row.strip())
        if given:
            last = given[1].lower()
            if last in values and last in _FIELDS:
                raise NotationError(f"expected one @{last}, got another", source=source, line=number)
            values[last], lines[last] = given[2].strip(), number
        elif row.strip() and last == "data":
            values["data"] = f"{values['data']} {row.strip()}".strip()
        elif row.strip():
            raise NotationError(
                f"expected a field such as @data:, got {shown(row.strip())}", source=source, line=number
            )
    return values, lines


def _one_line(text: str, *, source: str | None, first: int) -> tuple[dict[str, str], dict[str, int]]:
    """The form ``%clef$key@time notes``, with its parts in any order and perhaps on several lines."""
    names = {"%": "clef", "$": "keysig", "@": "timesig"}
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    at = len(text) - len(text.lstrip())
    while at < len(text) and text[at] in names and names[text[at]] not in values:
        part = re.compile(r"[%$@]\s*([^\s%$@]*)\s*").match(text, at)
        name = names[text[at]]
        values[name], lines[name] = (part[1] if part else ""), first + text.count("\n", 0, at)
        at = part.end() if part else len(text)
    values["data"] = " ".join(text[at:].split())
    lines["data"] = first + text.count("\n", 0, at)
    return values, lines


def _checked_xml(text: str, *, source: str | None, first: int) -> Checked:
    """XML that is well-formed, plain, and has something to draw; without its declaration and its document type."""
    seen = _Seen()
    parser = expat.ParserCreate("utf-8")  # the text is decoded already, whatever its declaration says
    parser.StartElementHandler = seen.start
    parser.EndElementHandler = seen.end
    parser.StartDoctypeDeclHandler = seen.doctype
    parser.EntityDeclHandler = seen.entity
    try:
        parser.Parse(text.lstrip().encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        skipped = text[: len(text) - len(text.lstrip())].count("\n")
        what = expat.ErrorString(error.code)
        raise NotationError(
            f"expected well-formed XML, got {what}", source=source, line=first + skipped + error.lineno - 1
        ) from None
    except NotationError as error:
        raise NotationError(str(error), source=source, line=first + parser.CurrentLineNumber - 1) from None
    form = _ROOTS[seen.root]
    if not seen.names & _NOTES[form]:
        raise NotationError(f"expected {FORMS[form]} with notes, got none", source=source)
    body = re.sub(r"\A\s*<\?xml[^>]*\?>", "", text)
    return Checked(form, re.sub(r"<!DOCTYPE[^>\[]*>", "", body, count=1).strip())


class _Seen:
    """What a reader of XML has met so far; what must not be there ends the reading."""

    def __init__(self) -> None:
        self.root = ""
        self.names: set[str] = set()
        self.depth = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        plain = name.rpartition(":")[2]
        if not self.root:
            if plain == "score-timewise":
                raise NotationError("expected MusicXML by parts (score-partwise), got score-timewise")
            if plain not in _ROOTS:
                raise NotationError(f"expected MusicXML or MEI, got XML that begins with {shown(plain)}")
            self.root = plain
        self.names.add(plain)
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise NotationError(f"expected at most {MOST_DEPTH} elements inside one another, got more")

    def end(self, name: str) -> None:
        """An element ends."""
        self.depth -= 1

    def doctype(self, name: str, system: str | None, public: str | None, inside: int) -> None:
        """A document type may name a public one, which nobody fetches, and define nothing."""
        if inside:
            raise NotationError("expected XML without a document type of its own, got one")

    def entity(self, *about: object) -> None:
        """Entities are how a small file becomes an endless one, or reads another."""
        raise NotationError("expected XML without entities, got one")
