"""Low-cost evaluation as sections: the estimated ranking, simulated effort, and whether confidence can be trusted.

Figures of low-cost evaluation: confidence and accuracy against judgments, claims against truth. They only draw.

A report's section about what is not judged: the ranking with the relevance of those documents estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.checks import CONFIDENCE, checked
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.relevance import judging
from adjudge.relevance.base import mean_of_pairs
from adjudge.relevance.calibration import Calibration
from adjudge.relevance.session import RankedSystem, Session, SystemPair
from adjudge.relevance.simulation import Simulation
from adjudge.reporting import figures
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Section, TableBlock, section
from adjudge.reporting.figures import PALETTE, canvas
from adjudge.tables import Heading
from adjudge.text import listed, percent
from adjudge.users.report import Evidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_COLOURS = ("accent", "warm", "ink", "soft", "muted")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class History:
    """A number after so many judgments, one line a name, and the level it should reach."""

    label: str
    names: tuple[str, ...]
    judgments: tuple[Floats, ...]
    values: tuple[Floats, ...]
    level: float | None


def draw_history(data: History) -> Figure:
    """Lines against judgments."""
    figure, (axes,) = canvas(3.0)
    for i, (name, x, y) in enumerate(zip(data.names, data.judgments, data.values, strict=True)):
        axes.plot(x, y, color=_colour(i), linewidth=1.5, marker=_MARKS[i % len(_MARKS)], markersize=3.5, label=name)
    if data.level is not None:
        axes.axhline(data.level, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    axes.set_xlim(left=0)
    axes.set_xlabel("judgments")
    axes.set_ylabel(data.label)
    axes.grid()
    axes.set_axisbelow(True)
    if len(data.names) > 1:
        axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


@dataclass(frozen=True)
class Claims:
    """Mean confidence and share of right signs of binned pairs, with the number of pairs; one line a method."""

    names: tuple[str, ...]
    claimed: tuple[Floats, ...]
    right: tuple[Floats, ...]
    pairs: tuple[Floats, ...]
    shares: Floats
    accuracy: tuple[Floats, ...]


def draw_claims(data: Claims) -> Figure:
    """Left: right signs against claimed confidence, on the diagonal when calibrated. Right: accuracy by effort."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7.2, 3.4))
    left.plot([0.5, 1], [0.5, 1], color=PALETTE["line"], linewidth=1)
    for i, name in enumerate(data.names):
        size = 8 + 40 * data.pairs[i] / max(1.0, float(data.pairs[i].max()))
        left.plot(data.claimed[i], data.right[i], color=_colour(i), linewidth=1.1)
        left.scatter(data.claimed[i], data.right[i], s=size, color=_colour(i), linewidth=0, alpha=0.75, label=name)
        right.plot(
            100 * data.shares, data.accuracy[i], color=_colour(i), linewidth=1.4, marker=_MARKS[i % len(_MARKS)],
            markersize=4, label=name,
        )  # fmt: skip
    _axes(left, "confidence claimed", "right signs")
    _axes(right, "% of the candidates judged", "right signs")
    right.legend(frameon=False, fontsize=7.5, loc="lower right")
    return figure


