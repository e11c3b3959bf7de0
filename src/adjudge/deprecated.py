"""Names of version 1.0 that changed: they work for one more release, with a warning that names the new one."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from inspect import signature
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

NAMES = {
    "adjudge.AssessedEffectiveness": "adjudge.model.AssessedEffectiveness",
    "adjudge.BINARY": "adjudge.model.BINARY",
    "adjudge.BROAD": "adjudge.model.BROAD",
    "adjudge.FINE": "adjudge.model.FINE",
    "adjudge.Goal": "adjudge.relevance.Goal",
    "adjudge.check_lists": "adjudge.groundtruth.check_lists",
    "adjudge.compare_constructions": "adjudge.groundtruth.compare_constructions",
    "adjudge.evaluate_assessors": "adjudge.measures.evaluate_assessors",
    "adjudge.fit_collection": "adjudge.experiments.fit_collection",
    "adjudge.gain": "adjudge.measures.gain",
    "adjudge.influence": "adjudge.preferences.find_influence",
    "adjudge.make_questions": "adjudge.preferences.make_questions",
    "adjudge.make_runs": "adjudge.audio.make_runs",
    "adjudge.make_traps": "adjudge.preferences.make_traps",
    "adjudge.open_library": "adjudge.audio.open_library",
    "adjudge.parse_measures": "adjudge.measures.parse_measures",
    "adjudge.prepare_library": "adjudge.audio.prepare_library",
    "adjudge.quality": "adjudge.preferences.check_quality",
    "adjudge.ratings": "adjudge.stats.ratings",
    "adjudge.read_answers": "adjudge.preferences.read_answers",
    "adjudge.read_effectiveness": "adjudge.formats.read_effectiveness",
    "adjudge.read_experiment": "adjudge.experiments.open_experiment",
    "adjudge.read_lists": "adjudge.groundtruth.read_lists",
    "adjudge.read_mappings": "adjudge.users.read_mappings",
    "adjudge.read_preferences": "adjudge.groundtruth.read_preferences",
    "adjudge.read_questions": "adjudge.preferences.read_questions",
    "adjudge.read_rankings": "adjudge.groundtruth.read_rankings",
    "adjudge.reproduce": "papers.reproduce",
    "adjudge.samples_of": "adjudge.experiments.samples_of",
    "adjudge.simulate_preferences": "adjudge.groundtruth.simulate_preferences",
    "adjudge.simulate_rankings": "adjudge.groundtruth.simulate_rankings",
    "adjudge.sound_similarity": "adjudge.audio.sound_similarity",
    "adjudge.sounds_of": "adjudge.audio.sounds_of",
    "adjudge.strata_of": "adjudge.experiments.strata_of",
    "adjudge.write_lists": "adjudge.groundtruth.write_lists",
    "adjudge.write_mappings": "adjudge.users.write_mappings",
    "adjudge.write_questions": "adjudge.preferences.write_questions",
    "adjudge.write_rankings": "adjudge.groundtruth.write_rankings",
    "adjudge.audio.notation.engrave": "adjudge.audio.engrave",
}
"""Old names of packages, and where they are now."""

MODULES = {
    "adjudge.audio.notation_sound": "adjudge.audio.notation.files",
    "adjudge.preferences.combinations": "adjudge.preferences.questions",
    "adjudge.preferences.trust_simulated": "adjudge.preferences.simulated",
    "adjudge.reports": "adjudge.reporting",
    "adjudge.reports.document": "adjudge.reporting.document",
    "adjudge.reports.evidence": "adjudge.users.report",
    "adjudge.reports.render": "adjudge.reporting.render",
    "adjudge.stats.anova": "adjudge.stats.gtheory.anova",
    "adjudge.stats.bootstrap": "adjudge.stats.intervals",
    "adjudge.web.client_assessor": "adjudge.web.client",
}
"""Modules that the documentation of version 1.0 imported, and where their contents are now."""


def find_moved(package: str, name: str) -> object:
    """What an old name of a package stands for, with a warning; an :class:`AttributeError` for any other name."""
    new = NAMES.get(f"{package}.{name}")
    if new is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    _warn(f"{package}.{name} is called {new} now", stacklevel=4)
    home, _, own = new.rpartition(".")
    if home == "papers":  # in a checkout only
        return getattr(import_module("adjudge.cli.reproduce").import_papers(home), own)
    return getattr(import_module(home), own)


def find_module(name: str) -> ModuleSpec | None:
    """The import specification of an old module, with a warning; None for any other name."""
    if name not in MODULES:
        return None
    _warn(f"{name} is called {MODULES[name]} now", stacklevel=4)
    return ModuleSpec(name, _Contents(MODULES[name]), is_package=any(old.startswith(f"{name}.") for old in MODULES))


class _Contents(Loader):
    """Loads a module with the contents of another."""

    def __init__(self, source: str) -> None:
        self.source = source

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system create it."""

    def exec_module(self, module: ModuleType) -> None:
        """Copy the contents."""
        found = vars(import_module(self.source))
        vars(module).update((name, value) for name, value in found.items() if not name.startswith("__"))


