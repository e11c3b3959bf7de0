"""Lists from experts' answers: compare the documents of each query, arrange them, aggregate them into groups.

Aggregation functions: an arrangement and the significant differences in it become groups.

The arrangement is walked from top to bottom, and at each document a function says whether a new group begins. *All*,
*Any* and *Prev* are those of Urbano et al. 2010 (All with two tails is the original of Typke et al. 2005). *Best* does
not walk: of all ways to cut the arrangement into groups it takes the most consistent one.

Lists that were made elsewhere, measured by experts' answers.

What is to be said of lists: one record a query, totals, and sentences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, TypedDict

import numpy as np

from adjudge.arrays import Ints, Mask
from adjudge.checks import ALPHA, COUNT, DEFAULT_CONSTRUCTION, SEED, checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.groundtruth.consistency import (
    Inconsistencies,
    Triples,
    expansion_scores,
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
    check_tails,
    default_comparison,
)
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.groundtruth.preferences import Preferences, PreferredQuery
from adjudge.groundtruth.rankings import QueryError, RankedQuery, Rankings, Unranked
from adjudge.registry import Registry
from adjudge.results import Column, Result
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted, listed

Cut = Callable[[Evidence, float, Tails], Ints]
"""Evidence, significance level and tails to the number of each document's group, from 0."""


@dataclass(frozen=True)
class Function:
    """A registered aggregation function."""

    name: str
    about: str
    cut: Cut


FUNCTIONS: Registry[Function] = Registry("aggregation function")


def aggregation(name: str, *, about: str) -> Callable[[Cut], Cut]:
    """Register an aggregation function, and return it unchanged."""

    def add(cut: Cut) -> Cut:
        FUNCTIONS.add(name, Function(name, about, cut))
        return cut

    return add


def _walked(evidence: Evidence, alpha: float, tails: Tails, begins: Callable[[Mask], bool]) -> Ints:
    """Groups by walking down; ``begins`` is asked about the differences from the documents of the current group.

    With one tail a document differs from one before it only if it is less similar. Documents that it was never compared
    with are not asked about: unknown is neither different nor alike. Where it was compared with none of the group,
    nothing says that it differs, and the group goes on.
    """
    differs = evidence.precedes(alpha) if tails == 1 else evidence.differs(alpha, 2)
    group, start = np.zeros(len(evidence), dtype=np.int64), 0
    for pivot in range(1, len(evidence)):
        known = evidence.compared[start:pivot, pivot]
        if known.any() and begins(differs[start:pivot, pivot][known]):
            start = pivot
        group[pivot] = group[pivot - 1] + (start == pivot)
    return group


@aggregation("All", about="a new group begins with a document that differs from all of the current group")
def differs_from_all(evidence: Evidence, alpha: float, tails: Tails) -> Ints:
    """The most lenient: groups grow as long as one of their documents is like the next."""
    return _walked(evidence, alpha, tails, lambda differs: bool(differs.all()))


@aggregation("Any", about="a new group begins with a document that differs from any of the current group")
def differs_from_any(evidence: Evidence, alpha: float, tails: Tails) -> Ints:
    """The strictest: no two documents of a group differ, as far as the test looks."""
    return _walked(evidence, alpha, tails, lambda differs: bool(differs.any()))


@aggregation("Prev", about="a new group begins with a document that differs from the one before it")
def differs_from_previous(evidence: Evidence, alpha: float, tails: Tails) -> Ints:
    """Looks at neighbours only: the last document of the group that the next was compared with."""
    return _walked(evidence, alpha, tails, lambda differs: bool(differs[-1]))


