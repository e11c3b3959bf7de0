"""Credits as people read them: a page with everything about every clip, and a few lines for instructions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from adjudge.audio.debian_credits import Credit
from adjudge.audio.debian_music import COPYRIGHT

UNKNOWN = "unknown artist"
_COMMONS = re.compile(r"CC-(?P<kind>BY(?:-[A-Z]+)*)-(?P<version>\d\.\d)(?:-(?P<country>[A-Z]{2}))?")
_GNU = re.compile(r"(?P<kind>L?GPL)-(?P<version>[23](?:\.\d)?)\+?")
_SIGNS = re.compile(r"([\\`*_\[\]<>#|~])")


def attribution(credited: Sequence[tuple[Credit, str]], *, seconds: float, loudness: float) -> str:
    """A page in Markdown that credits every clip: who made it, its licence, and the file and package it is from.

    ``credited`` are credits with the name of their clip. ``seconds`` and ``loudness`` say what was changed, which
    licences want to be said.
    """
    lines = [
        "# Attribution",
        "",
        f"The clips are excerpts of at most {seconds:g} seconds from music in Debian packages, levelled to "
        f"{loudness:g} LUFS and encoded as MP3; nothing else was changed. Titles, artists and copyright are what "
        "the tags of the files and the copyright files of the packages say; the latter are beside this page, whole.",
    ]
    for package in dict.fromkeys((credit.package, credit.version) for credit, _ in credited):
        lines += ["", *_section(*package, [one for one in credited if (one[0].package, one[0].version) == package])]
    return "\n".join(lines) + "\n"


def _section(package: str, version: str, credited: Sequence[tuple[Credit, str]]) -> list[str]:
    licences = dict.fromkeys(one for credit, _ in credited for one in _single(credit.licence))
    named = ", ".join(_linked(one) for one in licences) or "see the copyright file"
    lines = [
        f"## {package} {version}",
        "",
        f"Licences: {named}. Copyright file: [{COPYRIGHT}/{package}.txt]({COPYRIGHT}/{package}.txt)",
        "",
        "| title | artist | album | licence | copyright | more | file in the package | clip |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for credit, clip in credited:
        owner = credit.copyright or "see the copyright file"
        shown = (credit.title, credit.artist or UNKNOWN, credit.album, credit.licence, owner)
        cells = [*map(escaped, shown), credit.url, escaped(credit.source), escaped(clip)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def credit_lines(credited: Iterable[Credit]) -> list[str]:
    """A line in Markdown for each package and licence: its artists, and their titles where the licence wants them.

    >>> piece = Credit("p/a.ogg", "A", "Ann", "One", "", "", "p", "1", "CC-BY-SA-3.0", "", "", "usr/a.ogg")
    >>> credit_lines([piece])
    ['**p** ([CC-BY-SA-3.0](https://creativecommons.org/licenses/by-sa/3.0/)): Ann (A)']
    """
    groups: dict[tuple[str, str], list[Credit]] = {}
    for credit in credited:
        groups.setdefault((credit.package, credit.licence), []).append(credit)
    lines = []
    for (package, licence), pieces in groups.items():
        licences = " or ".join(_linked(one) for one in _single(licence)) or "see the copyright file"
        lines.append(f"**{escaped(package)}** ({licences}): {_artists(pieces, titles=licence.startswith('CC-BY'))}")
    return lines


def _artists(pieces: Sequence[Credit], *, titles: bool) -> str:
    """Artists in the order of their names, those who are not known last."""
    names = sorted({credit.artist for credit in pieces}, key=lambda name: (not name, name.casefold()))
    if not titles:
        return ", ".join(escaped(name or UNKNOWN) for name in names)
    made = {name: ", ".join(escaped(one.title) for one in pieces if one.artist == name) for name in names}
    return "; ".join(f"{escaped(name or UNKNOWN)} ({what})" for name, what in made.items())


def _single(licence: str) -> list[str]:
    """Licences one by one, where tags and package say different things."""
    return [re.sub(r" \((?:tags|package)\)$", "", one) for one in licence.split(", ") if one]


def _linked(licence: str) -> str:
    address = licence_address(licence)
    return f"[{licence}]({address})" if address else escaped(licence)


def licence_address(licence: str) -> str:
    """Where a licence can be read; nothing for those that only the copyright file has.

    >>> licence_address("CC-BY-SA-2.0-DE"), licence_address("GPL-3+")
    ('https://creativecommons.org/licenses/by-sa/2.0/de/', 'https://www.gnu.org/licenses/gpl-3.0.html')
    """
    if commons := _COMMONS.fullmatch(licence):
        country = f"{commons['country'].lower()}/" if commons["country"] else ""
        return f"https://creativecommons.org/licenses/{commons['kind'].lower()}/{commons['version']}/{country}"
    if licence.startswith("CC0"):
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    if gnu := _GNU.fullmatch(licence):
        version = gnu["version"] if "." in gnu["version"] else f"{gnu['version']}.0"
        old = "" if version.startswith("3") else "old-licenses/"
        return f"https://www.gnu.org/licenses/{old}{gnu['kind'].lower()}-{version}.html"
    return ""


def escaped(text: str) -> str:
    r"""Text that means itself in Markdown, in a table, too.

    >>> print(escaped("a*b | c"))
    a\*b \| c
    """
    return _SIGNS.sub(r"\\\1", text)
