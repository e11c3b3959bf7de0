"""The sections about systems: means, differences, ranking. Each computes; nothing here draws."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.reports import figures
from adjudge.reports.comparisons import cells
from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock, section
from adjudge.reports.evidence import Evidence
from adjudge.stats.equivalence import Verdict
from adjudge.stats.intervals import percent, with_interval
from adjudge.stats.multiple import friedman
from adjudge.stats.summary import MeanEffectiveness
from adjudge.users.comparison import Comparison
from adjudge.users.pairs import Pair, shown_p
from adjudge.words import counted

_SHOWN_PAIRS = 30


@section("overview")
def overview(evidence: Evidence) -> Section:
    """Means with intervals: a table of all measures and a forest plot of the main one."""
    summary = evidence.summary
    best, level = summary[0], percent(summary.confidence)
    text = (
        f"{best.system} has the highest mean: {best.measure} = {_shown(best)} over {best.n_queries} queries. "
        f"Intervals of means hold {level} ({summary.interval})."
    )
    return Section("overview", "Overview", (Paragraph(text), _mean_table(evidence), _forest(evidence)))


def _shown(row: MeanEffectiveness) -> str:
    return with_interval(row.mean, row.low, row.high)


def _mean_table(evidence: Evidence) -> TableBlock:
    summary = evidence.summary
    teams = any(row.team for row in summary)
    rows, records = [], []
    for system in summary.systems:
        row = [summary.of(system, name) for name in summary.measures]
        team = [row[0].team or ""] if teams else []
        rows.append((system, *team, *map(_shown, row), percent(round(row[0].judged, 2))))
        records.append({"system": system, "team": row[0].team, **{cell.measure: cell.mean for cell in row}})
    means = np.array([[summary.of(system, name).mean for name in summary.measures] for system in summary.systems])
    best = frozenset((int(np.nanargmax(means[:, m])), m + 1 + teams) for m in range(means.shape[1]))
    columns = (
        Column("System", "left"),
        *([Column("Team", "left")] if teams else []),
        *(Column(name) for name in summary.measures),
        Column("Judged", about="share of the retrieved documents that were judged"),
    )
    caption = f"Mean effectiveness with {percent(summary.confidence)} intervals, by {summary.measures[0]}."
    return TableBlock("effectiveness", caption, columns, tuple(rows), records, best)


def _forest(evidence: Evidence) -> FigureBlock:
    summary = evidence.summary
    name, level = summary.measures[0], percent(summary.confidence)
    column = [summary.of(system, name) for system in summary.systems]
    data = figures.Forest(
        f"{name}, mean and {level} interval",
        summary.systems,
        np.array([row.mean for row in column]),
        np.array([row.low for row in column]),
        np.array([row.high for row in column]),
    )
    alt = (
        f"Mean {name} of each system with its interval, from {column[0].system} at {column[0].mean:.3f} down to "
        f"{column[-1].system} at {column[-1].mean:.3f}."
    )
    caption = f"Means of {name}. Intervals may overlap although systems differ: pairs are compared below."
    return FigureBlock("forest", caption, alt, data, figures.forest)


@section("differences")
def differences(evidence: Evidence) -> Section:
    """Which differences are significant, which noticeable, and where the two part ways."""
    main = evidence.main
    blocks: list[Block] = [Paragraph(_counts(main))]
    if main.parted:
        blocks.append(Paragraph(_parting_sentence(main)))
    if main.about_test:
        blocks.append(Paragraph(f"{main.about_test}."))
    blocks += [_pair_table(main), _parting_figure(main)]
    if main.complete:
        blocks.append(_matrix_figure(main))
    if len(evidence.comparisons) > 1:
        blocks.append(_by_measure(evidence))
    return Section("differences", "Which differences are real, and which matter", tuple(blocks))


def _counts(main: Comparison) -> str:
    significant = sum(pair.significant for pair in main.pairs)
    are = "is" if len(main) == 1 else "are"
    text = f"{significant} of {counted(len(main), 'difference')} in {main.measure} {are} statistically significant."
    known = [pair.noticeable for pair in main.pairs if pair.noticeable is not None]
    if not known:
        return f"{text} Whether users would notice them is not known: {main.margin_source}."
    text += f" {sum(known) or 'None'} {'is' if sum(known) < 2 else 'are'} noticeable: {main.margin_source}."
    if main.margin is None:
        return text
    small = sum(pair.verdict in (Verdict.EQUIVALENT, Verdict.BOTH) for pair in main.pairs)
    text += f" Of {small} the data show that they are smaller than {main.margin:.3f}."
    return f"{text} {main.about_equivalence}." if main.about_equivalence else text


def _parting_sentence(main: Comparison) -> str:
    parts = []
    for is_significant, words in ((True, "significant but not noticeable"), (False, "noticeable but not significant")):
        found = [pair for pair in main.parted if pair.significant == is_significant]
        if found:
            example = found[-1] if is_significant else found[0]
            parts.append(
                f"{len(found)} are {words}, such as {example.system} over {example.other}: "
                f"{example.sentence(main.measure)}."
            )
    return " ".join(parts)


def _pair_table(main: Comparison) -> TableBlock:
    first, second = ("Better", "Worse") if main.alternative == "two-sided" else ("System", "Baseline")
    columns = (
        Column(first, "left"),
        Column(second, "left"),
        Column(f"Δ{main.measure}", about="difference of the means, with the interval of this pair alone"),
        *([Column(main.estimand.capitalize(), about=main.about_test)] if main.about_test else []),
        Column("p", about=f"{main.test} test, {main.correction} correction"),
        Column("Significant", "center", about=f"p is at most {main.alpha:g}"),
        Column("Noticeable", "center", about=main.margin_source),
        Column("Users", about="share who prefer the first | cannot tell | prefer the second, averaged over queries"),
        Column("Wins", about="share of queries on which the first is ahead, ties half"),
        Column("d", about="mean difference in standard deviations of the differences"),
    )
    shown = main.pairs if len(main) <= _SHOWN_PAIRS else _telling(main)
    caption = "Pairs of systems, largest difference first"
    if len(shown) < len(main):
        caption += f" ({len(shown)} of {len(main)}: neighbours in the ranking, then where the answers part ways)"
    caption += ". Intervals are of one pair each; p-values are corrected for all pairs."
    return TableBlock("pairs", caption, columns, tuple(tuple(cells(pair)) for pair in shown), main.to_dicts())


def _telling(main: Comparison) -> Sequence[Pair]:
    """With many pairs: neighbours in the ranking, which decide it, then pairs where the answers part ways."""
    order = sorted(main.systems, key=lambda name: -main.means[main.systems.index(name)])
    neighbours = {frozenset(pair) for pair in pairwise(order)}
    chosen = [pair for pair in main.pairs if frozenset((pair.system, pair.other)) in neighbours]
    rest = [pair for pair in main.parted if pair not in chosen]
    return sorted([*chosen, *rest][:_SHOWN_PAIRS], key=lambda pair: -pair.difference)


def _parting_figure(main: Comparison) -> FigureBlock:
    data = figures.PartingWays(
        f"size of the difference in {main.measure}",
        np.array([abs(pair.difference) for pair in main.pairs]),
        np.array([pair.p_corrected for pair in main.pairs]),
        main.alpha,
        main.margin,
    )
    caption = (
        "Every pair by the size of its difference. Below the level line a difference is significant; the dashed line "
        "is the smallest difference that matters. What lies below and left of it is real but small."
    )
    alt = f"Differences and p-values of {len(main)} pairs; in {len(main.parted)} the two answers part ways."
    return FigureBlock("parting-ways", caption, alt, data, figures.parting_ways)


def _matrix_figure(main: Comparison) -> FigureBlock:
    order, difference, significant = pair_arrays(main)
    data = figures.PairMatrix(f"{main.measure}, row minus column", order, difference, significant)
    caption = (
        "Each square is a difference of means: its area is the size, filled where significant, blue where the row's "
        "system is better and red where it is worse."
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
        Column("Smallest that matters", about="difference on a query from which on most users prefer the better list"),
    )
    rows = []
    for name, comparison in evidence.comparisons.items():
        known = [pair.noticeable for pair in comparison.pairs if pair.noticeable is not None]
        margin = "not known" if comparison.margin is None else f"{comparison.margin:.3f}"
        significant = sum(pair.significant for pair in comparison.pairs)
        rows.append((name, str(len(comparison)), str(significant), str(sum(known)) if known else "–", margin))
    return TableBlock("by-measure", "The same question under every measure.", columns, tuple(rows))


@section("ranking")
def ranking(evidence: Evidence) -> Section | None:
    """Which systems cannot be told apart: a critical-difference diagram on mean ranks.

    Nothing is said with fewer than three systems, with lists left out, or when only some pairs were compared.
    """
    main = evidence.main
    matrix = evidence.eff[main.measure].matrix()
    if len(evidence.eff.systems) < 3 or not np.isfinite(matrix).all() or not main.complete:
        return None
    result = friedman(matrix, systems=evidence.eff.systems)
    ranks = len(result.mean_ranks) + 1 - result.mean_ranks  # 1 is best
    order = np.argsort(ranks, kind="stable")
    names = tuple(evidence.eff.systems[i] for i in order)
    apart = {frozenset((pair.system, pair.other)) for pair in main.pairs if pair.significant}
    groups = tied_groups(names, apart)
    data = figures.CriticalDifference(f"mean rank in {main.measure}", names, ranks[order], groups)
    p = shown_p(result.p)
    text = (
        f"The Friedman test asks whether all systems could be alike: χ² = {result.chi2:.1f}, df = {result.df}, "
        f"p {p if p.startswith('<') else f'= {p}'}. A bar joins neighbours none of which differ significantly "
        f"({main.test} test, {main.correction} correction)."
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
