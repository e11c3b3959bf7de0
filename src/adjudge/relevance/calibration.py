"""Can confidence be trusted? Estimators and rules compared with the truth on parts of a judged collection.

Each sample is a part of the collection: some systems, some of the queries that have judgments. A session is simulated
on it with every estimator and rule. When shares of its candidates are judged, its claims are compared with the truth:
confidence with accuracy, intervals with true scores. A calibrated method that says 90 % is right 90 % of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import COUNT, SEED, SEVERAL, SHARE, WORKERS, Whole, checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.model.collection import COLLECTION, Collection, Similarity
from adjudge.model.scales import Scale
from adjudge.parallel import job_rng, run_calls
from adjudge.relevance.base import EstimatorOptions, scoring, start
from adjudge.relevance.candidates import CANDIDATES, Candidates
from adjudge.relevance.choosing import GOAL, Goal, as_goal
from adjudge.relevance.session import Opinions, prepare_candidates
from adjudge.relevance.simulation import Simulation, as_names, method_name, simulate
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import PALETTE, Grid, label_axes, line_look
from adjudge.results import Column, Rows, figure
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted

if TYPE_CHECKING:
    from adjudge.reporting.canvas import Canvas


EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
BY_SHARE = ("confidence", "accuracy", "covered", "difference_error", "score_error")
"""What a calibration has for each share: means of checkpoints over samples."""


@dataclass(frozen=True)
class Bin:
    """Pairs of systems whose confidence lies in [low, high): number, mean confidence, share of right signs."""

    low: float
    high: float
    n: int
    claimed: float
    right: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """One method over all samples.

    ``confidence`` to ``score_error`` are means over samples, one for each of the ``shares``; ``bins`` pool all shares.
    ``stop_share``, ``stop_accuracy`` and ``stop_confidence`` are means where sessions stopped. So are ``stop_goal``,
    the value of the goal as claimed, and ``stop_kept``, what of it is true. ``reached`` is the share that did at it.
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
    stop_goal: float
    stop_kept: float
    reached: float

    @property
    def calibration_error(self) -> float:
        """Expected calibration error: mean distance of claimed confidence and accuracy over bins, weighted by pairs."""
        total = sum(b.n for b in self.bins)
        return sum(b.n * abs(b.claimed - b.right) for b in self.bins) / total if total else 0.0


class CalibrationRecord(TypedDict):
    """A method with a share of the candidates judged: means over samples."""

    estimator: Annotated[str, Column("what estimates relevance", key=True)]
    rule: Annotated[str, Column("what chooses the next document", key=True)]
    share: Annotated[float, Column("share of the candidates judged", "g")]
    confidence: Annotated[float, Column("mean confidence in the order of pairs of systems", ".3f")]
    accuracy: Annotated[float, Column("share of pairs of systems in the right order", ".3f")]
    covered: Annotated[float, Column("share of 95 % intervals of differences that hold the truth", ".3f")]
    difference_error: Annotated[float, Column("root mean square error of differences", ".3f", shown=False)]
    score_error: Annotated[float, Column("root mean square error of scores", ".3f", shown=False)]
    calibration_error: Annotated[float, Column("mean distance of confidence and accuracy, over all shares", ".3f")]
    stop_share: Annotated[float, Column("share of the candidates judged at the stop", ".1f %", label="stop")]
    stop_confidence: Annotated[float, Column("mean confidence at the stop", ".3f", shown=False)]
    stop_accuracy: Annotated[float, Column("share of pairs in the right order at the stop", ".3f", shown=False)]
    stop_goal: Annotated[float, Column("what the goal is about, as claimed at the stop", ".3f", label="goal at stop")]
    stop_kept: Annotated[float, Column("what of the goal is true there", ".3f", label="kept")]
    reached: Annotated[float, Column("share of sessions that stopped at the goal", ".0f %")]
    samples: Annotated[int, Column("parts of the collection", ",d", shown=False)]


@dataclass(frozen=True)
class Claims:
    """Mean confidence and share of right signs of binned pairs, with the number of pairs; one line per method."""

    names: tuple[str, ...]
    claimed: tuple[Floats, ...]
    right: tuple[Floats, ...]
    pairs: tuple[Floats, ...]
    shares: Floats
    accuracy: tuple[Floats, ...]


