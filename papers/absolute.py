"""Judging until scores are known to ± .05: thesis 8.4, on MIREX 2011."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from adjudge.errors import AdjudgeError, kept_warnings
from papers.claims import SECOND, Claim, Numbers, Panel, Plot, Reason, Series, as_printed, between, independent
from papers.data import Data
from papers.judged import MEASURES, NOT_PRINTED, collection, spearman, steps
from papers.studies import Effort, Found, study

if TYPE_CHECKING:
    from adjudge.arrays import Floats
    from adjudge.relevance.candidates import Candidates
    from adjudge.relevance.session import Session


# Tables 8.5 and 8.6, MIREX 2011, Fine: judgments, mean absolute error, Spearman
_TABLE_8_5 = {
    "CG_l": ("0", ".024", ".967"),
    "DCG_l": ("0", ".025", ".965"),
    "nDCG_l": ("0", ".184", ".944"),
    "RBP_l": ("0", ".184", ".967"),
}
_TABLE_8_6 = {
    "CG_l": ("539", ".017", ".971"),
    "DCG_l": ("521", ".019", ".967"),
    "nDCG_l": ("1,275", ".046", ".971"),
    "RBP_l": ("1,283", ".046", ".975"),
}
# Bounds, computed a second time, error and Spearman: Table 8.5; Table 8.6, least and most over nine orders of ties
_SECOND_8_5 = {
    "CG_l": (".0269", ".9463"),
    "DCG_l": (".0280", ".9319"),
    "nDCG_l": (".1928", ".9278"),
    "RBP_l": (".1926", ".9257"),
}
_SECOND_8_6 = {
    "CG_l": ((0.0219, 0.0223), (0.9607, 0.9691)),
    "DCG_l": ((0.0227, 0.0235), (0.9545, 0.9691)),
    "nDCG_l": ((0.0508, 0.0542), (0.9731, 0.9773)),
    "RBP_l": ((0.0503, 0.0540), (0.9752, 0.9815)),
}
_FROM_ORDERS = f"{SECOND}; the range over nine random orders of ties, and half as much again at either end"
_COLUMNS = ("judgments", "mean absolute error", "Spearman rho")
_GOAL = 0.05
_LEVELS = tuple(round(0.01 * level, 2) for level in range(1, 11))
_EVERY = 100
_THRESHOLDS = Reason(
    "model",
    "where to stop was read off Figure 8.5, whose numbers are not printed for Fine: after as many judgments as the "
    "thesis made, errors and correlations here are medians over random orders of ties; " + NOT_PRINTED.text,
)
_PARTLY = "MIREX 2011 on Fine alone: other judgments are not public"


@dataclass(frozen=True)
class _Job:
    """A session: candidates, measure, seed of its ties, judgments after which to look, whether to go on to the end."""

    judged: Candidates
    measure: str
    seed: int
    look: int
    to_the_end: bool


@dataclass(frozen=True)
class _Moment:
    """Estimated scores after some judgments; ``spread`` is the root of their mean variance."""

    n_judged: int
    error: float
    rho: float
    spread: float
    estimates: Numbers


@dataclass(frozen=True)
class _Run:
    """A session: where it first reached the goal, a moment to look at, others on the way, and the truth."""

    stop: _Moment
    look: _Moment
    curve: tuple[_Moment, ...]
    truth: Numbers


@study(
    "absolute",
    title="Judging until scores are known to ± .05",
    covers=("T Table 8.5", "T Table 8.6", "T Figure 8.3", "T Figure 8.4", "T Figure 8.5"),
    needs=("mirex2011",),
    partly={
        "T Table 8.5": _PARTLY,
        "T Table 8.6": f"{_PARTLY}; numbers of judgments cannot be compared: where to stop is only drawn (Figure 8.5)",
        "T Figure 8.3": _PARTLY,
        "T Figure 8.4": _PARTLY,
        "T Figure 8.5": f"{_PARTLY}, and it is a mean over editions there",
    },
    weight=11,
)
def absolute(data: Data, effort: Effort) -> Found:
    """Sessions that judge what makes scores surer, to the end, over random orders of documents that tie."""
    return judged_until(collection(data), effort, orders=effort.trials(5, 1))


def judged_until(judged: Candidates, effort: Effort, *, orders: int) -> Found:
    """The study with a given number of orders of ties."""
    runs = _sessions(judged, effort, orders)
    first = {label: some[0] for label, some in runs.items()}
    claims = (*_target(), *_table_8_5(first), *_table_8_6(runs))
    plots = (_errors(first), _scatter(first), _corrections(first))
    return Found(claims, plots, (_sizes(runs),))


def _sessions(judged: Candidates, effort: Effort, n_seeds: int) -> dict[str, list[_Run]]:
    from adjudge.parallel import run_calls

    seeds = [effort.seed + i for i in range(n_seeds)]
    looks = {label: min(int(_TABLE_8_6[label][0].replace(",", "")), len(judged)) for label in MEASURES}
    jobs = {
        f"{label} {seed}": _Job(judged, measure, seed, looks[label], seed == effort.seed)
        for seed in seeds
        for label, measure in MEASURES.items()
    }
    tasks = [partial(_judge, job) for job in jobs.values()]
    found = dict(zip(jobs, run_calls(tasks, workers=effort.workers, progress=effort.progress), strict=True))
    return {label: [found[f"{label} {seed}"] for seed in seeds] for label in MEASURES}


def _judge(job: _Job) -> _Run:
    from adjudge.relevance.choosing import Goal
    from adjudge.relevance.session import Session
    from adjudge.relevance.simulation import true_scores

    goal = Goal(kind="error", level=_GOAL, zone=0, least=0)
    with kept_warnings():
        session = Session(
            job.judged.unjudged(), job.measure, estimator="judgments", rule="spread", goal=goal, seed=job.seed
        )
        truth = true_scores(job.judged, session.scoring)
        stop, seen = None, dict[int, _Moment]()
        for n, after in enumerate(steps(session, job.judged)):
            if stop is None and after.done:
                stop = _moment(after, truth)
            if n % _EVERY == 0 or n in (job.look, len(job.judged)):
                seen[n] = _moment(after, truth)
            if not job.to_the_end and stop is not None and n >= job.look:
                break
    if stop is None:
        raise AdjudgeError(f"{job.measure}: the session ended before it stopped")
    return _Run(stop, seen[job.look], tuple(seen.values()), tuple(truth.tolist()))


def _moment(session: Session, truth: Floats) -> _Moment:
    scores = session.view.scores
    error = float(np.abs(scores.mean - truth).mean())
    spread = float(np.sqrt(np.diagonal(scores.covariance).mean()))
    return _Moment(session.view.n_judged, error, spearman(scores.mean, truth), spread, tuple(scores.mean.tolist()))


def _target() -> Iterator[Claim]:
    from scipy.special import stdtrit

    what = "root of the mean variance that makes ± .05 with 95 % confidence"
    yield Claim.printed("T 8.4", what, ".0252", _GOAL / float(stdtrit(99, 0.975)))


def _table_8_5(first: dict[str, _Run]) -> Iterator[Claim]:
    """Nothing is judged, so that nothing depends on ties."""
    for label, run in first.items():
        published, stop = _TABLE_8_5[label], run.stop
        bounds = (as_printed("0"), *map(independent, _SECOND_8_5[label]))
        values = (stop.n_judged, stop.error, stop.rho)
        for what, number, ours, bound in zip(_COLUMNS, published, values, bounds, strict=True):
            yield Claim("T Table 8.5", f"{label}: {what}", number, ours, bound, NOT_PRINTED)


def _table_8_6(runs: dict[str, list[_Run]]) -> Iterator[Claim]:
    for label, some in runs.items():
        count, *published = _TABLE_8_6[label]
        looks = [run.look for run in some]
        columns = zip(_COLUMNS[1:], published, ("error", "rho"), _SECOND_8_6[label], strict=True)
        for what, number, name, (low, high) in columns:
            ours, more = _median([getattr(look, name) for look in looks]), (high - low) / 2
            named, bound = f"{label}: {what} after {count} judgments", between(low - more, high + more, _FROM_ORDERS)
            yield Claim("T Table 8.6", named, number, ours, bound, _THRESHOLDS)


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))


def _sizes(runs: dict[str, list[_Run]]) -> str:
    said = [f"{label} {_median([run.look.spread for run in some]):.4f}" for label, some in runs.items()]
    return (
        "After as many judgments as Table 8.6 has, the root of the mean variance is "
        + ", ".join(said)
        + "; the thesis "
        "says .011 of the first plot of its Figure 8.5."
    )


def _errors(first: dict[str, _Run]) -> Plot:
    series = tuple(
        Series(label, _share(run), tuple(moment.error for moment in run.curve)) for label, run in first.items()
    )
    return Plot(
        "absolute-errors",
        "T Figure 8.3",
        "Mean absolute error of estimated scores of the systems of MIREX 2011 as more is judged; one order of ties.",
        "Errors of CG and DCG start below .03; those of nDCG and RBP start at .19 and pass .05 at a fifth.",
        "judgments, % of all",
        "mean absolute error",
        (Panel("MIREX 2011, Fine", series, levels=(_GOAL,)),),
    )


def _share(run: _Run) -> Numbers:
    last = run.curve[-1].n_judged
    return tuple(100 * moment.n_judged / max(last, 1) for moment in run.curve)


def _scatter(first: dict[str, _Run]) -> Plot:
    panels = []
    for title, part in (("uncorrected", "stop"), ("after the judgments of Table 8.6", "look")):
        series = []
        for label, run in first.items():
            moment = run.stop if part == "stop" else run.look
            series.append(Series(label, run.truth, moment.estimates, joined=False))
        panels.append(Panel(title, tuple(series), diagonal=True))
    return Plot(
        "absolute-scores",
        "T Figure 8.4",
        "Estimated and true scores of the systems of MIREX 2011 where judging stops.",
        "Without correction nDCG and RBP lie far above the diagonal; with more judgments all are near it.",
        "true score",
        "estimated score",
        tuple(panels),
    )


def _corrections(first: dict[str, _Run]) -> Plot:
    """What the variance is when errors first are at a level; levels that errors never exceed have that of the start."""
    panels = []
    for label, run in first.items():
        spreads = [next(one.spread for one in run.curve if one.error <= level) for level in _LEVELS]
        panels.append(Panel(label, (Series("MIREX 2011, Fine", _LEVELS, tuple(spreads)),)))
    return Plot(
        "absolute-corrections",
        "T Figure 8.5",
        "Root of the mean variance of estimates when their mean absolute error has come down to a level.",
        "For nDCG and RBP an error of .05 means a root of about .011, less than half of what the model would have.",
        "mean absolute error",
        "root of the mean variance",
        tuple(panels),
    )
