"""The parser of all commands."""

from __future__ import annotations

import argparse
from typing import NoReturn

from adjudge._version import __version__
from adjudge.cli import (
    audio,
    calibrate,
    campaign,
    compare,
    convert,
    demo,
    estimate,
    experiment,
    fit,
    formats,
    groundtruth,
    measures,
    participants,
    plan,
    questions,
    report,
    score,
    serve,
    simulate,
)
from adjudge.cli import next as next_documents

COMMANDS = (
    demo, score, compare, report, plan, estimate, next_documents, simulate, calibrate, serve, campaign, questions,
    fit, participants, groundtruth, experiment, audio, measures, formats, convert,
)  # fmt: skip


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of repeating the usage."""

    def error(self, message: str) -> NoReturn:
        """Exit with code 2."""
        self.exit(2, f"adjudge: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = OneLineParser(
        prog="adjudge",
        description="Evaluate retrieval systems: what effectiveness means and how sure it is.",
    )
    parser.add_argument("--version", action="version", version=f"adjudge {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=OneLineParser)
    for module in COMMANDS:
        module.add(commands)
    return parser
