"""``adjudge formats``: what can be read and written."""

from __future__ import annotations

import argparse

from adjudge.cli.command import command
from adjudge.cli.options import add_listing
from adjudge.cli.output import check_output, show, style_of


@command(add_listing)
def run(arguments: argparse.Namespace) -> None:
    """Formats of runs, judgments and metadata, in the order in which they are tried."""
    from adjudge.formats import guide

    check_output(arguments)
    style = style_of(arguments)
    show(arguments, guide.overview() if style == "text" else guide.text(style))
