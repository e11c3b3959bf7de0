"""``adjudge groundtruth``: partially ordered lists from experts' rankings or preferences, and how good they are."""

from __future__ import annotations

from adjudge.cli.groundtruth import build, compare, show, simulate
from adjudge.cli.options import Subparsers

_EXAMPLES = """examples:
  adjudge groundtruth simulate -o rankings.csv
  adjudge groundtruth compare rankings.csv
  adjudge groundtruth build rankings.csv --construction Any-1 -o lists.groups --report lists.html
  adjudge groundtruth show rankings.csv --query q01
  adjudge groundtruth check lists.groups rankings.csv
then:
  adjudge score lists.groups runs/*.txt -m ADR
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command and those below it."""
    parser = commands.add_parser(
        "groundtruth",
        help="partially ordered lists from experts' rankings or preferences",
        description="Where documents have no natural grades, experts rank them or say which of two is more similar to "
        "the query, and the ground truth is a list of groups: documents that experts tell apart are in different ones. "
        "Build such lists, see how consistent they are with the answers, and compare ways of making them.",
        epilog=_EXAMPLES,
    )
    below = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=type(parser))
    for module in (build, compare, show, simulate):
        module.add(below)
