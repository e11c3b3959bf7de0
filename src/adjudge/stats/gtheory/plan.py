"""Plans: how large a collection must be, how that estimate moved, what a paired test needs, and what designs cost.

A design is a cutoff, a number of queries and a number of assessors per query. Every assessor of a query judges its
whole pool, so that

    cost = queries c_q + queries x assessors x pool(cutoff) c_j + people c_p

where the pool grows less than the cutoff, as systems retrieve the same documents (:mod:`adjudge.model.runs` measures
by how much), and people are the assessors to recruit. Thesis sections 6.3 and 6.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import compress, product
from typing import Any, ClassVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import (
    ALPHA,
    CONFIDENCE,
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    POWER,
    RESAMPLES,
    SEED,
    TARGET,
    Assessors,
    Constraints,
    OneOf,
    ReliabilityInterval,
    Resampled,
    check_all,
    checked,
)
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.model.effectiveness import AssessedEffectiveness, Effectiveness, mean_over_queries
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column, Result, columns_of, figure, interval_columns
from adjudge.stats.gtheory.designs import CROSSED, StudyData, arrange, better_systems
from adjudge.stats.gtheory.dstudy import INDICES, DStudy, QueriesNeeded, Reliability, curve_sizes, largest_number
from adjudge.stats.gtheory.gstudy import GStudy, gstudy, study_of
from adjudge.stats.matrices import Values, matrix_of
from adjudge.stats.power import detectable_difference, fewest_queries
from adjudge.text import counted

FEWEST_QUERIES = 5  # a G-study of fewer says next to nothing
_SIZES = (25, 50, 100, 200)
_FEW_QUERIES = 10
_FEW_SYSTEMS = 4  # among fewer, each is far from the others
_NAMED = 10  # systems in a note
_SKEWED = 1.0  # skewness of system means from which on F intervals are warned of
_TELLING = 2  # times as many queries, or more: then one system makes the plan
_INDEX = OneOf(tuple(INDICES), "what is to be reliable: the ranking or the scores")


@dataclass(frozen=True)
class Costs:
    """Prices in any one unit: of a judgment, of a query, and of recruiting an assessor.

    ``workload`` is the largest number of queries that one assessor judges; without it, assessors who are crossed with
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
        judgments = _count_judgments(n_queries, n_assessors, pool)
        people = self.people(n_queries, n_assessors, nested=nested)
        return n_queries * self.query + judgments * self.judgment + people * self.assessor


def _count_judgments(n_queries: int, n_assessors: int, pool: float) -> int:
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
    """What is known of one cutoff: how scores vary, and the documents to judge per query, ``pool``."""

    study: GStudy
    pool: float
    cutoff: int | None = None

    def __post_init__(self) -> None:
        POSITIVE.check("pool", self.pool)


