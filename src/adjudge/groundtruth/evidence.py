"""What experts' answers say about every pair of documents of a query, and how consistent a list is with it.

A *comparison* (a registered function) turns the answers about one query into :class:`Evidence`: an arrangement of the
documents, best first, and a p-value for each ordered pair. What makes groups and measures consistency knows nothing
else about how people were asked.

*Consistency*. At each position of a list a system may return any document of the group of that position, or any before
it: the list *expands* to these. The expansion is right as far as experts bear it out:

- a document before the position belongs there, unless (one tail) experts placed it significantly lower;
- a document after the position belongs there exactly if it does not differ significantly from the one at the position.

The score of a position is the share of documents that are in both the list's expansion and the right one among those
that are in either, 1 where both are empty; the position itself is not counted. **ADR-1** and **ADR-2 consistency** are
the mean score over all positions but the last, with one-tailed and two-tailed tests.

Errors have names: two documents of one group that differ are an *intra-group* inconsistency; two of different groups
that do not are an *inter-group* one; and a pair in the wrong order is *misordered*.

Pairs that were never compared are neither right nor wrong: they do not count, nor do positions without any other.

Reference: Urbano, Marrero, Martín & Lloréns, ISMIR 2010, section 4.1 (Table 2: .86). Where the paper leaves a choice:
documents before the position in its own group count as those of earlier groups do, and empty against empty is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import ALPHA, DEFAULT_LIST_ALPHA, checked
from adjudge.errors import AdjudgeError, shown
from adjudge.groundtruth.answers import PreferredQuery, RankedQuery
from adjudge.registry import Registry

QueryAnswers = RankedQuery | PreferredQuery
"""The answers about one query, however people were asked."""
Takes = Literal["rankings", "preferences"]
Tails = Literal[1, 2]
DEFAULT_ALPHA = DEFAULT_LIST_ALPHA


@dataclass(frozen=True)
class Evidence:
    """An arrangement of the documents of a query, and what is known of each pair.

    ``documents`` stand in the arrangement, best first; all arrays follow it. ``sooner[i, j]`` is the one-tailed p-value
    of "i is more similar to the query than j". ``compared[i, j]`` says whether the two were compared at all; where they
    were not, nothing is said about them. ``middle``, ``lower`` and ``upper`` are what to draw of each document (median
    and quartiles of its ranks, or an estimate with an interval), ``answers`` how many people spoke of it.
    """

    query: str
    documents: tuple[str, ...]
    sooner: Floats
    compared: Mask
    middle: Floats
    lower: Floats
    upper: Floats
    answers: Floats
    left_out: tuple[str, ...] = ()
    unit: str = "rank"
    mean: Floats = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def two_tailed(self) -> Floats:
        """p-values of "i and j differ": twice the smaller of both directions, at most 1."""
        p: Floats = np.minimum(1.0, 2 * np.minimum(self.sooner, self.sooner.T))
        return p

    def precedes(self, alpha: float) -> Mask:
        """Whether i is significantly more similar than j, one-tailed."""
        before: Mask = (self.sooner <= alpha) & self.compared
        return before & ~(before.T & (self.sooner >= self.sooner.T))  # both only for large alpha; the surer one holds

    def differs(self, alpha: float, tails: Tails) -> Mask:
        """Whether i and j are significantly different: by the two-tailed test, or by one of both one-tailed ones."""
        check_tails(tails)
        if tails == 1:
            before = self.precedes(alpha)
            return before | before.T
        return (self.two_tailed <= alpha) & self.compared

    def arranged(self, order: Ints) -> Evidence:
        """The same with the documents in another order."""
        square = np.ix_(order, order)
        names = ("middle", "lower", "upper", "answers", *(["mean"] if len(self.mean) else []))
        return replace(
            self,
            documents=tuple(self.documents[i] for i in order),
            sooner=self.sooner[square],
            compared=self.compared[square],
            **{name: getattr(self, name)[order] for name in names},
        )

    def for_documents(self, documents: tuple[str, ...]) -> Evidence:
        """The same with the documents of a list, in its order; documents that nothing is known of are refused."""
        places = {name: i for i, name in enumerate(self.documents)}
        unknown = next((name for name in documents if name not in places), None)
        if unknown is not None:
            raise AdjudgeError(f"Query {shown(self.query)}: nobody was asked about document {shown(unknown)}")
        return self.arranged(np.array([places[name] for name in documents], dtype=np.int64))


def check_tails(tails: int) -> None:
    """Refuse anything but one-tailed and two-tailed tests."""
    if tails not in (1, 2):
        raise AdjudgeError(f"Tests have 1 or 2 tails, got {tails}")


class Compare(Protocol):
    """How a comparison is called: answers about one query, options by name."""

    def __call__(self, asked: Any, *, seed: int) -> Evidence: ...


@dataclass(frozen=True)
class Comparison:
    """A registered way to compare documents."""

    name: str
    takes: Takes
    about: str
    compare: Compare
    is_random: bool = False


COMPARISONS: Registry[Comparison] = Registry(
    "comparison", "adjudge.groundtruth.comparisons", "adjudge.groundtruth.strengths"
)
"""Ways to compare documents."""
DEFAULT_COMPARISONS: dict[Takes, str] = {"rankings": "mann-whitney", "preferences": "sign"}
"""What compares each kind of answers when nothing else is named, and always measures consistency."""


def comparison(name: str, *, takes: Takes, about: str, is_random: bool = False) -> Callable[[Compare], Compare]:
    """Register a function as a comparison, and return it unchanged."""

    def add(compare: Compare) -> Compare:
        COMPARISONS.add(name, Comparison(name, takes, about, compare, is_random))
        return compare

    return add


def default_comparison(takes: Takes) -> str:
    """The way that is used when none is named."""
    return DEFAULT_COMPARISONS[takes]


@checked(alpha=ALPHA)
def expansion_scores(evidence: Evidence, alpha: float, tails: Tails) -> Floats:
    """Score of each position (row) if its group ended at each place (column); 0 for positions that never count.

    Columns before the row are meaningless: a group does not end before its documents.
    """
    n, known = len(evidence), evidence.compared
    after = np.triu(np.ones((n, n), dtype=np.bool_), 1)
    wrong_before = evidence.precedes(alpha) if tails == 1 else np.zeros((n, n), dtype=np.bool_)
    right = np.where(after, ~evidence.differs(alpha, tails), ~wrong_before)  # experts bear it out
    before_known, before_right = (~after & known).sum(axis=1), (~after & known & right).sum(axis=1)
    grown = np.cumsum(after & known, axis=1)  # documents after the position that a group up to each place holds
    grown_right = np.cumsum(after & known & right, axis=1)
    all_right = grown_right[:, -1:]
    both = before_right[:, None] + grown_right
    either = before_known[:, None] + grown + all_right - grown_right
    scores: Floats = np.divide(both, either, out=np.ones((n, n)), where=either > 0)
    scores[~_counts(evidence)] = 0.0
    return scores


def _counts(evidence: Evidence) -> Mask:
    """Which positions count: all but the last that were compared with anything."""
    counts = np.asarray(evidence.compared.any(axis=1))
    counts[-1] = False
    return counts


def list_consistency(evidence: Evidence, group: Ints, *, alpha: float, tails: Tails) -> float:
    """ADR-1 or ADR-2 consistency of a list: documents in the order of ``evidence``, each with its ``group``.

    NaN for a list of one document, which expands to nothing, and where nothing was compared.
    """
    _check_groups(evidence, group)
    n_counted = int(_counts(evidence).sum())
    if n_counted == 0:
        return float("nan")
    end = np.searchsorted(group, group, side="right") - 1
    scores = expansion_scores(evidence, alpha, tails)
    return float(scores[np.arange(len(evidence)), end].sum()) / n_counted


def _check_groups(evidence: Evidence, group: Ints) -> None:
    if len(group) != len(evidence) or (np.diff(group) < 0).any():
        raise AdjudgeError("Consistency: expected one group for each document, from the first group to the last")


@dataclass(frozen=True)
class Inconsistencies:
    """Pairs of a list that experts contradict: places of both documents, the earlier first (n x 2 each).

    ``intra`` are in one group and differ, ``inter`` are in different groups and do not, ``misordered`` stand in the
    wrong order. ``n_within`` and ``n_between`` count the pairs compared in one group and in different groups.
    """

    intra: Ints
    inter: Ints
    misordered: Ints
    n_within: int
    n_between: int


@checked(alpha=ALPHA)
def inconsistencies(evidence: Evidence, group: Ints, *, alpha: float, tails: Tails) -> Inconsistencies:
    """The pairs of a list that experts contradict; pairs never compared are left out."""
    _check_groups(evidence, group)
    differs = evidence.differs(alpha, tails)
    wrong = evidence.precedes(alpha).T
    above = np.triu(evidence.compared, 1)
    same = group[:, None] == group[None, :]
    return Inconsistencies(
        intra=np.argwhere(above & same & differs),
        inter=np.argwhere(above & ~same & ~differs),
        misordered=np.argwhere(above & wrong),
        n_within=int((above & same).sum()),
        n_between=int((above & ~same).sum()),
    )


@dataclass(frozen=True)
class Triples:
    """Triples of documents for which significance is not transitive, so that no list can be right about them.

    ``alike``: X and Z alike, Z and Y alike, X and Y different (two-tailed). ``ordered``: X before Y, Y before Z, but X
    not before Z (one-tailed). ``circular``: X before Y, Y before Z, Z before X. A triple may be of two
    kinds, by two tails and by one: ``broken`` counts it once. ``n`` triples were wholly compared.
    """

    alike: int
    ordered: int
    circular: int
    broken: int
    n: int


@checked(alpha=ALPHA)
def non_transitive_triples(evidence: Evidence, *, alpha: float) -> Triples:
    """Count the triples that break transitivity, by products of matrices."""
    known = evidence.compared & ~np.eye(len(evidence), dtype=np.bool_)
    different = evidence.differs(alpha, 2) & known
    alike = (known & ~different).astype(np.float64)
    before = (evidence.precedes(alpha) & known).astype(np.float64)
    undecided = known & (before == 0) & (before.T == 0)
    steps = before @ before  # how many Y lie between X and Z
    n_alike, ordered = int(((alike @ alike) * np.triu(different)).sum()), int((steps * undecided).sum())
    circular = round(float((steps * before.T).sum()) / 3)
    surely, hardly = before * different, before * alike  # what one tail orders, and two tails do and do not
    twice = ((surely @ hardly + hardly @ surely) * undecided).sum() + np.trace(surely @ hardly @ hardly)
    return Triples(
        alike=n_alike,
        ordered=ordered,
        circular=circular,
        broken=n_alike + ordered + circular - int(twice),
        n=round(float(np.trace(np.linalg.matrix_power(known.astype(np.float64), 3))) / 6),
    )
