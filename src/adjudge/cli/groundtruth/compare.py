"""``adjudge groundtruth compare``: which way of making lists fits the answers best, and what it does to systems."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.checks import COUNT_OR_NONE
from adjudge.cli.command import command
from adjudge.cli.groundtruth.options import (
    add_alpha,
    add_answers,
    check_report,
    provenance_of,
    read_answers,
    without_hint,
    write_report,
)
from adjudge.cli.options import add_figures, add_listing, add_run_reading, check_run_reading, read_runs
from adjudge.cli.output import PAGE_FORMS, check_output, progress, show_report, style_of
from adjudge.errors import AdjudgeError, kept_warnings

if TYPE_CHECKING:
    from adjudge.groundtruth import Construction, Preferences, Rankings
    from adjudge.groundtruth.comparing import ComparedConstructions
    from adjudge.model.provenance import Provenance
    from adjudge.reporting.document import Section


_EXAMPLES = """examples:
  adjudge groundtruth compare rankings.csv
  adjudge groundtruth compare rankings.csv --constructions All-2 Any-1 Any-1:plackett-luce --halves 50
  adjudge groundtruth compare rankings.csv --runs runs/*.txt --report ways.html
"""
_MODELS = {"rankings": "plackett-luce", "preferences": "bradley-terry"}


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("comparing")
    group.add_argument(
        "--constructions",
        nargs="+",
        metavar="WAY",
        help="ways to compare, as Any-1; tests and rankings of systems are against All-2, or else the first (default: "
        "All-2 and the other five of 2010, Best-1 and a model)",
    )
    group.add_argument(
        "--halves",
        type=COUNT_OR_NONE,
        default=10,
        metavar="N",
        help="times to make lists from half of the answers and measure them by the other half",
    )
    add_alpha(group)
    group = parser.add_argument_group("systems")
    group.add_argument("--runs", metavar="RUN", nargs="+", help="runs to evaluate by the lists")
    group.add_argument("-m", "--measure", default="ADR", metavar="MEASURE", help="to evaluate them with")
    group.add_argument("--metadata", metavar="FILE", help="table of documents, for the artist filter of runs")
    add_run_reading(group)
    add_listing(parser)
    parser.add_argument("--report", metavar="FILE", help="write a report, with the lists of the best way drawn")
    add_figures(parser)


@command(add_answers, _add_options, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Make lists in several ways from the same answers, and compare them.

    How consistent they are, with the answers that they were made from and with others, how large their groups are and,
    with runs, how the ranking of systems changes.
    """
    from adjudge.groundtruth import parse_construction
    from adjudge.groundtruth.comparing import compare_constructions

    inputs = [arguments.answers, *(arguments.runs or ()), *filter(None, (arguments.metadata, arguments.teams))]
    _check(arguments, inputs)
    asked = [parse_construction(way) for way in arguments.constructions or ()]
    collection = None if arguments.runs is None else read_runs(arguments)
    answers = read_answers(arguments)
    is_one = len(answers.queries) == 1
    with progress("comparing") as advance, kept_warnings() as notes, without_hint(is_needed=not is_one):
        found = compare_constructions(
            answers,
            asked or _usual(answers),
            alpha=arguments.alpha,
            unranked=arguments.unranked or "skip",
            runs=collection,
            measure=arguments.measure,
            halves=arguments.halves,
            seed=arguments.seed,
            progress=advance,
        )
    _show(arguments, found, answers, provenance_of(arguments, answers, inputs), list(notes))


def _check(arguments: argparse.Namespace, inputs: list[str]) -> None:
    """Refuse what cannot work before any work is done."""
    from adjudge.measures import parse_measure

    check_output(argparse.Namespace(**{**vars(arguments), "runs": inputs}), forms=PAGE_FORMS)
    check_report(arguments, inputs, needs_report=False)
    parse_measure(arguments.measure)
    check_run_reading(arguments)
    if arguments.measure != "ADR" and arguments.runs is None:
        raise AdjudgeError("--measure is about systems; expected --runs, got none")


def _usual(answers: Rankings | Preferences) -> list[Construction]:
    """The six of the paper, the most consistent cut, and a model of the answers."""
    from adjudge.groundtruth import parse_construction
    from adjudge.groundtruth.building import takes_of
    from adjudge.groundtruth.comparing import PAPER_CONSTRUCTIONS

    names = (*PAPER_CONSTRUCTIONS, "Best-1", f"Any-1:{_MODELS[takes_of(answers)]}")
    return [parse_construction(name) for name in names]


def _show(
    arguments: argparse.Namespace,
    found: ComparedConstructions,
    answers: Rankings | Preferences,
    made: Provenance,
    notes: list[str],
) -> None:
    """The report into its file; sentences and tables in the form asked for."""
    from adjudge.groundtruth.building import asked_of
    from adjudge.groundtruth.report import construction_sections, construction_sentences

    if arguments.report is not None:
        notes += write_report(arguments, found.best.truth, answers, made=made, comparison=found)
    provenance = made.to_dict()
    show_report(
        argparse.Namespace(**{**vars(arguments), "figures": None if arguments.report else arguments.figures}),
        _plain_sections(found) if style_of(arguments) == "text" else construction_sections(found),
        title="Ways of making lists",
        subtitle=f"From {asked_of(answers)}",
        provenance=provenance,
        values=found.to_dict() | {"summary": construction_sentences(found), "provenance": provenance},
        records=found.to_dicts(),
        notes=tuple(notes),
    )


def _plain_sections(found: ComparedConstructions) -> list[Section]:
    """The same for a terminal: a line per sentence, and under the table what its columns are."""
    from dataclasses import replace

    from adjudge.groundtruth.report import construction_sections, construction_sentences
    from adjudge.reporting.document import Paragraph, TableBlock

    first, *others = construction_sections(found)
    _, table, *rest = first.blocks
    about = (
        [f"{column.name}: {column.about}" for column in table.columns if column.about]
        if isinstance(table, TableBlock)
        else []
    )
    blocks = (*map(Paragraph, construction_sentences(found)), table, Paragraph("; ".join(about) + "."), *rest)
    return [replace(first, blocks=blocks), *others]
