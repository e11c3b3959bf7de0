"""``adjudge measures``: every measure with its equation and reference."""

from __future__ import annotations

import argparse

from adjudge.cli.command import command
from adjudge.cli.options import add_listing
from adjudge.cli.output import check_output, show, style_of


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", metavar="MEASURE", nargs="*", help="measures to explain in full, such as nDCG or ndcg_cut_10"
    )


@command(_add_options, add_listing)
def run(arguments: argparse.Namespace) -> None:
    """Every measure with its equation and reference; name some to read all about them."""
    from adjudge.measures import MEASURES, guide, parse_measure

    check_output(arguments)
    chosen = [parse_measure(name).definition for name in arguments.names]
    definitions = chosen or list(MEASURES.values())
    style = style_of(arguments)
    if style != "text":
        show(arguments, guide.text(definitions, style))
    else:
        show(arguments, guide.explained(chosen) if chosen else guide.overview(definitions))
