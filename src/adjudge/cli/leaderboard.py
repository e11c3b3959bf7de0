"""``adjudge leaderboard``: systems in order, the ranks that are possible, and who is probably the best."""

from __future__ import annotations

import argparse
from typing import get_args

from adjudge.checks import CONFIDENCE, COUNT, RESAMPLES
from adjudge.cli.command import command
from adjudge.cli.options import add_option, add_pages
from adjudge.cli.output import PAGE_FORMS, check_output, command_line, progress, show_report, with_inputs
from adjudge.cli.score import add_judgments_or_table, check_judgments_or_table, evaluated
from adjudge.errors import AdjudgeError

_EXAMPLES = """examples:
  adjudge leaderboard qrels.txt runs/*.txt -m nDCG@10 -o board.html
  adjudge leaderboard --effectiveness results/*.csv -m nDCG@10 --top 5
  adjudge leaderboard qrels.txt runs -m AP --slices queries.csv --by genre --by length
"""


def add_slices(group: argparse._ArgumentGroup) -> None:
    """Slices of queries, shared with ``adjudge report``."""
    group.add_argument(
        "--slices", metavar="FILE", help="table of queries and their attributes: a board per genre, length, …"
    )
    group.add_argument("--by", action="append", metavar="NAME", help="only slices by this attribute; repeatable")


def check_slices(arguments: argparse.Namespace) -> None:
    """Refuse attributes without the table that has them."""
    if arguments.by and arguments.slices is None:
        raise AdjudgeError("--by names attributes of the table of --slices, got none")


def _add_options(parser: argparse.ArgumentParser) -> None:
    from adjudge.stats.ranks import Chance

    group = parser.add_argument_group("leaderboard")
    group.add_argument("--confidence", type=CONFIDENCE, default=0.95, help="that all possible ranks and tiers hold")
    add_option(group, "--top", type=COUNT, metavar="K", help="P(top) is to be among the first K", usual="3")
    add_option(
        group,
        "--chance",
        choices=get_args(Chance),
        help="P(best) and P(top) by resampled queries, or by a model with a prior learned from all systems",
        usual="bootstrap; model with fewer than 30 queries",
    )
    add_slices(group)
    add_option(group, "--resamples", type=RESAMPLES, help="of queries", usual="10,000, fewer for hundreds of systems")


@command(add_judgments_or_table, _add_options, add_pages, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Systems in order, with the ranks that are possible, tiers, and the probability to be the best."""
    from dataclasses import replace

    from adjudge.users.leaderboard.board import leaderboard
    from adjudge.users.leaderboard.report import board_sections

    check_output(arguments, forms=PAGE_FORMS)
    check_judgments_or_table(arguments, also=("scale",))
    check_slices(arguments)
    eff = evaluated(arguments)
    names = ("confidence", "top", "chance", "slices", "by", "resamples", "seed")
    how = {name: getattr(arguments, name) for name in names}
    with progress("ranking systems") as advance:
        boards = []
        for i, measure in enumerate(eff.measures):
            boards.append(leaderboard(eff[measure], **how))
            advance(i + 1, len(eff.measures))
    provenance = boards[0].provenance.with_settings(command=command_line())
    if arguments.slices is not None:
        provenance = with_inputs(provenance, [arguments.slices])
    boards = [replace(board, provenance=provenance) for board in boards]
    sections = [part for i, board in enumerate(boards) for part in board_sections(board, f"leaderboard-{i + 1}")]
    show_report(
        arguments,
        sections,
        title=f"Leaderboard by {', '.join(eff.measures)}",
        subtitle=boards[0].title.partition(": ")[2],
        provenance=provenance.to_dict(),
        values=boards[0].to_dict() if len(boards) == 1 else {"boards": [board.to_dict() for board in boards]},
        records=[row for board in boards for row in board.records()],
    )
