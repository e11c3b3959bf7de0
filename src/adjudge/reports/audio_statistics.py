"""A report of what can be said of systems before anybody judges: hubs, coverage, neighbours of the same genre."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Ints
from adjudge.audio.systems.statistics import LABELS, PLAIN, ListStatistics, Occurrences, Statistics
from adjudge.audio.systems.statistics_words import sentences
from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reports.figures import PALETTE, canvas
from adjudge.words import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("accent", "warm", "ink", "soft", "muted")
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)))
_SYSTEM = Column("System", "left", "documents of the query's artist are left out, unless all artists are named")


def statistics_sections(statistics: Statistics) -> tuple[Section, ...]:
    """Sentences, hubs, MIREX's numbers by length of list, neighbours that share a label, and the figure."""
    said = tuple(Paragraph(text) for text in sentences(statistics))
    blocks: list[Block] = [*said, hub_table(statistics), occurrence_figure(statistics)]
    if len(statistics.cutoffs) > 1:
        blocks.append(length_table(statistics))
    shared = tuple(table for label in LABELS if (table := shared_table(statistics, label)) is not None)
    sections = [Section("hubs", "Hubs and coverage", tuple(blocks))]
    if shared:
        sections.append(Section("neighbours", "What neighbours share", shared))
    return tuple(sections)


def _named(statistics: Statistics, one: ListStatistics) -> str:
    """The system, and how its lists were made where that is not the usual way."""
    return f"{one.system}, {one.lists}" if one.lists == PLAIN and len(statistics.ways) > 1 else one.system


def hub_table(statistics: Statistics) -> TableBlock:
    """A row a system and way: how uneven the shortest lists are."""
    k = statistics.cutoffs[0]
    has_triangle = any(one.triangle is not None for one in statistics.found)
    columns = (
        _SYSTEM,
        Column("Skewness", about=f"of the number of top-{k} lists that documents are in; 0 where all are alike"),
        Column("Largest hub", about=f"most top-{k} lists that a document is in"),
        Column("% of lists"),
        Column("Hubs", about="documents in more than five times as many lists as the mean"),
        Column("Never %", about="documents in no list"),
        Column("Coverage %", about="documents in any list"),
        *([Column("Triangle %", about="triples of documents for which that inequality holds")] if has_triangle else []),
        Column("Hub", "left", "the document that is in most lists"),
    )
    rows = tuple(_hub_row(statistics, one, one.at(k)) for one in statistics.found)
    records = [row for row in statistics.to_dicts() if row["cutoff"] == k]
    return TableBlock("hubs", f"Hubs in top-{k} lists.", columns, rows, records)


def _hub_row(statistics: Statistics, one: ListStatistics, counted: Occurrences) -> tuple[str, ...]:
    return (
        _named(statistics, one),
        number(counted.skewness, 2),
        f"{counted.largest:,}",
        percent(counted.largest / max(1, counted.n_lists)),
        f"{counted.n_hubs:,}",
        percent(counted.never),
        percent(counted.coverage),
        *([] if one.triangle is None else [percent(one.triangle)]),
        statistics.documents[counted.hub],
    )


def length_table(statistics: Statistics) -> TableBlock:
    """A row a system and way: the most frequent document and what is never retrieved, by length of list."""
    lengths = statistics.cutoffs
    columns = (
        _SYSTEM,
        *(Column(f"Most @{k}", about=f"most top-{k} lists that a document is in") for k in lengths),
        *(Column(f"Never % @{k}", about=f"documents in no top-{k} list") for k in lengths),
        *(Column(f"Skewness @{k}") for k in lengths),
    )
    rows = tuple(
        (
            _named(statistics, one),
            *(f"{one.at(k).largest:,}" for k in lengths),
            *(percent(one.at(k).never) for k in lengths),
            *(number(one.at(k).skewness, 2) for k in lengths),
        )
        for one in statistics.found
    )
    return TableBlock(
        "lengths", "Always and never similar, by the length of lists.", columns, rows, statistics.to_dicts()
    )


def shared_table(statistics: Statistics, label: str) -> TableBlock | None:
    """A row a system and way: % of neighbours that share a label, and of those that could; None where none is known."""
    lengths = statistics.cutoffs
    columns = (
        _SYSTEM,
        *(Column(f"% @{k}") for k in lengths),
        *(Column(f"of possible @{k}", about="where fewer than so many share it, % of those") for k in lengths),
    )
    rows, records = [], []
    for one in statistics.found:
        found = [shared for k in lengths if (shared := one.sharing(label, k)) is not None]
        if found:
            cells = [percent(shared.share) for shared in found] + [percent(shared.of_possible) for shared in found]
            rows.append((_named(statistics, one), *cells))
            records += [{"system": one.system, "lists": one.lists, **asdict(shared)} for shared in found]
    if not rows:
        return None
    n_known = f"known of {statistics.known[label]:,} of {len(statistics.documents):,} documents"
    return TableBlock(
        f"same-{label}", f"Neighbours of the query's {label}, in percent ({n_known}).", columns, tuple(rows), records
    )


def percent(share: float) -> str:
    """A share in percent, with a decimal; a dash where there is none."""
    return "–" if np.isnan(share) else f"{100 * share:.1f}"


@dataclass(frozen=True)
class OccurrenceCurves:
    """Numbers of lists that documents are in, most first, one curve a system, one panel a way of making lists."""

    cutoff: int
    panels: tuple[str, ...]
    systems: tuple[tuple[str, ...], ...]
    counts: tuple[tuple[Ints, ...], ...]


def occurrence_figure(statistics: Statistics) -> FigureBlock:
    """The number-of-times-similar curve of MIREX: documents by the number of lists that they are in."""
    k = statistics.cutoffs[0]
    ways = statistics.ways
    by_way = [[one for one in statistics.found if one.lists == way] for way in ways]
    data = OccurrenceCurves(
        k,
        ways,
        tuple(tuple(one.system for one in part) for part in by_way),
        tuple(tuple(np.sort(one.at(k).counts)[::-1] for one in part) for part in by_way),
    )
    alt = "; ".join(
        f"{one.system}: at most {one.at(k).largest:,} lists, {one.at(k).never:.0%} of documents in none"
        for one in by_way[0]
    )
    caption = f"In how many top-{k} lists documents are, the most frequent first; a steep start is a hub."
    return FigureBlock("occurrences", caption, f"Number of top-{k} lists by document. {alt}.", data, occurrence_curves)


def occurrence_curves(data: OccurrenceCurves) -> Figure:
    """A curve a system: rank of the document against the number of lists."""
    figure, panels = canvas(3.2, len(data.panels))
    for axes, way, systems, curves in zip(panels, data.panels, data.systems, data.counts, strict=True):
        for i, (system, counts) in enumerate(zip(systems, curves, strict=True)):
            style: dict[str, Any] = {"linestyle": _DASHES[(i // len(_COLOURS)) % len(_DASHES)], "linewidth": 1.4}
            axes.step(
                np.arange(1, len(counts) + 1), counts, where="mid", color=PALETTE[_COLOURS[i % len(_COLOURS)]],
                label=system, **style,
            )  # fmt: skip
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("documents, the most frequent first")
        axes.set_title(way, fontsize=9, loc="left")
        axes.grid()
        axes.set_axisbelow(True)
    panels[0].set_ylabel(f"top-{data.cutoff} lists")
    panels[0].set_ylim(bottom=0)
    panels[-1].legend(frameon=False, fontsize=8, loc="upper right")
    return figure