@aggregation("Best", about="of all ways to cut the arrangement into groups, the one of the highest consistency")
def most_consistent(evidence: Evidence, alpha: float, tails: Tails) -> Ints:
    """The cut that maximises list consistency, exactly.

    The consistency of a list is a mean over its positions of a score that depends only on where the group of the
    position ends: the best cut of the first j documents is the best over all beginnings i of the last group of the best
    cut of the first i, plus the scores of the group i … j. Of equally consistent cuts the one with the fewest groups.
    """
    scores = expansion_scores(evidence, alpha, tails)  # position x end of its group
    n = len(evidence)
    total = np.vstack([np.zeros(n), np.cumsum(scores, axis=0)])
    best, cuts, begin = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    for end in range(1, n + 1):
        value = best[:end] + total[end, end - 1] - total[:end, end - 1]
        top = np.flatnonzero(value >= value.max() - 1e-12)
        begin[end] = top[np.argmin(cuts[top])]
        best[end], cuts[end] = value[begin[end]], cuts[begin[end]] + 1
    is_first, place = np.zeros(n, dtype=np.int64), n
    while place > 0:
        place = int(begin[place])
        is_first[place] = 1
    return np.cumsum(is_first) - 1


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
    adjudge.errors.UnknownNameError: No aggregation function is called 'Some'. Known: All, Any, Best, Prev.
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


class ListRecord(TypedDict):
    """One list in numbers: its size, its consistency, what contradicts it.

    ``intra``, ``inter`` and ``misordered`` count pairs; ``pairs_within`` and ``pairs_between`` are how many there could
    be. Triples are of three kinds, see :class:`~adjudge.groundtruth.consistency.Triples`.
    """

    query: Annotated[str, Column("the query", key=True)]
    documents: Annotated[int, Column("documents of the list", ",d")]
    groups: Annotated[int, Column("its groups", ",d")]
    documents_a_group: Annotated[float, Column("documents per group", ".2f", shown=False)]
    adr_1: Annotated[float, Column("consistency by one-tailed tests", ".3f", label="ADR-1")]
    adr_2: Annotated[float, Column("consistency by two-tailed tests", ".3f", label="ADR-2")]
    intra: Annotated[int, Column("pairs inside a group that differ", ",d", shown=False)]
    pairs_within: Annotated[int, Column("compared pairs inside a group", ",d", shown=False)]
    inter: Annotated[int, Column("pairs across groups that do not differ", ",d", shown=False)]
    pairs_between: Annotated[int, Column("compared pairs across groups", ",d", shown=False)]
    misordered: Annotated[int, Column("pairs in the wrong order", ",d", shown=False)]
    triples_alike: Annotated[int, Column("triples alike in two pairs but not in the third", ",d", shown=False)]
    triples_ordered: Annotated[int, Column("triples ordered in two pairs but not in the third", ",d", shown=False)]
    triples_circular: Annotated[int, Column("triples that go round in a circle", ",d", shown=False)]
    triples_broken: Annotated[int, Column("triples of any of these kinds", ",d", shown=False)]
    triples: Annotated[int, Column("triples that were wholly compared", ",d", shown=False)]
    left_out: Annotated[int, Column("documents that are in no list", ",d", shown=False)]


@dataclass(frozen=True, repr=False)
class GroundTruth(Result, Mapping[str, BuiltList]):
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

    row_type = ListRecord
    rows_name = "lists"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Lists of {counted(len(self.built), 'query')}, {self.made_by}"

    def _rows(self) -> list[dict[str, Any]]:
        return list_records(self)

    def _facts(self) -> dict[str, Any]:
        names = ("alpha", "measured_by", "unranked", "seed", "notes")
        return {"construction": self.made_by, **{name: getattr(self, name) for name in names}}

    def _notes(self) -> list[str]:
        return sentences(self)[:2]

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


@renamed({"unranked": {"left out": "skip"}})
@checked(alpha=ALPHA, unranked=Unranked, least_experts=COUNT, seed=SEED)
def build(
    answers: Answers,
    construction: str | Construction = DEFAULT_CONSTRUCTION,
    *,
    alpha: float = DEFAULT_ALPHA,
    unranked: Unranked = "skip",
    least_experts: int = 1,
    seed: Seed = 0,
) -> GroundTruth:
    """Make the lists of all queries.

    Documents that fewer than ``least_experts`` experts ranked are in no list, with a warning that counts them. How far
    lists are consistent is always measured with the default comparison of the answers, at the same ``alpha``.

    >>> rankings = Rankings.from_orders([("q", name, [["a"], ["b"], ["c"]], []) for name in "uvwxyz"])
    >>> print(build(rankings, "Any-1")["q"].list)
    ⟨(a), (b), (c)⟩
    """
    seed = as_seed(seed)
    chosen = parse_construction(construction) if isinstance(construction, str) else construction
    (truth,) = make_all(answers, [chosen], alpha=alpha, unranked=unranked, least_experts=least_experts, seed=seed)
    for note in truth.notes:
        warn(note, stacklevel=2)
    return truth


