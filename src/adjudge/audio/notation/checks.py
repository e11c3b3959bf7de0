"""Notation checked before anything is drawn: which form it has, and whether it can be what it claims.

The engraver draws whatever it is given, and some malformed input ends its process. Its input is therefore checked here:
Plaine & Easie is split into its fields and every character must belong to the code; XML must be well-formed, without
entities, of a known root, and have notes. ABC is refused: the engraver's reader of it loses accidentals inside a bar,
lengths of chords and clefs, and ends its process for a missing key or an open quote.

References: IAML and RISM, "Plaine & Easie Code"; W3C MusicXML 4.0; Music Encoding Initiative, MEI 5.
"""

from __future__ import annotations

import re
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


@dataclass(frozen=True)
class CheckedNotation:
    """Notation that the engraver may have: its form, the text for the engraver, and where its fields came from.

    ``lines`` are those of the fields of Plaine & Easie.
    """

    form: str
    text: str
    lines: dict[str, int] = field(default_factory=dict)


def recognise_form(text: str) -> str | None:
    """The form that a text seems to have, or None.

    >>> recognise_form("%G-2$xF@3/4 '4GAB"), recognise_form("<mei/>"), recognise_form("Dear all,")
    ('pae', 'mei', None)
    """
    head = text.lstrip("\ufeff \t\r\n")
    if head.startswith(("@", "%")) and not head.startswith("%abc"):
        return "pae"
    if head.startswith("<"):
        root = re.search(r"<(?![?!])(?:[\w.-]+:)?([\w.-]+)", head)
        return _ROOTS.get(root[1], "musicxml") if root else "musicxml"
    return None


def check_notation(text: str, *, form: str | None = None, source: str | None = None, line: int = 1) -> CheckedNotation:
    """Check a text and return what the engraver may have; refused where it cannot be notation of its form.

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
    found = form or recognise_form(plain)
    if found is None:
        is_abc = re.search(r"^K:", plain, re.MULTILINE)
        came = "ABC (save the tune as MusicXML)" if is_abc else shown(plain.strip())
        raise NotationError(f"expected Plaine & Easie, MusicXML or MEI, got {came}", source=source, line=line)
    if found not in FORMS:
        raise NotationError(f"expected a form among {', '.join(FORMS)}, got {shown(found)}", source=source)
    if found != "pae":
        return _check_xml(plain, source=source, first=line)
    if len(plain) > MOST_PAE:
        came = f"{len(plain):,} of {FORMS[found]}"
        raise NotationError(f"expected at most {MOST_PAE:,} characters, got {came}", source=source, line=line)
    return _check_pae(plain, source=source, first=line)


def _check_xml(text: str, *, source: str | None, first: int) -> CheckedNotation:
    """Check XML, and return it without its declaration and its document type."""
    checker = _XmlChecker()
    parser = expat.ParserCreate("utf-8")  # the text is decoded already, whatever its declaration says
    parser.StartElementHandler = checker.start
    parser.EndElementHandler = checker.end
    parser.StartDoctypeDeclHandler = checker.doctype
    parser.EntityDeclHandler = checker.entity
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
    form = _ROOTS[checker.root]
    if not checker.names & _NOTES[form]:
        raise NotationError(f"expected {FORMS[form]} with notes, got none", source=source)
    body = re.sub(r"\A\s*<\?xml[^>]*\?>", "", text)
    return CheckedNotation(form, re.sub(r"<!DOCTYPE[^>\[]*>", "", body, count=1).strip())


class _XmlChecker:
    """Collects the names of elements while XML is parsed, and refuses what must not be there."""

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
        """A document type may name a public one, which is not fetched, but define nothing."""
        if inside:
            raise NotationError("expected XML without a document type of its own, got one")

    def entity(self, *about: object) -> None:
        """Entities can make a small file endless, or include another file."""
        raise NotationError("expected XML without entities, got one")


def _check_pae(text: str, *, source: str | None, first: int) -> CheckedNotation:
    """Check the fields, and write one per line in the order that the engraver knows."""
    values, lines = (_parse_one_line if text.lstrip().startswith("%") else _parse_fields)(
        text, source=source, first=first
    )
    for name in ("clef", "data"):
        if not values.get(name):
            wanted = "a clef, as in @clef:G-2" if name == "clef" else "notes, as in @data:'4CDEF"
            raise NotationError(f"expected {wanted}, got none", source=source, line=lines.get(name, first))
    if not _CLEF.fullmatch(values["clef"]):
        came = shown(values["clef"])
        raise NotationError(f"expected a clef such as G-2, C-1 or F-4, got {came}", source=source, line=lines["clef"])
    _check_characters(values["data"], source=source, line=lines["data"])
    _check_brackets(values["data"], source=source, line=lines["data"])
    kept = "\n".join(f"@{name}:{values.get(name, '')}" for name in _FIELDS)
    return CheckedNotation("pae", kept, lines)


def _parse_one_line(text: str, *, source: str | None, first: int) -> tuple[dict[str, str], dict[str, int]]:
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


def _parse_fields(text: str, *, source: str | None, first: int) -> tuple[dict[str, str], dict[str, int]]:
    """Parse lines ``@name:value``; notes may continue on the lines after theirs."""
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    last = ""
    for number, row in enumerate(text.split("\n"), start=first):
        matched = re.match(r"@([A-Za-z]+):(.*)", row.strip())
        if matched:
            last = matched[1].lower()
            if last in values and last in _FIELDS:
                raise NotationError(f"expected one @{last}, got another", source=source, line=number)
            values[last], lines[last] = matched[2].strip(), number
        elif row.strip() and last == "data":
            values["data"] = f"{values['data']} {row.strip()}".strip()
        elif row.strip():
            raise NotationError(
                f"expected a field such as @data:, got {shown(row.strip())}", source=source, line=number
            )
    return values, lines


def _check_characters(data: str, *, source: str | None, line: int) -> None:
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
    place = f"at character {at + 1} of the notes"
    raise NotationError(f"expected {wanted}, got {shown(came)} {place}", source=source, line=line)


def _check_brackets(data: str, *, source: str | None, line: int) -> None:
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
    raise NotationError(f"expected brackets and ! that end in turn, got {came}", source=source, line=line)
