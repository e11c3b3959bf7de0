"""What a command is, and how a parser gets its commands: each is imported when it is called, and not before."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from adjudge.checks import Constraint
from adjudge.cli.options import help_of
from adjudge.errors import shown
from adjudge.registry import unknown

Options = Callable[[argparse.ArgumentParser], object]
Run = Callable[[argparse.Namespace], None]


@dataclass(frozen=True)
class Command:
    """A function that runs a command, with the functions that add its options and with what help says of it."""

    run: Run | None
    about: str
    options: tuple[Options, ...] = ()
    examples: str = ""


class Entry(NamedTuple):
    """A line of help, and where the command is: ``module:function`` in this folder, or the command itself."""

    name: str
    help: str
    place: str | Command = ""

    def find(self) -> Command:
        """Import the command; its module has its name, and its function is called ``run``, unless the entry differs."""
        if isinstance(self.place, Command):
            return self.place
        module, _, function = (self.place or self.name).partition(":")
        command: Command = getattr(import_module(f"adjudge.cli.{module}"), function or "run")
        return command


def command(*options: Options, examples: str = "") -> Callable[[Run], Command]:
    """Declare a function as a command; its docstring is the description that help gives."""
    return lambda run: Command(run, " ".join((run.__doc__ or "").split()), options, examples)


def family(about: str, *entries: Entry, examples: str = "") -> Command:
    """A command that consists of others."""
    return Command(None, about, (lambda parser: add_commands(parser, entries),), examples)


class HelpFormatter(argparse.HelpFormatter):
    """Says what options mean, their limits and their defaults, and keeps the lines of examples."""

    def _format_action(self, action: argparse.Action) -> str:
        if not action.help and isinstance(action.type, Constraint):
            action.help = action.type.meaning  # else argparse says nothing at all
        return super()._format_action(action)

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
        options = [word.partition("=")[0] for word in extra if word.startswith("-")]
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


class Parsers(dict[str, Any]):
    """Parsers by command; each is built when it is first asked for."""

    def __init__(self, entries: Sequence[Entry], build: Callable[[Entry], argparse.ArgumentParser]) -> None:
        super().__init__((entry.name, entry) for entry in entries)
        self._build = build
        self.finish: Callable[[argparse.ArgumentParser], argparse.ArgumentParser] = lambda parser: parser

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if isinstance(found, Entry):
            found = self[name] = self.finish(self._build(found))
        return found

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        return (self[name] for name in self)

    def items(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        return ((name, self[name]) for name in self)


def add_commands(parser: argparse.ArgumentParser, entries: Sequence[Entry]) -> None:
    """Let a parser take one of several commands."""
    action: Any = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=OneLineParser)

    def build(entry: Entry) -> argparse.ArgumentParser:
        found = entry.find()
        below: argparse.ArgumentParser = action._parser_class(
            prog=f"{action._prog_prefix} {entry.name}", description=found.about, epilog=found.examples or None
        )
        for add_options in found.options:
            add_options(below)
        if found.run is not None:
            below.set_defaults(run=found.run)
        return below

    action._choices_actions.extend(action._ChoicesPseudoAction(entry.name, (), entry.help) for entry in entries)
    action.choices = action._name_parser_map = Parsers(entries, build)
