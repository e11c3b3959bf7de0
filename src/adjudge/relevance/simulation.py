"""What judging would have cost: sessions on judged collections, with the judgments as the assessor.

Candidates that nobody judged are taken as not relevant, as effectiveness takes them. Documents that were judged but
that no system retrieved are no part of a simulation: nobody would have been asked for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.checks import COUNT, SEED, WORKERS, checked
from adjudge.errors import AdjudgeError
from adjudge.model.collection import Collection, Similarity
from adjudge.model.scales import Scale
from adjudge.parallel import Progress, run_calls
from adjudge.relevance.base import Scoring, scoring, start
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.session import Opinions, Session, prepare_candidates
from adjudge.seeds import Seed, as_seed


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A session held against the truth after some judgments.

    ``accuracy`` is the share of pairs of systems in the right order; ``tau`` their Kendall correlation; errors are root
    mean squares of differences and of scores; ``covered`` and ``covered_scores`` say how often 95 % intervals of
    differences and of scores hold the truth. ``claimed`` and ``right`` are confidence and correctness of every pair.
    """

    n_judged: int
    confidence: float
    accuracy: float
    tau: float
    difference_error: float
    score_error: float
    covered: float
    covered_scores: float
    claimed: Floats
    right: Floats


@dataclass(frozen=True, eq=False)
class Simulation:
    """One simulated session: what it was, its checkpoints, where it stopped, and whether that was at its goal.

    With everything judged any goal is met; that does not count as reached.
    """

    estimator: str
    rule: str
    seed: int
    n_candidates: int
    checkpoints: tuple[Checkpoint, ...]
    stop: Checkpoint
    reached: bool


def true_scores(candidates: Candidates, scoring: Scoring) -> Floats:
    """Mean score of every system with the relevance there is; unjudged candidates are not relevant."""
    relevance = np.nan_to_num(candidates.relevance)
    entry_query = candidates.query[candidates.entry_pair]
    gains = scoring.entries(candidates) * relevance[candidates.entry_pair]
    sums = np.zeros((candidates.n_queries, candidates.n_systems))
    np.add.at(sums, (entry_query, candidates.entry_system), gains)
    if scoring.divisor is not None:
        return np.asarray(sums.mean(axis=0) / scoring.divisor)
    order = np.lexsort((-relevance, candidates.query))
    rank = np.arange(len(order)) - candidates.offsets[candidates.query]
    top = rank < len(scoring.weights)
    best = np.bincount(
        candidates.query[top],
        weights=scoring.weights[rank[top]] * relevance[order][top],
        minlength=candidates.n_queries,
    )
    ratio = np.divide(sums, best[:, None], out=np.zeros_like(sums), where=best[:, None] > 0)
    return np.asarray(ratio.mean(axis=0))


