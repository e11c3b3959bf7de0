"""What the copyright file of a Debian package says: which licence covers a file, and whose it is.

Most are machine-readable (`copyright-format 1.0`_, once called DEP-5): stanzas with patterns of files, of which the
last that fits counts. Patterns are about the source package, where files may lie elsewhere than where they get
installed: ``data/mus*.ogg`` becomes ``/usr/share/games/zaz/mus1.ogg``. A pattern therefore fits a file where it fits
the end of its path below the program's folder; where none but that for everything does, its own end may fit, too, if
it names a folder or a good part of the file's name.

Others are free text. There the licence is that which is named first after what the packagers say of themselves, and
whoever needs to know more must read the text, which is kept whole.

.. _copyright-format 1.0: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

EVERYTHING = "*"
_LEAST_LETTERS = 3  # of a file's name that a pattern must spell out where no folder of it fits
_MACHINE_READABLE = re.compile(r"(?i)copyright-format|dep-?5")
_FIELD = re.compile(r"([A-Za-z][\w-]*)\s*:\s*(.*)")
_SHARED = (("usr", "share", "games"), ("usr", "share"))  # where programs have their folders
_PACKAGING = re.compile(r"(?im)^(?:it was downloaded from|upstream authors?|the (?:original )?source)\b.*$")
_PART = re.compile(r"(?m)^\s*-{3,}\s*$")
_OWNER = re.compile(r"(?im)^\s*(?:copyright\s*:?\s*)?(?:\(c\)|©|copyright\s+\d{4})\s*.*$")


@dataclass(frozen=True)
class Stanza:
    """Files of a package (patterns), whose they are (a line a holder), under which licence, by its short name."""

    files: tuple[str, ...]
    copyright: tuple[str, ...]
    licence: str
    comment: str = ""

    @property
    def is_general(self) -> bool:
        """Whether it is about everything that no other stanza is about."""
        return EVERYTHING in self.files


@dataclass(frozen=True)
class CopyrightFile:
    """A copyright file: its text, and its stanzas; a free text has none."""

    text: str
    stanzas: tuple[Stanza, ...]

    def covering(self, path: str) -> Stanza | None:
        """The stanza about a file, by its path in the package: the last that fits, as the format says.

        >>> zaz = read_copyright('''Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
        ...
        ... Files: *
        ... Copyright: 2009 A. Programmer
        ... License: GPL-3+
        ...
        ... Files: data/mus*.ogg
        ... Copyright: A. Musician
        ... License: CC-BY-SA-3.0
        ... ''')
        >>> zaz.covering("usr/share/games/zaz/mus1.ogg").licence, zaz.covering("usr/share/games/zaz/a.png").licence
        ('CC-BY-SA-3.0', 'GPL-3+')
        """
        fits = [place for place, stanza in enumerate(self.stanzas) if any(_fits(one, path) for one in stanza.files)]
        best = fits[-1] if fits else -1
        if best < 0 or self.stanzas[best].is_general:
            nearly = [
                place
                for place, stanza in enumerate(self.stanzas)
                if place > best and any(_ends_alike(one, path) for one in stanza.files)
            ]
            best = nearly[-1] if nearly else best
        return self.stanzas[best] if best >= 0 else None

    @property
    def is_of_one_kind(self) -> bool:
        """Whether everything but the packaging is covered by one stanza."""
        return len([stanza for stanza in self.stanzas if not _is_packaging(stanza)]) == 1


def read_copyright(text: str) -> CopyrightFile:
    """Understand a copyright file; one that does not begin with its ``Format:`` is free text, without stanzas."""
    head = next(paragraphs(text), {})
    declared = head.get("format") or head.get("format-specification") or ""
    if _MACHINE_READABLE.search(declared) is None:
        return CopyrightFile(text, ())
    return CopyrightFile(text, tuple(_stanzas(text)))


def _stanzas(text: str) -> Iterator[Stanza]:
    for paragraph in paragraphs(text):
        if "files" in paragraph:
            licence = paragraph.get("license", "").partition("\n")[0].strip()
            holders = tuple(line.strip() for line in paragraph.get("copyright", "").splitlines() if line.strip())
            patterns = tuple(part for part in re.split(r"[\s,]+", paragraph["files"]) if part)
            yield Stanza(patterns, holders, licence, " ".join(paragraph.get("comment", "").split()))


def paragraphs(text: str) -> Iterator[dict[str, str]]:
    r"""Paragraphs of fields as Debian writes them (deb822): names in lower case, lines that go on joined by a break.

    >>> list(paragraphs("Package: a\nFiles: x\n y\n\nPackage: b\n"))
    [{'package': 'a', 'files': 'x\ny'}, {'package': 'b'}]
    """
    fields: dict[str, str] = {}
    name = ""
    for line in [*text.splitlines(), ""]:
        found = _FIELD.match(line)
        if not line.strip():
            if fields:
                yield fields
            fields, name = {}, ""
        elif line[0] in " \t":
            if name:
                fields[name] += "\n" + line.strip()
        elif found is not None:
            name = found[1].lower()
            fields[name] = found[2].strip()


def _is_packaging(stanza: Stanza) -> bool:
    return all(pattern.startswith("debian/") for pattern in stanza.files)


def _fits(pattern: str, path: str) -> bool:
    """Whether a pattern fits a path or the end of it; its stars cross folders."""
    parts = _below_program(path)
    expression = _expression(pattern.removeprefix("./"), star=".*")
    return any(expression.fullmatch("/".join(parts[start:])) for start in range(len(parts)))


def _below_program(path: str) -> tuple[str, ...]:
    """Where a file is in the folder of its program: that one stands for the source package, whatever it is called.

    >>> _below_program("usr/share/games/hedgewars/Data/Music/Art.ogg")
    ('Data', 'Music', 'Art.ogg')
    """
    parts = PurePosixPath(path).parts
    shared = next((len(head) for head in _SHARED if parts[: len(head)] == head), -1)
    return parts[shared + 1 :] if shared + 1 < len(parts) else parts[-1:]


def _ends_alike(pattern: str, path: str) -> bool:
    """Whether the end of a pattern fits the end of a path: a folder and a name, or most of a name."""
    parts, wanted = _below_program(path), PurePosixPath(pattern).parts
    ends = [wanted[start:] for start in range(1, len(wanted) - 1)]
    if wanted and _spells_out(wanted[-1], parts[-1]):
        ends.append(wanted[-1:])
    return any(
        _expression("/".join(end), star="[^/]*").fullmatch("/".join(parts[-len(end) :]))
        for end in ends
        if EVERYTHING not in end[:-1]
    )


def _spells_out(pattern: str, name: str) -> bool:
    stem, dot, suffix = pattern.rpartition(".")
    return bool(dot) and name.endswith(f".{suffix}") and len(re.findall(r"\w", stem)) >= _LEAST_LETTERS


def _expression(pattern: str, *, star: str) -> re.Pattern[str]:
    """A pattern of the format as a regular expression: ``*``, ``?``, and a backslash before them and itself."""
    signs = {"*": star, "?": "." if star == ".*" else "[^/]"}
    parts = re.findall(r"\\[*?\\]|.", pattern)
    return re.compile(
        "".join(re.escape(part[1]) if len(part) > 1 else signs.get(part, re.escape(part)) for part in parts)
    )


# Licences as free text names them: how it says so, with the version as a group, and the short name.
_NAMED = (
    (r"creativecommons\.org/licenses/([a-z-]+/\d\.\d(?:/[a-z]{2}(?![\w]))?)", "CC-{}"),
    (r"Creative\s+Commons\s+Attribution[-\s]+Share[-\s]?Alike\s+(?:license\s+)?v?(\d\.\d)?", "CC-BY-SA"),
    (r"Creative\s+Commons\s+Attribution\s+(?:license\s+)?v?(\d\.\d)", "CC-BY"),
    (r"License\s+Elements\s+of\s+this\s+License:\s*Attribution,\s*Share-?Alike()", "CC-BY-SA"),
    (r"title\s+of\s+this\s+License:\s*Attribution,\s*Share-?Alike()", "CC-BY-SA"),
    (r"CC0()\b", "CC0"),
    (r"GNU\s+(?:Lesser|Library)\s+General\s+Public\s+License", "LGPL"),
    (r"GNU\s+General\s+Public\s+License", "GPL"),
    (r"Artistic\s+License()", "Artistic"),
    (r"Apache\s+License,\s+Version\s+(2\.0)", "Apache"),
    (r"Permission\s+is\s+hereby\s+granted,\s+free\s+of\s+charge()", "MIT"),
    (r"Redistribution\s+and\s+use\s+in\s+source\s+and\s+binary\s+forms()", "BSD"),
    (r"public\s+domain()", "public-domain"),
)  # fmt: skip
_VERSION = re.compile(r"(?:version|v)\s*(\d(?:\.\d)?)|GPL-?v?(\d(?:\.\d)?)", re.IGNORECASE)
_NEAR = 250  # characters around its name in which the version of a GNU licence stands


def named_licence(text: str) -> str:
    """The licence that a free text names first, after what it says of its packaging; nothing where it names none.

    >>> named_licence("It may be used under the GNU General Public License, version 2 or any later version.")
    'GPL-2+'
    >>> named_licence("See https://creativecommons.org/licenses/by-sa/3.0/")
    'CC-BY-SA-3.0'
    """
    said = _own_part(text)
    found = [
        (match.start(), place, match)
        for place, (expression, _) in enumerate(_NAMED)
        if (match := re.search(expression, said, re.IGNORECASE)) is not None
    ]
    if not found:
        return ""
    _, place, match = min(found, key=lambda one: one[:2])
    return _short_name(_NAMED[place][1], match, said)


def _short_name(name: str, match: re.Match[str], text: str) -> str:
    if name.endswith("GPL"):
        around = text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        version = _VERSION.search(text[match.end() : match.end() + _NEAR]) or _VERSION.search(around)
        number = "" if version is None else f"-{version[1] or version[2]}"
        return f"{name}{number}{'+' if number and re.search(r'later|newer', around) else ''}"
    if name == "CC-{}":
        return name.format(match[1].upper().replace("/", "-"))
    return f"{name}-{match[1]}" if match[1] else name


def _own_part(text: str) -> str:
    """The part of a free text that is about the work itself: after the packagers', before that of single files."""
    start = _PACKAGING.search(text)
    rest = text[start.end() :] if start is not None else text
    cuts = [0, *(found.start() for found in _PART.finditer(rest)), len(rest)]
    parts = [rest[begin:end] for begin, end in pairwise(cuts)]
    return next(
        (part for part in parts if any(re.search(expression, part, re.IGNORECASE) for expression, _ in _NAMED)), rest
    )


def only_holder(text: str) -> str:
    r"""The line of copyright in a free text, where there is one and no other; otherwise nothing.

    >>> only_holder("Copyright (C) 2007 Max McCracken\n\nLicense: …")
    'Copyright (C) 2007 Max McCracken'
    """
    lines = list(dict.fromkeys(" ".join(found[0].split()) for found in _OWNER.finditer(_own_part(text))))
    return lines[0] if len(lines) == 1 else ""
