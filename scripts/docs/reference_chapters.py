"""Chapters of the reference: a registry, where it is used, and what is said of each of its members."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from scripts.docs.reference_words import paragraphs, sentence, table

from adjudge.registry import Registry

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Told:
    """What a page says of one member: a line, further paragraphs, and facts with their names."""

    line: str
    more: tuple[str, ...] = ()
    facts: Facts = ()


Tell = Callable[[Any], Told]


@dataclass(frozen=True)
class Chapter:
    """A part of a page about one family; ``members`` by name is a registry, or stands where there is none.

    A ``short`` chapter is a table, one row a member; ``facts`` are its further columns.
    """

    title: str
    intro: str
    members: Any
    tell: Tell
    short: bool = False

    @property
    def registry(self) -> Registry[Any] | None:
        """The registry that the chapter documents, if it is one."""
        return self.members if isinstance(self.members, Registry) else None

    def text(self) -> str:
        """The chapter in Markdown."""
        told = {name: self.tell(member) for name, member in self.members.items()}
        body = _as_table(told) if self.short else "\n\n".join(self._in_full(name, one) for name, one in told.items())
        return f"## {self.title}\n\n{self.intro.strip()}\n\n{body}\n"

    def _in_full(self, name: str, told: Told) -> str:
        head = f"`{name}`" if self.registry is not None else name
        facts = [f"- {label}: {value}" for label, value in told.facts if value]
        return "\n\n".join([f"### {head}", told.line, *told.more, *(["\n".join(facts)] if facts else [])])


@dataclass(frozen=True)
class Page:
    """A page of chapters."""

    title: str
    intro: str
    chapters: Sequence[Chapter] = field(default=())

    def text(self) -> str:
        """The page in Markdown."""
        return f"# {self.title}\n\n{self.intro.strip()}\n\n" + "\n".join(chapter.text() for chapter in self.chapters)


def _as_table(told: dict[str, Told]) -> str:
    names = [name for name, _ in next(iter(told.values())).facts]
    rows = [
        [f"`{name}`", " ".join([one.line, *one.more]), *(value for _, value in one.facts)] for name, one in told.items()
    ]
    return table(["name", "what it is", *names], rows)


def by_docstring(member: object, facts: Facts = ()) -> Told:
    """What the docstring of a member says."""
    first, *more = paragraphs(member)
    return Told(first, tuple(more), facts)


def by_line(line: str, member: object, facts: Facts = ()) -> Told:
    """A line of its own, and what the docstring says besides its first."""
    return Told(f"**{sentence(line)}**", tuple(paragraphs(member)[1:]), facts)


def all_registries() -> list[Registry[Any]]:
    """Every registry of the package; all modules are imported to find them."""
    import adjudge

    found: dict[int, Registry[Any]] = {}
    for module in _modules(adjudge.__path__):
        found |= {id(value): value for value in vars(module).values() if isinstance(value, Registry)}
    return list(found.values())


def _modules(path: Sequence[str]) -> Iterator[ModuleType]:
    for module in pkgutil.walk_packages(path, "adjudge."):
        if not module.name.endswith(("__main__", "migrations.env")) and ".versions." not in module.name:
            yield importlib.import_module(module.name)
