"""What judging would have cost: sessions on judged collections, with the judgments as the assessor.

Candidates that nobody judged count as not relevant, as in effectiveness. Queries without any judgment are left out of
:func:`simulate_judging`: nothing is known of them. Documents that were judged but that no system retrieved are left
out, too: nobody would have been asked for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import product
from typing import Annotated, Any, Literal, Protocol, TypedDict

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.checks import COUNT, SEED, WORKERS, checked
from adjudge.errors import AdjudgeError
from adjudge.model.collection import COLLECTION, Collection, Similarity
from adjudge.model.scales import Scale
from adjudge.parallel import Progress, one_thread, run_calls
from adjudge.relevance.base import ROUNDING, EstimatorOptions, Scoring, ideal_sums, scoring, start
from adjudge.relevance.candidates import CANDIDATES, Candidates
from adjudge.relevance.choosing import GOAL, Goal, as_goal
from adjudge.relevance.lists import RankedPairs
from adjudge.relevance.session import Opinions, Session, prepare_candidates
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column, Rows, figure
from adjudge.seeds import Seed, as_seed
from adjudge.stats.intervals import t_interval
from adjudge.tables import Table
from adjudge.text import counted


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A session compared with the truth after some judgments.

    ``accuracy`` is the share of pairs of systems in the right order, ``tau`` the Kendall correlation with the truth.
    Errors are root mean squares, of differences and of scores. ``covered`` and ``covered_scores`` are the shares of
    95 % intervals of differences and of scores that hold the truth. ``goal`` is the value of the goal as it is claimed,
    and ``kept`` what of it is true. ``claimed`` and ``right`` are the confidence and the correctness of every pair.
    """

    n_judged: int
    confidence: float
    accuracy: float
    tau: float
    difference_error: float
    score_error: float
    covered: float
    covered_scores: float
    goal: float
    kept: float
    claimed: Floats
    right: Floats


@dataclass(frozen=True, eq=False)
class Simulation:
    """One simulated session: its settings, its checkpoints, where it stopped, and whether it ``reached`` its goal.

    With everything judged any goal is met; that does not count as reached.
    """

    estimator: str
    rule: str
    seed: int
    n_candidates: int
    checkpoints: tuple[Checkpoint, ...]
    stop: Checkpoint
    reached: bool


class Method(Protocol):
    """What has an estimator and a rule."""

    @property
    def estimator(self) -> str:
        """What estimates relevance."""

    @property
    def rule(self) -> str:
        """What chooses the next document."""


class SimulationRecord(TypedDict):
    """A checkpoint of a simulated session; where it stopped is one, too."""

    estimator: Annotated[str, Column("what estimates relevance", key=True)]
    rule: Annotated[str, Column("what chooses the next document", key=True)]
    seed: Annotated[int, Column("seed of the session", "d")]
    candidates: Annotated[int, Column("documents that could be judged", ",d")]
    checkpoint: Annotated[Literal["at", "stop"], Column("a checkpoint that was asked for, or the stop")]
    reached: Annotated[bool, Column("whether the goal was reached before everything was judged")]
    n_judged: Annotated[int, Column("documents judged by then", ",d")]
    confidence: Annotated[float, Column("mean confidence in the order of pairs of systems", ".3f")]
    accuracy: Annotated[float, Column("share of pairs of systems in the right order", ".3f")]
    tau: Annotated[float, Column("Kendall correlation with the true ranking", ".3f")]
    difference_error: Annotated[float, Column("root mean square error of differences", ".3f")]
    score_error: Annotated[float, Column("root mean square error of scores", ".3f")]
    covered: Annotated[float, Column("share of 95 % intervals of differences that hold the truth", ".3f")]
    covered_scores: Annotated[float, Column("share of 95 % intervals of scores that hold the truth", ".3f")]
    goal: Annotated[float, Column("what the goal is about, as it was claimed", ".3f")]
    kept: Annotated[
        float, Column("what of the goal is true: its value, 1 or 0, or the share of scores within its level", ".3f")
    ]


