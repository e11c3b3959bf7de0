"""What ``adjudge plan`` knows: variances, reliability by size, how that moved, power, and designs with their prices.

Plans beside the D-study: how its answer moves while queries arrive, and queries that a paired test needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.checks import (
    ALPHA,
    CONFIDENCE,
    COUNT,
    POSITIVE,
    POWER,
    RESAMPLES,
    SEED,
    TARGET,
    Assessors,
    ReliabilityInterval,
    Resampled,
    checked,
)
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.model.effectiveness import AssessedEffectiveness, Effectiveness, mean_over_queries
from adjudge.model.provenance import Provenance
from adjudge.results import Column, Result, columns_of, interval_columns
from adjudge.stats.gtheory.budget import Budgeting, Costs, Option, PricedDesign
from adjudge.stats.gtheory.designs import CROSSED, Studied, arranged, better_systems
from adjudge.stats.gtheory.dstudy import INDICES, DStudy, QueriesNeeded, Reliability
from adjudge.stats.gtheory.gstudy import GStudy, gstudy, study_of
from adjudge.stats.matrices import Values, matrix_of
from adjudge.stats.power import MOST_QUERIES, detectable_difference, queries_needed
from adjudge.stats.power import power as power_of
from adjudge.text import counted

FEWEST_QUERIES = 5  # a G-study of fewer says next to nothing


@dataclass(frozen=True)
class Growth:
    """What a D-study said when the collection had ``n_queries``: its reliability, and the queries it asked for."""

    n_queries: int
    e_rho2: float
    phi: float
    e_rho2_queries: int | None
    phi_queries: int | None


@checked(target=TARGET, batch=COUNT, assessors=Assessors, design=Assessors, n_assessors=COUNT)
def growth(
    values: Studied,
    *,
    target: float = 0.95,
    batch: int | None = None,
    assessors: Assessors = "auto",
    n_assessors: int | None = None,
    design: Assessors = "auto",
) -> list[Growth]:
    """The D-study after each batch of queries, in the order in which they were judged.

    Early answers swing: variances of a handful of queries are not known well. When the number asked for has settled
    below the number there is, the collection is done. ``batch`` is a tenth of the queries by default, at least 5;
    ``n_assessors`` are those a query to plan for, as many as there are by default, and ``design`` is theirs.
    """
    data = arranged(values, assessors=assessors)
    n_queries = len(data.values)
    step = max(FEWEST_QUERIES, -(-n_queries // 10)) if batch is None else batch
    sizes = [n for n in range(step, n_queries, step) if n >= FEWEST_QUERIES] + [n_queries]
    found = []
    for n in sizes:
        with kept_warnings():
            try:
                study = study_of(replace(data, values=data.values[:n]))
                planned = study.dstudy(assessors=n_assessors, target=target, design=design, interval="none")
            except AdjudgeError:
                if n == n_queries:
                    raise
                continue  # too little yet, such as a system without any value
        row = planned.rows[0]
        needed = (planned.need(index).n_queries for index in ("e_rho2", "phi"))
        found.append(Growth(n, row.e_rho2, row.phi, *needed))
    return found


@dataclass(frozen=True)
class PowerPlan:
    """Queries that a paired t test needs to detect differences, for a typical pair of systems and for a hard one.

    ``typical`` and ``hard`` are standard deviations of the differences over queries: the median over pairs, and what
    nine pairs in ten stay below. ``rows`` are difference, queries for the typical pair, queries for the hard one, None
    where ten million are not enough; ``detectable`` is what the queries there are detect for either.
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
    rows = tuple((float(d), _needed(d, typical, level, power), _needed(d, hard, level, power)) for d in differences)
    n_queries = int(np.isfinite(matrix).any(axis=1).sum())
    least = [float(detectable_difference(sd, n_queries, alpha=level, power=power)) for sd in (typical, hard)]
    return PowerPlan(typical, hard, n_queries, alpha, power, comparisons, rows, (least[0], least[1]))


