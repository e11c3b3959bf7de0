"""Lists from experts' answers: compare the documents of each query, arrange them, aggregate them into groups.

An *aggregation function* makes groups of an arrangement and the significant differences in it. It walks from top to
bottom, and says at each document whether a new group begins. *All*, *Any* and *Prev* are those of Urbano et al. 2010
(All with two tails is the original of Typke et al. 2005). *Best* does not walk: of all ways to cut the arrangement into
groups it takes the most consistent one.

Lists that were made elsewhere can be measured by the same answers. Either way a :class:`GroundTruth` has a record per
list, totals, and sentences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, TypedDict

import numpy as np

from adjudge.arrays import Ints, Mask
from adjudge.checks import ALPHA, COUNT, DEFAULT_CONSTRUCTION, SEED, Kind, checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.groundtruth.answers import Preferences, PreferredQuery, QueryError, RankedQuery, Rankings, Unranked
from adjudge.groundtruth.evidence import (
    COMPARISONS,
    DEFAULT_ALPHA,
    Evidence,
    Inconsistencies,
    QueryAnswers,
    Tails,
    Takes,
    Triples,
    check_tails,
    default_comparison,
    expansion_scores,
    inconsistencies,
    list_consistency,
    non_transitive_triples,
)
from adjudge.groundtruth.figures import DrawnList, Sizes, drawn_list, sizes
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.registry import Registry, unknown
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import cleaned, shortened
from adjudge.results import Column, Result, figure
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
    """The most lenient: a group grows as long as one of its documents is like the next."""
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
ANSWERS = Kind(Answers, "rankings or preferences (from adjudge.groundtruth.read_rankings or read_preferences)")
_LISTS = Kind(PartialLists, "partially ordered lists (from adjudge.groundtruth.read_lists)")
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
            able = ", ".join(known.name for known in COMPARISONS.values() if known.takes == takes)
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


MOST_ROWS = 54
"""Documents of one figure: more do not fit on a page of paper."""
SAME = 1e-9
"""Numbers nearer than this are equal but for rounding."""
FEWEST_LISTS = 3
"""Lists that make a figure of consistency against group size."""


@dataclass(frozen=True, eq=False)
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
        """Documents per group."""
        return len(self.list) / len(self.list.groups)

    def sentences(self) -> str:
        """The list in words: its size, its consistency, what experts contradict, what is in no list."""
        size, wrong, left_out = len(self.list), self.inconsistencies(), self.evidence.left_out
        groups = counted(len(self.list.groups), "group")
        said = [f"Query {cleaned(self.list.query)}: {counted(size, 'document')} in {groups}."]
        if size > 1 and np.isnan(self.consistency(1)):
            said.append("No two of them were compared.")
        elif size > 1:
            intra, inter, misordered = (len(pairs) for pairs in (wrong.intra, wrong.inter, wrong.misordered))
            stand, do = "stands" if misordered == 1 else "stand", "does" if inter == 1 else "do"
            differ = "differs" if intra == 1 else "differ"
            parts = (
                (intra, f"{intra:,} of {counted(wrong.n_within, 'pair')} in one group {differ}"),
                (inter, f"{inter:,} of {counted(wrong.n_between, 'pair')} in different groups {do} not differ"),
                (misordered, f"{counted(misordered, 'pair')} {stand} in the wrong order"),
            )
            contradicted = "; ".join(part for n, part in parts if n) or "Experts contradict nothing in it"
            said.append(f"ADR-1 consistency is {self.consistency(1):.3f}, ADR-2 {self.consistency(2):.3f}.")
            said.append(f"{contradicted}.")
        if left_out:
            said.append(f"In no list: {listed([cleaned(name) for name in left_out], most=5)}.")
        return " ".join(said)

    def figures(self, name: str) -> tuple[FigureBlock, ...]:
        """The list drawn, in parts where it is too long for a page."""
        n = len(self.list)
        parts = -(-n // MOST_ROWS)
        bounds = np.linspace(0, n, parts + 1).round().astype(int).tolist()
        blocks = []
        for part, (start, end) in enumerate(pairwise(bounds), start=1):
            some = "" if parts == 1 else f", documents {start + 1} to {end} of {n}"
            caption = (
                f"The list of {shortened(self.list.query, 60)}{some}. Bands are groups. In the matrix rows and columns "
                "are the documents in the order of the list, and frames hold the pairs of one group."
            )
            named = name if parts == 1 else f"{name}-{part}"
            data = self._drawing(start, end)
            blocks.append(FigureBlock(named, caption, self.sentences(), data, drawn_list))
        return tuple(blocks)

    def _drawing(self, start: int, end: int) -> DrawnList:
        """What is drawn of some rows of a list."""
        evidence, wrong, is_rank = self.evidence, self.inconsistencies(), self.evidence.unit == "rank"
        return DrawnList(
            documents=evidence.documents[start:end],
            start=start,
            group=tuple(self.list.group_numbers),
            middle=evidence.middle[start:end],
            lower=evidence.lower[start:end],
            upper=evidence.upper[start:end],
            mean=evidence.mean[start:end] if is_rank else np.empty(0),
            answers=tuple(evidence.answers[start:end].astype(int).tolist()),
            is_rank=is_rank,
            label="rank (1: most similar)" if is_rank else f"{evidence.unit}, the highest is the most similar",
            middle_label="median" if is_rank else "estimate",
            spread_label="middle half of the ranks" if is_rank else "95 % interval",
            answers_label="experts" if is_rank else "answers",
            intra=wrong.intra,
            inter=wrong.inter,
            misordered=wrong.misordered,
            unasked=self._unasked(start, end),
            left_out=evidence.left_out if end == len(self.list) else (),
        )

    def _unasked(self, start: int, end: int) -> Ints:
        """Runs of pairs that were never compared: row, first and last column."""
        runs = []
        for row in range(start, end):
            silent = ~self.evidence.compared[row]
            silent[row] = False
            steps = np.flatnonzero(np.diff(np.concatenate([[False], silent, [False]])))
            runs += [(row, int(first), int(past) - 1) for first, past in zip(steps[::2], steps[1::2], strict=True)]
        return np.array(runs, dtype=np.int64).reshape(-1, 3)


class ListRecord(TypedDict):
    """One list in numbers: its size, its consistency, what contradicts it.

    ``intra``, ``inter`` and ``misordered`` count pairs; ``pairs_within`` and ``pairs_between`` are how many there could
    be. Triples are of three kinds, see :class:`~adjudge.groundtruth.evidence.Triples`.
    """

    query: Annotated[str, Column("the query", key=True)]
    documents: Annotated[int, Column("documents of the list", ",d")]
    groups: Annotated[int, Column("its groups", ",d")]
    documents_per_group: Annotated[float, Column("documents per group", ".2f", shown=False)]
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


@dataclass(frozen=True, repr=False, eq=False)
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
        for built in self.built:
            if built.list.query == query:
                return built
        raise KeyError(query)

    def __iter__(self) -> Iterator[str]:
        return (built.list.query for built in self.built)

    def __len__(self) -> int:
        return len(self.built)

    def __repr__(self) -> str:
        return f"GroundTruth({len(self.built)} queries, {self.made_by})"

    row_type = ListRecord
    rows_name = "queries"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Lists of {counted(len(self.built), 'query')}, {self.made_by}"

    def _rows(self) -> list[dict[str, Any]]:
        return list_records(self)

    def _facts(self) -> dict[str, Any]:
        names = ("alpha", "measured_by", "unranked", "seed", "notes")
        facts = {name: getattr(self, name) for name in names}
        return {"construction": self.made_by, **facts, "lists": self.lists.to_groups()}

    def _notes(self) -> list[str]:
        return sentences(self)[:2]

    @property
    def measured(self) -> tuple[BuiltList, ...]:
        """Lists that have a consistency: those of two documents or more."""
        return tuple(built for built in self.built if len(built.list) > 1)

    @figure("list")
    def _list(self, *, query: str = "", part: int = 1) -> FigureBlock:
        """The list of a query, the first unless another is named; a long one has parts."""
        if query and query not in self:
            raise unknown("query of these lists", query, list(self))
        parts = (self[query] if query else self.built[0]).figures("list")
        if not 1 <= part <= len(parts):
            raise AdjudgeError(f"'part' must be from 1 to {len(parts)}, got {part}")
        return parts[part - 1]

    @figure("consistency-by-size")
    def _sizes(self) -> FigureBlock:
        """Consistency of each list against the size of its groups."""
        known = self.measured
        if len(known) < FEWEST_LISTS:
            raise AdjudgeError(
                f"consistency by size needs {FEWEST_LISTS} lists that have a consistency, got {len(known)}"
            )
        size = np.array([built.mean_group_size for built in known])
        consistency = np.array([built.consistency(1) for built in known])
        data = Sizes(tuple(built.list.query for built in known), size, consistency)
        related = ""
        if min(np.ptp(size), np.ptp(consistency)) > SAME:
            related = f" Pearson's r is {np.corrcoef(size, consistency)[0, 1]:.2f}."
        caption = f"Consistency of each list against the size of its groups.{related}"
        alt = (
            f"{len(known)} queries, with {size.min():.1f} to {size.max():.1f} documents per group and consistencies "
            f"from {consistency.min():.3f} to {consistency.max():.3f}.{related}"
        )
        return FigureBlock("consistency-by-size", caption, alt, data, sizes)

    @property
    def made_by(self) -> str:
        """The construction in words."""
        return "made elsewhere" if self.construction is None else str(self.construction)

    @property
    def lists(self) -> PartialLists:
        """The lists alone."""
        return PartialLists(tuple(built.list for built in self.built))

    def consistency(self, tails: Tails = 1) -> float:
        """Mean consistency over queries whose list has at least two documents; NaN where there is none."""
        values = np.array([built.consistency(tails) for built in self.built])
        known = values[~np.isnan(values)]
        return float(known.mean()) if len(known) else float("nan")


@renamed({"unranked": {"left out": "skip"}}, "ground_truth")
@checked(answers=ANSWERS, alpha=ALPHA, unranked=Unranked, least_experts=COUNT, seed=SEED)
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
    """Lists of several constructions from the same answers, compared once; notes say what was left out."""
    measured_by = default_comparison(takes_of(answers))
    usable = [_usable(asked, unranked, least_experts) for asked in answers.queries]
    built: list[list[BuiltList]] = [[] for _ in constructions]
    for asked, left_out in usable:
        evidence = COMPARISONS[measured_by].compare(asked, seed=seed)
        cuts = cut_lists(asked, constructions, alpha=alpha, seed=seed, known={measured_by: evidence})
        for lists, (made, group) in zip(built, cuts, strict=True):
            groups: dict[int, list[str]] = {}
            for document, number in zip(made.documents, group.tolist(), strict=True):
                groups.setdefault(number, []).append(document)
            lists.append(_built(made.query, groups.values(), evidence, left_out, alpha))
    lost = [f"{name} of {asked.query}" for asked, left_out in usable for name in left_out]
    few = "nobody" if least_experts <= 1 else f"fewer than {least_experts} experts"
    notes = _note(lost, "document", ("is", "are"), f"ranked by {few} and in no list")
    return [
        GroundTruth(tuple(lists), construction, alpha, measured_by, unranked, seed, tuple(notes))
        for lists, construction in zip(built, constructions, strict=True)
    ]


def takes_of(answers: Answers | QueryAnswers) -> Takes:
    """What kind of answers these are."""
    return "rankings" if isinstance(answers, Rankings | RankedQuery) else "preferences"


def cut_lists(
    asked: QueryAnswers,
    constructions: Sequence[Construction],
    *,
    alpha: float,
    seed: int,
    known: Mapping[str, Evidence] | None = None,
) -> list[tuple[Evidence, Ints]]:
    """Arrangement and groups of one query by each construction; every comparison is made once, unless it is known."""
    evidence, cuts = dict(known or {}), []
    for construction in constructions:
        by = construction.comparison(takes_of(asked))
        if by not in evidence:
            evidence[by] = COMPARISONS[by].compare(asked, seed=seed)
        cuts.append((evidence[by], FUNCTIONS[construction.function].cut(evidence[by], alpha, construction.tails)))
    return cuts


def _built(
    query: str, groups: Iterable[Iterable[str]], evidence: Evidence, left_out: tuple[str, ...], alpha: float
) -> BuiltList:
    """A list, with the evidence in its order."""
    made = PartialList(query, tuple(map(tuple, groups)))
    return BuiltList(made, replace(evidence.for_documents(made.documents), left_out=left_out), alpha)


def _usable(asked: QueryAnswers, unranked: Unranked, least_experts: int = 1) -> tuple[QueryAnswers, tuple[str, ...]]:
    """The answers about the documents that enough experts ranked, and the other documents."""
    if isinstance(asked, PreferredQuery):
        return asked, ()
    enough = asked.times_ranked >= max(least_experts, 1)
    if enough.sum() < 2:
        who = "somebody" if least_experts <= 1 else f"{least_experts} or more experts"
        came = f"{int(enough.sum())} of {len(asked.documents)}"
        raise QueryError(f"expected at least two documents that {who} ranked, got {came}", query=asked.query)
    kept = asked.filled(unranked).of_documents(np.flatnonzero(enough).tolist())
    return kept, tuple(name for name, keep in zip(asked.documents, enough, strict=True) if not keep)


def _note(names: Sequence[str], noun: str, verbs: tuple[str, str], rest: str) -> list[str]:
    """A sentence with the number of names, the verb for one or for several, and the first three names."""
    if not names:
        return []
    some = f"{', '.join(names[:3])}{', …' if len(names) > 3 else ''}"
    return [f"{counted(len(names), noun)} {verbs[len(names) > 1]} {rest}: {some}."]


@renamed({"unranked": {"left out": "skip"}})
@checked(lists=_LISTS, answers=ANSWERS, alpha=ALPHA, unranked=Unranked, seed=SEED)
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
    answered: dict[str, QueryAnswers] = {asked.query: asked for asked in answers.queries}
    if not answered.keys() & lists.keys():
        raise AdjudgeError("Lists and answers: expected queries in common, got none")
    built, unknown = [], list[str]()
    for query in (query for query in lists if query in answered):
        asked, _ = _usable(answered[query], unranked)
        evidence = COMPARISONS[by].compare(asked, seed=seed)
        place = {name: i for i, name in enumerate(evidence.documents)}
        unknown += [f"{name} of {query}" for name in lists[query].documents if name not in place]
        groups = [sorted(place.keys() & set(group), key=place.__getitem__) for group in lists[query].groups]
        if not any(groups):
            raise AdjudgeError(f"Query {shown(query)}: nobody was asked about any document of its list")
        kept = {name for group in groups for name in group}
        left_out = tuple(name for name in answered[query].documents if name not in kept)
        built.append(_built(query, filter(None, groups), evidence, left_out, alpha))
    without_answers, without_list = [q for q in lists if q not in answered], [q for q in answered if q not in lists]
    notes = [
        *_note(without_answers, "list", ("is of a query", "are of queries"), "that nobody was asked about"),
        *_note(without_list, "query", ("of the answers has", "of the answers have"), "no list"),
        *_note(unknown, "document", ("of the lists was", "of the lists were"), "put to nobody and not counted"),
    ]
    for note in notes:
        warn(note, stacklevel=2)
    return GroundTruth(tuple(built), None, alpha, by, unranked, seed, tuple(notes))


_NEAR = 0.005  # consistencies that are nearer than this are not called better and worse


def list_record(built: BuiltList) -> dict[str, Any]:
    """One list in numbers, as :class:`ListRecord` declares them; pairs are counted by one-tailed tests."""
    wrong, triples = built.inconsistencies(), built.triples
    return {
        "query": built.list.query,
        "documents": len(built.list),
        "groups": len(built.list.groups),
        "documents_per_group": built.mean_group_size,
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


def list_records(truth: GroundTruth) -> list[dict[str, Any]]:
    """A record for each list, in order."""
    return [list_record(built) for built in truth.built]


def total_record(truth: GroundTruth) -> dict[str, Any]:
    """All lists in numbers: sums, except that consistencies and documents per group are means over queries."""
    records = list_records(truth)
    total: dict[str, Any] = {name: sum(record[name] for record in records) for name in records[0] if name != "query"}
    total["documents_per_group"] /= len(records)
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
    size = f"{counted(total['documents'], 'document')} in {counted(total['groups'], 'group')}"
    made = truth.made_by
    if answers is not None:  # those about queries that have a list; lists from elsewhere were not made from them
        about = answers.without({asked.query for asked in answers.queries} - set(truth))
        made += f", {'measured by' if truth.construction is None else 'from'} {asked_of(about)}"
    n_compared = total["pairs_within"] + total["pairs_between"]
    n_pairs = sum(math.comb(len(built.list), 2) for built in truth.built)
    others = f"{n_compared:,} of {counted(n_pairs, 'pair')} of documents were compared; the others count neither way."
    said = [f"{counted(len(truth), 'list')} of {size}, {made}.", _consistency_sentence(truth, total)]
    said += [_alike_sentence(truth), others if n_compared < n_pairs else "", _extremes_sentence(truth)]
    return [text for text in (*said, _triples_sentence(total)) if text]


def asked_of(answers: Answers) -> str:
    """How much was asked, of how many people.

    >>> asked_of(Rankings.from_orders([("q", "ann", [["a"], ["b"]], [])]))
    '2 ranks by 1 expert'
    """
    if isinstance(answers, Rankings):
        return f"{counted(answers.n_ranks, 'rank')} by {counted(answers.n_experts, 'expert')}"
    people = len({who for asked in answers.queries for who in asked.assessor.tolist()} - {-1})
    return counted(answers.n_answers, "preference") + (f" by {counted(people, 'person')}" if people else "")


def _consistency_sentence(truth: GroundTruth, total: dict[str, Any]) -> str:
    if math.isnan(total["adr_1"]):
        return "No two documents of a list were compared, so that nothing can be said of consistency."
    mean, they = ("", "the list says") if len(truth) == 1 else ("Mean ", "the lists say")
    figures = f"{mean}ADR-1 consistency is {total['adr_1']:.3f} (ADR-2 {total['adr_2']:.3f})"
    intra, inter, misordered = total["intra"], total["inter"], total["misordered"]
    if total["adr_1"] == 1 and not intra + inter + misordered:
        return f"{figures}: experts bear out everything that {they}."
    differ, do = "differs" if intra == 1 else "differ", "does" if inter == 1 else "do"
    return (
        f"{figures}: {intra:,} of {counted(total['pairs_within'], 'pair')} inside groups {differ}, "
        f"{inter:,} of {counted(total['pairs_between'], 'pair')} across groups {do} not, "
        f"{misordered:,} {'stands' if misordered == 1 else 'stand'} in the wrong order."
    )


def _alike_sentence(truth: GroundTruth) -> str:
    """A list of one group is wholly consistent where no two documents differ; that is no news about the documents."""
    alike = [
        built.list.query
        for built in truth.built
        if len(built.list) > 1 and not built.evidence.differs(built.alpha, 1).any() and built.evidence.compared.any()
    ]
    if not alike:
        return ""
    names = listed(alike, most=3 if len(alike) > 4 else None, more="more queries")
    where = "" if len(truth) == 1 else f" of {names}"
    why = "people see no difference, disagree, or are too few to show one"
    return f"No two documents{where} differ significantly (α = {truth.alpha:g}): {why}."


def _extremes_sentence(truth: GroundTruth) -> str:
    every = [(built.consistency(1), built.list.query) for built in truth.built]
    known = [(value, query) for value, query in every if not math.isnan(value)]
    if len(known) < 2 or max(known)[0] - min(known)[0] < _NEAR:
        return ""
    (lowest, query), (highest, best) = min(known), max(known)
    return f"The least consistent list is that of {query} ({lowest:.3f}), the most that of {best} ({highest:.3f})."


def _triples_sentence(total: dict[str, Any]) -> str:
    kinds = {
        "alike": "alike in two pairs but not in the third",
        "ordered": "ordered in two pairs but not in the third",
        "circular": "going round in a circle",
    }
    words = {words: total[f"triples_{kind}"] for kind, words in kinds.items() if total[f"triples_{kind}"]}
    if not words:
        return ""
    which = ", ".join(f"{n:,} {text}" for text, n in words.items()) if len(words) > 1 else next(iter(words))
    wrong = f"{total['triples_broken']:,} cannot be put right by any list: {which}"
    return f"Of {counted(total['triples'], 'triple')} of documents compared with one another, {wrong}."
