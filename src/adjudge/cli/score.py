"""``adjudge score``: effectiveness of runs, with intervals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.cli.options import Subparsers, add_collection, add_output, read_collection
from adjudge.cli.output import check_output, command_line, progress, show, style_of
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.model.collection import Collection

_EXAMPLES = """examples:
  adjudge score qrels.txt runs/*.txt -m nDCG@10 -m AP
  adjudge score judgments.tsv runs.tsv --scale fine -m "CG@5 nDCG@5 AP(rel=40)@5"
  adjudge score qrels.txt run.gz --per-query --csv -o scores.csv
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "score",
        help="effectiveness of runs, with intervals",
        description="Mean effectiveness of every system under every measure, its interval, and how much was judged.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_collection(parser)
    add_scoring(parser)
    add_output(parser)
    parser.set_defaults(run=run)


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Options of the evaluation itself, shared with ``adjudge demo``."""
    group = parser.add_argument_group("scoring")
    group.add_argument(
        "-m",
        "--measure",
        dest="measures",
        action="append",
        metavar="MEASURE",
        help="a measure, or several in quotes; repeatable (default: a few by scale and depth)",
    )
    group.add_argument(
        "--unjudged",
        choices=("zero", "condensed", "bounds"),
        default="zero",
        help="unjudged documents: grade 0, removed, or bounds over all their grades (default: zero)",
    )
    group.add_argument(
        "--missing",
        choices=("zero", "drop", "error"),
        default="zero",
        help="judged queries that a run lacks: count 0, are left out, or are an error (default: zero)",
    )
    group.add_argument(
        "--ties",
        choices=("trec", "expected"),
        default="trec",
        help="tied scores: by identifier as trec_eval, or expected over all orders (default: trec)",
    )
    group.add_argument("--seed", type=int, default=0, help="seed where orders of ties are drawn (default: 0)")
    group.add_argument("--confidence", type=float, default=0.95, help="level of the intervals (default: 0.95)")
    group.add_argument("--per-query", action="store_true", help="every query instead of means")
    group.add_argument(
        "--sort", metavar="MEASURE", help="order systems by this measure, or by 'system' (default: the first measure)"
    )
    group.add_argument("--digits", type=int, default=3, metavar="N", help="decimals in tables (default: 3)")


def run(arguments: argparse.Namespace) -> None:
    """Read, evaluate, show."""
    check_output(arguments)
    with progress("reading runs") as advance:
        collection = read_collection(arguments, advance)
    show_scores(arguments, collection)


def show_scores(arguments: argparse.Namespace, collection: Collection) -> None:
    """Evaluate a collection and show its effectiveness."""
    from adjudge.measures import default_measures, evaluate
    from adjudge.reports.scores import ScoreTable

    with progress("evaluating") as advance:
        eff = evaluate(
            collection,
            arguments.measures or default_measures(collection),
            unjudged=arguments.unjudged,
            missing=arguments.missing,
            ties=arguments.ties,
            seed=arguments.seed,
            progress=advance,
        )
    table = ScoreTable.of(
        eff,
        confidence=arguments.confidence,
        sort=arguments.sort,
        digits=arguments.digits,
        per_query=arguments.per_query,
        command=command_line(),
    )
    style = style_of(arguments)
    if style == "markdown":
        raise AdjudgeError(f"{arguments.output}: scores are written as .txt, .json, .csv or .tex")
    if style == "text":
        show(arguments, None, table.drawing())
    else:
        show(arguments, table.text(style))
