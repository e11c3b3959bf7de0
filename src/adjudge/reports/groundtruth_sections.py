"""A report of partially ordered lists: what they are worth in words and numbers, ways of making them, each list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.groundtruth.building import Answers, GroundTruth
from adjudge.groundtruth.comparing import SAME
from adjudge.groundtruth.summary import asked_of, list_records, sentences, total_record
from adjudge.model.provenance import Provenance
from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Report, Section, TableBlock
from adjudge.reports.groundtruth_figures import Sizes, sizes
from adjudge.reports.groundtruth_lists import list_sections
from adjudge.reports.groundtruth_names import cleaned
from adjudge.words import counted, number

if TYPE_CHECKING:
    from adjudge.groundtruth.building import BuiltList
    from adjudge.groundtruth.comparing import ComparedConstructions

MOST_LISTS = 60
"""Lists that a report draws; of more, the least consistent."""
_TRIPLES = ("triples_alike", "triples_ordered", "triples_circular")


def groundtruth_document(
    truth: GroundTruth,
    *,
    answers: Answers | None = None,
    comparison: ComparedConstructions | None = None,
    inputs: Provenance | Mapping[str, Any] | None = None,
    title: str | None = None,
) -> Report:
    """The report of lists: all of them in numbers, constructions compared where they were, then every list drawn.

    ``answers`` add how much was asked of whom, ``comparison`` is what
    :func:`~adjudge.groundtruth.comparing.compare_constructions` found, ``inputs`` say where it all came from.

    >>> from adjudge.groundtruth import Rankings, build
    >>> rankings = Rankings.from_orders([("q", name, [["a"], ["b"], ["c"]], []) for name in "uvwxyz"])
    >>> [section.title for section in groundtruth_document(build(rankings, "Any-1"), answers=rankings).sections]
    ['The lists', 'q']
    """
    sections = [lists_section(truth, answers=answers)]
    if comparison is not None:
        from adjudge.reports.groundtruth_constructions import construction_sections

        sections += construction_sections(comparison)
    if (triples := triples_section(truth)) is not None:
        sections.append(triples)
    drawn, _ = _drawn(truth)
    heading = title or f"Partially ordered lists of {counted(len(truth), 'query')}"
    return Report(heading, _subtitle(truth, answers), (*sections, *list_sections(drawn)), _provenance(truth, inputs))


def _subtitle(truth: GroundTruth, answers: Answers | None) -> str:
    made = "Lists made elsewhere" if truth.construction is None else f"Made by {truth.construction}"
    given = "" if answers is None else f" from {asked_of(answers)}"
    return f"{made}{given}. Pairs of documents by {truth.measured_by} at α = {truth.alpha:g}."


def _provenance(truth: GroundTruth, inputs: Provenance | Mapping[str, Any] | None) -> dict[str, Any]:
    """Where the lists came from, and every choice on the way."""
    given = inputs.to_dict() if isinstance(inputs, Provenance) else dict(inputs or Provenance().to_dict())
    chosen = {
        "construction": truth.made_by,
        "alpha": truth.alpha,
        "measured_by": truth.measured_by,
        "unranked": truth.unranked,
        "seed": truth.seed,
    }
    return {**given, "settings": {**chosen, **given.get("settings", {})}}


def _drawn(truth: GroundTruth) -> tuple[tuple[BuiltList, ...], str]:
    """The lists to draw, in their order, and a sentence where these are not all."""
    if len(truth) <= MOST_LISTS:
        return truth.built, ""
    kept = tuple(truth.built[place] for place in sorted(least_consistent(truth, MOST_LISTS)))
    return kept, f"Drawn below are the {MOST_LISTS} least consistent of {len(truth):,} lists."


def least_consistent(truth: GroundTruth, most: int) -> list[int]:
    """Places of at most so many lists, the least consistent first; lists of one document, which have none, last.

    >>> from adjudge.groundtruth import PartialLists, Rankings
    >>> from adjudge.groundtruth.checking import check_lists
    >>> said = [(query, name, [["a"], ["b"], ["c"]], []) for query in "pq" for name in "uvwxyz"]
    >>> lists = PartialLists.from_groups({"p": [["a"], ["b"], ["c"]], "q": [["b", "a"], ["c"]]})
    >>> least_consistent(check_lists(lists, Rankings.from_orders(said)), 1)
    [1]
    """
    values = np.nan_to_num([one.consistency(1) for one in truth.built], nan=np.inf)
    places: list[int] = np.argsort(values, kind="stable")[:most].tolist()
    return places


def lists_section(truth: GroundTruth, *, answers: Answers | None = None, name: str = "lists") -> Section:
    """All lists in words, numbers and a figure."""
    _, some = _drawn(truth)
    blocks: list[Block] = [Paragraph(" ".join(sentences(truth, answers)))]
    blocks += [Paragraph(text) for text in (*truth.notes, some) if text]
    blocks.append(lists_table(truth))
    figure = size_figure(truth)
    if figure is not None:
        blocks.append(figure)
    return Section(name, "The lists", tuple(blocks))


def lists_table(truth: GroundTruth, *, what: str = "The lists") -> TableBlock:
    """A row a query and, of several, one for all; ``what`` says whose lists they are."""
    columns = (
        Column("Query", "left"),
        Column("Documents"),
        Column("Left out", about="documents that are in no list"),
        Column("Groups"),
        Column("Group size", about="documents a group, in the mean"),
        Column("ADR-1", about="consistency with one-tailed tests: 1 where experts bear out the whole list"),
        Column("ADR-2", about="consistency with two-tailed tests"),
        Column("Intra", about="pairs in one group that differ, of those there are"),
        Column("Inter", about="pairs in different groups that do not differ, of those there are"),
        Column("Misordered", about="pairs in the wrong order"),
    )
    records = list_records(truth)
    rows = [*records, total_record(truth)] if len(records) > 1 else records
    mean = "; the last row has the means of consistencies and group sizes, and the sums of the rest"
    caption = f"{what} in numbers{mean if len(records) > 1 else ''}."
    return TableBlock("lists-in-numbers", caption, columns, tuple(map(_cells, rows)), records)


def _cells(record: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        cleaned(record["query"]),
        f"{record['documents']:,}",
        f"{record['left_out']:,}" if record["left_out"] else "",
        f"{record['groups']:,}",
        f"{record['documents_a_group']:.2f}",
        number(record["adr_1"], 3),
        number(record["adr_2"], 3),
        f"{record['intra']:,}/{record['pairs_within']:,}",
        f"{record['inter']:,}/{record['pairs_between']:,}",
        f"{record['misordered']:,}",
    )


def size_figure(truth: GroundTruth) -> FigureBlock | None:
    """Consistency against group size; nothing for fewer than three lists that have a consistency."""
    known = [one for one in truth.built if len(one.list) > 1]
    if len(known) < 3:
        return None
    size = np.array([one.mean_group_size for one in known])
    consistency = np.array([one.consistency(1) for one in known])
    data = Sizes(tuple(one.list.query for one in known), size, consistency)
    related = ""
    if min(np.ptp(size), np.ptp(consistency)) > SAME:
        related = f" Pearson's r is {np.corrcoef(size, consistency)[0, 1]:.2f}."
    caption = f"Consistency of each list against the size of its groups.{related}"
    alt = (
        f"{len(known)} queries, with {size.min():.1f} to {size.max():.1f} documents a group and consistencies from "
        f"{consistency.min():.3f} to {consistency.max():.3f}.{related}"
    )
    return FigureBlock("consistency-by-size", caption, alt, data, sizes)


def triples_section(truth: GroundTruth) -> Section | None:
    """Triples that no list can be right about; nothing to say where there are none."""
    records, total = list_records(truth), total_record(truth)
    if not sum(total[kind] for kind in _TRIPLES):
        return None
    share = total["triples_broken"] / max(1, total["triples"])
    text = (
        "Significance is not transitive: X may be like Z and Z like Y while X and Y differ. A list puts two documents "
        "into one group or into two, so that about such a triple it is wrong somewhere, however it is made. "
        f"Of the triples that were wholly compared, {_share(share)} are such."
    )
    columns = (
        Column("Query", "left"),
        Column("Triples", about="of documents whose three pairs were all compared"),
        Column("Alike", about="two pairs do not differ, the third does (two tails)"),
        Column("Ordered", about="X before Y, Y before Z, but not X before Z (one tail)"),
        Column("Circular", about="X before Y, Y before Z, Z before X"),
        Column("Share", about="of the three kinds together"),
    )
    rows = [*records, total] if len(records) > 1 else records
    cells = tuple(
        (
            cleaned(row["query"]),
            f"{row['triples']:,}",
            *(f"{row[kind]:,}" for kind in _TRIPLES),
            _share(row["triples_broken"] / row["triples"]) if row["triples"] else "–",
        )
        for row in rows
    )
    kept = [{name: row[name] for name in ("query", "triples", *_TRIPLES, "triples_broken")} for row in records]
    table = TableBlock("triples", "Triples for which significance is not transitive.", columns, cells, kept)
    return Section("triples", "What no list can get right", (Paragraph(text), table))


def _share(share: float) -> str:
    return "below 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"
