"""How large the next collection must be: a plan with prices, from a collection or from its effectiveness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from adjudge.checks import (
    ALPHA,
    CONFIDENCE,
    COUNT,
    CUTOFF,
    POSITIVE,
    RESAMPLES,
    SEED,
    TARGET,
    Assessors,
    Missing,
    Partial,
    ReliabilityInterval,
    Resampled,
    Ties,
    checked,
)
from adjudge.errors import AdjudgeError, ParameterError, kept_warnings
from adjudge.formats.effectiveness import EffectivenessLike, or_table, read_effectiveness
from adjudge.measures.assessors import evaluate_assessors
from adjudge.measures.base import Measure, parse_measures
from adjudge.measures.evaluation import Progress, default_measures, evaluate
from adjudge.model.collection import COLLECTION, Collection
from adjudge.model.effectiveness import ASSESSED, EFFECTIVENESS, AssessedEffectiveness, Effectiveness
from adjudge.model.runs import overlap
from adjudge.seeds import Seed, as_seed
from adjudge.stats.gtheory.plan import Costs, Plan, Pricing, make_plan

Measured = Effectiveness | AssessedEffectiveness
Unjudged = Literal["zero", "condensed"]  # bounds are no use to a plan


@checked(
    data=or_table(COLLECTION | EFFECTIVENESS | ASSESSED),
    confidence=CONFIDENCE,
    alpha=ALPHA,
    resamples=RESAMPLES,
    seed=SEED,
)
def plan(
    data: Collection | AssessedEffectiveness | EffectivenessLike,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    targets: float | Iterable[float] = (0.95,),
    queries: int | Iterable[int] | None = None,
    assessors: Assessors | Literal["combined"] = "auto",
    assessors_per_query: int | Iterable[int] | None = None,
    partial: Partial = "drop",
    design: Assessors = "auto",
    leave_out_worst: float = 0,
    batch: int | None = None,
    confidence: float = 0.95,
    interval: ReliabilityInterval = "auto",
    resample: Resampled = "both",
    resamples: int = 2000,
    differences: float | Iterable[float] = (0.01, 0.02, 0.05, 0.1),
    power: float = 0.8,
    alpha: float = 0.05,
    comparisons: int = 1,
    cutoffs: int | Iterable[int] = (),
    systems: int | None = None,
    pool: float | None = None,
    costs: Costs | None = None,
    budget: float | None = None,
    unjudged: Unjudged = "zero",
    missing: Missing = "zero",
    ties: Ties = "trec",
    seed: Seed = 0,
    progress: Progress | None = None,
) -> Plan:
    """How many queries, assessors and judgments are enough, and what they cost.

    A collection is evaluated under ``measures`` (by default a few that its scale and depth call for), by assessor where
    several judged a query, unless ``assessors`` are "combined"; effectiveness, or a table of it
    (:func:`adjudge.formats.read_effectiveness`), is taken as it is. The first measure leads. ``targets`` are
    reliabilities to reach, ``queries`` and ``assessors_per_query`` sizes to look at, ``differences`` what a paired t
    test is to detect with this ``power``. ``leave_out_worst`` is a share or a number of the worst systems.

    Designs get prices (``costs``, ``budget``) where the number of documents to judge per query is known: from the runs
    at the cutoff of the first measure and at other ``cutoffs``, for as many ``systems``, or from ``pool``, which is all
    that is known with effectiveness. ``unjudged``, ``missing``, ``ties`` and ``partial`` are those of
    :func:`adjudge.evaluate` and :func:`adjudge.measures.evaluate_assessors`, ``design``, ``interval``, ``resample`` and
    ``resamples`` those of D-studies (:func:`adjudge.gstudy`).

    >>> import adjudge as aj
    >>> print(aj.plan(aj.demo(), "CG@5", interval="none").verdict()[0])
    38 queries are enough for a stable ranking (Eρ² ≥ 0.95), 77 for stable scores (Φ ≥ 0.95) with one assessor each;
    there are 60 now.
    """
    seed, cutoffs = as_seed(seed), CUTOFF.check_each("cutoffs", cutoffs)
    if pool is not None and (cutoffs or systems is not None):
        raise ParameterError("'pool' says how many documents to judge per query; expected no 'cutoffs' or 'systems'.")
    prices = Costs() if costs is None else costs
    main, pricing = None, None
    if isinstance(data, Collection):
        wanted = default_measures(data) if measures is None else parse_measures(measures)
        main = wanted[0]
        sizes = _judged_depths(data, main, cutoffs)
        if pool is not None:
            pools = {str(main): pool}
        else:
            shared = overlap(data.runs, cutoffs=[*sizes.values()], n_queries=data.need_judgments().n_queries)
            pools = {str(measure): shared.pool_size(size, systems) for measure, size in sizes.items()}
        labels = {str(measure): measure.cutoff or size for measure, size in sizes.items()}
        effectiveness = _evaluate(
            data, list(dict.fromkeys([*wanted, *sizes])), assessors, partial,
            unjudged=unjudged, missing=missing, ties=ties, seed=seed, progress=progress,
        )  # fmt: skip
        pricing = Pricing(prices, pools, labels, budget)
    else:
        if cutoffs or systems is not None or assessors == "combined":
            raise ParameterError("'cutoffs', 'systems' and combined 'assessors' need a collection, got effectiveness.")
        effectiveness = data if isinstance(data, Measured) else read_effectiveness(data)
        if measures is not None:
            effectiveness = effectiveness[
                list(map(str, [measures] if isinstance(measures, str | Measure) else measures))
            ]
        if pool is None and (budget is not None or costs is not None):
            raise AdjudgeError("Prices and a budget need 'pool', the documents to judge per query: there are no runs.")
        if pool is not None:
            pricing = Pricing(prices, {effectiveness.measures[0]: pool}, {}, budget)
    return make_plan(
        effectiveness,
        main=None if main is None else str(main),
        targets=TARGET.check_each("targets", targets),
        queries=None if queries is None else COUNT.check_each("queries", queries),
        people=None if assessors_per_query is None else COUNT.check_each("assessors_per_query", assessors_per_query),
        assessors="auto" if assessors == "combined" else assessors,
        design=design,
        confidence=confidence,
        interval=interval,
        resample=resample,
        resamples=resamples,
        seed=seed,
        differences=POSITIVE.check_each("differences", differences),
        alpha=alpha,
        power=power,
        comparisons=comparisons,
        batch=batch,
        pricing=pricing,
        leave_out_worst=leave_out_worst,
    )


def _judged_depths(collection: Collection, main: Measure, cutoffs: Sequence[int]) -> dict[Measure, int]:
    """Depths to which documents count: of the main measure, at most that of the runs, and of its other cutoffs."""
    if cutoffs and main.cutoff is None:
        raise AdjudgeError(f"{main}: other cutoffs are for a measure that has one, such as {main}@5")
    n_judged = collection.need_judgments().n_queries
    deepest = max(int(run.lengths[:n_judged].max(initial=1)) for run in collection.runs)
    others = {Measure.bind(main.definition, dict(main.parameters), k): k for k in cutoffs if k != main.cutoff}
    return {main: min(main.cutoff or deepest, deepest)} | others


def _evaluate(
    collection: Collection,
    measures: Sequence[Measure],
    assessors: str,
    partial: Partial,
    *,
    unjudged: Unjudged,
    missing: Missing,
    ties: Ties,
    seed: int,
    progress: Progress | None,
) -> Measured:
    """Effectiveness by assessor where several judged a query, unless their grades are to be combined."""
    judgments = collection.need_judgments()
    several = len(judgments.assessors) > 1 and len(judgments.pool.grades) < len(judgments)
    with kept_warnings():  # they are among the notes
        if assessors in ("crossed", "nested") or (assessors == "auto" and several):
            return evaluate_assessors(
                collection, measures, partial=partial, unjudged=unjudged, missing=missing, ties=ties, seed=seed,
                progress=progress,
            )  # fmt: skip
        return evaluate(
            collection, measures, unjudged=unjudged, missing=missing, ties=ties, seed=seed, progress=progress
        )
