"""``adjudge score``: effectiveness of runs, with intervals."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from adjudge.checks import DIGITS, SEED, Missing, Ties, Unjudged
from adjudge.cli.command import command
from adjudge.cli.options import (
    add_collection,
    add_intervals,
    add_output,
    add_users,
    own_mappings,
    read_collection,
    with_users_file,
)
from adjudge.cli.output import TABLE_FORMS, check_output, command_line, progress, say, show, style_of
from adjudge.errors import AdjudgeError, kept_warnings

if TYPE_CHECKING:
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import Effectiveness

_EXAMPLES = """examples:
  adjudge score qrels.txt runs/*.txt -m nDCG@10 -m AP
  adjudge score judgments.tsv runs.tsv --scale fine -m "CG@5 nDCG@5 AP(rel=40)@5"
  adjudge score judgments.tsv runs.tsv --scale fine -m CG@5 --users mapping.json
  adjudge score qrels.txt run.gz --per-query --csv -o scores.csv
"""


def add_evaluation(parser: argparse.ArgumentParser) -> None:
    """Which measures, and what happens at the edges; shared by all commands that evaluate."""
    group = parser.add_argument_group("evaluating")
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
        choices=get_args(Unjudged),
        default="zero",
        help="unjudged documents: grade 0, removed, or bounds over all their grades",
    )
    group.add_argument(
        "--missing",
        choices=get_args(Missing),
        default="zero",
        help="judged queries that a run lacks: count 0, are left out, or are an error",
    )
    group.add_argument(
        "--ties",
        choices=get_args(Ties),
        default="trec",
        help="tied scores: by identifier as trec_eval, or expected over all orders",
    )
    group.add_argument("--seed", type=SEED, default=0, help="seed of whatever is drawn")


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Options of the table of scores, shared with ``adjudge demo``."""
    add_evaluation(parser)
    group = parser.add_argument_group("scoring")
    add_intervals(group)
    group.add_argument(
        "--satisfaction", action="store_true", help="beside effectiveness, how many users would be satisfied"
    )
    add_users(group)
    group.add_argument("--per-query", action="store_true", help="every query instead of means")
    group.add_argument(
        "--sort", metavar="MEASURE", help="order systems by this measure, or by 'system' (default: the first measure)"
    )
    group.add_argument("--digits", type=DIGITS, default=3)


def add_judgments_or_table(parser: argparse.ArgumentParser) -> None:
    """Judgments and runs, with how to evaluate them, where a table of effectiveness (``--effectiveness``) will do."""
    add_collection(parser, required=False)
    add_evaluation(parser)
    parser.set_defaults(for_judgments=vars(parser.parse_args([])))


def check_judgments_or_table(arguments: argparse.Namespace, *, also: tuple[str, ...] = ()) -> None:
    """Refuse both or neither, bounds of unjudged documents, and options that say nothing about a table.

    Measures, seed and columns do say something about a table, and so do the options in ``also``.
    """
    is_judged = arguments.judgments is not None
    if is_judged == bool(arguments.effectiveness):
        raise AdjudgeError("expected judgments and runs, or --effectiveness with a table, and not both")
    if is_judged and not arguments.runs:
        raise AdjudgeError("expected runs after the judgments, got none")
    if arguments.unjudged == "bounds":
        raise AdjudgeError("'unjudged' must be one of zero, condensed, got 'bounds': they are for 'adjudge score'")
    for name, usual in ({} if is_judged else arguments.for_judgments).items():
        if name not in ("measures", "seed", "columns", *also) and getattr(arguments, name) != usual:
            raise AdjudgeError(f"--{name.replace('_', '-')} is for judgments and runs, not for --effectiveness")


def measures_of_table(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Names of measures of a table, each option one of them or several with spaces between."""
    names = [name for text in given for name in ([text] if text in known else text.split())]
    if not names:
        raise AdjudgeError("expected a measure, got an empty string")
    return list(dict.fromkeys(names))


def evaluated(arguments: argparse.Namespace, collection: Collection | None = None) -> Effectiveness:
    """Effectiveness alone."""
    return read_and_evaluated(arguments, collection)[0]


def read_and_evaluated(
    arguments: argparse.Namespace, collection: Collection | None = None
) -> tuple[Effectiveness, Collection]:
    """Read the collection that the options describe, unless it is given, and evaluate it."""
    from adjudge.measures import default_measures, evaluate, parse_measures

    wanted = parse_measures(arguments.measures) if arguments.measures else None  # a typo should not cost a reading
    if collection is None:
        with progress("reading runs") as advance:
            collection = read_collection(arguments, advance)
    with progress("evaluating") as advance, kept_warnings():  # they are among the notes
        eff = evaluate(
            collection,
            wanted or default_measures(collection),
            unjudged=arguments.unjudged,
            missing=arguments.missing,
            ties=arguments.ties,
            seed=arguments.seed,
            progress=advance,
        )
    return eff, collection


@command(add_collection, add_scoring, add_output, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Mean effectiveness of every system under every measure, its interval, and how much was judged."""
    check_output(arguments, forms=TABLE_FORMS)
    show_scores(arguments, with_users_file(evaluated(arguments), arguments))


def show_scores(arguments: argparse.Namespace, eff: Effectiveness) -> None:
    """Show effectiveness as a table, or as what was asked for."""
    from adjudge.users.scores import ScoreTable

    mappings = own_mappings(arguments)
    satisfying = mappings.satisfaction if mappings is not None else () if arguments.satisfaction else None
    table = ScoreTable.of(
        eff,
        confidence=arguments.confidence,
        interval=arguments.interval,
        sort=arguments.sort,
        digits=arguments.digits,
        per_query=arguments.per_query,
        command=command_line(),
        users=satisfying,
    )
    style = style_of(arguments)
    if style == "text":
        show(arguments, table.table())
    else:
        say(eff.notes)
        show(arguments, table.text(style))