def _axes(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid()
    axes.set_axisbelow(True)


def _colour(i: int) -> str:
    return PALETTE[_COLOURS[i % len(_COLOURS)]]


def as_floats(values: object) -> Floats:
    """Numbers to draw."""
    return np.asarray(values, dtype=np.float64)


_SHOWN_PAIRS = 30


@checked(confidence=CONFIDENCE)
def estimate_section(
    session: Session, *, confidence: float = 0.95, history: Sequence[tuple[int, float]] = ()
) -> Section:
    """The ranking as far as it is known, who is tied with whom, and what was saved."""
    ranked, pairs = session.ranking(confidence=confidence), session.pairs(confidence=confidence)
    blocks: list[Block] = [
        *(Paragraph(sentence) for sentence in estimate_sentences(session, pairs)),
        _ranking(session, ranked, confidence),
        _forest(session, ranked, confidence),
    ]
    if len(history) > 1:
        blocks.append(_history(session, history))
    if any(pair.verdict != "better" for pair in pairs):
        blocks.append(_pairs(pairs, confidence))
    if pairs:
        blocks.append(_matrix(session, ranked, pairs))
    return Section("estimate", "The ranking so far", tuple(blocks))


def estimate_sentences(session: Session, pairs: Sequence[SystemPair]) -> list[str]:
    """Where the session stands, in words."""
    status = session.status()
    left = status.n_candidates - status.n_judged
    counts = {word: sum(pair.verdict == word for pair in pairs) for word in ("better", "tie", "open")}
    sure = mean_of_pairs(session.view.sign)
    stop = "Judging should go on" if not status.done else f"Judging can stop{f', {left:,} saved' if left else ''}"
    first = f"{status.n_judged:,} of {status.n_candidates:,} candidates are judged. {stop}: {status.reason}."
    second = (
        f"Of {len(pairs)} pairs of systems {counts['better']} are told apart, {counts['tie']} tied within "
        f"{session.goal.zone:.3g}, {counts['open']} are open. Mean confidence in their order is "
        f"{sure:.3f}, expected τ {2 * sure - 1:.2f}."
    )
    third = (
        f"Estimator {session.estimator}, {session.scoring.measure}. Scores are those of these queries with everything "
        "judged; intervals say what is not judged yet, not what other queries would say."
    )
    return [first, second, third] if pairs else [first, third]


def _ranking(session: Session, ranked: Sequence[RankedSystem], level: float) -> TableBlock:
    columns = (
        Heading("Rank"),
        Heading("System", "left"),
        Heading(session.scoring.measure, about="expected score with everything judged"),
        Heading(f"{percent(level)} interval"),
        Heading(
            "Not told apart from",
            "left",
            about=f"confidence in the order below {percent(level)}, or a difference within {session.goal.zone:g}",
        ),
    )
    rows = tuple(
        (
            f"{row.rank}",
            row.system,
            f"{row.score:.3f}",
            f"[{row.low:.3f}, {row.high:.3f}]",
            listed(row.tied, most=6),
        )
        for row in ranked
    )
    return TableBlock("ranking", "Estimated ranking.", columns, rows, [asdict(row) for row in ranked])


def _forest(session: Session, ranked: Sequence[RankedSystem], level: float) -> FigureBlock:
    data = figures.Forest(
        f"{session.scoring.measure}, expectation and {percent(level)} interval",
        tuple(row.system for row in ranked),
        *(as_floats([getattr(row, name) for row in ranked]) for name in ("score", "low", "high")),
    )
    alt = f"Expected scores from {ranked[0].system} at {ranked[0].score:.3f} to {ranked[-1].system}."
    return FigureBlock("estimated-ranking", "Expected scores of the systems.", alt, data, figures.forest)


def _history(session: Session, history: Sequence[tuple[int, float]]) -> FigureBlock:
    x, y = (as_floats(column) for column in zip(*history, strict=True))
    data = History("mean confidence", (session.estimator,), (x,), (y,), session.goal.wanted)
    caption = "Confidence in the ranking as judgments came in."
    alt = f"Mean confidence from {y[0]:.2f} to {y[-1]:.2f} over {int(x[-1])} judgments."
    return FigureBlock("confidence-history", caption, alt, data, draw_history)


def _pairs(pairs: Sequence[SystemPair], level: float) -> TableBlock:
    undecided = sorted((p for p in pairs if p.verdict != "better"), key=lambda pair: pair.confidence)
    columns = (
        Heading("System", "left"),
        Heading("Other", "left"),
        Heading("Difference"),
        Heading(f"{percent(level)} interval"),
        Heading("Confidence", about="that the first is the better one"),
        Heading("Verdict", "center"),
    )
    rows = tuple(
        (
            pair.system,
            pair.other,
            f"{pair.difference:.3f}",
            f"[{pair.low:.3f}, {pair.high:.3f}]",
            f"{pair.confidence:.3f}",
            pair.verdict,
        )
        for pair in undecided[:_SHOWN_PAIRS]
    )
    more = f" ({_SHOWN_PAIRS} of {len(undecided)})" if len(undecided) > _SHOWN_PAIRS else ""
    caption = f"Pairs that are tied or open, least sure first{more}."
    return TableBlock("open-pairs", caption, columns, rows, [asdict(pair) for pair in pairs])


def _matrix(session: Session, ranked: Sequence[RankedSystem], pairs: Sequence[SystemPair]) -> FigureBlock:
    order = tuple(row.system for row in ranked)
    place = {name: i for i, name in enumerate(order)}
    difference: Floats = np.zeros((len(order), len(order)))
    sure: Mask = np.zeros(difference.shape, dtype=np.bool_)
    for pair in pairs:
        a, b = place[pair.system], place[pair.other]
        difference[a, b], difference[b, a] = pair.difference, -pair.difference
        sure[a, b] = sure[b, a] = pair.verdict == "better"
    data = figures.PairMatrix(f"{session.scoring.measure}, row minus column", order, difference, sure)
    caption = "Expected differences: filled where systems are told apart, hollow where they are tied or open."
    alt = f"Matrix of {len(order)} by {len(order)} expected differences, {int(sure.sum()) // 2} pairs told apart."
    return FigureBlock("estimated-differences", caption, alt, data, figures.pair_matrix)


def simulation_section(runs: Sequence[Sequence[Simulation]], goal: str) -> Section:
    """Effort to the goal and accuracy on the way; each method has several seeds."""
    n = len(runs[0])
    text = (
        f"The judgments of {runs[0][0].n_candidates:,} candidates answer as an assessor would, until the goal: {goal}. "
        f"{f'Means over {n} orders of ties' if n > 1 else 'One order of ties'}. Confidence below is in signs of "
        "differences, however small they are."
    )
    return Section("simulation", "What judging would have cost", (Paragraph(text), _efforts(runs), *_accuracies(runs)))


def simulation_records(runs: Sequence[Sequence[Simulation]]) -> list[dict[str, Any]]:
    """One row a method, seed and checkpoint; the stop is a checkpoint, too."""
    names = (
        "n_judged",
        "confidence",
        "accuracy",
        "tau",
        "difference_error",
        "score_error",
        "covered",
        "covered_scores",
    )
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
        for method in runs
        for run in method
        for kind, point in [*(("at", point) for point in run.checkpoints), ("stop", run.stop)]
    ]


