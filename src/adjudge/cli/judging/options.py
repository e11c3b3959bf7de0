"""What ``adjudge estimate``, ``next``, ``simulate`` and ``calibrate`` share: runs, perhaps judgments, and a goal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.checks import COUNT, COUNT_OR_NONE, POSITIVE, SEED, SHARE_BELOW_ALL
from adjudge.cli.options import add_option, add_reading, read_collection
from adjudge.cli.output import progress, with_inputs
from adjudge.errors import AdjudgeError, kept_warnings, shown
from adjudge.text import counted, listed

if TYPE_CHECKING:
    from adjudge.audio.library.folder import Library
    from adjudge.audio.similarity import SoundSimilarity
    from adjudge.model.collection import Collection, Similarity
    from adjudge.model.scales import Scale
    from adjudge.relevance.candidates import Candidates
    from adjudge.relevance.choosing import Goal
    from adjudge.relevance.session import Session


_LEARN_WORTH = ("hierarchical", "known_item")
"""Estimators that learn what opinions are worth."""


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Runs, and what is judged so far."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="files, directories or patterns with runs")
    parser.add_argument("--judgments", metavar="FILE", help="what is judged so far (default: nothing)")
    add_reading(parser)


def add_judging(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Measure, estimator, rule and goal; ``several`` estimators and rules where they are compared."""
    group = parser.add_argument_group("judging")
    group.add_argument(
        "-m",
        "--measure",
        metavar="MEASURE",
        help="CG, DCG, nDCG, RBP, P, AP, RR, ERR, Q, GAP, R, F1 or Success at a cutoff (default: CG at 10, or as deep "
        "as runs go)",
    )
    estimators = "uniform, prior, output, judgments, hierarchical or known_item"
    rules = "information, winner, top, ranks, mixed, variance, confidence, pairs, spread or random"
    if several:
        for name, known, usual in (
            ("estimator", estimators, "{adjudge.relevance.simulation:simulate_judging.estimators}"),
            ("rule", rules, "the one that serves the goal"),
        ):
            add_option(group, f"--{name}", action="append", metavar="NAME", help=f"{known}; repeatable", usual=usual)
    else:
        group.add_argument("--estimator", default="hierarchical", metavar="NAME", help=f"{estimators}")
        group.add_argument("--rule", metavar="NAME", help=f"{rules} (default: the one that serves the goal)")
        group.add_argument(
            "--audit",
            type=SHARE_BELOW_ALL,
            default=0.0,
            metavar="SHARE",
            help="share of the judgments that go to a random sample, by which the estimate is checked",
        )
    _add_goal(group)
    group.add_argument(
        "--opinions",
        action="append",
        default=[],
        metavar="FILE",
        help="machine opinions, in any format of judgments; repeatable",
    )
    group.add_argument(
        "--sound",
        metavar="LIBRARY",
        help="how documents sound, from a folder made by 'adjudge audio prepare'",
    )
    if not several:
        group.add_argument(
            "--per-pair",
            type=COUNT,
            default=1,
            metavar="N",
            help="assessors who may judge the same document where that tells more than another document",
        )
    group.add_argument(
        "--similarity",
        action="append",
        default=[],
        metavar="FILE",
        help="what documents are compared by: embeddings (.npy with identifiers beside it, .npz, Parquet, CSV or JSON) "
        "or a table of texts; repeatable",
    )
    group.add_argument("--seed", type=SEED, default=0, help="tells apart what is equally telling")


def _add_goal(group: argparse._ArgumentGroup) -> None:
    """When to stop."""
    group.add_argument(
        "--goal",
        default="order",
        metavar="KIND",
        help="order (no two systems in the wrong order, on average), every (in no pair), winner, top, tau, tau_ap, "
        "scores; or, as in version 1.0, confidence, pairs or error",
    )
    group.add_argument(
        "--level",
        type=POSITIVE,
        help="level of the goal; usually 0.95, for tau and tau_ap 0.9, for scores and error 0.05",
    )
    group.add_argument("--top", type=COUNT, default=3, metavar="K", help="how many systems count as the first ones")
    group.add_argument(
        "--zone",
        default="0.01",
        metavar="D",
        help="differences that do not matter, or 'users' for those that most users do not notice",
    )
    group.add_argument(
        "--correction",
        type=POSITIVE,
        default=1.0,
        metavar="X",
        help="factor of the claimed error, for goals scores and error",
    )
    group.add_argument("--least", type=COUNT_OR_NONE, help="judgments to make in any case (default: one per query)")


def goal_of(arguments: argparse.Namespace, measure: str | None = None, pool: Candidates | None = None) -> Goal:
    """The goal that the options describe; what users notice depends on the measure and the scale."""
    from adjudge.relevance.choosing import Goal, noticeable_zone

    if arguments.zone == "users":
        zone = 0.0 if measure is None or pool is None else noticeable_zone(measure, pool.scale)
    else:
        try:
            zone = float(arguments.zone)
        except ValueError:
            raise AdjudgeError(f"'zone' must be a number or 'users', got {shown(arguments.zone)}") from None
    return Goal(arguments.goal, arguments.level, zone, arguments.least, arguments.correction, arguments.top)


def check_names(arguments: argparse.Namespace) -> None:
    """Refuse what is misspelt before anything is read."""
    from adjudge.relevance import ESTIMATORS, RULES
    from adjudge.relevance.base import estimable

    for registry, given in ((ESTIMATORS, arguments.estimator), (RULES, arguments.rule)):
        for name in [given] if isinstance(given, str) else given or ():
            registry[name]
    goal_of(arguments)
    if arguments.measure is not None:
        estimable(arguments.measure)


