"""Lists from experts' answers: compare the documents of each query, arrange them, aggregate them into groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from adjudge.arrays import Ints
from adjudge.choices import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.groundtruth.consistency import (
    Inconsistencies,
    Triples,
    inconsistencies,
    list_consistency,
    non_transitive_triples,
)
from adjudge.groundtruth.evidence import (
    COMPARISONS,
    DEFAULT_ALPHA,
    Asked,
    Evidence,
    Tails,
    Takes,
    check_alpha,
    check_tails,
    default_comparison,
)
from adjudge.groundtruth.functions import FUNCTIONS
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.groundtruth.preferred import Preferences
from adjudge.groundtruth.rankings import RankedQuery, Rankings, Unranked
from adjudge.groundtruth.refused import QueryError

Answers = Rankings | Preferences
Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""
_NOTATION = re.compile(r"(?P<function>\w+)-(?P<tails>[12])(?::(?P<by>[\w-]+))?")


@dataclass(frozen=True)
class Construction:
    """A way of making lists: an aggregation function, the tails of its tests and, if not the default, a comparison."""

    function: str = "Any"
    tails: Tails = 1
    by: str | None = None

    def __post_init__(self) -> None:
        _ = FUNCTIONS[self.function]
        check_tails(self.tails)
        if self.by is not None:
            _ = COMPARISONS[self.by]

    def __str__(self) -> str:
        return f"{self.function}-{self.tails}" + ("" if self.by is None else f":{self.by}")

    def comparison(self, takes: Takes) -> str:
        """The comparison for a kind of answers."""
        name = self.by or default_comparison(takes)
        if COMPARISONS[name].takes != takes:
            able = ", ".join(one.name for one in COMPARISONS.values() if one.takes == takes)
            raise AdjudgeError(f"Construction {self}: {name} compares {COMPARISONS[name].takes}; for {takes}: {able}")
        return name


def parse_construction(text: str) -> Construction:
    """Read a construction as it prints itself: ``All-2``, ``Any-1``, ``Any-1:plackett-luce``.

    >>> str(parse_construction("any-1"))
    'Any-1'
    >>> parse_construction("Some-1")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: No aggregation function is called 'Some'. Known: All, Any, Best, Prev.
    """
    match = _NOTATION.fullmatch(text.strip())
    if match is None:
        raise AdjudgeError(
            f"Construction: expected a function and its tails, such as Any-1 or All-2:plackett-luce, got {shown(text)}"
        )
    functions = {name.casefold(): name for name in FUNCTIONS}
    function = functions.get(match["function"].casefold(), match["function"])
    by = match["by"] and match["by"].casefold()
    return Construction(function, 1 if match["tails"] == "1" else 2, by)


@dataclass(frozen=True)
class BuiltList:
    """The list of one query with the evidence that it was made from, and that it is measured by.

    ``evidence`` has the documents in the order of the list. It is what consistency is measured with: for all
    constructions the default comparison of the answers, so that their consistencies can be compared.
    """

    list: PartialList
    evidence: Evidence
    alpha: float

    @property
    def group(self) -> Ints:
        """The group of each document, from 0."""
        return np.array(self.list.group_numbers, dtype=np.int64)

    def consistency(self, tails: Tails = 1) -> float:
        """ADR-1 or ADR-2 consistency; NaN for a list of one document."""
        return list_consistency(self.evidence, self.group, alpha=self.alpha, tails=tails)

    def inconsistencies(self, tails: Tails = 1) -> Inconsistencies:
        """The pairs that experts contradict."""
        return inconsistencies(self.evidence, self.group, alpha=self.alpha, tails=tails)

    @cached_property
    def triples(self) -> Triples:
        """Triples for which significance is not transitive."""
        return non_transitive_triples(self.evidence, alpha=self.alpha)

    @property
    def mean_group_size(self) -> float:
        """Documents a group."""
        return len(self.list) / len(self.list.groups)


@dataclass(frozen=True)
class GroundTruth(Mapping[str, BuiltList]):
    """Lists of all queries, made in one way from the same answers; ``construction`` is None if that was elsewhere."""

    built: tuple[BuiltList, ...]
    construction: Construction | None
    alpha: float
    measured_by: str
    unranked: Unranked
    seed: int
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, query: str) -> BuiltList:
        for one in self.built:
            if one.list.query == query:
                return one
        raise KeyError(query)

    def __iter__(self) -> Iterator[str]:
        return (one.list.query for one in self.built)

    def __len__(self) -> int:
        return len(self.built)

    def __repr__(self) -> str:
        return f"GroundTruth({len(self.built)} queries, {self.made_by})"

    def __str__(self) -> str:
        from adjudge.groundtruth.summary import tabulated

        return tabulated(self)

    @property
    def made_by(self) -> str:
        """The construction in words."""
        return "made elsewhere" if self.construction is None else str(self.construction)

    @property
    def lists(self) -> PartialLists:
        """The lists alone."""
        return PartialLists(tuple(one.list for one in self.built))

    def consistency(self, tails: Tails = 1) -> float:
        """Mean consistency over queries whose list has at least two documents; NaN where there is none."""
        values = [one.consistency(tails) for one in self.built]
        known = [value for value in values if not np.isnan(value)]
        return float(np.mean(known)) if known else float("nan")


def build(
    answers: Answers,
    construction: str | Construction = DEFAULT_CONSTRUCTION,
    *,
    alpha: float = DEFAULT_ALPHA,
    unranked: Unranked = "left out",
    least_experts: int = 1,
    seed: int = 0,
) -> GroundTruth:
    """Make the lists of all queries.

    Documents that fewer than ``least_experts`` experts ranked are in no list, with a warning that counts them. How far
    lists are consistent is always measured with the default comparison of the answers, at the same ``alpha``.

    >>> rankings = Rankings.from_orders([("q", name, [["a"], ["b"], ["c"]], []) for name in "uvwxyz"])
    >>> print(build(rankings, "Any-1")["q"].list)
    ⟨(a), (b), (c)⟩
    """
    chosen = parse_construction(construction) if isinstance(construction, str) else construction
    (truth,) = make_all(answers, [chosen], alpha=alpha, unranked=unranked, least_experts=least_experts, seed=seed)
    for note in truth.notes:
        warn(note, stacklevel=2)
    return truth


def make_all(
    answers: Answers,
    constructions: Sequence[Construction],
    *,
    alpha: float,
    unranked: Unranked,
    least_experts: int = 1,
    seed: int = 0,
) -> list[GroundTruth]:
    """Lists of several constructions from the same answers, compared once; what there is to say is in their notes."""
    check_alpha(alpha)
    measured_by, notes = default_comparison(takes_of(answers)), list[str]()
    built: list[list[BuiltList]] = [[] for _ in constructions]
    for one, left_out in _usable(answers, unranked=unranked, least_experts=least_experts, notes=notes):
        measured = COMPARISONS[measured_by].compare(one, seed=seed)
        cuts = cut_lists(one, constructions, alpha=alpha, seed=seed, known={measured_by: measured})
        for lists, (made, group) in zip(built, cuts, strict=True):
            lists.append(_built(made, measured, group, alpha=alpha, left_out=left_out))
    return [
        GroundTruth(tuple(lists), chosen, alpha, measured_by, unranked, seed, tuple(notes))
        for lists, chosen in zip(built, constructions, strict=True)
    ]


def takes_of(answers: Answers) -> Takes:
    """What kind of answers these are."""
    return "rankings" if isinstance(answers, Rankings) else "preferences"


def cut_lists(
    asked: Asked,
    constructions: Sequence[Construction],
    *,
    alpha: float,
    seed: int,
    known: Mapping[str, Evidence] | None = None,
) -> list[tuple[Evidence, Ints]]:
    """Arrangement and groups of one query by each construction; every comparison is made once, unless it is known."""
    takes: Takes = "rankings" if isinstance(asked, RankedQuery) else "preferences"
    evidence = dict(known or {})
    cuts = []
    for one in constructions:
        by = one.comparison(takes)
        if by not in evidence:
            evidence[by] = COMPARISONS[by].compare(asked, seed=seed)
        cuts.append((evidence[by], FUNCTIONS[one.function].cut(evidence[by], alpha, one.tails)))
    return cuts


def _built(made: Evidence, measured: Evidence, group: Ints, *, alpha: float, left_out: tuple[str, ...]) -> BuiltList:
    """A list, and its evidence in the order of the list."""
    groups: dict[int, list[str]] = {}
    for document, number in zip(made.documents, group.tolist(), strict=True):
        groups.setdefault(number, []).append(document)
    made_list = PartialList(made.query, tuple(map(tuple, groups.values())))
    return BuiltList(made_list, replace(measured.for_documents(made.documents), left_out=left_out), alpha)


def _usable(
    answers: Answers, *, unranked: Unranked, least_experts: int, notes: list[str]
) -> list[tuple[Asked, tuple[str, ...]]]:
    """The answers about each query that lists are made from, and the documents that are in no list."""
    if isinstance(answers, Preferences):
        return [(one, ()) for one in answers.queries]
    usable: list[tuple[Asked, tuple[str, ...]]] = []
    for one in answers.queries:
        usable.append(_ranked_enough(one, unranked=unranked, least_experts=least_experts))
    lost = [(one.query, name) for one, left_out in usable for name in left_out]
    if lost:
        few = "nobody" if least_experts <= 1 else f"fewer than {least_experts} experts"
        some = ", ".join(f"{name} of {query}" for query, name in lost[:3])
        notes.append(f"{_documents(len(lost))} ranked by {few} and in no list: {some}{', …' if len(lost) > 3 else ''}.")
    return usable


def _documents(n: int) -> str:
    return "1 document is" if n == 1 else f"{n:,} documents are"


def _ranked_enough(
    asked: RankedQuery, *, unranked: Unranked, least_experts: int
) -> tuple[RankedQuery, tuple[str, ...]]:
    """Without the documents that too few experts ranked."""
    enough = asked.times_ranked >= max(least_experts, 1)
    if enough.sum() < 2:
        who = "somebody" if least_experts <= 1 else f"{least_experts} or more experts"
        came = f"{int(enough.sum())} of {len(asked.documents)}"
        raise QueryError(f"expected at least two documents that {who} ranked, got {came}", query=asked.query)
    kept = asked.filled(unranked).of_documents(np.flatnonzero(enough).tolist())
    return kept, tuple(name for name, keep in zip(asked.documents, enough, strict=True) if not keep)
