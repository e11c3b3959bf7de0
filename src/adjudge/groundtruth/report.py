"""A report of partially ordered lists: what they are worth in words and numbers, ways of making them, each list.

Each list of a ground truth as a section: the list drawn, and a table that anyone can check it with.

Constructions side by side, as sections: how consistent their lists are, and how systems rank by them.

A report's section about what experts said of the documents: the judgments as lists, and lists made in other ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.groundtruth import figures
from adjudge.groundtruth.building import (
    Answers,
    BuiltList,
    GroundTruth,
    asked_of,
    check_lists,
    list_records,
    sentences,
    total_record,
)
from adjudge.groundtruth.comparing import (
    PAPER_CONSTRUCTIONS,
    SAME,
    ComparedConstruction,
    ComparedConstructions,
    ComparedSystems,
    compare_constructions,
)
from adjudge.groundtruth.consistency import Inconsistencies
from adjudge.groundtruth.figures import DrawnList, Sizes, cleaned, drawn_list, shortened, sizes
from adjudge.groundtruth.lists import PartialLists
from adjudge.model.collection import Collection
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Report, Section, TableBlock, section
from adjudge.tables import Heading
from adjudge.text import counted, listed, number, shown_p
from adjudge.users.report import Evidence

MOST_ROWS = 54
"""Documents of one figure: more do not fit on a page of paper."""
_LONGEST_TITLE = 44


def list_sections(built: tuple[BuiltList, ...]) -> tuple[Section, ...]:
    """A section a query: what experts contradict, the drawing, the documents."""
    return tuple(
        Section(
            f"list-{place}",
            shortened(one.list.query, _LONGEST_TITLE) or f"Query {place}",
            (Paragraph(list_sentences(one)), *list_figures(one, place), list_table(one, place)),
        )
        for place, one in enumerate(built, start=1)
    )


def list_sentences(built: BuiltList) -> str:
    """One list in words: its size, its consistency, what experts contradict, what is in no list."""
    size, groups, wrong = len(built.list), len(built.list.groups), built.inconsistencies()
    text = f"Query {cleaned(built.list.query)}: {counted(size, 'document')} in {counted(groups, 'group')}."
    if size > 1:
        if np.isnan(built.consistency(1)):
            return f"{text} No two of them were compared.{_left_out(built.evidence.left_out)}"
        text += f" ADR-1 consistency is {built.consistency(1):.3f}, ADR-2 {built.consistency(2):.3f}."
        text += f" {_contradicted(wrong)}"
    text += _left_out(built.evidence.left_out)
    return text


def _contradicted(wrong: Inconsistencies) -> str:
    intra, inter, misordered = (len(pairs) for pairs in (wrong.intra, wrong.inter, wrong.misordered))
    stand, do = "stands" if misordered == 1 else "stand", "does" if inter == 1 else "do"
    differ = "differs" if intra == 1 else "differ"
    parts = (
        (intra, f"{intra:,} of {counted(wrong.n_within, 'pair')} in one group {differ}"),
        (inter, f"{inter:,} of {counted(wrong.n_between, 'pair')} in different groups {do} not differ"),
        (misordered, f"{counted(misordered, 'pair')} {stand} in the wrong order"),
    )
    said = [part for n, part in parts if n]
    return f"{'; '.join(said)}." if said else "Experts contradict nothing in it."


def _left_out(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    return f" In no list: {listed([cleaned(name) for name in names], most=5)}."


def list_figures(built: BuiltList, place: int) -> tuple[FigureBlock, ...]:
    """The list drawn, in parts where it is too long for a page."""
    n = len(built.list)
    parts = -(-n // MOST_ROWS)
    bounds = np.linspace(0, n, parts + 1).round().astype(int).tolist()
    return tuple(_figure(built, place, part, (start, end), parts) for part, (start, end) in enumerate(pairwise(bounds)))


def _figure(built: BuiltList, place: int, part: int, rows: tuple[int, int], parts: int) -> FigureBlock:
    start, end = rows
    evidence, wrong, is_rank = built.evidence, built.inconsistencies(), built.evidence.unit == "rank"
    middle, lower, upper = evidence.middle, evidence.lower, evidence.upper
    data = DrawnList(
        documents=evidence.documents[start:end],
        start=start,
        group=tuple(built.list.group_numbers),
        middle=middle[start:end],
        lower=lower[start:end],
        upper=upper[start:end],
        mean=evidence.mean[start:end] if is_rank else np.empty(0),
        answers=tuple(evidence.answers[start:end].astype(int).tolist()),
        is_rank=is_rank,
        label="rank, 1 is the most similar" if is_rank else f"{evidence.unit}, the highest is the most similar",
        middle_label="median" if is_rank else "estimate",
        spread_label="middle half of the ranks" if is_rank else "95 % interval",
        answers_label="experts" if is_rank else "answers",
        intra=wrong.intra,
        inter=wrong.inter,
        misordered=wrong.misordered,
        unasked=_unasked(built, start, end),
        left_out=evidence.left_out if part == parts - 1 else (),
    )
    some = "" if parts == 1 else f", documents {start + 1} to {end} of {len(built.list)}"
    caption = (
        f"The list of {shortened(built.list.query, 60)}{some}. Bands are groups. In the matrix rows and columns are "
        "the documents in the order of the list, and frames hold the pairs of one group."
    )
    name = f"list-{place}-drawn" + ("" if parts == 1 else f"-{part + 1}")
    return FigureBlock(name, caption, list_sentences(built), data, drawn_list)


def _unasked(built: BuiltList, start: int, end: int) -> Ints:
    """Runs of pairs that were never compared: row, first and last column."""
    runs = []
    for row in range(start, end):
        silent = ~built.evidence.compared[row]
        silent[row] = False
        steps = np.flatnonzero(np.diff(np.concatenate([[False], silent, [False]])))
        runs += [(row, int(first), int(past) - 1) for first, past in zip(steps[::2], steps[1::2], strict=True)]
    found: Ints = np.array(runs, dtype=np.int64).reshape(-1, 3)
    return found


def list_table(built: BuiltList, place: int) -> TableBlock:
    """The documents of a list: group, what the answers say of each, and with how many others it is at odds."""
    evidence, wrong = built.evidence, built.inconsistencies()
    is_rank = evidence.unit == "rank"
    has_mean = is_rank and len(evidence.mean) > 0  # of strengths it is the estimate itself
    odds = [np.bincount(pairs.reshape(-1), minlength=len(evidence)) for pairs in (wrong.intra, wrong.inter)]
    columns = (
        Heading("Document", "left"),
        Heading("Group"),
        Heading("Median") if is_rank else Heading(evidence.unit.capitalize(), about="the higher, the more similar"),
        *([Heading("Mean")] if has_mean else []),
        Heading("Middle half", about="quartiles of the ranks") if is_rank else Heading("Interval", about="of 95 %"),
        Heading("Experts", about="who ranked it") if is_rank else Heading("Answers", about="that speak of it"),
        Heading("Differs", about="documents of its group that it differs from"),
        Heading("Alike", about="documents of other groups that it does not differ from"),
    )
    rows, records = [], list[dict[str, Any]]()
    for i, (name, group) in enumerate(zip(evidence.documents, built.list.group_numbers, strict=True)):
        mean = [f"{evidence.mean[i]:.2f}"] if has_mean else []
        counts = [int(counted[i]) for counted in odds]
        rows.append(
            (
                cleaned(name),
                str(group + 1),
                f"{evidence.middle[i]:.{1 if is_rank else 2}f}",
                *mean,
                f"{number(float(evidence.lower[i]), 1 if is_rank else 2)} to "
                f"{number(float(evidence.upper[i]), 1 if is_rank else 2)}",
                f"{evidence.answers[i]:.0f}",
                *(str(count) if count else "" for count in counts),
            )
        )
        records.append(
            {
                "query": built.list.query,
                "document": name,
                "group": group + 1,
                "middle": float(evidence.middle[i]),
                "mean": float(evidence.mean[i]) if has_mean else None,
                "lower": float(evidence.lower[i]),
                "upper": float(evidence.upper[i]),
                "answers": int(evidence.answers[i]),
                "differs": counts[0],
                "alike": counts[1],
            }
        )
    caption = f"The documents of {shortened(built.list.query, 60)}, the most similar first."
    return TableBlock(f"list-{place}-documents", caption, columns, tuple(rows), records)


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
    >>> from adjudge.groundtruth.building import check_lists
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
        Heading("Query", "left"),
        Heading("Documents"),
        Heading("Left out", about="documents that are in no list"),
        Heading("Groups"),
        Heading("Group size", about="documents a group, in the mean"),
        Heading("ADR-1", about="consistency with one-tailed tests: 1 where experts bear out the whole list"),
        Heading("ADR-2", about="consistency with two-tailed tests"),
        Heading("Intra", about="pairs in one group that differ, of those there are"),
        Heading("Inter", about="pairs in different groups that do not differ, of those there are"),
        Heading("Misordered", about="pairs in the wrong order"),
    )
    records = list_records(truth)
    rows = [*records, total_record(truth)] if len(records) > 1 else records
    mean = "; the last row has the means of consistencies and group sizes, and the sums of the rest"
    caption = f"{what} in numbers{mean if len(records) > 1 else ''}."
    return TableBlock("lists-in-numbers", caption, columns, tuple(map(_query_cells, rows)), records)


def _query_cells(record: Mapping[str, Any]) -> tuple[str, ...]:
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
        Heading("Query", "left"),
        Heading("Triples", about="of documents whose three pairs were all compared"),
        Heading("Alike", about="two pairs do not differ, the third does (two tails)"),
        Heading("Ordered", about="X before Y, Y before Z, but not X before Z (one tail)"),
        Heading("Circular", about="X before Y, Y before Z, Z before X"),
        Heading("Share", about="of the three kinds together"),
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


_NEAR = 0.0005  # consistencies that print alike are alike
_LEVEL = 0.05
_MOST_SYSTEMS_DRAWN = 40  # systems in a figure


def construction_sections(found: ComparedConstructions) -> list[Section]:
    """Consistency by construction and, where runs were given, the rankings of systems."""
    blocks: list[Block] = [Paragraph(" ".join(construction_sentences(found))), construction_table(found)]
    if len(found.queries) > 1:
        blocks += [_spread(found), _by_query(found)]
    sections = [Section("constructions", "Ways of making the lists", tuple(blocks))]
    if found.systems is not None:
        sections.append(_systems(found.systems))
    return sections


def construction_sentences(found: ComparedConstructions) -> list[str]:
    """What a reader should know of the constructions, most important first."""
    texts = (_best(found), _told_apart(found), _held_out(found), _sparse(found), _related(found))
    return [text for text in texts if text]


def _means(rows: Sequence[ComparedConstruction], name: str) -> Floats:
    means: Floats = np.array([row.record()[name] for row in rows], dtype=np.float64)
    return means


def _highest(found: ComparedConstructions, name: str) -> list[str]:
    """The constructions with the highest mean, several where they print alike; none where nothing is known."""
    means = _means(found.rows, name)
    if np.isnan(means).all():
        return []
    return [found.names[i] for i in np.flatnonzero(means >= np.nanmax(means) - _NEAR)]


def _best(found: ComparedConstructions) -> str:
    best = _highest(found, "adr_1")
    if not best:
        return "No list has two documents, so that nothing can be said of consistency."
    top, over = found[best[0]].record()["adr_1"], _over(found)
    if len(found.rows) == 1:
        return f"Lists by {best[0]} have an ADR-1 consistency of {top:.3f}{over}."
    if len(best) == len(found.rows):
        return f"All constructions are equally consistent: ADR-1 {top:.3f}{over}."
    base = "" if found.baseline in best else f", against {found[found.baseline].record()['adr_1']:.3f} by "
    makes = "makes" if len(best) == 1 else "make"
    against = found.baseline if base else ""
    return f"{listed(best)} {makes} the most consistent lists: ADR-1 {top:.3f}{over}{base}{against}."


def _over(found: ComparedConstructions) -> str:
    return f" in the mean over {len(found.queries):,} queries" if len(found.queries) > 1 else ""


def _told_apart(found: ComparedConstructions) -> str:
    others = [row for row in found.rows if np.isfinite(row.p_consistency)]
    if not others:
        return ""
    better = [row.name for row in others if row.p_consistency <= _LEVEL]
    rest = [row.name for row in others if row.p_consistency > _LEVEL]
    if not better:
        return f"None is significantly more consistent than {found.baseline} at {_LEVEL:g}."
    verb = "is" if len(better) == 1 else "are"
    left = f"; {listed(rest)} {'is' if len(rest) == 1 else 'are'} not" if rest else ""
    return f"Significantly more consistent than {found.baseline} at {_LEVEL:g} {verb} {listed(better)}{left}."


def _held_out(found: ComparedConstructions) -> str:
    best, of_all = _highest(found, "held_out"), _highest(found, "adr_1")
    if not best or len(found.rows) < 2:
        return ""
    value = found[best[0]].record()["held_out"]
    same = set(best) & set(of_all)
    but = "" if same else f", not {listed(of_all)}"
    verb = "comes" if len(best) == 1 else "come"
    return f"By answers that lists were not made from, {listed(best)} {verb} first ({value:.3f}){but}."


def _sparse(found: ComparedConstructions) -> str:
    n_compared, n_pairs = found.pairs_compared
    if n_compared == n_pairs or len(found.rows) < 2:
        return ""
    return (
        f"But only {n_compared:,} of {n_pairs:,} pairs were asked about, and then consistency says little of which "
        "lists are right: with simulated people Any and Bradley-Terry find most of the true order, All the least."
    )


def _related(found: ComparedConstructions) -> str:
    known = np.array([row.correlation for row in found.rows])
    known = known[np.isfinite(known)]
    if not len(known):
        return ""
    less = int((known < 0).sum())
    span = f"r from {known.min():.2f} to {known.max():.2f}" if len(known) > 1 else f"r = {known[0]:.2f}"
    if less == len(known):
        return f"The larger the groups of a query, the less consistent its list ({span})."
    return f"Larger groups go with less consistency by {less} of {len(known)} constructions ({span})."


def construction_table(found: ComparedConstructions) -> TableBlock:
    """A row a construction: consistency, sizes, what contradicts the lists, tests against the baseline."""
    has_halves = bool(np.isfinite(_means(found.rows, "held_out")).any())
    against = f"paired one-tailed t-test over queries against {found.baseline}"
    columns = (
        Heading("Construction", "left"),
        Heading("ADR-1", about="mean consistency with one-tailed tests"),
        Heading("p", about=f"{against}: more consistent"),
        Heading("ADR-2", about="mean consistency with two-tailed tests"),
        *(
            [
                Heading(
                    "Held out", about=f"ADR-1 by the half of the answers that a list was not made from, {_times(found)}"
                )
            ]
            if has_halves
            else []
        ),
        Heading("Group size", about="documents a group, in the mean"),
        Heading("p, smaller", about=f"{against}: smaller groups"),
        Heading("r", about="Pearson's r of documents a group and ADR-1 over queries"),
        Heading("Intra", about="pairs in one group that differ, of those there are"),
        Heading("Inter", about="pairs in different groups that do not differ, of those there are"),
        Heading("Misordered", about="pairs in the wrong order"),
    )
    rows = tuple(_construction_cells(row, has_halves=has_halves) for row in found.rows)
    places = {"adr_1": 1, "adr_2": 3} | ({"held_out": 4} if has_halves else {})
    best = {(found.names.index(name), place) for key, place in places.items() for name in _highest(found, key)}
    caption = f"Constructions compared on {counted(len(found.queries), 'query')}."
    emphasised = frozenset(best) if len(found.rows) > 1 else frozenset[tuple[int, int]]()
    return TableBlock("constructions-compared", caption, columns, rows, found.to_dicts(), emphasised)


def _times(found: ComparedConstructions) -> str:
    return {1: "once", 2: "twice"}.get(found.halves, f"{found.halves} times")


def _construction_cells(row: ComparedConstruction, *, has_halves: bool) -> tuple[str, ...]:
    record = row.record()
    return (
        row.name,
        number(record["adr_1"], 3),
        _p(row.p_consistency),
        number(record["adr_2"], 3),
        *([number(record["held_out"], 3)] if has_halves else []),
        number(record["documents_a_group"], 2),
        _p(row.p_group_size),
        number(row.correlation, 2),
        f"{row.intra:,}/{row.n_within:,}",
        f"{row.inter:,}/{row.n_between:,}",
        f"{row.misordered:,}",
    )


def _p(value: float) -> str:
    return "–" if np.isnan(value) else shown_p(value)


def _spread(found: ComparedConstructions) -> FigureBlock:
    data = figures.ByConstruction(
        found.names,
        tuple(row.adr_1 for row in found.rows),
        tuple(row.group_size for row in found.rows),
        tuple(float(value) for value in _means(found.rows, "held_out")),
    )
    low, high = np.nanmin(_means(found.rows, "adr_1")), np.nanmax(_means(found.rows, "adr_1"))
    caption = "Every tick is a query; the line holds the middle half, the dot is the median, the diamond the mean."
    alt = (
        f"Consistency and group sizes of {len(found.rows)} constructions over {len(found.queries)} queries; mean "
        f"consistencies lie between {low:.3f} and {high:.3f}."
    )
    return FigureBlock("constructions-spread", caption, alt, data, figures.by_construction)


def _by_query(found: ComparedConstructions) -> TableBlock:
    columns = (Heading("Query", "left"), *(Heading(name) for name in found.names))
    values = np.stack([row.adr_1 for row in found.rows], axis=1)
    rows = tuple(
        (cleaned(query), *(number(float(v), 3) for v in line))
        for query, line in zip(found.queries, values, strict=True)
    )
    records: list[dict[str, Any]] = [
        {"query": query, **dict(zip(found.names, line, strict=True))}
        for query, line in zip(found.queries, values.tolist(), strict=True)
    ]
    return TableBlock("consistency-by-query", "ADR-1 consistency of each list.", columns, rows, records)


def _systems(found: ComparedSystems) -> Section:
    blocks: list[Block] = [Paragraph(" ".join(system_sentences(found))), _means_table(found)]
    if len(found.systems) > 1:
        blocks.append(_changes(found))
        if len(found.constructions) > 1:
            blocks.append(_places_figure(found))
    return Section("systems-by-construction", "How systems rank by each construction", tuple(blocks))


def system_sentences(found: ComparedSystems) -> list[str]:
    """Whether it matters for systems how lists were made."""
    base, means = found.constructions[found.baseline], found.means
    winners = dict.fromkeys(found.systems[int(i)] for i in means.argmax(axis=1))
    about = f"{len(found.systems):,} systems by {found.measure} on {len(found.queries):,} queries"
    if len(found.systems) < 2:
        return [f"{found.systems[0]} by {found.measure}: with one system there is no ranking."]
    best = (
        f"{next(iter(winners))} is the best of {about}, whatever construction makes the lists."
        if len(winners) == 1
        else f"Which of {about} is the best hangs on the construction: {listed(list(winners))}."
    )
    others = np.delete(np.arange(len(found.constructions)), found.baseline)
    if np.isnan(found.tau[others]).all():
        return [best]
    least = int(others[np.nanargmin(found.tau[others])])
    if not found.swapped.any():
        return [best, f"No pair of systems changes its order against {base}."]
    return [
        best,
        f"Against {base} the ranking changes most with {found.constructions[least]}: τ = {_tau(found, least)}, "
        f"{counted(int(found.moved[least]), 'system')} of {len(found.systems)} in another place, "
        f"{counted(int(found.swapped[least]), 'pair')} of {_pairs(found)} in the opposite order.",
    ]


def _pairs(found: ComparedSystems) -> int:
    return len(found.systems) * (len(found.systems) - 1) // 2


def _tau(found: ComparedSystems, i: int) -> str:
    ends = "" if np.isnan(found.tau_low[i]) else f" [{found.tau_low[i]:.2f}, {found.tau_high[i]:.2f}]"
    return f"{number(float(found.tau[i]), 2)}{ends}"


def _order(found: ComparedSystems) -> list[int]:
    """Systems from the best to the worst by the baseline."""
    return [int(i) for i in np.argsort(-found.means[found.baseline], kind="stable")]


def _means_table(found: ComparedSystems) -> TableBlock:
    order, means = _order(found), found.means
    columns = (Heading("System", "left"), *(Heading(name) for name in found.constructions))
    rows = tuple((found.systems[s], *(f"{value:.3f}" for value in means[:, s])) for s in order)
    records: list[dict[str, Any]] = [
        {"system": found.systems[s], **dict(zip(found.constructions, means[:, s].tolist(), strict=True))} for s in order
    ]
    top = means.max(axis=1)
    best = frozenset((r, 1 + c) for r, s in enumerate(order) for c in range(len(top)) if means[c, s] >= top[c] - 1e-12)
    base = found.constructions[found.baseline]
    caption = f"Mean {found.measure} of each system by the lists of each construction, best first by {base}."
    return TableBlock("systems-means", caption, columns, rows, records, best)


def _changes(found: ComparedSystems) -> TableBlock:
    base = found.constructions[found.baseline]
    columns = (
        Heading("Construction", "left"),
        Heading("τ", about=f"Kendall's tau-b with the ranking by {base}; 95 % intervals from resampled queries"),
        Heading("Moved", about=f"systems of {len(found.systems)} that have another place than by {base}"),
        Heading("Swapped", about=f"pairs of {_pairs(found)} that have the opposite order"),
    )
    rows = tuple(
        (name, "1" if i == found.baseline else _tau(found, i), str(found.moved[i]), str(found.swapped[i]))
        for i, name in enumerate(found.constructions)
    )
    caption = f"How the ranking of systems differs from that by {base}."
    return TableBlock("systems-tau", caption, columns, rows, found.to_dicts())


def _places_figure(found: ComparedSystems) -> FigureBlock:
    order = _order(found)[:_MOST_SYSTEMS_DRAWN]
    means = found.means[:, order]
    all_means = found.means
    places = (all_means[:, None, :] > means[:, :, None] + 1e-12).sum(axis=2) + 1
    data = figures.Places(
        tuple(found.systems[s] for s in order),
        found.constructions,
        places,
        found.tau,
        len(found.systems),
        found.baseline,
    )
    some = (
        f" The {_MOST_SYSTEMS_DRAWN} best of {len(found.systems)}." if len(found.systems) > _MOST_SYSTEMS_DRAWN else ""
    )
    caption = f"Place of each system by the lists of each construction; those that never move are grey.{some}"
    moving = int((places != places[:1]).any(axis=0).sum())
    alt = f"Places of {len(order)} systems by {len(found.constructions)} constructions; {moving} of them change places."
    return FigureBlock("systems-places", caption, alt, data, figures.places)


_MOST_LISTS_DRAWN = 12


@dataclass(frozen=True)
class Experts:
    """What is made of experts' answers for a report.

    ``truth`` are lists made from them, ``judged`` the judgments of the evaluation as lists, measured by the answers;
    None where no document of the judgments was put to experts. ``compared`` are the constructions with the systems.
    """

    truth: GroundTruth
    judged: GroundTruth | None
    compared: ComparedConstructions
    notes: tuple[str, ...]


def experts_of(answers: Answers, collection: Collection) -> Experts:
    """Lists in the six ways of the literature, systems by each, and the judgments of the collection as lists."""
    with kept_warnings() as notes:
        compared = compare_constructions(answers, PAPER_CONSTRUCTIONS, runs=collection, halves=0)
        try:
            judged = check_lists(judgments_as_lists(collection), answers)
        except AdjudgeError:  # judgments of other queries or other documents are no lists of these
            judged = None
    return Experts(compared[DEFAULT_CONSTRUCTION].truth, judged, compared, tuple(dict.fromkeys(notes)))


def judgments_as_lists(collection: Collection) -> PartialLists:
    """Documents of one grade are a group, the highest grade first; what is not relevant is in no list."""
    levels: dict[str, dict[float, list[str]]] = {}
    for (query, document), grade in collection.need_judgments().by_pair().items():
        if grade > 0:
            levels.setdefault(query, {}).setdefault(grade, []).append(document)
    groups = {query: [found[grade] for grade in sorted(found, reverse=True)] for query, found in levels.items()}
    return PartialLists.from_groups(groups)


@section("experts")
def experts(evidence: Evidence) -> Section | None:
    """How far experts bear out the ground truth, and what hangs on how it was made; nothing without their answers."""
    found = evidence.experts
    if found is None:
        return None
    shown = found.judged or found.truth
    blocks: list[Block] = [Paragraph(_conclusion(found)), *(Paragraph(note) for note in found.notes)]
    blocks.append(
        lists_table(shown, what="The judgments as lists" if found.judged else f"Lists by {DEFAULT_CONSTRUCTION}")
    )
    figure = size_figure(shown)
    if figure is not None:
        blocks.append(figure)
    blocks += [block for part in construction_sections(found.compared) for block in part.blocks]
    least = [shown.built[place] for place in least_consistent(shown, _MOST_LISTS_DRAWN)]
    if len(least) < len(shown):
        blocks.append(Paragraph(f"Drawn below are the {len(least)} least consistent of {len(shown):,} lists."))
    for place, one in enumerate(least, start=1):
        blocks += [Paragraph(list_sentences(one)), *list_figures(one, place)]
    return Section("experts", "How far experts bear out the ground truth", tuple(blocks))


def _conclusion(found: Experts) -> str:
    mean = found.truth.consistency()
    made = f"Lists made from experts' answers by {DEFAULT_CONSTRUCTION} have a mean ADR-1 consistency of {mean:.3f}"
    if found.judged is None:
        return f"{made}. The judgments of this page are not about documents that experts were asked about."
    value = found.judged.consistency()
    if np.isnan(value):
        return f"{made}. The judgments of this page put no two of their documents into lists."
    return (
        "Documents of one grade are a group, and the groups of a query are a list: so the judgments of this page have "
        f"a mean ADR-1 consistency of {value:.3f} with what experts said, where 1 means that they contradict nothing. "
        f"{made}."
    )
