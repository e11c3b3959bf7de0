"""The ranking demo: three short tunes of our own, each with variants to put in order by their similarity to it.

A tune is a list of notes, scale degrees (0 is the tonic, None a rest) with lengths in sixteenths, in a key and a metre.
Variants are made from it by rule, less and less like it, and all are written as Plaine & Easie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from adjudge.errors import AdjudgeError
from adjudge.extras import has
from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.lifecycle import create_campaign, own_demo, set_state
from adjudge.web.kinds.ranking.settings import RankingSettings
from adjudge.web.kinds.ranking.store import put_candidates
from adjudge.web.languages import LANGUAGES
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import Campaign, find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.media import working_folder
from adjudge.web.store.people import Organiser

Note = tuple[int | None, int]

_LENGTHS = {16: "1", 12: "2.", 8: "2", 6: "4.", 4: "4", 3: "8.", 2: "8", 1: "6"}
_SIXTEENTHS = {"4/4": 16, "3/4": 12, "6/8": 12}
_BEATS = {"4/4": 4, "3/4": 4, "6/8": 6}  # sixteenths under one beam
_LETTERS = "CDEFGAB"
_PARALLEL = {"xF": "bBE", "": "bBEA", "bB": "bBEAD"}  # from a major key to the minor one on the same tonic
_UP_A_FOURTH = {("G", "xF"): ("C", ""), ("C", ""): ("F", "bB"), ("F", "bB"): ("B", "bBE")}


@dataclass(frozen=True)
class Tune:
    """A tune: its tonic, its key signature, its metre, and its notes."""

    tonic: str
    key: str
    metre: str
    notes: tuple[Note, ...]

    def written(self) -> str:
        """The tune as Plaine & Easie.

        >>> print(Tune("G", "xF", "3/4", ((0, 4), (1, 2), (2, 2), (4, 4), (7, 12))).written())
        @clef:G-2
        @keysig:xF
        @timesig:3/4
        @data:'4G{8A8B}''4D/2.G//
        """
        data, before, filled, beamed = "", "", 0, ""
        for degree, length in self.notes:
            is_short = degree is not None and length <= 3
            if beamed and (not is_short or filled % _BEATS[self.metre] == 0):
                data, beamed = f"{data}{_beam(beamed)}", ""
            if filled and filled % _SIXTEENTHS[self.metre] == 0:
                data += "/"
            octave, letter = ("", "-") if degree is None else self._place(degree)
            note = f"{octave if octave != before else ''}{_LENGTHS[length]}{letter}"
            data, beamed = (data, f"{beamed}|{note}") if is_short else (f"{data}{note}", beamed)
            before = octave or before
            filled += length
        data += _beam(beamed)
        signs = f"@keysig:{self.key}\n" if self.key else ""
        return f"@clef:G-2\n{signs}@timesig:{self.metre}\n@data:{data}//"

    def _place(self, degree: int) -> tuple[str, str]:
        """Octave and letter of a degree; the tonic is in the octave of middle c."""
        step = _LETTERS.index(self.tonic) + degree
        octave = step // 7
        return "'" * (octave + 1) if octave >= 0 else "," * -octave, _LETTERS[step % 7]


def _beam(notes: str) -> str:
    """Short notes of a beat under one beam; a single one has none.

    >>> _beam("|8A|8B"), _beam("|8A"), _beam("")
    ('{8A8B}', '8A', '')
    """
    joined = notes.replace("|", "")
    return f"{{{joined}}}" if notes.count("|") > 1 else joined


TUNES = {
    "lullaby": Tune(
        "G", "xF", "3/4",
        ((0, 4), (2, 4), (4, 4), (5, 6), (4, 2), (2, 4), (3, 4), (1, 4), (2, 2), (1, 2), (0, 12)),
    ),
    "march": Tune(
        "C", "", "4/4",
        ((0, 4), (0, 2), (2, 2), (4, 4), (4, 4), (5, 4), (4, 2), (3, 2), (2, 8), (3, 4), (3, 2), (2, 2), (1, 4),
         (4, 4), (2, 4), (1, 4), (0, 8)),
    ),
    "jig": Tune(
        "F", "bB", "6/8",
        ((0, 4), (1, 2), (2, 2), (1, 2), (0, 2), (4, 4), (2, 2), (4, 6), (5, 4), (3, 2), (5, 2), (4, 2), (3, 2),
         (2, 4), (1, 2), (0, 6)),
    ),
}  # fmt: skip
"""The queries, by name."""


def _bars(tune: Tune) -> list[list[Note]]:
    """The notes of each bar."""
    bars: list[list[Note]] = []
    filled = 0
    for note in tune.notes:
        if filled % _SIXTEENTHS[tune.metre] == 0:
            bars.append([])
        bars[-1].append(note)
        filled += note[1]
    return bars


def _transposed(tune: Tune) -> Tune:
    """The same in another key."""
    tonic, key = _UP_A_FOURTH[tune.tonic, tune.key]
    return replace(tune, tonic=tonic, key=key)


def _dotted(tune: Tune) -> Tune:
    """Even notes limp, two at a time."""
    notes: list[Note] = []
    for bar in _bars(tune):
        rest = list(bar)
        while rest:
            degree, length = rest.pop(0)
            if rest and rest[0][1] == length and length in (2, 4):
                notes += [(degree, length * 3 // 2), (rest.pop(0)[0], length // 2)]
            else:
                notes.append((degree, length))
    return replace(tune, notes=tuple(notes))


def _ornamented(tune: Tune) -> Tune:
    """Longer notes turn to their upper neighbour and back."""
    notes: list[Note] = []
    for degree, length in tune.notes:
        if degree is None or length not in (4, 8):
            notes.append((degree, length))
        else:
            quarter = length // 4
            notes += [(degree, 2 * quarter), (degree + 1, quarter), (degree, quarter)]
    return replace(tune, notes=tuple(notes))


def _other_ending(tune: Tune) -> Tune:
    """The second half goes up where it went down."""
    half = len(tune.notes) // 2
    turned = [(degree if degree is None else 4 - degree % 5, length) for degree, length in tune.notes[half:]]
    return replace(tune, notes=(*tune.notes[:half], *turned))


def _in_minor(tune: Tune) -> Tune:
    return replace(tune, key=_PARALLEL[tune.key])


def _inverted(tune: Tune) -> Tune:
    """Upside down, around the third."""
    return replace(tune, notes=tuple((d if d is None else 4 - d, length) for d, length in tune.notes))


def _backwards(tune: Tune) -> Tune:
    """From the end."""
    return replace(tune, notes=tuple(note for bar in reversed(_bars(tune)) for note in reversed(bar)))


def _another(tune: Tune) -> Tune:
    """Something else in the same metre: a scale that goes round."""
    bar = _SIXTEENTHS[tune.metre]
    step = 2 if bar == 12 else 4
    degrees = [4, 3, 4, 6, 8, 6, 5, 7, 9, 8, 6, 4, 2, 4, 1, 3, 6, 4, 5, 2, 4, 3, 1, 0]
    n = 3 * bar // step
    return Tune(tune.tonic, tune.key, tune.metre, (*((degrees[i % len(degrees)], step) for i in range(n)), (4, bar)))


VARIANTS: dict[str, Callable[[Tune], Tune]] = {
    "transposed": _transposed,
    "dotted": _dotted,
    "ornamented": _ornamented,
    "other-ending": _other_ending,
    "in-minor": _in_minor,
    "inverted": _inverted,
    "backwards": _backwards,
    "another-tune": _another,
}
"""What is done to a tune, about from the most to the least similar."""


def incipits() -> dict[str, str]:
    """Every tune and variant by name, as Plaine & Easie.

    >>> len(incipits()), sorted(incipits())[0]
    (27, 'jig')
    """
    found = {}
    for name, tune in TUNES.items():
        found[name] = tune.written()
        found |= {f"{name}-{variant}": change(tune).written() for variant, change in VARIANTS.items()}
    return found


def candidates() -> dict[str, list[str]]:
    """The documents to be ranked for each query.

    >>> candidates()["march"][:2]
    ['march-transposed', 'march-dotted']
    """
    return {name: [f"{name}-{variant}" for variant in VARIANTS] for name in TUNES}


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
        campaign = find_campaign(connection, NAME)
    if campaign.state != "draft":
        return campaign
    _give_notation(database, settings, campaign, who=who)
    with database.write() as connection:
        return set_state(connection, campaign, "open", who=who, now=settings.clock())


def _settings() -> RankingSettings:
    return RankingSettings.parse(
        {
            "title": "Which tunes are alike?",
            "instructions": INSTRUCTIONS,
            "languages": LANGUAGES,
            "judged_by": 5,
            "least_ranked": 2,
            "seed": 2010,
        }
    )


def _give_notation(database: Database, settings: Settings, campaign: Campaign, *, who: str) -> None:
    """Draw and play every tune, from one file, as an organiser would upload it."""
    pieces = "\n".join(f"@start:{name}\n{text}\n@end:{name}" for name, text in incipits().items())
    with working_folder(settings) as folder:
        path = folder / "incipits.pae"
        path.write_text(f"{pieces}\n", encoding="utf-8")
        # What is known to be good needs no process of its own.
        taken = take_documents(database, settings, campaign, files={path.name: path}, who=who, workers=1)
    if taken.problems:
        raise AdjudgeError(f"The demo's notation could not be used: {taken.problems[0].problem}")