@checked(seed=SEED, batch=COUNT)
def simulate(
    candidates: Candidates,
    measure: str,
    *,
    estimator: str = "hierarchical",
    rule: str = "information",
    goal: Goal | None = None,
    at: Sequence[int | float] = (),
    seed: int = 0,
    batch: int = 1,
    until_end: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Simulation:
    """Judge candidates as a session asks, until its goal is reached and the last checkpoint is passed.

    ``at`` are checkpoints, in their order: numbers of judgments, or shares of the candidates below 1. ``batch``
    candidates are asked at a time. ``until_end`` goes on to the last candidate.
    """
    asked = candidates.retrieved()
    known = replace(asked, relevance=np.nan_to_num(asked.relevance))
    session = Session(known.unjudged(), measure, estimator=estimator, rule=rule, goal=goal, seed=seed, options=options)
    truth = true_scores(known, session.scoring)
    wanted = [_mark(mark, len(known)) for mark in at]
    marks = sorted(set(wanted))
    found: dict[int, Checkpoint] = {}
    stop: Checkpoint | None = None
    reached = False
    while True:
        n = session.view.n_judged
        if n in marks:
            found[n] = checkpoint(session, truth)
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
    return Simulation(estimator, rule, seed, len(known), tuple(found[mark] for mark in wanted), stop, reached)


@checked(seeds=COUNT, seed=SEED, workers=WORKERS)
def simulate_judging(
    data: Collection | Candidates,
    measure: str | None = None,
    *,
    estimators: str | Sequence[str] = "hierarchical",
    rules: str | Sequence[str] = "information",
    goal: Goal | None = None,
    at: Sequence[int | float] = (0.05, 0.1, 0.2),
    seeds: int = 5,
    seed: Seed = 0,
    scale: Scale | str | None = None,
    opinions: Opinions | None = None,
    similarity: Similarity | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[list[Simulation]]:
    """What low-cost judging would have cost on a judged collection, its judgments being the assessor.

    Every one of the ``estimators`` is tried with every one of the ``rules``, ``seeds`` times, from ``seed`` on; the
    answer has one list per method. ``at`` are checkpoints: numbers of judgments, or shares of the candidates below 1.
    ``workers`` are processes, one per core by default. The other settings are those of :func:`adjudge.judging`.

    >>> import adjudge as aj
    >>> ((run,),) = aj.simulate(aj.demo(queries=10, depth=5), "CG@5", estimators="uniform", seeds=1, workers=1)
    >>> run.estimator, run.reached, len(run.checkpoints)
    ('uniform', True, 3)
    """
    seed = as_seed(seed)
    name, pool = prepare_candidates(data, measure, scale=scale, opinions=opinions, similarity=similarity)
    asked = pool.retrieved().unjudged()
    for estimator in as_names(estimators):  # says once, and soon, what it refuses or warns of
        start(estimator, asked, scoring(name, pool.scale))
    marks = sorted(set(at), key=lambda mark: mark if mark >= 1 else mark * len(asked))
    methods = [(estimator, rule) for estimator in as_names(estimators) for rule in as_names(rules)]
    calls = [
        partial(simulate, pool, name, estimator=estimator, rule=rule, goal=goal, at=marks, seed=seed + i)
        for estimator, rule in methods
        for i in range(seeds)
    ]
    results: list[Simulation] = run_calls(calls, workers=workers, progress=progress)
    return [results[i * seeds : (i + 1) * seeds] for i in range(len(methods))]


def as_names(given: str | Sequence[str]) -> list[str]:
    """One name or several, each once."""
    return [given] if isinstance(given, str) else list(dict.fromkeys(given))


def _mark(mark: float, n_candidates: int) -> int:
    if not (0 <= mark < 1 or (mark >= 1 and float(mark).is_integer())):
        raise AdjudgeError(f"A checkpoint must be a whole number of judgments or a share below 1, got {mark:g}")
    return min(n_candidates, round(mark * n_candidates) if mark < 1 else int(mark))


def checkpoint(session: Session, truth: Floats) -> Checkpoint:
    """Hold a session against the truth; with a single system there is no order to be wrong about."""
    view = session.view
    expected, variance = view.differences
    upper = view.upper
    true = (truth[:, None] - truth[None, :])[upper]
    mean, sd = expected[upper], np.sqrt(variance[upper])
    right = _right(mean, true)
    quantile = session.quantile(0.95)
    own = np.sqrt(np.diagonal(view.scores.covariance) * session.model.inflation)
    error = view.scores.mean - truth
    return Checkpoint(
        view.n_judged,
        _mean(view.sign[upper]),
        _mean(right),
        2 * _mean(right) - 1,
        float(np.sqrt(_mean((mean - true) ** 2, nothing=0.0))),
        float(np.sqrt(_mean(error**2))),
        _mean(np.abs(mean - true) <= quantile * sd + 1e-12),
        _mean(np.abs(error) <= quantile * own + 1e-12),
        view.sign[upper],
        right,
    )


def _mean(values: Floats | Mask, *, nothing: float = 1.0) -> float:
    return float(values.mean()) if len(values) else nothing


def _right(mean: Floats, true: Floats) -> Floats:
    """1 for the right order, 0 for the wrong one, 1/2 where no order is claimed; any order of true ties is right."""
    tie: Mask = np.abs(true) <= 1e-12
    return np.where(tie, 1.0, np.where(np.abs(mean) <= 1e-12, 0.5, (np.sign(mean) == np.sign(true)).astype(np.float64)))
