"""Who made a piece of music from a Debian package, and under which licence: from its tags and the copyright file.

What tags say of a file comes first, as it is about that very file; what the copyright file says completes it (a tag
``GPL`` becomes the ``GPL-2+`` of the package). Where both say different things, both are given. An artist that no tag
names is taken from the name of the file (``02 - Artist - Title.ogg``), or from the copyright file where it gives that
music, and no other part of the program, to one person; otherwise nobody is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adjudge.audio.debian_copyright import CopyrightFile, Stanza, named_licence, only_holder, read_copyright
from adjudge.audio.debian_music import MUSIC, KeptFile, KeptPackage
from adjudge.audio.library.tags import clean, open_tags, read_tags

_LICENCE_TAGS = ("license", "licence", "licenseurl", "copyright", "copyright message", "comment")
_OWNER_TAGS = ("copyright", "copyright message", "comment")
_PLACE_TAGS = ("url", "contact", "website", "location")
_ADDRESS = re.compile(
    r"https?://[^\s|;,)>\"]+[^\s|;,)>\".]|\b(?:www\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org|info)\b/?"
)
_OWNED = re.compile(r"(?i)copyright|©|\(c\)|\blicen[sc]ed\b")
_COMMONS = re.compile(
    r"creativecommons\.org/(?:licenses/(by(?:-[a-z]+)*)/(\d\.\d)(?:/([a-z]{2})\b)?|publicdomain/(zero)/(\d\.\d))"
)
_NUMBERED = re.compile(r"\d{1,3}\s*[-.]\s+(?P<artist>[^-]+?)\s+-\s+(?P<title>.+)")
_BEFORE_HOLDER = re.compile(r"(?i)^(?:copyright\b|\(c\)|©|[\d,\s–-]|:)+")
_AFTER_HOLDER = re.compile(r"\s*[<(\[].*$")
_FOR_MUSIC = re.compile(r"(?i)\((?:[^)]*\s)?music\b[^)]*\)")
_GROUP = re.compile(
    r"(?i)[,;&/]|\b(?:and|others|team|project|contributors?|authors|developers?|foundation|inc|ltd|llc|gmbh|s\.?a|s\.?l|"
    r"soft|software|games?|studios?|entertainment|interactive|records?|none|unknown|no-copyright|members?)\b"
)


@dataclass(frozen=True)
class Credit:
    """What is known of a piece of music; what is not known is empty.

    ``file`` is its path below the folder of music, ``source`` that in its package.
    """

    file: str
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


def credits_of(package: KeptPackage, folder: Path) -> list[Credit]:
    """Credits for all music that was kept of a package."""
    text = package.copyright_file(folder).read_text("utf-8", errors="replace")
    said = read_copyright(text)
    return [_credit(one, package, said, folder) for one in package.files]


def _credit(one: KeptFile, package: KeptPackage, said: CopyrightFile, folder: Path) -> Credit:
    path = folder / MUSIC / one.file
    known, raw = read_tags(path), _raw_tags(path)
    named = _NUMBERED.fullmatch(PurePosixPath(one.source).stem)
    stanza = said.covering(one.source)
    return Credit(
        file=one.file,
        title=_title(known.get("title", ""), raw.get("title", []), one.source, named),
        artist=known.get("artist") or _artist(named, stanza, said, package.name),
        album=known.get("album", ""),
        genre=known.get("genre", ""),
        year=known.get("year", ""),
        package=package.name,
        version=package.version,
        licence=_licence(_tagged_licence(raw), stanza.licence if stanza is not None else named_licence(said.text)),
        copyright=_owner(raw, stanza, said),
        url=_address(raw, stanza),
        source=one.source,
    )


def _raw_tags(path: Path) -> dict[str, list[str]]:
    """All tags of a file, by name in lower case, each with all its values."""
    tag = open_tags(path)
    values: dict[str, list[str]] = {}
    for name, given in ({} if tag is None else tag.as_dict()).items():
        texts = given if isinstance(given, list) else [given]
        values[name.lower()] = [str(text) for text in texts if text]
    return values


def _title(tagged: str, titles: list[str], source: str, named: re.Match[str] | None) -> str:
    """The title; of several in the tags the one that the file is called after, without any the file's name.

    >>> _title("Living Caves", ["Living Caves", "Crossroads", "Desert"], "music/hr3-crossroads.ogg", None)
    'Crossroads'
    """
    stem = PurePosixPath(source).stem
    if len(titles) > 1:
        last_word = re.split(r"[-_ ]", stem)[-1]
        return next((clean(title) for title in titles if _letters(last_word) in _letters(title)), tagged)
    return tagged or (named["title"] if named is not None else clean(stem.replace("_", " ")))


def _letters(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _artist(named: re.Match[str] | None, stanza: Stanza | None, said: CopyrightFile, package: str) -> str:
    """Who made it, by the file's name or the copyright file, where these leave no doubt."""
    if named is not None:
        return clean(named["artist"])
    return holder(_line_of_music(stanza, said, package))


