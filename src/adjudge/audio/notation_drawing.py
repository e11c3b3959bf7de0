"""What the engraver draws, made safe and small: shapes and words, nothing that runs, loads or styles.

Only elements and attributes of a short list are kept, each with a value of the form that it should have. Signs that the
engraver defines once and uses often are put where they are used, so that a drawing refers to nothing, not even to
itself. Everything is drawn in ``currentColor``: black on white, white on black, as the page is. Of all identifiers only
those of notes stay, as n1, n2, … in the order in which they are drawn, so that one can point to the notes that sound.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from adjudge.audio.notation_checks import NotationError

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