@dataclass(frozen=True)
class _Effort:
    """Where the sessions of a method stopped: means over seeds."""

    estimator: Annotated[str, Column("what estimates relevance", key=True)]
    rule: Annotated[str, Column("what chooses the next document", key=True)]
    judgments: Annotated[float, Column("mean number of judgments", ",.0f")]
    span: Annotated[str, Column("over seeds", label="range")]
    share: Annotated[float, Column("of the candidates", ".1f %")]
    reached: Annotated[str, Column("seeds that reached the goal before everything was judged")]
    goal: Annotated[float, Column("what the goal is about, as claimed at the stop", ".3f")]
    kept: Annotated[float, Column("what of the goal is true there", ".3f")]
    accuracy: Annotated[float, Column("share of pairs of systems in the right order at the stop", ".3f")]
    difference_error: Annotated[float, Column("root mean square error of differences", ".3f", label="RMSE Δ")]
    score_error: Annotated[float, Column("root mean square error of scores", ".3f", label="RMSE")]

    @classmethod
    def of(cls, runs: Sequence[Simulation]) -> _Effort:
        counts, n = [run.stop.n_judged for run in runs], runs[0].n_candidates
        span = f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
        names = ("goal", "kept", "accuracy", "difference_error", "score_error")
        means = [float(np.mean([getattr(run.stop, name) for run in runs])) for name in names]
        reached, judged = f"{sum(run.reached for run in runs)} of {len(runs)}", float(np.mean(counts))
        return cls(runs[0].estimator, runs[0].rule, judged, span, judged / n, reached, *means)


class Simulations(Rows[Sequence[Simulation]]):
    """Simulated sessions, a sequence of them per method. Rows are checkpoints; the table says where judging stopped."""

    def _rows(self) -> list[dict[str, Any]]:
        names = [field.name for field in fields(Checkpoint) if field.name not in ("claimed", "right")]
        return [
            {
                "estimator": run.estimator,
                "rule": run.rule,
                "seed": run.seed,
                "candidates": run.n_candidates,
                "checkpoint": kind,
                "reached": run.reached,
                **{name: getattr(point, name) for name in names},
            }
            for method in self
            for run in method
            for kind, point in [*(("at", point) for point in run.checkpoints), ("stop", run.stop)]
        ]

    @figure("accuracy-history")
    def _accuracy(self) -> FigureBlock:
        """Accuracy against judgments, at the checkpoints and at the stop."""
        if not self[0][0].checkpoints:
            raise AdjudgeError("a curve needs checkpoints; give 'at' to the simulation")
        lines = []
        for method in self:
            counts = np.array([[point.n_judged for point in run.checkpoints] for run in method], dtype=np.float64)
            right = np.array([[point.accuracy for point in run.checkpoints] for run in method])
            half = t_interval(right)[1]
            ends = (np.clip(right.mean(axis=0) + sign * half, 0.0, 1.0) for sign in (-1, 1))
            lines.append(Curve(method_name(method[0]), counts[0], right.mean(axis=0), *ends))
        seeds = len(self[0])
        bands = f" Bands are 95 % intervals of the mean over {seeds} orders of ties." if seeds > 1 else ""
        caption = f"Share of pairs of systems in the right order against judgments.{bands}"
        alt = f"Accuracy of {counted(len(lines), 'method')} at {counted(len(lines[0].x), 'number')} of judgments."
        data = Curves("judgments", "pairs in the right order", (Panel("", tuple(lines)),))
        return FigureBlock("accuracy-history", caption, alt, data, curves)

    def table(self, *, digits: int | None = None) -> Table:
        """Where judging stopped: means over the seeds of each method."""
        table = Rows(_Effort, tuple(map(_Effort.of, self)), self.title, self.notes).table(digits=digits)
        names, figures = table.headings[: table.n_key], table.headings[table.n_key :]
        return replace(table, headings=[*names, *(replace(heading, align="right") for heading in figures)])


