"""``adjudge experiment``: which tests, measures, scales and numbers of queries give conclusions that hold."""

from __future__ import annotations

import argparse
from functools import partial

from adjudge.cli.command import Command, Entry, family
from adjudge.cli.experiment.options import KINDS, Kind, add_running, add_settings
from adjudge.cli.experiment.running import run_kind
from adjudge.cli.experiment.samples import add_samples
from adjudge.cli.options import add_pages

_EXAMPLES = (
    "examples:\n"
    + "".join(f"  {kind.example}\n" for kind in KINDS.values())
    + """then:
  adjudge experiment show power-1a2b3c4d --alpha 0.01
  adjudge experiment resume power-1a2b3c4d --trials 2000
"""
)


def _command(name: str, kind: Kind) -> Command:
    """The command that runs one kind of experiment."""

    def add_options(parser: argparse.ArgumentParser) -> None:
        add_samples(parser)
        add_settings(parser, name)
        add_running(parser)
        parser.add_argument(
            "--folder",
            metavar="DIR",
            help=f"where trials are kept (default: {name}- and eight digits, of data and settings)",
        )
        add_pages(parser)

    return Command(partial(run_kind, name), kind.about, (add_options,), f"example:\n  {kind.example}\n")


run = family(
    "Monte-Carlo experiments about evaluation itself, on your own data: queries are drawn again and again, and systems "
    "compared on them. Every experiment is kept in a folder, can be interrupted and gone on with, and gives the same "
    "numbers with any number of workers.",
    *(Entry(name, kind.help, _command(name, kind)) for name, kind in KINDS.items()),
    Entry("show", "an experiment that was run", "experiment.running:show"),
    Entry("resume", "go on with an experiment, or add trials to it", "experiment.running:resume"),
    examples=_EXAMPLES,
)
