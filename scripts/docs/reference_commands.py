"""The page on commands, from the parser itself: every command, argument, option, default, choice and example."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from scripts.docs.reference_words import help_text, sentence, table

from adjudge.checks import Constraint
from adjudge.cli.options import help_of

_INTRO = """# Commands

What `--help` says, on one page, from the same parser. All commands:

- read files in any of the [formats](formats.md), compressed or not, and recognise which;
- print tables for people on a terminal, and with `--json`, `--csv` or `-o FILE`, where they have them, the same for
  programs;
- say on standard error what they assumed and what to know; tables alone go to standard output;
- end with code 0, or with code 2 and one line that says what was wanted, what came and where; `campaign create`,
  `campaign verify` and `reproduce` end with 1 when they are done and something is not as it should be;
- use no colours where `NO_COLOR` is set or the output is not a terminal.
"""


def text() -> str:
    """The page."""
    from adjudge.cli.parser import build_parser

    parser = build_parser()
    parts = [_INTRO, _overview(parser)]
    parts += [_command(one, depth) for one, depth in _walk(parser)]
    return "\n".join(parts)


def _walk(parser: argparse.ArgumentParser, depth: int = 0) -> Iterator[tuple[argparse.ArgumentParser, int]]:
    for below in _below(parser).values():
        yield below, depth
        yield from _walk(below, depth + 1)


def _below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Subcommands, each once: other names for the same one are left out."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= {name: one for name, one in action.choices.items() if one not in found.values()}
    return found


def _overview(parser: argparse.ArgumentParser) -> str:
    """Commands below a parser with their helps, linked."""
    helps = {
        choice.dest: choice.help or ""
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for choice in action._choices_actions
    }
    rows = [
        (f"[`{below.prog}`](#{below.prog.replace(' ', '-')})", help_text(helps.get(name, "")))
        for name, below in _below(parser).items()
    ]
    return table(["command", "what it does"], rows) + "\n"


def _command(parser: argparse.ArgumentParser, depth: int) -> str:
    parts = [f"{'##' if depth == 0 else '###'} {parser.prog}"]
    parts += [help_text(parser.description)] if parser.description else []
    parts.append(f"```text\n{_usage(parser)}\n```")
    if _below(parser):
        parts.append(_overview(parser).rstrip())
    for group in parser._action_groups:
        shown = [action for action in group._group_actions if _is_shown(action)]
        if shown:
            parts += [f"**{_group_title(group.title)}**", *(_option(action) for action in shown)]
    return "\n\n".join([*parts, *_examples(parser.epilog or "")]) + "\n"


def _group_title(title: str | None) -> str:
    words = {"positional arguments": "Arguments", "options": "Options"}.get(title or "", title or "")
    return words[:1].upper() + words[1:]


def _is_shown(action: argparse.Action) -> bool:
    hidden = isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    return not hidden and action.help is not argparse.SUPPRESS


def _usage(parser: argparse.ArgumentParser) -> str:
    """The command with its arguments; options are below and would only hide them."""
    words = ["usage:", parser.prog]
    if any(action.option_strings and _is_shown(action) for action in parser._actions):
        words.append("[options]")
    words += [
        "COMMAND …" if isinstance(action, argparse._SubParsersAction) else _argument(action)
        for action in parser._actions
        if not action.option_strings
    ]
    return " ".join(words)


def _argument(action: argparse.Action) -> str:
    name = _value(action)
    forms = {None: name, "?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} [{name} …]"}
    return forms.get(action.nargs if not isinstance(action.nargs, int) else None, name)


def _value(action: argparse.Action) -> str:
    """What stands for the value: the metavar, the choices, or the name in capitals."""
    if action.metavar is not None:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    if isinstance(action.type, Constraint) and action.type.metavar is not None:
        return action.type.metavar
    if action.choices is not None:
        return "{" + ",".join(str(choice) for choice in action.choices) + "}"
    return action.dest.upper().replace("_", "-") if action.option_strings else action.dest


def _option(action: argparse.Action) -> str:
    """A definition: the ways to write it, what it does, limits, default, and choices where the help does not say."""
    value = "" if action.nargs == 0 else _value(action)
    several = {"+": f"{value} [{value} …]", "*": f"[{value} …]", "?": f"[{value}]"}
    given = several.get(str(action.nargs), value) if action.option_strings else value
    names = action.option_strings or [""]
    terms = ", ".join(f"`{f'{name} {given}'.strip()}`" for name in names)
    about = [help_text(help_of(action).replace("%%", "%")), _choices(action)]
    return f"{terms}\n: {sentence('; '.join(part for part in about if part))}"


def _choices(action: argparse.Action) -> str:
    if action.choices is None or action.metavar is None:
        return ""
    return "one of " + ", ".join(f"`{choice}`" for choice in action.choices)


def _examples(epilog: str) -> list[str]:
    """The epilog: commands fenced, what is said around them as text."""
    parts: list[str] = []
    for block in re.split(r"\n(?=\S)", epilog.strip()):
        head, _, commands = block.partition("\n")
        if commands.strip():
            lines = [line.removeprefix("  ") for line in commands.rstrip().splitlines()]
            parts += [f"**{_group_title(head.rstrip(':'))}**", "```text\n" + "\n".join(lines) + "\n```"]
        elif head:
            parts.append(help_text(head))
    return parts
