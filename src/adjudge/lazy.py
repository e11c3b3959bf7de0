"""Packages whose names are imported when they are first used, so that importing the package costs next to nothing.

The public names of a package stand in the stub beside it, ``__init__.pyi``, and nowhere else: type checkers and editors
read it, and so does this module, when the first name is asked for. ``lazy_loader.attach_stub`` does the same but parses
the stub whenever the package is imported, which takes three times as long as all else that ``import adjudge`` does.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as of typing, which need not be imported for it: the command line starts here
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Functions ``__getattr__`` and ``__dir__`` of a package; ``__all__`` is among what the first one finds.

    What the stub imports is public: ``from .module import name``, ``from .module import name as public`` and
    ``from . import module``.
    """
    homes: dict[str, tuple[str, str]] = {}

    def read_stub() -> dict[str, tuple[str, str]]:
        """The module of each public name, and what it is called there."""
        if not homes:
            with open(f"{sys.modules[package].__file__}i", encoding="utf-8") as stub:
                text = stub.read().replace("(\n", "").replace(",\n", ",")  # one line per module; re would cost more
            found = {}
            for line in text.splitlines():
                if line.startswith("from ."):
                    _, module, _, names = line.split(maxsplit=3)
                    for name in names.rstrip(",)").split(","):
                        own, _, public = name.strip().partition(" as ")
                        found[public or own] = (f"{package}{module.rstrip('.')}", own)
            homes.update(found)  # at once, for other threads
        return homes

    def __getattr__(name: str) -> object:  # noqa: N807 - it becomes that of the package
        if name == "__all__":
            return sorted(read_stub())
        if name not in read_stub():
            from adjudge.deprecated import find_moved

            return find_moved(package, name)
        from importlib import import_module

        home, own = homes[name]
        value = import_module(f"{package}.{own}") if home == package else getattr(import_module(home), own)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:  # noqa: N807 - likewise
        return sorted(read_stub())

    return __getattr__, __dir__


class _OldModules:
    """Asked by the import system for modules that nobody else finds."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith("adjudge."):
            return None
        from adjudge.deprecated import find_module

        return find_module(name)


sys.meta_path.append(_OldModules)