def _needed(difference: float, sd: float, alpha: float, power: float) -> int | None:
    """Queries that detect a difference; None where not even the largest collection does."""
    if power_of(difference, sd, MOST_QUERIES, alpha=alpha) < power:
        return None
    return int(queries_needed(difference, sd, alpha=alpha, power=power))


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


_SIZES = (25, 50, 100, 200)
_FEW_QUERIES = 10
_FEW_SYSTEMS = 4  # among fewer, each is far from the others
_NAMED = 10  # systems in a note
_SKEWED = 1.0  # skewness of system means from which on F intervals are warned of
_TELLING = 2  # times as many queries, or more: then one system makes the plan


@dataclass(frozen=True)
class Pricing:
    """What judging costs, and how many documents a query has to judge under each measure.

    ``pools`` are by measure; ``cutoffs`` name measures that are the main one at another cutoff. ``budget`` is optional.
    """

    costs: Costs = field(default_factory=Costs)
    pools: Mapping[str, float] = field(default_factory=dict)
    cutoffs: Mapping[str, int] = field(default_factory=dict)
    budget: float | None = None


@dataclass(frozen=True)
class Designs:
    """Designs to choose from: the cheapest for the target by each index, the best for the budget, and their curves.

    ``pools`` are documents to judge a query, by measure.
    """

    costs: Costs
    pools: dict[str, float]
    budget: float | None
    cheapest: dict[str, list[PricedDesign]]
    best: dict[str, list[PricedDesign]]
    curves: list[list[PricedDesign]]


