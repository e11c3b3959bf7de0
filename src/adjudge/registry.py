"""Registries: one decorated object in one place feeds the parser, the command line, the docs and the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from adjudge.errors import unknown

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Named members of one family, in the order in which they were registered.

    >>> pets: Registry[str] = Registry("pet")
    >>> _ = pets.add("cat", "meow")
    >>> pets["cat"]
    'meow'
    >>> pets["cot"]
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: No pet is called 'cot'. Did you mean 'cat'?
    >>> pets.remove("cat")
    'meow'
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._members: dict[str, T] = {}

    def add(self, name: str, member: T) -> T:
        """Register a member; a name is taken once."""
        if name in self._members:
            raise ValueError(f"A {self.kind} called {name!r} is registered already.")
        self._members[name] = member
        return member

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator form of :meth:`add`: registers and returns the object unchanged."""
        return lambda member: self.add(name, member)

    def remove(self, name: str) -> T:
        """Take a member back, so that the name is free again: for notebooks, where a cell is run twice."""
        member = self[name]
        del self._members[name]
        return member

    def __getitem__(self, name: str) -> T:
        try:
            return self._members[name]
        except KeyError:
            raise unknown(self.kind, name, self._members) from None

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
