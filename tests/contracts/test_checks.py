"""Every constraint that the library declares: what it refuses and in which words, and who else offers it."""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import adjudge
from adjudge import checks
from adjudge.checks import Constraint, OneOf
from adjudge.cli.defaults import library_default
from adjudge.cli.options import _IN_LIBRARY, shown_default
from adjudge.cli.parser import build_parser
from adjudge.errors import AdjudgeError
from adjudge.experiments.spec import EXPERIMENTS

CONSTRAINTS = {name: value for name, value in vars(checks).items() if isinstance(value, Constraint)}
_ELSEWHERE = ("adjudge.web", "adjudge.cli", "adjudge.__main__", "adjudge.audio.synthesis")
WORDS = {"confidence", "alpha", "seed", "resamples", "bins", "folds", "trials"}
"""Parameters of these names have limits everywhere."""


def _modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(adjudge.__path__, "adjudge."):
        if not found.name.startswith(_ELSEWHERE):
            yield importlib.import_module(found.name)


def _declaring() -> dict[str, Any]:
    """Functions, methods and classes of the library that declare constraints, by their full names."""
    found = {}
    for module in _modules():
        members = [one for one in vars(module).values() if getattr(one, "__module__", "") == module.__name__]
        methods = [one for kind in members if inspect.isclass(kind) for one in vars(kind).values()]
        for one in (*members, *(getattr(method, "__func__", method) for method in methods)):
            declared = getattr(one, "constraints", None)
            if isinstance(declared, dict) and not inspect.isabstract(one):
                found[f"{one.__module__}.{one.__qualname__}"] = one
    return found


DECLARING = _declaring()
DECLARATIONS = [(name, parameter) for name, one in DECLARING.items() for parameter in one.constraints]


def _message(parameter: str, constraint: Constraint) -> str:
    return f"(^|: ){re.escape(repr(parameter))} must be {re.escape(constraint.wanted)}, got "


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_draws_the_line_where_it_says(name: str) -> None:
    constraint = CONSTRAINTS[name]
    inside, outside = constraint.examples()
    assert constraint.meaning
    for value in inside:
        assert constraint.check("x", value) == value
        assert constraint.check("x", constraint.parse(str(value))) == value
    for value in outside:
        with pytest.raises(AdjudgeError, match=_message("x", constraint)):
            constraint.check("x", value)


def test_most_of_the_library_declares_its_constraints() -> None:
    assert len(DECLARING) > 60


@pytest.mark.parametrize(("name", "parameter"), DECLARATIONS)
def test_a_declared_parameter_is_refused_in_the_declared_words(name: str, parameter: str) -> None:
    owner = DECLARING[name]
    constraint, default = owner.constraints[parameter], inspect.signature(owner).parameters[parameter].default
    inside, outside = constraint.examples()
    for value in outside:
        if value is None and default is None:
            continue
        with pytest.raises(AdjudgeError, match=_message(parameter, constraint)):
            owner(**{parameter: value})
    needed = [one for one in inspect.signature(owner).parameters.values() if one.default is inspect.Parameter.empty]
    if needed:  # else it would start to work
        for value in inside:
            with pytest.raises(TypeError, match="missing"):
                owner(**{parameter: value})
    if default is not inspect.Parameter.empty and default is not None:
        assert constraint.allows(default)


def test_a_name_that_has_limits_has_them_in_every_public_function() -> None:
    lacking = []
    for module in _modules():
        for one in vars(module).values():
            if not inspect.isfunction(one) or one.__module__ != module.__name__ or one.__name__.startswith("_"):
                continue
            given = {
                parameter.name
                for parameter in inspect.signature(one).parameters.values()
                if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.default is not inspect.Parameter.empty
            }
            lacking += [f"{one.__module__}.{one.__qualname__}: {name}" for name in WORDS & given - _declared(one)]
    assert lacking == []


def _declared(function: Callable[..., Any]) -> set[str]:
    return set(getattr(function, "constraints", {}))