@dataclass(frozen=True)
class FarOff:
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
    far_off: FarOff | None = None

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
        n = ranking.n_assessors
        each = " with one assessor each" if n == 1 else f" with {n} assessors each"
        people = each if self.study.design.has_assessors else ""
        answer = (
            f"{_queries(ranking)} enough for a stable ranking (Eρ² >= {ranking.target:g}), "
            f"{_queries(scores, short=True)} for stable scores (Φ >= {scores.target:g}){people}; "
            f"there are {self.study.n_queries:,} now."
        )
        few = f"{self.study.n_queries} queries say little: look at the intervals, and ask again with more."
        few_queries = few if self.study.n_queries < _FEW_QUERIES else None
        sentences = [answer, self.one_system(), self.second_assessor(), few_queries]
        return [sentence for sentence in sentences if sentence is not None]

    def one_system(self) -> str | None:
        """Whether the ranking looks easy because of one system that is far from the others."""
        ranking, found = self.needed("e_rho2").n_queries, self.far_off
        if found is None or ranking is None or self.study.n_queries < _FEW_QUERIES:
            return None
        if found.n_queries is not None and found.n_queries < _TELLING * ranking:
            return None
        many = "no number of queries is enough" if found.n_queries is None else f"it takes {found.n_queries:,} queries"
        return f"One system makes that easy: without {found.system} {many}. Plan with systems like those to come."

    def second_assessor(self) -> str | None:
        """Whether a second assessor a query is worth it, at the target for rankings."""
        if not self.study.design.has_assessors:
            return None
        prices = self.designs.costs if self.designs is not None else Costs()
        pool = 1.0 if self.designs is None else self.designs.pools[self.study.measure]
        design: Assessors = "auto" if self.main.design is self.study.design else "nested"
        option = [Option(self.study, pool)]
        found = {n: Budgeting(option, prices, (n,), design).cheapest(self.targets[0]) for n in (1, 2)}
        if not found[1] and not found[2]:
            return None
        if not found[1]:
            return f"Only with a second assessor is the ranking stable at all: {found[2][0].n_queries:,} queries."
        if not found[2]:
            return None
        one, two = found[1][0], found[2][0]
        sizes = f"{two.n_queries:,} queries instead of {one.n_queries:,}"
        ratio = two.cost / one.cost
        if ratio > 1:
            return f"A second assessor a query costs more than it gives: {sizes}, at {ratio:.2f} times the cost."
        return f"A second assessor a query pays: {sizes}, at {ratio:.2f} times the cost."

    rows_name = "table"

    @property
    def title(self) -> str:
        """What it is, in a line."""
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
        shares = dict.fromkeys(effect for d in self.decisions.values() for effect in d.study.fractions())
        return (
            Column("the measure", name="measure", kind="text", key=True),
            Column("reliability to reach", "g", name="target"),
            *(replace(column, key=False) for column in columns_of(Reliability)),
            *needed,
            *(
                Column(f"share of variance that is due to {effect}", ".1f %", name=f"share_{effect}", shown=False)
                for effect in shares
            ),
        )

    def _facts(self) -> dict[str, Any]:
        designs = self.designs
        return {
            "verdict": self.verdict(),
            "measures": {name: {**d.study.to_dict(), **d.to_dict()} for name, d in self.decisions.items()},
            "targets": self.targets,
            "far_off": None if self.far_off is None else asdict(self.far_off),
            "growth": [asdict(step) for step in self.growth],
            "power": None if self.power is None else asdict(self.power),
            "designs": None
            if designs is None
            else {
                "costs": asdict(designs.costs),
                "pools": designs.pools,
                "budget": designs.budget,
                "cheapest": {index: [asdict(one) for one in found] for index, found in designs.cheapest.items()},
                "best": {index: [asdict(one) for one in found] for index, found in designs.best.items()},
            },
            "notes": self.notes,
            "provenance": self.provenance.to_dict(),
        }

    def _notes(self) -> list[str]:
        return [*self.verdict(), *self.notes]

    def __repr__(self) -> str:
        return f"<Plan: {', '.join(self.decisions)}, {self.study.size}>"

    def _rows(self) -> list[dict[str, Any]]:
        """One row a measure, number of assessors and target: shares of variance, reliability, queries needed."""
        rows = []
        every = dict.fromkeys(f"share_{effect}" for d in self.decisions.values() for effect in d.study.fractions())
        for name, decision in self.decisions.items():
            shares = every | {f"share_{effect}": share for effect, share in decision.study.fractions().items()}
            for row in decision.rows:
                if row.n_queries != decision.study.n_queries:
                    continue
                for target in self.targets:
                    needed = {
                        f"{index}_queries{end}": getattr(plan, field_)
                        for index in INDICES
                        for plan in [decision.need(index, target=target, assessors=row.n_assessors)]
                        for end, field_ in (("", "n_queries"), ("_low", "low"), ("_high", "high"))
                    }
                    rows.append({"measure": name, "target": target, **asdict(row), **needed, **shares})
        return rows


