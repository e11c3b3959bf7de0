"""Notation checked before anything is drawn: which form it has, and whether it can be what it claims.

The engraver draws whatever it is given, and some malformed input ends its process. Its input is therefore checked here:
Plaine & Easie is split into its fields and every character must belong to the code; XML must be well-formed, without
entities, of a known root, and have notes. ABC is refused: the engraver's reader of it loses accidentals inside a bar,
lengths of chords and clefs, and ends its process for a missing key or an open quote.

References: IAML and RISM, "Plaine & Easie Code"; W3C MusicXML 4.0; Music Encoding Initiative, MEI 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from xml.parsers import expat

from adjudge.errors import InputError, shown

MOST_CHARACTERS = 2_000_000  # MusicXML takes some hundreds per note
MOST_PAE = 50_000  # characters of Plaine & Easie, whose notes are counted only after loading
MOST_DEPTH = 100  # of elements inside elements
MOST_OCTAVES = 5  # characters that move a note of Plaine & Easie up or down
FORMS = {"pae": "Plaine & Easie", "musicxml": "MusicXML", "mei": "MEI"}
_ROOTS = {"mei": "mei", "music": "mei", "score-partwise": "musicxml", "score-timewise": "musicxml"}
_NOTES = {"mei": {"note", "rest", "mRest", "multiRest"}, "musicxml": {"note"}}
_FIELDS = ("clef", "keysig", "timesig", "data")
_CLEF = re.compile(r"[GCFg][-+][1-5]")
_CODE = re.compile(
    r"%[GCFg][-+][1-5]\s*|\$[xbn\[\]A-G]*\s*"
    r"|@(?:[co][/.]?|[0-9]{1,2}(?!/))?(?:[0-9]{1,2}/[0-9]{1,2})?(?:[ |][0-9]{1,2}/[0-9]{1,2})*\s*"
    r"|=[0-9]{0,4}(?=[/\s]|$)|[A-G0-9xbngqrtif',.\-+/:{}();^!\s]"
)
_OCTAVES = re.compile(rf"'{{{MOST_OCTAVES + 1},}}|,{{{MOST_OCTAVES + 1},}}")


class NotationError(InputError):
    """Notation that cannot be used. The message is one line: ``path:line: what was wanted, what came``."""


@contextmanager
def named_source(source: str | None) -> Iterator[None]:
    """Give errors the name of what was read."""
    try:
        yield
    except NotationError as error:
        raise NotationError(str(error), source=source, line=error.line) from None


@dataclass(frozen=True)
class CheckedNotation:
    """Notation that the engraver may have: its form, the text for the engraver, and where its fields came from.

    ``lines`` are those of the fields of Plaine & Easie.
    """

    form: str
    text: str
    lines: dict[str, int] = field(default_factory=dict)


def check_notation(text: str, *, form: str | None = None, line: int = 1) -> CheckedNotation:
    """Check a text and return what the engraver may have; refused where it cannot be notation of its form.

    ``line`` is the line of its source on which the text begins.
    """
    if len(text) > MOST_CHARACTERS:
        raise NotationError(f"expected at most {MOST_CHARACTERS:,} characters, got {len(text):,}")
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not plain.strip():
        raise NotationError("expected notation, got nothing")
    if (at := plain.find("\0")) >= 0:
        raise NotationError("expected text, got a byte of zero", line=line + plain.count("\n", 0, at))
    head, found = plain.lstrip("\ufeff \t\n"), form
    if form is None and head.startswith(("@", "%")) and not head.startswith("%abc"):
        found = "pae"
    elif form is None and head.startswith("<"):
        root = re.search(r"<(?![?!])(?:[\w.-]+:)?([\w.-]+)", head)
        found = _ROOTS.get(root[1], "musicxml") if root else "musicxml"
    if found is None:
        is_abc = re.search(r"^K:", plain, re.MULTILINE)
        came = "ABC (save the tune as MusicXML)" if is_abc else shown(plain.strip())
        raise NotationError(f"expected Plaine & Easie, MusicXML or MEI, got {came}", line=line)
    if found not in FORMS:
        raise NotationError(f"expected a form among {', '.join(FORMS)}, got {shown(found)}")
    if found != "pae":
        return _check_xml(plain, line)
    if len(plain) > MOST_PAE:
        came = f"{len(plain):,} of {FORMS[found]}"
        raise NotationError(f"expected at most {MOST_PAE:,} characters, got {came}", line=line)
    return _check_pae(plain, line)


def _check_xml(text: str, first: int) -> CheckedNotation:
    """Check XML, and return it without its declaration and its document type."""
    names: dict[str, None] = {}  # the root first
    inside: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        plain = name.rpartition(":")[2]
        if not names and plain == "score-timewise":
            raise NotationError("expected MusicXML by parts (score-partwise), got score-timewise")
        if not names and plain not in _ROOTS:
            raise NotationError(f"expected MusicXML or MEI, got XML that begins with {shown(plain)}")
        names[plain] = None
        inside.append(plain)
        if len(inside) > MOST_DEPTH:
            raise NotationError(f"expected at most {MOST_DEPTH} elements inside one another, got more")

    def doctype(name: str, system: str | None, public: str | None, has_own: int) -> None:
        if has_own:  # a public one may be named, and is not fetched
            raise NotationError("expected XML without a document type of its own, got one")

    first += text[: len(text) - len(text.lstrip())].count("\n")
    parser = expat.ParserCreate("utf-8")  # the text is decoded already, whatever its declaration says
    parser.StartElementHandler, parser.EndElementHandler = start, lambda name: inside.pop()
    parser.StartDoctypeDeclHandler, parser.EntityDeclHandler = doctype, refuse_entity
    try:
        parser.Parse(text.lstrip().encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        what, line = expat.ErrorString(error.code), first + error.lineno - 1
        raise NotationError(f"expected well-formed XML, got {what}", line=line) from None
    except NotationError as error:
        raise NotationError(str(error), line=first + parser.CurrentLineNumber - 1) from None
    form = _ROOTS[next(iter(names))]
    if _NOTES[form].isdisjoint(names):
        raise NotationError(f"expected {FORMS[form]} with notes, got none")
    body = re.sub(r"\A\s*<\?xml[^>]*\?>", "", text)
    return CheckedNotation(form, re.sub(r"<!DOCTYPE[^>\[]*>", "", body, count=1).strip())


def refuse_entity(*about: object) -> None:
    """Refuse a declaration of an entity, for expat: entities can make a small file endless, or include another file."""
    raise NotationError("expected XML without entities, got one")


def _check_pae(text: str, first: int) -> CheckedNotation:
    """Check the fields, and write one per line in the order that the engraver knows."""
    values, lines = (_parse_one_line if text.lstrip().startswith("%") else _parse_fields)(text, first)
    for name in ("clef", "data"):
        if not values.get(name):
            wanted = "a clef, as in @clef:G-2" if name == "clef" else "notes, as in @data:'4CDEF"
            raise NotationError(f"expected {wanted}, got none", line=lines.get(name, first))
    if not _CLEF.fullmatch(values["clef"]):
        came = shown(values["clef"])
        raise NotationError(f"expected a clef such as G-2, C-1 or F-4, got {came}", line=lines["clef"])
    _check_characters(values["data"], lines["data"])
    _check_brackets(values["data"], lines["data"])
    kept = "\n".join(f"@{name}:{values.get(name, '')}" for name in _FIELDS)
    return CheckedNotation("pae", kept, lines)


def _parse_one_line(text: str, first: int) -> tuple[dict[str, str], dict[str, int]]:
    """Parse the form ``%clef$key@time notes``, its parts in any order and on one or several lines."""
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


def _parse_fields(text: str, first: int) -> tuple[dict[str, str], dict[str, int]]:
    """Parse lines ``@name:value``; notes may continue on the lines after theirs."""
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    last = ""
    for number, row in enumerate(map(str.strip, text.split("\n")), start=first):
        if matched := re.match(r"@([A-Za-z]+):(.*)", row):
            last = matched[1].lower()
            if last in values and last in _FIELDS:
                raise NotationError(f"expected one @{last}, got another", line=number)
            values[last], lines[last] = matched[2].strip(), number
        elif row and last == "data":
            values["data"] = f"{values['data']} {row}".strip()
        elif row:
            raise NotationError(f"expected a field such as @data:, got {shown(row)}", line=number)
    return values, lines


def _check_characters(data: str, line: int) -> None:
    """Refuse characters that do not belong to the code, and say where they are."""
    at = 0
    while at < len(data) and (token := _CODE.match(data, at)) and token.end() > at:
        at = token.end()
    wanted, came = "characters of Plaine & Easie", data[at : at + 1]
    if at == len(data):
        high = _OCTAVES.search(data)
        if high is None:
            return
        wanted, came, at = f"at most {MOST_OCTAVES} octaves", high[0], high.start()
    raise NotationError(f"expected {wanted}, got {shown(came)} at character {at + 1} of the notes", line=line)


def _check_brackets(data: str, line: int) -> None:
    """Refuse beams, groups and figures that do not end or begin again too early; some of these crash the engraver.

    Beams may be inside groups and groups inside beams; repeated figures may hold both.
    """
    pairs = {"}": "{", ")": "("}
    still_open: list[tuple[str, int]] = []
    for at, character in enumerate(data):
        opened = [bracket for bracket, _ in still_open]
        if character in "{(" or (character == "!" and character not in opened):
            if character in opened or (character == "!" and opened):
                break
            still_open.append((character, at))
        elif character == "=" and opened:
            break
        elif character in "})!":
            if not opened or opened[-1] != pairs.get(character, character):
                break
            still_open.pop()
    else:
        if not still_open:
            return
        character, at = still_open[-1]
    came = f"{character!r} at character {at + 1} of the notes"
    raise NotationError(f"expected brackets and ! that end in turn, got {came}", line=line)
