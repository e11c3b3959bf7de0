"""Credits as people read them: a page with everything about every clip, and what assessors read first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from examples.debian_music.credits import Credit
from examples.debian_music.packages import COPYRIGHT

UNKNOWN = "unknown artist"
ELSEWHERE = "see the copyright file"
_COMMONS = re.compile(r"CC-(?P<kind>BY(?:-[A-Z]+)*)-(?P<version>\d\.\d)(?:-(?P<country>[A-Z]{2}))?")
_GNU = re.compile(r"(?P<kind>L?GPL)-(?P<version>[23](?:\.\d)?)\+?")
_TEXTS = {
    "en": (
        "Listen to the **query**, then to the **candidate**. How alike do they sound: mood, instruments, rhythm, "
        "style?\n\nThere is no right answer; what counts is what you hear.",
        "Credits",
        "Excerpts of 30 seconds, levelled, of music in these Debian packages:",
    ),
    "es": (
        "Escucha la **consulta** y después la **candidata**. ¿Cuánto se parecen: ambiente, instrumentos, ritmo, "
        "estilo?\n\nNo hay respuesta correcta; cuenta lo que oyes.",
        "Créditos",
        "Fragmentos de 30 segundos, nivelados, de la música de estos paquetes de Debian:",
    ),
    "de": (
        "Hören Sie die **Anfrage**, dann den **Kandidaten**. Wie ähnlich klingen sie: Stimmung, Instrumente, "
        "Rhythmus, Stil?\n\nRichtig oder falsch gibt es nicht; es zählt, was Sie hören.",
        "Urheber",
        "Ausschnitte von 30 Sekunden, in der Lautstärke angeglichen, aus der Musik dieser Debian-Pakete:",
    ),
    "fr": (
        "Écoutez la **requête**, puis le **candidat**. À quel point se ressemblent-ils : ambiance, instruments, "
        "rythme, style ?\n\nIl n'y a pas de bonne réponse ; c'est ce que vous entendez qui compte.",
        "Crédits",
        "Extraits de 30 secondes, au niveau égalisé, de la musique de ces paquets Debian :",
    ),
}


def instructions(credited: Sequence[Credit]) -> dict[str, str]:
    """What assessors read, by language, with a list of who made the music: licences want them to know."""
    lines = "\n".join(f"- {line}" for line in credit_lines(credited))
    return {
        language: f"{task}\n\n#### {heading}\n\n{about}\n\n{lines}\n"
        for language, (task, heading, about) in _TEXTS.items()
    }


def attribution(credited: Sequence[Credit], *, seconds: float) -> str:
    """A page in Markdown that credits every clip: who made it, its licence, and the file and package it is from."""
    lines = [
        "# Attribution",
        "",
        f"The clips are excerpts of at most {seconds:g} seconds from music in Debian packages, levelled and encoded as "
        "MP3; nothing else was changed. Titles, artists and copyright are what the tags of the files and the copyright "
        "files of the packages say; the latter are beside this page, whole.",
    ]
    for package, version in dict.fromkeys((credit.package, credit.version) for credit in credited):
        pieces = [credit for credit in credited if credit.package == package]
        licences = dict.fromkeys(licence for credit in pieces for licence in _single(credit.licence))
        named = ", ".join(map(_linked, licences)) or ELSEWHERE
        file = f"{COPYRIGHT}/{package}.txt"
        lines += ["", f"## {package} {version}", "", f"Licences: {named}. Copyright file: [{file}]({file})", ""]
        lines.append("| title | artist | album | licence | copyright | more | file in the package | clip |")
        lines.append("|---|---|---|---|---|---|---|---|")
        for credit in pieces:
            texts = (credit.title, credit.artist or UNKNOWN, credit.album, credit.licence)
            cells = [*map(escaped, (*texts, credit.copyright or ELSEWHERE)), credit.url]
            lines.append(f"| {' | '.join([*cells, *map(escaped, (credit.source, f'{credit.document}.mp3'))])} |")
    return "\n".join(lines) + "\n"


def credit_lines(credited: Iterable[Credit]) -> list[str]:
    """A line in Markdown for each package and licence: its artists, and their titles where the licence wants them."""
    groups: dict[tuple[str, str], list[Credit]] = {}
    for credit in credited:
        groups.setdefault((credit.package, credit.licence), []).append(credit)
    lines = []
    for (package, licence), pieces in groups.items():
        licences = " or ".join(map(_linked, _single(licence))) or ELSEWHERE
        lines.append(f"**{escaped(package)}** ({licences}): {_artists(pieces, titles=licence.startswith('CC-BY'))}")
    return lines


def _artists(pieces: Sequence[Credit], *, titles: bool) -> str:
    """Artists in the order of their names, those who are not known last."""
    names = sorted({credit.artist for credit in pieces}, key=lambda name: (not name, name.casefold()))
    if not titles:
        return ", ".join(escaped(name or UNKNOWN) for name in names)
    made = {name: ", ".join(escaped(piece.title) for piece in pieces if piece.artist == name) for name in names}
    return "; ".join(f"{escaped(name or UNKNOWN)} ({what})" for name, what in made.items())


def _single(licence: str) -> list[str]:
    """Licences one by one, where tags and package say different things."""
    return [re.sub(r" \((?:tags|package)\)$", "", name) for name in licence.split(", ") if name]


def _linked(licence: str) -> str:
    """A licence with the address where it can be read; without, where only the copyright file has it.

    >>> print(_linked("CC-BY-SA-2.0-DE"), _linked("Artistic"))
    [CC-BY-SA-2.0-DE](https://creativecommons.org/licenses/by-sa/2.0/de/) Artistic
    """
    address = ""
    if commons := _COMMONS.fullmatch(licence):
        country = f"{commons['country'].lower()}/" if commons["country"] else ""
        address = f"https://creativecommons.org/licenses/{commons['kind'].lower()}/{commons['version']}/{country}"
    elif licence.startswith("CC0"):
        address = "https://creativecommons.org/publicdomain/zero/1.0/"
    elif gnu := _GNU.fullmatch(licence):
        version = gnu["version"] if "." in gnu["version"] else f"{gnu['version']}.0"
        old = "" if version.startswith("3") else "old-licenses/"
        address = f"https://www.gnu.org/licenses/{old}{gnu['kind'].lower()}-{version}.html"
    return f"[{licence}]({address})" if address else escaped(licence)


def escaped(text: str) -> str:
    r"""Text that means itself in Markdown, in a table, too.

    >>> print(escaped("a*b | c"))
    a\*b \| c
    """
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", text)