def _queries(plan: QueriesNeeded, *, short: bool = False) -> str:
    if plan.n_queries is None:
        return "no number" if short else "No number of queries is"
    if short:
        return f"{plan.n_queries:,}"
    return "1 query is" if plan.n_queries == 1 else f"{plan.n_queries:,} queries are"


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

    ``people`` are numbers of assessors a query to consider. Other options are those of :func:`adjudge.gstudy`,
    :meth:`GStudy.dstudy`, :func:`growth` and :func:`power_plan`. The systems that ``leave_out_worst`` leaves out are
    the worst by the main measure, for all measures; pools and prices stay those of all systems.
    """
    name = eff.measures[0] if main is None else main
    eff, worst = _without_worst(eff, name, leave_out_worst)
    studies, left_out = _studies(eff, name, assessors)
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
    moved = growth(
        eff[name], target=targets[0], batch=batch, assessors=assessors, n_assessors=numbers[0], design=design
    )
    return Plan(
        decisions,
        first.dstudy(_curve_sizes(first.n_queries), assessors=numbers[0], **options),
        tuple(dict.fromkeys(targets)),
        tuple(moved),
        power_plan(_matrix(eff, name), differences=differences, alpha=alpha, power=power, comparisons=comparisons),
        None
        if pricing is None
        else _designs(studies, name, pricing, target=targets[0], numbers=numbers, design=design),
        tuple(dict.fromkeys([*eff.notes, *worst, *left_out, *_remarks(decisions), *_unjudged(eff, decisions)])),
        eff.provenance,
        _far_off(eff[name], target=targets[0], assessors=assessors, n_assessors=numbers[0], design=design),
    )


def _without_worst(
    eff: Effectiveness | AssessedEffectiveness, main: str, leave_out: float
) -> tuple[Effectiveness | AssessedEffectiveness, list[str]]:
    """Effectiveness of the better systems, and a note that names the others."""
    kept = better_systems(eff[main], leave_out)
    if kept.all():
        return eff, []
    names = [name for name, keep in zip(eff.systems, kept, strict=True) if not keep]
    few = ", ".join(names[:_NAMED]) + ("" if len(names) <= _NAMED else ", …")
    note = f"Left out, as the worst by {main}: {len(names)} of {counted(len(eff.systems), 'system')} ({few})."
    return eff.select(systems=[name for name, keep in zip(eff.systems, kept, strict=True) if keep]), [note]


def _far_off(
    eff: Studied, *, target: float, assessors: Assessors, n_assessors: int, design: Assessors
) -> FarOff | None:
    """The plan without the system whose mean is farthest from that of all: no other adds as much to their variance."""
    data = arranged(eff, assessors=assessors)
    if len(data.systems) < _FEW_SYSTEMS:
        return None
    there = np.isfinite(data.values)
    centred = data.values - _mean(data.values, there, 1)  # a system may lack the hard queries
    far = int(np.argmax(np.abs(_mean(centred, there, (0, *range(2, there.ndim))))))
    with kept_warnings():
        try:
            study = study_of(replace(data, values=np.delete(data.values, far, axis=1)))
            planned = study.dstudy(assessors=n_assessors, target=target, design=design, interval="none")
        except AdjudgeError:  # nothing is left to study, such as systems that are all alike
            return None
    return FarOff(data.systems[far], planned.need("e_rho2").n_queries)


def _mean(values: Floats, there: Mask, axes: int | tuple[int, ...]) -> Floats:
    """The mean of what is there; 0 where nothing is, as for assessors whom a query does not have."""
    total = np.where(there, values, 0.0).sum(axis=axes, keepdims=True)
    mean: Floats = total / np.maximum(there.sum(axis=axes, keepdims=True), 1)
    return mean


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


def _studies(
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


def _matrix(eff: Effectiveness | AssessedEffectiveness, measure: str) -> Floats:
    """Queries x systems; the mean over assessors where there are several."""
    if isinstance(eff, Effectiveness):
        return eff.matrix(measure)
    return mean_over_queries(np.moveaxis(eff.array(measure), 2, 0))


def _curve_sizes(n_queries: int) -> list[int]:
    """Numbers of queries to draw: from 5 to 500, or twice as many as there are."""
    return [int(n) for n in np.unique(np.geomspace(5, max(500, 2 * n_queries), 40).round())]


def _designs(
    studies: dict[str, GStudy], main: str, pricing: Pricing, *, target: float, numbers: Sequence[int], design: Assessors
) -> Designs:
    names = [name for name in studies if name == main or name in pricing.cutoffs]
    unknown = [name for name in names if name not in pricing.pools]
    if unknown:
        raise AdjudgeError(f"Expected the number of documents to judge a query for {', '.join(unknown)}.")
    options = [Option(studies[name], pricing.pools[name], pricing.cutoffs.get(name)) for name in names]
    choice = Budgeting(options, pricing.costs, numbers, design)
    has_people = studies[main].design.has_assessors
    return Designs(
        pricing.costs,
        {name: pricing.pools[name] for name in names},
        pricing.budget,
        {index: choice.cheapest(target, index=index) for index in INDICES},
        {} if pricing.budget is None else {index: choice.best(pricing.budget, index=index) for index in INDICES},
        [
            choice.curve(option, n, _curve_sizes(studies[main].n_queries))
            for option in options
            for n in (numbers if has_people else (1,))
        ],
    )
