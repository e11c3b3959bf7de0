"""``adjudge campaign``: everything about campaigns that needs no browser, on the data of a server."""

from __future__ import annotations

from adjudge.cli.campaign import archive, create, files, people, rehearse, state
from adjudge.cli.options import Subparsers

_EXAMPLES = """examples:
  adjudge campaign user add ann --admin
  adjudge campaign create songs runs/*.txt --metadata tracks.csv --audio clips --scale broad --scale fine
  adjudge campaign open songs
  adjudge campaign invite songs --count 5
  adjudge campaign export songs qrels -o judgments.txt
  adjudge campaign create lists --questions questions.csv --documents clips --recruiter prolific --code done=C1
  adjudge campaign export lists answers -o answers.csv
  adjudge campaign create incipits --candidates candidates.csv --documents incipits --judged-by 10
  adjudge campaign export incipits rankings -o rankings.csv

The commands work on the folder of the data, whether or not a server runs on it.
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command and those below it."""
    parser = commands.add_parser(
        "campaign",
        help="campaigns: create, open, invite, export, back up",
        description="Campaigns of judgments, preferences or rankings on the data of a server (see 'adjudge serve').",
        epilog=_EXAMPLES,
    )
    below = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=type(parser))
    add_commands(below)


def add_commands(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the commands about campaigns."""
    for module in (create, state, people, files, archive, rehearse):
        module.add(commands)
