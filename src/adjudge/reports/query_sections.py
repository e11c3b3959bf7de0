"""The sections about queries and users: spread, hardest queries, power, and what was assumed."""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats
from adjudge.reports import figures
from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock, section
from adjudge.reports.evidence import Evidence
from adjudge.stats.intervals import percent
from adjudge.stats.planning import PowerPlan, power_plan
from adjudge.stats.power import MOST_QUERIES
from adjudge.stats.prediction import prediction_interval

_SHOWN_QUERIES = 15
_DIFFERENCES = (0.01, 0.02, 0.05, 0.1, 0.2)


@section("queries")
def queries(evidence: Evidence) -> Section:
    """How effectiveness and satisfaction spread over queries, and which queries defeat everyone."""
    main, eff = evidence.main.measure, evidence.eff.select(systems=evidence.summary.systems)
    matrix = eff[main].matrix()
    blocks = (
        *_expectations(evidence, matrix),
        _spread(evidence, matrix),
        *_hardest(main, eff.systems, eff.queries, matrix),
    )
    return Section("queries", "From query to query", blocks)


def _spread(evidence: Evidence, matrix: Floats) -> FigureBlock:
    main, systems, satisfied = evidence.main.measure, evidence.summary.systems, evidence.satisfaction
    labels, panels = [main], [matrix]
    if main in satisfied.measures:
        labels.append("P(satisfied)")
        places = [satisfied.systems.index(name) for name in systems]
        panels.append(satisfied.p_sat[:, places, satisfied.measures.index(main)])
    wide = np.nanquantile(matrix, [0.05, 0.95], axis=0)
    most = int(np.argmax(wide[1] - wide[0]))
    alt = (
        f"Distribution of {main} over {len(matrix)} queries for {len(systems)} systems; {systems[most]} varies most, "
        f"from {wide[0, most]:.2f} to {wide[1, most]:.2f} for 90 % of the queries."
    )
    caption = "Every tick is a query; the thick line holds the middle half, the thin one 90 %, the dot is the median."
    return FigureBlock("spread", caption, alt, figures.Spread(systems, tuple(labels), tuple(panels)), figures.spread)


def _expectations(evidence: Evidence, matrix: Floats) -> tuple[Block, ...]:
    """What to expect of a new query: prediction intervals, satisfaction and success."""
    main, satisfied = evidence.main.measure, evidence.satisfaction
    level, known = percent(evidence.summary.confidence), main in satisfied.measures
    columns = [Column("System", "left"), Column(f"{main}, new query", about=f"{level} prediction interval")]
    if known:
        share = percent(satisfied.threshold)
        columns += [
            Column("P(Sat)", about="mean share of satisfied users, with its interval"),
            Column("P(Succ)", about=f"share of queries on which more than {share} of the users are satisfied"),
        ]
    rows = []
    for s, system in enumerate(evidence.summary.systems):
        row = [system, _expected(matrix[:, s], evidence.summary.confidence)]
        if known:
            user = satisfied.of(system, main)
            success = f"{user.success:.2f} [{user.success_low:.2f}, {user.success_high:.2f}]"
            row += [f"{user.mean:.3f} [{user.low:.3f}, {user.high:.3f}]", success]
        rows.append(tuple(row))
    text = (
        "A mean hides how different queries are. The prediction interval says where one more query may fall, which is "
        "far wider than the interval of the mean."
    )
    caption = "What to expect of one more query, and of users."
    return Paragraph(text), TableBlock("expectations", caption, tuple(columns), tuple(rows))


def _expected(values: Floats, confidence: float) -> str:
    """Where one more query may fall, with the level where too few queries allow no better one."""
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return "–"
    found = prediction_interval(known, confidence=confidence)
    short = f" ({found.attained:.0%})" if found.attained < confidence else ""
    return f"{found.low:.3f} to {found.high:.3f}{short}"


