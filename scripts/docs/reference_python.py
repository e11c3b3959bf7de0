"""The page on the Python package: every public name by what it is for, with what it returns.

The page holds directives; signatures and docstrings are filled in when the site is built (autodoc).
"""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
import types
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any

from scripts.docs.reference_words import paragraphs, prose, sentence, table

import adjudge
from adjudge.registry import Registry
from adjudge.results import Column, Result

_INTRO = """# Python

```python
>>> import adjudge as aj
>>> collection = aj.demo()
>>> eff = aj.evaluate(collection, ["CG@5", "nDCG@5"])
>>> print(aj.summarize(eff)["CG@5"][0])
KLN2: CG@5 = 0.647 ± 0.058 (60 queries)
```

The names of `adjudge` itself come first, then those of its public packages, one section each: what a package lists in
`__all__` is what its section tells of. All are imported when they are first used, so that `import adjudge` costs next
to nothing. Data come first and by position, everything else by keyword. Results are frozen: they keep what made them
(names, parameters, seeds, digests of the files) and speak [one language](#what-every-result-has). Their classes are
told of after the function that returns them and need no import; the arguments that would make one are its fields.
`Floats`, `Ints`, `Codes` and `Mask` are NumPy arrays of 64-bit floats, integers (`Codes`: of 32 bits) and booleans.
Examples in docstrings are run by the tests.
"""
_RESULT = """## What every result has

The fields of a row declare the columns of its result once; everything below follows from them."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Reading and writing; see [file formats](formats.md).": ("read", "write", "demo", "Collection", "Scale"),
    "Evaluating; see [measures](measures.md) and [one rule each](rules.md).": (
        "evaluate", "Effectiveness", "summarize", "explain", "parse_measure", "Measure", "measure",
    ),
    "Comparing; see [tests](tests.md) and [comparing systems](../guides/comparing.md).": (
        "compare", "leaderboard", "gate", "satisfaction", "report",
    ),
    "Planning; see [planning](../guides/planning.md).": ("gstudy", "plan", "agreement"),
    "Judging little; see [estimators](estimators.md) and [few judgments](../guides/low_cost.md).": (
        "judging", "simulate", "calibrate",
    ),
    "People, experts and experiments; see the packages below.": ("learn", "ground_truth", "experiment", "connect"),
    "Errors, warnings and the version; errors say what was wanted, what came and where, in one line.": (
        "AdjudgeError", "InputError", "AdjudgeWarning", "__version__",
    ),
}  # fmt: skip
"""The names of the package itself, by what they are for."""

MODULES = {
    "stats": "See [tests](tests.md), [comparing](../guides/comparing.md) and [planning](../guides/planning.md).",
    "users": "See [comparing systems](../guides/comparing.md) and [validity](../concepts/validity.md).",
    "preferences": "See [questions](../guides/preferences_questions.md), [fit](../guides/preferences_fit.md) and "
    "[participants](../guides/preferences_participants.md).",
    "groundtruth": "See [ground truth](../guides/groundtruth.md).",
    "relevance": "See [estimators](estimators.md) and [few judgments](../guides/low_cost.md).",
    "experiments": "See [experiments](../guides/experiments.md).",
    "audio": "See [audio](../guides/audio.md) and [notation](../guides/notation.md).",
    "measures": "See [measures](measures.md).",
    "formats": "See [file formats](formats.md).",
    "model": "See [one rule each](rules.md).",
    "errors": "All are subclasses of `AdjudgeError`, which is a `ValueError`.",
}
"""The public packages, in the order of their sections, and where to read on."""

_DEPTH = 2  # what functions return, and what that has and returns; what lies deeper is for those who read the code


def text() -> str:
    """The page."""
    paths = list(public_paths())
    shared = [(f"adjudge.results.{one.__name__}", one) for one in (Result, Column)]
    told = {value for path in paths if inspect.isclass(value := value_of(path))} | {one for _, one in shared}
    parts = [_INTRO, _packages(), _RESULT, *(_class(path, one) for path, one in shared)]
    for intro, names in GROUPS.items():
        parts += _section(
            f"## {intro.partition(';')[0].rstrip('.')}", intro, [f"adjudge.{name}" for name in names], told
        )
    above = {id(value_of(path)) for path in paths if path.count(".") == 1}
    for name, intro in MODULES.items():
        module = getattr(adjudge, name)
        own = [path for path in paths if path.startswith(f"adjudge.{name}.") and id(value_of(path)) not in above]
        parts += _section(f"## aj.{name}", f"{paragraphs(module)[0]} {intro}", own, told)
    return "\n\n".join(parts) + "\n"


def public_paths() -> Iterator[str]:
    """The public names, as they are written after ``import``: those of the package, then those of its packages."""
    yield from (f"adjudge.{name}" for name in adjudge.__all__ if name not in MODULES)
    for name in MODULES:
        yield from (f"adjudge.{name}.{below}" for below in getattr(adjudge, name).__all__)


def _packages() -> str:
    rows = [(f"[`aj.{name}`](#aj{name})", paragraphs(getattr(adjudge, name))[0]) for name in MODULES]
    return table(["package", "what it is for"], rows)


def _section(title: str, intro: str, paths: list[str], told: set[type]) -> list[str]:
    """A table of names, then each in full, with the classes that it leads to."""
    heads = {path: path.removeprefix("adjudge.") for path in paths}
    rows = [(f"[`{head}`](#{head.strip('_').replace('.', '').lower()})", _first_line(p)) for p, head in heads.items()]
    parts = [title, sentence(intro), table(["name", "what it does"], rows)]
    for path, head in heads.items():
        parts += [f"### {head.strip('_')}", _directive(path)]
        parts += [_class(f"{one.__module__}.{one.__qualname__}", one) for one in _results(value_of(path), told)]
    return parts


def value_of(path: str) -> Any:
    """What a public name stands for."""
    value: Any = adjudge
    for name in path.split(".")[1:]:
        value = getattr(value, name)
    return value


def _first_line(path: str) -> str:
    value = value_of(path)
    if path == "adjudge.__version__":
        return "The version of the package."
    if isinstance(value, Registry):
        return f"Every {value.kind} by its name."
    if inspect.isroutine(value) or inspect.isclass(value):
        return paragraphs(value)[0]
    if isinstance(value, adjudge.Scale):
        return f"The scale {value}."
    if isinstance(value, types.UnionType):
        return prose(_docstring_of_alias(path))
    return f"`{' or '.join(map(repr, typing.get_args(value))) or value}`"


def _docstring_of_alias(path: str) -> str:
    """The text below the assignment of a type alias, in whichever module of its package that is."""
    package, _, name = path.rpartition(".")
    homes = [home for home, module in sys.modules.items() if home.startswith(f"{package}.") and name in vars(module)]
    for home in homes:
        for node, below in itertools.pairwise(ast.parse(inspect.getsource(sys.modules[home])).body):
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name and isinstance(below, ast.Expr):
                return str(ast.literal_eval(below.value))
    raise LookupError(f"{path}: expected a docstring below the alias")


def _directive(path: str) -> str:
    value = value_of(path)
    if inspect.isclass(value):
        return _class(path, value)
    if inspect.isroutine(value):
        return _rst(f".. autofunction:: {path}")
    module, _, name = path.rpartition(".")
    return _rst(f".. py:data:: {name}\n   :module: {module}\n\n   {_first_line(path)}")


def _class(path: str, value: type) -> str:
    bases = "" if value.__bases__ == (object,) else "\n   :show-inheritance:"
    return _rst(f".. autoclass:: {path}\n   :members:{bases}")


def _rst(directive: str) -> str:
    return f"```{{eval-rst}}\n{directive}\n```"


def _results(value: object, told: set[type]) -> Iterator[type]:
    """Classes of ours that a public name leads to and of which nothing was said yet."""
    level: list[Any] = [value]
    for _ in range(_DEPTH):
        found = [one for start in level for one in _leads_to(start)]
        level = [one for one in dict.fromkeys(found) if one not in told]
        told.update(level)
        yield from level


def _leads_to(value: object) -> Iterator[type]:
    """Classes of ours that a function returns, or that fields, properties and methods of a class are or return."""
    if inspect.isfunction(value):
        yield from _ours(_hints(value).get("return"))
    elif inspect.isclass(value):
        for name, hint in _hints(value).items():
            if not name.startswith("_"):
                yield from _ours(hint)
        for name, member in vars(value).items():
            function = getattr(member, "fget", None) or getattr(member, "func", None) or member
            if not name.startswith("_") and inspect.isfunction(function):
                yield from _ours(_hints(function).get("return"))


def _ours(hint: object) -> Iterator[type]:
    if inspect.isclass(hint) and hint.__module__.startswith("adjudge.") and not hint.__name__.startswith("_"):
        yield hint
    for part in typing.get_args(hint):
        yield from _ours(part)


def _hints(value: Any) -> dict[str, Any]:
    """Annotations as types; names that are imported for annotations only are imported here."""
    return typing.get_type_hints(value, localns=imported_for_types(value.__module__))


@cache
def imported_for_types(module: str) -> dict[str, Any]:
    """What a module imports under ``if TYPE_CHECKING``."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    names: dict[str, Any] = {}
    for node in guarded:
        exec(compile(ast.Module(node.body, []), module, "exec"), names)
    return {name: value for name, value in names.items() if name != "__builtins__"}