class Renamed(NamedTuple):
    """A parameter of a function, or a value of it, that has a new name."""

    function: Callable[..., Any]
    parameter: str
    old: str
    new: str


RENAMED: list[Renamed] = []
"""Every parameter and value that was renamed, for the test that covers them."""


def renamed(
    values: Mapping[str, Mapping[str, str]] | None = None, owner: str = "", /, **parameters: str
) -> Callable[[F], F]:
    """Let a function accept old names of ``parameters`` and old ``values`` of parameters, with a warning.

    ``owner`` is the public name of the function where it has another one.

    >>> @renamed({"ties": {"left out": "skip"}}, level="confidence")
    ... def show(confidence: float, ties: str = "skip") -> str:
    ...     return f"{confidence} {ties}"
    >>> show(0.9, ties="skip")
    '0.9 skip'
    """

    def decorate(function: F) -> F:
        where = owner or function.__qualname__

        def call(*args: Any, **kwargs: Any) -> Any:
            for old, new in parameters.items():
                if old in kwargs:
                    warn(f"{where}: {old!r} is called {new!r} now", stacklevel=3)
                    kwargs[new] = kwargs.pop(old)
            for name, words in known.items():
                if isinstance(kwargs.get(name), str) and kwargs[name] in words:
                    new = words[kwargs[name]]
                    warn(f"{where}: {name}={kwargs[name]!r} is written {new!r} now", stacklevel=3)
                    kwargs[name] = new
            return function(*args, **kwargs)

        known, warn = values or {}, _warn
        decorated = _like(function, call)
        RENAMED.extend(Renamed(decorated, new, old, new) for old, new in parameters.items())
        RENAMED.extend(
            Renamed(decorated, name, old, new) for name, words in known.items() for old, new in words.items()
        )
        return decorated

    return decorate


METHODS = {"records": "to_dicts", "to_frame": "to_polars"}
"""Old names of the methods of results, and their new names."""
FIELDS = {
    "Agreement": {"level": "confidence", "n_boot": "resamples"},
    "Drift": {"level": "confidence"},
    "SelfConsistency": {"level": "confidence"},
}
"""Old names of the fields of some results, by class, and their new names."""


def old_attribute(result: object, name: str) -> Any:
    """A method or field of a result by its old name; called by ``__getattr__``, so only for missing names."""
    owner = type(result).__name__
    new = {**METHODS, **FIELDS.get(owner, {})}.get(name)
    if new is None:
        raise AttributeError(f"{owner!r} object has no attribute {name!r}", name=name, obj=result)
    _warn(f"{owner}.{name} is called {new} now", stacklevel=4)
    return getattr(result, new)


def settings_apart(make: Callable[..., Any]) -> Callable[[F], F]:
    """Let a function of a specification accept a name and settings among its own arguments instead, with a warning.

    ``make`` makes the specification of a name and settings.
    """

    def decorate(function: F) -> F:
        own = frozenset(signature(function).parameters)

        def call(*args: Any, **kwargs: Any) -> Any:
            settings = {name: kwargs.pop(name) for name in [*kwargs] if name not in own}
            if settings and isinstance(args[0], str):
                made = make(args[0], **settings)
                warn(f"settings of an experiment are written {type(made).__name__}(…) now", stacklevel=3)
                args = (made, *args[1:])
            elif settings:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {next(iter(settings))!r}")
            return function(*args, **kwargs)

        warn = _warn
        return _like(function, call)

    return decorate


def _like(function: F, call: Callable[..., Any]) -> F:
    """``call`` with the metadata and globals of a function, so that doctest finds it in the same module."""
    own = FunctionType(call.__code__, function.__globals__, call.__name__, None, call.__closure__)
    return functools.wraps(function)(own)  # type: ignore[return-value]


def _warn(text: str, *, stacklevel: int) -> None:
    warnings.warn(f"{text}; the old name goes with the next release.", DeprecationWarning, stacklevel=stacklevel)