def method_name(run: Method) -> str:
    """Estimator and rule."""
    return f"{run.estimator}, {run.rule}"


def true_scores(candidates: Candidates, scoring: Scoring) -> Floats:
    """Mean score of every system, unjudged candidates being not relevant."""
    relevance = np.nan_to_num(candidates.relevance)
    if scoring.drawn is not None:
        return RankedPairs(candidates, scoring.drawn).mean_scores(relevance)
    gains = scoring.entries(candidates) * relevance[candidates.entry_pair]
    sums = np.zeros((candidates.n_queries, candidates.n_systems))
    np.add.at(sums, (candidates.query[candidates.entry_pair], candidates.entry_system), gains)
    if scoring.divisor is not None:
        return np.asarray(sums.mean(axis=0) / scoring.divisor)
    best = ideal_sums(candidates, scoring.weights, relevance)[:, None]
    return np.asarray(np.divide(sums, best, out=np.zeros_like(sums), where=best > 0).mean(axis=0))


@one_thread()
@checked(seed=SEED, batch=COUNT)
def simulate(
    candidates: Candidates,
    measure: str,
    *,
    estimator: str = "hierarchical",
    rule: str | None = None,
    goal: Goal | str | None = None,
    at: Sequence[int | float] = (),
    seed: int = 0,
    batch: int = 1,
    until_end: bool = False,
    options: EstimatorOptions | Mapping[str, Any] | None = None,
) -> Simulation:
    """Judge candidates as a session asks, until its goal is reached and the last checkpoint is passed.

    ``at`` are checkpoints, in their order: numbers of judgments, or shares of the candidates below 1. ``batch``
    candidates are asked at a time. The usual ``rule`` is the one that serves the goal. ``until_end`` goes on to the
    last candidate.
    """
    retrieved = candidates.retrieved()
    known = replace(retrieved, relevance=np.nan_to_num(retrieved.relevance))
    session = Session(known.unjudged(), measure, estimator=estimator, rule=rule, goal=goal, seed=seed, options=options)
    truth = true_scores(known, session.scoring)
    wanted = [_mark(mark, len(known)) for mark in at]
    marks = sorted(set(wanted))
    checkpoints: dict[int, Checkpoint] = {}
    stop: Checkpoint | None = None
    reached = False
    while True:
        n = session.view.n_judged
        if n in marks:
            checkpoints[n] = checkpoint(session, truth)
        if stop is None and session.done:
            stop, reached = checkpoint(session, truth), n < len(known)
        if n == len(known) or (stop is not None and not until_end and (not marks or n >= marks[-1])):
            break
        upcoming = [mark - n for mark in marks if mark > n] or [len(known) - n]
        for query, document in session.next(min(batch, *upcoming) if batch > 1 else 1):
            place = known.find(query, document)
            session.judge(query, document, float(known.relevance[place]) * known.scale.maximum)
    if stop is None:  # pragma: no cover - the loop ends with everything judged, which is done
        raise AdjudgeError("The simulation ended before it stopped.")
    return Simulation(
        estimator, session.rule, seed, len(known), tuple(checkpoints[mark] for mark in wanted), stop, reached
    )


