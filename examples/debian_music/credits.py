"""Who made a piece of music from a Debian package, and under which licence: from its tags and the copyright file.

Tags come first, as they are about that very file; the copyright file completes them (a tag ``GPL`` becomes the
``GPL-2+`` of the package). Where both disagree, both are given. An artist that no tag names is taken from the name of
the file (``02 - Artist - Title.ogg``), or from the copyright file where it gives that music, and no other part of the
program, to one person; otherwise nobody is named.

Most copyright files are machine-readable (`copyright-format 1.0`_): stanzas with patterns of files, of which the last
that fits counts. Patterns are about the source package, where files may lie elsewhere than where they get installed:
``data/mus*.ogg`` becomes ``/usr/share/games/zaz/mus1.ogg``. A pattern therefore fits a file where it fits the end of
its path below the program's folder; where only the pattern for everything does, the end of a pattern may fit, too, if
it names a folder or a good part of the file's name. Other copyright files are free text: there the licence is the first
of Creative Commons or GNU that is named after what the packagers say of themselves.

.. _copyright-format 1.0: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adjudge.audio.library.tags import clean, open_tags, read_tags
from examples.debian_music.packages import COPYRIGHT, MUSIC, Package

_LICENCE_TAGS = ("license", "licence", "licenseurl", "copyright", "copyright message", "comment")
_OWNER_TAGS = ("copyright", "copyright message", "comment")
_PLACE_TAGS = ("url", "contact", "website", "location", "comment")
_ADDRESS = re.compile(
    r"https?://[^\s|;,)>\"]+[^\s|;,)>\".]|\b(?:www\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org|info)\b/?"
)
_OWNED = re.compile(r"(?i)copyright|©|\(c\)|\blicen[sc]ed\b")
_PACKAGING = re.compile(r"(?im)^(?:it was downloaded from|upstream authors?|the (?:original )?source)\b.*$")
_OWNER = re.compile(r"(?im)^\s*(?:copyright\s*:?\s*)?(?:\(c\)|©|copyright\s+\d{4})\s*.*$")
_COMMONS = re.compile(
    r"(?i)creativecommons\.org/(?:licenses/(by(?:-[a-z]+)*)/(\d\.\d)(?:/([a-z]{2})\b)?|publicdomain/(zero)/(\d\.\d))"
)
_GNU = re.compile(r"(?is)GNU\s+(Lesser\s+|Library\s+)?General\s+Public\s+License(.{0,250})")
_NUMBERED = re.compile(r"\d{1,3}\s*[-.]\s+(?P<artist>[^-]+?)\s+-\s+(?P<title>.+)")
_BEFORE_HOLDER = re.compile(r"(?i)^(?:copyright\b|\(c\)|©|[\d,\s–-]|:)+")
_AFTER_HOLDER = re.compile(r"\s*[<(\[].*$")
_FOR_MUSIC = re.compile(r"(?i)\((?:[^)]*\s)?music\b[^)]*\)")
_GROUP = re.compile(
    r"(?i)[,;&/]|\b(?:and|others|team|project|contributors?|authors|developers?|foundation|inc|ltd|llc|gmbh|s\.?a|s\.?l|"
    r"soft|software|games?|studios?|entertainment|interactive|records?|none|unknown|no-copyright|members?)\b"
)
_LEAST_LETTERS = 3  # of a file's name that a pattern must spell out where no folder of it fits


@dataclass(frozen=True)
class Credit:
    """What is known of a piece of music; what is not known is empty. ``source`` is its path in the package."""

    document: str
    title: str
    artist: str
    album: str
    genre: str
    year: str
    package: str
    version: str
    licence: str
    copyright: str
    url: str
    source: str

    @property
    def file(self) -> str:
        """Its path below the folder of music."""
        return f"{self.package}/{self.source}"


@dataclass(frozen=True)
class Stanza:
    """What a copyright file says of a file: whose it is, a line per holder, under which licence, by its short name."""

    holders: tuple[str, ...]
    licence: str
    is_general: bool  # about everything that no other stanza is about

    @property
    def line_of_music(self) -> str:
        """The only line that says that it is about music; nothing where there is none, or several."""
        about = [line for line in self.holders if _FOR_MUSIC.search(line)]
        return about[0] if len(about) == 1 else ""


class CopyrightFile:
    """The copyright file of a package: its stanzas, or what can be told from free text."""

    def __init__(self, text: str) -> None:
        from debian.copyright import Copyright, NotMachineReadableError

        try:
            self.paragraphs = list(Copyright(text.splitlines(), strict=False).all_files_paragraphs())
        except NotMachineReadableError:
            self.paragraphs = []
        start = _PACKAGING.search(text)
        self.own_part = text[start.end() :] if start is not None else text

    def covering(self, path: str) -> Stanza:
        """What is said of a file, by its path in the package; in free text, of the whole package."""
        below = re.sub(r"^usr/share/(games/)?[^/]+/", "", path)  # the program's folder stands for the source package
        parts = below.split("/")
        ends = ["/".join(parts[start:]) for start in range(len(parts))]
        fits = [paragraph for paragraph in self.paragraphs if any(map(paragraph.matches, ends))]
        if not fits or "*" in fits[-1].files:
            after = self.paragraphs[self.paragraphs.index(fits[-1]) + 1 :] if fits else self.paragraphs
            fits += [
                paragraph for paragraph in after if any(_ends_alike(pattern, below) for pattern in paragraph.files)
            ]
        if self.paragraphs and not fits:
            return Stanza((), "", True)
        if not fits:
            lines = list(dict.fromkeys(clean(found[0]) for found in _OWNER.finditer(self.own_part)))
            return Stanza(tuple(lines) if len(lines) == 1 else (), named_licence(self.own_part), True)
        holders = tuple(line.strip() for line in (fits[-1].copyright or "").splitlines() if line.strip())
        licence = fits[-1].license.synopsis if fits[-1].license else ""
        return Stanza(holders, licence, "*" in fits[-1].files)

    @property
    def has_one_stanza(self) -> bool:
        """Whether everything but the packaging is covered by one stanza."""
        own = (not all(pattern.startswith("debian/") for pattern in stanza.files) for stanza in self.paragraphs)
        return sum(own) == 1


def _ends_alike(pattern: str, path: str) -> bool:
    """Whether the end of a pattern fits the end of a path: a folder and a name, or most of a name."""
    parts, wanted = PurePosixPath(path), PurePosixPath(pattern).parts
    stem, dot, _ = wanted[-1].rpartition(".")
    ends = [wanted[start:] for start in range(1, len(wanted) - 1)]
    if dot and len(re.findall(r"\w", stem)) >= _LEAST_LETTERS:
        ends.append(wanted[-1:])
    return any(parts.match("/".join(end)) for end in ends if "*" not in end[:-1])


def named_licence(text: str) -> str:
    """The licence of Creative Commons or GNU that a text names first; nothing where it names none.

    >>> named_licence("It may be used under the GNU General Public License, version 2 or any later version.")
    'GPL-2+'
    >>> named_licence("See https://creativecommons.org/licenses/by-sa/2.0/de/")
    'CC-BY-SA-2.0-DE'
    """
    commons, gnu = _COMMONS.search(text), _GNU.search(text)
    if commons is not None and (gnu is None or commons.start() < gnu.start()):
        zero = f"CC0-{commons[5]}"
        return zero if commons[4] else "-".join(part.upper() for part in ("cc", *commons.group(1, 2, 3)) if part)
    if gnu is None:
        return ""
    version = re.search(r"(?i)(?:version|v)\s*(\d(?:\.\d)?)", gnu[2])
    later = "+" if re.search(r"later|newer", gnu[2]) else ""
    return ("LGPL" if gnu[1] else "GPL") + (f"-{version[1]}{later}" if version is not None else "")


def credits_of(package: Package, folder: Path) -> list[Credit]:
    """Credits for all music that was kept of a package."""
    text = (folder / COPYRIGHT / f"{package.name}.txt").read_text("utf-8", errors="replace")
    copyright_file, by_document = CopyrightFile(text), dict[str, Credit]()
    for source in package.files:
        document = re.sub(r"[^A-Za-z0-9._]+", "-", f"{package.name}-{PurePosixPath(source).stem}").strip("-")
        if document in by_document:
            document = f"{document}-{len(by_document) + 1}"
        by_document[document] = _credit(document, source, package, copyright_file, folder)
    return list(by_document.values())


def _credit(document: str, source: str, package: Package, copyright_file: CopyrightFile, folder: Path) -> Credit:
    path = folder / MUSIC / package.name / source
    tag = open_tags(path)
    given = {} if tag is None else tag.as_dict()
    listed = {name.lower(): value if isinstance(value, list) else [value] for name, value in given.items()}
    raw = {name: [str(text) for text in texts if text] for name, texts in listed.items()}
    known = read_tags(path)
    named = _NUMBERED.fullmatch(PurePosixPath(source).stem)
    stanza = copyright_file.covering(source)
    is_about_music = not stanza.is_general or (copyright_file.has_one_stanza and "music" in package.name)
    line = stanza.line_of_music or (stanza.holders[0] if is_about_music and len(stanza.holders) == 1 else "")
    return Credit(
        document=document,
        title=_title(known.get("title", ""), raw.get("title", []), source, named),
        artist=known.get("artist") or (clean(named["artist"]) if named is not None else holder(line)),
        album=known.get("album", ""),
        genre=known.get("genre", ""),
        year=known.get("year", ""),
        package=package.name,
        version=package.version,
        licence=_licence(_tagged_licence(raw), stanza.licence),
        copyright=_owner(raw, stanza),
        url=_address(raw, stanza),
        source=source,
    )


def _title(tagged: str, titles: list[str], source: str, named: re.Match[str] | None) -> str:
    """The title; of several in the tags the one that the file is called after, without any the file's name.

    >>> _title("Living Caves", ["Living Caves", "Crossroads", "Desert"], "music/hr3-crossroads.ogg", None)
    'Crossroads'
    """

    def letters(text: str) -> str:
        return "".join(letter for letter in text.casefold() if letter.isalnum())

    stem = PurePosixPath(source).stem
    if len(titles) > 1:
        last_word = letters(re.split(r"[-_ ]", stem)[-1])
        return next((clean(title) for title in titles if last_word in letters(title)), tagged)
    return tagged or (named["title"] if named is not None else clean(stem.replace("_", " ")))


def holder(line: str) -> str:
    """The one person that a line of copyright names; nothing where it is several, or no person.

    >>> holder("2007-2009 Jordan Trudgett <jordan@example.org>"), holder("2001, Daniel Roux, EPSITEC SA & Team")
    ('Jordan Trudgett', '')
    """
    name = clean(_AFTER_HOLDER.sub("", _BEFORE_HOLDER.sub("", line)))
    return "" if _GROUP.search(name) else name


def _tagged_licence(raw: dict[str, list[str]]) -> str:
    """The licence that tags name, by its short name where it is one of Creative Commons or GNU."""
    for name in _LICENCE_TAGS:
        for text in raw.get(name, []):
            is_about_it = name.startswith("licen") or _COMMONS.search(text) or _OWNED.search(text)
            if is_about_it and (found := named_licence(text) or (clean(text) if name.startswith("licen") else "")):
                return found
    return ""


def _licence(tagged: str, packaged: str) -> str:
    """One licence out of what the tags and the copyright file say; both where they differ.

    >>> _licence("GPL", "GPL-2+"), _licence("CC-BY-SA-3.0", "CC-BY-SA"), _licence("", "GPL-3+")
    ('GPL-2+', 'CC-BY-SA-3.0', 'GPL-3+')
    >>> _licence("CC-BY-SA-2.0-DE", "CC-BY-SA-3.0")
    'CC-BY-SA-2.0-DE (tags), CC-BY-SA-3.0 (package)'
    """
    short, long = sorted((tagged, packaged), key=len)
    if re.match(rf"{re.escape(short)}(?![A-Za-z])", long, re.IGNORECASE) or not short:
        return long
    return f"{tagged} (tags), {packaged} (package)"


def _owner(raw: dict[str, list[str]], stanza: Stanza) -> str:
    """Whose it is: as the tags say, else the copyright file."""
    tagged = [line for name in _OWNER_TAGS for text in raw.get(name, []) for line in text.splitlines()]
    owned = [line for line in tagged if _OWNED.search(line)]
    return clean(owned[0] if owned else stanza.line_of_music or "; ".join(stanza.holders))


def _address(raw: dict[str, list[str]], stanza: Stanza) -> str:
    """Where more of it is: an address in the tags, else one beside its only holder's name."""
    texts = [text for name in _PLACE_TAGS for text in raw.get(name, [])]
    if not stanza.is_general and len(stanza.holders) == 1:
        texts.append(stanza.holders[0].partition("<")[0])
    found = (match[0] for text in texts for match in _ADDRESS.finditer(text) if not _COMMONS.search(match[0]))
    return next(found, "")
