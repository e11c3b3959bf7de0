"""What Sphinx calls: figures are drawn before the pages are read; names in docstrings lead to where they are told."""

from __future__ import annotations

import gc
import importlib
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing
from pygments.lexers.special import TextLexer  # type: ignore[import-untyped]

import adjudge
import adjudge.arrays
import adjudge.formats.reading

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

Element = Any  # of docutils, which has no types
_ALIASES = {
    adjudge.arrays: ("Codes", "Floats", "Ints", "Keys", "Mask"),
    adjudge.formats.reading: ("JudgmentsLike", "MetadataLike", "Paths", "RunsLike"),
    numpy.typing: ("ArrayLike",),
}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what is made before the pages are read, and how names are found."""
    gc.disable()  # a build is short and keeps what it makes: to look for garbage takes an eighth of its time
    _name_aliases()
    app.connect("builder-inited", _draw)
    app.connect("autodoc-before-process-signature", _complete)
    app.connect("autodoc-process-signature", _readable)
    app.connect("autodoc-process-docstring", _apart)
    app.connect("missing-reference", _find)
    for name in ("csv", "tsv"):
        app.add_lexer(name, TextLexer)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _name_aliases() -> None:
    """Aliases of types stand in signatures under their own names, not as the lines of NumPy that they are."""
    for module, names in _ALIASES.items():
        for name in names:
            setattr(module, name, type(name, (), {"__module__": module.__name__}))


def _draw(app: Sphinx) -> None:
    from scripts.docs.figures import FIGURES, write_figure  # after the aliases have their names

    folder = Path(app.srcdir) / "_figures"
    for name in FIGURES:
        write_figure(name, folder)


def _complete(app: Sphinx, value: Any, bound_method: bool) -> None:
    """Give a module what it imports for annotations only, so that these can be read as types."""
    from scripts.docs.reference_python import imported_for_types

    home = getattr(value, "__module__", None) or ""
    if home.startswith("adjudge."):
        for name, found in imported_for_types(home).items():
            vars(sys.modules[home]).setdefault(name, found)


def _readable(*given: Any) -> tuple[str, str | None] | None:
    """Defaults that cannot be written, such as what a factory makes, are left open: Sphinx could not read them."""
    signature, returns = given[-2:]
    return (re.sub(r"<[^<>]*>", "...", signature), returns) if signature else None


def _apart(*given: Any) -> None:
    """References that follow one another in a docstring get a paragraph each."""
    lines: list[str] = given[-1]
    for place in range(len(lines) - 1, 0, -1):
        if re.search(r"doi:\S+$", lines[place - 1]) and re.match(r"[A-Z]\w+, [A-Z]\.", lines[place]):
            lines.insert(place, "")


def _find(app: Sphinx, env: BuildEnvironment, node: Element, contnode: Element) -> Element | None:
    """A name at its home leads to its public name; one that is not told of, but exists, is text without a link.

    Names that do not exist stay missing, which is a warning, and so an error.
    """
    if node.get("refdomain") != "py":
        return None
    for path in _paths(node):
        if (found := _found(path)) is not None:
            public = _public_paths().get(id(found), "")
            domain, origin = env.get_domain("py"), node["refdoc"]
            return domain.resolve_xref(env, origin, app.builder, "obj", public, node, contnode) or contnode
    return None


def _paths(node: Element) -> list[str]:
    """Where a name may be: as written, or in the module or class whose signature or docstring names it."""
    target, inside = node["reftarget"], node.get("py:class")
    homes = {node.get("py:module"), *_homes(node)}
    classes = {f"{home}.{inside}" for home in homes if home and inside}
    return [target, *(f"{home}.{target}" for home in sorted(homes | classes, key=str) if home)]


def _homes(node: Element) -> list[str]:
    """The modules in which the objects around a node are at home; they may be told of under another name."""
    homes: list[str] = []
    around = node.parent
    while around is not None:
        for signature in around.children[:1] if around.tagname == "desc" else []:
            told = _found(f"{signature.get('module')}.{signature.get('fullname')}")
            homes.append(getattr(told, "__module__", "") or "")
        around = around.parent
    return homes


@cache
def _found(path: str) -> object | None:
    """The object that a dotted path of ours leads to, if any."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        value = _module(".".join(parts[:cut]))
        if value is not None:
            for part in parts[cut:]:
                value = getattr(value, part, None)
            return value
    return None


@cache
def _module(path: str) -> object | None:
    if path.partition(".")[0] != "adjudge":
        return None
    try:
        return importlib.import_module(path)
    except ImportError:
        return None


@cache
def _public_paths() -> dict[int, str]:
    from scripts.docs.reference_python import public_paths, value_of

    return {id(value_of(path)): path for path in reversed([*public_paths()])}
