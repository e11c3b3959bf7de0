"""The third part of the demo: put incipits in order, the most similar to a tune first, drawn and heard."""

from __future__ import annotations

from sqlalchemy import Connection

from adjudge.errors import AdjudgeError
from adjudge.extras import has
from adjudge.web.campaign_rows import Campaign, find_campaign
from adjudge.web.campaigns import create_campaign, set_state
from adjudge.web.database import Database
from adjudge.web.demo_campaigns import own_demo
from adjudge.web.demo_incipits import candidates, incipits
from adjudge.web.documents import take_documents
from adjudge.web.languages import LANGUAGES
from adjudge.web.media import working_folder
from adjudge.web.people import Organiser
from adjudge.web.ranking_holdings import put_candidates
from adjudge.web.ranking_settings import RankingSettings, ranking_settings_from
from adjudge.web.settings import Settings

NAME = "demo-rankings"

INSTRUCTIONS = {
    "en": """\
Each query is a short **tune**; the others are made from it, some with more changes than others. Put those that are
like the tune in order, **the most similar first**. Several may share a place, and what is quite different may stay
unranked.

There is no right order; what counts is what you hear and see.
""",
    "es": """\
Cada consulta es una **melodía** breve; las demás salen de ella, unas con más cambios que otras. Ordena las que se
parezcan a la melodía, **la más parecida primero**. Varias pueden compartir un puesto, y lo que es muy distinto puede
quedar sin ordenar.

No hay un orden correcto; cuenta lo que oyes y ves.
""",
    "de": """\
Jede Anfrage ist eine kurze **Melodie**; die anderen sind aus ihr gemacht, manche mit mehr Änderungen als andere.
Ordnen Sie, was der Melodie ähnlich ist, **das Ähnlichste zuerst**. Mehrere können einen Platz teilen, und was ganz
anders ist, kann ungeordnet bleiben.

Eine richtige Ordnung gibt es nicht; es zählt, was Sie hören und sehen.
""",
    "fr": """\
Chaque requête est une courte **mélodie** ; les autres en sont tirées, certaines avec plus de changements que d'autres.
Classez celles qui ressemblent à la mélodie, **la plus proche d'abord**. Plusieurs peuvent partager une place, et ce qui
est tout autre peut rester sans place.

Il n'y a pas d'ordre juste ; c'est ce que vous entendez et voyez qui compte.
""",
}


def can_draw() -> bool:
    """Whether what draws notation is installed."""
    return has("notation")


def make_ranking_demo(connection: Connection, organiser: Organiser, *, now: float) -> Campaign:
    """The campaign, a draft until its tunes are drawn and played; one that is there stays as it is."""
    there = own_demo(connection, NAME, organiser)
    if there is not None:
        return there
    found = create_campaign(connection, name=NAME, settings=_settings(), organiser_id=organiser.id, now=now)
    put_candidates(connection, found, candidates(), who=organiser.login, now=now)
    return found


def open_ranking_demo(database: Database, settings: Settings, *, who: str) -> Campaign:
    """Draw and play the tunes of a draft, and open it; nothing is done where it is no draft any more.

    This takes some seconds of a processor, so that a server does it while people look at the other campaigns.
    """
    with database.read() as connection:
        found = find_campaign(connection, NAME)
    if found.state != "draft":
        return found
    _give_notation(database, settings, found, who=who)
    with database.write() as connection:
        return set_state(connection, found, "open", who=who, now=settings.clock())


def _settings() -> RankingSettings:
    return ranking_settings_from(
        {
            "title": "Which tunes are alike?",
            "instructions": INSTRUCTIONS,
            "languages": LANGUAGES,
            "judged_by": 5,
            "least_ranked": 2,
            "seed": 2010,
        }
    )


def _give_notation(database: Database, settings: Settings, found: Campaign, *, who: str) -> None:
    """Draw and play every tune, from one file, as an organiser would upload it."""
    pieces = "\n".join(f"@start:{name}\n{text}\n@end:{name}" for name, text in incipits().items())
    with working_folder(settings) as folder:
        path = folder / "incipits.pae"
        path.write_text(f"{pieces}\n", encoding="utf-8")
        # What is known to be good needs no process of its own.
        taken = take_documents(database, settings, found, files={path.name: path}, who=who, workers=1)
    if taken.problems:
        raise AdjudgeError(f"The demo's notation could not be used: {taken.problems[0].problem}")