def _efforts(runs: Sequence[Sequence[Simulation]]) -> TableBlock:
    columns = (
        Heading("Estimator", "left"),
        Heading("Rule", "left"),
        Heading("Judgments"),
        Heading("Range", about="over seeds"),
        Heading("Share", about="of the candidates"),
        Heading("Reached", about="seeds that reached the goal before everything was judged"),
        Heading("Confidence", about="claimed at the stop"),
        Heading("Accuracy", about="share of pairs of systems in the right order at the stop"),
        Heading("RMSE Δ", about="root mean square error of differences"),
        Heading("RMSE", about="root mean square error of scores"),
    )
    rows = tuple(_effort(method) for method in runs)
    return TableBlock("effort", "Where judging stopped.", columns, rows)


def _effort(method: Sequence[Simulation]) -> tuple[str, ...]:
    stops = [run.stop for run in method]
    counts = [stop.n_judged for stop in stops]
    span = f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
    mean = {
        name: float(np.mean([getattr(stop, name) for stop in stops]))
        for name in ("confidence", "accuracy", "difference_error", "score_error")
    }
    return (
        method[0].estimator,
        method[0].rule,
        f"{np.mean(counts):,.0f}",
        span,
        f"{100 * np.mean(counts) / method[0].n_candidates:.1f} %",
        f"{sum(run.reached for run in method)} of {len(method)}",
        f"{mean['confidence']:.3f}",
        f"{mean['accuracy']:.3f}",
        f"{mean['difference_error']:.3f}",
        f"{mean['score_error']:.3f}",
    )


def _accuracies(runs: Sequence[Sequence[Simulation]]) -> list[Block]:
    if not runs[0][0].checkpoints:
        return []
    marks = [point.n_judged for point in runs[0][0].checkpoints]
    names = [f"{method[0].estimator}, {method[0].rule}" for method in runs]
    accuracy = [
        [float(np.mean([run.checkpoints[k].accuracy for run in method])) for k in range(len(marks))] for method in runs
    ]
    columns = (Heading("Method", "left"), *(Heading(f"{mark:,}") for mark in marks))
    rows = tuple((name, *(f"{value:.3f}" for value in line)) for name, line in zip(names, accuracy, strict=True))
    table = TableBlock(
        "accuracy", "Share of pairs of systems in the right order after so many judgments.", columns, rows
    )
    x = as_floats(marks)
    data = History("accuracy", tuple(names), tuple(x for _ in names), tuple(map(as_floats, accuracy)), None)
    figure = FigureBlock(
        "accuracy-history",
        "Accuracy of the ranking against judgments.",
        f"Accuracy of {len(names)} methods at {len(marks)} numbers of judgments.",
        data,
        draw_history,
    )
    return [table] if len(marks) == 1 else [table, figure]