def draw_claims(data: Claims, canvas: Canvas) -> Grid:
    """Left: right signs against claimed confidence, on the diagonal when calibrated. Right: accuracy by effort."""
    columns = canvas.columns(2, most=2)
    grid = canvas.grid(2.6 * (3 - columns), rows=3 - columns, columns=columns)
    left, right = grid.flat
    left.plot([0.5, 1], [0.5, 1], color=PALETTE["line"], linewidth=1)
    for i, name in enumerate(data.names):
        look = line_look(i)
        size = 8 + 40 * data.pairs[i] / max(1.0, float(data.pairs[i].max()))
        left.plot(data.claimed[i], data.right[i], color=look["color"], linestyle=look["linestyle"], linewidth=1.1)
        left.scatter(data.claimed[i], data.right[i], s=size, color=look["color"], linewidth=0, alpha=0.75)
        right.plot(100 * data.shares, data.accuracy[i], label=name, **look)
    label_axes(left, "confidence claimed", "right signs")
    label_axes(right, "% of the candidates judged", "right signs")
    canvas.legend(right)
    return grid


class Calibrations(Rows[Calibration]):
    """The calibration of each method. Rows are methods by share judged; ``bins`` in files are those of all methods."""

    def _rows(self) -> list[dict[str, Any]]:
        stops = ("stop_share", "stop_confidence", "stop_accuracy", "stop_goal", "stop_kept")
        means = ("calibration_error", *stops, "reached")
        return [
            {
                "estimator": method.estimator,
                "rule": method.rule,
                "share": share,
                **{name: getattr(method, name)[k] for name in BY_SHARE},
                **{name: getattr(method, name) for name in means},
                "samples": method.n_samples,
            }
            for method in self
            for k, share in enumerate(method.shares)
        ]

    @figure("claims")
    def _claims(self) -> FigureBlock:
        """Right signs against claimed confidence, and accuracy by effort."""

        def of_bins(name: str) -> tuple[Floats, ...]:
            return tuple(np.array([float(getattr(b, name)) for b in method.bins]) for method in self)

        names, accuracy = tuple(map(method_name, self)), tuple(np.array(method.accuracy) for method in self)
        claimed, right, n = (of_bins(name) for name in ("claimed", "right", "n"))
        data = Claims(names, claimed, right, n, np.array(self[0].shares), accuracy)
        caption = "Left: pairs by the confidence claimed, on the diagonal when calibrated. Right: accuracy by effort."
        alt = f"Calibration and accuracy of {counted(len(self), 'method')}."
        return FigureBlock("claims", caption, alt, data, draw_claims)

    def _facts(self) -> dict[str, Any]:
        methods = [(method, {"estimator": method.estimator, "rule": method.rule}) for method in self]
        return {"bins": [{**names, **asdict(b)} for method, names in methods for b in method.bins]}


