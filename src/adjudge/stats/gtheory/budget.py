"""What reliability costs: the best design for a budget, the cheapest design for a target.

A design is a cutoff, a number of queries and a number of assessors a query. Every assessor of a query judges its whole
pool, so that

    cost = queries c_q + queries x assessors x pool(cutoff) c_j + people c_p

where the pool grows less than the cutoff, as systems retrieve the same documents (:mod:`adjudge.model.runs` measures
by how much), and people are the assessors to recruit. Thesis sections 6.3 and 6.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from adjudge.checks import COUNT, NOT_NEGATIVE, POSITIVE, TARGET, Assessors, Constraints, OneOf, check_all, checked
from adjudge.errors import AdjudgeError
from adjudge.stats.gtheory.designs import CROSSED
from adjudge.stats.gtheory.dstudy import INDICES
from adjudge.stats.gtheory.gstudy import GStudy

MOST_QUERIES = 10_000_000
_INDEX = OneOf(tuple(INDICES), "what is to be reliable: the ranking or the scores")


@dataclass(frozen=True)
class Costs:
    """Prices in any one unit: of a judgment, of a query, and of recruiting an assessor.

    ``workload`` is the number of queries that one assessor judges at most; without it assessors who are crossed with
    queries judge all of them, and those nested in queries one each.
    """

    judgment: float = 1.0
    query: float = 0.0
    assessor: float = 0.0
    workload: int | None = None

    constraints: ClassVar[Constraints] = {
        **dict.fromkeys(("judgment", "query", "assessor"), NOT_NEGATIVE),
        "workload": COUNT,
    }

    def __post_init__(self) -> None:
        check_all(self)
        if self.judgment == self.query == 0:
            raise AdjudgeError("Expected a cost for judgments or for queries: with neither, any collection is free.")

    def people(self, n_queries: int, n_assessors: int, *, nested: bool) -> int:
        """Assessors to recruit."""
        workload = self.workload or (1 if nested else n_queries)
        return max(n_assessors, -(-n_queries * n_assessors // workload))

    def total(self, n_queries: int, n_assessors: int, pool: float, *, nested: bool) -> float:
        """Cost of a design."""
        judgments = whole_judgments(n_queries, n_assessors, pool)
        people = self.people(n_queries, n_assessors, nested=nested)
        return n_queries * self.query + judgments * self.judgment + people * self.assessor


def whole_judgments(n_queries: int, n_assessors: int, pool: float) -> int:
    """Judgments of a design; the pool is a mean over queries and need not be whole."""
    return math.ceil(n_queries * n_assessors * pool - 1e-9)


@dataclass(frozen=True)
class PricedDesign:
    """A collection that could be built: its size, what it costs and how reliable it is."""

    measure: str
    cutoff: int | None
    n_queries: int
    n_assessors: int
    n_judgments: int
    people: int
    cost: float
    e_rho2: float
    phi: float
    tau: float


@dataclass(frozen=True)
class Option:
    """What is known of one cutoff: how scores vary, and how many documents must be judged a query."""

    study: GStudy
    pool: float
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.pool) and self.pool > 0):
            raise AdjudgeError(f"Expected a pool of more than 0 documents a query, got {self.pool}")


@dataclass(frozen=True)
class Budgeting:
    """Choose among cutoffs and numbers of assessors.

    ``assessors`` are the numbers to consider, only 1 where the G-studies have no assessors; ``design`` as in
    :meth:`GStudy.dstudy`.

    >>> from adjudge.stats.gtheory.gstudy import gstudy
    >>> study = gstudy([[0.2, 0.5, 0.6], [0.5, 0.5, 0.9], [0.1, 0.6, 0.6], [0.3, 0.6, 0.8]])
    >>> choice = Budgeting([Option(study, pool=20)], Costs(judgment=0.1, query=1.0))
    >>> best = choice.best(budget=30)[0]
    >>> best.n_queries, best.n_judgments, best.cost
    (10, 200, 30.0)
    >>> choice.cheapest(target=0.95)[0].n_queries
    5
    """

    options: Sequence[Option]
    costs: Costs = field(default_factory=Costs)
    assessors: Sequence[int] = (1,)
    design: Assessors = "auto"

    @checked(budget=POSITIVE, index=_INDEX)
    def best(self, budget: float, *, index: str = "e_rho2") -> list[PricedDesign]:
        """The largest affordable design of every option, the most reliable first; ties go to the cheaper.

        More than ten million queries are not bought, whatever the budget.
        """
        if not self.options:
            raise AdjudgeError("Expected at least one option to choose from, got none.")
        found = []
        for option, people in self._combinations():
            n = _last(lambda n, o=option, p=people: self._cost(o, n, p) <= budget * (1 + 1e-12))  # type: ignore[misc]
            if n:
                found.append(self.priced(option, n, people))
        if not found:
            least = min(self._cost(option, 1, people) for option, people in self._combinations())
            raise AdjudgeError(f"A budget of {budget:g} does not buy one query, which costs {least:g}.")
        return sorted(found, key=lambda one: (-getattr(one, index), one.cost))

    @checked(target=TARGET, index=_INDEX)
    def cheapest(self, target: float, *, index: str = "e_rho2") -> list[PricedDesign]:
        """The smallest design of every option that reaches a target, the cheapest first; none where none does."""
        found = []
        for option, people in self._combinations():
            planned = option.study.dstudy(assessors=people, target=target, design=self.design, interval="none")
            n = planned.need(index).n_queries
            if n is not None:
                found.append(self.priced(option, n, people))
        return sorted(found, key=lambda one: (one.cost, -getattr(one, index)))

    def curve(self, option: Option, n_assessors: int, queries: Iterable[int]) -> list[PricedDesign]:
        """One option at several numbers of queries."""
        return [self.priced(option, n, n_assessors) for n in queries]

    def priced(self, option: Option, n_queries: int, n_assessors: int) -> PricedDesign:
        """What a design costs and gives."""
        planned = option.study.dstudy(n_queries, assessors=n_assessors, design=self.design, interval="none")
        row = planned.rows[0]
        return PricedDesign(
            option.study.measure,
            option.cutoff,
            n_queries,
            n_assessors,
            whole_judgments(n_queries, n_assessors, option.pool),
            self.costs.people(n_queries, n_assessors, nested=self._nested(option)),
            self._cost(option, n_queries, n_assessors),
            row.e_rho2,
            row.phi,
            row.tau,
        )

    def _combinations(self) -> list[tuple[Option, int]]:
        return [
            (option, people)
            for option in self.options
            for people in (self.assessors if option.study.design.has_assessors else (1,))
        ]

    def _nested(self, option: Option) -> bool:
        has = option.study.design.has_assessors
        return has and (self.design == "nested" or option.study.design is not CROSSED)

    def _cost(self, option: Option, n_queries: int, n_assessors: int) -> float:
        return self.costs.total(n_queries, n_assessors, option.pool, nested=self._nested(option))


def _last(holds: Callable[[int], bool]) -> int:
    """The largest number, up to ten million, for which something holds that holds up to it; 0 where it never does."""
    if not holds(1):
        return 0
    low, high = 1, 2
    while high <= MOST_QUERIES and holds(high):
        low, high = high, 2 * high
    high = min(high, MOST_QUERIES + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
