"""``adjudge groundtruth build`` and ``check``: lists from answers or from elsewhere, and how consistent they are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.cli.command import command
from adjudge.cli.groundtruth.options import (
    LISTS,
    REPORTS,
    add_alpha,
    add_answers,
    add_construction,
    build_options,
    check_lists_name,
    check_report,
    lists_section,
    provenance_of,
    read_answers,
    without_hint,
    write_report,
)
from adjudge.cli.options import add_figures, add_styles
from adjudge.cli.output import check_output, say, show_report
from adjudge.errors import kept_warnings
from adjudge.text import counted

if TYPE_CHECKING:
    from adjudge.groundtruth import GroundTruth, Preferences, Rankings
    from adjudge.model.provenance import Provenance


_EXAMPLES = """examples:
  adjudge groundtruth build rankings.csv -o lists.groups
  adjudge groundtruth build rankings.csv --construction All-2 --alpha 0.1 --report lists.html
  adjudge groundtruth build preferences.csv --construction Any-1:bradley-terry -o lists.json
"""


def _add_building(parser: argparse.ArgumentParser) -> None:
    add_answers(parser)
    group = parser.add_argument_group("making lists")
    add_construction(group)
    add_alpha(group)
    output = _add_output(parser)
    output.add_argument("-o", "--output", metavar="FILE", help=f"write the lists: {', '.join(LISTS)}, or - as text")


def _add_checking(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lists", metavar="LISTS", help="file with lists, or with any judgments")
    add_answers(parser)
    add_alpha(parser.add_argument_group("measuring"))
    _add_output(parser)
    parser.set_defaults(output=None)


def _add_output(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("output")
    add_styles(
        group,
        json="the table as JSON, with lists and provenance",
        csv="the table as CSV",
        markdown="the table as a Markdown page",
        latex="the table for LaTeX",
    )
    group.add_argument("--report", metavar="FILE", help=f"write a report with every list drawn: {', '.join(REPORTS)}")
    add_figures(group)
    return group


@command(_add_building, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Make the list of each query: arrange its documents, and begin a new group where experts tell documents apart."""
    from adjudge.groundtruth import build, parse_construction
    from adjudge.groundtruth.files import write_lists

    _check(arguments, [arguments.answers])
    construction = parse_construction(arguments.construction)
    answers = read_answers(arguments)
    with kept_warnings() as notes, without_hint(is_needed=len(answers.queries) > 1):
        truth = build(answers, construction, **build_options(arguments))
    made = provenance_of(arguments, answers)
    wrote = write_report(arguments, truth, answers, made=made)
    if arguments.output == "-":  # and nothing else on standard output
        write_lists(truth.lists, "-")
        say([*notes, *wrote])
        return
    if arguments.output is not None:
        write_lists(truth.lists, arguments.output)
        wrote.insert(0, f"wrote {counted(len(truth), 'list')} to {arguments.output}")
    _show(arguments, truth, answers, made, [*notes, *wrote])


@command(_add_checking)
def check(arguments: argparse.Namespace) -> None:
    """Measure lists that were made elsewhere by what experts said: consistency, and the pairs that contradict them."""
    from adjudge.groundtruth.building import check_lists
    from adjudge.groundtruth.files import read_lists

    _check(arguments, [arguments.lists, arguments.answers])
    lists, answers = read_lists(arguments.lists), read_answers(arguments)
    with kept_warnings() as notes, without_hint(is_needed=len(answers.queries) > 1):
        truth = check_lists(
            lists, answers, alpha=arguments.alpha, unranked=arguments.unranked or "skip", seed=arguments.seed
        )
    made = provenance_of(arguments, answers, [arguments.lists, arguments.answers])
    wrote = write_report(arguments, truth, answers, made=made)
    _show(arguments, truth, answers, made, [*notes, *wrote])


def _check(arguments: argparse.Namespace, inputs: list[str]) -> None:
    """Refuse what cannot work before any work is done."""
    check_lists_name(arguments.output)
    check_output(argparse.Namespace(output=arguments.output, style="", runs=inputs))
    check_report(arguments, inputs)


def _show(
    arguments: argparse.Namespace,
    truth: GroundTruth,
    answers: Rankings | Preferences,
    made: Provenance,
    notes: list[str],
) -> None:
    """Sentences and the table on standard output, in the form asked for."""
    from adjudge.groundtruth.building import list_records, sentences, total_record

    provenance = made.to_dict()
    said = sentences(truth, answers)
    values = {
        "construction": None if truth.construction is None else str(truth.construction),
        "alpha": truth.alpha,
        "measured_by": truth.measured_by,
        "unranked": truth.unranked,
        "lists": truth.lists.to_groups(),
        "queries": list_records(truth),
        "all": total_record(truth),
        "summary": said,
        "notes": list(truth.notes),
        "provenance": provenance,
    }
    here = argparse.Namespace(output=None, style=arguments.style, figures=None)
    show_report(
        here,
        (lists_section(truth, said),),
        title="Partially ordered lists",
        provenance=provenance,
        values=values,
        records=list_records(truth),
        notes=tuple(notes),
    )
