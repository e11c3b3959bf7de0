"""The page on the Python package: every public name by what it is for, with what it returns.

The page holds directives; signatures and docstrings are filled in when the site is built (autodoc).
"""

from __future__ import annotations

import ast
import inspect
import sys
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any

from scripts.docs.reference_words import paragraphs, table

import adjudge

_INTRO = """# Python

```python
>>> import adjudge as aj
>>> collection = aj.demo()
>>> eff = aj.evaluate(collection, ["CG@5", "nDCG@5"])
>>> print(aj.summarize(eff)["CG@5"][0])
KLN2: CG@5 = 0.647 ± 0.058 (60 queries)
```

Every name below is one of `adjudge`; it is imported when it is first used, so that `import adjudge` costs next to
nothing. Data come first and by position, everything else by keyword. Results are frozen: they keep what made them
(names, parameters, seeds, digests of the files) and print themselves as small tables. Their classes are told of after
the function that returns them and need no import; the arguments that would make one are its fields. `Floats`, `Ints`,
`Codes` and `Mask` are NumPy arrays of 64-bit floats, integers (`Codes`: of 32 bits) and booleans. Examples in
docstrings are run by the tests.
"""

GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Reading and writing": (
        "Runs, judgments and what is known of documents; see [file formats](formats.md).",
        ("read", "write", "demo", "read_effectiveness", "Collection", "Scale", "BINARY", "BROAD", "FINE"),
    ),
    "Evaluating": (
        "From rankings and grades to effectiveness; see [measures](measures.md) and [one rule each](rules.md).",
        ("evaluate", "evaluate_assessors", "Effectiveness", "AssessedEffectiveness", "summarize", "parse_measure",
         "parse_measures", "Measure", "measure", "gain"),
    ),
    "Comparing": (
        "Which systems differ, and what that means to users; see [tests](tests.md) and "
        "[comparing systems](../guides/comparing.md).",
        ("compare", "satisfaction", "read_mappings", "write_mappings"),
    ),
    "Planning": (
        "How many queries and assessors are enough, and how far these agree; see [planning](../guides/planning.md).",
        ("gstudy", "ratings", "agreement"),
    ),
    "Judging little": (
        "Rank systems with few judgments; see [estimators](estimators.md) and [few judgments](../guides/low_cost.md).",
        ("judging", "Goal"),
    ),
    "Users and their preferences": (
        "Ask people which of two lists they like better, and learn from it; see "
        "[questions](../guides/preferences_questions.md), [fit](../guides/preferences_fit.md) and "
        "[participants](../guides/preferences_participants.md).",
        ("make_questions", "make_traps", "read_questions", "write_questions", "read_answers", "learn", "quality",
         "influence"),
    ),
    "Ground truth from experts": (
        "Partially ordered lists from rankings or preferences; see [ground truth](../guides/groundtruth.md).",
        ("ground_truth", "check_lists", "compare_constructions", "read_rankings", "read_preferences", "read_lists",
         "write_rankings", "write_lists", "simulate_rankings", "simulate_preferences"),
    ),
    "Experiments": (
        "Monte-Carlo questions about tests, measures and numbers of queries; see "
        "[experiments](../guides/experiments.md).",
        ("experiment", "read_experiment", "samples_of", "strata_of", "fit_collection"),
    ),
    "Audio": (
        "From a folder of music to clips, features and runs; see [audio](../guides/audio.md).",
        ("prepare_library", "open_library", "make_runs", "sounds_of", "sound_similarity"),
    ),
    "Campaigns": (
        "A server at a distance, as its organiser; see [campaigns](../guides/campaigns.md).",
        ("connect",),
    ),
    "The papers": (
        "See [the papers' tables](reproduction.md).",
        ("reproduce",),
    ),
    "Errors, warnings, version": (
        "Errors say what was wanted, what came and where, in one line.",
        ("AdjudgeError", "InputError", "AdjudgeWarning", "__version__"),
    ),
}  # fmt: skip
_DEPTH = 2  # what functions return, and what that has and returns; what lies deeper is for those who read the code


def text() -> str:
    """The page."""
    told: set[type] = {value for name in adjudge.__all__ if inspect.isclass(value := getattr(adjudge, name))}
    parts = [_INTRO]
    for title, (intro, names) in GROUPS.items():
        rows = [(f"[`{name}`](#{name.strip('_').lower()})", _first_line(name)) for name in names]
        parts += [f"## {title}", intro, table(["name", "what it does"], rows)]
        for name in names:
            parts += [f"### {name.strip('_')}", _directive(name)]
            parts += [_class(f"{one.__module__}.{one.__qualname__}", one) for one in _results(name, told)]
    return "\n\n".join(parts) + "\n"


def _first_line(name: str) -> str:
    value = getattr(adjudge, name)
    if name == "__version__":
        return "The version of the package."
    return paragraphs(value)[0] if callable(value) and not isinstance(value, adjudge.Scale) else f"The scale {value}."


def _directive(name: str) -> str:
    value = getattr(adjudge, name)
    if inspect.isclass(value):
        return _class(f"adjudge.{name}", value)
    if callable(value) and not isinstance(value, adjudge.Scale):
        return _rst(f".. autofunction:: adjudge.{name}")
    return _rst(f".. py:data:: {name}\n   :module: adjudge\n\n   {_first_line(name)}")


def _class(path: str, value: type) -> str:
    bases = "" if value.__bases__ == (object,) else "\n   :show-inheritance:"
    return _rst(f".. autoclass:: {path}\n   :members:{bases}")


def _rst(directive: str) -> str:
    return f"```{{eval-rst}}\n{directive}\n```"


def _results(name: str, told: set[type]) -> Iterator[type]:
    """Classes of ours that a public name leads to and of which nothing was said yet."""
    value = getattr(adjudge, name)
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
    if inspect.isclass(hint) and hint.__module__.startswith("adjudge."):
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
