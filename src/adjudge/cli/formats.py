"""``adjudge formats``: what can be read and written."""

from __future__ import annotations

import argparse

from adjudge.cli.options import Subparsers, add_output
from adjudge.cli.output import check_output, show, style_of


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "formats",
        help="list the file formats",
        description="Formats of runs, judgments and metadata, in the order in which they are tried.",
    )
    add_output(parser, page="markdown")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """List formats."""
    from adjudge.formats import guide

    check_output(arguments)
    style = style_of(arguments)
    if style == "text":
        show(arguments, guide.overview())
    else:
        show(arguments, guide.text(style))
