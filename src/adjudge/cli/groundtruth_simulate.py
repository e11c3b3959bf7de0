"""``adjudge groundtruth simulate``: rankings by simulated experts, whose true lists are known."""

from __future__ import annotations

import argparse
import os

from adjudge.cli.options import Subparsers
from adjudge.cli.output import check_output
from adjudge.errors import AdjudgeError

_EXAMPLES = """examples:
  adjudge groundtruth simulate -o rankings.csv
  adjudge groundtruth simulate --experts 10 --noise 2 --lists truth.groups -o rankings.csv
  adjudge groundtruth check truth.groups rankings.csv
"""
_WHOLE = (
    ("queries", 11, "queries to rank documents for"),
    ("documents", 25, "documents of a query"),
    ("experts", 35, "experts, the same for all queries"),
    ("groups", 10, "groups that the documents of a query truly make"),
)
_SHARES = (
    ("noise", 1.0, "how far experts see documents from their place; groups are 1 apart on average"),
    ("unranked", 0.2, "share of the documents that an expert leaves unranked, the furthest"),
    ("ties", 0.0, "distance below which experts may tie documents"),
)


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "simulate",
        help="rankings by simulated experts",
        description="Rankings by experts who see the true groups of documents with noise: to try things out, and to "
        "see how many experts it takes.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, usual, about in _WHOLE:
        parser.add_argument(f"--{name}", type=int, default=usual, metavar="N", help=f"{about} (default: {usual})")
    for name, share, about in _SHARES:
        parser.add_argument(f"--{name}", type=float, default=share, metavar="X", help=f"{about} (default: {share:g})")
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same rankings (default: 0)")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="rankings to write: .csv, .tsv, .json")
    parser.add_argument("--lists", metavar="FILE", help="write the true lists, too: .groups, .json, .csv, .tsv")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Simulate, write."""
    from adjudge.cli.groundtruth_options import check_lists_name
    from adjudge.groundtruth.files import write_lists, write_rankings
    from adjudge.groundtruth.simulated import simulate_rankings
    from adjudge.groundtruth.summary import asked_of

    if arguments.seed < 0:
        raise AdjudgeError(f"'seed' must be 0 or more, got {arguments.seed}")
    check_lists_name(arguments.lists)
    if arguments.lists is not None and os.path.realpath(arguments.lists) == os.path.realpath(arguments.output):
        raise AdjudgeError(f"{arguments.output}: expected one file for the rankings and another for the lists")
    for target in (arguments.output, arguments.lists):
        check_output(argparse.Namespace(output=target))
    options = {name: getattr(arguments, name) for name, _, _ in (*_WHOLE, *_SHARES)}
    made = simulate_rankings(**options, seed=arguments.seed)
    write_rankings(made.rankings, arguments.output)
    print(f"Wrote {asked_of(made.rankings)} for {arguments.queries} queries to {arguments.output}. Try:")
    print(f"  adjudge groundtruth compare {arguments.output}")
    print(f"  adjudge groundtruth build {arguments.output} -o lists.groups --report lists.html")
    if arguments.lists is not None:
        write_lists(made.truth, arguments.lists)
        print(f"The true lists are in {arguments.lists}. Try:")
        print(f"  adjudge groundtruth check {arguments.lists} {arguments.output}")
