"""The preference demo: which of two lists is better, about the music of the judging demo.

Questions and attention checks are made from the demo's judgments on both scales, of documents that have sound.
"""

from __future__ import annotations

from sqlalchemy import Connection

from adjudge.embedded import demo
from adjudge.errors import kept_warnings
from adjudge.preferences.attention_checks import make_traps
from adjudge.preferences.generation import make_questions
from adjudge.preferences.questions import Questions, joined
from adjudge.web.kinds.lifecycle import create_campaign, own_demo, set_state
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.kinds.preference.store import put_questions
from adjudge.web.languages import LANGUAGES
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.items import NewItem, items_by_identifier, needed_listed_items, put_items
from adjudge.web.store.people import Organiser

NAME = "demo-preferences"
N_QUESTIONS, N_TRAPS, QUIZ = 12, 6, 2
_SCALES = ("fine", "broad")
_BINS = 4

INSTRUCTIONS = {
    "en": """\
Listen to the **query**, then to **both lists**. Which of them would you rather get from somebody who looks for music
like the query? If you cannot tell, say whether both are good or both are bad.

Some questions have a plain answer; they show that people listen. A program invented all of this music.
""",
    "es": """\
Escucha la **consulta** y después **las dos listas**. ¿Cuál preferirías recibir si buscaras música como la consulta?
Si no puedes decidirte, di si las dos son buenas o las dos son malas.

Algunas preguntas tienen una respuesta clara; muestran que se escucha. Un programa ha inventado toda esta música.
""",
    "de": """\
Hören Sie die **Anfrage**, dann **beide Listen**. Welche hätten Sie lieber, wenn Sie Musik wie die Anfrage suchten?
Wenn Sie sich nicht entscheiden können, sagen Sie, ob beide gut oder beide schlecht sind.

Manche Fragen haben eine klare Antwort; sie zeigen, dass zugehört wird. Ein Programm hat all diese Musik erfunden.
""",
    "fr": """\
Écoutez la **requête**, puis **les deux listes**. Laquelle préféreriez-vous recevoir si vous cherchiez de la musique
comme la requête ? Si vous ne pouvez pas choisir, dites si les deux sont bonnes ou les deux mauvaises.

Certaines questions ont une réponse évidente ; elles montrent que l'on écoute. Un programme a inventé toute cette
musique.
""",
}


def make_preference_demo(
    connection: Connection, organiser: Organiser, judged: Campaign, *, seed: int, queries: int, depth: int, now: float
) -> Campaign:
    """The open campaign, about what the campaign ``judged`` has sound of; one that is there stays as it is."""
    there = own_demo(connection, NAME, organiser)
    if there is not None:
        return there
    found = create_campaign(connection, name=NAME, settings=_settings(depth), organiser_id=organiser.id, now=now)
    asked = demo_questions(seed=seed, queries=queries, depth=depth)
    put_questions(connection, found, asked, who=organiser.login, now=now)
    put_items(connection, found, _same_sound(connection, judged, found))
    return set_state(connection, found, "open", who=organiser.login, now=now)


def demo_questions(*, seed: int, queries: int, depth: int) -> Questions:
    """Questions over the whole range of differences, and attention checks of all kinds that the judgments allow.

    >>> asked = demo_questions(seed=2012, queries=10, depth=3)
    >>> len(asked), sum(question.is_trap for question in asked.questions), list(asked.grades)
    (18, 6, ['fine', 'broad'])
    """
    judgments = {
        scale: demo(seed, queries=queries, depth=depth, scale=scale).need_judgments() for scale in ("fine", "broad")
    }
    with kept_warnings():  # a smaller demo has fewer attention checks
        made = make_questions(
            judgments,
            _combinations(depth),
            per_bin=N_QUESTIONS // _BINS,
            bins=_BINS,
            k=depth,
            seed=seed,
            max_questions=N_QUESTIONS,
        )
        traps = make_traps(judgments, per_choice=-(-N_TRAPS // 4), k=depth, seed=seed)
    return joined([made.questions, traps.select(range(min(N_TRAPS, len(traps))))])


def _combinations(depth: int) -> list[str]:
    return [f"CG@{depth} on {scale}" for scale in _SCALES]


def _settings(depth: int) -> PreferenceSettings:
    return PreferenceSettings.parse(
        {
            "title": "Which list fits better?",
            "instructions": INSTRUCTIONS,
            "languages": LANGUAGES,
            "judged_by": 3,
            "per_participant": N_QUESTIONS,
            "quiz": QUIZ,
            "combinations": _combinations(depth),
            "seed": 2012,
        }
    )


def _same_sound(connection: Connection, judged: Campaign, campaign: Campaign) -> list[NewItem]:
    """What the judging demo has of every document and query that is asked about."""
    needed = set.union(*(needed_listed_items(connection, campaign) or {"": set()}).values())
    names = (*NewItem.__dataclass_fields__,)
    rows = items_by_identifier(connection, judged.id)
    return [NewItem(**{name: row[name] for name in names}) for (_, known), row in rows.items() if known in needed]
