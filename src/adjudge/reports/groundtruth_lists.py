"""Each list of a ground truth as a section: the list drawn, and a table that anyone can check it with."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from adjudge.arrays import Ints
from adjudge.groundtruth.building import BuiltList
from adjudge.groundtruth.consistency import Inconsistencies
from adjudge.reports.document import Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reports.groundtruth_drawing import DrawnList, drawn_list
from adjudge.reports.groundtruth_names import cleaned, shortened
from adjudge.words import counted, number

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
    some = ", ".join(map(cleaned, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f" In no list: {some}."


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
        Column("Document", "left"),
        Column("Group"),
        Column("Median") if is_rank else Column(evidence.unit.capitalize(), about="the higher, the more similar"),
        *([Column("Mean")] if has_mean else []),
        Column("Middle half", about="quartiles of the ranks") if is_rank else Column("Interval", about="of 95 %"),
        Column("Experts", about="who ranked it") if is_rank else Column("Answers", about="that speak of it"),
        Column("Differs", about="documents of its group that it differs from"),
        Column("Alike", about="documents of other groups that it does not differ from"),
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