def read_candidates(arguments: argparse.Namespace) -> tuple[Collection, str, Candidates]:
    """The collection, the measure, and what there is to judge."""
    from dataclasses import replace

    from adjudge.audio.library.folder import CLIPS
    from adjudge.relevance.base import default_measure, estimable
    from adjudge.relevance.candidates import candidates
    from adjudge.relevance.similarity import MeanSimilarity, ids_beside, similarity_of

    library, opinions = _library(arguments.sound), _opinions(arguments.opinions)
    with progress("reading runs") as advance:
        collection = read_collection(arguments, advance)
    measure, cutoff = estimable(arguments.measure or default_measure(collection))
    sound, files = _sound(library), [similarity_of(path) for path in arguments.similarity]
    parts: list[Similarity] = [*([] if sound is None else [sound]), *files]
    alike = MeanSimilarity(parts) if len(parts) > 1 else next(iter(parts), None)
    with kept_warnings():  # they are among the notes
        pool = candidates(collection, cutoff=cutoff, scale=_scale(arguments), opinions=opinions, similarity=alike)
    pool = replace(
        pool, notes=(*pool.notes, *_unheard(arguments), *_heard(arguments, sound, pool), *_compared(arguments))
    )
    beside = [str(path) for file in arguments.similarity if (path := ids_beside(file)) is not None]
    provenance = with_inputs(collection.provenance, [*arguments.opinions, *arguments.similarity, *beside])
    if sound is not None and library is not None:
        provenance = with_inputs(provenance, [str(library.folder / CLIPS)]).with_settings(sound=sound.digest)
    return replace(collection, provenance=provenance), str(measure), pool


def _estimators(arguments: argparse.Namespace) -> list[str]:
    given = arguments.estimator or ["hierarchical"]
    return [given] if isinstance(given, str) else list(dict.fromkeys(given))


def _unheard(arguments: argparse.Namespace) -> list[str]:
    """What to say where opinions are given to estimators that do not hear them."""
    deaf = [name for name in _estimators(arguments) if name not in _LEARN_WORTH]
    if not arguments.opinions or not deaf:
        return []
    return [f"Opinions mean nothing to {listed(deaf)}: only {listed(_LEARN_WORTH)} learn what they are worth."]


def _by(arguments: argparse.Namespace) -> str:
    """Which estimators take similarity: those with an option to leave it out."""
    from inspect import signature

    from adjudge.relevance import ESTIMATORS

    takers = [name for name in _estimators(arguments) if "sound" in signature(ESTIMATORS[name]).parameters]
    return f"by {listed(takers)}" if takers else "by no estimator that is used"


def _library(folder: str | None) -> Library | None:
    """The library whose sound is to be heard; refused at once where there is none."""
    if folder is None:
        return None
    from adjudge.audio.library.folder import open_library

    return open_library(folder)


def _sound(library: Library | None) -> SoundSimilarity | None:
    """How its documents sound; features that are not there yet are computed."""
    if library is None:
        return None
    from adjudge.audio.similarity import sound_similarity

    with progress("listening") as advance:
        return sound_similarity(library, progress=advance)


def _heard(arguments: argparse.Namespace, sound: SoundSimilarity | None, pool: Candidates) -> list[str]:
    """What to say of sound: of how many documents of the runs, by what, and who hears it."""
    if sound is None:
        return []
    n_heard = sum(document in sound for document in set(pool.document))
    aspects = ["harmony" if name == "tonal" else name for name in sound.aspects]
    return [f"Sound of {counted(n_heard, 'document')}, compared by {listed(aspects)}, is heard {_by(arguments)}."]


def _compared(arguments: argparse.Namespace) -> list[str]:
    """What to say of other similarity: by which files, and who takes it."""
    if not arguments.similarity:
        return []
    return [f"Similarity of documents by {listed(arguments.similarity)} is taken {_by(arguments)}."]


def _scale(arguments: argparse.Namespace) -> Scale | None:
    """The scale of grades that are still to come; None where judgments have one."""
    from adjudge.model.scales import conversion, parse_scale

    if arguments.judgments is not None or arguments.scale is None:
        return None
    scale = parse_scale(arguments.scale)
    return scale if arguments.rescale is None else conversion(arguments.rescale, scale).scale


def _opinions(files: list[str]) -> dict[str, dict[tuple[str, str], float]]:
    """Machine opinions by the name of their file; the mean where several are about one pair."""
    from pathlib import Path

    import numpy as np

    from adjudge.formats.reading import read_judgments

    found: dict[str, dict[tuple[str, str], float]] = {}
    for file in files:
        name = Path(file).stem
        if name in found:
            raise AdjudgeError(f"{file}: expected opinions under different names, got {name!r} twice")
        opinions = read_judgments(file)
        query = np.repeat(np.arange(opinions.n_queries), np.diff(opinions.pool.offsets))
        pairs = zip(opinions.queries.decode(query), opinions.documents.decode(opinions.pool.documents), strict=True)
        found[name] = dict(zip(pairs, opinions.pool.grades.tolist(), strict=True))
    return found


def open_session(arguments: argparse.Namespace) -> tuple[Session, Collection]:
    """Read everything and learn what is judged."""
    from adjudge.relevance import Session

    check_names(arguments)
    collection, measure, pool = read_candidates(arguments)
    goal, names = goal_of(arguments, measure, pool), ("estimator", "rule", "seed", "per_pair", "audit")
    goal.check_systems(pool.n_systems)
    return Session(pool, measure, goal=goal, **{name: getattr(arguments, name) for name in names}), collection
