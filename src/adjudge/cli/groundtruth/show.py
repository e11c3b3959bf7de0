"""``adjudge groundtruth show`` and ``constructions``: what experts said of each document; ways of making lists."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from adjudge.cli.command import command
from adjudge.cli.groundtruth.options import (
    add_alpha,
    add_answers,
    add_construction,
    build_options,
    check_queries,
    provenance_of,
    read_answers,
    without_hint,
)
from adjudge.cli.options import add_listing
from adjudge.cli.output import PAGE_FORMS, check_output, made_from, show_report, style_of
from adjudge.errors import kept_warnings

if TYPE_CHECKING:
    from adjudge.groundtruth import BuiltList, GroundTruth
    from adjudge.reporting.document import Section, TableBlock


_STRIP = 31  # characters of the drawing of ranks
_STRIP_AT = 5  # its column
_NAMED = 6  # places to name before "and 3 more"


def _add_showing(parser: argparse.ArgumentParser) -> None:
    add_answers(parser)
    parser.add_argument("-q", "--query", metavar="QUERY", action="append", default=[], help="repeatable (default: all)")
    group = parser.add_argument_group("making lists")
    add_construction(group)
    add_alpha(group)


@command(_add_showing, add_listing)
def run(arguments: argparse.Namespace) -> None:
    """Show the list of a query: its groups, what experts said of each document, which pairs contradict the list."""
    from adjudge.groundtruth import build, parse_construction

    check_output(arguments, forms=PAGE_FORMS)
    construction = parse_construction(arguments.construction)
    answers = read_answers(arguments)
    known = check_queries(arguments.query, answers)
    unasked = [query for query in known if arguments.query and query not in arguments.query]
    with kept_warnings() as notes, without_hint(is_needed=len(answers.queries) > 1 and not arguments.query):
        truth = build(answers.without(unasked), construction, **build_options(arguments))
    shown = [truth[query] for query in dict.fromkeys(arguments.query or known)]
    provenance = provenance_of(arguments, answers).to_dict()
    show_report(
        arguments,
        (*(_section(built, truth, is_text=style_of(arguments) == "text") for built in shown), _legend(truth)),
        title="Partially ordered lists",
        provenance=provenance,
        values={
            "construction": str(construction),
            "alpha": truth.alpha,
            "lists": [
                {"query": built.list.query, "adr_1": built.consistency(1), "adr_2": built.consistency(2)}
                | {"left_out": built.evidence.left_out, "documents": _records(built)}
                for built in shown
            ],
            "notes": list(notes),
            "provenance": provenance,
        },
        records=[_flat(record) for built in shown for record in _records(built)],
        notes=tuple(notes),
    )


def _records(built: BuiltList) -> list[dict[str, Any]]:
    """What is known of each document, and the places of those that contradict where it stands; places from 1."""
    evidence, wrong = built.evidence, built.inconsistencies(1)
    pairs = {"differs_from": wrong.intra, "like": wrong.inter, "misordered": wrong.misordered}
    places = {name: _others(array.tolist()) for name, array in pairs.items()}
    return [
        {
            "query": built.list.query,
            "place": i + 1,
            "group": number + 1,
            "document": document,
            "median": float(evidence.middle[i]),
            "lower": float(evidence.lower[i]),
            "upper": float(evidence.upper[i]),
            "mean": float(evidence.mean[i]) if len(evidence.mean) else None,
            "answers": int(evidence.answers[i]),
            **{name: others.get(i, []) for name, others in places.items()},
        }
        for i, (document, number) in enumerate(zip(built.list.documents, built.list.group_numbers, strict=True))
    ]


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """The same with places as text, for a cell of CSV."""
    return {name: " ".join(map(str, value)) if isinstance(value, list) else value for name, value in record.items()}


def _others(pairs: list[list[int]]) -> dict[int, list[int]]:
    """Places, from 1, of all that each document is paired with."""
    found: dict[int, list[int]] = {}
    for first, second in pairs:
        found.setdefault(first, []).append(second + 1)
        found.setdefault(second, []).append(first + 1)
    return {place: sorted(others) for place, others in found.items()}


def _section(built: BuiltList, truth: GroundTruth, *, is_text: bool) -> Section:
    from adjudge.reporting.document import Paragraph, Section
    from adjudge.text import counted, number

    size = f"{counted(len(built.list), 'document')} in {counted(len(built.list.groups), 'group')}"
    text = (
        f"{built.list.query}: {size}, {truth.made_by} at α = {truth.alpha:g}. "
        f"Consistency: ADR-1 {number(built.consistency(1), 3)}, ADR-2 {number(built.consistency(2), 3)}."
    )
    table = _table(built, text)
    blocks: list[Any] = [_without_strip(table) if not is_text else table]
    if built.evidence.left_out:
        blocks.append(Paragraph(f"In no list: {', '.join(built.evidence.left_out)}."))
    return Section(f"list-{built.list.query}", f"Query {built.list.query}", tuple(blocks))


def _legend(truth: GroundTruth) -> Section:
    from adjudge.reporting.document import Paragraph, Section

    text = (
        "Contradicted by documents, given by their places: ≠ is in the same group and differs, = is in another and "
        f"does not differ, ↕ should stand on the other side ({truth.measured_by}, one tail, α = {truth.alpha:g})."
    )
    return Section("legend", "Marks", (Paragraph(text),))


def _table(built: BuiltList, text: str) -> TableBlock:
    from adjudge.reporting.document import TableBlock
    from adjudge.tables import Heading

    records, evidence = _records(built), built.evidence
    ends = math.floor(min(evidence.lower.min(), evidence.middle.min())), math.ceil(evidence.upper.max())
    is_rank = evidence.unit == "rank"
    left, right = map(str, ends)
    columns = (
        Heading("place"),  # first: where a terminal is narrow, it stands in every part
        Heading("group"),
        Heading("document", "left"),
        Heading("median" if is_rank else evidence.unit),
        Heading("quartiles" if is_rank else "interval"),
        Heading(left.ljust(_STRIP - len(right)) + right, "left"),
        Heading("experts" if is_rank else "answers"),
        Heading("contradicted by", "left"),
    )
    rows, before = [], None
    for record in records:
        rows.append(_cells(record, ends, is_first=record["group"] != before))
        before = record["group"]
    return TableBlock(f"list-{built.list.query}", text, columns, tuple(rows), records)


def _without_strip(table: TableBlock) -> TableBlock:
    """The same without the drawing, which is made of characters of one width."""
    from dataclasses import replace

    def rest(cells: tuple[Any, ...]) -> tuple[Any, ...]:
        return cells[:_STRIP_AT] + cells[_STRIP_AT + 1 :]

    return replace(table, columns=rest(table.columns), rows=tuple(map(rest, table.rows)))


def _cells(record: dict[str, Any], ends: tuple[float, float], *, is_first: bool) -> tuple[str, ...]:
    marks = (("≠", "differs_from"), ("=", "like"), ("↕", "misordered"))
    return (
        f"{record['place']}",
        f"{record['group']}" if is_first else "",
        record["document"],
        f"{record['median']:.2f}",
        f"{record['lower']:.2f} – {record['upper']:.2f}",
        _strip(record["lower"], record["median"], record["upper"], ends),
        f"{record['answers']}",
        "  ".join(f"{mark} {_some(record[name])}" for mark, name in marks if record[name]),
    )


def _some(places: list[int]) -> str:
    """Places, as ranges; the first few and a count where there are many.

    >>> _some([2, 3, 4, 9])
    '2–4, 9'
    """
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    texts = [f"{run[0]}" if len(run) == 1 else f"{run[0]}{'–' if len(run) > 2 else ', '}{run[-1]}" for run in runs]
    rest = sum(map(len, runs[_NAMED:]))
    return ", ".join(texts[:_NAMED]) + (f" and {rest} more" if rest else "")


def _strip(lower: float, middle: float, upper: float, ends: tuple[float, float]) -> str:
    """The quartiles as a line and the median as a dot.

    >>> _strip(1, 2, 3, (1, 3))
    '━━━━━━━━━━━━━━━●━━━━━━━━━━━━━━━'
    """
    width = (ends[1] - ends[0]) or 1.0
    at = [round((value - ends[0]) / width * (_STRIP - 1)) for value in (lower, middle, upper)]
    characters = [" "] * at[0] + ["━"] * (at[2] - at[0] + 1)
    characters[at[1]] = "●"
    return "".join(characters)


@command(add_listing)
def list_constructions(arguments: argparse.Namespace) -> None:
    """Every aggregation function and every comparison of documents; a construction is one of each."""
    from adjudge.groundtruth import COMPARISONS, FUNCTIONS
    from adjudge.groundtruth.evidence import default_comparison
    from adjudge.reporting.document import Paragraph, Section, TableBlock
    from adjudge.tables import Heading

    check_output(arguments, forms=PAGE_FORMS)
    functions: list[dict[str, Any]] = [
        {"function": function.name, "about": function.about} for function in FUNCTIONS.values()
    ]
    comparisons: list[dict[str, Any]] = [
        {
            "comparison": comparison.name,
            "takes": comparison.takes,
            "default": comparison.name == default_comparison(comparison.takes),
            "random": comparison.is_random,
            "about": comparison.about,
        }
        for comparison in COMPARISONS.values()
    ]
    text = (
        "A construction is a function, the tails of its tests and, after a colon, how documents are compared: Any-1, "
        "All-2 (the original of 2005), Any-1:plackett-luce. Without a colon the default comparison is meant."
    )
    blocks = (
        Paragraph(text),
        TableBlock(
            "functions",
            "Functions: where a new group begins.",
            (Heading("function", "left"), Heading("about", "left")),
            tuple((row["function"], row["about"]) for row in functions),
            functions,
        ),
        TableBlock(
            "comparisons",
            "Comparisons: in which order documents stand, and which of them differ; * is the default.",
            (Heading("comparison", "left"), Heading("takes", "left"), Heading("about", "left")),
            tuple((f"{row['comparison']}{'*' * row['default']}", row["takes"], row["about"]) for row in comparisons),
            comparisons,
        ),
    )
    flat = [("function", row["function"], "", row["about"]) for row in functions]
    flat += [("comparison", row["comparison"], row["takes"], row["about"]) for row in comparisons]
    show_report(
        arguments,
        (Section("constructions", "Ways of making lists", blocks),),
        title="Ways of making lists",
        provenance=made_from([], seed=0).to_dict(),
        values={"functions": functions, "comparisons": comparisons},
        records=[dict(zip(("kind", "name", "takes", "about"), row, strict=True)) for row in flat],
    )
