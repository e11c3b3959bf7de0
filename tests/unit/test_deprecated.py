"""Names of version 1.0: each works, warns, and names what to write instead."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from contextlib import suppress

import pytest

import adjudge as aj
from adjudge.deprecated import MODULES, NAMES, RENAMED, Renamed, renamed

for _name in aj.__all__:  # every module that has something renamed
    if inspect.ismodule(_package := getattr(aj, _name)):
        _ = [getattr(_package, _below) for _below in _package.__all__]


@pytest.mark.parametrize(("old", "new"), NAMES.items())
def test_an_old_name_gives_what_the_new_one_does_and_names_it(old: str, new: str) -> None:
    package, _, name = old.rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"{old} is called {new} now") as heard:
        value = getattr(importlib.import_module(package), name)
    home, _, own = new.rpartition(".")
    assert value is getattr(importlib.import_module(home), own)
    assert heard[0].filename == __file__


def test_an_old_module_has_what_the_new_one_has_and_names_it() -> None:
    probe = "import warnings; from importlib import import_module\n"
    for old, new in MODULES.items():
        probe += (
            f"warnings.simplefilter('error'); new = import_module({new!r}); warnings.simplefilter('always')\n"
            f"import {old} as old; public = [name for name in vars(new) if not name.startswith('_')]\n"
            "assert all(getattr(old, name) is getattr(new, name) for name in public)\n"
        )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    for old, new in MODULES.items():
        assert re.search(f"<string>:[0-9]+: DeprecationWarning: {old} is called {new} now", done.stderr)


def test_a_module_that_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"adjudge\.nothing"):
        importlib.import_module("adjudge.nothing")


def test_old_names_are_gone_from_the_list() -> None:
    assert not {old.rpartition(".")[2] for old in NAMES} & {*aj.__all__, *dir(aj)}


@pytest.mark.parametrize("change", RENAMED, ids=lambda change: f"{change.function.__qualname__}-{change.old}")
def test_an_old_parameter_or_value_warns_and_names_the_new_one(change: Renamed) -> None:
    assert change.parameter in inspect.signature(change.function).parameters
    given = {change.old: None} if change.new == change.parameter else {change.parameter: change.old}
    with pytest.warns(DeprecationWarning, match=change.new), suppress(Exception):  # what else it needs is not given
        change.function(**given)


def test_renamed_parameters_and_values_reach_the_function() -> None:
    @renamed({"ties": {"left out": "skip"}}, level="confidence")
    def show(data: str, *, confidence: float = 0.95, ties: str = "split") -> tuple[str, float, str]:
        return data, confidence, ties

    RENAMED[:] = [change for change in RENAMED if change.function is not show]
    assert show("a", confidence=0.9) == ("a", 0.9, "split")
    with pytest.warns(DeprecationWarning, match="'level' is called 'confidence' now"):
        assert show("a", level=0.9) == ("a", 0.9, "split")  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match="ties='left out' is written 'skip' now"):
        assert show("a", ties="left out") == ("a", 0.95, "skip")


def test_a_warning_names_the_public_function() -> None:
    with (
        pytest.warns(DeprecationWarning, match="^ground_truth: unranked='left out' is written 'skip' now"),
        pytest.raises(aj.AdjudgeError, match="'answers' must be rankings or preferences"),
    ):
        aj.ground_truth(None, unranked="left out")  # type: ignore[arg-type]
