"""Lists that were made elsewhere, measured by experts' answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adjudge.errors import AdjudgeError, shown, warn
from adjudge.groundtruth.building import Answers, BuiltList, GroundTruth, takes_of
from adjudge.groundtruth.evidence import COMPARISONS, DEFAULT_ALPHA, Evidence, check_alpha, default_comparison
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.groundtruth.preferred import PreferredQuery
from adjudge.groundtruth.rankings import RankedQuery, Unranked
from adjudge.groundtruth.refused import QueryError
from adjudge.words import counted


def check_lists(
    lists: PartialLists,
    answers: Answers,
    *,
    alpha: float = DEFAULT_ALPHA,
    unranked: Unranked = "left out",
    seed: int = 0,
) -> GroundTruth:
    """How consistent given lists are with answers: as :func:`~adjudge.groundtruth.building.build`, but for these lists.

    A list does not say how documents stand within a group: there they are put as the answers arrange them, which is how
    built lists have them. Queries without a list or without answers, and documents that nobody was asked about, are
    left out with a warning; documents that were asked about and are in no list count as left out of it.

    >>> from adjudge.groundtruth import Rankings
    >>> rankings = Rankings.from_orders([("q", name, [["a"], ["b"], ["c"]], []) for name in "uvwxyz"])
    >>> given = PartialLists.from_groups({"q": [["b", "a"], ["c"]]})
    >>> round(check_lists(given, rankings)["q"].consistency(1), 3)
    0.5
    """
    check_alpha(alpha)
    by = default_comparison(takes_of(answers))
    notes: list[str] = []
    asked = {one.query: one for one in answers.queries}
    both = [one for one in lists.values() if one.query in asked]
    if not both:
        raise AdjudgeError("Lists and answers: expected queries in common, got none")
    silent = [query for query in lists if query not in asked]
    are = "is of a query" if len(silent) == 1 else "are of queries"
    _note(notes, silent, f"{counted(len(silent), 'list')} {are} that nobody was asked about")
    without = [query for query in asked if query not in lists]
    have = "has" if len(without) == 1 else "have"
    _note(notes, without, f"{counted(len(without), 'query')} of the answers {have} no list")
    built, unknown = [], []
    for one in both:
        spoken = _spoken_of(asked[one.query], unranked)
        evidence = COMPARISONS[by].compare(spoken, seed=seed)
        unknown += [f"{name} of {one.query}" for name in one.documents if name not in spoken.documents]
        built.append(_measured(one, evidence, asked[one.query].documents, alpha))
    verbs = ("was", "does") if len(unknown) == 1 else ("were", "do")
    said = f"{counted(len(unknown), 'document')} of the lists {verbs[0]} put to nobody and {verbs[1]} not count"
    _note(notes, unknown, said)
    for note in notes:
        warn(note, stacklevel=2)
    return GroundTruth(tuple(built), None, alpha, by, unranked, seed, tuple(notes))


def _spoken_of(asked: RankedQuery | PreferredQuery, unranked: Unranked) -> RankedQuery | PreferredQuery:
    """The answers about the documents that somebody ranked."""
    if isinstance(asked, PreferredQuery):
        return asked
    ranked = np.flatnonzero(asked.times_ranked > 0)
    if len(ranked) < 2:
        raise QueryError("expected at least two documents that somebody ranked, got one", query=asked.query)
    return asked.filled(unranked).of_documents(ranked.tolist())


def _measured(given: PartialList, evidence: Evidence, documents: tuple[str, ...], alpha: float) -> BuiltList:
    """The list, its groups arranged as the answers say, with the evidence in its order."""
    place = {name: i for i, name in enumerate(evidence.documents)}
    groups = [sorted((name for name in group if name in place), key=lambda name: place[name]) for group in given.groups]
    kept = tuple(tuple(group) for group in groups if group)
    if not kept:
        raise AdjudgeError(f"Query {shown(given.query)}: nobody was asked about any document of its list")
    measured = PartialList(given.query, kept)
    left_out = tuple(name for name in documents if name not in set(measured.documents))
    return BuiltList(measured, replace(evidence.for_documents(measured.documents), left_out=left_out), alpha)


def _note(notes: list[str], names: list[str], what: str) -> None:
    if names:
        notes.append(f"{what}: {', '.join(names[:3])}{', …' if len(names) > 3 else ''}.")
