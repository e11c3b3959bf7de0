"""Low-cost evaluation in reports: the estimated ranking, simulated effort, and whether confidence can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from adjudge.checks import CONFIDENCE, checked
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.relevance import judging
from adjudge.relevance.audit import Audit
from adjudge.relevance.base import mean_of_pairs
from adjudge.relevance.calibration import Calibration, Calibrations
from adjudge.relevance.session import Assessors, RankedSystem, Session, SystemPair, confidence_figure
from adjudge.relevance.simulation import Simulations, method_name
from adjudge.relevance.worth import NextSteps
from adjudge.reporting.document import Block, Paragraph, Section, TableBlock, section
from adjudge.tables import Heading
from adjudge.text import counted, listed, percent, shown_probability
from adjudge.users.report import Evidence

_SHOWN_PAIRS = 30
_HOLD = "95 % intervals of differences that hold the truth, over all shares"
_DISTANCE = "mean distance of claimed confidence and accuracy"
_FEWEST, _JUDGED_EACH = 10, 3  # queries with a relevant document, and documents judged of each
_KNOWN_ITEM = (
    "No query has two relevant documents so far. If each has one by design, as in known-item search, this estimator "
    "expects too many, and its intervals are too narrow: ask for known_item."
)


@checked(confidence=CONFIDENCE)
def estimate_section(
    session: Session,
    *,
    confidence: float = 0.95,
    history: Sequence[tuple[int, float]] = (),
    steps: NextSteps | None = None,
) -> Section:
    """The ranking as far as it is known, who is tied with whom, what was saved, and what to pay for next."""
    ranked, pairs = session.ranking(confidence=confidence), session.pairs(confidence=confidence)
    level, measure = percent(confidence), session.scoring.measure
    tied = f"confidence in the order below {level}, or a difference within {session.goal.zone:g}"
    table = TableBlock.of(
        "ranking",
        "Estimated ranking.",
        (
            {
                Heading("Rank", about=f"with the ranks that are possible, {level} for all systems at once"): (
                    f"{row.rank} [{row.rank_low}, {row.rank_high}]"
                ),
                Heading("Tier", about="begins where a system is shown to be worse than the first one above"): str(
                    row.tier
                ),
                Heading("System", "left"): row.system,
                Heading(measure, about="expected score with everything judged"): f"{row.score:.3f}",
                Heading(f"{level} interval"): f"[{row.low:.3f}, {row.high:.3f}]",
                Heading("P(best)", about="probability to have the highest score"): _chance(session, row.p_best),
                Heading(f"P(top {session.goal.top})", about="probability to be among the first"): _chance(
                    session, row.p_top
                ),
                Heading("Not told apart from", "left", tied): listed(row.tied, most=6),
            }
            for row in ranked
        ),
        [asdict(row) for row in ranked],
    )
    blocks: list[Block] = [
        *(Paragraph(sentence) for sentence in _estimate_sentences(session, ranked, pairs, level)),
        table,
        ranked.figure(),
    ]
    if len(history) > 1:
        blocks.append(confidence_figure(history, wanted=session.goal.wanted))
    if any(pair.verdict != "better" for pair in pairs):
        blocks.append(_undecided_pairs(pairs, level))
    if pairs:
        blocks.append(pairs.figure())
    if steps is not None:
        blocks.append(steps_table(steps) if len(steps) > 1 else Paragraph(f"{steps.title}: nothing. {steps.notes[0]}"))
    if assessors := session.assessors:
        blocks.append(_assessors_table(assessors))
    return Section("estimate", "The ranking so far", tuple(blocks))


def _assessors_table(assessors: Assessors) -> TableBlock:
    """Leniency and noise of each assessor."""
    rows = (
        {
            Heading("Assessor", "left"): row.assessor,
            Heading("Judgments"): f"{row.n_judged:,}",
            Heading("Leniency", about="how much higher grades are than those of all"): (
                f"{row.leniency:.2f} [{row.leniency_low:.2f}, {row.leniency_high:.2f}]"
            ),
            Heading("Noise", about="how far grades are from what assessors say on average, but for leniency"): (
                f"{row.noise:.2f} [{row.noise_low:.2f}, {row.noise_high:.2f}]"
            ),
            Heading("Reliability", about="share of relevance in the variance of grades"): f"{row.reliability:.2f}",
        }
        for row in assessors
    )
    caption = f"{assessors.title}. {' '.join(assessors.notes)}"
    return TableBlock.of("instruments", caption, rows, assessors.to_dicts())


def steps_table(steps: NextSteps) -> TableBlock:
    """What a budget buys."""
    rows = (
        {
            Heading("Step", "left"): step.step,
            Heading("These queries", about="expected confidence in signs on these queries"): _known(step.here),
            Heading("New queries", about="the same for queries like these"): _known(step.new),
        }
        for step in steps
    )
    return TableBlock.of("next-steps", f"{steps.title}. {' '.join(steps.notes)}", rows, steps.to_dicts())


def _chance(session: Session, p: float) -> str:
    """A probability that draws estimate, unless all is known."""
    return shown_probability(p) if session.view.scores.covariance.any() else percent(p, 1)


def _known(confidence: float | None) -> str:
    return "–" if confidence is None else f"{confidence:.3f}"


def _estimate_sentences(
    session: Session, ranked: Sequence[RankedSystem], pairs: Sequence[SystemPair], level: str
) -> list[str]:
    """Who leads, whether to go on, how many pairs are told apart, and what this is about."""
    status, best = session.status(), ranked[0]
    score = f"{best.score:.3f} [{best.low:.3f}, {best.high:.3f}]"
    leader = f"{best.system} has the highest expected {session.scoring.measure}, {score}"
    if len(ranked) > 1:
        leader += f"; it is the best with probability {_chance(session, best.p_best)}"
    if best.tied:
        ties = {pair.other for pair in pairs if pair.system == best.system and pair.verdict == "tie"}
        open_, near = ([name for name in best.tied if (name in ties) is tie] for tie in (False, True))
        leader += f", and is not told apart from {listed(open_, most=3)}" if open_ else ""
        within = f" within {session.goal.zone:.3g}" if session.goal.zone else ""
        leader += f"; it is tied with {listed(near, most=3)}{within}" if near else ""
    elif len(ranked) > 1:
        leader += f", and is better than all others with a confidence of {level}"
    left = status.n_candidates - status.n_judged
    counts = {word: sum(pair.verdict == word for pair in pairs) for word in ("better", "tie", "open")}
    sure = mean_of_pairs(session.view.sign)
    stop = "Judging should go on" if not status.done else f"Judging can stop{f', {left:,} saved' if left else ''}"
    first = f"{status.n_judged:,} of {status.n_candidates:,} candidates are judged. {stop}, as {status.reason}."
    second = (
        f"Pairs of systems: {counts['better']:,} of {len(pairs):,} told apart, {counts['tie']:,} tied within "
        f"{session.goal.zone:.3g}, {counts['open']:,} open. Mean confidence in their order is "
        f"{sure:.3f}, expected τ {2 * sure - 1:.2f}."
    )
    third = (
        f"Estimator {session.estimator}, {session.scoring.measure}. Scores, intervals and ranks are those of these "
        f"queries with everything judged{', by what assessors say on average' if session.assessors else ''}."
    )
    if session.candidates.n_queries == 1:
        third += " One query says nothing of other queries."
    if best.p_best_new is not None and pairs:
        third += (
            f" On new queries like these, {best.system} is the best with probability "
            f"{shown_probability(best.p_best_new)}, and mean confidence in the order of two systems is "
            f"{status.mean_confidence_new:.3f}."
        )
    said = [f"{leader}.", first, second, third] if pairs else [f"{leader}.", first, third]
    return [*said, _KNOWN_ITEM] if session.estimator == "hierarchical" and _one_relevant_each(session) else said


def _one_relevant_each(session: Session) -> bool:
    """Whether no query has two relevant documents, though enough of them have one and others judged."""
    pool, judged = session.candidates, session.model.judged
    if pool.scale.levels != 2:
        return False
    n_judged = np.bincount(pool.query[judged], minlength=pool.n_queries)
    n_relevant = np.bincount(pool.query[judged], session.model.mean[judged] > 0.5, minlength=pool.n_queries)
    found = n_relevant == 1
    return bool(n_relevant.max() == 1 and found.sum() >= _FEWEST and n_judged[found].mean() >= _JUDGED_EACH)


def _undecided_pairs(pairs: Sequence[SystemPair], level: str) -> TableBlock:
    undecided = sorted((p for p in pairs if p.verdict != "better"), key=lambda pair: pair.confidence)
    more = f" ({_SHOWN_PAIRS} of {len(undecided)})" if len(undecided) > _SHOWN_PAIRS else ""
    rows = (
        {
            Heading("System", "left"): pair.system,
            Heading("Other", "left"): pair.other,
            Heading("Difference"): f"{pair.difference:.3f}",
            Heading(f"{level} interval"): f"[{pair.low:.3f}, {pair.high:.3f}]",
            Heading("Confidence", about="that the first is the better one"): f"{pair.confidence:.3f}",
            Heading("Verdict", "center"): pair.verdict,
        }
        for pair in undecided[:_SHOWN_PAIRS]
    )
    caption = f"Pairs that are tied or open, least sure first{more}."
    return TableBlock.of("open-pairs", caption, rows, [asdict(pair) for pair in pairs])


def audit_section(audit: Audit) -> Section:
    """Whether a random sample contradicts the model, how much it could have found, and its bounds of every claim."""
    enough, mean, level = 1 / (1 - audit.confidence), audit.rows[0], percent(audit.confidence)
    confirmed, contradicted = (sum(row.verdict == word for row in audit.rows) for word in ("confirmed", "contradicted"))
    first = (
        f"{audit.title}. The audit hears judgments in an order that is drawn at random beforehand, up to the first "
        f"document that is not judged: {audit.n_heard:,} of {audit.n_candidates:,} so far. {audit.strength}"
    )
    second = (
        f"Evidence against all intervals of the model together is {audit.evidence:.2g}. If they hold the truth, the "
        f"probability that it ever reaches {enough:.3g} is {1 - audit.confidence:.2g} at most, however often one looks."
    )
    third = (
        f"By the audit alone, without any model, the mean score of all systems is from {mean.audit_low:.3f} to "
        f"{mean.audit_high:.3f}; the model says {mean.expected:.3f}. It confirms the order of "
        f"{counted(confirmed, 'pair')} of systems, and contradicts {counted(contradicted, 'interval')} of the model."
    )
    telling = sorted(audit.rows[1:], key=lambda row: (row.verdict == "open", row.kind == "difference", -row.evidence))
    shown = [mean, *telling[: _SHOWN_PAIRS - 1]]
    rows = (
        {
            Heading("System", "left"): row.system,
            Heading("Other", "left"): row.other or "",
            Heading("Model"): f"{row.expected:.3f}",
            Heading(f"{level} interval"): f"[{row.low:.3f}, {row.high:.3f}]",
            Heading("Audit", about="bounds by the audit alone"): "–"
            if row.kind == "halves"
            else f"[{row.audit_low:z.3f}, {row.audit_high:z.3f}]",
            Heading("Evidence", about="against the model's interval"): f"{row.evidence:.2g}",
            Heading("Verdict", "center"): row.verdict,
        }
        for row in (row for row in audit.rows if row in shown)
    )
    more = f" ({_SHOWN_PAIRS} of {len(audit.rows)})" if len(audit.rows) > _SHOWN_PAIRS else ""
    caption = f"What the model says of scores and differences, and bounds by the audit alone{more}."
    table = TableBlock.of("audited-claims", caption, rows, audit.to_dicts())
    figures = (audit.figure(),) if audit.path else ()
    return Section("audit", "Audit", (*(Paragraph(text) for text in (first, second, third)), table, *figures))


def simulation_section(runs: Simulations, goal: str) -> Section:
    """Effort to the goal and accuracy on the way; each method has several seeds."""
    n = len(runs[0])
    text = (
        f"The judgments of {runs[0][0].n_candidates:,} candidates answer as an assessor would, until the goal: {goal}. "
        f"{f'Means over {n} sessions, with other orders of ties' if n > 1 else 'One session'}. Where they stopped, "
        "Goal is what was claimed, and Kept what of it is true."
    )
    table = runs.table()
    headings = tuple(replace(each, name=each.name[0].upper() + each.name[1:]) for each in table.headings)
    stops = TableBlock("effort", "Where judging stopped.", headings, tuple(map(tuple, table.rows)))
    return Section("simulation", "What judging would have cost", (Paragraph(text), stops, *_accuracies(runs)))


def _accuracies(runs: Simulations) -> list[Block]:
    marks = [point.n_judged for point in runs[0][0].checkpoints]
    if not marks:
        return []
    accuracy = {
        method_name(method[0]): np.mean([[point.accuracy for point in run.checkpoints] for run in method], axis=0)
        for method in runs
    }
    rows = (
        {Heading("Method", "left"): name, **{Heading(f"{n:,}"): f"{y:.3f}" for n, y in zip(marks, line, strict=True)}}
        for name, line in accuracy.items()
    )
    caption = "Share of pairs of systems in the right order, by number of judgments."
    table = TableBlock.of("accuracy", caption, rows)
    return [table] if len(marks) == 1 else [table, runs.figure()]


def calibration_section(methods: Calibrations, subtitle: str) -> Section:
    """Claimed against true for every method."""
    rows = (
        {
            Heading("Estimator", "left"): method.estimator,
            Heading("Rule", "left"): method.rule,
            **{
                Heading(f"Accuracy {percent(share)}", about="right signs with this share judged"): f"{value:.3f}"
                for share, value in zip(method.shares, method.accuracy, strict=True)
            },
            Heading("Intervals hold", about=_HOLD): f"{np.mean(method.covered):.2f}",
            Heading("Calibration error", about=_DISTANCE): f"{method.calibration_error:.3f}",
            Heading("Stop", about="share of the candidates judged when it stopped"): f"{100 * method.stop_share:.1f} %",
            Heading("Goal", about="what the goal is about, as claimed at the stop"): f"{method.stop_goal:.3f}",
            Heading("Kept", about="what of it is true there"): f"{method.stop_kept:.3f}",
            Heading("Accuracy", about="right signs at the stop"): f"{method.stop_accuracy:.3f}",
            Heading("Reached"): f"{100 * method.reached:.0f} %",
        }
        for method in methods
    )
    caption = f"Claims compared with the truth, {subtitle}."
    text = Paragraph(
        "Sessions simulated on parts of the collection, their claims compared with the truth, which is known with "
        "everything judged. When a calibrated method says 90 %, it is right 90 % of the time."
    )
    table = TableBlock.of("calibration", caption, rows, methods.to_dicts())
    return Section("calibration", "Can confidence be trusted", (text, table, *_bins(methods), methods.figure()))


def _bins(methods: Sequence[Calibration]) -> list[TableBlock]:
    return [
        TableBlock.of(
            f"bins-{i}",
            f"{method_name(method)}: pairs by claimed confidence.",
            (
                {
                    Heading("Confidence", "left"): f"[{b.low:g}, {b.high:g}{']' if b.high == 1 else ')'}",
                    Heading("Pairs"): f"{b.n:,}",
                    Heading("Claimed"): f"{b.claimed:.3f}",
                    Heading("Right"): f"{b.right:.3f}",
                }
                for b in method.bins
            ),
        )
        for i, method in enumerate(methods, start=1)
    ]


@section("effort")
def effort(evidence: Evidence) -> Section | None:
    """How sure the ranking is in spite of unjudged documents; left out where everything is judged."""
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