@renamed(None, "calibrate", shares="at")
@checked(
    data=COLLECTION | CANDIDATES, goal=GOAL, samples=COUNT, systems=SEVERAL, queries=SEVERAL, seed=SEED, workers=WORKERS
)
def calibrate_judging(
    data: Collection | Candidates,
    measure: str | None = None,
    *,
    estimators: str | Sequence[str] = "hierarchical",
    rules: str | Sequence[str] | None = None,
    samples: int = 10,
    systems: int | None = None,
    queries: int | None = None,
    at: Sequence[float] = (0.05, 0.1, 0.2),
    goal: Goal | str | None = None,
    seed: Seed = 0,
    scale: Scale | str | None = None,
    opinions: Opinions | None = None,
    similarity: Similarity | None = None,
    options: Mapping[str, EstimatorOptions | Mapping[str, Any]] | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Calibrations:
    """Whether the confidence that methods claim can be trusted on collections like this one.

    Each of the ``estimators`` is tried with each of the ``rules``, by default the one that serves the goal, on the same
    ``samples``: random parts of the judged collection, by default with half of its systems and queries, ``at`` shares
    of their candidates judged. Sample i draws from its own stream, so that results do not depend on the number of
    ``workers``, which are processes, one per core by default. ``options`` of estimators are by name. The other settings
    are those of :func:`adjudge.judging`.

    >>> import adjudge as aj
    >>> collection = aj.demo(queries=20, depth=5)
    >>> (found,) = aj.calibrate(collection, "CG@5", estimators="uniform", samples=2, at=[0.2], workers=1)
    >>> found.n_samples, 0 <= found.calibration_error < 1
    (2, True)
    """
    seed, given, shares = as_seed(seed), options or {}, tuple(sorted(set(at)))
    name, pool = prepare_candidates(data, measure, scale=scale, opinions=opinions, similarity=similarity)
    pool = pool.of_judged_queries()
    methods = list(product(as_names(estimators), as_names(rules or as_goal(goal).rule)))
    n_systems = _part_size("systems", systems, pool.n_systems)
    as_goal(goal).check_systems(n_systems)
    n_queries = _part_size("queries", queries, pool.n_queries)
    if not methods or not shares:
        raise AdjudgeError(f"expected at least one method and one share, got {len(methods)} and {len(shares)}")
    for share in shares:
        SHARE.check("at", share)
    parts = []
    for i in range(samples):
        rng = job_rng(seed, i)
        chosen = rng.choice(pool.n_queries, n_queries, replace=False).tolist()
        kept = rng.choice(pool.n_systems, n_systems, replace=False).tolist()
        parts.append(pool.part(queries=chosen, systems=kept))
    for estimator in as_names(estimators):  # refuses and warns once, before the work starts
        start(estimator, parts[0].unjudged(), scoring(name, pool.scale), **given.get(estimator, {}))
    marks = [[len(part) if share == 1 else share for share in shares] for part in parts]
    calls = [
        partial(
            simulate, parts[i], name, estimator=estimator, rule=rule, goal=goal, at=marks[i], seed=i,
            options=given.get(estimator),
        )
        for estimator, rule in methods
        for i in range(samples)
    ]  # fmt: skip
    results: list[Simulation] = run_calls(calls, workers=workers, progress=progress)
    found = tuple(_summary(results[m * samples : (m + 1) * samples], shares) for m in range(len(methods)))
    notes = (f"Means over {counted(samples, 'part')} of the collection. Goal: {as_goal(goal)}.", *pool.notes)
    return Calibrations(CalibrationRecord, found, f"Claimed confidence and the truth, {name}", notes)


def _part_size(name: str, wanted: int | None, most: int) -> int:
    if most < 2:
        raise NotEnoughDataError(f"Parts of a collection need at least 2 {name}, got {most}.")
    return max(2, most // 2) if wanted is None else int(Whole(2, most).check(name, wanted))


def _summary(runs: Sequence[Simulation], shares: tuple[float, ...]) -> Calibration:
    def means(name: str) -> tuple[float, ...]:
        return tuple(float(np.mean([getattr(run.checkpoints[k], name) for run in runs])) for k in range(len(shares)))

    points = [point for run in runs for point in run.checkpoints]
    return Calibration(
        runs[0].estimator,
        runs[0].rule,
        len(runs),
        shares,
        bins=binned(np.concatenate([p.claimed for p in points]), np.concatenate([p.right for p in points])),
        stop_share=float(np.mean([run.stop.n_judged / run.n_candidates for run in runs])),
        stop_accuracy=float(np.mean([run.stop.accuracy for run in runs])),
        stop_confidence=float(np.mean([run.stop.confidence for run in runs])),
        stop_goal=float(np.mean([run.stop.goal for run in runs])),
        stop_kept=float(np.mean([run.stop.kept for run in runs])),
        reached=float(np.mean([run.reached for run in runs])),
        **{name: means(name) for name in BY_SHARE},
    )


def binned(claimed: Floats, right: Floats) -> tuple[Bin, ...]:
    """Pairs by their confidence, as in thesis Table 8.2; empty bins are left out."""
    place = np.clip(np.searchsorted(EDGES, claimed, side="right") - 1, 0, len(EDGES) - 2)
    return tuple(
        Bin(EDGES[b], EDGES[b + 1], int(inside.sum()), float(claimed[inside].mean()), float(right[inside].mean()))
        for b in range(len(EDGES) - 1)
        if (inside := place == b).any()
    )
