"""Can confidence be trusted? Estimators and rules side by side on parts of a judged collection, held against the truth.

Each sample is a part of the collection: some systems, some queries. A session is simulated on it with every estimator
and rule, and at shares of its candidates what it claims is compared with what is so: confidence with accuracy,
intervals with the truth. A calibrated method that says 90 % is right 90 % of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import COUNT, SEED, SEVERAL, SOME_SHARE, WORKERS, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.model.collection import Collection, Similarity
from adjudge.model.scales import Scale
from adjudge.parallel import job_rng, run_calls
from adjudge.relevance.base import scoring, start
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.session import Opinions, prepare_candidates
from adjudge.relevance.simulation import Checkpoint, Simulation, as_names, simulate
from adjudge.seeds import Seed, as_seed

EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class Bin:
    """Pairs of systems whose confidence lies in [low, high): how many, what was claimed, what was right."""

    low: float
    high: float
    n: int
    claimed: float
    right: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """How one method did over all samples.

    ``accuracy``, ``covered``, ``difference_error`` and ``score_error`` are means over samples, one a share in
    ``shares``; ``bins`` pool all shares. ``stop_share`` and ``stop_accuracy`` are where it stopped, ``reached`` how
    often that was at its goal.
    """

    estimator: str
    rule: str
    n_samples: int
    shares: tuple[float, ...]
    confidence: tuple[float, ...]
    accuracy: tuple[float, ...]
    covered: tuple[float, ...]
    difference_error: tuple[float, ...]
    score_error: tuple[float, ...]
    bins: tuple[Bin, ...]
    stop_share: float
    stop_accuracy: float
    stop_confidence: float
    reached: float

    @property
    def calibration_error(self) -> float:
        """Expected calibration error: mean distance of claimed confidence and accuracy over bins, weighted by pairs."""
        total = sum(one.n for one in self.bins)
        return sum(one.n * abs(one.claimed - one.right) for one in self.bins) / total if total else 0.0


@checked(samples=COUNT, systems=SEVERAL, queries=SEVERAL, seed=SEED, workers=WORKERS)
def calibrate(
    candidates: Candidates,
    measure: str,
    *,
    methods: Sequence[tuple[str, str]],
    samples: int = 10,
    systems: int | None = None,
    queries: int | None = None,
    shares: Sequence[float] = (0.05, 0.1, 0.2),
    goal: Goal | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Calibration]:
    """Compare (estimator, rule) ``methods`` on the same random parts of a judged collection.

    A part has half of the systems and half of the queries unless told. Sample i draws from its own stream, so that
    answers do not depend on the number of processes. ``options`` are by estimator.
    """
    n_systems, n_queries = _sizes(candidates, systems, queries)
    if not methods or not shares:
        raise AdjudgeError(f"expected at least one method and one share, got {len(methods)} and {len(shares)}")
    for share in shares:
        SOME_SHARE.check("shares", share)
    parts = [_sample(candidates, n_systems, n_queries, seed, i) for i in range(samples)]
    for name in dict.fromkeys(estimator for estimator, _ in methods):  # says once what it refuses or warns of
        start(name, parts[0].unjudged(), scoring(measure, candidates.scale), **(options or {}).get(name, {}))
    tasks = [
        partial(
            _one,
            parts[i],
            measure,
            estimator,
            rule,
            tuple(shares),
            goal,
            i,
            dict((options or {}).get(estimator, {})),
        )
        for estimator, rule in methods
        for i in range(samples)
    ]
    results: list[Simulation] = run_calls(tasks, workers=workers, progress=progress)
    return [
        _summary(results[m * samples : (m + 1) * samples], estimator, rule, tuple(shares))
        for m, (estimator, rule) in enumerate(methods)
    ]


@checked(seed=SEED)
def calibrate_judging(
    data: Collection | Candidates,
    measure: str | None = None,
    *,
    estimators: str | Sequence[str] = "hierarchical",
    rules: str | Sequence[str] = "information",
    samples: int = 10,
    systems: int | None = None,
    queries: int | None = None,
    shares: Sequence[float] = (0.05, 0.1, 0.2),
    goal: Goal | None = None,
    seed: Seed = 0,
    scale: Scale | str | None = None,
    opinions: Opinions | None = None,
    similarity: Similarity | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Calibration]:
    """Whether the confidence that methods claim can be trusted on collections like this one.

    Every one of the ``estimators`` is tried with every one of the ``rules`` on the same ``samples``: random parts of
    the judged collection with half of its systems and queries unless told, with ``shares`` of their candidates judged.
    ``workers`` are processes, one per core by default. The other settings are those of :func:`adjudge.judging`.

    >>> import adjudge as aj
    >>> collection = aj.demo(queries=20, depth=5)
    >>> (found,) = aj.calibrate(collection, "CG@5", estimators="uniform", samples=2, shares=[0.2], workers=1)
    >>> found.n_samples, 0 <= found.calibration_error < 1
    (2, True)
    """
    seed = as_seed(seed)
    name, pool = prepare_candidates(data, measure, scale=scale, opinions=opinions, similarity=similarity)
    return calibrate(
        pool,
        name,
        methods=[(estimator, rule) for estimator in as_names(estimators) for rule in as_names(rules)],
        samples=samples,
        systems=systems,
        queries=queries,
        shares=sorted(set(shares)),
        goal=goal,
        seed=seed,
        workers=workers,
        progress=progress,
    )


def _sizes(candidates: Candidates, systems: int | None, queries: int | None) -> tuple[int, int]:
    sizes = []
    for name, wanted, most in (("systems", systems, candidates.n_systems), ("queries", queries, candidates.n_queries)):
        if most < 2:
            raise NotEnoughDataError(f"Parts of a collection need at least 2 {name}, got {most}.")
        size = max(2, most // 2) if wanted is None else wanted
        if not 2 <= size <= most:
            raise AdjudgeError(f"'{name}' of a sample must be from 2 to {most}, got {size}")
        sizes.append(size)
    return sizes[0], sizes[1]


def _sample(candidates: Candidates, n_systems: int, n_queries: int, seed: int, i: int) -> Candidates:
    rng = job_rng(seed, i)
    return candidates.part(
        queries=rng.choice(candidates.n_queries, n_queries, replace=False).tolist(),
        systems=rng.choice(candidates.n_systems, n_systems, replace=False).tolist(),
    )


def _one(  # noqa: PLR0917 - called by partial, which has to be pickled
    part: Candidates,
    measure: str,
    estimator: str,
    rule: str,
    shares: tuple[float, ...],
    goal: Goal | None,
    seed: int,
    options: dict[str, Any],
) -> Simulation:
    at = [share * len(part) if share == 1 else share for share in shares]
    return simulate(part, measure, estimator=estimator, rule=rule, goal=goal, at=at, seed=seed, options=options)


def _summary(runs: Sequence[Simulation], estimator: str, rule: str, shares: tuple[float, ...]) -> Calibration:
    def means(name: str) -> tuple[float, ...]:
        return tuple(float(np.mean([getattr(run.checkpoints[k], name) for run in runs])) for k in range(len(shares)))

    points: list[Checkpoint] = [point for run in runs for point in run.checkpoints]
    return Calibration(
        estimator,
        rule,
        len(runs),
        shares,
        means("confidence"),
        means("accuracy"),
        means("covered"),
        means("difference_error"),
        means("score_error"),
        binned(np.concatenate([p.claimed for p in points]), np.concatenate([p.right for p in points])),
        float(np.mean([run.stop.n_judged / run.n_candidates for run in runs])),
        float(np.mean([run.stop.accuracy for run in runs])),
        float(np.mean([run.stop.confidence for run in runs])),
        float(np.mean([run.reached for run in runs])),
    )


def binned(claimed: Floats, right: Floats) -> tuple[Bin, ...]:
    """Pairs by their confidence, as in thesis Table 8.2; empty bins are left out."""
    place = np.clip(np.searchsorted(EDGES, claimed, side="right") - 1, 0, len(EDGES) - 2)
    return tuple(
        Bin(EDGES[b], EDGES[b + 1], int(inside.sum()), float(claimed[inside].mean()), float(right[inside].mean()))
        for b in range(len(EDGES) - 1)
        if (inside := place == b).any()
    )
