"""The embedded demo as campaigns that anybody can open: documents to judge, lists to compare, tunes to rank.

Systems and music are invented. The music is synthesised at the first start, over all cores, and taken in as files that
somebody uploads; nothing is fetched from anywhere. Most of the time goes into encoding MP3, so that there are only as
many clips as four queries need.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from adjudge.embedded import demo, demo_tables
from adjudge.errors import AdjudgeError
from adjudge.model.collection import Collection
from adjudge.web.errors import NotFound
from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import needed_items, put_runs
from adjudge.web.kinds.lifecycle import create_campaign, own_demo, set_state
from adjudge.web.kinds.preference.demo import make_preference_demo
from adjudge.web.kinds.ranking.demo import can_draw, make_ranking_demo, open_ranking_demo
from adjudge.web.languages import LANGUAGES
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.media import working_folder
from adjudge.web.store.participants import list_invitations, make_invitation
from adjudge.web.store.people import Organiser, add_organiser, change_password, find_organiser

NAME, LOGIN = "demo", "demo"
Progress = Callable[[str, int, int], None]
"""Told what is being done, one of ``STEPS``, how many are done, of how many."""
STEPS = ("making music", "taking it in")

INSTRUCTIONS = {
    "en": """\
Listen to the **query**, then to the **candidate**. How alike do they sound: mood, instruments, rhythm, style?

There is no right answer; what counts is what you hear. A program invented all of this music.
""",
    "es": """\
Escucha la **consulta** y después la **candidata**. ¿Cuánto se parecen: ambiente, instrumentos, ritmo, estilo?

No hay respuesta correcta; cuenta lo que oyes. Un programa ha inventado toda esta música.
""",
    "de": """\
Hören Sie die **Anfrage**, dann den **Kandidaten**. Wie ähnlich klingen sie: Stimmung, Instrumente, Rhythmus, Stil?

Richtig oder falsch gibt es nicht; es zählt, was Sie hören. Ein Programm hat all diese Musik erfunden.
""",
    "fr": """\
Écoutez la **requête**, puis le **candidat**. À quel point se ressemblent-ils : ambiance, instruments, rythme, style ?

Il n'y a pas de bonne réponse ; c'est ce que vous entendez qui compte. Un programme a inventé toute cette musique.
""",
}


@dataclass(frozen=True)
class Demo:
    """The first campaign of the demo, its organiser, and tokens of invitations to each by what people do there.

    ``new`` says whether the first was made just now. The password is new each time: nobody has to remember that of a
    demo. There are no tunes to rank where nothing is installed that draws them; where there are, :func:`finish_demo`
    makes their sound.
    """

    campaign: str
    login: str
    password: str
    new: bool
    invitations: Mapping[str, str]

    @property
    def invitation(self) -> str:
        """The one to the first campaign."""
        return next(iter(self.invitations.values()))


def make_demo(
    database: Database,
    settings: Settings,
    *,
    queries: int = 4,
    depth: int = 3,
    seed: int = 2012,
    seconds: float = 6.0,
    progress: Progress | None = None,
) -> Demo:
    """The demo as open campaigns with sound.

    One that is there already stays as it is; one that was interrupted while it was made is finished.
    """
    password = secrets.token_urlsafe(9)
    with database.write() as connection:
        organiser = _organiser(connection, password, now=settings.clock())
        found, new = _draft(connection, organiser, demo(seed, queries=queries, depth=depth), now=settings.clock())
    if found.state == "draft":
        _give_sound(database, settings, found, seed=seed, seconds=seconds, progress=progress)
        with database.write() as connection:
            found = set_state(connection, found, "open", who=LOGIN, now=settings.clock())
    with database.write() as connection:
        compared = make_preference_demo(
            connection, organiser, found, seed=seed, queries=queries, depth=depth, now=settings.clock()
        )
        campaigns = {"judge": found, "compare": compared}
        if can_draw():
            campaigns["rank"] = make_ranking_demo(connection, organiser, now=settings.clock())
        invitations = {what: _invitation(connection, campaign, settings) for what, campaign in campaigns.items()}
    return Demo(found.name, organiser.login, password, new, invitations)


def finish_demo(database: Database, settings: Settings) -> None:
    """Make what takes a while, and what people can do without at first: the sound of tunes, where there are any."""
    if can_draw():
        open_ranking_demo(database, settings, who=LOGIN)


def _organiser(connection: Connection, password: str, *, now: float) -> Organiser:
    """Who runs the demo, under this password from now on."""
    try:
        found = find_organiser(connection, LOGIN)
    except NotFound:
        return add_organiser(connection, login=LOGIN, password=password, is_admin=False, now=now)
    change_password(connection, found, password=password)
    return found


def _draft(
    connection: Connection, organiser: Organiser, collection: Collection, *, now: float
) -> tuple[Campaign, bool]:
    """The campaign that is there, or a new one with runs and facts; and whether it is new."""
    there = own_demo(connection, NAME, organiser)
    if there is not None:
        return there, False
    settings = _settings(collection)
    found = create_campaign(connection, name=NAME, settings=settings, organiser_id=organiser.id, now=now)
    put_runs(connection, found, collection.runs, who=LOGIN, now=now)
    return found, True


def _settings(collection: Collection) -> JudgingSettings:
    return JudgingSettings.parse(
        {
            "title": "Which songs sound alike?",
            "measure": f"CG@{collection.runs.depth}",
            "instructions": INSTRUCTIONS,
            "languages": LANGUAGES,
            "seed": 2012,
        }
    )


def _give_sound(
    database: Database,
    settings: Settings,
    campaign: Campaign,
    *,
    seed: int,
    seconds: float,
    progress: Progress | None,
) -> None:
    """Synthesise what somebody will be asked about, and take it in with what is known of it."""
    from adjudge.audio.synthesis import write_demo_audio

    with database.read() as connection:
        wanted = sorted(set.union(*(needed_items(connection, campaign) or {"": set()}).values()))
    making, taking = (_step(progress, what) for what in STEPS)
    with working_folder(settings) as folder:
        files = write_demo_audio(wanted, folder / "music", seed=seed, seconds=seconds, progress=making)
        table = folder / "metadata.csv"
        known = demo_tables(seed, queries=1, depth=1).metadata
        known.filter(known["document"].is_in(wanted)).write_csv(table)
        taken = take_documents(
            database,
            settings,
            campaign,
            files={path.name: path for path in files.values()},
            table=table,
            who=LOGIN,
            progress=taking,
        )
    if taken.problems:
        raise AdjudgeError(f"The demo's sound could not be used: {taken.problems[0].problem}")


def _step(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(what, done, total)


def _invitation(connection: Connection, campaign: Campaign, settings: Settings) -> str:
    """The token of the demo's invitation; one that still holds serves again."""
    now = settings.clock()
    for known in list_invitations(connection, campaign, secret=settings.secret):
        if known.label == LOGIN and known.cap is None and known.revoked_at is None and known.expires_at is None:
            return known.token
    return make_invitation(connection, campaign, label=LOGIN, secret=settings.secret, now=now).token
