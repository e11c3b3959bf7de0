"""``adjudge audio systems``: the baseline systems there are."""

from __future__ import annotations

import argparse

from adjudge.cli.command import command
from adjudge.cli.options import add_listing
from adjudge.cli.output import check_output, show, style_of


@command(add_listing)
def run(arguments: argparse.Namespace) -> None:
    """Every baseline system with what it does and the audio features that it looks at."""
    from adjudge.audio.systems import BASELINES
    from adjudge.tables import as_csv, as_json, as_markdown, as_rich

    check_output(arguments, forms=("text", "json", "csv", "markdown"))
    rows = [
        {"system": baseline.name, "features": ", ".join(baseline.needs), "about": baseline.about}
        for baseline in BASELINES.values()
    ]
    forms = {"json": as_json, "csv": as_csv, "markdown": as_markdown}
    style = style_of(arguments)
    show(arguments, as_rich(rows) if style == "text" else forms[style](rows))
