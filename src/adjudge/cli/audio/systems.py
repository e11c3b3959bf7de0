"""``adjudge audio systems``: the baseline systems there are."""

from __future__ import annotations

import argparse

from adjudge.cli.options import Subparsers, add_output
from adjudge.cli.output import check_output, show, style_of


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "systems",
        help="list the baseline systems",
        description="Every baseline system with what it does and the audio features that it looks at.",
    )
    add_output(parser, page="markdown")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """List systems."""
    from adjudge.audio.systems import BASELINES
    from adjudge.tables import as_csv, as_json, as_markdown, as_rich

    check_output(arguments, forms=("text", "json", "csv", "markdown"))
    rows = [{"system": one.name, "features": ", ".join(one.needs), "about": one.about} for one in BASELINES.values()]
    forms = {"json": as_json, "csv": as_csv, "markdown": as_markdown}
    style = style_of(arguments)
    show(arguments, as_rich(rows) if style == "text" else forms[style](rows))
