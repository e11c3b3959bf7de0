"""The sections of a report: each computes sentences, tables and the data of its figures, and draws nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.reports import figures
from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock, section
from adjudge.reports.evidence import Evidence
from adjudge.stats.prediction import prediction_interval
from adjudge.stats.multiple import friedman
from adjudge.stats.summary import MeanEffectiveness
from adjudge.users.comparison import Comparison, Pair, shown_p

_SHOWN_PAIRS = 30
_SHOWN_QUERIES = 15


def _plus_minus(row: MeanEffectiveness) -> str:
    return f"{row.mean:.3f} ± {row.half_width:.3f}" if math.isfinite(row.half_width) else f"{row.mean:.3f}"


@section("overview")
def overview(evidence: Evidence) -> Section:
    """Means with intervals: a table of all measures and a forest plot of the main one."""
    summary = evidence.summary
    best = summary[0]
    teams = any(row.team for row in summary)
    rows, records, emphasised = [], [], set()
    for system in summary.systems:
        cells = [summary.of(system, name) for name in summary.measures]
        team = [cells[0].team or ""] if teams else []
        rows.append((system, *team, *map(_plus_minus, cells), f"{cells[0].judged:.0%}"))
        records.append({"system": system, "team": cells[0].team, **{c.measure: c.mean for c in cells}})
    for m, name in enumerate(summary.measures):
        means = [summary.of(system, name).mean for system in summary.systems]
        emphasised.add((int(np.nanargmax(means)), m + 1 + teams))
    columns = (
        Column("System", "left"),
        *([Column("Team", "left")] if teams else []),
        *(Column(name) for name in summary.measures),
        Column("Judged", about="share of the retrieved documents that were judged"),
    )
    level = f"{summary.confidence:.0%}"
    blocks: list[Block] = [
        Paragraph(
            f"{best.system} has the highest mean: {best.measure} = {_plus_minus(best)} over {best.n_queries} queries. "
            f"What follows the ± is half of the {level} interval of the mean (t)."
        ),
        TableBlock(
            "effectiveness",
            f"Mean effectiveness with {level} intervals, by {best.measure}; the best of each measure stands out.",
            columns,
            tuple(rows),
            records,
            frozenset(emphasised),
        ),
    ]
    for name in summary.measures[:1]:
        column = [summary.of(system, name) for system in summary.systems]
        data = figures.Forest(
            f"{name}, mean and {level} interval",
            summary.systems,
            np.array([row.mean for row in column]),
            np.array([row.low for row in column]),
            np.array([row.high for row in column]),
        )
        alt = f"Mean {name} of each system with its interval, from {column[0].mean:.3f} down to {column[-1].mean:.3f}."
        caption = (
            f"Means of {name}. Intervals that overlap do not mean that systems do not differ: pairs are compared below."
        )
        blocks.append(FigureBlock("forest", caption, alt, data, figures.forest))
    return Section("overview", "Overview", tuple(blocks))


@section("differences")
def differences(evidence: Evidence) -> Section:
    """Which differences are significant, which noticeable, and where the two part ways."""
    main = evidence.main
    n_significant = sum(pair.significant for pair in main.pairs)
    text = f"{n_significant} of {len(main)} differences in {main.measure} are statistically significant."
    if main.margin is None:
        users = f"Whether users would notice them is not known: {main.margin_source}."
    else:
        n_noticeable = sum(bool(pair.noticeable) for pair in main.pairs)
        n_small = sum(pair.verdict in ("equivalent", "different but too small to notice") for pair in main.pairs)
        users = (
            f"{n_noticeable} are large enough for users to notice (at least {main.margin:.3f}: {main.margin_source}); "
            f"for {n_small} the data show that they are smaller than that."
        )
    blocks: list[Block] = [Paragraph(f"{text} {users}")]
    if main.parted:
        blocks.append(Paragraph(_parting_sentence(main)))
    blocks.append(_pair_table(main))
    blocks.append(_parting_figure(main))
    blocks.append(_matrix_figure(main))
    if len(evidence.comparisons) > 1:
        blocks.append(_by_measure(evidence))
    return Section("differences", "Which differences are real, and which matter", tuple(blocks))


def _parting_sentence(main: Comparison) -> str:
    silent = [pair for pair in main.parted if pair.significant]
    hidden = [pair for pair in main.parted if not pair.significant]
    parts = []
    if silent:
        example = silent[-1]
        parts.append(
            f"{len(silent)} differences are significant although most users would not notice, such as "
            f"{example.system} over {example.other}: {example.sentence(main.measure)}."
        )
    if hidden:
        example = hidden[0]
        parts.append(
            f"{len(hidden)} would be noticed although this collection cannot establish them, such as "
            f"{example.system} over {example.other}: {example.sentence(main.measure)}."
        )
    return " ".join(parts)


def _pair_table(main: Comparison) -> TableBlock:
    columns = (
        Column("Better", "left"),
        Column("Worse", "left"),
        Column(f"Δ{main.measure}", about="difference of the means and half of its interval"),
        Column("p", about=f"{main.test} test, {main.correction} correction"),
        Column("Significant", "center", about=f"p is at most {main.alpha:g}"),
        Column("Noticeable", "center", about="most users would prefer the better system"),
        Column("Users", about="share of users who would prefer the better | cannot tell | prefer the worse"),
        Column("Wins", about="share of queries on which the better system is ahead, ties half"),
        Column("Effect size", about="mean difference in standard deviations of the differences"),
    )
    shown = main.pairs[:_SHOWN_PAIRS] if len(main) <= 60 else _telling(main)
    caption = "Pairs of systems, largest difference first"
    if len(shown) < len(main):
        caption += f" ({len(shown)} of {len(main)}: neighbours in the ranking and where the answers part ways)"
    return TableBlock("pairs", f"{caption}.", columns, tuple(_pair_cells(pair) for pair in shown), main.to_dicts())


def _telling(main: Comparison) -> Sequence[Pair]:
    """With many pairs: neighbours in the ranking, which decide it, then pairs where the answers part ways."""
    order = sorted(main.systems, key=lambda name: -main.means[main.systems.index(name)])
    neighbours = {frozenset(pair) for pair in pairwise(order)}
    chosen = [pair for pair in main.pairs if frozenset((pair.system, pair.other)) in neighbours]
    rest = [pair for pair in main.parted if pair not in chosen]
    picked = [*chosen, *rest[: max(0, _SHOWN_PAIRS - len(chosen))]]
    return sorted(picked, key=lambda pair: -pair.difference)


def _pair_cells(pair: Pair) -> tuple[str, ...]:
    users = "–" if pair.prefer is None else f"{pair.prefer:.0%} | {pair.cannot_tell:.0%} | {pair.prefer_other:.0%}"
    noticeable = "–" if pair.noticeable is None else "yes" if pair.noticeable else "no"
    return (
        pair.system,
        pair.other,
        f"{pair.difference:.3f} ± {pair.half_width:.3f}",
        shown_p(pair.p_corrected).removeprefix("p = ").removeprefix("p "),
        "yes" if pair.significant else "no",
        noticeable,
        users,
        f"{pair.superiority:.0%}",
        f"{pair.d_z:.2f}",
    )


def _parting_figure(main: Comparison) -> FigureBlock:
    data = figures.PartingWays(
        f"difference in {main.measure}",
        np.array([pair.difference for pair in main.pairs]),
        np.array([pair.p_corrected for pair in main.pairs]),
        main.alpha,
        main.margin,
    )
    caption = (
        "Every pair of systems. Below the level line a difference is significant; right of the dashed line most users "
        "would notice. What lies below but left of it is significant and yet makes no difference to most users."
    )
    alt = (
        f"Differences and p-values of {len(main)} pairs; {len(main.parted)} are significant or noticeable but not both."
    )
    return FigureBlock("parting-ways", caption, alt, data, figures.parting_ways)


def _matrix_figure(main: Comparison) -> FigureBlock:
    order, difference, significant = pair_arrays(main)
    data = figures.PairMatrix(f"{main.measure}, row minus column", order, difference, significant)
    caption = (
        "Each square is a difference of means: its area is the size, filled where significant, blue where the "
        "row's system is better and red where it is worse."
    )
    alt = f"Matrix of {len(order)} by {len(order)} differences, {int(significant.sum()) // 2} pairs significant."
    return FigureBlock("pair-matrix", caption, alt, data, figures.pair_matrix)


def pair_arrays(main: Comparison) -> tuple[tuple[str, ...], Floats, Mask]:
    """Systems from best to worst, differences of row minus column, and which are significant."""
    order = tuple(sorted(main.systems, key=lambda name: -main.means[main.systems.index(name)]))
    place = {name: i for i, name in enumerate(order)}
    difference = np.zeros((len(order), len(order)))
    significant = np.zeros(difference.shape, dtype=np.bool_)
    for pair in main.pairs:
        a, b = place[pair.system], place[pair.other]
        difference[a, b], difference[b, a] = pair.difference, -pair.difference
        significant[a, b] = significant[b, a] = pair.significant
    return order, difference, significant


def _by_measure(evidence: Evidence) -> TableBlock:
    columns = (
        Column("Measure", "left"),
        Column("Pairs"),
        Column("Significant"),
        Column("Noticeable"),
        Column("Smallest noticeable", about="difference from which on most users prefer the better system"),
        Column("Median smallest significant", about="half-width of the interval: what would have been significant"),
    )
    rows = []
    for name, comparison in evidence.comparisons.items():
        needed = float(np.median([pair.smallest_significant for pair in comparison.pairs]))
        known = comparison.margin is not None
        rows.append(
            (
                name,
                str(len(comparison)),
                str(sum(pair.significant for pair in comparison.pairs)),
                str(sum(bool(pair.noticeable) for pair in comparison.pairs)) if known else "–",
                f"{comparison.margin:.3f}" if known else "not known",
                f"{needed:.3f}",
            )
        )
    return TableBlock("by-measure", "The same question under every measure.", columns, tuple(rows))


@section("ranking")
def ranking(evidence: Evidence) -> Section | None:
    """Which systems cannot be told apart: a critical-difference diagram on mean ranks."""
    matrix = evidence.eff[evidence.main.measure].matrix()
    if len(evidence.eff.systems) < 3 or not np.isfinite(matrix).all():
        return None
    result = friedman(matrix, systems=evidence.eff.systems)
    ranks = len(result.mean_ranks) + 1 - result.mean_ranks  # 1 is best
    order = np.argsort(ranks, kind="stable")
    names = tuple(evidence.eff.systems[i] for i in order)
    apart = {frozenset((pair.system, pair.other)) for pair in evidence.main.pairs if pair.significant}
    groups = tied_groups(names, apart)
    data = figures.CriticalDifference(f"mean rank in {evidence.main.measure}", names, ranks[order], groups)
    text = (
        f"The Friedman test asks whether all systems could be alike: χ² = {result.chi2:.1f}, df = {result.df}, "
        f"{shown_p(result.p)}. A bar joins neighbours none of which differ significantly ({evidence.main.test} test, "
        f"{evidence.main.correction} correction)."
    )
    alt = f"Systems by mean rank from {names[0]} to {names[-1]}, with {len(groups)} groups that cannot be told apart."
    caption = "Mean rank over queries, 1 is best; systems under one bar cannot be told apart by this collection."
    figure = FigureBlock("critical-difference", caption, alt, data, figures.critical_difference)
    return Section("ranking", "Who is tied with whom", (Paragraph(text), figure))


def tied_groups(names: Sequence[str], apart: set[frozenset[str]]) -> tuple[tuple[int, int], ...]:
    """First and last place of every longest stretch of systems without a significant difference inside.

    >>> tied_groups("abcd", {frozenset("ac"), frozenset("ad"), frozenset("bd")})
    ((0, 1), (1, 2), (2, 3))
    """
    groups: list[tuple[int, int]] = []
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and not any(
            frozenset((names[i], names[last + 1])) in apart for i in range(first, last + 1)
        ):
            last += 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return tuple(groups)


@section("queries")
def queries(evidence: Evidence) -> Section:
    """How effectiveness and satisfaction spread over queries, and which queries defeat everyone."""
    main, eff = evidence.main.measure, evidence.eff.select(systems=evidence.summary.systems)
    matrix = eff[main].matrix()
    labels, panels = [main], [matrix]
    satisfied = evidence.satisfaction
    if main in satisfied.measures:
        places = [satisfied.systems.index(name) for name in eff.systems]
        labels.append("P(satisfied)")
        panels.append(satisfied.p_sat[:, places, satisfied.measures.index(main)])
    spread = FigureBlock(
        "spread",
        "Every tick is a query; the thick line holds the middle half, the thin one 90 %, the dot is the median.",
        f"Distribution of {main} over {eff.n_queries} queries for each of {len(eff.systems)} systems.",
        figures.Spread(eff.systems, tuple(labels), tuple(panels)),
        figures.spread,
    )
    return Section(
        "queries",
        "From query to query",
        (*_expectations(evidence, matrix), spread, *_hardest(main, eff.systems, eff.queries, matrix)),
    )


def _expectations(evidence: Evidence, matrix: Floats) -> tuple[Block, ...]:
    """What to expect of a new query: prediction intervals, satisfaction and success."""
    main, satisfied = evidence.main.measure, evidence.satisfaction
    known = main in satisfied.measures
    columns = [
        Column("System", "left"),
        Column(f"{main}, new query", about="95 % prediction interval for one more query"),
    ]
    if known:
        columns += [
            Column("P(Sat)", about="mean share of satisfied users"),
            Column(
                "P(Succ)", about=f"share of queries on which more than {satisfied.threshold:.0%} of users are satisfied"
            ),
        ]
    rows = []
    for s, system in enumerate(evidence.summary.systems):
        values = matrix[:, s][np.isfinite(matrix[:, s])]
        expected = prediction_interval(values, confidence=evidence.summary.confidence) if len(values) > 1 else None
        row = [system, "–" if expected is None else f"{expected.low:.3f} to {expected.high:.3f}"]
        if known:
            user = satisfied.of(system, main)
            row += [
                f"{user.mean:.3f} [{user.low:.3f}, {user.high:.3f}]",
                f"{user.success:.2f} [{user.success_low:.2f}, {user.success_high:.2f}]",
            ]
        rows.append(tuple(row))
    text = (
        "A mean hides how different queries are. The prediction interval says where one more query may fall, which is "
        "far wider than the interval of the mean."
    )
    reasons = f" Users: {'; '.join(satisfied.missing)}." if satisfied.missing else ""
    table = TableBlock("expectations", "What to expect of one more query, and of users.", tuple(columns), tuple(rows))
    return Paragraph(text + reasons), table


def _hardest(main: str, systems: tuple[str, ...], names: tuple[str, ...], matrix: Floats) -> tuple[Block, ...]:
    """The queries on which all systems together do worst."""
    counted = np.isfinite(matrix).sum(axis=1)
    mean = np.divide(np.nansum(matrix, axis=1), counted, out=np.full(len(counted), np.inf), where=counted > 0)
    hardest = np.argsort(mean, kind="stable")[:_SHOWN_QUERIES]
    failed = int(np.count_nonzero(np.nan_to_num(matrix, nan=1.0).max(axis=1) <= 0))
    text = f"On average over systems, {names[int(hardest[0])]} is the hardest query ({mean[hardest[0]]:.3f})."
    if failed:
        text += f" On {failed} queries every system has effectiveness 0."
    data = figures.HardQueries(
        f"{main} on the {len(hardest)} hardest queries", tuple(names[i] for i in hardest), systems, matrix[hardest]
    )
    caption = "Queries on which systems fail together, hardest first; a full disc is an effectiveness of 1."
    alt = f"The {len(hardest)} queries with the lowest mean {main}, for every system."
    return Paragraph(text), FigureBlock("hard-queries", caption, alt, data, figures.hard_queries)


@section("assumptions")
def assumptions(evidence: Evidence) -> Section:
    """What was assumed on the way, and what the data made it say aloud."""
    settings = evidence.eff.provenance.settings
    main = evidence.main
    drawn = "" if main.resamples is None else f" {main.resamples:,} resamples, shared by all pairs, seed {main.seed}."
    sentences = [
        f"Unjudged documents: {settings.get('unjudged', 'as given')}. "
        f"Missing lists: {settings.get('missing', 'as given')}. Ties: {settings.get('ties', 'as given')}. "
        f"Scale: {settings.get('scale', 'not known')}.",
        "Queries are taken for a random sample of those that users ask; "
        f"the same queries are compared in pairs ({main.test} test).{drawn}",
        f"Noticeable: {main.margin_source}." if main.margin_source else "",
        *evidence.satisfaction.missing,
        *evidence.eff.notes,
    ]
    return Section("assumptions", "What was assumed", tuple(Paragraph(text) for text in sentences if text))
