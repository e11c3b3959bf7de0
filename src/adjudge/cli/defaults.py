"""Defaults of the library's parameters, for help texts; read from its source, as importing it would take seconds."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path
from typing import Any

import adjudge

_ROOT = Path(adjudge.__file__).parent


def library_default(module: str, owner: str, name: str) -> Any:
    """The default of a parameter of a function, or of a field of a class or of those that it is made from.

    >>> library_default("adjudge.stats.gtheory.plan", "growth", "target")
    0.95
    """
    found = next(one for one in _tree(module).body if getattr(one, "name", "") == owner)
    if isinstance(found, ast.FunctionDef):
        return _value(_defaults(found.args)[name], module)
    assert isinstance(found, ast.ClassDef)
    for one in found.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.target.id == name and one.value:
            return _value(one.value, module)
    homes = [_home(base.id, module) for base in found.bases if isinstance(base, ast.Name)]
    return library_default(*next(home for home in homes if home is not None), name)


@lru_cache
def _tree(module: str) -> ast.Module:
    path = _ROOT.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_bytes())


def _defaults(given: ast.arguments) -> dict[str, ast.expr]:
    positional = [one.arg for one in (*given.posonlyargs, *given.args)][::-1]
    keyword = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    last_first = dict(zip(positional, given.defaults[::-1], strict=False))
    return last_first | {one.arg: default for one, default in keyword if default is not None}


def _value(node: ast.expr, module: str) -> Any:
    """What an expression of numbers and texts, a constant, or a field of an object with its defaults is."""
    match node:
        case ast.Name(id=name):
            where, what = _home(name, module) or (module, name)
            return _value(_assigned(what, where), where)
        case ast.Attribute(value=ast.Name(id=name), attr=field):
            made = _assigned(name, module)
            assert isinstance(made, ast.Call)
            assert isinstance(made.func, ast.Name)
            return library_default(*(_home(made.func.id, module) or (module, made.func.id)), field)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left, module) * _value(right, module)
    return ast.literal_eval(node)


def _home(name: str, module: str) -> tuple[str, str] | None:
    """The module that a name comes from, and what it is called there; None for names from outside of Adjudge."""
    for one in _tree(module).body:
        if isinstance(one, ast.ImportFrom) and one.module and any((a.asname or a.name) == name for a in one.names):
            original = next(a.name for a in one.names if (a.asname or a.name) == name)
            return (one.module, original) if one.module.startswith("adjudge") else None
    return (module, name)


def _assigned(name: str, module: str) -> ast.expr:
    for one in _tree(module).body:
        match one:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target_, value in zip(targets, values, strict=True):
                    if isinstance(target_, ast.Name) and target_.id == name:
                        return value
    raise LookupError(f"{module}: expected a constant called {name}")