def _options() -> list[tuple[str, argparse.Action]]:
    def walk(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for below in dict.fromkeys(action.choices.values()):
                    yield from walk(below)
            elif not isinstance(action, argparse._HelpAction | argparse._VersionAction):
                yield f"{parser.prog} {'/'.join(action.option_strings) or action.dest}", action

    return list(walk(build_parser()))


OPTIONS = _options()


def test_a_default_in_a_help_text_is_the_one_that_there_is() -> None:
    """Words are for what data or files settle; a value comes from the parser or from the library."""
    wrong = []
    for name, action in OPTIONS:
        if name == "adjudge demo --tracks" or name.startswith("adjudge campaign create"):  # made from declarations
            continue
        typed = re.search(r"\bdefault: ([^;)]*)", action.help or "")
        if typed is None or typed[1] == "%(default)s":
            continue
        if action.default is not None and action.default is not False and action.default != []:
            wrong += [name] if typed[1].replace(",", "") != shown_default(action.default).replace(",", "") else []
        elif re.fullmatch(r"[\d.,]+|[\w-]+@\d+", typed[1]):
            wrong.append(name)
    assert wrong == []


def test_help_says_what_every_option_means() -> None:
    def bare(parser: argparse.ArgumentParser) -> Iterator[str]:
        entries = re.findall(r"^  (-\S.*\n(?: {8,}\S.*\n)*)", parser.format_help(), flags=re.MULTILINE)
        assert entries
        names_alone = re.compile(r"(-\S+( [A-Z|]+)?(, )?)+")
        yield from (f"{parser.prog} {text}" for text in entries if names_alone.fullmatch(text.strip()))
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for below in action.choices.values():
                    yield from bare(below)

    assert list(bare(build_parser())) == []


def _taken() -> list[tuple[str, argparse.Action, Any, str, Any]]:
    """What help takes from the library: the option, its owner there, the parameter, and its default by the source."""
    found = []
    for name, action in OPTIONS:
        for module, owner, parameter in _IN_LIBRARY.findall(getattr(action, "usual", "")):
            thing = getattr(importlib.import_module(module), owner)
            found.append((name, action, thing, parameter, library_default(module, owner, parameter)))
    return found


TAKEN = _taken()


def test_defaults_that_help_takes_from_the_library_are_those_of_its_signatures() -> None:
    assert len(TAKEN) > 30
    apart = [(name, value) for name, _, owner, parameter, value in TAKEN if _default(owner, parameter) != value]
    assert apart == []


def _default(owner: Any, parameter: str) -> Any:
    return inspect.signature(owner).parameters[parameter].default


def test_an_option_allows_what_the_parameter_behind_it_does() -> None:
    """The command line and the library have one declaration of a parameter, not two."""
    apart = []
    for name, action, owner, parameter, _ in TAKEN:
        declared = getattr(owner, "constraints", {}).get(parameter)
        if isinstance(declared, Constraint) and not isinstance(declared, OneOf) and declared != action.type:
            apart.append(name)
    assert apart == []


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_numbers_of_an_experiment_are_declared(name: str) -> None:
    kind = EXPERIMENTS[name]
    assert is_dataclass(kind)
    numbers = {field.name for field in fields(kind) if field.type in ("int", "float", "Seed")}
    assert numbers == set(kind.constraints)


@pytest.mark.parametrize(
    ("command", "name", "value"),
    [
        ("score q r --confidence", "confidence", "1"),
        ("score q r --digits", "digits", "16"),
        ("compare q r --alpha", "alpha", "0.5"),
        ("plan q r --target", "target", "1.5"),
        ("plan q r --resamples", "resamples", "many"),
        ("fit a --seed", "seed", "-1"),
        ("experiment power q r --trials", "trials", "0"),
        ("participants a --quiz-bar", "quiz-bar", "nan"),
    ],
)
def test_the_command_line_refuses_in_the_words_of_the_library(
    command: str, name: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from adjudge.cli import main

    assert main([*command.split(), value]) == 2
    assert re.fullmatch(rf"adjudge: '{name}' must be .*, got '?{value}'?\n", capsys.readouterr().err)
