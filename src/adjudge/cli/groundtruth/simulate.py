"""``adjudge groundtruth simulate``: rankings or preferences by simulated experts, whose true lists are known."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from adjudge.checks import COUNT, NOT_NEGATIVE, SEED, SEVERAL, SHARE_BELOW_ALL
from adjudge.cli.command import command
from adjudge.cli.options import add_option
from adjudge.cli.output import check_output
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.groundtruth import PartialLists, Preferences, Rankings


_EXAMPLES = """examples:
  adjudge groundtruth simulate -o rankings.csv
  adjudge groundtruth simulate --experts 10 --noise 2 --lists truth.groups -o rankings.csv
  adjudge groundtruth check truth.groups rankings.csv
  adjudge groundtruth simulate --preferences --lists truth.groups -o preferences.csv
"""
_RANKINGS = "adjudge.groundtruth.simulated:simulate_rankings"
_PREFERENCES = "adjudge.groundtruth.simulated:simulate_preferences"
_NUMBERS = {
    "queries": (COUNT, "queries to ask about", ""),
    "documents": (SEVERAL, "documents of a query", ""),
    "experts": (COUNT, "experts, the same for all queries", ""),
    "groups": (COUNT, "groups that the documents of a query truly make", ""),
    "noise": (NOT_NEGATIVE, "how far experts see documents from their place; groups are 1 apart on average", ""),
    "unranked": (SHARE_BELOW_ALL, "share of the documents that an expert leaves unranked, the furthest", ""),
    "ties": (
        NOT_NEGATIVE,
        "distance below which experts tie documents",
        f"; {{{_PREFERENCES}.ties}} with --preferences",
    ),
}
_SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".json")


def _add_options(parser: argparse.ArgumentParser) -> None:
    for name, (constraint, about, otherwise) in _NUMBERS.items():
        add_option(parser, f"--{name}", type=constraint, help=about, usual=f"{{{_RANKINGS}.{name}}}{otherwise}")
    parser.add_argument(
        "--preferences", action="store_true", help="which of two documents is more similar, for the pairs of a sort"
    )
    add_option(
        parser,
        "--answers",
        type=COUNT,
        help="people asked about a pair",
        usual="{adjudge.groundtruth.simulated:simulate_preferences.answers}",
    )
    parser.add_argument("--seed", type=SEED, default=0, help="the same seed makes the same answers")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help=f"answers to write: {', '.join(_SUFFIXES)}, or - as CSV"
    )
    parser.add_argument("--lists", metavar="FILE", help="write the true lists, too: .groups, .json, .csv, .tsv")


@command(_add_options, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Simulate experts, to try things out and to see how many it takes.

    They rank documents whose true groups they see with noise, or say which of two they prefer for the pairs that
    sorting takes.
    """
    from adjudge.groundtruth.answers import Rankings
    from adjudge.groundtruth.building import asked_of
    from adjudge.groundtruth.files import write_lists, write_preferences, write_rankings
    from adjudge.text import counted

    _check(arguments)
    answers, truth = _simulated(arguments)
    target = arguments.output
    if isinstance(answers, Rankings):
        write_rankings(answers, target)
    else:
        write_preferences(answers, target)
    if arguments.lists is not None:
        write_lists(truth, arguments.lists)
    if "-" in (target, arguments.lists):
        return
    print(f"Wrote {asked_of(answers)} for {counted(len(answers.queries), 'query')} to {target}. Try:")
    print(f"  adjudge groundtruth compare {target}")
    print(f"  adjudge groundtruth build {target} -o lists.groups --report lists.html")
    if arguments.lists is not None:
        print(f"The true lists are in {arguments.lists}. Try:")
        print(f"  adjudge groundtruth check {arguments.lists} {target}")


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what cannot work before any work is done."""
    from pathlib import Path

    from adjudge.cli.groundtruth.options import check_lists_name
    from adjudge.io import without_compression

    if arguments.preferences and arguments.unranked is not None:
        raise AdjudgeError("--unranked is about rankings, and --preferences makes none")
    if not arguments.preferences and arguments.answers is not None:
        raise AdjudgeError("--answers are asked for with --preferences; expected it, got rankings")
    known = _SUFFIXES[:-1] if arguments.preferences else _SUFFIXES
    if arguments.output != "-" and without_compression(Path(arguments.output)).suffix.lower() not in known:
        raise AdjudgeError(f"{arguments.output}: expected a name of answers that ends in {', '.join(known)}")
    check_lists_name(arguments.lists)
    if arguments.lists is not None and os.path.realpath(arguments.lists) == os.path.realpath(arguments.output):
        raise AdjudgeError(f"{arguments.output}: expected one file for the answers and another for the lists")
    for target in (arguments.output, arguments.lists):
        check_output(argparse.Namespace(output=target))


def _simulated(arguments: argparse.Namespace) -> tuple[Rankings | Preferences, PartialLists]:
    """The answers that the options ask for, and the true lists; options not given are the library's own."""
    from adjudge.groundtruth import simulate_preferences, simulate_rankings

    names = (*_NUMBERS, "answers", "seed")
    options: dict[str, Any] = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if arguments.preferences:
        preferred = simulate_preferences(**options)
        return preferred.preferences, preferred.truth
    ranked = simulate_rankings(**options)
    return ranked.rankings, ranked.truth
