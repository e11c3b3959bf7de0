"""What rehearsals say about a campaign to come: judgments, hours, and the chance of a right ranking.

Numbers are medians over the repetitions, with the range that holds nine in ten of them; chances are shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from adjudge.reporting.document import Paragraph, Section, TableBlock
from adjudge.tables import Heading
from adjudge.text import counted
from adjudge.web.rehearsal import Trial


@dataclass(frozen=True)
class Range:
    """A median, and where nine in ten repetitions lie."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Range:
        """Of these values."""
        low, median, high = np.quantile(np.asarray(values, dtype=np.float64), [0.05, 0.5, 0.95]).tolist()
        return cls(median, low, high)

    def shown(self, digits: int = 0) -> str:
        """As text: the median and the range."""
        return f"{self.median:,.{digits}f}  ({self.low:,.{digits}f} to {self.high:,.{digits}f})"


@dataclass(frozen=True)
class Forecast:
    """What to expect of a campaign.

    ``reached`` is the share of repetitions that reached the goal; ``best`` the chance that the best system is named;
    ``wrong`` the share of claims "a is better than b" that were not so. Latencies are in seconds, here and now.
    """

    repeats: int
    assessors: int
    candidates: int
    reached: float
    judgments: Range
    answers: Range
    person_hours: Range
    hours: Range
    accuracy: Range
    tau: Range
    best: float
    claims: int
    wrong: float | None
    left: Range
    lost: int
    doubled: int
    invented: int
    latency_p50: float | None
    latency_p95: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def forecast(trials: Sequence[Trial], *, assessors: int) -> Forecast:
    """Sum repetitions up."""
    claims, wrong = sum(t.claims for t in trials), sum(t.wrong for t in trials)
    latencies = np.array([seconds for trial in trials for seconds in trial.latencies])
    p50, p95 = np.quantile(latencies, [0.5, 0.95]).tolist() if latencies.size else (None, None)
    return Forecast(
        repeats=len(trials),
        assessors=assessors,
        candidates=trials[0].candidates,
        reached=float(np.mean([t.reached for t in trials])),
        judgments=Range.of([t.judgments for t in trials]),
        answers=Range.of([t.answers for t in trials]),
        person_hours=Range.of([t.person_hours for t in trials]),
        hours=Range.of([t.hours for t in trials]),
        accuracy=Range.of([t.accuracy for t in trials]),
        tau=Range.of([t.tau for t in trials]),
        best=float(np.mean([t.best for t in trials])),
        claims=claims,
        wrong=wrong / claims if claims else None,
        left=Range.of([t.left for t in trials]),
        lost=sum(len(t.account.lost) + len(t.account.changed) for t in trials),
        doubled=sum(len(t.account.doubled) for t in trials),
        invented=sum(len(t.account.invented) for t in trials),
        latency_p50=p50,
        latency_p95=p95,
    )


def forecast_section(found: Forecast, *, about: str) -> Section:
    """The forecast as a table for people."""
    people = counted(found.assessors, "assessor")
    wrong = "no claims" if found.wrong is None else f"{100 * found.wrong:.1f} % of {found.claims:,}"
    rows = [
        ("goal reached", f"{100 * found.reached:.0f} % of {counted(found.repeats, 'repetition')}"),
        ("judgments to the goal", f"{found.judgments.shown()} of {found.candidates:,} candidates"),
        ("answers in all", found.answers.shown()),
        ("person-hours", found.person_hours.shown(1)),
        (f"hours with {people}", found.hours.shown(1)),
        ("pairs of systems in the true order", f"{_percent(found.accuracy)}"),
        ("Kendall's tau with the truth", found.tau.shown(2)),
        ("best system named", f"{100 * found.best:.0f} %"),
        ("claims 'is better' that were wrong", wrong),
        ("answers lost, doubled, invented", f"{found.lost}, {found.doubled}, {found.invented}"),
    ]
    if found.latency_p50 is not None and found.latency_p95 is not None:
        rows.append(("answer and next question, p50 and p95", _milliseconds(found.latency_p50, found.latency_p95)))
    table = TableBlock(
        "forecast",
        "Median over the repetitions, and the range of nine in ten of them.",
        (Heading("", "left"), Heading("forecast", "left")),
        tuple(rows),
        [found.to_dict()],
    )
    return Section("forecast", "Forecast", (Paragraph(about), table))


def _percent(found: Range) -> str:
    return f"{100 * found.median:.0f} %  ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _milliseconds(p50: float, p95: float) -> str:
    return f"{1000 * p50:.0f} ms, {1000 * p95:.0f} ms"


def trial_records(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """One row a repetition, for CSV."""
    rows = []
    for trial in trials:
        row = {name: value for name, value in vars(trial).items() if name not in ("account", "latencies")}
        counts = {"lost": len(trial.account.lost) + len(trial.account.changed)}
        counts |= {"doubled": len(trial.account.doubled), "invented": len(trial.account.invented)}
        rows.append(row | counts)
    return rows