@checked(data=COLLECTION | CANDIDATES, goal=GOAL, seeds=COUNT, seed=SEED, workers=WORKERS)
def simulate_judging(
    data: Collection | Candidates,
    measure: str | None = None,
    *,
    estimators: str | Sequence[str] = "hierarchical",
    rules: str | Sequence[str] | None = None,
    goal: Goal | str | None = None,
    at: Sequence[int | float] = (0.05, 0.1, 0.2),
    seeds: int = 5,
    seed: Seed = 0,
    scale: Scale | str | None = None,
    opinions: Opinions | None = None,
    similarity: Similarity | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Simulations:
    """What low-cost judging would have cost on a judged collection, its judgments being the assessor.

    Each of the ``estimators`` is tried with each of the ``rules``, by default the one that serves the goal, ``seeds``
    times, from ``seed`` on; the result is a sequence with the sessions of each method. ``at`` are checkpoints: numbers
    of judgments, or shares of the candidates below 1. ``workers`` are processes, one per core by default. The other
    settings are those of :func:`adjudge.judging`.

    >>> import adjudge as aj
    >>> runs = aj.simulate(aj.demo(queries=10, depth=5), "CG@5", estimators="uniform", seeds=1, workers=1)
    >>> print(runs)
    What judging would have cost, CG@5
    estimator  rule         judgments  range   share  reached   goal   kept  accuracy
    ...
    >>> ((run,),) = runs
    >>> run.estimator, run.reached, len(run.checkpoints)
    ('uniform', True, 3)
    """
    seed = as_seed(seed)
    name, pool = prepare_candidates(data, measure, scale=scale, opinions=opinions, similarity=similarity)
    pool = pool.of_judged_queries()
    as_goal(goal).check_systems(pool.n_systems)
    asked = pool.retrieved().unjudged()
    for estimator in as_names(estimators):  # refuses and warns once, before the work starts
        start(estimator, asked, scoring(name, pool.scale))
    marks = sorted(set(at), key=lambda mark: mark if mark >= 1 else mark * len(asked))
    methods = list(product(as_names(estimators), as_names(rules or as_goal(goal).rule)))
    calls = [
        partial(simulate, pool, name, estimator=estimator, rule=rule, goal=goal, at=marks, seed=seed + i)
        for estimator, rule in methods
        for i in range(seeds)
    ]
    results: list[Simulation] = run_calls(calls, workers=workers, progress=progress)
    runs = tuple(tuple(results[i * seeds : (i + 1) * seeds]) for i in range(len(methods)))
    note = f"{counted(len(asked), 'candidate')}; means over {counted(seeds, 'order')} of ties. Goal: {as_goal(goal)}."
    return Simulations(SimulationRecord, runs, f"What judging would have cost, {name}", (note, *pool.notes))


def as_names(given: str | Sequence[str]) -> list[str]:
    """One name or several, each once."""
    return [given] if isinstance(given, str) else list(dict.fromkeys(given))


def _mark(mark: float, n_candidates: int) -> int:
    if not (0 <= mark < 1 or (mark >= 1 and float(mark).is_integer())):
        raise AdjudgeError(f"A checkpoint must be a whole number of judgments or a share below 1, got {mark:g}")
    return min(n_candidates, round(mark * n_candidates) if mark < 1 else int(mark))


def checkpoint(session: Session, truth: Floats) -> Checkpoint:
    """Compare a session with the truth; the order of a single system is right."""
    view = session.view
    expected, variance = view.differences
    true = (truth[:, None] - truth[None, :])[view.upper]
    mean, sd = expected[view.upper], np.sqrt(variance[view.upper])
    right = view.signs_right(truth, 0.0)[view.upper]
    accuracy = _mean(right)
    own = np.sqrt(np.diagonal(view.scores.covariance) * session.model.inflation)
    error = view.scores.mean - truth
    quantile = session.quantile(0.95)
    return Checkpoint(
        view.n_judged,
        _mean(view.sign[view.upper]),
        accuracy,
        2 * accuracy - 1,
        float(np.sqrt(_mean((mean - true) ** 2, nothing=0.0))),
        float(np.sqrt(_mean(error**2))),
        _mean(np.abs(mean - true) <= quantile * sd + ROUNDING),
        _mean(np.abs(error) <= quantile * own + ROUNDING),
        session.goal.value(view),
        session.goal.kept(view, truth),
        view.sign[view.upper],
        right,
    )


def _mean(values: Floats | Mask, *, nothing: float = 1.0) -> float:
    return float(values.mean()) if len(values) else nothing
