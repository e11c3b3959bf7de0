"""``adjudge audio``: from a folder of music to clips, features and baseline runs."""

from __future__ import annotations

from adjudge.cli.audio import features, prepare, runs, statistics, systems
from adjudge.cli.options import Subparsers

_EXAMPLES = """examples:
  adjudge audio prepare music -o lab
  adjudge audio runs lab
  adjudge audio statistics lab
then:
  adjudge estimate lab/runs --metadata lab/tracks.csv --sound lab --scale fine -m CG@5
  adjudge campaign create songs lab/runs --metadata lab/tracks.csv --audio lab/clips
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command and those below it."""
    parser = commands.add_parser(
        "audio",
        help="from a folder of music to clips, features and baseline runs",
        description="Cut clips that are equally loud and play everywhere from a folder of recordings, compute what "
        "they sound like, and let baseline systems retrieve similar ones: all that a campaign needs.",
        epilog=_EXAMPLES,
    )
    below = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=type(parser))
    for module in (prepare, features, runs, statistics, systems):
        module.add(below)