@checked(alpha=ALPHA, unranked=Unranked, least_experts=COUNT, seed=SEED)
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


@renamed({"unranked": {"left out": "skip"}})
@checked(alpha=ALPHA, unranked=Unranked, seed=SEED)
def check_lists(
    lists: PartialLists,
    answers: Answers,
    *,
    alpha: float = DEFAULT_ALPHA,
    unranked: Unranked = "skip",
    seed: Seed = 0,
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
    seed = as_seed(seed)
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


SPLIT_HAIRS = 0.005
"""Lists whose consistencies are nearer than this are not called better and worse."""


def list_record(built: BuiltList, *, tails: Tails = 1) -> dict[str, Any]:
    """One list in numbers, as :class:`ListRecord` declares them; pairs are counted by tests with ``tails``."""
    wrong, triples = built.inconsistencies(tails), built.triples
    return {
        "query": built.list.query,
        "documents": len(built.list),
        "groups": len(built.list.groups),
        "documents_a_group": built.mean_group_size,
        "adr_1": built.consistency(1),
        "adr_2": built.consistency(2),
        "intra": len(wrong.intra),
        "pairs_within": wrong.n_within,
        "inter": len(wrong.inter),
        "pairs_between": wrong.n_between,
        "misordered": len(wrong.misordered),
        "triples_alike": triples.alike,
        "triples_ordered": triples.ordered,
        "triples_circular": triples.circular,
        "triples_broken": triples.broken,
        "triples": triples.n,
        "left_out": len(built.evidence.left_out),
    }


def list_records(truth: GroundTruth, *, tails: Tails = 1) -> list[dict[str, Any]]:
    """A record for each list, in order."""
    return [list_record(one, tails=tails) for one in truth.built]


def total_record(truth: GroundTruth, *, tails: Tails = 1) -> dict[str, Any]:
    """All lists in numbers: sums, except that consistencies and documents a group are means over queries."""
    records = list_records(truth, tails=tails)
    total: dict[str, Any] = {name: sum(one[name] for one in records) for name in records[0] if name != "query"}
    total["documents_a_group"] /= len(records)
    return {"query": "all", **total, "adr_1": truth.consistency(1), "adr_2": truth.consistency(2)}


def sentences(truth: GroundTruth, answers: Answers | None = None) -> list[str]:
    """What a reader should know of the lists, most important first.

    >>> from adjudge.groundtruth.building import build
    >>> rankings = Rankings.from_orders([("q", name, [["a"], ["b"], ["c"]], []) for name in "uvwxyz"])
    >>> for sentence in sentences(build(rankings, "Any-1"), rankings):
    ...     print(sentence)
    1 list of 3 documents in 3 groups, Any-1, from 18 ranks by 6 experts.
    ADR-1 consistency is 1.000 (ADR-2 1.000): experts bear out everything that the list says.
    """
    total = total_record(truth)
    made, borne_out = _made(truth, total, answers), _borne_out(truth, total)
    return [made, borne_out, *_undivided(truth), *_uncompared(truth, total), *_worst(truth), *_triples(total)]


def _made(truth: GroundTruth, total: dict[str, Any], answers: Answers | None) -> str:
    size = f"{counted(total['documents'], 'document')} in {counted(total['groups'], 'group')}"
    made = truth.made_by if answers is None else f"{truth.made_by}, {_given(truth, answers)}"
    return f"{counted(len(truth), 'list')} of {size}, {made}."


def _given(truth: GroundTruth, answers: Answers) -> str:
    """The answers about the queries that have a list; lists from elsewhere were not made from them."""
    about = answers.without({one.query for one in answers.queries} - set(truth))
    return f"{'measured by' if truth.construction is None else 'from'} {asked_of(about)}"


def asked_of(answers: Answers) -> str:
    """How much was asked of how many.

    >>> asked_of(Rankings.from_orders([("q", "ann", [["a"], ["b"]], [])]))
    '2 ranks by 1 expert'
    """
    if isinstance(answers, Rankings):
        return f"{counted(answers.n_ranks, 'rank')} by {counted(answers.n_experts, 'expert')}"
    people = len({who for one in answers.queries for who in one.assessor.tolist()} - {-1})
    return counted(answers.n_answers, "preference") + (f" by {counted(people, 'person')}" if people else "")


def _borne_out(truth: GroundTruth, total: dict[str, Any]) -> str:
    one_tail, two_tails = total["adr_1"], total["adr_2"]
    if math.isnan(one_tail):
        return "No two documents of a list were compared, so that nothing can be said of consistency."
    they = "the list says" if len(truth) == 1 else "the lists say"
    mean = "" if len(truth) == 1 else "Mean "
    figures = f"{mean}ADR-1 consistency is {one_tail:.3f} (ADR-2 {two_tails:.3f})"
    if one_tail == 1 and not total["intra"] + total["inter"] + total["misordered"]:
        return f"{figures}: experts bear out everything that {they}."
    wrong = [
        f"{total['intra']:,} of {counted(total['pairs_within'], 'pair')} inside groups "
        f"{'differs' if total['intra'] == 1 else 'differ'}",
        f"{total['inter']:,} of {counted(total['pairs_between'], 'pair')} across groups "
        f"{'does' if total['inter'] == 1 else 'do'} not",
    ]
    stand = "stands" if total["misordered"] == 1 else "stand"
    return f"{figures}: {', '.join(wrong)}, {total['misordered']:,} {stand} in the wrong order."


def _undivided(truth: GroundTruth) -> list[str]:
    """A list of one group is wholly consistent where no two documents differ; that is no news about the documents."""
    alike = [
        one.list.query
        for one in truth.built
        if len(one.list) > 1 and not one.evidence.differs(one.alpha, 1).any() and one.evidence.compared.any()
    ]
    if not alike:
        return []
    where = "" if len(truth) == 1 else f" of {_named(alike)}"
    why = "people see no difference, disagree, or are too few to show one"
    return [f"No two documents{where} differ significantly (α = {truth.alpha:g}): {why}."]


def _named(queries: list[str]) -> str:
    """A few names.

    >>> _named(["q1", "q2", "q3", "q4", "q5"])
    'q1, q2, q3 and 2 more queries'
    """
    return listed(queries, most=3 if len(queries) > 4 else None, more="more queries")


def _worst(truth: GroundTruth) -> list[str]:
    every = [(one.consistency(1), one.list.query) for one in truth.built]
    known = [(value, query) for value, query in every if not math.isnan(value)]
    if len(known) < 2 or max(known)[0] - min(known)[0] < SPLIT_HAIRS:
        return []
    (lowest, query), (highest, best) = min(known), max(known)
    return [f"The least consistent list is that of {query} ({lowest:.3f}), the most that of {best} ({highest:.3f})."]


def _triples(total: dict[str, Any]) -> list[str]:
    kinds = (
        ("alike", "alike in two pairs but not in the third"),
        ("ordered", "ordered in two pairs but not in the third"),
        ("circular", "going round in a circle"),
    )
    found = [f"{total[f'triples_{kind}']:,} {words}" for kind, words in kinds if total[f"triples_{kind}"]]
    if not found:
        return []
    triples = counted(total["triples"], "triple")
    kinds_found = ", ".join(found) if len(found) > 1 else found[0].partition(" ")[2]
    none = f"{total['triples_broken']:,} cannot be put right by any list: {kinds_found}"
    return [f"Of {triples} of documents compared with one another, {none}."]


def _uncompared(truth: GroundTruth, total: dict[str, Any]) -> list[str]:
    n_compared = total["pairs_within"] + total["pairs_between"]
    n_pairs = sum(len(one.list) * (len(one.list) - 1) // 2 for one in truth.built)
    if n_compared == n_pairs:
        return []
    return [f"{n_compared:,} of {counted(n_pairs, 'pair')} of documents were compared; the others count neither way."]