def calibration_section(methods: Sequence[Calibration], subtitle: str) -> Section:
    """Claimed against true for every method."""
    shares = methods[0].shares
    columns = (
        Heading("Estimator", "left"),
        Heading("Rule", "left"),
        *(Heading(f"Accuracy {percent(share)}", about="right signs with so much judged") for share in shares),
        Heading("Intervals hold", about="95 % intervals of differences that hold the truth, over all shares"),
        Heading("Calibration error", about="mean distance of claimed confidence and accuracy"),
        Heading("Stop", about="share of the candidates judged when it stopped"),
        Heading("Claimed", about="mean confidence at the stop"),
        Heading("Accuracy", about="right signs at the stop"),
        Heading("Reached"),
    )
    rows = tuple(
        (
            one.estimator,
            one.rule,
            *(f"{value:.3f}" for value in one.accuracy),
            f"{np.mean(one.covered):.2f}",
            f"{one.calibration_error:.3f}",
            f"{100 * one.stop_share:.1f} %",
            f"{one.stop_confidence:.3f}",
            f"{one.stop_accuracy:.3f}",
            f"{100 * one.reached:.0f} %",
        )
        for one in methods
    )
    table = TableBlock(
        "calibration", f"Claims held against the truth, {subtitle}.", columns, rows, calibration_records(methods)
    )
    text = Paragraph(
        "Sessions simulated on parts of the collection, their claims held against what is so with everything judged. "
        "When a calibrated method says 90 %, it is right 90 % of the time."
    )
    return Section("calibration", "Can confidence be trusted", (text, table, *_bins(methods), _claims(methods)))


def calibration_records(methods: Sequence[Calibration]) -> list[dict[str, Any]]:
    """One row a method and share."""
    names = ("confidence", "accuracy", "covered", "difference_error", "score_error")
    return [
        {
            "estimator": one.estimator,
            "rule": one.rule,
            "share": share,
            **{name: getattr(one, name)[k] for name in names},
            "calibration_error": one.calibration_error,
            "stop_share": one.stop_share,
            "stop_confidence": one.stop_confidence,
            "stop_accuracy": one.stop_accuracy,
            "reached": one.reached,
            "samples": one.n_samples,
        }
        for one in methods
        for k, share in enumerate(one.shares)
    ]


def _bins(methods: Sequence[Calibration]) -> list[TableBlock]:
    columns = (Heading("Confidence", "left"), Heading("Pairs"), Heading("Claimed"), Heading("Right"))
    return [
        TableBlock(
            f"bins-{i + 1}",
            f"{one.estimator}, {one.rule}: pairs by claimed confidence.",
            columns,
            tuple(
                (
                    f"[{b.low:g}, {b.high:g}{']' if b.high == 1 else ')'}",
                    f"{b.n:,}",
                    f"{b.claimed:.3f}",
                    f"{b.right:.3f}",
                )
                for b in one.bins
            ),
        )
        for i, one in enumerate(methods)
    ]


def _claims(methods: Sequence[Calibration]) -> FigureBlock:
    floats = as_floats
    data = Claims(
        tuple(f"{one.estimator}, {one.rule}" for one in methods),
        tuple(floats([b.claimed for b in one.bins]) for one in methods),
        tuple(floats([b.right for b in one.bins]) for one in methods),
        tuple(floats([b.n for b in one.bins]) for one in methods),
        floats(methods[0].shares),
        tuple(floats(one.accuracy) for one in methods),
    )
    caption = "Left: pairs by the confidence claimed, on the diagonal when calibrated. Right: accuracy by effort."
    alt = f"Calibration and accuracy of {len(methods)} methods."
    return FigureBlock("claims", caption, alt, data, draw_claims)


@section("effort")
def effort(evidence: Evidence) -> Section | None:
    """How sure the ranking is in spite of unjudged documents; nothing to say where everything is judged."""
    if evidence.collection is None:
        return None
    with kept_warnings():
        try:
            session = judging(evidence.collection, evidence.main.measure)
        except AdjudgeError:  # a measure whose expectation has no sound form
            return None
    left = int((~session.model.judged).sum())
    if left == 0:
        return None
    text = (
        f"{left:,} of {len(session.candidates):,} documents in the first {session.candidates.cutoff} of the systems "
        "are not judged. Elsewhere on this page they count as not relevant; here their relevance is estimated."
    )
    part = estimate_section(session, confidence=evidence.summary.confidence)
    return Section("effort", "What is not judged", (Paragraph(text), *part.blocks))
