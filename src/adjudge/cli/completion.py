"""``adjudge completion``: commands, options, names and files at a press of TAB.

The shell runs ``adjudge`` at every TAB, so that answering imports no more than it must: the parser for commands and
options, one registry for the names that it knows, and nothing heavy for files.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from adjudge.checks import Constraint
from adjudge.cli.command import Parsers, command
from adjudge.errors import AdjudgeError, shown

SHELLS = ("bash", "zsh", "fish")
CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
_EXAMPLES = """one line turns it on:
  bash   echo 'eval "$(adjudge completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(adjudge completion zsh)"' >> ~/.zshrc      (after the line with compinit)
  fish   adjudge completion fish > ~/.config/fish/completions/adjudge.fish
"""

_WHOLE_MEASURES = "COMP_WORDBREAKS=${COMP_WORDBREAKS//@/}"  # to bash nDCG@5 is two words, and TAB writes nDCG@55

_TESTS = ("adjudge.stats.paired:PAIRED_TESTS", "adjudge.stats.multiple:FAMILYWISE_TESTS")
REGISTERED = {  # what an option takes: the registries that know it
    "correction": ("adjudge.stats.multiple:CORRECTIONS",),
    "dependence": ("adjudge.experiments.simulate.copulas:DEPENDENCES",),
    "distributions": ("adjudge.stats.distributions:DISTRIBUTIONS",),
    "form": ("adjudge.users.noticing:FORMS",),
    "format": ("adjudge.formats:FORMATS",),
    "judgments_format": ("adjudge.formats:FORMATS",),
    "names": ("adjudge.audio.features:AUDIO_FEATURES",),
    "only": ("papers:STUDIES",),
    "procedures": _TESTS,
    "systems": ("adjudge.audio.systems:BASELINES",),
    "test": _TESTS,
    "to": ("adjudge.formats:FORMATS",),
}
NAMED = {  # registries that take a second to import; a test says when these are not their names any more
    "estimator": ("uniform", "prior", "output", "judgments", "hierarchical", "known_item"),
    "goal": ("order", "every", "winner", "top", "tau", "tau_ap", "scores", "confidence", "pairs", "error"),
    "rule": ("information", "winner", "top", "ranks", "mixed", "variance", "confidence", "pairs", "spread", "random"),
    "scale": ("binary", "broad", "fine"),
    "scales": ("binary", "broad", "fine"),
    "on_scale": ("binary", "broad", "fine"),
}
_FOLDERS = {"DATA", "DIR", "FOLDER", "LIBRARY"}
_FILES = {"FILE", "RUN", "JUDGMENTS", "ANSWERS", "LISTS", "WHICH"}

Completer = Callable[..., Iterable[str]]


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=SHELLS, help="which shell (default: yours, by SHELL)")


@command(_add_options, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Print the script that makes a shell complete commands, options, names and files."""
    from argcomplete.shell_integration import shellcode

    shell = arguments.shell or _own_shell()
    if shell == "bash":
        print(_WHOLE_MEASURES)
    print(shellcode(["adjudge"], shell=shell).strip())


def _own_shell() -> str:
    path = os.environ.get("SHELL", "")
    if (name := os.path.basename(path)) not in SHELLS:
        got = shown(path) if path else "nothing"
        raise AdjudgeError(f"Expected {', '.join(SHELLS[:-1])} or {SHELLS[-1]}, or one of them in SHELL, got {got}")
    return name


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell that asks what could come next, and exit."""
    from argcomplete import autocomplete

    with_completers(parser)
    autocomplete(parser, always_complete_options="long")


def with_completers(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The parser, whose options know what they can be completed with."""
    for action in parser._actions:
        if isinstance(action.choices, Parsers):
            action.choices.finish = with_completers
        elif action.nargs != 0 and action.choices is None:
            action.completer = _completer(action)  # type: ignore[attr-defined] # where argcomplete looks for it
    return parser


def _completer(action: argparse.Action) -> Completer:
    from argcomplete.completers import DirectoriesCompleter, FilesCompleter

    words = set(re.findall("[A-Z]+", str(action.metavar)))
    if action.type in (int, float) or isinstance(action.type, Constraint):
        return _nothing
    if "MEASURE" in words:
        return _measures
    if action.dest in NAMED:
        return lambda **_: NAMED[action.dest]
    if action.dest in REGISTERED:
        return lambda **_: registered(action.dest)
    if words & _FILES:
        return FilesCompleter()
    return DirectoriesCompleter() if words & _FOLDERS else _nothing


def _nothing(**_: Any) -> Iterable[str]:
    return ()


def registered(family: str) -> list[str]:
    """Names of the members of a family."""
    from importlib import import_module

    homes = [home.partition(":") for home in REGISTERED[family]]
    return [name for module, _, registry in homes for name in getattr(import_module(module), registry)]


def _measures(prefix: str = "", **_: Any) -> Iterable[str]:
    """Names of measures; after the ``@`` usual cutoffs."""
    from adjudge.measures import MEASURES

    name, at, _cutoff = prefix.partition("@")
    return [f"{name}@{k}" for k in CUTOFFS] if at else list(MEASURES)
