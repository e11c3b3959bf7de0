"""Registries: one decorated object in one place feeds the parser, the command line, the docs and the tests.

A registry knows the modules that hold its members, and imports them when it is first used.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TypeVar

from adjudge.errors import UnknownNameError
from adjudge.text import listed

T = TypeVar("T")
_NEAR = 0.6  # similarity, from 0 to 1, from which on one name may stand for another
_MOST_NEAR = 3  # equally near names to suggest: more do not help


class Registry(Mapping[str, T]):
    """Named members of one family.

    ``homes`` are the modules that register members; a star stands for every module of a package, or every package,
    and a dot at the end for packages alone.
    Members are in the order of their homes, whatever was imported first, with those of other modules last.

    >>> pets: Registry[str] = Registry("pet")
    >>> _ = pets.add("cat", "meow")
    >>> pets["cat"]
    'meow'
    >>> pets["cot"]
    Traceback (most recent call last):
    adjudge.errors.UnknownNameError: No pet is called 'cot'. Did you mean 'cat'?
    >>> pets.remove("cat")
    'meow'
    """

    def __init__(self, kind: str, *homes: str) -> None:
        self.kind = kind
        self._homes = homes
        self._members: dict[str, T] = {}
        self._home_of: dict[str, str] = {}
        self._places: dict[str, int] = {}
        self._thread = threading.local()

    def add(self, name: str, member: T) -> T:
        """Register a member under a name that is not taken."""
        if name in self._members:
            raise ValueError(f"A {self.kind} called {name!r} is registered already.")
        self._members[name] = member
        self._home_of[name] = _importing()
        return member

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator form of :meth:`add`: registers and returns the object unchanged."""
        return lambda member: self.add(name, member)

    def remove(self, name: str) -> T:
        """Remove a member, so that the name is free again: for notebooks, where a cell is run twice."""
        member = self[name]
        del self._members[name]
        return member

    def __getitem__(self, name: str) -> T:
        try:
            return self._discovered()[name]
        except KeyError:
            raise unknown(self.kind, name, self._members) from None

    def __contains__(self, name: object) -> bool:
        return name in self._discovered()

    def __iter__(self) -> Iterator[str]:
        members = self._discovered()
        return iter(sorted(members, key=lambda name: self._places.get(self._home_of.get(name, ""), len(self._places))))

    def __len__(self) -> int:
        return len(self._discovered())

    def _discovered(self) -> dict[str, T]:
        """The members of all homes; a home that asks while it is imported sees those registered so far."""
        if not self._homes or getattr(self._thread, "is_discovering", False):
            return self._members
        modules = list(dict.fromkeys(name for home in self._homes for name in _modules(home)))
        self._thread.is_discovering = True  # no lock besides that of imports, so that threads cannot deadlock
        try:
            for name in modules:
                import_module(name)
        finally:
            self._thread.is_discovering = False
        self._places = {name: place for place, name in enumerate(modules)}
        self._homes = ()
        return self._members


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for an unknown name, with the nearest known one or a list of all.

    >>> print(unknown("measure", "NDCG", ["nDCG", "AP"]))
    No measure is called 'NDCG'. Did you mean 'nDCG'?
    >>> print(unknown("format", "docx", ["trec", "csv"]))
    No format is called 'docx'. Known: csv, trec.
    """
    names = sorted(known)
    hint = did_you_mean(name, names) or f"Known: {', '.join(names)}."
    return UnknownNameError(f"No {kind} is called {name!r}. {hint}", kind=kind, name=name)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the nearest known name; all of them where a few are equally near, and none where many are.

    >>> did_you_mean("sys", ["sys1", "sys2", "other"]), did_you_mean("s", map(str, range(9)))
    ("Did you mean 'sys1' or 'sys2'?", '')
    """
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name.casefold().lstrip("-"))  # all options begin alike
    likenesses: dict[str, float] = {}
    for other in known:
        matcher.set_seq1(other.casefold().lstrip("-"))
        likenesses[other] = matcher.ratio()
    best = max(likenesses.values(), default=0.0)
    near = [repr(other) for other, value in likenesses.items() if value == best]
    if best < _NEAR or len(near) > _MOST_NEAR:
        return ""
    return f"Did you mean {listed(near, 'or')}?"


def _importing() -> str:
    """The module that is being imported or run: its body is the innermost on the stack."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


def _modules(pattern: str) -> list[str]:
    """The modules that a pattern stands for, in alphabetical order.

    >>> _modules("adjudge.web.ki*.")
    ['adjudge.web.kinds']
    >>> _modules("adjudge.model.sc*") == _modules("adjudge.model.scales") == ["adjudge.model.scales"]
    True
    """
    names = [""]
    *folders, last = pattern.split(".")
    for part in folders:
        names = [f"{name}.{child}".lstrip(".") for name in names for child in _children(name, part, folders=True)]
    if not last:
        return names
    return [f"{name}.{child}".lstrip(".") for name in names for child in _children(name, last, folders=False)]


def _children(package: str, pattern: str, *, folders: bool) -> list[str]:
    if "*" not in pattern and not package:
        return [pattern]
    from pkgutil import iter_modules

    paths = getattr(import_module(package), "__path__", ())
    return sorted(
        found.name for found in iter_modules(paths) if fnmatchcase(found.name, pattern) and found.ispkg >= folders
    )
