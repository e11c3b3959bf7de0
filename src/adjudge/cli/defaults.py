"""Defaults of the library's parameters, for help texts; read from its source, as importing it would take seconds."""

from __future__ import annotations

import ast
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import adjudge

_ROOT = Path(adjudge.__file__).parent


def library_default(module: str, owner: str, name: str) -> Any:
    """The default of a parameter of a function, or of a field of a class or of those that it is made from.

    >>> library_default("adjudge.stats.gtheory.plan", "growth", "target")
    0.95
    """
    found = next(node for node in syntax_of(module).body if getattr(node, "name", "") == owner)
    if isinstance(found, ast.FunctionDef):
        return _value(_defaults(found.args)[name], module)
    assert isinstance(found, ast.ClassDef)
    for node in found.body:
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id == name
            and node.value
        ):
            return _value(node.value, module)
    homes = [home_of(base.id, module) for base in found.bases if isinstance(base, ast.Name)]
    return library_default(*next(home for home in homes if home is not None), name)


@lru_cache
def syntax_of(module: str) -> ast.Module:
    """The syntax of a module, which is not imported."""
    if not module.startswith("adjudge."):
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        return ast.parse(Path(spec.origin).read_bytes())
    path = _ROOT.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_bytes())


def class_in(module: str, name: str) -> ast.ClassDef | None:
    """A class of a module, where there is one of that name."""
    return next((node for node in syntax_of(module).body if isinstance(node, ast.ClassDef) and node.name == name), None)


def literal(node: ast.expr, module: str) -> Any:
    """What an expression is; None where only importing the module would tell."""
    try:
        return _value(node, module)
    except (ValueError, LookupError):
        return None


def _defaults(given: ast.arguments) -> dict[str, ast.expr]:
    positional = [parameter.arg for parameter in (*given.posonlyargs, *given.args)][::-1]
    keyword = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    last_first = dict(zip(positional, given.defaults[::-1], strict=False))
    return last_first | {parameter.arg: default for parameter, default in keyword if default is not None}


def _value(node: ast.expr, module: str) -> Any:
    """What an expression of numbers and texts, a constant, or a field of an object with its defaults is."""
    match node:
        case ast.Name(id=name):
            where, what = home_of(name, module) or (module, name)
            return _value(_assigned(what, where), where)
        case ast.Attribute(value=ast.Name(id=name), attr=field):
            made = _assigned(name, module)
            assert isinstance(made, ast.Call)
            assert isinstance(made.func, ast.Name)
            return library_default(*(home_of(made.func.id, module) or (module, made.func.id)), field)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left, module) * _value(right, module)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _value(left, module) ** _value(right, module)
    return ast.literal_eval(node)


def home_of(name: str, module: str) -> tuple[str, str] | None:
    """The module that a name comes from, and what it is called there; None for names from outside of Adjudge."""
    for node in syntax_of(module).body:
        if isinstance(node, ast.ImportFrom) and node.module and any((a.asname or a.name) == name for a in node.names):
            original = next(a.name for a in node.names if (a.asname or a.name) == name)
            return (node.module, original) if node.module.startswith("adjudge") else None
    return (module, name)


def _assigned(name: str, module: str) -> ast.expr:
    for node in syntax_of(module).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target_, value in zip(targets, values, strict=True):
                    if isinstance(target_, ast.Name) and target_.id == name:
                        return value
    raise LookupError(f"{module}: expected a constant called {name}")
