"""The parser of all commands."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from adjudge._version import __version__
from adjudge.checks import Constraint
from adjudge.cli import (
    audio,
    campaign,
    compare,
    completion,
    convert,
    demo,
    experiment,
    fit,
    formats,
    groundtruth,
    measures,
    participants,
    plan,
    questions,
    report,
    reproduce,
    score,
    serve,
)
from adjudge.cli.judging import calibrate, estimate, simulate
from adjudge.cli.judging import next as next_documents
from adjudge.cli.options import help_of
from adjudge.errors import shown, unknown

FAMILIES = {
    "evaluate": (demo, score, compare, report),
    "plan": (plan,),
    "judge as little as possible": (estimate, next_documents, simulate, calibrate),
    "campaigns on the web": (serve, campaign),
    "what users notice": (questions, fit, participants),
    "ground truth from experts": (groundtruth,),
    "study evaluation itself": (experiment, reproduce),
    "start from music": (audio,),
    "look up and convert": (measures, formats, convert, completion),
}
COMMANDS = tuple(module for family in FAMILIES.values() for module in family)


class HelpFormatter(argparse.HelpFormatter):
    """Says what options mean, their limits and their defaults, and keeps the lines of examples."""

    def _get_help_string(self, action: argparse.Action) -> str:
        return help_of(action)

    def _get_default_metavar_for_optional(self, action: argparse.Action) -> str:
        declared = action.type.metavar if isinstance(action.type, Constraint) else None
        return declared or super()._get_default_metavar_for_optional(action)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" not in text:
            return super()._fill_text(text, width, indent)
        return "".join(indent + line for line in text.splitlines(keepends=True))


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of repeating the usage."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter, **settings})

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Refuse what a declaration does not allow in the words of the library."""
        if not isinstance(action.type, Constraint):
            return super()._get_value(action, arg_string)
        name = max(action.option_strings, key=len, default=action.dest).lstrip("-")
        return action.type.read(name, arg_string)

    def error(self, message: str) -> NoReturn:
        """Exit with code 2; a family of commands without one of them shows which there are."""
        if message == "the following arguments are required: COMMAND":
            self.print_help(sys.stderr)
            self.exit(2)
        self.exit(2, f"adjudge: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse what is left over, with the nearest option that there is."""
        found, extra = super().parse_known_args(args, namespace)
        options = [one.partition("=")[0] for one in extra if one.startswith("-")]
        if options:
            said = str(unknown("option", options[0], self._option_string_actions))
            self.error(said.partition(" Known:")[0].rstrip("."))  # --help has them all, with what they do
        if extra:
            words = list(sys.argv[1:] if args is None else args)
            hint = self._hint(words[: words.index(extra[0])])
            self.error(f"expected no further argument, got {shown(extra[0])}{hint}")
        return found, extra

    def _hint(self, before: list[str]) -> str:
        """How to give several values to the option before a word that is too many."""
        option = next((word.partition("=")[0] for word in reversed(before) if word.startswith("-")), "")
        action = self._option_string_actions.get(option)
        if action is None or not isinstance(action, argparse._AppendAction):
            return ""
        if action.dest == "measures":
            return "; several measures go in quotes: -m 'P@5 AP'"
        return f"; {option} takes one value and may be repeated: {option} A {option} B"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Name the nearest command instead of all of them."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            raise argparse.ArgumentError(None, str(unknown("command", str(value), action.choices)).rstrip("."))
        super()._check_value(action, value)


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
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=OneLineParser)
    for module in COMMANDS:
        module.add(commands)
    return parser
