"""The campaign of ``adjudge demo --debian``: its texts, with credits, and how it is made; needs the web extra."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.cli.campaign.store import WHO
from adjudge.cli.output import progress
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.audio.debian_credits import Credit
    from adjudge.audio.library.folder import Library
    from adjudge.model.runs import Runs
    from adjudge.web.campaign_rows import Campaign
    from adjudge.web.database import Database
    from adjudge.web.settings import Settings

NAME = "music"
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
    """What assessors read, in every language, with a list of who made the music: licences want them to know."""
    from adjudge.audio.debian_attribution import credit_lines

    lines = "\n".join(f"- {line}" for line in credit_lines(credited))
    return {
        language: f"{task}\n\n#### {heading}\n\n{about}\n\n{lines}\n"
        for language, (task, heading, about) in _TEXTS.items()
    }


def make_campaign(
    data: Path, library: Library, runs: Runs, credited: Sequence[Credit], *, workers: int | None = None
) -> str:
    """Make the campaign in a server's folder, give it its clips and open it; a line that says so.

    One that was interrupted is finished; one that is there is left as it is.
    """
    from adjudge.web.database import open_database
    from adjudge.web.settings import Settings

    settings = Settings(data=data)
    database = open_database(settings)
    try:
        found, new = _draft(database, runs, credited, now=settings.clock())
        if found.state == "draft":
            _fill(database, settings, found, library, workers=workers)
    finally:
        database.close()
    if not new:
        return f"The campaign {NAME} is in {data} already, and stays as it is"
    return f"The campaign {NAME} is open, in {data}"


def _draft(database: Database, runs: Runs, credited: Sequence[Credit], *, now: float) -> tuple[Campaign, bool]:
    """The campaign that is there, or a new one with its runs; and whether it is new or was never finished."""
    from adjudge.web.campaign_rows import find_campaign
    from adjudge.web.campaigns import create_campaign
    from adjudge.web.errors import NotFound
    from adjudge.web.holdings import put_runs
    from adjudge.web.judging_settings import settings_from
    from adjudge.web.languages import LANGUAGES

    texts = instructions(credited)
    settings = settings_from(
        {
            "title": "Which music sounds alike?",
            "measure": f"CG@{runs.depth}",
            "instructions": {language: texts[language] for language in LANGUAGES},
            "languages": LANGUAGES,
        }
    )
    with database.write() as connection:
        try:
            there = find_campaign(connection, NAME)
            return there, there.state == "draft"
        except NotFound:
            made = create_campaign(connection, name=NAME, settings=settings, organiser_id=None, now=now)
            put_runs(connection, made, runs, who=WHO, now=now)
            return made, True


def _fill(database: Database, settings: Settings, found: Campaign, library: Library, *, workers: int | None) -> None:
    """Take the clips in, and open the campaign."""
    from adjudge.audio.library.folder import CLIP_FOLDER, TRACKS
    from adjudge.web.campaigns import set_state
    from adjudge.web.documents import take_documents
    from adjudge.web.uploads import folder_files

    with progress("taking clips in") as advance:
        taken = take_documents(
            database,
            settings,
            found,
            files=folder_files(library.folder / CLIP_FOLDER),
            table=library.folder / TRACKS,
            who=WHO,
            workers=workers,
            progress=advance,
        )
    if taken.problems:
        raise AdjudgeError(f"{taken.problems[0].document}: cannot be taken in: {taken.problems[0].problem}")
    with database.write() as connection:
        set_state(connection, found, "open", who=WHO, now=settings.clock())
