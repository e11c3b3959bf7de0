"""Judging until the ranking is known to 95 %: thesis 8.3, on MIREX 2011."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from adjudge.errors import kept_warnings
from papers.claims import ANOTHER, SECOND, Claim, Panel, Plot, Reason, Series, between
from papers.data import Data
from papers.judged import BIN_EDGES, MEASURES, NOT_PRINTED, OF_BINS, collection, in_bins
from papers.studies import Effort, Found, study

if TYPE_CHECKING:
    from adjudge.relevance.candidates import Candidates
    from adjudge.relevance.simulation import Checkpoint, Simulation


# Table 8.3, MIREX 2011, Fine: judgments, their share, accuracy, tau, error of differences (zeros at the end, which the
# thesis drops, written out)
_TABLE_8_3 = {
    "CG_l": ("123", "1.9 %", ".935", ".869", ".030"),
    "DCG_l": ("181", "2.9 %", ".889", ".778", ".029"),
    "nDCG_l": ("516", "8.2 %", ".948", ".895", ".021"),
    "RBP_l": ("560", "8.9 %", ".961", ".922", ".022"),
}
# Bounds: least and most over 15 random orders of ties, computed a second time; for judgments also what another
# implementation got. Judgments, accuracy, tau, error of differences, share of sure pairs, accuracy of those
_OVER_ORDERS = {
    "CG_l": ((160, 284), (0.8888, 0.9216), (0.7777, 0.8432), (0.0313, 0.0350), (0.7385, 0.7648), (0.9999, 1.0000)),
    "DCG_l": ((180, 180), (0.8888, 0.8889), (0.7777, 0.7778), (0.0351, 0.0352), (0.7450, 0.7452), (0.9999, 1.0000)),
    "nDCG_l": ((634, 664), (0.9411, 0.9543), (0.8823, 0.9086), (0.0265, 0.0279), (0.7908, 0.7975), (0.9999, 1.0000)),
    "RBP_l": ((604, 666), (0.9607, 0.9739), (0.9215, 0.9478), (0.0270, 0.0278), (0.7973, 0.7975), (0.9999, 1.0000)),
}
_COLUMNS = ("judgments", "share of all judgments", "accuracy", "Kendall tau", "RMSE of differences")
_INDEPENDENT = {"CG_l": "160 to 260", "DCG_l": "180", "nDCG_l": "634 to 660", "RBP_l": "647 to 666"}
# Table 8.4, Fine, four editions: share of pairs with a confidence of .99 or more, accuracy there, accuracy of all
_TABLE_8_4 = {
    "CG_l": ("71.6 %", ".996", ".926"),
    "DCG_l": ("73.0 %", "1.000", ".915"),
    "nDCG_l": ("75.6 %", "1.000", ".929"),
    "RBP_l": ("76.1 %", "1.000", ".946"),
}
_POOLED = Reason(
    "data",
    "153 pairs of systems of MIREX 2011 here (median over random orders of ties), 352 pairs of four editions there",
)
_FROM_ORDERS = f"{SECOND}; the range over 15 random orders of ties, and for judgments that of {ANOTHER}"
_EVERY = 100
_COVERS = ("T Table 8.3", "T Table 8.4", "T Figure 8.1", "T Figure 8.2")


@dataclass(frozen=True)
class _Job:
    """One session: candidates, measure, seed of its ties, and whether it goes on to the end."""

    judged: Candidates
    measure: str
    seed: int
    to_the_end: bool


@study(
    "judging",
    title="Judging until the ranking is known to 95 %",
    covers=_COVERS,
    needs=("mirex2011",),
    partly=dict.fromkeys(_COVERS, "MIREX 2011 on Fine alone: other judgments are not public"),
    weight=16,
)
def judging(data: Data, effort: Effort) -> Found:
    """Sessions with M_out, then M_jud made again every 20 judgments, over random orders of documents that tie."""
    return judged_until(collection(data), effort, orders=effort.trials(15, 5))


def judged_until(judged: Candidates, effort: Effort, *, orders: int) -> Found:
    """The study with a given number of orders of ties."""
    runs = _simulated(judged, effort, orders)
    stops = {label: [one.stop for one in some] for label, some in runs.items()}
    whole = {label: some[0] for label, some in runs.items()}
    claims = (*_table_8_3(stops, next(iter(whole.values())).n_candidates), *_table_8_4(stops))
    note = (
        "M_jud claims too much: it was fitted with each document's own judgment among its features. Its mean "
        "confidence at the stop is .95, while "
        + ", ".join(f"{_median(some, 'accuracy'):.3f} ({label})" for label, some in stops.items())
        + " of the pairs are in the right order (medians)."
    )
    plots = (*_curves(whole), _calibration({label: some[0] for label, some in stops.items()}))
    return Found(claims, plots, (note,))


def _simulated(judged: Candidates, effort: Effort, n_seeds: int) -> dict[str, list[Simulation]]:
    """Sessions of every measure, a seed each; the first goes on to the last judgment."""
    from adjudge.parallel import run_calls

    seeds = [effort.seed + i for i in range(n_seeds)]
    jobs = {
        f"{label} {seed}": _Job(judged, measure, seed, seed == effort.seed)
        for seed in seeds
        for label, measure in MEASURES.items()
    }
    tasks = [partial(_simulate, job) for job in jobs.values()]
    found = dict(zip(jobs, run_calls(tasks, workers=effort.workers, progress=effort.progress), strict=True))
    return {label: [found[f"{label} {seed}"] for seed in seeds] for label in MEASURES}


def _simulate(job: _Job) -> Simulation:
    from adjudge.relevance.choosing import Goal
    from adjudge.relevance.simulation import simulate

    at = range(0, len(job.judged), _EVERY) if job.to_the_end else ()
    with kept_warnings():
        return simulate(
            job.judged,
            job.measure,
            estimator="judgments",
            rule="pairs",
            goal=Goal(zone=0, least=0),
            at=at,
            seed=job.seed,
            until_end=job.to_the_end,
        )


def _median(stops: Sequence[Checkpoint], name: str) -> float:
    return float(np.median([getattr(stop, name) for stop in stops]))


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _table_8_3(stops: dict[str, list[Checkpoint]], n_candidates: int) -> Iterator[Claim]:
    for label, some in stops.items():
        published = _TABLE_8_3[label]
        counts = [stop.n_judged for stop in some]
        ties = Reason(
            "model",
            f"median of {len(some)} random orders of documents that weigh the same, which alone makes {_range(counts)} "
            f"judgments (another implementation: {_INDEPENDENT[label]}); {NOT_PRINTED}",
        )
        n_judged = _median(some, "n_judged")
        others = (_median(some, name) for name in ("accuracy", "tau", "difference_error"))
        values = (n_judged, n_judged / n_candidates, *others)
        judgments, *rest = (between(low, high, _FROM_ORDERS) for low, high in _OVER_ORDERS[label][:4])
        share = between(judgments.low / n_candidates, judgments.high / n_candidates, _FROM_ORDERS)
        bounds = (judgments, share, *rest)
        for what, number, ours, bound in zip(_COLUMNS, published, values, bounds, strict=True):
            yield Claim("T Table 8.3", f"{label}: {what}", number, ours, bound, ties)


def _table_8_4(stops: dict[str, list[Checkpoint]]) -> Iterator[Claim]:
    for label, some in stops.items():
        sure = [stop.claimed >= BIN_EDGES[-2] for stop in some]
        n_sure = float(np.median([one.mean() for one in sure]))
        right = float(np.median([stop.right[one].mean() for stop, one in zip(some, sure, strict=True)]))
        values = n_sure, right, _median(some, "accuracy")
        _, of_all, _, _, *of_sure = (between(low, high, _FROM_ORDERS) for low, high in _OVER_ORDERS[label])
        for what, number, ours, bound in zip(OF_BINS, _TABLE_8_4[label], values, (*of_sure, of_all), strict=True):
            yield Claim("T Table 8.4", f"{label}: {what}", number, ours, bound, _POOLED)


def _curves(whole: dict[str, Simulation]) -> Iterator[Plot]:
    for name, source, caption, alt in (
        ("confidence", "T Figure 8.1", "Confidence in", "It starts above .92, passes .95 by a sixth, and rises to 1."),
        ("accuracy", "T Figure 8.2", "Accuracy of", "Accuracy is about .9 at the start and 1 at the end."),
    ):
        series = tuple(
            Series(
                label,
                tuple(100 * check.n_judged / run.n_candidates for check in run.checkpoints),
                tuple(float(getattr(check, name)) for check in run.checkpoints),
            )
            for label, run in whole.items()
        )
        yield Plot(
            f"judging-{name}",
            source,
            f"{caption} the ranking of the systems of MIREX 2011 as more is judged; Fine, one order of ties.",
            alt,
            "judgments, % of all",
            name,
            (Panel("MIREX 2011, Fine", series, levels=(0.95,)),),
        )


def _calibration(stops: dict[str, Checkpoint]) -> Plot:
    return Plot(
        "judging-calibration",
        "T Table 8.4",
        "Accuracy of the signs of differences by how sure the model is of them, when mean confidence reaches .95: "
        "pairs of MIREX 2011, one order of ties.",
        "Below .95 fewer pairs are right than the model claims.",
        "confidence",
        "accuracy",
        tuple(Panel(label, (in_bins(stop),), diagonal=True) for label, stop in stops.items()),
    )
