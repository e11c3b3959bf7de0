"""Aggregation functions: an arrangement and the significant differences in it become groups.

The arrangement is walked from top to bottom, and at each document a function says whether a new group begins. *All*,
*Any* and *Prev* are those of Urbano et al. 2010 (All with two tails is the original of Typke et al. 2005). *Best* does
not walk: of all ways to cut the arrangement into groups it takes the most consistent one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Ints, Mask
from adjudge.groundtruth.consistency import expansion_scores
from adjudge.groundtruth.evidence import Evidence, Tails
from adjudge.registry import Registry

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
