"""``adjudge experiment``: which tests, measures, scales and numbers of queries give conclusions that hold."""

from __future__ import annotations

from functools import partial

from adjudge.cli.experiment import running
from adjudge.cli.experiment.options import KINDS, Kind, add_pages, add_running, add_settings
from adjudge.cli.experiment.running import run
from adjudge.cli.experiment.samples import add_samples
from adjudge.cli.options import Subparsers

_EXAMPLES = (
    "examples:\n"
    + "".join(f"  {kind.example}\n" for kind in KINDS.values())
    + """then:
  adjudge experiment show power-1a2b3c4d --alpha 0.01
  adjudge experiment resume power-1a2b3c4d --trials 2000
"""
)


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command and those below it."""
    parser = commands.add_parser(
        "experiment",
        help="which tests, measures and numbers of queries can be trusted",
        description="Monte-Carlo experiments about evaluation itself, on your own data: queries are drawn again and "
        "again, and systems compared on them. Every experiment is kept in a folder, can be interrupted and gone on "
        "with, and gives the same numbers with any number of workers.",
        epilog=_EXAMPLES,
    )
    below = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=type(parser))
    for name, kind in KINDS.items():
        _add_kind(below, name, kind)
    running.add(below)


def _add_kind(commands: Subparsers, name: str, kind: Kind) -> None:  # type: ignore[type-arg]
    parser = commands.add_parser(
        name,
        help=kind.help,
        description=kind.about,
        epilog=f"example:\n  {kind.example}\n",
    )
    add_samples(parser)
    add_settings(parser, name)
    add_running(parser)
    parser.add_argument(
        "--folder",
        metavar="DIR",
        help=f"where trials are kept (default: {name}- and eight digits, of data and settings)",
    )
    add_pages(parser)
    parser.set_defaults(run=partial(run, name))