@dataclass(frozen=True)
class DesignChoice:
    """Chooses among cutoffs and numbers of assessors.

    ``assessors`` are the numbers to consider, only 1 where the G-studies have no assessors; ``design`` as in
    :meth:`GStudy.dstudy`.

    >>> study = gstudy([[0.2, 0.5, 0.6], [0.5, 0.5, 0.9], [0.1, 0.6, 0.6], [0.3, 0.6, 0.8]])
    >>> choice = DesignChoice([Option(study, pool=20)], Costs(judgment=0.1, query=1.0))
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
        designs = []
        for option, people in self._combinations():
            n = largest_number(lambda n, o=option, p=people: self._cost(o, n, p) <= budget * (1 + 1e-12))  # type: ignore[misc]
            if n:
                designs.append(self.price(option, n, people))
        if not designs:
            least = min(self._cost(option, 1, people) for option, people in self._combinations())
            raise AdjudgeError(f"A budget of {budget:g} does not buy one query, which costs {least:g}.")
        return sorted(designs, key=lambda design: (-getattr(design, index), design.cost))

    @checked(target=TARGET, index=_INDEX)
    def cheapest(self, target: float, *, index: str = "e_rho2") -> list[PricedDesign]:
        """The smallest design of every option that reaches a target, the cheapest first; none where none does."""
        designs = []
        for option, people in self._combinations():
            planned = option.study.dstudy(assessors=people, target=target, design=self.design, interval="none")
            n = planned.need(index).n_queries
            if n is not None:
                designs.append(self.price(option, n, people))
        return sorted(designs, key=lambda design: (design.cost, -getattr(design, index)))

    def price(self, option: Option, n_queries: int, n_assessors: int) -> PricedDesign:
        """What a design costs and gives."""
        planned = option.study.dstudy(n_queries, assessors=n_assessors, design=self.design, interval="none")
        row = planned.rows[0]
        return PricedDesign(
            option.study.measure,
            option.cutoff,
            n_queries,
            n_assessors,
            _count_judgments(n_queries, n_assessors, option.pool),
            self.costs.people(n_queries, n_assessors, nested=self._nested(option)),
            self._cost(option, n_queries, n_assessors),
            row.e_rho2,
            row.phi,
            row.tau,
        )

    def _combinations(self) -> list[tuple[Option, int]]:
        return [(option, n) for option in self.options for n in self.numbers(option.study)]

    def numbers(self, study: GStudy) -> Sequence[int]:
        """Numbers of assessors to consider with a study."""
        return self.assessors if study.design.has_assessors else (1,)

    def _nested(self, option: Option) -> bool:
        design = option.study.design
        return design.has_assessors and (self.design == "nested" or design is not CROSSED)

    def _cost(self, option: Option, n_queries: int, n_assessors: int) -> float:
        return self.costs.total(n_queries, n_assessors, option.pool, nested=self._nested(option))


@dataclass(frozen=True)
class Growth:
    """The D-study of the first ``n_queries``: their reliability, and the queries needed."""

    n_queries: int
    e_rho2: float
    phi: float
    e_rho2_queries: int | None
    phi_queries: int | None


@checked(target=TARGET, batch=COUNT, assessors=Assessors, design=Assessors, n_assessors=COUNT)
def growth(
    values: StudyData,
    *,
    target: float = 0.95,
    batch: int | None = None,
    assessors: Assessors = "auto",
    n_assessors: int | None = None,
    design: Assessors = "auto",
) -> list[Growth]:
    """The D-study after each batch of queries, in the order in which they were judged.

    Early answers swing: variances of a handful of queries are not known well. When the number needed has settled
    below the number there is, the collection is done. ``batch`` is a tenth of the queries by default, at least 5;
    ``n_assessors`` is the number per query to plan for, that of the data by default, and ``design`` is theirs.
    """
    data = arrange(values, assessors=assessors)
    n_queries = len(data.values)
    step = max(FEWEST_QUERIES, -(-n_queries // 10)) if batch is None else batch
    steps = []
    for n in [*(n for n in range(step, n_queries, step) if n >= FEWEST_QUERIES), n_queries]:
        with kept_warnings():
            try:
                study = study_of(replace(data, values=data.values[:n]))
                planned = study.dstudy(assessors=n_assessors, target=target, design=design, interval="none")
            except AdjudgeError:
                if n == n_queries:
                    raise
                continue  # too little yet, such as a system without any value
        row = planned.rows[0]
        steps.append(Growth(n, row.e_rho2, row.phi, *(planned.need(index).n_queries for index in INDICES)))
    return steps


@dataclass(frozen=True)
class PowerPlan:
    """Queries that a paired t test needs to detect differences, for a typical pair of systems and for a hard one.

    ``typical`` and ``hard`` are standard deviations of the differences over queries: the median over pairs, and what
    nine pairs in ten stay below. ``rows`` are difference, queries for the typical pair and for the hard one, None where
    ten million are not enough; ``detectable`` is what the present queries detect for either.
    """

    typical: float
    hard: float
    n_queries: int
    alpha: float
    power: float
    comparisons: int
    rows: tuple[tuple[float, int | None, int | None], ...]
    detectable: tuple[float, float]


@checked(alpha=ALPHA, power=POWER, comparisons=COUNT)
def power_plan(
    values: Values,
    *,
    differences: Sequence[float] = (0.01, 0.02, 0.05, 0.1),
    alpha: float = 0.05,
    power: float = 0.8,
    comparisons: int = 1,
) -> PowerPlan | None:
    """How many queries a two-sided paired t test needs, from the variance in the data.

    Where a test is one of several, ``comparisons`` shares the level among them (Bonferroni). None where no two systems
    differ from query to query.

    >>> plan = power_plan([[0.2, 0.5, 0.6], [0.5, 0.5, 0.9], [0.1, 0.6, 0.6], [0.3, 0.6, 0.8]], differences=[0.1])
    >>> round(plan.typical, 3), plan.rows
    (0.171, ((0.1, 25, 36),))
    """
    for difference in differences:
        POSITIVE.check("differences", difference)
    matrix, _ = matrix_of(values, at_least=2)
    deviations = pair_deviations(matrix)
    deviations = deviations[deviations > 0]
    if not len(deviations):
        return None
    typical, hard = float(np.median(deviations)), float(np.quantile(deviations, 0.9, method="higher"))
    level = alpha / comparisons

    def needed(difference: float, sd: float) -> int | None:
        return fewest_queries(difference, sd, alpha=level, power=power)

    rows = tuple((float(d), needed(d, typical), needed(d, hard)) for d in differences)
    n_queries = int(np.isfinite(matrix).any(axis=1).sum())
    least = detectable_difference([typical, hard], n_queries, alpha=level, power=power).tolist()
    return PowerPlan(typical, hard, n_queries, alpha, power, comparisons, rows, (least[0], least[1]))


def pair_deviations(matrix: Floats) -> Floats:
    """Standard deviation over queries of the difference of each pair of systems, on the queries that both have."""
    a, b = np.triu_indices(matrix.shape[1], 1)
    present = np.isfinite(matrix)
    filled = np.where(present, matrix, 0.0)
    centre = filled.sum(axis=1, keepdims=True) / np.maximum(present.sum(axis=1, keepdims=True), 1)
    filled = np.where(present, matrix - centre, 0.0)  # differences stay, and squares round off less
    both = present.T.astype(np.float64) @ present.astype(np.float64)
    cross = filled.T @ filled
    squares, sums = (filled**2).T @ present, filled.T @ present
    n, of_each = both[a, b], squares[a, b] + squares[b, a]
    centred = of_each - 2 * cross[a, b] - (sums[a, b] - sums[b, a]) ** 2 / np.maximum(n, 1)
    centred[(n < 2) | (centred <= 1e-13 * of_each)] = 0.0  # rounding
    deviations: Floats = np.sqrt(centred / np.maximum(n - 1, 1))
    return deviations


@dataclass(frozen=True)
class Pricing:
    """What judging costs, and the documents to judge per query under each measure.

    ``pools`` are by measure; ``cutoffs`` name measures that are the main one at another cutoff. ``budget`` is optional.
    """

    costs: Costs = field(default_factory=Costs)
    pools: Mapping[str, float] = field(default_factory=dict)
    cutoffs: Mapping[str, int] = field(default_factory=dict)
    budget: float | None = None


@dataclass(frozen=True)
class Designs:
    """Designs to choose from: the cheapest for the target by each index, the best for the budget, and their curves.

    ``pools`` are documents to judge per query, by measure.
    """

    costs: Costs
    pools: dict[str, float]
    budget: float | None
    cheapest: dict[str, list[PricedDesign]]
    best: dict[str, list[PricedDesign]]
    curves: list[list[PricedDesign]]


@dataclass(frozen=True)
class Outlier:
    """The system farthest from the mean of all, and the queries for a stable ranking of the others.

    ``n_queries`` is None where no number is enough.
    """

    system: str
    n_queries: int | None


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """Everything about the size of a collection.

    ``decisions`` are D-studies by measure; the first measure leads. ``curve`` has it at many numbers of queries.
    ``far_off`` is there where four systems or more can be studied.
    """

    decisions: dict[str, DStudy]
    curve: DStudy
    targets: tuple[float, ...]
    growth: tuple[Growth, ...]
    power: PowerPlan | None
    designs: Designs | None
    notes: tuple[str, ...]
    provenance: Provenance
    far_off: Outlier | None = None

    @property
    def main(self) -> DStudy:
        """The D-study of the first measure."""
        return next(iter(self.decisions.values()))

    @property
    def study(self) -> GStudy:
        """The G-study of the first measure."""
        return self.main.study

    def needed(self, index: str, assessors: int | None = None) -> QueriesNeeded:
        """Queries for the first target, with the first number of assessors unless told otherwise."""
        return self.main.need(index, target=self.targets[0], assessors=assessors)

    def verdict(self) -> list[str]:
        """The answer in a few sentences."""
        ranking, scores = self.needed("e_rho2"), self.needed("phi")
        n, now = ranking.n_assessors, self.study.n_queries
        assessors = "one assessor" if n == 1 else f"{n} assessors"
        people = f" with {assessors} each" if self.study.design.has_assessors else ""
        many = "No number of queries is"
        if ranking.n_queries is not None:
            many = f"{counted(ranking.n_queries, 'query')} {'is' if ranking.n_queries == 1 else 'are'}"
        others = "no number" if scores.n_queries is None else f"{scores.n_queries:,}"
        sentences = [
            f"{many} enough for a stable ranking (Eρ² ≥ {ranking.target:g}), "
            f"{others} for stable scores (Φ ≥ {scores.target:g}){people}; there are {now:,} now.",
            self.one_system(),
            self.second_assessor(),
            f"{now} queries say little: look at the intervals, and ask again with more." if now < _FEW_QUERIES else "",
        ]
        return [sentence for sentence in sentences if sentence]

    def one_system(self) -> str | None:
        """Whether the ranking looks easy because of one system that is far from the others."""
        ranking, far = self.needed("e_rho2").n_queries, self.far_off
        if far is None or ranking is None or self.study.n_queries < _FEW_QUERIES:
            return None
        if far.n_queries is not None and far.n_queries < _TELLING * ranking:
            return None
        many = "no number of queries is enough" if far.n_queries is None else f"it takes {far.n_queries:,} queries"
        return f"One system makes that easy: without {far.system} {many}. Plan with systems like those to come."

    def second_assessor(self) -> str | None:
        """Whether a second assessor per query is worth it, at the target for rankings."""
        if not self.study.design.has_assessors:
            return None
        prices = self.designs.costs if self.designs is not None else Costs()
        pool = 1.0 if self.designs is None else self.designs.pools[self.study.measure]
        design: Assessors = "auto" if self.main.design is self.study.design else "nested"
        option = [Option(self.study, pool)]
        one, two = (DesignChoice(option, prices, (n,), design).cheapest(self.targets[0]) for n in (1, 2))
        if not two:
            return None
        if not one:
            return f"Only with a second assessor is the ranking stable at all: {two[0].n_queries:,} queries."
        ratio = two[0].cost / one[0].cost
        worth = "costs more than it gives" if ratio > 1 else "pays"
        sizes = f"{two[0].n_queries:,} queries instead of {one[0].n_queries:,}"
        return f"A second assessor per query {worth}: {sizes}, at {ratio:.2f} times the cost."

    @figure("reliability-curves")
    def _reliability(self) -> FigureBlock:
        """Reliability of the first measure against the number of queries, with where the collection is now."""
        return replace(self.curve, needed=self.main.needed).figure("reliability-curves")

    @figure("growth-curves")
    def _growth(self) -> FigureBlock:
        """Queries needed, as they were estimated after each batch of queries."""
        if len(self.growth) < 2:
            raise AdjudgeError("how the plan moved needs two batches of queries or more")
        x, *needed = (
            np.array([getattr(step, name) for step in self.growth], dtype=np.float64)  # None is NaN
            for name in ("n_queries", *(f"{index}_queries" for index in INDICES))
        )
        lines = [Curve(f"needed for {what}", x, y) for what, y in zip(("ranking", "scores"), needed, strict=True)]
        panel = Panel("", (*lines, Curve("judged so far", x, x)))
        data = Curves("queries judged so far", "queries needed", (panel,), y_top=float(np.nanmax([x, *needed])))
        caption = (
            f"Queries needed for {self.targets[0]:g} as estimated after each batch of queries. Below the slanted line "
            "the collection is large enough; early estimates vary widely."
        )
        alt = f"Estimated number of queries needed after {len(x)} batches."
        return FigureBlock("growth-curves", caption, alt, data, curves)

    @figure("cost-curves")
    def _costs(self) -> FigureBlock:
        """Reliability against judgments in different designs."""
        if self.designs is None:
            raise AdjudgeError("costs need designs to choose from; give 'pricing' to the plan")
        lines = []
        for line in self.designs.curves:
            x, y = (np.array([getattr(d, name) for d in line], dtype=np.float64) for name in ("n_judgments", "e_rho2"))
            people = len({other[0].n_assessors for other in self.designs.curves}) > 1
            name = f"{line[0].measure}, {counted(line[0].n_assessors, 'assessor')}" if people else line[0].measure
            lines.append(Curve(name, x, y))
        data = Curves("judgments", "Eρ²", (Panel("", tuple(lines), self.targets[:1]),), log_x=True)
        caption = "Reliability of the ranking against judgments: what the same effort gives in different designs."
        return FigureBlock("cost-curves", caption, f"Eρ² against judgments for {len(lines)} designs.", data, curves)

    rows_name = "table"

    @property
    def title(self) -> str:
        return f"A plan by {self.study.measure}: {self.study.size}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """Measure and target, reliability as a D-study has it, queries needed, and shares of variance."""
        needed = [
            replace(column, kind="whole")
            for index, symbol in INDICES.items()
            for column in interval_columns(
                f"{index}_queries", Column(f"queries for {symbol} to reach the target", ",d", label=f"for {symbol}")
            )
        ]
        return (
            Column("the measure", name="measure", kind="text", key=True),
            Column("reliability to reach", "g", name="target"),
            *(replace(column, key=False) for column in columns_of(Reliability)),
            *needed,
            *(
                Column(f"share of variance that is due to {effect}", ".1f %", name=f"share_{effect}", shown=False)
                for effect in self._effects
            ),
        )

    @property
    def _effects(self) -> list[str]:
        """Effects of the designs of all measures."""
        return list(dict.fromkeys(effect for d in self.decisions.values() for effect in d.study.fractions()))

    def _facts(self) -> dict[str, Any]:
        designs = None
        if self.designs is not None:
            designs = asdict(replace(self.designs, curves=[]))
            del designs["curves"]
        return {
            "verdict": self.verdict(),
            "measures": {name: {**d.study.to_dict(), **d.to_dict()} for name, d in self.decisions.items()},
            "targets": self.targets,
            "far_off": None if self.far_off is None else asdict(self.far_off),
            "growth": [asdict(step) for step in self.growth],
            "power": None if self.power is None else asdict(self.power),
            "designs": designs,
            "notes": self.notes,
            "provenance": self.provenance.to_dict(),
        }

    def _notes(self) -> list[str]:
        return [*self.verdict(), *self.notes]

    def __repr__(self) -> str:
        return f"<Plan: {', '.join(self.decisions)}, {self.study.size}>"

    def _rows(self) -> list[dict[str, Any]]:
        """One row per measure, number of assessors and target: shares of variance, reliability, queries needed."""
        rows = []
        for name, decision in self.decisions.items():
            fractions = decision.study.fractions()
            shares = {f"share_{effect}": fractions.get(effect) for effect in self._effects}
            now = [row for row in decision.rows if row.n_queries == decision.study.n_queries]
            for row, target in product(now, self.targets):
                record = {"measure": name, "target": target, **asdict(row), **shares}
                for index in INDICES:
                    needed = decision.need(index, target=target, assessors=row.n_assessors)
                    record[f"{index}_queries"] = needed.n_queries
                    record[f"{index}_queries_low"], record[f"{index}_queries_high"] = needed.low, needed.high
                rows.append(record)
        return rows


@checked(confidence=CONFIDENCE, alpha=ALPHA, resamples=RESAMPLES, seed=SEED)
def make_plan(
    eff: Effectiveness | AssessedEffectiveness,
    *,
    main: str | None = None,
    targets: Sequence[float] = (0.95,),
    queries: Iterable[int] | None = None,
    people: Sequence[int] | None = None,
    assessors: Assessors = "auto",
    design: Assessors = "auto",
    confidence: float = 0.95,
    interval: ReliabilityInterval = "auto",
    resample: Resampled = "both",
    resamples: int = 2000,
    seed: int = 0,
    differences: Sequence[float] = (0.01, 0.02, 0.05, 0.1),
    alpha: float = 0.05,
    power: float = 0.8,
    comparisons: int = 1,
    batch: int | None = None,
    pricing: Pricing | None = None,
    leave_out_worst: float = 0,
) -> Plan:
    """Study effectiveness under every measure, and plan with the ``main`` one, the first by default.

    ``people`` are numbers of assessors per query to consider. Other options are those of :func:`adjudge.gstudy`,
    :meth:`GStudy.dstudy`, :func:`growth` and :func:`power_plan`. The systems that ``leave_out_worst`` leaves out are
    the worst by the main measure, for all measures; pools and prices stay those of all systems.
    """
    name = eff.measures[0] if main is None else main
    eff, worst = _leave_out(eff, name, leave_out_worst)
    studies, left_out = _study_measures(eff, name, assessors)
    first = studies[name]
    sizes = _SIZES if queries is None else tuple(queries)
    numbers = tuple(dict.fromkeys(people)) if people else ((1, 2, 3) if first.design.has_assessors else (1,))
    options: dict[str, Any] = {
        "design": design,
        "confidence": confidence,
        "interval": interval,
        "resample": resample,
        "resamples": resamples,
        "seed": seed,
    }
    decisions = {}
    for measure, study in studies.items():
        facets = {} if study is first or study.design.has_assessors else {"assessors": 1, "design": "auto"}
        asked = {"assessors": numbers, **options, **facets}
        decisions[measure] = study.dstudy(sorted({study.n_queries, *sizes}), target=targets, **asked)
    target, n_assessors = targets[0], numbers[0]
    if isinstance(eff, Effectiveness):
        matrix = eff.matrix(name)
    else:
        matrix = mean_over_queries(np.moveaxis(eff.array(name), 2, 0))  # the mean over assessors
    designs = None
    if pricing is not None:
        designs = _price_designs(studies, name, pricing, target=target, numbers=numbers, design=design)
    return Plan(
        decisions,
        first.dstudy(curve_sizes(first.n_queries), assessors=n_assessors, **options),
        tuple(dict.fromkeys(targets)),
        tuple(
            growth(eff[name], target=target, batch=batch, assessors=assessors, n_assessors=n_assessors, design=design)
        ),
        power_plan(matrix, differences=differences, alpha=alpha, power=power, comparisons=comparisons),
        designs,
        tuple(dict.fromkeys([*eff.notes, *worst, *left_out, *_remarks(decisions), *_unjudged(eff, decisions)])),
        eff.provenance,
        _find_outlier(eff[name], target=target, assessors=assessors, n_assessors=n_assessors, design=design),
    )


def _leave_out(
    eff: Effectiveness | AssessedEffectiveness, main: str, leave_out_worst: float
) -> tuple[Effectiveness | AssessedEffectiveness, list[str]]:
    """Effectiveness of the better systems, and a note that names the others."""
    kept = better_systems(eff[main], leave_out_worst).tolist()
    if all(kept):
        return eff, []
    better = list(compress(eff.systems, kept))
    worst = [name for name in eff.systems if name not in better]
    names = ", ".join(worst[:_NAMED]) + ("" if len(worst) <= _NAMED else ", …")
    note = f"Left out, as the worst by {main}: {len(worst)} of {counted(len(eff.systems), 'system')} ({names})."
    return eff.select(systems=better), [note]


def _find_outlier(
    eff: StudyData, *, target: float, assessors: Assessors, n_assessors: int, design: Assessors
) -> Outlier | None:
    """The plan without the system whose mean is farthest from that of all: no other adds as much to their variance."""
    data = arrange(eff, assessors=assessors)
    if len(data.systems) < _FEW_SYSTEMS:
        return None
    cube = np.atleast_3d(data.values)
    centred = cube - mean_over_queries(np.moveaxis(cube, 1, 0))[:, None]  # a system may lack the hard queries
    means = mean_over_queries(np.moveaxis(centred, 1, 2).reshape(-1, len(data.systems)))
    far = int(np.argmax(np.abs(means)))
    with kept_warnings():
        try:
            study = study_of(replace(data, values=np.delete(data.values, far, axis=1)))
            planned = study.dstudy(assessors=n_assessors, target=target, design=design, interval="none")
        except AdjudgeError:  # nothing is left to study, such as systems that are all alike
            return None
    return Outlier(data.systems[far], planned.need("e_rho2").n_queries)


def _remarks(decisions: dict[str, DStudy]) -> list[str]:
    """What was done to the data, and what the intervals do not say."""
    measures: dict[str, list[str]] = {}
    for measure, decision in decisions.items():
        for note in decision.study.notes:
            measures.setdefault(note, []).append(measure)
    remarks = [f"{', '.join(names)}: {note}" for note, names in measures.items()]
    if any(d.study.design is CROSSED and d.interval == "bootstrap" for d in decisions.values()):
        remarks.append("Intervals take these assessors as given: for others, those of Φ may be much wider.")
    skewed = [name for name, d in decisions.items() if d.interval == "f" and abs(_skewness(d.study)) > _SKEWED]
    if skewed:
        remarks.append(
            f"{', '.join(skewed)}: the means of systems are skewed, and F intervals expect normal ones. Where their "
            "effects are exponential, 95 % intervals hold the truth .74 to .84 of the time."
        )
    return remarks


def _skewness(study: GStudy) -> float:
    """Of the means of systems; 0 where all are alike."""
    centred = study.values.mean(axis=0) - study.values.mean()
    spread = float(np.sqrt((centred**2).mean()))
    return float((centred**3).mean()) / spread**3 if spread > 0 else 0.0


def _unjudged(eff: Effectiveness | AssessedEffectiveness, measures: Iterable[str]) -> list[str]:
    """Which measures look at documents that nobody judged: a deeper cutoff than the judgments reach, for example."""
    if not isinstance(eff, Effectiveness):
        return []
    shares = {measure: eff[measure].judged for measure in measures}
    means = {m: float(share[known].mean()) for m, share in shares.items() if (known := np.isfinite(share)).any()}
    return [
        f"{m}: {100 * mean:.0f} % of the documents it looks at are judged." for m, mean in means.items() if mean < 0.995
    ]


def _study_measures(
    eff: Effectiveness | AssessedEffectiveness, main: str, assessors: Assessors
) -> tuple[dict[str, GStudy], list[str]]:
    """G-studies by measure, the main one first, and notes on others that cannot be studied."""
    studies, notes = {}, []
    for measure in [main, *(other for other in eff.measures if other != main)]:
        with kept_warnings():  # they are among the notes
            try:
                studies[measure] = gstudy(eff[measure], assessors=assessors)
            except AdjudgeError as error:
                if measure == main:
                    raise AdjudgeError(f"{measure}: {error}" if len(eff.measures) > 1 else f"{error}") from None
                notes.append(f"{measure} is left out. {error}")
    return studies, notes


def _price_designs(
    studies: dict[str, GStudy], main: str, pricing: Pricing, *, target: float, numbers: Sequence[int], design: Assessors
) -> Designs:
    names = [name for name in studies if name == main or name in pricing.cutoffs]
    unknown = [name for name in names if name not in pricing.pools]
    if unknown:
        raise AdjudgeError(f"Expected the number of documents to judge per query for {', '.join(unknown)}.")
    options = [Option(studies[name], pricing.pools[name], pricing.cutoffs.get(name)) for name in names]
    choice = DesignChoice(options, pricing.costs, numbers, design)
    sizes, people = curve_sizes(studies[main].n_queries), choice.numbers(studies[main])
    return Designs(
        pricing.costs,
        {name: pricing.pools[name] for name in names},
        pricing.budget,
        {index: choice.cheapest(target, index=index) for index in INDICES},
        {} if pricing.budget is None else {index: choice.best(pricing.budget, index=index) for index in INDICES},
        [[choice.price(option, n_queries, n) for n_queries in sizes] for option in options for n in people],
    )
