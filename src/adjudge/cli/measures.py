"""``adjudge measures``: every measure with its equation and reference."""

from __future__ import annotations

import argparse

from adjudge.cli.options import Subparsers, add_output
from adjudge.cli.output import check_output, show, style_of


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "measures",
        help="explain the measures",
        description="Every measure with its equation and reference; name some to read all about them.",
    )
    parser.add_argument(
        "names", metavar="MEASURE", nargs="*", help="measures to explain in full, such as nDCG or ndcg_cut_10"
    )
    add_output(parser, page="markdown")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """List measures, or explain some."""
    from adjudge.measures import MEASURES, guide, parse_measure

    check_output(arguments)
    chosen = [parse_measure(name).definition for name in arguments.names]
    definitions = chosen or list(MEASURES.values())
    style = style_of(arguments)
    if style == "text":
        show(arguments, guide.explained(chosen) if chosen else guide.overview(definitions))
    else:
        show(arguments, guide.text(definitions, style))
