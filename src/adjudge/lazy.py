"""Packages whose names are imported when they are first used, so that importing the package is fast.

The public names of a package are in the stub beside it, ``__init__.pyi``, and nowhere else: type checkers and editors
read it, and so does this module, when the first name is used. ``lazy_loader.attach_stub`` does the same but parses the
stub whenever the package is imported, which takes three times as long as the rest of ``import adjudge``.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in typing, without the time to import it
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package; the first one also finds ``__all__``.

    What the stub imports is public: ``from .module import name``, ``from .module import name as public`` and
    ``from . import module``.
    """
    homes: dict[str, tuple[str, str]] = {}

    def read_stub() -> dict[str, tuple[str, str]]:
        """The module of each public name, and its name there."""
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
            homes.update(found)  # in one step, for other threads
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
    """Finds old modules for the import system, after all other finders."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith("adjudge."):
            return None
        from adjudge.deprecated import find_module

        return find_module(name)


sys.meta_path.append(_OldModules)
