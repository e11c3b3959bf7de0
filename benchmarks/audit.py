"""Does an audit keep its promise, what does it find, and what does it cost? Sessions looked at again and again.

``python -m benchmarks.audit`` judges parts of collections as sessions ask, a tenth of the judgments being drawn for the
audit, and looks at it on the way. It is a false alarm if evidence ever reaches 20, and bounds fail if they leave out
the truth at any look. Then come models that are wrong on purpose, and what an audit adds to the judgments until the
goal. Collections ``from the model`` are drawn from a hierarchical model that learned a third of MIREX 2011: there the
model is right by construction.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from adjudge.parallel import job_rng, run_calls
from adjudge.relevance.audit import AuditTrail, audit_claims, audit_order, audited_scoring
from adjudge.relevance.base import ESTIMATORS, RelevanceModel, Scores, Scoring, scoring, start
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.hierarchical.model import HierarchicalModel
from adjudge.relevance.session import Session
from adjudge.relevance.simulation import true_scores
from benchmarks.calibration import Case, cases
from benchmarks.report import Table, machine

SHARE, MORE, LOOKS, MOST = 0.1, 0.3, 12, 0.3
WRONG_ON = ("MIREX 2011", "text-like, binary, 10 % relevant")
_SAME = 1e-5  # bounds are found by halving


def from_the_model(case: Case, rng: np.random.Generator) -> Candidates:
    """The candidates of a case with relevance drawn from a model that learned a third of it, from 0 to 1."""
    some = np.where(rng.random(len(case.known)) < 1 / 3, case.known.relevance, np.nan)
    fitted = start("hierarchical", replace(case.known, relevance=some), scoring(case.measure, case.known.scale))
    assert isinstance(fitted, HierarchicalModel)
    return replace(case.known, relevance=np.clip(fitted.draw(1, rng)[0], 0.0, 1.0))


def _wrong(name: str, change: Callable[[HierarchicalModel, Scores], Scores]) -> None:
    """Register a hierarchical model whose scores are wrong."""

    class Wrong(HierarchicalModel):
        def scores(self) -> Scores:
            return change(self, super().scores())

    def begin(candidates: Candidates, scoring: Scoring, **options: Any) -> RelevanceModel:
        model = start("hierarchical", candidates.unjudged(), scoring, **options)
        model.__class__ = Wrong
        return model

    ESTIMATORS.add(name, begin)


def _open_share(model: HierarchicalModel) -> float:
    return 1 - float(np.mean(model.judged))


def _flattered(model: HierarchicalModel, scores: Scores) -> Scores:
    """Every other system looks better by a tenth of the scale, as far as nothing is judged."""
    gain = np.where(np.arange(len(scores.mean)) % 2, 0.1, 0.0) * _open_share(model)
    return replace(scores, mean=scores.mean + gain)


def _turned(model: HierarchicalModel, scores: Scores) -> Scores:
    """The order of systems upside down."""
    return replace(scores, mean=2 * scores.mean.mean() - scores.mean)


def _shifted(model: HierarchicalModel, scores: Scores) -> Scores:
    """All scores higher by .15, as far as nothing is judged."""
    return replace(scores, mean=scores.mean + 0.15 * _open_share(model))


def _sure(model: HierarchicalModel, scores: Scores) -> Scores:
    """Intervals a quarter as wide as they should be."""
    return replace(scores, covariance=scores.covariance / 16)


WRONG = {"shifted": _shifted, "flattered": _flattered, "upside down": _turned, "too sure": _sure}
for _name, _change in WRONG.items():
    _wrong(_name, _change)


@dataclass(frozen=True)
class Trial:
    """One session with an audit, looked at ``LOOKS`` times."""

    evidence: float
    failed: float  # share of claims whose bounds left out the truth at some look
    failed_mean: bool  # those of the mean score did
    alarm: tuple[int, int] | None  # judged and heard when the alarm was seen
    judged: int
    heard: int
    detectable: float
    found: float  # an error of that size, too high and too low
    widths: tuple[float, float, float]  # half of the bounds at the end: mean, scores, differences


def draw_part(case: Case, rng: np.random.Generator) -> Candidates:
    """Some systems and queries of a case, everything judged."""
    known = from_the_model(case, rng) if case.name.startswith("from the model") else case.known
    queries = rng.choice(known.n_queries, case.queries, replace=False).tolist()
    systems = rng.choice(known.n_systems, case.systems, replace=False).tolist()
    part = known.part(queries=queries, systems=systems).retrieved()
    return replace(part, relevance=np.nan_to_num(part.relevance))


def begin(case: Case, part: Candidates, index: int, estimator: str, share: float) -> Session:
    """A session before anything is judged."""
    options = case.options if estimator == "hierarchical" else {}
    settings: dict[str, Any] = {"rule": "information", "seed": index, "audit": share, "options": options}
    return Session(part.unjudged(), case.measure, estimator=estimator, **settings)


def judge_next(session: Session, part: Candidates) -> None:
    """One judgment as the session asks."""
    ((query, document),) = session.next()
    session.judge(query, document, float(part.relevance[part.find(query, document)]) * part.scale.maximum)


def trial(case: Case, seed: int, index: int, estimator: str = "hierarchical", share: float = SHARE) -> Trial:
    """Draw a part, judge it, and look at the audit."""
    part = draw_part(case, job_rng(seed, index))
    session = begin(case, part, index, estimator, share)
    truth = true_scores(part, audited_scoring(session.scoring))
    score_of = dict(zip(part.systems, truth.tolist(), strict=True))
    most = int(MOST * len(part))
    looks = set(np.linspace(0, most, LOOKS + 1).round().astype(int).tolist()[1:])
    failed: set[tuple[str, str | None]] = set()
    alarm, evidence = None, 1.0
    for n in range(1, most + 1):
        judge_next(session, part)
        if n not in looks:
            continue
        audit = session.audit()
        evidence = max(evidence, audit.evidence)
        if alarm is None and audit.contradicted:
            alarm = n, audit.n_heard
        mean, _, *claims = audit.rows
        if not mean.audit_low - _SAME <= truth.mean() <= mean.audit_high + _SAME:
            failed.add((mean.system, None))
        for row in claims:
            true = score_of[row.system] - (0.0 if row.other is None else score_of[row.other])
            if not row.audit_low - _SAME <= true <= row.audit_high + _SAME:
                failed.add((row.system, row.other))
    half = np.array([(row.audit_high - row.audit_low) / 2 for row in claims])
    n_systems = part.n_systems
    widths = ((mean.audit_high - mean.audit_low) / 2, float(half[:n_systems].mean()), float(half[n_systems:].mean()))
    return Trial(
        evidence,
        len(failed - {(mean.system, None)}) / len(claims),
        (mean.system, None) in failed,
        alarm,
        most,
        audit.n_heard,
        audit.detectable or np.nan,
        _found(session, part, float(truth.mean()), audit.detectable or np.nan),
        widths,
    )


def _found(session: Session, part: Candidates, truth: float, error: float) -> float:
    """How often a mean expected score is found wrong that is too high, and too low, by so much."""
    if not session.scoring.linear:
        return np.nan
    trail = AuditTrail(session.candidates, session.scoring, audit_order(part, session.scoring, session.seed))
    trail.hear(np.where(session.model.judged, part.relevance, np.nan))
    view, wide = session.view, session.quantile(0.95) * float(np.sqrt(session.model.inflation))
    told = np.zeros((part.n_systems, part.n_systems), dtype=np.bool_)
    scores = [
        replace(view.scores, mean=view.scores.mean - view.scores.mean.mean() + truth + side * error) for side in (-1, 1)
    ]
    return float(
        np.mean([audit_claims(trail, s, wide, told=told, zone=0.01, confidence=0.95).contradicted for s in scores])
    )


def stop(case: Case, seed: int, index: int, share: float) -> float:
    """Share of the candidates that are judged when the goal is reached."""
    part = draw_part(case, job_rng(seed, index))
    session = begin(case, part, index, "hierarchical", share)
    while not session.done:
        judge_next(session, part)
    return session.view.n_judged / len(part)


def row_of(name: str, trials: Sequence[Trial]) -> tuple[str, ...]:
    """A line about a model that is right."""
    widths = np.mean([one.widths for one in trials], axis=0)
    return (
        name,
        f"{np.mean([one.judged for one in trials]):.0f}",
        f"{np.mean([one.heard for one in trials]):.0f}",
        f"{sum(one.alarm is not None for one in trials)} of {len(trials)}",
        f"{max(one.evidence for one in trials):.1f}",
        f"{np.mean([one.failed_mean for one in trials]):.3f}",
        f"{np.mean([one.failed for one in trials]):.4f}",
        " / ".join(f"{width:.2f}" for width in widths),
        f"{np.nanmean([one.detectable for one in trials]):.2f}",
        f"{np.nanmean([one.found for one in trials]):.2f}"
        if not np.isnan([one.found for one in trials]).all()
        else "–",
    )


def wrong_row(name: str, trials: Sequence[Trial]) -> tuple[str, ...]:
    """A line about a model that is wrong."""
    alarms = [one.alarm for one in trials if one.alarm is not None]
    middle = [f"{np.median([alarm[k] for alarm in alarms]):.0f}" if alarms else "–" for k in (0, 1)]
    strongest = f"{np.median([one.evidence for one in trials]):.3g}"
    return name, f"{len(alarms)} of {len(trials)}", *middle, strongest


def all_cases() -> Iterator[Case]:
    """Those of the benchmark of calibration without hints, and collections from the model."""
    for case in cases():
        if not any(word in case.name for word in ("judge", ", metadata")):
            yield case
        if case.name == "MIREX 2011":
            yield replace(case, name="from the model")


def main(argv: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=__doc__)
    parser.add_argument("--samples", type=int, default=30, help="parts to draw of each collection")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int)
    arguments = parser.parse_args(argv)
    rights: list[tuple[str, ...]] = []
    wrongs: list[tuple[str, ...]] = []
    stops: list[tuple[str, ...]] = []
    for case in all_cases():
        print(f"{case.name} …", file=sys.stderr, flush=True)
        calls = [partial(trial, case, arguments.seed, i) for i in range(arguments.samples)]
        rights.append(row_of(case.name, run_calls(calls, workers=arguments.workers)))
        print(rights[-1], file=sys.stderr, flush=True)
        if case.name not in WRONG_ON:
            continue
        few = max(2, arguments.samples // 3)
        for share, estimator in product((SHARE, MORE), ("uniform", *WRONG)):
            calls = [partial(trial, case, arguments.seed, i, estimator, share) for i in range(few)]
            found = run_calls(calls, workers=arguments.workers)
            wrongs.append((case.name, f"{share:g}", *wrong_row(estimator, found)))
            print(wrongs[-1], file=sys.stderr, flush=True)
        ends = []
        for share in (0.0, 0.05, 0.1, 0.2):
            stopped = [partial(stop, case, arguments.seed, i, share) for i in range(arguments.samples)]
            ends.append(f"{np.mean(run_calls(stopped, workers=arguments.workers)):.1%}")
        stops.append((case.name, *ends))
        print(stops[-1], file=sys.stderr, flush=True)
    print("\n".join(machine()))
    head: tuple[str, ...] = (
        "data", "judged", "audited", "false alarms", "strongest evidence", "bounds of the mean score fail",
        "other bounds fail", "half of bounds: mean / scores / differences", "detectable", "found",
    )  # fmt: skip
    notes = f"Means of {arguments.samples} random parts, {MOST:.0%} judged, {LOOKS} looks; audit {SHARE}."
    print(f"\n{Table('Models that are right', notes, head, rights).markdown()}")
    head = ("data", "audit", "model", "contradicted", "judged by then", "audited by then", "median evidence")
    print(f"\n{Table('Models that are wrong', 'Medians of those that were found.', head, wrongs).markdown()}")
    head = ("data", "no audit", "audit .05", "audit .1", "audit .2")
    print(f"\n{Table('Judged until the goal', 'Goal order, share of candidates.', head, stops).markdown()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