def _line_of_music(stanza: Stanza | None, said: CopyrightFile, package: str) -> str:
    """The line of a stanza with who made the music: the only one about music, or one that says that it is."""
    if stanza is None:
        return ""
    says_so = [line for line in stanza.copyright if _FOR_MUSIC.search(line)]
    if len(says_so) == 1:
        return says_so[0]
    is_about_music = not stanza.is_general or (said.is_of_one_kind and "music" in package)
    return stanza.copyright[0] if is_about_music and len(stanza.copyright) == 1 else ""


def holder(line: str) -> str:
    """The one person that a line of copyright names; nothing where it is several, or no person.

    >>> holder("2007-2009 Jordan Trudgett <jordan@example.org>"), holder("2001, Daniel Roux, EPSITEC SA & Team")
    ('Jordan Trudgett', '')
    """
    name = clean(_AFTER_HOLDER.sub("", _BEFORE_HOLDER.sub("", line)))
    return "" if not name or _GROUP.search(name) else name


def _tagged_licence(raw: dict[str, list[str]]) -> str:
    """The licence that tags name, by its short name where it is one of Creative Commons."""
    for name in _LICENCE_TAGS:
        for text in raw.get(name, []):
            found = _COMMONS.search(text)
            if found is not None:
                return _commons_name(found)
            if name.startswith("licen"):
                return clean(text)
            if _OWNED.search(text) and (named := named_licence(text)):
                return named
    return ""


def _commons_name(found: re.Match[str]) -> str:
    if found[4]:
        return f"CC0-{found[5]}"
    return "-".join(part.upper() for part in ("cc", found[1], found[2], found[3]) if part)


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


def _owner(raw: dict[str, list[str]], stanza: Stanza | None, said: CopyrightFile) -> str:
    """Whose it is: as the tags say, else the copyright file."""
    for name in _OWNER_TAGS:
        for text in raw.get(name, []):
            lines = [line for line in text.splitlines() if _OWNED.search(line)]
            if lines:
                return clean(lines[0])
    if stanza is None:
        return clean(only_holder(said.text))
    return clean("; ".join([line for line in stanza.copyright if _FOR_MUSIC.search(line)] or stanza.copyright))


def _address(raw: dict[str, list[str]], stanza: Stanza | None) -> str:
    """Where more of it is: an address in the tags, else one beside its only holder's name."""
    texts = [text for name in _PLACE_TAGS for text in raw.get(name, [])] + raw.get("comment", [])
    if stanza is not None and not stanza.is_general and len(stanza.copyright) == 1:
        texts.append(stanza.copyright[0].partition("<")[0])
    found = [match[0] for text in texts for match in _ADDRESS.finditer(text) if not _COMMONS.search(match[0])]
    return found[0] if found else ""
