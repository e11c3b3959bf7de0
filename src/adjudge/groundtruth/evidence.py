"""What experts' answers say about every pair of documents of a query: which comes first, and how surely.

A *comparison* (registered, one function a way) turns the answers about one query into :class:`Evidence`: an arrangement
of the documents, best first, and a p-value for each ordered pair. What makes groups and measures consistency
knows nothing else about how people were asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import DEFAULT_LIST_ALPHA
from adjudge.errors import AdjudgeError, shown
from adjudge.groundtruth.preferences import PreferredQuery
from adjudge.groundtruth.rankings import RankedQuery
from adjudge.registry import Registry

Asked = RankedQuery | PreferredQuery
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
        different: Mask = (self.two_tailed <= alpha) & self.compared
        return different

    def arranged(self, order: Ints) -> Evidence:
        """The same with the documents in another order."""
        square = np.ix_(order, order)
        return Evidence(
            query=self.query,
            documents=tuple(self.documents[i] for i in order),
            sooner=self.sooner[square],
            compared=self.compared[square],
            middle=self.middle[order],
            lower=self.lower[order],
            upper=self.upper[order],
            answers=self.answers[order],
            left_out=self.left_out,
            unit=self.unit,
            mean=self.mean[order] if len(self.mean) else self.mean,
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