def _hardest(main: str, systems: tuple[str, ...], names: tuple[str, ...], matrix: Floats) -> tuple[Block, ...]:
    """The queries on which all systems together do worst."""
    counted = np.isfinite(matrix).sum(axis=1)
    mean = np.divide(np.nansum(matrix, axis=1), counted, out=np.full(len(counted), np.inf), where=counted > 0)
    hardest = np.argsort(mean, kind="stable")[:_SHOWN_QUERIES]
    failed = int(np.count_nonzero(np.nan_to_num(matrix, nan=1.0).max(axis=1) <= 0))
    worst = names[int(hardest[0])]
    text = f"On average over systems, {worst} is the hardest query ({mean[hardest[0]]:.3f})."
    if failed:
        text += f" On {failed} queries every system has effectiveness 0."
    top = max(1.0, float(np.nanmax(matrix)))
    label = f"{main} on the {len(hardest)} hardest queries; a full disc is {top:g}"
    data = figures.HardQueries(label, tuple(names[i] for i in hardest), systems, matrix[hardest] / top)
    caption = "Queries on which systems fail together, hardest first; the larger the disc, the better."
    alt = f"The {len(hardest)} hardest queries, from {worst} with a mean {main} of {mean[hardest[0]]:.3f}."
    return Paragraph(text), FigureBlock("hard-queries", caption, alt, data, figures.hard_queries)


@section("power")
def power(evidence: Evidence) -> Section | None:
    """What this collection can and cannot see: variance, detectable differences, queries needed."""
    matrix = evidence.eff[evidence.main.measure].matrix()
    if not np.isfinite(matrix).all() or len(matrix) < 2 or matrix.shape[1] < 2:
        return None
    plan = power_plan(matrix, differences=_DIFFERENCES, alpha=evidence.main.alpha, power=0.8)
    if plan is None:
        return None
    blocks: list[Block] = [
        Paragraph(
            f"For a typical pair (differences vary with a standard deviation of {plan.typical:.3f}) these "
            f"{plan.n_queries} queries detect a difference of {plan.detectable[0]:.3f} with 80 % power: paired t test, "
            f"α = {plan.alpha:g}, one pair, two-sided."
        ),
        _needed(plan),
    ]
    return Section("power", "What this collection can see", tuple(blocks))


def _needed(plan: PowerPlan) -> TableBlock:
    columns = (Column("Difference", "left"), Column("Queries for 80 % power"))
    rows = tuple((f"{size:g}", f"over {MOST_QUERIES:,}" if n is None else f"{n:,}") for size, n, _ in plan.rows)
    return TableBlock("queries-needed", "Queries needed to detect a true difference of a typical pair.", columns, rows)


@section("assumptions")
def assumptions(evidence: Evidence) -> Section:
    """What was assumed on the way, and what the data made it say aloud."""
    settings, main = evidence.eff.provenance.settings, evidence.main
    drawn = "" if main.resamples is None else f" {main.resamples:,} resamples, shared by all pairs, seed {main.seed}."
    has_curves = bool(evidence.satisfaction.measures) or main.agreement is not None
    sentences = [
        f"Unjudged documents: {settings.get('unjudged', 'as given')}. "
        f"Missing lists: {settings.get('missing', 'as given')}. Ties: {settings.get('ties', 'as given')}. "
        f"Scale: {settings.get('scale', 'not known')}.",
        "Queries are taken for a random sample of those that users ask; "
        f"the same queries are compared in pairs ({main.test} test).{drawn}",
        f"Noticeable: {main.margin_source}." if main.margin_source else "",
        "Curves from effectiveness to users are taken as known: their own uncertainty is not in the intervals."
        if has_curves
        else "",
        *(f"{reason[:1].upper()}{reason[1:]}." for reason in evidence.satisfaction.missing),
        *evidence.eff.notes,
    ]
    return Section("assumptions", "What was assumed", tuple(Paragraph(text) for text in sentences if text))
