"""All commands, by what they are for."""

from __future__ import annotations

import argparse

from adjudge._version import __version__
from adjudge.cli.command import Entry, OneLineParser, add_commands

FAMILIES = {
    "evaluate": (
        Entry("demo", "score the embedded demo collection, or write it to files"),
        Entry("score", "effectiveness of runs, with intervals"),
        Entry("compare", "which systems differ, and would users notice"),
        Entry("leaderboard", "systems in order, and how much of the order is known"),
        Entry("gate", "stop a pipeline where the new version of a system is worse"),
        Entry("report", "one page about an evaluation"),
    ),
    "plan": (Entry("plan", "how many queries, assessors and judgments are enough"),),
    "judge as little as possible": (
        Entry("estimate", "rank systems with few judgments, or none", "judging.estimate"),
        Entry("next", "the most telling documents to judge", "judging.next"),
        Entry("simulate", "what low-cost judging would have cost", "judging.simulate"),
        Entry("calibrate", "whether claimed confidence can be trusted", "judging.calibrate"),
    ),
    "campaigns on the web": (
        Entry("serve", "run campaigns on the web"),
        Entry("campaign", "campaigns: create, open, invite, export, back up"),
    ),
    "what users notice": (
        Entry("questions", "pairs of lists to ask people about"),
        Entry("fit", "learn what effectiveness means to users from their answers"),
        Entry("participants", "participants of a preference study: trust, agreement, influence"),
    ),
    "ground truth from experts": (
        Entry("groundtruth", "partially ordered lists from experts' rankings or preferences"),
    ),
    "study evaluation itself": (
        Entry("experiment", "which tests, measures and numbers of queries can be trusted"),
        Entry("reproduce", "the papers' tables and figures, from public data"),
    ),
    "start from music": (Entry("audio", "from a folder of music to clips, features and baseline runs"),),
    "look up and convert": (
        Entry("explain", "why another tool has another number", "lookup.explain"),
        Entry("measures", "explain the measures", "lookup.measures"),
        Entry("formats", "list the file formats", "lookup.formats"),
        Entry("convert", "convert runs, judgments or metadata between formats", "lookup.convert"),
        Entry("completion", "complete commands, options and names with TAB"),
    ),
}
COMMANDS = tuple(entry for family in FAMILIES.values() for entry in family)


class _MainParser(OneLineParser):
    """Lists the commands by what they are for."""

    def format_help(self) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        (commands,) = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        about = iter(commands._choices_actions)
        for family, members in FAMILIES.items():
            formatter.start_section(family)
            formatter.add_arguments([next(about) for _ in members])
            formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments([action for action in self._actions if action is not commands])
        formatter.end_section()
        formatter.add_text("adjudge COMMAND --help says all about one. New here? Try: adjudge demo")
        return formatter.format_help()


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = _MainParser(
        prog="adjudge",
        description="Which system will users like better, how sure is that, and what does it cost to find out?",
    )
    parser.add_argument("--version", action="version", version=f"adjudge {__version__}")
    add_commands(parser, COMMANDS)
    return parser
