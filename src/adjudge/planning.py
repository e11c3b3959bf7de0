"""How large the next collection must be: from a collection, or what was measured on it, to a plan with its prices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from adjudge.checks import (
    ALPHA,
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Assessors,
    Missing,
    Partial,
    ReliabilityInterval,
    Resampled,
    Ties,
    checked,
)
from adjudge.errors import AdjudgeError, ParameterError, kept_warnings
from adjudge.measures.assessors import evaluate_assessors
from adjudge.measures.base import Measure, parse_measures
from adjudge.measures.evaluation import Progress, default_measures, evaluate
from adjudge.model.collection import Collection
from adjudge.model.effectiveness import AssessedEffectiveness, Effectiveness
from adjudge.model.runs import overlap
from adjudge.seeds import Seed, as_seed
from adjudge.stats.gtheory.budget import Costs
from adjudge.stats.gtheory.plan import Plan, Pricing, make_plan

Measured = Effectiveness | AssessedEffectiveness
Unjudged = Literal["zero", "condensed"]  # bounds are no use to a plan


@checked(confidence=CONFIDENCE, alpha=ALPHA, resamples=RESAMPLES, seed=SEED)
def plan(
    data: Collection | Measured,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    targets: Sequence[float] = (0.95,),
    queries: Iterable[int] | None = None,
    assessors: Assessors | Literal["combined"] = "auto",
    assessors_per_query: Sequence[int] | None = None,
    partial: Partial = "drop",
    design: Assessors = "auto",
    leave_out_worst: float = 0,
    batch: int | None = None,
    confidence: float = 0.95,
    interval: ReliabilityInterval = "auto",
    resample: Resampled = "both",
    resamples: int = 2000,
    differences: Sequence[float] = (0.01, 0.02, 0.05, 0.1),
    power: float = 0.8,
    alpha: float = 0.05,
    comparisons: int = 1,
    cutoffs: Sequence[int] = (),
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
    several judged a query, unless ``assessors`` are "combined". The first measure leads. ``targets`` are reliabilities
    to reach, ``queries`` and ``assessors_per_query`` sizes to look at, ``differences`` what a paired t test is to
    detect with this ``power``. ``leave_out_worst`` is a share or a number of the worst systems.

    Designs get prices (``costs``, ``budget``) where it is known how many documents a query has to judge: from the runs
    at the cutoff of the first measure and at other ``cutoffs``, for as many ``systems``, or from ``pool``, which is all
    that is known with effectiveness. ``unjudged``, ``missing``, ``ties`` and ``partial`` are those of
    :func:`adjudge.evaluate` and :func:`adjudge.measures.evaluate_assessors`, ``design``, ``interval``, ``resample`` and
    ``resamples`` those of D-studies (:func:`adjudge.gstudy`).

    >>> import adjudge as aj
    >>> print(aj.plan(aj.demo(), "CG@5", interval="none").verdict()[0])
    38 queries are enough for a stable ranking (Eρ² >= 0.95), 77 for stable scores (Φ >= 0.95) with one assessor each;
    there are 60 now.
    """
    seed = as_seed(seed)
    if pool is not None and (cutoffs or systems is not None):
        raise ParameterError("'pool' says how many documents a query has to judge; expected no 'cutoffs' or 'systems'.")
    prices = Costs() if costs is None else costs
    main = None
    if isinstance(data, Collection):
        wanted = default_measures(data) if measures is None else parse_measures(measures)
        main, others = wanted[0], _other_cutoffs(wanted[0], cutoffs)
        sizes = _depths(data, main) | others
        pools = {str(main): pool} if pool is not None else _pools(data, sizes, systems)
        labels = {str(measure): measure.cutoff or size for measure, size in sizes.items()}
        every = [*wanted, *(measure for measure in others if measure not in wanted)]
        eff: Measured = _evaluated(
            data, every, assessors, partial, unjudged=unjudged, missing=missing, ties=ties, seed=seed, progress=progress
        )
        pricing: Pricing | None = Pricing(prices, pools, labels, budget)
    else:
        if cutoffs or systems is not None or assessors == "combined":
            raise ParameterError("'cutoffs', 'systems' and combined 'assessors' need a collection, got effectiveness.")
        eff = data if measures is None else data[_names(measures)]
        if pool is None and (budget is not None or costs is not None):
            raise AdjudgeError("Prices and a budget need 'pool', the documents to judge a query: there are no runs.")
        pricing = None if pool is None else Pricing(prices, {eff.measures[0]: pool}, {}, budget)
    return make_plan(
        eff,
        main=None if main is None else str(main),
        targets=targets,
        queries=queries,
        people=assessors_per_query,
        assessors="auto" if assessors == "combined" else assessors,
        design=design,
        confidence=confidence,
        interval=interval,
        resample=resample,
        resamples=resamples,
        seed=seed,
        differences=differences,
        alpha=alpha,
        power=power,
        comparisons=comparisons,
        batch=batch,
        pricing=pricing,
        leave_out_worst=leave_out_worst,
    )


def _names(measures: str | Measure | Iterable[str | Measure]) -> list[str]:
    return [str(one) for one in ([measures] if isinstance(measures, str | Measure) else measures)]


def _other_cutoffs(main: Measure, cutoffs: Sequence[int]) -> dict[Measure, int]:
    """The main measure at other cutoffs."""
    if cutoffs and main.cutoff is None:
        raise AdjudgeError(f"{main}: other cutoffs are for a measure that has one, such as {main}@5")
    return {Measure.bind(main.definition, dict(main.parameters), k): k for k in cutoffs if k != main.cutoff}


def _depths(collection: Collection, main: Measure) -> dict[Measure, int]:
    """How deep documents count under the main measure: to its cutoff, or as deep as the runs are."""
    n_judged = collection.need_judgments().n_queries
    deepest = max(int(run.lengths[:n_judged].max(initial=1)) for run in collection.runs)
    return {main: min(main.cutoff or deepest, deepest)}


def _pools(collection: Collection, sizes: dict[Measure, int], systems: int | None) -> dict[str, float]:
    """Documents to judge a query, under each measure."""
    found = overlap(collection.runs, cutoffs=[*sizes.values()], n_queries=collection.need_judgments().n_queries)
    return {str(measure): found.pool_size(size, systems) for measure, size in sizes.items()}


def _evaluated(
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
